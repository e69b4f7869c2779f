#!/bin/sh
# dist.sh [TREE]: $BUILD/dist/burstd-VERSION.tar.gz, the sources of this commit (`make dist`).
#
# Of a git checkout, what is committed; of an unpacked one of these archives, all files but build/.  The same files give the
# same bytes, whoever makes it, where and when: names are sorted, times are $SOURCE_DATE_EPOCH, owners and modes the same.
set -eu
cd "${1:-$(dirname "$0")/../..}"
: "${BUILD:=build}" "${SOURCE_DATE_EPOCH:?is set by make}"
umask 022
export LC_ALL=C

mkdir -p "$BUILD/dist"
stage=$(mktemp -d "$BUILD/dist/stage.XXXXXX")
trap 'rm -rf "$stage"' EXIT
trap 'exit 1' HUP INT TERM

if [ -e .git ]; then
	git diff --quiet HEAD || echo 'dist: there are changes that are not committed: they are not in the archive' >&2
	git archive --format=tar HEAD >"$stage/tar"
else
	tar -c --exclude="./$BUILD" --exclude=./build --exclude=./debian -f "$stage/tar" .
fi
mkdir "$stage/tree"
tar -x -C "$stage/tree" -f "$stage/tar"
name=burstd-$(cat "$stage/tree/VERSION")
mv "$stage/tree" "$stage/$name"
tar -c -C "$stage" --format=ustar --sort=name --mtime="@$SOURCE_DATE_EPOCH" --owner=0 --group=0 --numeric-owner \
	--mode='u=rwX,go=rX' "$name" | gzip -9n >"$stage/gz"
mv "$stage/gz" "$BUILD/dist/$name.tar.gz"
echo "$BUILD/dist/$name.tar.gz"
