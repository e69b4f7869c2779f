#!/bin/bash
# check-checks.sh: do check-bats.py, check-docs.sh, check-layers.sh, check-objects.py and unanalysed.sh still find what they
# are for?
#
# In a copy of the sources each has nothing to say; with one fault planted of each kind that its head names it says so, for
# each of them.  All are planted at once, for a run takes seconds.  One line for each that is missed; exit status 1 then.
set -eu
cd "$(dirname "$(readlink -f "$0")")/../.."
copy=$(mktemp -d)
trap 'rm -rf "$copy"' EXIT
git ls-files -co --exclude-standard | while IFS= read -r f; do [ ! -f "$f" ] || printf '%s\0' "$f"; done |
	xargs -0 cp --parents -t "$copy"
cd "$copy"
failed=0

missed() {
	echo "check-checks: $1"
	failed=1
}

# accepts NAME CMD...: it has nothing to say
accepts() {
	local name=$1
	shift
	"$@" >said 2>&1 || missed "$name refuses what is right: $(cat said)"
	rm -f said
}

# refuses NAME CMD...: it fails, and each line of standard input is in what it says
refuses() {
	local name=$1 said want
	shift
	if said=$("$@" 2>&1); then missed "$name does not fail"; fi
	while IFS= read -r want; do
		grep -qF -- "$want" <<<"$said" || missed "$name misses: $want"
	done
}

# put FILE: standard input, behind what is there
put() {
	mkdir -p "$(dirname "$1")"
	cat >>"$1"
}

# swap FILE OLD NEW: the first OLD, which must be there
swap() {
	grep -qF -- "$2" "$1" || missed "there is no \"$2\" in $1 any more: plant something else"
	python3 - "$@" <<-'P'
		import sys
		path, old, new = sys.argv[1:]
		text = open(path).read().replace(old, new, 1)
		open(path, "w").write(text)
	P
}

layers() {
	accepts check-layers.sh scripts/dev/check-layers.sh
	put burstd/base/planted.c <<<'#include "engine/engine.h"'
	put burstd/base/planted_macro.c <<<'#include PLANTED'
	put burstd/core/planted.c <<<'#include <uv.h>'
	put burstd/core/planted_near.c <<<'#include "node.h"'
	put burstd/cli/planted.c <<<'#include "engine/engine.h"'
	put burstd/agent/planted.c <<<'#include "core/node.h"'
	put burstd/nolayer/planted.c <<<'#include <uv.h>'
	put burstd/nolayer/planted_more.c <<<'#include <uv.h>'
	put burstd/engine/planted.c <<<'#include "core/planted_time.h"'
	put burstd/core/planted_time.h <<<'#include <time.h>'
	put providers/sim/planted.c <<<'#include "providers/simcloud/cloud.h"'
	put providers/simcloud/planted.c <<<'#include "core/node.h"'
	put providers/simcloud/planted_face.c <<<'#include "providers/simcloud/neutral.h"'
	put burstd/engine/planted_reach.c <<<'#include "io/planted.h"'
	put burstd/engine/planted_api.c <<<'#include "api/planted.h"'
	put burstd/cloud/planted.c <<<'#include "keys/claims.h"'
	put burstd/api/planted.c <<<'#include "jobs/jobs.h"'
	put burstd/planted_main.c <<<'#include "engine/kernel.h"'
	put burstd/keys/planted.c <<<'#include "jobs/rescue_private.h"'
	put burstd/slurm/planted.c <<<'#include "engine/engine.h"'
	put burstd/slurm/planted_store.c <<<'#include "store/journal.h"'
	put burstd/slurm/planted_time.c <<<'#include <time.h>'
	put burstd/io/planted.h <<<'#include <uv.h>'
	seq 600 | sed 's|.*|// &|' | put burstd/base/planted_600.c
	seq 601 | sed 's|.*|// &|' | put burstd/base/planted_601.c
	seq 601 | sed 's|.*|// &|' | put tests/unit/base/planted_601.c
	refuses check-layers.sh scripts/dev/check-layers.sh <<-'W'
		burstd/base/planted.c:1: may not include engine/engine.h
		burstd/api/planted.c:1: may not include jobs/jobs.h
		burstd/planted_main.c:1: may not include engine/kernel.h
		burstd/keys/planted.c:1: may not include jobs/rescue_private.h
		burstd/base/planted_601.c: has more than 600 lines
		tests/unit/base/planted_601.c: has more than 600 lines
		burstd/base/planted_macro.c:1: include a file by its name
		burstd/core/planted.c:1: pure, may not include <uv.h>
		burstd/core/planted_near.c:1: write node.h from burstd/ or the root
		burstd/cli/planted.c:1: may not include engine/engine.h
		burstd/agent/planted.c:1: may not include core/node.h
		burstd/nolayer/planted.c: no layer nolayer
		burstd/nolayer/planted_more.c: no layer nolayer
		burstd/core/planted_time.h:1: pure, may not include <time.h>
		providers/sim/planted.c:1: may not include providers/simcloud/cloud.h
		providers/simcloud/planted.c:1: may not include core/node.h
		providers/simcloud/planted_face.c:1: may not include the face providers/simcloud/neutral.h
		burstd/engine/planted_reach.c: reaches <uv.h> through burstd/io/planted.h
		burstd/engine/planted_api.c:1: may not include api/planted.h
		burstd/cloud/planted.c:1: may not include keys/claims.h
		burstd/slurm/planted.c:1: may not include engine/engine.h
		burstd/slurm/planted_store.c:1: may not include store/journal.h
		burstd/slurm/planted_time.c:1: pure, may not include <time.h>
	W
	! scripts/dev/check-layers.sh | grep planted_600 || missed 'check-layers.sh refuses a file of 600 lines'
	find burstd providers tests -name 'planted*' -delete
	rmdir burstd/nolayer
}

