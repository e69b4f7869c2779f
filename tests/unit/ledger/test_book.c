/* test_book.c - facts and jobs become postings that add up to each instance's bill; what is booked
 * stays, and what comes late is the difference. */
#include "fixture.h"

#define UNIT INT64_C(1000000000) /* a second of a machine at 3,600 an hour */

/* The classes, as kinds have them. */
#define RUN         "(kind & 15) = 0"
#define LOST        "(kind & 15) = 1"
#define BOOT        "(kind & 15) = 2"
#define BOOT_FAILED "(kind & 15) = 3"
#define IDLE        "(kind & 15) = 4"
#define DRAIN       "(kind & 15) = 5"
#define TEARDOWN    "(kind & 15) = 6"
#define PAD         "(kind & 15) = 7"
#define ORPHAN      "(kind & 15) = 8"

static void assert_sums(const struct fixture *f)
{
	struct err e = {0};
	int64_t bad;

	assert_int_equal(ask(f->ledger,
			     "SELECT COUNT(*) FROM lifetime AS t WHERE nano <> (SELECT"
			     " COALESCE(SUM(nano), 0) FROM posting WHERE lifetime = t.id)"),
			 0);
	assert_int_equal(ledger_check_rollup(f->l, &bad, &e), 0);
	assert_int_equal(bad, 0);
}

/* c1: wanted at 0, created at 100, ready at 200, a job on half of it from 300 to 500, stopped at
 * 600, ended at 700. */
static void whole_life(const struct fixture *f)
{
	machine(f, "c1");
	buyer(f, "c1", 7);
	life(f, "c1", "wanted", 0, 0);
	life(f, "c1", "created", 101, 100);
	life(f, "c1", "ready", 200, 0);
	life(f, "c1", "drained", 550, 0);
	life(f, "c1", "delete_asked", 600, 0);
	life(f, "c1", "ended", 720, 700);
}

static void test_a_whole_life(void **state)
{
	const struct fixture *f = *state;

	whole_life(f);
	pass(f, 800); /* before any job is known of */
	assert_int_equal(money(f, BOOT), 100 * UNIT);
	job(f, &(struct job){7, 4, 300, 500, "COMPLETED", "c1"});
	/* So soon after its end slurmdbd may not have heard of all jobs. */
	jobs_until(f, 700 + 3599);
	pass(f, 700 + 3599);
	assert_int_equal(ask(f->ledger, "SELECT state FROM lifetime"), LEDGER_ENDED);
	jobs_until(f, 700 + 3600);
	pass(f, 700 + 3600);
	assert_int_equal(money(f, "1"), 600 * UNIT);
	assert_int_equal(money(f, BOOT), 100 * UNIT);
	assert_int_equal(money(f, RUN), 100 * UNIT);
	assert_int_equal(money(f, IDLE), (350 - 100) * UNIT);
	assert_int_equal(money(f, DRAIN), 50 * UNIT);
	assert_int_equal(money(f, TEARDOWN), 100 * UNIT);
	/* The boot is the job's: as one of its attempts, with its account. */
	assert_int_equal(money(f, BOOT " AND attempt = (SELECT id FROM attempt WHERE job = 7)"),
			 100 * UNIT);
	assert_int_equal(money(f, "dims IN (SELECT d.id FROM dims AS d JOIN word AS w ON"
				  " w.id = d.account WHERE w.text = 'physics')"),
			 200 * UNIT);
	/* Half of the machine was free for 200 s, and all of it for 150 s. */
	assert_int_equal(ask(f->ledger, "SELECT SUM(gpu_s) FROM posting WHERE " IDLE),
			 200 * 4 + 150 * 8);
	assert_int_equal(ask(f->ledger, "SELECT SUM(gpu_s) FROM posting WHERE " RUN), 200 * 4);
	assert_int_equal(ask(f->ledger, "SELECT 2 * part = whole AND time_s = 200 FROM posting"
					" WHERE " RUN),
			 1);
	assert_int_equal(ask(f->ledger, "SELECT state FROM lifetime"), LEDGER_FINAL);
	assert_int_equal(ask(f->ledger, "SELECT flags FROM lifetime"), 0);
	assert_int_equal(ask(f->ledger, "SELECT COUNT(*) FROM posting WHERE booking = 0"), 0);
	assert_sums(f);
}

