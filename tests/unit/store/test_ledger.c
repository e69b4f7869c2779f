/* test_ledger.c - the ledger's database: what is read twice, what only reads, and what is not a
 * ledger.
 */
#include "store/ledger.h"

#include "fixture.h"
#include "store/ledger_attempts.h"
#include "store/ledger_facts.h"
#include "store/ledger_postings.h"
#include "store/ledger_spenders.h"

static char *path_of(const struct fixture *f)
{
	static char path[80];

	(void)snprintf(path, sizeof(path), "%s/ledger.db", f->dir);
	return path;
}

static struct ledger *open_it(const struct fixture *f)
{
	struct ledger *l;
	struct err e = {0};

	if (ledger_open(&l, path_of(f), &e) < 0)
		fail_msg("%s", e.msg);
	return l;
}

static void close_it(const struct fixture *f, struct ledger *l)
{
	static const char *const suffixes[] = {"", "-wal", "-shm"};
	char path[96];

	ledger_close(l);
	for (size_t i = 0; i < sizeof(suffixes) / sizeof(suffixes[0]); i++) {
		(void)snprintf(path, sizeof(path), "%s%s", path_of(f), suffixes[i]);
		unlink(path);
	}
}

static void test_words_and_dims(void **state)
{
	const struct fixture *f = *state;
	struct ledger *l = open_it(f), *reader;
	const struct ledger_dims d = {"a", "u", "p", "q", "w", "pr", "spot", "pool", "type", "EUR"};
	struct err e = {0};
	int64_t a, b, c;
	char *text;

	assert_int_equal(ledger_begin(l, &e), 0);
	assert_int_equal(ledger_word(l, "physics", &a, &e), 0);
	assert_int_equal(ledger_word(l, "physics ", &b, &e), 0);
	assert_int_equal(ledger_word(l, "physics", &c, &e), 0);
	assert_true(a == c && a != b && a > 0);
	assert_int_equal(ledger_text(l, a, &text, &e), 0);
	assert_string_equal(text, "physics");
	free(text);
	assert_int_equal(ledger_dims_id(l, &d, &a, &e), 0);
	assert_int_equal(ledger_dims_id(l, &d, &b, &e), 0);
	assert_true(a == b && a > 0);
	assert_int_equal(ledger_commit(l, &e), 0);
	/* Who only reads makes no numbers, and sees one moment. */
	assert_int_equal(ledger_open_to_read(&reader, path_of(f), &e), 0);
	assert_int_equal(ledger_begin(reader, &e), 0);
	assert_int_equal(ledger_word(reader, "physics", &a, &e), 0);
	assert_true(a > 0);
	assert_int_equal(ledger_word(reader, "new", &a, &e), 0);
	assert_int_equal(a, 0);
	assert_int_equal(ledger_put_note(l, "key", "text", &e), 0);
	assert_int_equal(ledger_note(reader, "key", &text, &e), 0);
	assert_string_equal(text, "");
	free(text);
	ledger_rollback(reader);
	assert_int_equal(ledger_note(reader, "key", &text, &e), 0);
	assert_string_equal(text, "text");
	free(text);
	assert_int_equal(ledger_put_number(reader, "key", 5, &e), -1);
	ledger_close(reader);
	close_it(f, l);
}

static void test_no_ledger(void **state)
{
	const struct fixture *f = *state;
	struct ledger *l = NULL;
	struct err e = {0};

	assert_int_equal(ledger_open_to_read(&l, path_of(f), &e), -1);
	assert_null(l);
	assert_int_equal(access(path_of(f), F_OK), -1); /* it is not made */
	/* A journal is none: it has more steps than a ledger. */
	assert_int_equal(ledger_open_to_read(&l, f->path, &e), -1);
	assert_int_equal(ledger_open(&l, f->path, &e), -1);
	assert_int_equal(e.code, ERR_INVALID);
}

/* A transaction that is taken back leaves nothing. */
static void test_rollback(void **state)
{
	const struct fixture *f = *state;
	struct ledger *l = open_it(f);
	struct err e = {0};
	int64_t v;

	assert_int_equal(ledger_begin(l, &e), 0);
	assert_int_equal(ledger_put_number(l, "x", 7, &e), 0);
	assert_int_equal(ledger_put_life(l,
					 &(struct fact_life){.node = "c1",
							     .kind = "created",
							     .instance = "i",
							     .gen = 1,
							     .at_ms = 5},
					 &e),
			 0);
	ledger_rollback(l);
	assert_int_equal(ledger_number(l, "x", &v, &e), 0);
	assert_int_equal(v, 0);
	assert_int_equal(ledger_first_fact(l, &v, &e), 0);
	assert_int_equal(v, 0);
	close_it(f, l);
}

static int count(void *ctx, const struct ledger_attempt *a, struct err *e)
{
	(void)e;
	assert_int_equal(a->dbindex, UINT64_C(10738419821034504192));
	++*(int *)ctx;
	return 0;
}

