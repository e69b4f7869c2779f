#!/bin/sh
# run.sh: the simulator as one TAP test; `make sim` runs more seeds.  It only computes: what keeps time goes before it.
cd "$(dirname "$0")/../.." || exit
exec nice -n 19 "${SIM:-build/bin/sim}" --tap --seeds "${SEEDS:-2000}" --steps "${STEPS:-2000}"
