/* buy.h - from a call of slurmctld to machines, and back: which nodes to buy and where, creates,
 * deletes, blocked pools, warm nodes. */
#ifndef BURSTD_BUY_BUY_H
#define BURSTD_BUY_BUY_H

#include "buy/buy_api.h"
#include "cloud/cloud.h"
#include "core/demand.h"
#include "core/plan.h"
#include "engine/kernel.h"
#include "io/spool.h"
#include "keys/keys.h"
#include "store/journal_nodes.h"
#include "store/journal_pools.h"
#include "store/journal_rolls.h"

enum {
	INTAKE_CALLS_MAX = 1000,     /* fresh calls that wait; all others are hints */
	INTAKE_BYTES_MAX = 64 << 20, /* ... and what they say */
	ENGINE_HINT_MS = 250,        /* between two polls, however many hints come */
	ENGINE_LOSSES_MS = 3600000,  /* how long status shows what a provider took */
};

struct batch { /* one create and its repeats */
	struct batch *next;
	struct journal_batch j;
	uint32_t pool, cloud;
	struct member *members; /* in the order sent; a NULL name: lost, cannot be repeated */
	struct provider_want *wants;
	struct provider_place place;
	char fabric[PROVIDER_WORD_MAX + 1]; /* batch_fabric() */
	char *user_data;                    /* while the request is on the wire; a secret */
	size_t n;
	int64_t sent_ms;  /* when it was last sent since burstd started; j.at_ms: first */
	const char *verb; /* in the audit record: "create", "create-again" */
	bool inflight;    /* a request is on the wire, or its answer is not posted yet */
	bool made;        /* the fabric is made, and the create waits for its turn */
};

struct fresh_call { /* a resume call that is fresh, and not yet acted on */
	struct fresh_call *next;
	char *name;       /* of its file in the spool */
	int64_t since_ms; /* it was taken in then */
	bool overtaken;   /* a snapshot was begun after it, and decides */
	bool asks;        /* it waits for squeue to name its jobs */
	bool read;        /* `demand` is what it says */
	struct demand demand;
	char *list, *file;
	size_t list_len, file_len;
};

/* The machines of a batch, as keys/ takes them. */
static inline struct keys_for keys_of(const struct batch *b)
{
	return (struct keys_for){.members = b->members,
				 .n = b->n,
				 .pool = b->pool,
				 .cloud = b->cloud,
				 .token = b->j.token};
}

struct buy_state {
	struct batch *batches;
	uint64_t last_batch;
	uint32_t last_group;
	struct answer *answers, **answers_last; /* answers to creates, not yet posted */
	struct fresh_call *calls, **calls_last; /* of hooks */
	size_t ncalls, call_bytes;              /* bytes: of their lists and files */
	struct fresh_call *acted; /* calls whose files go once what came of them is durable */
	char spool_trouble[256];  /* why the spool cannot be read as it should be; "" */
	char *wanted;  /* nodes that slurmctld wants and nobody asked us for: a node list */
	bool climbing; /* some nodes were refused at one place, and may have another */
	bool wanted_asked, call_asked, climb_asked; /* squeue runs for these; for the first call */
	struct pool *pools;
	struct roll_of *rolls; /* rolls.c */
	size_t nrolls;
	int64_t rolls_ms;         /* the snapshot that rolls were compared with last */
	bool rolls_due;           /* the configuration, or a provider, is another one */
	bool failing;             /* some row may be WANTED at a place where purchases fail */
	bool unplaced;            /* some rows of the journal lack their provider */
	bool resting;             /* some nodes may be resting */
	struct journal_room room; /* on the disk, at the last look */
	char no_room[128];        /* for people, when room.low */
	struct warm *warm;
	struct submit_seen *submit; /* submit.c; NULL: not asked yet */
};

/* --- intake_spool.c --- */
extern const struct engine_part intake_spool_part;

/* --- intake.c --- */
/* Take a call from the spool; fits spool_fn, ctx is the engine.  true: it is fresh, and will be
 * acted on in its turn.  false: it is a hint, which makes the next snapshot come soon. */
bool intake_take(void *ctx, const struct spool_call *call);
void intake_hint(struct engine *e); /* ask slurmctld soon */
extern const struct engine_part intake_part, intake_forget_part;

/* --- intake_buy.c --- */
/* The state of each pool for plan_make(); free it by intake_free_pools(). */
struct plan_pool *intake_pools(struct engine *e);
void intake_free_pools(const struct engine *e, struct plan_pool *pools);
/* The terms of all offers, for what is set aside; free() it.  NULL: there are no budgets. */
struct plan_terms *intake_terms(struct engine *e);

