#!/bin/bash
# run.sh [NAME...]: the fuzzers, SECONDS_EACH each, from the seeds in corpus/NAME and what earlier runs found.
#
# What crashes one is left in build/fuzz/crash-NAME-*: the file is the argument that replays it.
set -u
cd "$(dirname "$(readlink -f "$0")")/../.." || exit
BUILD=${BUILD:-build}
names=("$@")
if [ $# = 0 ]; then
	for f in tests/fuzz/fuzz_*.c; do
		f=${f##*/fuzz_}
		names+=("${f%.c}")
	done
fi
rc=0
for name in "${names[@]}"; do
	program=$BUILD/fuzz/tests/fuzz/fuzz_$name.fuzz
	found=$BUILD/corpus/$name
	dict=tests/fuzz/dict/$name.dict
	[ -x "$program" ] || {
		echo "no fuzzer $name" >&2
		exit 2
	}
	mkdir -p "$found"
	echo "== $name: ${SECONDS_EACH:-60} s"
	args=(-max_total_time="${SECONDS_EACH:-60}" -timeout=10 -rss_limit_mb=1024 -max_len=4096 -print_final_stats=1
		-artifact_prefix="$BUILD/fuzz/crash-$name-")
	[ ! -e "$dict" ] || args+=(-dict="$dict")
	dirs=("$found")
	[ ! -d "tests/fuzz/corpus/$name" ] || dirs+=("tests/fuzz/corpus/$name")
	"$program" "${args[@]}" "${dirs[@]}" >"$BUILD/fuzz/$name.log" 2>&1 || {
		rc=1
		echo "FAILED: $name; replay: $program FILE"
		grep -a -A 14 -E 'ERROR|Assertion|runtime error' "$BUILD/fuzz/$name.log" | head -n 24
	}
	tail -n 12 "$BUILD/fuzz/$name.log" | grep -a -E 'stat::(number|average|peak)|Test unit'
done
exit $rc
