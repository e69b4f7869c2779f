#!/bin/bash
# chronyd.sh: prints the path of a chronyd: the machine's own, else that of Debian's package, which is fetched and unpacked
# below the build directory and not installed: it would keep the machine's clock.  Where neither is to be had, without apt,
# lists or network: one sentence, exit status 1.  FIND_ONLY=yes: nothing is fetched.
set -u
cd "$(dirname "$0")/../.." || exit
dir=$PWD/${BUILD:-build}/chrony
[[ ${BUILD-} != /* ]] || dir=$BUILD/chrony

command -v chronyd && exit
fetch() {
	rm -rf "$dir" && mkdir -p "$dir/package" && cd "$dir/package" || return
	timeout -k 5 60 apt-get -q -o Acquire::Retries=0 -o Acquire::http::Timeout=15 -o Acquire::https::Timeout=15 \
		download chrony && dpkg-deb -x ./chrony_*.deb "$dir"
}
[ -x "$dir/usr/sbin/chronyd" ] || [ -n "${FIND_ONLY-}" ] || (fetch) >"$dir.log" 2>&1 </dev/null
# Of another release, or without a library, it does not run.
if "$dir/usr/sbin/chronyd" -v >/dev/null 2>&1; then
	echo "$dir/usr/sbin/chronyd"
	exit
fi
echo "there is no chronyd, and its package cannot be fetched"
exit 1
