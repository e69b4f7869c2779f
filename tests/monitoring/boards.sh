#!/bin/bash
# boards.sh [--write]: the boards of scripts/monitoring/boards are those that boards.py makes, with Grafana's types of PyPI;
# with --write they become these.
set -u
cd "$(dirname "$(readlink -f "$0")")/../.." || exit
BUILD=${BUILD:-build}
. tests/contract/venv.bash
want_venv "$BUILD/grafana" scripts/monitoring/boards.txt
if [ "${1-}" = --write ]; then
	exec "$BUILD/grafana/bin/python" scripts/monitoring/boards.py
fi
out=$(mktemp -d) || exit
trap 'rm -rf "$out"' EXIT
echo 1..1
if "$BUILD/grafana/bin/python" scripts/monitoring/boards.py "$out" >"$out/log" 2>&1 && rm "$out/log" &&
	diff -r "$out" scripts/monitoring/boards >"$out.diff"; then
	echo 'ok 1 - the boards are those that boards.py makes'
else
	sed 's/^/# /' "$out/log" "$out.diff" 2>/dev/null | head -n 40
	echo 'not ok 1 - the boards are those that boards.py makes: make monitoring-boards'
fi
rm -f "$out.diff"
