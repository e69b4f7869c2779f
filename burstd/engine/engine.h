/* engine.h - fold, write, act: the one place where decisions become deeds.
 *
 * The engine owns the fleet, talks to slurmctld and the providers through io/, and makes every
 * change durable through store/ before anything follows from it.  It has one timer and no thread.
 * It reacts to five things: a call from a hook, an answer from a provider, a snapshot of slurmctld,
 * the timer, an operator.  Hooks only make it act sooner: which nodes are wanted it learns from
 * slurmctld's snapshots, which instances exist from the providers' lists, and it does nothing about
 * what it does not know. */
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

/* How nodes reach the engine; borrowed, outlives it.  NULL in engine_deps: there is no listener. */
struct engine_door {
	struct node_ca *ca;
	struct node_claims *table;
	const struct attest_ops *(*verifier)(enum attest_kind k);
	/* As node_server_answer(): takes an->body. */
	void (*answer)(void *ctx, uint64_t ticket, const struct http_answer *an);
	void *ctx;
	const unsigned char *claim_key; /* CLAIM_KEY_SIZE bytes, for the HMAC of claims' secrets */
	uint32_t uid;                   /* burstd's: only its munge credentials convince nodes */
	/* Why no node can reach burstd now; NULL: nodes can.  May change while burstd runs. */
	const char *off;
};

/* How much one turn does, so that hooks are served in between; none is 0. */
struct engine_slice {
	size_t send;  /* nodes sent to providers */
	size_t write; /* nodes written to the journal, where a turn can be cut */
	size_t read;  /* nodes of a snapshot that are read, and nodes that are compared */
};

struct engine_deps { /* borrowed; they outlive the engine */
	struct loop *loop;
	struct http_client *http;
	struct proc *proc;
	struct journal *journal;
	struct spool *spool; /* where calls of slurmctld come from; NULL: from nowhere */
	struct log *log;     /* NULL: no log */
	const char *uuid;    /* the cluster's: in the tags of its instances */
	int64_t gen_floor;   /* generations begin above this: not 0 after a lost journal */
	const struct provider_ops *(*driver)(const char *name); /* returns NULL: no such driver */
	/* Returns NULL: no such driver.  NULL: there are no secret stores. */
	const struct secret_store_ops *(*store)(const char *name);
	/* Load the contents of secrets.credential_file and of secrets.ca_file (PEM); both are
	 * borrowed until the next call or the engine's end.  *credential and *ca are NULL at first,
	 * and stay so if not configured.  -1: the store is off, and this is called again each
	 * minute.  NULL: there are no such files. */
	int (*store_files)(void *ctx, const struct conf *conf, const char **credential,
			   const char **ca, struct err *e);
	const struct engine_door *door;
	/* The store's CA for machines, as PEM, until store_files() has loaded it; NULL: none. */
	const char *store_ca;
	/* Load the files that provider i names into *p, and its credential, which is borrowed until
	 * the next call or the engine's end; *credential NULL: it has none.  -1: the provider is
	 * off, and this is called again each minute.  NULL: no provider names files. */
	int (*files)(void *ctx, struct conf_provider *p, size_t i, const char **credential,
		     struct err *e);
	/* The journal failed, and the engine does nothing any more (F55): end the process. */
	void (*fatal)(void *ctx, const struct err *e);
	/* A turn is over, and there may be new events.  Must not call the engine.  May be NULL. */
	void (*turned)(void *ctx);
	void *ctx;
	/* How far local time is ahead of UTC at wall_ms, for times that people read in Slurm; NULL:
	 * these are UTC. */
	int64_t (*zone)(int64_t wall_ms);
	struct engine_slice slice; /* all 0: the default (kernel.h) */
	struct engine_parts parts; /* the table: parts_all() */
};

/* Load the journal; nothing is sent before engine_start().  A provider that cannot be opened is
 * off.  So is a provider or pool that only the journal names: it is added to *conf.  Takes *conf on
 * success. */
int engine_new(struct engine **out, const struct engine_deps *d, struct conf *conf, struct err *e);
void engine_start(struct engine *e);
/* End the sessions with the secret store, before engine_free() and without another turn.  true:
 * said(ctx) is called once, from the loop and within two seconds, unless d.http is closed before.
 * false: there is nothing to wait for. */
