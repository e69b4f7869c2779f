#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/mem.h"
#include "cloud/cloud.h"
#include "core/rates.h"
#include "core/tariff.h"
#include "engine/times.h"
#include "store/journal_price.h"

/* Keeps the price book (core/prices.h): tells it what providers quote, what is configured and what
 * is agreed on, and writes what is new, a slice in each turn.  Only prices of places where a pool
 * may buy are facts that a bill needs. */

/* --- the offers of one provider ----------------------------------------------------------------
 */

struct offers { /* by type */
	const struct cloud *c;
	const struct conf_offer **v;
	size_t n;
};

static int by_type(const void *a, const void *b)
{
	const struct conf_offer *const *x = a, *const *y = b;

	return strcmp((*x)->type, (*y)->type);
}

static void offers_init(struct offers *o, const struct cloud *c)
{
	const struct conf *conf = c->e->conf;
	size_t max = 0;

	for (size_t i = 0; i < conf->npools; i++) {
		size_t n;

		(void)conf_rungs(&conf->pools[i], &n);
		max += n;
	}
	*o = (struct offers){.c = c, .v = mem_zalloc((max + 1) * sizeof(struct conf_offer *))};
	for (size_t i = 0; i < conf->npools; i++) {
		size_t n;
		const struct conf_offer *rungs = conf_rungs(&conf->pools[i], &n);

		for (size_t k = 0; k < n; k++)
			if (&c->e->cloud->all[rungs[k].provider_index] == c)
				o->v[o->n++] = &rungs[k];
	}
	qsort(o->v, o->n, sizeof(struct conf_offer *), by_type);
}

