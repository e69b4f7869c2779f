#!/bin/bash
# run.sh [NAME...]: the bug museum (docs/reliability.md).  Each *.patch is a mistake that was made elsewhere; the
# simulator is built with it and must find it.
#
#   JOBS=     mutants at the same time; as many as there are processors
#   SEEDS=    for each, STEPS= steps each ...
#   LIMIT=    ... and no longer than so many seconds of a processor, however busy it is with other things
# NAME: only the patches whose name has it.  With none, less than 95 % killed is a failure; a patch that does not apply
# or does not compile always is one, and so is a seed in which burstd fails without it.
#
# run.sh --page: the table of docs/museum.md, from the last verdict on each patch.
set -u
cd "$(dirname "$0")/../.." || exit
export SEEDS=${SEEDS:-10000} STEPS=${STEPS:-2000} LIMIT=${LIMIT:-300} DIR=${BUILD:-build}/museum
jobs=${JOBS:-$(nproc)} sim=${SIM:-${BUILD:-build}/bin/sim}

now() { date +%s%N; }

# What the simulator said -> verdict, seed, steps, seconds, why.
judge() { # DIRECTORY STATUS MILLISECONDS
	local dir=$1 status=$2 ms=$3 seed why steps verdict=killed
	seed=$(sed -nE 's/^# (FAILED|aborted): seed ([0-9]+).*/\2/p' "$dir/log" | head -1)
	steps=$(sed -nE 's/^# [0-9]+ seeds, ([0-9]+) steps.*/\1/p' "$dir/log" | head -1)
	why=$(sed -nE 's/^# FAILED: seed [0-9]+, step [0-9]+: (.*)/\1/p; s/.*Assertion `(.*)'"'"' failed\.$/assert(\1)/p' \
		"$dir/log" | head -1)
	case $status in
	0) verdict=SURVIVED why="all of $SEEDS seeds" ;;
	152) verdict=SURVIVED why="$LIMIT s were not enough" ;; # SIGXCPU
	1) [ -n "$seed" ] || verdict=BROKEN why="the simulator ended without a verdict" ;;
	*) verdict=BROKEN why="the simulator ended with status $status" ;;
	esac
	printf '%s\t%s\t%s\t%d.%d\t%s\n' "$verdict" "${seed:--}" "${steps:--}" $((ms / 1000)) $((ms / 100 % 10)) "$why"
}

# A seed in which burstd itself fails says nothing of a mutant.
without() {
	local verdict seed rest
	IFS=$'\t' read -r verdict seed rest
	if [ "$verdict" = killed ] && ! "$sim" --first "$seed" --seeds 1 --steps "$STEPS" >/dev/null 2>&1; then
		verdict=BROKEN rest=${rest%$'\t'*}$'\t'"burstd fails in this seed without it"
	fi
	printf '%s\t%s\t%s\n' "$verdict" "$seed" "$rest"
}

head_line() { # PATCH KEY
	sed -nE "s/^$2: (.*)/\\1/p; /^---/q" "$1" | head -1
}

# What survives has no seed and no time, only a reason.
page() {
	local patch name verdict seed steps seconds why survives total=0 killed=0
	echo '| mutant | what it does | it breaks | seed | seconds | found by |'
	echo '|---|---|---|---|---|---|'
	for patch in tests/museum/*.patch; do
		name=$(basename "$patch" .patch)
		[ -e "$DIR/$name/verdict" ] || { echo "museum: no verdict on $name: \`make museum\`" >&2 && return 1; }
		IFS=$'\t' read -r verdict seed steps seconds why <"$DIR/$name/verdict"
		survives=$(head_line "$patch" Survives)
		total=$((total + 1))
		if [ "$verdict" = killed ]; then
			killed=$((killed + 1))
		else
			why="$verdict: ${survives:-$why}" seed='-' seconds='-'
		fi
		printf '%s|' "" " $name " " $(head_line "$patch" What) " " $(head_line "$patch" Breaks) " " $seed " \
			" $seconds " " ${why//|/\\|} "
		echo
	done
	printf '\n%d of %d killed.\n' $killed $total
}

one() { # PATCH
	local name dir begin status
	name=$(basename "$1" .patch) dir=$DIR/$name
	rm -rf "$dir"
	mkdir -p "$dir"
	# shellcheck disable=SC2086  # variables of the command line: one word each
	if ! make -s ${OVERRIDES:-} "$dir/sim" >"$dir/log" 2>&1; then
		printf 'BROKEN\t-\t-\t0\tit does not apply or compile: %s\n' "$(grep -m1 -E 'FAILED|error|malformed' "$dir/log")"
	else
		begin=$(now)
		(ulimit -St "$LIMIT" && exec "$dir/sim" --seeds "$SEEDS" --steps "$STEPS") >"$dir/log" 2>&1
		status=$?
		judge "$dir" $status $((($(now) - begin) / 1000000)) | without
	fi >"$dir/verdict"
	printf '%s\t%s\n' "$name" "$(cat "$dir/verdict")" | cut -c1-150
}

if [ "${1:-}" = --one ]; then
	one "$2"
	exit
fi
if [ "${1:-}" = --page ]; then
	page
	exit
fi

mapfile -t patches < <(printf '%s\n' tests/museum/*.patch | { if [ $# -gt 0 ]; then grep -F "${@/#/-e}"; else cat; fi; })
[ ${#patches[@]} -gt 0 ] || {
	echo "museum: no exhibit is named so" >&2
	exit 2
}
printf '%s\n' "${patches[@]}" | xargs -P "$jobs" -n 1 "$0" --one >&2

total=0 killed=0 broken=0
echo
printf '%-34s %-8s %6s %10s %7s  %s\n' mutant verdict seed steps seconds 'by, or why not'
for patch in "${patches[@]}"; do
	name=$(basename "$patch" .patch)
	IFS=$'\t' read -r verdict seed steps seconds why <"$DIR/$name/verdict"
	survives=$(head_line "$patch" Survives)
	[ "$verdict" != SURVIVED ] || [ -z "$survives" ] || why=$survives
	printf '%-34s %-8s %6s %10s %7s  %.110s\n' "$name" "$verdict" "$seed" "$steps" "$seconds" "$why"
	total=$((total + 1))
	[ "$verdict" != killed ] || killed=$((killed + 1))
	[ "$verdict" != BROKEN ] || broken=$((broken + 1))
done
echo "museum: $killed of $total killed"
[ $broken -eq 0 ] || exit 1
[ $# -gt 0 ] || [ $((killed * 100)) -ge $((total * 95)) ]
