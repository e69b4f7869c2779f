#!/bin/bash
# lambda-driver.sh: the driver lambda against simcloud's face of Lambda, with Prism between them, as TAP.  Skipped as
# lambda.sh is.
set -u
cd "$(dirname "$(readlink -f "$0")")/../.." || exit
BUILD=${BUILD:-build}
spec=../shared/specs/lambda.json
# shellcheck source-path=SCRIPTDIR
source tests/contract/prism.bash
prism_get "$spec"
# No __pycache__ beside the sources.
export PYTHONDONTWRITEBYTECODE=1
exec python3 tests/contract/lambda_driver.py "${BIN:-$BUILD/bin}/simcloud" "$PRISM" "$spec" "${BIN:-$BUILD/bin}/driver"
