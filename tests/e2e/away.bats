#!/usr/bin/env bats
# slurmctld is away for a while (F48): a burstd that cannot see does nothing, and finds everything again.

# Variables from the helper; scripts for the job to expand.
# shellcheck disable=SC2016,SC2034,SC2154
load helper
LAB_RESUME_TIMEOUT=100

setup() {
	calm
	rows=$(sim_rows)
	slurmctld_log_from_now
}

teardown() {
	[ -n "${BATS_TEST_COMPLETED-}" ] || lab_logs
	lab_running slurmctld || lab_start slurmctld
	sim_config '{"boot": null}'
	resume_timeout $LAB_RESUME_TIMEOUT
}

new_rows() {
	echo $(($(sim_rows) - rows))
}

@test "slurmctld is away while nodes boot: they wait for it, nothing is deleted, and the job runs" {
	sim_config '{"boot": "5s"}'
	job=$(job -N2 --exclusive --wrap 'sleep 1')
	within 20 alive 2
	job_is "$job" CONFIGURING
	lab_stop slurmctld
	within 30 eval 'burstctl status | grep -q "slurmctld does not answer"'
	sleep 20
	alive 2
	burstd_has 2 booting
	lab_start slurmctld
	within 60 job_is "$job" COMPLETED
	[ "$(new_rows)" = 2 ]
}

@test "slurmctld is away for longer than ResumeTimeout: the job runs in the end, and nothing is left" {
	resume_timeout 10
	sim_config '{"boot": "16s"}'
	job=$(job -N1 --exclusive --wrap 'sleep 1')
	within 20 alive 1
	sim_config '{"boot": null}'
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

@test "no duplicate and no leaked second in all of this" {
	calm
	audit
}
