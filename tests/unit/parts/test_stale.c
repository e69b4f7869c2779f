/* The NodeAddr that slurmctld had before a node was bought is no proof of where it is (I20, F37):
 * an old release keeps it over a power down, and the provider may give the address to a second
 * machine of the same generation. */
#include "buy/buy.h"
#include "cloud/cloud.h"
#include "diff/diff.h"
#include "listed_engine.h"

#define COMING "ALLOCATED+CLOUD+POWERING_UP"
#define UP     "ALLOCATED+CLOUD"

static const struct shown before = {"i-1", 5, "10.0.0.3", PROVIDER_RUNNING};

/* A snapshot that begins after what was done. */
static void look(struct fix *f, const char *state, const char *addr)
{
	char place[64];

	(void)snprintf(place, sizeof(place), "NodeAddr=%s", addr);
	show(f, state, place);
	engine_commit(f->e);
}

static struct fleet_node *live(const struct fix *f)
{
	return fleet_live(fleet_find(&f->e->fleet, "c1"));
}

/* Generation 6, and its machine i-2, whose address nobody knows yet. */
static void buy(struct fix *f)
{
	static const struct provider_instance made = {
		.id = "i-2", .node = "c1", .gen = 6, .state = PROVIDER_PENDING};
	struct node_event ev = {.type = NODE_EV_START, .now_ms = engine_now(f->e), .batch = 7};

	f->e->left = ENGINE_SEND;
	call(f, "c1", "{\"jobs\":[]}");
	assert_non_null(live(f));
	assert_int_equal(live(f)->n.gen, 6);
	engine_post(f->e, live(f), &ev);
	engine_commit(f->e);
	ev.type = NODE_EV_CREATED;
	ev.instance = &made;
	engine_post(f->e, live(f), &ev);
	engine_commit(f->e);
	assert_int_equal(state_of(f), NODE_BOOTING);
}

/* Its address and the second one, which has got that of generation 5. */
static void list_both(struct fix *f)
{
	static const struct shown both[] = {{"i-2", 6, "10.0.0.2", PROVIDER_RUNNING},
					    {"i-3", 6, "10.0.0.3", PROVIDER_RUNNING}};

	list(f, both, 2);
}

static void restart(struct fix *f)
{
	engine_free(f->e);
	f->e = NULL;
	assert_int_equal(load_conf(f, make_conf(), NULL), 0);
}

static void test_which_of_two_stays(void **state)
{
	static const struct {
		const char *what;
		const char *before, *meanwhile; /* NodeAddr */
		bool restart, other_stays;
	} rows[] = {
		{"it was there before", "10.0.0.3", "10.0.0.3", false, false},
		{"and burstd is started anew", "10.0.0.3", "10.0.0.3", true, false},
		{"slurmctld had none, and slurmd has come", "c1", "c1", false, true},
		{"and burstd is started anew", "c1", "c1", true, true},
		{"slurmctld has forgotten it since", "10.0.0.3", "c1", false, true},
		{"another one was there before", "10.0.0.9", "10.0.0.9", true, true},
	};
	struct fix *f = *state;

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		load(f, NODE_GONE, &before);
		look(f, COMING, rows[i].before);
		buy(f);
		look(f, COMING, rows[i].meanwhile);
		if (rows[i].restart)
			restart(f);
		look(f, UP, "10.0.0.3");
		list_both(f);
		if (strcmp(kept(f), rows[i].other_stays ? "i-3" : "i-2") != 0)
			fail_msg("%s (%zu): %s stays", rows[i].what, i, kept(f));
		assert_int_equal(is_stray(f, "i-3"), !rows[i].other_stays);
	}
}

/* What burstd has told slurmctld need not be in a snapshot yet. */
static void test_an_order_counts_as_long_as_no_snapshot_shows_its_effect(void **state)
{
	static const struct shown ours = {"i-1", 5, "", PROVIDER_PENDING};
	struct node_event ev = {.type = NODE_EV_RELEASE, .reason = NODE_BECAUSE_SUSPENDED};
	struct fix *f = *state;
	const struct fleet_name *nm;

	load(f, NODE_READY, &ours);
	nm = fleet_find(&f->e->fleet, "c1");
	look(f, UP, "10.0.0.9");
	assert_string_equal(nm->addr, "10.0.0.9");
	list(f, &before, 1); /* has its address: slurmctld is told */
	assert_string_equal(nm->addr, "10.0.0.3");
	look(f, UP, "c1");
	assert_string_equal(nm->addr, "10.0.0.3");
	ev.now_ms = engine_now(f->e);
	engine_post(f->e, live(f), &ev);
	engine_commit(f->e);
	buy(f);
	assert_string_equal(live(f)->n.stale_addr, "10.0.0.3");
	assert_false(live(f)->moved);
}

/* Likewise where slurmctld has forgotten what it was told. */
static void test_an_order_that_is_given_again_counts_too(void **state)
{
	struct fix *f = *state;
	const struct fleet_name *nm;

	load(f, NODE_READY, &before);
	nm = fleet_find(&f->e->fleet, "c1");
	list(f, &before, 1);
	look(f, UP, "c1");
	assert_string_equal(nm->addr, "10.0.0.3");
}

/* Since burstd started there may have been orders all the time. */
static void test_the_first_snapshot_counts_though_orders_wait(void **state)
{
	struct fix *f = *state;

	load(f, NODE_GONE, &before);
	slurm_resume(f->e->slurm, "c2");
	look(f, COMING, "10.0.0.3");
	buy(f);
	assert_string_equal(live(f)->n.stale_addr, "10.0.0.3");
	look(f, COMING, "c1");
	assert_false(live(f)->moved);
}

/* A lost journal: nobody knows what slurmctld had before, and NodeAddr is all that there is. */
static void test_of_what_was_found_the_address_proves(void **state)
{
	static const struct shown found[] = {{"i-2", 6, "10.0.0.2", PROVIDER_RUNNING},
					     {"i-3", 6, "10.0.0.3", PROVIDER_RUNNING}};
	struct fix *f = *state;

	load(f, NODE_GONE, &before);
	look(f, UP, "10.0.0.3");
	list(f, found, 2);
	assert_string_equal(kept(f), "i-3");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_which_of_two_stays, setup, teardown),
		cmocka_unit_test_setup_teardown(
			test_an_order_counts_as_long_as_no_snapshot_shows_its_effect, setup,
			teardown),
		cmocka_unit_test_setup_teardown(test_an_order_that_is_given_again_counts_too, setup,
						teardown),
		cmocka_unit_test_setup_teardown(test_the_first_snapshot_counts_though_orders_wait,
						setup, teardown),
		cmocka_unit_test_setup_teardown(test_of_what_was_found_the_address_proves, setup,
						teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
