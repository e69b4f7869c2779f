/* A disk that gets full (F55): what is refused as a whole is tried again with room from the
 * reserve, and what is not known is not. */
#include "store/room.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "fixture.h"
#include "store/journal_audit.h"

/* --- a small disk ------------------------------------------------------------------------------
 * SQLite's writes and room.c's calls come here.  What it holds is what lies in its directory. */

static struct {
	const char *dir; /* NULL: a disk like any other */
	int64_t size;
	const char *fail_sync; /* EIO for files whose names end so; NULL: none */
	unsigned syncs_failed, writes_failed;
	int quota; /* of posix_fallocate(): an errno; 0: none */
	bool slow; /* statvfs() fails */
} disk;

enum { MIB = 1 << 20 };

static int64_t used(void)
{
	static const char *const names[] = {"journal.db", "journal.db-wal", "journal.db-shm",
					    "reserve"};
	int64_t sum = 0;

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		char path[96];
		struct stat st;

		(void)snprintf(path, sizeof(path), "%s/%s", disk.dir, names[i]);
		sum += stat(path, &st) == 0 ? st.st_size : 0;
	}
	return sum;
}

static int64_t left(void)
{
	int64_t n = disk.size - used();

	return n > 0 ? n : 0;
}

/* As file systems do: as much as fits, and ENOSPC for the rest. */
static ssize_t small_pwrite(int fd, const void *data, size_t n, off_t at)
{
	struct stat st;
	off_t most;

	assert_int_equal(fstat(fd, &st), 0);
	most = st.st_size + (off_t)left();
	if (disk.dir != NULL && at + (off_t)n > most) {
		disk.writes_failed++;
		if (at >= most) {
			errno = ENOSPC;
			return -1;
		}
		n = (size_t)(most - at);
	}
	return pwrite(fd, data, n, at);
}

int statvfs(const char *path, struct statvfs *v)
{
	(void)path;
	memset(v, 0, sizeof(*v));
	v->f_frsize = 512;
	v->f_bavail = (fsblkcnt_t)((disk.dir != NULL ? left() : INT64_C(1) << 40) / 512);
	errno = EIO;
	return disk.slow ? -1 : 0;
}

int posix_fallocate(int fd, off_t at, off_t n)
{
	struct stat st;

	assert_int_equal(fstat(fd, &st), 0);
	if (disk.quota != 0)
		return disk.quota;
	if (disk.dir != NULL && at + n - st.st_size > left())
		return ENOSPC;
	return st.st_size >= at + n ? 0 : ftruncate(fd, at + n);
}

