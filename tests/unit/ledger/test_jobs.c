/* test_jobs.c - Slurm is asked for what is new, by programs that answer, fail, print too much, or
 * say that there is no accounting; and journals that are away, new or too new. */
#include <fcntl.h>
#include <sys/stat.h>

#include "fixture.h"
#include "ledger/child.h"

/* A program in the fixture's directory, which is slurm_bin. */
static void program(const struct fixture *f, const char *name, const char *script)
{
	char path[80];
	FILE *out;

	(void)snprintf(path, sizeof(path), "%s/%s", f->dir, name);
	out = fopen(path, "w");
	assert_non_null(out);
	(void)fprintf(out, "#!/bin/sh\ncd %s\n%s", f->dir, script);
	assert_int_equal(fclose(out), 0);
	assert_int_equal(chmod(path, 0755), 0);
}

/* Prints the file `jobs`, with the delimiter in place of ';', and notes the window, from s to e. */
#define SACCT_BEGIN                                                                                \
	"for a; do case $a in --delimiter=*) d=${a#*=} ;; --starttime=uts*) s=${a#*uts} ;;"        \
	" --endtime=uts*) e=${a#*uts} ;; esac; done\n"                                             \
	"echo \"$s $e\" >>windows\n[ \"$SLURM_TIME_FORMAT\" = %s ] || exit 9\n"
#define SACCT_SCRIPT SACCT_BEGIN "sed \"s/;/$d/g\" jobs\n"

static void jobs_file(const struct fixture *f, const char *text)
{
	char path[80];
	FILE *out;

	(void)snprintf(path, sizeof(path), "%s/jobs", f->dir);
	out = fopen(path, "w");
	assert_non_null(out);
	(void)fputs(text, out);
	assert_int_equal(fclose(out), 0);
}

static void line(char *out, size_t size, int number, int64_t start, const char *end,
		 const char *state)
{
	(void)snprintf(out, size,
		       "%d;%d;%d;%lld;%lld;%s;%s;1;c1;0;cpu=8,node=1,gres/gpu=8;;u;p;q;a;;n;\n",
		       number, number * 10, number, (long long)(T0 + start),
		       (long long)(T0 + start), end, state);
}

static struct fixture *begin(void **state)
{
	struct fixture *f = *state;

	f->pass.jobs.slurm_bin = f->dir;
	machine(f, "c1");
	life(f, "c1", "wanted", 0, 0);
	life(f, "c1", "created", 10, 0);
	life(f, "c1", "ready", 20, 0);
	pass(f, 30);
	return f;
}

static int64_t jobs_read_at(const struct fixture *f, int64_t at)
{
	struct err e = {0};
	int64_t until;

	if (jobs_read(&f->pass.jobs, (T0 + at) * 1000, &e) < 0)
		fail_msg("%s", e.msg);
	assert_int_equal(ledger_number(f->l, LEDGER_JOBS_MS, &until, &e), 0);
	return until == 0 ? 0 : until / 1000 - T0;
}

static void assert_note(const struct fixture *f, const char *key, const char *want)
{
	struct err e = {0};
	char *text;

	assert_int_equal(ledger_note(f->l, key, &text, &e), 0);
	if (want[0] == '\0' ? text[0] != '\0' : strstr(text, want) == NULL)
		fail_msg("%s: \"%s\", not \"%s\"", key, text, want);
	free(text);
}

static int64_t window(const struct fixture *f, int number, int which)
{
	char path[80];
	long long from = 0, to = 0;
	FILE *in;

	(void)snprintf(path, sizeof(path), "%s/windows", f->dir);
	in = fopen(path, "r");
	assert_non_null(in);
	for (int i = 0; i <= number; i++)
		assert_int_equal(fscanf(in, "%lld %lld", &from, &to), 2);
	fclose(in);
	return (which == 0 ? from : to) - T0;
}

