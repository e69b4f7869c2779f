/* test_budget_forecast.c - what will have been spent when the period ends. */
#include "budget_world.h"

#include <stdio.h>

#include "core/budget_forecast.h"

static void spend(struct world *w, const char *day, int64_t eur)
{
	struct budget_spender m = machine_of("h100");

	(void)budgets_spent(w->b, budgets_spender(w->b, &m), budgets_day(w->b, at(day)), eur * EUR);
}

static bool forecast(struct world *w, struct budget_forecast *out)
{
	struct budget_days *all = budgets_days(w->b);
	struct budget_line l = line_of(w, "b", "");
	size_t line = 0;
	bool known;

	while (budgets_line(w->b, line).budget != l.budget)
		line++;
	known = budget_forecast(w->b, &l, l.spent, &all[line], out);
	free(all);
	return known;
}

/* Noon of the eleventh: 19.5 days are left.  Seven whole days of 24, and 12 today: 1 an hour. */
static void test_a_steady_week(void **state)
{
	struct conf_budget b = budget("b", 1000, "month");
	struct world w = world_new("UTC", "2026-11-11T12:00:00Z", &b, 1);
	struct budget_forecast f;
	char day[32];

	(void)state;
	for (int d = 1; d < 11; d++) {
		(void)snprintf(day, sizeof(day), "2026-11-%02dT00:00:00Z", d);
		spend(&w, day, 24);
	}
	spend(&w, "2026-11-11T00:00:00Z", 12);
	assert_true(forecast(&w, &f));
	assert_int_equal(f.pace_nano_h, EUR);
	assert_int_equal(f.expected, (252 + 468) * EUR);
	assert_int_equal(f.least, f.expected);
	assert_int_equal(f.most, f.expected);
	assert_int_equal(f.used_up_ms, 0);
	/* With less money the day is known on which it is gone. */
	b.amount_nano = 276 * EUR;
	assert_true(forecast(&w, &f));
	assert_int_equal(f.used_up_ms, at("2026-11-12T12:00:00Z"));
	b.amount_nano = 252 * EUR;
	assert_true(forecast(&w, &f));
	assert_int_equal(f.used_up_ms, at("2026-11-11T12:00:00Z"));
	world_free(&w);
}

/* A weekend of nothing, and one busy day. */
static void test_bounds(void **state)
{
	struct conf_budget b = budget("b", 1000, "month");
	struct world w = world_new("UTC", "2026-11-11T00:00:00Z", &b, 1);
	struct budget_forecast f;

	(void)state;
	spend(&w, "2026-11-03T00:00:00Z", 500); /* older than a week: says nothing of the pace */
	spend(&w, "2026-11-04T00:00:00Z", 24);
	spend(&w, "2026-11-10T00:00:00Z", 144);
	assert_true(forecast(&w, &f));
	assert_int_equal(f.pace_nano_h, EUR);
	assert_int_equal(f.least, 668 * EUR);
	assert_int_equal(f.expected, (668 + 480) * EUR);
	assert_int_equal(f.most, (668 + 6 * 480) * EUR);
	/* Days before the first with anything are not quiet ones: nobody was there yet. */
	spend(&w, "2026-11-04T00:00:00Z", -24);
	assert_true(forecast(&w, &f));
	assert_int_equal(f.pace_nano_h, 6 * EUR);
	assert_int_equal(f.least, f.most);
	world_free(&w);
}

/* On the first day there is only today. */
static void test_the_first_day(void **state)
{
	struct conf_budget b = budget("b", 1000, "month");
	struct world w = world_new("UTC", "2026-11-11T06:00:00Z", &b, 1);
	struct budget_forecast f;

	(void)state;
	assert_true(forecast(&w, &f));
	assert_int_equal(f.pace_nano_h, 0);
	assert_int_equal(f.most, 0);
	spend(&w, "2026-11-11T00:00:00Z", 6);
	assert_true(forecast(&w, &f));
	assert_int_equal(f.pace_nano_h, EUR);
	assert_int_equal(f.least, f.expected);
	assert_int_equal(f.expected, (6 + 18 + 19 * 24) * EUR);
	world_free(&w);
}

/* What runs counts on the days on which it ran, and no further than now. */
static void test_what_runs(void **state)
{
	struct conf_budget b = budget("b", 1000, "month");
	struct world w = world_new("Europe/Berlin", "2026-11-11T12:00:00Z", &b, 1);
	struct budget_want one = want(&w, machine_of("h100"), 2, at("2026-11-09T22:00:00Z"),
				      at("2026-11-20T00:00:00Z"));
	struct budget_days *all;

	(void)state;
	all = budgets_days(w.b);
	budget_days_add(w.b, all, &one.hold);
	assert_int_equal(all[0].nano[4], 0);
	assert_int_equal(all[0].nano[5], 2 * EUR); /* an hour of the ninth, in Berlin */
	assert_int_equal(all[0].nano[6], 48 * EUR);
	assert_int_equal(all[0].nano[7], 26 * EUR);
	free(all);
	/* One that is long over, or to come, counts on no day. */
	all = budgets_days(w.b);
	one.hold.from_ms = at("2026-10-01T00:00:00Z");
	one.hold.until_ms = at("2026-10-02T00:00:00Z");
	budget_days_add(w.b, all, &one.hold);
	one.hold.from_ms = at("2026-11-11T12:00:00Z");
	one.hold.until_ms = INT64_MAX;
	budget_days_add(w.b, all, &one.hold);
	for (int d = 0; d < BUDGET_PACE_DAYS; d++)
		assert_int_equal(all[0].nano[d], 0);
	free(all);
	world_free(&w);
}

static void test_of_what_nothing_is_said(void **state)
{
	static const struct {
		int64_t amount;
		const char *period;
	} rows[] = {{0, "month"},
		    {10, "rolling 30d"},
		    {10, "2026-01-01..2026-02-01"},
		    {10, "2027-01-01..2027-02-01"}};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct conf_budget b = budget("b", rows[i].amount, rows[i].period);
		struct budget_forecast f;
		struct world w;

		b.rate_nano_h = EUR;
		w = world_new("UTC", "2026-11-11T06:00:00Z", &b, 1);
		print_message("# %s\n", rows[i].period);
		assert_false(forecast(&w, &f));
		world_free(&w);
	}
}

static void test_it_saturates(void **state)
{
	struct conf_budget b = budget("b", 1000, "year");
	struct world w = world_new("UTC", "2026-01-11T00:00:01Z", &b, 1);
	struct budget_forecast f;

	(void)state;
	for (int i = 0; i < 3; i++)
		spend(&w, "2026-01-10T00:00:00Z", INT64_MAX / EUR);
	assert_true(forecast(&w, &f));
	assert_int_equal(f.expected, INT64_MAX);
	assert_int_equal(f.most, INT64_MAX);
	world_free(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_steady_week),           cmocka_unit_test(test_bounds),
		cmocka_unit_test(test_the_first_day),           cmocka_unit_test(test_what_runs),
		cmocka_unit_test(test_of_what_nothing_is_said), cmocka_unit_test(test_it_saturates),
	};

	return cmocka_run_group_tests_name("budget forecast", tests, NULL, NULL);
}
