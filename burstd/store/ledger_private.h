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
/* Run an INSERT of one row: 1: it is written, and *id is its number, unless id is NULL; 0: nothing
 * has changed; -1: *e.  (RETURNING came with SQLite 3.35, and EL9 has 3.34.) */
int ledger_add(struct ledger *l, struct db_cursor *c, int64_t *id, struct err *e);
/* Get the one number of its first row: 1; 0: there is no row; -1: *e. */
int ledger_ask(struct ledger *l, struct db_cursor *c, int64_t *out, struct err *e);

/* Likewise a text, the caller's; "": there is no row. */
int ledger_ask_text(struct ledger *l, struct db_cursor *c, char **out, struct err *e);

/* --- ledger_days.c --- */
/* The next row of the statement, of n numbers: 1; 0: there is none; -1: *e, and the statement is
 * reset if a row of this table is damaged. */
int ledger_next(struct ledger *l, struct db_cursor *c, int64_t *row, size_t n, const char *table,
		struct err *e);
/* Note v as the number of that name, if there is none (0), or a greater one. */
int ledger_lower(struct ledger *l, const char *key, int64_t v, struct err *e);
/* Run a statement with the numbers of a row. */
int ledger_put_row(struct ledger *l, const char *sql, const int64_t *row, size_t n, struct err *e);
/* n[s]: the number that the statement has for state s. */
int ledger_count_states(struct ledger *l, const char *sql, int64_t *n, int nstates, struct err *e);

struct ledger_days_of { /* a lifetime: n rows of a table, each `width` numbers, the first its day */
	/* By lifetime, in the order of rows; by lifetime; lifetime, and then a row. */
	const char *sql_select, *sql_delete, *sql_insert;
	const char *key; /* of the first day that is to be compared again */
	int64_t lifetime;
	const int64_t *rows;
	size_t width, n;
};
/* Let these be all rows of the lifetime; if they were not, days are compared again. */
int ledger_set_days(struct ledger *l, const struct ledger_days_of *d, struct err *e);

static inline int64_t ledger_int(struct db_cursor *c)
{
	return db_get_int(c, INT64_MIN, INT64_MAX);
}

#endif
