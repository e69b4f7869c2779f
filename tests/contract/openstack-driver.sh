#!/bin/bash
# openstack-driver.sh: the driver openstack against a real Nova and a real Keystone, as TAP.  Skipped as openstack.sh is.
set -u
cd "$(dirname "$(readlink -f "$0")")/../.." || exit
BUILD=${BUILD:-build}
# shellcheck source-path=SCRIPTDIR
source tests/contract/venv.bash
want_venv "$BUILD/contract-openstack" tests/contract/openstack.txt
exec "$BUILD/contract-openstack/bin/python" tests/contract/openstack_driver.py "${BIN:-$BUILD/bin}/driver"
