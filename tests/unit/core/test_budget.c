/* test_budget.c - what holds and spending come to in each period, and which jobs fit. */
#include "budget_world.h"

/* --- what a hold costs --------------------------------------------------------------------------
 */

static void test_cost(void **state)
{
	static const struct {
		int64_t rate, from, until, want;
	} rows[] = {
		{EUR, 0, HOUR, EUR},
		{EUR, 5, 5, 0},
		{EUR, HOUR, 0, 0},
		{0, 0, HOUR, 0},
		{1, 0, 1, 1}, /* rounded up */
		{1, 0, HOUR, 1},
		{1, 0, HOUR + 1, 2},
		{7, 0, HOUR / 2, 4},
		{INT64_MAX, 0, HOUR, INT64_MAX},
		{INT64_MAX, 0, HOUR / 2, INT64_MAX / 2 + 1},
		{INT64_MAX, 0, INT64_MAX, INT64_MAX}, /* saturates */
		{INT64_MAX, INT64_MIN, INT64_MAX, INT64_MAX},
		{1, INT64_MIN, INT64_MAX, INT64_C(5124095576031)},
		{INT64_MAX / HOUR, 0, HOUR, INT64_MAX / HOUR}, /* the last that fits into 64 bits */
		{INT64_MAX / HOUR + 1, 0, HOUR, INT64_MAX / HOUR + 1},
		{INT64_MAX, 0, 1, INT64_MAX / HOUR + 1},
		{INT64_MAX / 2, 0, 2, INT64_MAX / HOUR + 1},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++)
		assert_int_equal(budget_cost(rows[i].rate, rows[i].from, rows[i].until),
				 rows[i].want);
}

/* --- periods ------------------------------------------------------------------------------------
 */

/* One euro an hour, held from `from` until `until`; seen at `now`. */
static const struct {
	const char *period, *now, *from, *until;
	int64_t now_eur, later_eur;
} parts[] = {
	{"month", "2026-11-30T12:00:00Z", "2026-11-30T13:00:00Z", "2026-11-30T17:00:00Z", 4, 0},
	{"month", "2026-11-30T12:00:00Z", "2026-11-30T20:00:00Z", "2026-12-01T03:00:00Z", 3, 4},
	{"month", "2026-11-30T12:00:00Z", "2026-11-30T20:00:00Z", "2026-11-30T23:00:00Z", 3, 0},
	{"month", "2026-11-30T12:00:00Z", "2026-11-30T23:00:00Z", "2026-12-01T01:00:00Z", 0, 2},
	{"month", "2026-11-01T00:00:00Z", "2026-10-31T20:00:00Z", "2026-11-01T02:00:00Z", 3, 0},
	{"month", "2026-12-01T12:00:00Z", "2026-11-30T20:00:00Z", "2026-12-01T03:00:00Z", 4, 0},
	{"quarter", "2026-11-30T12:00:00Z", "2026-12-31T22:00:00Z", "2027-01-01T00:00:00Z", 1, 1},
	{"year from 12-01", "2026-11-30T12:00:00Z", "2026-11-30T22:00:00Z", "2026-12-01T00:00:00Z",
	 1, 1},
	/* All that is to come counts, in a window that goes on. */
	{"rolling 1d", "2026-11-30T12:00:00Z", "2026-11-30T20:00:00Z", "2026-12-02T03:00:00Z", 31,
	 0},
	{"rolling 2d", "2026-11-30T12:00:00Z", "2026-11-28T20:00:00Z", "2026-11-29T03:00:00Z", 4,
	 0},
	{"rolling 1d", "2026-11-30T12:00:00Z", "2026-11-28T20:00:00Z", "2026-11-29T03:00:00Z", 0,
	 0},
	/* Nothing is limited behind a range. */
	{"2026-11-01..2026-11-30", "2026-11-30T12:00:00Z", "2026-11-30T20:00:00Z",
	 "2026-12-02T03:00:00Z", 3, 0},
	{"2026-12-01..2026-12-31", "2026-11-30T12:00:00Z", "2026-11-30T20:00:00Z",
	 "2026-12-01T03:00:00Z", 4, 0},
	{"2026-10-01..2026-10-31", "2026-11-30T12:00:00Z", "2026-10-30T20:00:00Z",
	 "2026-12-01T03:00:00Z", 0, 0},
};

