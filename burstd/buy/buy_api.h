/* buy_api.h - what burstd's API orders and shows about buying: orders of an admin, pools, ladders,
 * and what burstd would buy for a job.  Texts are borrowed, and valid until control returns to the
 * loop; `pool` and `i` are indices of pools in the configuration. */
#ifndef BURSTD_BUY_API_H
#define BURSTD_BUY_API_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/cooldown.h"
#include "core/ladder.h"
#include "core/plan.h"
#include "core/roll.h"
#include "core/unsold.h"
#include "engine/engine.h"
#include "jobs/jobs_api.h"
#include "store/journal.h"

/* --- orders --- */

enum engine_order {
	ENGINE_DRAIN,     /* start no more jobs; power down when the running ones have ended */
	ENGINE_TERMINATE, /* power down now: the jobs are requeued, or end */
};
struct engine_request {
	enum engine_order order;
	const char *nodes; /* a node list; NULL: all nodes that exist */
	const char *by;    /* the admin, for the events: "root", "uid 1000" */
	bool look;         /* only count the nodes, and do nothing */
};

struct engine_ordered { /* numbers of nodes, each counted once */
	size_t n;       /* that are up, or may exist: the order is for these */
	size_t busy;    /* of these, with jobs */
	size_t off;     /* of the list, that were off already */
};

/* -1: the list is bad or has a node that no pool names, and nothing was done. */
int engine_operate(struct engine *e, const struct engine_request *rq, struct engine_ordered *out,
		   struct err *err);

/* Stop buying in a pool (NULL: in all), or go on.  Durable.  Existing nodes stay, and are deleted
 * as usual.  Going on also closes the circuit of a pool whose machines came up wrong.  by: as in
 * engine_request.  -1: no such pool. */
int engine_pause(struct engine *e, const char *pool, bool paused, const char *by, struct err *err);

/* Forget that places cool down: an admin has raised a quota, has paid, or knows better.  what: the
 * name of a pool or provider, or of both; NULL: all.  *n: how many places were forgotten.  by: as
 * in engine_request.  -1: nothing has that name. */
int engine_retry(struct engine *e, const char *what, const char *by, size_t *n, struct err *err);

/* Look whether the journal's disk has room.  Before it is full burstd stops buying, so that deletes
 * can still be written.  The engine looks before it buys; call this every few seconds besides. */
void engine_look_at_disk(struct engine *e);

/* Stop the new image of each offer of a pool, or try it once more.  *n: of how many offers.  by: as
 * in engine_request.  -1: no such pool. */
int engine_image_order(struct engine *e, const char *pool, bool stop, const char *by, size_t *n,
		       struct err *err);

struct engine_image {
	const struct roll *roll;
	uint32_t with_next, with_others; /* machines that live, by what they were made from */
	uint32_t untried;                /* that have an image which has not shown that it works */
};
/* false: machines of this offer get no image from burstd, and *out is zero. */
bool engine_image(const struct engine *e, size_t pool, const char *offer, struct engine_image *out);

/* --- pools --- */

/* Machines of a pool that their provider took, each within an hour of the one before. */
struct engine_losses {
	uint32_t n;
	int64_t last_ms;
	enum node_reason why; /* of the last */
	char node[HOSTLIST_NAME_MAX + 1];
};
/* NULL: none was taken within the last hour. */
const struct engine_losses *engine_losses(const struct engine *e, size_t i);

/* What this pool has cost: its bills in the journal, and what its live nodes cost until now; in
 * nano-units. */
int64_t engine_spent(const struct engine *e, size_t pool);
bool engine_paused(const struct engine *e, size_t i);
/* Who paused the pool ("root", "uid 1000"), and when; "" and 0: it is not paused, or not known. */
const char *engine_paused_by(const struct engine *e, size_t i, int64_t *since_ms);
/* Why burstd buys nothing in this pool, whatever its limits, for people; NULL: it buys, if the disk
 * has room (engine_room()). */
const char *engine_blocked(const struct engine *e, size_t i);
struct engine_warm {         /* nodes of a pool that are up whether a job has them or not */
	uint32_t wanted;     /* as configured */
	uint32_t up, coming; /* of those */
	uint32_t paid;       /* more nodes, which stay since their time is paid for */
};
struct engine_warm engine_warm(const struct engine *e, size_t pool);
/* The room on the journal's disk, at the last look; low: burstd buys nothing in any pool. */
const struct journal_room *engine_room(const struct engine *e);
/* Can hooks leave their calls, and burstd read and delete them?  -1: *err says why not.  *note: as
 * spool_check() (io/spool.h). */
int engine_spool(const struct engine *e, const char **note, struct err *err);

uint64_t engine_last_batch(const struct engine *e); /* the number of the last purchase; 0: none */

