/* stages.c: each time is counted once, in the bucket whose bound it does not exceed. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include <cmocka.h>

#include "core/stages.h"

static struct node of(uint32_t pool, const char *offer)
{
	struct node n = {.pool = pool};

	(void)snprintf(n.offer, sizeof(n.offer), "%s", offer);
	return n;
}

static void test_buckets(void **state)
{
	static const struct {
		int64_t ms;
		size_t bucket;
	} rows[] = {{0, 0},     {1000, 0},     {1001, 1},     {2000, 1},      {60000, 6},
		    {60001, 7}, {1800000, 10}, {1800001, 11}, {INT64_MAX, 11}};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct stages s = {NULL, 0};
		struct node n = of(0, "");

		stages_add(&s, &n, STAGE_BOOT, rows[i].ms);
		for (size_t b = 0; b < STAGES_BUCKETS; b++)
			assert_int_equal(s.v[0].counts[STAGE_BOOT][b], b == rows[i].bucket);
		assert_int_equal(s.v[0].sum_ms[STAGE_BOOT], rows[i].ms);
		stages_fini(&s);
	}
	for (size_t b = 1; b < STAGES_BUCKETS; b++)
		assert_true(stages_bound_ms(b) > stages_bound_ms(b - 1));
}

static void test_offers_are_apart(void **state)
{
	const struct node nodes[] = {of(0, "a"), of(0, "b"), of(1, "a"), of(0, "a")};
	struct stages s = {NULL, 0};

	(void)state;
	for (size_t i = 0; i < 4; i++)
		stages_add(&s, &nodes[i], STAGE_READY, 5);
	assert_int_equal(s.n, 3);
	assert_int_equal(s.v[0].counts[STAGE_READY][0], 2);
	assert_int_equal(s.v[1].counts[STAGE_READY][0], 1);
	assert_string_equal(s.v[1].offer, "b");
	assert_int_equal(s.v[2].pool, 1);
	stages_fini(&s);
}

/* The clock was set back meanwhile. */
static void test_no_time_below_zero(void **state)
{
	struct stages s = {NULL, 0};
	struct node n = of(0, "");

	(void)state;
	stages_add(&s, &n, STAGE_BOOT, -1);
	assert_int_equal(s.n, 0);
	stages_add(&s, &n, STAGE_BOOT, INT64_MAX);
	stages_add(&s, &n, STAGE_BOOT, INT64_MAX);
	assert_true(s.v[0].sum_ms[STAGE_BOOT] == INT64_MAX);
	stages_fini(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_buckets),
		cmocka_unit_test(test_offers_are_apart),
		cmocka_unit_test(test_no_time_below_zero),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
