#!/usr/bin/env bats
# F37: a cloud gives the address of a machine that has ended to the next one at once.  Each job runs where it should, also
# while slurmctld still has the address for a node whose machine vanished.

# Variables from the helper; scripts for the job to expand.
# shellcheck disable=SC2016,SC2030,SC2031,SC2034,SC2154
load helper
LAB_SIM_CONFIG='{"addr_reuse": "0s"}'
LAB_LIST_EVERY=1s

setup() {
	within 30 all_down
	within 20 alive 0
}

# address NODE: of its machine, as the cloud has it
address() {
	sim_of /admin/instances ".instances[] | select(.state != \"ended\" and .name == \"$1\") | .address"
}

# known NODE: as slurmctld has it
known() {
	scontrol -o show node "$1" | sed -n 's/.* NodeAddr=\([^ ]*\).*/\1/p'
}

# on_node NODE: a job there that says where it runs, until it is over
on_node() {
	job -w "$1" -N1 --exclusive --requeue --wrap "echo \$SLURMD_NODENAME \$(hostname); $until_over; echo done"
}

said() {
	cat "$lab_dir/home/job-$1.out" 2>/dev/null
}

@test "the next node gets the address of one that is gone, and each is at its own" {
	first=$(on_node c1)
	within 30 job_is "$first" RUNNING
	old=$(address c1)
	[ "$(known c1)" = "$old" ]
	over "$first"
	within 30 job_is "$first" COMPLETED
	within 30 powered_down c1
	within 20 alive 0
	second=$(on_node c2)
	within 30 job_is "$second" RUNNING
	[ "$(address c2)" = "$old" ]
	[ "$(known c2)" = "$old" ]
	[ "$(known c1)" = c1 ] # none
	first=$(on_node c1)
	within 30 job_is "$first" RUNNING
	new=$(address c1)
	[ "$new" != "$old" ]
	[ "$(known c1)" = "$new" ]
	within 10 eval '[ "$(said "$first") $(said "$second")" = "c1 c1 c2 c2" ]'
	# slurmctld has it so after a restart.
	lab_stop slurmctld
	lab_start slurmctld
	[ "$(known c1) $(known c2)" = "$new $old" ]
	over "$first" "$second"
	within 30 job_is "$first" COMPLETED
	within 30 job_is "$second" COMPLETED
}

@test "a machine vanishes, and another node's has its address before anybody knows" {
	lost=$(on_node c1)
	within 30 eval '[ "$(said "$lost")" = "c1 c1" ]' # it has begun
	old=$(address c1)
	# burstd sees no list until the other machine is there.
	sim_hold list before
	within 10 sim_held
	sim POST /admin/kill '{"node": "c1"}' >/dev/null
	other=$(on_node c3)
	within 30 eval '[ "$(address c3)" = "$old" ]'
	[ "$(known c1)" = "$old" ]
	sim_faults_clear
	within 40 job_is "$other" RUNNING
	# The lost one is requeued, and runs on another machine; the other does not notice.
	over "$lost"
	within 60 job_is "$lost" COMPLETED
	[ "$(said "$lost")" = $'c1 c1\nc1 c1\ndone' ]
	[ "$(sacct -nXD -j "$lost" -o state%20 | grep -c NODE_FAIL)" = 1 ]
	job_is "$other" RUNNING
	over "$other"
	within 30 job_is "$other" COMPLETED
	[ "$(said "$other")" = $'c3 c3\ndone' ]
}

@test "no duplicate and no leaked second in all of this" {
	audit
}
