#!/bin/bash
# provision.sh: make of a machine, or of a chroot, what a machine image of burstd's nodes needs.
#
#   provision.sh [--vars FILE] [--only STEP] [--dry-run] [--list] [--set NAME=VALUE]...
#
# Debian 12 and 13, Ubuntu 22.04 and 24.04, and the EL 9 family; as root.  Each step looks first, and does only what is missing:
# a second run changes nothing, and says so ("0 changes").  The variables are below; they come from the environment (Packer), from
# FILE (lines NAME=VALUE, read and never run) or from --set.  docs/images.md
#
# No secret gets into the image, and nothing of NVIDIA's or Amazon's without your naming where it comes from.
set -eu -o pipefail
export LC_ALL=C PATH=/usr/sbin:/usr/bin:/sbin:/bin DEBIAN_FRONTEND=noninteractive

# NAME=DEFAULT, and what it is
# shellcheck disable=SC2016  # Markdown's backquotes
vars='
BURST=                    package burst-agent (.deb, .rpm), or what `make install DESTDIR=` made (a directory or .tar[.gz|.xz]); empty: from a repository that is set up already
SLURM=distribution        or a directory of packages (.deb, .rpm) that you built; or "there": slurmd is in the base image
SLURM_VERSION=            slurmd must be of this release then, such as 24.11; empty: any
NODE_INIT_CONF=           becomes /etc/burstd/node-init.conf
DATASOURCE=               what cloud-init asks: Ec2, OpenStack, Azure, GCE, ...; empty: every cloud
PACKAGES=                 more packages, with blanks between them
NVIDIA_REPO=              URL of the repository with the driver (apt: a flat one; dnf: its .repo file); empty: no GPUs
NVIDIA_KEY=               file with the key that signs it
NVIDIA_DRIVER=570         branch of the driver
NVIDIA_PACKAGES=          instead of the packages of that branch
DCGM_PACKAGES=datacenter-gpu-manager-4-cuda12   its hooks for node-init and prolog need no more; "none": no DCGM
FABRIC_MANAGER=yes        for machines with an NVSwitch; no: none
FABRIC=                   ib, roce or efa: userland for it
EFA_INSTALLER=            with efa: URL or file of the installer of Amazon
EFA_INSTALLER_SHA256=
ENROOT_PACKAGES=          URLs or files of Enroot (enroot, enroot+caps); empty: no containers
ENROOT_SHA256=            of each, in the same order
PYXIS_SOURCE=             URL or file of Pyxis (.tar.gz), which is built for the slurmd of the image
PYXIS_SHA256=
'
read_vars() {
	local line name
	while IFS= read -r line; do
		name=${line%%=*}
		[ -n "$name" ] || continue
		line=${line#*=}
		line=${line%%[[:blank:]]*}
		[ -n "${!name+x}" ] || printf -v "$name" %s "$line"
	done <<<"$vars"
}
is_var() { grep -q "^$1=" <<<"$vars"; }

steps='base slurm burst units user_data nvidia fabric containers clean check'
dry='' only='' changes=0

# --- saying and doing -----------------------------------------------------------------------------

die() {
	echo "provision: $*" >&2
	exit 1
}
# run COMMAND...: a change
run() {
	changes=$((changes + 1))
	case $1 in
	write) echo "provision: $step: ${dry:+would be done: }write $2" ;;
	*) echo "provision: $step: ${dry:+would be done: }$*" ;;
	esac
	[ -n "$dry" ] || "$@" </dev/null >>"$log" 2>&1 || {
		tail -n 20 "$log" >&2
		die "$step: failed: $*"
	}
}
# put FILE MODE: standard input, no pipe, becomes FILE, if it is another one.  (In a pipe its change would not be counted.)
put() {
	local text
	text=$(cat; echo x)
	[ "$(cat "$1" 2>/dev/null; echo x)" = "$text" ] && [ "$(stat -c %a "$1")" = "$2" ] && return
	run write "$1" "$2" "${text%x}"
}
write() {
	mkdir -p "${1%/*}"
	printf %s "$3" >"$1.new"
	chmod "$2" "$1.new"
	mv "$1.new" "$1"
}
# remove FILE...: what is there of them
remove() {
	local file
	for file; do
		{ [ -e "$file" ] || [ -L "$file" ]; } && run rm -rf --one-file-system "$file"
	done
	return 0
}

# --- packages -------------------------------------------------------------------------------------

