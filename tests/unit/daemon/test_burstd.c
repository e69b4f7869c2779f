/* The daemon as a program: how it starts, checks, reloads and ends.  No Slurm and no cloud:
 * slurmctld is a script, the provider refuses connections.  /run and /var/spool are this test's
 * own, for the socket and the spool are compiled in. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>
#include <sqlite3.h>

#include "base/clock.h"
#include "base/mem.h"
#include "base/paths.h"
#include "base/str.h"
#include "io/ctl_client.h"

enum {
	TEXT_SIZE = 1 << 16,
	PATIENCE_MS = 30000, /* far beyond what anything here takes; a hang must not last */
	NOBODY = 65534,
	BAD_CONF = 78,
};

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

static char burstd_path[600], dir[] = "/run/labXXXXXX";
static bool root; /* not only in a namespace: other users exist */

struct burstd {
	pid_t pid;
	int err; /* its standard error */
	char text[TEXT_SIZE];
	int rc; /* exit status, -1: killed */
};

/* --- files -------------------------------------------------------------------------------------
 */

static const char *at(const char *name)
{
	static char paths[4][128];
	static unsigned turn;
	char *path = paths[turn++ % COUNT(paths)];

	(void)snprintf(path, sizeof(paths[0]), "%s/%s", dir, name);
	return path;
}

static void write_file(const char *name, const char *text, mode_t mode)
{
	int fd = open(at(name), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	assert_true(fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text));
	assert_int_equal(fchmod(fd, mode), 0);
	(void)close(fd);
}

static const char good[] = "cluster = lab\n"
			   "currency = EUR\n"
			   "state_dir = \"DIR/state\"\n"
			   "slurm { bin_dir = \"DIR/bin\" }\n"
			   "provider sim {\n"
			   "	driver = sim\n"
			   "	url = \"http://127.0.0.1:1\"\n"
			   "	credential_file = \"DIR/token\"\n"
			   "}\n"
			   "pool p { nodes = \"c[1-8]\" provider = sim type = t region = r\n"
			   "	max_nodes = 8 max_rate = \"300\" }\n";

/* `good` with each `from` as `to`, and DIR filled in. */
static void write_conf(const char *from, const char *to)
{
	const char *p = good;
	struct str s;

	str_init(&s, TEXT_SIZE);
	while (*p != '\0') {
		if (from != NULL && strncmp(p, from, strlen(from)) == 0) {
			str_adds(&s, to);
			p += strlen(from);
		} else {
			str_add(&s, p++, 1);
		}
	}
	for (char *d; (d = strstr(s.p, "DIR")) != NULL;) {
		char *rest = mem_strdup(d + 3);

		s.len = (size_t)(d - s.p);
		str_adds(&s, dir);
		str_adds(&s, rest);
		free(rest);
	}
	write_file("burstd.conf", s.p, 0644);
	str_fini(&s);
}

static void make_files(const char *scontrol)
{
	write_conf(NULL, NULL);
	write_file("token", "secret-one\n", 0600);
	assert_true(mkdir(at("bin"), 0755) == 0 || errno == EEXIST);
	write_file("bin/scontrol", scontrol, 0755);
	write_file("bin/squeue", "#!/bin/sh\n", 0755);
}

/* --- processes ---------------------------------------------------------------------------------
 */

static void start_args(struct burstd *b, char *const *argv)
{
	int ends[2];

	*b = (struct burstd){.rc = -1};
	assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
	b->pid = fork();
	assert_true(b->pid >= 0);
	if (b->pid == 0) {
		(void)dup2(ends[1], STDERR_FILENO);
		(void)dup2(open(at("out"), O_WRONLY | O_CREAT | O_TRUNC, 0600), STDOUT_FILENO);
		(void)execv(burstd_path, argv);
		_exit(127);
	}
	(void)close(ends[1]);
	b->err = ends[0];
}

static void start(struct burstd *b, const char *option, const char *operand)
{
	char *copy = operand != NULL ? mem_strdup(operand) : NULL; /* at() will be used again */
	const char *const argv[] = {"burstd", option, copy, NULL};

	start_args(b, (char *const *)(uintptr_t)argv);
	free(copy);
}

