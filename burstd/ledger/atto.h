/* atto.h - amounts of invoices, which have more decimals than the ledger has: 1e-18 of a unit.
 *
 * They are added up exactly, and rounded to nano-units once, so that they add up to the rounded
 * sum. */
#ifndef BURSTD_LEDGER_ATTO_H
#define BURSTD_LEDGER_ATTO_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

__extension__ typedef __int128 atto;

/* "-12.5", "1.2E-7": a decimal number, below nine billion units; decimals beyond the 18th are
 * rounded half to even.  -1: *e says what is wrong with it. */
int atto_parse(const char *text, atto *out, struct err *e);
/* In nano-units, half to even.  -1: nine billion units or more. */
int atto_nano(atto v, int64_t *out, struct err *e);
/* n amounts in nano-units, which add up to `sum`: that of v, rounded to nano-units.  Each is less
 * than one from its exact amount; what is left goes to the largest fractions, of equal ones to the
 * first. */
void atto_split(const atto *v, size_t n, int64_t sum, int64_t *out);

#endif
