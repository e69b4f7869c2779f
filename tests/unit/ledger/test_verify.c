/* test_verify.c - random lives of machines and jobs: whatever is asked, its rows add up to the
 * bills; the ledger is found to be as it was written, and every change of it is found. */
#include "ledger/charges.h"
#include "ledger/lifetimes.h"
#include "ledger/report.h"
#include "ledger/verify.h"
#include "story.h"

/* All facts and all jobs. */
static void tell_again(const struct fixture *f)
{
	exec(f->ledger, "UPDATE number SET value = 0 WHERE key IN ('life', 'price')");
	for (int i = 0; i < JOBS; i++)
		job(f, &works[i].j);
}

static int64_t sum_of(struct fixture *f, const char *by, struct str *csv)
{
	struct report_want w = {.from_day = 0, .to_day = 100000};
	struct report r;
	struct err e = {0};
	int64_t sum = 0;

	assert_int_equal(report_parse(&w, by, &e), 0);
	if (report_make(&r, f->l, &w, &e) < 0)
		fail_msg("%s", e.msg);
	for (size_t i = 0; i < r.n; i++)
		sum += r.rows[i].nano;
	if (r.n > 0)
		assert_true(r.total_is_one && r.total.nano == sum);
	report_csv(&r, csv);
	report_fini(&r);
	return sum;
}

static const char *const groupings[] = {"account",
					"user",
					"partition",
					"qos",
					"wckey",
					"provider",
					"market",
					"pool",
					"type",
					"class",
					"day",
					"month",
					"job",
					"node",
					"class,day,account",
					"node,job,class",
					"job,day",
					"wckey,day,class",
					"month,user,market,pool,class",
					""};

static struct verify verified(struct fixture *f, struct str *out)
{
	const struct book b = {.ledger = f->l,
			       .calendar = &f->calendar,
			       .now_ms = (T0 + SPAN) * 1000,
			       .currency = "EUR"};
	struct verify v;
	struct err e = {0};

	if (verify_ledger(&b, &v, out, &e) < 0)
		fail_msg("%s", e.msg);
	return v;
}

static void assert_same_lines(const char *a, const char *b)
{
	while (*a != '\0' || *b != '\0') {
		const size_t n = strcspn(a, "\n"), m = strcspn(b, "\n");

		if (n != m || memcmp(a, b, n) != 0)
			fail_msg("\"%.*s\", not \"%.*s\"", (int)m, b, (int)n, a);
		a += n + (a[n] != '\0');
		b += m + (b[m] != '\0');
	}
}

enum { WAYS = 3 };

/* Forwards; backwards, with passes between, and told twice; jobs only after all was booked. */
static void tell(const struct fixture *f, int way)
{
	if (way < 2)
		write_all(f, way == 1);
	if (way == 1) {
		pass(f, SPAN / 3);
		tell_again(f);
	}
	if (way == 2) {
		for (int i = 0; i < NODES; i++)
			write_life(f, &fates[i]);
		jobs_until(f, 2 * SPAN);
		pass(f, SPAN);
		for (int i = 0; i < JOBS; i++)
			job(f, &works[i].j);
	}
	jobs_until(f, 2 * SPAN);
	pass(f, SPAN);
}

static void test_any_story_adds_up(void **state)
{
	(void)state;
	for (int round = 0; round < ROUNDS; round++) {
		struct str csv[WAYS], out;

		print_message("# round %d\n", round);
		draw();
		str_init(&out, OUT);
		for (int way = 0; way < WAYS; way++) {
			struct fixture *f;
			struct verify v;
			void *own = NULL;
			int64_t sum;

			assert_int_equal(setup(&own), 0);
			f = own;
			str_init(&csv[way], OUT);
			tell(f, way);
			sum = ask(f->ledger, "SELECT COALESCE(SUM(nano), 0) FROM lifetime");
			for (size_t g = 0; g < sizeof(groupings) / sizeof(groupings[0]); g++)
				assert_true(sum_of(f, groupings[g], &csv[way]) == sum);
			v = verified(f, &out);
			if (!verify_is_good(&v) || v.late > 0 || strcmp(v.had, v.made) != 0)
				fail_msg("%s", out.p);
			assert_int_equal(teardown(&own), 0);
		}
		/* Neither the order nor how often or how late it was told changes a byte. */
		for (int way = 1; way < WAYS; way++)
			assert_same_lines(csv[0].p, csv[way].p);
		for (int way = 0; way < WAYS; way++)
			str_fini(&csv[way]);
		str_fini(&out);
	}
}

