#include "sim_opinions.h"

#include <stdio.h>
#include <string.h>

#include "sim_slurm.h"

void sim_opinions_refusal(struct world *w, struct sim_opinions *o, uint64_t job,
			  const struct refusal *r)
{
	size_t i = 0;

	while (i < o->nrefusals && o->refusals[i].job != job)
		i++;
	if (r == NULL) {
		if (i < o->nrefusals)
			o->refusals[i] = o->refusals[--o->nrefusals];
		return;
	}
	if (i == SIM_OPINIONS_MAX) {
		world_fail(w, "I25: refusals are never forgotten");
		return;
	}
	sim_fate_postponed(w->ctld, job, r);
	o->refusals[i] = (struct journal_refusal){job, *r};
	o->nrefusals += i == o->nrefusals;
}

void sim_opinions_rescue(struct world *w, struct sim_opinions *o, uint64_t job,
			 const struct journal_rescue *r)
{
	size_t i = 0;

	while (i < o->nrescues && o->rescues[i].job != job)
		i++;
	if (r == NULL) {
		if (i < o->nrescues)
			o->rescues[i] = o->rescues[--o->nrescues];
		return;
	}
	if (i == SIM_OPINIONS_MAX) {
		world_fail(w, "I16: jobs that lost a node are followed for ever");
		return;
	}
	o->rescues[i] = *r;
	o->nrescues += i == o->nrescues;
}

void sim_opinions_ending(struct world *w, struct sim_opinions *o, uint64_t job,
			 const struct journal_ending *x)
{
	size_t i = 0;

	while (i < o->nendings && o->endings[i].job != job)
		i++;
	if (x == NULL) {
		if (i < o->nendings)
			o->endings[i] = o->endings[--o->nendings];
		return;
	}
	if (i == SIM_OPINIONS_MAX) {
		world_fail(w, "P4: jobs whose budget was used up are never forgotten");
		return;
	}
	o->endings[i] = *x;
	o->nendings += i == o->nendings;
}

void sim_opinions_drained(struct world *w, struct sim_opinions *o, const char *node, uint64_t gen,
			  bool is)
{
	size_t i = 0;

	while (i < o->ndrained &&
	       (o->drained[i].gen != gen || strcmp(o->drained[i].node, node) != 0))
		i++;
	if (i < o->ndrained)
		o->drained[i] = o->drained[--o->ndrained];
	if (!is)
		return;
	if (o->ndrained == SIM_OPINIONS_MAX) {
		world_fail(w, "I25: machines that were drained are never forgotten");
		return;
	}
	o->drained[o->ndrained].gen = gen;
	(void)snprintf(o->drained[o->ndrained++].node, HOSTLIST_NAME_MAX + 1, "%s", node);
}

void sim_opinions_pool(const struct world *w, struct sim_opinions *o, const char *name,
		       const struct journal_pool *p)
{
	for (size_t i = 0; i < w->set.npools; i++)
		if (strcmp(w->set.pools[i].name, name) == 0) {
			o->pools[i] = *p;
			o->has_pool[i] = true;
		}
}

void sim_opinions_roll(struct world *w, struct sim_opinions *o, const char *pool, const char *offer,
		       const struct roll *r)
{
	size_t i = 0;

	while (i < o->nrolls &&
	       (strcmp(o->rolls[i].pool, pool) != 0 || strcmp(o->rolls[i].offer, offer) != 0))
		i++;
	if (i == SIM_OPINIONS_MAX) {
		world_fail(w, "I25: more new images than offers");
		return;
	}
	sim_roll_put(w, pool, offer, i < o->nrolls ? &o->rolls[i].r : NULL, r);
	o->rolls[i].r = *r;
	(void)snprintf(o->rolls[i].pool, sizeof(o->rolls[i].pool), "%s", pool);
	(void)snprintf(o->rolls[i].offer, sizeof(o->rolls[i].offer), "%s", offer);
	o->nrolls += i == o->nrolls;
}

const struct roll *sim_opinions_roll_of(const struct sim_opinions *o, const char *pool,
					const char *offer)
{
	for (size_t i = 0; i < o->nrolls; i++)
		if (strcmp(o->rolls[i].pool, pool) == 0 && strcmp(o->rolls[i].offer, offer) == 0)
			return &o->rolls[i].r;
	return NULL;
}

static int load_rolls(const struct sim_opinions *o, const struct journal_visitor *v, struct err *e)
{
	for (size_t i = 0; v->roll != NULL && i < o->nrolls; i++) {
		const struct journal_roll x = {
			.pool = o->rolls[i].pool, .offer = o->rolls[i].offer, .r = o->rolls[i].r};

		if (v->roll(v->ctx, &x, e) != 0)
			return -1;
	}
	return 0;
}

int sim_opinions_load(const struct world *w, const struct sim_opinions *o,
		      const struct journal_visitor *v, struct err *e)
{
	for (size_t i = 0; v->refusal != NULL && i < o->nrefusals; i++)
		if (v->refusal(v->ctx, &o->refusals[i], e) != 0)
			return -1;
	for (size_t i = 0; v->rescue != NULL && i < o->nrescues; i++)
		if (v->rescue(v->ctx, &o->rescues[i], e) != 0)
			return -1;
	for (size_t i = 0; v->drained != NULL && i < o->ndrained; i++)
		if (v->drained(v->ctx, o->drained[i].node, o->drained[i].gen, e) != 0)
			return -1;
	for (size_t i = 0; v->ending != NULL && i < o->nendings; i++)
		if (v->ending(v->ctx, &o->endings[i], e) != 0)
			return -1;
	for (size_t p = 0; v->pool != NULL && p < w->set.npools; p++) {
		struct journal_pool pool = o->pools[p];

		pool.name = w->set.pools[p].name;
		if (o->has_pool[p] && v->pool(v->ctx, &pool, e) != 0)
			return -1;
	}
	return load_rolls(o, v, e);
}
