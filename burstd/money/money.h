/* money.h - what burstd writes down and decides about money: the facts that bills are computed
 * from, what is set aside for each machine and job, and how long nodes take to become useful. */
#ifndef BURSTD_MONEY_MONEY_H
#define BURSTD_MONEY_MONEY_H

#include "core/budget_job.h"
#include "core/payer.h"
#include "core/stages.h"
#include "engine/kernel.h"
#include "jobs/job.h"
#include "money/money_api.h"
#include "store/journal_alerts.h"
#include "store/journal_budget.h"
#include "store/journal_money.h"

enum {
	MONEY_SAID = 4096,     /* jobs; what is said of one is written again after so many others */
	MONEY_LATER = 1 << 14, /* jobs of which it is written later what is said; 12 MB */
	MONEY_UNSAID = 1 << 16, /* jobs that squeue is to tell of; sacct tells of more */
	MONEY_WAITS = 1 << 14,  /* jobs that wait for money; others do until the next day */
	MONEY_WITH = 7,     /* other components of a job; of more it is not known what they need */
	ACCOUNTS_MET = 256, /* accounts that are not known; each is asked for once */
	/* A refused job that does not wait counts for so long as one that is about to ... */
	MONEY_UNTOLD_MS = 30000,
	/* ... and may be told to wait: slurmctld may be slow, and a job that it did not take away
	 * is sent back once more. */
	MONEY_UNSENT_MS = 600000,
	/* A job that may try again has bought its nodes by then, or has ended: slurmctld holds it
	 * back for two minutes since it was requeued, and starts it at its next turn.  Where it
	 * holds jobs back for longer the promise lasts longer, up to an hour more. */
	MONEY_PROMISE_MS = 300000,
	MONEY_HELD_MS = 121000,
	MONEY_HELD_MAX_MS = 3600000,
	/* From the order to delete a machine until it bills no more, at most: promises.md, P4. */
	HOLDS_END_MS = 150000,
	/* From when a budget is used up until that is noticed, and acted on, beside its grace. */
	LADDER_LATE_MS = 20000,
	/* ... and while a job waits for its checkpoint_command, since others' run. */
	LADDER_SAVE_MS = 600000,
	MONEY_LINE_SIZE = PROVIDER_WORD_MAX + 1 + BUDGET_VALUE_MAX + 1,
};

struct alerts;
struct hold_node;
struct hostlist;
struct plan_no_budget;
struct slurm_order;

struct money_wait { /* holds_wait.c: a job that waits for money, and what it lacks */
	struct job_part in;
	int64_t at_ms; /* when it was refused */
	/* Nodes were bought for it since.  It may wait all the same: some of its nodes were refused
	 * before, so that it is sent back. */
	bool bought;
	bool paid;  /* there is enough for it now */
	bool first; /* scratch: of that, it goes before those that were refused later */
	struct budget_no no;
	/* Components of its heterogeneous job; `no` has what the first of them held when they were
	 * counted. */
	uint64_t with[MONEY_WITH];
	size_t nwith, ncounted;
};

struct money_promise { /* promises.c: a job that may try again, and what is kept for it */
	struct job_part in;
	int64_t at_ms;
	struct budget_no no;
};

struct money_state {
	struct stages stages;
	struct money_said {
		uint64_t job, hash; /* of what slurmctld said of it last */
	} said[MONEY_SAID];         /* by number of the job */
	uint64_t *unsaid;           /* jobs that nodes were bought for, and who pays is not known */
	size_t nunsaid, unsaid_cap;
	size_t asked;        /* so many of them squeue is being asked for */
	struct money_later { /* what slurmctld said of a job, which is not written yet */
		uint64_t job;
		int64_t at_ms;
		struct payer payer;
	} * later;
	size_t nlater, later_cap;

	struct budgets *budgets; /* NULL: engine_deps.report_zone is */
	struct budget_times times;
	bool times_known;         /* slurmctld has told its settings since burstd started */
	bool no_prolog;           /* slurmctld has no PrologSlurmctld, so no job asks */
	struct map held;          /* name and generation -> struct hold_node */
	struct hold_node *nodes;  /* all of them */
	int64_t asked_ms;         /* when squeue was asked last */
	int64_t look_ms;          /* squeue is asked next which of them still do */
	int64_t watch_ms;         /* holds that are about to end are looked at next */
	size_t beside;            /* at most so many struct money_wait.with are to be counted */
	size_t nwaits, npromises; /* jobs with a struct money_wait, and a struct money_promise */
	struct map lines;         /* budget and value -> struct money_line: line.h */
	struct money_line **all_lines;
	size_t nlines, lines_next;
	int64_t lines_forget_ms;
	struct overrides {
		struct money_override *v; /* by id */
		size_t n;
	} overrides;
	struct ladders {           /* ladder.c */
		bool any;          /* some budget ends what runs */
		bool due;          /* ... and some do now */
		bool jobs_end;     /* ... jobs, too, so squeue is asked */
		int64_t look_ms;   /* sums are looked at next */
		int64_t squeue_ms; /* jobs likewise */
		int64_t asked_ms;  /* ... and they were last */
		bool crowded;      /* a job waits until its checkpoint_command can run */
	} ladders;
	struct accounts { /* accounts.c */
		bool known, asking;
		bool none; /* slurmctld keeps none, so no account is below another */
		int64_t next_ms, asked_ms;
		int64_t answered_ms; /* when the last answer was asked for */
		char why[256];       /* why they are not known; "": no answer has come */
		struct account_met { /* accounts that were not known, by name */
			uint64_t hash;
			int64_t at_ms;
		} met[ACCOUNTS_MET];
		size_t next_met;
	} accounts;
	bool freed;         /* there may be more money than before */
	int64_t freed_ms;   /* when it was last looked for whom there is enough */
	int64_t forget_day; /* what was spent before it is forgotten */
	int64_t since_ms;   /* JOURNAL_BUDGETS_SINCE */
	struct alerts *alerts;
};

