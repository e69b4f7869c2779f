/* Jobs that were refused and pools that are closed: every field comes back.  And a file of the
 * first schema, which had neither, is taken over with all that is in it; so is one that has calls,
 * but for those. */
#include <string.h>

#include "base/str.h"
#include "fixture.h"
#include "store/db.h"
#include "store/journal_jobs.h"
#include "store/journal_pools.h"
#include "store/schema.h"

enum { ROWS_MAX = 8, WITH_CALLS = 12, WITHOUT_CALLS = 13 };

struct opinions {
	struct journal_refusal refusals[ROWS_MAX];
	struct journal_pool pools[ROWS_MAX];
	char names[ROWS_MAX][PROVIDER_WORD_MAX + 1];
	size_t nrefusals, npools;
};

static int see_refusal(void *ctx, const struct journal_refusal *r, struct err *e)
{
	struct opinions *o = ctx;

	assert_int_equal(o->npools, 0); /* pools come last */
	o->refusals[o->nrefusals++] = *r;
	return r->job == 666 ? err_set(e, ERR_INVALID, "stopped") : 0;
}

static int see_pool(void *ctx, const struct journal_pool *p, struct err *e)
{
	struct opinions *o = ctx;

	(void)snprintf(o->names[o->npools], sizeof(o->names[0]), "%s", p->name);
	o->pools[o->npools++] = *p;
	return strcmp(p->name, "stop") == 0 ? err_set(e, ERR_INVALID, "stopped") : 0;
}

static int try_opinions(struct fixture *f, struct opinions *o)
{
	const struct journal_visitor v = {.refusal = see_refusal, .pool = see_pool, .ctx = o};

	*o = (struct opinions){.nrefusals = 0};
	return journal_load(f->j, &v, NULL);
}

static struct opinions opinions(struct fixture *f)
{
	struct opinions o;

	reopen(f);
	assert_int_equal(try_opinions(f, &o), 0);
	return o;
}

static void put_refusal(struct fixture *f, uint64_t job, uint32_t count, int64_t last_ms)
{
	struct journal_tx *tx = journal_begin(f->j);
	struct journal_refusal r = {job, {count, last_ms, last_ms - 1, 77, 88, 99, job == 8}};

	journal_put_refusal(tx, &r);
	r = (struct journal_refusal){0}; /* effects are copies */
	commit(tx);
}

static void test_refusals(void **state)
{
	struct fixture *f = *state;
	struct opinions o = opinions(f);
	struct journal_tx *tx;

	assert_int_equal(o.nrefusals + o.npools, 0);
	put_refusal(f, 8, 1, 2);
	put_refusal(f, 7, UINT32_MAX, INT64_MAX);
	put_refusal(f, 8, 3, 4); /* replaces it */
	o = opinions(f);
	assert_int_equal(o.nrefusals, 2);
	assert_int_equal(o.refusals[0].job, 7);
	assert_true(o.refusals[0].r.count == UINT32_MAX && o.refusals[0].r.last_ms == INT64_MAX);
	assert_int_equal(o.refusals[1].job, 8);
	assert_true(o.refusals[1].r.count == 3 && o.refusals[1].r.last_ms == 4);
	assert_true(o.refusals[1].r.first_ms == 3 && o.refusals[1].r.wait_ms == 77);
	assert_true(o.refusals[1].r.told_wall_ms == 88 && o.refusals[1].r.had_wall_ms == 99);
	assert_true(o.refusals[1].r.money && !o.refusals[0].r.money);
	tx = journal_begin(f->j);
	journal_del_refusal(tx, 7);
	journal_del_refusal(tx, 99); /* not there */
	commit(tx);
	o = opinions(f);
	assert_int_equal(o.nrefusals, 1);
	assert_int_equal(o.refusals[0].job, 8);
}

static void put_pool(struct fixture *f, const char *name, bool paused, struct breaker b)
{
	struct journal_tx *tx = journal_begin(f->j);
	struct journal_pool p = {
		.name = name, .paused = paused, .breaker = b, .paused_ms = paused ? INT64_MAX : 0};

	(void)snprintf(p.by, sizeof(p.by), "%s", paused ? "uid 1000" : "");
	journal_put_pool(tx, &p);
	p = (struct journal_pool){0}; /* effects are copies */
	commit(tx);
}

