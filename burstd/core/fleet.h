/* fleet.h - all generations of all nodes, by name and by state, and the sums that limits need.
 *
 * A state is a list: a generation is on the list of its state and on no other, and only
 * fleet_set() moves it.  Sums are kept, not computed, so that a limit is one comparison. */
#ifndef BURSTD_FLEET_H
#define BURSTD_FLEET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/map.h"
#include "core/node.h"
#include "core/refusal.h"

struct fleet_node {        /* one generation */
	struct node n;     /* as durable */
	struct node *next; /* staged: as the next commit will write it; NULL: not staged */
	bool busy;  /* a request about it is on the wire; memory only (style.md 3.3, rule 4) */
	bool asked; /* a delete of it is on record since burstd started; memory only */
	bool reported, reporting; /* its host, as broken; reporting: the report is on the wire;
				     memory only */
	bool consoling;    /* its delete waits for its console log (cloud/console.c); memory only */
	bool goes_first;   /* its job was passed over (jobs/postpone.c); memory only */
	bool unreached;    /* it is to end, at a provider that cannot be reached */
	bool registered;   /* a snapshot said so, and the event is not posted yet; memory only */
	bool ran;          /* its provider has shown it running; memory only */
	bool worked;       /* a canary (core/roll.h) has had a job; memory only */
	int64_t silent_ms; /* the first snapshot in which a canary is silent; 0: none; memory only
			    */
	bool moved;        /* slurmctld has had another NodeAddr than n.stale_addr; memory only */
	int64_t seen_ms;   /* begin of the last list that showed it; 0: none since burstd started */
	int64_t lacked_ms; /* when the first list was there that did not show it, though it had to,
			      since it last gave a sign of life: on a list, to slurmctld, or as
			      its delete was accepted; 0: none; memory only */
	int64_t said_ms;   /* when it was made, by its provider's clock; 0: not said since burstd
			      started */
	const char
		*unwritten; /* why it was wanted, while the journal does not have it; else NULL */
	const char *made;   /* why it was wanted, for good; NULL: before burstd started */
	char *why;          /* details of its reason; NULL: none; memory only */
	enum node_reason why_of; /* the reason that `why` details */
	/* An instance of this row that a list shows as ended, while the answer to its create, which
	 * may be older than the list, is still to come; else NULL; memory only. */
	struct provider_instance *ended;
	/* Numbers of the jobs that it was bought for, while the journal does not have the row;
	 * memory only. */
	uint64_t *buyers;
	size_t nbuyers;
	/* Where its machine is (provider_path in provider.h); "": its provider does not say; NULL:
	 * it was not asked; memory only. */
	char *path;
	uint64_t wishes; /* hash of its job's wishes when wanted; 0: not known; memory only */
	struct fleet_name *name;
	struct fleet_node *older; /* the previous known generation of this name */
	struct fleet_node *state_next, **state_prev; /* list of its state */
	uint64_t order; /* of arrival: a number that later ones have greater; memory only */
};

struct fleet_elsewhere {              /* the instance on which slurmctld has a node */
	char id[PROVIDER_ID_MAX + 1]; /* InstanceId; "": not said */
	char addr[PROVIDER_ADDR_MAX + 1];
	int64_t since_ms; /* begin of the first snapshot with these */
};

struct fleet_insist {    /* an order that slurmctld may have lost (jobs/insist.c); memory only */
	const char *why; /* its Reason, a literal; NULL: there is no order */
	bool ends;       /* power the node down; else drain it */
	uint64_t gen;    /* the generation that the order is for */
	int64_t lost_ms; /* when slurmctld failed to take it ... */
	int64_t took_ms; /* ... or took it; both 0: no answer yet */
	bool refused;    /* slurmctld refused it: it is repeated ... */
	int64_t wait_ms; /* ... after so long */
};

