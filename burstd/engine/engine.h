/* engine.h - fold, write, act: the one place where decisions become deeds.
 *
 * The engine owns the fleet, talks to slurmctld and the providers through io/, and makes every
 * change durable through store/ before anything follows from it.  It has one timer and no thread.
 * Everything it does is a reaction to one of: a call from a hook, an answer from a provider, a
 * snapshot of slurmctld, the timer, an operator.  Hooks only make it act sooner: what is wanted
 * comes from slurmctld's snapshots, what exists from the providers' lists, and unknown means no
 * action. */
#ifndef BURSTD_ENGINE_H
#define BURSTD_ENGINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/call.h"
#include "base/err.h"
#include "base/log.h"
#include "base/map.h"
#include "core/attest.h"
#include "core/conf.h"
#include "core/fleet.h"
#include "core/plan.h"
#include "core/provider.h"
#include "core/rotation.h"
#include "core/unsold.h"
#include "engine/part.h"
#include "slurm/require.h"
#include "store/journal.h"

struct loop;
struct http_client;
struct proc;
struct spool;
struct engine;
struct secret_store_ops;

struct http_answer;
struct node_ca;
struct node_claims;
struct node_request;

enum { CLAIM_KEY_SIZE = 32 };

/* How nodes reach the engine; borrowed, outlives it.  NULL in engine_deps: they do not. */
struct engine_door {
	struct node_ca *ca;
	struct node_claims *table;
	const struct attest_ops *(*verifier)(enum attest_kind k);
	/* As node_server_answer(): takes an->body. */
	void (*answer)(void *ctx, uint64_t ticket, const struct http_answer *an);
	void *ctx;
	const unsigned char *claim_key; /* CLAIM_KEY_SIZE bytes, from which secrets are made */
	uint32_t uid;                   /* burstd's, of which nodes decode credentials */
	const char
		*off; /* why no node can reach us now; NULL: they can.  May change while it runs */
};

/* How much one turn takes, so that hooks have theirs in between; not 0. */
struct engine_slice {
	/* nodes sent for; nodes written, where a turn can be cut; nodes of a snapshot read, and
	 * then looked at */
	size_t send, write, read;
};

struct engine_deps { /* borrowed; they outlive the engine */
	struct loop *loop;
	struct http_client *http;
	struct proc *proc;
	struct journal *journal;
	struct spool *spool; /* where calls of slurmctld come from; NULL: from nowhere */
	struct log *log;     /* NULL: no log */
	const char *uuid;    /* the cluster's, by which we know our own instances */
	int64_t gen_floor;   /* generations begin above this: not 0 after a lost journal */
	const struct provider_ops *(*driver)(const char *name); /* NULL: no such driver */
	/* NULL: there are none, or no such driver. */
	const struct secret_store_ops *(*store)(const char *name);
	/* Load what secrets.credential_file and secrets.ca_file hold, the certificates as PEM: each
	 * borrowed until it is asked again or the engine is gone; NULL, as it comes: there is none.
	 * -1: the store is off, and this is called again each minute.  NULL: it names neither. */
	int (*store_files)(void *ctx, const struct conf *conf, const char **credential,
			   const char **ca, struct err *e);
	const struct engine_door *door;
	const char *store_ca; /* PEM, by which machines know the store, while store_files() has
				 not said; NULL: nothing */
	/* Load the files that provider i names into *p, and its credential, which is borrowed until
	 * it is asked again or the engine is gone; NULL: it has none.  -1: the provider is off, and
	 * this is called again each minute.  NULL: no provider has any. */
	int (*files)(void *ctx, struct conf_provider *p, size_t i, const char **credential,
		     struct err *e);
	/* The journal failed: nothing may be done any more (F55).  The daemon ends the process. */
	void (*fatal)(void *ctx, const struct err *e);
	/* Something was done: there may be new events.  NULL: nobody cares.  It calls nothing here.
	 */
	void (*turned)(void *ctx);
	void *ctx;
	/* By how much local time is ahead of UTC at that time, for what people read in Slurm; NULL:
	 * they read UTC. */
	int64_t (*zone)(int64_t wall_ms);
	struct engine_slice slice; /* all 0: what is good for people */
	struct engine_parts parts; /* what it is made of: parts_all() */
};

