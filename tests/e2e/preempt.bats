#!/usr/bin/env bats
# Scavengers: jobs of a partition below another, preempted and requeued as `burstctl slurm-conf` advises, on a pool that is full.
# Who pays gets the scavenger's machine, not a new one, and each account's money is its own: in budgets and in the ledger.

# Variables from the helper; scripts for the job to expand.
# shellcheck disable=SC2016,SC2030,SC2031,SC2034,SC2154
LAB_NODES=2
load helper
LAB_MAX_RATE=100
LAB_RESUME_TIMEOUT=660
LAB_POOL='node = "CPUs=8 RealMemory=1000" gres = "gpu:h100:8"'

second=8200000 # of a machine for 29.52 an hour, in nano-units

setup_file() {
	own_lab || return
	lab_files && lab_slurm_conf && lab_burstd_conf || return
	sed -i 's/Nodes=ALL/Nodes=c[1-2] PriorityTier=10/' /etc/slurm/slurm.conf
	echo 'PartitionName=spare Nodes=c[1-2] PriorityTier=1 State=UP' >>/etc/slurm/slurm.conf
	heed 'Preempt[A-Za-z]*'
	budgets
	local name
	for name in $lab_programs; do
		lab_start "$name" || return
		[ "$name" != slurmdbd ] || accounts || return
	done
}

budgets() {
	cat >>/etc/burstd/burstd.conf <<-'C'
		budget "spare"  { accounts = {"spare"}  amount = "100" }
		budget "paying" { accounts = {"paying"} amount = "100" }
		budget "all"    { amount = "1000" }
	C
}

accounts() {
	local a
	for a in spare paying; do
		sacctmgr -i add account $a || return
		sacctmgr -i add user researcher account=$a || return
	done >/dev/null
}

setup() {
	calm
	rows=$(sim_rows)
	slurmctld_log_from_now
}

# spare MINUTES, paying MINUTES: a job of one node
spare() {
	job -p spare -A spare -N1 --exclusive --requeue --time="$1" --wrap "$until_over"
}

paying() {
	job -p cloud -A paying -N1 --exclusive --time="$1" --wrap "$until_over"
}

# machine NODE: which one it is, and the how manieth
machine() {
	burstctl node show "$1" --json | jq -r '"\(.instance) \(.generation)"'
}

# money BUDGET FIGURE: in nano-units
money() {
	burstctl budget show "$1" --json | jq ".budgets[0].$2 | tonumber * 1e9 | round"
}

# between LOW VALUE HIGH, in seconds of a machine
between() {
	echo "$2 is to be of $1 to $3 s"
	[ "$2" -ge $(($1 * second)) ] && [ "$2" -le $(($3 * second)) ]
}

# holds BUDGET LOW HIGH: so much is set aside
holds() {
	between "$2" "$(money "$1" held)" "$3"
}

preempted_for() {
	slurmctld_log | grep -q "preempted JobId=$1 has been requeued to reclaim resources for JobId=$2"
}

# elapsed JOB STATE: for how many seconds it ran until it was that, by slurmdbd
elapsed() {
	sacct -nDX -P -j "$1" -o state,elapsedraw | sed -n "s/^$2|//p"
}

# cost ACCOUNT CLASS: in all, by the ledger
cost() {
	ledger report --by account,class --json | jq --arg a "$1" --arg c "$2" \
		'[.rows[] | select(.account == $a and .class == $c).cost | tonumber * 1e9 | round] | add // 0'
}

ledger() {
	lab_as slurm "$LAB_BIN/burst-ledger" "$@"
}

# accounted JOB...: slurmdbd knows of their ends, and the ledger has read that
accounted() {
	local j
	for j; do within 30 eval '[ -n "$(elapsed "$j" COMPLETED)" ]'; done
	ledger once
}

@test "slurm-conf asks for preempt/partition_prio and REQUEUE, and then for nothing more" {
	paste -sd' ' "$lab_dir/heeded" | tee /dev/stderr | grep -xF 'PreemptType=preempt/partition_prio PreemptMode=REQUEUE'
	scontrol show config | grep -E '^PreemptType *= preempt/partition_prio$'
	scontrol show config | grep -E '^PreemptMode *= REQUEUE$'
	run "$lab_dir/bin/burstctl" slurm-conf
	run ! grep -i preempt <<<"$output"
}

