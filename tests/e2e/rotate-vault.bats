#!/usr/bin/env bats
# munge's next key is staged in a real OpenBao, by a session that an admin lends burstd for it; a node unwraps it.  run.sh finds
# or builds the server, or these say that they are skipped.

# Variables from the helper.
# shellcheck disable=SC2016,SC2034,SC2154
bats_require_minimum_version 1.5.0
LAB_BOOTSTRAP='vault'
load helper

setup() {
	[ -n "${VAULT-}" ] || skip 'there is no Vault here, and no Go to build one'
}

phase_is() { [ "$(burstctl secrets rotate --json | jq -r .rotation.phase)" = "$1" ]; }
bundle() {
	local text
	text=$(vault GET kv/data/slurm/lab/node) && jq -r ".data.data.$1 // empty" <<<"$text"
}
version() { vault GET kv/metadata/slurm/lab/node | jq .data.current_version; }

# A secret_id of the role of rotations, wrapped: as docs/secrets.md has it.
credential() {
	vault POST auth/approle/role/burst-rotate/secret-id -H 'X-Vault-Wrap-TTL: 60s' | jq -r .wrap_info.token
}

@test "a key is staged in Vault with a credential that was lent for it, a node unwraps it, and an abort takes it out again" {
	id=$(job --gres=gpu:8 --wrap 'sleep 600')
	within 60 job_is "$id" RUNNING
	node=$(job_nodes "$id")
	old=$(base64 -w0 /etc/munge/munge.key)
	vault POST kv/metadata/slurm/lab/node -d '{"cas_required":true}'
	# burstd has no right to write, and asks for one.
	run ! burstctl secrets rotate --munge </dev/null
	credential | burstctl secrets rotate --munge
	within 60 phase_is staged
	new=$(bundle munge_key_next)
	[ -n "$new" ]
	[ "$(bundle munge_key)" = "$old" ]
	[ "$(version)" = 2 ]
	[ "$(on "$node" base64 -w0 /run/burst/munge/munge.key.next)" = "$new" ]
	# What was lent was in memory alone.
	lab_kill burstd
	lab_start burstd
	within 20 eval 'burstctl status --json | jq -e .secrets.ok'
	run ! burstctl secrets rotate --abort
	credential | burstctl secrets rotate --resume
	burstctl secrets rotate --abort
	within 30 phase_is aborted
	[ "$(version)" = 3 ]
	[ "$(bundle munge_key)" = "$old" ]
	next=$(bundle munge_key_next)
	[ -z "$next" ]
	run ! grep -rqaF -e "$new" -e "$old" /var/log /var/lib/burstd
	scancel "$id"
	calm
}
