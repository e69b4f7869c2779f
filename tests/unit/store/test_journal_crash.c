/* test_journal_crash.c - what kill -9, a power cut and a full disk leave of a journal. */
#include "broken_journal.h"

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
