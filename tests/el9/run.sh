#!/bin/bash
# run.sh: burstd with libraries as old as those of Enterprise Linux 9 (`make el9`), as TAP.
#
# Debian 11 has what EL9.0 has, or older: glibc 2.31, gcc 10, SQLite 3.34.1, libuv 1.40, libmicrohttpd 0.9.72, jansson 2.13, rpm
# 4.16.  Into a chroot of it, $BUILD/chroot/el9, are built, from Debian's sources: OpenSSL 3.0, which burstd needs, libcurl 7.74
# with it, and libxlsxwriter, which Debian 11 lacks.  versions.c says what there is, and fails if something is newer than EL9's.
# There everything is compiled and every unit test is run, and the RPM packages are built, twice, installed, upgraded and
# erased (packages.sh).  Programs and libraries then go to $BUILD/el9, and run a real Slurm's jobs, this machine's: FILES.
#
# The chroot is kept until its recipe changes; delete it to have newer packages of the same.  run.log beside it has what was
# said.  Root is asked for once, by sudo.  Where that, the namespaces, debootstrap or the mirror are missing: one sentence, status
# 77; to prove, a plan that says so.
#   FILES=   which end-to-end tests: jobs, bootstrap and ledger of tests/e2e, unless some are named; none: FILES=-
#   MIRROR=  http://deb.debian.org/debian, or one that still has Debian 11; http_proxy is respected
set -eu -o pipefail
# shellcheck disable=SC2034  # for chroot.bash
keep='BUILD FILES JOBS MIRROR HARNESS_ACTIVE SOURCE_DATE_EPOCH http_proxy https_proxy no_proxy'
self=$(readlink -f "$0")
cd "${self%/*}/../.."
what="libraries as old as EL9's are tested"
# shellcheck source=tests/matrix/chroot.bash
. tests/matrix/chroot.bash
dir=$chroots/el9
to=$(readlink -m "$BUILD")/el9
: "${FILES:=tests/e2e/jobs.bats tests/e2e/bootstrap.bats tests/e2e/ledger.bats}"

# Debian 11's; what needs OpenSSL is built, from these sources.
packages='gcc make pkg-config libc6-dev musl-tools libuv1-dev libjansson-dev libsqlite3-dev libmicrohttpd-dev libgnutls28-dev
	libconfuse-dev libexpat1-dev libmunge-dev libnghttp2-dev libcmocka-dev scdoc zlib1g-dev tzdata ca-certificates perl procps
	gawk python3 zsh lua5.1 bash-completion systemd rpm elfutils dwz file cpio xz-utils'
sources='openssl/bookworm curl/bullseye libxlsxwriter/bookworm'
prefix=/opt/el9

# --- the chroot -------------------------------------------------------------------------------

recipe() {
	echo "$MIRROR $packages $sources"
	sed -n '/^build_libraries/,/^}/p' "$self"
}

mount_all() {
	mount --bind "$dir" "$dir"
	mount -t proc proc "$dir/proc"
	mount --rbind /sys "$dir/sys"
	mount --rbind /dev "$dir/dev"
	mount -t tmpfs -o mode=1777 tmpfs "$dir/dev/shm"
	mount -t tmpfs -o mode=755 tmpfs "$dir/run"
	mount -t tmpfs -o mode=1777 tmpfs "$dir/tmp"
}

within() { # CMD...
	local vars=() v
	for v in JOBS SOURCE_DATE_EPOCH http_proxy https_proxy no_proxy; do
		[ -z "${!v-}" ] || vars+=("$v=${!v}")
	done
	chroot "$dir" env -i "PATH=$prefix/bin:/usr/sbin:/usr/bin:/sbin:/bin" HOME=/root TZ=UTC LC_ALL=C.UTF-8 \
		DEBIAN_FRONTEND=noninteractive "PKG_CONFIG_PATH=$prefix/lib/pkgconfig" "${vars[@]}" "$@" </dev/null
}

# In the chroot, in the directory with the sources.  They find each other, and programs find them, by ld.so.conf; nothing is
# optimised for speed.
build_libraries() {
	export CFLAGS='-O1 -g0'
	for f in *.orig.tar.*; do case $f in *.asc) ;; *) tar -xf "$f" ;; esac done
	(cd openssl-*/ && ./Configure linux-x86_64 --prefix=/opt/el9 --openssldir=/etc/ssl --libdir=lib no-tests shared &&
		make -s -j"$(nproc)" build_sw && make -s install_sw)
	echo /opt/el9/lib >/etc/ld.so.conf.d/00-el9.conf
	ldconfig
	(cd curl-*/ && ./configure -q --prefix=/opt/el9 --with-ssl=/opt/el9 --with-nghttp2 --with-ca-path=/etc/ssl/certs \
		--disable-static --disable-ldap --without-libpsl --without-brotli &&
		make -s -j"$(nproc)" && make -s install)
	(cd libxlsxwriter-*/ && make -s -j"$(nproc)" && make -s install PREFIX=/opt/el9)
	ldconfig
}