bool engine_logout(struct engine *e, void (*said)(void *ctx), void *ctx);
/* No callback comes after this, whatever is still on the wire. */
void engine_free(struct engine *e); /* NULL is fine */

/* --- gates: jobs that wait in PrologSlurmctld until their nodes are up --- */

struct gate;
enum gate_end {
	GATE_UP,   /* slurmctld has all of them up */
	GATE_GONE, /* the job does not wait any more, or one of its nodes was refused */
};
typedef void (*gate_fn)(void *ctx, enum gate_end how);

struct gate_ask {
	uint64_t job;
	const char *nodes; /* the job's node list; nodes of no pool are ignored */
	size_t len;
	/* Called once, later, unless the gate is closed before.  The gate is freed by then. */
	gate_fn fn;
	void *ctx;
};

/* *out NULL: no pool names a node of the job, which need not wait.  -1: the list is bad, or too
 * many jobs wait. */
int engine_gate_open(struct engine *e, const struct gate_ask *ask, struct gate **out,
		     struct err *err);
void engine_gate_close(struct gate *g);
/* The longest boot timeout of its nodes. */
int64_t engine_gate_boot_ms(const struct gate *g);

/* A node_handler_fn, for engine_deps.door. */
void engine_node_request(struct engine *e, const struct node_request *rq, struct http_answer *an);

/* Ask slurmctld and all providers now, and compare, rather than when it is due. */
void engine_reconcile(struct engine *e);

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

enum engine_noticed {
	ENGINE_NOTICE_TAKEN,   /* it is in the journal, by this call or an earlier one */
	ENGINE_NOTICE_LATE,    /* the node has no instance, or one that ends already */
	ENGINE_NOTICE_IGNORED, /* by the pool's setting, or since an admin drained the node */
	ENGINE_NOTICE_UNKNOWN, /* neither a node of a pool nor an instance has that name */
	ENGINE_NOTICE_SEVERAL, /* instances of several providers have that id: none was taken */
};
struct engine_notice {        /* borrowed */
	const char *instance; /* its id, or the name of its node */
	enum provider_notice_kind kind;
	int64_t at_ms;      /* when it will happen; 0: not said */
	const char *reason; /* for people; "": none */
	const char *by;     /* who gives the notice; "": the provider */
};

struct engine_notice_end {
	enum engine_noticed so;
	const char *node; /* of the instance; "": none; valid for this turn */
};

/* Take an admin's notices of machines that will be taken away; out has room for n answers.  All of
 * them are durable, by one commit, when this returns. */
int engine_take_notices(struct engine *e, const struct engine_notice *list, size_t n,
			struct engine_notice_end *out, struct err *err);

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

/* Go over to another configuration; -1: it is refused, and nothing has changed.  Takes *next on
 * success. */
int engine_reload(struct engine *e, struct conf *next, struct err *err);

/* --- what the control API and /metrics show; borrowed, valid until control returns to the loop ---
 */

struct engine_source { /* slurmctld, or one provider */
	const char *name;
	int64_t ok_ms;     /* last complete answer; 0: never */
	int64_t failed_ms; /* last failure; 0: never */
	const char *error; /* of that failure; "": it has answered since */
};