struct fleet_name { /* one Slurm node */
	char name[HOSTLIST_NAME_MAX + 1];
	uint32_t pool;
	struct fleet_node *newest; /* NULL: none is known */
	uint64_t last_gen;         /* highest generation ever seen */
	int64_t forgot_ms;         /* when the newest forgotten generation ended */
	bool listed;               /* a pool names it */
	uint32_t flags;            /* enum slurm_flag, of the last snapshot; 0: not known */
	uint32_t gpus;             /* likewise */
	const char *gpu_model;     /* required in the name of a GPU; NULL: not known */
	const char *gpu_parts;     /* how many are MIG parts: static, "all" or "some"; NULL: none */
	uint32_t cpus, memory_mb, tmp_mb; /* likewise, by slurm.conf; 0: not known */
	/* as of the last snapshot; both unset if it has the node down, or without an instance */
	bool on_instance; /* slurmctld has the node up on the live row's instance */
	/* the other instance that slurmctld has it on; NULL: none */
	struct fleet_elsewhere *elsewhere;
	char *addr; /* NodeAddr, up or down, by the last snapshot or order; NULL: none is known */
	bool idle;  /* it boots, and no job has it, in the last snapshot */
	bool warm;  /* it is one of the nodes that its pool keeps up */
	bool kept;  /* slurmctld has it in SuspendExcNodes */
	uint64_t waits_for; /* number of the job that it is wanted for; 0: none known */
	int64_t waits_ms;   /* since when */
	int64_t useless_ms; /* when its job was found to have ended; 0: it has not */
	int64_t held_ms; /* since when slurmctld counts it allocated, though off and without job */
	bool shown;      /* scratch, for one pass over a snapshot: it has this node */
	int64_t missing_ms; /* since when the snapshots do not have it; 0: they do */
	bool barred;        /* refused: not bought until slurmctld asks again */
	bool climbs;        /* refused at one place, and the next one is tried */
	uint32_t tried;     /* bit i: rung i of its pool has refused it since slurmctld asked */
	struct refusal_hint hint; /* of the last refusal: when another try makes sense */
	enum node_reason refused; /* reason of the last refusal, for people, until bought or old */
	int64_t refused_ms;       /* when that was */
	uint64_t refused_for;     /* the job that it was refused to; 0: none known */
	char why[160];            /* and why */
	uint32_t fails;           /* instances in a row that did not come up */
	uint64_t failed_gen;      /* generation of the last of them */
	int64_t rests_ms;         /* not bought before this; 0: it does not rest */
	uint64_t used_gen;        /* the last generation that came up; memory only */
	int64_t unused_ms;  /* when one was released that had not come up; memory only; 0: never */
	int64_t forced_ms;  /* when slurmctld was last told to power it down */
	int64_t obeyed_ms;  /* forced_ms of the order that it took; 0: none.  No earlier job has it
			     */
	int64_t fenced_ms;  /* when slurmctld was told to drain it, as its machine will be taken */
	bool fencing;       /* slurmctld has not answered that order yet */
	bool unheard;       /* slurmctld did not take the last order to drain it or power it down */
	int64_t noticed_ms; /* when the notice came that slurmctld has not been told of yet; 0: none
			     */
	bool by_admin;      /* an admin has it drained or down, not burstd or slurmctld */
	struct job_lookup *lookup; /* jobs/rescue_node.c: while squeue is to name its jobs */
	struct fleet_insist insist;
	char *told;      /* the Reason that burstd gave last, for people; NULL: none */
	int64_t told_ms; /* when; memory only */
	char by[32];     /* the admin whose order about it was the last; memory only */
};

struct fleet_pool {
	uint32_t count[NODE_NSTATES];
	uint32_t nodes;      /* counted against max_nodes: all but GONE */
	uint32_t spot;       /* of those */
	int64_t rate_nano_h; /* likewise */
	uint32_t leaving;    /* of `nodes`: DELETING and accepted */
	int64_t leaving_nano_h;
	int64_t spent_nano; /* sum of the bills in the journal */
};

struct fleet {
	struct map names; /* -> struct fleet_name */
	struct fleet_name **all;
	size_t nall, cap;
	struct fleet_name **sorted; /* of fleet_sorted() */
	size_t nsorted;
	/* In the order in which they came to this state; but a WANTED row whose create was
	 * throttled has the place that it had.  Next: state_next. */
	struct fleet_node *states[NODE_NSTATES];
	struct fleet_node **tails[NODE_NSTATES];
	uint64_t order; /* of the last row that was added */
	struct fleet_pool *pools;
	size_t npools;
	int64_t wake_ms; /* no generation's wake_ms is earlier */
};

void fleet_init(struct fleet *f, size_t npools);
void fleet_fini(struct fleet *f);
void fleet_grow(struct fleet *f, size_t npools); /* more pools, never fewer */

/* The node of that name, made if it is missing. */
struct fleet_name *fleet_name(struct fleet *f, const char *name, uint32_t pool);
struct fleet_name *fleet_find(const struct fleet *f, const char *name); /* NULL: unknown */
/* "node/generation": the key of a generation in maps. */
void fleet_key(char *out, size_t size, const char *node, uint64_t gen);
struct fleet_node *fleet_gen(const struct fleet_name *nm, uint64_t gen); /* NULL: unknown */
/* All f->nall nodes sorted by name, numbers in names by value, so that n2 comes before n10.  Sorted
 * once, and again when there are new ones, so that people can page through it. */
