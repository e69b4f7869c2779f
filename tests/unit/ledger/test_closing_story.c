/* test_closing_story.c - random lives of machines and jobs over three months, of which some is told
 * late, with invoices and closes between, and with kill -9: what is closed keeps its bytes, all
 * sums agree, and what nobody ever closed comes to the same. */
#include <signal.h>
#include <sys/wait.h>
#include <time.h>

#include "invoicing.h"
#include "story.h"

enum {
	STORIES = 12,
	STRETCH = 30, /* 70 days */
	KILLS = 40,
	ALLOWED = 1 << CLOSING_UNPRICED | 1 << CLOSING_UNSETTLED | 1 << CLOSING_UNENDED |
		  1 << CLOSING_QUARANTINED,
};

static void draw_months(void)
{
	draw();
	for (int i = 0; i < NODES; i++) {
		fates[i].created *= STRETCH;
		fates[i].ready *= STRETCH;
		fates[i].ended *= STRETCH;
	}
	for (int i = 0; i < JOBS; i++) {
		works[i].j.start *= STRETCH;
		works[i].j.end *= STRETCH;
	}
}

static void tell_step(const struct fixture *f, const struct fate *n, const char *kind, int64_t at,
		      int64_t after, int64_t until)
{
	if (at > after && at <= until)
		life(f, n->name, kind, at, strcmp(kind, "ended") == 0 ? at : 0);
}

/* What happened in (after, until], but for jobs that nobody tells of yet; and those of before. */
static void tell(struct fixture *f, int64_t after, int64_t until, int withheld)
{
	for (int i = 0; i < NODES; i++) {
		const struct fate *n = &fates[i];

		if (after < 0) {
			machine(f, n->name);
			buyer(f, n->name, 1);
		}
		tell_step(f, n, "wanted", 1, after, until);
		tell_step(f, n, "created", n->created, after, until);
		tell_step(f, n, "ready", n->ready, after, until);
		if (n->taken)
			tell_step(f, n, "taken", n->ended, after, until);
		if (n->ends)
			tell_step(f, n, "ended", n->ended, after, until);
	}
	pass(f, until);
	for (int i = 0; i < JOBS; i++) {
		struct job j = works[i].j;

		if (j.start > until || (withheld > 0 && i % withheld == 0))
			continue;
		if (j.end > until) {
			j.end = 0;
			j.state = "RUNNING";
		}
		job(f, &j);
	}
	settle_until(f, until);
}

static int64_t sum_by(struct fixture *f, const char *by)
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
	report_fini(&r);
	return sum;
}

static void assert_sums(struct fixture *f, int64_t at)
{
	static const char *const by[] = {"account",        "user,class", "day",
					 "month,pool",     "job",        "node",
					 "class,day,type", "provider"};
	const int64_t sum = ask(f->ledger, "SELECT COALESCE(SUM(nano), 0) FROM lifetime");

	for (size_t i = 0; i < sizeof(by) / sizeof(by[0]); i++)
		assert_true(sum_by(f, by[i]) == sum);
	assert_good(f, at);
}

static int64_t about(const struct fixture *f, int64_t month)
{
	char sql[240];

	(void)snprintf(sql, sizeof(sql),
		       "CASE WHEN kind & 256 THEN of_day ELSE day END BETWEEN %lld AND %lld",
		       (long long)date_month_day(month), (long long)date_month_day(month + 1) - 1);
	return money(f, sql);
}

/* Of some of the machines, of one that is not known, and of no machine. */
static void draw_invoice(struct str *out)
{
	str_clear(out);
	str_adds(out, HEAD);
	for (int i = 0; i < NODES; i++)
		if (roll(5) != 0)
			str_addf(out, "i-c%d,%lld.%03lld,EUR,,\n", i, (long long)roll(3000000),
				 (long long)roll(1000));
	str_addf(out,
		 "i-zz,%lld.5,EUR,,\n,12.3456789,EUR,Disks,\n,-3,EUR,Credit,\n,7,EUR,VAT,tax\n",
		 (long long)roll(100));
}

struct story {
	struct fixture *f, *never; /* the same, but for closing */
	char *closed[2];           /* November, December, as they were closed */
	struct str invoice;
	int64_t total; /* of the invoice */
};

