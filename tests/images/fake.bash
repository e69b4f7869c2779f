# fake.bash: an image that lacks nothing, made of empty files.  To be sourced (bash), in the repository's root.

# good_image DIR: what image-check finds no error in, on Debian; with GPUs, EFA and containers.
good_image() {
	local i=$1 name
	mkdir -p "$i"/etc/{burstd,cloud/cloud.cfg.d,systemd/system/multi-user.target.wants,ssh,munge,default,slurm} "$i"/usr/{bin,sbin} \
		"$i"/usr/lib/{systemd/system,systemd,x86_64-linux-gnu/libibverbs,x86_64-linux-gnu/slurm-wlm,udev/rules.d} \
		"$i"/usr/libexec/burstd "$i"/var/lib/dpkg "$i"/root
	ln -s usr/bin "$i/bin"
	ln -s usr/sbin "$i/sbin"
	ln -s usr/lib "$i/lib"
	printf '%s\n' 'PRETTY_NAME="A Debian"' ID=debian >"$i/etc/os-release"
	echo 'slurm:x:64030:64030::/nonexistent:/usr/sbin/nologin' >"$i/etc/passwd"
	for name in $(scripts/node/image-check --list | cut -d' ' -f1) nft cloud-init chronyd mksquashfs; do runs "$i/usr/bin/$name"; done
	runs "$i/usr/lib/systemd/systemd"
	for name in node-init gpu-health prolog epilog task-prolog; do runs "$i/usr/libexec/burstd/$name"; done
	cp scripts/node/burst-agent.service scripts/node/systemd/*.service "$i/usr/lib/systemd/system"
	cp -r scripts/node/systemd/*.d "$i/etc/systemd/system"
	# shellcheck disable=SC2016  # as the packages have it
	{
		echo 'ExecStart=/usr/sbin/munged $OPTIONS' >"$i/usr/lib/systemd/system/munge.service"
		echo 'ExecStart=/usr/sbin/slurmd -D $SLURMD_OPTIONS' >"$i/usr/lib/systemd/system/slurmd.service"
	}
	for name in chrony nvidia-persistenced nvidia-dcgm nvidia-fabricmanager; do
		echo '[Service]' >"$i/usr/lib/systemd/system/$name.service"
		ln -s "/usr/lib/systemd/system/$name.service" "$i/etc/systemd/system/multi-user.target.wants"
	done
	installed "$i" munge 0.5.15-2+deb12u1
	installed "$i" slurmd 22.05.8-4+deb12u3
	installed "$i" nvidia-utils-570 570.86.15-0ubuntu1
	installed "$i" nvidia-fabricmanager-570 570.86.15-1
	printf '%s\n' 'cloud_final_modules:' ' - scripts-user' >"$i/etc/cloud/cloud.cfg"
	echo 'datasource_list: [ Ec2 ]' >"$i/etc/cloud/cloud.cfg.d/10-cloud.cfg"
	printf '%s\n' 'enroot = yes' 'pyxis = yes' 'gpu_check = /usr/libexec/burstd/gpu-health' >"$i/etc/burstd/node-init.conf"
	for name in libjansson.so.4 libibverbs.so.1 libfabric.so.1 libibverbs/libmlx5-rdmav34.so libibverbs/libefa-rdmav34.so slurm-wlm/spank_pyxis.so; do
		: >"$i/usr/lib/x86_64-linux-gnu/$name"
	done
	: >"$i/usr/lib/udev/rules.d/60-rdma-persistent-naming.rules"
	mkdir -p "$i/usr/lib/modules/6.1.0-28-cloud-amd64/updates/dkms"
	: >"$i/usr/lib/modules/6.1.0-28-cloud-amd64/modules.dep"
	: >"$i/usr/lib/modules/6.1.0-28-cloud-amd64/updates/dkms/nvidia.ko.xz"
	: >"$i/usr/lib/modules/6.1.0-28-cloud-amd64/efa.ko"
	mkdir -p "$i/opt/amazon/ofi-nccl/lib/x86_64-linux-gnu"
	: >"$i/opt/amazon/ofi-nccl/lib/x86_64-linux-gnu/libnccl-net.so"
	: >"$i/etc/machine-id"
}

# runs FILE: a program, which does nothing
runs() {
	printf '#!/bin/sh\n' >"$1"
	chmod 755 "$1"
}

# installed DIR PACKAGE VERSION: by dpkg
installed() {
	printf '%s\n' "Package: $2" 'Status: install ok installed' "Version: $3" '' >>"$1/var/lib/dpkg/status"
}
