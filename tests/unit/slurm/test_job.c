/* test_job.c - what squeue and scontrol say of jobs, as 22.05 and 24.11 print it, and what users
 * may write into it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "slurm/job.h"

enum { ROWS = 8 };

struct seen {
	struct slurm_job rows[ROWS];
	struct slurm_job_detail details[ROWS];
	size_t n;
};

static void on_row(void *ctx, const struct slurm_job *j)
{
	struct seen *s = ctx;

	assert_true(s->n < ROWS);
	s->rows[s->n++] = *j;
}

static void on_detail(void *ctx, const struct slurm_job_detail *d)
{
	struct seen *s = ctx;

	assert_true(s->n < ROWS);
	s->details[s->n++] = *d;
}

static void test_rows(void **state)
{
	static const char text[] = "1|1|CONFIGURING|cloud|None|c[1-2]\n"
				   "5|2_1|CONFIGURING|cloud|None|c3\n"
				   "4|3+1|PENDING|cloud,cpu|Priority|\n"
				   "100|100_[7-9]|PENDING|cloud|Resources|\n"
				   "\n"
				   "squeue: error: nonsense\n"
				   "0|0|PENDING|cloud|None|\n"
				   "x|x|PENDING|cloud|None|\n"
				   "6|6|RUNNING|cloud|None|a|spot|x";
	struct seen s = {.n = 0};

	(void)state;
	slurm_job_parse(text, sizeof(text) - 1, on_row, &s);
	assert_int_equal(s.n, 5);
	assert_int_equal(s.rows[0].number, 1);
	assert_string_equal(s.rows[0].id, "1");
	assert_true(slurm_text_is(s.rows[0].nodes, "c[1-2]"));
	assert_true(slurm_job_configuring(&s.rows[0]));
	assert_false(slurm_job_may_start(&s.rows[0]));
	assert_int_equal(s.rows[1].number, 5);
	assert_string_equal(s.rows[1].id, "2_1");
	assert_string_equal(s.rows[2].id, "3+1");
	assert_true(slurm_job_may_start(&s.rows[2]));
	assert_true(slurm_text_is(s.rows[2].partition, "cloud,cpu"));
	assert_string_equal(s.rows[3].id, ""); /* many jobs: nothing to hand to scontrol */
	assert_false(slurm_job_configuring(&s.rows[4]));
	assert_true(slurm_text_is(s.rows[4].nodes, "a"));
	assert_true(slurm_text_is(s.rows[4].constraint, "spot|x")); /* an OR, and no more fields */
	assert_null(s.rows[0].constraint.p);                        /* not asked for */
	assert_null(s.rows[4].comment.p);
	assert_true(slurm_job_whole(text, sizeof(text) - 1));
}

/* --- wishes ------------------------------------------------------------------------------------
 */

/* As squeue prints it: cut and filled to its width in bytes. */
static size_t add_row(char *out, const char *row, const char *comment)
{
	size_t n = strlen(row), len = strlen(comment);

	memcpy(out, row, n);
	memset(out + n, ' ', SLURM_COMMENT_WIDTH);
	memcpy(out + n, comment, len < SLURM_COMMENT_WIDTH ? len : SLURM_COMMENT_WIDTH);
	out[n + SLURM_COMMENT_WIDTH] = '\n';
	return n + SLURM_COMMENT_WIDTH + 1;
}

static void test_the_width_of_a_comment_is_that_of_the_format(void **state)
{
	char width[32];

	(void)state;
	(void)snprintf(width, sizeof(width), " ,Comment:%d", SLURM_COMMENT_WIDTH);
	assert_string_equal(&SLURM_COMMENT_FORMAT[strlen(SLURM_CONSTRAINT_FORMAT)], width);
	assert_memory_equal(SLURM_CONSTRAINT_FORMAT, SLURM_JOB_FORMAT, strlen(SLURM_JOB_FORMAT));
	assert_string_equal(&SLURM_WORDS_FORMAT[strlen(SLURM_WORDS_FORMAT) - strlen(width)], width);
	assert_memory_equal(SLURM_WORDS_FORMAT, SLURM_JOB_FORMAT, strlen(SLURM_JOB_FORMAT));
}

