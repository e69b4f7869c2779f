/* test_upgrade.c - the journal and the ledger of every schema that there was, opened by today's
 * burstd: what is in tests/fixtures/journal and tests/fixtures/ledger is there afterwards (F60).
 *
 * A new step of the schema needs its file there: see the README beside them. */
#include "fixture.h"

#include <fcntl.h>
#include <sys/stat.h>

#include "base/str.h"
#include "store/db.h"
#include "store/ledger.h"
#include "store/ledger_private.h"
#include "store/schema.h"

enum { FILE_MAX = 1 << 20 };

struct kind {
	const char *name;
	const struct db_kind *kind;
	const int *lab; /* those with a file by programs, too; 0: no more */
};

static const struct db_kind journal_kind = {.steps = schema_steps, .nsteps = SCHEMA_STEPS};
static const int journal_lab[] = {12, 15, 20, 22, 0}, ledger_lab[] = {5, 9, 0};
static const struct kind kinds[] = {{"journal", &journal_kind, journal_lab},
				    {"ledger", &ledger_kind, ledger_lab}};

/* --- files -------------------------------------------------------------------------------------
 */

static char *read_fixture(const struct kind *k, int step, const char *suffix)
{
	char path[80], *text = mem_zalloc(FILE_MAX);
	FILE *in;

	(void)snprintf(path, sizeof(path), "tests/fixtures/%s/%02d%s.sql", k->name, step, suffix);
	in = fopen(path, "re");
	if (in == NULL)
		fail_msg("%s: a step of the schema needs its file: make it by "
			 "tests/fixtures/journal/make.py %s %d",
			 path, k->name, step);
	assert_in_range(fread(text, 1, FILE_MAX - 1, in), 1, FILE_MAX - 2);
	(void)fclose(in);
	return text;
}

static void remove_file(const struct fixture *f)
{
	static const char *const suffixes[] = {"", "-wal", "-shm"};
	char path[96];

	for (size_t i = 0; i < sizeof(suffixes) / sizeof(suffixes[0]); i++) {
		(void)snprintf(path, sizeof(path), "%s%s", f->path, suffixes[i]);
		(void)unlink(path);
	}
}

/* Make the file of that schema; the journal is closed. */
static void put_fixture(const struct fixture *f, const struct kind *k, int step, const char *suffix)
{
	char *text = read_fixture(k, step, suffix);

	remove_file(f);
	if (sql(f, text) != SQLITE_OK)
		fail_msg("%s %d%s is no SQL", k->name, step, suffix);
	assert_int_equal(chmod(f->path, 0600), 0);
	free(text);
}

/* --- looks -------------------------------------------------------------------------------------
 */

static int on_row(void *ctx, int n, char **text, char **names)
{
	(void)names;
	for (int i = 0; i < n; i++)
		str_addf(ctx, "%s%s", i > 0 ? "|" : "", text[i] != NULL ? text[i] : "");
	str_adds(ctx, "\n");
	return 0;
}

/* What a query has, its cells with | between them; the caller's. */
static char *look(const struct fixture *f, const char *query)
{
	struct str s;
	sqlite3 *db;

	str_init(&s, FILE_MAX);
	assert_int_equal(sqlite3_open(f->path, &db), SQLITE_OK);
	if (sqlite3_exec(db, query, on_row, &s, NULL) != SQLITE_OK)
		fail_msg("%s: %s", query, sqlite3_errmsg(db));
	(void)sqlite3_close(db);
	return str_take(&s);
}

static const char tables[] =
	"SELECT type, name, tbl_name, sql FROM sqlite_master WHERE name NOT LIKE 'sqlite_%' ORDER "
	"BY name";

static void open_with(const struct fixture *f, const struct db_kind *kind)
{
	struct err e = {0};
	struct db *d;
	bool existed;

	if (db_open(&d, f->path, kind, &existed, &e) != 0)
		fail_msg("%s", e.msg);
	db_close(d);
}

/* The tables that the first nsteps steps of today make. */
static char *tables_of(const struct fixture *f, const struct kind *k, int nsteps)
{
	const struct db_kind before = {.steps = k->kind->steps, .nsteps = nsteps};

	remove_file(f);
	open_with(f, &before);
	return look(f, tables);
}

static void assert_look(const struct fixture *f, const char *query, const char *want, int step)
{
	char *is = look(f, query);

	if (strcmp(is, want) != 0)
		fail_msg("of %d: %s\nhas:\n%s", step, query, is);
	free(is);
}

/* --- tests -------------------------------------------------------------------------------------
 */

/* A step that was released is never changed: the tables in its file, which the steps of that time
 * have made, are those that its steps make today. */
