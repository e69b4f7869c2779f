#!/usr/bin/env bats
# The cluster's keys in a real OpenBao, wrapped: burstd hands out a token that is good once, and never sees a key.
# run.sh finds or builds the server, or these say that they are skipped.

# Variables from the helper.
# shellcheck disable=SC2016,SC2034,SC2154
bats_require_minimum_version 1.5.0
LAB_BOOTSTRAP='vault'
load helper

setup_file() {
	[ -d /run/lab ] || return 1
	[ -z "${VAULT-}" ] || lab_up
}

setup() {
	[ -n "${VAULT-}" ] || skip 'there is no Vault here, and no Go to build one'
	rm -f "$lab_dir/image/etc/burstd/bin/dpkg-query"
}

event() {
	burstctl events --json | grep "\"$1\"" | grep -q -- "${2-}"
}

no_more() {
	rm -f "$lab_dir/image/etc/burstd/bin/dpkg-query"
	scancel -u researcher
	calm
}

# thief: standard input is what somebody does who is root on the machine, when it has its answer and before it unwraps
thief() {
	{
		echo '#!/bin/sh'
		echo 'S=/run/burst/s'
		echo 'T=$(sed -n s/^wrap_token=//p $S/claim.conf)'
		echo 'V() { curl -sS --max-time 10 --cacert /etc/burstd/vault.pem "$@"; }'
		cat
		echo 'exec /usr/bin/dpkg-query "$@"'
	} | image bin/dpkg-query
	image vault.pem <"$lab_dir/vault/ca.pem"
}

@test "a node unwraps its keys at Vault, and burstd never had them" {
	id=$(job --gres=gpu:8 --wrap 'srun hostname')
	within 60 job_is "$id" COMPLETED
	event bootstrapped
	key=$(base64 -w0 /etc/munge/munge.key)
	run ! grep -rqaF "$key" /var/lib/burstd /var/log
	# Its policy does not let it.
	token=$(vault POST auth/approle/login -d "{\"role_id\":\"lab-burstd\",\"secret_id\":\"$(cat /var/lib/burstd/vault-secret-id)\"}" | jq -r .auth.client_token)
	lab_vault_root=$token run ! vault GET kv/data/slurm/lab/node
	within 30 all_down
	within 20 alive 0
}

@test "Vault sealed while a machine boots: it waits, and boots when it is unsealed" {
	vault PUT sys/seal
	id=$(job --gres=gpu:8 --wrap 'true')
	within 30 alive 1
	sleep 8
	[ "$(sim_of /admin/meter '[.rows[] | select(.end_ms == null)] | length')" = 1 ]
	run ! job_is "$id" COMPLETED
	lab_unseal
	within 90 job_is "$id" COMPLETED
	no_more
}

@test "unwrap already used: the node raises an alarm, gets nothing, and goes" {
	thief <<-'S'
		V -X POST -H "X-Vault-Token: $T" https://10.77.0.1:8200/v1/sys/wrapping/unwrap >/run/burst/stolen
	S
	id=$(job -w c1 --gres=gpu:8 --wrap 'true')
	within 60 event breach
	grep -q munge_key "$lab_dir"/sim/*/burst/stolen
	rm "$lab_dir/image/etc/burstd/bin/dpkg-query"
	[ ! -e "$(machine c1)/burst/passed" ]
	within 90 job_is "$id" COMPLETED
	burstctl audit | grep -q breach
	no_more
}

@test "wrong creation_path: a token that somebody wrapped anew is not believed" {
	thief <<-S
		K=\$(V -X POST -H "X-Vault-Token: \$T" https://10.77.0.1:8200/v1/sys/wrapping/unwrap)
		N=\$(echo "\$K" | V -X POST -H 'X-Vault-Token: $lab_vault_root' -H 'X-Vault-Wrap-TTL: 60s' -d @- https://10.77.0.1:8200/v1/sys/wrapping/wrap |
			sed -n 's/.*"wrap_info":{"token":"\([^"]*\)".*/\1/p')
		sed -i "s/^wrap_token=.*/wrap_token=\$N/" \$S/claim.conf
	S
	id=$(job -w c2 --gres=gpu:8 --wrap 'true')
	within 60 event breach
	grep -h creation_path "$lab_dir"/sim/*/burst/*.log || grep -rh 'another path of Vault' "$lab_dir"/sim/*/burst
	rm "$lab_dir/image/etc/burstd/bin/dpkg-query"
	within 90 job_is "$id" COMPLETED
	no_more
}

@test "a Vault with another certificate is told nothing by the node" {
	lab_authority "$lab_dir" rogue
	openssl s_server -accept 10.77.0.1:8201 -key "$lab_dir/rogue.key" -cert "$lab_dir/rogue.pem" -www >"$lab_dir/rogue.log" 2>&1 3>&- &
	rogue=$!
	thief <<-'S'
		sed -i 's/^vault=.*/vault=https:\/\/10.77.0.1:8201/' $S/claim.conf
	S
	id=$(job -w c3 --gres=gpu:8 --wrap 'true')
	within 60 event boot-failed 'no Vault answers'
	kill "$rogue"
	run ! grep -qi 'X-Vault-Token\|sys/wrapping' "$lab_dir/rogue.log"
	rm "$lab_dir/image/etc/burstd/bin/dpkg-query"
	within 90 job_is "$id" COMPLETED
	no_more
}
