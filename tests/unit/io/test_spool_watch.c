/* test_spool_watch.c - how soon a file of the spool is seen, and a directory that is not what it
 * was. */
#include "spool_lab.h"

/* What comes is heard of from the first listing on. */
static void begin(void)
{
	assert_string_equal(pass(), "");
	turn();
	assert_false(is_due());
	F.wakes = 0;
}

static bool is_woken(void)
{
	const unsigned before = F.wakes;

	hear();
	assert_int_equal(is_due(), F.wakes != before);
	return F.wakes != before;
}

/* The hook that woke us still syncs its file. */
static void test_a_hook_has_a_moment(void **state)
{
	int64_t from;

	(void)state;
	begin();
	from = loop_now(F.l);
	put_call("1");
	turn();
	assert_int_equal(F.wakes, 1);
	assert_true(spool_next_ms(F.s) >= from + SPOOL_SETTLE_MS);
	assert_true(spool_next_ms(F.s) <= loop_now(F.l) + SPOOL_SETTLE_MS);
	from = spool_next_ms(F.s);
	put_call("2"); /* others do not make the first one wait for longer */
	turn();
	assert_int_equal(spool_next_ms(F.s), from);
	assert_string_equal(next_pass(), "1 2 ");
}

static void test_wake(void **state)
{
	(void)state;
	begin();
	put_call("1");
	put_call("2");
	assert_true(is_woken());
	assert_int_equal(F.wakes, 1); /* one for all that there is */
	assert_string_equal(pass(), "1 2 ");
	assert_false(is_woken());
	put_call("3");
	assert_string_equal(next_pass(), "3 ");
}

/* What is being written, and what is no call; neither our own moves to .bad. */
static void test_no_wake(void **state)
{
	(void)state;
	begin();
	write_file(".1", "", 0);
	assert_int_equal(rename(at(".1"), at(".2")), 0);
	assert_int_equal(rename(at(".2"), at("1.bad")), 0);
	assert_int_equal(unlink(at("1.bad")), 0);
	assert_int_equal(mkdir(at("d"), 0700), 0); /* nor did a hook do that */
	write_file("2", "half", 4);
	assert_int_equal(unlink(at("2")), 0);
	assert_false(is_woken());
	put("3", "half", 4);
	assert_true(is_woken());
	assert_string_equal(pass(), "");
	assert_true(there("3.bad"));
	assert_false(is_woken());
}

static void test_wake_is_of_the_last_who_asked(void **state)
{
	(void)state;
	begin();
	spool_on_wake(F.s, NULL, NULL);
	put_call("1");
	hear();
	assert_int_equal(F.wakes, 0);
	assert_true(is_due()); /* all the same */
	assert_string_equal(pass(), "1 ");
	spool_on_wake(F.s, on_wake, &F);
	put_call("2");
	assert_true(is_woken());
}

/* While a listing is worked off, too. */
static void test_wake_amid_a_listing(void **state)
{
	(void)state;
	begin();
	for (int i = 0; i < 70; i++) {
		char name[16];

		(void)snprintf(name, sizeof(name), "f%02d", i);
		put_call(name);
	}
	turn();
	(void)pass();
	assert_int_equal(F.n, SPOOL_PASS_MAX);
	put_call("a");
	turn();
	assert_string_equal(pass(), "f64 f65 f66 f67 f68 f69 ");
	assert_string_equal(next_pass(), "a ");
	assert_false(is_woken());
}

static long max_queued(void)
{
	FILE *f = fopen("/proc/sys/fs/inotify/max_queued_events", "re");
	long n = 0;

	if (f == NULL || fscanf(f, "%ld", &n) != 1)
		n = 0;
	if (f != NULL)
		(void)fclose(f);
	return n;
}

/* The queue is full of what is of no interest; that it was is all that is heard of the calls. */
static void test_overflow(void **state)
{
	const long max = max_queued();

	(void)state;
	if (max <= 0 || max > 200000)
		skip();
	begin();
	write_file(".a", "", 0);
	for (long i = 0; i <= max; i += 2) {
		assert_int_equal(rename(at(".a"), at(".b")), 0);
		assert_int_equal(rename(at(".b"), at(".a")), 0);
	}
	for (int i = 0; i < 60; i++) {
		char name[16];

		(void)snprintf(name, sizeof(name), "%02d", i);
		put_call(name);
	}
	assert_true(is_woken());
	(void)pass();
	assert_int_equal(F.n, 60);
	assert_string_equal(F.list, "n[1-2]");
	assert_false(is_woken());
	put_call("1");
	assert_true(is_woken());
}

/* --- the directory ---------------------------------------------------------------------------- */

