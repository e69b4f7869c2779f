/* test_failed.c - a provider accepts a create and finds out later that it cannot make the machine
 * (Nova: "No valid host was found"): that is a refusal, only later. */
#include "two_offers.h"

#include "cloud/cloud.h"
#include "diff/diff.h"

static void post(struct fix *f, const char *node, struct node_event ev)
{
	ev.now_ms = engine_now(f->e);
	engine_post(f->e, name_of(f, node)->newest, &ev);
	engine_commit(f->e);
}

static struct provider_instance machine(const struct fix *f, const char *node)
{
	struct provider_instance in = {.state = PROVIDER_PENDING,
				       .gen = name_of(f, node)->newest->n.gen};

	(void)snprintf(in.id, sizeof(in.id), "i-%s", node);
	(void)snprintf(in.node, sizeof(in.node), "%s", node);
	(void)snprintf(in.cluster, sizeof(in.cluster), "%s", uuid);
	return in;
}

static void buy(struct fix *f, const char *node)
{
	const struct provider_instance in = machine(f, node);

	post(f, node, (struct node_event){.type = NODE_EV_START, .batch = 7});
	post(f, node, (struct node_event){.type = NODE_EV_CREATED, .instance = &in});
	assert_int_equal(name_of(f, node)->newest->n.state, NODE_BOOTING);
}

/* The list has c1, in this state, why it failed, and c2, which boots. */
static void list_as(struct fix *f, enum provider_state state, bool taken, enum provider_code code,
		    const char *message)
{
	struct provider_instance rows[2] = {machine(f, "c1"), machine(f, "c2")};
	struct provider_failure why = {.code = code};
	struct cloud *c = &f->e->cloud->all[0];

	rows[0].state = state;
	rows[0].taken = taken;
	(void)snprintf(why.id, sizeof(why.id), "%s", rows[0].id);
	(void)snprintf(why.message, sizeof(why.message), "%s", message != NULL ? message : "");
	c->seen = rows;
	c->nseen = 2;
	c->failures = &why;
	c->nfailures = message != NULL;
	c->list_began = loop_now(f->loop) + 1 + f->ahead;
	assert_true(inventory_part.listed(c));
	c->comparison = (struct comparison){.runs = false};
	engine_commit(f->e);
	c->seen = NULL;
	c->failures = NULL;
	c->nseen = c->nfailures = 0;
}

static void list(struct fix *f, enum provider_code code, const char *message)
{
	list_as(f, PROVIDER_FAILED, false, code, message);
}

static void begin(struct fix *f)
{
	assert_int_equal(load(f, two_offers(false), NULL), 0);
	call(f, "c[1-2]", ONE);
	buy(f, "c1");
	buy(f, "c2");
}

static void test_its_place_cools_down_and_the_node_climbs(void **state)
{
	struct fix *f = *state;
	const struct fleet_name *c1;
	const struct conf_offer *here;

	begin(f);
	c1 = name_of(f, "c1");
	here = &f->e->conf->pools[0].offers[0];
	list(f, PROVIDER_CAPACITY, "No valid host was found.");
	assert_int_equal(c1->newest->n.state, NODE_DELETING);
	assert_int_equal(c1->newest->n.reason, NODE_BECAUSE_CAPACITY);
	assert_int_equal(name_of(f, "c2")->newest->n.state, NODE_BOOTING);
	assert_true(place_is_cooling(f->e, here));
	assert_int_equal(f->e->cloud->all[0].refused[PROVIDER_CAPACITY], 1);
	assert_non_null(strstr(c1->why, "no t in r: No valid host was found."));
	assert_false(c1->barred);
	assert_true(c1->climbs);
	intake_part.at[PART_RUN](f->e);
	squeue(f, "7|7|CONFIGURING|gpu|None|c[1-2]|(null)\n", NULL);
	expect(f, "c1", 2, "there");
	assert_int_equal(c1->newest->older->n.state, NODE_DELETING);
}

/* Where the pool has room for no more nodes it waits until the failed one has left, instead of
 * going back to slurmctld, and later to the same place.  For the answer to the delete it waits half
 * a minute, and not where the provider has said no. */
static void test_in_a_full_pool_it_waits_for_its_own_end(void **state)
{
	static const struct {
		uint32_t denials;
		int64_t ago_ms;
		bool accepted, unreached;
		uint32_t ends; /* plan_pool.ends */
		bool waits;
	} rows[] = {{0, 0, false, false, 1, true},      {0, 29000, false, false, 1, true},
		    {0, 30000, false, false, 0, false}, {1, 1000, false, false, 0, false},
		    {0, 1000, true, false, 0, true},    {0, 1000, false, true, 0, false}};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct fix *f;
		struct fleet_name *c1;
		struct plan_pool *pools;
		struct node n;

		teardown(state);
		setup(state);
		f = *state;
		print_message("# row %zu\n", i);
		begin(f);
		f->e->conf->pools[0].max_nodes = 2;
		list(f, PROVIDER_CAPACITY, "No valid host was found.");
		c1 = name_of(f, "c1");
		assert_int_equal(c1->newest->n.state, NODE_DELETING);
		n = c1->newest->n;
		n.attempts = rows[i].denials;
		n.since_ms -= rows[i].ago_ms;
		n.accepted = rows[i].accepted;
		fleet_set(&f->e->fleet, c1->newest, &n);
		c1->newest->unreached = rows[i].unreached;
		pools = intake_pools(f->e);
		assert_int_equal(pools[0].ends, rows[i].ends);
		assert_int_equal(pools[0].ends_nano_h, rows[i].ends * n.rate_nano_h);
		intake_free_pools(f->e, pools);
		intake_part.at[PART_RUN](f->e);
		squeue(f, "7|7|CONFIGURING|gpu|None|c[1-2]|(null)\n", NULL);
		assert_int_equal(c1->newest->n.state, NODE_DELETING); /* no other is bought yet */
		assert_int_equal(c1->barred, !rows[i].waits);
	}
}