struct engine_counters {
	uint64_t calls[CALL_NKINDS];              /* by enum call_kind */
	uint64_t calls_bad;                       /* files in the spool that were no whole call */
	uint64_t calls_refused;                   /* unreadable, or without a node of a pool */
	uint64_t creates, deletes, lists, quotes; /* requests sent to providers */
	uint64_t logins;                          /* requests to get a session */
	uint64_t reports;                         /* reports of broken hosts */
	uint64_t fabrics;                         /* requests about fabrics */
	uint64_t notices;            /* requests for notices, and their acknowledgements */
	uint64_t notices_unreadable; /* notices that could not be read */
	uint64_t notices_foreign;    /* notices about instances that are not burstd's */
	uint64_t instances_created, instances_refused, instances_lost;
	uint64_t jobs_taken; /* running jobs that lost a node; of these: */
	uint64_t jobs_requeued, jobs_ended;
	uint64_t jobs_signalled;         /* jobs that were told to save their work */
	uint64_t jobs_lifted;            /* requeued jobs that burstd let start earlier */
	uint64_t jobs_notified;          /* jobs of srun and salloc that were told why they end */
	uint64_t fences;                 /* notices that slurmctld was told of, ... */
	uint64_t fence_ms, fence_max_ms; /* ... how long that took in all, and at most */
	uint64_t polls, updates;         /* scontrol runs */
	uint64_t strays;                 /* instances with our tag and no row, in all */
	uint64_t foreign;                /* instances of others in the last list */
	uint64_t unreadable; /* with our tag, but not the node's name: in the last lists */
	uint64_t commits;
	uint64_t claims_breached;
	uint64_t gates_waiting;                 /* now */
	uint64_t gates_up, gates_gone, gate_ms; /* gate_ms: how long gates have waited in all */
};

const struct conf *engine_conf(const struct engine *e);
const struct fleet *engine_fleet(const struct engine *e);
/* fleet_sorted(): every node that a pool names, and those that only the journal still knows. */
struct fleet_name *const *engine_sorted(struct engine *e);
int64_t engine_now(const struct engine *e);
/* Convert a time of the engine's to the wall clock of this machine, for slurmctld, certificates and
 * people, and back.  0 and INT64_MAX are no times and stay.  engine_time() formats by fmt_time().
 */
int64_t engine_wall(const struct engine *e, int64_t ms);
int64_t engine_from_wall(const struct engine *e, int64_t wall_ms);
char *engine_time(const struct engine *e, char *out, int64_t ms);
uint64_t engine_last_batch(const struct engine *e); /* the number of the last purchase; 0: none */
int64_t engine_started_ms(const struct engine *e);
struct engine_source engine_slurm_source(const struct engine *e);
struct engine_source engine_provider_source(const struct engine *e, size_t provider);
/* Since when the provider cannot be reached, so that burstd buys nothing there; 0: it can. */
int64_t engine_away_since(const struct engine *e, size_t provider);
/* Why the provider is off: it could not be opened, or the configuration does not have it any more;
 * NULL: it is on. */
const char *engine_off(const struct engine *e, size_t provider);
/* How far the wall clock of this machine is ahead of the provider's, in ms, as far as the Dates of
 * its answers prove; < 0: behind. */
int64_t engine_clock_ahead(const struct engine *e, size_t provider);
/* Why the provider's last failed delete failed, and when that was; 0: none has. */
const char *engine_undeleted(const struct engine *e, size_t provider, int64_t *failed_ms);
/* Why requests for the provider's notices fail, and since when; 0: they do not, or it has none. */
const char *engine_unheard(const struct engine *e, size_t provider, int64_t *since_ms);
/* Why the provider refused to drop a fabric last, and how many fabrics it refuses to drop. */
const char *engine_undropped(const struct engine *e, size_t provider, size_t *n);
/* The id of the i-th instance in the provider's last list that has our tag, but an unreadable node
 * name or generation; NULL: no more. */
const char *engine_unreadable(const struct engine *e, size_t provider, size_t i);
struct engine_stray {
	const char *id, *node; /* valid for this turn; node: as its tag says */
	int64_t tried_ms;      /* when the provider was first asked to delete it; 0: not yet */
	int64_t seen_ms;       /* when the list began that shows it */
	bool leaves;           /* it stops already */
	bool up; /* no pool names its node, but slurmctld has the node up: it is not deleted */
};
/* The i-th stray of a provider: an instance in its last good list that has our tag and no row.  It
 * is deleted, unless slurmctld turns out to use it.  false: no more. */
bool engine_stray(const struct engine *e, size_t provider, size_t i, struct engine_stray *out);
/* How many notices of that kind came for machines of this provider, from anybody, since burstd
 * started. */
uint64_t engine_notices(const struct engine *e, size_t provider, enum provider_notice_kind kind);
/* When a DRAINING node is powered down whatever runs there; INT64_MAX: when its jobs have ended.
 * 0: the node is not DRAINING. */
