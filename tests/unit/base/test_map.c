/* test_map.c - the map against the simplest thing that does the same. */
#include "base/map.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void test_basics(void **state)
{
	char again[] = "a";
	int one = 1, two = 2;
	struct map m;

	(void)state;
	map_init(&m);
	assert_null(map_get(&m, "a"));
	map_del(&m, "a");
	map_put(&m, "a", &one);
	map_put(&m, "", &two);
	assert_ptr_equal(map_get(&m, "a"), &one);
	assert_ptr_equal(map_get(&m, ""), &two);
	assert_null(map_get(&m, "b"));
	map_put(&m, again, &two);
	assert_ptr_equal(map_get(&m, "a"), &two);
	assert_int_equal(m.n, 2);
	map_del(&m, "a");
	assert_null(map_get(&m, "a"));
	assert_ptr_equal(map_get(&m, ""), &two);
	assert_int_equal(m.n, 1);
	map_fini(&m);
	assert_null(map_get(&m, ""));
	map_fini(&m);
}

/* The key of the last put is the one that is borrowed. */
static void test_replaced_key(void **state)
{
	char *first = strdup("node"), *second = strdup("node");
	int v = 1;
	struct map m;

	(void)state;
	map_init(&m);
	map_put(&m, first, &v);
	map_put(&m, second, &v);
	free(first);
	assert_ptr_equal(map_get(&m, "node"), &v);
	map_fini(&m);
	free(second);
}

static uint64_t next_random(uint64_t *seed)
{
	*seed = *seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return *seed >> 33;
}

enum { KEYS = 700 };

static void assert_same(const struct map *m, char keys[KEYS][16], char *const *model)
{
	size_t n = 0;

	for (size_t i = 0; i < KEYS; i++) {
		assert_ptr_equal(map_get(m, keys[i]), model[i]);
		n += model[i] != NULL;
	}
	assert_int_equal(m->n, n);
	assert_true(m->used >= m->n && 4 * m->used <= 3 * m->cap);
}

static void test_against_model(void **state)
{
	static char keys[KEYS][16];
	static char *model[KEYS];

	(void)state;
	for (size_t i = 0; i < KEYS; i++)
		(void)snprintf(keys[i], sizeof(keys[i]), "node-%zu", i);
	for (uint64_t round = 0; round < 20; round++) {
		uint64_t seed = round;
		struct map m;

		map_init(&m);
		memset(model, 0, sizeof(model));
		for (int step = 0; step < 5000; step++) {
			size_t k = (size_t)(next_random(&seed) % KEYS);

			if (next_random(&seed) % 20 < round) {
				map_del(&m, keys[k]);
				model[k] = NULL;
			} else {
				model[k] = keys[next_random(&seed) % KEYS];
				map_put(&m, keys[k], model[k]);
			}
			if (step % 500 == 0)
				assert_same(&m, keys, model);
		}
		assert_same(&m, keys, model);
		map_fini(&m);
	}
}

/* Graves are reused or swept away: the table does not grow with the number of deletions. */
static void test_churn(void **state)
{
	static char keys[100000][16];
	struct map m;

	(void)state;
	map_init(&m);
	for (size_t i = 0; i < 100000; i++) {
		(void)snprintf(keys[i], sizeof(keys[i]), "i-%zu", i);
		map_put(&m, keys[i], keys[i]);
		if (i >= 10)
			map_del(&m, keys[i - 10]);
	}
	assert_int_equal(m.n, 10);
	assert_true(m.cap <= 64);
	assert_ptr_equal(map_get(&m, "i-99999"), keys[99999]);
	map_fini(&m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_basics),
		cmocka_unit_test(test_replaced_key),
		cmocka_unit_test(test_against_model),
		cmocka_unit_test(test_churn),
	};

	return cmocka_run_group_tests_name("map", tests, NULL, NULL);
}
