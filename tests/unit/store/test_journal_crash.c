/* Journals that are not good, and what kill -9 and a full disk leave of one that is. */
#include "store/journal.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "fixture.h"

/* --- files that are not good -------------------------------------------------------------------
 */

/* F55: a row that is not what was written is never taken for one that is. */
static void test_damaged_rows(void **state)
{
	static const char *const rows[] = {
		"UPDATE node SET state = 'sleeping' WHERE name = 'c2'",
		"UPDATE node SET reason = 'whim'",
		"UPDATE node SET name = 'c1,state=IDLE' WHERE name = 'c2'",
		"UPDATE node SET name = hex(zeroblob(100)) WHERE name = 'c2'",
		"UPDATE node SET gen = 'x' WHERE name = 'c1'",
		"UPDATE node SET misses = 256",
		"UPDATE node SET released = 2",
		"UPDATE node SET epoch = 1",
		"UPDATE node SET slot = -1",
		"UPDATE node SET rate_nano_h = -1",
		"UPDATE node SET pool = "
		"'0123456789012345678901234567890123456789012345678901234567890123'",
		"UPDATE batch SET token = "
		"'0123456789012345678901234567890123456789012345678901234567890123'",
		"UPDATE usage SET cost_nano = 'much'",
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct fixture *f;
		struct seen *s = mem_zalloc(sizeof(*s));
		struct err e = {0};

		print_message("# %s\n", rows[i]);
		teardown(state);
		setup(state);
		f = *state;
		fill(f);
		assert_int_equal(sql(f, rows[i]), SQLITE_OK);
		if (strstr(rows[i], "much") == NULL) { /* a sum takes it for 0 */
			assert_int_equal(try_load(f, s, &e), -1);
			assert_non_null(strstr(e.msg, "damaged"));
			assert_int_equal(e.code, ERR_DAMAGED);
			assert_non_null(strstr(e.msg, f->path));
		}
		forget(s);
	}
}

static void put_file(const char *path, const void *data, size_t len)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, data, len), len);
	close(fd);
}

static char *get_file(const char *path, size_t *len)
{
	char *data = mem_zalloc(1 << 20);
	FILE *in = fopen(path, "r");

	assert_non_null(in);
	*len = fread(data, 1, 1 << 20, in);
	fclose(in);
	return data;
}

/* Opening fails as `code`, says `want`, and leaves the file as it is. */
static void refused(struct fixture *f, enum err_code code, const char *want)
{
	size_t before_len, after_len;
	char *before = get_file(f->path, &before_len), *after;
	struct err e = {0};
	bool existed;

	assert_int_equal(journal_open(&f->j, f->path, &existed, &e), -1);
	assert_null(f->j);
	assert_int_equal(e.code, code);
	if (strstr(e.msg, want) == NULL || strncmp(e.msg, f->path, strlen(f->path)) != 0)
		fail_msg("got: %s", e.msg);
	after = get_file(f->path, &after_len);
	assert_int_equal(before_len, after_len);
	assert_memory_equal(before, after, before_len);
	free(before);
	free(after);
}

/* F60 */
static void test_newer_schema(void **state)
{
	struct fixture *f = *state;

	fill(f);
	close_journal(f);
	assert_int_equal(sql(f, "PRAGMA user_version = 1000"), SQLITE_OK);
	refused(f, ERR_INVALID, "schema 1000 is from a newer burstd; this one knows ");
}

static void test_not_ours(void **state)
{
	struct fixture *f = *state;
	static const char text[] =
		"this is a letter and not a database, whatever its name may say; "
		"it is long enough for a header of one hundred bytes, though\n";

	close_journal(f);
	put_file(f->path, text, sizeof(text));
	refused(f, ERR_DAMAGED, "damaged: file is not a database");
	unlink(f->path);
	assert_int_equal(sql(f, "CREATE TABLE mail (x)"), SQLITE_OK);
	refused(f, ERR_DAMAGED, "not a burstd journal");
	unlink(f->path);
	assert_int_equal(mkdir(f->path, 0700), 0);
	assert_int_equal(journal_open(&f->j, f->path, &(bool){false}, NULL), -1);
	rmdir(f->path);
	assert_int_equal(symlink("elsewhere", f->path), 0);
	assert_int_equal(journal_open(&f->j, f->path, &(bool){false}, NULL), -1);
}

