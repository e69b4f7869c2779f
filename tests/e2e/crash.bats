#!/usr/bin/env bats
# kill -9 at the moments that matter (I1-I9, P2, P7).  simcloud holds a request, which opens the window from outside; then
# burstd is killed and started again.  Never a second instance, never a leak.

# Variables from the helper; scripts for the job to expand.
# shellcheck disable=SC2016,SC2154
load helper

setup() {
	calm
	rows=$(sim_rows)
}

teardown() {
	[ -n "${BATS_TEST_COMPLETED-}" ] || lab_logs
	sim_faults_clear
}

new_rows() {
	echo $(($(sim_rows) - rows))
}

@test "kill -9 between intent and create: the request never took effect, one instance in the end" {
	sim_hold create before
	job=$(job -N2 --exclusive --wrap 'sleep 1')
	within 20 sim_held
	burstd_has 2 creating
	[ "$(new_rows)" = 0 ]
	lab_kill burstd
	sim_faults_clear
	lab_start burstd
	within 40 job_is "$job" COMPLETED
	[ "$(new_rows)" = 2 ]
}

@test "kill -9 between create and record: the instances are found and adopted" {
	sim_hold create after
	job=$(job -N2 --exclusive --wrap 'sleep 1')
	within 20 sim_held
	burstd_has 2 creating
	[ "$(new_rows)" = 2 ]
	lab_kill burstd
	sim_faults_clear
	lab_start burstd
	within 40 job_is "$job" COMPLETED
	[ "$(new_rows)" = 2 ]
}

@test "kill -9 during delete, before and after it took effect" {
	for when in before after; do
		sim_hold delete $when
		job=$(job -N1 --exclusive --wrap 'sleep 1')
		within 30 job_is "$job" COMPLETED
		within 20 sim_held
		burstd_has 1 deleting
		lab_kill burstd
		sim_faults_clear
		lab_start burstd
		within 20 alive 0
		within 20 burstd_has 0 ANY
	done
	[ "$(new_rows)" = 2 ]
}

@test "kill -9 while a job runs: it goes on, and is suspended as ever" {
	job=$(job -N2 --exclusive --wrap "$until_over")
	within 30 job_is "$job" RUNNING
	lab_kill burstd
	lab_start burstd
	over "$job"
	within 20 job_is "$job" COMPLETED
	within 30 alive 0
	[ "$(new_rows)" = 2 ]
}

@test "lost journal: our instances are still ours" {
	job=$(job -N2 --exclusive --wrap "$until_over")
	within 30 job_is "$job" RUNNING
	lab_stop burstd
	rm -f /var/lib/burstd/journal.db*
	lab_start burstd
	over "$job"
	within 20 job_is "$job" COMPLETED
	[ "$(new_rows)" = 2 ]
	within 40 alive 0
	# And what was suspended while there was no burstd and no journal.
	job=$(job -N1 --exclusive --wrap "$until_over")
	within 30 job_is "$job" RUNNING
	lab_stop burstd
	rm -f /var/lib/burstd/journal.db*
	over "$job"
	within 20 all_down
	alive 1
	lab_start burstd
	within 20 alive 0
	# Because the cluster's uuid has a file of its own.
	[ "$(grep -o 'msg=ready .*uuid=[^ ]*' /var/log/burstd.log | sort -u | wc -l)" = 1 ]
}

@test "a second burstd on the same state directory is refused" {
	run -1 timeout 10 setpriv --reuid=slurm --regid=slurm --init-groups \
		"$lab_dir/bin/burstd" -c /etc/burstd/burstd.conf
	[[ $output == *burstd* ]]
	[[ $output == *"$(lab_pid burstd)"* || $output == */var/lib/burstd* ]]
	lab_burstd_ready
}

@test "a journal of a newer schema is refused and left alone" {
	lab_stop burstd
	cp -p /var/lib/burstd/journal.db "$lab_dir/journal.saved"
	# PRAGMA user_version is the big-endian word at 60.
	printf '\x00\x00\x03\xe7' | dd of=/var/lib/burstd/journal.db bs=1 seek=60 conv=notrunc status=none
	sum=$(sha256sum </var/lib/burstd/journal.db)
	run -78 timeout 10 setpriv --reuid=slurm --regid=slurm --init-groups \
		"$lab_dir/bin/burstd" -c /etc/burstd/burstd.conf
	[[ $output == *schema* && $output == *'install that version again'* ]]
	[ "$(sha256sum </var/lib/burstd/journal.db)" = "$sum" ]
	cp -p "$lab_dir/journal.saved" /var/lib/burstd/journal.db
	lab_start burstd
}

@test "0 duplicate and 0 leaked seconds in all of this" {
	calm
	# A delete that had to wait for the next burstd: the windows above are a few seconds each.
	audit 30s
}
