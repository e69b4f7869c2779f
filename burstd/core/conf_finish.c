/* conf_finish() ends the reading of a configuration: it checks that options fit together, and fills
 * in what follows from them. */
#include <assert.h>
#include <string.h>

#include "base/mem.h"
#include "base/netmap.h"
#include "core/conf.h"
#include "core/conf_option.h"
#include "core/conf_private.h"
#include "core/unit.h"

static int find_provider(const struct conf *c, const struct conf_pool *p, struct conf_offer *o,
			 struct err *e)
{
	bool own = o->name[0] == '\0';

	o->provider_index = conf_provider_named(c, o->provider);
	if (o->provider_index < c->nproviders)
		return 0;
	o->provider_index = 0;
	return err_set(e, ERR_INVALID, "%.120s:%d: pool \"%s\": %s%s%sthere is no provider \"%s\"",
		       c->path, o->provider_line, p->name, own ? "" : "offer \"", o->name,
		       own ? "" : "\": ", o->provider);
}

/* The fabric that the option names, or NULL. */
static const char *fabric_in(const char *option)
{
	return conf_is_given(option) && strcmp(option, CONF_FABRIC_NONE) != 0 ? option : NULL;
}

/* A pool without offers has its own place as its ladder. */
static int finish_own(const struct conf *c, struct conf_pool *p, struct err *e)
{
	const struct {
		const char *name, *text;
	} want[] = {{"provider", p->provider}, {"type", p->type}, {"region", p->region}};

	for (size_t i = 0; i < sizeof(want) / sizeof(want[0]); i++)
		if (!conf_is_given(want[i].text))
			return err_set(e, ERR_INVALID,
				       "%.120s:%d: pool \"%.30s\": %s is missing (%s); set it, or "
				       "add an offer",
				       c->path, p->line, p->name, want[i].name,
				       conf_option_find("pool", want[i].name)->help);
	p->own = (struct conf_offer){.name = mem_strdup(""),
				     .provider = p->provider,
				     .type = p->type,
				     .region = p->region,
				     .zone = p->zone,
				     .market = p->spot ? PROVIDER_SPOT : PROVIDER_ON_DEMAND,
				     .price_nano_h = p->price_nano_h,
				     .jurisdiction = p->jurisdiction,
				     .interconnect = p->interconnect,
				     .image = p->image,
				     .in_fabric = fabric_in(p->fabric),
				     .line = p->line,
				     .provider_line = p->provider_line};
	return find_provider(c, p, &p->own, e);
}

static bool same_text(const char *a, const char *b)
{
	return strcmp(a != NULL ? a : "", b != NULL ? b : "") == 0;
}

/* Do both offers buy at one place?  It would refuse both together, so the second is a mistake. */
static bool same_place(const struct conf_offer *a, const struct conf_offer *b)
{
	return same_text(a->provider, b->provider) && same_text(a->type, b->type) &&
	       same_text(a->region, b->region) && same_text(a->zone, b->zone) &&
	       a->market == b->market && same_text(a->in_fabric, b->in_fabric);
}

static int check_twice(const struct conf *c, const struct conf_pool *p, size_t i, struct err *e)
{
	const struct conf_offer *o = &p->offers[i];

	for (size_t k = 0; k < i; k++) {
		if (strcmp(o->name, p->offers[k].name) == 0)
			return err_set(
				e, ERR_INVALID,
				"%.120s:%d: pool \"%.30s\": offer \"%.30s\" is defined twice",
				c->path, o->line, p->name, o->name);
		if (same_place(o, &p->offers[k]))
			return err_set(
				e, ERR_INVALID,
				"%.120s:%d: pool \"%.30s\": offer \"%.30s\" is the same place as "
				"offer \"%.30s\"",
				c->path, o->line, p->name, o->name, p->offers[k].name);
	}
	return 0;
}

static int finish_offers(const struct conf *c, struct conf_pool *p, struct err *e)
{
	if (p->place_line != 0 || conf_is_given(p->provider) || conf_is_given(p->type) ||
	    conf_is_given(p->region))
		return err_set(
			e, ERR_INVALID,
			"%.120s:%d: pool \"%.30s\" has offers: provider, type, region, zone, "
			"market, price and jurisdiction belong in the offers",
			c->path, p->place_line != 0 ? p->place_line : p->line, p->name);
	if (p->noffers > CONF_OFFERS_MAX)
		return err_set(e, ERR_LIMIT, "%.120s:%d: pool \"%.30s\": more than %d offers",
			       c->path, p->offers[CONF_OFFERS_MAX].line, p->name, CONF_OFFERS_MAX);
	for (size_t i = 0; i < p->noffers; i++) {
		struct conf_offer *o = &p->offers[i];

		o->in_fabric = fabric_in(conf_is_given(o->fabric) ? o->fabric : p->fabric);
	}
	for (size_t i = 0; i < p->noffers; i++)
		if (check_twice(c, p, i, e) < 0 || find_provider(c, p, &p->offers[i], e) < 0)
			return -1;
	return 0;
}

static int add_node(struct conf *c, struct conf_pool *p, const char *node, struct err *e)
{
	const struct conf_pool *other = map_get(&c->by_node, node);

	if (other == p)
		return err_set(e, ERR_INVALID, "%.120s:%d: pool \"%s\": node %s is listed twice",
			       c->path, p->nodes_line, p->name, node);
	if (other != NULL)
		return err_set(e, ERR_INVALID,
			       "%.120s:%d: node %s is in pool \"%.30s\" and in pool \"%.30s\"",
			       c->path, p->nodes_line, node, other->name, p->name);
	map_put(&c->by_node, node, p);
	return 0;
}

