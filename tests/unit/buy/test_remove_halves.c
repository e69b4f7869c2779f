/* test_remove_halves.c - a delete that is refused whole is cut in two. */
#include "stray_deletes.h"

static void test_one_that_may_not_be_deleted_is_asked_for_alone(void **state)
{
	static const enum provider_code spoilt[] = {PROVIDER_TRANSIENT, PROVIDER_DENIED,
						    PROVIDER_TRANSIENT};

	(void)state;
	remove_part.at[PART_RUN](&F.e);
	answer(0, PROVIDER_OK, spoilt);
	remove_part.at[PART_RUN](&F.e);
	assert_string_equal(F.sent[1].ids, "s3;s4;");
	F.now += MINUTE;
	remove_part.at[PART_RUN](&F.e);
	assert_int_equal(F.nsent,
			 3); /* that one later: it is not for this that there are more (I30) */
	assert_string_equal(F.sent[2].ids, "s0;s2;s3;");
	F.now += 10 * MINUTE;
	remove_part.at[PART_RUN](&F.e);
	assert_int_equal(F.nsent, 5);
	assert_string_equal(F.sent[3].ids, "s4;s0;s2;");
	assert_string_equal(F.sent[4].ids, "s1;");
}

static const char told[] = " deletes-refused: provider ec2 does not delete 4 instances, and "
			   "perhaps others: no right to; burstd retries\n";

/* All that goes out now is denied, until nothing does; the sizes of the requests. */
static void deny_all(char sizes[200])
{
	size_t answered = F.nsent;

	sizes[0] = '\0';
	remove_part.at[PART_RUN](&F.e);
	while (answered < F.nsent) {
		size_t n = strlen(sizes);

		(void)snprintf(sizes + n, 200 - n, "%zu ", F.sent[answered].n);
		F.slots++;
		answer(answered++, PROVIDER_DENIED, NULL);
	}
}

/* F22: the right to delete is gone, say.  That is no fault of an instance: none is given up, it is
 * told once, and when that is clear they are asked for together again (I30). */
static void test_a_delete_that_is_refused_whole_is_told_once(void **state)
{
	static const enum provider_code fine[4] = {PROVIDER_OK};
	char sizes[200];

	(void)state;
	add_nodes();
	deny_all(sizes);
	assert_string_equal(sizes, "4 ");
	deny_all(sizes);
	assert_string_equal(sizes, "2 2 ");
	for (int i = 0; i < 4; i++) { /* sixteen in all */
		deny_all(sizes);
		assert_string_equal(sizes, "1 1 1 1 ");
		forget_sent();
	}
	for (int i = 0; i < 3; i++) {
		deny_all(sizes);
		assert_string_equal(sizes, "4 ");
		assert_null(strstr(F.posted, "denied"));
		assert_string_equal(F.events, told);
	}
	F.now += 10 * MINUTE; /* perhaps it was one of them after all */
	deny_all(sizes);
	deny_all(sizes);
	assert_string_equal(sizes, "2 2 ");
	F.cloud.delete_most = 0;
	remove_part.at[PART_RUN](&F.e);
	answer(F.nsent - 1, PROVIDER_OK, fine);
	F.events[0] = '\0';
	deny_all(sizes);
	assert_string_equal(F.events, told); /* it was over, and begins anew */
}

/* One of them is protected, or somebody else's by now, and the provider denies the whole request:
 * the others go. */
static void test_a_delete_that_is_denied_for_one_is_cut_in_two(void **state)
{
	static const enum provider_code fine[2] = {PROVIDER_OK};

	(void)state;
	add_nodes();
	remove_part.at[PART_RUN](&F.e);
	answer(0, PROVIDER_DENIED, NULL);
	remove_part.at[PART_RUN](&F.e);
	assert_string_equal(F.sent[1].ids, "n1;n2;");
	assert_string_equal(F.sent[2].ids, "n3;n4;");
	answer(2, PROVIDER_OK, fine);
	answer(1, PROVIDER_DENIED, NULL);
	F.posted[0] = '\0';
	remove_part.at[PART_RUN](&F.e);
	assert_string_equal(F.sent[3].ids, "n1;");
	assert_string_equal(F.sent[4].ids, "n2;");
	answer(3, PROVIDER_DENIED, NULL);
	assert_string_equal(F.posted, "n1 delete-failed;"); /* nothing went since: is it n1? */
	answer(4, PROVIDER_OK, fine);
	F.posted[0] = '\0';
	F.cloud.caps.delete_max = 1;
	F.slots = 8;
	remove_part.at[PART_RUN](&F.e);
	answer(7, PROVIDER_DENIED, NULL);
	assert_string_equal(F.posted, "n1 delete-denied;"); /* it is */
}

