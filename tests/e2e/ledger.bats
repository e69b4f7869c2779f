#!/usr/bin/env bats
# What jobs cost, by the ledger: from burstd's facts and slurmdbd's accounting, against simcloud's own meter.

# Variables from the helper; scripts for the job to expand.
# shellcheck disable=SC2016,SC2154
load helper

ledger=/var/lib/burstd/ledger.db

setup_file() {
	[ -d /run/lab ] || return 1
	lab_up
	sed -i '1i report_zone = Europe/Berlin' /etc/burstd/burstd.conf
	cat >>/etc/burstd/burstd.conf <<-'C'
		budget "all" {
			amount = "100000.00"
			reserve = "minimum"
		}
	C
	lab_stop burstd
	lab_start burstd
}

# burst-ledger COMMAND... as the service's user
ledger() {
	lab_as slurm "$LAB_BIN/burst-ledger" "$@"
}

# once: bring it up to date; slurmctld tells slurmdbd a moment later
up_to_date() {
	ledger once 2>"$BATS_TEST_TMPDIR/log" || {
		cat "$BATS_TEST_TMPDIR/log"
		return 1
	}
}

row() { # SQL: its one value, from the ledger
	python3 -c 'import sqlite3, sys; print(sqlite3.connect(sys.argv[1], timeout=5).execute(sys.argv[2]).fetchone()[0])' "$ledger" "$1"
}

@test "a job's cost is its share, by real accounting, with names that want to be something else" {
	job=$(job -N1 -J $'a|b\n1|2|3' --wrap 'sleep 3')
	within 60 job_is "$job" COMPLETED
	within 30 eval 'sacct -n -X -P -j "$job" -o end | grep -q ^20'
	up_to_date
	run ledger status --json
	[ "$(jq -r .source <<<"$output")" = sacct ]
	[ "$(jq -r .jobs_error <<<"$output")" = '' ]
	[ "$(jq -r .attempts <<<"$output")" -ge 1 ]
	run ledger job "$job" --explain
	[[ $output = *"attempt 1, COMPLETED, "*", user researcher, partition cloud: "* ]]
}

@test "a job that was requeued is two attempts" {
	job=$(job -N1 --wrap "$until_over")
	within 60 job_is "$job" RUNNING
	scontrol requeue "$job"
	within 60 job_is "$job" RUNNING
	over "$job"
	within 60 job_is "$job" COMPLETED
	within 30 eval '[ "$(sacct -D -n -X -P -j "$job" -o state | sort | paste -sd,)" = COMPLETED,REQUEUED ]'
	up_to_date
	run ledger job "$job"
	[[ $output = *"attempt 1, REQUEUED"*"attempt 2, COMPLETED"* ]]
}

@test "all of it adds up, is as it was written, and is the same when made again" {
	within 60 no_jobs
	up_to_date
	run ledger verify
	echo "$output"
	[ "$status" = 0 ]
	[[ $output = *good* && $output != *NOT* ]]
	run ledger rebuild --check
	[ "$status" = 0 ]
	a=$(ledger report --by account --json | jq -r .total.cost)
	b=$(ledger report --by day,class,node --json | jq -r .total.cost)
	[ "$a" = "$b" ]
	[ "$(row 'SELECT SUM(nano) > 0 AND SUM(nano) = (SELECT SUM(nano) FROM lifetime) FROM posting')" = 1 ]
}

@test "burstd's budgets and the ledger have the same figures" {
	within 90 eval '[ "$(row "SELECT COUNT(*) FROM lifetime WHERE state = 0")" = 0 ] || { up_to_date; false; }'
	run ledger status --json
	echo "$output"
	[ "$(jq -r .budgets_agree <<<"$output")" -ge 1 ]
	[ "$(jq -r .budgets_explained <<<"$output")" = 0 ]
	[ "$(jq -c '[.budgets_differ, .differ]' <<<"$output")" = '[0,[]]' ]
	[ "$(row 'SELECT SUM(bill) = (SELECT SUM(nano) FROM lifetime WHERE state <> 0) FROM counted')" = 1 ]
	[ "$(row 'SELECT SUM(spent) > 0 FROM agreement')" = 1 ]
}

