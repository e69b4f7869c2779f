/* test_postpone_anew.c - a job that could not have its nodes, for a reason that no wait can mend:
 * it waits a day, and is decided anew when something has changed. */
#include "postponed_anew.h"
#include "tests/unit/payer_row.h"

static void test_it_waits_a_day(void **state)
{
	(void)state;
	refuse_for_good();
	assert_true(F.wait_ms > 86390000 && F.wait_ms <= 86400000);
	assert_string_equal(F.comment, "burstd: this job needs 12 nodes, the pool allows 8; tried "
				       "again when that changes, or at 2027-01-16T07:30:00 (in "
				       "23h59m)");
	later("PENDING", 7, 86339, F.comment);
	assert_string_equal(F.started, "");
}

static void test_decided_anew_after_a_reload(void **state)
{
	(void)state;
	refuse_for_good();
	postpone_anew(&F.e);
	details("PENDING", 7, 86400, F.comment);
	assert_string_equal(F.started, "7_2");
	ended("start", "", NULL);
	assert_string_equal(F.event,
			    "job-anew: job 7_2 (job 107) may try again: something has changed");
	assert_int_equal(F.put.r.wait_ms, REFUSAL_MS); /* after a restart it waits no day either */
	F.started[0] = '\0';
	later("PENDING", 7, 0, F.comment); /* once */
	assert_string_equal(F.started, "");
}

/* F47: what it was told to wait for waits for its own turn: then slurmctld shows the begin time of
 * before, which nobody has set since. */
static void test_decided_anew_before_slurmctld_has_heard(void **state)
{
	(void)state;
	F.bad.hint.lasting = true;
	refuse("this job needs 12 nodes, the pool allows 8");
	details("PENDING", 7, 6, "");
	postpone_anew(&F.e);
	details("PENDING", 7, 6, "");
	assert_string_equal(F.started, "");
	W.asked[0] = '\0';
	W.now += 4999;
	postpone_part.at[PART_RUN](&F.e);
	assert_string_equal(W.asked, "");        /* but it is looked at soon */
	W.now += 5001;                           /* slurmctld's own time is over, too */
	details("PENDING", 7, 86390, F.comment); /* now it has */
	assert_string_equal(W.asked, "7_2");
	assert_string_equal(F.started, "7_2");
}

/* After 45 s it will not hear that any more, and the time is somebody's. */
static void test_what_is_never_heard_is_its_users(void **state)
{
	(void)state;
	F.bad.hint.lasting = true;
	refuse("this job needs 12 nodes, the pool allows 8");
	details("PENDING", 7, 6, "");
	postpone_anew(&F.e);
	for (int i = 0; i < 9; i++) {
		details("PENDING", 7, 300, F.comment);
		assert_int_equal(F.put.r.wait_ms, REFUSAL_DAY_MS);
		W.now += 5000;
	}
	details("PENDING", 7, 300, F.comment);
	assert_string_equal(F.started, "");
	assert_int_equal(F.put.r.wait_ms, REFUSAL_MS);
}

/* F48: slurmctld may be away, or say no, or the order was too late, or found no room: until it has
 * taken one the job waits as before, of which a restart knows as well. */
