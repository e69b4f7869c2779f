#!/usr/bin/env bats
# The units of a controller under a systemd that runs: what systemd keeps while burstd is
# restarted, and the watchdog; and that a job still gets its machine with all that the units take away.

# shellcheck disable=SC2154  # lines, of bats
load host

setup_file() {
	own_host || return
	echo 'APT::Install-Recommends "false";' >"$BARE_ROOT/etc/apt/apt.conf.d/recommends"
	built_here
	{ follow 10 && follow 1 && cloud && follow 11 && follow 3 && machines && metrics && follow 4 && follow 5; } \
		>"$BARE_ROOT/root/setup.log" 2>&1 || {
		tail -n 40 "$BARE_ROOT/root/setup.log"
		return 1
	}
}

# The way to programs is another test's: where this machine is as the host it need not be gone twice.
built_here() {
	cmp -s /usr/lib/os-release "$BARE_ROOT/usr/lib/os-release" || return 0
	[ -x build/bin/burstd ] || return 0
	mkdir "$BARE_ROOT/home/admin/burstd/build"
	tar -c build/bin build/man build/release/burstd build/release/providers build/release/hook build/release/*.a |
		tar -x --no-same-owner -C "$BARE_ROOT/home/admin/burstd"
	host chown -R admin: /home/admin/burstd/build
}

# As in empty.bats: the image of the cloud's machines.
machines() {
	host systemctl mask --quiet slurmd
	host apt-get -qq install -y --no-install-recommends slurmd
	echo ProctrackType=proctrack/linuxproc >>"$BARE_ROOT/etc/slurm/slurm.conf"
	echo CgroupPlugin=cgroup/v1 >"$BARE_ROOT/etc/slurm/cgroup.conf"
}

metrics() {
	sed -i '1i listen = "127.0.0.1:9818"' "$BARE_ROOT/etc/burstd/burstd.conf"
}

property() { # UNIT PROPERTY
	host systemctl show -p "$2" --value "$1"
}

# drop_in UNIT: from standard input, until undo
drop_in() {
	mkdir -p "$BARE_ROOT/etc/systemd/system/$1.d"
	cat >"$BARE_ROOT/etc/systemd/system/$1.d/test.conf"
	host systemctl daemon-reload
}
undo() {
	rm -f "$BARE_ROOT/etc/systemd/system/$1.d/test.conf"
	host systemctl daemon-reload
}

is_another() { # UNIT PID
	[ "$(property "$1" ActiveState)" = active ] && [ "$(property "$1" MainPID)" != "$2" ]
}

status() {
	host timeout 20 burstctl status >/dev/null
}

# Somebody asks without a pause while burstd is restarted: all that came before and in between are answered.
ask_on() {
	: >"$BARE_ROOT/root/asks"
	host sh -c 'while [ -e /root/asks ]; do burstctl status >/dev/null 2>>/root/unasked || echo no >>/root/unasked; echo >>/root/asks; done' &
	asker=$!
}
asked_all_the_time() {
	rm -f "$BARE_ROOT/root/asks"
	wait $asker
	cat "$BARE_ROOT/root/unasked" 2>/dev/null || true
}

@test "a job gets its machine, with all that the units take from burstd" {
	run follow 6
	echo "$output"
	[ "$status" = 0 ]
	[ "${lines[-1]}" = gpu1 ]
}

@test "a restart: its sockets listen on, and the directory stays" {
	local before inode refused
	inode=$(host stat -c %i /run/burstd/ctl.sock)
	[ "$(host stat -c '%U %a' /run/burstd/ctl.sock)" = 'slurm 666' ]
	[ "$(property burstd NFileDescriptorStore)" = 2 ] # the control socket and /metrics
	rm -f "$BARE_ROOT/root/unasked"
	ask_on
	for _ in 1 2 3; do
		before=$(property burstd MainPID)
		host systemctl restart burstd
		is_another burstd "$before"
	done
	refused=$(asked_all_the_time)
	# One that was asking at that very moment loses its connection, and may ask again; nobody is refused.
	run ! grep -E 'nobody listens|refused' <<<"$refused"
	[ "$(grep -c '^no' <<<"$refused" || true)" -le 3 ]
	[ "$(host stat -c %i /run/burstd/ctl.sock)" = "$inode" ]
	[ "$(property burstd NFileDescriptorStore)" = 2 ]
	host bash -c ': </dev/tcp/127.0.0.1/9818'
}

@test "killed with -9: who asks then is answered by the next one" {
	local before
	before=$(property burstd MainPID)
	host systemctl kill --kill-who=main -s KILL burstd
	status # RestartSec=1: it waits that long, and is not refused
	is_another burstd "$before"
	[ "$(property burstd NFileDescriptorStore)" = 2 ]
}

@test "stopped is stopped: nobody is listened to, and who connects starts nothing" {
	host systemctl stop burstd
	[ "$(property burstd NFileDescriptorStore)" = 0 ]
	[ ! -e "$BARE_ROOT/run/burstd" ] # the host's; systemd has taken it away
	run ! status
	run ! host bash -c ': </dev/tcp/127.0.0.1/9818'
	[ "$(property burstd ActiveState)" = inactive ]
	host systemctl start burstd
	status
	[ "$(property burstd NFileDescriptorStore)" = 2 ]
}

@test "a burstd that hangs is killed and started again, and who waits is answered" {
	local before
	drop_in burstd.service <<<$'[Service]\nWatchdogSec=3'
	host systemctl restart burstd
	before=$(property burstd MainPID)
	sleep 8 # more than twice the time: it is fed
	[ "$(property burstd MainPID)" = "$before" ]
	host systemctl kill --kill-who=main -s STOP burstd
	status
	is_another burstd "$before"
	host journalctl -q -u burstd --no-pager | grep -q 'Watchdog timeout'
	undo burstd.service
	host systemctl restart burstd
}

@test "a burst-ledger that hangs, likewise; its start waits until it can be asked" {
	local before
	drop_in burst-ledger.service <<<$'[Service]\nWatchdogSec=3'
	host systemctl start burst-ledger
	host timeout 20 burstctl report >/dev/null
	before=$(property burst-ledger MainPID)
	sleep 8
	[ "$(property burst-ledger MainPID)" = "$before" ]
	drop_in burst-ledger.service <<<$'[Service]\nWatchdogSec=3\nRestartSec=1'
	host systemctl kill --kill-who=main -s STOP burst-ledger
	within 20 is_another burst-ledger "$before"
	undo burst-ledger.service
	host systemctl restart burst-ledger
	host timeout 20 burstctl report >/dev/null
}