static void test_windows(void **state)
{
	struct fixture *f = begin(state);
	char text[300];

	program(f, "sacct", SACCT_SCRIPT);
	line(text, sizeof(text), 7, 100, "Unknown", "RUNNING");
	jobs_file(f, text);
	assert_int_equal(jobs_read_at(f, 200), 200);
	assert_int_equal(window(f, 0, 0), -3600); /* before the first fact */
	assert_int_equal(window(f, 0, 1), 200);
	assert_note(f, LEDGER_SOURCE, "sacct");
	assert_int_equal(ask(f->ledger, "SELECT COUNT(*) FROM attempt WHERE running"), 1);
	/* Nobody looked for two days and a half: windows of a day, from an hour before on. */
	line(text, sizeof(text), 7, 150, "1794269300", "COMPLETED"); /* it began anew */
	jobs_file(f, text);
	assert_int_equal(jobs_read_at(f, 216000), 216000);
	assert_int_equal(window(f, 1, 0), 200 - 3600 < -3600 ? -3600 : -3600); /* all once a day */
	assert_int_equal(window(f, 1, 1), 86400 - 3600);
	assert_int_equal(window(f, 3, 1), 216000);
	assert_int_equal(ask(f->ledger, "SELECT COUNT(*) FROM attempt"), 1);
	assert_int_equal(ask(f->ledger, "SELECT start_s FROM attempt"), T0 + 150);
	assert_int_equal(ask(f->ledger, "SELECT running FROM attempt"), 0);
	assert_int_equal(jobs_read_at(f, 216060), 216060);
	assert_int_equal(window(f, 4, 0), 216000 - 3600);
	/* The last days once more; that it fails in the middle takes nothing back. */
	program(f, "sacct", SACCT_SCRIPT "[ $(wc -l <windows) -lt 7 ]\n");
	assert_int_equal(jobs_read_at(f, 310000), 216060);
	assert_int_equal(window(f, 5, 0), 310000 - 72 * 3600);
}

/* Slurm had lost the end of a job, and an admin has told it days later: no window of the last days
 * has it.  What is nowhere is asked for once a day. */
static void test_an_end_of_long_ago(void **state)
{
	struct fixture *f = begin(state);
	char text[600];

	program(f, "sacct", SACCT_SCRIPT);
	line(text, sizeof(text), 7, 100, "Unknown", "RUNNING");
	line(text + strlen(text), sizeof(text) - strlen(text), 8, 200, "Unknown", "RUNNING");
	jobs_file(f, text);
	assert_int_equal(jobs_read_at(f, 300), 300);
	assert_int_equal(ask(f->ledger, "SELECT COUNT(*) FROM attempt WHERE running"), 2);
	line(text, sizeof(text), 7, 100, "1794269300", "FAILED");
	jobs_file(f, text);
	program(f, "sacct",
		SACCT_BEGIN "[ $s-$e = 1794268900-1794268901 ] && sed \"s/;/$d/g\" jobs; exit 0\n");
	exec(f->ledger, "UPDATE number SET value = value + 900000000 WHERE key = 'jobs_ms'");
	exec(f->ledger, "UPDATE number SET value = value + 900000000 WHERE key = 'deep_ms'");
	assert_int_equal(jobs_read_at(f, 900400), 900400); /* the last days are not due */
	assert_int_equal(ask(f->ledger, "SELECT COUNT(*) FROM attempt WHERE running"), 2);
	exec(f->ledger, "UPDATE number SET value = 0 WHERE key = 'deep_ms'");
	assert_int_equal(jobs_read_at(f, 900460), 900460);
	assert_int_equal(ask(f->ledger, "SELECT running FROM attempt WHERE job = 7"), 0);
	assert_int_equal(ask(f->ledger, "SELECT end_s FROM attempt WHERE job = 7"), 1794269300);
	assert_int_equal(ask(f->ledger, "SELECT running FROM attempt WHERE job = 8"), 1);
	assert_int_equal(jobs_read_at(f, 900520), 900520);
	assert_int_equal(ask(f->ledger, "SELECT COUNT(*) FROM attempt"), 2);
}