static void test_anew_until_slurmctld_has_taken_it(void **state)
{
	static const struct {
		struct err err;
		int64_t own_s, again_ms; /* own_s: it would start then by itself */
		bool full;
	} rows[] = {
		{{.code = ERR_NET, .msg = "unable to contact slurmctld"}, 6, 5000, false},
		{{.code = ERR_NET, .msg = "Job is in accounting"}, 6, 60000, false},
		{{.code = ERR_NOTSENT,
		  .msg = "the job may have changed since the order was queued"},
		 6,
		 5000,
		 false},
		{{.code = ERR_NOTSENT,
		  .msg = "the job may have changed since the order was queued"},
		 300,
		 5000,
		 false},
		{{.code = ERR_NET, .msg = "unable to contact slurmctld"}, 300, 5000, false},
		{{.msg = ""}, 6, 60000, true},
		{{.msg = ""}, 300, 60000, true},
	};

	const int64_t until = BEGAN + REFUSAL_DAY_MS;

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const bool waits = rows[i].own_s > 10;
		struct engine_postponed soonest;

		assert_int_equal(setup(state), 0);
		F.bad.hint.lasting = true;
		refuse("why");
		details("PENDING", 7, rows[i].own_s, "");
		ended("postpone", F.order, NULL);
		W.now += 10000;
		postpone_anew(&F.e);
		for (unsigned k = 0; k < 3; k++) {
			F.started[0] = W.asked[0] = '\0';
			F.full = rows[i].full;
			details("PENDING", 7, (until - W.now) / 1000, F.comment);
			assert_string_equal(W.asked, "7_2");
			assert_string_equal(F.started, waits ? "" : "7_2");
			assert_int_equal(F.told, 1 + waits * (k + 1));
			if (!rows[i].full)
				ended(waits ? "postpone" : "start", "", &rows[i].err);
			assert_int_equal(F.put.r.wait_ms, REFUSAL_DAY_MS);
			assert_memory_equal(F.event, "job-postponed", 13);
			assert_int_equal(engine_postponed(&F.e, &soonest), 1);
			W.asked[0] = '\0';
			W.now += rows[i].again_ms - 1;
			postpone_part.at[PART_RUN](&F.e);
			assert_string_equal(W.asked, "");
			W.now++;
		}
		F.full = false;
		details("PENDING", 7, (until - W.now) / 1000, F.comment);
		ended(waits ? "postpone" : "start", "", NULL);
		assert_int_equal(F.put.r.wait_ms, REFUSAL_MS);
		assert_memory_equal(F.event, "job-anew", 8);
		F.event[0] = F.started[0] = '\0';
		ended("start", "", NULL); /* of rescue_hold.c */
		later("PENDING", 7, 0, F.comment);
		assert_string_equal(F.event, "");
		assert_string_equal(F.started, "");
		assert_int_equal(teardown(state), 0);
	}
	assert_int_equal(setup(state), 0);
}

/* An update of nodes that ran since may have requeued the job, which slurmctld holds back then: it
 * is looked at again, a few times. */
static void test_anew_by_no_answer_that_was_overtaken(void **state)
{
	const int64_t until = BEGAN + REFUSAL_DAY_MS;

	(void)state;
	for (int calm = 0; calm <= 1; calm++) {
		assert_int_equal(setup(state), 0);
		F.bad.hint.lasting = true;
		refuse("why");
		details("PENDING", 7, 6, "");
		ended("postpone", F.order, NULL);
		W.now += 10000;
		postpone_anew(&F.e);
		W.settled_ms = INT64_MAX; /* some wait */
		for (int i = 0; i < (calm ? 1 : 6); i++) {
			details("PENDING", 7, (until - W.now) / 1000, F.comment);
			assert_string_equal(F.started, "");
			W.now += 5000;
		}
		if (calm)
			W.settled_ms = W.now;
		details("PENDING", 7, (until - W.now) / 1000, F.comment);
		assert_string_equal(F.started, "7_2");
		assert_int_equal(teardown(state), 0);
	}
	assert_int_equal(setup(state), 0);
}

/* While the order is on its way it is not given again; what else is said of the job is another. */
static void test_anew_is_said_once_at_a_time(void **state)
{
	(void)state;
	refuse_for_good();
	postpone_anew(&F.e);
	details("PENDING", 7, 86400, F.comment);
	assert_string_equal(F.started, "7_2");
	F.started[0] = '\0';
	ended("postpone", F.order, NULL); /* its words */
	ended("requeue", "", NULL);
	assert_int_equal(F.put.r.wait_ms, REFUSAL_DAY_MS);
	postpone_anew(&F.e);
	details("PENDING", 7, 86400, F.comment);
	assert_string_equal(W.asked, "7_2");
	assert_string_equal(F.started, "");
	refuse("another reason"); /* it had been started meanwhile */
	ended("start", "", NULL);
	assert_int_equal(F.put.r.wait_ms, REFUSAL_DAY_MS);
}

/* F57: told to wait once more, for slurmctld's clock was set back, it is let go after that. */
static void test_anew_after_the_clock_was_set(void **state)
{
	(void)state;
	refuse_for_good();
	postpone_anew(&F.e);
	details("PENDING", 7, 86400, F.comment);
	clock_set(60000);
	F.started[0] = '\0';
	ended("start", "", NULL);
	details("PENDING", 7, 6, F.comment);
	assert_int_equal(F.told, 2);
	assert_int_equal(F.put.r.wait_ms, REFUSAL_DAY_MS);
	W.now += 10000;
	later("PENDING", 7, 86400 - 90 - 60, F.comment);
	assert_string_equal(F.started, "7_2");
}

