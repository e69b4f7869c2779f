/* The daemon as a program: how it starts, reloads and ends. */
#include "lab.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <sqlite3.h>

#include "base/clock.h"
#include "base/mem.h"
#include "base/paths.h"
#include "io/ctl_client.h"

enum { NOBODY = 65534 };

/* --- the end -----------------------------------------------------------------------------------
 */

/* Nobody holds the journal, and SQLite has put its log away: it was closed, not left. */
static void assert_closed(void)
{
	int fd = open(lab_path("state/lock"), O_RDWR | O_CLOEXEC);

	assert_true(fd >= 0);
	assert_int_equal(flock(fd, LOCK_EX | LOCK_NB), 0);
	(void)close(fd);
	assert_int_equal(access(lab_path("state/journal.db"), F_OK), 0);
	assert_int_equal(access(lab_path("state/journal.db-wal"), F_OK), -1);
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
		lab_make_files(rows[i].scontrol);
		lab_start_ready(b);
		fd = connect_idle();
		began = clock_boot_ms();
		assert_int_equal(kill(b->pid, rows[i].signal), 0);
		lab_finish(b);
		(void)close(fd);
		if (b->rc != 0)
			print_error("%s\n", b->text);
		assert_int_equal(b->rc, 0);
		assert_true(clock_boot_ms() - began < LAB_PATIENCE_MS / 2);
		assert_closed();
	}
	free(b);
}

/* Who obeyed this could make no certificate. */
static void leave_no_algorithms(void)
{
	lab_write("openssl.cnf",
		  "openssl_conf = a\n[a]\nproviders = b\n[b]\nc = d\n[d]\n"
		  "module = /nonexistent.so\nactivate = 1\n",
		  0644);
	assert_int_equal(setenv("OPENSSL_CONF", lab_path("openssl.cnf"), 1), 0);
}

/* A socket with a port of its own on the loopback, in *sa; as long as it is open nobody else can
 * have that port. */
