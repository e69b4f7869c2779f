#!/usr/bin/env bats
# A host without Slurm, whose admin follows docs/slurm-integration.md to the letter: burstctl writes burstd.conf and
# slurm.conf, a slurmctld starts with them for the first time in its life, and a job runs on a machine that it had bought.

# shellcheck disable=SC2154  # lines, of bats
load host

# Its admin installs no package that is only recommended, as on many servers: what burstd needs, burstd asks for.
setup_file() {
	own_host || return
	echo 'APT::Install-Recommends "false";' >"$BARE_ROOT/etc/apt/apt.conf.d/recommends"
}

@test "Slurm and burstd are installed, and nothing has a configuration" {
	run ! host sh -c 'command -v slurmctld'
	date +%s >"$BARE_ROOT/root/began"
	follow 10
	follow 1
	[ ! -e "$BARE_ROOT/etc/slurm/slurm.conf" ]
	[ ! -e "$BARE_ROOT/etc/burstd/burstd.conf" ]
	# Without, no cloud's certificate is believed.
	[ -s "$BARE_ROOT/etc/ssl/certs/ca-certificates.crt" ]
}

@test "burstctl init asks for the cluster's name, and writes nothing without it" {
	run follow 2
	echo "$output"
	[ "$status" != 0 ]
	grep -qF 'cluster=' <<<"$output"
	[ ! -e "$BARE_ROOT/etc/slurm/slurm.conf" ]
	[ ! -e "$BARE_ROOT/etc/burstd/burstd.conf" ]
}

@test "burstctl init writes both files" {
	cloud
	follow 11
	follow 3
	machines
	grep -qx 'ClusterName=falcon' "$BARE_ROOT/etc/slurm/slurm.conf"
	[ "$(stat -c %a "$BARE_ROOT/etc/slurm/slurm.conf")" = 644 ]
}

@test "slurm-conf adds what slurmctld needs to burst" {
	follow 4
	grep -q '^NodeName=gpu\[1-4\] .*State=CLOUD' "$BARE_ROOT/etc/slurm/slurm.conf"
}

@test "slurmctld starts, and all is well" {
	run follow 5
	echo "$output"
	[ "$status" = 0 ]
	grep -qF 'All is well.' <<<"$output"
	host systemctl is-active slurmctld
	[[ $(sinfo_of cloud) = 4* ]]
}

sinfo_of() {
	host sinfo -h -p "$1" -o '%D %T'
}

@test "a job runs on a machine that was not there" {
	first_burst
}
