#!/usr/bin/env bats
# burst-prolog, slurm.conf's PrologSlurmctld: a job starts when its last node has registered, not at slurmctld's next
# 30-second look; and nothing that happens to burstd, to the job or to slurmctld makes the prolog fail or stay.

# Variables from the helper; scripts for the job to expand.
# shellcheck disable=SC2016,SC2030,SC2031,SC2034,SC2154
load helper
# Longer than any test: what ends here, the gate ended.
LAB_RESUME_TIMEOUT=100

setup() {
	calm
	log_from=$(($(wc -l </var/log/slurm/slurmctld.log) + 1))
}

teardown() {
	[ -n "${BATS_TEST_COMPLETED-}" ] || lab_logs
	rm -f /etc/burstd/prolog-slurmctld "$lab_dir/home/prolog-ran"
	sim_config '{"boot": null}'
	lab_running slurmctld || lab_start slurmctld
}

log() {
	tail -n +"$log_from" /var/log/slurm/slurmctld.log
}

prologs() {
	pgrep -fc "$lab_dir/bin/burst-prolog" || true
}

gates() {
	[ "$(prologs)" = "$1" ]
}

ms_of() {
	date -d "$1" +%s%3N
}

# started_after JOB: ms from the registration of the last node to the end of CONFIGURING
started_after() {
	local up start
	up=$(log | sed -n 's/^\[\([^]]*\)\] Node c[0-9]* now responding$/\1/p' | tail -n 1)
	start=$(log | sed -n "s/^\[\([^]]*\)\] prolog_running_decr: Configuration for JobId=$1 is complete$/\1/p" | tail -n 1)
	echo "# JobId=$1: last node at $up, started at $start" >&2
	[ -n "$up" ] && [ -n "$start" ] || return
	echo $(($(ms_of "$start") - $(ms_of "$up")))
}

# started_at_once JOB: slurmctld's next look would be up to 30 s later
started_at_once() {
	local ms
	ms=$(started_after "$1") && [ "$ms" -lt $((2000 + $(busy))) ]
}

# prolog JOB NODES: by hand, as slurmctld would; sets prolog_ms, fails if it does
prolog() {
	local t0=${EPOCHREALTIME/./}
	timeout 30 setpriv --reuid=slurm --regid=slurm --init-groups env -i \
		SLURM_JOB_ID="$1" SLURM_JOB_NODELIST="$2" "$lab_dir/bin/burst-prolog" || return
	prolog_ms=$(((${EPOCHREALTIME/./} - t0) / 1000))
	echo "burst-prolog $1 $2: $prolog_ms ms"
}

@test "a job starts within two seconds of its last node" {
	sim_config '{"boot": {"dist": "uniform", "min": "2s", "max": "5s"}}'
	before=$(metric 'burstd_gates_total{end="up"}')
	job=$(job -N4 --exclusive --wrap "$until_over")
	within 20 gates 1
	within 5 eval '[ "$(metric burstd_gates_waiting)" = 1 ]'
	within 40 job_is "$job" RUNNING
	started_at_once "$job"
	within 5 gates 0
	within 2 eval '[ "$(metric "burstd_gates_total{end=\"up\"}")" = $((before + 1)) ]'
	[ "$(metric burstd_gates_waiting)" = 0 ]
	over "$job"
	within 20 job_is "$job" COMPLETED
}

@test "a job on nodes that are up starts at once" {
	first=$(job -N2 --exclusive --wrap "$until_over")
	within 30 job_is "$first" RUNNING
	nodes=$(job_nodes "$first")
	second=$(job -w "$nodes" -N2 --exclusive --wrap "$until_over")
	over "$first"
	within 10 job_is "$first" COMPLETED
	within 4 job_is "$second" RUNNING
	over "$second"
	within 10 job_is "$second" COMPLETED
}

