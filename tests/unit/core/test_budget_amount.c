/* test_budget_amount.c - what rolls over, what overrides add, and which step of the ladder is
 * reached. */
#include "budget_world.h"

/* --- rollover ------------------------------------------------------------------------------------
 */

static struct world rolls(struct conf_budget *b, const char *period, uint32_t percent,
			  const char *now)
{
	*b = budget("b", 100, period);
	b->rollover = percent;
	return world_new("Europe/Berlin", now, b, 1);
}

static void spend(struct world *w, const char *day, int64_t eur)
{
	struct budget_spender m = machine_of("h100");

	(void)budgets_spent(w->b, budgets_spender(w->b, &m), budgets_day(w->b, at(day)), eur * EUR);
}

/* What October, of which a budget has 100, leaves for November. */
static void test_what_rolls_over(void **state)
{
	static const struct {
		uint32_t percent;
		int64_t spent, want;
	} rows[] = {
		{20, 0, 20},  {20, 79, 20}, {20, 80, 20},  {20, 81, 19},
		{20, 100, 0}, {20, 120, 0}, {100, 30, 70}, {0, 0, 0},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct conf_budget b;
		struct world w = rolls(&b, "month", rows[i].percent, "2026-11-10T12:00:00Z");

		print_message("# %zu\n", i);
		existed(&w, "b", "", at("2026-09-30T22:00:00Z"), 100 * EUR);
		spend(&w, "2026-10-15T12:00:00Z", rows[i].spent);
		spend(&w, "2026-09-15T12:00:00Z", 1000); /* nobody's business any more */
		spend(&w, "2026-11-05T12:00:00Z", 3);
		for (int again = 0; again < 2; again++) {
			assert_int_equal(line_of(&w, "b", "").carried, rows[i].want * EUR);
			assert_int_equal(line_of(&w, "b", "").amount, (100 + rows[i].want) * EUR);
			assert_int_equal(line_of(&w, "b", "").left, (97 + rows[i].want) * EUR);
			budgets_configure(w.b, &b, 1);
		}
		world_free(&w);
	}
}

/* What was left of the amount that it had then, whatever it has now. */
static void test_the_amount_was_another(void **state)
{
	static const struct {
		int64_t amount, spent, want;
	} rows[] = {{60, 55, 5}, {60, 61, 0}, {200, 95, 20}, {200, 190, 10}, {100, 90, 10}};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct conf_budget b;
		struct world w = rolls(&b, "month", 20, "2026-11-10T12:00:00Z");

		print_message("# %zu\n", i);
		existed(&w, "b", "", at("2026-09-30T22:00:00Z"), 7 * EUR);
		existed(&w, "b", "", at("2026-09-30T22:00:00Z"), rows[i].amount * EUR);
		spend(&w, "2026-10-15T12:00:00Z", rows[i].spent);
		assert_int_equal(line_of(&w, "b", "").carried, rows[i].want * EUR);
		world_free(&w);
	}
}

/* The month of which something is known is not the quarter that began with it. */
static void test_another_kind_of_period(void **state)
{
	const struct budget_span october = {at("2026-09-30T22:00:00Z"), at("2026-10-31T23:00:00Z")};
	const struct budget_span fourth = {october.begin_ms, at("2026-12-31T23:00:00Z")};
	struct conf_budget b;
	struct world w = rolls(&b, "quarter", 20, "2027-01-10T12:00:00Z");

	(void)state;
	budgets_existed(w.b, "b", "", &october, 100 * EUR);
	assert_false(line_of(&w, "b", "").has_last);
	assert_int_equal(line_of(&w, "b", "").carried, 0);
	budgets_existed(w.b, "b", "", &fourth, 100 * EUR);
	assert_true(line_of(&w, "b", "").has_last);
	assert_int_equal(line_of(&w, "b", "").carried, 20 * EUR);
	world_free(&w);
}

/* Nothing rolls over from a period in which the budget was not there. */
static void test_a_new_budget_has_no_past(void **state)
{
	struct conf_budget b;
	struct world w = rolls(&b, "month", 20, "2026-11-10T12:00:00Z");

	(void)state;
	assert_int_equal(line_of(&w, "b", "").carried, 0);
	existed(&w, "another", "", at("2026-09-30T22:00:00Z"), 100 * EUR);
	existed(&w, "b", "", at("2026-08-31T22:00:00Z"), 100 * EUR);
	assert_int_equal(line_of(&w, "b", "").carried, 0);
	existed(&w, "b", "", at("2026-10-31T23:00:00Z"), 100 * EUR); /* this period */
	assert_int_equal(line_of(&w, "b", "").carried, 0);
	/* It is there now, so December has something of it. */
	assert_true(budgets_now(w.b, at("2026-12-01T00:00:00Z")));
	assert_int_equal(line_of(&w, "b", "").carried, 20 * EUR);
	/* And no more than one period's. */
	assert_true(budgets_now(w.b, at("2027-01-01T00:00:00Z")));
	assert_int_equal(line_of(&w, "b", "").carried, 0);
	world_free(&w);
}

