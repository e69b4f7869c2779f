#!/bin/bash
# cover.sh BUILDDIR: what the unit tests and 2,000 seeds of the simulator reach, branch by branch (T12).
#
# All of burstd/ is shown.  Three things must be reached whole, or this fails: core/node.c with node_word.c and
# node_bill.c, core/drift.c, and what reads the journal at start.  A line with assert() does not count, for its other branch
# ends the process; nothing else is left out, but for a line that says why with GCOVR_EXCL_BR_LINE.
#
# Not run: the tests of whole programs in tests/unit/hook, daemon and providers.  They count system calls or look at
# what is written to stderr, and gcov makes and writes its own.
set -euo pipefail
cd "$(dirname "$0")/../.."
build=${1:?usage: cover.sh BUILDDIR}
whole='burstd/core/(node|node_bill|node_word|drift)\.c'
# FILE FUNCTION...; each must be there, so that nobody renames it out of sight.
replay=(
	'burstd/store/journal.c journal_get_number'
	'burstd/store/journal_events.c journal_events read_event'
	'burstd/store/journal_load.c journal_load'
	'burstd/store/journal_read.c journal_read journal_get_word'
	'burstd/store/journal_nodes.c get_node read_node journal_load_nodes read_batch journal_load_batches'
	'burstd/store/journal_usage.c read_spent journal_load_spent'
	'burstd/store/journal_jobs.c read_refusal journal_load_refusals read_rescue journal_load_rescues'
	'burstd/store/journal_pools.c read_pool journal_load_pools'
	'burstd/store/journal_claims.c journal_load_claims'
	'burstd/store/journal_vouchers.c journal_load_vouchers'
	'burstd/store/journal_audit.c chain_open get_mark get_place'
	'burstd/store/db.c db_get_int db_get_text db_copy_text'
)
command -v gcovr >/dev/null || {
	echo "cover: gcovr is not installed; \`make deps\` installs it" >&2
	exit 1
}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

find "$build" -name '*.gcda' -delete
mapfile -t units < <(find "$build/cover/tests/unit" -name '*.t' ! -path '*/hook/*' ! -path '*/daemon/*' ! -path '*/providers/*' | sort)
CMOCKA_MESSAGE_OUTPUT=TAP prove -Q --exec tests/unit/tap.sh "${units[@]}"
"$build/cover/bin/sim" --seeds "${SEEDS:-2000}" --steps "${STEPS:-2000}"

show() { # ARG...
	gcovr -r . --object-directory "$build/cover/burstd" --exclude-unreachable-branches \
		--exclude-branches-by-pattern '^\s*assert\(' --branches "$@" "$build/cover/burstd"
}
show --filter 'burstd/'
show --filter "$whole" --json "$work/whole.json" >/dev/null
[ "$(jq '.files | length' "$work/whole.json")" = 3 ] || {
	echo "cover: no figures for node.c, node_bill.c, node_word.c and drift.c" >&2
	exit 1
}

# Branches that nothing took, as FILE:LINE; with LINES only on those.
missed() { # JSON [LINES]
	jq -e '[.files[].lines[].branches[]?] | length > 0' "$1" >/dev/null || { echo "no branches in $1" && return; }
	jq -r --arg lines "${2-}" '($lines | split("\n") | map(tonumber)) as $in | .files[] | .file as $f | .lines[] |
		select(.["gcovr/noncode"] | not) | select(any(.branches[]?; .count == 0)) | .line_number |
		select($in == [] or (. as $l | $in | index($l))) | "\($f):\(.)"' "$1"
}

lines_of() { # FILE FUNCTION...: the numbers of their lines
	local file=$1 name found
	shift
	for name; do
		found=$(awk -v name="^[a-z].*[ *]$name\\\\(" '
			$0 ~ name && !/;$/ { inside = 1 }
			inside { print NR }
			/^}/ { inside = 0 }' "$file")
		[ -n "$found" ] || {
			echo "cover: there is no $name in $file" >&2
			return 1
		}
		echo "$found"
	done
}

missed=$(missed "$work/whole.json")
for entry in "${replay[@]}"; do
	read -r -d '' -a words <<<"$entry" || true
	lines=$(lines_of "${words[@]}")
	show --filter "${words[0]//./\\.}" --json "$work/replay.json" >/dev/null
	missed+=${missed:+$'\n'}$(missed "$work/replay.json" "$lines")
done
if [ -n "${missed//$'\n'/}" ]; then
	echo "cover: branches that nothing takes:" >&2
	echo "$missed" >&2
	exit 1
fi
echo "cover: node.c, drift.c and the replay of the journal are reached whole"
