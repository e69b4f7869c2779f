#include "store/db.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <limits.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"

enum {
	DB_HEAD = 100,      /* bytes of a file's header */
	DB_VERSION_AT = 60, /* in it, big-endian: PRAGMA user_version */
	/* burstd is the only writer; a person with sqlite3(1) may hold the lock, but not for long.
	 */
	DB_BUSY_MS = 250,
	/* db_tidy() checkpoints a log of so many pages: some milliseconds of work, done when nobody
	 * waits. */
	DB_TIDY_PAGES = 1000,
	/* Without db_tidy() a commit checkpoints at 64 MiB.  A longer log would delay the next
	 * start. */
	DB_WAL_PAGES = 16000,
	/* SQLite truncates a longer log to this size when it begins it anew.  Up to here the file
	 * keeps its blocks: to overwrite them takes no room on a full disk, and less to sync than
	 * new ones.  10,000 nodes write some 14 MiB from WANTED to BOOTING, 250 at a time; a log
	 * gets longer with smaller commits, or while somebody reads. */
	DB_WAL_BYTES = 16 << 20,
	/* Statements prepared: the journal has some 40.  A power of two. */
	DB_STMTS_MAX = 128,
	DB_SLOTS = 2 * DB_STMTS_MAX, /* half of them are empty, so that a search is short */
};

struct slot {
	const char *sql; /* NULL: empty */
	sqlite3_stmt *st;
};

struct db {
	sqlite3 *sql;
	char *path;
	const struct db_kind *kind;
	struct slot stmts[DB_SLOTS]; /* a hash table of what was used, by the text's address */
	unsigned nstmts;
	int wal_pages; /* in the log and not yet in the main file, at most */
	bool to_read;  /* db_open_to_read() */
	bool full;     /* the last failure was SQLITE_FULL */
	bool damaged;  /* SQLite reported damage */
};

/* A failing statement, or a row that is too long, means damage, too: our statements are correct for
 * our tables, and none of our rows is longer than SQLite allows. */
static bool is_damage(int primary)
{
	return primary == SQLITE_CORRUPT || primary == SQLITE_NOTADB || primary == SQLITE_ERROR ||
	       primary == SQLITE_TOOBIG;
}

/* SQLite does not say which of its files it may not access, and falls back to read-only. */
static int check_rights(const struct db *d, struct err *e)
{
	static const char *const suffixes[] = {"", "-wal", "-shm"};
	char path[PATH_MAX];

	for (size_t i = 0; i < sizeof(suffixes) / sizeof(suffixes[0]); i++) {
		(void)snprintf(path, sizeof(path), "%s%s", d->path, suffixes[i]);
		if (access(path, R_OK | W_OK) < 0 && err_of_errno(errno) == ERR_AUTH)
			return err_set(e, ERR_AUTH, "%.150s%s: %s", d->path, suffixes[i],
				       strerror(errno));
	}
	return 0;
}

static int fail(struct db *d, struct err *e)
{
	int code = sqlite3_extended_errcode(d->sql), primary = code & 0xff;

	d->full = primary == SQLITE_FULL;
	if (primary == SQLITE_NOMEM)
		(void)mem_check(NULL);
	if (is_damage(primary)) {
		d->damaged = true;
		return err_set(e, ERR_DAMAGED, "%.120s: damaged: %s", d->path,
			       sqlite3_errmsg(d->sql));
	}
	if ((primary == SQLITE_CANTOPEN || primary == SQLITE_READONLY) && check_rights(d, e) < 0)
		return -1;
	return err_set(e, ERR_IO, "%.120s: %s (%d)", d->path, sqlite3_errmsg(d->sql), code);
}

int db_damaged(const struct db *d, const char *table, struct err *e)
{
	return err_set(e, ERR_DAMAGED, "%.120s: damaged: table %s has a malformed row", d->path,
		       table);
}

static int exec(struct db *d, const char *sql, struct err *e)
{
	return sqlite3_exec(d->sql, sql, NULL, NULL, NULL) == SQLITE_OK ? 0 : fail(d, e);
}

/* Get the single value of a query. */
static int ask(struct db *d, const char *sql, char *out, size_t size, struct err *e)
{
	sqlite3_stmt *st = NULL;
	int rc = -1;

	if (sqlite3_prepare_v2(d->sql, sql, -1, &st, NULL) == SQLITE_OK &&
	    sqlite3_step(st) == SQLITE_ROW) {
		(void)snprintf(out, size, "%s", (const char *)sqlite3_column_text(st, 0));
		rc = 0;
	} else {
		(void)fail(d, e);
	}
	(void)sqlite3_finalize(st);
	return rc;
}

/* Make the file ourselves: SQLite would give it a mode that others can read, and would not make its
 * name durable. */
