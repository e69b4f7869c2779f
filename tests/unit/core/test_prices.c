/* The price book: what is new is written once, and what a machine cost at a time is found. */
#include "core/prices.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/str.h"

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

enum { DAY = 86400000 };

static struct price quote(const char *zone, int64_t nano_h, int64_t from_ms)
{
	return (struct price){.provider = "p",
			      .region = "r",
			      .zone = zone,
			      .type = "t",
			      .market = PROVIDER_SPOT,
			      .source = PRICE_QUOTE,
			      .currency = "EUR",
			      .nano_h = nano_h,
			      .valid_from_ms = from_ms};
}

static void say(struct prices *b, const char *zone, int64_t nano_h, int64_t from_ms)
{
	const struct price p = quote(zone, nano_h, from_ms);

	prices_say(b, &p);
}

static void past(struct prices *b, const char *zone, int64_t nano_h, int64_t from_ms, int64_t now)
{
	struct price p = quote(zone, nano_h, from_ms);

	p.source = PRICE_HISTORY;
	p.observed_ms = now;
	prices_past(b, &p);
}

static int64_t at(const struct prices *b, const char *region, const char *zone, int64_t at_ms)
{
	struct price place = quote(zone, 0, 0);

	place.region = region;
	return prices_at(b, &place, at_ms);
}

/* Take all rows: "SOURCE ZONE PRICE from FROM seen OBSERVED; ". */
static void check_rows(struct prices *b, const char *want)
{
	struct price p;
	struct str s;

	str_init(&s, 4096);
	while (prices_next(b, &p))
		str_addf(&s, "%s %s %lld from %lld seen %lld; ", price_source_str(p.source), p.zone,
			 (long long)p.nano_h, (long long)p.valid_from_ms, (long long)p.observed_ms);
	assert_false(prices_wait(b));
	assert_string_equal(s.p, want);
	str_fini(&s);
}

static void test_a_change_is_written_once(void **state)
{
	struct prices b;

	(void)state;
	prices_init(&b);
	say(&b, "a", 5, 0);
	say(&b, "b", 6, 0);
	assert_false(prices_wait(&b)); /* the round may say more */
	prices_said(&b, "p", PRICE_QUOTE, 100, NULL, NULL);
	check_rows(&b, "quote a 5 from 100 seen 100; quote b 6 from 100 seen 100; ");
	say(&b, "a", 5, 0);
	say(&b, "b", 7, 0);
	prices_said(&b, "p", PRICE_QUOTE, 200, NULL, NULL);
	check_rows(&b, "quote b 7 from 200 seen 200; ");
	say(&b, "b", 7, 0);
	say(&b, "a", 5, 0);
	prices_said(&b, "p", PRICE_QUOTE, 300, NULL, NULL);
	check_rows(&b, "");
	prices_fini(&b);
}

static bool asked_for_a(void *ctx, const struct price_series *s)
{
	(void)ctx;
	return strcmp(s->zone, "a") == 0;
}

static void test_withdrawn(void **state)
{
	struct prices b;

	(void)state;
	prices_init(&b);
	say(&b, "a", 5, 0);
	say(&b, "b", 6, 0);
	prices_said(&b, "p", PRICE_QUOTE, 100, NULL, NULL);
	check_rows(&b, "quote a 5 from 100 seen 100; quote b 6 from 100 seen 100; ");
	prices_said(&b, "q", PRICE_QUOTE, 200, NULL, NULL); /* another provider's round */
	prices_said(&b, "p", PRICE_CONF, 200, NULL, NULL);  /* another's word */
	check_rows(&b, "");
	prices_said(&b, "p", PRICE_QUOTE, 300, asked_for_a, NULL);
	check_rows(&b, "quote a -1 from 300 seen 300; ");
	prices_said(&b, "p", PRICE_QUOTE, 400, asked_for_a, NULL); /* once */
	check_rows(&b, "");
	say(&b, "a", 5, 0); /* the same price as before, but new */
	prices_said(&b, "p", PRICE_QUOTE, 500, NULL, NULL);
	check_rows(&b, "quote a 5 from 500 seen 500; quote b -1 from 500 seen 500; ");
	prices_fini(&b);
}

