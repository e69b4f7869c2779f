/* lines.c: rows of budgets are written some at a time, so that no hook waits for them. */
#include "ladder_lab.h"

enum { MANY = 1200, AT_ONCE = 500 };

static void test_a_new_period_of_many_budgets(void **state)
{
	struct fix *f = *state;
	struct conf *c = ladder(1000 * EUR, 100 * EUR);
	int64_t had = 0;

	c->budgets = mem_realloc(c->budgets, (2 + MANY) * sizeof(*c->budgets));
	for (int i = 0; i < MANY; i++) {
		char name[16];

		(void)snprintf(name, sizeof(name), "b%d", i);
		c->budgets[2 + i] = budget(name, 1000 * EUR);
		c->budgets[2 + i].each = CONF_EACH_USER;
		c->budgets[2 + i].rollover = 20;
	}
	c->nbudgets = 2 + MANY;
	runs_with(f, c);
	for (int look = 0; had < 2 * MANY; look++) {
		int64_t n;

		assert_true(look < 10);
		money_lines_watch(f->e);
		engine_commit(f->e);
		n = atoll(rows(f, "SELECT count(*) FROM budget_period WHERE budget LIKE 'b%'"));
		assert_in_range(n - had, 1, AT_ONCE);
		had = n;
	}
	assert_int_equal(had, 2 * MANY); /* of ann, and of nobody */
}

/* A look when the rows that were written last are LINES_MS old. */
static void look_later(struct fix *f)
{
	for (size_t i = 0; i < f->e->money->nlines; i++) {
		f->e->money->all_lines[i]->written_ms -= 10 * MINUTE;
		f->e->money->all_lines[i]->last.written_ms -= 10 * MINUTE;
	}
	money_lines_watch(f->e);
	engine_commit(f->e);
}

static int64_t last_month(struct fix *f, const char *column)
{
	char query[160];

	(void)snprintf(query, sizeof(query),
		       "SELECT %s FROM budget_period WHERE budget = 'all' AND begin_ms ="
		       " (SELECT MIN(begin_ms) FROM budget_period)",
		       column);
	return strtoll(rows(f, query), NULL, 10);
}

/* What a month came to is written when it is over, and again as what ran on is settled. */
static void test_the_end_of_a_month(void **state)
{
	struct fix *f = *state;
	struct conf *c = ladder(100000 * EUR, 100000 * EUR);
	struct period now, last;
	int64_t ended_ms;

	for (size_t i = 0; i < c->nbudgets; i++) {
		c->budgets[i].period_rule = (struct period_rule){.kind = PERIOD_MONTH};
		free(c->budgets[i].period);
		c->budgets[i].period = mem_strdup("month");
	}
	runs_with(f, c);
	period_find(&c->budgets[0].period_rule, utc, engine_now(f->e), &now);
	period_find(&c->budgets[0].period_rule, utc, now.begin_ms - 1, &last);
	budgets_existed(f->e->money->budgets, "all", "",
			&(struct budget_span){last.begin_ms, last.end_ms}, 900 * EUR);
	age(f, "c1", engine_now(f->e) - now.begin_ms); /* it began an hour before the month's end */
	money_lines_watch(f->e);
	engine_commit(f->e);
	assert_int_equal(last_month(f, "amount_nano"), 900 * EUR);
	assert_int_equal(last_month(f, "spent_nano"), 0);
	near(last_month(f, "held_nano"), EUR);
	ends(f, "c1");
	money_lines_watch(f->e);
	engine_commit(f->e);
	assert_int_equal(last_month(f, "spent_nano"), 0); /* some minutes late */
	look_later(f);
	near(last_month(f, "spent_nano"), EUR);
	assert_int_equal(last_month(f, "held_nano"), 0);
	/* Nothing is written again that is as it was. */
	assert_string_equal(rows(f, "SELECT count(*) FROM budget_period WHERE ended_ms <> 0"),
			    "1;");
	ended_ms = last_month(f, "ended_ms");
	look_later(f);
	assert_int_equal(last_month(f, "ended_ms"), ended_ms);
	/* The next month has come, and comes to the same. */
	for (size_t i = 0; i < f->e->money->nlines; i++)
		f->e->money->all_lines[i]->last.begin_ms--;
	usleep(2000);
	money_lines_watch(f->e);
	engine_commit(f->e);
	assert_true(last_month(f, "ended_ms") > ended_ms);
}

/* A rolling period does not end. */
static void test_rolling(void **state)
{
	struct fix *f = *state;

	runs_with(f, ladder(1000 * EUR, 100 * EUR));
	for (int look = 0; look < 2; look++) {
		look_later(f);
		assert_string_equal(rows(f, "SELECT count(*) FROM budget_period WHERE held_nano > 0"
					    " AND ended_ms = 0 AND begin_ms = 0"),
				    "2;");
	}
}

