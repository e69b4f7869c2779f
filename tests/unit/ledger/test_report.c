/* test_report.c - what people see of the ledger: reports, the arithmetic of a job, its status; and
 * the lines for those who export it. */
#include "ledger/charges.h"
#include "ledger/explain.h"
#include "ledger/report.h"
#include "ledger/status.h"
#include "story.h"

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

/* Of thousands of jobs, each with two attempts whose postings are far from each other, each job is
 * one row, in the order of their numbers; what was taken back is none. */
static void test_many_rows(void **state)
{
	enum { MANY = 1499, ATTEMPTS = 2 * MANY };
	struct fixture *f = *state;
	struct report_want w = {.from_day = 0, .to_day = 100000};
	struct report r;
	struct err e = {0};
	size_t at = 0;

	exec(f->ledger,
	     "INSERT INTO word (id, text) VALUES (1, 'EUR');"
	     "INSERT INTO dims VALUES (1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1);"
	     "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < %d)"
	     " INSERT INTO attempt SELECT i, i * 611 %% %d + 1, i, i + 1, 0, i, i * 611 %% %d + 1,"
	     " 1, 1, 1, 1, 1, 1, 1, 0, 0, 0, 1, 0, 1, 0 FROM n;"
	     "WITH RECURSIVE n (i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < %d)"
	     " INSERT INTO posting SELECT NULL, 0, 1, 20000, 32, 1, i * 1009 %% %d + 1,"
	     " CASE i * 1009 %% %d + 1 WHEN 3 THEN 7 WHEN 1502 THEN -7 ELSE i * 1009 %% %d + 1 END,"
	     " 0, 0, 0, 1, 0, 0, 1, 0, 0 FROM n",
	     ATTEMPTS, MANY, MANY, ATTEMPTS - 1, ATTEMPTS, ATTEMPTS, ATTEMPTS);
	assert_int_equal(report_parse(&w, "job", &e), 0);
	assert_int_equal(report_make(&r, f->l, &w, &e), 0);
	assert_int_equal(r.n, MANY - 1); /* attempts 3 and 1502 are of one job */
	for (int64_t job = 1; job <= MANY; job++) {
		int64_t first = 1;

		while (first * 611 % MANY + 1 != job)
			first++;
		if (first == 3)
			continue;
		assert_int_equal(strtoll(r.rows[at].text[0], NULL, 10), job);
		assert_string_equal(r.rows[at].text[1], "EUR");
		assert_int_equal(r.rows[at++].nano, first + first + MANY);
	}
	report_fini(&r);
}

static struct report_row row_of(const char *account, int64_t nano)
{
	return (struct report_row){
		.nano = nano, .jobs_gpu_s = 7200, .gpu_s = 7200, .text = {account, "EUR"}};
}

/* No reader takes one for a formula, or chokes on what is no UTF-8 (a wckey has any bytes). */
static void test_texts_of_strangers(struct str *out)
{
	struct report_row rows[] = {row_of(" =1+1", 1),
				    row_of("\xef\xbc\x9d"
					   "1",
					   1),
				    row_of("\xff\n\x01", 1)};
	const struct report r = {
		.want = {.keys = {REPORT_ACCOUNT, REPORT_CURRENCY}, .n = 2}, .rows = rows, .n = 3};

	report_csv(&r, out);
	assert_non_null(strstr(out->p, "\n\"' =1+1\",EUR,"));
	assert_non_null(strstr(out->p, "\n\"'\xef\xbc\x9d"
				       "1\",EUR,"));
	assert_non_null(strstr(out->p, "\n\"?\n?\",EUR,"));
	str_clear(out);
	put_json(&r, out);
	assert_non_null(strstr(out->p, "\"account\":\"\xef\xbf\xbd\\u000a\\u0001\","));
	str_clear(out);
}

/* The word for the sum is there as a whole, however short the texts above it are. */
static void test_short_texts(void **state)
{
	struct report_row rows[] = {row_of("1", 1), row_of("2", 2)};
	const struct report by_job = {.want = {.keys = {REPORT_JOB, REPORT_CURRENCY}, .n = 2},
				      .rows = rows,
				      .n = 2,
				      .total = row_of("", 3),
				      .total_is_one = true};
	struct str out;

	(void)state;
	str_init(&out, OUT);
	report_table(&by_job, &out);
	assert_non_null(strstr(out.p, "\ntotal "));
	assert_non_null(strstr(out.p, "\n1     EUR "));
	str_fini(&out);
}

