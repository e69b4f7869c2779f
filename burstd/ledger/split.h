/* split.h - divides an amount of money by weights, so that the parts add up to the last nano-unit.
 *
 * Largest remainder: each part gets the whole nano-units of its exact share; those that are then
 * left go, one each, to the parts with the largest fractions, of equal ones to the first.  So each
 * part is less than one nano-unit away from its exact share.  A negative amount is divided as the
 * positive one. */
#ifndef BURSTD_LEDGER_SPLIT_H
#define BURSTD_LEDGER_SPLIT_H

#include <stddef.h>
#include <stdint.h>

/* Divide nano, not INT64_MIN, by n weights into parts.  -1: all weights are 0, and nothing is
 * written. */
int split(int64_t nano, const uint64_t *weights, size_t n, int64_t *parts);

#endif