static void test_of_several_the_highest(void **state)
{
	struct price usd = quote("a", 99, 0);
	struct prices b;

	(void)state;
	memcpy(usd.currency, "USD", 4);
	prices_init(&b);
	for (int64_t round = 1; round <= 2; round++) {
		say(&b, "a", 5, 0);
		say(&b, "a", 7, 0);
		say(&b, "a", 6, 0);
		prices_say(&b, &usd); /* not comparable */
		prices_said(&b, "p", PRICE_QUOTE, 100 * round, NULL, NULL);
		check_rows(&b, round == 1 ? "quote a 7 from 100 seen 100; " : "");
	}
	prices_say(&b, &usd);
	prices_said(&b, NULL, PRICE_QUOTE, 300, NULL, NULL);
	check_rows(&b, "quote a 99 from 300 seen 300; ");
	usd.nano_h = 7;
	memcpy(usd.currency, "CHF", 4);
	prices_say(&b, &usd);
	prices_said(&b, NULL, PRICE_QUOTE, 400, NULL, NULL);
	check_rows(&b, "quote a 7 from 400 seen 400; ");
	memcpy(usd.currency, "EUR", 4); /* the same number is another amount */
	prices_say(&b, &usd);
	prices_said(&b, NULL, PRICE_QUOTE, 500, NULL, NULL);
	check_rows(&b, "quote a 7 from 500 seen 500; ");
	prices_fini(&b);
}

/* A provider's own time is that of its clock: nothing begins in the future, nor before what is
 * known. */
static void test_times_of_quotes(void **state)
{
	struct prices b;

	(void)state;
	prices_init(&b);
	say(&b, "a", 5, 40);
	prices_said(&b, "p", PRICE_QUOTE, 100, NULL, NULL);
	check_rows(&b, "quote a 5 from 40 seen 100; ");
	say(&b, "a", 6, 201);
	prices_said(&b, "p", PRICE_QUOTE, 200, NULL, NULL);
	check_rows(&b, "quote a 6 from 200 seen 200; ");
	say(&b, "a", 7, 150);
	prices_said(&b, "p", PRICE_QUOTE, 300, NULL, NULL);
	check_rows(&b, "quote a 7 from 200 seen 300; ");
	say(&b, "a", 7, 250);
	prices_said(&b, "p", PRICE_QUOTE, 400, NULL, NULL);
	check_rows(&b, "");
	assert_int_equal(prices_last_ms(&b, "p"), 200);
	assert_int_equal(prices_last_ms(&b, "q"), 0);
	prices_fini(&b);
}

/* Rows from a clock that was wrong do not keep later ones from counting. */
static void test_the_clock_was_set_back(void **state)
{
	struct prices b;

	(void)state;
	prices_init(&b);
	say(&b, "a", 5, 0);
	prices_said(&b, "p", PRICE_QUOTE, 900, NULL, NULL);
	say(&b, "a", 6, 0);
	prices_said(&b, "p", PRICE_QUOTE, 1000, NULL, NULL);
	say(&b, "a", 7, 0);
	prices_said(&b, "p", PRICE_QUOTE, 100, NULL, NULL);
	check_rows(&b, "quote a 5 from 900 seen 900; quote a 6 from 1000 seen 1000; "
		       "quote a 7 from 100 seen 100; ");
	assert_int_equal(at(&b, "r", "a", 950), 7); /* what was said last */
	assert_int_equal(prices_last_ms(&b, "p"), 100);
	assert_int_equal(b.v[0]->nsteps, 1);
	prices_fini(&b);
}

static void test_history(void **state)
{
	const struct price had = quote("a", 5, 100);
	struct prices b;

	(void)state;
	prices_init(&b);
	prices_load(&b, &had);
	assert_int_equal(prices_last_ms(&b, "p"), 100);
	past(&b, "a", 4, 90, 1000);  /* known to be over */
	past(&b, "a", 9, 100, 1000); /* known otherwise */
	past(&b, "a", 5, 150, 1000); /* no change */
	past(&b, "a", 6, 200, 1000);
	past(&b, "a", 6, 250, 1000);
	past(&b, "a", 7, 300, 1000);
	past(&b, "b", 8, 10, 1000);
	past(&b, "b", 9, 1001, 1000); /* that is to come */
	say(&b, "a", 8, 400);
	say(&b, "b", 8, 0);
	prices_said(&b, "p", PRICE_QUOTE, 1000, NULL, NULL);
	check_rows(&b, "history a 6 from 200 seen 1000; history a 7 from 300 seen 1000; "
		       "history b 8 from 10 seen 1000; quote a 8 from 400 seen 1000; ");
	assert_int_equal(prices_last_ms(&b, "p"), 400);
	prices_fini(&b);
}

