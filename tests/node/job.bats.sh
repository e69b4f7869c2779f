# job.bats.sh: the tests of job.bats, as they run inside a world.
# shellcheck shell=bash

# port DEVICE DRIVER LINK-LAYER STATE [GID-TYPE GID]...: a port of an adapter
port() {
	local dir=$W/sys/class/infiniband/$1/ports/1 i=0 device=$W/sys/devices/$1
	mkdir -p "$dir/gid_attrs/types" "$dir/gids" "$device" "$W/sys/bus/pci/drivers/$2"
	ln -sfn "$W/sys/bus/pci/drivers/$2" "$device/driver"
	ln -sfn "$device" "$W/sys/class/infiniband/$1/device"
	echo "$3" >"$dir/link_layer"
	echo "$4" >"$dir/state"
	shift 4
	while [ $# -gt 0 ]; do
		echo "$1" >"$dir/gid_attrs/types/$i"
		echo "$2" >"$dir/gids/$i"
		i=$((i + 1))
		shift 2
	done
}
no_ports() { rm -rf "$W/sys/class/infiniband"; }
product() {
	mkdir -p $W/sys/class/dmi/id
	echo "$1" >$W/sys/class/dmi/id/product_name
}
route() {
	mkdir -p $W/proc/net
	printf 'Iface\tDestination\tGateway\n%s\t000011AC\t00000000\n%s\t00000000\t010011AC\n' ib0 "$1" >$W/proc/net/route
}
# task [NAME=VALUE...]: as slurmstepd starts it for a user; what it says, sorted
task() {
	env -i "$@" setpriv --reuid=65534 --clear-groups "$top/slurm/task-prolog" | sort
}
# says TEXT COMMAND...
says() {
	local want=$1 got
	shift
	got=$("$@")
	[ "$got" = "$want" ] || {
		echo "wanted: $want"$'\n'"got: $got" >&2
		return 1
	}
}

V4=0000:0000:0000:0000:0000:ffff:0a00:0001
LL=fe80:0000:0000:0000:0000:0000:0000:0001

fabrics() {
	local efa
	chmod 711 /tmp/world $W
	route eth0
	says '' task
	efa=$(printf 'export %s\n' FI_EFA_FORK_SAFE=1 FI_EFA_SET_CUDA_SYNC_MEMOPS=0 FI_PROVIDER=efa 'NCCL_SOCKET_IFNAME=^docker,lo,veth')
	port rdmap0s31 efa Unspecified '4: ACTIVE'
	product p5.48xlarge
	says "$efa" task
	for type in p4d.24xlarge p4de.24xlarge; do
		product $type
		says "$(printf '%s\nexport FI_EFA_USE_DEVICE_RDMA=1\n' "$efa" | sort)" task
	done
	no_ports
	# InfiniBand: the ports that are up, and not the Ethernet port of the same make.
	port mlx5_0 mlx5_core InfiniBand '4: ACTIVE'
	port mlx5_1 mlx5_core InfiniBand '4: ACTIVE'
	port mlx5_2 mlx5_core InfiniBand '1: DOWN'
	port mlx5_bond_0 mlx5_core Ethernet '4: ACTIVE' 'RoCE v2' $V4
	says "$(printf 'export %s\n' NCCL_IB_HCA==mlx5_0:1,mlx5_1:1 NCCL_SOCKET_IFNAME==eth0)" task
	no_ports
	# RoCE: with the index of v2 over IPv4, if all ports have the same.
	port mlx5_0 mlx5_core Ethernet '4: ACTIVE' 'IB/RoCE v1' $LL 'RoCE v2' $LL 'IB/RoCE v1' $V4 'RoCE v2' $V4
	port mlx5_1 mlx5_core Ethernet '4: ACTIVE' 'IB/RoCE v1' $LL 'RoCE v2' $LL 'IB/RoCE v1' $V4 'RoCE v2' $V4
	says "$(printf 'export %s\n' NCCL_IB_GID_INDEX=3 NCCL_IB_HCA==mlx5_0:1,mlx5_1:1 NCCL_SOCKET_IFNAME==eth0)" task
	port mlx5_1 mlx5_core Ethernet '4: ACTIVE' 'RoCE v2' $V4
	says "$(printf 'export %s\n' NCCL_IB_HCA==mlx5_0:1,mlx5_1:1 NCCL_SOCKET_IFNAME==eth0)" task
	rm $W/proc/net/route
	says 'export NCCL_IB_HCA==mlx5_0:1,mlx5_1:1' task
}

users_own() {
	chmod 711 /tmp/world $W
	route eth0
	port mlx5_0 mlx5_core InfiniBand '4: ACTIVE'
	says 'export NCCL_IB_HCA==mlx5_0:1' task NCCL_SOCKET_IFNAME=ib0
	says '' task NCCL_SOCKET_IFNAME=ib0 NCCL_IB_HCA=
	says 'export MASTER_PORT=20007' task NCCL_SOCKET_IFNAME=ib0 NCCL_IB_HCA= SLURM_JOB_ID=7 'SLURM_JOB_NODELIST=c1' MASTER_ADDR=10.0.0.1
	printf '#!/bin/sh\necho export NCCL_IB_HCA=mlx5\n' >/etc/burstd/task-prolog
	chmod 755 /etc/burstd/task-prolog
	says 'export NCCL_IB_HCA=mlx5' task
}

needs_nothing() {
	chmod 711 /tmp/world $W
	route eth0
	port mlx5_0 mlx5_core InfiniBand '4: ACTIVE'
	says 'export NCCL_IB_HCA==mlx5_0:1 export NCCL_SOCKET_IFNAME==eth0' eval \
		"env -i PATH=/nowhere $top/slurm/task-prolog | tr '\n' ' ' | sed 's/ $//'"
	rm /etc/burstd/node-init.conf
	env -i "$top/slurm/task-prolog" >$W/said 2>&1
	not grep -v '^export [A-Z_]*=[^ ]*$' $W/said
	env -i SLURM_JOB_ID='1;reboot' SLURM_JOB_NODELIST=c1 "$top/slurm/task-prolog" >$W/said
	not grep -q 'MASTER\|reboot' $W/said
}

masters() {
	while read -r list first; do
		says "export MASTER_ADDR=$first" eval "task SLURM_JOB_ID=12001 SLURM_JOB_NODELIST='$list' | grep ADDR"
	done <<-'END'
		c1 c1
		c1,c2 c1
		c[1-4] c1
		c[03,07-9] c03
		h100-[12] h100-12
		x1,c[1-4] x1
		rack[2-3]n[07,9],x1 rack2n07
		a[1-2]-ib,b a1-ib
	END
	says 'export MASTER_PORT=20001' eval "task SLURM_JOB_ID=12001 SLURM_JOB_NODELIST=c1 | grep PORT"
	says '' task SLURM_JOB_NODELIST=c1
	says '' task SLURM_JOB_ID=5
}

# gpu BUS-ID CLASS VENDOR: on the PCI bus
gpu() {
	mkdir -p "$W/sys/bus/pci/devices/$1"
	echo "$2" >"$W/sys/bus/pci/devices/$1/class"
	echo "$3" >"$W/sys/bus/pci/devices/$1/vendor"
}
# two GPUs, well, and a bridge and another's adapter beside them; $W/gpus, $W/ecc and $W/rows are what nvidia-smi says
two_gpus() {
	export BURST_GPUS_SEEN=$W/seen
	gpu 0000:0f:00.0 0x030200 0x10de
	gpu 0000:1f:00.0 0x030200 0x10de
	gpu 0000:2f:00.0 0x068000 0x10de
	gpu 0000:3f:00.0 0x030000 0x102b
	printf '00000000:%s\n' 0F:00.0 1F:00.0 >$W/gpus
	sed 's/$/, 0/' $W/gpus >$W/ecc
	sed 's/$/, 0, 0/' $W/gpus >$W/rows
	tool nvidia-smi 'case $1 in *remapped*) cat '$W'/rows ;; *ecc*) cat '$W'/ecc ;; *) cat '$W'/gpus ;; esac'
	: >$W/kernel
	tool dmesg "cat $W/kernel"
}
health() {
	local faults rc=0
	faults=$("$top/slurm/gpu-health") || rc=$?
	echo "$faults"
	[ "$rc" = "$([ -z "$faults" ] && echo 0 || echo 1)" ] || echo "status $rc"
}

missing_gpus() {
	says '' health # no GPU, no tool
	tool timeout '[ "$1" != -k ] || shift 2' 'shift; exec "$@"'
	gpu 0000:0f:00.0 0x030200 0x10de
	if ! command -v nvidia-smi >/dev/null; then says '1 GPUs are on the bus, and there is no nvidia-smi' health; fi
	two_gpus
	says '' health
	[ "$(cat $W/seen)" = 2 ]
	sed -i 1d $W/gpus
	says '1 GPUs, 2 are on the bus' health
	rm -r $W/sys/bus/pci/devices/0000:0f:00.0
	says '1 GPUs, 2 were here before' health
	[ "$(cat $W/seen)" = 2 ]
	tool nvidia-smi 'exit 9'
	says 'nvidia-smi does not answer' health
	rm $W/bin/timeout
	tool nvidia-smi 'sleep 60'
	sed 's/ 20 nvidia-smi/ 0.2 nvidia-smi/; s/timeout 22/timeout 2/' "$top/slurm/gpu-health" >$W/quick
	says 'nvidia-smi does not answer' eval "sh $W/quick || :"
	# F40: one that hangs in its driver, as the tool of a GPU does that has fallen off the bus, cannot be killed.
	mkdir $W/hung
	python3 "$here/hungfs.py" $W/hung &
	until grep -q " $W/hung fuse" /proc/mounts; do sleep 0.05; done
	tool nvidia-smi "exec stat $W/hung/file"
	says 'nvidia-smi does not answer' eval "timeout 20 sh $W/quick || :"
	grep -q request_wait /proc/[0-9]*/wchan
	kill -KILL $!
}

sick_gpus() {
	two_gpus
	printf '%s\n' '00000000:0F:00.0, [N/A]' '00000000:1F:00.0, 3' >$W/ecc
	says 'uncorrected ECC errors: 00000000:1F:00.0 has 3' health
	printf '%s\n' '00000000:0F:00.0, 0' >$W/ecc
	printf '%s\n' '00000000:0F:00.0, 0, Yes' '00000000:1F:00.0, 1, 0' >$W/rows
	says $'row remapping has failed: 00000000:0F:00.0\nrow remapping is pending: 00000000:1F:00.0' health
	printf '%s\n' '00000000:0F:00.0, [N/A], [N/A]' >$W/rows
	says '' health
	for xid in 13 31 43 45 63 94 480 7; do
		echo "[  12.3] NVRM: Xid (PCI:0000:0f:00): $xid, pid=1, name=python" >>$W/kernel
	done
	echo 'someone wrote: Xid 79' >>$W/kernel
	says '' health
	# F40: the kernel logs the name of a program that crashes, and its file's: anybody could have any machine drained.
	cat >$W/kernel <<-'END'
		[  12.3] NVRM: Xid (PCI:[24181]: segfault at 0 ip 00 sp 00 error 6 in NVRM: Xid (PCI:0000:1f:00): 79, x[1132,55+1000] likely on CPU 1
		[  12.3] y
		         NVRM: Xid (PCI:0000:1f:00): 79, x[1132,55+1000]
		         [  12.3] NVRM: Xid (PCI:0000:1f:00): 79, x[1132,55+1000]
		NVRM: Xid (PCI:0000:1f:00): 79, x
	END
	says '' health
	echo '[  12.3][ T1234] NVRM: Xid (PCI:0000:1f:00): 79, GPU has fallen off the bus.' >$W/kernel
	says 'Xid 79: 0000:1f:00' health
	for xid in 48 64 74 79 95 119 120; do
		echo "[  12.3] NVRM: Xid (PCI:0000:1f:00): $xid, pid='<unknown>', name=<unknown>, GPU has fallen off the bus." >$W/kernel
		says "Xid $xid: 0000:1f:00" health
	done
	: >$W/kernel
	tool dcgmi 'exit 1'
	says '' health
	configure 'prolog_dcgm = 1'
	says 'dcgmi diag -r 1 fails' health
	[ "$(cat $W/dcgmi.args)" = 'diag -r 1' ]
	tool dcgmi
	says '' health
}

# prolog JOB UID, epilog JOB UID; what they return is in $rc
prolog() {
	rc=0
	env -i SLURM_JOB_ID="$1" SLURM_JOB_UID="$2" SLURMD_NODENAME=c1 BURST_GPUS_SEEN=$W/seen "$top/slurm/prolog" 2>$W/said || rc=$?
}
epilog() {
	rc=0
	env -i SLURM_JOB_ID="$1" SLURM_JOB_UID="$2" "$top/slurm/epilog" 2>$W/said || rc=$?
}

prolog_drains() {
	two_gpus
	tool scontrol
	prolog 7 1000
	[ $rc = 0 ]
	[ ! -e $W/scontrol.args ]
	echo "[  12.3] NVRM: Xid (PCI:0000:1f:00): 79, GPU has fallen off the bus." >$W/kernel
	prolog 7 1000
	[ $rc = 1 ]
	[ "$(cat $W/scontrol.args)" = 'update nodename=c1 state=drain reason=burst: Xid 79: 0000:1f:00' ]
	# slurmctld may be away: it drains the node by itself, since the prolog fails.
	tool scontrol 'exit 1'
	prolog 7 1000
	[ $rc = 1 ]
	# Without a job there is nothing to judge.
	prolog '7;x' 1000
	[ $rc = 0 ]
}

scratch() {
	mkdir -m 755 $W/scratch
	chmod 711 /tmp/world $W
	tool scontrol
	configure "job_scratch = $W/scratch"
	prolog 7 1000
	prolog 8 1000
	[ $rc = 0 ]
	[ "$(stat -c '%u %a' $W/scratch/job-7)" = '1000 700' ]
	: >$W/scratch/job-7/data
	prolog 7 1000 # the job was requeued, and is here again
	[ $rc = 0 ]
	[ -e $W/scratch/job-7/data ]
	[ ! -e $W/scontrol.args ]
	says "$(printf 'export %s\n' BURST_SCRATCH=$W/scratch/job-7 MASTER_ADDR=c1 MASTER_PORT=20007 TMPDIR=$W/scratch/job-7)" eval \
		"env -i SLURM_JOB_ID=7 SLURM_JOB_NODELIST=c[1-2] setpriv --reuid=1000 --clear-groups $top/slurm/task-prolog | sort"
	says $'export BURST_SCRATCH='$W/scratch/job-7$'\nexport TMPDIR='$W/scratch/job-7 eval \
		"env -i TMPDIR=/tmp SLURM_JOB_ID=7 setpriv --reuid=1000 --clear-groups $top/slurm/task-prolog | sort"
	says 'export BURST_SCRATCH='$W/scratch/job-7 eval \
		"env -i TMPDIR=/data SLURM_JOB_ID=7 setpriv --reuid=1000 --clear-groups $top/slurm/task-prolog | sort"
	# Somebody else's is none of a task's.
	env -i SLURM_JOB_ID=7 SLURM_JOB_NODELIST=c1 setpriv --reuid=1001 --clear-groups "$top/slurm/task-prolog" >$W/said
	not grep -q $W $W/said
	epilog 7 1000
	[ ! -e $W/scratch/job-7 ]
	[ -d $W/scratch/job-8 ]
	epilog 7 1000
	[ $rc = 0 ]
	sed -i /job_scratch/d /etc/burstd/node-init.conf
	prolog 9 1000
	[ $rc = 0 ]
}

scratch_hostile() {
	mkdir -m 755 $W/scratch $W/victim
	: >$W/victim/data
	tool scontrol
	configure "job_scratch = $W/scratch"
	# A link in its place, or a directory of another user.
	ln -s $W/victim $W/scratch/job-7
	prolog 7 1000
	[ $rc = 1 ]
	grep -q "job-7 cannot be made" $W/scontrol.args
	[ "$(stat -c %u $W/victim)" = 0 ]
	epilog 7 1000
	[ -e $W/victim/data ]
	[ -L $W/scratch/job-7 ]
	mkdir $W/scratch/job-8
	chown 1001 $W/scratch/job-8
	prolog 8 1000
	[ $rc = 1 ]
	epilog 8 1000
	[ -d $W/scratch/job-8 ]
	# A link inside of it leads nowhere.
	prolog 9 1000
	ln -s $W/victim $W/scratch/job-9/link
	epilog 9 1000
	[ ! -e $W/scratch/job-9 ]
	[ -e $W/victim/data ]
	# A number that is a path.
	for id in ../victim '' . 9/../../victim; do
		prolog "$id" 1000
		epilog "$id" 1000
		[ -e $W/victim/data ]
	done
	[ -d $W/scratch ]
	# What users may write to is no place for it.
	for mode in 777 1777 775 757; do
		chmod $mode $W/scratch
		prolog 10 1000
		[ $rc = 1 ]
		[ ! -e $W/scratch/job-10 ]
	done
	chmod 755 $W/scratch
	chown 1000 $W/scratch
	prolog 10 1000
	[ $rc = 1 ]
	epilog 8 1001
	[ -d $W/scratch/job-8 ]
	rm -rf $W/scratch
	ln -s $W/victim $W/scratch
	prolog 10 1000
	[ $rc = 1 ]
	mkdir $W/victim/job-10
	chown 1000 $W/victim/job-10
	epilog 10 1000
	[ -d $W/victim/job-10 ]
}

enroot_directories() {
	mkdir -m 755 $W/scratch
	chmod 711 /tmp/world $W
	tool scontrol
	configure "job_scratch = $W/scratch"
	prolog 6 1000
	[ ! -e $W/scratch/enroot ] # not asked for
	configure 'enroot = yes'
	prolog 7 1000
	prolog 8 1000
	prolog 9 1001
	[ $rc = 0 ]
	[ "$(stat -c '%u %a' $W/scratch/enroot $W/scratch/enroot/1000 $W/scratch/enroot/1001 | tr '\n' ,)" = '0 755,1000 700,1001 700,' ]
	[ ! -e $W/scontrol.args ]
	setpriv --reuid=1000 --clear-groups sh -c "mkdir -p $W/scratch/enroot/1000/cache && echo x >$W/scratch/enroot/1000/cache/layer"
	not setpriv --reuid=1001 --clear-groups ls $W/scratch/enroot/1000
	not setpriv --reuid=1001 --clear-groups ls $W/scratch/enroot/.jobs
	epilog 7 1000
	[ -e $W/scratch/enroot/1000/cache/layer ] # job 8 has it
	prolog 8 1000 # requeued, and back
	epilog 8 1000
	[ $rc = 0 ]
	[ "$(ls -A $W/scratch/enroot | tr '\n' ,)" = '.jobs,.lock,1001,' ]
	epilog 8 1000
	[ -d $W/scratch/enroot/1001 ]
	# Kept as long as the machine lasts, if so wanted.
	configure 'enroot_clean = no'
	epilog 9 1001
	[ -d $W/scratch/enroot/1001 ]
	prolog 10 1001
	[ $rc = 0 ]
	# An epilog that fails would drain the node.
	mv $W/scratch/enroot/.lock $W/lock
	mkdir $W/scratch/enroot/.lock
	epilog 10 1001
	[ $rc = 0 ]
	# Elsewhere.
	configure "enroot_path = $W/images"
	prolog 11 1000
	[ "$(stat -c %u $W/images/1000)" = 1000 ]
}

enroot_hostile() {
	mkdir -m 755 $W/scratch $W/victim
	mkdir $W/victim/1000
	chown 1000 $W/victim/1000
	: >$W/victim/1000/data
	tool scontrol
	configure "job_scratch = $W/scratch" 'enroot = yes'
	prolog 7 1001
	# A link inside leads nowhere; one in its place is no directory of ours.
	ln -s $W/victim $W/scratch/enroot/1001/link
	epilog 7 1001
	[ ! -e $W/scratch/enroot/1001 ]
	[ -e $W/victim/1000/data ]
	ln -s $W/victim/1000 $W/scratch/enroot/1000
	prolog 8 1000
	[ $rc = 1 ]
	grep -q 'enroot/1000 cannot be made' $W/scontrol.args
	epilog 8 1000
	[ -e $W/victim/1000/data ]
	rm $W/scratch/enroot/1000
	mkdir $W/scratch/enroot/1000
	chown 1001 $W/scratch/enroot/1000
	prolog 9 1000
	[ $rc = 1 ]
	epilog 9 1000
	[ -d $W/scratch/enroot/1000 ]
	chmod 777 $W/scratch/enroot
	prolog 10 1002
	[ $rc = 1 ]
	grep -q 'enroot may be written by others than root' $W/scontrol.args
	rm -r $W/scratch/enroot
	ln -s $W/victim $W/scratch/enroot
	prolog 11 1000
	[ $rc = 1 ]
	epilog 11 1000
	[ -e $W/victim/1000/data ]
}

# users DIRECTORY [OPTION]: a FUSE file system of the user's there, which answers nobody
users() {
	local were
	were=$(grep -c ' fuse ' /proc/mounts) || :
	python3 "$here/hungfs.py" "$1" 1000 ${2:+"$2"} &
	until [ "$(grep -c ' fuse ' /proc/mounts)" -gt "$were" ]; do sleep 0.05; done
}
# F40: a user's own mounts outlive his job: no machine is faulty for that, and none is to be billed while somebody waits for it.
mounted_directories() {
	local option server
	mkdir -m 755 $W/scratch $W/victim
	tool scontrol
	configure "job_scratch = $W/scratch" 'enroot = yes'
	prolog 6 1000 # another job of the user's, which goes on
	for option in '' allow_other; do
		# Upon the directories themselves.
		prolog 7 1000
		: >$W/scratch/job-7/data
		users $W/scratch/job-7 $option
		users $W/scratch/job-7 $option
		users $W/scratch/enroot/1000 $option
		epilog 7 1000
		[ ! -e $W/scratch/job-7 ]
		prolog 8 1000
		[ $rc = 0 ]
		[ "$(stat -c %u $W/scratch/enroot/1000)" = 1000 ]
		# Below them, one in another's way, with a name that needs care; one that has lost its server.
		mkdir "$W/scratch/job-8/a b" $W/scratch/job-8/'x\' $W/scratch/job-8/$'y\n'
		users "$W/scratch/job-8/a b" $option
		users $W/scratch/job-8/'x\' $option
		users $W/scratch/job-8/$'y\n' $option
		server=$!
		kill -KILL $server
		wait $server || :
		epilog 8 1000
		[ $rc = 0 ]
		[ "$(ls -A $W/scratch)" = $'enroot\njob-6' ]
		not grep -q "$W/scratch.* fuse" /proc/mounts
	done
	# When the last job has gone, too.
	prolog 7 1000
	epilog 6 1000
	mkdir $W/scratch/enroot/1000/data
	users $W/scratch/enroot/1000/data
	users $W/scratch/enroot/1000 allow_other
	tool umount 'case $3 in *.old-*) readlink /proc/$$/ns/mnt ;; esac >>'$W/namespaces 'exec /bin/umount "$@"'
	epilog 7 1000
	# Where the user may put a link in its place, it is unmounted where nobody else is.
	[ "$(wc -l <$W/namespaces)" = 1 ]
	[ "$(cat $W/namespaces)" != "$(readlink /proc/$$/ns/mnt)" ]
	rm $W/bin/umount
	[ "$(ls -A $W/scratch/enroot | tr '\n' ,)" = .jobs,.lock, ]
	[ ! -s $W/said ]
	# What is not a user's is left, with what is in it.
	prolog 9 1000
	mkdir $W/scratch/job-9/own
	mount -t tmpfs x $W/victim
	: >$W/victim/data
	mount --bind $W/victim $W/scratch/job-9/own
	epilog 9 1000
	[ $rc = 0 ]
	[ -e $W/victim/data ]
	grep -q "is not removed" $W/said
	[ ! -e $W/scratch/job-9 ]
	[ ! -e $W/scontrol.args ]
}

long_removal() {
	mkdir -m 755 $W/scratch
	configure "job_scratch = $W/scratch"
	prolog 7 1000
	tool rm 'sleep 3' 'exec /bin/rm "$@"'
	sed 's/-lt 600/-lt 5/g' "$top/slurm/epilog" >$W/quick
	local began=$EPOCHREALTIME
	env -i SLURM_JOB_ID=7 SLURM_JOB_UID=1000 sh $W/quick 2>$W/said
	[ $((${EPOCHREALTIME/[.,]/} - ${began/[.,]/})) -lt 2500000 ]
	grep -q "\.old-7-.* is not removed yet" $W/said
	[ ! -e $W/scratch/job-7 ]
	[ "$(stat -c '%u %a' $W/scratch/.old-7-*)" = '0 700' ]
	# slurmd kills what its program leaves in its process group: this is not there.
	[ "$(ps -o pgid= -p "$(pgrep -f 'bin/rm -rf')" | tr -d ' ')" != "$(ps -o pgid= -p $$ | tr -d ' ')" ]
	sleep 3.5
	[ -z "$(ls -A $W/scratch)" ]
}
