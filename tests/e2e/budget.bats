#!/usr/bin/env bats
# Budgets on a real Slurm: what holds before anything is bought, and what the researcher reads (P4).

# Variables from the helper; scripts for the job to expand.
# shellcheck disable=SC2016,SC2034,SC2154
load helper

setup() {
	calm
	rows=$(sim_rows)
}

teardown() {
	[ -n "${BATS_TEST_COMPLETED-}" ] || lab_logs
	lab_burstd_conf
	burstctl reload >/dev/null
}

# budget NAME LINE...: one more in burstd.conf; burstd takes it
budget() {
	printf 'budget "%s" {\n' "$1"
	shift
	printf '\t%s\n' "$@" '}'
}

# with_budgets TEXT: burstd.conf has these
with_budgets() {
	lab_burstd_conf
	echo "$1" >>/etc/burstd/burstd.conf
	burstctl reload
}

comment() {
	scontrol -o show job "$1" | sed -n 's/.* AdminComment=\(.*\)  *StdErr=.*/\1/p' | head -n 1 | sed 's/ *$//'
}

# refused JOB: it was, and nothing was bought for it
refused() {
	within 20 grep -q "Requeuing JobId=$1\$" /var/log/slurm/slurmctld.log
	within 10 job_is "$1" PENDING
	[ "$(sim_rows)" = "$rows" ]
}

@test "a 5-node job against a budget for 3 is refused in money, and runs when the budget is raised" {
	# A node costs 29.52 an hour: with its boot and its end, less than 100 for the two hours of the job.
	with_budgets "$(budget physics 'amount = "300"' 'contact = "finance@example.org"')"
	small=$(job -N2 --exclusive --time=2:00:00 --wrap 'sleep 1')
	within 30 job_is "$small" COMPLETED
	calm
	rows=$(sim_rows)
	big=$(job -N5 --exclusive --time=2:00:00 --wrap 'sleep 1')
	refused "$big"
	within 10 eval 'comment "$big" | grep -qE "^burstd: budget physics: this job needs [0-9.]+ EUR for its 2 h, [0-9.]+ of 300.00 left in [0-9-]+; ask finance@example.org"'
	comment "$big"
	node_is "c[1-8]" 'POWERED_DOWN|POWERING_DOWN|IDLE'
	[ -z "$(sinfo -h -t down,drain -o %n)" ]
	with_budgets "$(budget physics 'amount = "900"')"
	within 60 job_is "$big" COMPLETED
	within 10 eval '[ -z "$(comment "$big")" ]'
}

@test "a job waits while others have its money, and starts when they end" {
	with_budgets "$(budget rate 'rate = "60"' 'each = "user"')"
	first=$(job -N2 --exclusive --time=10 --wrap "$until_over")
	within 30 job_is "$first" RUNNING
	rows=$(sim_rows)
	second=$(job -N1 --exclusive --time=10 --wrap 'sleep 1')
	within 10 eval 'comment "$second" | grep -qE "^burstd: budget rate/[a-z]+: this job needs 29.52 EUR an hour, 0.96 of 60.00 left"'
	job_is "$second" PENDING
	[ "$(sim_rows)" = "$rows" ]
	over "$first"
	within 90 job_is "$second" COMPLETED
}

@test "a job without a time limit is told to have one" {
	scontrol update partition=cloud MaxTime=UNLIMITED
	with_budgets "$(budget all 'amount = "100000"')"
	job=$(job -N1 --exclusive --wrap 'sleep 1')
	refused "$job"
	within 10 eval 'comment "$job" | grep -q "^burstd: budget all: this job has no time limit, so its cost cannot be set aside: give it one by --time"'
	sleep 5 # it is known what the job asks for, so a change is seen
	scontrol update jobid="$job" timelimit=10
	within 130 job_is "$job" COMPLETED
	scontrol update partition=cloud MaxTime=1-0
}

@test "what is set aside survives kill -9, and is given back" {
	with_budgets "$(budget all 'amount = "300"')"
	first=$(job -N2 --exclusive --time=2:00:00 --wrap "$until_over")
	within 30 job_is "$first" RUNNING
	lab_kill burstd
	lab_start burstd
	second=$(job -N3 --exclusive --time=2:00:00 --wrap 'sleep 1')
	within 15 eval 'comment "$second" | grep -q "^burstd: budget all: this job needs"'
	over "$first"
	within 90 job_is "$second" COMPLETED
}

