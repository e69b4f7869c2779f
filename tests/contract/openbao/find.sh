#!/bin/bash
# find.sh: prints the path of a Vault: bao or vault from PATH, else OpenBao built from its Go module (build.sh: minutes, once,
# kept outside the tree).  Where there is neither: one sentence, exit status 1.  FIND_ONLY=yes: nothing is built.
set -u
here=$(dirname "$(readlink -f "$0")")
cached=${XDG_CACHE_HOME:-$HOME/.cache}/burstd/bao
log=${BUILD:-build}/openbao.log

# An older Go gets the toolchain that go.mod names, as a module.
go_is_enough() {
	local have
	have=$(go env GOVERSION 2>/dev/null) || return
	[ "$(printf '%s\n' go1.21 "$have" | sort -V | head -n 1)" = go1.21 ]
}
command -v bao || command -v vault && exit
if [ ! -x "$cached" ] && [ -z "${FIND_ONLY-}" ] && go_is_enough; then
	mkdir -p "${log%/*}" "${cached%/*}"
	# Who comes second waits for the first, and finds what that one built.
	exec 8>"$cached.lock"
	flock 8
	GOTOOLCHAIN=auto timeout 900 sh "$here/build.sh" "$cached" >"$log" 2>&1 8>&- || {
		echo "OpenBao cannot be built: $log"
		exit 1
	}
fi
if [ -x "$cached" ]; then
	echo "$cached"
	exit
fi
echo "neither bao nor vault nor Go 1.21 is installed"
exit 1
