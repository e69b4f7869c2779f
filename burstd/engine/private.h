/* private.h - what the files of engine/ share; nobody else includes it.
 *
 * One turn: something happened -> post events about nodes (staged) -> commit (durable, then
 * visible) -> act on what the states want -> arm the timer.  Every callback from io/ ends with
 * engine_turn().
 *
 * The kernel calls no part by its name (part.h); nothing calls those who join parts to it but their
 * rows in the table (parts.c):
 *
 *   engine.c    the kernel: the turn, start and end
 *   fold.c      ... post and commit
 *   parts.c     the table of all parts, in the order of the turn
 *   restore.c   what the journal has, given to those whose it is
 *   follow.c    what follows from a change of a row
 *   clouds.c    all providers, at each moment
 *   slurmctld.c when slurmctld is asked, and who is given its answers
 *   deadline.c  nodes whose time is over
 *   show.c      what the API asks
 *
 * The parts:
 *
 *   intake.c    calls and polls -> demand -> plan -> new incarnations
 *   place.c     where: what an offer costs, and whether it has anything to sell
 *   away.c      providers that cannot be reached ...
 *   away_run.c  ... and what is held there
 *   preview.c   what would be bought, and why not: for people, nothing is done
 *   launch.c    WANTED -> create batches; their answers
 *   wanted.c    ... which of them may go now
 *   form.c      ... what goes into one create
 *   fabric.c    one fabric for each job that wants one: made before its create, gone after
 *   remove.c    DELETING and strays -> deletes; their answers
 *   cloud.c     one provider: its slots and rate, and what is on the wire
 *   cloud_run.c ... its turn: the requests that are due, in order
 *   session.c   ... the session, where it has one
 *   login.c     ... and how it gets a new session
 *   cloud_pool.c ... which pools buy there
 *   quote.c     ... what it asks for what is bought there
 *   doubt.c     ... what it has shown since the start, and what may be done before
 *   cloud_list.c, cloud_offers.c  ... its list, and its offers
 *   listen.c    ... and what it tells of instances, where it does
 *   cloud_keys.c ... and whether its machines could have their keys
 *   off.c       ... and what is so while it cannot be asked; sections that only the journal has
 *   notice.c    what is done about that
 *   inventory.c what a list says -> core/drift.h -> events and orders
 *   observe.c   likewise, what a snapshot of slurmctld says
 *   jobs.c      one squeue for all who want to know about jobs
 *   query.c     ... and one for who asks about a certain job
 *   refuse.c    a job that cannot get its nodes is told so, whole ...
 *   postpone.c  ... and waits, longer each time
 *   srun.c      srun and salloc are told why their job ends
 *   notice.c    machines that will be taken away, notice_text.c the words for that
 *   owner.c     whose an instance is
 *   rescue.c    the jobs of a node that must go down, and what becomes of them
 *   checkpoint.c  ... which are told to save their work first
 *   report.c    the provider is told of broken hosts
 *   prereq.c    is slurm.conf as it must be
 *   cancel.c    nodes that boot for a job that has ended
 *   operate.c   what an admin orders about nodes
 *   warm.c      nodes that stay up without a job
 *   pool.c      pools that an admin paused, or whose machines come up wrong
 *   claims.c    machines that become nodes: who may ask for the keys (claims.h)
 *   secrets.c   the cluster's keys, from the secret store to nodes (secrets.h)
 *   voucher*.c  machines that have a token in their user-data instead (core/voucher.h)
 *   door*.c, hosts.c  what nodes say and are told (claims.h)
 *   breach.c    alarms that outlive a restart
 *   rotate.c    ... and one of them replaced by another (rotate.h)
 *   gate.c      jobs that wait for their nodes to be up
 *   recall.c    heterogeneous jobs of which one component waits for its nodes */
#ifndef BURSTD_ENGINE_PRIVATE_H
#define BURSTD_ENGINE_PRIVATE_H

#include <string.h>

#include "base/fmt.h"
#include "core/cooldown.h"
#include "core/demand.h"
#include "core/drift.h"
#include "core/limit.h"
#include "core/pages.h"
#include "core/plan.h"
#include "core/reclaim.h"
#include "core/unsold.h"
#include "core/wish.h"
#include "engine/engine.h"
#include "engine/part.h"
#include "slurm/slurm.h"
#include "slurm/version.h"