/* Read on until it says `word`, or, with NULL, to the end. */
static bool read_until(struct burstd *b, const char *word)
{
	int64_t until = clock_boot_ms() + PATIENCE_MS;
	struct pollfd p = {.fd = b->err, .events = POLLIN};

	while (word == NULL || strstr(b->text, word) == NULL) {
		size_t len = strlen(b->text);
		ssize_t n;

		if (clock_boot_ms() > until || poll(&p, 1, PATIENCE_MS) < 0)
			return false;
		n = read(b->err, b->text + len, TEXT_SIZE - 1 - len);
		if (n <= 0)
			return word == NULL && n == 0;
	}
	return true;
}

static void finish(struct burstd *b)
{
	int64_t until = clock_boot_ms() + PATIENCE_MS;
	int status = 0;
	pid_t got;

	while ((got = waitpid(b->pid, &status, WNOHANG)) == 0) {
		if (clock_boot_ms() > until)
			(void)kill(b->pid, SIGKILL);
		(void)poll(NULL, 0, 5);
	}
	assert_int_equal(got, b->pid);
	assert_true(read_until(b, NULL));
	(void)close(b->err);
	b->rc = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void start_ready(struct burstd *b)
{
	start(b, "-c", at("burstd.conf"));
	if (!read_until(b, "msg=ready"))
		print_error("%s\n", b->text);
	assert_non_null(strstr(b->text, "msg=ready"));
}

/* --- the end -----------------------------------------------------------------------------------
 */

/* Nobody holds the journal, and SQLite has put its log away: it was closed, not left. */
static void assert_closed(void)
{
	int fd = open(at("state/lock"), O_RDWR | O_CLOEXEC);

	assert_true(fd >= 0);
	assert_int_equal(flock(fd, LOCK_EX | LOCK_NB), 0);
	(void)close(fd);
	assert_int_equal(access(at("state/journal.db"), F_OK), 0);
	assert_int_equal(access(at("state/journal.db-wal"), F_OK), -1);
	assert_int_equal(access(PATHS_SOCKET, F_OK), -1);
}

static int connect_idle(void)
{
	struct sockaddr_un sa = {.sun_family = AF_UNIX, .sun_path = PATHS_SOCKET};
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	assert_int_equal(connect(fd, (struct sockaddr *)&sa, sizeof(sa)), 0);
	return fd;
}

/* SIGTERM and SIGINT end it with status 0 and everything closed, whatever is still under way: a
 * scontrol that hangs, a provider that does not answer, a caller that says nothing. */
static void test_stop(void **state)
{
	static const struct {
		int signal;
		const char *scontrol;
	} rows[] = {
		{SIGTERM, "#!/bin/sh\nexit 1\n"},
		{SIGINT, "#!/bin/sh\nexit 1\n"},
		{SIGTERM, "#!/bin/sh\nexec sleep 600\n"},
	};
	struct burstd *b = mem_zalloc(sizeof(*b));

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		int64_t began;
		int fd;

		print_message("# %s: %s", strsignal(rows[i].signal), rows[i].scontrol + 10);
		make_files(rows[i].scontrol);
		start_ready(b);
		fd = connect_idle();
		began = clock_boot_ms();
		assert_int_equal(kill(b->pid, rows[i].signal), 0);
		finish(b);
		(void)close(fd);
		if (b->rc != 0)
			print_error("%s\n", b->text);
		assert_int_equal(b->rc, 0);
		assert_true(clock_boot_ms() - began < PATIENCE_MS / 2);
		assert_closed();
	}
	free(b);
}

/* --- while it runs -----------------------------------------------------------------------------
 */

