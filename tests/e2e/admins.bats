#!/usr/bin/env bats
# What admins do to nodes, partitions and slurmctld while burstd works.  Their reasons are theirs: burstd may set one that
# begins with "burstd:", and says nothing about nodes that it was not given.

# Variables from the helper; scripts for the job to expand.
# shellcheck disable=SC2016,SC2034,SC2154
load helper
LAB_SUSPEND_TIME=4

setup() {
	calm
	rows=$(sim_rows)
	slurmctld_log_from_now
}

teardown() {
	[ -n "${BATS_TEST_COMPLETED-}" ] || lab_logs
	scontrol update partition=cloud state=UP
	scontrol delete reservation=maint 2>/dev/null || true
	grep -q 'c\[1-8\]' /etc/burstd/burstd.conf || give_back_c8
}

# After a test that took it out of its pool, with a machine of the admin's own.
give_back_c8() {
	sim_kill c8
	scontrol update nodename=c8 state=POWER_DOWN_FORCE reason='admin: mine'
	lab_stop burstd
	lab_burstd_conf
	lab_start burstd
}

new_rows() {
	echo $(($(sim_rows) - rows))
}

# What was done to NODE by scontrol in this test, as slurmctld's log has it
updates() {
	slurmctld_log | grep "update_node: node $1 " || true
}

# log_ms LINE: the time at its beginning
log_ms() {
	local at=${1%%]*}
	date -d "${at#[}" +%s%3N
}

reason() {
	scontrol -o show node "$1" | sed -n 's/.* Reason=\(.*\) \[.*/\1/p'
}

# up NODE: by hand, and idle
up() {
	node_is "$1" IDLE && node_is_not "$1" 'POWER|NOT_RESPONDING'
}

boot_time() {
	scontrol -o show node "$1" | sed -n 's/.* BootTime=\([^ ]*\).*/\1/p'
}

instance_of() {
	burstctl nodes --json | jq -r --arg n "$1" '.nodes[] | select(.name == $n) | .instance'
}

@test "nodes that no pool names are left alone" {
	# An address, that is all; or slurmctld tries to resolve its name for 10 s, deaf to all else.
	echo '10.77.255.8 c8' >>/etc/hosts
	lab_stop burstd
	sed 's/c\[1-8\]/c[1-7]/' -i /etc/burstd/burstd.conf
	lab_start burstd
	stranger=$(job -w c8 --exclusive --wrap true)
	within 20 node_is c8 POWERING_UP
	ours=$(job -w c1 --exclusive --wrap true)
	within 30 job_is "$ours" COMPLETED
	scontrol update nodename=c8 state=DRAIN reason='admin: not for burstd'
	sleep 2
	# slurmctld waits for it, and for ever: nothing is bought, forced or brought back.
	node_is c8 POWERING_UP
	[ "$(reason c8)" = 'admin: not for burstd' ]
	updates c8
	[ "$(updates c8 | grep -c 'reason set')" = 1 ]
	burstctl events --json | grep -q '1 nodes that no pool names'
	[ "$(new_rows)" = 1 ]
	scancel "$stranger"
	cp "$lab_dir/hosts-extra" /etc/hosts
	lab_stop burstd
	lab_burstd_conf
	lab_start burstd
}

@test "POWER_UP by hand, and again while it boots: one instance, which sits idle and goes by SuspendTime" {
	hold_boots
	scontrol update nodename=c1 state=POWER_UP
	within 20 alive 1
	scontrol update nodename=c1 state=POWER_UP
	# ResumeProgram is called anew.
	within 10 eval '[ "$(slurmctld_log | lab_calls resume c1 | wc -l)" = 2 ]'
	let_boot
	within 20 up c1
	within 10 burstd_has 1 ready
	[ "$(new_rows)" = 1 ]
	within 20 node_is c1 POWERING_DOWN
	idle=$(slurmctld_log | grep ' Node c1 now responding$' | head -n 1)
	goes=$(slurmctld_log | lab_calls suspend c1 | head -n 1)
	echo "$idle; $goes"
	[ $(($(log_ms "$goes") - $(log_ms "$idle"))) -ge 3500 ]
	within 20 powered_down c1
	within 20 alive 0
	[ "$(new_rows)" = 1 ]
	[ "$(updates c1 | grep -c burstd)" = 0 ]
}

