/* test_jpull.c - reads what jansson reads, and nothing that it refuses. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <jansson.h>

#include "base/jpull.h"
#include "base/mem.h"

static bool reads(const char *text, size_t len)
{
	struct jpull j;

	jpull_init(&j, text, len);
	(void)jpull_take(&j);
	return jpull_end(&j);
}

static const char *const texts[] = {
	"{}",
	"[]",
	" { } ",
	"[1]",
	"[1,2]",
	"[1,]",
	"[,1]",
	"[1 2]",
	"{\"a\":1}",
	"{\"a\":1,}",
	"{\"a\" 1}",
	"{a:1}",
	"{\"a\":}",
	"{\"a\":1 \"b\":2}",
	"[}",
	"{]",
	"[[]",
	"[]]",
	"[[],[]]",
	"{\"a\":{\"b\":[{}]}}",
	"[0]",
	"[-0]",
	"[01]",
	"[-]",
	"[1.]",
	"[1.5]",
	"[.5]",
	"[1e5]",
	"[1e]",
	"[1E+5]",
	"[1e-]",
	"[+1]",
	"[true]",
	"[false]",
	"[null]",
	"[nul]",
	"[truefalse]",
	"[true false]",
	"[\"\"]",
	"[\"a\"]",
	"[\"a]",
	"[\"\\\"\"]",
	"[\"\\\\\"]",
	"[\"a\nb\"]",
	"[\"a\\nb\"]",
	"",
	" ",
	"[",
	"{",
	"{\"a\"",
	"[\"\\",
	"\n[\t1 ,\r2 ]\n",
	"[1]x",
	"[\"a\":1]",
	"{\"a\":1:2}",
	"{\"a\",\"b\"}",
	"{1:2}",
	"[1,2",
	"{\"a\":[1,{\"b\":null}],\"c\":\"d\"}",
};

static void test_it_reads_what_jansson_reads_and_nothing_else(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		json_t *other = json_loads(texts[i], 0, NULL);

		print_message("# %s\n", texts[i]);
		assert_int_equal(reads(texts[i], strlen(texts[i])), other != NULL);
		json_decref(other);
	}
}

/* One byte of a good text is another one: both must think the same of it. */
static void test_it_judges_every_change_of_a_byte_as_jansson_does(void **state)
{
	static const char good[] = "{\"a\":[1,-2.5e3,{\"b\":null}],\"c\":\"d\\\"e\",\"f\":true}";
	static const char bytes[] = "{}[]\",:\\0-1.eEtfn \n\x01";
	char text[sizeof(good)];

	(void)state;
	for (size_t i = 0; i < sizeof(good) - 1; i++)
		for (size_t k = 0; k < sizeof(bytes) - 1; k++) {
			json_t *other;
			bool same;

			memcpy(text, good, sizeof(good));
			text[i] = bytes[k];
			other = json_loads(text, 0, NULL);
			same = reads(text, sizeof(good) - 1) == (other != NULL);
			/* It looks at escapes only where a text is wanted. */
			if (!same && memchr(text, '\\', sizeof(good)) == NULL)
				fail_msg("%s: jansson %s it", text, other ? "reads" : "refuses");
			json_decref(other);
		}
}

static void test_a_text_cut_short_anywhere_is_refused(void **state)
{
	static const char good[] = "{\"a\":[1,{\"b\":null}],\"c\":\"d\"}";

	(void)state;
	assert_true(reads(good, sizeof(good) - 1));
	for (size_t n = 0; n < sizeof(good) - 1; n++) {
		char *exact = mem_zalloc(n + 1); /* for the sanitizer to see what is read */

		memcpy(exact, good, n);
		assert_false(reads(exact, n));
		free(exact);
	}
}

static void test_depth_is_bounded(void **state)
{
	char text[4 * JPULL_DEPTH_MAX];

	(void)state;
	for (size_t n = JPULL_DEPTH_MAX; n <= JPULL_DEPTH_MAX + 1; n++) {
		memset(text, '[', n);
		memset(text + n, ']', n);
		assert_int_equal(reads(text, 2 * n), n <= JPULL_DEPTH_MAX);
	}
}

/* The value of the only item. */
static struct jpull_value only(const char *text)
{
	struct jpull_value v;
	struct jpull j;