static int sync_or_fail(int fd, long call)
{
	char link[64], path[256];
	ssize_t len, end = disk.fail_sync != NULL ? (ssize_t)strlen(disk.fail_sync) : 0;

	(void)snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	len = readlink(link, path, sizeof(path));
	if (disk.fail_sync != NULL && len >= end &&
	    memcmp(path + len - end, disk.fail_sync, (size_t)end) == 0) {
		disk.syncs_failed++;
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

static int setup_disk(void **state)
{
	sqlite3_vfs *vfs = sqlite3_vfs_find(NULL);

	memset(&disk, 0, sizeof(disk));
	assert_int_equal(vfs->xSetSystemCall(vfs, "pwrite", (sqlite3_syscall_ptr)small_pwrite),
			 SQLITE_OK);
	assert_int_equal(vfs->xSetSystemCall(vfs, "pwrite64", (sqlite3_syscall_ptr)small_pwrite),
			 SQLITE_OK);
	return setup(state);
}

static int teardown_disk(void **state)
{
	memset(&disk, 0, sizeof(disk));
	return teardown(state);
}

/* From now on so much is free, besides what the files have. */
static void make_small(const struct fixture *f, int64_t room)
{
	disk.dir = f->dir;
	disk.size = 0;
	disk.size = used() + room;
}

static off_t reserve(const struct fixture *f)
{
	char path[96];
	struct stat st;

	(void)snprintf(path, sizeof(path), "%s/reserve", f->dir);
	return stat(path, &st) == 0 ? st.st_size : 0;
}

/* --- transactions ------------------------------------------------------------------------------
 */

/* Number i: a node, an event, a number and an audit record; some 20 KiB of them. */
static int commit_one(struct fixture *f, int64_t i, struct err *e)
{
	static char text[20000];
	struct node n = {.name = "c1", .gen = (uint64_t)i};
	struct journal_tx *tx = journal_begin(f->j);

	memset(text, 'x', sizeof(text) - 1);
	journal_put_node(tx, &n, "p");
	journal_del_node(tx, "c1", (uint64_t)(i - 3));
	journal_put_event(tx, i, "c1", (uint64_t)i, "type", text);
	journal_put_number(tx, "i", i);
	journal_put_audit(tx, &(struct journal_audit){.at_ms = i,
						      .actor = "hook",
						      .verb = "create",
						      .target = "cloud",
						      .object = "c1",
						      .reason = "",
						      .request = ""});
	return journal_commit(tx, e);
}

/* Are there 1 ... n, each once? */
static void assert_whole(struct fixture *f, int64_t n)
{
	struct seen *s = load(f);
	struct page p = events(f, 0, NULL, UINT32_MAX);
	struct journal_chain c = {.begun = false};
	int64_t records = 0;

	do {
		c.records = 0;
		assert_int_equal(journal_audit_check(f->j, &c, NULL), 0);
		records += c.records;
	} while (c.more);
	assert_int_equal(c.bad, 0);
	assert_int_equal(records, n);

	assert_int_equal(number(f, "i"), n);
	assert_int_equal(p.n, n);
	assert_int_equal(p.last, n);
	assert_int_equal(s->nnodes, n < 3 ? n : 3);
	assert_int_equal(s->nodes[s->nnodes - 1].gen, n);
	forget(s);
}

/* Commit until it fails; returns how many were done, from the first. */
static int64_t commit_all(struct fixture *f, int64_t done)
{
	while (commit_one(f, done + 1, NULL) == 0) {
		done++;
		assert_in_range(done, 0, 10000);
	}
	return done;
}

static int64_t commit_while(struct fixture *f, int64_t done, off_t kept)
{
	while (reserve(f) >= kept) {
		struct err e = {0};

		if (commit_one(f, ++done, &e) != 0)
			fail_msg("%s", e.msg);
	}
	return done;
}

/* --- the reserve -------------------------------------------------------------------------------
 */

static void test_made_and_kept(void **state)
{
	struct fixture *f = *state;
	struct journal_room room = journal_look(f->j);
	char path[96];
	struct stat st;

	assert_int_equal(reserve(f), ROOM_RESERVE);
	(void)snprintf(path, sizeof(path), "%s/reserve", f->dir);
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_mode & 07777, 0600);
	assert_false(room.low);
	assert_int_equal(room.free_bytes, INT64_C(1) << 40);
	reopen(f);
	assert_int_equal(reserve(f), ROOM_RESERVE);
}

/* Not at every byte that comes and goes: the two limits are apart by more than the reserve. */
static void test_limits(void **state)
{
	struct fixture *f = *state;

	make_small(f, ROOM_LOW);
	assert_false(journal_look(f->j).low);
	make_small(f, ROOM_LOW - 512);
	assert_true(journal_look(f->j).low);
	assert_int_equal(journal_look(f->j).free_bytes, ROOM_LOW - 512);
	make_small(f, ROOM_ENOUGH - 512);
	assert_true(journal_look(f->j).low);
	make_small(f, ROOM_ENOUGH);
	assert_false(journal_look(f->j).low);
	make_small(f, ROOM_LOW);
	assert_false(journal_look(f->j).low);
	disk.slow = true;
	make_small(f, 0);
	assert_false(journal_look(f->j).low); /* not known is not full */
}

static void test_made_again(void **state)
{
	struct fixture *f = *state;

	close_journal(f);
	make_small(f, ROOM_ENOUGH - 512); /* besides what it is missing */
	{
		char path[96];

		(void)snprintf(path, sizeof(path), "%s/reserve", f->dir);
		assert_int_equal(truncate(path, ROOM_SLICE), 0);
	}
	make_small(f, ROOM_ENOUGH - 64 * 1024);
	open_journal(f, true);
	assert_true(journal_look(f->j).low); /* buying needs a reserve */
	assert_int_equal(reserve(f), ROOM_SLICE);
	make_small(f, ROOM_ENOUGH);
	assert_false(journal_look(f->j).low);
	assert_int_equal(reserve(f), ROOM_RESERVE);
	assert_int_equal(journal_look(f->j).free_bytes, ROOM_ENOUGH - (ROOM_RESERVE - ROOM_SLICE));
	assert_false(journal_look(f->j).low);
}

/* A quota leaves no room though the disk has some; a file system that cannot set blocks aside does.
 */
static void test_cannot_be_made(void **state)
{
	static const struct {
		int quota;
		bool low;
	} rows[] = {{EDQUOT, true}, {ENOSPC, true}, {EOPNOTSUPP, false}, {EINVAL, false}};
	struct fixture *f = *state;

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		char path[96];

		close_journal(f);
		(void)snprintf(path, sizeof(path), "%s/reserve", f->dir);
		unlink(path);
		disk.quota = rows[i].quota;
		open_journal(f, true);
		assert_int_equal(journal_look(f->j).low, rows[i].low);
		assert_int_equal(reserve(f), 0);
	}
}

/* --- full --------------------------------------------------------------------------------------
 */

