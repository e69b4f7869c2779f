/* rates.h - negotiated prices: what an admin agreed with a provider, as prices.conf says.
 *
 * A rate is the price of a type in one market, in one zone, one region or everywhere, from one day
 * to another.  It wins over the price of an offer in burstd.conf, and that over the provider's
 * quote.  Of several rates for an offer the most exact one counts: one of its zone, else one of its
 * region, else one of all regions.  Days begin at midnight UTC, so a rate comes and goes without a
 * reload.
 *
 * io/prices_file reads the file into struct conf; this is what it means. */
#ifndef BURSTD_RATES_H
#define BURSTD_RATES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "core/conf_option.h"

struct conf;
struct conf_offer;

enum { CONF_RATES_MAX = 4096 }; /* far more than anybody negotiates; each reload sorts them */

struct conf_rate {
	char *provider;      /* title: the name of its section in burstd.conf */
	char *region, *zone; /* "": any; a zone has its region */
	char *type;
	int market;                /* enum provider_market */
	int64_t price_nano_h;      /* > 0, nano-units per hour and instance */
	char currency[4];          /* the one of burstd.conf */
	int64_t from_ms, until_ms; /* wall clock; from 0: ever since; until 0: for good, else the
				      first moment without it */
	char *note;                /* for people */
	int line;                  /* in prices.conf, where its section ends */
};

/* The options of a section of prices.conf; offsets are of struct conf_rate. */
extern const struct conf_option rates_options[];
extern const size_t rates_noptions;

/* Check what was read into c->rates and sort it, once, after conf_finish().  -1: *e begins
 * "FILE:LINE: ", of prices.conf. */
int rates_finish(struct conf *c, struct err *e);
void rates_fini(struct conf *c); /* free c->rates */

/* The rate of this offer at wall_ms; NULL: there is none. */
const struct conf_rate *rates_find(const struct conf *c, const struct conf_offer *o,
				   int64_t wall_ms);
int64_t rates_price(const struct conf *c, const struct conf_offer *o, int64_t wall_ms); /* or 0 */
/* The price that an admin has set: that of the rate, else the offer's own; 0: neither. */
int64_t rates_set_price(const struct conf *c, const struct conf_offer *o, int64_t wall_ms);

static inline bool rates_runs(const struct conf_rate *r, int64_t wall_ms)
{
	return r->from_ms <= wall_ms && (r->until_ms == 0 || wall_ms < r->until_ms);
}
/* When the next rate comes or goes, after wall_ms; INT64_MAX: none will. */
int64_t rates_next_ms(const struct conf *c, int64_t wall_ms);

/* Do both files say the same?  Notes and lines do not count. */
bool rates_same(const struct conf *a, const struct conf *b);

#endif
