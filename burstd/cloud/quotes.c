#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "base/mem.h"
#include "cloud/cloud.h"
#include "engine/times.h"

/* burstd asks one provider what the types of its pools cost, page by page, every ENGINE_QUOTES_MS.
 */

struct asking { /* for one page of quotes */
	char cursor[PROVIDER_CURSOR_MAX + 1];
	const char *types[];
};

/* Give up the past if it cannot be had, so that the present can. */
static void past_failed(struct cloud *c, bool for_good)
{
	char text[200], at[FMT_TIME_SIZE];

	if (!c->past_asked || (++c->past_tries < ENGINE_PAST_TRIES && !for_good))
		return;
	c->past_due = false;
	c->past_tries = 0;
	(void)snprintf(text, sizeof(text), "%.63s does not tell its prices since %.19sZ: %.60s",
		       c->conf->name, engine_time(c->e, at, c->since_ms),
		       c->error[0] != '\0' ? c->error : "it does not answer");
	engine_event(c->e, "", 0, "price-gap", text);
}

static void quotes_failed(struct cloud *c, bool for_good)
{
	past_failed(c, for_good);
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

/* --- present and past --------------------------------------------------------------------------
 */

enum { PLACE_SIZE = 3 * (PROVIDER_WORD_MAX + 1) + 16 };

static const char *place_key(char *out, const struct provider_quote *q)
{
	(void)snprintf(out, PLACE_SIZE, "%s\n%s\n%s\n%d", q->type, q->region, q->zone,
		       (int)q->market);
	return out;
}

struct latest {    /* of a place */
	size_t at; /* in c->coming */
	char key[PLACE_SIZE];
};

static bool is_dated(const struct cloud *c)
{
	for (size_t i = 0; i < c->ncoming; i++)
		if (c->coming[i].valid_from_ms != 0)
			return true;
	return false;
}

/* The earlier one of two quotes of a place becomes past. */
static void keep_latest(struct cloud *c, struct provider_quote *had, const struct provider_quote *q)
{
	const bool is_later = q->valid_from_ms > had->valid_from_ms;

	c->past[c->npast++] = is_later ? *had : *q;
	if (is_later)
		*had = *q;
}

/* Leave only the latest of the dated quotes of each place in c->coming; the others go into c->past.
 * They come in any order. */
static void part_past(struct cloud *c)
{
	struct latest *all = mem_zalloc((c->ncoming + 1) * sizeof(*all));
	size_t n = 0, nall = 0;
	struct map places;

	map_init(&places);
	c->past = mem_zalloc((c->ncoming + 1) * sizeof(*c->past));
	for (size_t i = 0; i < c->ncoming; i++) {
		struct latest *l = &all[nall], *had = NULL;
		struct provider_quote q = c->coming[i];

		q.valid_from_ms = times_from(c, q.valid_from_ms);
		if (q.valid_from_ms != 0)
			had = map_get(&places, place_key(l->key, &q));
		if (had != NULL) {
			keep_latest(c, &c->coming[had->at], &q);
			continue;
		}
		c->coming[n] = q;
		l->at = n++;
		if (q.valid_from_ms != 0) {
			map_put(&places, l->key, l);
			nall++;
		}
	}
	map_fini(&places);
	free(all);
	c->ncoming = n;
}

/* Ask for the past next, if burstd has not asked for a while; the prices of now have come first,
 * since purchases wait for them.  last_ms: of the quotes before; 0: none since the start. */
static void look_for_gap(struct cloud *c, int64_t last_ms)
{
	if ((c->caps.flags & PROVIDER_PAST) == 0 ||
	    (last_ms != 0 && c->quotes_ms - last_ms <= ENGINE_GAP_MS))
		return;
	c->past_due = true;
	c->past_tries = 0;
	c->since_ms = book_since(c, last_ms);
	c->quotes_next = engine_now(c->e);
}

static void take(struct cloud *c)
{
	struct provider_quote *before = c->quotes;
	size_t nbefore = c->nquotes;
	int64_t last_ms = c->quotes_ms;

	if (is_dated(c))
		part_past(c);
	c->quotes = c->coming;
	c->nquotes = c->ncoming;
	c->coming = NULL;
	c->ncoming = 0;
	c->quotes_known = true;
	c->quotes_ms = c->quoting.began_ms;
	c->quotes_next = engine_now(c->e) + ENGINE_QUOTES_MS;
	if (c->past_asked)
		c->past_due = false;
	else
		look_for_gap(c, last_ms);
	engine_quotes(c->e, c, before, nbefore);
	free(before);
	free(c->past);
	c->past = NULL;
	c->npast = 0;
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
		quotes_failed(c, why != NULL);
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
	op.u.quotes.since_ms = c->past_asked ? times_of(c, c->since_ms) : 0;
	op.cursor = ask->cursor;
	cloud_send(c, &op, on_quotes, ask);
}

void quotes_run(struct cloud *c)
{
	int64_t now = engine_now(c->e);

	if (!c->quoting.busy && now >= c->quotes_next && cloud_ready(c, PROVIDER_QUOTES)) {
		pages_begin(&c->quoting, now);
		c->past_asked = c->past_due;
		c->asked_before = false;
	}
	quotes_page(c);
}

int64_t quotes_next_ms(const struct cloud *c)
{
	return c->quoting.busy ? INT64_MAX : c->quotes_next;
}
