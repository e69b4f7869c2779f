#!/usr/bin/env bats
# provision.sh for real: in a chroot of Debian's smallest installation, with packages of the mirror.  In order: each test has the
# image as the one before left it; boot.bats boots the last.

# shellcheck disable=SC2016,SC2154  # scripts; output and lines, of bats
bats_require_minimum_version 1.5.0

setup_file() {
	[ -n "${IMAGE_ROOT-}" ] || {
		echo 'run this file by tests/images/boot/run.sh' >&2
		return 1
	}
	rm -rf --one-file-system "$IMAGE_ROOT"
	mkdir "$IMAGE_ROOT"
	tar -C "$IMAGE_ROOT" -xf "$IMAGE_ROOT.tar"
	cp /etc/resolv.conf "$IMAGE_ROOT/etc/resolv.conf"
	mkdir -p "$IMAGE_ROOT/opt/image" "$IMAGE_ROOT/etc/cloud/cloud.cfg.d"
	# As in a cloud's image: cloud-init's locale is one that there is.
	echo 'locale: C.UTF-8' >"$IMAGE_ROOT/etc/cloud/cloud.cfg.d/05-locale.cfg"
	cp scripts/images/provision.sh "$IMAGE_ROOT/opt/image"
	make --no-print-directory -s WERROR=1 DESTDIR="$IMAGE_ROOT/opt/image/tree" install >/dev/null
	tar -C "$IMAGE_ROOT/opt/image/tree" -czf "$IMAGE_ROOT/opt/image/burst.tar.gz" .
	rm -rf "$IMAGE_ROOT/opt/image/tree"
	printf '%s\n' 'BURST=/opt/image/burst.tar.gz' DATASOURCE=NoCloud 'FABRIC=ib' '# a comment' "NODE_INIT_CONF=/opt/image/node-init.conf" \
		>"$IMAGE_ROOT/opt/image/vars"
	echo 'dcgm = off' >"$IMAGE_ROOT/opt/image/node-init.conf"
	mount --bind "$IMAGE_ROOT" "$IMAGE_ROOT"
	mount -t proc proc "$IMAGE_ROOT/proc"
	mount -t tmpfs -o mode=755 dev "$IMAGE_ROOT/dev"
	for f in null zero full random urandom; do
		: >"$IMAGE_ROOT/dev/$f"
		mount --bind "/dev/$f" "$IMAGE_ROOT/dev/$f"
	done
	ln -s /proc/self/fd "$IMAGE_ROOT/dev/fd"
}

inside() {
	env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root http_proxy="${http_proxy-}" https_proxy="${https_proxy-}" \
		chroot "$IMAGE_ROOT" "$@" </dev/null
}
provision() { inside /opt/image/provision.sh --vars /opt/image/vars "$@"; }
# All but what the kernel mounts there; the contents, too.
state() {
	(cd "$IMAGE_ROOT" && find . -xdev \( -path ./proc -o -path ./dev -o -path ./opt/image -o -path ./tmp \) -prune -o -printf '%p %y %s %m %T@ %l\n' | sort)
}

@test "--dry-run says what would be done, and does nothing" {
	local before
	before=$(state)
	run -0 provision --dry-run
	echo "$output"
	[[ $output == *'would be done: apt-get '*' install '*cloud-init* ]]
	[[ $output == *'would be done: install -D -m 755 '*/node-init* ]]
	[[ ${lines[-1]} =~ ^provision:\ [1-9][0-9]*\ changes\ would\ be\ made$ ]]
	diff <(echo "$before") <(state)
}

@test "before, the image is not good" {
	[ -s "$IMAGE_ROOT/etc/ssh/ssh_host_ed25519_key" ]
	cp scripts/node/image-check "$IMAGE_ROOT/opt/image"
	run -1 inside /opt/image/image-check
	[[ $output == *'error    curl is missing'* ]]
}

@test "it makes an image in which the check finds no error, and no service was started" {
	run -0 provision
	echo "$output"
	[[ $output == *'no errors: '* ]]
	[[ ${lines[-1]} =~ ^provision:\ [1-9][0-9]*\ changes$ ]]
	run ! pgrep -x 'munged|slurmd|chronyd' --ns $$ --nslist pid
	run -0 inside /usr/libexec/burstd/image-check --root / --fabric ib --json
	echo "$output"
	[ "$(jq -c '[.findings[] | select(.severity == "warning")]' <<<"$output")" = '[]' ]
	[ "$(cat "$IMAGE_ROOT/etc/burstd/node-init.conf")" = 'dcgm = off' ]
	# Not what the controller needs.
	[ ! -e "$IMAGE_ROOT/usr/sbin/burstd" ]
	[ ! -e "$IMAGE_ROOT/usr/bin/burstctl" ]
	# Nobody's policy is left.
	[ ! -e "$IMAGE_ROOT/usr/sbin/policy-rc.d" ]
}

