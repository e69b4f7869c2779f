/* test_budget_set.c - amounts that are set instead of burstd.conf's: which one counts, for whom and
 * until when, what 0 means, and what rolls over from a period that had another. */
#include "budget_world.h"

static const char *said(struct world *w, struct budget_want one)
{
	static char text[300];
	struct budget_no no = tried(w, one);

	budget_no_print(&no, "EUR", HOUR, text, sizeof(text));
	return text;
}

/* The newest that has not ended counts; what is added comes on top. */
static void test_the_newest_counts(void **state)
{
	const struct conf_budget b = budget("b", 100, "month");
	const struct budget_override v[] = {
		{"b", "", true, 300 * EUR, at("2026-11-20T00:00:00Z"), 3},
		{"b", "", false, 20 * EUR, INT64_MAX, 4},
		{"b", "", true, 50 * EUR, at("2026-11-11T00:00:00Z"), 7},
		{"b", "", true, 999 * EUR, at("2026-11-10T12:00:00Z"), 9}, /* it has ended */
	};
	struct world w = world_new("UTC", "2026-11-10T12:00:00Z", &b, 1);

	(void)state;
	assert_int_equal(line_of(&w, "b", "").own, 100 * EUR);
	assert_int_equal(line_of(&w, "b", "").set_id, 0);
	(void)budgets_overrides(w.b, v, COUNT(v));
	for (int again = 0; again < 2; again++) {
		const struct budget_line l = line_of(&w, "b", "");

		assert_true(l.limited);
		assert_int_equal(l.own, 50 * EUR);
		assert_int_equal(l.set_id, 7);
		assert_int_equal(l.added, 20 * EUR);
		assert_int_equal(l.amount, 70 * EUR);
		assert_int_equal(l.left, 70 * EUR);
		budgets_configure(w.b, &b, 1);
	}
	assert_false(budgets_now(w.b, at("2026-11-10T23:59:59Z")));
	assert_int_equal(line_of(&w, "b", "").own, 50 * EUR);
	/* Its end gives room, as the one before it is more. */
	assert_true(budgets_now(w.b, at("2026-11-11T00:00:00Z")));
	assert_int_equal(line_of(&w, "b", "").own, 300 * EUR);
	assert_int_equal(line_of(&w, "b", "").set_id, 3);
	/* The end of that one gives none. */
	assert_false(budgets_now(w.b, at("2026-11-20T00:00:00Z")));
	assert_int_equal(line_of(&w, "b", "").amount, 120 * EUR);
	assert_int_equal(line_of(&w, "b", "").set_id, 0);
	world_free(&w);
}

/* true: somebody has more room than before. */
static void test_who_has_more_room(void **state)
{
	static const struct {
		int64_t had, has; /* -1: nothing is set */
		const char *had_until, *until;
		bool want;
	} rows[] = {
		{-1, 101, NULL, "2026-11-20T00:00:00Z", true},
		{-1, 100, NULL, "2026-11-20T00:00:00Z", false},
		{-1, 99, NULL, "2026-11-20T00:00:00Z", false},
		{0, -1, "2026-11-20T00:00:00Z", NULL, true},
		{300, -1, "2026-11-20T00:00:00Z", NULL, false},
		/* In the next period. */
		{300, 300, "2026-11-20T00:00:00Z", "2026-12-01T00:00:01Z", true},
		{300, 300, "2026-11-20T00:00:00Z", "2026-12-01T00:00:00Z", false},
		{50, 50, "2026-12-20T00:00:00Z", "2026-11-20T00:00:00Z", true},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		const struct conf_budget b = budget("b", 100, "month");
		struct world w = world_new("UTC", "2026-11-10T12:00:00Z", &b, 1);
		struct budget_override o = {"b", "", true, rows[i].had * EUR, 0, 1};

		print_message("# %zu\n", i);
		o.until_ms = rows[i].had >= 0 ? at(rows[i].had_until) : 0;
		(void)budgets_overrides(w.b, &o, rows[i].had >= 0);
		o.nano = rows[i].has * EUR;
		o.until_ms = rows[i].has >= 0 ? at(rows[i].until) : 0;
		assert_int_equal(budgets_overrides(w.b, &o, rows[i].has >= 0), rows[i].want);
		world_free(&w);
	}
}

