#!/usr/bin/env bats
# Fair share and limits by price: what `burstctl slurm-conf` writes, advises and prints for sacctmgr is done as it says, on a
# site that had nothing of the kind; and then the usage that slurmctld counts follows the prices of burstd.conf.

# Variables from the helper; scripts for the job to expand.
# shellcheck disable=SC2016,SC2030,SC2031,SC2034,SC2154
load helper
LAB_NODES=4

# In units of billing_unit, 0.01: a node of either pool an hour, and a node at the price of spot.
listed=2952 cheap=1640 spot=1200

setup_file() {
	own_lab || return
	LAB_POOL='node = "CPUs=8 RealMemory=1000" gres = "gpu:h100:8"'
	LAB_OFFERS="$(lab_offer listed eu-north-1a on-demand) $(lab_offer spare eu-north-1b spot)"
	lab_files && lab_slurm_conf && lab_burstd_conf || return
	sed -i 's/^slurm {/& billing_unit = "0.01"/' /etc/burstd/burstd.conf
	cat >>/etc/burstd/burstd.conf <<-'C'
		pool "a100" {
			nodes     = "d[1-4]"
			provider  = "sim" type = "gpu_8x_a100" region = "eu-north-1" price = "16.40"
			max_nodes = 4 max_rate = "100" boot_timeout = "10m"
			node      = "CPUs=8 RealMemory=1000" gres = "gpu:a100:8"
		}
		budget "physics" { accounts = {"physics"} amount = "50" }
	C
	site
	heed 'AccountingStorageEnforce|Priority[A-Za-z]*'
	"$lab_dir/bin/burstctl" slurm-conf --write >"$lab_dir/written" 2>&1 || {
		cat "$lab_dir/written"
		return 1
	}
	local name
	for name in $lab_programs; do
		lab_start "$name" || return
		[ "$name" != slurmdbd ] || accounts || return
	done
}

# A site with a machine of its own, that has slurmdbd and has thought of neither fair share nor prices.
site() {
	site_lines
	printf '%s\n' GresTypes=gpu 'NodeName=own1 CPUs=2 RealMemory=500' 'PartitionName=own Nodes=own1 Default=YES' \
		PriorityCalcPeriod=1 >>/etc/slurm/slurm.conf # a minute, the shortest
	printf 'NodeName=%s Name=gpu Type=%s File=%s\n' 'c[1-4]' h100 "$lab_dir/dev/gpu[0-7]" 'd[1-4]' a100 "$lab_dir/dev/gpu[0-7]" \
		>/etc/slurm/gres.conf
	echo '10.77.255.1 own1' >>/etc/hosts
}

# Of shares the site alone decides; the QOS are made as --sacctmgr prints them.
accounts() {
	local a commands shares=2
	for a in double single cheap half spot physics; do
		sacctmgr -i add account $a fairshare=$shares || return
		shares=1
		sacctmgr -i add user researcher account=$a || return
	done >/dev/null
	commands=$("$lab_dir/bin/burstctl" slurm-conf --sacctmgr | grep '^sacctmgr ') && sh -ec "$commands" >/dev/null &&
		sacctmgr -i modify user researcher account=spot set qos+=burst-h100-spot >/dev/null &&
		sacctmgr -i modify user researcher account=physics set qos+=burst-physics >/dev/null
}

# of ACCOUNT COLUMN: what sshare has of it
of() {
	sshare -lnP -A "$1" -o "Account,$2" | awk -F'|' -v a="$1" '{ sub(/^ */, "", $1) } $1 == a { print $2; exit }'
}

# of_user ACCOUNT COLUMN: and of researcher in it
of_user() {
	sshare -lnP -A "$1" -u researcher -o "User,$2" | sed -n 's/^researcher|//p'
}

# near A B PERCENT
near() {
	echo "$1 is to be $2 within $3 %"
	awk -v a="$1" -v b="$2" -v p="$3" 'BEGIN { d = a - b; if (d < 0) d = -d; exit !(b > 0 && d <= b * p / 100) }'
}

# quotient A B
quotient() {
	awk -v a="$1" -v b="$2" 'BEGIN { printf "%.6f", a / b }'
}

