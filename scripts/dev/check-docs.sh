#!/bin/bash
# check-docs.sh [DIR]: what the documents say exists, exists, and what exists is in them.
#
#   every relative link in *.md resolves, its #heading too
#   every file that docs/design.md names is there, and every source file is named there
#   every `make TARGET` of README.md and CONTRIBUTING.md is in the Makefile
#   the metrics of docs/operations.md are those of burstd/api/metrics*.c
#   the options of docs/man/burstd.conf.5.scd are those of burstd/core/conf_option.c and providers/*_options.c, with
#   reload and default
#   the options of docs/man/simcloud.1.scd, of docs/simcloud.md and of the two --help texts are those of the tables of
#   providers/simcloud/options.c and app_audit.c, with argument and default
#   prose in README.md, CONTRIBUTING.md, docs/design.md and docs/simcloud.md ends at column 100
#   docs/design.md says about how many lines burstd has; the cluster has one name in all examples
#   every sentence that burstd may write on a job (job-sentences.py) is in docs/researchers.md, and asks for no admin's command
#   every F and I number of docs/reliability.md is in a test; of a fault in one of those that its row names, which are there
# One line for each thing that is wrong; exit status 1 if there is one.
set -eu
cd "${1:-$(dirname "$0")/../..}"
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT

say() {
	echo "check-docs: $1" >&2
	echo "$1" >>"$tmp/wrong"
}

# both NAME DOCUMENT CODE: two sorted lists that must be the same
both() {
	comm -23 "$2" "$3" >"$tmp/only-document"
	comm -13 "$2" "$3" >"$tmp/only-code"
	while read -r x; do say "$1: $x is documented and does not exist"; done <"$tmp/only-document"
	while read -r x; do say "$1: $x exists and is not documented"; done <"$tmp/only-code"
}

documents() {
	find . -name '*.md' -not -path './build/*' -not -path './.git/*' | sed 's|^\./||' | sort
}

# Headings as a renderer names them.
anchors() {
	sed -n 's/^##* *//p' "$1" | tr 'A-Z ' 'a-z-' | tr -cd 'a-z0-9_\n-'
}

check_links() {
	local from link path heading
	documents | while read -r from; do
		grep -oE '\]\([^)[:space:]]+\)' "$from" | sed 's/^](//; s/)$//' | grep -vE '^[a-z]+:' | while read -r link; do
			path=${link%%#*} heading=''
			case $link in *'#'*) heading=${link#*#} ;; esac
			if [ -z "$path" ]; then path=$from; else path=$(dirname "$from")/$path; fi
			if [ ! -e "$path" ]; then
				say "$from: link to $link leads nowhere"
			elif [ -n "$heading" ] && ! anchors "$path" | grep -qxF -- "$heading"; then
				say "$from: no heading for link $link"
			fi
		done || true
	done
}

# Words in backquotes: `a/b.[ch]` is two files, a word without a slash is a file anywhere.
design_words() {
	# shellcheck disable=SC2016  # Markdown's backquotes
	grep -oE '`[A-Za-z0-9_./@-]+(\.\[ch\])?`' docs/design.md | tr -d '`' | sort -u
}

# Every file that the tour names, by its whole path: all that could be meant.
named_files() {
	local word one
	design_words | while read -r word; do
		case $word in
		*.'[ch]') printf '%s\n' "${word%.*}.c" "${word%.*}.h" ;;
		*.c | *.h | *.sh | *.py | *.mk | *.spec | *.sysusers | *.macros | *.toml | *.pem | *.conf | *.service | *.tmpfiles | *.bash | */_burstctl | */_burst-ledger | */sim-boot | */burst-static | */node-init | */dev/analysed | *.sh.in | *.nft | *.lua | slurm/prolog | slurm/epilog | slurm/task-prolog | slurm/gpu-health) echo "$word" ;;
		esac
	done | sort -u | while read -r one; do
		grep -E "(^|/)$(printf %s "$one" | sed 's/\./\\./g')\$" "$tmp/files" || echo "missing $one"
	done | sort -u
}

