#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "cloud/cloud.h"

/* burstd asks one provider what the types of its pools cost, page by page, every ENGINE_QUOTES_MS.
 */

struct asking { /* for one page of quotes */
	char cursor[PROVIDER_CURSOR_MAX + 1];
	const char *types[];
};

static void quotes_failed(struct cloud *c)
{
	pages_end(&c->quoting);
	c->quotes_next = engine_now(c->e) + ENGINE_RETRY_MAX_MS;
	free(c->coming);
	c->coming = NULL;
	c->ncoming = 0;
}

static void keep_coming(struct cloud *c, const struct provider_result *r)
{
	if (r->nquotes == 0)
		return;
	c->coming = mem_realloc(c->coming, (c->ncoming + r->nquotes) * sizeof(*c->coming));
	memcpy(c->coming + c->ncoming, r->quotes, r->nquotes * sizeof(*c->coming));
	c->ncoming += r->nquotes;
}

static void take(struct cloud *c)
{
	struct provider_quote *before = c->quotes;
	size_t nbefore = c->nquotes;

	c->quotes = c->coming;
	c->nquotes = c->ncoming;
	c->coming = NULL;
	c->ncoming = 0;
	c->quotes_known = true;
	c->quotes_next = engine_now(c->e) + ENGINE_QUOTES_MS;
	engine_quotes(c->e, c, before, nbefore);
	free(before);
}

static void on_quotes(struct cloud *c, void *ctx, const struct provider_result *r)
{
	enum pages_next next = pages_answered(&c->quoting, r, engine_now(c->e));
	const char *why = next == PAGES_ENDLESS ? "its pages do not end" : NULL;

	(void)ctx;
	if (next == PAGES_AGAIN)
		return;
	if (next == PAGES_MORE || next == PAGES_DONE)
		keep_coming(c, r);
	if (next == PAGES_MORE && c->ncoming >= ENGINE_QUOTES_MAX)
		why = "too many quotes";
	if (next == PAGES_DONE && c->ncoming == 0)
		why = "none at all: not believed";
	if (why != NULL)
		cloud_complain(c, PROVIDER_QUOTES, "invalid", why);
	if (why != NULL || next == PAGES_FAILED)
		quotes_failed(c);
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
static void quotes_page(struct cloud *c)
{
	const struct conf *conf = c->e->conf;
	struct provider_op op = {.kind = PROVIDER_QUOTES};
	struct asking *ask;
	size_t n = 0;

	if (!c->quoting.due || !cloud_ready(c, PROVIDER_QUOTES))
		return;
	c->quoting.due = false;
	for (size_t i = 0; i < conf->npools; i++)
		n += types_here(c, &conf->pools[i], NULL);
	ask = mem_zalloc(sizeof(*ask) + n * sizeof(ask->types[0]));
	for (size_t i = 0; i < conf->npools; i++)
		op.u.quotes.ntypes +=
			types_here(c, &conf->pools[i], ask->types + op.u.quotes.ntypes);
	(void)snprintf(ask->cursor, sizeof(ask->cursor), "%s", c->quoting.cursor);
	op.u.quotes.types = ask->types;
	op.cursor = ask->cursor;
	cloud_send(c, &op, on_quotes, ask);
}

void quotes_run(struct cloud *c)
{
	int64_t now = engine_now(c->e);

	if (!c->quoting.busy && now >= c->quotes_next && cloud_ready(c, PROVIDER_QUOTES))
		pages_begin(&c->quoting, now);
	quotes_page(c);
}

int64_t quotes_next_ms(const struct cloud *c)
{
	return c->quoting.busy ? INT64_MAX : c->quotes_next;
}
