#!/usr/bin/env bats
# One key is replaced by another in a real Vault, with the policies of docs/secrets.md: run by vault.sh.
# shellcheck disable=SC2034,SC2154
bats_require_minimum_version 1.5.0
load vault

setup_file() {
	export DIR
	DIR=$(mktemp -d "${TMPDIR:-/tmp}/burstd-rotate.XXXXXX")
	chmod 700 "$DIR"
	server_start v1
	roles v1
	put_policy v1 burst-rotate rotate
	api v1 POST auth/approle/role/burst-rotate -d '{"token_policies":["burst-rotate"],"token_ttl":"15m","secret_id_ttl":"24h"}'
	api v1 POST kv/metadata/slurm/prod/node -d '{"cas_required":true}'
}

teardown_file() {
	server_stop v1
	rm -rf "$DIR"
}

setup() {
	N=0
	client_conf wrap '' "$(rotating burst-rotate)"
	client_start
	status '"ready":true'
	before=$(current)
	old=$(bundle munge_key)
}

teardown() {
	client_stop
}

# rotating ROLE: the lines of burstd.conf
rotating() {
	echo "rotate_role_id = \"$(api v1 GET "auth/approle/role/$1/role-id" | field data.role_id)\""
	echo "rotate_role_name = \"$1\""
}

# wrapped ROLE: a secret_id of it, as an admin has it
wrapped() {
	api v1 POST "auth/approle/role/$1/secret-id" -H 'X-Vault-Wrap-TTL: 60s' | field wrap_info.token
}

current() {
	api v1 GET kv/metadata/slurm/prod/node | field data.current_version
}

# bundle KEY [VERSION]
bundle() {
	api v1 GET "kv/data/slurm/prod/node?version=${2:-0}" | field "data.data.$1"
}

# alien_write: by somebody who knows the current version
alien_write() {
	api v1 POST kv/data/slurm/prod/node -o /dev/null \
		-d "{\"options\":{\"cas\":$(current)},\"data\":{\"munge_key\":\"$(head -c 64 /dev/urandom | base64 -w0)\"}}"
}

# rotation PATTERN: until its state has it
rotation() {
	for _ in $(seq 100); do
		echo rotation >&7
		sleep 0.1
		grep '"rotation":' "$DIR/out" | tail -n 1 | grep -q -- "$1" && return
	done
	echo "no $1 in:" >&2
	tail -n 5 "$DIR/out" >&2
	return 1
}

# --- tests -----------------------------------------------------------------------------------------

@test "munge's key is replaced in two writes, each on top of the version that was read" {
	echo "rotate munge $(wrapped burst-rotate)" >&7
	rotation '"spreading"'
	[ "$(current)" = $((before + 1)) ]
	[ "$(bundle munge_key)" = "$old" ]
	new=$(bundle munge_key_next)
	[ "$(base64 -d <<<"$new" | wc -c)" = 128 ]
	# burstd's own session sees it, and its nodes are given it.
	status "\"version\":\"$((before + 1))\""
	for step in have switch timer; do echo "step $step" >&7; done
	rotation '"settling"'
	[ "$(current)" = $((before + 2)) ]
	[ "$(bundle munge_key)" = "$new" ]
	run ! bundle munge_key_next
	# The old key is in the version that was, until max_versions drops it.
	[ "$(bundle munge_key "$before")" = "$old" ]
	for step in told have; do echo "step $step" >&7; done
	rotation '"rotation":"done"'
	run ! grep -q rotation-alarm "$DIR/out"
}

@test "slurm.jwks is replaced in three, and has both keys between" {
	jwks='{"keys":[{"alg":"HS256","kty":"oct","kid":"old","use":"default","k":"c2VjcmV0"}]}'
	api v1 POST kv/data/slurm/prod/node -o /dev/null \
		-d "{\"options\":{\"cas\":$before},\"data\":{\"slurm_jwks\":\"$(base64 -w0 <<<"$jwks")\",\"other\":\"stays\"}}"
	status "\"version\":\"$((before + 1))\""
	keys_of() { bundle slurm_jwks | base64 -d | python3 -c 'import json, sys; print(len(json.load(sys.stdin)["keys"]))'; }
	echo "rotate jwks $(wrapped burst-rotate)" >&7
	rotation '"spreading"'
	[ "$(keys_of)" = 2 ]
	for step in have switch told; do echo "step $step" >&7; done
	rotation '"settling"'
	[ "$(keys_of)" = 2 ]
	for step in have timer; do echo "step $step" >&7; done
	rotation '"rotation":"done"'
	[ "$(keys_of)" = 1 ]
	run ! eval 'bundle slurm_jwks | base64 -d | grep -q \"old\"'
	[ "$(bundle other)" = stays ]
	[ "$(current)" = $((before + 4)) ]
	alien_write # munge's again
}

@test "an abort takes the new key out again" {
	echo "rotate munge $(wrapped burst-rotate)" >&7
	rotation '"spreading"'
	echo 'step abort' >&7
	rotation '"aborted"'
	[ "$(current)" = $((before + 2)) ]
	[ "$(bundle munge_key)" = "$old" ]
	run ! bundle munge_key_next
}