check_design() {
	local f
	find burstd providers slurm scripts tests docs -type f | sort >"$tmp/files"
	named_files >"$tmp/named"
	sed -n 's/^missing //p' "$tmp/named" | while read -r f; do
		say "docs/design.md: there is no file $f"
	done
	grep -E '^(burstd|providers|slurm|scripts)/' "$tmp/files" | grep -vE '\.md$' | while read -r f; do
		grep -qxF -- "$f" "$tmp/named" || say "docs/design.md: $f is not named"
	done
}

check_targets() {
	local doc target
	for doc in README.md CONTRIBUTING.md; do
		grep -oE '(^ {4}|`|&& |sudo )make( [A-Za-z0-9_=/.-]+)*' "$doc" | sed 's/^.*make//' | tr ' ' '\n' |
			grep -vE '=|^$' | sort -u | while read -r target; do
			cat Makefile scripts/*/*.mk terraform/*.mk 2>/dev/null | grep -qE "^$target:" || say "$doc: the Makefile has no target $target"
		done || true
	done
}

check_sentences() {
	tr -d '>`' <docs/researchers.md | tr -s ' \n' ' ' >"$tmp/researchers"
	scripts/dev/job-sentences.py . >"$tmp/written" || say 'a sentence on a job is not for researchers'
	sort -u "$tmp/written" >"$tmp/sentences"
	[ -s "$tmp/sentences" ] || say 'scripts/dev/job-sentences.py finds no sentence'
	while IFS= read -r x; do
		grep -qF -- "$x" "$tmp/researchers" || say "docs/researchers.md: no section has \"$x\""
	done <"$tmp/sentences"
}

check_metrics() {
	# shellcheck disable=SC2016  # Markdown's backquotes
	grep -oE '^\| `burstd_[a-z_]+` \|' docs/operations.md | tr -d '`| ' | sort -u >"$tmp/metrics-doc"
	grep -ohE '"burstd_[a-z_]+"' burstd/api/metrics*.c | tr -d '"' | sort -u >"$tmp/metrics-code"
	both metrics "$tmp/metrics-doc" "$tmp/metrics-code"
	grep -oE 'burstd_[a-z_]+' docs/operations.md | sort -u | while read -r m; do
		grep -qxF "$m" "$tmp/metrics-code" || say "docs/operations.md: no metric $m"
	done
}

# "section option reload|restart default", one line each; the section of a driver's own options is "provider:DRIVER"
options_of_code() {
	awk '
	FNR == 1 { driver = FILENAME; if (!sub(/^providers\//, "", driver)) driver = ""; sub(/_options\.c$/, "", driver) }
	/^(static )?const struct conf_option (conf_options|rows)\[\]/ { inside = 1; next }
	/^};/ { inside = 0 }
	inside && match($0, /^\t\{"/) {
		n = split($0, part, "\""); initial = part[6]
		if ($0 ~ /, NULL,$/) initial = "(required)"
		else if ($0 ~ /, PATHS_STATE,$/) initial = state
		name = (part[2] == "" ? "-" : part[2]) (driver == "" ? "" : ":" driver) " " part[4]
	}
	inside && match($0, /^\t (true|false),/) {
		print name, ($0 ~ /^\t true/ ? "reload" : "restart"), (initial == "" ? "-" : initial)
	}' state="$(sed -n 's/^#define PATHS_STATE *"\(.*\)"/\1/p' burstd/base/paths.h)" burstd/core/conf_option.c providers/*_options.c | sort
}

# An empty default may be described in words.
options_of_manual() {
	awk '
	function flush() {
		if (name == "") return
		gsub(/[ \t]+/, " ", text)
		if (text ~ /Must be given\./) initial = "(required)"
		else if (match(text, /Default: _[^ ]*_\./)) initial = substr(text, RSTART + 10, RLENGTH - 12)
		else initial = "-"
		print section, name, reload, initial
		name = ""; text = ""
	}
	/^## DRIVER / { flush(); section = "provider:" $3 }
	/^# / {
		flush(); section = ""
		if ($0 == "# TOP LEVEL") section = "-"
		else if ($2 == "SECTION") section = $3
	}
	section != "" && /^\*[a-z_]+\*/ {
		flush(); name = $1; gsub(/\*/, "", name)
		reload = $0 ~ /\(reload\)/ ? "reload" : "restart"; next
	}
	section != "" { text = text " " $0 }
	END { flush() }' docs/man/burstd.conf.5.scd | sort
}

