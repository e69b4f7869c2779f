#!/usr/bin/env bats
# Jobs that are told that their node goes: they save their work, and go on elsewhere (P3).  And what burstd is told by
# others: rebalance, maintenance, hosts that are broken.

# Variables from the helper; scripts for the job to expand.
# shellcheck disable=SC2016,SC2034,SC2154
load helper

setup_file() {
	own_lab || return
	LAB_SLURM_EXTRA="Epilog=$lab_dir/bin/epilog" lab_up
	lab_stop burstd
	cat >"$lab_dir/bin/told" <<-'T'
		#!/bin/sh
		echo "$@" >>/tmp/told
	T
	cat >"$lab_dir/bin/epilog" <<-T
		#!/bin/sh
		while [ -e "$lab_dir/home/completes-\$SLURM_JOB_ID" ]; do sleep 0.2; done
	T
	chmod 755 "$lab_dir/bin/told" "$lab_dir/bin/epilog"
	sed -i 's/market .*/market = "spot"\n\t\t\tcheckpoint_signal = "USR1"\n\t\t\trebalance = "drain"/
		s/settle .*/&\n\t\t\tlist_every = "1s"/' /etc/burstd/burstd.conf
	lab_start burstd
	# As on a site that says nothing of it, a requeued job is held back for two minutes.
	lab_stop slurmctld
	sed -i 's/cred_expire=5/cred_expire=120/' /etc/slurm/slurm.conf
	lab_start slurmctld
}

setup() {
	calm
	rows=$(sim_rows)
}

teardown() {
	[ -n "${BATS_TEST_COMPLETED-}" ] || lab_logs
}

restarts() {
	scontrol -o show job "$1" | sed -n 's/.* Restarts=\([0-9]*\).*/\1/p' | head -n 1
}

restarted() {
	[ "$(restarts "$1")" = "$2" ]
}

instance_of() {
	sim_of /admin/instances ".instances[] | select(.name == \"$1\" and .state != \"ended\") | .id"
}

