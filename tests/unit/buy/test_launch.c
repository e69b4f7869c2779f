/* test_launch.c - a burst is cut into pieces: what goes out, and what is answered, leaves the loop
 * time for hooks.  What goes into a create, and what keeps a node from one. */
#include "bare_launch.h"
#include "buy/buy.h"

static void test_nothing_goes_out_when_this_pass_has_done_its_work(void **state)
{
	(void)state;
	F.e.left = 0;
	launch_part.at[PART_RUN](&F.e);
	assert_int_equal(F.sent, 0);
	assert_true(F.e.more); /* and the timer is set for now */
	F.e.left = 1;
	launch_part.at[PART_RUN](&F.e);
	assert_int_equal(F.sent, 1); /* a request is never cut */
	assert_int_equal(count(NODE_CREATING), NODES);
	assert_int_equal(F.e.left, 0);
	launch_part.at[PART_RUN](&F.e);
	assert_false(F.e.more); /* nothing is wanted any more */
}

/* F47, F55: the disk took longer for it than slurmctld's word is good for. */
static void test_what_the_disk_held_up_for_long_is_decided_anew(void **state)
{
	(void)state;
	F.disk_ms = 91000;
	launch_part.at[PART_RUN](&F.e);
	F.disk_ms = 0;
	assert_int_equal(F.sent, 0);
	assert_int_equal(F.made, 0);
	F.e.left = NODES;
	while (F.e.buy->answers != NULL)
		launch_answered(&F.e);
	assert_int_equal(count(NODE_WANTED), NODES);
	launch_settle(&F.e);
	assert_null(F.e.buy->batches);
	F.passed += 60000; /* longer than it waits for another try */
	F.e.left = NODES;
	launch_part.at[PART_RUN](&F.e);
	assert_int_equal(F.sent, 0);
	F.e.poll.snapshot_ms = engine_now(&F.e);
	F.recorded = 0; /* it was, as is what never left us */
	launch_part.at[PART_RUN](&F.e);
	assert_int_equal(F.sent, 1);
}

/* The listener's port is somebody else's, say: machines would boot for nothing. */
static void test_nothing_is_bought_that_could_not_have_its_keys(void **state)
{
	(void)state;
	F.keyless = "cannot listen";
	launch_part.at[PART_RUN](&F.e);
	assert_int_equal(F.sent, 0);
	assert_int_equal(count(NODE_WANTED), NODES);
	assert_false(F.e.more); /* time does it */
	F.keyless = NULL;
	launch_part.at[PART_RUN](&F.e);
	assert_int_equal(F.sent, 1);
}

/* They are there until the answer is read, and no longer, for they are a secret. */
static void test_user_data_of_machines_that_claim(void **state)
{
	(void)state;
	F.claims = true;
	launch_part.at[PART_RUN](&F.e);
	assert_int_equal(F.sent, 1);
	assert_string_equal(F.op.u.create.user_data, F.op.u.create.token);
	assert_int_equal(F.issued, NODES);
	answer(NODES);
	assert_non_null(F.e.buy->batches->user_data);
	F.e.left = NODES;
	launch_answered(&F.e);
	assert_null(F.e.buy->batches->user_data);
}

/* Each with its own; and who has no token yet is not bought, nor is anything else kept from it. */
static void test_a_token_in_the_user_data_is_for_one_machine(void **state)
{
	(void)state;
	F.vouchers = true;
	launch_part.at[PART_RUN](&F.e);
	assert_int_equal(F.sent, NODES - 1);
	assert_int_equal(count(NODE_WANTED), 1);
	for (unsigned i = 0; i < F.sent; i++)
		assert_int_equal(F.sizes[i], 1);
	assert_string_equal(F.op.u.create.user_data, F.first[NODES - 2]);
	assert_int_equal(F.issued, NODES - 1); /* it is asked, and issues none */
}

