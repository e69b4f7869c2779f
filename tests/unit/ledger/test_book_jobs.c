/* test_book_jobs.c - what Slurm tells of jobs that do not just run and end: each has what it had,
 * whenever that is told. */
#include "closing.h"

#define UNIT INT64_C(1000000000) /* a second of a machine at 3,600 an hour */
#define RUN  "kind & 15 = 0 AND kind & 96 = 32"

/* From 100 to 1000, ready at 200. */
static void whole_life(const struct fixture *f, const char *node)
{
	machine(f, node);
	life(f, node, "wanted", 0, 0);
	life(f, node, "created", 100, 100);
	life(f, node, "ready", 200, 0);
	life(f, node, "ended", 1000, 1000);
}

static int64_t run_on(const struct fixture *f, const char *node)
{
	char where[160];

	(void)snprintf(where, sizeof(where),
		       RUN " AND lifetime = (SELECT id FROM lifetime WHERE node = '%s')", node);
	return money(f, where);
}

/* Half of two nodes, and from 500 on of one: Slurm has a record for each. */
static void resized(const struct fixture *f)
{
	whole_life(f, "c1");
	whole_life(f, "c2");
	pass(f, 1);
	job(f, &(struct job){7, 4, 300, 500, "RESIZING", "c1,c2"});
	job(f, &(struct job){7, 4, 500, 900, "COMPLETED", "c1"});
}

static void assert_resized(struct fixture *f, int64_t at)
{
	assert_int_equal(run_on(f, "c1"), 300 * UNIT);
	assert_int_equal(run_on(f, "c2"), 100 * UNIT);
	assert_int_equal(ask(f->ledger, "SELECT MIN(state) FROM lifetime"), LEDGER_FINAL);
	assert_good(f, at);
}

static void test_a_job_that_is_resized(void **state)
{
	struct fixture *f = *state;

	resized(f);
	settle_until(f, 1000 + 3600);
	assert_resized(f, 1000 + 3600);
}

/* A ledger from before took the first record for a job that runs on. */
static void test_a_ledger_from_before(void **state)
{
	struct fixture *f = *state;

	resized(f);
	exec(f->ledger, "UPDATE attempt SET running = 1, end_s = start_s WHERE start_s = %lld",
	     (long long)T0 + 300);
	settle_until(f, 1000 + 72 * 3600);
	assert_int_equal(run_on(f, "c2"), 350 * UNIT);
	ledger_close(f->l);
	exec(f->ledger, NO_BUDGETS_IN_RECORDS "PRAGMA user_version = 7");
	open_ledger(f);
	settle_until(f, 1001 + 72 * 3600);
	assert_resized(f, 1001 + 72 * 3600);
}

/* Its bills by burstd.conf's prices, too, are computed again, and no others. */
static void test_prices_from_before(void **state)
{
	static const struct {
		const char *source;
		int64_t nano_h, dirty;
	} rows[] = {{"quote", 5, 0}, {"contract", 5, 0}, {"conf", 5, 1}, {"quote", -1, 1}};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		void *own = NULL;
		struct fixture *f;

		print_message("# %s %lld\n", rows[i].source, (long long)rows[i].nano_h);
		assert_int_equal(setup(&own), 0);
		f = own;
		whole_life(f, "c1");
		price(f, "spot", rows[i].source, rows[i].nano_h, 50);
		settle_until(f, 1000 + 3600);
		assert_int_equal(ask(f->ledger, "SELECT state FROM lifetime"), LEDGER_FINAL);
		ledger_close(f->l);
		exec(f->ledger, NO_BUDGETS_IN_RECORDS "PRAGMA user_version = 7");
		open_ledger(f);
		assert_int_equal(ask(f->ledger, "SELECT dirty FROM lifetime"), rows[i].dirty);
		assert_int_equal(teardown(&own), 0);
	}
}

/* As squeue tells of it; end 0: it runs. */
static void seen(const struct fixture *f, int64_t start, int64_t at)
{
	const struct ledger_attempt a = {.job = 7,
					 .start_s = T0 + start,
					 .end_s = T0 + start,
					 .submit_s = T0 + start,
					 .job_id = "7",
					 .name = "name",
					 .state = "RUNNING",
					 .account = "physics",
					 .user = "anna",
					 .partition = "gpu",
					 .qos = "normal",
					 .wckey = "",
					 .source = SQUEUE,
					 .cpus = 48,
					 .gpus = 4,
					 .nnodes = 1,
					 .running = true,
					 .seen_ms = (T0 + at) * 1000};
	const char *const nodes[] = {"c1"};
	struct err e = {0};
	int64_t id;

	assert_int_equal(ledger_begin(f->l, &e), 0);
	assert_int_equal(ledger_put_attempt(f->l, &a, nodes, 1, &id, &e), 0);
	assert_int_equal(ledger_commit(f->l, &e), 0);
}

