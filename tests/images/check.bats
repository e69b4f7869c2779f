#!/usr/bin/env bats
# image-check, and `burstctl image check`, on images that are empty files: each lacks one thing, or has one too many, and that is
# what is found.

# shellcheck disable=SC2154  # output and status, of bats
bats_require_minimum_version 1.5.0

setup() {
	# shellcheck source=tests/images/fake.bash
	. tests/images/fake.bash
	img=$BATS_TEST_TMPDIR/image
	good_image "$img"
}

check() { # ARG...: findings as "SEVERITY AREA WHAT"
	rc=0
	scripts/node/image-check --root "$img" --json "$@" >"$BATS_TEST_TMPDIR/json" || rc=$?
	jq -er '.findings[] | "\(.severity) \(.area) \(.what)"' "$BATS_TEST_TMPDIR/json" >"$BATS_TEST_TMPDIR/said" || [ ! -s "$BATS_TEST_TMPDIR/said" ]
}
all() { check --gpu --fabric efa --containers; }
# finds LINE [ARG...]: that alone
finds() {
	local line=$1
	shift
	check "$@"
	diff <(echo "$line") "$BATS_TEST_TMPDIR/said" || return
	case $line in
	error*) [ "$rc" = 1 ] ;;
	*) [ "$rc" = 0 ] ;;
	esac
}

@test "an image that lacks nothing" {
	all
	cat "$BATS_TEST_TMPDIR/said"
	[ ! -s "$BATS_TEST_TMPDIR/said" ]
	[ "$rc" = 0 ]
	[ "$(jq -c '[.root, .ok, .system, .munge, .slurmd, .driver, ."fabric-manager"]' "$BATS_TEST_TMPDIR/json")" = \
		"[\"$img\",true,\"A Debian\",\"0.5.15-2+deb12u1\",\"22.05.8-4+deb12u3\",\"570.86.15\",\"570.86.15\"]" ]
	for fabric in ib roce; do
		check --fabric $fabric
		[ ! -s "$BATS_TEST_TMPDIR/said" ]
	done
}

@test "each program that a node calls is missed, and its package named" {
	local name severity n=0
	for name in $(scripts/node/image-check --list | cut -d' ' -f1); do rm "$img/usr/bin/$name"; done
	all
	while read -r name _ severity; do
		grep -qE "^$severity [a-z]+ $name is missing\$" "$BATS_TEST_TMPDIR/said"
		n=$((n + 1))
	done < <(scripts/node/image-check --list)
	[ $n -gt 40 ]
	[ "$(jq '[.findings[] | select(.what | endswith("is missing")) | select(.mend | startswith("apt-get install -y "))] | length' "$BATS_TEST_TMPDIR/json")" -ge $n ]
}

@test "EL: dnf is named" {
	printf '%s\n' 'ID="rocky"' 'ID_LIKE="rhel centos fedora"' >"$img/etc/os-release"
	rm "$img/usr/bin/curl"
	check
	grep -qx 'error base curl is missing' "$BATS_TEST_TMPDIR/said"
	jq -e '.findings[] | select(.what == "curl is missing") | .mend == "dnf install -y curl"' "$BATS_TEST_TMPDIR/json"
}

@test "what is there but does not run counts as missing; a link is followed within the image" {
	chmod 644 "$img/usr/bin/curl"
	finds 'error base curl is missing'
	rm "$img/usr/bin/curl"
	mkdir "$img/etc/alternatives"
	# On this machine neither leads anywhere.
	ln -s /etc/alternatives/burst-test-curl "$img/usr/bin/curl"
	ln -s ../../usr/bin/burst-test-curl "$img/etc/alternatives/burst-test-curl"
	finds 'error base curl is missing'
	runs "$img/usr/bin/burst-test-curl"
	check
	[ ! -s "$BATS_TEST_TMPDIR/said" ]
}

@test "CVE-2026-25506: a munge without the fix, and one that the image says is patched" {
	sed -i 's/^Version: 0.5.15.*/Version: 0.5.15-2/' "$img/var/lib/dpkg/status"
	finds 'error munge munge 0.5.15-2 has CVE-2026-25506'
	echo 'munge_ok = 0.5.15-2' >>"$img/etc/burstd/node-init.conf"
	check
	[ ! -s "$BATS_TEST_TMPDIR/said" ]
	# One that was removed is not there, whatever dpkg remembers of it.
	sed -i '/^Package: munge/,/^$/s/install ok installed/deinstall ok config-files/' "$img/var/lib/dpkg/status"
	finds 'warning munge the version of munge is not known'
	sed -i '/^Package: munge/,/^$/d' "$img/var/lib/dpkg/status"
	finds 'warning munge the version of munge is not known'
}

