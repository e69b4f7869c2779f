#!/bin/bash
# pictures.sh [--check]: make the pictures of docs/pictures by Chromium, of what this tree's programs print; needs BIN/focus.
# --check: whether they are of what the programs print now, without a browser: beside each picture is the sum of its source.
set -euo pipefail
cd "$(dirname "$(readlink -f "$0")")/../.."
BIN=${BIN:-build/bin}
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT

# The statement of the tests, whose accounts have hostile names there, and plain ones here.
"$BIN"/focus 0 statement 7 3000 2>/dev/null | sed 's/&lt;b&gt;gpu&lt;\/b&gt;/gpu/g; s/>-x</>geo</g; s/>4711</>astro</g; s/>Mö</>materials</g; s/>Mü</>medicine</g' \
	>"$tmp/statement.html"
sum=$(sha256sum <"$tmp/statement.html")
if [ "${1-}" = --check ]; then
	echo "$sum" | cmp - docs/pictures/statement.sha256 || {
		echo 'docs/pictures/statement.png is of another statement: make pictures' >&2
		exit 1
	}
	exit
fi
chromium=$(command -v chromium || command -v chromium-browser || command -v google-chrome)
mkdir -p docs/pictures
timeout 120 "$chromium" --headless=new --no-sandbox --disable-gpu --hide-scrollbars --user-data-dir="$tmp/profile" \
	--virtual-time-budget=3000 --window-size=1000,1250 --screenshot="$PWD/docs/pictures/statement.png" "file://$tmp/statement.html" 2>/dev/null
echo "$sum" >docs/pictures/statement.sha256
