/* test_budgets_told.c - what status, plan and /metrics say of budgets. */
#include "three_budgets.h"

#include "api/metrics.h"

/* --- status --------------------------------------------------------------------------------------
 */

static void assert_problems(struct fixture *f, const struct ctl_caller *who,
			    const char *const *want)
{
	json_t *r = ask_as(f, who, "{\"v\":1,\"op\":\"status\"}");
	const json_t *all = json_object_get(r, "problems");
	size_t n = 0;

	for (; want[n] != NULL; n++)
		assert_string_equal(json_string_value(json_array_get(all, n)), want[n]);
	assert_int_equal(json_array_size(all), n);
	json_decref(r);
}

static void test_problems(void **state)
{
	static const char
		*const none[] = {NULL},
		       *const waits[] = {"budget physics: 2 jobs wait for money: 61.20 of 500.00 "
					 "USD left in 2026-11",
					 NULL},
		       *const all[] = {"budget physics: its period 2026-11 is over: nothing is "
				       "bought for its jobs until it has another, or is removed",
				       "budget lab: 1 job waits for money: 2.00 of 9.00 USD/h in "
				       "use",
				       NULL};
	struct fixture *f = start_with_budgets();

	(void)state;
	f->e.budgets[2].line.spent = f->e.budgets[1].line.spent = 0;
	assert_problems(f, &admin, waits);
	assert_problems(f, &finance, waits);
	assert_problems(f, &viewer, none); /* it is nobody's business */
	assert_problems(f, &operator, none);
	/* As in the jobs' own reasons: cents, rounded down. */
	f->e.budgets[0].line.left += EUR / 100 - 1;
	assert_problems(f, &admin, waits);
	f->e.budgets[0].line.when = PERIOD_OVER;
	f->e.budgets[0].waiting = 0;
	f->e.budgets[0].line.spent = 999 * EUR; /* once */
	f->e.budgets[3].waiting = 1;
	assert_problems(f, &admin, all);
	stop_with_budgets(f);
}

/* One of a budget that has another name now, or other lines, adds to nothing. */
static void test_overrides_without_effect(void **state)
{
	static char gone[] = "renamed", physics[] = "physics", students[] = "students",
		    lab[] = "lab", ann[] = "ann", none[] = "";
	static const char *const want[] = {
		"override 1 of budget renamed has no effect: there is no such budget",
		"override 2 of budget renamed/ann has no effect: there is no such budget",
		"override 3 of budget physics/ann has no effect: the budget is one for all",
		"override 4 of budget students has no effect: the budget is one for each",
		"override 5 of budget lab has no effect: the budget has no amount",
		NULL};
	static const char *const nothing[] = {NULL};
	struct money_override all[] = {
		{.id = 1, .budget = gone, .value = none, .until_ms = FAKE_NOW + 1},
		{.id = 2, .budget = gone, .value = ann, .until_ms = MONEY_NO_END},
		{.id = 3, .budget = physics, .value = ann, .until_ms = MONEY_NO_END},
		{.id = 4, .budget = students, .value = none, .until_ms = MONEY_NO_END},
		{.id = 5, .budget = lab, .value = none, .until_ms = MONEY_NO_END},
		{.id = 6, .budget = physics, .value = none, .until_ms = MONEY_NO_END},
		{.id = 7, .budget = students, .value = ann, .until_ms = MONEY_NO_END},
		{.id = 8, .budget = gone, .value = none, .until_ms = FAKE_NOW}, /* it is over */
	};
	struct fixture *f = start_with_budgets();

	(void)state;
	f->e.nbudgets = 0;
	f->e.overrides = all;
	f->e.noverrides = sizeof(all) / sizeof(all[0]);
	assert_problems(f, &finance, want);
	assert_problems(f, &admin, want);
	assert_problems(f, &operator, nothing);
	stop_with_budgets(f);
}

/* No budget lacks anything, and jobs wait all the same. */
static void test_all_jobs_wait(void **state)
{
	static const char *const want[] = {
		"jobs wait, and nothing is bought for them: slurmctld knows no account",
		"budget physics: 2 jobs wait for money: 61.20 of 500.00 USD left in 2026-11", NULL};
	struct fixture *f = start_with_budgets();

	(void)state;
	f->e.budgets[2].line.spent = f->e.budgets[1].line.spent = 0;
	f->e.budgets_wait = "slurmctld knows no account";
	assert_problems(f, &admin, want);
	stop_with_budgets(f);
}

/* A plan without a job asks no budget, and says so; where there are none it has nothing to say. */
static void test_a_plan_without_a_job(void **state)
{
	struct fixture *f = start_with_budgets();
	json_t *r;

	(void)state;
	f->e.plan = (struct engine_plan){.verdict = PLAN_BUY, .nodes = 1};
	r = ask_as(f, &viewer, "{\"v\":1,\"op\":\"plan\"}");
	assert_true(json_is_true(json_object_get(r, "budgets_left_out")));
	json_decref(r);
	f->e.conf->nbudgets = 0;
	r = ask_as(f, &viewer, "{\"v\":1,\"op\":\"plan\"}");
	assert_null(json_object_get(r, "budgets_left_out"));
	json_decref(r);
	f->e.conf->nbudgets = 3; /* to be freed */
	stop_with_budgets(f);
}