/* Here, too, one keeps no other; and it is asked for alone from then on. */
static void test_strays_that_are_denied_for_one_are_cut_in_two_as_well(void **state)
{
	static const enum provider_code fine[2] = {PROVIDER_OK};

	(void)state;
	F.cloud.nstrays = 2;
	F.slots = 16;
	remove_part.at[PART_RUN](&F.e);
	answer(0, PROVIDER_DENIED, NULL);
	F.now += MINUTE;
	remove_part.at[PART_RUN](&F.e);
	remove_part.at[PART_RUN](&F.e);
	assert_string_equal(F.sent[1].ids, "s0;");
	assert_string_equal(F.sent[2].ids, "s1;");
	answer(1, PROVIDER_DENIED, NULL);
	answer(2, PROVIDER_OK, fine);
	assert_false(F.cloud.strays[0].apart);
	F.cloud.nstrays = 1;
	F.now += MINUTE;
	remove_part.at[PART_RUN](&F.e);
	answer(3, PROVIDER_DENIED, NULL);
	assert_true(F.cloud.strays[0].apart);
}

static void test_one_that_is_refused_alone_is_denied(void **state)
{
	static const enum provider_code codes[4] = {PROVIDER_TRANSIENT, PROVIDER_DENIED,
						    PROVIDER_TRANSIENT, PROVIDER_TRANSIENT};

	(void)state;
	add_nodes();
	remove_part.at[PART_RUN](&F.e);
	answer(0, PROVIDER_OK, codes);
	assert_string_equal(F.posted, "n1 delete-failed;n2 delete-denied;n3 delete-failed;"
				      "n4 delete-failed;");
	F.cloud.caps.delete_max = 1;
	remove_part.at[PART_RUN](&F.e);
	F.posted[0] = '\0';
	answer(1, PROVIDER_DENIED, NULL);
	assert_string_equal(F.posted, "n1 delete-denied;");
	assert_string_equal(F.events, "");
}

/* Which of them makes no sense it does not say: they are asked for in halves. */
static void test_a_delete_that_makes_no_sense_is_cut_in_two(void **state)
{
	static const enum provider_code fine[2] = {PROVIDER_OK};

	(void)state;
	add_nodes();
	remove_part.at[PART_RUN](&F.e);
	answer(0, PROVIDER_INVALID, NULL);
	remove_part.at[PART_RUN](&F.e);
	assert_int_equal(F.nsent, 3);
	assert_string_equal(F.sent[1].ids, "n1;n2;");
	assert_string_equal(F.sent[2].ids, "n3;n4;");
	answer(1, PROVIDER_OK, fine);
	answer(2, PROVIDER_INVALID, NULL);
	F.posted[0] = '\0';
	remove_part.at[PART_RUN](&F.e);
	assert_int_equal(F.nsent, 7);
	assert_string_equal(F.sent[3].ids, "n1;");
	answer(3, PROVIDER_INVALID, NULL);
	assert_string_equal(F.posted, "n1 delete-denied;");
	answer(4, PROVIDER_OK, fine);
	F.slots = 8;
	remove_part.at[PART_RUN](&F.e);
	assert_string_equal(F.sent[7].ids, "n1;n2;"); /* whole again */
}

static void test_strays_that_make_no_sense_together_are_cut_in_two_as_well(void **state)
{
	(void)state;
	F.cloud.caps.delete_max = 4;
	F.cloud.nstrays = 4;
	F.slots = 8;
	remove_part.at[PART_RUN](&F.e);
	assert_string_equal(F.sent[0].ids, "s0;s1;s2;s3;");
	answer(0, PROVIDER_INVALID, NULL);
	F.now += MINUTE;
	remove_part.at[PART_RUN](&F.e);
	remove_part.at[PART_RUN](&F.e);
	assert_int_equal(F.nsent, 3);
	assert_string_equal(F.sent[1].ids, "s0;s1;");
	assert_string_equal(F.sent[2].ids, "s2;s3;");
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
	const struct CMUnitTest tests[] = {
		T(test_a_delete_that_is_refused_whole_is_told_once),
		T(test_a_delete_that_makes_no_sense_is_cut_in_two),
		T(test_a_delete_that_is_denied_for_one_is_cut_in_two),
		T(test_strays_that_are_denied_for_one_are_cut_in_two_as_well),
		T(test_strays_that_make_no_sense_together_are_cut_in_two_as_well),
		T(test_one_that_may_not_be_deleted_is_asked_for_alone),
		T(test_one_that_is_refused_alone_is_denied),
	};
#undef T

	return cmocka_run_group_tests_name("remove_halves", tests, NULL, NULL);
}
