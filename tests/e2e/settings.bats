#!/usr/bin/env bats
# A wrong slurm.conf, as a real slurmctld shows it: each setting that burstd judges is named with what it is, what it must
# be and why; and slurm/burst.conf, which we ship, has all of them right.
#
# Two wrong ones, since a setting can be wrong in one way at a time.  docs/slurm.md is the list of what is judged: the last
# test compares what was seen with it, so that a new rule has to be seen here, too.

# Variables from the helper; scripts for the test to expand.
# shellcheck disable=SC2016,SC2030,SC2031,SC2034,SC2154
load helper
LAB_BOOT='' LAB_MAX_NODES=7 # of 8

setup_file() {
	own_lab || return
	lab_files && lab_slurm_conf && lab_burstd_conf || return
	cp /etc/slurm/slurm.conf "$lab_dir/slurm.conf"
	sed 's/^cluster .*/cluster = "falcon"/' -i /etc/burstd/burstd.conf
	offers
	echo 'budget "physics" { accounts = {"physics"} amount = "100" }' >>/etc/burstd/burstd.conf
	slurm_conf 1
	local name i
	# Without power saving, slurmctld looks for the addresses of all nodes, 10 s for each that has none.
	for ((i = 1; i <= LAB_NODES; i++)); do
		echo "10.77.255.$i c$i" >>/etc/hosts
	done
	echo "10.77.255.$i own1" >>/etc/hosts
	lab_start_all
}

# The pool gets two offers, and the nodes do not carry the features to choose between them.
offers() {
	local market text='' place='provider = "sim" type = "gpu_8x_h100" region = "eu-north-1"'
	for market in spot on-demand; do
		text+="\\toffer \"$market\" { $place market = \"$market\" }\\n"
	done
	sed "/^pool/,/^}/{ /^[[:space:]]*\\(provider\\|type\\|region\\|market\\) /d; s/^}/$text}/ }" -i /etc/burstd/burstd.conf
}

release=$(lab_slurm_version)

# for_this RELEASES: as docs/slurm.md names them: all, 22.05, up to 23.02, from 24.11, 25.11.0 to 25.11.2
for_this() {
	local low=0 high=9999
	case $1 in
	all) ;;
	'up to '*) high=${1#up to } ;;
	'from '*) low=${1#from } ;;
	*' to '*) low=${1% to *} low=${low%.*} high=${1#* to } high=${high%.*} ;;
	*) low=$1 high=$1 ;;
	esac
	[ "$release" -ge "${low/./}" ] && [ "$release" -le "${high/./}" ]
}

# slurm_conf 1|2: the lab's, with wrong settings
slurm_conf() {
	sed -E '/^(AuthInfo|SchedulerParameters|ReturnToService|JobRequeue|[A-Za-z]*Program|PrologSlurmctld|Suspend[A-Za-z]*|Resume[A-Za-z]*)=/d
		/^(SlurmctldParameters|TreeWidth|CommunicationParameters|PrivateData|SlurmdTimeout|PartitionName)=/d' \
		"$lab_dir/slurm.conf" >/etc/slurm/slurm.conf
	# One node of a pool is missing.
	[ "$1" != 2 ] || sed 's/^NodeName=c\[1-8\]/NodeName=c[1-7]/' -i /etc/slurm/slurm.conf
	"wrong_$1" >>/etc/slurm/slurm.conf
}

wrong_1() {
	cat <<-C
		ResumeProgram=/bin/true
		SuspendProgram=/bin/true
		ResumeFailProgram=/bin/true
		PrologSlurmctld=$lab_dir/bin/burst-prolog
		PrologEpilogTimeout=30
		ResumeRate=10
		SuspendRate=20
		ReturnToService=0
		JobRequeue=0
		SlurmctldParameters=power_save_min_interval=7,cloud_dns
		SuspendTimeout=600
		ResumeTimeout=60
		SuspendExcNodes=c1
		SuspendExcParts=late
		SlurmdTimeout=0
		AuthInfo=cred_expire=5
		NodeName=own1
		PartitionName=cloud Nodes=ALL MinNodes=9 Default=YES State=UP
		PartitionName=late Nodes=c[7-8] State=UP SuspendTime=60
		PartitionName=own Nodes=own1 State=UP SuspendTime=120
	C
	! for_this 'from 23.02' || echo SuspendExcStates=CLOUD
	! for_this 'from 24.11' || echo CommunicationParameters=NoAddrCache
}