@test "slurmd of no package says its version by its text, and is not run" {
	sed -i '/^Package: slurmd/,/^$/d' "$img/var/lib/dpkg/status"
	printf '#!/bin/sh\ntouch %s/ran\nslurm 24.11.5\n' "$BATS_TEST_TMPDIR" >"$img/usr/bin/slurmd"
	check
	[ "$(jq -r .slurmd "$BATS_TEST_TMPDIR/json")" = 24.11.5 ]
	[ ! -e "$BATS_TEST_TMPDIR/ran" ]
}

@test "units: missing, without what node-init tells them, enabled" {
	local u=$img/usr/lib/systemd/system e=$img/etc/systemd/system
	for name in burst-agent burst-keys@ burst-mounts; do
		mv "$u/$name.service" "$img/kept"
		finds "error burst $name.service is missing"
		mv "$img/kept" "$e/$name.service"
	done
	# Of EL 9: munged has no options there.
	echo 'ExecStart=/usr/sbin/munged' >"$u/munge.service"
	# shellcheck disable=SC2016
	finds 'error munge munge.service does not have $OPTIONS'
	# shellcheck disable=SC2016
	printf '%s\n' '[Service]' ExecStart= 'ExecStart=/usr/sbin/munged $OPTIONS' >"$e/munge.service.d/options.conf"
	check
	[ ! -s "$BATS_TEST_TMPDIR/said" ]
	# What is commented out is not said.
	sed -i 's/^EnvironmentFile/#&/' "$e/munge.service.d/burst.conf"
	finds 'error munge munge.service does not have EnvironmentFile=-/run/burst/munge.env'
	sed -i 's/^#Env/Env/' "$e/munge.service.d/burst.conf"
	for line in LimitMEMLOCK=infinity 'node-init --gate' EnvironmentFile=-/run/burst/slurmd.env; do
		sed -i "\,$line,s,^,#," "$e/slurmd.service.d/burst.conf"
		finds "error slurm slurmd.service does not have $line"
		sed -i "\,$line,s,^#,," "$e/slurmd.service.d/burst.conf"
	done
	for name in munge slurmd; do
		ln -s "/usr/lib/systemd/system/$name.service" "$e/multi-user.target.wants"
		check
		grep -qE "^error [a-z]+ $name.service is enabled\$" "$BATS_TEST_TMPDIR/said"
		rm "$e/multi-user.target.wants/$name.service"
	done
	ln -s /usr/lib/systemd/system/slurmctld.service "$e/multi-user.target.wants"
	finds 'warning slurm slurmctld.service is enabled'
	rm "$e/multi-user.target.wants/slurmctld.service"
	mv "$u/slurmd.service" "$img/kept"
	finds 'error slurm slurmd.service is missing'
}

@test "user-data: nothing runs it" {
	: >"$img/etc/cloud/cloud-init.disabled"
	finds 'error user-data cloud-init is switched off'
	rm "$img/etc/cloud/cloud-init.disabled"
	echo 'cloud_final_modules: []' >"$img/etc/cloud/cloud.cfg"
	finds 'error user-data cloud-init does not run scripts'
	echo ' - scripts_user' >"$img/etc/cloud/cloud.cfg"
	rm "$img/etc/cloud/cloud.cfg.d/10-cloud.cfg"
	finds 'advice user-data cloud-init looks for its metadata service at every cloud'
	rm "$img/usr/bin/cloud-init"
	finds 'error user-data nothing runs the user-data'
	runs "$img/usr/sbin/waagent"
	check
	[ ! -s "$BATS_TEST_TMPDIR/said" ]
}

@test "clock: chrony is not enabled, another one is there, none is" {
	local wants=$img/etc/systemd/system/multi-user.target.wants
	mv "$img/usr/bin/chronyd" "$img/usr/sbin/chronyd"
	rm "$wants/chrony.service"
	finds 'error clock chrony is not enabled'
	rm "$img/usr/sbin/chronyd"
	finds 'error clock nothing keeps the time'
	ln -s /usr/lib/systemd/system/systemd-timesyncd.service "$wants"
	finds 'warning clock chrony is missing'
}

