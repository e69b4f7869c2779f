/* payer.c: who pays for a job, from lines as squeue prints them, and from hostile ones. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "slurm/payer.h"
#include "tests/unit/payer_row.h"

enum { ROWS_MAX = 4 };

struct seen {
	struct payer p[ROWS_MAX];
	struct slurm_job j[ROWS_MAX];
	bool known[ROWS_MAX];
	size_t n;
};

static void on_row(void *ctx, const struct slurm_job *j)
{
	struct seen *s = ctx;

	assert_true(s->n < ROWS_MAX);
	s->j[s->n] = *j;
	s->known[s->n] = slurm_payer_read(j, &s->p[s->n]);
	s->n++;
}

/* One line: the columns before the users' texts, the wckey, and what follows. */
static struct seen parse(const char *columns, const char *key, const char *wishes)
{
	static char text[4096];
	struct seen s = {.n = 0};
	char row[1024];
	int n;

	(void)snprintf(row, sizeof(row), "7|7_2|CONFIGURING|gpu|None|c[1-2]| |%s|", columns);
	n = payer_row(text, sizeof(text), row, key, wishes);
	assert_int_equal(slurm_job_whole(text, (size_t)n), true);
	slurm_job_parse(text, (size_t)n, on_row, &s);
	return s;
}

static void test_a_payer(void **state)
{
	struct seen s =
		parse("physics|ann|normal|1-04:00:30|2|192|NO|cpu=192,gres/gpu=16|2|*", "*def", "");
	const struct payer *p = &s.p[0];

	(void)state;
	assert_int_equal(s.n, 1);
	assert_true(s.known[0]);
	assert_string_equal(p->id, "7_2");
	assert_string_equal(p->account, "physics");
	assert_string_equal(p->user, "ann");
	assert_string_equal(p->partition, "gpu");
	assert_string_equal(p->qos, "normal");
	assert_string_equal(p->wckey, "*def");
	assert_int_equal(p->limit_s, 86400 + 4 * 3600 + 30);
	assert_int_equal(p->nodes, 2);
	assert_int_equal(p->cpus, 192);
	assert_int_equal(p->node_gpus, 8);
	assert_true(p->exclusive);
	assert_null(s.j[0].constraint.p);
	assert_true(slurm_text_is(s.j[0].nodes, "c[1-2]"));
}

static void test_wishes_stand_behind_it(void **state)
{
	struct seen s = parse("a|u|q|30:00|1|1|OK|N/A|1|*", "(null)", "spot|x");

	(void)state;
	assert_true(slurm_text_is(s.j[0].constraint, "spot|x"));
	assert_string_equal(s.p[0].wckey, "");
	assert_int_equal(s.p[0].limit_s, 1800);
	assert_int_equal(s.p[0].node_gpus, 0);
	assert_false(s.p[0].exclusive);
}

/* A user whose name the host does not know, such as while its directory is away, may be any. */
static void test_a_user_without_a_name(void **state)
{
	struct seen s = parse("a|nobody|q|30:00|1|1|OK|N/A|1|*", "(null)", "");

	(void)state;
	assert_string_equal(s.p[0].user, "");
	assert_string_equal(s.p[0].account, "a");
	s = parse("a|nobody2|q|30:00|1|1|OK|N/A|1|*", "(null)", "");
	assert_string_equal(s.p[0].user, "nobody2");
}

static void test_whose_nodes_are_a_jobs_own(void **state)
{
	static const struct {
		const char *said;
		bool own;
	} rows[] = {
		{"NO", true},      {"OK", false},      {"YES", false},    {"USER", false},
		{"TOPO", true},    {"NO/NO", false},   {"NO/NODE", true}, {"NO/USER", false},
		{"NO/TOPO", true}, {"OK/NODE", false}, {"YES/NO", false}, {"NO/", true},
		{"OK/", false},    {"TOPO/", true},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		char columns[64];
		struct seen s;

		(void)snprintf(columns, sizeof(columns), "a|u|q|30:00|1|1|%s|N/A|1|*",
			       rows[i].said);
		s = parse(columns, "(null)", "");
		assert_int_equal(s.n, 1);
		assert_int_equal(s.p[0].exclusive, rows[i].own);
	}
}

