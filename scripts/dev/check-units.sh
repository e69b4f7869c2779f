#!/bin/bash
# check-units.sh: do systemd's units say what the sources need of them?  Limits, the metadata addresses that stage0 closes,
# and the exit status after which burstd is not started again.
set -u
cd "$(dirname "$0")/../.." || exit 1
rc=0

no() {
	echo "$1: $2"
	rc=1
}

# Each has its limits: what grows without end takes nobody else's memory with it.  slurmd has none: jobs are its children.
for unit in scripts/pkg/*.service scripts/node/*.service scripts/node/systemd/*.service scripts/node/systemd/*.d/*.conf; do
	[[ $unit != */slurmd.service.d/* ]] || continue
	grep -qE '^MemoryMax=[1-9][0-9]*[MG]$' "$unit" || no "$unit" "no MemoryMax"
	grep -qx 'MemorySwapMax=0' "$unit" || no "$unit" "no MemorySwapMax"
	grep -qE '^TasksMax=[1-9][0-9]*$' "$unit" || no "$unit" "no TasksMax"
done

# "strict" does not mean /run to systemd 252, where it has to mount /proc.
for unit in scripts/pkg/*.service scripts/node/*.service scripts/node/systemd/*.service scripts/node/systemd/*.d/*.conf; do
	grep -qx 'ProtectSystem=strict' "$unit" || continue
	grep -qx 'ReadOnlyPaths=/run' "$unit" || no "$unit" "may write to /run"
done

# The metadata addresses, a line each: all that close them close the same.
stage0=scripts/node/stage0.sh.in
defined() { # FILE: by nft
	sed -n 's/^define v[46] = { \(.*\) }$/\1/p' "$1" | tr -d ' ' | tr , '\n' | sort
}
tables() { # by iptables, where there is no nft
	sed -nE 's/^ (\[.*\] \|\| )?T ip6?tables //p' $stage0 | tr ' ' '\n' | sort
}
denied() {
	sed -n 's/^IPAddressDeny=//p' scripts/pkg/burstd.service | tr ' ' '\n' | sed -E 's,/(32|128)$,,' | sort
}
addresses=$(defined $stage0)
[ "$(wc -l <<<"$addresses")" -ge 10 ] || no $stage0 "its addresses are not found"
[ "$(tables)" = "$addresses" ] || no $stage0 "iptables closes others than nft"
[ "$(defined scripts/node/burst-imds.nft)" = "$addresses" ] || no scripts/node/burst-imds.nft "closes others than stage0"
[ "$(denied)" = "$addresses" ] || no scripts/pkg/burstd.service "IPAddressDeny has others than stage0 closes"

# burstd ends for good with one status, and systemd is told that one (tests/unit/daemon says when it does).
status=$(sed -nE 's/^\tEXIT_CONF = ([0-9]+),.*/\1/p' burstd/burstd.h)
[ -n "$status" ] || no burstd/burstd.h "no EXIT_CONF"
grep -qP "^\tLAB_BAD_CONF = $status," tests/unit/daemon/lab.h ||
	no tests/unit/daemon/lab.h "LAB_BAD_CONF is not $status"
grep -qx "RestartPreventExitStatus=$status" scripts/pkg/burstd.service ||
	no scripts/pkg/burstd.service "RestartPreventExitStatus is not $status"
grep -qx 'Restart=on-failure' scripts/pkg/burstd.service || no scripts/pkg/burstd.service "not started again when it fails"
grep -qE "^	COMMAND_GIVE_UP = $status," burstd/ledger/complain.h || no burstd/ledger/complain.h "COMMAND_GIVE_UP is not $status"
grep -qx "RestartPreventExitStatus=$status" scripts/pkg/burst-ledger.service ||
	no scripts/pkg/burst-ledger.service "RestartPreventExitStatus is not $status"
# While burstd is restarted its sockets and their directory stay.
grep -qE '^FileDescriptorStoreMax=[3-9]$' scripts/pkg/burstd.service || no scripts/pkg/burstd.service "keeps no sockets"
grep -qx 'RuntimeDirectoryPreserve=restart' scripts/pkg/burstd.service || no scripts/pkg/burstd.service "keeps no directory"
# Each service is watched, and may say that it lives.
for unit in scripts/pkg/burstd.service scripts/pkg/burst-ledger.service scripts/node/burst-agent.service; do
	grep -qE '^WatchdogSec=[1-9][0-9]*(min)?$' "$unit" || no "$unit" "no WatchdogSec"
	grep -qx 'NotifyAccess=main' "$unit" || no "$unit" "NotifyAccess is not main"
done
# Nobody else puts a node out.
grep -qx 'Restart=always' scripts/node/burst-agent.service || no scripts/node/burst-agent.service "not always started again"
! grep -q '^RestartPreventExitStatus' scripts/node/burst-agent.service || no scripts/node/burst-agent.service "given up"
exit $rc
