/* buy.h - from a call of slurmctld to machines, and back: what is to be bought and where, creates,
 * deletes, pools that are closed, nodes that stay warm. */
#ifndef BURSTD_BUY_BUY_H
#define BURSTD_BUY_BUY_H

#include "cloud/cloud.h"
#include "core/demand.h"
#include "core/plan.h"
#include "engine/kernel.h"
#include "io/spool.h"
#include "keys/keys.h"

enum {
	INTAKE_CALLS_MAX = 1000,     /* fresh calls that wait; all others are hints */
	INTAKE_BYTES_MAX = 64 << 20, /* ... and what they say */
	ENGINE_HINT_MS = 250,        /* between two polls, however many calls say: look now */
	ENGINE_LOSSES_MS = 3600000,  /* how long people are told what a provider took */
};

struct batch { /* one create and its repeats */
	struct batch *next;
	struct journal_batch j;
	uint32_t pool, cloud;
	struct member *members; /* in the order sent; a NULL name: lost, cannot be repeated */
	struct provider_want *wants;
	struct provider_place place;
	char *user_data; /* while the request is on the wire; a secret */
	size_t n;
	int64_t sent_ms;     /* last, in this life; j.at_ms: first */
	const char *verb;    /* of its record */
	bool inflight, made; /* made: its fabric is there, and the create waits for its turn */
};

struct pending { /* a resume call that is fresh, and not yet acted on */
	struct pending *next;
	char *name;       /* of its file in the spool */
	int64_t since_ms; /* it was taken in then */
	bool overtaken;   /* a snapshot was begun after it, and decides */
	bool asks;        /* it waits for squeue to name its jobs */
	bool read;        /* `demand` is what it says */
	struct demand demand;
	char *list, *file;
	size_t list_len, file_len;
};

/* Its machines, for keys/. */
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
	struct answer *answers, **answers_last; /* to creates, not yet posted */
	struct pending *calls, **calls_last;    /* of hooks */
	size_t ncalls, call_bytes;              /* bytes: of their lists and files */
	struct pending *acted;   /* they are over, and go from the spool after the next commit */
	char spool_trouble[256]; /* why the spool cannot be read as it should be; "" */
	char *wanted;  /* nodes that slurmctld wants and nobody asked us for: a node list */
	bool climbing; /* some nodes were refused at one place, and may have another */
	bool wanted_asked, call_asked, climb_asked; /* squeue runs for these; for the first call */
	struct pool *pools;
	bool failing;             /* somebody may be WANTED where purchases fail */
	bool unplaced;            /* some rows do not say in the journal where they were bought */
	bool resting;             /* some nodes rest, perhaps */
	struct journal_room room; /* on the disk, at the last look */
	char no_room[128];        /* for people, when it is low */
	struct warm *warm;
};

/* --- intake_spool.c --- */
void intake_look(struct engine *e); /* read what came into the spool */
void intake_watch(struct engine *e);
void intake_unwatch(struct engine *e);
int64_t intake_look_next_ms(const struct engine *e);

/* --- intake.c --- */
/* Take a call from the spool; fits spool_fn, ctx is the engine.  true: it is fresh, and will be
 * acted on in its turn.  false: it is a hint, which makes the next snapshot come soon. */
bool intake_take(void *ctx, const struct spool_call *call);
void intake_hint(struct engine *e); /* ask slurmctld soon */
void intake_run(struct engine *e);
void intake_forget(struct engine *e); /* delete the files of calls that were acted on */
void intake_asks(struct engine *e);   /* squeue is about to be asked, for it too */
void intake_jobs(struct engine *e, const char *text, size_t len, const struct err *err);
void intake_init(struct engine *e);
int64_t intake_next_ms(const struct engine *e);
void intake_free(struct engine *e);

/* --- intake_buy.c --- */
/* What is known of each pool besides its limits, now; intake_free_pools(). */
struct plan_pool *intake_pools(struct engine *e);
void intake_free_pools(const struct engine *e, struct plan_pool *pools);
/* Want what the plan allows; refuse what it does not; leave the rest to the next poll. */
void intake_act_on(struct engine *e, struct demand *d, const char *why);