/* slurmctld was away for so long that the bill was booked with the job until the node's end. */
static void test_a_job_that_is_forgotten(void **state)
{
	struct fixture *f = *state;
	struct err e = {0};

	whole_life(f, "c1");
	pass(f, 1);
	seen(f, 300, 400);
	pass(f, 1000 + 72 * 3600);
	assert_int_equal(run_on(f, "c1"), 350 * UNIT);
	assert_int_equal(ask(f->ledger, "SELECT state FROM lifetime"), LEDGER_FINAL);
	assert_int_equal(ledger_begin(f->l, &e), 0);
	assert_int_equal(ledger_end_unseen(f->l, SQUEUE, (T0 + 500) * 1000, &e), 0);
	assert_int_equal(ledger_commit(f->l, &e), 0);
	pass(f, 1001 + 72 * 3600);
	assert_int_equal(run_on(f, "c1"), 50 * UNIT);
	assert_good(f, 1001 + 72 * 3600);
}

/* What is told of a job's end is corrected: its node has had another machine since. */
static void test_an_end_that_is_corrected(void **state)
{
	static const struct {
		int64_t first, then, run; /* ends; 0: it runs */
	} rows[] = {{2000, 500, 100}, {0, 500, 100}, {500, 2000, 700}, {2000, 0, 750}};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		void *own = NULL;
		struct fixture *f;
		const int64_t late = 72 * 3600 + 3000;

		print_message("# from %lld to %lld\n", (long long)rows[i].first,
			      (long long)rows[i].then);
		assert_int_equal(setup(&own), 0);
		f = own;
		whole_life(f, "c1");
		exec(f->journal,
		     "INSERT INTO machine SELECT node, 2, at_ms, pool, provider, offer, type,"
		     " region, zone, market, currency, quantum_ms, minimum_ms, cpus, memory_mb,"
		     " gpus FROM machine; INSERT INTO life (node, gen, kind, instance, at_ms,"
		     " said_ms, rate_nano_h) SELECT node, 2, kind, instance, at_ms + 1100000, 0,"
		     " rate_nano_h FROM life");
		pass(f, 1);
		job(f, &(struct job){7, 4, 300, rows[i].first, "COMPLETED", "c1"});
		settle_until(f, late);
		assert_int_equal(ask(f->ledger, "SELECT MIN(state) FROM lifetime"), LEDGER_FINAL);
		job(f, &(struct job){7, 4, 300, rows[i].then, "COMPLETED", "c1"});
		settle_until(f, late + 1);
		assert_int_equal(money(f, RUN), rows[i].run * UNIT);
		assert_good(f, late + 1);
		assert_int_equal(teardown(&own), 0);
	}
}

/* A job outlives one of its nodes by days and is preempted, as its other node is taken: its work
 * on the first was lost, too, however late burstd tells. */
static void test_a_neighbour_that_is_taken(void **state)
{
	struct fixture *f = *state;
	const int64_t end = 80 * 3600;

	whole_life(f, "c1");
	machine(f, "c2");
	life(f, "c2", "wanted", 0, 0);
	life(f, "c2", "created", 100, 100);
	life(f, "c2", "ready", 200, 0);
	pass(f, 1);
	job(f, &(struct job){7, 8, 300, end, "PREEMPTED", "c1,c2"});
	settle_until(f, end + 200);
	assert_int_equal(ask(f->ledger, "SELECT state FROM lifetime WHERE node = 'c1'"),
			 LEDGER_FINAL);
	assert_int_equal(run_on(f, "c1"), 700 * UNIT);
	life(f, "c2", "noticed", end + LEDGER_TAKEN_S, 0);
	settle_until(f, end + 300);
	assert_int_equal(run_on(f, "c1"), 0);
	assert_good(f, end + 300);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_a_job_that_is_resized),
		TEST(test_a_ledger_from_before),
		cmocka_unit_test(test_prices_from_before),
		TEST(test_a_job_that_is_forgotten),
		TEST(test_a_neighbour_that_is_taken),
		cmocka_unit_test(test_an_end_that_is_corrected),
	};

	return cmocka_run_group_tests_name("ledger, jobs in bills", tests, NULL, NULL);
}
