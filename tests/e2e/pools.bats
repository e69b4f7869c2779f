#!/usr/bin/env bats
# A pool with two offers: what `burstctl pools` and `burstctl plan` say, and that burstd then does so.

# Variables from the helper; scripts for the job to expand.
# shellcheck disable=SC2016,SC2034,SC2154
load helper
LAB_COOLDOWN=5m

# Zone a first, then zone b, at the same price.
two_offers() {
	sed -i '/^\t*\(provider\|type\|region\|market\) *= ".*"$/{/provider *= "sim"$/d;/type *= /d;/region *= /d;/market *= /d}' \
		/etc/burstd/burstd.conf
	sed -i 's/^\(\t*\)boot_timeout.*/&\
		offer "a" { provider = "sim" type = "gpu_8x_h100" region = "eu-north-1" zone = "eu-north-1a" }\
		offer "b" { provider = "sim" type = "gpu_8x_h100" region = "eu-north-1" zone = "eu-north-1b" }/' \
		/etc/burstd/burstd.conf
}

setup() {
	grep -q offer /etc/burstd/burstd.conf || {
		lab_stop burstd
		two_offers
		lab_start burstd
	}
	calm
	rows=$(sim_rows)
}

teardown() {
	[ -n "${BATS_TEST_COMPLETED-}" ] || lab_logs
	zone_capacity a null
	zone_capacity b null
}

# zone_capacity a|b N|null
zone_capacity() {
	sim POST /admin/capacity "{\"type\": \"gpu_8x_h100\", \"zone\": \"eu-north-1$1\", \"market\": \"on-demand\",
		\"capacity\": $2}" >/dev/null
}

new_rows() {
	echo $(($(sim_rows) - rows))
}

# The offer and the state of each rung, as they are tried
rungs() {
	burstctl pools h100 --json | jq -r '.pools[0].offers[] | "\(.offer) \(.place) \(.state)"' | paste -sd,
}

@test "pools: both offers, in their order, with their prices; plan: the first of them, and nothing is bought" {
	within 15 eval '[ "$(rungs)" = "a 1 ready,b 2 ready" ]'
	run -0 burstctl pools
	echo "$output"
	[[ $output == *"h100  0 of 8 nodes, 0.00 of 300.00 EUR per hour"* ]]
	run -0 burstctl plan -n 2
	echo "$output"
	[[ $output == *"would be bought: 2 nodes of pool h100 from offer a"*"29.52 EUR per hour each, 59.04 EUR together"* ]]
	# Each line has its place on a terminal of 80 columns.
	run ! grep -E '^.{81}' <<<"$output"
	[ "$(new_rows)" = 0 ]
}

@test "plan --partition asks slurmctld's partitions, --pool and --list agree with it" {
	within 90 eval 'burstctl plan --partition cloud --nodes 2 | grep -q "2 nodes of pool h100 from offer a"'
	burstctl plan --list 'c[3-4]' | grep -q "2 nodes of pool h100 from offer a"
	run -1 burstctl plan --partition nosuch
	[[ $output == *'no partition "nosuch"'* ]]
}

@test "check: a limit below the price that the provider tells, jurisdictions that are none" {
	sed 's/max_rate .*/max_rate = "29.51"/' /etc/burstd/burstd.conf >"$lab_dir/poor.conf"
	run -1 burstctl check "$lab_dir/poor.conf"
	echo "$output"
	[[ $output == *'pool "h100": max_rate is 29.51 EUR per hour, and its cheapest node costs 29.52'* ]]
	sed 's/boot_timeout/jurisdictions = {"EUU"}\n&/' /etc/burstd/burstd.conf >"$lab_dir/poor.conf"
	run -1 burstctl check "$lab_dir/poor.conf"
	echo "$output"
	[[ $output == *'jurisdictions: EUU is not a country'* ]]
}

@test "plan: what is over a limit would be refused, whatever the offer" {
	run -1 burstctl plan --nodes 11
	echo "$output"
	[[ $output == *"would be refused: pool h100 has 8 nodes in all"* ]]
	run -1 burstctl plan --max-price 20
	echo "$output"
	[[ $output == *"a: 29.52 above max_price 20"* ]]
	run -1 burstctl plan --job constraint=spot,nodes=2
	echo "$output"
	[[ $output == *"the job wants spot"* ]]
	run -1 burstctl plan --jurisdiction US
	echo "$output"
	[[ $output == *"US only: eu-north-1 is outside"* ]]
}

@test "the first offer is sold out: the job runs on the second, and pools and plan say so; retry forgets it" {
	zone_capacity a 0
	job=$(job -N2 --exclusive --wrap 'sleep 1')
	within 40 job_is "$job" COMPLETED
	[ "$(rungs)" = "b 1 ready,a 0 capacity" ]
	run -0 burstctl pools h100
	echo "$output"
	[[ $output == *"a: no capacity: cools down until "* ]]
	[[ $output == *"refused lately"*"a: "*" ago, 2 nodes: capacity"* ]]
	run -0 burstctl plan --nodes 2
	echo "$output"
	[[ $output == *"2 nodes of pool h100 from offer b"* ]]
	curl -sS http://127.0.0.1:9818/metrics | grep -qxF 'burstd_places_cooling{provider="sim",reason="capacity"} 1'
	curl -sS http://127.0.0.1:9818/metrics | grep -qxF 'burstd_nodes_unsold_total{provider="sim",reason="capacity"} 2'
	zone_capacity a null
	run -1 lab_as researcher "$lab_dir/bin/burstctl" retry
	run -0 burstctl retry h100
	[[ $output == "1 cooldown is forgotten"* ]]
	[ "$(rungs)" = "a 1 ready,b 2 ready" ]
	burstctl events -n 20 | grep -q 'retried .*h100, ordered by'
}

@test "both are sold out: plan says so, when it would be tried again, and exits with 1; as it then happens" {
	zone_capacity a 0
	zone_capacity b 0
	job=$(job -N1 --exclusive --wrap 'sleep 1')
	within 30 eval '[ "$(rungs)" = "a 0 capacity,b 0 capacity" ]'
	run -1 burstctl plan
	echo "$output"
	[[ $output == *"would be refused: pool h100 has no offer for it now"*"a: no capacity: cools down until "* ]]
	[[ $output == *"the job would be tried again in "* ]]
	# Told and put off; before that, burstd would still put it off after what an admin sets here.
	within 20 eval 'scontrol -o show job "$job" | grep -q "AdminComment=burstd: pool h100: .*next try"'
	within 20 job_is "$job" PENDING
	zone_capacity a null
	burstctl retry sim
	scontrol update jobid="$job" StartTime=now
	within 60 job_is "$job" COMPLETED
}

@test "no duplicate and no leaked second in all of this" {
	calm
	audit
}
