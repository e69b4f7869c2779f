#!/usr/bin/env bats
# A site with machines, partitions and a power saver of its own gets burstd's lines by `burstctl slurm-conf`: every line of
# its own survives, byte for byte, a real slurmctld starts with what is written, and that bursts (demands 12, 16, 21).

# Variables from the helper; scripts for the test to expand.
# shellcheck disable=SC2016,SC2030,SC2031,SC2034,SC2154
load helper

setup_file() {
	own_lab || return
	LAB_POOL='node = "CPUs=8 RealMemory=1000" gres = "gpu:h100:8" price = "29.52"'
	lab_files && lab_slurm_conf && lab_burstd_conf || return
	sed -i 's/^slurm {/& billing_unit = "0.01"/' /etc/burstd/burstd.conf
	printf 'pool "rare" { nodes = "d[1-2]" provider = "sim" type = "gpu_8x_h100" region = "eu-north-1" %s }\n' \
		'max_nodes = 2 max_rate = "1" node = "CPUs=8 RealMemory=1000" gres = "gpu:a100:4,nic:2" price = "9"' >>/etc/burstd/burstd.conf
	site
	mkdir "$lab_dir/site"
	cp -p /etc/slurm/*.conf "$lab_dir/site"
}

# What the lab says of burstd's nodes goes, and what a site has comes.
site() {
	local name
	site_lines
	{
		printf '  # our own, %s: do not touch\r\n\t\r\n' $'Z\xfcrich'
		printf 'gresTypes = gpu,nic  # and "\\#" here \\\n'
		printf 'Include own.conf\n# no newline at the end of this file'
	} >>/etc/slurm/slurm.conf
	printf 'PriorityType=priority/multifactor\nPriorityWeightFairshare=1000\nPriorityFlags=MAX_TRES\n%s\n%s\n' \
		AccountingStorageEnforce=limits,safe PriorityWeightTRES=GRES/gpu=1000 >/etc/slurm/own.conf
	printf 'NodeName=own[1-2] CPUs=2 RealMemory=500 Gres=gpu:old:2 State=UNKNOWN\nPartitionName=own \\\n  Nodes=own[1-2] Default=YES TRESBillingWeights="CPU=1,GRES/gpu=2"\n' \
		>>/etc/slurm/own.conf
	printf 'AutoDetect=off\nNodeName=own[1-2] Name=gpu Type=old File=/dev/null,/dev/zero\nNodeName=c[1-%s] Name=gpu Type=h100 File=%s\n' \
		"$LAB_NODES" "$lab_dir/dev/gpu[0-7]" >/etc/slurm/gres.conf
	chmod 640 /etc/slurm/gres.conf
	chgrp slurm /etc/slurm/gres.conf
	for name in own1 own2; do echo "10.77.255.${name#own} $name" >>/etc/hosts; done
}

slurm_conf() {
	"$lab_dir/bin/burstctl" slurm-conf "$@"
}

# without_block FILE: without burstd's lines
without_block() {
	sed '/^# BEGIN burstd/,/^# END burstd/d' "$1"
}

# The lab has no task/cgroup, and config_overrides.
only_advice() {
	run ! grep -v ': advice: ' <<<"$output"
}

setup() {
	:
}

@test "nothing is written while slurmctld would not start with it" {
	echo 'PartitionName=typo Nodes=owm1' >>/etc/slurm/own.conf
	run slurm_conf --write
	[ "$status" = 1 ]
	grep -qF 'nothing was written: a slurmctld that was tried with it ended' <<<"$output"
	grep -qF 'typo' <<<"$output"
	cmp /etc/slurm/slurm.conf "$lab_dir/site/slurm.conf"
	cmp /etc/slurm/gres.conf "$lab_dir/site/gres.conf"
	cp -p "$lab_dir/site/own.conf" /etc/slurm/own.conf
	[ -z "$(find /tmp -maxdepth 1 -name 'burstctl-*')" ]
}

@test "the site's lines survive, byte for byte, and so do mode and owner" {
	run slurm_conf --write
	echo "$output"
	[ "$status" = 0 ]
	# The block begins on a line of its own.
	printf '\n' | cat "$lab_dir/site/slurm.conf" - | cmp - <(without_block /etc/slurm/slurm.conf)
	cmp "$lab_dir/site/gres.conf" <(without_block /etc/slurm/gres.conf)
	cmp "$lab_dir/site/own.conf" /etc/slurm/own.conf
	cmp "$lab_dir/site/slurm.conf" /etc/slurm/slurm.conf.last-good
	[ "$(stat -c '%a %U %G' /etc/slurm/gres.conf)" = "$(stat -c '%a %U %G' "$lab_dir/site/gres.conf")" ]
	grep -qF 'NodeName=d[1-2] AutoDetect=off Name=gpu Type=a100 File=/dev/nvidia[0-3]' /etc/slurm/gres.conf
	run ! grep -q '^NodeName=c.*AutoDetect' /etc/slurm/gres.conf
	run slurm_conf --check --offline
	[ "$status" = 0 ]
	only_advice
}

@test "cgroup.conf is written where task/cgroup is used, and a slurmctld starts with it" {
	grep -qxF "/etc/slurm/slurm.conf:$(grep -n '^TaskPlugin=' /etc/slurm/slurm.conf | cut -d: -f1): advice: $(
	)TaskPlugin has no task/cgroup; write TaskPlugin=task/cgroup: jobs of one node can use each other's GPUs and memory, $(
	)and burstd writes nothing into cgroup.conf, which limits no job without it" <<<"$(slurm_conf --diff)"
	cmp /etc/slurm/cgroup.conf "$lab_dir/site/cgroup.conf"
	cp -p /etc/slurm/slurm.conf "$lab_dir/site/before-cgroup"
	sed -i 's/^TaskPlugin=.*/TaskPlugin=task\/cgroup/' /etc/slurm/slurm.conf
	printf 'ConstrainCores=yes # ours' >/etc/slurm/cgroup.conf
	run slurm_conf --write
	echo "$output"
	[ "$status" = 0 ]
	printf 'ConstrainCores=yes # ours\n' | cmp - <(without_block /etc/slurm/cgroup.conf)
	grep -qx 'ConstrainDevices=yes' /etc/slurm/cgroup.conf
	cp -p "$lab_dir/site/before-cgroup" /etc/slurm/slurm.conf
	cp -p "$lab_dir/site/cgroup.conf" /etc/slurm/cgroup.conf
}

