/* db.h - one SQLite file, opened so that a commit that returned survives a power cut.
 *
 * For store/ alone: here and in the .c files beside it, and nowhere else, is SQL.  The library's
 * handles are named by their struct tags so that no reader of this header needs <sqlite3.h>. */
#ifndef BURSTD_DB_H
#define BURSTD_DB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

struct sqlite3_stmt;
struct db;

/* What a file is for: how its tables are made, step by step, and the statements used on it. */
struct db_kind {
	const char *const *steps; /* step i takes version i to i + 1; never changed once released */
	int nsteps;
	const char *const *sql; /* a statement's number is its place here */
	unsigned nsql;
};

/* Open path, making it (mode 0600) if it is not there, and bring it to the newest version in one
 * transaction.  *existed: it held tables before.  -1: damaged or not one of ours (ERR_DAMAGED,
 * F55), from a newer burstd (ERR_INVALID, F60), not for us to read and write (ERR_AUTH), or not to
 * be had now; then the file is as it was. */
int db_open(struct db **out, const char *path, const struct db_kind *kind, bool *existed,
	    struct err *e);
void db_close(struct db *d); /* NULL is fine */

/* The statement of that number, ready to be bound; prepared once.  NULL: *e says why. */
struct sqlite3_stmt *db_stmt(struct db *d, unsigned number, struct err *e);
/* Next row.  1: there is one; 0: done, and the statement is reset; -1: *e, likewise reset. */
int db_step(struct db *d, struct sqlite3_stmt *st, struct err *e);
void db_reset(struct sqlite3_stmt *st); /* after an early stop */

int db_begin(struct db *d, struct err *e);
/* 0: durable.  -1: whether the next to open the file finds all of it or nothing is not known, but
 * for db_was_full(). */
int db_commit(struct db *d, struct err *e);
void db_rollback(struct db *d);
/* Did the last failure come of a full disk, and leave the file as it was?  Then, and only then,
 * what failed may be tried again. */
bool db_was_full(const struct db *d);
/* Has SQLite found a page that is not as written?  Then no restart mends it. */
bool db_was_damaged(const struct db *d);
/* Do now, if it is worth it, what a commit would have to do later: move what is durable in the log
 * to its place.  -1: the disk failed, as db_commit(); or it is full, and the log keeps it. */
int db_tidy(struct db *d, struct err *e);

/* Values are bound and read in order; a cursor keeps the place and remembers the first that was
 * wrong. */
struct db_cursor {
	struct sqlite3_stmt *st;
	int at;
	bool bad; /* reading: out of range or too long: the row is not what was written */
};

void db_put_int(struct db_cursor *c, int64_t v);
void db_put_text(struct db_cursor *c, const char *text, size_t len); /* must live until db_step() */

int64_t db_get_int(struct db_cursor *c, int64_t min, int64_t max);
const char *db_get_text(struct db_cursor *c, size_t max); /* until the next step; never NULL */
void db_copy_text(struct db_cursor *c, char *out, size_t size);

/* Say in *e that a row of this table is not what was written; return -1. */
int db_damaged(const struct db *d, const char *table, struct err *e);

#endif
