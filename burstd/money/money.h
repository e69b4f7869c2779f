/* money.h - what burstd writes down and decides about money: the facts that bills are computed
 * from, what is set aside for each machine and job, and how long nodes take to become useful. */
#ifndef BURSTD_MONEY_MONEY_H
#define BURSTD_MONEY_MONEY_H

#include "core/budget_job.h"
#include "core/payer.h"
#include "core/stages.h"
#include "engine/kernel.h"
#include "money/money_api.h"
#include "store/journal_money.h"

enum {
	MONEY_SAID = 4096, /* jobs; what is said of one is written again after so many others */
	MONEY_UNSAID = 1 << 16,  /* jobs that squeue is to tell of; sacct tells of more */
	MONEY_REFUSED = 4096,    /* jobs that wait for money, and are counted: 150 bytes each */
	MONEY_UNTOLD_MS = 30000, /* from a refusal until slurmctld has been told to wait */
	/* From the order to delete a machine until it bills no more, at most: promises.md, P4. */
	HOLDS_END_MS = 150000,
	MONEY_LINE_SIZE = 2 * (PROVIDER_WORD_MAX + 1),
};

struct hold_node;

struct money_state {
	struct stages stages;
	struct money_said {
		uint64_t job, hash; /* of what slurmctld said of it last */
	} said[MONEY_SAID];         /* by number of the job */
	uint64_t *unsaid;           /* jobs that nodes were bought for, and who pays is not known */
	size_t nunsaid, unsaid_cap;
	size_t asked; /* so many of them squeue is being asked for */

	struct budgets *budgets; /* NULL: engine_deps.report_zone is */
	struct budget_times times;
	struct map held;         /* name and generation -> struct hold_node */
	struct hold_node *nodes; /* all of them */
	size_t nruns;            /* holds for jobs that run */
	int64_t asked_ms;        /* when squeue was asked last */
	int64_t look_ms;         /* squeue is asked next which of them still do */
	int64_t watch_ms;        /* holds that are about to end are looked at next */
	bool refused;            /* some job waits for money ... */
	bool freed;              /* ... and there is more than before */
	int64_t freed_ms;        /* when such jobs were last let try again */
	int64_t forget_day;      /* what was spent before it is forgotten */
	struct money_refused {
		uint64_t job;
		int64_t at_ms;
		char line[MONEY_LINE_SIZE]; /* of which budget and value: show.c */
	} * refusals; /* jobs that wait for money; some may not wait any more */
	size_t nrefusals;
};

/* --- facts.c --- */
extern const struct engine_part facts_part;
/* Write what slurmctld says of a job that nodes are bought for, unless it said the same before. */
void facts_said(struct engine *e, uint64_t job, const struct payer *p);
/* Ask squeue who pays for this job, to write that. */
void facts_ask(struct engine *e, uint64_t job);

/* --- holds.c --- */
extern const struct engine_part holds_part;
/* The budgets, where plans try jobs; NULL: there are none. */
struct budgets *holds_budgets(const struct engine *e);
/* A row was made that is not written yet: set aside what it and its job may cost.  p NULL: who pays
 * is not known, or it is for no job. */
void holds_bought(struct engine *e, struct fleet_node *fn, const struct payer *p);
/* A job was refused for want of money. */
void holds_refused(struct engine *e, uint64_t job, const struct budget_no *no);

/* --- show.c --- */
/* Count the job among those that wait for this budget, until it waits no more.  0: a job that is
 * not known. */
void show_refused(struct engine *e, uint64_t job, const struct budget_no *no);
void show_bought(struct engine *e, uint64_t job); /* it has nodes, and does not wait */
void show_forget(struct engine *e);               /* drop those that wait no more */

/* --- holds_load.c --- */
int holds_load(struct engine *e, const struct journal_hold *h, struct err *err);
int holds_load_day(struct engine *e, const struct journal_spent *s);

#endif