/* The one number that sql gives of the journal's file. */
static int64_t ask_journal(const char *sql)
{
	sqlite3_stmt *st = NULL;
	sqlite3 *db = NULL;
	int64_t v = 0;

	assert_int_equal(sqlite3_open(at("state/journal.db"), &db), SQLITE_OK);
	assert_int_equal(sqlite3_busy_timeout(db, PATIENCE_MS), SQLITE_OK);
	assert_int_equal(sqlite3_prepare_v2(db, sql, -1, &st, NULL), SQLITE_OK);
	if (sqlite3_step(st) == SQLITE_ROW)
		v = sqlite3_column_int64(st, 0);
	assert_int_equal(sqlite3_finalize(st), SQLITE_OK);
	assert_int_equal(sqlite3_close(db), SQLITE_OK);
	return v;
}

/* Events older than events_keep go by themselves, and the others stay. */
static void test_forget(void **state)
{
	enum { OLD = 600, HOUR_MS = 3600000 };
	struct burstd *b = mem_zalloc(sizeof(*b));
	const int64_t now = clock_wall_ms(), until = clock_boot_ms() + PATIENCE_MS;
	char sql[400];

	(void)state;
	make_files("#!/bin/sh\nexit 1\n");
	write_conf("currency = EUR\n", "currency = EUR\nevents_keep = 1h\n");
	start_ready(b);
	assert_int_equal(kill(b->pid, SIGTERM), 0);
	finish(b);
	(void)snprintf(
		sql, sizeof(sql),
		"WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < %d)"
		" INSERT INTO event (at_ms, node, gen, type, detail)"
		" SELECT %lld + (i = %d) * %d, 'c1', 1, 'test', '' FROM n",
		OLD + 1, (long long)(now - 2 * HOUR_MS), OLD + 1, HOUR_MS * 3 / 2);
	(void)ask_journal("DELETE FROM event");
	(void)ask_journal(sql);
	assert_int_equal(ask_journal("SELECT COUNT(*) FROM event WHERE type = 'test'"), OLD + 1);
	start_ready(b);
	while (ask_journal("SELECT COUNT(*) FROM event WHERE type = 'test'") > 1 &&
	       clock_boot_ms() < until)
		(void)poll(NULL, 0, 50);
	assert_int_equal(kill(b->pid, SIGTERM), 0);
	finish(b);
	assert_int_equal(b->rc, 0);
	assert_int_equal(ask_journal("SELECT COUNT(*) FROM event WHERE type = 'test'"), 1);
	assert_int_equal(ask_journal("SELECT MAX(at_ms) FROM event WHERE type = 'test'"),
			 now - HOUR_MS / 2);
	assert_true(ask_journal("SELECT COUNT(*) FROM event WHERE type = 'started'") == 1);
	free(b);
}

static size_t count(const char *text, const char *word)
{
	size_t n = 0;

	for (const char *p = text; (p = strstr(p, word)) != NULL; p++)
		n++;
	return n;
}

/* For another machine that keeps the log: where the audit log ends is said at the start, not each
 * time that it grew within a minute, and when burstd ends.  Here it grows by being trimmed. */
static void test_the_end_of_the_audit_log_is_logged(void **state)
{
	enum { OLD = 512, AFTER = OLD + 2 }; /* forgotten in two turns, each with a record */
	struct burstd *b = mem_zalloc(sizeof(*b));
	const int64_t until = clock_boot_ms() + PATIENCE_MS;
	const char *last;
	char sql[400];

	(void)state;
	make_files("#!/bin/sh\nexit 1\n");
	start_ready(b);
	assert_int_equal(kill(b->pid, SIGTERM), 0);
	finish(b);
	assert_int_equal(count(b->text, "msg=\"audit log\""), 0); /* there is nothing in it */
	(void)snprintf(sql, sizeof(sql),
		       "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < "
		       "%d) INSERT INTO audit SELECT i, 0, 'hook', 'create', 'sim', 'c1', '', '',"
		       " printf('%%064x', i) FROM n",
		       OLD);
	(void)ask_journal(sql);
	start_ready(b);
	while (ask_journal("SELECT seq FROM audit_mark WHERE name = 'head'") < AFTER &&
	       clock_boot_ms() < until)
		(void)poll(NULL, 0, 50);
	assert_int_equal(ask_journal("SELECT COUNT(*) FROM audit"), 2);
	assert_int_equal(kill(b->pid, SIGTERM), 0);
	finish(b);
	(void)snprintf(sql, sizeof(sql), "head=%d:%064x\n", OLD, (unsigned)OLD);
	assert_non_null(strstr(b->text, sql));
	assert_int_equal(count(b->text, "msg=\"audit log\""), 2);
	last = strstr(b->text, "head=514:");
	assert_non_null(last);
	(void)snprintf(sql, sizeof(sql),
		       "SELECT hash = '%.64s' FROM audit_mark WHERE name = 'head'",
		       last + strlen("head=514:"));
	assert_int_equal(ask_journal(sql), 1);
	start_ready(b);
	assert_true(read_until(b, "head=514:"));
	assert_int_equal(kill(b->pid, SIGTERM), 0);
	finish(b);
	assert_int_equal(count(b->text, "msg=\"audit log\""), 1); /* it did not grow */
	free(b);
}

