/* test_launch_answer.c - what is answered to a create, late, in part or not at all, and what is
 * asked for again. */
#include "bare_launch.h"
#include "buy/buy.h"

static void test_an_answer_is_taken_in_by_pieces(void **state)
{
	(void)state;
	launch_part.at[PART_RUN](&F.e);
	F.e.left = F.e.slice.write;
	answer(NODES);
	assert_int_equal(F.nposted, 0);
	for (unsigned posted = 4; posted <= 8; posted += 4) {
		launch_answered(&F.e);
		assert_int_equal(F.nposted, posted);
		assert_int_equal(count(NODE_BOOTING), posted);
		assert_int_equal(F.e.left, 0);
		assert_non_null(F.e.buy->answers);
		launch_part.at[PART_RUN](
			&F.e); /* the batch is still on the wire: no repeat, not forgotten */
		assert_non_null(F.e.buy->batches);
		assert_int_equal(F.hurried, 0);
		F.e.left = F.e.slice.write;
	}
	launch_answered(&F.e);
	assert_int_equal(F.nposted, NODES);
	assert_int_equal(count(NODE_BOOTING), NODES);
	assert_null(F.e.buy->answers);
	assert_int_equal(F.e.left, 2);
	assert_int_equal(F.hurried, 1);
	assert_int_equal(F.e.count.instances_created, NODES);
	assert_int_equal(fleet_find(&F.e.fleet, "c3")->newest->said_ms, 1002); /* its clock's */
	assert_int_equal(F.sent, 1);
	launch_settle(&F.e);
	assert_null(F.e.buy->batches);
}

/* Once, however many turns it takes. */
static void test_an_answer_is_on_record_once(void **state)
{
	struct provider_item items[NODES];
	struct provider_result r = {
		.code = PROVIDER_OK, .request_id = "req-1", .items = items, .nitems = NODES};

	(void)state;
	launch_part.at[PART_RUN](&F.e);
	make_items(items);
	F.answer(&F.cloud, F.ctx, &r);
	for (int i = 0; i < NODES && F.e.buy->answers != NULL; i++) {
		F.e.left = 4;
		launch_answered(&F.e);
	}
	assert_string_equal(F.answered, "c1 c2 c3 c4 c5 c6 c7 c8 c9 c10 ok req-1;");
}

static void test_who_is_not_in_an_answer_is_in_doubt(void **state)
{
	(void)state;
	launch_part.at[PART_RUN](&F.e);
	F.e.left = 4 * NODES;
	answer(7);
	launch_answered(&F.e);
	assert_int_equal(count(NODE_BOOTING), 7);
	assert_int_equal(count(NODE_INDOUBT), 3);
}

/* I22: the answer was written before the instance ended, and a list that said so came first. */
static void test_an_answer_does_not_undo_an_end_that_a_list_has_told(void **state)
{
	int64_t began = engine_now(&F.e);
	struct provider_instance in = {
		.state = PROVIDER_ENDED, .created_ms = began + 1000, .ended_ms = began + 5000};

	(void)state;
	launch_part.at[PART_RUN](&F.e);
	F.passed = 30000;
	(void)snprintf(in.id, sizeof(in.id), "i-1");
	fleet_ended(row("c1"), &in);
	(void)snprintf(in.id, sizeof(in.id), "i-99"); /* another one of c2 has (F5) */
	fleet_ended(row("c2"), &in);
	(void)snprintf(in.id, sizeof(in.id), "i-8");
	fleet_ended(row("c8"), &in);
	F.e.left = 4 * NODES;
	answer(7);
	launch_answered(&F.e);
	assert_int_equal(row("c1")->n.state, NODE_GONE);
	assert_string_equal(row("c1")->n.instance, "i-1");
	assert_int_equal(row("c1")->n.end_ms, began + 5000);
	assert_int_equal(row("c2")->n.state, NODE_BOOTING);
	assert_string_equal(row("c2")->n.instance, "i-2");
	assert_int_equal(row("c8")->n.state, NODE_GONE); /* its answer was lost */
	assert_string_equal(row("c8")->n.instance, "i-8");
	assert_int_equal(row("c8")->n.end_ms, began + 5000);
	for (int i = 0; i < NODES; i++)
		assert_null(F.e.fleet.all[i]->newest->ended);
}

static void test_an_answer_about_another_node_is_none(void **state)
{
	struct provider_item items[NODES];
	const struct provider_result r = {.items = items, .nitems = NODES};

	(void)state;
	launch_part.at[PART_RUN](&F.e);
	F.e.left = 4 * NODES;
	make_items(items);
	(void)snprintf(items[3].instance.node, sizeof(items[3].instance.node), "c5");
	items[8].instance.id[0] = '\0';
	F.answer(&F.cloud, F.ctx, &r);
	launch_answered(&F.e);
	assert_int_equal(count(NODE_BOOTING), 8);
	assert_int_equal(row("c4")->n.state, NODE_INDOUBT);
	assert_int_equal(row("c9")->n.state, NODE_INDOUBT);
}

/* F16: an instance is one row's, in one answer or in two.  Whoever let go of the second would
 * delete the machine of the first. */
