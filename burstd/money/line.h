/* line.h - what is remembered of each budget, or value of its `each`, beside its sums: how far its
 * ladder has got, and what the journal says of its period.  Only money/ includes it. */
#ifndef BURSTD_MONEY_LINE_H
#define BURSTD_MONEY_LINE_H

#include "money/money.h"
#include "store/journal_budget.h"

struct money_line {
	char key[MONEY_LINE_SIZE];
	int64_t begin_ms; /* of the period that this is about; 0: of a rolling one */
	/* When the period's spending reached each step of the ladder; 0: it has not. */
	int64_t since_ms[BUDGET_NSTEPS];
	int64_t amount, own, added, carried, spent, held; /* as written last ... */
	int64_t written_ms;                               /* ... at this time; 0: not yet */
	/* The period that ended last, as written last since burstd started. */
	struct money_last {
		int64_t begin_ms, spent, held, written_ms; /* written_ms 0: not yet */
	} last;
};

/* A budget and its value; no name has a line break. */
void money_line_key(char out[MONEY_LINE_SIZE], const char *budget, const char *value);
/* The one of this line, in its present period; makes it. */
struct money_line *money_line_of(struct engine *e, const struct budget_line *l);
/* Likewise; NULL: nothing is known of it. */
const struct money_line *money_line_find(const struct engine *e, const struct budget_line *l);
/* Write its row in the transaction that is being built. */
void money_line_write(struct engine *e, struct money_line *m, const struct budget_line *l);
/* Budgets are others now: a step that a line's budget does not have any more was never reached,
 * should it ever have it again. */
void money_lines_configure(struct engine *e);
/* Write those that have changed, some at a time. */
void money_lines_watch(struct engine *e);
void money_lines_init(struct engine *e);
void money_lines_free(struct engine *e);

#endif
