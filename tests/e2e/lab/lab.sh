# lab.sh: a whole cluster, as in production, inside tests/e2e/lab/enter.  To be sourced (bash).
#
#   munged (munge), mariadbd (mysql), slurmdbd, slurmctld and burstd (slurm), simcloud (root),
#   jobs as `researcher`, instances as namespaces on the bridge labbr (scripts/node/sim-boot)
#
# Everything is where a package would put it (/etc/slurm, /etc/burstd, /run/burstd, /var/log ...): enter made those
# private.  Programs are copied to /run/lab/bin first, since user slurm may not be able to read the checkout, and slurmctld
# refuses hooks that a group may write.
#
#   lab_up, lab_down            start and stop all; lab_start/lab_stop/lab_kill NAME for one of $lab_programs
#   lab_wait SECONDS CMD...     until CMD succeeds; LAB_TRIES: at least so many tries a second of these, up to three times as long
#   lab_logs                    the ends of all logs, for a failed test
#   job [SBATCH ARG...]         sbatch as researcher, prints the job's id;   burstctl ARG...
#   sim METHOD PATH [JSON]      simcloud's API, and sim_... below: what it has, what it cost, what shall go wrong
# Set before lab_up, if need be:
: "${LAB_SAY:=:}"                               # called with the name of each program before it is started
: "${LAB_BIN:=${BIN:-${BUILD:-build}/bin}}"     # where the programs under test are
: "${LAB_NODES:=8}"                             # cloud nodes c[1-N]
: "${LAB_SUSPEND_TIME:=4}" "${LAB_SUSPEND_TIMEOUT:=3}" "${LAB_RESUME_TIMEOUT:=60}"
: "${LAB_SIM_ARGS:=}"                           # more arguments for simcloud
: "${LAB_CLOUD:=sim}"                           # the driver that burstd buys from it with: sim, aws, that of a cloud-NAME.sh;
#                                                 gcp, azure: sim, with their metadata
: "${LAB_TYPE:=}"                               # of the pool's machines, as the driver names simcloud's gpu_8x_h100; empty: so
: "${LAB_SIM_CONFIG:=}"                         # how simcloud behaves from its start on, as sim_config has it
: "${LAB_CURRENCY:=EUR}"                        # of the cluster
: "${LAB_LIST_EVERY:=}"                         # time between two of burstd's lists; empty: its default
: "${LAB_SETTLE:=5s}"                           # the provider's consistency window, as burstd is told
: "${LAB_COOLDOWN:=5s}"                         # and for how long it leaves a place alone that has nothing
: "${LAB_BOOT=sim-boot}"                        # what an instance runs; empty: nothing
: "${LAB_METADATA:=}"                           # not empty: instances are told about themselves at 169.254.169.254
: "${LAB_BOOTSTRAP:=}"                          # file, vault: instances boot by their user-data, keys from there (bootstrap.sh)
: "${LAB_AUTH:=munge}"                            # Slurm's AuthType; slurm (24.05 and later, with LAB_BOOTSTRAP): by slurm.jwks
: "${LAB_POOL:=}"                               # more lines for the pool of burstd.conf
: "${LAB_OFFERS:=}"                             # its offers (lab_offer); empty: it has one place of its own
: "${LAB_REGIONS:=}"                            # other regions of the offers: to EC2 each is a provider of its own
: "${LAB_MAX_NODES:=$LAB_NODES}"                # of that pool
: "${LAB_BACKUP:=}"                             # not empty: there is a backup slurmctld (lab_start backup)
: "${LAB_CRED_EXPIRE:=5}"                       # and for how long it holds back a job that it requeued
: "${LAB_TRES=gres/gpu,gres/gpu:h100}"          # what slurmctld counts besides CPUs; empty: no GPUs
: "${LAB_MIN_JOB_AGE:=300}"                     # seconds for which slurmctld remembers a job that has ended

