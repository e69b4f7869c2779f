#!/bin/bash
# demo.sh: the main job, live, on a private real Slurm cluster and a simulated GPU cloud.  No account, no money.
#
# Everything runs in namespaces of its own (tests/e2e/lab/enter says which) and is gone when this ends.  Exit
# status 0 only if every step was seen to happen; 77 where root or namespaces are refused.
set -u
cd "$(dirname "$(readlink -f "$0")")/.." || exit
[ "${1-}" = --inside ] || exec tests/e2e/lab/enter scripts/demo.sh --inside

LAB_SUSPEND_TIME=3 LAB_SUSPEND_TIMEOUT=3 LAB_SETTLE=2s
LAB_SIM_ARGS="--config /run/lab/cloud.json"
. tests/e2e/lab/lab.sh
: "${PATIENCE:=1}" # so many times longer is everything waited for: on a machine that does much else

bold='' dim='' red='' green='' yellow='' blue='' magenta='' off=''
if [ -t 1 ] && [ -z "${NO_COLOR-}" ] && [ "${TERM-dumb}" != dumb ]; then
	bold=$'\e[1m' dim=$'\e[2m' red=$'\e[31m' green=$'\e[32m' yellow=$'\e[33m' blue=$'\e[34m' magenta=$'\e[35m' off=$'\e[0m'
fi
width=61 # of the text of a line of the live view: 80 in all
statement=${BUILD:-build}/demo-statement.html # is left
t0=${EPOCHREALTIME%???}
t0=${t0/./}

now_ms() {
	local us=${EPOCHREALTIME/./}
	echo "${us%???}"
}

