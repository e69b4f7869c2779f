/* part.h - what the kernel of the engine knows of its parts: a table that main gives it (parts.h),
 * so that the kernel calls no part by its name.
 *
 * A part says what it does at each moment of the engine's life; NULL: nothing.  It is defined in
 * the file that does so, whose functions only the table calls.  At each moment the parts are called
 * in the order of the table.  What must be early at one moment and late at another is two parts. */
#ifndef BURSTD_ENGINE_PART_H
#define BURSTD_ENGINE_PART_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/provider.h"

struct cloud;
struct conf;
struct engine;
struct err;
struct fleet_node;
struct node;
struct node_event;
struct node_limits;

enum part_moment {
	PART_INIT,   /* memory, queues, timers: nothing that can fail */
	PART_START,  /* right before the first turn */
	PART_PAUSE,  /* an admin has paused pools, or lets them buy again */
	PART_RELOAD, /* e->conf is another one; the old one lives while requests may name it */
	/* The timer is about to start a turn, so the loop has served all other events since the
	 * last one.  Turns that a callback of io/ starts have no such moment. */
	PART_PASS,
	/* A turn: post what has come in since the last one; decide, and post; one commit makes that
	 * durable; send what follows from it. */
	PART_TAKE,
	PART_RUN,
	PART_SEND,
	PART_STOP, /* cancel what is on the wire; no part is freed before all have */
	PART_FREE,
	PART_NMOMENTS
};

enum { PART_BEFORE_MAX = 3 };

struct engine_part {
	const char *name; /* for people */
	void (*at[PART_NMOMENTS])(struct engine *e);

	/* Add to e->conf what only the journal has: before any init. */
	int (*complete)(struct engine *e, struct err *err);
	/* After all init.  Where one fails the engine is freed. */
	int (*open)(struct engine *e, struct err *err);
	/* A provider that has been off since burstd started could be opened now: check what the
	 * part needs of it, as `open` does for the others.  -1: the provider stays off, and *err
	 * says why. */
	int (*may_use)(struct engine *e, size_t provider, struct err *err);
	/* A request to a provider, sent at sent_ms, got the result r. */
	void (*heard)(struct cloud *c, enum provider_op_kind kind, const struct provider_result *r,
		      int64_t sent_ms);
	/* A provider has listed all its instances: they are in c->seen, which the part may change.
	 * true: it has taken them.  false: only a piece, so that hooks are served in between; it is
	 * called again in the next turn. */
	bool (*listed)(struct cloud *c);
	/* A provider gives notice of an instance.  false: no row has the instance yet; the notice
	 * is not acknowledged, so that the provider repeats it should burstd die meanwhile. */
	bool (*noticed)(struct cloud *c, const struct provider_notice *n);
	/* A provider has sent all its quotes: they are in c->quotes.  before: those that it sent
	 * the last time, until this returns. */
	void (*quoted)(struct cloud *c, struct provider_quote *before, size_t nbefore);
	/* A provider sent new quotes.  cheaper: one costs less than before, or can be had again. */
	void (*repriced)(struct engine *e, bool cheaper);
	/* Why a machine of this provider could not get its keys now; NULL: this part knows no
	 * reason. */
	const char *(*keyless)(const struct engine *e, uint32_t provider);
	/* Is a single purchase under way in this pool, which decides whether its circuit closes? */
	bool (*on_trial)(const struct engine *e, uint32_t pool);
	/* Can the part go over to the configuration `next`?  Only the last part that has this
	 * column may change anything. */
	int (*may_reload)(struct engine *e, const struct conf *next, struct err *err);

	/* Stage audit records of what goes out after the commit.  true: there were some, and
	 * another commit follows for what the first one led to. */
	bool (*record)(struct engine *e);
	/* Somebody has set the clock of this machine; by_ms < 0: back. */
	void (*clock_set)(struct engine *e, int64_t by_ms);
	/* When the part needs a turn even if nothing happens.  INT64_MAX: never; engine_now(): at
	 * once. */
	int64_t (*next_ms)(const struct engine *e);

	/* The output of `scontrol show config`, which was started at asked_ms. */
	void (*settings)(struct engine *e, const char *text, size_t len, int64_t asked_ms);
	/* The output of squeue about all jobs.  The part asks for it by jobs_want(e, reads);
	 * squeue_begins() is called when squeue starts, and squeue_says() with its output or err.
	 */
	unsigned reads; /* one of enum jobs_for */
	void (*squeue_begins)(struct engine *e);
	void (*squeue_says)(struct engine *e, const char *text, size_t len, const struct err *err);

	/* A job that was refused its nodes has ended: slurmctld says so, or knows it no more. */
	void (*job_ended)(struct engine *e, uint64_t job);
	/* slurmctld shows that these are components of one heterogeneous job: `job`, which is in
	 * the queue since it was refused its nodes, and another one.  Said again and again. */
	void (*job_beside)(struct engine *e, uint64_t job, uint64_t other);

	/* How long the provider of a row, and its pool, let the row stay in a state. */
	void (*limits)(const struct engine *e, const struct node *n, struct node_limits *out);
	/* Does the part still need this row, which is GONE and not the newest of its name? */
	bool (*needs)(const struct engine *e, const struct node *n);
	/* A row of the fleet.  posted(): ev is posted to a row that is `was`; the change is staged
	 * after this call.  stepped(): ev was posted to fn, which was `was`, and any change is
	 * staged; was NULL: fn is new, and the transaction that is being built writes it; ev is
	 * NULL then.  row_in_tx(): the transaction that is being built writes `is`.
	 * row_durable(): fn is durable, and was `was` before; events posted here belong to the
	 * next commit. */
	void (*posted)(struct engine *e, const struct node *was, const struct node_event *ev);
	void (*stepped)(struct engine *e, struct fleet_node *fn, const struct node *was,
			const struct node_event *ev);
	void (*row_in_tx)(struct engine *e, const struct node *is);
	void (*row_durable)(struct engine *e, struct fleet_node *fn, const struct node *was);
};

/* A row of the table: a part, and those that must come later; the reason stands beside them.
 * engine_new() insists on it. */
struct part_row {
	const struct engine_part *part;
	const struct engine_part *before[PART_BEFORE_MAX];
};

struct engine_parts {
	const struct part_row *row;
	size_t n;
};

/* The first part of the table whose `before` is violated; NULL: the order is right. */
const struct engine_part *engine_parts_late(const struct engine_parts *p);

#endif
