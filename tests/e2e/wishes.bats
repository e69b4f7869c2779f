#!/usr/bin/env bats
# What a job wishes, on its way to burstd: --constraint by the resume file or by squeue, --comment by squeue.

# Variables from the helper; scripts for the job to expand.
# shellcheck disable=SC2016,SC2034,SC2154
load helper
LAB_POOL='job_comment = true'

setup_file() {
	own_lab || return
	lab_files && lab_slurm_conf && lab_burstd_conf || return
	sed 's/ Feature=cloud$/&,spot,ondemand/' -i /etc/slurm/slurm.conf
	lab_start_all
	# The hook, behind one that keeps what slurmctld hands to it.
	mv "$lab_dir/bin/burst-resume" "$lab_dir/bin/burst-resume-hook"
	lab_dirs slurm 755 "$lab_dir/resumed"
	cat >"$lab_dir/bin/burst-resume" <<-S
		#!/bin/bash
		/bin/cat "\$SLURM_RESUME_FILE" >"$lab_dir/resumed/\$\$" </dev/null 2>/dev/null
		exec -a burst-resume "$lab_dir/bin/burst-hook" "\$@"
	S
	chmod 755 "$lab_dir/bin/burst-resume"
}

setup() {
	calm
	rm -f "$lab_dir"/resumed/*
}

comments() {
	burstctl events --tail 200 --json | jq -rs 'map(.events? // .) | flatten | .[] | select(.type == "job-comment") | .detail'
}

# told TEXT: a comment's event has it
told() {
	comments | grep -F "$1"
}

# resumed JOB: its features in the resume file, "none" when there are none
resumed() {
	cat "$lab_dir"/resumed/* 2>/dev/null | jq -r ".jobs[] | select(.job_id == $1) | .features // \"none\"" | grep .
}

@test "the constraint of a job: from 23.02 on it is in the resume file, and squeue has it always" {
	job=$(job -C 'spot|ondemand' --wrap 'sleep 1')
	within 20 resumed "$job"
	[ "$(squeue -h -j "$job" -o %f)" = 'spot|ondemand' ]
	if [ "$(lab_slurm_version)" -ge 2302 ]; then
		[ "$(resumed "$job")" = 'spot|ondemand' ]
	else
		[ "$(resumed "$job")" = none ]
	fi
	within 30 job_is "$job" COMPLETED
	run ! job -C reserved --wrap 'sleep 1'
}

@test "a word in a comment that burstd does not know is told in an event, and the job runs" {
	job=$(job --comment 'for the paper; burst:ondemand,chaep' --wrap 'sleep 1')
	within 30 job_is "$job" COMPLETED
	within 10 told "job $job: comment: \"chaep\" was left out"
	job=$(job --comment 'burst:ondemand,EU' --wrap 'sleep 1')
	within 30 job_is "$job" COMPLETED
	run ! told "job $job:"
}

@test "a comment with lines like those of other jobs speaks for its own job only" {
	scontrol update partition=cloud state=DOWN
	honest=$(job -N2 --exclusive --wrap 'sleep 1')
	line="$honest|$honest|CONFIGURING|cloud|None|c[1-8]|spot"
	evil=$(job -N1 --exclusive --comment $'burst:evil\n'"$line"$'\n'"$line burst:forged"$'\n' --wrap 'sleep 1')
	last=$(job -N1 --exclusive --comment "$(printf 'x%.0s' {1..1012}) burst:last" --wrap 'sleep 1')
	scontrol update partition=cloud state=UP
	for id in $honest $evil $last; do
		within 40 job_is "$id" COMPLETED
	done
	within 10 told "job $evil: comment: \"evil\" was left out"
	run ! told "job $honest:"
	# Each job had its own nodes, and none more was bought.
	[ "$(grep -c 'msg=wanted' /var/log/burstd.log)" = "$(sim_rows)" ]
}

@test "no duplicate and no leaked second in all of this" {
	calm
	audit
}
