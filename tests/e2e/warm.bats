#!/usr/bin/env bats
# Nodes that are up without a job: a pool that keeps some warm, and one whose provider bills by the quantum.

# Variables from the helper; what is to be expanded again and again.
# shellcheck disable=SC2016,SC2034,SC2154
load helper
LAB_POOL='warm = 2'

release=$(lab_slurm_version)

# Before 23.02 burstd cannot tell slurmctld which nodes to keep: slurm.conf has to.
by_name() {
	[ "$release" -ge 2302 ]
}
by_name || LAB_SLURM_EXTRA="SuspendExcNodes=c[1-$LAB_NODES]:2"

# keeps [N]: slurm.conf keeps so many nodes, or none
keeps() {
	local value
	sed '/^SuspendExcNodes=/d' -i /etc/slurm/slurm.conf
	if [ -n "${1-}" ]; then
		value=c[1-$LAB_NODES]:$1
		echo "SuspendExcNodes=$value" >>/etc/slurm/slurm.conf
	fi
	reconfigure
	[ -z "${1-}" ] || within 10 eval '[ "$(kept)" = "$value" ]'
	burstctl reconcile
}

# slurmctld answers before it has done it.
reconfigure() {
	scontrol reconfigure
	sleep 1
}

kept() {
	scontrol show config | sed -n 's/^SuspendExcNodes *= //p'
}

# pool LINE: in place of the line of that option, and burstd reads it
pool() {
	sed "/^[[:space:]]*${1%% *} /d; s/^\([[:space:]]*\)max_nodes .*/&\n$1/" -i /etc/burstd/burstd.conf
	burstctl reload
}

up() {
	scontrol -o show nodes | sed -n 's/ Reason=.*//; s/NodeName=\([^ ]*\) .* State=\([^ ]*\) .*/\1 \2/p' |
		grep -Ev 'POWERED_DOWN|POWERING|POWER_DOWN|DOWN|DRAIN|NOT_RESP' | cut -d' ' -f1
}

has_up() {
	[ "$(up | wc -l)" = "$1" ]
}

# Time for slurmctld to power down what it would not keep.
suspend_time() {
	sleep $((LAB_SUSPEND_TIME + LAB_SUSPEND_TIMEOUT + 3))
}

warm() {
	burstctl status --json | jq -r '.pools[0] | "\(.warm) of \(.warm_wanted)"'
}

warm_is() {
	[ "$(warm)" = "$1" ]
}

@test "two nodes come up without a job, and stay" {
	within 60 has_up 2
	within 10 warm_is "2 of 2"
	run -0 burstctl status
	[[ $output == *'2 ready; 2 of 2 warm'* ]]
	[[ $output != *SuspendExcNodes* ]]
	suspend_time
	[ "$(up | paste -sd,)" = c1,c2 ]
	[ "$(sim_rows)" = 2 ]
	run -0 curl -sS http://127.0.0.1:9818/metrics
	[[ $output == *'burstd_pool_warm_wanted{pool="h100"} 2'* ]]
	[[ $output == *'burstd_pool_warm{pool="h100"} 2'* ]]
}

@test "a job starts on them at once, nothing is bought for it, and they stay when it has ended" {
	id=$(job -N2 --exclusive --wrap "$until_over")
	within 3 job_is "$id" RUNNING
	over "$id"
	within 20 job_is "$id" COMPLETED
	suspend_time
	has_up 2
	[ "$(sim_rows)" = 2 ]
}

@test "a job that wants more gets more, and those go when they are idle" {
	id=$(job -N4 --exclusive --wrap 'sleep 1')
	within 60 job_is "$id" COMPLETED
	[ "$(sim_rows)" = 4 ]
	within 30 has_up 2
	within 30 alive 2
	suspend_time
	has_up 2
}

@test "one that ends by itself is replaced" {
	rows=$(sim_rows)
	victim=$(up | head -n 1)
	sim_kill "$victim"
	# After SlurmdTimeout, 20 s.
	within 60 eval "[ \$(sim_rows) -gt $rows ]"
	within 60 has_up 2
	within 60 alive 2
	within 10 warm_is "2 of 2"
}

