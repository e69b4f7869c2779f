/* test_ledger.c - the ledger's database: what is read twice, what only reads, and what is not a
 * ledger.
 */
#include "store/ledger.h"

#include "fixture.h"
#include "store/ledger_attempts.h"
#include "store/ledger_facts.h"
#include "store/ledger_postings.h"

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

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_words_and_dims),
		TEST(test_no_ledger),
		TEST(test_rollback),
		TEST(test_attempts),
	};

	return cmocka_run_group_tests_name("store, ledger", tests, NULL, NULL);
}