@test "metadata service: no firewall, and one that opens it again" {
	local wants=$img/etc/systemd/system/multi-user.target.wants
	rm "$img/usr/bin/nft"
	finds 'error firewall neither nft nor iptables is there'
	runs "$img/usr/bin/iptables"
	finds 'error firewall ip6tables is missing'
	runs "$img/usr/bin/ip6tables"
	check
	[ ! -s "$BATS_TEST_TMPDIR/said" ]
	ln -s /usr/lib/systemd/system/nftables.service "$wants"
	echo 'flush ruleset' >"$img/etc/nftables.conf"
	finds 'warning firewall nftables.service flushes all rules'
	echo 'include "/etc/nftables.d/burst-imds.nft"' >>"$img/etc/nftables.conf"
	check
	[ ! -s "$BATS_TEST_TMPDIR/said" ]
	ln -s /usr/lib/systemd/system/firewalld.service "$wants"
	finds 'warning firewall firewalld.service is enabled'
	rm "$wants/firewalld.service"
	echo 'metadata = http://10.0.0.1' >>"$img/etc/burstd/node-init.conf"
	finds 'warning firewall metadata in node-init.conf lacks 169.254.169.254'
}

@test "left behind: keys, and what each machine makes itself" {
	local file severity
	while read -r severity file; do
		mkdir -p "$(dirname "$img$file")"
		echo x >"$img$file"
		echo "$severity left $file is in the image" >>"$BATS_TEST_TMPDIR/want"
	done <<-L
		error /etc/munge/munge.key
		error /etc/slurm/slurm.key
		error /etc/slurm/slurm.jwks
		error /etc/slurm/jwt_hs256.key
		error /etc/slurm/slurmdbd.conf
		warning /etc/slurm/slurm.conf
		error /etc/burstd/cloud.key
		error /etc/burstd/burstd.conf
		error /root/.aws/credentials
		error /root/.config/openstack/clouds.yaml
		error /etc/ssh/ssh_host_ed25519_key
		warning /root/.ssh/authorized_keys
		warning /home/admin/.ssh/authorized_keys
		warning /var/lib/cloud/instances/i-1/user-data.txt
		warning /var/lib/systemd/random-seed
		advice /root/.bash_history
		error /etc/machine-id
	L
	check
	diff <(sort "$BATS_TEST_TMPDIR/want") <(sort "$BATS_TEST_TMPDIR/said")
	[ "$rc" = 1 ]
	# On a machine that runs, some are its own: image-check as if it were mounted nowhere.
	sed "s,^root='',root=$img," scripts/node/image-check >"$BATS_TEST_TMPDIR/running"
	run -1 sh "$BATS_TEST_TMPDIR/running"
	[[ $output == *'munge.key is in the image'* && $output != *ssh_host* && $output != *machine-id* ]]
	# Empty, it is nothing.
	while read -r severity file; do : >"$img$file"; done < <(sed 's/ left / /; s/ is in the image//' "$BATS_TEST_TMPDIR/want")
	check
	[ ! -s "$BATS_TEST_TMPDIR/said" ]
	echo uninitialized >"$img/etc/machine-id"
	check
	[ ! -s "$BATS_TEST_TMPDIR/said" ]
	echo '/dev/sdb none swap sw 0 0' >"$img/etc/fstab"
	finds 'warning left /etc/fstab has swap'
}

@test "GPUs: driver, fabric manager, DCGM, the kernel's log" {
	local wants=$img/etc/systemd/system/multi-user.target.wants m=$img/usr/lib/modules
	# A newer kernel boots, and has no driver.
	mkdir "$m/6.1.0-100-cloud-amd64"
	: >"$m/6.1.0-100-cloud-amd64/modules.dep"
	finds 'error gpu the driver is not built for kernel 6.1.0-100-cloud-amd64'
	rm -r "$m/6.1.0-100-cloud-amd64"
	sed -i 's/^Version: 570.86.15-1$/Version: 570.86.10-1/' "$img/var/lib/dpkg/status"
	finds 'error gpu the fabric manager is 570.86.10, the driver 570.86.15'
	sed -i 's/^Version: 570.86.10-1$/Version: 1:570.86.15-2/' "$img/var/lib/dpkg/status"
	check
	[ ! -s "$BATS_TEST_TMPDIR/said" ]
	rm "$wants/nvidia-fabricmanager.service"
	finds 'error gpu nvidia-fabricmanager is not enabled'
	rm "$img/usr/lib/systemd/system/nvidia-fabricmanager.service"
	finds 'advice gpu the fabric manager is missing'
	rm "$wants/nvidia-persistenced.service"
	echo '[Service]' >"$img/usr/lib/systemd/system/nvidia-fabricmanager.service"
	ln -s /x "$wants/nvidia-fabricmanager.service"
	finds 'warning gpu nvidia-persistenced is not enabled'
	ln -s /x "$wants/nvidia-persistenced.service"
	rm "$wants/nvidia-dcgm.service"
	finds 'warning gpu nvidia-dcgm is not enabled'
	echo 'dcgm = off' >>"$img/etc/burstd/node-init.conf"
	rm "$img/usr/bin/dcgmi"
	check
	[ ! -s "$BATS_TEST_TMPDIR/said" ]
	echo '# printk.time=0' >"$img/etc/default/grub"
	check
	[ ! -s "$BATS_TEST_TMPDIR/said" ]
	echo 'GRUB_CMDLINE_LINUX="printk.time=0 quiet"' >>"$img/etc/default/grub"
	finds 'error gpu the kernel logs no times (printk.time=0)'
	rm "$img/etc/default/grub"
	sed -i '/gpu_check/d' "$img/etc/burstd/node-init.conf"
	finds 'advice gpu gpu_check is not set in node-init.conf'
}

