/* What budgets came to, and overrides: every field comes back, one row replaces another, and what
 * nobody can have written is refused. */
#include "store/journal_budget.h"

#include "fixture.h"
#include "store/schema.h"

enum { ROWS_MAX = 8, TEXT_SIZE = 240 };

struct budgets_seen {
	struct journal_budget budgets[ROWS_MAX];
	struct journal_override overrides[ROWS_MAX];
	size_t nbudgets, noverrides, npast;
	char past[ROWS_MAX][TEXT_SIZE];
	char texts[ROWS_MAX * 10][TEXT_SIZE];
	size_t ntexts;
	bool stop;
};

static const char *keep(struct budgets_seen *m, const char *text)
{
	char *to = m->texts[m->ntexts++];

	(void)snprintf(to, TEXT_SIZE, "%s", text);
	return to;
}

static int stopped(const struct budgets_seen *m, struct err *e)
{
	return m->stop ? err_set(e, ERR_INVALID, "stopped") : 0;
}

static int see_budget(void *ctx, const struct journal_budget *b, struct err *e)
{
	struct budgets_seen *m = ctx;
	struct journal_budget *to = &m->budgets[m->nbudgets++];

	*to = *b;
	to->budget = keep(m, b->budget);
	to->value = keep(m, b->value);
	to->period = keep(m, b->period);
	to->counted = keep(m, b->counted);
	return stopped(m, e);
}

static int see_past(void *ctx, const struct journal_past *p, struct err *e)
{
	struct budgets_seen *m = ctx;

	(void)snprintf(m->past[m->npast++], TEXT_SIZE, "%s%s%s %lld-%lld %lld", p->budget,
		       p->value[0] != '\0' ? "/" : "", p->value, (long long)p->span.begin_ms,
		       (long long)p->span.end_ms, (long long)p->amount);
	return stopped(m, e);
}

static int see_override(void *ctx, const struct journal_override *o, struct err *e)
{
	struct budgets_seen *m = ctx;
	struct journal_override *to = &m->overrides[m->noverrides++];

	*to = *o;
	to->budget = keep(m, o->budget);
	to->value = keep(m, o->value);
	to->by = keep(m, o->by);
	to->reason = keep(m, o->reason);
	to->revoked_by = keep(m, o->revoked_by);
	to->revoked_why = keep(m, o->revoked_why);
	return stopped(m, e);
}

static int try_budgets(struct fixture *f, struct budgets_seen *m, struct err *e)
{
	const struct journal_visitor v = {
		.budget = see_budget, .budget_past = see_past, .override = see_override, .ctx = m};

	m->nbudgets = m->noverrides = m->npast = m->ntexts = 0;
	return journal_load(f->j, &v, e);
}

static struct budgets_seen *seen(struct fixture *f)
{
	static struct budgets_seen m;
	struct err e = {0};

	if (try_budgets(f, &m, &e) != 0)
		fail_msg("%s", e.msg);
	return &m;
}

static struct journal_budget row(const char *value, int64_t begin_ms)
{
	return (struct journal_budget){.budget = "physics",
				       .value = value,
				       .period = "2026-11",
				       .begin_ms = begin_ms,
				       .end_ms = 7,
				       .amount = INT64_MAX,
				       .added = 1,
				       .carried = 2,
				       .spent = -3,
				       .held = 4,
				       .since_ms = {0, 10, 20, 30},
				       .at_ms = 5,
				       .counted = "accounts physics"};
}

static void put(struct fixture *f, const struct journal_budget *b)
{
	struct journal_tx *tx = journal_begin(f->j);

	journal_put_budget(tx, b);
	commit(tx);
}

static void put_end(struct fixture *f, const struct journal_budget *b)
{
	struct journal_tx *tx = journal_begin(f->j);

	journal_put_budget_end(tx, b);
	commit(tx);
}

/* How many rows are like this? */
static int64_t count(struct fixture *f, const char *where)
{
	char text[400];
	sqlite3_stmt *st;
	sqlite3 *db;
	int64_t n;

	(void)snprintf(text, sizeof(text), "SELECT COUNT(*) FROM budget_period WHERE %s", where);
	assert_int_equal(sqlite3_open(f->path, &db), SQLITE_OK);
	assert_int_equal(sqlite3_prepare_v2(db, text, -1, &st, NULL), SQLITE_OK);
	assert_int_equal(sqlite3_step(st), SQLITE_ROW);
	n = sqlite3_column_int64(st, 0);
	sqlite3_finalize(st);
	sqlite3_close(db);
	return n;
}

