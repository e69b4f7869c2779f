/* test_closing.c - a month that is closed does not change, whatever is told later; corrections are
 * in the month after; nothing is closed that is not settled. */
#include "closing.h"

#include "ledger/status.h"

#define UNIT INT64_C(1000000000) /* a second of a machine at 3,600 an hour */

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

/* Money of days in [from, to) of November, in seconds of a machine. */
static int64_t on(const struct fixture *f, int64_t month, const char *where)
{
	char sql[240];

	(void)snprintf(sql, sizeof(sql), "day >= %lld AND day < %lld AND %s",
		       (long long)date_month_day(month), (long long)date_month_day(month + 1),
		       where);
	return money(f, sql);
}

static void assert_obstacles(struct fixture *f, int64_t month, int64_t at, const char *want)
{
	char *has = obstacles(f, month, at);

	assert_string_equal(has, want);
	free(has);
	assert_int_equal(try_close(f, month, at, 0), want[0] == '\0' ? 0 : -1);
}

static void test_what_stands_in_the_way(void **state)
{
	struct fixture *f = *state;

	fill(f);
	pass(f, 1000);
	assert_obstacles(f, NOVEMBER, 2000, "not-over 1, unsettled 1");
	assert_obstacles(f, NOVEMBER, DEC, "behind 1, unsettled 1");
	settle_until(f, DEC + 3599);
	assert_obstacles(f, NOVEMBER, DEC + 3599, "behind 1");
	pass(f, DEC + 3600); /* jobs were not read so far */
	assert_obstacles(f, NOVEMBER, DEC + 3600, "behind 1");
	settle_until(f, DEC + 3600);
	assert_obstacles(f, NOVEMBER, DEC + 3600, "");
	assert_obstacles(f, NOVEMBER, DEC + 3600, "closed 1");
	assert_obstacles(f, NOVEMBER - 1, DEC + 3600, "closed 1"); /* nothing was in it */
	assert_int_equal(ask(f->ledger, "SELECT COUNT(*) FROM closing"), 1);
	assert_int_equal(ask(f->ledger, "SELECT who = 'anna' AND reason = 'it is time' AND zone ="
					" 'UTC' AND revision = 1 AND closed = 1 AND allowed = ''"
					" AND totals = 'EUR 900.0' FROM closing"),
			 1);
}

/* Without accounting nobody can say more after three days. */
static void test_without_jobs(void **state)
{
	struct fixture *f = *state;

	fill(f);
	pass(f, DEC + 72 * 3600 - 1);
	assert_obstacles(f, NOVEMBER, DEC + 72 * 3600, "behind 1");
	pass(f, DEC + 72 * 3600);
	assert_obstacles(f, NOVEMBER, DEC + 72 * 3600, "");
}

static void test_months_in_order(void **state)
{
	struct fixture *f = *state;

	fill(f);
	settle_until(f, JAN + 3600);
	assert_obstacles(f, DECEMBER, JAN + 3600, "earlier 1");
	close_month(f, NOVEMBER, JAN + 3600);
	close_month(f, DECEMBER, JAN + 3600);
	assert_int_equal(try_reopen(f, NOVEMBER, JAN + 3600), -1);
	assert_int_equal(try_reopen(f, DECEMBER, JAN + 3600), 0);
	assert_int_equal(try_reopen(f, DECEMBER, JAN + 3600), -1);
	assert_int_equal(try_reopen(f, NOVEMBER, JAN + 3600), 0);
	close_month(f, NOVEMBER, JAN + 3601);
	assert_int_equal(ask(f->ledger, "SELECT revision FROM closing WHERE seq = 3"), 1);
	assert_int_equal(ask(f->ledger, "SELECT revision FROM closing WHERE seq = 5"), 2);
	assert_good(f, JAN + 3601);
}