/* What is told before the job has run: burstd knows whose boot it is. */
static void test_a_boot_for_a_job_that_has_not_run(void **state)
{
	const struct fixture *f = *state;

	machine(f, "c1");
	buyer(f, "c1", 7);
	exec(f->journal,
	     "INSERT INTO job_said (at_ms, job, id, account, user, partition, qos,"
	     " wckey, limit_s, nodes, cpus, memory_mb, gpus) VALUES (%lld, 7, '7',"
	     " 'chemistry', 'bert', 'gpu', 'normal', '*w1', 60, 2, 24, 0, 4)",
	     (long long)T0 * 1000);
	life(f, "c1", "wanted", 0, 0);
	life(f, "c1", "created", 100, 0);
	pass(f, 150);
	/* The default of its user is the project's name without Slurm's mark. */
	assert_int_equal(money(f, "dims IN (SELECT d.id FROM dims AS d JOIN word AS w ON"
				  " w.id = d.wckey WHERE w.text = 'w1')"),
			 50 * UNIT);
	assert_int_equal(money(f, "dims IN (SELECT d.id FROM dims AS d JOIN word AS w ON"
				  " w.id = d.account WHERE w.text = 'chemistry')"),
			 50 * UNIT);
	/* And when it runs it is that attempt that pays. */
	life(f, "c1", "ready", 200, 0);
	job(f, &(struct job){7, 8, 200, 0, "RUNNING", "c1"});
	pass(f, 300);
	assert_int_equal(money(f, BOOT " AND attempt = (SELECT id FROM attempt WHERE start_s > 0)"),
			 100 * UNIT);
	assert_int_equal(money(f, RUN), 100 * UNIT);
	assert_int_equal(money(f, "1"), 200 * UNIT);
	assert_sums(f);
}

/* It is computed again in each pass, until it has ended. */
static void test_an_instance_that_runs(void **state)
{
	const struct fixture *f = *state;

	machine(f, "c1");
	life(f, "c1", "wanted", 0, 0);
	life(f, "c1", "created", 100, 0);
	pass(f, 160);
	assert_int_equal(money(f, BOOT), 60 * UNIT);
	life(f, "c1", "ready", 200, 0);
	job(f, &(struct job){7, 8, 210, 0, "RUNNING", "c1"});
	pass(f, 400);
	assert_int_equal(money(f, "1"), 300 * UNIT);
	assert_int_equal(money(f, RUN), 190 * UNIT);
	assert_int_equal(ask(f->ledger, "SELECT state FROM lifetime"), LEDGER_OPEN);
	/* Its end is when burstd saw it gone. */
	life(f, "c1", "ended", 450, 0);
	pass(f, 500);
	assert_int_equal(money(f, "1"), 350 * UNIT);
	assert_int_equal(ask(f->ledger, "SELECT state FROM lifetime"), LEDGER_ENDED);
	assert_int_equal(ask(f->ledger, "SELECT flags FROM lifetime"), LEDGER_ESTIMATED);
	/* The job still runs, for Slurm: nothing is booked, until that is too late. */
	jobs_until(f, 4500);
	pass(f, 4500);
	assert_int_equal(ask(f->ledger, "SELECT state FROM lifetime"), LEDGER_ENDED);
	pass(f, 450 + 72 * 3600);
	assert_int_equal(ask(f->ledger, "SELECT state FROM lifetime"), LEDGER_FINAL);
	assert_int_equal(money(f, "booking = 0"), 0);
	assert_int_equal(money(f, "booking = 1"), 350 * UNIT);
	assert_sums(f);
}

