#!/bin/bash
# aws.sh [SCRIPT PROGRAM [WANT]]: the driver aws against moto, and its requests against botocore's, as TAP; both from
# PyPI, in a virtual environment under build/.  Skipped where Python's venv or PyPI is out of reach: that is found out in
# less than a minute, and beside the other tests.  Other tests run a script of theirs this way, in an environment of
# their own if they have a list WANT.txt.
set -u
cd "$(dirname "$(readlink -f "$0")")/../.." || exit
BUILD=${BUILD:-build}
venv=$BUILD/contract${3:+-$3}
want=tests/contract/${3:-requirements}.txt

skip() {
	echo "1..0 # SKIP $1"
	exit 0
}
# What it was to have is written last; and a Python of another release does not find what this one's has put there.
is_whole() {
	cmp -s "$want" "$venv/installed" && "$venv/bin/python" -m pip --version >/dev/null 2>&1
}
# From nothing: what somebody stopped half-way is not gone on with.
make_venv() {
	rm -rf "$venv"
	python3 -m venv "$venv" || return
	timeout 900 "$venv/bin/python" -m pip install --quiet --disable-pip-version-check --timeout 20 --retries 1 -r "$want" ||
		return
	cp "$want" "$venv/installed"
}

mkdir -p "$BUILD"
# aws-secrets.sh runs beside it, perhaps.
exec 9>"$venv.lock"
flock 9
if ! is_whole; then
	command -v python3 >/dev/null || skip "there is no python3"
	make_venv >"$venv.log" 2>&1 ||
		skip "no virtual environment, or no PyPI, see $venv.log: $(tail -n 1 "$venv.log" | cut -c1-160)"
fi
exec 9>&-
# No __pycache__ beside the sources.
export PYTHONDONTWRITEBYTECODE=1
exec "$venv/bin/python" "tests/contract/${1:-aws.py}" "${BIN:-$BUILD/bin}/${2:-driver}"
