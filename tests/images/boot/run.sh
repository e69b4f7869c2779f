#!/bin/bash
# run.sh [FILE.bats...]: images that are really made and really boot (`make images`).
#
#   provision.bats  scripts/images/provision.sh in a chroot of this machine's Debian; a second run changes nothing
#   boot.bats       machines of a simulated cloud with that image: systemd as process 1, cloud-init, nothing but their user-data
#   mkosi.bats      mkosi makes an image by it
#   docker.bats     what hadolint (PyPI) says of the Dockerfile
#
# The Debian is that of this machine (12 or 13), for its burst-agent is in the image.  What debootstrap makes is kept as
# $BUILD/chroot/image-SUITE.tar until the list of packages changes; the image is $BUILD/chroot/image-SUITE, anew each time
# provision.bats runs.
#
# Where root, namespaces, debootstrap or the mirror are refused: one sentence, status 77; to prove, a plan that says so.
#   SUITE=   another Debian, for provision.bats alone: its slurmd is not for the slurmctld of this machine
#   MIRROR=  http://deb.debian.org/debian; http_proxy is respected
set -eu -o pipefail
# shellcheck disable=SC2034  # for chroot.bash
keep='BUILD BIN SUITE MIRROR HARNESS_ACTIVE http_proxy https_proxy no_proxy'
self=$(readlink -f "$0")
cd "${self%/*}/../../.."
what='images are made'
# shellcheck source=tests/matrix/chroot.bash
. tests/matrix/chroot.bash
suite=${SUITE:-$(sed -n 's/^VERSION_CODENAME=//p' /etc/os-release)}
image=$chroots/image-$suite
# What a cloud's own image has, and minbase lacks.
base='systemd-sysv dbus iproute2 ca-certificates locales openssh-server'

recipe() { echo "$suite $MIRROR $base"; }

make_image() {
	make_root "$suite" "$image" --include="${base// /,}"
	: >"$image/etc/resolv.conf"
	rm -rf "$image"/var/cache/apt/archives/*.deb
	rm -f "$image.tar" "$image.recipe"
	tar -C "$image" -cf "$image.tar" .
	rm -rf --one-file-system "$image"
	recipe >"$image.recipe"
}

as_root() {
	local file rc=0
	mkdir -p "$chroots"
	exec 9>"$chroots/image.lock"
	flock -n 9 || fail "$image is in use by another run."
	if ! recipe | cmp -s - "$image.recipe"; then
		"${namespaces[@]}" "$self" --image >&2 9>&- ||
			refuse "$what with packages of $MIRROR, and not all of them can be had from there."
	fi
	export IMAGE_ROOT=$image MIRROR
	for file; do
		case $file in
		*/boot.bats) tests/e2e/lab/enter bats --tap "$file" 9>&- || rc=$? ;;
		*) "${namespaces[@]}" bats --tap "$file" 9>&- || rc=$? ;;
		esac
	done
	exit $rc
}

case ${1-} in
--image) make_image ;;
--as-root) shift && as_root "$@" ;;
'') become_root tests/images/boot/{provision,boot,mkosi,docker}.bats ;;
*) become_root "$@" ;;
esac
