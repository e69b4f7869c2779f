/* plan_ladder_round.h - one plan over a pool with three rungs and a pool with one, for the tests
 * that ask which rung it comes to. */
#ifndef TESTS_PLAN_LADDER_ROUND_H
#define TESTS_PLAN_LADDER_ROUND_H

#include "small_conf.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/fmt.h"
#include "core/plan.h"

enum { SPOT, FAR, OD, NRUNGS };

static const int64_t now = INT64_C(1767362400000);

struct round {
	struct conf *c;
	struct fleet f;
	struct demand d;
	struct plan p;
	struct ladder_known known[2][NRUNGS];
	struct plan_pool pools[2];
	struct plan_job jobs[8];
	struct plan_ask ask;
};

static inline void add_offer(struct conf_pool *p, const char *name, const char *provider,
			     const char *market)
{
	struct conf_offer *o;

	p->offers = mem_realloc(p->offers, (p->noffers + 1) * sizeof(*p->offers));
	o = &p->offers[p->noffers++];
	*o = (struct conf_offer){.name = mem_strdup(name)};
	set("offer", "provider", o, provider);
	set("offer", "type", o, "t");
	set("offer", "region", o, "r");
	set("offer", "zone", o, name);
	set("offer", "market", o, market);
	set("offer", "jurisdiction", o, strcmp(name, "far") == 0 ? "US" : "DE");
}

/* Pool a with three rungs at 2, 3 and 5 an hour; pool b with one at 10. */
static inline void setup(struct round *t, const char *list)
{
	static const int64_t prices[NRUNGS] = {2, 3, 5};
	struct err e = {0};

	*t = (struct round){.c = small_conf()};
	for (int i = 0; i < 2; i++) {
		struct conf_pool *p;

		t->c->pools = mem_realloc(t->c->pools, (size_t)(i + 1) * sizeof(*p));
		p = &t->c->pools[t->c->npools++];
		*p = (struct conf_pool){.name = mem_strdup(i == 0 ? "a" : "b"),
					.max_nodes = 8,
					.max_rate_nano_h = 1000 * FMT_NANO,
					.spot_share = 100};
		set("pool", "nodes", p, i == 0 ? "a[1-8]" : "b[1-8]");
		set("pool", "provider", p, i == 0 ? "" : "one");
		set("pool", "type", p, i == 0 ? "" : "t");
		set("pool", "region", p, i == 0 ? "" : "r");
		set("pool", "zone", p, "");
	}
	add_offer(t->c->pools, "spot", "one", "spot");
	add_offer(t->c->pools, "far", "two", "spot");
	add_offer(t->c->pools, "od", "one", "on-demand");
	if (conf_finish(t->c, &e) != 0)
		fail_msg("%s", e.msg);
	for (int i = 0; i < NRUNGS; i++)
		t->known[0][i].price = prices[i] * FMT_NANO;
	t->known[1][0].price = 10 * FMT_NANO;
	t->pools[0].known = t->known[0];
	t->pools[1].known = t->known[1];
	fleet_init(&t->f, 2);
	assert_int_equal(demand_init(&t->d, list, strlen(list), NULL), 0);
	t->ask = (struct plan_ask){.demand = &t->d,
				   .conf = t->c,
				   .fleet = &t->f,
				   .pools = t->pools,
				   .jobs = t->jobs,
				   .now_ms = now};
}

static inline void add_job(struct round *t, const char *list)
{
	assert_int_equal(demand_add_job(&t->d, t->d.njobs + 1, list, strlen(list), NULL), 0);
}

/* Compare with one letter a node: the rung it is bought from (s, f, o), W(ait), R(efuse), H(ave).
 */
static inline void expect(struct round *t, const char *want)
{
	static const char letters[] = "?HBWR", rungs[] = "sfo";
	char got[16] = "";

	plan_fini(&t->p);
	plan_make(&t->p, &t->ask);
	for (size_t i = 0; i < t->p.n; i++) {
		const struct plan_node *pn = &t->p.nodes[i];

		got[i] = pn->verdict == PLAN_BUY && pn->pool == 0 ? rungs[pn->rung]
								  : letters[pn->verdict];
	}
	assert_string_equal(got, want);
}

static inline void why_is(struct round *t, size_t node, const char *want)
{
	char why[200];

	plan_explain(&t->p, &t->p.nodes[node], &t->ask, why, sizeof(why));
	assert_string_equal(why, want);
}

static inline void done(struct round *t)
{
	plan_fini(&t->p);
	demand_fini(&t->d);
	fleet_fini(&t->f);
	conf_free(t->c);
}

static inline void cool(struct round *t, int rung, enum cooldown_state s, int minutes)
{
	t->known[0][rung].cool =
		(struct cooldown_view){s, minutes != 0 ? now + minutes * INT64_C(60000) : 0};
}

#endif
