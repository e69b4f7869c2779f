/* test_sacct.c - what sacct and squeue print, with texts that want to be read as something else. */
#include "ledger/sacct.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"

/* As Slurm 22.05 printed them, with the delimiter "|x9|". */
#define REAL                                                                                       \
	"1|x9|5|x9|1|x9|1795972635|x9|1795972638|x9|1795972640|x9|COMPLETED|x9|1|x9|c1|x9|1|x9|"   \
	"billing=1,cpu=1,node=1|x9|billing=1,cpu=1,mem=1000M,node=1|x9|researcher|x9|cloud|x9|"    \
	"normal|x9||x9||x9|a|b\nc|x9|\n"
#define WAITS                                                                                      \
	"5|x9|8|x9|5|x9|1795972660|x9|Unknown|x9|Unknown|x9|PENDING|x9|1|x9|None "                 \
	"assigned|x9|0|x9|"                                                                        \
	"|x9|billing=1,cpu=1,mem=1000M,node=1|x9|researcher|x9|cloud|x9|normal|x9||x9|k|ey\nx|x9|" \
	"long|x9|\n"

struct seen {
	struct ledger_attempt a;
	char nodes[64], name[300], account[300], state[32], id[32], wckey[64];
	size_t n;
	int rc;
};

static int see(void *ctx, const struct ledger_attempt *a, const char *nodes, struct err *e)
{
	struct seen *s = ctx;

	s->n++;
	s->a = *a;
	(void)snprintf(s->nodes, sizeof(s->nodes), "%s", nodes);
	(void)snprintf(s->name, sizeof(s->name), "%s", a->name);
	(void)snprintf(s->account, sizeof(s->account), "%s", a->account);
	(void)snprintf(s->state, sizeof(s->state), "%s", a->state);
	(void)snprintf(s->id, sizeof(s->id), "%s", a->job_id);
	(void)snprintf(s->wckey, sizeof(s->wckey), "%s", a->wckey);
	return s->rc < 0 ? err_set(e, ERR_IO, "stopped") : 0;
}

static int parse(const char *text, struct seen *s, struct sacct_count *n, struct err *e)
{
	char *own = mem_strdup(text);
	const struct sacct_text t = {own, strlen(own), "|x9|", 77};
	int rc;

	memset(s, 0, sizeof(*s));
	rc = sacct_parse(&t, see, s, n, e);
	free(own);
	return rc;
}

static void test_what_sacct_prints(void **state)
{
	struct seen s;
	struct sacct_count n;
	struct err e = {0};

	(void)state;
	assert_int_equal(parse(WAITS REAL WAITS, &s, &n, &e), 0);
	assert_int_equal(n.records, 3);
	assert_int_equal(n.bad, 0);
	assert_int_equal(s.n, 1);
	assert_int_equal(s.a.job, 1);
	assert_int_equal(s.a.dbindex, 5);
	assert_int_equal(s.a.submit_s, 1795972635);
	assert_int_equal(s.a.start_s, 1795972638);
	assert_int_equal(s.a.end_s, 1795972640);
	assert_int_equal(s.a.cpus, 1);
	assert_int_equal(s.a.memory_mb, 0); /* it has none of its own */
	assert_int_equal(s.a.seen_ms, 77);
	assert_false(s.a.running);
	assert_string_equal(s.nodes, "c1");
	assert_string_equal(s.state, "COMPLETED");
	assert_string_equal(s.name, "a|b?c");
}

