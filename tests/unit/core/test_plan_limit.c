/* test_plan_limit.c - the limits of a pool: what counts against them, what is waited for, and what
 * is said to those who exceed them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "plan_round.h"

static void check_why(struct round *t, size_t node, const char *want)
{
	char why[160];

	plan_explain(&t->p, &t->p.nodes[node], &t->ask, why, sizeof(why));
	assert_string_equal(why, want);
}

/* Two nodes of pool a are being deleted; of `stays` of them nobody knows when. */
static enum plan_verdict with_two_that_leave(uint32_t max_nodes, int64_t max_rate, uint32_t stays)
{
	struct ladder_known known[2] = {{.price = 10 * FMT_NANO}, {.price = 10 * FMT_NANO}};
	struct plan_pool pools[2] = {
		{.known = &known[0], .stays = stays, .stays_nano_h = stays * 10 * FMT_NANO},
		{.known = &known[1]}};
	enum plan_verdict verdict;
	struct round t;

	round_init(&t, max_nodes, max_rate, "a[3-4]");
	t.f.pools[0].nodes = t.f.pools[0].leaving = 2;
	t.f.pools[0].rate_nano_h = t.f.pools[0].leaving_nano_h = 20 * FMT_NANO;
	add_job(&t, 1, "a[3-4]");
	make_plan(&t, pools);
	verdict = t.p.nodes[0].verdict;
	assert_int_equal(t.p.nodes[1].verdict, verdict);
	round_fini(&t);
	return verdict;
}

/* P2: a delete that was accepted by a provider that cannot be reached. */
static void test_nobody_waits_for_nodes_that_may_never_leave(void **state)
{
	(void)state;
	assert_int_equal(with_two_that_leave(4, 40, 2), PLAN_BUY);
	assert_int_equal(with_two_that_leave(2, 100, 0), PLAN_WAIT);
	assert_int_equal(with_two_that_leave(3, 100, 1), PLAN_WAIT);
	assert_int_equal(with_two_that_leave(2, 100, 1), PLAN_REFUSE);
	assert_int_equal(with_two_that_leave(3, 100, 2), PLAN_REFUSE);
	assert_int_equal(with_two_that_leave(8, 20, 0), PLAN_WAIT);
	assert_int_equal(with_two_that_leave(8, 30, 1), PLAN_WAIT);
	assert_int_equal(with_two_that_leave(8, 29, 1), PLAN_REFUSE);
	assert_int_equal(with_two_that_leave(8, 39, 2), PLAN_REFUSE);
}

static void test_who_is_refused_for_nodes_that_nobody_sees_is_told(void **state)
{
	struct ladder_known known[2] = {{.price = 10 * FMT_NANO}, {.price = 10 * FMT_NANO}};
	struct plan_pool pools[2] = {{.known = &known[0], .unreached = 2, .unreached_at = "far"},
				     {.known = &known[1]}};
	struct round t;

	(void)state;
	round_init(&t, 8, 25, "a3,b3");
	(void)snprintf(t.c->currency, sizeof(t.c->currency), "EUR");
	for (int i = 0; i < 2; i++) {
		t.f.pools[i].nodes = 2;
		t.f.pools[i].rate_nano_h = 20 * FMT_NANO;
	}
	add_job(&t, 1, "a3");
	make_plan(&t, pools);
	check_why(&t, 0,
		  "pool a: max_rate 25.00 EUR/h reached; 2 of its nodes may be at far, which "
		  "cannot be reached");
	check_why(&t, 1, "pool b: max_rate 25.00 EUR/h reached");
	round_fini(&t);
}

