#!/usr/bin/env bats
# examples/vault-only applied to a real OpenBao, burstd's session by what it has made, and destroyed again: run by suite.sh,
# which sets PROGRAM, PLUGINS, WORK, BIN, STORE and VAULT.
# shellcheck disable=SC2016,SC2034,SC2154
bats_require_minimum_version 1.5.0
load ../../tests/contract/vault
source terraform/tests/lib.bash

setup_file() {
	export DIR
	DIR=$(mktemp -d "${TMPDIR:-/tmp}/burstd-terraform.XXXXXX")
	chmod 700 "$DIR"
	server_start v1
	VAULT_ADDR=https://127.0.0.1:$(cat "$DIR/v1/port")
	export VAULT_ADDR VAULT_TOKEN=root VAULT_CACERT=$DIR/v1/vault-ca.pem
	export PLACE=$WORK/examples/vault-only
	cat >"$PLACE/test.auto.tfvars" <<-EOF
		address      = ["$VAULT_ADDR"]
		ca_file      = "$DIR/v1/vault-ca.pem"
		burstd_cidrs = ["127.0.0.1/32"]
	EOF
	init "$PROGRAM" "$PLUGINS" "$PLACE"
}

teardown_file() {
	server_stop v1
	rm -rf "$DIR"
}

teardown() {
	client_stop
}

tf() {
	"$PROGRAM" -chdir="$PLACE" "$1" -no-color "${@:2}"
}

# The section that was made, as burstd's with a secret_id of ROLE.
made_conf() { # ROLE
	(umask 077 && api v1 POST "auth/approle/role/$1/secret-id" | field data.secret_id >"$DIR/secret-id")
	{
		printf 'cluster = "prod"\ncurrency = "EUR"\n'
		tf output -raw burstd_conf | sed "s|/var/lib/burstd/vault-secret-id|$DIR/secret-id|; s|^}|\tpoll = \"1s\"\n}|"
		printf 'provider "sim" {\ndriver = "sim"\nurl = "http://127.0.0.1:1"\n}\n'
		printf 'pool "p" {\nnodes = "n1"\nprovider = "sim"\ntype = "t"\nregion = "r"\nmax_nodes = 1\nmax_rate = "1"\n}\n'
	} >"$DIR/burstd.conf"
	chmod 600 "$DIR/burstd.conf"
}

@test "it is applied, and another apply changes nothing" {
	tf apply -auto-approve
	run -0 tf plan -detailed-exitcode
	[ "$(tf output -json secrets | field rotate_role_name)" = burstd-rotate ]
}

@test "Vault has the policies of docs/secrets.md, word for word" {
	for pair in burstd:wrap burstd-rotate:rotate; do
		api v1 GET "sys/policies/acl/${pair%:*}" | field data.policy >"$DIR/has"
		sed 's|${mount}|kv|g; s|${name}|slurm/prod/node|g' "terraform/modules/secrets/vault/policy-${pair#*:}.hcl.tftpl" >"$DIR/want"
		diff <(sed '/^$/d' "$DIR/want") <(sed '/^$/d' "$DIR/has")
	done
}

@test "burstd takes the section, and is ready by it" {
	api v1 POST kv/data/slurm/prod/node -o /dev/null \
		-d "{\"options\":{\"cas\":0},\"data\":{\"munge_key\":\"$(head -c 64 /dev/urandom | base64 -w0)\",\"kid\":\"1\"}}"
	made_conf burstd
	burstd_takes "$DIR/burstd.conf"
	N=0
	client_start
	status '"ready":true'
	keys wrap
	TOKEN=$(field token <<<"$GOT") run -0 api v1 POST sys/wrapping/unwrap
	[[ $output == *munge_key* ]]
	keys broker
	[[ $GOT == *'permission denied'* ]]
}

@test "who does not say which version he has read overwrites nothing" {
	run -22 api v1 POST kv/data/slurm/prod/node -d '{"data":{"munge_key":"x"}}'
}

@test "the keys are replaced by the role for that" {
	made_conf burstd
	N=0
	client_start
	status '"ready":true'
	echo "rotate munge $(api v1 POST auth/approle/role/burstd-rotate/secret-id -H 'X-Vault-Wrap-TTL: 60s' | field wrap_info.token)" >&7
	for _ in $(seq 50); do
		[ "$(api v1 GET kv/metadata/slurm/prod/node | field data.current_version)" != 2 ] || break
		sleep 0.2
	done
	[ "$(api v1 GET kv/metadata/slurm/prod/node | field data.current_version)" = 2 ]
}

@test "its credential is good on burstd's host alone" {
	sed -i 's|127.0.0.1/32|192.0.2.10/32|' "$PLACE/test.auto.tfvars"
	tf apply -auto-approve
	made_conf burstd
	client_start
	status '"phase":"refused"'
}

@test "no secret is in the state" {
	run ! grep -F -e "$(cat "$DIR/secret-id")" -e munge_key\":\"[A-Za-z0-9] "$PLACE/terraform.tfstate"
	[ "$(grep -c '"type": "vault_' "$PLACE/terraform.tfstate")" = 7 ]
}

@test "destroy leaves nothing" {
	tf destroy -auto-approve
	[[ $(api v1 GET 'sys/policies/acl?list=true' | field data.keys) != *burst* ]]
	[[ $(api v1 GET sys/auth) != *approle* ]]
	[[ $(api v1 GET sys/mounts) != *'"kv/"'* ]]
}
