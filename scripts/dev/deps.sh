#!/bin/sh
# deps.sh [--list] [build|matrix|contract]: install the Debian packages burstd needs to build, test and demonstrate,
# starting no service; with `build` only what `make` and `make install` need, with `matrix` what makes the chroots of
# tests/matrix/run.sh, with `contract` what tests/contract needs.  --list: only print their names.
#
# munge, mariadb and slurm start their daemons when they are installed.  Ours run privately, so
# while this script installs, policy-rc.d denies every service start; a policy-rc.d of the site's
# own is respected and put back.  None of the packages to build or to make chroots with has a service.
set -eu

# Each line: what needs them.
build='gcc make pkg-config libc6-dev musl-tools libuv1-dev libcurl4-openssl-dev libjansson-dev libsqlite3-dev
	libssl-dev libmicrohttpd-dev libgnutls28-dev libconfuse-dev libexpat1-dev libmunge-dev scdoc'
unit='libcmocka-dev perl procps openssl'
e2e='slurmctld slurmd slurmdbd slurm-client slurm-wlm-mysql-plugin munge mariadb-server iproute2 bats jq curl util-linux
	python3 nftables iptables'
cover='gcovr'
check='git clang clang-format clang-tidy cppcheck shellcheck systemd'
contract='python3-venv'
matrix='debootstrap debian-archive-keyring gpgv util-linux'
# libFuzzer's runtime carries clang's version in its name.
fuzz=$(apt-cache depends clang 2>/dev/null | sed -n 's/.*Depends: clang-\([0-9]*\)$/libclang-rt-\1-dev/p' | head -n 1)

list=''
if [ "${1-}" = --list ]; then
	list=yes
	shift
fi
case "$# $*" in
'0 ') want="$build $unit $e2e $check $contract $cover $fuzz" ;;
'1 build') want=$build ;;
'1 matrix') want=$matrix ;;
'1 contract') want="$build $contract" ;;
*)
	echo "usage: deps.sh [--list] [build|matrix|contract]" >&2
	exit 2
	;;
esac
if [ -n "$list" ]; then
	# shellcheck disable=SC2086  # a list of names
	printf '%s\n' $want
	exit
fi
missing=''
for p in $want; do
	dpkg-query -W -f '${db:Status-Status}\n' "$p" 2>/dev/null | grep -qx installed || missing="$missing $p"
done
[ -n "$missing" ] || exit 0

command -v apt-get >/dev/null || {
	echo "deps: needs Debian 12 or 13 (no apt-get here); install yourself:$missing" >&2
	exit 1
}
sudo=''
if [ "$(id -u)" != 0 ]; then
	command -v sudo >/dev/null || {
		echo "deps: installing packages needs root; run as root: apt-get install$missing" >&2
		exit 1
	}
	sudo=sudo
	echo "deps: sudo may ask for your password: apt-get installs the packages below"
fi
echo "deps: installing (no service will be started):$missing"

deny_services() {
	policy=/usr/sbin/policy-rc.d
	saved=''
	if [ -e $policy ]; then
		saved=$policy.burstd-deps
		$sudo mv $policy $saved
	fi
	trap restore EXIT
	trap 'exit 1' HUP INT TERM
	printf '#!/bin/sh\nexit 101\n' | $sudo tee $policy >/dev/null
	$sudo chmod 755 $policy
}
restore() {
	$sudo rm -f "$policy"
	[ -z "$saved" ] || $sudo mv "$saved" "$policy"
}
[ $# -gt 0 ] || deny_services

export DEBIAN_FRONTEND=noninteractive
# shellcheck disable=SC2086  # a list of names
$sudo apt-get -qq -o Dpkg::Use-Pty=0 install -y --no-install-recommends $missing >/dev/null 2>&1 || {
	$sudo apt-get -qq update
	$sudo apt-get -qq -o Dpkg::Use-Pty=0 install -y --no-install-recommends $missing
}
