/* two_offers.h - an engine with a pool of two spot offers, "here" and "there". */
#ifndef TWO_OFFERS_H
#define TWO_OFFERS_H

#include "buy/buy.h"
#include "core/wish.h"
#include "jobs/jobs.h"
#include "loaded_engine.h"

#define OD 1000000000

static struct conf_offer make_offer(const char *name, const char *region, int market)
{
	return (struct conf_offer){.name = mem_strdup(name),
				   .provider = mem_strdup("cloud"),
				   .type = mem_strdup("t"),
				   .region = mem_strdup(region),
				   .zone = mem_strdup(""),
				   .jurisdiction = mem_strdup("DE"),
				   .price_nano_h = market == PROVIDER_SPOT ? OD / 2 : OD,
				   .market = market};
}

/* Two spot offers, both of one kind; turned: "there" comes first. */
static struct conf *two_offers(bool turned)
{
	struct conf *c = make_conf();
	struct conf_pool *p = &c->pools[0];

	p->spot_share = 100;
	p->offers = mem_zalloc(2 * sizeof(*p->offers));
	p->offers[p->noffers++] =
		make_offer(turned ? "there" : "here", turned ? "r2" : "r", PROVIDER_SPOT);
	p->offers[p->noffers++] =
		make_offer(turned ? "here" : "there", turned ? "r" : "r2", PROVIDER_SPOT);
	sell_by_offers(p);
	return c;
}

/* Likewise, but "there" is a second provider's. */
static inline struct conf *two_providers(const char *second)
{
	struct conf *c = two_offers(false);
	struct conf_offer *o = &c->pools[0].offers[1];

	c->nproviders = 2;
	c->providers = mem_realloc(c->providers, 2 * sizeof(*c->providers));
	c->providers[1] = (struct conf_provider){.name = mem_strdup(second),
						 .driver = mem_strdup("fake"),
						 .url = mem_strdup(""),
						 .settle_ms = 60000,
						 .list_ms = 30000,
						 .timeout_ms = 30000,
						 .concurrency = 4};
	free(o->provider);
	o->provider = mem_strdup(second);
	o->provider_index = 1;
	return c;
}

static int load(struct fix *f, struct conf *c, struct err *err)
{
	int rc = load_conf(f, c, err);

	if (rc == 0)
		f->e->left = ENGINE_SEND;
	return rc;
}

#define ONE "{\"jobs\":[{\"job_id\":7,\"features\":null,\"nodes_alloc\":\"c[1-2]\"}]}"

static inline struct fleet_name *name_of(const struct fix *f, const char *node)
{
	return fleet_find(&f->e->fleet, node);
}

static inline void refuse(struct fix *f, const char *node, enum node_reason why)
{
	struct node_event ev = {.type = NODE_EV_REFUSED, .reason = why, .now_ms = engine_now(f->e)};

	engine_post(f->e, name_of(f, node)->newest, &ev);
	engine_commit(f->e);
}

static inline void squeue(struct fix *f, const char *text, const struct err *err)
{
	f->e->jobs->running = f->e->jobs->wanted;
	f->e->jobs->wanted = 0;
	f->e->jobs->wishes_wanted = WISH_NOTHING;
	intake_part.squeue_begins(f->e);
	jobs_answer(f->e, text, text != NULL ? strlen(text) : 0, err);
}

static inline void expect(const struct fix *f, const char *node, uint64_t gen, const char *offer)
{
	const struct fleet_node *fn = name_of(f, node)->newest;

	assert_int_equal(fn->n.gen, gen);
	assert_int_equal(fn->n.state, NODE_WANTED);
	assert_string_equal(fn->n.offer, offer);
	assert_string_equal(fn->n.provider, "cloud");
	assert_int_equal(fn->n.market, PROVIDER_SPOT);
	assert_int_equal(fn->n.rate_nano_h, OD / 2);
}

static inline void cool(struct fix *f, size_t rung, enum provider_code code)
{
	const struct provider_result r = {.code = code, .message = "none left"};

	place_bought(f->e, &f->e->conf->pools[0].offers[rung], &r, 1, engine_now(f->e));
	engine_commit(f->e);
}

#endif
