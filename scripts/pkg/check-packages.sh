#!/bin/bash
# check-packages.sh: what can be said of Debian's packages without building them, as TAP: seconds.  tests/packages builds them.
set -u
cd "$(dirname "$(readlink -f "$0")")/../.." || exit
debian=$PWD/scripts/pkg/debian
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
n=0

ok() { # NAME COMMAND...
	local name=$1
	shift
	n=$((n + 1))
	if "$@" >"$tmp/said" 2>&1; then
		echo "ok $n - $name"
	else
		echo "not ok $n - $name"
		tail -n 20 "$tmp/said" | sed 's/^/# /'
	fi
}
skip() { # NAME WHY
	n=$((n + 1))
	echo "ok $n - $1 # SKIP $2"
}
refuses() { ! "$@"; }

# --- what is in which package -------------------------------------------------------------------

named() {
	sed -n 's/^Package: //p' "$debian/control" | sort
}

# parts PACKAGE: the files of $tmp/root that dh_install takes into it; a line that takes none fails.
parts() {
	local pattern rest found
	while read -r pattern rest; do
		found=$(cd "$tmp/root" && compgen -G "$pattern") || {
			echo "$1.install: no file is $pattern" >&2
			return 1
		}
		(cd "$tmp/root" && echo "$found" | xargs -d '\n' -I{} find {} ! -type d)
	done <"$debian/$1.install"
}

in_one_package() {
	local p
	make --no-print-directory DESTDIR="$tmp/root" install >/dev/null || return
	(cd "$tmp/root" && find . ! -type d | sed 's|^\./||' | sort) >"$tmp/installed"
	for p in $(named); do
		parts "$p" || return
	done | sort >"$tmp/packaged" || return
	[ -s "$tmp/installed" ] && diff "$tmp/installed" "$tmp/packaged"
}

control() {
	cat >"$tmp/parse.pl" <<'P'
use strict;
use warnings;
use Dpkg::Control::Info;
use Dpkg::Deps;
my $c = Dpkg::Control::Info->new($ARGV[0]);
deps_parse($c->get_source->{'Build-Depends'}, build_dep => 1) or die "Build-Depends";
for my $p ($c->get_packages) {
	for my $f (qw(Depends Recommends Suggests)) {
		next unless defined $p->{$f};
		(my $d = $p->{$f}) =~ s/\$\{[^}]*\},?//g;
		$d !~ /\w/ or deps_parse($d) or die "$p->{Package}: $f\n";
	}
	$p->{Description} =~ /\n/ or die "$p->{Package}: no description\n";
	-s "$ARGV[1]/$p->{Package}.install" or die "$p->{Package}: nothing is installed\n";
}
P
	perl "$tmp/parse.pl" "$debian/control" "$debian"
}

# Whoever builds by hand needs what the packages need, by the same names.
same_needs() {
	sed -n '/^Build-Depends:/,/^[^ ]/p' "$debian/control" | sed -n 's/^ \([a-z0-9.+-]*\)[ ,].*/\1/p' | grep -v '^d[eh]' | sort >"$tmp/control"
	scripts/dev/deps.sh --list build | grep -vxE 'gcc|make|libc6-dev|tzdata|ca-certificates' | sed 's/^pkg-config$/pkgconf/' | sort | diff - "$tmp/control"
}

# Who upgrades must know what cannot be taken back.
changes() {
	local first journal ledger
	first=$(awk '/^## / { n++ } n == 1' CHANGELOG.md)
	journal=$(sed -n 's/.* SCHEMA_STEPS = \([0-9]*\).*/\1/p' burstd/store/schema.h)
	ledger=$(grep -c '^static const char step_' burstd/store/ledger_schema.c)
	grep -qE "^## $(sed 's/[.]/[.]/g' VERSION)( |\$)" <<<"$first" || { echo "CHANGELOG.md does not begin with VERSION" && return 1; }
	tr '\n' ' ' <<<"$first" | grep -qF "Journal of schema $journal, ledger of schema $ledger" ||
		{ echo "CHANGELOG.md does not say: Journal of schema $journal, ledger of schema $ledger" && return 1; }
}

# --- what the packages do when they come and go -----------------------------------------------------

