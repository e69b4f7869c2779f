#!/bin/sh
# build.sh BUILD: the documents' site in BUILD/site, from the documents, BUILD/man and BUILD/bin/burstctl.  A warning of
# mkdocs' is an error.
set -eu
cd "$(dirname "$0")/../.."
build=${1:-build}
for program in mkdocs mandoc; do
	command -v "$program" >/dev/null || {
		echo "site: there is no $program: scripts/dev/deps.sh site" >&2
		exit 1
	}
done
PYTHONDONTWRITEBYTECODE=1 python3 scripts/site/stage.py "$build"
cd "$build/site-src"
# Python warns of an old Jinja.
PYTHONWARNINGS=ignore mkdocs build --quiet --strict
