#!/bin/bash
# run.sh [FILE.bats...]: end-to-end tests on a real Slurm, as one TAP stream.  Without arguments: all files, but of one that
# has a twin over EC2's API (x-aws.bats) only one of the two, and of cloud-x.bats only the stories that cloud.bats does not
# tell as well; ALL=1 leaves out nothing.
#
# Each file runs in a lab of its own (lab/enter).  JOBS run side by side, four for each processor unless told otherwise
# (8 at most: memory), since a lab waits most of its time; JOBS=1 takes them in turn.  TIMES=1 says how long each test took.
# `prove --exec tests/e2e/run.sh tests/e2e/*.bats` works too.  Where root or namespaces are refused nothing is run: a TAP
# plan that says so for prove, one sentence and exit status 77 for people.
set -u
here=$(readlink -f "${0%/*}")
cd "$here/../.." || exit
short=''
if [ $# = 0 ]; then
	# The longest first (as measured in 2026-11), then the largest, so that none of the long ones is left for the end.
	[ -n "${ALL-}" ] || short=yes
	longest='budget cloud refused waiting gpus checkpoint placement gate rotate-abort controller reclaim warm unreachable hostile-clock away'
	mapfile -t files < <(find -L tests/e2e -name '*.bats' -printf '%s %p\n' | sort -rn | awk -v longest="$longest" '
		BEGIN { n = split(longest, first, " "); for (i = 1; i <= n; i++) rank[first[i]] = i }
		{ name = $2; gsub(/.*\/|(-aws)?\.bats$/, "", name); sub(/^cloud-.*/, "cloud", name); print (name in rank ? rank[name] : n + NR) " " $2 }' |
		sort -n | cut -d' ' -f2)
	for file in "${files[@]}"; do
		name=${file##*/} name=${name%.bats} twin=${name%-aws}
		case $twin in
		crash | fabric | placement | refused | units) over=$twin-aws ;; # what EC2 answers in its own way
		bootstrap | jobs | reclaim) over=$twin ;;
		*) over=$name ;;
		esac
		if [ -n "${ALL-}" ] || [ "$name" = "$over" ]; then set -- "$@" "$file"; fi
	done
fi
jobs=$(($(nproc) * 4))
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
	exec "$here/lab/enter" bats --tap ${TIMES:+--timing} "$1"
fi

out=$(mktemp -d) || exit
declare -A running=() began=()
# Stopping this script stops its labs: a shell lets what it starts in the background ignore ^C.
end() {
	[ ${#running[@]} = 0 ] || kill "${!running[@]}" 2>/dev/null
	rm -rf "$out"
}
trap end EXIT
trap 'exit 130' INT TERM HUP

# Which of the files come out first does not matter; their lines are kept together and numbered anew.
failed=() why=() count=0
flush() {
	local line words=0
	while IFS= read -r line; do
		case $line in
		1..*) continue ;;
		'ok '*) count=$((count + 1)) line="ok $count ${line#ok * }" ;;
		'not ok '*) count=$((count + 1)) line="not ok $count ${line#not ok * }" failed+=("$1: ${line#not ok }")
			words=$((words == 0 ? 5 : -1)) ;; # the first of a file may break those after it
		'# '*) [ "$words" -le 0 ] || why+=("$1: ${line#\# }") words=$((words == 1 ? -1 : words - 1)) ;;
		esac
		printf '%s\n' "$line"
	done <"$out/$1"
}

finish() {
	local pid rc=0 file
	wait -n -p pid "${!running[@]}" || rc=$?
	file=${running[$pid]}
	unset "running[$pid]"
	echo "# $file: $((SECONDS - ${began[$pid]})) s"
	flush "${file##*/}"
	# A file that failed before or after its tests has no "not ok" of its own.
	if [ $rc != 0 ] && ! grep -q '^not ok' "$out/${file##*/}"; then
		count=$((count + 1)) failed+=("$file: status $rc")
		echo "not ok $count $file (status $rc)"
	fi
}

for file; do
	some=()
	[[ $short$file != yes*/cloud-* ]] || some=(--filter-tags '!once')
	"$here/lab/enter" bats --tap ${TIMES:+--timing} "${some[@]}" "$file" >"$out/${file##*/}" 2>&1 &
	running[$!]=$file began[$!]=$SECONDS
	[ ${#running[@]} -lt "$jobs" ] || finish
done
while [ ${#running[@]} -gt 0 ]; do finish; done
# Said once more, for whoever sees but the end of a long log.
[ ${#failed[@]} = 0 ] || printf '# failed: %s\n' "${failed[@]}" "${why[@]}"
echo "1..$count"
[ ${#failed[@]} = 0 ]
