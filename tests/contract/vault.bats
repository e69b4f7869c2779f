#!/usr/bin/env bats
# burstd's session with Vault, on a real server in its development mode, with TLS: run by vault.sh.
# shellcheck disable=SC2016,SC2034,SC2154
bats_require_minimum_version 1.5.0
load vault

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

@test "in a namespace: a node needs to know nothing of it" {
	api v1 POST sys/namespaces/team -o /dev/null || skip "this Vault has no namespaces"
	NS=team roles v1
	NS=team client_conf wrap '' 'namespace = "team"'
	client_start
	status '"ready":true'
	keys wrap
	[ "$(field path <<<"$GOT")" = kv/data/slurm/prod/node ]
	token=$(field token <<<"$GOT")
	# As node-init asks: without the header.
	api v1 POST sys/wrapping/lookup -d "{\"token\":\"$token\"}" | grep -q '"creation_path":"kv/data/slurm/prod/node"'
	TOKEN=$token run -0 api v1 POST sys/wrapping/unwrap
	[[ $output == *munge_key* ]]
	# Outside of it the same role is nobody.
	client_stop
	NS=team client_conf
	client_start
	status 'invalid role or secret ID'
}

@test "a revoked session is replaced, and nobody notices" {
	client_start
	status '"ready":true'
	for accessor in $(accessors wrap); do
		api v1 POST auth/token/revoke-accessor -d "{\"accessor\":\"$accessor\"}"
	done
	keys wrap
	[[ $GOT == *'"token":'* ]]
	status '"logins":2'
}

@test "when it ends its session ends, and the tokens that nodes have then are as good as before" {
	sessions wrap 0
	client_start
	status '"ready":true'
	keys wrap
	sessions wrap 1
	client_stop
	sessions wrap 0
	TOKEN=$(field token <<<"$GOT") run -0 api v1 POST sys/wrapping/unwrap
	[[ $output == *munge_key* ]]
}

@test "its end does not wait for a Vault that does not answer" {
	client_start
	status '"ready":true'
	kill -STOP "$(cat "$DIR/v1/pid")"
	# Each of its threads stops when it is there next: until then it may answer.
	for _ in $(seq 100); do
		grep -qs '^State:[[:space:]]*[^T[:space:]]' "/proc/$(cat "$DIR/v1/pid")/task/"*/status || break
		sleep 0.05
	done
	began=$EPOCHREALTIME
	client_stop
	took=$(((${EPOCHREALTIME/./} - ${began/./}) / 1000))
	kill -CONT "$(cat "$DIR/v1/pid")"
	grep -q 'was not ended' "$DIR/err"
	echo "$took ms"
	[ "$took" -ge 1500 ]
	[ "$took" -lt 5000 ]
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

# The policies of docs/secrets.md, by which terraform/modules/secrets/vault makes its roles.
@test "with the policy of its release a session is ready, and without any line that it needs it is refused" {
	for release in wrap broker user-data; do
		n=0 put_policy v1 line "$release"
		api v1 POST auth/approle/role/line -d '{"token_policies":["line"],"token_period":"1h"}'
		SECTIONS=
		[ "$release" != user-data ] ||
			SECTIONS="nodes { conf_server = {\"ctl:6817\"} node_init = \"$PWD/scripts/node/node-init\" }"
		client_conf line '' "release = \"$release\""
		client_start
		status '"ready":true'
		client_stop
		while read -r path; do
			n=$((n + 1))
			POLICY_LESS=$path put_policy v1 line "$release"
			client_start
			# With wrap a token that was not used may also end by itself.
			if [ "$release $path" = "wrap auth/token/revoke-accessor" ]; then
				status '"ready":true'
			else
				status '"error":"rights: its policy has no right'
			fi
			client_stop
		done < <(sed -n 's|${mount}|kv|; s|${name}|slurm/prod/node|; s|^path "\([^"]*\)".*|\1|p' \
			"terraform/modules/secrets/vault/policy-$release.hcl.tftpl")
		[ "$n" -ge 2 ]
	done
}
