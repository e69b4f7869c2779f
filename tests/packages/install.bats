#!/usr/bin/env bats
# Debian packages on a host that has nothing: installed before Slurm, configured, a first burst; then removed, installed again and
# purged.

# shellcheck disable=SC2154  # status and output, of bats
load package

setup_file() {
	own_host && bring "$BARE_SUITE"
}

# What is there that no package has.
files() {
	host sh -c 'cat /var/lib/dpkg/info/*.list | sort -u >/tmp/owned
		find / -xdev \( -path /proc -o -path /sys -o -path /dev -o -path /run -o -path /tmp -o -path /home -o -path /var/lib/dpkg -o \
		-path /var/lib/apt -o -path /var/cache -o -path /var/log -o -path /root \) -prune -o -print | sort >/tmp/there
		comm -13 /tmp/owned /tmp/there'
}

@test "installed: nothing runs, nothing is enabled, no Slurm comes with it" {
	date +%s >"$BARE_ROOT/root/began"
	follow 1 docs/packages.md
	install_ burstd-simcloud
	for unit in burstd burst-ledger; do
		[ "$(host systemctl show -P ActiveState $unit)" = inactive ]
		[ "$(host systemctl show -P UnitFileState $unit)" = disabled ]
	done
	[ -z "$(host systemctl --failed --no-legend list-units 'burst*')" ]
	[ ! -e "$BARE_ROOT/etc/burstd" ]
	run ! host sh -c 'command -v scontrol munged'
	[ "$(host burstd --version)" = "burstd $(cat VERSION)" ]
	[ "$(host readlink -f /usr/libexec/burstd/burst-resume)" = /usr/libexec/burstd/burst-hook ]
	[ -s "$BARE_ROOT/usr/share/doc/burstd/burstd.conf" ]
	[ -s "$BARE_ROOT/usr/share/doc/burstd/docs/adr/0001-lists-are-the-only-eyes.md" ]
	[ "$(host dpkg -S /usr/share/doc/burstd/docs/adr)" = 'burstd-doc: /usr/share/doc/burstd/docs/adr' ]
}

@test "started before it is configured, it is not" {
	host systemctl start burstd burst-ledger
	run -3 host systemctl is-active burstd burst-ledger
	[ "$output" = $'inactive\ninactive' ]
	[ ! -e "$BARE_ROOT/var/lib/burstd" ]
}

@test "the user slurm is who Debian's Slurm makes, which comes later and keeps it" {
	[ "$(host getent passwd slurm | cut -d: -f1,3,4,6,7)" = slurm:64030:64030:/nonexistent:/usr/sbin/nologin ]
	[ "$(host stat -c '%U:%G %a' /var/spool/burstd)" = 'slurm:slurm 700' ]
	follow 10
	[ "$(host getent passwd slurm | cut -d: -f1,3,4,6,7)" = slurm:64030:64030:/nonexistent:/usr/sbin/nologin ]
	[ "$(host stat -c %U /var/lib/slurm/slurmctld)" = slurm ]
}

@test "the first burst" {
	cluster
	first_burst
	[ "$(host systemctl is-enabled burstd)" = enabled ]
	follow 7
	active burst-ledger
}

@test "while a machine runs, burstd is not removed, and runs on" {
	local pid
	admin 'sbatch -p cloud -N1 --gres=gpu:h100:8 -o /dev/null --wrap "sleep 1000"'
	within 90 runs
	pid=$(host systemctl show -P MainPID burstd)
	run admin 'sudo apt-get remove -y burstd'
	[ "$status" != 0 ]
	grep -qF 'burstd: not removed: it has machines at clouds.' <<<"$output"
	[ "$(host systemctl show -P MainPID burstd)" = "$pid" ]
	host systemctl kill -s STOP burstd
	run admin 'sudo apt-get remove -y burstd'
	host systemctl kill -s CONT burstd
	[ "$status" != 0 ]
	grep -qF 'burstd: not removed: it does not say which machines run.' <<<"$output"
	[ "$(version_of burstd)" != '' ]
	active burstd
}

runs() {
	[ "$(admin "squeue -h -o %T")" = RUNNING ]
}

@test "removed as the document says: the programs go, configuration and state stay" {
	follow 8
	within 60 none_left
	# Without its only partition slurmctld does not start: "On an empty host".
	host systemctl disable --now --quiet slurmctld burstd burst-ledger
	follow 3 docs/packages.md
	[ ! -e "$BARE_ROOT/usr/sbin/burstd" ]
	[ ! -e "$BARE_ROOT/usr/libexec/burstd" ]
	[ "$(host systemctl show -P LoadState burstd)" = not-found ]
	[ -s "$BARE_ROOT/etc/burstd/burstd.conf" ]
	[ -s "$BARE_ROOT/var/lib/burstd/journal.db" ]
}

@test "installed again: it knows what was, and does not start by itself" {
	install_ burstd
	run ! active burstd
	[ "$(host systemctl is-enabled burstd)" = disabled ]
	host systemctl start burstd
	within 10 active burstd
	admin 'burstctl events --job 2' | tee "$BARE_ROOT/root/events"
	grep -q 'gpu1.* job-requeued .*job 2' "$BARE_ROOT/root/events"
	host systemctl stop burstd
}

@test "purged: the books stay, with a sentence, and so do keys" {
	run admin 'sudo apt-get purge -y burstd burstd-doc burstd-simcloud'
	echo "$output"
	[ "$status" = 0 ]
	grep -qF 'burstd: /var/lib/burstd stays' <<<"$output"
	grep -qF 'burstd: /etc/burstd stays' <<<"$output"
	[ ! -e "$BARE_ROOT/etc/burstd/burstd.conf" ]
	[ ! -e "$BARE_ROOT/var/spool/burstd" ]
	[ -s "$BARE_ROOT/etc/burstd/cloud.key" ]
	[ -s "$BARE_ROOT/var/lib/burstd/journal.db" ]
	[ -s "$BARE_ROOT/var/lib/burstd/uuid" ]
	files | grep burst | grep -vE '^(/etc/burstd|/var/lib/burstd)(/|$)' >"$BARE_ROOT/root/left" || true
	[ ! -s "$BARE_ROOT/root/left" ]
	run ! grep -q '^Package: burst' "$BARE_ROOT/var/lib/dpkg/status"
}

@test "burst-agent, for images: slurmd waits for node-init, and nothing starts" {
	host dpkg --force-depends -i "/home/admin/burstd/$(basename "$packages/$BARE_SUITE"/burst-agent_*.deb)"
	[ "$(host systemctl show -P ActiveState burst-agent)" = inactive ]
	[ "$(host systemctl show -P UnitFileState burst-agent)" = disabled ]
	host systemctl unmask --quiet slurmd
	host systemctl cat slurmd.service >"$BARE_ROOT/root/slurmd"
	grep -qx 'ExecStartPre=/usr/libexec/burstd/node-init --gate' "$BARE_ROOT/root/slurmd"
	[ -x "$BARE_ROOT/usr/libexec/burstd/node-init" ]
	host systemctl cat burst-keys@stage.service burst-mounts.service >/dev/null
	host burst-agent --version
	host dpkg --purge burst-agent
	run ! host systemctl cat burst-agent.service
}
