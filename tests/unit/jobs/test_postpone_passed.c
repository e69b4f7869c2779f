/* test_postpone_passed.c - a job of several nodes, which others have passed over, has its turn. */
#include "bare_postpone.h"
#include "jobs/jobs.h"

/* ADR 48 */
static void test_who_was_passed_over_three_times_has_a_turn(void **state)
{
	(void)state;
	refuse("none left");
	F.bad.passed_over = true;
	for (int i = 0; i < 3; i++) {
		assert_false(postpone_goes_first(&F.e, 107));
		W.now += 35000;
		F.bad.hint.not_before_ms = W.now + 1000; /* the place opens then */
		refuse("none left");
	}
	assert_int_equal(F.put.r.count, 4); /* which would be 240 s */
	assert_int_equal(F.put.r.wait_ms, REFUSAL_MS);
	F.bad.passed_over = false;
	F.bad.hint.not_before_ms = W.now + 70000; /* it would be refused sooner */
	refuse("none left");
	assert_int_equal(F.put.r.wait_ms, 70000);
	F.bad.hint.not_before_ms = 0; /* it waits for no place: for the pool's limit, say */
	refuse("none left");          /* nobody else got any: that is no turn */
	assert_true(F.put.r.wait_ms == 0 || F.put.r.wait_ms >= 480000);
	assert_true(postpone_goes_first(&F.e, 107));
	assert_false(postpone_goes_first(&F.e, 108));
	F.event[0] = '\0';
	postpone_went_first(&F.e, 108);
	assert_string_equal(F.event, "");
	postpone_went_first(&F.e, 107);
	assert_string_equal(
		F.event,
		"job-first: job 7_2 was passed over 3 times: it is bought for before others");
	assert_false(postpone_goes_first(&F.e, 107)); /* it has had its turn */
	refuse("none left");
	assert_int_equal(F.put.r.wait_ms, REFUSAL_MAX_MS);
	F.event[0] = '\0';
	postpone_went_first(&F.e, 107);
	assert_string_equal(F.event, "");
}

/* Others got its place, and then it was not tried for long, or has ended: that counts no more. */
static void test_what_is_long_ago_or_over_does_not_count(void **state)
{
	(void)state;
	F.bad.passed_over = true;
	for (int i = 0; i < 4; i++)
		refuse("none left");
	details("PENDING", 7, 6, "");
	later("CONFIGURING", 7, 0, F.comment); /* its time has come: it is bought for now */
	assert_true(postpone_goes_first(&F.e, 107));
	W.now += 3 * REFUSAL_MAX_MS;
	refuse("none left");
	assert_false(postpone_goes_first(&F.e, 107));
	for (int i = 0; i < 2; i++)
		refuse("none left");
	assert_true(postpone_goes_first(&F.e, 107));
	details("PENDING", 7, 6, "");
	later("COMPLETED", 7, 0, F.comment);
	assert_false(postpone_goes_first(&F.e, 107)); /* its number may be another's next (F50) */
}

/* What burstd says of how close together a job runs gives way to why it waits, once that was
 * requeued; and it is not cleared for that the job has its nodes. */
static void test_where_it_ran_matters_less_than_why_it_waits(void **state)
{
	static const char ran[] = "burstd: placed: 2 nodes below one switch";

	(void)state;
	refuse("why");
	details("PENDING", 7, 6, ran);
	assert_non_null(strstr(F.comment, "burstd: why"));
	later("CONFIGURING", 7, 0, F.comment);
	F.comment[0] = '\0';
	F.cleared[0] = '\0';
	for (int i = 0; i < 3; i++)
		later("RUNNING", 7, 0, ran);
	assert_string_equal(F.cleared, "");
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(test_who_was_passed_over_three_times_has_a_turn),
		TEST(test_what_is_long_ago_or_over_does_not_count),
		TEST(test_where_it_ran_matters_less_than_why_it_waits),
	};
#undef TEST

	return cmocka_run_group_tests_name("postpone_passed", tests, NULL, NULL);
}
