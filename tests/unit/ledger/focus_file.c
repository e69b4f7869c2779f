#include "tests/unit/ledger/focus_file.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

enum { OUT_MAX = 1 << 26 };

int focus_file_write(struct str *s, const struct focus_options *o, const struct charge *const *v,
		     size_t n, struct focus_sum *sum, struct err *e)
{
	struct source_array a = {v, n};
	struct source from = source_array(&a);
	struct sink to = sink_str(s);

	return focus_write(o, &from, &to, sum, e);
}

char *focus_file(const struct focus_options *o, const struct charge *const *v, size_t n)
{
	struct focus_sum sum;
	struct err e = {0};
	struct str s;
	int64_t want = 0;

	str_init(&s, OUT_MAX);
	if (focus_file_write(&s, o, v, n, &sum, &e) != 0)
		fail_msg("%s", e.msg);
	for (size_t i = 0; i < n; i++)
		want += v[i]->nano;
	assert_int_equal(sum.charges, n);
	assert_true(sum.nano == want);
	return str_take(&s);
}

void focus_file_table(struct table *t, const struct focus_options *o, const struct charge *c)
{
	char *text = focus_file(o, &c, 1);

	table_read(t, text);
	free(text);
}