static int take_port(struct sockaddr_in *sa)
{
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	socklen_t len = sizeof(*sa);

	*sa = (struct sockaddr_in){.sin_family = AF_INET,
				   .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	assert_int_equal(bind(fd, (struct sockaddr *)sa, len), 0);
	assert_int_equal(getsockname(fd, (struct sockaddr *)sa, &len), 0);
	return fd;
}

/* top: what else is in the file, at its top. */
static void write_conf_nodes(const char *top, const char *address, unsigned port)
{
	char text[512];

	(void)snprintf(
		text, sizeof(text),
		"%s\nsecrets {\ndriver = file name = b dir = \"DIR\" release = broker\n}\nnodes {"
		"\nlisten = \"%s:%u\" url = {\"https://127.0.0.1:%u\"} "
		"conf_server = {\"c:1\"}\n}\nslurm {",
		top, address, port, port);
	lab_write_conf("slurm {", text);
}

/* What machines that boot are to know is made once and kept; they are heard from the start to the
 * end. */
static void test_nodes(void **state)
{
	struct burstd *b = mem_zalloc(sizeof(*b));
	struct sockaddr_in sa = lab_free_place();
	struct stat st[2];
	int fd;

	(void)state;
	lab_make_files("#!/bin/sh\nexit 1\n");
	write_conf_nodes("", "127.0.0.1", ntohs(sa.sin_port));
	leave_no_algorithms();
	for (size_t i = 0; i < 2; i++) {
		lab_start_ready(b);
		fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
		assert_int_equal(connect(fd, (struct sockaddr *)&sa, sizeof(sa)), 0);
		assert_int_equal(kill(b->pid, SIGTERM), 0);
		lab_finish(b);
		(void)close(fd);
		assert_int_equal(b->rc, 0);
		assert_closed();
		assert_int_equal(stat(lab_path("state/claim-key"), &st[i]), 0);
		assert_int_equal(st[i].st_mode & 07777, 0600);
		assert_int_equal(access(lab_path("state/node-ca.pem"), F_OK), 0);
	}
	assert_int_equal(unsetenv("OPENSSL_CONF"), 0);
	assert_int_equal(st[0].st_ino, st[1].st_ino);
	assert_int_equal(chmod(lab_path("state/claim-key"), 0644), 0);
	lab_start(b, "-c", lab_path("burstd.conf"));
	lab_finish(b);
	assert_int_equal(b->rc, LAB_BAD_CONF); /* a person must look */
	assert_non_null(strstr(b->text, "claim-key: must be a regular file owned by this user"));
	assert_non_null(strstr(b->text, "hint=\"1. start it by systemctl"));
	assert_int_equal(unlink(lab_path("state/claim-key")), 0);
	lab_write_conf(NULL, NULL);
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

	assert_int_equal(sqlite3_open(lab_path("state/journal.db"), &db), SQLITE_OK);
	assert_int_equal(sqlite3_busy_timeout(db, LAB_PATIENCE_MS), SQLITE_OK);
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
	const int64_t now = clock_wall_ms(), until = clock_boot_ms() + LAB_PATIENCE_MS;
	char sql[400];

	(void)state;
	lab_make_files("#!/bin/sh\nexit 1\n");
	lab_write_conf("currency = EUR\n", "currency = EUR\nevents_keep = 1h\n");
	lab_start_ready(b);
	assert_int_equal(kill(b->pid, SIGTERM), 0);
	lab_finish(b);
	(void)snprintf(
		sql, sizeof(sql),
		"WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < %d)"
		" INSERT INTO event (at_ms, node, gen, type, detail)"
		" SELECT %lld + (i = %d) * %d, 'c1', 1, 'test', '' FROM n",
		OLD + 1, (long long)(now - 2 * HOUR_MS), OLD + 1, HOUR_MS * 3 / 2);
	(void)ask_journal("DELETE FROM event");
	(void)ask_journal(sql);
	assert_int_equal(ask_journal("SELECT COUNT(*) FROM event WHERE type = 'test'"), OLD + 1);
	lab_start_ready(b);
	while (ask_journal("SELECT COUNT(*) FROM event WHERE type = 'test'") > 1 &&
	       clock_boot_ms() < until)
		(void)poll(NULL, 0, 50);
	assert_int_equal(kill(b->pid, SIGTERM), 0);
	lab_finish(b);
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
	const int64_t until = clock_boot_ms() + LAB_PATIENCE_MS;
	const char *last;
	char sql[400];

	(void)state;
	lab_make_files("#!/bin/sh\nexit 1\n");
	lab_start_ready(b);
	assert_int_equal(kill(b->pid, SIGTERM), 0);
	lab_finish(b);
	assert_int_equal(count(b->text, "msg=\"audit log\""), 0); /* there is nothing in it */
	(void)snprintf(sql, sizeof(sql),
		       "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < "
		       "%d) INSERT INTO audit SELECT i, 0, 'hook', 'create', 'sim', 'c1', '', '',"
		       " printf('%%064x', i) FROM n",
		       OLD);
	(void)ask_journal(sql);
	lab_start_ready(b);
	while (ask_journal("SELECT seq FROM audit_mark WHERE name = 'head'") < AFTER &&
	       clock_boot_ms() < until)
		(void)poll(NULL, 0, 50);
	assert_int_equal(ask_journal("SELECT COUNT(*) FROM audit"), 2);
	assert_int_equal(kill(b->pid, SIGTERM), 0);
	lab_finish(b);
	(void)snprintf(sql, sizeof(sql), "head=%d:%064x\n", OLD, (unsigned)OLD);
	assert_non_null(strstr(b->text, sql));
	assert_int_equal(count(b->text, "msg=\"audit log\""), 2);
	last = strstr(b->text, "head=514:");
	assert_non_null(last);
	(void)snprintf(sql, sizeof(sql),
		       "SELECT hash = '%.64s' FROM audit_mark WHERE name = 'head'",
		       last + strlen("head=514:"));
	assert_int_equal(ask_journal(sql), 1);
	lab_start_ready(b);
	assert_true(lab_read_until(b, "head=514:"));
	assert_int_equal(kill(b->pid, SIGTERM), 0);
	lab_finish(b);
	assert_int_equal(count(b->text, "msg=\"audit log\""), 1); /* it did not grow */
	free(b);
}

/* A first start that ended after the journal's tables and before what it begins with (a full disk,
 * a kill) is gone on with; a journal of another cluster is not. */
static void test_begun(void **state)
{
	struct burstd *b = mem_zalloc(sizeof(*b));

	(void)state;
	lab_make_files("#!/bin/sh\nexit 1\n");
	lab_start_ready(b);
	assert_int_equal(kill(b->pid, SIGTERM), 0);
	lab_finish(b);
	(void)ask_journal("DELETE FROM meta");
	lab_start_ready(b);
	assert_int_equal(kill(b->pid, SIGTERM), 0);
	lab_finish(b);
	assert_true(ask_journal("SELECT value FROM meta WHERE key = 'cluster_uuid'") > 0);
	(void)ask_journal("UPDATE meta SET value = 1 WHERE key = 'cluster_uuid'");
	lab_start(b, "-c", lab_path("burstd.conf"));
	lab_finish(b);
	assert_int_equal(b->rc, LAB_BAD_CONF);
	assert_non_null(strstr(b->text, "belongs to another cluster uuid"));
	free(b);
}

static void remove_state(void)
{
	char command[200];

	(void)snprintf(command, sizeof(command), "rm -rf %s", lab_path("state"));
	assert_int_equal(system(command), 0);
}

static void damage_journal(void)
{
	lab_write("state/journal.db",
		  "this is no database, and longer than a header of one: "
		  "0123456789012345678901234567890123456789012345678901234567",
		  0600);
}

/* The byte at 18: who knows no later format than this may only read. */
static void damage_header(void)
{
	int fd = open(lab_path("state/journal.db"), O_WRONLY | O_CLOEXEC);

	assert_true(fd >= 0 && pwrite(fd, "\xee", 1, 18) == 1);
	(void)close(fd);
}

static void damage_row(void)
{
	(void)ask_journal("INSERT INTO pool VALUES ('p', 7, 0, 0, 0, '', 0)");
}

static void damage_numbers(void)
{
	(void)ask_journal("INSERT INTO meta VALUES ('rotation_phase', 4711)");
}

static void lose_table(void)
{
	(void)ask_journal("DROP TABLE rescue");
}

static void cut_journal(void)
{
	assert_int_equal(truncate(lab_path("state/journal.db"), 9999), 0);
}

static void write_newer(void)
{
	(void)ask_journal("PRAGMA user_version = 999");
}

static void write_another(void)
{
	(void)ask_journal("UPDATE meta SET value = 1 WHERE key = 'cluster_uuid'");
}

static void lose_uuid(void)
{
	assert_int_equal(unlink(lab_path("state/uuid")), 0);
}

static void damage_uuid(void)
{
	lab_write("state/uuid", "01234567\n", 0600);
}

static void let_others_write(void)
{
	assert_int_equal(chmod(lab_path("state"), 0777), 0);
}

/* Who is not root can give it to nobody: then its group may write. */
static void give_away(void)
{
	assert_int_equal(chown(lab_path("state"), geteuid() == 0 ? 1 : geteuid(), (gid_t)-1), 0);
	if (geteuid() != 0)
		assert_int_equal(chmod(lab_path("state"), 0770), 0);
}

/* The backup comes last: SQLite writes an old -wal beside it into it. */
static const char hint_journal[] =
	"hint=\"1. copy state_dir to a safe place; 2. move journal.db, journal.db-wal and "
	"journal.db-shm away, then put the last backup of journal.db in their place: ";

/* What only a person can mend: the log says what to do, and systemd is not to try again each second
 * (78).  A new uuid is made only where there is no trace of an old one (F55, I11). */
static void test_state_that_a_person_must_mend(void **state)
{
	static const struct {
		const char *name;
		void (*harm)(void);
		const char *error, *hint;
	} rows[] = {
		{"damaged journal", damage_journal, "damaged: ", hint_journal},
		{"damaged header", damage_header, "damaged: malformed header", hint_journal},
		{"damaged row", damage_row, "damaged: table pool has a malformed row",
		 hint_journal},
		{"damaged numbers", damage_numbers, "in the journal is damaged", hint_journal},
		{"lost table", lose_table, "no such table", hint_journal},
		{"cut journal", cut_journal, "damaged: ", hint_journal},
		{"newer journal", write_newer, "schema 999 is from a newer",
		 "hint=\"a newer burstd "},
		{"another's journal", write_another, "another cluster uuid",
		 "hint=\"1. put uuid back"},
		{"lost uuid", lose_uuid, "/uuid: missing, but ", "hint=\"1. put uuid back"},
		{"damaged uuid", damage_uuid, "/uuid: damaged", "hint=\"1. put uuid back"},
		{"anybody's", let_others_write, "mode 0777", "hint=\"1. start it by systemctl"},
		{"another user's", give_away, "state", "hint=\"1. start it by systemctl"},
	};
	struct burstd *b = mem_zalloc(sizeof(*b));

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		print_message("# %s\n", rows[i].name);
		remove_state();
		lab_make_files("#!/bin/sh\nexit 1\n");
		lab_start_ready(b);
		assert_int_equal(kill(b->pid, SIGTERM), 0);
		lab_finish(b);
		rows[i].harm();
		for (int again = 0; again < 2; again++) { /* it has mended nothing by itself */
			lab_start(b, "-c", lab_path("burstd.conf"));
			lab_finish(b);
			assert_int_equal(b->rc, LAB_BAD_CONF);
			if (strstr(b->text, rows[i].error) == NULL ||
			    strstr(b->text, rows[i].hint) == NULL)
				fail_msg("got: %s", b->text);
		}
	}
	remove_state();
	free(b);
}

