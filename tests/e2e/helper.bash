# helper.bash: what all end-to-end tests share.  One lab per file (tests/e2e/run.sh starts each file in its own
# namespaces), shared by the tests of the file; each test begins and ends calm: no job, no instance, all nodes down.

bats_require_minimum_version 1.5.0
LAB_SUSPEND_TIME=2 LAB_SUSPEND_TIMEOUT=2
: "${LAB_SETTLE:=2s}"
# x-aws.bats is x.bats once more, over EC2's API; cloud-x.bats is cloud.bats, over that of x (lab/cloud-x.sh).
case ${BATS_TEST_FILENAME-} in
*-aws.bats) LAB_CLOUD=aws ;;
*/cloud-*.bats) LAB_CLOUD=${BATS_TEST_FILENAME##*/cloud-} LAB_CLOUD=${LAB_CLOUD%.bats} ;;
esac
# shellcheck source=tests/e2e/lab/lab.sh
. "$BATS_TEST_DIRNAME/lab/lab.sh"

# own_lab: are we in a lab?
own_lab() {
	[ -d /run/lab ] && return
	echo "run this file by tests/e2e/run.sh: it needs a lab of its own" >&2
	return 1
}

setup_file() {
	own_lab || return
	# Without a server to be had each test of such a file says that it is skipped.
	[ "$LAB_BOOTSTRAP" != vault ] || [ -n "${VAULT-}" ] || return 0
	lab_up
}

teardown() {
	[ -n "${BATS_TEST_COMPLETED-}" ] || lab_logs
}

# advised SETTINGS: the lines about these, an expression, that slurm-conf says to write
advised() {
	"$lab_dir/bin/burstctl" slurm-conf 2>&1 | sed -nE "s/.*; write (($1)=[^:]*): .*/\\1/p"
}

# heed SETTINGS: they are written, until it asks for nothing more; what was written is in $lab_dir/heeded
heed() {
	local line
	: >"$lab_dir/heeded"
	while line=$(advised "$1" | head -n 1) && [ -n "$line" ]; do
		[ "$(wc -l <"$lab_dir/heeded")" -lt 20 ] || return
		echo "$line" | tee -a "$lab_dir/heeded" >>/etc/slurm/slurm.conf
	done
}

# site_lines: of the lab's slurm.conf only what a site has that knows nothing of burstd
site_lines() {
	sed -E '/^(PrologSlurmctld|ResumeProgram|SuspendProgram|ResumeFailProgram|RebootProgram|SuspendTime|SuspendTimeout)=/d
		/^(ResumeTimeout|ResumeRate|SuspendRate|SlurmctldParameters|TreeWidth|CommunicationParameters|PrivateData)=/d
		/^(ReturnToService|JobRequeue|GresTypes|NodeName|PartitionName|AccountingStorageTRES)=?/d; /^$/d' -i /etc/slurm/slurm.conf
}

# --- looking ----------------------------------------------------------------------------------

# A tool that fails says nothing, and nothing is what many of these hope for: each takes an answer only of one that did not.

# Tests look several times a second, in several labs at once: what most of them look at costs no program, or one.

# node_is NODES REGEX: does the state of each of NODES (a hostlist), with its flags, match?
node_is() {
	local states state
	lab_states node "$1" || return
	for state in $states; do [[ $state =~ $2 ]] || return; done
}

# node_is_not NODES REGEX: does none of them match?
node_is_not() {
	local states state
	lab_states node "$1" || return
	for state in $states; do [[ ! $state =~ $2 ]] || return; done
}

# powered_down NODES: down as after a suspend, and usable for the next job
powered_down() {
	local states state
	lab_states node "$1" || return
	for state in $states; do
		[[ $state = *POWERED_DOWN* && ! $state =~ ^DOWN|DRAIN|POWERING ]] || return
	done
}

# job_is JOB STATE: is each task of it?
job_is() {
	local states state
	lab_states job "$1" || return
	for state in $states; do [ "$state" = "$2" ] || return; done
}

job_nodes() {
	scontrol -o show job "$1" | sed -n 's/.* NodeList=\([^ ]*\).*/\1/p' | head -n 1
}

no_jobs() {
	local text
	text=$(squeue -h) && [ -z "$text" ]
}

# within SECONDS CMD...: or the test fails, saying what was waited for.  On a machine that has no time for us a look takes long,
# and so does what is looked for: it is only when we looked often that what we did not see was late.
within() {
	LAB_TRIES=2 lab_wait "$@" || {
		echo "not within $1 s: ${*:2}"
		squeue
		sinfo
		burstctl nodes
		return 1
	}
}

# nodes burstd has in STATE, one a line; ANY: any but gone.  For some dozens of nodes jq would take longer than all else of a
# look, and bash for hundreds: it copies the text for each.
burstd_nodes() {
	local text name state older LC_ALL=C
	text=$(burstctl nodes --json) && [[ $text =~ \"nodes\":\ *\[ ]] || return
	if [ ${#text} -gt 32768 ]; then
		jq -r --arg state "$1" '.nodes[] | select(if $state == "ANY"
			then (.state | IN("gone", "none") | not) or .older != 0 else .state == $state end).name' <<<"$text"
		return
	fi
	text=${text//\": /\":}
	while [[ $text = *'"name":"'* ]]; do
		text=${text#*\"name\":\"}
		name=${text%%\"*} state=${text#*\"state\":\"} older=${text#*\"older\":}
		state=${state%%\"*} older=${older%%[!0-9]*}
		case $1 in
		"$state") echo "$name" ;;
		ANY) [[ $state = @(gone|none) && $older = 0 ]] || echo "$name" ;;
		esac
	done
}

burstd_has() {
	local text rows
	text=$(burstd_nodes "$2") || return
	mapfile -t rows <<<"$text"
	[ -n "$text" ] || rows=()
	[ ${#rows[@]} = "$1" ]
}

alive() {
	local looked
	sim_look /admin/stats && [[ $looked =~ \"live\":\ *([0-9]+) ]] && [ "${BASH_REMATCH[1]}" = "$1" ]
}

# busy: ms that ten small programs take at this moment, one after the other; by so much a limit in ms is longer
busy() {
	local t0=${EPOCHREALTIME/./}
	for _ in {1..10}; do env true; done
	echo $(((${EPOCHREALTIME/./} - t0) / 1000))
}

# slurmctld's log, of this test only
slurmctld_log_from_now() {
	log_from=$(($(stat -c %s /var/log/slurm/slurmctld.log) + 1))
}

slurmctld_log() {
	tail -c +"$log_from" /var/log/slurm/slurmctld.log
}

# --- doing ------------------------------------------------------------------------------------

# What a job runs that must not end before it has been looked at: it ends when `over` says so.
# shellcheck disable=SC2016,SC2034
until_over='until [ -e "over-$SLURM_JOB_ID" ]; do sleep 0.2; done'

# over JOB...: the job may end
over() {
	local job
	for job; do : >"$lab_dir/home/over-$job"; done
}

# hold_boots: machines that are bought from now on run, and have no slurmd before let_boot.  A machine that is to be seen
# booting boots for as long as that takes.
hold_boots() {
	: >"$lab_dir/hold"
	echo "while [ -e $lab_dir/hold ]; do sleep 0.1; done" >/etc/simcloud/boot.conf
}

let_boot() {
	rm -f "$lab_dir/hold"
}

# An own time limit, since a hook may block for ever: hook KIND LIST [RESUME_FILE]; sets hook_rc and hook_ms.
hook() {
	local kind=$1 list=$2 file=${3-} t0=${EPOCHREALTIME/./}
	hook_rc=0
	timeout 20 setpriv --reuid=slurm --regid=slurm --init-groups env -i \
		${file:+SLURM_RESUME_FILE="$file"} "$lab_dir/bin/burst-$kind" "$list" >"$lab_dir/hook.out" 2>"$lab_dir/hook.err" || hook_rc=$?
	hook_ms=$(((${EPOCHREALTIME/./} - t0) / 1000))
	echo "burst-$kind ${list:0:60}: status $hook_rc, $hook_ms ms, $(cat "$lab_dir/hook.err")"
}

# spooled -ge 1: calls that burstd has not taken yet
spooled() {
	test "$(find /var/spool/burstd -type f ! -name '*.bad' ! -name '.*' | wc -l)" "$@"
}

# metric NAME: its value, as burstd has it now; NAME with its labels
metric() {
	curl -sS --max-time 5 http://127.0.0.1:9818/metrics | sed -n "s/^$1 //p"
}

all_down() {
	powered_down "c[1-$LAB_NODES]"
}

calm() {
	# What a failed test left behind must not fail the next one.
	let_boot
	lab_running burstd || lab_start burstd
	kill -CONT "$(lab_pid burstd)"
	scancel -u researcher
	within 20 no_jobs
	# A node that failed rests for a minute and more, for as long as this burstd lives.
	if scontrol -o show nodes | grep -q 'burstd: it did not come up'; then
		lab_stop burstd
		lab_start burstd
	fi
	local up
	up=$(sinfo -h -N -o '%N %T' | awk '$2 !~ /^idle[~%]$/ { print $1 }' | sort -u | paste -sd,)
	# With a reason of burstd's own: where it set the node DOWN at this moment, it brings it back.
	[ -z "$up" ] || scontrol update nodename="$up" state=POWER_DOWN_FORCE reason='burstd: the test is over'
	# One that failed a moment ago rests only now.
	within 10 all_down || {
		lab_stop burstd
		lab_start burstd
		within 25 all_down
	}
	within 25 alive 0
	within 25 burstd_has 0 ANY
	# Nor is a place to be left alone that had nothing for the test before.
	burstctl retry >/dev/null
}

# resume_timeout SECONDS: from now on
resume_timeout() {
	grep -q "^ResumeTimeout=$1\$" /etc/slurm/slurm.conf && return
	sed "s/^ResumeTimeout=.*/ResumeTimeout=$1/" -i /etc/slurm/slurm.conf
	scontrol reconfigure
}

# sim_reclaim NODES MS: the provider takes back what runs as NODES (a glob), with so much notice
sim_reclaim() {
	sim POST /admin/reclaim "{\"node\": \"$1\", \"notice_ms\": $2}" >/dev/null
}

# sim_kill NODES: what runs as NODES (a glob) ends, without a word
sim_kill() {
	sim POST /admin/kill "{\"node\": \"$1\"}" >/dev/null
}

# audit [GRACE]: simcloud's verdict on all that happened since the lab began; and no program broke
audit() {
	run -1 grep -E 'Assertion|Sanitizer|runtime error' /var/log/burstd.log /var/log/simcloud.log
	"$lab_here/wanted" >"$lab_dir/wanted"
	sim GET /admin/meter >"$lab_dir/meter.json"
	"$lab_dir/bin/simcloud" audit --meter "$lab_dir/meter.json" --wanted "$lab_dir/wanted" --grace "${1:-10s}" || {
		cat "$lab_dir/wanted" "$lab_dir/meter.json"
		return 1
	}
}
