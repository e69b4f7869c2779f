#!/usr/bin/env bats
# Jobs that cannot get their nodes, that go away while these boot, and machines that come up wrong.

# Variables from the helper; scripts for the job to expand.
# shellcheck disable=SC2016,SC2034,SC2154
load helper
LAB_RESUME_TIMEOUT=100
# Over before a job tries again.
LAB_COOLDOWN=2s

setup() {
	calm
	rows=$(sim_rows)
	seq=$(burstctl events --json --tail 1 | jq -s 'map(.seq) | max // 0')
}

teardown() {
	[ -n "${BATS_TEST_COMPLETED-}" ] || lab_logs
	sim_capacity null
	rm -f /etc/simcloud/boot.conf
	! grep -q '"cpu"' /etc/burstd/burstd.conf || one_pool
}

# Not while burstd has a node of the other one: it would not start.
one_pool() {
	calm
	lab_stop burstd
	lab_burstd_conf
	lab_start burstd
}

# c7 and c8 in a pool of their own, whose kind the provider always has
two_pools() {
	lab_stop burstd
	sed 's/c\[1-8\]/c[1-6]/' -i /etc/burstd/burstd.conf
	sed -n '/^pool/,$p' /etc/burstd/burstd.conf | sed 's/"h100"/"cpu"/; s/c\[1-6\]/c[7-8]/; s/gpu_8x_h100/cpu_4x/' \
		>"$lab_dir/pool"
	cat "$lab_dir/pool" >>/etc/burstd/burstd.conf
	lab_start burstd
}

new_rows() {
	echo $(($(sim_rows) - rows))
}

# events TYPE: how many of them since the test began
events() {
	local list
	list=$(burstctl events --json --since "$seq") && jq -s --arg t "$1" '[.[] | select(.type == $t)] | length' <<<"$list"
}

happened() {
	[ "$(events "$2")" -ge "$1" ]
}

comment() {
	scontrol -o show job "$1" | sed -n 's/.* AdminComment=\(.*\)  *StdErr=.*/\1/p' | head -n 1
}

told() {
	comment "$1" | grep -q '^burstd: .*capacity.*next try 20'
}

# Create calls since the test began
creates() {
	sim_of /admin/stats '[.ops.create.answers[]] | add // 0'
}

# poked JOB CMD...: slurmctld looks at heterogeneous jobs when something has changed, and in this lab nothing else does
poked() {
	scontrol update jobid="$1" comment="$EPOCHREALTIME"
	sleep 1
	"${@:2}"
}

# waits JOB: for so many seconds after the last refusal it may not start
waits() {
	local at refused
	at=$(scontrol -o show job "$1" | sed -n 's/.* StartTime=\([^ ]*\).*/\1/p' | head -n 1)
	refused=$(burstctl events --json --since "$seq" | jq -s 'map(select(.type == "job-postponed"))[-1].at_ms / 1000 | floor')
	echo $(($(date -d "$at" +%s) - refused))
}