@test "GPUs are looked at where something of them is, or where they are asked for" {
	rm "$img"/usr/bin/{nvidia-smi,dcgmi} "$img"/usr/lib/modules/*/updates/dkms/nvidia.ko.xz
	check
	[ ! -s "$BATS_TEST_TMPDIR/said" ]
	jq -e '.gpu | startswith("not looked at")' "$BATS_TEST_TMPDIR/json"
	check --gpu
	grep -qx 'error gpu nvidia-smi is missing' "$BATS_TEST_TMPDIR/said"
}

@test "the fabric: what each kind needs" {
	local l=$img/usr/lib/x86_64-linux-gnu
	rm "$l/libibverbs/libmlx5-rdmav34.so"
	finds 'error fabric the provider mlx5 of libibverbs is missing' --fabric ib
	check --fabric efa
	[ ! -s "$BATS_TEST_TMPDIR/said" ]
	: >"$l/libibverbs/libmlx5-rdmav34.so"
	finds 'warning fabric gIB is missing: /usr/local/gib/scripts/set_nccl_env.sh' --fabric gib
	runs "$img/usr/sbin/waagent"
	finds "advice fabric NCCL's topology /opt/microsoft/ndv5-topo.xml is missing" --fabric ib
	rm "$img/usr/sbin/waagent" "$img"/usr/lib/udev/rules.d/*
	finds 'error fabric rdma-core is missing' --fabric roce
	rm "$l/libibverbs/libefa-rdmav34.so"
	finds 'error fabric the provider efa of libibverbs is missing' --fabric efa
	: >"$l/libibverbs/libefa-rdmav34.so"
	rm "$l/libfabric.so.1"
	finds 'error fabric libfabric is missing' --fabric efa
	mkdir -p "$img/opt/amazon/efa/lib64"
	: >"$img/opt/amazon/efa/lib64/libfabric.so.1"
	rm "$img"/usr/lib/modules/*/efa.ko
	finds 'warning fabric no kernel of the image has the module efa' --fabric efa
	: >"$img/usr/lib/modules/6.1.0-28-cloud-amd64/efa.ko.xz"
	rm -r "$img/opt/amazon/ofi-nccl"
	finds 'advice fabric aws-ofi-nccl is missing' --fabric efa
	rm "$l/libibverbs.so.1"
	check --fabric ib
	grep -qx 'error fabric libibverbs is missing' "$BATS_TEST_TMPDIR/said"
}

@test "containers: Enroot, Pyxis and plugstack.conf" {
	rm "$img/usr/bin/mksquashfs"
	finds 'error containers mksquashfs is missing'
	runs "$img/usr/bin/mksquashfs"
	echo 'include /etc/slurm/plugstack.conf.d/*' >"$img/etc/slurm/plugstack.conf"
	check
	[ ! -s "$BATS_TEST_TMPDIR/said" ]
	echo 'required other.so' >>"$img/etc/slurm/plugstack.conf"
	finds 'warning containers plugstack.conf does not load spank_pyxis.so'
	echo 'required /usr/lib/x86_64-linux-gnu/slurm-wlm/spank_pyxis.so' >>"$img/etc/slurm/plugstack.conf"
	check
	[ ! -s "$BATS_TEST_TMPDIR/said" ]
	mkdir -p "$img"/usr/lib/sysctl.d "$img"/etc/sysctl.d
	echo 'kernel.apparmor_restrict_unprivileged_userns = 1' >"$img/usr/lib/sysctl.d/10-apparmor.conf"
	finds 'warning containers AppArmor keeps users from namespaces of their own'
	echo 'kernel.apparmor_restrict_unprivileged_userns = 0' >"$img/etc/sysctl.d/80-enroot.conf"
	rm "$img/usr/lib/x86_64-linux-gnu/slurm-wlm/spank_pyxis.so"
	finds 'error containers spank_pyxis.so is nowhere'
	echo 'gpu_check = x' >"$img/etc/burstd/node-init.conf"
	rm "$img/usr/bin/enroot"
	check
	[ ! -s "$BATS_TEST_TMPDIR/said" ]
	check --containers
	grep -qx 'warning containers enroot = yes is not in node-init.conf' "$BATS_TEST_TMPDIR/said"
	grep -qx 'error containers enroot is missing' "$BATS_TEST_TMPDIR/said"
}

