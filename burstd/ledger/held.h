/* held.h - a charge that outlives the visit in which it came: its texts are its own. */
#ifndef BURSTD_LEDGER_HELD_H
#define BURSTD_LEDGER_HELD_H

#include "ledger/charge.h"

struct held { /* all zero: none */
	struct charge c;
	char *texts; /* of all its texts, one after the other */
	size_t cap;
};

void held_set(struct held *h, const struct charge *c); /* copies; the one before is gone */
void held_fini(struct held *h);

#endif
