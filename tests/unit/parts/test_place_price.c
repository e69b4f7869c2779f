/* place.c: a row keeps its offer, and costs what that costs, whatever the configuration says since.
 */
#include "two_offers.h"

#include "buy/buy.h"
#include "cloud/cloud.h"
#include "jobs/jobs.h"

/* Of which the list says nothing but that it is there. */
static const struct provider_instance unknown = {.id = "i-1"};

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
	place_part.at[PART_START](f->e); /* from then on the journal says it */
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
	place_part.quoted(c, before, nbefore);
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
	assert_false(place_adopt(&f->e->cloud->all[0], &n, &unknown));
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
	assert_true(place_adopt(&f->e->cloud->all[0], &n, &unknown));
	assert_string_equal(n.offer, "there");
	assert_int_equal(n.rate_nano_h, 4);
	assert_false(doubt_listed(f->e, 0));
	assert_false(doubt_may_send(f->e, &n));
	f->e->cloud->all[0].listed = true;
	assert_true(doubt_listed(f->e, 0));
	assert_true(doubt_may_send(f->e, &n));
}

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
	assert_false(place_adopt(&f->e->cloud->all[1], &n, &unknown));
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

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
	const struct CMUnitTest tests[] = {
		T(test_a_row_keeps_its_offer),
		T(test_rows_of_an_older_burstd),
		T(test_a_type_like_another),
		T(test_what_is_gone_costs_what_it_did),
		T(test_what_changes_is_news_to_who_is_to_be_told),
		T(test_what_is_gone_costs_what_its_own_provider_wanted),
		T(test_what_was_billed_is_not_spent_again),
		T(test_prices_and_lists_of_all_rungs),
		T(test_an_old_row_of_a_pool_with_several_providers_is_of_neither),
		T(test_what_is_gone_needs_no_provider_any_more),
		T(test_what_turns_up_at_a_provider_of_old_costs_the_most_it_ever_did),
		T(test_what_the_next_node_of_no_job_would_cost),
	};
#undef T

	return cmocka_run_group_tests_name("place_price", tests, NULL, NULL);
}