/* A job has its nodes together, or waits for the last of its tokens. */
static void test_a_job_waits_for_all_its_tokens(void **state)
{
	(void)state;
	make_gangs();
	F.vouchers = true;
	launch_part.at[PART_RUN](&F.e);
	assert_int_equal(F.sent, NODES - 4); /* c4 is one of four */
	assert_int_equal(count(NODE_WANTED), 4);
}

static void test_a_create_has_no_more_nodes_than_the_driver_can_take(void **state)
{
	(void)state;
	F.fits = 4;
	launch_part.at[PART_RUN](&F.e);
	assert_int_equal(F.sent, 3);
	assert_int_equal(F.sizes[0], 4);
	assert_int_equal(F.sizes[1], 4);
	assert_int_equal(F.sizes[2], 2);
	assert_int_equal(count(NODE_CREATING), NODES);
}

/* F7: one that asks for more is throttled whole. */
static void test_a_create_has_no_more_nodes_than_the_provider_lets_through(void **state)
{
	(void)state;
	with_room_for(4);
	launch_part.at[PART_RUN](&F.e);
	assert_int_equal(F.sent, 1);
	assert_int_equal(F.sizes[0], 4);
	assert_int_equal(count(NODE_WANTED), NODES - 4);
	assert_int_equal(limit_next_ms(&F.cloud.limit, engine_now(&F.e)), engine_now(&F.e) + 1000);
}

static void test_a_job_waits_until_there_is_room_for_all_of_it(void **state)
{
	(void)state;
	make_gangs(); /* of 3, 4, and 3 that stand alone */
	F.cloud.caps.flags = PROVIDER_GANGS;
	with_room_for(2);
	launch_part.at[PART_RUN](&F.e);
	assert_int_equal(F.sent, 0);
	assert_int_equal(limit_next_ms(&F.cloud.limit, engine_now(&F.e)), engine_now(&F.e) + 1000);
	with_room_for(6);
	launch_part.at[PART_RUN](&F.e);
	assert_int_equal(F.sent, 1);
	assert_int_equal(F.sizes[0], 3);
	assert_int_equal(limit_next_ms(&F.cloud.limit, engine_now(&F.e)), engine_now(&F.e) + 1000);
	with_room_for(NODES); /* more there never is */
	launch_part.at[PART_RUN](&F.e);
	assert_int_equal(F.sent, 2);
	assert_int_equal(F.sizes[1], 7);
}

static void test_jobs_stay_whole_where_the_driver_can_take_them(void **state)
{
	(void)state;
	make_gangs();
	F.fits = 5;
	launch_part.at[PART_RUN](&F.e);
	assert_int_equal(F.sent, 3);
	assert_int_equal(F.sizes[0], 3); /* not two of the next job */
	assert_int_equal(F.sizes[1], 5); /* it, and one that stands alone */
	assert_int_equal(F.sizes[2], 2);
	assert_string_equal(F.first[0], "c1");
	assert_string_equal(F.first[1], "c4");
	assert_string_equal(F.first[2], "c9");
}

/* Jobs of 1, 3, 1, 3 and 2 nodes: none waits for more than those of the sizes before it. */
static void test_jobs_of_one_size_go_together_and_the_size_that_came_first_goes_first(void **state)
{
	static const uint32_t groups[NODES] = {0, 1, 1, 1, 0, 2, 2, 2, 3, 3};
	static const char *const order[NODES] = {"c1", "c5", "c2", "c3", "c4",
						 "c6", "c7", "c8", "c9", "c10"};
	size_t i = 0;

	(void)state;
	for (struct fleet_node *fn = F.e.fleet.states[NODE_WANTED]; fn; fn = fn->state_next)
		fn->n.group = groups[i++];
	launch_part.at[PART_RUN](&F.e);
	assert_int_equal(F.sent, 1);
	assert_int_equal(F.sizes[0], NODES);
	for (i = 0; i < NODES; i++)
		assert_int_equal(row(order[i])->n.slot, i);
}

