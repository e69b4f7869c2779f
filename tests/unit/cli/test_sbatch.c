/* test_sbatch.c - batch scripts: what sbatch would read, and what nobody should. */
#include "cli/sbatch.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"

#define B        "#!/bin/bash\n"
#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

enum { MIN = 60000, H = 3600000, DAY = 86400000 };

static void test_times(void **state)
{
	static const struct {
		const char *text;
		int64_t ms; /* 0: refused */
	} rows[] = {
		{"90", 90 * MIN},
		{"1", MIN},
		{"90:30", 90 * MIN + 30000},
		{"1:30:00", H + 30 * MIN},
		{"0:0:1", 1000},
		{"2-12", 2 * (int64_t)DAY + 12 * H},
		{"2-12:30", 2 * (int64_t)DAY + 12 * H + 30 * MIN},
		{"2-12:30:15", 2 * (int64_t)DAY + 12 * H + 30 * MIN + 15000},
		{"0-1", H},
		{"1-0", DAY},
		{"0", SBATCH_UNLIMITED},
		{"0:0", SBATCH_UNLIMITED},
		{"UNLIMITED", SBATCH_UNLIMITED},
		{"infinite", SBATCH_UNLIMITED},
		{"1000000000-23:59:59", INT64_C(86400000086399000)},
		{"1000000001", 0},
		{"99999999999999999999", 0},
		{"", 0},
		{"-", 0},
		{"-5", 0},
		{"2-", 0},
		{"1:2:3:4", 0},
		{"1-2:3:4:5", 0},
		{"1:2:3:4:5:6", 0},
		{"1:", 0},
		{":1", 0},
		{"1h", 0},
		{"1 ", 0},
		{" 1", 0},
		{"1-2-3", 0},
		{"x", 0},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		int64_t ms = 77;

		print_message("# %s\n", rows[i].text);
		assert_int_equal(sbatch_time(rows[i].text, &ms), rows[i].ms == 0 ? -1 : 0);
		assert_true(ms == (rows[i].ms == 0 ? 77 : rows[i].ms));
	}
}

static void same(const char *is, const char *want)
{
	assert_true((is == NULL) == (want == NULL));
	if (want != NULL)
		assert_string_equal(is, want);
}