static const struct {
	int field;
	const char *text;
	bool bad, out;              /* out: it is left out, which is right */
	int64_t cpus, gpus, memory; /* of a node, of two */
} field_rows[] = {
	{0, "4294967295", false, false, 4, 2, 500},
	{0, "4294967296", true, false, 0, 0, 0},
	{0, "-1", true, false, 0, 0, 0},
	{0, "", true, false, 0, 0, 0},
	{0, "7_2", true, false, 0, 0, 0},
	{1, "10738419821034504192", false, false, 4, 2, 500},
	{1, "18446744073709551616", true, false, 0, 0, 0},
	{3, "2026-11-29T10:00:00", true, false, 0, 0, 0},
	{4, "Unknown", false, true, 0, 0, 0},
	{4, "None", false, true, 0, 0, 0},
	{4, "253402300800", true, false, 0, 0, 0},
	{5, "Unknown", false, false, 4, 2, 500}, /* its end comes later */
	{6, "PENDING", false, true, 0, 0, 0},
	{7, "x", true, false, 0, 0, 0},
	{8, "None assigned", false, true, 0, 0, 0},
	{8, "", false, true, 0, 0, 0},
	{10, "cpu=3,node=2", false, false, 2, 0, 0},
	{10, "cpu=3,gres/gpu:a=3,gres/gpu:b=2,node=2", false, false, 2, 3, 0},
	{10, "cpu=3,gres/gpu:a=3,gres/gpu=4,node=2", false, false, 2, 2, 0},
	{10, "cpu=3,gres/gputype=9,node=2,mem=1.50G", false, false, 2, 0, 768},
	{10, "cpu=3,node=2,mem=1T,future/x=y", false, false, 2, 0, 1 << 19},
	{10, "cpu=3,node=2,mem=1500", false, false, 2, 0, 750},
	{10, "cpu=3,node=2,mem=1K", false, false, 2, 0, 1},
	{10, "cpu=3,node=2,mem=1X", true, false, 0, 0, 0},
	{10, "cpu=3,node=2,mem=99999999999999999999G", true, false, 0, 0, 0},
	{10, "cpu=3,node=2,mem=1G1", true, false, 0, 0, 0},
	{10, "cpu=x,node=2", true, false, 0, 0, 0},
	{10, "cpu=99999999999", true, false, 0, 0, 0},
	{10, "cpu", true, false, 0, 0, 0},
	{10, "", false, false, 1, 0, 0}, /* what it asked for */
	{11, "mem=?", true, false, 0, 0, 0},
};

/* One field of a good record is another. */
static void test_fields(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(field_rows) / sizeof(field_rows[0]); i++) {
		const char *f[] = {"7",
				   "9",
				   "7",
				   "100",
				   "200",
				   "300",
				   "COMPLETED",
				   "2",
				   "c[1-2]",
				   "0",
				   "cpu=8,mem=1000M,node=2,gres/gpu=4",
				   "cpu=2",
				   "u",
				   "p",
				   "q",
				   "a",
				   "w",
				   "n"};
		char text[1024] = "";
		struct seen s;
		struct sacct_count n;
		struct err e = {0};

		print_message("# field %d: %s\n", field_rows[i].field, field_rows[i].text);
		f[field_rows[i].field] = field_rows[i].text;
		for (size_t k = 0; k < sizeof(f) / sizeof(f[0]); k++)
			(void)snprintf(text + strlen(text), sizeof(text) - strlen(text), "%s|x9|",
				       f[k]);
		(void)snprintf(text + strlen(text), sizeof(text) - strlen(text), "\n%s", REAL);
		assert_int_equal(parse(text, &s, &n, &e), 0);
		/* The other record is read in any case. */
		assert_int_equal(n.records, 2);
		assert_int_equal(n.bad, field_rows[i].bad);
		assert_int_equal(s.n, field_rows[i].bad || field_rows[i].out ? 1 : 2);
		assert_int_equal(n.why[0] != '\0', field_rows[i].bad);
		*strstr(text, "\n1|x9|5") = '\0';
		(void)snprintf(text + strlen(text), 2, "\n");
		assert_int_equal(parse(text, &s, &n, &e), 0);
		if (s.n == 0)
			continue;
		assert_int_equal(s.a.running, field_rows[i].field == 5);
		assert_int_equal(s.a.cpus, field_rows[i].cpus);
		assert_int_equal(s.a.gpus, field_rows[i].gpus);
		assert_int_equal(s.a.memory_mb, field_rows[i].memory);
	}
}

static void test_states(void **state)
{
	static const struct {
		const char *said, *state;
		bool running;
	} rows[] = {{"RUNNING", "RUNNING", true},       {"SUSPENDED", "SUSPENDED", true},
		    {"COMPLETING", "COMPLETING", true}, {"CANCELLED by 0", "CANCELLED", false},
		    {"CANCELLED+", "CANCELLED", false}, {"NODE_FAIL", "NODE_FAIL", false},
		    {"REQUEUED", "REQUEUED", false},    {"RESIZING", "RESIZING", false}};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		char text[512];
		struct seen s;
		struct sacct_count n;
		struct err e = {0};

		(void)snprintf(text, sizeof(text),
			       "1|x9|5|x9|1+0|x9|1|x9|20|x9|%s|x9|%s|x9|1|x9|c1|x9|1|x9|cpu=1|x9|"
			       "|x9|u|x9|p|x9|q|x9||x9||x9|n|x9|\n",
			       rows[i].running ? "Unknown" : "30", rows[i].said);
		assert_int_equal(parse(text, &s, &n, &e), 0);
		assert_int_equal(s.n, 1);
		assert_string_equal(s.state, rows[i].state);
		assert_string_equal(s.id, "1+0");
		assert_int_equal(s.a.running, rows[i].running);
		assert_int_equal(s.a.end_s, rows[i].running ? 20 : 30);
	}
}

