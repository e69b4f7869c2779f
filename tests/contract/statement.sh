#!/bin/bash
# statement.sh: the statement in a real browser, as TAP: no part of the page is cut off on a phone or a screen, in light
# or dark, and it prints.  Skipped where there is no Chromium (Debian: chromium).
# shellcheck disable=SC2317  # functions that ok runs
set -u
cd "$(dirname "$(readlink -f "$0")")/../.." || exit
BUILD=${BUILD:-build}
BIN=${BIN:-$BUILD/bin}
chromium=$(command -v chromium || command -v chromium-browser || command -v google-chrome) || {
	echo '1..0 # SKIP there is no Chromium'
	exit 0
}
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
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
browse() { # OPTION...
	timeout 60 "$chromium" --headless=new --no-sandbox --disable-gpu --user-data-dir="$tmp/profile" \
		--allow-file-access-from-files --virtual-time-budget=3000 "$@" 2>/dev/null
}
# The page in frames of several widths, by a page that may run a script, as it may not: which of its parts are wider than
# the frame, but for those that scroll, and how many there are.
measure() {
	cat >"$tmp/frames.html" <<-'EOF'
	<!DOCTYPE html><html><body><script>
	const said = []
	let left = 3
	for (const width of [390, 768, 1280]) {
		const f = document.createElement('iframe')
		f.style = `width:${width}px;height:900px;border:0`
		f.onload = () => {
			const d = f.contentDocument
			const wide = [...d.querySelectorAll('main *')].filter(e => !e.closest('.scroll, svg, title') &&
				e.getBoundingClientRect().right > width + 1).map(e => e.tagName + '.' + e.className)
			said.push(`${width}: scrolls ${d.documentElement.scrollWidth > width} wide [${wide}] ` +
				`tables ${d.querySelectorAll('table').length} charts ${d.querySelectorAll('svg[role=img]').length}`)
			if (--left === 0) document.body.textContent = said.sort().join('\n')
		}
		f.src = 'statement.html'
		document.body.append(f)
	}
	</script></body></html>
	EOF
	browse --dump-dom "file://$tmp/frames.html" >"$tmp/measured"
	cat "$tmp/measured"
	[ "$(grep -cE '[0-9]+: scrolls false wide \[\] tables 1[0-9] charts 5' "$tmp/measured")" = 3 ]
}
# A dark page is dark: the picture's bytes differ from those of the light one.
schemes() {
	browse --window-size=900,1200 --screenshot="$tmp/light.png" "file://$tmp/statement.html" &&
		browse --window-size=900,1200 --blink-settings=preferredColorScheme=0 --screenshot="$tmp/dark.png" \
			"file://$tmp/statement.html" && [ -s "$tmp/light.png" ] && [ -s "$tmp/dark.png" ] &&
		! cmp -s "$tmp/light.png" "$tmp/dark.png"
}
prints() {
	browse --no-pdf-header-footer --print-to-pdf="$tmp/statement.pdf" "file://$tmp/statement.html" &&
		head -c 5 "$tmp/statement.pdf" | grep -q '^%PDF-' &&
		[ "$(grep -acE '/Type */Page\b' "$tmp/statement.pdf")" -ge 4 ]
}
# No page ends with a heading, or with a head of a table that has its first row on the next one.
whole_parts() {
	local page last
	for ((page = 1; page <= 7; page++)); do
		last=$(pdftotext -layout -f "$page" -l "$page" "$tmp/statement.pdf" - 2>/dev/null | grep '[^[:space:]]' | tail -n 1)
		echo "page $page: $last"
		grep -qE '^ *(By [a-z]+|What it was for|Day by day|Savings|Budgets|(Account|User|Class|Day|Job|Wckey) .*[A-Za-z])$' <<<"$last" &&
			! grep -q '[0-9]' <<<"$last" && return 1
	done
	return 0
}

echo 1..5
ok 'a statement is made' sh -c "\"$BIN\"/focus 0 statement 7 3000 >\"$tmp/statement.html\""
ok 'nothing is cut off at 390, 768 and 1280 pixels' measure
ok 'it is light or dark' schemes
ok 'it prints' prints
if command -v pdftotext >/dev/null; then
	ok 'no page ends with a heading' whole_parts
else
	echo 'ok 5 - no page ends with a heading # SKIP there is no pdftotext (Debian: poppler-utils)'
fi
exit $failed
