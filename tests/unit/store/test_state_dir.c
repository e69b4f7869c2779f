/* One row per way a state directory is good or not; a second burstd; a uuid that stays (F59). */
#include "store/state_dir.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "store/journal.h"

struct fixture {
	char top[32], dir[64];
};

static int setup(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));

	assert_non_null(f);
	(void)snprintf(f->top, sizeof(f->top), "/tmp/state-dirXXXXXX");
	assert_non_null(mkdtemp(f->top));
	(void)snprintf(f->dir, sizeof(f->dir), "%s/state", f->top);
	*state = f;
	return 0;
}

static char *in_dir(const struct fixture *f, const char *name)
{
	static char path[128];

	(void)snprintf(path, sizeof(path), "%s/%s", f->dir, name);
	return path;
}

static int teardown(void **state)
{
	struct fixture *f = *state;
	static const char *const names[] = {"lock",       "uuid",    "uuid.tmp",   "other",
					    "journal.db", "reserve", "last-batch", "older.db"};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		unlink(in_dir(f, names[i]));
	unlink(f->dir); /* a link in its place */
	rmdir(f->dir);
	(void)snprintf(f->dir, sizeof(f->dir), "%s/real", f->top);
	rmdir(f->dir);
	rmdir(f->top);
	free(f);
	return 0;
}

static void write_text(const char *path, const char *text, mode_t mode)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, strlen(text)), strlen(text));
	assert_int_equal(fchmod(fd, mode), 0);
	close(fd);
}

static void refused(const struct fixture *f, enum err_code code, const char *want)
{
	struct state_dir d;
	struct err e = {0};

	assert_int_equal(state_dir_open(&d, f->dir, &e), -1);
	assert_int_equal(d.lock_fd, -1);
	if (strstr(e.msg, want) == NULL)
		fail_msg("got: %s", e.msg);
	assert_int_equal(e.code, code);
}

static void test_made_and_kept(void **state)
{
	const struct fixture *f = *state;
	struct state_dir d, again;
	struct stat st;

	assert_int_equal(state_dir_open(&d, f->dir, NULL), 0);
	assert_true(d.fresh);
	assert_int_equal(strlen(d.uuid), 36);
	assert_int_equal(d.uuid[14], '4'); /* version */
	assert_non_null(strchr("89ab", d.uuid[19]));
	assert_int_equal(stat(f->dir, &st), 0);
	assert_int_equal(st.st_mode & 07777, 0700);
	assert_int_equal(stat(in_dir(f, "uuid"), &st), 0);
	assert_int_equal(st.st_mode & 07777, 0600);
	assert_int_equal(access(in_dir(f, "uuid.tmp"), F_OK), -1);
	state_dir_close(&d);
	state_dir_close(&d);

	assert_int_equal(state_dir_open(&again, f->dir, NULL), 0);
	assert_false(again.fresh);
	assert_string_equal(again.uuid, d.uuid);
	state_dir_close(&again);
}

static void test_uuids_differ(void **state)
{
	const struct fixture *f = *state;
	struct state_dir a, b;

	assert_int_equal(state_dir_open(&a, f->dir, NULL), 0);
	state_dir_close(&a);
	unlink(in_dir(f, "uuid"));
	assert_int_equal(state_dir_open(&b, f->dir, NULL), 0);
	assert_true(b.fresh);
	assert_string_not_equal(a.uuid, b.uuid);
	state_dir_close(&b);
}

/* Beside a burstd that has the lock, and without a trace. */
static void test_a_look_makes_nothing(void **state)
{
	const struct fixture *f = *state;
	char uuid[STATE_DIR_UUID_SIZE];
	struct state_dir d;
	struct err e = {0};

	assert_int_equal(state_dir_look(f->dir, uuid, &e), 1);
	assert_int_equal(access(f->dir, F_OK), -1);
	assert_int_equal(mkdir(f->dir, 0700), 0);
	assert_int_equal(state_dir_look(f->dir, uuid, &e), 1);
	assert_string_equal(uuid, "");
	assert_int_equal(access(in_dir(f, "uuid"), F_OK), -1);
	assert_int_equal(state_dir_open(&d, f->dir, NULL), 0);
	assert_int_equal(state_dir_look(f->dir, uuid, &e), 0);
	assert_string_equal(uuid, d.uuid);
	state_dir_close(&d);
	write_text(in_dir(f, "uuid"), "nonsense\n", 0600);
	assert_int_equal(state_dir_look(f->dir, uuid, &e), -1);
	assert_non_null(strstr(e.msg, "uuid: damaged"));
	assert_string_equal(uuid, "");
}

