/* test_launch.c - a burst is cut into pieces: what goes out, and what is answered, leaves the loop
 * time for hooks. */
#include "bare_launch.h"
#include "buy/buy.h"
#include "cloud/cloud.h"

static void test_nothing_goes_out_when_this_pass_has_done_its_work(void **state)
{
	(void)state;
	F.e.left = 0;
	launch_run(&F.e);
	assert_int_equal(F.sent, 0);
	assert_true(F.e.more); /* and the timer is set for now */
	F.e.left = 1;
	launch_run(&F.e);
	assert_int_equal(F.sent, 1); /* a request is never cut */
	assert_int_equal(count(NODE_CREATING), NODES);
	assert_int_equal(F.e.left, 0);
	launch_run(&F.e);
	assert_false(F.e.more); /* nothing is wanted any more */
}

/* F47, F55: the disk took longer for it than slurmctld's word is good for. */
static void test_what_the_disk_held_up_for_long_is_decided_anew(void **state)
{
	(void)state;
	F.disk_ms = 91000;
	launch_run(&F.e);
	F.disk_ms = 0;
	assert_int_equal(F.sent, 0);
	assert_int_equal(F.made, 0);
	F.e.left = NODES;
	while (F.e.buy->answers != NULL)
		launch_answered(&F.e);
	assert_int_equal(count(NODE_WANTED), NODES);
	launch_settle(&F.e);
	assert_null(F.e.buy->batches);
	F.passed += 60000; /* longer than it waits for another try */
	F.e.left = NODES;
	launch_run(&F.e);
	assert_int_equal(F.sent, 0);
	F.e.poll.snapshot_ms = engine_now(&F.e);
	F.recorded = 0; /* it was, as is what never left us */
	launch_run(&F.e);
	assert_int_equal(F.sent, 1);
}

static void test_an_answer_is_taken_in_by_pieces(void **state)
{
	(void)state;
	launch_run(&F.e);
	F.e.left = F.e.slice.write;
	answer(NODES);
	assert_int_equal(F.nposted, 0);
	for (unsigned posted = 4; posted <= 8; posted += 4) {
		launch_answered(&F.e);
		assert_int_equal(F.nposted, posted);
		assert_int_equal(count(NODE_BOOTING), posted);
		assert_int_equal(F.e.left, 0);
		assert_non_null(F.e.buy->answers);
		launch_run(&F.e); /* the batch is still on the wire: no repeat, not forgotten */
		assert_non_null(F.e.buy->batches);
		assert_int_equal(F.hurried, 0);
		F.e.left = F.e.slice.write;
	}
	launch_answered(&F.e);
	assert_int_equal(F.nposted, NODES);
	assert_int_equal(count(NODE_BOOTING), NODES);
	assert_null(F.e.buy->answers);
	assert_int_equal(F.e.left, 2);
	assert_int_equal(F.hurried, 1);
	assert_int_equal(F.e.count.instances_created, NODES);
	assert_int_equal(fleet_find(&F.e.fleet, "c3")->newest->said_ms, 1002); /* its clock's */
	assert_int_equal(F.sent, 1);
	launch_settle(&F.e);
	assert_null(F.e.buy->batches);
}

/* The first of those that a place refuses waits for it as long as the last: else its job would be
 * the only one to try again in vain. */
