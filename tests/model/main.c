/* model: search the small model to its end; see model.h and --help. */
#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "model.h"
#include "tests/tool.h"

static const char *const kinds[NKINDS] = {"tokens", "tags", "names"};

static double seconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static bool run(const struct rules *r, unsigned *n, bool tap)
{
	double began = seconds();
	struct summary s;
	bool ok = explore(r, &s);

	if (tap)
		(void)printf("%s %u - every state of two nodes at a cloud with %s%s\n",
			     ok ? "ok" : "not ok", ++*n, kinds[r->kind],
			     r->liar ? " whose refusals may be wrong" : "");
	(void)printf("# %s%s: %" PRIu64 " states (%" PRIu64
		     " of one node alone), depth %u, %" PRIu64
		     " transitions, way back at most %" PRIu64 " steps, %.1f s\n",
		     kinds[r->kind], r->liar ? ", liar" : "", s.states, s.alone, s.depth,
		     s.transitions, s.longest, seconds() - began);
	(void)fflush(stdout);
	return ok;
}

struct options {
	bool quick, tap;
	const char *cloud;
};

static struct options options;

static const struct opt model_opts[] = {
	{"quick", 0, OPT_FLAG, NULL, "one node only", offsetof(struct options, quick), 0, 0},
	{"cloud", 0, OPT_TEXT, "KIND", "one kind of cloud only", offsetof(struct options, cloud), 0,
	 0},
	{"tap", 0, OPT_FLAG, NULL, "the verdicts as tests of TAP", offsetof(struct options, tap), 0,
	 0},
};

static const struct tool tool = {
	.name = "model",
	.about = "usage: model [--quick] [--tap] [--cloud tokens|tags|names]\n"
		 "\n"
		 "Visits every state of two nodes, with two generations each, at a cloud of each\n"
		 "kind, honest or not (\"liar\": its refusals may be wrong).  In no state may an\n"
		 "invariant be broken, and from each there must be a way back to rest.\n",
	.exits = "exit: 0 all is well, 1 it is not (\"# VIOLATED\" says what, with the way\n"
		 "there), 2 usage\n",
	.opts = model_opts,
	.nopts = sizeof(model_opts) / sizeof(model_opts[0]),
	.object = &options,
};

static bool is_kind(const char *text)
{
	for (int k = 0; k < NKINDS; k++)
		if (strcmp(text, kinds[k]) == 0)
			return true;
	return false;
}

static void print_verdict(bool ok, bool tap, unsigned n)
{
	if (tap)
		(void)printf("1..%u\n", n);
	else if (ok)
		(void)printf("model: ok: no state breaks an invariant, and all have a way back to "
			     "rest\n");
	else
		(void)printf("model: FAILED: what and how stands behind \"# VIOLATED\"\n");
}

int main(int argc, char **argv)
{
	unsigned n = 0;
	bool ok = true;

	tool_options(&tool, argc, argv);
	if (options.cloud != NULL && !is_kind(options.cloud))
		tool_misuse(&tool, "--cloud: want tokens, tags or names");
	for (int k = 0; k < NKINDS; k++)
		for (int liar = 0; liar < 2; liar++) {
			struct rules r = {.kind = (enum cloud_kind)k,
					  .liar = liar != 0,
					  .alone = options.quick};

			if (options.cloud == NULL || strcmp(options.cloud, kinds[k]) == 0)
				ok = run(&r, &n, options.tap) && ok;
		}
	print_verdict(ok, options.tap, n);
	return ok ? 0 : 1;
}