/* Load the journal and make ready; nothing is sent before engine_start().  A provider that cannot
 * be opened is off, and so is a provider or pool that only the journal has: they are added to
 * *conf. Takes *conf on success. */
int engine_new(struct engine **out, const struct engine_deps *d, struct conf *conf, struct err *e);
void engine_start(struct engine *e);
/* Before engine_free() and without another turn: end the sessions with the secret store.  true:
 * said(ctx) is called once, from the loop and within two seconds, unless d.http is closed before.
 * false: there is nothing to wait for. */
bool engine_logout(struct engine *e, void (*said)(void *ctx), void *ctx);
/* No other callback comes after this, whatever is still on the wire. */
void engine_free(struct engine *e); /* NULL is fine */

/* --- a job that waits for its nodes to be up (PrologSlurmctld) --- */

struct gate;
enum gate_end {
	GATE_UP,   /* slurmctld has all of them up */
	GATE_GONE, /* the job does not wait for them any more, or will not get them */
};
typedef void (*gate_fn)(void *ctx, enum gate_end how);

struct gate_ask {
	uint64_t job;
	const char *nodes; /* the job's node list, with nodes that are not ours */
	size_t len;
	gate_fn fn; /* called once, later, unless the gate is closed before; the gate is gone then
		     */
	void *ctx;
};

/* *out NULL: no node of ours, nothing to wait for.  -1: the list is bad, or too many wait. */
int engine_gate_open(struct engine *e, const struct gate_ask *ask, struct gate **out,
		     struct err *err);
void engine_gate_close(struct gate *g);
/* The longest that one of its nodes may boot. */
int64_t engine_gate_boot_ms(const struct gate *g);

/* A request of a node, as node_handler_fn; only with a door. */
void engine_node_request(struct engine *e, const struct node_request *rq, struct http_answer *an);

/* Compare everything now rather than when it is due. */
void engine_reconcile(struct engine *e);

enum engine_order {
	ENGINE_DRAIN,     /* no more jobs; powered down when those on it are done */
	ENGINE_TERMINATE, /* powered down now: its jobs are requeued, or end */
};
struct engine_request {
	enum engine_order order;
	const char *nodes; /* a node list; NULL: all that exist */
	const char *by;    /* who orders it, for the events: "root", "uid 1000" */
	bool look;         /* only say what it would be about, and do nothing */
};

struct engine_ordered { /* nodes, each counted once */
	size_t n;       /* that the order is about: they are up, or may exist */
	size_t busy;    /* of those, on which slurmctld has jobs */
	size_t off;     /* of the list, that were off already */
};

/* -1: the list is bad or has a node that no pool names, and nothing is done. */
int engine_operate(struct engine *e, const struct engine_request *rq, struct engine_ordered *out,
		   struct err *err);

enum engine_noticed {
	ENGINE_NOTICE_TAKEN,   /* it is written down, now or before */
	ENGINE_NOTICE_LATE,    /* it has no instance, or one that leaves already */
	ENGINE_NOTICE_IGNORED, /* its pool or an admin wants nothing done about it */
	ENGINE_NOTICE_UNKNOWN, /* no node of ours, nor an instance */
	ENGINE_NOTICE_SEVERAL, /* instances of several providers have that id: none was taken */
};
struct engine_notice {        /* borrowed */
	const char *instance; /* its id, or the name of its node */
	enum provider_notice_kind kind;
	int64_t at_ms;      /* when it will happen; 0: not said */
	const char *reason; /* for people; "" */
	const char *by;     /* who says so; "": the provider */
};

struct engine_notice_end {
	enum engine_noticed so;
	const char *node; /* whose it is, or was; "": nobody's; valid for this turn */
};

/* Somebody knows that these machines will be taken away; *out has so many.  Durable, all of them at
 * once, when this returns. */
