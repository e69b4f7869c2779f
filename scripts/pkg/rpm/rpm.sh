#!/bin/sh
# rpm.sh [OPTION...]: RPM packages by this machine's rpmbuild, in $BUILD/rpm (`make rpm`); OPTIONs are rpmbuild's.
#
# They are built from the archive of `make dist`, as its reader would (rpmbuild -ta).  On Enterprise Linux 9 they are for that;
# on Debian they are linked with Debian's libraries, and only show what burstd.spec makes: their release says so, and nobody
# should ship them.  The same archive gives the same bytes, whoever builds them and when.
#   RPM_RELEASE=  behind the package's number, .el9 for one; .debian on Debian
set -eu
cd "$(dirname "$0")/../../.."
: "${BUILD:=build}" "${SOURCE_DATE_EPOCH:?is set by make}"
umask 022
export LC_ALL=C.UTF-8 SOURCE_DATE_EPOCH

command -v rpmbuild >/dev/null || {
	echo "rpm: rpmbuild is not installed; \`scripts/dev/deps.sh rpm\` installs it on Debian" >&2
	exit 1
}
out=$(readlink -m "$BUILD/rpm")
archive=$(readlink -m "$BUILD/dist/burstd-$(cat VERSION).tar.gz")
rm -rf "$out"
mkdir -p "$out"
set -- "$@" --define "_topdir $out/top" --define "_rpmdir $out" --define "_srcrpmdir $out" --define '_build_name_fmt %%{NAME}-%%{VERSION}-%%{RELEASE}.%%{ARCH}.rpm' \
	--define '_buildhost burstd' --define 'use_source_date_epoch_as_buildtime 1' --define 'clamp_mtime_to_source_date_epoch 1' \
	--define 'source_date_epoch_from_changelog 0' --define '_srcdefattr (0644,root,root)'
if [ -e /etc/debian_version ]; then
	# There is no database of packages in which --nodeps would not be needed.
	set -- "$@" --nodeps --load scripts/pkg/rpm/debian.macros
	: "${RPM_RELEASE:=.debian}"
fi
[ -z "${RPM_RELEASE-}" ] || set -- "$@" --define "dist $RPM_RELEASE"
# What this make told its children is not the packages' make's.
env -u BUILD -u MODE -u WERROR -u MAKEFLAGS -u MAKELEVEL -u MFLAGS -u PKG_CFLAGS -u PKG_LIBS -u MUSL_GCC \
	rpmbuild -ta "$@" "$archive" >"$out/log" 2>&1 || {
	tail -n 30 "$out/log" >&2
	echo "rpm: rpmbuild failed; $out/log has all that it said" >&2
	exit 1
}
rm -rf "$out/top"
if command -v rpmlint >/dev/null; then
	rpmlint -c scripts/pkg/rpm/rpmlint.toml "$out"/*.rpm
else
	echo 'rpm: rpmlint is not installed, and has judged nothing' >&2
fi
ls "$out"