/* A job on two nodes, and then on one, as Slurm 22.05 printed it: both records have one begin. */
static void test_a_job_that_is_resized(void **state)
{
	static const struct {
		const char *submit, *end;
		int64_t start;
		bool running;
	} rows[] = {{"232", "238", 234, false}, {"238", "Unknown", 238, true},
		    {"238", "243", 238, false}, {"238", "238", 238, false},
		    {"234", "300", 234, false}, {"999", "300", 234, false} /* a clock was set */};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		char text[512];
		struct seen s;
		struct sacct_count n;
		struct err e = {0};

		(void)snprintf(text, sizeof(text),
			       "1|x9|%zu|x9|1|x9|%s|x9|234|x9|%s|x9|%s|x9|1|x9|c1|x9|1|x9|cpu=1|x9|"
			       "|x9|u|x9|p|x9|q|x9||x9||x9|n|x9|\n",
			       i + 1, rows[i].submit, rows[i].end,
			       i == 0            ? "RESIZING"
			       : rows[i].running ? "RUNNING"
						 : "COMPLETED");
		assert_int_equal(parse(text, &s, &n, &e), 0);
		assert_int_equal(s.n, 1);
		assert_int_equal(s.a.start_s, rows[i].start);
		assert_int_equal(s.a.running, rows[i].running);
		assert_int_equal(s.a.end_s,
				 rows[i].running ? rows[i].start : strtoll(rows[i].end, NULL, 10));
	}
}

static void test_texts_of_users(void **state)
{
	char text[4096], name[1200];
	struct seen s;
	struct sacct_count n;
	struct err e = {0};

	(void)state;
	/* Another record in a name is a name. */
	(void)snprintf(
		text, sizeof(text),
		"1|x9|5|x9|1|x9|1|x9|20|x9|30|x9|FAILED|x9|1|x9|c1|x9|1|x9|cpu=1|x9||x9|u|x9|"
		"p|x9|q|x9|\033[2J=cmd()|x9||x9|x|\n2|6|2|1|20|30|COMPLETED|1|c9|1|cpu=9||u|p|"
		"q|root||\n|x9|\n");
	assert_int_equal(parse(text, &s, &n, &e), 0);
	assert_int_equal(n.records, 1);
	assert_int_equal(s.a.job, 1);
	assert_string_equal(s.account, "?[2J=cmd()");
	/* A long one is cut, and between characters. */
	memset(name, 'a', sizeof(name));
	memcpy(name + 253, "\xc3\xa4\xc3\xa4", 4);
	name[sizeof(name) - 1] = '\0';
	(void)snprintf(
		text, sizeof(text),
		"1|x9|5|x9|1|x9|1|x9|20|x9|30|x9|FAILED|x9|1|x9|c1|x9|1|x9|cpu=1|x9||x9|u|x9|"
		"p|x9|q|x9||x9||x9|%s|x9|\n",
		name);
	assert_int_equal(parse(text, &s, &n, &e), 0);
	assert_int_equal(strlen(s.name), 255);
}

/* Whatever is cut off: all of it or an error, and never a part for the whole. */
static void test_a_text_that_is_cut(void **state)
{
	static const char whole[] = REAL WAITS;
	const size_t first = strlen(REAL);

	(void)state;
	for (size_t len = 0; len <= strlen(whole); len++) {
		char text[2048];
		struct seen s;
		struct sacct_count n;
		struct err e = {0};
		int rc;

		memcpy(text, whole, len);
		text[len] = '\0';
		rc = parse(text, &s, &n, &e);
		assert_int_equal(rc, len == 0 || len == first || len == strlen(whole) ? 0 : -1);
		assert_int_equal(e.code, rc == 0 ? 0 : ERR_INVALID);
	}
}

static void test_a_visit_that_fails(void **state)
{
	char text[] = REAL;
	struct seen s = {.rc = -1};
	struct sacct_count n;
	struct err e = {0};

	(void)state;
	assert_int_equal(
		sacct_parse(&(struct sacct_text){text, strlen(text), "|x9|", 1}, see, &s, &n, &e),
		-1);
	assert_int_equal(e.code, ERR_IO);
}

