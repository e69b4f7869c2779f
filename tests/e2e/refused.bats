#!/usr/bin/env bats
# Nodes that cannot be had, and nodes that never come up (F17, F31).

# Variables from the helper; scripts for the job to expand.
# shellcheck disable=SC2016,SC2034,SC2154
load helper
LAB_RESUME_TIMEOUT=15

setup() {
	calm
	rows=$(sim_rows)
}

teardown() {
	[ -n "${BATS_TEST_COMPLETED-}" ] || lab_logs
	sim_config '{"boot_never": [], "latency": {"create": "0s"}}'
	sim_capacity null
	scontrol update partition=cloud state=UP
}

# new_rows N: so many machines at least were bought since the test began, whatever became of them
new_rows() {
	[ "$(($(sim_rows) - rows))" -ge "$1" ]
}

released() {
	node_is_not "$1" POWERING_UP && node_is_not "$1" CONFIGURING
}

@test "two jobs in one resume call, one cannot get nodes: it is released within 10 s, the other runs" {
	sim_capacity 3
	# A refusal takes burstd less time than it takes us, on a busy machine, to see the job configuring.
	sim_config '{"latency": {"create": "2s"}}'
	scontrol update partition=cloud state=DOWN
	small=$(job -N2 --exclusive --wrap 'sleep 1')
	big=$(job -N4 --exclusive --wrap 'sleep 1')
	sleep 1
	calls=$(resume_calls)
	scontrol update partition=cloud state=UP
	within 15 job_is "$big" CONFIGURING
	began=$EPOCHSECONDS
	nodes=$(job_nodes "$big")
	within 5 eval "[ \$(resume_calls) -gt $calls ]"
	[ "$(resume_calls)" = $((calls + 1)) ]
	within 10 job_is "$big" PENDING
	within $((10 - (EPOCHSECONDS - began))) released "$nodes"
	scontrol -o show node "$nodes" | grep -q 'Reason=burstd:'
	within 20 job_is "$small" COMPLETED
	# Nothing was bought for the refused job, and it runs when there is capacity.
	[ "$(sim_rows)" = 2 ] || sim GET /admin/meter
	sim_capacity null
	within 60 job_is "$big" COMPLETED
}

resume_calls() {
	lab_calls resume </var/log/slurm/slurmctld.log | wc -l
}

comment() {
	scontrol -o show job "$1" | sed -n 's/.* AdminComment=\(.*\)  *StdErr=.*/\1/p' | head -n 1 | sed 's/ *$//'
}

# In so many seconds JOB may start
starts_in() {
	local at
	at=$(scontrol -o show job "$1" | sed -n 's/.* StartTime=\([^ ]*\).*/\1/p')
	echo $(($(date -d "$at" +%s) - EPOCHSECONDS))
}

@test "a job over the pool's max_rate is refused, one within it runs" {
	lab_stop burstd
	sed 's/max_rate .*/max_rate = "60"/' -i /etc/burstd/burstd.conf
	lab_start burstd
	small=$(job -N2 --exclusive --wrap 'sleep 1')
	within 30 job_is "$small" COMPLETED
	calm
	rows=$(sim_rows)
	big=$(job -N3 --exclusive --wrap 'sleep 1')
	# It is refused before one could see it configuring.
	within 15 grep -q "Requeuing JobId=$big\$" /var/log/slurm/slurmctld.log
	within 30 job_is "$big" PENDING
	[ "$(sim_rows)" = "$rows" ]
	# No wait can mend it: it is told the figures, and is not tried each quarter of an hour; nor is it held.
	within 10 eval 'comment "$big" | grep -q "^burstd: pool h100: this job needs 88.56 EUR/h, the pool allows 60.00: at most 2 nodes; tried again when that changes, or at 20"'
	[ "$(starts_in "$big")" -gt 80000 ]
	within 10 eval '[ "$(squeue -h -j "$big" -o %r)" = BeginTime ]'
	[ "$(comment "$big" | grep -c burstctl)" = 0 ]
	# A reload decides anew, at once; with the same figures to the same end.
	calls=$(resume_calls)
	burstctl reload
	within 30 eval "[ \$(resume_calls) -gt $calls ]"
	within 30 eval '[ "$(squeue -h -j "$big" -o %r)" = BeginTime ] && [ "$(starts_in "$big")" -gt 80000 ]'
	# So does whoever edits the job, within a minute; and then it runs, and has no words any more.
	scontrol update jobid="$big" numnodes=2-2
	within 130 job_is "$big" COMPLETED
	[ "$(comment "$big")" = "" ]
	lab_stop burstd
	lab_burstd_conf
	lab_start burstd
}

# at_terminal NAME CMD...: somebody runs it and waits; what it prints is in $lab_dir/NAME
at_terminal() {
	local name=$1
	shift
	lab_as researcher "$@" >"$lab_dir/$name" 2>&1 3>&- </dev/null &
}

