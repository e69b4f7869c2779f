#!/bin/bash
# ironic.sh: simcloud's face of Ironic against Ironic itself, as TAP: one list of requests goes to both, and the answers
# must be alike.  Ironic comes from PyPI, in a virtual environment under build/, and runs as one process with its fake
# hardware.  Skipped where Python's venv or PyPI is out of reach.
set -u
cd "$(dirname "$(readlink -f "$0")")/../.." || exit
BUILD=${BUILD:-build}
# shellcheck source-path=SCRIPTDIR
source tests/contract/venv.bash
want_venv "$BUILD/ironic" tests/contract/ironic.txt
export BUILD
exec "$BUILD/ironic/bin/python" tests/contract/ironic.py "${BIN:-$BUILD/bin}/simcloud"