/* --- preview_money.c --- */
/* Fill in what the purchases of the plan would set aside for the job of this payer, and its
 * machines. */
void preview_set_aside(struct engine *e, const struct plan_ask *a, const struct plan *plan,
		       const struct payer *p, struct engine_plan *out);
/* Where budgets need to know all accounts, or where this payer's is, and do not yet, nothing is
 * bought. */
void preview_wait_for_accounts(struct engine *e, const struct payer *p, struct engine_plan *out);
/* The next of these partitions ("a,b") in which all nodes of the list are; list NULL: the next one.
 * *names moves behind it.  false: there is none. */
bool preview_next_partition(const struct engine *e, const char **names, const char *list,
			    char out[PAYER_NAME_MAX + 1]);
/* Does plan a let the job have less than b, or set aside more? */
bool preview_is_worse(const struct engine_plan *a, const struct engine_plan *b);

/* --- preview_units.c --- */
/* Count the placement units of the job: of the nodes that are asked for by name, else the least
 * that so many nodes need. */
void preview_units(const struct engine *e, const struct engine_plan_ask *a,
		   struct engine_plan *out);

/* --- intake_buy.c --- */
/* Want what the plan allows; refuse what it does not; leave the rest to the next poll. */
void intake_act_on(struct engine *e, struct demand *d, const char *why);

/* --- place_adopt.c --- */
/* Fill in the offer and rate of an instance of the pool that the journal does not know.  Of the
 * offers at that provider that it may have been bought from, by what the list says of it, it is the
 * one that was dearest when it was created, and its rate is that price.  false: the book does not
 * know a price of then, and its rate is that of the offer that is dearest now. */
bool place_adopt(const struct cloud *c, struct node *n, const struct provider_instance *in);
/* Is the price of such an offer known, and as much of the past as the provider tells? */
bool place_priced(const struct cloud *c, uint32_t pool);

/* --- place.c --- */
extern const struct engine_part place_part;
/* Fill in the row's offer, provider, market and rate: it will be bought by o. */
void place_set(const struct engine *e, struct node *n, const struct conf_offer *o, int64_t rate);
/* Find the provider of a row of the journal, n->pool set. */
void place_load(struct engine *e, struct node *n);
/* The price of one more node of the pool, for a job without wishes; 0: none can be bought now. */
int64_t place_next_price(struct engine *e, uint32_t pool);
struct ladder_known *place_known(struct engine *e, uint32_t pool); /* of each rung; the caller's */
enum place_answer {
	PLACE_SELLS, /* a purchase may go out */
	/* A probe, the one purchase after a pause, is out, or one that goes alone: wait for its
	 * answer. */
	PLACE_TELLS_SOON,
	PLACE_SOLD_OUT, /* the place cools down */
};
/* May a purchase go out there now?  Changes nothing. */
enum place_answer place_would(struct engine *e, const struct conf_offer *o);
/* Likewise just before one goes out: after a pause it becomes the probe (cooldown_buy()). */
enum place_answer place_buy(struct engine *e, const struct conf_offer *o);
/* What goes out there now goes alone: others wait for its answer (cooldown_alone()). */
void place_alone(struct engine *e, const struct conf_offer *o);
bool place_is_cooling(struct engine *e,
		      const struct conf_offer *o); /* not even a probe may go out */
struct cooldown_view place_view(struct engine *e, const struct conf_offer *o);
/* Does the place cool down because purchases fail there?  Then why says so, for people. */
bool place_fails(struct engine *e, const struct conf_offer *o, char why[160]);
int64_t place_ready_ms(struct engine *e, const struct conf_offer *o); /* 0: ready, or not known */
/* Note the answer to a purchase of n nodes. */
void place_bought(struct engine *e, const struct conf_offer *o, const struct provider_result *r,
		  size_t n, int64_t sent_ms);
/* Likewise, of nodes of a unit whose fabric has machines already: that it has no room for more says
 * nothing of the place, where other units may have room. */
void place_bought_beside(struct engine *e, const struct conf_offer *o,
			 const struct provider_result *r, size_t n, int64_t sent_ms);
void place_sold(struct engine *e, const struct node *n); /* the row's instance was made */
/* A node there, bought at sent_ms, was accepted and has failed since: r->code says why. */
void place_failed_later(struct engine *e, const struct conf_offer *o,
			const struct provider_result *r, int64_t sent_ms);