@test "a slurmctld that reads it has the nodes, and bursts" {
	lab_start_all
	sacctmgr -i add account lab >/dev/null
	sacctmgr -i add user researcher account=lab >/dev/null
	scontrol -o show node d1 | grep -F 'Gres=gpu:a100:4,nic:2'
	scontrol -o show node c1 | grep -F 'AvailableFeatures=cloud,h100'
	scontrol -o show partition h100 | grep -F "Nodes=c[1-$LAB_NODES]"
	run "$lab_dir/bin/burstctl" check
	run ! grep -E '^ *error ' <<<"$output"
	job=$(job -p h100 -N2 --gres=gpu:8 --wrap "$until_over")
	within 60 job_is "$job" RUNNING
	# Two whole nodes at 29.52 an hour, in cents; by all their GPUs.
	scontrol -o show job "$job" | grep -E 'TRES=[^ ]*billing=5904,'
	over "$job"
	within 30 job_is "$job" COMPLETED
	scontrol update nodename="c[1-$LAB_NODES]" state=POWER_DOWN_FORCE reason='burstd: the test is over'
	within 60 alive 0
}

@test "QOS that are suggested are ones that slurmdbd takes, and are new ones" {
	local before commands
	{
		sed 's/ price *= *"29.52"//; /^pool "h100"/,$d' /etc/burstd/burstd.conf
		printf 'pool "h100" { nodes = "c[1-%s]" max_nodes = 2 max_rate = "300" node = "CPUs=8 RealMemory=1000"\n' "$LAB_NODES"
		printf 'offer "%s" { provider = "sim" type = "gpu_8x_h100" region = "eu-north-1" market = %s price = "%s" }\n' \
			s spot 3 o on-demand 7
		printf '}\nbudget "astro" { amount = "1000" }\n'
	} >"$lab_dir/offers.conf"
	before=$(sacctmgr -nP show association format=account,user,grptresmins,qos)
	commands=$(slurm_conf --sacctmgr "$lab_dir/offers.conf" | grep '^sacctmgr ')
	echo "$commands"
	sh -ec "$commands" >/dev/null
	sacctmgr -nP show qos format=name,usagefactor,grptresmins,flags | tee /dev/stderr | grep -xF 'burst-h100-spot|0.428571||'
	sacctmgr -nP show qos format=name,usagefactor,grptresmins,flags |
		grep -xF 'burst-astro|1.000000|billing=6000000|NoDecay'
	[ "$(sacctmgr -nP show association format=account,user,grptresmins,qos)" = "$before" ]
}