static void test_who_was_not_asked_says_nothing(void **state)
{
	static const char text[] =
		"7|7|CONFIGURING|gpu|None|c1\n8|8|CONFIGURING|gpu|None|c2|spot\n";
	struct seen s = {.n = 0};

	(void)state;
	slurm_job_parse(text, sizeof(text) - 1, on_row, &s);
	assert_int_equal(s.n, 2);
	assert_false(s.known[0]);
	assert_false(s.known[1]);
	assert_true(slurm_text_is(s.j[1].constraint, "spot"));
}

static void test_limits(void **state)
{
	static const struct {
		const char *text;
		int64_t limit_s;
	} rows[] = {
		{"0:01", 1},
		{"30:00", 1800},
		{"1:00:00", 3600},
		{"364-23:59:59", INT64_C(365) * 86400 - 1},
		{"365-00:00:00", PAYER_UNLIMITED}, /* backfill's word for none */
		{"UNLIMITED", PAYER_UNLIMITED},
		{"NOT_SET", PAYER_UNLIMITED},
		{"INVALID", PAYER_UNLIMITED},
		{"", PAYER_UNLIMITED},
		{"5", PAYER_UNLIMITED},
		{":30", PAYER_UNLIMITED},
		{"-1:00", PAYER_UNLIMITED},
		{"1-2-3:00", PAYER_UNLIMITED},
		{"1:2:3:4", PAYER_UNLIMITED},
		{"99999999999999999999:00", PAYER_UNLIMITED},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		char columns[200];

		print_message("# %s\n", rows[i].text);
		(void)snprintf(columns, sizeof(columns), "a|u|q|%s|1|1|OK|N/A|1|*", rows[i].text);
		assert_true(parse(columns, "", "").p[0].limit_s == rows[i].limit_s);
	}
}

static void test_counts(void **state)
{
	static const struct {
		const char *text;
		uint32_t n;
	} rows[] = {
		{"96", 96},
		{"1K", 1024},
		{"1.5K", 1639}, /* rounded up, for it was rounded */
		{"1.50K", 1639},
		{"2M", 2 << 20},
		{"", 0},
		{"x", 0},
		{"99999999999", UINT32_MAX},
		{"4-8", 0},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		char columns[200];

		print_message("# %s\n", rows[i].text);
		(void)snprintf(columns, sizeof(columns), "a|u|q|1:00|1|%s|OK|N/A|1|*",
			       rows[i].text);
		assert_int_equal(parse(columns, "", "").p[0].cpus, rows[i].n);
	}
}

enum by { BY_JOB, BY_NODE, BY_SOCKET, BY_TASK };

struct asks { /* of a job of 2 nodes with 6 tasks */
	const char *allocated;
	const char *by[4];
	const char *sockets;
	uint32_t n; /* GPUs on each node */
	bool all;   /* of its nodes counts */
};

static void payer_of(const struct asks *a, struct payer *out)
{
	static char text[4096];
	const char *const *by = a->by;
	struct seen s = {.n = 0};
	int n = snprintf(text, sizeof(text),
			 "7|7|CONFIGURING|gpu|None|c[1-2]| |" PAYER_ACCOUNT
			 "u|q|1:00|2|6|OK|%s|6|%s|" PAYER_TEXTS "\n",
			 "a", a->allocated, a->sockets != NULL ? a->sockets : "*",
			 by[BY_JOB] != NULL ? by[BY_JOB] : "N/A",
			 by[BY_NODE] != NULL ? by[BY_NODE] : "N/A",
			 by[BY_SOCKET] != NULL ? by[BY_SOCKET] : "N/A",
			 by[BY_TASK] != NULL ? by[BY_TASK] : "N/A", "(null)");

	assert_true(slurm_job_whole(text, (size_t)n));
	slurm_job_parse(text, (size_t)n, on_row, &s);
	assert_int_equal(s.n, 1);
	*out = s.p[0];
}

