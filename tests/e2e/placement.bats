#!/usr/bin/env bats
# A pool with several offers (docs/placement.md): what one place refuses the next one gives, in one pass; a job that none
# may serve waits, and says why.  Judged by simcloud's record of calls and instances, and by what slurmctld shows.

# Variables from the helper; scripts for the job to expand.
# shellcheck disable=SC2016,SC2034,SC2154
LAB_NODES=40 LAB_MAX_RATE=100000 LAB_REGIONS=us-east-1
load helper
LAB_RESUME_TIMEOUT=100
# Longer than any test: a place that refused is not asked again, unless a test says so.
LAB_COOLDOWN=10m
near=$(lab_offer near eu-north-1a on-demand)
far=$(lab_offer far eu-north-1b on-demand)
spot=$(lab_offer spot eu-north-1a spot)
abroad=$(lab_offer abroad us-east-1a on-demand)
LAB_OFFERS="$near $far"

setup() {
	calm
	rows=$(sim_rows)
}

teardown() {
	[ -n "${BATS_TEST_COMPLETED-}" ] || lab_logs
	sim_faults_clear
	sim_config '{"boot": null}'
	scontrol update partition=cloud state=UP
}

# shop ZONE MARKET N|null...: what simcloud sells, and how many of each there are
shop() {
	local all='' price
	for (( ; $# > 0; )); do
		[ "$2" = spot ] && price=12.00 || price=29.52
		all+="${all:+,}{\"type\": \"gpu_8x_h100\", \"region\": \"${1%?}\", \"zone\": \"$1\", \"market\": \"$2\",
			\"price\": \"$price\", \"currency\": \"EUR\", \"capacity\": $3}"
		shift 3
	done
	sim_config "{\"offers\": [$all]}"
	sim DELETE /admin/stats >/dev/null
}

# buy_from OFFER...: burstd does from now on, and remembers no refusal
buy_from() {
	LAB_OFFERS="$*"
	lab_stop burstd
	lab_burstd_conf
	lab_start burstd
	seq=$(burstctl events --json --tail 1 | jq -s 'map(.seq) | max // 0')
}

# What was bought since the test began, where: "2 eu-north-1b on-demand", one line for each place
bought() {
	sim_of /admin/meter "[.rows[$rows:][] | \"\(.zone) \(.market)\"] | group_by(.)[] | \"\(length) \(.[0])\""
}

# Create calls since shop, and those in which some instance was refused
creates() {
	sim_of /admin/stats '[.ops.create.answers[]] | add // 0'
}

refused() {
	sim_of /admin/stats .ops.create.refused
}

# asked CALLS REFUSED: exactly so many
asked() {
	echo "$(creates) create calls, $(refused) of them refused something"
	[ "$(creates)" = "$1" ] && [ "$(refused)" = "$2" ]
}

comment() {
	scontrol -o show job "$1" | sed -n 's/.* AdminComment=\(.*\)  *StdErr=.*/\1/p' | head -n 1
}

told() {
	comment "$1" | grep -q "^burstd: .*$2.*next try 20"
}

restarts() {
	scontrol -o show job "$1" | sed -n 's/.* Restarts=\([0-9]*\).*/\1/p'
}

in_one_pass() {
	[ "$(restarts "$1")" = 0 ] && ! grep -q "Requeuing JobId=$1\$" /var/log/slurm/slurmctld.log
}

jobs_are() {
	[ "$(squeue -h -t "$1" | wc -l)" = "$2" ]
}

# seen: burstd has what slurmctld has by now.  Of two answers that come from now on it asked for the second after the first.
seen() {
	local at
	for _ in 1 2; do
		at=$(burstctl status --json | jq .slurm.ok_ms)
		within 20 answered_since "$at"
	done
}

answered_since() {
	[ "$(burstctl status --json | jq .slurm.ok_ms)" -gt "$1" ]
}

@test "the first place has nothing: the job runs from the second in one pass, and later jobs do not ask the first" {
	shop eu-north-1a on-demand 0 eu-north-1b on-demand null
	buy_from "$near" "$far"
	job=$(job -N2 --exclusive --wrap 'sleep 1')
	within 40 job_is "$job" COMPLETED
	in_one_pass "$job"
	[ "$(bought)" = '2 eu-north-1b on-demand' ]
	asked 2 1
	later=$(job -N2 -w 'c[39-40]' --exclusive --wrap 'sleep 1')
	within 40 job_is "$later" COMPLETED
	in_one_pass "$later"
	[ "$(bought)" = '4 eu-north-1b on-demand' ]
	asked 3 1
}

@test "the first place has half of what a job needs: its nodes are not torn, and it runs in one pass" {
	shop eu-north-1a on-demand 2 eu-north-1b on-demand null
	buy_from "$near" "$far"
	job=$(job -N4 --exclusive --wrap 'sleep 1')
	within 40 job_is "$job" COMPLETED
	in_one_pass "$job"
	[ "$(bought)" = '4 eu-north-1b on-demand' ]
	asked 2 1
}

@test "spot has nothing: the job waits for it until fallback_after, and then has on-demand" {
	shop eu-north-1a spot 0 eu-north-1b on-demand null
	LAB_POOL='fallback_after = "12s"'
	buy_from "$spot" "$far"
	job=$(job -N2 --exclusive --wrap 'sleep 1')
	within 20 told "$job" 'far: spot only until '
	until=$(comment "$job" | sed 's/.*spot only until \(....-..-..T..:..:..\)[ ;].*/\1/')
	[ "$(bought)" = '' ]
	asked 1 1
	within 40 job_is "$job" COMPLETED
	[ "$(bought)" = '2 eu-north-1b on-demand' ]
	asked 2 1
	late=$(($(sim_of /admin/meter "[.rows[$rows:][].start_ms] | max") - $(date -d "$until" +%s%3N)))
	echo "bought $late ms after the deadline"
	# slurmctld waits cred_expire before it starts a requeued job again, and looks every other second.
	[ "$late" -ge 0 ] && [ "$late" -le 10000 ]
}

@test "spot is there: nobody has on-demand, deadline or not" {
	shop eu-north-1a spot null eu-north-1b on-demand null
	LAB_POOL='fallback_after = "1s"'
	buy_from "$spot" "$far"
	job=$(job -N2 --exclusive --wrap 'sleep 1')
	within 40 job_is "$job" COMPLETED
	[ "$(bought)" = '2 eu-north-1a spot' ]
	asked 1 0
}

@test "an EU-only pool: its job waits for the EU and says so, and the place abroad is never asked" {
	shop eu-north-1a on-demand 0 us-east-1a on-demand null
	LAB_POOL='jurisdictions = {"EU"}' LAB_COOLDOWN=3s
	buy_from "$abroad" "$near"
	job=$(job -N1 --exclusive --wrap 'sleep 1')
	within 20 told "$job" 'abroad: EU only: us-east-1 is outside; near ([^)]*): no capacity'
	asked 1 1
	within 5 eval 'squeue -h -j "$job" -o %r | grep -q BeginTime'
	# Another try is like the first.
	sleep 3
	scontrol update jobid="$job" StartTime=now
	within 20 eval '[ "$(creates)" = 2 ]'
	within 20 job_is "$job" PENDING
	asked 2 2
	[ "$(bought)" = '' ]
	shop eu-north-1a on-demand 1 us-east-1a on-demand null
	within 20 told "$job" 'EU only'
	sleep 6
	scontrol update jobid="$job" StartTime=now
	within 60 job_is "$job" COMPLETED
	[ "$(bought)" = '1 eu-north-1a on-demand' ]
}

@test "20 jobs of two nodes, 28 of 40 to be had: 14 run, 6 wait and say why, and each place refuses once" {
	shop eu-north-1a on-demand 16 eu-north-1b on-demand 12
	buy_from "$near" "$far"
	scontrol update partition=cloud state=DOWN
	for _ in {1..20}; do
		job -N2 --exclusive --wrap 'sleep 600' >/dev/null
	done
	scontrol update partition=cloud state=UP
	within 60 jobs_are R 14
	jobs_are PD 6
	for job in $(squeue -h -t PD -o %A); do
		within 10 told "$job" 'near.*far ([^)]*): no capacity'
	done
	for job in $(squeue -h -t R -o %A); do
		in_one_pass "$job"
	done
	[ "$(bought)" = $'16 eu-north-1a on-demand\n12 eu-north-1b on-demand' ]
	[ "$(refused)" = 2 ]
	# A job's two nodes are of one place.
	sim_of /admin/instances '.instances[] | select(.state != "ended") | "\(.name) \(.zone)"' >"$lab_dir/zones"
	for nodes in $(squeue -h -t R -o %N); do
		[ "$(scontrol show hostnames "$nodes" | grep -wf - "$lab_dir/zones" | cut -d' ' -f2 | sort -u | wc -l)" = 1 ]
	done
	scancel -u researcher
}

@test "plan --job: what a job in the queue says of itself, how often it was refused, and what then happens" {
	shop eu-north-1a spot 0 eu-north-1b on-demand null
	LAB_POOL=$'job_comment = true\n\tfallback_refusals = 1'
	buy_from "$spot" "$far"
	within 90 eval 'burstctl plan --partition cloud >/dev/null'
	job=$(job -H -N2 --exclusive --comment 'mine; burst:ondemand,colour=red' -x c1 --wrap 'sleep 1')
	run -0 burstctl plan --job "$job"
	echo "$output"
	[[ $output == "job $job is PENDING (JobHeldUser): 2 nodes in partition cloud"* ]]
	[[ $output == *'2 nodes of pool h100 from offer far'*'"colour=red" was left out'* ]]
	[ "$(bought)" = '' ]
	scontrol release "$job"
	within 40 job_is "$job" COMPLETED
	[ "$(bought)" = '2 eu-north-1b on-demand' ]
	run -1 burstctl plan --job "$job"
	[[ $output == *"job $job has ended: COMPLETED"* ]]
	run -1 burstctl plan --job 99999
	[[ $output == *"slurmctld knows no job 99999"* ]]
	calm
	# One that was refused spot once may have what a new one may not.
	job=$(job -N2 --exclusive --wrap 'sleep 1')
	within 20 told "$job" 'spot only'
	within 10 eval 'squeue -h -j "$job" -o %r | grep -q BeginTime'
	run -1 burstctl plan --pool h100 --nodes 2
	run -0 burstctl plan --job "$job"
	echo "$output"
	[[ $output == *'(BeginTime)'*'refused 1 time so far'*'would be tried again in '*'from offer far'* ]]
	scancel "$job"
}

@test "plan --job: users are told of their own jobs, and of those of others not even that they are there" {
	shop eu-north-1a on-demand null
	buy_from "$near"
	within 90 eval 'burstctl plan --partition cloud >/dev/null'
	job=$(job -H -N1 --exclusive --wrap 'sleep 1')
	run -0 lab_as researcher "$lab_dir/bin/burstctl" plan --job "$job"
	[[ $output == "job $job is PENDING (JobHeldUser): 1 node in partition cloud"* ]]
	run -1 setpriv --reuid=65534 --regid=65534 --clear-groups "$lab_dir/bin/burstctl" plan --job "$job"
	[ "$output" = "burstctl: slurmctld knows no job $job of yours" ]
	run -1 setpriv --reuid=65534 --regid=65534 --clear-groups "$lab_dir/bin/burstctl" plan --job 99999
	[ "$output" = 'burstctl: slurmctld knows no job 99999 of yours' ]
	run -0 burstctl plan --job "$job"
	scancel "$job"
}

@test "plan --job: there is nothing to buy for a job that runs, and a slurmctld that is silent is said to be" {
	shop eu-north-1a on-demand null
	buy_from "$near"
	job=$(job -N1 --exclusive --wrap 'sleep 60')
	within 40 job_is "$job" RUNNING
	run -0 burstctl plan --job "$job" --json
	[ "$(jq -r '.plans[0].verdict' <<<"$output")" = have ]
	pid=$(lab_pid slurmctld)
	kill -STOP "$pid"
	run -1 burstctl plan --job "$job"
	kill -CONT "$pid"
	echo "$output"
	[[ $output == *"slurmctld did not describe the job within 10 s"* ]]
	scancel "$job"
}

@test "scancel while the first place is being asked, while the second is, while nodes boot, and in a job that waits" {
	shop eu-north-1a on-demand 0 eu-north-1b on-demand null
	buy_from "$near" "$far"
	sim_config '{"boot": "20s"}'

	echo "# the first place"
	sim_hold create before
	job=$(job -N2 --exclusive --wrap 'sleep 1')
	within 20 sim_held
	scancel "$job"
	seen
	sim POST /admin/release '{}' >/dev/null
	within 10 no_jobs
	within 20 all_down
	asked 1 1
	within 20 burstd_has 0 ANY

	echo "# the second"
	sim_hold create after
	job=$(job -N2 --exclusive --wrap 'sleep 1')
	within 20 sim_held
	scancel "$job"
	seen
	sim POST /admin/release '{}' >/dev/null
	within 20 all_down
	within 20 alive 0
	asked 2 1

	echo "# while they boot"
	job=$(job -N2 --exclusive --wrap 'sleep 1')
	within 20 alive 2
	scancel "$job"
	within 20 all_down
	within 20 alive 0
	asked 3 1

	echo "# while it waits"
	shop eu-north-1a on-demand 0 eu-north-1b on-demand 0
	job=$(job -N2 --exclusive --wrap 'sleep 1')
	within 20 told "$job" 'no capacity'
	scancel "$job"
	within 10 no_jobs
	within 20 all_down
	asked 1 1
	[ "$(bought)" = '4 eu-north-1b on-demand' ]
}

@test "an admin drains the partition and some nodes: the refused are sent back, and the admin's reasons stay" {
	shop eu-north-1a on-demand 0 eu-north-1b on-demand 0
	buy_from "$near" "$far"
	slurmctld_log_from_now
	scontrol update nodename='c[39-40]' state=DRAIN reason='admin: new disks'
	sim_hold create before
	job=$(job -N38 --exclusive --wrap 'sleep 1')
	within 20 sim_held
	scontrol update partition=cloud state=DRAIN
	scontrol update nodename='c[1-2]' state=DRAIN reason='burst pipe: not of burstd'
	seen
	sim POST /admin/release '{}' >/dev/null
	within 10 job_is "$job" PENDING
	scancel "$job"
	within 20 node_is_not 'c[1-38]' 'POWERING_UP|CONFIGURING'
	sleep 2
	scontrol show partition cloud | grep -q State=DRAIN
	for node in c39 c40; do
		node_is $node DRAIN
		scontrol -o show node $node | grep -q 'Reason=admin: new disks'
	done
	# These were powering up; where slurmctld powers a node down, its drain ends (idle_on_node_suspend), but not the reason.
	run ! grep -E 'node c(1|2|39|40) reason set to: burstd' <(slurmctld_log)
	grep -q 'node c3 reason set to: burstd' <(slurmctld_log)
	[ "$(bought)" = '' ]
	scontrol update nodename='c[39-40]' state=UNDRAIN
}

@test "no duplicate and no leaked second in all of this" {
	calm
	audit
}
