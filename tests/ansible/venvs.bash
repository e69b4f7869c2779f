# venvs.bash: sourced in the repository's root: Ansible from PyPI in build/, in two releases: a current one, and that of Debian 12
# and EL9.  Where it cannot be had, this skips, as tests/contract/venv.bash does.
BUILD=${BUILD:-build}
# shellcheck source=tests/contract/venv.bash
source tests/contract/venv.bash
want_venv "$BUILD/ansible" tests/ansible/requirements.txt
want_venv "$BUILD/ansible-old" tests/ansible/requirements-old.txt
unset PYTHONPYCACHEPREFIX
ANSIBLE_NEW=$(readlink -f "$BUILD/ansible") ANSIBLE_OLD=$(readlink -f "$BUILD/ansible-old")
ANSIBLE_COLLECTIONS=$(readlink -f "$BUILD")/ansible-collections
export ANSIBLE_NEW ANSIBLE_OLD ANSIBLE_COLLECTIONS

install_collection() {
	rm -rf "$ANSIBLE_COLLECTIONS"
	"$ANSIBLE_NEW/bin/ansible-galaxy" collection install -f -p "$ANSIBLE_COLLECTIONS" scripts/ansible
}
