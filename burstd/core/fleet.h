/* fleet.h - all incarnations of all nodes, by name and by state, and the sums that limits need.
 *
 * A state is a list: an incarnation is on the list of its state and nowhere else, and fleet_set()
 * is the only way from one to another.  Sums are kept, not computed, so that a limit is one
 * comparison. */
#ifndef BURSTD_FLEET_H
#define BURSTD_FLEET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/map.h"
#include "core/node.h"
#include "core/refusal.h"

struct fleet_node {        /* one incarnation */
	struct node n;     /* as durable */
	struct node *next; /* staged: as it will be at the next commit; NULL: nothing changes */
	bool busy;  /* a request about it is on the wire; memory only (style.md 3.3, rule 4) */
	bool asked; /* a delete of it is on record since our start; memory only too */
	bool reported, reporting; /* as broken, and that is on its way; likewise */
	bool mark;                /* for one pass over a list, whoever makes it */
	bool unreached;           /* on its way out, at a provider that cannot be reached */
	bool registered;          /* a snapshot said so, and that is not posted yet; memory only */
	int64_t seen_ms;   /* begin of the last list that showed it; 0: none since our start */
	int64_t said_ms;   /* when it was made, by its provider's word and clock; 0: not said, or
			    * not since our start */
	const char *fresh; /* why it was made, while the journal does not have it; else NULL */
	const char *made;  /* likewise, for good; NULL: before our start */
	char *why;         /* more than a reason's phrase says of it; NULL: no more; memory only */
	enum node_reason why_of; /* that reason */
	/* A list has said of this instance of it that it ended, while a create is on the wire whose
	 * answer may have been written before that; else NULL; memory only. */
	struct provider_instance *ended;
	uint64_t wishes; /* of its job, when it was decided; 0: not known; memory only */
	struct fleet_name *name;
	struct fleet_node *older; /* previous generation of this name that is still known */
	struct fleet_node *state_next, **state_prev; /* list of its state */
};

struct fleet_place {                  /* where slurmctld has a node */
	char id[PROVIDER_ID_MAX + 1]; /* InstanceId; "": it does not say */
	char addr[PROVIDER_ADDR_MAX + 1];
	int64_t since_ms; /* begin of the first snapshot that said so */
};

struct fleet_insist {    /* an order about a node that slurmctld may not know; memory only */
	const char *why; /* its Reason, for ever; NULL: there is none */
	bool ends;       /* the node is to be powered down; else it drains */
	uint64_t gen;    /* of the machine that it is about */
	int64_t lost_ms; /* when slurmctld did not take it ... */
	int64_t took_ms; /* ... or did; both 0: it has not answered */
	bool refused;    /* it said no: the order is not given again ... */
	int64_t wait_ms; /* ... for so long after that */
};

struct fleet_name { /* one Slurm node */
	char name[HOSTLIST_NAME_MAX + 1];
	uint32_t pool;
	struct fleet_node *newest; /* NULL: never bought, as far as is known */
	uint64_t last_gen;         /* highest generation ever seen */
	int64_t forgot_ms;         /* when the last of those ended that are not known any more */
	bool listed;               /* some pool names it today */
	uint32_t flags;            /* slurmctld's, of the last snapshot; 0: not known */
	uint32_t gpus;             /* likewise, where nodes are told what they are; 0: not known */
	const char *gpu_model;     /* what a GPU's name must have in it; NULL: not known */
	const char *gpu_parts;     /* of them are parts, MIG: static, "all" or "some"; NULL: none */
	uint32_t cpus, memory_mb, tmp_mb; /* likewise, by slurm.conf; 0: not known */
	/* of the last snapshot; both unset if it has the node down or cannot say where it is */
	bool on_instance;              /* slurmctld has it up on our live instance */
	struct fleet_place *elsewhere; /* or on another one; NULL: not */
	bool idle;                     /* it boots, and no job has it */
	bool warm;                     /* its pool keeps so many, and it is one of them ... */
	bool kept;                     /* slurmctld is not to power it down, and was told so */
	uint64_t waits_for;            /* number of the job it is to be bought for; 0: none known */
	int64_t waits_ms;              /* since when */
	int64_t useless_ms;            /* ... and its job was not there at this time; 0: it was */
	int64_t held_ms;          /* since when it is off, and slurmctld counts what nobody has */
	bool shown;               /* for one pass over a snapshot: it has this node */
	int64_t missing_ms;       /* since when the snapshots do not have it; 0: they do */
	bool barred;              /* refused: not to be bought until slurmctld asks anew */
	bool climbs;              /* refused at one place, and the next is about to be tried */
	uint32_t tried;           /* bit i: rung i of its pool refused it, since it asked */
	struct refusal_hint hint; /* of the last refusal: when another try is worth it */
	enum node_reason refused; /* the last refusal, for people, until it is bought or old */
	int64_t refused_ms;       /* when that was */
	uint64_t refused_for;  /* the job that lacks it, or lacked another with it; 0: none known */
	char why[160];         /* and why */
	uint32_t fails;        /* instances in a row that were useless ... */
	uint64_t failed_gen;   /* ... the last of them */
	int64_t rests_ms;      /* for it: not bought until then; 0: it does not rest */
	uint64_t used_gen;     /* the last one that came up; memory only, as is ... */
	int64_t unused_ms;     /* when one was let go that had not; 0: none was */
	int64_t forced_ms;     /* when slurmctld was last told to power it down ... */
	int64_t obeyed_ms;     /* ... and did: no job of before has it; 0: it did not */
	int64_t fenced_ms;     /* likewise, to drain it, for its machine will go */
	bool fencing;          /* ... and slurmctld has not answered that yet */
	bool unheard;          /* it took not the last order that the node goes, or drains */
	int64_t noticed_ms;    /* a notice of then has not been followed by that yet; 0: none */
	bool by_admin;         /* drained or down by an admin, not by burstd or slurmctld */
	struct doomed *doomed; /* the engine's, while it is about to be told so */
	struct fleet_insist insist;
	char *told;      /* why it was told so, or to drain it; NULL: never */
	int64_t told_ms; /* and when; memory only, for people */
	char by[32];     /* the admin who ordered something about it last; likewise */
};

