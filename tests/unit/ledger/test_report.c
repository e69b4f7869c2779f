/* test_report.c - random lives of machines and jobs: whatever is asked, its rows add up to the
 * bills; the ledger is found to be as it was written, and every change of it is found; and the
 * arithmetic of a job is what the ledger has. */
#include "fixture.h"
#include "ledger/charges.h"
#include "ledger/explain.h"
#include "ledger/report.h"
#include "ledger/status.h"
#include "ledger/verify.h"

enum { NODES = 6, JOBS = 25, SPAN = 200000, ROUNDS = 40, OUT = 1 << 20 };

static uint64_t dice = 88172645463325252;

static int64_t roll(int64_t below)
{
	dice ^= dice << 13;
	dice ^= dice >> 7;
	dice ^= dice << 17;
	return (int64_t)(dice % (uint64_t)below);
}

struct fate { /* of a node */
	char name[8];
	int64_t created, ready, ended;
	bool ends, taken;
};

struct work {
	struct job j;
	char nodes[32];
};

static struct fate fates[NODES];
static struct work works[JOBS];

static void draw(void)
{
	static const char *const states[] = {"COMPLETED", "REQUEUED", "NODE_FAIL", "FAILED"};

	for (int i = 0; i < NODES; i++) {
		struct fate *n = &fates[i];

		(void)snprintf(n->name, sizeof(n->name), "c%d", i);
		n->created = 10 + roll(SPAN / 2);
		n->ready = n->created + roll(500);
		n->ended = n->ready + roll(SPAN / 2);
		n->ends = roll(4) != 0;
		n->taken = roll(2) == 0;
	}
	for (int i = 0; i < JOBS; i++) {
		struct work *w = &works[i];
		int a = (int)roll(NODES), b = (int)roll(NODES);
		int64_t life = fates[a].ended - fates[a].ready + 1;

		w->j = (struct job){.job = 1 + (int)roll(12), .gpus = (int)roll(9)};
		/* Each attempt of a job has another begin. */
		w->j.start = fates[a].ready + roll(life) * JOBS / JOBS + i;
		w->j.end = w->j.start + roll(life);
		w->j.state = states[roll(4)];
		(void)snprintf(w->nodes, sizeof(w->nodes), a == b ? "c%d" : "c%d,c%d", a, b);
		w->j.nodes = w->nodes;
	}
}

static void write_life(const struct fixture *f, const struct fate *n)
{
	machine(f, n->name);
	buyer(f, n->name, 1);
	buyer(f, n->name, 2);
	life(f, n->name, "wanted", 0, 0);
	life(f, n->name, "created", n->created, 0);
	life(f, n->name, "ready", n->ready, 0);
	if (n->taken)
		life(f, n->name, "taken", n->ended, 0);
	if (n->ends)
		life(f, n->name, "ended", n->ended, n->ended);
}

static void write_all(const struct fixture *f, bool backwards)
{
	for (int i = 0; i < NODES; i++)
		write_life(f, &fates[backwards ? NODES - 1 - i : i]);
	pass(f, 1);
	for (int i = 0; i < JOBS; i++)
		job(f, &works[backwards ? JOBS - 1 - i : i].j);
}

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

static void test_words_to_report_by(void **state)
{
	static const char *const bad[] = {"accounts", "account,,day", "day,day", "x",
					  "account,user,partition,qos,wckey,day"};
	struct report_want w;
	struct err e = {0};

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_int_equal(report_parse(&w, bad[i], &e), -1);
	assert_int_equal(report_parse(&w, "day,currency,node", &e), 0);
	assert_int_equal(w.n, 3);
	assert_int_equal(w.keys[0], REPORT_DAY);
	assert_int_equal(w.keys[2], REPORT_CURRENCY);
}

