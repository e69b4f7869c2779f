#!/bin/bash
# run.sh [NAME...]: the benchmarks (README.md); all of them without arguments.
#
# Needs root and namespaces, as the end-to-end tests do: where they are refused, one sentence and exit status 77.
set -eu
here=$(readlink -f "${0%/*}")
cd "$here/../.."
BUILD=${BUILD:-build}
BIN=${BIN:-$BUILD/bin}
dir=$BUILD/bench-run
mkdir -p "$dir/slurm"
cc=${CC:-cc}
$cc -std=c11 -O2 -Wall -Wextra -o "$dir/standin" tests/bench/standin.c
$cc -std=c11 -O2 -Wall -Wextra -static -o "$dir/timed" tests/bench/timed.c
$cc -std=c11 -O2 -Wall -Wextra -shared -fPIC -o "$dir/slice.so" tests/bench/slice.c -ldl
$cc -std=c11 -O2 -Wall -Wextra -shared -fPIC -o "$dir/gate.so" tests/bench/gate.c -ldl
ln -sf ../standin "$dir/slurm/scontrol"
ln -sf ../standin "$dir/slurm/squeue"
# enter hands on only these two of the environment.
export BUILD BIN
names=() parts=()
[ $# -gt 0 ] || parts=(gate addresses storm register)
for name; do
	case $name in
	slurm) parts+=(gate addresses) ;;
	storm | register) parts+=("$name") ;;
	*) names+=("$name") ;;
	esac
done
if [ $# = 0 ] || [ ${#names[@]} -gt 0 ]; then
	tests/e2e/lab/enter python3 -B tests/bench/bench.py --bin "$BIN" --dir "$dir" --out "$BUILD/bench.json" \
		--log-level "${BENCH_LOG_LEVEL:-info}" --jobs "${BENCH_JOBS:-1000000}" "${names[@]}"
else
	: >"$BUILD/bench.json"
fi
for part in "${parts[@]}"; do
	tests/e2e/lab/enter tests/bench/slurm.sh "$part" "$BUILD/bench.json"
done