/* A chain of closes that was cut or changed is not written on: that would repair it. */
static void test_a_broken_chain_of_closes(void **state)
{
	static const char *const harms[] = {
		/* The record of December is cut off, and its days are open. */
		("DELETE FROM closing WHERE seq = 2; UPDATE number SET value = value - 31 WHERE"
		 " key = 'open_day'"),
		"DELETE FROM closing WHERE seq = 2",
		"UPDATE closing SET reason = 'x' WHERE seq = 1",
		"UPDATE number SET value = value + 1 WHERE key = 'open_day'", "DELETE FROM shown"};

	(void)state;
	for (size_t i = 0; i < sizeof(harms) / sizeof(harms[0]); i++) {
		struct fixture *f;
		void *own = NULL;
		char *has;

		print_message("# %s\n", harms[i]);
		assert_int_equal(setup(&own), 0);
		f = own;
		fill(f);
		settle_until(f, FEB + 3600);
		close_month(f, NOVEMBER, FEB + 3600);
		close_month(f, DECEMBER, FEB + 3600);
		exec(f->ledger,
		     "DROP TRIGGER closing_kept; DROP TRIGGER closing_stays; DROP TRIGGER"
		     " shown_stays; %s",
		     harms[i]);
		has = obstacles(f, JANUARY, FEB + 3600);
		assert_non_null(strstr(has, "chain 1"));
		free(has);
		assert_int_equal(try_close(f, JANUARY, FEB + 3600, ~0U), -1);
		assert_int_equal(try_reopen(f, DECEMBER, FEB + 3600), -1);
		assert_int_equal(try_reopen(f, NOVEMBER, FEB + 3600), -1);
		assert_int_equal(teardown(&own), 0);
	}
}

static void test_allowed_words(void **state)
{
	unsigned allowed = 99;
	struct err e = {0};

	(void)state;
	assert_int_equal(closing_parse_allowed("", &allowed, &e), 0);
	assert_int_equal(allowed, 0);
	assert_int_equal(closing_parse_allowed("unended,unpriced", &allowed, &e), 0);
	assert_int_equal(allowed, 1U << CLOSING_UNENDED | 1U << CLOSING_UNPRICED);
	assert_int_equal(closing_parse_allowed("chain", &allowed, &e), -1);
	assert_string_equal(e.msg,
			    "--allow: \"chain\" cannot be allowed; want unpriced, unsettled, "
			    "unended or quarantined");
	assert_int_equal(closing_parse_allowed("unprice", &allowed, &e), -1);
}

/* Late: a job that Slurm told of when the month was closed, a price, another end, another account,
 * names.  All that is said of November stays, and December has the difference. */
static void test_what_comes_late(void **state)
{
	struct fixture *f = *state;
	char *before, *after;
	struct str open, closed;

	fill(f);
	settle_until(f, DEC + 3600);
	str_init(&open, CLOSING_OUT);
	str_init(&closed, CLOSING_OUT);
	export_one(f, NOVEMBER, EXPORT_FOCUS, 0, &open);
	close_month(f, NOVEMBER, DEC + 3600);
	export_one(f, NOVEMBER, EXPORT_FOCUS, 0, &closed);
	assert_same_text(open.p, closed.p); /* to close it changes no charge */
	str_fini(&open);
	str_fini(&closed);
	before = all_of(f, NOVEMBER);
	assert_non_null(strstr(before, "CLOSED"));
	assert_null(strstr(before, "DRAFT"));
	assert_int_equal(on(f, NOVEMBER, "1"), 900 * UNIT);

	job(f, &(struct job){8, 8, 600, 800, "COMPLETED", "c1"});
	job(f, &(struct job){7, 2, 250, 260, "REQUEUED", "c1"}); /* and so 7 ran twice */
	exec(f->ledger, "UPDATE attempt SET account = (SELECT id FROM word WHERE text = 'gpu')"
			" WHERE job = 7; UPDATE attempt SET name = account");
	price(f, "on-demand", "quote", 7200 * UNIT, 0);
	life(f, "c1", "ended", 1001, 980); /* the provider says something else */
	settle_until(f, DEC + 7200);

	after = all_of(f, NOVEMBER);
	assert_same_text(before, after);
	free(before);
	free(after);
	assert_int_equal(on(f, NOVEMBER, "1"), 900 * UNIT);
	assert_int_equal(on(f, DECEMBER, "1"), -20 * UNIT);
	assert_int_equal(on(f, DECEMBER, "kind & 256 = 0"), 0);
	assert_int_equal(on(f, DECEMBER,
			    "kind = 32 + 256 AND attempt IN (SELECT id FROM attempt"
			    " WHERE job = 8)"),
			 200 * UNIT);
	assert_int_equal(ask(f->ledger, "SELECT COUNT(*) FROM posting WHERE kind & 256 AND day <>"
					" (SELECT value FROM number WHERE key = 'open_day')"),
			 0);
	assert_good(f, DEC + 7200);
	after = all_of(f, DECEMBER);
	assert_non_null(strstr(after, ",Correction,"));
	assert_non_null(strstr(after, "adjust:run"));
	assert_non_null(strstr(after, "2026-11, aws"));
	assert_non_null(strstr(after, "-20.00"));
	free(after);
	/* And so on. */
	settle_until(f, JAN + 3600);
	close_month(f, DECEMBER, JAN + 3600);
	before = all_of(f, DECEMBER);
	life(f, "c1", "ended", 1002, 970);
	settle_until(f, JAN + 7200);
	after = all_of(f, DECEMBER);
	assert_same_text(before, after);
	free(before);
	free(after);
	assert_int_equal(on(f, JANUARY, "1"), -10 * UNIT);
	assert_int_equal(on(f, JANUARY, "of_day >= day"), 0);
	assert_good(f, JAN + 7200);
}

