/* test_postpone_words.c - what burstd wrote into a job's comment: it stands there for as long as it
 * is true, and is looked after for as long as it stands there; what people write is theirs. */
#include "bare_postpone.h"
#include "jobs/jobs.h"

static const char anns[] = "; Ann knows";

static const char *with_anns(const char *comment)
{
	static char text[400];

	(void)snprintf(text, sizeof(text), "%s%s", comment, anns);
	return text;
}

/* --- as long as they stand there ---------------------------------------------------------------
 */

/* A node was lost, and the others are taken for two days; a machine is bought, and it runs. */
static void test_they_are_looked_after_however_long_the_job_waits(void **state)
{
	(void)state;
	lose("");
	for (int i = 0; i < 2 * 24 * 60; i++) {
		later("PENDING", 7, 0, F.comment);
		assert_string_equal(W.asked, "7_2");
	}
	assert_string_equal(F.cleared, "");
	postpone_bought(&F.e, 107);
	postpone_part.at[PART_RUN](&F.e);
	assert_int_equal(F.e.jobs->postpone_next, W.now + 2000);
	W.now += 2000;
	details("CONFIGURING", 7, 0, F.comment);
	assert_string_equal(F.cleared, "7_2");
}

/* Its user wants it to wait for three days: so long it is true that it was refused. */
static void test_they_stand_as_long_as_its_users_time(void **state)
{
	const int64_t begin_s = 3 * 86400;

	(void)state;
	refuse("why");
	details("PENDING", 7, begin_s, "");
	while (W.now < BEGAN + begin_s * 1000) {
		later("PENDING", 7, (BEGAN - W.now) / 1000 + begin_s - 61, F.comment);
		assert_string_equal(W.asked, "7_2");
		assert_string_equal(F.cleared, "");
	}
	later("RUNNING", 7, 0, F.comment);
	assert_string_equal(F.cleared, "7_2");
}

/* The row of a refusal outlives what it counts, and what rescue_hold.c says has one of its own. */
static void test_they_are_taken_back_after_a_restart(void **state)
{
	for (int lost = 0; lost < 2; lost++) {
		assert_int_equal(setup(state), 0);
		if (lost) {
			lose("");
		} else {
			refuse("why");
			details("PENDING", 7, 600, "");
		}
		assert_int_equal(F.rows, 1);
		for (int i = 0; i < 9; i++)
			later("PENDING", 7, 600 - 61 * i, F.comment);
		assert_int_equal(F.dels, 0);
		assert_int_equal(postpone_look(&F.e, 107).count, 0);
		restart();
		assert_int_equal(postpone_look(&F.e, 107).count, 0);
		named("PENDING");
		details("PENDING", 7, 0, F.comment);
		assert_string_equal(W.asked, "7_2");
		assert_string_equal(F.cleared, lost ? "" : "7_2"); /* the next try is over */
		F.cleared[0] = '\0';
		later("RUNNING", 7, 0, F.comment);
		assert_string_equal(F.cleared, "7_2");
		assert_int_equal(F.dels, 0);
		later("RUNNING", 7, 0, "");
		postpone_part.at[PART_RUN](&F.e);
		assert_int_equal(F.dels, 1);
		W.words[0] = W.asked[0] = '\0';
		W.now += 61000;
		postpone_part.at[PART_RUN](&F.e);
		assert_string_equal(W.words, "");
		assert_string_equal(W.asked, "");
		assert_int_equal(teardown(state), 0);
	}
	assert_int_equal(setup(state), 0);
}

/* F50: what has a row for its words alone was never refused, before and after a restart. */
static void test_words_alone_are_no_refusal(void **state)
{
	struct refusal r;

	(void)state;
	lose("");
	assert_int_equal(F.put.r.count, 0);
	r = postpone_look(&F.e, 107);
	assert_memory_equal(&r, &(struct refusal){0}, sizeof(r));
	restart();
	r = postpone_look(&F.e, 107);
	assert_memory_equal(&r, &(struct refusal){0}, sizeof(r));
	refuse("why");
	assert_int_equal(F.put.r.count, 1);
	assert_int_equal(F.put.r.first_ms, W.now);
	details("PENDING", 7, 6, "");
	later("CANCELLED", 7, 0, F.comment);
	assert_int_equal(F.dels, 1);
}