/* What 22.05.8 printed for a job whose owner had read this file. */
static void test_a_comment_cannot_pass_for_another_job(void **state)
{
	static const char hostile[] = "burst:spot\n7|7|CONFIGURING|cloud|None|c1|\n"
				      "8|8|CONFIGURING|cloud|None|c1|ondemand x\n"
				      "\ty|z\x01\x7f \xc3\xa9 \"q\" \\ end";
	static char text[4 * (SLURM_COMMENT_WIDTH + 100)];
	struct seen s = {.n = 0};
	size_t n = 0;

	(void)state;
	n += add_row(text + n, "2|2|CONFIGURING|cloud|None|c1|spot|x ", hostile);
	n += add_row(text + n, "3|3|PENDING|cloud|None||(null) ", "(null)");
	n += add_row(text + n, "4|4|RUNNING|cloud|None|c2|[a*1&b*2] ", "");
	slurm_job_parse(text, n, on_row, &s);
	assert_true(slurm_job_whole(text, n));
	assert_int_equal(s.n, 3);
	assert_int_equal(s.rows[0].number, 2);
	assert_true(slurm_text_is(s.rows[0].nodes, "c1"));
	assert_true(slurm_text_is(s.rows[0].constraint, "spot|x"));
	assert_true(slurm_text_is(s.rows[0].comment, hostile));
	assert_int_equal(s.rows[1].number, 3);
	assert_int_equal(s.rows[1].nodes.n, 0);
	assert_true(slurm_text_is(s.rows[1].constraint, "(null)"));
	assert_true(slurm_text_is(s.rows[1].comment, "(null)"));
	assert_int_equal(s.rows[2].number, 4);
	assert_true(slurm_text_is(s.rows[2].constraint, "[a*1&b*2]"));
	assert_non_null(s.rows[2].comment.p); /* known to be none */
	assert_int_equal(s.rows[2].comment.n, 0);
}

static void test_a_comment_may_fill_its_column(void **state)
{
	static char text[SLURM_COMMENT_WIDTH + 100], comment[SLURM_COMMENT_WIDTH + 1];
	struct seen s = {.n = 0};
	size_t n;

	(void)state;
	memset(comment, '\n', SLURM_COMMENT_WIDTH);
	n = add_row(text, "2|2|CONFIGURING|cloud|None|c1|(null) ", comment);
	slurm_job_parse(text, n, on_row, &s);
	assert_int_equal(s.n, 1);
	assert_int_equal(s.rows[0].comment.n, SLURM_COMMENT_WIDTH);
}

/* Of a row that is none the comment is still one. */
static void test_a_row_without_a_number_is_skipped_whole(void **state)
{
	static char text[SLURM_COMMENT_WIDTH + 100];
	struct seen s = {.n = 0};
	size_t n;

	(void)state;
	n = add_row(text, "x|x|CONFIGURING|cloud|None|c1|(null) ",
		    "\n7|7|CONFIGURING|cloud|None|c1|spot");
	slurm_job_parse(text, n, on_row, &s);
	assert_int_equal(s.n, 0);
	assert_true(slurm_job_whole(text, n));
}

/* A squeue that does not keep to the width: whatever follows may be anybody's. */
static void test_a_comment_of_another_width_ends_the_answer(void **state)
{
	static char text[2 * (SLURM_COMMENT_WIDTH + 100)];
	static const char more[] = "9|9|CONFIGURING|cloud|None|c9|(null) short\n";
	struct seen s = {.n = 0};
	size_t n;

	(void)state;
	n = add_row(text, "2|2|CONFIGURING|cloud|None|c1|(null) ", "x");
	memcpy(text + n, more, sizeof(more));
	slurm_job_parse(text, n + sizeof(more) - 1, on_row, &s);
	assert_int_equal(s.n, 1);
	assert_false(slurm_job_whole(text, n + sizeof(more) - 1));
	assert_true(slurm_job_whole(text, n));
	assert_false(slurm_job_whole(text, n - 1)); /* cut short */
	text[n - 1] = 'x';
	assert_false(slurm_job_whole(text, n));
}

static const struct {
	const char *reason;
	bool may;
} reasons[] = {
	{"Resources", true},    {"Priority", true},       {"None", true},
	{"JobHeldUser", false}, {"JobHeldAdmin", false},  {"Dependency", false},
	{"BeginTime", false},   {"PartitionDown", false}, {"ReqNodeNotAvail, Reserved", true},
};

static void test_may_start(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(reasons) / sizeof(reasons[0]); i++) {
		struct slurm_job j = {.state = {"PENDING", 7},
				      .reason = {reasons[i].reason, strlen(reasons[i].reason)}};

		print_message("# %s\n", reasons[i].reason);
		assert_int_equal(slurm_job_may_start(&j), reasons[i].may);
	}
}

static struct slurm_text text(const char *s)
{
	return (struct slurm_text){s, strlen(s)};
}

static void test_names(void **state)
{
	(void)state;
	assert_true(slurm_names_meet(text("cloud"), text("cpu,cloud")));
	assert_true(slurm_names_meet(text("a,b,cloud"), text("cloud")));
	assert_false(slurm_names_meet(text("clou"), text("cloud")));
	assert_false(slurm_names_meet(text("cloud,"), text("clouds,")));
	assert_false(slurm_names_meet(text(""), text("")));
	assert_false(slurm_names_meet(text(",,"), text(",")));
}

#define LINE(number, state, priority, start, comment)                                              \
	number "                       " state priority start comment "      "
#define PENDING  "PENDING                 "
#define PRIORITY "42                      "
#define HELD     "0                       "
#define START    "1795264920              "

