#!/bin/bash
# lyceum.sh: simcloud's face of Lyceum, used by Lyceum's own command line from PyPI, as TAP.  Skipped where Python's venv,
# a Python that it runs on (3.11) or PyPI is out of reach.
set -u
cd "$(dirname "$(readlink -f "$0")")/../.." || exit
BUILD=${BUILD:-build}
# shellcheck source-path=SCRIPTDIR
source tests/contract/venv.bash
python3 -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || skip "there is no Python 3.11"
want_venv "$BUILD/lyceum" tests/contract/lyceum.txt
exec "$BUILD/lyceum/bin/python" tests/contract/lyceum.py "${BIN:-$BUILD/bin}/simcloud"
