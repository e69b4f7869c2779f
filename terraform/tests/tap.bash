# tap.bash: one result after another, as TAP.  not(): a command that must fail.
# shellcheck shell=bash

n=0
ok() { # NAME COMMAND...
	n=$((n + 1))
	local name=$1 log
	shift
	if log=$("$@" 2>&1); then
		echo "ok $n - $name"
	else
		echo "not ok $n - $name"
		sed 's/^/# /' <<<"$log" | tail -n 60
	fi
}
skip() { # NAME WHY
	n=$((n + 1))
	echo "ok $n - $1 # SKIP $2"
}
not() { ! "$@"; }