# The first, and its tries are on other nodes each: Slurm (22.05 and 24.11) starts no heterogeneous job on a node that was
# powered down by force, as a refused one is, before the next reconfigure.
@test "a heterogeneous job, one component of which gets no nodes: told within 10 s, no node is kept for it, it runs later" {
	two_pools
	sim_capacity 0
	sim DELETE /admin/stats >/dev/null
	cat >"$lab_dir/het" <<-'S'
		#!/bin/bash
		#SBATCH -N1 --exclusive -w c7
		#SBATCH hetjob
		#SBATCH -N2 --exclusive -x c[7-8]
		srun --het-group=0,1 hostname
	S
	job=$(job "$lab_dir/het")
	within 30 poked "$job" happened 2 wanted
	within 10 told "$job"
	# That component waits 30 s and then a minute, and the other one does not start without it.  So at most three tries
	# begin in two minutes, each with one create call for the pool that has nothing; it takes less to see those waits.
	within 10 happened 1 job-postponed
	wait=$(waits "$job+1")
	[ "$wait" -ge 20 ]
	[ "$wait" -le 31 ]
	# slurmctld lets the other component wait for cred_expire and a second.
	within 15 eval 'squeue -h -j "$job" -o "%i %r" | grep "+0 " | grep -qv BeginTime'
	within 15 alive 0
	within 15 all_down
	poked "$job" poked "$job" job_is "$job" PENDING
	[ "$(new_rows)" = 1 ]
	[ "$(creates)" = 2 ]
	scontrol update jobid="$job" StartTime=now
	within 60 poked "$job" happened 4 wanted
	within 10 happened 2 job-postponed
	within 5 eval '[ "$(waits "$job+1")" -ge 50 ]'
	within 20 alive 0
	[ "$(new_rows)" = 2 ]
	[ "$(creates)" = 4 ]
	sim_capacity null
	scontrol update jobid="$job" StartTime=now
	within 60 poked "$job" job_is "$job" COMPLETED
	[ "$(grep -c '^c[1-8]$' "$lab_dir/home/job-$job.out")" = 3 ]
	[ "$(new_rows)" = 5 ]
}

@test "a job that cannot get its nodes is told why within 10 s, and waits longer each time, over a restart" {
	sim_capacity 0
	job=$(job -N2 --exclusive --wrap 'sleep 1')
	array=$(job --array=1-2 -N1 --exclusive --wrap 'sleep 1')
	began=$EPOCHSECONDS
	within 15 happened 3 job-postponed
	within 10 told "$job"
	within 5 told "${array}_1"
	within 5 told "${array}_2"
	within 5 eval 'squeue -h -j "$job" -o %r | grep -q BeginTime'
	scancel "$array"
	lab_kill burstd
	lab_start burstd
	within 50 happened 4 job-postponed
	# The second wait is a minute, of which a restart takes nothing.
	burstctl events --json --since "$seq" | jq -e -s --arg job "job $job, refusal 2:" \
		'[.[] | select(.type == "job-postponed" and (.detail | startswith($job)))] | length == 1'
	within 80 happened 5 job-postponed
	burstctl events --json --since "$seq" | jq -e -s --arg job "job $job, refusal" \
		'map(select(.type == "job-postponed" and (.detail | startswith($job))).at_ms) |
			(length == 3 and .[2] - .[1] > 55000) or error(tostring)'
	# slurmctld knows the third wait, which the update below ends, and the place is not left alone any more.
	within 10 eval '[ "$(waits "$job")" -ge 100 ]'
	burstctl retry
	[ "$(new_rows)" = 0 ]
	sim_capacity null
	scontrol update jobid="$job" StartTime=now
	within 40 job_is "$job" COMPLETED
}

@test "people read local time in Slurm, programs UTC, and a restart with another zone takes its words back" {
	zone=CET-1CEST,M3.5.0,M10.5.0/3
	sim_capacity 0
	lab_stop burstd
	TZ=$zone lab_start burstd
	job=$(job -N2 --exclusive --wrap 'sleep 1')
	within 15 happened 1 job-postponed
	within 10 told "$job"
	said=$(comment "$job" | sed -n 's/.*; next try \(....-..-..T..:..:..\) (in .*/\1/p')
	# squeue, in the same zone, says the same, give or take the second that slurmctld cuts off.
	starts=$(TZ=$zone squeue -h -j "$job" -o %S)
	echo "told $said, squeue says $starts"
	off=$(($(date -ud "$starts" +%s) - $(date -ud "$said" +%s)))
	[ "$off" -ge -2 ]
	[ "$off" -le 2 ]
	# It is not UTC, which events keep.
	at=$(burstctl events --json --since "$seq" |
		jq -rs 'map(select(.type == "job-postponed"))[0].detail | capture("next try (?<at>[^ ]*Z) ").at')
	[ "$(TZ=$zone date -d "$at" +%FT%T)" = "$said" ]
	[ "$(date -ud "$at" +%FT%T)" != "$said" ]
	# Who reads burstd's words by burstctl has his own zone.
	TZ=JST-9 burstctl events --since "$seq" | grep -F "next try $(TZ=JST-9 date -d "$at" +%FT%T) "
	lab_stop burstd
	lab_start burstd
	sim_capacity null
	scontrol update jobid="$job" StartTime=now
	within 40 job_is "$job" COMPLETED
	[ "$(comment "$job" | sed 's/ *$//')" = '' ]
}

