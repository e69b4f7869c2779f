#!/bin/bash
# openstack.sh: simcloud's OpenStack beside a real Nova and a real Keystone, from PyPI, as TAP.  Skipped where Python's
# venv or PyPI is out of reach.
set -u
cd "$(dirname "$(readlink -f "$0")")/../.." || exit
BUILD=${BUILD:-build}
# shellcheck source-path=SCRIPTDIR
source tests/contract/venv.bash
want_venv "$BUILD/contract-openstack" tests/contract/openstack.txt
exec "$BUILD/contract-openstack/bin/python" tests/contract/openstack.py "${BIN:-$BUILD/bin}/simcloud"
