#!/bin/bash
# check-bats.sh [FILE...]: in a test of bats a command that fails ends it, but neither the left side of "A && B" nor "! A"
# does, unless it is the last command.  Lines of tests that so can never fail are printed; exit status 1 if there is one.
# Without arguments: all of git's *.bats, and the libraries that they load.  Write A and B on lines of their own, and "run ! A".
#
# In a helper "A && do something" is as good as an if; it is the tests at the end of one ("A && [ B ]") that are lost there.
# And of a helper that is asked ("within 10 helper", "if helper", "run helper") only the last command counts: "[ A ]" before
# that does nothing.  Write "[ A ] || return".
set -u
cd "$(dirname "$(readlink -f "$0")")/../.." || exit
files=("$@")
[ $# -gt 0 ] || mapfile -t files < <(git ls-files -co --exclude-standard '*.bats' '*.bash' 'tests/e2e/lab/*.sh' 'tests/node/*.sh')
# A quoted text, a substitution, a subshell and [[ ]] may have && in them; "A && false" fails as it should, "if" and the like ask.
awk '
	function judge() {
		if (held != "")
			print held
		held = ""
	}
	# Which helpers are asked, here or in a file that loads this one.
	FNR == 1 && FILENAME in seen { second = 1 }
	FNR == 1 { seen[FILENAME] = 1 }
	!second {
		rest = $0
		while (match(rest, /(within|lab_wait) [^ ]+ [a-z_]+|(^|[ \t;(])(run|if|elif|until|while|!)( [-!0-9]+)* [a-z_]+|[a-z_]+( "?[$a-z0-9{}_-]+"?)* (&&|[|][|])/)) {
			word = substr(rest, RSTART, RLENGTH)
			rest = substr(rest, RSTART + RLENGTH)
			if (word ~ /(&&|[|][|])$/)
				sub(/ .*/, "", word)
			else
				sub(/.* /, "", word)
			asked[word] = 1
		}
		next
	}
	FNR == 1 { inside = quoted = 0; here = ""; held = "" }
	here != "" {
		line = $0
		sub(/^\t+/, "", line)
		if (line == here)
			here = ""
		next
	}
	/^}/ { inside = 0; held = "" } # the last command of a test is its status
	!inside {
		helper = /^[a-z_]+\(\) {$/ && !/^(setup|teardown)/
		inside = helper || /^(@test |setup|teardown).*{$/
		name = $1
		sub(/\(.*/, "", name)
		next
	}
	/^[ \t]*(#|$)/ { next }
	{ judge() }
	{
		text = $0
		gsub(/\\./, "", text)
		gsub(/\x27[^\x27]*\x27/, "", text)
		if (text ~ /\x27/) { # a text of several lines begins or ends
			quoted = !quoted
			next
		}
		if (quoted)
			next
		gsub(/\$\([^()]*(\([^()]*\)[^()]*)*\)/, "", text)
		gsub(/"[^"]*"/, "", text)
		gsub(/\[\[ .* \]\]/, "", text)
		sub(/\(.*(\)|[|]$)/, "", text)
		both = text ~ /&&/ && text !~ /&& false$/ && text !~ /\|\|/ && text !~ /^[ \t]*(if|elif|while|until|for) /
		if (helper) {
			both = both && text ~ /&& *(! *)?(\[|test |grep -q)[^&]*$/
			both = both || name in asked && text ~ /^\t(\[|test |grep -q)[^&|]*$/
		}
		if (both || text ~ (helper ? "^[ \t]*! [^&|]*$" : "^[ \t]*! "))
			held = FILENAME ":" FNR ": cannot fail here: " $0
	}
	match($0, /<<-?[\x27"]?[A-Za-z_]+/) && !/<<</ {
		here = substr($0, RSTART, RLENGTH)
		gsub(/[^A-Za-z_]/, "", here)
	}' "${files[@]}" "${files[@]}" | { ! grep .; }