/* F55: slice by slice, each commit once, until the reserve is used up; then as ever. */
static void test_commit_on_a_full_disk(void **state)
{
	struct fixture *f = *state;
	struct err e = {0};
	int64_t n;

	make_small(f, 0);
	n = commit_while(f, 0, ROOM_RESERVE);
	assert_true(disk.writes_failed > 0);
	assert_int_equal(reserve(f), ROOM_RESERVE - ROOM_SLICE);
	assert_true(journal_look(f->j).low);
	assert_whole(f, n);
	n = commit_all(f, n);
	assert_int_equal(reserve(f), 0);
	assert_true(n > 100); /* 8 MiB of them, and no tidying up */
	disk.dir = NULL;
	assert_int_equal(commit_one(f, n + 1, &e), -1); /* not believed any more */
	assert_non_null(strstr(e.msg, "earlier write failed"));
	reopen(f);
	assert_whole(f, n);
	assert_int_equal(reserve(f), ROOM_RESERVE);
	assert_int_equal(commit_one(f, n + 1, NULL), 0);
	assert_whole(f, n + 1);
}

/* F54: what was done with room from the reserve is as durable as anything, whole and once. */
static void test_kill_on_a_full_disk(void **state)
{
	struct fixture *f = *state;
	int64_t n = 0;
	int fds[2];
	pid_t child;

	make_small(f, 0);
	close_journal(f);
	assert_int_equal(pipe(fds), 0);
	child = fork();
	if (child == 0) {
		open_journal(f, true);
		n = commit_while(f, 0, ROOM_RESERVE - ROOM_SLICE);
		(void)!write(fds[1], &n, sizeof(n));
		(void)kill(getpid(), SIGKILL);
	}
	close(fds[1]);
	assert_int_equal(waitpid(child, NULL, 0), child);
	assert_int_equal(read(fds[0], &n, sizeof(n)), sizeof(n));
	close(fds[0]);
	open_journal(f, true);
	assert_whole(f, n);
	assert_int_equal(commit_one(f, n + 1, NULL), 0);
	assert_whole(f, n + 1);
}

/* F55, fsyncgate: a failed fsync is never tried again, full disk or not. */
static void test_failed_sync_is_not_full(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(commit_one(f, 1, NULL), 0);
	make_small(f, 64 * 1024);
	disk.fail_sync = "journal.db-wal";
	assert_int_equal(commit_one(f, 2, NULL), -1);
	assert_int_equal(disk.syncs_failed, 1);
	assert_int_equal(reserve(f), ROOM_RESERVE);
	disk.fail_sync = NULL;
	assert_int_equal(commit_one(f, 2, NULL), -1);
	assert_int_equal(disk.syncs_failed, 1);
}

/* What a trim of the audit log could not sync is not believed either (F55). */
static void test_failed_sync_of_a_trim(void **state)
{
	struct fixture *f = *state;
	struct err e = {0};
	bool more;

	for (int i = 0; i < JOURNAL_TRIM; i++) {
		struct journal_tx *tx = journal_begin(f->j);

		journal_put_audit(tx, &(struct journal_audit){.at_ms = 1,
							      .actor = "hook",
							      .verb = "create",
							      .target = "cloud",
							      .object = "c1",
							      .reason = "",
							      .request = ""});
		assert_int_equal(journal_commit(tx, NULL), 0);
	}
	disk.fail_sync = "journal.db-wal";
	assert_int_equal(journal_trim(f->j, INT64_MAX, 2, &more, &e), -1);
	assert_true(disk.syncs_failed > 0);
	disk.fail_sync = NULL;
	assert_int_equal(commit_one(f, 1, &e), -1);
	assert_non_null(strstr(e.msg, "earlier write failed"));
	reopen(f);
	assert_int_equal(commit_one(f, 1, &e), 0);
}

/* Tidying up needs room in the main file.  Without, the log keeps what it has: no failure, and the
 * next who looks finds all of it. */
static void test_tidy_on_a_full_disk(void **state)
{
	struct fixture *f = *state;
	struct err e = {0};
	int64_t n = 0;

	while (n < 1000) /* 20 MiB */
		assert_int_equal(commit_one(f, ++n, NULL), 0);
	make_small(f, 0);
	assert_int_equal(journal_tidy(f->j, &e), 0); /* with the reserve */
	assert_int_equal(reserve(f), 0);
	assert_true(disk.writes_failed > 0);
	disk.writes_failed = 0;
	assert_int_equal(journal_tidy(f->j, &e), 0); /* and without */
	assert_true(disk.writes_failed > 0);
	assert_whole(f, n);
	/* That log is to be opened, too. */
	close_journal(f);
	open_journal(f, true);
	assert_whole(f, n);
	disk.dir = NULL;
	reopen(f);
	assert_int_equal(commit_one(f, n + 1, NULL), 0);
	assert_whole(f, n + 1);
}

