/* model: search the small model to its end; see model.h and --help. */
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

static const char usage[] = "usage: model [--quick] [--tap] [--cloud tokens|tags|names]\n"
			    "\n"
			    "Visits every state of two nodes, with two generations each, at a "
			    "cloud of each kind, honest\n"
			    "or not (\"liar\": its refusals may be wrong).  In no state may an "
			    "invariant be broken, and "
			    "from\n"
			    "each there must be a way back to rest.\n"
			    "\n"
			    "      --quick       one node only\n"
			    "      --cloud KIND  one kind of cloud only\n"
			    "      --tap         the verdicts as tests of TAP\n"
			    "\n"
			    "exit: 0 all is well, 1 it is not (\"# VIOLATED\" says what, with the "
			    "way there), 2 usage\n";

static bool is_kind(const char *text)
{
	for (int k = 0; k < NKINDS; k++)
		if (strcmp(text, kinds[k]) == 0)
			return true;
	return false;
}

static int misuse(void)
{
	(void)fprintf(stderr, "\"model --help\" says what there is\n");
	return 2;
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
	static const struct option options[] = {{"quick", no_argument, NULL, 'q'},
						{"tap", no_argument, NULL, 't'},
						{"cloud", required_argument, NULL, 'c'},
						{"help", no_argument, NULL, 'h'},
						{NULL, 0, NULL, 0}};
	bool quick = false, tap = false, ok = true;
	const char *only = NULL;
	unsigned n = 0;
	int c;

	while ((c = getopt_long(argc, argv, "h", options, NULL)) != -1)
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
		case 'h':
			return fputs(usage, stdout) < 0 ? 1 : 0;
		default:
			return misuse();
		}
	if (optind != argc || (only != NULL && !is_kind(only))) {
		(void)fprintf(stderr, "model: what is %s?\n", optind != argc ? argv[optind] : only);
		return misuse();
	}
	for (int k = 0; k < NKINDS; k++)
		for (int liar = 0; liar < 2; liar++) {
			struct rules r = {
				.kind = (enum cloud_kind)k, .liar = liar != 0, .alone = quick};

			if (only == NULL || strcmp(only, kinds[k]) == 0)
				ok = run(&r, &n, tap) && ok;
		}
	print_verdict(ok, tap, n);
	return ok ? 0 : 1;
}
