#!/bin/bash
# run.sh: every call of libc that burstd makes fails once (README.md).  SAMPLE=n: so many of them; JOBS=n lives side by
# side; ONLY=REGEX: only groups of that name; FAULT="...": one again, as a failure printed it.
#
# Needs root and namespaces, as the end-to-end tests do: where they are refused, one sentence and exit status 77.
set -eu
cd "$(dirname "$(readlink -f "$0")")/../.."
BUILD=${BUILD:-build}
BIN=$(readlink -f "${BIN:-$BUILD/bin}")
dir=$BUILD/torture
mkdir -p "$dir"
dir=$(readlink -f "$dir")
cc=${CC:-cc}
$cc -std=gnu11 -O2 -Wall -Wextra -I. -shared -fPIC -o "$dir/fail.so" tests/torture/fail.c tests/torture/fail_calls.c
$cc -std=gnu11 -O2 -Wall -Wextra -static -o "$dir/slurm" tests/torture/slurm.c
# enter hands on nothing of the environment but BUILD and BIN.
exec tests/e2e/lab/enter python3 -B tests/torture/torture.py --bin "$BIN" --build "$dir" --sample "${SAMPLE:-0}" \
	--jobs "${JOBS:-$(($(nproc) * 2))}" --only "${ONLY:-}" --fault "${FAULT:-}" --preload "${PRELOAD:-}" \
	${PROGRESS:+--progress}
