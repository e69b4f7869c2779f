#!/bin/bash
# vault.sh: burstd's session with Vault on a real OpenBao (or HashiCorp Vault), as TAP.  From PATH, else built from its
# Go module (openbao/build.sh: minutes, once, kept outside the tree); skipped where there is neither.
set -u
cd "$(dirname "$(readlink -f "$0")")/../.." || exit
export BUILD=${BUILD:-build}
export STORE=${BIN:-$BUILD/bin}/store
cached=${XDG_CACHE_HOME:-$HOME/.cache}/burstd/bao

skip() {
	echo "1..0 # SKIP $1"
	exit 0
}
# An older Go gets the toolchain that go.mod names, as a module.
go_is_enough() {
	local have
	have=$(go env GOVERSION 2>/dev/null) || return
	[ "$(printf '%s\n' go1.21 "$have" | sort -V | head -n 1)" = go1.21 ]
}
mkdir -p "$BUILD"
command -v bats >/dev/null || skip "bats is not installed"
command -v openssl >/dev/null || skip "openssl is not installed"
if VAULT=$(command -v bao || command -v vault); then
	:
elif [ -x "$cached" ]; then
	VAULT=$cached
elif go_is_enough; then
	GOTOOLCHAIN=auto timeout 900 sh tests/contract/openbao/build.sh "$cached" >"$BUILD/openbao.log" 2>&1 ||
		skip "OpenBao cannot be built: $BUILD/openbao.log"
	VAULT=$cached
else
	skip "neither bao nor vault nor Go 1.21 is installed"
fi
export VAULT
exec bats --tap tests/contract/vault.bats
