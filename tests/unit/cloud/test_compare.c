/* test_compare.c - a complete list is compared with the rows in pieces, one in a turn (ADR 47). */
#include "bare_cloud.h"
#include "cloud/cloud.h"

static void parse(const void *self, const struct provider_op *op,
		  const struct provider_reply *reply, struct provider_result *out)
{
	(void)self;
	(void)op;
	(void)reply;
	out->instances = mem_zalloc(sizeof(*out->instances));
	out->ninstances = 1;
}

static void closes(void *self)
{
	(void)self;
}

static const struct provider_ops ops = {
	.name = "test", .build = bare_build, .parse = parse, .close = closes};

static int setup(void **state)
{
	(void)state;
	bare_init(&ops, 1, 8, 0);
	B.c->quotes_next = INT64_MAX;
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	bare_fini();
	return 0;
}

static void list(unsigned pieces)
{
	B.pieces = pieces;
	B.c->list_next = 0;
	engine_turn(&B.e);
	answer("list", 200, "");
}

static void test_a_turn_takes_one_piece(void **state)
{
	(void)state;
	list(2);
	assert_int_equal(B.pieces, 1); /* in the turn of the answer */
	assert_int_equal(B.lists, 0);
	assert_true(B.c->comparison.runs);
	assert_true(cloud_next_ms(B.c) == W.now); /* the next turn comes at once */
	assert_false(B.c->listed);
	engine_turn(&B.e);
	assert_int_equal(B.pieces, 0);
	assert_int_equal(B.lists, 0);
	engine_turn(&B.e);
	assert_int_equal(B.lists, 1);
	assert_true(B.c->listed);
	assert_false(B.c->comparison.runs);
	assert_int_equal(B.c->nseen, 0);
	assert_true(cloud_next_ms(B.c) == W.now); /* parts before it act on it */
	engine_turn(&B.e);
	assert_true(cloud_next_ms(B.c) > W.now);
}

/* Rows that wait hurry it, and so may the pause, if the comparison takes so long. */
static void test_no_list_begins_meanwhile(void **state)
{
	(void)state;
	list(3);
	B.c->waits = true;
	B.c->list_step = 0;
	W.now += 100000;
	engine_turn(&B.e);
	assert_int_equal(waiting(), 0);
	assert_int_equal(B.pieces, 1);
	engine_turn(&B.e);
	engine_turn(&B.e);
	assert_int_equal(B.lists, 1);
	assert_int_equal(waiting(), 1); /* it is due */
	answer("list", 200, "");
	assert_int_equal(B.lists, 2);
}

/* What its list said of the machines is so all the same. */
static void test_a_provider_that_is_off_by_then_is_compared_to_the_end(void **state)
{
	(void)state;
	list(2);
	(void)snprintf(B.c->off, sizeof(B.c->off), "its credential cannot be read");
	B.c->off_next = W.now + 60000;
	assert_true(cloud_next_ms(B.c) == W.now);
	engine_turn(&B.e);
	engine_turn(&B.e);
	assert_int_equal(B.lists, 1);
	engine_turn(&B.e);
	assert_true(cloud_next_ms(B.c) == W.now + 60000);
	B.c->off[0] = '\0';
}

/* Rows know by the begin of a list which one has shown them last. */
static void test_no_two_lists_begin_in_one_millisecond(void **state)
{
	int64_t began;

	(void)state;
	list(0);
	began = B.c->list_began;
	list(0);
	assert_true(B.c->list_began > began);
	W.now += 100;
	list(0);
	assert_true(B.c->list_began == W.now);
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
	const struct CMUnitTest tests[] = {
		T(test_a_turn_takes_one_piece),
		T(test_no_list_begins_meanwhile),
		T(test_a_provider_that_is_off_by_then_is_compared_to_the_end),
		T(test_no_two_lists_begin_in_one_millisecond),
	};
#undef T

	return cmocka_run_group_tests_name("compare", tests, NULL, NULL);
}
