#!/usr/bin/env bats
# What admins order by burstctl: drain, terminate, pause, resume; and `burstctl check`.  Idle nodes would stay for long here,
# so what goes goes because it was told to.

# Variables from the helper; scripts for the job to expand.
# shellcheck disable=SC2016,SC2034,SC2154
load helper
LAB_SUSPEND_TIME=300

setup() {
	calm
	rows=$(sim_rows)
	slurmctld_log_from_now
}

teardown() {
	[ -n "${BATS_TEST_COMPLETED-}" ] || lab_logs
	burstctl resume >/dev/null
	lab_running slurmctld || lab_start slurmctld
	scancel -u researcher
}

new_rows() {
	echo $(($(sim_rows) - rows))
}

restarts() {
	scontrol -o show job "$1" | sed -n 's/.* Restarts=\([0-9]*\).*/\1/p'
}

event() {
	burstctl events --json -n 1000 | jq -c --arg t "$1" --arg n "$2" --arg d "$3" \
		'select(.type == $t and .node == $n and (.detail | contains($d)))' | grep .
}

why() {
	burstctl node show "$1" --json | jq -r .why
}

# status CODE: what `run` ended with, after words that its output must have
said() {
	local code=$1 word
	shift
	echo "status $status, wanted $code: $output"
	[ "$status" = "$code" ] || return 1
	for word; do
		[[ $output == *"$word"* ]] || return 1
	done
}