@test "by hand: no node of ours, a job that does not wait, no node list" {
	prolog 4711 static1
	[ "$prolog_ms" -lt $((500 + $(busy))) ]
	prolog 4711 c1,static1 # it is not CONFIGURING
	[ "$prolog_ms" -lt $((3000 + $(busy))) ]
	prolog 4711 'c[1-' # no node list
	[ "$prolog_ms" -lt $((500 + $(busy))) ]
	[ "$(metric burstd_gates_waiting)" = 0 ]
}

@test "burstd is killed while a job waits, and comes back: the gate goes on" {
	hold_boots
	job=$(job -N2 --exclusive --wrap "$until_over")
	within 20 alive 2
	within 5 gates 1
	pid=$(pgrep -f "$lab_dir/bin/burst-prolog")
	lab_kill burstd
	lab_start burstd
	within 3 eval '[ "$(metric burstd_gates_waiting)" = 1 ]'
	[ "$(pgrep -f "$lab_dir/bin/burst-prolog")" = "$pid" ]
	let_boot
	within 40 job_is "$job" RUNNING
	started_at_once "$job"
	over "$job"
	within 20 job_is "$job" COMPLETED
}

@test "burstd is away for ten seconds while a job waits: the gate goes on when it is back" {
	hold_boots
	job=$(job -N2 --exclusive --wrap "$until_over")
	within 20 alive 2
	within 5 gates 1
	pid=$(pgrep -f "$lab_dir/bin/burst-prolog")
	lab_kill burstd
	sleep 10
	[ "$(pgrep -f "$lab_dir/bin/burst-prolog")" = "$pid" ]
	lab_start burstd
	let_boot
	within 40 job_is "$job" RUNNING
	started_at_once "$job"
	over "$job"
	within 20 job_is "$job" COMPLETED
}

@test "burstd is killed and stays away: the prolog ends after 30 s, the job goes on waiting" {
	hold_boots
	job=$(job -N2 --exclusive --wrap 'sleep 1')
	within 20 alive 2
	within 5 gates 1
	began=$EPOCHSECONDS
	lab_kill burstd
	within 34 gates 0
	[ $((EPOCHSECONDS - began)) -ge 28 ]
	job_is "$job" CONFIGURING
	lab_start burstd
	let_boot
	within 90 job_is "$job" COMPLETED
	[ "$(scontrol -o show job "$job" | sed -n 's/.* Restarts=\([0-9]*\).*/\1/p')" = 0 ]
}

@test "a job is cancelled while it waits: the prolog ends, nothing hangs" {
	hold_boots
	job=$(job -N2 --exclusive --wrap 'sleep 1')
	within 20 alive 2
	within 5 gates 1
	scancel "$job"
	within 5 gates 0
	within 5 no_jobs
	within 5 eval '[ "$(metric burstd_gates_waiting)" = 0 ]'
}

@test "a job is requeued while it waits: it starts anew, and is not left cleaning up" {
	hold_boots
	job=$(job -N2 --exclusive --wrap 'sleep 1')
	within 20 alive 2
	within 5 gates 1
	scontrol requeue "$job"
	within 5 gates 0
	within 5 eval '[ "$(squeue -h -j "$job" -o %r)" != Cleaning ]'
	let_boot
	within 60 job_is "$job" COMPLETED
}

@test "a job that is refused its nodes goes back: the prolog does not keep it" {
	sim_capacity 1
	before=$(metric 'burstd_gates_total{end="gone"}')
	job=$(job -N2 --exclusive --wrap 'sleep 1')
	within 20 eval '[ "$(metric "burstd_gates_total{end=\"gone\"}")" -gt "$before" ]'
	sim_capacity null
	within 10 job_is "$job" PENDING
	within 5 gates 0
	within 5 eval '[ "$(squeue -h -j "$job" -o %r)" != Cleaning ]'
	scancel "$job"
}

@test "slurmctld is restarted while a job waits: it runs the prolog again, and the job starts" {
	hold_boots
	job=$(job -N2 --exclusive --wrap "$until_over")
	within 20 alive 2
	within 5 gates 1
	lab_stop slurmctld
	lab_start slurmctld
	let_boot
	within 40 job_is "$job" RUNNING
	over "$job"
	within 20 job_is "$job" COMPLETED
	within 5 gates 0
}