int engine_take_notices(struct engine *e, const struct engine_notice *list, size_t n,
			struct engine_notice_end *out, struct err *err);

/* Stop buying in a pool (NULL: in all), or go on; what is there stays, and is deleted as ever.
 * Durable.  To go on also forgives a pool whose machines came up wrong.  by: as above.  -1: no such
 * pool. */
int engine_pause(struct engine *e, const char *pool, bool paused, const char *by, struct err *err);

/* Forget that places have nothing to sell: an admin has raised a quota, paid, or knows better.  Of
 * a pool, of a provider (what: its name; one may have both), or all (NULL).  *n: how many were
 * closed, or had been.  by: as above.  -1: what is neither. */
int engine_retry(struct engine *e, const char *what, const char *by, size_t *n, struct err *err);

/* Look whether the journal's disk has room.  Before it is full nothing is bought, while deletes go
 * on being written down.  The engine looks before it buys; for what happens otherwise, call this
 * every few seconds. */
void engine_look_at_disk(struct engine *e);

/* Go over to another configuration, or refuse it and change nothing.  Takes *next on success. */
int engine_reload(struct engine *e, struct conf *next, struct err *err);

/* --- what the control API and /metrics show; borrowed, valid until control returns to the loop ---
 */

struct engine_source { /* slurmctld, or one provider */
	const char *name;
	int64_t ok_ms;     /* last whole answer; 0: never */
	int64_t failed_ms; /* last failure; 0: never */
	const char *error; /* of that failure, "" if it was answered since */
};

struct engine_counters {
	uint64_t calls[CALL_NKINDS];              /* by enum call_kind */
	uint64_t calls_bad;                       /* files in the spool that were no whole call */
	uint64_t calls_refused;                   /* could not be read, or named no node of ours */
	uint64_t creates, deletes, lists, offers; /* requests sent to providers */
	uint64_t logins;                          /* steps to a session */
	uint64_t reports;                         /* of broken hosts */
	uint64_t fabrics;                         /* requests about fabrics */
	uint64_t notices;        /* requests for notices, and acknowledgements of some */
	uint64_t notices_odd;    /* told by providers, and not understood */
	uint64_t notices_others; /* ... and about instances of others */
	uint64_t instances_created, instances_refused, instances_lost;
	uint64_t jobs_taken; /* lost a node while they ran; of those: */
	uint64_t jobs_requeued, jobs_ended;
	uint64_t jobs_signalled; /* told to save their work */
	uint64_t jobs_lifted;    /* requeued, and let start before slurmctld would */
	uint64_t jobs_notified;  /* of srun and salloc: told why they end */
	uint64_t fences, fence_ms,
		fence_max_ms;    /* notices followed by an order; how long it took */
	uint64_t polls, updates; /* scontrol runs */
	uint64_t orphans,
		foreign;     /* instances seen with our tag but unknown; of others (last list) */
	uint64_t unreadable; /* our tag, but which node's? of all providers' last lists */
	uint64_t commits;
	uint64_t claims_breached;
	uint64_t gates_waiting;                 /* now */
	uint64_t gates_up, gates_gone, gate_ms; /* ended so; time that gates have waited in all */
};

const struct conf *engine_conf(const struct engine *e);
const struct fleet *engine_fleet(const struct engine *e);
/* fleet_sorted(): every node that a pool names, and those that only the journal still knows. */
struct fleet_name *const *engine_sorted(struct engine *e);
int64_t engine_now(const struct engine *e);
/* A time of ours, as the wall clock of this machine has it, and back: for slurmctld, certificates
 * and people.  0 and INT64_MAX are no times and stay.  The text is fmt_time()'s. */
int64_t engine_wall(const struct engine *e, int64_t ms);
int64_t engine_from_wall(const struct engine *e, int64_t wall_ms);
char *engine_time(const struct engine *e, char *out, int64_t ms);
uint64_t engine_last_batch(const struct engine *e); /* the number of the last purchase; 0: none */
int64_t engine_started_ms(const struct engine *e);
struct engine_source engine_slurm_source(const struct engine *e);
struct engine_source engine_provider_source(const struct engine *e, size_t provider);
/* Since when it cannot be reached, so that nothing is bought there; 0: it can. */
int64_t engine_away_since(const struct engine *e, size_t provider);
/* Why nothing is asked of this provider: it could not be opened, or the configuration does not have
 * it any more; NULL: it is asked. */
