#!/usr/bin/env bats
# What can never run is refused as it is submitted, by job_submit.lua in a real slurmctld, with one sentence; and nothing
# else is, whatever has become of the file that it reads.

# Variables from the helper; scripts for the test to expand.
# shellcheck disable=SC2016,SC2030,SC2031,SC2034,SC2154
load helper

setup_file() {
	own_lab || return
	LAB_MAX_NODES=4
	LAB_OFFERS=$(lab_offer od eu-north-1a on-demand && lab_offer spot eu-north-1b spot)
	LAB_POOL='gres = "gpu:h100:8" node = "CPUs=8 RealMemory=1000" job_comment = true'
	LAB_SLURM_EXTRA='JobSubmitPlugins=lua
		NodeName=d[1-2],f[1-2] CPUs=8 RealMemory=1000 State=CLOUD Feature=cloud
		PartitionName=dear Nodes=d[1-2]
		PartitionName=far Nodes=f[1-2]
		PartitionName=own Nodes=own1
		NodeName=own1 CPUs=2 RealMemory=500 State=UNKNOWN'
	lab_files && lab_slurm_conf && lab_burstd_conf || return
	sed -i 's/^PartitionName=cloud Nodes=ALL/PartitionName=cloud Nodes=c[1-8]/' /etc/slurm/slurm.conf
	echo '10.77.255.1 own1' >>/etc/hosts
	cat >>/etc/burstd/burstd.conf <<-C
		pool "dear" { nodes = "d[1-2]" provider = "sim" type = "gpu_8x_h100" region = "eu-north-1" price = "29.52"
			max_nodes = 2 max_rate = "50" node = "CPUs=8 RealMemory=1000" }
		pool "far" { nodes = "f[1-2]" provider = "sim" type = "gpu_8x_h100" region = "eu-north-1" price = "29.52"
			max_nodes = 2 max_rate = "90" jurisdictions = {"US"} node = "CPUs=8 RealMemory=1000" }
		budget "students" { accounts = {"students"} amount = "100" period = "month" contact = "finance" }
		budget "slow" { accounts = {"slow"} rate = "50" }
	C
	cp "$lab_repo/slurm/job_submit.lua" /etc/slurm/
	lab_start_all
	within 30 table_has partition
}

setup() {
	:
}

table_has() {
	grep -q "^$1" /run/burstd/submit
}

# refused SENTENCE SBATCH-ARG...
refused() {
	local sentence=$1
	shift
	run job --wrap true "$@"
	if [ "$status" = 0 ] || [ "$(grep -c burstd: <<<"$output")" != 1 ] || ! grep -qxF "sbatch: error: burstd: $sentence" <<<"$output"; then
		echo "for $*: status $status, wanted: $sentence"
		echo "$output"
		return 1
	fi
}

# accepted SBATCH-ARG...: it waits in the queue, held, and is gone
accepted() {
	run job --hold --wrap true "$@"
	if [ "$status" != 0 ] || ! [[ $output =~ ^[0-9]+$ ]]; then
		echo "for $*: $output"
		return 1
	fi
	scancel "$output"
}

@test "the table is for slurmctld's user alone, and has no secret" {
	[ "$(stat -c '%a %U' /run/burstd/submit)" = '600 slurm' ]
	[ "$(tail -n 1 /run/burstd/submit)" = end ]
	run ! grep -qF "$SIM_TOKEN" /run/burstd/submit
	[ -z "$(find /run/burstd -name '*.tmp')" ]
}

@test "what can never run is refused with one sentence" {
	refused 'this job needs 5 nodes, and partition cloud can have 4 at most: pool h100 has max_nodes 4' -N 5
	refused 'this job needs 2 nodes, and partition dear can have 1 at most: pool dear has max_rate 50.00 EUR/h, and a node costs 29.52' \
		-p dear -N 2
	refused 'partition far can have no node: pool far buys none: US only: eu-north-1 is outside' -p far
	refused 'no node of partition cloud has GPUs of type a100: it has h100' --gres=gpu:a100:1
	refused 'this job needs 9 GPUs on a node, and a node of partition cloud has 8 at most' --gres=gpu:9
	refused 'this job needs 33 GPUs, and partition cloud can have 32 at most' --gpus=33
	refused 'nothing that partition cloud can buy meets --constraint=reserved' -C reserved
	refused 'nothing that partition cloud can buy meets --comment=burst:US' --comment=burst:US
	refused 'nothing that partition cloud can buy meets --comment=mine; burst:max_price=5' --comment='mine; burst:max_price=5'
	refused 'budget slow: this job costs 59.04 EUR an hour at least, and all of the budget is 50.00 EUR' -A slow --exclusive -N 2 -C ondemand
	refused 'budget students: this job costs 480.00 EUR at least until its time limit, and all of the budget is 100.00 EUR; ask finance' \
		-A students --exclusive -N 4 -t 10:00:00
	# Of several partitions each must be impossible.
	refused 'this job needs 5 nodes, and partition cloud can have 4 at most: pool h100 has max_nodes 4' -p cloud,dear -N 5
}

