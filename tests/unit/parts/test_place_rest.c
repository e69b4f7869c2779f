/* place.c: a place that refuses or whose purchases fail is left alone for a time, then tried by one
 * purchase (F8, F26). */
#include "two_offers.h"

#include "buy/buy.h"

/* A request that went well, and bought nothing, opens no place. */
static void test_an_answer_that_bought_nothing_is_no_purchase(void **state)
{
	struct provider_item items[2] = {{.code = PROVIDER_RATE}, {.code = PROVIDER_INVALID}};
	const struct provider_result r = {.items = items, .nitems = 2};
	struct fix *f = *state;
	const struct conf_offer *o;

	assert_int_equal(load(f, two_offers(false), NULL), 0);
	o = &f->e->conf->pools[0].offers[0];
	cool(f, 0, PROVIDER_CAPACITY);
	assert_int_not_equal(place_ready_ms(f->e, o), 0);
	place_bought(f->e, o, &r, 2, engine_now(f->e) + 1);
	assert_int_not_equal(place_ready_ms(f->e, o), 0);
	items[1].code = PROVIDER_OK;
	place_bought(f->e, o, &r, 2, engine_now(f->e) + 1);
	assert_int_equal(place_ready_ms(f->e, o), 0);
}

static void wait_a_moment(struct fix *f)
{
	int64_t until = engine_now(f->e) + 3;

	while (engine_now(f->e) < until)
		;
}

/* F26: its lists are answered, and no purchase is: as if it had no capacity, and the next offer is
 * tried.  A row that is WANTED has sent nothing, or was told so. */
static void test_a_place_whose_purchases_fail_is_left_alone(void **state)
{
	struct fix *f = *state;
	const struct conf_offer *o;

	assert_int_equal(load(f, two_offers(false), NULL), 0);
	f->e->conf->providers[0].unreachable_ms = 1;
	o = &f->e->conf->pools[0].offers[0];
	cool(f, 0, PROVIDER_TRANSIENT);
	wait_a_moment(f);
	cool(f, 0, PROVIDER_TRANSIENT); /* nothing else was answered: it may be away */
	assert_false(place_is_cooling(f->e, o));
	f->e->cloud->all[0].ok_ms = engine_now(f->e);
	wait_a_moment(f);
	cool(f, 0, PROVIDER_AMBIGUOUS);
	assert_true(place_is_cooling(f->e, o));
	assert_int_equal(place_view(f->e, o).state, COOLDOWN_FAILING);
	call(f, "c[1-2]", ONE);
	expect(f, "c1", 1, "there");
	expect(f, "c2", 1, "there");
	refuse(f, "c2", NODE_BECAUSE_CAPACITY);
	cool(f, 1, PROVIDER_CAPACITY);
	intake_part.at[PART_RUN](f->e);
	squeue(f, "7|7|CONFIGURING|gpu|None|c[1-2]|(null)\n", NULL);
	assert_true(name_of(f, "c2")->barred);
	assert_int_equal(name_of(f, "c2")->refused, NODE_BECAUSE_UNREACHABLE);
	assert_non_null(strstr(name_of(f, "c2")->why,
			       "here (t in r): purchases fail there: not tried until "));
}

/* F7, F26: an overloaded provider throttles its lists and fails its purchases.  That is an answer,
 * so it is not away; it serves no purchase, so the next offer is tried. */
static void test_a_place_of_a_provider_that_throttles_all_else_is_left_alone(void **state)
{
	struct fix *f = *state;
	const struct conf_offer *o;

	assert_int_equal(load(f, two_offers(false), NULL), 0);
	f->e->conf->providers[0].unreachable_ms = 1;
	o = &f->e->conf->pools[0].offers[0];
	cool(f, 0, PROVIDER_TRANSIENT);
	wait_a_moment(f);
	f->e->cloud->all[0].throttled_ms = engine_now(f->e);
	assert_int_equal(f->e->cloud->all[0].ok_ms, 0);
	wait_a_moment(f);
	cool(f, 0, PROVIDER_TRANSIENT);
	assert_true(place_is_cooling(f->e, o));
}

/* F26: a purchase there was never answered, and the pause is over by the time that it is known to
 * have bought nothing: the next one goes elsewhere all the same. */
