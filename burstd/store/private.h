/* private.h - what the files of the journal share; nobody else includes it. */
#ifndef BURSTD_STORE_PRIVATE_H
#define BURSTD_STORE_PRIVATE_H

#include "store/db.h"
#include "store/journal.h"
#include "store/room.h"

enum {
	JOURNAL_EPOCH = 0,          /* see schema.c */
	JOURNAL_TEXT_MAX = 1 << 20, /* of a text read back: nothing that is written comes near it */
};

enum statement {
	PUT_NODE,
	DEL_NODE,
	PUT_BATCH,
	DEL_BATCH,
	PUT_EVENT,
	PUT_USAGE,
	PUT_NUMBER,
	PUT_REFUSAL,
	DEL_REFUSAL,
	PUT_POOL,
	ALL_NODES,
	ALL_BATCHES,
	SUM_USAGE,
	USAGES_OF_NODE,
	PUT_RESCUE,
	DEL_RESCUE,
	ALL_RESCUES,
	ALL_REFUSALS,
	ALL_POOLS,
	GET_NUMBER,
	EVENTS,
	EVENTS_OF_NODE,
	LAST_EVENT,
	FIRST_EVENT,
	OLD_EVENT,
	DEL_EVENTS,
	PUT_AUDIT,
	AUDITS,
	FIRST_AUDIT,
	LAST_AUDIT,
	LAST_FORGET,
	OLD_AUDIT,
	DEL_AUDITS,
	GET_MARK,
	PUT_MARK,
	PUT_CLAIM,
	DEL_CLAIM,
	ALL_CLAIMS,
	PUT_VOUCHER,
	DEL_VOUCHER,
	ALL_VOUCHERS,
	NSTATEMENTS
};

/* The verb of the record that says what was forgotten; its request is the last of that. */
#define CHAIN_FORGET "forget"

extern const char *const journal_sql[NSTATEMENTS];

struct journal {
	struct db *db;
	struct room room;
	bool broken; /* a write failed: what the disk holds is not known any more (F55) */
	struct journal_mark head;      /* of the audit chain: the last record that is durable */
	struct journal_mark next_head; /* ... with the commit that is under way */
	struct journal_mark forgotten; /* the last record that is not kept any more */
};

/* -1 after a failed write: a second try after a failed fsync may succeed without the first one's
 * pages being on the disk. */
int journal_check_usable(const struct journal *j, struct err *e);
/* After a failed write: may it be tried again?  Then there is room from the reserve. */
bool journal_may_retry(struct journal *j);

/* --- chain.c --- */
int chain_open(struct journal *j, struct err *e); /* where the chain goes on */
/* Within a transaction: the next record, whose seq and hash are not looked at; and, once before the
 * commit, where the chain ends with it. */
int chain_put(struct journal *j, const struct journal_audit *a, struct err *e);
int chain_put_head(struct journal *j, struct err *e);
/* As journal_trim(), for records. */
int chain_trim(struct journal *j, int64_t before_ms, int64_t now_ms, bool *more, struct err *e);

#endif