/* One that a list shows again was not gone. */
static void test_an_instance_that_was_thought_gone(void **state)
{
	const struct fixture *f = *state;

	machine(f, "c1");
	life(f, "c1", "wanted", 0, 0);
	life(f, "c1", "created", 100, 0);
	life(f, "c1", "ready", 150, 0);
	life(f, "c1", "ended", 200, 0);
	pass(f, 300);
	assert_int_equal(money(f, "1"), 100 * UNIT);
	life(f, "c1", "seen", 310, 0);
	pass(f, 400);
	assert_int_equal(money(f, "1"), 300 * UNIT);
	life(f, "c1", "created", 410, 90); /* the provider corrects the begin */
	pass(f, 400);
	assert_int_equal(money(f, "1"), 310 * UNIT);
	assert_sums(f);
}

/* What is booked stays; a job that slurmdbd hears of later is a booking of its own, which moves
 * money and makes none. */
static void test_late_jobs(void **state)
{
	const struct fixture *f = *state;
	struct ledger_chain chain;
	struct err e = {0};
	int64_t rows;

	whole_life(f);
	jobs_until(f, 5000);
	pass(f, 5000);
	assert_int_equal(ask(f->ledger, "SELECT state FROM lifetime"), LEDGER_FINAL);
	assert_int_equal(money(f, RUN), 0);
	rows = ask(f->ledger, "SELECT COUNT(*) FROM posting");
	pass(f, 6000); /* nothing is new */
	assert_int_equal(ask(f->ledger, "SELECT COUNT(*) FROM booking"), 1);
	job(f, &(struct job){7, 8, 300, 500, "COMPLETED", "c1"});
	pass(f, 7000);
	assert_int_equal(ask(f->ledger, "SELECT COUNT(*) FROM booking"), 2);
	assert_int_equal(ask(f->ledger, "SELECT nano FROM booking WHERE seq = 2"), 0);
	assert_true(ask(f->ledger, "SELECT COUNT(*) FROM posting WHERE booking = 1") == rows);
	assert_int_equal(money(f, RUN), 200 * UNIT);
	assert_int_equal(money(f, "1"), 600 * UNIT);
	/* The same again is no news. */
	job(f, &(struct job){7, 8, 300, 500, "COMPLETED", "c1"});
	assert_int_equal(ask(f->ledger, "SELECT dirty FROM lifetime"), 0);
	pass(f, 8000);
	assert_int_equal(ask(f->ledger, "SELECT COUNT(*) FROM booking"), 2);
	assert_int_equal(ledger_check_chain(f->l, &chain, &e), 0);
	assert_int_equal(chain.bad, 0);
	assert_int_equal(chain.bookings, 2);
	assert_sums(f);
}

/* Two nodes, one is taken: the work on both is lost, if the job was requeued or its node failed. */
static void test_lost_work(void **state)
{
	static const struct {
		const char *kind, *state;
		bool lost;
	} rows[] = {{"taken", "REQUEUED", true},    {"noticed", "PREEMPTED", true},
		    {"drained", "NODE_FAIL", true}, {"drained", "REQUEUED", false},
		    {"taken", "COMPLETED", false},  {"taken", "CANCELLED by 0", false}};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct fixture *f;
		void *own = NULL;

		print_message("# %s, %s\n", rows[i].kind, rows[i].state);
		assert_int_equal(setup(&own), 0);
		f = own;
		for (int k = 0; k < 2; k++) {
			const char *node = k == 0 ? "c1" : "c2";

			machine(f, node);
			life(f, node, "wanted", 0, 0);
			life(f, node, "created", 100, 0);
			life(f, node, "ready", 200, 0);
			if (k == 0)
				life(f, node, rows[i].kind, 390, 0);
			life(f, node, "ended", 400, 0);
		}
		job(f, &(struct job){7, 8, 200, 395, rows[i].state, "c1,c2"});
		pass(f, 500);
		assert_int_equal(money(f, LOST), rows[i].lost ? 390 * UNIT : 0);
		assert_int_equal(money(f, RUN), rows[i].lost ? 0 : 390 * UNIT);
		assert_int_equal(money(f, "1"), 600 * UNIT);
		assert_sums(f);
		assert_int_equal(teardown(&own), 0);
	}
}

