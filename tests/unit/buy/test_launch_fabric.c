/* test_launch_fabric.c - a fabric for each job of several nodes (ADR 18): made before its create,
 * and again before a repeat. */
#include "bare_launch.h"
#include "buy/buy.h"
#include "cloud/cloud.h"

/* c1 ... c3 are one job, the rest were bought before. */
static void want_a_job(const char *fabric)
{
	struct fleet_node *fn = F.e.fleet.states[NODE_WANTED], *next;

	F.pool.own.in_fabric = fabric;
	make_gangs();
	for (; fn != NULL; fn = next) {
		struct node_event ev = {.type = NODE_EV_REFUSED, .now_ms = engine_now(&F.e)};

		next = fn->state_next;
		if (fn->n.group != 1)
			engine_post(&F.e, fn, &ev);
	}
	F.e.left = 100;
	F.nposted = 0;
}

/* The next answer: to a fabric, or to a create as a whole. */
static void say(enum provider_code code)
{
	struct provider_result r = {.code = code};
	void *ctx = F.ctx;

	F.ctx = NULL;
	F.answer(&F.cloud, ctx, &r);
	free(ctx);
	if (code == PROVIDER_OK) /* the turn goes on */
		launch_part.at[PART_RUN](&F.e);
	launch_answered(&F.e);
}

static void test_a_fabric_is_made_before_the_create_of_its_job(void **state)
{
	char name[64];

	(void)state;
	want_a_job("job");
	launch_part.at[PART_RUN](&F.e);
	assert_int_equal(F.made, 1);
	assert_int_equal(F.sent, 0);
	assert_int_equal(count(NODE_CREATING), 3); /* the intent of the create is durable */
	memcpy(name, F.token, sizeof(name));
	say(PROVIDER_OK);
	assert_int_equal(F.sent, 1);
	assert_int_equal(F.sizes[0], 3);
	assert_string_equal(F.fabric[0], name);
	assert_string_equal(F.token, name);
	F.e.left = 1;
	answer(3);
	launch_answered(&F.e); /* in one piece: a crash must not cut it */
	assert_int_equal(count(NODE_BOOTING), 3);
	assert_null(F.e.buy->answers);
}

/* One node of a job that has its others in another pool goes with those that stand alone. */
static void test_one_node_of_a_job_needs_no_fabric(void **state)
{
	(void)state;
	F.pool.own.in_fabric = "job";
	F.e.fleet.states[NODE_WANTED]->n.group = 7;
	launch_part.at[PART_RUN](&F.e);
	assert_int_equal(F.made, 0);
	assert_int_equal(F.sent, 1);
	assert_int_equal(F.sizes[0], NODES);
	assert_string_equal(F.fabric[0], "");
}

static void test_each_job_has_a_fabric_and_nodes_alone_have_none(void **state)
{
	(void)state;
	make_gangs();
	F.pool.own.in_fabric = "job";
	F.cloud.caps.flags = PROVIDER_GANGS; /* which would put them all into one create */
	launch_part.at[PART_RUN](&F.e);
	assert_int_equal(F.made, 2);
	assert_int_equal(F.sent, 1);
	assert_int_equal(F.sizes[0], 3); /* c8, c9, c10 */
	assert_string_equal(F.first[0], "c8");
	assert_string_equal(F.fabric[0], "");
}

/* They may go in pieces, for they have no fabric. */
static void test_those_behind_a_job_with_a_fabric_are_no_part_of_it(void **state)
{
	(void)state;
	for (struct fleet_node *fn = F.e.fleet.states[NODE_WANTED]; fn; fn = fn->state_next)
		fn->n.group = strcmp(fn->n.name, "c1") == 0 || strcmp(fn->n.name, "c2") == 0;
	F.pool.own.in_fabric = "job";
	F.fits = 4;
	launch_part.at[PART_RUN](&F.e);
	assert_int_equal(F.made, 1);
	assert_int_equal(count(NODE_GONE), 0);
	assert_int_equal(F.sent, 2);
	assert_int_equal(F.sizes[0], 4);
	assert_int_equal(F.sizes[1], 4);
	assert_string_equal(F.fabric[0], "");
}

static void test_a_fabric_that_is_there_is_for_all(void **state)
{
	(void)state;
	make_gangs();
	F.pool.own.in_fabric = "pg-1";
	F.cloud.caps.flags = PROVIDER_GANGS;
	launch_part.at[PART_RUN](&F.e);
	assert_int_equal(F.made, 0);
	assert_int_equal(F.sent, 1);
	assert_int_equal(F.sizes[0], NODES);
	assert_string_equal(F.fabric[0], "pg-1");
}

