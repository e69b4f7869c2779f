/* journal.h - what burstd knows, durable: fold, WRITE, act.
 *
 * A transaction is a list of effects, built in memory and committed in one function call; when that
 * returns 0, a power cut cannot undo it.  Nothing above store/ knows which engine answers (SQLite,
 * WAL, synchronous=FULL).  A failed commit means the disk can no longer be believed: the caller
 * must end the process (F55), never try again.  What a full disk refuses as a whole is tried again
 * in here, with room from a reserve beside the journal (room.h), before it counts as failed.  One
 * writer: the loop's thread. */
#ifndef BURSTD_JOURNAL_H
#define BURSTD_JOURNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "core/breaker.h"
#include "core/claim.h"
#include "core/node.h"
#include "core/refusal.h"
#include "core/voucher.h"

struct journal;
struct journal_tx;

enum {
	/* Events kept, however young: some 200 MiB with their index, and what 10,000 node lives a
	 * day leave in a month. */
	JOURNAL_EVENTS_MAX = 2000000,
	JOURNAL_JOB_ID_MAX = 31,
	JOURNAL_JOB_NODES_MAX = 4095, /* bytes of a job's node list; 500 names that do not fold */
	JOURNAL_TRIM = 256,           /* events forgotten at once: a few milliseconds */
};

struct journal_batch { /* one create request: its members never change (I5) */
	uint64_t id;
	char token[PROVIDER_WORD_MAX + 1];
	char pool[PROVIDER_WORD_MAX + 1];
	char offer[PROVIDER_WORD_MAX + 1], provider[PROVIDER_WORD_MAX + 1]; /* of its members */
	uint64_t body_hash; /* of the request as first sent: a repeat must be identical (I4) */
	int64_t at_ms;
};

struct journal_event { /* borrowed during the visit */
	int64_t seq, at_ms;
	const char *node; /* "" for burstd's own */
	uint64_t gen;
	const char *type, *detail;
};

/* One instance's bill: written when it ends.  Written again for the same (node, gen, instance), as
 * when a list shows an instance that was thought gone, it replaces the first. */
struct journal_usage {
	const char *pool, *node, *instance;
	uint64_t gen;
	int64_t start_ms, end_ms, rate_nano_h, cost_nano;
};

struct journal_refusal { /* of a job: core/refusal.h */
	uint64_t job;
	struct refusal r;
};

enum journal_signal { /* a job and the word to save its work */
		      JOURNAL_SIGNAL_NONE,
		      JOURNAL_SIGNAL_DUE,  /* it is to have it */
		      JOURNAL_SIGNAL_SENT, /* it has had it, once */
		      JOURNAL_NSIGNALS
};

struct journal_rescue { /* a job that is about to lose a node, until it is known what became of it
			 */
	uint64_t job;
	char id[JOURNAL_JOB_ID_MAX + 1]; /* as people write it */
	char node[HOSTLIST_NAME_MAX + 1];
	uint64_t gen;
	int64_t at_ms;
	char why[200];                         /* for people */
	char nodes[JOURNAL_JOB_NODES_MAX + 1]; /* a list of all that it ran on; "": too long */
	enum journal_signal signal;
	/* It was requeued, and had this begin time when that was seen, by slurmctld's clock, which
	 * may be how long slurmctld holds it back; 0: not yet. */
	int64_t hold_ms;
};

/* One request to a provider, or one order to slurmctld, written down before it is sent (I28).  No
 * secret is ever in it. */
struct journal_audit { /* borrowed */
	int64_t seq;   /* from 1, without gaps */
	int64_t at_ms;
	const char *actor; /* "reconciler", "hook", or an admin: "root", "uid 1000" */
	const char *verb;  /* create, create-again, delete, address, power-down, down, drain, ... */
	const char *target;  /* the provider, or "slurmctld" */
	const char *object;  /* a node list, or the ids of jobs */
	const char *reason;  /* for people */
	const char *request; /* the token of a create, the instances of a delete; "" */
	const char *hash;    /* of the record before it and of this one, in hex */
};

enum { JOURNAL_HASH_SIZE = 65, JOURNAL_MARK_SIZE = JOURNAL_HASH_SIZE + 21 };

struct journal_mark { /* a place in the chain of audit records */
	int64_t seq;  /* 0: before the first */
	char hash[JOURNAL_HASH_SIZE];
};

/* The chain, looked through in pieces: begin with all 0. */
struct journal_chain {
	struct journal_mark at;           /* the last record found good */
	const struct journal_mark *known; /* from elsewhere, which must be in it; NULL: none */
	int64_t records;                  /* found good */
	bool begun, more;                 /* more: call again */
	int64_t bad;                      /* the first that is not as it was written; 0: none */
	const char *what;                 /* changed, missing, reordered, cut, added */
};

enum { JOURNAL_BY_SIZE = 64 };

