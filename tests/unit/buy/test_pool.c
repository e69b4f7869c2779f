/* test_pool.c - pools that an admin paused, or whose machines come up wrong: what is written down,
 * what people read, and what becomes of it over a reload and a restart.
 *
 * On a bare struct engine: the clock, the journal and the events are the test's. */
#include "paused_pools.h"

static void works(struct fleet_name *nm, const char *offer)
{
	struct node n = {.pool = 0};

	(void)snprintf(n.offer, sizeof(n.offer), "%s", offer);
	pool_works(&F.e, nm, &n);
}

/* --- what people read --------------------------------------------------------------------------
 */

static void test_closed(void **state)
{
	(void)state;
	fails(1, 1000);
	assert_null(engine_blocked(&F.e, 1)); /* the first is bad luck, and written down */
	assert_int_equal(F.events, 0);
	assert_int_equal(F.rows, 1);
	fails(1, 2000); /* the rest of its gang */
	assert_int_equal(F.rows, 1);
	F.now += 60000;
	fails(1, 1000);
	assert_string_equal(F.type, "pool-blocked");
	assert_string_equal(F.detail,
			    "pool beta: its nodes come up wrong: c7: registered wrong: "
			    "gres/gpu count reported lower than configured; buys nothing until "
			    "2027-01-15T08:06:00Z");
	assert_string_equal(F.row, "beta");
	assert_int_equal(F.put.breaker.waves, 2);
	assert_int_equal(F.put.breaker.until_ms, F.now + BREAKER_MS);
	assert_false(F.put.paused);
	assert_null(engine_blocked(&F.e, 0)); /* the other one is open */
	F.now += BREAKER_MS;
	assert_null(engine_blocked(&F.e, 1));
}

/* One broken machine, and seven others that are fine. */
static void test_one_node_alone(void **state)
{
	struct fleet_name *c6 = fleet_name(&F.e.fleet, "c6", 0);

	(void)state;
	for (int i = 0; i < 4; i++) {
		F.name = "c6";
		fails(0, 1000);
		F.now += 3 * BREAKER_MAX_MS;
	}
	assert_null(engine_blocked(&F.e, 0));
	assert_null(pool_probes(&F.e, 0));
	assert_int_equal(c6->fails, 4);
	fails(0, 1000); /* c7 */
	assert_non_null(engine_blocked(&F.e, 0));
	F.now += BREAKER_MAX_MS;
	F.name = "c6";
	fails(0, 1000); /* from now on it counts too */
	assert_int_equal(F.put.breaker.waves, 3);
}

static void test_a_node_rests(void **state)
{
	static const int64_t rests[] = {BREAKER_REST_MS, BREAKER_MS, 2 * BREAKER_MS};
	struct fleet_name *c6 = fleet_name(&F.e.fleet, "c6", 0);

	(void)state;
	for (size_t i = 0; i < 3; i++) {
		pool_node_failed(&F.e, c6, i + 1);
		pool_node_failed(&F.e, c6, i + 1); /* seen again */
		assert_int_equal(c6->fails, i + 1);
		assert_int_equal(c6->rests_ms, F.now + rests[i]);
		pool_rested(&F.e);
		assert_int_not_equal(c6->rests_ms, 0);
		F.now += rests[i];
		pool_rested(&F.e);
		assert_int_equal(c6->rests_ms, 0);
	}
	pool_node_failed(&F.e, c6, 9);
	pool_rest(&F.e, c6);
	assert_string_equal(F.type, "rests");
	assert_string_equal(F.down,
			    "c6: burstd: it did not come up; rests until 2027-01-15T08:36:00Z");
	works(c6, "here");
	assert_int_equal(c6->fails + c6->rests_ms, 0);
}