static const char *unreadable; /* nobody can say whether this is there; NULL: none */

/* libc's, for state_dir.c too. */
int fstatat(int dir, const char *path, struct stat *st, int flags)
{
	if (unreadable == NULL || strcmp(path, unreadable) != 0)
		return (int)syscall(SYS_newfstatat, dir, path, st, flags);
	errno = EIO;
	return -1;
}

#if !__GLIBC_PREREQ(2, 33) /* the name that a caller's fstatat() had before */
int __fxstatat(int version, int dir, const char *path, struct stat *st, int flags);
int __fxstatat(int version, int dir, const char *path, struct stat *st, int flags)
{
	(void)version;
	return fstatat(dir, path, st, flags);
}
#endif

/* Any file of an earlier life says that there was a uuid: a new one is not written (I11). */
static void test_a_lost_uuid_is_not_replaced(void **state)
{
	static const char *const traces[] = {
		"journal.db", "journal.db-wal", "journal.db-shm",   "last-batch",      "reserve",
		"claim-key",  "node-ca.pem",    "node-ca-next.pem", "node-ca-old.pem", "static"};
	const struct fixture *f = *state;
	struct state_dir d;

	assert_int_equal(mkdir(f->dir, 0700), 0);
	for (size_t i = 0; i < sizeof(traces) / sizeof(traces[0]); i++) {
		write_text(in_dir(f, traces[i]), "", 0600);
		refused(f, ERR_INVALID, "uuid: missing, but ");
		refused(f, ERR_INVALID, traces[i]);
		assert_int_equal(access(in_dir(f, "uuid"), F_OK), -1);
		assert_int_equal(unlink(in_dir(f, traces[i])), 0);
		unreadable = traces[i];
		refused(f, ERR_INVALID, traces[i]);
		assert_int_equal(access(in_dir(f, "uuid"), F_OK), -1);
		unreadable = NULL;
	}
	assert_int_equal(mkdir(in_dir(f, "static"), 0700), 0); /* as burst-static makes it */
	refused(f, ERR_INVALID, "static exists: restore uuid");
	assert_int_equal(rmdir(in_dir(f, "static")), 0);
	assert_int_equal(state_dir_open(&d, f->dir, NULL), 0);
	assert_true(d.fresh);
	state_dir_close(&d);
}

static void test_no_parent(void **state)
{
	struct fixture f = *(const struct fixture *)*state;

	(void)snprintf(f.dir, sizeof(f.dir), "%s/no/state", f.top);
	refused(&f, ERR_IO, "No such file");
}

/* A crash between write and rename leaves a piece that means nothing. */
static void test_left_over_tmp(void **state)
{
	const struct fixture *f = *state;
	struct state_dir d;

	assert_int_equal(mkdir(f->dir, 0700), 0);
	write_text(in_dir(f, "uuid.tmp"), "0123", 0600);
	assert_int_equal(state_dir_open(&d, f->dir, NULL), 0);
	assert_true(d.fresh);
	state_dir_close(&d);
}

#define GOOD_UUID "01234567-89ab-4def-8123-456789abcdef"

