#!/bin/bash
# chronyd.sh: prints the path of a chronyd: the machine's own, else that of Debian's package, which is fetched and unpacked
# below the build directory and not installed: it would keep the machine's clock.  Where neither is to be had, without apt,
# lists or network: one sentence, exit status 1.  FIND_ONLY=yes: nothing is fetched.
set -u
cd "$(dirname "$0")/../.." || exit
dir=$PWD/${BUILD:-build}/chrony
[[ ${BUILD-} != /* ]] || dir=$BUILD/chrony

command -v chronyd && exit
runs() {
	"$dir/usr/sbin/chronyd" -v >/dev/null 2>&1
}
# Whole or not at all, for several ask for it side by side.  Without a network it gives up within half a minute.
fetch() {
	local new
	mkdir -p "${dir%/*}" && new=$(mktemp -d "$dir.XXXXXX") && cd "$new" || return
	timeout -k 2 25 apt-get -q -o Acquire::Retries=0 -o Acquire::http::Timeout=10 -o Acquire::https::Timeout=10 \
		download chrony && dpkg-deb -x ./chrony_*.deb root && { runs || rm -rf "$dir"; } && mv -T root "$dir"
	rm -rf "$new"
}
runs || [ -n "${FIND_ONLY-}" ] || (fetch) >/dev/null 2>&1 </dev/null
# Of another release, or without a library, it does not run.
if runs; then
	echo "$dir/usr/sbin/chronyd"
	exit
fi
echo "there is no chronyd, and its package cannot be fetched"
exit 1
