#!/bin/bash
# run.sh [FILE.bats...]: tests of what runs on a node, as one TAP stream.  Root and namespaces as in tests/e2e/run.sh; each
# test is a machine of its own (world.sh).
set -u
cd "$(dirname "$0")/../.." || exit
[ $# -gt 0 ] || set -- tests/node/*.bats

if ! why=$(tests/e2e/lab/enter true 2>&1); then
	echo "1..0 # SKIP ${why##*$'\n'}"
	echo "$why" >&2
	[ -z "${HARNESS_ACTIVE-}" ] || exit 0
	exit 77
fi
# In there is no way to any archive.
tests/node/chronyd.sh >/dev/null
exec tests/e2e/lab/enter bats --tap "$@"
