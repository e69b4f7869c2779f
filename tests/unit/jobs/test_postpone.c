/* test_postpone.c - what slurmctld and people are told of a job that could not have its nodes. */
#include "bare_postpone.h"
#include "jobs/jobs.h"

static void test_told(void **state)
{
	(void)state;
	refuse("pool h100: max_nodes 8 reached");
	assert_int_equal(F.put.job, 107);
	assert_int_equal(F.put.r.count, 1);
	postpone_part.at[PART_RUN](&F.e);
	assert_string_equal(W.asked, "7_2");
	details("PENDING", 7, 6, "");
	assert_string_equal(F.job, "7_2");
	assert_true(F.wait_ms > 29000 && F.wait_ms <= 30000);
	assert_string_equal(F.comment, "burstd: pool h100: max_nodes 8 reached; next try "
				       "2027-01-15T07:30:30 (in 29s)");
	assert_string_equal(F.event,
			    "job-postponed: job 7_2 (job 107), refusal 1: pool h100: max_nodes 8 "
			    "reached; next try 2027-01-15T08:00:30Z (in 29s)");
	details("PENDING", 7, 6, ""); /* once */
	assert_int_equal(F.told, 1);
	W.now = BEGAN + 35000;
	refuse("pool h100: max_nodes 8 reached");
	details("PENDING", 7, 6, "burstd: pool h100 ...");
	assert_true(F.wait_ms > 59000 && F.wait_ms <= 60000);
	assert_non_null(strstr(F.event, "refusal 2:"));
}

/* What `status` says of those that wait: of those that were told, until their time comes. */
static void test_shown(void **state)
{
	struct slurm_job other = {.number = 108, .id = "108"};
	struct engine_postponed soonest;
	int64_t until = BEGAN + 30000;

	(void)state;
	assert_int_equal(engine_postponed(&F.e, &soonest), 0);
	refuse("why");
	assert_int_equal(engine_postponed(&F.e, &soonest), 0); /* not told yet */
	details("PENDING", 7, 6, "");
	assert_int_equal(engine_postponed(&F.e, &soonest), 1);
	assert_string_equal(soonest.job, "7_2");
	assert_int_equal(soonest.refusals, 1);
	assert_int_equal(soonest.until_ms, until);
	W.now = until;
	assert_int_equal(engine_postponed(&F.e, &soonest), 0);
	refuse("why"); /* again */
	details("PENDING", 7, 6, "");
	postpone_load(&F.e, &(struct journal_refusal){109, {.count = 1, .last_ms = W.now - 5}});
	postpone_job(&F.e, &other, &F.bad); /* slurmctld has not heard of it */
	assert_int_equal(engine_postponed(&F.e, &soonest), 2);
	assert_string_equal(soonest.job, "109");
}

/* One that is held, or gone, waits for something else. */
static void test_not_shown(void **state)
{
	struct engine_postponed soonest;

	(void)state;
	refuse("why");
	details("PENDING", 0, 6, "");
	assert_int_equal(engine_postponed(&F.e, &soonest), 0);
	refuse("why");
	details("RUNNING", 7, 6, "");
	W.now += 11000;
	details("RUNNING", 7, 6, "");
	assert_int_equal(engine_postponed(&F.e, &soonest), 0);
}

/* It is not made to start sooner than it would, and its comment may be somebody's. */
static void test_not_ours(void **state)
{
	struct engine_postponed soonest;

	(void)state;
	refuse("why");
	details("PENDING", 7, 600, "");
	assert_int_equal(F.wait_ms, 0);
	assert_string_equal(F.comment, "burstd: why; next try 2027-01-15T07:40:00 (in 9m59s)");
	assert_int_equal(engine_postponed(&F.e, &soonest), 0); /* it waits for its user's time */
	refuse("why");
	details("PENDING", 7, 6, "budget 7");
	assert_true(F.wait_ms > 0);
	assert_string_equal(F.comment, "left");
}

