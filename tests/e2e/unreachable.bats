#!/usr/bin/env bats
# A pool with two providers, of which one refuses connections (F26; docs/placement.md): its nodes are bought elsewhere
# where that is safe, nothing is bought twice, and jobs are told which it is.

# Variables from the helper; scripts for the job to expand.
# shellcheck disable=SC2016,SC2034,SC2154
LAB_NODES=40 LAB_MAX_RATE=100000
load helper
LAB_RESUME_TIMEOUT=200
near='offer "near" { provider = "sim" type = "gpu_8x_h100" region = "eu-north-1" zone = "eu-north-1a" market = "on-demand" price = "29.52" }'
far='offer "far" { provider = "far" type = "gpu_8x_h100" region = "eu-north-1" zone = "eu-north-1b" market = "on-demand" price = "29.52" }'
LAB_OFFERS="$far $near"

lab_providers() {
	lab_provider sim eu-north-1
	cat <<-C
		provider "far" {
			driver            = "sim"
			url               = "http://127.0.0.1:8901"
			credential_file   = "/etc/burstd/sim.token"
			settle            = "$LAB_SETTLE"
			cooldown          = "$LAB_COOLDOWN"
			unreachable_after = "5s"
		}
	C
}

# Its machines never boot: what is bought there stays on its way.
far_is_there() {
	lab_running far || lab_spawn far root "$lab_dir/bin/simcloud" --listen 127.0.0.1:8901 --token-file /etc/simcloud/token \
		--subnet 10.78.0.0/16 --seed 2
	nft delete table ip far 2>/dev/null || true
	within 10 far_of /admin/stats .
}

far_is_away() {
	nft -f - <<<'table ip far { chain out { type filter hook output priority 0; tcp dport 8901 reject with tcp reset; }; }'
}

far_of() {
	curl -sS --fail-with-body --max-time 10 -H "Authorization: Bearer $SIM_TOKEN" "http://127.0.0.1:8901$1" | jq -r "$2"
}

far_alive() { # N
	[ "$(far_of /admin/instances '[.instances[] | select(.state != "ended")] | length')" = "$1" ]
}

comment_has() { # JOB WORDS
	scontrol -o show job "$1" | sed -n 's/.* AdminComment=\(.*\)  *StdErr=.*/\1/p' | grep -qF -- "$2"
}

# Its first answer, and only that, ends what the test before has made of it.
far_answers() {
	burstctl status --json | jq -e '.providers[] | select(.name == "far") | .ok'
}

setup() {
	far_is_there
	within 40 far_answers
	calm
	rows=$(sim_rows)
}

teardown() {
	[ -n "${BATS_TEST_COMPLETED-}" ] || lab_logs
	nft delete table ip far 2>/dev/null || true
}

new_rows() {
	echo $(($(sim_rows) - rows))
}

@test "the first provider refuses connections: the job runs on the second one's machines, and status says which it is" {
	far_is_away
	job=$(job -N2 --exclusive --wrap 'sleep 1')
	within 60 job_is "$job" COMPLETED
	[ "$(new_rows)" = 2 ]
	burstctl status | grep -q 'provider far does not answer'
	burstctl events --json | jq -se 'any(.type == "provider-away" and (.detail | startswith("far: ")))'
	nft delete table ip far
	within 40 eval "burstctl events --json | jq -se 'any(.type == \"provider-back\" and .detail == \"far\")'"
	within 40 burstd_has 0 ANY # a create in doubt waits for two of its lists
}

@test "it refuses connections from the start on: the journal knows what is there, and the job runs elsewhere" {
	lab_stop burstd
	far_is_away
	lab_start burstd
	job=$(job -N2 --exclusive --wrap 'sleep 1')
	within 60 job_is "$job" COMPLETED
	[ "$(new_rows)" = 2 ]
}

@test "it refuses connections after the journal was lost, and has the job's machine: no other is bought, and the job is told" {
	job=$(job -N1 --exclusive --wrap 'sleep 1')
	within 20 far_alive 1
	lab_stop burstd
	far_is_away
	rm -f /var/lib/burstd/journal.db*
	lab_start burstd
	within 60 comment_has "$job" 'far has not listed its instances since the journal was lost'
	burstctl status | grep -q 'far has not listed its instances'
	[ "$(new_rows)" = 0 ]
	lab_stop burstd # a restart makes nothing clear
	lab_start burstd
	sleep 10
	[ "$(new_rows)" = 0 ]
	nft delete table ip far
	scancel "$job"
	within 60 far_alive 0
	[ "$(far_of /admin/meter '.rows | length')" = 1 ]
	[ "$(new_rows)" = 0 ]
}

@test "an older journal is put back while it refuses connections: likewise, and all is well when it is there again" {
	lab_stop burstd
	cp -p /var/lib/burstd/journal.db "$BATS_TEST_TMPDIR/older.db"
	lab_start burstd
	job=$(job -N1 --exclusive --wrap 'sleep 1')
	within 20 far_alive 1
	lab_stop burstd
	far_is_away
	rm -f /var/lib/burstd/journal.db*
	cp -p "$BATS_TEST_TMPDIR/older.db" /var/lib/burstd/journal.db
	lab_start burstd
	grep -q 'the journal may be an older copy' /var/log/burstd.log
	within 60 comment_has "$job" 'far has not listed its instances since the journal was lost'
	[ "$(new_rows)" = 0 ]
	nft delete table ip far
	scancel "$job"
	within 60 far_alive 0
	far_is_away # now it is known what it has
	job=$(job -N1 --exclusive --wrap 'sleep 1')
	within 60 job_is "$job" COMPLETED
	[ "$(new_rows)" = 1 ]
}

# Each meter alone, and both as one: a node that runs at the one and at the other is a duplicate too.  What is at a provider
# that refuses connections cannot be deleted meanwhile: its grace is longer.
@test "no duplicate and no leaked second in all of this, at either provider or between them" {
	nft delete table ip far 2>/dev/null || true
	calm
	within 40 far_alive 0
	audit
	far_of /admin/meter . >"$lab_dir/far.json"
	# One for each job that was meant to have it there: what was asked of it while it refused never came.
	[ "$(jq '.rows | length' "$lab_dir/far.json")" = 2 ]
	jq -s '.[0] + {rows: map(.rows) | add}' "$lab_dir/meter.json" "$lab_dir/far.json" >"$lab_dir/both.json"
	for meter in far both; do
		"$lab_dir/bin/simcloud" audit --meter "$lab_dir/$meter.json" --wanted "$lab_dir/wanted" || {
			cat "$lab_dir/wanted" "$lab_dir/$meter.json"
			return 1
		}
	done
}