/* Set why the node was refused, for people, in the provider's words. */
void place_say_why(struct cloud *c, struct fleet_node *fn, enum node_reason why, const char *words);
/* The purchase of this row was in doubt, and made nothing. */
void place_doubt_ends(struct engine *e, const struct node *n);
/* A purchase could not be sent, so a probe has told nothing. */
void place_unsent(struct engine *e, const struct conf_offer *o);
size_t place_unsold(const struct engine *e, const struct conf_offer *o,
		    struct unsold_say out[UNSOLD_EACH]); /* as unsold_last() */
/* Forget pauses, as engine_retry(). */
int place_retry(struct engine *e, const char *what, size_t *n);

/* The machine of this row was reclaimed, or ended without notice.  Several such at one place within
 * a minute put the place into a pause: it has nothing more to sell. */
void place_reclaimed(struct engine *e, const struct fleet_node *fn);

/* --- launch.c --- */
extern const struct engine_part launch_part;

/* --- launch_batch.c --- */
void launch_load(struct engine *e, const struct journal_batch *j);
void launch_restore(struct engine *e); /* after the nodes are loaded */
void launch_settle(struct engine *e);  /* forget batches of which no row is CREATING or INDOUBT */
/* needs(): is the row a member of a batch?  A repeat of its create must name it again (I4). */
bool launch_needs(const struct engine *e, const struct node *n);

/* --- launch_answer.c --- */
void launch_answered(struct engine *e); /* post the answers to creates, as far as e->left allows */
extern const struct engine_part launch_answer_part;
void launch_free(struct engine *e); /* the batches, too */

/* --- launch_send.c --- */
/* Make one create of these nodes, from this image: commit its intent, then send the request (I1,
 * I5). */
void launch_send(struct cloud *c, struct fleet_node **nodes, size_t n, struct roll_image image);

/* --- form.c --- */
struct draft { /* nodes of one place that will be one batch */
	struct fleet_node **v;
	size_t n, cap;
	const struct conf_offer *rung; /* NULL: it has no nodes yet */
	bool alone;                    /* one job, in one create or not at all */
	bool asked;                    /* `may` is known: place_buy() is called once a turn */
	enum place_answer may;
};
/* Add the nodes of one job, or a single node, all of one unit if the offer buys by units; a full
 * batch goes out first, and so does one of another unit.  While no slot is free nothing is added,
 * and the nodes wait for an answer to free one. */
void form_add(struct engine *e, struct draft *f, struct fleet_node **v, size_t n);
/* Send these nodes in one create with no others; refuse them if they do not fit into one. */
void form_add_alone(struct engine *e, struct draft *f, struct fleet_node **v, size_t n);
void form_flush(struct engine *e, struct draft *f); /* send as much as place and limits allow */
/* Does the provider's limit allow n instances now?  false: they are in line for it. */
bool form_has_room(struct cloud *c, size_t n);
/* Refuse these nodes, unsent. */
void form_refuse(struct engine *e, struct fleet_node **v, size_t n, enum node_reason reason,
		 const char *why);

/* --- wanted.c --- */
/* Was the node wanted at known_ms, or in a snapshot, recently enough to be bought?  While burstd
 * stands still, or slurmctld does not answer, slurmctld may give nodes up (F47, F54); normally a
 * snapshot comes each second while nodes are wanted. */
bool wanted_is_fresh(const struct engine *e, int64_t known_ms);
/* Likewise for a row; one from before burstd's start is not wanted before the first snapshot says
 * so (I13). */
bool wanted_is_told(const struct engine *e, const struct node *n);
bool wanted_goes(struct cloud *c); /* may a create go to this provider now? */
/* Collect WANTED rows that may go out, those that go first and then by arrival: whole gangs, until
 * there are slice.send or more; and besides, up to slice.send rows whose place is sold out, which
 * the caller refuses. Rows whose place waits for the answer to a probe are left out.  Returns how
 * many; *out is the caller's. */
size_t wanted_collect(struct engine *e, struct fleet_node ***out);
/* How many nodes would be bought at this provider if creates could go there; *oldest_ms is moved to
 * when the first of them was wanted, if that is earlier. */
size_t wanted_queue(struct cloud *c, int64_t *oldest_ms);

/* --- remove.c --- */
extern const struct engine_part remove_part;
/* How many instances would be deleted at this provider if deletes could go there; *oldest_ms is
 * moved to when the first of them was to be, if that is earlier. */
size_t remove_queue(struct cloud *c, int64_t *oldest_ms);

/* --- away_run.c --- */
/* The instance of a row in doubt was found: take back a refusal for that doubt, unless slurmctld
 * has heard of it. */
void away_found(struct fleet_name *nm);
/* Refuse WANTED rows at a provider that is away, or where purchases fail, so that they are bought
 * elsewhere; and rows in doubt there, so that the other nodes of their jobs are sent back. */