# site_prolog TEXT: the site's own
site_prolog() {
	printf '#!/bin/sh\n%s\n' "$1" >"$lab_dir/prolog-slurmctld"
	install -m 755 "$lab_dir/prolog-slurmctld" /etc/burstd/prolog-slurmctld
}

@test "the site's own prolog runs first, while the nodes boot" {
	install -d -o slurm "$lab_dir/site"
	site_prolog 'until [ -e /run/lab/site/go ]; do sleep 0.1; done; echo "$SLURM_JOB_ID $SLURM_JOB_NODELIST $SLURM_SCRIPT_CONTEXT" >/run/lab/site/ran'
	hold_boots
	job=$(job -N2 --exclusive --wrap "$until_over")
	within 20 alive 2
	[ ! -e "$lab_dir/site/ran" ]
	: >"$lab_dir/site/go"
	within 10 test -s "$lab_dir/site/ran"
	let_boot
	within 40 job_is "$job" RUNNING
	[ "$(cat "$lab_dir/site/ran")" = "$job $(job_nodes "$job") prolog_slurmctld" ]
	started_at_once "$job"
	over "$job"
	within 20 job_is "$job" COMPLETED
}

@test "the site's own prolog fails: Slurm acts on it, as ever" {
	install -d -o slurm "$lab_dir/site"
	rm -f "$lab_dir/site/failed"
	site_prolog '[ -e /run/lab/site/failed ] || { : >/run/lab/site/failed; exit 3; }'
	job=$(job -N1 --exclusive --wrap 'sleep 1')
	within 20 eval 'log | grep -q "prolog_slurmctld JobId=$job prolog exit status 3:0"'
	within 5 gates 0
	within 60 job_is "$job" COMPLETED
	[ "$(scontrol -o show job "$job" | sed -n 's/.* Restarts=\([0-9]*\).*/\1/p')" = 1 ]
}

@test "a flood of jobs: each starts when its node is up" {
	within 30 all_down # each is to have a node of its own
	hold_boots
	job=$(job --array=1-6 -N1 --exclusive --wrap 'sleep 1')
	within 20 gates 6
	let_boot
	within 40 job_is "$job" COMPLETED
	within 5 gates 0
	log | grep -c 'Configuration for JobId=.* is complete' | grep -qx 6
}

@test "a thousand at once: all end, none fails" {
	mkdir -p "$lab_dir/many"
	chown slurm "$lab_dir/many"
	t0=${EPOCHREALTIME/./}
	setpriv --reuid=slurm --regid=slurm --init-groups env -i SLURM_JOB_NODELIST='c[1-8]' PATH=/usr/bin:/bin bash -c '
		for ((i = 1; i <= 1000; i++)); do
			SLURM_JOB_ID=$((4000 + i)) /run/lab/bin/burst-prolog || : >"/run/lab/many/$i" &
		done
		wait'
	ms=$(((${EPOCHREALTIME/./} - t0) / 1000))
	echo "1000 prologs: $ms ms"
	[ "$(ls "$lab_dir/many")" = "" ]
	[ "$ms" -lt 15000 ]
	[ "$(metric burstd_gates_waiting)" = 0 ]
}

@test "burstctl events -f goes on over a restart of burstd" {
	lab_as researcher "$lab_dir/bin/burstctl" events -f -n 1 >"$lab_dir/follow" 2>&1 3>&- &
	follower=$!
	within 5 eval '[ -s "$lab_dir/follow" ]'
	lab_kill burstd
	lab_start burstd
	within 5 grep -q started "$lab_dir/follow"
	job=$(job -N1 --exclusive --wrap 'sleep 1')
	within 10 grep -q wanted "$lab_dir/follow"
	within 30 job_is "$job" COMPLETED
	kill $follower
	grep -c 'went away' "$lab_dir/follow" | grep -qx 1
}

@test "all of this without a duplicate or a leaked second" {
	calm
	audit
}