static int take_time(void *ctx, int64_t s, struct err *e)
{
	int64_t *sum = ctx;

	(void)e;
	*sum = 10 * *sum + s - T0;
	return 0;
}

/* Of many those that were not seen for longest. */
static void test_whom_to_ask_for(void **state)
{
	static const int64_t seen[] = {30, 10, 20, 10, 40};
	struct fixture *f = *state;
	struct err e = {0};

	for (int i = 0; i < 5; i++) {
		job(f, &(struct job){i + 1, 1, i + 1, i == 4 ? 50 : 0, "RUNNING", "c1"});
		exec(f->ledger, "UPDATE attempt SET seen_ms = %lld WHERE job = %d",
		     (long long)seen[i], i + 1);
	}
	for (unsigned limit = 1; limit < 7; limit++) {
		static const int64_t want[] = {0, 2, 24, 243, 243, 243, 243};
		int64_t sum = 0;

		assert_int_equal(ledger_unseen(f->l, SACCT, 30, limit, take_time, &sum, &e), 0);
		assert_int_equal(sum, want[limit]);
		sum = 0;
		assert_int_equal(ledger_unseen(f->l, SQUEUE, 30, limit, take_time, &sum, &e), 0);
		assert_int_equal(sum, 0);
	}
}

static void test_nodes_of_others(void **state)
{
	struct fixture *f = begin(state);

	program(f, "sacct", SACCT_SCRIPT);
	jobs_file(f,
		  "1;1;1;5;1794268900;1794268950;COMPLETED;2;static[1-2];0;cpu=8;;u;p;q;a;;n;\n"
		  "2;2;2;5;1794268900;1794268950;COMPLETED;3;c1,static[1-2];0;cpu=9,node=3;;u;p;"
		  "q;a;;n;\n"
		  "3;3;3;5;1794268900;1794268950;COMPLETED;3;c[1-;0;cpu=9,node=3;;u;p;q;a;;n;\n");
	assert_int_equal(jobs_read_at(f, 1000), 1000);
	assert_int_equal(ask(f->ledger, "SELECT COUNT(*) FROM attempt"), 1);
	assert_int_equal(ask(f->ledger, "SELECT job FROM attempt"), 2);
	assert_int_equal(ask(f->ledger, "SELECT cpus FROM attempt"), 3);
	assert_int_equal(ask(f->ledger, "SELECT COUNT(*) FROM attempt_on"), 1);
}

/* A sacct that fails, that prints the half of it, that is not there: a wait, and nothing is kept.
 */
static void test_failures(void **state)
{
	struct fixture *f = begin(state);
	static const struct {
		const char *script, *why;
	} rows[] = {
		{"echo 'sacct: error: slurm_persist_conn_open' >&2; exit 1\n", "slurm_persist"},
		{SACCT_SCRIPT "printf '7;'\n", "not whole"},
		{"kill -9 $$\n", "exit status 137"},
		{NULL, "No such file"},
	};
	char text[300], path[80];

	line(text, sizeof(text), 7, 100, "Unknown", "RUNNING");
	jobs_file(f, text);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		print_message("# %s\n", rows[i].why);
		(void)snprintf(path, sizeof(path), "%s/sacct", f->dir);
		if (rows[i].script != NULL)
			program(f, "sacct", rows[i].script);
		else
			assert_int_equal(unlink(path), 0);
		assert_int_equal(jobs_read_at(f, 200), 0);
		assert_note(f, LEDGER_JOBS_WHY, rows[i].why);
		assert_int_equal(ask(f->ledger, "SELECT COUNT(*) FROM attempt"), 0);
	}
	program(f, "sacct", SACCT_SCRIPT);
	assert_int_equal(jobs_read_at(f, 300), 300);
	assert_note(f, LEDGER_JOBS_WHY, "");
}