/* Days and classes in their order, jobs by number. */
static void test_the_order_of_rows(void **state)
{
	struct fixture *f = *state;
	struct report_want w = {.from_day = 0, .to_day = 100000};
	struct report r;
	struct err e = {0};

	fates[0] = (struct fate){"c0", 100, 200, 200000, true, false};
	write_life(f, &fates[0]);
	pass(f, 1);
	job(f, &(struct job){10, 3, 300, 400, "COMPLETED", "c0"});
	job(f, &(struct job){9, 3, 100000, 100100, "NODE_FAIL", "c0"});
	pass(f, 300000);
	assert_int_equal(report_parse(&w, "class,job", &e), 0);
	assert_int_equal(report_make(&r, f->l, &w, &e), 0);
	assert_string_equal(r.rows[0].text[0], "run");
	assert_string_equal(r.rows[1].text[0], "lost");
	assert_string_equal(r.rows[2].text[0], "boot");
	report_fini(&r);
	assert_int_equal(report_parse(&w, "job", &e), 0);
	assert_int_equal(report_make(&r, f->l, &w, &e), 0);
	assert_int_equal(r.n, 3);
	assert_string_equal(r.rows[0].text[0], ""); /* nobody's */
	assert_string_equal(r.rows[1].text[0], "9");
	assert_string_equal(r.rows[2].text[0], "10");
	report_fini(&r);
	/* Only of one day. */
	w.from_day = T0 / 86400 + 1;
	w.to_day = w.from_day + 1;
	assert_int_equal(report_make(&r, f->l, &w, &e), 0);
	assert_int_equal(r.n, 2);
	assert_true(r.total.nano == INT64_C(86400) * 1000000000);
	report_fini(&r);
	assert_int_equal(report_parse(&w, "day", &e), 0);
	assert_int_equal(report_make(&r, f->l, &w, &e), 0);
	assert_int_equal(r.n, 1);
	assert_string_equal(r.rows[0].text[0], "2026-11-11");
	assert_true(r.total.nano == INT64_C(86400) * 1000000000);
	report_fini(&r);
}

static struct report_row row_of(const char *account, int64_t nano)
{
	return (struct report_row){
		.nano = nano, .jobs_gpu_s = 7200, .gpu_s = 7200, .text = {account, "EUR"}};
}

static void test_forms(void **state)
{
	struct report_row rows[] = {row_of("=cmd|'/c calc'!A1", 1),
				    row_of("a \"b\", c", INT64_C(123456789000000001)),
				    row_of("an account whose name is longer than any terminal "
					   "would ever be wide, \xc3\xa4"
					   "\xc3\xb6\xc3\xbc",
					   -5),
				    row_of("", 0)};
	const struct report r = {.want = {.keys = {REPORT_ACCOUNT, REPORT_CURRENCY}, .n = 2},
				 .rows = rows,
				 .n = 4,
				 .total = row_of("", 17),
				 .total_is_one = true};
	struct str out;

	(void)state;
	str_init(&out, OUT);
	report_csv(&r, &out);
	assert_non_null(strstr(out.p, "\n\"'=cmd|'/c calc'!A1\",EUR,0.000000001,7200,0,7200\n"));
	assert_non_null(strstr(out.p, "\n\"a \"\"b\"\", c\",EUR,123456789.000000001,"));
	str_clear(&out);
	report_json(&r, &out);
	assert_non_null(strstr(out.p, "{\"account\":\"a \\\"b\\\", c\",\"currency\":\"EUR\","
				      "\"cost\":\"123456789.000000001\","));
	assert_non_null(strstr(out.p, "\"total\":{"));
	str_clear(&out);
	report_json_text(&out, "\n\x01");
	assert_string_equal(out.p, "\"\\u000a\\u0001\"");
	str_clear(&out);
	report_table(&r, &out);
	for (char *line = out.p; *line != '\0'; line += strcspn(line, "\n") + 1) {
		size_t columns = 0;

		for (const char *p = line; *p != '\n'; p++)
			columns += ((unsigned char)*p & 0xc0) != 0x80;
		assert_true(columns <= 80);
	}
	assert_non_null(strstr(out.p, "~ EUR"));
	assert_non_null(strstr(out.p, " -0.000000005      2.00"));
	assert_non_null(strstr(out.p, "total "));
	str_fini(&out);
}