static void test_other_ends(void **state)
{
	const struct fixture *f = *state;

	/* It was never ready, and the minimum is a minute. */
	machine(f, "c1");
	life(f, "c1", "wanted", 0, 0);
	life(f, "c1", "created", 100, 0);
	life(f, "c1", "ended", 120, 0);
	/* There never was one. */
	machine(f, "c2");
	life(f, "c2", "wanted", 0, 0);
	life(f, "c2", "refused", 10, 0);
	/* Nobody bought it. */
	machine(f, "c3");
	life(f, "c3", "created", 100, 0);
	life(f, "c3", "ended", 200, 0);
	pass(f, 300);
	assert_int_equal(money(f, BOOT_FAILED), 20 * UNIT);
	assert_int_equal(money(f, PAD), 40 * UNIT);
	assert_int_equal(money(f, ORPHAN), 100 * UNIT);
	assert_int_equal(money(f, "1"), 160 * UNIT);
	assert_sums(f);
}

/* Prices: a contract's before the provider's, these before the rate; and what it would cost on
 * demand. */
static void test_prices(void **state)
{
	const struct fixture *f = *state;

	machine(f, "c1");
	life(f, "c1", "wanted", 0, 0);
	life(f, "c1", "created", 100, 0);
	life(f, "c1", "ready", 100, 0);
	life(f, "c1", "ended", 500, 0);
	price(f, "spot", "quote", 1800 * UNIT, 200);
	price(f, "spot", "contract", 900 * UNIT, 300);
	price(f, "spot", "contract", -1, 400); /* it has ended */
	price(f, "on-demand", "quote", 7200 * UNIT, 0);
	pass(f, 600);
	assert_int_equal(money(f, "1"), (100 * 4 + 100 * 2 + 100 * 1 + 100 * 2) * UNIT / 4);
	assert_int_equal(ask(f->ledger, "SELECT SUM(list_nano) FROM posting"), 800 * UNIT);
	assert_sums(f);
}

/* burstd counts by the site's own figure where it has one, and so does the bill; a quote that ends
 * leaves what runs at its last price.  The list price is the provider's. */
static void test_prices_of_the_site(void **state)
{
	const struct fixture *f = *state;

	machine(f, "c1");
	life(f, "c1", "wanted", 0, 0);
	life(f, "c1", "created", 100, 0);
	life(f, "c1", "ready", 100, 0);
	life(f, "c1", "ended", 500, 0);
	price(f, "spot", "quote", 1800 * UNIT, 100);
	price(f, "spot", "quote", -1, 200);
	price(f, "spot", "conf", 900 * UNIT, 300);
	price(f, "spot", "quote", 7200 * UNIT, 350);
	price(f, "on-demand", "quote", 7200 * UNIT, 0);
	price(f, "on-demand", "conf", 3600 * UNIT, 50);
	pass(f, 600);
	assert_int_equal(money(f, "1"), (100 * 2 + 100 * 2 + 200 * 1) * UNIT / 4);
	assert_int_equal(ask(f->ledger, "SELECT SUM(list_nano) FROM posting"), 800 * UNIT);
	assert_sums(f);
}

