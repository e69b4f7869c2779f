/* test_remove.c - what carries our tag and is nobody's is deleted, and one that may not be deleted
 * keeps no other alive.
 *
 * On a bare struct engine: the cloud and the records are the test's. */
#include "stray_deletes.h"

static void test_strays_are_deleted_and_asked_for_again_after_a_minute(void **state)
{
	(void)state;
	remove_part.at[PART_RUN](&F.e);
	assert_int_equal(F.nsent, 1);
	assert_string_equal(F.sent[0].ids, "s0;s1;s2;");
	remove_part.at[PART_RUN](&F.e);
	assert_int_equal(F.nsent, 2);
	assert_string_equal(F.sent[1].ids, "s3;s4;");
	remove_part.at[PART_RUN](&F.e);
	assert_int_equal(F.nsent, 2);
	answer(0, PROVIDER_AMBIGUOUS, NULL);
	assert_int_equal(F.hurried, 1);
	answer(1, PROVIDER_RATE, NULL);
	assert_int_equal(F.hurried, 1); /* nothing to see (I30) */
	F.now += MINUTE;
	remove_part.at[PART_RUN](&F.e);
	assert_string_equal(F.sent[2].ids, "s0;s1;s2;");
}

/* Whatever came of the first, and what repeats do only if it succeeds: they may go on for days. */
static void test_answers_are_on_record(void **state)
{
	struct provider_result r = {.code = PROVIDER_TRANSIENT, .request_id = "req-1"};

	(void)state;
	remove_part.at[PART_RUN](&F.e);
	F.sent[0].fn(&F.cloud, F.sent[0].ctx, &r);
	assert_string_equal(F.answered, "s0 s1 s2 transient req-1;");
	remove_part.at[PART_RUN](&F.e); /* s3, s4 */
	F.answered[0] = '\0';
	F.now += 11 * MINUTE;
	remove_part.at[PART_RUN](&F.e);
	remove_part.at[PART_RUN](&F.e);
	assert_int_equal(F.nsent, 4);
	F.sent[2].fn(&F.cloud, F.sent[2].ctx, &r);
	assert_string_equal(F.answered, "");
	r.code = PROVIDER_OK;
	F.sent[3].fn(&F.cloud, F.sent[3].ctx, &r);
	assert_string_equal(F.answered, "s3 s4 ok req-1;");
}

/* The provider looks at a host while its instance runs. */
static void test_one_whose_host_is_being_reported_waits_for_that(void **state)
{
	struct fleet_node *fn;

	(void)state;
	add_nodes();
	fn = fleet_find(&F.e.fleet, "n2")->newest;
	fn->reporting = true;
	remove_part.at[PART_RUN](&F.e);
	assert_string_equal(F.sent[0].ids, "n1;n3;n4;");
	fn->reporting = false;
	remove_part.at[PART_RUN](&F.e);
	assert_string_equal(F.sent[1].ids, "n2;");
}

/* F7, P1: three that are throttled again and again kept the others for ever. */
static void test_who_was_asked_to_end_in_vain_lets_others_go_first(void **state)
{
	(void)state;
	add_nodes();
	F.cloud.caps.delete_max = 2;
	fleet_find(&F.e.fleet, "n1")->newest->asked = true;
	fleet_find(&F.e.fleet, "n3")->newest->asked = true;
	F.slots = 1;
	remove_part.at[PART_RUN](&F.e);
	assert_int_equal(F.nsent, 1);
	assert_string_equal(F.sent[0].ids, "n2;n4;");
	F.slots = 1;
	remove_part.at[PART_RUN](&F.e);
	assert_string_equal(F.sent[1].ids, "n1;n3;");
}

/* I22: what can be deleted lived until then, whatever lists before lacked.  Some providers accept a
 * repeat of a machine that is gone. */
