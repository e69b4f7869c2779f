#!/bin/sh
# deb.sh: Debian packages of the release that this machine runs, in $BUILD/deb (`make deb`).
#
# They are built from the archive of `make dist` and scripts/pkg/debian, in $BUILD/deb/burstd-VERSION, with nothing of the
# caller's environment but what is named here.  Beside them: the source package, SBOM (SPDX 2.3), and checksums.
#   REVISION=    of the package, 1 unless it is said; the release of Debian is part of the version: 0.1.0-1~deb12
#   MAINTAINER=  "Name <address>" of who publishes them
#   DEB_BUILD_OPTIONS=  as always: nocheck, parallel=N, noautodbgsym
set -eu
cd "$(dirname "$0")/../.."
: "${BUILD:=build}" "${REVISION:=1}" "${SOURCE_DATE_EPOCH:?is set by make}"
: "${DEB_BUILD_OPTIONS=parallel=$(nproc)}"
umask 022
export LC_ALL=C.UTF-8

lacks=''
for program in dpkg-buildpackage dh lintian python3; do
	command -v $program >/dev/null || lacks="$lacks $program"
done
[ -z "$lacks" ] || {
	echo "deb:$lacks: not installed; \`scripts/dev/deps.sh package\` installs what packages are built with" >&2
	exit 1
}

version=$(cat VERSION)
release=$(. /etc/os-release && echo "~deb${VERSION_ID-}")
suite=$(. /etc/os-release && echo "${VERSION_CODENAME:-unstable}")
[ "$release" != '~deb' ] || release='' # sid has no number
full=$version-$REVISION$release
out=$BUILD/deb
src=$out/burstd-$version

rm -rf "$out"
mkdir -p "$out"
cp "$BUILD/dist/burstd-$version.tar.gz" "$out/burstd_$version.orig.tar.gz"
tar -x -C "$out" -f "$out/burstd_$version.orig.tar.gz"
cp -R "$src/scripts/pkg/debian" "$src/debian"
[ -z "${MAINTAINER-}" ] || sed -i "s|^Maintainer: .*|Maintainer: $MAINTAINER|" "$src/debian/control"
cat >"$src/debian/changelog" <<-C
	burstd ($full) $suite; urgency=medium

	  * burstd $version: see CHANGELOG.md.

	 -- $(sed -n 's/^Maintainer: //p' "$src/debian/control")  $(date -u -R -d "@$SOURCE_DATE_EPOCH")
C
find "$src" -exec touch -h -d "@$SOURCE_DATE_EPOCH" {} +
(cd "$src" && env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/nonexistent LC_ALL="$LC_ALL" \
	SOURCE_DATE_EPOCH="$SOURCE_DATE_EPOCH" DEB_BUILD_OPTIONS="$DEB_BUILD_OPTIONS" dpkg-buildpackage -us -uc) >"$out/log" 2>&1 || {
	tail -n 30 "$out/log" >&2
	echo "deb: dpkg-buildpackage failed; $out/log has all that it said" >&2
	exit 1
}
rm -rf "$src"
# Bookworm's lintian does not know Static-Built-Using, which its dpkg does, and which the packages of debug symbols have, too.
lintian --pedantic --allow-root --suppress-tags unknown-field --fail-on error,warning,info,pedantic "$out"/*.changes
python3 scripts/pkg/sbom.py --source "$out/burstd_$version.orig.tar.gz" --out "$out/burstd_${full}_$(dpkg --print-architecture).spdx.json" \
	"$out"/*_"$full"_*.deb
scripts/pkg/checksums.sh "$out"
ls "$out"