/* 64 bytes, with the GPUs at their end. */
#define LONG "gres:aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa,gpu:"
#define HAS  "cpu=6,node=2,billing=6"

static void test_gpus(void **state)
{
	static const struct asks rows[] = {
		/* As 22.05.8 printed them. */
		{HAS ",gres/gpu=3,gres/gpu:h100=3", {"gres:gpu:3"}, NULL, 2, false},
		{HAS ",gres/gpu=2,gres/gpu:h100=2", {[BY_TASK] = "gres:gpu:1"}, NULL, 1, false},
		{HAS, {"gres:gpu:3"}, NULL, 2, false},
		{HAS, {"gres:gpu:h100:4"}, NULL, 2, false},
		{HAS, {[BY_NODE] = "gres:gpu:8"}, NULL, 8, false},
		{HAS, {[BY_NODE] = "gres:gpu:h100:4"}, NULL, 4, false},
		{HAS, {[BY_SOCKET] = "gres:gpu:1"}, "2", 2, false},
		{HAS, {[BY_TASK] = "gres:gpu:1"}, NULL, 3, false},
		{HAS, {NULL}, NULL, 0, false},
		{"N/A", {NULL}, NULL, 0, false},
		{"(null)", {[BY_NODE] = "(null)"}, NULL, 0, false},
		/* Other versions. */
		{HAS, {"gres/gpu:3"}, NULL, 2, false},
		{HAS, {[BY_NODE] = "gres/gpu:8"}, NULL, 8, false},
		{HAS, {[BY_TASK] = "cpu=1,gres/gpu=1"}, NULL, 3, false},
		{HAS, {[BY_TASK] = "cpu=1,gres/gpu:h100=1"}, NULL, 3, false},
		/* What is allocated counts, though the job asked for more, or less. */
		{HAS ",gres/gpu=2", {[BY_NODE] = "gres:gpu:8"}, NULL, 1, false},
		{HAS ",gres/gpu=8", {"gres:gpu:1"}, NULL, 4, false},
		{HAS ",gres/gpu:h100=2,gres/gpu=16,gres/shard=99", {NULL}, NULL, 8, false},
		{HAS ",gres/gpu=1K", {NULL}, NULL, 512, false},
		/* Where only some types are counted, the larger. */
		{HAS ",gres/gpu:h100=2", {"gres:gpu:6"}, NULL, 3, false},
		{HAS ",gres/gpu:h100=8", {"gres:gpu:6"}, NULL, 4, false},
		{HAS ",gres/gpu:a100=3,gres/gpu:h100=3", {NULL}, NULL, 3, false},
		/* The largest of all. */
		{HAS, {"gpu:4", "gpu:3", "gpu:1", "gpu:1"}, "1", 3, false},
		{HAS, {"gpu:8", "gpu:3", "gpu:1", "gpu:1"}, "1", 4, false},
		{HAS, {"gpu:4", "gpu:1", "gpu:5", "gpu:1"}, "*", 5, false},
		{HAS, {[BY_SOCKET] = "gpu:1"}, "0", 1, false},
		/* Kinds of entries. */
		{HAS, {[BY_NODE] = "gres/gpu"}, NULL, 1, false},
		{HAS, {[BY_NODE] = "gres/gpu:h100"}, NULL, 1, false},
		{HAS, {[BY_NODE] = "gpu:2"}, NULL, 2, false},
		{HAS, {[BY_NODE] = "gres/gpu:a100:2,gres/gpu:h100:3,gres/shard:9"}, NULL, 5, false},
		{HAS, {[BY_NODE] = "gres:gpu:1,gres:gpu:h100:2"}, NULL, 3, false},
		{HAS, {[BY_NODE] = "gres/gpux:7"}, NULL, 0, false},
		{HAS, {[BY_NODE] = "gres/shard:7"}, NULL, 0, false},
		{HAS, {[BY_NODE] = ",,"}, NULL, 0, false},
		{HAS, {[BY_NODE] = "gres"}, NULL, 0, false},
		{HAS, {[BY_NODE] = "gp"}, NULL, 0, false},
		{HAS, {[BY_NODE] = "gres/gpu:"}, NULL, 1, false},
		{HAS, {[BY_NODE] = "gres/gpu:99999999999"}, NULL, UINT32_MAX, false},
		{HAS, {[BY_TASK] = "gres/gpu:4294967295"}, NULL, UINT32_MAX, false},
		/* A user's text that fills its column may have been cut: all of its nodes, unless
		 * it does not count. */
		{HAS, {[BY_NODE] = LONG "1"}, NULL, 1, true},
		{HAS, {LONG "1"}, NULL, 1, true},
		{HAS, {[BY_SOCKET] = LONG "1"}, NULL, 1, true},
		{HAS, {[BY_TASK] = LONG "1"}, NULL, 3, true},
		{HAS ",gres/gpu=2", {[BY_NODE] = LONG "1"}, NULL, 1, false},
		{HAS, {[BY_NODE] = LONG}, NULL, 1, false},
	};

	(void)state;
	assert_int_equal(sizeof(LONG), SLURM_PAYER_WIDTH);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct payer p;

		print_message("# row %zu: %s\n", i, rows[i].allocated);
		payer_of(&rows[i], &p);
		assert_int_equal(p.node_gpus, rows[i].n);
		assert_int_equal(p.exclusive, rows[i].all);
	}
}