/* The next lists show it still, until it is deleted: that is no second refusal. */
static void test_it_is_refused_once(void **state)
{
	struct fix *f = *state;

	begin(f);
	list(f, PROVIDER_QUOTA, "Quota exceeded for gpus");
	list(f, PROVIDER_QUOTA, "Quota exceeded for gpus");
	assert_int_equal(f->e->cloud->all[0].refused[PROVIDER_QUOTA], 1);
	assert_int_equal(name_of(f, "c1")->newest->n.reason, NODE_BECAUSE_QUOTA);
}

/* It says nothing about the place: the machine counts as one that stopped as it booted (F10). */
static void test_without_a_reason_that_is_about_the_place_it_stopped(void **state)
{
	static const char *const messages[] = {"Build of instance aborted: volume timed out", NULL};

	for (size_t i = 0; i < 2; i++) {
		struct fix *f = *state;

		begin(f);
		list(f, PROVIDER_TRANSIENT, messages[i]);
		assert_int_equal(name_of(f, "c1")->newest->n.state, NODE_DELETING);
		assert_int_equal(name_of(f, "c1")->newest->n.reason, NODE_BECAUSE_STOPPED);
		assert_false(place_is_cooling(f->e, &f->e->conf->pools[0].offers[0]));
		assert_true(name_of(f, "c1")->barred);
		assert_true(i == 1 || strstr(name_of(f, "c1")->why, "volume timed out") != NULL);
	}
}

/* EC2 ends by itself what it accepted and cannot make: nothing is left to be deleted. */
static void test_one_that_has_ended_by_itself_is_refused_as_well(void **state)
{
	struct fix *f = *state;
	const struct fleet_name *c1;

	begin(f);
	c1 = name_of(f, "c1");
	list_as(f, PROVIDER_ENDED, false, PROVIDER_QUOTA, "Volume limit exceeded");
	assert_int_equal(c1->newest->n.state, NODE_GONE);
	assert_int_equal(c1->newest->n.reason, NODE_BECAUSE_QUOTA);
	assert_true(place_is_cooling(f->e, &f->e->conf->pools[0].offers[0]));
	assert_int_equal(f->e->cloud->all[0].refused[PROVIDER_QUOTA], 1);
	assert_non_null(strstr(c1->why, "Volume limit exceeded"));
	list_as(f, PROVIDER_ENDED, false, PROVIDER_QUOTA, "Volume limit exceeded");
	assert_int_equal(f->e->cloud->all[0].refused[PROVIDER_QUOTA], 1);
}

static void test_one_that_was_taken_is_not_refused(void **state)
{
	struct fix *f = *state;

	begin(f);
	list_as(f, PROVIDER_ENDED, true, PROVIDER_CAPACITY, "none left");
	assert_int_equal(name_of(f, "c1")->newest->n.reason, NODE_BECAUSE_RECLAIMED);
	assert_false(place_is_cooling(f->e, &f->e->conf->pools[0].offers[0]));
}

/* A machine of ours that no row stands for bills as well: it is deleted like any stray. */
static void test_a_stray_that_failed_is_deleted(void **state)
{
	struct fix *f = *state;
	struct provider_instance row;
	struct cloud *c;

	begin(f);
	c = &f->e->cloud->all[0];
	row = machine(f, "c1");
	(void)snprintf(row.id, sizeof(row.id), "i-other");
	(void)snprintf(row.node, sizeof(row.node), "x9"); /* no pool names it */
	row.state = PROVIDER_FAILED;
	c->seen = &row;
	c->nseen = 1;
	c->list_began = loop_now(f->loop) + 1;
	assert_true(inventory_part.listed(c));
	c->comparison = (struct comparison){.runs = false};
	engine_commit(f->e);
	c->seen = NULL;
	c->nseen = 0;
	assert_int_equal(c->nstrays, 1);
	assert_false(c->strays[0].leaves);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_its_place_cools_down_and_the_node_climbs,
						setup, teardown),
		cmocka_unit_test_setup_teardown(test_in_a_full_pool_it_waits_for_its_own_end, setup,
						teardown),
		cmocka_unit_test_setup_teardown(test_it_is_refused_once, setup, teardown),
		cmocka_unit_test_setup_teardown(
			test_without_a_reason_that_is_about_the_place_it_stopped, setup, teardown),
		cmocka_unit_test_setup_teardown(
			test_one_that_has_ended_by_itself_is_refused_as_well, setup, teardown),
		cmocka_unit_test_setup_teardown(test_one_that_was_taken_is_not_refused, setup,
						teardown),
		cmocka_unit_test_setup_teardown(test_a_stray_that_failed_is_deleted, setup,
						teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