/* The price of a node of this rung, in nano-units per hour; 0: not known yet; -1: the provider does
 * not offer it in the configured currency; LADDER_UNPRICED. */
int64_t engine_price(const struct engine *e, size_t pool, size_t rung);
/* How old that price is, in ms: since the provider last sent all its quotes.  0: there is none, or
 * an admin has set it, and it does not age. */
int64_t engine_price_age(const struct engine *e, size_t pool, size_t rung);
/* The type among the provider's offers with the most similar name; NULL: none is similar. */
const char *engine_like_type(const struct engine *e, size_t provider, const char *type);

/* How many nodes the provider refused with this code, since burstd started. */
uint64_t engine_unsold(const struct engine *e, size_t provider, enum provider_code code);

/* Likewise to this offer of the pool ("": its only one). */
uint64_t engine_offer_refused(const struct engine *e, size_t pool, const char *offer,
			      enum provider_code code);

/* --- where nodes are bought, or would be: these ask nobody and change nothing --- */

/* Every place that cools down, or did a moment ago. */
void engine_cooldowns(const struct engine *e, cooldown_fn fn, void *ctx);

struct engine_rung {
	const struct conf_offer *offer;
	int64_t price; /* of one node, nano-units per hour; 0: not known yet; < 0: not offered */
	struct cooldown_view cool;
	uint32_t nodes; /* of the pool that are bought there, now */
	uint32_t place; /* position in the order of tries: 1, 2, ...; 0: the rung is left out */
	enum ladder_cause cause;
	bool limited;  /* it is in the order, but would pass the pool's max_rate */
	char why[160]; /* why it is left out or passed over, for people; "": it is not */
	struct unsold_say said[UNSOLD_EACH]; /* the newest first */
	size_t nsaid;
	struct provider_terms terms;
};

struct engine_ladder {                             /* of a pool, for one job */
	struct engine_rung rungs[CONF_OFFERS_MAX]; /* in the order of tries, then the others */
	size_t n;
	uint32_t others;    /* nodes of offers that the configuration does not have any more */
	const char *probes; /* why only one job's nodes are bought at a time, or NULL */
	bool listed;        /* false: a provider has not listed its instances yet */
};

/* The ladder for a new job of one node without wishes. */
void engine_ladder(struct engine *e, size_t pool, struct engine_ladder *out);

struct engine_plan_ask {
	const char *list; /* plan for these nodes; NULL: for nodes of a pool that are off, ... */
	uint32_t pool, nodes;     /* ... so many as Slurm would choose them, ... */
	const struct map *within; /* ... of these names, if not NULL, ... */
	const char *without;      /* ... and none of this list */
	struct ladder_wish wish;
	const char *comment; /* of the job, whose wishes count besides; NULL: none */
	/* Plan for this job, with its wishes and refusals; NULL: for a new job. */
	const struct engine_job *job;
};

struct engine_plan_pool {
	uint32_t pool, nodes; /* nodes: to be bought */
	uint32_t units; /* placement units that the job's nodes there are in; 0: it has none */
	int rung;       /* index in ladder.rungs where they are bought; -1: nowhere */
	struct engine_ladder ladder;
};

struct engine_plan {
	enum plan_verdict verdict; /* BUY, HAVE, WAIT or REFUSE, for the whole job */
	char why[256];             /* WAIT, REFUSE */
	char note[200];            /* what burstd ignores in the job's comment; "": nothing */
	bool no_offer;             /* REFUSE: no rung is left, and each says why */
	int64_t again_ms;          /* REFUSE: when a job's first refusal lets it try again */
	/* BUY, of a job whose payer is known, with budgets: what they would set aside for it, and
	 * for its machines, whole; 0: nothing, or without end. */
	int64_t aside_job, aside_machines;
	uint32_t nodes, have; /* have: exist, or are being bought */
	/* How far from each other the nodes are that are up, and of how many of these the provider
	 * says where they are (core/hops.h). */
	int hops;
	uint32_t placed;
	struct engine_plan_pool *pools;
	size_t npools;
};

/* Plan what burstd would do for a job.  -1: the list is bad, or has a node that no pool names. */
int engine_plan(struct engine *e, const struct engine_plan_ask *ask, struct engine_plan *out,
		struct err *err);
void engine_plan_fini(struct engine_plan *p);
/* The table of what slurmctld may refuse jobs for as they are submitted (core/submit.h), into *out,
 * which is empty and takes SUBMIT_TEXT_MAX. */
void engine_submit(struct engine *e, struct str *out);
/* The node list of a partition, the caller's (free()); NULL: there is no such partition, or
 * slurmctld has not said yet. */
char *engine_partition(const struct engine *e, const char *name);

#endif
