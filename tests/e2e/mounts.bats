#!/usr/bin/env bats
# File systems of a node: they are there before slurmd starts, or it does not start; and unmounted, the last mounted first,
# before the machine goes, behind what jobs are told.

# Variables from the helper; scripts for the machine to expand.
# shellcheck disable=SC2016,SC2034,SC2154
LAB_BOOTSTRAP='file' LAB_NODES=2
LAB_POOL='checkpoint_signal = "USR1" unmount_wait = "15s"'
load helper

setup() {
	[ -e "$lab_dir/node-init.conf" ] || cp "$lab_dir/image/etc/burstd/node-init.conf" "$lab_dir/node-init.conf"
	within 60 eval '[ "$(sim_open)" = 0 ]'
}

# with LINE...: machines that boot from now on have these in their node-init.conf, too
with() {
	{
		cat "$lab_dir/node-init.conf"
		printf '%s\n' "$@" 'slurmd_pid_file = /var/spool/slurmd/*.pid' 'agent_line = poll = 1s' \
			'agent_line = notice_file = /run/going' 'agent_line = health = 1s'
	} | image node-init.conf
}

event() {
	burstctl events --json | grep "\"$1\"" | grep -q -- "${2-}"
}

@test "a machine without a file system that must be there does not register, and burstctl says why" {
	with 'require_mount = /run/shared' 'mount_timeout = 1'
	id=$(job -w c1 --gres=gpu:8 --wrap 'true')
	within 60 event boot-failed 'mounts: nothing is mounted at /run/shared after 1 s'
	burstctl node show c1
	burstctl node show c1 | grep -F 'nothing is mounted at /run/shared after 1 s'
	scancel "$id"
	[ "$(burstctl events --json | grep -c '"registered"')" = 0 ]
}

@test "a reclaim: the job is told and saves its work, then slurmd is stopped and all is unmounted, before the machine is deleted" {
	with 'mount = shared /run/shared tmpfs' 'mount = home /run/shared/home tmpfs'
	id=$(job -w c2 --gres=gpu:8 --requeue --wrap "trap 'sleep 2; echo saved >/run/shared/home/work; date +%s.%N; exit 0' USR1; echo began; while :; do sleep 0.1; done")
	within 60 grep -q began "$lab_dir/home/job-$id.out"
	dir=$(machine c2)
	on c2 chmod 777 /run/shared/home
	on c2 sh -c "echo preempt $(($(date +%s) + 100)) >/run/going"
	within 30 grep -q 'node-init: unmount: done' "$dir/burst/node-init.log"
	# It still is there, and has nothing mounted and no slurmd.
	on c2 sh -c '! grep shared /proc/mounts && ! pgrep -x slurmd'
	job_is "$id" COMPLETED
	[ "$(sim_open)" = 1 ]
	grep -q '^[0-9]' "$lab_dir/home/job-$id.out"
	within 40 eval '[ "$(sim_open)" = 0 ]'
	[ "$(grep -cE 'lazily|by force|killed' "$dir/burst/node-init.log")" = 0 ]
}

@test "a node that idles is released, hears of it, and unmounts in the time that it has" {
	with 'mount = shared /run/shared tmpfs'
	id=$(job -w c1 --gres=gpu:8 --wrap 'true')
	within 60 job_is "$id" COMPLETED
	dir=$(machine c1)
	within 40 grep -q 'node-init: unmount: done' "$dir/burst/node-init.log"
	[ "$(sim_open)" = 1 ]
	within 40 eval '[ "$(sim_open)" = 0 ]'
}
