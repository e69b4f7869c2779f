/* exported.h - a ledger with the bill of one machine, and what is exported of it. */
#ifndef TESTS_EXPORTED_H
#define TESTS_EXPORTED_H

#include "base/date.h"
#include "ledger/export.h"
#include "tests/unit/ledger/fixture.h"

enum { OUT = 1 << 22 };

static inline struct export ask_for(const struct fixture *f, enum export_form form)
{
	return (struct export){.form = form,
			       .zone = f->calendar.zone,
			       .from_day = date_day(2026, 11, 1),
			       .to_day = date_day(2026, 12, 1),
			       .period = "2026-11",
			       .currency = "EUR",
			       .now_s = T0,
			       .cost_component = "cost",
			       .gpu_component = "gpu_hours"};
}

/* A job of 100 s that was lost, one of 200 s, and 600 s of nobody; 1 EUR a second. */
static inline void fill(const struct fixture *f)
{
	struct err e = {0};

	machine(f, "c0");
	buyer(f, "c0", 1);
	life(f, "c0", "wanted", 0, 0);
	life(f, "c0", "created", 100, 0);
	life(f, "c0", "ready", 200, 0);
	life(f, "c0", "ended", 1000, 0);
	assert_int_equal(ledger_put_note(f->l, LEDGER_DRIVER "aws", "aws", &e), 0);
	assert_int_equal(ledger_put_note(f->l, LEDGER_CLUSTER, "hpc1", &e), 0);
	pass(f, 1);
	job(f, &(struct job){1, 8, 300, 400, "NODE_FAIL", "c0"});
	job(f, &(struct job){2, 8, 500, 700, "COMPLETED", "c0"});
	job(f, &(struct job){3, 8, 800, 800, "FAILED", "c0"}); /* it has no time at all */
	pass(f, 100000);
}

static inline void write_it(const struct fixture *f, const struct export *x, struct str *out)
{
	const struct sink to = sink_str(out);
	struct err e = {0};
	size_t left_out = 99;

	str_clear(out);
	if (export_write(x, f->l, &to, &left_out, &e) < 0)
		fail_msg("%s", e.msg);
	assert_int_equal(left_out, 0);
}

static inline void assert_has(const struct str *out, const char *what, bool has)
{
	if ((strstr(out->p, what) != NULL) != has)
		fail_msg("%s%s", has ? "not there: " : "there: ", what);
}

static inline void set_currency(const struct fixture *f)
{
	struct err e = {0};

	assert_int_equal(ledger_begin(f->l, &e), 0);
	assert_int_equal(ledger_put_note(f->l, LEDGER_CURRENCY, "EUR", &e), 0);
	assert_int_equal(ledger_commit(f->l, &e), 0);
}

#endif
