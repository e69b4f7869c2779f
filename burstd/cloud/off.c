#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "base/log.h"
#include "cloud/cloud.h"
#include "store/journal_nodes.h"

/* Turns off providers that cannot be used, so that the others work.
 *
 * A provider is off while its files cannot be read or its driver cannot be opened, which is tried
 * again each minute; and when the configuration does not have it any more, which only a restart can
 * change.  burstd sends it no requests, so it buys nothing there; its rows stay, count and cost.
 *
 * A pool that the configuration does not have any more has no nodes and buys nothing: its rows are
 * treated like those of nodes that were removed from a pool, and their provider is asked as usual.
 */

enum { OFF_AGAIN_MS = 60000 };

/* --- sections that only the journal has --------------------------------------------------------
 */

/* A row from before pools had offers has no provider's name: it is of the only provider of its
 * pool. */
static void keep_provider(struct engine *e, const char *provider, uint32_t pool)
{
	uint32_t at;

	if (provider[0] != '\0')
		(void)conf_keep_provider(e->conf, provider);
	else if (!cloud_find(e, pool, "", &at))
		(void)conf_keep_provider(e->conf, OFF_UNKNOWN);
}

static int keep_node(void *ctx, const struct node *n, const char *pool, struct err *err)
{
	struct engine *e = ctx;

	(void)err;
	if (node_counts(n)) /* otherwise the row has ended */
		keep_provider(e, n->provider, conf_keep_pool(e->conf, pool));
	return 0;
}

static int keep_batch(void *ctx, const struct journal_batch *b, struct err *err)
{
	struct engine *e = ctx;

	(void)err;
	keep_provider(e, b->provider, conf_keep_pool(e->conf, b->pool));
	return 0;
}

/* Keep a removed pool for the sum of its bills; beyond the limit of pools the sum is only in the
 * bills. */
static int keep_spent(void *ctx, const char *pool, int64_t cost_nano, struct err *err)
{
	struct engine *e = ctx;

	(void)err;
	if (cost_nano > 0 && e->conf->npools < CONF_POOLS_MAX)
		(void)conf_keep_pool(e->conf, pool);
	return 0;
}

/* Add to the configuration the sections that only rows of the journal name. */
static int off_keep(struct engine *e, struct err *err)
{
	const struct journal_visitor v = {
		.node = keep_node, .batch = keep_batch, .spent = keep_spent, .ctx = e};

	return journal_load(e->d.journal, &v, err);
}

/* --- providers that are off --------------------------------------------------------------------
 */

const char *engine_off(const struct engine *e, size_t provider)
{
	return off_why(&e->cloud->all[provider]);
}

static void tell(struct cloud *c)
{
	char text[400];

	(void)snprintf(text, sizeof(text), "%.63s%s%.300s", c->conf->name, off_is(c) ? ": " : "",
		       c->off);
	engine_event(c->e, "", 0, off_is(c) ? "provider-off" : "provider-on", text);
	log_write(c->e->d.log, off_is(c) ? LOG_ERROR : LOG_INFO,
		  off_is(c) ? "a provider is off" : "a provider is on again", "provider",
		  c->conf->name, "error", off_is(c) ? c->off : NULL, NULL);
}

static void close_driver(struct cloud *c)
{
	c->ops->close(c->self);
	c->self = NULL;
	c->caps = (struct provider_caps){.flags = 0};
}

/* Open the provider's driver, and what depends on it. */
static int open_driver(struct cloud *c, struct err *err)
{
	struct engine *e = c->e;
	size_t i = (size_t)(c - e->cloud->all);
	struct conf_provider *p = &e->conf->providers[i];
	const char *credential = NULL;
	struct provider_conf pc;

	if (e->d.files != NULL && e->d.files(e->d.ctx, p, i, &credential, err) != 0)
		return -1;
	pc = conf_for_driver(p, credential);
	if (c->ops->open(&c->self, &pc, err) != 0)
		return -1;
	c->caps = c->ops->caps(c->self);
	assert(c->caps.create_max > 0 && c->caps.delete_max > 0);
	cloud_limit(c, c->caps.limits);
	limit_together(&c->limit, &c->caps.together, engine_now(e));
	c->off[0] = '\0';
	/* At the start the parts check this when all providers are open. */
	if (!e->started || engine_may_use(e, i, err) == 0)
		return 0;
	close_driver(c);
	return -1;
}

static void set_off(struct cloud *c, const char *why)
{
	(void)snprintf(c->off, sizeof(c->off), "%s", why[0] != '\0' ? why : "it cannot be opened");
	c->e->cloud->aways = true;
}

void off_open(struct cloud *c)
{
	struct err err = {0};

	c->off_next = INT64_MAX;
	if (c->conf->removed) {
		set_off(c, strcmp(c->conf->name, OFF_UNKNOWN) == 0
				   ? "rows of an older burstd do not say where they were bought"
				   : "the configuration does not have it any more");
		return;
	}
	if (open_driver(c, &err) == 0)
		return;
	set_off(c, err.msg);
	c->off_next = engine_now(c->e) + OFF_AGAIN_MS;
}

void off_shut(struct cloud *c, const char *why)
{
	assert(!off_is(c));
	close_driver(c);
	set_off(c, why);
	c->off_next = engine_now(c->e) + OFF_AGAIN_MS;
}

void off_run(struct cloud *c)
{
	char was[sizeof(c->off)];

	if (!off_is(c) || engine_now(c->e) < c->off_next)
		return;
	memcpy(was, c->off, sizeof(was));
	off_open(c);
	if (strcmp(was, c->off) != 0)
		tell(c);
	engine_commit(c->e);
	if (off_is(c))
		return;
	away_back(c);
	cloud_hurry(c);
}

void off_hurry(struct engine *e)
{
	for (size_t i = 0; i < e->conf->nproviders; i++)
		if (off_is(&e->cloud->all[i]) && !e->cloud->all[i].conf->removed)
			e->cloud->all[i].off_next = engine_now(e);
}

void off_start(struct engine *e)
{
	for (size_t i = 0; i < e->conf->nproviders; i++)
		if (off_is(&e->cloud->all[i]))
			tell(&e->cloud->all[i]);
	for (size_t i = 0; i < e->conf->npools; i++)
		if (e->conf->pools[i].removed && e->fleet.pools[i].nodes > 0)
			log_write(e->d.log, LOG_ERROR,
				  "a pool is not in the configuration any more", "pool",
				  e->conf->pools[i].name, NULL);
}

const struct engine_part off_part = {
	.name = "removed sections",
	.complete = off_keep,
};
