/* place.c and the climb: where a row is bought, what refuses it, and what is tried next. */
#include "two_offers.h"

#include "buy/buy.h"
#include "cloud/cloud.h"
#include "core/wish.h"
#include "jobs/jobs.h"

#define ONE "{\"jobs\":[{\"job_id\":7,\"features\":null,\"nodes_alloc\":\"c[1-2]\"}]}"

static struct fleet_name *name_of(const struct fix *f, const char *node)
{
	return fleet_find(&f->e->fleet, node);
}

static void refuse(struct fix *f, const char *node, enum node_reason why)
{
	struct node_event ev = {.type = NODE_EV_REFUSED, .reason = why, .now_ms = engine_now(f->e)};

	engine_post(f->e, name_of(f, node)->newest, &ev);
	engine_commit(f->e);
}

static void squeue(struct fix *f, const char *text, const struct err *err)
{
	f->e->jobs->running = f->e->jobs->wanted;
	f->e->jobs->wanted = 0;
	f->e->jobs->wishes_wanted = WISH_NOTHING;
	intake_asks(f->e);
	jobs_answer(f->e, text, text != NULL ? strlen(text) : 0, err);
}

static void expect(const struct fix *f, const char *node, uint64_t gen, const char *offer)
{
	const struct fleet_node *fn = name_of(f, node)->newest;

	assert_int_equal(fn->n.gen, gen);
	assert_int_equal(fn->n.state, NODE_WANTED);
	assert_string_equal(fn->n.offer, offer);
	assert_string_equal(fn->n.provider, "cloud");
	assert_int_equal(fn->n.market, PROVIDER_SPOT);
	assert_int_equal(fn->n.rate_nano_h, OD / 2);
}

static void cool(struct fix *f, size_t rung, enum provider_code code)
{
	const struct provider_result r = {.code = code, .message = "none left"};

	place_bought(f->e, &f->e->conf->pools[0].offers[rung], &r, 1, engine_now(f->e));
	engine_commit(f->e);
}

/* What one place refused is bought at the next, in a new generation, with its job; who came stays.
 */
static void test_a_refused_node_climbs(void **state)
{
	struct fix *f = *state;

	assert_int_equal(load(f, two_offers(false), NULL), 0);
	call(f, "c[1-2]", ONE);
	expect(f, "c1", 1, "here");
	expect(f, "c2", 1, "here");
	refuse(f, "c2", NODE_BECAUSE_CAPACITY);
	cool(f, 0, PROVIDER_CAPACITY);
	assert_false(name_of(f, "c2")->barred);
	assert_true(name_of(f, "c2")->climbs);
	intake_run(f->e);
	assert_int_equal(f->e->jobs->wanted, JOBS_FOR_INTAKE);
	squeue(f, "7|7|CONFIGURING|gpu|None|c[1-2]|(null)\n", NULL);
	expect(f, "c1", 1, "here");
	expect(f, "c2", 2, "there");
	assert_int_equal(name_of(f, "c2")->newest->n.job, 7);
	/* and when there is none left, the job is refused whole */
	refuse(f, "c2", NODE_BECAUSE_INVALID);
	assert_int_equal(name_of(f, "c2")->tried, 3); /* neither is asked again for this call */
	intake_run(f->e);
	squeue(f, "7|7|CONFIGURING|gpu|None|c[1-2]|(null)\n", NULL);
	assert_true(name_of(f, "c2")->barred);
	assert_non_null(strstr(name_of(f, "c2")->why, "): no capacity: cools down until "));
	assert_non_null(strstr(name_of(f, "c2")->why, "; there: was tried a moment ago"));
	assert_true(name_of(f, "c2")->hint.not_before_ms > engine_now(f->e));
}

/* Where there is no other, its job comes back when this place may be tried again. */
static void test_who_cannot_climb_waits_for_its_place(void **state)
{
	const struct provider_result none = {.code = PROVIDER_CAPACITY, .message = "none left"};
	struct fix *f = *state;
	const struct conf_offer *own;

	assert_int_equal(load(f, make_conf(), NULL), 0);
	own = &f->e->conf->pools[0].own;
	call(f, "c1", NULL);
	place_bought(f->e, own, &none, 1, engine_now(f->e));
	refuse(f, "c1", NODE_BECAUSE_CAPACITY);
	assert_true(name_of(f, "c1")->barred);
	assert_true(place_ready_ms(f->e, own) > engine_now(f->e));
	assert_int_equal(name_of(f, "c1")->hint.not_before_ms, place_ready_ms(f->e, own));
}

