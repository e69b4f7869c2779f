#!/usr/bin/env bats
# The provider takes spot instances back, with notice and without (F41, P3): the node goes, the job is requeued and runs
# again on a new instance.

# Variables from the helper; scripts for the job to expand.
# shellcheck disable=SC2016,SC2034,SC2154
load helper

setup_file() {
	own_lab || return
	lab_up
	# A list is all that burstd learns of a reclaim: as often as a notice of seconds needs it.
	lab_stop burstd
	sed -i 's/market .*/market = "spot"/; s/settle .*/&\n\t\t\tlist_every = "1s"/' /etc/burstd/burstd.conf
	lab_start burstd
}

setup() {
	calm
	rows=$(sim_rows)
}

teardown() {
	[ -n "${BATS_TEST_COMPLETED-}" ] || lab_logs
	sim_config '{"boot_never": []}'
}

# Runs for ever unless it was requeued.
again='echo "run ${SLURM_RESTART_COUNT:-0} on $SLURM_JOB_NODELIST"; [ -n "${SLURM_RESTART_COUNT-}" ] || sleep 600'

new_rows() {
	echo $(($(sim_rows) - rows))
}

restarts() {
	scontrol -o show job "$1" | sed -n 's/.* Restarts=\([0-9]*\).*/\1/p'
}

restarted() {
	[ "$(restarts "$1")" = "$2" ]
}

# runs JOB: it has begun, and its first line is in its output.  slurmctld says RUNNING some time before.
runs() {
	job_is "$1" RUNNING && grep -q '^run 0 on c' "$lab_dir/home/job-$1.out"
}

instance_of() {
	sim_of /admin/instances ".instances[] | select(.name == \"$1\" and .state != \"ended\") | .id"
}

state_of() {
	sim_of /admin/instances ".instances[] | select(.id == \"$1\") | .state"
}

instance_is() {
	[ "$(state_of "$1")" = "$2" ]
}

# story ID KIND|KIND...: what of these happened to the instance, in that order
story() {
	sim_of /admin/events "[.events[] | select(.id == \"$1\") | .event | select(test(\"^($2)$\"))] | join(\" \")"
}

# ran_twice JOB: once each time, and both times are in its output
ran_twice() {
	cat "$lab_dir/home/job-$1.out"
	[ "$(grep -c '^run 0 on c' "$lab_dir/home/job-$1.out")" = 1 ]
	[ "$(grep -c '^run 1 on c' "$lab_dir/home/job-$1.out")" = 1 ]
}

@test "a broken host is reported before its instance is deleted" {
	job=$(job -N1 --exclusive --requeue --wrap "$again")
	within 30 runs "$job"
	node=$(job_nodes "$job")
	id=$(instance_of "$node")
	burstctl notice "$node" --kind faulty --reason 'XID 79'
	within 10 restarted "$job" 1
	within 15 instance_is "$id" ended
	[ "$(story "$id" 'reported|deleted')" = 'reported deleted' ]
	burstctl events | grep -w "$node" | grep -q "reported.*instance $id: XID 79"
	burstctl audit | grep -w report | grep -q "$id"
	within 60 job_is "$job" COMPLETED
}

@test "with notice: the job is requeued before its node is taken, and runs on a new instance" {
	job=$(job -N1 --exclusive --requeue --wrap "$again")
	within 30 runs "$job"
	node=$(job_nodes "$job")
	id=$(instance_of "$node")
	sim_reclaim "$node" 15000
	within 10 job_is "$job" PENDING
	restarted "$job" 1
	# slurmctld was told why.
	grep -q "node $node reason set to: burstd: the provider takes its capacity back" /var/log/slurm/slurmctld.log
	burstctl events | grep -w "$node" | grep -q 'ready -> draining'
	# What became of the job is on record, and its user is told.
	burstctl events | grep -w "$node" | grep -q "job-taken.*job $job loses this node: the provider takes its capacity back"
	within 10 eval 'burstctl events | grep -q "job-requeued.*job $job: it was requeued"'
	within 5 eval 'scontrol show job "$job" | grep -q "AdminComment=burstd: lost node $node: the provider takes"'
	within 60 job_is "$job" COMPLETED
	ran_twice "$job"
	# All this before the notice ran out: it was given back, not taken.
	within 10 instance_is "$id" ended
	[ "$(story "$id" 'reclaiming|deleted|ended')" = 'reclaiming deleted ended' ]
	[ "$(new_rows)" = 2 ]
	# It is recorded as taken, though slurmctld powered it down; a restart knows it still (F41).
	burstctl events | grep -w "$node" | grep -q 'draining -> deleting: the provider took its capacity back'
	burstctl events >"$lab_dir/events"
	run ! grep -w "$node#1 .*Slurm powered it down" "$lab_dir/events"
	lab_stop burstd
	lab_start burstd
	burstctl status | grep -q "taken by the provider within an hour, the last .* ($node: the provider took its capacity back)"
}

