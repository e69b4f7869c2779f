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
	ledger job "$job" --explain --json >"$BATS_TEST_TMPDIR/job.json"
	jq -e --arg job "$job" '.job == $job and (.attempts[0] | .state == "COMPLETED" and .user == "researcher" and
		(.instances[0] | .cost == .computed_anew and any(.pieces[]; .class == "run" and .to_ms > .from_ms))) and
		.totals[0].cost == .attempts[0].cost' "$BATS_TEST_TMPDIR/job.json"
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

@test "a job that is resized has its old nodes until then" {
	job=$(job -N2 --wrap "$until_over")
	within 90 job_is "$job" RUNNING
	sleep 3
	scontrol update jobid="$job" numnodes=1
	within 30 eval '[ "$(sacct -D -n -X -P -j "$job" -o state,nnodes | sort | paste -sd,)" = "RESIZING|2,RUNNING|1" ]'
	up_to_date
	[ "$(row "SELECT COUNT(*) FROM attempt WHERE job = $job AND running <> 0")" = 1 ]
	[ "$(row "SELECT a.end_s - b.start_s FROM attempt a JOIN attempt b ON b.job = a.job AND b.start_s > a.start_s WHERE a.job = $job")" = 0 ]
	over "$job"
	within 60 job_is "$job" COMPLETED
	within 30 eval '[ "$(sacct -D -n -X -P -j "$job" -o state | sort | paste -sd,)" = COMPLETED,RESIZING ]'
	up_to_date
	[ "$(row "SELECT COUNT(*) FROM attempt WHERE job = $job AND running <> 0")" = 0 ]
}

@test "two accounts share a node, and their parts and the idle ones are its bill" {
	within 60 no_jobs
	for a in red blue; do
		sacctmgr -i add account "$a" parent=root description=x organization=x >/dev/null
		sacctmgr -i add user researcher account="$a" >/dev/null
	done
	within 30 eval 'sacctmgr -nP show assoc user=researcher format=account | grep -qx blue'
	red=$(job -A red -N1 -n1 -c3 --wrap "$until_over")
	within 60 job_is "$red" RUNNING
	node=$(job_nodes "$red")
	blue=$(job -A blue -N1 -n1 -c1 -w "$node" --wrap "$until_over")
	within 30 job_is "$blue" RUNNING
	[ "$(job_nodes "$blue")" = "$node" ]
	sleep 3
	over "$red"
	over "$blue"
	for j in "$red" "$blue"; do
		within 60 job_is "$j" COMPLETED
		within 30 eval 'sacct -n -X -P -j "$j" -o end | grep -q ^20'
	done
	within 60 alive 0
	up_to_date
	ledger report --by account,class,node --json >"$BATS_TEST_TMPDIR/report"
	cost() { # ACCOUNT CLASS, in nano-units
		jq --arg n "$node" --arg a "$1" --arg c "$2" '[.rows[] | select(.node == $n and .account == $a and .class == $c).cost | tonumber * 1e9 | round] | add // 0' \
			"$BATS_TEST_TMPDIR/report"
	}
	[ "$(cost red run)" -gt 0 ]
	[ "$(cost blue run)" -gt 0 ]
	# Three times the CPUs, for a little longer.
	[ "$(cost red run)" -gt "$((2 * $(cost blue run)))" ]
	all=$(jq --arg n "$node" '[.rows[] | select(.node == $n).cost | tonumber * 1e9 | round] | add' "$BATS_TEST_TMPDIR/report")
	[ "$all" = "$(row "SELECT SUM(nano) FROM lifetime WHERE node = '$node'")" ]
}