/* As long as slurmctld was told, and not before that. */
static void test_how_long_it_waits_still(void **state)
{
	(void)state;
	assert_int_equal(postpone_left_ms(&F.e, 107), 0);
	refuse("why");
	assert_int_equal(postpone_left_ms(&F.e, 107), 0);
	details("PENDING", 7, 6, "");
	assert_in_range(postpone_left_ms(&F.e, 107), 25000, 30000);
	assert_int_equal(postpone_left_ms(&F.e, 108), 0);
	W.now += 31000;
	assert_int_equal(postpone_left_ms(&F.e, 107), 0);
	refuse("why");
	details("PENDING", 7, 600, ""); /* its user's time */
	assert_int_equal(postpone_left_ms(&F.e, 107), 0);
}

/* slurmctld holds a requeued job back for two minutes, and the backfill scheduler comes after that:
 * then the next refusal is no first one, or no job would ever wait longer (I30), and of a
 * heterogeneous job no component would be sent back for one that waits.  A begin time of its user's
 * is another matter. */
static void test_counts_on_after_the_hold_of_slurmctld(void **state)
{
	static const struct {
		int64_t begin_s, next_s; /* after the first refusal */
		uint32_t count;
	} rows[] = {
		{121, 151, 2}, {121, 302, 2}, {121, 303, 1},   {6, 121, 1},
		{6, 120, 2},   {140, 151, 1}, {7200, 7300, 1},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		int64_t first;

		teardown(state);
		setup(state);
		/* held back for hours: that is no wait of ours, which ends after one */
		F.hold_ms = rows[i].begin_s == 7200 ? 7200000 : 0;
		refuse("why");
		first = W.now;
		details("PENDING", 7, rows[i].begin_s, "");
		assert_int_equal(F.put.r.wait_ms, rows[i].begin_s == 121 ? 121000 : 30000);
		restart();
		W.now = first + 1000 * rows[i].next_s;
		refuse("why");
		print_message("# %zu\n", i);
		assert_int_equal(F.put.r.count, rows[i].count);
	}
}

static void test_held(void **state)
{
	(void)state;
	refuse("why");
	details("PENDING", 0, 6, "");
	assert_int_equal(F.told, 0);
	details("PENDING", 7, 6, ""); /* whoever released it knows why */
	assert_int_equal(F.told, 0);
	assert_int_equal(F.rows, 1); /* it is counted all the same */
}

/* It is being requeued: looked at again, for ten seconds. */
static void test_not_yet(void **state)
{
	(void)state;
	refuse("why");
	postpone_part.at[PART_RUN](&F.e);
	details("COMPLETING", 7, 0, "");
	assert_int_equal(F.told, 0);
	W.asked[0] = '\0';
	postpone_part.at[PART_RUN](&F.e);
	assert_string_equal(W.asked, "");
	assert_true(F.e.jobs->postpone_next > W.now && F.e.jobs->postpone_next <= W.now + 1000);
	W.now = F.e.jobs->postpone_next;
	postpone_part.at[PART_RUN](&F.e);
	assert_string_equal(W.asked, "7_2");
	details("PENDING", 7, 6, "");
	assert_int_equal(F.told, 1);
	refuse("why");
	details("RUNNING", 7, 0, ""); /* it got nodes elsewhere */
	W.now += 10001;
	details("RUNNING", 7, 0, "");
	W.now += 1000;
	W.asked[0] = '\0';
	postpone_part.at[PART_RUN](&F.e);
	assert_string_equal(W.asked, "");
	assert_int_equal(F.told, 1);
}

/* What was asked before the refusal shows the job as it was before: its begin time is not the one
 * that slurmctld sets when it requeues it. */
static void test_old_answer(void **state)
{
	int64_t asked = W.now;
	const char *text = detail("107", "PENDING", "7", "1", "(null)");

	(void)state;
	refuse("why");
	postpone_part.at[PART_RUN](&F.e);
	postpone_details(&F.e, text, strlen(text), asked, NULL);
	assert_int_equal(F.told, 0);
}