/* ... or, should slurmctld not take that, from the time that it has still. */
static void test_anew_though_it_was_not_told_again(void **state)
{
	static const struct err err = {.code = ERR_NET, .msg = "unable to contact slurmctld"};
	const int64_t told = BEGAN + REFUSAL_DAY_MS;

	(void)state;
	refuse_for_good();
	clock_set(360000);
	for (unsigned i = 2; i <= 4; i++) { /* so often */
		details("PENDING", 7, (told - W.now) / 1000, F.comment);
		assert_int_equal(F.told, i);
		ended("postpone", F.order, &err);
		postpone_anew(&F.e);
		W.now += 1000;
	}
	assert_string_equal(F.started, "");
	details("PENDING", 7, (told - W.now) / 1000, F.comment);
	assert_int_equal(F.told, 4);
	assert_string_equal(F.started, "7_2");
}

/* I24, F57: slurmctld's clock was set forward, so that it would start the job sooner.  Nobody has
 * let it start: its words stand until their time, and a reload lets it go. */
static void test_anew_after_the_clock_was_set_forward(void **state)
{
	static const struct {
		int64_t by_s;
		bool looked; /* before somebody reloads */
	} rows[] = {{3600, true}, {3600, false}, {60, false}, {3, true}};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct engine_postponed soonest;

		(void)teardown(state);
		(void)setup(state);
		refuse_for_good();
		clock_set(-rows[i].by_s * 1000);
		assert_int_equal(engine_postponed(&F.e, &soonest), 1);
		assert_int_equal(soonest.until_ms, BEGAN + REFUSAL_DAY_MS - rows[i].by_s * 1000);
		if (rows[i].looked)
			later("PENDING", 7, 86400 - 71, F.comment);
		assert_string_equal(F.cleared, "");
		postpone_anew(&F.e);
		details("PENDING", 7, (BEGAN + REFUSAL_DAY_MS - W.now) / 1000, F.comment);
		assert_int_equal(F.told, 1);
		assert_string_equal(F.started, "7_2");
	}
}

/* F57, F48: set back, so that it is to be told anew, and then forward, while slurmctld was away.
 * When that is back somebody holds the job, and releases it: what it was told is still so. */
static void test_its_words_stand_when_the_clock_was_set_twice(void **state)
{
	const int64_t told = BEGAN + REFUSAL_DAY_MS;
	struct engine_postponed soonest;

	(void)state;
	refuse_for_good();
	clock_set(205000);
	clock_set(-266000);
	details("PENDING", 0, (told - W.now) / 1000, F.comment);
	later("PENDING", 7, (told - W.now - 61000) / 1000, F.comment);
	assert_string_equal(F.cleared, "");
	assert_int_equal(F.told, 1);
	assert_int_equal(engine_postponed(&F.e, &soonest), 1);
	assert_int_equal(soonest.until_ms, told - 266000);
}

/* F57: one that was refused again, and is yet to be told, waits for no time, whatever the clock. */
static void test_refused_again_before_the_clock_was_set(void **state)
{
	struct engine_postponed soonest;

	(void)state;
	refuse_for_good();
	refuse("why");
	assert_int_equal(engine_postponed(&F.e, &soonest), 0);
	clock_set(-60000);
	assert_int_equal(engine_postponed(&F.e, &soonest), 0);
}

/* F57: set back by what a command takes it is not told anew; by more, it is.  In both cases it is
 * one that waits, and that a reload lets go. */
static void test_anew_after_the_clock_was_set_back_a_little(void **state)
{
	static const struct {
		int64_t by_ms;
		unsigned told;
	} rows[] = {{600, 1}, {1000, 1}, {1500, 1}, {2000, 1}, {2001, 2}, {2500, 2}, {5000, 2}};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		int64_t told = BEGAN + REFUSAL_DAY_MS; /* by slurmctld's clock */
		struct engine_postponed soonest;

		(void)teardown(state);
		(void)setup(state);
		refuse_for_good();
		clock_set(rows[i].by_ms);
		postpone_part.at[PART_RUN](&F.e);
		details("PENDING", 7, (told - W.now) / 1000, F.comment);
		assert_int_equal(F.told, rows[i].told);
		assert_int_equal(engine_postponed(&F.e, &soonest), 1);
		W.now += 61000;
		postpone_anew(&F.e);
		told -= rows[i].told > 1 ? rows[i].by_ms : 0;
		details("PENDING", 7, (told - W.now) / 1000, F.comment);
		assert_string_equal(F.started, "7_2");
	}
}

