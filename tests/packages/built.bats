#!/usr/bin/env bats
# What run.sh has built: the same bytes twice, compiled with what guards programs, an SBOM that others can read, checksums.

# shellcheck disable=SC2154  # status and output, of bats
bats_require_minimum_version 1.5.0
packages=$(readlink -m "${BUILD:-build}")/packages

all() { # WHICH PATTERN
	find "$packages/$1" -maxdepth 1 -type f -name "$2" -printf '%f\n' | sort
}

@test "each suite has its packages, source and SBOM, and the suite is in their version" {
	local suite number
	for suite in bookworm:12 trixie:13; do
		number=${suite#*:} suite=${suite%:*}
		[ "$(all "$suite" 'burst*.deb' | grep -v dbgsym | sed 's/_amd64\|_arm64//')" = "$(printf '%s\n' \
			"burst-agent_$(cat VERSION)-1~deb$number.deb" "burstd-doc_$(cat VERSION)-1~deb${number}_all.deb" \
			"burstd-simcloud_$(cat VERSION)-1~deb$number.deb" "burstd_$(cat VERSION)-1~deb$number.deb")" ]
		[ "$(all "$suite" '*.dsc' | wc -l)" = 1 ]
		[ "$(all "$suite" '*.spdx.json' | wc -l)" = 1 ]
		(cd "$packages/$suite" && sha256sum --quiet -c SHA256SUMS)
	done
	dpkg --compare-versions "$(cat VERSION)-1~deb13" gt "$(cat VERSION)-1~deb12"
}

@test "built twice, in another directory, time zone, locale and umask, they are the same" {
	local file
	all bookworm '*' | grep -vxE 'log|SHA256SUMS' >"$BATS_TEST_TMPDIR/files"
	grep -q '^burstd_.*\.deb$' "$BATS_TEST_TMPDIR/files"
	grep -q '\.dsc$' "$BATS_TEST_TMPDIR/files"
	while read -r file; do
		case $file in
		# It says when, where and in what environment it was built: that is what it is for.
		*.buildinfo | *.changes) ;;
		*) cmp "$packages/bookworm/$file" "$packages/again/$file" ;;
		esac
	done <"$BATS_TEST_TMPDIR/files"
}

@test "a package has nothing of another's, and no developer's page goes to a controller" {
	local deb
	for deb in $(all bookworm 'burst*.deb'); do
		dpkg-deb -c "$packages/bookworm/$deb" | awk '!/^d/ { print $6 }'
	done | sort | uniq -d >"$BATS_TEST_TMPDIR/twice"
	[ ! -s "$BATS_TEST_TMPDIR/twice" ]
	dpkg-deb -c "$packages"/bookworm/burstd-doc_*.deb | grep -q '/docs/adr/0068'
	run ! bash -c "dpkg-deb -c '$packages'/bookworm/burstd_*.deb | grep -E '/docs/|museum|mutation'"
}

@test "Slurm and munge are suggested, and never installed by burstd" {
	local field
	for field in Depends Recommends Pre-Depends; do
		run ! bash -c "dpkg-deb -f '$packages'/bookworm/burstd_*.deb $field | grep -E 'slurm|munge[ ,]|munge\$'"
	done
	dpkg-deb -f "$packages"/bookworm/burstd_*.deb Suggests | grep -q slurmctld
}

# As each suite's debhelper writes it.
@test "an upgrade restarts what runs, and stops nothing before" {
	local suite
	for suite in bookworm trixie; do
		dpkg-deb --ctrl-tarfile "$packages/$suite"/burstd_*.deb | tar -x -C "$BATS_TEST_TMPDIR"
		run ! grep -q 'deb-systemd-invoke' "$BATS_TEST_TMPDIR/preinst"
		grep -qF "deb-systemd-invoke try-restart 'burst-ledger.service' 'burstd.service'" "$BATS_TEST_TMPDIR/postinst"
	done
}

# lintian looks at relro and at the stack; what dpkg does not know is the Makefile's own.
@test "programs have dpkg's flags, and the Makefile's stronger ones" {
	grep -E '^cc .* -c -o .*/burstd/main\.o' "$packages/bookworm/log" >"$BATS_TEST_TMPDIR/cc"
	grep -q -- '-D_FORTIFY_SOURCE=3' "$BATS_TEST_TMPDIR/cc"
	run ! grep -q -- '-D_FORTIFY_SOURCE=2' "$BATS_TEST_TMPDIR/cc"
	grep -q -- '-fstack-clash-protection' "$BATS_TEST_TMPDIR/cc"
	grep -q -- '-Werror=format-security' "$BATS_TEST_TMPDIR/cc"
	dpkg-deb -x "$packages"/bookworm/burstd_*.deb "$BATS_TEST_TMPDIR/x"
	readelf -d "$BATS_TEST_TMPDIR/x/usr/sbin/burstd" | grep -q 'BIND_NOW'
	readelf -h "$BATS_TEST_TMPDIR/x/usr/libexec/burstd/burst-hook" | grep -q 'DYN'
	run ! bash -c "readelf -d '$BATS_TEST_TMPDIR/x/usr/libexec/burstd/burst-hook' | grep NEEDED"
}

@test "the SBOM is SPDX 2.3 by a validator that is not ours, and names what burstd is linked with" {
	local bom
	command -v python3 >/dev/null || skip "there is no python3"
	bash -c 'BUILD=${BUILD:-build}; source tests/contract/venv.bash; want_venv "$BUILD/packages-sbom" tests/packages/sbom.txt' >&2
	[ -x "${BUILD:-build}/packages-sbom/bin/pyspdxtools" ] || skip "no spdx-tools from PyPI"
	for bom in "$packages"/{bookworm,trixie}/*.spdx.json; do
		"${BUILD:-build}/packages-sbom/bin/pyspdxtools" -i "$bom"
		jq -e '.spdxVersion == "SPDX-2.3"' "$bom"
		dpkg-deb -f "$(dirname "$bom")"/burstd_*.deb Depends | tr ',' '\n' | grep -oE 'lib[a-z0-9.+-]+' | sort >"$BATS_TEST_TMPDIR/needs"
		[ -s "$BATS_TEST_TMPDIR/needs" ]
		jq -r '.relationships[] | select(.spdxElementId | test("-burstd-[0-9]")) | .relatedSpdxElement' "$bom" >"$BATS_TEST_TMPDIR/says"
		while read -r lib; do grep -qF -- "SPDXRef-${lib//+/-}-" "$BATS_TEST_TMPDIR/says"; done <"$BATS_TEST_TMPDIR/needs"
		grep -q 'SPDXRef-musl-' "$BATS_TEST_TMPDIR/says"
		# And the version is that of a package of Debian's: a validator does not look.
		run ! jq -e '.packages[] | select(.supplier == "Organization: Debian" and (.name | startswith("lib")) and (.versionInfo | not))' "$bom"
	done
	# The validator notices: without its relations nothing is described.
	jq 'del(.relationships) | .packages[0].SPDXID = "wrong id"' "$bom" >"$BATS_TEST_TMPDIR/bad.spdx.json"
	run ! "${BUILD:-build}/packages-sbom/bin/pyspdxtools" -i "$BATS_TEST_TMPDIR/bad.spdx.json"
}
