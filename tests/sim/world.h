/* world.h - a world of one seed: its clock, its dice, its faults, and everything that burstd talks
 * to.
 *
 * Nothing here decides anything for burstd: the core, engine and driver linked into the simulator
 * are the very objects of the daemon.  The world gives them io/ and store/ of its own (sim_*.c), in
 * which time passes only from task to task and whatever can go wrong goes wrong by a throw of
 * seeded dice.
 *
 * A crash is a flag.  From that instant no effect reaches the world, the stack unwinds as if
 * nothing had happened, then the engine is freed and later a new one starts from the durable store.
 */
#ifndef SIM_WORLD_H
#define SIM_WORLD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/node.h"
#include "engine/engine.h"
#include "sim_faults.h"

enum {
	SIM_NODES_MAX = 12,
	SIM_NODES_DICE = 8, /* of a world of dice; tests/crash makes its own */
	SIM_POOLS_MAX = 2,
	SIM_TRACE_LINES = 40,
	SIM_TRACE_WIDTH = 220,
	SIM_SAME_MS_MAX = 5000, /* tasks at one instant: more is a loop without end (I25) */
	SIM_SECOND = 1000,
	SIM_MINUTE = 60000,
	SIM_TOKEN_MS = 2 * SIM_MINUTE, /* what a forgetful provider knows a token for */
	SIM_CREATE_FEW = 2,            /* instances in one create, where that is little */
	SIM_PATHS_MAX = 4,             /* machines in one question where they are */
};

#define SIM_UUID "5111eb00-0000-4000-8000-000000000001"

#define SIM_BEGIN_MS INT64_C(1800000000000) /* some day in 2027 */

/* Counters over all seeds. */
struct sim_totals {
	uint32_t peak_requests, peak_commands; /* in one minute (I30) */
	uint64_t seeds, steps, crashes, creates, deletes, lists, polls, jobs_done, instances,
		commits;
	/* Jobs requeued and cancelled since their budget was used up, that died of its signal, or
	 * were refused by their prolog. */
	uint64_t ladder_requeues, ladder_cancels, ladder_deaths, ladder_unpaid;
	uint64_t het_done, het_cut; /* heterogeneous jobs done; that lost a part, and not all */
	/* Under faults: nodes that a job found up, that idled for SuspendTime and were powered
	 * down, and that were not. */
	uint64_t reuses, idle_suspends, warm;
	uint64_t placed; /* machines that the provider said the place of */
	/* Images that were tried, that became all machines' and that were stopped; creates that
	 * were refused for one; machines that were told to go for another. */
	uint64_t images_tried, images_rolled, images_stopped, images_refused, images_replaced;
	/* Nodes that burstd created in slurmctld; that this lost. */
	uint64_t created, lost;
	uint64_t place_fails, place_probes; /* places closed as purchases fail; and tried again */
	/* of munge's key: done, aborted, that burstd died in, admins' own writes, nodes left behind
	 */
	uint64_t rotations, rotations_aborted, rotations_cut, rotations_beside, rotations_drained;
	uint64_t met[SIM_NFAULTS][NODE_NSTATES + 1]; /* last column: no row */
};

struct world;
struct sim_cloud;
struct sim_ctld;
struct journal;

typedef void (*task_fn)(struct world *w, void *ctx, uint64_t arg);

struct task {
	int64_t at;
	uint64_t seq;
	task_fn fn;
	void *ctx;
	uint64_t arg;
};

enum sim_cool { COOL_CAPACITY, COOL_QUOTA, SIM_COOLS };

enum { SIM_RUNGS = 3, SIM_PLACES_MAX = SIM_POOLS_MAX * SIM_RUNGS + 1, SIM_COOLDOWN_MS = 2000 };

