#!/bin/bash
# vault-ha.sh: burstd's session with a cluster of real OpenBaos, as TAP.
exec "$(dirname "$(readlink -f "$0")")/vault.sh" vault-ha