int64_t engine_force_ms(const struct engine *e, const char *node);
struct engine_taken {
	const char *job, *signal; /* signal: "" if it was not told to save its work */
};
/* The i-th job that burstd follows because it loses this node; false: no more. */
bool engine_taken(const struct engine *e, const char *node, size_t i, struct engine_taken *out);
/* Machines of a pool that their provider took, each within an hour of the one before. */
struct engine_losses {
	uint32_t n;
	int64_t last_ms;
	enum node_reason why; /* of the last */
	char node[HOSTLIST_NAME_MAX + 1];
};
/* NULL: none was taken within the last hour. */
const struct engine_losses *engine_losses(const struct engine *e, size_t i);
struct engine_postponed {
	/* As people write it, or after a restart its number; valid for this turn. */
	const char *job;
	uint32_t refusals; /* in a row */
	int64_t until_ms;  /* slurmctld does not start it before this, by burstd's order */
};
/* How many jobs were refused their nodes and wait for their next try.  A job that was cancelled, or
 * released by hand, counts until its time comes.  *soonest: the next one, if there is any. */
size_t engine_postponed(const struct engine *e, struct engine_postponed *soonest);
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
/* What slurm.conf lacks, as of the last minute; NULL: not known yet. */
const struct slurm_report *engine_prereq(const struct engine *e);
/* Why engine_prereq() is NULL though slurmctld was asked; "": it is not, or no answer came yet. */
const char *engine_prereq_error(const struct engine *e);
/* The price of a node of this rung, in nano-units per hour; 0: not known yet; -1: the provider does
 * not offer it in the configured currency; LADDER_UNPRICED. */
int64_t engine_price(const struct engine *e, size_t pool, size_t rung);
/* The type among the provider's offers with the most similar name; NULL: none is similar. */
const char *engine_like_type(const struct engine *e, size_t provider, const char *type);
const struct engine_counters *engine_counters(const struct engine *e);

/* Alarms of the last days that no rotation has cleared, over restarts: somebody may have the
 * cluster's key. */
struct engine_breaches {
	uint64_t n;
	int64_t last_ms;
};
struct engine_breaches engine_breaches(const struct engine *e);
const char *engine_rotate_command(const struct engine *e); /* what an admin may do about it */

struct engine_secrets {              /* the secret store */
	const char *driver;          /* "": there is none */
	struct engine_source source; /* its name is the address in use, or the driver's name */
	const char *phase;           /* "ready", "login", ... */
	bool ready, insecure;        /* insecure: for development only */
	const char *version;         /* of the bundle; "": not known */
	int64_t version_ms;          /* since when that is known to be the current one */
	int64_t until_ms;            /* end of the session; 0: no session, INT64_MAX: never */
	int64_t trouble_ms;          /* since when the store fails; 0: it does not */
	size_t waiting;              /* nodes that wait for keys */
	uint64_t released[3];        /* by enum conf_release */
	uint64_t failed, requests, logins;
	enum engine_enrolment { /* the last one since burstd started */
				ENGINE_ENROL_NONE,
				ENGINE_ENROL_BUSY,
				ENGINE_ENROL_DONE,
				ENGINE_ENROL_FAILED
	} enrolment;
	const char *enrolled; /* why it failed; "" */
};
void engine_secrets(const struct engine *e, struct engine_secrets *out);
/* Take a wrapped credential of the store: look where it is from, unwrap it, keep it in
 * credential_file and log in with it.  The result is in engine_secrets.enrolment.  -1: the store
 * takes no wrapped credentials, or another enrolment runs. */
int engine_enroll(struct engine *e, const char *token, const char *by, struct err *err);

/* --- machines that boot, and what they report --- */

enum { ENGINE_BOOT_STEPS = 24 };

