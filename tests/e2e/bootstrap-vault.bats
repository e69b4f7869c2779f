#!/usr/bin/env bats
# The cluster's keys in a real OpenBao, wrapped: burstd hands out a token that is good once, and never sees a key.
# run.sh finds or builds the server, or these say that they are skipped.

# Variables from the helper.
# shellcheck disable=SC2016,SC2034,SC2154
bats_require_minimum_version 1.5.0
# burstd looks at a Vault that is sealed every minute: neither a claim nor slurmctld gives up before.
LAB_BOOTSTRAP='vault' LAB_CLAIM_TTL=120s LAB_RESUME_TIMEOUT=120
load helper

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

@test "Vault sealed while a machine boots: it waits, and boots when it is unsealed" {
	vault PUT sys/seal
	id=$(job --gres=gpu:8 --wrap true)
	# It has claimed, and is told to come again: nothing weaker is tried, and it is not given up.
	within 40 eval 'grep -qs ": 202$" "$lab_dir"/sim/*/burst/stage0.log'
	within 20 eval 'burstctl status --json | grep -q "the server is sealed"'
	sleep 2
	alive 1
	run ! job_is "$id" COMPLETED
	lab_unseal
	# Up to a minute lies between two looks at a Vault that is sealed.
	within 90 job_is "$id" COMPLETED
	[ "$(sim_rows)" = 2 ]
	run -1 event breach
	within 30 all_down
	within 20 alive 0
}

@test "Vault sealed mid-boot: a node that has its token waits, and unwraps it when Vault is unsealed" {
	# In a step between burstd's answer and the unwrap.
	image bin/dpkg-query <<-'S'
		#!/bin/sh
		touch /run/burst/has-its-token
		until [ -e /run/burst/sealed ]; do sleep 0.1; done
		exec /usr/bin/dpkg-query "$@"
	S
	rows=$(sim_rows)
	id=$(job --gres=gpu:8 --wrap true)
	within 40 eval 'node=$(job_nodes $id) && dir=$(machine $node) && [ -e "$dir/burst/has-its-token" ]'
	vault PUT sys/seal
	touch "$dir/burst/sealed"
	# It goes on asking, for as long as the token lives.
	sleep 10
	grep -q -- '--- key' "$dir/burst/node-init.log"
	[ -d "/proc/$(cat "$dir/pid")" ]
	[ ! -e "$dir/burst/munge/munge.key" ]
	lab_unseal
	within 60 job_is "$id" COMPLETED
	[ "$(sim_rows)" = $((rows + 1)) ]
	run -1 event breach
	run -1 event boot-failed
	rm "$lab_dir/image/etc/burstd/bin/dpkg-query"
	within 30 all_down
	within 20 alive 0
}

sessions() {
	local one
	for one in $(vault GET 'auth/token/accessors?list=true' | jq -r '.data.keys[]'); do
		vault POST auth/token/lookup-accessor -d "{\"accessor\":\"$one\"}" 2>/dev/null
	done | jq -s '[.[] | select(.data.meta.role_name == "burstd")] | length'
}

@test "burstd's end is the end of its session, and no Vault that stands still holds it up" {
	within 20 eval 'burstctl status --json | jq -e .secrets.ok'
	before=$(sessions)
	lab_stop burstd
	[ "$(sessions)" = $((before - 1)) ]
	lab_start burstd
	within 20 eval 'burstctl status --json | jq -e .secrets.ok'
	[ "$(sessions)" = "$before" ]
	kill -STOP "$(lab_pid vault)"
	# Each of its threads stops when it is there next: until then it may answer.
	within 5 eval '! grep -qs "^State:[[:space:]]*[^T[:space:]]" "/proc/$(lab_pid vault)/task/"*/status'
	pid=$(lab_pid burstd)
	kill "$pid"
	ended=no
	for _ in $(seq 80); do
		[ -d "/proc/$pid" ] || ended=yes
		[ "$ended" = no ] || break
		sleep 0.1
	done
	kill -CONT "$(lab_pid vault)"
	[ "$ended" = yes ]
	grep -q 'was not ended: it ends by itself' /var/log/burstd.log
	lab_start burstd
}