static void test_uuid_file(void **state)
{
	static const struct {
		const char *name, *text;
		mode_t mode;
		enum err_code code;
		const char *want; /* NULL: good */
	} rows[] = {
		{"good", GOOD_UUID "\n", 0600, ERR_NONE, NULL},
		{"no newline", GOOD_UUID, 0600, ERR_NONE, NULL},
		{"readable by all", GOOD_UUID, 0644, ERR_NONE, NULL},
		{"empty", "", 0600, ERR_INVALID, "uuid: damaged"},
		{"cut", "01234567-89ab", 0600, ERR_INVALID, "uuid: damaged"},
		{"long", GOOD_UUID "0", 0600, ERR_INVALID, "uuid: damaged"},
		{"capitals", "01234567-89AB-4def-8123-456789abcdef", 0600, ERR_INVALID,
		 "uuid: damaged"},
		{"no dash", "012345670-9ab-4def-8123-456789abcdef", 0600, ERR_INVALID,
		 "uuid: damaged"},
		{"writable by group", GOOD_UUID, 0620, ERR_AUTH, "uuid: must be owned by uid"},
		{"writable by all", GOOD_UUID, 0602, ERR_AUTH, "uuid: must be owned by uid"},
	};
	const struct fixture *f = *state;

	assert_int_equal(mkdir(f->dir, 0700), 0);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct state_dir d;
		char before[64] = "";
		FILE *in;

		print_message("# %s\n", rows[i].name);
		write_text(in_dir(f, "uuid"), rows[i].text, rows[i].mode);
		if (rows[i].want != NULL) {
			refused(f, rows[i].code, rows[i].want);
		} else {
			assert_int_equal(state_dir_open(&d, f->dir, NULL), 0);
			assert_false(d.fresh);
			assert_string_equal(d.uuid, GOOD_UUID);
			state_dir_close(&d);
		}
		in = fopen(in_dir(f, "uuid"), "r"); /* never repaired, never replaced */
		assert_non_null(in);
		assert_int_equal(fread(before, 1, sizeof(before) - 1, in), strlen(rows[i].text));
		fclose(in);
		assert_string_equal(before, rows[i].text);
	}
}

static void test_directory_of_others(void **state)
{
	const struct fixture *f = *state;
	struct state_dir d;

	assert_int_equal(mkdir(f->dir, 0700), 0);
	assert_int_equal(chmod(f->dir, 0770), 0);
	refused(f, ERR_AUTH, "writable by nobody else");
	assert_int_equal(chmod(f->dir, 0702), 0);
	refused(f, ERR_AUTH, "writable by nobody else");
	assert_int_equal(chmod(f->dir, 0755), 0);
	assert_int_equal(state_dir_open(&d, f->dir, NULL), 0);
	state_dir_close(&d);
	if (geteuid() == 0) { /* only root can give it away */
		assert_int_equal(chown(f->dir, 12345, 12345), 0);
		refused(f, ERR_AUTH, "must be owned by uid");
		assert_int_equal(chown(f->dir, 0, 0), 0);
	}
}

/* F55: where the file system is not mounted yet on which it is to be, only root may make it.  That
 * changes without a word to us, so systemd has to try again. */
static void test_place_that_is_not_mounted_yet(void **state)
{
	const struct fixture *f = *state;
	bool root = geteuid() == 0;

	assert_int_equal(chmod(f->top, 0555), 0);
	if (root)
		assert_int_equal(seteuid(65534), 0);
	refused(f, ERR_IO, "mount its file system");
	if (root)
		assert_int_equal(seteuid(0), 0);
	assert_int_equal(chmod(f->top, 0700), 0);
}

static void test_links(void **state)
{
	const struct fixture *f = *state;
	char real[64];

	(void)snprintf(real, sizeof(real), "%s/real", f->top);
	assert_int_equal(mkdir(real, 0700), 0);
	assert_int_equal(symlink(real, f->dir), 0);
	refused(f, ERR_AUTH, "a link");
	assert_int_equal(unlink(f->dir), 0);

	assert_int_equal(mkdir(f->dir, 0700), 0);
	write_text(in_dir(f, "other"), GOOD_UUID, 0600);
	assert_int_equal(symlink("other", in_dir(f, "uuid")), 0);
	refused(f, ERR_AUTH, "uuid");
	assert_int_equal(unlink(in_dir(f, "uuid")), 0);
	assert_int_equal(unlink(in_dir(f, "lock")), 0);
	assert_int_equal(symlink("other", in_dir(f, "lock")), 0);
	refused(f, ERR_AUTH, "lock");
}

static void test_not_a_directory(void **state)
{
	const struct fixture *f = *state;

	write_text(f->dir, "x", 0600);
	refused(f, ERR_AUTH, "not a directory");
}

