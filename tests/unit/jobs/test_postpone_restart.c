/* test_postpone_restart.c - what is decided anew about a postponed job after a restart of burstd.
 */
#include "postponed_anew.h"

/* The configuration may be another. */
static void test_decided_anew_after_a_restart(void **state)
{
	(void)state;
	postpone_load(
		&F.e,
		&(struct journal_refusal){
			107, {.count = 1, .last_ms = BEGAN - 1000, .wait_ms = REFUSAL_DAY_MS}});
	W.now += 120000;
	words(12, "(null)");
	details("PENDING", 7, 86400 - 181, "burstd: x");
	assert_string_equal(W.asked, "7_2");
	assert_string_equal(F.started, "7_2");
}

/* It may start already. */
static void test_not_decided_anew_after_a_restart_when_its_day_is_over(void **state)
{
	(void)state;
	F.put = (struct journal_refusal){
		107, {.count = 1, .last_ms = BEGAN - REFUSAL_DAY_MS, .wait_ms = REFUSAL_DAY_MS}};
	restart();
	named("PENDING");
	W.now += 120000;
	F.put.job = 0;
	details("PENDING", 7, -120, "burstd: x");
	assert_string_equal(W.asked, "7_2");
	assert_string_equal(F.started, "");
	assert_int_equal(F.put.job, 0);
}

/* I17: neither then may it start before slurmctld would start it by itself, for which slurm.conf is
 * asked first. */
static void test_anew_after_a_restart_is_not_before_slurmctlds_own_time(void **state)
{
	static const struct {
		int64_t hold_ms, after_ms; /* after_ms: of its refusal */
		bool known;
		int64_t wait_ms; /* 0: at once; -1: not yet */
	} rows[] = {
		{0, 120000, true, 10000},       {6000, 131000, true, 0},
		{601000, 131000, true, 479000}, {601000, 611000, true, 0},
		{601000, 131000, false, -1},    {0, 30000, false, -1},
		{0, 191000, false, 0},
	};
	struct journal_refusal r = {107, {.count = 1, .last_ms = BEGAN, .wait_ms = REFUSAL_DAY_MS}};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		assert_int_equal(setup(state), 0);
		F.e.started_ms = BEGAN + 130000;
		F.hold_ms = rows[i].hold_ms;
		F.known_ms = rows[i].known;
		postpone_load(&F.e, &r);
		words(12, "(null)");
		W.now = BEGAN + rows[i].after_ms - 1;
		details("PENDING", 7, (BEGAN + REFUSAL_DAY_MS - W.now) / 1000, "burstd: x");
		assert_string_equal(F.started, rows[i].wait_ms == 0 ? "7_2" : "");
		assert_int_equal(F.wait_ms, rows[i].wait_ms > 0 ? rows[i].wait_ms : 0);
		assert_int_equal(teardown(state), 0);
	}
	assert_int_equal(setup(state), 0);
}

/* F57: slurmctld's clock is set while burstd is away.  What it was told is durable: nobody has let
 * the job start, and its words are not over. */
static void test_anew_after_a_restart_with_another_clock(void **state)
{
	static const int64_t by_s[] = {3600, 60, -60, -3600};

	for (size_t i = 0; i < sizeof(by_s) / sizeof(by_s[0]); i++) {
		struct engine_postponed soonest;

		(void)teardown(state);
		(void)setup(state);
		refuse_for_good();
		W.now += 3600000; /* its own time is over */
		F.e.ahead_ms = -by_s[i] * 1000;
		restart();
		assert_int_equal(engine_postponed(&F.e, &soonest), 1);
		assert_int_equal(soonest.until_ms, BEGAN + REFUSAL_DAY_MS - by_s[i] * 1000);
		F.known_ms = W.now;
		named("PENDING");
		details("PENDING", 7, (BEGAN + REFUSAL_DAY_MS - W.now) / 1000, F.comment);
		assert_string_equal(F.cleared, "");
		assert_string_equal(F.started, "7_2");
		ended("start", "", NULL);
		assert_int_equal(F.put.r.told_wall_ms, 0); /* that is over */
	}
}

/* ... nor is that forgotten by a crash, before anybody knows whether slurmctld has taken it. */
static void test_anew_after_a_restart_though_it_was_not_told_again(void **state)
{
	const int64_t told = BEGAN + REFUSAL_DAY_MS;

	(void)state;
	refuse_for_good();
	clock_set(360000);
	details("PENDING", 7, (told - W.now) / 1000, F.comment);
	assert_int_equal(F.told, 2);
	W.now += 3600000; /* its own time is over */
	restart();
	F.known_ms = W.now;
	named("PENDING");
	details("PENDING", 7, (told - W.now) / 1000, F.comment);
	assert_string_equal(F.cleared, "");
	assert_string_equal(F.started, "7_2");
}

/* Refused again since the start, it is known when slurmctld would start it. */
static void test_a_new_refusal_says_slurmctlds_own_time(void **state)
{
	(void)state;
	postpone_load(
		&F.e,
		&(struct journal_refusal){
			107, {.count = 1, .last_ms = BEGAN - 1000, .wait_ms = REFUSAL_DAY_MS}});
	F.bad.hint.lasting = true;
	refuse("why");
	details("PENDING", 7, 20, "");
	postpone_anew(&F.e);
	details("PENDING", 7, 86400, F.comment);
	assert_string_equal(F.started, "");
	assert_true(F.wait_ms > 18000 && F.wait_ms <= 20000);
}

/* What could not be decided at once is decided a minute later. */
static void test_anew_after_a_restart_waits_for_slurm_conf(void **state)
{
	(void)state;
	W.now = BEGAN + 639000;
	F.e.started_ms = BEGAN + 690000;
	postpone_load(&F.e,
		      &(struct journal_refusal){
			      107, {.count = 1, .last_ms = BEGAN, .wait_ms = REFUSAL_DAY_MS}});
	words(12, "(null)");
	details("PENDING", 7, 86400 - 700, "burstd: x");
	assert_string_equal(F.started, "");
	F.hold_ms = 601000;
	F.known_ms = W.now;
	later("PENDING", 7, 86400 - 761, "burstd: x");
	assert_string_equal(F.started, "7_2");
}

/* One that waits for a while is not hurried, whatever changes. */
static void test_others_are_not_decided_anew(void **state)
{
	(void)state;
	refuse("why");
	details("PENDING", 7, 6, "");
	postpone_anew(&F.e);
	F.costs[0] = 1;
	prices_change_nothing();
	assert_string_equal(W.words, "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_anew_after_a_restart_though_it_was_not_told_again),
		TEST(test_decided_anew_after_a_restart),
		TEST(test_not_decided_anew_after_a_restart_when_its_day_is_over),
		TEST(test_anew_after_a_restart_is_not_before_slurmctlds_own_time),
		TEST(test_a_new_refusal_says_slurmctlds_own_time),
		TEST(test_anew_after_a_restart_waits_for_slurm_conf),
		TEST(test_anew_after_a_restart_with_another_clock),
		TEST(test_others_are_not_decided_anew),
	};

	return cmocka_run_group_tests_name("postpone_restart", tests, NULL, NULL);
}
