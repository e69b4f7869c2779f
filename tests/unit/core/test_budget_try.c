/* test_budget_try.c - which jobs fit into all budgets that they concern, and what is said of the
 * others. */
#include "budget_world.h"

#define NOW "2026-11-10T12:00:00Z"

/* A machine for so many hours from now on. */
static struct budget_want hours(struct world *w, struct budget_spender s, int64_t rate, int64_t n)
{
	return want(w, s, rate, at(NOW), at(NOW) + n * HOUR);
}

static void spend(struct world *w, struct budget_spender s, int64_t eur)
{
	(void)budgets_spent(w->b, budgets_spender(w->b, &s), budgets_day(w->b, at(NOW)), eur * EUR);
}

/* --- one budget ---------------------------------------------------------------------------------
 */

static void test_to_the_last_unit(void **state)
{
	struct conf_budget b = budget("b", 10, "month");
	struct world w = world_new("UTC", NOW, &b, 1);
	struct budget_want one = hours(&w, machine_of("h100"), 1, 4), held;
	struct budget_no no;

	(void)state;
	held = hours(&w, machine_of("h100"), 1, 3);
	(void)budgets_hold(w.b, &held.hold);
	spend(&w, machine_of("h100"), 3);
	assert_null(tried(&w, one).budget);
	one.hold.until_ms++;
	no = tried(&w, one);
	assert_ptr_equal(no.budget, &b);
	assert_int_equal(no.lack, BUDGET_LACKS_MONEY);
	assert_int_equal(no.needs, budget_cost(EUR, 0, 4 * HOUR + 1));
	assert_int_equal(no.left, 4 * EUR);
	assert_int_equal(no.limit, 10 * EUR);
	assert_string_equal(no.period, "2026-11");
	assert_string_equal(no.value, "");
	assert_int_equal(no.resets_ms, at("2026-12-01T00:00:00Z"));
	assert_false(no.lasting);
	/* What is over the budget leaves nothing, and no less. */
	spend(&w, machine_of("h100"), 30);
	no = tried(&w, one);
	assert_int_equal(no.left, 0);
	assert_false(no.lasting);
	one.n = 3;
	assert_true(tried(&w, one).lasting); /* 12 of 10 */
	world_free(&w);
}

static void test_many_holds_are_one_try(void **state)
{
	struct conf_budget b = budget("b", 10, "month");
	struct world w = world_new("UTC", NOW, &b, 1);
	struct budget_want two[] = {hours(&w, machine_of("h100"), 1, 3),
				    hours(&w, machine_of("a100"), 1, 1)};
	struct budget_no no;

	(void)state;
	two[0].n = 3;
	assert_true(budgets_try(w.b, two, 2, false, &no));
	two[1].n = 2;
	assert_false(budgets_try(w.b, two, 2, false, &no));
	assert_int_equal(no.needs, 11 * EUR);
	assert_int_equal(no.left, 10 * EUR);
	assert_true(no.lasting);
	world_free(&w);
}

/* What one job takes the next does not have; a refused one takes nothing. */
static void test_tries_count_until_they_are_forgotten(void **state)
{
	struct conf_budget list[] = {budget("a", 10, "month"), budget("b", 6, "month")};
	struct world w;
	struct budget_want one, other;
	struct budget_no no;

	(void)state;
	list[1].pools = LIST("h100");
	w = world_new("UTC", NOW, list, 2);
	one = hours(&w, machine_of("h100"), 1, 4);
	other = hours(&w, machine_of("a100"), 1, 4);
	assert_true(budgets_try(w.b, &one, 1, false, &no));
	assert_true(budgets_try(w.b, &one, 1, true, &no));
	assert_false(budgets_try(w.b, &one, 1, true, &no)); /* fits a, not b */
	assert_string_equal(no.budget->name, "b");
	assert_int_equal(no.left, 2 * EUR);
	assert_true(budgets_try(w.b, &other, 1, true, &no));
	assert_false(budgets_try(w.b, &other, 1, true, &no));
	assert_string_equal(no.budget->name, "a");
	assert_int_equal(no.left, 2 * EUR);
	assert_int_equal(line_of(&w, "a", "").held, 0); /* it is not held yet */
	assert_int_equal(line_of(&w, "a", "").left, 10 * EUR);
	budgets_forget_tries(w.b);
	assert_true(budgets_try(w.b, &one, 1, true, &no));
	world_free(&w);
}