static void test_who_is_refused_first_knows_when_the_place_opens(void **state)
{
	struct provider_item items[NODES];
	const struct provider_result r = {.code = PROVIDER_OK, .items = items, .nitems = NODES};

	(void)state;
	launch_run(&F.e);
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

/* The listener's port is somebody else's, say: machines would boot for nothing. */
static void test_nothing_is_bought_that_could_not_have_its_keys(void **state)
{
	(void)state;
	F.keyless = "cannot listen";
	launch_run(&F.e);
	assert_int_equal(F.sent, 0);
	assert_int_equal(count(NODE_WANTED), NODES);
	assert_false(F.e.more); /* time does it */
	F.keyless = NULL;
	launch_run(&F.e);
	assert_int_equal(F.sent, 1);
}

/* They are there until the answer is read, and no longer, for they are a secret. */
static void test_user_data_of_machines_that_claim(void **state)
{
	(void)state;
	F.claims = true;
	launch_run(&F.e);
	assert_int_equal(F.sent, 1);
	assert_string_equal(F.op.u.create.user_data, F.op.u.create.token);
	assert_int_equal(F.issued, NODES);
	answer(NODES);
	assert_non_null(F.e.buy->batches->user_data);
	F.e.left = NODES;
	launch_answered(&F.e);
	assert_null(F.e.buy->batches->user_data);
}

/* Each with its own; and who has no token yet is not bought, nor is anything else kept from it. */
static void test_a_token_in_the_user_data_is_for_one_machine(void **state)
{
	(void)state;
	F.vouchers = true;
	launch_run(&F.e);
	assert_int_equal(F.sent, NODES - 1);
	assert_int_equal(count(NODE_WANTED), 1);
	for (unsigned i = 0; i < F.sent; i++)
		assert_int_equal(F.sizes[i], 1);
	assert_string_equal(F.op.u.create.user_data, F.first[NODES - 2]);
	assert_int_equal(F.issued, NODES - 1); /* it is asked, and issues none */
}

/* A job has its nodes together, or waits for the last of its tokens. */
static void test_a_job_waits_for_all_its_tokens(void **state)
{
	(void)state;
	make_gangs();
	F.vouchers = true;
	launch_run(&F.e);
	assert_int_equal(F.sent, NODES - 4); /* c4 is one of four */
	assert_int_equal(count(NODE_WANTED), 4);
}

static void test_who_is_not_in_an_answer_is_in_doubt(void **state)
{
	(void)state;
	launch_run(&F.e);
	F.e.left = 4 * NODES;
	answer(7);
	launch_answered(&F.e);
	assert_int_equal(count(NODE_BOOTING), 7);
	assert_int_equal(count(NODE_INDOUBT), 3);
}

static struct fleet_node *row(const char *name)
{
	return fleet_find(&F.e.fleet, name)->newest;
}

/* I22: the answer was written before the instance ended, and a list that said so came first. */
static void test_an_answer_does_not_undo_an_end_that_a_list_has_told(void **state)
{
	int64_t began = engine_now(&F.e);
	struct provider_instance in = {
		.state = PROVIDER_ENDED, .created_ms = began + 1000, .ended_ms = began + 5000};

	(void)state;
	launch_run(&F.e);
	F.passed = 30000;
	(void)snprintf(in.id, sizeof(in.id), "i-1");
	fleet_ended(row("c1"), &in);
	(void)snprintf(in.id, sizeof(in.id), "i-99"); /* another one of c2 has (F5) */
	fleet_ended(row("c2"), &in);
	(void)snprintf(in.id, sizeof(in.id), "i-8");
	fleet_ended(row("c8"), &in);
	F.e.left = 4 * NODES;
	answer(7);
	launch_answered(&F.e);
	assert_int_equal(row("c1")->n.state, NODE_GONE);
	assert_string_equal(row("c1")->n.instance, "i-1");
	assert_int_equal(row("c1")->n.end_ms, began + 5000);
	assert_int_equal(row("c2")->n.state, NODE_BOOTING);
	assert_string_equal(row("c2")->n.instance, "i-2");
	assert_int_equal(row("c8")->n.state, NODE_GONE); /* its answer was lost */
	assert_string_equal(row("c8")->n.instance, "i-8");
	assert_int_equal(row("c8")->n.end_ms, began + 5000);
	for (int i = 0; i < NODES; i++)
		assert_null(F.e.fleet.all[i]->newest->ended);
}

static void test_a_create_has_no_more_nodes_than_the_driver_can_take(void **state)
{
	(void)state;
	F.fits = 4;
	launch_run(&F.e);
	assert_int_equal(F.sent, 3);
	assert_int_equal(F.sizes[0], 4);
	assert_int_equal(F.sizes[1], 4);
	assert_int_equal(F.sizes[2], 2);
	assert_int_equal(count(NODE_CREATING), NODES);
}

/* As EC2's: a thousand instances, then two a second. */
static void with_room_for(uint32_t n)
{
	static const struct provider_limit own[PROVIDER_NOPS] = {
		[PROVIDER_CREATE] = {.instances = {NODES, 1}}};

	limit_init(&F.cloud.limit, 1000, 0, own, engine_now(&F.e));
	limit_take(&F.cloud.limit, PROVIDER_CREATE, NODES - n, engine_now(&F.e));
	limit_give(&F.cloud.limit, PROVIDER_CREATE);
}

/* F7: one that asks for more is throttled whole. */
static void test_a_create_has_no_more_nodes_than_the_provider_lets_through(void **state)
{
	(void)state;
	with_room_for(4);
	launch_run(&F.e);
	assert_int_equal(F.sent, 1);
	assert_int_equal(F.sizes[0], 4);
	assert_int_equal(count(NODE_WANTED), NODES - 4);
	assert_int_equal(limit_next_ms(&F.cloud.limit, engine_now(&F.e)), engine_now(&F.e) + 1000);
}

static void test_a_job_waits_until_there_is_room_for_all_of_it(void **state)
{
	(void)state;
	make_gangs(); /* of 3, 4, and 3 that stand alone */
	F.cloud.caps.flags = PROVIDER_GANGS;
	with_room_for(2);
	launch_run(&F.e);
	assert_int_equal(F.sent, 0);
	assert_int_equal(limit_next_ms(&F.cloud.limit, engine_now(&F.e)), engine_now(&F.e) + 1000);
	with_room_for(6);
	launch_run(&F.e);
	assert_int_equal(F.sent, 1);
	assert_int_equal(F.sizes[0], 3);
	assert_int_equal(limit_next_ms(&F.cloud.limit, engine_now(&F.e)), engine_now(&F.e) + 1000);
	with_room_for(NODES); /* more there never is */
	launch_run(&F.e);
	assert_int_equal(F.sent, 2);
	assert_int_equal(F.sizes[1], 7);
}

static void test_jobs_stay_whole_where_the_driver_can_take_them(void **state)
{
	(void)state;
	make_gangs();
	F.fits = 5;
	launch_run(&F.e);
	assert_int_equal(F.sent, 3);
	assert_int_equal(F.sizes[0], 3); /* those that stand alone; not two of a job */
	assert_int_equal(F.sizes[1], 3);
	assert_int_equal(F.sizes[2], 4);
	assert_string_equal(F.first[0], "c8");
	assert_string_equal(F.first[1], "c1");
	assert_string_equal(F.first[2], "c4");
}

static void test_who_knows_of_gangs_gets_them_as_they_came(void **state)
{
	(void)state;
	make_gangs();
	F.cloud.caps.flags = PROVIDER_GANGS;
	launch_run(&F.e);
	assert_int_equal(F.sent, 1);
	assert_string_equal(F.first[0], "c1");
}

static void test_a_job_too_large_for_one_create_goes_in_pieces(void **state)
{
	(void)state;
	make_gangs();
	F.fits = 2;
	launch_run(&F.e);
	assert_int_equal(F.sizes[0], 2);
	assert_int_equal(F.sizes[1], 1); /* the last that stands alone */
	assert_int_equal(F.sizes[2], 2);
	assert_int_equal(F.sizes[3], 1);
	assert_int_equal(F.sizes[4], 2);
	assert_int_equal(F.sizes[5], 2);
	assert_int_equal(count(NODE_CREATING), NODES);
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
		.provider = p_name, .type = o->type, .region = o->region, .zone = o->zone};

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
	launch_run(&F.e);
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
	launch_run(&F.e);
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
	launch_run(&F.e);
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
	launch_run(&F.e);
	assert_int_equal(F.sent, 0);
	assert_int_equal(place_would(&F.e, &F.pool.own), PLACE_SELLS);
	with_room_for(3);
	launch_run(&F.e);
	assert_int_equal(F.sent, 1);
	assert_int_equal(place_would(&F.e, &F.pool.own), PLACE_TELLS_SOON);
}

