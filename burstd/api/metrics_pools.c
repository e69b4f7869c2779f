/* metrics_pools.c writes the metrics of pools: nodes by state, limits, cost, and refusals. */
#include <stdlib.h>

#include "api/metrics_private.h"
#include "base/mem.h"
#include "buy/buy_api.h"
#include "cloud/cloud_api.h"

static size_t npools(const struct api *a)
{
	const struct conf *c = engine_conf(a->engine);
	const struct fleet *f = engine_fleet(a->engine);

	return c->npools < f->npools ? c->npools : f->npools;
}

static void write_states(const struct api *a, struct str *s)
{
	const struct conf *c = engine_conf(a->engine);
	const struct fleet *f = engine_fleet(a->engine);

	metrics_family(
		s, "burstd_nodes", "gauge",
		"Cloud nodes that are bought or being bought, by state; each generation counts.");
	for (size_t i = 0; i < npools(a); i++)
		for (int state = 0; state < NODE_NSTATES; state++) {
			const struct metrics_label l[] = {
				{"pool", c->pools[i].name},
				{"state", node_state_str((enum node_state)state)},
			};

			if (state != NODE_GONE)
				metrics_sample_u64(s, "burstd_nodes", l, 2,
						   f->pools[i].count[state]);
		}
}

/* The value of one metric for one pool. */
typedef int64_t (*pool_value_fn)(const struct api *a, size_t pool);

static int64_t names_of(const struct api *a, size_t i)
{
	return (int64_t)engine_conf(a->engine)->pools[i].nodes->n;
}

static int64_t max_nodes_of(const struct api *a, size_t i)
{
	return engine_conf(a->engine)->pools[i].max_nodes;
}

static int64_t rate_of(const struct api *a, size_t i)
{
	return engine_fleet(a->engine)->pools[i].rate_nano_h;
}

static int64_t max_rate_of(const struct api *a, size_t i)
{
	return engine_conf(a->engine)->pools[i].max_rate_nano_h;
}

static int64_t spent_of(const struct api *a, size_t i)
{
	return engine_spent(a->engine, i);
}

static int64_t paused_of(const struct api *a, size_t i)
{
	return engine_paused(a->engine, i);
}

static int64_t blocked_of(const struct api *a, size_t i)
{
	return engine_blocked(a->engine, i) != NULL && !engine_paused(a->engine, i);
}

static int64_t warm_wanted_of(const struct api *a, size_t i)
{
	return engine_warm(a->engine, i).wanted;
}

static int64_t warm_of(const struct api *a, size_t i)
{
	return engine_warm(a->engine, i).up;
}

static int64_t paid_of(const struct api *a, size_t i)
{
	return engine_warm(a->engine, i).paid;
}

static int64_t placed_of(const struct api *a, size_t i)
{
	const struct hostlist *nodes = engine_conf(a->engine)->pools[i].nodes;
	int64_t n = 0;

	for (size_t k = 0; k < nodes->n; k++) {
		const struct fleet_name *nm = fleet_find(engine_fleet(a->engine), nodes->names[k]);
		const struct fleet_node *fn = nm != NULL ? fleet_live(nm) : NULL;

		n += fn != NULL && fn->n.state == NODE_READY && fn->path != NULL &&
		     fn->path[0] != '\0';
	}
	return n;
}

static int64_t apart_of(const struct api *a, size_t i)
{
	struct engine_apart one;
	int64_t n = 0;

	for (size_t k = 0; engine_apart(a->engine, k, &one); k++)
		n += one.pool == i;
	return n;
}

static void write_images(const struct api *a, struct str *s)
{
	const struct conf *c = engine_conf(a->engine);

	metrics_family(s, "burstd_pool_image_offers", "gauge",
		       "Offers of the pool, by how far they are with a new image.");
	for (size_t i = 0; i < npools(a); i++) {
		uint64_t stages[ROLL_NSTAGES] = {0};
		size_t n;
		const struct conf_offer *rungs = conf_rungs(&c->pools[i], &n);
		struct engine_image image;

		for (size_t k = 0; k < n; k++)
			if (engine_image(a->engine, i, rungs[k].name, &image))
				stages[image.roll->stage]++;
		for (int stage = 0; stage < ROLL_NSTAGES; stage++) {
			const struct metrics_label l[] = {
				{"pool", c->pools[i].name},
				{"stage", roll_stage_str((enum roll_stage)stage)},
			};

			metrics_sample_u64(s, "burstd_pool_image_offers", l, 2, stages[stage]);
		}
	}
}

