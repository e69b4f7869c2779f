#!/usr/bin/env bats
# What fast tests take for Vault's answers (tests/fixtures/vault) is what a real one says to the driver's requests: run by
# vault.sh.  RECORD=yes writes them anew, and prints the index after "#".
# shellcheck disable=SC2034,SC2154
bats_require_minimum_version 1.5.0
load vault

setup_file() {
	export DIR
	DIR=$(mktemp -d "${TMPDIR:-/tmp}/burstd-said.XXXXXX")
	chmod 700 "$DIR"
	server_start v1
	roles v1
	# As there was nothing yet: the versions are those of the records.
	api v1 DELETE kv/metadata/slurm/prod/node
	put_policy v1 rotate rotate
	api v1 POST auth/approle/role/rotate -d '{"token_policies":["rotate"],"token_ttl":"15m"}'
	api v1 PUT sys/policies/acl/look -d '{"policy":"path \"auth/token/lookup-accessor\" { capabilities = [\"update\"] }"}'
	api v1 POST auth/approle/role/burstd -d '{"token_policies":["wrap","look"],"token_period":"1h"}'
}

teardown_file() {
	server_stop v1
	rm -rf "$DIR"
}

setup() {
	node=kv/data/slurm/prod/node meta=kv/metadata/slurm/prod/node
	bundle=$(python3 -c 'import json, sys; print(json.dumps(json.load(sys.stdin)["data"]["data"]))' <tests/fixtures/vault/read.json)
	paths='{"paths":["kv/data/slurm/prod/node","kv/metadata/slurm/prod/node","auth/token/revoke-accessor"]}'
}

# session ROLE: a token
session() {
	api v1 POST auth/approle/login -d "$(credentials "$1")" | field auth.client_token
}

credentials() {
	printf '{"role_id":"%s","secret_id":"%s"}' "$(api v1 GET "auth/approle/role/$1/role-id" | field data.role_id)" \
		"$(api v1 POST "auth/approle/role/$1/secret-id" | field data.secret_id)"
}

# The recorder's lines are told of.
says() {
	said v1 "$@" >"$DIR/line"
	[ ! -s "$DIR/line" ] || echo "# $(cat "$DIR/line")" >&3
}

@test "a session begins, lives on and ends" {
	TOKEN='' says health GET sys/health
	TOKEN='' says login POST auth/approle/login -d "$(credentials burstd)"
	TOKEN='' says login-refused POST auth/approle/login -d '{"role_id":"x","secret_id":"y"}'
	mine=$(session burstd)
	TOKEN=$mine says renew POST auth/token/renew-self -d '{}'
	TOKEN=$mine says rights POST sys/capabilities-self -d "$paths"
	TOKEN=$mine says rights-look POST sys/capabilities-self -d '{"paths":["kv/data/slurm/prod/node","auth/token/lookup-accessor"]}'
	TOKEN=root says rights-root POST sys/capabilities-self -d "$paths"
	TOKEN=$mine says logout POST auth/token/revoke-self
	TOKEN=$mine says denied-token GET "$meta"
}

@test "the bundle is written on top of the version that was read, and by whom may" {
	mine=$(session burstd) rotation=$(session rotate)
	TOKEN=$mine says metadata-none GET "$meta"
	TOKEN=$mine says wrap-missing GET "$node?version=1" -H 'X-Vault-Wrap-TTL: 60s'
	# The first is an admin's: the policy of a rotation is to update.
	TOKEN=root says written POST "$node" -d "{\"options\":{\"cas\":0},\"data\":$bundle}"
	TOKEN=$rotation says conflict POST "$node" -d "{\"options\":{\"cas\":0},\"data\":$bundle}"
	TOKEN=$mine says denied-write POST "$node" -d "{\"options\":{\"cas\":1},\"data\":$bundle}"
	TOKEN=$rotation says read GET "$node"
	TOKEN=$mine says metadata GET "$meta"
	api v1 POST "$meta" -d '{"cas_required":true}'
	TOKEN=$rotation says cas-required POST "$node" -d "{\"data\":$bundle}"
	api v1 POST "$meta" -d '{"cas_required":false}'
}

@test "a wrapping token is looked at, used once, and revoked" {
	mine=$(session burstd)
	TOKEN=$mine says denied GET "$node"
	TOKEN=$mine says wrap GET "$node?version=1" -H 'X-Vault-Wrap-TTL: 60s'
	token=$(field wrap_info.token <"$DIR/said") accessor=$(field wrap_info.accessor <"$DIR/said")
	TOKEN='' says peek POST sys/wrapping/lookup -d "{\"token\":\"$token\"}"
	TOKEN=$mine says look POST auth/token/lookup-accessor -d "{\"accessor\":\"$accessor\"}"
	TOKEN=$mine says revoke POST auth/token/revoke-accessor -d "{\"accessor\":\"$accessor\"}"
	TOKEN=$mine says look-gone POST auth/token/lookup-accessor -d "{\"accessor\":\"$accessor\"}"
	TOKEN='' says spent POST sys/wrapping/lookup -d "{\"token\":\"$token\"}"
	token=$(TOKEN=$mine api v1 GET "$node" -H 'X-Vault-Wrap-TTL: 60s' | field wrap_info.token)
	TOKEN=$token says unwrap POST sys/wrapping/unwrap
	TOKEN=$token says spent-unwrap POST sys/wrapping/unwrap
	token=$(api v1 POST auth/approle/role/burstd/secret-id -H 'X-Vault-Wrap-TTL: 60s' | field wrap_info.token)
	TOKEN='' says peek-secret-id POST sys/wrapping/lookup -d "{\"token\":\"$token\"}"
	TOKEN=$token says unwrap-secret-id POST sys/wrapping/unwrap
}

@test "a bundle that was deleted, and a Vault that is sealed" {
	mine=$(session burstd) rotation=$(session rotate)
	api v1 POST "$node" -o /dev/null -d "{\"data\":$bundle}"
	api v1 DELETE "$node"
	TOKEN=$rotation says deleted GET "$node"
	TOKEN=$mine says metadata-deleted GET "$meta"
	api v1 PUT sys/seal
	TOKEN='' says health-sealed GET sys/health
	TOKEN=$mine says sealed GET "$meta"
}