struct engine_boot {           /* of one generation; the texts are valid for this turn */
	const char *claim;     /* state of its claim: "issued", "claimed", ... */
	const char *why;       /* why the claim ended early; "": it did not */
	bool weak;             /* the machine proved nothing but its address */
	bool unproved;         /* it proved nothing: a token was in its user-data */
	bool faulty, old_keys; /* as its last heartbeat says */
	int64_t since_ms;      /* since when the claim is in its state */
	int64_t key_version;   /* of its keys, as far as is known; 0: none */
	int64_t heartbeat_ms;  /* the last one; 0: none since burstd started */
	int64_t ready_ms;      /* when node-init was through; 0: not since burstd started */
	int64_t boot_ms;       /* how long node-init took */
	int64_t cert_until_ms; /* end of its certificate; 0: not known */
};
/* false: the generation has no claim. */
bool engine_boot(const struct engine *e, const char *node, uint64_t gen, struct engine_boot *out);

/* Why no node can reach burstd: the listener's port is taken; NULL: nodes can, or need not. */
const char *engine_door_off(const struct engine *e);
/* Why no machine gets its keys: node_init cannot be read; NULL: it can, or there is none. */
const char *engine_init_off(const struct engine *e);
/* Why a WANTED row is not bought yet: its token is not made, or its machine could not get its keys
 * now; NULL: neither is so. */
const char *engine_token_wait(const struct engine *e, const struct node *n);
const char *engine_keys_wait(const struct engine *e, const struct node *n);

struct engine_door_counters { /* since burstd started */
	uint64_t requests;    /* that reached the engine */
	uint64_t answers[4];  /* to these: 2xx, 3xx, 4xx, 5xx */
	uint64_t heartbeats, confirmed, ready, failed, events, renewed;
	uint64_t misuses;        /* a node spoke for another node, or with another key */
	uint64_t munge_refused;  /* credentials that munged refused */
	uint64_t hosts_left_out; /* nodes missing in the list of addresses, now */
	struct engine_boot_step {
		const char *name; /* of a step of node-init; the last is "other" */
		uint64_t n;       /* how often it was reported; 0: all else is unset */
		int64_t sum_ms, max_ms;
	} steps[ENGINE_BOOT_STEPS];
};
/* NULL: burstd takes no requests from nodes. */
const struct engine_door_counters *engine_door_counters(const struct engine *e);
/* states[CLAIM_NSTATES]: how many claims of existing generations are in each state.  Returns how
 * many of them proved nothing but an address. */
size_t engine_claims(const struct engine *e, size_t *states);

/* --- rotation of keys --- */

enum engine_rotate_verb {
	ENGINE_ROTATE_START,
	ENGINE_ROTATE_SWITCH,
	ENGINE_ROTATE_ABORT,
	ENGINE_ROTATE_RESUME, /* with another credential, or just once more */
};
struct engine_rotate_ask { /* borrowed */
	enum engine_rotate_verb verb;
	enum rotation_kind kind; /* START */
	/* Vault: a wrapping token of rotate_role_name; else a text as in credential_file.  NULL:
	 * burstd's own credential. */
	const char *credential;
	int64_t in_ms;   /* SWITCH, munge: how long from now; 0: as soon as possible */
	int64_t life_ms; /* START, jwks: life of a token; 0: not said */
	const char *by;  /* the admin: "root", "uid 1000" */
};
/* The progress is in engine_rotation().  -1: the order does not fit the present state. */
int engine_rotate(struct engine *e, const struct engine_rotate_ask *ask, struct err *err);
struct engine_rotation {
	bool there; /* there is a secret store */
	struct rotation r;
	int64_t version; /* that nodes should have; 0: not known */
	struct engine_rotation_nodes {
		uint32_t have, lack; /* this version; another one */
		uint32_t unheard;    /* have not said which */
		uint32_t drained;    /* for outdated keys */
		uint32_t others;     /* get their keys without burstd */
		uint32_t fixed;      /* of those that are up: cannot change their keys */
	} nodes;
	bool alone; /* the admin need not give a credential */
	bool has_command, needs_credential, busy;
	const char *error; /* why it stands still; "": it does not */
};
void engine_rotation(const struct engine *e, struct engine_rotation *out);
/* The first nodes with other keys, or with unknown ones; returns how many there are. */
size_t engine_rotation_lack(const struct engine *e, const char **nodes, size_t max);

/* --- where nodes are bought, or would be: these ask nobody and change nothing --- */