enum sim_makes { /* what comes of a create that is accepted */
		 MAKES_WELL,
		 MAKES_AN_END,   /* its machine never runs, and ends by itself ... */
		 MAKES_AN_ERROR, /* ... or is there, and billed, in a state that nobody knows, until
				  * it is deleted, ... */
		 MAKES_A_FAILURE /* ... or as one that has failed, since there was no host for it
				  */
};

struct sim_place { /* where something may be bought; type "": none yet */
	char type[16], region[16], market[16];
	int64_t out_until;            /* it has nothing */
	struct sim_cooling {          /* what burstd was told of that, in this life */
		unsigned life, times; /* one after the other */
		int64_t told_at;
		int64_t since; /* when the pause may have begun, at the earliest */
		unsigned maybe_life;
		int64_t maybe_at; /* an answer to a repeated create, which may have begun one */
		uint64_t turn;    /* in which told_at was */
		unsigned sold_life;
		int64_t sold_at; /* when the purchase was sent that ended it last; 0: none did */
	} cooling[SIM_COOLS];
	uint32_t capacity, quota; /* sim_stock.c; 0: not chosen yet */
	bool twin;                /* it is sold under the account's other name */
	int64_t fails_until;
	enum sim_fails { FAILS_NOT, FAILS_REFUSES, FAILS_IS_SILENT, FAILS_SAYS_SO } fails;
	int64_t makes_until;
	enum sim_makes makes; /* of all that is bought there, until then */
	struct sim_failed {   /* what burstd must know of that, in this life */
		unsigned life, times;
		int64_t since, last; /* the first and the last failure that it was told of */
		int64_t until;       /* times: it may not be tried before */
		int64_t probe_at;    /* when what tries it was sent; 0: nothing does ... */
		uint64_t probe_turn; /* ... and in which turn */
	} failed;
};

struct sim_pool {
	char name[16], nodes[32], type[16];
	uint32_t nnodes, max_nodes;
	uint32_t unit; /* nodes of each placement unit; 0: it has none */
	int64_t price, max_rate;
	bool ladder;   /* it has SIM_RUNGS offers, of one price */
	bool dynamic;  /* burstd creates its nodes in slurmctld */
	uint32_t warm; /* nodes that are up without a job, too */
	int64_t quantum_ms;
};

/* What is so of a pool, and what burstd has been told of its machines since one last came up. */
struct sim_pool_state {
	int64_t wrong_until; /* machines made until then register wrong */
	bool paused;         /* an admin's order, which burstd took */
	uint32_t waves;      /* of useless machines, one bought after the other had failed */
	int64_t failed;      /* when it was told of the last one */
	bool vague;          /* one that was to go came up wrong, and may have counted or not */
	int64_t closed_until;
	uint64_t step, commits; /* in which that was, and after how many commits */
	uint64_t turn;          /* in which it was told what closed the pool */
	char alone[16];         /* the node that failed, if it was only one */
	struct sim_rest {
		char node[16];
		uint32_t fails;
		uint64_t gen;  /* of the last one that failed */
		int64_t until; /* not to be bought before */
	} rests[SIM_NODES_MAX + 1];
};

enum sim_limit_kind {
	SIM_LIMIT_CREATE,
	SIM_LIMIT_LIST,
	SIM_LIMIT_DELETE,
	SIM_LIMIT_REST,
	SIM_LIMITS
};

struct sim_price {
	int64_t now, gone_until; /* the provider's; not offered before */
	int64_t told, before;    /* what burstd was told last, and before that; 0: not offered */
	int64_t told_at;
	unsigned life, ever; /* ever: 1 + the life in which it was told that it is offered */
};

struct sim_offers { /* in one answer; 0: not offered */
	int64_t price[SIM_POOLS_MAX][SIM_RUNGS];
};

struct sim_limits {     /* the provider's: token buckets, sim_limit.c */
	bool some, one; /* it has them; one for all kinds of requests */
	int64_t gap_ms[SIM_LIMITS], size[SIM_LIMITS];
	bool slow;              /* its answers to creates */
	bool tells[SIM_LIMITS]; /* by Retry-After, how long to wait */
};

