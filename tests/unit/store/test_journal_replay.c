/* What a start reads, when it cannot be read: each time the load stops and says so, and nothing is
 * made up in its place (F55).  Damaged rows: test_journal_crash.c, test_journal_pools.c. */
#include "fixture.h"
#include "store/journal_jobs.h"
#include "store/journal_pools.h"

static int nothing_pool(void *ctx, const struct journal_pool *p, struct err *e)
{
	(void)ctx;
	(void)p;
	(void)e;
	return 0;
}

static int nothing_refusal(void *ctx, const struct journal_refusal *r, struct err *e)
{
	(void)ctx;
	(void)r;
	(void)e;
	return 0;
}

static int right_rescue(void *ctx, const struct journal_rescue *r, struct err *e)
{
	(void)ctx;
	(void)e;
	assert_int_equal(r->job, 7);
	assert_string_equal(r->id, "7_1");
	assert_string_equal(r->node, "c1");
	assert_string_equal(r->why, "gone");
	return 0;
}

static int load_all(struct fixture *f, struct err *e)
{
	struct seen *s = mem_zalloc(sizeof(*s));
	const struct journal_visitor v = {.node = see_node,
					  .batch = see_batch,
					  .spent = see_spent,
					  .refusal = nothing_refusal,
					  .pool = nothing_pool,
					  .rescue = right_rescue,
					  .ctx = s};
	int rc = journal_load(f->j, &v, e);

	forget(s);
	return rc;
}

/* A table that was lost while nobody looked, and one that is lost between two loads. */
static void test_a_lost_table_stops_the_load(void **state)
{
	static const char *const tables[] = {"batch", "node", "usage", "refusal", "pool", "rescue"};

	for (size_t i = 0; i < 2 * sizeof(tables) / sizeof(tables[0]); i++) {
		struct err e = {0};
		struct fixture *f;
		char drop[64];

		teardown(state);
		setup(state);
		f = *state;
		fill(f);
		if (i % 2 == 1)
			assert_int_equal(load_all(f, &e), 0);
		(void)snprintf(drop, sizeof(drop), "DROP TABLE %s", tables[i / 2]);
		assert_int_equal(sql(f, drop), SQLITE_OK);
		assert_int_equal(load_all(f, &e), -1);
		assert_non_null(strstr(e.msg, tables[i / 2]));
	}
}

static void test_a_bill_of_no_pool_stops_the_load(void **state)
{
	struct fixture *f = *state;
	struct err e = {0};

	fill(f);
	assert_int_equal(sql(f, "UPDATE usage SET pool = hex(zeroblob(100))"), SQLITE_OK);
	assert_int_equal(load_all(f, &e), -1);
	assert_non_null(strstr(e.msg, "damaged"));
	assert_non_null(strstr(e.msg, "usage"));
}

static void test_a_job_that_lost_its_node_is_right_or_stops_the_load(void **state)
{
	static const char *const rows[] = {
		"INSERT INTO rescue VALUES (7, hex(zeroblob(200)), 'c1', 1, 5, 'gone', 'c1', 0, 0)",
		"INSERT INTO rescue VALUES (7, '7_1', 'c1', 1, 'soon', 'gone', 'c1', 0, 0)",
		"INSERT INTO rescue VALUES (7, '7_1', 'c1', 1, 5, 'gone', 'c1', 3, 0)",
		"INSERT INTO rescue VALUES (7, '7_1', 'c1', 1, 5, 'gone', 'c1', 0, -1)",
		"DROP TABLE rescue; CREATE TABLE rescue (job BIGINT, id TEXT, node TEXT,"
		"  gen BIGINT, at_ms BIGINT, why TEXT, nodes TEXT, signal INTEGER, hold_ms BIGINT);"
		"INSERT INTO rescue VALUES (7, '7_1', NULL, 1, 5, 'gone', 'c1', 0, 0)",
	};
	struct fixture *f = *state;
	struct err e = {0};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		assert_int_equal(sql(f, rows[i]), SQLITE_OK);
		assert_int_equal(load_all(f, &e), -1);
		assert_non_null(strstr(e.msg, "table rescue has a malformed row"));
		assert_int_equal(sql(f, "DELETE FROM rescue"), SQLITE_OK);
	}
	assert_int_equal(
		sql(f, "INSERT INTO rescue VALUES (7, '7_1', 'c1', 1, 5, 'gone', 'c1', 0, 0)"),
		SQLITE_OK);
	assert_int_equal(load_all(f, &e), 0);
}