/* Tables that are not as our steps made them: no second try is any better (F55). */
static void test_other_tables(void **state)
{
	struct fixture *f = *state;
	struct journal_tx *tx = journal_begin(f->j);
	struct err e = {0};

	assert_int_equal(sql(f, "CREATE TRIGGER odd BEFORE INSERT ON event BEGIN"
				" SELECT * FROM nowhere; END"),
			 SQLITE_OK);
	journal_put_event(tx, 1, "c1", 1, "type", "detail");
	assert_int_equal(journal_commit(tx, &e), -1);
	assert_int_equal(e.code, ERR_DAMAGED);
	assert_non_null(strstr(e.msg, "damaged: no such table"));
	tx = journal_begin(f->j);
	journal_put_number(tx, "n", 1);
	assert_int_equal(journal_commit(tx, &e), -1);
	assert_int_equal(e.code, ERR_DAMAGED);
	assert_string_equal(e.msg, "journal: an earlier write failed");
	close_journal(f);
	assert_int_equal(sql(f, "DROP TABLE audit"), SQLITE_OK);
	refused(f, ERR_DAMAGED, "damaged: no such table: audit");
}

/* An empty file is what a crash leaves between the file and its tables, or a journal that was lost.
 */
static void test_empty_file(void **state)
{
	struct fixture *f = *state;
	struct stat st;

	assert_int_equal(stat(f->path, &st), 0);
	assert_int_equal(st.st_mode & 07777, 0600);
	close_journal(f);
	put_file(f->path, "", 0);
	open_journal(f, false);
	fill(f);
	reopen(f);
}

/* F55: cut anywhere, a journal is refused or read whole; never read in part without a word. */
static void test_truncated(void **state)
{
	struct fixture *f = *state;
	struct journal_tx *tx = journal_begin(f->j);
	size_t len;
	char *data;

	fill(f);
	for (int i = 0; i < 500; i++)
		journal_put_event(tx, i, "c1", 1, "type",
				  "a detail of some length, to fill more than a page");
	commit(tx);
	close_journal(f); /* all of it is in the main file now */
	data = get_file(f->path, &len);
	assert_true(len > 16 * 4096 && len % 4096 == 0);
	for (size_t cut = 512; cut < len; cut += 4096) {
		put_file(f->path, data, cut);
		refused(f, ERR_DAMAGED, "damaged");
	}
	put_file(f->path, data, len);
	open_journal(f, true);
	free(data);
}

/* F55: a page of noise anywhere is an error or is not met; nothing crashes (ASan looks). */
static void test_noise(void **state)
{
	struct fixture *f = *state;
	unsigned errors = 0;
	size_t len;
	char *data, noise[512];

	fill(f);
	close_journal(f);
	data = get_file(f->path, &len);
	for (size_t i = 0; i < sizeof(noise); i++)
		noise[i] = (char)(i * 167 + 13);
	for (size_t at = 0; at + sizeof(noise) <= len; at += sizeof(noise)) {
		struct seen *s = mem_zalloc(sizeof(*s));
		struct err e = {0};
		bool existed;

		put_file(f->path, data, len);
		{
			int fd = open(f->path, O_WRONLY);

			assert_int_equal(pwrite(fd, noise, sizeof(noise), (off_t)at),
					 sizeof(noise));
			close(fd);
		}
		if (journal_open(&f->j, f->path, &existed, &e) < 0 || try_load(f, s, &e) < 0) {
			errors++;
			assert_true(strlen(e.msg) > strlen(f->path));
		}
		close_journal(f);
		forget(s);
	}
	assert_true(errors > len / 4096 / 4); /* the header and every table in use */
	put_file(f->path, data, len);
	open_journal(f, true);
	free(data);
}

/* --- power cuts and full disks -----------------------------------------------------------------
 */

/* In a child, where cmocka's asserts cannot jump. */
static void must(bool ok, const char *what)
{
	if (ok)
		return;
	(void)fprintf(stderr, "# child: not so: %s\n", what);
	_exit(1);
}

/* Transaction i of the tests below.  All of it or nothing: a node, an event and a number. */
static int commit_one(struct journal *j, int64_t i)
{
	struct node n = {.name = "c1", .gen = (uint64_t)i};
	struct journal_tx *tx = journal_begin(j);

	journal_put_node(tx, &n, "p");
	journal_del_node(tx, "c1", (uint64_t)(i - 3));
	journal_put_event(tx, i, "c1", (uint64_t)i, "type",
			  "some words that take a little room in the file");
	journal_put_number(tx, "i", i);
	return journal_commit(tx, NULL);
}