/* Berlin is an hour ahead of UTC there: a month begins at 23:00Z. */
static void test_what_a_period_has_of_a_hold(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(parts); i++) {
		struct conf_budget b = budget("b", 100, parts[i].period);
		struct world w = world_new("Europe/Berlin", parts[i].now, &b, 1);
		struct budget_want one =
			want(&w, machine_of("h100"), 1, at(parts[i].from), at(parts[i].until));
		uint32_t hold = budgets_hold(w.b, &one.hold);

		print_message("# %zu: %s\n", i, parts[i].period);
		assert_int_equal(line_of(&w, "b", "").held, parts[i].now_eur * EUR);
		assert_int_equal(line_of(&w, "b", "").later, parts[i].later_eur * EUR);
		assert_int_equal(line_of(&w, "b", "").rate, EUR);
		assert_int_equal(line_of(&w, "b", "").left, (100 - parts[i].now_eur) * EUR);
		/* What is configured anew, or released, comes to the same. */
		budgets_configure(w.b, &b, 1);
		assert_int_equal(line_of(&w, "b", "").held, parts[i].now_eur * EUR);
		budgets_release(w.b, hold);
		assert_int_equal(line_of(&w, "b", "").held, 0);
		assert_int_equal(line_of(&w, "b", "").later, 0);
		assert_int_equal(line_of(&w, "b", "").rate, 0);
		world_free(&w);
	}
}

/* Of 1, 10, 100 and 1000 on four days; seen on the tenth of November. */
static void test_what_a_period_has_of_spending(void **state)
{
	static const struct {
		const char *period;
		int64_t want;
	} rows[] = {
		{"month", 11},
		{"quarter", 111},
		{"year", 111},
		{"year from 11-10", 1010},
		{"rolling 1d", 10},
		{"rolling 9d", 10},
		{"rolling 10d", 11},
		{"rolling 39d", 11},
		{"rolling 40d", 111},
		{"2026-10-31..2026-11-09", 1},
		{"2026-11-11..2027-01-01", 1000},
	};
	static const char *const days[] = {"2026-11-01T00:00:00Z", "2026-11-10T23:59:59Z",
					   "2026-10-02T00:00:00Z", "2027-01-01T00:00:00Z"};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct conf_budget b = budget("b", 100, rows[i].period);
		struct world w = world_new("UTC", "2026-11-10T12:00:00Z", &b, 1);
		struct budget_spender m = machine_of("h100");
		uint32_t who = budgets_spender(w.b, &m);
		int64_t nano = 1, day = budgets_day(w.b, at(days[3]));

		print_message("# %s\n", rows[i].period);
		for (size_t k = 0; k < COUNT(days); k++, nano *= 10)
			assert_int_equal(
				budgets_spent(w.b, who, budgets_day(w.b, at(days[k])), nano), nano);
		assert_int_equal(budgets_spent(w.b, who, day, -1), 999); /* given back */
		assert_int_equal(budgets_spent(w.b, who, day, 1), 1000);
		assert_int_equal(line_of(&w, "b", "").spent, rows[i].want);
		budgets_configure(w.b, &b, 1);
		assert_int_equal(line_of(&w, "b", "").spent, rows[i].want);
		world_free(&w);
	}
}

