#!/usr/bin/env bats
# A cluster with auth/slurm: a machine gets slurm.jwks by its claim, and its key is replaced while a job runs, without a
# restart of anything.  Slurm 24.05 and later.

# Variables from the helper; scripts for the machine to expand.
# shellcheck disable=SC2016,SC2034,SC2154
bats_require_minimum_version 1.5.0
LAB_BOOTSTRAP='file' LAB_AUTH=slurm
load helper

setup_file() {
	[ "$(lab_slurm_version)" -lt 2405 ] || lab_up
}

setup() {
	[ "$(lab_slurm_version)" -ge 2405 ] || skip 'before Slurm 24.05 there is no slurm.jwks'
	slurmctld_log_from_now
	# No test waits minutes for the next reconfigure.
	grep -q reconfigure_every /etc/burstd/burstd.conf || sed -i 's/^slurm {/& reconfigure_every = "1s"/' /etc/burstd/burstd.conf
	burstctl reload >/dev/null
}

rotation() {
	burstctl secrets rotate --json | jq -r ".rotation.$1"
}
phase_is() { [[ $(rotation phase) =~ ^($1)$ ]]; }
# kids: of the keys in a slurm.jwks on standard input, each with "*" if it is in use
kids() { jq -r '[.keys[] | .kid + (if .use == "default" then "*" else "" end)] | sort | join(" ")'; }
bundle() { jq -r .slurm_jwks /var/lib/burstd/keys/bundle | base64 -d; }
of_node() { on "$1" cat /run/burst/slurm/slurm.jwks; }

@test "a machine with nothing but its user-data gets slurm.jwks, and no munge runs anywhere" {
	id=$(job -w c1 --gres=gpu:8 --wrap 'srun id -un')
	within 90 job_is "$id" COMPLETED
	[ "$(cat "$lab_dir/home/job-$id.out")" = researcher ]
	run ! pgrep munged
	calm
}

@test "the key in slurm.jwks is replaced while a job runs; burstd is killed on the way" {
	id=$(job -w c1 --gres=gpu:8 --wrap 'sleep 600')
	within 90 job_is "$id" RUNNING
	[ "$(of_node c1 | kids)" = 'first*' ]
	within 60 eval '[ "$(rotation nodes.have)" = 1 ]'
	burstctl secrets rotate --plan --jwks | grep -q slurm_jwks
	burstctl secrets rotate --jwks --token-life 10s
	lab_kill burstd
	lab_start burstd
	within 60 phase_is 'staged|loading|switching|settling|aging'
	within 60 eval '[ "$(bundle | jq ".keys | length")" = 2 ]'
	within 120 phase_is 'done'
	# One key, another one, everywhere; and the admin's command was told each time.
	new=$(bundle | kids)
	[[ $new =~ ^[^\ ]+\*$ ]]
	[ "$new" != 'first*' ]
	within 90 eval '[ "$(of_node c1 | kids)" = "$new" ]'
	[ "$(kids </etc/slurm/slurm.jwks)" = "$new" ]
	[ "$(uniq /var/log/slurm/switch.log | paste -sd,)" = 'jwks stage,jwks switch,jwks drop' ]
	# The job never noticed; slurmctld and the node speak, and so does one that boots now.
	job_is "$id" RUNNING
	node_is_not c1 'DRAIN|NOT_RESPONDING'
	scancel "$id"
	within 60 job_is "$id" CANCELLED
	two=$(job -w c2 --gres=gpu:8 --wrap 'srun true')
	within 90 job_is "$two" COMPLETED
	for k in $(bundle | jq -r '.keys[].k'); do
		run ! grep -rqaF -e "$k" /var/log /var/lib/burstd/journal.db
	done
	calm
}
