/* closing.h - closes and opens months of a fixture's ledger, and writes what is reported of them.
 */
#ifndef TESTS_LEDGER_CLOSING_H
#define TESTS_LEDGER_CLOSING_H

#include "base/date.h"
#include "ledger/closing.h"
#include "ledger/export.h"
#include "ledger/report.h"
#include "ledger/verify.h"
#include "tests/unit/ledger/fixture.h"

enum {
	DAY_S = 86400,
	DEC = 21 * DAY_S, /* the first of December, in seconds after T0 */
	JAN = DEC + 31 * DAY_S,
	FEB = JAN + 31 * DAY_S,
	CLOSING_OUT = 1 << 22,
};

static inline int64_t month_of(int year, int month)
{
	return date_month(date_day(year, month, 1));
}

#define NOVEMBER month_of(2026, 11)
#define DECEMBER month_of(2026, 12)
#define JANUARY  month_of(2027, 1)

static inline struct book book_at(struct fixture *f, int64_t at)
{
	struct book b = {.ledger = f->l,
			 .calendar = &f->calendar,
			 .now_ms = (T0 + at) * 1000,
			 .currency = "EUR"};
	struct err e = {0};

	assert_int_equal(ledger_number(f->l, LEDGER_JOBS_MS, &b.jobs_ms, &e), 0);
	return b;
}

/* All that happened until then is known. */
static inline void settle_until(struct fixture *f, int64_t at)
{
	jobs_until(f, at);
	pass(f, at);
}

/* What stands in the way, as "unpriced 1, behind 1"; "": nothing. */
static inline char *obstacles(struct fixture *f, int64_t month, int64_t at)
{
	const struct book b = book_at(f, at);
	struct closing_draft d;
	struct str out, lines;
	struct err e = {0};

	str_init(&out, 1000);
	str_init(&lines, 1 << 20);
	assert_int_equal(ledger_begin(f->l, &e), 0);
	if (closing_look(&b, month, &d, &lines, &e) < 0)
		fail_msg("%s", e.msg);
	ledger_rollback(f->l);
	for (int o = 0; o < CLOSING_NOBSTACLES; o++)
		if (d.count[o] != 0)
			str_addf(&out, "%s%s %lld", out.len > 0 ? ", " : "",
				 closing_obstacle_str((enum closing_obstacle)o),
				 (long long)d.count[o]);
	closing_draft_fini(&d);
	str_fini(&lines);
	return str_take(&out);
}

static inline int try_close(struct fixture *f, int64_t month, int64_t at, unsigned allowed)
{
	const struct book b = book_at(f, at);
	const struct closing_by by = {"anna", "it is time", allowed};
	struct closing_draft d;
	char hash[DIGEST_SIZE];
	struct str lines;
	struct err e = {0};
	int rc;

	str_init(&lines, 1 << 20);
	assert_int_equal(ledger_begin(f->l, &e), 0);
	if (closing_look(&b, month, &d, &lines, &e) < 0)
		fail_msg("%s", e.msg);
	rc = closing_close(&b, &d, &by, hash, &e);
	if (rc == 0)
		assert_int_equal(ledger_commit(f->l, &e), 0);
	else
		ledger_rollback(f->l);
	closing_draft_fini(&d);
	str_fini(&lines);
	return rc;
}

static inline int try_reopen(struct fixture *f, int64_t month, int64_t at)
{
	const struct book b = book_at(f, at);
	const struct closing_by by = {"bert", "a mistake", 0};
	char hash[DIGEST_SIZE];
	struct err e = {0};
	int rc;

	assert_int_equal(ledger_begin(f->l, &e), 0);
	rc = closing_reopen(&b, month, &by, hash, &e);
	if (rc == 0)
		assert_int_equal(ledger_commit(f->l, &e), 0);
	else
		ledger_rollback(f->l);
	return rc;
}

static inline void close_month(struct fixture *f, int64_t month, int64_t at)
{
	if (try_close(f, month, at, 0) < 0) {
		char *why = obstacles(f, month, at);

		fail_msg("not closed: %s", why);
	}
}

static inline void export_one(struct fixture *f, int64_t month, enum export_form form, int way,
			      struct str *out)
{
	static int64_t later; /* each time it is another time */
	char name[DATE_STR_SIZE];
	const struct export x = {.form = form,
				 .zone = f->calendar.zone,
				 .from_day = date_month_day(month),
				 .to_day = date_month_day(month + 1),
				 .period = date_month_str(name, month),
				 .currency = "EUR",
				 .now_s = T0 + FEB + ++later,
				 .distribute = way == 1,
				 .version = way == 1 ? FOCUS_1_4 : FOCUS_1_2,
				 .view = way == 1 ? FOCUS_INTERNAL : FOCUS_PROVIDER,
				 .cost_component = "cost",
				 .gpu_component = "gpu_hours"};
	const struct sink to = sink_str(out);
	struct err e = {0};
	size_t left_out;

	if (export_write(&x, f->l, &to, &left_out, &e) < 0)
		fail_msg("%s", e.msg);
	assert_int_equal(left_out, 0);
}

/* All that can be asked about a month, as one text: the caller's. */
static inline char *all_of(struct fixture *f, int64_t month)
{
	static const enum export_form forms[] = {EXPORT_FOCUS,          EXPORT_FOCUS_METADATA,
						 EXPORT_STATEMENT,      EXPORT_WALDUR,
						 EXPORT_COLDFRONT,      EXPORT_XDMOD,
						 EXPORT_BILLING_PERIOD, EXPORT_INVOICE_DETAIL};
	static const char *const by[] = {"account,user,class,day", "job,node", "provider,type",
					 "wckey,qos,market,pool", "partition"};
	struct str out;

	str_init(&out, CLOSING_OUT);
	for (size_t i = 0; i < sizeof(by) / sizeof(by[0]); i++) {
		struct report_want w = {.from_day = date_month_day(month),
					.to_day = date_month_day(month + 1)};
		struct report r;
		struct err e = {0};

		assert_int_equal(report_parse(&w, by[i], &e), 0);
		if (report_make(&r, f->l, &w, &e) < 0)
			fail_msg("%s", e.msg);
		report_csv(&r, &out);
		report_fini(&r);
	}
	for (size_t i = 0; i < sizeof(forms) / sizeof(forms[0]); i++)
		for (int way = 0; way < 2; way++)
			export_one(f, month, forms[i], way, &out);
	assert_false(out.full);
	return str_take(&out);
}

/* The same to the byte; what differs is said by its line. */
static inline void assert_same_text(const char *had, const char *has)
{
	while (*had != '\0' || *has != '\0') {
		const size_t n = strcspn(had, "\n"), m = strcspn(has, "\n");

		if (n != m || memcmp(had, has, n) != 0)
			fail_msg("\"%.*s\", not \"%.*s\"", (int)m, has, (int)n, had);
		had += n + (had[n] != '\0');
		has += m + (has[m] != '\0');
	}
}

static inline struct verify verify_at(struct fixture *f, int64_t at, struct str *out)
{
	const struct book b = book_at(f, at);
	struct verify v;
	struct err e = {0};

	if (verify_ledger(&b, &v, out, &e) < 0)
		fail_msg("%s", e.msg);
	return v;
}

static inline void assert_good(struct fixture *f, int64_t at)
{
	struct str out;
	struct verify v;

	str_init(&out, CLOSING_OUT);
	v = verify_at(f, at, &out);
	if (!verify_is_good(&v) || strcmp(v.had, v.made) != 0)
		fail_msg("%s", out.p);
	str_fini(&out);
}

#endif
