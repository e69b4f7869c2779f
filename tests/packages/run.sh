#!/bin/bash
# run.sh [FILE.bats...]: Debian packages, from the sources to the purge (`make packages`).
#
# The working tree's packages are built in chroots of bookworm and trixie that have what `scripts/dev/deps.sh package` installs,
# in bookworm a second time in another directory, time zone, locale and umask, to be compared; and from an older commit with
# today's scripts/pkg, to be upgraded from.  built.bats looks at what came of it; each other FILE of this directory gets a host of
# tests/bare/run.sh, with a systemd that runs, on which they are installed.
#
# What is built is kept in $BUILD/packages: SUITE, again and old; TEST=only uses what is there.  The chroots are kept, too:
# $BUILD/chroot/package-SUITE.  Where root, namespaces, debootstrap or the mirror are refused: one sentence, status 77.
#   WHAT=    what is built, "bookworm old again trixie" unless it is said      MIRROR=  http://deb.debian.org/debian; http_proxy is respected
set -eu -o pipefail
keep='BUILD WHAT TEST KEEP MIRROR HARNESS_ACTIVE http_proxy https_proxy no_proxy'
self=$(readlink -f "$0")
cd "${self%/*}/../.."
what='packages are tested'
# shellcheck source=tests/matrix/chroot.bash
. tests/matrix/chroot.bash
packages=$(readlink -m "$BUILD")/packages

# Its journal is of schema 22.  It is called 0.0.9 here.
older=26c37686

recipe() { # SUITE
	echo "$1 $MIRROR"
	scripts/dev/deps.sh --list package
}

make_chroot() { # SUITE DIR
	! recipe "$1" | cmp -s - "$2.recipe" || return 0
	make_root "$1" "$2" >&2
	mount -t proc proc "$2/proc"
	# shellcheck disable=SC2046  # a list of packages
	DEBIAN_FRONTEND=noninteractive chroot "$2" apt-get -qq -o APT::Sandbox::User=root -y --no-install-recommends install \
		$(scripts/dev/deps.sh --list package) </dev/null >"$2.log" 2>&1 || {
		tail -n 5 "$2.log" >&2
		return 1
	}
	umount "$2/proc"
	recipe "$1" >"$2.recipe"
}

# build SUITE WHERE OUT [NAME=VALUE...]: the tree on standard input is unpacked as /WHERE in SUITE's chroot, and built.
build() {
	local dir=$chroots/package-$1 where=$2 out=$3
	shift 3
	rm -rf "${dir:?}/${where:?}"
	mkdir -p "$dir/$where"
	tar -x --no-same-owner -C "$dir/$where"
	mount -t proc proc "$dir/proc"
	mount --bind /dev "$dir/dev"
	chroot "$dir" env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root "$@" sh -c "umask \${UMASK:-022} && make -s -C /$where deb" </dev/null
	umount "$dir/proc" "$dir/dev"
	rm -rf "$out"
	mv "$dir/$where/build/deb" "$out"
	rm -rf "${dir:?}/${where%%/*}"
}

old_tree() { # as a tar
	local dir
	git cat-file -e "$older^{commit}" 2>/dev/null ||
		fail "packages: this clone lacks the commit $older, which is upgraded from: git fetch --unshallow"
	dir=$(mktemp -d)
	git archive "$older" | tar -x -C "$dir"
	rm -rf "$dir/scripts/pkg/debian"
	cp -a scripts/pkg/debian scripts/pkg/*.sh scripts/pkg/*.py scripts/pkg/*.mk "$dir/scripts/pkg/"
	cp CHANGELOG.md "$dir/"
	grep -q '^include .*mk' "$dir/Makefile" || echo "include scripts/pkg/package.mk" >>"$dir/Makefile"
	echo 0.0.9 >"$dir/VERSION"
	touch -d @1764000000 "$dir/VERSION"
	tar -c -C "$dir" .
	rm -rf "$dir"
}

build_all() {
	local one
	mkdir -p "$packages"
	for one in ${WHAT-bookworm old again trixie}; do
		case $one in
		again)
			tree | build bookworm home/somebody/elsewhere "$packages/again" TZ=Pacific/Kiritimati LC_ALL=C UMASK=027 LANGUAGE=fr
			;;
		old) old_tree | build bookworm src/burstd "$packages/old" ;;
		*)
			make_chroot "$one" "$chroots/package-$one"
			tree | build "$one" src/burstd "$packages/$one"
			;;
		esac
	done
}

# Where it cannot be had, venvs.bash says so and ends the shell: its tests are skipped then.
want_ansible() {
	# shellcheck source=tests/ansible/venvs.bash
	[ -z "$(. tests/ansible/venvs.bash)" ] || return 0
	. tests/ansible/venvs.bash
	install_collection
}

as_root() {
	trap 'exit 130' INT
	trap 'exit 143' TERM HUP
	mkdir -p "$chroots"
	exec 9>"$chroots/packages.lock"
	flock -n 9 || fail "$chroots/packages is in use by another run."
	[ "${TEST-}" = only ] || "${namespaces[@]}" "$self" --build 9>&- ||
		fail 'packages: not built; what was said is above.'
	local file hosts=() rc=0
	for file; do
		case $file in
		*/built.bats) bats --tap "$file" 9>&- || rc=1 ;;
		*) hosts+=("$file") ;;
		esac
	done
	[[ "${hosts[*]}" != *ansible.bats* ]] || want_ansible
	[ ${#hosts[@]} = 0 ] || tests/bare/run.sh "${hosts[@]}" 9>&- || rc=1
	exit $rc
}

case ${1-} in
--build) build_all ;;
--as-root) shift && as_root "$@" ;;
'') become_root tests/packages/*.bats ;;
*) become_root "$@" ;;
esac
