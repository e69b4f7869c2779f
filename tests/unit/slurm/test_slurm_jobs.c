/* test_slurm_jobs.c - what the adapter tells jobs and those who wait for them: words, comments and
 * begin times. */
#include "slurm_scripts.h"

/* Whoever waits at a terminal hears it before the job ends; other orders do not wait. */
static void test_what_ends_jobs_waits_for_words(void **state)
{
	struct fix *f = *state;
	struct slurm_order o = {.verb = ""};
	char *text;

	slurm_talks(f->slurm, true);
	slurm_notify(f->slurm, "7", "burstd: it's \"over\"");
	assert_true(slurm_notifies(f->slurm));
	slurm_power_down(f->slurm, "c1", "10.0.0.1", true, "burstd: x");
	assert_true(slurm_next(f->slurm, &o));
	assert_string_equal(o.verb, "notify");
	assert_string_equal(o.names, "7");
	assert_true(o.of_jobs);
	assert_false(slurm_next(f->slurm, &o));
	assert_true(slurm_held_until(f->slurm) == loop_now(f->loop) + SLURM_NOTIFY_MS);
	assert_true(slurm_settled_ms(f->slurm) == INT64_MAX);
	slurm_drain(f->slurm, "c2", "burstd: y"); /* the fence of a node ends nothing */
	assert_true(slurm_next(f->slurm, &o));
	assert_string_equal(o.verb, "drain");
	f->given = 2;
	slurm_flush(f->slurm);
	loop_run(f->loop);
	assert_false(slurm_notifies(f->slurm));
	slurm_talks(f->slurm, false);
	assert_true(slurm_held_until(f->slurm) == INT64_MAX);
	settle(f);
	text = calls(f);
	assert_non_null(strstr(text, "notify 7 burstd: it s  over \n"));
	assert_non_null(strstr(text, "update nodename=c1 state=DOWN"));
	free(text);
}

/* scontrol takes one job. */
static void test_each_job_has_a_notify_of_its_own(void **state)
{
	struct fix *f = *state;

	slurm_notify(f->slurm, "7", "burstd: x");
	slurm_notify(f->slurm, "8", "burstd: x");
	settle(f);
	assert_calls(f, "notify 7 burstd: x\nnotify 8 burstd: x\n");
}

static void test_words_are_awaited_for_a_second(void **state)
{
	struct fix *f = *state;
	struct slurm_order o;

	slurm_talks(f->slurm, true);
	slurm_power_down(f->slurm, "c1", "10.0.0.1", false, "burstd: x");
	assert_false(slurm_next(f->slurm, &o));
	assert_true(slurm_held_until(f->slurm) == loop_now(f->loop) + SLURM_NOTIFY_MS);
	clock_stands.tv_sec += SLURM_NOTIFY_MS / 1000;
	assert_true(slurm_next(f->slurm, &o)); /* though they are still on their way */
	assert_string_equal(o.verb, "power-down");
	assert_true(slurm_held_until(f->slurm) == INT64_MAX);
}

/* Each job has a command, and a slow one takes a second: words are dropped before orders are. */
static void test_words_leave_room_for_orders(void **state)
{
	struct fix *f = *state;
	struct slurm_order o;
	char job[16];

	for (int i = 0; i < SLURM_QUEUE_MAX; i++) {
		(void)snprintf(job, sizeof(job), "%d", i + 1);
		slurm_notify(f->slurm, job, "burstd: x");
	}
	slurm_power_down(f->slurm, "c1", "10.0.0.1", false, "burstd: x");
	assert_true(slurm_next(f->slurm, &o));
	assert_string_equal(o.verb, "power-down");
}

/* It may be at work again by then. */
static void test_a_requeue_that_waited_is_not_sent(void **state)
{
	struct fix *f = *state;
	struct slurm_order o;

	assert_true(slurm_requeue(f->slurm, "7", ""));
	clock_stands.tv_sec += SLURM_REQUEUE_MS / 1000 - 1;
	assert_true(slurm_next(f->slurm, &o));
	assert_true(slurm_requeue(f->slurm, "8+1", ""));
	clock_stands.tv_sec += SLURM_REQUEUE_MS / 1000;
	assert_false(slurm_next(f->slurm, &o));
}

/* An empty comment is one that slurmctld is told. */
static void test_a_comment_is_cleared(void **state)
{
	struct fix *f = *state;

	slurm_clear_comment(f->slurm, "7");
	slurm_clear_comment(f->slurm, "8_1");
	settle(f);
	assert_calls(f, "update jobid=7,8_1 AdminComment=\n");
}

