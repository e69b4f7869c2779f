#!/bin/bash
# run.sh [FILE.bats...]: docs/slurm-integration.md on hosts that have nothing but Debian (`make bare`).
#
# Each FILE (all in this directory, unless some are named; those of other directories `load ../bare/host`) gets a host of its
# own: Debian's smallest installation, a systemd that really runs, sudo, and the working tree in the home of a user `admin`.  It
# runs in namespaces, with a network that leads nowhere, and ends with the test; its disk, $BUILD/chroot/bare-FILE, is deleted
# then, unless KEEP=1.
# The installation, with all packages that are going to be installed but none of them installed, is made once by
# debootstrap and kept as $BUILD/chroot/bare-SUITE.tar, until the list of packages changes; delete it to have newer ones.
#
# Where root, namespaces, debootstrap, the mirror or a second systemd are refused: one sentence, status 77; to prove, a plan that
# says so (`prove --exec tests/bare/run.sh tests/bare/*.bats`).
#   HOST_SUITE=  bookworm, unless it is said      MIRROR=  http://deb.debian.org/debian; http_proxy is respected
set -eu -o pipefail
keep='ANSIBLE_NEW ANSIBLE_OLD ANSIBLE_COLLECTIONS BUILD KEEP HOST_SUITE MIRROR HARNESS_ACTIVE http_proxy https_proxy no_proxy'
self=$(readlink -f "$0")
cd "${self%/*}/../.."
what='what an admin does on a bare host is tested'
# shellcheck source=tests/matrix/chroot.bash
. tests/matrix/chroot.bash
suite=${HOST_SUITE:-bookworm}
image=$chroots/bare-$suite

# What Debian's installer gives every host, and minbase lacks.
host='systemd-sysv dbus sudo iproute2'
# What a site had before, as it comes with recommended packages; burstd's own are in deps.sh.
site='slurmctld slurmd slurmdbd slurm-client munge mariadb-server python3 python3-apt curl psmisc nftables openssl'

# --- the installation -------------------------------------------------------------------------

recipe() {
	echo "$suite $MIRROR $host $site"
	scripts/dev/deps.sh --list build
}

make_image() {
	make_root "$suite" "$image" --include="${host// /,}"
	mount -t proc proc "$image/proc"
	# shellcheck disable=SC2046,SC2086  # lists of packages
	DEBIAN_FRONTEND=noninteractive chroot "$image" apt-get -qq -o APT::Sandbox::User=root -y -d install \
		$site $(scripts/dev/deps.sh --list build) </dev/null
	umount "$image/proc"
	: >"$image/etc/resolv.conf"
	rm -f "$image.tar" "$image.recipe"
	tar -C "$image" -cf "$image.tar" .
	rm -rf --one-file-system "$image"
	recipe >"$image.recipe"
}

# --- one host ---------------------------------------------------------------------------------

# Its files, and who works there.
furnish() { # ROOT, the tree on standard input
	rm -rf --one-file-system "$1"
	mkdir "$1"
	tar -C "$1" -xf "$image.tar"
	echo head >"$1/etc/hostname"
	printf '127.0.0.1 localhost\n10.77.0.1 head\n' >"$1/etc/hosts"
	# There is no console.
	ln -s /dev/null "$1/etc/systemd/system/console-getty.service"
	chroot "$1" useradd -m -s /bin/bash admin
	echo 'admin ALL=(ALL) NOPASSWD: ALL' >"$1/etc/sudoers.d/admin"
	mkdir "$1/home/admin/burstd"
	tar -x --no-same-owner -C "$1/home/admin/burstd"
	chroot "$1" chown -R admin: /home/admin/burstd
}