lab_here=$(readlink -f "${BASH_SOURCE[0]%/*}")
lab_repo=$(readlink -f "$lab_here/../../..")
lab_dir=/run/lab
lab_programs='munged mariadbd slurmdbd slurmctld simcloud burstd'
lab_url=http://127.0.0.1:8900
export SIM_TOKEN=lab-token
# shellcheck source=tests/e2e/lab/bootstrap.sh
[ -z "$LAB_BOOTSTRAP" ] || . "$lab_here/bootstrap.sh"
# What a cloud wants in burstd.conf: lab_provider_NAME and lab_pool_NAME, as for sim below;
# lab_begin_NAME, what its account must have; and what the lab has to know.
# shellcheck source=tests/e2e/lab/cloud-lambda.sh
[ ! -e "$lab_here/cloud-$LAB_CLOUD.sh" ] || . "$lab_here/cloud-$LAB_CLOUD.sh"

# --- processes --------------------------------------------------------------------------------

# lab_as USER CMD...
lab_as() {
	local user=$1
	shift
	setpriv --reuid="$user" --regid="$user" --init-groups env HOME=/ "$@"
}

# lab_nap MS: a pause that costs no program.  Nobody ever writes what it reads.
lab_nap() {
	local seconds
	[ -n "${lab_silence-}" ] || exec {lab_silence}<> <(:)
	printf -v seconds %d.%03d $(($1 / 1000)) $(($1 % 1000))
	read -rt "$seconds" -u "$lab_silence" || true
}

# lab_wait SECONDS CMD...: until CMD succeeds.  It looks less and less often, for several labs share the machine: at first
# every 80 ms, then after an eighth of the time so far, at most 400 ms.  bats notes each command that is run, so that it can
# say where a test failed; while we wait that would cost more than the looks.
lab_wait() {
	local traced='' rc=0 lab_asked=$BASHPID
	! declare -F bats_debug_trap >/dev/null || traced=yes
	[ -z "$traced" ] || trap - DEBUG
	lab_until "$@" || rc=$?
	lab_unask
	# shellcheck disable=SC2064  # as bats sets it
	[ -z "$traced" ] || trap 'bats_debug_trap "$BASH_SOURCE"' DEBUG
	return $rc
}

# lab_states KIND NAMES: into $states, the states that scontrol shows of nodes or jobs, one a line; false: it shows none.
# While lab_wait waits, one scontrol answers all looks: it reads commands from a pipe, and what follows an answer is its
# complaint of a command that there is not.  It would show the nodes of its last look again if slurmctld says that they have
# not changed since, which slurmctld tells by the second; it asks for all when `all` and `hide` take turns.  A shell reads a
# pipe byte by byte, so it gets the states alone.
lab_states() {
	states=
	if [ "${lab_asked-}" = "$BASHPID" ]; then
		lab_ask "show $1 $2" || return
	else
		states=$(scontrol -o show "$1" "$2" | "${lab_only_states[@]}") || return
	fi
	[ -n "$states" ]
}
lab_ask() {
	local line
	[ -n "${COPROC_PID-}" ] || coproc lab_scontrol 3>&-
	if [ "${lab_flags-}" = all ]; then lab_flags=hide; else lab_flags=all; fi
	echo "$lab_flags"$'\n'"$1"$'\nend' >&"${COPROC[1]}" || return
	while read -ru "${COPROC[0]}" line && [ "$line" != end ]; do states+=$line$'\n'; done
}
lab_scontrol() {
	stdbuf -oL scontrol -o 2>&1 | stdbuf -oL "${lab_only_states[@]}"
}
lab_only_states=(sed -nE 's/ Reason=.*//; s/^.* (Job)?State=([^ ]*).*/\2/p; s/^invalid keyword: end$/end/p')

lab_unask() {
	local pid=${COPROC_PID-}
	[ -n "$pid" ] || return 0
	kill "$pid" 2>/dev/null || true
	wait "$pid" 2>/dev/null || true
}

lab_until() {
	local seconds=$1 begin=${EPOCHREALTIME/./} tries=0 ms pause
	shift
	until "$@" >/dev/null 2>&1; do
		ms=$(((${EPOCHREALTIME/./} - begin) / 1000))
		tries=$((tries + 1))
		[ $ms -lt $((seconds * 1000)) ] || [ $tries -lt $((seconds * ${LAB_TRIES:-0})) ] || return 1
		[ $ms -lt $((seconds * 3000)) ] || return 1
		pause=$((ms / 8))
		lab_nap $((pause < 80 ? 80 : pause > 400 ? 400 : pause))
	done
}