static void test_a_period_turns(void **state)
{
	struct conf_budget list[] = {
		budget("month", 100, "month"), budget("roll", 100, "rolling 2d"),
		budget("range", 100, "2026-12-01..2026-12-02"), budget("rate", 0, "month")};
	struct world w;
	struct budget_want one;
	int64_t day;

	(void)state;
	list[3].rate_nano_h = EUR;
	w = world_new("Europe/Berlin", "2026-11-30T12:00:00Z", list, COUNT(list));
	day = budgets_day(w.b, at("2026-11-30T12:00:00Z"));
	one = want(&w, machine_of("h100"), 1, at("2026-11-30T22:00:00Z"),
		   at("2026-12-01T02:00:00Z"));
	(void)budgets_hold(w.b, &one.hold);
	(void)budgets_spent(w.b, one.hold.spender, day, 5);
	assert_int_equal(budgets_turn_ms(w.b), at("2026-11-30T23:00:00Z"));
	assert_false(budgets_now(w.b, at("2026-11-30T22:59:59Z")));
	assert_int_equal(tried(&w, one).lack, BUDGET_NOT_YET);
	assert_int_equal(line_of(&w, "month", "").held, EUR);
	assert_int_equal(line_of(&w, "month", "").later, 3 * EUR);
	assert_true(budgets_now(w.b, at("2026-11-30T23:00:00Z")));
	assert_false(budgets_now(w.b, at("2026-11-30T23:00:00Z")));
	assert_string_equal(line_of(&w, "month", "").period.name, "2026-12");
	assert_int_equal(line_of(&w, "month", "").held, 3 * EUR);
	assert_int_equal(line_of(&w, "month", "").later, 0);
	assert_int_equal(line_of(&w, "month", "").spent, 0);
	assert_int_equal(line_of(&w, "roll", "").spent, 5);
	assert_int_equal(line_of(&w, "roll", "").held, 4 * EUR);
	assert_int_equal(line_of(&w, "range", "").when, PERIOD_NOW);
	assert_int_equal(line_of(&w, "range", "").held, 3 * EUR);
	assert_int_equal(line_of(&w, "rate", "").rate, EUR);
	assert_true(budgets_now(w.b, at("2026-12-01T23:00:00Z"))); /* the window moves */
	assert_int_equal(line_of(&w, "roll", "").spent, 0);
	assert_true(budgets_now(w.b, at("2026-12-02T23:00:00Z")));
	assert_int_equal(line_of(&w, "range", "").when, PERIOD_OVER);
	assert_int_equal(tried(&w, one).lack, BUDGET_OVER);
	world_free(&w);
}

/* A range is over, and nothing turns any more. */
static void test_what_is_over_turns_no_more(void **state)
{
	struct conf_budget b = budget("b", 100, "2026-11-01..2026-11-30");
	struct world w = world_new("UTC", "2026-12-30T12:00:00Z", &b, 1);

	(void)state;
	assert_false(budgets_now(w.b, at("2027-12-30T12:00:00Z")));
	world_free(&w);
}

static void test_old_days_are_forgotten(void **state)
{
	struct conf_budget b = budget("b", 100, "month"), long_one;
	struct world w = world_new("UTC", "2026-11-10T12:00:00Z", &b, 1);
	struct budget_spender m = machine_of("h100");
	uint32_t who = budgets_spender(w.b, &m);
	int64_t day = budgets_day(w.b, at("2026-11-10T12:00:00Z"));

	(void)state;
	for (int64_t d = 0; d < 40; d++)
		(void)budgets_spent(w.b, who, day - d, 1);
	assert_int_equal(budgets_forget(w.b, day - 30), day - 30);
	long_one = budget("long", 100, "2020-01-01..2026-12-31");
	budgets_configure(w.b, &long_one, 1);
	assert_int_equal(line_of(&w, "long", "").spent, 31);
	/* Days that a budget counts are not forgotten. */
	assert_int_equal(budgets_forget(w.b, day), budgets_day(w.b, at("2020-01-01T00:00:00Z")));
	budgets_configure(w.b, &long_one, 1);
	assert_int_equal(line_of(&w, "long", "").spent, 31);
	assert_int_equal(budgets_spent(w.b, who, day - 30, 1), 2);
	budgets_configure(w.b, &b, 1);
	assert_int_equal(budgets_forget(w.b, day), day - 9); /* the first of November */
	assert_int_equal(line_of(&w, "b", "").spent, 10);
	assert_int_equal(budgets_spent(w.b, who, day - 10, 1), 1);
	assert_int_equal(budgets_day_begin_ms(w.b, day), at("2026-11-10T00:00:00Z"));
	world_free(&w);
}

