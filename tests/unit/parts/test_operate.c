/* operate.c and pool.c: what an admin orders.  The orders go nowhere here; what is counted, noted
 * and refused is looked at. */
#include "loaded_engine.h"
#include "ordered_engine.h"

static const char *told(const struct fix *f, const char *name)
{
	const struct fleet_name *nm = fleet_find(&f->e->fleet, name);

	return nm->told != NULL ? nm->told : "nothing";
}

/* A node counts once; to look is to do nothing. */
static void test_look(void **state)
{
	struct engine_request rq = {ENGINE_TERMINATE, "c3,c1,c2,c1", "root", true};
	struct fix *f = *state;

	load(f);
	snapshot(f, "MIXED+CLOUD", "IDLE+CLOUD", "IDLE+CLOUD+POWERED_DOWN");
	order(f, &rq, 2, 1, 1);
	rq.nodes = NULL;
	order(f, &rq, 2, 1, 1);
	rq.nodes = "c3";
	order(f, &rq, 0, 0, 1);
	assert_string_equal(told(f, "c1"), "nothing");
	assert_int_equal(events(f, "c1", "terminated", "ordered by root"), 0);
}

static void test_done(void **state)
{
	static const struct {
		enum engine_order order;
		const char *type, *told;
	} rows[] = {{ENGINE_DRAIN, "drained", "drained by an admin"},
		    {ENGINE_TERMINATE, "terminated", "terminated by an admin"}};
	struct fix *f = *state;

	load(f);
	snapshot(f, "IDLE+COMPLETING+CLOUD", "ALLOCATED+CLOUD", "IDLE+CLOUD+POWERED_DOWN");
	for (size_t i = 0; i < 2; i++) {
		const struct engine_request rq = {rows[i].order, "c[1-3]", "uid 1001", false};

		order(f, &rq, 2, 2, 1);
		assert_string_equal(told(f, "c1"), rows[i].told);
		assert_string_equal(told(f, "c2"), rows[i].told);
		assert_string_equal(told(f, "c3"), "nothing");
		assert_int_equal(events(f, "c1", rows[i].type, "ordered by uid 1001"), 1);
		assert_int_equal(events(f, "c3", rows[i].type, "ordered by uid 1001"), 0);
	}
}

/* A list that is not all ours, or about which too little is known, is not even half of an order. */
static void test_refused(void **state)
{
	static const char *const lists[] = {"c1,x1", "c[1-", ""};
	struct engine_request rq = {.order = ENGINE_TERMINATE, .by = "root"};
	struct engine_ordered o;
	struct fix *f = *state;
	struct err e;

	load(f);
	rq.nodes = "c1"; /* slurmctld has not said anything yet: it may have a job */
	assert_int_equal(engine_operate(f->e, &rq, &o, &e), -1);
	assert_non_null(strstr(e.msg, "c1"));
	snapshot(f, "IDLE+CLOUD", "IDLE+CLOUD", "IDLE+CLOUD+POWERED_DOWN");
	for (size_t i = 0; i < sizeof(lists) / sizeof(lists[0]); i++) {
		rq.nodes = lists[i];
		assert_int_equal(engine_operate(f->e, &rq, &o, &e), -1);
		assert_int_equal(o.n, 0);
	}
	assert_string_equal(told(f, "c1"), "nothing");
	assert_int_equal(events(f, "c1", "terminated", "ordered by root"), 0);
}

static struct fleet_node *insert(struct fix *f, uint64_t gen, enum node_state state, int64_t ms)
{
	struct fleet_node *fn;
	struct node n;

	node_init(&n, "c3", gen, ms);
	n.state = state;
	fn = engine_insert(f->e, &n, "for the test");
	engine_commit(f->e);
	return fn;
}

/* F48: what slurmctld said was of before that was bought. */
static void test_what_was_bought_since_is_not_known_yet(void **state)
{
	const struct engine_request rq = {.nodes = "c3", .order = ENGINE_TERMINATE, .by = "root"};
	struct engine_ordered o;
	struct fix *f = *state;

	load(f);
	snapshot(f, "IDLE+CLOUD", "IDLE+CLOUD", "IDLE+CLOUD+POWERED_DOWN");
	(void)insert(f, 9, NODE_BOOTING, f->e->poll.snapshot_ms);
	assert_int_equal(engine_operate(f->e, &rq, &o, NULL), -1);
	assert_int_equal(o.n, 0);
}