@test "--check asks the slurmctld that runs, and says what it has otherwise" {
	run slurm_conf --check
	echo "$output"
	[ "$status" = 0 ]
	only_advice
	cp -p /etc/slurm/own.conf "$lab_dir/site/before-live"
	cp -p /etc/slurm/slurm.conf "$lab_dir/site/live.conf"
	printf 'PriorityWeightFairshare=7\nMinJobAge=77\n' >>/etc/slurm/own.conf
	sed -i 's/RealMemory=1000/RealMemory=2000/; s/SuspendTime=300/SuspendTime=301/; s/^JobRequeue=1/JobRequeue=0/' \
		/etc/slurm/slurm.conf
	run slurm_conf --check
	echo "$output"
	[ "$status" = 1 ]
	grep -qF 'not in force: PriorityWeightFairshare=7; slurmctld runs with 1000: scontrol reconfigure' <<<"$output"
	grep -qE "own.conf:[0-9]+: not in force: MinJobAge=77; slurmctld runs with ${LAB_MIN_JOB_AGE:-300} sec: " <<<"$output"
	grep -qE 'slurm.conf:[0-9]+: not in force: JobRequeue=0; slurmctld runs with 1: ' <<<"$output"
	grep -qF 'pool "h100": RealMemory=2000; slurmctld runs with 1000 for c1 and 7 others: restart slurmctld' <<<"$output"
	grep -qF 'partition h100: SuspendTime=301; slurmctld runs with 300: scontrol reconfigure' <<<"$output"
	[ "$(grep -c 'not in force' <<<"$output")" = 7 ] # two pools, and their partitions
	cp -p "$lab_dir/site/before-live" /etc/slurm/own.conf
	cp -p "$lab_dir/site/live.conf" /etc/slurm/slurm.conf
	lab_stop slurmctld
	run slurm_conf --check
	echo "$output"
	[ "$status" = 3 ]
	grep -qF 'burstctl: the slurmctld that runs was not compared: scontrol: ' <<<"$output"
}

@test "12: a site's tree survives, byte for byte, and a bad one is refused with its line" {
	printf 'TopologyPlugin=topology/tree\n' >>/etc/slurm/own.conf
	cp -p /etc/slurm/slurm.conf "$lab_dir/site/before-tree"
	printf '# planted\nSwitchName=root Switches=leaf1,leaf9\nSwitchName=leaf1 Nodes=own[1-2]\n' >/etc/slurm/topology.conf
	cp /etc/slurm/topology.conf "$lab_dir/site/topology.conf"
	run slurm_conf --write
	echo "$output"
	[ "$status" = 1 ]
	grep -qE '/topology.conf:2: error: there is no switch leaf9' <<<"$output"
	cmp /etc/slurm/topology.conf "$lab_dir/site/topology.conf"

	# What only slurmctld knows to be bad: a key of no release.
	printf 'SwitchName=leaf1 Nodes=own[1-2] Colour=red\n' >/etc/slurm/topology.conf
	run slurm_conf --write
	echo "$output"
	[ "$status" = 1 ]
	grep -qF 'nothing was written: a slurmctld that was tried with it ended' <<<"$output"
	grep -qF '/etc/slurm/topology.conf line 1' <<<"$output"
	cmp /etc/slurm/slurm.conf "$lab_dir/site/before-tree"

	printf '# our racks, %s\r\nSwitchName=leaf1 \\\r\n  Nodes=own1\r\nswitchname=leaf2 nodes=own2 # second\r\n%s' \
		$'Z\xfcrich' 'SwitchName=root Switches=leaf[1-2] LinkSpeed=100' >/etc/slurm/topology.conf
	cp /etc/slurm/topology.conf "$lab_dir/site/topology.conf"
	run slurm_conf --write
	echo "$output"
	[ "$status" = 0 ]
	printf '\r\n' | cat "$lab_dir/site/topology.conf" - | cmp - <(without_block /etc/slurm/topology.conf)
	cmp "$lab_dir/site/topology.conf" /etc/slurm/topology.conf.last-good
	run slurm_conf --check --offline
	[ "$status" = 0 ]
	only_advice
}