enum {
	ENGINE_CALLS_MAX = 1000, /* calls waiting to be read; the poll covers the rest */
	ENGINE_POLL_MS = 1000,   /* slurmctld, while anything moves */
	ENGINE_POLL_IDLE_MS = 30000,
	ENGINE_GATE_POLL_MS = 250,     /* while a job waits for its nodes */
	ENGINE_RETRY_MS = 1000,        /* a failed poll or list, doubling ... */
	ENGINE_RETRY_MAX_MS = 30000,   /* ... up to this */
	ENGINE_LOOK_MS = 500,          /* to the second list after a create: for its addresses */
	ENGINE_OFFERS_MS = 300000,     /* prices are asked again */
	ENGINE_OFFERS_MAX = 100000,    /* one provider's */
	ENGINE_FABRICS_MS = 600000,    /* what fabrics there are of ours is asked again */
	ENGINE_FABRICS_MAX = 65536,    /* of one provider: no more than nodes */
	ENGINE_DROP_MS = 10000,        /* one that is still in use is tried again, doubling ... */
	ENGINE_DROP_MAX_MS = 3600000,  /* ... up to this */
	ENGINE_LOGIN_MS = 300000,      /* a session is renewed so long before it ends */
	ENGINE_LOGIN_STEPS = 16,       /* to one session */
	ENGINE_LISTEN_MS = 20000,      /* a provider may hold a request for notices so long */
	ENGINE_LISTEN_PAUSE_MS = 1000, /* between two that came back with nothing */
	ENGINE_STRAYS_MAX = 65536,
	ENGINE_ODD_MAX = 4096,    /* unreadable instances remembered, one provider's, for a run */
	ENGINE_SEEN_MAX = 131072, /* instances in one list: twice as many as nodes */
	ENGINE_THROTTLED_MS = 60000, /* so long it says nothing of how a provider is */
	ENGINE_REPLY_MAX = 32 << 20, /* bytes of one provider's answer */
	ENGINE_HINT_MS = 250,        /* between two polls, however many calls say: look now */
	ENGINE_SEND = 1000,    /* nodes sent for in a turn: hooks have theirs in between ... */
	ENGINE_WRITE = 250,    /* ... and written, where a turn can be cut */
	ENGINE_READ = 500,     /* ... and read of a snapshot, then looked at: 0.3 ms each */
	ENGINE_LOOKS = 10,     /* to look at so many costs as much as to write one */
	ENGINE_UP_MAX = 65536, /* nodes that wait for that; the next snapshot has them again */
	ENGINE_ENDED_MAX = 64, /* ended calls that wait for a commit of something else */
	ENGINE_PARTITIONS_MAX = 65536, /* bytes of the names of those that jobs wait for */
	ENGINE_LOSSES_MS = 3600000,    /* how long people are told what a provider took */
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

struct stray { /* an instance with our tag that no row stands for */
	char id[PROVIDER_ID_MAX + 1];
	char node[HOSTLIST_NAME_MAX + 1];
	char addr[PROVIDER_ADDR_MAX + 1];
	uint64_t gen;
	int64_t first_ms;
	int64_t tried_ms, asked_ms; /* first and last request to delete it; 0: none yet */
	bool seen, leaves;          /* in this list; leaves: it stops already */
	bool apart; /* the provider would not delete it: not in one request with others */
	bool up;    /* no pool names its node, and the last snapshot has it up */
};

struct odd { /* an instance with our tag whose node or generation cannot be read */
	char id[PROVIDER_ID_MAX + 1];
	int64_t first_ms; /* when a list showed it first */
	bool shown;       /* the last list has it */
};

struct fabric { /* made for a job's create, and not known to be gone */
	uint64_t batch;
	int64_t next_ms, step_ms; /* to be dropped, if nobody needs it: not before */
	bool needed, busy;        /* busy: a request to drop it is on the wire */
	bool refused;             /* the provider would not drop it */
};

struct cloud { /* one provider */
	struct engine *e;
	const struct conf_provider *conf;
	const struct provider_ops *ops;
	void *self;
	struct provider_caps caps;
	struct limit limit;
	char off[320];    /* why nothing is asked of it, and self is NULL; "": it is asked */
	int64_t off_next; /* when that is looked at again */
	/* the list */
	struct pages list;
	bool listed; /* one since start was complete and understood: creates may go out */
	bool shown;  /* one since the journal became doubtful was, in this life or an earlier one */
	bool unsure; /* the last one showed instances we could not place yet */
	bool waits;  /* somebody waits for what the next one shows */
	int64_t list_began, list_next, list_step;
	struct provider_instance *seen;
	size_t nseen;
	struct stray *strays;
	size_t nstrays;
	size_t strays_at, apart_at; /* the next one to be asked to end, with others and alone */
	int64_t strays_ms;          /* when the list began that they are from */
	struct map ids;  /* -> struct fleet_node, what counts, by its instance: owner.c */
	struct odd *odd; /* all of this run, so that each is told of once */
	struct map odd_ids;
	size_t nodd, unreadable; /* unreadable: how many of the last list */
	int64_t odd_ms;          /* when the youngest of those was seen first */
	/* the offers */
	struct provider_offer *offers, *coming; /* coming: of the pages so far */
	size_t noffers, ncoming;
	struct pages offering;
	int64_t offers_next;
	bool offers_known; /* answered once since start */
	/* the fabrics, by their batches' numbers, rising */
	struct fabric *fabrics;
	size_t nfabrics;
	struct pages fabrics_list;
	bool fabrics_look; /* a list of instances came, and none was dropped since */
	int64_t fabrics_next;
	bool drop_denied;    /* that was told */
	char undropped[201]; /* why one was, last */
	/* the session */
	bool login_busy;
	unsigned login_steps; /* of the one that is being made */
	int64_t login_next, login_step;
	bool login_doubted;       /* the provider no longer takes the one there is */
	int64_t login_doubted_ms; /* when that was last so */
	/* the notices */
	bool listening;                                 /* a request is on the wire */
	char *listen_ack;                               /* to be sent first; NULL: none */
	int64_t listen_began, listen_next, listen_step; /* step: 0 unless the last one failed */
	char listen_cursor[sizeof(((struct provider_result *)NULL)->cursor)];
	bool listen_stuck;  /* what was heard could not be acknowledged */
	int64_t unheard_ms; /* since when they fail; 0: they do not */
	char unheard[200];  /* why; no other request's answer clears it */
	/* is anybody there: away.c, cloud_keys.c */
	int64_t mute_ms;    /* since when nobody answers; 0: somebody does */
	int64_t blind_ms;   /* likewise, since when its list cannot be had */
	bool away;          /* that is so for too long */
	int64_t keyless_ms; /* since when its machines could not have their keys; 0: they could */
	/* how it is */
	int64_t ok_ms, failed_ms, undeleted_ms, throttled_ms;
	uint64_t refused[PROVIDER_NCODES]; /* nodes, by what it said */
	char error[256];
	uint64_t notices[PROVIDER_NNOTICES]; /* of its machines, whoever told us */
	char undeleted[256];     /* why a delete failed last: at undeleted_ms; no list clears it */
	int64_t ahead_ms;        /* our time, of its clock: engine/times.c; < 0: behind */
	bool dated;              /* an answer had a Date: ahead_ms says something */
	bool delete_denied;      /* whole deletes are, and that was told */
	size_t delete_most;      /* ids in one while whole ones are refused; 0: as many as fit */
	unsigned delete_alone;   /* denied so, while nothing went through */
	int64_t delete_whole_ms; /* until then none is cut for being denied: all are */
};

/* One request to a provider, from cloud_send() to its answer. */
struct request;
typedef void (*request_fn)(struct cloud *c, void *ctx, const struct provider_result *r);

struct pending { /* a call not yet acted on */
	struct pending *next;
	int64_t seq, since_ms; /* since_ms: it was taken in then */
	enum journal_call_kind kind;
	bool late, asks; /* a hint only; it waits for squeue to name its jobs */
	bool read;       /* `demand` is what it says */
	struct demand demand;
	char *list, *file;
	size_t list_len, file_len;
};

struct notice_early { /* about an instance that may be of a create whose answer is still to come */
	size_t provider;
	struct provider_notice n;
	int64_t first_ms;
};

struct notice_index {
	struct notice_early *early; /* the oldest first */
	size_t nearly;
	bool due; /* some instances became known: perhaps one of those */
};

struct gates {              /* jobs that wait for their nodes */
	struct gate *first; /* the newest */
	size_t names;
	int64_t seen_ms;           /* the last snapshot that they were compared with */
	int64_t asked_ms, took_ms; /* when squeue was asked, and how long it took */
};

struct sightings { /* the nodes of ours in one snapshot */
	struct slurm_node *nodes;
	struct fleet_name **names; /* of these; NULL: no pool ever named it */
	size_t n, cap;
};

struct engine {
	struct engine_deps d;
	int64_t ahead_ms; /* our time, of the wall clock */
	struct conf *conf;
	struct conf **old; /* configurations that requests on the wire may still name */
	size_t nold;
	struct fleet fleet;
	struct timer *timer;
	struct slurm *slurm;
	struct cloud *clouds;
	struct request *requests; /* all on the wire */
	bool unsent;              /* some of them could not be sent */
	struct batch *batches;
	uint64_t last_batch;
	uint32_t last_group;
	/* the transaction being built */
	struct journal_tx *tx;
	bool due;       /* it has more than ended calls in it */
	unsigned ended; /* calls that end with it */
	struct fleet_node **staged;
	size_t nstaged, staged_cap;
	bool following;       /* what one committed leads to is being done */
	struct member *fresh; /* wanted, some of them not yet in the journal */
	size_t nfresh, fresh_cap, fresh_at;
	struct member *up; /* registered, to be posted */
	size_t nup, up_cap, up_at;
	struct answer *answers, **answers_last; /* to creates, not yet posted */
	struct engine_slice slice;
	/* How many nodes may still be written before the loop has looked at hooks again: whatever
	 * calls engine_turn() in between. */
	size_t left;
	bool more; /* there was more to send than goes in a turn */
	/* hooks */
	struct pending *calls, **calls_last;
	size_t ncalls;
	/* slurmctld */
	bool polled; /* at least once since start */
	bool polling;
	bool moving; /* something was in transition at the last look */
	int64_t poll_next, poll_step, poll_began;
	int64_t snapshot_ms;   /* when the last whole snapshot began; 0: none since start */
	struct sightings seen; /* in one that is being read, or looked at: */
	struct look *look;     /* NULL: none is */
	struct timer *look_timer;
	int64_t snapshot_took_ms;           /* how long slurmctld took for it */
	unsigned jobs_wanted, jobs_running; /* who waits for an answer of squeue: enum jobs_for */
	struct engine_query *queries;       /* about one job each, in order */
	bool query_asked;                   /* the first of them, of squeue */
	uint64_t jobs_runs;                 /* how often it was asked */
	enum wish_need wishes_wanted;       /* what intake wants it to tell besides */
	bool refuse_due;                    /* jobs to be told */
	struct gates gates;
	char *wanted;  /* nodes that slurmctld wants and nobody asked us for: a node list */
	bool climbing; /* some nodes were refused at one place, and may have another */
	bool wanted_asked, call_asked, climb_asked; /* squeue runs for these; for the first call */
	struct srun *sruns;   /* jobs that were told, or would have been, why they end */
	struct map sruns_map; /* ... by number */
	size_t nsruns;
	bool srun_speaks;            /* some are being told */
	int64_t srun_heard_ms;       /* when those that were told last have heard it */
	int64_t srun_forgot_ms;      /* when it was last looked who may be forgotten */
	bool srun_due, srun_asks;    /* squeue is to be asked, or is asked, which are srun's */
	struct postponed *postponed; /* jobs that were refused, not long ago */
	struct map postponed_map;    /* ... by number */
	struct doomed *doomed;       /* nodes that are about to be forced down */
	struct rescue *rescues;      /* jobs that lost a node */
	struct map rescues_map;      /* ... by number */
	struct notice_index notices;
	bool owners_made;        /* the clouds' ids ... */
	uint64_t owners_commits; /* ... and when: no longer good after another commit */
	struct report *reports;  /* of broken hosts, that are still to be sent */
	size_t nreports;
	struct hook *hooks; /* checkpoint commands that run */
	unsigned nhooks;
	struct pool *pools;
	bool aways;               /* some provider is away or off, or was a moment ago */
	bool failing;             /* somebody may be WANTED where purchases fail */
	bool doubtful;            /* JOURNAL_DOUBTFUL ... */
	int64_t doubt;            /* ... the number */
	bool unplaced;            /* some rows do not say in the journal where they were bought */
	struct cooldown cooldown; /* places that have nothing to sell */
	struct unsold unsold;     /* ... and what they said */
	bool resting;             /* some nodes rest, perhaps */
	struct journal_room room; /* on the disk, at the last look */
	char no_room[128];        /* for people, when it is low */
	struct prereq *prereq;
	struct warm *warm;
	struct claims *claims;     /* NULL: machines get nothing of us */
	struct vouchers *vouchers; /* NULL: machines have no token in their user-data */
	struct secrets *secrets;
	struct door *door;         /* NULL: nodes do not talk to us */
	char init_off[256];        /* why node_init cannot be read; "" */
	int64_t init_next;         /* ... and when it is looked at again */
	struct rotate *rotate;     /* NULL: not loaded yet */
	struct str cancel_waiting; /* partitions for which a job waited when all were seen */
	int64_t cancel_asked_ms;   /* ... and when that was asked */
	int64_t postpone_next, postpone_words_ms;
	int64_t slurm_ok_ms, slurm_failed_ms;
	char slurm_error[256];
	struct engine_counters count;
	struct engine_breaches breaches;
	int64_t started_ms;
	bool started, dead; /* dead: the journal failed or the engine is being freed */
};

/* --- engine.c --- */
void engine_turn(struct engine *e);
/* Why a machine of this provider could not have its keys now; NULL: it could, or needs none. */
const char *engine_keyless(const struct engine *e, uint32_t provider);
/* Tell all parts what became of a request to a provider. */
void engine_heard(struct cloud *c, enum provider_op_kind kind, const struct provider_result *r,
		  int64_t sent_ms);
/* Tell all parts what a provider shows, tells of an instance, and asks for what it sells. */
void engine_listed(struct cloud *c);
bool engine_noticed(struct cloud *c, const struct provider_notice *n); /* false: keep telling */
void engine_quotes(struct cloud *c, struct provider_offer *before, size_t nbefore);
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
struct cloud *engine_cloud(struct engine *e, const struct node *n); /* where it is bought */
/* The offer that a row is bought from; NULL: the configuration has it no more. */
static inline const struct conf_offer *engine_offer_of(const struct engine *e, const struct node *n)
{
	return conf_rung_named(&e->conf->pools[n->pool], n->offer);
}

/* --- fold.c --- */
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
/* REGISTERED: posted now or, when there are many, some in each of the next turns. */
void engine_post_up(struct engine *e, const struct fleet_node *fn);
void engine_run_up(struct engine *e); /* those, once all answers to creates are posted */
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

/* --- restore.c --- */
int restore_open(struct engine *e, struct err *err);

/* --- follow.c --- */
void follow_row(struct engine *e, struct fleet_node *fn, const struct node *was);

/* --- deadline.c --- */
void deadline_run(struct engine *e);

/* --- slurmctld.c --- */
void slurmctld_init(struct engine *e);
void slurmctld_reload(struct engine *e);
void slurmctld_send(struct engine *e);
int64_t slurmctld_next_ms(const struct engine *e);
void slurmctld_stop(struct engine *e);

/* --- jobs.c --- */
enum jobs_for {
	JOBS_FOR_INTAKE = 1,
	JOBS_FOR_REFUSE = 2,
	JOBS_FOR_GATE = 4,
	JOBS_FOR_CANCEL = 8,
	JOBS_FOR_RESCUE = 16,
};
void jobs_want(struct engine *e, enum jobs_for who); /* an answer begun from now on */
/* Likewise for intake, with what the jobs wish. */
void jobs_want_wishes(struct engine *e, enum wish_need need);
bool jobs_coming(const struct engine *e, enum jobs_for who);
void jobs_run(struct engine *e);
void jobs_answer(struct engine *e, const char *text, size_t len, const struct err *err);

/* --- query.c --- */
void query_run(struct engine *e);
void query_answer(struct engine *e, const char *text, size_t len, const struct err *failure);
void query_free(struct engine *e);

/* --- intake.c --- */
/* What is known of each pool besides its limits, now; intake_free_pools(). */
struct plan_pool *intake_pools(struct engine *e);
void intake_free_pools(const struct engine *e, struct plan_pool *pools);
void intake_run(struct engine *e);
void intake_asks(struct engine *e); /* squeue is about to be asked, for it too */
void intake_jobs(struct engine *e, const char *text, size_t len, const struct err *err);
void intake_init(struct engine *e);
int64_t intake_next_ms(const struct engine *e);
void intake_free(struct engine *e);

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

/* --- away.c, away_run.c --- */
/* A request has ended: note whether its provider is away.  cloud_list.c calls this for a whole
 * list, away_reply() for all other requests. */
void away_heard(struct cloud *c, enum provider_op_kind kind, const struct provider_result *r);
void away_reply(struct cloud *c, enum provider_op_kind kind, const struct provider_result *r,
		int64_t sent_ms);
int64_t away_since(const struct cloud *c); /* since when it cannot be reached; 0: it can */
bool away_is(const struct cloud *c);       /* so, or off (off.c) */
void away_back(struct cloud *c);           /* it is neither any more */
/* What was in doubt is there: a refusal for that doubt, which slurmctld has not heard, is taken
 * back.
 */
void away_found(struct fleet_name *nm);
/* What was wanted there and never sent may be bought elsewhere; whose create is in doubt there has
 * no use for the rest of its job. */
void away_run(struct engine *e);
void away_count(const struct engine *e, struct plan_pool *pools); /* what may be there */

/* --- launch.c --- */
void launch_run(struct engine *e);
void launch_load(struct engine *e, const struct journal_batch *j);
void launch_restore(struct engine *e);  /* after the nodes are loaded */
void launch_settle(struct engine *e);   /* forget batches nobody waits for */
void launch_answered(struct engine *e); /* post some of what creates were answered */
void launch_init(struct engine *e);
void launch_take(struct engine *e);
int64_t launch_next_ms(const struct engine *e);
void launch_free(struct engine *e);
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

/* --- fabric.c --- */
/* Gets a job of n nodes a fabric of its own there?  group: as in its rows. */
bool fabric_for(const struct conf_offer *o, uint32_t group, size_t n);
/* Make the one of this create; it is known from now on.  name lives until fn is called. */
void fabric_make(struct cloud *c, uint64_t batch, const char *name, request_fn fn, void *ctx);
void fabric_run(struct cloud *c);
int64_t fabric_next_ms(const struct cloud *c);
/* Every offer that names one is of a provider that has them.  -1: *err begins "FILE:LINE: ". */
int fabric_check(struct engine *e, const struct conf *conf, struct err *err);
int fabric_may_use(struct engine *e, size_t provider, struct err *err); /* ... of e->conf */

/* --- cloud_keys.c --- */
/* Note since when each provider is keyless.  true: one has been for its unreachable_after. */
bool cloud_watch_keys(struct engine *e);
/* Why this provider has been keyless for its unreachable_after; NULL: it has not. */
const char *cloud_keyless(const struct engine *e, uint32_t cloud);

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

/* --- off.c --- */
/* Add the sections to the configuration that rows of the journal name and it has no more. */
int off_keep(struct engine *e, struct err *err);
#define OFF_UNKNOWN "?" /* the provider of rows that do not say theirs */
static inline const char *off_why(const struct cloud *c) /* NULL: it is on */
{
	return c->off[0] != '\0' ? c->off : NULL;
}
static inline bool off_is(const struct cloud *c)
{
	return off_why(c) != NULL;
}
void off_open(struct cloud *c);   /* try to open it; in between it is off */
void off_run(struct cloud *c);    /* ... again, when it is time for that */
void off_hurry(struct engine *e); /* another configuration: now */
void off_start(struct engine *e); /* tell of those that are */
/* It is open, and something else that it needs is not: off until that is. */
void off_shut(struct cloud *c, const char *why);

/* --- remove.c --- */
void remove_run(struct engine *e);

/* --- clouds.c --- */
void clouds_init(struct engine *e);
int clouds_open(struct engine *e, struct err *err);
int clouds_check(struct engine *e, struct err *err); /* their offers, once it is known who is off */
void clouds_start(struct engine *e);
void clouds_reload(struct engine *e);
void clouds_take(struct engine *e);
void clouds_send(struct engine *e);
int64_t clouds_next_ms(const struct engine *e);
void clouds_free(struct engine *e);

/* --- cloud_run.c --- */
/* It may be off then.  -1: there is no such driver. */
int cloud_open(struct cloud *c, struct engine *e, const struct conf_provider *conf,
	       struct err *err);
void cloud_close(struct cloud *c);
void cloud_reload(struct cloud *c, const struct conf_provider *conf);
void cloud_run(struct cloud *c);
int64_t cloud_next_ms(const struct cloud *c);

/* --- cloud.c --- */
/* May such a request go out now?  Else it has asked for its turn: limit.h. */
bool cloud_ready(struct cloud *c, enum provider_op_kind kind);
/* Send op; fn is called once, later, unless the engine is freed before.  Takes ctx: it is freed
 * after fn or in its place.  What op points to must live as long (ctx is the place for it). */
void cloud_send(struct cloud *c, const struct provider_op *op, request_fn fn, void *ctx);
/* The same in two steps: it takes its place among the requests on the wire, and goes out.  Both
 * within one turn. */
struct request *cloud_hold(struct cloud *c, const struct provider_op *op, request_fn fn, void *ctx);
void cloud_let_go(struct request *rq);
void cloud_hurry(struct cloud *c); /* something happened that a list will show */
void cloud_fail_unsent(struct engine *e);
/* Is nothing on the wire but what may be there for ever, and so names no configuration? */
bool cloud_quiet(const struct engine *e);
void cloud_cancel_all(struct engine *e);
uint64_t cloud_body_hash(const struct provider_request *rq);
/* In its status, and in the log once for as long as it is the same. */
void cloud_complain(struct cloud *c, enum provider_op_kind kind, const char *code,
		    const char *text);

/* --- cloud_pool.c --- */
/* The provider of that name, or of a pool that has only one where the name is "", or OFF_UNKNOWN.
 * false: there is none of these. */
bool cloud_find(const struct engine *e, uint32_t pool, const char *provider, uint32_t *cloud);
/* Does the pool buy there? */
bool cloud_sells(const struct engine *e, uint32_t pool, const struct cloud *c);

/* --- quote.c --- */
int64_t quote_price(const struct cloud *c, const struct conf_offer *p);  /* 0: not known */
int64_t quote_known(const struct engine *e, const struct conf_offer *o); /* as ladder_known */
/* What each rung of the pool costs now; INT64_MAX: it is not known, not offered, or no rung. */
void quote_costs(const struct engine *e, uint32_t pool, int64_t costs[CONF_OFFERS_MAX]);

/* --- doubt.c --- */
bool doubt_listed(const struct engine *e, uint32_t pool); /* all providers of the pool? */
/* Likewise, or waited for long enough: that is no reason where the journal is doubtful. */
bool doubt_looked(const struct engine *e, uint32_t pool);
/* Whose list keeps the pool from buying, and has done so for long enough; NULL: nobody's. */
const struct cloud *doubt_unlisted(const struct engine *e, uint32_t pool);
void doubt_list_seen(struct engine *e); /* one more of them is listed */
/* At the start: is the journal doubtful, and who has shown what it has since it became so? */
int doubt_load(struct engine *e, struct err *err);
/* Has its provider shown nothing for a minute since our start, and the journal is no older copy? */
bool doubt_is_blind(const struct engine *e, const struct node *n);
/* May a create for this row go out, as far as lists are concerned? */
bool doubt_may_send(const struct engine *e, const struct node *n);

/* --- session.c --- */
/* Is there a session, or no need of one?  Else nothing goes to this provider but a login. */
bool session_good(const struct cloud *c);
int64_t session_until(const struct cloud *c); /* for drivers that have sessions, by our clock */
/* A request was denied: perhaps the session was revoked, or has ended by the provider's clock. */
void session_doubt(struct cloud *c);

/* --- login.c --- */
void login_run(struct cloud *c);
int64_t login_next_ms(const struct cloud *c);

/* --- cloud_list.c, cloud_offers.c --- */
void list_run(struct cloud *c);
int64_t list_next_ms(const struct cloud *c);
void offers_run(struct cloud *c);
int64_t offers_next_ms(const struct cloud *c);

/* --- listen.c --- */
void listen_run(struct cloud *c);
int64_t listen_next_ms(const struct cloud *c);

/* --- inventory.c --- */
/* c->seen is a whole list, and is changed: what it says is staged. */
void inventory_take(struct cloud *c);

/* --- observe.c --- */
/* ctx: the engine.  A node in a snapshot of slurmctld; nothing is done before all are there. */
void observe_node(void *ctx, const struct slurm_node *sn);
/* That were all of them; err: or none is to be believed.  false: not all of it is looked at yet;
 * more by observe_some() whenever look_timer goes off, until that says true. */
bool observe_snapshot(struct engine *e, int64_t began_ms, const struct err *err);
bool observe_some(struct engine *e);
void observe_free(struct engine *e);

/* --- refuse.c --- */
void refuse_mark(struct engine *e, struct fleet_name *nm, enum node_reason why, const char *text);
/* Something has changed: of whom slurmctld is still to be told, what no wait could mend is decided
 * anew after an ordinary wait. */
void refuse_anew(struct engine *e);
void refuse_offers(struct engine *e, bool cheaper); /* calls refuse_anew() if one got cheaper */
void refuse_run(struct engine *e);
void refuse_jobs(struct engine *e, const char *text, size_t len, const struct err *err);

/* --- srun.c --- */
/* Have the job's srun or salloc print this, if it is one of theirs and has not heard it: before any
 * order to slurmctld that is given after this. */
void srun_tell(struct engine *e, uint64_t job, const char *text);
void srun_who(struct engine *e, const char *text, size_t len, const struct err *err);
void srun_run(struct engine *e);
int64_t srun_next_ms(const struct engine *e);
void srun_init(struct engine *e);
void srun_free(struct engine *e);

/* --- postpone.c --- */
void postpone_load(struct engine *e, const struct journal_refusal *r);
/* The nodes of this job were just sent back. */
struct postpone_why {
	char text[160];
	struct refusal_hint hint;
	uint32_t pool; /* that it is about */
};
void postpone_job(struct engine *e, const struct slurm_job *j, const struct postpone_why *why);
/* Does it wait for so long still, because we told slurmctld so?  0: it does not. */
int64_t postpone_left_ms(const struct engine *e, uint64_t number);
/* Its refusals so far; all zero: none, or so long ago that they do not count. */
struct refusal postpone_look(const struct engine *e, uint64_t number);
void postpone_run(struct engine *e);
void postpone_clock_set(struct engine *e, int64_t by_ms); /* by_ms < 0: back */
void postpone_bought(struct engine *e, uint64_t number);  /* its nodes are */
/* Write this into its AdminComment, unless somebody else has, and take it back when it has its
 * nodes. */
void postpone_say(struct engine *e, const struct slurm_job_detail *d, const char *id,
		  const char *text);
/* What no wait could mend is decided anew: the configuration has changed, prices may have. */
void postpone_anew(struct engine *e);
void postpone_offers(struct engine *e, bool cheaper);
void postpone_words(struct engine *e, const char *text, size_t len); /* SLURM_SOME_JOBS */
/* slurmctld took it, or not. */
void postpone_told(struct engine *e, const struct slurm_order *o, const struct err *err);
void postpone_details(struct engine *e, const char *text, size_t len, int64_t began_ms,
		      const struct err *err);
void postpone_init(struct engine *e);
int64_t postpone_next_ms(const struct engine *e);
void postpone_free(struct engine *e);

/* --- recall.c --- */
/* Heterogeneous jobs of which one component was refused its nodes: the others give theirs back. */
void recall_details(struct engine *e, const char *text, size_t len, const struct err *err);

/* --- insist.c --- */
/* Orders that are given again if slurmctld does not take them, or forgets them.  why: a literal. */
void insist_drain(struct engine *e, struct fleet_name *nm, const char *why);
void insist_end(struct engine *e, struct fleet_name *nm); /* an admin powers it down */
/* slurmctld took it, or not. */
void insist_told(struct engine *e, const struct slurm_order *o, const struct err *err);
/* A snapshot that began then has the node with nm->flags. */
void insist_look(struct engine *e, struct fleet_name *nm, int64_t began_ms);

/* --- owner.c --- */
/* The row that has this instance of the provider, or will have it; NULL: none that counts. */
struct fleet_node *owner_of(struct cloud *c, const char *id);
void owner_set(struct cloud *c, struct fleet_node *fn); /* it has one, staged just now */

/* --- notice.c, notice_text.c --- */
enum { NOTICE_WHY_SIZE = 96 };
/* When it will be, by our clock, if the provider says `at` by its own; 0: not said.  What it cannot
 * mean is not believed: no end lies in the past, and no reclaim is told longer before it than the
 * provider ever does. */
int64_t notice_when(const struct cloud *c, enum provider_notice_kind kind, int64_t at_ms);
/* Durable with the next commit; then what must be done about it is done.  false: whom it means may
 * become known soon; until then it is kept here, and is not to be forgotten by who told it. */
bool notice_take(struct cloud *c, const struct provider_notice *n);
void notice_run(struct engine *e); /* those that were kept, if their instances are known by now */
/* A notice that somebody else than a provider gives, staged: for the next commit. */
void notice_said(struct engine *e, const struct engine_notice *n, struct engine_notice_end *out);
/* A node has become DRAINING, or is and its row has changed. */
void notice_follow(struct engine *e, struct fleet_node *fn, const struct node *was);
void notice_fence(struct engine *e, struct fleet_name *nm, const struct node *n);
void notice_plan(const struct engine *e, const struct fleet_node *fn, struct reclaim_plan *out);
void notice_text(char out[NOTICE_WHY_SIZE], const struct node *n); /* "burstd: ..." */
bool notice_signals(const struct conf_pool *p); /* are the pool's jobs told to save their work? */
void notice_told(struct engine *e, const struct slurm_order *o, bool ok); /* slurmctld took it? */
bool notice_moving(const struct engine *e); /* is a machine about to be taken? */
void notice_free(struct engine *e);

/* --- report.c --- */
/* Somebody found the host of this one broken.  Its provider is told, if it has an ear for that,
 * after the next commit and before it is asked to delete it: that waits for it (fn->reporting), for
 * a slot no longer than a request may take, and then until it is answered.  Once in a run for each
 * instance, and not while too many others wait.  What came of it is an event. */
void report_want(struct engine *e, struct fleet_node *fn, const char *words, const char *by);
void report_run(struct engine *e);
int64_t report_next_ms(const struct engine *e);
void report_free(struct engine *e);

/* --- checkpoint.c --- */
/* Tell jobs that are due, as their pools say. */
void checkpoint_run(struct engine *e);
void checkpoint_told(struct engine *e, const struct slurm_order *o, const struct err *err);
int64_t checkpoint_next_ms(const struct engine *e);
void checkpoint_free(struct engine *e);

/* --- rescue.c --- */
struct rescue { /* one job */
	struct rescue *next;
	char key[FMT_U64_SIZE];
	struct journal_rescue j; /* as durable */
	int64_t look_ms, step_ms;
	int64_t tell_ms;   /* DUE: not before then */
	int64_t doubt_ms;  /* requeued, and its begin time was odd: since then; 0: not so */
	bool fits;         /* j.hold_ms is slurmctld's own; memory only */
	bool asked, stuck; /* in the question on the wire; told of */
	bool waits;        /* DUE, and not at work as far as is known: it can be told nothing */
	bool returns;      /* ... and came to work: is it still there? */
	bool telling;      /* the signal is queued */
	bool commanded;    /* the site's command runs, or has */
	bool counted;      /* in count.jobs_taken */
	/* It has ended before its node did, and is to be requeued. */
	enum rescue_back { RESCUE_AWAY, RESCUE_ASKED, RESCUE_TOLD } back;
};
void rescue_load(struct engine *e, const struct journal_rescue *j);
/* As slurm_power_down(), once the jobs that may be on the node are written down. */
void rescue_node(struct engine *e, struct fleet_name *nm, bool dead, const char *why);
/* Have slurmctld power a node down, with the reason; its jobs are followed. */
void rescue_power_down(struct engine *e, struct fleet_name *nm, bool dead, const char *why);
/* The jobs on the node are to be told to save their work. */
void rescue_signal(struct engine *e, struct fleet_name *nm);
/* r->j.signal is SENT from now on. */
void rescue_signalled(struct engine *e, struct rescue *r, const char *how);
void rescue_jobs(struct engine *e, const char *text, size_t len, const struct err *err);
/* slurmctld took it, or not. */
void rescue_told(struct engine *e, const struct slurm_order *o, const struct err *err);
void rescue_run(struct engine *e);
void rescue_fates(struct engine *e, const char *text, size_t len, const struct err *err);
int64_t rescue_next_ms(const struct engine *e);
void rescue_init(struct engine *e);
void rescue_free(struct engine *e);

/* --- prereq.c --- */
void prereq_init(struct engine *e);
void prereq_free(struct engine *e);
void prereq_run(struct engine *e);
void prereq_hurry(struct engine *e); /* slurmctld is back */
/* All our nodes in a snapshot: their features are looked at, not every time. */
void prereq_nodes(struct engine *e, const struct slurm_node *nodes, size_t n);
int64_t prereq_next_ms(const struct engine *e);
/* Has this slurmctld that trait, or is its version not known yet? */
bool prereq_may_have(const struct engine *e, enum slurm_trait t);
bool prereq_has(const struct engine *e, enum slurm_trait t); /* false: it is not known, too */
/* How long slurmctld holds a requeued job back, as of the last minute; 0: not known. */
int64_t prereq_hold_ms(const struct engine *e);
/* Of RealMemory, that a node must have; 0: slurmctld takes any, or it is not known. */
uint32_t prereq_memory_percent(const struct engine *e);
int64_t prereq_known_ms(const struct engine *e); /* when that was asked; 0: never */
void prereq_answer(struct engine *e, enum slurm_question q, const char *text, size_t len);
/* The node list of a partition, as of the last minute; p NULL: there is none, or not known yet. */
struct slurm_text prereq_partition(const struct engine *e, const char *name);

/* --- cancel.c --- */
/* One that is powering up, as a snapshot begun at began_ms has it. */
void cancel_look(struct engine *e, struct fleet_name *nm, const struct slurm_node *sn,
		 int64_t began_ms);
void cancel_asks(struct engine *e);
void cancel_jobs(struct engine *e, const char *text, size_t len, const struct err *err); /* all */
/* slurmctld has answered an order about nodes. */
void cancel_told(struct engine *e, const struct slurm_order *o, bool ok);
void cancel_init(struct engine *e);
void cancel_free(struct engine *e);

/* --- warm.c --- */
void warm_init(struct engine *e);
void warm_free(struct engine *e);
void warm_run(struct engine *e);
void warm_hurry(struct engine *e); /* another configuration, or an order: decide anew */
int64_t warm_next_ms(const struct engine *e);
/* What slurmctld has in SuspendExcNodes, of `scontrol show config` begun at asked_ms. */
void warm_config(struct engine *e, const char *text, size_t len, int64_t asked_ms);

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

/* --- node_init.c --- */
void node_init_off(struct engine *e, const struct err *why); /* it cannot be read; NULL: it can */
bool node_init_due(const struct engine *e);                  /* it is to be looked at again */
int64_t node_init_next_ms(const struct engine *e);

/* --- claims.c --- */
/* With a section nodes and a door for them; else nothing, and all that follows does nothing. */
int claims_open(struct engine *e, struct err *err);
/* Load what proves that a machine is one of this provider's, if that failed so far. */
int claims_may_use(struct engine *e, size_t provider, struct err *err);
const char *claims_keyless(const struct engine *e, uint32_t provider);
int claims_load(struct engine *e, const struct claim *c); /* as the journal has it; after rows */
/* Do machines of this provider claim? */
bool claims_wanted(const struct engine *e, uint32_t cloud);
/* What machines of a create with this token are given, the same text every time: the caller's, a
 * secret.  NULL without an error: nothing. */
char *claims_user_data(const struct engine *e, const struct batch *b, struct err *err);
/* Its members may claim: durable with its intent, in the same commit. */
void claims_issue(struct engine *e, const struct batch *b);
/* A row is about to be written: whose machine goes, or is taken by its provider, claims nothing. */
void claims_row(struct engine *e, const struct node *is);
void claims_run(struct engine *e);
int64_t claims_next_ms(const struct engine *e);
void claims_free(struct engine *e);

/* --- secrets.c --- */
int secrets_open(struct engine *e, struct err *err);
/* Can the driver that is open do what next says?  -1: *err. */
int secrets_may_replace(struct engine *e, const struct conf *next, struct err *err);
void secrets_hurry(struct engine *e); /* files that could not be read are looked at now */
void secrets_run(struct engine *e);
int64_t secrets_next_ms(const struct engine *e);
void secrets_free(struct engine *e);

/* --- door.c --- */
/* With the configuration's section nodes and a way to reach them; else nothing. */
int door_open(struct engine *e, struct err *err);
void door_reload(struct engine *e); /* what cannot be read now stays as it was */
/* The answers whose meaning is durable go out. */
void door_run(struct engine *e);
void door_free(struct engine *e);

/* --- breach.c --- */
int breach_load(struct engine *e, struct err *err);
struct breach {
	const char *node, *of, *why; /* of: "claims", "vouchers" */
	uint64_t gen;
	bool left; /* keys, or a token for them, had been given out for it */
};
/* Somebody may have the keys: counted, an event and on record. */
void breach_sound(struct engine *e, const struct breach *b);
void breach_mended(struct engine *e, const struct rotation *r); /* which is done */

/* --- rotate.c --- */
int rotate_load(struct engine *e, struct err *err); /* after secrets_open() */
void rotate_run(struct engine *e);
int64_t rotate_next_ms(const struct engine *e);
void rotate_free(struct engine *e);

/* --- gate.c --- */
void gate_run(struct engine *e);
/* Those that are CONFIGURING. */
void gate_jobs(struct engine *e, const char *text, size_t len, const struct err *err);
/* How often slurmctld is to be polled, if there were no gates: `otherwise`. */
int64_t gate_poll_ms(const struct engine *e, int64_t otherwise);
void gate_free(struct engine *e);

#endif
