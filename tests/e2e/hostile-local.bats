#!/usr/bin/env bats
# A user of burstd's own host who may only look, and does it as fast, as slowly and as often as he can: on a burstd that
# runs, hooks are served meanwhile, and so is everybody else who looks.

# Variables from the helper; commands for `within`.
# shellcheck disable=SC2016,SC2154
bats_require_minimum_version 1.5.0
load helper

# crowd N KIND: so many connections, a thread each, of a user who is nobody, until crowd_goes.  KIND: asks (the metrics, without
# end, and for what is not there), drips (a head for the metrics that never ends), silent (on the control socket)
crowd() {
	cat >"$lab_dir/crowd.py" <<-'P'
		import socket, sys, threading, time
		ask = b"GET /nothing HTTP/1.1\r\nHost: x\r\n\r\n" * 500
		def asks(s):
		    threading.Thread(target=lambda: [None for _ in iter(lambda: s.recv(65536), b"")], daemon=True).start()
		    while True:
		        s.sendall(ask)
		def drips(s):
		    s.sendall(b"GET /metrics HTTP/1.1\r\nHost: x\r\nX: ")
		    while True:
		        time.sleep(0.2)
		        s.sendall(b"x")
		def silent(s):
		    s.recv(1)
		def come(kind):
		    if kind is not silent:
		        return socket.create_connection(("127.0.0.1", 9818))
		    s = socket.socket(socket.AF_UNIX)
		    s.connect("/run/burstd/ctl.sock")
		    return s
		def one(kind):
		    while True:
		        try:
		            kind(come(kind))
		        except OSError:
		            time.sleep(0.05)
		for _ in range(int(sys.argv[1])):
		    threading.Thread(target=one, args=(globals()[sys.argv[2]],), daemon=True).start()
		print("up", flush=True)
		time.sleep(120)
	P
	lab_as researcher nice python3 "$lab_dir/crowd.py" "$@" >"$lab_dir/crowd.said" 2>&1 3>&- &
	echo $! >"$lab_dir/crowd.pid"
	within 60 grep -q up "$lab_dir/crowd.said" # whoever has 200 threads at low priority takes his time
	sleep 1
}

crowd_goes() {
	[ ! -e "$lab_dir/crowd.pid" ] || kill "$(cat "$lab_dir/crowd.pid")" || true
	rm -f "$lab_dir/crowd.pid"
}

teardown() {
	[ -n "${BATS_TEST_COMPLETED-}" ] || lab_logs
	crowd_goes
}

# took FILE CMD...: what CMD takes, in microseconds, as a line of FILE
took() {
	local file=$1 from=${EPOCHREALTIME/./}
	shift
	"$@" || return
	echo $((${EPOCHREALTIME/./} - from)) >>"$file"
}

# hooks DIR: hooks, and by turns with them what munged answers to the same user: it has no part in this, and what the crowd
# takes of the machine it takes from both.
hooks() {
	rm -f "$1/hooks" "$1/munged"
	for _ in $(seq 60); do
		took "$1/hooks" lab_as slurm env -i "$lab_dir/bin/burst-suspend" c1 || return
		took "$1/munged" lab_as slurm env -i /usr/bin/munge -n -o /dev/null || return
		sleep 0.02
	done
}

# half FILE: what half of them take, in microseconds
half() {
	sort -n "$1" | sed -n 30p
}

metrics() {
	curl -qsS -o /dev/null -f --max-time 1 http://127.0.0.1:9818/metrics
}

# Half of them within 100 ms, or within twice of what munged takes where that is no quicker; and burstd takes all of them.
hooks_are_quick() {
	local hooks munged
	hooks "$BATS_TEST_TMPDIR"
	within 2 eval '[ "$(ls /var/spool/burstd)" = "" ]'
	hooks=$(half "$BATS_TEST_TMPDIR/hooks")
	munged=$(half "$BATS_TEST_TMPDIR/munged")
	echo "half of the hooks within $hooks us, half of munged's answers within $munged us"
	[ "$hooks" -lt 100000 ] || { [ "$munged" -ge 100000 ] && [ "$hooks" -lt $((2 * munged)) ]; }
}

@test "32 connections that stream requests to the metrics leave hooks below 100 ms, and the metrics to others" {
	crowd 32 asks
	hooks_are_quick
	metrics
}

@test "200 connections that never end their heads keep nobody from the metrics" {
	crowd 200 drips
	for _ in $(seq 20); do
		metrics
		sleep 0.1
	done
	hooks_are_quick
}

@test "200 silent connections of one user keep no other from the control socket" {
	crowd 200 silent
	for _ in $(seq 10); do
		lab_as munge "$lab_dir/bin/burstctl" status >/dev/null
		burstctl status >/dev/null
	done
	hooks_are_quick
}
