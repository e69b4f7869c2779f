#!/usr/bin/env bats
# The hooks when burstd is away, slow or lied to (F1-F10).

# Variables from the helper; scripts for the job to expand.
# shellcheck disable=SC2016,SC2154
load helper

setup() {
	calm
	rows=$(sim_rows)
}

spooled() {
	test "$(find /var/spool/burstd -type f ! -name '*.bad' ! -name '.*' | wc -l)" "$@"
}

new_rows() {
	echo $(($(sim_rows) - rows))
}

@test "burstd is down: the call is spooled, the hook fails, and the job runs once burstd is back" {
	lab_stop burstd
	job=$(job -N1 --exclusive --wrap 'sleep 1')
	within 15 spooled -ge 1
	[ "$(stat -c '%U %a' /var/spool/burstd)" = 'slurm 700' ]
	within 5 grep -qE 'exit status (of )?[1-9]' /var/log/slurm/slurmctld.log
	lab_start burstd
	within 30 job_is "$job" COMPLETED
	spooled -eq 0
	[ "$(new_rows)" = 1 ]
}

@test "burstd is slow for half a second: the hook waits, succeeds, and spools nothing" {
	kill -STOP "$(lab_pid burstd)"
	(sleep 0.5 && kill -CONT "$(lab_pid burstd)") 3>&- &
	hook suspend c8
	[ "$hook_rc" = 0 ]
	[ "$hook_ms" -ge 300 ]
	spooled -eq 0
}

@test "burstd does not answer: the hook gives up within 2 s; late and spooled calls launch nothing twice" {
	kill -STOP "$(lab_pid burstd)"
	job=$(job -N1 --exclusive --wrap 'sleep 1')
	hook suspend c8
	[ "$hook_rc" != 0 ]
	[ "$hook_ms" -le 2200 ]
	within 15 spooled -ge 2
	kill -CONT "$(lab_pid burstd)"
	within 30 job_is "$job" COMPLETED
	within 10 spooled -eq 0
	[ "$(new_rows)" = 1 ]
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

@test "a resume call that lay in the socket while burstd stood still launches nothing" {
	kill -STOP "$(lab_pid burstd)"
	hook resume c7
	[ "$hook_rc" != 0 ]
	# Only what is in the socket is left, and nobody waits for the node.
	rm -f /var/spool/burstd/*
	kill -CONT "$(lab_pid burstd)"
	lab_burstd_ready
	sleep 2
	[ "$(new_rows)" = 0 ]
	burstd_has 0 ANY
}

@test "a repeated resume call for a node that is up launches nothing" {
	job=$(job -N1 --exclusive --wrap 'sleep 5')
	within 30 job_is "$job" RUNNING
	hook resume "$(job_nodes "$job")"
	[ "$hook_rc" = 0 ]
	within 20 job_is "$job" COMPLETED
	[ "$(new_rows)" = 1 ]
}

@test "hostile hostlists do not hurt burstd and launch nothing" {
	control=$(printf 'c\001\033[1m')
	for list in 'n[0-999999999]' 'n[0-255][0-255][0-255]' '../../etc/passwd' "$control" 'c[1-' 'c]1[' 'c[9-1]' 'c[1-2]]' \
		'' ',,,,' 'unknown[1-4]' 'c1;reboot' "$(printf 'c%.0s' {1..100000})" 'c[1-8' 'c[-1]' 'c[1-4294967297]' \
		'c[00000000000000000000001-2]'; do
		hook resume "$list"
		[ "$hook_ms" -le 2200 ]
		lab_burstd_ready
	done
	sleep 2
	[ "$(new_rows)" = 0 ]
	burstd_has 0 ANY
	[ "$(awk '/VmHWM/ { print $2 }' "/proc/$(lab_pid burstd)/status")" -le 65536 ]
}

@test "a 20 MB resume file, rubbish in one, and none at all" {
	job=$(job -N1 --exclusive --wrap 'sleep 8')
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
		[ "$hook_ms" -le 2200 ]
		lab_burstd_ready
	done
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

# streams FACE: 32 connections by a user, each asking without end and reading what comes; $lab_dir/streamed counts answers
streams() {
	cat >"$lab_dir/stream" <<-'P'
		#!/usr/bin/python3
		import select, socket, struct, sys, time
		get = b"".join(b"GET /%s HTTP/1.1\r\nHost: b\r\n\r\n" % p for p in [b"metrics", b"no"] * 200)
		longest = b"[" + b"[]," * 43000 + b"0]"
		what = {"metrics": get, "socket": b"J" + struct.pack(">I", len(longest)) + longest}[sys.argv[1]]
		def dial():
		    if sys.argv[1] == "metrics":
		        s = socket.create_connection(("127.0.0.1", 9818))
		    else:
		        s = socket.socket(socket.AF_UNIX)
		        s.connect("/run/burstd/ctl.sock")
		    s.setblocking(False)
		    return [s, 0]
		streams, heard, end = [dial() for _ in range(32)], 0, time.monotonic() + float(sys.argv[2])
		while time.monotonic() < end:
		    readable, writable, _ = select.select([c[0] for c in streams], [c[0] for c in streams], [], 0.1)
		    for c in streams:
		        try:
		            if c[0] in writable:
		                c[1] = (c[1] + c[0].send(what[c[1]:])) % len(what)
		            if c[0] in readable:
		                got = c[0].recv(1 << 20)
		                heard += len(got)
		                if not got:
		                    raise ConnectionError
		        except BlockingIOError:
		            pass
		        except OSError:
		            c[0].close()
		            c[:] = dial()
		print(heard)
	P
	chmod 755 "$lab_dir/stream"
	lab_as researcher nice -n 5 "$lab_dir/stream" "$1" 8 >"$lab_dir/streamed" 3>&- &
}

# ninth: of ten calls nine take at most so many milliseconds; a call that fails is told
ninth() {
	local t0
	for _ in {1..20}; do
		t0=${EPOCHREALTIME/./}
		lab_as slurm /run/lab/bin/burst-suspend c8 || echo failed
		echo $(((${EPOCHREALTIME/./} - t0) / 1000))
		sleep 0.05
	done | sort -n | sed -n '/failed/p; 18p'
}

@test "32 connections that stream requests, to the metrics and to the control socket: hooks take no 100 ms" {
	calm=$(ninth)
	for face in metrics socket; do
		streams "$face"
		sleep 1
		busy=$(ninth)
		burstctl status >/dev/null
		wait
		echo "$face: 18 of 20 calls within $busy ms, before that $calm ms; $(cat "$lab_dir/streamed") bytes of answers"
		[ "$(cat "$lab_dir/streamed")" -gt 0 ] # of what viewers say only some is read in a turn
		[ "$busy" -lt 100 ] || [ "$busy" -lt $((4 * calm)) ]
		spooled '=' 0
	done
}
