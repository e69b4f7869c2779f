/* test_calm.c - how often a provider is listed: less often while nothing moves, as often as
 * configured as soon as something does, and never so rarely that a stray outlives P1. */
#include "bare_cloud.h"
#include "cloud/cloud.h"

enum { EVERY = 30000, RARELY = 120000 };

static struct fix {
	int64_t created_ms; /* of the instance that a list has; 0: not said */
	bool hides;         /* the list does not show the row's */
	bool fails;
	unsigned strays, unreadable;
} F;

static void parse(const void *self, const struct provider_op *op,
		  const struct provider_reply *reply, struct provider_result *out)
{
	(void)self;
	(void)reply;
	if (F.fails) {
		out->code = PROVIDER_TRANSIENT;
		(void)snprintf(out->message, sizeof(out->message), "not now");
		return;
	}
	if (op->kind != PROVIDER_LIST)
		return;
	out->instances = mem_zalloc(sizeof(*out->instances));
	out->ninstances = 1;
	out->instances[0].created_ms = F.created_ms;
}

static const struct provider_ops ops = {.name = "test", .build = bare_build, .parse = parse};

static struct fleet_node *row(enum node_state s, enum provider_market market)
{
	struct node n;

	node_init(&n, s == NODE_READY ? "c1" : "c2", 1 + (uint64_t)s, W.now);
	n.state = s;
	n.market = market;
	return fleet_add(&B.e.fleet, &n);
}

/* As the inventory does. */
static void listed(const struct cloud *of)
{
	struct fleet_node *fn = B.e.fleet.states[NODE_READY];

	for (; fn != NULL && !F.hides; fn = fn->state_next)
		fn->seen_ms = of->list_began;
	B.c->nstrays = F.strays;
	B.c->unreadable = F.unreadable;
}

static int setup(void **state)
{
	(void)state;
	bare_init(&ops, 1, 4, 50);
	F = (struct fix){.created_ms = 1};
	B.provider.settle_ms = 60000;
	B.listed = listed;
	B.c->quotes_next = INT64_MAX;
	B.c->list_step = ENGINE_RETRY_MS;
	B.c->listed = true;
	B.e.poll.polled = true;
	B.c->caps.flags = PROVIDER_TELLS;
	B.c->listen_next = INT64_MAX;
	B.c->listen_began = W.now;
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	B.c->nstrays = 0;
	bare_fini();
	return 0;
}

/* A list comes at once.  Returns how long after it the next one is due. */
static int64_t pause_after_list(void)
{
	B.c->list_next = ++W.now; /* no two lists begin at once */
	engine_turn(&B.e);
	answer("list", 200, "");
	engine_turn(&B.e);
	return list_next_ms(B.c) - W.now;
}

/* --- tests ------------------------------------------------------------------------------------
 */

static void test_lists_come_rarely_while_nothing_moves(void **state)
{
	(void)state;
	assert_int_equal(pause_after_list(), RARELY); /* it has no node up */
	(void)row(NODE_READY, PROVIDER_ON_DEMAND);
	assert_int_equal(pause_after_list(), RARELY);
	W.now += RARELY - 1;
	engine_turn(&B.e);
	assert_int_equal(waiting(), 0);
	W.now++;
	engine_turn(&B.e);
	assert_int_equal(waiting(), 1);
}

/* Never so rarely that a stray is still there 150 s after the provider listed it: it is seen one
 * pause later, waits, and 20 s are for the pages of the list and for the delete. */
static void test_the_pause_leaves_time_for_a_stray(void **state)
{
	static const struct {
		int64_t every, settle, created_ms, want;
	} t[] = {
		{30000, 60000, 1, 120000},  {30000, 60000, 0, 70000},   {30000, 5000, 0, 120000},
		{40000, 60000, 1, 120000},  {32000, 5000, 1, 125000},   {1000, 60000, 1, 4000},
		{30000, 120000, 0, 30000},  {30000, 3600000, 0, 30000}, {30000, 3600000, 1, 120000},
		{600000, 60000, 1, 600000},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
		B.provider.list_ms = t[i].every;
		B.provider.settle_ms = t[i].settle;
		F.created_ms = t[i].created_ms;
		assert_int_equal(pause_after_list(), t[i].want);
	}
}