family() {
	local ID='' ID_LIKE='' VERSION_ID=''
	# shellcheck source=/dev/null
	. /etc/os-release
	case $ID:$VERSION_ID in
	debian:12* | debian:13* | ubuntu:22.04 | ubuntu:24.04) echo apt ;;
	*:9*)
		case " $ID $ID_LIKE " in
		*' rhel '* | *' centos '*) echo dnf ;;
		*) die "unknown system: $ID $VERSION_ID" ;;
		esac
		;;
	*) die "unknown system: $ID $VERSION_ID" ;;
	esac
}
has() { # PACKAGE: is it installed?
	case $pm in
	apt) dpkg-query -W -f '${db:Status-Status}\n' "$1" 2>/dev/null | grep -qx installed ;;
	dnf) rpm -q "$1" >/dev/null 2>&1 ;;
	esac
}
refreshed=''
refresh() {
	deny_services
	[ -z "$refreshed" ] || return 0
	refreshed=yes
	[ "$pm" != apt ] || [ -n "$dry" ] || apt-get -qq update >>"$log" 2>&1 || die 'apt-get update failed'
}
# packages NAME...: those that are missing
packages() {
	local p missing=()
	for p; do has "$p" || missing+=("$p"); done
	[ ${#missing[@]} -gt 0 ] || return 0
	refresh
	case $pm in
	apt) run apt-get -q -o APT::Sandbox::User=root -o Dpkg::Options::=--force-confold install -y --no-install-recommends "${missing[@]}" ;;
	dnf) run dnf -q -y --setopt=install_weak_deps=False install "${missing[@]}" ;;
	esac
}
name_of() { # FILE.deb|FILE.rpm
	case $1 in
	*.deb) dpkg-deb -f "$1" Package ;;
	*.rpm) rpm -qp --qf '%{NAME}' "$1" ;;
	esac
}
version_of() {
	case $1 in
	*.deb) dpkg-deb -f "$1" Version ;;
	*.rpm) rpm -qp --qf '%{VERSION}-%{RELEASE}' "$1" ;;
	esac
}
installed_version() {
	case $pm in
	apt) dpkg-query -W -f '${Version}' "$1" 2>/dev/null ;;
	dnf) rpm -q --qf '%{VERSION}-%{RELEASE}' "$1" 2>/dev/null ;;
	esac
}
# package_files FILE...: those that are not installed in that version
package_files() {
	local f missing=()
	for f; do
		has "$(name_of "$f")" && [ "$(installed_version "$(name_of "$f")")" = "$(version_of "$f")" ] || missing+=("$(readlink -f "$f")")
	done
	[ ${#missing[@]} -gt 0 ] || return 0
	refresh
	case $pm in
	apt) run apt-get -q -o APT::Sandbox::User=root install -y --no-install-recommends "${missing[@]}" ;;
	dnf) run dnf -q -y --setopt=install_weak_deps=False install "${missing[@]}" ;;
	esac
}
# fetch WHAT SHA256: a file or a URL, checked; its path is in $fetched
fetch() {
	[ -n "$2" ] || die "$step: $1 has no SHA256: set it"
	fetched=$1
	case $1 in
	*://*)
		fetched=$work/${1##*/}
		[ -n "$dry" ] || curl -qfsSL --proto =https,file --retry 3 -o "$fetched" "$1" || die "$step: $1 cannot be fetched"
		;;
	esac
	[ -n "$dry" ] || echo "$2  $fetched" | sha256sum -c --quiet - || die "$step: $1 is another file than its SHA256 says"
}
# No package starts its service while the image is made: munged would make a key, slurmd look for its slurmctld.
deny_services() {
	[ "$pm" = apt ] && [ -z "$dry$policy" ] || return 0
	policy=/usr/sbin/policy-rc.d
	[ ! -e $policy ] || mv $policy $policy.provision
	printf '#!/bin/sh\nexit 101\n' >$policy
	chmod 755 $policy
}
leave() {
	[ -z "$policy" ] || rm -f "$policy"
	[ -z "$policy" ] || [ ! -e "$policy.provision" ] || mv "$policy.provision" "$policy"
	rm -rf "$work"
}

# --- units ----------------------------------------------------------------------------------------

is_enabled() { [ "$(systemctl is-enabled "$1" 2>/dev/null)" = enabled ]; }
enable() { is_enabled "$1" || run systemctl enable "$1"; }
disable() { ! is_enabled "$1" || run systemctl disable "$1"; }
# In a chroot systemctl reads none.
unit_files() { # NAME.service
	local dir
	for dir in /etc/systemd/system /usr/local/lib/systemd/system /usr/lib/systemd/system /lib/systemd/system; do
		[ ! -f "$dir/$1" ] || echo "$dir/$1"
		[ ! -d "$dir/$1.d" ] || find "$dir/$1.d" -name '*.conf'
	done
}
has_unit() { [ -n "$(unit_files "$1")" ]; }

# --- the steps ------------------------------------------------------------------------------------

step_base() {
	case $pm in
	apt) packages bash curl openssl ca-certificates nftables chrony libjansson4 psmisc util-linux mount hostname procps iproute2 cloud-init systemd-sysv dbus ;;
	dnf) packages bash curl openssl ca-certificates nftables chrony jansson psmisc util-linux hostname procps-ng iproute cloud-init diffutils ;;
	esac
	# shellcheck disable=SC2086  # words
	[ -z "$PACKAGES" ] || packages $PACKAGES
	case $pm in apt) enable chrony.service ;; dnf) enable chronyd.service ;; esac
	# It starts anew, and takes away what closes the metadata service; the cloud has a firewall.
	disable nftables.service
	for unit in ufw.service firewalld.service; do disable $unit; done
}