# elapsed JOB: for how many seconds it ran, by slurmdbd
elapsed() {
	sacct -nX -P -j "$1" -o elapsedraw,end | sed -n 's/^\([1-9][0-9]*\)|20.*/\1/p'
}

# comes_to ACCOUNT JOB UNITS: its usage is that of the job, of so many units an hour.  What is some minutes old has decayed by less
# than half a percent.
comes_to() {
	local seconds
	seconds=$(elapsed "$2")
	near "$(of "$1" RawUsage)" $((seconds * $3)) 0.5
}

# its_job ACCOUNT: the job that it had
its_job() {
	sed -n "s/^$1 //p" "$lab_dir/jobs_of"
}

setup() {
	:
}

@test "what slurm-conf advises about accounts and priorities is in force, and it asks for nothing more" {
	# PriorityType has that by default in newer releases.
	cut -d= -f1 "$lab_dir/heeded" | sort | paste -sd' ' | tee /dev/stderr |
		grep -xE 'AccountingStorageEnforce PriorityFlags (PriorityType )?PriorityWeightFairshare PriorityWeightTRES'
	run "$lab_dir/bin/burstctl" slurm-conf --check
	echo "$output"
	[ "$status" = 0 ]
	run ! grep -E 'Priority|AccountingStorage|TRESBillingWeights|not in force' <<<"$output"
	scontrol show config | grep -E '^PriorityType *= priority/multifactor'
	scontrol show config | grep -E '^PriorityWeightFairShare *= 10000'
	# Whole nodes cost their list price, and so do all four.
	scontrol -o show partition h100 | grep -E " TRES=[^ ]*billing=$((4 * listed)),"
	scontrol -o show partition a100 | grep -E " TRES=[^ ]*billing=$((4 * cheap)),"
	# None of the lab's jobs may be an account's that is not its user's: slurm-conf said why.
	run job -p h100 -A root -N1 --wrap true
	[[ $status != 0 && $output = *'Invalid account'* ]]
}

@test "what slurmctld counts of an account follows the price of its pool, its part of the node, and its QOS" {
	local a
	# account, partition, units an hour, and what the job asks for
	while read -r a part units asks; do
		# shellcheck disable=SC2086  # words
		echo "$a $(job -p "$part" -A "$a" -N1 --time=10 $asks --wrap "$until_over")"
	done >"$lab_dir/jobs_of" <<-'T'
		double h100 2952 --gres=gpu:8
		single h100 2952 --gres=gpu:8
		cheap a100 1640 --gres=gpu:8
		half h100 1476 --gres=gpu:4
		spot h100 1200 --gres=gpu:8 --qos=burst-h100-spot
	T
	for a in double single cheap half spot; do within 60 job_is "$(its_job $a)" RUNNING; done
	sleep 15
	# shellcheck disable=SC2046  # words
	over $(cut -d' ' -f2 "$lab_dir/jobs_of")
	for a in double single cheap half spot; do
		within 60 job_is "$(its_job $a)" COMPLETED
		within 30 eval '[ "$(elapsed "$(its_job "$a")")" -ge 15 ]'
	done
	comes_to double "$(its_job double)" $listed
	comes_to single "$(its_job single)" $listed
	comes_to cheap "$(its_job cheap)" $cheap
	comes_to half "$(its_job half)" $((listed / 2))
	comes_to spot "$(its_job spot)" $spot
	# The ratio of what a second costs is that of the prices in burstd.conf, which nothing above has said.
	near "$(quotient "$(quotient "$(of single RawUsage)" "$(elapsed "$(its_job single)")")" \
		"$(quotient "$(of cheap RawUsage)" "$(elapsed "$(its_job cheap)")")")" "$(quotient 29.52 16.40)" 0.5
	# slurmctld's own table has the same, and its limits go by it: in minutes.
	scontrol -o show assoc_mgr flags=assoc accounts=single | grep -E 'Account=single .*UserName= ' >"$lab_dir/assoc"
	near "$(sed -E 's|.*UsageRaw/Norm/Efctv=([0-9.]*)/.*|\1|' "$lab_dir/assoc")" "$(of single RawUsage)" 0.1
	near "$(sed -E 's|.* GrpTRESMins=[^ ]*billing=N\(([0-9]*)\).*|\1|' "$lab_dir/assoc")" $(($(of single RawUsage) / 60)) 1
}