# Over all that burstd's control socket knows, from its own table: one that is new is looked at here too.
@test "each order is denied to every uid but root, burstd's own and admins, whatever program asks" {
	cat >"$lab_dir/ask_all.py" <<-'P'
		import json, socket, struct, sys
		def read(s, n):
		    b = b""
		    while len(b) < n:
		        more = s.recv(n - len(b))
		        if not more: break
		        b += more
		    return b
		for op in sys.argv[1:]:
		    s = socket.socket(socket.AF_UNIX)
		    s.settimeout(20)
		    s.connect("/run/burstd/ctl.sock")
		    # All that one of them asks for; what is whole for one is too much for none.
		    q = json.dumps({"v": 1, "op": op, "kind": "resume", "at_ms": 1, "file": "none", "all": True, "nodes": "c1",
		                    "job": 1, "machine": "c1", "key": "munge"}).encode()
		    s.sendall(b"J" + struct.pack(">I", len(q)) + q)
		    head = read(s, 5)
		    a = json.loads(read(s, struct.unpack(">I", head[1:])[0])) if len(head) == 5 else {}
		    print(op, "ok" if a.get("ok") else a.get("code") or a.get("error"))
	P
	mapfile -t ops < <(sed -n 's/^\t{"\([a-z-]*\)", CTL_[A-Z]*, .*},$/\1/p' "$lab_repo/burstd/api/ctl_api.c")
	anybody=' status nodes node events pools plan budgets images secrets secrets-rotation '
	[ "${#ops[@]}" -gt 20 ]
	before=$(burstctl events --json -n 1 | jq .seq)
	for user in researcher munge daemon; do
		run lab_as "$user" python3 "$lab_dir/ask_all.py" "${ops[@]}" call
		echo "$user: $status: $output"
		[ "$status" = 0 ]
		[ "${#lines[@]}" = $((${#ops[@]} + 1)) ]
		# Nobody can make a call here: it is a file in the spool.
		[ "${lines[-1]}" = "call invalid" ]
		for line in "${lines[@]:0:${#ops[@]}}"; do
			if [[ $anybody == *" ${line% *} "* ]]; then
				[ "${line#* }" != denied ]
			else
				[ "${line#* }" = denied ]
			fi
		done
	done
	# And nothing came of them.
	[ "$(burstctl events --json -n 1 | jq .seq)" = "$before" ]
	burstctl pools --json | jq -e 'all(.pools[]; .paused | not)'
	[ "$(new_rows)" = 0 ]
	# It is who asks: to root none of them is denied, though some have no sense as they are.
	for user in root slurm; do
		run -0 lab_as "$user" python3 "$lab_dir/ask_all.py" config audit audit-verify reconcile drain retry resume
		[[ $output != *denied* ]]
	done
}

@test "drain: the job ends in peace, no other starts there, the node goes and can be bought again" {
	job=$(job -w c1 --exclusive --wrap "$until_over")
	within 30 job_is "$job" RUNNING
	run burstctl drain c1,c2,c1
	said 0 '1 node will be drained, with a job; 1 was off already'
	within 10 node_is c1 DRAIN
	[[ $(why c1) == 'leaving: drained by an admin; Slurm '* ]]
	next=$(job -w c1 --exclusive --wrap 'sleep 1')
	job_is "$job" RUNNING
	over "$job"
	within 30 job_is "$job" COMPLETED
	[ "$(restarts "$job")" = 0 ]
	event drained c1 "ordered by uid $(id -u slurm), admin"
	# What waited for it gets another instance of it.
	within 60 job_is "$next" COMPLETED
	[ "$(new_rows)" = 2 ]
	run burstctl drain 'c[1-2]'
	said 0
	within 30 powered_down 'c[1-2]'
	within 20 alive 0
}

@test "drain of an idle node: it goes at once" {
	scontrol update nodename=c3 state=POWER_UP
	within 30 burstd_has 1 ready
	run burstctl drain c3 --json
	said 0
	[ "$(jq -c . <<<"$output")" = '{"nodes":1,"busy":0,"off":0}' ]
	within 30 powered_down c3
	within 20 alive 0
	within 10 burstd_has 0 ANY
	[[ $(why c3) == 'off: drained by an admin' ]]
}

@test "terminate: the instance goes now, its batch job runs again on another, srun's ends" {
	job=$(job -w c1 --exclusive --wrap "$until_over")
	lab_as researcher srun -w c2 --exclusive sleep 100 >/dev/null 2>&1 &
	srun=$!
	within 30 job_is "$job" RUNNING
	within 30 burstd_has 2 ready
	within 30 eval '[ "$(squeue -h -t R | wc -l)" = 2 ]'
	interactive=$(squeue -h -w c2 -o %i)
	# More than one, and nobody to ask.
	run burstctl terminate 'c[1-2]' </dev/null
	said 2 'terminate 2 nodes, 2 of them with jobs: say --yes'
	run burstctl terminate --all </dev/null
	said 2 'say --yes'
	[ "$(new_rows)" = 2 ]
	alive 2
	run burstctl terminate --all --yes
	said 0 '2 nodes will be terminated, 2 of them with jobs'
	# Not a drain's words: nobody waits for these jobs.
	[[ $(why c1) == *'terminated by an admin'* && $(why c1) != *'when its jobs are done'* ]]
	within 20 eval '[ "$(restarts "$job")" = 1 ]'
	over "$job"
	within 20 job_is "$interactive" NODE_FAIL
	within 20 eval '! kill -0 "$srun"'
	event terminated c1 "ordered by uid $(id -u slurm), admin"
	event terminated c2 "ordered by uid $(id -u slurm), admin"
	burstctl nodes --all | grep '^c2 .*  terminated by an admin$'
	within 60 job_is "$job" COMPLETED
	[ "$(new_rows)" = 3 ]
}

@test "pause: what runs goes on, nothing is bought, over a restart too; the job waits and knows why; resume ends it" {
	first=$(job -w c1 --exclusive --wrap "$until_over")
	within 30 job_is "$first" RUNNING
	run burstctl pause h100
	said 0 'pool h100 is paused'
	run burstctl pause h100
	said 0 'pool h100 was paused already'
	lab_kill burstd
	lab_start burstd
	second=$(job -w c2 --exclusive --wrap 'sleep 1')
	within 20 eval 'scontrol show job "$second" | grep -q "AdminComment=burstd: pool h100: paused by an admin"'
	over "$first"
	within 20 job_is "$first" COMPLETED
	job_is "$second" PENDING
	[ "$(new_rows)" = 1 ]
	burstctl status --json | jq -e '.pools[0].paused and (.problems | any(startswith("pool h100: paused by an admin")))'
	# The restart has not forgotten who did it and when, and a person has a name.
	burstctl status | grep '  ! pool h100: paused by an admin (slurm, admin, since 20[-0-9:T]*); .* until "burstctl resume h100"$'
	event paused '' "pool h100, ordered by uid $(id -u slurm), admin"
	# It is deleted as ever.
	burstctl drain c1
	within 30 alive 0
	run burstctl resume
	said 0 'pool h100 is resumed'
	scontrol update job "$second" starttime=now
	within 60 job_is "$second" COMPLETED
	[ "$(new_rows)" = 2 ]
	burstctl status --json | jq -e '.pools[0].paused == false'
}

@test "orders of others, and about nodes and pools that are not there, are refused" {
	scontrol update nodename=c1 state=POWER_UP
	within 30 burstd_has 1 ready
	run lab_as researcher "$lab_dir/bin/burstctl" terminate c1
	said 1 "you are researcher"
	run lab_as researcher "$lab_dir/bin/burstctl" pause
	said 1 'pause is for'
	run burstctl terminate c1,c99 </dev/null
	said 1 'no pool names a node "c99"'
	run burstctl terminate --yes c1,c99
	said 1 'no pool names a node "c99"'
	run burstctl drain 'c[1-'
	said 2
	run burstctl pause a100
	said 1 'no pool is named "a100"'
	run burstctl nodes --pool a100
	said 1 'no pool is named "a100"'
	run burstctl events --node c99
	said 1 'no pool names a node "c99"'
	run burstctl terminate c1 c2
	said 2 'NODES is one list: c1,c2'
	sleep 2
	alive 1
	node_is_not c1 'DRAIN|POWER'
	burstctl status --json | jq -e '.pools[0].paused == false'
	burstctl terminate c1
	within 20 alive 0
}

@test "check: what slurmctld has read, the same as in status, and 3 when it does not answer" {
	run burstctl check
	# boot_timeout is 10 min, ResumeTimeout a minute: slurmctld would give up first.
	said 1 'ok: /etc/burstd/burstd.conf: cluster lab' '  error    ResumeTimeout is' 'wanted: '
	within 20 eval 'burstctl status --json | jq -e .slurm_conf'
	[ "$(burstctl status --json | jq -c .slurm_conf)" = "$(burstctl check --json | jq -c .slurm_conf)" ]
	burstctl status --json | jq -e '.problems | any(startswith("slurm.conf (error): ResumeTimeout is"))'
	curl -s http://127.0.0.1:9818/metrics | grep -q '^burstd_slurm_conf_problems{severity="error"} [1-9]'
	# As before an installation: no burstd, no configuration.
	lab_stop burstd
	run burstctl check /nowhere/burstd.conf
	said 1 '/nowhere/burstd.conf' 'what depends on pools was not checked'
	sed 's/boot_timeout = "10m"/boot_timeout = "10s"/' -i /etc/burstd/burstd.conf
	resume_timeout 100
	within 10 eval 'scontrol show config | grep -q "ResumeTimeout *= 100"'
	run burstctl check
	echo "$output"
	[[ $output != *'ResumeTimeout is'* ]]
	lab_stop slurmctld
	run burstctl check
	said 3 'slurmctld does not answer'
	lab_start slurmctld
	resume_timeout 60
	lab_burstd_conf
	lab_start burstd
}

@test "no duplicate and no leaked second in all of this" {
	calm
	audit
}
