#!/usr/bin/env bats
# The hooks when burstd is away, slow or lied to (F45 to F47, F54).

# Variables from the helper; scripts for the job to expand.
# shellcheck disable=SC2016,SC2154
load helper

setup() {
	calm
	rows=$(sim_rows)
}

new_rows() {
	echo $(($(sim_rows) - rows))
}

@test "burstd is down: the call is durable, the hook succeeds, and the job runs once burstd is back" {
	lab_stop burstd
	job=$(job -N1 --exclusive --wrap 'sleep 1')
	within 15 spooled -ge 1
	[ "$(stat -c '%U %a' /var/spool/burstd)" = 'slurm 700' ]
	hook suspend c8
	[ "$hook_rc" = 0 ]
	lab_start burstd
	within 30 job_is "$job" COMPLETED
	within 10 spooled -eq 0
	[ "$(new_rows)" = 1 ]
}

@test "burstd stands still: hooks do not wait for it; what lay there meanwhile launches nothing twice" {
	kill -STOP "$(lab_pid burstd)"
	job=$(job -N1 --exclusive --wrap 'sleep 1')
	hook suspend c8
	[ "$hook_rc" = 0 ]
	[ "$hook_ms" -lt $((500 + $(busy))) ]
	within 15 spooled -ge 2
	sleep 1.5
	kill -CONT "$(lab_pid burstd)"
	within 30 job_is "$job" COMPLETED
	within 10 spooled -eq 0
	[ "$(new_rows)" = 1 ]
}

@test "burstd has the call before the hook has ended, or soon after" {
	for _ in {1..20}; do
		hook suspend c8
		[ "$hook_rc" = 0 ]
		within 1 spooled -eq 0
	done
}