static int make_file(const char *path, struct err *e)
{
	char *copy = mem_strdup(path);
	int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0600);
	int dir = open(dirname(copy), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	int rc = 0;

	if (fd < 0 || dir < 0 || fsync(dir) < 0)
		rc = err_set(e, err_of_errno(errno), "%.150s: %s", path, strerror(errno));
	if (fd >= 0)
		(void)close(fd);
	if (dir >= 0)
		(void)close(dir);
	free(copy);
	return rc;
}

static int check_newest(const char *path, int version, const struct db_kind *kind, struct err *e)
{
	if (version <= kind->nsteps)
		return 0;
	return err_set(e, ERR_INVALID,
		       "%.120s: schema %d is from a newer burstd; this one knows %d at most: "
		       "install that version again",
		       path, version, kind->nsteps);
}

/* Check, before anything is written, that the file is burstd's, and not newer. */
static int check_version(struct db *d, int *version, struct err *e)
{
	char text[16], tables[16];

	if (ask(d, "PRAGMA user_version", text, sizeof(text), e) < 0 ||
	    ask(d, "SELECT COUNT(*) FROM sqlite_master", tables, sizeof(tables), e) < 0)
		return -1;
	/* It was opened for writing, so its header says that only a later SQLite may write to it.
	 */
	if (!d->to_read && sqlite3_db_readonly(d->sql, "main") == 1)
		return err_set(e, ERR_DAMAGED, "%.120s: damaged: malformed header", d->path);
	*version = (int)strtol(text, NULL, 10);
	if (*version < 0 || (*version == 0) != (strcmp(tables, "0") == 0))
		return err_set(e, ERR_DAMAGED, "%.120s: not a burstd journal", d->path);
	return check_newest(d->path, *version, d->kind, e);
}

int db_look(const char *path, const struct db_kind *kind, struct err *e)
{
	const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	unsigned char head[DB_HEAD] = {0};
	uint32_t version = 0;
	ssize_t n;

	if (fd < 0)
		return 0;
	n = pread(fd, head, sizeof(head), 0);
	(void)close(fd);
	if (n != DB_HEAD || memcmp(head, "SQLite format 3", sizeof("SQLite format 3")) != 0)
		return 0;
	for (size_t i = 0; i < sizeof(version); i++)
		version = version << 8 | head[DB_VERSION_AT + i];
	return check_newest(path, (int)version, kind, e);
}

/* A write may be repeated after SQLITE_FULL, but not after a failed fsync.  In WAL mode SQLITE_FULL
 * means that a write() to the log or, by a checkpoint, to the main file found no room (ENOSPC, or a
 * short write).  A transaction's frames are written first, the one with the commit mark last, and
 * only then comes the fsync: so none of it is valid in the file, nothing was half synced, and after
 * a rollback the next one overwrites the same place.  A checkpoint that is cut short has not moved
 * the mark behind which the log may be overwritten.  Other failures have other codes and end the
 * process: a failed fsync (SQLITE_IOERR_FSYNC), a log index that cannot grow after the frames were
 * written (SQLITE_IOERR_SHMSIZE), a quota or a limit on files (SQLITE_IOERR_WRITE). */
bool db_was_full(const struct db *d)
{
	return d->full && sqlite3_get_autocommit(d->sql) != 0;
}

bool db_was_damaged(const struct db *d)
{
	return d->damaged;
}

/* Pages that a reader still needs stay in the log until the next checkpoint. */
static int checkpoint(struct db *d)
{
	int pages = 0, copied = 0, rc;

	rc = sqlite3_wal_checkpoint_v2(d->sql, "main", SQLITE_CHECKPOINT_PASSIVE, &pages, &copied);
	if ((rc & 0xff) == SQLITE_BUSY || (rc & 0xff) == SQLITE_LOCKED)
		return SQLITE_OK;
	if (rc == SQLITE_OK && copied == pages)
		d->wal_pages = 0;
	return rc;
}

/* SQLite's own automatic checkpoint ignores errors and tries again.  After a failed fsync the
 * second try succeeds without the pages being on the disk, and the log that holds them is
 * overwritten (F55).  So here the commit fails with its checkpoint, unless the disk is full: then
 * the log just gets longer, and the commit itself is done. */
static int on_commit(void *ctx, sqlite3 *sql, const char *name, int pages)
{
	struct db *d = ctx;
	int rc;

	(void)sql;
	(void)name;
	d->wal_pages = pages;
	rc = pages < DB_WAL_PAGES ? SQLITE_OK : checkpoint(d);
	return (rc & 0xff) == SQLITE_FULL ? SQLITE_OK : rc;
}