@test "a scavenger gives its machine to a job that pays, is requeued, and has it again; each account pays for its time" {
	local other scavenger payer node is before all
	other=$(paying 20)
	within 60 job_is "$other" RUNNING
	scavenger=$(spare 10)
	within 60 job_is "$scavenger" RUNNING
	node=$(job_nodes "$scavenger") is=$(machine "$node")
	echo "$node is $is"
	[[ $is = sim-*' 1' ]]
	within 60 holds spare 602 635
	[ "$(money spare spent)" -gt 0 ] # its boot
	[ "$(sim_rows)" = $((rows + 2)) ]
	before=$(money paying held)
	sleep 3
	payer=$(paying 5)
	within 20 job_is "$payer" RUNNING
	preempted_for "$scavenger" "$payer"
	job_is "$scavenger" PENDING
	[ "$(job_nodes "$payer")" = "$node" ]
	[ "$(machine "$node")" = "$is" ]
	[ "$(sim_rows)" = $((rows + 2)) ]
	# What the scavenger will not use is free at once, and what it has used is spent.
	within 60 eval 'holds spare 0 0 && between 302 $(($(money paying held) - before)) 335'
	between 3 "$(money spare spent)" 90
	all=$(money all held)
	lab_kill burstd
	lab_start burstd
	sleep 5 # it looks at jobs at once, and then knows no settings of slurmctld's yet
	holds spare 0 0
	between 302 $(($(money paying held) - before)) 335
	[ "$(money all held)" -le "$all" ]
	over "$payer"
	within 60 job_is "$scavenger" RUNNING
	[ "$(job_nodes "$scavenger")" = "$node" ]
	[ "$(machine "$node")" = "$is" ]
	within 60 eval 'holds spare 602 635 && [ "$(money paying held)" -le "$before" ]'
	job_is "$other" RUNNING
	[ "$(sim_rows)" = $((rows + 2)) ]
	over "$scavenger" "$other"
	within 60 alive 0
	accounted "$scavenger" "$payer" "$other"
	ledger job "$scavenger" --explain
	[ "$(cost spare run)" = $((second * ($(elapsed "$scavenger" PREEMPTED) + $(elapsed "$scavenger" COMPLETED)))) ]
	[ "$(cost paying run)" = $((second * ($(elapsed "$payer" COMPLETED) + $(elapsed "$other" COMPLETED)))) ]
	[ "$(cost spare boot)" -gt 0 ]
	[ "$(ledger job "$scavenger" --json | jq -c '[.attempts[].state]')" = '["PREEMPTED","COMPLETED"]' ]
}

@test "one that still boots gives up its machine, too: it is not ended, and boots on for the job that pays" {
	local other scavenger payer node is boot
	other=$(paying 20)
	within 60 job_is "$other" RUNNING
	ledger once
	boot=$(cost spare boot)
	hold_boots
	scavenger=$(spare 10)
	within 30 eval '[ "$(sim_rows)" = $((rows + 2)) ]'
	within 30 job_is "$scavenger" CONFIGURING
	node=$(job_nodes "$scavenger") is=$(machine "$node")
	payer=$(paying 5)
	within 20 job_is "$payer" CONFIGURING
	preempted_for "$scavenger" "$payer"
	[ "$(job_nodes "$payer")" = "$node" ]
	sleep 7 # longer than slurmctld keeps the scavenger from starting
	[ "$(burstctl node show "$node" --json | jq -r .state)" = booting ]
	let_boot
	within 60 job_is "$payer" RUNNING
	[ "$(machine "$node")" = "$is" ]
	[ "$(sim_rows)" = $((rows + 2)) ]
	over "$payer"
	within 60 job_is "$scavenger" RUNNING
	[ "$(machine "$node")" = "$is" ]
	# It is not looked at any longer: slurmctld 22.05 still has it preempted, and requeues it once more within half a minute.
	scancel "$scavenger"
	over "$other"
	within 60 alive 0
	accounted "$payer" "$other"
	# A boot is the job's that the machine was bought for.
	[ "$(($(cost spare boot) - boot))" -ge $((7 * second)) ]
}

# backfill_every SECONDS: backfill looks no more often.  It takes a node that is up before one that is off, and preempts; the
# main scheduler, which is the first to see a job, does not.
backfill_every() {
	sed -i "s/bf_interval=[0-9]*/bf_interval=$1/" /etc/slurm/slurm.conf
	scontrol reconfigure
}

@test "with fewer machines than names a job may wait and preempt nobody: slurm-conf says so; it preempts once names are drained" {
	local scavenger payer off
	sed -i 's/max_nodes .*/max_nodes = 1/' /etc/burstd/burstd.conf
	burstctl reload
	run "$lab_dir/bin/burstctl" slurm-conf
	echo "$output"
	grep -qE 'burstd.conf:[0-9]+: advice: pool "h100": max_nodes 1 is less than its 2 nodes; write as many nodes: ' <<<"$output"
	backfill_every 600
	scavenger=$(spare 10)
	within 60 job_is "$scavenger" RUNNING
	payer=$(paying 5)
	within 30 eval 'scontrol show job "$payer" | grep -q "AdminComment=burstd: pool h100: max_nodes 1 reached"'
	job_is "$scavenger" RUNNING
	off=$(if powered_down c1; then echo c1; else echo c2; fi)
	scontrol update nodename="$off" state=DRAIN reason='not to be bought'
	within 10 job_is "$payer" PENDING
	scontrol update jobid="$payer" starttime=now
	within 30 job_is "$payer" RUNNING
	preempted_for "$scavenger" "$payer"
	[ "$(sim_rows)" = $((rows + 1)) ]
	scontrol update nodename="$off" state=RESUME
	scancel "$scavenger"
	over "$payer"
	within 60 alive 0
	sed -i 's/max_nodes .*/max_nodes = 2/' /etc/burstd/burstd.conf
	burstctl reload
	backfill_every 1
}

@test "the ledger adds up, budgets have the same figures, and no second was leaked" {
	calm
	within 60 eval 'ledger once && [ "$(ledger status --json | jq .budget_jobs_wait)" = 0 ]'
	run ledger verify
	[[ $status = 0 && $output = *good* && $output != *NOT* ]]
	run ledger status --json
	echo "$output"
	[ "$(jq -c '[.budgets_differ, .differ, .budget_jobs_differ, .jobs_differ]' <<<"$output")" = '[0,[],0,[]]' ]
	[ "$(jq -r '.budget_jobs_agree + .budget_jobs_explained' <<<"$output")" -ge 2 ]
	audit
}