/* What this seed is like. */
struct sim_setting {
	bool calm, stubborn;           /* sim_climate.c */
	bool tokens, gangs, old_slurm; /* old_slurm: 22.05's resume file */
	bool settings;       /* `scontrol show config` answers; else burstd knows no version */
	bool instance_ids;   /* slurmd says which instance it is on */
	bool prolog;         /* burst-prolog is PrologSlurmctld */
	bool fabric;         /* jobs of pools get a fabric of their own */
	bool paths;          /* the provider says where its machines are */
	bool bare;           /* slurmctld has no nodes but those of dynamic pools */
	bool units;          /* pools have placement units, each in a fabric of its own */
	bool warm;           /* some pools keep nodes warm, or have a quantum ... */
	bool fixed;          /* ... and slurm.conf has a count of those that are to stay */
	bool afresh;         /* a create that is repeated tries again what was refused (F4) */
	bool polled;         /* a create is an operation that is asked about (ADR 36) */
	bool twins;          /* the account stands in burstd.conf twice, for different offers */
	bool claims;         /* machines are given a claim to the cluster's keys ... */
	bool bootstrap;      /* ... and make it */
	bool wrap;           /* a node gets a token for the keys, not the keys */
	bool check_address;  /* a claim must come from there, whatever it proves */
	bool rotates;        /* people rotate munge's key ... */
	bool switch_command; /* ... and slurmctld's munged is switched by a command of theirs */
	bool vouchers;    /* machines have a token for them in their user-data, and claim nothing */
	int attest;       /* enum conf_attest: what proves which machine it is */
	int64_t claim_ms; /* for that; 0: as long as it may boot */
	bool checkpoint;  /* jobs are told to save their work */
	bool budgets;     /* money is set aside */
	bool ladder;      /* ... and is used up, which ends jobs */
	bool het;         /* some jobs are heterogeneous */
	bool images;      /* pools get new images: sim_image.c */
	bool rebalance;   /* nodes are drained when they may soon be reclaimed ... */
	int64_t wait_ms;  /* ... for so long */
	bool single;      /* one instance in each create, and in each delete */
	bool reuse;       /* an address is given out again as soon as it is free (F37) */
	int64_t token_ms; /* the provider knows a token for so long (I6) */
	uint32_t create_max, delete_max, page;
	size_t slice; /* nodes that burstd takes in one turn */
	int64_t settle_ms, list_ms, timeout_ms, boot_ms, linger_ms;
	int64_t suspend_s, suspend_timeout_s, resume_timeout_s, requeue_s, slurmd_timeout_s;
	uint32_t concurrency, rate;
	struct sim_limits limits;
	int64_t unreachable_ms;
	size_t npools;
	struct sim_pool pools[SIM_POOLS_MAX];
	uint32_t chance[SIM_NFAULTS]; /* per mille; 0: off in this seed */
};

#define SIM_STORE_URL "https://keys.test"

struct sim_boot;