static void test_a_job_that_is_over_does_not_climb(void **state)
{
	const struct err err = {.code = ERR_NET, .msg = "squeue: exit status 1"};
	struct fix *f = *state;

	assert_int_equal(load(f, two_offers(false), NULL), 0);
	call(f, "c[1-2]", ONE);
	refuse(f, "c1", NODE_BECAUSE_QUOTA);
	refuse(f, "c2", NODE_BECAUSE_DENIED);
	intake_run(f->e);
	squeue(f, "9|9|CONFIGURING|gpu|None|c2|(null)\n", NULL);
	assert_int_equal(name_of(f, "c1")->newest->n.gen, 1);
	expect(f, "c2", 2, "there"); /* the next job has it */
	refuse(f, "c2", NODE_BECAUSE_CAPACITY);
	intake_run(f->e);
	squeue(f, NULL, &err);
	assert_int_equal(name_of(f, "c2")->newest->n.gen, 2);
	assert_false(name_of(f, "c2")->climbs); /* the next snapshot says what is wanted */
	assert_false(f->e->buy->climbing);
}

static void test_a_place_that_has_nothing_is_not_asked_by_the_next_job(void **state)
{
	struct fix *f = *state;

	assert_int_equal(load(f, two_offers(false), NULL), 0);
	cool(f, 0, PROVIDER_CAPACITY);
	call(f, "c[1-2]", ONE);
	expect(f, "c1", 1, "there");
	cool(f, 1, PROVIDER_QUOTA);
	call(f, "c3", "{\"jobs\":[{\"job_id\":8,\"features\":null,\"nodes_alloc\":\"c3\"}]}");
	assert_null(name_of(f, "c3")->newest);
	assert_true(name_of(f, "c3")->barred);
	assert_int_equal(name_of(f, "c3")->refused, NODE_BECAUSE_QUOTA);
}

/* After a restart with the offers the other way round a row is still where it was bought. */
static void test_a_row_keeps_its_offer(void **state)
{
	struct fix *f = *state;
	struct conf *c;
	struct node n;

	assert_int_equal(load(f, two_offers(false), NULL), 0);
	node_init(&n, "c1", 1, engine_now(f->e));
	place_set(f->e, &n, &f->e->conf->pools[0].offers[1], 5);
	(void)engine_insert(f->e, &n, "test");
	engine_commit(f->e);
	c = two_offers(true);
	c->pools[0].offers[0].market = PROVIDER_ON_DEMAND; /* from now on */
	assert_int_equal(load(f, c, NULL), 0);
	n = name_of(f, "c1")->newest->n;
	assert_ptr_equal(engine_offer_of(f->e, &n), &f->e->conf->pools[0].offers[0]);
	assert_int_equal(n.market, PROVIDER_SPOT);
	assert_int_equal(n.rate_nano_h, 5);
	assert_int_equal(n.cloud, 0);
	assert_int_equal(f->e->fleet.pools[0].spot, 1);
	/* The offer was taken out: it is known where its instance is, and nothing is bought. */
	c = two_offers(false);
	free(c->pools[0].offers[1].name);
	c->pools[0].offers[1].name = mem_strdup("other");
	assert_int_equal(load(f, c, NULL), 0);
	n = name_of(f, "c1")->newest->n;
	assert_null(engine_offer_of(f->e, &n));
	assert_int_equal(n.cloud, 0);
	/* Without its provider nobody can see to it, and it is there all the same (test_off.c). */
	c = two_offers(false);
	free(c->providers[0].name);
	c->providers[0].name = mem_strdup("another");
	for (int i = 0; i < 2; i++) {
		free(c->pools[0].offers[i].provider);
		c->pools[0].offers[i].provider = mem_strdup("another");
	}
	assert_int_equal(load(f, c, NULL), 0);
	n = name_of(f, "c1")->newest->n;
	assert_int_equal(n.cloud, 1);
	assert_string_equal(f->e->conf->providers[1].name, "cloud");
}