/* No price is loud, and never 0; when there is one the bill is made. */
static void test_no_price(void **state)
{
	const struct fixture *f = *state;

	machine(f, "c1");
	life(f, "c1", "wanted", 0, 0);
	life(f, "c1", "created", 100, 0);
	life(f, "c1", "ended", 500, 0);
	exec(f->journal, "DROP TRIGGER life_append_only; UPDATE life SET rate_nano_h = 0");
	jobs_until(f, 5000);
	pass(f, 5000);
	assert_int_equal(ask(f->ledger, "SELECT COUNT(*) FROM posting"), 0);
	assert_int_equal(ask(f->ledger, "SELECT flags & 1 FROM lifetime"), LEDGER_UNPRICED);
	assert_int_equal(ask(f->ledger, "SELECT why LIKE 'no price is known%' FROM lifetime"), 1);
	assert_int_equal(ask(f->ledger, "SELECT state FROM lifetime"), LEDGER_ENDED);
	price(f, "spot", "quote", 3600 * UNIT, 0);
	pass(f, 6000);
	assert_int_equal(money(f, "1"), 400 * UNIT);
	assert_int_equal(ask(f->ledger, "SELECT flags & 1 FROM lifetime"), 0);
	assert_int_equal(ask(f->ledger, "SELECT state FROM lifetime"), LEDGER_FINAL);
}

static void test_late_prices_and_buyers(void **state)
{
	const struct fixture *f = *state;

	whole_life(f);
	machine(f, "c2");
	jobs_until(f, 5000);
	pass(f, 5000);
	assert_int_equal(money(f, "booking <> 0"), 600 * UNIT);
	/* The provider tells what the price was. */
	price(f, "spot", "history", 1800 * UNIT, 0);
	pass(f, 6000);
	assert_int_equal(money(f, "1"), 300 * UNIT);
	assert_int_equal(ask(f->ledger, "SELECT nano FROM booking WHERE seq = 2"), -300 * UNIT);
	/* One of later changes nothing. */
	price(f, "spot", "quote", 7200 * UNIT, 5000);
	pass(f, 7000);
	assert_int_equal(ask(f->ledger, "SELECT COUNT(*) FROM booking"), 2);
	/* The job that it was bought for ran on another, after all. */
	assert_int_equal(money(f, BOOT " AND attempt <> 0"), 0);
	job(f, &(struct job){7, 4, 300, 500, "COMPLETED", "c2"});
	pass(f, 8000);
	assert_int_equal(money(f, BOOT " AND attempt <> 0"), 50 * UNIT);
	assert_int_equal(money(f, "1"), 300 * UNIT);
	assert_sums(f);
}

/* EC2 takes a spot instance back within its first hour: what it cost is given back, and the time
 * is not counted twice. */
static void test_what_is_given_back(void **state)
{
	static const struct {
		const char *driver;
		int64_t end, credit;
		bool taken, on_demand;
	} rows[] = {{"aws", 3600, -3500, true, false},
		    {"aws", 3600, 0, true, true},
		    {"aws", 3700, 0, true, false}, /* an hour is too long */
		    {"aws", 3600, 0, false, false},
		    {"sim", 3600, 0, true, false}};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct fixture *f;
		struct err e = {0};
		void *own = NULL;

		print_message("# row %zu\n", i);
		assert_int_equal(setup(&own), 0);
		f = own;
		assert_int_equal(ledger_put_note(f->l, LEDGER_DRIVER "aws", rows[i].driver, &e), 0);
		machine(f, "c1");
		if (rows[i].on_demand)
			exec(f->journal, "DROP TRIGGER machine_append_only;"
					 "UPDATE machine SET market = 'on-demand'");
		life(f, "c1", "wanted", 0, 0);
		life(f, "c1", "created", 100, 0);
		life(f, "c1", "ready", 200, 0);
		if (rows[i].taken)
			life(f, "c1", "taken", rows[i].end, 0);
		life(f, "c1", "ended", rows[i].end, 0);
		pass(f, 4000);
		assert_int_equal(money(f, "kind & 16 = 16"), rows[i].credit * UNIT);
		assert_int_equal(money(f, "1"), (rows[i].end - 100 + rows[i].credit) * UNIT);
		assert_int_equal(ask(f->ledger, "SELECT SUM(gpu_s) FROM posting"),
				 (rows[i].end - 100) * 8);
		assert_sums(f);
		assert_int_equal(teardown(&own), 0);
	}
}