# lab_spawn NAME USER CMD...: in the background, log in /var/log/NAME.log, pid remembered.
lab_spawn() {
	local name=$1 user=$2 monitor=
	shift 2
	# With job control, at a prompt, it would lead its process group: then setsid forks, and the pid is nobody's.
	[[ $- != *m* ]] || monitor=yes
	set +m
	{ (
		# bats, and whoever reads our output, wait for the last one who has their pipes open.
		for fd in "/proc/$BASHPID/fd"/*; do
			fd=${fd##*/}
			[ "$fd" -le 2 ] || eval "exec $fd>&-"
		done
		exec setsid setpriv --reuid="$user" --regid="$user" --init-groups env HOME=/ "$@"
	) </dev/null >>"/var/log/$name.log" 2>&1 & } 2>/dev/null # and no "[1] 4711"
	echo $! >"$lab_dir/pid/$name"
	disown # so that bash does not report its end in the middle of a test
	[ -z "$monitor" ] || set -m
}

lab_pid() {
	cat "$lab_dir/pid/$1" 2>/dev/null
}

lab_running() {
	local pid
	pid=$(lab_pid "$1") && [ -d "/proc/$pid" ] && ! grep -q '^State:.Z' "/proc/$pid/status" 2>/dev/null
}

lab_stopped() {
	! lab_running "$1"
}

# lab_stop NAME [SIGNAL]: ends when the process has.
lab_stop() {
	local pid
	pid=$(lab_pid "$1") || return 0
	kill "-${2:-TERM}" "$pid" 2>/dev/null || true
	lab_wait 15 lab_stopped "$1" || kill -KILL "$pid" 2>/dev/null || true
	rm -f "$lab_dir/pid/$1"
}

lab_kill() {
	lab_stop "$1" KILL
}

lab_fail() {
	echo "lab: $1" >&2
	lab_logs >&2
	return 1
}

# --- files ------------------------------------------------------------------------------------

lab_users() {
	local line
	sed -i 's/^\(passwd\|group\|shadow\|hosts\):.*/\1: files/' /etc/nsswitch.conf
	printf '127.0.0.1 localhost\n10.77.0.1 ctl\n10.77.0.2 ctl2\n' >/etc/hosts
	cp /etc/hosts "$lab_dir/hosts-extra"
	line='researcher:x:20001:20001:a user of the cluster:/run/lab/home:/bin/bash'
	grep -q '^researcher:' /etc/passwd || echo "$line" >>/etc/passwd
	grep -q '^researcher:' /etc/group || echo 'researcher:x:20001:' >>/etc/group
	install -d -o researcher -g researcher "$lab_dir/home"
}

# lab_dirs USER MODE DIR...
lab_dirs() {
	local user=$1 mode=$2
	shift 2
	install -d -o "$user" -m "$mode" "$@"
}

lab_files() {
	mkdir -p "$lab_dir/pid" "$lab_dir/bin" "$lab_dir/dev" "$lab_dir/sim"
	lab_users
	lab_dirs munge 700 /etc/munge /var/lib/munge /var/log/munge
	lab_dirs munge 755 /run/munge
	lab_dirs mysql 755 /run/mysqld /var/lib/mysql
	lab_dirs slurm 755 /run/slurm /var/log/slurm /var/lib/slurm /run/burstd /run/burst-ledger
	lab_dirs slurm 700 /var/lib/burstd /var/spool/burstd
	lab_dirs root 755 /etc/slurm /etc/burstd /etc/simcloud
	local i
	for i in 0 1 2 3 4 5 6 7; do
		[ -e "$lab_dir/dev/gpu$i" ] || mknod -m 666 "$lab_dir/dev/gpu$i" c 1 3
	done
	[ -x "$LAB_BIN/burst-hook" ] || lab_fail "no programs in $LAB_BIN: run make first" || return
	cp --preserve=links --no-dereference "$LAB_BIN"/{burst*,simcloud} "$lab_dir/bin/"
	cp "$lab_here/sim-reboot" "$lab_here/backup" "$lab_here"/jobs/* "$lab_repo/scripts/node/sim-boot" "$lab_dir/bin/"
	[ -z "$LAB_BOOTSTRAP" ] || lab_image
	chmod -R go-w,a+rX "$lab_dir/bin"
}

# The installed Slurm's, as a number: 2411
lab_slurm_version() {
	slurmctld -V | sed 's/^[^ ]* \([0-9]*\)\.\([0-9]*\).*/\1\2/'
}

