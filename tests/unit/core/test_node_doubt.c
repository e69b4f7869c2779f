/* node.c where a create is repeated, and what no way leads to: beside test_node.c, which has the
 * tables. */
#include "core/node.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

enum { W = 60000, T0 = 1000000 };

static const struct node_limits lim = {
	.tokens = true, .settle_ms = W, .token_ms = 30 * W, .boot_ms = 5 * W};

static void post(struct node *n, enum node_event_type type, int64_t now, enum node_reason why)
{
	const struct node_event ev = {.type = type, .now_ms = now, .reason = why, .batch = 9};

	(void)node_step(n, &ev, &lim);
}

static void absent(struct node *n, int64_t list_ms)
{
	const struct node_event ev = {
		.type = NODE_EV_ABSENT, .now_ms = list_ms, .list_ms = list_ms};

	(void)node_step(n, &ev, &lim);
}

static struct node in_doubt(void)
{
	struct node n;

	node_init(&n, "c1", 1, T0);
	post(&n, NODE_EV_START, T0, NODE_BECAUSE_NONE);
	post(&n, NODE_EV_LOST, T0, NODE_BECAUSE_NONE);
	return n;
}

/* While the repeat was on the wire no list was looked at: one may have shown the instance.  So an
 * absence before it and one after it are not two in a row (I9, F15). */
static void test_an_absence_before_a_repeat_does_not_count_after_it(void **state)
{
	static const enum node_event_type answers[] = {NODE_EV_NOTSENT, NODE_EV_REFUSED,
						       NODE_EV_LOST};

	(void)state;
	for (size_t i = 0; i < sizeof(answers) / sizeof(answers[0]); i++) {
		struct node n = in_doubt();

		absent(&n, T0 + W);
		assert_int_equal(n.misses, 1);
		post(&n, answers[i], T0 + W + 1, NODE_BECAUSE_CAPACITY);
		assert_int_equal(n.state, NODE_INDOUBT);
		assert_int_equal(n.misses, 0);
		absent(&n, T0 + 3 * W);
		assert_int_equal(n.state, NODE_INDOUBT);
		absent(&n, T0 + 4 * W - 1);
		assert_int_equal(n.state, NODE_INDOUBT);
		absent(&n, T0 + 4 * W);
		assert_int_equal(n.state, NODE_GONE);
	}
}

/* A reason is kept where the end gives none. */
static void test_an_end_without_a_reason_leaves_the_reason(void **state)
{
	struct node n;

	(void)state;
	node_init(&n, "c1", 1, T0);
	n.reason = NODE_BECAUSE_QUOTA;
	post(&n, NODE_EV_REFUSED, T0, NODE_BECAUSE_NONE);
	assert_int_equal(n.state, NODE_GONE);
	assert_int_equal(n.reason, NODE_BECAUSE_QUOTA);
}

/* What is on its way out does not live, though a damaged row may say that nobody released it. */
static void test_leaving_is_not_living(void **state)
{
	static const bool lives[NODE_NSTATES] = {
		[NODE_WANTED] = true,  [NODE_CREATING] = true, [NODE_INDOUBT] = true,
		[NODE_BOOTING] = true, [NODE_READY] = true,    [NODE_DRAINING] = true};

	(void)state;
	for (int s = 0; s < NODE_NSTATES; s++) {
		struct node n = {.state = (enum node_state)s};

		assert_int_equal(node_lives(&n), lives[s]);
		n.release = true;
		assert_false(node_lives(&n));
	}
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_an_absence_before_a_repeat_does_not_count_after_it),
		cmocka_unit_test(test_an_end_without_a_reason_leaves_the_reason),
		cmocka_unit_test(test_leaving_is_not_living),
	};

	return cmocka_run_group_tests_name("node_doubt", tests, NULL, NULL);
}
