#!/usr/bin/env bats
# mkosi.conf: an image by mkosi 14, as root, in namespaces with a /run of their own (systemd-nspawn cleans up there),
# and without a unit for it, since nobody may be here to give it one (--nspawn-keep-unit).

# shellcheck disable=SC2154  # status, of bats
bats_require_minimum_version 1.5.0

setup_file() {
	command -v mkosi >/dev/null || skip 'mkosi is not installed'
	command -v systemd-nspawn >/dev/null || skip 'systemd-nspawn is not installed'
	mount -t tmpfs -o mode=755 run /run
	mkdir /run/lock /run/systemd
	OUT=$(readlink -m "${BUILD:-build}")/image
	export OUT
	rm -rf --one-file-system "$OUT"
	mkdir -p "$OUT"
}

@test "mkosi makes an image in which the check finds no error" {
	make --no-print-directory -s WERROR=1 DESTDIR="$OUT/extra/opt/image/tree" install >/dev/null
	cp scripts/images/provision.sh "$OUT/extra/opt/image"
	# The mirror may be behind a proxy that this machine believes.
	cp /etc/ssl/certs/ca-certificates.crt "$OUT/extra/opt/image/believed.pem"
	mkdir -p "$OUT/extra/etc/apt/apt.conf.d"
	echo 'Acquire::https::CAInfo "/opt/image/believed.pem";' >"$OUT/extra/etc/apt/apt.conf.d/99believed"
	run mkosi -C scripts/images --default mkosi.conf --extra-tree "$OUT/extra" -O "$OUT" --nspawn-keep-unit --force build
	tail -n 20 <<<"$output"
	[ "$status" = 0 ]
	run -0 scripts/node/image-check --root "$OUT/debian~bookworm/node" --json
	echo "$output"
	[ ! -e "$OUT/debian~bookworm/node/opt/image" ]
}
