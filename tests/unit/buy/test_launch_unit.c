/* test_launch_unit.c - all nodes of a placement unit are bought in its fabric (ADR 63), which is
 * made before each create. */
#include "bare_launch.h"
#include "buy/launch_private.h"
#include "core/unit.h"

/* Units c1 ... c5 and c6 ... c10. */
static int setup_units(void **state)
{
	(void)setup(state);
	F.pool.own.in_fabric = CONF_FABRIC_UNIT;
	F.pool.unit = 5;
	assert_int_equal(hostlist_parse(&F.pool.nodes, "c[1-10]", 7, NULL), 0);
	assert_int_equal(unit_finish(&F.conf, &F.pool, NULL), 0);
	F.e.left = 100;
	return 0;
}

/* Only these are wanted, in this order, as one gang or each alone. */
static void want(const char *const *names, size_t n, uint32_t group)
{
	for (int i = 1; i <= NODES; i++) {
		struct node_event ev = {.type = NODE_EV_REFUSED, .now_ms = engine_now(&F.e)};
		char name[16];
		bool wanted = false;

		(void)snprintf(name, sizeof(name), "c%d", i);
		for (size_t k = 0; k < n; k++)
			wanted = wanted || strcmp(names[k], name) == 0;
		if (!wanted)
			engine_post(&F.e, row(name), &ev);
	}
	for (size_t k = 0; k < n; k++) {
		fleet_last(&F.e.fleet, row(names[k]));
		row(names[k])->n.group = group;
	}
	F.nposted = 0;
}

static void run(void)
{
	launch_part.at[PART_RUN](&F.e);
}

/* The next answer: to a fabric, or to a create as a whole. */
static void say(enum provider_code code)
{
	struct provider_result r = {.code = code, .message = "the rack is full"};
	void *ctx = F.ctx;

	F.ctx = NULL;
	F.answer(&F.cloud, ctx, &r);
	free(ctx);
	launch_answered(&F.e);
}

static void test_a_node_alone_is_bought_in_the_fabric_of_its_unit(void **state)
{
	static const char *const one[] = {"c7"};

	(void)state;
	want(one, 1, 0);
	run();
	assert_int_equal(F.made, 1);
	assert_int_equal(F.sent, 0);
	assert_string_equal(F.token, "burstd-0a1b2c3d-c6-5");
	assert_int_equal(count(NODE_CREATING), 1); /* the intent is durable (I1) */
	say(PROVIDER_OK);
	run();
	assert_int_equal(F.sent, 1);
	assert_string_equal(F.first[0], "c7");
	assert_string_equal(F.fabric[0], "burstd-0a1b2c3d-c6-5");
	assert_string_not_equal(F.token, F.fabric[0]); /* the create's own, new each time */
}

static void test_no_create_spans_units(void **state)
{
	(void)state;
	run(); /* ten nodes, each alone: in the order of the list five and five */
	assert_int_equal(F.made, 2);
	assert_int_equal(count(NODE_CREATING), NODES);
	assert_int_equal(F.e.buy->batches->n, 5);
	assert_int_equal(F.e.buy->batches->next->n, 5);
	assert_string_equal(batch_fabric(&F.e, F.e.buy->batches), "burstd-0a1b2c3d-c6-5");
	assert_string_equal(batch_fabric(&F.e, F.e.buy->batches->next), "burstd-0a1b2c3d-c1-5");
}

/* Whatever the order in which slurmctld, or the journal, has its nodes. */
static void test_a_job_over_two_units_is_whole_in_each(void **state)
{
	static const char *const mixed[] = {"c1", "c10", "c2", "c6", "c3"};
	const struct batch *b;

	(void)state;
	want(mixed, 5, 7);
	run();
	assert_int_equal(F.made, 2);
	b = F.e.buy->batches;
	assert_int_equal(b->n, 2);
	assert_string_equal(b->members[0].name->name, "c10");
	assert_string_equal(b->members[1].name->name, "c6");
	assert_int_equal(b->members[1].group, 7);
	b = b->next;
	assert_int_equal(b->n, 3);
	assert_string_equal(b->members[2].name->name, "c3");
	assert_null(b->next);
}

/* In one fabric pieces are as close to each other as a whole. */
static void test_more_nodes_than_a_create_can_have_go_in_pieces(void **state)
{
	static const char *const five[] = {"c1", "c2", "c3", "c4", "c5"};

	(void)state;
	F.cloud.caps.create_max = 3;
	want(five, 5, 7);
	run();
	assert_int_equal(F.made, 2);
	assert_int_equal(count(NODE_CREATING), 5);
	assert_int_equal(count(NODE_GONE), 5); /* those that nobody wanted */
	for (struct batch *b = F.e.buy->batches; b != NULL; b = b->next)
		assert_string_equal(batch_fabric(&F.e, b), "burstd-0a1b2c3d-c1-5");
}