/* Less than is spent: what is left is below zero, and new jobs wait. */
static void test_less_than_is_spent(void **state)
{
	struct conf_budget b = budget("b", 100, "month");
	const struct budget_override o = {"b", "", true, 40 * EUR, INT64_MAX, 1};
	struct budget_spender m = machine_of("h100");
	struct world w;

	(void)state;
	b.requeue_at = 110;
	b.kill_at = 160;
	w = world_new("UTC", "2026-11-10T12:00:00Z", &b, 1);
	(void)budgets_spent(w.b, budgets_spender(w.b, &m),
			    budgets_day(w.b, at("2026-11-10T12:00:00Z")), 60 * EUR);
	(void)budgets_overrides(w.b, &o, 1);
	assert_int_equal(line_of(&w, "b", "").left, -20 * EUR);
	assert_string_equal(
		said(&w, want(&w, m, 1, at("2026-11-10T12:00:00Z"), at("2026-11-10T13:00:00Z"))),
		"budget b: this job needs 1.00 EUR for its 1 h, 0.00 of 40.00 left in "
		"2026-11");
	/* The ladder goes by percent of the new amount. */
	{
		const struct budget_line l = line_of(&w, "b", "");

		assert_int_equal(budget_step(&l, l.spent), BUDGET_REQUEUES);
		assert_int_equal(budget_step(&l, 64 * EUR), BUDGET_KILLS);
	}
	world_free(&w);
}

/* 0 is not "no limit": nothing may be spent, on spot machines neither. */
static void test_nothing_may_be_spent(void **state)
{
	const struct conf_budget b = budget("b", 100, "month");
	const struct budget_override o = {"b", "", true, 0, INT64_MAX, 1};
	struct budget_spender m = machine_of("h100");
	struct world w = world_new("UTC", "2026-11-10T12:00:00Z", &b, 1);
	struct budget_want one;
	struct budget_no no;

	(void)state;
	m.market = PROVIDER_SPOT;
	one = want(&w, m, 1, at("2026-11-10T12:00:00Z"), at("2026-11-10T13:00:00Z"));
	assert_null(tried(&w, one).budget);
	(void)budgets_overrides(w.b, &o, 1);
	assert_true(line_of(&w, "b", "").limited);
	assert_int_equal(line_of(&w, "b", "").amount, 0);
	assert_int_equal(line_of(&w, "b", "").left, 0);
	no = tried(&w, one);
	assert_int_equal(no.lack, BUDGET_LACKS_MONEY);
	assert_true(no.lasting);
	assert_true(budgets_lack(w.b, &no));
	assert_string_equal(said(&w, one), "budget b: this job needs 1.00 EUR for its 1 h, 0.00 of "
					   "0.00 left in 2026-11");
	one.hold.from_ms = at("2026-12-01T00:00:00Z"); /* nor in the next period */
	one.hold.until_ms = at("2026-12-01T01:00:00Z");
	assert_non_null(tried(&w, one).budget);
	assert_true(budgets_overrides(w.b, NULL, 0));
	assert_false(budgets_lack(w.b, &no));
	world_free(&w);
}

/* Where nothing is left nothing starts, be it for no money: what has no price, or is to be paid for
 * later, waits as well, and is not let go again at once (I30). */
static void test_what_costs_nothing_waits_as_well(void **state)
{
	static const struct {
		int64_t rate;
		const char *from, *until;
	} rows[] = {{0, "2026-11-10T12:00:00Z", "2026-11-10T13:00:00Z"},
		    {1, "2026-12-01T00:00:00Z", "2026-12-01T01:00:00Z"}};
	struct conf_budget b = budget("b", 100, "month");
	const struct budget_override o = {"b", "", true, 0, INT64_MAX, 1};

	(void)state;
	b.unknown = CONF_UNKNOWN_ALLOW;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct world w = world_new("UTC", "2026-11-10T12:00:00Z", &b, 1);
		struct budget_no no;

		(void)budgets_overrides(w.b, &o, 1);
		no = tried(&w, want(&w, machine_of("h100"), rows[i].rate, at(rows[i].from),
				    at(rows[i].until)));
		assert_int_equal(no.lack, BUDGET_LACKS_MONEY);
		assert_int_equal(no.needs, 0);
		assert_true(budgets_lack(w.b, &no));
		(void)budgets_overrides(w.b, NULL, 0);
		assert_false(budgets_lack(w.b, &no));
		world_free(&w);
	}
}

/* A job that runs on in the next period counts there against what is set then. */
static void test_the_next_period(void **state)
{
	static const struct {
		const char *until;
		int64_t want;
	} rows[] = {{"2026-11-30T23:59:59Z", 100},
		    {"2026-12-01T00:00:00Z", 100},
		    {"2026-12-01T00:00:01Z", 7}};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		const struct conf_budget b = budget("b", 100, "month");
		const struct budget_override o = {"b", "", true, 7 * EUR, at(rows[i].until), 1};
		struct world w = world_new("UTC", "2026-11-30T12:00:00Z", &b, 1);
		struct budget_no no;

		(void)budgets_overrides(w.b, &o, 1);
		no = tried(&w, want(&w, machine_of("h100"), 101, at("2026-11-30T23:59:59Z"),
				    at("2026-12-01T01:00:00Z")));
		assert_int_equal(no.lack, BUDGET_LACKS_LATER);
		assert_int_equal(no.limit, rows[i].want * EUR);
		assert_int_equal(no.left, rows[i].want * EUR);
		assert_true(budgets_lack(w.b, &no));
		world_free(&w);
	}
}

