/* test_budgets.c - the request "budgets": what it shows, to whom, and in which pages; what status
 * and /metrics say of budgets. */
#include "ctl_ask.h"

#include <inttypes.h>

#include "api/metrics.h"
#include "base/fmt.h"

enum { LINES = 1200 };

#define EUR FMT_NANO

/* physics (500.00 a month), students (each user has 20.00 and 4.00 an hour), lab (a rate). */
static void add_budgets(struct engine *e)
{
	struct conf_budget *c = mem_zalloc(3 * sizeof(*c));

	c[0] = (struct conf_budget){.name = mem_strdup("physics"),
				    .accounts = mem_zalloc(2 * sizeof(char *)),
				    .market = CONF_MARKET_ANY,
				    .amount_nano = 500 * EUR,
				    .notify_at = {{80, 95}, 2},
				    .spot_only_at = 90,
				    .stop_at = 100,
				    .contact = mem_strdup("finance@example.org")};
	c[0].accounts[0] = mem_strdup("physics");
	c[1] = (struct conf_budget){.name = mem_strdup("students"),
				    .users = mem_zalloc(3 * sizeof(char *)),
				    .market = PROVIDER_SPOT,
				    .each = CONF_EACH_USER,
				    .amount_nano = 20 * EUR,
				    .rate_nano_h = 4 * EUR,
				    .reserve = CONF_RESERVE_LEASE,
				    .lease_ms = 14400000,
				    .stop_at = 100};
	c[1].users[0] = mem_strdup("ann");
	c[1].users[1] = mem_strdup("bob");
	c[2] = (struct conf_budget){.name = mem_strdup("lab"),
				    .market = CONF_MARKET_ANY,
				    .rate_nano_h = 9 * EUR,
				    .reserve = CONF_RESERVE_MINIMUM};
	e->conf->budgets = c;
	e->conf->nbudgets = 3;
}

static struct budget_line line_of(const struct conf_budget *b, const char *value)
{
	return (struct budget_line){.budget = b,
				    .value = value,
				    .period = {.begin_ms = 1000, .end_ms = 2000, .name = "2026-11"},
				    .limited = b->amount_nano != 0,
				    .amount = b->amount_nano,
				    .own = b->amount_nano,
				    .spent = 300 * EUR,
				    .held = 138800000000,
				    .later = 7 * EUR,
				    .rate = 2 * EUR,
				    .left = 61200000000};
}

static struct fixture *start_with_budgets(void)
{
	struct fixture *f = start("n[1-4]");
	struct conf_budget *c;

	add_budgets(&f->e);
	c = f->e.conf->budgets;
	f->e.budgets = mem_zalloc(LINES * sizeof(*f->e.budgets));
	f->e.nbudgets = 4;
	f->e.budgets[0] =
		(struct engine_budget){.line = line_of(&c[0], ""),
				       .accrued = 5 * EUR,
				       .beyond = EUR / 4,
				       .waiting = 2,
				       .step = BUDGET_REQUEUES,
				       .step_ms = 7000,
				       .foreseen = true,
				       .forecast = {EUR, 2 * EUR, 3 * EUR, 4 * EUR, 5000}};
	f->e.budgets[1] = (struct engine_budget){.line = line_of(&c[1], "ann")};
	f->e.budgets[2] = (struct engine_budget){.line = line_of(&c[1], "bob")};
	f->e.budgets[3] = (struct engine_budget){.line = line_of(&c[2], "")};
	f->e.budgets[1].line.left = -EUR;
	f->e.budgets[1].line.added = 3 * EUR;
	f->e.budgets[1].line.carried = 4 * EUR;
	f->e.budgets[3].line.left = INT64_MAX;
	f->api.names = mem_zalloc(sizeof(struct user_names));
	f->api.names->e = &f->e;
	f->e.name = "ann";
	return f;
}

static void stop_with_budgets(struct fixture *f)
{
	free(f->e.budgets);
	free(f->api.names);
	stop(f);
}

