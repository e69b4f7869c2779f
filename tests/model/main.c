/* model: search the small model to its end; see model.h.
 *
 *   model [--quick] [--tap] [--cloud tokens|tags|names]
 *
 * --quick: one node only. */
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "model.h"

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

static int usage(void)
{
	(void)fprintf(stderr, "usage: model [--quick] [--tap] [--cloud tokens|tags|names]\n");
	return 2;
}

int main(int argc, char **argv)
{
	static const struct option options[] = {{"quick", no_argument, NULL, 'q'},
						{"tap", no_argument, NULL, 't'},
						{"cloud", required_argument, NULL, 'c'},
						{NULL, 0, NULL, 0}};
	bool quick = false, tap = false, ok = true;
	const char *only = NULL;
	unsigned n = 0;
	int c;

	while ((c = getopt_long(argc, argv, "", options, NULL)) != -1)
		switch (c) {
		case 'q':
			quick = true;
			break;
		case 't':
			tap = true;
			break;
		case 'c':
			only = optarg;
			break;
		default:
			return usage();
		}
	for (int k = 0; k < NKINDS; k++)
		for (int liar = 0; liar < 2; liar++) {
			struct rules r = {
				.kind = (enum cloud_kind)k, .liar = liar != 0, .alone = quick};

			if (only == NULL || strcmp(only, kinds[k]) == 0)
				ok = run(&r, &n, tap) && ok;
		}
	if (tap)
		(void)printf("1..%u\n", n);
	return ok ? 0 : 1;
}