check_options() {
	options_of_code >"$tmp/options-code"
	[ -s "$tmp/options-code" ] || say "burstd/core/conf_option.c: no options found: is this script out of date?"
	if [ -e docs/man/burstd.conf.5.scd ]; then
		options_of_manual >"$tmp/options-manual"
		both 'docs/man/burstd.conf.5.scd (section option change default)' "$tmp/options-manual" "$tmp/options-code"
	fi
	# The shipped configuration shows every option, once.
	awk '
	/^[a-z]+ ("[^"]*" )?\{$/ { section = $1 }
	/^}/ { section = "" }
	/^\t?#?[a-z_]+ = / {
		sub(/^\t?#?/, ""); print (section == "" ? "-" : section), $1
	}
	/^#\t+offer "[^"]*" \{$/ { section = "offer" }
	/^#\t+budget "[^"]*" \{$/ { section = "budget" }
	/^#\t+alert "[^"]*" \{$/ { section = "alert" }
	/^#\t+provider "[^"]*" \{$/ { section = "a driver" }
	section == "a driver" && /^#\t+driver = / { gsub(/"/, ""); section = "provider:" $4; next }
	section ~ /^provider:/ && /^#\t+[a-z_]+ = / { print section, $2 }
	/^#\t+}$/ { section = "" }
	section ~ /^(offer|budget|alert)$/ && /^#\t+[a-z_]+ = / { print section, $2 } # of sections that are shown only' scripts/pkg/burstd.conf | sort >"$tmp/options-shipped"
	cut -d' ' -f1,2 "$tmp/options-code" >"$tmp/options-names"
	both scripts/pkg/burstd.conf "$tmp/options-shipped" "$tmp/options-names"
}

# "option argument|-", from getopt's table in FILE
simcloud_table() {
	sed -n 's/^\t*{"\([a-z-]*\)", \([01]\), NULL, .*/\1 \2/p' "$1" | sed 's/ 1$/ argument/; s/ 0$/ -/' | sort
}

# The same from --help's lines in FILE, with the default.
simcloud_help() {
	sed -n 's/^\t"  --//p' "$1" | sed -E 's/\\n"$//' | awk '{
		initial = match($0, /\(default [^ )]*\)/) ? substr($0, RSTART + 9, RLENGTH - 10) : "-"
		print $1, ($2 ~ /^[A-Z|:]+$/ ? "argument" : "-"), initial
	}' | sort
}

# The same from the manual's section HEADING.
simcloud_manual() {
	awk -v heading="# $1" '
	function flush() {
		if (name != "") print name, argument, match(text, /Default:[ \t]*_[^_]*_/) ? initial(substr(text, RSTART, RLENGTH)) : "-"
		name = ""; text = ""
	}
	function initial(t) { gsub(/Default:[ \t]*|_/, "", t); return t }
	/^# / { flush(); inside = $0 == heading }
	inside && /^\*--[a-z-]+\*/ {
		flush(); name = substr($1, 4, length($1) - 4); argument = NF > 1 ? "argument" : "-"; next
	}
	inside { text = text " " $0 }
	END { flush() }' docs/man/simcloud.1.scd | tr -s '\t ' ' ' | sort
}

check_simcloud() {
	local heading file
	for heading in OPTIONS AUDIT; do
		file=providers/simcloud/options.c
		[ $heading = OPTIONS ] || file=providers/simcloud/app_audit.c
		simcloud_table $file >"$tmp/sim-table"
		[ -s "$tmp/sim-table" ] || say "$file: no options found: is this script out of date?"
		simcloud_help $file >"$tmp/sim-help"
		cut -d' ' -f1,2 "$tmp/sim-help" >"$tmp/sim-names"
		both "--help in $file" "$tmp/sim-names" "$tmp/sim-table"
		simcloud_manual $heading >"$tmp/sim-manual"
		both "docs/man/simcloud.1.scd, $heading (option argument default)" "$tmp/sim-manual" "$tmp/sim-help"
	done
	# shellcheck disable=SC2016  # Markdown's backquotes
	sed -nE 's/^\| `--([a-z-]+)( [^`]*)?` .*/\1 \2/p' docs/simcloud.md | awk '{ print $1, (NF > 1 ? "argument" : "-") }' |
		sort >"$tmp/sim-names"
	simcloud_table providers/simcloud/options.c | grep -vE '^(help|version) ' >"$tmp/sim-table"
	both docs/simcloud.md "$tmp/sim-names" "$tmp/sim-table"
}

