/* test_flow.c - what waits for a provider's limit, as an admin sees it: which nodes and instances,
 * and since when. */
#include "two_offers.h"

#include "buy/buy.h"
#include "cloud/cloud.h"

static struct cloud *here(const struct fix *f)
{
	return &f->e->cloud->all[0];
}

static void is_queued(const struct fix *f, size_t provider, enum provider_op_kind kind, size_t n,
		      int64_t oldest_ms)
{
	const struct engine_flow flow = engine_flow(f->e, provider, kind);

	assert_int_equal(flow.queued, n);
	assert_int_equal(flow.oldest_ms, oldest_ms);
}

/* The provider has throttled a request of this kind, and wants no other for a minute. */
static void pause_it(struct cloud *c, enum provider_op_kind kind)
{
	int64_t now = engine_now(c->e);

	c->listed = true;
	limit_throttled(&c->limit, kind, now, 60000, now);
}

static void test_nodes_wait_for_creates_and_those_of_a_place_that_sells(void **state)
{
	struct fix *f = *state;
	int64_t since;

	assert_int_equal(load(f, two_providers("far"), NULL), 0);
	call(f, "c[1-3]",
	     "{\"jobs\":[{\"job_id\":7,\"features\":null,\"nodes_alloc\":\"c[1-3]\"}]}");
	since = engine_now(f->e) - 5000;
	f->e->started_ms = since - 1;
	name_of(f, "c1")->newest->n.wanted_ms += 70;
	name_of(f, "c2")->newest->n.wanted_ms = since;
	is_queued(f, 0, PROVIDER_CREATE, 0, 0);
	pause_it(here(f), PROVIDER_CREATE);
	pause_it(&f->e->cloud->all[1], PROVIDER_CREATE);
	is_queued(f, 0, PROVIDER_CREATE, 0, 0); /* nobody has asked yet */
	assert_false(wanted_goes(here(f)));
	is_queued(f, 0, PROVIDER_CREATE, 3, since);
	assert_true(engine_flow(f->e, 0, PROVIDER_CREATE).limit.until_ms > since + 60000);
	assert_false(wanted_goes(&f->e->cloud->all[1])); /* it has nothing to buy there */
	is_queued(f, 1, PROVIDER_CREATE, 0, 0);
	name_of(f, "c3")->newest->busy = true; /* one of the gang may not go: they wait for that */
	is_queued(f, 0, PROVIDER_CREATE, 0, 0);
	name_of(f, "c3")->newest->busy = false;
	cool(f, 0, PROVIDER_CAPACITY); /* what holds them is not the limit */
	is_queued(f, 0, PROVIDER_CREATE, 0, 0);
}

static void test_creates_that_have_begun_wait_as_well(void **state)
{
	struct batch made = {.n = 2, .made = true};
	struct fix *f = *state;
	struct fleet_node *fn;
	struct node n;
	int64_t now;

	assert_int_equal(load(f, two_providers("far"), NULL), 0);
	now = engine_now(f->e);
	made.sent_ms = now - 9000;
	node_init(&n, "c1", 1, now - 7000);
	n.state = NODE_INDOUBT;
	n.sent_ms = now - 7000;
	fn = fleet_add(&f->e->fleet, &n);
	pause_it(here(f), PROVIDER_CREATE);
	assert_false(wanted_goes(here(f)));
	is_queued(f, 0, PROVIDER_CREATE, 1, now - 7000);
	f->e->buy->batches = &made;
	is_queued(f, 0, PROVIDER_CREATE, 3, now - 9000);
	fn->busy = true;
	made.made = false;
	is_queued(f, 0, PROVIDER_CREATE, 0, 0);
	fn->busy = false;
	fn->n.cloud = 1;
	made.made = true;
	made.cloud = 1;
	is_queued(f, 0, PROVIDER_CREATE, 0, 0);
	f->e->buy->batches = NULL;
}

static void test_instances_wait_for_deletes(void **state)
{
	struct stray strays[2] = {{.id = "i-8"}, {.id = "i-9"}};
	struct fix *f = *state;
	struct fleet_node *fn[2];
	int64_t now;

	assert_int_equal(load(f, two_providers("far"), NULL), 0);
	now = engine_now(f->e);
	f->e->started_ms = now - 60000;
	for (int i = 0; i < 2; i++) {
		struct node n;

		node_init(&n, i == 0 ? "c1" : "c2", 1, now - 9000);
		n.state = NODE_DELETING;
		n.since_ms = now - 3000 + i;
		memcpy(n.instance, "i-1", 4);
		fn[i] = fleet_add(&f->e->fleet, &n);
	}
	pause_it(here(f), PROVIDER_DELETE);
	assert_false(cloud_ready(here(f), PROVIDER_DELETE));
	is_queued(f, 0, PROVIDER_DELETE, 2, now - 3000);
	fn[0]->busy = true; /* on the wire */
	is_queued(f, 0, PROVIDER_DELETE, 1, now - 2999);
	f->e->poll.snapshot_ms = now;
	strays[0].first_ms = strays[1].first_ms = now - 70000;
	strays[0].born_ms = strays[1].born_ms = now - 67000;
	strays[1].asked_ms = now - 1000; /* not due again */
	here(f)->strays = strays;
	here(f)->nstrays = 2;
	is_queued(f, 0, PROVIDER_DELETE, 2, now - 7000); /* it settles for a minute */
	strays[0].asked_ms = now - 61000;
	is_queued(f, 0, PROVIDER_DELETE, 2, now - 2999);
	here(f)->strays = NULL;
	here(f)->nstrays = 0;
	fn[1]->n.cloud = 1;
	is_queued(f, 0, PROVIDER_DELETE, 0, 0);
}

/* Of other kinds there is one, since it first asked in vain; and none at a provider that is off. */
static void test_others_wait_one_by_one(void **state)
{
	struct fix *f = *state;
	struct engine_flow flow;

	assert_int_equal(load(f, two_offers(false), NULL), 0);
	here(f)->sent[PROVIDER_LIST] = 7;
	here(f)->throttled[PROVIDER_LIST] = 3;
	pause_it(here(f), PROVIDER_LIST);
	assert_false(cloud_ready(here(f), PROVIDER_LIST));
	flow = engine_flow(f->e, 0, PROVIDER_LIST);
	assert_int_equal(flow.sent, 7);
	assert_int_equal(flow.throttled, 3);
	assert_int_equal(flow.queued, 1);
	assert_int_equal(flow.oldest_ms, flow.limit.since_ms);
	assert_true(flow.oldest_ms != 0);
	is_queued(f, 0, PROVIDER_QUOTES, 0, 0);
	memcpy(here(f)->off, "x", 2);
	is_queued(f, 0, PROVIDER_LIST, 0, 0);
	here(f)->off[0] = '\0';
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
	const struct CMUnitTest tests[] = {
		T(test_nodes_wait_for_creates_and_those_of_a_place_that_sells),
		T(test_creates_that_have_begun_wait_as_well),
		T(test_instances_wait_for_deletes),
		T(test_others_wait_one_by_one),
	};
#undef T

	return cmocka_run_group_tests_name("flow", tests, NULL, NULL);
}