make_chroot() {
	make_root bullseye "$dir" --include=make
	printf 'deb %s bullseye main\ndeb-src %s bullseye main\ndeb-src %s bookworm main\n' "$MIRROR" "$MIRROR" "$MIRROR" \
		>"$dir/etc/apt/sources.list"
	cp /etc/resolv.conf /etc/hosts "$dir/etc/"
	mount_all
	local apt='apt-get -qq -o APT::Sandbox::User=root -o Dpkg::Use-Pty=0'
	# shellcheck disable=SC2086  # words
	{
		within $apt update
		within $apt install -y --no-install-recommends $packages
		mkdir "$dir/usr/src/el9"
		within sh -c "cd /usr/src/el9 && $apt source --download-only $sources"
		within bash -euc "cd /usr/src/el9; $(declare -f build_libraries); build_libraries"
	} >"$chroots/el9.made" 2>&1
	rm -rf "$dir/usr/src/el9"
	within apt-get clean
	recipe >"$dir/recipe"
}

# --- the tests --------------------------------------------------------------------------------

n=0
# ok NAME CMD...: one test; what CMD said is in run.log, and its end here if it failed.
ok() {
	local name=$1 rc=0
	shift
	n=$((n + 1))
	"$@" >"$chroots/el9.said" 2>&1 || rc=$?
	{
		echo "=== $name"
		cat "$chroots/el9.said"
	} >>"$chroots/el9.log"
	if [ $rc = 0 ]; then
		echo "ok $n - $name"
	else
		echo "not ok $n - $name"
		{ grep -E 'not ok|rror:|^# ' "$chroots/el9.said" | head -n 30 || true; tail -n 15 "$chroots/el9.said"; } | sed 's/^/# /'
		failed=1
	fi
}

versions() {
	# shellcheck disable=SC2016  # the chroot's
	within sh -c 'cd /burstd && gcc -o /root/versions tests/el9/versions.c $(pkg-config --cflags --libs \
		libcurl libcrypto sqlite3 libuv libmicrohttpd jansson gnutls expat) && /root/versions'
}

make_() { within make -C /burstd -s -j"$(nproc)" "$@"; }

# Tests of one layer.  A program that runs others has them in build/bin.
layer() {
	# shellcheck disable=SC2016  # the chroot's
	within env CMOCKA_MESSAGE_OUTPUT=TAP sh -c 'cd /burstd && exec prove -j$(nproc) --exec "timeout 300 tests/unit/tap.sh" build/release/tests/unit/$1/*.t' sh "$1"
}

agent() { within env BIN=build/bin sh -c 'cd /burstd && exec prove --exec "timeout 300 tests/unit/tap.sh" tests/agent/test_agent.py'; }

# The programs, with the libraries that they were tested with, where they find them on this machine: not glibc's, which would
# not start here, and with which everything built with an older one runs.
hand_over() {
	local lib
	rm -rf "$to"
	mkdir -p "$to/lib" "$to/bin"
	rm -f "$dir"/burstd/build/bin/*
	make_ LDFLAGS="-Wl,-rpath,$to/lib -Wl,--disable-new-dtags" all || return
	cp -P "$dir"/burstd/build/bin/* "$to/bin/"
	within sh -c 'ldd /burstd/build/bin/burst* /burstd/build/bin/simcloud' | sed -n 's/.* => \(\/[^ ]*\) .*/\1/p' |
		sort -u | while read -r lib; do
		case ${lib##*/} in lib[cm].so.* | libpthread.* | libdl.* | librt.* | libresolv.* | ld-linux*) continue ;; esac
		cp -L "$dir$lib" "$to/lib/"
	done
	for lib in libcurl libcrypto libsqlite3 libuv libmicrohttpd libjansson; do
		ldd "$to/bin/burstd" | grep "$lib.*$to/lib/" || return
	done
}

inside() { # the tree on standard input
	local layers
	trap 'exit 130' INT
	trap 'exit 143' TERM HUP
	failed=0
	rm -rf "$dir/burstd" "$dir/shared"
	mkdir "$dir/burstd"
	tar -x --no-same-owner -C "$dir/burstd"
	[ ! -d ../shared ] || cp -RL ../shared "$dir/shared"
	exec </dev/null
	mount_all
	: >"$chroots/el9.log"
	ok "nothing here is newer than EL9's" versions
	sed 's/^/# /' "$chroots/el9.said"
	ok 'programs compile, without a warning' make_ all WERROR=1
	ok 'tests compile' make_ unit-programs
	for layers in "$dir"/burstd/tests/unit/*/; do
		layers=${layers%/}
		ok "unit tests: ${layers##*/}" layer "${layers##*/}"
	done
	ok 'tests of burst-agent' agent
	ok 'packages are built, twice the same, installed, upgraded and erased' within /burstd/tests/el9/packages.sh
	ok 'programs and their libraries are handed over' hand_over
	echo "$n $failed" >"$chroots/el9.count"
}

as_root() {
	local file failed=0
	trap 'exit 130' INT
	trap 'exit 143' TERM HUP
	mkdir -p "$chroots"
	exec 9>"$dir.lock"
	flock -n 9 || fail "$dir is in use by another run."
	if ! recipe | cmp -s - "$dir/recipe"; then
		"${namespaces[@]}" "$self" --chroot >&2 9>&- ||
			refuse "$what with packages and sources of $MIRROR, and not all of them can be had or built ($chroots/el9.made)."
	fi
	rm -f "$chroots/el9.count"
	tree | "${namespaces[@]}" "$self" --inside 9>&-
	read -r n failed <"$chroots/el9.count"
	for file in ${FILES#-}; do
		ok "end to end, with this machine's Slurm: ${file##*/}" env BUILD="$to" tests/e2e/run.sh "$file"
	done
	echo "1..$n"
	exit "$failed"
}

case ${1-} in
--chroot) make_chroot ;;
--inside) inside ;;
--as-root) as_root ;;
*) become_root "$@" ;;
esac