/* A first start that ended after the journal's tables and before what it begins with (a full disk,
 * a kill) is gone on with; a journal of another cluster is not. */
static void test_begun(void **state)
{
	struct burstd *b = mem_zalloc(sizeof(*b));

	(void)state;
	make_files("#!/bin/sh\nexit 1\n");
	start_ready(b);
	assert_int_equal(kill(b->pid, SIGTERM), 0);
	finish(b);
	(void)ask_journal("DELETE FROM meta");
	start_ready(b);
	assert_int_equal(kill(b->pid, SIGTERM), 0);
	finish(b);
	assert_true(ask_journal("SELECT value FROM meta WHERE key = 'cluster_uuid'") > 0);
	(void)ask_journal("UPDATE meta SET value = 1 WHERE key = 'cluster_uuid'");
	start(b, "-c", at("burstd.conf"));
	finish(b);
	assert_int_equal(b->rc, 1);
	assert_non_null(strstr(b->text, "belongs to another cluster uuid"));
	free(b);
}

/* --- the start ---------------------------------------------------------------------------------
 */

static const struct {
	const char *name, *from, *to;
	int rc, start_rc;    /* of --check, and of a start; -1: it starts */
	const char *want[4]; /* lines of --check, behind the path of the file */
} check_rows[] = {
	{"good", NULL, NULL, 0, -1, {NULL}},
	{"bad file", "currency = EUR", "currency = 5", BAD_CONF, BAD_CONF, {":2: currency: "}},
	{"unknown driver",
	 "driver = sim\n",
	 "driver = gcp\n",
	 BAD_CONF,
	 1,
	 {":6: provider \"sim\": no driver \"gcp\"; there are: "}},
	{"no credential",
	 "DIR/token",
	 "DIR/tokem",
	 BAD_CONF,
	 1,
	 {":8: provider \"sim\": credential_file: "}},
	{"credential of all",
	 "DIR/token",
	 "DIR/burstd.conf",
	 BAD_CONF,
	 1,
	 {":8: provider \"sim\": "}},
	{"no programs", "DIR/bin", "DIR", BAD_CONF, -1, {":4: bin_dir: ", ":4: bin_dir: "}},
	{"a directory as program",
	 "DIR/bin",
	 "DIR/dirs",
	 BAD_CONF,
	 -1,
	 {":4: bin_dir: ", ":4: bin_dir: "}},
	{"no slurm.conf",
	 "slurm {",
	 "slurm {\nconf = /nowhere/slurm.conf\n",
	 BAD_CONF,
	 -1,
	 {":5: conf: /nowhere/slurm.conf: No such file"}},
	{"no certificates",
	 "credential_file =",
	 "ca_file = /nowhere/ca\ncredential_file =",
	 BAD_CONF,
	 -1,
	 {":8: provider \"sim\": ca_file: /nowhere/ca: No such file"}},
	{"state_dir is a file", "DIR/state", "DIR/token", BAD_CONF, 1, {":3: state_dir: "}},
	{"state_dir in nothing", "DIR/state", "DIR/no/state", BAD_CONF, 1, {":3: state_dir: "}},
	{"state_dir for all", "DIR/state", "DIR/open", BAD_CONF, 1, {":3: state_dir: others may"}},
	{"commands that are not there",
	 "	driver = sim\n	url = \"http://127.0.0.1:1\"\n	credential_file = "
	 "\"DIR/token\"\n}\n",
	 "driver = static program = \"DIR/bin/squeue\"\n on = {\"/nowhere/on\", \"%n\"}\n"
	 "off = {\"DIR/bin/squeue\", \"%n\"}\n status = {\"/nowhere/status\", \"%n\"}\n}\n",
	 BAD_CONF,
	 -1,
	 {":10: provider \"sim\": on: /nowhere/on: No such file",
	  ":10: provider \"sim\": status: /nowhere/status: No such file"}},
	{"a pool that its provider can never serve",
	 "driver = sim\n\turl = \"http://127.0.0.1:1\"\n\tcredential_file = \"DIR/token\"\n}",
	 "driver = aws\n\tregion = r2\n\timage = ami-1\n}",
	 BAD_CONF,
	 -1,
	 {":11: pool \"p\": this provider is for region r2, not r"}},
	{"what EC2 tells no price of",
	 "driver = sim\n\turl = \"http://127.0.0.1:1\"\n\tcredential_file = \"DIR/token\"\n}",
	 "driver = aws\n\tregion = r\n\timage = ami-1\n}",
	 0,
	 -1,
	 {"note: :11: pool \"p\" needs a \"price\": provider \"sim\" has no prices of on-demand "
	  "instances in EUR to ask for, and nothing is bought at an unknown one"}},
	{"three things at once",
	 "driver = sim\n\turl = \"http://127.0.0.1:1\"\n\tcredential_file = \"DIR/token\"\n}",
	 "driver = x\ncredential_file = /nowhere/a\n}\nprovider b { driver = y }",
	 BAD_CONF,
	 1,
	 {":6: provider \"sim\": no driver \"x\"",
	  ":7: provider \"sim\": credential_file: /nowhere/a: ",
	  ":9: provider \"b\": no driver \"y\""}},
};