/* F59: the second is told who the first is; kill -9 of the first frees the directory. */
static void test_second_burstd(void **state)
{
	const struct fixture *f = *state;
	struct state_dir d;
	char want[64], ready;
	int fds[2];
	pid_t first;

	assert_int_equal(pipe(fds), 0);
	first = fork();
	if (first == 0) {
		(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (state_dir_open(&d, f->dir, NULL) != 0 || write(fds[1], "r", 1) != 1)
			_exit(1);
		(void)pause();
		_exit(0);
	}
	assert_int_equal(read(fds[0], &ready, 1), 1);
	(void)snprintf(want, sizeof(want), "another burstd is using it (pid %d)", (int)first);
	refused(f, ERR_LIMIT, want);
	refused(f, ERR_LIMIT, want); /* and the refusal changed nothing */
	assert_int_equal(kill(first, SIGKILL), 0);
	assert_int_equal(waitpid(first, NULL, 0), first);
	assert_int_equal(state_dir_open(&d, f->dir, NULL), 0);
	assert_false(d.fresh);
	(void)snprintf(want, sizeof(want), "(pid %d)", (int)getpid());
	refused(f, ERR_LIMIT, want); /* our own second open, too */
	state_dir_close(&d);
	close(fds[0]);
	close(fds[1]);
}

/* A program that burstd starts must not keep the directory locked. */
static void test_lock_is_not_inherited(void **state)
{
	const struct fixture *f = *state;
	struct state_dir d;

	assert_int_equal(state_dir_open(&d, f->dir, NULL), 0);
	assert_true((fcntl(d.lock_fd, F_GETFD) & FD_CLOEXEC) != 0);
	state_dir_close(&d);
}

/* --- the journal beside it ---------------------------------------------------------------------
 */

static struct journal *open_journal(const struct fixture *f)
{
	struct journal *j;
	bool existed;

	assert_int_equal(journal_open(&j, in_dir(f, "journal.db"), &existed, NULL), 0);
	return j;
}

/* Where there never was a journal nothing can have been given out; where one is lost, anything up
 * to now. */
static void test_journal_begins(void **state)
{
	const struct fixture *f = *state;
	struct state_dir d;
	struct journal *j;
	int64_t gen_floor = -1;

	assert_int_equal(state_dir_open(&d, f->dir, NULL), 0);
	j = open_journal(f);
	assert_int_equal(state_dir_begin(&d, j, 7000, &gen_floor, NULL), 1);
	assert_int_equal(gen_floor, 0);
	assert_int_equal(state_dir_begin(&d, j, 8000, &gen_floor, NULL), 0);
	assert_int_equal(gen_floor, 0);
	journal_close(j);
	state_dir_close(&d);

	assert_int_equal(unlink(in_dir(f, "journal.db")), 0);
	assert_int_equal(state_dir_open(&d, f->dir, NULL), 0);
	j = open_journal(f);
	assert_int_equal(state_dir_begin(&d, j, 9000, &gen_floor, NULL), 1);
	assert_int_equal(gen_floor, 9);
	journal_close(j);
	j = open_journal(f);
	gen_floor = -1;
	assert_int_equal(state_dir_begin(&d, j, 11000, &gen_floor, NULL), 0);
	assert_int_equal(gen_floor, 9);
	journal_close(j);
	state_dir_close(&d);
}

/* F54: killed between the journal's tables and its first numbers, burstd must start again. */
static void test_journal_without_numbers(void **state)
{
	const struct fixture *f = *state;
	struct state_dir d;
	struct journal *j;
	int64_t gen_floor = -1;

	assert_int_equal(state_dir_open(&d, f->dir, NULL), 0);
	journal_close(open_journal(f));
	state_dir_close(&d);
	assert_int_equal(state_dir_open(&d, f->dir, NULL), 0);
	j = open_journal(f);
	assert_int_equal(state_dir_begin(&d, j, 5000, &gen_floor, NULL), 1);
	assert_int_equal(gen_floor, 5);
	journal_close(j);
	state_dir_close(&d);
}

static void bought(struct journal *j, int64_t batch)
{
	struct journal_tx *tx = journal_begin(j);

	journal_put_number(tx, JOURNAL_LAST_BATCH, batch);
	assert_int_equal(journal_commit(tx, NULL), 0);
}

static int64_t doubtful(struct journal *j)
{
	int64_t n = -1;

	assert_int_equal(journal_get_number(j, JOURNAL_DOUBTFUL, &n, NULL), 0);
	return n;
}

/* F58: a journal that lacks a purchase that was noted beside it is an older copy; so may be one
 * beside which nothing is noted.  That stays known until somebody says otherwise. */
static void test_an_older_journal_is_known(void **state)
{
	static const struct {
		const char *what;
		int64_t in_journal, noted; /* -1: the file is away; -2: garbage is in it */
		int rc;
	} rows[] = {
		{"as it was", 500, 500, 0},
		{"killed before it was noted", 501, 500, 0},
		{"an older copy", 499, 500, 2},
		{"an older copy, of before the first purchase", 0, 500, 2},
		{"nothing was ever bought", 0, 0, 0},
		{"a restore that took the file away", 500, -1, 2},
		{"a file that cannot be read", 500, -2, 2},
	};
	const struct fixture *f = *state;
	int64_t gen_floor;
	struct state_dir d;
	struct journal *j;

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		assert_int_equal(state_dir_open(&d, f->dir, NULL), 0);
		j = open_journal(f);
		assert_int_equal(state_dir_begin(&d, j, 7000, &gen_floor, NULL), 1);
		assert_int_equal(doubtful(j), i > 0 ? 7000 : 0); /* the uuid was there before */
		bought(j, rows[i].in_journal);
		state_dir_note(&d, rows[i].noted);
		state_dir_close(&d);
		if (rows[i].noted < 0)
			assert_int_equal(unlink(in_dir(f, "last-batch")), 0);
		if (rows[i].noted == -2)
			assert_int_equal(symlink("uuid", in_dir(f, "last-batch")), 0);
		for (int again = 0; again < 2; again++) {
			struct journal_tx *tx = journal_begin(j);

			if (again == 0)
				journal_put_number(tx, JOURNAL_DOUBTFUL, 0);
			assert_int_equal(journal_commit(tx, NULL), 0);
			assert_int_equal(state_dir_open(&d, f->dir, NULL), 0);
			if (state_dir_begin(&d, j, 8000, &gen_floor, NULL) !=
			    (again == 0 ? rows[i].rc : 0))
				fail_msg("%s", rows[i].what);
			assert_int_equal(doubtful(j), rows[i].rc == 2 ? 8000 : 0);
			state_dir_close(&d);
		}
		journal_close(j);
		assert_int_equal(unlink(in_dir(f, "journal.db")), 0);
	}
}

