#!/usr/bin/env bats
# How slurmctld reaches a machine in another network than its own: by IPv6 alone, by either of two, and by an address that a
# router translates (NAT), as between a site and a cloud whose private addresses the site has, too.
#
# The machines are the site's (driver "static"), so that what is told of their addresses is in a file, power/NODE; they are
# namespaces (scripts/node/sim-boot) whose network is the one below:
#
#   c1  fd77::11 alone
#   c2  10.77.1.2 and fd77::12; the provider tells the latter, and so does its registration (cloud_reg_addrs)
#   c3  10.99.0.3, as the provider tells, behind a router: the site knows it as 198.18.0.3 (address_map), and has no other way

# Variables from the helper; scripts for the machine to expand.
# shellcheck disable=SC2016,SC2034,SC2154
load helper
LAB_NODES=3
lab_programs='munged mariadbd slurmdbd slurmctld bmc burstd'
bmc=/run/lab/bmc
declare -gA address=([c1]=fd77::11 [c2]=fd77::12 [c3]=198.18.0.3)

setup_file() {
	own_lab || return
	lab_files && lab_slurm_conf && networks || return
	sed -i -e 's/^SlurmctldHost=ctl(10.77.0.1)/SlurmctldHost=ctl/' -e 's/^CommunicationParameters=.*/&,EnableIPv6/' /etc/slurm/slurm.conf
	grep -q EnableIPv6 /etc/slurm/slurm.conf || echo CommunicationParameters=EnableIPv6 >>/etc/slurm/slurm.conf
	lab_burstd_conf || return
	lab_start_all
}

networks() {
	ip addr add fd77::1/64 dev labbr nodad
	ip link add natbr type bridge
	ip addr add 10.99.0.1/24 dev natbr
	ip link set natbr up
	ip route add 198.18.0.0/24 dev natbr src 10.77.0.1
	# The router of the cloud: 198.18.0.3 is 10.99.0.3, both ways; who does not come by that is not let through.
	nft -f - <<-'N'
		table ip site {
			chain out { type nat hook output priority -100; ip daddr 198.18.0.3 dnat to 10.99.0.3; }
			chain in { type nat hook input priority 100; ip saddr 10.99.0.3 snat to 198.18.0.3; }
			chain only { type filter hook output priority 0; ip daddr 10.99.0.0/24 ct status & (dnat|snat) == 0 counter drop; }
		}
	N
	cat >/etc/simcloud/boot.conf <<-'C'
		wire() { # BRIDGE ADDRESS...
			exec 9</proc/self/ns/net
			nsenter --net=/proc/self/fd/8 ip link add up master "$1" type veth peer name eth0 netns /proc/self/fd/9
			shift
			exec 8<&- 9<&-
			ip link set lo up
			for one; do ip addr add "$one" dev eth0 $(case $one in *:*) echo nodad ;; esac); done
			ip link set eth0 up
		}
		plug_in() {
			case $SIMCLOUD_NODE in
			c1) SIMCLOUD_HOSTS=${SIMCLOUD_HOSTS}6 && wire labbr fd77::11/64 ;;
			c2) SIMCLOUD_HOSTS=${SIMCLOUD_HOSTS}6 && wire labbr 10.77.1.2/16 fd77::12/64 ;;
			c3) wire natbr 10.99.0.3/24 && ip route add default via 10.99.0.1 ;;
			esac
		}
	C
}