static const struct {
	const char *name, *type, *help;
	bool money;
	pool_value_fn value;
} pool_families[] = {
	{"burstd_pool_names", "gauge", "Slurm nodes that the pool names.", false, names_of},
	{"burstd_pool_max_nodes", "gauge", "The pool's limit on nodes.", false, max_nodes_of},
	{"burstd_pool_rate", "gauge",
	 "Cost of the pool's nodes now, which max_rate limits, in currency units per hour.", true,
	 rate_of},
	{"burstd_pool_max_rate", "gauge", "The pool's limit on cost, in currency units per hour.",
	 true, max_rate_of},
	{"burstd_pool_paused", "gauge", "Has an admin stopped buying in the pool?", false,
	 paused_of},
	{"burstd_pool_blocked", "gauge",
	 "Does the pool buy nothing, for a reason other than an admin's pause?", false, blocked_of},
	{"burstd_pool_warm_wanted", "gauge", "Nodes to keep up even without jobs.", false,
	 warm_wanted_of},
	{"burstd_pool_warm", "gauge", "Warm nodes that are up.", false, warm_of},
	{"burstd_pool_paid", "gauge",
	 "Nodes kept beyond the warm ones because they are paid until the end of a quantum.", false,
	 paid_of},
	{"burstd_nodes_placed", "gauge",
	 "Nodes that are up and of which the provider says where they are.", false, placed_of},
	{"burstd_fabrics_apart", "gauge",
	 "Fabrics whose machines are further from each other than fabric_hops.", false, apart_of},
	{"burstd_spent_total", "counter",
	 "Instance time so far at the price of the offer, in currency units.", true, spent_of},
};

static void write_pools(const struct api *a, struct str *s)
{
	const struct conf *c = engine_conf(a->engine);

	for (size_t k = 0; k < sizeof(pool_families) / sizeof(pool_families[0]); k++) {
		const char *name = pool_families[k].name;

		metrics_family(s, name, pool_families[k].type, pool_families[k].help);
		for (size_t i = 0; i < npools(a); i++) {
			const struct metrics_label l[] = {{"pool", c->pools[i].name},
							  {"currency", c->currency}};
			int64_t v = pool_families[k].value(a, i);

			if (pool_families[k].money)
				metrics_sample_money(s, name, l, 2, v);
			else
				metrics_sample_u64(s, name, l, 1, (uint64_t)v);
		}
	}
}

static void write_refused(const struct api *a, struct str *s)
{
	const struct fleet *f = engine_fleet(a->engine);
	uint32_t *n = mem_zalloc((f->npools * NODE_NREASONS + 1) * sizeof(*n));

	for (size_t i = 0; i < f->nall; i++)
		if (fleet_live(f->all[i]) == NULL)
			n[f->all[i]->pool * NODE_NREASONS + f->all[i]->refused]++;
	metrics_family(s, "burstd_nodes_refused", "gauge",
		       "Nodes that Slurm asked for and that were not bought, until it asks again.");
	for (size_t i = 0; i < npools(a); i++)
		for (int why = NODE_BECAUSE_NONE + 1; why < NODE_NREASONS; why++) {
			const struct metrics_label l[] = {
				{"pool", engine_conf(a->engine)->pools[i].name},
				{"reason", node_reason_str((enum node_reason)why)},
			};
			uint32_t v = n[i * NODE_NREASONS + (size_t)why];

			if (v > 0)
				metrics_sample_u64(s, "burstd_nodes_refused", l, 2, v);
		}
	free(n);
}

static void write_prices(const struct api *a, struct str *s)
{
	const struct conf *c = engine_conf(a->engine);
	uint64_t unpriced = 0;

	metrics_family(s, "burstd_price_age_seconds", "gauge",
		       "Time since the provider of the offer last sent its quotes; 0: the price is "
		       "set by an admin, or there is none.");
	for (size_t i = 0; i < npools(a); i++) {
		size_t n;
		const struct conf_offer *rungs = conf_rungs(&c->pools[i], &n);

		for (size_t k = 0; k < n; k++) {
			const struct metrics_label l[] = {{"pool", c->pools[i].name},
							  {"offer", rungs[k].name}};

			metrics_sample_seconds(s, "burstd_price_age_seconds", l, 2,
					       engine_price_age(a->engine, i, k));
			unpriced += engine_price(a->engine, i, k) <= 0;
		}
	}
	metrics_family(s, "burstd_unpriced_offers", "gauge",
		       "Offers without a price, of which nothing is bought.");
	metrics_sample_u64(s, "burstd_unpriced_offers", NULL, 0, unpriced);
}

void metrics_pools_write(const struct api *a, struct str *s)
{
	write_states(a, s);
	write_images(a, s);
	write_pools(a, s);
	write_refused(a, s);
	write_prices(a, s);
}