/* root's, as after a restore that nobody put right; one that others may read is no better. */
static void make_roots(const char *name, mode_t mode)
{
	int fd = open(lab_path(name), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);

	assert_true(fd >= 0);
	assert_int_equal(fchown(fd, 0, 0), 0);
	assert_int_equal(fchmod(fd, mode), 0);
	(void)close(fd);
}

static void restore_all(void)
{
	make_roots("state/journal.db", 0600);
	assert_int_equal(chown(lab_path("state"), 0, 0), 0);
}

static void restore_uuid(void)
{
	make_roots("state/uuid", 0600);
}

static void restore_journal(void)
{
	make_roots("state/journal.db", 0600);
}

static void restore_readable_journal(void)
{
	make_roots("state/journal.db", 0644);
}

static void leave_wal(void)
{
	make_roots("state/journal.db-wal", 0600);
}

static void leave_readable_wal(void)
{
	make_roots("state/journal.db-wal", 0644);
}

static void leave_shm(void)
{
	make_roots("state/journal.db-shm", 0600);
}

static void leave_readable_shm(void)
{
	make_roots("state/journal.db-shm", 0644);
}

static void close_state(void)
{
	assert_int_equal(chmod(lab_path("state"), 0500), 0);
}

/* What only root can make, in a directory that is root's. */
static void put_file(void)
{
	remove_state();
	make_roots("state", 0644);
}