/* What was tried may be taken afterwards: once, if it fitted, and was the last. */
static void test_what_fitted_is_taken(void **state)
{
	struct conf_budget list[] = {budget("a", 10, "month")};
	struct budget_want one, more;
	struct budget_no no;
	struct world w;

	(void)state;
	w = world_new("UTC", NOW, list, 1);
	one = hours(&w, machine_of("h100"), 1, 4);
	more = hours(&w, machine_of("h100"), 1, 7);
	budgets_take(w.b); /* nothing was tried */
	assert_true(budgets_try(w.b, &one, 1, false, &no));
	budgets_take(w.b);
	budgets_take(w.b);
	assert_false(budgets_try(w.b, &more, 1, false, &no));
	assert_int_equal(no.left, 6 * EUR);
	budgets_take(w.b);
	assert_true(budgets_try(w.b, &one, 1, true, &no));
	budgets_take(w.b);
	assert_false(budgets_try(w.b, &more, 1, false, &no));
	assert_int_equal(no.left, 2 * EUR);
	budgets_forget_tries(w.b);
	assert_true(budgets_try(w.b, &more, 1, false, &no));
	budgets_configure(w.b, list, 1);
	budgets_take(w.b);
	assert_true(budgets_try(w.b, &more, 1, false, &no));
	budgets_forget_tries(w.b);
	budgets_take(w.b);
	assert_true(budgets_try(w.b, &more, 1, false, &no));
	world_free(&w);
}

/* --- several ------------------------------------------------------------------------------------
 */

static void test_all_must_agree(void **state)
{
	static const struct {
		int64_t left[3];
		const char *want; /* the one that lacks most; NULL: it fits */
	} rows[] = {
		{{4, 4, 4}, NULL}, {{3, 4, 4}, "a"}, {{4, 3, 4}, "b"}, {{4, 4, 3}, "c"},
		{{3, 2, 4}, "b"},  {{3, 3, 1}, "c"}, {{1, 2, 3}, "a"}, {{2, 2, 2}, "a"},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct conf_budget list[] = {budget("a", rows[i].left[0], "month"),
					     budget("b", rows[i].left[1], "quarter"),
					     budget("c", rows[i].left[2], "rolling 3d")};
		struct world w;
		struct budget_no no;

		list[0].accounts = LIST("physics");
		list[1].users = LIST("ann");
		list[2].each = CONF_EACH_USER;
		w = world_new("UTC", NOW, list, 3);
		no = tried(&w, hours(&w, job_of("physics", "ann"), 1, 4));
		print_message("# %zu\n", i);
		if (rows[i].want == NULL)
			assert_null(no.budget);
		else
			assert_string_equal(no.budget->name, rows[i].want);
		if (rows[i].want != NULL)
			assert_string_equal(no.value, rows[i].want[0] == 'c' ? "ann" : "");
		world_free(&w);
	}
}

/* It never fits if one of them is too small, whichever lacks most now. */
static void test_lasting_is_of_any(void **state)
{
	struct conf_budget list[] = {budget("full", 20, "month"), budget("small", 3, "month")};
	struct world w;
	struct budget_want one;
	struct budget_no no;

	(void)state;
	list[0].users = LIST("ann");
	list[1].accounts = LIST("physics");
	w = world_new("UTC", NOW, list, 2);
	one = hours(&w, job_of("physics", "ann"), 1, 4);
	spend(&w, job_of("chem", "ann"), 20);
	no = tried(&w, one);
	assert_string_equal(no.budget->name, "full");
	assert_true(no.lasting);
	one = hours(&w, job_of("physics", "ann"), 1, 3);
	assert_false(tried(&w, one).lasting);
	world_free(&w);
}

/* --- rates --------------------------------------------------------------------------------------
 */

