#!/usr/bin/env bats
# What burstd says of some busy minutes on a real Slurm, page by page, into build/monitoring/pages: record.py makes
# recorded.txt of these.  By hand, when there are new metrics: `make monitoring-record`.

# Variables from the helper; scripts for the job to expand.
# shellcheck disable=SC2016,SC2030,SC2031,SC2034,SC2154
bats_require_minimum_version 1.5.0
LAB_BOOTSTRAP='file' LAB_COOLDOWN=20s LAB_SUSPEND_TIME=5
BATS_TEST_DIRNAME+=/../e2e
load helper
lab_offers() {
	lab_offer spot eu-north-1a spot
	lab_offer od-a eu-north-1a on-demand
	lab_offer od-b eu-north-1b on-demand
}
# By the provider's prices, which have an age.
LAB_OFFERS=$(lab_offers | sed 's/price = "29.52"//')

step_s=5

# Every five seconds, as Prometheus would.
record() {
	local next=$EPOCHSECONDS
	while :; do
		! curl -qsS --max-time 4 http://127.0.0.1:9818/metrics >"$pages/new" || mv "$pages/new" "$pages/$next"
		next=$((next + step_s))
		sleep $((next > EPOCHSECONDS ? next - EPOCHSECONDS : 0))
	done
}

zone_capacity() { # ZONE MARKET N|null
	sim POST /admin/capacity "{\"type\": \"gpu_8x_h100\", \"zone\": \"eu-north-1$1\", \"market\": \"$2\", \"capacity\": $3}" >/dev/null
}

teardown() {
	[ -z "${recorder-}" ] || kill "$recorder" 2>/dev/null || true
	[ -n "${BATS_TEST_COMPLETED-}" ] || lab_logs
}

@test "some busy minutes" {
	pages=$(readlink -f "${BUILD:-build}")/monitoring/pages
	rm -rf "$pages"
	mkdir -p "$pages"
	(umask 077 && head -c 32 /dev/urandom | base64 >/etc/burstd/alert.key)
	chown slurm /etc/burstd/alert.key
	cat >>/etc/burstd/burstd.conf <<-C
		budget "physics" {
			amount = "900"
			drain_at = "100"
		}
		budget "everyone" {
			rate = "500"
			each = "user"
		}
		alert "desk" {
			kind = "webhook"
			url = "http://127.0.0.1:9/none"
			secret_file = "/etc/burstd/alert.key"
			budgets = {"physics"}
		}
	C
	burstctl reload || { burstctl config check /etc/burstd/burstd.conf; false; }
	record 3>&- &
	recorder=$!
	sleep 10
	# Spot has two, and zone a three: the rest is bought in b.
	zone_capacity a spot 2
	zone_capacity a on-demand 1
	one=$(job -N2 --exclusive --time=10 --wrap 'sleep 40')
	two=$(job -N2 --exclusive --time=10 --wrap 'sleep 60')
	within 60 job_is "$one" RUNNING
	within 60 job_is "$two" RUNNING
	# The provider takes a spot machine.
	sim_reclaim "$(scontrol show hostnames "$(job_nodes "$one")" | head -n 1)" 20000
	sleep 20
	# Nobody has any, and the job waits.
	zone_capacity a spot 0
	zone_capacity a on-demand 0
	zone_capacity b on-demand 0
	three=$(job -N3 --exclusive --time=10 --wrap 'sleep 5')
	sleep 40
	# More than the budget has.
	four=$(job -N4 --exclusive --time=20:00:00 --wrap 'sleep 5')
	sleep 20
	# Too many requests, then none is answered.
	sim POST /admin/faults '{"op": "list", "action": "error", "code": "rate", "count": 3}' >/dev/null
	sleep 10
	zone_capacity a spot null
	zone_capacity a on-demand null
	zone_capacity b on-demand null
	scancel "$four"
	burstctl retry
	sleep 40
	burstctl pause h100
	sleep 10
	burstctl resume h100
	scancel -u researcher
	sleep 40
	[ "$(find "$pages" -type f | wc -l)" -ge 35 ]
}
