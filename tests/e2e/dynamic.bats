#!/usr/bin/env bats
# A dynamic pool on a real Slurm: slurm.conf has no line for its nodes, burstd creates them in slurmctld, and only those that
# slurmctld lacks.

# Variables from the helper; scripts for the job to expand.
# shellcheck disable=SC2016,SC2034,SC2154
load helper

LAB_POOL='dynamic = true node = "CPUs=8 RealMemory=1000" gres = "gpu:h100:8"'
LAB_RESUME_TIMEOUT=660

setup_file() {
	own_lab || return
	lab_files && lab_slurm_conf && lab_burstd_conf || return
	sed -i -e '/^NodeName=/d' -e '/^PartitionName=/d' /etc/slurm/slurm.conf
	printf 'NodeName=c[1-%s] Name=gpu Type=h100 File=%s\n' "$LAB_NODES" "$lab_dir/dev/gpu[0-7]" >/etc/slurm/gres.conf
	"$lab_dir/bin/burstctl" slurm-conf --write >"$lab_dir/written" 2>&1 || {
		cat "$lab_dir/written"
		return 1
	}
	sed -i 's/SuspendTime=300/SuspendTime=2/' /etc/slurm/slurm.conf
	# What burstd tells machines that claim, this image has of itself.
	echo 'slurmd_args="-Z --conf Gres=gpu:h100:8"' >/etc/simcloud/boot.conf
	lab_start_all
}

teardown() {
	[ -n "${BATS_TEST_COMPLETED-}" ] || lab_logs
}

# created NODES: burstd's orders to create nodes, one list a line
created() {
	burstctl audit -n 1000 --json | jq -r '.. | objects | select(.verb? == "create-node") | .request'
}

nodes() {
	scontrol -o show nodes | grep -c '^NodeName=c'
}

@test "slurm.conf has no line for a pool's nodes: burstd creates them, once, and jobs burst there" {
	grep -x 'MaxNodeCount=64' /etc/slurm/slurm.conf
	grep -x 'NodeSet=burst-h100 Feature=h100' /etc/slurm/slurm.conf
	run ! grep '^NodeName=' /etc/slurm/slurm.conf
	within 20 eval '[ "$(nodes)" = "$LAB_NODES" ]'
	scontrol -o show node c1 | grep -F 'Gres=gpu:h100:8' | grep -E 'State=[A-Z+]*CLOUD[+]DYNAMIC_NORM'
	job=$(job -p h100 -N2 --gres=gpu:h100:2 --wrap 'sleep 2')
	within 60 job_is "$job" COMPLETED
	within 60 all_down
	# slurmctld keeps them with its state: nothing is created again.
	scontrol reconfigure
	lab_stop burstd
	lab_stop slurmctld
	lab_start slurmctld
	lab_start burstd
	burstctl reload
	job=$(job -p h100 -N1 -w c1 --wrap 'sleep 1')
	within 60 job_is "$job" COMPLETED
	created
	[ "$(created | wc -l)" = 1 ]
	run burstctl status
	[[ $output != *NodeName* ]]
}

@test "a slurmctld that lost its state gets the nodes again" {
	within 60 all_down
	lab_stop slurmctld
	rm -rf /var/lib/slurm/slurmctld/*
	lab_start slurmctld
	within 60 eval '[ "$(nodes)" = "$LAB_NODES" ]'
	job=$(job -p h100 -N1 --wrap 'sleep 1')
	within 60 job_is "$job" COMPLETED
}

@test "without room for them status says what scontrol said, and with room they come" {
	within 60 all_down
	lab_stop slurmctld
	rm -rf /var/lib/slurm/slurmctld/*
	sed -i 's/^MaxNodeCount=64$/MaxNodeCount=4/' /etc/slurm/slurm.conf
	lab_start slurmctld
	within 90 eval 'burstctl status --json | jq -r ".problems[]" | grep -F "burstd can create them"'
	burstctl status
	lab_stop slurmctld
	sed -i 's/^MaxNodeCount=4$/MaxNodeCount=64/' /etc/slurm/slurm.conf
	lab_start slurmctld
	within 90 eval '[ "$(nodes)" = "$LAB_NODES" ]'
	within 90 eval '! burstctl status | grep NodeName'
}

@test "another pool takes a reload of burstd and a reconfigure, and no restart of slurmctld" {
	within 60 all_down
	before=$(lab_pid slurmctld)
	cat >>/etc/burstd/burstd.conf <<-C
		pool "more" {
			nodes     = "d[1-2]"
			provider  = "sim" type = "gpu_8x_h100" region = "eu-north-1"
			max_nodes = 2 max_rate = "100" boot_timeout = "10m"
			dynamic   = true
			node      = "CPUs=8 RealMemory=1000" gres = "gpu:h100:8"
		}
	C
	echo "NodeName=d[1-2] Name=gpu Type=h100 File=$lab_dir/dev/gpu[0-7]" >>/etc/slurm/gres.conf
	"$lab_dir/bin/burstctl" slurm-conf --write --discard-edits # those of setup_file
	burstctl reload
	scontrol reconfigure
	within 60 eval 'scontrol -o show node d2 | grep -F "Partitions=more"'
	job=$(job -p more -N2 --gres=gpu:h100:8 --wrap 'sleep 1')
	within 60 job_is "$job" COMPLETED
	[ "$(lab_pid slurmctld)" = "$before" ]
}

# From 25.05 on slurmctld keeps a dynamic node's own place, and ends once topology.conf lacks it.
@test "a topology.conf that slurmctld would end with is not written: a dynamic node has a place that would go" {
	grep -q '^TopologyPlugin=' /etc/slurm/slurm.conf || echo 'TopologyPlugin=topology/tree' >>/etc/slurm/slurm.conf
	printf 'NodeName=own1 CPUs=1 State=FUTURE\n' >>/etc/slurm/slurm.conf
	printf 'SwitchName=mine Nodes=own1\n' >/etc/slurm/topology.conf
	lab_stop slurmctld
	lab_start slurmctld
	scontrol create nodename=x1 state=CLOUD CPUs=8 RealMemory=1000 topology=default:mine 2>/dev/null ||
		skip "this release has no Topology= of nodes"
	printf 'pool "still" { nodes = "s[1-2]" provider = "sim" type = "gpu_8x_h100" region = "eu-north-1" %s }\n' \
		'max_nodes = 2 max_rate = "100" node = "CPUs=8 RealMemory=1000"' >>/etc/burstd/burstd.conf
	sed -i s/=mine/=yours/ /etc/slurm/topology.conf
	run "$lab_dir/bin/burstctl" slurm-conf --write
	echo "$output"
	[ "$status" = 1 ]
	grep -F '/etc/slurm/topology.conf:0: error: slurmctld keeps node x1, and 0 others, in Topology=default:mine, which' <<<"$output"
	run ! grep -q burst-still /etc/slurm/topology.conf
	scontrol update nodename=x1 topology=
	"$lab_dir/bin/burstctl" slurm-conf --write
	grep -q '^SwitchName=burst-still ' /etc/slurm/topology.conf
	scontrol reconfigure
	within 20 eval 'scontrol ping | grep -q UP'
	scontrol -o show node x1 | grep -F NodeName=x1
}
