#!/bin/bash
# check.sh: what tools can say about the sources, as TAP.  Format and analysers gate with Debian 12's
# versions; elsewhere they differ in opinion and are skipped.
#
# At the lowest priority: `make test` runs it beside tests that keep time, and those come first.
#   QUICK=1  only what takes seconds
#   WHOLE=1  the analysers look at all files, not only at those that have changed since they did (unanalysed.sh)
#   ONLY=analysers  nothing but cppcheck and the analysers (analysers.bash)
set -u
cd "$(dirname "$0")/../.." || exit 1
# shellcheck source-path=SCRIPTDIR
source scripts/dev/analysers.bash
renice -n 19 -p $$ >/dev/null
log=$(mktemp)
trap 'rm -f "$log" "$unanalysed"' EXIT
n=0

ok() { # NAME COMMAND...
	n=$((n + 1))
	local name=$1
	shift
	if "$@" >"$log" 2>&1; then
		echo "ok $n - $name"
	else
		echo "not ok $n - $name"
		said | sed 's/^/# /'
	fi
}
# What a tool said, without its progress: the beginning, which names the first error, and the end.
said() {
	grep -vE '^  (CC|LD|MAN) |^[0-9]+ warnings? (and [0-9]+ errors? )?generated|^Suppressed |^make\[[0-9]+\]: (Enter|Leav)ing' "$log" |
		awk '{ line[NR] = $0 }
			END {
				for (i = 1; i <= NR; i++)
					if (i <= 60 || i > NR - 60) print line[i]
					else if (i == 61) print "... " NR - 120 " lines ..."
			}'
}
skip() { # NAME WHY
	n=$((n + 1))
	echo "ok $n - $1 # SKIP $2"
}
version() { "$1" --version 2>/dev/null | grep -oE '[0-9]+\.[0-9]+' | head -1; }
gate() { # TOOL VERSION NAME COMMAND...
	local tool=$1 want=$2 have
	shift 2
	have=$(version "$tool")
	if [ "${have#"$want"}" != "$have" ]; then
		ok "$@"
	elif [ -n "${WHOLE-}" ]; then # who vouches for all files must have looked at them
		ok "$1: by $tool $want, not by \"$have\"" false
	elif [ -z "$have" ]; then
		skip "$1" "$tool is not installed"
	else
		skip "$1" "$tool $have; gates with $want"
	fi
}

sources() { find burstd providers slurm tests -name '*.[ch]' | sort; }

format() { sources | xargs clang-format --dry-run -Werror; }
scripts() {
	git ls-files -co --exclude-standard | grep -v '\.tftpl$' | while read -r f; do
		[ -f "$f" ] && head -c 40 "$f" | head -1 | grep -qE '^#!/(usr/)?bin/(env )?(ba)?sh' && echo "$f"
	done | xargs shellcheck -x && git ls-files -co --exclude-standard '*.bats' | xargs shellcheck -x -s bats
}
sanitize() {
	make -j"$jobs" MODE=asan WERROR=1 build/asan/bin/sim && build/asan/bin/sim --seeds 100 --steps 1000
}
threads() { make -j"$jobs" tsan; }
# What they may do if somebody takes them over; 0 is nothing, 100 is everything.  Each has what it has today, so that a line
# that is lost is seen.  munge's own unit says no more than this.  tests/bare asks the systemd that runs them, too.
exposure() {
	local units rc=0 limit unit
	units=$(mktemp -d) || return
	cp scripts/pkg/*.service scripts/node/burst-agent.service scripts/node/systemd/burst-mounts.service "$units"
	cp 'scripts/node/systemd/burst-keys@.service' "$units/burst-keys.service"
	{
		printf '%s\n' '[Service]' 'ExecStart=/usr/sbin/munged' User=munge Group=munge
		cat scripts/node/systemd/munge.service.d/burst.conf
	} >"$units/munge.service"
	for limit in burstd=14 burst-ledger=14 burst-agent=24 burst-keys=22 munge=16 burst-mounts=25; do
		unit=${limit%=*}.service
		systemd-analyze security --offline=true --no-pager --threshold="${limit#*=}" "$units/$unit" || rc=1
		rm "$units/$unit"
	done
	ls "$units"/* 2>/dev/null && echo "no limit for these" && rc=1
	rm -rf "$units"
	return $rc
}
guarded() { make -j"$jobs" WERROR=1 all && scripts/dev/check-guards.sh; }

# Exhibits of the museum are tried all together in its own long run alone: one that no longer applies must be seen before.
exhibits() {
	local patch rc=0
	for patch in tests/museum/*.patch; do
		patch --dry-run --silent --fuzz=0 -p1 <"$patch" || { echo "$patch does not apply" && rc=1; }
	done
	return $rc
}

[ "${ONLY-}" != analysers ] || {
	analysers
	echo "1..$n"
	exit
}

gate clang-format 14 "format" format
ok "layers" scripts/dev/check-layers.sh
ok "documents" scripts/dev/check-docs.sh
ok "exhibits of the museum apply" exhibits
[ -z "${QUICK-}" ] || {
	ok "objects" scripts/dev/check-objects.py build/release
	echo "1..$n"
	exit
}
ok "shellcheck" scripts
ok "no command of a bats test that cannot fail it" scripts/dev/check-bats.py
ok "the checks notice what they are for" scripts/dev/check-checks.sh
ok "install and uninstall" scripts/dev/check-install.sh
ok "packages, the way to the demo, and whatever is optional missing" scripts/dev/check-deps.sh
ok "units: limits, metadata addresses, and the exit status that is for good" scripts/dev/check-units.sh
gate systemd-analyze 252 "exposure of units: burstd and burst-ledger 1.4 at most, what is on nodes below 3" exposure
ok "programs are compiled and linked with what guards them" guarded
ok "directories do not need each other, nor many files of one" scripts/dev/check-objects.py build/release
ok "simulator under ASan and UBSan" sanitize
ok "no data race between the loop and the node-facing listener" threads
ok "the harnesses of the fuzzers, on their corpora and what is near" make -j"$jobs" replay
analysers
echo "1..$n"
