#!/usr/bin/env bats
# Who else might claim: thieves of user-data.  Real machines (lab/bootstrap.sh),
# of which some do not run their user-data themselves, so that somebody else comes first.

# Variables from the helper; scripts for the machine to expand.
# shellcheck disable=SC2016,SC2030,SC2031,SC2034,SC2154
bats_require_minimum_version 1.5.0
LAB_BOOTSTRAP='file' LAB_CLAIM_TTL=60s
load helper

setup() {
	cp "$lab_here/claim" "$lab_dir/bin/"
}

event() {
	burstctl events --json | grep "\"$1\"" | grep -q -- "${2-}"
}

rows() {
	sim_of /admin/meter "[.rows[] | select(.name == \"$1\")] | length"
}

gone() {
	[ ! -d "/proc/$(cat "$1/pid")" ]
}

no_more() {
	sed -i '/^cloud_init=/d' /etc/simcloud/boot.conf
	[ -z "${id-}" ] || scancel "$id"
	scancel -u researcher
	calm
}

# bought NODE: a machine that is up, and does nothing with its user-data; $dir is its, $id the job's that waits for it
bought() {
	echo cloud_init=no >>/etc/simcloud/boot.conf
	id=$(job -w "$1" --gres=gpu:8 --wrap true)
	within 30 eval "[ -s \"\$(machine $1)/pid\" ]"
	dir=$(machine "$1")
	within 10 on "$1" true
	sed -i '/^cloud_init=/d' /etc/simcloud/boot.conf
	cp "$dir/user-data" "$lab_dir/stolen"
}

# try NODE DIR [NAME=VALUE...]: claim from there with the user-data of the machine that was bought last; the status
try() {
	local node=$1 to=$2
	shift 2
	image_of=$(machine "$node")/burst
	cp "$lab_dir/stolen" "$image_of/user-data"
	on "$node" claim /run/burst/user-data "/run/burst/$to" "$@"
}

# answering NODE DIR: whoever is root there answers the call-back with the key in DIR
answering() {
	on "$1" sh -c "cd /run/burst/$2 && openssl req -x509 -key key.pem -subj /CN=burst -days 2 -out cb.pem &&
		(setsid openssl s_server -accept 861 -key key.pem -cert cb.pem -rev >/dev/null 2>&1 </dev/null &)"
}

# claimed NODE DIR: until it is answered
claimed() {
	local node=$1 to=$2 st
	shift 2
	for _ in $(seq 20); do
		st=$(try "$node" "$to" "$@")
		[ "$st" = 202 ] || break
		sleep 0.5
	done
	echo "$st"
	[ "$st" = 200 ] && grep -q '^end=1$' "$(machine "$node")/burst/$to/answer"
}

# breach NODE: it was a breach: told, on record, the machine ended, and the job runs on another
breach() {
	within 20 event breach "$1"
	within 20 gone "$dir"
	within 90 job_is "$id" COMPLETED
	burstctl audit | grep -q breach
	[ "$(rows "$1")" -ge 2 ]
}

@test "a claim replayed with another key is a breach, and the machine goes" {
	bought c1
	try c1 one >/dev/null
	answering c1 one
	claimed c1 one
	# An answer that was lost is given again, to the same key.
	[ "$(try c1 one)" = 200 ]
	[ "$(try c1 two)" = 409 ]
	breach c1
	no_more
}
