#!/bin/bash
# ironic-keystone.sh: the driver ironic against Ironic itself, which asks a real Keystone for tokens, as TAP.  Skipped
# where ironic.sh or openstack.sh is.
set -u
cd "$(dirname "$(readlink -f "$0")")/../.." || exit
BUILD=${BUILD:-build}
# shellcheck source-path=SCRIPTDIR
source tests/contract/venv.bash
want_venv "$BUILD/contract-openstack" tests/contract/openstack.txt
want_venv "$BUILD/ironic" tests/contract/ironic.txt
exec "$BUILD/ironic/bin/python" tests/contract/ironic_keystone.py "${BIN:-$BUILD/bin}" "$BUILD/contract-openstack"
