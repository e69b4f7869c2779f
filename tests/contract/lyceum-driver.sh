#!/bin/bash
# lyceum-driver.sh: the driver lyceum beside Lyceum's own command line, over simcloud's face of Lyceum, as TAP.  Skipped as
# lyceum.sh is.
set -u
cd "$(dirname "$(readlink -f "$0")")/../.." || exit
BUILD=${BUILD:-build}
# shellcheck source-path=SCRIPTDIR
source tests/contract/venv.bash
python3 -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || skip "there is no Python 3.11"
want_venv "$BUILD/lyceum" tests/contract/lyceum.txt
exec "$BUILD/lyceum/bin/python" tests/contract/lyceum_driver.py "${BIN:-$BUILD/bin}/simcloud" \
	"${BIN:-$BUILD/bin}/driver"