static void test_no_accounting(void **state)
{
	struct fixture *f = begin(state);

	program(f, "sacct", "echo 'Slurm accounting storage is disabled' >&2; exit 1\n");
	/* squeue's delimiter is in its format, behind JobID. */
	program(f, "squeue",
		"for a; do f=$a; done; d=${f#JobID:0}; d=${d%%,*}; sed \"s/;/$d/g\" jobs\n");
	jobs_file(f,
		  "7;7;90;1794268900;N/A;RUNNING;1;c1;8;gpu:8;N/A;N/A;N/A;*;1;u;p;q;a;(null);n;\n"
		  "8;8;90;1794268905;N/A;RUNNING;1;c1;8;gpu:8;N/A;N/A;N/A;*;1;u;p;q;a;(null);n;\n");
	assert_int_equal(jobs_read_at(f, 200), 200);
	assert_note(f, LEDGER_SOURCE, "squeue");
	assert_int_equal(ask(f->ledger, "SELECT COUNT(*) FROM attempt WHERE running"), 2);
	/* 7 has ended, 8 is forgotten: what was seen of it is kept. */
	jobs_file(f, "7;7;90;1794268900;1794269000;COMPLETED;1;c1;8;gpu:8;N/A;N/A;N/"
		     "A;*;1;u;p;q;a;(null);n;\n");
	assert_int_equal(jobs_read_at(f, 700), 700);
	assert_int_equal(ask(f->ledger, "SELECT end_s FROM attempt WHERE job = 7"), 1794269000);
	assert_int_equal(ask(f->ledger, "SELECT running FROM attempt WHERE job = 8"), 1);
	assert_int_equal(jobs_read_at(f, 900), 900);
	assert_int_equal(ask(f->ledger, "SELECT running FROM attempt WHERE job = 8"), 0);
	assert_int_equal(ask(f->ledger, "SELECT end_s FROM attempt WHERE job = 8"), T0 + 200);
}

static bool always(void)
{
	return true;
}

static void test_programs(void **state)
{
	const struct fixture *f = *state;
	static const struct {
		const char *script;
		int64_t timeout_ms;
		size_t max;
		bool (*stops)(void);
		int rc, status;
		enum err_code code;
	} rows[] = {
		{"echo out; echo why >&2; exit 3\n", 5000, 100, NULL, 0, 3, ERR_NONE},
		{"sleep 60\n", 100, 100, NULL, -1, 137, ERR_NET},
		{"sleep 60 & exit 0\n", 200, 100, NULL, -1, 0, ERR_NET}, /* it holds the pipe */
		{"exec >&- 2>&-; sleep 60\n", 200, 100, NULL, -1, 137, ERR_NET},
		{"yes\n", 5000, 1000, NULL, -1, 137, ERR_LIMIT},
		{"yes >&2 & echo out; sleep 0.1; kill $!\n", 5000, 1000, NULL, 0, 0, ERR_NONE},
		{"sleep 60\n", 60000, 100, always, -1, 137, ERR_CANCELLED},
		{"exec >&- 2>&-; sleep 0.1; exit 4\n", 5000, 100, NULL, 0, 4, ERR_NONE},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		char path[80];
		const char *argv[] = {path, NULL}, *envp[] = {"PATH=/usr/bin:/bin", NULL};
		const struct child_call call = {.argv = argv,
						.envp = envp,
						.timeout_ms = rows[i].timeout_ms,
						.stops = rows[i].stops};
		struct str out, errors;
		struct err e = {0};
		int status = -1;

		print_message("# %s", rows[i].script);
		program(f, "some", rows[i].script);
		(void)snprintf(path, sizeof(path), "%s/some", f->dir);
		str_init(&out, rows[i].max);
		str_init(&errors, CHILD_ERRORS_MAX);
		assert_int_equal(child_run(&call, &out, &errors, &status, &e), rows[i].rc);
		assert_int_equal(e.code, rows[i].code);
		assert_int_equal(status, rows[i].status);
		if (i == 0)
			assert_string_equal(out.p, "out\n");
		if (i == 0)
			assert_string_equal(errors.p, "why\n");
		assert_true(out.len <= rows[i].max && errors.len <= CHILD_ERRORS_MAX);
		str_fini(&out);
		str_fini(&errors);
	}
}

