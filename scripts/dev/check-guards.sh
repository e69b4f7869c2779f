#!/bin/bash
# check-guards.sh [BIN]: are the programs in BIN (build/bin), as gcc has built them, guarded as the Makefile means them to
# be?  Looked at are the programs themselves, not how they were asked for.
#
# Each starts at an address of its own, with nothing writable that the loader has written, and no stack to run; the hook
# without a loader at all.  Each of our sources was compiled with all guards that this compiler has, and where it has
# _FORTIFY_SOURCE=3, buffers whose size is known only as the program runs are checked too: level 2 does not check a pread()
# into what mem_alloc() gave.
set -u
cd "$(dirname "$0")/../.." || exit 1
bin=${1:-build/bin}
elf=$(mktemp) || exit 1
trap 'rm -f "$elf"' EXIT
rc=0

no() {
	echo "$bin/$1: $2"
	rc=1
}

takes() {
	echo 'int main(void) { return 0; }' | "${CC:-cc}" -O2 -Werror "$1" -x c -o /dev/null - 2>/dev/null
}

flags=(-fstack-protector-strong -fstack-clash-protection -fPIE)
! takes -fcf-protection || flags+=(-fcf-protection)
! takes -ftrivial-auto-var-init=zero || flags+=(-ftrivial-auto-var-init=zero)

linked() { # PROGRAM
	readelf -hldW "$bin/$1" >"$elf" || no "$1" "it cannot be read"
	grep -q 'Type: *DYN' "$elf" || no "$1" "it is always at the same address"
	grep -q GNU_RELRO "$elf" || no "$1" "no relro"
	grep -qE 'FLAGS.*NOW' "$elf" || no "$1" "it binds lazily"
	! grep -qE 'GNU_STACK.* [R ]?W?E ' "$elf" || no "$1" "its stack can be run"
	[ "$1" != burst-hook ] || ! grep -q INTERP "$elf" || no "$1" "it needs a loader"
}

# What gcc wrote into each object; libc's of a static program are of another standard.
compiled() { # PROGRAM
	local flag
	readelf --debug-dump=info "$bin/$1" 2>/dev/null | grep -oE 'DW_AT_producer .*: GNU C11 .*' >"$elf"
	[ -s "$elf" ] || no "$1" "nothing says how it was compiled"
	for flag in "${flags[@]}"; do
		! grep -vqE -e " $flag(=full)?( |\$)" "$elf" || no "$1" "some of it without $flag"
	done
}

fortified() { # PROGRAM FUNCTION
	nm "$bin/$1" | grep -q " U __$2_chk" || no "$1" "$2() is not checked"
}

for program in burstd burstctl burst-agent burst-ledger simcloud burst-hook; do
	linked $program
	compiled $program
done
for program in burstd burstctl burst-agent burst-ledger simcloud; do fortified $program snprintf; done
if printf '#include <stdlib.h>\n#if __USE_FORTIFY_LEVEL < 3\n#error\n#endif\n' |
	"${CC:-cc}" -O2 -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=3 -E -x c -o /dev/null - 2>/dev/null; then
	fortified burstd pread
fi
exit $rc