struct fleet_pool {
	uint32_t count[NODE_NSTATES];
	uint32_t nodes;      /* that count against max_nodes: all but GONE */
	uint32_t spot;       /* of those */
	int64_t rate_nano_h; /* likewise */
	uint32_t leaving;    /* of those: DELETING and accepted */
	int64_t leaving_nano_h;
	int64_t spent_nano; /* sum of written usage */
};

struct fleet {
	struct map names; /* -> struct fleet_name */
	struct fleet_name **all;
	size_t nall, cap;
	struct fleet_name **sorted; /* of fleet_sorted() */
	size_t nsorted;
	struct fleet_node *states[NODE_NSTATES]; /* in order of arrival; next: state_next */
	struct fleet_node **tails[NODE_NSTATES];
	struct fleet_pool *pools;
	size_t npools;
	int64_t wake_ms; /* not later than the earliest wake of any incarnation */
};

void fleet_init(struct fleet *f, size_t npools);
void fleet_fini(struct fleet *f);
void fleet_grow(struct fleet *f, size_t npools); /* more pools, never fewer */

/* The node of that name, made if need be. */
struct fleet_name *fleet_name(struct fleet *f, const char *name, uint32_t pool);
struct fleet_name *fleet_find(const struct fleet *f, const char *name); /* NULL: unknown */
/* "node/generation": the key of what is kept of one incarnation. */
void fleet_key(char *out, size_t size, const char *node, uint64_t gen);
struct fleet_node *fleet_gen(const struct fleet_name *nm, uint64_t gen); /* NULL: unknown */
/* All nall of them in the order of their names, numbers in names by their value, so that n2 comes
 * before n10.  Sorted once, and again when there are new ones: for people who page through it. */
struct fleet_name *const *fleet_sorted(struct fleet *f);

/* Note what a list says of an instance that may be what its create makes; NULL: nothing more. */
void fleet_ended(struct fleet_node *fn, const struct provider_instance *in);
/* Note what is behind the reason for which it is about to end. */
void fleet_because(struct fleet_node *fn, enum node_reason reason, const char *why);
/* Why *n, which is *fn or what is staged for it, was let go: for people; "": it was not. */
const char *fleet_why(const struct fleet_node *fn, const struct node *n);

/* Where slurmctld has the node counts no more, until it says so again. */
void fleet_forget_place(struct fleet_name *nm);

/* Note why slurmctld is told to take the node away. */
void fleet_tell(struct fleet_name *nm, const char *why, int64_t now_ms);

/* Add an incarnation as it is; the newest of its name by generation.  Its generation must be new.
 */
struct fleet_node *fleet_add(struct fleet *f, const struct node *n);
/* Replace what an incarnation is: name, generation, pool, place and rate stay. */
void fleet_set(struct fleet *f, struct fleet_node *fn, const struct node *next);
/* It comes last in its state. */
void fleet_last(struct fleet *f, struct fleet_node *fn);
/* What it will be, to be changed; a copy of what it is if it was not staged. */
struct node *fleet_stage(struct fleet_node *fn);
/* The commit is through: it is what was staged, and no longer staged. */
void fleet_publish(struct fleet *f, struct fleet_node *fn);
/* Likewise; what it was is the caller's. */
struct node *fleet_swap(struct fleet *f, struct fleet_node *fn);
void fleet_del(struct fleet *f, struct fleet_node *fn); /* must be GONE, not staged, not busy */

/* The incarnation of this name that is or will be useful, or NULL.  Nearly always the newest: an
 * instance found at the provider may have a higher generation and be on its way out (F58). */
struct fleet_node *fleet_live(const struct fleet_name *nm);
/* May a job be at work on it?  One that boots may have come up since the last snapshot; of what is
 * refused squeue has just shown whether it has (jobs/refuse.c). */
bool fleet_may_work(const struct fleet_name *nm);
/* Does any incarnation of it count against limits, that is, may it exist? */
bool fleet_exists(const struct fleet_name *nm);
/* Does a pool name it, or may an incarnation of it exist?  false for NULL, too. */
bool fleet_is_ours(const struct fleet_name *nm);
/* Is one of it quarantined, or unreached?  Then none can be bought: it would wait for its end for
 * who knows how long. */
bool fleet_stuck(const struct fleet_name *nm);
/* One of it that may exist at a provider which cannot be reached, and is not to live; NULL: none */
struct fleet_node *fleet_unreached(const struct fleet_name *nm);
/* May a new generation be sent out?  False while another one may exist whose delete was not
 * accepted; or any other one, if the provider cannot tell generations apart (P2). */
bool fleet_clear(const struct fleet_node *fn, bool tagged);

#endif
