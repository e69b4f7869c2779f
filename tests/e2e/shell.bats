#!/usr/bin/env bats
# The shell of `make lab`, its commands from a pipe: a cluster of its own within this one's namespaces.

# Variables of bats.
# shellcheck disable=SC2154
bats_require_minimum_version 1.5.0
lab_repo=$(readlink -f "$BATS_TEST_DIRNAME/../..")

shell() {
	"$BATS_TEST_DIRNAME/lab/shell"
}

@test "a lab's shell: a job bursts by hand, a refusal is explained, nothing is left" {
	run -0 shell <<-'T'
		lab_wait 20 eval 'burstctl status --json | jq -e .slurm_conf' && burstctl status | sed -n 3p
		help | head -n 1
		srun -N2 hostname </dev/null | sort | paste -sd' '
		sim_capacity 2
		sbatch -N3 train.sbatch >/dev/null
		lab_wait 10 eval 'burstctl status | grep -q "no capacity"' && echo refused
		scancel -u researcher
		cloud_audit
	T
	echo "$output"
	[[ $output == *"burstctl status "* ]]
	# All is well at the start, and `help` says what can be done.
	[[ $output == *$'\nAll is well.\nYou are root; jobs run as '* ]]
	[[ $output == *$'\nc1 c2\nrefused\n'*"duplicate seconds    0.000"*"leaked seconds       0.000"* ]]
	[ ! -e /run/lab/pid ]
	run ! pgrep -x slurmctld
}

@test "a lab's shell whose machines have munge's key by their user-data: what happened there, and a thief" {
	run -0 "$BATS_TEST_DIRNAME/lab/shell" file <<-'T'
		srun -N2 sh -c 'munge -n | unmunge | grep -c Success' </dev/null
		on c1 sed -n 's/^node-init: key: \(ok\).*/keys \1/p' /run/burst/node-init.log
		burstctl secrets show | grep ^state
		claim_again c1
		lab_wait 5 eval 'burstctl events --json | grep -q breach' && echo told
		lab_wait 10 eval '! machine c1' && echo gone
		munge_key_here && munge -n | unmunge | grep -c Success
		claim_again
		cloud_audit
	T
	echo "$output"
	[[ $output == *$'gets munge\'s key from a file.\n'*$'\n1\n1\nkeys ok\n'*ready*$'\ntold\n'* ]]
	# It goes so fast that the answer may not be read.
	[[ $output == *$'\nburstd answers the thief: 409\n'* || $output == *$'\nthe machine is off before burstd\'s answer is read\n'* ]]
	[[ $output == *$'\ngone\n1\nusage: claim_again NODE\n'*"leaked seconds       0.000"* ]]
}

@test "a lab's shell: budgets to try, and what jobs cost" {
	run -0 shell <<-'T'
		try_budgets
		try_budgets >/dev/null
		echo "of that name: $(grep -c '^budget "tight"' /etc/burstd/burstd.conf)"
		sbatch train.sbatch >/dev/null
		lab_wait 20 eval 'squeue -h -O admin_comment:200 | grep budget'
		squeue -h -O admin_comment:200
		srun -t 5 -N2 hostname </dev/null | wc -l
		burst-ledger once
		burst-ledger report --by job,class
	T
	echo "$output"
	[[ $output == *'budget "tight": new'*'budget "wide": new'*$'\ntight '*$'\nwide '*$'\nof that name: 1\n'* ]]
	[[ $output == *'budget tight: this job needs 118.08 EUR an hour, 60.00 of 60.00 left'*$'\n2\n'* ]]
	[[ $output == *$'\njob '*$'\n2 '*boot*$'\nin EUR\n'* ]]
}

@test "a lab's shell with keys from nowhere: said so, and nothing is started" {
	run -2 "$BATS_TEST_DIRNAME/lab/shell" paper
	[[ $output == *'from "file" or from "vault", not from "paper"' ]]
}