/* A machine that runs over midnight has spent something in October, which no row says yet. */
static void test_what_runs_over_counts_in_both(void **state)
{
	struct conf_budget b;
	struct world w = rolls(&b, "month", 100, "2026-11-10T12:00:00Z");
	struct budget_want one = want(&w, machine_of("h100"), 1, at("2026-10-31T13:00:00Z"),
				      at("2026-11-01T03:00:00Z"));
	uint32_t hold;

	(void)state;
	existed(&w, "b", "", at("2026-09-30T22:00:00Z"), 100 * EUR);
	hold = budgets_hold(w.b, &one.hold);
	assert_int_equal(line_of(&w, "b", "").carried, 90 * EUR);
	assert_int_equal(line_of(&w, "b", "").held, 4 * EUR);
	budgets_configure(w.b, &b, 1);
	assert_int_equal(line_of(&w, "b", "").carried, 90 * EUR);
	budgets_release(w.b, hold);
	spend(&w, "2026-10-31T20:00:00Z", 10);
	assert_int_equal(line_of(&w, "b", "").carried, 90 * EUR);
	world_free(&w);
}

/* What the period came to that ended last: what was spent in it, and what still runs has cost until
 * its end. */
static void test_what_ended(void **state)
{
	static const struct {
		const char *period, *now, *begin, *name;
		bool has;
	} rows[] = {
		{"month", "2026-11-10T12:00:00Z", "2026-09-30T22:00:00Z", "2026-10", true},
		{"month", "2026-11-10T12:00:00Z", "2026-08-31T22:00:00Z", "", false},
		{"quarter", "2027-01-10T12:00:00Z", "2026-09-30T22:00:00Z", "2026-Q4", true},
		{"2026-10-01..2026-10-31", "2026-11-10T12:00:00Z", "2026-09-30T22:00:00Z",
		 "2026-10-01..2026-10-31", true},
		{"2026-10-01..2026-11-10", "2026-11-10T12:00:00Z", "2026-09-30T22:00:00Z", "",
		 false}, /* it is not over */
		{"rolling 2d", "2026-11-10T12:00:00Z", "2026-09-30T22:00:00Z", "", false},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		const bool quarter = strcmp(rows[i].period, "quarter") == 0;
		struct conf_budget b;
		struct world w = rolls(&b, rows[i].period, 0, rows[i].now);
		struct budget_want one = want(&w, machine_of("h100"), 1, at("2026-10-31T13:00:00Z"),
					      at("2026-11-01T03:00:00Z"));

		print_message("# %s at %s\n", rows[i].period, rows[i].now);
		existed(&w, "b", "", at(rows[i].begin), 70 * EUR);
		(void)budgets_hold(w.b, &one.hold);
		spend(&w, "2026-10-15T12:00:00Z", 5);
		for (int again = 0; again < 2; again++) {
			const struct budget_line l = line_of(&w, "b", "");

			assert_int_equal(l.has_last, rows[i].has);
			if (rows[i].has) {
				assert_string_equal(l.last.name, rows[i].name);
				assert_int_equal(l.last_amount, 70 * EUR);
				assert_int_equal(l.last_spent, 5 * EUR);
				assert_int_equal(l.last_held, (quarter ? 14 : 10) * EUR);
			}
			budgets_configure(w.b, &b, 1);
		}
		world_free(&w);
	}
}

/* What rolled over may be spent, and the next period may not have it as well. */
static void test_a_job_has_what_rolled_over(void **state)
{
	struct conf_budget b;
	struct world w = rolls(&b, "month", 20, "2026-11-30T12:00:00Z");
	struct budget_want now = want(&w, machine_of("h100"), 60, at("2026-11-30T12:00:00Z"),
				      at("2026-11-30T14:00:00Z"));
	struct budget_want later = want(&w, machine_of("h100"), 60, at("2026-11-30T23:00:00Z"),
					at("2026-12-01T01:00:00Z"));
	struct budget_no no;

	(void)state;
	assert_int_equal(tried(&w, now).lack, BUDGET_LACKS_MONEY);
	existed(&w, "b", "", at("2026-09-30T22:00:00Z"), 100 * EUR);
	assert_null(tried(&w, now).budget);
	now.hold.rate_nano_h = 59 * EUR;
	assert_true(budgets_hold(w.b, &now.hold) == 0);
	no = tried(&w, now);
	assert_int_equal(no.limit, 120 * EUR);
	assert_true(budgets_lack(w.b, &no));
	no = tried(&w, later);
	assert_int_equal(no.lack, BUDGET_LACKS_LATER);
	assert_int_equal(no.limit, 100 * EUR);
	assert_int_equal(no.needs, 120 * EUR);
	world_free(&w);
}

