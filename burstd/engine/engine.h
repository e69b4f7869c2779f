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
#include "core/attest.h"
#include "core/conf.h"
#include "core/fleet.h"
#include "core/provider.h"
#include "engine/part.h"

struct loop;
struct http_client;
struct proc;
struct spool;
struct engine;
struct secret_store_ops;
struct zone;

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
	/* Of days and months in budgets; NULL: there are no budgets, whatever is configured. */
	const struct zone *report_zone;
	struct engine_slice slice; /* all 0: the default (kernel.h) */
	struct engine_parts parts; /* the table: parts_all() */
};

/* Load the journal; nothing is sent before engine_start().  A provider that cannot be opened is
 * off.  So is a provider or pool that only the journal names: it is added to *conf.  Takes *conf on
 * success. */
int engine_new(struct engine **out, const struct engine_deps *d, struct conf *conf, struct err *e);
void engine_start(struct engine *e);
/* No callback comes after this, whatever is still on the wire. */
void engine_free(struct engine *e); /* NULL is fine */

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
	uint64_t calls[CALL_NKINDS]; /* by enum call_kind */
	uint64_t calls_bad;          /* files in the spool that were no whole call */
	uint64_t calls_refused;      /* unreadable, or without a node of a pool */
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
int64_t engine_started_ms(const struct engine *e);
struct engine_source engine_slurm_source(const struct engine *e);
const struct engine_counters *engine_counters(const struct engine *e);

/* slurmctld's flags for a node, as text ("IDLE+CLOUD+POWERED_DOWN"); "" when not known. */
const char *engine_slurm_state(const struct engine *e, const char *node, char *buf, size_t size);

#endif