static void same(const struct journal_budget *a, const struct journal_budget *b)
{
	assert_string_equal(a->budget, b->budget);
	assert_string_equal(a->value, b->value);
	assert_string_equal(a->period, b->period);
	assert_string_equal(a->counted, b->counted);
	assert_int_equal(a->begin_ms, b->begin_ms);
	assert_int_equal(a->end_ms, b->end_ms);
	assert_int_equal(a->amount, b->amount);
	assert_int_equal(a->added, b->added);
	assert_int_equal(a->carried, b->carried);
	assert_int_equal(a->spent, b->spent);
	assert_int_equal(a->held, b->held);
	for (int s = 0; s < BUDGET_NSTEPS; s++)
		assert_int_equal(a->since_ms[s], b->since_ms[s]);
	assert_int_equal(a->at_ms, b->at_ms);
}

/* Of another kind of period, such as a quarter, one begins before a month that was written. */
static void test_another_kind_of_period(void **state)
{
	struct fixture *f = *state;
	struct journal_budget month = row("", 2), quarter = row("", 1);

	quarter.at_ms = month.at_ms + 1;
	put(f, &month);
	put(f, &quarter);
	assert_int_equal(seen(f)->nbudgets, 1);
	same(&seen(f)->budgets[0], &quarter);
}

/* A month and a quarter begin together: each has its row, and the one that was written last is the
 * line's. */
static void test_two_that_begin_together(void **state)
{
	struct fixture *f = *state;
	struct journal_budget month = row("", 1), quarter = row("", 1);

	put(f, &month);
	quarter.period = "2026-Q4";
	quarter.end_ms = 21;
	quarter.amount = 100;
	quarter.at_ms = month.at_ms + 1;
	put(f, &quarter);
	assert_int_equal(seen(f)->nbudgets, 1);
	same(&seen(f)->budgets[0], &quarter);
	assert_int_equal(seen(f)->npast, 2);
	assert_string_equal(seen(f)->past[0], "physics 1-7 9223372036854775804");
	assert_string_equal(seen(f)->past[1], "physics 1-21 97");
	quarter.spent = 99;
	put_end(f, &quarter);
	assert_int_equal(count(f, "period = '2026-11' AND spent_nano = -3 AND ended_ms = 0"), 1);
	assert_int_equal(count(f, "period = '2026-Q4' AND spent_nano = 99 AND ended_ms = 6"), 1);
}

static void test_budgets_come_back(void **state)
{
	struct fixture *f = *state;
	struct journal_budget old = row("", 1), last = row("", 2), ann = row("ann", 1);
	struct journal_tx *tx;

	put(f, &last);
	put(f, &old);
	put(f, &ann);
	last.spent = 9;
	last.since_ms[BUDGET_KILLS] = 0;
	put(f, &last); /* replaced */
	reopen(f);
	/* The last period of each line; and every period in which the budget was there, once. */
	assert_int_equal(seen(f)->nbudgets, 2);
	same(&seen(f)->budgets[0], &last);
	same(&seen(f)->budgets[1], &ann);
	assert_int_equal(seen(f)->npast, 2);
	assert_string_equal(seen(f)->past[0], "physics 1-7 9223372036854775804");
	assert_string_equal(seen(f)->past[1], "physics 2-7 9223372036854775804");
	last.begin_ms = 3;
	last.end_ms = 70;
	put(f, &last);
	tx = journal_begin(f->j);
	journal_del_budgets(tx, 70);
	commit(tx);
	assert_int_equal(seen(f)->nbudgets, 1);
	same(&seen(f)->budgets[0], &last);
}

/* Of each period what all values had, and those that had something else. */
static void test_what_values_had(void **state)
{
	struct fixture *f = *state;
	struct journal_budget b = row("", 1);

	b.amount = 103; /* with 1 that was added, and 2 that rolled over */
	b.at_ms = 5;
	put(f, &b);
	b.value = "ann";
	b.amount = 53;
	b.at_ms = 9;
	put(f, &b);
	b.value = "bob";
	b.amount = 103;
	b.at_ms = 8;
	put(f, &b);
	b.begin_ms = 2; /* nobody's row: as the last one has it */
	b.amount = 63;
	put(f, &b);
	b.value = "carl";
	b.amount = 2;
	b.at_ms = 7;
	put(f, &b);
	assert_int_equal(seen(f)->npast, 4);
	assert_string_equal(seen(f)->past[0], "physics 1-7 100");
	assert_string_equal(seen(f)->past[1], "physics 2-7 60");
	assert_string_equal(seen(f)->past[2], "physics/ann 1-7 50");
	assert_string_equal(seen(f)->past[3], "physics/carl 2-7 0");
}

/* What a period came to is written into its row when it is over, and the row of the period that is
 * now stays the last. */