static void test_scripts(void **state)
{
	static const struct {
		const char *text;
		int64_t nodes, ms;
		const char *partition, *account, *constraint, *comment, *gpus;
	} rows[] = {
		{B, 0, SBATCH_NOT_SAID, NULL, NULL, NULL, NULL, NULL},
		{"#!", 0, SBATCH_NOT_SAID, NULL, NULL, NULL, NULL, NULL},
		{B "#SBATCH --nodes=4 --time=1:00:00\n", 4, H, NULL, NULL, NULL, NULL, NULL},
		{B "#SBATCH -N 4 -t 60 -p gpu -A physics -C spot\n", 4, H, "gpu", "physics", "spot",
		 NULL, NULL},
		{B "#SBATCH -N4 -t60\t-pgpu,cpu\n#SBATCH -Aphysics -C 'a&b'", 4, H, "gpu,cpu",
		 "physics", "a&b", NULL, NULL},
		{B "#SBATCH --nodes 2-8\n", 2, SBATCH_NOT_SAID, NULL, NULL, NULL, NULL, NULL},
		{B "#SBATCH --nodes 1k\n", 1024, SBATCH_NOT_SAID, NULL, NULL, NULL, NULL, NULL},
		{B "#SBATCH --nodes=2,4\n", 2, SBATCH_NOT_SAID, NULL, NULL, NULL, NULL, NULL},
		{B "#SBATCH --comment=\"burst:spot, and 'more'\" -t 0\n", 0, SBATCH_UNLIMITED, NULL,
		 NULL, NULL, "burst:spot, and 'more'", NULL},
		{B "#SBATCH --comment='a\"b\\c' --constraint=a\\ b\\\"\n", 0, SBATCH_NOT_SAID, NULL,
		 NULL, "a b\"", "a\"b\\c", NULL},
		{B "#SBATCH --comment=x --comment=\"\"\n", 0, SBATCH_NOT_SAID, NULL, NULL, NULL,
		 NULL, NULL},
		{B "#SBATCH --gpus-per-node=h100:8\n", 0, SBATCH_NOT_SAID, NULL, NULL, NULL, NULL,
		 "h100:8"},
		{B "#SBATCH --gres=gpu:h100:8,nvme:1\n", 0, SBATCH_NOT_SAID, NULL, NULL, NULL, NULL,
		 "gpu:h100:8"},
		{B "#SBATCH --gres=nvme:1\n", 0, SBATCH_NOT_SAID, NULL, NULL, NULL, NULL, NULL},
		/* The last one counts. */
		{B "#SBATCH -N 4\n#SBATCH --nodes=2\n", 2, SBATCH_NOT_SAID, NULL, NULL, NULL, NULL,
		 NULL},
		/* Others' options, comments, blank lines. */
		{B
		 "\n# text\n  \n#SBATCH --job-name=x --mail-user a@b -n 64 # -N 9\n#SBATCH -N 3\n",
		 3, SBATCH_NOT_SAID, NULL, NULL, NULL, NULL, NULL},
		{B "#SBATCH --nodesx=7 --node=8 --nodes-min=9 -N3\n", 3, SBATCH_NOT_SAID, NULL,
		 NULL, NULL, NULL, NULL},
		/* Not sbatch's: behind a command, within a line, with another word. */
		{B "#SBATCH -N 3\nsrun x\n#SBATCH -N 9\n", 3, SBATCH_NOT_SAID, NULL, NULL, NULL,
		 NULL, NULL},
		{B " #SBATCH -N 9\n##SBATCH -N 9\n#sbatch -N 9\n# SBATCH -N 9\n", 0,
		 SBATCH_NOT_SAID, NULL, NULL, NULL, NULL, NULL},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct err e = {0};
		struct sbatch s;

		print_message("# %zu %s\n", i, rows[i].text);
		assert_int_equal(sbatch_parse(&s, rows[i].text, strlen(rows[i].text), &e), 0);
		assert_int_equal(s.nodes, rows[i].nodes);
		assert_int_equal(s.limit_ms, rows[i].ms);
		same(s.partition, rows[i].partition);
		same(s.account, rows[i].account);
		same(s.constraint, rows[i].constraint);
		same(s.comment, rows[i].comment);
		same(s.gpus, rows[i].gpus);
		assert_false(s.more);
		sbatch_fini(&s);
	}
}

static void test_a_heterogeneous_job(void **state)
{
	static const char *const rows[] = {B "#SBATCH -N 2\n#SBATCH hetjob\n#SBATCH -N 9\n",
					   B "#SBATCH -N 2\n#SBATCH packjob\n#SBATCH -N 9\n"};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct sbatch s;

		assert_int_equal(sbatch_parse(&s, rows[i], strlen(rows[i]), NULL), 0);
		assert_int_equal(s.nodes, 2);
		assert_true(s.more);
		sbatch_fini(&s);
	}
}

#define ROW(text, why)                                                                             \
	{                                                                                          \
		text, sizeof(text) - 1, why                                                        \
	}

