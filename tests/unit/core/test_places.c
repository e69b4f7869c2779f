/* test_places.c - the table of what is remembered of places, and the key of an entry. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "core/places.h"

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))
#define TEN      "abcdefghij"
#define SIXTY    TEN TEN TEN TEN TEN TEN
#define FULL     SIXTY "123" /* the longest word that is not cut */

enum { MAX = 3 };

struct memo {
	struct places_entry in;
	int64_t rank;
	char text[64];
};

static int64_t rank(const void *entry)
{
	return ((const struct memo *)entry)->rank;
}

static void setup(struct places *t)
{
	places_init(t, MAX, sizeof(struct memo), rank);
}

static struct memo *add(struct places *t, const char *key, int64_t r)
{
	struct memo *m = places_get(t, key);

	m->rank = r;
	return m;
}

/* The keys in the table, the newest first, are these; each of them is found, and their number is
 * the table's. */
static void holds(const struct places *t, const char *want)
{
	char text[2 * MAX * PLACES_KEY_SIZE] = "";
	size_t n = 0;

	for (struct memo *m = NULL; (m = places_next(t, m)) != NULL; n++) {
		size_t len = strlen(text);

		(void)snprintf(text + len, sizeof(text) - len, "%s;", m->in.key);
		assert_ptr_equal(places_find(t, m->in.key), m);
	}
	assert_string_equal(text, want);
	assert_int_equal(t->n, n);
}

/* --- the key -----------------------------------------------------------------------------------
 */

static void the_key_is_as_much_of_the_place_as_it_is_about(void **state)
{
	static const struct {
		const char *why;
		enum places_scope scope;
		struct place p;
		const char *key, *where;
	} rows[] = {
		{"denied",
		 PLACES_PROVIDER,
		 {"p", "t", "r", "z", PROVIDER_SPOT, "f"},
		 "denied p",
		 ""},
		{"denied", PLACES_PROVIDER, {.provider = "p"}, "denied p", ""},
		{"quota",
		 PLACES_ACCOUNT,
		 {"p", "t", "r", "z", PROVIDER_SPOT, "f"},
		 "quota p t r spot",
		 "t r spot"},
		{"x",
		 PLACES_WHOLE,
		 {"p", "t", "r", "z", PROVIDER_ON_DEMAND, "f"},
		 "x p t r z on-demand f",
		 "t r z on-demand f"},
		{"x",
		 PLACES_WHOLE,
		 {"p", "t", "r", "", PROVIDER_RESERVED, NULL},
		 "x p t r  reserved",
		 "t r  reserved"},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		char key[PLACES_KEY_SIZE];

		places_key(key, rows[i].why, rows[i].scope, &rows[i].p);
		assert_string_equal(key, rows[i].key);
		assert_string_equal(places_where(key), rows[i].where);
	}
}

static void long_words_are_cut(void **state)
{
	static const struct place full = {FULL, FULL, FULL, FULL, PROVIDER_ON_DEMAND, FULL},
				  more = {FULL "4", FULL "4",           FULL "4",
					  FULL "4", PROVIDER_ON_DEMAND, FULL "4"};
	static const char *const want[] = {
		[PLACES_PROVIDER] = "abcdefghij12345 " FULL,
		[PLACES_ACCOUNT] = "abcdefghij12345 " FULL " " FULL " " FULL " on-demand",
		[PLACES_WHOLE] =
			"abcdefghij12345 " FULL " " FULL " " FULL " " FULL " on-demand " FULL,
	};

	(void)state;
	for (int scope = PLACES_PROVIDER; scope <= PLACES_WHOLE; scope++) {
		char key[PLACES_KEY_SIZE];

		places_key(key, TEN "12345", (enum places_scope)scope, &full);
		assert_string_equal(key, want[scope]);
		places_key(key, TEN "123456", (enum places_scope)scope, &more);
		assert_string_equal(key, want[scope]);
	}
}

/* Words that are the same text when they are joined, a word at another's position, and one that is
 * missing. */
static void no_two_places_have_one_key(void **state)
{
	static const struct place places[] = {
		{"p", "t", "r", "z", PROVIDER_SPOT, NULL},
		{"p", "t", "r", "z", PROVIDER_ON_DEMAND, NULL},
		{"p", "t", "r", "z", PROVIDER_SPOT, "f"},
		{"p", "t", "r", "", PROVIDER_SPOT, "f"},
		{"p", "t", "r", "", PROVIDER_SPOT, "z"},
		{"p", "t", "r", "", PROVIDER_SPOT, NULL},
		{"p", "t", "r", "f", PROVIDER_SPOT, NULL},
		{"p", "t", "r", "spot", PROVIDER_SPOT, NULL},
		{"p", "t", "r", "", PROVIDER_SPOT, "spot"},
		{"p", "t", "rz", "", PROVIDER_SPOT, NULL},
		{"p", "tr", "z", "", PROVIDER_SPOT, NULL},
		{"pt", "r", "z", "", PROVIDER_SPOT, NULL},
		{"p", "r", "t", "z", PROVIDER_SPOT, NULL},
		{"t", "p", "r", "z", PROVIDER_SPOT, NULL},
	};
	char keys[COUNT(places) + 4][PLACES_KEY_SIZE];
	size_t n = 0;

	(void)state;
	for (; n < COUNT(places); n++)
		places_key(keys[n], "x", PLACES_WHOLE, &places[n]);
	places_key(keys[n++], "y", PLACES_WHOLE, &places[0]);
	places_key(keys[n++], "x", PLACES_ACCOUNT, &places[0]);
	places_key(keys[n++], "x", PLACES_ACCOUNT, &places[1]);
	places_key(keys[n++], "x", PLACES_PROVIDER, &places[0]);
	for (size_t i = 0; i < n; i++)
		for (size_t k = 0; k < i; k++)
			assert_string_not_equal(keys[i], keys[k]);
}

