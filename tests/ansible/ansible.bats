#!/usr/bin/env bats
# The collection scripts/ansible on a Debian 12 with a systemd of its own: run.sh has ansible-core in two releases, tests/bare/run.sh
# the host.  A play is run by --check first, which must say what will change and change nothing; then twice, and the second
# time nothing may change.

# shellcheck disable=SC2154,SC2016,SC2030,SC2031,SC2034  # lines, of bats; what the host's shell expands; a variable of one test;
# what ansible_host exports
load ansible

setup_file() {
	own_host && ansible_host
}

programs() {
	host su - admin -c 'cd burstd && sudo scripts/dev/deps.sh build && make -j"$(nproc)" && sudo make install' >"$BARE_ROOT/root/make.log" 2>&1
}

@test "without programs it says what is missing, and changes nothing" {
	local before
	before=$(files)
	play "$ANSIBLE_NEW" controller.yml
	[ "$status" != 0 ]
	grep -qF '/usr/bin/burstctl is not there: install burstd first' <<<"$output"
	[ "$(files)" = "$before" ]
}

@test "--check of a first run says that it would change something, and changes nothing" {
	local before
	programs
	before=$(files)
	play "$ANSIBLE_NEW" controller.yml --check --diff
	[ "$status" = 0 ]
	[ "$(recap changed)" -ge 2 ]
	run ! grep -F key-of-a-test <<<"$output"
	[ "$(files)" = "$before" ]
	run -3 host systemctl is-active burstd
}

@test "a play makes a controller that bursts" {
	cloud
	play "$ANSIBLE_NEW" controller.yml
	[ "$status" = 0 ]
	run ! grep -F key-of-a-test <<<"$output"
	[ "$(host stat -c '%U %a' /etc/burstd/cloud.key)" = 'slurm 600' ]
	host systemctl is-active burstd burst-ledger slurmctld
	host systemctl is-enabled burstd burst-ledger
	within 20 well
	[ "$(host timeout 120 su - admin -c 'srun -p cloud -N1 --gres=gpu:h100:8 hostname')" = gpu1 ]
}

well() {
	host burstctl status | grep -qF 'All is well.'
}

@test "a second play changes nothing, whoever runs it: Debian 12's Ansible, too" {
	local before
	before=$(files)
	play "$ANSIBLE_NEW" controller.yml
	[ "$status" = 0 ]
	[ "$(recap changed)" = 0 ]
	play "$ANSIBLE_OLD" controller.yml
	[ "$status" = 0 ]
	[ "$(recap changed)" = 0 ]
	[ "$(files)" = "$before" ]
}

@test "a new limit counts without a restart, and --check says so before" {
	local pid
	pid=$(host systemctl show -P MainPID burstd)
	BURSTD_CONF=$(conf 90)
	play "$ANSIBLE_NEW" controller.yml --check
	[ "$status" = 0 ]
	[ "$(recap changed)" -ge 1 ]
	run ! grep -q '"90"' "$BARE_ROOT/etc/burstd/burstd.conf"
	play "$ANSIBLE_NEW" controller.yml
	[ "$status" = 0 ]
	[ "$(host systemctl show -P MainPID burstd)" = "$pid" ]
	host burstctl config show | grep -qE 'max_rate *= "90(\.00)?"'
}

@test "what burstd reads at start alone has it restarted" {
	local pid
	pid=$(host systemctl show -P MainPID burstd)
	BURSTD_CONF="$(conf 90)
listen = \"127.0.0.1:9818\""
	play "$ANSIBLE_NEW" controller.yml
	[ "$status" = 0 ]
	[ "$(host systemctl show -P MainPID burstd)" != "$pid" ]
	within 20 host bash -c ': </dev/tcp/127.0.0.1/9818'
}

@test "a burstd.conf with an error is refused with its line, and what runs goes on" {
	local before
	before=$(files)
	BURSTD_CONF=$(conf much) play "$ANSIBLE_NEW" controller.yml
	[ "$status" != 0 ]
	grep -q 'max_rate' <<<"$output"
	[ "$(files)" = "$before" ]
	host systemctl is-active burstd
}