/* The first offer of the type; n: there is none. */
static size_t offers_first(const struct offers *o, const char *type)
{
	size_t lo = 0, hi = o->n;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (strcmp(o->v[mid]->type, type) < 0)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

/* May a pool buy what this quote is of? */
static bool offers_has(const struct offers *o, const struct provider_quote *q)
{
	for (size_t i = offers_first(o, q->type); i < o->n && strcmp(o->v[i]->type, q->type) == 0;
	     i++)
		if (tariff_fits(q, o->v[i]))
			return true;
	return false;
}

/* --- what providers say ------------------------------------------------------------------------
 */

static struct price price_of(const struct cloud *c, const struct provider_quote *q)
{
	struct price p = {.provider = c->conf->name,
			  .region = q->region,
			  .zone = q->zone,
			  .type = q->type,
			  .market = q->market,
			  .source = PRICE_QUOTE,
			  .nano_h = q->price_nano_h,
			  .valid_from_ms = q->valid_from_ms,
			  .observed_ms = engine_now(c->e)};

	memcpy(p.currency, q->currency, sizeof(p.currency));
	return p;
}

static struct price price_of_offer(const struct conf *conf, const struct conf_offer *o)
{
	struct price p = {.provider = conf->providers[o->provider_index].name,
			  .region = o->region,
			  .zone = o->zone != NULL ? o->zone : "",
			  .type = o->type,
			  .market = (enum provider_market)o->market};

	memcpy(p.currency, conf->currency, sizeof(p.currency));
	return p;
}

/* Nothing is bought, or counted, in another currency than the configuration's. */
static bool is_price(const struct cloud *c, const struct provider_quote *q)
{
	return q->price_nano_h > 0 && strcmp(q->currency, c->e->conf->currency) == 0;
}

static void say_quote(struct prices *b, const struct offers *o, const struct provider_quote *q)
{
	struct price p;

	if (q->type[0] != '\0' && is_price(o->c, q) && offers_has(o, q)) {
		p = price_of(o->c, q);
		prices_say(b, &p);
	}
	for (size_t i = 0; q->type[0] == '\0' && q->price_nano_h > 0 && i < o->n; i++) {
		p = price_of_offer(o->c->e->conf, o->v[i]); /* of all types, in any currency */
		p.source = PRICE_QUOTE;
		p.nano_h = q->price_nano_h;
		prices_say(b, &p);
	}
}

static int by_time(const void *a, const void *b)
{
	const struct provider_quote *const *x = a, *const *y = b;

	return ((*x)->valid_from_ms > (*y)->valid_from_ms) -
	       ((*x)->valid_from_ms < (*y)->valid_from_ms);
}

/* Oldest first, so that after a crash the journal has all up to its last row. */
static void say_past(struct prices *b, const struct offers *o)
{
	const struct cloud *c = o->c;
	const struct provider_quote **v =
		mem_zalloc((c->npast + 1) * sizeof(struct provider_quote *));
	size_t n = 0;

	for (size_t i = 0; i < c->npast; i++)
		if (is_price(c, &c->past[i]) && offers_has(o, &c->past[i]))
			v[n++] = &c->past[i];
	qsort(v, n, sizeof(struct provider_quote *), by_time);
	for (size_t i = 0; i < n; i++) {
		const struct price p = price_of(c, v[i]);

		prices_past(b, &p);
	}
	free(v);
}

/* Was the provider asked for this price?  Not once no pool may buy there any more. */
static bool was_asked(void *ctx, const struct price_series *s)
{
	const struct offers *o = ctx;

	if (o->c->asked_before)
		return false; /* perhaps by offers that did not have it yet */
	for (size_t i = offers_first(o, s->type); i < o->n && strcmp(o->v[i]->type, s->type) == 0;
	     i++)
		if ((int)s->market == o->v[i]->market &&
		    (s->region[0] == '\0' || strcmp(s->region, o->v[i]->region) == 0) &&
		    (o->v[i]->zone[0] == '\0' || strcmp(s->zone, o->v[i]->zone) == 0))
			return true;
	return false;
}

static void tell_full(struct engine *e, bool was_full)
{
	if (e->cloud->prices.full && !was_full)
		log_write(e->d.log, LOG_WARN,
			  "the price book is full: prices of more places are not written down",
			  NULL);
}

/* quoted(): a provider has sent all its quotes. */
static void book_quoted(struct cloud *c, struct provider_quote *before, size_t nbefore)
{
	struct prices *b = &c->e->cloud->prices;
	bool full = b->full;
	struct offers o;

	(void)before;
	(void)nbefore;
	if (c->past_due)
		return; /* the past comes first, so that prices are written in their order */
	offers_init(&o, c);
	say_past(b, &o);
	for (size_t i = 0; i < c->nquotes; i++)
		say_quote(b, &o, &c->quotes[i]);
	prices_said(b, c->conf->name, PRICE_QUOTE, engine_now(c->e), was_asked, &o);
	free(o.v);
	tell_full(c->e, full);
}

int64_t book_since(const struct cloud *c, int64_t last_ms)
{
	int64_t now = engine_now(c->e), back = now - PRICES_BACK_MS, known = last_ms;

	if (known == 0)
		known = prices_last_ms(&c->e->cloud->prices, c->conf->name);
	if (known > now) /* somebody has set the clock back since */
		return back;
	return known - ENGINE_OVERLAP_MS > back ? known - ENGINE_OVERLAP_MS : back;
}

/* --- what an admin says ------------------------------------------------------------------------
 */

static void say_configured(struct engine *e)
{
	struct prices *b = &e->cloud->prices;

	for (size_t i = 0; i < e->conf->npools; i++) {
		size_t n;
		const struct conf_offer *rungs = conf_rungs(&e->conf->pools[i], &n);

		for (size_t k = 0; k < n; k++) {
			struct price p = price_of_offer(e->conf, &rungs[k]);

			p.source = PRICE_CONF;
			p.nano_h = rungs[k].price_nano_h;
			if (p.nano_h > 0)
				prices_say(b, &p);
		}
	}
	prices_said(b, NULL, PRICE_CONF, engine_now(e), NULL, NULL);
}

/* A day of the file is a moment of the wall clock.  It is written down as it is: the engine's time
 * differs from that only after somebody has set the clock, and must not move a day. */
static void say_agreed(struct engine *e)
{
	struct prices *b = &e->cloud->prices;
	int64_t wall = engine_wall(e, engine_now(e));

	for (size_t i = 0; i < e->conf->nrates; i++) {
		const struct conf_rate *r = &e->conf->rates[i];
		struct price p = {.provider = r->provider,
				  .region = r->region,
				  .zone = r->zone,
				  .type = r->type,
				  .market = (enum provider_market)r->market,
				  .source = PRICE_CONTRACT,
				  .nano_h = r->price_nano_h,
				  .valid_from_ms = r->from_ms};

		memcpy(p.currency, r->currency, sizeof(p.currency));
		if (r->from_ms > wall)
			continue;
		if (!rates_runs(r, wall)) {
			p.nano_h = PRICE_WITHDRAWN;
			p.valid_from_ms = r->until_ms;
		}
		prices_say(b, &p);
	}
	prices_said(b, NULL, PRICE_CONTRACT, engine_now(e), NULL, NULL);
	wall = rates_next_ms(e->conf, wall);
	e->cloud->rates_next = engine_from_wall(e, wall);
}

static void book_configured(struct engine *e)
{
	bool full = e->cloud->prices.full;

	say_configured(e);
	say_agreed(e);
	tell_full(e, full);
}

static void book_reload(struct engine *e)
{
	for (size_t i = 0; i < e->conf->nproviders; i++)
		e->cloud->all[i].asked_before = true;
	book_configured(e);
}

/* A day has begun on which a negotiated price comes or goes. */
static void look_at_day(struct engine *e)
{
	if (engine_now(e) < e->cloud->rates_next)
		return;
	say_agreed(e);
	engine_tell_quotes(e, true);
}

static void book_clock_set(struct engine *e, int64_t by_ms)
{
	(void)by_ms;
	say_agreed(e);
}

/* --- what it cost ------------------------------------------------------------------------------
 */

int64_t book_price(const struct cloud *c, const struct conf_offer *o, const char *type,
		   const char *zone, int64_t at_ms)
{
	static const enum price_source order[] = {PRICE_CONF, PRICE_QUOTE};
	const struct engine *e = c->e;
	struct price p = price_of_offer(e->conf, o);
	int64_t price = rates_price(e->conf, o, engine_wall(e, at_ms));

	p.type = type[0] != '\0' ? type : p.type;
	p.zone = zone[0] != '\0' ? zone : p.zone;
	for (size_t i = 0; price == 0 && i < sizeof(order) / sizeof(order[0]); i++) {
		p.source = order[i];
		price = prices_at(&e->cloud->prices, &p, at_ms);
		if (price == 0 && order[i] == PRICE_CONF && strcmp(p.type, o->type) == 0)
			price = o->price_nano_h;
	}
	return price;
}

/* --- the journal -------------------------------------------------------------------------------
 */

void book_load(struct engine *e, const struct price *p)
{
	prices_load(&e->cloud->prices, p);
}

static void book_init(struct engine *e)
{
	prices_init(&e->cloud->prices);
	e->cloud->rates_next = INT64_MAX;
}

static void book_write(struct engine *e)
{
	struct price p;

	look_at_day(e);
	for (size_t n = e->slice.write; n > 0 && prices_next(&e->cloud->prices, &p); n--)
		journal_put_price(engine_tx(e), &p);
}

static int64_t book_next_ms(const struct engine *e)
{
	return prices_wait(&e->cloud->prices) ? engine_now(e) : e->cloud->rates_next;
}

static void book_free(struct engine *e)
{
	prices_fini(&e->cloud->prices);
}

const struct engine_part book_part = {
	.name = "price book",
	.at = {[PART_INIT] = book_init,
	       [PART_START] = book_configured,
	       [PART_RELOAD] = book_reload,
	       [PART_RUN] = book_write,
	       [PART_FREE] = book_free},
	.quoted = book_quoted,
	.clock_set = book_clock_set,
	.next_ms = book_next_ms,
};