const char *engine_off(const struct engine *e, size_t provider);
/* How far the wall clock here is ahead of the provider's, in ms, as far as the Dates of its answers
 * prove; below 0: behind. */
int64_t engine_clock_ahead(const struct engine *e, size_t provider);
/* Why the provider's last failed delete failed, and when that was; 0: none has. */
const char *engine_undeleted(const struct engine *e, size_t provider, int64_t *failed_ms);
/* Why the provider cannot be asked for notices, and since when; 0: it can, or has none to tell. */
const char *engine_unheard(const struct engine *e, size_t provider, int64_t *since_ms);
/* Why the provider's last refusal to drop a fabric was, and how many it would not drop. */
const char *engine_undropped(const struct engine *e, size_t provider, size_t *n);
/* The i-th instance in the provider's last list that carries our tag and cannot be told apart
 * further, for its node's name or its generation is no such thing; its id, or NULL: no more. */
const char *engine_unreadable(const struct engine *e, size_t provider, size_t i);
struct engine_stray {
	const char *id, *node; /* valid for this turn; node: as its tag says */
	int64_t tried_ms;      /* when the provider was first asked to delete it; 0: not yet */
	int64_t seen_ms;       /* when the list began that shows it */
	bool leaves;           /* it stops already */
	bool up; /* no pool names its node, and slurmctld has that up: it is left alone */
};
/* The i-th instance in the provider's last good list that carries our tag and that no row stands
 * for; false: no more.  It is deleted, unless slurmctld turns out to use it. */
bool engine_stray(const struct engine *e, size_t provider, size_t i, struct engine_stray *out);
/* Notices of that kind about machines of this provider, whoever told us, since our start. */
uint64_t engine_notices(const struct engine *e, size_t provider, enum provider_notice_kind kind);
/* A node whose machine will be taken: when slurmctld is told to power it down whatever runs there;
 * INT64_MAX: when its jobs have ended.  0: it is not DRAINING. */
int64_t engine_force_ms(const struct engine *e, const char *node);
struct engine_taken {
	const char *job, *signal; /* signal: "" if it was not told to save its work */
};
/* The i-th job that is followed because it loses this node; false: no more. */
bool engine_taken(const struct engine *e, const char *node, size_t i, struct engine_taken *out);
/* What the provider of a pool took of its machines, each within an hour of the one before. */
struct engine_losses {
	uint32_t n;
	int64_t last_ms;
	enum node_reason why; /* of the last */
	char node[HOSTLIST_NAME_MAX + 1];
};
/* NULL: none was taken within the last hour. */
const struct engine_losses *engine_losses(const struct engine *e, size_t i);
struct engine_postponed {
	const char
		*job; /* as people write it, or after a restart its number; valid for this turn */
	uint32_t refusals; /* so far, one after the other */
	int64_t until_ms;  /* slurmctld was told, or was to be, not to start it before then */
};
/* How many jobs could not have their nodes and wait for their next try; one that was cancelled, or
 * released by hand, counts until its time comes.  *soonest is set where there is one. */
size_t engine_postponed(const struct engine *e, struct engine_postponed *soonest);
/* What usage of this pool is written down as spent, plus what lives now cost until now; nano-units.
 */
int64_t engine_spent(const struct engine *e, size_t pool);
bool engine_paused(const struct engine *e, size_t i);
/* Who paused it ("root", "uid 1000"), and when; "" and 0: it is not, or that is not known. */
const char *engine_paused_by(const struct engine *e, size_t i, int64_t *since_ms);
/* Why nothing is bought in this pool whatever its limits, for people; NULL: it is, if there is room
 * on the disk (engine_room()). */