@test "a line of the site's that stands in the way is named, and nothing is written" {
	sed -i 's/^ReturnToService=2$/ReturnToService=1/; /^# BEGIN burstd/,/^# END burstd/d' "$BARE_ROOT/etc/slurm/slurm.conf"
	play "$ANSIBLE_NEW" controller.yml
	[ "$status" != 0 ]
	grep -q 'slurm.conf:[0-9]*: ReturnToService=1; write ReturnToService=2' <<<"$output"
	run ! grep -q burstd "$BARE_ROOT/etc/slurm/slurm.conf"
	sed -i 's/^ReturnToService=1$/ReturnToService=2/' "$BARE_ROOT/etc/slurm/slurm.conf"
}

@test "burst_node makes an image: drop-ins, nothing that starts at boot, no key; and says before what it will do" {
	local before
	export KIND=image NODE_INIT_CONF='dcgm = off'
	host systemctl enable --quiet munge slurmd
	[ -s "$BARE_ROOT/etc/munge/munge.key" ]
	before=$(files)
	play "$ANSIBLE_NEW" node.yml --check
	[ "$status" = 0 ]
	[ "$(recap changed)" -ge 3 ]
	[ "$(files)" = "$before" ]
	play "$ANSIBLE_NEW" node.yml
	[ "$status" = 0 ]
	run host systemctl is-enabled munge slurmd
	[ "${lines[*]}" = 'disabled disabled' ]
	cmp "$BARE_ROOT/etc/systemd/system/slurmd.service.d/burst.conf" scripts/node/systemd/slurmd.service.d/burst.conf
	host systemctl cat slurmd | grep -q 'node-init --gate'
	[ "$(cat "$BARE_ROOT/etc/burstd/node-init.conf")" = 'dcgm = off' ]
	[ ! -e "$BARE_ROOT/etc/munge/munge.key" ]
	[ ! -e "$BARE_ROOT/etc/slurm/slurm.conf" ]
	play "$ANSIBLE_OLD" node.yml
	[ "$status" = 0 ]
	[ "$(recap changed)" = 0 ]
}

@test "burst_node has munged take options where its unit has none, as on EL" {
	export KIND=image
	install -D -m 644 /dev/stdin "$BARE_ROOT/etc/systemd/system/munge.service" < <(
		sed 's/munged \$OPTIONS/munged/' "$BARE_ROOT/lib/systemd/system/munge.service"
	)
	host systemctl daemon-reload
	play "$ANSIBLE_NEW" node.yml
	[ "$status" = 0 ]
	[ "$(host systemctl show -P ExecStart munge | grep -o 'argv\[\]=[^;]*')" = 'argv[]=/usr/sbin/munged $OPTIONS ' ]
	play "$ANSIBLE_NEW" node.yml
	[ "$(recap changed)" = 0 ]
	rm "$BARE_ROOT/etc/systemd/system/munge.service" "$BARE_ROOT/etc/systemd/system/munge.service.d/options.conf"
	host systemctl daemon-reload
}

@test "burst_node lets burstd switch off a machine that stays, and do nothing else there" {
	export KIND=static POWEROFF_KEY='ssh-ed25519 AAAAC3 burstd'
	play "$ANSIBLE_NEW" node.yml
	[ "$status" = 0 ]
	grep -qxF 'restrict,command="systemctl poweroff" ssh-ed25519 AAAAC3 burstd' "$BARE_ROOT/root/.ssh/authorized_keys"
	[ "$(stat -c %a "$BARE_ROOT/root/.ssh/authorized_keys")" = 600 ]
	POWEROFF_KEY='ssh-ed25519 BBBBD4 burstd'
	play "$ANSIBLE_NEW" node.yml
	[ "$status" = 0 ]
	[ "$(wc -l <"$BARE_ROOT/root/.ssh/authorized_keys")" = 1 ]
	play "$ANSIBLE_NEW" node.yml
	[ "$(recap changed)" = 0 ]
}
