/* test_closing_problems.c - what is wrong with instances stands in the way of a close, and what
 * somebody has written by hand. */
#include "closing.h"

/* In November, from 100 to 1000: a job from 300 to 500. */
static void november(const struct fixture *f, const char *node)
{
	machine(f, node);
	buyer(f, node, 7);
	life(f, node, "wanted", 0, 0);
	life(f, node, "created", 100, 100);
	life(f, node, "ready", 200, 0);
	life(f, node, "ended", 1000, 1000);
}

static void fill(struct fixture *f)
{
	struct err e = {0};

	assert_int_equal(ledger_put_note(f->l, LEDGER_DRIVER "aws", "aws", &e), 0);
	assert_int_equal(ledger_put_note(f->l, LEDGER_CLUSTER, "hpc1", &e), 0);
	november(f, "c1");
	pass(f, 1);
	job(f, &(struct job){7, 4, 300, 500, "COMPLETED", "c1"});
}

static void add_unpriced(const struct fixture *f)
{
	exec(f->journal,
	     "INSERT INTO machine SELECT 'c2', 1, at_ms, pool, provider, offer, 'p6', region, zone,"
	     " market, currency, quantum_ms, minimum_ms, cpus, memory_mb, gpus FROM machine;"
	     "INSERT INTO life (node, gen, kind, instance, at_ms, said_ms, rate_nano_h) SELECT"
	     " 'c2', 1, kind, instance, at_ms, said_ms, 0 FROM life");
}

/* By Slurm's word a job ended before it began. */
static void add_quarantined(const struct fixture *f)
{
	job(f, &(struct job){8, 4, 900, 300, "COMPLETED", "c1"});
}

/* Its node has had another machine since. */
static void add_unended(const struct fixture *f)
{
	exec(f->journal,
	     "INSERT INTO machine SELECT 'c2', n.gen, at_ms, pool, provider, offer, type, region,"
	     " zone, market, currency, quantum_ms, minimum_ms, cpus, memory_mb, gpus FROM machine"
	     " JOIN (SELECT 1 AS gen UNION SELECT 2) AS n;"
	     "INSERT INTO life (node, gen, kind, instance, at_ms, said_ms, rate_nano_h) SELECT"
	     " 'c2', n.gen, kind, instance || n.gen, at_ms + 10000 * n.gen, 0, rate_nano_h FROM"
	     " life JOIN (SELECT 1 AS gen UNION SELECT 2) AS n WHERE kind <> 'ended' OR n.gen = 2");
}

static void add_nothing(const struct fixture *f)
{
	(void)f;
}

/* Instances that are not as they should be: some may be passed over, by name, and nothing that
 * somebody has written. */
static void test_problems(void **state)
{
	static const struct {
		void (*add)(const struct fixture *f);
		const char *sql, *want;
		unsigned allowed;
		bool closes;
	} rows[] = {
		{add_nothing, "SELECT 1", "", 0, true},
		{add_unpriced, "SELECT 1", "unpriced 1", 0, false},
		{add_unpriced, "SELECT 1", "unpriced 1", 1U << CLOSING_UNPRICED, true},
		{add_unpriced, "SELECT 1", "unpriced 1", 1U << CLOSING_UNENDED, false},
		{add_quarantined, "SELECT 1", "quarantined 1", 1U << CLOSING_QUARANTINED, true},
		{add_unended, "SELECT 1", "unended 1", 1U << CLOSING_UNENDED, true},
		{add_nothing, "UPDATE lifetime SET state = 1", "unsettled 1",
		 1U << CLOSING_UNSETTLED, true},
		/* One that has no price, and is said to have none any more: it would be free. */
		{add_unpriced, "UPDATE lifetime SET flags = 0, state = 2, why = ''", "differs 1",
		 ~0U, false},
		{add_unpriced, "DELETE FROM lifetime WHERE node = 'c2'", "differs 3", ~0U, false},
		{add_nothing, "UPDATE lifetime SET flags = 1", "differs 1, unpriced 1", ~0U, false},
		{add_nothing, "UPDATE lifetime SET flags = 2", "differs 1", ~0U, false},
		{add_nothing, "UPDATE lifetime SET end_s = end_s + 1", "differs 1", ~0U, false},
		{add_nothing, "UPDATE lifetime SET flags = 16", "broken 1, differs 1", ~0U, false},
		{add_nothing, "UPDATE lifetime SET nano = nano + 1", "broken 1", ~0U, false},
		{add_nothing, "UPDATE lifetime SET dirty = 1", "news 1", ~0U, false},
		{add_nothing, "UPDATE attempt SET gpus = gpus + 1", "differs 1", ~0U, false},
		{add_nothing, "UPDATE booking SET at_ms = at_ms + 1", "chain 1", ~0U, false},
		{add_nothing, "UPDATE rollup SET nano = nano + 1 WHERE kind = 68", "sums 1", ~0U,
		 false},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct fixture *f;
		void *own = NULL;
		char *has;

		print_message("# %zu, %s, %x\n", i, rows[i].sql, rows[i].allowed);
		assert_int_equal(setup(&own), 0);
		f = own;
		fill(f);
		rows[i].add(f);
		settle_until(f, DEC + 3600);
		exec(f->ledger, "DROP TRIGGER booking_kept; %s", rows[i].sql);
		has = obstacles(f, NOVEMBER, DEC + 3600);
		assert_string_equal(has, rows[i].want);
		free(has);
		assert_int_equal(try_close(f, NOVEMBER, DEC + 3600, rows[i].allowed) == 0,
				 rows[i].closes);
		if (rows[i].closes)
			assert_int_equal(ask(f->ledger, "SELECT allowed = ''  FROM closing"),
					 rows[i].allowed == 0);
		assert_int_equal(teardown(&own), 0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_problems),
	};

	return cmocka_run_group_tests_name("ledger, closing with problems", tests, NULL, NULL);
}
