#!/usr/bin/env bats
# A new image: a few machines try it, then all get it, and those with the old one go when they are idle; one that does not
# work is stopped by itself (ADR 72).  No job ends for it.

# Variables from the helper; what is to be expanded again and again.
# shellcheck disable=SC2016,SC2034,SC2154
load helper
LAB_POOL='image = "one"
			image_trial = "1h"
			image_at_once = 1'

# pool LINE: in place of the line of that option, and burstd reads it
pool() {
	sed "/^[[:space:]]*${1%% *} /d; s/^\([[:space:]]*\)max_nodes .*/&\n$1/" -i /etc/burstd/burstd.conf
	burstctl reload
}

setup() {
	calm
	sim_config '{"image_broken": ["bad*"]}'
}

stage() {
	burstctl image status h100 --json | jq -r '.images[0].stage'
}

# json FILTER: of the one offer
json() {
	burstctl image status h100 --json | jq -c ".images[0] | $1"
}

stage_is() {
	[ "$(stage)" = "$1" ]
}

# images JOB: what the nodes of the job were made from
images() {
	local node
	for node in $(scontrol show hostnames "$(job_nodes "$1")"); do
		burstctl node show "$node" --json | jq -r .image
	done | sort | paste -sd,
}

# settle IMAGE: all have it, by a job that has shown that it works; and none is up
settle() {
	pool "image = \"$1\""
	job=$(job -N1 --exclusive --wrap true)
	within 60 job_is "$job" COMPLETED
	within 40 stage_is settled
	within 40 alive 0
}

events() {
	burstctl events --json | jq -r .type | grep -c "^$1\$" || :
}

@test "one canary beside the old image, a job that runs on, and in the end all have the new one" {
	long=$(job -N1 --exclusive --wrap "$until_over")
	within 60 job_is "$long" RUNNING
	[ "$(images "$long")" = one ]
	run -0 burstctl image status
	[[ $output == *h100*settled*one* ]]
	run -0 pool 'image = "two"'
	[[ $output == *'pool "h100" image: one -> two'* ]]
	within 10 stage_is canary
	job=$(job -N3 --exclusive --wrap "$until_over")
	within 60 job_is "$job" RUNNING
	[ "$(images "$job")" = one,one,two ]
	run -0 burstctl image status h100
	[[ $output == *'two is tried: 0 of 1 canaries work, 1 are on trial; all others get one'* ]]
	[ "$(json '[.stage, .old, .image, .buys, .passed, .untried]')" = '["canary","one","two","one",0,1]' ]
	over "$job"
	within 30 stage_is rolling
	[ "$(json '[.stage, .old, .image, .buys, .untried, .with_others > 0]')" = '["rolling","one","two","two",0,true]' ]
	# Its node gets no more jobs, and it has all the time that it needs.
	node=$(job_nodes "$long")
	within 20 eval 'scontrol -o show node "$node" | grep -q "State=[^ ]*POWER_DOWN"'
	sleep 5
	job_is "$long" RUNNING
	over "$long"
	within 20 job_is "$long" COMPLETED
	within 40 stage_is settled
	[ "$(metric 'burstd_pool_image_offers{pool="h100",stage="settled"}')" = 1 ]
	job=$(job -N2 --exclusive --wrap "$until_over")
	within 60 job_is "$job" RUNNING
	[ "$(images "$job")" = two,two ]
	over "$job"
}

