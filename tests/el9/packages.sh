#!/bin/bash
# packages.sh: RPM packages, on the Debian 11 of run.sh, whose rpm is as old as EL9's: built twice, installed, upgraded, erased.
#
# What EL9 has and this host has not: its macros (scripts/pkg/rpm/debian.macros has what they do), systemd as process 1, the file
# triggers of its package, and a database in which requirements are found (--nodeps; they are compared with a list).  The users
# and directories are made by the real systemd-sysusers and systemd-tmpfiles.
set -eu -o pipefail
shopt -s inherit_errexit
cd "${0%/*}/../.."
SOURCE_DATE_EPOCH=$(stat -c %Y VERSION)
export SOURCE_DATE_EPOCH
tmp=$(mktemp -d)
helper=/usr/lib/systemd/systemd-update-helper
trap 'rm -rf "$tmp" $helper' EXIT

fail() {
	echo "# $1" >&2
	exit 1
}

# EL9's flags, but those that name files of its compiler, gcc 11's -march=x86-64-v2, and -flto=auto, which the spec takes out.
flags='-O2 -fexceptions -g -grecord-gcc-switches -pipe -Wall -Werror=format-security
	-Wp,-D_FORTIFY_SOURCE=2 -Wp,-D_GLIBCXX_ASSERTIONS -fstack-protector-strong -m64 -mtune=generic
	-fasynchronous-unwind-tables -fstack-clash-protection -fcf-protection'
# build DIR RELEASE
build() {
	mkdir -p "$1"
	cp -R "$tmp/dist" "$1/dist"
	BUILD=$1 RPM_RELEASE=$2 scripts/pkg/rpm/rpm.sh --define "optflags ${flags//[$'\n\t']/ }" \
		--define 'build_ldflags -Wl,-z,relro -Wl,--as-needed'
}

# What a package asks of the system, without what rpm itself provides and what is named in the spec.
asks() { # PACKAGE
	rpm -qp --requires "$1" | sed 's/()(64bit)$//; s/(64bit)$//' | grep -vE '^(rpmlib|rtld)\(|^\(|^/' | sort -u
}

# installed PACKAGES: by this machine's rpm, which Debian wants to be asked twice.
rpm_() { rpm --force-debian --nodeps "$@" 2>&1; }
asked() { # CALLS...: what systemd was asked since the last time
	local want
	want=$(printf '%s\n' "$@")
	[ "$(sort "$tmp/asked")" = "$(sort <<<"$want")" ] || fail "systemd was asked: $(cat "$tmp/asked")"
	: >"$tmp/asked"
}
fake_helper() {
	printf '#!/bin/sh\necho "$*" >>%s/asked\n' "$tmp" >$helper
	chmod 755 $helper
	: >"$tmp/asked"
}

make -s BUILD="$tmp" dist
build "$tmp/one" .el9
(umask 077 && TZ=Asia/Kolkata LC_ALL=C HOME=/nonexistent build "$tmp/another/place" .el9)
for one in "$tmp/one/rpm"/*.rpm; do
	cmp "$one" "$tmp/another/place/rpm/${one##*/}" || fail "built twice, ${one##*/} differs"
done
[ "$(find "$tmp/one/rpm" -name '*.rpm' | wc -l)" = 5 ] || fail "not five packages: $(ls "$tmp/one/rpm")"
build "$tmp/two" .el9_1

# As EL9 names them: without the versions that Debian gives to the symbols of libcurl.
known='ca-certificates curl openssl systemd tzdata libconfuse.so.2 libcrypto.so.3 libcrypto.so.3(OPENSSL_3.0.0) libcurl.so.4
	libexpat.so.1 libgnutls.so.30 libgnutls.so.30(GNUTLS_3_4) libjansson.so.4 libjansson.so.4(libjansson.so.4) libmicrohttpd.so.12
	libmunge.so.2 libsqlite3.so.0 libssl.so.3 libssl.so.3(OPENSSL_3.0.0) libuv.so.1 libxlsxwriter.so.4'
for one in "$tmp/one/rpm"/*.x86_64.rpm "$tmp/one/rpm"/*.noarch.rpm; do
	for need in $(asks "$one"); do
		case $need in libc.so.6* | libm.so.6* | libpthread.so.0* | libdl.so.2* | librt.so.1* | libresolv.so.2*) continue ;; esac
		[[ " ${known//[$'\n\t']/ } " = *" $need "* ]] || fail "${one##*/} needs $need"
	done
done

# --- installed ----------------------------------------------------------------------------------

fake_helper
! getent passwd slurm || userdel slurm
mapfile -t packages < <(find "$tmp/one/rpm" -name '*.rpm' ! -name '*.src.rpm')
rpm_ -i "${packages[@]}"
asked 'install-system-units burstd.service burst-ledger.service' 'install-system-units burst-agent.service'
getent passwd slurm || fail 'there is no user slurm'
[ "$(stat -c '%U %a' /var/spool/burstd)" = 'slurm 700' ] || fail "the spool is $(stat -c '%U %a' /var/spool/burstd)"
rpm -V burstd burst-agent burstd-simcloud burstd-doc || fail 'rpm finds other files than it installed'
/usr/sbin/burstd --version
[ -z "$(find /etc/systemd/system -name 'burst*')" ] || fail 'something is enabled'
[ "$(readlink /usr/libexec/burstd/burst-resume)" = burst-hook ] || fail 'burst-resume is not the hook'
[ "$(zcat /usr/share/man/man8/burstd.8.gz | grep -c '^\.TH "burstd"')" = 1 ] || fail 'there is no manual page'

# --- upgraded -----------------------------------------------------------------------------------

echo 'cluster = "mine"' >/etc/burstd/burstd.conf
install -d -o slurm -m 700 /var/lib/burstd
echo mine | tee /var/lib/burstd/journal.db >/var/spool/burstd/call
mapfile -t packages < <(find "$tmp/two/rpm" -name '*.rpm' ! -name '*.src.rpm')
rpm_ -U "${packages[@]}"
asked 'mark-restart-system-units burstd.service burst-ledger.service' 'mark-restart-system-units burst-agent.service'
[ "$(rpm -q burstd)" = "burstd-$(cat VERSION)-1.el9_1.x86_64" ] || fail "installed is $(rpm -q burstd)"
[ "$(cat /etc/burstd/burstd.conf)" = 'cluster = "mine"' ] || fail 'the configuration is another one'

# --- erased -------------------------------------------------------------------------------------

rpm -ql burstd burst-agent burstd-simcloud burstd-doc | grep -E '/burst|simcloud' | sort -u >"$tmp/files"
rpm_ -e burstd burst-agent burstd-simcloud burstd-doc
asked 'remove-system-units burstd.service burst-ledger.service' 'remove-system-units burst-agent.service'
while read -r file; do
	[ "$file" = /etc/burstd ] || [ ! -e "$file" ] || fail "$file is left"
done <"$tmp/files"
for file in /etc/burstd/burstd.conf /var/lib/burstd/journal.db /var/spool/burstd/call; do
	[ -s $file ] || fail "$file was taken away"
done
rm -r /etc/burstd /var/lib/burstd /var/spool/burstd
userdel slurm
