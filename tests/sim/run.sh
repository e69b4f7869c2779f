#!/bin/sh
# run.sh: the simulator as one TAP test; `make sim` runs more seeds.
cd "$(dirname "$0")/../.." || exit
exec "${SIM:-build/bin/sim}" --tap --seeds "${SEEDS:-2000}" --steps "${STEPS:-2000}"
