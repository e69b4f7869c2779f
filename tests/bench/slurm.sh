#!/bin/bash
# slurm.sh: what burstd adds to a real slurmctld.  Run by run.sh inside tests/e2e/lab/enter; figures as JSON lines.
#
#   gate       sbatch to running on 4 nodes, with burst-prolog as PrologSlurmctld and without
#   addresses  1,000 nodes addressed: one job, 500 x 2, 1,000 x 1 (instances that boot nothing; create 1.5 s,
#              list 0.2 s), beside one scontrol update of all of them
#   register   10,000 cloud nodes, of which 1,000 real slurmds register at one moment: until burstd has each of them READY,
#              how often it asks slurmctld, and how long slurmctld takes for `scontrol ping` meanwhile, beside a frozen burstd
#   storm      500 x 2 nodes and 700 machines, at one place or at two: from the provider's first refusal until burstd
#              has decided about the last job, and until the last refused job was told why; how many calls were refused
#
# slurm.sh PART OUT: one part, appended to OUT.

# Variables for lab.sh.
# shellcheck disable=SC2034
set -eu
part=$1 out=$2
LAB_RESUME_TIMEOUT=300
[ "$part" = gate ] || LAB_NODES=1000 LAB_BOOT='' LAB_MAX_RATE=100000
[ "$part" != storm ] || LAB_COOLDOWN=10m
[ "$part" != register ] || LAB_NODES=10000 LAB_BOOT=gate-boot LAB_MAX_RATE=1000000 LAB_RESUME_TIMEOUT=660
# shellcheck source=tests/e2e/lab/lab.sh
. tests/e2e/lab/lab.sh
[ "$part" != storm ] || LAB_OFFERS="$(lab_offer near eu-north-1a on-demand) $(lab_offer far eu-north-1b on-demand)"
bench=slurm
[ "$part" != storm ] || bench=storm

now_ms() {
	echo $((${EPOCHREALTIME/./} / 1000))
}

