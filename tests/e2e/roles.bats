#!/usr/bin/env bats
# Who may do and see what, by unix groups: two users, finance and an operator, of a real cluster and its ledger.

# Variables from the helper; scripts for the job to expand.
# shellcheck disable=SC2016,SC2034,SC2154
load helper

setup_file() {
	[ -d /run/lab ] || return 1
	lab_up
	local line
	for line in student:20002 accountant:20003 operator:20004; do
		echo "${line%:*}:x:${line#*:}:${line#*:}:one of the lab:/:/bin/bash" >>/etc/passwd
		echo "${line%:*}:x:${line#*:}:" >>/etc/group
	done
	printf '%s\n' 'controlling:x:20010:accountant' 'hpcops:x:20011:operator' >>/etc/group
	sed -i '1i finance_groups = {"controlling"}\noperator_groups = {"hpcops"}' /etc/burstd/burstd.conf
	lab_stop burstd
	lab_start burstd
	lab_spawn ledger slurm "$LAB_BIN/burst-ledger" run --interval 1s
}

# ctl USER ARG...: burstctl as that user
ctl() {
	lab_as "$1" "$LAB_BIN/burstctl" "${@:2}"
}

# job_of USER ARG...: its id
job_of() {
	(cd "$lab_dir/home" && lab_as "$1" sbatch --parsable -p cloud -o /dev/null "${@:2}")
}

# costs USER JOB: can the user see what it cost?
costs() {
	ctl "$1" cost job "$2" >"$BATS_TEST_TMPDIR/cost" 2>&1
}

# rows USER ARG...: of the report, one a line
rows_of() {
	ctl "$1" report --json "${@:2}" | jq -c '.rows[]'
}

@test "two users: each sees their own cost, and nothing of the other's" {
	hers=$(job_of researcher -N1 -J hers --wrap 'sleep 2')
	his=$(job_of student -N1 -J his --wrap 'sleep 2')
	within 60 job_is "$hers" COMPLETED
	within 60 job_is "$his" COMPLETED
	within 60 costs researcher "$hers"
	within 60 costs student "$his"
	run ctl researcher report --by user,job,node,class
	echo "$output"
	[[ $output = *researcher* && $output != *student* && $output != *idle* && $output != *" $his "* ]]
	run ctl student report --by user,job
	[[ $output = *student* && $output != *researcher* && $output != *" $hers "* ]]
	# The sum is that of their own rows.
	[ "$(ctl researcher report --json | jq -r .total.cost)" = "$(rows_of accountant -u researcher | jq -rs '.[0].cost')" ]
	run ctl researcher cost job "$hers" --explain
	echo "$output"
	[[ $output = *'user researcher'*'share '* && $output != *student* ]]
}

@test "a job of somebody else is as one that is not there" {
	his=$(ctl accountant report --by user,job --json | jq -r '[.rows[] | select(.user == "student") | .job][0]')
	run -1 ctl researcher cost job "$his"
	[ "$output" = "burstctl: the ledger knows no job $his of user researcher on bought nodes" ]
	run -1 ctl researcher cost job 987654
	[ "$output" = 'burstctl: the ledger knows no job 987654 of user researcher on bought nodes' ]
	run -1 ctl researcher report --by user -u student
	[[ $output = *'only admins and finance may see what others cost; you are researcher, user'* ]]
	run -0 ctl accountant cost job "$his" --explain
	[[ $output = *'user student'* ]]
}

@test "finance sees all, with what nobody caused, as a table, CSV and JSON" {
	run -0 ctl accountant report --by user,class
	echo "$output"
	[[ $output = *researcher* && $output = *student* && $output = *'GPU-hours ready'* && $output = *'a useful GPU-hour'* ]]
	run -0 ctl accountant report --by user --csv
	[ "$(head -n1 <<<"$output")" = 'user,currency,cost,gpu_seconds,cpu_seconds,job_gpu_seconds' ]
	[ "$(ctl accountant report --json | jq -r '.figures[0].cost')" = "$(lab_as slurm "$LAB_BIN/burst-ledger" report --json | jq -r .total.cost)" ]
	# Their own jobs: there are none.
	[ "$(rows_of accountant --mine | wc -l)" = 0 ]
}

