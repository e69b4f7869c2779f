#!/usr/bin/env bats
# Documents that do not say which machine it is: a thief has the user-data of one, and a document of another, or one that he
# made or changed.  By EC2's API, whose metadata service signs them; Google's and Azure's are in bootstrap-gcp.bats and
# bootstrap-azure.bats, and all that they are refused for in tests/unit/providers/test_attest_gcp.c and test_attest_azure.c.

# Variables from the helper; scripts for the machine to expand.
# shellcheck disable=SC2016,SC2030,SC2031,SC2034,SC2154
bats_require_minimum_version 1.5.0
LAB_BOOTSTRAP='file' LAB_CLAIM_TTL=120s LAB_CLOUD=aws
load helper
# shellcheck source=tests/e2e/lab/hostile.sh
. "$lab_here/hostile.sh"

setup() {
	hostile_begin
}

teardown() {
	[ -n "${BATS_TEST_COMPLETED-}" ] || lab_logs
	hostile_again
}

# identity NODE document|rsa2048: what the metadata service tells that machine's root
identity() {
	on "$1" sh -c 'T=$(curl -sSf -m 5 -X PUT -H "X-aws-ec2-metadata-token-ttl-seconds: 60" http://169.254.169.254/latest/api/token) &&
		curl -sSf -m 5 -H "X-aws-ec2-metadata-token: $T" "http://169.254.169.254/latest/dynamic/instance-identity/$0"' "$2"
}

# sign CERTIFICATE KEY [OPTION...]: standard input, with what openssl is told besides
sign() {
	openssl smime -sign -binary -md sha256 -signer "$1" -inkey "$2" -outform DER "${@:3}" | base64
}

# signed: standard input, as the metadata service would sign it
signed() {
	sign /etc/simcloud/identity.pem /etc/simcloud/identity.pem.key -nodetach
}

shows() {
	shown aws-rsa2048 "$@"
}

own() {
	identity "$node" rsa2048
}

@test "identity document: the machine's own is taken, once, and the proof is on record" {
	bought
	steal
	identity "$node" rsa2048 | document
	st=202
	for _ in $(seq 20); do
		[ "$st" = 202 ] || break
		st=$(shows)
		sleep 0.3
	done
	[ "$st" = 200 ]
	has_keys "$dir/burst/one/answer"
	within 10 event claimed 'by its identity document'
	burstctl node show "$node" --json | jq -e '.. | .boot? // empty | .claim == "claimed" and .attest == ""'
	# A copy of the user-data and of the document, which every user of the machine could read.
	lingers
	[ "$(shows two)" = 409 ]
	run ! has_keys "$dir/burst/two/answer"
	breach
}

@test "identity document of another instance: refused, and a breach" {
	bought
	other=$(identity "$node" document | jq -r .instanceId)
	identity "$node" rsa2048 | document
	bought
	refused "its identity document is of another instance, $other"
	breach
	within 60 job_is "$id" COMPLETED
}

@test "identity document tampered: refused, and a breach" {
	bought
	other=$(identity "$node" document | jq -r .instanceId)
	bought
	own=$(identity "$node" document | jq -r .instanceId)
	[ ${#own} = ${#other} ]
	# One that a thief has, of a machine of his, says after it that it is this one.
	identity "$node" document | sed "s/$own/$other/" | signed | base64 -d | LC_ALL=C sed "s/$other/$own/" | base64 | document
	refused 'its signature is not good'
	ended
}

@test "identity document detached: refused, and a breach" {
	bought
	identity "$node" document | sign /etc/simcloud/identity.pem /etc/simcloud/identity.pem.key | document
	refused 'what is signed is not in it'
	ended
}

@test "identity document of another account: refused, and a breach" {
	bought
	identity "$node" document | sed 's/"accountId" : "0*"/"accountId" : "999999999999"/' | signed | document
	refused "account '999999999999', not '000000000000'"
	ended
}

@test "identity document signed by somebody who is not the cloud: refused, and a breach" {
	bought
	lab_authority "$lab_dir" 'the metadata service'
	identity "$node" document | sign "$lab_dir/the metadata service.pem" "$lab_dir/the metadata service.key" -nodetach | document
	refused 'it is not signed by AWS\|its signature is not good'
	ended
}

@test "identity document of another time: refused, the machine goes, and nobody is called a thief" {
	bought
	steal
	identity "$node" document | sed 's/"pendingTime" : "[^"]*"/"pendingTime" : "2020-01-01T00:00:00Z"/' | signed | document
	lingers
	[ "$(shows)" = 403 ]
	within 10 event boot-failed 'another start time than the provider'
	over
	within 60 job_is "$id" COMPLETED
	run -1 event breach
	run -1 audited breach
}
