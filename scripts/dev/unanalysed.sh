#!/bin/bash
# unanalysed.sh [OBJECTS]: the sources of programs that the slow analysers have still to look at, one a line.
#
# scripts/dev/analysed names the commit on which `make analysed` had no complaint about any file, and the checksum of the
# commands by which make had gcc analyse a file of burstd and one of the hook.  What is printed are the files that differ
# from that commit, and those that include a header that does, by the .d files in OBJECTS (build/release).  All are, where
# that commit is not in the repository, or where what the analysers are told has changed since.
#
# unanalysed.sh --options: that checksum, now.
set -eu -o pipefail
cd "$(dirname "$0")/../.."
options() {
	make -n -B V=1 --no-print-directory MODE=analyze BUILD=build/analyze build/analyze/analyze/burstd/main.o \
		build/analyze/analyze/hook/slurm/burst-hook.o |
		sed -E 's/-DBURSTD_VERSION=[^ ]*|-ffile-prefix-map=[^ ]*|-Werror( |$)//g' | tr -s ' ' | sha256sum | cut -d' ' -f1
}
[ "${1-}" != --options ] || { options; exit; }
objects=${1:-build/release}
all() { find burstd providers slurm -name '*.c' | sort; }

read -r commit analysed_with 2>/dev/null <scripts/dev/analysed || commit=''
git cat-file -e "$commit^{commit}" 2>/dev/null || { all && exit; }
changed=$({ git diff --name-only "$commit" -- && git ls-files -o --exclude-standard; } | sort -u)
! grep -qxE '\.clang-tidy|scripts/dev/(analysers\.bash|unanalysed\.sh)' <<<"$changed" || { all && exit; }
[ "$analysed_with" = "$(options)" ] || { all && exit; }
all | while read -r source; do
	needs=$source
	depends=$objects/${source%.c}.d
	[ -e "$depends" ] || depends=$objects/hook/${source%.c}.d
	# A rule for make: the object, a colon, and what it needs on lines that end in a backslash.
	[ ! -e "$depends" ] || needs=$(sed -n '/^[^ ]*:$/q; s/^[^ ]*\.o: *//; s/\\$//; p' "$depends" | tr -s ' ' '\n' | grep .)
	if [ ! -e "$depends" ] || { [ -n "$changed" ] && grep -qxFf <(printf '%s\n' "$source" "$needs") <<<"$changed"; }; then
		echo "$source"
	fi
done
