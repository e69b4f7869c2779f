#!/bin/bash
# run.sh: the collection scripts/ansible, as TAP: linted by ansible-lint, then its roles on a host by tests/bare/run.sh (ansible.bats).
# Ansible comes from PyPI into build/, in two releases: a current one, and that of Debian 12 and EL9.
set -eu
cd "$(dirname "$(readlink -f "$0")")/../.."
BUILD=${BUILD:-build}
# shellcheck source=tests/contract/venv.bash
source tests/contract/venv.bash
want_venv "$BUILD/ansible" tests/ansible/requirements.txt
want_venv "$BUILD/ansible-old" tests/ansible/requirements-old.txt
unset PYTHONPYCACHEPREFIX
ANSIBLE_NEW=$(readlink -f "$BUILD/ansible") ANSIBLE_OLD=$(readlink -f "$BUILD/ansible-old")
ANSIBLE_COLLECTIONS=$(readlink -f "$BUILD")/ansible-collections
export ANSIBLE_NEW ANSIBLE_OLD ANSIBLE_COLLECTIONS
PATH=$ANSIBLE_NEW/bin:$PATH

lint() {
	grep -qx "version: $(cat VERSION)" scripts/ansible/galaxy.yml || {
		echo "scripts/ansible/galaxy.yml has another version than VERSION"
		return 1
	}
	rm -rf "$ANSIBLE_COLLECTIONS"
	ansible-galaxy collection install -f -p "$ANSIBLE_COLLECTIONS" scripts/ansible &&
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