static void test_an_accepted_delete_is_a_sign_of_life(void **state)
{
	enum { LACKED = 100, SINCE = 200 };
	static const struct {
		enum provider_code code;
		int64_t lacked_ms, is_ms;
	} rows[] = {
		{PROVIDER_OK, LACKED, 0},
		{PROVIDER_OK, SINCE, SINCE},
		{PROVIDER_NOT_FOUND, LACKED, LACKED},
		{PROVIDER_TRANSIENT, LACKED, LACKED},
	};

	(void)teardown(state);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct fleet_node *fn;

		(void)setup(state);
		add_nodes();
		fn = fleet_find(&F.e.fleet, "n1")->newest;
		fn->lacked_ms = rows[i].lacked_ms;
		fn->n.since_ms = SINCE;
		F.cloud.caps.delete_max = 1;
		F.slots = 1;
		remove_part.at[PART_RUN](&F.e);
		answer(0, PROVIDER_OK, &rows[i].code);
		if (fn->lacked_ms != rows[i].is_ms)
			fail_msg("row %zu", i);
		(void)teardown(state);
	}
	(void)setup(state);
}

/* EC2 has a limit on the instances, too. */
static void test_a_delete_has_no_more_instances_than_the_provider_lets_through(void **state)
{
	static const struct provider_limit own[PROVIDER_NOPS] = {
		[PROVIDER_DELETE] = {.instances = {3, 1, 1000}}};

	(void)state;
	add_nodes();
	limit_init(&F.cloud.limit, 8, 0, own, F.now);
	F.slots = 1;
	remove_part.at[PART_RUN](&F.e);
	assert_string_equal(F.sent[0].ids, "n1;n2;n3;");
}

/* What bills longest goes first, nodes before what is nobody's; and a request leaves when all of
 * this turn are on record, each once. */
static void test_deletes_leave_in_their_order(void **state)
{
	(void)state;
	add_nodes();
	F.cloud.nstrays = STRAYS;
	F.cloud.caps.delete_max = 2;
	remove_part.at[PART_RUN](&F.e);
	assert_int_equal(F.nsent, 3);
	assert_string_equal(F.sent[0].ids, "n1;n2;");
	assert_string_equal(F.sent[1].ids, "n3;n4;");
	assert_string_equal(F.sent[2].ids, "s0;s1;");
	assert_string_equal(F.left, "0;1;2;");
}

/* F20, F57: a 404 says "gone" only a settle time after what may have made it, and after our start,
 * for our clock may have jumped then; and it is as old as the question. */
static void test_an_early_404_is_not_believed(void **state)
{
	enum { LONG = -60000, SETTLE = 1000 };
	static const struct {
		int64_t start, sent, started, answered; /* from now on */
		bool gone;
	} rows[] = {
		{LONG, LONG, LONG, 0, true},           {LONG, LONG, -SETTLE, 0, true},
		{LONG, LONG, 1 - SETTLE, 0, false},    {LONG, LONG, 1 - SETTLE, 9000, false},
		{LONG, 1 - SETTLE, LONG, 0, false},    {1 - SETTLE, LONG, LONG, 0, false},
		{LONG, -SETTLE, LONG, 0, true},        {-SETTLE, LONG, LONG, 0, true},
		{LONG, LONG, 1 - SETTLE, LONG, false}, {3600000, LONG, LONG, 9000, false},
	};

	(void)teardown(state);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct node *n;

		(void)setup(state);
		add_nodes();
		n = &fleet_find(&F.e.fleet, "n1")->newest->n;
		n->start_ms = F.now + rows[i].start;
		n->sent_ms = F.now + rows[i].sent;
		F.e.started_ms = F.now + rows[i].started;
		F.cloud.caps.delete_max = 1;
		F.slots = 1;
		remove_part.at[PART_RUN](&F.e);
		assert_string_equal(F.sent[0].ids, "n1;");
		F.now += rows[i].answered;
		answer(0, PROVIDER_OK, (enum provider_code[]){PROVIDER_NOT_FOUND});
		print_message("# row %zu\n", i);
		assert_string_equal(F.posted,
				    rows[i].gone ? "n1 delete-accepted;" : "n1 delete-failed;");
		(void)teardown(state);
	}
	(void)setup(state);
}