/* The file follows the purchases, and never goes back. */
static void test_purchases_are_noted(void **state)
{
	const struct fixture *f = *state;
	int64_t gen_floor;
	struct state_dir d;
	struct journal *j;

	assert_int_equal(state_dir_open(&d, f->dir, NULL), 0);
	j = open_journal(f);
	assert_int_equal(state_dir_begin(&d, j, 7000, &gen_floor, NULL), 1);
	assert_int_equal(d.last_batch, 0);
	state_dir_note(&d, 1700000000123);
	state_dir_note(&d, 5);
	state_dir_close(&d);
	assert_int_equal(state_dir_open(&d, f->dir, NULL), 0);
	assert_int_equal(d.last_batch, 1700000000123);
	journal_close(j);
	state_dir_close(&d);
}

static void test_journal_of_another_uuid(void **state)
{
	const struct fixture *f = *state;
	struct state_dir d;
	struct journal *j;
	int64_t gen_floor;
	struct err e = {0};

	assert_int_equal(state_dir_open(&d, f->dir, NULL), 0);
	j = open_journal(f);
	assert_int_equal(state_dir_begin(&d, j, 7000, &gen_floor, NULL), 1);
	state_dir_close(&d);
	write_text(in_dir(f, "uuid"), GOOD_UUID "\n", 0600);
	assert_int_equal(state_dir_open(&d, f->dir, NULL), 0);
	assert_int_equal(state_dir_begin(&d, j, 7000, &gen_floor, &e), -1);
	assert_int_equal(e.code, ERR_INVALID);
	assert_non_null(strstr(e.msg, "another cluster uuid"));
	journal_close(j);
	state_dir_close(&d);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_made_and_kept),
		TEST(test_uuids_differ),
		TEST(test_a_look_makes_nothing),
		TEST(test_a_lost_uuid_is_not_replaced),
		TEST(test_no_parent),
		TEST(test_left_over_tmp),
		TEST(test_uuid_file),
		TEST(test_directory_of_others),
		TEST(test_place_that_is_not_mounted_yet),
		TEST(test_links),
		TEST(test_not_a_directory),
		TEST(test_second_burstd),
		TEST(test_lock_is_not_inherited),
		TEST(test_journal_begins),
		TEST(test_journal_without_numbers),
		TEST(test_an_older_journal_is_known),
		TEST(test_purchases_are_noted),
		TEST(test_journal_of_another_uuid),
	};

	return cmocka_run_group_tests_name("state_dir", tests, NULL, NULL);
}
