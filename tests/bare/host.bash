# host.bash: what tests on bare hosts share.  run.sh has the host, and who works there: admin, who has sudo, in the source tree in
# his home.

# shellcheck disable=SC2154  # status, output and lines, of bats
bats_require_minimum_version 1.5.0
# shellcheck source=tests/document.bash
. tests/document.bash

# setup_file of both: a host is made by run.sh alone.
own_host() {
	[ -n "${BARE_PID-}" ] && return
	echo "run this file by tests/bare/run.sh: it needs a host of its own" >&2
	return 1
}

# host CMD...: as root there
host() {
	nsenter --target "$BARE_PID" --all -- env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin LC_ALL=C.UTF-8 HOME=/root \
		DEBIAN_FRONTEND=noninteractive "$@" </dev/null
}

# admin COMMAND: by the shell of a fresh login, in the source tree
admin() {
	host timeout 60 su - admin -c "cd burstd && $1"
}

# follow N [FILE]: the document's Nth block, to the letter.  A srun whose machine does not come up would wait for ResumeTimeout.
follow() {
	block "$@" >"$BARE_ROOT/home/admin/block"
	[ -s "$BARE_ROOT/home/admin/block" ] || return
	host timeout 300 su - admin -c 'cd burstd && bash -eux ../block'
}

# within SECONDS CMD...
within() {
	local end=$((SECONDS + $1))
	shift
	until "$@" >/dev/null 2>&1; do
		[ $SECONDS -lt $end ] || {
			echo "not in time: $*"
			return 1
		}
		sleep 0.3
	done
}

# cloud: the reader's, with a key for it.  Its machines have the 8 processors that the document wants (to hwloc, which slurmd
# asks), and boot this host's own installation, which so has to have slurmd.
cloud() {
	local i
	(umask 077 && echo key-of-a-test >"$BARE_ROOT/home/admin/burstd/my-cloud.key")
	host chown admin: /home/admin/burstd/my-cloud.key
	install -D -m 755 scripts/node/sim-boot "$BARE_ROOT/opt/cloud/sim-boot"
	host install -m 600 /home/admin/burstd/my-cloud.key /opt/cloud/key
	host cp /etc/hosts /opt/cloud/hosts
	mkdir "$BARE_ROOT/etc/simcloud"
	echo "export HWLOC_SYNTHETIC='pack:1 core:8 pu:1' HWLOC_THISSYSTEM=1" >"$BARE_ROOT/etc/simcloud/boot.conf"
	for i in 0 1 2 3 4 5 6 7; do host mknod -m 666 "/dev/nvidia$i" c 1 3; done
	host systemd-run --quiet --unit=cloud simcloud --listen 127.0.0.1:8900 --token-file /opt/cloud/key --subnet 10.77.0.0/16 \
		--seed 1 --boot /opt/cloud/sim-boot --hosts-extra /opt/cloud/hosts --run-dir /run/cloud
	within 10 host bash -c ': </dev/tcp/127.0.0.1/8900'
}

# The image of the cloud's machines, which share the installation of this host.  They have no cgroups of their own, as real ones
# have, and slurmd would have to be in some.
machines() {
	host systemctl mask --quiet slurmd
	host apt-get -qq install -y --no-install-recommends slurmd >"$BARE_ROOT/root/apt.log" 2>&1
	echo ProctrackType=proctrack/linuxproc >>"$BARE_ROOT/etc/slurm/slurm.conf"
	echo CgroupPlugin=cgroup/v1 >"$BARE_ROOT/etc/slurm/cgroup.conf"
}

# The way to programs is another test's: where this machine is as the host it need not be gone twice.
built_here() {
	cmp -s /usr/lib/os-release "$BARE_ROOT/usr/lib/os-release" || return 0
	[ -x build/bin/burstd ] || return 0
	mkdir "$BARE_ROOT/home/admin/burstd/build"
	tar -c build/bin build/man build/release/burstd build/release/providers build/release/hook build/release/*.a |
		tar -x --no-same-owner -C "$BARE_ROOT/home/admin/burstd"
	host chown -R admin: /home/admin/burstd/build
}

# first_burst: a job runs on a machine that was not there.  How long that took, since /root/began was written, is told.
first_burst() {
	local seconds
	run follow 6
	echo "$output"
	[ "$status" = 0 ] || return
	[ "${lines[-1]}" = gpu1 ] || return
	seconds=$(($(date +%s) - $(cat "$BARE_ROOT/root/began")))
	echo "# to the first burst: $((seconds / 60)) min $((seconds % 60)) s, without downloads" >&3
	[ $seconds -lt 900 ]
}

property() { # UNIT PROPERTY
	host systemctl show -p "$2" --value "$1"
}

# writes UNIT FILE: could root make that file where the unit runs?
writes() {
	host nsenter --target "$(property "$1" MainPID)" --mount touch "$2"
}

# drop_in UNIT: from standard input, until undo
drop_in() {
	mkdir -p "$BARE_ROOT/etc/systemd/system/$1.d"
	cat >"$BARE_ROOT/etc/systemd/system/$1.d/test.conf"
	host systemctl daemon-reload
}
undo() {
	rm -f "$BARE_ROOT/etc/systemd/system/$1.d/test.conf"
	host systemctl daemon-reload
}

is_another() { # UNIT PID
	[ "$(property "$1" ActiveState)" = active ] && [ "$(property "$1" MainPID)" != "$2" ]
}

none_left() {
	[[ $(admin 'burstctl nodes') = all\ * ]]
}

# What it says of a cluster and of jobs there where something failed.
teardown() {
	[ -z "${BATS_TEST_COMPLETED-}" ] || return 0
	host journalctl --no-pager -q -n 60
	host sh -c 'tail -n 15 /var/log/slurm/*.log /run/cloud/*/console.log' 2>/dev/null || true
}
