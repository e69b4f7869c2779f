#!/usr/bin/env bats
# A machine with nothing but its user-data, as in bootstrap.bats, and what may go wrong: with its hardware, with burstd while
# it boots, with its keys, and with burstd when it is a node.

# Variables from the helper; scripts for the machine to expand.
# shellcheck disable=SC2016,SC2034,SC2154
bats_require_minimum_version 1.5.0
LAB_BOOTSTRAP='file' LAB_DEADMAN=10s
load helper
LAB_OFFERS="$(lab_offer first eu-north-1a on-demand) $(lab_offer other eu-north-1b on-demand)"

setup() {
	# A story that changed it and failed must not break those after it.
	[ ! -e "$lab_dir/slurm.conf" ] || slurmctld_is_as_before
	slurmctld_log_from_now
}

# node_show NODE: what burstd says of it, as JSON
node_show() {
	burstctl node show "$1" --json
}

# event TYPE [WORDS]: is there one of this type that says so?
event() {
	burstctl events --json | grep "\"$1\"" | grep -q -- "${2-}"
}

no_more() {
	scancel -u researcher
	calm
}

# The cloud sells at two places.
places() {
	local offer='"type": "gpu_8x_h100", "region": "eu-north-1", "market": "on-demand", "price": "29.52", "currency": "EUR", "capacity": null'
	sim_config "{\"offers\": [{$offer, \"zone\": \"eu-north-1a\"}, {$offer, \"zone\": \"eu-north-1b\"}]}"
}

@test "a machine that lacks a GPU says so, ends, and another is bought elsewhere" {
	places
	gpus=$(cat "$lab_dir/image/etc/burstd/gpus")
	tail -n +2 <<<"$gpus" | image gpus
	id=$(job --gres=gpu:8 --wrap 'true')
	within 60 event boot-failed '7 GPUs, 8 expected'
	image gpus <<<"$gpus"
	node=$(burstctl events --json | grep '"boot-failed"' | grep -o '"node": *"[^"]*"' | head -n1 | cut -d'"' -f4)
	within 10 eval 'node_show "$node" | jq -e ".console.text | contains(\"7 GPUs, 8 expected\")"'
	node_show "$node" | jq -e '.console | .generation == 1 and .instance != ""'
	within 20 event job-postponed "job $id,"
	within 30 eval '[ "$(sim_open)" = 0 ]'
	scontrol update jobid="$id" starttime=now # it need not wait for its time
	within 60 job_is "$id" COMPLETED
	[ "$(sim_of /admin/meter '[.rows[].zone] | join(" ")')" = 'eu-north-1a eu-north-1b' ]
	no_more
}

# slurmctld_says SED: slurm.conf is edited, and everybody reads it
slurmctld_says() {
	sed -i -E "$1" /etc/slurm/slurm.conf
	lab_stop burstd
	lab_stop slurmctld
	lab_start slurmctld
	lab_start burstd
}

slurmctld_is_as_before() {
	cp "$lab_dir/slurm.conf" /etc/slurm/slurm.conf
	slurmctld_says '/^$/d'
	rm "$lab_dir/slurm.conf"
}

@test "a machine that slurmctld would not take, for it is too small, says so before it registers" {
	cp /etc/slurm/slurm.conf "$lab_dir/slurm.conf"
	slurmctld_says '/^SlurmdParameters=/d; s/^(NodeName=DEFAULT CPUs=)8/\160000/'
	id=$(job -w c3 --gres=gpu:8 --wrap 'true')
	within 60 event boot-failed 'hardware: CPUs=[0-9]*, 60000 expected'
	scancel "$id"
	slurmctld_is_as_before
	no_more
}

@test "kill -9 between the claim and its confirmation costs neither the node nor its job" {
	image node-init.conf <<-C
		$(cat "$lab_dir/image/etc/burstd/node-init.conf")
		munged_start = until [ -e /tmp/go ]; do sleep 0.1; done; mkdir -p /run/munge; chmod 755 /run/munge; chown munge /run/munge; setpriv --reuid=munge --regid=munge --clear-groups munged --key-file=/run/burst/munge/munge.key --log-file=/run/burst/munge/munged.log --seed-file=/run/burst/munge/seed
	C
	id=$(job -w c4 --gres=gpu:8 --wrap 'true')
	within 60 on c4 test -e /run/burst/munge/munge.key
	lab_kill burstd
	lab_start burstd
	on c4 touch /tmp/go
	sed -i '/^munged_start/d' "$lab_dir/image/etc/burstd/node-init.conf"
	within 60 job_is "$id" COMPLETED
	[ "$(sim_of /admin/meter '[.rows[] | select(.name == "c4")] | length')" = 1 ]
	no_more
}

@test "slurmctld refuses a node that has another munge key" {
	id=$(job -w c5 --gres=gpu:8 --wrap 'sleep 300')
	within 60 job_is "$id" RUNNING
	# A machine beside it that says it is c6, with a key of its own.
	on c5 sh -c 'mkdir -m 755 /tmp/m && head -c 128 /dev/urandom >/tmp/m/key && chown -R munge /tmp/m && chmod 400 /tmp/m/key &&
		setpriv --reuid=munge --regid=munge --clear-groups munged --key-file=/tmp/m/key --socket=/tmp/m/socket \
			--pid-file=/tmp/m/pid --log-file=/tmp/m/log --seed-file=/tmp/m/seed'
	on c5 sh -c 'munge -S /tmp/m/socket -n | unmunge -S /tmp/m/socket' | grep -q Success
	run on c5 unshare -m sh -c 'mount --bind /tmp/m/socket /run/munge/munge.socket.2; timeout 20 slurmd --conf-server 10.77.0.1:6817 -N c6 -D'
	[ "$status" != 0 ]
	within 10 eval 'slurmctld_log | grep -qiE "munge|auth.*(fail|invalid|credential)"'
	node_is c6 POWERED_DOWN
	no_more
}

@test "burstd hears a node's agent; when nobody answers it any more the node puts itself out, job or no job" {
	echo 'agent_line = deadman_job = 5s' >>"$lab_dir/image/etc/burstd/node-init.conf"
	id=$(job -w c7 --gres=gpu:8 --wrap 'sleep 300')
	within 60 job_is "$id" RUNNING
	within 20 eval 'node_show c7 | jq -e "[.. | .heartbeat_ms? // 0] | max > 0"'
	[ "$(sim_open)" = 1 ]
	lab_kill burstd
	within 60 eval '[ "$(sim_open)" = 0 ]'
	grep -qh 'powering off: no burstd has answered' "$lab_dir"/sim/*/burst/agent.log
	lab_start burstd
	no_more
}