static void test_without_its_fabric_nothing_was_bought(void **state)
{
	static const struct {
		enum provider_code code;
		enum node_state then;
		enum node_reason reason;
	} rows[] = {
		{PROVIDER_AMBIGUOUS, NODE_WANTED, NODE_BECAUSE_NONE},
		{PROVIDER_TRANSIENT, NODE_WANTED, NODE_BECAUSE_NONE},
		{PROVIDER_RATE, NODE_WANTED, NODE_BECAUSE_NONE},
		{PROVIDER_NOT_YET, NODE_WANTED, NODE_BECAUSE_NONE},
		{PROVIDER_DENIED, NODE_GONE, NODE_BECAUSE_DENIED},
		{PROVIDER_INVALID, NODE_GONE, NODE_BECAUSE_INVALID},
		{PROVIDER_QUOTA, NODE_GONE, NODE_BECAUSE_CAPACITY}, /* of fabrics, not machines */
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		want_a_job("job");
		launch_part.at[PART_RUN](&F.e);
		say(rows[i].code);
		assert_int_equal(F.sent, 0);
		assert_int_equal(F.nposted, 6); /* each: START, and what came of it */
		for (int k = 1; k <= 3; k++) {
			char name[16];

			(void)snprintf(name, sizeof(name), "c%d", k);
			assert_int_equal(fleet_find(&F.e.fleet, name)->newest->n.state,
					 rows[i].then);
			assert_int_equal(fleet_find(&F.e.fleet, name)->newest->n.reason,
					 rows[i].reason);
		}
		(void)teardown(state);
		(void)setup(state);
	}
}

/* It needs a right of its own: who wants no fabric may buy from that provider all the same. */
static void test_who_may_not_make_fabrics_may_buy_without(void **state)
{
	struct conf_offer any;

	(void)state;
	want_a_job("job");
	any = F.pool.own;
	any.in_fabric = NULL;
	launch_part.at[PART_RUN](&F.e);
	say(PROVIDER_DENIED);
	assert_int_equal(fleet_find(&F.e.fleet, "c1")->newest->n.reason, NODE_BECAUSE_DENIED);
	assert_int_equal(place_would(&F.e, &F.pool.own), PLACE_SOLD_OUT);
	assert_int_equal(place_would(&F.e, &any), PLACE_SELLS);
	(void)teardown(state);
	(void)setup(state);
	want_a_job("job");
	launch_part.at[PART_RUN](&F.e);
	say(PROVIDER_OK);
	say(PROVIDER_DENIED); /* the create is: nobody may buy */
	assert_int_equal(place_would(&F.e, &any), PLACE_SOLD_OUT);
}

static void test_what_changed_while_the_fabric_was_made_counts(void **state)
{
	struct node_event ev = {.type = NODE_EV_RELEASE,
				.reason = NODE_BECAUSE_SUSPENDED,
				.now_ms = engine_now(&F.e)};

	want_a_job("job");
	launch_part.at[PART_RUN](&F.e);
	engine_post(&F.e, F.e.fleet.states[NODE_CREATING], &ev);
	say(PROVIDER_OK);
	assert_int_equal(F.sent, 0);
	assert_int_equal(count(NODE_WANTED), 2);
	(void)teardown(state);
	(void)setup(state);
	F.provider.unreachable_ms = 60000;
	want_a_job("job");
	launch_part.at[PART_RUN](&F.e);
	F.closed = "paused";
	say(PROVIDER_OK);
	assert_int_equal(F.sent, 0);
	assert_int_equal(F.e.cloud->cooldown.places.n, 0); /* nothing has failed there */
	assert_int_equal(count(NODE_WANTED), 3);
	launch_part.at[PART_RUN](&F.e);
	launch_answered(&F.e); /* there is no other answer */
	assert_null(F.e.buy->batches);
	(void)teardown(state);
	(void)setup(state);
	want_a_job("job");
	launch_part.at[PART_RUN](&F.e);
	fleet_find(&F.e.fleet, "c1")->missing_ms = 1; /* slurmctld does not have it any more */
	say(PROVIDER_OK);
	assert_int_equal(F.sent, 0);
	assert_int_equal(count(NODE_WANTED), 3);
}

