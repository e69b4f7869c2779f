/* fixture.h - a journal with facts and a ledger in a directory of their own, for tests of ledger/.
 */
#ifndef TESTS_LEDGER_FIXTURE_H
#define TESTS_LEDGER_FIXTURE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>
#include <sqlite3.h>

#include "base/mem.h"
#include "ledger/pass.h"
#include "ledger/sacct.h"
#include "store/journal.h"
#include "store/ledger_attempts.h"
#include "store/ledger_facts.h"
#include "store/ledger_postings.h"
#include "tests/unit/store/run_sql.h"

/* 2026-11-10T00:00:00Z, a second since 1970. */
#define T0 INT64_C(1794268800)

/* Makes a ledger, but for its version, as it was before records had budgets (step 9). */
#define NO_BUDGETS_IN_RECORDS                                                                      \
	"DROP TRIGGER budget_override_kept; DROP TRIGGER budget_override_open;"                    \
	"DROP TRIGGER budget_period_open; ALTER TABLE closing DROP COLUMN budgets;"                \
	"ALTER TABLE budget_override DROP COLUMN made_day;"                                        \
	"ALTER TABLE budget_override DROP COLUMN until_day;"

struct fixture {
	char dir[40], journal[64], ledger[64];
	struct ledger *l;
	struct calendar calendar;
	struct pass pass;
};