/* What was written before pools had offers is of the pool's only provider, if it has only one. */
static void test_rows_of_an_older_burstd(void **state)
{
	struct fix *f = *state;
	struct node n;

	assert_int_equal(load(f, make_conf(), NULL), 0);
	node_init(&n, "c1", 1, engine_now(f->e));
	(void)engine_insert(f->e, &n, "test");
	engine_commit(f->e);
	assert_int_equal(load(f, make_conf(), NULL), 0);
	assert_string_equal(name_of(f, "c1")->newest->n.provider, "cloud");
	assert_ptr_equal(engine_offer_of(f->e, &name_of(f, "c1")->newest->n),
			 &f->e->conf->pools[0].own);
	assert_int_equal(load(f, two_offers(false), NULL), 0); /* both of one provider */
	assert_string_equal(name_of(f, "c1")->newest->n.provider, "cloud");
	assert_true(f->e->buy->unplaced);
	place_write_back(f->e); /* from then on the journal says it */
	assert_int_equal(load(f, two_offers(false), NULL), 0);
	assert_false(f->e->buy->unplaced);
}

/* The provider sends these offers, which it gets. */
static void quote(struct cloud *c, struct provider_quote *offers, size_t n)
{
	struct provider_quote *before = c->quotes;
	size_t nbefore = c->nquotes;

	c->quotes = offers;
	c->nquotes = n;
	place_quotes(c, before, nbefore);
	free(before);
}

/* A typing error in a type: what the provider has that is nearly so. */
static void test_a_type_like_another(void **state)
{
	static const char *const types[] = {"gpu_8x_h100", "gpu_1x_h100", "cpu_4x", "t"};
	struct fix *f = *state;
	struct cloud *c;

	assert_int_equal(load(f, make_conf(), NULL), 0);
	c = &f->e->cloud->all[0];
	assert_null(engine_like_type(f->e, 0, "gpu_8x_h10"));
	c->nquotes = sizeof(types) / sizeof(types[0]);
	c->quotes = mem_zalloc(c->nquotes * sizeof(*c->quotes));
	for (size_t i = 0; i < c->nquotes; i++)
		(void)snprintf(c->quotes[i].type, sizeof(c->quotes[i].type), "%s", types[i]);
	assert_string_equal(engine_like_type(f->e, 0, "gpu_8x_h10"), "gpu_8x_h100");
	assert_null(engine_like_type(f->e, 0, "standard_nd96"));
}

/* I22: an instance that nobody knows is not for nothing when its offer has gone. */
static void test_what_is_gone_costs_what_it_did(void **state)
{
	struct fix *f = *state;
	struct provider_quote *offers = mem_zalloc(sizeof(*offers));
	struct node n;

	assert_int_equal(load(f, two_offers(false), NULL), 0);
	f->e->conf->pools[0].offers[0].price_nano_h = 0;
	f->e->conf->pools[0].offers[1].price_nano_h = 0;
	offers[0].price_nano_h = 7; /* of everything */
	quote(&f->e->cloud->all[0], offers, 1);
	f->e->cloud->all[0].quotes_known = true;
	quote(&f->e->cloud->all[0], NULL, 0);
	assert_int_equal(quote_known(f->e, &f->e->conf->pools[0].offers[0]), -1);
	node_init(&n, "c1", 1, engine_now(f->e));
	place_adopt(&f->e->cloud->all[0], &n);
	assert_int_equal(n.rate_nano_h, 7);
}

/* I24: who was refused for good a moment ago, and is not told yet, may afford it now. */
static void test_what_changes_is_news_to_who_is_to_be_told(void **state)
{
	static const struct {
		int64_t price; /* 0: it is not offered */
		bool news;
	} rows[] = {{7, true}, {7, false}, {8, false}, {0, false}, {8, true}, {6, true}};
	struct fix *f = *state;
	struct fleet_name *nm;

	assert_int_equal(load(f, two_offers(false), NULL), 0);
	f->e->conf->pools[0].offers[0].price_nano_h = 0;
	nm = fleet_name(&f->e->fleet, "c1", 0);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct provider_quote *offers = mem_zalloc(sizeof(*offers));

		offers->price_nano_h = rows[i].price;
		refuse_mark(f->e, nm, NODE_BECAUSE_LIMIT, "too dear");
		quote(&f->e->cloud->all[0], offers, 1);
		assert_int_equal(nm->hint.stale, rows[i].news);
	}
	refuse_mark(f->e, nm, NODE_BECAUSE_LIMIT, "too dear");
	assert_int_equal(engine_reload(f->e, two_offers(false), NULL), 0);
	assert_true(nm->hint.stale);
}