/* An instance that goes on: its days of the month are booked, and no end is awaited. */
static void test_an_instance_that_goes_on(void **state)
{
	struct fixture *f = *state;
	struct closing_draft d;
	char *before, *after;
	struct err e = {0};
	struct str lines;
	struct book b;

	str_init(&lines, 1 << 16);
	fill(f);
	settle_until(f, 8000);
	b = book_at(f, 8000);
	assert_int_equal(ledger_begin(f->l, &e), 0);
	assert_int_equal(closing_look(&b, NOVEMBER, &d, &lines, &e), 0);
	assert_true(d.instances == 1 && d.go_on == 0);
	closing_draft_fini(&d);
	ledger_rollback(f->l);
	machine(f, "c2");
	life(f, "c2", "wanted", 0, 0);
	life(f, "c2", "created", DEC - 1000, 0);
	life(f, "c2", "ready", DEC - 900, 0);
	settle_until(f, DEC + 3600);
	job(f, &(struct job){9, 8, DEC - 500, 0, "RUNNING", "c2"});
	settle_until(f, DEC + 3601);
	assert_int_equal(ledger_begin(f->l, &e), 0);
	b = book_at(f, DEC + 3601);
	assert_int_equal(closing_look(&b, NOVEMBER, &d, &lines, &e), 0);
	assert_int_equal(d.instances, 2);
	assert_int_equal(d.go_on, 1);
	assert_int_equal(d.estimated, 0);
	assert_string_equal(d.totals, "EUR 1900.0");
	closing_draft_fini(&d);
	str_fini(&lines);
	ledger_rollback(f->l);
	close_month(f, NOVEMBER, DEC + 3601);
	before = all_of(f, NOVEMBER);
	assert_int_equal(on(f, NOVEMBER, "1"), 1900 * UNIT);
	assert_int_equal(on(f, NOVEMBER, "booking = 0"), 0);
	assert_int_equal(ask(f->ledger, "SELECT state FROM lifetime WHERE node = 'c2'"), 0);
	assert_int_equal(on(f, DECEMBER, "1"), 3601 * UNIT);
	/* Its node fails: what it did in November was in vain, too. */
	job(f, &(struct job){9, 8, DEC - 500, DEC + 4000, "NODE_FAIL", "c2"});
	life(f, "c2", "ended", DEC + 4000, 0);
	settle_until(f, DEC + 5000);
	assert_int_equal(on(f, DECEMBER, "kind & 256"), 0);
	assert_int_equal(on(f, DECEMBER, "kind = 1 + 32 + 256"), 500 * UNIT);
	assert_int_equal(on(f, DECEMBER, "kind = 0 + 32 + 256"), -500 * UNIT);
	settle_until(f, DEC + 8000);
	assert_int_equal(ask(f->ledger, "SELECT state FROM lifetime WHERE node = 'c2'"), 2);
	after = all_of(f, NOVEMBER);
	assert_same_text(before, after);
	free(before);
	free(after);
	assert_good(f, DEC + 8000);
}

