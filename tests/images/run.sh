#!/bin/bash
# run.sh [FILE.bats...]: what of images can be tested in seconds, as one TAP stream; scripts/images/images.mk has the rest.
set -u
cd "$(dirname "$0")/../.." || exit
[ $# -gt 0 ] || set -- tests/images/*.bats
command -v bats >/dev/null || {
	echo '1..0 # SKIP bats is not installed'
	exit 0
}
exec bats --tap "$@"
