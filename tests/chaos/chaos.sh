#!/bin/bash
# chaos.sh MINUTES SEED OUT NODES CLOUDS: inside tests/e2e/lab/enter.  A cluster with a backup controller is brought up, and
# what schedule.py says is done to it; then all is healed, and judge.py says what came of it.
#
# Much here is called by name, from the schedule or by lab_wait:
# shellcheck disable=SC2317
set -u
minutes=$1 seed=$2 out=$3 clouds=$5
LAB_NODES=$4 LAB_MAX_NODES=$(($4 * 2 / 3)) LAB_MAX_RATE=300
# Of two seeds one has the other limit below the first: twelve spot instances.
[ $((seed % 2)) = 0 ] || LAB_MAX_RATE=150
LAB_BACKUP=yes LAB_SUSPEND_TIME=5 LAB_SETTLE=2s LAB_RESUME_TIMEOUT=60 LAB_MIN_JOB_AGE=600
# shellcheck source=tests/e2e/lab/lab.sh
. tests/e2e/lab/lab.sh
here=$(readlink -f tests/chaos)
# shellcheck source=tests/chaos/second.sh
[ "$clouds" = 1 ] || . "$here/second.sh"
lines=$lab_dir/home/lines states=$lab_dir/states submitted=$lab_dir/submitted kills=$lab_dir/kills done=$lab_dir/done
away=$lab_dir/away # "begin_ms end_ms killed|stopped|failover": when burstd or the primary slurmctld were not there
failures=$lab_dir/failures # of the test itself or of a program to start: any is a failed run
seconds=$((minutes * 60))

now_ms() {
	echo $((${EPOCHREALTIME/./} / 1000))
}

say() {
	echo "# $(date +%T) $*"
}

failed() {
	say "FAILED: $*"
	echo "$*" >>"$failures"
}

# --- the cloud ---------------------------------------------------------------------------------

# One request in ten goes wrong.  Not among it: a list that leaves out what there is, which no promise covers.
cloud_faults() {
	local what
	for what in '"action": "error", "code": "internal"' '"action": "error", "code": "internal", "when": "after"' \
		'"action": "error", "code": "rate", "status": 429, "retry_after": 1' \
		'"action": "drop-request"' '"action": "drop-reply"' '"action": "truncate"' '"action": "garbage"' \
		'"action": "delay", "ms": 2000'; do
		sim POST /admin/faults "{\"op\": \"any\", \"probability\": 0.011, $what}" >/dev/null || return
	done
	# Within the settle time, as an honest cloud.
	for what in '"op": "create", "action": "late", "ms": 1500' '"op": "delete", "action": "late", "ms": 1500' \
		'"op": "create", "action": "partial"' '"op": "create", "action": "error", "code": "capacity"'; do
		sim POST /admin/faults "{\"probability\": 0.02, $what}" >/dev/null || return
	done
}

nature='{"latency": {"create": {"dist": "uniform", "min": "50ms", "max": "800ms"}, "list": "50ms",
		"delete": {"dist": "uniform", "min": "20ms", "max": "400ms"}},
		"boot": {"dist": "uniform", "min": "1100ms", "max": "4s"}, "stop": {"dist": "uniform", "min": "0ms", "max": "2s"},
		"visible": {"dist": "uniform", "min": "0ms", "max": "800ms"}, "ended_keep": "20s"}'

# --- what is done, a function for each action of schedule.py ------------------------------------

do_kill() { # SECONDS until it is started again
	local begin
	begin=$(now_ms)
	echo kill >>"$done"
	lab_kill burstd
	sleep "$1"
	lab_start_burstd || failed "burstd does not start after kill -9"
	echo "$begin $(now_ms) killed" >>"$away"
}

do_stop() { # SECONDS
	local pid begin
	begin=$(now_ms)
	echo stop >>"$done"
	pid=$(lab_pid burstd)
	kill -STOP "$pid"
	sleep "$1"
	kill -CONT "$pid"
	echo "$begin $(now_ms) stopped" >>"$away"
}

do_ledger() { # SECONDS until it is started again
	lab_kill ledger
	sleep "$1"
	start_ledger
}

start_ledger() {
	lab_spawn ledger slurm "$lab_dir/bin/burst-ledger" run --interval 5s
}