/* I17, F57: what slurmctld holds a requeued job back is not forgotten when it is told once more; a
 * time of its user's goes with the clock. */
static void test_no_earlier_than_its_own_time_after_the_clock_was_set(void **state)
{
	static const struct {
		int64_t own_s, back_s, left_s; /* until it may start, when somebody reloads */
	} rows[] = {{120, 300, 110}, {600, 300, 890}, {600, -300, 290}};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		int64_t begins = 86400 - 10;

		(void)teardown(state);
		(void)setup(state);
		F.bad.hint.lasting = true;
		refuse("why");
		details("PENDING", 7, rows[i].own_s, "");
		W.now += 10000;
		clock_set(rows[i].back_s * 1000);
		details("PENDING", 7, begins, F.comment);
		assert_int_equal(F.told, rows[i].back_s > 0 ? 2 : 1);
		begins -= rows[i].back_s > 0 ? rows[i].back_s : 0;
		postpone_anew(&F.e);
		details("PENDING", 7, begins, F.comment);
		assert_string_equal(F.started, "");
		assert_true(F.wait_ms > (rows[i].left_s - 2) * 1000);
		assert_true(F.wait_ms <= rows[i].left_s * 1000);
	}
}

/* I24: what changes before slurmctld is told counts as well. */
static void test_decided_anew_after_a_reload_before_it_is_told(void **state)
{
	(void)state;
	F.bad.hint.lasting = true;
	refuse("this job needs 12 nodes, the pool allows 8");
	postpone_anew(&F.e);
	details("PENDING", 7, 6, "");
	W.now += 10000;
	later("PENDING", 7, 86400 - 70, F.comment);
	assert_string_equal(F.started, "7_2");
}

/* It is never let go against somebody's wish. */
static void test_nobodys_wish_is_overruled(void **state)
{
	(void)state;
	refuse_for_good();
	postpone_anew(&F.e);
	details("PENDING", 7, 90000, F.comment); /* begin time of its user */
	assert_string_equal(F.started, "");
	refuse_for_good();
	postpone_anew(&F.e);
	details("PENDING", 0, 86400, F.comment); /* held */
	assert_string_equal(F.started, "");
	refuse_for_good();
	postpone_anew(&F.e);
	details("RUNNING", 7, 86400, F.comment);
	assert_string_equal(F.started, "");
}

static void prices_let_it_try(void)
{
	postpone_quotes(&F.e, true);
	details("PENDING", 7, 86400, F.comment);
	assert_string_equal(F.started, "7_2");
}

/* The one that it may have was not offered, and is again; another costs no more, nor less. */
static void test_decided_anew_when_it_is_offered(void **state)
{
	(void)state;
	F.costs[1] = INT64_MAX;
	refuse_for_good();
	prices_change_nothing();
	F.costs[1] = 500;
	prices_let_it_try();
}

static void test_decided_anew_when_it_is_cheaper(void **state)
{
	(void)state;
	refuse_for_good();
	F.costs[0] = 501;
	F.costs[1] = INT64_MAX;
	prices_change_nothing();
	F.costs[1] = 499;
	prices_let_it_try();
}

static void test_decided_anew_when_somebody_edits_the_job(void **state)
{
	(void)state;
	refuse_for_good();
	words(12, "(null)");
	words(12, "(null)");
	details("PENDING", 7, 86400 - 120, F.comment);
	assert_string_equal(F.started, "");
	words(8, "(null)");
	details("PENDING", 7, 86400 - 180, F.comment);
	assert_string_equal(F.started, "7_2");
	refuse_for_good();
	words(8, "(null)");
	words(8, "spot");
	details("PENDING", 7, 86400 - 120, F.comment);
	assert_string_equal(F.started, "7_2");
}

static void paid_by(const char *payer, const char *wckey)
{
	char line[2400], rest[1100], row[200];

	(void)snprintf(rest, sizeof(rest), "(null) %-1025s", "(null)");
	(void)snprintf(row, sizeof(row),
		       "107|7_2|PENDING|p|None||1000|1|||(null)| |%s|1|8|NO|cpu=8|1|*|", payer);
	(void)payer_row(line, sizeof(line), row, wckey, rest);
	W.words[0] = '\0';
	W.now += 60000;
	postpone_part.at[PART_RUN](&F.e);
	assert_string_equal(W.words, "107");
	postpone_words(&F.e, line, strlen(line));
}

