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

#include "base/err.h"
#include "base/log.h"
#include "core/conf.h"
#include "core/fleet.h"
#include "core/provider.h"
#include "store/journal.h"

struct loop;
struct http_client;
struct proc;
struct engine;

struct engine_deps { /* borrowed; they outlive the engine */
	struct loop *loop;
	struct http_client *http;
	struct proc *proc;
	struct journal *journal;
	struct log *log;   /* NULL: no log */
	const char *uuid;  /* the cluster's, by which we know our own instances */
	int64_t gen_floor; /* generations begin above this: not 0 after a lost journal */
	const struct provider_ops *(*driver)(const char *name); /* NULL: no such driver */
	/* The journal failed: nothing may be done any more (F55).  The daemon ends the process. */
	void (*fatal)(void *ctx, const struct err *e);
	void *ctx;
};

/* Load the journal and make ready; nothing is sent before engine_start().
 * credentials[i] is the secret text for conf->providers[i], or NULL; borrowed.  Takes *conf on
 * success. */
int engine_new(struct engine **out, const struct engine_deps *d, struct conf *conf,
	       const char *const *credentials, struct err *e);
void engine_start(struct engine *e);
/* No callback comes after this, whatever is still on the wire. */
void engine_free(struct engine *e); /* NULL is fine */

/* Make a call from slurmctld durable; then it will be acted on.  *seq is its number (I29). */
int engine_take_call(struct engine *e, const struct journal_call *call, int64_t *seq,
		     struct err *err);

/* Compare everything now rather than when it is due. */
void engine_reconcile(struct engine *e);

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
	uint64_t calls[3];                        /* by enum journal_call_kind */
	uint64_t calls_refused;                   /* could not be read, or named no node of ours */
	uint64_t creates, deletes, lists, offers; /* requests sent to providers */
	uint64_t instances_created, instances_refused, instances_lost;
	uint64_t polls, updates; /* scontrol runs */
	uint64_t orphans,
		foreign; /* instances seen with our tag but unknown; of others (last list) */
	uint64_t commits;
};

const struct conf *engine_conf(const struct engine *e);
const struct fleet *engine_fleet(const struct engine *e);
int64_t engine_now(const struct engine *e);
int64_t engine_started_ms(const struct engine *e);
struct engine_source engine_slurm_source(const struct engine *e);
struct engine_source engine_provider_source(const struct engine *e, size_t provider);
/* What usage of this pool is written down as spent, plus what lives now cost until now; nano-units.
 */
int64_t engine_spent(const struct engine *e, size_t pool);
/* What a node of this pool costs, nano-units per hour; 0: not known yet; -1: the provider does not
 * offer it, in our currency. */
int64_t engine_price(const struct engine *e, size_t pool);
const struct engine_counters *engine_counters(const struct engine *e);
/* slurmctld's flags for a node, as text ("IDLE+CLOUD+POWERED_DOWN"); "" when not known. */
const char *engine_slurm_state(const struct engine *e, const char *node, char *buf, size_t size);

#endif
