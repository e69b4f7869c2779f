#!/bin/bash
# run.sh [FILE.bats...]: end-to-end tests on a real Slurm, as one TAP stream.  Without arguments: all of them.
#
# Each file runs in a lab of its own (lab/enter).  JOBS run side by side, one more than processors unless told otherwise
# (8 at most: memory), since a lab waits three quarters of its time; JOBS=1 takes them in turn.
# `prove --exec tests/e2e/run.sh tests/e2e/*.bats` works too.  Where root or namespaces are refused nothing is run: a TAP
# plan that says so for prove, one sentence and exit status 77 for people.
set -u
here=$(readlink -f "${0%/*}")
cd "$here/../.." || exit
if [ $# = 0 ]; then
	# The largest first, so that none of the long ones is left for the end.
	mapfile -t files < <(ls -S tests/e2e/*.bats)
	set -- "${files[@]}"
fi
jobs=$(($(nproc) + 1))
jobs=${JOBS:-$((jobs < 8 ? jobs : 8))}

if ! why=$("$here/lab/enter" true 2>&1); then
	echo "1..0 # SKIP ${why##*$'\n'}"
	echo "$why" >&2
	[ -z "${HARNESS_ACTIVE-}" ] || exit 0
	exit 77
fi
# Some keep the cluster's keys in a real Vault; where there is none they say so.
case "$*" in *vault*) VAULT=$(tests/contract/openbao/find.sh) || VAULT='' ;; esac
export VAULT
if [ $# = 1 ]; then
	exec "$here/lab/enter" bats --tap "$1"
fi

out=$(mktemp -d) || exit
trap 'rm -rf "$out"' EXIT
trap 'exit 130' INT TERM HUP

# Which of the files come out first does not matter; their lines are kept together and numbered anew.
failed=() count=0
flush() {
	local line
	while IFS= read -r line; do
		case $line in
		1..*) continue ;;
		'ok '*) count=$((count + 1)) line="ok $count ${line#ok * }" ;;
		'not ok '*) count=$((count + 1)) line="not ok $count ${line#not ok * }" failed+=("$1: ${line#not ok }") ;;
		esac
		printf '%s\n' "$line"
	done <"$out/$1"
}

finish() {
	local pid rc=0 file
	wait -n -p pid "${!running[@]}" || rc=$?
	file=${running[$pid]}
	unset "running[$pid]"
	echo "# $file: $((SECONDS - began[pid])) s"
	flush "${file##*/}"
	# A file that failed before or after its tests has no "not ok" of its own.
	if [ $rc != 0 ] && ! grep -q '^not ok' "$out/${file##*/}"; then
		count=$((count + 1)) failed+=("$file: status $rc")
		echo "not ok $count $file (status $rc)"
	fi
}

declare -A running=() began=()
for file; do
	"$here/lab/enter" bats --tap "$file" >"$out/${file##*/}" 2>&1 &
	running[$!]=$file began[$!]=$SECONDS
	[ ${#running[@]} -lt "$jobs" ] || finish
done
while [ ${#running[@]} -gt 0 ]; do finish; done
# Said once more, for whoever sees but the end of a long log.
[ ${#failed[@]} = 0 ] || printf '# failed: %s\n' "${failed[@]}"
echo "1..$count"
[ ${#failed[@]} = 0 ]