# As the kernel and a container's manager leave it to systemd: a /dev of its own, cgroups that begin with it, a network.
boot() { # ROOT
	local f
	hostname head
	ip link set lo up
	# The cloud is behind it, as in tests/e2e/lab/enter.
	ip link add labbr address 02:77:0a:4d:00:01 type bridge
	ip addr add 10.77.0.1/16 dev labbr
	ip link set labbr up
	mount --bind "$1" "$1"
	cd "$1"
	mount -t proc proc proc
	mount -t sysfs sysfs sys
	mount -t cgroup2 cgroup2 sys/fs/cgroup
	mount -t tmpfs -o mode=755 tmpfs dev
	mount -t tmpfs -o mode=755 tmpfs run
	for f in null zero full random urandom tty; do
		: >dev/$f
		mount --bind /dev/$f dev/$f
	done
	mkdir -m 1777 dev/shm
	mkdir dev/pts
	mount -t devpts -o newinstance,ptmxmode=0666,mode=620,gid=5 devpts dev/pts
	ln -s pts/ptmx dev/ptmx
	ln -s /proc/self/fd dev/fd
	for f in 0:stdin 1:stdout 2:stderr; do ln -s "/proc/self/fd/${f%:*}" "dev/${f#*:}"; done
	mkdir old
	pivot_root . old
	umount -l old
	rmdir old
	# As a manager of containers leaves them: systemd mounts a service's credentials where it alone is, and they must come here.
	mount --make-rshared /
	exec env -i container=burstd /lib/systemd/systemd --log-target=journal </dev/null >/dev/null 2>&1
}

is_up() {
	[[ $(nsenter --target "$BARE_PID" --all systemctl is-system-running 2>/dev/null) = @(running|degraded) ]]
}

wait_until_up() {
	local tries
	for ((tries = 0; tries < 300; tries++)); do
		BARE_PID=$(cat "/proc/$1/task/$1/children" 2>/dev/null) || return
		BARE_PID=${BARE_PID%% *}
		if [ -n "$BARE_PID" ] && is_up; then return; fi
		sleep 0.2
	done
	return 1
}

# Of a run that was killed, too.
remove_cgroup() {
	[ ! -d "$1" ] || find "$1" -depth -type d -exec rmdir {} +
}

power_off() {
	kill -KILL "$booted" 2>/dev/null || true
	wait "$booted" 2>/dev/null || true
	# Its processes are gone when the last of its groups is.
	local tries
	for ((tries = 0; tries < 50; tries++)); do
		! remove_cgroup "$group" 2>/dev/null || break
		sleep 0.1
	done
	umount -l "$root.cgroup"
	rmdir "$root.cgroup"
	[ -n "${KEEP-}" ] || rm -rf --one-file-system "$root"
}

inside() { # FILE.bats, the tree on standard input
	local name=${1##*/} rc=0
	name=${name%.bats}
	trap 'exit 130' INT
	trap 'exit 143' TERM HUP
	root=$chroots/bare-$name
	furnish "$root"
	exec </dev/null
	mkdir -p "$root.cgroup"
	mount -t cgroup2 cgroup2 "$root.cgroup" 2>/dev/null ||
		refuse "$what on a host with cgroups (cgroup2), and this machine refuses them."
	group=$root.cgroup/burstd-bare-$name
	remove_cgroup "$group"
	mkdir "$group"
	(
		echo "$BASHPID" >"$group/cgroup.procs"
		exec unshare --pid --fork --kill-child --net --uts --ipc --cgroup --mount --propagation private "$self" --boot "$root"
	) &
	booted=$!
	trap power_off EXIT
	wait_until_up $booted || refuse "$what on a host with a systemd of its own, and it does not start here."
	export BARE_PID BARE_ROOT=$root BARE_SUITE=$suite
	bats --tap "$1" || rc=$?
	exit $rc
}

as_root() {
	local file rc=0
	trap 'exit 130' INT
	trap 'exit 143' TERM HUP
	mkdir -p "$chroots"
	exec 9>"$chroots/bare.lock"
	flock -n 9 || fail "$chroots/bare is in use by another run."
	if ! recipe | cmp -s - "$image.recipe"; then
		"${namespaces[@]}" "$self" --image >&2 9>&- ||
			refuse "$what with packages of $MIRROR, and not all of them can be had from there."
	fi
	for file; do
		tree | "${namespaces[@]}" "$self" --inside "$file" 9>&- || rc=$?
	done
	exit $rc
}

case ${1-} in
--image) make_image ;;
--boot) boot "$2" ;;
--inside) inside "$2" ;;
--as-root) shift && as_root "$@" ;;
'') become_root tests/bare/*.bats ;;
*) become_root "$@" ;;
esac
