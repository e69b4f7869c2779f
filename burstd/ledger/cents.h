/* cents.h - rounds the rows of a page so that they add up to its rounded total.
 *
 * Each row is cut to a whole unit (a cent, a tenth of an hour), and what the total then lacks goes,
 * one unit each, to the rows that lost most; of equal ones to the first.  So a row is less than one
 * unit from its exact amount.  Rows may be negative. */
#ifndef BURSTD_LEDGER_CENTS_H
#define BURSTD_LEDGER_CENTS_H

#include <stddef.h>
#include <stdint.h>

/* v in whole units, rounded half to even.  unit is above 0. */
int64_t cents_of(int64_t v, int64_t unit);
/* Round n amounts to whole units whose sum is `total`, in units: the sum of v, rounded up or down.
 */
void cents_split(const int64_t *v, size_t n, int64_t unit, int64_t total, int64_t *out);
/* How many decimals a currency has: 2, of yen 0. */
int cents_places(const char *currency);

#endif