# object FILE DEFINES NEEDS
object() {
	mkdir -p "$(dirname "objects/$1")"
	echo "void $2(void); void $3(void); void $2(void) { $3(); }" | cc -x c -c -o "objects/$1.o" -
}

objects() {
	object burstd/low/a a b
	object burstd/high/b b c
	object burstd/middle/c c a
	for i in 1 2 3 4; do object "burstd/ring/r$i" "ring$i" "ring$((i % 4 + 1))"; done
	for i in 1 2 3; do object "burstd/small/s$i" "small$i" "small$((i % 3 + 1))"; done
	# A program's function of the same name is nobody else's.
	object burstd/agent/d same a
	touch burstd/agent/d.c
	# What is left of a source that is gone.
	object burstd/core/gone gone b
	object burstd/base/needs based gone
	touch burstd/base/needs.c
	object burstd/low/e e same
	refuses check-objects.py scripts/dev/check-objects.py objects <<-'W'
		directories need each other: burstd/high burstd/low burstd/middle
		burstd/ring: a cycle of 4 files: r1 r2 r3 r4
	W
	! scripts/dev/check-objects.py objects | grep -E 'small|agent' || missed 'check-objects.py refuses what is right'
	rm burstd/agent/d.c burstd/base/needs.c
	[ "$(scripts/dev/check-objects.py /nonexistent >/dev/null 2>&1; echo $?)" = 2 ] || missed 'check-objects.py takes nothing for right'
}

bats_() {
	git init -q . # it asks which files there are
	accepts check-bats.py scripts/dev/check-bats.py
	sed 's/^\t\t//' <<'B' | put tests/e2e/planted.bats
		@test "one" {
			[ a = a ] && [ b = b ]
			! grep -q a b
			[ a = a ] && false
			run ! grep -q a b
			if [ a = a ] && [ b = b ]; then true; fi
			[ a = a ] || [ b = b ]
			echo "a && b" | grep -q a
			true
		}
		@test "two" {
			[ a = c ] && [ b = b ]
		}
		setup() {
			[ a = d ] && [ b = b ]
			true
		}
		helper() {
			[ a = e ] && [ b = b ]
			[ a = e ] && return
			! grep -q a b
			[ a = e ]
			true
		}
		asked() {
			[ a = f ]
			[ a = f ] || return
			[ a = f ] && [ b = b ]
		}
		@test "three" {
			helper
			within 10 asked
		}
		# Neither an apostrophe in a text nor what only looks like bash hides what follows.
		@test "four" {
			run jq '
				.a | "it'"'"'s" && ! ' "don't" x
			: "$(cat <<-'E' # can't
				it's && ! that
				E
			)" ${x:+"'"} $((1 << (2 + 1)))
			[ a = a ] && [ b = b ]
			[[ a ]] && [[ b ]]
			[ a = a ] && [ b = b ] # x || y
			[ a = a ] || [ b = b ] && [ c = c ]
			for x in 1 2; do [ a = a ] && [ b = b ]; done
			if true; then [ a = a ] && [ b = b ]; fi
			while read -r x; do ! grep -q a b; done
			case $x in
			(a | b) ;;
			c) [ a = a ] && [ b = b ] ;;
			esac
			{ [ a = a ] && [ b = b ]; }
			until ! grep -q a b; do true; done
			([ a = a ] && [ b = b ])
			[ a = a ] && [ b = b ] || false
			if true; then [ a = a ] && [ b = b ]; fi
		}
		@test "five" {
			for x in 1 2; do [ a = a ] && [ b = b ]; done
		}