/* I22: what lives again after its bill is not counted twice until the next one. */
static void test_what_was_billed_is_not_spent_again(void **state)
{
	enum { HOUR = 3600000 };
	struct fix *f = *state;
	struct node n;

	assert_int_equal(load(f, make_conf(), NULL), 0);
	node_init(&n, "c1", 1, engine_now(f->e) - 2 * HOUR);
	n.state = NODE_DELETING;
	n.start_ms = n.wanted_ms;
	n.end_ms = n.start_ms + HOUR;
	n.rate_nano_h = 1000;
	(void)engine_insert(f->e, &n, "shown again");
	f->e->fleet.pools[0].spent_nano = engine_billed(&n);
	assert_in_range(engine_spent(f->e, 0), 2000, 2100);
}

/* Nor does it cost what another provider, that sells the same, wants for it. */
static void test_what_is_gone_costs_what_its_own_provider_wanted(void **state)
{
	struct fix *f = *state;
	struct provider_quote *offers[2] = {mem_zalloc(sizeof(**offers)),
					    mem_zalloc(sizeof(**offers))};
	struct conf *c = two_offers(false);

	c->nproviders = 2;
	c->providers = mem_realloc(c->providers, 2 * sizeof(*c->providers));
	c->providers[1] = (struct conf_provider){.name = mem_strdup("other"),
						 .driver = mem_strdup("fake"),
						 .url = mem_strdup(""),
						 .concurrency = 16};
	free(c->pools[0].offers[1].provider);
	c->pools[0].offers[1].provider = mem_strdup("other");
	c->pools[0].offers[0].price_nano_h = c->pools[0].offers[1].price_nano_h = 0;
	c->pools[0].offers[1].provider_index = 1;
	assert_int_equal(load(f, c, NULL), 0);
	offers[0]->price_nano_h = 7;
	offers[1]->price_nano_h = 9;
	quote(&f->e->cloud->all[0], offers[0], 1);
	quote(&f->e->cloud->all[1], offers[1], 1);
	assert_int_equal(pool_cost(f->e, 0, 0), 7);
	assert_int_equal(pool_cost(f->e, 0, 1), 9);
}

static void test_prices_and_lists_of_all_rungs(void **state)
{
	struct fix *f = *state;
	struct conf_offer *o;
	struct node n;

	assert_int_equal(load(f, two_offers(false), NULL), 0);
	o = f->e->conf->pools[0].offers;
	assert_int_equal(quote_known(f->e, &o[0]), OD / 2);
	o[0].price_nano_h = o[1].price_nano_h = 0;
	assert_int_equal(quote_known(f->e, &o[0]), 0);
	assert_false(place_priced(&f->e->cloud->all[0], 0));
	f->e->cloud->all[0].quotes_known = true;
	assert_int_equal(quote_known(f->e, &o[0]), -1);
	assert_true(place_priced(&f->e->cloud->all[0], 0));
	f->e->cloud->all[0].caps.spot_prices = "EUR"; /* it tells those of spot, and no others */
	o[1].market = PROVIDER_ON_DEMAND;
	o[0].market = PROVIDER_SPOT;
	assert_int_equal(quote_known(f->e, &o[0]), -1);
	assert_int_equal(quote_known(f->e, &o[1]), LADDER_UNPRICED);
	f->e->cloud->all[0].caps.spot_prices = "USD";
	assert_int_equal(quote_known(f->e, &o[0]), LADDER_UNPRICED);
	/* An instance that nobody knows costs what the dearest does. */
	o[0].price_nano_h = 3;
	o[1].price_nano_h = 4;
	node_init(&n, "c1", 1, engine_now(f->e));
	place_adopt(&f->e->cloud->all[0], &n);
	assert_string_equal(n.offer, "there");
	assert_int_equal(n.rate_nano_h, 4);
	assert_false(doubt_listed(f->e, 0));
	assert_false(doubt_may_send(f->e, &n));
	f->e->cloud->all[0].listed = true;
	assert_true(doubt_listed(f->e, 0));
	assert_true(doubt_may_send(f->e, &n));
}

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
	intake_run(f->e);
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

/* F7: nothing was sent that bought anything.  Who is WANTED there would wait for the provider's
 * pauses, and be told nothing; a row that is up is one of an older journal (F58). */
