/* test_learned.c - what machines of an offer turned out to have, last. */
#include "core/learned.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static struct learned L;

static bool put(const char *pool, const char *offer, uint32_t cpus, int64_t at_ms)
{
	struct learned_row row = {.has = {.cpus = cpus, .memory_mb = 1000}, .at_ms = at_ms};

	(void)snprintf(row.pool, sizeof(row.pool), "%s", pool);
	(void)snprintf(row.offer, sizeof(row.offer), "%s", offer);
	return learned_put(&L, &row);
}

static void test_the_last_of_each_offer_is_kept(void **state)
{
	(void)state;
	memset(&L, 0, sizeof(L));
	assert_true(put("a", "", 8, 1));
	assert_true(put("a", "spot", 8, 2));
	assert_true(put("b", "", 4, 3));
	assert_false(put("a", "", 8, 4));
	assert_true(put("a", "", 16, 5));
	assert_true(put("a", "", 8, 6)); /* again something else */
	assert_int_equal(L.n, 3);
	assert_int_equal(L.v[0].has.cpus, 8);
	assert_int_equal(L.v[0].at_ms, 6);
	assert_int_equal(L.v[1].at_ms, 2);
}

/* Each number counts. */
static void test_what_differs(void **state)
{
	static const struct hardware_node base = {8, 1, 2, 2, 2, 1000, 10};
	struct learned_row row = {.pool = "a", .has = base};
	uint32_t *const numbers[] = {&row.has.cpus, &row.has.boards, &row.has.sockets,
				     &row.has.cores, &row.has.threads};

	(void)state;
	memset(&L, 0, sizeof(L));
	assert_true(learned_put(&L, &row));
	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
		++*numbers[i];
		assert_true(learned_put(&L, &row));
	}
	row.has.memory_mb++;
	assert_true(learned_put(&L, &row));
	row.has.disk_mb++;
	assert_true(learned_put(&L, &row));
	assert_false(learned_put(&L, &row));
}

static void test_the_oldest_makes_room(void **state)
{
	char name[16];

	(void)state;
	memset(&L, 0, sizeof(L));
	for (int i = 0; i < LEARNED_MAX; i++) {
		(void)snprintf(name, sizeof(name), "p%d", i);
		assert_true(put(name, "", 8, 1000 + (i == 7 ? -1 : i)));
	}
	assert_true(put("new", "", 8, 5000));
	assert_int_equal(L.n, LEARNED_MAX);
	assert_string_equal(L.v[7].pool, "new");
	assert_false(put("p8", "", 8, 5001));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_the_last_of_each_offer_is_kept),
		cmocka_unit_test(test_what_differs),
		cmocka_unit_test(test_the_oldest_makes_room),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