# script NAME: one of burstd's, as dh_installdeb would write it, for a burstd of journal 22 and ledger 9
script() {
	sed 's/#VERSION#/0.1.0/g; s/#JOURNAL_SCHEMA#/22/; s/#LEDGER_SCHEMA#/9/; s/^#DEBHELPER#//' "$debian/burstd.$1" >"$tmp/$1"
}
world() { # anew
	rm -rf "$tmp/world" "$tmp/fake"
	mkdir -p "$tmp/world"/{etc/burstd,var/lib/burstd,var/spool/burstd,var/log/burstd,usr/share/burstd,run/systemd/system} "$tmp/fake"
	: >"$tmp/calls"
}
db() { # FILE SCHEMA: as SQLite's header has it
	head -c 60 /dev/zero >"$tmp/world/var/lib/burstd/$1.db"
	perl -e 'print pack "N", shift' "$2" >>"$tmp/world/var/lib/burstd/$1.db"
}
run_() { # SCRIPT ARG...
	local name=$1
	shift
	script "$name"
	DPKG_ROOT=$tmp/world PATH=$tmp/fake:$PATH sh "$tmp/$name" "$@" >"$tmp/out" 2>&1
}
fake() { # NAME, its script on standard input
	{ echo '#!/bin/sh' && cat; } >"$tmp/fake/$1"
	chmod 755 "$tmp/fake/$1"
}
tells() { grep -qF -- "$1" "$tmp/out" || { cat "$tmp/out" && return 1; }; }

schemas() {
	world
	run_ preinst install && run_ preinst upgrade 0.0.9 || return # nothing there
	db journal 22 && db ledger 9 && run_ preinst upgrade 0.2 || return
	db journal 23 && refuses run_ preinst upgrade 0.2 || return
	tells 'burstd: refused: /var/lib/burstd/journal.db is of schema 23, and burstd 0.1.0 knows 22 at most.' || return
	refuses run_ preinst install 0.2 || return
	db journal 256 && refuses run_ preinst upgrade 0.2 && tells 'schema 256' || return
	run_ preinst abort-upgrade 0.2 || return
	db journal 22 && db ledger 10 && refuses run_ preinst upgrade 0.2 && tells 'ledger.db is of schema 10'
}
# While a burstd runs the header may be old.
log_of_sqlite() {
	world
	db journal 22
	printf 'journal 23\nledger 9\n' >"$tmp/world/usr/share/burstd/schemas"
	run_ preinst upgrade 0.2 || return
	echo frames >"$tmp/world/var/lib/burstd/journal.db-wal"
	refuses run_ preinst upgrade 0.2 && tells 'is of schema 23'
}
elsewhere() {
	world
	db journal 23
	mv "$tmp/world/var/lib/burstd" "$tmp/world/var/lib/other"
	printf 'state_dir = "/var/lib/other"\n#state_dir = "/var/lib/wrong"\n' >"$tmp/world/etc/burstd/burstd.conf"
	refuses run_ preinst upgrade 0.2 && tells '/var/lib/other/journal.db' || return
	local line
	for line in 'state_dir="/var/lib/other"# not "here"' "state_dir = '/var/lib/other'" 'state_dir = /var/lib/other # disk'; do
		echo "$line" >"$tmp/world/etc/burstd/burstd.conf"
		if run_ preinst upgrade 0.2 || ! tells '/var/lib/other/journal.db'; then echo "$line" && return 1; fi
	done
	mv "$tmp/world/var/lib/other" "$tmp/world/var/lib/a #2"
	echo 'state_dir = "/var/lib/a #2" # disk' >"$tmp/world/etc/burstd/burstd.conf"
	refuses run_ preinst upgrade 0.2 && tells '/var/lib/a #2/journal.db'
}

# removal ACTIVE NODES-REPLY
removal() {
	world
	fake systemctl <<<"[ $1 = yes ]"
	fake burstctl <<<"$2"
	fake deb-systemd-invoke <<<"echo \"\$@\" >>$tmp/calls"
	run_ prerm "${3-remove}"
}
stopped() { grep -qx 'stop burst-ledger.service burstd.service' "$tmp/calls"; }
machines() {
	refuses removal yes "echo '{\"nodes\":[{\"name\":\"a\",\"state\":\"ready\"}]}'" && tells 'it has machines' && refuses stopped || return
	refuses removal yes "echo '{\"nodes\":[{\"name\":\"a\",\"state\":\"gone\"},{\"name\":\"b\",\"state\":\"deleting\"}]}'" || return
	refuses removal yes "echo '{\"nodes\":[{\"name\":\"a\",\"state\":\"gone\",\"older\":1}]}'" && tells 'it has machines' || return
	refuses removal yes 'exit 1' && tells 'does not say' && refuses stopped || return
	removal yes "echo '{\"nodes\":[{\"name\":\"a\",\"state\":\"gone\",\"older\":0}]}'" && stopped || return
	removal no 'exit 1' && stopped
}
upgrade_asks_nobody() {
	removal yes "echo '{\"nodes\":[{\"name\":\"a\",\"state\":\"ready\"}]}'" upgrade && refuses stopped
}
purge() {
	world
	touch "$tmp/world/etc/burstd"/{burstd.conf,cloud.key} "$tmp/world/var/lib/burstd/uuid"
	run_ postrm remove && [ -e "$tmp/world/etc/burstd/burstd.conf" ] && [ -e "$tmp/world/var/spool/burstd" ] || return
	run_ postrm purge && tells '/var/lib/burstd stays' && tells '/etc/burstd stays' || return
	[ -e "$tmp/world/var/lib/burstd/uuid" ] && [ -e "$tmp/world/etc/burstd/cloud.key" ] || return
	[ ! -e "$tmp/world/etc/burstd/burstd.conf" ] && [ ! -e "$tmp/world/var/spool/burstd" ] && [ ! -e "$tmp/world/var/log/burstd" ] || return
	rm -r "$tmp/world/etc/burstd/cloud.key" "$tmp/world/var/lib/burstd"
	run_ postrm purge && [ ! -s "$tmp/out" ] && [ ! -e "$tmp/world/etc/burstd" ]
}

