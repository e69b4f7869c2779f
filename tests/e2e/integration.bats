#!/usr/bin/env bats
# docs/slurm-integration.md, followed word for word on a cluster that has a machine of its own: its commands are read from
# the document and run in its order.  sudo and systemctl are stand-ins, for there is neither here; what systemctl starts is what
# the unit names.  With real ones, and without what else this machine has: tests/bare.

# Variables from the helper; run by the document's commands.
# shellcheck disable=SC2034,SC2154,SC2317
load helper
# shellcheck source=tests/document.bash
. tests/document.bash

setup_file() {
	own_lab || return
	local dir
	lab_files && lab_slurm_conf || return
	site
	# What the document has its reader make is not there yet; and /usr is this lab's own.
	rm -rf /etc/burstd /var/lib/burstd /var/spool/burstd /run/burstd /run/burst-ledger
	for dir in bin sbin lib libexec share; do
		mkdir -p "/usr/$dir" "$lab_dir/usr/$dir" "$lab_dir/work/$dir"
		mount -t overlay -o "lowerdir=/usr/$dir,upperdir=$lab_dir/usr/$dir,workdir=$lab_dir/work/$dir" own "/usr/$dir"
	done
	# The reader's cloud, and the key to it.
	mkdir "$lab_dir/reader"
	(umask 077 && echo "$SIM_TOKEN" | tee /etc/simcloud/token >"$lab_dir/reader/my-cloud.key" && : >/etc/simcloud/ec2.key)
	cp -p /etc/slurm/{slurm,gres}.conf "$lab_dir/reader"
	for dir in munged mariadbd slurmdbd slurmctld simcloud; do lab_start "$dir" || return; done
}

# A machine of the site's own, and nothing of burstd's but where made-up GPUs are.
site() {
	site_lines
	sed -i '/^AuthInfo=/d' /etc/slurm/slurm.conf # so short a time is for tests, and advised against
	printf 'GresTypes=gpu\nNodeName=own1 CPUs=2 RealMemory=500 State=UNKNOWN\nPartitionName=own Nodes=own1 Default=YES' >>/etc/slurm/slurm.conf
	echo "NodeName=gpu[1-4] Name=gpu Type=h100 File=$lab_dir/dev/gpu[0-7]" >/etc/slurm/gres.conf
	echo '10.77.255.1 own1' >>/etc/hosts
}

setup() {
	:
}

# follow N [DIR]: run it, in the source tree or in DIR.  The reader is a user of the cluster, and root by sudo.
follow() (
	local commands
	commands=$(block "$1")
	[ -n "$commands" ] || exit 1
	[ -z "${2-}" ] || cd "$2"
	sudo() {
		case $1 in
		burstctl) command "$@" ;;
		scripts/dev/deps.sh) ;; # what it takes to build is there, and so is what is built
		*) "$@" ;;
		esac
	}
	burstctl() { lab_as researcher /usr/bin/burstctl "$@"; }
	srun() { lab_as researcher srun "$@"; }
	make() { command make --no-print-directory -o all "$@"; }
	set -eu
	eval "$commands"
)

systemd-tmpfiles() {
	if type -P systemd-tmpfiles >/dev/null; then
		command systemd-tmpfiles "$@"
	else
		lab_dirs slurm 700 /var/spool/burstd
	fi
}

unit() { # NAME KEY
	sed -n "s/^$2=//p" "/usr/lib/systemd/system/$1.service"
}

start_unit() {
	lab_dirs slurm 700 "/var/lib/$(unit "$1" StateDirectory)"
	lab_dirs slurm 755 "/run/$(unit "$1" RuntimeDirectory)"
	# shellcheck disable=SC2046  # a program and its arguments
	lab_spawn "$1" "$(unit "$1" User)" $(unit "$1" ExecStart)
}

systemctl() {
	local name
	case $* in
	daemon-reload) ;;
	'restart slurmctld') lab_stop slurmctld && lab_start slurmctld ;;
	'enable --now '*)
		for name in "${@:3}"; do start_unit "$name"; done
		lab_wait 10 test -S "$(unit "$name" RuntimeDirectory | sed 's|.*|/run/&/ctl.sock|')"
		;;
	'disable --now '*) for name in "${@:3}"; do lab_stop "$name"; done ;;
	*) return 1 ;;
	esac
}

@test "2: it is installed, and nothing runs" {
	follow 1
	[ -x /usr/sbin/burstd ]
	[ -x /usr/libexec/burstd/burst-resume ]
	[ "$(stat -c %U /var/spool/burstd)" = slurm ]
	[ ! -e /etc/burstd/burstd.conf ]
}

@test "3: burstctl init writes what burstd and the cloud take" {
	follow 2
	follow 3 "$lab_dir/reader"
	grep -q '^cluster .*= "lab"$' /etc/burstd/burstd.conf
	cmp /etc/slurm/slurm.conf "$lab_dir/reader/slurm.conf"
}

@test "4: slurm-conf adds burstd's lines, and leaves the site's" {
	follow 4
	grep -q '^NodeName=gpu\[1-4\] .*State=CLOUD' /etc/slurm/slurm.conf
	sed '/^# BEGIN burstd/,/^# END burstd/d' /etc/slurm/slurm.conf | cmp - <(cat "$lab_dir/reader/slurm.conf" && echo)
}

@test "5: all is well" {
	run follow 5
	echo "$output"
	[ "$status" = 0 ]
	grep -qF 'All is well.' <<<"$output"
	scontrol -o show node own1 | grep -qv CLOUD
}

@test "6: a job runs on a machine that was not there" {
	[ "$(sim_rows)" = 0 ]
	run follow 6
	echo "$output"
	[ "$status" = 0 ]
	[ "${lines[-1]}" = gpu1 ]
	[ "$(sim_rows)" = 1 ]
}

@test "7: it is told what it cost" {
	follow 7 # the ledger's first pass may come later
	within 90 reported
}

reported() {
	lab_as researcher /usr/bin/burstctl report --by job,class | grep -qE '^ *1 +(run|boot) '
}

@test "8: out again, and nothing is left" {
	follow 8
	within 60 alive 0
	follow 9
	cmp /etc/slurm/slurm.conf <(cat "$lab_dir/reader/slurm.conf" && echo)
	cmp /etc/slurm/gres.conf "$lab_dir/reader/gres.conf"
	run ! scontrol show node gpu1
	lab_stopped burstd
	# Those for an empty host: tests/bare.
	[ -n "$(block 11)" ]
	[ -z "$(block 12)" ]
}
