/* private.h - the struct and statements of the journal; only store/ includes it. */
#ifndef BURSTD_STORE_PRIVATE_H
#define BURSTD_STORE_PRIVATE_H

#include "store/db.h"
#include "store/journal.h"
#include "store/room.h"

enum {
	JOURNAL_EPOCH = 0,          /* see schema.c */
	JOURNAL_TEXT_MAX = 1 << 20, /* of a text read back: far more than is ever written */
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

/* The verb of the audit record about trimmed records; its request names the last of them. */
#define CHAIN_FORGET "forget"

extern const char *const journal_sql[NSTATEMENTS];

struct journal {
	struct db *db;
	struct room room;
	bool broken;              /* a write failed, and the state of the file is not known (F55) */
	struct journal_mark head; /* the last durable record of the audit chain */
	struct journal_mark next_head; /* likewise after the commit that runs */
	struct journal_mark forgotten; /* the last trimmed record */
};

/* -1 after a failed write: another fsync could succeed without the pages of the failed one being on
 * the disk. */
int journal_check_usable(const struct journal *j, struct err *e);
/* After a failed write: may it be tried again?  true: there is room from the reserve. */
bool journal_may_retry(struct journal *j);

/* --- chain.c --- */
int chain_open(struct journal *j, struct err *e); /* find the end of the chain */
/* Within a transaction: write the next record, whose seq and hash are ignored; and, once before the
 * commit, the new end of the chain. */
int chain_put(struct journal *j, const struct journal_audit *a, struct err *e);
int chain_put_head(struct journal *j, struct err *e);
/* As journal_trim(), for audit records. */
int chain_trim(struct journal *j, int64_t before_ms, int64_t now_ms, bool *more, struct err *e);

#endif
