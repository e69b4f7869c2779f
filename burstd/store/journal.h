/* journal.h - what burstd knows, durable: fold, WRITE, act.
 *
 * A transaction is a list of effects, built in memory and committed in one function call; when that
 * returns 0, a power cut cannot undo it.  Nothing above store/ knows which engine answers (SQLite,
 * WAL, synchronous=FULL).  A failed commit means the disk can no longer be believed: the caller
 * must end the process (F55), never try again.  What a full disk refuses as a whole is tried again
 * in here, with room from a reserve beside the journal (room.h), before it counts as failed.  One
 * writer: the loop's thread.
 *
 * This is the journal as a whole.  The rows of its tables, and what puts, deletes and finds them,
 * are in journal_nodes.h, journal_usage.h, journal_events.h, journal_jobs.h, journal_pools.h,
 * journal_rolls.h, * journal_claims.h, journal_vouchers.h, journal_price.h, journal_alerts.h and
 * journal_audit.h: a transaction takes effects of all. */
#ifndef BURSTD_JOURNAL_H
#define BURSTD_JOURNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

struct journal;
struct journal_tx;
struct node;
struct claim;
struct voucher;
struct price;
struct journal_batch;
struct journal_refusal;
struct journal_pool;
struct journal_roll;
struct journal_rescue;
struct journal_ending;
struct journal_hold;
struct journal_spent;
struct journal_budget;
struct journal_override;
struct journal_past;
struct alert;
struct alert_message;

enum {
	/* Events kept, however young: some 200 MiB with their index, and what 10,000 node lives a
	 * day leave in a month. */
	JOURNAL_EVENTS_MAX = 2000000,
	JOURNAL_TRIM = 256, /* events forgotten at once: a few milliseconds */
};

/* A number of it: not 0 from when it was new or an older copy, until each provider has shown what
 * it has: till then there may be instances of ours that no row stands for (F58).  It is another one
 * each time, so that what an older copy says of an earlier time counts for nothing. */
#define JOURNAL_DOUBTFUL "doubtful"
/* The last batch ever, so that no token comes twice though the clock may go back and settled
 * batches are forgotten (F57). */
#define JOURNAL_LAST_BATCH "last_batch"

/* *existed: false when this call made it (a new system, or a lost journal).  -1: *e names the file
 * and says whether it is damaged (F55), from a newer burstd (F60) or not to be had; it is as it
 * was. */
int journal_open(struct journal **out, const char *path, bool *existed, struct err *e);
void journal_close(struct journal *j); /* NULL is fine; every tx is gone before */
/* Would journal_open() refuse it as a newer burstd's?  See db_look(). */
int journal_look_at(const char *path, struct err *e);

/* Start-up: everything that is known, in this order: batches, nodes (by name and generation),
 * sums, refusals, pools, new images, rescues, claims, vouchers (by node and generation), prices,
 * holds, what was spent by day, budgets and overrides, jobs that these end, alerts and their
 * messages (by number).  A visit that returns -1 (with *e) stops the load; a NULL one is left out;
 * node.pool is not set; a visitor that keeps a voucher takes its token, and one that keeps a
 * message its list, and sets it to NULL there. */
struct journal_visitor {
	int (*node)(void *ctx, const struct node *n, const char *pool, struct err *e);
	int (*batch)(void *ctx, const struct journal_batch *b, struct err *e);
	int (*spent)(void *ctx, const char *pool, int64_t cost_nano,
		     struct err *e); /* sum of usage */
	int (*refusal)(void *ctx, const struct journal_refusal *r, struct err *e);
	int (*pool)(void *ctx, const struct journal_pool *p, struct err *e);
	int (*roll)(void *ctx, const struct journal_roll *x, struct err *e);
	int (*rescue)(void *ctx, const struct journal_rescue *r, struct err *e);
	int (*claim)(void *ctx, const struct claim *c, struct err *e);
	int (*voucher)(void *ctx, struct voucher *v, struct err *e);
	int (*hold)(void *ctx, const struct journal_hold *h, struct err *e);
	int (*day)(void *ctx, const struct journal_spent *s, struct err *e);
	/* The last period of each line, and each period in which a budget was there. */
	int (*budget)(void *ctx, const struct journal_budget *b, struct err *e);
	int (*budget_past)(void *ctx, const struct journal_past *p, struct err *e);
	int (*override)(void *ctx, const struct journal_override *o, struct err *e); /* all */
	int (*drained)(void *ctx, const char *node, uint64_t gen, struct err *e);
	int (*ending)(void *ctx, const struct journal_ending *x, struct err *e);
	int (*alert)(void *ctx, const struct alert *a, struct err *e);
	int (*alert_message)(void *ctx, struct alert_message *m, struct err *e);
	int (*price)(void *ctx, const struct price *p, struct err *e); /* the last of each series */
	void *ctx;
};
int journal_load(struct journal *j, const struct journal_visitor *v, struct err *e);
/* Numbers from meta, such as those that must never come twice: 0 when unset. */
#define JOURNAL_AHEAD "clock_ahead" /* struct clock_line, with two more: timeline.c */
int journal_get_number(struct journal *j, const char *key, int64_t *out, struct err *e);

/* A transaction: effects are copied, take effect in the order given, and none before commit.  One
 * without effects commits for free.  Texts are not NULL; "" is fine. */
struct journal_tx *journal_begin(struct journal *j);
void journal_put_number(struct journal_tx *tx, const char *key, int64_t value);
/* Durable when 0.  -1: after the restart that must follow, all of it is there or nothing.  Either
 * way tx is gone. */
int journal_commit(struct journal_tx *tx, struct err *e);
void journal_abandon(struct journal_tx *tx); /* NULL is fine */

/* Housekeeping that a commit would else have to do while somebody waits for it: some milliseconds,
 * if there is anything to do.  For a quiet moment.  -1: as a failed commit (F55). */
int journal_tidy(struct journal *j, struct err *e);

/* Forget events and audit records, oldest first: those before before_ms and those beyond
 * JOURNAL_EVENTS_MAX, at most JOURNAL_TRIM events and just as many records or none, for that leaves
 * a record itself (of now_ms).  *more: there are others.  Bills are never
 * forgotten, and no number comes twice.  The file gets no smaller, but what comes uses their place:
 * giving it back to the disk (auto_vacuum) would move pages at every commit for a file that grows
 * to the same size again. For a quiet moment too.  -1: as a failed commit; a full disk is none, it
 * just waits. */
int journal_trim(struct journal *j, int64_t before_ms, int64_t now_ms, bool *more, struct err *e);

struct journal_room {
	int64_t free_bytes; /* on the journal's disk, for us; -1: not known */
	bool low;           /* nothing may be bought */
};
/* Look at the disk, and make the reserve again when there is room. */
struct journal_room journal_look(struct journal *j);

#endif
