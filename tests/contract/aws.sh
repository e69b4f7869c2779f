#!/bin/bash
# aws.sh [SCRIPT PROGRAM [WANT]]: the driver aws against moto, and its requests against botocore's, as TAP; both from
# PyPI, in a virtual environment under build/.  Skipped where Python's venv or PyPI is out of reach: that is found out in
# less than a minute, and beside the other tests.  Other tests run a script of theirs this way, in an environment of
# their own if they have a list WANT.txt.
set -u
cd "$(dirname "$(readlink -f "$0")")/../.." || exit
BUILD=${BUILD:-build}
# shellcheck source-path=SCRIPTDIR
source tests/contract/venv.bash
want_venv "$BUILD/contract" tests/contract/requirements.txt # aws-secrets.sh runs beside it, perhaps
exec "$BUILD/contract/bin/python" "tests/contract/${1:-aws.py}" "${BIN:-$BUILD/bin}/${2:-driver}"