static void test_what_moves_keeps_the_usual_pace(void **state)
{
	(void)state;
	B.e.poll.polled = false;
	assert_int_equal(pause_after_list(), EVERY);
	B.e.poll.polled = true;
	B.e.poll.moving = true;
	assert_int_equal(pause_after_list(), EVERY);
	B.e.poll.moving = false;
	B.e.poll.silent = true;
	assert_int_equal(pause_after_list(), EVERY);
	B.e.poll.silent = false;
	B.e.poll.error[0] = 'x'; /* slurmctld does not answer */
	assert_int_equal(pause_after_list(), EVERY);
	B.e.poll.error[0] = '\0';
	F.unreadable = 1;
	assert_int_equal(pause_after_list(), EVERY);
	F.unreadable = 0;
	assert_int_equal(pause_after_list(), RARELY);
	(void)row(NODE_READY, PROVIDER_ON_DEMAND);
	F.hides = true;
	assert_int_equal(pause_after_list(), EVERY);
	F.hides = false;
	assert_int_equal(pause_after_list(), RARELY);
	B.unsure = true;
	assert_true(pause_after_list() <= EVERY);
	B.unsure = false;
	F.strays = 1;
	assert_true(pause_after_list() <= EVERY);
	F.strays = 0;
}

static void test_whatever_begins_to_move_brings_a_list_at_once(void **state)
{
	(void)state;
	for (enum node_state s = 0; s < NODE_NSTATES; s++) {
		struct node gone;
		struct fleet_node *fn;

		if (s == NODE_READY || s == NODE_GONE)
			continue;
		assert_int_equal(pause_after_list(), RARELY);
		W.now += EVERY + 1000;
		fn = row(s, PROVIDER_ON_DEMAND);
		assert_true(list_next_ms(B.c) <= W.now);
		engine_turn(&B.e);
		assert_int_equal(waiting(), 1);
		gone = fn->n;
		gone.state = NODE_GONE;
		fleet_set(&B.e.fleet, fn, &gone);
		answer("list", 200, "");
		engine_turn(&B.e);
	}
	assert_int_equal(pause_after_list(), RARELY);
	W.now += 1000;
	B.e.poll.silent = true; /* but no sooner than usual */
	engine_turn(&B.e);
	assert_int_equal(list_next_ms(B.c), W.now + EVERY - 1000);
	B.e.poll.silent = false; /* and it stays so, until a list has shown how things are */
	engine_turn(&B.e);
	assert_int_equal(list_next_ms(B.c), W.now + EVERY - 1000);
}

static void test_a_list_that_somebody_wants_now_is_not_put_off(void **state)
{
	(void)state;
	assert_int_equal(pause_after_list(), RARELY);
	W.now += 1000;
	B.c->list_next = W.now; /* burstctl reconcile */
	B.e.poll.silent = true;
	assert_int_equal(list_next_ms(B.c), W.now);
	engine_turn(&B.e);
	assert_int_equal(waiting(), 1);
}

/* I30 */
static void test_a_list_that_fails_comes_no_sooner_for_that(void **state)
{
	int64_t next;

	(void)state;
	assert_int_equal(pause_after_list(), RARELY);
	F.fails = true;
	(void)pause_after_list();
	F.fails = false;
	next = list_next_ms(B.c);
	assert_true(next > W.now);
	B.e.poll.silent = true;
	engine_turn(&B.e);
	assert_int_equal(list_next_ms(B.c), next);
}

static void test_notices_must_be_heard(void **state)
{
	(void)state;
	(void)row(NODE_READY, PROVIDER_ON_DEMAND);
	assert_int_equal(pause_after_list(), RARELY);
	B.c->caps.flags = 0;
	assert_int_equal(pause_after_list(), EVERY); /* it tells nothing */
	B.c->caps.flags = PROVIDER_TELLS;
	B.c->listen_began = 0;
	assert_int_equal(pause_after_list(), EVERY); /* it was not asked yet */
	B.c->listen_began = W.now;
	assert_int_equal(pause_after_list(), RARELY);
	W.now += EVERY + 1000;
	B.c->unheard_ms = W.now;
	engine_turn(&B.e);
	assert_int_equal(waiting(), 1);
	answer("list", 200, "");
	B.c->unheard_ms = 0;
	B.c->listen_stuck = true;
	assert_int_equal(pause_after_list(), EVERY);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_lists_come_rarely_while_nothing_moves, setup,
						teardown),
		cmocka_unit_test_setup_teardown(test_the_pause_leaves_time_for_a_stray, setup,
						teardown),
		cmocka_unit_test_setup_teardown(test_what_moves_keeps_the_usual_pace, setup,
						teardown),
		cmocka_unit_test_setup_teardown(test_whatever_begins_to_move_brings_a_list_at_once,
						setup, teardown),
		cmocka_unit_test_setup_teardown(test_a_list_that_somebody_wants_now_is_not_put_off,
						setup, teardown),
		cmocka_unit_test_setup_teardown(test_a_list_that_fails_comes_no_sooner_for_that,
						setup, teardown),
		cmocka_unit_test_setup_teardown(test_notices_must_be_heard, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
