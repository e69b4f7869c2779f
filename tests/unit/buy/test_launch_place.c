/* test_launch_place.c - a place that has refused is tried by one create, and keeps no other
 * waiting. */
#include "bare_launch.h"
#include "buy/buy.h"

/* The first of those that a place refuses waits for it as long as the last: else its job would be
 * the only one to try again in vain. */
static void test_who_is_refused_first_knows_when_the_place_opens(void **state)
{
	struct provider_item items[NODES];
	const struct provider_result r = {.code = PROVIDER_OK, .items = items, .nitems = NODES};

	(void)state;
	launch_part.at[PART_RUN](&F.e);
	make_items(items);
	for (int i = 1; i < NODES; i++)
		items[i] = (struct provider_item){.code = PROVIDER_CAPACITY};
	F.nposted = 0;
	F.answer(&F.cloud, F.ctx, &r);
	for (int i = 0; i < NODES && F.e.buy->answers != NULL; i++) {
		F.e.left = F.e.slice.write;
		launch_answered(&F.e);
	}
	assert_int_equal(F.posted[1], NODE_EV_REFUSED);
	assert_int_equal(F.nposted, NODES);
	assert_int_equal(F.hopeful, 0);
}

/* EC2 has room for some in one subnet, and has not been asked for the rest in the next (F2). */
static void test_a_place_that_may_have_room_elsewhere_does_not_cool(void **state)
{
	struct provider_item items[NODES];
	const struct provider_result r = {.code = PROVIDER_OK, .items = items, .nitems = NODES};

	(void)state;
	launch_part.at[PART_RUN](&F.e);
	make_items(items);
	items[NODES - 3] = items[NODES - 2] = (struct provider_item){.code = PROVIDER_CAPACITY};
	items[NODES - 1] = (struct provider_item){.code = PROVIDER_NOT_YET};
	F.e.left = NODES;
	F.answer(&F.cloud, F.ctx, &r);
	launch_answered(&F.e);
	assert_int_equal(count(NODE_GONE), 2);
	assert_int_equal(count(NODE_WANTED), 1);
	assert_int_equal(place_would(&F.e, &F.pool.own), PLACE_SELLS);

	items[NODES - 1].code = PROVIDER_QUOTA; /* holds in all subnets */
	place_bought(&F.e, &F.pool.own, &r, NODES, engine_now(&F.e));
	assert_int_not_equal(place_would(&F.e, &F.pool.own), PLACE_SELLS);
}

/* The ten are wanted at one place; the eleventh, which came last, at another. */
static void make_two_places(struct conf_offer offers[2], struct node *last)
{
	static char here[] = "here", there[] = "there", other[] = "r2";

	offers[0] = offers[1] = F.pool.own;
	offers[0].name = here;
	offers[1].name = there;
	offers[1].region = other;
	F.pool.offers = offers;
	F.pool.noffers = 2;
	for (struct fleet_node *fn = F.e.fleet.states[NODE_WANTED]; fn; fn = fn->state_next)
		place_set(&F.e, &fn->n, &offers[0], 1);
	node_init(last, "c11", 1, engine_now(&F.e));
	place_set(&F.e, last, &offers[1], 1);
	(void)fleet_add(&F.e.fleet, last);
}

static void cool(const struct conf_offer *o, int64_t ago_ms)
{
	const struct cooldown_place at = {
		.place = {
			.provider = p_name, .type = o->type, .region = o->region, .zone = o->zone}};

	(void)cooldown_bought(&F.e.cloud->cooldown, &at, PROVIDER_CAPACITY,
			      engine_now(&F.e) - ago_ms, engine_now(&F.e) - ago_ms);
}

static void test_who_waits_for_a_probe_keeps_no_other_place_waiting(void **state)
{
	struct conf_offer offers[2];
	struct node last;

	(void)state;
	make_two_places(offers, &last);
	cool(&offers[0], COOLDOWN_CAPACITY_MS + 1);
	assert_int_equal(place_buy(&F.e, &offers[0]), PLACE_SELLS); /* that is being tried */
	launch_part.at[PART_RUN](&F.e);
	assert_int_equal(F.sent, 1);
	assert_string_equal(F.first[0], "c11");
	assert_int_equal(count(NODE_WANTED), NODES);
	assert_false(F.e.more); /* an answer makes it go on */
}