#define ASK(more) "{\"v\":1,\"op\":\"budgets\"" more "}"

static void test_what_a_line_has(void **state)
{
	static const char *const texts[][2] = {
		{"name", "physics"},  {"each", ""},
		{"value", ""},        {"when", "now"},
		{"amount", "500.00"}, {"spent", "300.00"},
		{"held", "138.80"},   {"accrued", "5.00"},
		{"later", "7.00"},    {"left", "61.20"},
		{"beyond", "0.25"},   {"rate", "2.00"},
		{"reserve", "full"},  {"contact", "finance@example.org"}};
	struct fixture *f = start_with_budgets();
	json_t *r = ask(f, ASK("")), *all = json_object_get(r, "budgets"), *b, *p;

	(void)state;
	assert_string_equal(f->e.budgets_user, "");
	assert_string_equal(text(r, "currency"), "USD");
	assert_int_equal(number(r, "now_ms"), FAKE_NOW);
	assert_null(json_object_get(r, "user"));
	assert_int_equal(json_array_size(all), 4);
	b = json_array_get(all, 0);
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		print_message("# %s\n", texts[i][0]);
		assert_string_equal(text(b, texts[i][0]), texts[i][1]);
	}
	p = json_object_get(b, "period");
	assert_string_equal(text(p, "name"), "2026-11");
	assert_int_equal(number(p, "begin_ms"), 1000);
	assert_int_equal(number(p, "end_ms"), 2000);
	p = json_object_get(b, "forecast");
	assert_string_equal(text(p, "pace"), "1.00");
	assert_string_equal(text(p, "least"), "2.00");
	assert_string_equal(text(p, "expected"), "3.00");
	assert_string_equal(text(p, "most"), "4.00");
	assert_int_equal(number(p, "used_up_ms"), 5000);
	assert_string_equal(text(b, "step"), "requeue");
	assert_int_equal(number(b, "step_ms"), 7000);
	assert_null(json_object_get(b, "added"));
	assert_int_equal(number(b, "waiting"), 2);
	assert_int_equal(number(b, "spot_only_at"), 90);
	assert_int_equal(number(b, "stop_at"), 100);
	assert_int_equal(json_integer_value(json_array_get(json_object_get(b, "notify_at"), 1)),
			 95);
	assert_null(json_object_get(b, "rate_limit"));
	assert_null(json_object_get(b, "lease_ms"));
	assert_null(json_object_get(b, "counts")); /* only of one that is asked for */
	b = json_array_get(all, 1);
	assert_string_equal(text(b, "value"), "ann");
	assert_null(json_object_get(b, "forecast"));
	assert_null(json_object_get(b, "step_ms"));
	assert_string_equal(text(b, "added"), "3.00");
	assert_string_equal(text(b, "carried"), "4.00");
	assert_string_equal(text(b, "each"), "user");
	assert_string_equal(text(b, "left"), "-1.00");
	assert_string_equal(text(b, "rate_limit"), "4.00");
	assert_string_equal(text(b, "reserve"), "lease");
	assert_int_equal(number(b, "lease_ms"), 14400000);
	b = json_array_get(all, 3);
	assert_null(json_object_get(b, "amount"));
	assert_null(json_object_get(b, "left"));
	assert_null(json_object_get(b, "period"));
	assert_string_equal(text(b, "reserve"), "minimum");
	assert_string_equal(text(r, "next"), "");
	json_decref(r);
	/* When something was, or will be, is said by the clock on the wall (F57). */
	f->e.of_wall_ms = 500;
	r = ask(f, ASK(""));
	b = json_array_get(json_object_get(r, "budgets"), 0);
	assert_int_equal(number(b, "step_ms"), 6500);
	assert_int_equal(number(json_object_get(b, "forecast"), "used_up_ms"), 4500);
	json_decref(r);
	stop_with_budgets(f);
}