@test "nothing is in it that no image may have" {
	[ ! -e "$IMAGE_ROOT/etc/munge/munge.key" ]
	[ ! -s "$IMAGE_ROOT/etc/machine-id" ]
	run ! compgen -G "$IMAGE_ROOT/etc/ssh/ssh_host_*"
	[ -z "$(find "$IMAGE_ROOT/var/log" -type f -size +0)" ]
	[ -z "$(find "$IMAGE_ROOT/var/lib/cloud" -type f 2>/dev/null)" ]
	[ -z "$(find "$IMAGE_ROOT/var/cache/apt/archives" -name '*.deb')" ]
}

@test "a second run changes nothing" {
	local before
	before=$(state)
	run -0 provision
	echo "$output"
	[ "${lines[-1]}" = 'provision: 0 changes' ]
	diff <(echo "$before") <(state)
}

@test "what is missing is put back, and no more; one step alone" {
	rm "$IMAGE_ROOT/usr/lib/systemd/system/slurmd.service.d/burst.conf"
	echo x >"$IMAGE_ROOT/etc/burstd/node-init.conf"
	ln -s /lib/systemd/system/munge.service "$IMAGE_ROOT/etc/systemd/system/multi-user.target.wants"
	run -0 provision --only units
	[ "${lines[-1]}" = 'provision: 2 changes' ]
	[ ! -e "$IMAGE_ROOT/etc/systemd/system/multi-user.target.wants/munge.service" ]
	[ "$(cat "$IMAGE_ROOT/etc/burstd/node-init.conf")" = 'dcgm = off' ]
	run -1 provision --only check
	[[ $output == *'slurmd.service does not have'* ]]
	run -0 provision
	echo "$output"
	[ "${lines[-1]}" = 'provision: 1 changes' ]
}

@test "munged of EL takes no options: it is given some" {
	local unit=$IMAGE_ROOT/lib/systemd/system/munge.service
	cp -a "$unit" "$IMAGE_ROOT/opt/image/munge.service"
	sed -i 's/ \$OPTIONS//' "$unit"
	run -0 provision
	echo "$output"
	[ "${lines[-1]}" = 'provision: 1 changes' ]
	grep -qx 'ExecStart=/usr/sbin/munged $OPTIONS' "$IMAGE_ROOT/etc/systemd/system/munge.service.d/options.conf"
	cp -a "$IMAGE_ROOT/opt/image/munge.service" "$unit"
	rm "$IMAGE_ROOT/etc/systemd/system/munge.service.d/options.conf"
}

@test "Enroot by file and hash, Pyxis built for this slurmd; the compiler is gone then" {
	pretend enroot
	sum=$(sha256sum <"$IMAGE_ROOT/opt/image/enroot.deb" | cut -d' ' -f1)
	printf '%s\n' 'all:' '	gcc -shared -fPIC -o spank_pyxis.so pyxis.c' 'install: all' \
		'	install -D spank_pyxis.so $(prefix)/lib/slurm/spank_pyxis.so' >"$BATS_TEST_TMPDIR/Makefile"
	printf '%s\n' '#include <slurm/spank.h>' 'SPANK_PLUGIN(pyxis, 1)' >"$BATS_TEST_TMPDIR/pyxis.c"
	tar -C "$BATS_TEST_TMPDIR" --transform 's,^,pyxis-0/,' -czf "$IMAGE_ROOT/opt/image/pyxis.tar.gz" Makefile pyxis.c
	set -- --set ENROOT_PACKAGES=/opt/image/enroot.deb --set PYXIS_SOURCE=file:///opt/image/pyxis.tar.gz
	# Unchecked, or another file than that: no.
	run -1 provision --only containers "$@"
	[[ $output == *'has no SHA256'* ]]
	run -1 provision --only containers "$@" --set "ENROOT_SHA256=${sum/[0-9]/x}"
	[[ $output == *'is another file'* ]]
	run ! inside dpkg -s enroot
	set -- "$@" --set "ENROOT_SHA256=$sum" --set "PYXIS_SHA256=$(sha256sum <"$IMAGE_ROOT/opt/image/pyxis.tar.gz" | cut -d' ' -f1)"
	printf '%s\n' 'enroot = yes' 'pyxis = yes' 'dcgm = off' >"$IMAGE_ROOT/opt/image/node-init.conf"
	run -0 provision "$@"
	echo "$output"
	[[ $output == *'no errors: '* ]]
	[ -e "$IMAGE_ROOT/usr/local/lib/slurm/spank_pyxis.so" ]
	run ! inside sh -c 'command -v gcc'
	run -0 provision "$@"
	echo "$output"
	[ "${lines[-1]}" = 'provision: 0 changes' ]
	inside dpkg --purge enroot
	rm -r "$IMAGE_ROOT/usr/local/lib/slurm"
	echo 'dcgm = off' >"$IMAGE_ROOT/opt/image/node-init.conf"
	run -0 provision
}
# pretend NAME: a package of that name, with a program of that name
pretend() {
	local d=$BATS_TEST_TMPDIR/$1
	mkdir -p "$d/DEBIAN" "$d/usr/bin"
	printf '#!/bin/sh\n' >"$d/usr/bin/$1"
	chmod 755 "$d/usr/bin/$1"
	printf '%s\n' "Package: $1" 'Version: 1' 'Architecture: all' 'Maintainer: nobody <nobody@example.com>' "Description: none" >"$d/DEBIAN/control"
	dpkg-deb -b "$d" "$IMAGE_ROOT/opt/image/$1.deb" >/dev/null
}

