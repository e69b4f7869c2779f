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
	event claim-refused 'an address that no machine of its has'
	# Now the machine itself is too late as well.
	[ "$(try "$node" own)" = 409 ]
	breach
}

@test "claim from another address: the machine's own request, copied, gets nothing there and harms nobody" {
	bought
	thief=$node
	bought
	steal
	try "$node" own
	mkdir "$(machine "$thief")/burst/copy"
	cp "$dir/burst/own/key.pem" "$(machine "$thief")/burst/copy/"
	answering "$thief" copy
	[ "$(try "$thief" copy)" = 403 ]
	event claim-refused "$node"
	answering "$node" own
	claimed "$node" own
	[ "$(try "$thief" copy)" = 403 ]
	run ! has_keys "$(machine "$thief")/burst/copy/answer"
	run ! event breach
}

@test "stolen claim used first: the machine that finds it used raises the alarm and ends" {
	bought
	lingers
	steal
	try "$node" thief
	answering "$node" thief
	claimed "$node" thief
	# Now the machine itself, with its own key.
	on "$node" sh /var/lib/cloud/instance/user-data.txt || true
	grep -q 'alarm: claim_used' "$dir/burst/stage0.log"
	event claim-alarm claim_used
	breach
}
