#!/usr/bin/env bats
# Who else might claim: thieves of a machine's user-data, from elsewhere, or before it does itself.  What they do not get,
# and what becomes of the machine.

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
	hostile_end
}

@test "claim from another address: refused, and a breach" {
	bought
	thief=$node
	bought
	lingers
	steal
	[ "$(try "$thief" its)" = 403 ]
	run ! has_keys "$(machine "$thief")/burst/its/answer"
	within 10 event claim-refused 'an address that none of its machines has'
	# Now the machine itself is too late as well.
	[ "$(try "$node" own)" = 409 ]
	breach
}

@test "claim from another address: the machine's own request and key, copied, get nothing there and harm nobody" {
	bought
	thief=$node
	bought
	steal
	try "$node" own
	mkdir "$(machine "$thief")/burst/copy"
	cp "$dir/burst/own/key.pem" "$(machine "$thief")/burst/copy/"
	[ "$(try "$thief" copy)" = 403 ]
	within 10 event claim-refused 'another address than its machine has'
	claimed "$node" own
	[ "$(try "$thief" copy)" = 403 ]
	run ! has_keys "$(machine "$thief")/burst/copy/answer"
	run -1 event breach
}

# I31
@test "a claim that was caught is good for nobody but who has its key, on the machine itself too" {
	bought
	lingers
	steal
	claimed "$node" own
	caught "$node" own
	[ "$(try "$node" user SELF=no AGAIN=/run/burst/caught)" = 403 ]
	run ! has_keys "$dir/burst/user/answer"
	within 10 event claim-refused 'no certificate for its key'
	# As a user, with what a user may have.
	install -d -m 777 "$dir/burst/users"
	cp "$dir/burst/stolen" "$dir/burst/caught" "$dir/burst/users/"
	chmod 644 "$dir"/burst/users/*
	run on "$node" setpriv --reuid=65534 --clear-groups claim /run/burst/users/stolen /run/burst/users/his AGAIN=/run/burst/users/caught \
		SELF=no PORTS=
	[ "$output" = 403 ]
	# That has done the machine no harm: within a minute it asks for its answer, twice.
	claimed "$node" own
	[ "$(try "$node" own)" = 200 ]
	run -1 event breach
	# A key of his own is a second one.
	[ "$(try "$node" other AGAIN=/run/burst/caught)" = 409 ]
	run ! has_keys "$dir/burst/other/answer"
	within 10 event claim-refused 'another key than its request'
	breach
}

@test "from the machine's own address, but from no port that only its root has: refused, as behind NAT" {
	[ "$LAB_CLOUD" = sim ] || skip 'its machines sign'
	bought
	lingers
	steal
	[ "$(try "$node" user PORTS=40123)" = 403 ]
	run ! has_keys "$dir/burst/user/answer"
	within 10 event claim-refused 'it comes from port 40123, not from 800 to 863: not sent by root, or behind NAT'
	breach
}

@test "stolen claim used first: the machine that finds it used raises the alarm and ends" {
	bought
	lingers
	steal
	try "$node" thief
	claimed "$node" thief
	# Now the machine itself, with its own key.
	on "$node" sh /var/lib/cloud/instance/user-data.txt || true
	grep -q 'alarm: claim_used' "$dir/burst/stage0.log"
	within 10 event claim-alarm claim_used
	breach
}
