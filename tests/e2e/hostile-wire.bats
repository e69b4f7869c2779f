#!/usr/bin/env bats
# Who else might answer a new machine, and who might keep burstd from answering it: rogue servers, redirects, requests that
# are too large or do not end.

# Variables from the helper; scripts for the machine to expand.
# shellcheck disable=SC2016,SC2030,SC2031,SC2034,SC2154
bats_require_minimum_version 1.5.0
LAB_BOOTSTRAP='file' LAB_CLAIM_TTL=10m
load helper
# shellcheck source=tests/e2e/lab/hostile.sh
. "$lab_here/hostile.sh"

setup() {
	hostile_begin
}

teardown() {
	[ -n "${BATS_TEST_COMPLETED-}" ] || lab_logs
	rogues_end
	hostile_end
}

# rogue CERT KEY PORT: an HTTPS server in burstd's place, which sends everybody to port 8444; what it is asked is in
# $lab_dir/rogue.PORT
rogue() {
	cat >"$lab_dir/rogue.py" <<-'P'
		import http.server, ssl, sys
		class Rogue(http.server.BaseHTTPRequestHandler):
		    def do_POST(self):
		        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
		        print("asked", self.path, body.decode(), flush=True)
		        self.send_response(307)
		        self.send_header("Location", "https://10.77.0.1:8444" + self.path)
		        self.send_header("Content-Length", "0")
		        self.end_headers()
		    do_GET = do_POST
		    def log_message(self, *_):
		        pass
		server = http.server.ThreadingHTTPServer(("10.77.0.1", int(sys.argv[3])), Rogue)
		tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
		tls.load_cert_chain(sys.argv[1], sys.argv[2])
		server.socket = tls.wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)
		print("up", flush=True)
		server.serve_forever()
	P
	python3 "$lab_dir/rogue.py" "$@" >"$lab_dir/rogue.$3" 2>/dev/null 3>&- &
	echo $! >>"$lab_dir/rogues"
	within 10 grep -q up "$lab_dir/rogue.$3"
}

rogues_end() {
	[ ! -e "$lab_dir/rogues" ] || xargs kill <"$lab_dir/rogues"
	rm -f "$lab_dir/rogues"
}

# boots: the machine runs its user-data at last
boots() {
	on "$node" sh -c '(setsid sh /var/lib/cloud/instance/user-data.txt >/dev/null 2>&1 </dev/null &)'
}

@test "rogue burstd certificate: it is told nothing, and the machine waits for the true one" {
	# Its authority is even one of those that the image came with.
	lab_authority "$lab_dir" rogue-ca
	lab_certificate "$lab_dir" rogue rogue-ca
	image_believes "$lab_dir/rogue-ca.pem"
	bought
	lab_stop burstd
	rogue "$lab_dir/rogue.pem" "$lab_dir/rogue.key" 8443
	within 10 on "$node" curl -qsS -o /dev/null "$lab_door/as-the-system-believes"
	image_believes
	boots
	within 30 grep -q 'certificate' "$dir/burst/stage0.log"
	run ! grep 'asked /v1' "$lab_dir/rogue.8443"
	grep -q 'asked /as-the-system-believes' "$lab_dir/rogue.8443"
	rogues_end
	lab_start burstd
	within 60 job_is "$id" COMPLETED
	[ "$(sim_rows)" = "$rows" ]
}

@test "redirect to another host: it is not followed, and the machine goes on asking" {
	bought
	lab_stop burstd
	# Of burstd's own authority: it is told the claim.
	openssl x509 -in /var/lib/burstd/node-ca.pem -out "$lab_dir/ours.pem"
	openssl pkey -in /var/lib/burstd/node-ca.pem -out "$lab_dir/ours.key"
	lab_certificate "$lab_dir" burstd ours
	rogue "$lab_dir/burstd.pem" "$lab_dir/burstd.key" 8443
	rogue "$lab_dir/burstd.pem" "$lab_dir/burstd.key" 8444
	boots
	within 30 grep -q 'asked /v1/claim' "$lab_dir/rogue.8443"
	within 30 grep -q 'stage0: .*: 307$' "$dir/burst/stage0.log"
	run ! grep asked "$lab_dir/rogue.8444"
	rogues_end
	lab_start burstd
	within 60 job_is "$id" COMPLETED
	[ "$(sim_rows)" = "$rows" ]
}

@test "oversized requests are refused, by their length and by their headers" {
	bought
	steal
	[ "$(try "$node" large PAD=70000)" = 413 ]
	[ "$(try "$node" larger PAD=400000)" != 200 ]
	many=$(printf 'X-A: %04000d' 0)
	[ "$(on "$node" curl -s -o /dev/null -w '%{http_code}' --cacert /run/burst/large/ca.pem -H "$many" -H "${many/A/B}" -H "${many/A/C}" \
		-d '{}' "$lab_door/v1/claim")" = 431 ]
	# It may still claim.
	try "$node" own
	claimed "$node" own
}

# dawdle NAME CMD...: what CMD says is said to burstd, and again on a new connection when burstd hangs up, for as long as
# $lab_dir/dawdling is there; after how many seconds it did so is in $lab_dir/dawdled.NAME, a line for each
dawdle() {
	local began
	while [ -e "$lab_dir/dawdling" ]; do
		began=$EPOCHSECONDS
		on "$node" timeout 60 openssl s_client -quiet -connect 10.77.0.1:8443 < <("${@:2}") >/dev/null 2>&1 || true
		echo $((EPOCHSECONDS - began)) >>"$lab_dir/dawdled.$1"
	done
}

# drip START MORE: START, and then MORE (a format for a number) each second
drip() {
	local i
	printf '%b' "$1"
	for i in $(seq 60); do
		sleep 1
		# shellcheck disable=SC2059  # it is a format
		printf "$2" "$i"
	done
}

@test "slow requests are cut, and others are answered meanwhile" {
	bought
	steal
	: >"$lab_dir/dawdling"
	slow=()
	dawdle silent sleep 60 3>&- &
	slow+=($!)
	dawdle headers drip 'POST /v1/claim HTTP/1.1\r\nHost: b\r\n' 'X%d: y\r\n' 3>&- &
	slow+=($!)
	dawdle body drip 'POST /v1/claim HTTP/1.1\r\nHost: b\r\nContent-Length: 1000\r\n\r\n' '%.0sx' 3>&- &
	slow+=($!)
	on "$node" sh -c 'for i in $(seq 50); do (sleep 60 | timeout 60 openssl s_client -connect 10.77.0.1:8443 >/dev/null 2>&1 &); done'
	try "$node" own
	claimed "$node" own
	rm "$lab_dir/dawdling"
	wait "${slow[@]}"
	for name in silent headers body; do
		# Each had its ten seconds, and none much more.
		awk -v name="$name" '{ print name, $1; n++; bad += $1 < 9 || $1 >= 40 } END { exit !n || bad }' "$lab_dir/dawdled.$name"
	done
}