/* What the journal has is known: nothing is written again after a restart. */
static void test_load(void **state)
{
	struct price had = quote("a", 5, 100), gone = quote("b", PRICE_WITHDRAWN, 200);
	struct prices b;

	(void)state;
	had.source = PRICE_HISTORY; /* of the same series as quotes */
	prices_init(&b);
	prices_load(&b, &had);
	prices_load(&b, &gone);
	say(&b, "a", 5, 0);
	prices_said(&b, "p", PRICE_QUOTE, 300, NULL, NULL);
	check_rows(&b, "");
	say(&b, "a", 6, 0);
	prices_said(&b, "p", PRICE_QUOTE, 400, NULL, NULL);
	check_rows(&b, "quote a 6 from 400 seen 400; ");
	prices_fini(&b);
}

static struct price contract(int64_t nano_h, int64_t from_ms)
{
	struct price p = quote("", nano_h, from_ms);

	p.source = PRICE_CONTRACT;
	return p;
}

static void check_contract(struct prices *b, int64_t nano_h, int64_t from_ms, int64_t now,
			   const char *want)
{
	const struct price p = contract(nano_h, from_ms);

	if (nano_h != 0)
		prices_say(b, &p);
	prices_said(b, NULL, PRICE_CONTRACT, now, NULL, NULL);
	check_rows(b, want);
}

static void test_contract(void **state)
{
	struct prices b;

	(void)state;
	prices_init(&b);
	check_contract(&b, 5, 10, 100, "contract  5 from 10 seen 100; ");
	check_contract(&b, 5, 10, 110, "");
	check_contract(&b, 6, 10, 120, "contract  6 from 10 seen 120; "); /* a slip */
	check_contract(&b, 7, 130, 130, "contract  7 from 130 seen 130; ");
	/* It began earlier than was known: so it was in force at the later step, too. */
	check_contract(&b, 7, 50, 140,
		       "contract  7 from 130 seen 140; contract  7 from 50 seen 140; ");
	check_contract(&b, 7, 50, 150, "");
	check_contract(&b, PRICE_WITHDRAWN, 155, 160, "contract  -1 from 155 seen 160; ");
	check_contract(&b, PRICE_WITHDRAWN, 155, 170, "");
	check_contract(&b, 8, 165, 180, "contract  8 from 165 seen 180; ");
	check_contract(&b, 0, 0, 190,
		       "contract  -1 from 190 seen 190; "); /* no longer in the file */
	check_contract(&b, 0, 0, 200, "");
	check_contract(&b, 8, 165, 210,
		       "contract  8 from 190 seen 210; contract  8 from 165 seen 210; ");
	check_contract(&b, 9, 0, 220,
		       "contract  9 from 220 seen 220; "); /* since when is not said */
	check_contract(&b, 9, 0, 230, "");
	prices_fini(&b);
	prices_init(&b);
	check_contract(&b, PRICE_WITHDRAWN, 155, 160, ""); /* there never was one */
	assert_int_equal(b.n, 0);
	prices_fini(&b);
}

/* After a restart the book has only the last row, and must not write the rest anew. */
static void test_a_contract_after_a_restart(void **state)
{
	const struct price last = contract(7, 50);
	struct prices b;

	(void)state;
	prices_init(&b);
	prices_load(&b, &last);
	check_contract(&b, 7, 50, 200, "");
	check_contract(&b, 7, 40, 210,
		       "contract  7 from 50 seen 210; contract  7 from 40 seen 210; ");
	prices_fini(&b);
}