B
	refuses check-bats.py scripts/dev/check-bats.py <<-'W'
		planted.bats:2: cannot fail here
		planted.bats:3: cannot fail here
		planted.bats:15: cannot fail here
		planted.bats:19: cannot fail here
		planted.bats:21: cannot fail here
		planted.bats:26: cannot fail here
		planted.bats:42: cannot fail here
		planted.bats:43: cannot fail here
		planted.bats:44: cannot fail here
		planted.bats:45: cannot fail here
		planted.bats:46: cannot fail here
		planted.bats:47: cannot fail here
		planted.bats:48: cannot fail here
		planted.bats:51: cannot fail here
		planted.bats:53: cannot fail here
		planted.bats:60: cannot fail here
	W
	[ "$(scripts/dev/check-bats.py tests/e2e/planted.bats | wc -l)" = 16 ] || missed 'check-bats.py refuses what can fail'
	put tests/e2e/planted.bats <<<"'"
	refuses check-bats.py scripts/dev/check-bats.py <<<'planted.bats: cannot be read'
	rm tests/e2e/planted.bats
}

docs() {
	accepts check-docs.sh scripts/dev/check-docs.sh .
	printf '%s\n' '' '[a](nowhere.md) [b](docs/design.md#no-such-heading)' "$(printf 'w%.0s' {1..101})" >>README.md
	# shellcheck disable=SC2016  # Markdown's backquotes
	printf '%s\n' '' 'Or `make nosuchtarget`.' >>CONTRIBUTING.md
	# shellcheck disable=SC2016
	printf '%s\n' '' '`planted_nowhere.c`' >>docs/design.md
	put burstd/core/planted_unnamed.c <<<''
	swap docs/design.md 'burstd is about ' 'burstd is about 9'
	# shellcheck disable=SC2016
	printf '%s\n' '| `burstd_planted_total` | |' >>docs/operations.md
	swap burstd/api/metrics.c '"burstd_' '"burstd_planted_other", "burstd_'
	swap docs/man/burstd.conf.5.scd '*currency*' '*planted_option*'
	swap scripts/pkg/burstd.conf 'currency ' 'planted_shipped '
	swap docs/man/simcloud.1.scd '*--seed*' '*--manual*'
	# shellcheck disable=SC2016
	swap docs/simcloud.md '| `--seed' '| `--document'
	swap docs/simcloud.md 'cluster":"falcon"' 'cluster":"another"'
	swap burstd/jobs/refuse.c 'burstd: %s; the job ends' 'burstd: %s; planted words: systemctl restart burstd; the job ends'
	# Sentences in a file that nobody has heard of: in a table, a macro, a buffer, a member and an argument; one for no job.
	sed 's/^\t\t//' <<'C' | put burstd/engine/planted_words.c
		#define PLANTED_WHY "burstd: planted in a macro"
		static const struct {
			const char *word, *text;
		} planted_table[] = {{"a", "planted in a table"}};
		struct planted {
			char kept[80];
		};
		static const char *planted_text(int i)
		{
			return planted_table[i].text;
		}
		static void planted_fill(char *out, size_t size, const char *what)
		{
			(void)snprintf(out, size, "planted in a buffer: %s", what);
		}
		void planted(struct engine *e, struct fleet_name *nm, struct planted *p)
		{
			char why[80];
			planted_fill(why, sizeof(why), planted_text(0));
			refuse_mark(e, nm, NODE_BECAUSE_LIMIT, why);
			(void)snprintf(p->kept, sizeof(p->kept), "planted in a member");
			rescue_power_down(e, nm, false, nm->barred ? PLANTED_WHY : p->kept);
			srun_tell(e, 7, "planted in an argument");
			engine_event(e, nm->name, 0, "planted", "planted for no job");
		}
C
	sed 's/^\t\t//' <<'C' | put burstd/slurm/planted_door.c
		void slurm_planted(struct slurm *s, const char *job, const char *text)
		{
			(void)add(s, COMMAND_NOTIFY, job, text, 0);
		}
C
	! scripts/dev/job-sentences.py . 2>&1 | grep -F 'planted for no job' || missed 'job-sentences.py takes what no job is told'
	# shellcheck disable=SC2016
	printf '%s\n' 'F999 I999' '| F998 | planted | `planted.bats`, `test_node.c` |' >>docs/reliability.md
	refuses check-docs.sh scripts/dev/check-docs.sh . <<-'W'
		README.md: link to nowhere.md leads nowhere
		README.md: no heading for link docs/design.md#no-such-heading
		101 columns
		CONTRIBUTING.md: the Makefile has no target nosuchtarget
		docs/design.md: there is no file planted_nowhere.c
		docs/design.md: burstd/core/planted_unnamed.c is not named
		lines of C11": it is
		metrics: burstd_planted_total is documented and does not exist
		metrics: burstd_planted_other exists and is not documented
		planted_option restart
		planted words: systemctl restart burstd; the job ends
		a sentence on a job is not for researchers
		docs/researchers.md: no section has "planted words
		docs/researchers.md: no section has "planted in a table"
		docs/researchers.md: no section has "planted in a macro"
		docs/researchers.md: no section has "planted in a buffer"
		docs/researchers.md: no section has "planted in a member"
		docs/researchers.md: no section has "planted in an argument"
		slurm_planted: a command with words about a job: put it into DOORS
		planted_shipped is documented and does not exist
		OPTIONS (option argument default): manual
		docs/simcloud.md: document argument is documented
		the example's cluster is falcon
		no test names F999
		no test names I999
		F998: there is no test planted.bats
		F998: no test that its row names has that number
	W
}