@test "a job of two nodes runs in burstd's leaf, beside the site's tree" {
	lab_stop slurmctld
	lab_start slurmctld
	scontrol show topology | tee /dev/stderr | grep -qE "^SwitchName=burst-h100 Level=0 .*Nodes=c\[1-$LAB_NODES\]"
	scontrol show topology | grep -qE '^SwitchName=burst Level=1 .*Switches=burst-h100,burst-rare'
	scontrol show topology | grep -qE '^SwitchName=root Level=1 .*Nodes=own\[1-2\]'
	job=$(job -p h100 -N2 --gres=gpu:8 --wrap "$until_over")
	within 60 job_is "$job" RUNNING
	over "$job"
	within 30 job_is "$job" COMPLETED
	scontrol update nodename="c[1-$LAB_NODES]" state=POWER_DOWN_FORCE reason='burstd: the test is over'
	within 60 alive 0
}

@test "21: nodes of a site's own power saver go to its own program, and burstd's to burstd" {
	local program
	for program in resume suspend resume-fail; do
		printf '#!/bin/sh\nPATH=/usr/bin:/bin\nours=$(scontrol show hostnames "$1" | grep "^c" | paste -sd, -)\n%s\n%s\n' \
			"others=\$(scontrol show hostnames \"\$1\" | grep -v '^c' | paste -sd, -)" \
			"[ -z \"\$ours\" ] || $lab_dir/bin/burst-$program \"\$ours\"; [ -z \"\$others\" ] || echo $program \$others >>$lab_dir/saver" \
			>"$lab_dir/bin/saver-$program"
		chmod 755 "$lab_dir/bin/saver-$program"
	done
	install -o slurm -m 644 /dev/null "$lab_dir/saver"
	{
		printf 'ResumeProgram=%s\nSuspendProgram=%s\n' "$lab_dir"/bin/saver-{resume,suspend}
		printf 'NodeName=saver1 CPUs=2 RealMemory=500 State=CLOUD\nPartitionName=saver Nodes=saver1 SuspendTime=60\n'
	} >>/etc/slurm/own.conf
	run slurm_conf --write
	[ "$status" = 0 ]
	grep -qF 'topology.conf:1: warning: node saver1, and 0 others, are in no switch' <<<"$output"
	echo 'SwitchName=saver Nodes=saver1' >>/etc/slurm/topology.conf
	run slurm_conf --write
	[ "$status" = 0 ]
	grep -qE 'own.conf:[0-9]+: warning: ResumeProgram=[^;]*/saver-resume; write [^:]*: Slurm has one for' <<<"$output"
	run ! grep -q '^ResumeProgram' /etc/slurm/slurm.conf
	lab_stop slurmctld
	lab_start slurmctld
	job=$(job -p h100 -N1 -w c1 --wrap "$until_over")
	saver=$(job -p saver -N1 --wrap true)
	within 60 job_is "$job" RUNNING
	within 30 grep -qx 'resume saver1' "$lab_dir/saver"
	run ! grep -q 'c1' "$lab_dir/saver"
	scancel "$saver"
	over "$job"
	within 30 job_is "$job" COMPLETED
}
