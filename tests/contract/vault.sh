#!/bin/bash
# vault.sh [NAME...]: burstd's session with Vault on a real OpenBao (or HashiCorp Vault), NAME.bats, as TAP.  From PATH,
# else built from its Go module (openbao/find.sh); skipped where there is neither.
set -u
cd "$(dirname "$(readlink -f "$0")")/../.." || exit
export BUILD=${BUILD:-build}
export STORE=${BIN:-$BUILD/bin}/store

skip() {
	echo "1..0 # SKIP $1"
	exit 0
}
mkdir -p "$BUILD"
command -v bats >/dev/null || skip "bats is not installed"
command -v openssl >/dev/null || skip "openssl is not installed"
VAULT=$(tests/contract/openbao/find.sh) || skip "$VAULT"
export VAULT
[ $# -gt 0 ] || set -- vault vault-transcripts
set -- "${@/#/tests/contract/}"
exec bats --tap "${@/%/.bats}"
