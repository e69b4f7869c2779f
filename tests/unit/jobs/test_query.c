/* test_query.c - what slurmctld is asked about one job, and what becomes of its answer.
 *
 * On a bare struct engine: the clock, the timer and squeue are the test's. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "io/loop.h"
#include "jobs/jobs.h"
#include "tests/unit/engine/bare_state.h"
#include "tests/unit/payer_row.h"

enum { QUERIES = 4 };

static struct fix {
	struct engine e;
	struct conf *conf;
	char asked[64]; /* of squeue, the last time */
	unsigned nasked;
	bool broken; /* it cannot be started */
	struct refusal refusal;
	struct answer { /* to each */
		unsigned n;
		char id[40], state[20], partition[40], constraint[40], comment[40], nodes[60],
			without[40], error[256];
		char account[PAYER_NAME_MAX + 1]; /* "-": who pays is not said */
		int64_t limit_s;
		uint64_t number;
		uint32_t count, others, refusals;
		int64_t until_ms;
		int code;
	} got[QUERIES];
} F;

int64_t engine_now(const struct engine *e)
{
	(void)e;
	return 1000000;
}

void timer_at(struct timer *t, int64_t when_ms)
{
	(void)t;
	assert_int_equal(when_ms, 1000000);
}

struct refusal postpone_look(const struct engine *e, uint64_t number)
{
	(void)e;
	(void)number;
	return F.refusal;
}

bool slurm_ask_jobs(struct slurm *s, enum slurm_question q, const char *const *ids, size_t n)
{
	(void)s;
	assert_int_equal(q, SLURM_ONE_JOB);
	assert_int_equal(n, 1);
	if (F.broken)
		return false;
	(void)snprintf(F.asked, sizeof(F.asked), "%s", ids[0]);
	F.nasked++;
	return true;
}

/* Pools with c[1-4] and d1. */
static int setup(void **state)
{
	(void)state;
	F = (struct fix){.conf = conf_new("burstd.conf")};
	bare_state(&F.e);
	F.conf->cluster = mem_strdup("test");
	memcpy(F.conf->currency, "EUR", 4);
	F.conf->npools = 2;
	F.conf->pools = mem_zalloc(2 * sizeof(*F.conf->pools));
	for (int i = 0; i < 2; i++)
		F.conf->pools[i] =
			(struct conf_pool){.name = mem_strdup(i == 0 ? "c" : "d"),
					   .nodes_text = mem_strdup(i == 0 ? "c[1-4]" : "d1"),
					   .provider = mem_strdup("cloud"),
					   .type = mem_strdup("t"),
					   .region = mem_strdup("r"),
					   .zone = mem_strdup(""),
					   .max_nodes = 4,
					   .boot_ms = 60000};
	F.conf->nproviders = 1;
	F.conf->providers = mem_zalloc(sizeof(*F.conf->providers));
	F.conf->providers[0] = (struct conf_provider){
		.name = mem_strdup("cloud"), .driver = mem_strdup("fake"), .url = mem_strdup("")};
	assert_int_equal(conf_finish(F.conf, NULL), 0);
	F.e.conf = F.conf;
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	query_part.at[PART_FREE](&F.e);
	assert_null(F.e.jobs->queries);
	conf_free(F.conf);
	return 0;
}

static void copy(char *to, size_t size, const char *text)
{
	(void)snprintf(to, size, "%s", text != NULL ? text : "-");
}

static void on_job(void *ctx, const struct engine_job *j, const struct err *err)
{
	struct answer *a = ctx;

	a->n++;
	assert_true((j == NULL) != (err == NULL));
	if (err != NULL) {
		copy(a->error, sizeof(a->error), err->msg);
		a->code = err->code;
		return;
	}
	copy(a->id, sizeof(a->id), j->id);
	copy(a->state, sizeof(a->state), j->state);
	copy(a->partition, sizeof(a->partition), j->partition);
	copy(a->constraint, sizeof(a->constraint), j->constraint);
	copy(a->comment, sizeof(a->comment), j->comment);
	copy(a->nodes, sizeof(a->nodes), j->nodes);
	copy(a->without, sizeof(a->without), j->without);
	copy(a->account, sizeof(a->account), j->payer != NULL ? j->payer->account : NULL);
	a->limit_s = j->payer != NULL ? j->payer->limit_s : 0;
	a->number = j->number;
	a->count = j->count;
	a->others = j->others;
	a->refusals = j->refusals;
	a->until_ms = j->until_ms;
}

