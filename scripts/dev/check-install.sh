#!/bin/bash
# check-install.sh: what `make install` puts into a DESTDIR, that it would work there, and that `make uninstall`
# takes away exactly that.  Builds into build/install what the release has not got yet; installs only below a temporary
# directory.
set -eu
cd "$(dirname "$0")/../.."
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
failed=0

want() { # WHAT COMMAND...
	local what=$1
	shift
	"$@" >"$tmp/log" 2>&1 || {
		echo "check-install: $what"
		tail -5 "$tmp/log"
		failed=1
	}
}
# shellcheck disable=SC2317  # run by want
has() { grep -qxF -- "$1" "$2"; }
# shellcheck disable=SC2317
not() { ! "$@"; }
# Not optimised: what is compiled is not looked at here, only where it goes.
make_() {
	make --no-print-directory -j"$(nproc)" BUILD=build/install SOURCE_DATE_EPOCH=86400 CFLAGS='-O0 -U_FORTIFY_SOURCE -w' "$@" >/dev/null
}
tree() { (cd "$1" && find . -mindepth 1 \( ! -type d -o -empty \) | sort); }

# Restarted for ever: by default systemd gives up after five failures within ten seconds, which is 5 s of a full disk.
# shellcheck disable=SC2317
for_ever() {
	sed -n '/^\[Unit\]/,/^\[Service\]/p' "$1" | grep -qx 'StartLimitIntervalSec=0' && has 'Restart=on-failure' "$1"
}

# Every relative link of an installed document leads to an installed file.
links() {
	local from link
	find "$1" -name '*.md' | while read -r from; do
		grep -oE '\]\([^)#[:space:]]+' "$from" | sed 's/^](//' | grep -vE '^[a-z]+:' | while read -r link; do
			[ -e "$(dirname "$from")/$link" ] || echo "${from#"$1"/}: $link"
		done
	done
}

# installed ROOT PREFIX SYSTEMD: the paths of the unit and of slurm.conf are those of the files, and nothing is missing
installed() {
	local root=$1 prefix=$2 unit=$1$3/systemd/system/burstd.service doc=$1$2/share/doc/burstd file
	for file in $(sed -n 's/^ExecStart=\([^ ]*\).*/\1/p' "$unit" "${unit%/*}/burst-agent.service" "${unit%/*}/burst-ledger.service") \
		$(sed -n 's/^[A-Z][A-Za-z]*Program=//p' "$doc/slurm/burst.conf") "$prefix/bin/burstctl" "$prefix/bin/simcloud"; do
		want "PREFIX=$prefix: $file is not an installed program" test -x "$root$file"
	done
	want "PREFIX=$prefix: systemd never gives burstd up" for_ever "$unit"
	want "PREFIX=$prefix: the four programs for slurmctld" test "$(find "$root$prefix/libexec/burstd" -type l | wc -l)" = 4
	for file in "$root$3/tmpfiles.d/burstd.conf" "$doc/burstd.conf" "$doc"/{README,SECURITY}.md \
		"$doc/LICENSE" "$doc"/docs/{operations,researchers,finance,placement}.md; do
		want "PREFIX=$prefix: ${file#"$root"} is missing" test -s "$file"
	done
	for file in CONTRIBUTING.md docs/{design,museum,mutation}.md docs/adr; do
		want "PREFIX=$prefix: $file is for developers, and installed" not test -e "$doc/$file"
	done
	want "PREFIX=$prefix: a link to what is not installed is text" grep -qF 'goes on as it was (ADR 29);' "$doc/docs/operations.md"
	for file in docs/man/*.scd; do
		file=${file##*/} file=${file%.scd}
		want "PREFIX=$prefix: manual page $file" grep -q "^.TH .* \"1970-01-02\" .*burstd $(cat VERSION)" \
			"$root$prefix/share/man/man${file##*.}/$file"
	done
	for file in bash-completion/completions/burstctl zsh/site-functions/_burstctl \
		bash-completion/completions/burst-ledger zsh/site-functions/_burst-ledger; do
		want "PREFIX=$prefix: $file completes ${file##*[/_]}" grep -q "${file##*[/_]}\$" "$root$prefix/share/$file"
	done
	links "$doc" >"$tmp/links"
	want "PREFIX=$prefix: links between installed documents: $(cat "$tmp/links")" test ! -s "$tmp/links"
	want "PREFIX=$prefix: burstd runs" "$root$prefix/sbin/burstd" --version
}

# What is not ours, or is the admin's, is there before and after.
round() { # PREFIX SYSTEMD
	local root=$tmp/root
	rm -rf "$root"
	mkdir -p "$root$1/libexec/burstd" "$root$1/bin" "$root/etc/burstd" "$root/var/lib/burstd"
	echo mine | tee "$root$1/libexec/burstd/site-hook" "$root$1/bin/other" "$root/etc/burstd/sim.token" \
		>"$root/var/lib/burstd/cluster.uuid"
	tree "$root" >"$tmp/before"
	make_ DESTDIR="$root" PREFIX="$1" install
	installed "$root" "$1" "$2"
	want "nothing outside of PREFIX=$1 and $2" \
		test -z "$(tree "$root" | grep -vE "^\.($1|$2|/var/lib/burstd)/|^\./etc/burstd/sim.token$")"
	echo 'cluster = "mine"' >"$root/etc/burstd/burstd.conf"
	make_ DESTDIR="$root" PREFIX="$1" install
	want "a second install leaves the configuration alone" has 'cluster = "mine"' "$root/etc/burstd/burstd.conf"
	make_ DESTDIR="$root" PREFIX="$1" uninstall
	want "uninstall leaves the configuration alone" has 'cluster = "mine"' "$root/etc/burstd/burstd.conf"
	rm "$root/etc/burstd/burstd.conf"
	tree "$root" | grep -vxE '\./.*/(man[0-9]|bin|sbin|doc|system|tmpfiles\.d|completions|site-functions)' >"$tmp/after" || true
	want "PREFIX=$1: uninstall leaves what it found: $(diff "$tmp/before" "$tmp/after" | head -5)" cmp "$tmp/before" "$tmp/after"
}

rm -rf build/install
mkdir -p build/install/release
for made in build/bin build/release/burstd build/release/providers build/release/slurm build/release/hook build/release/*.a; do
	[ ! -e "$made" ] || cp -a "$made" "build/install/${made#build/}"
done
make_ all
round /usr /usr/lib
round /opt/burstd /etc
want "sysconfdir cannot be moved" not make_ sysconfdir=/opt/etc all
exit $failed
