/* burstd's block in a file: found, replaced, and nothing else in the file changes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "file_of.h"
#include "slurmconf/block.h"

/* The file with this body in its block, the caller's. */
static char *put(const char *text, const char *body, enum slurmconf_block_state want)
{
	struct slurmconf_file f = file_of("f", text);
	struct slurmconf_block b;
	struct str s;

	assert_int_equal(slurmconf_block_find(&b, &f, NULL), 0);
	assert_int_equal(b.state, want);
	str_init(&s, 1 << 16);
	slurmconf_block_put(&s, &f, &b, body);
	assert_false(s.full);
	slurmconf_file_fini(&f);
	return str_take(&s);
}

#define MARK "# BEGIN burstd: written by burstctl slurm-conf, do not edit ("

static void test_a_new_block_comes_last(void **state)
{
	static const struct {
		const char *before, *head, *line_break;
	} rows[] = {
		{"A=1\n", "A=1\n", "\n"},
		{"A=1", "A=1\n", "\n"},
		{"", "", "\n"},
		{"\n", "\n", "\n"},
		{"A=1\r\nB=2\r\n", "A=1\r\nB=2\r\n", "\r\n"},
		{"A=1\r\nB=2", "A=1\r\nB=2\r\n", "\r\n"},
		{"A=1\r", "A=1\r\r\n", "\r\n"}, /* the fuzzer's */
		{"A=1\nB=2\r\n", "A=1\nB=2\r\n", "\n"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		char *got = put(rows[i].before, "X=1\nY=2\n", SLURMCONF_BLOCK_NONE), *again,
		     tail[64];
		const char *nl = rows[i].line_break;

		assert_memory_equal(got, rows[i].head, strlen(rows[i].head));
		assert_memory_equal(got + strlen(rows[i].head), MARK, strlen(MARK));
		(void)snprintf(tail, sizeof(tail), ")%sX=1%sY=2%s# END burstd%s", nl, nl, nl, nl);
		assert_string_equal(strchr(got, ')'), tail);
		again = put(got, "X=1\nY=2\n", SLURMCONF_BLOCK_OURS);
		assert_string_equal(again, got);
		free(again);
		free(got);
	}
}

/* What is before and behind the block stays, whatever it is. */
static void test_an_old_block_is_replaced_where_it_is(void **state)
{
	char *one = put("A=1\r\n# BEGIN burstd\n# END burstd\nB=\xff\r\n \t C=3", "X=1\n",
			SLURMCONF_BLOCK_OURS),
	     *two = put(one, "", SLURMCONF_BLOCK_OURS);

	(void)state;
	assert_memory_equal(one, "A=1\r\n" MARK, 5 + strlen(MARK));
	assert_string_equal(strchr(one, ')'), ")\r\nX=1\r\n# END burstd\r\nB=\xff\r\n \t C=3");
	assert_memory_equal(two, "A=1\r\n" MARK, 5 + strlen(MARK));
	assert_string_equal(strchr(two, ')'), ")\r\n# END burstd\r\nB=\xff\r\n \t C=3");
	free(one);
	free(two);
}

static void test_the_end_mark_may_end_the_file(void **state)
{
	char *got = put("A=1\n# BEGIN burstd\n# END burstd", "X=1\n", SLURMCONF_BLOCK_OURS);

	(void)state;
	assert_string_equal(strchr(got, ')'), ")\nX=1\n# END burstd");
	free(got);
}

static void test_an_edit_by_hand_is_seen(void **state)
{
	char *got = put("A=1\n", "X=1\nY=2\n", SLURMCONF_BLOCK_NONE), *x;

	(void)state;
	x = strstr(got, "X=1");
	x[2] = '7';
	free(put(got, "X=1\n", SLURMCONF_BLOCK_EDITED));
	x[2] = '1';
	free(put(got, "X=1\n", SLURMCONF_BLOCK_OURS));
	free(got);
	free(put("# BEGIN burstd\nX=1\n# END burstd\n", "X=1\n", SLURMCONF_BLOCK_EDITED));
	free(put("# BEGIN burstd\n \n# END burstd\n", "X=1\n", SLURMCONF_BLOCK_OURS));
}

static void test_line_breaks_alone_are_no_edit(void **state)
{
	char *got = put("A=1\n", "X=1\n", SLURMCONF_BLOCK_NONE), *crlf = mem_zalloc(1024),
	     *to = crlf;

	(void)state;
	for (const char *p = got; *p != '\0'; p++) {
		if (*p == '\n')
			*to++ = '\r';
		*to++ = *p;
	}
	free(put(crlf, "X=1\n", SLURMCONF_BLOCK_OURS));
	free(crlf);
	free(got);
}

static void test_other_words_are_no_marks(void **state)
{
	(void)state;
	free(put("# BEGIN burstd2\n#BEGIN burstd\n # BEGIN burstd\n# END burstdx\n", "",
		 SLURMCONF_BLOCK_NONE));
}

static void refuse(const char *text, const char *want)
{
	struct slurmconf_file f = file_of("f", text);
	struct slurmconf_block b;
	struct err e = {0};

	assert_int_equal(slurmconf_block_find(&b, &f, &e), -1);
	assert_string_equal(e.msg, want);
	slurmconf_file_fini(&f);
}

static void test_marks_come_in_pairs(void **state)
{
	(void)state;
	refuse("A=1\n# BEGIN burstd\nB=1\n", "f:2: \"# BEGIN burstd\" without its END");
	refuse("# END burstd\n", "f:1: \"# END burstd\" without its BEGIN");
	refuse("# BEGIN burstd\n# BEGIN burstd\n# END burstd\n",
	       "f:2: a second \"# BEGIN burstd\"");
	refuse("# BEGIN burstd\n# END burstd\n# END burstd\n",
	       "f:3: \"# END burstd\" without its BEGIN");
	refuse("# BEGIN burstd\n# END burstd\n# BEGIN burstd: x\n# END burstd\n",
	       "f:3: a second \"# BEGIN burstd\"");
}

static void test_lines_of_the_marks(void **state)
{
	struct slurmconf_file f = file_of("f", "A=1\n# BEGIN burstd\nX=1\r\n# END burstd\n");
	struct slurmconf_block b;
	char *body;

	(void)state;
	assert_int_equal(slurmconf_block_find(&b, &f, NULL), 0);
	assert_int_equal(b.line, 2);
	assert_int_equal(b.last, 4);
	body = slurmconf_block_body(&f, &b);
	assert_string_equal(body, "X=1\n");
	free(body);
	slurmconf_file_fini(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_new_block_comes_last),
		cmocka_unit_test(test_an_old_block_is_replaced_where_it_is),
		cmocka_unit_test(test_the_end_mark_may_end_the_file),
		cmocka_unit_test(test_an_edit_by_hand_is_seen),
		cmocka_unit_test(test_line_breaks_alone_are_no_edit),
		cmocka_unit_test(test_other_words_are_no_marks),
		cmocka_unit_test(test_marks_come_in_pairs),
		cmocka_unit_test(test_lines_of_the_marks),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