static void test_rate(void **state)
{
	struct conf_budget b = budget("b", 0, "month");
	struct world w;
	struct budget_want one, held;
	struct budget_no no;

	(void)state;
	b.rate_nano_h = 10 * EUR;
	b.each = CONF_EACH_ACCOUNT;
	w = world_new("UTC", NOW, &b, 1);
	held = hours(&w, job_of("physics", "bob"), 4, 0);
	(void)budgets_hold(w.b, &held.hold);
	one = hours(&w, job_of("physics", "ann"), 3, 1000000);
	one.n = 2;
	assert_null(tried(&w, one).budget);
	assert_true(budgets_try(w.b, &one, 1, true, &no));
	one.n = 1;
	no = tried(&w, one);
	assert_int_equal(no.lack, BUDGET_LACKS_RATE);
	assert_int_equal(no.needs, 3 * EUR);
	assert_int_equal(no.left, 0);
	assert_int_equal(no.limit, 10 * EUR);
	assert_string_equal(no.value, "physics");
	assert_string_equal(no.period, "");
	assert_int_equal(no.resets_ms, 0);
	assert_false(no.lasting);
	assert_false(tried(&w, hours(&w, job_of("physics", "ann"), 10, 1)).lasting); /* all of it */
	one.n = 4;
	assert_true(tried(&w, one).lasting);
	/* Without an end is no matter of a rate. */
	budgets_forget_tries(w.b);
	one.n = 1;
	one.hold.until_ms = INT64_MAX;
	assert_null(tried(&w, one).budget);
	/* A boot is part of no rate. */
	one.n = 100;
	one.hold.kind = BUDGET_BOOT;
	assert_null(tried(&w, one).budget);
	world_free(&w);
}

static void test_amount_and_rate(void **state)
{
	static const struct {
		int64_t rate, hours;
		int want; /* enum budget_lack; -1: it fits */
		bool lasting;
	} rows[] = {
		{5, 4, -1, false},
		{5, 5, BUDGET_LACKS_MONEY, true},
		{6, 3, BUDGET_LACKS_RATE, true},
		{7, 3, BUDGET_LACKS_RATE, true}, /* lacks 2 an hour, and 1 in all */
		{6, 9, BUDGET_LACKS_MONEY, true},
	};
	struct conf_budget b = budget("b", 20, "month");
	struct world w;

	(void)state;
	b.rate_nano_h = 5 * EUR;
	w = world_new("UTC", NOW, &b, 1);
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct budget_no no =
			tried(&w, hours(&w, machine_of("h100"), rows[i].rate, rows[i].hours));

		print_message("# %zu\n", i);
		assert_int_equal(no.budget == NULL, rows[i].want < 0);
		if (rows[i].want < 0)
			continue;
		assert_int_equal(no.lack, rows[i].want);
		assert_int_equal(no.lasting, rows[i].lasting);
		assert_int_equal(no.limit, (rows[i].want == BUDGET_LACKS_RATE ? 5 : 20) * EUR);
		assert_int_equal(no.period[0] != '\0', rows[i].want == BUDGET_LACKS_MONEY);
	}
	world_free(&w);
}

/* --- percents -----------------------------------------------------------------------------------
 */

static void test_stop_and_spot(void **state)
{
	static const struct {
		uint32_t spot_only_at, stop_at;
		enum provider_market market;
		int64_t fits; /* euros; one more does not */
		enum budget_lack lack;
		bool lasting;
	} rows[] = {
		{0, 100, PROVIDER_ON_DEMAND, 100, BUDGET_LACKS_MONEY, true},
		{0, 80, PROVIDER_ON_DEMAND, 80, BUDGET_LACKS_MONEY, true},
		{0, 80, PROVIDER_SPOT, 80, BUDGET_LACKS_MONEY, true},
		{60, 80, PROVIDER_ON_DEMAND, 60, BUDGET_WANTS_SPOT, false},
		{60, 80, PROVIDER_RESERVED, 60, BUDGET_WANTS_SPOT, false},
		{60, 80, PROVIDER_SPOT, 80, BUDGET_LACKS_MONEY, true},
		{60, 0, PROVIDER_ON_DEMAND, 60, BUDGET_WANTS_SPOT, false},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct conf_budget b = budget("b", 100, "month");
		struct budget_spender m = machine_of("h100");
		struct world w;
		struct budget_no no;

		print_message("# %zu\n", i);
		b.spot_only_at = rows[i].spot_only_at;
		b.stop_at = rows[i].stop_at;
		m.market = rows[i].market;
		w = world_new("UTC", NOW, &b, 1);
		assert_null(tried(&w, hours(&w, m, 1, rows[i].fits)).budget);
		no = tried(&w, hours(&w, m, 1, rows[i].fits + 1));
		assert_int_equal(no.lack, rows[i].lack);
		assert_int_equal(no.left, rows[i].fits * EUR);
		assert_int_equal(no.limit, 100 * EUR);
		assert_int_equal(no.lasting, rows[i].lasting);
		no = tried(&w, hours(&w, m, 1, 80)); /* all that spot may have */
		assert_int_equal(no.lack,
				 rows[i].fits < 80 ? BUDGET_WANTS_SPOT : BUDGET_LACKS_MONEY);
		/* More than spot may have is no matter of spot. */
		spend(&w, m, 81);
		no = tried(&w, hours(&w, m, 1, 20));
		assert_int_equal(no.lack,
				 rows[i].stop_at != 0 ? BUDGET_LACKS_MONEY : BUDGET_WANTS_SPOT);
		world_free(&w);
	}
}