/* Refuse a fabric for each job with tokens in user-data: a token is for one machine, so each create
 * makes one, and such a fabric is for several. */
static int check_vouchers(const struct conf *c, const struct conf_pool *p, struct err *e)
{
	size_t n;
	const struct conf_offer *o = conf_rungs(p, &n);

	for (size_t i = 0; i < n; i++)
		if (c->providers[o[i].provider_index].vouchers && o[i].in_fabric != NULL &&
		    strcmp(o[i].in_fabric, CONF_FABRIC_JOB) == 0)
			return err_set(e, ERR_INVALID,
				       "%.120s:%d: pool \"%.30s\": fabric = job is impossible with "
				       "release = user-data: each create makes one machine",
				       c->path, conf_is_given(o[i].fabric) ? o[i].line : p->line,
				       p->name);
	return 0;
}

/* What scontrol needs to create its nodes.  Units need nodes in the order of their names, and
 * slurmctld has dynamic ones in that of their creation. */
static int check_dynamic(const struct conf *c, const struct conf_pool *p, struct err *e)
{
	if (p->dynamic && !conf_is_given(p->node))
		return err_set(
			e, ERR_INVALID,
			"%.120s:%d: pool \"%.30s\": dynamic needs node: what slurmctld is to "
			"know of each of its nodes",
			c->path, p->line, p->name);
	if (p->dynamic && p->unit > 0)
		return err_set(e, ERR_INVALID,
			       "%.120s:%d: pool \"%.30s\": dynamic is impossible with unit: "
			       "slurmctld has dynamic nodes in no order",
			       c->path, p->line, p->name);
	return 0;
}

static int finish_pool(struct conf *c, struct conf_pool *p, struct err *e)
{
	struct err why = {0};

	if (hostlist_parse(&p->nodes, p->nodes_text, strlen(p->nodes_text), &why) < 0)
		return err_set(e, (enum err_code)why.code, "%.120s:%d: pool \"%.30s\": %s%s",
			       c->path, p->nodes_line, p->name, why.msg,
			       why.code == ERR_LIMIT ? ", the most that a Slurm cluster can have"
						     : "");
	if (c->by_node.n + p->nodes->n > HOSTLIST_NAMES_MAX)
		return err_set(e, ERR_LIMIT,
			       "%.120s:%d: pool \"%.30s\": its %zu nodes and the %zu of the pools "
			       "before it are more than the %d that Slurm can have in a cluster",
			       c->path, p->nodes_line, p->name, p->nodes->n, c->by_node.n,
			       HOSTLIST_NAMES_MAX);
	if ((p->noffers > 0 ? finish_offers(c, p, e) : finish_own(c, p, e)) < 0 ||
	    check_vouchers(c, p, e) < 0 || unit_finish(c, p, e) < 0 || check_dynamic(c, p, e) < 0)
		return -1;
	if (p->warm > p->max_nodes || p->warm > p->nodes->n)
		return err_set(e, ERR_INVALID,
			       "%.120s:%d: pool \"%.30s\": warm is %u, and there are at most %zu "
			       "nodes (max_nodes, nodes)",
			       c->path, p->line, p->name, p->warm,
			       p->max_nodes < p->nodes->n ? p->max_nodes : p->nodes->n);
	p->provider_index = conf_rungs(p, NULL)->provider_index;
	for (size_t i = 0; i < p->nodes->n; i++)
		if (add_node(c, p, p->nodes->names[i], e) < 0)
			return -1;
	return 0;
}

/* Are names unique?  Quadratic in a small number. */
static int check_names(const struct conf *c, struct err *e)
{
	for (size_t i = 0; i < c->nproviders; i++)
		for (size_t k = 0; k < i; k++)
			if (strcmp(c->providers[i].name, c->providers[k].name) == 0)
				return err_set(e, ERR_INVALID,
					       "%.120s:%d: provider \"%s\" is defined twice",
					       c->path, c->providers[i].line, c->providers[i].name);
	for (size_t i = 0; i < c->npools; i++)
		if (conf_pool_named(c, c->pools[i].name) != &c->pools[i])
			return err_set(e, ERR_INVALID, "%.120s:%d: pool \"%s\" is defined twice",
				       c->path, c->pools[i].line, c->pools[i].name);
	return 0;
}

static int check_maps(const struct conf *c, struct err *e)
{
	struct err why = {0};

	for (size_t i = 0; i < c->nproviders; i++) {
		const struct conf_provider *p = &c->providers[i];

		if (netmap_check(p->address_map != NULL ? p->address_map : "", &why) != 0)
			return err_set(e, (enum err_code)why.code,
				       "%.120s:%d: provider \"%.30s\": address_map: %s", c->path,
				       p->line, p->name, why.msg);
	}
	return 0;
}

int conf_finish(struct conf *c, struct err *e)
{
	assert(c->by_node.n == 0);
	if (c->nproviders > CONF_PROVIDERS_MAX)
		return err_set(e, ERR_LIMIT, "%.120s:%d: more than %d providers", c->path,
			       c->providers[CONF_PROVIDERS_MAX].line, CONF_PROVIDERS_MAX);
	if (c->npools > CONF_POOLS_MAX)
		return err_set(e, ERR_LIMIT, "%.120s:%d: more than %d pools", c->path,
			       c->pools[CONF_POOLS_MAX].line, CONF_POOLS_MAX);
	if (check_names(c, e) < 0 || check_maps(c, e) < 0 || conf_nodes_finish(c, e) < 0)
		return -1;
	for (size_t i = 0; i < c->npools; i++)
		if (finish_pool(c, &c->pools[i], e) < 0)
			return -1;
	return conf_budgets_finish(c, e) < 0 ? -1 : conf_alerts_finish(c, e);
}