static void test_sums_saturate(void **state)
{
	struct conf_budget b = budget("b", 100, "month");
	struct world w = world_new("UTC", "2026-11-10T12:00:00Z", &b, 1);
	struct budget_want one =
		want(&w, machine_of("h100"), 0, at("2026-11-10T12:00:00Z"), INT64_MAX);
	uint32_t holds[3];
	int64_t day = budgets_day(w.b, at("2026-11-10T12:00:00Z"));

	(void)state;
	one.hold.rate_nano_h = INT64_MAX;
	for (size_t i = 0; i < COUNT(holds); i++)
		holds[i] = budgets_hold(w.b, &one.hold);
	assert_int_equal(line_of(&w, "b", "").held, INT64_MAX);
	assert_int_equal(line_of(&w, "b", "").later, INT64_MAX);
	assert_int_equal(line_of(&w, "b", "").rate, INT64_MAX);
	assert_true(line_of(&w, "b", "").left < -INT64_C(9000000000000000000));
	for (size_t i = 0; i < COUNT(holds); i++)
		budgets_release(w.b, holds[i]);
	assert_int_equal(line_of(&w, "b", "").held, 0); /* and nothing is lost by that */
	assert_int_equal(line_of(&w, "b", "").later, 0);
	assert_int_equal(line_of(&w, "b", "").rate, 0);
	assert_int_equal(line_of(&w, "b", "").left, 100 * EUR);
	(void)budgets_spent(w.b, one.hold.spender, day, INT64_MAX);
	assert_int_equal(budgets_spent(w.b, one.hold.spender, day, INT64_MAX), INT64_MAX);
	assert_int_equal(line_of(&w, "b", "").spent, INT64_MAX);
	one.n = 1000;
	assert_int_equal(tried(&w, one).needs, INT64_MAX);
	assert_int_equal(tried(&w, one).left, 0);
	world_free(&w);
}

/* --- holds --------------------------------------------------------------------------------------
 */

static void test_numbers_of_holds(void **state)
{
	struct conf_budget b = budget("b", 100, "month");
	struct world w = world_new("UTC", "2026-11-10T12:00:00Z", &b, 1);
	uint32_t holds[200];

	(void)state;
	for (int i = 0; i < 200; i++) {
		struct budget_want one = want(&w, machine_of("h100"), i, 0, i);

		holds[i] = budgets_hold(w.b, &one.hold);
	}
	for (int i = 0; i < 200; i += 2)
		budgets_release(w.b, holds[i]);
	for (int i = 0; i < 200; i += 2) {
		struct budget_want one = want(&w, machine_of("h100"), 1000 + i, 0, i);

		holds[i] = budgets_hold(w.b, &one.hold);
		assert_true(holds[i] < 200); /* used again */
	}
	for (int i = 0; i < 200; i++)
		assert_int_equal(budgets_hold_at(w.b, holds[i])->rate_nano_h,
				 (i % 2 == 0 ? 1000 + i : i) * EUR);
	world_free(&w);
}

/* The rate counts while a job has its machine, and not twice while it boots. */
static void test_what_has_a_rate(void **state)
{
	struct conf_budget b = budget("b", 0, "month");
	struct world w;
	struct budget_want one;

	(void)state;
	b.rate_nano_h = 10 * EUR;
	b.users = LIST("ann");
	w = world_new("UTC", "2026-11-10T12:00:00Z", &b, 1);
	one = want(&w, job_of("physics", "ann"), 4, 0, 0);
	(void)budgets_hold(w.b, &one.hold);
	one.hold.kind = BUDGET_BOOT;
	(void)budgets_hold(w.b, &one.hold);
	assert_int_equal(line_of(&w, "b", "").rate, 4 * EUR);
	assert_int_equal(line_of(&w, "b", "").held, 0);
	assert_int_equal(line_of(&w, "b", "").spent, 0);
	world_free(&w);
}

