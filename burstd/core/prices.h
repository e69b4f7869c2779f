/* prices.h - the price book: what an hour of a machine costs in each place, and since when.
 *
 * Several may say a price of one place: a negotiated rate (rates.h), an offer in burstd.conf, and
 * the provider.  Each is a series of its own, and the first of these that has a price counts.  The
 * book notices what is new in what is said, and gives it, once and in order, to be written to the
 * journal (store/journal_price.h); the same price said again is not new.  It has the newest row of
 * each series and what was said lately, so that an instance that is found gets the price at which
 * it was created.
 *
 * A price is never 0: what has no price has no row.  A price that ends without another one is
 * PRICE_WITHDRAWN from then on: nothing is sold at it any more, and nobody has said what a machine
 * that runs costs since.  It goes on at the last price, which is never taken for none.
 *
 * Times are the engine's, in ms.  Pure: no I/O. */
#ifndef BURSTD_PRICES_H
#define BURSTD_PRICES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/map.h"
#include "core/provider.h"

enum {
	PRICES_MAX = 65536,      /* series: 1,000 types in 10 zones, said by three, twice over */
	PRICES_STEPS_MAX = 1024, /* of one series in memory: a spot price that moves six times an
				    hour */
	PRICES_KEEP_MS =
		8 * 86400000, /* how long a step stays in memory: PRICES_BACK_MS, and a day */
	PRICES_BACK_MS = 7 * 86400000, /* so far back a provider is asked for its past */
};

#define PRICE_WITHDRAWN INT64_C(-1)

enum price_source {
	PRICE_CONTRACT, /* prices.conf */
	PRICE_CONF,     /* an offer of burstd.conf */
	PRICE_QUOTE,    /* the provider, while burstd ran */
	PRICE_HISTORY,  /* the provider, later, of a time in which burstd did not ask */
	PRICE_NSOURCES
};

struct price {                     /* texts are borrowed */
	const char *provider;      /* name of its section */
	const char *region, *zone; /* "": any, or not said */
	const char *type;
	enum provider_market market;
	enum price_source source;
	char currency[4];
	int64_t nano_h;        /* nano-units per hour and instance, > 0; or PRICE_WITHDRAWN */
	int64_t valid_from_ms; /* since when it is so */
	int64_t observed_ms;   /* when burstd learned of it */
};

struct price_step {
	int64_t from_ms, nano_h;
	char currency[4];
};

struct price_series {   /* one place, as one of them says it; quote and history are one */
	char *key;      /* all of the following, joined */
	char *type_key; /* of the first series of a provider and type, else NULL */
	char *words;    /* the texts */
	const char *provider, *region, *zone, *type;
	enum provider_market market;
	enum price_source source; /* never PRICE_HISTORY */
	struct price_step *steps; /* rising */
	size_t nsteps, cap;
	struct price_step said;    /* in this round; nano_h 0: nothing yet */
	struct price_series *next; /* of the same provider and type */
};

struct price_row { /* to be written */
	const struct price_series *of;
	struct price_step step;
	enum price_source source;
	int64_t observed_ms;
};

struct prices {
	struct map by_key, by_type;
	struct price_series **v;
	size_t n, cap;
	struct price_row *rows; /* from rows_at on they are still to be written */
	size_t nrows, rows_cap, rows_at;
	bool full; /* some series has no place */
};

void prices_init(struct prices *b);
void prices_fini(struct prices *b);

/* Take the newest row of a series from the journal. */
void prices_load(struct prices *b, const struct price *p);

/* Say a price, in a round that prices_said() ends.  Of several that a round says of one series the
 * highest counts, of one currency.  valid_from_ms 0: since now.  PRICE_WITHDRAWN with a time: the
 * price has ended then, unless the round says another. */
void prices_say(struct prices *b, const struct price *p);
/* May the series be withdrawn, of which a round said nothing?  Not if nobody was asked for it. */
typedef bool (*prices_asked_fn)(void *ctx, const struct price_series *s);
/* End a round: what is new becomes rows to be written.  provider NULL: of all; asked NULL: all
 * were asked for. */
void prices_said(struct prices *b, const char *provider, enum price_source source, int64_t now_ms,
		 prices_asked_fn asked, void *ctx);
/* Say a price of the past, PRICE_HISTORY, before the round in which the present one is said, each
 * series in the order of time.  It is new if it is later than all that is known. */
void prices_past(struct prices *b, const struct price *p);

/* Take the next row to be written; false: there is none.  Its texts live as long as the book. */
bool prices_next(struct prices *b, struct price *out);
static inline bool prices_wait(const struct prices *b)
{
	return b->rows_at < b->nrows;
}

/* What it cost at at_ms as the source of `place` says (HISTORY: as QUOTE), in the currency of
 * `place`, in nano-units; 0: the book does not know.  region or zone "", in the book or in `place`:
 * any, and of several the highest.  A quote that was withdrawn is the last one before. */
int64_t prices_at(const struct prices *b, const struct price *place, int64_t at_ms);
/* When the last price of this provider's own began; 0: the book has none. */
int64_t prices_last_ms(const struct prices *b, const char *provider);

const char *price_source_str(enum price_source s); /* "contract", "conf", "quote", "history" */
int price_source_parse(const char *word);          /* -1: none of these */

#endif
