#!/usr/bin/env bats
# The collection scripts/ansible brings the packages to a host that has none, and they burst.

# shellcheck disable=SC2154  # status and output, of bats
load package
load ../ansible/ansible

setup_file() {
	own_host || return
	[ -n "${ANSIBLE_NEW-}" ] || skip "Ansible cannot be had"
	export INSTALL=package PACKAGES
	PACKAGES=$(ls "$packages/$BARE_SUITE"/burst{d,-agent,d-simcloud}_*.deb)
	ansible_host
}

@test "--check of a first run changes nothing" {
	local before
	before=$(files)
	play "$ANSIBLE_NEW" controller.yml --check
	[ "$status" = 0 ]
	[ "$(recap changed)" -ge 1 ]
	[ "$(files)" = "$before" ]
	run ! host dpkg-query -W burstd
}

@test "one play brings the packages, and the controller bursts" {
	play "$ANSIBLE_NEW" controller.yml
	[ "$status" = 0 ]
	[ "$(version_of burstd)" = "$(dpkg-deb -f "$packages/$BARE_SUITE"/burstd_*.deb Version)" ]
	cloud
	host systemctl is-enabled burstd burst-ledger
	within 60 host sh -c 'burstctl status | grep -qF "All is well."'
	[ "$(host timeout 120 su - admin -c 'srun -p cloud -N1 --gres=gpu:h100:8 hostname')" = gpu1 ]
}

@test "a second play changes nothing, whoever runs it" {
	for ansible in "$ANSIBLE_NEW" "$ANSIBLE_OLD"; do
		play "$ansible" controller.yml
		[ "$status" = 0 ]
		[ "$(recap changed)" = 0 ]
	done
}

@test "the role of nodes brings burst-agent, with units and drop-ins where systemd finds them" {
	PACKAGES=$(ls "$packages/$BARE_SUITE"/burst-agent_*.deb)
	export KIND=image
	host systemctl stop burstd burst-ledger
	host apt-get -qq purge -y burst-agent
	play "$ANSIBLE_NEW" node.yml
	[ "$status" = 0 ]
	host systemctl cat slurmd | grep -q 'node-init --gate'
	host systemctl cat munge | grep -qF /munge.service.d/burst.conf
	host systemctl cat burst-keys@slurmd burst-mounts
	play "$ANSIBLE_NEW" node.yml
	[ "$status" = 0 ]
	[ "$(recap changed)" = 0 ]
}
