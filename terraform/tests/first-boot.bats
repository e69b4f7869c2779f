#!/usr/bin/env bats
# The controller's first boot: what modules/controller/cloud-init has cloud-init do, on a bare Debian 12 with a systemd of its
# own, with a package that is made of this tree (first-boot.sh); one job on a simulated cloud; and modules/guard, while a
# machine is there.
# shellcheck disable=SC2016,SC2030,SC2031,SC2154  # lines, of bats; words for a shell there
load ../../tests/bare/host

setup_file() {
	own_host || return
	export MADE=${BUILD:-build}/terraform/first-boot
}

@test "cloud-init writes files, and a package is there" {
	cp "$MADE/burstd_test.deb" "$BARE_ROOT/root/"
	while read -r file; do
		path=$BARE_ROOT$(jq -r .path <<<"$file")
		install -D -m "$(jq -r .permissions <<<"$file")" /dev/null "$path"
		jq -j .content <<<"$file" >"$path"
	done < <(jq -c '.[]' "$MADE/files")
	[ "$(jq -c . "$MADE/run")" = '[["/usr/local/sbin/burst-setup"]]' ]
}

first_boot() {
	run host timeout 500 /usr/local/sbin/burst-setup
	tail -n 40 <<<"$output"
	[ "$status" = 0 ]
	[ "${lines[-1]}" = "burst-setup: done" ]
}

@test "the first boot makes it a controller that bursts" {
	# The key of the cloud, which no module has, and an admin puts there.
	run ! host timeout 500 /usr/local/sbin/burst-setup
	[[ ${lines[-1]} == "burst-setup: burstd.conf names a file that is not there yet"* ]]
	echo key-of-a-test >"$BARE_ROOT/etc/burstd/cloud.key"
	host chown slurm /etc/burstd/cloud.key
	host chmod 600 /etc/burstd/cloud.key
	first_boot
	for unit in munge mariadb slurmdbd slurmctld burstd burst-ledger; do
		echo "$unit"
		host systemctl is-enabled --quiet "$unit"
	done
	[ "$(cat "$BARE_ROOT/var/lib/burstd/uuid")" = 0a1b2c3d-0000-4000-8000-001122334455 ]
	[ "$(stat -c %a "$BARE_ROOT/etc/slurm/slurmdbd.conf")" = 600 ]
	host sacctmgr -n show cluster format=cluster | grep -q falcon
	host systemctl is-active slurmctld slurmdbd munge mariadb
}

@test "it runs again, and changes nothing" {
	sums() { host sha256sum /etc/slurm/slurm.conf /etc/slurm/slurmdbd.conf /etc/burstd/burstd.conf /var/lib/burstd/uuid /etc/munge/munge.key; }
	before=$(sums)
	first_boot
	[ "$(sums)" = "$before" ]
}

@test "the keys are printed for the secret store, and onto no terminal" {
	[ "$(host /usr/local/sbin/burst-bundle | jq -r .munge_key | base64 -d | sha256sum)" = "$(host sha256sum /etc/munge/munge.key | sed 's|/.*|-|')" ]
	run ! host script -qec /usr/local/sbin/burst-bundle /dev/null
}

@test "a job runs on a machine that was not there" {
	host systemctl mask --quiet slurmd
	host apt-get -qq install -y --no-install-recommends slurmd >"$BARE_ROOT/root/apt.log" 2>&1
	echo ProctrackType=proctrack/linuxproc >>"$BARE_ROOT/etc/slurm/slurm.conf"
	echo CgroupPlugin=cgroup/v1 >"$BARE_ROOT/etc/slurm/cgroup.conf"
	cloud
	host systemctl restart slurmctld burstd
	within 30 host sh -c 'burstctl status | grep -q "All is well"'
	run -0 host timeout 120 su admin -c 'srun -p cloud -N1 --gres=gpu:h100:8 hostname'
	[ "${lines[-1]}" = gpu1 ]
}

# What the cloud has, whoever knows of it.
instances() {
	nsenter --target "$BARE_PID" --net curl -sSf -H 'Authorization: Bearer key-of-a-test' http://127.0.0.1:8900/v1/instances |
		jq -r '.instances[] | select(.state != "ended") | .id'
}

@test "before all else is destroyed burstd's machines are gone" {
	host su admin -c 'sbatch -o /dev/null -p cloud -N2 --wrap "sleep 600"'
	within 60 host sh -c '[ "$(burstctl nodes --state ready --json | tr -d " \n" | grep -o "\"state\":\"ready\"" | wc -l)" = 2 ]'
	[ "$(instances | wc -l)" -ge 2 ]
	cp terraform/modules/guard/empty.sh "$BARE_ROOT/root/empty.sh"
	# It has no time: they are still there, and it fails.
	run ! host sh /root/empty.sh 0
	[[ $output == *'nothing else is destroyed'* ]]
	run host sh /root/empty.sh 120
	echo "$output"
	[ "$status" = 0 ]
	[ "${lines[-1]}" = "burstd has no node any more" ]
	[ -z "$(instances)" ]
	# Without burstd nobody knows, and it fails.
	host systemctl stop burstd
	run ! host sh /root/empty.sh 10
	[[ $output == *'does not answer'* ]]
}
