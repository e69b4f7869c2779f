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

# event TYPE [WORDS]: is there one of this type that says so?
event() {
	burstctl events --json | grep "\"$1\"" | grep -q -- "${2-}"
}

no_more() {
	scancel -u researcher
	calm
}

@test "user-data alone makes a node of a machine, a job runs on it, and it is given back" {
	# A file that a program is just replacing cannot be read: no machine reads the cluster's.
	touch /etc/simcloud/replaced
	mount --bind /proc/self/mem /etc/simcloud/replaced
	# It stays until we have looked.
	id=$(job -N2 --gres=gpu:8 --wrap 'srun sh -c "hostname; id -un; munge -n | unmunge | grep STATUS"
		echo ran; until [ -e looked ]; do sleep 0.2; done')
	out=$lab_dir/home/job-$id.out
	within 60 grep -q '^ran$' "$out"
	umount /etc/simcloud/replaced
	# Names by the claim, the lab's user, and munge with the cluster's key.
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
		# Whose metadata service is watched for notices, whatever signs for the machine.
		on "$node" grep -qxF "provider = $LAB_CLOUD" /run/burst/agent.conf
		# The claim is not there any more.
		on "$node" sh -c '! grep -rlE "claim_secret|[0-9a-f]{64}.*claim" /run/burst /var/lib/cloud'
	done
	event bootstrapped
	event hardware 'CPUs=[0-9][0-9]* .*RealMemory=[0-9]'
	touch "$lab_dir/home/looked"
	within 30 job_is "$id" COMPLETED
	# What was proved, and by what.
	case $LAB_CLOUD in
	aws) event claimed 'by its identity document' ;;
	*) event claimed 'by its address, and a port that only root can use' ;;
	esac
	run ! grep -q weak <(burstctl nodes)
	within 30 all_down
	within 20 alive 0
	audit
}

@test "user-data read by a job's uid through IMDS: refused, with all else that is there; root may" {
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
	# Nobody else of burstd's user may look at its memory: what could be dumped is its own in /proc.
	[ "$(stat -c %U "/proc/$(lab_pid burstd)/fd")" = root ]
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

@test "a machine of which nothing but its address is proved is called weak wherever it is shown" {
	cp /etc/burstd/burstd.conf "$lab_dir/burstd.conf"
	sed -i 's/^provider ".*{$/&\nattest = "address"/' /etc/burstd/burstd.conf
	lab_stop burstd
	lab_start burstd
	id=$(job -w c7 --gres=gpu:8 --wrap 'sleep 300')
	within 60 job_is "$id" RUNNING
	burstctl nodes | grep '\<c7\>' | grep -q 'attest=weak'
	burstctl node show c7 | grep -q 'attest=weak'
	[ "$(burstctl node show c7 --json | jq -r '.. | .boot? // empty | .attest')" = weak ]
	event claimed 'by its address alone'
	on c7 grep -qxF "provider = $LAB_CLOUD" /run/burst/agent.conf
	cp "$lab_dir/burstd.conf" /etc/burstd/burstd.conf
	lab_stop burstd
	lab_start burstd
	no_more
}
