#!/bin/sh
# links-to-text.sh DIR: in the documents below DIR, a link to a file that is not there becomes its text.  For `make install`,
# which installs on a controller only the documents for who runs it.
set -eu
find "$1" -name '*.md' | while read -r document; do
	# Twice: the first time what files links name, the second time without those that are not there.
	gone=$(grep -oE '\]\([^)#[:space:]]+' "$document" | sed 's/^](//' | grep -vE '^[a-z]+:' | sort -u |
		while read -r file; do [ -e "$(dirname "$document")/$file" ] || echo "$file"; done) || true
	[ -n "$gone" ] || continue
	GONE=$gone awk '
	BEGIN { RS = "\001"; n = split(ENVIRON["GONE"], list, "\n"); for (i = 1; i <= n; i++) gone[list[i]] = 1 }
	{
		# A link is [TEXT](FILE#HEADING), its text without brackets, perhaps over the end of a line.
		while (match($0, /\[[^][]*\]\([^)[:space:]]+\)/)) {
			link = substr($0, RSTART, RLENGTH)
			file = text = link
			sub(/^\[[^][]*\]\(/, "", file); sub(/(#.*)?\)$/, "", file)
			sub(/^\[/, "", text); sub(/\]\([^)]*\)$/, "", text)
			printf "%s%s", substr($0, 1, RSTART - 1), file in gone ? text : link
			$0 = substr($0, RSTART + RLENGTH)
		}
		printf "%s", $0
	}' "$document" >"$document.new"
	cat "$document.new" >"$document"
	rm "$document.new"
done