struct world {
	uint64_t seed, rng, step, task_seq;
	int64_t now;    /* what the world's clocks say */
	int64_t skew;   /* how far burstd's time is ahead of that (F57) ... */
	int64_t wall;   /* ... and the wall clock that it shares with slurmctld ... */
	int64_t set_at; /* ... which was set then */
	int64_t life_began;
	bool listed, told;         /* in this life it had a whole list; a whole snapshot */
	int64_t frozen_until;      /* it has no turn until then */
	bool standing;             /* ... in the midst of one */
	uint64_t turn;             /* turns, of burstd or of the world */
	uint64_t idle_turn;        /* before the last of them burstd had no more to do at once */
	int64_t reloaded;          /* when burstd last read its configuration again; 0: never */
	int64_t disk_until;        /* until then the disk has no room (F55) ... */
	bool told_full;            /* ... as far as burstd was told */
	int64_t slow_until;        /* until then it is busy */
	bool no_offers;            /* for a drill: the provider does not say its prices */
	enum sim_fails next_fails; /* likewise: the place of the next create does so from then on */
	bool throttled;            /* a drill was: its place may be shut still */
	enum sim_makes next_makes;
	bool gives_up; /* likewise: once it has written that it gives a node up, burstd is dead */
	bool faults;   /* phase one */
	bool queue;    /* it is that of sim_queue.c */
	bool crashed;  /* the present life of burstd is over */
	bool failed;
	char why[300];
	struct sim_setting set;
	struct zone *report_zone;  /* NULL: without budgets */
	uint64_t mails;            /* sent, in all lives */
	bool zoned[SIM_POOLS_MAX]; /* the configuration names a zone for this pool */
	uint64_t commits;          /* that are durable */
	struct sim_pool_state pools[SIM_POOLS_MAX];
	struct sim_images {                 /* sim_image.c */
		uint32_t of[SIM_POOLS_MAX]; /* which one each pool is to have; 0: none */
		uint64_t bad;               /* bit i: image i does not work */
		uint32_t n;
		bool resumes;           /* an admin tries one once more, now */
		struct sim_bad_canary { /* sim_roll.c: one failed, as burstd was told ... */
			bool has_failed;
			char image[8];          /* ... of this image ... */
			uint64_t turn;          /* in which that was ... */
			uint64_t step, commits; /* ... and after so many commits */
		} failed[SIM_POOLS_MAX][SIM_RUNGS];
	} images;
	struct sim_place places[SIM_PLACES_MAX];
	struct sim_price prices[SIM_POOLS_MAX][SIM_RUNGS];
	int64_t listed_at[2]; /* when burstd had a whole list last, by each name of the account */
	bool turned;          /* the rungs stand the other way round in burstd.conf */
	/* The account's other name: what burstd.conf or its files lack now ... */
	enum sim_absent { ABSENT_NOT, ABSENT_SECTION, ABSENT_FILE } absent;
	bool off; /* ... and is it off, as far as burstd knows? */
	struct task *heap;
	size_t ntasks, cap;
	int64_t same_ms;
	/* burstd */
	struct engine *engine; /* NULL between two lives */
	unsigned life;
	struct loop *loop;
	struct http_client *http;
	struct proc *proc;
	struct journal *journal;
	struct spool *spool;
	/* what it talks to */
	struct sim_cloud *cloud;
	struct sim_ctld *ctld;
	struct engine_door door;
	struct sim_boot *boot;          /* sim_boot.h */
	char url[32], twin_url[32];     /* of one length */
	int64_t limited_at[SIM_LIMITS]; /* when each bucket would be full: sim_limit.c */
	unsigned deletes_out;           /* on the wire, of this life */
	int64_t delete_from;            /* before that none could go, for want of an answer */
	int64_t throttled_at;           /* the last answer that said so; 0: none in this world */
	/* constant work (I30): requests in the present minute */
	int64_t minute;
	uint32_t requests, commands;
	struct sim_totals *totals;
	bool tracing, echo; /* echo: every line at once, to stderr */
	unsigned trace_n;
	char trace[SIM_TRACE_LINES][SIM_TRACE_WIDTH];
};

void world_init(struct world *w, uint64_t seed, struct sim_totals *t, bool tracing);
void world_fini(struct world *w);

/* Dice. */
uint64_t world_random(struct world *w);
uint32_t world_below(struct world *w, uint32_t n);                 /* 0 ... n - 1; n is not 0 */
int64_t world_between(struct world *w, int64_t low, int64_t high); /* both included */
bool world_one_in(struct world *w, uint32_t n);
/* Does this fault happen on this occasion? */
bool world_fault(struct world *w, enum sim_fault f);
/* It happened to this generation (gen 0: the newest) of this node: count it under its durable
 * state. */
void world_met(struct world *w, enum sim_fault f, const char *node, uint64_t gen);

