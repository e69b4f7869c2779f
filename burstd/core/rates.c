#include "core/rates.h"

#include <stdlib.h>
#include <string.h>

#include "core/conf.h"
#include "core/conf_option.h"
#include "core/conf_private.h"

#define RATE(field) offsetof(struct conf_rate, field)

/* clang-format off */
const struct conf_option rates_options[] = {
	{"price", "region", "",
	 "region; empty: all",
	 true, CONF_WORD, 0, 0, RATE(region)},
	{"price", "zone", "",
	 "zone of that region; empty: all",
	 true, CONF_WORD, 0, 0, RATE(zone)},
	{"price", "type", NULL,
	 "instance type as the provider names it",
	 true, CONF_WORD, 0, 0, RATE(type)},
	{"price", "market", "on-demand",
	 "on-demand, spot or reserved",
	 true, CONF_MARKETS, 0, 0, RATE(market)},
	{"price", "price", NULL,
	 "price of one instance for one hour",
	 true, CONF_MONEY, 0, 0, RATE(price_nano_h)},
	{"price", "currency", NULL,
	 "currency of the price: that of burstd.conf",
	 true, CONF_CURRENCY, 0, 0, RATE(currency)},
	{"price", "from", "",
	 "first day, such as 2026-11-01; empty: ever since",
	 true, CONF_DATE, 0, 0, RATE(from_ms)},
	{"price", "until", "",
	 "first day without it, such as 2027-11-01; empty: for good",
	 true, CONF_DATE, 0, 0, RATE(until_ms)},
	{"price", "note", "",
	 "what people should know of it",
	 true, CONF_PHRASE, 0, 0, RATE(note)},
};
/* clang-format on */
const size_t rates_noptions = sizeof(rates_options) / sizeof(rates_options[0]);

void rates_fini(struct conf *c)
{
	for (size_t i = 0; i < c->nrates; i++) {
		for (size_t k = 0; k < rates_noptions; k++)
			conf_option_fini(&rates_options[k], &c->rates[i]);
		free(c->rates[i].provider);
	}
	free(c->rates);
	c->rates = NULL;
	c->nrates = 0;
}

/* --- the order ---------------------------------------------------------------------------------
 *
 * By what an offer is looked up with, then by the rest of the place, then by time: rates of one
 * place stand together, and overlap only with their neighbours. */

static int compare(const char *a, const char *b, int before)
{
	return before != 0 ? before : strcmp(a, b);
}

static int compare_offered(const struct conf_rate *a, const struct conf_rate *b)
{
	int by = compare(a->provider, b->provider, 0);

	by = compare(a->type, b->type, by);
	return by != 0 ? by : (a->market > b->market) - (a->market < b->market);
}

static int compare_place(const struct conf_rate *a, const struct conf_rate *b)
{
	return compare(a->zone, b->zone, compare(a->region, b->region, compare_offered(a, b)));
}

static int by_place(const void *x, const void *y)
{
	const struct conf_rate *a = x, *b = y;
	int by = compare_place(a, b);

	return by != 0 ? by : (a->from_ms > b->from_ms) - (a->from_ms < b->from_ms);
}

/* --- the check ---------------------------------------------------------------------------------
 */

static int check_rate(const struct conf *c, const struct conf_rate *r, struct err *e)
{
	if (conf_provider_named(c, r->provider) == c->nproviders)
		return err_set(e, ERR_INVALID, "%.120s:%d: there is no provider \"%s\" in %.80s",
			       c->prices_file, r->line, r->provider, c->path);
	if (strcmp(r->currency, c->currency) != 0)
		return err_set(e, ERR_INVALID, "%.120s:%d: currency is %s, and %s in %.80s",
			       c->prices_file, r->line, r->currency, c->currency, c->path);
	if (r->price_nano_h <= 0)
		return err_set(e, ERR_INVALID, "%.120s:%d: price: want more than 0", c->prices_file,
			       r->line);
	if (r->zone[0] != '\0' && r->region[0] == '\0')
		return err_set(e, ERR_INVALID, "%.120s:%d: zone %.60s: its region is missing",
			       c->prices_file, r->line, r->zone);
	if (r->until_ms != 0 && r->until_ms <= r->from_ms)
		return err_set(e, ERR_INVALID, "%.120s:%d: until is not after from", c->prices_file,
			       r->line);
	return 0;
}

