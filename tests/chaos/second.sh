# second.sh: the second cloud of chaos.sh, with CLOUDS=2.  Another simcloud, which speaks Nova and Keystone, and sells what
# the first one has not: most of the time it fails, badly and as a whole.  To be sourced after lab.sh (bash).
#
# Functions are called by name:
# shellcheck shell=bash disable=SC2034,SC2154,SC2317
second_url=http://127.0.0.1:8901
bad=$lab_dir/bad # "begin_ms end_ms KIND": when it failed
# For so long burstd waits for an answer, and until it takes the cloud for away: as all times of the lab, short.
second_timeout=10
# shellcheck source=tests/e2e/lab/cloud-openstack.sh
. "$lab_here/cloud-openstack.sh"

# Less than half of what the pool may have is to be had at the first.
second_offers() {
	LAB_OFFERS="$(lab_offer first eu-north-1a spot)
		offer \"second\" { provider = \"second\" type = \"gpu_8x_h100\" region = \"eu-north-1\" market = \"on-demand\" price = \"12.00\" }"
}

# In place of lab.sh's
lab_providers() {
	lab_provider sim eu-north-1
	LAB_CLOUD=openstack lab_url=$second_url lab_provider second eu-north-1 |
		sed "s/settle .*/&\n\t\t\ttimeout = \"${second_timeout}s\"\n\t\t\tunreachable_after = \"${second_timeout}s\"/"
}

# second_prepare NATURE: JSON of how a simcloud behaves here
second_prepare() {
	local what='"type": "gpu_8x_h100", "region": "eu-north-1", "zone": "eu-north-1a", "price": "12.00", "currency": "EUR"'
	mkdir -p "$lab_dir/second"
	: >"$bad"
	echo "${1%\}}, \"offers\": [{$what, \"market\": \"on-demand\"}]}" >"$lab_dir/second.json"
	sim_config "{\"offers\": [{$what, \"market\": \"spot\", \"capacity\": $((LAB_MAX_NODES * 2 / 5))}]}" && lab_start second
}

# Whoever kills it takes its machines with it; its meter it keeps.
lab_start_second() {
	lab_spawn second root "$lab_dir/bin/simcloud" --listen "${second_url#http://}" --token-file /etc/simcloud/token \
		--subnet 10.77.128.0/17 --seed 2 --state "$lab_dir/second.meter" --config "$lab_dir/second.json" \
		--boot "$lab_dir/bin/$LAB_BOOT" --hosts-extra "$lab_dir/hosts-extra" --run-dir "$lab_dir/second"
	lab_wait 10 second GET /v1/offers
}

second() {
	lab_url=$second_url sim "$@"
}

second_alive() {
	second GET /admin/instances | jq '[.instances[] | select(.state != "ended")] | length'
}

# --- how it fails, a function for each kind in schedule.py ---------------------------------------

do_bad() { # KIND SECONDS
	local begin
	begin=$(now_ms)
	"bad_$1" "$2" || failed "the second cloud does not do what it is told: $1"
	lab_wait 10 second GET /v1/offers || failed "the second cloud does not get well after $1"
	echo "$begin $(now_ms) $1" >>"$bad"
	say "the second cloud is well again"
}

# bad_rules SECONDS RULE...: each for all requests that it names
bad_rules() {
	local seconds=$1 rule
	shift
	for rule; do
		second POST /admin/faults "{$rule}" >/dev/null || return
	done
	sleep "$seconds"
	second DELETE /admin/faults >/dev/null
}

bad_errors() {
	bad_rules "$1" '"op": "any", "action": "error", "code": "internal", "status": 500'
}

bad_throttled() {
	bad_rules "$1" '"op": "any", "action": "error", "code": "rate", "status": 429, "retry_after": 2'
}

# What is done is not told in time: not that of the last request either.
bad_hangs() {
	bad_rules "$1" '"op": "any", "action": "delay", "ms": 30000'
	sleep "$second_timeout"
}

bad_silent() {
	bad_rules "$1" '"op": "any", "action": "drop-reply", "probability": 0.5' '"op": "any", "action": "drop-request"'
}

bad_garbage() {
	bad_rules "$1" '"op": "any", "action": "garbage"'
}

bad_denied() {
	bad_rules "$1" '"op": "any", "action": "error", "code": "denied", "status": 401'
}

bad_stopped() {
	local pid
	pid=$(lab_pid second)
	kill -STOP "$pid"
	sleep "$1"
	kill -CONT "$pid"
}

bad_killed() {
	lab_kill second
	sleep "$1"
	lab_start_second
}