/* As if it had never been closed; and when it is closed again it is the second revision. */
static void test_reopen(void **state)
{
	struct fixture *f = *state, *g;
	char *never, *again, *first;
	void *other = NULL;

	assert_int_equal(setup(&other), 0);
	g = other;
	fill(f);
	fill(g);
	settle_until(f, DEC + 3600);
	settle_until(g, DEC + 3600);
	close_month(f, NOVEMBER, DEC + 3600);
	first = all_of(f, NOVEMBER);
	job(f, &(struct job){8, 8, 600, 800, "COMPLETED", "c1"});
	job(g, &(struct job){8, 8, 600, 800, "COMPLETED", "c1"});
	settle_until(f, DEC + 7200);
	settle_until(g, DEC + 7200);
	assert_int_equal(ask(f->ledger, "SELECT COUNT(*) > 0 FROM posting WHERE kind & 256"), 1);
	assert_int_equal(try_reopen(f, NOVEMBER, DEC + 7300), 0);
	assert_int_equal(ask(f->ledger,
			     "SELECT reason = 'a mistake' AND who = 'bert' AND closed = 0"
			     " FROM closing WHERE seq = 2"),
			 1);
	assert_good(f, DEC + 7300);
	settle_until(f, DEC + 7400);
	settle_until(g, DEC + 7400);
	assert_int_equal(on(f, DECEMBER, "1"), 0);
	never = all_of(g, NOVEMBER);
	again = all_of(f, NOVEMBER);
	assert_non_null(strstr(again, "DRAFT"));
	assert_non_null(strstr(again, "<dt>Revision</dt><dd>2"));
	free(again);
	close_month(f, NOVEMBER, DEC + 7400);
	close_month(g, NOVEMBER, DEC + 7400);
	again = all_of(f, NOVEMBER);
	assert_string_not_equal(first, again);
	assert_non_null(strstr(again, "For revision 2, ledger "));
	free(again);
	/* Sums are those of the ledger that was never closed before. */
	for (int way = 0; way < 2; way++) {
		struct str a, b;

		str_init(&a, CLOSING_OUT);
		str_init(&b, CLOSING_OUT);
		export_one(f, NOVEMBER, EXPORT_FOCUS, way, &a);
		export_one(g, NOVEMBER, EXPORT_FOCUS, way, &b);
		assert_same_text(a.p, b.p);
		str_fini(&a);
		str_fini(&b);
	}
	assert_good(f, DEC + 7400);
	free(never);
	free(first);
	assert_int_equal(teardown(&other), 0);
}

/* Whoever changes what is closed is found out; the first mistake is stopped by the tables. */
static void test_changes_are_found(void **state)
{
	static const char *const rows[] = {
		"UPDATE closing SET reason = 'another' WHERE seq = 1",
		"UPDATE closing SET at_ms = at_ms + 1 WHERE seq = 1",
		"UPDATE closing SET who = 'somebody' WHERE seq = 2",
		"UPDATE closing SET totals = 'EUR 1.0' WHERE seq = 1",
		"UPDATE closing SET n = n - 1 WHERE seq = 1",
		"DELETE FROM closing WHERE seq = 1",
		"DELETE FROM closing WHERE seq = 2",
		"DELETE FROM closing; DELETE FROM note WHERE key = 'closing_head'",
		"UPDATE number SET value = value - 1 WHERE key = 'open_day'",
		"UPDATE shown SET name = job_id + 1 WHERE closing = 1",
		"DELETE FROM shown WHERE closing = 1",
		"UPDATE place SET gpus = gpus + 1",
		"DROP TRIGGER booking_kept; UPDATE booking SET hash = hash || '0'",
		"UPDATE word SET text = 'm' WHERE text = 'name'",
		"INSERT INTO posting (booking, lifetime, day, kind, dims, attempt, nano, gpu_s,"
		" cpu_s, from_s, to_s, time_s, part, whole, list_nano) SELECT 0, lifetime, day,"
		" kind, dims, attempt, 0, 0, 0, from_s, to_s, 0, 0, 0, 0 FROM posting LIMIT 1",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct fixture *f;
		void *own = NULL;
		struct str out;
		struct verify v;

		print_message("# %s\n", rows[i]);
		assert_int_equal(setup(&own), 0);
		f = own;
		str_init(&out, CLOSING_OUT);
		fill(f);
		settle_until(f, JAN + 3600);
		close_month(f, NOVEMBER, JAN + 3600);
		close_month(f, DECEMBER, JAN + 3600);
		exec(f->ledger,
		     "DROP TRIGGER closing_kept; DROP TRIGGER closing_stays; DROP TRIGGER"
		     " shown_kept; DROP TRIGGER shown_stays; DROP TRIGGER place_kept;"
		     "DROP TRIGGER posting_open");
		v = verify_at(f, JAN + 3600, &out);
		assert_true(verify_is_good(&v));
		assert_int_equal(v.periods.closings, 2);
		exec(f->ledger, "%s", rows[i]);
		v = verify_at(f, JAN + 3600, &out);
		assert_true(v.periods.bad != 0);
		assert_false(verify_is_good(&v));
		assert_non_null(strstr(out.p, "closing "));
		str_fini(&out);
		assert_int_equal(teardown(&own), 0);
	}
}

