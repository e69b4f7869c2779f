#!/usr/bin/env bats
# The main job, undisturbed: sbatch, burst, run, idle, suspend, deleted.  Nothing is forced here: slurmctld
# itself suspends, and at the end simcloud's meter is audited against what slurmctld wanted.

# Variables from the helper; scripts for the job to expand.
# shellcheck disable=SC2016,SC2154
load helper

setup() {
	within 30 all_down
	within 20 alive 0
}

accounted() {
	[ "$(sacct -n -X -P -j "$1" -o state)" = COMPLETED ]
}

@test "a 1-node job runs on an instance, with its GPUs, as the user" {
	job=$(job -N1 --exclusive --gres=gpu:h100:8 --wrap 'id -un; hostname; echo $CUDA_VISIBLE_DEVICES')
	within 30 job_is "$job" COMPLETED
	run -0 cat "$lab_dir/home/job-$job.out"
	[ "${lines[0]}" = researcher ]
	[[ ${lines[1]} =~ ^c[1-8]$ ]]
	[ "${lines[2]}" = 0,1,2,3,4,5,6,7 ]
	within 10 accounted "$job"
}

@test "suspend deletes the instance and its meter stops" {
	job=$(job -N1 --exclusive --wrap 'echo $SLURMD_NODENAME')
	within 30 job_is "$job" COMPLETED
	node=$(cat "$lab_dir/home/job-$job.out")
	within 30 powered_down "$node"
	within 20 alive 0
	before=$(sim_cost)
	sleep 2
	[ "$(sim_cost)" = "$before" ]
	[ "$(sim_open)" = 0 ]
	# The instance was a namespace with a slurmd in it.
	[ "$(pgrep -xc slurmd)" = 0 ] || { pgrep -xa slurmd; false; }
	within 20 burstd_has 0 ANY
}

@test "a 4-node job: all 32 ranks meet, and resolve each other's names" {
	job=$(job "$lab_dir/bin/train.sbatch")
	within 40 job_is "$job" COMPLETED
	out=$lab_dir/home/job-$job.out
	cat "$out"
	[ "$(grep -c '^rank [0-9]*/32 host c[1-8] .* allreduce 496$' "$out")" = 32 ]
	[ "$(grep -c '^resolved ' "$out")" = 4 ]
	# Each node found all four, at the addresses that the provider gave.
	[ "$(sed -n 's/^resolved [^ ]* //p' "$out" | sort -u | wc -l)" = 1 ]
	read -ra pairs < <(sed -n '/^resolved /{s/^resolved [^ ]* //p;q}' "$out")
	for pair in "${pairs[@]}"; do
		sim_addresses | grep -qx "${pair/=/ }"
	done
}

@test "while a node is up slurmctld has the instance's address; afterwards it is reset" {
	job=$(job -N1 --exclusive --wrap "$until_over")
	within 30 job_is "$job" RUNNING
	node=$(job_nodes "$job")
	addr=$(scontrol -o show node "$node" | sed -n 's/.* NodeAddr=\([^ ]*\).*/\1/p')
	sim_addresses | grep -qx "$node $addr"
	scontrol -o show node "$node" | grep -q " NodeHostName=$node "
	over "$job"
	within 30 powered_down "$node"
	within 10 eval "scontrol -o show node $node | grep -q ' NodeAddr=$node '"
}

@test "a job's events: the machines that were bought for it, folded, and what became of them" {
	job=$(job -N3 --exclusive --wrap 'sleep 1')
	within 40 job_is "$job" COMPLETED
	burstctl events --job "$job" --since 5m >"$lab_dir/events"
	cat "$lab_dir/events"
	# 26.05 starts its programs a moment later, so the poll may be sooner than the call.
	why='called ResumeProgram'
	[ "$(lab_slurm_version)" -lt 2605 ] || why="($why|has it powering up)"
	grep -qE "  c[^ ]*\[[^ ]*\]  *wanted  *slurmctld $why, for job $job\$" "$lab_dir/events"
	[ "$(burstctl events --job "$job" --json | jq -r 'select(.type == "registered") | .node' | sort -u | wc -l)" = 3 ]
	[ "$(burstctl events --job "$((job + 1000))")" = "no events of job $((job + 1000))" ]
	within 30 all_down
}

@test "an array of 8" {
	job=$(job --array=1-8 -N1 --exclusive --wrap 'sleep 1; echo task $SLURM_ARRAY_TASK_ID on $SLURMD_NODENAME')
	within 60 job_is "$job" COMPLETED
	[ "$(cat "$lab_dir"/home/job-*.out | grep -c '^task [1-8] on c[1-8]$')" = 8 ]
}

@test "all of this without a duplicate or a leaked second" {
	within 30 all_down
	within 20 alive 0
	audit
}

@test "each request of this is on record, and the record is the one in the log" {
	burstctl audit --since 0 >"$lab_dir/audit"
	grep -q '  hook  *create  *sim  *c.*  slurmctld called ResumeProgram (' "$lab_dir/audit"
	grep -q '  reconciler  delete  *sim  *c' "$lab_dir/audit"
	grep -q '  reconciler  address  *slurmctld  c' "$lab_dir/audit"
	burstctl audit verify
	within 10 grep -q 'audit log' /var/log/burstd.log
	head=$(grep 'audit log' /var/log/burstd.log | grep -oE '[0-9]+:[0-9a-f]{64}' | tail -n 1)
	burstctl audit verify --head "$head"
	run burstctl audit verify --head "${head%%:*}:$(printf '%064d' 0)"
	[ "$status" = 1 ]
	[[ $output == "record ${head%%:*}: changed "* ]]
}