@test "another release of Slurm than the one that was asked for, and what it does not know, are refused" {
	run -1 provision --set SLURM_VERSION=99.05
	[[ $output == *'SLURM_VERSION 99.05'* ]]
	run -0 provision --set "SLURM_VERSION=$(inside slurmd -V | sed 's/^[^ ]* \([0-9]*\.[0-9]*\).*/\1/')"
	run -1 provision --set NO_SUCH=1
	run -1 provision --only nothing
	run -1 provision --set NVIDIA_REPO=https://example.com/cuda --only nvidia
	[[ $output == *'NVIDIA_KEY is not set'* ]]
	sed -i 's/^VERSION_ID=.*/VERSION_ID="7"/' "$IMAGE_ROOT/usr/lib/os-release"
	run -1 provision
	[[ $output == *'unknown system: debian 7'* ]]
	tar -C "$IMAGE_ROOT" -xf "$IMAGE_ROOT.tar" ./usr/lib/os-release
}

@test "NVIDIA's packages come from where they are said to be, signed, with the driver's branch" {
	run -0 provision --dry-run --set NVIDIA_REPO=https://example.com/cuda --set NVIDIA_KEY=/opt/image/vars --set NVIDIA_DRIVER=580 --only nvidia
	echo "$output"
	[[ $output == *'nvidia-open-580'*'nvidia-fabricmanager-580'*'datacenter-gpu-manager'* ]]
	[[ $output == *'systemctl enable nvidia-persistenced.service'* ]]
	[ ! -e "$IMAGE_ROOT/etc/apt/sources.list.d/nvidia.list" ]
	run -0 provision --dry-run --only nvidia
	[ "$output" = 'provision: 0 changes would be made' ]
}

@test "EL 9, as far as another system can say: what dnf would be told" {
	printf '%s\n' 'ID="rocky"' 'ID_LIKE="rhel centos fedora"' 'VERSION_ID="9.4"' >"$IMAGE_ROOT/usr/lib/os-release"
	printf '#!/bin/sh\nexit 1\n' | tee "$IMAGE_ROOT/usr/bin/rpm" >"$IMAGE_ROOT/usr/bin/dnf"
	chmod 755 "$IMAGE_ROOT/usr/bin/rpm" "$IMAGE_ROOT/usr/bin/dnf"
	mkdir -p "$IMAGE_ROOT/opt/image/slurm"
	run -0 provision --dry-run --set SLURM=/opt/image/slurm --set NVIDIA_REPO=https://example.com/cuda.repo --set NVIDIA_KEY=/opt/image/vars
	echo "$output"
	[[ $output == *'would be done: dnf -q -y --setopt=install_weak_deps=False install bash curl openssl '*jansson* ]]
	[[ $output == *'systemctl enable chronyd.service'* ]]
	[[ $output == *'rpm --import /opt/image/vars'*'@nvidia-driver:570-open nvidia-fabric-manager datacenter-gpu-manager'* ]]
	[[ $output == *'install rdma-core libibverbs infiniband-diags'* ]]
	run -1 provision --dry-run
	[[ $output == *'EL has none'* ]]
	rm -r "$IMAGE_ROOT/usr/bin/rpm" "$IMAGE_ROOT/usr/bin/dnf" "$IMAGE_ROOT/opt/image/slurm"
	tar -C "$IMAGE_ROOT" -xf "$IMAGE_ROOT.tar" ./usr/lib/os-release
}
