#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "cloud/cloud.h"

/* burstd asks one provider what the types of its pools cost, page by page, every ENGINE_OFFERS_MS.
 */

struct asking { /* for one page of offers */
	char cursor[PROVIDER_CURSOR_MAX + 1];
	const char *types[];
};

static void offers_failed(struct cloud *c)
{
	pages_end(&c->offering);
	c->offers_next = engine_now(c->e) + ENGINE_RETRY_MAX_MS;
	free(c->coming);
	c->coming = NULL;
	c->ncoming = 0;
}

static void keep_coming(struct cloud *c, const struct provider_result *r)
{
	if (r->noffers == 0)
		return;
	c->coming = mem_realloc(c->coming, (c->ncoming + r->noffers) * sizeof(*c->coming));
	memcpy(c->coming + c->ncoming, r->offers, r->noffers * sizeof(*c->coming));
	c->ncoming += r->noffers;
}

static void take(struct cloud *c)
{
	struct provider_offer *before = c->offers;
	size_t nbefore = c->noffers;

	c->offers = c->coming;
	c->noffers = c->ncoming;
	c->coming = NULL;
	c->ncoming = 0;
	c->offers_known = true;
	c->offers_next = engine_now(c->e) + ENGINE_OFFERS_MS;
	engine_quotes(c->e, c, before, nbefore);
	free(before);
}

static void on_offers(struct cloud *c, void *ctx, const struct provider_result *r)
{
	enum pages_next next = pages_answered(&c->offering, r, engine_now(c->e));
	const char *why = next == PAGES_ENDLESS ? "its pages do not end" : NULL;

	(void)ctx;
	if (next == PAGES_AGAIN)
		return;
	if (next == PAGES_MORE || next == PAGES_DONE)
		keep_coming(c, r);
	if (next == PAGES_MORE && c->ncoming >= ENGINE_OFFERS_MAX)
		why = "more of them than can be read";
	if (next == PAGES_DONE && c->ncoming == 0)
		why = "none at all: not believed";
	if (why != NULL)
		cloud_complain(c, PROVIDER_OFFERS, "invalid", why);
	if (why != NULL || next == PAGES_FAILED)
		offers_failed(c);
	if (why != NULL || next != PAGES_DONE)
		return;
	take(c);
}

/* Collect the types that a pool may buy here, each once; types NULL: only count them. */
static size_t types_here(const struct cloud *c, const struct conf_pool *p, const char **types)
{
	size_t n, some = 0;
	const struct conf_offer *rungs = conf_rungs(p, &n);

	for (size_t i = 0; i < n; i++) {
		bool again = &c->e->cloud->all[rungs[i].provider_index] != c;

		for (size_t k = 0; k < i && !again; k++)
			again = rungs[k].provider_index == rungs[i].provider_index &&
				strcmp(rungs[k].type, rungs[i].type) == 0;
		if (!again && types != NULL)
			types[some] = rungs[i].type;
		some += !again;
	}
	return some;
}

/* Ask for the types of the pools.  Their names live as long as a configuration that a request on
 * the wire may name. */
static void offers_page(struct cloud *c)
{
	const struct conf *conf = c->e->conf;
	struct provider_op op = {.kind = PROVIDER_OFFERS};
	struct asking *ask;
	size_t n = 0;

	if (!c->offering.due || !cloud_ready(c, PROVIDER_OFFERS))
		return;
	c->offering.due = false;
	for (size_t i = 0; i < conf->npools; i++)
		n += types_here(c, &conf->pools[i], NULL);
	ask = mem_zalloc(sizeof(*ask) + n * sizeof(ask->types[0]));
	for (size_t i = 0; i < conf->npools; i++)
		op.u.offers.ntypes +=
			types_here(c, &conf->pools[i], ask->types + op.u.offers.ntypes);
	(void)snprintf(ask->cursor, sizeof(ask->cursor), "%s", c->offering.cursor);
	op.u.offers.types = ask->types;
	op.u.offers.cursor = ask->cursor;
	cloud_send(c, &op, on_offers, ask);
}

void offers_run(struct cloud *c)
{
	int64_t now = engine_now(c->e);

	if (!c->offering.busy && now >= c->offers_next && cloud_ready(c, PROVIDER_OFFERS))
		pages_begin(&c->offering, now);
	offers_page(c);
}

int64_t offers_next_ms(const struct cloud *c)
{
	return c->offering.busy ? INT64_MAX : c->offers_next;
}