static void test_days_of_the_last_period_are_kept(void **state)
{
	struct conf_budget b;
	struct world w = rolls(&b, "month", 20, "2026-11-10T12:00:00Z");

	(void)state;
	existed(&w, "b", "", at("2026-09-30T22:00:00Z"), 100 * EUR);
	spend(&w, "2026-10-15T12:00:00Z", 90);
	assert_int_equal(line_of(&w, "b", "").carried, 10 * EUR);
	assert_int_equal(budgets_forget(w.b, budgets_day(w.b, at("2026-11-10T12:00:00Z"))),
			 budgets_day(w.b, at("2026-09-30T22:00:00Z")));
	budgets_configure(w.b, &b, 1);
	assert_int_equal(line_of(&w, "b", "").carried, 10 * EUR);
	world_free(&w);
}

/* --- overrides -----------------------------------------------------------------------------------
 */

static void test_overrides_add(void **state)
{
	struct conf_budget list[2] = {budget("b", 100, "month"), budget("each", 10, "month")};
	const struct budget_override v[] = {
		{"b", "", false, 20 * EUR, at("2026-11-10T13:00:00Z"), 1},
		{"b", "", false, 5 * EUR, at("2026-12-24T00:00:00Z"), 2},
		{"each", "ann", false, 7 * EUR, at("2026-11-10T14:00:00Z"), 3},
		{"gone", "", false, 7 * EUR, at("2026-11-10T14:00:00Z"), 4},
		{"b", "", false, 1000 * EUR, at("2026-11-10T12:00:00Z"), 5}, /* it has ended */
	};
	struct budget_want one;
	struct world w;

	(void)state;
	list[1].each = CONF_EACH_USER;
	w = world_new("UTC", "2026-11-10T12:00:00Z", list, COUNT(list));
	one = want(&w, machine_of("h100"), 110, at("2026-11-10T12:00:00Z"),
		   at("2026-11-10T13:00:00Z"));
	assert_int_equal(tried(&w, one).lack, BUDGET_LACKS_MONEY);
	assert_true(tried(&w, one).lasting);
	assert_true(budgets_overrides(w.b, v, COUNT(v)));
	assert_false(budgets_overrides(w.b, v, COUNT(v))); /* the same */
	assert_null(tried(&w, one).budget);
	assert_int_equal(line_of(&w, "b", "").added, 25 * EUR);
	assert_int_equal(line_of(&w, "b", "").amount, 125 * EUR);
	assert_int_equal(line_of(&w, "b", "").left, 125 * EUR);
	/* Those who come later have theirs, and no others. */
	(void)want(&w, job_of("physics", "bob"), 1, 0, 0);
	(void)want(&w, job_of("physics", "ann"), 1, 0, 0);
	assert_int_equal(line_of(&w, "each", "ann").amount, 17 * EUR);
	assert_int_equal(line_of(&w, "each", "bob").amount, 10 * EUR);
	/* They end by themselves, which gives nobody room. */
	assert_int_equal(budgets_turn_ms(w.b), at("2026-11-10T13:00:00Z")); /* an override ends */
	assert_false(budgets_now(w.b, at("2026-11-10T12:59:59Z")));
	assert_int_equal(line_of(&w, "b", "").added, 25 * EUR);
	assert_false(budgets_now(w.b, at("2026-11-10T13:00:00Z")));
	assert_int_equal(line_of(&w, "b", "").added, 5 * EUR);
	assert_int_equal(line_of(&w, "each", "ann").added, 7 * EUR);
	assert_false(budgets_now(w.b, at("2026-11-10T14:00:00Z")));
	assert_int_equal(line_of(&w, "each", "ann").added, 0);
	/* One that is longer than the period counts in the next one, too. */
	assert_true(budgets_now(w.b, at("2026-12-01T00:00:00Z")));
	assert_int_equal(line_of(&w, "b", "").added, 5 * EUR);
	assert_false(budgets_now(w.b, at("2026-12-24T00:00:00Z")));
	assert_int_equal(line_of(&w, "b", "").added, 0);
	assert_false(budgets_overrides(w.b, NULL, 0));
	world_free(&w);
}