/* What it is set to, instead of what, until when; by whom, only those who may see overrides. */
static void test_what_is_set(void **state)
{
	static char by[] = "uid 5", why[] = "a board";
	struct money_override x = {.id = 7, .set = true, .until_ms = 5000, .by = by, .reason = why};
	struct fixture *f = start_with_budgets();
	const json_t *set;
	json_t *r;

	(void)state;
	f->e.budgets[1].set = &x;
	f->e.budgets[1].line.own = 0;
	r = ask(f, ASK(""));
	assert_null(json_object_get(json_array_get(json_object_get(r, "budgets"), 0), "set"));
	set = json_object_get(json_array_get(json_object_get(r, "budgets"), 1), "set");
	assert_string_equal(text(set, "amount"), "0.00");
	assert_string_equal(text(set, "configured"), "20.00");
	assert_int_equal(number(set, "until_ms"), 5000);
	assert_int_equal(number(set, "id"), 7);
	assert_string_equal(text(set, "by"), "uid 5");
	assert_string_equal(text(set, "reason"), "a board");
	json_decref(r);
	x.until_ms = MONEY_NO_END;
	r = ask_as(f, &viewer, ASK(""));
	set = json_object_get(json_array_get(json_object_get(r, "budgets"), 0), "set");
	assert_string_equal(text(set, "amount"), "0.00");
	assert_int_equal(number(set, "until_ms"), 0);
	assert_null(json_object_get(set, "id"));
	assert_null(json_object_get(set, "by"));
	assert_null(json_object_get(set, "reason"));
	json_decref(r);
	stop_with_budgets(f);
}

static void test_one_is_shown_whole(void **state)
{
	struct fixture *f = start_with_budgets();
	json_t *r = ask(f, ASK(",\"budget\":\"students\"")), *all = json_object_get(r, "budgets");
	const json_t *counts;

	(void)state;
	assert_int_equal(json_array_size(all), 2);
	assert_string_equal(text(r, "each"), "user");
	counts = json_object_get(json_array_get(all, 1), "counts");
	assert_string_equal(text(counts, "market"), "spot");
	assert_string_equal(json_string_value(json_array_get(json_object_get(counts, "users"), 1)),
			    "bob");
	assert_null(json_object_get(counts, "accounts"));
	assert_string_equal(text(counts, "text"), "users ann, bob; spot machines");
	json_decref(r);
	/* One that nobody has used is there, and empty; another is not. */
	f->e.nbudgets = 1;
	r = ask(f, ASK(",\"budget\":\"students\""));
	assert_int_equal(json_array_size(json_object_get(r, "budgets")), 0);
	assert_string_equal(text(r, "each"), "user");
	json_decref(r);
	r = ask_as(f, &admin, ASK(",\"budget\":\"nosuch\""));
	assert_string_equal(text(r, "code"), "not-found");
	assert_string_equal(text(r, "error"), "no budget is named \"nosuch\"");
	json_decref(r);
	stop_with_budgets(f);
}

