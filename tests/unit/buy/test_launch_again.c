/* test_launch_again.c - a create in doubt is repeated as it was, or not at all. */
#include "bare_launch.h"
#include "buy/buy.h"
#include "cloud/cloud.h"

static struct fleet_node *row(const char *name)
{
	return fleet_find(&F.e.fleet, name)->newest;
}

/* All are in doubt but c1, which was throttled, and is made by the next create. */
static void lose_all_but_the_first(void)
{
	struct provider_item items[NODES];
	const struct provider_result r = {.code = PROVIDER_OK, .items = items, .nitems = NODES};

	for (int i = 0; i < NODES; i++)
		items[i] =
			(struct provider_item){.code = i == 0 ? PROVIDER_RATE : PROVIDER_AMBIGUOUS};
	F.e.left = 8 * NODES;
	launch_run(&F.e);
	F.answer(&F.cloud, F.ctx, &r);
	launch_answered(&F.e);
	for (struct fleet_node *fn = F.e.fleet.states[NODE_INDOUBT]; fn; fn = fn->state_next)
		fn->n.wake_ms += 60000;
	F.passed = 30000;
	launch_run(&F.e);
	assert_int_equal(F.sent, 2);
	answer(1);
	launch_answered(&F.e);
	assert_int_equal(row("c1")->n.state, NODE_BOOTING);
	assert_int_equal(count(NODE_INDOUBT), NODES - 1);
	for (struct fleet_node *fn = F.e.fleet.states[NODE_INDOUBT]; fn; fn = fn->state_next)
		fn->n.wake_ms = 0;
}

/* I3: a provider that looks at each afresh would make it once more. */
static void test_a_create_is_not_repeated_with_one_that_another_has_made(void **state)
{
	(void)state;
	lose_all_but_the_first();
	launch_run(&F.e);
	assert_int_equal(F.sent, 2);
	assert_int_equal(row("c2")->n.attempts, NODE_RETRIES); /* only lists can tell */
}

/* I4, F5: under its token the provider may take another body for another create. */
static void test_a_create_is_not_repeated_with_another_body(void **state)
{
	const struct provider_result lost = {.code = PROVIDER_AMBIGUOUS};

	(void)state;
	F.e.left = 4 * NODES;
	launch_run(&F.e);
	F.answer(&F.cloud, F.ctx, &lost);
	launch_answered(&F.e);
	F.passed = 2000;
	F.hash = 2;
	launch_run(&F.e);
	assert_int_equal(F.sent, 1);
	assert_int_equal(count(NODE_INDOUBT), NODES);
	assert_int_equal(row("c1")->n.attempts, NODE_RETRIES);
}

/* What was made claims too late, what was not would be bought for nothing; lists tell, too. */
static void test_a_create_is_not_repeated_while_its_machines_could_not_claim(void **state)
{
	const struct provider_result lost = {.code = PROVIDER_AMBIGUOUS};

	(void)state;
	F.e.left = 4 * NODES;
	launch_run(&F.e);
	F.answer(&F.cloud, F.ctx, &lost);
	launch_answered(&F.e);
	F.passed = 2000;
	F.keyless = "cannot listen";
	launch_run(&F.e);
	assert_int_equal(F.sent, 1);
	F.keyless = NULL;
	launch_run(&F.e);
	assert_int_equal(F.sent, 2);
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
	const struct CMUnitTest tests[] = {
		T(test_a_create_is_not_repeated_with_one_that_another_has_made),
		T(test_a_create_is_not_repeated_with_another_body),
		T(test_a_create_is_not_repeated_while_its_machines_could_not_claim),
	};
#undef T

	return cmocka_run_group_tests_name("launch_again", tests, NULL, NULL);
}