/* As many as the price allows, but not more than the pool has. */
static void test_a_job_that_is_too_dear_is_told_how_many_it_may_have(void **state)
{
	static const struct {
		uint32_t max_nodes;
		int64_t max_rate;
		const char *nodes, *why;
	} rows[] = {
		{8, 9, "a1", "needs 10.00 EUR/h, the pool allows 9.00: not even one node"},
		{8, 19, "a[1-2]", "needs 20.00 EUR/h, the pool allows 19.00: at most 1 node"},
		{8, 20, "a[1-3]", "needs 30.00 EUR/h, the pool allows 20.00: at most 2 nodes"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct ladder_known known[2] = {{.price = 10 * FMT_NANO}, {.price = 1}};
		struct plan_pool pools[2] = {{.known = &known[0]}, {.known = &known[1]}};
		struct round t;
		char want[160];

		round_init(&t, rows[i].max_nodes, rows[i].max_rate, rows[i].nodes);
		(void)snprintf(t.c->currency, sizeof(t.c->currency), "EUR");
		add_job(&t, 7, rows[i].nodes);
		make_plan(&t, pools);
		(void)snprintf(want, sizeof(want), "pool a: this job %s", rows[i].why);
		check_why(&t, 0, want);
		assert_true(plan_hint(&t.p, &t.p.nodes[0]).lasting);
		assert_int_equal(plan_hint(&t.p, &t.p.nodes[0]).job, 7);
		round_fini(&t);
	}
}

/* Nobody can pay that, and nobody can add it up. */
static void test_a_price_beyond_all_numbers_is_no_reason_for_good(void **state)
{
	struct ladder_known known[2] = {{.price = INT64_MAX / 2}, {.price = 1}};
	struct plan_pool pools[2] = {{.known = &known[0]}, {.known = &known[1]}};
	struct round t;

	(void)state;
	round_init(&t, 8, 1000, "a[1-2]");
	add_job(&t, 1, "a[1-2]");
	make_plan(&t, pools);
	assert_int_equal(t.p.nodes[0].verdict, PLAN_REFUSE);
	assert_int_equal(t.p.nodes[0].cause, PLAN_MAX_RATE);
	assert_false(plan_hint(&t.p, &t.p.nodes[0]).lasting);
	assert_int_equal(plan_hint(&t.p, &t.p.nodes[0]).job, 0);
	round_fini(&t);
}

/* Without the others of the pool it would. */
static void test_a_job_that_needs_all_of_the_rate_may_fit_some_day(void **state)
{
	struct ladder_known known[2] = {{.price = 10 * FMT_NANO}, {.price = 1}};
	struct plan_pool pools[2] = {{.known = &known[0]}, {.known = &known[1]}};
	struct round t;

	(void)state;
	round_init(&t, 8, 20, "a[2-3]");
	t.f.pools[0].nodes = 1;
	t.f.pools[0].rate_nano_h = 10 * FMT_NANO;
	add_job(&t, 1, "a[2-3]");
	make_plan(&t, pools);
	assert_int_equal(t.p.nodes[0].cause, PLAN_MAX_RATE);
	assert_false(plan_hint(&t.p, &t.p.nodes[0]).lasting);
	round_fini(&t);
}

static void test_a_job_that_needs_all_of_the_nodes_may_fit_some_day(void **state)
{
	struct ladder_known known[2] = {{.price = 1}, {.price = 1}};
	struct plan_pool pools[2] = {{.known = &known[0]}, {.known = &known[1]}};
	struct round t;

	(void)state;
	round_init(&t, 2, 1000, "a[2-3]");
	t.f.pools[0].nodes = 1;
	add_job(&t, 1, "a[2-3]");
	make_plan(&t, pools);
	check_why(&t, 0, "pool a: max_nodes 2 reached");
	assert_false(plan_hint(&t.p, &t.p.nodes[0]).lasting);
	round_fini(&t);
}

/* What a job's node that is there costs by an earlier price is no reason for good: it goes, and
 * another one is cheaper (seed 12845: the job waited a day). */
static void test_a_node_of_a_price_that_has_gone_by(void **state)
{
	static const struct {
		int64_t rate, max_rate;
		bool lasting;
	} rows[] = {
		{11 * FMT_NANO, 20, false},
		{10 * FMT_NANO, 19, true},
		{INT64_MAX / 2 + 1, 20, false},
		{INT64_MAX / 2 + 1, 19, true},
		{9 * FMT_NANO, 18, true},
		{9 * FMT_NANO, 19, false}, /* others have the rate */
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct ladder_known known[2] = {{.price = 10 * FMT_NANO}, {.price = 1}};
		struct plan_pool pools[2] = {{.known = &known[0]}, {.known = &known[1]}};
		struct round t;
		struct node n;

		print_message("# %zu\n", i);
		round_init(&t, 8, rows[i].max_rate, "a[1-2]");
		node_init(&n, "a1", 1, 0);
		n.state = NODE_READY;
		n.rate_nano_h = rows[i].rate;
		(void)fleet_add(&t.f, &n);
		t.f.pools[0].nodes++;
		t.f.pools[0].rate_nano_h = INT64_MAX / 2;
		add_job(&t, 1, "a[1-2]");
		make_plan(&t, pools);
		assert_int_equal(t.p.nodes[1].verdict, PLAN_REFUSE);
		assert_int_equal(t.p.nodes[1].cause, PLAN_MAX_RATE);
		assert_int_equal(plan_hint(&t.p, &t.p.nodes[1]).lasting, rows[i].lasting);
		round_fini(&t);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_nobody_waits_for_nodes_that_may_never_leave),
		cmocka_unit_test(test_who_is_refused_for_nodes_that_nobody_sees_is_told),
		cmocka_unit_test(test_a_job_that_is_too_dear_is_told_how_many_it_may_have),
		cmocka_unit_test(test_a_job_that_needs_all_of_the_rate_may_fit_some_day),
		cmocka_unit_test(test_a_price_beyond_all_numbers_is_no_reason_for_good),
		cmocka_unit_test(test_a_job_that_needs_all_of_the_nodes_may_fit_some_day),
		cmocka_unit_test(test_a_node_of_a_price_that_has_gone_by),
	};

	return cmocka_run_group_tests_name("plan, limits", tests, NULL, NULL);
}