/* What reports print of hours is rounded, and by the same rule wherever it is printed: 64 s are
 * 0.02 hours, and an hour of them at 0.1025 costs 5.77. */
static void test_rounded_numbers(void **state)
{
	struct report_row rows[] = {
		{.nano = 102500000, .jobs_gpu_s = 64, .text = {"red", "EUR"}},
		{.nano = 1234567891, .jobs_gpu_s = 0, .text = {"blue", "EUR"}},
	};
	const struct report r = {
		.want = {.keys = {REPORT_ACCOUNT, REPORT_CURRENCY}, .n = 2}, .rows = rows, .n = 2};
	const struct report none = {.want = r.want};
	struct str out;

	(void)state;
	str_init(&out, OUT);
	report_table(&r, &out);
	assert_string_equal(out.p, "account currency        COST GPU-HOURS PER-HOUR\n"
				   "red     EUR      0.1025           0.02     5.77\n"
				   "blue    EUR      1.234567891      0.00\n");
	str_clear(&out);
	report_table(&none, &out);
	assert_string_equal(out.p, "no charges\n");
	str_fini(&out);
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
	put_json(&r, &out);
	assert_non_null(strstr(out.p, "{\"account\":\"a \\\"b\\\", c\",\"currency\":\"EUR\","
				      "\"cost\":\"123456789.000000001\","));
	assert_non_null(strstr(out.p, "\"total\":{"));
	str_clear(&out);
	test_texts_of_strangers(&out);
	report_table(&r, &out);
	for (char *line = out.p; *line != '\0'; line += strcspn(line, "\n") + 1) {
		size_t columns = 0;

		for (const char *p = line; *p != '\n'; p++)
			columns += ((unsigned char)*p & 0xc0) != 0x80;
		assert_true(columns <= 80);
	}
	assert_non_null(strstr(out.p, "~ EUR"));
	assert_non_null(strstr(out.p, " -0.000000005      2.00"));
	assert_non_null(strstr(out.p, "\ntotal "));
	str_fini(&out);
}

/* Of an end that the provider did not tell it is said between which lists it was. */
static void test_an_end_that_was_only_seen(void **state)
{
	struct fixture *f = *state;
	const struct book b = {.ledger = f->l, .calendar = &f->calendar, .currency = "EUR"};
	struct str out;
	struct err e = {0};

	str_init(&out, OUT);
	fates[0] = (struct fate){"c0", 100, 200, 1000, false, false};
	write_life(f, &fates[0]);
	pass(f, 1);
	job(f, &(struct job){1, 3, 300, 900, "COMPLETED", "c0"});
	life(f, "c0", "ended", 960, 0);
	pass(f, 2000);
	assert_int_equal(explain_job(&b, &(struct explain_want){.id = "1"}, &out, &e), 0);
	assert_non_null(strstr(out.p, "    its end was only seen, not told by the provider\n"));
	life(f, "c0", "shown", 930, 0);
	life(f, "c0", "ended", 961, 0);
	pass(f, 2000);
	str_clear(&out);
	assert_int_equal(explain_job(&b, &(struct explain_want){.id = "1"}, &out, &e), 0);
	assert_non_null(strstr(out.p, "not told by the provider: between 2026-11-10T00:15:30Z and "
				      "2026-11-10T00:16:01Z\n"));
	/* It was there, and its next end was told by nobody either. */
	life(f, "c0", "seen", 1000, 0);
	life(f, "c0", "ended", 1100, 0);
	pass(f, 2000);
	str_clear(&out);
	assert_int_equal(explain_job(&b, &(struct explain_want){.id = "1"}, &out, &e), 0);
	assert_non_null(strstr(out.p, "only seen, not told by the provider\n"));
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
	assert_int_equal(
		explain_job(&b, &(struct explain_want){.id = "1", .arithmetic = true}, &out, &e),
		0);
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
	assert_non_null(strstr(out.p, "\njob 1: "));
	assert_non_null(strstr(out.p, " EUR\n"));
	str_clear(&out);
	assert_int_equal(explain_job(&b, &(struct explain_want){.id = "1"}, &out, &e), 0);
	assert_null(strstr(out.p, "share"));
	/* What is given back is there, too. */
	str_clear(&out);
	life(f, "c0", "taken", 1000, 0);
	assert_int_equal(ledger_put_note(f->l, LEDGER_DRIVER "aws", "aws", &e), 0);
	pass(f, 2000);
	assert_int_equal(explain_job(&b, &(struct explain_want){.id = "1"}, &out, &e), 0);
	assert_non_null(strstr(out.p, "    given back by the provider, who took it: -"));
	assert_non_null(strstr(out.p, "job 1: 0.00 EUR\n"));
	assert_null(strstr(out.p, "computed anew"));
	str_clear(&out);
	exec(f->ledger, "UPDATE posting SET nano = nano + 1");
	assert_int_equal(explain_job(&b, &(struct explain_want){.id = "1"}, &out, &e), 0);
	assert_non_null(strstr(out.p, "computed anew it is"));
	assert_int_equal(explain_job(&b, &(struct explain_want){.id = "77"}, &out, &e), -1);
	assert_int_equal(explain_job(&b, &(struct explain_want){.id = "x"}, &out, &e), -1);
	str_fini(&out);
}