@test "a drain while the node boots: the job goes elsewhere, the node comes up drained and goes by SuspendTime" {
	hold_boots
	job=$(job -N1 --exclusive --wrap 'sleep 1')
	within 20 alive 1
	node=$(job_nodes "$job")
	scontrol update nodename="$node" state=DRAIN reason='admin: a=b "disk" State=IDLE'
	within 10 job_is "$job" PENDING
	let_boot
	within 20 node_is_not "$node" 'POWER|NOT_RESPONDING'
	node_is "$node" DRAIN
	[ "$(reason "$node")" = 'admin: a=b "disk" State=IDLE' ]
	within 40 job_is "$job" COMPLETED
	[ "$(job_nodes "$job")" != "$node" ]
	within 30 powered_down "$node"
	updates "$node"
	[ "$(updates "$node" | grep -c burstd)" = 0 ]
	[ "$(new_rows)" = 2 ]
}

@test "a drain while a job runs: it ends in peace, then the node goes" {
	job=$(job -N2 --exclusive --wrap "$until_over")
	within 30 job_is "$job" RUNNING
	node=$(scontrol show hostnames "$(job_nodes "$job")" | head -n 1)
	scontrol update nodename="$node" state=DRAIN reason='admin: fan'
	job_is "$job" RUNNING
	over "$job"
	within 20 job_is "$job" COMPLETED
	within 5 node_is "$node" 'IDLE.*DRAIN'
	[ "$(reason "$node")" = 'admin: fan' ]
	within 30 powered_down "$node"
	within 20 alive 0
	[ "$(updates "$node" | grep -c burstd)" = 0 ]
	[ "$(new_rows)" = 2 ]
}

@test "scontrol reboot of an idle node: the instance stays, and is used again" {
	scontrol update nodename=c1 state=POWER_UP
	within 20 up c1
	within 10 burstd_has 1 ready
	instance=$(instance_of c1)
	booted=$(boot_time c1)
	# In the second in which it booted, slurmctld would take any answer of it for the end of the reboot.
	within 5 eval '[ "$(date +%FT%T)" != "$booted" ]'
	scontrol reboot ASAP nextstate=RESUME reason='admin: kernel' c1
	within 20 node_is c1 REBOOT_ISSUED
	within 30 up c1
	[ "$(boot_time c1)" != "$booted" ]
	[ "$(instance_of c1)" = "$instance" ]
	burstd_has 1 ready
	job=$(job -w c1 --exclusive --wrap hostname)
	within 30 job_is "$job" COMPLETED
	[ "$(new_rows)" = 1 ]
	[ "$(updates c1 | grep -c burstd)" = 0 ]
}

@test "scontrol reboot of a busy node: after its job, on the same instance" {
	job=$(job -w c1 --exclusive --wrap "$until_over")
	within 30 job_is "$job" RUNNING
	within 10 burstd_has 1 ready
	instance=$(instance_of c1)
	booted=$(boot_time c1)
	# Not in the second in which it booted, as above.
	within 5 eval '[ "$(date +%FT%T)" != "$booted" ]'
	scontrol reboot ASAP nextstate=RESUME reason='admin: kernel' c1
	job_is "$job" RUNNING
	over "$job"
	within 20 job_is "$job" COMPLETED
	within 30 node_is c1 REBOOT_ISSUED
	within 30 up c1
	[ "$(boot_time c1)" != "$booted" ]
	[ "$(instance_of c1)" = "$instance" ]
	alive 1
	[ "$(new_rows)" = 1 ]
	[ "$(updates c1 | grep -c burstd)" = 0 ]
}

@test "a maintenance reservation: its nodes are bought for its own jobs only, and go as ever" {
	scontrol create reservation reservationname=maint starttime=now duration=10 users=researcher nodes='c[1-2]' \
		flags=maint >/dev/null
	within 10 node_is 'c[1-2]' MAINT
	waits=$(job -N7 --exclusive --wrap 'sleep 1')
	mine=$(job -N2 --reservation=maint --exclusive --wrap 'sleep 1')
	within 40 job_is "$mine" COMPLETED
	[ "$(job_nodes "$mine")" = 'c[1-2]' ]
	job_is "$waits" PENDING
	scancel "$waits"
	[ "$(new_rows)" = 2 ]
	within 30 node_is 'c[1-2]' POWERED_DOWN
	within 20 alive 0
	node_is 'c[1-2]' MAINT
	[ "$(updates 'c[12]' | grep -c burstd)" = 0 ]
}