/* It may say nothing, and late: the job is asked about at once, for slurmctld starts it by itself.
 */
static void test_an_answer_of_before_a_second_refusal(void **state)
{
	static const struct err away = {.code = ERR_NET, .msg = "unable to contact slurmctld"};

	(void)state;
	refuse("why");
	postpone_part.at[PART_RUN](&F.e);
	assert_string_equal(W.asked, "7_2");
	W.now += 1000;
	refuse("why");
	postpone_details(&F.e, "", 0, W.now, &away);
	W.asked[0] = '\0';
	postpone_part.at[PART_RUN](&F.e);
	assert_string_equal(W.asked, "7_2");
}

/* The nodes are sent back first, and then it is asked about at once, whatever else slurmctld is to
 * be told of nodes: it would start the job again in the meantime. */
static void test_after_its_own_commands(void **state)
{
	(void)state;
	F.mark = 7;
	F.past = 6;
	refuse("why");
	F.mark = 20; /* addresses of others */
	postpone_part.at[PART_RUN](&F.e);
	assert_string_equal(W.asked, "");
	F.past = 7;
	postpone_part.at[PART_RUN](&F.e);
	assert_string_equal(W.asked, "7_2");
}

/* slurmctld had given it another of the nodes that are being sent back: it is requeued once more,
 * to a later time than the answer says. */
static void test_an_update_that_overtakes_the_answer(void **state)
{
	(void)state;
	refuse("why");
	W.settled_ms = INT64_MAX; /* it waits */
	details("PENDING", 7, 6, "");
	assert_int_equal(F.told, 0);
	W.now += 300;
	W.settled_ms = W.now + 2; /* it ran while slurmctld was asked */
	details("PENDING", 7, 6, "");
	assert_int_equal(F.told, 0);
	W.now += 300;
	details("PENDING", 7, 36, "");
	assert_int_equal(F.told, 1);
	assert_int_equal(F.wait_ms, 0); /* not before that */
	/* In a storm there is no such moment. */
	refuse("why");
	W.settled_ms = INT64_MAX;
	details("PENDING", 7, 6, "");
	W.now += 4000;
	details("PENDING", 7, 6, "");
	assert_int_equal(F.told, 1);
	W.now += 1000;
	details("PENDING", 7, 6, "");
	assert_int_equal(F.told, 2);
	W.settled_ms = 0;
}

static void updated(const char *verb, const char *names, const struct err *err)
{
	const struct slurm_order o = {
		.verb = verb, .names = names, .reason = F.order, .of_jobs = true};

	postpone_told(&F.e, &o, err);
	W.now += 1000;
	W.asked[0] = '\0';
	postpone_part.at[PART_RUN](&F.e);
}

/* A slurmctld that was away would start the job again at the end of its own delay. */
static void test_told_again_when_it_was_not_taken(void **state)
{
	static const struct err away = {.code = ERR_NET, .msg = "unable to contact slurmctld"};
	struct engine_postponed soonest;

	(void)state;
	refuse("why");
	details("PENDING", 7, 6, "");
	updated("start", "7_2", &away);
	assert_string_equal(W.asked, "");
	updated("postpone", "7_1,7_20", &away);
	assert_string_equal(W.asked, "");
	updated("postpone", "7_2", NULL);
	assert_string_equal(W.asked, "");
	updated("postpone", "7_1,7_2", &away);
	assert_string_equal(W.asked, "7_2");
	assert_int_equal(engine_postponed(&F.e, &soonest), 0);
	details("PENDING", 7, 6, "burstd: why; next try 2027-01-15T07:30:30");
	assert_int_equal(F.told, 2);
	assert_true(F.wait_ms > 0 && F.wait_ms < 30000);
	updated("postpone", "7_2", &away); /* of others it was said, and this one heard it: */
	details("PENDING", 7, 30, "burstd: why; next try 2027-01-15T07:30:30");
	assert_int_equal(F.told, 2);
	assert_int_equal(engine_postponed(&F.e, &soonest), 1);
}

