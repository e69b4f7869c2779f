#!/usr/bin/env bats
# The nodes of one job on one fabric (docs/placement.md), judged by where simcloud has them: its machines stand in blocks
# of four, and who asks for no fabric is strewn over them.

# Variables from the helper; scripts for the job to expand.
# shellcheck disable=SC2016,SC2034,SC2154
LAB_NODES=12 LAB_MAX_RATE=100000
load helper
LAB_RESUME_TIMEOUT=100
# Longer than any test: a place that refused is not asked again.
LAB_COOLDOWN=10m
near=$(lab_offer near eu-north-1a on-demand 'fabric = "job"')
any=$(lab_offer any eu-north-1a on-demand 'fabric = "none"')
LAB_OFFERS="$near"

setup() {
	calm
	sim_config '{"fabric_size": 4}'
	sim DELETE /admin/stats >/dev/null
}

teardown() {
	[ -n "${BATS_TEST_COMPLETED-}" ] || lab_logs
	sim_faults_clear
	sim_config '{"fabric_size": null, "fabric_max": null, "latency": null}'
}

buy_from() {
	LAB_OFFERS="$*"
	lab_stop burstd
	lab_burstd_conf
	lab_start burstd
}

# blocks JOB: how many blocks the instances of a job's nodes are on
blocks() {
	local nodes
	nodes=$(scontrol show hostnames "$(squeue -h -j "$1" -o %N)" | jq -R . | jq -sc .)
	sim_of /admin/instances "[.instances[] | select(.state == \"running\")
		| select(.name as \$n | $nodes | index(\$n)) | .fabric] | \"\(length) \(unique | length)\""
}

fabrics() {
	sim_of "/v1/fabrics" '.fabrics | length'
}

no_fabrics() {
	[ "$(fabrics)" = 0 ]
}

@test "each job of several nodes is on a fabric of its own, which goes when its nodes have gone" {
	one=$(job -N3 --exclusive --wrap "$until_over")
	two=$(job -N3 --exclusive --wrap "$until_over")
	within 40 job_is "$one" RUNNING
	within 40 job_is "$two" RUNNING
	echo "nodes and blocks: $(blocks "$one"), $(blocks "$two"); $(fabrics) fabrics"
	[ "$(blocks "$one")" = '3 1' ]
	[ "$(blocks "$two")" = '3 1' ]
	[ "$(fabrics)" = 2 ]
	over "$one" "$two"
	burstctl audit | grep -q 'fabric-make'
	within 60 all_down
	within 60 no_fabrics
	burstctl audit | grep -q 'fabric-drop'
}

@test "without a fabric a job is strewn, and a node alone has none" {
	buy_from "$any"
	job=$(job -N3 --exclusive --wrap "$until_over")
	within 40 job_is "$job" RUNNING
	[ "$(blocks "$job")" = '3 3' ]
	[ "$(fabrics)" = 0 ]
	over "$job"
	within 40 all_down
	buy_from "$near"
	job=$(job -N1 --exclusive --wrap 'sleep 1')
	within 40 job_is "$job" COMPLETED
	[ "$(fabrics)" = 0 ]
}

@test "what is too large for a fabric is bought as the next offer says, and what is not still gets one" {
	buy_from "$near" "$any"
	burstctl pools | grep -q 'near: a fabric for each job of several nodes'
	large=$(job -N5 --exclusive --wrap "$until_over")
	within 40 job_is "$large" RUNNING
	[ "$(blocks "$large" | cut -d' ' -f1)" = 5 ]
	[ "$(blocks "$large" | cut -d' ' -f2)" -gt 1 ]
	over "$large"
	burstctl events --json --tail 100 | grep -q 'place-cools.*fabric job'
	within 60 all_down
	within 60 no_fabrics
}

@test "killed between the fabric and the create it makes neither twice, and leaves no fabric" {
	sim POST /admin/faults '{"op": "fabric", "action": "hold", "when": "after", "count": 1}' >/dev/null
	job=$(job -N2 --exclusive --wrap "$until_over")
	within 20 sim_held
	lab_kill burstd
	sim POST /admin/release '{}' >/dev/null
	lab_start burstd
	within 60 job_is "$job" RUNNING
	[ "$(blocks "$job")" = '2 1' ]
	over "$job"
	within 60 all_down
	within 60 no_fabrics
}