static void test_what_it_cost(void **state)
{
	struct price od = quote("a", 50, 0), usd = quote("a", 99, 0), other = quote("a", 70, 0);
	struct price place = quote("a", 0, 0);
	struct prices b;

	(void)state;
	od.market = PROVIDER_ON_DEMAND;
	other.type = "u";
	prices_init(&b);
	past(&b, "a", 5, 100, 1000);
	past(&b, "a", 3, 200, 1000);
	past(&b, "b", 4, 150, 1000);
	prices_say(&b, &od);
	prices_say(&b, &other);
	prices_said(&b, "p", PRICE_QUOTE, 1000, asked_for_a, NULL); /* a is withdrawn */
	assert_int_equal(at(&b, "r", "a", 99), 0);
	assert_int_equal(at(&b, "r", "a", 100), 5);
	assert_int_equal(at(&b, "r", "a", 199), 5);
	assert_int_equal(at(&b, "r", "a", 200), 3);
	assert_int_equal(at(&b, "r", "a", 2000), 3); /* the last one that there was */
	assert_int_equal(at(&b, "r", "", 199), 5);   /* in some zone */
	assert_int_equal(at(&b, "r", "", 200), 4);
	assert_int_equal(at(&b, "", "b", 200), 4);
	assert_int_equal(at(&b, "s", "a", 200), 0);
	assert_int_equal(at(&b, "r", "c", 200), 0);
	place.market = PROVIDER_ON_DEMAND;
	assert_int_equal(prices_at(&b, &place, 1000), 50);
	place.source = PRICE_CONF;
	assert_int_equal(prices_at(&b, &place, 1000), 0);
	place.nano_h = 8;
	place.valid_from_ms = 0;
	prices_say(&b, &place);
	prices_said(&b, "p", PRICE_CONF, 1000, NULL, NULL);
	prices_said(&b, "p", PRICE_CONF, 1100, NULL, NULL);
	assert_int_equal(prices_at(&b, &place, 1099), 8);
	assert_int_equal(prices_at(&b, &place, 1100), 0); /* it has been taken out of the file */
	place = quote("a", 0, 0);
	place.source = PRICE_HISTORY;
	assert_int_equal(prices_at(&b, &place, 150), 5);
	place.provider = "q";
	assert_int_equal(prices_at(&b, &place, 150), 0);
	place = other;
	assert_int_equal(prices_at(&b, &place, 1000), 70);
	memcpy(usd.currency, "USD", 4);
	prices_say(&b, &usd);
	prices_said(&b, "p", PRICE_QUOTE, 2000, asked_for_a, NULL);
	assert_int_equal(at(&b, "r", "a", 2000), 0); /* no price in euros */
	assert_int_equal(at(&b, "r", "a", 1999), 3);
	prices_fini(&b);
}

/* Memory is for what may still be asked; the step in force at its begin stays. */
static void test_old_steps_are_forgotten(void **state)
{
	struct prices b;

	(void)state;
	prices_init(&b);
	for (int64_t d = 1; d <= 30; d++)
		past(&b, "a", d, d * DAY, 100 * (int64_t)DAY);
	assert_int_equal(at(&b, "r", "a", 30 * (int64_t)DAY), 30);
	assert_int_equal(at(&b, "r", "a", 22 * (int64_t)DAY), 22);
	assert_int_equal(at(&b, "r", "a", 15 * (int64_t)DAY), 0);
	assert_true(b.v[0]->nsteps < 12);
	for (int64_t i = 1; i <= 5000; i++)
		past(&b, "a", 100 + i % 2, 31 * (int64_t)DAY + i, 100 * (int64_t)DAY);
	assert_true(b.v[0]->nsteps <= PRICES_STEPS_MAX);
	assert_int_equal(at(&b, "r", "a", 31 * (int64_t)DAY + 4999), 101);
	assert_int_equal(at(&b, "r", "a", 31 * (int64_t)DAY + 5000), 100);
	prices_fini(&b);
}

static void test_there_is_a_limit(void **state)
{
	struct prices b;
	struct price p;
	char type[16];
	size_t n = 0;

	(void)state;
	prices_init(&b);
	for (int i = 0; i <= PRICES_MAX; i++) {
		assert_false(b.full);
		(void)snprintf(type, sizeof(type), "%d", i);
		p = quote("a", 5, 0);
		p.type = type;
		prices_say(&b, &p);
	}
	assert_true(b.full);
	prices_said(&b, "p", PRICE_QUOTE, 1, NULL, NULL);
	while (prices_next(&b, &p))
		n++;
	assert_int_equal(n, PRICES_MAX);
	prices_fini(&b);
}

static void test_words(void **state)
{
	(void)state;
	for (int i = 0; i < PRICE_NSOURCES; i++)
		assert_int_equal(price_source_parse(price_source_str((enum price_source)i)), i);
	assert_int_equal(price_source_parse("list"), -1);
	assert_int_equal(price_source_parse(""), -1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_change_is_written_once),
		cmocka_unit_test(test_withdrawn),
		cmocka_unit_test(test_of_several_the_highest),
		cmocka_unit_test(test_times_of_quotes),
		cmocka_unit_test(test_the_clock_was_set_back),
		cmocka_unit_test(test_history),
		cmocka_unit_test(test_load),
		cmocka_unit_test(test_contract),
		cmocka_unit_test(test_a_contract_after_a_restart),
		cmocka_unit_test(test_what_it_cost),
		cmocka_unit_test(test_old_steps_are_forgotten),
		cmocka_unit_test(test_there_is_a_limit),
		cmocka_unit_test(test_words),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