/* Jobs that wait as long for the same reason are one command: until the same moment, to the ms. */
static void test_postpone(void **state)
{
	struct fix *f = *state;

	slurm_postpone(f->slurm, "7_2", 29001, 0, "burstd: none=here; next try x");
	slurm_postpone(f->slurm, "8", 30000, 0, "burstd: none=here; next try x");
	slurm_postpone(f->slurm, "9", 60000, 0, "burstd: none=here; next try x");
	slurm_postpone(f->slurm, "10", 60000, 0, NULL);
	slurm_postpone(f->slurm, "12", 0, 0, NULL); /* nothing to say */
	settle(f);
	assert_calls(f, "update jobid=7_2,8 StartTime=now+30 "
			"AdminComment=burstd: none here; next try x\n"
			"update jobid=9 StartTime=now+60 "
			"AdminComment=burstd: none here; next try x\n"
			"update jobid=10 StartTime=now+60\n");
}

/* A job waits until a place is tried again, say: slurmctld, which knows no fractions of a second,
 * does not start it some milliseconds before that. */
static void test_no_job_starts_sooner_than_it_was_to(void **state)
{
	static const struct {
		long at_ms; /* the fraction of the second when scontrol reads its clock */
		int64_t wait_ms;
		const char *calls;
	} rows[] = {
		{0, 30000, "update jobid=7 StartTime=now+30\n"},
		{1, 29999, "update jobid=7 StartTime=now+30\n"},
		{1, 30000, "update jobid=7 StartTime=now+31\n"},
		{999, 30000, "update jobid=7 StartTime=now+31\n"},
		{500, 29400, "update jobid=7 StartTime=now+30\n"},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct fix *f;

		(void)teardown(state);
		(void)clock_gettime(CLOCK_BOOTTIME, &clock_stands);
		(void)clock_gettime(CLOCK_REALTIME, &wall_stands);
		wall_stands.tv_nsec = rows[i].at_ms * 1000000;
		(void)setup(state);
		f = *state;
		slurm_postpone(f->slurm, "7", rows[i].wait_ms, 0, NULL);
		settle(f);
		assert_calls(f, rows[i].calls);
	}
}

/* People read local time, beside what squeue and scontrol print; what is written down stays in UTC.
 */
static void test_people_read_local_time(void **state)
{
	static const char said[] = "burstd: it's so until 2026-01-02T23:04:05Z (in 27s)";
	struct fix *f = *state;
	struct slurm_order o = {.verb = ""};
	char words[SLURM_COMMENT_MAX + 1], *text;

	slurm_postpone(f->slurm, "7", 0, 0, said);
	slurm_notify(f->slurm, "8", said);
	slurm_down(f->slurm, "c1", said);
	for (; slurm_next(f->slurm, &o); f->given++)
		assert_string_equal(o.reason,
				    "burstd: it s so until 2026-01-02T23:04:05Z (in 27s)");
	settle(f);
	text = calls(f);
#define LOCAL "burstd: it s so until 2026-01-03T01:04:05 (in 27s)\n"
	assert_non_null(strstr(text, "update jobid=7 AdminComment=" LOCAL));
	assert_non_null(strstr(text, "notify 8 " LOCAL));
	assert_non_null(strstr(text, "update nodename=c1 state=DOWN reason=" LOCAL));
	free(text);
	slurm_words(f->slurm, words, sizeof(words), said);
	assert_memory_equal(words, LOCAL, strlen(words));
#undef LOCAL
}

/* F57: the clock was set back while a command waits.  slurmctld's times are by that clock, and so
 * are those that the command was decided by: all of them are ten minutes further away. */
static void test_what_waits_is_by_the_clock_of_slurmctld(void **state)
{
	struct fix *f = *state;

	clock_set_s = 60;
	slurm_postpone(f->slurm, "7", 30000, 0, NULL);
	clock_set_s = -540;
	settle(f);
	assert_calls(f, "update jobid=7 StartTime=now+630\n");
}

/* I17, F57: when its begin time has come the job may start, and an order about nodes that runs
 * first may requeue it to a later time than anybody has seen. */