# slurm.conf of that version: what must be said up to 23.02 is an error later.
lab_slurm_conf() {
	local version old='' dbd='' reg='' gather='' addr='' backup='' free='' starts='' cred='' tres=''
	version=$(lab_slurm_version)
	[ "$version" -ge 2302 ] || old=PrivateData=cloud
	[ "$version" -lt 2302 ] || dbd=,job_extra
	[ "$version" -ge 2311 ] || reg=,cloud_reg_addrs
	[ "$version" -ge 2311 ] || addr=$'TreeWidth=65533\nCommunicationParameters=NoAddrCache'
	[ "$version" -ge 2411 ] || gather=JobAcctGatherType=jobacct_gather/none
	[ -z "$LAB_BOOTSTRAP" ] || free=,enable_configless
	# Without it 26.05 does not log what its backfill scheduler starts.
	[ "$version" -lt 2605 ] || starts=,HetJob
	[ "$LAB_AUTH" = munge ] || cred=CredType=cred/slurm
	[ -z "$LAB_TRES" ] || tres=AccountingStorageTRES=$LAB_TRES
	[ -z "$LAB_BACKUP" ] || backup=$'SlurmctldHost=ctl2(10.77.0.2)\nSlurmctldTimeout=10'
	cat >/etc/slurm/slurm.conf <<-C
		ClusterName=lab
		SlurmctldHost=ctl(10.77.0.1)
		$backup
		SlurmUser=slurm
		SlurmdUser=root
		AuthType=auth/$LAB_AUTH
		AuthInfo=cred_expire=$LAB_CRED_EXPIRE
		$cred
		StateSaveLocation=/var/lib/slurm/slurmctld
		SlurmdSpoolDir=/var/spool/slurmd/%n
		SlurmctldPidFile=/run/slurm/slurmctld.pid
		SlurmdPidFile=/var/spool/slurmd/%n.pid
		SlurmctldLogFile=/var/log/slurm/slurmctld.log
		SlurmdLogFile=/var/log/slurm/slurmd.%n.log
		SlurmctldDebug=verbose
		SlurmdDebug=verbose
		DebugFlags=Power$starts
		LogTimeFormat=iso8601_ms
		ProctrackType=proctrack/linuxproc
		TaskPlugin=task/none
		$gather
		MpiDefault=none
		SelectType=select/cons_tres
		SelectTypeParameters=CR_Core
		SchedulerType=sched/backfill
		SchedulerParameters=bf_interval=1,sched_interval=2,sched_min_interval=0,batch_sched_delay=0,default_queue_depth=1000
		ReturnToService=2
		JobRequeue=1
		SlurmdTimeout=20
		MessageTimeout=10
		InactiveLimit=0
		KillWait=2
		MinJobAge=$LAB_MIN_JOB_AGE
		PrologSlurmctld=$lab_dir/bin/burst-prolog
		SuspendProgram=$lab_dir/bin/burst-suspend
		ResumeProgram=$lab_dir/bin/burst-resume
		ResumeFailProgram=$lab_dir/bin/burst-resume-fail
		RebootProgram=$lab_dir/bin/sim-reboot
		SuspendTime=$LAB_SUSPEND_TIME
		SuspendTimeout=$LAB_SUSPEND_TIMEOUT
		ResumeTimeout=$LAB_RESUME_TIMEOUT
		ResumeRate=0
		SuspendRate=0
		SlurmctldParameters=power_save_interval=1,power_save_min_interval=0,idle_on_node_suspend$reg$free,node_reg_mem_percent=90
		$addr
		$old
		SlurmdParameters=config_overrides
		AccountingStorageType=accounting_storage/slurmdbd
		AccountingStorageHost=ctl
		$tres
		AccountingStoreFlags=job_comment$dbd
		GresTypes=gpu
		NodeName=DEFAULT CPUs=8 RealMemory=1000 Gres=gpu:h100:8 State=CLOUD Feature=cloud
		NodeName=c[1-$LAB_NODES]
		PartitionName=cloud Nodes=ALL Default=YES MaxTime=1-0 State=UP
		${LAB_SLURM_EXTRA:-}
	C
	echo "Name=gpu Type=h100 File=$lab_dir/dev/gpu[0-7]" >/etc/slurm/gres.conf
	if [ "$version" -ge 2405 ]; then
		echo CgroupPlugin=disabled
	else
		echo CgroupPlugin=cgroup/v1
	fi >/etc/slurm/cgroup.conf
}