step_slurm() {
	case $SLURM:$pm in
	there:*) ;;
	distribution:apt) packages slurmd slurm-client munge ;;
	distribution:dnf) die 'slurm: EL has none (EPEL has an old one): SLURM=DIRECTORY with packages that you built' ;;
	*)
		packages munge
		# shellcheck disable=SC2046  # one a line
		package_files $(find "$SLURM" -name '*.deb' -o -name '*.rpm' | sort)
		;;
	esac
	[ -n "$dry" ] || slurm_is "$SLURM_VERSION"
}
slurm_is() { # RELEASE
	local version
	version=$(slurmd -V) || die 'slurm: there is no slurmd'
	case $1 in
	'') ;;
	*) case ${version#* } in "$1" | "$1".*) ;; *) die "slurm: slurmd is ${version#* }, SLURM_VERSION $1" ;; esac ;;
	esac
}

step_burst() {
	case $BURST in
	'') packages burst-agent ;;
	*.deb | *.rpm) package_files "$BURST" ;;
	*)
		if [ ! -d "$BURST" ]; then
			mkdir "$work/burst"
			tar -C "$work/burst" -xf "$BURST"
			BURST=$work/burst
		fi
		from_tree
		;;
	esac
}
# What `make install` lays down for a controller, and of that what a node has.
from_tree() {
	local f
	for f in usr/sbin/burst-agent usr/libexec/burstd/{node-init,image-check,gpu-health,prolog,epilog,task-prolog}; do
		[ -e "$BURST/$f" ] || die "burst: there is no $f in BURST: was it made by make install DESTDIR=..., with the usual PREFIX?"
		same "$BURST/$f" "/$f" || run install -D -m 755 "$BURST/$f" "/$f"
	done
	# Where the package has them.
	same "$BURST/usr/lib/systemd/system/burst-agent.service" /usr/lib/systemd/system/burst-agent.service ||
		run install -D -m 644 "$BURST/usr/lib/systemd/system/burst-agent.service" /usr/lib/systemd/system/burst-agent.service
	for f in burst-keys@.service burst-mounts.service munge.service.d/burst.conf slurmd.service.d/burst.conf; do
		same "$BURST/usr/share/doc/burstd/node/systemd/$f" "/usr/lib/systemd/system/$f" ||
			run install -D -m 644 "$BURST/usr/share/doc/burstd/node/systemd/$f" "/usr/lib/systemd/system/$f"
	done
}
same() { cmp -s "$1" "$2"; }

step_units() {
	# node-init starts these, when the machine has its keys.
	for unit in munge.service slurmd.service slurmctld.service slurmdbd.service slurmrestd.service; do disable $unit; done
	# EL's munged takes no options: node-init's would be lost.
	# shellcheck disable=SC2016  # for systemd
	if [ -z "$dry" ] && has_unit munge.service && ! unit_files munge.service | xargs grep -qF 'munged $OPTIONS'; then
		put /etc/systemd/system/munge.service.d/options.conf 644 < <(printf '%s\n' '[Service]' ExecStart= 'ExecStart=/usr/sbin/munged $OPTIONS')
	fi
	[ -z "$NODE_INIT_CONF" ] || put /etc/burstd/node-init.conf 644 <"$NODE_INIT_CONF"
}