/* Whose budgets they see: by the kernel's uid, whatever they say. */
static void test_who_sees_what(void **state)
{
	static const struct {
		const struct ctl_caller *who;
		const char *request, *name; /* of uid 1000 */
		const char *user, *code;    /* NULL: it is refused; NULL: it is not */
		int lines;
	} rows[] = {
		{&root, ASK(""), "ann", "", NULL, 4},
		{&admin, ASK(""), "ann", "", NULL, 4},
		{&admin, ASK(",\"user\":\"bob\""), "ann", "bob", NULL, 1},
		{&finance, ASK(""), "ann", "", NULL, 4},
		{&finance, ASK(",\"user\":\"bob\""), "ann", "bob", NULL, 1},
		{&finance, ASK(",\"mine\":true"), "ann", "ann", NULL, 1},
		{&operator, ASK(""), "ann", "ann", NULL, 1},
		{&operator, ASK(",\"user\":\"bob\""), "ann", NULL, "denied", 0},
		{&operator, ASK(",\"budget\":\"physics\""), "ann", NULL, "not-found", 0},
		{&viewer, ASK(""), "ann", "ann", NULL, 1},
		{&viewer, ASK(",\"mine\":true"), "ann", "ann", NULL, 1},
		{&viewer, ASK(",\"mine\":false"), "bob", "bob", NULL, 1},
		{&viewer, ASK(",\"user\":\"ann\""), "ann", "ann", NULL, 1},
		{&viewer, ASK(",\"user\":\"bob\""), "ann", NULL, "denied", 0},
		{&viewer, ASK(",\"user\":\"bob\",\"mine\":true"), "ann", NULL, "denied", 0},
		{&viewer, ASK(",\"budget\":\"students\""), "ann", "ann", NULL, 1},
		{&viewer, ASK(",\"budget\":\"physics\""), "ann", NULL, "not-found", 0},
		{&viewer, ASK(",\"budget\":\"nosuch\""), "ann", NULL, "not-found", 0},
		{&viewer, ASK(""), "", NULL, "denied", 0},
		{&viewer, ASK(",\"user\":7"), "ann", NULL, "invalid", 0},
		{&viewer, ASK(",\"budget\":7"), "ann", NULL, "invalid", 0},
		{&admin, ASK(",\"after\":7"), "ann", NULL, "invalid", 0},
		{&admin, ASK(",\"after_value\":7"), "ann", NULL, "invalid", 0},
		{&viewer, ASK(""), "carl", "carl", NULL, 0},
		{&viewer, ASK(""), NULL, NULL, "failed", 0}, /* it cannot be held */
	};
	struct fixture *f = start_with_budgets();

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		json_t *r, *all;

		f->e.name = rows[i].name;
		f->e.budgets_user[0] = '\0';
		r = ask_as(f, rows[i].who, rows[i].request);
		all = json_object_get(r, "budgets");
		if (rows[i].code != NULL) {
			assert_string_equal(text(r, "code"), rows[i].code);
			json_decref(r);
			continue;
		}
		assert_string_equal(f->e.budgets_user, rows[i].user);
		assert_int_equal(json_array_size(all), rows[i].lines);
		if (rows[i].user[0] != '\0')
			assert_string_equal(text(r, "user"), rows[i].user);
		/* Who else is in the list is not said. */
		if (rows[i].user[0] != '\0' && rows[i].lines > 0)
			assert_null(json_object_get(json_array_get(all, 0), "counts"));
		json_decref(r);
	}
	stop_with_budgets(f);
}

/* What is there and may not be seen is as what is not there. */
static void test_no_probing(void **state)
{
	struct fixture *f = start_with_budgets();
	json_t *there = ask_as(f, &viewer, ASK(",\"budget\":\"physics\"")),
	       *absent = ask_as(f, &viewer, ASK(",\"budget\":\"phys1cs\""));

	(void)state;
	assert_string_equal(text(there, "error"), "no budget \"physics\" concerns ann");
	assert_string_equal(text(absent, "error"), "no budget \"phys1cs\" concerns ann");
	json_decref(there);
	json_decref(absent);
	stop_with_budgets(f);
}

