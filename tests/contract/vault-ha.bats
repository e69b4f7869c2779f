#!/usr/bin/env bats
# burstd's session with three Vaults of one cluster (Raft): one is active, the others stand by.  Run by vault.sh.
# shellcheck disable=SC2034,SC2154
bats_require_minimum_version 1.5.0
load vault

setup_file() {
	export DIR KEY TOKEN
	DIR=$(mktemp -d "${TMPDIR:-/tmp}/burstd-ha.XXXXXX")
	chmod 700 "$DIR"
	authority
	local name
	for name in v1 v2 v3; do member_start "$name"; done
	TOKEN='' said v1 health-new GET sys/health
	# The first makes the cluster, the others join it (retry_join), and are unsealed with its key.
	TOKEN=none api v1 PUT sys/init -d '{"secret_shares":1,"secret_threshold":1}' >"$DIR/init"
	TOKEN=$(field root_token <"$DIR/init") KEY=$(python3 -c 'import json, sys; print(json.load(sys.stdin)["keys"][0])' <"$DIR/init")
	for name in v1 v2 v3; do unseal "$name"; done
	health v1 200
	health v2 429
	health v3 429
	# Who has just joined has no vote yet.
	api v1 POST sys/storage/raft/autopilot/configuration -d '{"server_stabilization_time":"1s"}'
	for _ in $(seq 150); do
		[ "$(api v1 GET sys/storage/raft/configuration | grep -o '"voter":true' | wc -l)" != 3 ] || break
		sleep 0.2
	done
	roles v1
}

teardown_file() {
	for name in v1 v2 v3; do server_stop "$name"; done
	rm -rf "$DIR"
}

setup() {
	N=0
	# On a busy machine another one may take over: one that has been active for a second stays so.
	local calm=0 was='' standbys
	for _ in $(seq 150); do
		active=$(who 200) standbys=$(who 429)
		[ "$(wc -w <<<"$active")$(wc -w <<<"$standbys")" = 12 ] && [ "$active" = "$was" ] && calm=$((calm + 1)) || calm=0
		[ $calm -lt 5 ] || break
		was=$active
		sleep 0.2
	done
	standby=$(head -n 1 <<<"$standbys")
}

teardown() {
	client_stop
	[ -z "${front-}" ] || kill "$front"
	[ -z "${stopped-}" ] || kill -CONT "$stopped"
}

# --- a cluster -------------------------------------------------------------------------------------

# authority: one certificate for all three, as each has its own CA file here
authority() {
	mkdir -p "$DIR/v1" "$DIR/v2" "$DIR/v3"
	openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -subj /CN=ca -keyout "$DIR/ca.key" \
		-out "$DIR/v1/vault-ca.pem" 2>/dev/null
	cp "$DIR/v1/vault-ca.pem" "$DIR/v2/"
	cp "$DIR/v1/vault-ca.pem" "$DIR/v3/"
	openssl req -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -subj /CN=vault -keyout "$DIR/vault-key.pem" 2>/dev/null |
		openssl x509 -req -days 2 -CA "$DIR/v1/vault-ca.pem" -CAkey "$DIR/ca.key" -CAcreateserial \
			-extfile <(echo subjectAltName=IP:127.0.0.1) -out "$DIR/vault-cert.pem" 2>/dev/null
}

# member_start NAME: sealed, and of no cluster yet when it is new
member_start() {
	local dir=$DIR/$1
	[ -e "$dir/port" ] || free_port >"$dir/port"
	[ -e "$dir/cluster" ] || free_port >"$dir/cluster"
	mkdir -p "$dir/raft"
	cat >"$dir/server.hcl" <<-C
		storage "raft" {
			path                   = "$dir/raft"
			node_id                = "$1"
			performance_multiplier = 3
			retry_join {
				leader_api_addr    = "$(url v1)"
				leader_ca_cert_file = "$DIR/v1/vault-ca.pem"
			}
		}
		listener "tcp" {
			address         = "127.0.0.1:$(cat "$dir/port")"
			cluster_address = "127.0.0.1:$(cat "$dir/cluster")"
			tls_cert_file   = "$DIR/vault-cert.pem"
			tls_key_file    = "$DIR/vault-key.pem"
		}
		api_addr      = "$(url "$1")"
		cluster_addr  = "https://127.0.0.1:$(cat "$dir/cluster")"
		disable_mlock = true
	C
	env -i HOME="$DIR" "$VAULT" server -config="$dir/server.hcl" >>"$dir/log" 2>&1 3>&- &
	echo $! >"$dir/pid"
	for _ in $(seq 150); do
		TOKEN=none api "$1" GET sys/seal-status -o /dev/null 2>/dev/null && return
		sleep 0.2
	done
	cat "$dir/log" >&2
	return 1
}

# unseal NAME: as soon as it is of the cluster
unseal() {
	for _ in $(seq 150); do
		api "$1" PUT sys/unseal -o /dev/null -d "{\"key\":\"$KEY\"}" 2>/dev/null &&
			! api "$1" GET sys/seal-status | grep -q '"sealed":true' && return
		sleep 0.2
	done
	cat "$DIR/$1/log" >&2
	return 1
}

url() {
	echo "https://127.0.0.1:$(cat "$DIR/$1/port")"
}

# health NAME STATUS: until it says so
health() {
	for _ in $(seq 150); do
		[ "$(health_of "$1")" != "$2" ] || return 0
		sleep 0.2
	done
	tail -n 20 "$DIR/$1/log" >&2
	return 1
}

health_of() {
	curl -sS --max-time 2 --cacert "$DIR/v1/vault-ca.pem" -o /dev/null -w '%{http_code}' "$(url "$1")/v1/sys/health" 2>/dev/null || :
}

