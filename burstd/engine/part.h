/* part.h - what the kernel of the engine knows of its parts: one row for each, in a table that main
 * gives it (parts.h), so that the kernel calls no part by its name.
 *
 * A row says what its part does at each moment of the engine's life; NULL: nothing.  At each moment
 * the rows are called in the order of the table.  A part that must be early at one moment and late
 * at another has two rows. */
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
	PART_PASS,   /* before a turn for which the loop has seen to all else first */
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
	const char *name;
	/* Rows that must come later in the table; the reason stands beside them.  engine_new()
	 * insists on it. */
	const char *before[PART_BEFORE_MAX];
	void (*at[PART_NMOMENTS])(struct engine *e);

	/* Add to e->conf what only the journal has: before any init. */
	int (*complete)(struct engine *e, struct err *err);
	/* After all init.  Where one fails the engine is freed. */
	int (*open)(struct engine *e, struct err *err);
	/* burstd has opened the driver of a provider that was off since burstd started.  -1: this
	 * part cannot use the provider, and *err says why. */
	int (*may_use)(struct engine *e, size_t provider, struct err *err);
	/* A request to a provider, sent at sent_ms, got the result r. */
	void (*heard)(struct cloud *c, enum provider_op_kind kind, const struct provider_result *r,
		      int64_t sent_ms);
	/* A provider has listed all its instances: they are in c->seen, which the part may change.
	 */
	void (*listed)(struct cloud *c);
	/* A provider tells of one of its instances.  false: nobody knows yet whose it is; the
	 * provider is to tell it again if burstd dies before it is known. */
	bool (*noticed)(struct cloud *c, const struct provider_notice *n);
	/* A provider has sent all its offers: they are in c->offers.  before: those that it sent
	 * the last time, until this returns. */
	void (*quotes)(struct cloud *c, struct provider_offer *before, size_t nbefore);
	/* A provider sent new offers.  cheaper: one costs less than before, or can be had again. */
	void (*offers)(struct engine *e, bool cheaper);
	/* Why a machine of this provider could not have its keys now; NULL: as far as this part is
	 * concerned it could. */
	const char *(*keyless)(const struct engine *e, uint32_t provider);
	/* Does this pool try a single purchase, which decides whether it may buy again? */
	bool (*on_trial)(const struct engine *e, uint32_t pool);
	/* Can the part do what next says?  Changes nothing, but for the last row that has it. */
	int (*may_reload)(struct engine *e, const struct conf *next, struct err *err);

	/* Put on record what will go out after this commit.  true: something was, and there is one
	 * more commit for what followed from the first. */
	bool (*record)(struct engine *e);
	/* Somebody has set the clock of this machine; by_ms < 0: back. */
	void (*clock_set)(struct engine *e, int64_t by_ms);
	/* When a turn is needed though nothing happens.  INT64_MAX: never; engine_now(): at once.
	 */
	int64_t (*next_ms)(const struct engine *e);

	/* What `scontrol show config` printed, as of then. */
	void (*settings)(struct engine *e, const char *text, size_t len, int64_t asked_ms);
	/* What squeue prints of all jobs: the part asks for it by jobs_want(e, reads), is told by
	 * squeue_begins() that it is being asked, and has the answer by squeue_says(), or err. */
	unsigned reads; /* one of enum jobs_for */
	void (*squeue_begins)(struct engine *e);
	void (*squeue_says)(struct engine *e, const char *text, size_t len, const struct err *err);

	/* How long the provider of a row, and its pool, let it be in a state. */
	void (*limits)(const struct engine *e, const struct node *n, struct node_limits *out);
	/* Does the part need this row still, which has ended, under an older generation? */
	bool (*needs)(const struct engine *e, const struct node *n);
	/* A row of the fleet.  posted(): ev was posted to what was `was`; what that changes is
	 * staged after this.  row_in_tx(): `is` is written by the transaction that is being built.
	 * row_durable(): it is durable, and was `was` before; what is posted here is for the next
	 * commit. */
	void (*posted)(struct engine *e, const struct node *was, const struct node_event *ev);
	void (*row_in_tx)(struct engine *e, const struct node *is);
	void (*row_durable)(struct engine *e, struct fleet_node *fn, const struct node *was);
};

struct engine_parts {
	const struct engine_part *row;
	size_t n;
};

/* The first row of the table that stands behind one it must come before; NULL: there is none. */
const struct engine_part *engine_parts_late(const struct engine_parts *p);

#endif