static void test_the_arithmetic_of_a_job(void **state)
{
	struct fixture *f = *state;
	const struct book b = {.ledger = f->l, .calendar = &f->calendar, .currency = "EUR"};
	struct str out;
	struct err e = {0};

	str_init(&out, OUT);
	fates[0] = (struct fate){"c0", 100, 200, 1000, true, false};
	write_life(f, &fates[0]);
	price(f, "spot", "quote", 1000000007, 0);
	pass(f, 1);
	job(f, &(struct job){1, 3, 300, 303, "REQUEUED", "c0"});
	job(f, &(struct job){1, 3, 400, 900, "COMPLETED", "c0"});
	pass(f, 2000);
	assert_int_equal(explain_job(&b, "1", true, &out, &e), 0);
	/* 3 s at 1.000000007 an hour are 833333 nano-units and a half or so, of which 3/8. */
	assert_non_null(strstr(out.p,
			       "attempt 1, REQUEUED, 2026-11-10T00:05:00Z to 2026-11-10T00:05:03Z,"
			       " account physics, user anna, partition gpu: "));
	assert_non_null(strstr(out.p, "  on c0, instance i-c0: "));
	assert_non_null(strstr(out.p, " 3 s at 1.000000007 an hour: run\n"));
	assert_non_null(strstr(out.p, "the machine until then: 56388889 - 55555556 = 833333"));
	assert_non_null(strstr(out.p, "share 360000 of 960000: 312499 and 840000/960000, rounded up"
				      " = 312500\n"));
	assert_non_null(strstr(out.p, "attempt 2, COMPLETED, "));
	assert_null(strstr(out.p, "computed anew"));
	str_clear(&out);
	assert_int_equal(explain_job(&b, "1", false, &out, &e), 0);
	assert_null(strstr(out.p, "share"));
	str_clear(&out);
	exec(f->ledger, "UPDATE posting SET nano = nano + 1");
	assert_int_equal(explain_job(&b, "1", false, &out, &e), 0);
	assert_non_null(strstr(out.p, "computed anew it is"));
	assert_int_equal(explain_job(&b, "77", false, &out, &e), -1);
	assert_int_equal(explain_job(&b, "x", false, &out, &e), -1);
	str_fini(&out);
}

struct charges {
	int64_t nano, lost, boots, gpu_s;
	size_t n;
};

static int take_charge(void *ctx, const struct charge *c, struct err *e)
{
	struct charges *all = ctx;

	(void)e;
	all->n++;
	all->nano += c->nano;
	all->gpu_s += c->gpu_s;
	assert_true(c->start_s <= c->end_s && c->start_s / 86400 == (c->end_s - 1) / 86400);
	assert_string_equal(c->node, "c0");
	assert_string_equal(c->instance, "i-c0");
	assert_string_equal(c->provider, "aws");
	assert_string_equal(c->offer, "spot-a");
	assert_string_equal(c->zone, "eu-a");
	assert_string_equal(c->currency, "EUR");
	assert_int_equal(c->market, PROVIDER_SPOT);
	assert_true(c->rate_nano_h == INT64_C(3600000000000));
	assert_true(c->list_rate_nano_h == -1 && c->list_nano == -1);
	assert_true(c->share_part > 0 && c->share_part <= c->share_whole && c->billed_s > 0);
	if (c->owner != ALLOCATE_JOB) {
		assert_string_equal(c->account, "");
		return 0;
	}
	assert_int_equal(c->job, 1);
	assert_string_equal(c->account, "physics");
	assert_string_equal(c->job_name, "name");
	all->lost += c->class == ALLOCATE_LOST ? c->nano : 0;
	all->boots += c->class == ALLOCATE_BOOT ? c->nano : 0;
	if (c->class == ALLOCATE_LOST)
		assert_int_equal(c->attempt, 1);
	else if (c->class == ALLOCATE_RUN)
		assert_int_equal(c->attempt, 2);
	return 0;
}