/* --- journals ----------------------------------------------------------------------------------
 */

static void test_a_journal_that_is_away(void **state)
{
	struct fixture *f = begin(state);
	struct err e = {0};
	char moved[80];

	(void)snprintf(moved, sizeof(moved), "%s/moved.db", f->dir);
	assert_int_equal(rename(f->journal, moved), 0);
	assert_int_equal(pass_facts(&f->pass, 1, &e), 0);
	assert_note(f, LEDGER_FACTS_WHY, "unable to open");
	assert_int_equal(access(f->journal, F_OK), -1); /* it is not made */
	/* Somebody writes to it, and does not wait for us. */
	assert_int_equal(rename(moved, f->journal), 0);
	assert_int_equal(pass_facts(&f->pass, 2, &e), 0);
	assert_note(f, LEDGER_FACTS_WHY, "");
	/* Without facts: an older burstd. */
	exec(f->journal, "PRAGMA user_version = 15");
	assert_int_equal(pass_facts(&f->pass, 3, &e), 0);
	assert_note(f, LEDGER_FACTS_WHY, "older");
	exec(f->journal, "PRAGMA user_version = 999");
	assert_int_equal(pass_facts(&f->pass, 3, &e), -1);
	assert_int_equal(e.code, ERR_INVALID);
	assert_non_null(strstr(e.msg, "newer"));
	assert_note(f, LEDGER_FACTS_WHY, "newer");
}

/* After a loss: its numbers begin anew, and it has other facts. */
static void test_a_new_journal(void **state)
{
	struct fixture *f = begin(state);

	assert_int_equal(unlink(f->journal), 0);
	make_journal(f);
	life(f, "c5", "wanted", 40, 0);
	life(f, "c5", "created", 50, 0);
	pass(f, 60);
	assert_int_equal(ask(f->ledger, "SELECT COUNT(*) FROM lifetime"), 2);
	assert_int_equal(ask(f->ledger, "SELECT COUNT(*) FROM life"), 5);
	/* As many rows as were read, and the last is another. */
	assert_int_equal(unlink(f->journal), 0);
	make_journal(f);
	life(f, "c6", "wanted", 70, 0);
	life(f, "c6", "created", 80, 0);
	pass(f, 90);
	assert_int_equal(ask(f->ledger, "SELECT COUNT(*) FROM lifetime"), 3);
}

/* An older copy of it was put back, which lacks a price and what was said of a job, and no step of
 * any machine; what burstd writes next has their numbers. */
static void test_an_older_journal(void **state)
{
	struct fixture *f = begin(state);

	for (int i = 0; i < 2; i++) { /* once as a ledger has it that kept no times of these rows */
		price(f, "spot", "quote", 5 + i, 40 + i);
		exec(f->journal,
		     "INSERT INTO job_said (at_ms, job, id, account, user, partition, qos, wckey,"
		     " limit_s, nodes, cpus, memory_mb, gpus) VALUES (%d, 7, '7', 'physics', "
		     "'anna',"
		     " 'gpu', 'normal', '', 60, 1, 1, 1, 1)",
		     40 + i);
		pass(f, 60 + i);
	}
	pass(f, 62);
	assert_int_equal(ask(f->ledger, "SELECT COUNT(*) FROM number WHERE key = 'journal_ms'"), 0);
	exec(f->journal, "DROP TRIGGER price_append_only; DROP TRIGGER job_said_append_only");
	exec(f->journal,
	     "UPDATE price SET nano_h = 8, observed_ms = observed_ms + 9 WHERE seq = 2");
	pass(f, 70);
	assert_int_equal(ask(f->ledger, "SELECT COUNT(*) FROM price"), 3);
	exec(f->journal, "UPDATE job_said SET at_ms = 49 WHERE seq = 2");
	pass(f, 80);
	assert_int_equal(ask(f->ledger, "SELECT COUNT(*) FROM said"), 3);
	exec(f->ledger, "DELETE FROM number WHERE key IN ('price_at_ms', 'job_said_at_ms')");
	exec(f->journal, "UPDATE price SET nano_h = 9 WHERE seq = 2");
	pass(f, 90);
	assert_int_equal(ask(f->ledger, "SELECT COUNT(*) FROM price"), 3); /* as it was read */
	exec(f->journal, "DELETE FROM price WHERE seq = 2");
	pass(f, 100); /* and it is told that rows are gone */
	assert_int_equal(ask(f->ledger, "SELECT value FROM number WHERE key = 'price'"), 1);
}