@test "what a reclaimed job had done is lost, and the statement says so" {
	job=$(job -N1 --requeue --wrap "$until_over")
	within 60 job_is "$job" RUNNING
	node=$(job_nodes "$job")
	sleep 2
	sim_reclaim "$node" 1000
	within 90 eval '[ "$(sacct -D -n -X -P -j "$job" -o jobid | wc -l)" -ge 2 ]'
	within 90 job_is "$job" RUNNING
	over "$job"
	within 60 job_is "$job" COMPLETED
	within 30 eval '[ "$(sacct -n -X -P -j "$job" -o state)" = COMPLETED ]'
	up_to_date
	run ledger job "$job" --explain
	echo "$output"
	[[ $output = *"attempt 1, "*lost*"attempt 2, COMPLETED"* ]]
	lost=$(ledger report --by job,class --json | jq -r --arg j "$job" '.rows[] | select(.job == $j and .class == "lost").cost')
	[ "$(jq -n "$lost > 0")" = true ]
	ledger export statement >"$BATS_TEST_TMPDIR/statement.html"
	sed -n '/id="waste"/,/<\/section>/p' "$BATS_TEST_TMPDIR/statement.html" >"$BATS_TEST_TMPDIR/waste"
	cat "$BATS_TEST_TMPDIR/waste"
	grep -q ">$job<" "$BATS_TEST_TMPDIR/waste"
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
	# Likewise of jobs: their boots to the millisecond, and the rest as squeue saw it.
	[ "$(jq -r '.budget_jobs_agree + .budget_jobs_explained' <<<"$output")" -ge 1 ]
	[ "$(jq -c '[.budget_jobs_wait, .budget_jobs_differ, .jobs_differ]' <<<"$output")" = '[0,0,[]]' ]
	[ "$(row 'SELECT SUM(low) > 0 FROM stay')" = 1 ]
	[ "$(row 'SELECT SUM(spent) > 0 AND SUM(bill) > 0 FROM job_agreement')" = 1 ]
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
	grep -qF '<bdi>all</bdi></th><td class="t"><bdi>all machines</bdi></td><td>100000.00</td>' "$BATS_TEST_TMPDIR/statement.html"
	lab_as slurm mkdir -p /tmp/finance
	lab_as slurm ln -s victim /tmp/finance/book.xlsx.part
	ledger export xlsx --output /tmp/finance/book.xlsx
	python3 -m zipfile -t /tmp/finance/book.xlsx
	[ "$(ls /tmp/finance)" = book.xlsx ]
	# Nor through one that is put there while it is written, in a directory of somebody else.
	install -d -o researcher /tmp/hers
	echo precious >/tmp/precious
	setpriv --reuid=researcher --regid=researcher --clear-groups \
		sh -c 'while :; do rm -f /tmp/hers/b.part && ln -s /tmp/precious /tmp/hers/b.part; done' 2>/dev/null 3>&- &
	for _ in {1..20}; do "$LAB_BIN/burst-ledger" export xlsx --output /tmp/hers/b || true; done
	kill $!
	[ "$(cat /tmp/precious)" = precious ]
	# What is no file stays what it is.
	mknod /tmp/finance/null c 1 3
	run "$LAB_BIN/burst-ledger" export focus --output /tmp/finance/null
	[[ $status != 0 && $output = *'it is no regular file'* && -c /tmp/finance/null ]]
	rm /tmp/finance/null
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

@test "an invoice is met, and the month comes to it" {
	within 60 no_jobs
	up_to_date
	month=$(date -d "$(ledger report --by day --json | jq -r .rows[0].day)" +%Y-%m)
	provider=$(ledger report --by provider --json | jq -r .rows[0].provider)
	# The month may run on, so the invoice is a part of it, and names each machine: the first costs 1.25, all others nothing.
	python3 - "$ledger" >/tmp/invoice.csv <<-'P'
		import sqlite3, sys
		print("instance,amount,currency,description,kind\n,0.5,EUR,Disks,\n,0.1,EUR,VAT,tax")
		rows = sqlite3.connect(sys.argv[1], timeout=5).execute(
		    "SELECT instance FROM lifetime WHERE instance <> '' GROUP BY instance ORDER BY MAX(nano) = 0, MIN(id)")
		for i, (instance,) in enumerate(rows):
		    print(f"{instance},{0 if i else 1.25},EUR,,")
	P
	before=$(ledger report --json | jq -r .total.cost)
	run ledger invoice import /tmp/invoice.csv --provider nobody --period "$month" --partial
	[ "$status" = 1 ]
	[[ $output = *"--provider: there is no \"nobody\"; want one of: "*"$provider"* ]]
	if [ "$month" = "$(TZ=Europe/Berlin date +%Y-%m)" ]; then
		run ledger invoice import /tmp/invoice.csv --provider "$provider" --period "$month"
		[ "$status" = 1 ]
		[[ $output = *"$month is not over, so no invoice can be the whole one of it: use --partial"* ]]
	fi
	run ledger invoice import /tmp/invoice.csv --provider "$provider" --period "$month" --partial --total 99
	echo "$output"
	[ "$status" = 1 ]
	[[ $output = *'its lines come to 1.85, and --total is 99'* ]]
	run ledger invoice import /tmp/invoice.csv --provider "$provider" --period "$month" --partial --dry-run
	echo "$output"
	[[ $status = 0 && $output = *'nothing was changed'* && $output = *'of what the invoice is about, before'*'as the invoice has it'* ]]
	[ "$(ledger report --json | jq -r .total.cost)" = "$before" ]
	ledger invoice import /tmp/invoice.csv --provider "$provider" --period "$month" --partial --invoice E-1 --shared even
	[ "$(ledger report --period "$month" --json | jq -r .total.cost)" = 1.85 ]
	run ledger invoice import /tmp/invoice.csv --provider "$provider" --period "$month" --partial --invoice E-1
	[ "$status" = 1 ]
	[[ $output = *'invoice E-1 of '*' is there since '* ]]
	run ledger report --by class,type --period "$month"
	[[ $output = *shared*Disks* && $output = *tax*VAT* && $output = *adjust:* ]]
	ledger export focus --period "$month" >"$BATS_TEST_TMPDIR/focus.csv"
	[ "$(grep -c 'invoice:E-1' "$BATS_TEST_TMPDIR/focus.csv")" = 0 ] # of a part nobody knows which lines are on it
	ledger export focus-invoice-detail --period "$month" >"$BATS_TEST_TMPDIR/detail.csv"
	grep -q ',invoice:E-1,' "$BATS_TEST_TMPDIR/detail.csv"
	ledger verify
	run ledger invoice remove 1
	[ "$status" = 0 ]
	run ledger report --by class --period "$month"
	[[ $output = *run* && $output != *adjust:* && $output != *shared* && $output != *tax* ]]
	run ledger period draft "$month"
	echo "$output"
	[[ $status = 1 && $output = *'not-over'* && $output = *'unsettled '*'late records of their jobs may still come'* ]]
	run ledger period close "$month"
	[[ $status = 1 && $output = *'is not closed'* ]]
	ledger verify
}

@test "what it does not understand, or would not heed, it refuses by its name" {
	local words why
	while IFS='|' read -r words why; do
		# shellcheck disable=SC2086  # words
		run ledger $words
		echo "$words: $output"
		[[ $status = 2 && $output = "burst-ledger: $why" ]]
	done <<-'T'
		job|want "burst-ledger job ID"; see --help
		export|want "burst-ledger export FORM"; see --help
		status all|want "burst-ledger status"; see --help
		spend|unknown command "spend"; see --help
		verify --json|verify does not take --json, which is for report, job, status, period, invoice
		report --explain|report does not take --explain, which is for job
	T
	run lab_as researcher "$LAB_BIN/burst-ledger" report
	[[ $status = 1 && $output = *"$ledger: only the service's user and root may read it; others ask by \"burstctl report\""* ]]
	run ledger report --ledger /tmp/nowhere.db
	[[ $status = 1 && $output = *'/tmp/nowhere.db: there is no ledger yet; '* ]]
	run ledger --help
	[[ $output = *'Forms of export: focus, '*'statement, xlsx, '* ]]
	# What only the service starts is offered to nobody.
	run ledger complete -- ''
	[[ $output = run*report*rebuild && $output != *desk* && $output != *answer* ]]
}

# Of a copy, in which all was 40 days ago.
@test "a month is closed, and keeps its bytes whatever comes late" {
	lab_as slurm mkdir -p /tmp/past
	lab_as slurm cp "$ledger" /tmp/past/ledger.db
	past() {
		ledger "$@" --ledger /tmp/past/ledger.db
	}
	lab_as slurm python3 - <<-'P'
		import sqlite3
		db = sqlite3.connect("/tmp/past/ledger.db")
		s = 40 * 86400
		db.executescript(f"""
		    DROP TRIGGER life_kept; DROP TRIGGER price_kept; DROP TRIGGER machine_kept;
		    DROP TRIGGER posting_stays; DROP TRIGGER booking_stays; DROP TRIGGER invoice_line_kept; DROP TRIGGER invoice_stays;
		    DELETE FROM posting; DELETE FROM rollup; DELETE FROM booking; DELETE FROM note WHERE key = 'chain_head';
		    DELETE FROM invoice; DELETE FROM invoice_line; DELETE FROM lifetime WHERE node = '';
		    UPDATE life SET at_ms = at_ms - {s}000, said_ms = CASE said_ms WHEN 0 THEN 0 ELSE said_ms - {s}000 END;
		    UPDATE price SET valid_from_ms = valid_from_ms - {s}000; UPDATE machine SET at_ms = at_ms - {s}000;
		    UPDATE attempt SET start_s = start_s - {s}, end_s = end_s - {s}, submit_s = submit_s - {s};
		    UPDATE attempt_on SET start_s = start_s - {s};
		    UPDATE lifetime SET dirty = 1, state = 0, nano = 0, start_s = 0, end_s = 0""")
	P
	past once --journal /nowhere 2>/dev/null
	past verify
	month=$(past period list --json | jq -r '.periods[0].period')
	past period draft "$month"
	run past period close "$month" --reason 'signed by anna'
	echo "$output"
	[[ $status = 0 && $output = *"$month is closed, revision 1: EUR "* ]]
	run past period close "$month"
	[[ $status = 1 && $output = "burst-ledger: $month is closed already, as revision 1" ]]
	snapshot() {
		for form in focus statement coldfront focus-billing-period; do past export "$form" --period "$month"; done
		past report --by job,node,day --csv --period "$month"
		past export xlsx --period "$month" --output /tmp/past/book.xlsx
		cat /tmp/past/book.xlsx
	}
	snapshot >"$BATS_TEST_TMPDIR/before"
	grep -q CLOSED "$BATS_TEST_TMPDIR/before"
	lab_as slurm python3 - <<-'P'
		import sqlite3
		db = sqlite3.connect("/tmp/past/ledger.db")
		db.executescript("""
		    INSERT INTO life (node, gen, kind, instance, at_ms, said_ms, rate_nano_h) SELECT node, gen, kind, instance,
		        at_ms + 1, MAX(at_ms, said_ms) + 3600000, rate_nano_h FROM life WHERE kind = 'ended' ORDER BY id LIMIT 1;
		    UPDATE attempt SET name = account; UPDATE lifetime SET dirty = 1""")
	P
	past once --journal /nowhere 2>/dev/null
	snapshot >"$BATS_TEST_TMPDIR/after"
	cmp "$BATS_TEST_TMPDIR/before" "$BATS_TEST_TMPDIR/after"
	past verify
	past rebuild --check
	next=$(date -d "$month-01 + 1 month" +%Y-%m)
	run past report --by class --period "$next"
	[[ $output = *adjust:* ]]
	past export statement --period "$next" >"$BATS_TEST_TMPDIR/next.html"
	grep -qF 'became known after the month was closed' "$BATS_TEST_TMPDIR/next.html"
	run past period reopen "$month"
	[ "$status" = 2 ]
	past period reopen "$month" --reason 'an hour was missing'
	run past report --by class --period "$next"
	[[ $output != *adjust:* ]]
	run past period close "$month" --reason again
	[[ $status = 0 && $output = *"$month is closed, revision 2: EUR "* ]]
	past verify
	run past status
	[[ $output = *"closed      until $month, included"* ]]
}

@test "the service reads on while burstd works, and ends when it is told to" {
	lab_spawn ledger slurm "$LAB_BIN/burst-ledger" run --interval 1s
	job=$(job -N1 --wrap 'sleep 2')
	within 60 job_is "$job" COMPLETED
	within 60 eval '[ "$(row "SELECT COUNT(*) FROM attempt AS a JOIN word AS w ON w.id = a.state WHERE job = $job AND w.text = '\''COMPLETED'\''")" = 1 ]'
	# There is one; what else there is works beside it.
	run ledger run
	echo "$output"
	[[ $status = 1 && $output = "burst-ledger: $ledger: another \"burst-ledger run\" is using it (pid "*')' ]]
	ledger once
	# Nobody need stop it to close a month; files of another user beside the ledger would.
	past=$(date -d "$(date +%Y-%m-15) -2 months" +%Y-%m)
	run "$LAB_BIN/burst-ledger" period close "$past"
	[[ $status = 1 && $output = *'belongs to slurm: run this as that user'* ]]
	run ledger period close "$past"
	echo "$output"
	[[ $status = 0 && $output = *"$past is closed, revision 1: no charges"* ]]
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
