/* What places said instead of selling: the last words of each, one entry for one storm. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "core/unsold.h"

static const struct place a = {"aws", "t", "r", "ra", PROVIDER_SPOT, NULL},
			  b = {"aws", "t", "r", "rb", PROVIDER_SPOT, NULL};

static void note(struct unsold *u, const struct place *p, enum provider_code code, int64_t sent_ms,
		 int64_t at_ms)
{
	struct unsold_say s = {.at_ms = at_ms, .code = code, .nodes = 2};

	(void)snprintf(s.words, sizeof(s.words), "at %d", (int)at_ms);
	unsold_note(u, p, &s, sent_ms);
}

static void the_last_few_are_remembered_newest_first(void **state)
{
	struct unsold_say said[UNSOLD_EACH];
	struct unsold u;

	(void)state;
	unsold_init(&u);
	assert_int_equal(unsold_last(&u, &a, said), 0);
	for (int i = 1; i <= UNSOLD_EACH + 2; i++)
		note(&u, &a, PROVIDER_CAPACITY, 100 * i, 100 * i + 10);
	assert_int_equal(unsold_last(&u, &a, said), UNSOLD_EACH);
	for (int i = 0; i < UNSOLD_EACH; i++)
		assert_int_equal(said[i].at_ms, 100 * (UNSOLD_EACH + 2 - i) + 10);
	assert_string_equal(said[0].words, "at 610");
	assert_int_equal(unsold_last(&u, &b, said), 0);
	unsold_fini(&u);
}

static void requests_on_the_wire_together_are_one_entry(void **state)
{
	struct unsold_say said[UNSOLD_EACH];
	struct unsold u;

	(void)state;
	unsold_init(&u);
	note(&u, &a, PROVIDER_CAPACITY, 100, 150);
	note(&u, &a, PROVIDER_CAPACITY, 101, 160); /* sent before the first was known */
	note(&u, &a, PROVIDER_CAPACITY, 150, 170);
	assert_int_equal(unsold_last(&u, &a, said), 1);
	assert_int_equal(said[0].nodes, 6);
	assert_int_equal(said[0].at_ms, 150);
	note(&u, &a, PROVIDER_QUOTA, 102, 180); /* another word */
	note(&u, &a, PROVIDER_QUOTA, 181, 190); /* sent afterwards */
	assert_int_equal(unsold_last(&u, &a, said), 3);
	assert_int_equal(said[0].at_ms, 190);
	assert_int_equal(said[1].code, PROVIDER_QUOTA);
	unsold_fini(&u);
}

static void a_place_that_refused_tells_when_it_sold_last(void **state)
{
	struct unsold u;

	(void)state;
	unsold_init(&u);
	unsold_sold(&u, &a, 8, 50); /* it has never refused: who could have been passed over? */
	assert_int_equal(unsold_sold_ms(&u, &a, 7), 0);
	note(&u, &a, PROVIDER_CAPACITY, 100, 150);
	assert_int_equal(unsold_sold_ms(&u, &a, 7), 0);
	unsold_sold(&u, &a, 8, 160);
	unsold_sold(&u, &b, 8, 170);
	note(&u, &a, PROVIDER_CAPACITY, 180, 190);
	assert_int_equal(unsold_sold_ms(&u, &a, 7), 160);
	assert_int_equal(unsold_sold_ms(&u, &b, 7), 0);
	/* What was sold to the job itself does not count. */
	assert_int_equal(unsold_sold_ms(&u, &a, 8), 0);
	unsold_sold(&u, &a, 7, 200);
	unsold_sold(&u, &a, 7, 210);
	assert_int_equal(unsold_sold_ms(&u, &a, 7), 160);
	assert_int_equal(unsold_sold_ms(&u, &a, 8), 210);
	unsold_fini(&u);
}

static void a_place_is_its_zone_and_market_too(void **state)
{
	struct place other = a;
	struct unsold_say said[UNSOLD_EACH];
	struct unsold u;

	(void)state;
	unsold_init(&u);
	note(&u, &a, PROVIDER_CAPACITY, 1, 2);
	other.market = PROVIDER_ON_DEMAND;
	assert_int_equal(unsold_last(&u, &other, said), 0);
	assert_int_equal(unsold_last(&u, &b, said), 0);
	other = a;
	other.zone = "";
	assert_int_equal(unsold_last(&u, &other, said), 0);
	unsold_fini(&u);
}

static void the_place_that_was_silent_for_longest_is_forgotten(void **state)
{
	struct unsold_say said[UNSOLD_EACH];
	struct unsold u;

	(void)state;
	unsold_init(&u);
	note(&u, &b, PROVIDER_CAPACITY, 5, 6);
	for (int i = 0; i < UNSOLD_PLACES_MAX; i++) {
		struct place p = a;
		char zone[16];

		(void)snprintf(zone, sizeof(zone), "z%d", i);
		p.zone = zone;
		note(&u, &p, PROVIDER_CAPACITY, 10 + i, 11 + i);
		if (i == 7) /* it speaks again */
			note(&u, &b, PROVIDER_CAPACITY, 5000, 5001);
	}
	assert_int_equal(u.places.n, UNSOLD_PLACES_MAX);
	assert_int_equal(unsold_last(&u, &b, said), 2);
	unsold_fini(&u);
}

/* It counts when a place spoke last, not when it did before that. */
static void one_that_spoke_twice_may_be_silent_for_longest(void **state)
{
	struct unsold_say said[UNSOLD_EACH];
	struct unsold u;

	(void)state;
	unsold_init(&u);
	note(&u, &b, PROVIDER_CAPACITY, 99, 100);
	note(&u, &a, PROVIDER_CAPACITY, 49, 50);
	note(&u, &a, PROVIDER_CAPACITY, 59, 60);
	for (int i = 0; i < UNSOLD_PLACES_MAX - 1; i++) {
		struct place p = a;
		char zone[16];

		(void)snprintf(zone, sizeof(zone), "z%d", i);
		p.zone = zone;
		note(&u, &p, PROVIDER_CAPACITY, 199, 200);
	}
	assert_int_equal(unsold_last(&u, &a, said), 0);
	assert_int_equal(unsold_last(&u, &b, said), 1);
	unsold_fini(&u);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_last_few_are_remembered_newest_first),
		cmocka_unit_test(requests_on_the_wire_together_are_one_entry),
		cmocka_unit_test(a_place_that_refused_tells_when_it_sold_last),
		cmocka_unit_test(a_place_is_its_zone_and_market_too),
		cmocka_unit_test(the_place_that_was_silent_for_longest_is_forgotten),
		cmocka_unit_test(one_that_spoke_twice_may_be_silent_for_longest),
	};

	return cmocka_run_group_tests_name("unsold", tests, NULL, NULL);
}