/* The order waited until the job may have started again: it was not sent, and is decided anew. */
static void test_told_anew_when_it_was_too_late(void **state)
{
	static const struct err late = {.code = ERR_NOTSENT, .msg = "the job may have started"};

	(void)state;
	refuse("why");
	details("PENDING", 7, 6, "");
	assert_int_equal(F.begin_ms, W.now / 1000 * 1000 + 6000);
	for (int i = 2; i < 10; i++) {
		updated("postpone", "7_2", &late);
		assert_string_equal(W.asked, "7_2");
		details("PENDING", 7, 6, "");
		assert_int_equal(F.told, i);
	}
	updated("postpone", "7_2", &late);
	details("PENDING", 7, 120, ""); /* requeued since; that is not what it was told to */
	assert_int_equal(F.told, 10);
	assert_int_equal(F.wait_ms, 0);
	assert_non_null(strstr(F.comment, "(in 1m59s)"));
}

/* F54: nor is the job left without its words, when these are all that it was to have. */
static void test_words_that_were_too_late_are_said_anew(void **state)
{
	static const struct err late = {.code = ERR_NOTSENT, .msg = "the job may be another"};

	(void)state;
	refuse("why");
	details("PENDING", 7, 600, ""); /* its user's own time */
	assert_int_equal(F.wait_ms, 0);
	for (int i = 2; i < 10; i++) {
		updated("postpone", "7_2", &late);
		assert_string_equal(W.asked, "7_2");
		details("PENDING", 7, 600, "");
		assert_int_equal(F.told, i);
		assert_memory_equal(F.comment, "burstd: why; ", 13);
	}
	updated("postpone", "7_2", &late);
	details("PENDING", 7, 600, "paid by grant 7"); /* written meanwhile */
	assert_string_equal(F.comment, "left");
}

/* What rescue_hold.c had to say is no refusal: of that nothing would be left to say but the time.
 */
static void test_no_refusal_is_told_that_never_was(void **state)
{
	static const struct err bad[] = {
		{.code = ERR_NET, .msg = "unable to contact slurmctld"},
		{.code = ERR_NOTSENT, .msg = "the job may be another"},
	};

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		assert_int_equal(setup(state), 0);
		lose("");
		assert_int_equal(F.told, 1);
		updated("postpone", "7_2", &bad[i]);
		details("PENDING", 7, 6, "");
		assert_int_equal(F.told, 1);
		refuse("why");
		details("PENDING", 7, 6, "");
		lose(F.comment); /* the words of the refusal are none any more */
		updated("postpone", "7_2", &bad[i]);
		details("PENDING", 7, 6, "");
		assert_int_equal(F.told, 3);
		assert_int_equal(teardown(state), 0);
	}
	assert_int_equal(setup(state), 0);
}

/* One that was to start sooner does so by itself. */
static void test_not_told_anew_what_came_by_itself(void **state)
{
	static const struct err late = {.code = ERR_NOTSENT, .msg = "the job may have started"};

	(void)state;
	F.bad.hint.lasting = true;
	refuse("why");
	details("PENDING", 7, 6, "");
	postpone_anew(&F.e);
	details("PENDING", 7, 86400, "");
	assert_int_equal(F.told, 2); /* not before slurmctld's own time */
	updated("postpone", "7_2", &late);
	assert_string_equal(W.asked, "");
}

/* I30: not for ever. */
static void test_not_told_again_and_again(void **state)
{
	static const struct err no = {.code = ERR_NET, .msg = "Access denied"};

	(void)state;
	refuse("why");
	details("PENDING", 7, 6, "");
	for (int i = 0; i < 10; i++) {
		updated("postpone", "7_2", &no);
		details("PENDING", 7, 6, "");
	}
	assert_int_equal(F.told, 3);
	refuse("why"); /* another matter */
	details("PENDING", 7, 6, "");
	assert_int_equal(F.told, 4);
}