/* By other budgets there may be money for it. */
static void test_decided_anew_when_somebody_else_pays(void **state)
{
	static const struct {
		const char *payer, *wckey;
		bool anew;
	} all[] = {
		{"physics|ann|normal|2:00:00", "one", false},
		{"chem|ann|normal|2:00:00", "one", true},
		{"physics|nobody|normal|2:00:00", "one", true}, /* its user has a name now */
		{"physics|ann|cheap|2:00:00", "one", true},
		{"physics|ann|normal|1:00:00", "one", true},
		{"physics|ann|normal|2:00:00", "two", true},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		print_message("# %s, %s\n", all[i].payer, all[i].wckey);
		refuse_for_good();
		paid_by(all[0].payer, all[0].wckey);
		paid_by(all[i].payer, all[i].wckey);
		details("PENDING", 7, 86400 - 120, F.comment);
		assert_string_equal(F.started, all[i].anew ? "7_2" : "");
		if (!all[i].anew) { /* for the next */
			paid_by("x|ann|normal|2:00:00", "one");
			details("PENDING", 7, 86400 - 180, F.comment);
		}
	}
}

/* squeue is asked about those that wait for a day once a minute, however many turns that has. */
static void test_asked_once_a_minute_who_was_edited(void **state)
{
	(void)state;
	refuse_for_good();
	words(12, "(null)");
	W.words[0] = '\0';
	postpone_part.at[PART_RUN](&F.e);
	W.now += 59999;
	postpone_part.at[PART_RUN](&F.e);
	assert_string_equal(W.words, "");
	W.now++;
	postpone_part.at[PART_RUN](&F.e);
	assert_string_equal(W.words, "107");
}

/* A requeued job has the number of its nodes from its last run; its tasks say that it was edited.
 */
static void test_decided_anew_when_it_has_other_tasks(void **state)
{
	char line[500];

	(void)state;
	refuse_for_good();
	for (int i = 0; i < 3; i++) {
		W.now += 61000;
		postpone_part.at[PART_RUN](&F.e);
		(void)snprintf(line, sizeof(line), "%-24s%-24s%-24s%-24lld%-300s%-24d%-24d%-24d\n",
			       "107", "PENDING", "7", (long long)(BEGAN / 1000 + 86400), F.comment,
			       i < 2 ? 12 : 8, 12, 12);
		assert_string_equal(F.started, "");
		W.now++;
		postpone_details(&F.e, line, strlen(line), W.now, NULL);
	}
	assert_string_equal(F.started, "7_2");
}

/* slurmctld holds back what it requeued, for what is left of its last run. */
static void test_anew_is_not_before_slurmctlds_own_time(void **state)
{
	(void)state;
	F.bad.hint.lasting = true;
	refuse("why");
	details("PENDING", 7, 120, "");
	postpone_anew(&F.e);
	details("PENDING", 7, 86400, F.comment);
	assert_string_equal(F.started, "");
	assert_string_equal(F.job, "7_2");
	assert_true(F.wait_ms > 118000 && F.wait_ms <= 120000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_it_waits_a_day),
		TEST(test_decided_anew_after_a_reload),
		TEST(test_decided_anew_before_slurmctld_has_heard),
		TEST(test_what_is_never_heard_is_its_users),
		TEST(test_anew_by_no_answer_that_was_overtaken),
		TEST(test_anew_until_slurmctld_has_taken_it),
		TEST(test_anew_is_said_once_at_a_time),
		TEST(test_anew_after_the_clock_was_set),
		TEST(test_anew_though_it_was_not_told_again),
		TEST(test_anew_after_the_clock_was_set_forward),
		TEST(test_its_words_stand_when_the_clock_was_set_twice),
		TEST(test_refused_again_before_the_clock_was_set),
		TEST(test_anew_after_the_clock_was_set_back_a_little),
		TEST(test_no_earlier_than_its_own_time_after_the_clock_was_set),
		TEST(test_decided_anew_after_a_reload_before_it_is_told),
		TEST(test_nobodys_wish_is_overruled),
		TEST(test_decided_anew_when_it_is_offered),
		TEST(test_decided_anew_when_it_is_cheaper),
		TEST(test_decided_anew_when_somebody_edits_the_job),
		TEST(test_decided_anew_when_somebody_else_pays),
		TEST(test_asked_once_a_minute_who_was_edited),
		TEST(test_decided_anew_when_it_has_other_tasks),
		TEST(test_anew_is_not_before_slurmctlds_own_time),
	};

	return cmocka_run_group_tests_name("postpone/anew", tests, NULL, NULL);
}