static void test_who_knows_of_gangs_gets_them_as_they_came(void **state)
{
	(void)state;
	make_gangs();
	F.cloud.caps.flags = PROVIDER_GANGS;
	launch_part.at[PART_RUN](&F.e);
	assert_int_equal(F.sent, 1);
	assert_string_equal(F.first[0], "c1");
}

static void test_a_job_too_large_for_one_create_goes_in_pieces(void **state)
{
	(void)state;
	make_gangs();
	F.fits = 2;
	launch_part.at[PART_RUN](&F.e);
	assert_int_equal(F.sizes[0], 2);
	assert_int_equal(F.sizes[1], 1); /* the last of the first job */
	assert_int_equal(F.sizes[2], 2);
	assert_int_equal(F.sizes[3], 2);
	assert_int_equal(F.sizes[4], 2);
	assert_int_equal(F.sizes[5], 1);
	assert_int_equal(count(NODE_CREATING), NODES);
}

/* slurmctld does not have it: neither it nor the others of its job. */
static void test_a_job_with_a_node_that_slurmctld_does_not_know_waits(void **state)
{
	(void)state;
	make_gangs();
	fleet_find(&F.e.fleet, "c1")->missing_ms = 1;
	launch_part.at[PART_RUN](&F.e);
	assert_int_equal(count(NODE_WANTED), 3);
	assert_int_equal(row("c2")->n.state, NODE_WANTED);
	assert_int_equal(row("c4")->n.state, NODE_CREATING);
}

/* It was wanted before a restart, say, and what slurmctld had there came up wrong meanwhile. */
static void test_a_node_that_rests_is_not_bought(void **state)
{
	(void)state;
	fleet_find(&F.e.fleet, "c1")->rests_ms = engine_now(&F.e) + 1;
	launch_part.at[PART_RUN](&F.e);
	assert_int_equal(F.sent, 1);
	assert_int_equal(F.sizes[0], NODES - 1);
	assert_int_equal(fleet_find(&F.e.fleet, "c1")->newest->n.state, NODE_WANTED);
	fleet_find(&F.e.fleet, "c1")->rests_ms = engine_now(&F.e);
	F.e.left = 100;
	launch_part.at[PART_RUN](&F.e);
	assert_int_equal(F.sent, 2);
	assert_int_equal(F.sizes[1], 1);
}

/* F58, F57: neither a journal that is yesterday's nor a clock that went back brings one again. */
static void test_the_number_of_a_batch_never_comes_again(void **state)
{
	const uint64_t now = (uint64_t)engine_now(&F.e);
	struct journal_batch j = {.id = now + 10, .pool = "p"};

	(void)state;
	launch_load(&F.e, &j);
	j.id = now + 5;
	launch_load(&F.e, &j);
	launch_part.at[PART_RUN](&F.e);
	assert_int_equal(F.e.buy->batches->j.id, now + 11);
	assert_int_equal(F.last_batch, now + 11);
}

/* F58: the file last-batch names it, too, and a journal without it would be taken for an old one.
 */
static void test_the_number_of_a_create_that_cannot_be_built_is_in_the_journal(void **state)
{
	(void)state;
	F.unbuildable = true;
	launch_part.at[PART_RUN](&F.e);
	assert_int_equal(F.sent, 0);
	assert_true(F.e.buy->last_batch > 0);
	assert_int_equal(F.last_batch, F.e.buy->last_batch);
}

/* Nothing is bought for user-data that the provider would refuse or drop: whose, how long, and the
 * limit. */
static void test_user_data_that_does_not_fit_is_not_sent(void **state)
{
	static char text[] = "12345678", name[] = "big";
	const struct fleet_node *fn;

	(void)state;
	F.provider.user_data = text;
	F.terms.data_max = 7;
	F.pool.own.name = name;
	for (struct fleet_node *w = F.e.fleet.states[NODE_WANTED]; w; w = w->state_next)
		place_set(&F.e, &w->n, &F.pool.own, 1);
	launch_part.at[PART_RUN](&F.e);
	assert_int_equal(F.sent, 0);
	assert_int_equal(F.posted[0], NODE_EV_REFUSED);
	fn = F.e.fleet.states[NODE_GONE];
	assert_non_null(fn);
	assert_string_equal(fn->name->why,
			    "offer \"big\" of pool \"p\": the user-data has 8 bytes, "
			    "and the provider takes at most 7");
}

