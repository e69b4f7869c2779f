/* focus - writes FOCUS data sets of charges that somebody might have, for their checkers:
 * `focus VERSION VIEW SEED COUNT`, say `focus 1.2 internal 7 3000`; the sum in nano-units goes to
 * standard error.  `focus 0 statement 7 3000`: a statement of such charges, to look at; `focus FILE
 * xlsx 7 3000`: a workbook. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ledger/xlsx.h"
#include "tests/unit/ledger/charges.h"
#include "tests/unit/ledger/statement_file.h"

/* file: a workbook; NULL: a page. */
static int statement(const char *file, const struct source *from, const struct sink *to,
		     struct err *e)
{
	const struct tally_options o = statement_file_tally(true);
	const struct statement in = statement_file_input();
	struct tally t;
	int rc;

	if (tally_make(&t, &o, from, e) != 0)
		return -1;
	rc = file != NULL ? xlsx_write(file, NULL, &in, &t, from, e)
			  : statement_write(&in, &t, to, e);
	tally_fini(&t);
	return rc;
}

static int data_set(char **argv, struct charges *c, const struct source *from,
		    const struct sink *to, struct err *e)
{
	struct focus_options o =
		charges_options(strcmp(argv[1], "1.4") == 0 ? FOCUS_1_4 : FOCUS_1_2,
				strcmp(argv[2], "internal") == 0 ? FOCUS_INTERNAL : FOCUS_PROVIDER);
	struct focus_sum sum;

	focus_sort(&o, c->all, c->n);
	return focus_write(&o, from, to, &sum, e);
}

int main(int argc, char **argv)
{
	struct source_array a;
	struct source from;
	struct sink to = sink_file(stdout);
	struct charges c;
	struct err e = {0};
	int rc;

	if (argc != 5) {
		(void)fputs("usage: focus VERSION VIEW SEED COUNT\n", stderr);
		return 2;
	}
	charges_make(&c, (unsigned)strtoul(argv[3], NULL, 10), strtoul(argv[4], NULL, 10));
	a = (struct source_array){c.all, c.n};
	from = source_array(&a);
	if (strcmp(argv[2], "statement") == 0 || strcmp(argv[2], "xlsx") == 0)
		rc = statement(argv[2][0] == 'x' ? argv[1] : NULL, &from, &to, &e);
	else
		rc = data_set(argv, &c, &from, &to, &e);
	if (rc != 0)
		(void)fprintf(stderr, "focus: %s\n", e.msg);
	else
		(void)fprintf(stderr, "%lld\n", (long long)charges_sum(&c));
	charges_fini(&c);
	return rc == 0 && fflush(stdout) == 0 ? 0 : 1;
}
