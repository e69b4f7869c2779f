#!/bin/bash
# first-boot.sh PROGRAM: first-boot.bats, with what that needs of PROGRAM (terraform or tofu) and of this tree in
# $BUILD/terraform/first-boot: the files that cloud-init would write, and a package.
set -eu -o pipefail
cd "$(dirname "$(readlink -f "$0")")/../.."
BUILD=$(readlink -m "${BUILD:-build}")
BIN=$(readlink -m "${BIN:-$BUILD/bin}")
# shellcheck source-path=SCRIPTDIR
source terraform/tests/lib.bash
work=$BUILD/terraform/first-boot
rm -rf "$work"
mkdir -p "$work/conf" "$work/none"

# The libraries that the programs are linked with, as a package depends on them.
libraries() {
	local lib
	ldd "$BIN"/burstd "$BIN"/burstctl "$BIN"/burst-ledger "$BIN"/burst-agent "$BIN"/simcloud |
		sed -n 's/.*=> \([^ ]*\) .*/\1/p' | sort -u | while read -r lib; do
		dpkg-query -S "$lib" 2>/dev/null || dpkg-query -S "/usr$lib" 2>/dev/null || dpkg-query -S "$(readlink -f "$lib")"
	done | cut -d: -f1 | sort -u | paste -sd, | sed 's/,/, /g'
}

root=$work/package
make -s DESTDIR="$root" install >"$work/install.log"
mkdir "$root/DEBIAN"
printf '%s\n' 'Package: burstd' "Version: $(cat VERSION)" "Architecture: $(dpkg --print-architecture)" \
	'Maintainer: nobody <nobody@example.com>' 'Description: of this tree' "Depends: $(libraries)" >"$root/DEBIAN/control"
dpkg-deb --root-owner-group -Znone --build "$root" "$work/burstd_test.deb" >/dev/null
rm -rf "$root"

cat >"$work/conf/main.tf" <<EOF
module "conf" {
  source   = "$PWD/terraform/modules/conf"
  cluster  = "falcon"
  currency = "EUR"
  clouds   = { sim = { driver = "sim", url = "http://127.0.0.1:8900", credential_file = "/etc/burstd/cloud.key" } }
  pools = {
    cloud = { provider = "sim", nodes = "gpu[1-4]", type = "gpu_8x_h100", region = "eu-north-1", max_nodes = 4, max_rate = "120",
    node = "CPUs=8 RealMemory=1000", gres = "gpu:h100:8" }
  }
}
module "setup" {
  source           = "$PWD/terraform/modules/controller/cloud-init"
  cluster          = "falcon"
  hostname         = "head"
  address          = "10.77.0.1"
  cluster_uuid     = "0a1b2c3d-0000-4000-8000-001122334455"
  metadata_service = true
  burstd_conf      = module.conf.burstd_conf
  packages         = [{ url = "/root/burstd_test.deb", sha256 = "$(sha256sum <"$work/burstd_test.deb" | cut -d' ' -f1)" }]
}
output "files" {
  value = yamldecode(module.setup.user_data).write_files
}
output "run" {
  value = yamldecode(module.setup.user_data).runcmd
}
EOF
init "$1" "$work/none" "$work/conf"
"$1" -chdir="$work/conf" apply -auto-approve -no-color >/dev/null
"$1" -chdir="$work/conf" output -json files >"$work/files"
"$1" -chdir="$work/conf" output -json run >"$work/run"
jq -r '.[] | select(.path | endswith("burst-setup")).content' "$work/files" >"$work/burst-setup"
! command -v shellcheck >/dev/null || shellcheck "$work/burst-setup"
BUILD=$BUILD exec tests/bare/run.sh terraform/tests/first-boot.bats