@test "a job that starts on a node that is up causes no resume call, and its budget holds all the same" {
	with_budgets "$(budget rate 'rate = "20"' 'each = "user"')"
	first=$(job -N1 -n4 --time=10 --wrap "$until_over")
	within 30 job_is "$first" RUNNING
	rows=$(sim_rows)
	calls=$(lab_calls resume </var/log/slurm/slurmctld.log | wc -l)
	# Half of the machine is left, and slurmctld gives it to the next job.
	second=$(job -N1 -n4 --time=10 --wrap 'sleep 1')
	within 15 eval 'comment "$second" | grep -qE "^burstd: budget rate/researcher: this job needs 14.76 EUR an hour, 5.24 of 20.00 left"'
	job_is "$second" PENDING
	job_is "$first" RUNNING
	[ "$(lab_calls resume </var/log/slurm/slurmctld.log | wc -l)" = "$calls" ]
	lab_as researcher srun -N1 -n4 --time=10 hostname >"$lab_dir/srun.out" 2>&1 </dev/null || true
	cat "$lab_dir/srun.out"
	grep -q 'burstd: budget rate/researcher: this job needs 14.76 EUR an hour, 5.24 of 20.00 left; the job ends' "$lab_dir/srun.out"
	job_is "$first" RUNNING
	[ -z "$(sinfo -h -t down,drain -o %n)" ]
	over "$first"
	within 90 job_is "$second" COMPLETED
}

# rate_is MONEY: what runs of the budget "rate" costs so much per hour
rate_is() {
	[ "$(burstctl budget show rate -u researcher --json | jq -r '.budgets[0].rate')" = "$1" ]
}

@test "a job's GPUs set aside their part of a shared machine, however it asks for them" {
	with_budgets "$(budget rate 'rate = "300"' 'each = "user"')"
	# Each on a quarter of a machine of 8 GPUs and 8 CPUs, or of two, for 29.52 an hour each.
	for asks in --gpus=2 '--gpus-per-task=1 -n2' '--gpus-per-socket=2 --sockets-per-node=1' --gpus-per-node=2 --gres=gpu:h100:2; do
		# shellcheck disable=SC2086  # words
		job=$(job -N1 $asks --time=10 --wrap "$until_over")
		echo "$asks"
		within 60 job_is "$job" RUNNING
		within 20 rate_is 7.38
		over "$job"
		within 30 job_is "$job" COMPLETED
	done
	job=$(job -N2 --gpus=3 --time=10 --wrap "$until_over")
	within 60 job_is "$job" RUNNING
	within 20 rate_is 14.76
	over "$job"
	within 30 job_is "$job" COMPLETED
}

@test "what a user writes for a type of GPUs passes for nothing that slurmctld says" {
	with_budgets "$(budget rate 'rate = "300"' 'each = "user"')"
	# From a job that is held slurmctld takes it, if it does, and squeue prints it as it is.
	job=$(job -H --gpus=$'x\n99|99|RUNNING|cloud|None|c[1-8]| |(null)|eve|normal|UNLIMITED|8|64|NO|:1' --wrap true) ||
		skip "slurmctld $(lab_slurm_version) does not take it"
	squeue -h -j "$job" -O tres-per-job:0 | grep '^99|'
	run burstctl plan --job "$job"
	echo "$output"
	[[ $output = *"job $job"* && $output != *eve* && $output != *'cannot parse'* ]]
	scancel "$job"
}

@test "nor does what a user writes for an account, and jobs of others start all the same" {
	with_budgets "$(budget rate 'rate = "300"' 'each = "user"')"
	hostile=$(job -N1 -A $'x|\n99|99|RUNNING|cloud|None|c[1-8]| |(null)|eve|normal|UNLIMITED|8|64|NO|' --time=10 --wrap true) ||
		skip "slurmctld $(lab_slurm_version) does not take it"
	squeue -h -j "$hostile" -O Account:0 | grep '^99|'
	run burstctl plan --job "$hostile"
	echo "$output"
	[[ $output = *"job $hostile"* && $output != *eve* && $output != *'cannot parse'* ]]
	other=$(job -N1 --time=10 --wrap true)
	within 60 job_is "$other" COMPLETED
	within 60 job_is "$hostile" COMPLETED
}

@test "short jobs that start together on one machine all pay for their part of it" {
	with_budgets "$(budget jobs 'amount = "500"' 'each = "account"')"
	one=$(job -N1 -n1 -A one --time=5 --wrap 'sleep 2')
	two=$(job -N1 -n1 -A two --time=5 --wrap 'sleep 2')
	within 60 job_is "$one" COMPLETED
	within 60 job_is "$two" COMPLETED
	[ "$(scontrol show job "$one" | grep ' NodeList=')" = "$(scontrol show job "$two" | grep ' NodeList=')" ]
	burstctl budget list | tee "$lab_dir/list"
	grep -q '^jobs/one ' "$lab_dir/list"
	grep -q '^jobs/two ' "$lab_dir/list"
}