/* stop_at 0: the budget only counts, whatever its period. */
static void test_what_only_counts(void **state)
{
	static const char *const periods[] = {"month", "2026-12-01..2026-12-31",
					      "2026-10-01..2026-10-31"};

	(void)state;
	for (size_t i = 0; i < COUNT(periods); i++) {
		struct conf_budget b = budget("b", 10, periods[i]);
		struct budget_spender spot = machine_of("h100"), od = machine_of("h100");
		struct world w;

		spot.market = PROVIDER_SPOT;
		b.stop_at = 0;
		w = world_new("UTC", NOW, &b, 1);
		assert_null(tried(&w, hours(&w, od, 1, 11)).budget);
		assert_null(tried(&w, want(&w, od, 1, at(NOW), INT64_MAX)).budget);
		/* Nothing is held for longer than must be. */
		assert_int_equal(budgets_reserve_ms(w.b, budgets_spender(w.b, &od), -1, 7), 0);
		b.spot_only_at = 50;
		assert_null(tried(&w, hours(&w, spot, 1, 11)).budget);
		assert_non_null(tried(&w, hours(&w, od, 1, 11)).budget);
		assert_int_equal(budgets_reserve_ms(w.b, budgets_spender(w.b, &od), -1, 7), -1);
		world_free(&w);
	}
}

/* Nothing more begins when all is used, even what is to cost nothing at first. */
static void test_all_is_used(void **state)
{
	struct conf_budget b = budget("b", 10, "month");
	struct world w = world_new("UTC", NOW, &b, 1);
	struct budget_want none = hours(&w, machine_of("h100"), 1, 0);

	(void)state;
	spend(&w, machine_of("h100"), 9);
	assert_null(tried(&w, none).budget);
	spend(&w, machine_of("h100"), 1);
	assert_int_equal(tried(&w, none).lack, BUDGET_LACKS_MONEY);
	assert_non_null(tried(&w, none).budget);
	world_free(&w);
}

/* One machine on demand makes the job one on demand. */
static void test_a_job_of_both_markets(void **state)
{
	struct conf_budget b = budget("b", 100, "month");
	struct budget_spender od = machine_of("h100"), spot = machine_of("h100");
	struct budget_want two[2];
	struct budget_no no;
	struct world w;

	(void)state;
	b.spot_only_at = 50;
	spot.market = PROVIDER_SPOT;
	w = world_new("UTC", NOW, &b, 1);
	two[0] = hours(&w, od, 1, 1);
	two[1] = hours(&w, spot, 1, 60);
	assert_false(budgets_try(w.b, two, 2, false, &no));
	assert_int_equal(no.lack, BUDGET_WANTS_SPOT);
	two[0] = two[1];
	two[1].hold.until_ms -= 20 * HOUR;
	assert_true(budgets_try(w.b, two, 2, false, &no));
	world_free(&w);
}

/* --- after the period ---------------------------------------------------------------------------
 */

