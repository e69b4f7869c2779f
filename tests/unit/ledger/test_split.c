/* test_split.c - an amount is divided by weights to the last nano-unit. */
#include "ledger/split.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

/* A true-up of an invoice, down to the owners; a pool; a conversion (cases 13 and 14). */
static void test_known_splits(void **state)
{
	static const struct {
		int64_t nano;
		uint64_t weights[3];
		int64_t parts[3];
	} rows[] = {
		{-1000000000,
		 {100000000000, 50000000000, 25000000000},
		 {-571428571, -285714286, -142857143}},
		{-285714286, {30000000000, 20000000000, 0}, {-171428572, -114285714, 0}},
		{1000000000, {100000000000, 0, 0}, {1000000000, 0, 0}},
		{-500000000, {30000000000, 20000000000, 0}, {-300000000, -200000000, 0}},
		{10000000001,
		 {60000000000, 30000000000, 10000000000},
		 {6000000001, 3000000000, 1000000000}},
		{100358024581,
		 {66000000001, 33000000000, 11000000000},
		 {60214814749, 30107407374, 10035802458}},
		{1, {1, 1, 1}, {1, 0, 0}}, /* of equal fractions the first */
		{-2, {1, 1, 1}, {-1, -1, 0}},
		{0, {1, 2, 3}, {0, 0, 0}},
		{7, {0, 0, 5}, {0, 0, 7}},
		{INT64_MAX,
		 {UINT64_MAX, UINT64_MAX, UINT64_MAX},
		 {INT64_MAX / 3 + 1, INT64_MAX / 3, INT64_MAX / 3}},
		{-INT64_MAX, {UINT64_MAX, 1, 0}, {-INT64_MAX, 0, 0}},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		int64_t parts[3];

		print_message("# row %zu\n", i);
		assert_int_equal(split(rows[i].nano, rows[i].weights, 3, parts), 0);
		for (size_t k = 0; k < 3; k++)
			assert_true(parts[k] == rows[i].parts[k]);
	}
}

static void test_nothing_to_divide_by(void **state)
{
	static const uint64_t none[2];
	int64_t parts[2] = {7, 7};

	(void)state;
	assert_int_equal(split(5, none, 2, parts), -1);
	assert_int_equal(split(5, none, 0, parts), -1);
	assert_int_equal(parts[0], 7);
}

/* Whatever the weights: the parts add up, and each is less than one from its share. */
static void test_any_split_adds_up(void **state)
{
	enum { N = 40 };
	uint64_t weights[N];
	int64_t parts[N];

	(void)state;
	srandom(3);
	for (int round = 0; round < 2000; round++) {
		const size_t n = 1 + (size_t)random() % N;
		const int64_t nano = (random() % 2 ? 1 : -1) * (random() << (random() % 30));
		int64_t sum = 0;
		long double all = 0;

		for (size_t i = 0; i < n; i++)
			all += weights[i] = (uint64_t)random() >> (random() % 31);
		if (split(nano, weights, n, parts) != 0) {
			assert_true(all == 0);
			continue;
		}
		for (size_t i = 0; i < n; i++) {
			long double off = (long double)nano * weights[i] / all - parts[i];

			assert_true(off > -1.001L && off < 1.001L);
			sum += parts[i];
		}
		assert_true(sum == nano);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_known_splits),
		cmocka_unit_test(test_nothing_to_divide_by),
		cmocka_unit_test(test_any_split_adds_up),
	};

	return cmocka_run_group_tests_name("ledger, split", tests, NULL, NULL);
}
