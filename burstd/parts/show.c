#include "buy/buy.h"
#include "cloud/cloud.h"
#include "jobs/jobs.h"
#include "parts/parts.h"

#include <assert.h>

#include "base/fmt.h"

/* Shows the engine to the API, and makes it look at everything now. */

void engine_reconcile(struct engine *e)
{
	e->poll.next_ms = engine_now(e);
	prereq_hurry(e);
	for (size_t i = 0; i < e->conf->nproviders; i++)
		e->cloud->all[i].list_next = e->cloud->all[i].quotes_next = engine_now(e);
	engine_turn(e);
}

const struct conf *engine_conf(const struct engine *e)
{
	return e->conf;
}

const struct fleet *engine_fleet(const struct engine *e)
{
	return &e->fleet;
}

struct fleet_name *const *engine_sorted(struct engine *e)
{
	return fleet_sorted(&e->fleet);
}

uint64_t engine_last_batch(const struct engine *e)
{
	return e->buy->last_batch;
}

int64_t engine_started_ms(const struct engine *e)
{
	return e->started_ms;
}

struct engine_source engine_slurm_source(const struct engine *e)
{
	return (struct engine_source){"slurmctld", e->poll.ok_ms, e->poll.failed_ms, e->poll.error};
}

struct engine_source engine_provider_source(const struct engine *e, size_t provider)
{
	const struct cloud *c = &e->cloud->all[provider];

	return (struct engine_source){c->conf->name, c->ok_ms, c->failed_ms,
				      off_is(c) ? c->off : c->error};
}

const char *engine_undeleted(const struct engine *e, size_t provider, int64_t *failed_ms)
{
	*failed_ms = e->cloud->all[provider].undeleted_ms;
	return e->cloud->all[provider].undeleted;
}

const char *engine_unheard(const struct engine *e, size_t provider, int64_t *since_ms)
{
	*since_ms = e->cloud->all[provider].unheard_ms;
	return e->cloud->all[provider].unheard;
}

const char *engine_unreadable(const struct engine *e, size_t provider, size_t i)
{
	const struct cloud *c = &e->cloud->all[provider];

	for (size_t k = 0; k < c->nodd; k++)
		if (c->odd[k].shown && i-- == 0)
			return c->odd[k].id;
	return NULL;
}

bool engine_stray(const struct engine *e, size_t provider, size_t i, struct engine_stray *out)
{
	const struct cloud *c = &e->cloud->all[provider];

	if (i >= c->nstrays)
		return false;
	*out = (struct engine_stray){c->strays[i].id, c->strays[i].node,   c->strays[i].tried_ms,
				     c->strays_ms,    c->strays[i].leaves, c->strays[i].up};
	return true;
}

int64_t engine_spent(const struct engine *e, size_t pool)
{
	int64_t sum = e->fleet.pools[pool].spent_nano;

	for (int s = 0; s < NODE_NSTATES; s++)
		for (const struct fleet_node *fn = e->fleet.states[s]; fn; fn = fn->state_next)
			if (fn->n.pool == pool && s != NODE_GONE && fn->n.start_ms != 0 &&
			    engine_now(e) > fn->n.start_ms)
				sum += fmt_cost(engine_now(e) - fn->n.start_ms, fn->n.rate_nano_h) -
				       engine_billed(&fn->n);
	return sum;
}

int64_t engine_price(const struct engine *e, size_t pool, size_t rung)
{
	size_t n;
	const struct conf_offer *rungs = conf_rungs(&e->conf->pools[pool], &n);

	assert(rung < n);
	return quote_known(e, &rungs[rung]);
}

const struct engine_counters *engine_counters(const struct engine *e)
{
	return &e->count;
}

const char *engine_slurm_state(const struct engine *e, const char *node, char *buf, size_t size)
{
	const struct fleet_name *nm = fleet_find(&e->fleet, node);

	buf[0] = '\0';
	if (nm != NULL)
		slurm_print_state(nm->flags, buf, size);
	return buf;
}
