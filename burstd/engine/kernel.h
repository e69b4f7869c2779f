/* kernel.h - the kernel of the engine, for the parts that stand on it: the turn, the transaction,
 * the audit record, and the state that all parts read.  Only parts and their tests include it.
 *
 * A turn takes in what has happened since the last one, posts events to rows of the fleet (staged),
 * commits them (durable, then visible), sends the requests that the new states want, and arms the
 * timer.  Every callback from io/ ends with engine_turn(), or sets the timer to now.  The kernel
 * calls parts through the table only (part.h); a part calls by name the kernel, parts of its own
 * directory and those of directories below it.
 *
 *   engine.c  runs turns, starts and ends the engine
 *   fold.c    posts events to rows and commits them
 *   audit.c   puts a request on record before it is sent
 *   times.c   converts times of other clocks (times.h) */
#ifndef BURSTD_ENGINE_KERNEL_H
#define BURSTD_ENGINE_KERNEL_H

#include <string.h>

#include "base/fmt.h"
#include "engine/engine.h"
#include "engine/part.h"
#include "slurm/slurm.h"
#include "store/journal.h"

enum {
	ENGINE_RETRY_MS = 1000,      /* pause after a failed poll or list; it doubles ... */
	ENGINE_RETRY_MAX_MS = 30000, /* ... up to this */
	/* The default engine_slice: how many nodes one turn handles, so that hooks are served in
	 * between. */
	ENGINE_SEND = 1000,
	ENGINE_WRITE = 250,
	ENGINE_READ = 500, /* 0.3 ms each */
	ENGINE_LOOKS = 10, /* looking at so many nodes costs as much as writing one */
};

/* An upper bound of generations: they count from 1, or from the clock in seconds. */
#define ENGINE_GEN_MAX (UINT64_C(1) << 48)

/* Reasons of requests, by which the audit log tells who caused them. */
#define ENGINE_WHY_CALL       "slurmctld called ResumeProgram"
#define ENGINE_WHY_NEXT       "another offer of its pool is tried"
#define ENGINE_WHY_TERMINATED "burstd: terminated by an admin"
#define ENGINE_WHY_DRAINED    "burstd: drained by an admin"
#define ENGINE_WHY_IMAGE      "burstd: its image is not the one in force any more"
#define ENGINE_WHY_USED_UP    "burstd: the budget that it counts for is used up"

struct member { /* one generation, named without a pointer to its row, which may go */
	struct fleet_name *name;
	uint64_t gen;
	uint32_t group;
};

struct engine_poll {  /* snapshots of slurmctld */
	bool polled;  /* slurmctld was asked at least once since the start */
	bool polling; /* it is being asked now */
	bool looking; /* a snapshot is being compared; its orders go out when all of it is */
	bool moving;  /* the last comparison found a node in transition */
	bool silent;  /* ... or one that should be up, and that slurmctld does not hear from */
	int64_t next_ms, step_ms; /* the next snapshot; the pause after the last failure */
	int64_t began_ms;         /* begin of the snapshot that is being read */
	int64_t snapshot_ms;      /* begin of the last whole snapshot; 0: none since the start */
	int64_t took_ms;          /* how long slurmctld took for that */
	int64_t ok_ms, failed_ms; /* the last success and the last failure */
	char error[256];          /* of the last failure; "": none since the last success */
};

struct node_queue { /* nodes that wait for their turn, in order */
	struct member *v;
	size_t n, cap, at; /* at: the next one to be taken */
};

struct engine {
	struct engine_deps d;
	struct conf *conf;
	struct conf **old; /* earlier configurations, which requests on the wire may name */
	size_t nold;
	struct fleet fleet;
	struct timer *timer;
	struct slurm *slurm;
	int64_t ahead_ms; /* how far the engine's time is ahead of the wall clock */
	int64_t started_ms;
	struct staging { /* the transaction being built */
		struct journal_tx *tx;
		bool due;                 /* there is something to commit */
		struct fleet_node **rows; /* that change */
		size_t n, cap;
		bool following; /* row_durable() of the last commit is running */
	} staging;
	struct node_queue unwritten; /* WANTED; some of them are not yet in the journal */
	struct engine_slice slice;
	size_t left; /* how many nodes may still be written before the loop serves hooks again */
	bool more;   /* this turn has more to send than its slice */
	struct engine_poll poll;
	struct engine_counters count;
	bool started, dead; /* dead: the journal failed, or the engine is being freed */
	/* The memory of each directory of parts.  Each part frees its own members, engine_free()
	 * the struct. */
	struct cloud_state *cloud; /* cloud/cloud.h */
	struct jobs_state *jobs;   /* jobs/jobs.h */
	struct keys_state *keys;   /* keys/keys.h */
	struct money_state *money; /* money/money.h */
	struct buy_state *buy;     /* buy/buy.h */
	struct diff_state *diff;   /* diff/diff.h */
};

/* --- engine.c --- */
void engine_turn(struct engine *e);

/* These call a column of the table (part.h), for all parts that have it. */
void engine_at(struct engine *e, enum part_moment moment);
const char *engine_keyless(const struct engine *e, uint32_t provider);
void engine_heard(struct engine *e, struct cloud *c, enum provider_op_kind kind,
		  const struct provider_result *r, int64_t sent_ms);