static void test_an_instance_that_another_row_has_is_no_answer(void **state)
{
	struct provider_item items[NODES];
	const struct provider_result r = {.items = items, .nitems = NODES};

	(void)state;
	launch_part.at[PART_RUN](&F.e);
	F.e.left = 4 * NODES;
	make_items(items);
	(void)snprintf(items[1].instance.id, sizeof(items[1].instance.id), "i-1");
	F.answer(&F.cloud, F.ctx, &r);
	launch_answered(&F.e);
	assert_int_equal(count(NODE_BOOTING), NODES - 1);
	assert_string_equal(row("c1")->n.instance, "i-1");
	assert_int_equal(row("c2")->n.state, NODE_INDOUBT);
	assert_string_equal(row("c2")->n.instance, "");
	assert_non_null(strstr(F.event, " says that it created i-1, which belongs to c1"));
	/* The repeat says so again, and then what is true. */
	for (int i = 0; i < 2; i++) {
		F.passed += 10000;
		launch_part.at[PART_RUN](&F.e);
		F.e.left = 4 * NODES;
		make_items(items);
		if (i == 0)
			(void)snprintf(items[1].instance.id, sizeof(items[1].instance.id), "i-3");
		F.answer(&F.cloud, F.ctx, &r);
		launch_answered(&F.e);
		assert_int_equal(row("c2")->n.state, i == 0 ? NODE_INDOUBT : NODE_BOOTING);
	}
	assert_string_equal(row("c2")->n.instance, "i-2");
}

/* I30: nothing happened that a list would show. */
static void test_what_is_throttled_whole_asks_for_no_list(void **state)
{
	struct provider_result r = {.code = PROVIDER_RATE};

	(void)state;
	launch_part.at[PART_RUN](&F.e);
	F.e.left = 4 * NODES;
	F.answer(&F.cloud, F.ctx, &r);
	launch_answered(&F.e);
	assert_int_equal(count(NODE_WANTED), NODES);
	assert_int_equal(F.hurried, 0);
}

static void test_who_is_throttled_waits_as_long_as_the_provider_says(void **state)
{
	struct provider_item items[NODES];
	const struct provider_result r = {.items = items, .nitems = NODES, .retry_after_ms = 45000};

	(void)state;
	launch_part.at[PART_RUN](&F.e);
	F.e.left = 4 * NODES;
	make_items(items);
	items[0].code = PROVIDER_RATE;
	F.answer(&F.cloud, F.ctx, &r);
	launch_answered(&F.e);
	assert_int_equal(row("c1")->n.state, NODE_WANTED);
	assert_int_equal(row("c1")->n.wake_ms, engine_now(&F.e) + 45000);
}

/* However many pieces it is taken in by. */
static void test_a_refusal_counts_once_for_its_place(void **state)
{
	const struct provider_result none = {.code = PROVIDER_CAPACITY};

	(void)state;
	launch_part.at[PART_RUN](&F.e);
	F.nposted = 0;
	F.answer(&F.cloud, F.ctx, &none);
	for (int i = 0; i < 3; i++) {
		F.e.left = F.e.slice.write;
		launch_answered(&F.e);
	}
	assert_int_equal(F.nposted, NODES);
	assert_int_equal(engine_unsold(&F.e, 0, PROVIDER_CAPACITY), NODES);
	assert_string_equal(fleet_find(&F.e.fleet, "c1")->why,
			    "p: no t in r: the provider has no capacity");
}

/* A provider that looks at each afresh could make it now: only lists may tell (I4, I6). */
static void test_a_create_of_which_some_was_settled_otherwise_is_not_repeated(void **state)
{
	struct node n;

	(void)state;
	lose_all();
	n = row("c1")->n;
	n.state = NODE_GONE;
	fleet_set(&F.e.fleet, row("c1"), &n);
	launch_part.at[PART_RUN](&F.e);
	assert_int_equal(F.sent, 1);
	assert_int_equal(F.nposted, NODES - 1);
	assert_int_equal(F.posted[0], NODE_EV_REFUSED);
}

/* A list may be sooner than the answer, which still has to find what it is for. */
static void test_a_create_on_the_wire_is_not_forgotten(void **state)
{
	(void)state;
	launch_part.at[PART_RUN](&F.e);
	for (int i = 1; i <= NODES; i++) {
		char name[16];
		struct node n;

		(void)snprintf(name, sizeof(name), "c%d", i);
		n = row(name)->n;
		n.state = NODE_BOOTING;
		fleet_set(&F.e.fleet, row(name), &n);
	}
	launch_settle(&F.e);
	assert_non_null(F.e.buy->batches);
}

/* To write the repeat down may take in a list that shows what it is for. */
static void test_what_turns_up_meanwhile_is_not_asked_for_again(void **state)
{
	const struct provider_result lost = {.code = PROVIDER_AMBIGUOUS};

	(void)state;
	F.e.left = 4 * NODES;
	launch_part.at[PART_RUN](&F.e);
	F.answer(&F.cloud, F.ctx, &lost);
	launch_answered(&F.e);
	F.passed = 2000;
	F.repeats = F.found = true;
	F.recorded--; /* it is written down, and not sent */
	launch_part.at[PART_RUN](&F.e);
	assert_int_equal(count(NODE_BOOTING), NODES);
	assert_int_equal(F.sent, 1);
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
	const struct CMUnitTest tests[] = {
		T(test_an_answer_is_taken_in_by_pieces),
		T(test_an_answer_is_on_record_once),
		T(test_who_is_not_in_an_answer_is_in_doubt),
		T(test_an_answer_does_not_undo_an_end_that_a_list_has_told),
		T(test_an_answer_about_another_node_is_none),
		T(test_an_instance_that_another_row_has_is_no_answer),
		T(test_what_is_throttled_whole_asks_for_no_list),
		T(test_who_is_throttled_waits_as_long_as_the_provider_says),
		T(test_a_refusal_counts_once_for_its_place),
		T(test_what_turns_up_meanwhile_is_not_asked_for_again),
		T(test_a_create_of_which_some_was_settled_otherwise_is_not_repeated),
		T(test_a_create_on_the_wire_is_not_forgotten),
	};
#undef T

	return cmocka_run_group_tests_name("launch_answer", tests, NULL, NULL);
}