static void test_a_job_that_may_have_started_since_is_not_told_when(void **state)
{
	static const char node[] = "update nodename=c1 nodeaddr=10.0.0.1 nodehostname=c1 "
				   "state=POWER_DOWN_FORCE reason=why\n";
	static const struct {
		int begin_s, clock_s;
		bool node;
		const char *calls; /* but for the node's */
		unsigned late;
	} rows[] = {
		{60, 0, true, "update jobid=7,8 StartTime=now+30\nupdate jobid=9 StartTime=now\n",
		 0},
		{0, 0, false, "update jobid=7,8 StartTime=now+30\nupdate jobid=9 StartTime=now\n",
		 0},
		{-1, 0, true, "", 2},
		{60, 61, true, "", 2}, /* the clock is set: it has come */
		{60, 31, true, "update jobid=9 StartTime=now\n", 1}, /* the wait is over */
		{0, 31, false, "update jobid=9 StartTime=now\n", 1},
	};
	struct fix *f;
	char want[400];

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		teardown(state);
		setup_still(state);
		f = *state;
		if (rows[i].node)
			slurm_power_down(f->slurm, "c1", "10.0.0.1", false, "why");
		clock_set_s = -3600; /* all along */
		slurm_postpone(f->slurm, "7", 30000, loop_now(f->loop) + rows[i].begin_s * 1000,
			       NULL);
		slurm_postpone(f->slurm, "8", 30000, loop_now(f->loop) + 60000, NULL);
		slurm_start_now(f->slurm, "9", loop_now(f->loop) + rows[i].begin_s * 1000);
		clock_set_s += rows[i].clock_s;
		flush(f);
		while (f->late < rows[i].late || f->updated < f->given)
			loop_run(f->loop);
		(void)snprintf(want, sizeof(want), "%s%s", rows[i].node ? node : "", rows[i].calls);
		assert_calls(f, want);
		assert_int_equal(f->late, rows[i].late);
		assert_int_equal(f->unsent, 0);
	}
}

/* I17, F55: the disk takes seconds for the record of an order.  What is left of the wait is less
 * then; and if nothing is, the order is not run, and none is given before that is known (I28). */
static void test_what_became_late_while_it_was_written_down_is_not_sent(void **state)
{
	static const struct {
		int clock_s;
		bool start, late;
		const char *calls;
	} rows[] = {
		{0, false, false, "update jobid=7 StartTime=now+30\n"},
		{13, false, false, "update jobid=7 StartTime=now+17\n"},
		{30, false, true, "update jobid=8 StartTime=now\n"},
		{30, true, false, "update jobid=7 StartTime=now\n"},
	};
	struct slurm_order o;
	struct fix *f;

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		teardown(state);
		setup_still(state);
		f = *state;
		if (rows[i].start)
			slurm_start_now(f->slurm, "7", loop_now(f->loop));
		else
			slurm_postpone(f->slurm, "7", 30000, 0, NULL);
		assert_true(slurm_next(f->slurm, &o));
		f->given = !rows[i].late;
		clock_set_s += rows[i].clock_s;
		slurm_flush(f->slurm);
		if (rows[i].late) {
			slurm_start_now(f->slurm, "8", loop_now(f->loop));
			assert_false(slurm_next(f->slurm, &o));
		}
		while (f->late < rows[i].late)
			loop_run(f->loop);
		flush(f);
		while (f->updated < f->given)
			loop_run(f->loop);
		assert_calls(f, rows[i].calls);
		assert_int_equal(f->unsent, rows[i].late);
	}
}

/* F54, F55: what somebody has written into a comment since it was looked at stays, be it that
 * burstd stood still before the order was given, or while its record was written.  A wait has no
 * such hurry. */
static void test_a_comment_that_waited_is_not_sent(void **state)
{
	static const struct {
		const char *comment; /* "": cleared; NULL: only a wait */
		int64_t wait_ms;
		int waited_s;
		const char *calls; /* NULL: it is late */
	} rows[] = {
		{"burstd: x", 0, 9, "update jobid=7 AdminComment=burstd: x\n"},
		{"burstd: x", 0, 10, NULL},
		{"burstd: x", 60000, 9, "update jobid=7 StartTime=now+60 AdminComment=burstd: x\n"},
		{"burstd: x", 60000, 10, NULL},
		{"", 0, 9, "update jobid=7 AdminComment=\n"},
		{"", 0, 10, NULL},
		{NULL, 60000, 10, "update jobid=7 StartTime=now+60\n"},
	};
	struct slurm_order o;

	for (size_t i = 0; i < 2 * sizeof(rows) / sizeof(rows[0]); i++) {
		bool late = rows[i / 2].calls == NULL, given = i % 2 == 1;
		const char *comment = rows[i / 2].comment;
		struct fix *f;

		teardown(state);
		setup_still(state);
		f = *state;
		if (comment != NULL && comment[0] == '\0')
			slurm_clear_comment(f->slurm, "7");
		else
			slurm_postpone(f->slurm, "7", rows[i / 2].wait_ms, 0, comment);
		if (given)
			assert_true(slurm_next(f->slurm, &o));
		clock_stands.tv_sec += rows[i / 2].waited_s;
		if (!given)
			assert_int_equal(slurm_next(f->slurm, &o), !late);
		f->given = !late;
		slurm_flush(f->slurm);
		while (f->late + f->updated == 0)
			loop_run(f->loop);
		assert_int_equal(f->late, late);
		assert_int_equal(f->unsent, late && given);
		if (late)
			assert_int_equal(access(f->calls, F_OK), -1);
		else
			assert_calls(f, rows[i / 2].calls);
	}
}