# Tables, examples and links cannot be broken.
check_width() {
	awk '
	FNR == 1 { example = 0 }
	/^```/ { example = !example }
	length > 100 && !example && !/^(\||    )/ { print FILENAME ":" FNR ": " length " columns" }
	' README.md CONTRIBUTING.md docs/design.md docs/simcloud.md | while read -r x; do say "$x"; done
}

# Within a tenth: daemon, burstctl, hook and drivers, without simcloud.
check_figures() {
	local said lines off
	said=$(sed -n 's/.*burstd is about \([0-9]*\),000 lines of C11.*/\1000/p' docs/design.md)
	lines=$(find burstd slurm providers -name '*.[ch]' -not -path '*/simcloud/*' -exec cat {} + | wc -l)
	off=$((said > lines ? said - lines : lines - said))
	[ $off -le $((lines / 10)) ] || say "docs/design.md: \"about $said lines of C11\": it is $lines"
}

# One cluster in all examples.
check_cluster() {
	local name
	name=$(sed -n 's/^cluster = "\(.*\)"$/\1/p' scripts/pkg/burstd.conf)
	grep -qx "cluster  = $name" docs/man/burstd.conf.5.scd ||
		say "docs/man/burstd.conf.5.scd: the example's cluster is not $name, as in scripts/pkg/burstd.conf"
	grep -noE '"cluster":"[a-z][^"]*"|cluster=[a-z][a-z0-9]*' docs/simcloud.md | grep -vE "[\"=]$name\"?\$" |
		while read -r x; do say "docs/simcloud.md:$x: the example's cluster is $name"; done || true
}

# Where to look for what a row of faults names: files, and the programs whose tests are a directory.
tests_of_row() {
	local word
	# shellcheck disable=SC2016  # Markdown's backquotes
	grep -oE '`(test_[a-z0-9_]+|[a-z0-9_-]+\.(bats|c|py))`|\b(sim|drills?|crash|model|chaos|museum|torture|fuzz|contract)\b' <<<"$1" |
		tr -d '`' | sort -u | while read -r word; do
		case $word in
		test_*.* | *.bats | *.c | *.py) echo "/$word" ;;
		test_*) echo "/$word.c" ;;
		drill*) echo tests/sim/ ;;
		*) echo "tests/$word/" ;;
		esac
	done
}

check_numbers() {
	local number row
	find tests -name '*.[ch]' -o -name '*.bats' -o -name '*.sh' -o -name '*.py' -o -name '*.patch' >"$tmp/tests"
	xargs grep -owHE '[FI][0-9]+' <"$tmp/tests" | sort -u >"$tmp/tied"
	sed '/^Of the invariants, not yet/,/^$/d' docs/reliability.md | grep -owE '[FI][0-9]+' | sort -u >"$tmp/numbers"
	sed 's/.*://' "$tmp/tied" | sort -u | comm -23 "$tmp/numbers" - | while read -r number; do
		say "docs/reliability.md: no test names $number"
	done
	awk -F'|' '/^\| F[0-9]+ /{ print $2 $4 }' docs/reliability.md | while read -r number row; do
		tests_of_row "$row" >"$tmp/row"
		grep -F / "$tmp/row" | while read -r x; do
			grep -qF -- "$x" "$tmp/tests" || say "docs/reliability.md: $number: there is no test ${x#/}"
		done
		grep -F -f "$tmp/row" "$tmp/tied" | grep -q ":$number\$" ||
			say "docs/reliability.md: $number: no test that its row names has that number"
	done
}

: >"$tmp/wrong"
check_numbers
check_links
check_design
check_targets
check_metrics
check_sentences
check_options
check_simcloud
check_width
check_figures
check_cluster
[ ! -s "$tmp/wrong" ]
