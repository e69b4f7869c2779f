/* meter.h - what an instance costs from its begin to any moment.
 *
 * The sum is kept exact and rounded once, half to even, at the moment that is asked for.  So a
 * period of any length costs the difference of two readings, and periods that follow each other add
 * up to the whole bill, wherever they are cut.  Times are whole seconds, UTC; money is nano-units
 * of one currency. */
#ifndef BURSTD_LEDGER_METER_H
#define BURSTD_LEDGER_METER_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

__extension__ typedef __int128 meter_sum; /* nano-units an hour x seconds */

enum meter_mode {                /* which price a second has */
		  METER_INSTANT, /* the one in effect then */
		  METER_HOUR,    /* the one in effect as that hour of the instance began */
		  METER_LAUNCH,  /* the one in effect as the instance began */
};

struct meter_policy {
	int64_t granularity_s; /* time is billed in such steps; above 0 */
	int64_t minimum_s;
	enum meter_mode mode;
	int64_t reclaim_free_s; /* nothing is billed if the provider takes it back sooner */
};

struct meter_price {
	int64_t at_s;   /* in effect from then on */
	int64_t nano_h; /* an hour; not negative */
};

struct meter_bill { /* of one instance; borrowed */
	const struct meter_policy *policy;
	const struct meter_price *prices; /* in order of time; of equal times the last counts */
	size_t nprices;
	int64_t start_s, end_s; /* when it began and ended; end_s is not earlier */
};

struct meter {
	const struct meter_bill *bill;
	int64_t at_s;
	meter_sum sum;
};

/* The end of the time that is billed: policy's steps and minimum, from start_s on. */
int64_t meter_end(const struct meter_bill *b);
/* The next moment after t_s at which the price may change; INT64_MAX: none. */
int64_t meter_change(const struct meter_bill *b, int64_t t_s);

void meter_begin(struct meter *m, const struct meter_bill *b); /* at start_s: 0 */
/* Go on to to_s, not earlier than before.  *nano: the cost from start_s on.  Time after end_s has
 * the price of the last second before it.  -1: no price is known for some second, or the amount is
 * too large. */
int meter_to(struct meter *m, int64_t to_s, int64_t *nano, struct err *e);

#endif
