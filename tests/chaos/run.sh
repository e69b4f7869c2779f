#!/bin/bash
# run.sh: chaos on real processes (README.md), as TAP.  MINUTES=n (30; 3 below prove), SEED=n (any; 1 below prove, so
# that `make test` always does the same), NODES=n, CLOUDS=1|2.
#
# Where root or namespaces are refused nothing is run: a TAP plan that says so for prove, one sentence and exit status 77
# for people.
set -u
cd "$(dirname "$(readlink -f "$0")")/../.." || exit
minutes=${MINUTES:-${HARNESS_ACTIVE:+3}} minutes=${minutes:-30}
seed=${SEED:-${HARNESS_ACTIVE:+1}} seed=${seed:-$((RANDOM * 32768 + RANDOM + 1))}
clouds=${CLOUDS:-1}
case $clouds in 1 | 2) ;; *) echo "CLOUDS=$clouds: want 1 or 2" >&2 && exit 2 ;; esac
BUILD=${BUILD:-build}
if ! why=$(tests/e2e/lab/enter true 2>&1); then
	echo "1..0 # SKIP ${why##*$'\n'}"
	echo "$why" >&2
	[ -z "${HARNESS_ACTIVE-}" ] || exit 0
	exit 77
fi
out=$BUILD/chaos
rm -rf "$out"
mkdir -p "$out"
echo "# chaos: $minutes minutes, seed $seed, clouds: $clouds; again: make chaos MINUTES=$minutes SEED=$seed CLOUDS=$clouds"
rc=0
for test in tests/chaos/test_*.py; do
	"$test" 2>&1 | sed 's/^/# /'
	[ "${PIPESTATUS[0]}" = 0 ] || rc=1
done
if [ $rc = 0 ]; then
	export LAB_BIN=${BIN:-$BUILD/bin}
	tests/e2e/lab/enter tests/chaos/chaos.sh "$minutes" "$seed" "$out" "${NODES:-22}" "$clouds" || rc=$?
fi
echo 1..1
if [ $rc = 0 ]; then
	echo "ok 1 - $minutes minutes of chaos, seed $seed: nothing lost, doubled or leaked"
	exit
fi
echo "not ok 1 - $minutes minutes of chaos, seed $seed: logs and figures are in $out"
exit 1