static void assert_lines(const char *text, const char *const *want)
{
	const char *p = text;

	for (size_t i = 0; i < 4 && want[i] != NULL; i++) {
		char head[256];
		size_t note = strncmp(want[i], "note: ", 6) == 0 ? 6 : 0;

		(void)snprintf(head, sizeof(head), "%.*s%s%s", (int)note, want[i],
			       at("burstd.conf"), want[i] + note);
		if (strncmp(p, head, strlen(head)) != 0)
			fail_msg("got: %s", text);
		p = strchr(p, '\n');
		assert_non_null(p);
		p++;
	}
	assert_string_equal(p, "");
}

/* --check says what a start would, with the line, and all of it; it leaves nothing behind. */
static void test_check(void **state)
{
	struct burstd *b = mem_zalloc(sizeof(*b));

	(void)state;
	make_files("#!/bin/sh\nexit 1\n");
	assert_int_equal(mkdir(at("open"), 0700), 0);
	assert_int_equal(chmod(at("open"), 0777), 0);
	assert_int_equal(mkdir(at("dirs"), 0700), 0);
	assert_int_equal(mkdir(at("dirs/scontrol"), 0700), 0);
	assert_int_equal(mkdir(at("dirs/squeue"), 0700), 0);
	for (size_t i = 0; i < COUNT(check_rows); i++) {
		print_message("# %s\n", check_rows[i].name);
		write_conf(check_rows[i].from, check_rows[i].to);
		start(b, "--check", at("burstd.conf"));
		finish(b);
		assert_lines(b->text, check_rows[i].want);
		assert_int_equal(b->rc, check_rows[i].rc);
		if (check_rows[i].start_rc < 0)
			continue;
		start(b, "-c", at("burstd.conf"));
		finish(b);
		assert_int_equal(b->rc, check_rows[i].start_rc);
	}
	assert_int_equal(access(PATHS_SOCKET, F_OK), -1);
	free(b);
}

