/* running.h - what the tests of a running burstd ask it and its journal, and how it is told about
 * nodes. */
#ifndef TESTS_RUNNING_H
#define TESTS_RUNNING_H

#include "lab.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include <sqlite3.h>

#include "base/paths.h"
#include "io/ctl_client.h"

/* Nobody holds the journal, and SQLite has put its log away: it was closed, not left. */
static inline void assert_closed(void)
{
	int fd = open(lab_path("state/lock"), O_RDWR | O_CLOEXEC);

	assert_true(fd >= 0);
	assert_int_equal(flock(fd, LOCK_EX | LOCK_NB), 0);
	(void)close(fd);
	assert_int_equal(access(lab_path("state/journal.db"), F_OK), 0);
	assert_int_equal(access(lab_path("state/journal.db-wal"), F_OK), -1);
	assert_int_equal(access(PATHS_SOCKET, F_OK), -1);
}

/* top: what else is in the file, at its top. */
static inline void write_conf_nodes(const char *top, const char *address, unsigned port)
{
	char text[512];

	(void)snprintf(
		text, sizeof(text),
		"%s\nsecrets {\ndriver = file name = b dir = \"DIR\" release = broker\n}\nnodes {"
		"\nlisten = \"%s:%u\" url = {\"https://127.0.0.1:%u\"} "
		"conf_server = {\"c:1\"}\n}\nslurm {",
		top, address, port, port);
	lab_write_conf("slurm {", text);
}

/* The one number that sql gives of the journal's file. */
static inline int64_t ask_journal(const char *sql)
{
	sqlite3_stmt *st = NULL;
	sqlite3 *db = NULL;
	int64_t v = 0;

	assert_int_equal(sqlite3_open(lab_path("state/journal.db"), &db), SQLITE_OK);
	assert_int_equal(sqlite3_busy_timeout(db, LAB_PATIENCE_MS), SQLITE_OK);
	assert_int_equal(sqlite3_prepare_v2(db, sql, -1, &st, NULL), SQLITE_OK);
	if (sqlite3_step(st) == SQLITE_ROW)
		v = sqlite3_column_int64(st, 0);
	assert_int_equal(sqlite3_finalize(st), SQLITE_OK);
	assert_int_equal(sqlite3_close(db), SQLITE_OK);
	return v;
}

static inline size_t count(const char *text, const char *word)
{
	size_t n = 0;

	for (const char *p = text; (p = strstr(p, word)) != NULL; p++)
		n++;
	return n;
}

static inline void ask(const char *request, const char *const *want, size_t n)
{
	char *answer = NULL;
	struct err e = {0};
	size_t len;

	assert_int_equal(ctl_client_ask(PATHS_SOCKET, request, LAB_PATIENCE_MS, &answer, &len, &e),
			 0);
	for (size_t i = 0; i < n; i++) {
		if (strstr(answer, want[i]) == NULL)
			fail_msg("got: %s", answer);
	}
	free(answer);
}

#define ASK_OP(op, ...)                                                                            \
	ask("{\"v\":1,\"op\":\"" op "\"}", (const char *const[]){__VA_ARGS__},                     \
	    COUNT(((const char *const[]){__VA_ARGS__})))
#define ASK(...) ASK_OP("reload", __VA_ARGS__)

#endif