/* When a closed pool opens again, one purchase is tried, not one for each job that waits. */
static void test_probes(void **state)
{
	struct fleet_node *fn, *other;
	struct node n;

	(void)state;
	fails(0, 1000);
	assert_null(pool_probes(&F.e, 0)); /* bad luck closes nothing */
	close_pool(0);
	assert_null(pool_probes(&F.e, 0)); /* nothing at all is bought */
	assert_int_equal(pool_blocked_because(&F.e, 0), NODE_BECAUSE_BOOT);
	F.now += BREAKER_MS;
	assert_non_null(pool_probes(&F.e, 0));
	assert_int_equal(pool_blocked_because(&F.e, 0), NODE_BECAUSE_BOOT); /* of those that wait */
	F.cloud.conf = &(const struct conf_provider){.name = (char *)(uintptr_t) "far"};
	F.unlisted = &F.cloud; /* that says more */
	assert_int_equal(pool_blocked_because(&F.e, 0), NODE_BECAUSE_UNREACHABLE);
	F.unlisted = NULL;
	assert_false(pool_is_probed(&F.e, 0));
	fn = want("a1", 0);
	assert_true(pool_is_probed(&F.e, 0));
	assert_int_equal(pool_tried_for(&F.e, 0), 0); /* nobody knows for which job */
	n = fn->n;
	n.job = 7;
	fleet_set(&F.e.fleet, fn, &n);
	assert_int_equal(pool_tried_for(&F.e, 0), 7);
	other = want("a2", 0);
	n = other->n;
	n.state = NODE_BOOTING;
	n.job = 8;
	fleet_set(&F.e.fleet, other, &n);
	assert_int_equal(pool_tried_for(&F.e, 0), 0);
	n.job = 7;
	fleet_set(&F.e.fleet, other, &n);
	assert_int_equal(pool_tried_for(&F.e, 0), 7);
	assert_int_equal(pool_tried_for(&F.e, 1), 0);
	n.state = NODE_READY;
	fleet_set(&F.e.fleet, other, &n);
	n = fn->n;
	n.state = NODE_READY;
	fleet_set(&F.e.fleet, fn, &n);
	assert_false(pool_is_probed(&F.e, 0));
	assert_int_equal(pool_tried_for(&F.e, 0), 0);
}

static void test_works(void **state)
{
	struct fleet_name *nm = fleet_name(&F.e.fleet, "c7", 0);

	(void)state;
	close_pool(0);
	F.rows = 0;
	works(nm, "here");
	assert_null(engine_blocked(&F.e, 0));
	assert_null(pool_probes(&F.e, 0));
	assert_int_equal(F.rows, 1);
	assert_int_equal(F.put.breaker.waves, 0);
	works(nm, "here"); /* nothing to forget: nothing to write */
	assert_int_equal(F.rows, 1);
}

/* Elsewhere is tried first, and still is when the pool opens again; what was bought together counts
 * once. */
static void test_elsewhere_first(void **state)
{
	static const int64_t rests[] = {BREAKER_MS, 2 * BREAKER_MS, 4 * BREAKER_MS};
	struct fleet_name *nm = fleet_name(&F.e.fleet, "c7", 0);

	(void)state;
	for (size_t i = 0; i < 3; i++) {
		fails(0, 1000);
		F.now += 500;
		fails(0, 1000);
		assert_int_equal(pool_wrong_until(&F.e, 0, 0), F.now - 500 + rests[i]);
		assert_int_equal(pool_wrong_until(&F.e, 0, 1), 0);
		assert_int_equal(pool_wrong_until(&F.e, 1, 0), 0); /* images are a pool's */
		F.now += rests[i] - 501;
		assert_int_not_equal(pool_wrong_until(&F.e, 0, 0), 0);
		F.now++;
		assert_int_equal(pool_wrong_until(&F.e, 0, 0), 0);
	}
	F.offer = "there";
	fails(0, 1000);
	assert_int_equal(pool_wrong_until(&F.e, 0, 1), F.now + BREAKER_MS);
	works(nm, "there");
	assert_int_equal(pool_wrong_until(&F.e, 0, 1), 0);
	F.now += 2000;
	F.offer = "here";
	fails(0, 1000);
	assert_int_equal(pool_wrong_until(&F.e, 0, 0), F.now + 8 * BREAKER_MS);
	F.offer = "gone"; /* from the configuration */
	fails(0, 1000);
	works(nm, "gone");
	assert_int_not_equal(pool_wrong_until(&F.e, 0, 0), 0);
	F.now -= 2 * BREAKER_MAX_MS; /* F57 */
	assert_int_equal(pool_wrong_until(&F.e, 0, 0), 0);
}

/* An admin has mended something, or the rungs have changed places. */
static void test_elsewhere_is_forgotten(void **state)
{
	(void)state;
	fails(0, 1000);
	assert_int_equal(engine_pause(&F.e, "alpha", false, "root", NULL), 0);
	assert_int_equal(pool_wrong_until(&F.e, 0, 0), 0);
	F.now += 2000;
	fails(0, 1000);
	assert_int_equal(pool_wrong_until(&F.e, 0, 0), F.now + BREAKER_MS);
	pool_set_cost(&F.e, 0, 0, 7);
	pool_grow(&F.e, 2, 2);
	assert_int_equal(pool_wrong_until(&F.e, 0, 0), 0);
	assert_int_equal(pool_cost(&F.e, 0, 0), 0); /* it may be another offer's */
}

