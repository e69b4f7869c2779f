#!/usr/bin/env bats
# Who else might claim: thieves of user-data, rogue servers, nodes that speak for others.  Real machines (lab/bootstrap.sh),
# of which some do not run their user-data themselves, so that somebody else comes first.

# Variables from the helper; scripts for the machine to expand.
# shellcheck disable=SC2016,SC2030,SC2031,SC2034,SC2154
bats_require_minimum_version 1.5.0
LAB_BOOTSTRAP='file' LAB_CLAIM_TTL=60s
load helper

setup() {
	cp "$lab_here/claim" "$lab_dir/bin/"
}

event() {
	burstctl events --json | grep "\"$1\"" | grep -q -- "${2-}"
}

rows() {
	sim_of /admin/meter "[.rows[] | select(.name == \"$1\")] | length"
}

gone() {
	[ ! -d "/proc/$(cat "$1/pid")" ]
}

no_more() {
	sed -i '/^cloud_init=/d' /etc/simcloud/boot.conf
	[ -z "${id-}" ] || scancel "$id"
	scancel -u researcher
	calm
}

# bought NODE: a machine that is up, and does nothing with its user-data; $dir is its, $id the job's that waits for it
bought() {
	echo cloud_init=no >>/etc/simcloud/boot.conf
	id=$(job -w "$1" --gres=gpu:8 --wrap true)
	within 30 eval "[ -s \"\$(machine $1)/pid\" ]"
	dir=$(machine "$1")
	within 10 on "$1" true
	sed -i '/^cloud_init=/d' /etc/simcloud/boot.conf
	cp "$dir/user-data" "$lab_dir/stolen"
}

# try NODE DIR [NAME=VALUE...]: claim from there with the user-data of the machine that was bought last; the status
try() {
	local node=$1 to=$2
	shift 2
	image_of=$(machine "$node")/burst
	cp "$lab_dir/stolen" "$image_of/user-data"
	on "$node" claim /run/burst/user-data "/run/burst/$to" "$@"
}

# answering NODE DIR: whoever is root there answers the call-back with the key in DIR
answering() {
	on "$1" sh -c "cd /run/burst/$2 && openssl req -x509 -key key.pem -subj /CN=burst -days 2 -out cb.pem &&
		(setsid openssl s_server -accept 861 -key key.pem -cert cb.pem -rev >/dev/null 2>&1 </dev/null &)"
}

# claimed NODE DIR: until it is answered
claimed() {
	local node=$1 to=$2 st
	shift 2
	for _ in $(seq 20); do
		st=$(try "$node" "$to" "$@")
		[ "$st" = 202 ] || break
		sleep 0.5
	done
	echo "$st"
	[ "$st" = 200 ] && grep -q '^end=1$' "$(machine "$node")/burst/$to/answer"
}

# breach NODE: it was a breach: told, on record, the machine ended, and the job runs on another
breach() {
	within 20 event breach "$1"
	within 20 gone "$dir"
	within 90 job_is "$id" COMPLETED
	burstctl audit | grep -q breach
	[ "$(rows "$1")" -ge 2 ]
}

@test "a claim replayed with another key is a breach, and the machine goes" {
	bought c1
	try c1 one >/dev/null
	answering c1 one
	claimed c1 one
	# An answer that was lost is given again, to the same key.
	[ "$(try c1 one)" = 200 ]
	[ "$(try c1 two)" = 409 ]
	breach c1
	no_more
}

@test "a claim from another address gets nothing" {
	bought c2
	other=$(job -w c8 --gres=gpu:8 --wrap 'sleep 300')
	within 60 job_is "$other" RUNNING
	try c8 thief >/dev/null
	answering c8 thief
	[ "$(claimed c8 thief | tail -n 1)" = 403 ]
	run ! grep -q munge_key "$(machine c8)/burst/thief/answer"
	breach c2
	job_is "$other" RUNNING
	no_more
}