@test "an operator gives orders to nodes, and sees no costs but their own" {
	run -0 ctl operator pause
	run -0 ctl operator resume
	ctl operator audit --json >/dev/null
	grep 'role=operator' /var/log/burstd.log
	ctl operator events --json | grep -q 'ordered by uid 20004, operator'
	[ "$(rows_of operator | wc -l)" = 0 ]
	run -1 ctl operator reload
	[ "$output" = 'burstctl: reload is for admins; you are operator, operator' ]
	run -1 ctl accountant pause
	[ "$output" = 'burstctl: pause is for admins and operators; you are accountant, finance' ]
	run -1 ctl student pause
	[ "$output" = 'burstctl: pause is for admins and operators; you are student, user' ]
	run -0 ctl accountant budget list
	run -1 ctl operator budget list -u student
	run -1 ctl operator budget set none --amount 1 --reason x
	[ "$output" = 'burstctl: budget-set is for admins and finance; you are operator, operator' ]
	run -1 ctl accountant budget set none --amount 1 --reason x
	[ "$output" = 'burstctl: no budget is named "none"' ]
}

@test "a group that is taken out of burstd.conf loses its role, a new member has it by sg" {
	run -0 ctl operator pause
	run -0 ctl operator resume
	sed -i '/^operator_groups/d; s/^finance_groups.*/finance_groups = {"hpcops"}/' /etc/burstd/burstd.conf
	burstctl reload | grep operator_groups
	run -1 ctl operator pause
	[ "$output" = 'burstctl: pause is for admins and operators; you are operator, finance' ]
	# The ledger notices it by itself.
	within 90 eval '[ "$(rows_of accountant | wc -l)" = 0 ]'
	[ "$(rows_of operator --by user | wc -l)" -ge 2 ]
	# A primary group, as after sg or newgrp.
	run -0 setpriv --reuid=student --regid=hpcops --clear-groups "$LAB_BIN/burstctl" report --by user
	[[ $output = *researcher* ]]
	sed -i 's/^finance_groups.*/finance_groups = {"controlling", "nosuchgroup"}/' /etc/burstd/burstd.conf
	run -1 burstctl reload
	[[ $output = *'finance_groups: there is no group "nosuchgroup"'* ]]
	[ "$(rows_of operator --by user | wc -l)" -ge 2 ]
	sed -i '1i operator_groups = {"hpcops"}' /etc/burstd/burstd.conf
	sed -i 's/^finance_groups.*/finance_groups = {"controlling"}/' /etc/burstd/burstd.conf
	burstctl reload
}

@test "reports while it is away: a clear answer; a report that is killed, and the desk itself: passes go on" {
	# Nobody starts it again meanwhile.
	kill -STOP "$(lab_pid ledger)"
	kill -9 "$(pgrep -f 'burst-ledger desk')"
	within 10 eval '[ -z "$(pgrep -f "burst-ledger desk")" ]'
	run -3 ctl researcher report
	[[ $output = *'cannot reach burst-ledger: '*'systemctl status burst-ledger'* ]]
	kill -CONT "$(lab_pid ledger)"
	within 20 ctl researcher report
	lab_stop ledger
	run -3 ctl researcher report
	[ -z "$(pgrep -f 'burst-ledger desk')" ]
	[ ! -e /run/burst-ledger/ctl.sock ]
	lab_spawn ledger slurm "$LAB_BIN/burst-ledger" run --interval 1s
	within 20 ctl researcher report
	# Without the one that makes the passes there is no desk.
	kill -9 "$(lab_pid ledger)"
	within 10 eval '[ -z "$(pgrep -f "burst-ledger desk")" ]'
	lab_spawn ledger slurm "$LAB_BIN/burst-ledger" run --interval 1s
	within 20 ctl researcher report
	lab_stop ledger
	ledger=$(lab_as slurm "$LAB_BIN/burst-ledger" verify)
	[[ $ledger = *good* && $ledger != *NOT* ]]
}
