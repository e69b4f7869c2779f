/* journal_rolls.h - how far each offer is with a new image (core/roll.h). */
#ifndef BURSTD_JOURNAL_ROLLS_H
#define BURSTD_JOURNAL_ROLLS_H

#include "core/roll.h"

struct journal_tx;

struct journal_roll {
	const char *pool, *offer; /* by name; borrowed */
	struct roll r;
};

void journal_put_roll(struct journal_tx *tx, const struct journal_roll *x);

#endif