static void test_a_place_rests_from_when_a_doubt_ends(void **state)
{
	static const enum node_event_type story[] = {NODE_EV_START, NODE_EV_LOST, NODE_EV_ABSENT,
						     NODE_EV_ABSENT};
	struct fix *f = *state;
	const struct conf_offer *o;

	assert_int_equal(load(f, two_offers(false), NULL), 0);
	f->e->conf->providers[0].unreachable_ms = f->e->conf->providers[0].cooldown_ms = 1;
	o = &f->e->conf->pools[0].offers[0];
	cool(f, 0, PROVIDER_TRANSIENT);
	wait_a_moment(f);
	f->e->cloud->all[0].ok_ms = engine_now(f->e);
	wait_a_moment(f);
	cool(f, 0, PROVIDER_TRANSIENT);
	wait_a_moment(f);
	assert_false(place_is_cooling(f->e, o));
	call(f, "c1", "{\"jobs\":[{\"job_id\":7,\"features\":null,\"nodes_alloc\":\"c1\"}]}");
	expect(f, "c1", 1, "here");
	for (size_t i = 0; i < sizeof(story) / sizeof(story[0]); i++) {
		struct node_event ev = {.type = story[i], .now_ms = engine_now(f->e), .batch = 1};

		wait_a_moment(f);
		assert_false(place_is_cooling(f->e, o));
		ev.list_ms = ev.now_ms + ((int64_t)i << 24);
		engine_post(f->e, name_of(f, "c1")->newest, &ev);
		engine_commit(f->e);
	}
	assert_int_equal(name_of(f, "c1")->newest->n.state, NODE_GONE);
	assert_true(place_is_cooling(f->e, o));
	assert_true(place_ready_ms(f->e, o) >= engine_now(f->e) + 12); /* as long as the doubt */
}

/* Each machine of a provider that has machines is a node of its own: that one is in use says
 * nothing of the next, and its refusals close nothing. */
static void test_a_provider_of_machines_does_not_cool_down(void **state)
{
	struct fix *f = *state;
	const struct conf_offer *o;

	fake_flags |= PROVIDER_MACHINES;
	assert_int_equal(load(f, two_offers(false), NULL), 0);
	o = &f->e->conf->pools[0].offers[0];
	cool(f, 0, PROVIDER_CAPACITY);
	assert_int_equal(place_ready_ms(f->e, o), 0);
	assert_int_equal(engine_unsold(f->e, 0, PROVIDER_CAPACITY), 1); /* people see it */
	place_part.heard(&f->e->cloud->all[0], PROVIDER_DELETE,
			 &(struct provider_result){.code = PROVIDER_DENIED, .message = "no"},
			 engine_now(f->e));
	engine_commit(f->e);
	assert_int_equal(place_buy(f->e, o), PLACE_SELLS);
}

static void count_row(void *ctx, const struct cooldown_row *row)
{
	assert_non_null(row);
	++*(unsigned *)ctx;
}

/* F26: a queue of notices, fabrics, logins and reports are other services, and what became of a
 * purchase is told elsewhere: who may not use those may have machines. */
static void test_only_some_answers_are_of_machines(void **state)
{
	struct fix *f = *state;

	for (int k = 0; k < PROVIDER_NOPS; k++) {
		unsigned n = 0;
		bool of = k == PROVIDER_LIST || k == PROVIDER_DELETE || k == PROVIDER_QUOTES;

		assert_int_equal(load(f, two_offers(false), NULL), 0);
		place_part.heard(
			&f->e->cloud->all[0], (enum provider_op_kind)k,
			&(struct provider_result){.code = PROVIDER_DENIED, .message = "no"},
			engine_now(f->e));
		engine_commit(f->e);
		engine_cooldowns(f->e, count_row, &n);
		if (n != of)
			fail_msg("%s", provider_op_str((enum provider_op_kind)k));
	}
}

/* A machine that did not come up costs its place the first turn, and the second node of the ladder
 * says why; one that a provider hands out by name says nothing of the others. */
static void test_where_a_machine_came_up_wrong_is_tried_last(void **state)
{
	struct fix *f = *state;
	struct engine_ladder l;
	struct node n;

	assert_int_equal(load(f, two_offers(false), NULL), 0);
	f->e->conf->pools[0].offers[1].price_nano_h = OD;
	node_init(&n, "c1", 1, engine_now(f->e));
	(void)snprintf(n.offer, sizeof(n.offer), "here");
	assert_int_equal(place_next_price(f->e, 0), OD / 2);
	pool_failed(f->e, &n, "did not register in time");
	assert_int_equal(place_next_price(f->e, 0), OD);
	engine_ladder(f->e, 0, &l);
	assert_string_equal(l.rungs[0].offer->name, "there");
	assert_string_equal(l.rungs[0].why, "");
	assert_string_equal(l.rungs[1].offer->name, "here");
	assert_int_equal(l.rungs[1].place, 2);
	assert_non_null(strstr(l.rungs[1].why, "came up wrong: behind the others until 20"));
	assert_false(l.rungs[1].limited);
	f->e->cloud->all[0].caps.flags |= PROVIDER_MACHINES;
	assert_int_equal(place_next_price(f->e, 0), OD / 2);
	f->e->cloud->all[0].caps.flags &= ~(uint32_t)PROVIDER_MACHINES;
	cool(f, 1, PROVIDER_CAPACITY); /* it is better than nothing */
	assert_int_equal(place_next_price(f->e, 0), OD / 2);
	engine_ladder(f->e, 0, &l);
	assert_string_equal(l.rungs[0].why, "");
}

