/* test_joblist.c - the table of jobs: which are in it, when squeue is asked for it, and when nobody
 * may see it.
 *
 * On a bare struct engine: slurmctld, squeue and the jobs that wait are the test's. */
#include "cloud/cloud.h"
#include "jobs/jobs.h"
#include "tests/unit/engine/bare_engine.h"
#include "tests/unit/engine/bare_state.h"

enum { LOOK_MS = 30000, WAITS_MAX = 3 };

static struct fix {
	struct engine e;
	struct conf conf;
	bool coming;
	unsigned looks;
	struct engine_joblist_job waits[WAITS_MAX];
	size_t nwaits;
	char seen[400]; /* of each row: "STATE ID PARTITION pool nodes;" */
	int64_t since[8];
	size_t n;
} F;

void jobs_want(struct engine *e, enum jobs_for who)
{
	(void)e;
	assert_int_equal(who, JOBS_FOR_LIST);
	F.coming = true;
	F.looks++;
}

bool jobs_coming(const struct engine *e, enum jobs_for who)
{
	(void)e;
	assert_int_equal(who, JOBS_FOR_LIST);
	return F.coming;
}

bool postpone_each(const struct engine *e, const void **at, struct engine_joblist_job *out)
{
	const struct engine_joblist_job *next = *at == NULL ? F.waits : *at;

	(void)e;
	if (next == F.waits + F.nwaits)
		return false;
	*out = *next;
	*at = next + 1;
	return true;
}

static char listen[] = "127.0.0.1:1", nowhere[] = "";

static void settings(const char *text)
{
	joblist_part.settings(&F.e, text, strlen(text), W.now);
}

static int setup(void **state)
{
	(void)state;
	W = (struct world){.now = BEGAN};
	F = (struct fix){.conf = {.listen = listen, .listen_jobs = true}};
	bare_state(&F.e);
	F.e.conf = &F.conf;
	fleet_init(&F.e.fleet, 2);
	for (int i = 1; i <= 4; i++) {
		char name[8];

		(void)snprintf(name, sizeof(name), "c%d", i);
		fleet_name(&F.e.fleet, name, i > 2)->listed = true;
	}
	(void)fleet_name(&F.e.fleet, "gone1", 0); /* no pool names it any more */
	job_table_part.at[PART_INIT](&F.e);
	joblist_part.at[PART_INIT](&F.e);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	joblist_part.at[PART_FREE](&F.e);
	job_table_part.at[PART_FREE](&F.e);
	fleet_fini(&F.e.fleet);
	return 0;
}

static void run(int64_t later_ms)
{
	W.now += later_ms;
	if (joblist_part.next_ms(&F.e) <= W.now || !F.conf.listen_jobs)
		joblist_part.at[PART_RUN](&F.e);
}

static void shows(const char *text)
{
	joblist_part.squeue_begins(&F.e);
	W.now += 100;
	F.coming = false;
	joblist_part.squeue_says(&F.e, text, strlen(text), NULL);
}

static void note(void *ctx, const struct engine_joblist_job *j)
{
	static const char states[] = "wbre";
	char row[100];

	(void)ctx;
	(void)snprintf(row, sizeof(row), "%c %s %s %u %u%s;", states[j->state], j->id, j->partition,
		       j->pool, j->nodes, j->loses ? " loses" : "");
	add(F.seen, sizeof(F.seen), row, "", "");
	F.since[F.n++ % 8] = j->since_ms;
}

static void seen(const char *want)
{
	F.seen[0] = '\0';
	F.n = 0;
	engine_joblist(&F.e, note, NULL);
	assert_string_equal(F.seen, want);
}

static void who_is_in_it(void **state)
{
	static const struct {
		const char *line, *row;
	} rows[] = {
		{"9|7_2|RUNNING|gpu|None|c[1-2]\n", "r 7_2 gpu 0 2;"},
		{"7|7|CONFIGURING|gpu|None|c1\n", "b 7 gpu 0 1;"},
		{"7|7|COMPLETING|gpu|None|c3\n", "e 7 gpu 1 1;"},
		{"7|7|SUSPENDED|gpu|None|c3\n", "r 7 gpu 1 1;"},
		{"7|7|RUNNING|gpu|None|own[1-9],c[3-4]\n", "r 7 gpu 1 2;"}, /* only ours count */
		{"7|7|RUNNING|gpu|None|own[1-9]\n", ""},
		{"7|7|RUNNING|gpu|None|gone1\n", ""},
		{"7|7|RUNNING|gpu|None|c[1-2\n", ""},
		{"7|7|PENDING|gpu|Resources|\n", ""},
		{"7|7|COMPLETED|gpu|None|c1\n", ""},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		print_message("# %s", rows[i].line);
		shows(rows[i].line);
		seen(rows[i].row);
	}
}

/* By their numbers, and each with the time since when it has been seen so. */
static void rows_keep_their_time(void **state)
{
	int64_t first;

	(void)state;
	assert_int_equal(engine_joblist_ms(&F.e), 0);
	shows("9|9|CONFIGURING|gpu|None|c3\n7|7|RUNNING|gpu|None|c1\n");
	first = W.now;
	assert_int_equal(engine_joblist_ms(&F.e), first - 100);
	seen("r 7 gpu 0 1;b 9 gpu 1 1;");
	assert_int_equal(F.since[0], first);
	W.now += 5000;
	shows("7|7|RUNNING|gpu|None|c1\n9|9|RUNNING|gpu|None|c3\n8|8|RUNNING|gpu|None|c2\n");
	seen("r 7 gpu 0 1;r 8 gpu 0 1;r 9 gpu 1 1;");
	assert_int_equal(F.since[0], first);
	assert_int_equal(F.since[1], W.now);
	assert_int_equal(F.since[2], W.now); /* it boots no more */
	(void)job_get(&F.e, 8, JOB_RESCUED, sizeof(struct rescue));
	seen("r 7 gpu 0 1;r 8 gpu 0 1 loses;r 9 gpu 1 1;");
}