@test "scontrol reconfigure while nodes boot: the job runs on the same instances" {
	hold_boots
	job=$(job -N2 --exclusive --wrap 'sleep 1')
	within 20 alive 2
	job_is "$job" CONFIGURING
	scontrol reconfigure
	# It reads its files anew, or (from 23.11 on) starts itself anew.
	slurmctld_log | grep 'rpc_reconfigure_controller: completed\|Attempting to reconfigure'
	job_is "$job" CONFIGURING
	let_boot
	within 40 job_is "$job" COMPLETED
	[ "$(new_rows)" = 2 ]
}

@test "a partition put DOWN: what boots runs, what waits buys nothing until it is UP" {
	hold_boots
	first=$(job -N1 --exclusive --wrap 'sleep 1')
	within 20 alive 1
	job_is "$first" CONFIGURING
	scontrol update partition=cloud state=DOWN
	second=$(job -N2 --exclusive --wrap 'sleep 1')
	let_boot
	within 30 job_is "$first" COMPLETED
	job_is "$second" PENDING
	[ "$(new_rows)" = 1 ]
	scontrol update partition=cloud state=UP
	within 40 job_is "$second" COMPLETED
	[ "$(new_rows)" -le 3 ]
}

@test "a node that was taken out of its pool is left alone" {
	job=$(job -w c8 --exclusive --wrap true)
	within 30 job_is "$job" COMPLETED
	calm
	lab_stop burstd
	sed 's/c\[1-8\]/c[1-7]/' -i /etc/burstd/burstd.conf
	lab_start burstd
	slurmctld_log_from_now
	# The admin has a machine for it.
	scontrol update nodename=c8 state=POWER_UP
	within 20 node_is c8 POWERING_UP
	sim POST /v1/instances '{"cluster": "mine", "type": "cpu_4x", "region": "eu-north-1", "market": "on-demand",
		"instances": [{"name": "c8", "generation": 1}]}' >/dev/null
	within 20 node_is_not c8 'POWER|NOT_RESPONDING'
	[ "$(new_rows)" = 2 ]
	scontrol update nodename=c8 state=DOWN reason='admin: mine'
	sleep 4
	slurmctld_log | grep 'update_node: node c8 '
	[ "$(slurmctld_log | grep -c 'update_node: node c8 .*burstd')" = 0 ]
}

@test "a node that is not in slurm.conf: slurmctld does no more of an order than up to it, and the others have theirs at once" {
	lab_stop burstd
	# By name, where there are no addresses; each job has a request of its own.
	run scontrol update nodename=c2,b1,c1 state=DOWN reason='admin: facts'
	[ "$status" = 1 ]
	[ "$output" = 'slurm_update error: Invalid node name specified' ]
	node_is_not 'c[1-2]' '^DOWN'
	run scontrol update nodename=c1,b1,c2 nodeaddr=192.0.2.1,192.0.2.2,192.0.2.3 nodehostname=c1,b1,c2
	[ "$status" = 1 ]
	[ "$(scontrol -o show nodes 'c[1-2]' | grep -o ' NodeAddr=[^ ]*' | paste -sd,)" = ' NodeAddr=192.0.2.1, NodeAddr=c2' ]
	scontrol update nodename=c1 nodeaddr=c1 nodehostname=c1
	held=$(job -H --wrap true)
	run scontrol update jobid="999999,$held" AdminComment='admin: facts'
	[ "$status" = 1 ]
	[ "$output" = 'Invalid job id specified for job 999999' ]
	[ "$(squeue -h -j "$held" -O admin_comment:40 | xargs)" = 'admin: facts' ]
	scancel "$held"

	sed 's/c\[1-8\]/b1,c[1-8]/' -i /etc/burstd/burstd.conf
	lab_start burstd
	slurmctld_log_from_now
	scontrol setdebug debug2
	hook resume 'b1,c[7-8]'
	within 20 eval 'slurmctld_log | grep "_slurm_rpc_update_node for b1: Invalid node name"'
	within 20 eval 'slurmctld_log | grep "_slurm_rpc_update_node complete for c7,c8"'
	scontrol setdebug info
	grep 'slurmctld refused an update.*slurmctld does not know b1: ' /var/log/burstd.log
	sim_kill b1 # slurmctld never says that it is to go
	within 20 burstd_has 0 ANY
	lab_stop burstd
	lab_burstd_conf
	lab_start burstd
}

@test "no duplicate and no leaked second in all of this" {
	calm
	audit
}
