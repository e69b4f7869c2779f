#!/usr/bin/env bats
# What users do besides sbatch of one job: srun, salloc, heterogeneous jobs, dependencies, ^C.

# Variables from the helper; scripts for the job to expand.
# shellcheck disable=SC2016,SC2154
load helper

setup() {
	calm
	rows=$(sim_rows)
}

teardown() {
	[ -n "${BATS_TEST_COMPLETED-}" ] || lab_logs
	sim_capacity null
}

new_rows() {
	echo $(($(sim_rows) - rows))
}

# as_user PROGRAM [ARG...]: in the user's home
as_user() {
	(cd "$lab_dir/home" && lab_as researcher timeout 60 "$@")
}

# The start and the end of a job, in seconds since 1970
job_time() {
	date -d "$(scontrol -o show job "$1" | sed -n "s/.* $2=\([^ ]*\).*/\1/p" | head -n 1)" +%s
}

@test "srun waits for two nodes, runs a task on each, and gives their output and exit status" {
	run -3 as_user srun -N2 --ntasks-per-node=1 --exclusive --gres=gpu:h100:8 \
		sh -c 'echo "$(id -un) $(hostname) $CUDA_VISIBLE_DEVICES"; exit 3'
	[ "$(grep -c '^researcher c[1-8] 0,1,2,3,4,5,6,7$' <<<"$output")" = 2 ]
	[ "$(grep -o '^researcher c[1-8]' <<<"$output" | sort -u | wc -l)" = 2 ]
	[ "$(new_rows)" = 2 ]
}

@test "salloc: two steps in one allocation, on the same instance" {
	run -0 as_user salloc -N1 --exclusive sh -c 'srun hostname; srun hostname'
	[ "$(grep -c '^c[1-8]$' <<<"$output")" = 2 ]
	[ "$(grep '^c[1-8]$' <<<"$output" | sort -u | wc -l)" = 1 ]
	[ "$(new_rows)" = 1 ]
}

@test "a heterogeneous job: its components are bought together and one step spans them" {
	cat >"$lab_dir/het" <<-'S'
		#!/bin/bash
		#SBATCH -N1 --exclusive --gres=gpu:h100:8
		#SBATCH hetjob
		#SBATCH -N2 --ntasks-per-node=1 --exclusive
		srun --het-group=0,1 sh -c 'echo "group $SLURM_PROCID $(hostname)"'
	S
	job=$(job "$lab_dir/het")
	within 60 job_is "$job" COMPLETED
	cat "$lab_dir/home/job-$job.out"
	[ "$(grep -o '^group [012] c[1-8]$' "$lab_dir/home/job-$job.out" | sort -u -k3 | wc -l)" = 3 ]
	[ "$(new_rows)" = 3 ]
}

@test "^C while the nodes boot: they come, sit idle, and go; nothing of the job is left" {
	hold_boots
	as_user srun -N2 --exclusive sleep 60 >"$lab_dir/srun.out" 2>&1 3>&- &
	within 20 alive 2
	job=$(squeue -h -o %A)
	job_is "$job" CONFIGURING
	kill -INT "$(pgrep -x srun)"
	rc=0
	wait $! || rc=$?
	[ $rc != 0 ]
	let_boot
	cat "$lab_dir/srun.out"
	scontrol show job "$job" | grep JobState
	within 10 no_jobs
	within 40 all_down
	within 20 alive 0
	within 20 burstd_has 0 ANY
	[ "$(new_rows)" = 2 ]
}

@test "--no-requeue: it runs as any other, and where no node can be had it fails at once, with the reason on the node" {
	job=$(job -N1 --no-requeue --exclusive --wrap 'sleep 1')
	within 30 job_is "$job" COMPLETED
	within 30 all_down
	sim_capacity 0
	job=$(job -N2 --no-requeue --exclusive --wrap 'sleep 1')
	# slurmctld has no other way: such a job cannot go back to the queue (until 25.05).
	within 30 job_is "$job" NODE_FAIL
	scontrol -o show node "$(job_nodes "$job")" | grep -q 'Reason=burstd: .*capacity'
	within 20 all_down
	[ "$(new_rows)" = 1 ]
}

@test "afterok: the second job starts after the first, afternotok: never" {
	one=$(job -N1 --exclusive --wrap 'sleep 1')
	two=$(job -N1 --exclusive -d "afterok:$one" --wrap 'sleep 1')
	never=$(job -N1 --exclusive -d "afternotok:$one" --kill-on-invalid-dep=yes --wrap 'sleep 1')
	within 60 job_is "$two" COMPLETED
	job_is "$one" COMPLETED
	[ "$(job_time "$one" EndTime)" -le "$(job_time "$two" StartTime)" ]
	within 10 job_is "$never" CANCELLED
	# The node of the first was still up, or had to be bought again; never one for each.
	[ "$(new_rows)" -le 2 ]
}

@test "singleton: three jobs of one name run one at a time" {
	for _ in 1 2 3; do
		job=$(job -J single -d singleton -N1 --exclusive --wrap 'date +%s.%N; sleep 1; date +%s.%N')
	done
	within 60 job_is "$job" COMPLETED
	for i in 2 1 0; do cat "$lab_dir/home/job-$((job - i)).out"; done >"$lab_dir/single"
	[ "$(wc -l <"$lab_dir/single")" = 6 ]
	sort -n -c "$lab_dir/single"
	[ "$(new_rows)" -le 3 ]
}

@test "no duplicate and no leaked second in all of this" {
	calm
	audit
}