# figure NAME VALUE [TARGET [UNIT]]
figure() {
	printf '%-7s %-52s %10d %-5s %10s\n' $bench "$1" "$2" "${4-ms}" "${3-}"
	jq -nc --arg b $bench --arg n "$1" --argjson v "$2" --argjson t "${3:-null}" --arg u "${4-ms}" \
		'{bench: $b, name: $n, value: $v, unit: $u, target: $t}' >>"$out"
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

# submit JOBS SIZE: they start when the partition is up again
submit() {
	scontrol update partition=cloud state=DOWN
	lab_as researcher bash -c "cd /run/lab/home; for i in \$(seq $1); do sbatch -N$2 --exclusive --wrap 'sleep 1'; done" >/dev/null
}

no_instances() {
	[ "$(sim_alive)" = 0 ]
}

clear_away() {
	scancel -u researcher
	scontrol update nodename="c[1-1000]" state=POWER_DOWN_FORCE reason=bench || true
	lab_wait 90 all_off
	lab_wait 30 no_instances
}

# bench_shape NAME JOBS SIZE
bench_shape() {
	local t0 from
	submit "$2" "$3"
	t0=$(now_ms)
	scontrol update partition=cloud state=UP
	lab_wait 90 addressed || { squeue | head; burstctl status; exit 1; }
	t1=$(now_ms)
	from=$(at tail 'waking nodes' "$t0")
	figure "$1: last resume call to all addressed" $((t1 - from)) 2500
	figure "$1: first resume call to all addressed" $((t1 - $(at head 'waking nodes' "$t0")))
	clear_away
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

# events: of this storm, as an array
events() {
	burstctl events --json --since "$seq" | jq -s .
}

# Jobs that can say why they wait
told() {
	[ "$(scontrol -o show jobs | grep ' JobState=PENDING ' | grep -c 'AdminComment=burstd: .*no capacity.*next try 20')" = 150 ]
}

# storm NAME TARGET_MS REFUSED NEAR FAR: so many machines at each of two places
storm() {
	local first
	# A restart forgets which places have nothing.
	lab_stop burstd
	lab_start burstd
	sim_config "{\"offers\": [
		{\"type\": \"gpu_8x_h100\", \"region\": \"eu-north-1\", \"zone\": \"eu-north-1a\", \"market\": \"on-demand\",
			\"price\": \"29.52\", \"currency\": \"EUR\", \"capacity\": $4},
		{\"type\": \"gpu_8x_h100\", \"region\": \"eu-north-1\", \"zone\": \"eu-north-1b\", \"market\": \"on-demand\",
			\"price\": \"29.52\", \"currency\": \"EUR\", \"capacity\": $5}]}"
	submit 500 2
	sim DELETE /admin/stats >/dev/null
	rows=$(sim_rows)
	seq=$(burstctl events --json --tail 1 | jq -s 'map(.seq) | max // 0')
	scontrol update partition=cloud state=UP
	lab_wait 90 told || { squeue | head; burstctl status; exit 1; }
	first=$(sim_of /admin/stats .ops.create.refused_ms)
	# A job that slurmctld starts again before it is told is refused again; the first time counts.
	events >/run/lab/events
	figure "$1: first refusal to last job sent back" "$(jq --argjson t "$first" \
		'map(select(.type == "sent-back")) | unique_by(.node) | map(.at_ms) | max - $t' /run/lab/events)" "$2"
	figure "$1: first refusal to last job told why" \
		"$(jq --argjson t "$first" 'map(select(.type == "job-postponed").at_ms) | max - $t' /run/lab/events)"
	figure "$1: create calls" "$(sim_of /admin/stats '[.ops.create.answers[]] | add')" '' calls
	figure "$1: create calls refused" "$(sim_of /admin/stats .ops.create.refused)" "$3" calls
	figure "$1: instances" $(($(sim_rows) - rows)) '' ''
	clear_away
}

bench_storm() {
	sim_config '{"latency": {"create": "1500ms", "list": "200ms"}}'
	# Of two places the second has to be asked, which takes it as long as any create.
	storm '400 and 300 at two places' 2500 2 400 300
	LAB_OFFERS=$(lab_offer near eu-north-1a on-demand)
	lab_burstd_conf
	storm '700 at one place' 1000 1 700 0
}

# --- registering ------------------------------------------------------------------------------

# The lab of gate-boot: all addresses of the provider's network are this host's own.
lab_up_register() {
	local name
	lab_files && lab_slurm_conf && lab_burstd_conf
	install -d -m 755 /run/lab/gate
	install -m 755 tests/bench/gate-boot /run/lab/bin/gate-boot
	install -m 755 "${BUILD:-build}/bench-run/gate.so" /run/lab/gate/gate.so
	: >/run/lab/gate/lock
	# Each slurmd has a slurm.conf of its own.
	sed -i -e 's/^DebugFlags=.*/&,NO_CONF_HASH/' -e "s/Nodes=ALL/Nodes=c[1-$LAB_NODES]/" /etc/slurm/slurm.conf
	ip route add local 10.77.0.0/16 dev lo
	for name in $lab_programs; do lab_start "$name"; done
}

# at_percent P FILE: of its numbers, one a line
at_percent() {
	sort -n "$2" | awk -v p="$1" '{ v[NR] = $1 } END { i = int((NR - 1) * p / 100 + 0.5) + 1; print v[i] + 0 }'
}

# ping FILE: how long one takes, in us, is added to it.  pings FILE MS: one every 50 ms, whatever became of those before.
ping() {
	local t0=${EPOCHREALTIME/./}
	scontrol ping >/dev/null || echo failed >>/run/lab/pings-failed
	echo $((${EPOCHREALTIME/./} - t0)) >>"$1"
}

pings() {
	local end=$(($(now_ms) + $2))
	while [ "$(now_ms)" -lt $end ]; do
		ping "$1" &
		lab_nap 50
	done
	wait
}

# ping_figures NAME FILE [TARGET_P50 TARGET_P99]
ping_figures() {
	figure "$1: ping, p50" "$(at_percent 50 "$2")" "${3-}" us
	figure "$1: ping, p99 of $(wc -l <"$2")" "$(at_percent 99 "$2")" "${4-}" us
}

runs_of_scontrol() {
	curl -sS --max-time 20 http://127.0.0.1:9818/metrics | sed -n "s/^burstd_slurm_requests_total{kind=\"$1\"} //p"
}

slurmds() {
	[ "$(pgrep -c -x slurmd)" -ge "$1" ]
}

# since FILE: so many bytes are there now; said FILE FROM TEXT: how often it has that since
since() {
	stat -c %s "$1"
}

said() {
	tail -c +"$(($2 + 1))" "$1" | grep -c "$3"
}

all_said() {
	[ "$(said "$@")" -ge "$nodes" ]
}

# looks FILE N: what a look at all nodes takes, in ms, one after the other
looks() {
	local t0
	for ((i = 0; i < $2; i++)); do
		t0=$(now_ms)
		scontrol -o show nodes >/dev/null
		echo $(($(now_ms) - t0)) >>"$1"
	done
}

# all_at_once KIND: a job's machines boot, and when the gate opens their slurmds register.  burstd: as it is; frozen: it is stopped
# meanwhile; looks: it is, and all nodes are looked at in its place.
all_at_once() {
	local lock ctld burstd polls updates beside=()
	exec {lock}</run/lab/gate/lock
	flock -x "$lock"
	job -N"$nodes" --exclusive --wrap 'sleep 4' >/dev/null
	lab_wait 240 slurmds "$nodes"
	sleep 8 # the last have read their configuration, too
	ctld=$(since /var/log/slurm/slurmctld.log) burstd=$(since /var/log/burstd.log)
	polls=$(runs_of_scontrol poll) updates=$(runs_of_scontrol update)
	[ "$1" = burstd ] || kill -STOP "$(lab_pid burstd)"
	pings "/run/lab/pings-$1" 2000 &
	beside+=($!)
	if [ "$1" = looks ]; then
		looks /run/lab/looks-busy 2 & # a third one would come after the last of them
		beside+=($!)
	fi
	flock -u "$lock"
	exec {lock}<&-
	lab_wait 120 all_said /var/log/slurm/slurmctld.log "$ctld" 'Node c[0-9]* now responding'
	if [ "$1" = burstd ]; then
		lab_wait 60 all_said /var/log/burstd.log "$burstd" msg=registered
		echo $(($(runs_of_scontrol poll) - polls)) >>/run/lab/polls
		echo $(($(runs_of_scontrol update) - updates)) >>/run/lab/updates
		tail -c +"$((ctld + 1))" /var/log/slurm/slurmctld.log >/run/lab/ctld.log
		tail -c +"$((burstd + 1))" /var/log/burstd.log >/run/lab/burstd.log
		python3 -B tests/bench/registered.py /run/lab/ctld.log /run/lab/burstd.log >>/run/lab/registered
	fi
	wait "${beside[@]}"
	kill -CONT "$(lab_pid burstd)"
	clear_away_register
}

# of_rounds NAME: the median of what registered.py said by that name
of_rounds() {
	sed -n "s/^$1 //p" /run/lab/registered >/run/lab/one
	at_percent 50 /run/lab/one
}

bench_register() {
	local nodes=1000 look
	pings /run/lab/pings-quiet 10000
	looks /run/lab/looks-quiet 9
	ping_figures 'nothing moves' /run/lab/pings-quiet
	figure 'scontrol show nodes of 10,000, nothing moves' "$(at_percent 50 /run/lab/looks-quiet)"
	all_at_once looks
	all_at_once looks
	look=$(at_percent 50 /run/lab/looks-busy)
	figure 'scontrol show nodes while 1,000 register (floor)' "$look"
	for _ in 1 2 3; do
		all_at_once burstd
		all_at_once frozen
	done
	# A look sees what was there when it began, and burstd looks at most half of the time.
	figure '1,000 registered to READY, p50' "$(of_rounds p50)" $((50 + 2 * look))
	figure '1,000 registered to READY, p99' "$(of_rounds p99)" $((50 + 3 * look))
	figure '1,000 registered to READY, last' "$(of_rounds max)"
	figure 'first to last of them in slurmctld' "$(of_rounds span)"
	figure 'runs of scontrol to look, until the last' "$(at_percent 100 /run/lab/polls)" '' runs
	figure 'runs of scontrol to order, until the last' "$(at_percent 100 /run/lab/updates)" 20 runs
	ping_figures '1,000 register, burstd frozen (floor)' /run/lab/pings-frozen
	ping_figures '1,000 register' /run/lab/pings-burstd "$(($(at_percent 50 /run/lab/pings-frozen) * 3 / 2))" \
		"$(($(at_percent 99 /run/lab/pings-frozen) * 3 / 2))"
	touch /run/lab/pings-failed
	figure 'pings without an answer' "$(wc -l </run/lab/pings-failed)" 0 pings
}

clear_away_register() {
	scancel -u researcher
	scontrol update nodename="c[1-$nodes]" state=POWER_DOWN_FORCE reason=bench
	lab_wait 120 all_off
	lab_wait 60 no_instances
}

if [ "$part" = register ]; then lab_up_register; else lab_up; fi
"bench_$part"
