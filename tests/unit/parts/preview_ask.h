/* preview_ask.h - previews of pools and plans. */
#ifndef TESTS_PREVIEW_ASK_H
#define TESTS_PREVIEW_ASK_H

#include "loaded_engine.h"

#include "base/fmt.h"
#include "buy/buy.h"
#include "cloud/cloud.h"
#include "jobs/jobs.h"
#include "store/journal_events.h"

enum { NEAR, MID, FAR };

static inline void add_offer(struct conf_pool *p, const char *name, int market, int64_t price)
{
	p->offers = mem_realloc(p->offers, (p->noffers + 1) * sizeof(*p->offers));
	p->offers[p->noffers++] = (struct conf_offer){
		.name = mem_strdup(name),
		.provider = mem_strdup("cloud"),
		.type = mem_strdup("t"),
		.region = mem_strdup("r"),
		.zone = mem_strdup(name),
		.market = market,
		.jurisdiction = mem_strdup(market == PROVIDER_SPOT ? "US" : "DE"),
		.price_nano_h = price * FMT_NANO};
}

/* Three offers at 2, 3 (spot, overseas) and 5 an hour; at most 5 of 6 nodes, for 12 an hour. */
static inline struct conf *ladder_conf(void)
{
	struct conf *c = conf_new("burstd.conf");
	struct conf_pool *p;

	c->cluster = mem_strdup("test");
	memcpy(c->currency, "EUR", 4);
	c->state_dir = mem_strdup("/nowhere");
	c->listen = mem_strdup("");
	c->slurm_bin = mem_strdup("/nowhere");
	c->nproviders = 2; /* of the second nothing is bought */
	c->providers = mem_zalloc(2 * sizeof(*c->providers));
	for (size_t i = 0; i < 2; i++)
		c->providers[i] =
			(struct conf_provider){.name = mem_strdup(i == 0 ? "cloud" : "spare"),
					       .driver = mem_strdup("fake"),
					       .url = mem_strdup(""),
					       .settle_ms = 60000,
					       .list_ms = 30000,
					       .cooldown_ms = 60000,
					       .timeout_ms = 30000,
					       .concurrency = 4};
	c->npools = 1;
	c->pools = mem_zalloc(sizeof(*c->pools));
	p = &c->pools[0];
	*p = (struct conf_pool){.name = mem_strdup("pool"),
				.nodes_text = mem_strdup("c[1-6]"),
				.provider = mem_strdup(""),
				.type = mem_strdup(""),
				.region = mem_strdup(""),
				.zone = mem_strdup(""),
				.max_nodes = 5,
				.max_rate_nano_h = 12 * FMT_NANO,
				.spot_share = 100,
				.boot_ms = 600000};
	add_offer(p, "near", PROVIDER_ON_DEMAND, 2);
	add_offer(p, "mid", PROVIDER_SPOT, 3);
	add_offer(p, "far", PROVIDER_ON_DEMAND, 5);
	assert_int_equal(conf_finish(c, NULL), 0);
	return c;
}

/* c1 is up, bought near, and c2, far, at 2 each by then; all others are off. */
static inline struct engine *load(struct fix *f)
{
	struct journal_tx *tx = journal_begin(f->journal);

	for (int i = 1; i <= 2; i++) {
		struct node n;

		make_ready(f, i, &n);
		n.rate_nano_h = 2 * FMT_NANO;
		(void)snprintf(n.offer, sizeof(n.offer), "%s", i == 1 ? "near" : "far");
		(void)snprintf(n.provider, sizeof(n.provider), "cloud");
		journal_put_node(tx, &n, "pool");
	}
	assert_int_equal(journal_commit(tx, NULL), 0);
	assert_int_equal(load_conf(f, ladder_conf(), NULL), 0);
	return f->e;
}

static inline const struct conf_offer *offer(const struct engine *e, size_t i)
{
	return &e->conf->pools[0].offers[i];
}

/* A purchase of n nodes there was answered so. */
static inline void answered(struct engine *e, size_t rung, enum provider_code code, size_t n)
{
	struct provider_result r = {.code = code, .message = "no hosts left"};

	place_bought(e, offer(e, rung), &r, n, engine_now(e));
}

static inline struct engine_plan plan(struct engine *e, const struct engine_plan_ask *ask)
{
	struct engine_plan p;
	struct err err = {0};
	int rc = engine_plan(e, ask, &p, &err);

	print_message("# %u nodes: verdict %d, %s%s\n", ask->nodes, (int)p.verdict, p.why, err.msg);
	assert_int_equal(rc, 0);
	return p;
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

#endif
