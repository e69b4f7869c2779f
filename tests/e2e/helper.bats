#!/usr/bin/env bats
# What the other files ask with: a tool that fails is an answer to none of their questions.  There is no lab here.

# Functions stand in for tools.
# shellcheck disable=SC2317
load helper

setup_file() {
	:
}

teardown() {
	:
}

@test "a tool that fails is no good word" {
	scontrol() { return 1; }
	squeue() { return 1; }
	burstctl() { return 1; }
	curl() { return 22; }
	run ! no_jobs
	run ! node_is c1 IDLE
	run ! node_is_not c1 DOWN
	run ! powered_down c1
	run ! burstd_has 0 ANY
	run ! alive 0
	run ! sim_held
}

@test "nor is one that says nothing of a node" {
	scontrol() { :; }
	run ! node_is c1 IDLE
	run ! node_is_not c1 DOWN
}

@test "what they say counts" {
	scontrol() { printf 'NodeName=c%s State=IDLE+CLOUD+POWERED_DOWN Weight=1 Reason=it was DOWN\n' 1 2; }
	squeue() { :; }
	burstctl() { echo '{"nodes":[{"name":"c1","state":"ready","older":0},{"name":"c2","state":"gone","older":0}]}'; }
	no_jobs
	node_is 'c[1-2]' POWERED_DOWN
	run ! node_is 'c[1-2]' DRAIN
	node_is_not 'c[1-2]' DRAIN
	powered_down 'c[1-2]'
	burstd_has 1 ANY
	burstd_has 0 booting
	run ! burstd_has 0 ready
	squeue() { echo 7; }
	run ! no_jobs
}

@test "what is late is late after its seconds; where a look takes long, after some looks" {
	looks=0
	slow() {
		looks=$((looks + 1))
		sleep 0.4
		[ "$looks" = "$1" ]
	}
	run ! lab_wait 1 slow 4
	export LAB_TRIES=4
	lab_wait 1 slow 4
	looks=0
	run ! lab_wait 1 slow 5
	began=$EPOCHREALTIME
	run ! lab_wait 1 false
	[ $((${EPOCHREALTIME/./} - ${began/./})) -lt 2000000 ]
}
