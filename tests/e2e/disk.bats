#!/usr/bin/env bats
# The disk with the journal is full, to the last byte (F55): nothing is bought, and what runs is still got rid of.

# Variables from the helper; scripts for the job to expand.
# shellcheck disable=SC2016,SC2154
load helper

# A disk of its own for the state directory, and not a large one.
setup_file() {
	own_lab || return
	mkdir -p /var/lib/burstd
	mount -t tmpfs -o size=80m,mode=700 tmpfs /var/lib/burstd
	lab_up
}

setup() {
	make_room
	calm
	rows=$(sim_rows)
	pid=$(lab_pid burstd)
}

teardown() {
	sim_faults_clear
	[ -n "${BATS_TEST_COMPLETED-}" ] || {
		df /var/lib/burstd
		ls -l /var/lib/burstd
		lab_logs
	}
}

# fill_disk: not a byte is left, but for the slice that a burstd which runs gives away of its reserve just then
fill_disk() {
	within 5 disk_filled
}

disk_filled() {
	head -c 200M /dev/zero >>/var/lib/burstd/filler 2>/dev/null || true
	[ "$(df --output=avail /var/lib/burstd | tail -n 1)" -le 1024 ]
}

make_room() {
	rm -f /var/lib/burstd/filler
}

reserve() {
	stat -c %s /var/lib/burstd/reserve 2>/dev/null || echo 0
}

reserve_is_whole() {
	[ "$(reserve)" = $((8 << 20)) ]
}

stopped() {
	burstctl status | grep -q 'disk full'
}

buying() {
	run -0 burstctl status
	[[ $output != *'disk full'* ]]
}

# told JOB: why it does not get its nodes
told() {
	scontrol -o show job "$1" | grep -q "the disk of burstd is full"
}

# refused JOB: it waits in Slurm's queue, knows why, and nothing was bought for it
refused() {
	within 40 told "$1"
	within 5 job_is "$1" PENDING
	[ "$(sim_rows)" = "$rows" ]
}

@test "F55: on a full disk what runs is deleted, a new job is told why it waits, and runs when there is room" {
	reserve_is_whole
	[ "$(metric burstd_buying_stopped)" = 0 ]
	job=$(job -N2 --exclusive --wrap "$until_over")
	within 30 job_is "$job" RUNNING
	rows=$(sim_rows)
	fill_disk
	within 10 stopped
	[ "$(metric burstd_buying_stopped)" = 1 ]
	over "$job"
	within 20 job_is "$job" COMPLETED
	within 30 alive 0
	within 20 burstd_has 0 ANY
	next=$(job -N1 --exclusive --wrap 'sleep 1')
	refused "$next"
	# The deletes are in the journal, with room from the reserve, and no burstd had to end for that.
	[ "$(lab_pid burstd)" = "$pid" ]
	lab_running burstd
	[ "$(reserve)" -lt $((8 << 20)) ]
	make_room
	within 10 buying
	within 10 reserve_is_whole
	within 90 job_is "$next" COMPLETED
}

@test "F54, F55: kill -9 on a full disk: burstd comes up again, deletes and buys nothing" {
	job=$(job -N2 --exclusive --wrap "$until_over")
	within 30 job_is "$job" RUNNING
	rows=$(sim_rows)
	fill_disk
	within 10 stopped
	lab_kill burstd
	fill_disk
	over "$job"
	within 20 job_is "$job" COMPLETED
	within 30 powered_down "$(job_nodes "$job")"
	next=$(job -N1 --exclusive --wrap 'sleep 1')
	alive 2
	lab_start burstd
	within 30 alive 0
	within 20 burstd_has 0 ANY
	stopped
	refused "$next"
	scancel "$next"
	within 10 all_down
	for _ in 1 2 3; do # and once more, with what every start writes
		lab_kill burstd
		fill_disk
		lab_start burstd
	done
	make_room
	within 10 reserve_is_whole
	buying
}

# put_off NUMBER: burstd has asked for its nodes so often, was told to come later, and has taken that in.  Before, nodes
# may be wanted and a create for them go out the next moment: killed then, it could not know whether they exist.
put_off() {
	[ "$(sim_of /admin/stats '[.ops.create.answers[]] | add // 0')" = "$1" ] && burstd_has 2 wanted
}

@test "F55: nodes that were decided on and not sent for yet are not bought, nor after a kill -9" {
	sim DELETE /admin/stats >/dev/null
	sim POST /admin/faults '{"op": "create", "action": "error", "code": "rate", "retry_after": 50}' >/dev/null
	job=$(job -N2 --exclusive --wrap 'sleep 1')
	within 20 put_off 1
	fill_disk
	refused "$job"
	burstd_has 0 wanted
	make_room
	within 10 buying
	scancel "$job"
	calm
	job=$(job -N2 --exclusive --wrap 'sleep 1')
	within 20 put_off 1 # not asked again: simcloud said that it may be in a while
	fill_disk
	lab_kill burstd
	fill_disk
	sim_faults_clear
	lab_start burstd
	refused "$job"
	burstd_has 0 ANY
	scancel "$job"
	make_room
	within 10 buying
}

@test "F55: stopped and started on a full disk, with nodes that run" {
	job=$(job -N2 --exclusive --wrap "$until_over")
	within 30 job_is "$job" RUNNING
	fill_disk
	lab_stop burstd
	fill_disk
	lab_start burstd
	within 10 stopped
	over "$job"
	within 20 job_is "$job" COMPLETED
	within 30 alive 0
	within 20 burstd_has 0 ANY
	make_room
	within 10 buying
	job=$(job -N1 --exclusive --wrap 'sleep 1')
	within 30 job_is "$job" COMPLETED
}

@test "0 duplicate and 0 leaked seconds in all of this" {
	make_room
	calm
	# A delete that had to wait for the next burstd.
	audit 30s
}
