#!/usr/bin/env bats
# slurmctld is away for a while (F48): a burstd that cannot see does nothing, and finds everything again.

# Variables from the helper; scripts for the job to expand.
# shellcheck disable=SC2016,SC2034,SC2154
load helper
# Longer than slurmctld is away, and than its slurmds then take to notice that it is back: they ask ever more seldom.
LAB_RESUME_TIMEOUT=200

# Until burstd knows that slurmctld is away: a poll may be 30 s off, and scontrol itself tries for 10 s.
SEEN_AWAY=60

setup() {
	calm
	rows=$(sim_rows)
	slurmctld_log_from_now
}

teardown() {
	[ -n "${BATS_TEST_COMPLETED-}" ] || lab_logs
	lab_running slurmctld || lab_start slurmctld
	sim_config '{"boot_never": []}'
	resume_timeout $LAB_RESUME_TIMEOUT
}

new_rows() {
	echo $(($(sim_rows) - rows))
}

@test "slurmctld is away for a minute while nodes boot: they wait for it, nothing is deleted, and the job runs" {
	hold_boots
	job=$(job -N2 --exclusive --wrap 'sleep 1')
	within 20 alive 2
	job_is "$job" CONFIGURING
	lab_stop slurmctld
	let_boot
	back=$((EPOCHSECONDS + 60))
	within $SEEN_AWAY eval 'burstctl status | grep -q "slurmctld does not answer"'
	while [ "$EPOCHSECONDS" -lt "$back" ]; do
		alive 2
		burstd_has 2 booting
		sleep 2
	done
	lab_start slurmctld
	within 90 job_is "$job" COMPLETED
	[ "$(new_rows)" = 2 ]
}

@test "slurmctld is away for longer than ResumeTimeout: the job runs in the end, and nothing is left" {
	resume_timeout 10
	sim_config '{"boot_never": ["c*"]}'
	job=$(job -N1 --exclusive --wrap 'sleep 1')
	within 20 alive 1
	sim_config '{"boot_never": []}'
	job_is "$job" CONFIGURING
	lab_stop slurmctld
	sleep 12
	lab_start slurmctld
	within 90 job_is "$job" COMPLETED
	slurmctld_log | grep 'not resumed by ResumeTimeout'
	within 40 all_down
	within 20 alive 0
	[ "$(new_rows)" = 2 ]
}

@test "a resume call that comes while slurmctld does not answer is served, and its node goes when slurmctld does not want it" {
	lab_stop slurmctld
	within $SEEN_AWAY eval 'burstctl status | grep -q "slurmctld does not answer: .* only what a resume call asks for is bought"'
	lab_as slurm env -i "$lab_dir/bin/burst-resume" c5
	within 20 alive 1
	burstd_nodes ANY | grep -qx c5
	lab_start slurmctld
	within 60 alive 0
	[ "$(new_rows)" = 1 ]
}

@test "no duplicate and no leaked second in all of this" {
	calm
	audit
}
