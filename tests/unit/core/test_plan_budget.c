/* test_plan_budget.c - a plan buys what budgets pay for: a job whole, or nothing of it. */
#include "plan_ladder_round.h"

#define HOUR INT64_C(3600000)

/* All machines last four hours for a job with a limit of four, and have neither boot nor end. */
static const struct payer ann = {.account = "physics",
				 .user = "ann",
				 .partition = "gpu",
				 .qos = "normal",
				 .limit_s = 4 * 3600,
				 .exclusive = true};

struct money {
	struct round t;
	struct zone *zone;
	struct conf_budget list[2];
	struct plan_terms terms[2];
};

static char pool_b[] = "b", *only_b[] = {pool_b, NULL};

static struct conf_budget budget(const char *name, int64_t eur)
{
	struct conf_budget b = {.name = (char *)(uintptr_t)name,
				.market = CONF_MARKET_ANY,
				.stop_at = 100,
				.amount_nano = eur * FMT_NANO};

	assert_int_equal(period_parse(&b.period_rule, "month", NULL), 0);
	return b;
}

/* A round with one budget of all machines, and jobs that ann pays for. */
static void begin(struct money *m, const char *nodes, int64_t eur)
{
	setup(&m->t, nodes);
	for (size_t i = 0; i < m->t.c->npools; i++)
		m->t.c->pools[i].boot_ms = 0;
	m->zone = zone_new("UTC", NULL);
	assert_non_null(m->zone);
	m->list[0] = budget("all", eur);
	memset(m->terms, 0, sizeof(m->terms));
	m->t.ask.budgets = budgets_new(m->zone, now);
	m->t.ask.terms = m->terms;
	budgets_configure(m->t.ask.budgets, m->list, 1);
	for (size_t i = 0; i < sizeof(m->t.jobs) / sizeof(m->t.jobs[0]); i++)
		m->t.jobs[i].payer = &ann;
}

static void end(struct money *m)
{
	budgets_free(m->t.ask.budgets);
	zone_free(m->zone);
	done(&m->t);
}

static void test_what_there_is_money_for(void **state)
{
	struct money m;

	(void)state;
	begin(&m, "a[1-2]", 16); /* two spot machines for four hours */
	add_job(&m.t, "a[1-2]");
	expect(&m.t, "ss");
	m.list[0].amount_nano--;
	expect(&m.t, "RR");
	why_is(&m.t, 0,
	       "budget all: this job needs 16.00 EUR for its 4 h, 15.99 of 15.999999999 "
	       "left in 2026-01");
	assert_int_equal(m.t.p.nodes[0].cause, PLAN_BUDGET);
	assert_true(plan_hint(&m.t.p, &m.t.p.nodes[0]).lasting);
	assert_int_equal(plan_hint(&m.t.p, &m.t.p.nodes[0]).job, 1);
	end(&m);
}

/* A plan is made again and again, and sets nothing aside for good. */
static void test_a_plan_leaves_nothing(void **state)
{
	struct money m;

	(void)state;
	begin(&m, "a[1-2]", 16);
	add_job(&m.t, "a[1-2]");
	for (int i = 0; i < 3; i++)
		expect(&m.t, "ss");
	assert_int_equal(budgets_line(m.t.ask.budgets, 0).held, 0);
	end(&m);
}

/* A job over two pools: each part alone would fit. */
static void test_whole_or_nothing_over_two_pools(void **state)
{
	struct money m;

	(void)state;
	begin(&m, "a[1-2],b1", 4 * (2 + 2 + 10));
	add_job(&m.t, "a[1-2],b1");
	expect(&m.t, "ssB");
	m.list[0].amount_nano -= 4 * FMT_NANO;
	expect(&m.t, "RRR");
	why_is(&m.t, 0,
	       "budget all: this job needs 56.00 EUR for its 4 h, 52.00 of 52.00 left in 2026-01");
	why_is(&m.t, 2,
	       "budget all: this job needs 56.00 EUR for its 4 h, 52.00 of 52.00 left in 2026-01");
	end(&m);
}

