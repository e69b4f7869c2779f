/* hold.h - what is held for each generation; only hold*.c include it. */
#ifndef BURSTD_MONEY_HOLD_H
#define BURSTD_MONEY_HOLD_H

#include "money/money.h"

/* A machine that outlives its hold is held for so much longer. */
enum { HOLD_MORE_MS = 120000 };

struct hold { /* one hold */
	struct hold *next;
	uint64_t job;    /* 0: of the machine itself */
	uint32_t hold;   /* its number in the budgets */
	int64_t made_ms; /* an older squeue does not know of it */
	bool seen;       /* scratch: squeue shows the job on the node */
};

struct hold_node { /* one generation */
	struct hold_node *next, **prev;
	char key[HOSTLIST_NAME_MAX + 32];
	char node[HOSTLIST_NAME_MAX + 1];
	uint64_t gen;
	bool drained; /* since its budget was used up */
	bool written; /* the journal has its holds; before that its row is not there either */
	struct hold *first;
};

struct hold_node *hold_find(const struct engine *e, const char *node, uint64_t gen); /* or NULL */
/* The one of this generation; makes it. */
struct hold_node *hold_node_of(struct engine *e, const char *node, uint64_t gen);
/* Begin a hold; the journal gets it if it has the others. */
struct hold *hold_add(struct engine *e, struct hold_node *g, uint64_t job,
		      const struct budget_hold *h);
/* Replace its times; likewise. */
void hold_change(struct engine *e, struct hold_node *g, struct hold *h, int64_t from_ms,
		 int64_t until_ms);
/* End it without anything spent. */
void hold_drop(struct engine *e, struct hold_node *g, struct hold *h);
/* End it: from its begin until end_ms was spent. */
void hold_settle(struct engine *e, struct hold_node *g, struct hold *h, int64_t end_ms);
/* Write all holds of the generation, which is being written itself. */
void hold_write(struct engine *e, struct hold_node *g);
/* Drop what is left, and forget the generation. */
void hold_end(struct engine *e, struct hold_node *g);
const struct budget_hold *hold_of(const struct engine *e, const struct hold *h);
void hold_free(struct engine *e);
/* Hold for machines that nothing is held for, and for nothing else.  holds_load.c. */
void holds_mend(struct engine *e);
/* The machine of a row, as it is held for. */
struct budget_machine hold_machine(const struct engine *e, const struct fleet_node *fn);

#endif
