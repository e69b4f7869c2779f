#!/bin/bash
# ironic-driver.sh: the driver ironic against Ironic itself, and against simcloud's face of it, as TAP.  Skipped as
# ironic.sh is.
set -u
cd "$(dirname "$(readlink -f "$0")")/../.." || exit
BUILD=${BUILD:-build}
# shellcheck source-path=SCRIPTDIR
source tests/contract/venv.bash
want_venv "$BUILD/ironic" tests/contract/ironic.txt
exec "$BUILD/ironic/bin/python" tests/contract/ironic_driver.py "${BIN:-$BUILD/bin}/driver" "${BIN:-$BUILD/bin}/simcloud"