/* Root looks with the eyes of the user burstd runs as. */
static void test_check_as(void **state)
{
	static const char *const token[] = {":8: provider \"sim\": credential_file: ", NULL};
	static const char *const state_dir[] = {":3: state_dir: no right to write to ", NULL};
	static const char *const conf[] = {": user ", NULL};
	struct burstd *b = mem_zalloc(sizeof(*b));

	(void)state;
	if (!root)
		skip();
	make_files("#!/bin/sh\nexit 1\n");
	assert_int_equal(chmod(dir, 0755), 0);
	assert_true(mkdir(at("state"), 0700) == 0 || errno == EEXIST);
	assert_int_equal(chown(at("state"), NOBODY, NOBODY), 0);
	assert_int_equal(chown(PATHS_SPOOL, NOBODY, NOBODY), 0);
	start(b, "--check", at("burstd.conf")); /* root could read it */
	finish(b);
	assert_lines(b->text, token);
	assert_int_equal(b->rc, BAD_CONF);
	assert_int_equal(chown(at("token"), NOBODY, NOBODY), 0);
	start(b, "--check", at("burstd.conf"));
	finish(b);
	assert_lines(b->text, (const char *const[]){NULL});
	assert_int_equal(b->rc, 0);
	assert_int_equal(chmod(at("state"), 0500), 0);
	start(b, "--check", at("burstd.conf"));
	finish(b);
	assert_lines(b->text, state_dir);
	assert_int_equal(chmod(at("state"), 0700), 0);
	assert_int_equal(chmod(at("burstd.conf"), 0600), 0);
	start(b, "--check", at("burstd.conf"));
	finish(b);
	assert_lines(b->text, conf);
	assert_int_equal(b->rc, BAD_CONF);
	assert_int_equal(chown(PATHS_SPOOL, 0, 0), 0);
	assert_int_equal(chown(at("state"), 0, 0), 0);
	assert_int_equal(chown(at("token"), 0, 0), 0);
	free(b);
}

/* --- slurm.conf --------------------------------------------------------------------------------
 */

static const struct {
	const char *name;
	const char *config; /* of tests/fixtures/slurm/24.11; NULL: slurmctld is silent */
	const char *from, *to;
	int rc;
	const char *out, *json;
} slurm_rows[] = {
	{"as it should be", "config.txt", NULL, NULL, 0,
	 "slurm.conf: advice: AuthInfo is cred_expire=5, wanted ",
	 "{\"error\":\"\",\"pools\":true,\"version\":\"24.11.5\",\"slurm_conf\":[{\"setting\":"
	 "\"AuthInfo\",\"severity\":\"advice\""},
	{"a pool that boots for longer", "config.txt", "type = t", "boot_timeout = 20m type = t", 1,
	 "slurm.conf: error: ResumeTimeout is 900 s for pool p, wanted ",
	 "\"setting\":\"ResumeTimeout\",\"severity\":\"error\",\"found\":\"900 s for pool p\""},
	{"another cluster", "config.txt", "cluster = lab", "cluster = falcon", 1,
	 "slurm.conf: error: ClusterName is lab, wanted ", "\"setting\":\"ClusterName\""},
	{"bare", "bare-config.txt", NULL, NULL, 1, "slurm.conf: error: ReturnToService is 0",
	 "\"setting\":\"ReturnToService\""},
	{"silent", NULL, NULL, NULL, 69,
	 "slurm.conf: not checked, slurmctld does not answer: DIR/bin/scontrol: exit status 1: "
	 "connection refused\n",
	 "{\"error\":\"DIR/bin/scontrol: exit status 1: connection refused\",\"pools\":true}\n"},
	{"a bad configuration", "config.txt", "currency = EUR", "currency = 5", BAD_CONF,
	 "slurm.conf: advice: AuthInfo is cred_expire=5, wanted ",
	 "{\"error\":\"\",\"pools\":false,"},
};

