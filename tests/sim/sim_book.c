#include "sim_book.h"

#include <stdio.h>
#include <string.h>

struct sim_quote sim_quote_of(const struct price *p)
{
	struct sim_quote f = {.p = *p};

	(void)snprintf(f.provider, sizeof(f.provider), "%.15s", p->provider);
	(void)snprintf(f.region, sizeof(f.region), "%.15s", p->region);
	(void)snprintf(f.zone, sizeof(f.zone), "%.15s", p->zone);
	(void)snprintf(f.type, sizeof(f.type), "%.23s", p->type);
	return f;
}

static bool same_series(const struct sim_quote *a, const struct sim_quote *b)
{
	return strcmp(a->provider, b->provider) == 0 && strcmp(a->region, b->region) == 0 &&
	       strcmp(a->zone, b->zone) == 0 && strcmp(a->type, b->type) == 0 &&
	       a->p.market == b->p.market &&
	       (a->p.source >= PRICE_QUOTE ? b->p.source >= PRICE_QUOTE
					   : a->p.source == b->p.source);
}

static void judge(struct world *w, const struct sim_quote *had, const struct sim_quote *f)
{
	if (f->p.nano_h == 0 || f->p.nano_h < PRICE_WITHDRAWN)
		world_fail(w, "I22: %s has the price %lld", f->type, (long long)f->p.nano_h);
	if (f->p.valid_from_ms > f->p.observed_ms)
		world_fail(w, "the price of %s is from %lld, and was heard at %lld", f->type,
			   (long long)f->p.valid_from_ms, (long long)f->p.observed_ms);
	if (had == NULL)
		return;
	if (had->p.nano_h == f->p.nano_h && strcmp(had->p.currency, f->p.currency) == 0)
		world_fail(w, "I25: the price of %s is written, and has not changed", f->type);
	if (f->p.valid_from_ms < had->p.valid_from_ms &&
	    had->p.valid_from_ms <= f->p.observed_ms) /* else the clock was set back */
		world_fail(w, "the price of %s is from before the last one", f->type);
}

void sim_book_put(struct world *w, struct sim_book *b, const struct sim_quote *f)
{
	size_t i = 0;

	while (i < b->n && !same_series(&b->v[i], f))
		i++;
	judge(w, i < b->n ? &b->v[i] : NULL, f);
	if (i == SIM_BOOK_MAX) {
		world_fail(w, "I25: prices of more places than there are");
		return;
	}
	b->v[i] = *f;
	b->n += i == b->n;
}

int sim_book_load(const struct sim_book *b, const struct journal_visitor *v, struct err *e)
{
	for (size_t i = 0; v->price != NULL && i < b->n; i++) {
		struct price p = b->v[i].p;

		p.provider = b->v[i].provider;
		p.region = b->v[i].region;
		p.zone = b->v[i].zone;
		p.type = b->v[i].type;
		if (v->price(v->ctx, &p, e) != 0)
			return -1;
	}
	return 0;
}