/* These two lines, in any order. */
static void assert_both(const struct fix *f, const char *want)
{
	size_t first = strcspn(want, "\n") + 1;
	char *text = calls(f), *line = strstr(text, want + first);

	assert_int_equal(strlen(text), strlen(want));
	assert_non_null(line);
	assert_memory_equal(line == text ? text + strlen(want) - first : text, want, first);
	free(text);
}

/* F57: the orders that make jobs wait have a queue of their own.  What was to stand in a comment
 * before does not come after what is to stand there now: not when it waits, alone or with those of
 * other jobs, nor when it is on record. */
static void test_an_older_comment_does_not_come_after_a_newer_one(void **state)
{
	static const struct {
		const char *with; /* cleared in the same order; NULL: none */
		bool given;       /* it is on record */
		bool says;        /* it writes other words, else none */
		const char *calls;
	} rows[] = {
		{NULL, false, false, "update jobid=7 StartTime=now+60 AdminComment=burstd: new\n"},
		{NULL, false, true, "update jobid=7 StartTime=now+60 AdminComment=burstd: new\n"},
		{"8", false, false,
		 "update jobid=8 AdminComment=\n"
		 "update jobid=7 StartTime=now+60 AdminComment=burstd: new\n"},
		{"77", false, false,
		 "update jobid=77 AdminComment=\n"
		 "update jobid=7 StartTime=now+60 AdminComment=burstd: new\n"},
		{NULL, true, false, "update jobid=7 StartTime=now+60 AdminComment=burstd: new\n"},
		{"8", true, true,
		 "update jobid=8 AdminComment=burstd: old\n"
		 "update jobid=7 StartTime=now+60 AdminComment=burstd: new\n"},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct fix *f = *state;
		struct slurm_order o;

		(void)teardown(state);
		setup_still(state);
		f = *state;
		if (rows[i].says)
			slurm_postpone(f->slurm, "7", 0, 0, "burstd: old");
		else
			slurm_clear_comment(f->slurm, "7");
		if (rows[i].with != NULL && rows[i].says)
			slurm_postpone(f->slurm, rows[i].with, 0, 0, "burstd: old");
		else if (rows[i].with != NULL)
			slurm_clear_comment(f->slurm, rows[i].with);
		if (rows[i].given)
			assert_true(slurm_next(f->slurm, &o));
		slurm_postpone(f->slurm, "7", 60000, 0, "burstd: new");
		settle(f);
		assert_int_equal(f->late, 0); /* nobody is told that something was not sent */
		if (rows[i].with != NULL)
			assert_both(f, rows[i].calls); /* side by side */
		else
			assert_calls(f, rows[i].calls);
	}
}

int main(void)
{
#define T(fn)     cmocka_unit_test_setup_teardown(fn, setup, teardown)
#define STILL(fn) cmocka_unit_test_setup_teardown(fn, setup_still, teardown)
	const struct CMUnitTest tests[] = {
		STILL(test_what_ends_jobs_waits_for_words),
		STILL(test_a_requeue_that_waited_is_not_sent),
		T(test_each_job_has_a_notify_of_its_own),
		STILL(test_words_are_awaited_for_a_second),
		T(test_words_leave_room_for_orders),
		T(test_a_comment_is_cleared),
		STILL(test_postpone),
		STILL(test_no_job_starts_sooner_than_it_was_to),
		T(test_people_read_local_time),
		STILL(test_what_waits_is_by_the_clock_of_slurmctld),
		T(test_a_job_that_may_have_started_since_is_not_told_when),
		T(test_what_became_late_while_it_was_written_down_is_not_sent),
		T(test_a_comment_that_waited_is_not_sent),
		STILL(test_an_older_comment_does_not_come_after_a_newer_one),
	};
#undef T
#undef STILL

	return cmocka_run_group_tests_name("slurm adapter, jobs", tests, NULL, NULL);
}
