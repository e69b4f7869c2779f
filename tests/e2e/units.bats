#!/usr/bin/env bats
# Placement units (docs/placement.md, ADR 63): a pool of 32 nodes in four units of 8, each a leaf of topology/tree, or a block
# of topology/block where Slurm has it; and each bought in one fabric, judged by where simcloud has its machines.

# Variables from the helper; scripts for the job to expand.
# shellcheck disable=SC2016,SC2030,SC2031,SC2034,SC2154
LAB_NODES=32 LAB_MAX_RATE=100000
load helper
# Long enough that a node that has been used is up for the next job; a test may wait for it once.
LAB_SUSPEND_TIME=12
LAB_RESUME_TIMEOUT=660
LAB_COOLDOWN=10m
LAB_POOL='unit = 8 fabric = "unit" node = "CPUs=8 RealMemory=1000" gres = "gpu:h100:8"'

setup_file() {
	own_lab || return
	lab_files && lab_slurm_conf && lab_burstd_conf || return
	plugin=tree
	[ "$(lab_slurm_version)" -lt 2505 ] || plugin=block
	printf 'NodeName=c[1-%s] Name=gpu Type=h100 File=%s\n' "$LAB_NODES" "$lab_dir/dev/gpu[0-7]" >/etc/slurm/gres.conf
	sed -i "s/Nodes=ALL/Nodes=c[1-$LAB_NODES]/" /etc/slurm/slurm.conf
	echo "TopologyPlugin=topology/$plugin" >>/etc/slurm/slurm.conf
	"$lab_dir/bin/burstctl" slurm-conf --write >"$lab_dir/written" 2>&1 || {
		cat "$lab_dir/written"
		return 1
	}
	lab_start_all
}

setup() {
	calm
	sim_config '{"fabric_size": 8}'
}

teardown() {
	[ -n "${BATS_TEST_COMPLETED-}" ] || lab_logs
	sim_config '{"fabric_size": null, "spine_size": null, "fabric_apart": null}'
}

# nodes JOB: the numbers of its nodes, one a line
nodes() {
	scontrol show hostnames "$(squeue -h -j "$1" -o %N)" | tr -d c
}

# units JOB: the units of its nodes, one a line
units() {
	nodes "$1" | awk '{ print int(($1 + 7) / 8) }' | sort -un
}

# blocks JOB: how many machines its nodes have, and on how many blocks of simcloud's
blocks() {
	local list
	list=$(nodes "$1" | sed 's/.*/"c&"/' | jq -sc .)
	sim_of /admin/instances "[.instances[] | select(.state == \"running\")
		| select(.name as \$n | $list | index(\$n)) | .fabric] | \"\(length) \(unique | length)\""
}

fabrics() {
	sim_of /v1/fabrics '[.fabrics[].name] | sort | join(" ")'
}

no_fabrics() {
	[ -z "$(fabrics)" ]
}

@test "slurmctld has a leaf or a block for each unit, and slurm-conf has nothing to add" {
	run -0 "$lab_dir/bin/burstctl" slurm-conf
	echo "$output"
	run ! grep '^[-+]' <<<"$output"
	scontrol show topology | tee /dev/stderr | grep -qE '^(Switch|Block)Name=burst-h100-4 .*Nodes=c\[25-32\]'
	[ "$(scontrol show topology | grep -cE '^(Switch|Block)Name=burst-h100-[1-4] ')" = 4 ]
	burstctl pools | grep -q 'a fabric for each placement unit'
	burstctl plan --pool h100 --nodes 9 | tee /dev/stderr | grep -q 'in 2 placement units of 8 nodes'
}

@test "a job of eight nodes is in one unit, and all its machines in that unit's fabric" {
	job=$(job -N8 --exclusive --wrap "$until_over")
	within 60 job_is "$job" RUNNING
	unit=$(units "$job")
	echo "units: $unit; machines and blocks: $(blocks "$job"); fabrics: $(fabrics)"
	[ "$(wc -l <<<"$unit")" = 1 ]
	[ "$(blocks "$job")" = '8 1' ]
	first=$((8 * unit - 7))
	[ "$(fabrics)" = "burstd-$(sim_of /v1/fabrics '.fabrics[0].cluster[:8]')-c$first-8" ]
	burstctl node show "c$first" | tee /dev/stderr | grep -qE "^ +unit +$unit\$"
	burstctl node show "c$first" | grep -qE "^ +fabric +$(fabrics)\$"
	burstctl events --tail 100 | tee /dev/stderr | grep -qE "created .*booting in unit $unit, 8 instances"
	over "$job"
	within 60 all_down
	within 60 no_fabrics
	burstctl audit | grep -q "fabric-drop.*c$first-8"
}