# --- archive and checksums --------------------------------------------------------------------------

# From a checkout, and from what that gave, with other times, modes and another umask: the same bytes.
same_archive() {
	local name
	name=burstd-$(cat VERSION)
	export SOURCE_DATE_EPOCH=1764000000
	BUILD=$tmp/one scripts/pkg/dist.sh || return
	tar -x -C "$tmp" -f "$tmp/one/dist/$name.tar.gz" || return
	find "$tmp/$name" -exec touch -d '1 hour ago' {} +
	chmod -R go-rwx "$tmp/$name"
	(umask 077 && TZ=Pacific/Kiritimati LC_ALL=C.UTF-8 BUILD=build scripts/pkg/dist.sh "$tmp/$name") || return
	cmp "$tmp/one/dist/$name.tar.gz" "$tmp/$name/build/dist/$name.tar.gz" || return
	[ "$(tar -tf "$tmp/one/dist/$name.tar.gz" | grep -vc "^$name/")" = 0 ] && tar -tf "$tmp/one/dist/$name.tar.gz" | grep -qx "$name/VERSION"
}

signed() {
	export GNUPGHOME=$tmp/gpg
	mkdir -m 700 "$GNUPGHOME" && mkdir "$tmp/out.d" || return
	# Its agent is given five seconds to start, which on a busy machine may be too few.
	for _ in 1 2 3; do
		! gpg --batch --quiet --passphrase '' --quick-gen-key tester@burstd.invalid ed25519 || break
	done
	gpg --list-secret-keys tester@burstd.invalid || return
	echo one >"$tmp/out.d/a.deb" && echo said >"$tmp/out.d/log"
	KEY='' scripts/pkg/checksums.sh "$tmp/out.d" "$tmp/nothing" 2>"$tmp/unsigned" && grep -q 'not signed' "$tmp/unsigned" || return
	[ ! -e "$tmp/out.d/SHA256SUMS.asc" ] && KEY=tester@burstd.invalid scripts/pkg/checksums.sh "$tmp/out.d" || return
	[ "$(sed 's/.* //' "$tmp/out.d/SHA256SUMS")" = a.deb ] && (cd "$tmp/out.d" && sha256sum -c SHA256SUMS) || return
	gpg --verify "$tmp/out.d/SHA256SUMS.asc" "$tmp/out.d/SHA256SUMS" || return
	echo more >>"$tmp/out.d/SHA256SUMS"
	refuses gpg --verify "$tmp/out.d/SHA256SUMS.asc" "$tmp/out.d/SHA256SUMS"
}

ok "every installed file is in exactly one package" in_one_package
if perl -MDpkg::Control::Info -e 1 2>/dev/null; then
	ok "debian/control: fields, dependencies, and something in each package" control
else
	skip "debian/control" "there is no libdpkg-perl"
fi
ok "debian/control and deps.sh want the same to build" same_needs
ok "CHANGELOG.md begins with this version, and says its schemas" changes
ok "preinst: what a newer burstd has written is refused, all else is not" schemas
ok "preinst: while it is in SQLite's log, too" log_of_sqlite
ok "preinst: in the state directory of burstd.conf" elsewhere
ok "prerm: not while burstd has machines, or does not say so" machines
ok "prerm: an upgrade asks nobody" upgrade_asks_nobody
ok "postrm: a purge keeps the books and what is the site's" purge
ok "the archive of the sources is the same, whoever makes it from what" same_archive
if command -v gpg >/dev/null; then
	ok "checksums are signed, and a change is seen" signed
	command -v gpgconf >/dev/null && GNUPGHOME=$tmp/gpg gpgconf --kill all 2>/dev/null
else
	skip "checksums are signed" "there is no gpg"
fi
echo "1..$n"
