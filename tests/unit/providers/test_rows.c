/* test_rows.c - a long list, read from front to back. */
#include "providers/common/rows.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static const char *const fields[] = {"id", "state"};

struct seen {
	char text[256];
	size_t n, stop;
};

static int see(void *ctx, size_t i, const struct jpull_value *v)
{
	struct seen *s = ctx;
	size_t n = strlen(s->text);

	assert_int_equal(i, s->n++);
	(void)snprintf(s->text + n, sizeof(s->text) - n, "%.*s/%.*s;", (int)v[0].n,
		       v[0].p != NULL ? v[0].p : "", (int)v[1].n, v[1].p != NULL ? v[1].p : "");
	return s->n == s->stop ? -1 : 0;
}

static void test_rows_are_given_one_by_one(void **state)
{
	static const struct {
		const char *body, *seen;
		int rc;
		const char *cursor;
	} table[] = {
		{"{\"l\":[]}", "", 0, ""},
		{"{\"l\":[{\"id\":\"a\",\"state\":1},{\"state\":2,\"x\":[{}],\"id\":\"b\"},{}]}",
		 "a/1;b/2;/;", 0, ""},
		{"{\"x\":{\"l\":7},\"cursor\":\"c\",\"l\":[{\"id\":\"a\"}],\"y\":0}", "a/;", 0,
		 "c"},
		{"{\"l\":[{\"id\":\"a\"}],\"cursor\":\"c\"}", "a/;", 0, "c"},
		{"{\"l\":[{},{},{}]}", "/;/;/;", 0, ""},
		{"{\"l\":[{},{},{},{}]}", "/;/;/;", -1, ""},
		{"{\"l\":[{\"id\":\"a\",\"id\":\"b\"}]}", "", -1, ""},
		{"{\"l\":[{\"id\":null,\"id\":\"b\"}]}", "", -1, ""},
		{"{\"l\":[{\"x\":1,\"x\":2,\"id\":\"a\"}]}", "a/;", 0, ""},
		{"{\"l\":[],\"l\":[]}", "", -1, ""},
		{"{\"cursor\":\"c\",\"l\":[],\"cursor\":\"d\"}", "", -1, "c"},
		{"{\"l\":[7]}", "", -1, ""},
		{"{\"l\":[{}", "/;", -1, ""},
		{"{\"l\":[{}]", "/;", -1, ""},
		{"{\"l\":[{}]}x", "/;", -1, ""},
		{"{\"l\":[{\"id\":\"stop\"},{}],", "stop/;/;", -1, ""},
		{"{\"l\":{}}", "", -1, ""},
		{"{\"l\":null}", "", -1, ""},
		{"{}", "", -1, ""},
		{"[]", "", -1, ""},
		{"", "", -1, ""},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		struct jpull_value cursor = {.type = JPULL_NONE};
		struct seen seen = {0};
		const struct rows rows = {"l", fields, 2, 3, see, &seen, NULL};
		char text[8];

		if (rows_read(&rows, table[i].body, strlen(table[i].body), &cursor) != table[i].rc)
			fail_msg("%s", table[i].body);
		assert_string_equal(seen.text, table[i].seen);
		(void)jpull_text(&cursor, text, sizeof(text));
		assert_string_equal(text, table[i].cursor);
	}
}

static void test_a_row_that_makes_no_sense_ends_the_reading(void **state)
{
	static const char body[] = "{\"l\":[{\"id\":\"a\"},{\"id\":\"b\"},{}]}";
	struct seen seen = {.stop = 2};
	const struct rows rows = {"l", fields, 2, 3, see, &seen, NULL};

	(void)state;
	assert_int_equal(rows_read(&rows, body, sizeof(body) - 1, NULL), -1);
	assert_string_equal(seen.text, "a/;b/;");
}

static void test_a_cursor_that_is_not_wanted_is_skipped(void **state)
{
	static const char body[] = "{\"cursor\":1,\"l\":[{}],\"cursor\":[2]}";
	struct seen seen = {0};
	const struct rows rows = {"l", fields, 2, 3, see, &seen, NULL};

	(void)state;
	assert_int_equal(rows_read(&rows, body, sizeof(body) - 1, NULL), 0);
	assert_int_equal(rows_read(&rows, NULL, 0, NULL), -1);
}

static void test_a_cursor_may_have_another_name(void **state)
{
	static const char body[] = "{\"cursor\":1,\"l\":[{}],\"next\":\"n\"}";
	struct seen seen = {0};
	const struct rows rows = {"l", fields, 2, 3, see, &seen, "next"};
	struct jpull_value cursor = {.type = JPULL_NONE};

	(void)state;
	assert_int_equal(rows_read(&rows, body, sizeof(body) - 1, &cursor), 0);
	assert_true(jpull_is(&cursor, "n"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rows_are_given_one_by_one),
		cmocka_unit_test(test_a_row_that_makes_no_sense_ends_the_reading),
		cmocka_unit_test(test_a_cursor_that_is_not_wanted_is_skipped),
		cmocka_unit_test(test_a_cursor_may_have_another_name),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
