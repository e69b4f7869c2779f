# ansible.bash: what tests of the collection scripts/ansible share.  run.sh of this directory has made ANSIBLE_NEW, ANSIBLE_OLD and
# ANSIBLE_COLLECTIONS.
#
# shellcheck disable=SC2154  # status and output, of bats

load ../bare/host

# Ansible goes to the host by tests/ansible/ssh, and Slurm is there, as a site has it before burstd.
ansible_host() {
	export ANSIBLE_HOST_KEY_CHECKING=False ANSIBLE_PIPELINING=True ANSIBLE_SSH_TRANSFER_METHOD=piped ANSIBLE_NOCOLOR=1 \
		ANSIBLE_SSH_EXECUTABLE=$PWD/tests/ansible/ssh ANSIBLE_LOCALHOST_WARNING=False ANSIBLE_DEPRECATION_WARNINGS=False \
		ANSIBLE_PYTHON_INTERPRETER=/usr/bin/python3 ANSIBLE_RETRY_FILES_ENABLED=False ANSIBLE_COLLECTIONS_PATH=$ANSIBLE_COLLECTIONS \
		ANSIBLE_HOME=$BATS_FILE_TMPDIR/home CLOUD_KEY=key-of-a-test
	BURSTD_CONF=$(conf 120)
	export BURSTD_CONF
	host apt-get -qq install -y --no-install-recommends python3 python3-apt slurmctld slurm-client munge slurmd \
		>"$BARE_ROOT/root/apt.log" 2>&1 || return
	host systemctl disable --now --quiet slurmd || return
	printf '%s\n' ClusterName=falcon SlurmctldHost=head SlurmUser=slurm AuthType=auth/munge ReturnToService=2 \
		StateSaveLocation=/var/lib/slurm/slurmctld SlurmctldLogFile=/var/log/slurm/slurmctld.log SelectType=select/cons_tres \
		ProctrackType=proctrack/linuxproc 'NodeName=head CPUs=1 RealMemory=500 State=DOWN' 'PartitionName=own Nodes=head' >"$BARE_ROOT/etc/slurm/slurm.conf"
	# Where a machine's kernel has cgroups of both versions slurmd wants to be told, and uses none then.
	echo CgroupPlugin=cgroup/v1 >"$BARE_ROOT/etc/slurm/cgroup.conf"
	host systemctl restart slurmctld
}

conf() { # MAX_RATE
	cat <<-C
		cluster = "falcon"
		currency = "EUR"
		provider "sim" {
			driver = "sim"
			url = "http://127.0.0.1:8900"
			credential_file = "/etc/burstd/cloud.key"
		}
		pool "cloud" {
			nodes = "gpu[1-4]"
			provider = "sim"
			type = "gpu_8x_h100"
			region = "eu-north-1"
			max_nodes = 4
			max_rate = "$1"
			node = "CPUs=8 RealMemory=1000"
			gres = "gpu:h100:8"
		}
	C
}

# play VENV FILE [OPTION...]: $output is what it says
play() {
	local venv=$1 file=$2
	shift 2
	run "$venv/bin/ansible-playbook" -i head, "$@" "tests/ansible/$file"
	echo "$output"
}

# What it said at its end of that number: ok, changed, failed ...
recap() { # WORD
	grep -oE "$1=[0-9]+" <<<"$output" | tail -n 1 | cut -d= -f2
}

# All files that a play may change, with owner, mode and what is in them.
files() {
	host sh -c 'cd / && find etc var/cache/burstd-packages var/spool/burstd root/.ssh -xdev ! -name ld.so.cache -printf "%p %u %g %m %l " \
		! -type f -printf "\n" -o -type f -exec md5sum {} \;' 2>/dev/null | sort
}
