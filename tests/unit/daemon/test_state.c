/* burstd's state directory is damaged, somebody else's or away (F55): it ends, and says what to do.
 */
#include "lab.h"
#include "running.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"
#include "base/paths.h"

enum { NOBODY = 65534 };

/* A first start that ended after the journal's tables and before what it begins with (a full disk,
 * a kill) is gone on with; a journal of another cluster is not. */
static void test_begun(void **state)
{
	struct burstd *b = mem_zalloc(sizeof(*b));

	(void)state;
	lab_make_files("#!/bin/sh\nexit 1\n");
	lab_start_ready(b);
	lab_stop(b);
	(void)ask_journal("DELETE FROM meta");
	lab_start_ready(b);
	lab_stop(b);
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
		lab_stop(b);
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
		lab_stop(b);
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
	(void)unlink(PATHS_SPOOL "/1"); /* there if the last page was one that is read */
	remove_state();
	free(good);
	free(bad);
	free(b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_begun),
		cmocka_unit_test(test_state_that_a_person_must_mend),
		cmocka_unit_test(test_state_that_is_not_ours),
		cmocka_unit_test(test_state_that_may_come_back),
		cmocka_unit_test(test_each_page_of_the_journal),
	};
	int rc;

	if (!lab_open(&rc))
		return rc;
	return cmocka_run_group_tests_name("state", tests, NULL, NULL);
}