static void write_scontrol(const char *config)
{
	char script[2048], tree[512];

	assert_non_null(getcwd(tree, sizeof(tree)));
	(void)snprintf(script, sizeof(script),
		       "#!/bin/sh\ncd %s/tests/fixtures/slurm/24.11 || exit 9\ncase $* in\n"
		       "'show config') sed 's/^ResumeTimeout .*/ResumeTimeout = 900 sec/' "
		       "%s;;\n'-o show partitions') cat partitions.txt;;\n"
		       "*) exit 8;;\nesac\n",
		       tree, config != NULL ? config : "");
	write_file("bin/scontrol",
		   config != NULL
			   ? script
			   : "#!/bin/sh\necho first >&2\necho connection refused >&2\nexit 1\n",
		   0755);
}

static void assert_out(const char *want)
{
	char text[TEXT_SIZE] = "", sought[512];
	const char *d = strstr(want, "DIR");
	int fd = open(at("out"), O_RDONLY | O_CLOEXEC);

	assert_true(fd >= 0 && read(fd, text, sizeof(text) - 1) >= 0);
	(void)close(fd);
	(void)snprintf(sought, sizeof(sought), "%.*s%s%s", d != NULL ? (int)(d - want) : 0, want,
		       d != NULL ? dir : "", d != NULL ? d + 3 : want);
	if (strstr(text, sought) == NULL)
		fail_msg("got: %s", text);
}

/* --slurm asks slurmctld, with the scontrol of the file, else of PATH; the exit status says how bad
 * it is. */
static void test_check_slurm(void **state)
{
	char *path = mem_strdup(getenv("PATH")), *conf = mem_strdup(at("burstd.conf"));
	const char *const text[] = {"burstd", "--check", "--slurm", conf, NULL};
	const char *const json[] = {"burstd", "--check", "--slurm", "--json", conf, NULL};
	struct burstd *b = mem_zalloc(sizeof(*b));

	(void)state;
	make_files("#!/bin/sh\nexit 1\n");
	(void)setenv("PATH", at("bin"), 1);
	for (size_t i = 0; i < COUNT(slurm_rows); i++) {
		print_message("# %s\n", slurm_rows[i].name);
		write_conf(slurm_rows[i].from, slurm_rows[i].to);
		write_scontrol(slurm_rows[i].config);
		start_args(b, (char *const *)(uintptr_t)text);
		finish(b);
		if (b->rc != slurm_rows[i].rc)
			print_error("%s\n", b->text);
		assert_out(slurm_rows[i].out);
		assert_int_equal(b->rc, slurm_rows[i].rc);
		start_args(b, (char *const *)(uintptr_t)json);
		finish(b);
		assert_out(slurm_rows[i].json);
		assert_int_equal(b->rc, slurm_rows[i].rc);
	}
	start(b, "--slurm", "--check");
	finish(b);
	assert_int_not_equal(b->rc, 2);
	start(b, "--slurm", NULL);
	finish(b);
	assert_int_equal(b->rc, 2);
	start(b, "--check", "--json");
	finish(b);
	assert_int_equal(b->rc, 2);
	(void)setenv("PATH", path, 1);
	free(conf);
	free(path);
	free(b);
}

/* --- reload ------------------------------------------------------------------------------------
 */

static void ask_reload(const char *const *want, size_t n)
{
	char *answer = NULL;
	struct err e = {0};
	size_t len;

	assert_int_equal(ctl_client_ask(PATHS_SOCKET, "{\"v\":1,\"op\":\"reload\"}", PATIENCE_MS,
					&answer, &len, &e),
			 0);
	for (size_t i = 0; i < n; i++) {
		if (strstr(answer, want[i]) == NULL)
			fail_msg("got: %s", answer);
	}
	free(answer);
}

#define ASK(...)                                                                                   \
	ask_reload((const char *const[]){__VA_ARGS__}, COUNT(((const char *const[]){__VA_ARGS__})))