const char *engine_closed(const struct engine *e, size_t i);
struct engine_warm {         /* nodes of a pool that are up whether a job has them or not */
	uint32_t wanted;     /* as configured */
	uint32_t up, coming; /* of those */
	uint32_t paid;       /* more, that stay because their time is paid for */
};
struct engine_warm engine_warm(const struct engine *e, size_t pool);
/* How much room there is where the journal is, at the last look; low: nothing is bought anywhere.
 */
const struct journal_room *engine_room(const struct engine *e);
/* Can hooks leave their calls, and burstd read and delete them?  -1: *err says why not.  *note: as
 * spool_check() (io/spool.h). */
int engine_spool(const struct engine *e, const char **note, struct err *err);
/* What slurm.conf lacks, as of the last minute; NULL: not known yet. */
const struct slurm_report *engine_prereq(const struct engine *e);
/* Why that is not known, though slurmctld was asked; "": it is, or nobody has answered yet. */
const char *engine_prereq_error(const struct engine *e);
/* What a node of this rung of the pool costs, nano-units per hour; 0: not known yet; -1: the
 * provider does not offer it, in our currency; LADDER_UNPRICED. */
int64_t engine_price(const struct engine *e, size_t pool, size_t rung);
/* The type among the provider's offers that is most like this one; NULL: none is near. */
const char *engine_like_type(const struct engine *e, size_t provider, const char *type);
const struct engine_counters *engine_counters(const struct engine *e);

/* Claims that were misused, in the last days and since the key was replaced, whenever burstd was
 * started: somebody may have the cluster's key. */
struct engine_breaches {
	uint64_t n;
	int64_t last_ms;
};
struct engine_breaches engine_breaches(const struct engine *e);
const char *engine_rotate_command(const struct engine *e); /* what an admin may do about it */

struct engine_secrets {              /* the secret store */
	const char *driver;          /* "": there is none */
	struct engine_source source; /* its name is the address that we talk to, or the driver's */
	const char *phase;           /* "ready", "login", ... */
	bool ready, insecure;        /* insecure: for development only */
	const char *version;         /* of the bundle; "": not known */
	int64_t version_ms;          /* since when we know that it is the current one */
	int64_t until_ms;            /* end of the session; 0: none, INT64_MAX: it has none */
	int64_t trouble_ms;          /* since when it fails; 0: it does not */
	size_t waiting;              /* nodes that wait for keys */
	uint64_t released[3];        /* by enum conf_release */
	uint64_t failed, requests, logins;
	enum engine_enrolment { /* the last, since our start */
				ENGINE_ENROL_NONE,
				ENGINE_ENROL_BUSY,
				ENGINE_ENROL_DONE,
				ENGINE_ENROL_FAILED
	} enrolment;
	const char *enrolled; /* why it failed; "" */
};
void engine_secrets(const struct engine *e, struct engine_secrets *out);
/* A wrapped credential of the store: look whom it is from, unwrap it, keep it in credential_file
 * and log in with it.  What becomes of it is in engine_secrets.  -1: the store takes none, or
 * somebody else is at it. */
int engine_enroll(struct engine *e, const char *token, const char *by, struct err *err);

/* --- machines that boot, and what they say --- */

enum { ENGINE_BOOT_STEPS = 24 };

struct engine_boot {                    /* of one incarnation; the texts are valid for this turn */
	const char *claim;              /* state of its claim: "issued", "claimed", ... */
	const char *why;                /* it ended before its time; "" */
	bool weak;                      /* nothing but its address was proved */
	bool unproved;                  /* nothing at all: its token was in its user-data */
	bool faulty, old_keys;          /* by its last heartbeat */
	int64_t since_ms;               /* in that state */
	int64_t key_version;            /* that it has, as far as is known; 0: none */
	int64_t heartbeat_ms, ready_ms; /* the last, and when all steps had passed; 0: not since our
					   start */
	int64_t boot_ms;                /* that those took */
	int64_t cert_until_ms;          /* of its certificate; 0: not known */
};
/* false: it has no claim. */
bool engine_boot(const struct engine *e, const char *node, uint64_t gen, struct engine_boot *out);