# releases|severity|setting|found|wanted
named_1() {
	cat <<-T
		all|error|ClusterName|lab|falcon
		all|error|PrologEpilogTimeout|30 s|not set, or more than 60 s
		all|error|ReturnToService|0|2
		all|error|JobRequeue|0|1
		all|error|SlurmctldParameters|without idle_on_node_suspend|idle_on_node_suspend
		all|error|ResumeTimeout|60 s for pool h100|at least 660 s
		up to 23.02|error|CommunicationParameters|without NoAddrCache|NoAddrCache
		22.05|error|PrivateData|without cloud|cloud
		all|warning|ResumeProgram|/bin/true|/usr/libexec/burstd/burst-resume
		all|warning|SuspendProgram|/bin/true|/usr/libexec/burstd/burst-suspend
		all|warning|ResumeFailProgram|/bin/true|/usr/libexec/burstd/burst-resume-fail
		all|warning|ResumeRate|10 nodes/min|0
		all|warning|SuspendRate|20 nodes/min|0
		all|warning|SlurmctldParameters|without power_save_interval, which means 10|power_save_interval=1, at most 5
		all|warning|SlurmctldParameters|power_save_min_interval=7|no power_save_min_interval above 5
		up to 23.02|warning|SlurmctldParameters|without cloud_reg_addrs|cloud_reg_addrs
		all|warning|SlurmctldParameters|with cloud_dns|no cloud_dns
		all|warning|SuspendTime|INFINITE for pool h100|seconds, for every pool
		all|error|SuspendTime|120 s for node own1, which no pool has|only at partitions of pools, or all other nodes in SuspendExcNodes
		all|warning|SuspendTimeout|600 s for pool h100|at most 300 s
		all|warning|SuspendExcNodes|c1, which has nodes of pool h100|no node of a pool
		all|warning|SuspendExcParts|late, which has nodes of pool h100|no partition with a node of a pool
		all|warning|MinNodes|9 for cloud, whose nodes can be 8 at once: pool h100 has max_nodes 7|at most 8, or a higher max_nodes
		from 23.02|warning|SuspendExcStates|with CLOUD|no CLOUD
		from 23.02|warning|NodeName|missing for node c1 of pool h100|Feature=spot,ondemand
		all|warning|SlurmdTimeout|0 sec|not 0
		all|warning|AccountingStorageEnforce|without associations|associations, for there are budgets of these
		all|advice|AuthInfo|cred_expire=5|cred_expire of 10 or more
		all|advice|SchedulerParameters|without sched_interval, which means 60|sched_interval below 60
		from 24.11|advice|CommunicationParameters|with NoAddrCache|no NoAddrCache
		from 25.05|advice|SchedulerParameters|without requeue_on_resume_failure|requeue_on_resume_failure
	T
}

# Power saving is off with this one.
wrong_2() {
	cat <<-C
		ReturnToService=0
		JobRequeue=1
		SlurmctldParameters=power_save_interval=30,idle_on_node_suspend
		ResumeTimeout=630
		ResumeRate=0
		SuspendRate=0
		SuspendTime=INFINITE
		PartitionName=cloud Nodes=ALL Default=YES State=UP
	C
	! for_this 22.05 || echo PrivateData=cloud
}

named_2() {
	cat <<-T
		all|error|ClusterName|lab|falcon
		all|error|ResumeProgram|not set|/usr/libexec/burstd/burst-resume
		all|error|SuspendProgram|not set|/usr/libexec/burstd/burst-suspend
		all|error|ReturnToService|0|2
		up to 23.02|error|TreeWidth|50|65533, unless cloud_dns is set
		up to 23.02|error|CommunicationParameters|without NoAddrCache|NoAddrCache
		all|error|NodeName|without c8 of pool h100|a line for c8, or removal from the pool's nodes
		all|error|SuspendTime|INFINITE|seconds, here or for the partitions
		all|warning|ResumeFailProgram|not set|/usr/libexec/burstd/burst-resume-fail
		all|warning|PrologSlurmctld|not set|/usr/libexec/burstd/burst-prolog
		all|warning|SlurmctldParameters|power_save_interval=30|power_save_interval=1, at most 5
		up to 23.02|warning|SlurmctldParameters|without cloud_reg_addrs|cloud_reg_addrs
		all|warning|ResumeTimeout|630 s for pool h100|at least 660 s
		all|warning|AccountingStorageEnforce|without associations|associations, for there are budgets of these
		all|warning|NodeName|missing for node c1 of pool h100|Feature=spot,ondemand
		all|advice|AuthInfo|without cred_expire, which means 120|cred_expire below 120
		all|advice|SchedulerParameters|without sched_interval, which means 60|sched_interval below 60
		from 25.05|advice|SchedulerParameters|without requeue_on_resume_failure|requeue_on_resume_failure
	T
}