@test "F44: a notice that comes while burstd is dead is read when it is back, and the job is requeued before its end" {
	job=$(job -N1 --exclusive --requeue --wrap "$again")
	within 30 runs "$job"
	node=$(job_nodes "$job")
	id=$(instance_of "$node")
	local notice_ms=20000 within=15
	# A queue (SQS) gives what the dead one was just asking for to nobody for half a minute.
	[ "$LAB_CLOUD" != aws ] || notice_ms=90000 within=60
	lab_kill burstd
	sim_reclaim "$node" $notice_ms
	lab_start burstd
	within $within job_is "$job" PENDING
	restarted "$job" 1
	within 60 job_is "$job" COMPLETED
	ran_twice "$job"
	within 25 instance_is "$id" ended
	[ "$(new_rows)" = 2 ]
}

@test "without notice: the node is down, the job is requeued and runs on a new instance" {
	job=$(job -N1 --exclusive --requeue --wrap "$again")
	within 30 runs "$job"
	node=$(job_nodes "$job")
	id=$(instance_of "$node")
	sim_kill "$node"
	instance_is "$id" ended
	# Long before slurmctld would miss it: SlurmdTimeout is 20 s.
	within 10 job_is "$job" PENDING
	restarted "$job" 1
	within 60 job_is "$job" COMPLETED
	ran_twice "$job"
	[ "$(new_rows)" = 2 ]
}

# On 22.05 such a job came back without its GPUs, and its first run was not on record.
@test "with a notice of 4 s, for a job that ignores SIGTERM: it keeps its GPUs, and both runs are on record" {
	job=$(job -N1 --gres=gpu:h100:8 --requeue --wrap 'trap "" TERM; echo "gpus ${CUDA_VISIBLE_DEVICES-}"
		echo "run ${SLURM_RESTART_COUNT:-0} on $SLURM_JOB_NODELIST"
		[ -n "${SLURM_RESTART_COUNT-}" ] || for i in $(seq 600); do sleep 1; done')
	within 30 runs "$job"
	node=$(job_nodes "$job")
	id=$(instance_of "$node")
	sim_reclaim "$node" 4000
	within 15 job_is "$job" PENDING
	within 20 instance_is "$id" ended
	within 60 job_is "$job" COMPLETED
	ran_twice "$job"
	[ "$(grep -c '^gpus 0,1,2,3,4,5,6,7$' "$lab_dir/home/job-$job.out")" = 2 ]
	within 20 eval '[ "$(sacct -D -X -n -P -o state -j "$job" | sort | paste -sd,)" = COMPLETED,NODE_FAIL ]'
}

@test "one node of two: the whole job is requeued and runs again on two" {
	job=$(job -N2 --exclusive --requeue --wrap "$again")
	within 30 runs "$job"
	node=$(scontrol show hostnames "$(job_nodes "$job")" | head -n 1)
	sim_reclaim "$node" 15000
	within 10 job_is "$job" PENDING
	within 60 job_is "$job" COMPLETED
	ran_twice "$job"
	restarted "$job" 1
}

@test "a suspended job is followed and requeued like one that runs" {
	job=$(job -N1 --exclusive --requeue --wrap "$again")
	within 30 runs "$job"
	node=$(job_nodes "$job")
	scontrol suspend "$job"
	within 5 job_is "$job" SUSPENDED
	burstctl notice "$node" --kind reclaim
	within 10 restarted "$job" 1
	burstctl events | grep -w "$node" | grep -q "job-taken.*job $job loses this node"
	# Whoever suspended it holds it: so slurmctld has it.
	within 10 eval 'burstctl events | grep -q "job-requeued.*job $job: it was requeued, and is held"'
	scontrol release "$job"
	within 60 job_is "$job" COMPLETED
}

@test "while it boots: the job gets another node" {
	sim_config '{"boot_never": ["c*"]}'
	job=$(job -N1 --exclusive --requeue --wrap 'sleep 1')
	within 15 job_is "$job" CONFIGURING
	node=$(job_nodes "$job")
	within 10 alive 1
	id=$(instance_of "$node")
	sim_config '{"boot_never": []}'
	sim_reclaim "$node" 4000
	within 15 instance_is "$id" ended
	within 90 job_is "$job" COMPLETED
	[ "$(new_rows)" = 2 ]
}

@test "a job that may not be requeued is ended, and its node is free for others" {
	job=$(job -N1 --exclusive --no-requeue --wrap "$again")
	within 30 job_is "$job" RUNNING
	node=$(job_nodes "$job")
	sim_reclaim "$node" 10000
	within 10 job_is "$job" NODE_FAIL
	within 10 eval 'burstctl events | grep -q "job-ended.*job $job: it ended as NODE_FAIL and was not requeued"'
	within 30 powered_down "$node"
	next=$(job -N1 --exclusive -w "$node" --wrap 'sleep 1')
	within 40 job_is "$next" COMPLETED
	[ "$(new_rows)" = 2 ]
}

@test "no duplicate and no leaked second in all of this" {
	calm
	audit
}
