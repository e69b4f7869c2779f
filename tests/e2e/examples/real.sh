#!/bin/bash
# real.sh: examples.bats with PyTorch, DeepSpeed and Ray themselves, from PyPI, on CPUs (`make examples`), as TAP.  They take
# 4.3 GB in $BUILD/torch and are kept there; where they cannot be had the test says why and is skipped.
set -u
cd "$(dirname "$(readlink -f "$0")")/../../.." || exit
BUILD=${BUILD:-build}
# shellcheck source-path=SCRIPTDIR/../../contract
source tests/contract/venv.bash
list=tests/e2e/examples/real.txt dir=$BUILD/torch
# Jobs run as somebody else, who may not read a Python that is in somebody's home.
[ -n "${PYTHON-}" ] || [ ! -x /usr/bin/python3 ] || PYTHON=/usr/bin/python3
# DeepSpeed compiles some of itself when it runs.
for what in c++ "${PYTHON:-python3}-config"; do
	command -v "$what" >/dev/null || skip "there is no $what, which DeepSpeed needs"
done
mkdir -p "$BUILD/torch.tmp" || exit
trap 'rm -rf "$BUILD/torch.tmp"' EXIT
if ! is_whole "$dir" "$list" && [ "$(df --output=avail -BG "$BUILD" | tr -dc 0-9)" -lt 8 ]; then
	skip "less than 8 GB are free for $dir"
fi
# /tmp may be too small for what is unpacked.
TMPDIR=$(readlink -f "$BUILD/torch.tmp") VENV_SECONDS=1800 want_venv "$dir" "$list" --no-deps --no-cache-dir
# Compiled once, where the researcher finds it.
if ! why=$(env -u PYTHONPYCACHEPREFIX DS_ACCELERATOR=cpu "$dir/bin/python" -c 'import torch.distributed.run, deepspeed, ray' 2>&1); then
	printf '%s\n' 1..1 "not ok 1 what is in $list can be imported" "# ${why//$'\n'/$'\n# '}"
	exit 1
fi
EXAMPLES_VENV=$(readlink -f "$dir") tests/e2e/run.sh tests/e2e/examples.bats
