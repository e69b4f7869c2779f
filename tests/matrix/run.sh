#!/bin/bash
# run.sh [SUITE|/PREFIX...]: the end-to-end tests on other releases of Slurm (`make test-slurm-matrix`).
#
# Each SUITE (trixie, unless others are named) gets a chroot, $BUILD/chroot/SUITE, made by debootstrap with Debian's
# signatures checked, and what `make deps` installs in it.  It is kept for the next run and made anew when deps.sh wants
# other packages; delete it to have newer ones of the same.  The working tree (what git tracks or does not ignore) is copied to
# /burstd in it, built there, and tests/e2e/run.sh run.  SUITE.log beside it has all that was said.
#
# Each /PREFIX is where a Slurm was installed that was built from source on this machine (`configure --prefix=/PREFIX
# --enable-multiple-slurmd`).  The tests run with it in the working tree, without a chroot; $BUILD/matrix/PREFIX.log has what
# was said.
#
# The chroots are used in pid and mount namespaces of its own, so that nothing stays mounted or running, however this ends.
# Root is asked for once, by sudo.  Where that, the namespaces or debootstrap are missing: one sentence, status 77.
#   FILES=   which tests, as paths: tests/e2e/jobs.bats ...; all when empty      JOBS=1   one file at a time
#   MIRROR=  http://deb.debian.org/debian; http_proxy is respected
set -eu -o pipefail
keep='BUILD FILES JOBS MIRROR http_proxy https_proxy no_proxy'
self=$(readlink -f "$0")
cd "${self%/*}/../.."
what='other Slurm versions are tested'
# shellcheck source=tests/matrix/chroot.bash
. tests/matrix/chroot.bash

# --- as whoever called, and as root -----------------------------------------------------------

# One suite, from the chroot to the last test.
suite() {
	local suite=$1 dir=$chroots/$1 rc=0 began=$SECONDS log
	exec 9>"$dir.lock"
	flock -n 9 || fail "$dir is in use by another run."
	exec 8> >(exec tee "$dir.log" 9>&-)
	log=$!
	tree | setpriv --pdeathsig KILL "${namespaces[@]}" "$self" --inside "$suite" "$dir" >&8 2>&1 8>&- &
	wait $! || rc=$?
	exec 8>&-
	wait $log
	exec 9>&-
	summary+=("$(sum_up "$suite" "$dir" $rc $(((SECONDS - began) / 60)))")
	[ $rc = 0 ] || failed=1
}

# tests/e2e/run.sh asks for root itself.
at_prefix() { # PREFIX
	local name=${1#/} rc=0 began=$SECONDS log
	name=${name//\//-}
	log=$logs/$name
	mkdir -p "$logs"
	make -s -j"$(nproc)" all build/bin/flood || return
	# shellcheck disable=SC2086  # a list of files
	{
		echo "# on $("$1/sbin/slurmctld" -V)"
		SLURM_PREFIX=$1 tests/e2e/run.sh ${FILES-}
	} 2>&1 | tee "$log.log" || rc=$?
	printf '\n%s\n' "$(sum_up "$name" "$log" $rc $(((SECONDS - began) / 60)))"
	return $rc
}

sum_up() { # SUITE LOG STATUS MINUTES
	local version ok bad skipped
	version=$(sed -n 's/^# on [^ ]* /Slurm /p' "$2.log" | head -n 1)
	ok=$(grep -c '^ok ' "$2.log")
	skipped=$(grep -ci '^ok .* # skip' "$2.log")
	bad=$(grep -c '^not ok ' "$2.log")
	printf '%-8s %-16s %3d passed %3d skipped %3d failed %3d min' "$1" "${version:-not run}" \
		$((ok - skipped)) "$skipped" "$bad" "$4"
	[ "$3" = 0 ] || [ "$bad" != 0 ] || printf '   (ended with status %d)' "$3"
}

as_root() {
	trap 'exit 130' INT
	trap 'exit 143' TERM HUP
	mkdir -p "$chroots"
	local failed=0 summary=() s
	for s; do suite "$s"; done
	printf '\n'
	printf '%s\n' "${summary[@]}"
	exit $failed
}

main() {
	local suites=() rc=0 s
	for s; do
		case $s in
		/*) at_prefix "$s" || rc=1 ;;
		*) suites+=("$s") ;;
		esac
	done
	[ ${#suites[@]} = 0 ] || { (become_root "${suites[@]}") || rc=$?; }
	exit $rc
}

# --- in the namespaces ------------------------------------------------------------------------

# What the chroot was made with; the tests' list is the tree's, so that a new package makes it anew.
recipe() {
	echo "$1 $MIRROR"
	scripts/dev/deps.sh --list
}

mount_all() {
	local dir=$1
	# Of its own, since unshare (and `ip netns`) want a mount point as root.
	mount --bind "$dir" "$dir"
	mount -t proc proc "$dir/proc"
	mount --rbind /sys "$dir/sys"
	mount --rbind /dev "$dir/dev"
	mount -t tmpfs -o mode=1777 tmpfs "$dir/dev/shm"
	mount -t tmpfs -o mode=755 tmpfs "$dir/run"
	mount -t tmpfs -o mode=1777 tmpfs "$dir/tmp"
}

within() { # DIR CMD...
	local dir=$1 vars=() v
	shift
	for v in FILES JOBS http_proxy https_proxy no_proxy; do
		[ -z "${!v-}" ] || vars+=("$v=${!v}")
	done
	chroot "$dir" env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root TZ=UTC LC_ALL=C.UTF-8 "${vars[@]}" "$@" </dev/null
}

# Built from nothing each time: a file may have been saved after the last copy of it, yet before its object was made.
unpack() { # DIR, the tree on standard input
	rm -rf "$1/burstd"
	mkdir "$1/burstd"
	tar -x --no-same-owner -C "$1/burstd"
}

inside() { # SUITE DIR, the tree on standard input
	local suite=$1 dir=$2 fresh=''
	trap 'exit 130' INT
	trap 'exit 143' TERM HUP
	if ! recipe "$suite" | cmp -s - "$dir/recipe"; then
		make_root "$suite" "$dir" --include=make
		fresh=yes
	fi
	unpack "$dir"
	mount_all "$dir"
	within "$dir" make --no-print-directory -C /burstd deps
	if [ -n "$fresh" ]; then
		within "$dir" apt-get clean
		recipe "$suite" >"$dir/recipe"
	fi
	within "$dir" make -C /burstd -s -j"$(nproc)" all build/bin/flood
	echo "# on $(within "$dir" slurmctld -V)"
	# shellcheck disable=SC2086  # a list of files
	within "$dir" /burstd/tests/e2e/run.sh ${FILES-}
}

logs=$(readlink -m "$BUILD")/matrix
case ${1-} in
--inside) shift && inside "$@" ;;
--as-root) shift && as_root "$@" ;;
*) main "${@:-trixie}" ;;
esac