/* The name is used again: a drop that is still under way would take the new one. */
static void test_nothing_is_bought_in_a_fabric_that_is_being_dropped(void **state)
{
	static const char *const two[] = {"c5", "c6"};
	struct fabric *f;

	(void)state;
	F.recorded = 1;
	fabric_make(&F.cloud, "burstd-0a1b2c3d-c6-5", NULL, NULL);
	F.recorded = F.made = 0;
	f = F.cloud.fabrics;
	f->busy = true;
	want(two, 2, 7);
	run();
	assert_int_equal(F.made, 1);
	assert_string_equal(F.token, "burstd-0a1b2c3d-c1-5");
	assert_int_equal(row("c6")->n.state, NODE_WANTED);
	F.cloud.fabrics[1].busy = false; /* c1 has one now, too */
	run();
	assert_int_equal(F.made, 2);
	assert_string_equal(F.token, "burstd-0a1b2c3d-c6-5");
	assert_int_equal(row("c6")->n.state, NODE_CREATING);
}

/* I4: the same token, and so the same fabric; made first again, for it may not be there. */
static void test_a_repeat_makes_the_same_fabric_first(void **state)
{
	static const char *const two[] = {"c6", "c7"};
	char token[64];

	(void)state;
	want(two, 2, 7);
	run();
	say(PROVIDER_OK);
	run();
	memcpy(token, F.token, sizeof(token));
	say(PROVIDER_AMBIGUOUS);
	assert_int_equal(count(NODE_INDOUBT), 2);
	F.passed = 2000;
	F.repeats = true;
	run();
	assert_int_equal(F.made, 2);
	assert_string_equal(F.token, "burstd-0a1b2c3d-c6-5");
	say(PROVIDER_OK);
	run();
	assert_int_equal(F.sent, 2);
	assert_string_equal(F.token, token);
	assert_string_equal(F.fabric[1], F.fabric[0]);
}

/* A repeat, too, waits for the answer to a drop. */
static void test_no_repeat_goes_into_a_fabric_that_is_being_dropped(void **state)
{
	static const char *const one[] = {"c6"};

	(void)state;
	want(one, 1, 0);
	run();
	say(PROVIDER_OK);
	run();
	say(PROVIDER_AMBIGUOUS);
	F.passed = 2000;
	F.cloud.fabrics[0].busy = true;
	run();
	assert_int_equal(F.made, 1);
	assert_int_equal(count(NODE_INDOUBT), 1);
	F.cloud.fabrics[0].busy = false;
	F.repeats = true;
	run();
	assert_int_equal(F.made, 2);
}

/* A drop whose answer was lost took it: nothing is bought, and it is made again. */
static void test_a_fabric_that_is_gone_is_made_again(void **state)
{
	static const char *const one[] = {"c6"};
	char token[64];

	(void)state;
	want(one, 1, 0);
	run();
	say(PROVIDER_OK);
	run();
	memcpy(token, F.token, sizeof(token));
	say(PROVIDER_NOT_YET);
	assert_int_equal(count(NODE_WANTED), 1);
	F.passed = 2000;
	run();
	assert_int_equal(F.made, 2);
	assert_string_equal(F.token, "burstd-0a1b2c3d-c6-5");
	say(PROVIDER_OK);
	run();
	assert_string_not_equal(F.token, token);
	assert_string_equal(F.fabric[1], "burstd-0a1b2c3d-c6-5");
}

static void test_people_read_which_unit_has_no_room(void **state)
{
	static const char *const two[] = {"c6", "c7"};

	(void)state;
	want(two, 2, 7);
	run();
	say(PROVIDER_OK);
	run();
	say(PROVIDER_CAPACITY);
	assert_string_equal(row("c6")->name->why,
			    "unit 2 of pool p has no room: p: the rack is full");
	assert_int_equal(row("c6")->n.reason, NODE_BECAUSE_CAPACITY);
}

/* The fabric is full, which the zone need not be; who asks for an empty one asks the zone. */
static void test_a_full_unit_closes_no_other(void **state)
{
	static const char *const two[] = {"c6", "c7"};
	struct unsold_say said[UNSOLD_EACH];

	for (int i = 0; i < 5; i++) {
		struct node n;

		want(two, 2, 7);
		n = row("c8")->n; /* gone: its unit is empty */
		if (i > 0) {
			n.state = i == 3 ? NODE_GONE : NODE_READY;
			(void)snprintf(n.instance, sizeof(n.instance), "i-8");
		}
		if (i == 4) /* in the other unit */
			(void)snprintf(n.instance, sizeof(n.instance), "%s", "");
		fleet_set(&F.e.fleet, row("c8"), &n);
		run();
		say(PROVIDER_OK);
		run();
		say(i == 2 ? PROVIDER_QUOTA : PROVIDER_CAPACITY);
		print_message("# %d\n", i);
		assert_int_equal(place_would(&F.e, &F.pool.own),
				 i == 1 ? PLACE_SELLS : PLACE_SOLD_OUT);
		assert_int_equal(row("c6")->n.state, NODE_GONE);
		assert_int_equal(place_unsold(&F.e, &F.pool.own, said), 1); /* people read of it */
		(void)teardown(state);
		(void)setup_units(state);
	}
}