static void test_pools(void **state)
{
	struct fixture *f = *state;
	struct opinions o;

	put_pool(f, "h100", false, (struct breaker){UINT32_MAX, INT64_MAX - 1, INT64_MAX});
	put_pool(f, "a100", true, (struct breaker){0});
	put_pool(f, "a100", true, (struct breaker){1, 2, 3}); /* replaces it */
	o = opinions(f);
	assert_int_equal(o.npools, 2);
	assert_string_equal(o.names[0], "a100");
	assert_true(o.pools[0].paused);
	assert_string_equal(o.pools[0].by, "uid 1000");
	assert_true(o.pools[0].paused_ms == INT64_MAX);
	assert_int_equal(o.pools[0].breaker.waves, 1);
	assert_int_equal(o.pools[0].breaker.last_ms, 2);
	assert_int_equal(o.pools[0].breaker.until_ms, 3);
	assert_string_equal(o.names[1], "h100");
	assert_false(o.pools[1].paused);
	assert_string_equal(o.pools[1].by, "");
	assert_true(o.pools[1].paused_ms == 0);
	assert_true(o.pools[1].breaker.waves == UINT32_MAX);
	assert_true(o.pools[1].breaker.last_ms == INT64_MAX - 1);
	assert_true(o.pools[1].breaker.until_ms == INT64_MAX);
}

/* A visit that does not want to go on ends the load. */
static void test_stopped(void **state)
{
	struct fixture *f = *state;
	struct opinions o;

	put_refusal(f, 666, 1, 1);
	put_refusal(f, 667, 1, 1);
	put_pool(f, "stop", true, (struct breaker){0});
	assert_int_equal(try_opinions(f, &o), -1);
	assert_int_equal(o.nrefusals, 1);
	assert_int_equal(o.npools, 0);
	assert_int_equal(sql(f, "DELETE FROM refusal"), SQLITE_OK);
	assert_int_equal(try_opinions(f, &o), -1);
	assert_int_equal(o.npools, 1);
}

static void test_damaged(void **state)
{
	static const char *const rows[][2] = {
		{"INSERT INTO refusal VALUES (7, -1, 5, 0, 0, 0, 0, 0)", "DELETE FROM refusal"},
		{"INSERT INTO refusal VALUES (7, 'x', 5, 0, 0, 0, 0, 0)", "DELETE FROM refusal"},
		{"INSERT INTO refusal VALUES (7, 1, 5, 'x', 0, 0, 0, 0)", "DELETE FROM refusal"},
		{"INSERT INTO refusal VALUES (7, 1, 5, 0, -1, 0, 0, 0)", "DELETE FROM refusal"},
		{"INSERT INTO refusal VALUES (7, 1, 5, 0, 0, -1, 0, 0)", "DELETE FROM refusal"},
		{"INSERT INTO refusal VALUES (7, 1, 5, 0, 0, 0, -1, 0)", "DELETE FROM refusal"},
		{"INSERT INTO pool VALUES ('p', 2, 0, 0, 0, '', 0)", "DELETE FROM pool"},
		{"INSERT INTO pool VALUES ('p', 1, 4294967296, 0, 0, '', 0)", "DELETE FROM pool"},
		{"INSERT INTO pool VALUES ('p', 1, 0, 'soon', 0, '', 0)", "DELETE FROM pool"},
		{"INSERT INTO pool VALUES ('p', 1, 0, 0, 0, '', -1)", "DELETE FROM pool"},
	};
	struct fixture *f = *state;
	struct opinions o;

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		assert_int_equal(sql(f, rows[i][0]), SQLITE_OK);
		assert_int_equal(try_opinions(f, &o), -1);
		assert_int_equal(o.nrefusals + o.npools, 0);
		assert_int_equal(sql(f, rows[i][1]), SQLITE_OK);
	}
	assert_int_equal(try_opinions(f, &o), 0);
}

/* A file as the first burstd left it, with a node in it. */
static void make_old(struct fixture *f)
{
	close_journal(f);
	assert_int_equal(unlink(f->path), 0);
	assert_int_equal(sql(f, schema_steps[0]), SQLITE_OK);
	assert_int_equal(sql(f, "PRAGMA user_version = 1"), SQLITE_OK);
	assert_int_equal(
		sql(f, "INSERT INTO node VALUES ('c1', 3, 0, 'h100', 'ready', '', 0, 0, 0, 0, 1, "
		       "0, 0, 'i-1', '10.0.0.1', 5, 1, 2, 3, 4, 5, 6, 0);"
		       "INSERT INTO meta VALUES ('last_batch', 42);"
		       "INSERT INTO usage VALUES ('c1', 2, 'i-0', 'h100', 1, 2, 5, 77)"),
		SQLITE_OK);
	open_journal(f, true);
}

