/* Facts: each as it was written, in order, and never changed. */
#include "store/journal_life.h"

#include <string.h>

#include <sqlite3.h>

#include "fixture.h"

static int on_row(void *ctx, int n, char **v, char **names)
{
	char *to = ctx;

	(void)names;
	for (int i = 0; i < n; i++) {
		size_t at = strlen(to);

		(void)snprintf(to + at, 600 - at, "%s%s", v[i], i < n - 1 ? " " : ";");
	}
	return 0;
}

static const char *rows(const struct fixture *f, const char *query, char out[600])
{
	sqlite3 *db;

	out[0] = '\0';
	assert_int_equal(sqlite3_open(f->path, &db), SQLITE_OK);
	assert_int_equal(sqlite3_exec(db, query, on_row, out, NULL), SQLITE_OK);
	sqlite3_close(db);
	return out;
}

static struct journal_life life(enum life_kind kind, int64_t at, int64_t said)
{
	return (struct journal_life){.node = "c1",
				     .instance = "i-1",
				     .gen = UINT64_MAX,
				     .step = {kind, at, said},
				     .rate_nano_h = 98};
}

static void test_lives(void **state)
{
	struct fixture *f = *state;
	struct journal_tx *tx = journal_begin(f->j);
	struct journal_life l = life(LIFE_CREATED, 5, 4);
	char out[600];

	journal_put_life(tx, &l);
	l = life(LIFE_ENDED, 9, 0);
	journal_put_life(tx, &l);
	journal_put_life(tx, &l); /* twice is two rows: a reader knows what to make of it */
	commit(tx);
	assert_string_equal(
		rows(f,
		     "SELECT seq, node, gen, kind, instance, at_ms, said_ms, rate_nano_h FROM life",
		     out),
		"1 c1 -1 created i-1 5 4 98;2 c1 -1 ended i-1 9 0 98;3 c1 -1 ended i-1 9 0 98;");
}

static void test_machines(void **state)
{
	struct fixture *f = *state;
	struct journal_tx *tx = journal_begin(f->j);
	struct journal_machine m = {.node = "c1",
				    .gen = 3,
				    .at_ms = 7,
				    .pool = "h100",
				    .provider = "aws",
				    .offer = "spot",
				    .type = "p5",
				    .region = "eu",
				    .zone = "a",
				    .market = "spot",
				    .currency = "EUR",
				    .quantum_ms = 60000,
				    .minimum_ms = 120000,
				    .cpus = 96,
				    .gpus = 8,
				    .memory_mb = 2000000};
	char out[600];

	journal_put_machine(tx, &m);
	m.pool = "other";
	journal_put_machine(tx, &m); /* what was bought does not change */
	journal_put_buyer(tx, "c1", 3, 11);
	journal_put_buyer(tx, "c1", 3, 10);
	journal_put_buyer(tx, "c1", 3, 11);
	commit(tx);
	assert_string_equal(rows(f, "SELECT * FROM machine", out),
			    "c1 3 7 h100 aws spot p5 eu a spot EUR 60000 120000 96 2000000 8;");
	assert_string_equal(rows(f, "SELECT * FROM buyer", out), "c1 3 10;c1 3 11;");
}

static void test_jobs(void **state)
{
	struct fixture *f = *state;
	struct journal_tx *tx = journal_begin(f->j);
	struct payer p = {.id = "7_2",
			  .account = "physics",
			  .user = "ann",
			  .partition = "gpu",
			  .qos = "normal",
			  .wckey = "w|1",
			  .limit_s = PAYER_UNLIMITED,
			  .nodes = 2,
			  .cpus = 192,
			  .node_gpus = 8};
	char out[600];

	journal_put_job_said(tx, 5, 4711, &p);
	commit(tx);
	assert_string_equal(rows(f, "SELECT * FROM job_said", out),
			    "1 5 4711 7_2 physics ann gpu normal w|1 -1 2 192 0 16;");
}

static void test_never_changed(void **state)
{
	static const char *const updates[] = {
		"UPDATE life SET at_ms = 1",
		"UPDATE machine SET pool = ''",
		"UPDATE buyer SET job = 1",
		"UPDATE job_said SET account = ''",
	};
	struct fixture *f = *state;
	struct journal_tx *tx = journal_begin(f->j);
	struct journal_life l = life(LIFE_WANTED, 1, 0);
	struct journal_machine m = {"c1", 1, 1, "p", "q", "", "", "", "", "", "", 0, 0, 0, 0, 0};
	struct payer p = {.account = "a"};
	sqlite3 *db;

	journal_put_life(tx, &l);
	journal_put_machine(tx, &m);
	journal_put_buyer(tx, "c1", 1, 2);
	journal_put_job_said(tx, 1, 2, &p);
	commit(tx);
	assert_int_equal(sqlite3_open(f->path, &db), SQLITE_OK);
	for (size_t i = 0; i < sizeof(updates) / sizeof(updates[0]); i++)
		assert_int_equal(sqlite3_exec(db, updates[i], NULL, NULL, NULL), SQLITE_CONSTRAINT);
	sqlite3_close(db);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_lives),
		TEST(test_machines),
		TEST(test_jobs),
		TEST(test_never_changed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
