#!/bin/sh
# deps.sh [--list] [build|matrix|contract|examples|rpm]: install the Debian packages burstd needs to build, test and demonstrate,
# starting no service; with `build` only what `make` and `make install` need, with `matrix` what makes the chroots of
# tests/matrix/run.sh, with `contract` what tests/contract needs, with `examples` what `make examples` needs besides what all
# needs, with `rpm` what makes RPM packages.  --list: only print their names.
#
# munge, mariadb and slurm start their daemons when they are installed.  Ours run privately, so
# while this script installs, policy-rc.d denies every service start; a policy-rc.d of the site's
# own is respected and put back.  None of the packages to build or to make chroots with has a service.
set -eu

# Each line: what needs them.
build='gcc make pkg-config libc6-dev musl-tools libuv1-dev libcurl4-openssl-dev libjansson-dev libsqlite3-dev
	libssl-dev libmicrohttpd-dev libgnutls28-dev libconfuse-dev libexpat1-dev libmunge-dev libxlsxwriter-dev scdoc
	zlib1g-dev tzdata ca-certificates'
unit='libcmocka-dev perl procps openssl zsh lua5.1'
e2e='slurmctld slurmd slurmdbd slurm-client slurm-wlm-mysql-plugin munge mariadb-server iproute2 bats jq curl util-linux
	python3 python3-aiosmtpd nftables iptables'
cover='gcovr'
check='git patch clang clang-format clang-tidy cppcheck shellcheck systemd'
contract='python3-venv'
examples="$contract python3-dev g++"
rpm="$build git rpm rpmlint"
matrix='debootstrap debian-archive-keyring gpgv util-linux'
# Where these cannot be had, all goes on but what they are for, which says so.
optional=' musl-tools zsh lua5.1 gcovr python3-venv python3-dev g++ '
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
'1 examples') want=$examples ;;
'1 rpm') want=$rpm ;;
*)
	echo "usage: deps.sh [--list] [build|matrix|contract|examples|rpm]" >&2
	exit 2
	;;
esac
if [ -n "$list" ]; then
	# shellcheck disable=SC2086  # a list of names
	printf '%s\n' $want
	exit
fi
# Sets $missing, and $needed: those of them that are not optional.
look() {
	missing='' needed=''
	for p in $want; do
		! dpkg-query -W -f '${db:Status-Status}\n' "$p" 2>/dev/null | grep -qx installed || continue
		missing="$missing $p"
		case $optional in *" $p "*) ;; *) needed="$needed $p" ;; esac
	done
}
give_up() {
	if [ -z "$needed" ]; then
		echo "deps: $1; what they are for is skipped:$missing" >&2
		exit 0
	fi
	echo "deps: $1" >&2
	exit 1
}
look
[ -n "$missing" ] || exit 0

command -v apt-get >/dev/null || give_up "needs Debian 12 or 13 (no apt-get here); install yourself:$missing"
sudo=''
if [ "$(id -u)" != 0 ]; then
	command -v sudo >/dev/null || give_up "installing packages needs root; run as root: apt-get install$missing"
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

# apt-get tells of each package three times: it comes, is unpacked, is set up.  On a terminal that is one line that counts,
# elsewhere a line for each tenth; what else it says is kept for the case that it fails.  The shell reads line by line, where
# Debian's awk would wait for 4 kB.
progress() {
	all=0 have=0 tenth=0
	while IFS= read -r line; do
		case $line in
		*' newly installed'*)
			line=${line%% newly installed*}
			all=$((3 * ${line##* }))
			continue
			;;
		Get:*) what="downloading $(echo "$line" | cut -d' ' -f5)" ;;
		'Unpacking '*) what="unpacking ${line#Unpacking }" ;;
		'Setting up '*) what="setting up ${line#Setting up }" ;;
		*) continue ;;
		esac
		[ $have -lt $all ] || continue
		have=$((have + 1))
		percent=$((100 * have / all))
		if [ -t 2 ]; then
			printf '\r\033[Kdeps: %d %%, %.60s' $percent "$what" >&2
		elif [ $((percent / 10)) -gt $tenth ]; then
			printf 'deps: %d %%\n' $percent >&2
		fi
		tenth=$((percent / 10))
	done
	[ ! -t 2 ] || printf '\r\033[K' >&2
}
install() { # PACKAGE...
	rm -f "$log.rc"
	{
		$sudo apt-get -q -o Dpkg::Use-Pty=0 install -y --no-install-recommends "$@" 2>&1 || echo failed >"$log.rc"
	} | tee "$log" | progress
	[ ! -e "$log.rc" ]
}
# apt-get installs nothing where it cannot have one of them: then what is needed, and each of the others for itself.
install_what_there_is() {
	# shellcheck disable=SC2086  # a list of names
	[ -z "$needed" ] || install $needed || return
	for p in $missing; do
		case $optional in *" $p "*) install "$p" || true ;; esac
	done
}

export DEBIAN_FRONTEND=noninteractive
log=$(mktemp)
# shellcheck disable=SC2086  # a list of names
install $missing || {
	# Perhaps the lists of packages are old, or there are none yet.
	$sudo apt-get -qq update
	install $missing
} || install_what_there_is || tail -n 30 "$log" >&2
rm -f "$log" "$log.rc"
look
[ -z "$missing" ] || give_up 'apt-get could not install these packages'