/* What commit_one() left ends at the number it says, which is returned; -1 if it is not whole.  No
 * asserts: also for children. */
static int64_t whole(struct fixture *f)
{
	struct seen *s = mem_zalloc(sizeof(*s));
	struct page p = {0};
	int64_t i = -1;
	const struct journal_visitor v = {.node = see_node, .ctx = s};
	bool ok = journal_get_number(f->j, "i", &i, NULL) == 0 &&
		  journal_load(f->j, &v, NULL) == 0 &&
		  journal_events(f->j, 0, NULL, UINT32_MAX, see_event, &p, NULL) == 0;

	ok = ok && p.n == (size_t)i && journal_last_event(f->j) == i;
	ok = ok && s->nnodes == (size_t)(i < 3 ? i : 3);
	ok = ok && (i == 0 || s->nodes[s->nnodes - 1].gen == (uint64_t)i);
	forget(s);
	return ok ? i : -1;
}

/* Commit much, and little, and tidy up for ever; say which after each round that succeeded. */
static void run_until_killed(struct fixture *f, int out)
{
	int64_t done[2];
	bool existed;

	(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
	must(journal_open(&f->j, f->path, &existed, NULL) == 0, "open");
	must(journal_get_number(f->j, "i", &done[0], NULL) == 0, "number");
	must(journal_get_number(f->j, "small", &done[1], NULL) == 0, "other number");
	for (;;) {
		must(commit_one(f->j, ++done[0]) == 0, "commit");
		must(commit_number(f->j, "small", ++done[1]) == 0, "small commit");
		must(write(out, done, sizeof(done)) == (ssize_t)sizeof(done), "report");
		must(journal_tidy(f->j, NULL) == 0, "tidy");
	}
}

/* The last report of a child that is killed after about that many microseconds. */
static void kill_one(struct fixture *f, useconds_t after, int64_t done[2])
{
	int64_t report[2];
	int fds[2];
	pid_t child;

	assert_int_equal(pipe(fds), 0);
	child = fork();
	if (child == 0)
		run_until_killed(f, fds[1]);
	close(fds[1]);
	assert_int_equal(read(fds[0], done, sizeof(report)), sizeof(report)); /* it is at it */
	(void)usleep(after);
	assert_int_equal(kill(child, SIGKILL), 0);
	assert_int_equal(waitpid(child, NULL, 0), child);
	while (read(fds[0], report, sizeof(report)) == (ssize_t)sizeof(report))
		memcpy(done, report, sizeof(report));
	close(fds[0]);
}

/* I23, F54: kill -9 at any moment; what was reported done is there, and nothing is there in
 * part. */
static void test_kill(void **state)
{
	enum { ROUNDS = 25 };
	struct fixture *f = *state;
	int64_t i, small, done[2];

	for (useconds_t round = 0; round < ROUNDS; round++) {
		close_journal(f);
		kill_one(f, round * 997 % 5000, done);
		open_journal(f, true);
		i = whole(f);
		assert_true(i == done[0] || i == done[0] + 1);
		small = number(f, "small");
		assert_true(small == done[1] || (small == done[1] + 1 && i == done[0] + 1));
	}
}

/* Commit until the disk is full: that one fails, and so does every later one, whatever became of
 * the disk (F55).  What was committed before is there afterwards. */
static int64_t fill_disk(struct fixture *f)
{
	int64_t i = 0;

	while (commit_one(f->j, i + 1) == 0) {
		i++;
		must(i < 1000000, "the disk is small");
	}
	must(commit_one(f->j, i + 1) == -1, "no second try");
	must(commit_number(f->j, "small", 1) == -1, "nor of less");
	return i;
}

/* What makes the disk small, in the child, and what gives it room again. */
static void small_mount(const struct fixture *f)
{
	must(mount("none", f->dir, "tmpfs", 0, "size=1m,mode=0700") == 0, "mount");
}

static void large_mount(const struct fixture *f)
{
	must(mount("none", f->dir, "tmpfs", MS_REMOUNT, "size=8m,mode=0700") == 0, "remount");
}

static void small_limit(const struct fixture *f)
{
	const struct rlimit limit = {.rlim_cur = 1 << 20, .rlim_max = RLIM_INFINITY};

	(void)f;
	must(signal(SIGXFSZ, SIG_IGN) != SIG_ERR, "signal");
	must(setrlimit(RLIMIT_FSIZE, &limit) == 0, "setrlimit");
}

static void large_limit(const struct fixture *f)
{
	const struct rlimit limit = {.rlim_cur = RLIM_INFINITY, .rlim_max = RLIM_INFINITY};

	(void)f;
	must(setrlimit(RLIMIT_FSIZE, &limit) == 0, "setrlimit");
}

/* The one at once, the other one after the restart that F55 asks for. */
static void full_disk(struct fixture *f, void (*shrink)(const struct fixture *),
		      void (*grow)(const struct fixture *))
{
	bool existed;
	int64_t i;

	(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
	shrink(f);
	must(journal_open(&f->j, f->path, &existed, NULL) == 0, "open");
	i = fill_disk(f);
	must(i > 10, "something fits");
	journal_close(f->j);
	grow(f);
	must(journal_open(&f->j, f->path, &existed, NULL) == 0 && existed, "open again");
	must(whole(f) == i, "what was committed is there, and nothing else");
	must(commit_one(f->j, i + 1) == 0 && whole(f) == i + 1, "go on");
	journal_close(f->j);
	_exit(0);
}

static void assert_child(pid_t child)
{
	int status;

	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFEXITED(status));
	if (WEXITSTATUS(status) == 77)
		skip();
	assert_int_equal(WEXITSTATUS(status), 0);
}

static void test_full_disk(void **state)
{
	struct fixture *f = *state;
	pid_t child;

	close_journal(f);
	unlink(f->path);
	child = fork();
	if (child == 0) {
		if (geteuid() != 0 || unshare(CLONE_NEWNS) != 0 ||
		    mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0)
			_exit(77); /* no mount for us here: the next test has to do */
		full_disk(f, small_mount, large_mount);
	}
	assert_child(child);
}

static void test_file_too_large(void **state)
{
	struct fixture *f = *state;
	pid_t child;

	close_journal(f);
	unlink(f->path);
	child = fork();
	if (child == 0)
		full_disk(f, small_limit, large_limit);
	assert_child(child);
}

/* --- fsync -------------------------------------------------------------------------------------
 */

/* SQLite's calls come here, as this program defines the name. */
static struct {
	unsigned n;       /* since it was last set to 0 */
	const char *fail; /* EIO for files whose names end so; NULL: none */
} syncs;

static int sync_or_fail(int fd, long call)
{
	char link[64], path[PATH_MAX];
	ssize_t len, end = syncs.fail != NULL ? (ssize_t)strlen(syncs.fail) : 0;

	syncs.n++;
	(void)snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	len = readlink(link, path, sizeof(path));
	if (syncs.fail != NULL && len >= end &&
	    memcmp(path + len - end, syncs.fail, (size_t)end) == 0) {
		errno = EIO;
		return -1;
	}
	return (int)syscall(call, fd);
}

int fsync(int fd)
{
	return sync_or_fail(fd, SYS_fsync);
}

int fdatasync(int fd)
{
	return sync_or_fail(fd, SYS_fdatasync);
}

/* F54: kill -9 cannot tell a commit that reached the disk from one that did not. */
static void test_each_commit_syncs(void **state)
{
	struct fixture *f = *state;

	for (int i = 1; i <= 10; i++) {
		syncs.n = 0;
		assert_int_equal(commit_one(f->j, i), 0);
		assert_true(syncs.n >= 1);
		syncs.n = 0;
		assert_int_equal(commit_number(f->j, "small", i), 0);
		assert_true(syncs.n >= 1);
	}
	syncs.n = 0;
	commit(journal_begin(f->j)); /* nothing to write */
	assert_int_equal(syncs.n, 0);
}

enum { LOG_FULL = 400 }; /* commits that are worth tidying up after, and far from having to */

static off_t log_size(const struct fixture *f)
{
	char path[96];
	struct stat st;

	(void)snprintf(path, sizeof(path), "%s-wal", f->path);
	assert_int_equal(stat(path, &st), 0);
	return st.st_size;
}

/* One row that is as long as 256 pages. */
static int commit_long(struct journal *j)
{
	enum { LEN = (1 << 20) - 1 };
	static char text[LEN + 1];
	struct journal_tx *tx = journal_begin(j);

	memset(text, 'x', LEN);
	journal_put_event(tx, 1, "", 0, "type", text);
	return journal_commit(tx, NULL);
}

/* F55, "fsyncgate": the disk's next word is not believed. */
static void test_failed_sync(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(commit_one(f->j, 1), 0);
	syncs.fail = "journal.db-wal";
	assert_int_equal(commit_one(f->j, 2), -1);
	syncs.fail = NULL;
	assert_int_equal(commit_one(f->j, 2), -1);
	assert_int_equal(journal_tidy(f->j, NULL), -1);
	reopen(f);
	assert_in_range(whole(f), 1, 2);
}

/* The same of the main file, which only tidying up writes to: a commit that waited for that would
 * hold up what is to be sent after it. */
static void test_failed_sync_of_tidy(void **state)
{
	struct fixture *f = *state;
	int64_t i = 0;

	syncs.fail = "journal.db";
	while (i < LOG_FULL)
		assert_int_equal(commit_one(f->j, ++i), 0);
	assert_int_equal(journal_tidy(f->j, NULL), -1);
	syncs.fail = NULL;
	assert_int_equal(journal_tidy(f->j, NULL), -1);
	assert_int_equal(commit_one(f->j, i + 1), -1);
	reopen(f);
	assert_int_equal(whole(f), i);
}

/* And when nobody ever tidies up, at 64 MiB. */
static void test_failed_sync_of_a_full_log(void **state)
{
	struct fixture *f = *state;
	int n = 0;

	syncs.fail = "journal.db";
	while (n < 100 && commit_long(f->j) == 0)
		n++;
	syncs.fail = NULL;
	assert_in_range(n, 50, 70);
	assert_in_range(log_size(f), 60 << 20, 66 << 20);
	assert_int_equal(commit_one(f->j, 1), -1);
}

static void test_tidy(void **state)
{
	struct fixture *f = *state;
	off_t before;
	int64_t i = 0;

	assert_int_equal(commit_one(f->j, ++i), 0);
	syncs.n = 0;
	assert_int_equal(journal_tidy(f->j, NULL), 0);
	assert_int_equal(syncs.n, 0); /* not worth it */
	while (i < LOG_FULL)
		assert_int_equal(commit_one(f->j, ++i), 0);
	before = log_size(f);
	assert_int_equal(journal_tidy(f->j, NULL), 0);
	assert_true(syncs.n > 0);
	syncs.n = 0;
	assert_int_equal(journal_tidy(f->j, NULL), 0);
	assert_int_equal(syncs.n, 0); /* done already */
	assert_int_equal(commit_one(f->j, ++i), 0);
	assert_int_equal(log_size(f), before); /* from its beginning again */
	assert_int_equal(whole(f), i);
	reopen(f);
	assert_int_equal(whole(f), i);
}

/* A person with sqlite3(1) that reads keeps the log as it is, which is no error. */
static void test_tidy_beside_a_reader(void **state)
{
	struct fixture *f = *state;
	sqlite3 *reader;
	int64_t i = 0;

	assert_int_equal(commit_one(f->j, ++i), 0);
	assert_int_equal(sqlite3_open(f->path, &reader), SQLITE_OK);
	assert_int_equal(sqlite3_exec(reader, "BEGIN; SELECT * FROM meta", NULL, NULL, NULL),
			 SQLITE_OK);
	while (i < LOG_FULL)
		assert_int_equal(commit_one(f->j, ++i), 0);
	assert_int_equal(journal_tidy(f->j, NULL), 0);
	assert_int_equal(commit_one(f->j, ++i), 0);
	sqlite3_close(reader);
	syncs.n = 0;
	assert_int_equal(journal_tidy(f->j, NULL), 0);
	assert_true(syncs.n > 0);
	assert_int_equal(whole(f), i);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_damaged_rows),
		TEST(test_other_tables),
		TEST(test_newer_schema),
		TEST(test_not_ours),
		TEST(test_empty_file),
		TEST(test_truncated),
		TEST(test_noise),
		TEST(test_kill),
		TEST(test_full_disk),
		TEST(test_file_too_large),
		TEST(test_each_commit_syncs),
		TEST(test_failed_sync),
		TEST(test_failed_sync_of_tidy),
		TEST(test_failed_sync_of_a_full_log),
		TEST(test_tidy),
		TEST(test_tidy_beside_a_reader),
	};

	return cmocka_run_group_tests_name("journal_crash", tests, NULL, NULL);
}
