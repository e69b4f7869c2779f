#!/usr/bin/env bats
# What the configuration no longer has, and what cannot be used: all the rest goes on (F58: a journal of another
# configuration).  A pool or a provider leaves over a restart with a job at work; a credential is missing.

# Variables from the helper; scripts for the job to expand.
# shellcheck disable=SC2016,SC2034,SC2154
load helper

setup() {
	calm
}

teardown() {
	[ -n "${BATS_TEST_COMPLETED-}" ] || lab_logs
	lab_stop burstd
	lab_burstd_conf
	lab_start burstd
}

# A second provider, that is the same cloud by another name, and a pool there: more nodes of the lab's.
second() {
	sed 's/c\[1-8\]/c[1-6]/' -i /etc/burstd/burstd.conf
	cat >>/etc/burstd/burstd.conf <<-C
		provider "far" { driver = "sim" url = "$lab_url" credential_file = "$1" settle = "$LAB_SETTLE" }
		pool "far" { nodes = "c[7-8]" provider = "far" type = "gpu_8x_h100" region = "eu-north-1" max_nodes = 2
			max_rate = "100" }
	C
}

# far_job: burstd with the second provider, and $job on a node of it until it is over or cancelled
far_job() {
	lab_stop burstd
	second /etc/burstd/sim.token
	lab_start burstd
	job=$(job -w c8 --exclusive --wrap "$until_over")
	within 30 job_is "$job" RUNNING
}

problems() {
	burstctl status --json | jq -r '.problems[]'
}

spent() {
	burstctl status --json | jq -r --arg p "$1" '.pools[] | select(.name == $p) | .spent'
}

@test "a pool leaves over a restart: its job goes on, its machine ends, its cost is shown" {
	far_job
	lab_stop burstd
	sed '/^pool "far"/,/}$/d' -i /etc/burstd/burstd.conf
	"$lab_dir/bin/burstd" --check /etc/burstd/burstd.conf
	lab_start burstd
	within 10 eval 'problems | grep "^pool far is not in /etc/burstd/burstd.conf any more; .* 1 node at 29.52 EUR/h"'
	burstctl status | grep '^far .*removed'
	# The rest works meanwhile, and a reload keeps it.
	other=$(job -w c1 --exclusive --wrap true)
	within 30 job_is "$other" COMPLETED
	burstctl reload
	job_is "$job" RUNNING
	over "$job"
	within 40 job_is "$job" COMPLETED
	within 30 alive 0
	within 10 burstd_has 0 ANY
	[ "$(spent far)" != 0.00 ]
	run ! grep -q 'pool far' <(problems)
	[ "$(curl -s http://127.0.0.1:9818/metrics | grep -c '^burstd_spent_total{pool="far"')" = 1 ]
}

# I18, F58: nothing says any more that the pool was there, but slurmctld has a job on its node.
@test "a pool leaves, and the journal is lost: its job goes on, its machine ends after it" {
	far_job
	lab_stop burstd
	sed '/^pool "far"/,/}$/d' -i /etc/burstd/burstd.conf
	rm -f /var/lib/burstd/journal.db*
	lab_start burstd
	within 60 eval 'problems | grep "slurmctld has its node c8 up, which no pool names"'
	sleep 8 # settle, and more
	job_is "$job" RUNNING
	alive 1
	over "$job"
	within 40 job_is "$job" COMPLETED
	within 90 alive 0
	within 20 eval '! problems | grep "no pool names"'
}

@test "a provider leaves over a restart: off, with its node; it is back, and the node is seen to" {
	far_job
	cp /etc/burstd/burstd.conf "$lab_dir/both.conf"
	lab_stop burstd
	sed '/^provider "far"/d; /^pool "far"/,/}$/d' -i /etc/burstd/burstd.conf
	lab_start burstd
	within 10 eval 'problems | grep "^provider far is off: .* can be neither seen nor deleted; put it back into"'
	[ "$(curl -s http://127.0.0.1:9818/metrics | sed -n 's/^burstd_provider_off{provider="far"} //p')" = 1 ]
	other=$(job -w c1 --exclusive --wrap true)
	within 30 job_is "$other" COMPLETED
	scancel "$job"
	within 20 node_is c8 POWERED_DOWN
	sleep 3
	alive 1 # nobody can delete it, and nobody says that it is gone
	burstd_has 1 deleting
	lab_stop burstd
	cp "$lab_dir/both.conf" /etc/burstd/burstd.conf
	lab_start burstd
	within 30 alive 0
	within 20 burstd_has 0 ANY
}

# docs/operations.md: with the account closed nobody can ask what is left there, so somebody must say it.
@test "a provider leaves for good: a section of its name that has nothing ends what is left of it" {
	far_job
	lab_stop burstd
	sed '/^provider "far"/d; /^pool "far"/,/}$/d' -i /etc/burstd/burstd.conf
	scancel "$job"
	lab_start burstd
	within 20 burstd_has 1 deleting
	lab_stop burstd
	sim_kill c8
	alive 0
	install -m 755 "$lab_repo/scripts/node/burst-static" "$lab_dir/bin/"
	cat >>/etc/burstd/burstd.conf <<-C
		provider "far" {
			driver = "static"
			program = "$lab_dir/bin/burst-static"
			on     = {"/bin/false", "%n"}
			off    = {"/bin/true", "%n"}
			status = {"/bin/echo", "%n", "off"}
			settle = "$LAB_SETTLE"
		}
	C
	"$lab_dir/bin/burstd" --check /etc/burstd/burstd.conf
	lab_start burstd
	within 30 burstd_has 0 ANY
	run ! grep -q 'provider far' <(problems)
	[ "$(spent far)" != 0.00 ]
	# With its last row gone the section may go, too.
	lab_stop burstd
	sed '/^provider "far" {/,/^}/d' -i /etc/burstd/burstd.conf
	lab_start burstd
	run ! grep -q 'far is' <(problems)
}

@test "a missing credential: that provider is off, the other buys; it is there, and so is the provider" {
	lab_stop burstd
	second /etc/burstd/far.token
	run -78 "$lab_dir/bin/burstd" --check /etc/burstd/burstd.conf
	lab_start burstd
	within 10 eval 'problems | grep "^provider far is off: credential_file: /etc/burstd/far.token: No such file"'
	burstctl status | grep '^far *off'
	run -1 burstctl plan --list c8
	[[ $output == *"provider far is off: credential_file: /etc/burstd/far.token"* ]]
	job=$(job -w c1 --exclusive --wrap true)
	within 30 job_is "$job" COMPLETED
	install -m 600 -o slurm /etc/burstd/sim.token /etc/burstd/far.token
	burstctl reload # or within a minute
	within 10 eval '! problems | grep "^provider far"'
	job=$(job -w c8 --exclusive --wrap true)
	within 40 job_is "$job" COMPLETED
	burstctl events | grep 'provider-on'
	calm
}

@test "no duplicate and no leaked second in all of this" {
	calm
	audit
}
