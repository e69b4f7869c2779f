/* test_launch_steps.c - a create of several requests is written down step by step, and goes on
 * where it was after a crash. */
#include "bare_launch.h"
#include "buy/buy.h"
#include "cloud/cloud.h"

static void send_all(void)
{
	F.e.left = 4 * NODES;
	launch_part.at[PART_RUN](&F.e);
	assert_int_equal(F.sent, 1);
	assert_string_equal(F.op.cursor, "");
}

static void hear_more(const char *cursor)
{
	struct provider_result r = {.code = PROVIDER_MORE};

	(void)snprintf(r.cursor, sizeof(r.cursor), "%s", cursor);
	F.answer(&F.cloud, F.ctx, &r);
}

/* Start again with what is durable: the batch, and its rows in doubt. */
static void crash(void)
{
	const struct journal_batch was = F.durable;
	struct fleet_node *fn;

	launch_free(&F.e);
	F.e.buy->answers_last = &F.e.buy->answers;
	while ((fn = F.e.fleet.states[NODE_CREATING]) != NULL) {
		struct node n = fn->n;

		n.state = NODE_INDOUBT;
		n.wake_ms = INT64_MAX; /* not to be repeated by its token */
		fn->busy = false;
		fleet_set(&F.e.fleet, fn, &n);
	}
	launch_load(&F.e, &was);
	launch_restore(&F.e);
}

static void test_each_step_is_durable_before_the_next(void **state)
{
	(void)state;
	send_all();
	hear_more("a");
	assert_string_equal(F.durable.cursor, "a");
	assert_string_equal(F.durable.token, F.token);
	hear_more("b");
	assert_string_equal(F.durable.cursor, "b");
	assert_int_equal(count(NODE_CREATING), NODES);
	assert_true(row("c1")->busy);
	answer(NODES);
	launch_answered(&F.e);
	assert_string_equal(F.staged.cursor, "");
	assert_int_equal(count(NODE_BOOTING), NODES);
}

/* F2: what its first requests made is neither made twice nor left. */
static void test_after_a_crash_it_goes_on_where_it_was(void **state)
{
	(void)state;
	send_all();
	hear_more("a");
	crash();
	launch_part.at[PART_RUN](&F.e);
	assert_int_equal(F.sent, 2);
	assert_string_equal(F.op.cursor, "a");
	assert_true(row("c1")->busy);
	launch_part.at[PART_RUN](&F.e);
	assert_int_equal(F.sent, 2); /* once */
	answer(NODES);
	launch_answered(&F.e);
	assert_int_equal(count(NODE_BOOTING), NODES);
}

/* The machine comes all the same, and is deleted then. */
static void test_one_whose_nodes_were_released_is_ended_as_well(void **state)
{
	(void)state;
	send_all();
	hear_more("a");
	crash();
	for (struct fleet_node *fn = F.e.fleet.states[NODE_INDOUBT]; fn; fn = fn->state_next)
		fn->n.release = true;
	F.closed = "paused";
	launch_part.at[PART_RUN](&F.e);
	assert_int_equal(F.sent, 2);
	assert_string_equal(F.op.cursor, "a");
	answer(NODES);
	launch_answered(&F.e);
	assert_int_equal(count(NODE_DELETING), NODES);
}

/* Start again, at a provider where a create goes on only where it was refused (EC2's subnets). */
static void crash_elsewhere(void)
{
	F.cloud.caps.flags |= PROVIDER_ELSEWHERE;
	send_all();
	hear_more("1");
	crash();
	for (struct fleet_node *fn = F.e.fleet.states[NODE_INDOUBT]; fn; fn = fn->state_next)
		fn->n.wake_ms = 0; /* its token is known there */
}

/* F2: nothing was made where it was refused, so it must buy no more than a repeat may. */
static void test_where_nothing_has_begun_it_goes_on_as_a_repeat(void **state)
{
	(void)state;
	crash_elsewhere();
	F.cloud.listed = false;
	launch_part.at[PART_RUN](&F.e);
	assert_int_equal(F.sent, 1);
	F.cloud.listed = true;
	launch_part.at[PART_RUN](&F.e);
	assert_int_equal(F.sent, 2);
	assert_string_equal(F.op.cursor, "1"); /* what it was last is not made twice */
	answer(NODES);
	launch_answered(&F.e);
	assert_int_equal(count(NODE_BOOTING), NODES);
}