/* Why no node can reach us: the listener's port cannot be had; NULL: they can, or are not to. */
const char *engine_door_off(const struct engine *e);
/* Why no machine is given its keys: node_init cannot be read; NULL: it can, or there is none. */
const char *engine_init_off(const struct engine *e);
/* Why this one is not bought yet: its token is not there, or its machine could not come by its keys
 * whatever it has; NULL: it is, or could, or needs none. */
const char *engine_token_wait(const struct engine *e, const struct node *n);
const char *engine_keys_wait(const struct engine *e, const struct node *n);

struct engine_door_counters { /* since our start */
	uint64_t requests;    /* that got as far as the engine */
	uint64_t answers[4];  /* of those: 2xx, 3xx, 4xx, 5xx */
	uint64_t heartbeats, confirmed, ready, failed, events, renewed;
	uint64_t misuses;        /* a node spoke for another, or with another key */
	uint64_t munge_refused;  /* credentials */
	uint64_t hosts_left_out; /* now: nodes that are not in what nodes are told of each other */
	struct engine_boot_step {
		const char *name; /* of node-init; the last is "other" */
		uint64_t n;       /* how often it was reported; 0: all else is unset */
		int64_t sum_ms, max_ms;
	} steps[ENGINE_BOOT_STEPS];
};
/* NULL: nodes do not talk to us. */
const struct engine_door_counters *engine_door_counters(const struct engine *e);
/* How many incarnations that exist have a claim in each state (CLAIM_NSTATES of them), and how many
 * of all have proved no more than an address. */
size_t engine_claims(const struct engine *e, size_t *states);

/* --- a key is replaced by another --- */

enum engine_rotate_verb {
	ENGINE_ROTATE_START,
	ENGINE_ROTATE_SWITCH,
	ENGINE_ROTATE_ABORT,
	ENGINE_ROTATE_RESUME, /* with another credential, or another try */
};
struct engine_rotate_ask { /* borrowed */
	enum engine_rotate_verb verb;
	enum rotation_kind kind; /* START */
	/* Vault: a wrapping token of rotate_role_name; else as credential_file has it.  NULL: the
	 * one there is. */
	const char *credential;
	int64_t in_ms;   /* SWITCH, munge: from now; 0: as soon as may be */
	int64_t life_ms; /* START, jwks: of a token; 0: not said */
	const char *by;
};
/* What comes of it is in engine_rotation().  -1: it cannot be now. */
int engine_rotate(struct engine *e, const struct engine_rotate_ask *ask, struct err *err);
struct engine_rotation {
	bool there; /* there is a secret store */
	struct rotation r;
	int64_t version; /* that nodes should have; 0: not known */
	struct engine_rotation_nodes {
		/* have it; have another; did not say; were drained for it; have their keys from
		 * elsewhere */
		uint32_t have, lack, unheard, drained, others;
		uint32_t fixed; /* of those that are up: what they have they cannot change */
	} nodes;
	bool alone; /* no credential needs to be given */
	bool has_command, needs_credential, busy;
	const char *error; /* why it stands still; "" */
};
void engine_rotation(const struct engine *e, struct engine_rotation *out);
/* The first of the nodes that have other keys, or say nothing of theirs; how many. */
size_t engine_rotation_lack(const struct engine *e, const char **nodes, size_t max);

/* --- where nodes are bought, and where they would be; nothing is asked of anybody, and nothing
 * changes --- */

/* Every place that has nothing to sell, or had a moment ago. */
void engine_cooldowns(const struct engine *e, cooldown_fn fn, void *ctx);
/* How often a request of that kind was throttled, since our start. */
uint64_t engine_throttled(const struct engine *e, size_t provider, enum provider_op_kind kind);
/* How many nodes the provider refused with this code, since our start. */
uint64_t engine_unsold(const struct engine *e, size_t provider, enum provider_code code);