lab_slurmdbd_conf() {
	cat >/etc/slurm/slurmdbd.conf <<-C
		AuthType=auth/$LAB_AUTH
		DbdHost=localhost
		SlurmUser=slurm
		LogFile=/var/log/slurm/slurmdbd.log
		PidFile=/run/slurm/slurmdbd.pid
		StorageType=accounting_storage/mysql
		StorageHost=localhost
		StorageUser=slurm
		StoragePass=lab
		StorageLoc=slurm_acct_db
	C
	chown slurm /etc/slurm/slurmdbd.conf
	chmod 600 /etc/slurm/slurmdbd.conf
}

# lab_offer NAME ZONE on-demand|spot [OPTION...]: one for LAB_OFFERS.  An offer has a zone, and a provider of its region,
# since a launch by EC2's API is for one of each; and a price, which EC2 does not tell.
lab_offer() {
	local name=$1 zone=$2 market=$3 region=${2%?} provider=sim price=29.52
	shift 3
	[ "$market" = on-demand ] || price=12.00
	[ "$LAB_CLOUD" != aws ] || [ "$region" = eu-north-1 ] || provider=$region
	echo "offer \"$name\" { provider = \"$provider\" type = \"${LAB_TYPE:-gpu_8x_h100}\" region = \"$region\" zone = \"$zone\"" \
		"market = \"$market\" price = \"$price\" $* }"
}

# Of one region, or of all that the driver can reach by one.
lab_provider() {
	cat <<-C
		provider "$1" {
			$("lab_provider_$LAB_CLOUD" "$2" "$1")
			settle          = "$LAB_SETTLE"
			cooldown        = "$LAB_COOLDOWN"
			${LAB_LIST_EVERY:+list_every = "$LAB_LIST_EVERY"}
			$([ -z "$LAB_BOOTSTRAP" ] || lab_attest)
		}
	C
}

lab_providers() {
	local region
	lab_provider sim eu-north-1
	[ "$LAB_CLOUD" = aws ] || return 0
	for region in $LAB_REGIONS; do
		lab_provider "$region" "$region"
	done
}

lab_provider_sim() {
	cat <<-C
		driver          = "sim"
		url             = "$lab_url"
		credential_file = "/etc/burstd/sim.token"
	C
}

lab_pool_sim() {
	:
}

# Machines of the neutral API whose metadata service speaks as Google's, or as Azure's.
lab_provider_gcp() {
	lab_provider_sim
}

lab_provider_azure() {
	lab_provider_sim
}

lab_pool_gcp() {
	:
}

lab_pool_azure() {
	:
}

# EC2's API, as simcloud speaks it.  It does not tell prices of on-demand, and a launch is for one zone.
lab_pool_aws() {
	cat <<-C
		zone         = "eu-north-1a"
		price        = "29.52"
	C
}

