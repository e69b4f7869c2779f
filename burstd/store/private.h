/* private.h - the journal's struct, and what the files of its tables share; only store/ includes
 * it.
 *
 * Each group of tables has a file.  In it are the SQL statements, each a constant text beside the
 * functions that use it; what puts and deletes rows; and the function that loads them at the start,
 * which journal_load.c has in its list. */
#ifndef BURSTD_STORE_PRIVATE_H
#define BURSTD_STORE_PRIVATE_H

#include "store/db.h"
#include "store/journal.h"
#include "store/journal_audit.h"
#include "store/room.h"

enum {
	JOURNAL_EPOCH = 0,          /* see schema.c */
	JOURNAL_TEXT_MAX = 1 << 20, /* of a text read back: far more than is ever written */
};

/* The verb of the audit record about trimmed records; its request names the last of them. */
#define CHAIN_FORGET "forget"

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

/* As journal_trim(), for events: journal_events.c. */
int journal_trim_events(struct journal *j, int64_t before_ms, bool *more, struct err *e);

/* --- journal_tx.c: what a transaction collects ---
 *
 * An effect is a statement and the values of its ?, in order; texts are copied behind each other
 * into one block. */
struct tx_value {
	bool is_text;
	int64_t number; /* a text's length */
	size_t at;      /* a text's place in the block */
};

struct tx_effect;
/* Write what is not known before the commit, from the values of f. */
typedef int (*tx_write_fn)(const struct journal_tx *tx, const struct tx_effect *f, struct err *e);

struct tx_effect {
	const char *sql;
	tx_write_fn write; /* instead of sql; else NULL */
	size_t first, n;   /* its values */
};

struct journal_tx {
	struct journal *j;
	struct tx_effect *effects;
	size_t neffects, effects_cap;
	struct tx_value *values;
	size_t nvalues, values_cap;
	char *text;
	size_t ntext, text_cap;
};

void tx_free(struct journal_tx *tx);
/* Begin an effect, by a statement (as for db_stmt()) or by a function; its values follow. */
void tx_effect(struct journal_tx *tx, const char *sql);
void tx_effect_by(struct journal_tx *tx, tx_write_fn write);
void tx_int(struct journal_tx *tx, int64_t v);
void tx_bits(struct journal_tx *tx, uint64_t v); /* the same 64 bits: SQL has no unsigned numbers */
void tx_text(struct journal_tx *tx, const char *text);

/* --- journal_read.c --- */
/* Read the row at c, and give it to v. */
typedef int (*journal_read_fn)(const struct journal *j, struct db_cursor *c,
			       const struct journal_visitor *v, struct err *e);
/* Give all rows of a query without values to read. */
int journal_read(struct journal *j, const char *sql, journal_read_fn read,
		 const struct journal_visitor *v, struct err *e);
/* The number of a word, such as a state; parse returns -1 for one that does not exist. */
int journal_get_word(struct db_cursor *c, int (*parse)(const char *));

/* --- journal_load(), table by table; nothing is read for a visit that is NULL --- */
int journal_load_batches(struct journal *j, const struct journal_visitor *v, struct err *e);
int journal_load_nodes(struct journal *j, const struct journal_visitor *v, struct err *e);
int journal_load_spent(struct journal *j, const struct journal_visitor *v, struct err *e);
int journal_load_refusals(struct journal *j, const struct journal_visitor *v, struct err *e);
int journal_load_pools(struct journal *j, const struct journal_visitor *v, struct err *e);
int journal_load_rolls(struct journal *j, const struct journal_visitor *v, struct err *e);
int journal_load_rescues(struct journal *j, const struct journal_visitor *v, struct err *e);
int journal_load_endings(struct journal *j, const struct journal_visitor *v, struct err *e);
int journal_load_claims(struct journal *j, const struct journal_visitor *v, struct err *e);
int journal_load_vouchers(struct journal *j, const struct journal_visitor *v, struct err *e);
int journal_load_holds(struct journal *j, const struct journal_visitor *v, struct err *e);
int journal_load_days(struct journal *j, const struct journal_visitor *v, struct err *e);
int journal_load_budgets(struct journal *j, const struct journal_visitor *v, struct err *e);
int journal_load_alerts(struct journal *j, const struct journal_visitor *v, struct err *e);
int journal_load_alert_messages(struct journal *j, const struct journal_visitor *v, struct err *e);
int journal_load_prices(struct journal *j, const struct journal_visitor *v, struct err *e);

/* --- journal_audit.c --- */
int chain_open(struct journal *j, struct err *e); /* find the end of the chain */
/* Within a transaction, once before the commit: write the new end of the chain. */
int chain_put_head(struct journal *j, struct err *e);
/* As journal_trim(), for audit records. */
int chain_trim(struct journal *j, int64_t before_ms, int64_t now_ms, bool *more, struct err *e);
/* The query of chain_trim() that must cost the same however many records there are. */
extern const char chain_old_audit[];

#endif