static const struct {
	const char *line;
	bool understood;
	struct slurm_job_detail want;
	const char *state, *comment;
} details[] = {
	{LINE("7", PENDING, PRIORITY, START, "(null)"),
	 true,
	 {.pending = true, .begin_ms = INT64_C(1795264920000)},
	 "PENDING",
	 ""},
	{LINE("7", PENDING, PRIORITY, START, ""),
	 true,
	 {.pending = true, .begin_ms = INT64_C(1795264920000)},
	 "PENDING",
	 ""},
	{LINE("7", PENDING, HELD, "N/A                     ", "burstd: none"),
	 true,
	 {.pending = true, .held = true},
	 "PENDING",
	 "burstd: none"},
	{LINE("7", "CONFIGURING             ", PRIORITY, START, "see ticket 5"),
	 true,
	 {.begin_ms = INT64_C(1795264920000)},
	 "CONFIGURING",
	 "see ticket 5"},
	{LINE("7", "NODE_FAIL               ", PRIORITY, START, "(null)"),
	 true,
	 {.ended = true, .begin_ms = INT64_C(1795264920000)},
	 "NODE_FAIL",
	 ""},
	{LINE("7", "COMPLETING              ", PRIORITY, START, "(null) and more"),
	 true,
	 {.begin_ms = INT64_C(1795264920000)},
	 "COMPLETING",
	 "(null) and more"},
	{LINE("x", PENDING, PRIORITY, START, ""), false, {0}, NULL, NULL},
	{"7                       PENDING", false, {0}, NULL, NULL},
	{"slurm_load_jobs error: Invalid job id specified", false, {0}, NULL, NULL},
};

static void test_details(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(details) / sizeof(details[0]); i++) {
		struct seen s = {.n = 0};

		print_message("# %s\n", details[i].line);
		slurm_job_parse_detail(details[i].line, strlen(details[i].line), on_detail, &s);
		assert_int_equal(s.n, details[i].understood);
		if (s.n == 0)
			continue;
		assert_int_equal(s.details[0].number, 7);
		assert_true(slurm_text_is(s.details[0].state, details[i].state));
		assert_int_equal(s.details[0].ended, details[i].want.ended);
		assert_int_equal(s.details[0].pending, details[i].want.pending);
		assert_int_equal(s.details[0].held, details[i].want.held);
		assert_int_equal(s.details[0].begin_ms, details[i].want.begin_ms);
		assert_true(slurm_text_is(s.details[0].comment, details[i].comment));
	}
}

/* Behind the comment: what it asks for, and the number of the first component. */
static void test_columns_behind_the_comment(void **state)
{
	static const struct {
		const char *het;
		uint64_t want;
	} rows[] = {{"7                       ", 7},
		    {"7", 7},
		    {"N/A                     ", 0},
		    {"", 0},
		    {"          ", 0}};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct seen s = {.n = 0};
		char line[600];

		(void)snprintf(line, sizeof(line), "%-24s%-24s%-24s%-24s%-300s%-24s%-24s%-24s%s\n",
			       "8", "PENDING", "42", "1795264920", "burstd: none", "2", "16", "2",
			       rows[i].het);
		slurm_job_parse_detail(line, strlen(line), on_detail, &s);
		assert_int_equal(s.n, 1);
		assert_int_equal(s.details[0].het, rows[i].want);
		assert_true(slurm_text_is(s.details[0].comment, "burstd: none"));
		assert_int_equal(s.details[0].counts.n, 72);
		assert_int_equal(s.details[0].requeues, -1);
	}
}

/* 0 is an answer, too: it was never requeued. */
static void test_how_often_it_was_requeued(void **state)
{
	static const struct {
		const char *text;
		int64_t want;
	} rows[] = {{"0                       ", 0},
		    {"0", 0},
		    {"12                      ", 12},
		    {"N/A                     ", -1},
		    {"", -1}};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct seen s = {.n = 0};
		char line[600];

		(void)snprintf(line, sizeof(line), "%-24s%-24s%-24s%-24s%-300s%-72s%-24s%s\n", "8",
			       "PENDING", "42", "1795264920", "", "2", "N/A", rows[i].text);
		slurm_job_parse_detail(line, strlen(line), on_detail, &s);
		assert_int_equal(s.n, 1);
		assert_int_equal(s.details[0].requeues, rows[i].want);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_columns_behind_the_comment),
		cmocka_unit_test(test_how_often_it_was_requeued),
		cmocka_unit_test(test_rows),
		cmocka_unit_test(test_the_width_of_a_comment_is_that_of_the_format),
		cmocka_unit_test(test_a_comment_cannot_pass_for_another_job),
		cmocka_unit_test(test_a_comment_may_fill_its_column),
		cmocka_unit_test(test_a_row_without_a_number_is_skipped_whole),
		cmocka_unit_test(test_a_comment_of_another_width_ends_the_answer),
		cmocka_unit_test(test_may_start),
		cmocka_unit_test(test_names),
		cmocka_unit_test(test_details),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
