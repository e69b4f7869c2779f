#!/bin/sh
# run.sh: the small model as TAP, all of it.
cd "$(dirname "$0")/../.." || exit
exec "${MODEL:-build/bin/model}" --tap
