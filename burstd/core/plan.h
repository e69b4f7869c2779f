/* plan.h - which of the nodes asked for may be bought, from which rung of their pool's ladder.
 *
 * A job gets all the nodes it still lacks or none: nothing is bought that its job cannot use.  In
 * each pool they come from one rung, the first (core/ladder.h) that fits the pool's limits. */
#ifndef BURSTD_PLAN_H
#define BURSTD_PLAN_H

#include <stdbool.h>
#include <stdint.h>

#include "core/budget_job.h"
#include "core/conf.h"
#include "core/demand.h"
#include "core/fleet.h"
#include "core/ladder.h"
#include "core/refusal.h"

enum plan_verdict {
	PLAN_SKIP,   /* no pool names it: burstd must not touch it */
	PLAN_HAVE,   /* a live generation exists or is on its way */
	PLAN_BUY,    /* make a new generation */
	PLAN_WAIT,   /* will fit once leaving nodes have left, or its price is known */
	PLAN_REFUSE, /* does not fit the pool's limits, or no rung is left */
};

enum plan_cause { /* of a refusal */
		  PLAN_MAX_NODES,
		  PLAN_MAX_RATE,
		  PLAN_STUCK,   /* an earlier instance of the node cannot be deleted, or reached */
		  PLAN_RESTS,   /* the node did not come up lately */
		  PLAN_BLOCKED, /* the pool buys nothing now */
		  PLAN_PROBES,  /* the pool's circuit is half open, and its probe is out */
		  PLAN_LADDER,  /* no rung is left for the job */
		  PLAN_BUDGET,  /* no money is left for the job */
};

/* PLAN_LADDER: the ladder's answer.  The pool is plan_node.full. */
struct plan_no_rung {
	char why[160]; /* ladder_why() */
	enum ladder_cause
		worst; /* the worst cause that time or an admin can mend; else the last rung's */
	struct refusal_hint hint;
};

struct plan_need {      /* what a job needs in one pool, for the text of a refusal */
	uint32_t nodes; /* MAX_NODES */
	int64_t rate;   /* MAX_RATE: nano-units per hour, at the cheapest rung that it may have */
	uint32_t most;  /* likewise: nodes that max_rate allows at that rate */
};

struct plan_node {
	enum plan_verdict verdict;
	uint32_t group;                 /* BUY: the gang, which is bought whole; 0: alone */
	uint32_t pool;                  /* all but SKIP */
	uint32_t rung;                  /* BUY: index into conf_rungs() */
	int64_t price;                  /* BUY: nano-units per hour */
	uint64_t job;                   /* the number of a job that needs it; 0: none known */
	struct fleet_name *name;        /* all but SKIP; NULL: the fleet does not have it */
	enum plan_cause cause;          /* REFUSE */
	uint32_t full;                  /* REFUSE: the pool whose limit or ladder refused it */
	uint32_t no_rung;               /* PLAN_LADDER: index into struct plan */
	uint32_t no_budget;             /* PLAN_BUDGET: likewise */
	const struct fleet_name *stuck; /* PLAN_STUCK: the node of its job that is stuck */
	bool lasting;                   /* REFUSE: no wait can mend it; by a limit: `need` */
	struct plan_need need;
	bool goes_first; /* BUY: of its job */
	bool beside;     /* REFUSE: a job that shares one of its nodes can never fit the limit */
};

struct plan_pool {                  /* the state of a pool */
	struct ladder_known *known; /* of each rung; plan_make() marks the rungs that jobs try */
	const char *blocked;        /* why the pool buys nothing, for people; NULL: it buys */
	uint64_t tried_for;         /* except for this job, which is the probe; 0: none */
	const char *probes;         /* why it buys for one job at a time; NULL: as many as fit */
	/* For people: how many of its nodes may be at a provider that cannot be reached. */
	uint32_t unreached;
	const char *unreached_at; /* one such provider */
	/* How many of these have an accepted delete: they leave only when the provider answers
	 * again, so no job waits for them. */
	uint32_t stays;
	int64_t stays_nano_h;
	/* How many have a delete that was decided a moment ago, and is neither accepted yet nor
	 * denied: most likely they leave, too. */
	uint32_t ends;
	int64_t ends_nano_h;
};

struct plan_job { /* of the struct demand_job with the same index */
	const struct ladder_wish *wishes;
	size_t nwishes;
	bool unknown; /* its wishes matter and are not known: it waits */
	uint32_t refusals;
	int64_t since_ms; /* when it began to wait; 0: now */
	/* It was passed over: decide about it before others, which then wait for its purchase where
	 * they would buy from the same rung. */
	bool goes_first;
	const struct payer *payer; /* NULL: not known; with budgets it waits then */
};

struct plan_terms { /* of one pool's rungs */
	int64_t quantum_ms[CONF_OFFERS_MAX], minimum_ms[CONF_OFFERS_MAX];
};

struct plan_ask { /* everything is borrowed */
	const struct demand *demand;
	const struct conf *conf;
	const struct fleet *fleet;
	struct plan_pool *pools;     /* one for each pool of conf */
	const struct plan_job *jobs; /* one for each job of demand; NULL: nothing is known */
	/* What budgets have left, where the plan tries each job; NULL: there are none. */
	struct budgets *budgets;
	struct budget_times times;
	const struct plan_terms *terms; /* of each rung of each pool, with budgets */
	bool anew; /* ignore refusals since slurmctld last asked (fleet_name.tried) */
	int64_t now_ms;
	int64_t ahead_ms; /* to convert to the wall clock, for people */
};

struct plan {
	struct plan_node *nodes; /* one for each node of demand */
	size_t n;
	uint32_t groups; /* groups are 1 ... groups */
	struct plan_no_rung *no_rungs;
	uint32_t nno_rungs;
	struct plan_no_budget {
		struct budget_no no;
		uint64_t job;     /* 0: none */
		int64_t limit_ms; /* of the job; -1: none */
	} * no_budgets;
	uint32_t nno_budgets;
};

/* What budgets are asked about: a machine of this pool, bought from this rung at this price; like:
 * a node of which it has the GPUs and CPUs; NULL: they are not known.  Borrows from a. */
struct budget_machine plan_machine(const struct plan_ask *a, uint32_t pool, uint32_t rung,
				   int64_t price, const struct fleet_name *like);

/* *p is the caller's (plan_fini()). */
void plan_make(struct plan *p, const struct plan_ask *a);
/* Write why this node was refused, for people. */
void plan_explain(const struct plan *p, const struct plan_node *pn, const struct plan_ask *a,
		  char *out, size_t size);
/* REFUSE: when another try makes sense. */
struct refusal_hint plan_hint(const struct plan *p, const struct plan_node *pn);
void plan_fini(struct plan *p);

#endif