@test "five wrong secrets end the claim, and a sixth that is right is too late" {
	bought c3
	for i in 1 2 3 4 5; do
		[ "$(try c3 "wrong$i" "SECRET=$(printf %064d "$i")")" = 401 ]
	done
	[[ "$(try c3 right)" =~ ^4(01|10|09)$ ]]
	breach c3
	no_more
}

@test "a stolen claim used first: the machine that finds it used raises the alarm" {
	bought c4
	try c4 thief >/dev/null
	answering c4 thief
	claimed c4 thief
	# Now the machine itself, with its own key.
	on c4 sh /run/burst/user-data || true
	grep -q 'alarm: claim_used' "$dir/burst/stage0.log"
	breach c4
	no_more
}

@test "a claim after its time is over gets nothing" {
	sed -i 's/^\( *claim_ttl *=\).*/\1 "6s"/' /etc/burstd/burstd.conf
	burstctl reload
	bought c5
	within 30 event boot-failed 'not claimed in time'
	[[ "$(try c5 late 2>/dev/null || echo 410)" =~ ^4(01|10)$ ]]
	sed -i 's/^\( *claim_ttl *=\).*/\1 "60s"/' /etc/burstd/burstd.conf
	burstctl reload
	within 20 gone "$dir"
	within 90 job_is "$id" COMPLETED
	no_more
}

# rogue CERT KEY [PYTHON]: an HTTPS server in burstd's place; what it is asked is in $lab_dir/rogue.log
rogue() {
	cat >"$lab_dir/rogue.py" <<-'P'
		import http.server, ssl, sys
		class H(http.server.BaseHTTPRequestHandler):
		    def do_POST(self):
		        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
		        print(self.server.server_port, self.path, body.decode(), flush=True)
		        self.send_response(307)
		        self.send_header("Location", "https://10.77.0.1:8444" + self.path)
		        self.send_header("Content-Length", "0")
		        self.end_headers()
		    do_GET = do_POST
		    def log_message(self, *a):
		        pass
		s = http.server.ThreadingHTTPServer(("10.77.0.1", int(sys.argv[3])), H)
		c = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
		c.load_cert_chain(sys.argv[1], sys.argv[2])
		s.socket = c.wrap_socket(s.socket, server_side=True, do_handshake_on_connect=False)
		print("up", flush=True)
		s.serve_forever()
	P
	python3 "$lab_dir/rogue.py" "$@" >"$lab_dir/rogue.$3" 2>/dev/null 3>&- &
	echo $! >>"$lab_dir/rogues"
	lab_wait 10 grep -q up "$lab_dir/rogue.$3"
}

rogues_end() {
	xargs kill <"$lab_dir/rogues"
	rm "$lab_dir/rogues"
}

@test "a rogue burstd with another certificate is told nothing, a redirect is not followed, and the machine waits" {
	bought c6
	lab_stop burstd
	lab_authority "$lab_dir" rogue
	rogue "$lab_dir/rogue.pem" "$lab_dir/rogue.key" 8443
	on c6 sh -c '(setsid sh /var/lib/cloud/instance/user-data.txt >/dev/null 2>&1 </dev/null &)'
	sleep 6
	[ "$(grep -vc up "$lab_dir/rogue.8443")" = 0 ]
	rogues_end
	# With a certificate that holds, it is told the claim; but where it sends the machine to nobody comes.
	cp /var/lib/burstd/node-ca.pem "$lab_dir/ca.pem"
	openssl pkey -in "$lab_dir/ca.pem" -out "$lab_dir/ca.key"
	lab_certificate "$lab_dir" burstd ca
	rogue "$lab_dir/burstd.pem" "$lab_dir/burstd.key" 8443
	rogue "$lab_dir/burstd.pem" "$lab_dir/burstd.key" 8444
	within 30 grep -q /v1/claim "$lab_dir/rogue.8443"
	sleep 2
	[ "$(grep -vc up "$lab_dir/rogue.8444")" = 0 ]
	rogues_end
	lab_start burstd
	within 90 job_is "$id" COMPLETED
	no_more
}

