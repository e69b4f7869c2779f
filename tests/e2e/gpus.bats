#!/usr/bin/env bats
# F42: all nodes of a job fail at once, and slurmctld 22.05 does not give their GPUs back: "bad node_offset".  Jobs that want
# all GPUs of such a node pend until slurmctld is restarted, and burstd is the one who says so; also on a site that does not
# account for GPUs, whose AllocTRES has none.

# Variables from the helper; a script for the job to expand.
# shellcheck disable=SC2016,SC2034,SC2154
load helper
LAB_TRES=''

setup() {
	calm
	slurmctld_log_from_now
}

offset_is_bad() {
	slurmctld_log | grep -q 'bad node_offset'
}

# used NODES: the GPUs that slurmctld counts there as used, of all
used() {
	scontrol -d -o show node "$1" | sed -n 's/.* GresUsed=gpu:h100:\([0-9]*\).*/\1/p' | awk '{ n += $1 } END { print n + 0 }'
}

said() {
	burstctl status | tr -s ' \n' ' ' | grep -qF "2 nodes are off and idle ($nodes), and slurmctld counts GPUs there as used"
}

unsaid() {
	local text
	text=$(burstctl status) && ! grep -q 'counts GPUs' <<<"$text"
}

runs_elsewhere() {
	job_is "$job" RUNNING && [ "$(job_nodes "$job")" != "$first" ]
}

@test "GPUs set aside their part of a shared machine, where they are not accounted for too" {
	printf 'budget "rate" {\n\trate = "300"\n\teach = "user"\n}\n' >>/etc/burstd/burstd.conf
	burstctl reload
	job=$(job -N1 --gpus=2 --time=10 --wrap "$until_over")
	within 60 job_is "$job" RUNNING
	run ! grep -q gres <<<"$(squeue -h -j "$job" -O tres-alloc:0)"
	# A quarter of its GPUs; it has an eighth of its CPUs.
	within 20 eval '[ "$(burstctl budget show rate -u researcher --json | jq -r ".budgets[0].rate")" = 7.38 ]'
	over "$job"
	within 30 job_is "$job" COMPLETED
	lab_burstd_conf
	burstctl reload
}

@test "F42: GPUs that slurmctld gives nobody are told of, where GPUs are not accounted for too" {
	[ "$(lab_slurm_version)" -lt 2302 ] || skip "slurmctld $(lab_slurm_version) gives them back"
	job=$(job -N2 --gres=gpu:8 --exclusive --wrap "$until_over")
	within 120 job_is "$job" RUNNING
	first=$(job_nodes "$job")
	sim_kill 'c*'
	within 180 runs_elsewhere
	# What it has now is lost, however it ends.
	nodes=$(job_nodes "$job")
	scancel "$job"
	within 120 offset_is_bad
	within 120 all_down
	[ "$(used "$nodes")" = 16 ]
	scontrol -o show node "$nodes" >"$lab_dir/nodes"
	run ! grep -q 'AllocTRES=.*gres' "$lab_dir/nodes"
	within 180 said
	lab_stop slurmctld
	lab_start slurmctld
	within 120 all_down
	[ "$(used "$nodes")" = 0 ]
	within 180 unsaid
}