static void test_user_data_that_fits_is_sent(void **state)
{
	static char text[] = "1234567";

	(void)state;
	F.provider.user_data = text;
	F.terms.data_max = 7;
	launch_part.at[PART_RUN](&F.e);
	assert_int_equal(F.sent, 1);
}

/* What burstd writes itself is measured likewise. */
static void test_user_data_of_burstd_that_does_not_fit_is_not_sent(void **state)
{
	(void)state;
	F.claims = true;
	F.terms.data = PROVIDER_DATA_NONE;
	launch_part.at[PART_RUN](&F.e);
	assert_int_equal(F.sent, 0);
	assert_non_null(F.e.fleet.states[NODE_GONE]);
	assert_string_equal(F.e.fleet.states[NODE_GONE]->name->why,
			    "pool \"p\": its machines get no user-data: they would never run it");
}

/* Nor does that of a job, of all that the journal has. */
static void test_the_number_of_a_gang_never_comes_again(void **state)
{
	(void)state;
	make_gangs();
	launch_restore(&F.e);
	assert_int_equal(F.e.buy->last_group, 2);
}

static void test_nothing_goes_out_for_a_pool_that_is_closed(void **state)
{
	(void)state;
	F.closed = "an admin";
	launch_part.at[PART_RUN](&F.e);
	assert_int_equal(F.sent, 0);
	assert_int_equal(count(NODE_WANTED), NODES);
	assert_int_equal(F.looked, 1); /* they are refused */
}

static void test_nothing_is_bought_again_for_a_pool_that_is_closed(void **state)
{
	(void)state;
	lose_all();
	F.closed = "an admin";
	launch_part.at[PART_RUN](&F.e);
	assert_int_equal(F.sent, 1);
	assert_int_equal(count(NODE_INDOUBT), NODES);
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
	const struct CMUnitTest tests[] = {
		T(test_nothing_goes_out_when_this_pass_has_done_its_work),
		T(test_what_the_disk_held_up_for_long_is_decided_anew),
		T(test_nothing_is_bought_that_could_not_have_its_keys),
		T(test_user_data_of_machines_that_claim),
		T(test_a_token_in_the_user_data_is_for_one_machine),
		T(test_a_job_waits_for_all_its_tokens),
		T(test_a_create_has_no_more_nodes_than_the_driver_can_take),
		T(test_a_create_has_no_more_nodes_than_the_provider_lets_through),
		T(test_a_job_waits_until_there_is_room_for_all_of_it),
		T(test_jobs_stay_whole_where_the_driver_can_take_them),
		T(test_jobs_of_one_size_go_together_and_the_size_that_came_first_goes_first),
		T(test_who_knows_of_gangs_gets_them_as_they_came),
		T(test_a_job_too_large_for_one_create_goes_in_pieces),
		T(test_a_job_with_a_node_that_slurmctld_does_not_know_waits),
		T(test_a_node_that_rests_is_not_bought),
		T(test_the_number_of_a_batch_never_comes_again),
		T(test_the_number_of_a_create_that_cannot_be_built_is_in_the_journal),
		T(test_user_data_that_does_not_fit_is_not_sent),
		T(test_user_data_that_fits_is_sent),
		T(test_user_data_of_burstd_that_does_not_fit_is_not_sent),
		T(test_the_number_of_a_gang_never_comes_again),
		T(test_nothing_is_bought_again_for_a_pool_that_is_closed),
		T(test_nothing_goes_out_for_a_pool_that_is_closed),
	};
#undef T

	return cmocka_run_group_tests_name("launch", tests, NULL, NULL);
}