# used_up: what runs since some seconds has cost more than the budget has now
used_up() {
	with_budgets "$(budget jobs 'amount = "0.02"' 'each = "user"' 'stop_at = 100' 'grace = "4s"' "$@")"
}

@test "jobs of a budget that is used up are requeued, wait with the reason, and an override lets them run" {
	with_budgets "$(budget jobs 'amount = "500"' 'each = "user"')"
	job=$(job -N1 --exclusive --requeue --time=10 --wrap "$until_over")
	within 30 job_is "$job" RUNNING
	sleep 5
	used_up 'requeue_at = 100'
	within 60 job_is "$job" PENDING
	within 60 eval 'comment "$job" | grep -qE "^burstd: budget jobs/researcher is used up for [0-9-]+, so it was requeued; tried again when that changes"'
	burstctl budget show jobs | tee "$lab_dir/show"
	grep -qE 'since .* its jobs are requeued, each after 4s' "$lab_dir/show"
	burstctl events | grep -q 'job-warned.*this job is requeued at'
	run burstctl budget override jobs --add 5 --reason x
	[ "$status" != 0 ]
	grep -q 'budget jobs is one for each: say whose, as in jobs/NAME' <<<"$output"
	burstctl budget override jobs/researcher --add 500 --reason 'paper deadline' | tee "$lab_dir/override"
	grep -q 'budget jobs/researcher has 500.00 EUR more until' "$lab_dir/override"
	within 150 job_is "$job" RUNNING
	burstctl budget overrides | grep -qE '^ *1 +jobs/researcher +add +500.00 .* (root|uid [0-9]+, admin) +paper deadline'
	burstctl budget show jobs | grep -qE '^ +overrides +500.00'
	lab_kill burstd
	lab_start burstd
	burstctl budget show jobs | grep -qE '^ +overrides +500.00'
	job_is "$job" RUNNING
	over "$job"
	within 60 job_is "$job" COMPLETED
	burstctl budget revoke 1 --reason 'it ran'
	burstctl budget overrides --all | grep -q 'it ran'
}

# with_signal TEXT: burstd.conf has these, and a signal for jobs to save their work
with_signal() {
	lab_burstd_conf
	sed -i 's/^[ \t]*pool "h100" {/&\n\tcheckpoint_signal = "USR1"/' /etc/burstd/burstd.conf
	echo "$1" >>/etc/burstd/burstd.conf
	burstctl reload
}

# It would be requeued after 110 s, and is told to save its work at once.
tells() {
	with_signal "$(budget jobs 'amount = "0.02"' 'each = "user"' 'stop_at = 100' 'grace = "110s"' 'requeue_at = 100')"
	within 40 eval 'burstctl events -j "$job" | grep -q job-warned'
}

@test "a job that dies of its budget's signal is requeued, also if burstd is away then, and not one that is cancelled" {
	for saves in "" "trap 'sleep 12; exit 1' USR1;"; do
		with_signal "$(budget jobs 'amount = "500"' 'each = "user"')"
		job=$(job -N1 --exclusive --requeue --time=10 --wrap "$saves $until_over")
		within 30 job_is "$job" RUNNING
		sleep 5
		tells
		if [ -n "$saves" ]; then
			sleep 2
			lab_kill burstd
			within 30 job_is "$job" FAILED
			lab_start burstd
		fi
		within 50 job_is "$job" PENDING
		burstctl events -j "$job" | grep -q 'job-sent-back.*it ended as FAILED when it was told to save its work: budget jobs is used up'
		within 60 eval 'comment "$job" | grep -q "^burstd: budget jobs/researcher is used up for"'
		scancel "$job"
	done
	with_signal "$(budget jobs 'amount = "500"' 'each = "user"')"
	job=$(job -N1 --exclusive --requeue --time=10 --wrap "trap 'sleep 60' USR1; $until_over")
	within 30 job_is "$job" RUNNING
	sleep 5
	tells
	scancel "$job"
	within 60 eval 'burstctl events -j "$job" | grep -q "job-ended.*it ended as CANCELLED"'
	job_is "$job" CANCELLED
}

# set_to AMOUNT BY...: finance sets what researcher has, which is shown; its number
set_to() {
	burstctl budget set jobs/researcher --amount "$1" --reason 'the board' "${@:2}" >"$lab_dir/set"
	cat "$lab_dir/set" >&2
	sed -n 's/^override \([0-9]*\): .*/\1/p' "$lab_dir/set"
}