static void test_where_nothing_has_begun_a_closed_pool_buys_nothing(void **state)
{
	(void)state;
	crash_elsewhere();
	F.closed = "paused";
	launch_part.at[PART_RUN](&F.e);
	assert_int_equal(F.sent, 1);
	assert_string_equal(F.staged.cursor, "");
	assert_int_equal(count(NODE_INDOUBT), NODES);
	assert_int_equal(row("c1")->n.attempts, NODE_RETRIES); /* lists tell */
	F.closed = NULL;
	launch_part.at[PART_RUN](&F.e);
	assert_int_equal(F.sent, 1);
}

static void test_where_nothing_has_begun_what_nobody_wants_is_not_bought(void **state)
{
	(void)state;
	crash_elsewhere();
	for (struct fleet_node *fn = F.e.fleet.states[NODE_INDOUBT]; fn; fn = fn->state_next)
		fn->n.release = true;
	launch_part.at[PART_RUN](&F.e);
	assert_int_equal(F.sent, 1);
}

/* I4: its offer or its image is another now; only lists can tell what became of it. */
static void test_one_that_cannot_be_built_again_is_left_to_lists(void **state)
{
	(void)state;
	send_all();
	hear_more("a");
	crash();
	F.hash = 2;
	launch_part.at[PART_RUN](&F.e);
	assert_int_equal(F.sent, 1);
	assert_string_equal(F.staged.cursor, "");
	assert_int_equal(count(NODE_INDOUBT), NODES);
	assert_int_equal(row("c1")->n.attempts, NODE_RETRIES);
}

static void test_while_no_request_may_go_it_waits(void **state)
{
	(void)state;
	send_all();
	hear_more("a");
	crash();
	F.busy = true;
	launch_part.at[PART_RUN](&F.e);
	assert_int_equal(F.sent, 1);
	assert_string_equal(F.durable.cursor, "a");
	F.busy = false;
	launch_part.at[PART_RUN](&F.e);
	assert_int_equal(F.sent, 2);
}

/* It may have happened: from then on its token and the lists decide, not the cursor. */
static void test_one_that_does_not_end_is_in_doubt(void **state)
{
	const struct provider_result endless = {.code = PROVIDER_AMBIGUOUS};

	(void)state;
	send_all();
	hear_more("a");
	F.answer(&F.cloud, F.ctx, &endless);
	assert_string_equal(F.staged.cursor, "");
	launch_answered(&F.e);
	assert_int_equal(count(NODE_INDOUBT), NODES);
}

/* People are told why, and the whole provider waits for an admin, as after any denial. */
static void test_one_that_is_denied_on_the_way_is_refused(void **state)
{
	const struct provider_result denied = {
		.code = PROVIDER_DENIED, .message = "not your node", .denied_for_good = true};

	(void)state;
	send_all();
	hear_more("a");
	F.answer(&F.cloud, F.ctx, &denied);
	assert_string_equal(F.staged.cursor, "");
	launch_answered(&F.e);
	assert_int_equal(count(NODE_GONE), NODES);
	assert_int_equal(row("c1")->n.reason, NODE_BECAUSE_DENIED);
	assert_string_equal(row("c1")->name->why, "p: not your node");
	assert_string_equal(F.event, "provider-off: p t in r, on-demand: not your node");
	assert_int_equal(place_view(&F.e, &F.pool.own).state, COOLDOWN_DENIED);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_each_step_is_durable_before_the_next, setup,
						teardown),
		cmocka_unit_test_setup_teardown(test_after_a_crash_it_goes_on_where_it_was, setup,
						teardown),
		cmocka_unit_test_setup_teardown(test_one_whose_nodes_were_released_is_ended_as_well,
						setup, teardown),
		cmocka_unit_test_setup_teardown(test_where_nothing_has_begun_it_goes_on_as_a_repeat,
						setup, teardown),
		cmocka_unit_test_setup_teardown(
			test_where_nothing_has_begun_a_closed_pool_buys_nothing, setup, teardown),
		cmocka_unit_test_setup_teardown(
			test_where_nothing_has_begun_what_nobody_wants_is_not_bought, setup,
			teardown),
		cmocka_unit_test_setup_teardown(
			test_one_that_cannot_be_built_again_is_left_to_lists, setup, teardown),
		cmocka_unit_test_setup_teardown(test_while_no_request_may_go_it_waits, setup,
						teardown),
		cmocka_unit_test_setup_teardown(test_one_that_does_not_end_is_in_doubt, setup,
						teardown),
		cmocka_unit_test_setup_teardown(test_one_that_is_denied_on_the_way_is_refused,
						setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