/* All that there is of it goes, not the newest alone. */
static void test_what_an_admin_ends_is_all_of_the_node(void **state)
{
	const struct engine_request rq = {.nodes = "c3", .order = ENGINE_TERMINATE, .by = "root"};
	struct fleet_node *older, *newest;
	struct fix *f = *state;

	load(f);
	snapshot(f, "IDLE+CLOUD", "IDLE+CLOUD", "IDLE+CLOUD+POWERED_DOWN");
	older = insert(f, 8, NODE_QUARANTINED, f->e->poll.snapshot_ms - 2000);
	newest = insert(f, 9, NODE_BOOTING, f->e->poll.snapshot_ms - 1000);
	order(f, &rq, 1, 0, 0);
	engine_commit(f->e);
	assert_int_equal(newest->n.state, NODE_DELETING);
	assert_int_equal(older->n.state, NODE_DELETING);
}

/* Why burstd itself has a node powered down is told to whoever looks at it, and stays in the
 * journal. */
static void test_powered_down(void **state)
{
	struct fix *f = *state;

	load(f);
	snapshot(f, "IDLE+CLOUD+INVALID_REG Reason=Low RealMemory (1 < 2) [slurm@2026]",
		 "DOWN+CLOUD+NOT_RESPONDING Reason=Not responding [slurm@2026]",
		 "IDLE+CLOUD+POWERED_DOWN");
	assert_string_equal(told(f, "c1"), "its registration is invalid: Low RealMemory (1 < 2)");
	assert_string_equal(told(f, "c2"), "its slurmd does not answer");
	assert_int_equal(events(f, "c1", "powered-down",
				"its registration is invalid: Low RealMemory (1 < 2)"),
			 1);
	assert_int_equal(events(f, "c2", "powered-down", "its slurmd does not answer"), 1);
}

static void test_pause(void **state)
{
	struct fix *f = *state;

	load(f);
	assert_int_equal(engine_pause(f->e, "other", true, "root", NULL), -1);
	assert_false(engine_paused(f->e, 0));
	assert_null(engine_blocked(f->e, 0));
	for (int i = 0; i < 2; i++) /* again is no event */
		assert_int_equal(engine_pause(f->e, "pool", true, "uid 1001", NULL), 0);
	assert_true(engine_paused(f->e, 0));
	assert_non_null(strstr(engine_blocked(f->e, 0), "paused"));
	assert_int_equal(events(f, "", "paused", "pool pool, ordered by uid 1001"), 1);
	engine_free(f->e); /* it outlives a restart */
	f->e = NULL;
	load(f);
	assert_true(engine_paused(f->e, 0));
	assert_int_equal(engine_pause(f->e, NULL, false, "root", NULL), 0);
	assert_false(engine_paused(f->e, 0));
	assert_int_equal(events(f, "", "resumed", "pool pool, ordered by root"), 1);
}

/* Where a node is one certain machine its refusal is about that one: it rests. */
static void test_refused_machine(void **state)
{
	struct fix *f = *state;
	struct node_event start = {.type = NODE_EV_START, .now_ms = loop_now(f->loop), .batch = 1};
	struct node_event no = {.type = NODE_EV_REFUSED,
				.reason = NODE_BECAUSE_CAPACITY,
				.now_ms = loop_now(f->loop)};
	struct fleet_node *fn;
	struct node n;

	fake_flags |= PROVIDER_MACHINES;
	load(f);
	node_init(&n, "c3", 7, loop_now(f->loop));
	fn = engine_insert(f->e, &n, "for the test");
	engine_post(f->e, fn, &start);
	engine_commit(f->e);
	engine_post(f->e, fn, &no);
	engine_commit(f->e);
	assert_int_equal(fn->n.state, NODE_GONE);
	assert_int_equal(fn->name->fails, 1);
	assert_true(fn->name->rests_ms > engine_now(f->e));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_look, setup, teardown),
		cmocka_unit_test_setup_teardown(test_done, setup, teardown),
		cmocka_unit_test_setup_teardown(test_what_was_bought_since_is_not_known_yet, setup,
						teardown),
		cmocka_unit_test_setup_teardown(test_what_an_admin_ends_is_all_of_the_node, setup,
						teardown),
		cmocka_unit_test_setup_teardown(test_refused, setup, teardown),
		cmocka_unit_test_setup_teardown(test_powered_down, setup, teardown),
		cmocka_unit_test_setup_teardown(test_pause, setup, teardown),
		cmocka_unit_test_setup_teardown(test_refused_machine, setup, teardown),
	};

	return cmocka_run_group_tests_name("operate", tests, NULL, NULL);
}
