#!/usr/bin/env bats
# The units of a controller under a systemd that runs: what systemd keeps while burstd is restarted, the watchdog, credentials, a
# downgrade, a socket unit of the site's; and that a job still gets its machine with all that the units take away.

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

metrics() {
	sed -i '1i listen = "127.0.0.1:9818"' "$BARE_ROOT/etc/burstd/burstd.conf"
}

status() {
	host timeout 20 burstctl status >/dev/null
}

# Somebody asks without a pause while burstd is restarted: all that came before and in between are answered.
ask_on() {
	rm -f "$BARE_ROOT/root/enough"
	: >"$BARE_ROOT/root/unasked"
	host sh -c 'until [ -e /root/enough ]; do burstctl status >/dev/null 2>>/root/unasked || echo no >>/root/unasked; done' &
	asker=$!
}
asked_all_the_time() {
	: >"$BARE_ROOT/root/enough"
	wait "$asker"
	unasked=$(cat "$BARE_ROOT/root/unasked")
}

@test "a job gets its machine, with all that the units take from burstd" {
	run follow 6
	echo "$output"
	[ "$status" = 0 ]
	[ "${lines[-1]}" = gpu1 ]
}

@test "burstd and burst-ledger see a system that nobody writes to, and directories of their own" {
	local one
	host systemctl start burst-ledger
	for one in burstd burst-ledger; do
		run ! writes $one /usr/written
		run ! writes $one /etc/written
		run ! writes $one /run/written
		writes $one /run/$one/written
		writes $one /var/lib/burstd/written
		host rm /run/$one/written /var/lib/burstd/written
	done
	# As systemd that runs has understood it; `make check` looks at the files.
	for one in burstd burst-ledger; do host systemd-analyze security --no-pager --threshold=14 $one; done
}