/* --- place.c --- */
struct provider_place place_for_driver(const struct conf_offer *o); /* borrows */
/* A row is to be bought there. */
void place_set(const struct engine *e, struct node *n, const struct conf_offer *o, int64_t rate);
/* A row as the journal has it, pool set: where is its provider? */
void place_load(struct engine *e, struct node *n);
/* Rows that an older burstd wrote, with what was found out: the pool may have others tomorrow. */
void place_write_back(struct engine *e);
/* An instance that the journal does not know, of a pool: which rung it was is guessed. */
void place_adopt(const struct cloud *c, struct node *n);
bool place_priced(const struct cloud *c, uint32_t pool); /* is known what that costs? */
/* The provider has new offers; before: those it had. */
void place_quotes(struct cloud *c, struct provider_offer *before, size_t nbefore);
/* What one more node of the pool would cost, for nobody in particular; 0: none may be had now. */
int64_t place_next_price(struct engine *e, uint32_t pool);
struct ladder_known *place_known(struct engine *e, uint32_t pool); /* of each rung; the caller's */
enum place_answer { PLACE_SELLS, PLACE_TELLS_SOON, PLACE_SOLD_OUT };
/* As cooldown_buy(): may a purchase go out there now?  PLACE_TELLS_SOON: one is being tried. */
enum place_answer place_would(struct engine *e, const struct conf_offer *o); /* only asked */
enum place_answer place_buy(struct engine *e, const struct conf_offer *o);
bool place_is_shut(struct engine *e, const struct conf_offer *o); /* nothing to be tried there */
struct cooldown_view place_view(struct engine *e, const struct conf_offer *o);
/* Is it left alone as purchases fail there?  Then why says so, for people. */
bool place_fails(struct engine *e, const struct conf_offer *o, char why[160]);
int64_t place_opens_ms(struct engine *e, const struct conf_offer *o); /* 0: open, or not known */
/* What became of a purchase of n nodes there, and of any other request to a provider. */
void place_bought(struct engine *e, const struct conf_offer *o, const struct provider_result *r,
		  size_t n, int64_t sent_ms);
/* A purchase of this row, which was in doubt, has made nothing. */
void place_doubt_ends(struct engine *e, const struct node *n);
void place_unsent(struct engine *e, const struct conf_offer *o); /* nothing: it could not be sent */
void place_heard(struct cloud *c, enum provider_op_kind kind, const struct provider_result *r,
		 int64_t sent_ms);
size_t place_unsold(const struct engine *e, const struct conf_offer *o,
		    struct unsold_say out[UNSOLD_EACH]); /* as unsold_last() */
/* Forget what cools down, as engine_retry(). */
int place_retry(struct engine *e, const char *what, size_t *n);

/* The machine of this row is taken back, or ended without a word.  Where several go at once the
 * place has nothing more to sell. */
void place_reclaimed(struct engine *e, const struct fleet_node *fn);

/* --- launch.c --- */
void launch_run(struct engine *e);

/* --- launch_batch.c --- */
void launch_load(struct engine *e, const struct journal_batch *j);
void launch_restore(struct engine *e); /* after the nodes are loaded */
void launch_settle(struct engine *e);  /* forget batches nobody waits for */
/* A repeat of a create must name its row again (I4). */
bool launch_needs(const struct engine *e, const struct node *n);

/* --- launch_answer.c --- */
void launch_answered(struct engine *e); /* post some of what creates were answered */
void launch_init(struct engine *e);
void launch_take(struct engine *e);
int64_t launch_next_ms(const struct engine *e);
void launch_free(struct engine *e); /* and batches */

/* --- launch_send.c --- */
/* One create of these: its intent, durable, then the request (I1, I5). */
void launch_send(struct cloud *c, struct fleet_node **nodes, size_t n);

/* --- form.c --- */
struct forming { /* a batch being filled: nodes of one place */
	struct fleet_node **v;
	size_t n, cap;
	const struct conf_offer *rung; /* NULL: nothing was put into it */
	bool alone;                    /* it is one job, which goes in one create or not at all */
	bool asked; /* may anything be sent there?  That is asked once for all that goes now */
	enum place_answer may;
};
/* Put one job's nodes, or one that stands alone, into it; what there is goes out when it is full.
 * With no slot they are left out, and the rest waits for an answer. */
void form_add(struct engine *e, struct forming *f, struct fleet_node **v, size_t n);
/* Likewise into one create with nothing else in it, and refused if that does not do. */
void form_add_alone(struct engine *e, struct forming *f, struct fleet_node **v, size_t n);
void form_flush(struct engine *e, struct forming *f); /* send what there is, as far as may be */
bool form_has_room(struct cloud *c, size_t n);        /* for n instances; else that is waited for */
/* Not sent at all: for this reason. */
void form_refuse(struct engine *e, struct fleet_node **v, size_t n, enum node_reason reason,
		 const char *why);