static void test_no_directory(void **state)
{
	(void)state;
	begin();
	assert_int_equal(rmdir(F.dir), 0);
	reopen_spool();
	assert_true(is_due());
	assert_string_equal(pass_fails("No such file or directory"), "");
	assert_int_equal(F.e.code, ERR_IO);
	assert_in_range(spool_next_ms(F.s) - loop_now(F.l), SPOOL_UNWATCHED_MS - 100,
			SPOOL_UNWATCHED_MS);
	assert_int_equal(spool_pass(F.s, take, &F, &F.e), 0); /* not yet again */
	assert_int_equal(mkdir(F.dir, 0755), 0);
	put_call("1");
	wait_until(spool_next_ms(F.s));
	assert_string_equal(pass(), "1 ");
	assert_int_equal(F.nearly, 1);
	put_call("2");
	assert_true(is_woken()); /* it is watched now */
}

static void test_not_a_directory_of_ours(void **state)
{
	char real[64];

	(void)state;
	(void)snprintf(real, sizeof(real), "%s-real", F.dir);
	put_call("1");
	assert_int_equal(rename(F.dir, real), 0);
	assert_int_equal(symlink(real, F.dir), 0);
	assert_string_equal(pass_fails(""), "");
	assert_int_equal(F.e.code, ERR_IO);
	assert_int_equal(unlink(F.dir), 0);
	reopen_spool();
	assert_int_equal(close(open(F.dir, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600)), 0);
	assert_string_equal(pass_fails("Not a directory"), "");
	assert_int_equal(unlink(F.dir), 0);
	assert_int_equal(rename(real, F.dir), 0);
	reopen_spool();
	assert_string_equal(pass(), "1 ");
}

static void test_writable_by_others(void **state)
{
	static const mode_t modes[] = {0770, 0707, 01777};

	(void)state;
	put_call("1");
	for (size_t i = 0; i < COUNT(modes); i++) {
		assert_int_equal(chmod(F.dir, modes[i]), 0);
		reopen_spool();
		assert_string_equal(pass_fails("writable by users other than root and burstd"), "");
		assert_int_equal(F.e.code, ERR_AUTH);
		assert_true(there("1"));
		assert_false(is_due());
	}
	assert_int_equal(chmod(F.dir, 0755), 0);
	put_call("2"); /* nor was the watch given up */
	assert_string_equal(next_pass(), "1 2 ");
}

static void test_a_strangers_directory(void **state)
{
	(void)state;
	need_root();
	put_call("1");
	assert_int_equal(chown(F.dir, STRANGER, STRANGER), 0);
	assert_string_equal(pass_fails("users other than root"), "");
	assert_int_equal(F.e.code, ERR_AUTH);
	assert_true(there("1"));
}

/* A call that is kept stays while the directory is anybody's, and goes when it is ours again. */
static void test_writable_by_others_amid_calls_that_are_kept(void **state)
{
	(void)state;
	begin();
	put_call("1");
	F.keep = true;
	assert_string_equal(next_pass(), "1 ");
	assert_int_equal(chmod(F.dir, 0777), 0);
	put_call("2");
	turn();
	assert_string_equal(pass_fails("writable by users other than root"), "");
	spool_done(F.s, "1");
	assert_true(there("1")); /* not in a directory that is anybody's */
	assert_int_equal(chmod(F.dir, 0755), 0);
	put_call("3");
	assert_string_equal(next_pass(), "2 3 ");
	assert_false(there("1"));
}

/* The watch goes with it, and says so. */
static void test_moved_away_and_made_again(void **state)
{
	char away[64];

	(void)state;
	begin();
	(void)snprintf(away, sizeof(away), "%s-away", F.dir);
	assert_int_equal(rename(F.dir, away), 0);
	assert_int_equal(mkdir(F.dir, 0755), 0);
	put_call("1");
	assert_true(is_woken());
	assert_string_equal(pass(), "1 ");
	assert_int_equal(F.nearly, 0);
	put_call("2");
	assert_true(is_woken());
	assert_string_equal(pass(), "2 ");
	assert_int_equal(lab_remove(away, NULL, 0, NULL), 0);
	assert_false(is_woken()); /* it is nothing to us any more */
}

/* It may be seconds until somebody makes it again. */
static void test_moved_away_for_a_while(void **state)
{
	char away[64];

	(void)state;
	begin();
	(void)snprintf(away, sizeof(away), "%s-away", F.dir);
	assert_int_equal(rename(F.dir, away), 0);
	assert_true(is_woken());
	assert_string_equal(pass_fails("No such file or directory"), "");
	assert_in_range(spool_next_ms(F.s) - loop_now(F.l), SPOOL_UNWATCHED_MS - 100,
			SPOOL_UNWATCHED_MS);
	assert_int_equal(rename(away, F.dir), 0);
	put_call("1");
	turn();
	assert_false(is_due()); /* nobody hears of that */
	wait_until(spool_next_ms(F.s));
	assert_string_equal(pass(), "1 ");
	put_call("2");
	assert_true(is_woken());
}

