/* journal_price.h - what machines cost, and since when, as it was said: the facts that bills are
 * computed from.
 *
 * A row is never changed: one that is written later holds from its valid_from_ms on, whatever was
 * written before.  So at a moment t a series (provider, region, zone, type, market, and who says
 * so: contract, conf, or the provider by quote and history) has the price of its row with the
 * highest number among those with valid_from_ms <= t.  Of the series that have a price, contract
 * comes before conf, and conf before the provider's.
 *
 * PRICE_WITHDRAWN, of contract and conf: the series has no price from then on.  Of the provider: it
 * sells nothing at that price any more; what runs goes on at the last one, which nobody has
 * confirmed since.  Without any row there is no price: never 0. */
#ifndef BURSTD_JOURNAL_PRICE_H
#define BURSTD_JOURNAL_PRICE_H

#include <stdint.h>

#include "base/err.h"
#include "core/prices.h"

struct journal;
struct journal_tx;

/* prices_next() gives what is new: nothing here checks that. */
void journal_put_price(struct journal_tx *tx, const struct price *p);

/* The rows with numbers beyond `after`, rising, at most limit of them.  The first number is 1.  A
 * visit that does not return 0 ends it, which is no error. */
typedef int (*journal_price_fn)(void *ctx, int64_t seq, const struct price *p);
int journal_prices(struct journal *j, int64_t after, unsigned limit, journal_price_fn fn, void *ctx,
		   struct err *e);

#endif
