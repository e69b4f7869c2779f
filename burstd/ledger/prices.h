/* prices.h - which price an instance had at each moment, out of all that is known: a contract's
 * before burstd.conf's before the provider's, each of its own zone before those of any; and if the
 * price book has none, the rate by which burstd counted.  What the provider does not quote any more
 * goes on at its last price.  No price is known is never free: it is a gap.  Pure. */
#ifndef BURSTD_LEDGER_PRICES_H
#define BURSTD_LEDGER_PRICES_H

#include <stdbool.h>
#include <stddef.h>

#include "ledger/meter.h"

enum prices_rank {              /* the higher counts */
		   PRICES_RATE, /* burstd's rate; the first of these holds before it, too */
		   PRICES_BOOK, /* the provider's, any zone or region; with the own zone one more,
				   region two */
		   PRICES_CONF = PRICES_BOOK + 4, /* burstd.conf's, likewise */
		   PRICES_DEAL = PRICES_CONF + 4, /* a contract's, likewise */
		   PRICES_NRANKS = PRICES_DEAL + 4,
};

#define PRICES_GAP (-1) /* nano_h of a step: not known from then on */

struct prices { /* all zero: none */
	/* List prices: the provider's before burstd.conf's; what is not quoted is not known. */
	bool list;
	struct prices_fact *facts;
	size_t n, cap;
	struct meter_price *steps; /* after prices_finish() */
	size_t nsteps;
};

void prices_fini(struct prices *p);
/* From at_s on; nano_h not above 0: withdrawn.  Of one rank and moment the last counts. */
void prices_add(struct prices *p, int64_t at_s, unsigned rank, int64_t nano_h);
/* Make the steps. */
void prices_finish(struct prices *p);
/* The price at t_s; PRICES_GAP: none is known. */
int64_t prices_at(const struct prices *p, int64_t t_s);

/* The rank of a row of the price book for a machine in that region and zone; -1: it is not for it.
 * "" in a row: any. */
int prices_rank(const char *source, const char *region, const char *zone, const char *in_region,
		const char *in_zone);

#endif
