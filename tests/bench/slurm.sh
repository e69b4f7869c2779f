#!/bin/bash
# slurm.sh: what burstd adds to a real slurmctld.  Run by run.sh inside tests/e2e/lab/enter; figures as JSON lines.
#
#   gate       sbatch to running on 4 nodes, with burst-prolog as PrologSlurmctld and without
#   addresses  1,000 nodes addressed: one job, 500 x 2, 1,000 x 1 (instances that boot nothing; create 1.5 s,
#              list 0.2 s), beside one scontrol update of all of them
#
# slurm.sh PART OUT: one part, appended to OUT.

# Variables for lab.sh.
# shellcheck disable=SC2034
set -eu
part=$1 out=$2
LAB_RESUME_TIMEOUT=300
[ "$part" = gate ] || LAB_NODES=1000 LAB_BOOT='' LAB_MAX_RATE=100000
# shellcheck source=tests/e2e/lab/lab.sh
. tests/e2e/lab/lab.sh

now_ms() {
	echo $((${EPOCHREALTIME/./} / 1000))
}

# figure NAME VALUE_MS [TARGET_MS]
figure() {
	printf 'slurm   %-44s %10d ms %10s\n' "$1" "$2" "${3-}"
	jq -nc --arg n "$1" --argjson v "$2" --argjson t "${3:-null}" \
		'{bench: "slurm", name: $n, value: $v, unit: "ms", target: $t}' >>"$out"
}

# Of the events of this kind in slurmctld's log, the first or last after $1 ms: ms since 1970.  at head|tail PATTERN SINCE
at() {
	grep "$2" /var/log/slurm/slurmctld.log | sed 's/^\[\([^]]*\)\].*/\1/' |
		while read -r t; do date -d "${t/T/ }" +%s%3N; done |
		awk -v since="$3" '$1 >= since' | "$1" -n 1
}

job_in() {
	[ "$(squeue -h -j "$1" -o %T)" = "$2" ]
}

all_off() {
	[ -z "$(squeue -h)" ] && ! scontrol -o show nodes | grep -qv 'State=IDLE+CLOUD+POWERED_DOWN '
}

start_of_4() {
	local t0 job
	t0=$(now_ms)
	job=$(job -N4 --exclusive --wrap 'sleep 2')
	lab_wait 90 job_in "$job" RUNNING
	echo $(($(now_ms) - t0))
	lab_wait 60 all_off
}

bench_gate() {
	local i
	for i in 1 2 3; do
		figure "sbatch to running, 4 nodes, gate, run $i" "$(start_of_4)"
	done
	sed -i '/^PrologSlurmctld=/d' /etc/slurm/slurm.conf
	lab_stop slurmctld
	lab_start slurmctld
	for i in 1 2 3; do
		figure "sbatch to running, 4 nodes, no gate, run $i" "$(start_of_4)"
	done
}

addressed() {
	[ "$(scontrol -o show nodes | grep -c 'NodeAddr=10\.77\.')" = 1000 ]
}

# bench_shape NAME JOBS SIZE
bench_shape() {
	local t0 from
	scontrol update partition=cloud state=DOWN
	lab_as researcher bash -c "cd /run/lab/home; for i in \$(seq $2); do sbatch -N$3 --exclusive --wrap 'sleep 1'; done" >/dev/null
	t0=$(now_ms)
	scontrol update partition=cloud state=UP
	lab_wait 90 addressed || { squeue | head; burstctl status; exit 1; }
	t1=$(now_ms)
	from=$(at tail 'waking nodes' "$t0")
	figure "$1: last resume call to all addressed" $((t1 - from)) 2500
	figure "$1: first resume call to all addressed" $((t1 - $(at head 'waking nodes' "$t0")))
	scancel -u researcher
	scontrol update nodename="c[1-1000]" state=POWER_DOWN_FORCE reason=bench || true
	lab_wait 90 all_off
}

floor() {
	local t0 names addrs
	names=$(seq -s, -f 'c%g' 1000)
	addrs=$(seq 1000 | awk '{ printf "%s10.78.%d.%d", (NR > 1 ? "," : ""), $1 / 250, $1 % 250 + 1 }')
	t0=$(now_ms)
	scontrol update nodename="$names" nodeaddr="$addrs" nodehostname="$names"
	figure 'one scontrol update of 1,000 nodes (floor)' $(($(now_ms) - t0))
	scontrol update nodename="$names" nodeaddr="$names" nodehostname="$names"
}

bench_addresses() {
	floor
	sim_config '{"latency": {"create": "1500ms", "list": "200ms"}}'
	bench_shape '1 x 1,000 nodes' 1 1000
	bench_shape '500 x 2 nodes' 500 2
	bench_shape '1,000 x 1 node' 1000 1
}

lab_up
"bench_$part"
