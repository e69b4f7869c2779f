#!/usr/bin/env bats
# What must hold over the API of every cloud: cloud-x.bats is this file with the driver x and simcloud's face of x (lab/cloud-x.sh).
# Each face forgets, refuses, throttles and reclaims in its vendor's words; whatever it does, no machine is bought twice or
# left behind, and the job runs.
#
# Stories with the tag "once" are about burstd more than about the cloud's words: `make test` tells them over simcloud's own
# API only, `make soak` over each.

# Variables from the helper; scripts for the job to expand.
# shellcheck disable=SC2016,SC2034,SC2154
LAB_LIST_EVERY=1s
load helper

setup() {
	calm
	rows=$(sim_rows)
}

teardown() {
	[ -n "${BATS_TEST_COMPLETED-}" ] || lab_logs
	sim_faults_clear
	sim_config '{"quota": null, "buckets": {"create": null, "any": null}}'
	sim_capacity null
	[ -n "${own_limits-}" ] || return 0
	lab_stop burstd
	lab_burstd_conf
	lab_start burstd
}

new_rows() {
	echo $(($(sim_rows) - rows))
}

# fault OP "ACTION MORE": the next request of this kind
fault() {
	local action=${2%% *} more
	more=${2#"$action"}
	sim POST /admin/faults "{\"op\": \"$1\", \"action\": \"$action\", \"count\": 1${more:+,$more}}" >/dev/null
}

# told WORDS: has an admin been?
told() {
	{ burstctl events && burstctl status; } | grep -qi -- "$1"
}

# bought: the nodes that machines were bought for since the test began, one a line
bought() {
	sim_of /admin/meter ".rows[$rows:] | .[].name" | sort
}

has_new_rows() {
	[ "$(new_rows)" = "$1" ]
}

# held_back OPERATION: status and metrics say what waits, for how long, and how much the provider lets through
held_back() {
	local metrics
	burstctl status | grep -E ", $1: [12] (node waits|nodes wait), the oldest for .*; .* a second.*; of [1-9].* throttled" || return
	burstctl status --json | jq -e ".providers[].requests[] | select(.operation == \"$1\" and .queued > 0 and .oldest_ms > 0
		and (.allowed_by == \"answers\" or .allowed_by == \"shared\") and .throttled > 0 and .sent > .throttled)" || return
	metrics=$(curl -sS http://127.0.0.1:9818/metrics)
	grep -E "^burstd_provider_requests_queued\{.*operation=\"$1\"\} [1-9]" <<<"$metrics" &&
		grep -E "^burstd_provider_requests_waiting_seconds\{.*operation=\"$1\"\} [0-9.]*[1-9]" <<<"$metrics" &&
		grep -E "^burstd_provider_requests_allowed_per_second\{.*operation=\"$1\"\} [01]\." <<<"$metrics"
}

addressed() {
	[ "$(scontrol -o show nodes "$1" | grep -c ' NodeAddr=10\.77\.')" = "$2" ]
}

# one_each N JOB: N machines in all, each for another of the job's nodes
one_each() {
	[ "$(new_rows)" = "$1" ] || sim GET /admin/meter
	[ "$(new_rows)" = "$1" ]
	[ "$(bought | sort -u | wc -l)" = "$1" ]
}

# runs_now JOB: it is tried again at once, whenever it would have been, and has ended well
runs_now() {
	! job_is "$1" COMPLETED || return 0
	scontrol update jobid="$1" starttime=now || true
	sleep 0.5
	return 1
}

restarted() {
	[ "$(scontrol -o show job "$1" | sed -n 's/.* Restarts=\([0-9]*\).*/\1/p')" = "$2" ]
}

@test "a job's machines are bought, run it, and go when slurmctld suspends its nodes" {
	job=$(job -N3 --exclusive --wrap "$until_over")
	within 40 job_is "$job" RUNNING
	nodes=$(job_nodes "$job")
	one_each 3
	[ "$(bought)" = "$(scontrol show hostnames "$nodes")" ]
	addressed "$nodes" 3
	alive 3
	over "$job"
	within 20 job_is "$job" COMPLETED
	within 40 alive 0
	within 30 burstd_has 0 ANY
	[ "$(sim_open)" = 0 ]
}

@test "without capacity nothing is bought, the job is told, and runs when there is some" {
	sim_capacity 0
	job=$(job -N2 --exclusive --wrap 'sleep 1')
	within 20 told capacity
	within 20 job_is "$job" PENDING
	within 20 burstd_has 0 ANY
	[ "$(new_rows)" = 0 ]
	sim_capacity null
	within 60 job_is "$job" COMPLETED
	one_each 2
}

@test "at the account's limit nothing is bought, an admin is told, and the job runs when it is raised" {
	sim_config '{"quota": 0}'
	job=$(job -N1 --exclusive --wrap 'sleep 1')
	within 20 told "${lab_says_quota-quota}"
	within 20 job_is "$job" PENDING
	[ "$(new_rows)" = 0 ]
	sim_config '{"quota": null}'
	burstctl retry
	within 60 runs_now "$job"
	one_each 1
}

# Nova takes a create before it has looked for hosts.
@test "a machine that was accepted and then fails is deleted, its job is told why, and its request has an id" {
	[ "$LAB_CLOUD" = openstack ] || skip "only OpenStack is known to fail so"
	sim_capacity 0
	job=$(job -N1 --exclusive --wrap 'sleep 1')
	within 20 told capacity
	burstctl events | grep -q 'No valid host was found'
	within 20 job_is "$job" PENDING
	within 20 burstd_has 0 ANY
	burstctl audit | grep -q 'answered .*create burstd-[^ ]*: ok (req-5c000000-0000-4000-8000-[0-9a-f]*)'
	burstctl audit | grep -q 'answered .*delete: ok (req-5c000000-0000-4000-8000-[0-9a-f]*)'
	# As long as it is there, it counts for the quota.
	sim_config '{"quota": 1}'
	sim_capacity null
	within 60 runs_now "$job"
	sim_config '{"quota": null}'
	one_each 1
}

# bats test_tags=once
@test "what is denied is told to an admin, and tried again when he says so" {
	fault create 'error "code": "denied"'
	job=$(job -N1 --exclusive --wrap 'sleep 1')
	within 20 told denied
	[ "$(new_rows)" = 0 ]
	burstctl retry
	within 60 runs_now "$job"
	one_each 1
}

# bats test_tags=once
@test "throttled creates wait, and none is bought twice" {
	sim_config '{"buckets": {"create": {"rate": 0.2, "burst": 1}}}'
	first=$(job -N1 --exclusive --wrap 'sleep 1')
	within 20 has_new_rows 1
	job=$(job -N2 --exclusive --wrap 'sleep 1')
	within 20 held_back create
	within 60 job_is "$job" COMPLETED
	job_is "$first" COMPLETED
	one_each 3
}

@test "within the limits that the cloud documents none of burstd's requests is throttled" {
	[ -n "${lab_documented-}" ] || skip "nobody has said what this cloud documents"
	# What the story before has launched counts, too, and a new burstd does not know of it.
	sleep 12
	own_limits=yes
	lab_stop burstd
	sed -i '/^[[:space:]]*\(rate\|list_every\) *=/d' /etc/burstd/burstd.conf
	sim_config "$lab_documented"
	sim DELETE /admin/stats >/dev/null
	lab_start burstd
	job=$(job -N3 --exclusive --wrap 'sleep 1')
	within 60 job_is "$job" COMPLETED
	one_each 3
	within 40 alive 0
	[ "$(sim_of /admin/stats '[.ops[].answers.rate // 0] | add')" = 0 ] || sim GET /admin/stats
	[ "$(sim_of /admin/stats '[.ops[].answers.rate // 0] | add')" = 0 ]
}

@test "a create whose reply is lost, or never came to be one: one machine for each node" {
	for how in 'drop-reply' 'drop-request' 'error "when": "after", "code": "internal"' 'garbage' 'truncate'; do
		rows=$(sim_rows)
		fault create "$how"
		job=$(job -N2 --exclusive --wrap 'sleep 1')
		within 60 job_is "$job" COMPLETED
		one_each 2
		calm
	done
}

# bats test_tags=once
@test "kill -9 between intent and create: one machine for each node in the end" {
	sim_hold create before
	job=$(job -N2 --exclusive --wrap 'sleep 1')
	within 20 sim_held
	lab_kill burstd
	sim_faults_clear
	lab_start burstd
	within 60 job_is "$job" COMPLETED
	one_each 2
}

@test "kill -9 between create and record: the machine is found and adopted" {
	sim_hold create after
	job=$(job -N2 --exclusive --wrap 'sleep 1')
	within 20 sim_held
	[ -n "${lab_buys_later-}" ] || [ "$(new_rows)" -gt 0 ]
	lab_kill burstd
	sim_faults_clear
	lab_start burstd
	within 60 job_is "$job" COMPLETED
	one_each 2
}

@test "with its journal lost burstd knows its machines by what the cloud says of them" {
	job=$(job -N2 --exclusive --wrap "$until_over")
	within 40 job_is "$job" RUNNING
	lab_stop burstd
	rm -f /var/lib/burstd/journal.db*
	lab_start burstd
	over "$job"
	within 20 job_is "$job" COMPLETED
	within 40 alive 0
	[ "$(new_rows)" = 2 ]
}

# bats test_tags=once
@test "a list that does not show them for a moment is no proof: the job goes on" {
	job=$(job -N2 --exclusive --wrap "$until_over")
	within 40 job_is "$job" RUNNING
	fault list empty
	sleep 3
	fault list 'error "code": "internal"'
	sleep 2
	job_is "$job" RUNNING
	over "$job"
	within 20 job_is "$job" COMPLETED
	one_each 2
}

# bats test_tags=once
@test "deletes that are lost, refused for now or throttled are asked for again" {
	for how in 'drop-reply' 'drop-request' 'error "code": "internal"' 'error "code": "rate"' 'error "code": "not-yet"'; do
		fault delete "$how"
		job=$(job -N1 --exclusive --wrap 'sleep 1')
		within 40 job_is "$job" COMPLETED
		within 60 alive 0
		within 30 burstd_has 0 ANY
	done
}

# bats test_tags=once
@test "kill -9 during a delete: the machine goes" {
	sim_hold delete before
	job=$(job -N1 --exclusive --wrap 'sleep 1')
	within 40 job_is "$job" COMPLETED
	within 20 sim_held
	lab_kill burstd
	sim_faults_clear
	lab_start burstd
	within 30 alive 0
	within 30 burstd_has 0 ANY
}

@test "a machine that the cloud takes: the job is requeued, and runs again on another" {
	job=$(job -N1 --exclusive --requeue --wrap '[ -n "${SLURM_RESTART_COUNT-}" ] || sleep 600')
	within 40 job_is "$job" RUNNING
	node=$(job_nodes "$job")
	sim_reclaim "$node" 1000
	# Where it is just not listed any more, slurmctld must have missed it as well, and burstd have asked slurmctld (30 s).
	within "$([ -n "${lab_shows_reclaim-}" ] && echo 30 || echo 75)" restarted "$job" 1
	within 60 job_is "$job" COMPLETED
	[ "$(new_rows)" = 2 ]
	[ -z "${lab_shows_reclaim-}" ] || burstctl events --tail 200 | grep -w "$node" | grep -q 'the provider took its capacity back'
}

# bats test_tags=once
@test "a machine that somebody else has deleted: the job is requeued, and runs again" {
	job=$(job -N1 --exclusive --requeue --wrap '[ -n "${SLURM_RESTART_COUNT-}" ] || sleep 600')
	within 40 job_is "$job" RUNNING
	sim_kill "$(job_nodes "$job")"
	within 30 restarted "$job" 1
	within 60 job_is "$job" COMPLETED
	[ "$(new_rows)" = 2 ]
}

@test "an admin asks before burstd runs whether the cloud would serve it, with a good credential and a wrong one" {
	lab_stop burstd
	sim DELETE /admin/stats >/dev/null
	run -0 burstctl provider check sim
	grep '^ok: credential: taken$' <<<"$output"
	grep '^ok: list: 0 instances are this cluster' <<<"$output"
	grep -E "^ok: (offer .* of )?pool \"h100\": .* $LAB_CURRENCY per hour" <<<"$output"
	run ! grep '^not ok' <<<"$output"
	[ "$(sim_of /admin/stats '[.ops[].answers.ok // 0] | add > 0')" = true ]
	# What is wrong is wrong by the cloud's answer alone.
	local key
	key=$(sed -n 's/^[[:space:]]*credential_file *= "\(.*\)"/\1/p' /etc/burstd/burstd.conf | head -n 1)
	install -o slurm -m 600 /dev/null /etc/burstd/wrong.key
	sed 's/$/x/' "$key" >/etc/burstd/wrong.key
	sed "s|$key|/etc/burstd/wrong.key|" /etc/burstd/burstd.conf >/etc/burstd/wrong.conf
	run -1 burstctl provider check sim /etc/burstd/wrong.conf
	grep '^not ok: credential: refused: .' <<<"$output"
	[ "$(burstctl provider check sim /etc/burstd/wrong.conf --json | jq .good)" = false ]
	[ "$(new_rows)" = 0 ]
	[ "$(sim_of /admin/stats '[.ops | (.create, .delete) | .answers | add] | add // 0')" = 0 ]
	lab_start burstd
}

@test "no duplicate and no leaked second in all of this" {
	calm
	# A delete that had to wait for the next burstd, or for the cloud's patience: the windows above are a few seconds each.
	audit 30s
}