static void test_later(void **state)
{
	struct conf_budget b = budget("b", 10, "month");
	struct world w = world_new("UTC", "2026-11-30T20:00:00Z", &b, 1);
	struct budget_want one = want(&w, machine_of("h100"), 1, at("2026-11-30T20:00:00Z"),
				      at("2026-12-01T06:00:00Z"));
	struct budget_no no;

	(void)state;
	assert_null(tried(&w, one).budget);
	(void)budgets_hold(w.b, &one.hold); /* 4 and 6 */
	no = tried(&w, one);
	assert_int_equal(no.lack, BUDGET_LACKS_LATER);
	assert_int_equal(no.needs, 6 * EUR);
	assert_int_equal(no.left, 4 * EUR);
	assert_false(no.lasting);
	one.hold.until_ms -= 2 * HOUR;
	assert_true(budgets_try(w.b, &one, 1, true, &no)); /* 8 and 10 */
	one.hold.until_ms = at("2026-12-01T00:00:00Z") + 1;
	one.hold.from_ms = at("2026-12-01T00:00:00Z");
	no = tried(&w, one);
	assert_int_equal(no.lack, BUDGET_LACKS_LATER);
	assert_int_equal(no.left, 0);
	one.hold.until_ms += 10 * HOUR;
	assert_true(tried(&w, one).lasting);
	world_free(&w);
}

static void test_periods_that_are_not_now(void **state)
{
	struct conf_budget list[] = {budget("soon", 100, "2026-12-01..2026-12-31"),
				     budget("past", 100, "2026-10-01..2026-10-31")};
	struct world w = world_new("UTC", NOW, list, 1);
	struct budget_want one = hours(&w, machine_of("h100"), 1, 1);
	struct budget_no no = tried(&w, one);

	(void)state;
	assert_int_equal(no.lack, BUDGET_NOT_YET);
	assert_string_equal(no.period, "2026-12-01..2026-12-31");
	assert_int_equal(no.resets_ms, at("2026-12-01T00:00:00Z"));
	assert_false(no.lasting);
	budgets_configure(w.b, list + 1, 1);
	no = tried(&w, one);
	assert_int_equal(no.lack, BUDGET_OVER);
	assert_int_equal(no.resets_ms, 0);
	assert_true(no.lasting);
	world_free(&w);
}

/* --- what is not known --------------------------------------------------------------------------
 */

static void test_no_limit(void **state)
{
	struct conf_budget list[] = {budget("lease", 1, "month"), budget("full", 1000, "month")};
	struct world w;
	struct budget_want one;
	struct budget_no no;

	(void)state;
	list[0].reserve = CONF_RESERVE_LEASE;
	w = world_new("UTC", NOW, list, 2);
	spend(&w, machine_of("h100"), 1);
	one = want(&w, machine_of("h100"), 1, at(NOW), INT64_MAX);
	no = tried(&w, one);
	assert_int_equal(no.lack, BUDGET_NO_LIMIT);
	assert_string_equal(no.budget->name, "full"); /* whose rule it is */
	assert_true(no.lasting);
	world_free(&w);
}

static void test_no_price(void **state)
{
	static const struct {
		int unknown[2];
		const char *want;
	} rows[] = {
		{{CONF_UNKNOWN_REFUSE, CONF_UNKNOWN_REFUSE}, "a"},
		{{CONF_UNKNOWN_ALLOW, CONF_UNKNOWN_REFUSE}, "b"},
		{{CONF_UNKNOWN_REFUSE, CONF_UNKNOWN_ALLOW}, "a"},
		{{CONF_UNKNOWN_ALLOW, CONF_UNKNOWN_ALLOW}, NULL},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct conf_budget list[] = {budget("a", 1, "month"), budget("b", 1, "month")};
		struct world w;
		struct budget_want two[2];
		struct budget_no no;

		list[0].unknown = rows[i].unknown[0];
		list[1].unknown = rows[i].unknown[1];
		w = world_new("UTC", NOW, list, 2);
		two[0] = hours(&w, machine_of("h100"), 1, 1);
		two[1] = hours(&w, machine_of("h100"), 0, 1);
		assert_int_equal(budgets_try(w.b, two, 2, false, &no), rows[i].want == NULL);
		if (rows[i].want != NULL) {
			assert_int_equal(no.lack, BUDGET_NO_PRICE);
			assert_string_equal(no.budget->name, rows[i].want);
		}
		world_free(&w);
	}
}