void away_run(struct engine *e);
/* Count the rows that may have instances at a provider that is away. */
void away_count(const struct engine *e, struct plan_pool *pools);

/* --- pool.c --- */
extern const struct engine_part pool_part;
void pool_grow(struct engine *e, size_t had, size_t n); /* more pools, never fewer */
void pool_load(struct engine *e, const struct journal_pool *p);
/* The node did not register, or registered with wrong hardware: it rests, and its pool's circuit
 * may open (core/breaker.h). */
void pool_failed(struct engine *e, const struct node *n, const char *why);
/* Likewise for a refusal that concerns one machine only: the node rests, the pool goes on buying.
 */
void pool_node_failed(struct engine *e, struct fleet_name *nm, uint64_t gen);
/* Is the circuit of pool i open?  And: close it, for what opened it is done with. */
bool pool_is_open(const struct engine *e, size_t i);
void pool_close(struct engine *e, size_t i);
void pool_works(struct engine *e, struct fleet_name *nm, const struct node *n); /* it came up */
/* The last known price of a rung, in nano-units per hour; 0: its provider never quoted one. */
void pool_set_cost(struct engine *e, size_t i, size_t rung, int64_t price);
int64_t pool_cost(const struct engine *e, size_t i, size_t rung);
/* Count the row as a loss, if its provider took the machine; count all such rows of the journal. */
void pool_lost(struct engine *e, const struct node *n);
void pool_count_lost(struct engine *e);
/* Until when this rung is tried last in its pool, since its machines came up wrong; 0: it is not.
 */
int64_t pool_wrong_until(const struct engine *e, size_t i, size_t rung);
/* Have slurmctld keep a node that rests DOWN. */
void pool_rest(struct engine *e, struct fleet_name *nm);
void pool_rested(struct engine *e); /* end the rest of nodes whose time is over */
/* Why pool i buys the nodes of only one job, as a probe, for people; NULL: as many as fit. */
const char *pool_probes(const struct engine *e, size_t i);
bool pool_is_probed(const struct engine *e, uint32_t i); /* is the probe out? */
/* The job that the probe is for; 0: none that is known, or several. */
uint64_t pool_tried_for(const struct engine *e, size_t i);
bool pool_look(struct engine *e); /* look whether the journal's disk has room */
/* As engine_blocked(), or that the disk had no room at the last look. */
const char *pool_blocked(const struct engine *e, size_t i);
enum node_reason pool_blocked_because(const struct engine *e, size_t i); /* of a blocked pool */
/* Refuse WANTED rows of blocked pools, some in each turn. */
void pool_refuse_wanted(struct engine *e);
/* May a WANTED row be refused?  Not one of before burstd's start until a snapshot has shown that
 * the node is not up. */
bool pool_may_refuse(const struct engine *e, const struct fleet_node *fn);
/* Why the row was refused, for people; NULL: its pool is not blocked. */
const char *pool_refusal(const struct engine *e, const struct node *n);

/* --- rolls.c --- */
/* The image for a create of *n nodes of this row's offer; whole: all of them are in it or none.  If
 * some of them are to be canaries, *n becomes the number of these. */
struct roll_image rolls_choose(struct engine *e, const struct node *first, bool whole, size_t *n);
/* The provider does not make machines from this image of the row's offer. */
void rolls_refused(struct engine *e, const struct node *n, const char *image, const char *why);
/* The row became what it is.  Note what that says of a new image. */
void rolls_look(struct engine *e, const struct node *was, const struct node *is, const char *why);
/* A machine came up wrong.  true: it was made from an untried image, so its pool is not to blame.
 */
bool rolls_failed(struct engine *e, const struct node *n, const char *why);
void rolls_load(struct engine *e, const struct journal_roll *x);
/* How many warm nodes of the pool were up when a machine of this offer was last told to go. */
uint32_t *rolls_warm(const struct engine *e, size_t pool, const char *offer);
struct roll *rolls_of(const struct engine *e, size_t pool, const char *offer); /* NULL: none */
void rolls_put(struct engine *e, size_t pool, const char *offer);              /* stage it */
/* Stop, with an event. */
void rolls_stop(struct engine *e, size_t pool, const char *offer, const char *why, const char *by);
/* How many canaries of the offer exist that have not shown that they work. */
uint32_t rolls_untried(const struct engine *e, size_t pool, const char *offer);
/* Take the images that the configuration wants. */
void rolls_want(struct engine *e);
void rolls_free(struct engine *e);

/* --- rolls_run.c --- */
extern const struct engine_part rolls_part;

/* --- warm.c --- */
extern const struct engine_part warm_part;

/* --- submit.c --- */
extern const struct engine_part submit_part;

#endif