/* What burstd told of a job before it ran is a line of its own if that cost something, or if the
 * job never ran; else it would be a line of nothing. */
static void test_before_it_ran(void **state)
{
	struct fixture *f = *state;
	const struct book b = {.ledger = f->l, .calendar = &f->calendar, .currency = "EUR"};
	const struct explain_want want = {.id = "1"};
	struct str out;
	struct err e = {0};
	int64_t n;

	str_init(&out, OUT);
	fates[0] = (struct fate){"c0", 100, 200, 1000, true, false};
	write_life(f, &fates[0]);
	pass(f, 1);
	job(f, &(struct job){1, 3, 300, 900, "COMPLETED", "c0"});
	pass(f, 2000);
	exec(f->ledger, "INSERT OR IGNORE INTO word (text) VALUES ('said');"
			"INSERT INTO attempt SELECT 77, job, 1, 1, submit_s, 0, job_id, name,"
			" state, account, user, partition, qos, wckey, cpus, gpus, memory_mb,"
			" nnodes, 0, (SELECT id FROM word WHERE text = 'said'), seen_ms"
			" FROM attempt WHERE job = 1");
	exec(f->ledger, "INSERT INTO attempt SELECT 78, 2, 1, 1, submit_s, 0, '2', name, state,"
			" account, user, partition, qos, wckey, cpus, gpus, memory_mb, nnodes, 0,"
			" source, seen_ms FROM attempt WHERE id = 77");
	assert_int_equal(ledger_count_attempts(f->l, &n, &e), 0);
	assert_int_equal(n, 1); /* runs of jobs */
	assert_int_equal(explain_job(&b, &want, &out, &e), 0);
	assert_ptr_equal(strstr(out.p, "attempt 1, COMPLETED, "), out.p);
	str_clear(&out);
	exec(f->ledger, "UPDATE posting SET attempt = 77 WHERE attempt <> 0 AND kind & 15 = 2");
	assert_int_equal(explain_job(&b, &want, &out, &e), 0);
	assert_ptr_equal(strstr(out.p, "before it ran, account "), out.p);
	assert_non_null(strstr(out.p, "attempt 1, COMPLETED, "));
	str_clear(&out);
	/* A run is shown in any case. */
	exec(f->ledger, "DELETE FROM posting");
	assert_int_equal(explain_job(&b, &want, &out, &e), 0);
	assert_ptr_equal(strstr(out.p, "attempt 1, COMPLETED, "), out.p);
	str_clear(&out);
	exec(f->ledger, "DELETE FROM attempt WHERE id <> 77");
	assert_int_equal(explain_job(&b, &want, &out, &e), 0);
	assert_non_null(strstr(out.p, "before it ran, account physics, user anna, partition gpu: "
				      "0.00\n"));
	str_fini(&out);
}