step_user_data() {
	[ -z "$DATASOURCE" ] || put /etc/cloud/cloud.cfg.d/10-burst.cfg 644 <<<"datasource_list: [ $DATASOURCE ]"
}

# With what node-init and gpu-health ask: nvidia-smi, dcgmi; and the fabric manager of exactly the driver's version.
step_nvidia() {
	[ -n "$NVIDIA_REPO" ] || return 0
	[ -n "$NVIDIA_KEY" ] || die "nvidia: NVIDIA_KEY is not set: packages are not taken unsigned"
	local list=() kernel
	kernel=$(basename "$(printf '%s\n' /lib/modules/*/ | sort -V | tail -n 1)")
	case $pm in
	apt)
		put /etc/apt/keyrings/nvidia.asc 644 <"$NVIDIA_KEY"
		put /etc/apt/sources.list.d/nvidia.list 644 <<<"deb [signed-by=/etc/apt/keyrings/nvidia.asc] $NVIDIA_REPO /"
		list=("linux-headers-$kernel" "nvidia-open-$NVIDIA_DRIVER")
		[ "$FABRIC_MANAGER" != yes ] || list+=("nvidia-fabricmanager-$NVIDIA_DRIVER")
		;;
	dnf)
		[ -e /etc/yum.repos.d/nvidia.repo ] || run curl -qfsSL -o /etc/yum.repos.d/nvidia.repo "$NVIDIA_REPO"
		run_once rpm --import "$NVIDIA_KEY"
		list=("kernel-devel-$kernel" "@nvidia-driver:$NVIDIA_DRIVER-open")
		[ "$FABRIC_MANAGER" != yes ] || list+=(nvidia-fabric-manager)
		;;
	esac
	# shellcheck disable=SC2206  # words
	[ -z "$NVIDIA_PACKAGES" ] || list=($NVIDIA_PACKAGES)
	# shellcheck disable=SC2206
	[ "$DCGM_PACKAGES" = none ] || list+=($DCGM_PACKAGES)
	packages "${list[@]}"
	for unit in nvidia-persistenced.service nvidia-fabricmanager.service nvidia-dcgm.service; do
		if [ -n "$dry" ] || has_unit $unit; then enable $unit; fi
	done
}
run_once() { # COMMAND...: marked by its words
	local mark
	mark=/var/lib/burst-image/$(echo "$*" | sha256sum | cut -c 1-16)
	[ -e "$mark" ] || {
		run "$@"
		run mkdir -p "$mark"
	}
}

step_fabric() {
	case $FABRIC:$pm in
	:*) return 0 ;;
	ib:apt | roce:apt) packages rdma-core ibverbs-providers infiniband-diags ;;
	ib:dnf | roce:dnf) packages rdma-core libibverbs infiniband-diags ;;
	efa:apt) packages rdma-core ibverbs-providers libfabric1 libfabric-bin ;;
	efa:dnf) packages rdma-core libibverbs libfabric ;;
	*) die "fabric: FABRIC=$FABRIC" ;;
	esac
	[ "$FABRIC" = efa ] && [ -n "$EFA_INSTALLER" ] && [ ! -e /opt/amazon/efa_installed_packages ] || return 0
	fetch "$EFA_INSTALLER" "$EFA_INSTALLER_SHA256"
	[ -n "$dry" ] || tar -C "$work" -xf "$fetched"
	run sh -c "cd '$work/aws-efa-installer' && ./efa_installer.sh -y"
}