/* The kernel says so at once, as nobody has it open. */
static void test_removed_and_made_again(void **state)
{
	(void)state;
	begin();
	assert_int_equal(rmdir(F.dir), 0);
	assert_int_equal(mkdir(F.dir, 0755), 0);
	put_call("1");
	assert_true(is_woken());
	assert_string_equal(pass(), "1 ");
	assert_int_equal(F.nearly, 0);
	put_call("2");
	assert_true(is_woken());
	assert_string_equal(pass(), "2 ");
}

/* While a call is kept it is open, and the kernel says nothing: the next sweep sees it. */
static void test_removed_while_a_call_is_kept(void **state)
{
	(void)state;
	begin();
	put_call("0");
	F.keep = true;
	assert_string_equal(next_pass(), "0 ");
	assert_int_equal(unlink(at("0")), 0);
	assert_int_equal(rmdir(F.dir), 0);
	assert_int_equal(mkdir(F.dir, 0755), 0);
	put_call("1");
	turn();
	assert_in_range(spool_next_ms(F.s) - loop_now(F.l), 1, SPOOL_EVERY_MS);
	wait_until(spool_next_ms(F.s));
	assert_string_equal(pass(), "1 ");
	assert_int_equal(F.nearly, 0);
	spool_done(F.s, "0"); /* it was in another one */
	spool_done(F.s, "1");
	assert_false(there("1"));
	put_call("2");
	assert_true(is_woken());
}

static unsigned count_open(void)
{
	char link[64], path[600];
	unsigned n = 0;

	for (int fd = 3; fd < 256; fd++) {
		(void)snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
		memset(path, 0, sizeof(path));
		n += readlink(link, path, sizeof(path) - 1) > 0 && strcmp(path, F.dir) == 0;
	}
	return n;
}

/* Somebody may want to unmount it. */
static void test_open_only_while_there_is_something_to_do(void **state)
{
	(void)state;
	begin();
	assert_int_equal(count_open(), 0);
	put_call("1");
	put_call("2");
	F.keep = true;
	assert_string_equal(next_pass(), "1 2 ");
	assert_int_equal(count_open(), 1);
	spool_done(F.s, "1");
	assert_int_equal(count_open(), 1);
	spool_done(F.s, "2");
	assert_int_equal(count_open(), 0);
	assert_false(there("1") || there("2"));
	F.keep = false;
	for (int i = 0; i < 70; i++) {
		char name[16];

		(void)snprintf(name, sizeof(name), "f%02d", i);
		put_call(name);
	}
	(void)next_pass();
	assert_int_equal(count_open(), 1); /* six are left */
	assert_string_equal(pass(), "f64 f65 f66 f67 f68 f69 ");
	assert_int_equal(count_open(), 0);
}

/* F56: without a watch it is looked more often. */
static void test_no_descriptor_for_the_watch(void **state)
{
	(void)state;
	set_fds(false);
	reopen_spool();
	set_fds(true);
	put_call("1");
	assert_string_equal(pass(), "1 ");
	assert_in_range(spool_next_ms(F.s) - loop_now(F.l), SPOOL_UNWATCHED_MS - 100,
			SPOOL_UNWATCHED_MS);
	put_call("2");
	turn();
	assert_false(is_due());
	assert_int_equal(F.wakes, 0);
	wait_until(spool_next_ms(F.s));
	assert_string_equal(pass(), "2 ");
}

static void test_spool_free(void **state)
{
	(void)state;
	spool_free(NULL);
	begin();
	put_call("1");
	put_call("2");
	spool_free(F.s); /* events wait, and nobody hears them */
	F.s = NULL;
	turn();
	assert_int_equal(F.wakes, 0);
	open_spool();
	F.keep = true;
	assert_string_equal(pass(), "1 2 ");
	spool_free(F.s); /* with calls that are kept */
	F.s = NULL;
	assert_true(there("1") && there("2"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(test_a_hook_has_a_moment),
		T(test_wake),
		T(test_no_wake),
		T(test_wake_is_of_the_last_who_asked),
		T(test_wake_amid_a_listing),
		T(test_overflow),
		T(test_no_directory),
		T(test_not_a_directory_of_ours),
		T(test_writable_by_others),
		T(test_a_strangers_directory),
		T(test_writable_by_others_amid_calls_that_are_kept),
		T(test_moved_away_and_made_again),
		T(test_moved_away_for_a_while),
		T(test_removed_and_made_again),
		T(test_removed_while_a_call_is_kept),
		T(test_open_only_while_there_is_something_to_do),
		T(test_no_descriptor_for_the_watch),
		T(test_spool_free),
	};

	return cmocka_run_group_tests_name("spool_watch", tests, first_loop, NULL);
}
