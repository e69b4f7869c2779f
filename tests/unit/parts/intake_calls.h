/* intake_calls.h - calls from the spool. */
#ifndef TESTS_INTAKE_CALLS_H
#define TESTS_INTAKE_CALLS_H

#include "loaded_engine.h"

#include "buy/buy.h"
#include "cloud/cloud.h"
#include "core/wish.h"
#include "diff/diff.h"
#include "jobs/jobs.h"
#include "store/journal_events.h"

static inline struct conf_offer make_offer(const char *name, int market)
{
	return (struct conf_offer){.name = mem_strdup(name),
				   .provider = mem_strdup("cloud"),
				   .type = mem_strdup("t"),
				   .region = mem_strdup("r"),
				   .zone = mem_strdup(name),
				   .jurisdiction = mem_strdup(""),
				   .price_nano_h = 1,
				   .market = market};
}

/* An engine whose pool has offers to choose from, or lets comments choose. */
static inline void load(struct fix *f, size_t offers, bool comments)
{
	struct conf *c = make_conf();
	struct conf_pool *p = &c->pools[0];

	p->job_comment = comments;
	p->spot_share = 100;
	p->offers = mem_zalloc(2 * sizeof(*p->offers));
	if (offers > 0)
		p->offers[p->noffers++] = make_offer("o", PROVIDER_ON_DEMAND);
	if (offers > 1)
		p->offers[p->noffers++] = make_offer("s", PROVIDER_SPOT);
	assert_int_equal(load_conf(f, c, NULL), 0);
	f->e->left = ENGINE_SEND;
}

static inline bool is_bought(const struct fix *f, const char *node)
{
	const struct fleet_name *nm = fleet_find(&f->e->fleet, node);

	return nm != NULL && fleet_exists(nm);
}

#define OLD "{\"jobs\":[{\"job_id\":7,\"nodes\":\"c[1-2]\"}],\"all_nodes\":\"c[1-2]\"}"

/* As jobs_part.at[PART_SEND]() does when squeue is started, and later has answered. */
static inline void squeue(struct fix *f, const char *text, size_t len, const struct err *err)
{
	f->e->jobs->running = f->e->jobs->wanted;
	f->e->jobs->wanted = 0;
	f->e->jobs->wishes_wanted = WISH_NOTHING;
	intake_part.squeue_begins(f->e);
	jobs_answer(f->e, text, len, err);
}

static inline void snapshot(struct fix *f, const char *state)
{
	show(f, state, "");
	engine_commit(f->e);
	intake_part.at[PART_RUN](f->e);
}

#endif