/* I30: one that does not answer is not asked three times a second; nor is the job given up. */
static void test_no_answer(void **state)
{
	static const struct err away = {.code = ERR_NET, .msg = "away"};

	(void)state;
	refuse("why");
	postpone_part.at[PART_RUN](&F.e);
	W.now += 20000;
	postpone_details(&F.e, NULL, 0, W.now, &away);
	postpone_part.at[PART_RUN](&F.e);
	assert_int_equal(F.e.jobs->postpone_next, W.now + 5000);
	W.now += 5000;
	postpone_part.at[PART_RUN](&F.e);
	details("PENDING", 7, 6, "");
	assert_int_equal(F.told, 1);
}

/* More than fit one question: those that were not asked about are not given up. */
static void test_many(void **state)
{
	struct slurm_job j = {.number = 1};
	unsigned waits = 0;

	(void)state;
	for (; j.number <= 600; j.number++) {
		(void)snprintf(j.id, sizeof(j.id), "%u", (unsigned)j.number);
		postpone_job(&F.e, &j, &F.bad);
	}
	postpone_part.at[PART_RUN](&F.e);
	W.now += 20000; /* slurmctld is slow */
	postpone_details(&F.e, "", 0, W.now, NULL);
	W.now += 60000;
	W.nasked = 0;
	postpone_part.at[PART_RUN](&F.e);
	waits += W.nasked;
	postpone_details(&F.e, "", 0, W.now, NULL); /* it knows none of these any more */
	W.nasked = 0;
	postpone_part.at[PART_RUN](&F.e);
	waits += W.nasked;
	assert_int_equal(waits, 600);
}

static void test_forgotten(void **state)
{
	(void)state;
	refuse("why");
	details("PENDING", 7, 6, "ask Ann");
	W.now = BEGAN + 60000 + REFUSAL_SLACK_MS;
	postpone_part.at[PART_RUN](&F.e);
	assert_int_equal(F.dels, 0);
	W.now++;
	postpone_part.at[PART_RUN](&F.e);
	assert_int_equal(F.dels, 1);
	refuse("why");
	assert_int_equal(F.put.r.count, 1);
}

/* Over a restart the count stays, and nothing is said twice; F57: a clock that went back does not
 * keep it for years. */
static void test_loaded(void **state)
{
	const int64_t year = INT64_C(365) * 86400 * 1000;

	(void)state;
	postpone_load(&F.e, &(struct journal_refusal){107, {.count = 3, .last_ms = BEGAN + year}});
	postpone_part.at[PART_RUN](&F.e);
	assert_string_equal(W.asked, "");
	refuse("why");
	assert_int_equal(F.put.r.count, 4);
	assert_int_equal(F.put.r.last_ms, BEGAN);
	job_table_part.at[PART_FREE](&F.e);
	job_table_part.at[PART_INIT](&F.e);
	postpone_load(&F.e, &(struct journal_refusal){107, {.count = 3, .last_ms = BEGAN + year}});
	W.now += 2 * REFUSAL_MAX_MS + REFUSAL_SLACK_MS;
	named("PENDING");
	assert_int_equal(F.dels, 0); /* its words may be there */
	details("PENDING", 7, 6, "ask Ann");
	postpone_part.at[PART_RUN](&F.e);
	assert_int_equal(F.dels, 1);
}

/* F57: the wall clock, which is slurmctld's and people's, was set since the start.  What slurmctld
 * says and what it and people are told are by that clock. */
static void test_told_by_the_wall_clock(void **state)
{
	static const struct {
		int64_t ahead_s; /* our time, of the wall clock */
		const char *comment;
	} rows[] = {
		{-3600, "burstd: why; next try 2027-01-15T08:30:30 (in 29s)"},
		{3600, "burstd: why; next try 2027-01-15T06:30:30 (in 29s)"},
		{365 * 86400, "burstd: why; next try 2026-01-15T07:30:30 (in 29s)"},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		(void)teardown(state);
		(void)setup(state);
		F.e.ahead_ms = rows[i].ahead_s * 1000;
		refuse("why");
		details("PENDING", 7, 6 - rows[i].ahead_s, "");
		assert_true(F.wait_ms > 29000 && F.wait_ms <= 30000);
		assert_string_equal(F.comment, rows[i].comment);
		W.now = BEGAN + 31000; /* its user's own time is kept */
		refuse("why");
		details("PENDING", 7, 600 - rows[i].ahead_s, "");
		assert_int_equal(F.wait_ms, 0);
	}
}