@test "a stale spooled resume after a suspend launches nothing" {
	lab_stop burstd
	job=$(job -N1 --exclusive --wrap 'sleep 1')
	within 15 spooled -ge 1
	mkdir -p "$lab_dir/saved"
	cp -p /var/spool/burstd/* "$lab_dir/saved/"
	node=$(job_nodes "$job")
	scancel "$job"
	scontrol update nodename="$node" state=POWER_DOWN_FORCE reason=test
	within 20 powered_down "$node"
	# Only the resume is left: the suspend that followed it was lost.
	rm -f /var/spool/burstd/*
	cp -p "$lab_dir"/saved/* /var/spool/burstd/
	lab_start burstd
	within 10 spooled -eq 0
	# And the same file once more while burstd runs: it looks every 5 s.
	cp -p "$lab_dir"/saved/* /var/spool/burstd/
	within 10 spooled -eq 0
	sleep 2
	[ "$(new_rows)" = 0 ]
	burstd_has 0 ANY
}

@test "resume calls that came while burstd and slurmctld stood still launch nothing" {
	kill -STOP "$(lab_pid burstd)"
	kill -STOP "$(lab_pid slurmctld)"
	for node in c5 c6 c7; do
		hook resume "$node"
		[ "$hook_rc" = 0 ]
	done
	sleep 2
	kill -CONT "$(lab_pid burstd)"
	within 10 spooled -eq 0
	sleep 2
	[ "$(new_rows)" = 0 ]
	kill -CONT "$(lab_pid slurmctld)"
	lab_burstd_ready
	sleep 2
	[ "$(new_rows)" = 0 ]
	burstd_has 0 ANY
}

@test "a repeated resume call for a node that is up launches nothing" {
	job=$(job -N1 --exclusive --wrap "$until_over")
	within 30 job_is "$job" RUNNING
	hook resume "$(job_nodes "$job")"
	[ "$hook_rc" = 0 ]
	over "$job"
	within 20 job_is "$job" COMPLETED
	[ "$(new_rows)" = 1 ]
}

@test "hostile hostlists do not hurt burstd and launch nothing" {
	control=$(printf 'c\001\033[1m')
	for list in 'n[0-999999999]' 'n[0-255][0-255][0-255]' '../../etc/passwd' "$control" 'c[1-' 'c]1[' 'c[9-1]' 'c[1-2]]' \
		'' ',,,,' 'unknown[1-4]' 'c1;reboot' "$(printf 'c%.0s' {1..100000})" 'c[1-8' 'c[-1]' 'c[1-4294967297]' \
		'c[00000000000000000000001-2]'; do
		hook resume "$list"
		[ "$hook_ms" -le $((2200 + $(busy))) ]
		lab_burstd_ready
	done
	within 10 spooled -eq 0
	sleep 2
	[ "$(new_rows)" = 0 ]
	burstd_has 0 ANY
	[ "$(awk '/VmHWM/ { print $2 }' "/proc/$(lab_pid burstd)/status")" -le 65536 ]
}

@test "a 20 MB resume file, rubbish in one, and none at all" {
	job=$(job -N1 --exclusive --wrap "$until_over")
	within 30 job_is "$job" RUNNING
	node=$(job_nodes "$job")
	head -c 20000000 /dev/zero | tr '\0' '[' >"$lab_dir/huge"
	{
		printf '{"jobs":[{"job_id":1,"nodes_alloc":"%s","nodes_resume":"' "$node"
		head -c 20000000 /dev/zero | tr '\0' 'c'
		printf '"}],"all_nodes_resume":"%s"}' "$node"
	} >"$lab_dir/long"
	head -c 100000 /dev/urandom >"$lab_dir/noise"
	echo '{"jobs":[],"all_nodes_resume":"c[1-99999999]"}' >"$lab_dir/lies"
	for file in huge long noise lies missing; do
		hook resume "$node" "$lab_dir/$file"
		[ "$hook_ms" -le $((2200 + $(busy))) ]
		lab_burstd_ready
	done
	over "$job"
	within 20 job_is "$job" COMPLETED
	[ "$(new_rows)" = 1 ]
}

@test "users may not speak to burstd as slurmctld does" {
	cat >"$lab_dir/try" <<-'C'
		#!/usr/bin/python3
		import socket, struct
		s = socket.socket(socket.AF_UNIX)
		s.settimeout(5)
		s.connect("/run/burstd/ctl.sock")
		def frame(kind, body=b""):
		    s.sendall(kind + struct.pack(">I", len(body)) + body)
		frame(b"J", b'{"v":1,"op":"call","kind":"resume"}')
		frame(b"L", b"c1")
		frame(b"Z")
		print(s.recv(4096)[5:].decode())
	C
	chmod 755 "$lab_dir/try"
	run lab_as researcher "$lab_dir/try"
	[[ $output != *'"ok":true'* ]]
	sleep 2
	[ "$(new_rows)" = 0 ]
}

# streams FACE: 32 connections by a user, each asking without end and reading what comes: of the control socket 28 ask
# nonsense that is long to read, the others its status.  $lab_dir/streamed: how often they asked that, and how many good
# answers came.
streams() {
	cat >"$lab_dir/stream" <<-'P'
		#!/usr/bin/python3
		import select, socket, struct, sys, time
		def frame(text):
		    return b"J" + struct.pack(">I", len(text)) + text
		page = b"".join(b"GET /%s HTTP/1.1\r\nHost: b\r\n\r\n" % p for p in [b"metrics", b"no"] * 200)
		nonsense = frame(b"[" + b"[]," * 43000 + b"0]")
		status = frame(b'{"v":1,"op":"status"}')
		class Stream:
		    def __init__(self, face, i):
		        self.what = page if face == "metrics" else nonsense if i % 8 else status
		        self.once = self.what is status
		        self.face, self.asked, self.answers = face, 0, 0
		        self.dial()
		    def dial(self):
		        if self.face == "metrics":
		            self.s = socket.create_connection(("127.0.0.1", 9818))
		        else:
		            self.s = socket.socket(socket.AF_UNIX)
		            self.s.connect("/run/burstd/ctl.sock")
		        self.s.setblocking(False)
		        self.at, self.end = 0, b""
		    def count(self):
		        if self.face == "metrics":
		            self.answers += self.end.count(b"HTTP/1.1 200")
		            self.end = self.end[-11:]
		        elif self.end[:1] == b"J" and self.end[5:15] == b'{"ok":true':
		            self.answers += len(self.end) == 5 + struct.unpack(">I", self.end[1:5])[0]
		    def asks(self):
		        return self.at < len(self.what) or not self.once
		    def hear(self):
		        got = self.s.recv(1 << 20)
		        if not got:
		            raise ConnectionError
		        self.end += got
		        self.count()
		    def ask(self):
		        self.at += self.s.send(self.what[self.at % len(self.what):])
		        self.asked += self.once
		streams, end = [Stream(sys.argv[1], i) for i in range(32)], time.monotonic() + float(sys.argv[2])
		while time.monotonic() < end:
		    of = {c.s: c for c in streams}
		    readable, writable, _ = select.select(of, [c.s for c in streams if c.asks()], [], 0.1)
		    for what, sockets in ((Stream.hear, readable), (Stream.ask, writable)):
		        for s in sockets:
		            try:
		                if of[s].s is s:
		                    what(of[s])
		            except BlockingIOError:
		                pass
		            except OSError:
		                s.close()
		                of[s].dial()
		print(sum(c.asked for c in streams), sum(c.answers for c in streams))
	P
	chmod 755 "$lab_dir/stream"
	lab_as researcher nice -n 5 "$lab_dir/stream" "$1" 8 >"$lab_dir/streamed" 3>&- &
}

# calls: what 20 calls cost, in ms: the processor time of burstd's loop during each of nine of ten at most, and how long one
# took on average but for the time that the loop waited for a processor; a call that fails is told
calls() {
	local t0 of
	of=/proc/$(lab_pid burstd)/schedstat
	for _ in {1..20}; do
		read -r work0 wait0 _ <"$of"
		t0=${EPOCHREALTIME/./}
		lab_as slurm /run/lab/bin/burst-suspend c8 || echo failed
		t0=$((${EPOCHREALTIME/./} - t0))
		read -r work wait _ <"$of"
		echo $(((work - work0) / 1000000)) $((t0 / 1000 - (wait - wait0) / 1000000))
		sleep 0.05
	done | sort -n | awk '/failed/; NR == 18 { work = $1 }; { ms += $2 } END { print work, int(ms / NR) }'
}

@test "32 connections that stream requests, to the metrics and to the control socket: hooks take no 100 ms" {
	read -r work calm < <(calls)
	for face in metrics socket; do
		streams "$face"
		sleep 1
		read -r work ms < <(calls)
		burstctl status >/dev/null
		wait
		read -r asked answers <"$lab_dir/streamed"
		echo "$face: a call took $ms ms, before that $calm ms; the loop worked $work ms; $answers answers, $asked asked for"
		# Whoever asks as he should is answered, but for the last time; and again and again.
		[ "$answers" -ge $((asked - 4)) ]
		[ "$answers" -ge 8 ]
		[ "$work" -lt 100 ]
		[ "$ms" -lt 100 ] || [ "$ms" -lt $((4 * calm)) ]
		within 2 spooled '=' 0
	done
}