lab_provider_aws() {
	cat <<-C
		driver          = "aws"
		url             = "$lab_url/"
		credential_file = "/etc/burstd/ec2.key"
		region          = "$1"
		image           = "ami-0"
		subnets         = "$1a=subnet-$1a,$1b=subnet-$1b"
	C
	# A queue has one reader.
	[ "$2" != sim ] || echo "notice_queue = \"$lab_url/000000000000/burstd\""
}

# Where the nodes of the pool are bought
lab_place() {
	if [ -n "$LAB_OFFERS" ]; then
		echo "$LAB_OFFERS"
		return
	fi
	cat <<-C
		provider     = "sim"
		type         = "${LAB_TYPE:-gpu_8x_h100}"
		region       = "eu-north-1"
		market       = "on-demand"
	C
	"lab_pool_$LAB_CLOUD"
}

lab_burstd_conf() {
	(umask 077 && echo "$SIM_TOKEN" | tee /etc/burstd/sim.token >/etc/simcloud/token)
	(umask 077 && printf 'aws_access_key_id = AKIDLAB\naws_secret_access_key = lab\n' |
		tee /etc/burstd/ec2.key >/etc/simcloud/ec2.key)
	chown slurm /etc/burstd/sim.token /etc/burstd/ec2.key
	cat >/etc/burstd/burstd.conf <<-C
		cluster   = "lab"
		currency  = "$LAB_CURRENCY"
		state_dir = "/var/lib/burstd"
		listen    = "127.0.0.1:9818"
		slurm {
			bin_dir = "/usr/bin"
			conf    = "/etc/slurm/slurm.conf"
		}
		$([ -z "$LAB_BOOTSTRAP" ] || lab_sections)
		$(lab_providers)
		pool "h100" {
			nodes        = "c[1-$LAB_NODES]"
			$(lab_place)
			max_nodes    = $LAB_MAX_NODES
			max_rate     = "${LAB_MAX_RATE:-300}"
			boot_timeout = "10m"
			$LAB_POOL
		}
	C
}

# lab_calls resume|suspend|resume-fail [NODES]: of slurmctld's log on standard input, the lines in which it calls that
# program (for NODES, as it writes them).  From 26.05 on it has other words for it.
lab_calls() {
	local words=''
	case $1 in
	resume) words='waking' ;;
	suspend) words='suspending' ;;
	resume-fail) words='handle failed' ;;
	esac
	grep -E "($words|power action __${1/-/}prog__ on) nodes " | grep -F " nodes ${2-}"
}

# --- programs ---------------------------------------------------------------------------------

lab_start_munged() {
	head -c 128 /dev/urandom >/etc/munge/munge.key
	chown munge:munge /etc/munge/munge.key
	chmod 400 /etc/munge/munge.key
	chgrp munge /etc/munge /var/lib/munge /var/log/munge /run/munge
	lab_spawn munged munge munged --foreground
	lab_wait 10 munge -n
}

lab_mariadb_ready() {
	mariadb-admin --no-defaults -uroot -S /run/mysqld/mysqld.sock ping
}

lab_start_mariadbd() {
	local dir=/var/lib/mysql/data sock=/run/mysqld/mysqld.sock
	[ -d $dir/mysql ] || mariadb-install-db --no-defaults --user=mysql --datadir=$dir --skip-test-db \
		--innodb-log-file-size=8M --auth-root-authentication-method=normal >/var/log/mariadbd.log 2>&1 || return
	lab_spawn mariadbd mysql mariadbd --no-defaults --user=mysql --datadir=$dir --socket=$sock --skip-networking \
		--pid-file=/run/mysqld/mysqld.pid --innodb-buffer-pool-size=128M --innodb-flush-log-at-trx-commit=0 \
		--innodb-log-file-size=8M --innodb-lock-wait-timeout=900 \
		--loose-innodb-snapshot-isolation=OFF # slurmdbd wants it so
	lab_wait 60 lab_mariadb_ready || return
	mariadb --no-defaults -uroot -S $sock -e "create database if not exists slurm_acct_db;
		create user if not exists 'slurm'@'localhost' identified by 'lab';
		grant all on slurm_acct_db.* to 'slurm'@'localhost';"
}