/* slurmctld 22.05 takes any type of a GPU from a job that is held, and squeue prints it as it is:
 * with newlines. */
static void test_gpus_cannot_pass_for_a_job(void **state)
{
	static const char text[] = "gres:gpu:x\n9|9|RUNNING|gpu|None|c1| |a|u|q|1:00|1|1|OK|";
	struct payer p;

	(void)state;
	for (enum by by = BY_JOB; by <= BY_TASK; by++) {
		struct asks a = {.allocated = HAS ",gres/gpu=2"};

		a.by[by] = text;
		payer_of(&a, &p);
		assert_string_equal(p.id, "7");
		assert_int_equal(p.node_gpus, 1);
	}
}

/* Neither a number of nodes nor of tasks that cannot be, or is not said, makes it nothing. */
static void test_gpus_of_strange_numbers(void **state)
{
	static const struct {
		const char *columns, *by_task;
		uint32_t n;
	} rows[] = {
		{"||1|OK|gres/gpu=3|1|*|", "N/A", 3},
		{"|0|1|OK|gres/gpu=3|1|*|", "N/A", 3},
		{"|1|1|OK|cpu=1|x|*|", "gpu:2", 2},
		{"|1|1|OK|cpu=1|0|*|", "gpu:2", 2},
		{"|1|1|OK|cpu=1|2147483648|*|", "gpu:4294967295,gpu:4294967295,gpu:2", UINT32_MAX},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct seen s = {.n = 0};
		char text[1024];
		int n = snprintf(text, sizeof(text),
				 "7|7|RUNNING|gpu|None|c1| |" PAYER_ACCOUNT "u|q|1:00%s" PAYER_TEXTS
				 "\n",
				 "a", rows[i].columns, "N/A", "N/A", "N/A", rows[i].by_task, "key");

		slurm_job_parse(text, (size_t)n, on_row, &s);
		assert_int_equal(s.n, 1);
		assert_int_equal(s.p[0].node_gpus, rows[i].n);
	}
}

/* A wckey is a user's text: it ends no line, and names nobody else. */
static void test_a_wckey_cannot_pass_for_a_job(void **state)
{
	struct seen s =
		parse("a|u|q|1:00|1|1|OK|N/A|1|*", "k|\n9|9|CONFIGURING|gpu|None|c1\n\x01", "");

	(void)state;
	assert_int_equal(s.n, 1);
	assert_string_equal(s.p[0].account, "a");
	assert_string_equal(s.p[0].wckey, "k|?9|9|CONFIGURING|gpu|None|c1??");
}