static int stop(void *ctx, const struct charge *c, struct err *e)
{
	(void)ctx;
	(void)c;
	return err_set(e, ERR_LIMIT, "enough");
}

/* What exports are made of: all of the bill, with all that is known of it. */
static void test_charges(void **state)
{
	struct fixture *f = *state;
	struct charges all = {0};
	struct err e = {0};
	const int64_t day = T0 / 86400;

	machine(f, "c0");
	buyer(f, "c0", 1);
	life(f, "c0", "wanted", 0, 0);
	life(f, "c0", "created", 100, 0);
	life(f, "c0", "ready", 200, 0);
	life(f, "c0", "ended", 90000, 0);
	pass(f, 1);
	job(f, &(struct job){1, 4, 300, 500, "NODE_FAIL", "c0"});
	job(f, &(struct job){1, 8, 600, 88000, "COMPLETED", "c0"});
	pass(f, 100000);
	assert_int_equal(charges_visit(f->l, 0, 100000, take_charge, &all, &e), 0);
	assert_true(all.nano == INT64_C(89900) * 1000000000);
	assert_true(all.lost == INT64_C(100) * 1000000000);
	assert_true(all.boots == INT64_C(100) * 1000000000);
	assert_int_equal(all.gpu_s, (89900 - 100) * 8 + 100 * 4); /* the boot: what was asked */
	all = (struct charges){0};
	assert_int_equal(charges_visit(f->l, day + 1, day + 2, take_charge, &all, &e), 0);
	assert_true(all.nano == INT64_C(3600) * 1000000000);
	assert_int_equal(charges_visit(f->l, day + 2, day + 3, take_charge, &all, &e), 0);
	assert_int_equal(charges_visit(f->l, day, day + 2, stop, NULL, &e), -1);
}

static void test_status(void **state)
{
	struct fixture *f = *state;
	struct status s;
	struct str out;
	struct err e = {0};

	str_init(&out, OUT);
	fates[0] = (struct fate){"c0", 100, 200, 1000, true, false};
	fates[1] = (struct fate){"c1", 100, 200, 1000, false, false};
	write_life(f, &fates[0]);
	write_life(f, &fates[1]);
	exec(f->journal, "DROP TRIGGER life_append_only;"
			 "UPDATE life SET rate_nano_h = 0 WHERE node = 'c1'");
	pass(f, 2000);
	assert_int_equal(status_read(&s, f->l, f->ledger, &e), 0);
	assert_int_equal(s.states[LEDGER_OPEN], 1);
	assert_int_equal(s.states[LEDGER_ENDED], 1);
	assert_int_equal(s.unpriced, 1);
	assert_int_equal(s.nproblems, 1);
	assert_string_equal(s.problems[0].node, "c1");
	assert_true(s.bytes > 10000);
	status_print(&s, (T0 + 2060) * 1000, &out);
	assert_non_null(strstr(out.p, "last pass   2026-11-10T00:33:20.000Z, 1m00s ago\n"));
	assert_non_null(
		strstr(out.p, "unpriced    1 instances have no price: they are in no sum\n"));
	assert_non_null(strstr(out.p, "  c1, instance i-c1: no price is known at "));
	str_clear(&out);
	status_json(&s, 5, &out);
	assert_non_null(strstr(out.p, "\"unpriced\":1,"));
	status_fini(&s);
	str_fini(&out);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_any_story_adds_up),
		cmocka_unit_test(test_another_zone),
		cmocka_unit_test(test_every_change_is_found),
		TEST(test_booked_postings_are_kept),
		cmocka_unit_test(test_words_to_report_by),
		cmocka_unit_test(test_forms),
		TEST(test_the_arithmetic_of_a_job),
		TEST(test_charges),
		TEST(test_the_order_of_rows),
		TEST(test_status),
	};

	return cmocka_run_group_tests_name("ledger, report", tests, NULL, NULL);
}