step_containers() {
	[ -n "$ENROOT_PACKAGES" ] || return 0
	local url sums=() files=() n=0
	read -ra sums <<<"$ENROOT_SHA256"
	for url in $ENROOT_PACKAGES; do
		fetch "$url" "${sums[n]-}"
		files+=("$fetched")
		n=$((n + 1))
	done
	if [ -n "$dry" ]; then run install "${files[@]}"; else package_files "${files[@]}"; fi
	packages squashfs-tools
	[ -z "$PYXIS_SOURCE" ] || [ -n "$(find /usr/lib /usr/lib64 /usr/local/lib -name spank_pyxis.so 2>/dev/null | head -n 1)" ] || build_pyxis
}
# Its compiler goes again.
build_pyxis() {
	local p gone=()
	fetch "$PYXIS_SOURCE" "$PYXIS_SHA256"
	case $pm in
	apt) for p in gcc make libc6-dev libslurm-dev; do has "$p" || gone+=("$p"); done ;;
	dnf) for p in gcc make slurm-devel; do has "$p" || gone+=("$p"); done ;;
	esac
	[ ${#gone[@]} = 0 ] || packages "${gone[@]}"
	mkdir -p "$work/pyxis"
	[ -n "$dry" ] || tar -C "$work/pyxis" --strip-components=1 -xf "$fetched"
	run make -C "$work/pyxis" install prefix=/usr/local
	[ ${#gone[@]} = 0 ] || case $pm in
	apt) run apt-get -q -y --purge autoremove "${gone[@]}" ;;
	dnf) run dnf -q -y remove "${gone[@]}" ;;
	esac
}

# What no image may have: keys, what each machine makes itself, traces.
step_clean() {
	remove /etc/munge/munge.key /etc/slurm/slurm.key /etc/slurm/slurm.jwks /etc/ssh/ssh_host_* /root/.ssh/authorized_keys \
		/root/.bash_history /var/lib/systemd/random-seed /var/lib/dbus/machine-id /var/lib/systemd/credential.secret \
		/var/lib/cloud/instance /var/lib/cloud/instances /var/lib/cloud/sem /var/lib/cloud/data /var/lib/cloud/seed /run/cloud-init
	# Who built it, by Packer: cloud-init makes the user anew.
	for home in /home/*; do remove "$home/.ssh/authorized_keys" "$home/.bash_history"; done
	[ ! -s /etc/machine-id ] || run truncate -s 0 /etc/machine-id
	local f
	while IFS= read -r f; do run truncate -s 0 "$f"; done < <(find /var/log -xdev -type f -size +0 ! -path '/var/log/journal/*' ! -name .gitkeep)
	remove /var/log/journal/*
	case $pm in
	apt)
		remove /var/lib/apt/lists/*_* /var/cache/apt/*.bin
		find /var/cache/apt/archives -name '*.deb' -print -quit | grep -q . && run apt-get clean
		;;
	dnf) find /var/cache/dnf -type f -print -quit 2>/dev/null | grep -q . && run dnf -q clean all ;;
	esac
	return 0
}

step_check() {
	local gpu=() more=()
	[ -z "$NVIDIA_REPO" ] || gpu=(--gpu)
	[ -z "$FABRIC" ] || more+=(--fabric "$FABRIC")
	[ -z "$ENROOT_PACKAGES" ] || more+=(--containers)
	[ -n "$dry" ] || /usr/libexec/burstd/image-check --root / "${gpu[@]}" "${more[@]}" || die 'check: the image is not good, see above'
}

# --- the whole ------------------------------------------------------------------------------------

usage() { sed -n '2,/^set -eu/{/^set -eu/d;s/^# \{0,1\}//;p;}' "$0"; sed -n 's/^\([A-Z0-9_]*=.*\)/  \1/p' <<<"$vars"; }
vars_of() { # FILE
	local line
	while IFS= read -r line || [ -n "$line" ]; do
		case $line in '' | '#'*) continue ;; esac
		set_var "$line"
	done <"$1"
}
set_var() {
	local name=${1%%=*} value=${1#*=}
	is_var "$name" || die "there is no variable $name"
	value=${value#\"} value=${value%\"}
	printf -v "$name" %s "$value"
}

while [ $# -gt 0 ]; do
	case $1 in
	--dry-run) dry=yes ;;
	--list) echo "${steps// /$'\n'}" && exit ;;
	--help) usage && exit ;;
	--vars | --only | --set)
		[ $# -ge 2 ] || die "$1 wants a word"
		case $1 in --vars) vars_of "$2" ;; --only) only=$2 ;; --set) set_var "$2" ;; esac
		shift
		;;
	*) die "what is $1?  --help says what there is" ;;
	esac
	shift
done
read_vars
case " $steps " in *" ${only:-check} "*) ;; *) die "there is no step $only; --list has them" ;; esac
[ "$(id -u)" = 0 ] || die 'run it as root'
pm=$(family)
work=$(mktemp -d) policy='' log=''
log=$work/log
trap leave EXIT
trap 'exit 1' HUP INT TERM
for step in ${only:-$steps}; do
	"step_$step"
done
echo "provision: $changes changes${dry:+ would be made}"