@test "what finance takes away has the same money, and it is the provider's" {
	total=$(ledger report --json | jq -r .total.cost)
	for view in provider internal; do
		ledger export focus --view "$view" >"$BATS_TEST_TMPDIR/focus.csv"
		[ "$(python3 -c 'import csv, decimal, sys
print(sum(decimal.Decimal(r["BilledCost"]) for r in csv.DictReader(open(sys.argv[1]))) == decimal.Decimal(sys.argv[2]))' \
			"$BATS_TEST_TMPDIR/focus.csv" "$total")" = True ]
	done
	ledger export statement >"$BATS_TEST_TMPDIR/statement.html"
	grep -qF "$(printf %.2f "$total")" "$BATS_TEST_TMPDIR/statement.html"
	lab_as slurm mkdir -p /tmp/finance
	lab_as slurm ln -s victim /tmp/finance/book.xlsx.part
	ledger export xlsx --output /tmp/finance/book.xlsx
	python3 -m zipfile -t /tmp/finance/book.xlsx
	[ "$(ls /tmp/finance)" = book.xlsx ]
	lab_as slurm sh -c 'umask 077; openssl rand -hex -out /tmp/finance/key 32'
	ledger export focus --pseudonymise /tmp/finance/key >"$BATS_TEST_TMPDIR/focus.csv"
	grep -q ',u-[0-9a-f]\{16\},' "$BATS_TEST_TMPDIR/focus.csv"
	[ "$(grep -c researcher "$BATS_TEST_TMPDIR/focus.csv")" = 0 ]
	run ledger export focus --pseudonymise /etc/hostname
	[ "$status" = 1 ]
	[[ $output = *'/etc/hostname: must be a regular file '*', mode 0600'* ]]
	ledger export xdmod-events >"$BATS_TEST_TMPDIR/events"
	[ "$(jq -s 'map(select(.event_type == "START")) | length' "$BATS_TEST_TMPDIR/events")" = "$(row 'SELECT COUNT(*) FROM lifetime')" ]
	run ledger export waldur
	[ "$(jq -r '.resources[0].account' <<<"$output")" != null ]
	# What has ended: the ledger has whole seconds, simcloud thousandths.
	python3 - "$ledger" <(sim GET /admin/meter) <<-'P'
		import decimal, json, sqlite3, sys
		mine = dict(sqlite3.connect(sys.argv[1], timeout=5).execute("SELECT instance, nano FROM lifetime WHERE state <> 0"))
		rows = {r["id"]: r for r in json.load(open(sys.argv[2]))["rows"] if r.get("end_ms")}
		assert mine and set(mine) <= set(rows), (mine, rows)
		for instance, nano in mine.items():
		    row = rows[instance]
		    differ = abs(nano - decimal.Decimal(row["cost"]) * 10**9)
		    assert differ <= decimal.Decimal(row["price"]) * 10**9 / 3600, (instance, nano, row)
	P
}

@test "the service reads on while burstd works, and ends when it is told to" {
	lab_spawn ledger slurm "$LAB_BIN/burst-ledger" run --interval 1s
	job=$(job -N1 --wrap 'sleep 2')
	within 60 job_is "$job" COMPLETED
	within 60 eval '[ "$(row "SELECT COUNT(*) FROM attempt WHERE job = $job AND running = 0")" = 1 ]'
	lab_stop ledger
	run cat /var/log/ledger.log
	[[ $output = *'msg=stopped'* && $output != *error* ]]
	ledger verify
}

@test "another zone, or another cluster, is refused" {
	sed 's,^report_zone.*,report_zone = UTC,' /etc/burstd/burstd.conf >/etc/burstd/utc.conf
	run ledger once --config /etc/burstd/utc.conf
	echo "$output"
	[ "$status" = 1 ]
	[[ $output = *'the ledger is of zone "Europe/Berlin", not "UTC"'* ]]
}

@test "without slurmdbd what ended is read when it is back" {
	lab_stop slurmdbd
	job=$(job -N1 --wrap 'sleep 1')
	within 60 job_is "$job" COMPLETED
	up_to_date
	run ledger status --json
	[ "$(jq -r .jobs_error <<<"$output")" != '' ]
	lab_start slurmdbd
	within 60 eval '[ "$(sacct -n -X -P -j "$job" -o state)" = COMPLETED ]'
	# The begin comes first, with the state of the end, and then the end.
	within 60 eval 'up_to_date && [ "$(row "SELECT COUNT(*) FROM attempt WHERE job = $job AND running = 0")" = 1 ]'
	run ledger status --json
	[ "$(jq -r .jobs_error <<<"$output")" = '' ]
}