/* --- how long is held ---------------------------------------------------------------------------
 */

static void test_reserve(void **state)
{
	enum { FULL = CONF_RESERVE_FULL, LEASE = CONF_RESERVE_LEASE, MIN = CONF_RESERVE_MINIMUM };
	static const struct {
		int64_t amounts[2];
		int modes[2];
		int64_t limit, want;
	} rows[] = {
		{{1, 0}, {FULL}, 5 * HOUR, 5 * HOUR},
		{{1, 0}, {FULL}, -1, -1},
		{{1, 0}, {LEASE}, 5 * HOUR, 2 * HOUR},
		{{1, 0}, {LEASE}, HOUR, HOUR},
		{{1, 0}, {LEASE}, -1, 2 * HOUR},
		{{1, 0}, {MIN}, 5 * HOUR, MINUTE},
		{{1, 0}, {MIN}, -1, MINUTE},
		{{1, 1}, {LEASE, MIN}, 5 * HOUR, 2 * HOUR},
		{{1, 1}, {MIN, FULL}, 5 * HOUR, 5 * HOUR},
		{{1, 1}, {LEASE, FULL}, -1, -1},
		{{1, 1}, {LEASE, LEASE}, 0, 0},
		{{0, 0}, {FULL}, -1, 0}, /* a rate alone is no matter of time */
		{{0, 1}, {FULL, LEASE}, -1, 2 * HOUR},
		{{0, 0}, {FULL}, HOUR, 0},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct conf_budget list[2];
		struct budget_spender m = machine_of("h100"), job = job_of("physics", "ann");
		struct world w;

		for (int k = 0; k < 2; k++) {
			list[k] = budget(k == 0 ? "a" : "b", rows[i].amounts[k], "month");
			list[k].rate_nano_h = EUR;
			list[k].reserve = rows[i].modes[k];
			list[k].lease_ms = 2 * HOUR;
		}
		w = world_new("UTC", "2026-11-10T12:00:00Z", list, rows[i].amounts[1] != 0 ? 2 : 1);
		print_message("# %zu\n", i);
		assert_int_equal(
			budgets_reserve_ms(w.b, budgets_spender(w.b, &m), rows[i].limit, MINUTE),
			rows[i].want);
		/* No budget is for jobs. */
		assert_int_equal(
			budgets_reserve_ms(w.b, budgets_spender(w.b, &job), rows[i].limit, MINUTE),
			0);
		world_free(&w);
	}
}

/* When budgets must be told the time at the latest. */
static void test_when_they_turn(void **state)
{
	static const struct {
		const char *period, *turns; /* NULL: never */
	} all[] = {
		{"month", "2026-12-01T00:00:00Z"},
		{"rolling 7d", "2026-12-01T00:00:00Z"},
		{"2026-12-24..2026-12-31", "2026-12-24T00:00:00Z"},
		{"2026-11-01..2026-12-31", "2027-01-01T00:00:00Z"},
		{"2026-11-01..2026-11-07", NULL},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(all); i++) {
		struct conf_budget one = budget("b", 1, all[i].period);
		struct world w = world_new("UTC", "2026-11-30T12:00:00Z", &one, 1);

		print_message("# %s\n", all[i].period);
		assert_int_equal(budgets_turn_ms(w.b),
				 all[i].turns != NULL ? at(all[i].turns) : INT64_MAX);
		world_free(&w);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_cost),
		cmocka_unit_test(test_what_a_period_has_of_a_hold),
		cmocka_unit_test(test_what_a_period_has_of_spending),
		cmocka_unit_test(test_a_period_turns),
		cmocka_unit_test(test_what_is_over_turns_no_more),
		cmocka_unit_test(test_old_days_are_forgotten),
		cmocka_unit_test(test_sums_saturate),
		cmocka_unit_test(test_numbers_of_holds),
		cmocka_unit_test(test_what_has_a_rate),
		cmocka_unit_test(test_reserve),
		cmocka_unit_test(test_when_they_turn),
	};

	return cmocka_run_group_tests_name("budget", tests, NULL, NULL);
}
