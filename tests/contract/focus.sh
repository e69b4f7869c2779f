#!/bin/bash
# focus.sh: our FOCUS data sets by the FinOps Foundation's own validator, as TAP.  It is on PyPI and wants Python 3.12,
# which Debian 12 has not: skipped where there is none.
set -u
cd "$(dirname "$(readlink -f "$0")")/../.." || exit
BUILD=${BUILD:-build}
# shellcheck source-path=SCRIPTDIR
source tests/contract/venv.bash
PYTHON=''
for p in python3.12 python3 "$HOME"/.pyenv/versions/3.12*/bin/python3.12; do
	if "$p" -c 'import sys; sys.exit(sys.version_info[:2] != (3, 12))' 2>/dev/null; then
		PYTHON=$p
		break
	fi
done
[ -n "$PYTHON" ] || skip "there is no Python 3.12, which focus-validator needs"
want_venv "$BUILD/contract-focus" tests/contract/focus.txt
exec "$BUILD/contract-focus/bin/python" tests/contract/focus.py "${BIN:-$BUILD/bin}/focus" "$BUILD/contract-focus"