@test "srun and salloc print it too" {
	run lab_as researcher srun -N 5 true
	[ "$status" != 0 ]
	grep -qF 'error: burstd: this job needs 5 nodes' <<<"$output"
	run lab_as researcher salloc -N 5 true
	[ "$status" != 0 ]
	grep -qF 'error: burstd: this job needs 5 nodes' <<<"$output"
}

@test "what might run is accepted: at the limit, in another partition, by another budget, in a reservation" {
	accepted -N 4
	accepted --gres=gpu:h100:8 -N 4
	accepted --gpus=32
	accepted -p dear -N 1
	accepted -p dear,cloud -N 2
	accepted -p own
	accepted --comment=burst:EU,max_price=12
	accepted --comment='sunburst:US'
	accepted -A students --exclusive -N 4 -t 4:00:00
	accepted -A slow --exclusive -N 4 -C cloud -t 10:00
	accepted -A physics --exclusive -N 4 -t 10:00:00
	scontrol create reservation reservationname=r starttime=now duration=10 users=researcher nodes=own1 partition=own >/dev/null
	accepted --reservation=r -p own -N 1
	scontrol delete reservationname=r
	id=$(job -N 4 --gres=gpu:h100:8 -A physics -t 10 --wrap true)
	within 60 job_is "$id" COMPLETED
}

@test "a reload counts within seconds, with no word to slurmctld" {
	sed -i 's/max_nodes    = 4/max_nodes    = 6/' /etc/burstd/burstd.conf
	burstctl reload
	within 10 grep -q 'name=h100	can=6' /run/burstd/submit
	accepted -N 5
	refused 'this job needs 7 nodes, and partition cloud can have 6 at most: pool h100 has max_nodes 6' -N 7
}

@test "another slurm.conf than burstd has seen refuses nothing" {
	scontrol update partitionname=cloud nodes='c[1-7]'
	accepted -N 7
	scontrol update partitionname=cloud nodes='c[1-8]'
	refused 'this job needs 7 nodes, and partition cloud can have 6 at most: pool h100 has max_nodes 6' -N 7
}

@test "the site's own script is called first, and what it refuses is refused" {
	cat >/etc/slurm/job_submit_site.lua <<-'L'
		function slurm_job_submit(job, parts, uid)
			if job.name == "no" then
				slurm.log_user("the site says no")
				return slurm.ERROR
			end
			if job.name == "more" then job.min_nodes = 8 end
			return slurm.SUCCESS
		end
		function slurm_job_modify(job, record, parts, uid)
			if job.comment == "no" then return slurm.ERROR end
			return slurm.SUCCESS
		end
		return slurm.SUCCESS
	L
	sleep 1.1 # slurmctld compares whole seconds
	touch /etc/slurm/job_submit.lua
	run job --wrap true -J no -N 7
	[ "$status" != 0 ]
	grep -qF 'sbatch: error: the site says no' <<<"$output"
	run ! grep -qF burstd: <<<"$output"
	refused 'this job needs 8 nodes, and partition cloud can have 6 at most: pool h100 has max_nodes 6' -J more
	id=$(job --hold --wrap true)
	run ! scontrol update jobid="$id" comment=no
	scontrol update jobid="$id" comment=yes
	scancel "$id"
}

# slurmctld looks at the lengths of a job's texts only after its script, which has nothing to say of such a job.
@test "names without end are slurmctld's to refuse" {
	run job --wrap true -N 7 -p "$(printf 'cloud,%.0s' {1..20000})cloud"
	[ "$status" != 0 ]
	grep -qF 'parameter too long' <<<"$output"
	run ! grep -qF burstd: <<<"$output"
}

@test "a table that is missing, malformed or old refuses nothing, and slurmctld's log says how old it is" {
	lab_kill burstd
	cp -p /run/burstd/submit "$lab_dir/submit"
	refused 'this job needs 7 nodes, and partition cloud can have 6 at most: pool h100 has max_nodes 6' -N 7
	slurmctld_log_from_now
	rm /run/burstd/submit
	accepted -N 7
	slurmctld_log | grep -F 'burstd refuses no job at its submission: /run/burstd/submit cannot be read'
	head -c 300 "$lab_dir/submit" >/run/burstd/submit
	chown slurm /run/burstd/submit
	accepted -N 7
	slurmctld_log | grep -F '/run/burstd/submit is malformed'
	printf 'burstd-submit\t1\t%s\t5\t1234\nos.exit(1)\n' "$(date +%s)" >/run/burstd/submit
	accepted -N 7
	awk -v OFS='\t' -v then="$(($(date +%s) - 400))" 'BEGIN { FS = OFS } NR == 1 { $3 = then } { print }' "$lab_dir/submit" >/run/burstd/submit
	accepted -N 7
	slurmctld_log | grep -E '/run/burstd/submit is 40[0-9] s old'
	[ "$(slurmctld_log | grep -c 'refuses no job at its submission')" = 3 ]
	lab_start burstd
	within 30 table_has partition
	refused 'this job needs 7 nodes, and partition cloud can have 6 at most: pool h100 has max_nodes 6' -N 7
}