static struct engine_query *query(int i, const char *id)
{
	struct engine_query *q = engine_query_job(&F.e, id, ENGINE_ANYBODY, on_job, &F.got[i]);

	assert_non_null(q);
	query_part.at[PART_SEND](&F.e);
	return q;
}

/* squeue's answer: rows that end with newlines, each with that comment. */
static void squeue(const char *rows, const char *comment)
{
	static char text[4 * (SLURM_COMMENT_WIDTH + 200)];
	size_t n = 0;

	for (const char *end; *rows != '\0'; rows = end + 1) {
		end = strchr(rows, '\n');
		n += (size_t)snprintf(text + n, sizeof(text) - n, "%.*s %-*s\n", (int)(end - rows),
				      rows, SLURM_COMMENT_WIDTH, comment);
	}
	query_answer(&F.e, text, n, NULL);
	query_part.at[PART_SEND](&F.e);
}

static void a_job_is_told_as_squeue_shows_it(void **state)
{
	static const struct {
		const char *rows;
		const char *id, *state, *constraint, *nodes, *without;
		uint32_t count, others;
	} rows[] = {
		{"7|7|PENDING|cloud|Resources||1000|2||(null)||spot|x\n", "7", "PENDING", "spot|x",
		 "-", "-", 2, 0},
		/* What it has, of ours. */
		{"7|7|CONFIGURING|cloud|None|c[1-2],x1|1000|3|c1|(null)|c4|(null)\n", "7",
		 "CONFIGURING", "-", "c1,c2", "c4", 3, 0},
		/* What it insists on; some of what it needs is not all of it. */
		{"7|7|PENDING|cloud|Priority||1000|2|c[2-3]|c1||(null)\n", "7", "PENDING", "-",
		 "c2,c3", "-", 2, 0},
		{"7|7|PENDING|cloud|Priority||1000|3|c[2-3]|(null)||(null)\n", "7", "PENDING", "-",
		 "-", "-", 3, 0},
		{"7|7|PENDING|cloud|Priority||1000|2|c2,c2|(null)||(null)\n", "7", "PENDING", "-",
		 "-", "-", 2, 0},
		/* What slurmctld means to give it. */
		{"7|7|PENDING|cloud|Resources||1000|2||x1,d1||(null)\n", "7", "PENDING", "-", "d1",
		 "-", 2, 0},
		/* Of an array what waits still, as the number of all. */
		{"8|7_1|RUNNING|cloud|None|c1|1000|1||(null)||(null)\n"
		 "7|7_[3-9]|PENDING|cloud|Resources||1000|1||(null)||(null)\n"
		 "9|7_2|COMPLETED|cloud|None|c2|1000|1||(null)||(null)\n",
		 "7", "PENDING", "-", "-", "-", 1, 2},
		{"8|7_1|COMPLETED|cloud|None|c1|1000|1||(null)||(null)\n"
		 "9|7_2|CONFIGURING|cloud|None|c2|1000|1||(null)||(null)\n",
		 "7_2", "CONFIGURING", "-", "c2", "-", 1, 1},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const struct answer *a = &F.got[0];

		print_message("# %s", rows[i].rows);
		F.got[0] = (struct answer){.n = 0};
		(void)query(0, "7");
		assert_string_equal(F.asked, "7");
		assert_int_equal(a->n, 0);
		squeue(rows[i].rows, "burst:spot");
		assert_int_equal(a->n, 1);
		assert_string_equal(a->error, "");
		assert_string_equal(a->id, rows[i].id);
		assert_string_equal(a->state, rows[i].state);
		assert_string_equal(a->partition, "cloud");
		assert_string_equal(a->constraint, rows[i].constraint);
		assert_string_equal(a->comment, "burst:spot");
		assert_string_equal(a->nodes, rows[i].nodes);
		assert_string_equal(a->without, rows[i].without);
		assert_int_equal(a->count, rows[i].count);
		assert_int_equal(a->others, rows[i].others);
		assert_int_equal(a->refusals, 0);
		assert_string_equal(a->account, "-");
	}
}