static void both_tell(struct story *s, int64_t after, int64_t until, int withheld)
{
	tell(s->f, after, until, withheld);
	tell(s->never, after, until, withheld);
	assert_sums(s->f, until);
}

static void both_import(struct story *s, int64_t at)
{
	struct invoice_result r = import(s->f, s->invoice.p, NULL, at);

	s->total = r.nano;
	invoice_result_fini(&r);
	r = import(s->never, s->invoice.p, NULL, at);
	assert_true(r.nano == s->total);
	invoice_result_fini(&r);
	assert_sums(s->f, at);
	assert_true(about(s->f, NOVEMBER) == s->total);
}

static void close_it(struct story *s, int which, int64_t at)
{
	const int64_t month = NOVEMBER + which;

	if (try_close(s->f, month, at, ALLOWED) < 0)
		fail_msg("not closed: %s", obstacles(s->f, month, at));
	free(s->closed[which]);
	s->closed[which] = all_of(s->f, month);
	assert_sums(s->f, at);
}

static void assert_closed(struct story *s)
{
	for (int i = 0; i < 2; i++) {
		char *now;

		if (s->closed[i] == NULL)
			continue;
		now = all_of(s->f, NOVEMBER + i);
		assert_same_text(s->closed[i], now);
		free(now);
	}
}

/* What is reported of both, by day. */
static void assert_as_never_closed(struct story *s, int64_t at)
{
	struct fixture *const both[] = {s->f, s->never};
	struct str csv[2];

	for (int i = 0; i < 2; i++) {
		struct report_want w = {.from_day = 0, .to_day = 100000};
		struct report r;
		struct err e = {0};

		str_init(&csv[i], CLOSING_OUT);
		settle_until(both[i], at);
		assert_int_equal(report_parse(&w, "day,class,account,job,node", &e), 0);
		assert_int_equal(report_make(&r, both[i]->l, &w, &e), 0);
		report_csv(&r, &csv[i]);
		report_fini(&r);
	}
	assert_same_text(csv[1].p, csv[0].p);
	str_fini(&csv[0]);
	str_fini(&csv[1]);
}

static void play(struct story *s)
{
	const int way = (int)roll(3);

	draw_invoice(&s->invoice);
	both_tell(s, -1, DEC + 3600, 4);
	if (way == 0)
		both_import(s, DEC + 3601);
	close_it(s, 0, DEC + 3602);
	both_tell(s, DEC + 3600, DEC + 9 * DAY_S, 3);
	assert_closed(s);
	if (way == 1)
		both_import(s, DEC + 9 * DAY_S + 1);
	both_tell(s, DEC + 9 * DAY_S, JAN + 3600, 0);
	assert_closed(s);
	close_it(s, 1, JAN + 3601);
	both_tell(s, JAN + 3600, JAN + 2 * DAY_S, 0);
	if (way == 2)
		both_import(s, JAN + 2 * DAY_S + 1);
	assert_closed(s);
	if (roll(2) == 0) { /* the second revision */
		assert_int_equal(try_reopen(s->f, DECEMBER, JAN + 3 * DAY_S), 0);
		assert_sums(s->f, JAN + 3 * DAY_S);
		close_it(s, 1, JAN + 3 * DAY_S + 1);
	}
	both_tell(s, JAN + 2 * DAY_S, FEB, 0);
	assert_closed(s);
	/* Whatever is closed, the sum is the same, and that of November is its invoice. */
	assert_true(sum_by(s->f, "day") == sum_by(s->never, "day"));
	assert_true(about(s->f, NOVEMBER) == s->total);
	assert_int_equal(try_reopen(s->f, DECEMBER, FEB + 1), 0);
	assert_int_equal(try_reopen(s->f, NOVEMBER, FEB + 2), 0);
	assert_sums(s->f, FEB + 2);
	assert_as_never_closed(s, FEB + 3);
}