/* F57: the clock is set back while it waits: it is told again, for it would wait for as much
 * longer; not so a job that waits for a time of its user's. */
static void test_told_again_when_the_clock_is_set_back(void **state)
{
	static const struct {
		const char *what;
		int64_t begins, passed_ms, wait_ms; /* begins: by slurmctld, in s from now */
	} rows[] = {
		{"as it was told", 3600 + 30, 10, 29000},
		{"the command took a second", 3600 + 31, 10, 29000},
		{"the time is over already", 3600, 31000, 1000},
		{"its user has changed it since", 3600 + 34, 10, 0},
		{"or to a time before", 3600 + 26, 10, 0},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		(void)teardown(state);
		(void)setup(state);
		refuse("why");
		details("PENDING", 7, 6, "");
		assert_int_equal(F.told, 1);
		W.now += rows[i].passed_ms;
		clock_set(3600000); /* set back by an hour */
		details("PENDING", 7, rows[i].begins - 3600, "");
		if (F.told != 2 || F.wait_ms < rows[i].wait_ms || F.wait_ms > rows[i].wait_ms + 999)
			fail_msg("%s: told %u, %lld", rows[i].what, F.told, (long long)F.wait_ms);
	}
}

/* What is on its way when the clock is set shows times by the clock of before. */
static void test_an_answer_of_before_the_clock_was_set(void **state)
{
	const char *text;

	(void)state;
	refuse("why");
	details("PENDING", 7, 6, "");
	W.now += 60000;
	postpone_part.at[PART_RUN](&F.e);
	clock_set(3600000);
	text = detail("107", "PENDING", "7", "1", "burstd: why");
	postpone_details(&F.e, text, strlen(text), W.now, NULL);
	assert_int_equal(F.told, 1);
	details("PENDING", 7, 0, F.comment); /* it is asked anew */
	assert_int_equal(F.told, 2);
}

/* ... nor one that was never told a time by us. */
static void test_not_told_again_what_is_its_users(void **state)
{
	(void)state;
	refuse("why");
	details("PENDING", 7, 600, "");
	assert_int_equal(F.told, 1);
	clock_set(3600000);
	details("PENDING", 7, 600, "");
	assert_int_equal(F.told, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_told),
		TEST(test_shown),
		TEST(test_not_shown),
		TEST(test_not_ours),
		TEST(test_how_long_it_waits_still),
		TEST(test_counts_on_after_the_hold_of_slurmctld),
		TEST(test_held),
		TEST(test_not_yet),
		TEST(test_old_answer),
		TEST(test_an_answer_of_before_a_second_refusal),
		TEST(test_after_its_own_commands),
		TEST(test_an_update_that_overtakes_the_answer),
		TEST(test_told_again_when_it_was_not_taken),
		TEST(test_told_anew_when_it_was_too_late),
		TEST(test_words_that_were_too_late_are_said_anew),
		TEST(test_no_refusal_is_told_that_never_was),
		TEST(test_not_told_anew_what_came_by_itself),
		TEST(test_not_told_again_and_again),
		TEST(test_no_answer),
		TEST(test_many),
		TEST(test_forgotten),
		TEST(test_loaded),
		TEST(test_told_by_the_wall_clock),
		TEST(test_told_again_when_the_clock_is_set_back),
		TEST(test_an_answer_of_before_the_clock_was_set),
		TEST(test_not_told_again_what_is_its_users),
	};

	return cmocka_run_group_tests_name("postpone", tests, NULL, NULL);
}