static void test_the_end_of_a_period(void **state)
{
	struct fixture *f = *state;
	struct journal_budget old = row("", 1), now = row("", 7), ann = row("ann", 1);

	put(f, &old);
	now.end_ms = 70;
	put(f, &now);
	old.spent = 77;
	old.held = 0;
	old.amount = 1;
	old.since_ms[BUDGET_DRAINS] = 0;
	old.at_ms = 9;
	put_end(f, &old);
	assert_int_equal(count(f, "begin_ms = 1 AND spent_nano = 77 AND held_nano = 0 AND"
				  " amount_nano = 9223372036854775807 AND added_nano = 1 AND"
				  " drain_ms = 10 AND at_ms = 5 AND ended_ms = 9"),
			 1);
	same(&seen(f)->budgets[0], &now);
	/* Of what had no row one is made, unless there is nothing to say. */
	ann.spent = ann.held = 0;
	put_end(f, &ann);
	assert_int_equal(count(f, "value = 'ann'"), 0);
	ann.held = 3;
	put_end(f, &ann);
	assert_int_equal(count(f, "value = 'ann' AND spent_nano = 0 AND held_nano = 3 AND"
				  " period = '2026-11' AND end_ms = 7 AND at_ms = 6 AND"
				  " added_nano = 0 AND counted = 'accounts physics'"),
			 1);
	ann.held = 0;
	put_end(f, &ann);
	assert_int_equal(count(f, "value = 'ann' AND held_nano = 0"), 1);
}

static void put_override(struct fixture *f, const struct journal_override *o)
{
	struct journal_tx *tx = journal_begin(f->j);

	journal_put_override(tx, o);
	commit(tx);
}

/* What was set for a value is never what the others had. */
static void test_what_was_set_is_of_one_value(void **state)
{
	struct fixture *f = *state;
	struct journal_override o = {.id = 1,
				     .budget = "physics",
				     .value = "bob",
				     .set = true,
				     .made_ms = 5,
				     .until_ms = 9,
				     .by = "ann",
				     .reason = "x",
				     .revoked_by = "",
				     .revoked_why = ""};
	struct journal_budget b = row("ann", 1);

	put_override(f, &o);
	o.id = 2;
	o.value = "ann";
	o.set = false; /* what is added is no amount */
	o.nano = 1;
	put_override(f, &o);
	o.id = 3;
	o.budget = "chemistry"; /* another one's */
	o.set = true;
	put_override(f, &o);
	b.amount = 103;
	b.at_ms = 5;
	put(f, &b);
	b.value = "bob";
	b.amount = 3;
	b.at_ms = 8;
	put(f, &b);
	b.begin_ms = 2; /* here nobody else has a row */
	b.at_ms = 5;
	put(f, &b);
	b.begin_ms = 3; /* not any more ... */
	b.amount = 83;
	b.at_ms = 9;
	put(f, &b);
	b.begin_ms = 4; /* ... and not yet */
	b.amount = 73;
	b.at_ms = 4;
	put(f, &b);
	b.begin_ms = 5; /* what the budget's own row says counts */
	b.at_ms = 8;
	put(f, &b);
	b.value = "";
	b.amount = 63;
	b.at_ms = 2;
	put(f, &b);
	assert_int_equal(seen(f)->npast, 8);
	assert_string_equal(seen(f)->past[0], "physics 1-7 100");
	assert_string_equal(seen(f)->past[1], "physics 2-7 -1");
	assert_string_equal(seen(f)->past[2], "physics 3-7 80");
	assert_string_equal(seen(f)->past[3], "physics 4-7 70");
	assert_string_equal(seen(f)->past[4], "physics 5-7 60");
	assert_string_equal(seen(f)->past[5], "physics/bob 1-7 0");
	assert_string_equal(seen(f)->past[6], "physics/bob 2-7 0");
	assert_string_equal(seen(f)->past[7], "physics/bob 5-7 70");
}