@test "a restart: its sockets listen on, and the directory stays" {
	local before inode unasked
	inode=$(host stat -c %i /run/burstd/ctl.sock)
	[ "$(host stat -c '%U %a' /run/burstd/ctl.sock)" = 'slurm 666' ]
	[ "$(property burstd NFileDescriptorStore)" = 2 ] # the control socket and /metrics
	ask_on
	for _ in 1 2 3; do
		before=$(property burstd MainPID)
		host systemctl restart burstd
		is_another burstd "$before"
	done
	asked_all_the_time
	# One that was asking at that very moment loses its connection, and may ask again; nobody is refused.
	run ! grep -E 'nobody listens|refused' <<<"$unasked"
	[ "$(grep -c '^no' <<<"$unasked" || true)" -le 3 ]
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
	host systemctl restart burst-ledger
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

@test "credentials: docs/secrets.md, to the letter" {
	follow 1 docs/secrets.md
	sed -i 's,credential_file *=.*,credential_file = "credential:cloud.key",' "$BARE_ROOT/etc/burstd/burstd.conf"
	host rm /etc/burstd/cloud.key
	run ! grep -q key-of-a-test "$BARE_ROOT/etc/burstd/credentials/cloud.key"
	admin 'sudo burstctl config check' # says that it cannot look at it
	admin 'sudo systemctl restart burstd'
	follow 2 docs/secrets.md
	status
	within 20 listed
	# It is as at the start for as long as burstd runs.
	admin 'sudo systemctl reload burstd'
	within 20 listed
}

# The provider took the key, and listed its machines.
listed() {
	host burstctl status --json | tr -d ' \n' | grep -qE '"name":"sim","driver":"sim","off":false,"nodes":[0-9]+,"ok":true'
}

@test "credentials that are not encrypted, of a file or in the unit, are taken too; a wrong one is not" {
	drop_in burstd.service <<<$'[Service]\nLoadCredentialEncrypted=\nLoadCredential=cloud.key:/root/plain'
	echo key-of-a-test >"$BARE_ROOT/root/plain"
	host systemctl restart burstd
	within 20 listed
	drop_in burstd.service <<<$'[Service]\nLoadCredentialEncrypted=\nSetCredential=cloud.key:key-of-nobody'
	host systemctl restart burstd
	status
	sleep 3
	run ! listed
	drop_in burstd.service <<<$'[Service]\nLoadCredentialEncrypted=\nSetCredential=cloud.key:key-of-a-test'
	host systemctl restart burstd
	within 20 listed
	undo burstd.service
	host systemctl restart burstd
	within 20 listed
}

@test "a credential that is not to be had: systemd says so, and burstd does not start" {
	host mv /etc/burstd/credentials/cloud.key /etc/burstd/credentials/away
	run ! host systemctl restart burstd
	[ "$(property burstd ExecMainStatus)" = 243 ]
	host mv /etc/burstd/credentials/away /etc/burstd/credentials/cloud.key
	within 20 is_another burstd 0 # Restart=on-failure
	status
}

@test "a job gets its machine by the key that systemd keeps" {
	admin 'sudo burstctl terminate --all --yes'
	within 60 none_left
	run follow 6
	echo "$output"
	[ "$status" = 0 ]
}

# Not a loop of starts: the log says what to do, once; and nobody waits in a socket that nobody reads.
@test "a journal of a newer burstd: refused, and not tried again" {
	host systemctl stop burstd
	cp -p "$BARE_ROOT/var/lib/burstd/journal.db" "$BARE_ROOT/root/journal.db"
	printf '\x00\x00\x03\xe7' | dd of="$BARE_ROOT/var/lib/burstd/journal.db" bs=1 seek=60 conv=notrunc status=none
	run ! admin 'sudo burstctl config check'
	[[ $output = *'schema 999 is from a newer burstd'*'install that version again'* ]]
	run ! host systemctl start burstd
	sleep 3
	[ "$(property burstd ActiveState)" = failed ]
	[ "$(property burstd ExecMainStatus)" = 78 ]
	[ "$(property burstd NFileDescriptorStore)" = 0 ]
	run ! status
	[ "$(host journalctl -q -u burstd --no-pager | grep -c 'schema 999 is from a newer burstd')" = 1 ]
	host install -o slurm -g slurm -m 600 /root/journal.db /var/lib/burstd/journal.db
	host systemctl start burstd
	status
}

@test "a ledger of a newer version, likewise" {
	host systemctl stop burst-ledger
	cp -p "$BARE_ROOT/var/lib/burstd/ledger.db" "$BARE_ROOT/root/ledger.db"
	printf '\x00\x00\x03\xe7' | dd of="$BARE_ROOT/var/lib/burstd/ledger.db" bs=1 seek=60 conv=notrunc status=none
	run ! host systemctl start burst-ledger
	[ "$(property burst-ledger ActiveState)" = failed ]
	[ "$(property burst-ledger ExecMainStatus)" = 78 ]
	host install -o slurm -g slurm -m 600 /root/ledger.db /var/lib/burstd/ledger.db
	host systemctl start burst-ledger
}

@test "a socket unit of the site's: burstd takes its socket, and a wrong one is one sentence" {
	sed -n '/^    \[Socket\]/,/^    WantedBy/s/^    //p' docs/upgrade.md >"$BARE_ROOT/etc/systemd/system/burstd.socket"
	host systemctl stop burstd
	host systemctl daemon-reload
	host systemctl start burstd.socket
	[ "$(host stat -c %a /run/burstd/ctl.sock)" = 666 ]
	status # starts burstd
	[ "$(property burstd ActiveState)" = active ]
	[ "$(property burstd NFileDescriptorStore)" = 1 ] # /metrics alone
	host systemctl restart burstd
	status
	host systemctl stop burstd.socket burstd
	sed -i s/=ctl/=control/ "$BARE_ROOT/etc/systemd/system/burstd.socket"
	host systemctl daemon-reload
	host systemctl start burstd.socket
	run ! host systemctl start burstd
	host journalctl -q -u burstd --no-pager | tail -n 12 | grep -q 'status=78/CONFIG' # and again, when somebody connects
	host journalctl -q -u burstd --no-pager | grep -q 'a socket named \\"control\\": burstd knows ctl, nodes and metrics'
	host systemctl stop burstd.socket
	rm "$BARE_ROOT/etc/systemd/system/burstd.socket"
	host systemctl daemon-reload
	host systemctl start burstd
	status
}