lab_burstd_conf() {
	lab_dirs slurm 755 $bmc $bmc/want $bmc/power $bmc/machine
	cp "$lab_repo/scripts/node/burst-static" "$lab_dir/bin/"
	local n
	for n in c1 c2 c3; do echo off >$bmc/power/$n; done
	cp /etc/hosts $bmc/hosts
	sed 's/^10.77.0.1 ctl/fd77::1 ctl/' /etc/hosts >$bmc/hosts6
	printf '#!/bin/sh\necho "$2" >/run/lab/bmc/want/$1\n' >"$lab_dir/bin/site-power"
	cat >"$lab_dir/bin/power.sh" <<-C
		#!/bin/bash
		cd $bmc
		$(declare -p address | sed 's/-gA/-A/')
		declare -A pid=()
		while :; do
			for n in c1 c2 c3; do
				want=\$(cat want/\$n 2>/dev/null)
				if [ "\$want" = on ] && [ -z "\${pid[\$n]-}" ]; then
					SIMCLOUD_ID=\$n SIMCLOUD_NODE=\$n SIMCLOUD_ADDR=0.0.0.0 SIMCLOUD_TYPE=own SIMCLOUD_DIR=\$PWD/machine SIMCLOUD_HOSTS=\$PWD/hosts \
						setsid $lab_dir/bin/sim-boot >>machine/\$n.log 2>&1 </dev/null &
					pid[\$n]=\$!
					case \$n in
					c3) echo 'on 10.99.0.3' >power/\$n ;;
					*) echo "on \${address[\$n]}" >power/\$n ;;
					esac
				elif [ "\$want" = off ] && [ -n "\${pid[\$n]-}" ]; then
					kill -KILL -- -"\${pid[\$n]}"
					unset "pid[\$n]"
					echo off >power/\$n
				fi
			done
			sleep 0.1
		done
	C
	chmod 755 "$lab_dir"/bin/site-power "$lab_dir/bin/power.sh" "$lab_dir/bin/burst-static"
	chown -R slurm $bmc
	cat >/etc/burstd/burstd.conf <<-C
		cluster  = "lab"
		currency = "EUR"
		slurm { conf = "/etc/slurm/slurm.conf" }
		provider "own" {
			driver  = "static"
			on      = {"$lab_dir/bin/site-power", "%n", "on"}
			off     = {"$lab_dir/bin/site-power", "%n", "off"}
			status  = {"/bin/cat", "$bmc/power/%n"}
			program = "$lab_dir/bin/burst-static"
			address_map = "10.99.0.0/24=198.18.0.0/24"
			settle  = "2s"
			timeout = "20s"
		}
		pool "rack" {
			nodes = "c[1-3]" provider = "own" type = "own" region = "here" max_nodes = 3 max_rate = "1"
		}
	C
}

lab_start_bmc() {
	lab_spawn bmc root "$lab_dir/bin/power.sh"
}

# As slurmctld has it; with EnableIPv6 it writes one of IPv4 from a registration as ::ffff:a.b.c.d.
known() {
	scontrol -o show node "$1" | sed -n 's/.* NodeAddr=\(::ffff:\)\{0,1\}\([^ ]*\).*/\2/p'
}

teardown() {
	[ -n "${BATS_TEST_COMPLETED-}" ] || {
		cat $bmc/machine/*.log
		nft list ruleset
		scontrol -o show node
		lab_logs
	}
}

# runs NODE: a job there, which slurmctld must reach to start it, and again to end it
runs() {
	local id
	id=$(job -w "$1" -N1 --exclusive --wrap 'hostname; sleep 100') || return
	within 60 grep -qx "$1" "$lab_dir/home/job-$id.out" || return
	within 10 eval '[ "$(known '"$1"')" = "${address['"$1"']}" ]' || return
	scancel "$id"
	within 20 job_is "$id" CANCELLED || return
	# It answers slurmctld's pings; and srun, from here, its steps' port.
	[ "$(lab_as researcher srun -w "$1" -N1 hostname </dev/null)" = "$1" ] || return
	within 40 powered_down "$1"
}

@test "a machine that has IPv6 alone" {
	runs c1
}

@test "a machine that has both, of which the provider tells the one of IPv6" {
	runs c2
}

@test "a machine behind a router that translates its address" {
	runs c3
	# By no other way.
	run timeout 2 bash -c 'exec 3<>/dev/tcp/10.99.0.3/6818'
	[ "$status" != 0 ]
	nft list chain ip site only | grep -v 'packets 0 ' | grep -q counter
}
