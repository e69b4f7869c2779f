/* test_launch_image.c - which image a create asks for (core/roll.h): canaries have one of their
 * own, a repeat has that of its first time, and a refused image is no refusal of its place. */
#include "bare_launch.h"
#include "buy/buy.h"
#include "cloud/cloud.h"

static void test_canaries_have_a_create_of_their_own(void **state)
{
	(void)state;
	F.canaries = 2;
	launch_part.at[PART_RUN](&F.e);
	assert_int_equal(F.sent, 2);
	assert_int_equal(F.sizes[0], 2);
	assert_string_equal(F.images[0], "new");
	assert_int_equal(F.sizes[1], NODES - 2);
	assert_string_equal(F.images[1], "old");
	assert_string_equal(row("c1")->n.image, "new"); /* durable before anything was sent */
	assert_string_equal(row("c2")->n.image, "new");
	assert_string_equal(row("c3")->n.image, "old");
	assert_string_equal(F.durable.image, "old");
	assert_true(row("c1")->n.canary && row("c2")->n.canary);
	assert_false(row("c3")->n.canary);
}

/* A half of a job would wait for the other one, of which nobody knows whether it boots. */
static void test_canaries_are_whole_jobs_if_possible(void **state)
{
	(void)state;
	make_gangs(); /* of 3, 4, and 3 that stand alone */
	F.canaries = 5;
	launch_part.at[PART_RUN](&F.e);
	assert_int_equal(F.sizes[0], 3);
	assert_string_equal(F.images[0], "new");
	assert_string_equal(row("c4")->n.image, "old");
}

static void test_a_job_larger_than_canaries_may_be_has_both(void **state)
{
	(void)state;
	make_gangs();
	F.canaries = 1;
	launch_part.at[PART_RUN](&F.e);
	assert_int_equal(F.sizes[0], 1);
	assert_string_equal(row("c1")->n.image, "new");
	assert_string_equal(row("c2")->n.image, "old");
}

/* One create has one image, and a fabric of a job one create. */
static void test_a_job_in_one_fabric_has_one_image(void **state)
{
	(void)state;
	F.pool.own.in_fabric = "job";
	make_gangs();
	F.canaries = 3;
	F.e.left = 100;
	launch_part.at[PART_RUN](&F.e);
	assert_string_equal(row("c1")->n.image, "new");
	assert_string_equal(row("c3")->n.image, "new");
	assert_string_equal(row("c4")->n.image, "old");
}

static void test_a_job_in_one_fabric_that_is_too_large_is_no_canary(void **state)
{
	(void)state;
	F.pool.own.in_fabric = "job";
	make_gangs();
	F.canaries = 2;
	F.e.left = 100;
	launch_part.at[PART_RUN](&F.e);
	assert_string_equal(row("c1")->n.image, "old");
	assert_string_equal(row("c3")->n.image, "old");
	assert_string_equal(row("c4")->n.image, "old");
}

/* I4: whatever is in force by then. */
static void test_a_repeat_has_the_image_of_its_first_time(void **state)
{
	(void)state;
	F.canaries = NODES;
	lose_all();
	assert_string_equal(F.images[0], "new");
	launch_part.at[PART_RUN](&F.e);
	assert_int_equal(F.sent, 2);
	assert_string_equal(F.images[1], "new");
	assert_string_equal(row("c1")->n.image, "new");
}

static void refuse_as(enum provider_code code, size_t canaries, const char *why)
{
	struct provider_result no = {.code = code};

	(void)snprintf(no.message, sizeof(no.message), "%s", why);
	F.canaries = canaries;
	F.e.left = 8 * NODES;
	launch_part.at[PART_RUN](&F.e);
	assert_int_equal(F.sent, 1);
	F.nposted = 0;
	F.answer(&F.cloud, F.ctx, &no);
	launch_answered(&F.e);
	assert_int_equal(F.nposted, NODES);
}

static void refuse(enum provider_code code, size_t canaries)
{
	refuse_as(code, canaries, "no such image");
}

/* F8: a typing error in the new image.  Nothing was made, and no job waits a day for it. */
static void test_a_refused_image_is_no_refusal(void **state)
{
	(void)state;
	refuse(PROVIDER_INVALID, NODES);
	assert_int_equal(F.posted[0], NODE_EV_NOTSENT);
	assert_int_equal(F.stopped, NODES); /* each says so, and the first one stops it */
	assert_int_equal(count(NODE_WANTED), NODES);
	assert_int_equal(engine_unsold(&F.e, 0, PROVIDER_INVALID), 0);
	F.passed = 60000;
	launch_part.at[PART_RUN](&F.e);
	assert_int_equal(F.sent, 2);
	assert_string_equal(F.images[1], "old");
	assert_string_equal(row("c1")->n.image, "old");
}

