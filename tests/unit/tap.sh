#!/bin/bash
# tap.sh TEST [ARG...]: run a test.  cmocka 1.1.5, Debian 12's, writes a test that was skipped (for want of root, say) as
# "not ok N # SKIP", which is a failure by the rules of TAP and to prove.
set -o pipefail
"$@" | sed -u 's/^not ok \([0-9]* # SKIP\)/ok \1/'