/* As above, by the eyes of a user for whom rights count. */
static void test_state_that_is_not_ours(void **state)
{
	static const struct {
		const char *name;
		void (*harm)(void);
		const char *error;
	} rows[] = {
		{"all", restore_all, "/state: uid 65534 may not open it"},
		{"uuid", restore_uuid, "/uuid: Permission denied"},
		{"journal", restore_journal, "/journal.db: Permission denied"},
		{"readable journal", restore_readable_journal, "/journal.db: Permission denied"},
		{"-wal", leave_wal, "/journal.db-wal: Permission denied"},
		{"readable -wal", leave_readable_wal, "/journal.db-wal: Permission denied"},
		{"-shm", leave_shm, "/journal.db-shm: Permission denied"},
		{"readable -shm", leave_readable_shm, "/journal.db-shm: Permission denied"},
		{"closed", close_state, "/state/.: Permission denied"},
		{"a file", put_file, "/state: not a directory"},
	};
	struct burstd *b = mem_zalloc(sizeof(*b));
	char command[200];

	(void)state;
	if (!lab_root || geteuid() != 0)
		skip();
	assert_int_equal(chmod(lab_dir, 0755), 0);
	for (size_t i = 0; i < COUNT(rows); i++) {
		print_message("# %s\n", rows[i].name);
		remove_state();
		lab_make_files("#!/bin/sh\nexit 1\n");
		lab_start_ready(b);
		assert_int_equal(kill(b->pid, SIGTERM), 0);
		lab_finish(b);
		(void)snprintf(command, sizeof(command), "chown -R %d %s", NOBODY,
			       lab_path("state"));
		assert_int_equal(system(command), 0);
		rows[i].harm();
		lab_uid = NOBODY;
		lab_start(b, "-c", lab_path("burstd.conf"));
		lab_uid = 0;
		lab_finish(b);
		if (b->rc != LAB_BAD_CONF || strstr(b->text, rows[i].error) == NULL ||
		    strstr(b->text, "hint=\"1. start it by systemctl") == NULL)
			fail_msg("status %d: %s", b->rc, b->text);
	}
	remove_state();
	free(b);
}

