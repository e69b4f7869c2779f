#!/bin/bash
# unanalysed.sh [OBJECTS]: the sources of programs that the slow analysers have still to look at, one a line.
#
# scripts/dev/analysed names the commit on which `make analysed` had no complaint about any file.  What is printed are the
# files that differ from it, and those that include a header that does, by the .d files in OBJECTS (build/release).  All are,
# where that commit is not in the repository, or where what the analysers are told has changed since.
set -eu -o pipefail
cd "$(dirname "$0")/../.."
objects=${1:-build/release}
all() { find burstd providers slurm -name '*.c' | sort; }

commit=$(cat scripts/dev/analysed 2>/dev/null) || commit=''
git cat-file -e "$commit^{commit}" 2>/dev/null || { all && exit; }
changed=$({ git diff --name-only "$commit" -- && git ls-files -o --exclude-standard; } | sort -u)
! grep -qxE '\.clang-tidy|Makefile|scripts/dev/(check|unanalysed)\.sh' <<<"$changed" || { all && exit; }
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