/* --- facts.c --- */
extern const struct engine_part facts_part;
/* Write what slurmctld says of a job that nodes are bought for, unless it said the same before: in
 * a moment, when the creates are out. */
void facts_said(struct engine *e, uint64_t job, const struct payer *p);
/* Ask squeue who pays for this job, to write that. */
void facts_ask(struct engine *e, uint64_t job);

/* --- holds.c --- */
extern const struct engine_part holds_part, holds_jobs_part;
/* The budgets, where plans try jobs; NULL: there are none. */
struct budgets *holds_budgets(const struct engine *e);
/* A period, or what was added to one, may have ended since budgets were last asked: before they are
 * asked to let something start. */
void holds_now(struct engine *e);
/* A row was made that is not written yet: set aside what it and its job may cost.  p NULL: who pays
 * is not known, or it is for no job. */
void holds_bought(struct engine *e, struct fleet_node *fn, const struct payer *p);
/* Does the boot of this generation go on, for budgets?  An event REGISTERED ends it. */
bool holds_boots(const struct engine *e, const struct node *n);
/* slurmctld may call for the nodes of a job one after the other.  What lacks money for the last of
 * them is the whole job, which gives those back that are on their way: count what they hold, for
 * each of these n. */
void holds_whole(const struct engine *e, struct plan_no_budget *all, size_t n);
/* Likewise for one job, all of whose nodes these are. */
void holds_whole_at(const struct engine *e, uint64_t job, const struct hostlist *nodes,
		    struct budget_no *no);
/* A job was refused for want of money: it is tried again when there is enough. */
void holds_refused(struct engine *e, uint64_t job, const struct budget_no *no);

/* --- lines.c --- */
int money_lines_load(struct engine *e, const struct journal_budget *b);
int money_lines_load_past(struct engine *e, const struct journal_past *p);

/* --- overrides.c --- */
int overrides_load(struct engine *e, const struct journal_override *o);
void overrides_start(struct engine *e); /* they count from now on */
const struct money_override *override_find(const struct engine *e, int64_t id); /* or NULL */
void overrides_free(struct engine *e);

/* --- ladder.c, ladder_jobs.c, ladder_fate.c --- */
extern const struct engine_part ladder_part;
void ladder_drained_load(struct engine *e, const char *node, uint64_t gen); /* after holds */
void ladder_jobs_load(struct engine *e, const struct journal_ending *j);
/* What became of an order to slurmctld about jobs. */
void ladder_told(struct engine *e, const struct slurm_order *o, const struct err *err);
/* squeue shows what became of jobs that were told to save their work, by SLURM_FATES. */
void ladder_fates(struct engine *e, const char *text, size_t len, const struct err *err);
/* Since when what machines cost was counted, before this start. */
int holds_since_load(struct engine *e, struct err *err);

/* --- accounts.c --- */
extern const struct engine_part accounts_part;
/* Is the tree of accounts not known yet, though budgets need it? */
bool accounts_lack(const struct engine *e);
/* A job has this account.  true: it is not known yet whether it is below another. */
bool accounts_lack_place(struct engine *e, const char *account);
void accounts_answer(struct engine *e, const char *text, size_t len, const struct err *err);

/* --- holds_wait.c --- */
void holds_waits_turn(struct engine *e); /* let jobs try again for which there is money now */
int64_t holds_waits_next_ms(const struct engine *e);
void holds_waits_forget(struct engine *e); /* all are tried again, by the configuration's change */
/* Drop those that wait no more, and let go those that wait and were dropped. */
void holds_waits_tidy(struct engine *e);
void holds_waits_bought(struct engine *e, uint64_t job); /* nodes are bought for it */
/* The job has ended: what it would have needed is for others. */
void holds_waits_ended(struct engine *e, uint64_t job);
/* The other one is a component of its heterogeneous job: part.h. */
void holds_waits_beside(struct engine *e, uint64_t job, uint64_t other);
bool holds_waits_is(const struct engine *e, const struct money_wait *w); /* does it still wait? */

/* --- promises.c --- */
/* The job may try again: what it lacked is kept for it, and is lacked by others that wait. */
void promises_make(struct engine *e, uint64_t job, const struct budget_no *no);
/* It has its nodes, was refused once more, or has ended.  Fine if nothing is promised to it. */
void promises_end(struct engine *e, uint64_t job);
void promises_expire(struct engine *e); /* end those that have lasted for too long */
int64_t promises_next_ms(const struct engine *e);
/* The configuration has changed, and with it what is promised. */
void promises_forget(struct engine *e);

/* --- alerts.c --- */
extern const struct engine_part alerts_part;
void alerts_load(struct engine *e, const struct alert *x);
void alerts_load_message(struct engine *e, struct alert_message *m); /* takes its list */

/* --- holds_load.c --- */
int holds_load(struct engine *e, const struct journal_hold *h, struct err *err);
int holds_load_day(struct engine *e, const struct journal_spent *s);

#endif
