#!/usr/bin/env bats
# What a newcomer sees first: `make demo`, with what is built already, in namespaces of its own within this file's.
#
# It waits five times as long as for people, and its first job runs as much longer, so that what is looked at now and then is
# seen.  What it does on a machine that has twice as much to do as it can says nothing of it.

# Variables of bats.
# shellcheck disable=SC2154
bats_require_minimum_version 1.5.0
demo_repo=$(readlink -f "$BATS_TEST_DIRNAME/../..")

# Of this machine, which the demo must leave as it was: processes but ours, mounts, links, what is in the directories that
# a cluster writes to.
machine() {
	pgrep -lv -x "pgrep|sed|sort|bats.*|bash|cat|timeout" | sed "s,^[0-9]* ,," | sort
	sed 's/^[0-9]* [0-9]* //' /proc/self/mountinfo | sort
	ip -o link | sed 's/^[0-9]*: //; s/[:@].*//' | sort
	find /run /etc/slurm /etc/burstd /etc/simcloud /var/lib /var/spool /var/log /tmp -xdev -path "$demo_repo" -prune -o \
		-path "$BATS_RUN_TMPDIR" -prune -o -print 2>/dev/null | sort
}

setup_file() {
	# What the target does after it has built.
	run -0 make -C "$demo_repo" -n demo
	[[ $output == *$'\nscripts/demo.sh'* ]]
	machine >"$BATS_FILE_TMPDIR/before"
	local from=${EPOCHREALTIME/./} rc=0
	PATIENCE=5 timeout 1200 "$demo_repo/scripts/demo.sh" >"$BATS_FILE_TMPDIR/said" 2>&1 </dev/null || rc=$?
	echo $(((${EPOCHREALTIME/./} - from) / 1000000)) >"$BATS_FILE_TMPDIR/seconds"
	cut -d' ' -f1 /proc/loadavg >"$BATS_FILE_TMPDIR/load"
	echo $rc >"$BATS_FILE_TMPDIR/status"
}

setup() {
	said=$BATS_FILE_TMPDIR/said
	status=$(cat "$BATS_FILE_TMPDIR/status")
	load=$(cat "$BATS_FILE_TMPDIR/load")
	[ "$status" = 0 ] || ! awk -v load="$load" -v cpus="$(nproc)" 'BEGIN { exit !(load > 2 * cpus) }' ||
		skip "it ended with status $status on a machine that has more to do than it can (load $load)"
}

teardown() {
	[ -n "${BATS_TEST_COMPLETED-}" ] || cat "$said"
}

# Those that make the promise, each by its words: one that is left out is missed here.
@test "make demo: all fifteen things were seen to happen, and it says so by its exit status" {
	[ "$status" = 0 ]
	sed -n '/^Seen to happen$/,/^$/s/^  //p' "$said" >"$BATS_TEST_TMPDIR/steps"
	diff - "$BATS_TEST_TMPDIR/steps" <<-'T'
		✓ slurmctld allocated four cloud nodes and called burst-resume
		✓ burstd created four instances at the provider
		✓ four slurmd registered from the instances' own addresses
		✓ the job ran
		✓ 32 ranks on 4 nodes met at MASTER_ADDR, and their all-reduce is right
		✓ slurmctld suspended the idle nodes through burst-suspend
		✓ every instance is deleted, and no slurmd is left
		✓ burstd has proof that they are gone
		✓ the provider made two machines, and its reply did not arrive
		✓ the job ran on just these two: burstd found them, and bought no others
		✓ they are deleted as well
		✓ two machines on the provider's meter, not four
		✓ burstd's figure is the provider's bill
		✓ audit of the provider's meter: no duplicate and no leaked second
		✓ burst-ledger divides the same bill among the jobs
	T
}

# seen PATTERN: a line of the live view, or of what follows it
seen() {
	grep -qE -- "$1" "$said" || {
		echo "not seen: $1"
		return 1
	}
}

@test "what it says was seen is in what it showed: calls, machines, ranks, cost and the verdict on the meter" {
	seen '^ *[0-9.]+ s +slurmctld +calls ResumeProgram for c\[1-4\]'
	seen '^ *[0-9.]+ s +slurmctld +calls SuspendProgram for c\['
	seen '^ *[0-9.]+ s +burstd +c[^ ]* wanted: '
	seen '^ *[0-9.]+ s +cloud +c[^ ]* created'
	seen '^ *[0-9.]+ s +burstd +c[^ ]* registered: '
	seen '^ *[0-9.]+ s +demo +kill -9 burstd'
	[ "$(grep -cE '^  rank [0-9]+/32 host c[1-8] local_rank 0 .* allreduce 496$' "$said")" = 4 ]
	seen '^  \.\.\. and 28 more; 32 of 32 have this sum$'
	seen '^  simcloud +[0-9.]+ EUR +\(its billing meter, 6 instances\)$'
	seen '^  duplicate seconds +0\.000$'
	seen '^  leaked seconds +0\.000$'
	seen '^  1 +run +EUR +[0-9.]+ '
	seen '^  1 +boot +EUR +[0-9.]+ '
	seen '^  - +idle +EUR +[0-9.]+ '
	seen '^  total +- +EUR +[0-9.]+ '
	# The job's own statement comes last: each machine, and their sum.
	sed -n '/^The statement of job 1,/,$p' "$said" >"$BATS_TEST_TMPDIR/bill"
	cat "$BATS_TEST_TMPDIR/bill"
	[ "$(grep -cE '^    on c[1-4], instance sim-[0-9]+: 0\.[0-9]+ EUR$' "$BATS_TEST_TMPDIR/bill")" = 4 ]
	grep -qE '^  job 1: 0\.[0-9]+ EUR$' "$BATS_TEST_TMPDIR/bill"
	[ -z "$(awk 'length > 80' "$BATS_TEST_TMPDIR/bill")" ]
	seen '^  As a page for a browser: .*/demo-statement\.html$'
	grep -q '<h1>Cost statement' "$demo_repo/$(sed -n 's/^  As a page for a browser: //p' "$said")"
}

@test "it ends with what to do next: make lab" {
	[ "$(tail -n 1 "$said")" = 'To try it by hand: make lab, a shell in a cluster like this one.' ]
}

@test "nothing of it is left: no process, mount, link or file" {
	machine >"$BATS_TEST_TMPDIR/after"
	diff "$BATS_FILE_TMPDIR/before" "$BATS_TEST_TMPDIR/after"
}

@test "it takes less than a minute" {
	seconds=$(cat "$BATS_FILE_TMPDIR/seconds")
	# Eight of them are its first job's.
	[ $((seconds - 8)) -lt 60 ] || skip "it took $seconds s here, with a load of $load"
}
