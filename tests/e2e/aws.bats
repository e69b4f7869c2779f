#!/usr/bin/env bats
# The driver aws against moto, a simulated EC2 (`make contract` brings it): what slurmctld wants is launched by one call,
# is who its tags and launch index say, and goes. moto's instances boot nothing, ignore client tokens and never lack.

# Variables from the helper; text for python to expand.
# shellcheck disable=SC2016,SC2034,SC2154
load helper
lab_programs='munged mariadbd slurmdbd slurmctld moto imds burstd'
python=$lab_repo/build/contract/bin/python

# tests/contract/aws.sh makes the environment, and writes down when all is in it: one that PyPI broke off is none.
has_moto() {
	cmp -s "$lab_repo/tests/contract/requirements.txt" "$lab_repo/build/contract/installed" &&
		"$python" -m pip --version >/dev/null 2>&1
}

setup_file() {
	[ -d /run/lab ] || return 1
	! has_moto || lab_up
}

lab_burstd_conf() {
	cat >/etc/burstd/burstd.conf <<-C
		cluster  = "lab"
		currency = "USD"
		slurm { conf = "/etc/slurm/slurm.conf" }
		provider "ec2" {
			driver       = "aws"
			url          = "http://127.0.0.1:8950/"
			metadata_url = "http://127.0.0.1:8951"
			region       = "eu-west-1"
			image        = "ami-1"
			settle       = "2s"
			list_every   = "2s"
		}
		pool "gpu" {
			nodes     = "c[1-$LAB_NODES]"
			provider  = "ec2"
			type      = "g4dn.metal"
			region    = "eu-west-1"
			zone      = "eu-west-1a"
			max_nodes = $LAB_NODES
			max_rate  = "1000"
			price     = "10"
		}
	C
}

lab_start_moto() {
	lab_spawn moto root "$python" -m moto.server -H 127.0.0.1 -p 8950
	lab_wait 30 instances
}

# The role of the machine that burstd runs on.
lab_start_imds() {
	lab_spawn imds root "$python" "$lab_repo/tests/contract/imds.py" 8951
	lab_wait 10 imds_answers
}

imds_answers() {
	[ "$(curl -s -o /dev/null -w '%{http_code}' http://127.0.0.1:8951/)" = 401 ]
}

# instances: "NAME-TAG LAUNCH-INDEX ID RESERVATION", one a line, of those that live
instances() {
	"$python" - <<-'P'
		import boto3
		ec2 = boto3.client("ec2", region_name="eu-west-1", endpoint_url="http://127.0.0.1:8950",
		                   aws_access_key_id="x", aws_secret_access_key="x")
		for r in ec2.describe_instances()["Reservations"]:
		    for i in r["Instances"]:
		        if i["State"]["Name"] in ("pending", "running"):
		            print({t["Key"]: t["Value"] for t in i["Tags"]}["Name"], i["AmiLaunchIndex"], i["InstanceId"],
		                  r["ReservationId"])
	P
}

alive() {
	[ "$(instances | wc -l)" = "$1" ]
}

# The nodes' instances as slurmctld has them: "NODE ADDRESS"
addresses() {
	scontrol -o show nodes "$1" | sed -n 's/^NodeName=\([^ ]*\) .*NodeAddr=\([^ ]*\) .*/\1 \2/p' | sort
}

addressed() {
	[ "$(addresses "$1" | grep -c ' 1[0-9]*\.[0-9.]*$')" = "$2" ]
}

# What burstd says: "NODE INSTANCE", of those that boot
who() {
	burstctl nodes --json | jq -r '.nodes[] | select(.state == "booting") | "\(.name) \(.instance)"' | sort
}

setup() {
	has_moto || skip "needs moto from PyPI: make contract NAME=aws"
	lab_running imds || lab_start imds
	lab_running burstd || lab_start burstd
	scancel -u researcher
	within 30 no_jobs
	local up
	up=$(sinfo -h -N -o '%N %T' | awk '$2 !~ /^idle[~%]$/ { print $1 }' | sort -u | paste -sd,)
	[ -z "$up" ] || scontrol update nodename="$up" state=POWER_DOWN_FORCE reason=calm
	within 40 all_down
	within 40 alive 0
	within 40 burstd_has 0 ANY
}

teardown() {
	[ -n "${BATS_TEST_COMPLETED-}" ] || {
		lab_logs
		instances
		tail -n 30 /var/log/moto.log
	}
}

@test "four nodes of a job are one launch, and end when the job does" {
	job=$(job -w 'c[1-4]' --exclusive --wrap 'true')
	within 30 addressed 'c[1-4]' 4
	alive 4
	[ "$(instances | cut -d' ' -f4 | sort -u | wc -l)" = 1 ]
	[ "$(instances | cut -d' ' -f1 | sort -u)" = 'c[1-4]' ]
	[ "$(instances | cut -d' ' -f2 | sort | paste -sd,)" = 0,1,2,3 ]
	[ "$(addresses 'c[1-4]' | cut -d' ' -f2 | sort -u | wc -l)" = 4 ]
	burstd_has 4 booting
	scancel "$job"
	within 30 alive 0
	within 40 burstd_has 0 ANY
}

@test "without a session nothing is sent, the status says so, and all goes on when there is one" {
	lab_stop burstd
	lab_stop imds
	lab_start burstd
	within 10 eval "burstctl status | grep -q 'login: '"
	job=$(job -w 'c[1-2]' --exclusive --wrap 'true')
	sleep 4
	alive 0
	lab_start imds
	within 40 addressed 'c[1-2]' 2
	alive 2
	burstctl status | grep -q 'login: ' && false
	scancel "$job"
	within 30 alive 0
	within 40 burstd_has 0 ANY
}

@test "with its journal lost burstd knows each instance by its tags and launch index" {
	job=$(job -w 'c[1-3]' --exclusive --wrap 'true')
	within 30 addressed 'c[1-3]' 3
	known=$(who)
	[ "$(wc -l <<<"$known")" = 3 ]
	lab_kill burstd
	rm /var/lib/burstd/journal.db*
	lab_start burstd
	within 30 burstd_has 3 booting
	# Whether it keeps them depends on who is asked first, slurmctld or EC2; who they are does not.
	while read -r node instance; do
		grep "msg=seen node=$node generation=[0-9]* .*instance $instance," /var/log/burstd.log
	done <<<"$known"
	within 20 alive 3
	# Whom they boot for was in the journal; Slurm gives them back in the end, or an admin now.
	scancel "$job"
	scontrol update nodename='c[1-3]' state=POWER_DOWN_FORCE reason=test
	within 30 alive 0
	within 40 burstd_has 0 ANY
}
