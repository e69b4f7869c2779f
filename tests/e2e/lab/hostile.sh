# hostile.sh: somebody else where a machine was bought.  Sourced by tests (bash) behind helper.bash, with LAB_BOOTSTRAP.
#
# A machine that does nothing with its user-data is there for whoever comes first; and it stays there when burstd wants to
# delete it, for the provider is slow, until breach() or hostile_end().
#
#   bought                          such a machine: $node, $dir, and $id, the job that waits for it
#   steal                           its user-data, for try
#   try NODE DIR [NAME=VALUE...]    a claim (lab/claim) with what was stolen, from NODE: the status
#   claimed NODE DIR                ... until it is answered, and with the keys
#   caught NODE DIR                 the request that DIR has of NODE, in a file for others: `caught` in their DIR
#   event TYPE [WORDS], audited TYPE [WORDS]   is there one of this test?  1: no; 2: burstctl failed
#   breach                          told, on record, and over
#   document                        standard input is what is shown from now on; for `shown TYPE [DIR [NAME=VALUE...]]`, a claim with it
#                                   of the machine that was bought last: the status
#   refused WORDS                   so is that claim, for that reason, and is a breach; the machine is there until `ended`.  The test has
#                                   `shows [DIR]`, a claim with the document, and `own`, which prints the machine's own
#   over                            the machine is gone, its job is sent back, and another one is bought for it
# shellcheck shell=bash
# shellcheck disable=SC2034,SC2154  # lab.sh's variables; the tests'

hostile_begin() {
	cp "$lab_here/claim" "$lab_dir/bin/"
	events_from=$(burstctl events --json -n 1 | jq -r .seq)
	audits_from=$(burstctl audit --json -n 1 | jq -r .seq)
}

hostile_end() {
	sed -i '/^cloud_init=/d' /etc/simcloud/boot.conf
	sim_faults_clear
	# What a test did to its machines must not close the pool for the next.
	burstctl resume >/dev/null
	calm
}

# For tests whose machines do not come up: their nodes rest for as long as this burstd lives.
hostile_again() {
	lab_stop burstd
	lab_start burstd
	hostile_end
}

event() {
	local list
	list=$(burstctl events --json --since "${events_from:-0}") || return 2
	grep "\"$1\"" <<<"$list" | grep -q -- "${2-}"
}

audited() {
	local list
	list=$(burstctl audit --json --since "${audits_from:-0}") || return 2
	grep "\"$1\"" <<<"$list" | grep -q -- "${2-}"
}

is_up() {
	node=$(job_nodes "$id") && dir=$(machine "$node") && [ -s "$dir/user-data" ] && on "$node" ip route get 10.77.0.1
}

bought() {
	echo cloud_init=no >>/etc/simcloud/boot.conf
	id=$(job --gres=gpu:8 --wrap true)
	within 30 is_up
	sed -i '/^cloud_init=/d' /etc/simcloud/boot.conf
	rows=$(sim_rows)
}

# Its provider takes its time to delete it.
lingers() {
	sim_hold delete before
}

steal() {
	cp "$dir/user-data" "$lab_dir/stolen"
}

try() {
	local from=$1 to=$2
	shift 2
	cp "$lab_dir/stolen" "$(machine "$from")/burst/stolen"
	on "$from" claim /run/burst/stolen "/run/burst/$to" "$@"
}

caught() {
	cp "$(machine "$1")/burst/$2/request" "$(machine "$1")/burst/caught"
}

has_keys() {
	grep -q '^munge_key=' "$1"
}

claimed() {
	local st=000
	for _ in $(seq 20); do
		st=$(try "$1" "$2")
		[ "$st" = 202 ] || break
		sleep 0.5
	done
	echo "the claim from $1: $st"
	[ "$st" = 200 ] && has_keys "$(machine "$1")/burst/$2/answer"
}

document() {
	cat >"$lab_dir/document"
}

shown() {
	local type=$1 to=${2:-one}
	shift $(($# > 1 ? 2 : 1))
	cp "$lab_dir/document" "$dir/burst/document"
	try "$node" "$to" TYPE="$type" DOC=/run/burst/document "$@"
}

refused() {
	steal
	lingers
	[ "$(shows)" = 403 ]
	run ! has_keys "$dir/burst/one/answer"
	within 10 event claim-refused "$1"
	within 10 event breach 'its secret was used by another machine'
	within 10 audited breach "\"$node\""
	# The machine itself is too late now.
	own >"$lab_dir/own"
	document <"$lab_dir/own"
	[ "$(shows own)" = 409 ]
	run ! has_keys "$dir/burst/own/answer"
}

ended() {
	sim_faults_clear
	within 20 gone
}

gone() {
	[ ! -d "/proc/$(cat "$dir/pid")/task" ]
}

replaced() {
	[ "$(sim_rows)" -gt "$rows" ]
}

breach() {
	within 20 event breach "\"$node\""
	within 20 audited breach "\"$node\""
	over
}

# The job need not wait for its time, which burstd may still be telling slurmctld.
hurried() {
	! replaced || return 0
	scontrol update jobid="$id" starttime=now || true
	sleep 0.5
	return 1
}

over() {
	sim_faults_clear
	within 30 gone
	within 20 event job-postponed "job $id,"
	within 30 hurried
}