/* What is late is chained with the day that it is about. */
static void test_a_late_posting_is_chained(void **state)
{
	struct fixture *f = *state;
	struct verify v;
	struct str out;

	fill(f);
	settle_until(f, DEC + 3600);
	close_month(f, NOVEMBER, DEC + 3600);
	life(f, "c1", "ended", 1001, 980);
	settle_until(f, DEC + 7200);
	str_init(&out, CLOSING_OUT);
	exec(f->ledger, "DROP TRIGGER posting_kept; UPDATE posting SET of_day = of_day - 1 WHERE"
			" kind & 256");
	v = verify_at(f, DEC + 7200, &out);
	assert_true(v.chain.bad != 0);
	str_fini(&out);
}

/* Commands say it. */
static void test_what_is_closed_is_said(void **state)
{
	struct jsonw json = {.first = true};
	struct fixture *f = *state;
	struct status s = {0};
	struct closing_state how;
	struct report r = {.memory = NULL};
	struct report_want w = {.from_day = date_month_day(NOVEMBER),
				.to_day = date_month_day(DECEMBER)};
	struct str out;
	struct err e = {0};

	fill(f);
	settle_until(f, DEC + 3600);
	str_init(&out, 1 << 16);
	assert_int_equal(status_read(&s, f->l, f->ledger, &e), 0);
	status_print(&s, T0, &out);
	assert_null(strstr(out.p, "closed"));
	status_fini(&s);
	close_month(f, NOVEMBER, DEC + 3600);
	assert_int_equal(status_read(&s, f->l, f->ledger, &e), 0);
	status_print(&s, T0, &out);
	assert_non_null(strstr(out.p, "closed      until 2026-11, included\n"));
	status_json(&s, T0, &out);
	assert_non_null(strstr(out.p, "\"closed_until\":\"2026-11\""));
	status_fini(&s);
	assert_int_equal(closing_state(f->l, NOVEMBER, &how, &e), 0);
	assert_string_equal(closing_state_str(&how), "closed");
	assert_int_equal(how.revision, 1);
	assert_int_equal(how.at_ms, (T0 + DEC + 3600) * 1000);
	assert_int_equal(report_parse(&w, "account", &e), 0);
	assert_int_equal(report_make(&r, f->l, &w, &e), 0);
	r.state = closing_state_str(&how);
	r.revision = how.revision;
	str_clear(&out);
	report_table(&r, &out);
	assert_non_null(strstr(out.p, "\nclosed, revision 1\n"));
	json.out = &out;
	jsonw_open(&json, NULL, '{');
	report_json_put(&r, &json);
	assert_non_null(strstr(out.p, "\"state\":\"closed\",\"revision\":1,"));
	report_fini(&r);
	assert_int_equal(try_reopen(f, NOVEMBER, DEC + 3700), 0);
	assert_int_equal(closing_state(f->l, NOVEMBER, &how, &e), 0);
	assert_string_equal(closing_state_str(&how), "reopened");
	str_fini(&out);
}

