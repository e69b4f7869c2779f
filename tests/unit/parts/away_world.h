/* away_world.h - an engine whose providers do not answer. */
#ifndef TESTS_AWAY_WORLD_H
#define TESTS_AWAY_WORLD_H

#include "buy/buy.h"
#include "cloud/cloud.h"
#include "jobs/jobs.h"
#include "keys/claim_set.h"
#include "keys/keys.h"
#include "loaded_engine.h"

#define OD 1000000000

enum { LIMIT = 60000 };

static inline struct conf_offer make_offer(const char *name, const char *provider)
{
	return (struct conf_offer){.name = mem_strdup(name),
				   .provider = mem_strdup(provider),
				   .type = mem_strdup("t"),
				   .region = mem_strdup("r"),
				   .zone = mem_strdup(""),
				   .jurisdiction = mem_strdup("DE"),
				   .price_nano_h = OD,
				   .market = PROVIDER_ON_DEMAND};
}

/* One pool, of which one offer is at each of two providers. */
static inline struct conf *make_two(void)
{
	struct conf *c = one_pool("c[1-3]", 3);
	struct conf_pool *p = &c->pools[0];

	c->providers = mem_realloc(c->providers, 2 * sizeof(*c->providers));
	c->providers[1] = c->providers[0];
	c->providers[1].name = mem_strdup("far");
	c->providers[1].driver = mem_strdup("fake");
	c->providers[1].url = mem_strdup("");
	c->nproviders = 2;
	c->providers[0].unreachable_ms = c->providers[1].unreachable_ms = LIMIT;
	p->spot_share = 100;
	p->offers = mem_zalloc(2 * sizeof(*p->offers));
	p->offers[0] = make_offer("there", "far");
	p->offers[1] = make_offer("here", "cloud");
	p->noffers = 2;
	sell_by_offers(p);
	assert_int_equal(conf_finish(c, NULL), 0);
	return c;
}

static inline struct cloud *far(const struct fix *f)
{
	return &f->e->cloud->all[1];
}

static inline void load(struct fix *f)
{
	assert_int_equal(load_conf(f, make_two(), NULL), 0);
	f->e->left = ENGINE_SEND;
	f->e->poll.snapshot_ms = 1;
	f->e->cloud->all[0].listed = true;
}

static inline void heard(struct fix *f, enum provider_op_kind kind, enum provider_code code)
{
	struct provider_result r = {.code = code};

	(void)snprintf(far(f)->error, sizeof(far(f)->error), "list: connection refused");
	away_heard(far(f), kind, &r);
	engine_commit(f->e);
}

/* It has not answered for ms. */
static inline void silent(struct fix *f, int64_t ms)
{
	heard(f, PROVIDER_LIST, PROVIDER_TRANSIENT);
	far(f)->mute_ms -= ms;
	far(f)->blind_ms -= ms;
	heard(f, PROVIDER_LIST, PROVIDER_TRANSIENT);
}

static inline struct fleet_name *name_of(const struct fix *f, const char *node)
{
	return fleet_find(&f->e->fleet, node);
}

static inline const struct node *row(const struct fix *f, const char *node)
{
	return &name_of(f, node)->newest->n;
}

static inline void squeue(struct fix *f, const char *text)
{
	f->e->jobs->running = f->e->jobs->wanted;
	f->e->jobs->wanted = 0;
	f->e->jobs->wishes_wanted = WISH_NOTHING;
	intake_part.squeue_begins(f->e);
	jobs_answer(f->e, text, strlen(text), NULL);
	engine_commit(f->e);
}

#define C3_CALL "{\"jobs\":[{\"job_id\":8,\"features\":null,\"nodes_alloc\":\"c3\"}]}"
#define JOB     "7|7|CONFIGURING|gpu|None|c[1-2]|(null)\n"
#define A_CALL  "{\"jobs\":[{\"job_id\":7,\"features\":null,\"nodes_alloc\":\"c[1-2]\"}]}"
#define T(f)    cmocka_unit_test_setup_teardown(f, setup, teardown)

#endif