static void may_come_back(struct burstd *b, const char *why)
{
	lab_start(b, "-c", lab_path("burstd.conf"));
	lab_finish(b);
	assert_int_equal(b->rc, EXIT_FAILURE);
	assert_non_null(strstr(b->text, "/state: does not exist, and uid"));
	assert_non_null(strstr(b->text, why));
	assert_null(strstr(b->text, "hint="));
}

/* A disk that is away may come back: systemd is to try again (F55). */
static void test_state_that_may_come_back(void **state)
{
	struct burstd *b = mem_zalloc(sizeof(*b));

	(void)state;
	lab_make_files("#!/bin/sh\nexit 1\n");
	lab_write_conf("DIR/state", "DIR/away/state");
	may_come_back(b, "No such file or directory");
	lab_write_conf(NULL, NULL);
	if (lab_root &&
	    geteuid() == 0) { /* nothing is mounted there yet, and the place is root's */
		remove_state();
		assert_int_equal(chmod(lab_dir, 0755), 0);
		lab_uid = NOBODY;
		may_come_back(b, "Permission denied");
		lab_uid = 0;
	}
	free(b);
}

enum { PAGE = 4096, PAGES_MAX = 256 };

struct file {
	size_t len;
	char bytes[PAGES_MAX * PAGE];
};

static void load(const char *path, struct file *f)
{
	FILE *in = fopen(path, "re");

	assert_non_null(in);
	f->len = fread(f->bytes, 1, sizeof(f->bytes), in);
	(void)fclose(in);
}

static void store(const char *path, const struct file *f)
{
	FILE *out = fopen(path, "we");

	assert_non_null(out);
	assert_int_equal(fwrite(f->bytes, 1, f->len, out), f->len);
	assert_int_equal(fclose(out), 0);
	assert_int_equal(chmod(path, 0600), 0);
}