/* Nor does an account, which is a user's text unless slurmctld asks for associations: squeue 22.05
 * prints `sbatch -A` with bars and newlines as they are. */
static void test_an_account_cannot_pass_for_a_job(void **state)
{
	static const char *const accounts[] = {
		"a|eve|q|1:00|1|1|OK|N/A|1|*|",
		"a\n9|9|CONFIGURING|gpu|None|c1",
		"\n9|9|CONFIGURING|gpu|None|c1| |a|eve|q|1:00|1|1|OK|N/A|1|*|\n\n",
		"a| |b| |c|",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(accounts) / sizeof(accounts[0]); i++) {
		struct seen s = {.n = 0};
		char text[4096];
		int n = snprintf(text, sizeof(text),
				 "7|7|CONFIGURING|gpu|None|c1| |" PAYER_ACCOUNT
				 "u|q|1:00|1|1|OK|N/A|1|*|" PAYER_TEXTS "\n"
				 "8|8|CONFIGURING|gpu|None|c2| |" PAYER_ACCOUNT
				 "v|q|1:00|1|1|OK|N/A|1|*|" PAYER_TEXTS "\n",
				 accounts[i], "N/A", "N/A", "N/A", "N/A", "key", "b", "N/A", "N/A",
				 "N/A", "N/A", "key");

		print_message("# row %zu\n", i);
		assert_true(slurm_job_whole(text, (size_t)n));
		slurm_job_parse(text, (size_t)n, on_row, &s);
		assert_int_equal(s.n, 2);
		assert_int_equal(s.j[0].number, 7);
		assert_string_equal(s.p[0].user, "u");
		assert_int_equal(strcspn(s.p[0].account, "\n"), strlen(s.p[0].account));
		assert_int_equal(s.j[1].number, 8);
		assert_string_equal(s.p[1].account, "b");
		assert_string_equal(s.p[1].user, "v");
	}
}

#define TEXT65 "                                                                 "

static void test_texts_of_another_width_are_not_read(void **state)
{
#define TEXT62 "                                                              "
#define HEAD   "7|7|CONFIGURING|gpu|None|c1| |" TEXT62 " " TEXT65 "|"
#define ROW    HEAD "u|q|1:00|1|1|OK|N/A|1|*|"
	static const char *const texts[] = {
		ROW TEXT65 "|" TEXT65 "|" TEXT65 "|" TEXT65 "|short|\n",
		ROW TEXT65 "|" TEXT65 "|" TEXT65 "|" TEXT65 "|" TEXT65,
		ROW TEXT65 "|" TEXT65 "|" TEXT65 "|" TEXT65 "|" TEXT65 " |\n",
		ROW TEXT65 "|" TEXT65 "|" TEXT65 "| " TEXT65 "|" TEXT65 "|\n",
		ROW TEXT65 "|" TEXT65 "| " TEXT65 "|" TEXT65 "|" TEXT65 "|\n",
		ROW TEXT65 "| " TEXT65 "|" TEXT65 "|" TEXT65 "|" TEXT65 "|\n",
		ROW " " TEXT65 "|" TEXT65 "|" TEXT65 "|" TEXT65 "|" TEXT65 "|\n",
		ROW TEXT65 "|\n",
		ROW "\n",
		HEAD "u|q|1:00|1|1|OK|N/A|1|*\n",
		HEAD "u\n",
		HEAD,
		"7|7|CONFIGURING|gpu|None|c1| |a|u|q|1:00|1|1|OK|N/A|1|*|\n",
		"7|7|CONFIGURING|gpu|None|c1| |",
	};
#undef ROW
#undef HEAD

	(void)state;
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		struct seen s = {.n = 0};

		print_message("# row %zu\n", i);
		assert_false(slurm_job_whole(texts[i], strlen(texts[i])));
		slurm_job_parse(texts[i], strlen(texts[i]), on_row, &s);
		assert_int_equal(s.n, 0);
	}
}