/* A value has its line as soon as something is set for it, and whoever comes later has that. */
static void test_a_line_for_whom_it_is_set(void **state)
{
	struct conf_budget list[2] = {budget("b", 100, "month"), budget("each", 10, "month")};
	const struct budget_override v[] = {
		{"each", "ann", true, 7 * EUR, INT64_MAX, 1},
		{"each", "bob", false, 7 * EUR, INT64_MAX, 2},
		{"each", "", true, 8 * EUR, INT64_MAX, 3},    /* the file said otherwise then, */
		{"b", "ann", true, 9 * EUR, INT64_MAX, 4},    /* ... and here, */
		{"gone", "ann", true, 9 * EUR, INT64_MAX, 5}, /* ... and here */
	};
	struct world w;

	(void)state;
	list[1].each = CONF_EACH_USER;
	w = world_new("UTC", "2026-11-10T12:00:00Z", list, COUNT(list));
	assert_int_equal(budgets_lines(w.b), 1);
	(void)budgets_overrides(w.b, v, COUNT(v));
	for (int again = 0; again < 2; again++) {
		assert_int_equal(budgets_lines(w.b), 3);
		assert_int_equal(line_of(&w, "each", "ann").amount, 7 * EUR);
		assert_int_equal(line_of(&w, "each", "ann").set_id, 1);
		assert_int_equal(line_of(&w, "each", "bob").amount, 17 * EUR);
		assert_int_equal(line_of(&w, "b", "").amount, 100 * EUR);
		budgets_configure(w.b, list, COUNT(list));
	}
	(void)want(&w, job_of("physics", "ann"), 1, 0, 0);
	(void)want(&w, job_of("physics", "carl"), 1, 0, 0);
	assert_int_equal(budgets_lines(w.b), 4);
	assert_int_equal(line_of(&w, "each", "ann").amount, 7 * EUR);
	assert_int_equal(line_of(&w, "each", "carl").amount, 10 * EUR);
	world_free(&w);
}

/* --- rollover ------------------------------------------------------------------------------------
 */

static void spend(struct world *w, const char *user, const char *day, int64_t eur)
{
	const struct budget_spender s = job_of("physics", user);

	(void)budgets_spent(w->b, budgets_spender(w->b, &s), budgets_day(w->b, at(day)), eur * EUR);
}

/* What is left of the amount of then, which was each one's own, up to so much of that of now. */
static void test_what_rolls_over(void **state)
{
	const int64_t october = at("2026-10-01T00:00:00Z");
	struct conf_budget b = budget("each", 100, "month");
	const struct budget_override v[] = {
		{"each", "ann", true, 1000 * EUR, INT64_MAX, 1},
		{"each", "bob", true, 0, INT64_MAX, 2},
	};
	struct world w;

	(void)state;
	b.each = CONF_EACH_USER;
	b.rollover = 50;
	w = world_new("UTC", "2026-11-10T12:00:00Z", &b, 1);
	existed(&w, "each", "", october, 100 * EUR);
	existed(&w, "each", "ann", october, 700 * EUR);
	existed(&w, "each", "bob", october, 100 * EUR);
	existed(&w, "each", "dora", october, 30 * EUR);
	spend(&w, "ann", "2026-10-15T12:00:00Z", 260);
	spend(&w, "carl", "2026-10-15T12:00:00Z", 90);
	spend(&w, "dora", "2026-10-15T12:00:00Z", 10);
	(void)budgets_overrides(w.b, v, COUNT(v));
	for (int again = 0; again < 2; again++) {
		assert_int_equal(line_of(&w, "each", "ann").carried, 440 * EUR);
		assert_int_equal(line_of(&w, "each", "ann").amount, 1440 * EUR);
		assert_int_equal(line_of(&w, "each", "ann").last_amount, 700 * EUR);
		assert_int_equal(line_of(&w, "each", "bob").amount, 0);
		assert_int_equal(line_of(&w, "each", "carl").carried, 10 * EUR);
		assert_int_equal(line_of(&w, "each", "carl").last_amount, 100 * EUR);
		assert_int_equal(line_of(&w, "each", "dora").carried, 20 * EUR);
		budgets_configure(w.b, &b, 1);
	}
	/* It was set again, to what the others had. */
	existed(&w, "each", "ann", october, 100 * EUR);
	assert_int_equal(line_of(&w, "each", "ann").carried, 0);
	world_free(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_the_newest_counts),
		cmocka_unit_test(test_who_has_more_room),
		cmocka_unit_test(test_less_than_is_spent),
		cmocka_unit_test(test_nothing_may_be_spent),
		cmocka_unit_test(test_what_costs_nothing_waits_as_well),
		cmocka_unit_test(test_the_next_period),
		cmocka_unit_test(test_a_line_for_whom_it_is_set),
		cmocka_unit_test(test_what_rolls_over),
	};

	return cmocka_run_group_tests_name("budget amounts that are set", tests, NULL, NULL);
}