/* What it counts is there as text, cut where that is long. */
static void test_what_is_counted(void **state)
{
	struct fix *f = *state;
	struct conf *c = ladder(1000 * EUR, 100 * EUR);
	char **names = mem_zalloc(21 * sizeof(*names));

	for (int i = 0; i < 20; i++)
		names[i] = mem_strdup("an_account_with_a_name");
	runs_with(f, c);
	f->e->conf->budgets[1].accounts = names; /* it need not find the job's account in a tree */
	money_lines_watch(f->e);
	engine_commit(f->e);
	assert_string_equal(rows(f, "SELECT counted FROM budget_period WHERE budget = 'all'"),
			    "all machines;");
	assert_string_equal(rows(f, "SELECT length(counted) <= 250 AND counted LIKE"
				    " 'accounts an_account%name...' FROM budget_period"
				    " WHERE budget = 'account'"),
			    "1;");
}

/* What is added to a budget is on record at once. */
static void test_an_override_is_written_at_once(void **state)
{
	struct fix *f = *state;
	const struct budget_override o = {"all", "", false, 7 * EUR, INT64_MAX, 1};

	runs_with(f, ladder(1000 * EUR, 100 * EUR));
	money_lines_watch(f->e);
	engine_commit(f->e);
	assert_string_equal(rows(f, "SELECT added_nano FROM budget_period WHERE budget = 'all'"),
			    "0;");
	(void)budgets_overrides(f->e->money->budgets, &o, 1);
	money_lines_watch(f->e);
	engine_commit(f->e);
	assert_string_equal(rows(f, "SELECT added_nano FROM budget_period WHERE budget = 'all'"),
			    "7000000000;");
}

/* Likewise an amount that is set; and what its period had is known in the next one. */
static void test_what_is_set_is_written_at_once(void **state)
{
	struct fix *f = *state;
	struct conf *c = ladder(100000 * EUR, 100 * EUR);
	const struct budget_override o = {"account", "physics", true, 7 * EUR, INT64_MAX, 1};

	c->budgets[1].period_rule = (struct period_rule){.kind = PERIOD_MONTH};
	c->budgets[1].rollover = 10;
	runs_with(f, c);
	money_lines_watch(f->e);
	engine_commit(f->e);
	(void)budgets_overrides(f->e->money->budgets, &o, 1);
	f->e->conf->budgets[1].amount_nano = 90 * EUR; /* a reload */
	money_lines_watch(f->e);
	engine_commit(f->e);
	assert_string_equal(rows(f, "SELECT value, amount_nano FROM budget_period"
				    " WHERE budget = 'account' ORDER BY value"),
			    " 90000000000;physics 7000000000;");
	(void)budgets_now(f->e->money->budgets, line(f, "account").period.end_ms);
	assert_true(line(f, "account").has_last);
	assert_true(line(f, "account").last_amount == 7 * EUR);
}

/* Where the journal has only what was set for single values, the others had what burstd.conf says.
 */
static void test_what_those_had_of_whom_nothing_is_known(void **state)
{
	struct fix *f = *state;
	struct conf *c = ladder(100000 * EUR, 100 * EUR);
	struct journal_past p = {.budget = "account", .value = "", .amount = -1};
	struct period last;

	c->budgets[1].period_rule = (struct period_rule){.kind = PERIOD_MONTH};
	c->budgets[1].rollover = 10;
	runs_with(f, c);
	period_find(&c->budgets[1].period_rule, utc, line(f, "account").period.begin_ms - 1, &last);
	p.span = (struct budget_span){last.begin_ms, last.end_ms};
	assert_int_equal(money_lines_load_past(f->e, &p), 0);
	p.budget = "gone";
	assert_int_equal(money_lines_load_past(f->e, &p), 0);
	(void)budgets_now(f->e->money->budgets, engine_now(f->e));
	assert_true(line(f, "account").has_last);
	assert_true(line(f, "account").last_amount == 100 * EUR);
}

/* As the journal has it: what was set is not written again. */
static void test_a_row_that_was_loaded(void **state)
{
	struct fix *f = *state;
	const struct budget_override o = {"all", "", true, 7 * EUR, INT64_MAX, 1};
	struct journal_budget b = {.budget = "all",
				   .value = "",
				   .amount = 12 * EUR,
				   .added = 2 * EUR,
				   .carried = 3 * EUR};

	runs_with(f, ladder(1000 * EUR, 100 * EUR));
	b.at_ms = engine_now(f->e);
	(void)budgets_overrides(f->e->money->budgets, &o, 1);
	assert_int_equal(money_lines_load(f->e, &b), 0);
	f->e->money->all_lines[0]->added = 0;
	money_lines_watch(f->e);
	engine_commit(f->e);
	assert_string_equal(rows(f, "SELECT count(*) FROM budget_period WHERE budget = 'all'"),
			    "0;");
}