/* A cut more changes no total: another zone has days of its own. */
static void test_another_zone(void **state)
{
	static const char *const zones[] = {"UTC", "Asia/Kathmandu", "America/New_York"};
	int64_t sums[3][NODES];

	(void)state;
	draw();
	for (int i = 0; i < 3; i++) {
		void *own = NULL;
		struct fixture *f;
		struct err e = {0};

		assert_int_equal(setup(&own), 0);
		f = own;
		calendar_fini(&f->calendar);
		assert_int_equal(calendar_init(&f->calendar, zones[i], &e), 0);
		write_all(f, false);
		pass(f, SPAN);
		for (int n = 0; n < NODES; n++) {
			char sql[100];

			(void)snprintf(sql, sizeof(sql),
				       "SELECT nano FROM lifetime WHERE node = 'c%d'", n);
			sums[i][n] = ask(f->ledger, sql);
			assert_true(sums[i][n] == sums[0][n]);
		}
		assert_int_equal(teardown(&own), 0);
	}
}

/* Whoever changes the file is found out. */
static void test_every_change_is_found(void **state)
{
	static const struct {
		const char *sql;
		bool chain, rollups, uneven, differ;
	} rows[] = {
		{"UPDATE posting SET nano = nano + 1 WHERE id = (SELECT id FROM posting WHERE"
		 " booking = 1 LIMIT 1)",
		 true, true, true, true},
		{"UPDATE posting SET attempt = (SELECT MIN(id) FROM attempt) WHERE id = (SELECT id"
		 " FROM posting WHERE attempt > (SELECT MIN(id) FROM attempt) AND booking <> 0"
		 " LIMIT 1)",
		 true, false, false, true},
		{"UPDATE posting SET gpu_s = gpu_s + 5 WHERE id = (SELECT MAX(id) FROM posting)",
		 true, true, false, true},
		{"DELETE FROM posting WHERE booking = 1", true, true, true, true},
		{"UPDATE posting SET booking = 0 WHERE booking = 2", true, false, false, false},
		{"DELETE FROM booking WHERE seq = 1", true, false, false, false},
		{"DELETE FROM booking WHERE seq = (SELECT MAX(seq) FROM booking)", true, false,
		 false, false},
		{"DELETE FROM posting WHERE booking = 2; DELETE FROM booking WHERE seq = 2;"
		 "DELETE FROM rollup; INSERT INTO rollup SELECT day, dims, kind, COUNT(*), "
		 "SUM(nano),"
		 " SUM(gpu_s), SUM(cpu_s) FROM posting GROUP BY day, dims, kind;"
		 "DELETE FROM lifetime WHERE id NOT IN (SELECT lifetime FROM posting)",
		 true, false, false, false},
		{"UPDATE booking SET at_ms = at_ms + 1 WHERE seq = 1", true, false, false, false},
		{"UPDATE booking SET nano = nano + 1 WHERE seq = 1", true, false, false, false},
		{"UPDATE word SET text = 'biology' WHERE text = 'physics'", true, false, false,
		 true},
		{"UPDATE rollup SET nano = nano + 1 WHERE rowid IN (1)", false, true, false, false},
		{"DELETE FROM rollup WHERE day = (SELECT MIN(day) FROM rollup)", false, true, false,
		 false},
		{"INSERT INTO rollup VALUES (1, 1, 1, 0, 0, 0, 0)", false, true, false, false},
		{"UPDATE lifetime SET nano = nano - 1 WHERE id = 1", false, false, true, false},
		{"UPDATE lifetime SET flags = flags + 2 WHERE id = 1", false, false, false, true},
		{"UPDATE lifetime SET start_s = start_s + 1 WHERE id = 2", false, false, false,
		 true},
		{"UPDATE lifetime SET end_s = end_s + 1 WHERE id = 2", false, false, false, true},
		{"UPDATE life SET said_ms = said_ms + 1000 WHERE kind = 'ended'", false, false,
		 false, true},
		{"UPDATE attempt SET gpus = gpus + 1", false, false, false, true},
	};
	struct str out;

	(void)state;
	str_init(&out, OUT);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		void *own = NULL;
		struct fixture *f;
		struct verify v;

		print_message("# %s\n", rows[i].sql);
		assert_int_equal(setup(&own), 0);
		f = own;
		for (int n = 0; n < 2; n++) {
			fates[n] = (struct fate){
				.created = 100, .ready = 200, .ended = 1000, .ends = true};
			(void)snprintf(fates[n].name, sizeof(fates[n].name), "c%d", n);
			write_life(f, &fates[n]);
		}
		pass(f, 1);
		job(f, &(struct job){1, 3, 300, 900, "COMPLETED", "c0,c1"});
		job(f, &(struct job){2, 3, 350, 950, "COMPLETED", "c0"});
		jobs_until(f, 10000);
		pass(f, 10000);
		v = verified(f, &out);
		assert_true(verify_is_good(&v));
		assert_int_equal(v.chain.bookings, 2);
		exec(f->ledger,
		     "DROP TRIGGER posting_kept; DROP TRIGGER posting_stays;"
		     "DROP TRIGGER booking_kept; DROP TRIGGER booking_stays; DROP TRIGGER "
		     "life_kept;"
		     "%s",
		     strstr(rows[i].sql, "rowid") != NULL ? "UPDATE rollup SET nano = nano + 1 "
							    "WHERE kind = (SELECT MAX(kind) FROM"
							    " rollup)"
							  : rows[i].sql);
		v = verified(f, &out);
		assert_int_equal(v.chain.bad != 0, rows[i].chain);
		assert_int_equal(v.rollups != 0, rows[i].rollups);
		assert_int_equal(v.uneven != 0, rows[i].uneven);
		if (strstr(rows[i].sql, "word") == NULL) /* then it is found by its texts alone */
			assert_int_equal(v.differ != 0, rows[i].differ);
		assert_false(verify_is_good(&v));
		assert_true(out.len > 0);
		assert_int_equal(teardown(&own), 0);
	}
	str_fini(&out);
}

