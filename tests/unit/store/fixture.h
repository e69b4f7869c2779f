/* fixture.h - a journal in a directory of its own, and what a load visits, for the tests of
 * store/. */
#ifndef TESTS_STORE_FIXTURE_H
#define TESTS_STORE_FIXTURE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>
#include <sqlite3.h>

#include "base/mem.h"
#include "store/journal.h"
#include "store/journal_events.h"
#include "store/journal_nodes.h"
#include "store/journal_usage.h"
#include "tests/unit/store/run_sql.h"

struct fixture {
	char dir[32], path[64];
	struct journal *j; /* open, empty */
};

static inline void open_journal(struct fixture *f, bool want_existed)
{
	struct err e = {0};
	bool existed;

	if (journal_open(&f->j, f->path, &existed, &e) < 0)
		fail_msg("%s", e.msg);
	assert_int_equal(existed, want_existed);
}

static inline void reopen(struct fixture *f)
{
	journal_close(f->j);
	open_journal(f, true);
}

static inline int setup(void **state)
{
	struct fixture *f = mem_zalloc(sizeof(*f));

	(void)snprintf(f->dir, sizeof(f->dir), "/tmp/journalXXXXXX");
	assert_non_null(mkdtemp(f->dir));
	(void)snprintf(f->path, sizeof(f->path), "%s/journal.db", f->dir);
	open_journal(f, false);
	*state = f;
	return 0;
}

static inline int teardown(void **state)
{
	static const char *const suffixes[] = {"", "-wal", "-shm", "-journal"};
	struct fixture *f = *state;
	char path[96];

	journal_close(f->j);
	for (size_t i = 0; i < sizeof(suffixes) / sizeof(suffixes[0]); i++) {
		(void)snprintf(path, sizeof(path), "%s%s", f->path, suffixes[i]);
		unlink(path);
	}
	(void)snprintf(path, sizeof(path), "%s/reserve", f->dir);
	unlink(path);
	rmdir(f->dir);
	free(f);
	return 0;
}

static inline void commit(struct journal_tx *tx)
{
	struct err e = {0};

	if (journal_commit(tx, &e) < 0)
		fail_msg("%s", e.msg);
}

/* Make it a file of before step 24 of the schema. */
#define BEFORE_IMAGES                                                                              \
	"DROP TABLE roll; ALTER TABLE node DROP COLUMN image; ALTER TABLE node DROP COLUMN "       \
	"canary; ALTER TABLE batch DROP COLUMN image; "

/* Change the file behind the journal's back. */
static inline int sql(const struct fixture *f, const char *text)
{
	sqlite3 *db;
	int rc;

	assert_int_equal(sqlite3_open(f->path, &db), SQLITE_OK);
	rc = run_sql(db, text, NULL);
	sqlite3_close(db);
	return rc;
}

/* --- all that a load gives ---------------------------------------------------------------------
 */

enum { SEEN_MAX = 64 };

struct seen {
	struct node nodes[SEEN_MAX];
	char pools[SEEN_MAX][PROVIDER_WORD_MAX + 1];
	struct journal_batch batches[SEEN_MAX];
	char spent_pool[SEEN_MAX][PROVIDER_WORD_MAX + 1];
	int64_t spent[SEEN_MAX];
	size_t nnodes, nbatches, nspent;
	char order[4 * SEEN_MAX];
	size_t norder, stop_at; /* refuse visit number stop_at, from 1 */
};

static inline int visit(struct seen *s, char what, struct err *e)
{
	s->order[s->norder++] = what;
	return s->norder == s->stop_at ? err_set(e, ERR_INVALID, "stopped") : 0;
}

static inline int see_node(void *ctx, const struct node *n, const char *pool, struct err *e)
{
	struct seen *s = ctx;

	(void)snprintf(s->pools[s->nnodes], sizeof(s->pools[0]), "%s", pool);
	s->nodes[s->nnodes++] = *n;
	return visit(s, 'n', e);
}

static inline int see_batch(void *ctx, const struct journal_batch *b, struct err *e)
{
	struct seen *s = ctx;

	s->batches[s->nbatches++] = *b;
	return visit(s, 'b', e);
}

static inline int see_spent(void *ctx, const char *pool, int64_t cost_nano, struct err *e)
{
	struct seen *s = ctx;

	(void)snprintf(s->spent_pool[s->nspent], sizeof(s->spent_pool[0]), "%s", pool);
	s->spent[s->nspent++] = cost_nano;
	return visit(s, 's', e);
}

static inline int try_load(struct fixture *f, struct seen *s, struct err *e)
{
	const struct journal_visitor v = {
		.node = see_node, .batch = see_batch, .spent = see_spent, .ctx = s};

	return journal_load(f->j, &v, e);
}

static inline struct seen *load(struct fixture *f)
{
	struct seen *s = mem_zalloc(sizeof(*s));
	struct err e = {0};

	if (try_load(f, s, &e) < 0)
		fail_msg("%s", e.msg);
	return s;
}

static inline void forget(struct seen *s)
{
	free(s);
}

static inline void close_journal(struct fixture *f)
{
	journal_close(f->j);
	f->j = NULL;
}

static inline int64_t number(struct fixture *f, const char *key)
{
	int64_t v;

	assert_int_equal(journal_get_number(f->j, key, &v, NULL), 0);
	return v;
}

/* Commit as little as possible. */
static inline int commit_number(struct journal *j, const char *key, int64_t value)
{
	struct journal_tx *tx = journal_begin(j);

	journal_put_number(tx, key, value);
	return journal_commit(tx, NULL);
}

struct page {
	int64_t first, last;
	size_t n, stop_at;
	char text[256]; /* the last event */
};

static inline int see_event(void *ctx, const struct journal_event *ev)
{
	struct page *p = ctx;

	if (p->n++ == 0)
		p->first = ev->seq;
	else
		assert_true(ev->seq > p->last);
	p->last = ev->seq;
	(void)snprintf(p->text, sizeof(p->text), "%lld %s %llu %s %s", (long long)ev->at_ms,
		       ev->node, (unsigned long long)ev->gen, ev->type, ev->detail);
	return p->n == p->stop_at;
}

static inline struct page events(struct fixture *f, int64_t after, const char *node, unsigned limit)
{
	struct page p = {0};

	assert_int_equal(journal_events(f->j, after, node, limit, see_event, &p, NULL), 0);
	return p;
}

static inline void fill(struct fixture *f)
{
	const struct journal_usage u = {.pool = "p", .node = "c1", .instance = "i"};
	struct journal_tx *tx = journal_begin(f->j);

	journal_put_batch(tx, &(struct journal_batch){.id = 1, .token = "t", .pool = "p"});
	journal_put_node(tx, &(struct node){.name = "c1", .gen = 1}, "p");
	journal_put_node(tx, &(struct node){.name = "c2", .gen = 1}, "p");
	journal_put_usage(tx, &u);
	journal_put_event(tx, 1, "c1", 1, "type", "detail");
	commit(tx);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

#endif