instance_is() {
	[ "$(sim_of /admin/instances ".instances[] | select(.id == \"$1\") | .state")" = "$2" ]
}

# running JOB N: in its run after N restarts
running() {
	job_is "$1" RUNNING && restarted "$1" "$2"
}

wrote() {
	grep -q "$2" "$lab_dir/home/job-$1.out"
}

was_told() {
	burstctl events --tail 1000 | grep -q "job-signalled.*job $1: it was told to save its work"
}

told() {
	within 10 was_told "$1"
}

# latest NODE JOB: until when that job has its time there, in seconds
latest() {
	local at
	at=$(burstctl node show "$1" | sed -n "s/.*job $2 was sent USR1 and is requeued at the latest at \(20[-0-9T:]*Z*\).*/\1/p")
	[ -n "$at" ] && date -d "$at" +%s
}

# requeued_at JOB: by burstd's own clock, in seconds
requeued_at() {
	burstctl events --json --tail 1000 | jq -es --arg job "job $1: " \
		'map(select(.type == "job-requeued" and (.detail | startswith($job))))[-1].at_ms | values / 1000 | floor'
}

# had_its_time JOB LATEST: it was not requeued before, and it was before the machine's end, 10 s later
had_its_time() {
	local at
	within 10 requeued_at "$1"
	at=$(requeued_at "$1")
	echo "requeued at $at, at the latest at $2"
	[ "$at" -ge "$2" ] || return
	[ "$at" -lt $(($2 + 10)) ]
}

# It ignores the signal, and runs for ever unless it was requeued.
deaf='trap "" USR1; echo "run ${SLURM_RESTART_COUNT:-0}"; [ -n "${SLURM_RESTART_COUNT-}" ] || while :; do sleep 1; done'

# script OPTION... TEXT: a job whose script is bash's: 25.05.8 starts it with SIGCHLD blocked, and then dash's `sleep & wait`
# hangs
script() {
	printf '#!/bin/bash\n%s\n' "${*: -1}" >"$lab_dir/script"
	job "${@:1:$#-1}" "$lab_dir/script"
}

@test "a checkpointing job reclaimed three times finishes with the right total" {
	local k
	job=$(script -N1 --exclusive --requeue '
		n=$(cat state-$SLURM_JOB_ID 2>/dev/null || echo 0)
		save() { echo "$n" >state-$SLURM_JOB_ID; echo "saved at $n"; exit 75; }
		trap save USR1
		echo "run ${SLURM_RESTART_COUNT:-0} from $n"
		while [ "$n" -lt 60 ]; do
			n=$((n + 1)); echo "did $n"
			sleep 0.4 & wait
		done
		echo "total $n"')
	for k in 0 1 2; do
		within 40 running "$job" $k
		within 5 wrote "$job" "^run $k from"
		sleep 1
		sim_reclaim "$(job_nodes "$job")" 30000
		# Long before the 20 s that it may have: it has saved its work and ended.
		within 12 restarted "$job" $((k + 1))
	done
	# And three times long before slurmctld would have let it start.
	within 60 job_is "$job" COMPLETED
	cat "$lab_dir/home/job-$job.out"
	[ "$(grep -c '^saved at ' "$lab_dir/home/job-$job.out")" = 3 ]
	wrote "$job" '^total 60$'
	[ "$(grep '^did ' "$lab_dir/home/job-$job.out" | sort | uniq -d | wc -l)" = 0 ]
	[ "$(grep -c '^did ' "$lab_dir/home/job-$job.out")" = 60 ]
	[ "$(burstctl events --tail 1000 | grep -c "job-lifted.*job $job:")" = 3 ]
}

@test "a job that knows no such signal is ended by it, and requeued" {
	job=$(job -N1 --exclusive --requeue --wrap 'echo "run ${SLURM_RESTART_COUNT:-0}"; [ -n "${SLURM_RESTART_COUNT-}" ] || sleep 600')
	within 30 running "$job" 0
	within 5 wrote "$job" '^run 0'
	sim_reclaim "$(job_nodes "$job")" 120000
	within 12 restarted "$job" 1
	within 60 job_is "$job" COMPLETED
	wrote "$job" '^run 1'
}

# Of a heterogeneous job the script runs on a node of the first component, whichever of them loses its own.
@test "a heterogeneous job: its script saves the work when the node of another component goes" {
	local part
	cat >"$lab_dir/het" <<-'S'
		#!/bin/bash
		#SBATCH -N1 --exclusive --requeue
		#SBATCH hetjob
		#SBATCH -N1 --exclusive --requeue
		save() { echo saved; exit 75; }
		trap save USR1
		echo "run ${SLURM_RESTART_COUNT:-0}"
		[ -z "${SLURM_RESTART_COUNT-}" ] || exit 0
		while :; do sleep 0.2 & wait; done
	S
	job=$(job "$lab_dir/het")
	part=$((job + 1))
	within 40 running "$job" 0
	within 5 wrote "$job" '^run 0'
	node=$(job_nodes "$part")
	[ "$node" != "$(job_nodes "$job")" ]
	sim_reclaim "$node" 60000
	within 12 wrote "$job" '^saved'
	within 12 restarted "$job" 1
	burstctl events --tail 1000 | grep "job-signalled.*job $job+1 (job $part)"
	# slurmctld holds back the first component as well, and burstd does not speak of a start at once.
	within 10 alive 0
	sleep 2
	run ! eval 'burstctl events --tail 1000 | grep "job-lifted.*job $job+1"'
	scancel "$job"
	within 10 no_jobs
}

@test "a job that is done when it has saved its work is not run again" {
	job=$(script -N1 --exclusive --requeue 'trap "exit 0" USR1; echo "run 0"; while :; do sleep 0.2 & wait; done')
	within 30 running "$job" 0
	within 5 wrote "$job" '^run 0'
	sim_reclaim "$(job_nodes "$job")" 60000
	within 12 job_is "$job" COMPLETED
	restarted "$job" 0
	within 10 eval 'burstctl events --tail 1000 | grep -q "job-ended.*job $job: it ended as COMPLETED"'
}

@test "a job that may not be requeued is told too, and reported" {
	job=$(script -N1 --exclusive --no-requeue 'trap "exit 3" USR1; echo "run 0"; while :; do sleep 0.2 & wait; done')
	within 30 running "$job" 0
	within 5 wrote "$job" '^run 0'
	sim_reclaim "$(job_nodes "$job")" 60000
	within 12 job_is "$job" FAILED
	within 15 eval 'burstctl events --tail 1000 | grep -q "job-ended.*job $job: it ended as FAILED and was not requeued"'
}

@test "with 120 s the node is fenced at once, and a shorter notice counts; the job is off 10 s before the end" {
	job=$(job -N1 --exclusive --requeue --wrap "$deaf")
	within 30 running "$job" 0
	within 5 wrote "$job" '^run 0'
	node=$(job_nodes "$job")
	burstctl notice "$node" --kind reclaim --in 120s --reason 'says the lab'
	within 2 node_is "$node" DRAIN
	told "$job"
	running "$job" 0
	burstctl node show "$node" | tee /dev/stderr |
		grep -q "job $job was sent USR1 and is requeued at the latest at 20"
	burstctl notice "$(instance_of "$node")" -k reclaim --in 18s
	latest=$(latest "$node" "$job")
	within 18 restarted "$job" 1
	had_its_time "$job" "$latest"
	burstctl events --tail 1000 | grep -q "notice.*says the lab"
	[ "$(burstctl events --tail 1000 | grep -c "job-signalled.*job $job:")" = 1 ]
	within 60 job_is "$job" COMPLETED
}

# Releases before 23.11 spoil the requeue of the job that completes, so burstd waits for it.
@test "F41: the job is off its node before the end, though another job completes there" {
	local version other
	version=$(lab_slurm_version)
	other=$(job -N1 -n1 --wrap 'sleep 600')
	within 30 running "$other" 0
	node=$(job_nodes "$other")
	job=$(job -N1 -n1 -w "$node" --requeue --wrap "$deaf")
	within 10 running "$job" 0
	within 5 wrote "$job" '^run 0'
	touch "$lab_dir/home/completes-$other"
	scancel "$other"
	within 5 node_is "$node" COMPLETING
	node_is "$node" MIXED
	sim_reclaim "$node" 20000
	told "$job"
	latest=$(latest "$node" "$job")
	if [ "$version" -lt 2311 ]; then
		sleep $((latest + 2 - $(date +%s)))
		running "$job" 0
		rm "$lab_dir/home/completes-$other"
	fi
	within 15 restarted "$job" 1
	had_its_time "$job" "$latest"
	rm -f "$lab_dir/home/completes-$other"
	within 60 job_is "$job" COMPLETED
}

@test "with 5 s there is no time for a signal: the job is requeued at once" {
	job=$(job -N1 --exclusive --requeue --wrap "$deaf")
	within 30 running "$job" 0
	node=$(job_nodes "$job")
	burstctl notice "$node" --kind reclaim --in 5s
	within 3 restarted "$job" 1
	run ! eval 'burstctl events --tail 1000 | grep "job-signalled.*job $job:"'
	within 60 job_is "$job" COMPLETED
}

@test "killed while a job has its time: the job is off 10 s before the end all the same, and told once" {
	job=$(job -N1 --exclusive --requeue --wrap "$deaf")
	within 30 running "$job" 0
	within 5 wrote "$job" '^run 0'
	node=$(job_nodes "$job")
	sim_reclaim "$node" 25000
	told "$job"
	lab_kill burstd
	lab_start burstd
	latest=$(latest "$node" "$job")
	within 20 restarted "$job" 1
	had_its_time "$job" "$latest"
	[ "$(burstctl events --tail 1000 | grep -c "job-signalled.*job $job:")" = 1 ]
	within 60 job_is "$job" COMPLETED
}

@test "rebalance: the job ends in peace, and nothing new starts there" {
	job=$(job -N1 --exclusive --requeue --wrap 'echo "run ${SLURM_RESTART_COUNT:-0}"; '"$until_over")
	within 30 running "$job" 0
	node=$(job_nodes "$job")
	burstctl notice "$node" --kind rebalance
	within 2 node_is "$node" DRAIN
	burstctl node show "$node" | grep -q 'is removed when those on it have ended'
	over "$job"
	within 15 job_is "$job" COMPLETED
	restarted "$job" 0
	within 15 powered_down "$node"
}

@test "a host that is broken: its job is requeued at once and its instance is given back" {
	job=$(job -N1 --exclusive --requeue --wrap "$deaf")
	within 30 running "$job" 0
	node=$(job_nodes "$job")
	id=$(instance_of "$node")
	burstctl notice "$node" --kind faulty --reason 'XID 79'
	within 3 restarted "$job" 1
	within 15 instance_is "$id" ended
	within 60 job_is "$job" COMPLETED
	[ "$(($(sim_rows) - rows))" = 2 ]
	curl -sS http://127.0.0.1:9818/metrics | grep '^burstd_notices_total{provider="sim",kind="faulty"} [1-9]'
}

@test "many machines are one call: each has its result, and what is not ours does not stop the others" {
	run -1 eval '{ seq -f "i-none-%g" 1 1500; echo c1; } | burstctl notice - c2 --kind reclaim --json 2>&1'
	[ "$(jq -r '.results | length' <<<"$output")" = 1502 ]
	[ "$(jq -r '[.results[] | select(.result == "unknown")] | length' <<<"$output")" = 1500 ]
	[ "$(jq -rc '[.results[-2:][] | .node]' <<<"$output")" = '["c1","c2"]' ]
}

@test "notices that mean nothing do nothing" {
	run -1 burstctl notice i-of-somebody --kind reclaim
	[[ $output == *'no node and no instance of ours'* ]]
	run -0 burstctl notice c1 --kind reclaim
	[[ $output == 'nothing to do: '* ]]
	run -2 burstctl notice c1 --kind soon
	run -2 burstctl notice c1 --kind reclaim --in 5s --at 2026-01-02T03:04:05Z
	run -2 burstctl notice c1 --kind reclaim --at yesterday
}

# Last, for it changes the configuration.
@test "a command of the site is told of each job" {
	sed -i "s|checkpoint_signal .*|checkpoint_command = {\"$lab_dir/bin/told\", \"%j on %n\", \"%d\"}|" /etc/burstd/burstd.conf
	burstctl reload
	job=$(job -N1 --exclusive --requeue --wrap "$deaf")
	within 30 running "$job" 0
	node=$(job_nodes "$job")
	burstctl notice "$node" --kind reclaim --in 60s
	told "$job"
	within 5 grep -qE "^$job on $node [0-9]{10}\$" /tmp/told
	running "$job" 0
	burstctl notice "$node" --kind reclaim --in 1s
	within 5 restarted "$job" 1
	within 60 job_is "$job" COMPLETED
}

@test "no duplicate and no leaked second in all of this" {
	calm
	audit
}