struct journal_pool {     /* what an admin or its machines did to it */
	const char *name; /* borrowed */
	bool paused;
	struct breaker breaker;
	char by[JOURNAL_BY_SIZE]; /* who paused it; "": not known */
	int64_t paused_ms;        /* when; 0: not known */
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

/* Start-up: everything that is known, in this order: batches, nodes (by name and generation),
 * sums, refusals, pools, rescues, claims and vouchers (by node and generation). A visit that
 * returns -1 (with *e) stops the load; a NULL one is left out; node.pool is not set; a visitor that
 * keeps a voucher takes its token, and sets it to NULL there. */
struct journal_visitor {
	int (*node)(void *ctx, const struct node *n, const char *pool, struct err *e);
	int (*batch)(void *ctx, const struct journal_batch *b, struct err *e);
	int (*spent)(void *ctx, const char *pool, int64_t cost_nano,
		     struct err *e); /* sum of usage */
	int (*refusal)(void *ctx, const struct journal_refusal *r, struct err *e);
	int (*pool)(void *ctx, const struct journal_pool *p, struct err *e);
	int (*rescue)(void *ctx, const struct journal_rescue *r, struct err *e);
	int (*claim)(void *ctx, const struct claim *c, struct err *e);
	int (*voucher)(void *ctx, struct voucher *v, struct err *e);
	void *ctx;
};
int journal_load(struct journal *j, const struct journal_visitor *v, struct err *e);
/* Numbers from meta, such as those that must never come twice: 0 when unset. */
#define JOURNAL_AHEAD "clock_ahead" /* struct clock_line, with two more: timeline.c */
int journal_get_number(struct journal *j, const char *key, int64_t *out, struct err *e);

/* A transaction: effects are copied, take effect in the order given, and none before commit.  One
 * without effects commits for free.  Texts are not NULL; "" is fine. */
struct journal_tx *journal_begin(struct journal *j);
void journal_put_node(struct journal_tx *tx, const struct node *n,
		      const char *pool); /* insert or replace */
void journal_del_node(struct journal_tx *tx, const char *name, uint64_t gen);
void journal_put_batch(struct journal_tx *tx, const struct journal_batch *b);
void journal_del_batch(struct journal_tx *tx, uint64_t id);
void journal_put_event(struct journal_tx *tx, int64_t at_ms, const char *node, uint64_t gen,
		       const char *type, const char *detail);
/* Its seq and hash are made with the commit. */
void journal_put_audit(struct journal_tx *tx, const struct journal_audit *a);
void journal_put_usage(struct journal_tx *tx, const struct journal_usage *u);
void journal_put_number(struct journal_tx *tx, const char *key, int64_t value);
void journal_put_refusal(struct journal_tx *tx, const struct journal_refusal *r);
void journal_del_refusal(struct journal_tx *tx, uint64_t job);
void journal_put_rescue(struct journal_tx *tx, const struct journal_rescue *r); /* or replace */
void journal_del_rescue(struct journal_tx *tx, uint64_t job);
void journal_put_pool(struct journal_tx *tx, const struct journal_pool *p);
void journal_put_claim(struct journal_tx *tx, const struct claim *c); /* insert or replace */
void journal_del_claim(struct journal_tx *tx, const char *node, uint64_t gen);
void journal_put_voucher(struct journal_tx *tx, const struct voucher *v); /* or replace */
void journal_del_voucher(struct journal_tx *tx, const char *node, uint64_t gen);
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

/* Events with seq > after (of one node, if not NULL), oldest first, at most limit.  A visit that
 * does not return 0 ends it, which is no error.  Pages of a few hundred keep the loop free. */
typedef int (*journal_event_fn)(void *ctx, const struct journal_event *ev);
int journal_events(struct journal *j, int64_t after, const char *node, unsigned limit,
		   journal_event_fn fn, void *ctx, struct err *e);
int64_t journal_last_event(struct journal *j); /* 0: none, or not to be read */

/* The bills of a node, the newest generation first.  A visit that does not return 0 ends it, which
 * is no error. */
typedef int (*journal_usage_fn)(void *ctx, const struct journal_usage *u);
int journal_usages(struct journal *j, const char *node, journal_usage_fn fn, void *ctx,
		   struct err *e);

/* Audit records with seq > after, likewise. */
typedef int (*journal_audit_fn)(void *ctx, const struct journal_audit *a);
int journal_audits(struct journal *j, int64_t after, unsigned limit, journal_audit_fn fn, void *ctx,
		   struct err *e);
/* "4711:9f86...", for people and logs. */
void journal_mark_print(const struct journal_mark *m, char out[JOURNAL_MARK_SIZE]);
/* The last record, as we wrote it, whatever the file says now. */
const struct journal_mark *journal_audit_head(const struct journal *j);
/* Look through some hundred records more.  0: *c says what was found; -1: not to be read, or
 * c->known is forgotten (ERR_INVALID). */
int journal_audit_check(struct journal *j, struct journal_chain *c, struct err *e);

#endif