int rates_finish(struct conf *c, struct err *e)
{
	if (c->nrates > CONF_RATES_MAX)
		return err_set(e, ERR_LIMIT, "%.120s:%d: more than %d prices", c->prices_file,
			       c->rates[CONF_RATES_MAX].line, CONF_RATES_MAX);
	for (size_t i = 0; i < c->nrates; i++)
		if (check_rate(c, &c->rates[i], e) < 0)
			return -1;
	if (c->nrates > 0)
		qsort(c->rates, c->nrates, sizeof(*c->rates), by_place);
	for (size_t i = 1; i < c->nrates; i++) {
		const struct conf_rate *a = &c->rates[i - 1], *b = &c->rates[i];
		const struct conf_rate *later = a->line > b->line ? a : b;

		if (compare_place(a, b) == 0 && (a->until_ms == 0 || b->from_ms < a->until_ms))
			return err_set(e, ERR_INVALID,
				       "%.120s:%d: overlaps the price that ends in line %d: the "
				       "same provider, region, zone, type and market",
				       c->prices_file, later->line,
				       a->line > b->line ? b->line : a->line);
	}
	return 0;
}

/* --- what an offer costs -----------------------------------------------------------------------
 */

/* The first rate of the offer's provider, type and market, by bisection; nrates: there is none. */
static size_t first_of(const struct conf *c, const struct conf_rate *want)
{
	size_t lo = 0, hi = c->nrates;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (compare_offered(&c->rates[mid], want) < 0)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

/* How exactly the rate names the offer's place; 0: it is of another. */
static int exact(const struct conf_rate *r, const struct conf_offer *o)
{
	if (r->region[0] == '\0')
		return 1;
	if (strcmp(r->region, o->region) != 0)
		return 0;
	if (r->zone[0] == '\0')
		return 2;
	/* An offer of any zone may be made in another. */
	return o->zone != NULL && strcmp(r->zone, o->zone) == 0 ? 3 : 0;
}

const struct conf_rate *rates_find(const struct conf *c, const struct conf_offer *o,
				   int64_t wall_ms)
{
	struct conf_rate want = {.type = o->type, .market = o->market};
	const struct conf_rate *best = NULL;

	if (c->nrates == 0)
		return NULL;
	want.provider = c->providers[o->provider_index].name;
	for (size_t i = first_of(c, &want);
	     i < c->nrates && compare_offered(&c->rates[i], &want) == 0; i++) {
		const struct conf_rate *r = &c->rates[i];

		if (rates_runs(r, wall_ms) && exact(r, o) > (best != NULL ? exact(best, o) : 0))
			best = r;
	}
	return best;
}

int64_t rates_price(const struct conf *c, const struct conf_offer *o, int64_t wall_ms)
{
	const struct conf_rate *r = rates_find(c, o, wall_ms);

	return r != NULL ? r->price_nano_h : 0;
}

int64_t rates_set_price(const struct conf *c, const struct conf_offer *o, int64_t wall_ms)
{
	int64_t rate = rates_price(c, o, wall_ms);

	return rate != 0 ? rate : o->price_nano_h;
}

int64_t rates_next_ms(const struct conf *c, int64_t wall_ms)
{
	int64_t next = INT64_MAX;

	for (size_t i = 0; i < c->nrates; i++) {
		const struct conf_rate *r = &c->rates[i];

		if (r->from_ms > wall_ms && r->from_ms < next)
			next = r->from_ms;
		if (r->until_ms > wall_ms && r->until_ms < next)
			next = r->until_ms;
	}
	return next;
}

bool rates_same(const struct conf *a, const struct conf *b)
{
	if (a->nrates != b->nrates)
		return false;
	for (size_t i = 0; i < a->nrates; i++) {
		const struct conf_rate *x = &a->rates[i], *y = &b->rates[i];

		if (by_place(x, y) != 0 || x->until_ms != y->until_ms ||
		    x->price_nano_h != y->price_nano_h)
			return false;
	}
	return true;
}