@test "requests that are too large or too slow are cut, and others are answered meanwhile" {
	bought c7
	[ "$(try c7 large PAD=70000)" = 413 ]
	# Twenty that say nothing, and one that says a byte a second.
	on c7 sh -c 'for i in $(seq 20); do (sleep 60 | timeout 60 openssl s_client -connect 10.77.0.1:8443 >/dev/null 2>&1 &); done'
	on c7 sh -c '{ printf "POST /v1/claim HTTP/1.1\r\nHost: b\r\nContent-Length: 1000\r\n\r\n"; for i in $(seq 90); do sleep 1; printf x; done; } |
		timeout 100 openssl s_client -quiet -connect 10.77.0.1:8443 >/run/burst/slow 2>&1; date +%s >/run/burst/slow.end' &
	slow=$! from=$(date +%s)
	sleep 1
	try c7 good >/dev/null
	answering c7 good
	claimed c7 good
	wait $slow
	[ $(($(cat "$dir/burst/slow.end") - from)) -lt 60 ]
	no_more
}

# node_says NODE PATH JSON [CURL ARG...]: with its certificate; the status
node_says() {
	local node=$1 path=$2 body=$3
	shift 3
	on "$node" curl -sS -o /run/burst/said -w '%{http_code}' --cacert /run/burst/ca.pem --cert /run/burst/cert.pem \
		--key /run/burst/s/key.pem -H 'Content-Type: application/json' -d "$body" "$@" "$lab_door$path"
}

@test "a node speaks for itself alone, and a munge credential is good once" {
	id=$(job -w c1,c2 -N2 --gres=gpu:8 --wrap 'sleep 300')
	within 60 job_is "$id" RUNNING
	gen1=$(on c1 sed -n 's/^generation=//p' /run/burst/s/claim.conf)
	gen2=$(on c2 sed -n 's/^generation=//p' /run/burst/s/claim.conf)
	boot=$(cat /proc/sys/kernel/random/boot_id)
	beat="\"v\":1,\"boot_id\":\"$boot\",\"agent\":\"0\",\"seq\":1,\"now_ms\":$(date +%s)000"
	[ "$(node_says c1 /v1/node/heartbeat "{$beat,\"node\":\"c1\",\"generation\":$gen1}")" = 200 ]
	[ "$(node_says c1 /v1/node/heartbeat "{$beat,\"node\":\"c2\",\"generation\":$gen2}")" = 403 ]
	within 10 event claim-misuse c2
	# Without a certificate, and with one that is its own.
	[ "$(on c1 curl -sS -o /dev/null -w '%{http_code}' --cacert /run/burst/ca.pem -d "{$beat,\"node\":\"c1\",\"generation\":$gen1}" "$lab_door/v1/node/heartbeat")" = 401 ]
	on c1 sh -c 'openssl req -x509 -newkey rsa:2048 -nodes -days 1 -subj /CN=c1 -keyout /tmp/k -out /tmp/c 2>/dev/null'
	[ "$(on c1 curl -s -o /dev/null -w '%{http_code}' --cacert /run/burst/ca.pem --cert /tmp/c --key /tmp/k -d '{}' "$lab_door/v1/node/heartbeat")" != 200 ]
	# The confirmation, once more: a new credential is one thing, the same credential another.
	body="{\"v\":1,\"node\":\"c1\",\"generation\":$gen1,\"key_version\":$(on c1 cat /run/burst/key-version)}"
	cred=$(on c1 sh -c 'printf "burst1\000%s\000POST\000/v1/node/confirm\000%s\000c1\000%s" 10.77.0.1 \
		"$(printf %s "$1" | sha256sum | cut -d" " -f1)" 00112233445566778899aabbccddeeff | munge -t 60 -u "$2"' sh "$body" "$(id -u slurm)")
	first=$(node_says c1 /v1/node/confirm "$body" -H "Authorization: MUNGE $cred")
	[ "$first" = 200 ]
	[ "$(node_says c1 /v1/node/confirm "$body" -H "Authorization: MUNGE $cred")" = 401 ]
	on c1 grep -q replayed /run/burst/said
	no_more
}