static void test_reload(void **state)
{
	struct burstd *b = mem_zalloc(sizeof(*b));

	(void)state;
	make_files("#!/bin/sh\nexit 1\n");
	start_ready(b);
	ASK("{\"ok\":true,\"changes\":[],\"at_restart\":[]}");
	write_conf("max_nodes = 8", "max_nodes = 4 boot_timeout = 20m");
	write_file("token", "secret-two", 0600);
	ASK("\"text\":\"pool \\\"p\\\" max_nodes: 8 -> 4\"",
	    "\"text\":\"pool \\\"p\\\" boot_timeout: 10m -> 20m\"",
	    "\"at_restart\":[\"provider \\\"sim\\\" credential_file: ", "holds another secret\"]");
	ASK("{\"ok\":true,\"changes\":[],\"at_restart\":[\"provider");
	assert_int_equal(unlink(at("token")), 0);
	ASK("\"changes\":[],\"at_restart\":[\"provider \\\"sim\\\" credential_file: ",
	    "No such file");
	write_conf("currency", "admins = {1}\ncurrency");
	ASK("{\"ok\":false,", "admins: a change needs a restart");
	write_conf(NULL, NULL);
	assert_int_equal(kill(b->pid, SIGHUP), 0);
	assert_true(read_until(b, "max_nodes: 4 -> 8"));
	assert_int_equal(kill(b->pid, SIGTERM), 0);
	finish(b);
	assert_int_equal(b->rc, 0);
	assert_null(strstr(b->text, "secret-")); /* I25 */
	free(b);
}

/* --- a world of its own ------------------------------------------------------------------------
 */

static int put_file(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);
	bool ok = fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text);

	if (fd >= 0)
		(void)close(fd);
	return ok ? 0 : -1;
}

static int enter_namespace(void)
{
	char uid[40], gid[40];

	(void)snprintf(uid, sizeof(uid), "0 %u 1", (unsigned)getuid());
	(void)snprintf(gid, sizeof(gid), "0 %u 1", (unsigned)getgid());
	root = unshare(CLONE_NEWNS) == 0;
	if (root)
		return 0;
	if (unshare(CLONE_NEWUSER | CLONE_NEWNS) != 0)
		return -1;
	(void)put_file("/proc/self/setgroups", "deny");
	return put_file("/proc/self/uid_map", uid) == 0 ? put_file("/proc/self/gid_map", gid) : -1;
}

static int make_world(void)
{
	if (enter_namespace() != 0 || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0 ||
	    mount("run", "/run", "tmpfs", 0, "mode=755") != 0 || mkdir(PATHS_RUN, 0755) != 0 ||
	    mount("spool", "/var/spool", "tmpfs", 0, "mode=755") != 0 ||
	    mkdir(PATHS_SPOOL, 0700) != 0)
		return -1;
	return mkdtemp(dir) != NULL ? 0 : -1;
}

/* build/MODE/tests/unit/daemon/test_burstd.t: the programs are in build/bin or in build/MODE/bin.
 */
static int find_burstd(void)
{
	static const char *const places[] = {"../../../bin", "../../../../bin"};
	char self[512] = "";

	if (readlink("/proc/self/exe", self, sizeof(self) - 1) < 0 || strrchr(self, '/') == NULL)
		return -1;
	*strrchr(self, '/') = '\0';
	for (size_t i = 0; i < COUNT(places); i++) {
		(void)snprintf(burstd_path, sizeof(burstd_path), "%s/%s/burstd", self, places[i]);
		if (access(burstd_path, X_OK) == 0)
			return 0;
	}
	return -1;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_stop),
		cmocka_unit_test(test_check),
		cmocka_unit_test(test_check_as),
		cmocka_unit_test(test_check_slurm),
		cmocka_unit_test(test_reload),
		cmocka_unit_test(test_forget),
		cmocka_unit_test(test_the_end_of_the_audit_log_is_logged),
		cmocka_unit_test(test_begun),
	};

	if (find_burstd() != 0) {
		(void)printf("Bail out! there is no burstd: run make\n");
		return 1;
	}
	if (make_world() != 0) {
		(void)printf("1..0 # SKIP namespaces are refused here: %s\n", strerror(errno));
		return 0;
	}
	return cmocka_run_group_tests_name("burstd", tests, NULL, NULL);
}