struct fleet_name *const *fleet_sorted(struct fleet *f);

/* Set fn->ended to a copy of in; NULL: clear it. */
void fleet_ended(struct fleet_node *fn, const struct provider_instance *in);
/* Set the details of the reason for which the generation is about to end. */
/* The row, which the journal does not have yet, was bought for this job, among others; and: the
 * journal has them now. */
void fleet_buyer(struct fleet_node *fn, uint64_t job);
void fleet_forget_buyers(struct fleet_node *fn);
void fleet_because(struct fleet_node *fn, enum node_reason reason, const char *why);
/* Why *n, which is fn->n or *fn->next, was released, for people; "": it was not. */
const char *fleet_why(const struct fleet_node *fn, const struct node *n);

/* Forget where slurmctld has the node, until the next snapshot. */
void fleet_forget_place(struct fleet_name *nm);

/* slurmctld has this NodeAddr, or was told to have it; "": none.  Sets nm->addr. */
void fleet_addr(struct fleet_name *nm, const char *addr);
/* A snapshot that began then, and shows the effect of all orders, has it. */
void fleet_addr_seen(struct fleet_name *nm, const char *addr, int64_t began_ms);

/* Bar the node: it is not bought until fleet_unbar(), since slurmctld asks again, has let it go, or
 * an instance of it was found after all. */
void fleet_bar(struct fleet_name *nm, enum node_reason why, int64_t at_ms);
/* It may be bought again.  What people read of the refusal stays, until fleet_forget_refusal(). */
void fleet_unbar(struct fleet_name *nm);
void fleet_forget_refusal(struct fleet_name *nm);
/* Set the number of the job that the node is wanted for (0: none known), and since when. */
void fleet_wait_for(struct fleet_name *nm, uint64_t job, int64_t now_ms);
void fleet_wait_for_none(struct fleet_name *nm); /* since when stays: that was the last job */

/* Set nm->told: why slurmctld is told to drain the node or power it down. */
void fleet_tell(struct fleet_name *nm, const char *why, int64_t now_ms);

/* Add a generation; nm->newest is the one with the highest generation.  Its generation must be
 * new. */
struct fleet_node *fleet_add(struct fleet *f, const struct node *n);
/* Replace fn->n: name, generation, pool, place and rate must stay. */
void fleet_set(struct fleet *f, struct fleet_node *fn, const struct node *next);
/* Move it to the end of its state's list. */
void fleet_last(struct fleet *f, struct fleet_node *fn);
/* fn->next, for the caller to change; a copy of fn->n if it was not staged. */
struct node *fleet_stage(struct fleet_node *fn);
/* After the commit: fn->n becomes *fn->next. */
void fleet_publish(struct fleet *f, struct fleet_node *fn);
/* Likewise; returns the old fn->n, the caller's. */
struct node *fleet_swap(struct fleet *f, struct fleet_node *fn);
void fleet_del(struct fleet *f, struct fleet_node *fn); /* must be GONE, not staged, not busy */

/* The live generation of this name, as node_lives(); NULL: none.  Nearly always the newest: an
 * instance found at the provider may have a higher generation and end already (F58). */
struct fleet_node *fleet_live(const struct fleet_name *nm);
/* May a job be running on it?  A node that boots may have come up since the last snapshot; if it is
 * refused, squeue has just shown whether it has (jobs/refuse.c). */
bool fleet_may_work(const struct fleet_name *nm);
/* May an instance of it exist, so that it counts against limits? */
bool fleet_exists(const struct fleet_name *nm);
/* Does a pool name it, or may an instance of it exist?  NULL: false. */
bool fleet_is_ours(const struct fleet_name *nm);
/* Is a generation quarantined, or unreached?  Then no other can be bought: the wait for its end
 * has no limit. */
bool fleet_stuck(const struct fleet_name *nm);
/* A generation that is to end, and may exist at a provider that cannot be reached; NULL: none. */
struct fleet_node *fleet_unreached(const struct fleet_name *nm);
/* May the create of this generation be sent?  false while another generation may exist whose delete
 * is not accepted; or any other one, if the provider cannot tell generations apart (P2). */
bool fleet_clear(const struct fleet_node *fn, bool tagged);

#endif