/* Spent and accrued together against each percent; only the highest is told. */
static void test_percents(void **state)
{
	static const struct {
		int64_t spent, accrued;
		const char *want; /* NULL: nothing */
	} rows[] = {
		{400 * EUR - 1, 0, NULL},
		{390 * EUR, 10 * EUR,
		 "budget physics: 80 % of its 500.00 USD for 2026-11 are used up: 390.00 spent, "
		 "10.00 by what runs now"},
		{475 * EUR - 1, 0,
		 "budget physics: 80 % of its 500.00 USD for 2026-11 are used up: 474.99 "
		 "spent, 0.00 by what runs now"},
		{0, 475 * EUR,
		 "budget physics: 95 % of its 500.00 USD for 2026-11 are used up: 0.00 spent, "
		 "475.00 by what runs now"},
		{INT64_MAX, INT64_MAX,
		 "budget physics: 95 % of its 500.00 USD for 2026-11 are used up: "
		 "9223372036.85 spent, 9223372036.85 by what runs now"},
	};
	struct fixture *f = start_with_budgets();

	(void)state;
	f->e.nbudgets = 1;
	f->e.budgets[0].waiting = 0;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const char *const want[] = {rows[i].want, NULL};

		f->e.budgets[0].line.spent = rows[i].spent;
		f->e.budgets[0].accrued = rows[i].accrued;
		assert_problems(f, &admin, want);
	}
	/* The least that is more than any integer arithmetic of percents. */
	f->e.budgets[0].line.amount = INT64_MAX;
	f->e.conf->budgets[0].notify_at = (struct conf_percents){{1000}, 1};
	assert_problems(f, &admin, (const char *const[]){NULL});
	stop_with_budgets(f);
}

/* --- metrics -------------------------------------------------------------------------------------
 */

static void test_metrics(void **state)
{
	static const char *const want[] = {
		"burstd_budget_amount{budget=\"physics\",value=\"\",currency=\"USD\"} 500.00\n",
		"burstd_budget_spent{budget=\"physics\",value=\"\",currency=\"USD\"} 300.00\n",
		"burstd_budget_held{budget=\"physics\",value=\"\",currency=\"USD\"} 138.80\n",
		"burstd_budget_left{budget=\"physics\",value=\"\",currency=\"USD\"} 61.20\n",
		"burstd_budget_left{budget=\"students\",value=\"ann\",currency=\"USD\"} -1.00\n",
		"burstd_budget_beyond{budget=\"physics\",value=\"\",currency=\"USD\"} 0.25\n",
		"burstd_budget_forecast{budget=\"physics\",value=\"\",currency=\"USD\"} 3.00\n",
		"burstd_budget_rate{budget=\"lab\",value=\"\",currency=\"USD\"} 2.00\n",
		"burstd_budget_rate_limit{budget=\"lab\",value=\"\",currency=\"USD\"} 9.00\n",
		"burstd_budget_refused_jobs{budget=\"physics\",value=\"\"} 2\n",
		"burstd_budget_refused_jobs{budget=\"lab\",value=\"\"} 0\n",
		"burstd_budget_lines_left_out 0\n"};
	static const char *const never[] = {"burstd_budget_amount{budget=\"lab\"",
					    "burstd_budget_left{budget=\"lab\"",
					    "burstd_budget_rate_limit{budget=\"physics\""};
	struct fixture *f = start_with_budgets();
	struct str s;

	(void)state;
	str_init(&s, METRICS_MAX);
	metrics_write(&f->api, &s);
	for (size_t i = 0; i < sizeof(want) / sizeof(want[0]); i++) {
		print_message("# %s", want[i]);
		assert_non_null(strstr(s.p, want[i]));
	}
	for (size_t i = 0; i < sizeof(never) / sizeof(never[0]); i++)
		assert_null(strstr(s.p, never[i]));
	str_fini(&s);
	stop_with_budgets(f);
}

/* Names as long as they may be, and more lines than have metrics: the page is whole. */
static void test_many_metrics(void **state)
{
	struct fixture *f = start_with_budgets();
	char value[PROVIDER_WORD_MAX + 1];
	size_t n = 0;
	struct str s;

	(void)state;
	memset(value, '"', sizeof(value));
	value[PROVIDER_WORD_MAX] = '\0';
	free(f->e.conf->budgets[1].name);
	f->e.conf->budgets[1].name = mem_strdup(value);
	f->e.nbudgets = LINES;
	for (size_t i = 0; i < LINES; i++) {
		f->e.budgets[i] =
			(struct engine_budget){.line = line_of(&f->e.conf->budgets[1], value)};
		f->e.budgets[i].line.spent = f->e.budgets[i].line.held = INT64_MAX;
	}
	str_init(&s, METRICS_MAX);
	metrics_write(&f->api, &s);
	assert_false(s.full);
	assert_non_null(strstr(s.p, "\nburstd_budget_lines_left_out 200\n"));
	for (const char *p = s.p; (p = strstr(p, "\nburstd_budget_spent{")) != NULL; p++)
		n++;
	assert_int_equal(n, 1000);
	str_fini(&s);
	stop_with_budgets(f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_problems),
		cmocka_unit_test(test_overrides_without_effect),
		cmocka_unit_test(test_all_jobs_wait),
		cmocka_unit_test(test_percents),
		cmocka_unit_test(test_a_plan_without_a_job),
		cmocka_unit_test(test_metrics),
		cmocka_unit_test(test_many_metrics),
	};

	return cmocka_run_group_tests_name("budgets that are told", tests, NULL, NULL);
}