/* What a correction takes back is less than no hours, and no hour of it has a price. */
static void test_hours_that_are_taken_back(void **state)
{
	struct fixture *f = *state;
	struct report_want w = {.from_day = date_month_day(DECEMBER),
				.to_day = date_month_day(DECEMBER + 1)};
	struct report r;
	struct str out;
	struct err e = {0};

	november(f, "c1");
	life(f, "c1", "ended", 90000, 90000);
	pass(f, 1);
	job(f, &(struct job){7, 4, 300, 85000, "COMPLETED", "c1"});
	settle_until(f, DEC + 3600);
	close_month(f, NOVEMBER, DEC + 3600);
	job(f, &(struct job){7, 4, 300, 83000, "COMPLETED", "c1"});
	settle_until(f, DEC + 7200);
	str_init(&out, CLOSING_OUT);
	assert_int_equal(report_parse(&w, "account", &e), 0);
	assert_int_equal(report_make(&r, f->l, &w, &e), 0);
	report_table(&r, &out);
	report_fini(&r);
	assert_string_equal(out.p, "account currency     COST GPU-HOURS PER-HOUR\n"
				   "-       EUR       1000.00      0.00\n"
				   "physics EUR      -1000.00     -2.22\n"
				   "total   EUR          0.00     -2.22\n");
	str_fini(&out);
}

/* A ledger from before there were periods: its bookings keep their hashes, and it can be closed. */
static void test_an_older_ledger(void **state)
{
	struct fixture *f = *state;

	fill(f);
	settle_until(f, DEC + 3600);
	ledger_close(f->l);
	exec(f->ledger,
	     "DROP TABLE stay; DROP TABLE spent_job; DROP TABLE job_agreement;"
	     "DROP TABLE budget_override; DROP TABLE budget_period;"
	     "DROP TRIGGER posting_open; DROP INDEX lifetime_instance; DROP TABLE closing;"
	     "DROP TABLE shown; DROP TABLE place; DROP TABLE invoice; DROP TABLE invoice_line;"
	     "ALTER TABLE posting DROP COLUMN of_day; PRAGMA user_version = 3");
	open_ledger(f);
	assert_int_equal(ask(f->ledger, "PRAGMA user_version"), 9);
	assert_int_equal(ask(f->ledger, "SELECT COUNT(*) > 0 FROM posting WHERE booking <> 0"), 1);
	assert_good(f, DEC + 3600);
	close_month(f, NOVEMBER, DEC + 3600);
	life(f, "c1", "ended", 1001, 980);
	settle_until(f, DEC + 7200);
	assert_int_equal(on(f, NOVEMBER, "1"), 900 * UNIT);
	assert_int_equal(on(f, DECEMBER, "1"), -20 * UNIT);
	assert_good(f, DEC + 7200);
}

static void test_the_tables_refuse(void **state)
{
	static const char *const tries[] = {
		"UPDATE closing SET n = 1",
		"DELETE FROM closing",
		"UPDATE shown SET rate_nano_h = 1",
		"DELETE FROM shown",
		"UPDATE place SET gpus = 1",
		"INSERT INTO posting (booking, lifetime, day, kind, dims, attempt, nano, gpu_s,"
		" cpu_s, from_s, to_s, time_s, part, whole, list_nano) SELECT 0, lifetime, day,"
		" kind, dims, attempt, 0, 0, 0, from_s, to_s, 0, 0, 0, 0 FROM posting LIMIT 1"};
	struct fixture *f = *state;

	fill(f);
	settle_until(f, DEC + 3600);
	close_month(f, NOVEMBER, DEC + 3600);
	for (size_t i = 0; i < sizeof(tries) / sizeof(tries[0]); i++) {
		char *why = NULL;
		sqlite3 *db;

		assert_int_equal(sqlite3_open(f->ledger, &db), SQLITE_OK);
		assert_int_equal(sqlite3_exec(db, tries[i], NULL, NULL, &why), SQLITE_CONSTRAINT);
		sqlite3_free(why);
		sqlite3_close(db);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_what_stands_in_the_way),
		TEST(test_without_jobs),
		TEST(test_months_in_order),
		cmocka_unit_test(test_a_broken_chain_of_closes),
		cmocka_unit_test(test_allowed_words),
		TEST(test_what_comes_late),
		TEST(test_an_instance_that_goes_on),
		TEST(test_reopen),
		cmocka_unit_test(test_changes_are_found),
		TEST(test_a_late_posting_is_chained),
		TEST(test_what_is_closed_is_said),
		TEST(test_hours_that_are_taken_back),
		TEST(test_an_older_ledger),
		TEST(test_the_tables_refuse),
	};

	return cmocka_run_group_tests_name("ledger, closing", tests, NULL, NULL);
}
