#!/usr/bin/env bats
# A real Prometheus with scripts/monitoring/prometheus.yml as it is installed, beside a burstd that buys: it has burstd's page,
# finds the nodes that run with their pools, computes the rules, and forgets the nodes when they are gone.

# Variables from the helper; scripts for the job to expand.
# shellcheck disable=SC2016,SC2034,SC2154
bats_require_minimum_version 1.5.0
BATS_TEST_DIRNAME+=/../e2e
load helper

api=http://127.0.0.1:9090/api/v1
monitoring=$(readlink -f "$BATS_TEST_DIRNAME/../../scripts/monitoring")

teardown() {
	[ -n "${BATS_TEST_COMPLETED-}" ] || {
		lab_logs
		tail -n 20 "$lab_dir/prometheus.log"
	}
	[ -z "${prometheus-}" ] || kill "$prometheus" 2>/dev/null || true
}

# ask EXPR: the value of its only sample; "" if there is none
ask() {
	curl -qsS --max-time 5 "$api/query" --data-urlencode "query=$1" | jq -r '.data.result[0].value[1] // ""'
}

is() { # EXPR VALUE
	[ "$(ask "$1")" = "$2" ]
}

# targets: of the nodes, "URL instance pool cluster", a line each
targets() {
	curl -qsS --max-time 5 "$api/targets?state=active" |
		jq -r '.data.activeTargets[] | select(.labels.job == "burst-dcgm") | "\(.scrapeUrl) \(.labels.instance) \(.labels.pool) \(.labels.cluster)"' | sort
}

@test "Prometheus has burstd's page, its nodes with their pools, and the rules" {
	command -v prometheus >/dev/null || skip 'there is no Prometheus: Debian has it in the package prometheus'
	mkdir -p "$lab_dir/prometheus"
	sed "s|/etc/prometheus/burstd/|$monitoring/rules/|; s/falcon/lab/; s/: 15s/: 1s/; s/: 30s/: 1s/" "$monitoring/prometheus.yml" \
		>"$lab_dir/prometheus/prometheus.yml"
	promtool check config "$lab_dir/prometheus/prometheus.yml"
	prometheus --config.file="$lab_dir/prometheus/prometheus.yml" --storage.tsdb.path="$lab_dir/prometheus/data" \
		--web.listen-address=127.0.0.1:9090 >"$lab_dir/prometheus.log" 2>&1 3>&- &
	prometheus=$!
	within 30 is 'up{job="burstd"}' 1
	within 10 is 'burstd_build_info{cluster="lab"}' 1
	within 10 is 'count(burstd_build_info{exported_cluster=~".+"}) or vector(0)' 0
	job=$(job -N2 --exclusive --wrap "$until_over")
	within 40 job_is "$job" RUNNING
	within 20 is 'sum(burstd_nodes{state="ready"})' 2
	within 20 eval '[ "$(targets | wc -l)" = 2 ]'
	targets
	for node in $(scontrol show hostnames "$(job_nodes "$job")"); do
		address=$(scontrol -o show node "$node" | sed -n 's/.* NodeAddr=\([^ ]*\).*/\1/p')
		targets | grep -qxF "http://$address:9400/metrics $node h100 lab"
	done
	within 20 is 'cluster_currency:burstd_pool_rate:sum{cluster="lab"}' 59.04
	# No rule fails, and what should be quiet is.
	curl -qsS "$api/rules" | jq -e '[.data.groups[].rules[] | select(.health != "ok")] == []'
	is 'count(ALERTS{alertstate="firing",severity="page"}) or vector(0)' 0
	over "$job"
	within 60 is 'sum(burstd_nodes)' 0
	within 20 eval '[ -z "$(targets)" ]'
	# burstd goes, and that is told.
	lab_stop burstd
	within 20 is 'up{job="burstd"}' 0
	within 10 is 'ALERTS{alertname="BurstdDown",alertstate="pending",severity="page"}' 1
	lab_start burstd
	within 20 is 'up{job="burstd"}' 1
}
