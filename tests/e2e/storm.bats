#!/usr/bin/env bats
# A thousand nodes wanted at once, and machines for 700: instances that boot nothing, since it is burstd and slurmctld that
# are looked at.  Judged by launches, addresses and reasons.  How long it takes: make bench NAME=storm.

# Variables from the helper; scripts for the job to expand.
# shellcheck disable=SC2016,SC2034,SC2154
LAB_NODES=1000 LAB_MAX_RATE=100000 LAB_BOOT='' LAB_COOLDOWN=10m
# 22.05 requeues many jobs under one lock, 0.14 s for each whose start slurmdbd does not have yet: with the 5 s of other labs
# it would start the first of them again before anybody could tell it to wait.  Sites have 120.
LAB_CRED_EXPIRE=60
load helper
LAB_RESUME_TIMEOUT=300
LAB_OFFERS="$(lab_offer near eu-north-1a on-demand) $(lab_offer far eu-north-1b on-demand)"

# A restart forgets which places have nothing.
setup() {
	calm
	lab_stop burstd
	lab_start burstd
	sim_config '{"offers": [
		{"type": "gpu_8x_h100", "region": "eu-north-1", "zone": "eu-north-1a", "market": "on-demand",
			"price": "29.52", "currency": "EUR", "capacity": 400},
		{"type": "gpu_8x_h100", "region": "eu-north-1", "zone": "eu-north-1b", "market": "on-demand",
			"price": "29.52", "currency": "EUR", "capacity": 300}]}'
	sim DELETE /admin/stats >/dev/null
	rows=$(sim_rows)
	scontrol update partition=cloud state=DOWN
}

teardown() {
	[ -n "${BATS_TEST_COMPLETED-}" ] || LAB_LINES=100 lab_logs
	scontrol update partition=cloud state=UP
}

refused() {
	SLURM_TIME_FORMAT=%s scontrol -o show jobs | grep ' JobState=PENDING ' |
		grep 'AdminComment=burstd: pool h100: .*no capacity.*next try 20'
}

# told N: so many jobs wait, each says why and for how long, and slurmctld leaves it alone until then: not only for as long as
# it holds back whatever it requeues
told() {
	[ "$(refused | sed 's/.* EligibleTime=\([0-9]*\) .*/\1/' | awk -v now="$(date +%s)" '$1 > now + 300' | wc -l)" = "$1" ]
}

addressed() {
	scontrol -o show nodes | sed -n 's/^NodeName=\([^ ]*\) .*NodeAddr=\(10\.77[^ ]*\) .*/\1 \2/p' | sort
}

addressed_are() {
	[ "$(addressed | wc -l)" = "$1" ]
}

# What 700 machines and demand for 1,000 must come to, whatever the shape of the jobs
judge() {
	within 30 addressed_are 700
	[ "$(($(sim_rows) - rows))" = 700 ]
	[ "$(sim_of /admin/stats .ops.create.refused)" = 2 ]
	# To slurmctld each node is at its own instance's address.
	sim_of /admin/instances '.instances[] | select(.state != "ended") | "\(.name) \(.address)"' | sort >"$lab_dir/instances"
	addressed | diff - "$lab_dir/instances"
	# And it is an instance of a job that lacks nothing.
	scontrol show hostnames "$(squeue -h -r -t CF -o %N | paste -sd,)" | sort >"$lab_dir/needed"
	cut -d' ' -f1 "$lab_dir/instances" | diff - "$lab_dir/needed"
	# Whoever was refused tries again when the place opens that opens first, and that is one time for all.
	[ "$(refused | sed 's/.*; next try \([^ ]*\).*/\1/' | sort -u | wc -l)" = 1 ]
}

@test "500 jobs of two nodes: 350 have both, 150 wait and say why, and each of two places refuses one call" {
	lab_as researcher bash -c 'cd /run/lab/home; for i in {1..500}; do sbatch -N2 --exclusive --wrap "sleep 600"; done' >/dev/null
	scontrol update partition=cloud state=UP
	within 60 told 150
	[ "$(squeue -h -r -t CF | wc -l)" = 350 ]
	judge
}

@test "an array of 1000: 700 have their node, 300 wait and say why, and each of two places refuses one call" {
	job --array=1-1000 -N1 --exclusive --wrap 'sleep 600' >/dev/null
	scontrol update partition=cloud state=UP
	within 60 told 300
	[ "$(squeue -h -r -t CF | wc -l)" = 700 ]
	judge
}

@test "no duplicate and no leaked second in all of this" {
	calm
	audit
}