shows_set() {
	burstctl budget show jobs | tee "$lab_dir/show"
	grep -qE "^ +set to $1 by (root|uid [0-9]+)(.*), override $2; in burstd.conf 20.00\$" "$lab_dir/show"
}

@test "finance sets what a budget has: a job that waits runs, over kill -9; with 0 none does, and revoke ends it" {
	with_budgets "$(budget jobs 'amount = "20"' 'each = "user"')"
	job=$(job -N1 --exclusive --time=2:00:00 --wrap "$until_over")
	refused "$job"
	run lab_as researcher "$lab_dir/bin/burstctl" budget set jobs/researcher --amount 500 --reason x
	[ "$status" != 0 ]
	grep -q 'budget-set is for' <<<"$output"
	high=$(set_to 500 --for 2d)
	within 150 job_is "$job" RUNNING
	shows_set 500.00 "$high"
	none=$(set_to 0)
	shows_set 0.00 "$none"
	lab_kill burstd
	lab_start burstd
	shows_set 0.00 "$none"
	job_is "$job" RUNNING
	over "$job"
	within 60 job_is "$job" COMPLETED
	calm
	rows=$(sim_rows)
	job=$(job -N1 --exclusive --time=2:00:00 --wrap 'sleep 1')
	refused "$job"
	within 10 eval 'comment "$job" | grep -qE "^burstd: budget jobs/researcher: this job needs [0-9.]+ EUR for its 2 h, 0.00 of 0.00 left in [0-9-]+"'
	run burstctl budget revoke "$high" --reason 'it is over'
	[ "$status" != 0 ]
	grep -q "override $high has ended already, by .*: set anew: $none" <<<"$output"
	burstctl budget revoke "$none" --reason 'the board again'
	run shows_set 0.00 "$none"
	[ "$status" != 0 ]
	high=$(set_to 500 --for 2d)
	shows_set 500.00 "$high"
	within 150 job_is "$job" COMPLETED
	burstctl budget overrides | grep -qE "^ *$high +jobs/researcher +set to +500.00 "
	burstctl budget revoke "$high" --reason 'it is over'
	burstctl budget list | grep -qE '^jobs/researcher +[0-9-]+ +20.00 '
	run shows_set 500.00 "$high"
	[ "$status" != 0 ]
	burstctl events | grep -q "budget-set.*budget jobs/researcher: override $none sets its amount to 0.00 EUR without end"
}

@test "jobs that cannot be requeued are told, go on, and are cancelled at kill_at" {
	with_budgets "$(budget jobs 'amount = "500"' 'each = "user"')"
	lab_as researcher srun -N1 --exclusive --time=10 sleep 600 >"$lab_dir/srun.out" 2>&1 </dev/null &
	srun=$!
	within 30 eval '[ -n "$(squeue -h -n sleep -t RUNNING -o %A)" ]'
	interactive=$(squeue -h -n sleep -t RUNNING -o %A)
	job=$(job -N1 --exclusive --no-requeue --time=10 --wrap "$until_over")
	within 30 job_is "$job" RUNNING
	sleep 3
	used_up 'requeue_at = 100'
	within 40 eval 'burstctl events | grep -q "job-goes-on.*job $interactive"'
	within 40 eval 'burstctl events | grep -q "job-goes-on.*job $job"'
	job_is "$interactive" RUNNING
	job_is "$job" RUNNING
	used_up 'kill_at = 100'
	within 60 job_is "$interactive" CANCELLED
	within 60 job_is "$job" CANCELLED
	wait "$srun" || true
	cat "$lab_dir/srun.out"
	grep -q 'burstd: budget jobs/researcher is used up for .*: this job is requeued at' "$lab_dir/srun.out"
	grep -q 'burstd: budget jobs/researcher is used up for .*: this job is cancelled at' "$lab_dir/srun.out"
	[ -z "$(sinfo -h -t down,drain -o %n)" ]
}

