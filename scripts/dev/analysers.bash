# analysers.bash: cppcheck and the analysers of gcc and clang, for check.sh, which has ok() and gate().
#
# The static analyser of clang takes a hundred times as long as all other checks: gcc's and clang's look at the files that
# unanalysed.sh prints.  A change of this file has them look at all.
jobs=$(nproc)
unanalysed=$(mktemp)
programs() { find burstd providers slurm -name '*.c' | sort; }
includes=(-Iburstd -I. -D_GNU_SOURCE '-DBURSTD_VERSION="check"')

cppcheck_all() {
	programs | xargs cppcheck -q -j"$jobs" --std=c11 --enable=warning,performance,portability --inline-suppr \
		--suppress=missingIncludeSystem --suppress=varFuncNullUB --error-exitcode=1 "${includes[@]}"
}
# With the warnings that a build by clang has: that build is in `make soak`, for all else that may be found by it.
tidy_files() { # FILE... on standard input; OPTION...
	local warnings
	warnings=$(make -n -B V=1 --no-print-directory CC=clang BUILD=build/clang build/clang/release/burstd/main.o |
		grep -oE ' -W[a-z][a-z0-9=-]*' | sort -u | tr -d '\n')
	xargs -r -P"$jobs" -n2 bash -c 'clang-tidy --quiet --warnings-as-errors="*" '"$*"' "$@" -- \
		-Iburstd -I. -D_GNU_SOURCE -DBURSTD_VERSION=\"check\" -std=c11 '"$warnings" tidy
}
tidy() {
	comm -12 <(programs) <(sort "$unanalysed") | tidy_files &&
		comm -23 <(programs) <(sort "$unanalysed") | tidy_files '--checks=-clang-analyzer-*'
}
analyze() {
	local objects
	objects=$(sed 's|\.c$|.o|; s|^|build/analyze/analyze/|; s|analyze/slurm/|analyze/hook/slurm/|' "$unanalysed")
	# shellcheck disable=SC2086  # one word each
	[ -z "$objects" ] || make -k -j"$jobs" MODE=analyze WERROR=1 BUILD=build/analyze $objects
}

analysers() {
	scripts/dev/unanalysed.sh >"$unanalysed" || programs >"$unanalysed"
	[ -z "${WHOLE-}" ] || programs >"$unanalysed"
	echo "# the analysers look at $(wc -l <"$unanalysed") files of $(programs | wc -l)"
	gate cppcheck 2.10 "cppcheck" cppcheck_all
	gate gcc 12 "gcc -fanalyzer" analyze
	gate clang-tidy 14 "clang-tidy" tidy
}