/* The order is on its way, or failed: what stood there before is ours as well. */
static void test_the_words_before_are_ours_too(void **state)
{
	char first[300];

	(void)state;
	refuse("first");
	details("PENDING", 7, 6, "");
	(void)snprintf(first, sizeof(first), "%s", F.comment);
	W.now += 31000;
	refuse("second");
	details("PENDING", 7, 6, first);
	assert_non_null(strstr(F.comment, "second"));
	later("RUNNING", 7, 0, first);
	assert_string_equal(F.cleared, "7_2");
}

/* It was bought for at once: its words are not there yet. */
static void test_words_on_their_way_are_looked_for_again(void **state)
{
	(void)state;
	refuse("why");
	details("PENDING", 7, 6, "");
	postpone_bought(&F.e, 107);
	W.now += 2000;
	details("CONFIGURING", 7, 0, "");
	later("RUNNING", 7, 0, F.comment);
	assert_string_equal(F.cleared, "7_2");
}

/* --- as long as they are true ------------------------------------------------------------------
 */

static void test_they_go_when_the_next_try_is_over(void **state)
{
	static const struct {
		const char *state;
		unsigned priority;
		int64_t after_s; /* the time that they name */
		const char *comment;
		bool cleared;
	} rows[] = {
		{"PENDING", 7, 240, NULL, false},
		{"PENDING", 7, 301, NULL, true},
		{"PENDING", 0, 301, NULL, true}, /* held */
		{"PENDING", 7, 301, "burstd: something else", false},
		{"COMPLETING", 7, 301, NULL, false}, /* it is being requeued, or has ended */
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		assert_int_equal(setup(state), 0);
		refuse("why");
		details("PENDING", 7, 6, "");
		W.now = BEGAN + REFUSAL_MS + rows[i].after_s * 1000;
		details(rows[i].state, rows[i].priority, -rows[i].after_s,
			rows[i].comment != NULL ? rows[i].comment : F.comment);
		assert_string_equal(W.asked, "7_2");
		assert_string_equal(F.cleared, rows[i].cleared ? "7_2" : "");
		assert_int_equal(teardown(state), 0);
	}
	assert_int_equal(setup(state), 0);
}

/* ... by what the row says, if that was before our start. */
static void test_they_go_when_the_next_try_of_before_a_restart_is_over(void **state)
{
	(void)state;
	refuse("why");
	details("PENDING", 7, 6, "");
	restart();
	named("PENDING");
	W.now = BEGAN + REFUSAL_MS + 240000;
	details("PENDING", 7, -240, F.comment);
	assert_string_equal(F.cleared, "");
	later("PENDING", 7, -301, F.comment);
	assert_string_equal(F.cleared, "7_2");
}

static void refuse_for_good(void)
{
	F.bad.hint.lasting = true;
	refuse("this job needs 12 nodes, the pool allows 8");
	details("PENDING", 7, 6, "");
	W.now += 10000;
}

/* What a held job is told stays true, as it waits for that time once it is released: then it is
 * decided. */
static void test_they_stay_while_the_job_is_held(void **state)
{
	(void)state;
	refuse_for_good();
	postpone_anew(&F.e);
	details("PENDING", 0, 86390, F.comment);
	assert_string_equal(F.started, "");
	later("PENDING", 0, 86390 - 61, F.comment);
	assert_string_equal(F.started, "");
	assert_string_equal(F.cleared, "");
	later("PENDING", 7, 86390 - 122, F.comment);
	assert_string_equal(F.started, "7_2");
}

/* Whether it may try at once, or somebody wants it to wait. */
static void test_they_go_when_it_is_decided_anew(void **state)
{
	static const struct {
		unsigned priority;
		int64_t begin_s;
		bool started;
	} rows[] = {{7, 86390, true}, {7, 90000, false}};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		assert_int_equal(setup(state), 0);
		refuse_for_good();
		later("PENDING", rows[i].priority, rows[i].begin_s - 61, F.comment);
		assert_string_equal(F.cleared, "");
		postpone_anew(&F.e);
		details("PENDING", rows[i].priority, rows[i].begin_s - 61, F.comment);
		assert_string_equal(F.started, rows[i].started ? "7_2" : "");
		assert_string_equal(F.cleared, rows[i].started ? "" : "7_2");
		ended("start", "", NULL);
		details("PENDING", rows[i].priority, 0, F.comment);
		assert_string_equal(F.cleared, "7_2");
		F.cleared[0] = '\0';
		later("PENDING", 7, 0, "");
		later("PENDING", 7, 0, F.comment); /* whoever wrote that */
		assert_string_equal(F.cleared, "");
		assert_int_equal(teardown(state), 0);
	}
	assert_int_equal(setup(state), 0);
}