# who STATUS: whose health is that
who() {
	local name
	for name in v1 v2 v3; do
		[ "$(health_of "$name")" != "$1" ] || echo "$name"
	done
}

# others NAME: the URLs of the other two
others() {
	local name
	for name in v1 v2 v3; do
		[ "$name" = "$1" ] || url "$name"
	done | paste -sd,
}

# start_with ADDRESSES: burstd, until it is ready
start_with() {
	# One that has just become the active one answers 500 for a moment.
	for _ in $(seq 100); do
		! api "$active" POST auth/approle/role/wrap/secret-id >/dev/null 2>&1 || break
		sleep 0.2
	done
	# Roles are read where it is known to be active.
	AT=$active client_conf wrap "$1"
	client_start
	status '"ready":true' 40
}

# --- tests -----------------------------------------------------------------------------------------

@test "a standby is left for the active one" {
	[ "$(health_of "$standby")" = 429 ]
	start_with "$(url "$standby"),$(others "$standby")"
	status "\"address\":\"$(url "$active")\""
	keys wrap
	[ "$(field address <<<"$GOT")" = "$(url "$active")" ]
	# And is good for the node at each of them.
	TOKEN=$(field token <<<"$GOT") run -0 api "$standby" POST sys/wrapping/unwrap
	[[ $output == *munge_key* ]]
}

# A front before the cluster that takes a standby for good, and forbids it to ask the active one itself.
front() {
	cat >"$DIR/front.py" <<'P'
import http.client, http.server, ssl, sys
port, to, directory = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
class H(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        c = http.client.HTTPSConnection("127.0.0.1", to, context=ssl.create_default_context(cafile=directory + "/v1/vault-ca.pem"))
        path = self.path + "?standbyok=true" if self.path.endswith("sys/health") else self.path
        c.request(self.command, path, body, dict(self.headers, **{"X-Vault-No-Request-Forwarding": "true"}))
        r = c.getresponse()
        text = r.read()
        print(self.command, self.path, r.status, r.headers.get("Location"), flush=True)
        self.send_response(r.status)
        if r.headers.get("Location"):
            self.send_header("Location", r.headers["Location"])
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)
    do_POST = do_GET
    def log_message(self, *a):
        pass
s = http.server.ThreadingHTTPServer(("127.0.0.1", port), H)
c = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
c.load_cert_chain(directory + "/vault-cert.pem", directory + "/vault-key.pem")
s.socket = c.wrap_socket(s.socket, server_side=True)
s.serve_forever()
P
	port=$(free_port)
	python3 "$DIR/front.py" "$port" "$(cat "$DIR/$standby/port")" "$DIR" >"$DIR/front.log" 2>&1 3>&- &
	front=$!
	# Or burstd would go to the next address at once.
	for _ in $(seq 150); do
		! curl -sS --max-time 2 --cacert "$DIR/v1/vault-ca.pem" -o /dev/null "https://127.0.0.1:$port/v1/sys/health" 2>/dev/null || return 0
		sleep 0.2
	done
	return 1
}

@test "what is recorded of a standby is what it says" {
	TOKEN='' said "$standby" health-standby GET sys/health
	said "$standby" redirect GET kv/metadata/slurm/prod/node -H 'X-Vault-No-Request-Forwarding: true'
}

@test "a standby's own redirect is followed to the active one, which is one of ours" {
	front
	start_with "https://127.0.0.1:$port,$(url "$active")"
	grep -q " 307 $(url "$active")/v1/auth/approle/login" "$DIR/front.log"
	status "\"address\":\"$(url "$active")\""
	keys wrap
	[[ $GOT == *'"token":'* ]]
	run ! grep -q secrets-redirect "$DIR/out"
}

@test "a standby's own redirect to one that is not ours is followed nowhere" {
	front
	AT=$active client_conf wrap "https://127.0.0.1:$port"
	client_start
	wait_for secrets-redirect
	grep -q " 307 $(url "$active")/v1/auth/approle/login" "$DIR/front.log"
	status '"ready":false'
	status '"logins":0'
}

@test "when the active one stands still burstd asks another one, and comes to the one that takes over" {
	start_with "$(url "$active"),$(others "$active")"
	stopped=$(cat "$DIR/$active/pid")
	kill -STOP "$stopped"
	keys wrap 90
	[[ $GOT == *'"token":'* ]]
	[ "$(field address <<<"$GOT")" != "$(url "$active")" ]
}

# The last one: the cluster has two members from here on.
@test "when the active one is killed another one takes over, and nodes get their keys" {
	WRAP_TTL=5m start_with "$(url "$active"),$(others "$active")" # to take over needs more than 20 s on a busy machine
	keys wrap
	first=$(field token <<<"$GOT")
	kill -KILL "$(cat "$DIR/$active/pid")"
	# Whoever asks meanwhile waits.
	keys wrap 60
	[[ $GOT == *'"token":'* ]]
	[ "$(field address <<<"$GOT")" != "$(url "$active")" ]
	# The session has come over, too: nobody logged in anew.
	status '"logins":1'
	# What was given out before is good at the others.
	next=$(who 200)
	[ "$next" != "$active" ]
	# It may answer 500 for a moment yet; an unwrap may have used up the token by then, a lookup does not.
	for _ in {1..120}; do
		TOKEN='' run api "$next" POST sys/wrapping/lookup -d "{\"token\":\"$first\"}"
		[ "$status" != 0 ] || break
		sleep 0.5
	done
	echo "$output"
	TOKEN=$first run -0 api "$next" POST sys/wrapping/unwrap
	TOKEN=$(field token <<<"$GOT") run -0 api "$next" POST sys/wrapping/unwrap
	run ! grep -q 'secrets-redirect\|secrets-alarm' "$DIR/out"
}
