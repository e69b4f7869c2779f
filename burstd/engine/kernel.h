/* kernel.h - what the parts of the engine need of its kernel: the turn, the transaction and what is
 * known to all.  Nobody but parts includes it.
 *
 * One turn: something happened -> post events about nodes (staged) -> commit (durable, then
 * visible) -> act on what the states want -> arm the timer.  Every callback from io/ ends with
 * engine_turn().  The kernel calls no part by its name (part.h).
 *
 *   engine.c  the turn, start and end
 *   fold.c    post and commit
 *   audit.c   a request is on record before it is sent
 *   times.c   whose clock a time is by (times.h) */
#ifndef BURSTD_ENGINE_KERNEL_H
#define BURSTD_ENGINE_KERNEL_H

#include <string.h>

#include "base/fmt.h"
#include "engine/engine.h"
#include "engine/part.h"
#include "slurm/slurm.h"

enum {
	ENGINE_RETRY_MS = 1000,      /* a failed poll or list, doubling ... */
	ENGINE_RETRY_MAX_MS = 30000, /* ... up to this */
	ENGINE_SEND = 1000,    /* nodes sent for in a turn: hooks have theirs in between ... */
	ENGINE_WRITE = 250,    /* ... and written, where a turn can be cut */
	ENGINE_READ = 500,     /* ... and read of a snapshot, then looked at: 0.3 ms each */
	ENGINE_LOOKS = 10,     /* to look at so many costs as much as to write one */
	ENGINE_ENDED_MAX = 64, /* ended calls that wait for a commit of something else */
};

/* No generation of ours comes near: they count from 1, or from the clock in seconds. */
#define ENGINE_GEN_MAX (UINT64_C(1) << 48)

/* Why things are done; the audit log tells by these who caused it. */
#define ENGINE_WHY_CALL       "slurmctld called ResumeProgram"
#define ENGINE_WHY_NEXT       "another offer of its pool is tried"
#define ENGINE_WHY_TERMINATED "burstd: terminated by an admin"
#define ENGINE_WHY_DRAINED    "burstd: drained by an admin"

struct member { /* of a batch; the name outlives it */
	struct fleet_name *name;
	uint64_t gen;
	uint32_t group;
};

struct engine_poll { /* the snapshots of slurmctld: when, and how that went */
	bool polled; /* at least once since start */
	bool polling;
	bool looking; /* one is being looked at: what it orders goes out when all of it is */
	bool moving;  /* something was in transition at the last look */
	int64_t next_ms, step_ms, began_ms;
	int64_t snapshot_ms; /* when the last whole one began; 0: none since start */
	int64_t took_ms;     /* how long slurmctld took for it */
	int64_t ok_ms, failed_ms;
	char error[256];
};

struct node_queue { /* nodes whose change is still to be posted or written, some in each turn */
	struct member *v;
	size_t n, cap, at; /* at: how far it has come */
};

struct engine {
	struct engine_deps d;
	struct conf *conf;
	struct conf **old; /* configurations that requests on the wire may still name */
	size_t nold;
	struct fleet fleet;
	struct timer *timer;
	struct slurm *slurm;
	int64_t ahead_ms; /* our time, of the wall clock */
	int64_t started_ms;
	struct staging { /* the transaction being built */
		struct journal_tx *tx;
		bool due;       /* it has more than ended calls in it */
		unsigned ended; /* calls that end with it */
		struct fleet_node **rows;
		size_t n, cap;
		bool following; /* what one committed leads to is being done */
	} staging;
	struct node_queue fresh; /* wanted, some of them not yet in the journal */
	struct engine_slice slice;
	/* How many nodes may still be written before the loop has looked at hooks again: whatever
	 * calls engine_turn() in between. */
	size_t left;
	bool more; /* there was more to send than goes in a turn */
	struct engine_poll poll;
	struct engine_counters count;
	bool started, dead; /* dead: the journal failed or the engine is being freed */
	/* What each directory of parts keeps, for all of its files; each part frees what is in it,
	 * engine_free() the struct. */
	struct cloud_state *cloud; /* cloud/cloud.h */
	struct jobs_state *jobs;   /* jobs/jobs.h */
	struct keys_state *keys;   /* keys/keys.h */
	struct buy_state *buy;     /* buy/buy.h */
	struct diff_state *diff;   /* diff/diff.h */
};

/* --- engine.c --- */
void engine_turn(struct engine *e);
/* Why a machine of this provider could not have its keys now; NULL: it could, or needs none. */
const char *engine_keyless(const struct engine *e, uint32_t provider);
/* Tell all parts what became of a request to a provider. */
void engine_heard(struct engine *e, struct cloud *c, enum provider_op_kind kind,
		  const struct provider_result *r, int64_t sent_ms);
/* Tell all parts what a provider shows, tells of an instance, and asks for what it sells. */
void engine_listed(struct engine *e, struct cloud *c);
bool engine_noticed(struct engine *e, struct cloud *c,
		    const struct provider_notice *n); /* false: keep telling */
