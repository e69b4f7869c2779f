# vault.bash: what the tests on a real Vault share (bats): servers, burstd's side of them, and what it says.
# shellcheck shell=bash
# shellcheck disable=SC2016,SC2034,SC2154  # bats' variables, and those of the tests

# --- servers ---------------------------------------------------------------------------------------

free_port() {
	python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'
}

# server_start NAME: its port is in $DIR/NAME/port, its CA in $DIR/NAME/vault-ca.pem.
server_start() {
	mkdir -p "$DIR/$1"
	[ -e "$DIR/$1/port" ] || free_port >"$DIR/$1/port"
	# Development mode: in memory, unsealed, the root token is "root".
	env -i HOME="$DIR" VAULT_DEV_ROOT_TOKEN_ID=root BAO_DEV_ROOT_TOKEN_ID=root "$VAULT" server -dev -dev-tls \
		-dev-tls-cert-dir="$DIR/$1" -dev-no-store-token -dev-listen-address="127.0.0.1:$(cat "$DIR/$1/port")" \
		>"$DIR/$1/log" 2>&1 3>&- &
	echo $! >"$DIR/$1/pid"
	for _ in $(seq 150); do
		api "$1" GET sys/health -o /dev/null 2>/dev/null && return
		sleep 0.2
	done
	cat "$DIR/$1/log" >&2
	return 1
}

server_stop() {
	kill "$(cat "$DIR/$1/pid")" 2>/dev/null || true
	while kill -0 "$(cat "$DIR/$1/pid")" 2>/dev/null; do sleep 0.1; done
}

# api NAME METHOD PATH [CURL ARGUMENTS]: as root, in the namespace NS.
api() {
	local name=$1 method=$2 path=$3
	shift 3
	curl -sSf --cacert "$DIR/$name/vault-ca.pem" -X "$method" -H "X-Vault-Token: ${TOKEN-root}" ${NS:+-H "X-Vault-Namespace: $NS"} \
		"https://127.0.0.1:$(cat "$DIR/$name/port")/v1/$path" "$@"
}

field() {
	python3 -c '
import json, sys
v = json.load(sys.stdin)
for k in sys.argv[1].split("."):
    v = v[k]
print(v)' "$1"
}

# put_policy SERVER NAME RELEASE: the policy of docs/secrets.md for that release, or for a rotation, from the file of which
# terraform/modules/secrets/vault makes it; without the line for the path POLICY_LESS.
put_policy() {
	local text
	text=$(sed 's|${mount}|kv|g; s|${name}|slurm/prod/node|g' "terraform/modules/secrets/vault/policy-$3.hcl.tftpl" |
		grep -vF "\"${POLICY_LESS:-none}\"") || return
	api "$1" PUT "sys/policies/acl/$2" -d "$(python3 -c 'import json, sys; print(json.dumps({"policy": sys.argv[1]}))' "$text")"
}

# An engine, and an AppRole for each policy of docs/secrets.md; "sudo" may do anything.
roles() {
	api "$1" POST sys/mounts/kv -d '{"type":"kv","options":{"version":"2"}}'
	api "$1" POST sys/auth/approle -d '{"type":"approle"}'
	sleep 1
	put_policy "$1" wrap wrap
	put_policy "$1" broker broker
	api "$1" PUT sys/policies/acl/sudo -d '{"policy":"path \"*\" { capabilities=[\"read\",\"update\",\"sudo\"] }"}'
	for role in wrap broker sudo; do
		api "$1" POST "auth/approle/role/$role" -d "{\"token_policies\":[\"$role\"],\"token_period\":\"1h\"}"
	done
	write_bundle "$1"
}

write_bundle() {
	api "$1" POST kv/data/slurm/prod/node -o /dev/null \
		-d "{\"data\":{\"munge_key\":\"$(head -c 64 /dev/urandom | base64 -w0)\",\"kid\":\"$RANDOM\"}}"
}