@test "an admin's comment on a job stays, whatever becomes of the job" {
	sim_capacity 0
	job=$(job -N1 --exclusive --begin=now+3 --wrap 'sleep 1')
	scontrol update jobid="$job" AdminComment='see ticket 5'
	within 20 happened 1 job-postponed
	within 10 eval 'squeue -h -j "$job" -o "%r %t" | grep -q "BeginTime PD"'
	[ "$(comment "$job" | sed 's/ *$//')" = 'see ticket 5' ]
}

@test "a job cancelled while its nodes boot: they are sent back at once" {
	hold_boots
	job=$(job -N3 --exclusive --wrap 'sleep 1')
	within 15 alive 3
	nodes=$(job_nodes "$job")
	scancel "$job"
	within 5 node_is_not "$nodes" POWERING_UP
	within 8 alive 0
	[ "$(events cancelled)" = 3 ]
}

@test "a job cancelled while its nodes boot, and another one wants them: it gets them" {
	hold_boots
	first=$(job -N8 --exclusive --wrap 'sleep 1')
	within 15 alive 8
	second=$(job -N8 --exclusive --wrap 'sleep 1')
	scancel "$first"
	let_boot
	within 40 job_is "$second" COMPLETED
	[ "$(new_rows)" = 8 ]
	[ "$(events cancelled)" = 0 ]
}

@test "machines that register wrong are replaced once; then their pool is closed, and the job told" {
	mkdir -p /etc/slurm-wrong
	cp /etc/slurm/*.conf /etc/slurm-wrong/
	echo "Name=gpu Type=h100 File=$lab_dir/dev/gpu[0-3]" >/etc/slurm-wrong/gres.conf
	echo 'slurmd_args="-f /etc/slurm-wrong/slurm.conf"' >/etc/simcloud/boot.conf
	job=$(job -N1 --gres=gpu:h100:8 --wrap 'sleep 1')
	within 40 happened 1 pool-blocked
	burstctl events --json --since "$seq" | grep pool-blocked | grep -q 'gres/gpu'
	# The job's next try is refused.
	within 60 eval 'comment "$job" | grep -q "^burstd: pool .*come up wrong"'
	[ "$(new_rows)" = 2 ]
	rm /etc/simcloud/boot.conf
	burstctl resume
	scontrol update jobid="$job" StartTime=now
	within 40 job_is "$job" COMPLETED
	[ "$(new_rows)" = 3 ]
}

@test "a powered-down node that an admin drained and undrained is good for a job again" {
	scontrol update nodename=c7 state=DRAIN reason='admin: later'
	sleep 2
	scontrol -o show node c7 | grep -q 'State=IDLE+CLOUD+DRAIN+POWERED_DOWN .*Reason=admin: later'
	scontrol update nodename=c7 state=UNDRAIN
	# So it is seen on 22.05 and 24.11; on 26.05 it is as it was.
	[ "$(lab_slurm_version)" -ge 2605 ] || node_is c7 NOT_RESPONDING
	scontrol reconfigure
	within 40 node_is_not c7 NOT_RESPONDING
	job=$(job -w c7 --exclusive --wrap 'sleep 1')
	within 40 job_is "$job" COMPLETED
}

@test "no duplicate and no leaked second in all of this" {
	calm
	audit
}