@test "srun and salloc hear why they end, once and before it; a batch job's output has nothing of it" {
	sim_capacity 0
	at_terminal srun.out srun -N2 --exclusive hostname
	at_terminal salloc.out salloc -N1 --exclusive hostname
	job=$(job -N1 --exclusive --wrap 'echo done')
	within 20 grep -q 'Node failure\|revoked' "$lab_dir/srun.out"
	within 20 grep -q 'revoked\|Relinquishing\|failure' "$lab_dir/salloc.out"
	cat "$lab_dir/srun.out" "$lab_dir/salloc.out"
	[ "$(grep -c 'burstd: .*no [^;]*; the job ends: only sbatch jobs are requeued and tried again' "$lab_dir/srun.out")" = 1 ]
	[ "$(grep -c 'burstd: .*no [^;]*; the job ends' "$lab_dir/salloc.out")" = 1 ]
	[ "$(grep -n 'burstd:\|Node failure' "$lab_dir/srun.out" | head -n 1 | grep -c burstd)" = 1 ]
	burstctl audit | grep -w notify | grep -qi capacity
	sim_capacity null
	within 60 job_is "$job" COMPLETED
	[ "$(cat "$lab_dir/home/job-$job.out")" = "done" ]
}

@test "srun hears that its node is taken" {
	at_terminal srun.out srun -N1 --exclusive --job-name=taken sleep 600
	within 40 eval '[ "$(squeue -h -n taken -o %T)" = RUNNING ]'
	node=$(squeue -h -n taken -o %N)
	burstctl notice "$node" --kind reclaim
	within 20 eval '[ "$(squeue -h -n taken -o %T)" = "" ]'
	cat "$lab_dir/srun.out"
	grep -q "burstd: the job loses node $node: the provider takes its capacity back" "$lab_dir/srun.out"
}

@test "ResumeFailProgram: slurmctld gives up on a node, its instance is deleted and the node is usable again" {
	sim_config '{"boot_never": ["c*"]}'
	job=$(job -N1 --exclusive --wrap 'sleep 1')
	within 15 job_is "$job" CONFIGURING
	node=$(job_nodes "$job")
	within 10 new_rows 1
	within 30 eval 'lab_calls resume-fail "$node" </var/log/slurm/slurmctld.log'
	sim_config '{"boot_never": []}'
	within 20 alive 0
	within 40 job_is "$job" COMPLETED
}

@test "a node that never boots: burstd gives up at boot_timeout, releases it and deletes the instance" {
	lab_stop burstd
	sed 's/boot_timeout .*/boot_timeout = "5s"/' -i /etc/burstd/burstd.conf
	lab_start burstd
	sim_config '{"boot_never": ["c*"]}'
	job=$(job -N2 --exclusive --wrap 'sleep 1')
	within 15 job_is "$job" CONFIGURING
	nodes=$(job_nodes "$job")
	within 10 new_rows 2
	within 12 job_is "$job" PENDING
	scontrol -o show node "$nodes" | grep -q 'Reason=burstd:'
	sim_config '{"boot_never": []}'
	within 20 alive 0
	within 40 job_is "$job" COMPLETED
	lab_stop burstd
	lab_burstd_conf
	lab_start burstd
}

@test "one broken machine of four: its job runs elsewhere, and others are bought as ever" {
	lab_stop burstd
	sed 's/boot_timeout .*/boot_timeout = "5s"/' -i /etc/burstd/burstd.conf
	lab_start burstd
	calm
	# The broken one is whichever slurmctld takes; it would take it time and again.
	sim_config '{"boot_never": ["c*"]}'
	job=$(job -N1 --exclusive --requeue --wrap 'sleep 1')
	within 15 job_is "$job" CONFIGURING
	broken=$(job_nodes "$job")
	within 10 new_rows 1
	sim_config "{\"boot_never\": [\"$broken\"]}"
	within 15 job_is "$job" PENDING
	within 20 eval 'scontrol -o show node $broken | grep -q "State=DOWN+.*Reason=burstd: it did not come up; rests until"'
	within 40 job_is "$job" COMPLETED
	# The pool buys, for there is nothing wrong with it.
	burstctl status >"$lab_dir/status"
	run -1 grep 'come up wrong' "$lab_dir/status"
	other=$(job -N3 --exclusive --wrap 'sleep 1')
	within 30 job_is "$other" COMPLETED
	sim_config '{"boot_never": []}'
	# After its rest, a minute, it is used again.
	within 90 eval '! scontrol -o show node $broken | grep -q DOWN+'
	again=$(job -N1 -w "$broken" --wrap 'sleep 1')
	within 40 job_is "$again" COMPLETED
	lab_stop burstd
	lab_burstd_conf
	lab_start burstd
}

@test "no duplicate and no leaked second in all of this" {
	calm
	audit
}