int db_tidy(struct db *d, struct err *e)
{
	if (d->wal_pages < DB_TIDY_PAGES)
		return 0;
	return checkpoint(d) == SQLITE_OK ? 0 : fail(d, e);
}

static int configure(struct db *d, struct err *e)
{
	char sql[128], mode[16];

	(void)snprintf(sql, sizeof(sql), "PRAGMA journal_size_limit = %d", DB_WAL_BYTES);
	if (ask(d, "PRAGMA journal_mode = WAL", mode, sizeof(mode), e) < 0)
		return -1;
	if (strcmp(mode, "wal") != 0)
		return err_set(e, ERR_IO, "%.120s: the file system cannot hold a write-ahead log",
			       d->path);
	(void)sqlite3_wal_hook(d->sql, on_commit, d);
	if (exec(d, "PRAGMA synchronous = FULL", e) < 0 || exec(d, sql, e) < 0)
		return -1;
	/* Overwrite deleted content where that costs no extra write. */
	return exec(d,
		    "PRAGMA trusted_schema = OFF; PRAGMA temp_store = MEMORY;"
		    "PRAGMA secure_delete = FAST",
		    e);
}

/* SQLite reads a last page that is cut short as if it ended in zeros.  So move everything from the
 * log into the file, and compare the file's length with its header. */
static int check_length(struct db *d, struct err *e)
{
	char busy[16], pages[24], size[16];
	struct stat st;

	if (ask(d, "PRAGMA wal_checkpoint(TRUNCATE)", busy, sizeof(busy), e) < 0)
		return d->full ? 0 : -1; /* disk full: the log keeps all, and deletes must go on */
	if (ask(d, "PRAGMA page_count", pages, sizeof(pages), e) < 0 ||
	    ask(d, "PRAGMA page_size", size, sizeof(size), e) < 0)
		return -1;
	if (strcmp(busy, "0") != 0) /* there is a reader: check at the next start */
		return 0;
	if (stat(d->path, &st) < 0)
		return err_set(e, ERR_IO, "%.150s: %s", d->path, strerror(errno));
	if ((int64_t)st.st_size < strtoll(pages, NULL, 10) * strtoll(size, NULL, 10))
		return err_set(e, ERR_DAMAGED, "%.150s: damaged: the file is truncated", d->path);
	return 0;
}

static int migrate(struct db *d, int version, struct err *e)
{
	char sql[64];

	if (version == d->kind->nsteps)
		return 0;
	if (db_begin(d, e) < 0)
		return -1;
	for (int i = version; i < d->kind->nsteps; i++)
		if (exec(d, d->kind->steps[i], e) < 0)
			goto fail;
	(void)snprintf(sql, sizeof(sql), "PRAGMA user_version = %d", d->kind->nsteps);
	if (exec(d, sql, e) < 0 || db_commit(d, e) < 0)
		goto fail;
	return 0;
fail:
	db_rollback(d);
	return -1;
}

int db_open(struct db **out, const char *path, const struct db_kind *kind, bool *existed,
	    struct err *e)
{
	struct db *d = mem_zalloc(sizeof(*d));
	int version = 0;

	*out = NULL;
	d->path = mem_strdup(path);
	d->kind = kind;
	if (make_file(path, e) < 0)
		goto fail;
	/* No mutexes, since there is one thread: each bound value would lock one. */
	if (sqlite3_open_v2(path, &d->sql, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, NULL) !=
	    SQLITE_OK) {
		(void)fail(d, e);
		goto fail;
	}
	if (sqlite3_db_readonly(d->sql, "main") == 1) { /* SQLite does this after EIO */
		(void)err_set(e, ERR_IO, "%.120s: cannot be opened for writing", d->path);
		goto fail;
	}
	(void)sqlite3_extended_result_codes(d->sql, 1);
	(void)sqlite3_busy_timeout(d->sql, DB_BUSY_MS);
	if (exec(d, "PRAGMA cell_size_check = ON", e) < 0 || check_version(d, &version, e) < 0 ||
	    configure(d, e) < 0 || check_length(d, e) < 0 || migrate(d, version, e) < 0)
		goto fail;
	*existed = version > 0;
	*out = d;
	return 0;
fail:
	db_close(d);
	return -1;
}

int db_open_to_read(struct db **out, const char *path, const struct db_kind *kind, int *version,
		    struct err *e)
{
	struct db *d = mem_zalloc(sizeof(*d));

	*out = NULL;
	d->path = mem_strdup(path);
	d->kind = kind;
	d->to_read = true;
	if (sqlite3_open_v2(path, &d->sql, SQLITE_OPEN_READONLY | SQLITE_OPEN_NOMUTEX, NULL) !=
	    SQLITE_OK) {
		(void)fail(d, e);
		db_close(d);
		return -1;
	}
	(void)sqlite3_extended_result_codes(d->sql, 1);
	(void)sqlite3_busy_timeout(d->sql, DB_BUSY_MS);
	if (exec(d, "PRAGMA query_only = ON; PRAGMA trusted_schema = OFF", e) < 0 ||
	    check_version(d, version, e) < 0) {
		db_close(d);
		return -1;
	}
	*out = d;
	return 0;
}