# What no slurmctld here can be given.  By the reason.
cannot() {
	cat <<-T
		Older releases treat cloud nodes
		burstd has not been tested with this release
		A cloud node that is powered down is taken out of topology.conf.
		When it is stopped, slurmctld waits without end
		While burstd is away nobody gives up a node
		slurmctld powers down idle nodes, and warm nodes are not kept
		burstd cannot tell slurmctld which nodes are paid for
		Machines fetch slurm.conf from slurmctld
		Machines are given the key of the other kind
	T
	# The first four are about the release itself, which is the one that is installed here.  The next is a third value of
	# ResumeTimeout, from 25.05 on.  The next two are for pools that keep nodes: warm.bats.  The last two are for a section
	# nodes, which there is none of here: test_require.
}

# documented: rows of docs/slurm.md that are for this release, as severity|setting|why
documented() {
	local setting wanted releases severity why
	while IFS='|' read -r _ setting wanted releases severity why _; do
		releases=${releases# } releases=${releases% } setting=${setting//[ \`]/} why=${why# }
		! for_this "$releases" || echo "${severity// /}|$setting|${why% }"
	done < <(grep '^| `[A-Z]' "$lab_repo/docs/slurm.md" | awk -F'|' 'NF == 7')
}

# What burstd has found: severity|setting|found|wanted|why
found() {
	burstctl status --json | jq -r '.slurm_conf[] | [.severity, .setting, .found, .wanted, .why] | join("|")'
}

expected() {
	local releases rest
	while IFS='|' read -r releases rest; do
		! for_this "$releases" || echo "$rest"
	done < <("named_$1")
}

as_expected() {
	diff <(expected "$1" | sort) <(found | cut -d'|' -f1-4 | sort)
}

# all_say_it N: burstctl status, burstctl check, burstd --check and the log, of each problem of the N-th slurm.conf
all_say_it() {
	within 20 as_expected "$1" || as_expected "$1"
	found >"$lab_dir/found.$1"
	cut -d'|' -f1,2,5 "$lab_dir/found.$1" | sort >"$lab_dir/why.$1"
	# The right reason: the one documented.
	run -0 comm -23 "$lab_dir/why.$1" <(documented | sort)
	[ "$output" = "" ]
	burstctl status >"$lab_dir/status"
	burstctl check >"$lab_dir/check" 2>&1 && return 1
	lab_as slurm "$lab_dir/bin/burstd" --check --slurm >"$lab_dir/burstd" 2>&1 && return 1
	local severity setting found wanted why
	while IFS='|' read -r severity setting found wanted why; do
		echo "$setting is $found"
		[ "$severity" = advice ] ||
			grep -F "slurm.conf ($severity): $setting is $found, wanted $wanted: $why" "$lab_dir/status"
		grep -A 1 "^  $severity  *$setting is $found; wanted: $wanted\$" "$lab_dir/check" | grep -F "$why"
		grep -F "slurm.conf: $severity: $setting is $found, wanted $wanted: $why" "$lab_dir/burstd"
		[ "$(logged "$setting" "$found")" = 1 ]
	done <"$lab_dir/found.$1"
	[ "$(grep -c '; wanted: ' "$lab_dir/check")" = "$(wc -l <"$lab_dir/found.$1")" ]
	[ "$(grep -c '^slurm.conf: ' "$lab_dir/burstd")" = "$(wc -l <"$lab_dir/found.$1")" ]
}

# How often the log has it
logged() {
	tr -d '"' </var/log/burstd.log | grep -cF " msg=slurm.conf setting=$1 found=$2 wanted="
}

# another_slurm_conf COMMAND: slurmctld is restarted with what that makes, and burstd sees it go and come
another_slurm_conf() {
	lab_stop slurmctld
	burstctl reconcile
	within 20 eval 'burstctl status | grep -q "slurmctld does not answer"'
	"$@"
	lab_start slurmctld
	burstctl reconcile
}

@test "the first wrong slurm.conf: status, log and both checks name each setting, what it must be, and why" {
	all_say_it 1
}

@test "another wrong one: what is wrong as before is not logged again" {
	another_slurm_conf slurm_conf 2
	all_say_it 2
}

# parameters LINE: slurm.conf's SlurmctldParameters is that, and slurmctld has it
parameters() {
	sed '/^SlurmctldParameters=/d' -i /etc/slurm/slurm.conf
	[ -z "$1" ] || echo "$1" >>/etc/slurm/slurm.conf
	scontrol reconfigure
	slurmctld_has "$1"
}

slurmctld_has() {
	local is=${1#*=}
	is=${is//\"/}
	within 10 eval '[ "$(scontrol show config | sed -n "s/^SlurmctldParameters *= //p")" = "'"${is:-(null)}"'" ]'
}

@test "the joined line of SlurmctldParameters: slurmctld takes it as burstctl check prints it, and then it is right" {
	local is line
	for is in '' SlurmctldParameters=reboot_from_controller \
		SlurmctldParameters=cloud_dns,reboot_from_controller,Power_Save_Interval=30 \
		'SlurmctldParameters="idle_on_node_suspend, power_save_interval=30, node_reg_mem_percent=80"'; do
		parameters "$is"
		run burstctl check
		line=$(sed -n 's/^  write  *//p' <<<"$output")
		echo "# $is: $line"
		[[ $output == *'SlurmctldParameters is '* && $line == SlurmctldParameters=* && $line != *' '* && $line != *30* ]]
		parameters "$line"
		run burstctl check
		[[ $output == *' has read it'* && $output != *SlurmctldParameters* ]]
	done
	run -1 grep SlurmctldParameters /var/log/slurm/slurmctld.log
}

# Ours, with the programs where the lab has them, and the lines uncommented that this release needs.
burst_conf() {
	local params=()
	! for_this 'up to 23.02' || params=(-e 's/^#\(TreeWidth\|CommunicationParameters\)/\1/' -e '/^SlurmctldParameters=/s/$/,cloud_reg_addrs/')
	! for_this 22.05 || params+=(-e 's/^#\(PrivateData\)/\1/')
	sed "${params[@]}" -e "s|/usr/libexec/burstd/|$lab_dir/bin/|" "$lab_repo/slurm/burst.conf" >/etc/slurm/burst.conf
}

right() {
	burst_conf
	slurm_conf nothing
	local more=''
	! for_this 'from 25.05' || more=,requeue_on_resume_failure
	cat >>/etc/slurm/slurm.conf <<-C
		AuthInfo=cred_expire=30
		SchedulerParameters=sched_interval=2$more
		NodeName=own1
		PartitionName=own Nodes=own1 State=UP
		PartitionName=cloud Nodes=c[1-$LAB_NODES] Default=YES State=UP SuspendTime=300
		Include /etc/slurm/burst.conf
	C
}

wrong_nothing() {
	:
}

@test "slurm/burst.conf is right, beside nodes of one's own too: what it cannot know is left, and then nothing" {
	another_slurm_conf right
	within 20 eval '[ "$(found | cut -d"|" -f2 | sort | paste -sd" ")" = "ClusterName NodeName" ]' || found
	lab_stop burstd
	lab_burstd_conf
	offers
	sed 's/ Feature=cloud$/&,ondemand,spot/' -i /etc/slurm/slurm.conf
	scontrol reconfigure
	lab_start burstd
	within 20 eval '[ "$(burstctl status --json | jq -c .slurm_conf)" = "[]" ]'
	run -0 burstctl status
	[[ $output != *slurm.conf* ]]
	run -0 burstctl check
	[[ $output == *'ok: slurm.conf as slurmctld '* ]]
	run -0 lab_as slurm "$lab_dir/bin/burstd" --check --slurm
	[[ $output == *'ok: slurm.conf'* ]]
}

@test "every rule of docs/slurm.md was seen, or cannot be" {
	documented >"$lab_dir/documented"
	[ "$(wc -l <"$lab_dir/documented")" -ge 30 ]
	cannot >"$lab_dir/cannot"
	run -1 grep -vFf <(cat "$lab_dir/why.1" "$lab_dir/why.2" "$lab_dir/cannot") "$lab_dir/documented"
	# Nor is anything in both.
	run -1 grep -Ff "$lab_dir/cannot" "$lab_dir/why.1" "$lab_dir/why.2"
}