@test "a canary that does not boot stops it: the job runs with the old image, the pool stays open" {
	settle two
	stopped=$(events image-stopped)
	pool 'boot_timeout = "10s"'
	pool 'image = "bad-3"'
	job=$(job -N1 --exclusive --wrap "$until_over")
	within 60 stage_is stopped
	run -0 burstctl status
	echo "$output"
	[[ $output == *'pool h100: its new image bad-3 was stopped: c'*'came up wrong'*'it buys with two'* ]]
	[ "$(metric 'burstd_pool_image_offers{pool="h100",stage="stopped"}')" = 1 ]
	[ "$(metric 'burstd_pool_blocked{pool="h100"}')" = 0 ]
	[ "$(events image-stopped)" = $((stopped + 1)) ]
	pool 'boot_timeout = "60s"'
	within 180 job_is "$job" RUNNING
	[ "$(images "$job")" = two ]
	over "$job"
	within 20 job_is "$job" COMPLETED
	# Once more, with the same end, and the old one again.
	within 40 alive 0
	pool 'boot_timeout = "10s"'
	run -0 burstctl image resume h100
	stage_is canary
	job=$(job -N1 --exclusive --wrap "$until_over")
	within 60 stage_is stopped
	scancel "$job"
	pool 'boot_timeout = "60s"'
	pool 'image = "two"'
	within 40 stage_is settled
}

@test "kill -9 with a canary on its way, and with machines to be replaced" {
	settle two
	long=$(job -N1 --exclusive --wrap "$until_over")
	within 60 job_is "$long" RUNNING
	hold_boots
	pool 'image = "four"'
	job=$(job -N2 --exclusive --wrap "$until_over")
	within 30 burstd_has 2 booting
	lab_kill burstd
	lab_start burstd
	stage_is canary
	[ "$(burstctl image status --json | jq '.images[0].untried')" = 1 ]
	let_boot
	within 60 job_is "$job" RUNNING
	[ "$(images "$job")" = four,two ]
	over "$job"
	within 30 stage_is rolling
	lab_kill burstd
	lab_start burstd
	stage_is rolling
	job_is "$long" RUNNING
	over "$long"
	within 20 job_is "$long" COMPLETED
	within 60 stage_is settled
	[ "$(burstctl image status --json | jq -r '.images[0].image')" = four ]
}

@test "an image that the cloud does not know: the job starts with the old one, and its admin reads why" {
	settle two
	[ "$(json '[.stage, .old, .image, .buys, .passed, .untried]')" = '["settled","two","two","two",0,0]' ]
	sim_config '{"image_broken": ["bad*"], "image_unknown": ["typo*"]}'
	pool 'image = "typo-1"'
	[ "$(json '[.stage, .old, .image, .buys, .canaries]')" = '["canary","two","typo-1","two",1]' ]
	job=$(job -N1 --exclusive --wrap "$until_over")
	within 60 job_is "$job" RUNNING
	[ "$(images "$job")" = two ]
	[ "$(json '[.stage, .old, .image, .buys]')" = '["stopped","two","typo-1","two"]' ]
	[[ $(json .why) == *'the purchase of c'*' with it is refused: '*'no such image'* ]]
	run -0 burstctl status
	[[ $output == *'pool h100: its new image typo-1 was stopped: the purchase of c'*'no such image'*'it buys with two'* ]]
	[ "$(metric 'burstd_pool_blocked{pool="h100"}')" = 0 ]
	over "$job"
	sim_config '{"image_unknown": []}'
	pool 'image = "two"'
	within 60 stage_is settled
}

@test "an admin stops it, and tries it once more" {
	settle two
	pool 'image = "five"'
	job=$(job -N1 --exclusive --wrap "$until_over")
	within 60 job_is "$job" RUNNING
	[ "$(images "$job")" = five ]
	run -0 burstctl image stop h100
	[ "$output" = "the new image is stopped in 1 offer" ]
	run -0 burstctl image stop h100
	[ "$output" = "no new image is on its way" ]
	run -0 burstctl image status
	[[ $output == *stopped*'ordered by '* ]]
	# The job on it runs to its end; then its machine goes.
	sleep 3
	job_is "$job" RUNNING
	over "$job"
	within 20 job_is "$job" COMPLETED
	within 40 alive 0
	run -1 burstctl image stop h200
	[[ $output == *'no pool is named "h200"'* ]]
	run -0 burstctl image resume h100
	settle five
}

@test "0 duplicate and 0 leaked seconds in all of this" {
	calm
	audit 30s
}