static void test_long_names_are_cut(void **state)
{
	char account[300], columns[400];
	struct seen s;

	(void)state;
	memset(account, 'x', sizeof(account) - 1);
	account[sizeof(account) - 1] = '\0';
	(void)snprintf(columns, sizeof(columns), "%s|u|q|1:00|1|1|OK|N/A|1|*", account);
	s = parse(columns, "", "");
	assert_int_equal(strlen(s.p[0].account), PAYER_NAME_MAX);
}

/* sacctmgr 22.05 makes an account of any letters: two of them are two, and a budget that names one
 * finds it.  What may not be shown, or was cut within a letter, is replaced. */
static void test_letters_of_all_languages(void **state)
{
	static const struct {
		const char *account, *want;
	} rows[] = {
		{"gr\xc3\xb6\xc3\x9f"
		 "e",
		 "gr\xc3\xb6\xc3\x9f"
		 "e"},
		{"gr\xc3\xbc\xc3\x9f"
		 "e",
		 "gr\xc3\xbc\xc3\x9f"
		 "e"},
		{"\xe7\x89\xa9\xe7\x90\x86", "\xe7\x89\xa9\xe7\x90\x86"},
		{"gr\xc3", "gr?"},
		{"\xff\xfe", "??"},
		{"a\x1b[2Jb\xc2\x9b", "a?[2Jb??"},
		{"a\xe2\x80\xae"
		 "b",
		 "a???b"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		char columns[200];
		struct seen s;

		(void)snprintf(columns, sizeof(columns), "%s|%s|q|1:00|1|1|OK|N/A|1|*",
			       rows[i].account, rows[i].account);
		s = parse(columns, rows[i].account, "");
		print_message("# row %zu\n", i);
		assert_string_equal(s.p[0].account, rows[i].want);
		assert_string_equal(s.p[0].user, rows[i].want);
		assert_string_equal(s.p[0].wckey, rows[i].want);
	}
}

/* The widths that the parser reads are those that squeue is asked for. */
static void test_the_formats(void **state)
{
	static const char *const texts[] = {"tres-per-job", "tres-per-node", "tres-per-socket",
					    "tres-per-task", "WCKey"};

	(void)state;
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		char column[40];

		(void)snprintf(column, sizeof(column), ",%s:%d|", texts[i], SLURM_PAYER_WIDTH);
		assert_non_null(strstr(SLURM_PAYER_FORMAT, column));
	}
	assert_int_equal(SLURM_ACCOUNT_WIDTH, 128);
	assert_int_equal(PAYER_NAME_MAX, SLURM_ACCOUNT_WIDTH - 1);
	assert_non_null(strstr(SLURM_PAYER_FORMAT, "| |,Account:128|,UserName"));
	assert_memory_equal(SLURM_PAYER_FORMAT, SLURM_JOB_FORMAT "| |",
			    strlen(SLURM_JOB_FORMAT) + 3);
	assert_string_equal(SLURM_PAYER_WISHES_FORMAT + strlen(SLURM_PAYER_FORMAT), ",Feature:0");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_payer),
		cmocka_unit_test(test_wishes_stand_behind_it),
		cmocka_unit_test(test_a_user_without_a_name),
		cmocka_unit_test(test_whose_nodes_are_a_jobs_own),
		cmocka_unit_test(test_who_was_not_asked_says_nothing),
		cmocka_unit_test(test_limits),
		cmocka_unit_test(test_counts),
		cmocka_unit_test(test_gpus),
		cmocka_unit_test(test_gpus_cannot_pass_for_a_job),
		cmocka_unit_test(test_gpus_of_strange_numbers),
		cmocka_unit_test(test_a_wckey_cannot_pass_for_a_job),
		cmocka_unit_test(test_an_account_cannot_pass_for_a_job),
		cmocka_unit_test(test_texts_of_another_width_are_not_read),
		cmocka_unit_test(test_long_names_are_cut),
		cmocka_unit_test(test_letters_of_all_languages),
		cmocka_unit_test(test_the_formats),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
