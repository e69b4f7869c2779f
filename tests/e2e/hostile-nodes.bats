#!/usr/bin/env bats
# What a node that is one of us may not do: speak for another, or be spoken for by who has heard it.

# Variables from the helper; scripts for the machine to expand.
# shellcheck disable=SC2016,SC2030,SC2031,SC2034,SC2154
bats_require_minimum_version 1.5.0
LAB_BOOTSTRAP='file'
load helper
# shellcheck source=tests/e2e/lab/hostile.sh
. "$lab_here/hostile.sh"

setup() {
	hostile_begin
	id=$(job -w c1,c2 -N2 --gres=gpu:8 --wrap 'sleep 300')
	within 60 job_is "$id" RUNNING
	one=$(on c1 sed -n 's/^generation=//p' /run/burst/s/claim.conf)
	two=$(on c2 sed -n 's/^generation=//p' /run/burst/s/claim.conf)
}

teardown() {
	[ -n "${BATS_TEST_COMPLETED-}" ] || lab_logs
	hostile_end
}

# says NODE PATH JSON [CURL ARG...]: with its certificate; the status, and the answer is in /run/burst/said
says() {
	local from=$1 path=$2 body=$3
	shift 3
	on "$from" curl -sS -o /run/burst/said -w '%{http_code}' --cacert /run/burst/ca.pem --cert /run/burst/cert.pem \
		--key /run/burst/s/key.pem -H 'Content-Type: application/json' -d "$body" "$@" "$lab_door$path"
}

# beat NODE GENERATION: what its agent would say
beat() {
	printf '{"v":1,"node":"%s","generation":%d,"boot_id":"%s","agent":"0","seq":1,"now_ms":%d000}' "$1" "$2" \
		"$(cat /proc/sys/kernel/random/boot_id)" "$(date +%s)"
}

@test "node A speaking for node B: refused, on record, and B is none the worse" {
	[ "$(says c1 /v1/node/heartbeat "$(beat c1 "$one")")" = 200 ]
	[ "$(says c1 /v1/node/heartbeat "$(beat c2 "$two")")" = 403 ]
	within 10 event claim-misuse 'another node'
	audited claim-misuse '"c1"'
	[ "$(says c1 /v1/node/failed "{\"v\":1,\"node\":\"c2\",\"generation\":$two,\"step\":\"gpu\",\"why\":\"gone\",\"total_ms\":1,\"steps\":[]}")" = 403 ]
	[ "$(says c1 /v1/node/event "{\"v\":1,\"node\":\"c2\",\"generation\":$two,\"boot_id\":\"b\",\"id\":\"e1\",\"type\":\"preempt\",\"deadline\":1}")" = 403 ]
	[ "$(says c1 /v1/node/confirm "{\"v\":1,\"node\":\"c2\",\"generation\":$two,\"key_version\":1}")" = 403 ]
	# Nor for another generation of itself.
	[ "$(says c1 /v1/node/heartbeat "$(beat c1 $((one + 1)))")" = 403 ]
	# With no certificate, with one of its own making, and with the other's, which is no secret, but not its key.
	[ "$(on c1 curl -sS -o /dev/null -w '%{http_code}' --cacert /run/burst/ca.pem -d "$(beat c2 "$two")" "$lab_door/v1/node/heartbeat")" = 401 ]
	on c1 sh -c 'openssl req -x509 -newkey rsa:2048 -nodes -days 1 -subj /CN=c2 -keyout /tmp/own.key -out /tmp/own.pem 2>/dev/null'
	run on c1 curl -s -o /dev/null -w '%{http_code}' --cacert /run/burst/ca.pem --cert /tmp/own.pem --key /tmp/own.key \
		-d "$(beat c2 "$two")" "$lab_door/v1/node/heartbeat"
	[[ "$output" =~ ^(000|401|403)$ ]]
	job_is "$id" RUNNING
	run -1 event boot-failed
	burstd_nodes ready | grep -qx c2
}

# credential NODE BODY NONCE: as node-init makes one for /v1/node/confirm
credential() {
	on "$1" sh -c 'printf "burst1\000%s\000POST\000/v1/node/confirm\000%s\000$1\000%s" 10.77.0.1 \
		"$(printf %s "$2" | sha256sum | cut -d" " -f1)" "$3" | munge -t 60 -u "$4"' sh "$1" "$2" "$3" "$(id -u slurm)"
}

# confirms NODE BODY CREDENTIAL
confirms() {
	says "$1" /v1/node/confirm "$2" -H "Authorization: MUNGE $3"
}

@test "munge credential replayed: refused, from its own node and from another" {
	body="{\"v\":1,\"node\":\"c1\",\"generation\":$one,\"key_version\":$(on c1 cat /run/burst/key-version)}"
	cred=$(credential c1 "$body" 00112233445566778899aabbccddeeff)
	[ "$(confirms c1 "$body" "$cred")" = 200 ]
	[ "$(confirms c1 "$body" "$cred")" = 401 ]
	on c1 grep -q '^error=replayed' /run/burst/said
	# One that was caught before it came: the other node can use it for nothing of its own.
	cred=$(credential c1 "$body" 00112233445566778899aabbccddee00)
	theirs="{\"v\":1,\"node\":\"c2\",\"generation\":$two,\"key_version\":$(on c2 cat /run/burst/key-version)}"
	[ "$(confirms c2 "$theirs" "$cred")" = 401 ]
	on c2 grep -q '^error=wrong' /run/burst/said
	[ "$(confirms c2 "$body" "$(credential c1 "$body" 00112233445566778899aabbccddee01)")" = 403 ]
	# And for no other request of the first.
	cred=$(credential c1 "$body" 00112233445566778899aabbccddee02)
	[ "$(confirms c1 "$body " "$cred")" = 401 ]
	on c1 grep -q '^error=wrong' /run/burst/said
	job_is "$id" RUNNING
}