/* What a record says may be wrong, and test_chain.c has that; but there must be a place for more.
 */
static void test_a_lost_audit_log_stops_the_start(void **state)
{
	static const char *const tables[] = {"audit", "audit_mark"};

	for (size_t i = 0; i < sizeof(tables) / sizeof(tables[0]); i++) {
		struct err e = {0};
		struct fixture *f;
		char text[64];
		bool existed;

		teardown(state);
		setup(state);
		f = *state;
		close_journal(f);
		(void)snprintf(text, sizeof(text), "DROP TABLE %s", tables[i]);
		assert_int_equal(sql(f, text), SQLITE_OK);
		assert_int_equal(journal_open(&f->j, f->path, &existed, &e), -1);
		assert_null(f->j);
		assert_non_null(strstr(e.msg, "no such table: audit"));
	}
}

/* Numbers that must never come twice: a lost one is not 0. */
static void test_a_number_is_right_or_not_given(void **state)
{
	struct fixture *f = *state;
	struct journal_tx *tx = journal_begin(f->j);
	struct err e = {0};
	int64_t v = 7;

	journal_put_number(tx, "last", 41);
	commit(tx);
	assert_int_equal(number(f, "last"), 41);
	assert_int_equal(number(f, "first"), 0);
	assert_int_equal(sql(f, "UPDATE meta SET value = 'many'"), SQLITE_OK);
	assert_int_equal(journal_get_number(f->j, "last", &v, &e), -1);
	assert_non_null(strstr(e.msg, "damaged"));
	assert_int_equal(sql(f, "DROP TABLE meta"), SQLITE_OK);
	assert_int_equal(journal_get_number(f->j, "last", &v, &e), -1);
	assert_non_null(strstr(e.msg, "meta"));
	reopen(f);
	assert_int_equal(journal_get_number(f->j, "last", &v, &e), -1);
	assert_int_equal(v, 0);
}

static void test_events_are_right_or_not_given(void **state)
{
	struct fixture *f = *state;
	struct page p = {0};
	struct err e = {0};

	fill(f);
	assert_int_equal(events(f, 0, NULL, 10).n, 1);
	assert_int_equal(sql(f, "INSERT INTO event VALUES (2, 'noon', 'c1', 1, 'type', 'x')"),
			 SQLITE_OK);
	assert_int_equal(journal_events(f->j, 0, NULL, 10, see_event, &p, &e), -1);
	assert_int_equal(p.n, 1);
	assert_non_null(strstr(e.msg, "damaged"));
	assert_int_equal(sql(f, "DROP TABLE event"), SQLITE_OK);
	assert_int_equal(journal_events(f->j, 0, NULL, 10, see_event, &p, &e), -1);
	assert_int_equal(journal_events(f->j, 0, "c1", 10, see_event, &p, &e), -1);
	assert_non_null(strstr(e.msg, "event"));
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		TEST(test_a_lost_table_stops_the_load),
		TEST(test_a_bill_of_no_pool_stops_the_load),
		TEST(test_a_job_that_lost_its_node_is_right_or_stops_the_load),
		TEST(test_a_lost_audit_log_stops_the_start),
		TEST(test_a_number_is_right_or_not_given),
		TEST(test_events_are_right_or_not_given),
	};

	return cmocka_run_group_tests_name("journal_replay", tests, NULL, NULL);
}