static void test_no_step_has_changed(void **state)
{
	struct fixture *f = *state;

	close_journal(f);
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		for (int step = 1; step <= kinds[i].kind->nsteps; step++) {
			char *today = tables_of(f, &kinds[i], step), *then;

			put_fixture(f, &kinds[i], step, "");
			then = look(f, tables);
			if (strcmp(then, today) != 0)
				fail_msg("%s: step %d or one before it is not what it was:\n%s\n%s",
					 kinds[i].name, step, then, today);
			free(today);
			free(then);
		}
}

static void assert_newest(const struct fixture *f, const struct kind *k, const char *newest)
{
	char version[16], *is = look(f, tables);

	assert_string_equal(is, newest);
	free(is);
	(void)snprintf(version, sizeof(version), "%d\n", k->kind->nsteps);
	assert_look(f, "PRAGMA user_version", version, 0);
	assert_look(f, "PRAGMA integrity_check", "ok\n", 0);
}

/* Whatever schema it begins with, it ends with the tables of today. */
static void test_all_become_the_newest(void **state)
{
	struct fixture *f = *state;

	close_journal(f);
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		char *newest = tables_of(f, &kinds[i], kinds[i].kind->nsteps);

		for (int step = 1; step <= kinds[i].kind->nsteps; step++) {
			put_fixture(f, &kinds[i], step, "");
			open_with(f, kinds[i].kind);
			assert_newest(f, &kinds[i], newest);
		}
		for (const int *step = kinds[i].lab; *step != 0; step++) {
			put_fixture(f, &kinds[i], *step, "-lab");
			open_with(f, kinds[i].kind);
			assert_newest(f, &kinds[i], newest);
		}
		free(newest);
	}
}

struct kept {
	int since; /* the step that brought it */
	const char *query, *want;
};

static void assert_kept(const struct fixture *f, const struct kept *rows, size_t n, int step)
{
	for (size_t i = 0; i < n; i++)
		if (rows[i].since <= step)
			assert_look(f, rows[i].query, rows[i].want, step);
}