/* A job that ended as it began is listed, once: not on the next instance of the node, too. */
static void test_jobs_of_no_time(void **state)
{
	const struct fixture *f = *state;

	machine(f, "c1");
	life(f, "c1", "wanted", 0, 0);
	life(f, "c1", "created", 100, 0);
	life(f, "c1", "ready", 200, 0);
	life(f, "c1", "ended", 600, 600);
	job(f, &(struct job){7, 8, -100, -100, "CANCELLED", "c1"});
	job(f, &(struct job){8, 8, 50, 50, "CANCELLED", "c1"});
	job(f, &(struct job){9, 8, 300, 300, "CANCELLED", "c1"});
	job(f, &(struct job){10, 8, -200, 90, "COMPLETED", "c1"}); /* ended before it */
	pass(f, 1000);
	assert_int_equal(ask(f->ledger, "SELECT COUNT(*) FROM posting WHERE attempt <> 0"), 2);
	assert_int_equal(ask(f->ledger, "SELECT MIN(a.job) FROM posting AS p JOIN attempt AS a ON"
					" a.id = p.attempt"),
			 8);
	assert_int_equal(money(f, "attempt <> 0"), 0);
	assert_sums(f);
}

/* Its end was in a journal that is lost: the node has had another machine for long. */
static void test_a_machine_without_end(void **state)
{
	const struct fixture *f = *state;

	machine(f, "c1");
	life(f, "c1", "wanted", 0, 0);
	life(f, "c1", "created", 100, 0);
	exec(f->journal,
	     "INSERT INTO life (node, gen, kind, instance, at_ms, said_ms, rate_nano_h)"
	     " VALUES ('c1', 2, 'created', 'i-2', %lld, 0, 7)",
	     (long long)(T0 + 1000) * 1000);
	pass(f, 1000 + 6 * 3600);
	assert_int_equal(ask(f->ledger, "SELECT COUNT(*) FROM lifetime WHERE flags & 128"), 0);
	pass(f, 1001 + 6 * 3600);
	assert_int_equal(ask(f->ledger, "SELECT flags & 128 FROM lifetime WHERE gen = 1"),
			 LEDGER_UNENDED);
	assert_int_equal(ask(f->ledger, "SELECT flags & 128 FROM lifetime WHERE gen = 2"), 0);
	life(f, "c1", "ended", 900, 0);
	pass(f, 1002 + 6 * 3600);
	assert_int_equal(ask(f->ledger, "SELECT COUNT(*) FROM lifetime WHERE flags & 128"), 0);
}

/* Slurm's clock, and records that cannot be: who pays is what can be, and somebody is told. */
static void test_clocks_that_differ(void **state)
{
	static const struct {
		int64_t start, end;
		const char *state;
		int flags;
	} rows[] = {{200, 605, "COMPLETED", 0},
		    {200, 606, "COMPLETED", LEDGER_CLIPPED},
		    {200, 900, "COMPLETED", LEDGER_CLIPPED},
		    {200, 901, "COMPLETED", LEDGER_CLIPPED | LEDGER_QUARANTINED},
		    {100, 600, "NODE_FAIL", 0}, /* from its allocation on */
		    {100, 600, "COMPLETED", LEDGER_CLIPPED},
		    {400, 300, "FAILED", LEDGER_NEGATIVE | LEDGER_QUARANTINED}};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct fixture *f;
		void *own = NULL;

		print_message("# row %zu\n", i);
		assert_int_equal(setup(&own), 0);
		f = own;
		machine(f, "c1");
		life(f, "c1", "wanted", 0, 0);
		life(f, "c1", "created", 100, 0);
		life(f, "c1", "ready", 200, 0);
		life(f, "c1", "ended", 600, 600);
		job(f, &(struct job){7, 8, rows[i].start, rows[i].end, rows[i].state, "c1"});
		pass(f, 1000);
		assert_int_equal(ask(f->ledger, "SELECT flags FROM lifetime"), rows[i].flags);
		assert_int_equal(money(f, "1"), 500 * UNIT);
		assert_sums(f);
		assert_int_equal(teardown(&own), 0);
	}
}