/* Between what it needs and what it wishes; a wckey of its user's passes for nothing else. */
static void who_pays_is_told_too(void **state)
{
	char row[1000];

	(void)state;
	(void)payer_row(row, sizeof(row),
			"7|7|PENDING|cloud|Resources||1000|2||(null)|c4| |physics|ann|normal|"
			"4:00:00|2|192|NO|cpu=192,gres/gpu=16|2|*|",
			"|8|8|PENDING|", "spot|x");
	(void)query(0, "7");
	squeue(row, "burst:spot");
	assert_string_equal(F.got[0].error, "");
	assert_string_equal(F.got[0].account, "physics");
	assert_int_equal(F.got[0].limit_s, 14400);
	assert_string_equal(F.got[0].constraint, "spot|x");
	assert_string_equal(F.got[0].comment, "burst:spot");
	assert_string_equal(F.got[0].without, "c4");
	assert_int_equal(F.got[0].count, 2);
}

static void a_job_that_was_refused_says_how_often_and_until_when(void **state)
{
	(void)state;
	F.refusal = (struct refusal){.count = 2, .first_ms = 900000, .last_ms = 990000};
	(void)query(0, "7");
	squeue("7|7|PENDING|cloud|BeginTime||1000|1||(null)||(null)\n", "(null)");
	assert_int_equal(F.got[0].refusals, 2);
	assert_true(F.got[0].until_ms > 1000000);
	assert_string_equal(F.got[0].comment, "-");
	F.refusal.last_ms = 900000; /* its time has come */
	(void)query(1, "7");
	squeue("7|7|PENDING|cloud|Resources||1000|1||(null)||(null)\n", "(null)");
	assert_int_equal(F.got[1].refusals, 2);
	assert_int_equal(F.got[1].until_ms, 0);
}

static void what_is_no_job_of_ours_is_an_error_in_one_sentence(void **state)
{
	static const struct {
		const char *rows, *error;
	} rows[] = {
		{"", "slurmctld knows no job 7"},
		{"7|7|COMPLETED|cloud|None|c1|1000|1||(null)||(null)\n",
		 "job 7 has ended: COMPLETED"},
		{"7|7|RUNNING|cpu|None|x[1-2]|1000|2||(null)||(null)\n",
		 "no pool names a node of job 7 (x[1-2]): burstd buys nothing for it"},
		{"7|7|PENDING|cpu|None||1000|1||x2||(null)\n",
		 "no pool names a node of job 7 (x2): burstd buys nothing for it"},
	};
	const struct err away = {.code = ERR_NET, .msg = "squeue: exit status 1: no"};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		F.got[0] = (struct answer){.n = 0};
		(void)query(0, "7");
		squeue(rows[i].rows, "");
		assert_string_equal(F.got[0].error, rows[i].error);
		assert_int_equal(F.got[0].code, ERR_INVALID);
	}
	(void)query(1, "7");
	query_answer(&F.e, NULL, 0, &away);
	assert_string_equal(F.got[1].error, "slurmctld does not answer: squeue: exit status 1: no");
	assert_int_equal(F.got[1].code, ERR_NET);
	(void)query(2, "7");
	query_answer(&F.e, "7|7|PENDING|c|N||1000|1||||x y\n", 31, NULL);
	assert_string_equal(F.got[2].error,
			    "cannot parse squeue's output: a comment has the wrong width");
	F.broken = true;
	(void)query(3, "7");
	assert_string_equal(F.got[3].error, "squeue cannot be started");
}