/* What rows.sql wrote, column for column; and what has no value yet has the one of its step. */
static const struct kept in_journal[] = {
	{1, "SELECT * FROM meta ORDER BY key",
	 "cluster_uuid|388816277927310502\ngen_floor|0\nlast_batch|1700000000012\n"},
	{1,
	 "SELECT name, gen, state, instance, addr, released, attempts, batch, gang, rate_nano_h "
	 "FROM node ORDER BY name",
	 "c1|3|ready|i-1|10.77.0.1|0|1|1700000000001|7|29520000000\n"
	 "c2|1|booting|i-2|10.77.0.2|0|1|1700000000001|7|29520000000\n"
	 "c3|1|creating|||0|1|1700000000011|8|29520000000\n"
	 "c4|2|indoubt|||0|1|1700000000012|9|29520000000\n"
	 "c5|1|wanted|||0|0|0|10|29520000000\n"
	 "c6|1|deleting|i-6|10.77.0.6|1|1|1700000000001|7|29520000000\n"
	 "c7|1|quarantined|i-7|10.77.0.7|1|1|1700000000001|7|29520000000\n"
	 "c8|1|draining|i-8|10.77.0.8|0|1|1700000000001|7|29520000000\n"},
	{1, "SELECT id, token, pool, body_hash, at_ms FROM batch ORDER BY id",
	 "1700000000011|burstd-5655a584-1700000000011|h100|9097508666473706400|1700000000011\n"
	 "1700000000012|burstd-5655a584-1700000000012|h100|-9097508666473706400|1700000000012\n"},
	{1, "SELECT seq, node, gen, type, detail FROM event ORDER BY seq",
	 "1|c1|3|wanted|\n2|c1|3|creating|burstd-5655a584-1700000000001\n3|c1|3|ready|i-1\n"
	 "4||0|started|0.1.0\n"},
	{1, "SELECT node, gen, instance, pool, cost_nano FROM usage ORDER BY gen",
	 "c1|1|i-old|h100|29520000000\nc1|2|i-older|gone|5000000000\n"},
	{2, "SELECT name FROM node WHERE job = 42 ORDER BY name", "c1\nc2\n"},
	{2, "SELECT job, count, last_ms FROM refusal", "43|2|1700000000700\n"},
	{2, "SELECT name, paused, waves, last_ms, until_ms FROM pool",
	 "h100|1|1|1700000000600|1700000900600\n"},
	{3, "SELECT job, id, node, gen, at_ms, why FROM rescue",
	 "42|42|c8|1|1700000000300|the provider takes it\n"},
	{4, "SELECT a.seq, actor, verb, object, a.hash = m.hash FROM audit AS a, audit_mark AS m",
	 "1|hook|create|c1|1\n"},
	{5, "SELECT paused_by, paused_ms FROM pool", "root|1700000000600\n"},
	{6, "SELECT provider, market, COUNT(*) FROM node GROUP BY 1, 2",
	 "sim|on-demand|7\nsim|spot|1\n"},
	{6, "SELECT first_ms, wait_ms FROM refusal", "1700000000650|30000\n"},
	{7, "SELECT name, noticed_ms, deadline_ms, signal_ms FROM node WHERE noticed_ms <> 0",
	 "c8|1700000000300|1700000120300|1700000000400\n"},
	{7, "SELECT nodes, signal, hold_ms FROM rescue", "c8|2|1700000060300\n"},
	{8, "SELECT node, gen, id, state, version FROM claim ORDER BY node",
	 "c1|3|id-1|confirmed|4\nc2|1|id-2|issued|0\n"},
	{9, "SELECT node, state, token, version, gpus FROM voucher", "c3|held|hvs.token|4|8\n"},
	{10, "SELECT node FROM claim WHERE accessor = 'accessor-1'", "c1\n"},
	{11, "SELECT node, shared FROM claim ORDER BY node", "c1|1\nc2|0\n"},
	{12, "SELECT told_wall_ms, had_wall_ms FROM refusal", "1700000030700|1700000000000\n"},
	{14, "SELECT name FROM node WHERE stale_addr = '10.77.0.99'", "c2\n"},
	{15, "SELECT id, cursor FROM batch ORDER BY id",
	 "1700000000011|volume=v-1\n1700000000012|\n"},
	{16, "SELECT kind, instance, said_ms FROM life ORDER BY seq",
	 "wanted||0\nsent||0\ncreated|i-1|1700000000499\nready|i-1|0\n"},
	{16, "SELECT m.type, m.gpus, b.job, s.account FROM machine AS m, buyer AS b, job_said AS s",
	 "gpu_8x_h100|8|42|physics\n"},
	{17, "SELECT p.nano_h FROM price AS p JOIN price_last AS l ON l.seq = p.seq",
	 "13000000000\n"},
	{18, "SELECT kind, account, rate_nano_h FROM hold", "run|physics|29520000000\n"},
	{18, "SELECT day, account, nano FROM spent", "19675|physics|29520000000\n"},
	{18, "SELECT money FROM refusal", "1\n"},
	{19, "SELECT budget, value, period, amount_nano, spent_nano FROM budget_period",
	 "team|physics|month|1000000000000|29520000000\n"},
	{19, "SELECT id, nano, made_by, reason, replaces FROM budget_override",
	 "1|50000000000|root|a deadline|0\n"},
	{20, "SELECT a.kind, a.percent, m.receiver, m.state FROM alert AS a, alert_message AS m",
	 "used|80|mail|pending\n"},
	{21, "SELECT counted, ended_ms FROM budget_period", "account|0\n"},
	{22, "SELECT e.job, e.pool, d.node, d.gen FROM ending AS e, drained AS d",
	 "42|h100|c1|3\n"},
	{23, "SELECT carried_nano FROM alert", "20000000000\n"},
	{24, "SELECT name, image, canary FROM node WHERE image <> '' ORDER BY name",
	 "c1|ami-old|0\nc2|ami-new|1\n"},
	{24,
	 "SELECT b.image, r.stage, r.old, r.next FROM batch AS b, roll AS r WHERE b.image <> ''",
	 "ami-new|canary|ami-old|ami-new\n"},
};

static void test_a_journal_keeps_its_rows(void **state)
{
	struct fixture *f = *state;
	struct seen *s;

	for (int step = 1; step <= SCHEMA_STEPS; step++) {
		close_journal(f);
		put_fixture(f, &kinds[0], step, "");
		open_journal(f, true);
		s = load(f); /* burstd takes each row of it */
		assert_int_equal(s->nnodes, 8);
		assert_int_equal(s->nbatches, 2);
		assert_int_equal(s->nspent, 2);
		forget(s);
		close_journal(f);
		assert_kept(f, in_journal, sizeof(in_journal) / sizeof(in_journal[0]), step);
		open_journal(f, true);
	}
}

/* What has come with a later step is as if nothing was known of it. */
static void test_what_a_journal_did_not_have(void **state)
{
	struct fixture *f = *state;

	close_journal(f);
	put_fixture(f, &kinds[0], 1, "");
	open_with(f, &journal_kind);
	assert_look(f,
		    "SELECT DISTINCT job, offer, provider, market, notice, noticed_ms, stale_addr "
		    "FROM node",
		    "0|||on-demand|reclaim|0|\n", 1);
	assert_look(f,
		    "SELECT (SELECT COUNT(*) FROM life) + (SELECT COUNT(*) FROM price)"
		    " + (SELECT COUNT(*) FROM hold) + (SELECT COUNT(*) FROM budget_period)"
		    " + (SELECT COUNT(*) FROM ending)",
		    "0\n", 1);
	put_fixture(f, &kinds[0], 20, "");
	open_with(f, &journal_kind);
	assert_look(f, "SELECT counted, ended_ms FROM budget_period", "|0\n", 20);
	assert_look(f, "SELECT carried_nano FROM alert", "0\n", 20);
	assert_look(f, "SELECT DISTINCT image, canary FROM node", "|0\n", 20);
}