static void test_overrides_come_back(void **state)
{
	struct journal_override o = {.id = 1,
				     .budget = "physics",
				     .value = "",
				     .nano = INT64_MAX,
				     .made_ms = 5,
				     .until_ms = 50,
				     .by = "ann",
				     .reason = "a deadline|'\"",
				     .revoked_by = "",
				     .revoked_why = ""};
	struct journal_override changed = o;
	struct fixture *f = *state;
	const struct journal_override *got;

	put_override(f, &o);
	o.id = 2;
	o.value = "bob";
	o.set = true;
	o.nano = 0;
	put_override(f, &o);
	/* What was ordered stays, whatever is said later. */
	changed.budget = changed.value = changed.by = changed.reason = "x";
	changed.nano = changed.made_ms = 1;
	changed.set = true;
	changed.until_ms = 20;
	changed.revoked_by = "root";
	changed.revoked_why = "a mistake";
	put_override(f, &changed);
	reopen(f);
	assert_int_equal(seen(f)->noverrides, 2);
	got = &seen(f)->overrides[0];
	assert_int_equal(got->id, 1);
	assert_string_equal(got->budget, "physics");
	assert_string_equal(got->value, "");
	assert_int_equal(got->nano, INT64_MAX);
	assert_int_equal(got->made_ms, 5);
	assert_int_equal(got->until_ms, 20);
	assert_string_equal(got->by, "ann");
	assert_string_equal(got->reason, "a deadline|'\"");
	assert_string_equal(got->revoked_by, "root");
	assert_string_equal(got->revoked_why, "a mistake");
	assert_string_equal(seen(f)->overrides[1].value, "bob");
	assert_string_equal(seen(f)->overrides[1].revoked_by, "");
	assert_false(got->set);
	assert_true(seen(f)->overrides[1].set);
	assert_int_equal(seen(f)->overrides[1].nano, 0);
	assert_int_not_equal(sql(f, "DELETE FROM budget_override"), SQLITE_OK);
}

static void test_a_visit_may_refuse(void **state)
{
	struct fixture *f = *state;
	struct budgets_seen *m = seen(f);
	struct journal_budget b = row("", 1);
	struct err e = {0};

	put(f, &b);
	m->stop = true;
	assert_int_equal(try_budgets(f, m, &e), -1);
	m->stop = false;
	assert_string_equal(e.msg, "stopped");
}

static void test_damaged_rows(void **state)
{
	static const char *const changes[] = {
		"UPDATE budget_period SET drain_ms = -1",
		"UPDATE budget_period SET amount_nano = -1",
		"UPDATE budget_period SET at_ms = 'x'",
		"UPDATE budget_period SET budget = printf('%.*c', 999, 'x')",
		"UPDATE budget_override SET id = 0",
		"UPDATE budget_override SET nano = 0",
		"UPDATE budget_override SET reason = printf('%.*c', 999, 'x')",
		"UPDATE budget_override SET replaces = 2",
	};
	struct fixture *f = *state;

	for (size_t i = 0; i < sizeof(changes) / sizeof(changes[0]); i++) {
		struct journal_budget b = row("", 1);
		const struct journal_override o = {.id = 1,
						   .budget = "b",
						   .value = "",
						   .nano = 1,
						   .made_ms = 2,
						   .until_ms = 3,
						   .by = "ann",
						   .reason = "why",
						   .revoked_by = "",
						   .revoked_why = ""};
		struct budgets_seen *m = seen(f);
		struct err e = {0};

		print_message("# %s\n", changes[i]);
		put(f, &b);
		if (m->noverrides == 0)
			put_override(f, &o);
		assert_int_equal(sql(f, changes[i]), SQLITE_OK);
		assert_int_equal(try_budgets(f, m, &e), -1);
		assert_int_equal(e.code, ERR_DAMAGED);
		assert_int_equal(sql(f, "DELETE FROM budget_period"), SQLITE_OK);
		assert_int_equal(sql(f, "UPDATE budget_override SET id = 1, nano = 1,"
					" reason = 'why', replaces = 0"),
				 SQLITE_OK);
	}
}

/* A journal from before has none; what it has stays. */
static void test_a_journal_from_before(void **state)
{
	struct fixture *f = *state;
	struct journal_budget b = row("", 1);
	struct seen *s;

	fill(f);
	close_journal(f);
	assert_int_equal(
		sql(f, BEFORE_IMAGES
		    "DROP TABLE budget_period; DROP TABLE budget_override; DROP TABLE alert;"
		    " DROP TABLE alert_message; DROP TABLE ending; DROP TABLE drained;"
		    "PRAGMA user_version = 18"),
		SQLITE_OK);
	open_journal(f, true);
	assert_int_equal(seen(f)->nbudgets, 0);
	put(f, &b);
	assert_int_equal(seen(f)->nbudgets, 1);
	s = load(f);
	assert_int_equal(s->nnodes, 2);
	forget(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_another_kind_of_period),  TEST(test_budgets_come_back),
		TEST(test_two_that_begin_together), TEST(test_the_end_of_a_period),
		TEST(test_overrides_come_back),     TEST(test_what_was_set_is_of_one_value),
		TEST(test_a_visit_may_refuse),      TEST(test_damaged_rows),
		TEST(test_a_journal_from_before),   TEST(test_what_values_had),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