# said NAME EXCHANGE METHOD PATH [CURL ARGUMENTS]: asked of that server, it is as recorded (tests/fixtures/vault); the answer
# is in $DIR/said.
said() {
	local name=$1 exchange=$2 method=$3 path=$4 status
	shift 4
	rm -f "$DIR/said" "$DIR/head"
	status=$(curl -sS --cacert "$DIR/$name/vault-ca.pem" -X "$method" -H 'X-Vault-Request: true' ${TOKEN:+-H "X-Vault-Token: $TOKEN"} \
		-o "$DIR/said" -D "$DIR/head" -w '%{http_code}' "https://127.0.0.1:$(cat "$DIR/$name/port")/v1/$path" "$@") || return
	[ -e "$DIR/said" ] || : >"$DIR/said"
	python3 tests/contract/transcript.py "$exchange" "$method" "$path" "$status" "$DIR/said" \
		"$(tr -d '\r' <"$DIR/head" | sed -n 's/^[Ll]ocation: //p')"
}

# accessors ROLE: of the sessions that were opened as it
accessors() {
	local one
	for one in $(api v1 GET 'auth/token/accessors?list=true' | field data.keys | tr -d "[],'"); do
		! api v1 POST auth/token/lookup-accessor -d "{\"accessor\":\"$one\"}" 2>/dev/null | grep -q "\"role_name\":\"$1\"" || echo "$one"
	done
}

# sessions ROLE N: there are so many, soon
sessions() {
	for _ in $(seq 25); do
		[ "$(accessors "$1" | wc -l)" != "$2" ] || return 0
		sleep 0.2
	done
	accessors "$1" >&2
	return 1
}

# --- burstd's side ---------------------------------------------------------------------------------

# client_conf [ROLE] [ADDRESSES] [MORE]: burstd.conf for that AppRole, with its secret_id, of the server AT; and SECTIONS.
client_conf() {
	local at=${AT:-v1} role=${1:-wrap} address=${2:-https://127.0.0.1:$(cat "$DIR/v1/port")} file=$DIR/secret-id
	rm -f "$file"
	[ "$role" = none ] || (umask 077 && api "$at" POST "auth/approle/role/$role/secret-id" | field data.secret_id >"$file")
	[ "$role" != none ] || role=wrap
	cat >"$DIR/burstd.conf" <<EOF
cluster = "prod"
currency = "EUR"
secrets {
	driver = "vault"
	address = "$address"
	ca_file = "${CA:-$DIR/v1/vault-ca.pem}"
	name = "slurm/prod/node"
	role_id = "$(api "$at" GET "auth/approle/role/$role/role-id" | field data.role_id)"
	role_name = "$role"
	credential_file = "$file"
	poll = "1s"
	timeout = "3s"
	wrap_ttl = "${WRAP_TTL:-20s}"
	${3:-}
}
provider "sim" {
	driver = "sim"
}
pool "p" {
	nodes = "n1"
	provider = "sim"
	type = "t"
	region = "r"
	max_nodes = "1"
	max_rate = "1"
}
${SECTIONS:-}
EOF
	chmod 600 "$DIR/burstd.conf"
}

client_start() {
	rm -f "$DIR/in"
	mkfifo "$DIR/in"
	: >"$DIR/out"
	"$STORE" "$DIR/burstd.conf" <"$DIR/in" >"$DIR/out" 2>"$DIR/err" 3>&- &
	CLIENT=$!
	exec 7>"$DIR/in"
}

client_stop() {
	[ -n "${CLIENT:-}" ] || return 0
	exec 7>&-
	wait "$CLIENT" || true
	CLIENT=
}

# wait_for PATTERN [SECONDS]: a line of its output has it.
wait_for() {
	for _ in $(seq $((${2:-20} * 10))); do
		grep -q -- "$1" "$DIR/out" && return
		sleep 0.1
	done
	echo "no $1 in:" >&2
	cat "$DIR/out" "$DIR/err" >&2
	return 1
}

# status PATTERN [SECONDS]: until its status has it.
status() {
	for _ in $(seq $((${2:-20} * 5))); do
		echo status >&7
		sleep 0.2
		tail -n 1 "$DIR/out" | grep -q -- "$1" && return
	done
	echo "no $1 in:" >&2
	tail -n 3 "$DIR/out" >&2
	cat "$DIR/err" >&2
	return 1
}

# keys MODE [SECONDS]: the answer for one node is in $GOT.
keys() {
	N=$((N + 1))
	echo "$1" >&7
	wait_for "\"node\":$N," "${2:-20}"
	GOT=$(grep "\"node\":$N," "$DIR/out")
}