static void test_who_is_refused_unsent_keeps_no_other_place_waiting(void **state)
{
	struct conf_offer offers[2];
	struct node last;

	(void)state;
	make_two_places(offers, &last);
	cool(&offers[0], 1);
	launch_part.at[PART_RUN](&F.e);
	assert_int_equal(F.sent, 1);
	assert_string_equal(F.first[0], "c11");
	assert_int_equal(count(NODE_GONE), NODES);
}

/* A burst at a place that may be tried is one purchase, in as many requests as it takes. */
static void test_all_that_goes_at_once_is_one_probe(void **state)
{
	struct conf_offer offers[2];
	struct node last;

	(void)state;
	make_two_places(offers, &last);
	cool(&offers[0], COOLDOWN_CAPACITY_MS + 1);
	F.fits = 6;
	F.cloud.caps.create_max = 6;
	launch_part.at[PART_RUN](&F.e);
	assert_int_equal(F.sent, 2);
	assert_string_equal(F.first[0], "c1");
	assert_string_equal(F.first[1], "c7");
	assert_int_equal(count(NODE_CREATING), NODES);
	assert_true(F.e.more); /* c11 */
}

/* One purchase is tried where there was nothing: not one that does not go. */
static void test_who_waits_for_room_does_not_try_the_place(void **state)
{
	const struct provider_result none = {.code = PROVIDER_CAPACITY};

	(void)state;
	make_gangs();
	F.cloud.caps.flags = PROVIDER_GANGS;
	place_bought(&F.e, &F.pool.own, &none, 1, engine_now(&F.e));
	F.passed += COOLDOWN_CAPACITY_MS + 1;
	with_room_for(2);
	launch_part.at[PART_RUN](&F.e);
	assert_int_equal(F.sent, 0);
	assert_int_equal(place_would(&F.e, &F.pool.own), PLACE_SELLS);
	with_room_for(3);
	launch_part.at[PART_RUN](&F.e);
	assert_int_equal(F.sent, 1);
	assert_int_equal(place_would(&F.e, &F.pool.own), PLACE_TELLS_SOON);
}

static void go_first(const char *const *names, size_t n)
{
	for (size_t i = 0; i < n; i++)
		row(names[i])->goes_first = true;
}

/* ADR 48 */
static void test_a_job_that_was_passed_over_goes_first_and_alone(void **state)
{
	static const char *const names[] = {"c4", "c5", "c6", "c7"};
	struct provider_item items[NODES];
	struct provider_result r = {.code = PROVIDER_OK, .items = items, .nitems = 4};

	(void)state;
	make_gangs();
	go_first(names, 4);
	launch_part.at[PART_RUN](&F.e);
	assert_int_equal(F.sent, 1);
	assert_string_equal(F.first[0], "c4");
	assert_int_equal(F.sizes[0], 4);
	assert_int_equal(place_would(&F.e, &F.pool.own), PLACE_TELLS_SOON);
	launch_part.at[PART_RUN](&F.e);
	assert_int_equal(F.sent, 1); /* the others wait for its answer */
	assert_int_equal(count(NODE_WANTED), NODES - 4);
	F.passed += 10;
	make_items(items);
	for (int i = 0; i < 4; i++)
		(void)snprintf(items[i].instance.node, sizeof(items[i].instance.node), "c%d",
			       i + 4);
	F.answer(&F.cloud, F.ctx, &r);
	launch_answered(&F.e);
	assert_int_equal(place_would(&F.e, &F.pool.own), PLACE_SELLS);
	F.e.left = 4 * NODES;
	launch_part.at[PART_RUN](&F.e);
	assert_int_equal(count(NODE_WANTED), 0);
}