@test "libjansson, the scripts for slurmd, the user slurm, systemd" {
	rm "$img/usr/libexec/burstd/gpu-health"
	finds 'warning burst /usr/libexec/burstd/gpu-health is missing'
	runs "$img/usr/libexec/burstd/gpu-health"
	rm "$img/usr/libexec/burstd/node-init"
	finds 'error burst /usr/libexec/burstd/node-init is missing'
	runs "$img/usr/libexec/burstd/node-init"
	rm "$img/usr/lib/x86_64-linux-gnu/libjansson.so.4"
	finds 'error burst libjansson is missing'
	: >"$img/usr/lib/x86_64-linux-gnu/libjansson.so.4"
	: >"$img/etc/passwd"
	finds 'advice slurm there is no user slurm'
	echo slurm:x:1:1::/: >"$img/etc/passwd"
	rm "$img/usr/lib/systemd/systemd"
	finds 'error base systemd is missing'
}

@test "nothing of the image's text gets into JSON or on a terminal as it is" {
	printf 'PRETTY_NAME="A \\ \033[31mB\tC"\nID=debian\n' >"$img/etc/os-release"
	sed -i 's/^Version: 0.5.15.*/Version: 9"\\8/' "$img/var/lib/dpkg/status"
	check
	[ "$(jq -r .system "$BATS_TEST_TMPDIR/json")" = 'A \ [31mB C' ]
	[ "$(jq -r .munge "$BATS_TEST_TMPDIR/json")" = '9"\8' ]
	run scripts/node/image-check --root "$img"
	[[ $output != *$'\033'* ]]
}

@test "for people: the worst first, with why and what mends it; and what no image is" {
	rm "$img/usr/bin/curl" "$img/usr/bin/chronyc"
	run -1 scripts/node/image-check --root "$img"
	echo "$output"
	[[ $output == *'error    curl is missing'*'why:  called by stage0, node-init'*'mend: apt-get install -y curl'*'warning  chronyc is missing'*'errors: 1' ]]
	run -2 scripts/node/image-check --root "$img/etc"
	[[ $output == *'no root of an installation'* ]]
	run -2 scripts/node/image-check --root /nonexistent
	run -2 scripts/node/image-check --fabric token-ring
	run -2 scripts/node/image-check --what
	run -0 scripts/node/image-check --help
	[[ $output == *'--root DIR'* ]]
}

@test "an image is only read" {
	local before
	before=$(cd "$img" && find . -printf '%p %s %C@\n' | sort)
	all
	[ "$before" = "$(cd "$img" && find . -printf '%p %s %C@\n' | sort)" ]
}

@test "burstctl image check is the same" {
	local b=$BATS_TEST_TMPDIR/usr
	mkdir -p "$b/bin" "$b/libexec/burstd"
	cp "${BIN:-build/bin}/burstctl" "$b/bin/burstctl"
	cp scripts/node/image-check "$b/libexec/burstd/image-check"
	rm "$img/usr/bin/curl" "$img/usr/bin/dcgmi" "$img/usr/lib/x86_64-linux-gnu/libibverbs/libefa-rdmav34.so" "$img/usr/bin/enroot"
	rm "$img/etc/burstd/node-init.conf"
	for args in '' --json --gpu '--fabric efa' --containers '--json --gpu --fabric efa --containers'; do
		# shellcheck disable=SC2086  # words
		run -1 "$b/bin/burstctl" image check --root "$img" $args
		# shellcheck disable=SC2086
		[ "$output" = "$(scripts/node/image-check --root "$img" $args)" ]
	done
	run -2 "$b/bin/burstctl" image check --fabric token-ring
	run -2 "$b/bin/burstctl" image check here
	[ "$("$b/bin/burstctl" complete -- image check --fabric e)" = efa ]
}
