/* Text for people: on a terminal of so many columns, and what never reaches it. */
#include "cli/out.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "cli/table.h"

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

static void test_lines_are_broken_between_words(void **state)
{
	static const struct {
		size_t columns, at;
		const char *text, *want;
	} rows[] = {
		{0, 4, "one two three four five six seven", "one two three four five six seven\n"},
		{30, 4, "one two three four", "one two three four\n"},
		/* Exactly as wide, and one more. */
		{26, 4, "one two three four six", "one two three four six\n"},
		{25, 4, "one two three four six", "one two three four\n    six\n"},
		/* A character is one column, whatever its bytes. */
		{26, 4, "\xc3\xa4\xc3\xa4\xc3\xa4 two three four abc",
		 "\xc3\xa4\xc3\xa4\xc3\xa4 two three four abc\n"},
		/* A word as long as that stays whole. */
		{30, 4, "onetwothreefourfivesixseveneightnine ten",
		 "onetwothreefourfivesixseveneightnine ten\n"},
		/* Too little room: a line of its own. */
		{30, 20, "one two three four six seven",
		 "\n        one two three four six\n        seven\n"},
		{30, 20, "one two", "one two\n"},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		char *text = NULL;
		size_t len = 0;
		struct out o = {.f = open_memstream(&text, &len), .columns = rows[i].columns};

		print_message("# %zu\n", i);
		out_wrapped(&o, OUT_PLAIN, rows[i].text, rows[i].at);
		(void)fclose(o.f);
		assert_string_equal(text, rows[i].want);
		free(text);
	}
}

static void test_a_table_on_a_narrow_terminal(void **state)
{
	static const struct table_column columns[] = {{"NODE", false}, {"NOTE", false}};
	char *text = NULL;
	size_t len = 0;
	struct out o = {.f = open_memstream(&text, &len), .columns = 32};
	struct table t;

	(void)state;
	table_init(&t, columns, 2);
	table_add(&t, OUT_PLAIN, "h100-1");
	table_add(&t, OUT_PLAIN, "the provider took its capacity back");
	table_print(&t, &o, 2);
	table_fini(&t);
	(void)fclose(o.f);
	assert_string_equal(text, "  NODE    NOTE\n"
				  "  h100-1  the provider took its\n"
				  "          capacity back\n");
	free(text);
}

/* What burstd says in UTC is read in the reader's zone. */
static void test_times_are_local(void **state)
{
	static const struct {
		const char *text, *want;
	} rows[] = {
		{"until 2026-01-02T23:05:06Z, or 2026-07-02T23:05:06Z.",
		 "until 2026-01-03T00:05:06, or 2026-07-03T01:05:06."},
		{"2026-01-02T23:05:06Z", "2026-01-03T00:05:06"},
		/* Nothing else that looks like one. */
		{"2026-13-02T23:05:06Z", "2026-13-02T23:05:06Z"},
		{"T23:05:06Z 2026-01-02T23:05Z", "T23:05:06Z 2026-01-02T23:05Z"},
		{"2026-01-02T23:05:06", "2026-01-02T23:05:06"},
		{"TTTTTTTTTTTTTTTTTTTT", "TTTTTTTTTTTTTTTTTTTT"},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		char *clean = out_clean(rows[i].text);

		assert_string_equal(clean, rows[i].want);
		free(clean);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_lines_are_broken_between_words),
		cmocka_unit_test(test_a_table_on_a_narrow_terminal),
		cmocka_unit_test(test_times_are_local),
	};

	(void)setenv("TZ", "CET-1CEST,M3.5.0,M10.5.0/3", 1);
	return cmocka_run_group_tests_name("out", tests, NULL, NULL);
}