/* A launch there would be refused, and some clouds allow one in twelve seconds. */
static void test_where_the_provider_says_that_it_has_none_is_tried_last(void **state)
{
	struct fix *f = *state;
	struct engine_ladder l;
	struct provider_quote *q = mem_zalloc(sizeof(*q));

	assert_int_equal(load(f, two_offers(false), NULL), 0);
	*q = (struct provider_quote){.type = "t",
				     .region = "r",
				     .market = PROVIDER_SPOT,
				     .terms.stock = PROVIDER_STOCK_NONE};
	f->e->cloud->all[0].quotes = q;
	f->e->cloud->all[0].nquotes = 1;
	engine_ladder(f->e, 0, &l);
	assert_string_equal(l.rungs[0].offer->name, "there");
	assert_string_equal(l.rungs[1].offer->name, "here");
	assert_int_equal(l.rungs[1].place, 2); /* it may be wrong, or of minutes ago */
	assert_string_equal(l.rungs[1].why,
			    "the provider says that none is free: behind the others");
	q->terms.stock = PROVIDER_STOCK_SOME;
	engine_ladder(f->e, 0, &l);
	assert_string_equal(l.rungs[0].offer->name, "here");
}

/* As long as its provider's section says. */
static void test_how_long_a_place_cools_down(void **state)
{
	struct fix *f = *state;
	int64_t until;

	assert_int_equal(load(f, two_offers(false), NULL), 0);
	f->e->conf->providers[0].cooldown_ms = 5000;
	cool(f, 0, PROVIDER_CAPACITY);
	until = place_ready_ms(f->e, &f->e->conf->pools[0].offers[0]);
	assert_in_range(until, engine_now(f->e) + 1, engine_now(f->e) + 5000);
}

/* The answer to the first purchase is waited for, but not for ever. */
static void test_one_purchase_is_tried_and_the_others_wait_for_it(void **state)
{
	struct fix *f = *state;
	struct conf_offer *o;
	struct cooldown_place at;

	assert_int_equal(load(f, two_offers(false), NULL), 0);
	o = &f->e->conf->pools[0].offers[0];
	at = (struct cooldown_place){.place = {.provider = "cloud",
					       .type = "t",
					       .region = "r",
					       .zone = "",
					       .market = (enum provider_market)o->market}};
	(void)cooldown_bought(&f->e->cloud->cooldown, &at, PROVIDER_CAPACITY,
			      engine_now(f->e) - COOLDOWN_CAPACITY_MS - 40001,
			      engine_now(f->e) - COOLDOWN_CAPACITY_MS - 40000);
	assert_true(cooldown_buy(&f->e->cloud->cooldown, &at, engine_now(f->e) - 10000));
	assert_int_equal(place_buy(f->e, o), PLACE_TELLS_SOON);
	cooldown_clear(&f->e->cloud->cooldown, &at);
	(void)cooldown_bought(&f->e->cloud->cooldown, &at, PROVIDER_CAPACITY,
			      engine_now(f->e) - COOLDOWN_CAPACITY_MS - 40001,
			      engine_now(f->e) - COOLDOWN_CAPACITY_MS - 40000);
	assert_true(cooldown_buy(&f->e->cloud->cooldown, &at,
				 engine_now(f->e) - COOLDOWN_WAIT_MS - 1000));
	assert_int_equal(place_buy(f->e, o), PLACE_SOLD_OUT);
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
	const struct CMUnitTest tests[] = {
		T(test_an_answer_that_bought_nothing_is_no_purchase),
		T(test_a_place_whose_purchases_fail_is_left_alone),
		T(test_a_place_of_a_provider_that_throttles_all_else_is_left_alone),
		T(test_a_place_rests_from_when_a_doubt_ends),
		T(test_a_provider_of_machines_does_not_cool_down),
		T(test_where_a_machine_came_up_wrong_is_tried_last),
		T(test_where_the_provider_says_that_it_has_none_is_tried_last),
		T(test_how_long_a_place_cools_down),
		T(test_one_purchase_is_tried_and_the_others_wait_for_it),
		T(test_only_some_answers_are_of_machines),
	};
#undef T

	return cmocka_run_group_tests_name("place_rest", tests, NULL, NULL);
}