# At a prompt bash has job control, which its commands from a pipe do not show.
@test "a lab's shell at a terminal: burstd can be killed and started, and mistakes say how it goes" {
	cat >"$BATS_TEST_TMPDIR/typed" <<-'T'
		lab_kill burstd; lab_start burstd && echo "burstd is""back: $(cat "/proc/$(lab_pid burstd)/comm")"
		lab_kill burstd; burstctl status || echo "it was ""$?"
		sim_capacity; cloud_reclaim; cloud_fault create; sim GET /v1/offers | jq -r '"sold" + " out: \([.offers[] | select(.available == 0)] | length)"'
		exit 5
	T
	# However it ends, its user has ended it: no error of make's.
	run -0 script -qec "$BATS_TEST_DIRNAME/lab/shell" /dev/null <"$BATS_TEST_TMPDIR/typed"
	echo "$output"
	[[ $output == *"burstd isback: burstd"* ]]
	[[ $output == *"it was 3"* ]] # not reachable: the one that was started is the one that was killed
	[[ $output == *"usage: sim_capacity "*"usage: cloud_reclaim "*"usage: cloud_fault "* ]]
	[[ $output == *"sold out: 0"* ]] # nothing was changed by them
}

@test "a lab's shell ends with the status of its last command" {
	run -3 shell <<<'exit 3'
}

# Of a clone of theirs: root's, this one may be, is perhaps closed to others.
@test "a lab's shell without root: one sentence, status 77" {
	local clone=/var/tmp/clone
	mkdir -p "$clone/tests/e2e"
	cp -rL "$BATS_TEST_DIRNAME/lab" "$clone/tests/e2e/"
	chmod -R a+rX "$clone"
	cd /
	run -77 --separate-stderr setpriv --reuid=65534 --regid=65534 --clear-groups "$clone/tests/e2e/lab/shell" </dev/null
	[ -z "$output" ]
	[ "$(wc -l <<<"$stderr")" = 1 ]
	[[ $stderr == "a private Slurm cluster needs "* ]]
}

@test "a machine that refuses namespaces is asked before anything is installed, and its reason is told" {
	mkdir "$BATS_TEST_TMPDIR/bin"
	printf '#!/bin/sh\necho "unshare: unshare failed: Operation not permitted" >&2; exit 1\n' >"$BATS_TEST_TMPDIR/bin/unshare"
	# Whatever is looked for is missing; what would be installed is written down.
	printf '#!/bin/sh\nexit 1\n' >"$BATS_TEST_TMPDIR/bin/dpkg-query"
	printf '#!/bin/sh\necho installed >>%s/apt\n' "$BATS_TEST_TMPDIR" >"$BATS_TEST_TMPDIR/bin/apt-get"
	chmod +x "$BATS_TEST_TMPDIR"/bin/*
	for target in demo lab; do
		run -2 env PATH="$BATS_TEST_TMPDIR/bin:$PATH" make -C "$lab_repo" $target
		echo "$output"
		[[ $output == *"this machine refuses them (unshare: unshare failed: Operation not permitted)."* ]]
		[[ $output == *"skipped, nothing is broken"* ]]
		[ ! -e "$BATS_TEST_TMPDIR/apt" ]
	done
}

@test "SLURM_PREFIX: a Slurm built from source lies over the machine's, and reads the lab's configuration" {
	mount -t tmpfs tmpfs /opt
	mkdir -p /opt/slurm/{bin,sbin,etc}
	printf '#!/bin/sh\necho slurm 99\n' >/opt/slurm/sbin/slurmctld
	chmod +x /opt/slurm/sbin/slurmctld
	SLURM_PREFIX=/opt/slurm run -0 "$lab_repo/tests/e2e/lab/enter" sh -c '
		slurmctld -V && /usr/sbin/slurmctld -V && slurmd -V && touch /etc/slurm/here && ls /opt/slurm/etc'
	echo "$output"
	[[ $output == "slurm 99"$'\n'"slurm 99"$'\n'"$(slurmd -V)"$'\n'*here* ]]
	for bad in '/opt/none|there is no /opt/none/sbin/slurmctld' 'slurm|slurm is no absolute path' '/tmp/slurm|would not see /tmp/slurm'; do
		SLURM_PREFIX=${bad%|*} run -77 "$lab_repo/tests/e2e/lab/enter" true
		echo "$output"
		[[ $output == "SLURM_PREFIX: "*"${bad#*|}."* ]]
	done
	umount /opt
}