/* A create that nobody knows about; its place is refused to another; it is asked for again. */
static void repeat_into_an_empty_place(void)
{
	const struct provider_result lost = {.code = PROVIDER_AMBIGUOUS};
	const struct provider_result none = {.code = PROVIDER_CAPACITY};

	F.e.left = 4 * NODES;
	launch_run(&F.e);
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
	launch_run(&F.e);
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

/* slurmctld does not have it: neither it nor the others of its job. */
static void test_a_job_with_a_node_that_slurmctld_does_not_know_waits(void **state)
{
	(void)state;
	make_gangs();
	fleet_find(&F.e.fleet, "c1")->missing_ms = 1;
	launch_run(&F.e);
	assert_int_equal(count(NODE_WANTED), 3);
	assert_int_equal(row("c2")->n.state, NODE_WANTED);
	assert_int_equal(row("c4")->n.state, NODE_CREATING);
}

/* It was wanted before a restart, say, and what slurmctld had there came up wrong meanwhile. */
static void test_a_node_that_rests_is_not_bought(void **state)
{
	(void)state;
	fleet_find(&F.e.fleet, "c1")->rests_ms = engine_now(&F.e) + 1;
	launch_run(&F.e);
	assert_int_equal(F.sent, 1);
	assert_int_equal(F.sizes[0], NODES - 1);
	assert_int_equal(fleet_find(&F.e.fleet, "c1")->newest->n.state, NODE_WANTED);
	fleet_find(&F.e.fleet, "c1")->rests_ms = engine_now(&F.e);
	F.e.left = 100;
	launch_run(&F.e);
	assert_int_equal(F.sent, 2);
	assert_int_equal(F.sizes[1], 1);
}

/* F58, F57: neither a journal that is yesterday's nor a clock that went back brings one again. */
static void test_the_number_of_a_batch_never_comes_again(void **state)
{
	const uint64_t now = (uint64_t)engine_now(&F.e);
	struct journal_batch j = {.id = now + 10, .pool = "p"};

	(void)state;
	launch_load(&F.e, &j);
	j.id = now + 5;
	launch_load(&F.e, &j);
	launch_run(&F.e);
	assert_int_equal(F.e.buy->batches->j.id, now + 11);
	assert_int_equal(F.last_batch, now + 11);
}

/* F58: the file last-batch names it, too, and a journal without it would be taken for an old one.
 */
static void test_the_number_of_a_create_that_cannot_be_built_is_in_the_journal(void **state)
{
	(void)state;
	F.unbuildable = true;
	launch_run(&F.e);
	assert_int_equal(F.sent, 0);
	assert_true(F.e.buy->last_batch > 0);
	assert_int_equal(F.last_batch, F.e.buy->last_batch);
}

/* Nor does that of a job, of all that the journal has. */
static void test_the_number_of_a_gang_never_comes_again(void **state)
{
	(void)state;
	make_gangs();
	launch_restore(&F.e);
	assert_int_equal(F.e.buy->last_group, 2);
}

static void test_an_answer_about_another_node_is_none(void **state)
{
	struct provider_item items[NODES];
	const struct provider_result r = {.items = items, .nitems = NODES};

	(void)state;
	launch_run(&F.e);
	F.e.left = 4 * NODES;
	make_items(items);
	(void)snprintf(items[3].instance.node, sizeof(items[3].instance.node), "c5");
	items[8].instance.id[0] = '\0';
	F.answer(&F.cloud, F.ctx, &r);
	launch_answered(&F.e);
	assert_int_equal(count(NODE_BOOTING), 8);
	assert_int_equal(row("c4")->n.state, NODE_INDOUBT);
	assert_int_equal(row("c9")->n.state, NODE_INDOUBT);
}

/* F16: an instance is one row's, in one answer or in two.  Whoever let go of the second would
 * delete the machine of the first. */
static void test_an_instance_that_another_row_has_is_no_answer(void **state)
{
	struct provider_item items[NODES];
	const struct provider_result r = {.items = items, .nitems = NODES};

	(void)state;
	launch_run(&F.e);
	F.e.left = 4 * NODES;
	make_items(items);
	(void)snprintf(items[1].instance.id, sizeof(items[1].instance.id), "i-1");
	F.answer(&F.cloud, F.ctx, &r);
	launch_answered(&F.e);
	assert_int_equal(count(NODE_BOOTING), NODES - 1);
	assert_string_equal(row("c1")->n.instance, "i-1");
	assert_int_equal(row("c2")->n.state, NODE_INDOUBT);
	assert_string_equal(row("c2")->n.instance, "");
	assert_non_null(strstr(F.event, " says that it created i-1, which belongs to c1"));
	/* The repeat says so again, and then what is true. */
	for (int i = 0; i < 2; i++) {
		F.passed += 10000;
		launch_run(&F.e);
		F.e.left = 4 * NODES;
		make_items(items);
		if (i == 0)
			(void)snprintf(items[1].instance.id, sizeof(items[1].instance.id), "i-3");
		F.answer(&F.cloud, F.ctx, &r);
		launch_answered(&F.e);
		assert_int_equal(row("c2")->n.state, i == 0 ? NODE_INDOUBT : NODE_BOOTING);
	}
	assert_string_equal(row("c2")->n.instance, "i-2");
}

/* I30: nothing happened that a list would show. */
static void test_what_is_throttled_whole_asks_for_no_list(void **state)
{
	struct provider_result r = {.code = PROVIDER_RATE};

	(void)state;
	launch_run(&F.e);
	F.e.left = 4 * NODES;
	F.answer(&F.cloud, F.ctx, &r);
	launch_answered(&F.e);
	assert_int_equal(count(NODE_WANTED), NODES);
	assert_int_equal(F.hurried, 0);
}

static void test_who_is_throttled_waits_as_long_as_the_provider_says(void **state)
{
	struct provider_item items[NODES];
	const struct provider_result r = {.items = items, .nitems = NODES, .retry_after_ms = 45000};

	(void)state;
	launch_run(&F.e);
	F.e.left = 4 * NODES;
	make_items(items);
	items[0].code = PROVIDER_RATE;
	F.answer(&F.cloud, F.ctx, &r);
	launch_answered(&F.e);
	assert_int_equal(row("c1")->n.state, NODE_WANTED);
	assert_int_equal(row("c1")->n.wake_ms, engine_now(&F.e) + 45000);
}

/* However many pieces it is taken in by. */
static void test_a_refusal_counts_once_for_its_place(void **state)
{
	const struct provider_result none = {.code = PROVIDER_CAPACITY};

	(void)state;
	launch_run(&F.e);
	F.nposted = 0;
	F.answer(&F.cloud, F.ctx, &none);
	for (int i = 0; i < 3; i++) {
		F.e.left = F.e.slice.write;
		launch_answered(&F.e);
	}
	assert_int_equal(F.nposted, NODES);
	assert_int_equal(engine_unsold(&F.e, 0, PROVIDER_CAPACITY), NODES);
	assert_string_equal(fleet_find(&F.e.fleet, "c1")->why,
			    "p: no t in r: the provider has no capacity");
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
	launch_run(&F.e);
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
	launch_run(&F.e);
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
	launch_run(&F.e);
	assert_int_equal(F.sent, 2);
	assert_int_equal(F.sizes[0], 3);
	assert_int_equal(F.sizes[1], 7);
}

static void lose_all(void)
{
	const struct provider_result lost = {.code = PROVIDER_AMBIGUOUS};

	F.e.left = 4 * NODES;
	launch_run(&F.e);
	F.answer(&F.cloud, F.ctx, &lost);
	launch_answered(&F.e);
	F.passed = 2000;
	F.repeats = true;
	F.nposted = 0;
}

/* A provider that looks at each afresh could make it now: only lists may tell (I4, I6). */
static void test_a_create_of_which_some_was_settled_otherwise_is_not_repeated(void **state)
{
	struct node n;

	(void)state;
	lose_all();
	n = row("c1")->n;
	n.state = NODE_GONE;
	fleet_set(&F.e.fleet, row("c1"), &n);
	launch_run(&F.e);
	assert_int_equal(F.sent, 1);
	assert_int_equal(F.nposted, NODES - 1);
	assert_int_equal(F.posted[0], NODE_EV_REFUSED);
}

static void test_nothing_goes_out_for_a_pool_that_is_closed(void **state)
{
	(void)state;
	F.closed = "an admin";
	launch_run(&F.e);
	assert_int_equal(F.sent, 0);
	assert_int_equal(count(NODE_WANTED), NODES);
	assert_int_equal(F.looked, 1); /* they are refused */
}

static void test_nothing_is_bought_again_for_a_pool_that_is_closed(void **state)
{
	(void)state;
	lose_all();
	F.closed = "an admin";
	launch_run(&F.e);
	assert_int_equal(F.sent, 1);
	assert_int_equal(count(NODE_INDOUBT), NODES);
}

/* A list may be sooner than the answer, which still has to find what it is for. */
static void test_a_create_on_the_wire_is_not_forgotten(void **state)
{
	(void)state;
	launch_run(&F.e);
	for (int i = 1; i <= NODES; i++) {
		char name[16];
		struct node n;

		(void)snprintf(name, sizeof(name), "c%d", i);
		n = row(name)->n;
		n.state = NODE_BOOTING;
		fleet_set(&F.e.fleet, row(name), &n);
	}
	launch_settle(&F.e);
	assert_non_null(F.e.buy->batches);
}

/* Its answer or the time wakes us: to look again at once would burn a processor (I25). */
static void test_where_nothing_can_go_nobody_tries_at_once_again(void **state)
{
	const struct provider_result none = {.code = PROVIDER_CAPACITY};

	(void)state;
	place_bought(&F.e, &F.pool.own, &none, 1, engine_now(&F.e) - 1);
	F.passed = COOLDOWN_CAPACITY_MS + 1;
	assert_int_equal(place_buy(&F.e, &F.pool.own), PLACE_SELLS);
	launch_run(&F.e);
	assert_int_equal(F.sent, 0);
	assert_int_equal(count(NODE_WANTED), NODES);
	assert_false(F.e.more);
}

/* To write the repeat down may take in a list that shows what it is for. */
static void test_what_turns_up_meanwhile_is_not_asked_for_again(void **state)
{
	const struct provider_result lost = {.code = PROVIDER_AMBIGUOUS};

	(void)state;
	F.e.left = 4 * NODES;
	launch_run(&F.e);
	F.answer(&F.cloud, F.ctx, &lost);
	launch_answered(&F.e);
	F.passed = 2000;
	F.repeats = F.found = true;
	F.recorded--; /* it is written down, and not sent */
	launch_run(&F.e);
	assert_int_equal(count(NODE_BOOTING), NODES);
	assert_int_equal(F.sent, 1);
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
	const struct CMUnitTest tests[] = {
		T(test_nothing_goes_out_when_this_pass_has_done_its_work),
		T(test_an_answer_is_taken_in_by_pieces),
		T(test_who_is_refused_first_knows_when_the_place_opens),
		T(test_what_the_disk_held_up_for_long_is_decided_anew),
		T(test_nothing_is_bought_that_could_not_have_its_keys),
		T(test_user_data_of_machines_that_claim),
		T(test_a_token_in_the_user_data_is_for_one_machine),
		T(test_a_job_waits_for_all_its_tokens),
		T(test_who_is_not_in_an_answer_is_in_doubt),
		T(test_an_answer_does_not_undo_an_end_that_a_list_has_told),
		T(test_a_create_has_no_more_nodes_than_the_driver_can_take),
		T(test_a_create_has_no_more_nodes_than_the_provider_lets_through),
		T(test_a_job_waits_until_there_is_room_for_all_of_it),
		T(test_jobs_stay_whole_where_the_driver_can_take_them),
		T(test_who_knows_of_gangs_gets_them_as_they_came),
		T(test_a_job_too_large_for_one_create_goes_in_pieces),
		T(test_who_waits_for_a_probe_keeps_no_other_place_waiting),
		T(test_who_is_refused_unsent_keeps_no_other_place_waiting),
		T(test_all_that_goes_at_once_is_one_probe),
		T(test_who_waits_for_room_does_not_try_the_place),
		T(test_a_repeat_that_is_refused_tells_of_the_place_as_of_the_repeat),
		T(test_a_repeat_that_succeeds_opens_no_place),
		T(test_a_job_with_a_node_that_slurmctld_does_not_know_waits),
		T(test_a_node_that_rests_is_not_bought),
		T(test_the_number_of_a_batch_never_comes_again),
		T(test_the_number_of_a_create_that_cannot_be_built_is_in_the_journal),
		T(test_the_number_of_a_gang_never_comes_again),
		T(test_an_answer_about_another_node_is_none),
		T(test_an_instance_that_another_row_has_is_no_answer),
		T(test_what_is_throttled_whole_asks_for_no_list),
		T(test_who_is_throttled_waits_as_long_as_the_provider_says),
		T(test_a_refusal_counts_once_for_its_place),
		T(test_what_is_wanted_where_purchases_fail_is_refused),
		T(test_a_place_that_opens_is_asked_once_for_all_that_go_now),
		T(test_a_create_is_for_one_place),
		T(test_what_turns_up_meanwhile_is_not_asked_for_again),
		T(test_a_create_of_which_some_was_settled_otherwise_is_not_repeated),
		T(test_nothing_is_bought_again_for_a_pool_that_is_closed),
		T(test_nothing_goes_out_for_a_pool_that_is_closed),
		T(test_a_create_on_the_wire_is_not_forgotten),
		T(test_where_nothing_can_go_nobody_tries_at_once_again),
	};
#undef T

	return cmocka_run_group_tests_name("launch", tests, NULL, NULL);
}