/* F57: the clock has gone back since the row was written.  A step is not reached in the future,
 * where its grace would never end, and the next row is not held up until then. */
static void test_a_row_of_the_future(void **state)
{
	struct fix *f = *state;
	struct journal_budget b = {.budget = "all", .value = "", .amount = 1000 * EUR};
	const struct money_line *m;
	int64_t now;

	runs_with(f, ladder(1000 * EUR, 100 * EUR));
	now = engine_now(f->e);
	b.at_ms = now + HOUR;
	b.since_ms[BUDGET_DRAINS] = now - MINUTE;
	b.since_ms[BUDGET_REQUEUES] = now + HOUR;
	assert_int_equal(money_lines_load(f->e, &b), 0);
	m = f->e->money->all_lines[f->e->money->nlines - 1];
	assert_string_equal(m->key, "all\n");
	assert_true(m->since_ms[BUDGET_DRAINS] == now - MINUTE);
	assert_true(m->since_ms[BUDGET_REQUEUES] == now);
	assert_true(m->since_ms[BUDGET_KILLS] == 0);
	assert_true(m->written_ms == now);
}

/* A budget that is one for each now, or for all, has other lines: those it had reach no step. */
static void test_lines_of_a_budget_that_changed_its_each(void **state)
{
	static const struct {
		const char *budget, *value;
		bool is;
	} of[] = {{"all", "", true},
		  {"all", "ann", false},
		  {"account", "", false},
		  {"account", "physics", true},
		  {"gone", "", false}};
	struct fix *f = *state;
	struct conf *c = ladder(1000 * EUR, 100 * EUR);

	c->budgets[0].requeue_at = c->budgets[1].requeue_at = AT;
	runs_with(f, c);
	for (size_t i = 0; i < sizeof(of) / sizeof(of[0]); i++) {
		struct journal_budget b = {.budget = of[i].budget, .value = of[i].value};

		b.since_ms[BUDGET_REQUEUES] = b.since_ms[BUDGET_KILLS] = 5;
		assert_int_equal(money_lines_load(f->e, &b), 0);
	}
	money_lines_configure(f->e);
	for (size_t i = 0; i < sizeof(of) / sizeof(of[0]); i++) {
		char key[MONEY_LINE_SIZE];
		const struct money_line *m;

		money_line_key(key, of[i].budget, of[i].value);
		m = map_get(&f->e->money->lines, key);
		assert_true(m->since_ms[BUDGET_REQUEUES] == (of[i].is ? 5 : 0));
		assert_true(m->since_ms[BUDGET_KILLS] == 0);
	}
}

/* What is added in the first seconds of a month is in its row, and not in that of the last one. */
static void test_an_override_as_a_month_begins(void **state)
{
	struct budget_override o = {.budget = "all", .value = "", .nano = 7 * EUR};
	struct fix *f = *state;
	struct conf *c = ladder(100000 * EUR, 100000 * EUR);
	struct budgets *b;
	struct period now;

	o.until_ms = INT64_MAX;
	for (size_t i = 0; i < c->nbudgets; i++)
		c->budgets[i].period_rule = (struct period_rule){.kind = PERIOD_MONTH};
	runs_with(f, c);
	b = f->e->money->budgets;
	period_find(&c->budgets[0].period_rule, utc, engine_now(f->e), &now);
	(void)budgets_now(b, now.begin_ms - 1000);
	budgets_configure(b, c->budgets, c->nbudgets);
	money_lines_watch(f->e);
	engine_commit(f->e);
	assert_string_equal(rows(f, "SELECT count(*) FROM budget_period WHERE budget = 'all'"),
			    "1;");
	(void)budgets_overrides(b, &o, 1);
	f->e->money->watch_ms = 0;
	holds_part.at[PART_RUN](f->e);
	engine_commit(f->e);
	assert_string_equal(rows(f, "SELECT added_nano FROM budget_period WHERE budget = 'all'"
				    " ORDER BY begin_ms"),
			    "0;7000000000;");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_a_new_period_of_many_budgets),
		TEST(test_the_end_of_a_month),
		TEST(test_rolling),
		TEST(test_what_is_counted),
		TEST(test_an_override_as_a_month_begins),
		TEST(test_an_override_is_written_at_once),
		TEST(test_what_is_set_is_written_at_once),
		TEST(test_what_those_had_of_whom_nothing_is_known),
		TEST(test_a_row_that_was_loaded),
		TEST(test_a_row_of_the_future),
		TEST(test_lines_of_a_budget_that_changed_its_each),
	};

	return cmocka_run_group_tests(tests, zone_begins, zone_ends);
}
