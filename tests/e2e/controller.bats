#!/usr/bin/env bats
# When slurmctld, slurmdbd or a slurmd dies (F46), and when slurmctld has given a node up (F47).

# Variables from the helper; scripts for the job to expand.
# shellcheck disable=SC2016,SC2034,SC2154
load helper
LAB_RESUME_TIMEOUT=100
# Slurm takes the last of two; a dead slurmd is noticed in half the time.
LAB_SLURM_EXTRA=SlurmdTimeout=10

setup() {
	calm
	rows=$(sim_rows)
	slurmctld_log_from_now
}

teardown() {
	[ -n "${BATS_TEST_COMPLETED-}" ] || lab_logs
	for name in slurmdbd slurmctld; do
		lab_running $name || lab_start $name
	done
	sim_config '{"boot": null, "boot_never": []}'
	scontrol update partition=cloud state=UP
	resume_timeout $LAB_RESUME_TIMEOUT
}

new_rows() {
	echo $(($(sim_rows) - rows))
}

# How often slurmctld called ResumeProgram in this test
resume_calls() {
	slurmctld_log | lab_calls resume | wc -l
}

# Kill slurmctld 20 ms after it called ResumeProgram, before it can have written that down; and start it again.
kill_after_hook() {
	within 30 eval '[ "$(resume_calls)" -gt 0 ]'
	sleep 0.02
	lab_kill slurmctld
	lab_start slurmctld
}

@test "F50: slurmctld is killed 20 ms after the hook and has forgotten the job's start: no node is bought twice at a time" {
	sim_config '{"boot": "3s"}'
	scontrol update partition=cloud state=DOWN
	job=$(job -N2 --exclusive --wrap "$until_over")
	# slurmctld writes its state down every 5 s: the job is in it, its start will not be.
	touch "$lab_dir/mark"
	within 10 test /var/lib/slurm/slurmctld/job_state -nt "$lab_dir/mark"
	scontrol update partition=cloud state=UP
	kill_after_hook
	within 60 job_is "$job" RUNNING
	[ "$(resume_calls)" = 2 ]
	# What the first call bought is used or goes.
	within 10 alive 2
	within 10 burstd_has 2 ANY
	over "$job"
	within 20 job_is "$job" COMPLETED
}

@test "a node left down~ by ResumeTimeout while burstd was away, and its call was lost, comes back" {
	resume_timeout 10
	sim_config '{"boot_never": ["c*"]}'
	job=$(job -w c1 --exclusive --wrap 'sleep 1')
	within 20 alive 1
	lab_stop burstd
	within 30 node_is c1 '^DOWN.*POWERED_DOWN'
	within 10 eval 'slurmctld_log | lab_calls resume-fail c1'
	rm -f /var/spool/burstd/*
	sim_config '{"boot_never": []}'
	lab_start burstd
	within 20 node_is_not c1 '^DOWN'
	within 60 job_is "$job" COMPLETED
	[ "$(new_rows)" = 2 ]
}

@test "slurmdbd is away: nodes come and go, and it hears of the job later" {
	lab_stop slurmdbd
	job=$(job -N1 --exclusive --wrap 'sleep 1')
	within 40 job_is "$job" COMPLETED
	within 30 all_down
	within 20 alive 0
	lab_start slurmdbd
	within 40 eval '[ "$(sacct -n -X -P -j "$job" -o state)" = COMPLETED ]'
	[ "$(new_rows)" = 1 ]
}

@test "slurmd dies on a living instance: the job starts anew elsewhere, and the instance is not left behind" {
	job=$(job -N1 --exclusive --wrap '[ "${SLURM_RESTART_COUNT-0}" != 0 ] || sleep 300; hostname')
	within 30 job_is "$job" RUNNING
	node=$(job_nodes "$job")
	within 10 burstd_has 1 ready
	kill -KILL "$(pgrep -x slurmd)"
	sleep 1
	alive 1
	within 40 eval '! job_is "$job" RUNNING'
	within 60 job_is "$job" COMPLETED
	[ "$(new_rows)" = 2 ]
	within 40 powered_down "$node"
	within 20 all_down
	within 20 alive 0
	within 20 burstd_has 0 ANY
}

@test "slurmctld is killed 20 ms after the hook but kept the job's start: the repeated hook launches nothing twice" {
	sim_config '{"boot": "8s"}'
	# slurmctld writes its state down at once if it has not for 5 s: the job's start is kept, the call is not.
	job=$(job -N2 --exclusive --begin=now+14 --wrap 'sleep 1')
	within 40 eval '[ "$(resume_calls)" -gt 0 ]'
	sleep 0.02
	lab_kill slurmctld
	lab_start slurmctld
	within 60 job_is "$job" COMPLETED
	# Where start and call are milliseconds apart slurmctld may have kept both, or have forgotten the start, too.
	[ "$(resume_calls)" -le 2 ]
	starts=$(slurmctld_log | grep -c "JobId=$job NodeList=\|Started JobId=$job ")
	[ "$(new_rows)" -le $((2 * starts)) ]
}

@test "the same, but slurmd was up before slurmctld asked again: it is not waited for in vain" {
	job=$(job -N2 --exclusive --begin=now+14 --wrap 'sleep 1')
	within 40 eval '[ "$(resume_calls)" -gt 0 ]'
	sleep 0.02
	lab_kill slurmctld
	if slurmctld_log | grep -q 'Node c.* now responding'; then
		# burstd cannot know that it was up for a moment, and slurmctld has forgotten: ResumeTimeout it is.
		lab_start slurmctld
		skip "this machine was too slow: slurmd had registered before slurmctld was killed"
	fi
	sleep 1.5
	lab_start slurmctld
	within 60 job_is "$job" COMPLETED
}

@test "no duplicate and no leaked second in all of this" {
	calm
	audit
}