/* Every place that cools down, or did a moment ago. */
void engine_cooldowns(const struct engine *e, cooldown_fn fn, void *ctx);
/* How often a request of that kind was throttled, since burstd started. */
uint64_t engine_throttled(const struct engine *e, size_t provider, enum provider_op_kind kind);
/* How many nodes the provider refused with this code, since burstd started. */
uint64_t engine_unsold(const struct engine *e, size_t provider, enum provider_code code);

struct engine_rung {
	const struct conf_offer *offer;
	int64_t price; /* of one node, nano-units per hour; 0: not known yet; < 0: not offered */
	struct cooldown_view cool;
	uint32_t nodes; /* of the pool that are bought there, now */
	uint32_t place; /* position in the order of tries: 1, 2, ...; 0: the rung is left out */
	enum ladder_cause cause;
	char why[160]; /* why it is left out or passed over, for people; "": it is not */
	struct unsold_say said[UNSOLD_EACH]; /* the newest first */
	size_t nsaid;
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

struct engine_job { /* a job as slurmctld has it; texts are valid for the call, NULL: none */
	uint64_t number;
	char id[40]; /* as people write it: "7", "7_2", "7+1" */
	char *state, *reason, *partition, *constraint, *comment;
	uint32_t count;    /* nodes that it has, or needs at least */
	char *nodes;       /* of our pools, that it has, requires or will get; NULL: any */
	char *without;     /* nodes that it excludes */
	uint32_t others;   /* other tasks of its array, or components of its het job */
	uint32_t refusals; /* so far */
	int64_t until_ms;  /* slurmctld does not try it before this; 0: at any time */
};

/* j: what slurmctld says of the job; NULL: *err says why there is nothing. */
typedef void (*engine_query_fn)(void *ctx, const struct engine_job *j, const struct err *err);
struct engine_query;
enum { ENGINE_ANYBODY = -1 };
/* Ask slurmctld about one job, by its id; fn is called once, later, unless the query is cancelled
 * before.  uid: answer only about a job of this user, and say of any other that there is none;
 * ENGINE_ANYBODY: any user's.  Returns NULL: that is no id. */
struct engine_query *engine_query_job(struct engine *e, const char *id, int64_t uid,
				      engine_query_fn fn, void *ctx);
void engine_query_cancel(struct engine_query *q);

struct engine_plan_ask {
	const char *list; /* plan for these nodes; NULL: for nodes of a pool that are off, ... */
	uint32_t pool, nodes;     /* ... so many as Slurm would choose them, ... */
	const struct map *within; /* ... of these names, if not NULL, ... */
	const char *without;      /* ... and none of this list */
	struct ladder_wish wish;
	/* Plan for this job, with its wishes and refusals; NULL: for a new job. */
	const struct engine_job *job;
};

struct engine_plan_pool {
	uint32_t pool, nodes; /* nodes: to be bought */
	int rung;             /* index in ladder.rungs where they are bought; -1: nowhere */
	struct engine_ladder ladder;
};

struct engine_plan {
	enum plan_verdict verdict; /* BUY, HAVE, WAIT or REFUSE, for the whole job */
	char why[256];             /* WAIT, REFUSE */
	char note[200];            /* what burstd ignores in the job's comment; "": nothing */
	bool no_offer;             /* REFUSE: no rung is left, and each says why */
	int64_t again_ms;          /* REFUSE: when a job's first refusal lets it try again */
	uint32_t nodes, have;      /* have: exist, or are being bought */
	struct engine_plan_pool *pools;
	size_t npools;
};

/* Plan what burstd would do for a job.  -1: the list is bad, or has a node that no pool names. */
int engine_plan(struct engine *e, const struct engine_plan_ask *ask, struct engine_plan *out,
		struct err *err);
void engine_plan_fini(struct engine_plan *p);
/* The node list of a partition, the caller's (free()); NULL: there is no such partition, or
 * slurmctld has not said yet. */
char *engine_partition(const struct engine *e, const char *name);
/* slurmctld's flags for a node, as text ("IDLE+CLOUD+POWERED_DOWN"); "" when not known. */
const char *engine_slurm_state(const struct engine *e, const char *node, char *buf, size_t size);

#endif
