/* test_columns.c - what the kernel makes of the answers of several parts, and of none. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "engine/kernel.h"

static struct {
	struct engine e;
	struct engine_part parts[3]; /* the one in the middle has no column at all */
	struct part_row rows[3];
	bool yes[2];
	unsigned asked;
} F;

static bool first_tries(const struct engine *e, uint32_t pool)
{
	(void)e;
	assert_int_equal(pool, 7);
	return F.yes[0];
}

static bool last_tries(const struct engine *e, uint32_t pool)
{
	(void)e;
	assert_int_equal(pool, 7);
	return F.yes[1];
}

static bool first_knows(struct cloud *c, const struct provider_notice *n)
{
	(void)c;
	(void)n;
	F.asked++;
	return F.yes[0];
}

static bool last_knows(struct cloud *c, const struct provider_notice *n)
{
	(void)c;
	(void)n;
	F.asked++;
	return F.yes[1];
}

static void limit(const struct engine *e, const struct node *n, struct node_limits *out)
{
	(void)e;
	(void)n;
	out->settle_ms = 5;
}

static int setup(void **state)
{
	(void)state;
	memset(&F, 0, sizeof(F));
	for (size_t i = 0; i < 3; i++)
		F.rows[i].part = &F.parts[i];
	F.e.d.parts = (struct engine_parts){F.rows, 3};
	return 0;
}

static void test_a_pool_is_on_trial_if_any_part_says_so(void **state)
{
	(void)state;
	assert_false(engine_on_trial(&F.e, 7)); /* nobody says anything */
	F.parts[0].on_trial = first_tries;
	F.parts[2].on_trial = last_tries;
	for (unsigned i = 0; i < 4; i++) {
		F.yes[0] = (i & 1) != 0;
		F.yes[1] = (i & 2) != 0;
		assert_int_equal(engine_on_trial(&F.e, 7), i != 0);
	}
}

/* A provider forgets what it was told has been taken: each part hears it, and each must know. */
static void test_a_notice_is_known_if_all_parts_know_it(void **state)
{
	(void)state;
	assert_true(engine_noticed(&F.e, NULL, NULL));
	F.parts[0].noticed = first_knows;
	F.parts[2].noticed = last_knows;
	for (unsigned i = 0; i < 4; i++) {
		F.yes[0] = (i & 1) != 0;
		F.yes[1] = (i & 2) != 0;
		assert_int_equal(engine_noticed(&F.e, NULL, NULL), i == 3);
	}
	assert_int_equal(F.asked, 8);
}

static void test_without_limits_there_are_none(void **state)
{
	struct node_limits l;

	(void)state;
	memset(&l, 0xff, sizeof(l));
	(void)engine_limits(&F.e, NULL, &l);
	assert_int_equal(l.settle_ms, 0);
	assert_int_equal(l.boot_ms, 0);
	assert_false(l.tokens);
	F.parts[2].limits = limit;
	assert_int_equal(engine_limits(&F.e, NULL, &l)->settle_ms, 5);
}

static void hears(struct engine *e, uint64_t job)
{
	assert_ptr_equal(e, &F.e);
	assert_int_equal(job, 7);
	F.asked++;
}

static void test_each_part_hears_that_a_job_has_ended(void **state)
{
	(void)state;
	engine_job_ended(&F.e, 7);
	assert_int_equal(F.asked, 0);
	F.parts[0].job_ended = F.parts[2].job_ended = hears;
	engine_job_ended(&F.e, 7);
	assert_int_equal(F.asked, 2);
}

static void meets(struct engine *e, uint64_t job, uint64_t other)
{
	assert_ptr_equal(e, &F.e);
	assert_int_equal(job, 7);
	assert_int_equal(other, 8);
	F.asked++;
}

static void test_each_part_hears_of_the_components_of_a_job(void **state)
{
	(void)state;
	engine_job_beside(&F.e, 7, 8);
	assert_int_equal(F.asked, 0);
	F.parts[0].job_beside = F.parts[2].job_beside = meets;
	engine_job_beside(&F.e, 7, 8);
	assert_int_equal(F.asked, 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_a_pool_is_on_trial_if_any_part_says_so, setup),
		cmocka_unit_test_setup(test_a_notice_is_known_if_all_parts_know_it, setup),
		cmocka_unit_test_setup(test_without_limits_there_are_none, setup),
		cmocka_unit_test_setup(test_each_part_hears_that_a_job_has_ended, setup),
		cmocka_unit_test_setup(test_each_part_hears_of_the_components_of_a_job, setup),
	};

	return cmocka_run_group_tests_name("engine/columns", tests, NULL, NULL);
}
