#!/bin/sh
# scrape.sh: scrape.bats, in a lab of the end-to-end tests.
cd "$(dirname "$(readlink -f "$0")")/../.." || exit
exec tests/e2e/run.sh tests/monitoring/scrape.bats