@test "a job on a warm node gets cold ones beside it, and a burstd that was killed finds the fabric by its name" {
	job=$(job -N1 --exclusive --wrap 'true')
	within 60 job_is "$job" COMPLETED
	warm=$(burstd_nodes ready)
	machine=$(burstctl node show "$warm" --json | jq -r .instance) fabric=$(fabrics)
	lab_kill burstd
	lab_start burstd
	job=$(job -N4 --exclusive -w "$warm" --wrap "$until_over")
	within 60 job_is "$job" RUNNING
	echo "warm: $warm; units: $(units "$job"); machines and blocks: $(blocks "$job"); fabrics: $fabric, now $(fabrics)"
	[ "$(blocks "$job")" = '4 1' ]
	[ "$(units "$job" | wc -l)" = 1 ]
	[ "$(fabrics)" = "$fabric" ]
	[ "$(burstctl node show "$warm" --json | jq -r .instance)" = "$machine" ]
	over "$job"
	within 60 all_down
	within 60 no_fabrics
}

# placed NODE WORDS: burstd says so of the machines of its job
placed() {
	burstctl node show "$1" | grep -qE "^ +placement +$2\$"
}

apart() {
	[ "$(metric 'burstd_fabrics_apart{pool="h100"}')" = "$1" ]
}

status_has() {
	burstctl status | grep -qE "$1"
}

@test "where machines are is asked once, and says that a job's are below one switch" {
	sim_config '{"spine_size": 2}'
	job=$(job -N4 --exclusive --wrap "$until_over")
	within 60 job_is "$job" RUNNING
	node=c$(nodes "$job" | head -n1)
	within 30 placed "$node" '4 of its machines below one switch'
	burstctl node show "$node" | tee /dev/stderr | grep -qE '^ +switches +[^/]+/[^/]+-s[01]/[^/]+-b[0-9]+$'
	burstctl plan --job "$job" | tee /dev/stderr | grep -q '4 of its nodes are up, below one switch'
	within 90 comment_has "$job" 'burstd: placed: 4 nodes below one switch'
	apart 0
	run ! status_has 'from each other'
	requests=$(burstctl status --json | jq '.providers[0].requests[] | select(.operation == "topology").sent')
	[ "$requests" -ge 1 ]
	sleep 12
	[ "$(burstctl status --json | jq '.providers[0].requests[] | select(.operation == "topology").sent')" = "$requests" ]
	lab_kill burstd
	lab_start burstd
	within 30 placed "$node" '4 of its machines below one switch' # it asks again
	over "$job"
	within 60 all_down
}

@test "a fabric that the cloud does not keep is reported, and nothing is moved for it" {
	sim_config '{"spine_size": 1, "fabric_apart": true}'
	written=$(stat -c %Y /etc/slurm/topology.conf)
	job=$(job -N4 --exclusive --wrap "$until_over")
	within 60 job_is "$job" RUNNING
	unit=$(units "$job")
	[ "$(blocks "$job")" = '4 4' ]
	within 30 status_has "pool h100: unit $unit: 4 machines .* are 2 hops from each other, and fabric_hops is 0: provider sim did not keep"
	placed "c$(nodes "$job" | head -n1)" '4 of its machines 2 hops from each other'
	apart 1
	burstctl events --tail 100 | tee /dev/stderr | grep -qE "fabric-apart .*unit $unit: [2-4] machines"
	[ "$(burstctl events --tail 1000 | grep -c fabric-apart)" = 1 ]
	job_is "$job" RUNNING
	[ "$(units "$job")" = "$unit" ]
	[ "$(stat -c %Y /etc/slurm/topology.conf)" = "$written" ]
	over "$job"
	within 60 all_down
	within 30 apart 0
	run ! status_has 'from each other'
}

@test "a unit without room is told to the job, and one that is full keeps no other from being bought" {
	sim_config '{"fabric_size": 3}'
	job=$(job -N4 --exclusive --wrap "$until_over")
	within 40 comment_has "$job" 'unit [1-4] of pool h100 has no room'
	scancel "$job"
	burstctl retry # it was empty: so the place cools down
	first=$(job -N3 --exclusive -w 'c[1-3]' --wrap "$until_over")
	within 60 job_is "$first" RUNNING
	full=$(job -N1 --exclusive -w c4 --wrap "$until_over")
	within 40 comment_has "$full" 'unit 1 of pool h100 has no room'
	other=$(job -N2 --exclusive -w 'c[9-10]' --wrap "$until_over")
	within 40 job_is "$other" RUNNING # the place would cool down for ten minutes
	[ "$(blocks "$other")" = '2 1' ]
	scancel "$full"
	over "$first" "$other"
	within 60 no_fabrics
}

comment_has() {
	scontrol show job "$1" | grep -qE "AdminComment=.*$2"
}