@test "one that an admin drains counts no more, and another takes its place" {
	rows=$(sim_rows)
	burstctl drain "$(up | head -n 1)"
	within 60 eval "[ \$(sim_rows) -gt $rows ]"
	within 60 has_up 2
	within 60 alive 2
}

@test "where slurm.conf would keep fewer, no more are bought, and burstctl says so" {
	keeps 1
	within 20 eval 'burstctl status | grep -F "SuspendExcNodes is c[1-8]:1, and pool h100 keeps 2 warm, wanted c[1-8]:2"'
	rows=$(sim_rows)
	within 60 has_up 1
	suspend_time
	has_up 1
	[ "$(sim_rows)" = "$rows" ]
	warm_is "1 of 2"
	if by_name; then keeps; else keeps 2; fi
	within 20 eval '! burstctl status | grep -F "SuspendExcNodes is"'
	within 60 has_up 2
	within 10 warm_is "2 of 2"
}

@test "restarted, burstd keeps those that are there" {
	rows=$(sim_rows) was=$(up)
	lab_kill burstd
	lab_start burstd
	within 30 warm_is "2 of 2"
	suspend_time
	[ "$(up)" = "$was" ]
	[ "$(sim_rows)" = "$rows" ]
}

@test "slurmctld reconfigured: they are kept, or others come" {
	reconfigure
	burstctl reconcile
	within 60 eval 'has_up 2 && warm_is "2 of 2"'
	suspend_time
	has_up 2
}

@test "paused, or with warm = 0, the pool keeps none" {
	burstctl pause h100
	by_name || keeps
	within 30 has_up 0
	within 30 alive 0
	suspend_time
	burstctl resume h100
	by_name || keeps 2
	within 60 has_up 2
	pool 'warm = 0'
	by_name || keeps
	within 30 has_up 0
	within 30 alive 0
	[ "$(warm)" = "null of null" ]
	within 10 eval '[ "$(kept)" = "(null)" ]'
}

@test "an admin's own names in SuspendExcNodes are left alone" {
	by_name || skip "before 23.02 nothing is changed there"
	sed '/^SuspendExcNodes=/d' -i /etc/slurm/slurm.conf
	{ echo NodeName=own1; echo SuspendExcNodes=own1; } >>/etc/slurm/slurm.conf
	reconfigure
	burstctl reconcile
	pool 'warm = 1'
	within 60 eval '[ "$(kept)" = c1,own1 ]'
	pool 'warm = 0'
	within 30 eval '[ "$(kept)" = own1 ]'
	within 30 alive 0
}

# 2 min before the quantum ends a node goes: 30 s after it began here.
@test "a node stays for the time that is paid, and goes before the next begins" {
	pool 'quantum = "150s"'
	if ! by_name; then
		burstctl reconcile
		within 20 eval 'burstctl status | grep -F "SuspendExcNodes is not set in 22.05"'
		skip "before 23.02 slurmctld powers it down at SuspendTime"
	fi
	id=$(job -N1 --wrap 'sleep 1')
	within 20 job_is "$id" COMPLETED
	within 5 eval '[ "$(burstctl status --json | jq .pools[0].paid)" = 1 ]'
	suspend_time
	has_up 1
	[[ $(burstctl status) == *'1 ready; 1 paid for'* ]]
	# The same node is there for the next job.
	id=$(job -N1 --wrap "$until_over")
	within 3 job_is "$id" RUNNING
	over "$id"
	within 20 job_is "$id" COMPLETED
	start=$(sim_of /admin/meter '.rows[-1].start_ms / 1000 | floor')
	while [ $((EPOCHSECONDS - start)) -lt 22 ]; do
		has_up 1
		sleep 1
	done
	within 15 has_up 0
	within 20 alive 0
	pool 'quantum = "0s"'
}

@test "simcloud's verdict on all of it: nothing leaked, nothing twice" {
	audit
}
