#!/usr/bin/env bats
# burstd's session with Vault, on a real server in its development mode, with TLS: run by vault.sh.
bats_require_minimum_version 1.5.0

setup_file() {
	export DIR
	DIR=$(mktemp -d "${TMPDIR:-/tmp}/burstd-vault.XXXXXX")
	chmod 700 "$DIR"
	server_start v1
	roles v1
}

teardown_file() {
	server_stop v1
	rm -rf "$DIR"
}

setup() {
	N=0
	client_conf
}

teardown() {
	client_stop
}

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

# api NAME METHOD PATH [CURL ARGUMENTS]: as root.
api() {
	local name=$1 method=$2 path=$3
	shift 3
	curl -sSf --cacert "$DIR/$name/vault-ca.pem" -X "$method" -H "X-Vault-Token: ${TOKEN-root}" \
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

# The policies of docs/secrets.md.
roles() {
	local path='path \"kv/data/slurm/prod/node\"' meta='path \"kv/metadata/slurm/prod/node\" { capabilities=[\"read\"] }'
	local revoke='path \"auth/token/revoke-accessor\" { capabilities=[\"update\"] }'
	api "$1" POST sys/mounts/kv -d '{"type":"kv","options":{"version":"2"}}'
	api "$1" POST sys/auth/approle -d '{"type":"approle"}'
	sleep 1
	api "$1" PUT sys/policies/acl/wrap -d "{\"policy\":\"$path { capabilities=[\\\"read\\\"] min_wrapping_ttl=\\\"15s\\\" max_wrapping_ttl=\\\"30m\\\" } $meta $revoke\"}"
	api "$1" PUT sys/policies/acl/broker -d "{\"policy\":\"$path { capabilities=[\\\"read\\\"] } $meta\"}"
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

# --- burstd's side ---------------------------------------------------------------------------------

# client_conf [ROLE] [ADDRESSES] [MORE]: burstd.conf for that AppRole, with its secret_id.
client_conf() {
	local role=${1:-wrap} address=${2:-https://127.0.0.1:$(cat "$DIR/v1/port")} file=$DIR/secret-id
	rm -f "$file"
	[ "$role" = none ] || (umask 077 && api v1 POST "auth/approle/role/$role/secret-id" | field data.secret_id >"$file")
	[ "$role" != none ] || role=wrap
	cat >"$DIR/burstd.conf" <<EOF
cluster = "prod"
currency = "EUR"
secrets {
	driver = "vault"
	address = "$address"
	ca_file = "${CA:-$DIR/v1/vault-ca.pem}"
	name = "slurm/prod/node"
	role_id = "$(api v1 GET "auth/approle/role/$role/role-id" | field data.role_id)"
	role_name = "$role"
	credential_file = "$file"
	poll = "1s"
	timeout = "3s"
	wrap_ttl = "20s"
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

# keys MODE: the answer for one node is in $GOT.
keys() {
	N=$((N + 1))
	echo "$1" >&7
	wait_for "\"node\":$N,"
	GOT=$(grep "\"node\":$N," "$DIR/out")
}

# --- tests -----------------------------------------------------------------------------------------

@test "a node gets a wrapping token for the bundle, which is good once" {
	client_start
	status '"ready":true'
	keys wrap
	[ "$(field path <<<"$GOT")" = kv/data/slurm/prod/node ]
	[ "$(field ttl_ms <<<"$GOT")" = 20000 ]
	token=$(field token <<<"$GOT")
	TOKEN=$token run -0 api v1 POST sys/wrapping/unwrap
	[[ $output == *munge_key* ]]
	TOKEN=$token run -22 api v1 POST sys/wrapping/unwrap
}

@test "the policy lets burstd relay the bundle and never read it" {
	client_start
	status '"ready":true'
	keys broker
	[[ $GOT == *'permission denied'* ]]
	keys wrap
	[[ $GOT == *'"token":'* ]]
}

@test "a broker reads the bundle" {
	client_conf broker
	client_start
	status '"ready":true'
	keys broker
	[[ $GOT == *munge_key* ]]
}

@test "another version is seen, and is the one that is given out" {
	client_start
	status '"ready":true'
	was=$(tail -n 1 "$DIR/out" | field version)
	write_bundle v1
	wait_for "\"detail\":\"$was -> $((was + 1))\""
	keys wrap
	[ "$(field version <<<"$GOT")" = $((was + 1)) ]
}

@test "a wrapping token that nobody used is revoked" {
	client_start
	status '"ready":true'
	keys wrap
	echo "revoke $(field accessor <<<"$GOT")" >&7
	sleep 1
	TOKEN=$(field token <<<"$GOT") run -22 api v1 POST sys/wrapping/unwrap
}

@test "a revoked session is replaced, and nobody notices" {
	client_start
	status '"ready":true'
	for accessor in $(api v1 GET 'auth/token/accessors?list=true' | field data.keys | tr -d "[],'"); do
		api v1 POST auth/token/lookup-accessor -d "{\"accessor\":\"$accessor\"}" 2>/dev/null | grep -q '"role_name":"wrap"' || continue
		api v1 POST auth/token/revoke-accessor -d "{\"accessor\":\"$accessor\"}"
	done
	keys wrap
	[[ $GOT == *'"token":'* ]]
	status '"logins":2'
}

@test "a wrong secret_id is refused once, and not tried again" {
	(umask 077 && echo 00000000-0000-0000-0000-000000000000 >"$DIR/secret-id")
	client_start
	status 'invalid role or secret ID'
	status '"phase":"refused"'
	keys wrap
	[[ $GOT == *'"error":'* ]]
	sleep 3
	[ "$(grep -c 'login: invalid' "$DIR/err")" = 1 ]
}

@test "a session that may do anything is refused" {
	client_conf sudo
	client_start
	status 'root or sudo'
	status '"phase":"refused"'
}

@test "a server with another certificate gets nothing from us" {
	openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=other -keyout "$DIR/other.key" -out "$DIR/other.pem" 2>/dev/null
	CA=$DIR/other.pem client_conf
	client_start
	status 'certificate'
	[ "$(tail -n 1 "$DIR/out" | field ready)" = False ]
	[ "$(tail -n 1 "$DIR/out" | field logins)" = 0 ]
}

@test "who asks while Vault is sealed waits, and gets the keys when it is unsealed" {
	unseal=$(sed -n 's/^Unseal Key: //p' "$DIR/v1/log")
	client_start
	status '"ready":true'
	api v1 PUT sys/seal
	echo wrap >&7
	status 'sealed'
	status '"waiting":1'
	api v1 PUT sys/unseal -o /dev/null -d "{\"key\":\"$unseal\"}"
	wait_for '"token":' 60
}

@test "when Vault is killed the next address takes over" {
	server_start v2
	cat "$DIR/v1/vault-ca.pem" "$DIR/v2/vault-ca.pem" >"$DIR/both.pem"
	CA=$DIR/both.pem client_conf wrap "https://127.0.0.1:$(cat "$DIR/v2/port"),https://127.0.0.1:$(cat "$DIR/v1/port")"
	# The first knows neither the role nor the bundle, so what works is the second.
	client_start
	status '"address":"https://127.0.0.1:'"$(cat "$DIR/v2/port")"
	server_stop v2
	client_stop
	client_start
	status '"ready":true' 30
	keys wrap
	[ "$(field address <<<"$GOT")" = "https://127.0.0.1:$(cat "$DIR/v1/port")" ]
}

@test "a redirect goes to our own addresses only" {
	port=$(free_port)
	cat >"$DIR/redirect.py" <<'EOF'
import http.server, ssl, sys
class H(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.server.seen.append(self.path)
        print(self.path, self.headers.get("X-Vault-Token"), flush=True)
        self.send_response(307)
        self.send_header("Location", sys.argv[3] + self.path)
        self.end_headers()
    do_POST = do_GET
    def log_message(self, *a):
        pass
s = http.server.HTTPServer(("127.0.0.1", int(sys.argv[1])), H)
s.seen = []
c = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
c.load_cert_chain(sys.argv[2] + "/vault-cert.pem", sys.argv[2] + "/vault-key.pem")
s.socket = c.wrap_socket(s.socket, server_side=True)
s.serve_forever()
EOF
	v1=https://127.0.0.1:$(cat "$DIR/v1/port")
	# Somebody else's address: never asked.
	python3 "$DIR/redirect.py" "$port" "$DIR/v1" "$v1" >"$DIR/redirect.log" 3>&- &
	redirect=$!
	client_conf wrap "https://127.0.0.1:$port"
	client_start
	wait_for secrets-redirect
	status '"ready":false'
	client_stop
	# The same, when it is one of ours.
	client_conf wrap "https://127.0.0.1:$port,$v1"
	client_start
	status '"ready":true'
	kill "$redirect"
	# What a redirect could have stolen was never sent there.
	run ! grep -v ' None$' "$DIR/redirect.log"
}

@test "a credential that comes wrapped is unwrapped, kept and used" {
	client_conf none
	client_start
	status '"phase":"refused"'
	token=$(api v1 POST auth/approle/role/wrap/secret-id -H 'X-Vault-Wrap-TTL: 60s' | field wrap_info.token)
	echo "enroll $token" >&7
	status '"enrolment":"done"'
	status '"ready":true'
	[ "$(stat -c %a "$DIR/secret-id")" = 600 ]
	keys wrap
	[[ $GOT == *'"token":'* ]]
	# Twice is an alarm.
	echo "enroll $token" >&7
	wait_for 'used before'
	status '"enrolment":"failed"'
}

@test "a wrapped credential of another role is not taken" {
	client_conf none
	client_start
	token=$(api v1 POST auth/approle/role/broker/secret-id -H 'X-Vault-Wrap-TTL: 60s' | field wrap_info.token)
	echo "enroll $token" >&7
	wait_for 'secrets-alarm'
	status '"enrolment":"failed"'
	[ ! -e "$DIR/secret-id" ]
	# And it is still whole: nothing was unwrapped.
	TOKEN=$token run -0 api v1 POST sys/wrapping/unwrap
}

@test "no secret is in the log" {
	client_conf none
	client_start
	token=$(api v1 POST auth/approle/role/wrap/secret-id -H 'X-Vault-Wrap-TTL: 60s' | field wrap_info.token)
	echo "enroll $token" >&7
	status '"ready":true'
	keys wrap
	wrapped=$(field token <<<"$GOT")
	run ! grep -F -e "$token" -e "$(cat "$DIR/secret-id")" -e "$wrapped" "$DIR/err"
	run ! grep -E 's\.[A-Za-z0-9]{24}|hvs\.' "$DIR/err"
}
