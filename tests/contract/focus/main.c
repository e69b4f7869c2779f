/* focus - writes FOCUS data sets of charges that somebody might have, for their checkers:
 * `focus VERSION VIEW SEED COUNT`, say `focus 1.2 internal 7 3000`; the sum in nano-units goes to
 * standard error. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit/ledger/charges.h"

int main(int argc, char **argv)
{
	struct source_array a;
	struct focus_options o;
	struct focus_sum sum;
	struct source from;
	struct sink to = sink_file(stdout);
	struct charges c;
	struct err e = {0};
	int rc;

	if (argc != 5) {
		(void)fputs("usage: focus VERSION VIEW SEED COUNT\n", stderr);
		return 2;
	}
	o = charges_options(strcmp(argv[1], "1.4") == 0 ? FOCUS_1_4 : FOCUS_1_2,
			    strcmp(argv[2], "internal") == 0 ? FOCUS_INTERNAL : FOCUS_PROVIDER);
	charges_make(&c, (unsigned)strtoul(argv[3], NULL, 10), strtoul(argv[4], NULL, 10));
	focus_sort(&o, c.all, c.n);
	a = (struct source_array){c.all, c.n};
	from = source_array(&a);
	rc = focus_write(&o, &from, &to, &sum, &e);
	if (rc != 0)
		(void)fprintf(stderr, "focus: %s\n", e.msg);
	else
		(void)fprintf(stderr, "%lld\n", (long long)charges_sum(&c));
	charges_fini(&c);
	return rc == 0 && fflush(stdout) == 0 ? 0 : 1;
}
