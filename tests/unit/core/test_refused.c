/* refused.c: each offer of each pool is counted by itself, by reason. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include <cmocka.h>

#include "core/refused.h"

static void test_counts(void **state)
{
	struct refused r = {NULL, 0};

	(void)state;
	assert_int_equal(refused_of(&r, 0, "od", PROVIDER_CAPACITY), 0);
	refused_add(&r, 0, "od", PROVIDER_CAPACITY, 3);
	refused_add(&r, 1, "od", PROVIDER_CAPACITY, 1);
	refused_add(&r, 0, "spot", PROVIDER_CAPACITY, 7);
	refused_add(&r, 0, "od", PROVIDER_QUOTA, 2);
	refused_add(&r, 0, "od", PROVIDER_CAPACITY, 4);
	assert_int_equal(r.n, 3);
	assert_int_equal(refused_of(&r, 0, "od", PROVIDER_CAPACITY), 7);
	assert_int_equal(refused_of(&r, 0, "od", PROVIDER_QUOTA), 2);
	assert_int_equal(refused_of(&r, 1, "od", PROVIDER_CAPACITY), 1);
	assert_int_equal(refused_of(&r, 1, "od", PROVIDER_QUOTA), 0);
	assert_int_equal(refused_of(&r, 0, "spot", PROVIDER_CAPACITY), 7);
	assert_int_equal(refused_of(&r, 0, "", PROVIDER_CAPACITY), 0);
	refused_fini(&r);
	assert_int_equal(r.n, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_counts)};

	return cmocka_run_group_tests_name("refused", tests, NULL, NULL);
}