/* Others wait for the answer to a probe: one that tells nothing of the place ends that, too. */
static void test_a_probe_into_a_full_unit_has_told_nothing(void **state)
{
	static const char *const one[] = {"c7"};
	const struct conf_offer *o = &F.pool.own;
	const struct cooldown_place at = {.place = {.provider = "p",
						    .type = o->type,
						    .region = o->region,
						    .zone = o->zone,
						    .fabric = CONF_FABRIC_UNIT,
						    .market = (enum provider_market)o->market}};
	int64_t then = engine_now(&F.e) - COOLDOWN_CAPACITY_MS - 1;
	struct node n;

	(void)state;
	want(one, 1, 0);
	n = row("c8")->n;
	n.state = NODE_READY;
	(void)snprintf(n.instance, sizeof(n.instance), "i-8");
	fleet_set(&F.e.fleet, row("c8"), &n);
	(void)cooldown_bought(&F.e.cloud->cooldown, &at, PROVIDER_CAPACITY, then, then);
	run();
	assert_int_equal(place_view(&F.e, o).state, COOLDOWN_PROBING);
	say(PROVIDER_OK);
	run();
	say(PROVIDER_CAPACITY);
	assert_int_equal(place_view(&F.e, o).state, COOLDOWN_HALF);
}

/* The first request of such a create is for its fabric. */
static void test_a_create_waits_for_its_fabrics_limit(void **state)
{
	static const char *const one[] = {"c7"};

	(void)state;
	want(one, 1, 0);
	limit_throttled(&F.cloud.limit, PROVIDER_FABRIC_MAKE, 0, 0, engine_now(&F.e));
	run();
	assert_int_equal(F.made, 0);
	assert_int_equal(count(NODE_WANTED), 1);
	F.cloud.limit.kinds[PROVIDER_FABRIC_MAKE].until_ms = 0;
	F.cloud.limit.kinds[PROVIDER_FABRIC_MAKE].pace.rate = 0;
	run();
	assert_int_equal(F.made, 1);
}

/* A driver may launch otherwise what is to be in a fabric. */
static void test_the_driver_is_asked_what_fits_into_the_units_fabric(void **state)
{
	static const char *const two[] = {"c6", "c7"};

	(void)state;
	F.fits = 1;
	want(two, 2, 0);
	run();
	assert_string_equal(F.fits_in, "burstd-0a1b2c3d-c6-5");
	assert_int_equal(F.made, 2);
	assert_int_equal(count(NODE_CREATING), 2);
}

/* Two jobs of one unit may share a create: it is one fabric. */
static void test_jobs_of_one_unit_share_a_create(void **state)
{
	static const char *const four[] = {"c1", "c2", "c3", "c4"};

	(void)state;
	want(four, 4, 7);
	row("c3")->n.group = row("c4")->n.group = 8;
	run();
	assert_int_equal(F.made, 1);
	assert_int_equal(F.e.buy->batches->n, 4);
}

/* After a restart rows of a batch may be missing. */
static void test_a_batch_whose_first_member_is_lost_has_its_unit(void **state)
{
	static const char *const two[] = {"c6", "c7"};
	struct batch *b;

	(void)state;
	want(two, 2, 7);
	run();
	b = F.e.buy->batches;
	b->members[0].name = NULL;
	assert_string_equal(batch_fabric(&F.e, b), "burstd-0a1b2c3d-c6-5");
	b->members[1].name = NULL;
	assert_null(batch_fabric(&F.e, b));
	b->members[1].name = row("c7")->name;
	b->members[0].name = row("c6")->name;
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, setup_units, teardown)
	const struct CMUnitTest tests[] = {
		T(test_a_node_alone_is_bought_in_the_fabric_of_its_unit),
		T(test_no_create_spans_units),
		T(test_a_job_over_two_units_is_whole_in_each),
		T(test_more_nodes_than_a_create_can_have_go_in_pieces),
		T(test_nothing_is_bought_in_a_fabric_that_is_being_dropped),
		T(test_a_repeat_makes_the_same_fabric_first),
		T(test_no_repeat_goes_into_a_fabric_that_is_being_dropped),
		T(test_a_fabric_that_is_gone_is_made_again),
		T(test_people_read_which_unit_has_no_room),
		T(test_a_full_unit_closes_no_other),
		T(test_a_probe_into_a_full_unit_has_told_nothing),
		T(test_a_create_waits_for_its_fabrics_limit),
		T(test_the_driver_is_asked_what_fits_into_the_units_fabric),
		T(test_jobs_of_one_unit_share_a_create),
		T(test_a_batch_whose_first_member_is_lost_has_its_unit),
	};
#undef T

	return cmocka_run_group_tests_name("launch_unit", tests, NULL, NULL);
}
