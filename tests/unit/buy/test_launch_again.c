/* test_launch_again.c - a create in doubt is repeated as it was, or not at all. */
#include "bare_launch.h"
#include "buy/buy.h"
#include "cloud/cloud.h"

/* All are in doubt but c1, which was throttled, and is made by the next create. */
static void lose_all_but_the_first(void)
{
	struct provider_item items[NODES];
	const struct provider_result r = {.code = PROVIDER_OK, .items = items, .nitems = NODES};

	for (int i = 0; i < NODES; i++)
		items[i] =
			(struct provider_item){.code = i == 0 ? PROVIDER_RATE : PROVIDER_AMBIGUOUS};
	F.e.left = 8 * NODES;
	launch_part.at[PART_RUN](&F.e);
	F.answer(&F.cloud, F.ctx, &r);
	launch_answered(&F.e);
	for (struct fleet_node *fn = F.e.fleet.states[NODE_INDOUBT]; fn; fn = fn->state_next)
		fn->n.wake_ms += 60000;
	F.passed = 30000;
	launch_part.at[PART_RUN](&F.e);
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
	launch_part.at[PART_RUN](&F.e);
	assert_int_equal(F.sent, 2);
	assert_int_equal(row("c2")->n.attempts, NODE_RETRIES); /* only lists can tell */
}

/* I4, F5: under its token the provider may take another body for another create. */
static void test_a_create_is_not_repeated_with_another_body(void **state)
{
	const struct provider_result lost = {.code = PROVIDER_AMBIGUOUS};

	(void)state;
	F.e.left = 4 * NODES;
	launch_part.at[PART_RUN](&F.e);
	F.answer(&F.cloud, F.ctx, &lost);
	launch_answered(&F.e);
	F.passed = 2000;
	F.hash = 2;
	launch_part.at[PART_RUN](&F.e);
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
	launch_part.at[PART_RUN](&F.e);
	F.answer(&F.cloud, F.ctx, &lost);
	launch_answered(&F.e);
	F.passed = 2000;
	F.keyless = "cannot listen";
	launch_part.at[PART_RUN](&F.e);
	assert_int_equal(F.sent, 1);
	F.keyless = NULL;
	launch_part.at[PART_RUN](&F.e);
	assert_int_equal(F.sent, 2);
}

/* I13, F47: it may never have left, and would buy now what slurmctld has given up since. */
static void test_a_create_is_repeated_only_for_nodes_that_are_known_to_be_wanted(void **state)
{
	static const struct {
		int64_t wanted, started, snapshot; /* so long ago; snapshot 0: there was none */
		bool sent;
	} rows[] = {
		{4000, 9000000, 0, true}, /* the call said so */
		{89000, 9000000, 0, true},
		{240000, 9000000, 0, false}, /* slurmctld has been silent for too long */
		{240000, 9000000, 95000, false},
		{240000, 9000000, 1000, true},
		{4000, 1000, 0, false}, /* burstd has just started */
		{240000, 1000, 0, false},
		{240000, 1000, 500, true},
	};
	const struct provider_result lost = {.code = PROVIDER_AMBIGUOUS};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		assert_int_equal(teardown(state), 0);
		assert_int_equal(setup(state), 0);
		F.e.left = 4 * NODES;
		launch_part.at[PART_RUN](&F.e);
		F.answer(&F.cloud, F.ctx, &lost);
		launch_answered(&F.e);
		F.passed = 2000;
		for (struct fleet_node *fn = F.e.fleet.states[NODE_INDOUBT]; fn;
		     fn = fn->state_next)
			fn->n.wanted_ms = engine_now(&F.e) - rows[i].wanted;
		F.e.started_ms = engine_now(&F.e) - rows[i].started;
		F.e.poll.snapshot_ms =
			rows[i].snapshot == 0 ? 0 : engine_now(&F.e) - rows[i].snapshot;
		launch_part.at[PART_RUN](&F.e);
		assert_int_equal(F.sent, rows[i].sent ? 2 : 1);
		assert_int_equal(count(NODE_INDOUBT), NODES);
		assert_int_equal(row("c1")->n.attempts, 1); /* it waits, and is not given up */
	}
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
	const struct CMUnitTest tests[] = {
		T(test_a_create_is_not_repeated_with_one_that_another_has_made),
		T(test_a_create_is_not_repeated_with_another_body),
		T(test_a_create_is_not_repeated_while_its_machines_could_not_claim),
		T(test_a_create_is_repeated_only_for_nodes_that_are_known_to_be_wanted),
	};
#undef T

	return cmocka_run_group_tests_name("launch_again", tests, NULL, NULL);
}