/* Time. */
void world_at(struct world *w, int64_t at, task_fn fn, void *ctx, uint64_t arg);
/* Run the next task or timer.  false: there is none. */
bool world_step(struct world *w);
/* Burstd stands where it is, and the rest of the world goes on, until it is not frozen any more. */
void world_stand(struct world *w);

/* An effect is about to reach the world, or just has: the process may die here.  false: it is dead,
 * and the effect must not happen. */
bool world_alive(struct world *w);

/* The first failure is kept. */
void world_fail(struct world *w, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void world_trace(struct world *w, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
#define SIM_TRACE(w, ...)                                                                          \
	do {                                                                                       \
		if ((w)->tracing)                                                                  \
			world_trace(w, __VA_ARGS__);                                               \
	} while (0)

const struct sim_pool *world_pool_of(const struct world *w, const char *node); /* NULL: none */

/* --- sim_place.c --- */
struct create_request;
/* Has that place nothing?  It runs out, for a while. */
bool sim_place_is_out(struct world *w, const struct create_request *rq);
void sim_place_runs_out(struct world *w, const struct create_request *rq);
struct sim_place *sim_place_of(struct world *w, const struct create_request *rq);
/* A new create is about to go there; burstd has an answer to one, which was sent then for the first
 * time or not, and says that there is nothing. */
void sim_place_check(struct world *w, const struct create_request *rq);
void sim_place_told(struct world *w, const struct create_request *rq, int64_t sent_at,
		    enum sim_cool why);
void sim_place_sold(struct world *w, const struct create_request *rq,
		    int64_t sent_at);             /* all of it, it says */
int64_t sim_place_calm_at(const struct world *w); /* by then all has cooled down */
void sim_place_choose(struct world *w);
void sim_fabric_choose(struct world *w);     /* sim_fabric.c: are there fabrics, and units? */
void sim_place_heal(struct world *w);        /* no place fails any more */
bool sim_place_cools(const struct world *w); /* does burstd leave one alone for a while? */
/* How does a create that is sent there now fail?  It may begin with it. */
enum sim_fails sim_place_fails(struct world *w, const struct create_request *rq, bool twin);
/* What comes of one that is accepted there now?  It may begin with it. */
enum sim_makes sim_place_makes(struct world *w, const struct create_request *rq);
void sim_place_listed(struct world *w, bool twin); /* a whole list was answered */
/* Burstd has the answer to a create that it sent then, or (rq NULL) to what comes before one, of
 * any place.  status 0: there was no answer. */
void sim_place_answered(struct world *w, const struct create_request *rq, long status,
			int64_t sent_at);

/* --- sim_stock.c --- */
struct inst;
void sim_stock_choose(struct world *w);
/* How many more the place has, and the word for that it has no more. */
uint32_t sim_stock_left(struct world *w, const struct create_request *rq, const char **why);
/* Which of them it does not have; NULL: it has all. */
const char *sim_stock_refuse(struct world *w, const struct create_request *rq, bool *refused);
void sim_stock_sold(struct world *w, const struct create_request *rq, struct inst *i);
void sim_stock_back(struct world *w, struct inst *i); /* it has ended */

/* --- sim_price.c --- */
void sim_price_choose(struct world *w);
void sim_price_heal(struct world *w);
void sim_price_list(struct world *w, struct sim_offers *out);
bool sim_price_gone(struct world *w, const struct create_request *rq);
void sim_price_told(struct world *w, const struct sim_offers *o, bool twin);
void sim_price_row(struct world *w, const struct node *n); /* a new one is durable */

/* --- sim_limit.c --- */
void sim_limit_choose(struct world *w);
/* Has the provider no token for this one?  *retry_s: what it says of how long to wait; 0: nothing.
 */
bool sim_limit_refuses(struct world *w, enum sim_limit_kind kind, unsigned *retry_s);
/* A delete goes out, and is over: answered, lost or cancelled. */
void sim_limit_delete_sent(struct world *w);
void sim_limit_delete_back(struct world *w, bool throttled, unsigned retry_s);
void sim_limit_check(struct world *w); /* is one late? */

/* --- sim_freeze.c --- */
void sim_freeze_choose(struct world *w);
void sim_freeze_start(struct world *w);
bool sim_frozen(const struct world *w);
void sim_freeze(struct world *w, int64_t ms);
/* Does what would reach burstd now reach it when it goes on?  It is a task for then. */
bool sim_freeze_holds(struct world *w, task_fn fn, void *ctx, uint64_t arg);

/* --- sim_absent.c --- */
void sim_absent_choose(struct world *w);
void sim_absent_start(struct world *w);
void sim_absent_heal(struct world *w);
bool sim_absent_section(const struct world *w); /* is its section taken out? */
void sim_absent_life(struct world *w);          /* burstd starts */
int sim_absent_files(void *ctx, struct conf_provider *p, size_t i, const char **credential,
		     struct err *e);
/* A request is about to go there; a durable row becomes *next. */
void sim_absent_asked(struct world *w, const char *url);
void sim_absent_row(struct world *w, const struct node *was, const struct node *next);

/* --- sim_slow.c --- */
void sim_slow_choose(struct world *w);
void sim_lapse_choose(struct world *w);
void sim_het_choose(struct world *w); /* sim_het.c */
void sim_dynamic_choose(struct world *w);
void sim_topology_choose(struct world *w);
void sim_slow_start(struct world *w);
void sim_slow_wait(struct world *w); /* something is about to become durable */

/* --- sim_climate.c --- */
struct ctld_node;
void sim_climate_choose(struct world *w);
/* How long this world has faults, where others have so many steps; until the next job comes. */
uint64_t sim_climate_steps(const struct world *w, int64_t steps);
int64_t sim_climate_gap(struct world *w);
/* A job gets this node; slurmctld looks whether it has idled long enough. */
void sim_climate_starts(struct world *w, const struct ctld_node *n);
void sim_climate_idles(struct world *w, const struct ctld_node *n, bool to_suspend);
unsigned sim_climate_missed(const struct sim_totals *t); /* what was played too seldom */

/* --- sim_loop.c --- */
struct loop *sim_loop_new(struct world *w);
void sim_loop_free(struct loop *l);
int64_t sim_loop_next(const struct loop *l); /* earliest timer; INT64_MAX: none */
void sim_loop_fire(struct loop *l);
struct world *sim_loop_world(const struct loop *l);

/* --- sim_http.c --- */
struct http_client *sim_http_new(struct world *w);
void sim_http_free(struct http_client *c);
void sim_http_cancel_all(struct http_client *c); /* after a crash and engine_free() */

/* --- sim_proc.c --- */
struct proc *sim_proc_new(struct world *w);
void sim_proc_free(struct proc *p);
void sim_proc_cancel_all(struct proc *p);
/* Does burstd wait for squeue to say who listens, for longer than its orders wait for that? */
bool sim_proc_who_is_late(const struct proc *p);

/* --- sim_pool.c: images that are wrong, pools that are paused, and the judge of both --- */
bool sim_pool_is_wrong(const struct world *w, uint32_t pool);

/* --- sim_image.c: images that are rolled out, of which some do not work --- */
enum { SIM_CANARIES = 2 }; /* of each offer */
struct create_request;
struct ctld_node;
struct inst;
struct roll;
struct sim_ctld;
bool sim_image_world(const struct world *w);
/* The name of the image that the pool is to have, on the heap; "": none. */
char *sim_image_name(const struct world *w, size_t pool);
void sim_image_start(struct world *w);
void sim_image_change(struct world *w); /* before a reload, or while burstd does not run */
/* Does it not work?  In one of three ways. */
bool sim_image_is_bad(const struct world *w, const char *name);
bool sim_image_is_wrong(const struct world *w, const char *name);   /* its machines lack GPUs ... */
bool sim_image_is_mute(const struct world *w, const char *name);    /* ... or never come up ... */
bool sim_image_is_unknown(const struct world *w, const char *name); /* ... or cannot be made */
void sim_image_made(struct world *w, const struct inst *in); /* no more of them than canaries */
int64_t sim_image_at_once(const struct world *w);            /* image_at_once of all pools */
/* A person stops one, or tries one once more. */
void sim_image_order(struct world *w);

/* --- sim_roll.c: the judge of how they are rolled out --- */
/* The roll of an offer becomes *r, which is durable; was: before that, NULL: there was none. */
void sim_roll_put(struct world *w, const char *pool, const char *offer, const struct roll *was,
		  const struct roll *r);
/* A create is about to be sent; anew: it is none that is repeated. */
void sim_roll_create(struct world *w, const struct create_request *rq, bool anew);
/* Burstd was told that this machine does not work. */
void sim_roll_failed(struct world *w, const struct node *n);
void sim_roll_crashed(struct world *w);
/* slurmctld is told of this node. */
void sim_roll_told(struct sim_ctld *c, const struct ctld_node *n, const char *state,
		   const char *reason);
bool sim_roll_settled(const struct world *w, char *why, size_t size); /* nothing is left to do */
/* The journal is an older one: burstd may take any image for one that works. */
void sim_image_forget(struct world *w);

/* Burstd was told of this node that it registered wrong. */
void sim_pool_saw_wrong(struct world *w, const char *node);
/* A durable row becomes *next; born: when it became durable. */
void sim_pool_row(struct world *w, const struct node *was, const struct node *next, int64_t born);
void sim_pool_forgive(struct world *w, uint32_t pool); /* by an admin, or it works */
void sim_pool_crashed(struct world *w);
void sim_pool_check_create(struct world *w, const char *node);

/* --- sim_check.c --- */
void check_step(struct world *w); /* what must hold at every instant */
/* A durable row becomes *next; born: when it became durable, by the world's clock. */
void check_release(struct world *w, const struct node *was, const struct node *next, int64_t born);
/* Burstd has decided that the job this node boots for has ended (F53). */
void check_cancelled(struct world *w, const char *node);
struct inst;
/* Was this one given up before it came up? */
bool check_given_up(const struct world *w, const struct inst *i);
/* Burstd has decided that this node, which is up, is to be powered down (F51). */
void check_powered_down(struct world *w, const char *node);
bool check_converged(struct world *w, char *why, size_t size); /* nothing is left to do (I24) */

/* A job's nodes go back to slurmctld because one of them cannot be had. */
void check_refused(struct world *w, const char *node);

/* --- sim_topology.c: where machines are --- */
void sim_topology_check(struct world *w);                           /* at every step */
bool sim_topology_settled(struct world *w, char *why, size_t size); /* of all that are up */
/* A durable row becomes *next. */
void sim_topology_row(struct world *w, const struct node *was, const struct node *next);

/* --- sim_cells.c: which fault met which state ---
 */
void sim_cells_print(const struct sim_totals *t);
unsigned sim_cells_missed(const struct sim_totals *t); /* how many were never met, and can be */

/* --- sim_drill.c --- */
/* With nothing faulty and nothing wanted: things that must be done within a bound. */
void sim_drill(struct world *w, void (*step)(struct world *w));

/* --- sim_queue.c --- */
/* In a world of its own: a thousand deletes at a slow provider.  false: *w says what failed. */
bool sim_queue(struct world *w, bool echo);

/* --- sim_life.c --- */
void sim_life_init(struct world *w);
void life_start(struct world *w);
void sim_life_cool(struct world *w); /* by a reload: no pool keeps anything any more */
int sim_life_reload(struct world *w, struct err *e);
int64_t sim_life_unmount_ms(const struct world *w); /* from a node's release to its delete */
void life_end(struct world *w);                     /* after a crash, or at the end of the seed */

#endif
