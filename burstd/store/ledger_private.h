/* ledger_private.h - what the files of the ledger share; only store/ledger*.c include it. */
#ifndef BURSTD_STORE_LEDGER_PRIVATE_H
#define BURSTD_STORE_LEDGER_PRIVATE_H

#include "store/db.h"
#include "store/ledger.h"

enum { LEDGER_TEXT_MAX = 65536 }; /* bytes of a text read back: more than is ever written */

struct ledger {
	struct db *db;
	bool to_read; /* what would be written is not, and has number 0 */
};

extern const struct db_kind ledger_kind;

/* The statement, ready for binding, in *c; -1: *e. */
int ledger_stmt(struct ledger *l, struct db_cursor *c, const char *sql, struct err *e);
void ledger_put_text(struct db_cursor *c, const char *text);
/* Run a statement that gives no rows. */
int ledger_do(struct ledger *l, struct db_cursor *c, struct err *e);
/* Get the one number of its first row: 1; 0: there is no row; -1: *e. */
int ledger_ask(struct ledger *l, struct db_cursor *c, int64_t *out, struct err *e);

/* Likewise a text, the caller's; "": there is no row. */
int ledger_ask_text(struct ledger *l, struct db_cursor *c, char **out, struct err *e);

static inline int64_t ledger_int(struct db_cursor *c)
{
	return db_get_int(c, INT64_MIN, INT64_MAX);
}

#endif