static void test_without_a_slot_nothing_is_put_down_as_asked(void **state)
{
	(void)state;
	F.slots = 0;
	remove_part.at[PART_RUN](&F.e);
	assert_int_equal(F.nsent, 0);
	assert_int_equal(F.cloud.strays[0].asked_ms, 0);
	F.slots = 1;
	F.cloud.strays[0].apart = true;
	remove_part.at[PART_RUN](&F.e);
	assert_int_equal(F.nsent, 1);
	assert_string_equal(F.sent[0].ids, "s1;s2;s3;"); /* many first */
	assert_int_equal(F.cloud.strays[0].asked_ms, 0);
	assert_int_equal(F.cloud.strays[4].asked_ms, 0);
}

/* P1, F7: with one request a second the first 60 would be asked again and again, and no other. */
static void test_strays_have_their_turn_one_after_the_other(void **state)
{
	char order[32] = "";

	(void)state;
	F.cloud.caps.delete_max = 1;
	for (int i = 0; i < 7; i++) {
		F.slots = 1;
		remove_part.at[PART_RUN](&F.e);
		assert_int_equal(F.nsent, 1);
		(void)snprintf(order + 3 * i, 4, "%.3s", F.sent[0].ids);
		answer(0, PROVIDER_RATE, NULL);
		forget_sent();
		F.now += MINUTE / 2;
	}
	assert_string_equal(order, "s0;s1;s2;s3;s4;s0;s1;");
}

static void test_strays_that_are_asked_alone_have_their_turn_too(void **state)
{
	char order[32] = "";

	(void)state;
	for (size_t i = 0; i < F.cloud.nstrays; i++)
		F.cloud.strays[i].apart = true;
	for (int i = 0; i < 7; i++) {
		F.slots = 1;
		remove_part.at[PART_RUN](&F.e);
		assert_int_equal(F.nsent, 1);
		(void)snprintf(order + 3 * i, 4, "%.3s", F.sent[0].ids);
		answer(0, PROVIDER_RATE, NULL);
		forget_sent();
		F.now += 5 * MINUTE;
	}
	assert_string_equal(order, "s0;s1;s2;s3;s4;s0;s1;");
}

/* P1: a pause of its own, as long as it has not gone through so far, came on top of that of all
 * deletes. */
static void test_a_throttled_delete_waits_for_its_limit_alone(void **state)
{
	static const struct {
		enum provider_code code;
		int64_t said_ms;
		enum node_event_type want;
	} rows[] = {
		{PROVIDER_RATE, 0, NODE_EV_THROTTLED},
		{PROVIDER_RATE, 7000, NODE_EV_THROTTLED},
		{PROVIDER_TRANSIENT, 5000, NODE_EV_DELETE_FAILED},
	};

	(void)state;
	add_nodes();
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct provider_result r = {.code = rows[i].code,
					    .retry_after_ms = rows[i].said_ms};

		F.slots = 1;
		remove_part.at[PART_RUN](&F.e);
		F.sent[0].fn(&F.cloud, F.sent[0].ctx, &r);
		assert_int_equal(F.type, rows[i].want);
		if (rows[i].code != PROVIDER_RATE)
			assert_int_equal(F.retry_ms, F.now + rows[i].said_ms);
		forget_sent();
	}
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
	const struct CMUnitTest tests[] = {
		T(test_strays_are_deleted_and_asked_for_again_after_a_minute),
		T(test_answers_are_on_record),
		T(test_strays_have_their_turn_one_after_the_other),
		T(test_strays_that_are_asked_alone_have_their_turn_too),
		T(test_a_throttled_delete_waits_for_its_limit_alone),
		T(test_without_a_slot_nothing_is_put_down_as_asked),
		T(test_one_whose_host_is_being_reported_waits_for_that),
		T(test_who_was_asked_to_end_in_vain_lets_others_go_first),
		T(test_a_delete_has_no_more_instances_than_the_provider_lets_through),
		T(test_deletes_leave_in_their_order),
		T(test_an_accepted_delete_is_a_sign_of_life),
		T(test_an_early_404_is_not_believed),
	};
#undef T

	return cmocka_run_group_tests_name("remove", tests, NULL, NULL);
}