	jpull_init(&j, text, strlen(text));
	assert_true(jpull_enter(&j, '['));
	assert_true(jpull_item(&j));
	v = jpull_take(&j);
	assert_false(jpull_item(&j));
	assert_true(jpull_end(&j));
	return v;
}

static const struct {
	const char *text;
	int rc;
	const char *out;
} strings[] = {
	{"[\"abc\"]", 1, "abc"},
	{"[\"\"]", 1, ""},
	{"[null]", 0, ""},
	{"[1]", -1, ""},
	{"[\"1234567\"]", 1, "1234567"},
	{"[\"12345678\"]", -1, ""},
	{"[\"a\\nb\"]", 1, "a\nb"},
	{"[\"\\u0041\"]", 1, "A"},
	{"[\"\\u0000\"]", -1, ""}, /* it would end the text */
	{"[\"\\x\"]", -1, ""},
	{"[\"\xc3\xa9\"]", 1, "\xc3\xa9"},
	{"[\"\xc3\"]", -1, ""}, /* half a character */
};

static void test_texts_are_decoded_and_fit(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(strings) / sizeof(strings[0]); i++) {
		struct jpull_value v = only(strings[i].text);
		char out[8];

		print_message("# %s\n", strings[i].text);
		assert_int_equal(jpull_text(&v, out, sizeof(out)), strings[i].rc);
		assert_string_equal(out, strings[i].out);
	}
}

static const struct {
	const char *text;
	int rc;
	int64_t out;
} numbers[] = {
	{"[0]", 1, 0},
	{"[17]", 1, 17},
	{"[9223372036854775807]", 1, INT64_MAX},
	{"[9223372036854775808]", -1, 0},
	{"[99999999999999999999999]", -1, 0},
	{"[-1]", -1, 0},
	{"[1.0]", -1, 0},
	{"[1e3]", -1, 0},
	{"[null]", 0, 0},
	{"[\"1\"]", -1, 0},
	{"[true]", -1, 0},
};

static void test_numbers_are_whole_and_fit(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
		struct jpull_value v = only(numbers[i].text);
		int64_t out = 1;

		print_message("# %s\n", numbers[i].text);
		assert_int_equal(jpull_int(&v, &out), numbers[i].rc);
		assert_int_equal(out, numbers[i].out);
	}
}

static void test_a_mistake_ends_every_loop(void **state)
{
	static const char text[] = "{\"a\":[1,!,3],\"b\":2}";
	struct jpull_value key;
	struct jpull j;
	int n = 0;

	(void)state;
	jpull_init(&j, text, sizeof(text) - 1);
	assert_true(jpull_enter(&j, '{'));
	assert_true(jpull_key(&j, &key));
	assert_true(jpull_is(&key, "a"));
	assert_true(jpull_enter(&j, '['));
	while (jpull_item(&j)) {
		(void)jpull_take(&j);
		n++;
	}
	assert_int_equal(n, 2);
	assert_false(jpull_key(&j, &key));
	assert_false(jpull_enter(&j, '{'));
	assert_int_equal(jpull_take(&j).type, JPULL_NONE);
	assert_false(jpull_end(&j));
	assert_int_equal(jpull_at(&j), 8);
}

static void test_what_was_not_entered_is_not_left(void **state)
{
	struct jpull_value key;
	struct jpull j;

	(void)state;
	jpull_init(&j, "]", 1);
	assert_false(jpull_item(&j));
	assert_false(jpull_end(&j));
	jpull_init(&j, "}", 1);
	assert_false(jpull_key(&j, &key));
	assert_false(jpull_end(&j));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_it_reads_what_jansson_reads_and_nothing_else),
		cmocka_unit_test(test_it_judges_every_change_of_a_byte_as_jansson_does),
		cmocka_unit_test(test_a_text_cut_short_anywhere_is_refused),
		cmocka_unit_test(test_depth_is_bounded),
		cmocka_unit_test(test_texts_are_decoded_and_fit),
		cmocka_unit_test(test_numbers_are_whole_and_fit),
		cmocka_unit_test(test_a_mistake_ends_every_loop),
		cmocka_unit_test(test_what_was_not_entered_is_not_left),
	};

	return cmocka_run_group_tests_name("jpull", tests, NULL, NULL);
}