static void test_any_story(void **state)
{
	(void)state;
	for (int i = 0; i < STORIES; i++) {
		struct story s = {.total = 0};
		void *own[2] = {NULL, NULL};

		print_message("# story %d\n", i);
		assert_int_equal(setup(&own[0]), 0);
		assert_int_equal(setup(&own[1]), 0);
		s.f = own[0];
		s.never = own[1];
		str_init(&s.invoice, 1 << 16);
		draw_months();
		play(&s);
		free(s.closed[0]);
		free(s.closed[1]);
		str_fini(&s.invoice);
		assert_int_equal(teardown(&own[0]), 0);
		assert_int_equal(teardown(&own[1]), 0);
	}
}

/* --- kill -9 -----------------------------------------------------------------------------------
 */

static int64_t closings(const struct fixture *f)
{
	return ask(f->ledger, "SELECT COUNT(*) FROM closing");
}

static int64_t invoices(const struct fixture *f)
{
	return ask(f->ledger, "SELECT COUNT(*) FROM invoice");
}

/* What of it is not done yet. */
static void close_and_meet(struct fixture *f)
{
	struct invoice_result r;

	if (closings(f) == 0)
		close_month(f, NOVEMBER, DEC + 3600);
	if (invoices(f) == 0) {
		r = import(f, WHOLE, NULL, DEC + 4000);
		invoice_result_fini(&r);
	}
}

static int64_t now_us(void)
{
	struct timespec t;

	assert_int_equal(clock_gettime(CLOCK_MONOTONIC, &t), 0);
	return (int64_t)t.tv_sec * 1000000 + t.tv_nsec / 1000;
}

/* In a process of its own, which is killed after so long; us -1: never.  Returns how long it took.
 */
static int64_t run_and_kill(struct fixture *f, int64_t us)
{
	const int64_t begin = now_us();
	int status;
	pid_t pid;

	ledger_close(f->l);
	pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		open_ledger(f);
		close_and_meet(f);
		_exit(0);
	}
	if (us >= 0) {
		const struct timespec pause = {.tv_sec = us / 1000000,
					       .tv_nsec = us % 1000000 * 1000};

		(void)nanosleep(&pause, NULL);
		assert_int_equal(kill(pid, SIGKILL), 0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	open_ledger(f);
	return now_us() - begin;
}

/* Of an open month: nothing in it says when it was written. */
static char *focus_of(struct fixture *f, int64_t month)
{
	struct str out;

	str_init(&out, CLOSING_OUT);
	export_one(f, month, EXPORT_FOCUS, 0, &out);
	return str_take(&out);
}

/* At any moment: nothing of it happened, or all; and again gives the same bytes. */
static void test_kill(void **state)
{
	char *want[2] = {NULL, NULL};
	int64_t us = 0, some = 0, all = 0;

	(void)state;
	for (int i = -1; i < KILLS; i++) {
		struct fixture *f;
		void *own = NULL;
		char *has[2];

		assert_int_equal(setup(&own), 0);
		f = own;
		fill(f);
		if (i < 0)
			us = run_and_kill(f, -1);
		else
			(void)run_and_kill(f, us * i / KILLS);
		some += closings(f) != invoices(f);
		all += invoices(f);
		assert_true(closings(f) >= invoices(f));
		assert_int_equal(ask(f->ledger, "SELECT COUNT(*) FROM shown") > 0, closings(f));
		assert_int_equal(ask(f->ledger, "SELECT COUNT(*) FROM invoice_line") > 0,
				 invoices(f));
		assert_good(f, DEC + 4000);
		close_and_meet(f);
		assert_good(f, DEC + 4000);
		has[0] = all_of(f, NOVEMBER);
		has[1] = focus_of(f, DECEMBER);
		for (int k = 0; k < 2; k++) {
			if (want[k] == NULL)
				want[k] = has[k];
			else
				assert_same_text(want[k], has[k]);
			if (want[k] != has[k])
				free(has[k]);
		}
		assert_int_equal(teardown(&own), 0);
	}
	print_message("# killed %d times in %lld us: %lld were closed and not met, %lld both\n",
		      KILLS, (long long)us, (long long)some, (long long)all);
	free(want[0]);
	free(want[1]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_any_story),
		cmocka_unit_test(test_kill),
	};

	return cmocka_run_group_tests_name("ledger, stories of closes", tests, NULL, NULL);
}
