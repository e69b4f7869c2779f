/* journal_rows.h - what stands in the journal of a loaded engine. */
#ifndef TESTS_JOURNAL_ROWS_H
#define TESTS_JOURNAL_ROWS_H

#include "loaded_engine.h"

#include <sqlite3.h>

enum { ROWS_TEXT_MAX = 2000 };

static inline int on_row(void *ctx, int n, char **v, char **names)
{
	char *to = ctx;

	(void)names;
	for (int i = 0; i < n; i++) {
		size_t at = strlen(to);

		(void)snprintf(to + at, ROWS_TEXT_MAX - at, "%s%s", v[i], i < n - 1 ? " " : ";");
	}
	return 0;
}

/* What another process reads in the journal, row by row. */
static inline const char *rows(const struct fix *f, const char *query)
{
	static char out[ROWS_TEXT_MAX];
	char path[96];
	sqlite3 *db;

	(void)snprintf(path, sizeof(path), "%s/journal.db", f->dir);
	out[0] = '\0';
	assert_int_equal(sqlite3_open_v2(path, &db, SQLITE_OPEN_READONLY, NULL), SQLITE_OK);
	assert_int_equal(sqlite3_exec(db, query, on_row, out, NULL), SQLITE_OK);
	sqlite3_close(db);
	return out;
}

/* Rows that are wanted are written with their creates, or when nothing else is to do. */
static inline void write_down(struct fix *f)
{
	f->e->left = ENGINE_SEND;
	unwritten_part.at[PART_RUN](f->e);
	engine_commit(f->e);
}

#endif
