/* db.h - an SQLite file, opened so that a successful commit survives a power cut.
 *
 * Only store/ includes it, and only store/ has SQL.  Handles of the library are named by their
 * struct tags, so that this header does not need <sqlite3.h>. */
#ifndef BURSTD_DB_H
#define BURSTD_DB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

struct sqlite3_stmt;
struct db;

/* The kind of a file: the steps that make its tables. */
struct db_kind {
	const char *const *steps; /* step i takes version i to i + 1; never changed once released */
	int nsteps;
};

/* Open path, or make it (mode 0600), and upgrade it to the newest version in one transaction.
 * *existed: it had tables before.  -1: it is damaged or no such file (ERR_DAMAGED, F55), from a
 * newer burstd (ERR_INVALID, F60), not readable and writable (ERR_AUTH), or unavailable now; the
 * file is unchanged. */
int db_open(struct db **out, const char *path, const struct db_kind *kind, bool *existed,
	    struct err *e);
/* Open a file that another process writes, only to read it: nothing is made or changed, and its
 * writer never waits.  *version: how many of kind's steps it has.  -1: as db_open(); ERR_IO also if
 * it is not there yet. */
int db_open_to_read(struct db **out, const char *path, const struct db_kind *kind, int *version,
		    struct err *e);
void db_close(struct db *d); /* NULL is fine */
/* Is it, by its header alone, from a newer burstd?  Nothing is made, locked or changed; what is
 * only in its log does not count, and one that cannot be read is not.  -1: *e, as db_open() has it.
 */
int db_look(const char *path, const struct db_kind *kind, struct err *e);

/* The statement of this text, ready for binding.  It is prepared once, and found again by the
 * text's address: sql is a constant, in one place.  NULL: *e. */
struct sqlite3_stmt *db_stmt(struct db *d, const char *sql, struct err *e);
/* Step to the next row.  1: there is one; 0: done; -1: *e.  After 0 and -1 the statement is reset.
 */
int db_step(struct db *d, struct sqlite3_stmt *st, struct err *e);
/* Did the last statement, an INSERT, write or change a row?  If so, *id is the number of the row
 * that was inserted last; id may be NULL. */
bool db_added(const struct db *d, int64_t *id);
void db_reset(struct sqlite3_stmt *st); /* if not all rows were read */

int db_begin(struct db *d, struct err *e);
/* All that is read until db_rollback() is of one moment; for a file that others write. */
int db_begin_to_read(struct db *d, struct err *e);
/* 0: it is durable.  -1: the file has all of it or nothing, and it is not known which, unless
 * db_was_full(). */
int db_commit(struct db *d, struct err *e);
void db_rollback(struct db *d);
/* Was the last failure a full disk that left the file unchanged?  Only then it may be tried again.
 */
bool db_was_full(const struct db *d);
/* Has SQLite found a damaged page?  Then no restart mends it. */
bool db_was_damaged(const struct db *d);
/* Checkpoint the write-ahead log, if it is long enough, so that no commit has to do it.  -1: the
 * disk failed, as in db_commit(); or it is full, and the log keeps its contents. */
int db_tidy(struct db *d, struct err *e);

/* Binds or reads values in order; it keeps the index, and whether a value was wrong. */
struct db_cursor {
	struct sqlite3_stmt *st;
	int at;
	bool bad; /* reading: a value is out of range or too long, so the row is damaged */
};

void db_put_int(struct db_cursor *c, int64_t v);
void db_put_text(struct db_cursor *c, const char *text, size_t len); /* must live until db_step() */

int64_t db_get_int(struct db_cursor *c, int64_t min, int64_t max);
const char *db_get_text(struct db_cursor *c, size_t max); /* until the next step; never NULL */
void db_copy_text(struct db_cursor *c, char *out, size_t size);

/* Set *e: a row of this table is damaged; return -1. */
int db_damaged(const struct db *d, const char *table, struct err *e);

#endif
