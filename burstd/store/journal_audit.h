/* journal_audit.h - the audit records, chained by their hashes. */
#ifndef BURSTD_JOURNAL_AUDIT_H
#define BURSTD_JOURNAL_AUDIT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"

struct journal;
struct journal_tx;

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

/* Its seq and hash are made with the commit. */
void journal_put_audit(struct journal_tx *tx, const struct journal_audit *a);

/* Records with seq > after, oldest first, at most limit.  A visit that does not return 0 ends it,
 * which is no error. */
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
