/* Statements of db.h: prepared once, and found again by the address of their text. */
#include "store/db.h"

#include <stdint.h>

#include "fixture.h"

enum { TEXTS = 120 }; /* almost as many as there may be: some share a slot */

struct many {
	char sql[TEXTS][24];
	struct sqlite3_stmt *st[TEXTS];
};

static struct db *open_db(const struct fixture *f)
{
	static const char *const steps[] = {"CREATE TABLE t (a)"};
	static const struct db_kind kind = {.steps = steps, .nsteps = 1};
	struct err e = {0};
	struct db *d;
	char path[96];
	bool existed;

	(void)snprintf(path, sizeof(path), "%s/other.db", f->dir);
	if (db_open(&d, path, &kind, &existed, &e) < 0)
		fail_msg("%s", e.msg);
	return d;
}

static void close_db(const struct fixture *f, struct db *d)
{
	static const char *const suffixes[] = {"", "-wal", "-shm"};
	char path[96];

	db_close(d);
	for (size_t i = 0; i < sizeof(suffixes) / sizeof(suffixes[0]); i++) {
		(void)snprintf(path, sizeof(path), "%s/other.db%s", f->dir, suffixes[i]);
		(void)unlink(path);
	}
}

static int64_t answer(struct db *d, struct sqlite3_stmt *st)
{
	struct db_cursor c = {.st = st};
	int64_t v;

	assert_int_equal(db_step(d, st, NULL), 1);
	v = db_get_int(&c, INT64_MIN, INT64_MAX);
	db_reset(st);
	return v;
}

static void test_each_text_has_its_statement(void **state)
{
	struct fixture *f = *state;
	struct db *d = open_db(f);
	struct many *m = mem_zalloc(sizeof(*m));

	for (int i = 0; i < TEXTS; i++) {
		(void)snprintf(m->sql[i], sizeof(m->sql[i]), "SELECT %d", i);
		m->st[i] = db_stmt(d, m->sql[i], NULL);
		assert_non_null(m->st[i]);
	}
	for (int i = 0; i < TEXTS; i++) {
		assert_ptr_equal(db_stmt(d, m->sql[i], NULL), m->st[i]);
		assert_int_equal(answer(d, m->st[i]), i);
	}
	close_db(f, d);
	free(m);
}

/* A statement that does not fit the tables is damage (F55), and is tried again when it is wanted
 * again. */
static void test_a_statement_that_does_not_fit_is_damage(void **state)
{
	static const char sql_of_b[] = "SELECT b FROM t", sql_add_b[] = "ALTER TABLE t ADD b";
	struct fixture *f = *state;
	struct db *d = open_db(f);
	struct err e = {0};

	assert_null(db_stmt(d, sql_of_b, &e));
	assert_int_equal(e.code, ERR_DAMAGED);
	assert_true(db_was_damaged(d));
	assert_int_equal(db_step(d, db_stmt(d, sql_add_b, NULL), NULL), 0);
	assert_non_null(db_stmt(d, sql_of_b, NULL));
	close_db(f, d);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_each_text_has_its_statement, setup, teardown),
		cmocka_unit_test_setup_teardown(test_a_statement_that_does_not_fit_is_damage, setup,
						teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