/* Its create is throttled while others wait for the answer: then it comes again, first. */
static void test_a_first_that_is_throttled_is_sent_again(void **state)
{
	static const char *const names[] = {"c4", "c5", "c6", "c7"};
	const struct provider_result rate = {.code = PROVIDER_RATE};

	(void)state;
	make_gangs();
	go_first(names, 4);
	launch_part.at[PART_RUN](&F.e);
	F.e.left = 4 * NODES;
	F.passed += 5;
	launch_part.at[PART_RUN](&F.e); /* the others wait */
	assert_int_equal(F.sent, 1);
	F.answer(&F.cloud, F.ctx, &rate);
	launch_answered(&F.e);
	assert_int_equal(row("c4")->n.state, NODE_WANTED);
	limit_init(&F.cloud.limit, 1000, 0, NULL, engine_now(&F.e));
	F.passed += 60000;
	F.e.poll.snapshot_ms = engine_now(&F.e);
	F.e.left = 4 * NODES;
	launch_part.at[PART_RUN](&F.e);
	assert_int_equal(F.sent, 2);
	assert_string_equal(F.first[1], "c4");
}

/* It waits for room in the provider's bucket of instances: what is smaller waits behind it. */
static void test_nobody_passes_a_first_that_waits_for_room(void **state)
{
	static const char *const names[] = {"c4", "c5", "c6", "c7"};

	(void)state;
	make_gangs();
	F.cloud.caps.flags = PROVIDER_GANGS;
	go_first(names, 4);
	with_room_for(3);
	launch_part.at[PART_RUN](&F.e);
	assert_int_equal(F.sent, 0);
	with_room_for(4);
	F.e.left = 4 * NODES;
	launch_part.at[PART_RUN](&F.e);
	assert_int_equal(F.sent, 1);
	assert_string_equal(F.first[0], "c4");
}

/* If it cannot be asked at all, nobody waits for it. */
static void test_nobody_waits_for_a_first_that_does_not_go(void **state)
{
	static const char *const names[] = {"c1"};

	(void)state;
	F.unbuildable = true;
	go_first(names, 1);
	launch_part.at[PART_RUN](&F.e);
	assert_int_equal(count(NODE_CREATING), 0);
	assert_int_equal(place_would(&F.e, &F.pool.own), PLACE_SELLS);
}

/* A create that nobody knows about; its place is refused to another; it is asked for again. */
static void repeat_into_an_empty_place(void)
{
	const struct provider_result lost = {.code = PROVIDER_AMBIGUOUS};
	const struct provider_result none = {.code = PROVIDER_CAPACITY};

	F.e.left = 4 * NODES;
	launch_part.at[PART_RUN](&F.e);
	F.answer(&F.cloud, F.ctx, &lost);
	launch_answered(&F.e);
	assert_int_equal(count(NODE_INDOUBT), NODES);
	F.passed = 500;
	place_bought(&F.e, &F.pool.own, &none, 1, engine_now(&F.e) - 1);
	assert_int_equal(place_ready_ms(&F.e, &F.pool.own),
			 engine_now(&F.e) + COOLDOWN_CAPACITY_MS);
	F.passed = 2000;
	F.repeats = true;
	F.nposted = 0;
	launch_part.at[PART_RUN](&F.e);
	assert_int_equal(F.sent, 2);
	F.passed = 3000;
}

static void test_a_repeat_that_is_refused_tells_of_the_place_as_of_the_repeat(void **state)
{
	const struct provider_result none = {.code = PROVIDER_CAPACITY};

	(void)state;
	repeat_into_an_empty_place();
	F.answer(&F.cloud, F.ctx, &none);
	launch_answered(&F.e);
	assert_int_equal(F.posted[NODES - 1], NODE_EV_REFUSED);
	assert_int_equal(place_ready_ms(&F.e, &F.pool.own),
			 engine_now(&F.e) + (int64_t)2 * COOLDOWN_CAPACITY_MS);
}

/* The first request may have bought it, before there was nothing left. */
static void test_a_repeat_that_succeeds_opens_no_place(void **state)
{
	(void)state;
	repeat_into_an_empty_place();
	answer(NODES);
	launch_answered(&F.e);
	assert_int_equal(count(NODE_BOOTING), NODES);
	assert_true(place_ready_ms(&F.e, &F.pool.own) > engine_now(&F.e));
}