@test "the nodes of a budget of machines that is used up are drained, and their jobs run to their end" {
	with_budgets "$(budget machines 'amount = "500"')"
	job=$(job -N2 --exclusive --time=10 --wrap "$until_over")
	within 30 job_is "$job" RUNNING
	sleep 5
	with_budgets "$(budget machines 'amount = "0.02"' 'drain_at = 100')"
	nodes=$(scontrol -o show job "$job" | sed -n 's/.* NodeList=\(c[^ ]*\).*/\1/p')
	within 30 eval '[ -z "$(scontrol -o show node "$nodes" | grep -v "State=[^ ]*\(DRAIN\|POWER_DOWN\)")" ]'
	scontrol -o show node "$nodes" | grep -q 'Reason=burstd: the budget that it counts for is used up'
	job_is "$job" RUNNING
	over "$job"
	within 60 job_is "$job" COMPLETED
	within 90 node_is "$nodes" 'POWERED_DOWN|POWERING_DOWN|IDLE'
}

@test "with budgets_away = requeue no job starts on a node that is up while burstd is away" {
	with_budgets "$(budget rate 'rate = "60"')"
	[ ! -e /var/spool/burstd/.requeue-while-away ]
	with_budgets "budgets_away = requeue
$(budget rate 'rate = "60"')"
	[ -f /var/spool/burstd/.requeue-while-away ]
	first=$(job -N1 -n4 --time=10 --wrap "$until_over")
	within 30 job_is "$first" RUNNING
	lab_stop burstd
	second=$(job -N1 -n4 --time=10 --wrap 'sleep 1')
	# Half of the machine is left; burst-prolog looks for burstd for 30 s.
	within 50 grep -q "Requeuing JobId=$second\$" /var/log/slurm/slurmctld.log
	job_is "$first" RUNNING
	lab_start burstd
	over "$first"
	within 150 job_is "$second" COMPLETED
	with_budgets ''
	[ ! -e /var/spool/burstd/.requeue-while-away ]
}

@test "a budget of an account is for all accounts below it, and slurmdbd may be down" {
	sacctmgr -i add account phys parent=root description=x organization=x >/dev/null
	sacctmgr -i add account hep parent=phys description=x organization=x >/dev/null
	sacctmgr -i add account bio parent=root description=x organization=x >/dev/null
	sacctmgr -i add user researcher account=hep,bio >/dev/null
	within 10 eval 'scontrol -o show assoc_mgr flags=assoc | grep -q "Account=hep .*ParentAccount=phys"'
	lab_stop slurmdbd
	with_budgets "$(budget physics 'accounts = {"PHYS"}' 'amount = "50"')"
	other=$(job -A bio -N1 --exclusive --time=2:00:00 --wrap 'sleep 1')
	within 40 job_is "$other" COMPLETED
	calm
	rows=$(sim_rows)
	job=$(job -A hep -N1 --exclusive --time=2:00:00 --wrap 'sleep 1')
	refused "$job"
	within 10 eval 'comment "$job" | grep -qE "^burstd: budget physics: this job needs [0-9.]+ EUR for its 2 h, 50.00 of 50.00 left in"'
	with_budgets "$(budget physics 'accounts = {"phys"}' 'amount = "500"')"
	within 60 job_is "$job" COMPLETED
	lab_start slurmdbd
}

# allocation ID ACCOUNT AMOUNT: as ColdFront's API has it
allocation() {
	printf '{"id":%s,"project":"p","resource":"r","status":"Active","allocation_users":null,"allocation_attributes":[%s,%s]}' "$1" \
		"{\"allocation_attribute_type\":\"slurm_account_name\",\"value\":\"$2\"}" \
		"{\"allocation_attribute_type\":\"Cloud Budget (EUR)\",\"value\":\"$3\"}"
}

@test "allocations of ColdFront become amounts of accounts, once; of a file with a mistake nothing is taken" {
	with_budgets "$(budget cloud 'amount = "1"' 'each = "account"')"
	import=(burstctl budget import "$lab_dir/allocations.json" --budget cloud --reason ColdFront)
	echo "[$(allocation 3 Physics 500),$(allocation 4 chem x)]" >"$lab_dir/allocations.json"
	run "${import[@]}"
	[ "$status" != 0 ]
	grep -q 'allocation 4: "Cloud Budget (EUR)": "x" is no amount' <<<"$output"
	[ "$(burstctl budget overrides cloud --json | jq '.overrides | length')" = 0 ]
	echo "[$(allocation 3 Physics 500),$(allocation 4 chem 0)]" >"$lab_dir/allocations.json"
	"${import[@]}" | grep ': 2 set, 0 to set, 0 as they were'
	burstctl budget list | grep -E '^cloud/physics +[0-9-]+ +500.00 '
	burstctl budget list | grep -E '^cloud/chem +[0-9-]+ +0.00 '
	"${import[@]}" --json | jq -e '[.accounts[].result] == ["same", "same"]'
	[ "$(burstctl budget overrides cloud --json | jq '.overrides | length')" = 2 ]
}
