#!/bin/bash
# run.sh: the collection scripts/ansible, as TAP: linted by ansible-lint, then its roles on a host by tests/bare/run.sh (ansible.bats).
set -eu
cd "$(dirname "$(readlink -f "$0")")/../.."
# shellcheck source=tests/ansible/venvs.bash
source tests/ansible/venvs.bash
PATH=$ANSIBLE_NEW/bin:$PATH

lint() {
	grep -qx "version: $(cat VERSION)" scripts/ansible/galaxy.yml || {
		echo "scripts/ansible/galaxy.yml has another version than VERSION"
		return 1
	}
	install_collection &&
		(cd scripts/ansible && ANSIBLE_COLLECTIONS_PATH=$ANSIBLE_COLLECTIONS ansible-lint -q -c .ansible-lint .)
}

# The host's tests are numbered by bats, in a run of their own.
if [ "${1-}" = --lint ]; then
	echo 1..1
	if lint >"$BUILD/ansible-lint.log" 2>&1; then
		echo 'ok 1 - ansible-lint has nothing to say of the collection'
	else
		sed 's/^/# /' "$BUILD/ansible-lint.log"
		echo 'not ok 1 - ansible-lint has nothing to say of the collection'
	fi
	exit
fi
lint >"$BUILD/ansible-lint.log" 2>&1 || {
	cat "$BUILD/ansible-lint.log" >&2
	exit 1
}
exec tests/bare/run.sh tests/ansible/ansible.bats