/* F26: it answers its lists, and no create.  What was not sent is refused, to go elsewhere. */
static void test_what_is_wanted_where_purchases_fail_is_refused(void **state)
{
	static const char why[] = "p: no t in r: purchases fail there: not tried until ";
	const struct provider_result failed = {.code = PROVIDER_TRANSIENT};

	(void)state;
	F.provider.unreachable_ms = 60000;
	place_bought(&F.e, &F.pool.own, &failed, 1, engine_now(&F.e));
	F.passed = 30000;
	F.cloud.ok_ms = engine_now(&F.e);
	F.passed = 60000;
	place_bought(&F.e, &F.pool.own, &failed, 1, engine_now(&F.e));
	F.nposted = 0;
	launch_part.at[PART_RUN](&F.e);
	assert_int_equal(F.sent, 0);
	assert_int_equal(count(NODE_WANTED), 0);
	assert_int_equal(fleet_find(&F.e.fleet, "c1")->newest->n.reason, NODE_BECAUSE_UNREACHABLE);
	assert_memory_equal(fleet_find(&F.e.fleet, "c1")->why, why, strlen(why));
}

/* Where a purchase may be tried again, it is tried with all that go now, in pieces or not. */
static void test_a_place_that_opens_is_asked_once_for_all_that_go_now(void **state)
{
	const struct provider_result none = {.code = PROVIDER_CAPACITY};

	(void)state;
	place_bought(&F.e, &F.pool.own, &none, 1, engine_now(&F.e) - 1);
	F.passed = COOLDOWN_CAPACITY_MS + 1;
	F.cloud.caps.create_max = 4;
	launch_part.at[PART_RUN](&F.e);
	assert_int_equal(F.sent, 3);
	assert_int_equal(count(NODE_CREATING), NODES);
}

/* A job may be bought at two places, a create is for one. */
static void test_a_create_is_for_one_place(void **state)
{
	static char here[] = "here", there[] = "there";
	struct conf_offer offers[2] = {F.pool.own, F.pool.own};

	(void)state;
	offers[0].name = here;
	offers[1].name = there;
	F.pool.offers = offers;
	F.pool.noffers = 2;
	for (struct fleet_node *fn = F.e.fleet.states[NODE_WANTED]; fn; fn = fn->state_next) {
		fn->n.group = 1;
		memcpy(fn->n.offer, atoi(fn->n.name + 1) <= 3 ? here : there,
		       atoi(fn->n.name + 1) <= 3 ? sizeof(here) : sizeof(there));
	}
	launch_part.at[PART_RUN](&F.e);
	assert_int_equal(F.sent, 2);
	assert_int_equal(F.sizes[0], 3);
	assert_int_equal(F.sizes[1], 7);
}

/* Its answer or the time wakes us: to look again at once would burn a processor (I25). */
static void test_where_nothing_can_go_nobody_tries_at_once_again(void **state)
{
	const struct provider_result none = {.code = PROVIDER_CAPACITY};

	(void)state;
	place_bought(&F.e, &F.pool.own, &none, 1, engine_now(&F.e) - 1);
	F.passed = COOLDOWN_CAPACITY_MS + 1;
	assert_int_equal(place_buy(&F.e, &F.pool.own), PLACE_SELLS);
	launch_part.at[PART_RUN](&F.e);
	assert_int_equal(F.sent, 0);
	assert_int_equal(count(NODE_WANTED), NODES);
	assert_false(F.e.more);
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
	const struct CMUnitTest tests[] = {
		T(test_who_is_refused_first_knows_when_the_place_opens),
		T(test_a_place_that_may_have_room_elsewhere_does_not_cool),
		T(test_who_waits_for_a_probe_keeps_no_other_place_waiting),
		T(test_who_is_refused_unsent_keeps_no_other_place_waiting),
		T(test_all_that_goes_at_once_is_one_probe),
		T(test_a_job_that_was_passed_over_goes_first_and_alone),
		T(test_nobody_waits_for_a_first_that_does_not_go),
		T(test_a_first_that_is_throttled_is_sent_again),
		T(test_nobody_passes_a_first_that_waits_for_room),
		T(test_who_waits_for_room_does_not_try_the_place),
		T(test_a_repeat_that_is_refused_tells_of_the_place_as_of_the_repeat),
		T(test_a_repeat_that_succeeds_opens_no_place),
		T(test_what_is_wanted_where_purchases_fail_is_refused),
		T(test_a_place_that_opens_is_asked_once_for_all_that_go_now),
		T(test_a_create_is_for_one_place),
		T(test_where_nothing_can_go_nobody_tries_at_once_again),
	};
#undef T

	return cmocka_run_group_tests_name("launch_place", tests, NULL, NULL);
}