# say_at MS WHO COLOUR TEXT: one line of the live view, or more, if need be; MS since 1970
say_at() {
	local ms=$(($1 - t0)) text=$4 head
	printf '%s%3d.%d s%s  %s%-9s%s ' "$dim" $((ms / 1000)) $((ms % 1000 / 100)) "$off" "$3" "$2" "$off"
	while [ ${#text} -gt $width ]; do
		head=${text:0:width}
		head=${head% *}
		printf '%s\n%19s' "$head" ''
		text=${text#"$head"}
		text=${text# }
	done
	printf '%s\n' "$text"
}

say() {
	say_at "$(now_ms)" "$@"
}

title() {
	printf '\n%s%s%s\n' "$bold" "$1" "$off"
}

# --- the live view ----------------------------------------------------------------------------
#
# What slurmctld called, what burstd decided and what the cloud did comes from their own records, with the times at
# which it happened.  Queue and nodes are looked at again and again, the effect before the cause: none is seen alone.

declare -A shown=()
calls_seen=0 events_seen=0 cloud_seen=0
causes='queue nodes' # which of the two leads to which: jobs want nodes, then nodes start jobs

see_queue() {
	squeue -h -o 'job %i %T on %D nodes (%r)' | sed 's/ (None)//' | paste -sd';'
}

see_nodes() {
	sinfo -h -o '%N %T' | sort | sed 's/ idle~$/ powered down/; s/ idle%$/ powering down/
		s/~$/, not powered/; s/#$/, powering up/; s/%$/, powering down/' | paste -sd';' | sed 's/;/; /g'
}

# What was looked at and has changed since, causes first, as: MS, who, text.
changes() {
	local who ms
	local -n seen=$1
	ms=$(now_ms)
	for who in $causes; do
		[ "${shown[$who]-}" = "${seen[$who]}" ] || printf '%s\t%s\t%s\n' "$ms" "$who" "${seen[$who]:-empty}"
	done
}

# slurmctld's calls of our programs, from its log.
calls() {
	local stamp what nodes
	sed -nE 's/^\[([^]]*)\] .*power_save: .*(waking|suspending) nodes ([^ ]*).*/\1 \2 \3/p' /var/log/slurm/slurmctld.log |
		tail -n +$((calls_seen + 1)) | while read -r stamp what nodes; do
		case $what in
		waking) what=ResumeProgram ;;
		*) what=SuspendProgram ;;
		esac
		printf '%s\tslurmctld\tcalls %s for %s\n' "$(date -d "$stamp" +%s%3N)" "$what" "$nodes"
	done
}

# What happens to several nodes in one moment is one line: events WHO; JSON objects at_ms, node, type, text
events() {
	local ms nodes text
	jq -rs 'group_by([.type, .text]) | sort_by(.[0].seq)[] | (map(.address // empty) | join(" ")) as $addresses |
		[.[0].at_ms, (map(.node) | sort | join(",")),
			.[0].type + if $addresses != "" then ": " + $addresses else .[0].text end] | @tsv' | while IFS=$'\t' read -r ms nodes text; do
		[[ $nodes != *,* ]] || nodes=$(scontrol show hostlist "$nodes")
		printf '%s\t%s\t%s %s\n' "$ms" "$1" "$nodes" "$text"
	done
}

# The two clocks are a few ms apart: what burstd asked for comes before what the cloud did, what it heard after.
burstd_events() {
	burstctl events --json --since "$events_seen" >"$lab_dir/news" 2>/dev/null
	cat "$lab_dir/news" >>"$lab_dir/events"
	jq -c '{seq, node, type, at_ms: (.at_ms + if .type | IN("created", "delete-accepted", "seen") then 10 else 0 end)} +
		if .type == "created" then {address: (.detail | capture("address (?<a>[^ ]*)").a)}
		else {text: (": " + .detail)} end' "$lab_dir/news"
}

cloud_events() {
	sim_of "/admin/events?after=$cloud_seen" '.events[] | {seq, at_ms: (.at_ms + 3), node, type: .event, text: ""} | @json'
}

declare -A colour=([queue]=$blue [nodes]=$yellow [cloud]=$green [slurmctld]=$blue [burstd]=$magenta)

# last FILE SEQ: the highest number in FILE, or SEQ
last() {
	jq -s --argjson seen "$2" '[$seen, .[].seq] | max' "$1"
}

look() {
	local -A now=()
	local ms who text
	for who in $(tr ' ' '\n' <<<"$causes" | tac); do
		now[$who]=$("see_$who")
	done
	changes now >"$lab_dir/look.changes"
	cloud_events >"$lab_dir/look.cloud"
	burstd_events >"$lab_dir/look.burstd"
	calls >"$lab_dir/look.calls"
	while IFS=$'\t' read -r ms who text; do
		say_at "$ms" "$who" "${colour[$who]}" "$text"
	done < <({
		cat "$lab_dir/look.calls"
		events burstd <"$lab_dir/look.burstd"
		events cloud <"$lab_dir/look.cloud"
		cat "$lab_dir/look.changes"
	} | sort -sn -k1,1)
	for who in $causes; do shown[$who]=${now[$who]}; done
	calls_seen=$((calls_seen + $(wc -l <"$lab_dir/look.calls")))
	events_seen=$(last "$lab_dir/look.burstd" "$events_seen")
	cloud_seen=$(last "$lab_dir/look.cloud" "$cloud_seen")
}

# until_seen SECONDS CMD...: show what happens until CMD succeeds
until_seen() {
	local end=$((${EPOCHREALTIME/./} + $1 * PATIENCE * 1000000)) ok=1
	shift
	until "$@" >/dev/null 2>&1; do
		look
		[ "${EPOCHREALTIME/./}" -lt $end ] || {
			ok=0
			break
		}
		sleep 0.1
	done
	look
	[ $ok = 1 ]
}

# --- the steps --------------------------------------------------------------------------------

steps=() failed=0

# step TEXT CMD...: CMD says whether it was seen
step() {
	local text=$1
	shift
	if "$@"; then
		steps+=("$green✓$off $text")
	else
		steps+=("$red✗$off $text")
		failed=1
	fi
}

job_is() {
	scontrol -o show job "$job" | grep -q " JobState=$1 "
}

# created N: so many instances there ever were
created() {
	[ "$(sim_rows)" = "$1" ]
}

# Each node of the job is up at the address that the provider gave its instance.
nodes_up() {
	local node addr n=0
	while read -r node addr; do
		scontrol -o show node "$node" | grep ' State=[^ ]*POWER' && return 1
		scontrol -o show node "$node" | grep -q " NodeAddr=$addr " || return 1
		n=$((n + 1))
	done < <(sim_addresses)
	[ $n = 4 ]
}

# slurmctld called the hook, and burstd has it from there.
resume_called() {
	grep -q 'power_save: .*waking nodes' /var/log/slurm/slurmctld.log && event_for_4 wanted
}

suspend_called() {
	grep -q 'power_save: .*suspending nodes' /var/log/slurm/slurmctld.log && event_for_4 released && all_powered_down
}

event_for_4() {
	[ "$(jq -r --arg type "$1" 'select(.type == $type) | .node' "$lab_dir/events" | sort -u | wc -l)" = 4 ]
}

job_done() {
	job_is COMPLETED
}

ranks_met() {
	[ "$(grep -c '^rank [0-9]*/32 host c[1-8] .* allreduce 496$' "$output")" = 32 ] &&
		[ "$(sed -n 's/^resolved [^ ]* //p' "$output" | sort -u | wc -l)" = 1 ]
}

all_powered_down() {
	! sinfo -h -N -o %T | grep -qvx 'idle~'
}

none_alive() {
	[ "$(sim_alive)" = 0 ] && ! pgrep -x slurmd
}

settled() {
	[ "$(burstctl nodes --json | jq '[.nodes[] | select(.state | IN("gone", "none") | not)] | length')" = 0 ]
}

audited() {
	"$lab_here/wanted" >"$lab_dir/wanted"
	sim GET /admin/meter >"$lab_dir/meter.json"
	"$lab_dir/bin/simcloud" audit --meter "$lab_dir/meter.json" --wanted "$lab_dir/wanted" --grace $((10 * PATIENCE))s >"$lab_dir/audit"
}

# Each of the two has its own clock readings of the same seconds: one second for each instance at most.
same_cost() {
	burstd_cost=$(burstctl status --json | jq -r '[.pools[].spent | tonumber] | add')
	cloud_cost=$(sim_cost)
	awk -v a="$burstd_cost" -v b="$cloud_cost" -v n="$(sim_rows)" \
		'BEGIN { d = a - b; exit !(b > 0 && d * d <= (n * 29.52 / 3600) ^ 2) }'
}

ledger() {
	lab_as slurm "$lab_dir/bin/burst-ledger" "$@" 2>>/var/log/ledger.log
}

ends_are_known() {
	[ "$(sacct -n -X -P -o state | grep -c COMPLETED)" = 2 ]
}

# Its parts, by whole seconds of each machine, are the bill; both jobs have one.
shared_out() {
	lab_wait $((10 * PATIENCE)) ends_are_known || return
	ledger once || return
	ledger report --by job --json >"$lab_dir/report.json" &&
		[ "$(jq '[.rows[] | select(.job != "")] | length' "$lab_dir/report.json")" = 2 ] &&
		awk -v a="$(jq -r .total.cost "$lab_dir/report.json")" -v b="$cloud_cost" -v n="$(sim_rows)" \
			'BEGIN { d = a - b; exit !(b > 0 && d * d <= (n * 29.52 / 3600) ^ 2) }'
}

# The first rank of each node.
show_output() {
	local ranks
	ranks=$(grep -E '^rank [0-9]+/32 ' "$output" | sort -k2,2V)
	grep ' local_rank 0 ' <<<"$ranks" | sed 's/^/  /'
	printf '  ... and %d more; %d of 32 have this sum\n' "$(grep -vc ' local_rank 0 ' <<<"$ranks")" \
		"$(grep -c ' allreduce 496$' <<<"$ranks")"
}

burst() {
	title "A user submits a training job: 4 nodes x 8 H100"
	job=$(TRAIN_SECONDS=$((2 * PATIENCE)) job "$lab_dir/bin/train.sbatch") || return
	first=$job
	output=$lab_dir/home/job-$job.out
	say user "$bold" "\$ sbatch train.sbatch  # job $job: 4 nodes, 32 GPUs; none exists"
	step "slurmctld allocated four cloud nodes and called burst-resume" until_seen 20 resume_called
	step "burstd created four instances at the provider" until_seen 20 created 4
	causes='nodes queue'
	step "four slurmd registered from the instances' own addresses" until_seen 30 nodes_up
	causes='queue nodes'
	step "the job ran" until_seen 40 job_done
	title "The job's output: each of 32 ranks prints a line"
	show_output
	step "32 ranks on 4 nodes met at MASTER_ADDR, and their all-reduce is right" ranks_met
	title "No job left: slurmctld suspends the nodes, burstd deletes the instances"
	step "slurmctld suspended the idle nodes through burst-suspend" until_seen 30 suspend_called
	step "every instance is deleted, and no slurmd is left" until_seen 20 none_alive
	step "burstd has proof that they are gone" until_seen 20 settled
}

# The worst moment for a script: the machines exist, the reply that says so is lost, and who asked for them is dead.
crash() {
	local rows
	rows=$(sim_rows)
	title "What no script survives: the reply to a create is lost, and burstd is killed"
	sim_hold create after
	job=$(job -N2 --exclusive --wrap 'sleep 1') || return
	say user "$bold" "\$ sbatch -N2 ...  # job $job; simcloud will keep its reply to itself"
	step "the provider made two machines, and its reply did not arrive" until_seen 20 created $((rows + 2))
	until_seen 10 sim_held
	lab_kill burstd
	say demo "$red" "kill -9 burstd: in its journal is what it was about to do, not what came of it"
	sim_faults_clear
	lab_start_burstd || return
	say demo "$bold" "burstd is started again"
	step "the job ran on just these two: burstd found them, and bought no others" until_seen 40 job_done
	step "they are deleted as well" until_seen 30 none_alive
	step "two machines on the provider's meter, not four" created $((rows + 2))
	until_seen 20 settled
}

summary() {
	title "What it cost"
	step "burstd's figure is the provider's bill" same_cost
	step "audit of the provider's meter: no duplicate and no leaked second" audited
	printf '  burstd     %10.4f EUR\n  simcloud   %10.4f EUR   (its billing meter, %d instances)\n' \
		"$burstd_cost" "$cloud_cost" "$(sim_rows)"
	sed 's/^/  /' "$lab_dir/audit"
	title "Who caused it, by whole seconds; - is nobody: the time that no job had"
	step "burst-ledger divides the same bill among the jobs" shared_out
	ledger report --by job,class | sed 's/^/  /'
	title "Seen to happen"
	printf '  %s\n' "${steps[@]}"
	title "The statement of job $first, as its owner reads it: burstctl cost job $first"
	ledger job "$first" | fold -s -w 78 | sed 's/^/  /; s/ *$//'
	ledger export statement >"$statement" && printf '  As a page for a browser: %s\n' "$statement"
}

starting() {
	printf ' %s' "$1"
}
LAB_SAY=starting

echo '{"boot": "2s", "latency": {"create": "300ms"}}' >/run/lab/cloud.json
title "A private Slurm $(slurmctld -V | sed 's/.* //') cluster, burstd, and a simulated GPU cloud"
printf '%s  0.0 s  lab%s       starting' "$dim" "$off"
lab_up || exit
echo
say lab "$dim" "all up; c[1-$LAB_NODES] are cloud nodes, none of them exists"
events_seen=$(burstctl events --json | jq -s 'map(.seq) | max // 0')
burst
crash
summary
if [ $failed != 0 ]; then
	printf '\n%sNot every step was seen.%s The logs end so:\n' "$red" "$off"
	lab_logs
	exit 1
fi
say lab "$dim" "done; everything is gone with its namespaces"
printf '\nTo try it by hand: %smake lab%s, a shell in a cluster like this one.\n' "$bold" "$off"
