#!/usr/bin/env bats
# Machines of a simulated cloud with the image that provision.bats has made: their own systemd, cloud-init, units, drop-ins, munged
# and slurmd, and nothing else of the cluster than their user-data.  `make images`.

# shellcheck disable=SC2016,SC2034,SC2154  # scripts for machines; the helper's
bats_require_minimum_version 1.5.0
LAB_BOOTSTRAP='file' LAB_BOOT=machine LAB_RESUME_TIMEOUT=180
load ../../e2e/helper

setup_file() {
	own_lab || return
	IMAGE_ROOT=$(readlink -m "${BUILD:-build}")/chroot/image-$(sed -n 's/^VERSION_CODENAME=//p' /etc/os-release)
	[ -e "$IMAGE_ROOT/usr/libexec/burstd/node-init" ] || {
		echo 'there is no image: provision.bats makes it' >&2
		return 1
	}
	lab_files && lab_slurm_conf && lab_burstd_conf || return
	echo "$IMAGE_ROOT" >"$lab_dir/image.root"
	install -m 755 tests/images/boot/machine "$lab_dir/bin/machine"
	# What is made up of the hardware, and no word about how the image's services are started.
	image node-init.conf <<-C
		procfs = /etc/burstd/proc
		gpu_command = cat /etc/burstd/gpus
		dcgm = off
		mount = burst /shared tmpfs size=1m
		agent_line = heartbeat = 1s
	C
	lab_start_all
}

teardown() {
	[ -z "${BATS_TEST_COMPLETED-}" ] || return 0
	lab_logs
	for dir in "$lab_dir"/sim/*/; do
		pid=$(cat "$dir/pid")
		read -r pid _ <"/proc/$pid/task/$pid/children" || continue
		nsenter -t "$pid" -a journalctl --no-pager -q -n 60 || true
	done
}

# Of machines that are gone.
teardown_file() {
	local groups=/run/lab/groups
	mkdir -p $groups
	mount -t cgroup2 cgroup2 $groups
	find $groups/burst-image-* -depth -type d -exec rmdir {} + 2>/dev/null || true
	umount $groups
}

no_job() { [ -z "$(squeue -h)" ]; }

@test "a machine with the image, and nothing but its user-data, becomes a node, and a job runs on it" {
	id=$(job -N2 --gres=gpu:8 --wrap 'srun sh -c "hostname; id -un; munge -n | unmunge | grep STATUS"
		echo ran; until [ -e looked ]; do sleep 0.2; done')
	out=$lab_dir/home/job-$id.out
	within 150 grep -q '^ran$' "$out"
	cat "$out"
	[ "$(grep -c '^c[0-9]$' "$out")" = 2 ]
	[ "$(grep -c '^researcher$' "$out")" = 2 ]
	[ "$(grep -c 'STATUS: *Success' "$out")" = 2 ]
	burstctl events --json | grep -q '"bootstrapped"'
}

@test "all that ran it are the image's own units" {
	n=$(squeue -h -o %N)
	n=$(scontrol show hostnames "$n" | head -n 1)
	[ "$(on "$n" cat /proc/1/comm)" = systemd ]
	for unit in munge slurmd burst-agent burst-mounts; do on "$n" systemctl is-active "$unit"; done
	# By its own cloud-init, once.
	run on "$n" cloud-init status --long
	echo "$output"
	[[ $output == *'status: done'* ]]
	on "$n" grep -q 'part-001' /var/log/cloud-init.log
	on "$n" systemctl show -p ExecStartPre slurmd | grep -q -- 'node-init --gate'
	on "$n" systemctl show -p NoNewPrivileges munge | grep -qx NoNewPrivileges=yes
	[ "$(on "$n" systemctl show -P LimitMEMLOCK slurmd)" = infinity ]
	[ -z "$(on "$n" systemctl --failed --no-legend --plain)" ]
	# Keys are where only memory is, and what came as user-data is gone.
	on "$n" grep -q ' /run/burst/munge tmpfs ' /proc/mounts
	on "$n" test ! -e /etc/munge/munge.key
	run ! on "$n" sh -c 'ls /var/lib/cloud/instances/*/user-data.txt'
	# Each machine has an identity of its own, which the image had not.
	for file in machine-id ssh/ssh_host_ed25519_key; do
		[ "$(for m in $(scontrol show hostnames "$(squeue -h -o %N)"); do on "$m" sha256sum "/etc/$file"; done | sort -u | grep -c .)" = 2 ]
	done
}

@test "nothing starts slurmd or munged before node-init has passed" {
	n=$(scontrol show hostnames "$(squeue -h -o %N)" | head -n 1)
	on "$n" systemctl is-enabled slurmd munge && false
	on "$n" sh -c 'mv /run/burst/passed /run/burst/passed.kept; systemctl stop slurmd; systemctl start slurmd' && false
	[ "$(on "$n" systemctl is-active slurmd)" != active ]
	on "$n" sh -c 'mv /run/burst/passed.kept /run/burst/passed; systemctl reset-failed slurmd; systemctl start slurmd'
	on "$n" systemctl is-active slurmd
}

@test "the node's own check finds nothing, and it is given back" {
	n=$(scontrol show hostnames "$(squeue -h -o %N)" | head -n 1)
	on "$n" /usr/libexec/burstd/image-check
	touch "$lab_dir/home/looked"
	within 60 no_job
	within 60 all_down
	within 30 alive 0
	audit
}
