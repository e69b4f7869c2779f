#!/usr/bin/env bats
# The batch scripts of docs/examples run, as a researcher submits them, on machines that burstd buys; and around each job what
# slurm/prolog, task-prolog and epilog do on a real slurmd.

# Variables from the helper; scripts for the job to expand.
# shellcheck disable=SC2016,SC2030,SC2031,SC2034,SC2154
load helper

setup_file() {
	own_lab || return
	LAB_NODES=8
	LAB_POOL='checkpoint_signal = "USR1"'
	LAB_SLURM_EXTRA="NodeName=m1 CPUs=8 RealMemory=1000 Gres=gpu:a100_3g.20gb:2 State=CLOUD Feature=cloud
		PartitionName=mig Nodes=m1
		Prolog=$lab_dir/node/prolog
		Epilog=$lab_dir/node/epilog
		TaskProlog=$lab_dir/node/task-prolog
		PrologFlags=Alloc"
	lab_files && lab_slurm_conf && lab_burstd_conf || return
	sed -i -e 's/^PartitionName=cloud Nodes=ALL/PartitionName=cloud Nodes=c[1-8]/' \
		-e 's/^SchedulerParameters=.*/&,nohold_on_prolog_fail/' /etc/slurm/slurm.conf
	printf 'NodeName=c[1-8] Name=gpu Type=h100 File=%s\nNodeName=m1 Name=gpu Type=a100_3g.20gb File=%s\n' \
		"$lab_dir/dev/gpu[0-7]" "$lab_dir/dev/gpu[0-1]" >/etc/slurm/gres.conf
	cat >>/etc/burstd/burstd.conf <<-C
		pool "mig" { nodes = "m1" provider = "sim" type = "gpu_8x_h100" region = "eu-north-1" max_nodes = 1 max_rate = "60"
			gres = "gpu:a100_3g.20gb:2" node = "CPUs=8 RealMemory=1000" }
	C
	# The scripts for nodes, with tools and a /sys of the test's.  An instance does not see the lab's /etc/burstd.
	mkdir -p "$lab_dir/node/bin" "$lab_dir/sys" "$lab_dir/scratch"
	cp "$lab_repo"/slurm/{prolog,epilog,task-prolog,gpu-health} "$lab_dir/node/"
	sed -i "s|/etc/burstd/node-init.conf|$lab_dir/node/conf|" "$lab_dir"/node/{prolog,epilog,task-prolog,gpu-health}
	printf '%s\n' "path = $lab_dir/node/bin:$PATH" "sysfs = $lab_dir/sys" "job_scratch = $lab_dir/scratch" >"$lab_dir/node/conf"
	chmod -R a+rX "$lab_dir/node" "$lab_dir/scratch"
	lab_dirs researcher 755 "$lab_dir/home/examples"
	cp "$lab_repo"/docs/examples/* "$lab_dir/home/examples/"
	chown -R researcher "$lab_dir/home/examples"
	# Where PyTorch and Ray are not installed, others stand in for them.
	cp -r "$lab_repo/tests/e2e/examples" "$lab_dir/standins"
	mv "$lab_dir/standins/ray-cli" "$lab_dir/standins/ray-command"
	mkdir "$lab_dir/standins/bin"
	command -v torchrun >/dev/null || stand_in torch torchrun torchrun
	python3 -c 'import deepspeed' 2>/dev/null || stand_in deepspeed deepspeed-command deepspeed
	command -v ray >/dev/null || stand_in ray ray-command ray
	chmod -R a+rX "$lab_dir/standins"
	lab_start_all
	# All at once: most of the time machines boot.
	torchrun=$(example torchrun.sbatch) && deepspeed=$(example deepspeed.sbatch) && checkpoint=$(example checkpoint.sbatch 60) && mig=$(example -p mig mig.sbatch) &&
		ray=$(example ray.sbatch) || return
	read -r sweep collect <<<"$(cd "$lab_dir/home/examples" && lab_as researcher bash sweep.sh -o out-%j)"
	export torchrun deepspeed checkpoint mig ray sweep collect
}

# stand_in PACKAGE PROGRAM NAME
stand_in() {
	echo "# $3 is not installed here: a stand-in runs" >&3
	mkdir -p "$lab_dir/standins/lib"
	mv "$lab_dir/standins/$1" "$lab_dir/standins/lib/$1"
	mv "$lab_dir/standins/$2" "$lab_dir/standins/bin/$3"
}

setup() {
	:
}

# example ARG...: sbatch in the directory of the examples
example() {
	PATH=$lab_dir/standins/bin:$PATH PYTHONPATH=$lab_dir/standins/lib lab_as researcher sbatch --parsable \
		-D "$lab_dir/home/examples" -o 'out-%j' --open-mode=append "$@"
}

out() {
	cat "$lab_dir/home/examples/out-$1"
}

@test "a checkpoint at the signal, back into the queue, and on from there" {
	id=$checkpoint
	within 30 grep -q '"step": [1-9]0' "$lab_dir/home/examples/checkpoint.json"
	scancel --signal=USR1 --batch "$id"
	within 60 job_is "$id" COMPLETED
	out "$id"
	[ "$(out "$id" | sed -n 's/^goes on at step //p')" = "$(out "$id" | sed -n 's/^ends at step //p' | head -n 1)" ]
	[ "$(out "$id" | sed -n 's/^ends at step //p' | tail -n 1)" = 60 ]
}

@test "torchrun on two nodes, sixteen processes that meet at the first" {
	within 60 job_is "$torchrun" COMPLETED
	out "$torchrun"
	[ "$(out "$torchrun" | grep -c 'of 16: the sum is 120$')" = 16 ]
}

@test "DeepSpeed on two nodes, by its own launcher and without ssh" {
	within 90 job_is "$deepspeed" COMPLETED
	out "$deepspeed"
	[ "$(out "$deepspeed" | grep -cE '^rank [0-9]+ of 16: 10 steps, the last loss is ')" = 16 ]
	[ ! -e "$lab_dir/home/examples/hosts-$deepspeed" ]
}

@test "a sweep, two tasks at a time, and a job when all have succeeded" {
	within 60 job_is "$collect" COMPLETED
	[ "$(cat "$lab_dir/home/examples/results")" = $'1 1\n2 4\n3 9\n4 16' ]
}

@test "a part of a GPU, by its name" {
	within 60 job_is "$mig" COMPLETED
	out "$mig" | grep -E '^this job has [01] of m1$'
}

@test "Ray on two nodes" {
	within 60 job_is "$ray" COMPLETED
	out "$ray" | grep -x '2 nodes, the sum is 285'
}

@test "around a job: a directory of its own, MASTER_ADDR, and gone when it ends" {
	id=$(example -N 2 --wrap 'srun sh -c "test -w \$TMPDIR && echo \$TMPDIR \$BURST_SCRATCH \$MASTER_ADDR \$MASTER_PORT"')
	within 60 job_is "$id" COMPLETED
	dir=$lab_dir/scratch/job-$id
	first=$(scontrol show hostnames "$(job_nodes "$id")" | head -n 1)
	out "$id"
	[ "$(out "$id" | uniq)" = "$dir $dir $first $((20000 + id % 12000))" ]
	within 30 test ! -e "$dir"
}

@test "a sick GPU drains its node with the reason, and the job runs on another machine" {
	printf '#!/bin/sh\n[ ! -e %s ] || echo "NVRM: Xid (PCI:0000:1f:00): 79, GPU has fallen off the bus."\n' "$lab_dir/node/sick" >"$lab_dir/node/bin/dmesg"
	printf '#!/bin/sh\n' >"$lab_dir/node/bin/nvidia-smi"
	chmod 755 "$lab_dir"/node/bin/*
	within 60 powered_down c1
	: >"$lab_dir/node/sick"
	id=$(example -w c1 --wrap hostname)
	within 30 eval 'scontrol show node c1 | grep -F "Reason=burst: Xid 79: 0000:1f:00"'
	rm "$lab_dir/node/sick"
	within 60 job_is "$id" COMPLETED
	[ "$(out "$id")" = c1 ]
	[ "$(sim_of /admin/instances '[.instances[] | select(.name == "c1")] | length')" -ge 2 ]
	rm "$lab_dir"/node/bin/*
}