/* A time that cannot be is no reason for a million postings. */
static void test_a_wrong_time(void **state)
{
	const struct fixture *f = *state;

	machine(f, "c1");
	life(f, "c1", "wanted", 0, 0);
	life(f, "c1", "created", 100, 1 - T0);
	pass(f, 200);
	assert_int_equal(ask(f->ledger, "SELECT COUNT(*) FROM posting"), 0);
	assert_int_equal(ask(f->ledger, "SELECT flags & 16 FROM lifetime"), LEDGER_BROKEN);
	assert_int_equal(ask(f->ledger, "SELECT why LIKE '%twenty years' FROM lifetime"), 1);
}

/* The order in which facts and jobs come, how often they come, and how many passes there are
 * between: the same postings. */
static void test_order_and_replay(void **state)
{
	struct fixture *f = *state, *g;
	void *other = NULL;
	int64_t sum;

	whole_life(f);
	job(f, &(struct job){8, 2, 210, 480, "COMPLETED", "c1"});
	job(f, &(struct job){7, 4, 300, 500, "COMPLETED", "c1"});
	jobs_until(f, 9000);
	pass(f, 9000);
	assert_int_equal(setup(&other), 0);
	g = other;
	job(g, &(struct job){7, 4, 300, 0, "RUNNING", "c1"});
	whole_life(g);
	pass(g, 310);
	pass(g, 650);
	job(g, &(struct job){7, 4, 300, 500, "COMPLETED", "c1"});
	job(g, &(struct job){8, 2, 210, 480, "COMPLETED", "c1"});
	job(g, &(struct job){7, 4, 300, 500, "COMPLETED", "c1"});
	jobs_until(g, 9000);
	/* The journal is another one, with the same rows. */
	assert_int_equal(unlink(g->journal), 0);
	make_journal(g);
	whole_life(g);
	pass(g, 9000);
	exec(f->ledger,
	     "ATTACH '%s' AS other; CREATE TEMP TABLE a AS SELECT p.day, p.kind, a.job,"
	     " p.nano, p.gpu_s, p.from_s, p.to_s, p.part, p.whole FROM main.posting AS p"
	     " LEFT JOIN main.attempt AS a ON a.id = p.attempt; CREATE TEMP TABLE b AS"
	     " SELECT p.day, p.kind, a.job, p.nano, p.gpu_s, p.from_s, p.to_s, p.part,"
	     " p.whole FROM other.posting AS p LEFT JOIN other.attempt AS a ON"
	     " a.id = p.attempt; CREATE TABLE differs AS SELECT COUNT(*) AS n FROM"
	     " (SELECT * FROM (SELECT * FROM a EXCEPT SELECT * FROM b) UNION ALL"
	     " SELECT * FROM (SELECT * FROM b EXCEPT SELECT * FROM a))",
	     g->ledger);
	sum = ask(f->ledger, "SELECT n FROM differs");
	assert_int_equal(sum, 0);
	assert_true(ask(f->ledger, "SELECT COUNT(*) FROM posting") ==
		    ask(g->ledger, "SELECT COUNT(*) FROM posting"));
	assert_sums(g);
	assert_int_equal(teardown(&other), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_a_whole_life),
		TEST(test_a_boot_for_a_job_that_has_not_run),
		TEST(test_an_instance_that_runs),
		TEST(test_an_instance_that_was_thought_gone),
		TEST(test_late_jobs),
		cmocka_unit_test(test_lost_work),
		TEST(test_other_ends),
		TEST(test_prices),
		TEST(test_prices_of_the_site),
		TEST(test_no_price),
		TEST(test_late_prices_and_buyers),
		TEST(test_a_machine_without_end),
		TEST(test_jobs_of_no_time),
		cmocka_unit_test(test_clocks_that_differ),
		cmocka_unit_test(test_what_is_given_back),
		TEST(test_a_wrong_time),
		TEST(test_order_and_replay),
	};

	return cmocka_run_group_tests_name("ledger, book", tests, NULL, NULL);
}