/* Those that programs wrote, of that time and in a real cluster: as many of each as there were. */
static void test_a_journal_of_the_lab(void **state)
{
	static const char nodes[] = "SELECT state, COUNT(*) FROM node GROUP BY state";
	struct fixture *f = *state;
	struct seen *s;

	for (const int *step = journal_lab; *step != 0; step++) {
		char *before, *after;

		close_journal(f);
		put_fixture(f, &kinds[0], *step, "-lab");
		before = look(f, "SELECT (SELECT COUNT(*) FROM event), (SELECT COUNT(*) FROM "
				 "audit), (SELECT COUNT(*) FROM usage), (SELECT SUM(cost_nano) "
				 "FROM usage), (SELECT MAX(hash) FROM audit)");
		assert_look(f, nodes, "booting|4\ncreating|1\ngone|1\nready|2\n", *step);
		open_journal(f, true);
		s = load(f);
		assert_int_equal(s->nnodes, 8);
		forget(s);
		close_journal(f);
		assert_look(f, nodes, "booting|4\ncreating|1\ngone|1\nready|2\n", *step);
		after = look(f, "SELECT (SELECT COUNT(*) FROM event), (SELECT COUNT(*) FROM "
				"audit), (SELECT COUNT(*) FROM usage), (SELECT SUM(cost_nano) "
				"FROM usage), (SELECT MAX(hash) FROM audit)");
		assert_string_equal(after, before);
		free(before);
		free(after);
		open_journal(f, true);
	}
}

static const struct kept in_ledger[] = {
	{1, "SELECT COUNT(*), MIN(gen), MAX(gen) FROM machine", "2|1|2\n"},
	{1, "SELECT COUNT(*), COUNT(DISTINCT kind) FROM life", "21|12\n"},
	{1, "SELECT text FROM note WHERE key = 'cluster'", "lab\n"},
	{1, "SELECT COUNT(*) FROM said", "2\n"},
	{2, "SELECT gen, instance, end_s - start_s FROM lifetime ORDER BY gen",
	 "1|sim-00000000|8\n2|sim-00000003|2\n"},
	{2,
	 "SELECT SUM(p.nano) = SUM(r.nano) FROM (SELECT SUM(nano) AS nano FROM posting) AS p,"
	 " (SELECT SUM(nano) AS nano FROM rollup) AS r",
	 "1\n"},
	{2, "SELECT SUM(nano) FROM posting", "82000000\n"},
	{3, "SELECT COUNT(*) FROM counted", "2\n"},
	{4,
	 "SELECT i.number, i.removed_by, l.name FROM invoice AS i JOIN invoice_line AS l"
	 " ON l.invoice = i.id",
	 "A-1|root|support\n"},
	{5, "SELECT budget, nano, made_by FROM budget_override", "team|50000000000|root\n"},
	{6, "SELECT budget, spent_nano, counted FROM budget_period", "team|82352600|account\n"},
	{7, "SELECT bill, low, high FROM stay", "65600000|65600000|65805000\n"},
	{5, "SELECT made_day, until_day, replaces FROM budget_override", "20787|20787|0\n"},
};

static void test_a_ledger_keeps_its_rows(void **state)
{
	struct fixture *f = *state;

	close_journal(f);
	for (int step = 1; step <= ledger_kind.nsteps; step++) {
		struct err e = {0};
		struct ledger *l;

		put_fixture(f, &kinds[1], step, "");
		if (ledger_open(&l, f->path, &e) != 0)
			fail_msg("%s", e.msg);
		ledger_close(l);
		assert_kept(f, in_ledger, sizeof(in_ledger) / sizeof(in_ledger[0]), step);
	}
}

/* A new part of a bill's rules has all that it may concern computed again. */
static void test_a_ledger_computes_again(void **state)
{
	struct fixture *f = *state;

	close_journal(f);
	put_fixture(f, &kinds[1], 2, "");
	open_with(f, &ledger_kind);
	assert_look(f, "SELECT COUNT(*) FROM lifetime WHERE state <> 0 AND dirty = 0", "0\n", 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_no_step_has_changed),      TEST(test_all_become_the_newest),
		TEST(test_a_journal_keeps_its_rows), TEST(test_what_a_journal_did_not_have),
		TEST(test_a_journal_of_the_lab),     TEST(test_a_ledger_keeps_its_rows),
		TEST(test_a_ledger_computes_again),
	};

	return cmocka_run_group_tests_name("upgrade", tests, NULL, NULL);
}