/* Of a machine that runs nothing is booked yet; it is found out all the same. */
static void test_changes_of_what_is_open(void **state)
{
	static const char *const harms[] = {
		"UPDATE posting SET part = part + 1 WHERE nano > 0",
		"UPDATE posting SET whole = whole + 1 WHERE nano > 0",
		"UPDATE posting SET from_s = from_s + 1 WHERE nano > 0",
		"UPDATE posting SET to_s = to_s + 1 WHERE nano > 0",
		"UPDATE posting SET list_nano = list_nano + 1 WHERE nano > 0",
		"UPDATE posting SET time_s = time_s + 1 WHERE nano > 0",
		"UPDATE lifetime SET flags = 1",
		"UPDATE lifetime SET start_s = start_s - 1",
		"DELETE FROM lifetime; DELETE FROM posting; DELETE FROM rollup",
	};
	struct fixture *f = *state;
	struct verify v;
	struct str out;

	str_init(&out, OUT);
	fates[0] = (struct fate){.name = "c0", .created = 100, .ready = 200};
	write_life(f, &fates[0]);
	price(f, "on-demand", "quote", 5, 0);
	pass(f, 1);
	job(f, &(struct job){1, 3, 300, 0, "RUNNING", "c0"});
	pass(f, 900);
	v = verified(f, &out);
	assert_true(verify_is_good(&v));
	assert_int_equal(v.chain.bookings, 0);
	for (size_t i = 0; i < sizeof(harms) / sizeof(harms[0]); i++) {
		print_message("# %s\n", harms[i]);
		exec(f->ledger,
		     "CREATE TABLE k1 AS SELECT * FROM posting; CREATE TABLE k2 AS SELECT * FROM"
		     " lifetime; CREATE TABLE k3 AS SELECT * FROM rollup; %s",
		     harms[i]);
		str_clear(&out);
		v = verified(f, &out);
		assert_false(verify_is_good(&v));
		assert_int_equal(v.lost != 0, strstr(harms[i], "DELETE") != NULL);
		assert_true(out.len > 0);
		exec(f->ledger,
		     "DELETE FROM posting; INSERT INTO posting SELECT * FROM k1; DROP TABLE k1;"
		     "DELETE FROM lifetime; INSERT INTO lifetime SELECT * FROM k2; DROP TABLE k2;"
		     "DELETE FROM rollup; INSERT INTO rollup SELECT * FROM k3; DROP TABLE k3");
		str_clear(&out);
		v = verified(f, &out);
		if (!verify_is_good(&v))
			fail_msg("%s", out.p);
	}
	str_fini(&out);
}