static void test_what_squeue_prints(void **state)
{
	static const struct {     /* of a job of two nodes */
		const char *gres; /* by node, job, socket, task; sockets, tasks */
		int64_t gpus;
	} rows[] = {
		{"N/A|x9|N/A|x9|N/A|x9|N/A|x9|*|x9|2", 0},
		{"gres:gpu:h100:8|x9|N/A|x9|N/A|x9|N/A|x9|*|x9|2", 8},
		{"gres/gpu:4|x9|N/A|x9|N/A|x9|N/A|x9|*|x9|2", 4},
		{"gpu|x9|N/A|x9|N/A|x9|N/A|x9|*|x9|2", 1},
		{"gpu:2,shard:5|x9|N/A|x9|N/A|x9|N/A|x9|*|x9|2", 2},
		{"gres:gpu:a:1,gres:gpu:b:2|x9|N/A|x9|N/A|x9|N/A|x9|*|x9|2", 3},
		{"gres/gpu=3|x9|N/A|x9|N/A|x9|N/A|x9|*|x9|2", 3},
		{"(null)|x9|(null)|x9|(null)|x9|(null)|x9|(null)|x9|", 0},
		{"gpu:h100|x9|N/A|x9|N/A|x9|N/A|x9|*|x9|2", 0},
		{"gpu:99999999999|x9|N/A|x9|N/A|x9|N/A|x9|*|x9|2", 0},
		{"N/A|x9|gres:gpu:3|x9|N/A|x9|N/A|x9|*|x9|2", 2},
		{"N/A|x9|N/A|x9|gres:gpu:2|x9|N/A|x9|2|x9|2", 4},
		{"N/A|x9|N/A|x9|gres:gpu:2|x9|N/A|x9|*|x9|2", 2},
		{"N/A|x9|N/A|x9|gres:gpu:2|x9|N/A|x9|0|x9|2", 2},
		{"N/A|x9|N/A|x9|N/A|x9|cpu=1,gres/gpu=1|x9|*|x9|5", 3},
		{"N/A|x9|N/A|x9|N/A|x9|gres:gpu:4|x9|*|x9|", 2},
		{"gpu:3|x9|gpu:4|x9|gpu:2|x9|gpu:1|x9|*|x9|2", 3},
		{"gpu:1|x9|gpu:4|x9|gpu:2|x9|gpu:1|x9|3|x9|2", 6},
		{"gpu:1|x9|gpu:9|x9|gpu:2|x9|gpu:4|x9|*|x9|2", 5},
		{"gpu:1|x9|gpu:7|x9|gpu:2|x9|gpu:4|x9|*|x9|3", 6},
		{"N/A|x9|N/A|x9|N/A|x9|gpu:16777216|x9|*|x9|16777216", 16777216},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		char text[512];
		struct seen s = {0};
		struct sacct_count n;
		struct err e = {0};

		(void)snprintf(
			text, sizeof(text),
			"7|x9|2_1|x9|90|x9|100|x9|N/A|x9|RUNNING|x9|2|x9|c[1-2]|x9|24|x9|%s|x9|"
			"u|x9|p|x9|q|x9|(null)|x9|(null)|x9|n\n|x9|\n"
			"8|x9|8|x9|90|x9|N/A|x9|N/A|x9|PENDING|x9|1|x9||x9|1|x9|N/A|x9|N/A"
			"|x9|N/A|x9|N/A|x9|*|x9|1|x9|u|x9|p"
			"|x9|q|x9|(null)|x9|(null)|x9|n|x9|\n",
			rows[i].gres);
		assert_int_equal(
			sacct_parse_squeue(&(struct sacct_text){text, strlen(text), "|x9|", 1}, see,
					   &s, &n, &e),
			0);
		assert_int_equal(n.records, 2);
		assert_int_equal(n.bad, 0);
		assert_int_equal(s.n, 1);
		assert_int_equal(s.a.cpus, 12);
		assert_int_equal(s.a.gpus, rows[i].gpus);
		assert_int_equal(s.a.dbindex, 0);
		assert_true(s.a.running);
		assert_string_equal(s.account, "");
		assert_string_equal(s.id, "2_1");
		assert_string_equal(s.a.source, SQUEUE);
	}
}

