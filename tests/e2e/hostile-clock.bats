#!/usr/bin/env bats
# F57: the wall clock was wrong when burstd started, and was set since.  Nothing here sets the machine's clock: burstd's own
# time is moved instead, which stands in its journal, and so it is as far from the wall clock as after a step.

# Variables from the helper.
# shellcheck disable=SC2034,SC2154
load helper
LAB_COOLDOWN=2s

teardown() {
	[ -n "${BATS_TEST_COMPLETED-}" ] || lab_logs
	sim_capacity null
}

# off SECONDS: so far burstd's time is ahead of the wall clock
off() {
	lab_stop burstd
	python3 - "$1" <<-'P'
		import sqlite3, sys, time
		db = sqlite3.connect("/var/lib/burstd/journal.db")
		off = int((time.time() - time.clock_gettime(time.CLOCK_BOOTTIME) + int(sys.argv[1])) * 1000)
		assert db.execute("UPDATE meta SET value = ? WHERE key = 'clock_offset'", (off,)).rowcount == 1
		db.commit()
	P
	lab_start burstd
}

comment() {
	scontrol -o show job "$1" | sed -n 's/.* AdminComment=\(.*\)  *StdErr=.*/\1/p' | head -n 1
}

told() {
	comment "$1" | grep -q '^burstd: .*capacity.*next try 20'
}

events() {
	local list
	list=$(burstctl events --json --since "$seq") && jq -s --arg t "$1" '[.[] | select(.type == $t)] | length' <<<"$list"
}

# The time of the next try is between now and S seconds from now
next_within() {
	local at
	at=$(comment "$1" | sed 's/.*next try //')
	at=$(($(date -d "$at" +%s) - EPOCHSECONDS))
	[ "$at" -ge -2 ] || return 1
	[ "$at" -le "$2" ]
}

refused_as_ever() {
	local t start
	off "$1"
	calm
	seq=$(burstctl events --json --tail 1 | jq -s 'map(.seq) | max // 0')
	sim_capacity 0
	t=$EPOCHSECONDS
	job=$(job --exclusive -N2 --wrap 'srun hostname')
	within 30 told "$job"
	next_within "$job" 31
	start=$(scontrol -o show job "$job" | sed -n 's/.* StartTime=\([^ ]*\).*/\1/p')
	start=$(($(date -d "$start" +%s) - EPOCHSECONDS))
	[ "$start" -ge 15 ]
	[ "$start" -le 32 ]
	# Two tries in the first minute, as ever, and not one each time that slurmctld looks at its queue.
	sleep $((t + 55 - EPOCHSECONDS))
	[ "$(events job-postponed)" -le 2 ]
	burstctl status >"$lab_dir/status"
	run ! grep -q 'the clock here' "$lab_dir/status"
	at=$(burstctl status --json | jq .now_ms)
	[ "$((at / 1000 - EPOCHSECONDS))" -ge -3 ]
	[ "$((at / 1000 - EPOCHSECONDS))" -le 3 ]
	at=$(burstctl events --json --tail 1 | jq .at_ms)
	[ "$((EPOCHSECONDS - at / 1000))" -le 60 ]
	[ "$((EPOCHSECONDS - at / 1000))" -ge -1 ]
	sim_capacity null
	scontrol update jobid="$job" StartTime=now
	within 90 job_is "$job" COMPLETED
	# Its machines are billed for the time they lived, by the provider's clock.
	within 60 all_down
	within 30 alive 0
	spent=$(burstctl status --json | jq -r '[.pools[].spent | tonumber] | add')
	jq -en --argjson spent "$spent" '$spent >= 0 and $spent < 20'
}

@test "F57: a clock that was an hour behind at the start: a refused job waits as ever, and its times are right" {
	refused_as_ever -3600
}

@test "F57: a clock that was a day ahead at the start: the same" {
	refused_as_ever 86400
}