void engine_quotes(struct engine *e, struct cloud *c, struct provider_offer *before,
		   size_t nbefore);
/* Does this pool try a single purchase, which decides whether it may buy again? */
bool engine_on_trial(const struct engine *e, uint32_t pool);
/* Tell all parts that a provider sent new offers. */
void engine_tell_offers(struct engine *e, bool cheaper);
/* Call all parts at this moment (part.h). */
void engine_at(struct engine *e, enum part_moment moment);
/* Can all parts use this provider, whose driver was opened again after the start? */
int engine_may_use(struct engine *e, size_t provider, struct err *err);
/* Was the wall clock set?  Then that is an event, and the journal has the new difference. */
void engine_look_at_clock(struct engine *e);
/* Name every node of every pool, bought or not: what is not named is not ours to touch.  A node
 * that was taken out of its pool is ours while something of it may exist. */
void engine_name_nodes(struct engine *e);
void engine_free_old(struct engine *e); /* configurations that no request names any more */
const struct node_limits *engine_limits(const struct engine *e, const struct node *n,
					struct node_limits *out);
/* The offer that a row is bought from; NULL: the configuration has it no more. */
static inline const struct conf_offer *engine_offer_of(const struct engine *e, const struct node *n)
{
	return conf_rung_named(&e->conf->pools[n->pool], n->offer);
}

/* --- fold.c --- */
void node_queue_add(struct node_queue *q, const struct fleet_node *fn);
struct fleet_node *node_queue_take(struct node_queue *q); /* the next one; NULL: it is gone */
void node_queue_end(struct node_queue *q);                /* of all that was taken */
void engine_post(struct engine *e, struct fleet_node *fn, const struct node_event *ev);
/* A new incarnation, staged: add to the fleet as GONE would be wrong, so as it is. */
struct fleet_node *engine_insert(struct engine *e, const struct node *n, const char *why);
/* A new incarnation that is WANTED.  It is in the journal with its first change, that is as a rule
 * its create, or soon: until then a crash makes slurmctld ask for it again.  Borrows why for good.
 */
void engine_want(struct engine *e, const struct node *n, const char *why);
/* Stage some of those, unless there is more to send in this turn: most go out with their creates.
 */
void engine_write_fresh(struct engine *e);
/* So many nodes were a part of this pass of the loop. */
void engine_spend(struct engine *e, size_t nodes);
/* With the next commit, whenever that is: a call that is loaded again is dropped. */
void engine_end_call(struct engine *e, int64_t seq);
void engine_event(struct engine *e, const char *node, uint64_t gen, const char *type,
		  const char *detail);
struct journal_tx *engine_tx(struct engine *e); /* the one being built */
void engine_commit(struct engine *e);
/* How long to wait after one more failure, when it was `step` the last time; 0: it was none (I30).
 */
static inline int64_t engine_longer(int64_t step)
{
	if (step < ENGINE_RETRY_MS)
		return ENGINE_RETRY_MS;
	return 2 * step < ENGINE_RETRY_MAX_MS ? 2 * step : ENGINE_RETRY_MAX_MS;
}
/* Without the "burstd: " that marks our reasons at slurmctld: what we tell by ourselves needs no
 * name. */
static inline const char *engine_bare(const char *why)
{
	size_t name = strlen("burstd: ");

	return strncmp(why, "burstd: ", name) == 0 ? why + name : why;
}
int64_t engine_billed(const struct node *n); /* what a bill says already; 0: none */

/* --- audit.c --- */
/* One request to others, collected node by node: who wants it and why is said once. */
struct audit {
	struct str actor, reason, ids;
	const char **names; /* borrowed, with room for max of them */
	size_t n, max;
	bool first; /* of deletes: some are asked for the first time */
};
void audit_begin(struct audit *a, size_t max);
void audit_create(struct audit *a, const struct fleet_name *nm, const struct fleet_node *fn);
void audit_delete(struct audit *a, struct fleet_node *fn, const char *id);
/* Of something that is no node. */
void audit_thing(struct engine *e, const char *verb, const char *target, const char *thing,
		 const char *reason);
void audit_stray(struct audit *a, const char *node, const char *id, bool again);
/* On record with the next commit, which comes before it is done (I28).  Ends a. */
void audit_put(struct engine *e, struct audit *a, const char *verb, const char *target,
	       const char *request);
/* Likewise a delete, with the instances that were collected; without them if each was asked for
 * before, and so is on record. */
void audit_put_delete(struct engine *e, struct audit *a, const char *target);
/* Likewise the next commands for slurmctld, that are not on record; false: there is none. */
bool audit_order(struct engine *e);
/* It is on record, and was not sent: the next record says so. */
void audit_unsent(struct engine *e, const struct slurm_order *o, const char *why);

#endif
