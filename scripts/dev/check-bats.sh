#!/bin/bash
# check-bats.sh [FILE.bats...]: in a test of bats a command that fails ends it, but neither the left side of "A && B" nor "! A"
# does, unless it is the last command.  Lines of tests that so can never fail are printed; exit status 1 if there is one.
# Without arguments: all of git's *.bats.  Write A and B on lines of their own, and "run ! A".
set -u
cd "$(dirname "$(readlink -f "$0")")/../.." || exit
[ $# -gt 0 ] || mapfile -t files < <(git ls-files -co --exclude-standard '*.bats')
# A quoted text, a substitution, a subshell and [[ ]] may have && in them; "A && false" fails as it should, "if" and the like ask.
awk '
	function judge() {
		if (held != "")
			print held
		held = ""
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
	!inside { inside = /^(@test |setup|teardown).*{$/; next }
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
		if ((text ~ /&&/ && text !~ /&& false$/ && text !~ /\|\|/ && text !~ /^[ \t]*(if|elif|while|until|for) /) ||
			text ~ /^[ \t]*! /)
			held = FILENAME ":" FNR ": cannot fail here: " $0
	}
	match($0, /<<-?[\x27"]?[A-Za-z_]+/) && !/<<</ {
		here = substr($0, RSTART, RLENGTH)
		gsub(/[^A-Za-z_]/, "", here)
	}' "${@:-${files[@]}}" | { ! grep .; }
