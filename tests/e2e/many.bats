#!/usr/bin/env bats
# A thousand jobs at once, each with a gate of its own, and burstd killed among them.

# Variables from the helper; scripts for the job to expand.
# shellcheck disable=SC2016,SC2030,SC2031,SC2034,SC2154
load helper
LAB_RESUME_TIMEOUT=100
# Room for all of them at once: 8 nodes with 8 CPUs, 16 jobs to a CPU.
LAB_SLURM_EXTRA='PartitionName=many Nodes=ALL OverSubscribe=FORCE:16 State=UP'

setup() {
	calm
	rows=$(sim_rows)
	slurmctld_log_from_now
}

teardown() {
	[ -n "${BATS_TEST_COMPLETED-}" ] || lab_logs
}

# The jobs whose prolog runs now
gated() {
	pgrep -f "$lab_dir/bin/burst-prolog" | sed 's|.*|/proc/&/environ|' | xargs -r cat 2>/dev/null |
		tr '\0' '\n' | sed -n 's/^SLURM_JOB_ID=//p' | sort -u || true
}

gates_waiting() {
	[ "$(curl -sS --max-time 5 http://127.0.0.1:9818/metrics | sed -n 's/^burstd_gates_waiting //p')" -ge "$1" ]
}

# looked_up SECONDS: the jobs that began by slurmctld's own look, which comes every 30 s, and not by the end of their
# prolog; and so many seconds after the last node had come up
looked_up() {
	slurmctld_log | awk -v late="$1" '
		function seconds(stamp) {
			split(substr(stamp, 13), t, /[:\]]/)
			return t[1] * 3600 + t[2] * 60 + t[3]
		}
		/ Node c[0-9]+ now responding$/ { up = seconds($1) }
		/ job_time_limit: Configuration for JobId=.* complete$/ && seconds($1) - up > late {
			gsub(/.*JobId=([0-9_]+\()?|\)? (is )?complete$/, "")
			print
		}' | sort -u
}

@test "an array of 1000, burstd killed while they wait for their nodes: each runs once, and none waits for slurmctld" {
	hold_boots
	job=$(job -p many --array=1-1000 -n1 -o /dev/null --wrap 'echo $SLURM_ARRAY_TASK_ID >>/run/lab/home/array')
	within 40 gates_waiting 300
	gated >"$lab_dir/gated"
	t0=${EPOCHREALTIME/./}
	# One that begins and ends in between is seen by looking all the time.
	while :; do
		gated
		sleep 0.1
	done >>"$lab_dir/gated" 3>&- &
	looking=$!
	lab_kill burstd
	lab_start burstd
	away=$(((${EPOCHREALTIME/./} - t0) / 1000))
	kill "$looking"
	gated >>"$lab_dir/gated"
	sort -u "$lab_dir/gated" -o "$lab_dir/gated"
	echo "$(wc -l <"$lab_dir/gated") prologs until burstd was back, which took $away ms"
	let_boot
	within 90 job_is "$job" COMPLETED
	[ "$(wc -l <"$lab_dir/home/array")" = 1000 ]
	[ "$(sort -u "$lab_dir/home/array" | wc -l)" = 1000 ]
	[ "$(($(sim_rows) - rows))" = 8 ]
	# None was requeued, nor held (which would have kept it from running).
	[ "$(scontrol -o show job "$job" | grep -c ' Restarts=0 ')" = 1000 ]
	# A prolog waits 30 s for a burstd that has gone.  Only one that needs longer may lose the gates it finds.
	[ "$away" -ge 29000 ] || : >"$lab_dir/gated"
	slurmctld_log | grep -o '[a-z_]*: Configuration for ' | sort | uniq -c
	looked_up 0 | wc -l
	run -0 comm -13 "$lab_dir/gated" <(looked_up 3)
	[ "$output" = "" ]
}

@test "no duplicate and no leaked second in all of this" {
	calm
	audit
}
