#!/usr/bin/env bats
# A site whose Slurm user has an uid of the site's own, with an older burstd that has a machine and a running job: upgraded
# meanwhile, downgraded in vain, and removed by somebody who wants it so.

# shellcheck disable=SC2154  # status and output, of bats
load package

setup_file() {
	own_host && bring old
}

@test "the site's own user slurm stays as it is" {
	host groupadd -g 450 slurm
	host useradd -u 450 -g 450 -d /srv/slurm -s /bin/sh slurm
	install_ burstd burstd-simcloud
	[ "$(host getent passwd slurm)" = slurm:x:450:450::/srv/slurm:/bin/sh ]
	[ "$(host stat -c '%U %a' /var/spool/burstd)" = 'slurm 700' ]
	[[ $(version_of burstd) = 0.0.9-* ]]
}

@test "the older burstd bursts" {
	follow 10
	cluster
	host systemctl enable --quiet --now burst-ledger
	admin 'sbatch -p cloud -N1 --gres=gpu:h100:8 -o /dev/null --wrap "sleep 3000"'
	within 90 runs
	[ "$(admin 'burstctl status --json' | jq -r .version)" = 0.0.9 ]
	[[ $(meter) = 'gpu1 '*' alive' ]]
	meter >"$BARE_ROOT/root/bought"
	admin "scontrol show job 1 | grep -oE 'StartTime=\S+|Restarts=\S+'" >"$BARE_ROOT/root/job"
}

runs() {
	[ "$(admin "squeue -h -j ${1-1} -o %T")" = RUNNING ]
}

# slurmctld's calls, many each second.
hooks() {
	local end=$((SECONDS + 200))
	while [ ! -e "$BARE_ROOT/root/enough" ] && [ $SECONDS -lt $end ]; do
		sleep 0.05
		host runuser -u slurm -- /usr/libexec/burstd/burst-suspend gpu4 && echo ok || echo failed
	done >>"$BARE_ROOT/root/hooks" 2>&1
}

@test "upgraded with a machine running: nothing is lost, nothing bought twice, no hook fails" {
	local pid
	bring "$BARE_SUITE"
	hooks 3>&- &
	pid=$!
	sleep 1
	follow 2 docs/packages.md
	touch "$BARE_ROOT/root/enough"
	wait $pid
	host journalctl --no-pager -q -u burstd -n 15
	active burstd
	active burst-ledger
	grep -qx ok "$BARE_ROOT/root/hooks"
	run ! grep -vx ok "$BARE_ROOT/root/hooks"
	within 10 all_is_well
	[ "$(admin 'burstctl status --json' | jq -r .version)" = "$(cat VERSION)" ]
	for unit in burstd burst-ledger; do
		[ "$(host readlink "/proc/$(host systemctl show -P MainPID $unit)/exe")" = /usr/sbin/$unit ]
	done
	[ "$(meter)" = "$(cat "$BARE_ROOT/root/bought")" ]
	runs
	[ "$(admin "scontrol show job 1 | grep -oE 'StartTime=\S+|Restarts=\S+'")" = "$(cat "$BARE_ROOT/root/job")" ]
	[[ $(admin 'burstctl nodes') = *gpu1*ready* ]]
}

all_is_well() {
	admin 'burstctl status' | grep -qF 'All is well.'
}

@test "the next job bursts, too" {
	admin 'sbatch -p cloud -N1 --gres=gpu:h100:8 -o /dev/null --wrap "sleep 3000"'
	within 90 runs 2
	[ "$(meter | cut -d' ' -f1,3 | sort)" = $'gpu1 alive\ngpu2 alive' ]
}

@test "a downgrade is refused, says why, and the newer burstd runs on" {
	bring old
	run install_ burstd
	echo "$output"
	[ "$status" != 0 ]
	grep -qF "burstd: refused: /var/lib/burstd/journal.db is of schema $(known_to "$BARE_SUITE"), and burstd 0.0.9 knows $(known_to old) at most." \
		<<<"$output"
	[[ $(version_of burstd) = $(cat VERSION)-* ]]
	active burstd
	runs
	[ "$(admin 'burstctl status --json' | jq -r .version)" = "$(cat VERSION)" ]
}

@test "... also when it is stopped, and after a removal" {
	host systemctl stop burstd burst-ledger
	[ "$(schema)" = "$(known_to "$BARE_SUITE")" ]
	[ "$(schema)" -gt "$(known_to old)" ]
	run install_ burstd
	[ "$status" != 0 ]
	grep -qF "is of schema $(schema), and burstd 0.0.9" <<<"$output"
	run -3 host systemctl is-active burstd
	admin 'sudo apt-get remove -y burstd'
	run install_ burstd
	[ "$status" != 0 ]
	grep -qF "is of schema $(schema), and burstd 0.0.9" <<<"$output"
}

@test "whoever has stopped it has removed it, and its machines run on until it is back" {
	[ "$(meter | cut -d' ' -f1,3 | sort)" = $'gpu1 alive\ngpu2 alive' ]
	bring "$BARE_SUITE"
	host apt-get -qq install -y -f >/dev/null 2>&1 || true
	install_ burstd
	run ! active burstd
	host systemctl start burstd
	within 20 all_is_well
	runs
	runs 2
	follow 8
	within 60 none_left
	[ "$(meter | cut -d' ' -f1,3 | sort)" = $'gpu1 ended\ngpu2 ended' ]
}
