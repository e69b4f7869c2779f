/* test_face.c - what all faces of simcloud share: credentials, words of errors, headers. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "providers/simcloud/face.h"

static void test_a_reply_carries_as_many_headers_as_an_answer(void **state)
{
	static const char *const names[HTTP_MORE_MAX] = {"A", "B", "C", "D", "E", "F", "G", "H"};
	struct face_reply r = {0};
	char longest[HTTP_VALUE_SIZE] = "";

	(void)state;
	memset(longest, 'x', sizeof(longest) - 1);
	for (size_t i = 0; i < HTTP_MORE_MAX; i++)
		face_header(&r, names[i], i == 2 ? longest : names[i]);
	for (size_t i = 0; i < HTTP_MORE_MAX; i++) {
		assert_string_equal(r.more[i].name, names[i]);
		assert_string_equal(r.more[i].value, i == 2 ? longest : names[i]);
	}
}

static void test_a_bearer_is_the_whole_token_and_nothing_else(void **state)
{
	static const struct {
		const char *header;
		bool is;
	} rows[] = {
		{"Bearer abc", true},   {"Bearer abd", false},  {"Bearer ab", false},
		{"Bearer abcd", false}, {"Bearer  abc", false}, {"bearer abc", false},
		{"Basic abc", false},   {"Bearer ", false},     {NULL, false},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		assert_int_equal(face_bearer(rows[i].header, "abc"), rows[i].is);
}

static void test_a_word_of_an_error_stands_before_a_colon(void **state)
{
	static const struct {
		const char *message;
		size_t len;
	} rows[] = {
		{"Unsupported: no", 11},
		{"InvalidID.NotFound: no", 18},
		{"Unsupported:no", 0},
		{"unsupported: no", 0},
		{"Not supported: no", 0},
		{"Unsupported", 0},
		{"", 0},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		assert_int_equal(face_word(rows[i].message), rows[i].len);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_reply_carries_as_many_headers_as_an_answer),
		cmocka_unit_test(test_a_bearer_is_the_whole_token_and_nothing_else),
		cmocka_unit_test(test_a_word_of_an_error_stands_before_a_colon),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