/* --- wanted.c --- */
/* Does what slurmctld was known to want then, or in the last snapshot, still count?  While this
 * process stands still, or slurmctld does not answer, it may give nodes up (F47, F54); a snapshot
 * comes each second while nodes are wanted. */
bool wanted_is_fresh(const struct engine *e, int64_t known_ms);
bool wanted_goes(struct cloud *c); /* may a create go there now? */
/* What may go out, in order of arrival: whole gangs, until there are slice.send or more nodes.
 * Beside them as many who are refused unsent, for their place has nothing to sell; who waits for
 * the answer to a probe is left out, and so in nobody's way.  Returns how many; *out is the
 * caller's. */
size_t wanted_collect(struct engine *e, struct fleet_node ***out);

/* --- remove.c --- */
void remove_run(struct engine *e);

/* --- away_run.c --- */
/* What was in doubt is there: a refusal for that doubt, which slurmctld has not heard, is taken
 * back.
 */
void away_found(struct fleet_name *nm);
/* What was wanted there and never sent may be bought elsewhere; whose create is in doubt there has
 * no use for the rest of its job. */
void away_run(struct engine *e);
void away_count(const struct engine *e, struct plan_pool *pools); /* what may be there */

/* --- pool.c --- */
void pool_init(struct engine *e);
void pool_start(struct engine *e);
void pool_reload(struct engine *e);
void pool_free(struct engine *e);
void pool_grow(struct engine *e, size_t had, size_t n); /* more pools, never fewer */
void pool_load(struct engine *e, const struct journal_pool *p);
/* This node is useless: it did not register, or wrong.  It rests, and its pool may be closed. */
void pool_failed(struct engine *e, const struct node *n, const char *why);
/* Likewise, by a refusal that is about this machine only. */
void pool_node_failed(struct engine *e, struct fleet_name *nm, uint64_t gen);
void pool_works(struct engine *e, struct fleet_name *nm, const struct node *n); /* it came up */
/* What a rung costs, as its provider said last, in nano-units per hour; 0: it never did. */
void pool_set_cost(struct engine *e, size_t i, size_t rung, int64_t price);
int64_t pool_cost(const struct engine *e, size_t i, size_t rung);
/* Count this one, if it was taken by its provider; all of them that the journal has. */
void pool_lost(struct engine *e, const struct node *n);
void pool_count_lost(struct engine *e);
/* Until when all other rungs of the pool go before this one; 0: it has its own place. */
int64_t pool_wrong_until(const struct engine *e, size_t i, size_t rung);
/* Have slurmctld keep its hands off a node that rests. */
void pool_rest(struct engine *e, struct fleet_name *nm);
void pool_rested(struct engine *e); /* those that have rested may be bought again */
/* Why only one job's nodes may be bought in pool i at a time, for people; NULL: as many as fit. */
const char *pool_probes(const struct engine *e, size_t i);
bool pool_is_probed(const struct engine *e, uint32_t i); /* ... and that one is on its way */
/* ... for this job, all of it; 0: for none that is known, or for several. */
uint64_t pool_tried_for(const struct engine *e, size_t i);
bool pool_look(struct engine *e); /* is there room to write down what is bought? */
/* As engine_closed(), or that there is no room on the disk, as of the last look. */
const char *pool_closed(const struct engine *e, size_t i);
enum node_reason pool_closed_because(const struct engine *e, size_t i); /* it is closed */
/* What is wanted and was not sent for, in a pool that is closed, is refused: some in each turn. */
void pool_refuse_wanted(struct engine *e);
/* What was wanted before we started may be up by now: then it is no longer only wanted. */
bool pool_may_refuse(const struct engine *e, const struct fleet_node *fn);
/* Why this one was, for people; NULL: its pool is open. */
const char *pool_refusal(const struct engine *e, const struct node *n);

/* --- warm.c --- */
void warm_init(struct engine *e);
void warm_free(struct engine *e);
void warm_run(struct engine *e);
void warm_hurry(struct engine *e); /* another configuration, or an order: decide anew */
int64_t warm_next_ms(const struct engine *e);
/* What slurmctld has in SuspendExcNodes, of `scontrol show config` begun at asked_ms. */
void warm_config(struct engine *e, const char *text, size_t len, int64_t asked_ms);

#endif