static void test_no_account(void **state)
{
	struct conf_budget list[] = {budget("a", 1, "month"), budget("b", 1, "month"),
				     budget("c", 1, "month")};
	struct world w;
	struct budget_want two[2];
	struct budget_no no;

	(void)state;
	list[0].accounts = LIST("physics");
	list[0].unknown = CONF_UNKNOWN_ALLOW;
	list[1].accounts = LIST("chem");
	list[2].accounts = LIST("bio");
	w = world_new("UTC", NOW, list, 3);
	two[0] = hours(&w, machine_of("h100"), 1, 1);
	two[1] = hours(&w, job_of("", "ann"), 1, 1);
	assert_false(budgets_try(w.b, two, 2, true, &no));
	assert_int_equal(no.lack, BUDGET_NO_ACCOUNT);
	assert_string_equal(no.budget->name, "b");
	assert_false(no.lasting);
	world_free(&w);
}

static void test_without_budgets_all_fits(void **state)
{
	struct conf_budget b = budget("b", 1, "month");
	struct world w = world_new("UTC", NOW, &b, 0);
	struct budget_want one = want(&w, machine_of("h100"), 0, at(NOW), INT64_MAX);

	(void)state;
	assert_null(tried(&w, one).budget);
	budgets_configure(w.b, &b, 1);
	one = want(&w, job_of("physics", "ann"), 1000, at(NOW), INT64_MAX);
	assert_null(tried(&w, one).budget); /* it concerns none */
	assert_false(budgets_concern(w.b, one.hold.spender));
	world_free(&w);
}

/* P4: a machine that has ended is paid for until the end of its hour, which may be in the next
 * month, or on the next day of a rolling window: that is spent before the time has come. */
static void test_what_is_billed_ahead(void **state)
{
	struct conf_budget list[] = {budget("month", 10, "month"),
				     budget("roll", 10, "rolling 7d")};
	struct budget_want later, over;

	(void)state;
	for (size_t i = 0; i < COUNT(list); i++) {
		struct world w = world_new("UTC", "2026-11-30T23:30:00Z", &list[i], 1);
		const bool rolls = i == 1;
		uint32_t who;
		int64_t tomorrow = budgets_day(w.b, at("2026-12-01T00:30:00Z"));

		print_message("# %s\n", list[i].name);
		later = want(&w, machine_of("h100"), 1, at("2026-12-01T00:00:00Z"),
			     at("2026-12-01T04:00:00Z"));
		over = later;
		over.hold.until_ms += 2 * HOUR;
		who = later.hold.spender;
		(void)budgets_spent(w.b, who, tomorrow, 5 * EUR);
		assert_int_equal(line_of(&w, list[i].name, "").spent, 0);
		assert_int_equal(line_of(&w, list[i].name, "").later, rolls ? 0 : 5 * EUR);
		assert_int_equal(line_of(&w, list[i].name, "").left, rolls ? 5 * EUR : 10 * EUR);
		assert_null(tried(&w, later).budget);
		assert_int_equal(tried(&w, over).left, 5 * EUR);
		assert_int_equal(tried(&w, over).lack,
				 rolls ? BUDGET_LACKS_MONEY : BUDGET_LACKS_LATER);
		(void)budgets_now(w.b, at("2026-12-01T00:00:00Z"));
		assert_int_equal(line_of(&w, list[i].name, "").spent, 5 * EUR);
		assert_int_equal(line_of(&w, list[i].name, "").later, 0);
		assert_int_equal(line_of(&w, list[i].name, "").left, 5 * EUR);
		world_free(&w);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_to_the_last_unit),
		cmocka_unit_test(test_many_holds_are_one_try),
		cmocka_unit_test(test_tries_count_until_they_are_forgotten),
		cmocka_unit_test(test_what_fitted_is_taken),
		cmocka_unit_test(test_all_must_agree),
		cmocka_unit_test(test_lasting_is_of_any),
		cmocka_unit_test(test_rate),
		cmocka_unit_test(test_amount_and_rate),
		cmocka_unit_test(test_stop_and_spot),
		cmocka_unit_test(test_what_only_counts),
		cmocka_unit_test(test_all_is_used),
		cmocka_unit_test(test_a_job_of_both_markets),
		cmocka_unit_test(test_later),
		cmocka_unit_test(test_periods_that_are_not_now),
		cmocka_unit_test(test_no_limit),
		cmocka_unit_test(test_no_price),
		cmocka_unit_test(test_no_account),
		cmocka_unit_test(test_without_budgets_all_fits),
		cmocka_unit_test(test_what_is_billed_ahead),
	};

	return cmocka_run_group_tests_name("budget_try", tests, NULL, NULL);
}