static void test_two_pools_each_with_a_budget(void **state)
{
	struct money m;

	(void)state;
	begin(&m, "a1,b1", 1000);
	m.list[1] = budget("b", 39);
	m.list[1].pools = only_b;
	budgets_configure(m.t.ask.budgets, m.list, 2);
	add_job(&m.t, "a1,b1");
	expect(&m.t, "RR");
	why_is(&m.t, 0,
	       "budget b: this job needs 40.00 EUR for its 4 h, 39.00 of 39.00 left in 2026-01");
	m.list[1].amount_nano = 40 * FMT_NANO;
	expect(&m.t, "sB");
	end(&m);
}

/* The rung that is tried first is the dearest here: the next one is taken when money is short. */
static void test_the_next_rung(void **state)
{
	struct money m;

	(void)state;
	begin(&m, "a[1-2]", 40);
	m.t.known[0][SPOT].price = 6 * FMT_NANO;
	m.t.c->pools[0].policy = CONF_ORDERED;
	add_job(&m.t, "a[1-2]");
	expect(&m.t, "ff"); /* 48, 24, 40 */
	m.list[0].amount_nano = 48 * FMT_NANO;
	expect(&m.t, "ss");
	m.list[0].amount_nano = 23 * FMT_NANO;
	expect(&m.t, "RR");
	why_is(&m.t, 0, /* the first one's */
	       "budget all: this job needs 48.00 EUR for its 4 h, 23.00 of 23.00 left in 2026-01");
	end(&m);
}

/* Of two pools the second has what the first one's rung leaves, and takes its own next rung. */
static void test_the_next_rung_of_the_second_pool(void **state)
{
	struct conf_pool *b;
	struct money m;

	(void)state;
	begin(&m, "a1,b1", 4 * (2 + 3));
	b = &m.t.c->pools[1];
	add_offer(b, "dear", "one", "on-demand");
	add_offer(b, "cheap", "one", "on-demand");
	b->policy = CONF_ORDERED;
	m.t.known[1][1].price = 3 * FMT_NANO;
	add_job(&m.t, "a1,b1");
	expect(&m.t, "sB");
	assert_int_equal(m.t.p.nodes[1].rung, 1);
	m.list[0].amount_nano = 4 * (2 + 10) * FMT_NANO; /* 10 alone would fit either way */
	expect(&m.t, "sB");
	assert_int_equal(m.t.p.nodes[1].rung, 0);
	m.list[0].amount_nano--;
	expect(&m.t, "sB");
	assert_int_equal(m.t.p.nodes[1].rung, 1);
	m.list[0].amount_nano = 4 * (2 + 3) * FMT_NANO - 1;
	expect(&m.t, "RR");
	end(&m);
}

/* Money beyond the pool's max_rate is of no use. */
static void test_the_limits_of_the_pool_hold_too(void **state)
{
	struct money m;

	(void)state;
	begin(&m, "a[1-2]", 1000);
	m.t.c->pools[0].max_rate_nano_h = 3 * FMT_NANO;
	add_job(&m.t, "a[1-2]");
	expect(&m.t, "RR");
	assert_int_equal(m.t.p.nodes[0].cause, PLAN_MAX_RATE);
	end(&m);
}

static void test_the_second_job_sees_what_the_first_took(void **state)
{
	struct money m;

	(void)state;
	begin(&m, "a[1-4]", 8 * 3);
	add_job(&m.t, "a[1-2]");
	add_job(&m.t, "a[3-4]");
	expect(&m.t, "ssRR");
	why_is(&m.t, 2,
	       "budget all: this job needs 16.00 EUR for its 4 h, 8.00 of 24.00 left in 2026-01");
	add_job(&m.t, "a3"); /* shares a node with the refused one */
	expect(&m.t, "ssRR");
	end(&m);
}

/* A refused job takes nothing: a smaller one behind it may start. */
static void test_a_smaller_one_passes(void **state)
{
	struct money m;

	(void)state;
	begin(&m, "a[1-3]", 8);
	add_job(&m.t, "a[1-2]");
	add_job(&m.t, "a3");
	expect(&m.t, "RRs");
	end(&m);
}