/* A commit that is done and then cannot tidy up is done: to try it again would do it twice. */
static void test_full_log_on_a_full_disk(void **state)
{
	enum { LEN = (1 << 20) - 1, MANY = 80 };
	static char text[LEN + 1];
	struct fixture *f = *state;
	struct err e = {0};

	memset(text, 'x', LEN);
	for (int i = 1; i <= MANY; i++) { /* some 64 MiB: the log is full before the last */
		struct journal_tx *tx = journal_begin(f->j);

		make_small(f, 2 * MIB); /* enough for the log, not for the main file */
		journal_put_event(tx, i, "", 0, "type", text);
		if (journal_commit(tx, &e) != 0)
			fail_msg("%d: %s", i, e.msg);
	}
	assert_true(disk.writes_failed > 0);
	assert_int_equal(reserve(f), ROOM_RESERVE);
	assert_int_equal(events(f, 0, NULL, UINT32_MAX).n, MANY);
	disk.dir = NULL;
	assert_int_equal(journal_tidy(f->j, &e), 0);
}

/* One that is longer than a slice gets as many as it takes, and is there once; when all are gone it
 * fails, whole. */
static void test_long_commit_on_a_full_disk(void **state)
{
	enum { TEXT = 500000, MANY = 6 };
	static char text[TEXT];
	struct fixture *f = *state;
	struct err e = {0};
	int64_t n = 0;
	int rc;

	memset(text, 'x', sizeof(text) - 1);
	make_small(f, 0);
	do {
		struct journal_tx *tx = journal_begin(f->j);

		for (int i = 0; i < MANY; i++)
			journal_put_event(tx, i, "", 0, "type", text);
		journal_put_number(tx, "n", n + 1);
		rc = journal_commit(tx, &e);
		if (rc == 0 && ++n == 1)
			assert_int_equal(reserve(f), ROOM_RESERVE - 3 * ROOM_SLICE);
	} while (rc == 0);
	assert_int_equal(n, ROOM_RESERVE / MANY / TEXT);
	assert_int_equal(e.code, ERR_IO);
	assert_non_null(strstr(e.msg, "full"));
	assert_int_equal(reserve(f), 0);
	assert_int_equal(events(f, 0, NULL, UINT32_MAX).n, n * MANY);
	disk.dir = NULL;
	assert_int_equal(commit_one(f, 1, NULL), -1);
	reopen(f);
	assert_int_equal(events(f, 0, NULL, UINT32_MAX).n, n * MANY);
	assert_int_equal(number(f, "n"), n);
}

/* Nor does forgetting old events get any of the reserve, or fail. */
static void test_trim_on_a_full_disk(void **state)
{
	struct fixture *f = *state;
	struct err e = {0};
	int64_t n = 0;
	bool more = true;

	while (n < 300)
		assert_int_equal(commit_one(f, ++n, NULL), 0);
	make_small(f, 0);
	if (journal_trim(f->j, INT64_MAX, 1000000, &more, &e) != 0)
		fail_msg("%s", e.msg);
	assert_false(more);
	assert_true(disk.writes_failed > 0);
	assert_int_equal(reserve(f), ROOM_RESERVE);
	assert_whole(f, n);
	disk.dir = NULL;
	assert_int_equal(journal_trim(f->j, INT64_MAX, 1000000, &more, &e), 0);
	assert_true(more);
	assert_int_equal(events(f, 0, NULL, UINT32_MAX).n, n - JOURNAL_TRIM);
}

/* A start with no byte free: SQLite needs its index of the log, and gets it from the reserve. */
static void test_open_on_a_full_disk(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(commit_one(f, 1, NULL), 0);
	close_journal(f);
	make_small(f, 0);
	open_journal(f, true);
	assert_int_equal(reserve(f), ROOM_RESERVE - ROOM_SLICE);
	assert_true(journal_look(f->j).low);
	assert_int_equal(commit_one(f, 2, NULL), 0);
	assert_whole(f, 2);
}

#undef TEST
#define TEST(f) cmocka_unit_test_setup_teardown(f, setup_disk, teardown_disk)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_made_and_kept),
		TEST(test_limits),
		TEST(test_made_again),
		TEST(test_cannot_be_made),
		TEST(test_commit_on_a_full_disk),
		TEST(test_kill_on_a_full_disk),
		TEST(test_failed_sync_is_not_full),
		TEST(test_failed_sync_of_a_trim),
		TEST(test_tidy_on_a_full_disk),
		TEST(test_full_log_on_a_full_disk),
		TEST(test_long_commit_on_a_full_disk),
		TEST(test_trim_on_a_full_disk),
		TEST(test_open_on_a_full_disk),
	};

	return cmocka_run_group_tests_name("room", tests, NULL, NULL);
}