/* Another user's is as good as none, whatever there would be to say of it. */
static void a_user_is_told_of_jobs_of_his_own_alone(void **state)
{
	static const struct {
		int64_t uid;
		const char *rows, *error;
	} rows[] = {
		{1000, "7|7|PENDING|cloud|None||1000|1||(null)||(null)\n", ""},
		{1001, "7|7|PENDING|cloud|None||1000|1||(null)||(null)\n",
		 "slurmctld knows no job 7 of yours"},
		{1001, "", "slurmctld knows no job 7 of yours"},
		{1001, "7|7|COMPLETED|cloud|None|c1|1000|1||(null)||(null)\n",
		 "slurmctld knows no job 7 of yours"},
		{1001, "7|7|RUNNING|cpu|None|x1|1000|1||(null)||(null)\n",
		 "slurmctld knows no job 7 of yours"},
		/* root's, and what no uid can be, is nobody's but root's. */
		{1000, "7|7|PENDING|cloud|None||0|1||(null)||(null)\n",
		 "slurmctld knows no job 7 of yours"},
		{0, "7|7|PENDING|cloud|None||0|1||(null)||(null)\n", ""},
		{0, "7|7|PENDING|cloud|None||-2|1||(null)||(null)\n",
		 "slurmctld knows no job 7 of yours"},
		{ENGINE_ANYBODY, "7|7|PENDING|cloud|None||-2|1||(null)||(null)\n", ""},
		{ENGINE_ANYBODY, "7|7|PENDING|cloud|None||1000|1||(null)||(null)\n", ""},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		print_message("# %d %s\n", (int)rows[i].uid, rows[i].rows);
		F.got[0] = (struct answer){.n = 0};
		assert_non_null(engine_query_job(&F.e, "7", rows[i].uid, on_job, &F.got[0]));
		query_part.at[PART_SEND](&F.e);
		squeue(rows[i].rows, "");
		assert_int_equal(F.got[0].n, 1);
		assert_string_equal(F.got[0].error, rows[i].error);
		if (rows[i].error[0] == '\0')
			assert_string_equal(F.got[0].id, "7");
	}
}

static void who_asks_is_answered_in_turn_and_who_has_left_is_not(void **state)
{
	struct engine_query *q[QUERIES];

	(void)state;
	q[0] = query(0, "1");
	q[1] = query(1, "2");
	q[2] = query(2, "3");
	q[3] = query(3, "4");
	assert_string_equal(F.asked, "1");
	engine_query_cancel(q[2]);
	engine_query_cancel(q[0]); /* squeue runs for it */
	assert_int_equal(F.nasked, 1);
	squeue("1|1|PENDING|cloud|None||1000|1||(null)||(null)\n", "");
	assert_string_equal(F.asked, "2");
	squeue("2|2|PENDING|cloud|None||1000|1||(null)||(null)\n", "");
	assert_string_equal(F.asked, "4");
	assert_int_equal(F.nasked, 3);
	assert_int_equal(F.got[0].n, 0);
	assert_int_equal(F.got[1].n, 1);
	assert_string_equal(F.got[1].id, "2");
	assert_int_equal(F.got[2].n, 0);
	assert_int_equal(F.got[3].n, 0); /* it is freed as it is */
}

static void only_the_id_of_one_job_is_asked_about(void **state)
{
	static const char *const good[] = {"7", "7_2", "7+1", "4294967295"};
	static const char *const bad[] = {
		"",        "0",    "-7",  "7,8", "7 8",
		"7_[1-2]", "7_",   "7+",  "_1",  "7_2_3",
		"7a",      "--me", "7\n", "07",  "12345678901234567890123456789012"};

	(void)state;
	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++)
		assert_true(slurm_job_is_id(good[i]));
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		assert_false(slurm_job_is_id(bad[i]));
		assert_null(engine_query_job(&F.e, bad[i], ENGINE_ANYBODY, on_job, NULL));
	}
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
	const struct CMUnitTest tests[] = {
		T(a_job_is_told_as_squeue_shows_it),
		T(who_pays_is_told_too),
		T(a_job_that_was_refused_says_how_often_and_until_when),
		T(what_is_no_job_of_ours_is_an_error_in_one_sentence),
		T(a_user_is_told_of_jobs_of_his_own_alone),
		T(who_asks_is_answered_in_turn_and_who_has_left_is_not),
		T(only_the_id_of_one_job_is_asked_about),
	};
#undef T

	return cmocka_run_group_tests_name("query", tests, NULL, NULL);
}