bool engine_listed(struct engine *e, struct cloud *c);
bool engine_noticed(struct engine *e, struct cloud *c, const struct provider_notice *n);
void engine_quotes(struct engine *e, struct cloud *c, struct provider_quote *before,
		   size_t nbefore);
void engine_tell_quotes(struct engine *e, bool cheaper);
void engine_job_ended(struct engine *e, uint64_t job);
void engine_job_beside(struct engine *e, uint64_t job, uint64_t other);
bool engine_on_trial(const struct engine *e, uint32_t pool);
int engine_may_use(struct engine *e, size_t provider, struct err *err);
const struct node_limits *engine_limits(const struct engine *e, const struct node *n,
					struct node_limits *out);

/* Compare the wall clock with the engine's time.  If somebody set it, record an event, write the
 * new difference to the journal and tell all parts. */
void engine_look_at_clock(struct engine *e);
/* Add every node of every pool to the fleet, bought or not: burstd touches no node that is not in
 * it.  A node that was taken out of its pool stays while an instance of it may exist. */
void engine_name_nodes(struct engine *e);
/* Free earlier configurations.  No request on the wire may name one. */
void engine_free_old(struct engine *e);
/* The offer that a row is bought from; NULL: the configuration does not have it any more. */
static inline const struct conf_offer *engine_offer_of(const struct engine *e, const struct node *n)
{
	return conf_rung_named(&e->conf->pools[n->pool], n->offer);
}

/* --- fold.c --- */
void node_queue_add(struct node_queue *q, const struct fleet_node *fn);
/* The row of the next one, which leaves the queue; NULL: the row is gone. */
struct fleet_node *node_queue_take(struct node_queue *q);
void node_queue_end(struct node_queue *q); /* free the memory, once all are taken */

/* Fold the event into the row and stage the result for the next commit. */
void engine_post(struct engine *e, struct fleet_node *fn, const struct node_event *ev);
/* Add a generation in any state to the fleet, and stage it. */
struct fleet_node *engine_insert(struct engine *e, const struct node *n, const char *why);
/* Add a WANTED generation.  The journal gets it with its first change, as a rule its create, or by
 * unwritten_part; after a crash before that slurmctld asks for it again.  Borrows why for
 * good. */
void engine_want(struct engine *e, const struct node *n, const char *why);
extern const struct engine_part unwritten_part;
/* Count so many nodes against e->left. */
void engine_spend(struct engine *e, size_t nodes);
void engine_event(struct engine *e, const char *node, uint64_t gen, const char *type,
		  const char *detail);
struct journal_tx *engine_tx(struct engine *e); /* the transaction that is being built */
/* Make all that is staged durable, then visible, then do what follows from it. */
void engine_commit(struct engine *e);
/* The pause after one more failure in a row, if the one before was `step`, 0 at first (I30). */
static inline int64_t engine_longer(int64_t step)
{
	if (step < ENGINE_RETRY_MS)
		return ENGINE_RETRY_MS;
	return 2 * step < ENGINE_RETRY_MAX_MS ? 2 * step : ENGINE_RETRY_MAX_MS;
}
/* A reason without the "burstd: " that marks burstd's reasons in slurmctld. */
static inline const char *engine_bare(const char *why)
{
	size_t name = strlen("burstd: ");

	return strncmp(why, "burstd: ", name) == 0 ? why + name : why;
}
/* What the bill of this row says already, in nano-units; 0: it has none. */
int64_t engine_billed(const struct node *n);

/* --- audit.c --- */
/* The record of one request, collected node by node: each actor and each reason is in it once. */
struct audit {
	struct str actor, reason, ids;
	const char **names; /* borrowed, with room for max of them */
	size_t n, max;
	bool first; /* a delete that names an instance for the first time */
};
void audit_begin(struct audit *a, size_t max);
void audit_create(struct audit *a, const struct fleet_name *nm, const struct fleet_node *fn);
void audit_delete(struct audit *a, struct fleet_node *fn, const char *id);
/* Stage the record of something that is about no node. */
void audit_thing(struct engine *e, const char *verb, const char *target, const char *thing,
		 const char *reason);
void audit_stray(struct audit *a, const char *node, const char *id, bool again);
/* Stage the record; the request goes out after the commit (I28).  Frees what a has. */
void audit_put(struct engine *e, struct audit *a, const char *verb, const char *target,
	       const char *request);
/* Likewise for a delete, with the instances; nothing if each of them is on record already. */
/* Record what a provider answered to a request that is on record, and its id of that request, which
 * its support asks for: what is "delete", or "create TOKEN".  Add each node, or what else it was
 * about; audit_answered() ends *a.  Nothing is recorded if the provider sent no id, or throttled: a
 * request that is sent again and again must not fill the disk. */
void audit_add(struct audit *a, const char *thing);
void audit_answered(struct engine *e, struct audit *a, const char *what, const char *target,
		    const struct provider_result *r);
void audit_put_delete(struct engine *e, struct audit *a, const char *target);
extern const struct engine_part audit_part;
/* An order that is on record was not sent: stage a record that says so. */
void audit_unsent(struct engine *e, const struct slurm_order *o, const char *why);

#endif