static void test_another_refusal_of_a_canary_is_one(void **state)
{
	(void)state;
	refuse(PROVIDER_CAPACITY, NODES);
	assert_int_equal(F.posted[0], NODE_EV_REFUSED);
	assert_int_equal(F.stopped, 0);
	assert_int_equal(engine_unsold(&F.e, 0, PROVIDER_CAPACITY), NODES);
}

static void test_a_refusal_of_what_is_no_canary_is_one(void **state)
{
	(void)state;
	refuse(PROVIDER_INVALID, 0);
	assert_int_equal(F.posted[0], NODE_EV_REFUSED);
	assert_int_equal(F.stopped, 0);
	assert_int_equal(engine_unsold(&F.e, 0, PROVIDER_INVALID), NODES);
}

/* F3: the first try may have made it, so only lists can tell. */
static void test_a_refused_repeat_of_canaries_stays_in_doubt(void **state)
{
	const struct provider_result no = {.code = PROVIDER_INVALID, .message = "no such image"};

	(void)state;
	F.canaries = NODES;
	lose_all();
	launch_part.at[PART_RUN](&F.e);
	F.answer(&F.cloud, F.ctx, &no);
	launch_answered(&F.e);
	assert_int_equal(F.posted[0], NODE_EV_REFUSED);
	assert_int_equal(count(NODE_INDOUBT), NODES);
	/* If it made nothing, the old image is bought: no job waits a day for a wrong name. */
	assert_int_equal(F.stopped, NODES);
	assert_int_equal(row("c1")->n.reason, NODE_BECAUSE_LOST);
	assert_int_equal(engine_unsold(&F.e, 0, PROVIDER_INVALID), 0);
}

/* Some clouds have another code for images that the account may not use, and name them. */
static void test_an_image_that_the_account_may_not_use(void **state)
{
	(void)state;
	refuse_as(PROVIDER_DENIED, NODES, "AuthFailure: Not authorized for images: [new]");
	assert_int_equal(F.posted[0], NODE_EV_NOTSENT);
	assert_int_equal(F.stopped, NODES);
	assert_int_equal(count(NODE_WANTED), NODES);
	assert_int_equal(engine_unsold(&F.e, 0, PROVIDER_DENIED), 0);
}

/* F33: of a key that is wrong the image is not guilty. */
static void test_a_denial_that_names_no_image_stops_nothing(void **state)
{
	(void)state;
	refuse_as(PROVIDER_DENIED, NODES, "AuthFailure: the key is not valid");
	assert_int_equal(F.posted[0], NODE_EV_REFUSED);
	assert_int_equal(F.stopped, 0);
	assert_int_equal(engine_unsold(&F.e, 0, PROVIDER_DENIED), NODES);
}

static void test_an_image_that_the_driver_cannot_name_is_no_refusal(void **state)
{
	(void)state;
	F.unbuildable = true;
	F.canaries = NODES;
	launch_part.at[PART_RUN](&F.e);
	assert_int_equal(F.sent, 0);
	assert_int_equal(F.stopped, 1);
	assert_int_equal(count(NODE_WANTED), NODES);
	assert_int_equal(F.last_batch, F.e.buy->last_batch); /* F58 */
	F.unbuildable = false;
	F.e.left = NODES;
	launch_part.at[PART_RUN](&F.e);
	assert_int_equal(F.sent, 1);
	assert_string_equal(F.images[0], "old");
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_canaries_have_a_create_of_their_own),
		TEST(test_canaries_are_whole_jobs_if_possible),
		TEST(test_a_job_larger_than_canaries_may_be_has_both),
		TEST(test_a_job_in_one_fabric_has_one_image),
		TEST(test_a_job_in_one_fabric_that_is_too_large_is_no_canary),
		TEST(test_a_repeat_has_the_image_of_its_first_time),
		TEST(test_a_refused_image_is_no_refusal),
		TEST(test_another_refusal_of_a_canary_is_one),
		TEST(test_a_refusal_of_what_is_no_canary_is_one),
		TEST(test_a_refused_repeat_of_canaries_stays_in_doubt),
		TEST(test_an_image_that_the_account_may_not_use),
		TEST(test_a_denial_that_names_no_image_stops_nothing),
		TEST(test_an_image_that_the_driver_cannot_name_is_no_refusal),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
