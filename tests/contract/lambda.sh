#!/bin/bash
# lambda.sh: simcloud's face of Lambda, behind Prism, against what Lambda publishes about its API, as TAP.  Skipped where
# that description, or Prism, cannot be had.
set -u
cd "$(dirname "$(readlink -f "$0")")/../.." || exit
BUILD=${BUILD:-build}
spec=../shared/specs/lambda.json
# shellcheck source-path=SCRIPTDIR
source tests/contract/prism.bash
prism_get "$spec"
# No __pycache__ beside the sources.
export PYTHONDONTWRITEBYTECODE=1
exec python3 tests/contract/lambda.py "${BIN:-$BUILD/bin}/simcloud" "$PRISM" "$spec"