/* Paused by a burstd that did not write down who did it. */
static void test_old_pause(void **state)
{
	struct fixture *f = *state;
	struct opinions o;

	close_journal(f);
	assert_int_equal(unlink(f->path), 0);
	for (int i = 0; i < 4; i++)
		assert_int_equal(sql(f, schema_steps[i]), SQLITE_OK);
	assert_int_equal(sql(f, "PRAGMA user_version = 4"), SQLITE_OK);
	assert_int_equal(sql(f, "INSERT INTO pool VALUES ('h100', 1, 2, 3, 4)"), SQLITE_OK);
	open_journal(f, true);
	o = opinions(f);
	assert_int_equal(o.npools, 1);
	assert_true(o.pools[0].paused && o.pools[0].breaker.until_ms == 4);
	assert_string_equal(o.pools[0].by, "");
	assert_true(o.pools[0].paused_ms == 0);
}

static void test_old_file(void **state)
{
	struct fixture *f = *state;
	struct opinions o;
	struct seen *s;

	make_old(f);
	for (int again = 0; again < 2; again++) { /* taken over once, and for good */
		s = load(f);
		assert_int_equal(s->nnodes, 1);
		assert_string_equal(s->nodes[0].name, "c1");
		assert_int_equal(s->nodes[0].gen, 3);
		assert_int_equal(s->nodes[0].state, NODE_READY);
		assert_string_equal(s->nodes[0].instance, "i-1");
		assert_int_equal(s->nodes[0].job, 0); /* nobody knew */
		assert_int_equal(s->nspent, 1);
		assert_int_equal(s->spent[0], 77);
		assert_int_equal(number(f, "last_batch"), 42);
		forget(s);
		o = opinions(f);
		assert_int_equal(o.nrefusals + o.npools, 0);
	}
	put_refusal(f, 7, 1, 2);
	put_pool(f, "h100", true, (struct breaker){0});
	o = opinions(f);
	assert_true(o.nrefusals == 1 && o.npools == 1);
}

/* --- calls were in it until step 13 ------------------------------------------------------------
 */

static int on_cell(void *ctx, int n, char **values, char **names)
{
	struct str *s = ctx;

	for (int i = 0; i < n; i++)
		str_addf(s, "%s=%s ", names[i], values[i] != NULL ? values[i] : "NULL");
	str_adds(s, "\n");
	return 0;
}

static int on_table(void *ctx, int n, char **values, char **names)
{
	struct str *s = ctx;

	(void)n;
	(void)names;
	str_addf(s, "%s ", values[0]);
	return 0;
}

/* All that is in the file, but `call`. */
static char *all_of(const struct fixture *f)
{
	struct str names, s;
	char *table, *next;
	sqlite3 *db;

	str_init(&names, 4096);
	str_init(&s, 1 << 20);
	assert_int_equal(sqlite3_open(f->path, &db), SQLITE_OK);
	assert_int_equal(sqlite3_exec(db,
				      "SELECT name FROM sqlite_master WHERE type = 'table'"
				      " AND name <> 'call' ORDER BY name",
				      on_table, &names, NULL),
			 SQLITE_OK);
	for (table = strtok_r(names.p, " ", &next); table != NULL;
	     table = strtok_r(NULL, " ", &next)) {
		char text[200];

		str_addf(&s, "%s:\n", table);
		(void)snprintf(text, sizeof(text), "SELECT * FROM %s%s", table,
			       strcmp(table, "sqlite_sequence") == 0 ? " WHERE name <> 'call'"
								     : "");
		assert_int_equal(sqlite3_exec(db, text, on_cell, &s, NULL), SQLITE_OK);
	}
	assert_int_equal(sqlite3_exec(db,
				      "SELECT type, name, tbl_name, sql FROM sqlite_master"
				      " WHERE tbl_name <> 'call' ORDER BY name",
				      on_cell, &s, NULL),
			 SQLITE_OK);
	sqlite3_close(db);
	str_fini(&names);
	return str_take(&s);
}

static int64_t ask(const struct fixture *f, const char *text)
{
	sqlite3_stmt *st;
	sqlite3 *db;
	int64_t v;

	assert_int_equal(sqlite3_open(f->path, &db), SQLITE_OK);
	assert_int_equal(sqlite3_prepare_v2(db, text, -1, &st, NULL), SQLITE_OK);
	assert_int_equal(sqlite3_step(st), SQLITE_ROW);
	v = sqlite3_column_int64(st, 0);
	(void)sqlite3_finalize(st);
	sqlite3_close(db);
	return v;
}

