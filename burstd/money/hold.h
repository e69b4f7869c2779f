/* hold.h - what is held for each generation; only hold*.c include it. */
#ifndef BURSTD_MONEY_HOLD_H
#define BURSTD_MONEY_HOLD_H

#include "money/money.h"

/* A machine that outlives its hold is held for so much longer. */
enum {
	HOLD_MORE_MS = 120000,
	/* Until slurmctld has told its settings. */
	HOLDS_OVER_MS = 60000,
	HOLDS_IDLE_MS = 600000,
};

struct hold { /* one hold */
	struct hold *next;
	uint64_t job;    /* 0: of the machine itself */
	uint32_t hold;   /* its number in the budgets */
	int64_t made_ms; /* an older squeue does not know of it; 0: in an earlier life */
	bool seen;       /* scratch: squeue shows the job on the node */
	/* Of a job: its share of the node was read again since burstd started, by a squeue with all
	 * columns of slurmctld's release.  Until then it may be held for all of it. */
	bool shared;
	int64_t span_ms;    /* likewise: how long the job may run, when squeue was read last; 0: it
			     * was not */
	int64_t stopped_ms; /* likewise: it was suspended then; 0: it was not */
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
/* From its begin on it costs so much; likewise. */
void hold_reprice(struct engine *e, struct hold_node *g, struct hold *h, int64_t rate_nano_h);
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
/* holds_times.c: what slurmctld's settings say of budget_times. */
void holds_settings(struct engine *e, const char *text, size_t len, int64_t asked_ms);
void holds_times_free(struct engine *e);
/* The machine of a row, as it is held for. */
struct budget_machine hold_machine(const struct engine *e, const struct fleet_node *fn);

#endif
