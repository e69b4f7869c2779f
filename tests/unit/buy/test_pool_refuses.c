/* test_pool_refuses.c - a pool that buys nothing refuses what is asked of it. */
#include "paused_pools.h"

/* --- what is wanted and was not sent -----------------------------------------------------------
 */

static void test_refuse_wanted(void **state)
{
	struct fleet_node *busy, *paused, *closed;

	(void)state;
	F.e.poll.snapshot_ms = 1;
	(void)want("b1", 1);
	pool_refuse_wanted(&F.e);
	assert_int_equal(F.nposted, 0); /* all pools are open */
	paused = want("a1", 0);
	busy = want("a2", 0);
	busy->busy = true;
	assert_int_equal(engine_pause(&F.e, "alpha", true, "root", NULL), 0);
	pool_refuse_wanted(&F.e);
	assert_int_equal(F.nposted, 1);
	assert_string_equal(F.posted[0], "a1");
	assert_int_equal(F.reasons[0], NODE_BECAUSE_OPERATOR);
	assert_string_equal(pool_refusal(&F.e, &paused->n), "pool alpha: paused by an admin");
	assert_int_equal(engine_pause(&F.e, "alpha", false, "root", NULL), 0);
	close_pool(1);
	closed = want("b2", 1);
	F.nposted = 0;
	pool_refuse_wanted(&F.e);
	assert_int_equal(F.nposted, 2);
	assert_int_equal(F.reasons[0], NODE_BECAUSE_BOOT);
	assert_non_null(strstr(pool_refusal(&F.e, &closed->n), "pool beta: its nodes come up wro"));
	assert_null(pool_refusal(&F.e, &paused->n));
}

/* What was wanted before we started may be up by now: slurmctld says so first. */
static void test_refuse_after_a_look(void **state)
{
	(void)state;
	(void)want("a1", 0);
	F.e.started_ms = F.now;
	load("alpha", (struct breaker){0}, true);
	pool_refuse_wanted(&F.e);
	assert_int_equal(F.nposted, 0);
	F.e.poll.snapshot_ms = F.now + 1;
	pool_refuse_wanted(&F.e);
	assert_int_equal(F.nposted, 1);
}

/* F58: what it has is not known since the journal was lost: nothing is bought, and people are told
 * whose list it is.  An admin's word, and what comes up wrong, say more. */
static void test_refuse_for_what_is_not_listed(void **state)
{
	const struct conf_provider provider = {.name = (char *)(uintptr_t) "far"};
	const struct cloud far = {.conf = &provider};

	(void)state;
	F.e.poll.snapshot_ms = 1;
	(void)want("a1", 0);
	pool_refuse_wanted(&F.e);
	assert_int_equal(F.nposted, 0);
	F.unlisted = &far;
	assert_non_null(strstr(pool_blocked(&F.e, 0), "far has not listed its instances"));
	assert_string_equal(engine_blocked(&F.e, 0), pool_blocked(&F.e, 0));
	pool_refuse_wanted(&F.e);
	assert_int_equal(F.nposted, 1);
	assert_int_equal(F.reasons[0], NODE_BECAUSE_UNREACHABLE);
	assert_int_equal(engine_pause(&F.e, "alpha", true, "root", NULL), 0);
	assert_int_equal(pool_blocked_because(&F.e, 0), NODE_BECAUSE_OPERATOR);
	assert_null(strstr(pool_blocked(&F.e, 0), "far"));
}

static void test_refuse_for_the_disk(void **state)
{
	(void)state;
	F.e.poll.snapshot_ms = 1;
	(void)want("a1", 0);
	F.low = true;
	assert_false(pool_look(&F.e));
	pool_refuse_wanted(&F.e);
	assert_int_equal(F.nposted, 1);
	assert_int_equal(F.reasons[0], NODE_BECAUSE_DISK);
}

/* --- what providers take (F41) -----------------------------------------------------------------
 */

static void lose(const char *name, enum node_state at, enum node_reason why, int64_t since_ms)
{
	struct node n;

	node_init(&n, name, 1, since_ms);
	n.pool = 1;
	n.state = at;
	n.reason = why;
	n.release = at == NODE_DELETING;
	(void)snprintf(n.instance, sizeof(n.instance), "i-1");
	pool_lost(&F.e, &n);
}

static void test_what_a_provider_takes_is_counted_for_an_hour(void **state)
{
	const struct engine_losses *l;

	(void)state;
	lose("c1", NODE_DELETING, NODE_BECAUSE_SUSPENDED, F.now);
	lose("c1", NODE_DRAINING, NODE_BECAUSE_NONE, F.now);
	lose("c1", NODE_GONE, NODE_BECAUSE_OPERATOR, F.now);
	lose("c1", NODE_GONE, NODE_BECAUSE_STOPPED, F.now);   /* nobody took it (F10) ... */
	lose("c1", NODE_DELETING, NODE_BECAUSE_ENDED, F.now); /* ... nor what goes for that */
	lose("c1", NODE_GONE, NODE_BECAUSE_RECLAIMED, F.now - 3600001);
	assert_null(engine_losses(&F.e, 1));
	lose("c1", NODE_DELETING, NODE_BECAUSE_RECLAIMED, F.now);
	lose("c2", NODE_GONE, NODE_BECAUSE_ENDED, F.now - 1000); /* told later */
	l = engine_losses(&F.e, 1);
	assert_non_null(l);
	assert_int_equal(l->n, 2);
	assert_int_equal(l->last_ms, F.now);
	assert_string_equal(l->node, "c1");
	assert_int_equal(l->why, NODE_BECAUSE_RECLAIMED);
	assert_null(engine_losses(&F.e, 0));
	F.now += 3600000;
	assert_non_null(engine_losses(&F.e, 1));
	F.now++;
	assert_null(engine_losses(&F.e, 1));
	lose("c3", NODE_GONE, NODE_BECAUSE_MAINTENANCE, F.now);
	assert_int_equal(engine_losses(&F.e, 1)->n, 1); /* the others are an old story */
}

/* A restart finds them in the rows. */
static void test_what_was_taken_before_a_restart_is_counted(void **state)
{
	struct node n;

	(void)state;
	node_init(&n, "c1", 1, F.now - 60000);
	n.state = NODE_GONE;
	n.reason = NODE_BECAUSE_RECLAIMED;
	(void)fleet_add(&F.e.fleet, &n); /* its create was never answered: nothing was taken */
	n.gen = 2;
	(void)snprintf(n.instance, sizeof(n.instance), "i-1");
	(void)fleet_add(&F.e.fleet, &n);
	n.gen = 3;
	n.state = NODE_READY;
	n.reason = NODE_BECAUSE_NONE;
	(void)fleet_add(&F.e.fleet, &n);
	pool_count_lost(&F.e);
	assert_int_equal(engine_losses(&F.e, 0)->n, 1);
	assert_int_equal(engine_losses(&F.e, 0)->last_ms, F.now - 60000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_refuse_for_what_is_not_listed),
		TEST(test_refuse_wanted),
		TEST(test_refuse_after_a_look),
		TEST(test_refuse_for_the_disk),
		cmocka_unit_test_setup_teardown(test_what_a_provider_takes_is_counted_for_an_hour,
						setup, teardown),
		cmocka_unit_test_setup_teardown(test_what_was_taken_before_a_restart_is_counted,
						setup, teardown),
	};

	return cmocka_run_group_tests_name("pool_refuses", tests, NULL, NULL);
}