# prints NAME WANT CMD...: these lines and no other
prints() {
	local name=$1 want=$2 said
	shift 2
	said=$("$@" | tr '\n' ' ')
	[ "$said" = "$want" ] || missed "$name: \"$want\" wanted, not \"${said:0:200}\""
}

unanalysed() {
	local files source
	mkdir -p analysed
	cp --parents -t analysed scripts/dev/unanalysed.sh
	(
		cd analysed
		mkdir -p burstd/core providers slurm built/burstd/core built/hook/slurm
		printf '# -O2\nbuild/analyze/analyze/%%.o: ; cc -std=c11\n' >Makefile
		touch .clang-tidy burstd/core/{a,b}.c burstd/core/low.h burstd/core/other.h slurm/hook.c
		printf 'x.o: burstd/core/a.c \\\n burstd/core/low.h burstd/core/lower.h\nburstd/core/low.h:\n' >built/burstd/core/a.d
		printf 'x.o: burstd/core/b.c burstd/core/other.h\nburstd/core/low.h:\n' >built/burstd/core/b.d
		printf 'x.o: slurm/hook.c\n' >built/hook/slurm/hook.d
		git init -q .
		echo built >.gitignore
		git add -A
		git -c user.name=x -c user.email=x@localhost commit -qm x
		echo "$(git rev-parse HEAD) $(scripts/dev/unanalysed.sh --options)" >scripts/dev/analysed
		files='burstd/core/a.c burstd/core/b.c slurm/hook.c '
		prints "unanalysed.sh, nothing changed" "" scripts/dev/unanalysed.sh built
		echo >>burstd/core/low.h
		prints "unanalysed.sh, a header" "burstd/core/a.c " scripts/dev/unanalysed.sh built
		git checkout -q burstd
		for source in burstd/core/b.c slurm/hook.c; do
			echo >>$source
			prints "unanalysed.sh, a source" "$source " scripts/dev/unanalysed.sh built
			git checkout -q burstd slurm
		done
		touch burstd/core/lower.h
		prints "unanalysed.sh, a header that is new" "burstd/core/a.c " scripts/dev/unanalysed.sh built
		rm burstd/core/lower.h built/burstd/core/b.d
		prints "unanalysed.sh, nothing known of it" "burstd/core/b.c " scripts/dev/unanalysed.sh built
		echo >>.clang-tidy
		prints "unanalysed.sh, the analysers" "$files" scripts/dev/unanalysed.sh built
		git checkout -q .clang-tidy
		sed -i s/O2/O3/ Makefile
		prints "unanalysed.sh, what the analysers are not told" "burstd/core/b.c " scripts/dev/unanalysed.sh built
		sed -i s/c11/c17/ Makefile
		prints "unanalysed.sh, what the analysers are told" "$files" scripts/dev/unanalysed.sh built
		git checkout -q Makefile
		echo 0123456789012345678901234567890123456789 >scripts/dev/analysed
		prints "unanalysed.sh, no such commit" "$files" scripts/dev/unanalysed.sh built
		exit $failed
	) || failed=1
}

layers
objects
bats_
docs
unanalysed
exit $failed