/* Percents are of the whole amount. */
static void test_steps_are_of_the_raised_amount(void **state)
{
	struct conf_budget b = budget("b", 100, "month");
	const struct budget_override v = {"b", "", false, 100 * EUR, INT64_MAX, 1};
	struct budget_want one;
	struct world w;

	(void)state;
	b.stop_at = 90;
	b.spot_only_at = 50;
	w = world_new("UTC", "2026-11-10T12:00:00Z", &b, 1);
	one = want(&w, machine_of("h100"), 60, at("2026-11-10T12:00:00Z"),
		   at("2026-11-10T13:00:00Z"));
	assert_int_equal(tried(&w, one).lack, BUDGET_WANTS_SPOT);
	assert_int_equal(tried(&w, one).left, 50 * EUR);
	assert_true(budgets_overrides(w.b, &v, 1));
	assert_null(tried(&w, one).budget);
	one.hold.rate_nano_h = 101 * EUR;
	assert_int_equal(tried(&w, one).left, 100 * EUR);
	one.hold.rate_nano_h = 181 * EUR;
	assert_int_equal(tried(&w, one).lack, BUDGET_LACKS_MONEY);
	world_free(&w);
}

/* --- the ladder ----------------------------------------------------------------------------------
 */

static void test_which_step(void **state)
{
	static const struct {
		uint32_t drain, requeue, kill;
		int64_t used, amount;
		enum period_when when;
		enum budget_step want;
	} rows[] = {
		{80, 90, 100, 79, 100, PERIOD_NOW, BUDGET_GOES_ON},
		{80, 90, 100, 80, 100, PERIOD_NOW, BUDGET_DRAINS},
		{80, 90, 100, 89, 100, PERIOD_NOW, BUDGET_DRAINS},
		{80, 90, 100, 90, 100, PERIOD_NOW, BUDGET_REQUEUES},
		{80, 90, 100, 99, 100, PERIOD_NOW, BUDGET_REQUEUES},
		{80, 90, 100, 100, 100, PERIOD_NOW, BUDGET_KILLS},
		{0, 90, 0, 1000, 100, PERIOD_NOW, BUDGET_REQUEUES},
		{0, 0, 120, 119, 100, PERIOD_NOW, BUDGET_GOES_ON},
		{0, 0, 120, 120, 100, PERIOD_NOW, BUDGET_KILLS},
		{0, 0, 0, 1000, 100, PERIOD_NOW, BUDGET_GOES_ON},
		{80, 80, 80, 80, 100, PERIOD_NOW, BUDGET_KILLS},
		{80, 90, 100, 90, 200, PERIOD_NOW, BUDGET_GOES_ON},
		{80, 90, 100, 100, 100, PERIOD_OVER, BUDGET_GOES_ON},
		{80, 90, 100, 100, 100, PERIOD_NOT_YET, BUDGET_GOES_ON},
		{80, 90, 100, 100, -1, PERIOD_NOW, BUDGET_GOES_ON}, /* there is no amount */
		{80, 90, 100, 0, 0, PERIOD_NOW, BUDGET_GOES_ON},    /* nothing may be spent ... */
		{80, 90, 100, 1, 0, PERIOD_NOW, BUDGET_KILLS},      /* ... and something is */
		{0, 0, 0, 1, 0, PERIOD_NOW, BUDGET_GOES_ON},
		{100, 0, 0, INT64_MAX, INT64_MAX, PERIOD_NOW, BUDGET_DRAINS},
		{100, 0, 0, INT64_MAX - 1, INT64_MAX, PERIOD_NOW, BUDGET_GOES_ON},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		const struct conf_budget b = {.drain_at = rows[i].drain,
					      .requeue_at = rows[i].requeue,
					      .kill_at = rows[i].kill};
		const struct budget_line l = {.budget = &b,
					      .limited = rows[i].amount >= 0,
					      .amount = rows[i].amount,
					      .when = rows[i].when};

		print_message("# %zu\n", i);
		assert_int_equal(budget_step(&l, rows[i].used), rows[i].want);
	}
	assert_string_equal(budget_step_str(BUDGET_GOES_ON), "");
	assert_string_equal(budget_step_str(BUDGET_KILLS), "kill");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_what_rolls_over),
		cmocka_unit_test(test_the_amount_was_another),
		cmocka_unit_test(test_a_new_budget_has_no_past),
		cmocka_unit_test(test_what_runs_over_counts_in_both),
		cmocka_unit_test(test_what_ended),
		cmocka_unit_test(test_another_kind_of_period),
		cmocka_unit_test(test_a_job_has_what_rolled_over),
		cmocka_unit_test(test_days_of_the_last_period_are_kept),
		cmocka_unit_test(test_overrides_add),
		cmocka_unit_test(test_steps_are_of_the_raised_amount),
		cmocka_unit_test(test_which_step),
	};

	return cmocka_run_group_tests_name("budget amounts", tests, NULL, NULL);
}