/* slurmdbd's numbers begin anew, too: what has ended is never another attempt. */
static void test_numbers_that_come_again(void **state)
{
	struct fixture *f = begin(state);
	char text[600];

	program(f, "sacct", SACCT_SCRIPT);
	line(text, sizeof(text), 7, 100, "1794268950", "COMPLETED");
	line(text + strlen(text), sizeof(text) - strlen(text), 7, 200, "1794269050", "COMPLETED");
	jobs_file(f, text); /* one index, two begins */
	assert_int_equal(jobs_read_at(f, 1000), 1000);
	assert_int_equal(ask(f->ledger, "SELECT COUNT(*) FROM attempt"), 2);
}

static void test_a_journal_that_is_written_to(void **state)
{
	struct fixture *f = begin(state);
	sqlite3 *db;

	assert_int_equal(sqlite3_open(f->journal, &db), SQLITE_OK);
	assert_int_equal(sqlite3_exec(db,
				      "BEGIN IMMEDIATE; INSERT INTO life (node, gen, kind,"
				      " instance, at_ms, said_ms, rate_nano_h) VALUES ('c9', 1,"
				      " 'created', 'i', 5, 0, 7)",
				      NULL, NULL, NULL),
			 SQLITE_OK);
	pass(f, 100); /* sees what there was before */
	assert_int_equal(ask(f->ledger, "SELECT COUNT(*) FROM life WHERE node = 'c9'"), 0);
	assert_int_equal(sqlite3_exec(db, "COMMIT", NULL, NULL, NULL), SQLITE_OK);
	pass(f, 200);
	assert_int_equal(ask(f->ledger, "SELECT COUNT(*) FROM life WHERE node = 'c9'"), 1);
	/* Nothing of ours keeps the writer from moving its log away. */
	assert_int_equal(
		sqlite3_wal_checkpoint_v2(db, NULL, SQLITE_CHECKPOINT_TRUNCATE, NULL, NULL),
		SQLITE_OK);
	sqlite3_close(db);
}

/* More facts than one transaction takes. */
static void test_many_facts(void **state)
{
	struct fixture *f = *state;

	exec(f->journal, "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE"
			 " i < 4500) INSERT INTO life (node, gen, kind, instance, at_ms, said_ms,"
			 " rate_nano_h) SELECT 'c' || i, 1, 'created', 'i' || i, 1794268800000 + "
			 "i, 0, 3600000000 FROM n");
	pass(f, 100);
	assert_int_equal(ask(f->ledger, "SELECT COUNT(*) FROM life"), 4500);
	assert_int_equal(ask(f->ledger, "SELECT COUNT(*) FROM lifetime WHERE nano > 0"), 4500);
	assert_int_equal(ask(f->ledger, "SELECT value FROM number WHERE key = 'life'"), 4500);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_windows),
		TEST(test_an_end_of_long_ago),
		TEST(test_whom_to_ask_for),
		TEST(test_nodes_of_others),
		TEST(test_failures),
		TEST(test_no_accounting),
		TEST(test_programs),
		TEST(test_a_journal_that_is_away),
		TEST(test_a_journal_that_is_written_to),
		TEST(test_many_facts),
		TEST(test_a_new_journal),
		TEST(test_an_older_journal),
		TEST(test_numbers_that_come_again),
	};

	return cmocka_run_group_tests_name("ledger, jobs", tests, NULL, NULL);
}