static void test_they_go_when_somebody_lets_it_start(void **state)
{
	(void)state;
	refuse_for_good();
	later("PENDING", 7, 0, F.comment);
	assert_string_equal(F.started, "");
	assert_string_equal(F.cleared, "7_2");
}

/* --- what people write -------------------------------------------------------------------------
 */

static void test_what_people_add_stays_when_it_is_refused_again(void **state)
{
	const char *text;

	(void)state;
	refuse("why");
	details("PENDING", 7, 6, "");
	text = with_anns(F.comment);
	W.now += 31000;
	refuse("why");
	details("PENDING", 7, 6, text);
	assert_true(F.wait_ms > 0);
	assert_string_equal(F.comment, "left");
	for (int i = 0; i < 60; i++) /* so that the refusals count no more */
		later("PENDING", 7, 0, text);
	refuse("why");
	details("PENDING", 7, 6, text);
	assert_string_equal(F.comment, "left");
	for (int i = 0; i < 60; i++)
		later("RUNNING", 7, 0, text);
	refuse("why");
	details("PENDING", 7, 6, text);
	assert_string_equal(F.comment, "left");
	assert_string_equal(F.cleared, "");
}

static void test_what_people_add_stays_when_a_node_is_lost(void **state)
{
	const char *text;

	(void)state;
	lose("ask Ann");
	assert_string_equal(F.comment, "");
	assert_int_equal(F.rows, 0);
	lose("");
	text = with_anns(F.comment);
	lose(F.comment); /* ours */
	assert_string_not_equal(F.comment, "");
	lose(text);
	assert_string_equal(F.comment, "");
}

/* F54: burstd stood still with squeue's answer.  Where squeue is as slow as that, words there are
 * all the same. */
static void test_an_answer_that_lay_for_long_says_nothing_of_the_comment(void **state)
{
	const char *text;
	int64_t asked;

	for (int slow = 0; slow < 2; slow++) {
		assert_int_equal(setup(state), 0);
		W.now++; /* the refusal was before */
		refuse("why");
		asked = ++W.now;
		postpone_part.at[PART_RUN](&F.e);
		W.now += SLURM_COMMENT_MS;
		text = detail("107", "PENDING", "7", "1800000120", "");
		postpone_details(&F.e, text, strlen(text), asked, NULL);
		assert_int_equal(F.told, 0);
		asked = W.now += 300;
		postpone_part.at[PART_RUN](&F.e);
		W.now += slow ? SLURM_COMMENT_MS : 100;
		text = detail("107", "PENDING", "7", "1800000120", slow ? "" : "ask Ann");
		postpone_details(&F.e, text, strlen(text), asked, NULL);
		assert_int_equal(F.told, 1);
		assert_memory_equal(F.comment, slow ? "burs" : "left", 4);
		assert_int_equal(teardown(state), 0);
	}
	assert_int_equal(setup(state), 0);
}

/* One that has ended is not watched, whoever wrote there. */
static void test_what_has_ended_is_let_be(void **state)
{
	(void)state;
	refuse("why");
	details("PENDING", 7, 6, "");
	later("CANCELLED", 7, 6, with_anns(F.comment));
	assert_int_equal(F.dels, 1);
	later("CANCELLED", 7, 6, with_anns(F.comment));
	assert_string_equal(W.asked, "");
}

/* After a restart nobody knows what we wrote last. */
static void test_after_a_restart_all_that_begins_so_is_ours(void **state)
{
	(void)state;
	refuse("why");
	details("PENDING", 7, 6, "");
	restart();
	refuse("why");
	details("PENDING", 7, 6, "ask Ann");
	assert_string_equal(F.comment, "left");
	refuse("why");
	details("PENDING", 7, 6, "burstd: from before");
	assert_memory_equal(F.comment, "burstd: why", 11);
	refuse("why");
	details("PENDING", 7, 6, "burstd: from before and more");
	assert_string_equal(F.comment, "left");
}

/* F57: what a comment names is by the clock of people: it is over when that says so. */
static void test_words_are_over_by_the_clock_that_was_set(void **state)
{
	static const int64_t by_s[] = {-3600, 3600}; /* his own time is in two hours */

	for (size_t i = 0; i < 2; i++) {
		(void)teardown(state);
		(void)setup(state);
		refuse("why");
		details("PENDING", 7, 7200, "");
		W.now += 10000;
		clock_set(-by_s[i] * 1000);
		W.now += (7200 - by_s[i] + 300 - 75) * 1000;
		later("PENDING", 7, 0, F.comment);
		assert_string_equal(F.cleared, "");
		later("PENDING", 7, 0, F.comment);
		assert_string_equal(F.cleared, "7_2");
	}
}

