/* test_job.c - what squeue and scontrol say of jobs, as 22.05 and 24.11 print it, and what users
 * may write into it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "engine/slurm/job.h"

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
				   "6|6|RUNNING|cloud|None|a|b";
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
	assert_true(slurm_text_is(s.rows[4].nodes, "a|b"));
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

#define HEAD "JobId=7 JobName=wrap UserId=r(1) MCS_label=N/A "

static const struct {
	const char *line;
	bool understood;
	struct slurm_job_detail want;
} details[] = {
	{HEAD "Priority=42 Nice=0 JobState=PENDING Reason=BeginTime StartTime=1795264920 EndTime=1 "
	      "Power= ",
	 true,
	 {7, true, false, INT64_C(1795264920000), true}},
	{HEAD "Priority=0 Nice=0 JobState=PENDING Reason=JobHeldAdmin StartTime=Unknown",
	 true,
	 {7, true, true, 0, true}},
	{HEAD "Priority=1 JobState=CONFIGURING StartTime=5 AdminComment=burstd: none  StdErr=/x",
	 true,
	 {7, false, false, 5000, true}},
	{HEAD "Priority=1 JobState=PENDING StartTime=5 AdminComment=see ticket 5 Power=",
	 true,
	 {7, true, false, 5000, false}},
	/* A user's comment that says it is the admin's: hands off. */
	{HEAD "Priority=1 JobState=PENDING StartTime=5 AdminComment=burstd: x Comment=a "
	      "AdminComment=y",
	 true,
	 {7, true, false, 5000, false}},
	{HEAD "Priority=1 JobState=PENDING StartTime=5 AdminComment= Power=",
	 true,
	 {7, true, false, 5000, true}},
	/* A job's name that says it is held, or not: not understood. */
	{"JobId=7 JobName=a Priority=0 JobState=PENDING Priority=42 JobState=RUNNING StartTime=5",
	 false,
	 {0}},
	{"JobId=x JobName=a Priority=0", false, {0}},
	{"JobId=7 JobName=a", false, {0}},
	{"scontrol: show job 7", false, {0}},
	{"slurm_load_jobs error: Invalid job id specified", false, {0}},
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
		assert_int_equal(s.details[0].number, details[i].want.number);
		assert_int_equal(s.details[0].pending, details[i].want.pending);
		assert_int_equal(s.details[0].held, details[i].want.held);
		assert_int_equal(s.details[0].begin_ms, details[i].want.begin_ms);
		assert_int_equal(s.details[0].comment_free, details[i].want.comment_free);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rows),
		cmocka_unit_test(test_may_start),
		cmocka_unit_test(test_names),
		cmocka_unit_test(test_details),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
