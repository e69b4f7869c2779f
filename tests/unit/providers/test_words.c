/* test_words.c - texts of vendors, as people see them. */
#include "providers/common/words.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void test_words_are_one_line_that_may_be_shown(void **state)
{
	static const struct {
		const char *text, *shown;
	} rows[] = {
		{"", ""},
		{"no such image", "no such image"},
		{"a\x1b[2Jb\r\nc\td\x7f", "a?[2Jb??c?d?"},
		{"Stra\xc3\x9f"
		 "e",
		 "Stra\xc3\x9f"
		 "e"},
		{"right\xe2\x80\xaeleft", "right?left"},
		{"bad \xff\xc3 bytes", "bad ?? bytes"},
		{"half \xe2\x82", "half ??"},
	};
	char out[64];

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		words_show(out, sizeof(out), rows[i].text, NULL, 0);
		assert_string_equal(out, rows[i].shown);
	}
}

static void test_no_secret_is_shown(void **state)
{
	static const char *const secrets[] = {NULL, "key", "", "keyring", "s3cret", "correcthorse"};
	static const struct {
		const char *text, *shown;
	} rows[] = {
		{"s3cret", "***"},
		{"the s3cret is s3cret.", "the *** is ***."},
		{"s3crets3cret", "******"},
		{"s3cre", "s3cre"},
		{"s3s3cret", "s3***"},
		{"it is correcthorse", "it is ***"},
		{"it is correcth", "it is ***"}, /* the text was cut before */
		{"it is correct", "it is correct"},
		{"it is correcth.", "it is correcth."},
		{"a key and a keyring", "a *** and a ***"}, /* not "***ring" */
	};
	char out[64];

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		words_show(out, sizeof(out), rows[i].text, secrets, 6);
		assert_string_equal(out, rows[i].shown);
	}
}

/* The id is whole, and what is before it has whole characters. */
static void test_an_id_is_the_end(void **state)
{
	static const struct {
		const char *text, *id, *shown;
	} rows[] = {
		{"no", "", "no"},
		{"no", "r-1", "no (r-1)"},
		{"", "r-1", " (r-1)"},
		{"0123456789", "r-1", "012345678 (r-1)"},
		{"01234567\xc3\x9f", "r-1", "01234567 (r-1)"},
		{"0123456\xc3\x9f", "r-1", "0123456\xc3\x9f (r-1)"},
	};
	char out[16];

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		words_show(out, sizeof(out), rows[i].text, NULL, 0);
		words_add_id(out, sizeof(out), rows[i].id);
		assert_string_equal(out, rows[i].shown);
	}
}

/* Whatever the size, a cut leaves whole characters, and no beginning of a secret. */
static void test_a_cut_leaves_nothing_half(void **state)
{
	static const char *const secrets[] = {"s3cret"};
	static const char text[] = "ab\xc3\xa9 s3cret \xe2\x82\xac";
	static const char *const shown[] = {
		"",
		"a",
		"ab",
		"ab",
		"ab\xc3\xa9",
		"ab\xc3\xa9 ",
		"ab\xc3\xa9 ",
		"ab\xc3\xa9 ",
		"ab\xc3\xa9 ***",
		"ab\xc3\xa9 *** ",
		"ab\xc3\xa9 *** ",
		"ab\xc3\xa9 *** ",
		"ab\xc3\xa9 *** \xe2\x82\xac",
	};
	char out[32];

	(void)state;
	for (size_t size = 1; size <= sizeof(shown) / sizeof(shown[0]); size++) {
		memset(out, 'x', sizeof(out));
		words_show(out, size, text, secrets, 1);
		assert_string_equal(out, shown[size - 1]);
		assert_int_equal(out[size], 'x');
	}
}

static void test_base64(void **state)
{
	static const struct {
		const char *text, *coded;
	} rows[] = {
		{"", ""},        {"f", "Zg=="},          {"fo", "Zm8="},
		{"foo", "Zm9v"}, {"foobar", "Zm9vYmFy"}, {"\xff\xfe", "//4="},
	}; /* RFC 4648, 10 */

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		char *coded = words_base64(rows[i].text);

		assert_string_equal(coded, rows[i].coded);
		free(coded);
	}
}

static void test_plain_words(void **state)
{
	static const struct {
		const char *text;
		bool plain;
	} rows[] = {
		{"i-0123", true},     {"a/b:c", true}, {"12345678", true}, {"", false},
		{"a", true},          {"~", true},     {"a b", false},     {"a\"b", false},
		{"a\\b", false},      {"a\n", false},  {"\x7f", false},    {"\xc3", false},
		{"123456789", false},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		assert_true(words_is_plain(rows[i].text, 8) == rows[i].plain);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_words_are_one_line_that_may_be_shown),
		cmocka_unit_test(test_no_secret_is_shown),
		cmocka_unit_test(test_an_id_is_the_end),
		cmocka_unit_test(test_a_cut_leaves_nothing_half),
		cmocka_unit_test(test_base64),
		cmocka_unit_test(test_plain_words),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
