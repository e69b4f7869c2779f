#!/usr/bin/env bats
# A machine with nothing but its user-data becomes a node that has the cluster's keys: stage0, the claim, node-init, munged,
# slurmd configless, a job, the end.  Nothing of the lab is there (lab/bootstrap.sh); the keys are in a file.

# Variables from the helper; scripts for the machine to expand.
# shellcheck disable=SC2016,SC2034,SC2154
bats_require_minimum_version 1.5.0
LAB_BOOTSTRAP='file'
load helper

setup() {
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

@test "user-data alone makes a node of a machine, a job runs on it, and it is given back" {
	id=$(job -N2 --gres=gpu:8 --wrap 'srun sh -c "hostname; id -un; munge -n | unmunge | grep STATUS"')
	within 60 job_is "$id" COMPLETED
	# Names by the claim, the lab's user, and munge with the cluster's key.
	out=$lab_dir/home/job-$id.out
	[ "$(grep -c '^c[0-9]$' "$out")" = 2 ]
	[ "$(grep -c '^researcher$' "$out")" = 2 ]
	[ "$(grep -c 'STATUS: *Success' "$out")" = 2 ]
	# Configless, and configured by nothing that lay there before.
	for node in $(scontrol show hostnames "$(job_nodes "$id")"); do
		on "$node" test ! -e /etc/slurm -a ! -e /etc/munge -a ! -e /run/lab/pid
		on "$node" test -e /run/slurm/conf/slurm.conf
		on "$node" cmp /run/burst/munge/munge.key /dev/stdin </etc/munge/munge.key
		[ "$(on "$node" stat -c '%a %U' /run/burst/munge/munge.key)" = '400 munge' ]
		on "$node" grep -q ' /run/burst/munge tmpfs ' /proc/mounts
		# The claim is not there any more.
		on "$node" sh -c '! grep -rlE "claim_secret|[0-9a-f]{64}.*claim" /run/burst /var/lib/cloud'
	done
	event bootstrapped
	within 30 all_down
	within 20 alive 0
	audit
}

@test "a job gets at no user-data and no credential of its machine, and root does" {
	id=$(job --gres=gpu:8 --wrap 'for p in metadata/v1/user-data latest/user-data latest/meta-data/; do
		curl -sS -m 3 -o body http://169.254.169.254/$p; echo "said $?"; done; sleep 300')
	within 60 job_is "$id" RUNNING
	out=$lab_dir/home/job-$id.out
	within 20 eval '[ "$(grep -c "^said" $out)" = 3 ]'
	[ "$(grep -c '^said 7' "$out")" = 3 ]
	[ ! -e "$lab_dir/home/body" ]
	node=$(job_nodes "$id")
	run ! on "$node" setpriv --reuid=65534 --clear-groups curl -sS -m 3 http://169.254.169.254/metadata/v1/id
	on "$node" curl -sS -m 3 http://169.254.169.254/metadata/v1/user-data | grep -q '^URLS='
	no_more
}

@test "no key and no claim is in the user-data, in a log, in the journal or in the environment" {
	key=$(base64 -w0 /etc/munge/munge.key)
	id=$(job --gres=gpu:8 --wrap 'sleep 300')
	within 60 job_is "$id" RUNNING
	dir=$(machine "$(job_nodes "$id")")
	secret=$(sed -n "s/^ *printf %s '\([0-9a-f]*\)' >.*claim\$/\1/p" "$dir/user-data")
	[ ${#secret} = 64 ]
	run ! grep -qF "$key" "$dir/user-data"
	run ! grep -rqaF -e "$key" -e "$secret" /var/log "$dir/burst" "$dir/console.log"
	run ! grep -rqaF -e "$secret" /var/lib/burstd
	run ! grep -qaF -e "$key" -e "$secret" "/proc/$(lab_pid burstd)/environ" "/proc/$(lab_pid burstd)/cmdline"
	no_more
}

@test "the names of nodes that came later are known on those that were there" {
	one=$(job -w c1 --gres=gpu:8 --wrap 'sleep 300')
	within 60 job_is "$one" RUNNING
	two=$(job -w c2 --gres=gpu:8 --wrap 'sleep 300')
	within 60 job_is "$two" RUNNING
	within 20 on c1 getent hosts c2
	[ "$(on c1 getent hosts c2 | awk '{ print $1 }')" = "$(on c2 hostname -I | tr -d ' ')" ]
	on c2 getent hosts c1
	no_more
}

@test "a machine that lacks a GPU says so, ends, and another is bought" {
	gpus=$(cat "$lab_dir/image/etc/burstd/gpus")
	tail -n +2 <<<"$gpus" | image gpus
	id=$(job -w c3 --gres=gpu:8 --wrap 'true')
	within 60 event boot-failed '7 GPUs, 8 expected'
	image gpus <<<"$gpus"
	within 90 job_is "$id" COMPLETED
	[ "$(sim_of /admin/meter '[.rows[] | select(.name == "c3")] | length')" -ge 2 ]
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