static void test_admin(void **state)
{
	int64_t since_ms;

	(void)state;
	close_pool(0);
	assert_int_equal(engine_pause(&F.e, "alpha", true, "root", NULL), 0);
	assert_string_equal(engine_blocked(&F.e, 0), "paused by an admin");
	assert_true(F.put.paused && F.put.breaker.waves == 2);
	assert_string_equal(engine_paused_by(&F.e, 0, &since_ms), "root");
	assert_true(since_ms == F.now && F.put.paused_ms == F.now);
	assert_string_equal(F.put.by, "root");
	assert_true(F.turns > 0);   /* what was not sent yet is not sent */
	assert_true(F.hurries > 0); /* nor is anything kept warm there */
	assert_int_equal(engine_pause(&F.e, NULL, false, "uid 7", NULL), 0);
	assert_null(engine_blocked(&F.e, 0)); /* its machines are forgiven too */
	assert_true(!F.put.paused && F.put.breaker.waves == 0);
	assert_string_equal(engine_paused_by(&F.e, 0, &since_ms), "");
	assert_true(since_ms == 0 && F.put.paused_ms == 0 && F.put.by[0] == '\0');
	assert_string_equal(F.detail, "pool alpha, ordered by uid 7");
	F.events = 0;
	close_pool(1);
	assert_int_equal(engine_pause(&F.e, "beta", false, "root", NULL), 0);
	assert_null(engine_blocked(&F.e, 1)); /* it was not paused: that is forgiven */
	assert_int_equal(F.events, 2);
}

/* --- reload and restart ------------------------------------------------------------------------
 */

static void test_more_pools(void **state)
{
	(void)state;
	close_pool(1);
	assert_int_equal(engine_pause(&F.e, "alpha", true, "root", NULL), 0);
	F.conf.npools = 3;
	pool_grow(&F.e, 2, 3);
	assert_true(engine_paused(&F.e, 0));
	assert_non_null(strstr(engine_blocked(&F.e, 1), "c7: registered wrong"));
	assert_false(engine_paused(&F.e, 2));
	assert_null(engine_blocked(&F.e, 2));
	close_pool(2);
	assert_non_null(engine_blocked(&F.e, 2));
}

static void test_restart(void **state)
{
	int64_t since_ms;

	(void)state;
	load("gone", (struct breaker){.waves = 9, .until_ms = INT64_MAX}, true); /* not ours now */
	load("beta", (struct breaker){2, F.now - 1000, F.now + 240000}, false);
	load("alpha", (struct breaker){0}, true);
	assert_string_equal(engine_blocked(&F.e, 1),
			    "its nodes come up wrong; buys nothing until 2027-01-15T08:04:00Z");
	assert_true(engine_paused(&F.e, 0));
	assert_string_equal(engine_paused_by(&F.e, 0, &since_ms), "uid 7");
	assert_int_equal(since_ms, 4711);
	fails(1, 2000); /* bought before the last failure: of the same wave */
	assert_int_equal(F.rows, 0);
}

/* F57: a clock that went back by years does not close a pool for years, nor keep it from being
 * closed. */
static void test_clock_back(void **state)
{
	const int64_t year = INT64_C(365) * 86400 * 1000;

	(void)state;
	load("alpha", (struct breaker){2, F.now + year, F.now + year + BREAKER_MS}, false);
	assert_non_null(engine_blocked(&F.e, 0));
	F.now += BREAKER_MAX_MS;
	assert_null(engine_blocked(&F.e, 0));
	fails(0, 1000);
	assert_non_null(engine_blocked(&F.e, 0));
	assert_int_equal(F.put.breaker.waves, 3);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_closed),
		TEST(test_one_node_alone),
		TEST(test_a_node_rests),
		TEST(test_probes),
		TEST(test_works),
		TEST(test_elsewhere_first),
		TEST(test_elsewhere_is_forgotten),
		TEST(test_admin),
		TEST(test_more_pools),
		TEST(test_restart),
		TEST(test_clock_back),
	};

	return cmocka_run_group_tests_name("pool", tests, NULL, NULL);
}