# counted RAW: slurmctld has counted again, which it does every PriorityCalcPeriod, and with that what it has decays
counted() {
	[ "$(of double RawUsage)" -lt "$1" ] && [ "$(of double EffectvUsage)" != 0.000000 ]
}

# factor JOB: what fair share adds to its priority
factor() {
	sprio -h -j "$1" -o %F | tr -d ' '
}

@test "with the same usage the account with more shares has the higher factor, and its job starts first" {
	local first second boots
	# Meanwhile a machine boots, which is nobody's usage.
	hold_boots
	boots=$(job -p a100 -A physics -N1 -w d4 --exclusive --time=10 --wrap "$until_over")
	within 20 job_is "$boots" CONFIGURING
	within 100 counted "$(of double RawUsage)"
	job_is "$boots" CONFIGURING
	sshare -la
	[ "$(of physics RawUsage)" = 0 ]
	let_boot
	# Twice the shares make twice the level; and half the usage is as good as twice the shares.
	near "$(quotient "$(of double RawUsage)" "$(of single RawUsage)")" 1 10
	near "$(quotient "$(of double LevelFS)" "$(of single LevelFS)")" \
		"$(quotient $((2 * $(of single RawUsage))) "$(of double RawUsage)")" 1
	near "$(quotient "$(of half LevelFS)" "$(of single LevelFS)")" \
		"$(quotient "$(of single RawUsage)" "$(of half RawUsage)")" 1
	# From cheap to dear: nobody, spot, and of the same shares the dearest pool is the worst.
	awk -v p="$(of_user physics FairShare)" -v s="$(of_user spot FairShare)" -v c="$(of_user cheap FairShare)" \
		-v l="$(of_user single FairShare)" -v d="$(of_user double FairShare)" \
		'BEGIN { print p, s, d, c, l; exit !(p > s && s > c && c > l && d > l && l > 0) }'
	scontrol update partition=h100 state=DOWN
	first=$(job -p h100 -A single -N1 -w c1 --exclusive --time=10 --wrap "$until_over")
	second=$(job -p h100 -A double -N1 -w c1 --exclusive --time=10 --wrap "$until_over")
	within 20 eval '[ "$(factor "$first")" -gt 0 ] && [ "$(factor "$second")" -gt 0 ]'
	sprio
	# PriorityWeightFairshare times the factor
	near "$(factor "$first")" "$(quotient "$(of_user single FairShare)" 0.0001)" 1
	near "$(factor "$second")" "$(quotient "$(of_user double FairShare)" 0.0001)" 1
	[ "$(factor "$second")" -gt "$(factor "$first")" ]
	scontrol update partition=h100 state=UP
	within 60 job_is "$second" RUNNING
	job_is "$first" PENDING
	over "$second"
	within 60 job_is "$first" RUNNING
	over "$first"
	within 30 job_is "$first" COMPLETED
	over "$boots"
	within 60 job_is "$boots" COMPLETED
	within 30 eval '[ -n "$(elapsed "$boots")" ]'
	comes_to physics "$boots" $cheap
}

@test "the QOS of a budget is its amount at list prices: what is dearer waits, and nothing is bought for it" {
	local rows dear fits
	rows=$(sim_rows)
	# 50 EUR are 101 minutes of a node.  Time limits are whole minutes.
	dear=$(job -p h100 -A physics --qos=burst-physics -N1 --gres=gpu:8 --time=102 --wrap "$until_over")
	within 20 eval '[ "$(squeue -h -j "$dear" -o %r)" = QOSGrpBillingMinutes ]'
	fits=$(job -p h100 -A physics --qos=burst-physics -N1 --gres=gpu:8 --time=80 --wrap "$until_over")
	within 60 job_is "$fits" RUNNING
	job_is "$dear" PENDING
	[ "$(sim_rows)" = "$rows" ]
	scancel "$dear"
	over "$fits"
	within 30 job_is "$fits" COMPLETED
}