struct engine_rung {
	const struct conf_offer *offer;
	int64_t price; /* of one node, nano-units per hour; 0: not known yet; < 0: not offered */
	struct cooldown_view cool;
	uint32_t nodes; /* of the pool that are bought there, now */
	uint32_t place; /* 1, 2, ...: when it is tried; 0: it is left out */
	enum ladder_cause cause;
	char why[160]; /* it is left out, or passed over, for people; "": it is not */
	struct unsold_say said[UNSOLD_EACH]; /* the newest first */
	size_t nsaid;
};

struct engine_ladder {                             /* of a pool, for one job */
	struct engine_rung rungs[CONF_OFFERS_MAX]; /* as they are tried; then what is left out */
	size_t n;
	uint32_t others;    /* nodes of offers that the configuration does not have any more */
	const char *probes; /* why only one job's nodes are bought at a time, or NULL */
	bool listed;        /* false: a provider has not shown yet what it has */
};

/* For a new job of one node that wants nothing special. */
void engine_ladder(struct engine *e, size_t pool, struct engine_ladder *out);

struct engine_job { /* one that slurmctld has; the texts are valid for the call, NULL: none */
	uint64_t number;
	char id[40]; /* as people write it: "7", "7_2", "7+1" */
	char *state, *reason, *partition, *constraint, *comment;
	uint32_t count;    /* of nodes that it has, or needs at least */
	char *nodes;       /* those of ours that it has, insists on, or is to have; NULL: any */
	char *without;     /* nodes that it does not want */
	uint32_t others;   /* tasks of the same array, or parts of the same job */
	uint32_t refusals; /* so far; and when slurmctld may try it again, 0: at any time */
	int64_t until_ms;
};

/* j: what slurmctld says; NULL: *err says why not. */
typedef void (*engine_query_fn)(void *ctx, const struct engine_job *j, const struct err *err);
struct engine_query;
enum { ENGINE_ANYBODY = -1 };
/* Ask slurmctld about one job, by its id; fn is called once, later, unless it is cancelled before.
 * uid: only if it is this user's, and otherwise nothing of it is told, not even that there is one;
 * ENGINE_ANYBODY: whoever's it is.  NULL: that is no id. */
struct engine_query *engine_query_job(struct engine *e, const char *id, int64_t uid,
				      engine_query_fn fn, void *ctx);
void engine_query_cancel(struct engine_query *q);

struct engine_plan_ask {
	const char *list; /* these nodes; NULL: some of a pool that are off, as Slurm would ... */
	uint32_t pool, nodes;
	const struct map *within; /* ... and of these names, if not NULL, ... */
	const char *without;      /* ... and none of this list */
	struct ladder_wish wish;
	/* Of this one, with what it wishes and how often it was refused; NULL: of a new one. */
	const struct engine_job *job;
};

struct engine_plan_pool {
	uint32_t pool, nodes; /* that would be new */
	int rung;             /* of the ladder: from there they are bought; -1: they are not */
	struct engine_ladder ladder;
};

struct engine_plan {
	enum plan_verdict verdict; /* BUY, HAVE, WAIT or REFUSE, of all */
	char why[256];             /* WAIT, REFUSE */
	char note[200];            /* what of its comment does not count; "": all does */
	bool no_offer;             /* REFUSE: none is left, and each says why */
	int64_t again_ms;          /* REFUSE: when the job is tried again, at the first refusal */
	uint32_t nodes, have;      /* of those there are or are being bought */
	struct engine_plan_pool *pools;
	size_t npools;
};

/* What would become of a job.  -1: the list is bad, or has a node that no pool names. */
int engine_plan(struct engine *e, const struct engine_plan_ask *ask, struct engine_plan *out,
		struct err *err);
void engine_plan_fini(struct engine_plan *p);
/* The nodes of a partition as a list, the caller's (free()); NULL: slurmctld has none of that name,
 * or has not said yet. */
char *engine_partition(const struct engine *e, const char *name);
/* slurmctld's flags for a node, as text ("IDLE+CLOUD+POWERED_DOWN"); "" when not known. */
const char *engine_slurm_state(const struct engine *e, const char *node, char *buf, size_t size);

#endif
