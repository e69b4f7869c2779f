/* sim_book.h - the prices in the simulator's journal, and the judge of what is written there: no
 * price is 0, none is written that is known already, and a provider's never go back in time. */
#ifndef SIM_BOOK_H
#define SIM_BOOK_H

#include "core/prices.h"
#include "store/journal.h"
#include "world.h"

enum { SIM_BOOK_MAX = 256 };

struct sim_quote { /* a row */
	char provider[16], region[16], zone[16], type[24];
	struct price p; /* without its texts */
};

struct sim_book { /* the last row of each series */
	struct sim_quote v[SIM_BOOK_MAX];
	size_t n;
};

struct sim_quote sim_quote_of(const struct price *p);
void sim_book_put(struct world *w, struct sim_book *b, const struct sim_quote *f);
int sim_book_load(const struct sim_book *b, const struct journal_visitor *v, struct err *e);

#endif