/* F57: slurmctld's clock is set forward while burstd is away: its words are good all the same.  Set
 * back since the start, it is not told anew, for nobody knows any more what its words were. */
static void test_words_over_a_restart_with_another_clock(void **state)
{
	(void)state;
	for (int k = 0; k < 8; k++)
		refuse("why"); /* a quarter of an hour */
	details("PENDING", 7, 6, "");
	assert_int_equal(F.put.r.told_wall_ms, BEGAN + 900000);
	F.e.ahead_ms = -120000;
	restart();
	named("PENDING");
	details("PENDING", 7, 899, F.comment);
	assert_string_equal(F.cleared, "");
	clock_set(120000);
	later("PENDING", 7, 838, F.comment);
	assert_int_equal(F.told, 1);
	assert_string_equal(F.cleared, "");
	refuse("why");
	assert_int_equal(F.put.r.told_wall_ms, BEGAN + 900000); /* until it is told anew */
}

/* F57: refused a second time before it was told of the first one's end, and a crash comes before it
 * is told of that: what slurmctld has is what it was told, and nobody has let the job start. */
static void test_words_stay_after_a_crash_before_the_next_refusal_is_told(void **state)
{
	struct engine_postponed soonest;

	(void)state;
	refuse("why");
	details("PENDING", 7, 6, "");
	W.now += 1000;
	refuse("why"); /* waits a minute: 31 s longer than it was told */
	restart();
	assert_int_equal(engine_postponed(&F.e, &soonest), 1);
	named("PENDING");
	details("PENDING", 7, 28, F.comment);
	assert_string_equal(F.cleared, "");
	later("PENDING", 7, 28 - 61, F.comment); /* not started for 5 minutes after that time */
	assert_string_equal(F.cleared, "");
	W.now += 300000;
	later("PENDING", 7, 28 - 422, F.comment);
	assert_string_equal(F.cleared, "7_2");
}

/* I17: refused again before its time, it waits until the same moment.  slurmctld's own begin time
 * may be within two seconds of that, as if it had been told: no job starts sooner than that. */
static void test_not_sooner_than_a_time_that_is_slurmctlds_own_by_chance(void **state)
{
	static const int64_t own_s[] = {29, 30, 31, 32}; /* it was told 30 */

	for (size_t i = 0; i < sizeof(own_s) / sizeof(own_s[0]); i++) {
		const int64_t own_ms = BEGAN + own_s[i] * 1000;

		(void)teardown(state);
		(void)setup(state);
		F.bad.hint.surely_ms = BEGAN + 30000;
		refuse("why");
		details("PENDING", 7, 6, "");
		assert_in_range(F.wait_ms, 29990, 30000);
		F.wait_ms = 0;
		W.now += 1000;
		refuse("why");
		details("PENDING", 7, own_ms / 1000 - W.now / 1000, "");
		assert_int_equal(F.told, 2);
		if (F.wait_ms != 0 && W.now + F.wait_ms < own_ms)
			fail_msg("%lld s: %lld ms sooner", (long long)own_s[i],
				 (long long)(own_ms - W.now - F.wait_ms));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_they_are_looked_after_however_long_the_job_waits),
		TEST(test_they_stand_as_long_as_its_users_time),
		TEST(test_they_are_taken_back_after_a_restart),
		TEST(test_words_alone_are_no_refusal),
		TEST(test_the_words_before_are_ours_too),
		TEST(test_words_on_their_way_are_looked_for_again),
		TEST(test_they_go_when_the_next_try_is_over),
		TEST(test_they_go_when_the_next_try_of_before_a_restart_is_over),
		TEST(test_they_stay_while_the_job_is_held),
		TEST(test_they_go_when_it_is_decided_anew),
		TEST(test_they_go_when_somebody_lets_it_start),
		TEST(test_what_people_add_stays_when_it_is_refused_again),
		TEST(test_what_people_add_stays_when_a_node_is_lost),
		TEST(test_an_answer_that_lay_for_long_says_nothing_of_the_comment),
		TEST(test_what_has_ended_is_let_be),
		TEST(test_after_a_restart_all_that_begins_so_is_ours),
		TEST(test_words_are_over_by_the_clock_that_was_set),
		TEST(test_words_over_a_restart_with_another_clock),
		TEST(test_words_stay_after_a_crash_before_the_next_refusal_is_told),
		TEST(test_not_sooner_than_a_time_that_is_slurmctlds_own_by_chance),
	};

	return cmocka_run_group_tests_name("postpone/words", tests, NULL, NULL);
}