static inline void exec(const char *file, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
static inline void exec(const char *file, const char *fmt, ...)
{
	char text[4096], *why = NULL;
	sqlite3 *db;
	va_list ap;

	va_start(ap, fmt);
	assert_true(vsnprintf(text, sizeof(text), fmt, ap) < (int)sizeof(text));
	va_end(ap);
	assert_int_equal(sqlite3_open(file, &db), SQLITE_OK);
	assert_int_equal(sqlite3_busy_timeout(db, 1000), SQLITE_OK);
	if (run_sql(db, text, &why) != SQLITE_OK)
		fail_msg("%s: %s", text, why);
	sqlite3_close(db);
}

/* The number that a query has. */
static inline int64_t ask(const char *file, const char *sql)
{
	sqlite3_stmt *st;
	sqlite3 *db;
	int64_t v;

	assert_int_equal(sqlite3_open(file, &db), SQLITE_OK);
	if (sqlite3_prepare_v2(db, sql, -1, &st, NULL) != SQLITE_OK)
		fail_msg("%s: %s", sql, sqlite3_errmsg(db));
	assert_int_equal(sqlite3_step(st), SQLITE_ROW);
	v = sqlite3_column_int64(st, 0);
	sqlite3_finalize(st);
	sqlite3_close(db);
	return v;
}

static inline void make_journal(const struct fixture *f)
{
	struct journal *j;
	struct err e = {0};
	bool existed;

	if (journal_open(&j, f->journal, &existed, &e) < 0)
		fail_msg("%s", e.msg);
	journal_close(j);
}

static inline void open_ledger(struct fixture *f)
{
	struct err e = {0};

	if (ledger_open(&f->l, f->ledger, &e) < 0)
		fail_msg("%s", e.msg);
	f->pass.ledger = f->pass.jobs.ledger = f->l;
}

static inline int setup(void **state)
{
	struct fixture *f = mem_zalloc(sizeof(*f));
	struct err e = {0};

	/* In memory, if there is room: these tests commit thousands of times. */
	(void)snprintf(f->dir, sizeof(f->dir), "%s/ledgerXXXXXX",
		       access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp");
	assert_non_null(mkdtemp(f->dir));
	(void)snprintf(f->journal, sizeof(f->journal), "%s/journal.db", f->dir);
	(void)snprintf(f->ledger, sizeof(f->ledger), "%s/ledger.db", f->dir);
	make_journal(f);
	assert_int_equal(calendar_init(&f->calendar, "UTC", &e), 0);
	f->pass = (struct pass){.calendar = &f->calendar, .journal = f->journal, .currency = "EUR"};
	open_ledger(f);
	*state = f;
	return 0;
}

static inline int teardown(void **state)
{
	struct fixture *f = *state;
	char cmd[80];

	ledger_close(f->l);
	calendar_fini(&f->calendar);
	(void)snprintf(cmd, sizeof(cmd), "rm -rf %s", f->dir);
	assert_int_equal(system(cmd), 0);
	free(f);
	return 0;
}

/* A row of life; times in seconds after T0, said 0: not said. */
static inline void life(const struct fixture *f, const char *node, const char *kind, int64_t at,
			int64_t said)
{
	exec(f->journal,
	     "INSERT INTO life (node, gen, kind, instance, at_ms, said_ms, rate_nano_h) VALUES"
	     " ('%s', 1, '%s', '%s%s', %lld, %lld, 3600000000000)",
	     node, kind, strcmp(kind, "wanted") == 0 || strcmp(kind, "sent") == 0 ? "" : "i-",
	     strcmp(kind, "wanted") == 0 || strcmp(kind, "sent") == 0 ? "" : node,
	     (long long)(T0 + at) * 1000, said == 0 ? 0 : (long long)(T0 + said) * 1000);
}

/* 8 GPUs, 96 CPUs, 960 GB. */
static inline void machine(const struct fixture *f, const char *node)
{
	exec(f->journal,
	     "INSERT INTO machine VALUES ('%s', 1, %lld, 'h100', 'aws', 'spot-a', 'p5', 'eu',"
	     " 'eu-a', 'spot', 'EUR', 1000, 60000, 96, 960000, 8)",
	     node, (long long)T0 * 1000);
}

static inline void buyer(const struct fixture *f, const char *node, int job)
{
	exec(f->journal, "INSERT INTO buyer VALUES ('%s', 1, %d)", node, job);
}

static inline void price(const struct fixture *f, const char *market, const char *source,
			 int64_t nano_h, int64_t at)
{
	exec(f->journal,
	     "CREATE TABLE IF NOT EXISTS price (seq INTEGER PRIMARY KEY AUTOINCREMENT, provider "
	     "TEXT,"
	     " region TEXT, zone TEXT, type TEXT, market TEXT, currency TEXT, nano_h BIGINT,"
	     " valid_from_ms BIGINT, observed_ms BIGINT, source TEXT);"
	     "INSERT INTO price (provider, region, zone, type, market, currency, nano_h,"
	     " valid_from_ms, observed_ms, source) VALUES ('aws', 'eu', '', 'p5', '%s', 'EUR', "
	     "%lld,"
	     " %lld, %lld, '%s')",
	     market, (long long)nano_h, (long long)(T0 + at) * 1000, (long long)(T0 + at) * 1000,
	     source);
}

/* An attempt of a job with some GPUs of each node. */
struct job {
	int job, gpus;
	int64_t start, end; /* end 0: it runs */
	const char *state, *nodes;
};

static inline int keep_it(void *ctx, const struct ledger_attempt *a, const char *nodes,
			  struct err *e)
{
	const char *names[8] = {0};
	char text[64], *rest = text, *word;
	int64_t id;
	size_t n = 0;

	(void)snprintf(text, sizeof(text), "%s", nodes);
	while ((word = strsep(&rest, ",")) != NULL)
		names[n++] = word;
	return ledger_put_attempt(ctx, a, names, n, &id, e);
}

static inline void job(const struct fixture *f, const struct job *j)
{
	char text[1024], *out = text;
	struct err e = {0};
	struct sacct_count n;
	char start[24], end[24];

	(void)snprintf(start, sizeof(start), "%lld", (long long)(T0 + j->start));
	(void)snprintf(end, sizeof(end), "%lld", (long long)(T0 + j->end));
	out += snprintf(text, sizeof(text),
			"%d;%d%lld;%d;%lld;%s;%s;%s;%d;%s;;cpu=%d,mem=%dM,node=%d,gres/gpu=%d;;"
			"anna;gpu;normal;physics;wk;name;\n",
			j->job, j->job, (long long)(T0 + j->start), j->job,
			(long long)(T0 + j->start), start, j->end == 0 ? "Unknown" : end, j->state,
			strchr(j->nodes, ',') != NULL ? 2 : 1, j->nodes,
			j->gpus * 12 * (strchr(j->nodes, ',') != NULL ? 2 : 1), j->gpus * 1000,
			strchr(j->nodes, ',') != NULL ? 2 : 1,
			j->gpus * (strchr(j->nodes, ',') != NULL ? 2 : 1));
	assert_int_equal(ledger_begin(f->l, &e), 0);
	if (sacct_parse(&(struct sacct_text){text, (size_t)(out - text), ";", (T0 + j->end) * 1000},
			keep_it, f->l, &n, &e) < 0)
		fail_msg("%s", e.msg);
	assert_int_equal(n.records, 1);
	assert_int_equal(n.bad, 0);
	assert_int_equal(ledger_commit(f->l, &e), 0);
}

/* All jobs until then are read. */
static inline void jobs_until(const struct fixture *f, int64_t at)
{
	struct err e = {0};

	assert_int_equal(ledger_begin(f->l, &e), 0);
	assert_int_equal(ledger_put_number(f->l, LEDGER_JOBS_MS, (T0 + at) * 1000, &e), 0);
	assert_int_equal(ledger_commit(f->l, &e), 0);
}

/* A pass without Slurm. */
static inline void pass(const struct fixture *f, int64_t at)
{
	struct err e = {0};

	if (pass_facts(&f->pass, (T0 + at) * 1000, &e) < 0 ||
	    pass_compute(&f->pass, (T0 + at) * 1000, &e) < 0)
		fail_msg("%s", e.msg);
}

/* Sum of money, in whole units, of a class, of any owner; -1 in class: all. */
static inline int64_t money(const struct fixture *f, const char *where)
{
	char sql[300];

	(void)snprintf(sql, sizeof(sql), "SELECT COALESCE(SUM(nano), 0) FROM posting WHERE %s",
		       where);
	return ask(f->ledger, sql);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

#endif
