#!/bin/sh
# run.sh: every seventh death as TAP; `make crash` dies them all.
cd "$(dirname "$0")/../.." || exit
exec "${CRASH:-build/bin/crash}" --every "${EVERY:-7}" --pairs "${PAIRS:-100}"
