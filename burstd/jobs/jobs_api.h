/* jobs_api.h - what burstd's API asks and shows about jobs: gates, notices, queries, and what
 * burstd does for jobs that were refused their nodes, or lose them. */
#ifndef BURSTD_JOBS_API_H
#define BURSTD_JOBS_API_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/provider.h"
#include "engine/engine.h"
#include "slurm/require.h"

/* --- gates: jobs that wait in PrologSlurmctld until their nodes are up --- */

struct gate;
enum gate_end {
	GATE_UP,     /* slurmctld has all of them up */
	GATE_GONE,   /* the job does not wait any more, or one of its nodes was refused */
	GATE_UNPAID, /* there is no money for it: its prolog is to fail, so that it is requeued */
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
/* Does it wait for what budgets say?  While slurmctld does not tell whose jobs there are, or which
 * accounts, nobody knows whether there is money for its job. */
bool engine_gate_is_unsaid(const struct gate *g);

/* --- notices --- */

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

/* How many notices of that kind came for machines of this provider, from anybody, since burstd
 * started. */
uint64_t engine_notices(const struct engine *e, size_t provider, enum provider_notice_kind kind);

/* --- jobs that lose their nodes, or wait for some --- */

/* When a DRAINING node is powered down whatever runs there; INT64_MAX: when its jobs have ended.
 * 0: the node is not DRAINING. */
int64_t engine_force_ms(const struct engine *e, const char *node);
struct engine_taken {
	const char *job, *signal; /* signal: "" if it was not told to save its work */
};
/* The i-th job that burstd follows because it loses this node; false: no more. */
bool engine_taken(const struct engine *e, const char *node, size_t i, struct engine_taken *out);

struct engine_postponed {
	/* As people write it, or after a restart its number; valid for this turn. */
	const char *job;
	uint32_t refusals; /* in a row */
	int64_t until_ms;  /* slurmctld does not start it before this, by burstd's order */
};
/* How many jobs were refused their nodes and wait for their next try.  A job that was cancelled, or
 * released by hand, counts until its time comes.  *soonest: the next one, if there is any. */
size_t engine_postponed(const struct engine *e, struct engine_postponed *soonest);

/* How many of these there are, by the reason of their last refusal; [NODE_BECAUSE_NONE]: not known,
 * since they were refused before burstd started. */
void engine_waiting(const struct engine *e, size_t n[NODE_NREASONS]);

/* --- the table of jobs: option listen_jobs --- */

enum { ENGINE_JOBLIST_MAX = 1000 }; /* jobs with nodes that are remembered; others are counted */

enum engine_joblist_state {
	ENGINE_JOBLIST_WAITS, /* refused its nodes, and waits for its next try */
	ENGINE_JOBLIST_BOOTS, /* some of its nodes are not up yet */
	ENGINE_JOBLIST_RUNS,  /* or is suspended or stopped on its nodes */
	ENGINE_JOBLIST_ENDS,  /* has ended, and still has its nodes */
	ENGINE_JOBLIST_STATES
};

/* A job that burstd has to do with.  Nothing in it tells whose it is, or what it costs.  Texts are
 * borrowed for the call. */
struct engine_joblist_job {
	uint64_t number;
	const char *id;        /* as people write it, or after a restart its number */
	const char *partition; /* "": not known */
	enum engine_joblist_state state;
	enum node_reason reason; /* WAITS: of its last refusal; NODE_BECAUSE_NONE: not known */
	uint32_t pool;           /* of its first node, or that it was refused nodes of */
	uint32_t nodes;          /* of our pools; 0: not known */
	uint32_t refusals;       /* WAITS: in a row */
	bool loses;              /* a node of it goes, and burstd follows it */
	int64_t since_ms;        /* when its state began, as far as burstd has seen */
	int64_t until_ms;        /* WAITS: its next try; else 0 */
};

/* Why the table must not be shown: slurmctld would not show these jobs to everybody; "": nobody
 * knows yet whether it would; NULL: it may be shown. */
const char *engine_joblist_private(const struct engine *e);
/* When squeue was asked for the jobs that have nodes; 0: it has not answered yet. */
int64_t engine_joblist_ms(const struct engine *e);
typedef void (*engine_joblist_fn)(void *ctx, const struct engine_joblist_job *j);
/* Those that wait, in no order, then the others by their numbers. */
void engine_joblist(const struct engine *e, engine_joblist_fn fn, void *ctx);
/* How many jobs with nodes there are beyond ENGINE_JOBLIST_MAX. */
size_t engine_joblist_more(const struct engine *e);

/* --- what slurmctld says of a job --- */

struct engine_job { /* a job as slurmctld has it; texts are valid for the call, NULL: none */
	uint64_t number;
	char id[40]; /* as people write it: "7", "7_2", "7+1" */
	char *state, *reason, *partition, *constraint, *comment;
	uint32_t count;            /* nodes that it has, or needs at least */
	char *nodes;               /* of our pools, that it has, requires or will get; NULL: any */
	char *without;             /* nodes that it excludes */
	uint32_t others;           /* other tasks of its array, or components of its het job */
	uint32_t refusals;         /* so far */
	int64_t until_ms;          /* slurmctld does not try it before this; 0: at any time */
	const struct payer *payer; /* NULL: not said */
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

/* --- slurm.conf --- */

/* What slurm.conf lacks, as of the last minute; NULL: not known yet. */
const struct slurm_report *engine_prereq(const struct engine *e);
/* Why engine_prereq() is NULL though slurmctld was asked; "": it is not, or no answer came yet. */
const char *engine_prereq_error(const struct engine *e);

#endif