/* An answer that is broken says nothing. */
static void the_last_answer_stands(void **state)
{
	const struct err failed = {.code = ERR_IO};

	(void)state;
	shows("7|7|RUNNING|gpu|None|c1\n");
	joblist_part.squeue_begins(&F.e);
	joblist_part.squeue_says(&F.e, NULL, 0, &failed);
	seen("r 7 gpu 0 1;");
	shows("");
	seen("");
}

/* squeue may be older than the refusal, or the job may have begun since: it is there once. */
static void one_that_waits_is_there_once(void **state)
{
	(void)state;
	F.nwaits = 2;
	F.waits[0] =
		(struct engine_joblist_job){.number = 7, .id = "7", .partition = "", .pool = 1};
	F.waits[1] =
		(struct engine_joblist_job){.number = 8, .id = "8", .partition = "", .pool = 0};
	seen("w 7  1 0;w 8  0 0;");
	shows("8|8|RUNNING|gpu|None|c1\n");
	seen("w 7  1 0;r 8 gpu 0 1;");
	shows("8|8|COMPLETING|gpu|None|c1\n"); /* its nodes are sent back */
	seen("w 7  1 0;w 8  0 0;e 8 gpu 0 1;");
}

static void squeue_is_asked_each_half_minute(void **state)
{
	(void)state;
	run(0);
	assert_int_equal(F.looks, 1);
	run(LOOK_MS); /* it has not answered */
	assert_int_equal(F.looks, 1);
	shows("");
	run(0);
	assert_int_equal(F.looks, 2);
	shows("");
	run(LOOK_MS - 101);
	assert_int_equal(F.looks, 2);
	run(1);
	assert_int_equal(F.looks, 3);
}

/* While the option is off, or nobody listens, slurmctld is not asked, and nothing is kept. */
static void off_costs_nothing(void **state)
{
	(void)state;
	shows("7|7|RUNNING|gpu|None|c1\n");
	F.conf.listen_jobs = false;
	assert_int_equal(joblist_part.next_ms(&F.e), INT64_MAX);
	run(LOOK_MS);
	assert_int_equal(F.looks, 0);
	assert_int_equal(engine_joblist_ms(&F.e), 0);
	seen("");
	shows("7|7|RUNNING|gpu|None|c1\n"); /* it was under way */
	seen("");
	F.conf.listen_jobs = true;
	F.conf.listen = nowhere;
	run(LOOK_MS);
	assert_int_equal(F.looks, 0);
	F.conf.listen = listen;
	run(0);
	assert_int_equal(F.looks, 1);
}

static void who_may_see_it(void **state)
{
	static const struct {
		const char *text;
		char so; /* o: open, p: private, u: not known */
	} rows[] = {
		{"PrivateData             = none\nMCSPlugin = (null)\n", 'o'},
		{"PrivateData             = cloud\nMCSPlugin = mcs/none\n", 'o'},
		{"PrivateData             = cloud,nodes,users\nMCSPlugin = none\n", 'o'},
		{"PrivateData             = \n", 'o'},
		{"PrivateData             = jobs\nMCSPlugin = (null)\n", 'p'},
		{"PrivateData             = accounts,cloud,jobs,usage\n", 'p'},
		{"PrivateData             = all\n", 'p'},
		{"PrivateData             = none\nMCSPlugin = mcs/user\n", 'p'},
		{"PrivateData             = none\nMCSPlugin = label\n", 'p'},
		{"MCSPlugin = (null)\n", 'u'},
		{"", 'u'},
	};

	(void)state;
	assert_string_equal(engine_joblist_private(&F.e), "");
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const char *why;

		print_message("# row %zu\n", i);
		settings(rows[i].text);
		why = engine_joblist_private(&F.e);
		assert_int_equal(why == NULL ? 'o' : why[0] != '\0' ? 'p' : 'u', rows[i].so);
	}
}

/* Beyond a thousand they are counted. */
static void so_many_are_remembered(void **state)
{
	const size_t n = ENGINE_JOBLIST_MAX + 7, line = 40;
	char *text = mem_zalloc(n * line);
	size_t len = 0;

	(void)state;
	for (size_t i = n; i > 0; i--)
		len += (size_t)snprintf(text + len, line, "%zu|%zu|RUNNING|gpu|None|c1\n", i, i);
	shows(text);
	assert_int_equal(engine_joblist_more(&F.e), 7);
	F.n = 0;
	engine_joblist(&F.e, note, NULL);
	assert_int_equal(F.n, ENGINE_JOBLIST_MAX);
	shows("7|7|RUNNING|gpu|None|c1\n");
	assert_int_equal(engine_joblist_more(&F.e), 0);
	seen("r 7 gpu 0 1;");
	free(text);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(who_is_in_it),
		TEST(rows_keep_their_time),
		TEST(the_last_answer_stands),
		TEST(one_that_waits_is_there_once),
		TEST(squeue_is_asked_each_half_minute),
		TEST(off_costs_nothing),
		TEST(who_may_see_it),
		TEST(so_many_are_remembered),
	};

	return cmocka_run_group_tests_name("joblist", tests, NULL, NULL);
}
