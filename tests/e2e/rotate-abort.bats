#!/usr/bin/env bats
# A rotation of munge's key (rotate.bats) that somebody thinks better of.

# Variables from the helper.
# shellcheck disable=SC2016,SC2034,SC2154
bats_require_minimum_version 1.5.0
LAB_BOOTSTRAP='file'
load helper

rotation() {
	burstctl secrets rotate --json | jq -r ".rotation.$1"
}
phase_is() { [[ $(rotation phase) =~ ^($1)$ ]]; }
bundle() { jq -r ".$1 // empty" /var/lib/burstd/keys/bundle; }

@test "a rotation that is aborted leaves the key as it was" {
	id=$(job -w c3 --gres=gpu:8 --wrap 'sleep 600')
	within 60 job_is "$id" RUNNING
	key=$(bundle munge_key)
	burstctl secrets rotate --munge
	within 60 phase_is staged
	burstctl secrets rotate --abort
	within 20 phase_is aborted
	[ "$(bundle munge_key)" = "$key" ]
	next=$(bundle munge_key_next)
	[ -z "$next" ]
	within 100 on c3 test ! -e /run/burst/munge/munge.key.next
	scancel "$id"
	calm
}

@test "a switch that is called off is done by no node" {
	id=$(job -w c3 --gres=gpu:8 --wrap 'sleep 600')
	within 60 job_is "$id" RUNNING
	key=$(bundle munge_key)
	burstctl secrets rotate --munge
	within 60 phase_is staged
	burstctl secrets rotate --switch --in 60s
	at=$(rotation switch_ms)
	sleep 8 # a node that came just now has a heartbeat each 5 s
	burstctl secrets rotate --abort
	within 5 phase_is aborted
	# It has had its keys just now, so it is a minute until it may have them anew.
	on c3 test -e /run/burst/munge/munge.key.next
	sleep $((at / 1000 - $(date +%s) + 3))
	[ "$(on c3 base64 -w0 /run/burst/munge/munge.key)" = "$key" ]
	cred=$(on c3 munge -n)
	unmunge <<<"$cred" >/dev/null
	[ "$(bundle munge_key)" = "$key" ]
	scancel "$id"
	calm
}
