#!/bin/bash
# build.sh tofu|openstack|tflint: build that from its Go module, once, below $BUILD/terraform: OpenTofu (six minutes of one
# processor), the provider for OpenStack (one), tflint.  As modules of others they may not be installed by `go install`, for
# their go.mod replaces some of their dependencies.  Not optimised: that takes half of the time.
set -eu
cd "$(dirname "$(readlink -f "$0")")/../.."
BUILD=$(readlink -m "${BUILD:-build}")
out=$BUILD/terraform

case $1 in
tofu) module=github.com/opentofu/opentofu@v1.12.6 package=./cmd/tofu to=bin/tofu ;;
tflint) module=github.com/terraform-linters/tflint@v0.64.0 package=. to=bin/tflint ;;
openstack)
	module=github.com/terraform-provider-openstack/terraform-provider-openstack/v3@v3.4.0 package=.
	to=built/registry.terraform.io/terraform-provider-openstack/openstack/3.4.0/$(go env GOOS)_$(go env GOARCH)/terraform-provider-openstack_v3.4.0
	;;
*) exit 2 ;;
esac
[ ! -x "$out/$to" ] || exit 0
[ "$1" != tofu ] || ! command -v tofu >/dev/null || exit 0

source=$out/source/$1
rm -rf "$source"
mkdir -p "${source%/*}" "$(dirname "$out/$to")"
export GOTOOLCHAIN=auto CGO_ENABLED=0 GOFLAGS=-buildvcs=false
dir=$(cd "$(mktemp -d)" && go mod download -json "$module" | sed -n 's/^\t"Dir": "\(.*\)",*$/\1/p')
cp -r "$dir" "$source"
chmod -R u+w "$source"
(cd "$source" && go build -trimpath -gcflags=all='-N -l' -ldflags='-s -w' -o "$out/$to.new" "$package")
mv "$out/$to.new" "$out/$to"
rm -rf "$source"