/* What burst-suspend leaves where burstd does not answer. */
static void spool_call(void)
{
	static const char call[] = "J\0\0\0${\"v\":1,\"op\":\"call\",\"kind\":\"suspend\"}"
				   "L\0\0\0\2c1Z\0\0\0";
	int fd = open(PATHS_SPOOL "/1", O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	assert_true(fd >= 0 && write(fd, call, sizeof(call)) == sizeof(call));
	(void)close(fd);
}

/* Did it take the call and live, or end of itself? */
static bool works(struct burstd *b)
{
	const int64_t until = clock_boot_ms() + LAB_PATIENCE_MS;
	siginfo_t ended = {.si_pid = 0};

	lab_start(b, "-c", lab_path("burstd.conf"));
	while (access(PATHS_SPOOL "/1", F_OK) == 0 && ended.si_pid == 0 &&
	       clock_boot_ms() < until) {
		assert_int_equal(waitid(P_PID, (id_t)b->pid, &ended, WEXITED | WNOHANG | WNOWAIT),
				 0);
		(void)poll(NULL, 0, 2);
	}
	(void)kill(b->pid, SIGTERM);
	lab_finish(b);
	return b->rc == 0;
}

/* Something else in the place of a page; in a second round, the page behind it. */
static void damage_page(const struct file *good, size_t at, struct file *bad)
{
	memcpy(bad, good, sizeof(*bad));
	if (at < good->len)
		memset(bad->bytes + at, 0xee, PAGE);
	else
		memcpy(bad->bytes + at % good->len, good->bytes + (at + PAGE) % good->len, PAGE);
}

/* Wherever the journal is damaged: either it is not in the way, or burstd ends with the status that
 * has a person look, and says what to do; and no call is lost by it (F55, I29). */
static void test_each_page_of_the_journal(void **state)
{
	struct burstd *b = mem_zalloc(sizeof(*b));
	struct file *good = mem_zalloc(sizeof(*good)), *bad = mem_zalloc(sizeof(*bad));
	int nwork = 0, nend = 0, nlate = 0;

	(void)state;
	remove_state();
	lab_make_files("#!/bin/sh\nexit 1\n");
	spool_call();
	assert_true(works(b));
	load(lab_path("state/journal.db"), good);
	assert_int_equal(good->len % PAGE, 0);
	for (size_t at = 0; at < 2 * good->len; at += PAGE) {
		damage_page(good, at, bad);
		(void)unlink(lab_path("state/journal.db-wal"));
		(void)unlink(lab_path("state/journal.db-shm"));
		store(lab_path("state/journal.db"), bad);
		spool_call();
		if (works(b)) {
			nwork++;
			continue;
		}
		if (b->rc != LAB_BAD_CONF || strstr(b->text, hint_journal) == NULL)
			fail_msg("page %zu: status %d: %s", at % good->len / PAGE + 1, b->rc,
				 b->text);
		assert_int_equal(count(b->text, "/journal.db: "), 1);
		nlate += strstr(b->text, "the journal failed") != NULL;
		nend++;
		assert_int_equal(access(PATHS_SPOOL "/1", F_OK), 0);
	}
	print_message("# %d work, %d end, %d of them late\n", nwork, nend, nlate);
	assert_true(nwork > 0 && nend > nlate && nlate > 0);
	assert_int_equal(unlink(PATHS_SPOOL "/1"), 0);
	remove_state();
	free(good);
	free(bad);
	free(b);
}

/* --- reload ------------------------------------------------------------------------------------
 */

static void ask(const char *request, const char *const *want, size_t n)
{
	char *answer = NULL;
	struct err e = {0};
	size_t len;

	assert_int_equal(ctl_client_ask(PATHS_SOCKET, request, LAB_PATIENCE_MS, &answer, &len, &e),
			 0);
	for (size_t i = 0; i < n; i++) {
		if (strstr(answer, want[i]) == NULL)
			fail_msg("got: %s", answer);
	}
	free(answer);
}

#define ASK_OP(op, ...)                                                                            \
	ask("{\"v\":1,\"op\":\"" op "\"}", (const char *const[]){__VA_ARGS__},                     \
	    COUNT(((const char *const[]){__VA_ARGS__})))
#define ASK(...) ASK_OP("reload", __VA_ARGS__)

static void test_reload(void **state)
{
	struct burstd *b = mem_zalloc(sizeof(*b));

	(void)state;
	lab_make_files("#!/bin/sh\nexit 1\n");
	lab_start_ready(b);
	ASK("{\"ok\":true,\"changes\":[],\"at_restart\":[]}");
	lab_write_conf("max_nodes = 8", "max_nodes = 4 boot_timeout = 20m");
	lab_write("token", "secret-two", 0600);
	ASK("\"text\":\"pool \\\"p\\\" max_nodes: 8 -> 4\"",
	    "\"text\":\"pool \\\"p\\\" boot_timeout: 10m -> 20m\"",
	    "\"at_restart\":[\"provider \\\"sim\\\" credential_file: ", "holds another secret\"]");
	ASK("{\"ok\":true,\"changes\":[],\"at_restart\":[\"provider");
	assert_int_equal(unlink(lab_path("token")), 0);
	ASK("\"changes\":[],\"at_restart\":[\"provider \\\"sim\\\" credential_file: ",
	    "No such file");
	lab_write_conf("currency", "admins = {1}\ncurrency");
	ASK("{\"ok\":false,", "admins: a change needs a restart");
	lab_write_conf(NULL, NULL);
	assert_int_equal(kill(b->pid, SIGHUP), 0);
	assert_true(lab_read_until(b, "max_nodes: 4 -> 8"));
	assert_int_equal(kill(b->pid, SIGTERM), 0);
	lab_finish(b);
	assert_int_equal(b->rc, 0);
	assert_null(strstr(b->text, "secret-")); /* I25 */
	free(b);
}

/* --- ports -------------------------------------------------------------------------------------
 */

/* docs/threats.md: any user of this machine can have bound the ports while burstd was down.  It
 * starts, answers, reloads, says so, and has them when they are free. */
static void test_ports_that_others_have_keep_it_from_nothing_else(void **state)
{
	struct burstd *b = mem_zalloc(sizeof(*b));
	struct sockaddr_in metrics, nodes;
	int taken[] = {take_port(&metrics), take_port(&nodes)}, fd[2];
	char top[64];

	(void)state;
	assert_int_equal(listen(taken[0], 1), 0);
	assert_int_equal(listen(taken[1], 1), 0);
	lab_make_files("#!/bin/sh\nexit 1\n");
	(void)snprintf(top, sizeof(top), "listen = \"127.0.0.1:%u\"", ntohs(metrics.sin_port));
	write_conf_nodes(top, "127.0.0.1", ntohs(nodes.sin_port));
	lab_start_ready(b);
	assert_non_null(strstr(b->text, "msg=\"the listener of /metrics is off\" error="));
	assert_non_null(strstr(b->text, "msg=\"the listener for nodes is off\" error="));
	ASK_OP("status", "\"nodes cannot reach burstd: ", "\"/metrics is not served: cannot listen",
	       "Address already in use");
	ASK("{\"ok\":true,\"changes\":[],\"at_restart\":[]}");
	(void)close(taken[0]);
	(void)close(taken[1]);
	assert_true(lab_read_until(b, "msg=\"the listener of /metrics is on again\""));
	assert_true(lab_read_until(b, "msg=\"the listener for nodes is on again\""));
	for (int i = 0; i < 2; i++) {
		const struct sockaddr_in *sa = i == 0 ? &metrics : &nodes;

		fd[i] = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
		assert_int_equal(connect(fd[i], (const struct sockaddr *)sa, sizeof(*sa)), 0);
	}
	assert_int_equal(kill(b->pid, SIGTERM), 0);
	lab_finish(b);
	assert_int_equal(b->rc, 0);
	assert_int_equal(count(b->text, "is off"), 2); /* once each, however often it was tried */
	assert_closed();
	(void)close(fd[0]);
	(void)close(fd[1]);
	free(b);
}

/* An address that this machine does not have may come later; burstd ends before. */
static void test_an_address_that_is_not_here(void **state)
{
	struct burstd *b = mem_zalloc(sizeof(*b));

	(void)state;
	lab_make_files("#!/bin/sh\nexit 1\n");
	write_conf_nodes("", "192.0.2.1", 8443);
	lab_start_ready(b);
	assert_non_null(strstr(b->text, "cannot listen on 192.0.2.1 port 8443: "));
	assert_int_equal(kill(b->pid, SIGTERM), 0);
	lab_finish(b);
	assert_int_equal(b->rc, 0);
	assert_closed();
	lab_write_conf(NULL, NULL);
	free(b);
}

/* --- files -------------------------------------------------------------------------------------
 */

/* What new machines need must not keep what runs from being seen to: burstd starts, says so, and
 * goes on when it is there. */
static void test_files_for_new_machines_that_are_away(void **state)
{
	static const struct {
		const char *name, *off, *on, *problem;
	} files[] = {
		{"secret-id", "msg=\"the secret store is off\"",
		 "msg=\"the secret store is on again\"",
		 "the secret store https://127.0.0.1:1 has given out no keys"},
		{"vault-ca", "msg=\"the secret store is off\"",
		 "msg=\"the secret store is on again\"",
		 "the secret store https://127.0.0.1:1 has given out no keys"},
		{"node-init", "msg=\"node-init cannot be read\"",
		 "msg=\"node-init can be read again\"", "no node that needs it is bought"},
	};
	struct burstd *b = mem_zalloc(sizeof(*b));
	char want[64];

	(void)state;
	lab_make_files("#!/bin/sh\nexit 1\n");
	lab_write_conf("slurm {",
		       "secrets {\ndriver = vault address = \"https://127.0.0.1:1\" name = b "
		       "role_id = r\ncredential_file = \"DIR/secret-id\" ca_file = "
		       "\"DIR/vault-ca\"\n}\nnodes {\nlisten = \"127.0.0.1:1\" url = "
		       "{\"https://127.0.0.1:1\"} conf_server = {\"c:1\"}\nnode_init = "
		       "\"DIR/node-init\"\n}\nslurm {");
	for (size_t i = 0; i < COUNT(files); i++) {
		lab_write("node-init", "an-init\n", 0600);
		lab_write("secret-id", "an-id\n", 0600);
		lab_write("vault-ca", "PEM\n", 0600);
		assert_int_equal(unlink(lab_path(files[i].name)), 0);
		lab_start_ready(b);
		(void)snprintf(want, sizeof(want), "%s: No such file or directory", files[i].name);
		assert_true(lab_read_until(b, files[i].off));
		ASK_OP("status", files[i].problem, want);
		lab_write(files[i].name, "an-id", 0600);
		ASK("{\"ok\":true,");
		assert_true(lab_read_until(b, files[i].on));
		assert_int_equal(kill(b->pid, SIGTERM), 0);
		lab_finish(b);
		assert_int_equal(b->rc, 0);
	}
	lab_write_conf(NULL, NULL);
	free(b);
}

/* Nor must one provider's damaged file: the others' lists and deletes go on. */
static void test_a_file_of_roots_that_is_damaged(void **state)
{
	static const char *const texts[] = {"", "garbage\n"};
	struct burstd *b = mem_zalloc(sizeof(*b));

	(void)state;
	lab_make_files("#!/bin/sh\nexit 1\n");
	write_conf_nodes("provider far {\ndriver = sim url = \"http://127.0.0.1:1\" "
			 "credential_file = \"DIR/token\"\nattest = azure attest_ca_file = "
			 "\"DIR/roots\"\n}",
			 "127.0.0.1", 1);
	for (size_t i = 0; i < COUNT(texts); i++) {
		lab_write("roots", texts[i], 0600);
		lab_start_ready(b);
		assert_true(lab_read_until(b, "msg=\"a provider is off\" provider=far"));
		ASK_OP("status", "provider far is off: attest_ca_file: ",
		       "no root (self-signed) certificate");
		assert_int_equal(kill(b->pid, SIGTERM), 0);
		lab_finish(b);
		assert_int_equal(b->rc, 0);
	}
	lab_write_conf(NULL, NULL);
	free(b);
}

/* --- its memory --------------------------------------------------------------------------------
 */

/* The keys are in it for a moment, and credentials for as long as it runs.  (That nobody else of
 * its user may look at it either only shows where that is not root: tests/e2e/bootstrap.bats.) */
static void test_its_memory_is_in_no_core_file(void **state)
{
	struct burstd *b = mem_zalloc(sizeof(*b));
	char path[64], text[4096] = "";
	FILE *f;

	(void)state;
	lab_make_files("#!/bin/sh\nexit 1\n");
	lab_start_ready(b);
	(void)snprintf(path, sizeof(path), "/proc/%d/limits", (int)b->pid);
	f = fopen(path, "re");
	assert_non_null(f);
	assert_true(fread(text, 1, sizeof(text) - 1, f) > 0);
	(void)fclose(f);
	assert_int_equal(kill(b->pid, SIGTERM), 0);
	lab_finish(b);
	assert_int_equal(b->rc, 0);
	assert_non_null(strstr(text, "\nMax core file size        0                    0 "));
	free(b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_stop),
		cmocka_unit_test(test_its_memory_is_in_no_core_file),
		cmocka_unit_test(test_nodes),
		cmocka_unit_test(test_ports_that_others_have_keep_it_from_nothing_else),
		cmocka_unit_test(test_an_address_that_is_not_here),
		cmocka_unit_test(test_files_for_new_machines_that_are_away),
		cmocka_unit_test(test_a_file_of_roots_that_is_damaged),
		cmocka_unit_test(test_reload),
		cmocka_unit_test(test_forget),
		cmocka_unit_test(test_the_end_of_the_audit_log_is_logged),
		cmocka_unit_test(test_begun),
		cmocka_unit_test(test_state_that_a_person_must_mend),
		cmocka_unit_test(test_state_that_is_not_ours),
		cmocka_unit_test(test_state_that_may_come_back),
		cmocka_unit_test(test_each_page_of_the_journal),
	};
	int rc;

	if (!lab_open(&rc))
		return rc;
	return cmocka_run_group_tests_name("burstd", tests, NULL, NULL);
}