/* --- the table ---------------------------------------------------------------------------------
 */

static void an_entry_is_made_once_of_zeros(void **state)
{
	char key[PLACES_KEY_SIZE] = "x a";
	struct places t;
	struct memo *m;

	(void)state;
	setup(&t);
	assert_null(places_find(&t, key));
	assert_null(places_next(&t, NULL));
	m = places_get(&t, key);
	assert_int_equal(m->rank, 0);
	for (size_t i = 0; i < sizeof(m->text); i++)
		assert_int_equal(m->text[i], 0);
	memset(m->text, 'x', sizeof(m->text)); /* it is all the caller's */
	assert_ptr_equal(places_get(&t, key), m);
	assert_int_equal(m->text[63], 'x');
	key[2] = 'b'; /* the entry has a key of its own */
	assert_null(places_find(&t, key));
	assert_ptr_equal(places_find(&t, "x a"), m);
	holds(&t, "x a;");
	places_fini(&t);
	assert_null(t.first);
	assert_null(t.by_key.slots);
	assert_int_equal(t.n, 0);
}

static void a_key_of_any_length_is_kept_whole(void **state)
{
	char key[PLACES_KEY_SIZE];
	struct places t;
	struct memo *m;

	(void)state;
	memset(key, 'k', sizeof(key) - 1);
	key[sizeof(key) - 1] = '\0';
	setup(&t);
	m = places_get(&t, key);
	assert_string_equal(m->in.key, key);
	assert_ptr_equal(places_get(&t, key), m);
	assert_int_equal(t.n, 1);
	places_fini(&t);
}

static void any_entry_can_be_dropped(void **state)
{
	static const struct {
		const char *key, *left;
	} rows[] = {{"a", "c;b;"}, {"b", "c;a;"}, {"c", "b;a;"}};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct places t;

		setup(&t);
		(void)add(&t, "a", 0);
		(void)add(&t, "b", 0);
		(void)add(&t, "c", 0);
		holds(&t, "c;b;a;");
		places_drop(&t, places_find(&t, rows[i].key));
		assert_null(places_find(&t, rows[i].key));
		holds(&t, rows[i].left);
		assert_int_equal(add(&t, rows[i].key, 7)->rank, 7); /* there is room for it */
		assert_int_equal(t.n, MAX);
		places_fini(&t);
	}
}

/* The table is full: which goes for a fourth? */
static void the_one_with_the_least_number_is_forgotten(void **state)
{
	static const struct {
		int64_t a, b, c;
		const char *left;
	} rows[] = {
		{1, 2, 3, "d;c;b;"},
		{2, 1, 3, "d;c;a;"},
		{3, 2, 1, "d;b;a;"},
		{-1, -2, 0, "d;c;a;"},
		/* of two alike the older */
		{1, 1, 1, "d;c;b;"},
		{2, 1, 1, "d;c;a;"},
		/* some stay, whatever the others' numbers are */
		{PLACES_STAYS, 1, 1, "d;c;a;"},
		{PLACES_STAYS, PLACES_STAYS, 9, "d;b;a;"},
		{PLACES_STAYS, PLACES_STAYS - 1, PLACES_STAYS, "d;c;a;"},
		{PLACES_STAYS, PLACES_STAYS, INT64_MIN, "d;b;a;"},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct places t;

		setup(&t);
		(void)add(&t, "a", rows[i].a);
		(void)add(&t, "b", rows[i].b);
		(void)add(&t, "c", rows[i].c);
		(void)places_get(&t, "a"); /* nothing is made, so nothing goes */
		holds(&t, "c;b;a;");
		(void)add(&t, "d", 0);
		holds(&t, rows[i].left);
		places_fini(&t);
	}
}

static void it_never_grows_beyond_its_bound(void **state)
{
	struct places t;

	(void)state;
	setup(&t);
	for (int i = 0; i < 1000; i++) {
		char key[16];

		(void)snprintf(key, sizeof(key), "k%d", i);
		(void)add(&t, key, i % 7);
		assert_in_range(t.n, 1, MAX);
		assert_int_equal(t.by_key.n, t.n);
	}
	holds(&t, "k999;k993;k986;");
	places_fini(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_key_is_as_much_of_the_place_as_it_is_about),
		cmocka_unit_test(long_words_are_cut),
		cmocka_unit_test(no_two_places_have_one_key),
		cmocka_unit_test(an_entry_is_made_once_of_zeros),
		cmocka_unit_test(a_key_of_any_length_is_kept_whole),
		cmocka_unit_test(any_entry_can_be_dropped),
		cmocka_unit_test(the_one_with_the_least_number_is_forgotten),
		cmocka_unit_test(it_never_grows_beyond_its_bound),
	};

	return cmocka_run_group_tests_name("places", tests, NULL, NULL);
}
