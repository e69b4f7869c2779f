#!/usr/bin/env bats
# The batch scripts of docs/examples run, as a researcher submits them, on machines that burstd buys; and around each job what
# slurm/prolog, task-prolog and epilog do on a real slurmd.
#
# EXAMPLES_VENV=DIR: a Python environment that has PyTorch, DeepSpeed and Ray, as `make examples` makes one; without, those that
# are installed, or others that stand in for them.

# Variables from the helper; scripts for the job to expand.
# shellcheck disable=SC2016,SC2030,SC2031,SC2034,SC2154
load helper

setup_file() {
	own_lab || return
	LAB_NODES=8
	export gpus=8 patience=90
	# PyTorch itself takes longer, and sixteen processes of it more than there should be on a small machine.
	[ -z "${EXAMPLES_VENV-}" ] || gpus=2 patience=400
	LAB_POOL='checkpoint_signal = "USR1"'
	LAB_SLURM_EXTRA="NodeName=m1 CPUs=8 RealMemory=1000 Gres=gpu:a100_3g.20gb:2 State=CLOUD Feature=cloud
		PartitionName=mig Nodes=m1
		Prolog=$lab_dir/node/prolog
		Epilog=$lab_dir/node/epilog
		TaskProlog=$lab_dir/node/task-prolog
		PrologFlags=Alloc"
	lab_files && lab_slurm_conf && lab_burstd_conf || return
	sed -i -e 's/^PartitionName=cloud Nodes=ALL/PartitionName=cloud Nodes=c[1-8]/' \
		-e 's/^SchedulerParameters=.*/&,nohold_on_prolog_fail/' -e "s/gpu:h100:8/gpu:h100:$gpus/" /etc/slurm/slurm.conf
	printf 'NodeName=c[1-8] Name=gpu Type=h100 File=%s\nNodeName=m1 Name=gpu Type=a100_3g.20gb File=%s\n' \
		"$lab_dir/dev/gpu[0-$((gpus - 1))]" "$lab_dir/dev/gpu[0-1]" >/etc/slurm/gres.conf
	cat >>/etc/burstd/burstd.conf <<-C
		pool "mig" { nodes = "m1" provider = "sim" type = "gpu_8x_h100" region = "eu-north-1" max_nodes = 1 max_rate = "60"
			gres = "gpu:a100_3g.20gb:2" node = "CPUs=8 RealMemory=1000" }
	C
	# The scripts for nodes, with tools and a /sys of the test's.  An instance does not see the lab's /etc/burstd.
	mkdir -p "$lab_dir/node/bin" "$lab_dir/sys" "$lab_dir/scratch"
	cp "$lab_repo"/slurm/{prolog,epilog,task-prolog,gpu-health} "$lab_dir/node/"
	sed -i "s|/etc/burstd/node-init.conf|$lab_dir/node/conf|" "$lab_dir"/node/{prolog,epilog,task-prolog,gpu-health}
	printf '%s\n' "path = $lab_dir/node/bin:$PATH" "sysfs = $lab_dir/sys" "job_scratch = $lab_dir/scratch" >"$lab_dir/node/conf"
	# As on a cluster that has none.
	sed -i '2i [ -z "${NO_TASK_PROLOG-}" ] || exit 0' "$lab_dir/node/task-prolog"
	chmod -R a+rX "$lab_dir/node" "$lab_dir/scratch"
	# Of its files a machine shares with others the home directories alone.
	cat >>/etc/simcloud/boot.conf <<-C
		[ "\${1-}" != --inside ] || {
			mkdir -p -m 755 "$lab_dir/scratch-of/\$SIMCLOUD_NODE"
			mount --bind "$lab_dir/scratch-of/\$SIMCLOUD_NODE" "$lab_dir/scratch"
			mount -t tmpfs -o mode=1777 tmpfs /tmp
		}
	C
	lab_dirs researcher 755 "$lab_dir/home/examples"
	cp "$lab_repo"/docs/examples/* "$lab_dir/home/examples/"
	# A program that takes its time to save its work, more than KillWait.
	sed -i 's/^save(step)$/time.sleep(8)\n&/' "$lab_dir/home/examples/steps.py"
	chown -R researcher "$lab_dir/home/examples"
	cp -r "$lab_repo/tests/e2e/examples" "$lab_dir/standins"
	mv "$lab_dir/standins/ray-cli" "$lab_dir/standins/ray-command"
	mkdir "$lab_dir/standins/bin"
	examples_path=$lab_dir/standins/bin:$PATH
	[ -z "${EXAMPLES_VENV-}" ] || real_programs || return
	want torch torchrun torchrun
	want deepspeed deepspeed-command deepspeed
	want ray ray-command ray
	chmod -R a+rX "$lab_dir/standins"
	lab_start_all
	# All at once: most of the time machines boot.
	torchrun=$(example "--gres=gpu:$gpus" torchrun.sbatch) && deepspeed=$(example "--gres=gpu:$gpus" deepspeed.sbatch) &&
		checkpoint=$(example checkpoint.sbatch 60) && mig=$(example -p cloud,mig mig.sbatch) && ray=$(example ray.sbatch) || return
	read -r sweep collect <<<"$(sweep "$lab_dir/home/examples")"
	throttle=$(scontrol show job "$sweep" | grep -m 1 -oE 'ArrayTaskThrottle=[0-9]+' || true)
	export throttle examples_path torchrun deepspeed checkpoint mig ray sweep collect
}

# The environment that `make examples` made, where the researcher can read it, wherever the checkout is.
real_programs() {
	local program
	mkdir "$lab_dir/real"
	mount --bind "$EXAMPLES_VENV" "$lab_dir/real" || return
	examples_path=$lab_dir/standins/bin:$lab_dir/real/bin:$PATH
	for program in torchrun deepspeed ray; do
		sed "1s|.*|#!$lab_dir/real/bin/python|" "$lab_dir/real/bin/$program" >"$lab_dir/standins/bin/$program" || return
		chmod 755 "$lab_dir/standins/bin/$program"
	done
}

# want PACKAGE PROGRAM NAME: the real ones, or those that stand in for them
want() {
	local version
	if PATH=$examples_path command -v "$3" >/dev/null &&
		version=$(PATH=$examples_path python3 -c "import importlib.metadata as m; print(m.version('$1'))" 2>/dev/null); then
		echo "# $3: $1 $version runs" >&3
	else
		echo "# $3 is not installed here: a stand-in runs" >&3
		mkdir -p "$lab_dir/standins/lib"
		mv "$lab_dir/standins/$1" "$lab_dir/standins/lib/$1"
		mv "$lab_dir/standins/$2" "$lab_dir/standins/bin/$3"
	fi
}

setup() {
	:
}

# example ARG...: sbatch in the directory of the examples
example() {
	PATH=$examples_path PYTHONPATH=$lab_dir/standins/lib lab_as researcher env HOME="$lab_dir/home" sbatch --parsable \
		-D "$lab_dir/home/examples" -o 'out-%j' --open-mode=append "$@"
}

# sweep DIR: prints the numbers of its two jobs
sweep() {
	(cd "$1" && lab_as researcher bash sweep.sh -o out-%j)
}

# failing: a directory with the examples, in which what they run fails
failing() {
	local dir=$lab_dir/home/failing
	rm -rf "$dir" && cp -r "$lab_repo/docs/examples" "$dir" || return
	# One of the processes of the last node; the others would wait for it.
	tee "$dir/train.py" >"$dir/zero.py" <<-'P'
		import os, sys, time
		sys.exit(3) if int(os.environ["RANK"]) == int(os.environ["WORLD_SIZE"]) - 1 else time.sleep(600)
	P
	sed -i 's/^set -eu$/&\n[ "$SLURM_ARRAY_TASK_ID" != 3 ]/' "$dir/sweep.sbatch"
	mkdir "$dir/bin"
	printf '#!/bin/sh\nexit 1\n' >"$dir/bin/ray"
	chmod 755 "$dir/bin/ray"
	chown -R researcher "$dir"
	echo "$dir"
}

# completed JOB: it ends, and well; what it said is shown.  One that failed is not waited for.
completed() {
	within "$patience" ended "$1"
	out "$1" || true
	job_is "$1" COMPLETED
}

ended() {
	local states
	lab_states job "$1" && [[ ! $states =~ PENDING|CONFIGURING|RUNNING|COMPLETING|REQUEUE ]]
}

out() {
	cat "$lab_dir/home/examples/out-$1"
}

@test "a checkpoint at the signal, back into the queue, and on from there" {
	id=$checkpoint
	within 30 grep -q '"step": [1-9]0' "$lab_dir/home/examples/checkpoint.json"
	scancel --signal=USR1 --batch "$id"
	within "$patience" job_is "$id" COMPLETED
	out "$id"
	[ "$(out "$id" | sed -n 's/^goes on at step //p')" = "$(out "$id" | sed -n 's/^ends at step //p' | head -n 1)" ]
	[ "$(out "$id" | sed -n 's/^ends at step //p' | tail -n 1)" = 60 ]
}

@test "torchrun on two nodes, a process for each GPU, that meet at the first" {
	completed "$torchrun"
	local all=$((2 * gpus))
	# torchrun's processes do not buffer: one's line may go on where another's has not ended.
	[ "$(out "$torchrun" | grep -oE "rank [0-9]+ of $all: the sum is $((all * (all - 1) / 2))" | sort -u | wc -l)" = $all ]
}

@test "DeepSpeed on two nodes, by its own launcher and without ssh" {
	completed "$deepspeed"
	local all=$((2 * gpus))
	[ "$(out "$deepspeed" | grep -oE "rank [0-9]+ of $all: 10 steps, the last loss is " | sort -u | wc -l)" = $all ]
	[ ! -e "$lab_dir/home/examples/hosts-$deepspeed" ]
}

@test "a sweep, two tasks at a time, and a job when all have succeeded" {
	completed "$collect"
	[ "$(cat "$lab_dir/home/examples/results")" = $'1 1\n2 4\n3 9\n4 16' ]
	[ "$throttle" = ArrayTaskThrottle=2 ]
}

@test "a part of a GPU, by its name" {
	completed "$mig"
	out "$mig" | grep -E '^this job has [01] of m1$'
}

@test "Ray on two nodes" {
	completed "$ray"
	out "$ray" | grep -x '2 nodes, the sum is 285'
}

@test "without task-prolog, at the first node all the same" {
	local id ids=() all=$((2 * gpus))
	for script in torchrun deepspeed; do
		ids+=("$(NO_TASK_PROLOG=yes example "--gres=gpu:$gpus" "$script.sbatch")")
	done
	for id in "${ids[@]}"; do
		completed "$id"
		[ "$(out "$id" | grep -oE "rank [0-9]+ of $all: (the sum|10 steps)" | sort -u | wc -l)" = $all ]
	done
}

@test "what fails on one machine ends the job on all of them" {
	local dir id ids=() job
	dir=$(failing)
	for script in torchrun deepspeed; do ids+=("$(example -D "$dir" "--gres=gpu:$gpus" "$script.sbatch")"); done
	ids+=("$(examples_path=$dir/bin:$examples_path example -D "$dir" ray.sbatch)")
	read -r id job <<<"$(sweep "$dir")"
	for id in "${ids[@]}"; do
		within "$patience" ended "$id"
		cat "$dir/out-$id"
		job_is "$id" FAILED
	done
	# Nothing is collected of a sweep of which a task failed.
	within 60 job_is "$job" CANCELLED
	[ ! -e "$dir/results" ]
}

@test "around a job: a directory of its own, MASTER_ADDR, and gone when it ends" {
	id=$(example -N 2 --wrap 'srun sh -c "test -w \$TMPDIR && echo \$TMPDIR \$BURST_SCRATCH \$MASTER_ADDR \$MASTER_PORT"')
	completed "$id"
	dir=$lab_dir/scratch/job-$id
	first=$(scontrol show hostnames "$(job_nodes "$id")" | head -n 1)
	[ "$(out "$id" | uniq)" = "$dir $dir $first $((20000 + id % 12000))" ]
	[ -d "$lab_dir/scratch-of/$first" ]
	within 30 eval '! compgen -G "$lab_dir/scratch-of/*/job-$id"'
}

@test "a sick GPU drains its node with the reason, and the job runs on another machine" {
	printf '#!/bin/sh\n[ ! -e %s ] || echo "[ 4711.000001] NVRM: Xid (PCI:0000:1f:00): 79, GPU has fallen off the bus."\n' "$lab_dir/node/sick" >"$lab_dir/node/bin/dmesg"
	printf '#!/bin/sh\n' >"$lab_dir/node/bin/nvidia-smi"
	chmod 755 "$lab_dir"/node/bin/*
	within 60 powered_down c1
	: >"$lab_dir/node/sick"
	id=$(example -w c1 --wrap hostname)
	within 30 eval 'scontrol show node c1 | grep -F "Reason=burst: Xid 79: 0000:1f:00"'
	rm "$lab_dir/node/sick"
	completed "$id"
	[ "$(out "$id")" = c1 ]
	[ "$(sim_of /admin/instances '[.instances[] | select(.name == "c1")] | length')" -ge 2 ]
	rm "$lab_dir"/node/bin/*
}
