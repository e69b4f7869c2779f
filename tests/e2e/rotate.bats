#!/usr/bin/env bats
# munge's key is replaced while a job runs: nodes fetch the new one, all switch at one time, and nobody takes the old one.

# Variables from the helper.
# shellcheck disable=SC2016,SC2034,SC2154
bats_require_minimum_version 1.5.0
LAB_BOOTSTRAP='file'
load helper

setup() {
	slurmctld_log_from_now
}

rotation() {
	burstctl secrets rotate --json | jq -r ".rotation.$1"
}
phase_is() { [[ $(rotation phase) =~ ^($1)$ ]]; }
bundle() { jq -r ".$1 // empty" /var/lib/burstd/keys/bundle; }

# What an admin does on slurmctld's machine.
switch_here() {
	lab_kill munged
	base64 -d <<<"$1" >/etc/munge/munge.key
	lab_spawn munged munge munged --foreground
	within 10 munge -n
}

@test "munge's key is replaced while a job runs; burstd is killed on the way" {
	id=$(job -w c1 --gres=gpu:8 --wrap 'sleep 600')
	within 60 job_is "$id" RUNNING
	old=$(base64 -w0 /etc/munge/munge.key)
	burstctl secrets rotate --plan --munge | grep -q munge_key_next
	run ! burstctl secrets rotate --switch
	burstctl secrets rotate --munge
	lab_kill burstd
	lab_start burstd
	within 60 phase_is staged
	[ "$(rotation nodes.have)" = 1 ]
	new=$(bundle munge_key_next)
	[ -n "$new" ]
	[ "$(bundle munge_key)" = "$old" ]
	[ "$(on c1 base64 -w0 /run/burst/munge/munge.key.next)" = "$new" ]
	burstctl secrets rotate --switch --in 60s
	within 20 phase_is window
	within 90 phase_is 'switching|settling|done'
	switch_here "$new"
	two=$(job -w c2 --gres=gpu:8 --wrap 'true')
	within 60 phase_is 'done'
	[ "$(bundle munge_key)" = "$new" ]
	next=$(bundle munge_key_next)
	[ -z "$next" ]
	[ "$(on c1 base64 -w0 /run/burst/munge/munge.key)" = "$new" ]
	within 10 on c1 sh -c 'munge -n | unmunge >/dev/null'
	cred=$(on c1 munge -n)
	unmunge <<<"$cred" >/dev/null
	# The job never noticed, and slurmctld and the node speak.
	job_is "$id" RUNNING
	scancel "$id"
	within 60 job_is "$id" CANCELLED
	# One that boots now has the new key.
	within 90 job_is "$two" COMPLETED
	run ! grep -rqaF -e "$new" -e "$old" /var/log /var/lib/burstd/journal.db
	burstctl events --json | grep -q keys-released
	calm
}