lab_start_slurmdbd() {
	lab_slurmdbd_conf
	# Releases of MariaDB differ in where their clients look for the socket.
	lab_spawn slurmdbd slurm env MYSQL_UNIX_PORT=/run/mysqld/mysqld.sock slurmdbd -D
	lab_wait 20 sacctmgr -n show cluster || return
	[ -n "$(sacctmgr -nP show cluster lab format=cluster)" ] || sacctmgr -i add cluster lab >/dev/null
}

lab_start_slurmctld() {
	local dir=/var/lib/slurm/slurmctld args=-D
	lab_dirs slurm 755 $dir
	# It is written every 5 min, and 26.05 does not start again without it unless told so.
	[ -e $dir/assoc_usage ] || args=-Di
	lab_spawn slurmctld slurm slurmctld $args
	lab_wait 20 lab_slurmctld_ready
}

lab_slurmctld_ready() {
	scontrol ping | grep -q '(primary).* UP'
}

# The backup slurmctld, on a machine of its own: no burstd there, and its log is in /var/log/backup.
lab_start_backup() {
	lab_dirs slurm 755 /var/log/backup
	lab_spawn backup root "$lab_dir/bin/backup"
	lab_wait 20 lab_backup_ready
}

lab_backup_ready() {
	scontrol ping | grep -q '(backup.*).* UP'
}

lab_start_simcloud() {
	local boot=()
	[ -z "$LAB_BOOT" ] || boot=(--boot "$lab_dir/bin/$LAB_BOOT" --hosts-extra "$lab_dir/hosts-extra" --run-dir "$lab_dir/sim")
	[ "$LAB_CLOUD" != aws ] || boot+=(--aws-key-file /etc/simcloud/ec2.key)
	if [ -n "$LAB_METADATA" ]; then
		ip addr replace 169.254.169.254/32 dev labbr
		boot+=(--metadata 169.254.169.254:80 --identity /etc/simcloud/identity.pem)
		case $LAB_CLOUD in gcp | azure) boot+=(--metadata-as "$LAB_CLOUD") ;; esac
	fi
	# shellcheck disable=SC2086  # a list of arguments
	lab_spawn simcloud root "$lab_dir/bin/simcloud" --listen 127.0.0.1:8900 --token-file /etc/simcloud/token \
		--subnet 10.77.0.0/16 --seed 1 "${boot[@]}" $LAB_SIM_ARGS
	lab_wait 10 sim GET /v1/offers || return
	[ -z "$LAB_SIM_CONFIG" ] || sim_config "$LAB_SIM_CONFIG" || return
	! declare -F "lab_begin_$LAB_CLOUD" >/dev/null || "lab_begin_$LAB_CLOUD"
}

lab_start_burstd() {
	lab_spawn burstd slurm "$lab_dir/bin/burstd" -c /etc/burstd/burstd.conf
	lab_wait 10 lab_burstd_ready
}

lab_burstd_ready() {
	lab_running burstd && burstctl status
}

burstctl() {
	lab_as slurm "$lab_dir/bin/burstctl" "$@"
}

# lab_start NAME
lab_start() {
	"lab_start_$1" && return
	# Not all of these are among lab_logs.
	tail -n 20 "/var/log/$1.log" >&2 || true
	lab_fail "$1 does not start"
}

# All programs of the lab, by the files that are there
lab_start_all() {
	local name
	for name in $lab_programs; do
		"$LAB_SAY" "$name"
		lab_start "$name" || return
	done
}

lab_up() {
	lab_files && lab_slurm_conf && lab_burstd_conf && lab_start_all
}

lab_down() {
	local name
	for name in burstd slurmctld slurmdbd simcloud mariadbd munged; do
		lab_stop "$name"
	done
}

# What Slurm says about fake hardware and its first start ever is left out.
lab_noise='state file|state save|Could not open|Gres Name|Node configuration|xcpuinfo|mpi|MPI|plugin|recommended|select/cons'