@test "who writes on top of another version than the current one changes nothing, and is told so" {
	echo "rotate munge $(wrapped burst-rotate)" >&7
	rotation '"spreading"'
	echo "write $before" >&7
	wait_for '"wrote":"conflict"'
	# Nor does who thinks that there is nothing yet, or that there is more.
	echo 'write 0' >&7
	echo "write $((before + 7))" >&7
	for _ in $(seq 50); do [ "$(grep -c '"wrote":"conflict"' "$DIR/out")" = 3 ] || sleep 0.1; done
	[ "$(grep -c '"wrote":"conflict"' "$DIR/out")" = 3 ]
	[ "$(current)" = $((before + 1)) ]
	echo 'step abort' >&7
	rotation '"aborted"'
}

@test "when somebody else writes the bundle meanwhile the rotation ends, and nothing of his is lost" {
	echo "rotate munge $(wrapped burst-rotate)" >&7
	rotation '"spreading"'
	alien_write
	theirs=$(bundle munge_key)
	for step in have switch timer; do echo "step $step" >&7; done
	rotation '"aborted"'
	wait_for rotation-alarm
	[ "$(bundle munge_key)" = "$theirs" ]
	[ "$(current)" = $((before + 2)) ]
}

@test "a credential that may not write stops the rotation, and another one goes on with it" {
	client_stop
	client_conf wrap '' "$(rotating broker)"
	client_start
	status '"ready":true'
	echo "rotate munge $(wrapped broker)" >&7
	rotation '"stuck":true'
	wait_for 'write: .*permission denied'
	[ "$(current)" = "$before" ]
	# As burstd's own may not: neither write, nor read without wrapping.
	client_stop
	client_conf wrap '' "$(rotating wrap)"
	client_start
	status '"ready":true'
	echo "rotate munge $(wrapped wrap)" >&7
	rotation '"stuck":true'
	wait_for 'read: .*permission denied'
	# Its right is missing no more.
	api v1 POST auth/approle/role/wrap -d '{"token_policies":["wrap","burst-rotate"]}'
	echo "resume $(wrapped wrap)" >&7
	rotation '"stuck":true'
	api v1 POST auth/approle/role/wrap -d '{"token_policies":["burst-rotate"]}'
	echo "resume $(wrapped wrap)" >&7
	rotation '"spreading"'
	api v1 POST auth/approle/role/wrap -d '{"token_policies":["wrap"]}'
	[ "$(current)" = $((before + 1)) ]
	echo 'step abort' >&7
	rotation '"aborted"'
}

@test "the policy of a rotation lets it delete nothing, and look at no metadata" {
	id=$(api v1 POST auth/approle/role/burst-rotate/secret-id | field data.secret_id)
	role=$(api v1 GET auth/approle/role/burst-rotate/role-id | field data.role_id)
	token=$(api v1 POST auth/approle/login -d "{\"role_id\":\"$role\",\"secret_id\":\"$id\"}" | field auth.client_token)
	TOKEN=$token run -0 api v1 GET kv/data/slurm/prod/node
	TOKEN=$token run -22 api v1 DELETE kv/data/slurm/prod/node
	TOKEN=$token run -22 api v1 PUT kv/destroy/slurm/prod/node -d "{\"versions\":[$before]}"
	TOKEN=$token run -22 api v1 GET kv/metadata/slurm/prod/node
	# Not even by mistake: a write has to say on top of what.
	TOKEN=$token run -22 api v1 POST kv/data/slurm/prod/node -d '{"data":{"munge_key":"x"}}'
	[ "$(current)" = "$before" ]
	TOKEN=$token api v1 POST auth/token/revoke-self
}

@test "a wrapping token of another role, or one that was used, is refused and begins nothing" {
	token=$(wrapped broker)
	echo "rotate munge $token" >&7
	wait_for 'not of rotate_role_name'
	rotation '"stuck":true'
	TOKEN=$token run -0 api v1 POST sys/wrapping/unwrap
	token=$(wrapped burst-rotate)
	TOKEN=$token run -0 api v1 POST sys/wrapping/unwrap
	echo "resume $token" >&7
	wait_for 'was used before'
	rotation '"stuck":true'
	[ "$(current)" = "$before" ]
}

@test "the session of a rotation ends with it" {
	sessions burst-rotate 0
	echo "rotate munge $(wrapped burst-rotate)" >&7
	rotation '"spreading"'
	sessions burst-rotate 1
	echo 'step abort' >&7
	rotation '"open":false'
	sessions burst-rotate 0
}

@test "neither the old key, nor the new one, nor the credential is in the log" {
	token=$(wrapped burst-rotate)
	echo "rotate munge $token" >&7
	rotation '"spreading"'
	run ! grep -F -e "$token" -e "$old" -e "$(bundle munge_key_next)" "$DIR/err"
	run ! grep -E 's\.[A-Za-z0-9]{24}|hvs\.' "$DIR/err"
}
