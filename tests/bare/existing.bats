#!/usr/bin/env bats
# A cluster of Debian's packages whose slurm.conf was written by hand, and its admin, who follows docs/slurm-integration.md to
# the letter: every command in it is one that a host has which knows nothing of burstd and of its tests.

# shellcheck disable=SC2154  # lines, of bats
load host

setup_file() {
	own_host && site
}

# As the cluster was before anybody thought of a cloud.
site() {
	local slurm=$BARE_ROOT/etc/slurm
	host apt-get -qq install -y slurmctld slurmd slurmdbd slurm-client munge mariadb-server >"$BARE_ROOT/root/apt.log" 2>&1 || return
	host mariadb -e "create database slurm_acct_db; create user slurm@localhost identified by 'secret';
		grant all on slurm_acct_db.* to slurm@localhost" || return
	host install -o slurm -m 600 /dev/null /etc/slurm/slurmdbd.conf
	cat >"$slurm/slurmdbd.conf" <<-C
		AuthType=auth/munge
		DbdHost=localhost
		SlurmUser=slurm
		LogFile=/var/log/slurm/slurmdbd.log
		PidFile=/run/slurmdbd.pid
		StorageType=accounting_storage/mysql
		StorageHost=localhost
		StorageUser=slurm
		StoragePass=secret
		StorageLoc=slurm_acct_db
	C
	# Where a machine's kernel has cgroups of both versions slurmd wants to be told, and uses none then.
	echo CgroupPlugin=cgroup/v1 >"$slurm/cgroup.conf"
	cat >"$slurm/slurm.conf" <<-C
		# Our cluster.  Ask Ada before you change something.
		ClusterName=site
		SlurmctldHost=head
		SlurmUser=slurm
		AuthType=auth/munge
		StateSaveLocation=/var/lib/slurm/slurmctld
		SlurmdSpoolDir=/var/lib/slurm/slurmd
		SlurmctldLogFile=/var/log/slurm/slurmctld.log
		SlurmdLogFile=/var/log/slurm/slurmd.log
		ProctrackType=proctrack/linuxproc
		TaskPlugin=task/affinity
		SelectType=select/cons_tres
		SelectTypeParameters=CR_Core_Memory
		ReturnToService=1
		AccountingStorageType=accounting_storage/slurmdbd
		AccountingStorageHost=localhost
		NodeName=head CPUs=1 RealMemory=500 State=UNKNOWN
		PartitionName=own Nodes=head Default=YES State=UP
	C
	host systemctl restart slurmdbd
	within 30 host sacctmgr -n show cluster || return
	host sacctmgr -i add cluster site >/dev/null
	host systemctl restart slurmctld slurmd
	within 20 own_job
}

own_job() {
	[ "$(host timeout 10 su - admin -c 'srun -p own hostname')" = head ]
}

@test "2: it is installed, and nothing runs" {
	date +%s >"$BARE_ROOT/root/began"
	follow 1
	host systemctl cat burstd >/dev/null
	run -3 host systemctl is-active burstd
	[ "$(host stat -c '%U %a' /var/spool/burstd)" = 'slurm 700' ]
}

@test "3: burstctl init writes what burstd and the cloud take" {
	cloud
	follow 2
	follow 3
	grep -q '^cluster .*= "site"$' "$BARE_ROOT/etc/burstd/burstd.conf"
}

@test "4: what stands in the way is named, with what to write" {
	run follow 4
	echo "$output"
	[ "$status" != 0 ]
	grep -qF 'slurm.conf:14: error: ReturnToService=1; write ReturnToService=2: ' <<<"$output"
	run ! grep -q burstd "$BARE_ROOT/etc/slurm/slurm.conf"
	sed -i 's/^ReturnToService=1$/ReturnToService=2/' "$BARE_ROOT/etc/slurm/slurm.conf"
	cp -p "$BARE_ROOT/etc/slurm/slurm.conf" "$BARE_ROOT/root/slurm.conf"
}

@test "4: slurm-conf adds burstd's lines, and leaves the site's" {
	follow 4
	grep -q '^NodeName=gpu\[1-4\] .*State=CLOUD' "$BARE_ROOT/etc/slurm/slurm.conf"
	sed '/^# BEGIN burstd/,/^# END burstd/d' "$BARE_ROOT/etc/slurm/slurm.conf" | cmp - "$BARE_ROOT/root/slurm.conf"
}

@test "5: all is well" {
	run follow 5
	echo "$output"
	[ "$status" = 0 ]
	grep -qF 'All is well.' <<<"$output"
	within 20 own_job
}

# slurmd tells it when it registers, which a slurmctld that starts asks for at once.
@test "5: the site's own nodes have the new slurm.conf, too" {
	local from
	from=$(wc -l <"$BARE_ROOT/var/log/slurm/slurmctld.log")
	host systemctl restart slurmctld
	within 20 own_job
	sleep 5
	run ! grep -F 'different slurm.conf' <(tail -n +"$from" "$BARE_ROOT/var/log/slurm/slurmctld.log")
}

@test "6: a job runs on a machine that was not there" {
	first_burst
}

@test "7: it is told what it cost" {
	follow 7 # the ledger's first pass may come later
	within 90 reported
}

reported() {
	admin 'burstctl report --by job,class' | grep -qE '^ *[0-9]+ +(run|boot) '
}

@test "8: out again, and nothing is left" {
	follow 8
	within 60 none_left
	follow 9
	cmp "$BARE_ROOT/etc/slurm/slurm.conf" "$BARE_ROOT/root/slurm.conf"
	run -3 host systemctl is-active burstd
	run ! host scontrol show node gpu1
	within 20 own_job
	admin 'sudo make -s uninstall'
	run ! host test -e /usr/sbin/burstd
}