static void test_who_is_throttled_for_long_climbs(void **state)
{
	const struct provider_result r = {.code = PROVIDER_RATE, .retry_after_ms = 900000};
	struct fix *f = *state;
	struct conf_offer *o;

	assert_int_equal(load(f, two_offers(false), NULL), 0);
	f->e->conf->providers[0].unreachable_ms = 60000;
	f->e->started_ms--; /* or the call came in the very millisecond of the start */
	o = &f->e->conf->pools[0].offers[0];
	call(f, "c[1-2]", ONE);
	expect(f, "c1", 1, "here");
	away_run(f->e);
	expect(f, "c1", 1, "here");
	place_bought(f->e, o, &r, 1, engine_now(f->e));
	engine_commit(f->e);
	assert_true(place_ready_ms(f->e, o) >= engine_now(f->e) + 890000);
	name_of(f, "c2")->flags = SLURM_KNOWN | SLURM_ALLOCATED;
	away_run(f->e);
	assert_int_equal(name_of(f, "c1")->newest->n.state, NODE_GONE);
	assert_int_equal(name_of(f, "c1")->newest->n.reason, NODE_BECAUSE_UNREACHABLE);
	assert_true(name_of(f, "c1")->climbs);
	assert_non_null(strstr(name_of(f, "c1")->why, "purchases fail there: not tried until "));
	assert_int_equal(name_of(f, "c2")->newest->n.state, NODE_WANTED);
	name_of(f, "c2")->flags = 0; /* now it is not */
	away_run(f->e);
	assert_int_equal(name_of(f, "c2")->newest->n.state, NODE_GONE);
	intake_run(f->e);
	squeue(f, "7|7|CONFIGURING|gpu|None|c[1-2]|(null)\n", NULL);
	expect(f, "c1", 2, "there");
	expect(f, "c2", 2, "there");
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

/* --- several providers -------------------------------------------------------------------------
 */

/* Nobody can tell whose an instance is that was bought before pools had offers: it is no one's. */
static void test_an_old_row_of_a_pool_with_several_providers_is_of_neither(void **state)
{
	struct fix *f = *state;
	struct node n;

	assert_int_equal(load(f, make_conf(), NULL), 0);
	node_init(&n, "c1", 1, engine_now(f->e));
	(void)engine_insert(f->e, &n, "test");
	engine_commit(f->e);
	assert_int_equal(load(f, two_providers("dear"), NULL), 0);
	assert_int_equal(name_of(f, "c1")->newest->n.cloud, 2);
	assert_true(off_is(&f->e->cloud->all[2]));
}

/* Its story is over: who keeps the row of it for a while need not keep its provider. */
static void test_what_is_gone_needs_no_provider_any_more(void **state)
{
	struct fix *f = *state;
	struct fleet_node *fn;
	struct node n;

	assert_int_equal(load(f, two_providers("dear"), NULL), 0);
	node_init(&n, "c1", 1, engine_now(f->e));
	place_set(f->e, &n, &f->e->conf->pools[0].offers[1], OD / 2);
	n.state = NODE_GONE;
	fn = engine_insert(f->e, &n, "test");
	engine_commit(f->e);
	assert_ptr_equal(fn, name_of(f, "c1")->newest);
	assert_int_equal(load(f, two_offers(false), NULL), 0);
	assert_int_equal(name_of(f, "c1")->newest->n.state, NODE_GONE);
	assert_int_equal(name_of(f, "c1")->newest->n.cloud, 0);
}

/* F58: what the journal does not know may be at any of them; but one that is away for five minutes
 * does not keep the others from selling, and nothing is ever sent to itself. */
static void test_a_provider_that_is_away_does_not_stop_the_others_for_ever(void **state)
{
	struct fix *f = *state;
	struct node here, there;

	assert_int_equal(load(f, two_providers("dear"), NULL), 0);
	node_init(&here, "c1", 1, engine_now(f->e));
	place_set(f->e, &here, &f->e->conf->pools[0].offers[0], OD / 2);
	node_init(&there, "c2", 1, engine_now(f->e));
	place_set(f->e, &there, &f->e->conf->pools[0].offers[1], OD / 2);
	f->e->started_ms = engine_now(f->e);
	f->e->cloud->all[0].listed = true;
	assert_false(doubt_looked(f->e, 0));
	assert_false(doubt_may_send(f->e, &here));
	f->e->started_ms -= 300000;
	assert_true(doubt_looked(f->e, 0));
	assert_true(doubt_may_send(f->e, &here));
	assert_false(doubt_may_send(f->e, &there));
	assert_false(doubt_listed(f->e, 0));
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
	place_heard(&f->e->cloud->all[0], PROVIDER_DELETE,
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
		place_heard(&f->e->cloud->all[0], (enum provider_op_kind)k,
			    &(struct provider_result){.code = PROVIDER_DENIED, .message = "no"},
			    engine_now(f->e));
		engine_commit(f->e);
		engine_cooldowns(f->e, count_row, &n);
		if (n != of)
			fail_msg("%s", provider_op_str((enum provider_op_kind)k));
	}
}

/* An instance that turns up where nothing of its pool is sold any more: what its node has cost. */
static void test_what_turns_up_at_a_provider_of_old_costs_the_most_it_ever_did(void **state)
{
	static const int64_t rates[] = {3, 7, 5};
	struct fix *f = *state;
	struct node n;

	assert_int_equal(load(f, two_providers("dear"), NULL), 0);
	for (uint64_t gen = 1; gen <= 3; gen++) {
		node_init(&n, "c1", gen, engine_now(f->e));
		n.state = NODE_GONE;
		n.rate_nano_h = rates[gen - 1];
		(void)fleet_add(&f->e->fleet, &n);
	}
	f->e->conf->pools[0].noffers = 1;
	node_init(&n, "c1", 4, engine_now(f->e));
	place_adopt(&f->e->cloud->all[1], &n);
	assert_int_equal(n.cloud, 1);
	assert_string_equal(n.provider, "dear");
	assert_int_equal(n.rate_nano_h, 7);
	f->e->conf->pools[0].noffers = 2;
}

/* Of one that is kept warm, for nobody: it need not wait for spot. */
static void test_what_the_next_node_of_no_job_would_cost(void **state)
{
	struct fix *f = *state;

	assert_int_equal(load(f, two_offers(false), NULL), 0);
	f->e->conf->pools[0].offers[1].market = PROVIDER_ON_DEMAND;
	f->e->conf->pools[0].offers[1].price_nano_h = OD;
	f->e->conf->pools[0].fallback_ms = 600000;
	assert_int_equal(place_next_price(f->e, 0), OD / 2);
	cool(f, 0, PROVIDER_CAPACITY);
	assert_int_equal(place_next_price(f->e, 0), OD);
	cool(f, 1, PROVIDER_CAPACITY);
	assert_int_equal(place_next_price(f->e, 0), 0);
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
	f->e->cloud->all[0].caps.flags |= PROVIDER_MACHINES;
	assert_int_equal(place_next_price(f->e, 0), OD / 2);
	f->e->cloud->all[0].caps.flags &= ~(uint32_t)PROVIDER_MACHINES;
	cool(f, 1, PROVIDER_CAPACITY); /* it is better than nothing */
	assert_int_equal(place_next_price(f->e, 0), OD / 2);
	engine_ladder(f->e, 0, &l);
	assert_string_equal(l.rungs[0].why, "");
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
	at = (struct cooldown_place){.provider = "cloud",
				     .type = "t",
				     .region = "r",
				     .zone = "",
				     .market = (enum provider_market)o->market};
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
		T(test_a_refused_node_climbs),
		T(test_who_cannot_climb_waits_for_its_place),
		T(test_a_job_that_is_over_does_not_climb),
		T(test_a_place_that_has_nothing_is_not_asked_by_the_next_job),
		T(test_a_row_keeps_its_offer),
		T(test_rows_of_an_older_burstd),
		T(test_a_type_like_another),
		T(test_what_is_gone_costs_what_it_did),
		T(test_what_changes_is_news_to_who_is_to_be_told),
		T(test_what_is_gone_costs_what_its_own_provider_wanted),
		T(test_what_was_billed_is_not_spent_again),
		T(test_prices_and_lists_of_all_rungs),
		T(test_an_answer_that_bought_nothing_is_no_purchase),
		T(test_a_place_whose_purchases_fail_is_left_alone),
		T(test_a_place_of_a_provider_that_throttles_all_else_is_left_alone),
		T(test_who_is_throttled_for_long_climbs),
		T(test_a_place_rests_from_when_a_doubt_ends),
		T(test_an_old_row_of_a_pool_with_several_providers_is_of_neither),
		T(test_what_is_gone_needs_no_provider_any_more),
		T(test_a_provider_that_is_away_does_not_stop_the_others_for_ever),
		T(test_a_provider_of_machines_does_not_cool_down),
		T(test_what_turns_up_at_a_provider_of_old_costs_the_most_it_ever_did),
		T(test_where_a_machine_came_up_wrong_is_tried_last),
		T(test_how_long_a_place_cools_down),
		T(test_what_the_next_node_of_no_job_would_cost),
		T(test_one_purchase_is_tried_and_the_others_wait_for_it),
		T(test_only_some_answers_are_of_machines),
	};
#undef T

	return cmocka_run_group_tests_name("place", tests, NULL, NULL);
}
