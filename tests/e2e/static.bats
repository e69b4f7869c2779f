#!/usr/bin/env bats
# Machines that a site owns (driver "static"): switched on for a job and off when idle, by commands; never a second
# switch-on for one purchase, nothing left on, and hands off what somebody else switched on.
#
# The machines are namespaces (scripts/node/sim-boot), and power.sh is their BMCs: a process of root's that obeys want/NODE
# and says in power/NODE what is.  hold/NODE makes the on command wait, fail/NODE makes off fail, hand/NODE is a machine
# that somebody has on without asking.

# Variables from the helper; scripts for the job to expand.
# shellcheck disable=SC2016,SC2034,SC2154
load helper
lab_programs='munged mariadbd slurmdbd slurmctld bmc burstd'
bmc=/run/lab/bmc

lab_burstd_conf() {
	lab_dirs slurm 755 $bmc $bmc/want $bmc/power $bmc/hold $bmc/fail $bmc/hand $bmc/machine
	cp "$lab_repo/scripts/node/burst-static" "$lab_dir/bin/"
	local i
	for ((i = 1; i <= LAB_NODES; i++)); do
		echo "10.77.1.$i c$i" >>/etc/hosts
		echo off >$bmc/power/c$i
	done
	cp /etc/hosts $bmc/hosts
	cat >"$lab_dir/bin/site-on" <<-'C'
		#!/bin/sh
		echo "on $1" >>/run/lab/bmc/log
		while [ -e /run/lab/bmc/hold/$1 ]; do sleep 0.1; done
		echo on >/run/lab/bmc/want/$1
	C
	cat >"$lab_dir/bin/site-off" <<-'C'
		#!/bin/sh
		echo "off $1" >>/run/lab/bmc/log
		if [ -e /run/lab/bmc/fail/$1 ]; then echo 'the BMC is busy'; exit 1; fi
		echo off >/run/lab/bmc/want/$1
	C
	cat >"$lab_dir/bin/power.sh" <<-'C'
		#!/bin/bash
		# A machine takes two seconds from power to its slurmd.
		cd /run/lab/bmc
		declare -A pid=()
		boot() {
			export SIMCLOUD_ID=$1 SIMCLOUD_NODE=$1 SIMCLOUD_ADDR=10.77.1.${1#c} SIMCLOUD_TYPE=own
			export SIMCLOUD_DIR=$PWD/machine SIMCLOUD_HOSTS=$PWD/hosts
			sleep 2
			exec /run/lab/bin/sim-boot
		}
		export -f boot
		while :; do
			for n in power/*; do
				n=${n#power/} want=off
				[ ! -e hand/$n ] || { echo on >power/$n; continue; }
				[ ! -e want/$n ] || want=$(cat want/$n)
				if [ "$want" = on ] && [ -z "${pid[$n]-}" ]; then
					echo on >power/$n
					setsid bash -c "boot $n" >>machine/$n.log 2>&1 </dev/null &
					pid[$n]=$!
				elif [ "$want" = off ]; then
					[ -z "${pid[$n]-}" ] || kill -KILL -- -"${pid[$n]}"
					unset "pid[$n]"
					echo off >power/$n
				fi
			done
			sleep 0.1
		done
	C
	chmod 755 "$lab_dir"/bin/site-* "$lab_dir/bin/power.sh" "$lab_dir/bin/burst-static"
	: >$bmc/log
	chown -R slurm $bmc
	cat >/etc/burstd/burstd.conf <<-C
		cluster  = "lab"
		currency = "EUR"
		slurm { conf = "/etc/slurm/slurm.conf" }
		provider "own" {
			driver  = "static"
			on      = {"$lab_dir/bin/site-on", "%n"}
			off     = {"$lab_dir/bin/site-off", "%n"}
			status  = {"/bin/cat", "$bmc/power/%n"}
			program = "$lab_dir/bin/burst-static"
			settle  = "2s"
			timeout = "20s"
		}
		pool "rack" {
			nodes     = "c[1-$LAB_NODES]"
			provider  = "own"
			type      = "own"
			region    = "here"
			max_nodes = $LAB_NODES
			max_rate  = "1"
		}
	C
}

lab_start_bmc() {
	lab_spawn bmc root "$lab_dir/bin/power.sh"
}

# times CALL: how often the site's command was run since the test began
times() {
	tail -n +$((log_lines + 1)) $bmc/log | grep -cE "^$1\$" || true
}

powered() {
	[ "$(cat $bmc/power/* | grep -c on)" = "$1" ]
}

was_run() {
	[ "$(times "$1")" -gt 0 ]
}

setup() {
	rm -f $bmc/hold/* $bmc/fail/* $bmc/hand/*
	lab_running burstd || lab_start burstd
	scancel -u researcher
	within 30 no_jobs
	local up
	up=$(sinfo -h -N -o '%N %T' | awk '$2 !~ /^idle[~%]$/ { print $1 }' | sort -u | paste -sd,)
	[ -z "$up" ] || scontrol update nodename="$up" state=POWER_DOWN_FORCE reason=calm
	within 40 all_down
	within 40 powered 0
	within 40 burstd_has 0 ANY
	log_lines=$(wc -l <$bmc/log)
}

teardown() {
	[ -n "${BATS_TEST_COMPLETED-}" ] || {
		lab_logs
		cat $bmc/log /var/lib/burstd/static/own/*
		tail -qn 3 $bmc/machine/*.log
	}
}

@test "a job switches a machine on and runs there; idle, it is switched off" {
	job=$(job -N1 --exclusive --wrap 'hostname')
	within 40 job_is "$job" COMPLETED
	node=$(cat "$lab_dir/home/job-$job.out")
	[[ $node =~ ^c[1-8]$ ]]
	[ "$(times "on $node")" = 1 ]
	within 30 powered_down "$node"
	within 30 powered 0
	within 20 burstd_has 0 ANY
	[ "$(times "on c.*")" = 1 ]
	[ "$(pgrep -xc slurmd)" = 0 ] || { pgrep -xa slurmd; false; }
}

@test "a job on three machines, and then another on the same ones" {
	for _ in 1 2; do
		job=$(job -w 'c[2-4]' -N3 --exclusive --wrap 'srun -n 3 hostname')
		within 60 job_is "$job" COMPLETED
		[ "$(sort -u "$lab_dir/home/job-$job.out" | paste -sd' ')" = 'c2 c3 c4' ]
		within 40 all_down
	done
	within 30 powered 0
	[ "$(times 'on c3')" = 2 ]
}

@test "kill -9 of burstd while a machine is being switched on: switched on once, and the job runs" {
	touch $bmc/hold/c1
	job=$(job -w c1 -N1 --exclusive --wrap 'hostname')
	within 20 was_run 'on c1'
	lab_kill burstd
	lab_start burstd
	# The restarted one asks again, for the same purchase, and has to wait for its turn.
	within 10 pgrep -P "$(lab_pid burstd)" -f 'burst-static create'
	rm $bmc/hold/c1
	within 40 job_is "$job" COMPLETED
	[ "$(times 'on c1')" = 1 ]
	within 40 powered 0
	within 20 burstd_has 0 ANY
}

@test "kill -9 of burstd and of the program it runs, and the job is gone meanwhile: nothing is left on" {
	touch $bmc/hold/c1
	job=$(job -w c1 -N1 --exclusive --wrap 'hostname')
	within 20 was_run 'on c1'
	lab_kill burstd
	pkill -KILL -f 'burst-static create'
	scancel "$job"
	scontrol update nodename=c1 state=POWER_DOWN_FORCE reason=test
	rm $bmc/hold/c1
	within 10 powered 1
	lab_start burstd
	within 40 powered 0
	within 20 burstd_has 0 ANY
	[ "$(times 'on c1')" = 1 ]
	within 20 powered_down c1
}

@test "F6: a machine that somebody else has on is not touched, and the job is told" {
	touch $bmc/hand/c5
	within 5 powered 1
	job=$(job -w c5 -N1 --exclusive --wrap 'hostname')
	within 20 eval 'scontrol -o show job '"$job"' | grep -q "burstd did not switch it on" ||
		burstctl node show c5 | grep -q "burstd did not switch it on"'
	scancel "$job"
	# It rests, so that other jobs are not given it; a burstd that starts does not remember that.
	within 40 eval 'scontrol -o show node c5 | grep -q "State=DOWN+.*Reason=burstd: it did not come up; rests until"'
	lab_stop burstd
	lab_start burstd
	within 40 all_down
	powered 1
	[ "$(times '.*c5')" = 0 ]
}

@test "an off command that fails is seen and tried again" {
	touch $bmc/fail/c6
	job=$(job -w c6 -N1 --exclusive --wrap 'hostname')
	within 40 job_is "$job" COMPLETED
	# Lists succeed in between; it is said all the same, until it is mended.
	within 30 eval 'burstctl status | grep -q "deletes fail: 1 node (c6) may bill on: .*the BMC is busy"'
	powered 1
	burstd_has 1 deleting
	rm $bmc/fail/c6
	within 40 powered 0
	within 20 burstd_has 0 ANY
	run -0 burstctl status
	[[ $output != *'deletes fail'* ]]
}

@test "a machine whose status cannot be told is kept, and the others go on" {
	job=$(job -w 'c[7-8]' -N2 --exclusive --wrap "$until_over")
	within 40 job_is "$job" RUNNING
	mv $bmc/power/c7 $bmc/away
	sleep 3
	burstd_has 2 ready
	over "$job"
	job2=$(job -w c1 -N1 --exclusive --wrap 'hostname')
	within 40 job_is "$job2" COMPLETED
	within 20 job_is "$job" COMPLETED
	within 20 burstd_has 1 ANY
	[ "$(burstd_nodes ANY)" = c7 ]
	mv $bmc/away $bmc/power/c7
	within 40 powered 0
	within 80 burstd_has 0 ANY
}