/* Slurm marks the default of a user whose job names none: it is the same project all the same. */
static void test_a_default_wckey(void **state)
{
	static const char *const rows[][2] = {
		{"w1", "w1"}, {"*w1", "w1"}, {"*", ""}, {"(null)", ""}};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		char text[300];
		struct seen s = {0};
		struct sacct_count n;
		struct err e = {0};

		(void)snprintf(text, sizeof(text),
			       "1|x9|5|x9|1|x9|1|x9|20|x9|30|x9|FAILED|x9|1|x9|c1|x9|1|x9|cpu=1|x9|"
			       "|x9|u|x9|p|x9|q|x9|a|x9|%s|x9|n|x9|\n",
			       rows[i][0]);
		assert_int_equal(parse(text, &s, &n, &e), 0);
		assert_int_equal(s.n, 1);
		assert_string_equal(s.wckey, rows[i][1]);
	}
}

/* So squeue calls whoever has no name on its host, such as while the directory of users is away:
 * that is nobody's name, least of all that of uid 65534, who would see all of their costs. */
static void test_squeue_knows_no_name(void **state)
{
	static const char *const rows[][2] = {{"nobody", ""}, {"nobody2", "nobody2"}};

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		char text[300];
		struct seen s = {0};
		struct sacct_count n;
		struct err e = {0};

		(void)snprintf(
			text, sizeof(text),
			"7|x9|7|x9|90|x9|100|x9|N/A|x9|RUNNING|x9|1|x9|c1|x9|24|x9|N/A|x9|N/A"
			"|x9|N/A|x9|N/A|x9|*|x9|1|x9|%s|x9|p|x9|q|x9|(null)|x9|(null)|x9|n|x9|"
			"\n",
			rows[i][0]);
		assert_int_equal(
			sacct_parse_squeue(&(struct sacct_text){text, strlen(text), "|x9|", 1}, see,
					   &s, &n, &e),
			0);
		assert_int_equal(s.n, 1);
		assert_string_equal(s.a.user, rows[i][1]);
	}
}

static void test_command_lines(void **state)
{
	static const char *const want[] = {"/bin/sacct",   "--local",          "--allusers",
					   "--duplicates", "--allocations",    "--parsable",
					   "--noheader",   "--noconvert",      "--delimiter=|x|",
					   "--format=",    "--starttime=uts5", "--endtime=uts9"};
	struct sacct_args a;
	size_t n = 0;

	(void)state;
	sacct_args(&a, "/bin/sacct", "|x|", 5, 9);
	for (; a.argv[n] != NULL; n++)
		assert_memory_equal(a.argv[n], want[n], strlen(want[n]));
	assert_int_equal(n, sizeof(want) / sizeof(want[0]));
	assert_string_equal(
		a.argv[9], "--format=jobidraw,dbindex,jobid,submit,start,end,state,nnodes,nodelist,"
			   "alloccpus,alloctres,reqtres,user,partition,qos,account,wckey,jobname");
	sacct_args_fini(&a);
	sacct_args_of_squeue(&a, "/bin/squeue", "|x|");
	assert_string_equal(a.argv[2], "--local");
	assert_string_equal(a.argv[6],
			    "JobID:0|x|,JobArrayID:0|x|,SubmitTime:0|x|,StartTime:0|x|,"
			    "EndTime:0|x|,State:0|x|,NumNodes:0|x|,NodeList:0|x|,NumCPUs:0|x|,"
			    "tres-per-node:0|x|,tres-per-job:0|x|,tres-per-socket:0|x|,"
			    "tres-per-task:0|x|,Sockets:0|x|,NumTasks:0|x|,UserName:0|x|,"
			    "Partition:0|x|,QOS:0|x|,Account:0|x|,WCKey:0|x|,Name:0|x|");
	sacct_args_fini(&a);
	assert_true(sacct_is_disabled("Slurm accounting storage is disabled"));
	assert_false(sacct_is_disabled("sacct: error: Problem talking to the database"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_what_sacct_prints),
		cmocka_unit_test(test_fields),
		cmocka_unit_test(test_states),
		cmocka_unit_test(test_a_job_that_is_resized),
		cmocka_unit_test(test_texts_of_users),
		cmocka_unit_test(test_a_text_that_is_cut),
		cmocka_unit_test(test_a_visit_that_fails),
		cmocka_unit_test(test_what_squeue_prints),
		cmocka_unit_test(test_a_default_wckey),
		cmocka_unit_test(test_squeue_knows_no_name),
		cmocka_unit_test(test_command_lines),
	};

	return cmocka_run_group_tests_name("ledger, sacct", tests, NULL, NULL);
}