/* Who pays is not known: the job waits, and takes nothing. */
static void test_a_job_without_payer_waits(void **state)
{
	struct money m;

	(void)state;
	begin(&m, "a[1-2]", 8);
	add_job(&m.t, "a1");
	add_job(&m.t, "a2");
	m.t.jobs[0].payer = NULL;
	expect(&m.t, "Ws");
	budgets_free(m.t.ask.budgets);
	m.t.ask.budgets = NULL; /* without budgets nobody asks */
	expect(&m.t, "ss");
	end(&m);
}

/* Nodes of no job, which an admin wants: the machine is paid for, too. */
static void test_nodes_of_no_job(void **state)
{
	struct money m;

	(void)state;
	begin(&m, "a[1-2]", 3);
	m.t.ask.times.idle_ms = HOUR;
	expect(&m.t, "sR"); /* two for an hour; not four */
	why_is(&m.t, 1, "budget all: this job needs 2.00 EUR, 1.00 of 3.00 left in 2026-01");
	end(&m);
}

static void test_a_job_without_a_limit(void **state)
{
	struct payer p = ann;
	struct money m;

	(void)state;
	p.limit_s = PAYER_UNLIMITED;
	begin(&m, "a1", 1000000);
	m.t.jobs[0].payer = &p;
	add_job(&m.t, "a1");
	expect(&m.t, "R");
	why_is(&m.t, 0,
	       "budget all: this job has no time limit, so its cost cannot be set aside: give it "
	       "one by --time");
	m.list[0].reserve = CONF_RESERVE_LEASE;
	m.list[0].lease_ms = HOUR;
	expect(&m.t, "s");
	end(&m);
}

/* The terms of the rung, and how long a boot may take, are in the price. */
static void test_terms(void **state)
{
	struct money m;

	(void)state;
	begin(&m, "a1", 10);
	add_job(&m.t, "a1");
	m.terms[0].minimum_ms[SPOT] = 5 * HOUR;
	expect(&m.t, "s");
	m.terms[0].minimum_ms[SPOT] = 6 * HOUR;
	m.terms[0].quantum_ms[FAR] = 5 * HOUR;
	expect(&m.t, "R"); /* 12, 15, 20 */
	m.terms[0].minimum_ms[SPOT] = 0;
	m.t.c->pools[0].boot_ms = HOUR;
	expect(&m.t, "s");
	m.t.c->pools[0].boot_ms++;
	expect(&m.t, "R");
	m.t.c->pools[0].boot_ms = HOUR - 60000; /* P4: a machine that unmounts bills */
	m.t.c->pools[0].unmount_wait_ms = 60000;
	expect(&m.t, "s");
	m.t.c->pools[0].unmount_wait_ms++;
	expect(&m.t, "R");
	end(&m);
}

static void test_a_price_that_is_not_known(void **state)
{
	struct money m;

	(void)state;
	begin(&m, "b1", 1000);
	add_job(&m.t, "b1");
	m.t.known[1][0].price = 0;
	plan_fini(&m.t.p);
	plan_make(&m.t.p, &m.t.ask);
	assert_int_not_equal(m.t.p.nodes[0].verdict, PLAN_BUY);
	end(&m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_what_there_is_money_for),
		cmocka_unit_test(test_a_plan_leaves_nothing),
		cmocka_unit_test(test_whole_or_nothing_over_two_pools),
		cmocka_unit_test(test_two_pools_each_with_a_budget),
		cmocka_unit_test(test_the_next_rung),
		cmocka_unit_test(test_the_next_rung_of_the_second_pool),
		cmocka_unit_test(test_the_limits_of_the_pool_hold_too),
		cmocka_unit_test(test_the_second_job_sees_what_the_first_took),
		cmocka_unit_test(test_a_smaller_one_passes),
		cmocka_unit_test(test_a_job_without_payer_waits),
		cmocka_unit_test(test_nodes_of_no_job),
		cmocka_unit_test(test_a_job_without_a_limit),
		cmocka_unit_test(test_terms),
		cmocka_unit_test(test_a_price_that_is_not_known),
	};

	return cmocka_run_group_tests_name("plan_budget", tests, NULL, NULL);
}
