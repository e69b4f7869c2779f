#include "ledger/prices.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

struct prices_fact {
	int64_t at_s, nano_h;
	unsigned rank;
	size_t number;
};

void prices_fini(struct prices *p)
{
	free(p->facts);
	free(p->steps);
	*p = (struct prices){0};
}

void prices_add(struct prices *p, int64_t at_s, unsigned rank, int64_t nano_h)
{
	if (p->n == p->cap) {
		p->cap = p->cap == 0 ? 8 : 2 * p->cap;
		p->facts = mem_realloc(p->facts, p->cap * sizeof(*p->facts));
	}
	if (p->list && rank >= PRICES_CONF && rank < PRICES_DEAL)
		rank -= PRICES_CONF - PRICES_BOOK;
	else if (p->list && rank >= PRICES_BOOK && rank < PRICES_CONF)
		rank += PRICES_CONF - PRICES_BOOK;
	p->facts[p->n] = (struct prices_fact){at_s, nano_h, rank, p->n};
	p->n++;
}

static int by_time(const void *a, const void *b)
{
	const struct prices_fact *x = a, *y = b;

	if (x->at_s != y->at_s)
		return x->at_s < y->at_s ? -1 : 1;
	return x->number < y->number ? -1 : x->number > y->number;
}

/* The best of the price book; 0: it has none. */
static int64_t best(const int64_t now[PRICES_NRANKS])
{
	for (int r = PRICES_NRANKS - 1; r >= PRICES_BOOK; r--)
		if (now[r] > 0)
			return now[r];
	return 0;
}

struct sweep { /* what holds at a moment */
	int64_t now[PRICES_NRANKS];
	int64_t kept; /* the last price, of one that is not quoted any more; 0: none */
};

static int64_t price_now(const struct sweep *w)
{
	const int64_t each = best(w->now);

	if (each > 0)
		return each;
	if (w->kept > 0)
		return w->kept;
	return w->now[PRICES_RATE] > 0 ? w->now[PRICES_RATE] : PRICES_GAP;
}

/* Only a quote's end keeps its price: after the end of a contract the next in the order counts. */
static void take(struct sweep *w, const struct prices_fact *f, bool list)
{
	const int64_t had = best(w->now);
	const bool quote = f->rank >= PRICES_BOOK && f->rank < PRICES_CONF;

	w->now[f->rank] = f->nano_h;
	if (had > 0 || f->rank == PRICES_RATE)
		w->kept = quote && f->nano_h <= 0 && !list ? had : 0;
}

/* The first rate holds before it, too. */
static void find_rate(const struct prices *p, struct sweep *w)
{
	for (size_t i = 0; i < p->n; i++)
		if (p->facts[i].rank == PRICES_RATE && p->facts[i].nano_h > 0) {
			w->now[PRICES_RATE] = p->facts[i].nano_h;
			return;
		}
}

void prices_finish(struct prices *p)
{
	struct sweep w = {.kept = 0};

	if (p->n > 0)
		qsort(p->facts, p->n, sizeof(*p->facts), by_time);
	p->steps = mem_zalloc((p->n + 1) * sizeof(*p->steps));
	find_rate(p, &w);
	p->steps[p->nsteps++] = (struct meter_price){INT64_MIN, price_now(&w)};
	for (size_t i = 0; i < p->n; i++) {
		struct meter_price *last = &p->steps[p->nsteps - 1];
		int64_t each;

		take(&w, &p->facts[i], p->list);
		each = price_now(&w);
		if (last->at_s == p->facts[i].at_s)
			last->nano_h = each;
		else if (last->nano_h != each)
			p->steps[p->nsteps++] = (struct meter_price){p->facts[i].at_s, each};
	}
}

int64_t prices_at(const struct prices *p, int64_t t_s)
{
	size_t i = p->nsteps;

	while (i > 0 && p->steps[i - 1].at_s > t_s)
		i--;
	return i > 0 ? p->steps[i - 1].nano_h : PRICES_GAP;
}

int prices_rank(const char *source, const char *region, const char *zone, const char *in_region,
		const char *in_zone)
{
	int rank = strcmp(source, "contract") == 0 ? PRICES_DEAL
		   : strcmp(source, "conf") == 0   ? PRICES_CONF
						   : PRICES_BOOK;

	if ((region[0] != '\0' && strcmp(region, in_region) != 0) ||
	    (zone[0] != '\0' && strcmp(zone, in_zone) != 0))
		return -1;
	return rank + (zone[0] != '\0') + 2 * (region[0] != '\0');
}