/* F7: from the beginning it would be two requests again, and with one token both never went.  It is
 * the same create: nothing came of it. */
static void test_a_create_that_is_throttled_keeps_its_fabric(void **state)
{
	struct node_event ev = {.type = NODE_EV_RELEASE, .reason = NODE_BECAUSE_SUSPENDED};
	char name[64];

	(void)state;
	want_a_job("job");
	launch_part.at[PART_RUN](&F.e);
	memcpy(name, F.token, sizeof(name));
	say(PROVIDER_OK);
	for (unsigned i = 2; i < 5; i++) {
		say(PROVIDER_RATE);
		assert_int_equal(count(NODE_CREATING), 3);
		launch_part.at[PART_RUN](&F.e);
		assert_int_equal(F.made, 1);
		assert_int_equal(F.sent, i);
		assert_string_equal(F.token, name);
	}
	say(PROVIDER_RATE);
	ev.now_ms = engine_now(&F.e);
	engine_post(&F.e, F.e.fleet.states[NODE_CREATING], &ev); /* nobody wants it any more */
	launch_part.at[PART_RUN](&F.e);
	launch_answered(&F.e);
	assert_int_equal(F.sent, 4);
	assert_int_equal(count(NODE_WANTED), 2);
}

static void test_the_create_behind_a_fabric_asks_its_limit(void **state)
{
	(void)state;
	want_a_job("job");
	launch_part.at[PART_RUN](&F.e);
	F.busy = true;
	say(PROVIDER_OK);
	launch_part.at[PART_RUN](&F.e);
	assert_int_equal(F.sent, 0);
	F.busy = false;
	launch_part.at[PART_RUN](&F.e);
	assert_int_equal(F.sent, 1);
}

/* F7: one that asks for more instances than the provider lets through is throttled whole. */
static void test_the_create_behind_a_fabric_waits_for_room(void **state)
{
	static const struct provider_limit own[PROVIDER_NOPS] = {
		[PROVIDER_CREATE] = {.instances = {NODES, 1, 1000}}};

	(void)state;
	want_a_job("job");
	limit_init(&F.cloud.limit, 1000, 0, own, engine_now(&F.e));
	limit_take(&F.cloud.limit, PROVIDER_CREATE, NODES - 2, engine_now(&F.e));
	limit_give(&F.cloud.limit, PROVIDER_CREATE);
	launch_part.at[PART_RUN](&F.e);
	assert_int_equal(F.made, 1);
	say(PROVIDER_OK);
	assert_int_equal(F.sent, 0);
	F.passed += 1000;
	launch_part.at[PART_RUN](&F.e);
	assert_int_equal(F.sent, 1);
}

/* More room there never is: it would wait for ever. */
static void test_a_job_larger_than_all_room_goes_when_there_is_all(void **state)
{
	static const struct provider_limit own[PROVIDER_NOPS] = {
		[PROVIDER_CREATE] = {.instances = {2, 1, 1000}}};

	(void)state;
	want_a_job("job"); /* of three */
	limit_init(&F.cloud.limit, 1000, 0, own, engine_now(&F.e));
	launch_part.at[PART_RUN](&F.e);
	say(PROVIDER_OK);
	assert_int_equal(F.sent, 1);
}

/* A lost answer, or a restart: the same name, and made again first, for nobody knows. */
static void test_a_repeat_makes_the_same_fabric_first(void **state)
{
	char name[64];

	(void)state;
	want_a_job("job");
	launch_part.at[PART_RUN](&F.e);
	memcpy(name, F.token, sizeof(name));
	say(PROVIDER_OK);
	say(PROVIDER_AMBIGUOUS);
	assert_int_equal(count(NODE_INDOUBT), 3);
	for (struct fleet_node *fn = F.e.fleet.states[NODE_INDOUBT]; fn; fn = fn->state_next)
		fn->n.wake_ms = 0;
	F.e.left = 100;
	limit_throttled(&F.cloud.limit, PROVIDER_FABRIC_MAKE, 0, 0, engine_now(&F.e));
	launch_part.at[PART_RUN](&F.e);
	assert_int_equal(F.made, 1); /* it asks, too */
	F.cloud.limit.kinds[PROVIDER_FABRIC_MAKE].until_ms = 0;
	F.cloud.limit.kinds[PROVIDER_FABRIC_MAKE].pace.rate = 0;
	launch_part.at[PART_RUN](&F.e);
	assert_int_equal(F.made, 2);
	assert_string_equal(F.token, name);
	assert_int_equal(F.sent, 1);
	say(PROVIDER_TRANSIENT); /* it may exist all the same */
	assert_int_equal(count(NODE_INDOUBT), 3);
	for (struct fleet_node *fn = F.e.fleet.states[NODE_INDOUBT]; fn; fn = fn->state_next)
		fn->n.wake_ms = 0;
	launch_part.at[PART_RUN](&F.e);
	say(PROVIDER_OK);
	assert_int_equal(F.sent, 2);
	assert_string_equal(F.token, name);
	assert_string_equal(F.fabric[1], name);
}