/* Each line of the status has its name, also where no machine has ended yet. */
static void test_the_name_of_the_budgets(void **state)
{
	char none[] = "";
	struct status s = {
		.cluster = none, .zone = none, .source = none, .facts_why = none, .jobs_why = none};
	struct str out;

	(void)state;
	str_init(&out, OUT);
	s.jobs_agreed[LEDGER_JOBS_AGREE] = 2;
	status_print(&s, T0, &out);
	assert_non_null(strstr(out.p, "\nbudgets     2 of 2 daily sums of jobs are the same\n"));
	str_clear(&out);
	s.agreed[LEDGER_AGREES] = 1;
	status_print(&s, T0, &out);
	assert_non_null(strstr(out.p, "\nbudgets     1 of 1 daily sums of machines are the same\n"
				      "            2 of 2 daily sums of jobs are the same\n"));
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

static int take_a_job(void *ctx, const struct ledger_posting *p, struct err *e)
{
	(void)e;
	if (p->attempt != 0 && (p->kind & LEDGER_CLASS) == ALLOCATE_RUN)
		*(struct ledger_posting *)ctx = *p;
	return 0;
}

static int take_list(void *ctx, const struct charge *c, struct err *e)
{
	int64_t *list = ctx;

	(void)e;
	if (c->owner == ALLOCATE_JOB) {
		list[0]++;
		list[1] = c->list_nano;
	}
	return 0;
}

/* Whatever was booked: a line's list price is the last one, or not known if that one is not.  At
 * most it is 1e-9 too high, never below 0. */
static void test_list_prices_of_differences(void **state)
{
	static const struct {
		int64_t list, want;
	} rows[] = {
		{100, 100}, {60, 60}, {80, 80}, {20, 20}, {-1, -1}, {50, 50}, {49, 50},
		{48, 48},   {1, 1},   {0, 1},   {0, 1},   {-1, -1}, {-1, -1}, {0, 0},
		{7, 7},     {6, 7},   {5, 5},   {4, 5},   {3, 3},
	};
	struct fixture *f = *state;
	struct ledger_posting one = {0};
	struct err e = {0};
	bool changed;

	fates[0] = (struct fate){"c0", 100, 200, 1000, true, false};
	write_life(f, &fates[0]);
	pass(f, 1);
	job(f, &(struct job){1, 8, 300, 500, "COMPLETED", "c0"});
	pass(f, 300000);
	assert_int_equal(ledger_postings_of(f->l, 1, take_a_job, &one, &e), 0);
	assert_int_equal(one.lifetime, 1);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct ledger_posting p = one;
		struct ledger_change ch = {1, &p, 1, true, (T0 + 400000) * 1000};
		int64_t list[2] = {0};

		p.list_nano = rows[i].list;
		p.nano = 1000 + (int64_t)i;
		assert_int_equal(ledger_begin(f->l, &e), 0);
		assert_int_equal(ledger_set_postings(f->l, &ch, &changed, &e), 0);
		assert_int_equal(ledger_commit(f->l, &e), 0);
		assert_true(changed);
		assert_int_equal(charges_visit(f->l, 0, 100000, take_list, list, &e), 0);
		print_message("# %zu: %lld\n", i, (long long)list[1]);
		assert_int_equal(list[0], 1);
		assert_int_equal(list[1], rows[i].want);
	}
}

/* A late job takes from what nobody had: all of it has its list price, which is twice the price. */
static int check_list(void *ctx, const struct charge *c, struct err *e)
{
	(void)ctx;
	(void)e;
	assert_true(c->list_nano == 2 * c->nano);
	return 0;
}

static void test_list_prices_of_late_jobs(void **state)
{
	struct fixture *f = *state;
	struct err e = {0};

	fates[0] = (struct fate){"c0", 100, 200, 1000, true, false};
	write_life(f, &fates[0]);
	price(f, "on-demand", "quote", INT64_C(7200000000000), 0);
	pass(f, 300000);
	for (int i = 0; i < 3; i++) {
		job(f, &(struct job){1 + i, 8, 300 + 100 * i, 350 + 100 * i, "COMPLETED", "c0"});
		pass(f, 300000);
		assert_int_equal(charges_visit(f->l, 0, 100000, check_list, NULL, &e), 0);
	}
	assert_true(ask(f->ledger, "SELECT MIN(list_nano) FROM posting") < -1);
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
	assert_null(strstr(out.p, "quarantined"));
	str_clear(&out);
	status_json(&s, 5, &out);
	assert_non_null(strstr(out.p, "\"unpriced\":1,"));
	assert_non_null(strstr(out.p, "\"quarantined\":0,"));
	status_fini(&s);
	str_fini(&out);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_words_to_report_by),
		cmocka_unit_test(test_rounded_numbers),
		cmocka_unit_test(test_the_name_of_the_budgets),
		TEST(test_before_it_ran),
		cmocka_unit_test(test_forms),
		cmocka_unit_test(test_short_texts),
		TEST(test_the_order_of_rows),
		TEST(test_many_rows),
		TEST(test_an_end_that_was_only_seen),
		TEST(test_the_arithmetic_of_a_job),
		TEST(test_charges),
		TEST(test_list_prices_of_differences),
		TEST(test_list_prices_of_late_jobs),
		TEST(test_status),
	};

	return cmocka_run_group_tests_name("ledger, report", tests, NULL, NULL);
}
