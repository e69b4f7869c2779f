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

bold='' dim='' red='' green='' yellow='' blue='' magenta='' off=''
if [ -t 1 ] && [ -z "${NO_COLOR-}" ] && [ "${TERM-dumb}" != dumb ]; then
	bold=$'\e[1m' dim=$'\e[2m' red=$'\e[31m' green=$'\e[32m' yellow=$'\e[33m' blue=$'\e[34m' magenta=$'\e[35m' off=$'\e[0m'
fi
t0=${EPOCHREALTIME/./}

# say WHO COLOUR TEXT: one line of the live view
say() {
	local ms=$(((${EPOCHREALTIME/./} - t0) / 1000))
	printf '%s%3d.%d s%s  %s%-9s%s %s\n' "$dim" $((ms / 1000)) $((ms % 1000 / 100)) "$off" "$2" "$1" "$off" "$3"
}

title() {
	printf '\n%s%s%s\n' "$bold" "$1" "$off"
}

# --- the live view ----------------------------------------------------------------------------

declare -A shown=()

# change WHO COLOUR TEXT: say it if it is news
change() {
	[ "${shown[$1]-}" != "$3" ] || return 0
	shown[$1]=$3
	say "$1" "$2" "${3:-empty}"
}

events_seen=0
show_events() {
	local last line
	while IFS=$'\t' read -r last line; do
		say burstd "$magenta" "$line"
		events_seen=$last
	done < <(jq -rs --argjson seen "$events_seen" '
		# What happens to several nodes in one moment is one line.
		map(select(.seq > $seen)) | (map(.seq) | max) as $last |
		group_by([.type, .detail, (.at_ms / 100 | floor)]) | sort_by(.[0].seq)[] |
		[$last, (map(.node | select(. != "-" and . != "") + " ") | join("")) + .[0].type + ": " + .[0].detail] | @tsv' "$lab_dir/events" 2>/dev/null)
}

look() {
	show_events
	change queue "$blue" "$(squeue -h -o 'job %i %T on %D nodes (%r)' | sed 's/ (None)//' | paste -sd';')"
	change nodes "$yellow" "$(sinfo -h -o '%N %T' | sed 's/~$/ (powered down)/; s/#$/ (powering up)/; s/%$/ (powering down)/' |
		paste -sd, | sed 's/,\([^ ]* [a-z]\)/, \1/g')"
	change cloud "$green" "$(sim_summary)"
}

# until_seen SECONDS CMD...: show what happens until CMD succeeds
until_seen() {
	local end=$((${EPOCHREALTIME/./} + $1 * 1000000)) ok=1
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

four_created() {
	[ "$(sim_rows)" = 4 ]
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
	"$lab_dir/bin/simcloud" audit --meter "$lab_dir/meter.json" --wanted "$lab_dir/wanted" --grace 10s >"$lab_dir/audit"
}

# Each of the two has its own clock readings of the same seconds: four instances, one second each at most.
same_cost() {
	burstd_cost=$(burstctl status --json | jq -r '[.pools[].spent | tonumber] | add')
	cloud_cost=$(sim_cost)
	awk -v a="$burstd_cost" -v b="$cloud_cost" 'BEGIN { d = a - b; exit !(b > 0 && d * d <= (4 * 29.52 / 3600) ^ 2) }'
}

burst() {
	title "A user submits a training job: 4 nodes x 8 H100"
	job=$(TRAIN_SECONDS=2 job "$lab_dir/bin/train.sbatch") || return
	output=$lab_dir/home/job-$job.out
	say user "$bold" "\$ sbatch train.sbatch     -> job $job (user researcher, 4 nodes, 32 GPUs, no node exists yet)"
	step "slurmctld allocated four cloud nodes and called burst-resume" until_seen 20 resume_called
	step "burstd created four instances at the provider" until_seen 20 four_created
	step "four slurmd registered from the instances' own addresses" until_seen 30 nodes_up
	step "the job ran" until_seen 40 job_done
	title "The job's output"
	grep -E '^rank ([0-9]|1[0-9]|2[0-9]|3[01])/' "$output" | sort -k2,2V | sed 's/^/  /'
	step "32 ranks on 4 nodes found MASTER_ADDR by name and all-reduced to the right sum" ranks_met
	title "Nothing to do: slurmctld suspends the nodes, burstd deletes the instances"
	step "slurmctld suspended the idle nodes through burst-suspend" until_seen 30 suspend_called
	step "every instance is deleted, and no slurmd is left" until_seen 20 none_alive
	step "burstd has proof that they are gone" until_seen 20 settled
}

summary() {
	title "What it cost"
	step "burstd's figure is the provider's bill" same_cost
	step "audit of the provider's meter: no duplicate and no leaked second" audited
	printf '  burstd     %10.4f EUR\n  simcloud   %10.4f EUR   (its billing meter, %d instances)\n' \
		"$burstd_cost" "$cloud_cost" "$(sim_rows)"
	sed 's/^/  /' "$lab_dir/audit"
	title "Seen to happen"
	printf '  %s\n' "${steps[@]}"
}

echo '{"boot": "2s", "latency": {"create": "300ms"}}' >/run/lab/cloud.json
title "A private Slurm $(slurmctld -V | sed 's/.* //') cluster, burstd, and a simulated GPU cloud"
lab_up || exit
say lab "$dim" "munged, mariadbd, slurmdbd, slurmctld, burstd (as slurm), simcloud: up; c[1-$LAB_NODES] are cloud nodes, none exists"
burstctl events -f --json >"$lab_dir/events" 2>/dev/null &
burst
summary
if [ $failed != 0 ]; then
	printf '\n%sNot every step was seen.%s The logs end so:\n' "$red" "$off"
	lab_logs
	exit 1
fi
say lab "$dim" "done; everything is gone with its namespaces"
