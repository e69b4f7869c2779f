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

static int64_t best(const int64_t now[PRICES_NRANKS])
{
	for (int r = PRICES_NRANKS - 1; r >= 0; r--)
		if (now[r] > 0)
			return now[r];
	return PRICES_GAP;
}

void prices_finish(struct prices *p)
{
	int64_t now[PRICES_NRANKS] = {0};
	bool rated = false;

	if (p->n > 0)
		qsort(p->facts, p->n, sizeof(*p->facts), by_time);
	p->steps = mem_zalloc((p->n + 1) * sizeof(*p->steps));
	for (size_t i = 0; i < p->n && !rated; i++) {
		rated = p->facts[i].rank == PRICES_RATE && p->facts[i].nano_h > 0;
		if (rated)
			now[PRICES_RATE] = p->facts[i].nano_h;
	}
	p->steps[p->nsteps++] = (struct meter_price){INT64_MIN, best(now)};
	for (size_t i = 0; i < p->n; i++) {
		struct meter_price *last = &p->steps[p->nsteps - 1];
		int64_t each;

		now[p->facts[i].rank] = p->facts[i].nano_h;
		each = best(now);
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
	int rank = strcmp(source, "contract") == 0 ? PRICES_DEAL : PRICES_BOOK;

	if ((region[0] != '\0' && strcmp(region, in_region) != 0) ||
	    (zone[0] != '\0' && strcmp(zone, in_zone) != 0))
		return -1;
	return rank + (zone[0] != '\0') + 2 * (region[0] != '\0');
}