static void test_a_job_too_large_for_one_fabric_is_refused(void **state)
{
	(void)state;
	want_a_job("job");
	F.fits = 2;
	launch_part.at[PART_RUN](&F.e);
	assert_int_equal(F.made + F.sent, 0);
	assert_int_equal(count(NODE_GONE), NODES);
	assert_string_equal(fleet_find(&F.e.fleet, "c1")->why,
			    "p: fabric: 3 nodes of one job are more than one create can have");
	assert_int_equal(fleet_find(&F.e.fleet, "c1")->newest->n.reason, NODE_BECAUSE_INVALID);
	(void)teardown(state);
	(void)setup(state);
	want_a_job("job");
	F.cloud.caps.create_max = 2;
	launch_part.at[PART_RUN](&F.e);
	assert_int_equal(F.made + F.sent, 0);
	assert_int_equal(count(NODE_GONE), NODES);
}

/* It was not sent: a place that has cooled down waits for nothing. */
static void is_no_purchase_that_is_tried(void)
{
	struct conf_offer *o = &F.pool.own;
	const struct cooldown_place at = {.place = {.provider = "p",
						    .type = o->type,
						    .region = o->region,
						    .zone = o->zone,
						    .fabric = CONF_FABRIC_JOB,
						    .market = (enum provider_market)o->market}};
	int64_t then = engine_now(&F.e) - COOLDOWN_CAPACITY_MS - 1;

	want_a_job("job");
	(void)cooldown_bought(&F.e.cloud->cooldown, &at, PROVIDER_CAPACITY, then, then);
	assert_int_equal(cooldown_look(&F.e.cloud->cooldown, &at, engine_now(&F.e)).state,
			 COOLDOWN_HALF);
	launch_part.at[PART_RUN](&F.e);
	assert_int_equal(F.made + F.sent, 0);
	assert_int_equal(count(NODE_GONE), NODES);
	assert_int_equal(cooldown_look(&F.e.cloud->cooldown, &at, engine_now(&F.e)).state,
			 COOLDOWN_HALF);
}

static void test_a_job_too_large_is_no_purchase_that_is_tried(void **state)
{
	(void)state;
	F.fits = 2;
	is_no_purchase_that_is_tried();
}

static void test_a_create_that_cannot_be_built_is_no_purchase_that_is_tried(void **state)
{
	(void)state;
	F.unbuildable = true;
	is_no_purchase_that_is_tried();
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
	const struct CMUnitTest tests[] = {
		T(test_a_create_that_is_throttled_keeps_its_fabric),
		T(test_the_create_behind_a_fabric_asks_its_limit),
		T(test_the_create_behind_a_fabric_waits_for_room),
		T(test_a_job_larger_than_all_room_goes_when_there_is_all),
		T(test_a_fabric_is_made_before_the_create_of_its_job),
		T(test_one_node_of_a_job_needs_no_fabric),
		T(test_each_job_has_a_fabric_and_nodes_alone_have_none),
		T(test_those_behind_a_job_with_a_fabric_are_no_part_of_it),
		T(test_a_fabric_that_is_there_is_for_all),
		T(test_without_its_fabric_nothing_was_bought),
		T(test_who_may_not_make_fabrics_may_buy_without),
		T(test_what_changed_while_the_fabric_was_made_counts),
		T(test_a_repeat_makes_the_same_fabric_first),
		T(test_a_job_too_large_for_one_fabric_is_refused),
		T(test_a_job_too_large_is_no_purchase_that_is_tried),
		T(test_a_create_that_cannot_be_built_is_no_purchase_that_is_tried),
	};
#undef T

	return cmocka_run_group_tests_name("launch_fabric", tests, NULL, NULL);
}