/* A file of version 12, with something in each table; two calls wait, a third is over. */
static void make_12(struct fixture *f)
{
	close_journal(f);
	assert_int_equal(unlink(f->path), 0);
	for (int i = 0; i < WITH_CALLS; i++)
		assert_int_equal(sql(f, schema_steps[i]), SQLITE_OK);
	assert_int_equal(
		sql(f,
		    "PRAGMA user_version = 12;"
		    "INSERT INTO call VALUES (1, 5, 'resume', 0, 0, 'c1', x'7b007d'),"
		    " (2, 6, 'suspend', 1, 1, 'c2', NULL), (3, 7, 'resume', 0, 0, '', x'');"
		    "DELETE FROM call WHERE seq = 3;"
		    "INSERT INTO meta VALUES ('last_batch', 42);"
		    "INSERT INTO node VALUES ('c1', 3, 0, 'h100', 'ready', '', 0, 0, 0, 0, 1, "
		    "0, 0, 'i-1', '10.0.0.1', 5, 1, 2, 3, 4, 5, 6, 0, 9, 'o', 'aws', 'spot', "
		    "'faulty', 7, 8, 9);"
		    "INSERT INTO batch VALUES (1, 0, 't', 'h100', 5, 6, 'o', 'aws');"
		    "INSERT INTO event VALUES (4, 1, 'c1', 3, 'created', 'a detail');"
		    "INSERT INTO usage VALUES ('c1', 2, 'i-0', 'h100', 1, 2, 5, 77);"
		    "INSERT INTO refusal VALUES (9, 2, 3, 4, 5, 6, 7);"
		    "INSERT INTO pool VALUES ('h100', 1, 2, 3, 4, 'root', 5);"
		    "INSERT INTO rescue VALUES (7, '7_1', 'c1', 3, 5, 'gone', 'c1', 0, 0);"
		    "INSERT INTO claim VALUES ('c1', 3, 0, 'id', 'expired', 'time', 0, 0, 0, 0, "
		    "0, '', '', '', '', 0, 1, 2, 3, 0, 'a', 1);"
		    "INSERT INTO voucher VALUES ('c1', 3, 0, 'made', 't', 'a', 1, 8, 'h', 1, 2, 3);"
		    "INSERT INTO audit VALUES (1, 1, 'hook', 'create', 'cloud', 'c1', '', '', "
		    "'0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef');"
		    "INSERT INTO audit_mark VALUES ('head', 1, "
		    "'0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef')"),
		SQLITE_OK);
}

static void test_calls_of_before(void **state)
{
	const struct db_kind next = {.steps = schema_steps, .nsteps = WITHOUT_CALLS};
	struct fixture *f = *state;
	char *before, *after;
	struct seen *s;
	struct db *d;
	bool existed;

	make_12(f);
	before = all_of(f);
	assert_non_null(strstr(before, "a detail"));
	for (int again = 0; again < 2; again++) {
		assert_int_equal(db_open(&d, f->path, &next, &existed, NULL), 0);
		db_close(d);
		after = all_of(f);
		assert_string_equal(after, before);
		free(after);
		assert_int_equal(ask(f, "PRAGMA user_version"), WITHOUT_CALLS);
		assert_int_equal(ask(f, "SELECT count(*) FROM sqlite_master"
					" WHERE tbl_name = 'call'"),
				 0);
		assert_int_equal(ask(f, "SELECT count(*) FROM sqlite_sequence"
					" WHERE name = 'call'"),
				 0);
	}
	free(before);
	open_journal(f, true);
	s = load(f);
	assert_int_equal(s->nnodes + s->nbatches + s->nspent, 3);
	assert_string_equal(s->nodes[0].stale_addr, ""); /* nobody knew */
	forget(s);
	assert_int_equal(journal_last_event(f->j), 4);
}

/* F60: a burstd that would look for calls there does not open it, and leaves it as it is. */
static void test_before_calls_were_gone(void **state)
{
	const struct db_kind before = {.steps = schema_steps, .nsteps = WITH_CALLS};
	struct fixture *f = *state;
	struct err e = {0};
	char *was, *is, newer[96];
	struct db *d;
	bool existed;

	fill(f);
	close_journal(f);
	was = all_of(f);
	assert_int_equal(db_open(&d, f->path, &before, &existed, &e), -1);
	assert_null(d);
	assert_int_equal(e.code, ERR_INVALID);
	(void)snprintf(newer, sizeof(newer),
		       ": schema %d is from a newer burstd; this one knows 12 at most",
		       SCHEMA_STEPS);
	assert_non_null(strstr(e.msg, newer));
	is = all_of(f);
	assert_string_equal(is, was);
	assert_int_equal(ask(f, "PRAGMA user_version"), SCHEMA_STEPS);
	free(was);
	free(is);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_refusals),        TEST(test_pools),
		TEST(test_stopped),         TEST(test_damaged),
		TEST(test_old_file),        TEST(test_old_pause),
		TEST(test_calls_of_before), TEST(test_before_calls_were_gone),
	};

	return cmocka_run_group_tests_name("journal_pools", tests, NULL, NULL);
}