lab_logs() {
	local log lines=${LAB_LINES:-40}
	for log in /var/log/{burstd,simcloud}.log /var/log/slurm/{slurmctld,slurmdbd,slurmd.*}.log; do
		[ -s "$log" ] || continue
		[[ $log != *slurmd[b.]* ]] || lines=6
		echo "--- $log"
		grep -vE "$lab_noise" "$log" | tail -n $lines
	done
	grep -h '^sim-boot:' "$lab_dir"/sim/*/console.log 2>/dev/null
	[ -z "$LAB_BOOTSTRAP" ] || lab_machines_logs
	[ -z "${LAB_KEEP-}" ] || cp -r /var/log "$LAB_KEEP/log.$$"
}

# --- what tests say ---------------------------------------------------------------------------

sim() {
	local method=$1 path=$2
	shift 2
	curl -sS --fail-with-body --max-time 10 -X "$method" -H "Authorization: Bearer $SIM_TOKEN" \
		${1:+-H 'Content-Type: application/json' -d "$1"} "$lab_url$path"
}

# sim_look PATH: what simcloud answers, into $looked, in a tenth of the time of curl
sim_look() {
	local fd
	{ exec {fd}<>/dev/tcp/127.0.0.1/8900; } 2>/dev/null || return
	printf 'GET %s HTTP/1.0\r\nAuthorization: Bearer %s\r\n\r\n' "$1" "$SIM_TOKEN" >&"$fd"
	# A shell reads a socket byte by byte, and with a time limit more slowly still: what follows the first is left to cat.
	looked=
	! read -rt 10 -N 1 looked <&"$fd" || looked+=$(cat <&"$fd")
	exec {fd}>&-
	[[ $looked = HTTP/1.?\ 200* ]]
}

job() {
	lab_as researcher sbatch --parsable -D "$lab_dir/home" -o "job-%j.out" --open-mode=append "$@"
}

# sim_of PATH FILTER: what jq makes of simcloud's answer
sim_of() {
	local looked
	sim_look "$1" && jq -r "$2" <<<"${looked#*$'\r\n\r\n'}"
}

# sim_count PATH TEXT: how often simcloud's answer has TEXT
sim_count() {
	local looked rest
	sim_look "$1" || return
	rest=${looked//"$2"/}
	echo $(((${#looked} - ${#rest}) / ${#2}))
}

# Instances that are not ended; all there ever were; those whose meter runs; what all cost.
sim_alive() {
	sim_of /admin/instances '[.instances[] | select(.state != "ended")] | length'
}

sim_rows() {
	sim_count /admin/meter '"start_ms":'
}

sim_open() {
	sim_count /admin/meter '"end_ms":null'
}

sim_cost() {
	sim_of /admin/meter .total
}

# "node address", one line each; also those ended lately
sim_addresses() {
	sim_of /admin/instances '.instances[] | .name + " " + .address'
}

sim_config() {
	sim POST /admin/config "$1" >/dev/null
}

# sim_capacity N|null: how many instances of the pool's kind there can be at once.  simcloud names that gpu_8x_h100, whatever
# a face of it says.
sim_capacity() {
	if ! [[ ${1-} =~ ^(null|[0-9]+)$ ]]; then
		echo "usage: sim_capacity N|null: so many machines, or as many as one likes" >&2
		return 2
	fi
	sim POST /admin/capacity \
		"{\"type\": \"gpu_8x_h100\", \"region\": \"eu-north-1\", \"market\": \"on-demand\", \"capacity\": 0}" >/dev/null
	sim POST /admin/capacity "{\"type\": \"gpu_8x_h100\", \"zone\": \"eu-north-1a\", \"market\": \"on-demand\",
		\"capacity\": $1}" >/dev/null
}

# sim_hold OP before|after: keep the next request of this kind, before or after its effect
sim_hold() {
	sim POST /admin/faults "{\"op\": \"$1\", \"action\": \"hold\", \"when\": \"$2\", \"count\": 1}" >/dev/null
}

# Is a request held now?
sim_held() {
	local looked
	sim_look /admin/held && [[ $looked =~ \"held\":\ *\[\ *[^]\ ] ]]
}

# No rule any more, and what is held goes on.
sim_faults_clear() {
	sim DELETE /admin/faults >/dev/null
	sim POST /admin/release '{}' >/dev/null
}