void db_close(struct db *d)
{
	if (d == NULL)
		return;
	for (unsigned i = 0; i < DB_SLOTS; i++)
		(void)sqlite3_finalize(d->stmts[i].st);
	(void)sqlite3_close(d->sql);
	free(d->path);
	free(d);
}

/* The slot that has the statement, or an empty one. */
static struct slot *slot_of(struct db *d, const char *sql)
{
	/* Fibonacci hashing: the upper bits of the product depend on all of the address. */
	uint64_t i = ((uint64_t)(uintptr_t)sql * UINT64_C(0x9e3779b97f4a7c15)) >> 32;

	while (d->stmts[i % DB_SLOTS].sql != NULL && d->stmts[i % DB_SLOTS].sql != sql)
		i++;
	return &d->stmts[i % DB_SLOTS];
}

sqlite3_stmt *db_stmt(struct db *d, const char *sql, struct err *e)
{
	struct slot *s = slot_of(d, sql);

	if (s->sql != NULL)
		return s->st;
	assert(d->nstmts < DB_STMTS_MAX);
	if (sqlite3_prepare_v3(d->sql, sql, -1, SQLITE_PREPARE_PERSISTENT, &s->st, NULL) !=
	    SQLITE_OK) {
		(void)fail(d, e);
		return NULL;
	}
	s->sql = sql;
	d->nstmts++;
	return s->st;
}

int db_step(struct db *d, sqlite3_stmt *st, struct err *e)
{
	int rc = sqlite3_step(st);

	if (rc == SQLITE_ROW)
		return 1;
	rc = rc == SQLITE_DONE ? 0 : fail(d, e);
	db_reset(st);
	return rc;
}

bool db_added(const struct db *d, int64_t *id)
{
	if (sqlite3_changes(d->sql) == 0)
		return false;
	if (id != NULL)
		*id = sqlite3_last_insert_rowid(d->sql);
	return true;
}

void db_reset(sqlite3_stmt *st)
{
	(void)sqlite3_reset(st);
	(void)sqlite3_clear_bindings(st);
}

int db_begin(struct db *d, struct err *e)
{
	return exec(d, "BEGIN IMMEDIATE", e);
}

int db_begin_to_read(struct db *d, struct err *e)
{
	return exec(d, "BEGIN", e);
}

int db_commit(struct db *d, struct err *e)
{
	if (exec(d, "COMMIT", e) == 0)
		return 0;
	db_rollback(d);
	return -1;
}

void db_rollback(struct db *d)
{
	/* Some errors have rolled back already. */
	if (sqlite3_get_autocommit(d->sql) == 0)
		(void)exec(d, "ROLLBACK", NULL);
}

static void bound(int rc)
{
	if (rc == SQLITE_NOMEM)
		(void)mem_check(NULL);
	assert(rc == SQLITE_OK); /* a wrong number of values is a programmer's error */
}

void db_put_int(struct db_cursor *c, int64_t v)
{
	bound(sqlite3_bind_int64(c->st, ++c->at, v));
}

void db_put_text(struct db_cursor *c, const char *text, size_t len)
{
	assert(len <= INT_MAX);
	bound(sqlite3_bind_text(c->st, ++c->at, text, (int)len, SQLITE_STATIC));
}

int64_t db_get_int(struct db_cursor *c, int64_t min, int64_t max)
{
	/* Not by sqlite3_column_type() and sqlite3_column_int64(), each of which looks the column
	 * up: a report reads ten million numbers.  Such a value may be used by one thread only. */
	sqlite3_value *column = sqlite3_column_value(c->st, c->at++);
	int64_t v = sqlite3_value_int64(column);

	if (sqlite3_value_type(column) == SQLITE_INTEGER && v >= min && v <= max)
		return v;
	c->bad = true;
	return min;
}

const char *db_get_text(struct db_cursor *c, size_t max)
{
	int column = c->at++;
	const char *text = (const char *)sqlite3_column_text(c->st, column);
	size_t len = text != NULL ? (size_t)sqlite3_column_bytes(c->st, column) : 0;

	if (text != NULL && len <= max && strlen(text) == len) /* no text behind a NUL */
		return text;
	c->bad = true;
	return "";
}

void db_copy_text(struct db_cursor *c, char *out, size_t size)
{
	const char *text = db_get_text(c, size - 1);

	memcpy(out, text, strlen(text) + 1);
}
