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
}

event() {
	burstctl events --json | grep "\"$1\"" | grep -q -- "${2-}"
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
