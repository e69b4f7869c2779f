#!/bin/bash
# packages.sh: RPM packages, on the Debian 11 of run.sh, whose rpm is as old as EL9's: built twice, installed, upgraded, erased.
#
# What EL9 has and this host has not: its macros (el9.macros has what they set), systemd as process 1, the file
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

# build DIR RELEASE [COMMAND...]: the packages, in DIR/rpm, by COMMAND
build() {
	local dir=$1 release=$2
	shift 2
	mkdir -p "$dir"
	cp -R "$tmp/dist" "$dir/dist"
	[ $# = 0 ] || chown -R "$another" "$dir"
	"$@" env "BUILD=$dir" "RPM_RELEASE=$release" scripts/pkg/rpm/rpm.sh --load tests/el9/el9.macros
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
# By another user, who keeps his files to himself, in another place and time zone: the same.
another=12345
chmod 755 "$tmp"
(umask 077 && TZ=Asia/Kolkata LC_ALL=C HOME=/nonexistent build "$tmp/another-place" .el9 \
	setpriv --reuid=$another --regid=$another --clear-groups)
for one in "$tmp/one/rpm"/*.rpm; do
	cmp "$one" "$tmp/another-place/rpm/${one##*/}" || fail "built twice, ${one##*/} differs"
done
made=$(rpm -qp --qf '%{NAME} ' "$tmp/one/rpm"/*.x86_64.rpm "$tmp/one/rpm"/*.noarch.rpm)
[ "$made" = "$(printf '%s ' burst-agent{,-debuginfo} burstd{,-debuginfo,-debugsource} burstd-simcloud{,-debuginfo} burstd-doc)" ] ||
	fail "made were: $made"
build "$tmp/two" .el9_1

# As EL9 names them: without the versions that Debian gives to the symbols of libcurl.
known='ca-certificates curl openssl systemd tzdata libconfuse.so.2 libcrypto.so.3 libcrypto.so.3(OPENSSL_3.0.0) libcurl.so.4
	libexpat.so.1 libgnutls.so.30 libgnutls.so.30(GNUTLS_3_4) libjansson.so.4 libjansson.so.4(libjansson.so.4) libmicrohttpd.so.12
	libmunge.so.2 libsqlite3.so.0 libssl.so.3 libssl.so.3(OPENSSL_3.0.0) libuv.so.1 libxlsxwriter.so.4'
for one in "$tmp/one/rpm"/*.x86_64.rpm "$tmp/one/rpm"/*.noarch.rpm; do
	[[ $one != *-debuginfo-* ]] || continue # they want each other
	for need in $(asks "$one"); do
		case $need in libc.so.6* | libm.so.6* | libpthread.so.0* | libdl.so.2* | librt.so.1* | libresolv.so.2*) continue ;; esac
		[[ " ${known//[$'\n\t']/ } " = *" $need "* ]] || fail "${one##*/} needs $need"
	done
done

# Everybody can read everything, and only root write.
! rpm -qplv "$tmp/one/rpm"/*.rpm | grep -vE '^(-rwxr-xr-x|-rw-r--r--|drwxr-xr-x|lrwxrwxrwx) .* root +root ' ||
	fail 'these have other modes or owners'

# --- debug information --------------------------------------------------------------------------

# As a debugger finds it once burstd-debuginfo and burstd-debugsource are installed: that of each program by link
# and build-id, the sources by their paths.
debuggable() {
	local program debug id file
	for program in usr/sbin/{burstd,burst-ledger,burst-agent} usr/bin/{burstctl,simcloud} usr/libexec/burstd/burst-hook; do
		debug=$(readelf --string-dump=.gnu_debuglink "/$program" | sed -n 's/.* \([^ ]*\.debug\)$/\1/p')
		debug=/usr/lib/debug/${program%/*}/$debug
		[ -f "$debug" ] || fail "$program has no debug information"
		id=$(build_id "/$program")
		[[ -n $id && $(build_id "$debug") = "$id" ]] || fail "$debug is of another $program"
		# A static libc has sources of its own.
		readelf --debug-dump=info --debug-dump=follow-links "$debug" | sed -n 's/.*DW_AT_comp_dir.* //p' |
			sort -u | grep -qxF "$sources" ||
			fail "the sources of $program are not in $sources"
	done
	for file in burstd/main.c burstd/base/str.h slurm/burst-hook.c; do
		[ -f "$sources/$file" ] || fail "$file is not in $sources"
	done
}
build_id() { readelf --notes "$1" | sed -n 's/.*Build ID: //p'; }
sources=/usr/src/debug/burstd-$(cat VERSION)-1.el9.x86_64

# --- installed ----------------------------------------------------------------------------------

fake_helper
! getent passwd slurm || userdel slurm
mapfile -t packages < <(find "$tmp/one/rpm" -name '*.rpm' ! -name '*.src.rpm')
rpm_ -i "${packages[@]}"
debuggable
asked 'install-system-units burstd.service burst-ledger.service' 'install-system-units burst-agent.service'
getent passwd slurm || fail 'there is no user slurm'
[ "$(stat -c '%U %a' /var/spool/burstd)" = 'slurm 700' ] || fail "the spool is $(stat -c '%U %a' /var/spool/burstd)"
read -ra names <<<"$made"
rpm -V --nodeps "${names[@]}" || fail 'rpm finds other files than it installed'
/usr/sbin/burstd --version
[ -z "$(find /etc/systemd/system -name 'burst*')" ] || fail 'something is enabled'
[ "$(readlink /usr/libexec/burstd/burst-resume)" = burst-hook ] || fail 'burst-resume is not the hook'
for page in burstctl.1 simcloud.1 burst-agent.8 burst-ledger.8 burstd.8; do
	[ "$(zcat "/usr/share/man/man${page##*.}/$page.gz" | grep -c "^\.TH \"${page%.*}\"")" = 1 ] || fail "there is no manual page $page"
done

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

rpm -ql "${names[@]}" | grep -E '/burst|simcloud' | sort -u >"$tmp/files"
rpm_ -e "${names[@]}"
asked 'remove-system-units burstd.service burst-ledger.service' 'remove-system-units burst-agent.service'
while read -r file; do
	[ "$file" = /etc/burstd ] || [ ! -e "$file" ] || fail "$file is left"
done <"$tmp/files"
for file in /etc/burstd/burstd.conf /var/lib/burstd/journal.db /var/spool/burstd/call; do
	[ -s $file ] || fail "$file was taken away"
done
rm -r /etc/burstd /var/lib/burstd /var/spool/burstd
userdel slurm
