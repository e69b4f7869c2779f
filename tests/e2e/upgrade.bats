#!/usr/bin/env bats
# burstd is replaced under load (docs/upgrade.md): twenty jobs boot, its programs become others, once from a journal of the schema
# before, and it is restarted, stopped by its service manager and killed.  Nothing is lost or bought twice, no hook fails,
# prologs that wait go on waiting, and who asks is answered.

# Variables from the helper; scripts for the job to expand.
# shellcheck disable=SC2016,SC2034,SC2154
load helper
LAB_NODES=20 LAB_MAX_NODES=20 LAB_MAX_RATE=1000
LAB_RESUME_TIMEOUT=200

# Written over what the lab has: programs with another version, as a package's are, by a rename.
install_version() { # VERSION, of as many characters
	local f
	for f in burstd burstctl; do
		sed "s/\\b$(cat VERSION)\\b/$1/g" "$LAB_BIN/$f" >"$lab_dir/bin/.new"
		chmod 755 "$lab_dir/bin/.new"
		mv "$lab_dir/bin/.new" "$lab_dir/bin/$f"
	done
}

# The journal as a burstd of the step before leaves it.
one_step_back() {
	lab_as slurm python3 - <<-'P'
		import sqlite3
		db = sqlite3.connect("/var/lib/burstd/journal.db")
		assert db.execute("PRAGMA user_version").fetchone() == (24,), "a new step: what makes it undone?"
		db.executescript("""ALTER TABLE node DROP COLUMN image; ALTER TABLE node DROP COLUMN canary;
			ALTER TABLE batch DROP COLUMN image; DROP TABLE roll; PRAGMA user_version = 23;""")
	P
}

schema() {
	od -An -tu1 -j 63 -N 1 /var/lib/burstd/journal.db | tr -d ' '
}

# keep: burstd by a service manager from now on
keep() {
	install -m 755 "$lab_here/keeper" "$lab_dir/bin/keeper"
	: >"$lab_dir/keeper.log"
	chown slurm "$lab_dir/keeper.log"
	lab_spawn burstd slurm "$lab_dir/bin/keeper" "$lab_dir/bin/burstd" -c /etc/burstd/burstd.conf
	lab_wait 20 burstctl status
}

starts() {
	wc -l <"$lab_dir/keeper.log"
}

runs_as() { # VERSION, STARTS
	[ "$(starts)" -ge "$2" ] && burstctl status --json | grep -q "\"version\": *\"$1\""
}

prologs() {
	pgrep -f "$lab_dir/bin/burst-prolog" | sort | xargs
}

# Somebody asks without a pause; each answer is a line, and so is each that did not come.
ask_on() {
	rm -f "$lab_dir/asks" "$lab_dir/unanswered"
	: >"$lab_dir/asking"
	while [ -e "$lab_dir/asking" ]; do
		burstctl nodes >/dev/null 2>>"$lab_dir/unanswered" || echo no >>"$lab_dir/unanswered"
		echo >>"$lab_dir/asks"
	done 3>&- &
}

@test "twenty jobs boot while burstd becomes another, again and again" {
	local jobs job waiting n
	slurmctld_log_from_now
	hold_boots
	jobs=$(job --array=1-20 -N1 --exclusive --wrap 'sleep 1')
	within 30 alive 20
	within 20 burstd_has 20 booting
	waiting=$(prologs)
	[ "$(wc -w <<<"$waiting")" = 20 ]

	# The upgrade, from a burstd one schema older that was killed.
	lab_kill burstd
	one_step_back
	install_version 9.9.1
	keep
	runs_as 9.9.1 1
	[ "$(prologs)" = "$waiting" ]

	# And more of them, in all ways.
	ask_on
	for n in 2 3 4; do
		install_version "9.9.$n"
		case $n in
		3) lab_as root pkill -KILL -P "$(lab_pid burstd)" burstd ;;
		*) kill -USR1 "$(lab_pid burstd)" ;;
		esac
		within 20 runs_as "9.9.$n" "$n"
	done
	rm "$lab_dir/asking"
	wait
	cat "$lab_dir/unanswered"
	[ ! -s "$lab_dir/unanswered" ]
	[ "$(wc -l <"$lab_dir/asks")" -ge 3 ]
	grep -q ' ctl:metrics$\| metrics:ctl$' "$lab_dir/keeper.log"

	# All of them still wait, and each gets its machine.
	[ "$(prologs)" = "$waiting" ]
	burstd_has 20 booting
	[ "$(sim_rows)" = 20 ]
	let_boot
	within 60 job_is "$jobs" COMPLETED
	[ "$(sim_rows)" = 20 ]
	for job in 1 20; do [ "$(scontrol -o show job "${jobs}_$job" | sed -n 's/.* Restarts=\([0-9]*\).*/\1/p')" = 0 ]; done
	run ! grep -E 'exit status|error: .*prog' <(slurmctld_log | grep -iE 'burst-|prolog|resume|suspend')
	[ "$(schema)" = 24 ]
	lab_stop burstd
}

@test "nothing was lost or bought twice" {
	lab_start burstd
	calm
	audit 30s
}
