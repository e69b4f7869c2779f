#!/bin/bash
# test.sh: the documents' site, built and looked at, as TAP.  Skipped where there is no mkdocs; what needs linkchecker or
# Chromium is skipped without them.  KEEP=DIR keeps the pictures of some pages there, for a look.
# shellcheck disable=SC2317  # functions that ok runs
set -u
cd "$(dirname "$(readlink -f "$0")")/../.." || exit
BUILD=${BUILD:-build}
export PYTHONDONTWRITEBYTECODE=1
for program in mkdocs mandoc python3; do
	command -v "$program" >/dev/null || {
		echo "1..0 # SKIP there is no $program: scripts/dev/deps.sh site"
		exit 0
	}
done
chromium=$(command -v chromium || command -v chromium-browser || command -v google-chrome || true)
tmp=$(mktemp -d)
server=''
trap '[ -z "$server" ] || kill "$server"; rm -rf "$tmp"' EXIT
failed=0
n=0

ok() { # NAME COMMAND...
	local name=$1
	shift
	n=$((n + 1))
	if "$@" >"$tmp/said" 2>&1; then
		echo "ok $n - $name"
	else
		echo "not ok $n - $name"
		tail -n 20 "$tmp/said" | sed 's/^/# /'
		failed=1
	fi
}
ok_with() { # PROGRAM|'' WHAT NAME COMMAND...
	if [ -n "$1" ]; then
		ok "${@:3}"
	else
		n=$((n + 1))
		echo "ok $n - $3 # SKIP there is no $2"
	fi
}
build() { scripts/site/build.sh "$BUILD"; }
serve() {
	: >"$tmp/loads"
	python3 scripts/site/serve.py "$BUILD/site" "$tmp/loads" >"$tmp/port" &
	server=$!
	for _ in $(seq 100); do
		[ ! -s "$tmp/port" ] || return 0
		sleep 0.1
	done
	return 1
}
# Links, and headings that links name.  The map of the site is for search engines, and wants an address that it has not got.
links() {
	rm -f "$BUILD"/site/sitemap.xml*
	printf '[checking]\nmaxrequestspersecond=1000\n[filtering]\ncheckextern=0\nignore=sitemap\n[AnchorCheck]\n' >"$tmp/linkchecker"
	linkchecker -f "$tmp/linkchecker" --no-status "http://127.0.0.1:$(cat "$tmp/port")/index.html" >"$tmp/links" 2>"$tmp/links.log"
	local rc=$?
	grep -A5 '^URL ' "$tmp/links"
	[ "$rc" = 0 ] && grep -qE '^.* [1-9][0-9]{2,} links in .* 0 warnings found. 0 errors found' "$tmp/links"
}
browse() { # OPTION...
	timeout 400 "$chromium" --headless=new --no-sandbox --disable-gpu --hide-scrollbars --user-data-dir="$tmp/profile" \
		--no-first-run --virtual-time-budget=120000 "$@" 2>"$tmp/browser"
}
# A page of ours beside the site, whose script looks at pages of the site in frames: what it says, as text.
look() { # FILE
	cp "$1" "$BUILD/site/test-look.html"
	browse --dump-dom "http://127.0.0.1:$(cat "$tmp/port")/test-look.html" | sed 's/<[^>]*>//g'
	rm "$BUILD/site/test-look.html"
}
measure() {
	local places
	places=$(python3 scripts/site/nav.py --places | sed 's/\.md$/.html/; s/.*/"&",/' | tr -d '\n')
	sed "s|\"PLACES\"|$places|" scripts/site/measure.html >"$tmp/measure.html"
	look "$tmp/measure.html" >"$tmp/measured"
	grep -E '^(wide|looked)' "$tmp/measured"
	grep -qE '^looked at [1-9][0-9]+ pages: 0 are too wide' "$tmp/measured"
}
searches() {
	look scripts/site/searches.html >"$tmp/found"
	grep '^found' "$tmp/found"
	grep -qF 'burstd.conf(5)' <(grep '^found max_rate' "$tmp/found") && grep -q 'A node is stuck' <(grep '^found quarantined' "$tmp/found")
}
nothing_from_elsewhere() {
	cat "$tmp/loads"
	[ ! -s "$tmp/loads" ]
}
pictures() {
	local keep=${KEEP:-$tmp/pictures} page size
	mkdir -p "$keep"
	for page in index admin aws man/burstd.conf.5; do
		for size in 1280,900 500,900; do
			browse --window-size="$size" --screenshot="$keep/${page##*/}-${size%,*}.png" \
				"http://127.0.0.1:$(cat "$tmp/port")/$page.html" && [ -s "$keep/${page##*/}-${size%,*}.png" ] || return
		done
	done
}

echo 1..9
ok 'it is built without a warning' build
# By the Python that has mkdocs, for a machine can have several.
python=$(sed -n '1s/^#!//p' "$(command -v mkdocs)")
if "$python" -c 'import markdown_it' 2>/dev/null; then
	ok 'lists, tables and examples are those of the documents' "$python" scripts/site/compare.py "$BUILD/site"
else
	ok_with '' 'markdown_it for Python (Debian: python3-markdown-it)' 'lists, tables and examples are those of the documents'
fi
ok 'it is served' serve
ok_with "$(command -v linkchecker)" linkchecker 'no link is broken' links
ok_with "$chromium" Chromium 'no page is too wide for its window, on phones and screens' measure
ok_with "$chromium" Chromium 'the search finds an option and a word' searches
ok_with "$chromium" Chromium 'pictures of some pages' pictures
ok_with "$chromium" Chromium 'nothing was loaded from another host' nothing_from_elsewhere
ok 'the pictures are of what the programs print now' scripts/site/pictures.sh --check
exit $failed