/* One error, with its line. */
static void test_hostile(void **state)
{
	static const struct {
		const char *text;
		size_t len;
		const char *why;
	} rows[] = {
		ROW("", "line 1: a batch script begins with #!"),
		ROW("\n" B, "line 1: a batch script begins with #!"),
		ROW("\x7f"
		    "ELF\0\0",
		    "line 1: a batch script begins with #!"),
		ROW("#!/bin/sh\r\n#SBATCH -N 2\r\n", "line 1: its line breaks"),
		ROW(B "#SBATCH -N 2\r\n", "line 2: its line breaks"),
		ROW(B "#SBATCH -N x\n", "line 2: --nodes: \"x\" is none"),
		ROW(B "\n\n#SBATCH --nodes=0\n", "line 4: --nodes: \"0\" is none"),
		ROW(B "#SBATCH --nodes=-4\n", "line 2: --nodes: "),
		ROW(B "#SBATCH --nodes=4x\n", "line 2: --nodes: "),
		ROW(B "#SBATCH --nodes=99999999999999999999\n", "line 2: --nodes: "),
		ROW(B "#SBATCH --nodes=1000000k\n", "line 2: --nodes: "),
		ROW(B "#SBATCH --time=soon\n", "line 2: --time: \"soon\" is none"),
		ROW(B "#SBATCH --time\n", "line 2: --time: its value is missing"),
		ROW(B "#SBATCH -N 2 -p\n", "line 2: --partition: its value is missing"),
		ROW(B "#SBATCH --comment=\"x\n", "line 2: a quote is not closed"),
		ROW(B "#SBATCH --comment='x\\'\n#SBATCH -p '\n", "line 3: a quote is not closed"),
		ROW(B "#SBATCH -p a\0b\n", "line 2: it has NUL bytes"),
		ROW(B "#SBATCH -p \xff\xfe\n", "line 2: --partition: "),
		ROW(B "#SBATCH -A \x1b[31mred\n", "line 2: --account: "),
		ROW(B "#SBATCH --gres=gpu:\xff\n", "line 2: --gres: "),
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct err e = {0};
		struct sbatch s;

		print_message("# %zu\n", i);
		assert_int_equal(sbatch_parse(&s, rows[i].text, rows[i].len, &e), -1);
		assert_memory_equal(e.msg, rows[i].why, strlen(rows[i].why));
	}
}

/* A line of `n` bytes that repeats `unit`, behind the first. */
static int parse_long(const char *unit, size_t n, struct err *e)
{
	char *text = mem_zalloc(n + strlen(unit) + 64);
	struct sbatch s;
	size_t at;
	int rc;

	at = (size_t)sprintf(text, B "#SBATCH");
	while (at < n + sizeof(B) - 1)
		at += (size_t)sprintf(text + at, "%s", unit);
	text[n + sizeof(B) - 1] = '\0';
	rc = sbatch_parse(&s, text, strlen(text), e);
	if (rc == 0)
		sbatch_fini(&s);
	free(text);
	return rc;
}

static void test_limits(void **state)
{
	static char text[SBATCH_WORD_MAX + 100];
	struct err e = {0};
	struct sbatch s;

	(void)state;
	assert_int_equal(
		parse_long(" --mail-user=xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx", SBATCH_LINE_MAX, &e), 0);
	assert_int_equal(
		parse_long(" --mail-user=xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx", SBATCH_LINE_MAX + 1, &e),
		-1);
	assert_string_equal(e.msg, "line 2: longer than 8192 bytes");
	assert_int_equal(parse_long(" x", 7 + 2 * 256, &e), 0);
	assert_int_equal(parse_long(" x", 7 + 2 * 257, &e), -1);
	assert_string_equal(e.msg, "line 2: more than 256 words");
	for (int more = 0; more < 2; more++) {
		int n = sprintf(text, B "#SBATCH --comment=");

		memset(text + n, 'x', SBATCH_WORD_MAX + (size_t)more);
		text[n + SBATCH_WORD_MAX + more] = '\0';
		assert_int_equal(sbatch_parse(&s, text, strlen(text), &e), -more);
		if (more == 0)
			sbatch_fini(&s);
	}
	/* Other lines may be as long as they like. */
	{
		size_t n = SBATCH_LINE_MAX * 2;
		char *all = mem_zalloc(n + 64);

		memset(all, '#', n);
		memcpy(all, B, sizeof(B) - 1);
		memcpy(all + n, "\n#SBATCH -N 3", 14);
		assert_int_equal(sbatch_parse(&s, all, strlen(all), &e), 0);
		assert_int_equal(s.nodes, 3);
		sbatch_fini(&s);
		free(all);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_times),
		cmocka_unit_test(test_scripts),
		cmocka_unit_test(test_a_heterogeneous_job),
		cmocka_unit_test(test_hostile),
		cmocka_unit_test(test_limits),
	};

	return cmocka_run_group_tests_name("sbatch", tests, NULL, NULL);
}
