#!/usr/bin/env bats
# A claim is good once, for a time, and with its secret: what those do not get who come again, late, or guess, and what
# becomes of the machine (nothing, if they only guessed).  Who comes from elsewhere, or first: hostile-theft.bats.

# Variables from the helper; scripts for the machine to expand.
# shellcheck disable=SC2016,SC2030,SC2031,SC2034,SC2154
bats_require_minimum_version 1.5.0
LAB_BOOTSTRAP='file' LAB_CLAIM_TTL=120s
load helper
# shellcheck source=tests/e2e/lab/hostile.sh
. "$lab_here/hostile.sh"

setup() {
	hostile_begin
}

teardown() {
	[ -n "${BATS_TEST_COMPLETED-}" ] || lab_logs
	claim_ttl 120s
	hostile_end
}

# claim_ttl TIME: of machines that are bought from now on
claim_ttl() {
	grep -q "claim_ttl *= *\"$1\"" /etc/burstd/burstd.conf || {
		sed -i "s/^\( *claim_ttl *=\).*/\1 \"$1\"/" /etc/burstd/burstd.conf
		burstctl reload
	}
}

@test "claim replayed: with another key it is a breach, the machine goes, and the job runs on another" {
	bought
	lingers
	steal
	try "$node" one
	claimed "$node" one
	# An answer that was lost is given again, to the same key.
	[ "$(try "$node" one)" = 200 ]
	[ "$(try "$node" two)" = 409 ]
	run ! has_keys "$dir/burst/two/answer"
	# And from now on to nobody.
	[ "$(try "$node" one)" = 409 ]
	breach
	event breach 'may have leaked: burstctl secrets rotate --munge'
	within 60 job_is "$id" COMPLETED
	# Nobody has done anything about it.
	lab_kill burstd
	lab_start burstd
	burstctl status | grep -q '1 claim of keys was misused, the last one .* ago: .*burstctl secrets rotate --munge$'
}

@test "claim after TTL: refused, and the machine goes" {
	claim_ttl 4s
	lingers
	bought
	claim_ttl 120s
	steal
	within 20 event boot-failed 'not claimed in time'
	[ "$(try "$node" late)" = 410 ]
	run ! has_keys "$dir/burst/late/answer"
	run -1 event breach
	over
}

@test "wrong secrets: told of, and nothing ends by them; the right one is taken at once" {
	bought
	steal
	for i in $(seq 12); do
		[ "$(try "$node" wrong "SECRET=$(printf %064d "$i")")" = 401 ]
	done
	# The same address is not the same man.
	try "$node" right
	claimed "$node" right
	within 20 event claim-guessed "from $(sim_addresses | sed -n "s/^$node //p")"
	run -1 event breach
	run -1 event claim-refused
	# What every user may read has no id; operators have it.
	claim_id=$(sed -n "s/.* ID='\([^']*\)'.*/\1/p" "$lab_dir/stolen")
	[ -n "$claim_id" ]
	burstctl events --json --since "$events_from" >"$lab_dir/events"
	run ! grep -qF -- "$claim_id" "$lab_dir/events" /var/log/burstd.log
	audited claim-refuse "$claim_id"
	# A second key is a breach, as ever.
	lingers
	[ "$(try "$node" two)" = 409 ]
	breach
}
