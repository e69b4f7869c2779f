/* test_prices.c - which price counts when, and that a gap is no price of nothing. */
#include "ledger/prices.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

enum { ANY = PRICES_BOOK, REGION = PRICES_BOOK + 2, ZONE = PRICES_BOOK + 3 };

struct fact {
	int64_t at_s, nano_h;
	unsigned rank;
};

static void test_what_counts(void **state)
{
	static const struct {
		struct fact facts[5];
		int64_t at_s, want;
	} rows[] = {
		{{{0}}, 10, PRICES_GAP},
		/* The first rate holds before it, too. */
		{{{100, 5, PRICES_RATE}, {200, 6, PRICES_RATE}}, 10, 5},
		{{{100, 5, PRICES_RATE}, {200, 6, PRICES_RATE}}, 200, 6},
		/* A book's price does not. */
		{{{100, 5, ANY}}, 99, PRICES_GAP},
		{{{100, 5, ANY}}, 100, 5},
		{{{100, 5, ANY}, {0, 4, PRICES_RATE}}, 99, 4},
		{{{100, 5, ANY}, {0, 4, PRICES_RATE}}, 100, 5},
		/* The nearer place counts, and a contract of any. */
		{{{0, 5, ANY}, {0, 6, REGION}, {0, 7, ZONE}}, 9, 7},
		{{{0, 7, ZONE}, {0, 6, REGION}, {0, 5, ANY}}, 9, 7},
		{{{0, 7, ZONE}, {0, 3, PRICES_DEAL}}, 9, 3},
		{{{0, 3, PRICES_DEAL}, {0, 2, PRICES_DEAL + 1}}, 9, 2},
		/* What was withdrawn leaves the next best; of one moment the last counts. */
		{{{0, 7, ZONE}, {5, -1, ZONE}, {0, 6, REGION}}, 9, 6},
		{{{0, 7, PRICES_DEAL}, {5, -1, PRICES_DEAL}}, 9, PRICES_GAP},
		/* What is not quoted any more goes on at its last price, whatever was paid first,
		 * until somebody says more. */
		{{{0, 7, ZONE}, {5, -1, ZONE}}, 9, 7},
		{{{0, 4, PRICES_RATE}, {1, 7, ZONE}, {5, -1, ZONE}}, 9, 7},
		{{{0, 6, REGION}, {1, 7, ZONE}, {5, -1, ZONE}, {6, -1, REGION}}, 9, 6},
		{{{0, 7, ZONE}, {5, -1, ZONE}, {6, -1, ZONE}}, 9, 7},
		{{{0, 7, ZONE}, {5, -1, ZONE}, {8, 4, PRICES_RATE}}, 9, 4},
		{{{0, 7, ZONE}, {5, -1, ZONE}, {6, 3, PRICES_DEAL}, {8, -1, PRICES_DEAL}},
		 9,
		 PRICES_GAP},
		{{{0, 7, ZONE}, {1, 3, PRICES_DEAL}, {5, -1, ZONE}, {8, -1, PRICES_DEAL}},
		 9,
		 PRICES_GAP},
		/* burstd.conf's before the provider's, wherever either is, and whichever is newer.
		 */
		{{{0, 5, PRICES_CONF}, {1, 7, ZONE}}, 9, 5},
		{{{0, 5, PRICES_CONF + 3}, {1, 7, ZONE}}, 9, 5},
		{{{0, 5, PRICES_CONF + 3}, {1, 3, PRICES_DEAL}}, 9, 3},
		{{{0, 7, ZONE}, {1, 5, PRICES_CONF}, {5, -1, PRICES_CONF}}, 9, 7},
		{{{0, 7, ZONE}, {5, -1, ZONE}, {8, 9, ZONE}}, 9, 9},
		{{{0, 7, ZONE}, {5, 0, ZONE}}, 9, 7}, /* never free */
		{{{0, 7, PRICES_DEAL}, {5, 0, PRICES_DEAL}}, 9, PRICES_GAP},
		{{{5, 7, ZONE}, {5, 8, ZONE}}, 5, 8},
		{{{5, 8, ZONE}, {5, 7, ZONE}}, 5, 7},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct prices p = {0};

		print_message("# row %zu\n", i);
		for (size_t k = 0; k < 5; k++)
			if (rows[i].facts[k].nano_h != 0 || rows[i].facts[k].rank != 0)
				prices_add(&p, rows[i].facts[k].at_s, rows[i].facts[k].rank,
					   rows[i].facts[k].nano_h);
		prices_finish(&p);
		assert_true(prices_at(&p, rows[i].at_s) == rows[i].want);
		for (size_t k = 1; k < p.nsteps; k++)
			assert_true(p.steps[k].at_s > p.steps[k - 1].at_s);
		prices_fini(&p);
	}
}

/* What the provider asks of everybody: neither a contract's price nor the site's own figure. */
static void test_list(void **state)
{
	struct prices p = {.list = true};

	(void)state;
	prices_add(&p, 0, PRICES_CONF + 3, 5);
	prices_add(&p, 10, ANY, 7);
	prices_add(&p, 20, ANY, -1);
	prices_add(&p, 30, PRICES_CONF + 3, -1);
	prices_finish(&p);
	assert_true(prices_at(&p, 9) == 5);
	assert_true(prices_at(&p, 19) == 7);
	assert_true(prices_at(&p, 29) == 5);
	assert_true(prices_at(&p, 30) == PRICES_GAP);
	prices_fini(&p);
}

static void test_places(void **state)
{
	static const struct {
		const char *source, *region, *zone;
		int rank;
	} rows[] = {{"quote", "", "", ANY},
		    {"quote", "eu", "", REGION},
		    {"history", "eu", "eu-a", ZONE},
		    {"conf", "", "eu-a", PRICES_CONF + 1},
		    {"contract", "", "", PRICES_DEAL},
		    {"contract", "eu", "eu-a", PRICES_DEAL + 3},
		    {"quote", "us", "", -1},
		    {"quote", "eu", "eu-b", -1},
		    {"contract", "us", "", -1}};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		assert_int_equal(
			prices_rank(rows[i].source, rows[i].region, rows[i].zone, "eu", "eu-a"),
			rows[i].rank);
	/* A zone that is not known is no zone. */
	assert_int_equal(prices_rank("quote", "eu", "eu-a", "eu", ""), -1);
}

/* The meter refuses a second that falls into a gap. */
static void test_a_gap(void **state)
{
	const struct meter_policy policy = {.granularity_s = 1};
	struct meter_bill b = {.policy = &policy, .end_s = 20};
	struct prices p = {0};
	struct meter m;
	struct err e = {0};
	int64_t nano;

	(void)state;
	prices_add(&p, 0, PRICES_DEAL, 3600);
	prices_add(&p, 10, PRICES_DEAL, -1);
	prices_finish(&p);
	b.prices = p.steps;
	b.nprices = p.nsteps;
	meter_begin(&m, &b);
	assert_int_equal(meter_to(&m, 10, &nano, &e), 0);
	assert_true(nano == 10);
	assert_int_equal(meter_to(&m, 11, &nano, &e), -1);
	assert_int_equal(e.code, ERR_INVALID);
	prices_fini(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_what_counts),
		cmocka_unit_test(test_list),
		cmocka_unit_test(test_places),
		cmocka_unit_test(test_a_gap),
	};

	return cmocka_run_group_tests_name("ledger, prices", tests, NULL, NULL);
}