/* The triggers stop mistakes. */
static void test_booked_postings_are_kept(void **state)
{
	static const char *const tries[] = {
		"UPDATE posting SET nano = 1", "DELETE FROM posting",
		"UPDATE booking SET n = 1",    "DELETE FROM booking",
		"UPDATE life SET at_ms = 1",   "UPDATE price SET nano_h = 1",
		"UPDATE machine SET gpus = 1"};
	struct fixture *f = *state;

	fates[0] = (struct fate){"c0", 100, 200, 1000, true, false};
	write_life(f, &fates[0]);
	price(f, "spot", "quote", 5, 0);
	jobs_until(f, 10000);
	pass(f, 10000);
	for (size_t i = 0; i < sizeof(tries) / sizeof(tries[0]); i++) {
		char *why = NULL;
		sqlite3 *db;

		assert_int_equal(sqlite3_open(f->ledger, &db), SQLITE_OK);
		assert_int_equal(sqlite3_exec(db, tries[i], NULL, NULL, &why), SQLITE_CONSTRAINT);
		assert_non_null(strstr(why, "append-only"));
		sqlite3_free(why);
		sqlite3_close(db);
	}
}

static int count_nano(void *ctx, const struct charge *c, struct err *e)
{
	(void)e;
	*(int64_t *)ctx += c->nano;
	return 0;
}

/* More instances than are looked at at once: each is booked, checked and exported once. */
static void test_many_instances(void **state)
{
	enum { MANY = 2 * LIFETIMES_MAX + 50 };
	struct fixture *f = *state;
	int64_t nano = 0;
	struct verify v;
	struct str out;
	struct err e = {0};

	str_init(&out, 1 << 16);
	for (int i = 0; i < MANY; i++) {
		char node[16];

		(void)snprintf(node, sizeof(node), "m%d", i);
		machine(f, node);
		life(f, node, "wanted", 0, 0);
		life(f, node, "created", 100, 0);
		life(f, node, "ended", 101, 0);
	}
	pass(f, 10000);
	v = verified(f, &out);
	str_fini(&out);
	assert_int_equal(v.lifetimes, MANY);
	assert_true(verify_is_good(&v));
	assert_int_equal(charges_visit(f->l, 0, 100000, count_nano, &nano, &e), 0);
	assert_true(nano == MANY * INT64_C(60000000000)); /* the least that is billed */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_any_story_adds_up),     cmocka_unit_test(test_another_zone),
		cmocka_unit_test(test_every_change_is_found), TEST(test_changes_of_what_is_open),
		TEST(test_booked_postings_are_kept),          TEST(test_many_instances),
	};

	return cmocka_run_group_tests_name("ledger, verify", tests, NULL, NULL);
}