do_reclaim() { # NUMBER NOTICE_MS: of what lives, the NUMBER-th round and round
	local alive node
	mapfile -t alive < <(sim_of /admin/instances '.instances[] | select(.state == "running") | .name' | sort)
	[ ${#alive[@]} -gt 0 ] || return
	node=${alive[$1 % ${#alive[@]}]}
	say "reclaim $node, notice $2 ms"
	echo "reclaim $node $2" >>"$done"
	if [ "$2" = 0 ]; then
		sim POST /admin/kill "{\"node\": \"$node\"}" >/dev/null
	else
		sim POST /admin/reclaim "{\"node\": \"$node\", \"notice_ms\": $2}" >/dev/null
	fi
}

backup_controls() {
	# The primary is dead, so that an answer is the backup's, and a standby gives none.
	[ -n "$(timeout 5 scontrol -o show node c1)" ]
}

# 22.05's may stand still for ever in the middle of it: then it is started again, as whoever runs it would.
backup_takes_over() {
	lab_wait 60 backup_controls && return
	say "the backup hangs while it takes over, and is started again"
	now_ms >>"$kills"
	lab_kill backup 2>/dev/null
	lab_start_backup && lab_wait 60 backup_controls
}

do_failover() { # SECONDS for which the backup is alone, after it took over
	# It may have ended, or be deaf, since it gave control back: as systemd would.
	lab_backup_ready || {
		say "the backup does not answer, and is started again"
		lab_kill backup 2>/dev/null
		lab_start backup || failed "the backup slurmctld does not start"
	}
	local begin
	begin=$(now_ms)
	echo "$begin" >>"$kills"
	lab_kill slurmctld
	if backup_takes_over; then
		say "the backup has taken over"
		sleep "$1"
	else
		failed "the backup slurmctld does not take over"
	fi
	# 22.05's primary does not always wait until the backup has saved what it knows: what was submitted right before is
	# forgotten, as after a kill.
	now_ms >>"$kills"
	# 24.11 pings the other one too, which may be deaf for a while.
	lab_start_slurmctld || lab_wait 60 lab_slurmctld_ready ||
		failed "the primary slurmctld does not start again"
	echo "$begin $(now_ms) failover" >>"$away"
	say "the primary is back"
}

do_job() { # SECONDS SBATCH_ARG...
	local length=$1 id tasks=0 arg at
	shift
	for arg; do
		[[ $arg != --array=1-* ]] || tasks=${arg#--array=1-}
	done
	at=$(now_ms)
	# While there is no slurmctld it is not submitted, and not counted.
	id=$(timeout 20 setpriv --reuid=researcher --regid=researcher --init-groups env HOME=/ sbatch --parsable \
		-D "$lab_dir/home" -o /dev/null "$@" "$lab_dir/home/job.sbatch" "$length" "$lines" 2>&1) &&
		[[ $id =~ ^[0-9]+$ ]] && echo "$id $at $tasks $*" >>"$submitted"
}

# play LANE: the lines of the schedule for LANE, each at its time or as soon after as the one before lets it
play() {
	local at lane action args wait
	while read -r at lane action args; do
		[ "$lane" = "$1" ] || continue
		wait=$(awk -v at="$at" -v t0="$t0" -v now="$(now_ms)" 'BEGIN { w = at - (now - t0) / 1000; print (w > 0 ? w : 0) }')
		sleep "$wait"
		[ "$action" = job ] || [ "$action" = reclaim ] || say "$action $args"
		# shellcheck disable=SC2086  # a list of words
		"do_$action" $args
	done <"$out/schedule"
}

# --- what is seen ------------------------------------------------------------------------------

# One line for each job slurmctld knows now; of a job the last line counts.
note_states() {
	timeout 10 scontrol -o show jobs 2>/dev/null | awk -v now="$(now_ms)" '/^JobId=/ {
		delete f
		for (i = 1; i <= NF; i++) if (p = index($i, "=")) { k = substr($i, 1, p - 1); if (!(k in f)) f[k] = substr($i, p + 1) }
		print now, f["JobId"], f["ArrayJobId"] == "" ? "-" : f["ArrayJobId"], f["ArrayTaskId"] == "" ? "-" : f["ArrayTaskId"],
			f["JobState"], f["Requeue"], f["Reason"]
	}' >>"$states"
}

watch() {
	while :; do
		note_states
		sleep 10
	done
}

nothing_queued() {
	# What burstd made wait need not do so any more: the cloud is well again.  Not who was requeued just now: slurmctld
	# itself has it wait for some seconds (cred_expire), so that nothing of its last run is alive.
	squeue -h -t PD -o '%i %r %S' | awk -v soon="$(date -d '+10 seconds' +%FT%T)" '$2 == "BeginTime" && $3 > soon { print $1 }' |
		while read -r id; do
			scontrol update jobid="$id" starttime=now
		done
	# What slurmctld could not start it holds for ever; the judge says whose fault that is.
	squeue -h -o '%i %r' >"$lab_dir/queued" && ! grep -qv ' launch failed' "$lab_dir/queued"
}

nodes_are_down() {
	! sinfo -h -N -o '%T' | grep -qv '^idle~$'
}

nothing_alive() {
	[ "$(sim_alive)" = 0 ] && { [ "$clouds" = 1 ] || [ "$(second_alive)" = 0 ]; }
}

# What is left a while after the jobs are, and why, is for the judge: it has the meter.
heal() {
	sim GET /admin/faults >"$out/faults.json"
	sim_faults_clear || failed "simcloud is gone"
	lab_wait $((120 + seconds / 4)) nothing_queued || say "there are jobs left"
	lab_wait 120 nodes_are_down || say "not all nodes are down"
	# The grace of the audit, so that who is forgotten is seen.
	lab_wait 200 nothing_alive || say "there are instances left"
	note_states
}

ledger() {
	lab_as slurm "$lab_dir/bin/burst-ledger" "$@"
}

# As it is when all machines have ended, and burstd knows it.
ledger_is_complete() {
	ledger once && "$here/bills.py" /var/lib/burstd/ledger.db >"$out/ledger.json" &&
		jq -e 'all(.[]; .state != 0)' "$out/ledger.json"
}

collect_ledger() {
	lab_stop ledger
	LAB_TRIES=1 lab_wait 60 ledger_is_complete || say "machines run on by the ledger"
	ledger report --json >"$out/report.json" || failed "the ledger gives no report"
	ledger verify >"$out/verify" || failed "the ledger is not as it was written"
	ledger rebuild --check >>"$out/verify" || failed "the ledger is not what its facts come to"
}

collect() {
	collect_ledger
	cp "$lines" "$states" "$submitted" "$kills" "$done" "$away" "$failures" "$out/"
	cat /var/log/slurm/slurmctld.log /var/log/backup/slurmctld.log | sort -s -k1,1 >"$out/slurmctld-both.log"
	"$lab_here/wanted" "$out/slurmctld-both.log" >"$out/wanted"
	sim GET /admin/meter >"$out/meter.json"
	if [ "$clouds" != 1 ]; then
		mv "$out/meter.json" "$out/meter-1.json"
		second GET /admin/meter >"$out/meter-2.json"
		"$here/clouds.py" "$out/meter-1.json" "$out/meter-2.json" >"$out/meter.json"
		cp "$bad" "$out/"
	fi
	sim GET /admin/stats >"$out/stats.json"
	burstctl status --json >"$out/status.json"
	"$lab_dir/bin/simcloud" audit --meter "$out/meter.json" --wanted "$out/wanted" --grace 150s --json >"$out/audit.json"
	if grep -shE 'Assertion|Sanitizer|runtime error' /var/log/burstd.log /var/log/simcloud.log /var/log/second.log /var/log/ledger.log; then
		failed "a program of ours broke"
		cp "$failures" "$out/"
	fi
	return 0
}

keep_logs() {
	cp /var/log/burstd.log /var/log/simcloud.log /var/log/second.log /var/log/slurmctld.log /var/log/backup.log "$out/" 2>/dev/null
	cp -r /var/log/slurm "$out/slurm"
	cp -r /var/log/backup "$out/backup"
	cp /var/lib/burstd/{journal,ledger}.db* /var/log/ledger.log "$out/"
	burstctl events >"$out/events"
	scontrol -o show nodes >"$out/nodes"
	scontrol -o show jobs >"$out/jobs"
	chmod -R a+rX "$out"
}

# Whatever ends us, the logs are kept, and whoever began this can remove them.
finish() {
	local rc=$?
	[ "$rc${LAB_KEEP-}" = 0 ] || keep_logs
	chown -R --reference="$out" "$out"
	exit $rc
}

begin() {
	"$here/schedule.py" "$seed" "$seconds" "$clouds" >"$out/schedule" || return
	[ "$clouds" = 1 ] || second_offers
	lab_up && lab_start backup || return
	# A list is all that burstd learns of a reclaim: as often as a notice of seconds needs it.
	sed -i 's/^[[:space:]]*market .*/market = "spot"/; s/settle .*/&\n\t\t\tlist_every = "1s"/' /etc/burstd/burstd.conf
	lab_stop burstd
	sim_config "$nature" || return
	[ "$clouds" = 1 ] || second_prepare "$nature" || return
	lab_start burstd && start_ledger && cloud_faults || return
	for file in "$lines" "$states" "$submitted" "$kills" "$done" "$away" "$failures"; do : >"$file"; done
	chown researcher "$lines"
	install -m 755 "$here/job.sbatch" "$lab_dir/home/job.sbatch"
}

trap finish EXIT
begin || exit
say "a cluster of $LAB_NODES cloud nodes ($LAB_MAX_NODES or $LAB_MAX_RATE EUR/h at once), two controllers; $minutes minutes from now"
t0=$(now_ms)
watch &
watcher=$!
players=()
for lane in burstd cloud slurmctld jobs ledger second; do
	play $lane &
	players+=($!)
done
wait "${players[@]}"
say "healing"
heal
kill $watcher
collect
"$here/judge.py" --dir "$out" --max-nodes "$LAB_MAX_NODES" --max-rate "$LAB_MAX_RATE" --minutes "$minutes" --seed "$seed" --clouds "$clouds" || exit 1
