/* test_plain.c - what somebody's terminal may be shown (I25). */
#include "base/plain.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static const struct {
	const char *text, *shown;
} rows[] = {
	{"", ""},
	{"no capacity in eu-central-1a (100%)", NULL},
	{"Gr\xc3\xbc\xc3\x9f"
	 "e, \xe2\x82\xac 3, \xe6\xbc\xa2\xe5\xad\x97, \xf0\x9f\x98\x80",
	 NULL},
	{"\xd7\xa9\xd7\x9c\xd7\x95\xd7\x9d e\xcc\x81", NULL}, /* Hebrew; an accent set upon e */
	{"a\tb\nc\rd\x1b[31m\x7f", "a?b?c?d?[31m?"},
	{"\xc2\x9b"
	 "31m",
	 "??31m"}, /* C1, as UTF-8 ... */
	{"\x9b"
	 "31m\xff\xfe",
	 "?31m??"}, /* ... and as a byte */
	{"c\xe2\x80\x8b"
	 "1",
	 "c???1"}, /* zero width */
	{"\xe2\x80\x8c\xe2\x80\x8d\xe2\x80\x8e\xe2\x80\x8f", "????????????"},
	{"\xe2\x80\xa8\xe2\x80\xa9|", "??????|"},
	{"dne \xe2\x80\xae"
	 "c1\xe2\x80\xac end",
	 "dne ???c1??? end"}, /* right to left, and back */
	{"\xe2\x80\xaa\xe2\x80\xab\xe2\x80\xad", "?????????"},
	{"\xe2\x81\xa6x\xe2\x81\xa7y\xe2\x81\xa8z\xe2\x81\xa9", "???x???y???z???"},
	{"\xe2\x81\xa0\xe2\x81\xaf\xef\xbb\xbf\xc2\xad\xd8\x9c\xcd\x8f", "???????"
									 "????????"},
	{"\xe1\xa0\x8e\xe3\x85\xa4\xef\xbe\xa0\xef\xb8\x8f", "????????????"},
	{"\xf3\xa0\x81\xa1\xf3\xa0\x84\x80", "????????"},                       /* tags */
	{"\xe2\x80\xaf\xe2\x80\x90\xe2\x80\x9c\xe2\x81\x9f\xe2\x81\xb0", NULL}, /* beside them */
	{"cut \xe2\x80", "cut ??"},
	{"\xed\xa0\x80\xc0\xaf", "?????"}, /* a surrogate; overlong */
};

static void test_rows(void **state)
{
	char got[128];

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const char *want = rows[i].shown != NULL ? rows[i].shown : rows[i].text;

		print_message("# row %zu\n", i);
		(void)snprintf(got, sizeof(got), "%s", rows[i].text);
		assert_int_equal(plain_is(got), strcmp(want, rows[i].text) == 0);
		plain_make(got, '?');
		assert_string_equal(got, want);
		assert_true(plain_is(got));
	}
}

/* Each character of all there are, by the two ends of each range and their neighbours. */
static void test_ends_of_ranges(void **state)
{
	static const struct {
		const char *last_shown, *first_not, *last_not, *first_shown;
	} ends[] = {
		{"~", "\xc2\x80", "\xc2\x9f", "\xc2\xa0"},
		{"\xe2\x80\x8a", "\xe2\x80\x8b", "\xe2\x80\x8f", "\xe2\x80\x90"},
		{"\xe2\x80\xa7", "\xe2\x80\xa8", "\xe2\x80\xae", "\xe2\x80\xaf"},
		{"\xe2\x81\x9f", "\xe2\x81\xa0", "\xe2\x81\xaf", "\xe2\x81\xb0"},
		{"\xed\x9f\xbf", "\xee\x80\x80", "\xef\xa3\xbf", "\xef\xa4\x80"},
		{"\xef\xb7\xbf", "\xef\xb8\x80", "\xef\xb8\x8f", "\xef\xb8\x90"},
		{"\xef\xbf\xaf", "\xef\xbf\xb0", "\xef\xbf\xbb", "\xef\xbf\xbc"},
		{"\xef\xbf\xbd", "\xef\xbf\xbe", "\xef\xbf\xbf", "\xf0\x90\x80\x80"},
		{"\xf3\x9f\xbf\xbf", "\xf3\xa0\x80\x80", "\xf4\x8f\xbf\xbf", "a"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++) {
		print_message("# row %zu\n", i);
		assert_int_equal(plain_shown(ends[i].last_shown), strlen(ends[i].last_shown));
		assert_int_equal(plain_shown(ends[i].first_not), 0);
		assert_int_equal(plain_shown(ends[i].last_not), 0);
		assert_int_equal(plain_shown(ends[i].first_shown), strlen(ends[i].first_shown));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rows),
		cmocka_unit_test(test_ends_of_ranges),
	};

	return cmocka_run_group_tests_name("plain", tests, NULL, NULL);
}