/* Nodes, times, and numbers of 64 bits. */
static void test_attempts(void **state)
{
	const struct fixture *f = *state;
	struct ledger *l = open_it(f);
	const char *const nodes[] = {"c1", "c2"};
	const struct ledger_attempt a = {.job = 7,
					 .start_s = 100,
					 .end_s = 200,
					 .dbindex = UINT64_C(10738419821034504192),
					 .job_id = "7",
					 .name = "",
					 .state = "COMPLETED",
					 .account = "",
					 .user = "",
					 .partition = "",
					 .qos = "",
					 .wckey = "",
					 .source = "sacct"};
	const struct {
		const char *node;
		int64_t from, to;
		int n;
	} rows[] = {{"c1", 0, 101, 1},
		    {"c2", 100, 101, 1},
		    {"c1", 0, 100, 0},
		    {"c1", 101, 500, 0},
		    {"c3", 0, 500, 0}};
	struct err e = {0};
	int64_t id, again;

	assert_int_equal(ledger_put_attempt(l, &a, nodes, 2, &id, &e), 0);
	assert_int_equal(ledger_put_attempt(l, &a, nodes, 2, &again, &e), 0);
	assert_true(id == again);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		int n = 0;

		assert_int_equal(ledger_attempts_on(l, rows[i].node, rows[i].from, rows[i].to,
						    count, &n, &e),
				 0);
		assert_int_equal(n, rows[i].n);
	}
	close_it(f, l);
}

static int64_t compared_from(struct ledger *l)
{
	struct err e = {0};
	int64_t day;

	assert_int_equal(ledger_number(l, LEDGER_AGREE_JOBS, &day, &e), 0);
	return day;
}

static void set_stays(struct ledger *l, const struct ledger_stay *v, size_t n)
{
	struct err e = {0};

	assert_int_equal(ledger_begin(l, &e), 0);
	assert_int_equal(ledger_put_number(l, LEDGER_AGREE_JOBS, 0, &e), 0);
	assert_int_equal(ledger_set_stays(l, &(struct ledger_stays){3, v, n}, &e), 0);
	assert_int_equal(ledger_commit(l, &e), 0);
}

static int see_both(void *ctx, const struct ledger_job_both *b, struct err *e)
{
	int64_t *sum = ctx;

	(void)e;
	*sum += b->bill;
	return 0;
}

/* The first day on which anything was, or is, is compared again; a damaged row is told. */
static void test_days_that_are_replaced(void **state)
{
	const struct ledger_stay v[] = {{.day = 5, .spender = 1, .bill = 10, .high = 20},
					{.day = 7, .spender = 1, .bill = 30, .high = 40},
					{.day = 4, .spender = 1, .bill = 50, .high = 60}};
	const struct fixture *f = *state;
	struct ledger *l = open_it(f);
	int64_t sum = 0;
	struct err e = {0};
	sqlite3 *db;

	set_stays(l, v, 2);
	assert_int_equal(compared_from(l), 5);
	set_stays(l, v, 2); /* nothing new */
	assert_int_equal(compared_from(l), 0);
	set_stays(l, v + 1, 1); /* it had the fifth */
	assert_int_equal(compared_from(l), 5);
	set_stays(l, v + 2, 1);
	assert_int_equal(compared_from(l), 4);
	set_stays(l, NULL, 0);
	assert_int_equal(compared_from(l), 4);
	/* An earlier day than is due already counts, a later one does not. */
	assert_int_equal(ledger_begin(l, &e), 0);
	assert_int_equal(ledger_compare_jobs_from(l, 9, &e), 0);
	assert_int_equal(compared_from(l), 4);
	assert_int_equal(ledger_compare_jobs_from(l, 2, &e), 0);
	assert_int_equal(compared_from(l), 2);
	assert_int_equal(ledger_commit(l, &e), 0);
	set_stays(l, v, 2);
	assert_int_equal(ledger_job_both(l, 0, 0, see_both, &sum, &e), 0);
	assert_int_equal(sum, 40);
	assert_int_equal(sqlite3_open(path_of(f), &db), SQLITE_OK);
	assert_int_equal(
		sqlite3_exec(db, "UPDATE stay SET day = 'x' WHERE day = 7", NULL, NULL, NULL),
		SQLITE_OK);
	sqlite3_close(db);
	assert_int_equal(ledger_job_both(l, 0, 0, see_both, &sum, &e), -1);
	assert_int_equal(e.code, ERR_DAMAGED);
	close_it(f, l);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_words_and_dims), TEST(test_days_that_are_replaced),
		TEST(test_no_ledger),      TEST(test_rollback),
		TEST(test_attempts),
	};

	return cmocka_run_group_tests_name("store, ledger", tests, NULL, NULL);
}
