#!/usr/bin/env bats
# The spool, the only way in for calls: too many of them, of any age and format, and a directory that is full, read-only,
# gone and made again (F45 to F47, F54, F55).

# Variables from the helper; commands for `within`.
# shellcheck disable=SC2016,SC2034,SC2154
load helper

setup() {
	install -m 755 "$lab_here/put-calls" "$lab_dir/put-calls"
	calm
	rows=$(sim_rows)
}

teardown() {
	umount /var/spool/burstd 2>/dev/null || true
	rm -rf /var/spool/former
	lab_dirs slurm 700 /var/spool/burstd
}

new_rows() {
	echo $(($(sim_rows) - rows))
}

calls() {
	lab_as slurm "$lab_dir/put-calls" "$@"
}

problem() {
	burstctl status --json | jq -e '.problems[] | select(test("calls of slurmctld may be lost"))'
}

bad() {
	metric burstd_calls_bad_total
}

@test "20,000 calls while burstd stood still: all are read, and none buys" {
	before=$(metric 'burstd_calls_total{kind="resume"}')
	kill -STOP "$(lab_pid burstd)"
	calls resume c7 20000
	sleep 1.5
	kill -CONT "$(lab_pid burstd)"
	within 60 spooled -eq 0
	[ "$(($(metric 'burstd_calls_total{kind="resume"}') - before))" = 20000 ]
	sleep 1
	[ "$(new_rows)" = 0 ]
	burstd_has 0 ANY
}

@test "a call that is older than 1.2 s buys nothing, whatever the wall clock says; one that is younger does" {
	for age in -3600000 3600000 1400; do
		calls --age "$age" resume c7
		within 7 spooled -eq 0
	done
	sleep 1
	[ "$(new_rows)" = 0 ]
	calls resume c7
	within 5 eval '[ "$(new_rows)" = 1 ]'
	within 5 spooled -eq 0
	within 60 alive 0
}

@test "calls of an older hook are hints; by the socket they are refused" {
	lab_stop burstd
	job=$(job -N1 --exclusive --wrap 'sleep 1')
	within 15 spooled -ge 1
	rm -f /var/spool/burstd/*
	calls --former resume "$(job_nodes "$job")"
	lab_start burstd
	within 30 job_is "$job" COMPLETED
	within 10 spooled -eq 0
	[ "$(new_rows)" = 1 ]
	[ "$(bad)" = 0 ]
	calls --former resume c7
	within 7 spooled -eq 0
	sleep 1
	[ "$(new_rows)" = 1 ]
}

@test "a call that is not whole is put aside, told, and makes burstd look" {
	was=$(bad)
	calls --break resume c7
	within 7 eval '[ "$(bad)" = $((was + 1)) ]'
	[ "$(find /var/spool/burstd -name '*.bad' | wc -l)" = 1 ]
	burstctl events | grep 'call-bad'
	sleep 1
	[ "$(new_rows)" = 0 ]
	rm /var/spool/burstd/*.bad
}

@test "the spool is read-only, and full: the hook says so, status says so, and the job runs by the poll" {
	# With less than a MiB it would be full from the start.
	mount -t tmpfs -o size=4m,mode=700,uid="$(id -u slurm)",gid="$(id -g slurm)" tmpfs /var/spool/burstd
	mount -o remount,ro /var/spool/burstd
	hook suspend c8
	[ "$hook_rc" = 3 ]
	grep 'Read-only' "$lab_dir/hook.err"
	within 10 problem
	mount -o remount,rw /var/spool/burstd
	within 10 run ! problem
	dd if=/dev/zero of=/var/spool/burstd/.full bs=4k 2>/dev/null || true
	hook suspend c8
	[ "$hook_rc" = 3 ]
	grep 'No space' "$lab_dir/hook.err"
	[ "$(find /var/spool/burstd -type f ! -name .full | wc -l)" = 0 ]
	job=$(job -N1 --exclusive --wrap 'sleep 1')
	within 60 job_is "$job" COMPLETED
	rm /var/spool/burstd/.full
}

hooks_succeed() {
	hook suspend c8
	[ "$hook_rc" = 0 ]
}

@test "the spool's disk is full: calls get what burstd has kept free there, and it keeps some again" {
	mount -t tmpfs -o size=64m,mode=700,uid="$(id -u slurm)",gid="$(id -g slurm)" tmpfs /var/spool/burstd
	within 10 eval '[ "$(stat -c %s /var/spool/burstd/.reserve)" = 8388608 ]'
	dd if=/dev/zero of=/var/spool/burstd/.full bs=4k 2>/dev/null || true
	within 10 hooks_succeed
	for _ in 1 2 3; do hooks_succeed; done
	problem
	rm /var/spool/burstd/.full
	within 10 run ! problem
	within 10 eval '[ "$(stat -c %s /var/spool/burstd/.reserve)" = 8388608 ]'
	[ "$(find /var/spool/burstd -name '*.bad' | wc -l)" = 0 ]
}

@test "the spool is removed, or moved away, and made again: it is watched again, and what comes is fresh" {
	rm -r /var/spool/burstd
	within 5 problem
	hook suspend c8
	[ "$hook_rc" = 3 ]
	lab_dirs slurm 700 /var/spool/burstd
	within 5 run ! problem
	# Other nodes than before: one that was let go a moment ago is looked at first.
	calls resume c5
	within 5 eval '[ "$(new_rows)" = 1 ]'
	mv /var/spool/burstd /var/spool/former
	lab_dirs slurm 700 /var/spool/burstd
	sleep 1
	run ! problem
	calls resume c6
	within 5 eval '[ "$(new_rows)" = 2 ]'
	within 10 spooled -eq 0
	within 60 alive 0
}

@test "a file system is mounted over the spool, and taken away: calls are found all the same" {
	mount -t tmpfs -o mode=755 tmpfs /var/spool
	within 10 problem
	umount /var/spool
	within 10 run ! problem
	calls resume c6
	within 10 spooled -eq 0
	within 60 alive 0
}

@test "burstd is killed again and again while calls come: none is lost, and none buys twice" {
	for _ in 1 2 3 4 5; do
		calls resume c7
		lab_kill burstd
		lab_start burstd
	done
	within 20 spooled -eq 0
	within 60 alive 0
	job=$(job -N1 --exclusive --wrap 'sleep 1')
	within 60 job_is "$job" COMPLETED
}

@test "no duplicate and no leaked second in all of this" {
	calm
	audit
}