/* Each line once, in order, however often it is asked. */
static void test_pages(void **state)
{
	struct fixture *f = start_with_budgets();
	char values[LINES][8], after[16] = "", value[16] = "", request[128];
	size_t seen = 0, pages = 0;
	json_t *r;

	(void)state;
	f->e.nbudgets = LINES;
	for (size_t i = 0; i < LINES; i++) {
		(void)snprintf(values[i], sizeof(values[i]), "u%05zu", i);
		f->e.budgets[i] =
			(struct engine_budget){.line = line_of(&f->e.conf->budgets[1], values[i])};
	}
	do {
		const json_t *all;

		(void)snprintf(request, sizeof(request),
			       ASK(",\"after\":\"%s\",\"after_value\":\"%s\""), after, value);
		r = ask(f, request);
		all = json_object_get(r, "budgets");
		for (size_t i = 0; i < json_array_size(all); i++)
			assert_string_equal(text(json_array_get(all, i), "value"), values[seen++]);
		(void)snprintf(after, sizeof(after), "%s", text(r, "next"));
		(void)snprintf(value, sizeof(value), "%s", text(r, "next_value"));
		json_decref(r);
		pages++;
	} while (after[0] != '\0');
	assert_int_equal(seen, LINES);
	assert_int_equal(pages, 3);
	/* The value may be gone meanwhile; not the budget. */
	r = ask(f, ASK(",\"after\":\"students\",\"after_value\":\"u01198+\""));
	assert_int_equal(json_array_size(json_object_get(r, "budgets")), 1);
	json_decref(r);
	r = ask(f, ASK(",\"after\":\"physics\""));
	assert_int_equal(json_array_size(json_object_get(r, "budgets")), 500);
	json_decref(r);
	r = ask_as(f, &admin, ASK(",\"after\":\"gone\""));
	assert_string_equal(text(r, "code"), "not-found");
	json_decref(r);
	stop_with_budgets(f);
}

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

/* How much is left is for those whom it concerns, wherever burstd says it. */
static void test_others_do_not_read_it(void **state)
{
	static const char money[] =
		"budget physics: this job needs 118.08 EUR, 61.20 of 500.00 left in 2026-11";
	const struct ctl_caller *const callers[] = {&viewer, &admin, &finance, &operator};
	struct fixture *f = start("n[1-4]");
	struct fleet_name *nm;
	char detail[200];

	(void)state;
	fake_refuse(&f->e, "n1", 0, money);
	fake_refuse(&f->e, "n2", 0, money);
	nm = fleet_find(&f->e.fleet, "n1");
	nm->refused = NODE_BECAUSE_BUDGET;
	fleet_find(&f->e.fleet, "n2")->refused = NODE_BECAUSE_NONE; /* Slurm has asked anew */
	(void)snprintf(detail, sizeof(detail), "job 7, refusal 1: %s", money);
	f->j.last = 1;
	(void)snprintf(f->j.events[0].node, sizeof(f->j.events[0].node), "n1");
	f->j.events[0].detail = detail;
	for (size_t i = 0; i < sizeof(callers) / sizeof(callers[0]); i++) {
		static const char *const requests[] = {
			"{\"v\":1,\"op\":\"status\"}", "{\"v\":1,\"op\":\"nodes\"}",
			"{\"v\":1,\"op\":\"node\",\"name\":\"n1\"}",
			"{\"v\":1,\"op\":\"node\",\"name\":\"n2\"}", "{\"v\":1,\"op\":\"events\"}"};

		for (size_t k = 0; k < sizeof(requests) / sizeof(requests[0]); k++) {
			json_t *r = ask_as(f, callers[i], requests[k]);
			char *all = json_dumps(r, 0);

			if (callers[i] == &viewer)
				assert_null(strstr(all, "61.20"));
			else if (k == 4)
				assert_non_null(strstr(all, money));
			if (k == 4 && callers[i] == &viewer)
				assert_non_null(strstr(
					all, "job 7, refusal 1: no money is left for its job\""));
			free(all);
			json_decref(r);
		}
	}
	stop(f);
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
		cmocka_unit_test(test_what_a_line_has),
		cmocka_unit_test(test_what_is_set),
		cmocka_unit_test(test_one_is_shown_whole),
		cmocka_unit_test(test_who_sees_what),
		cmocka_unit_test(test_no_probing),
		cmocka_unit_test(test_pages),
		cmocka_unit_test(test_a_plan_without_a_job),
		cmocka_unit_test(test_problems),
		cmocka_unit_test(test_all_jobs_wait),
		cmocka_unit_test(test_percents),
		cmocka_unit_test(test_others_do_not_read_it),
		cmocka_unit_test(test_metrics),
		cmocka_unit_test(test_many_metrics),
	};

	return cmocka_run_group_tests_name("budgets", tests, NULL, NULL);
}
