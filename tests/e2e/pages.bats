#!/usr/bin/env bats
# What burstd's listener for Prometheus tells any user of the controller beside /metrics: the nodes that run, and, if the admin
# wants, the jobs; and not while squeue would hide these.

# Variables from the helper; scripts for the job to expand.
# shellcheck disable=SC2016,SC2034,SC2154
load helper

url=http://127.0.0.1:9818

setup() {
	calm
}

teardown() {
	[ -n "${BATS_TEST_COMPLETED-}" ] || lab_logs
	sim_capacity null
	lab_burstd_conf
	burstctl reload >/dev/null
}

with_jobs() {
	lab_burstd_conf
	sed -i '1i listen_jobs = true' /etc/burstd/burstd.conf
	burstctl reload
}

# jobs FILTER [QUERY]: what jq makes of the table
jobs() {
	curl -qsS -f --max-time 5 "$url/jobs?${2-}" | jq -r "$1"
}

status() { # PATH [CURL'S ARGUMENT...]
	local path=$1
	shift
	curl -qsS -o /dev/null -w '%{http_code}' --max-time 5 "$@" "$url$path"
}

state_of() {
	jobs ".jobs[] | select(.job == \"$1\") | .state"
}

# private WORDS: slurm.conf's PrivateData, as a burstd knows it that starts; one that runs looks each minute
private() {
	sed -i '/^PrivateData=/d' /etc/slurm/slurm.conf
	echo "PrivateData=$1" >>/etc/slurm/slurm.conf
	scontrol reconfigure
	lab_stop burstd
	lab_start burstd
}

@test "/targets has the nodes that run, with the addresses that slurmctld has, and their pool" {
	[ "$(curl -qsS "$url/targets")" = '[]' ]
	job=$(job -N2 --exclusive --wrap "$until_over")
	within 40 job_is "$job" RUNNING
	curl -qsS "$url/targets" | tee "$lab_dir/targets"
	curl -qsSI "$url/targets" | grep -qi '^content-type: application/json'
	[ "$(jq length "$lab_dir/targets")" = 2 ]
	for node in $(scontrol show hostnames "$(job_nodes "$job")"); do
		address=$(scontrol -o show node "$node" | sed -n 's/.* NodeAddr=\([^ ]*\).*/\1/p')
		jq -e --arg node "$node" --arg address "$address" 'any(.[]; .targets == [$address] and
			.labels.__meta_burstd_node == $node and .labels.__meta_burstd_pool == "h100" and
			.labels.__meta_burstd_cluster == "lab" and .labels.__meta_burstd_state == "ready")' "$lab_dir/targets"
	done
	[ "$(status /targets -H 'Host: elsewhere.example')" = 403 ]
	over "$job"
	within 60 eval '[ "$(curl -qsS "$url/targets")" = "[]" ]'
}

@test "/jobs is off by default; with listen_jobs it has who runs and who waits, and no names and no money" {
	[ "$(status /jobs)" = 404 ]
	with_jobs
	within 20 eval '[ "$(status /jobs)" = 200 ]'
	run=$(job -N1 --exclusive --wrap "$until_over")
	within 40 job_is "$run" RUNNING
	within 70 eval '[ "$(state_of "$run")" = runs ]'
	sim_capacity 1
	wait=$(job -N2 --exclusive --array=3 --wrap 'sleep 1')
	within 60 eval '[ "$(state_of "${wait}_3")" = waits ]'
	jobs .
	jobs . "state=waits" | jq -e '.total == 1 and .jobs[0].reason == "capacity" and .jobs[0].nodes == 2 and .jobs[0].pool == "h100" and
		.jobs[0].refusals >= 1 and .jobs[0].until_ms > .now_ms'
	jobs . "state=runs" | jq -e --arg run "$run" '.total == 1 and .jobs[0].job == $run and .jobs[0].partition == "cloud" and .jobs[0].nodes == 1'
	# Any user may ask, and finds nobody's name; nothing about money either.
	run -0 lab_as researcher curl -qsS -f "$url/jobs"
	run ! grep -qiE 'researcher|EUR|29\.52|root' <<<"$output"
	[ "$(status '/jobs?user=researcher')" = 400 ]
	[ "$(status /jobs -X POST)" = 405 ]
	[ "$(status /jobs -H 'Host: elsewhere.example')" = 403 ]
	scancel "$wait"
	over "$run"
}

@test "with PrivateData=jobs slurmctld hides them, and so does burstd" {
	with_jobs
	within 20 eval '[ "$(status /jobs)" = 200 ]'
	private cloud,jobs
	within 20 eval '[ "$(status /jobs)" = 403 ]'
	private cloud
	within 20 eval '[ "$(status /jobs)" = 200 ]'
}
