/* test_spool.c - files of the spool: which are offered, in what order, how often, and what becomes
 * of them. */
#include "spool_lab.h"

#include <sys/syscall.h>

/* --- passes ----------------------------------------------------------------------------------- */

static void test_oldest_first(void **state)
{
	(void)state;
	put_call("2");
	put_call("10");
	put_call("3");
	put_call("1");
	assert_string_equal(pass(), "1 10 2 3 ");
	assert_false(there("1") || there("10") || there("2") || there("3"));
	turn();
	assert_false(is_due());
}

/* Nothing is done before it is time, nor is anything seen. */
static void test_not_before_it_is_due(void **state)
{
	(void)state;
	assert_true(is_due()); /* at once, at first */
	assert_string_equal(pass(), "");
	assert_in_range(spool_next_ms(F.s) - loop_now(F.l), SPOOL_EVERY_MS - 1000, SPOOL_EVERY_MS);
	put_call("1");
	assert_string_equal(pass(), ""); /* the watch has not been heard */
	assert_string_equal(next_pass(), "1 ");
	assert_false(is_due());
}

static void put_many(int n)
{
	for (int i = n - 1; i >= 0; i--) {
		char name[16];

		(void)snprintf(name, sizeof(name), "f%03d", i);
		put_call(name);
	}
}

/* The files from first on that one pass is to see. */
static void assert_pass(int first, int n)
{
	struct str want;

	str_init(&want, 65536);
	for (int i = first; i < first + n; i++)
		str_addf(&want, "f%03d ", i);
	assert_string_equal(pass(), want.p);
	str_fini(&want);
}

static void test_one_pass_is_bounded(void **state)
{
	(void)state;
	put_many(150);
	assert_pass(0, SPOOL_PASS_MAX);
	assert_true(is_due()); /* it goes on at once */
	assert_pass(SPOOL_PASS_MAX, SPOOL_PASS_MAX);
	assert_true(is_due());
	assert_pass(2 * SPOOL_PASS_MAX, 150 - 2 * SPOOL_PASS_MAX);
	turn();
	assert_false(is_due());
}

/* F47: one that comes meanwhile has its turn after those that the listing had. */
static void test_one_listing_for_many_turns(void **state)
{
	(void)state;
	put_many(150);
	assert_pass(0, SPOOL_PASS_MAX);
	put_call("a-first");
	turn();
	assert_pass(SPOOL_PASS_MAX, SPOOL_PASS_MAX);
	put_call("z-last");
	turn();
	assert_pass(2 * SPOOL_PASS_MAX, 150 - 2 * SPOOL_PASS_MAX);
	assert_string_equal(next_pass(), "a-first z-last ");
	turn();
	assert_false(is_due());
}

/* Bytes count as well: a pass reads two of these, for 32 MiB, and then the third. */
static void test_bytes_of_a_pass_are_bounded(void **state)
{
	const size_t len = CALL_LIST_MAX + CALL_FILE_MAX;
	struct call_end c = {.file = CALL_FILE_SENT,
			     .boot_ms = clock_boot_ms(),
			     .list_len = CALL_LIST_MAX,
			     .file_len = CALL_FILE_MAX};
	char *bytes = mem_zalloc(SPOOL_FILE_MAX + 1);

	(void)state;
	memset(bytes, 'n', CALL_LIST_MAX);
	call_end_print(&c, fnv_bytes(FNV_BEGIN, bytes, len), bytes + len);
	for (int i = 0; i < 3; i++)
		put((const char *const[]){"1", "2", "3"}[i], bytes, SPOOL_FILE_MAX);
	put_call("4");
	put("5", bytes, SPOOL_FILE_MAX + 1);
	assert_string_equal(pass(), "1 2 ");
	assert_int_equal(F.last.list_len, CALL_LIST_MAX);
	assert_int_equal(F.file_len, CALL_FILE_MAX);
	assert_true(F.last.early);
	assert_true(is_due());
	assert_string_equal(pass(), "3 4 ");
	assert_true(there("5.bad")); /* longer than the longest */
	free(bytes);
}

/* --- early ------------------------------------------------------------------------------------ */

/* F46: somebody may have acted on it before; that is so for all that lay there, however long it
 * takes to read them. */
static void test_early_is_what_the_first_listing_found(void **state)
{
	(void)state;
	put_many(150);
	assert_pass(0, SPOOL_PASS_MAX);
	assert_int_equal(F.nearly, SPOOL_PASS_MAX);
	put_call("new");
	turn();
	assert_pass(SPOOL_PASS_MAX, SPOOL_PASS_MAX);
	assert_int_equal(F.nearly, SPOOL_PASS_MAX);
	assert_pass(2 * SPOOL_PASS_MAX, 150 - 2 * SPOOL_PASS_MAX);
	assert_int_equal(F.nearly, F.n);
	assert_string_equal(next_pass(), "new ");
	assert_int_equal(F.nearly, 0);
}

static void test_nothing_is_early_after_an_empty_listing(void **state)
{
	(void)state;
	assert_string_equal(pass(), "");
	put_call("1");
	assert_string_equal(next_pass(), "1 ");
	assert_int_equal(F.nearly, 0);
}

/* The first that succeeds. */
static void test_early_after_a_listing_that_failed(void **state)
{
	(void)state;
	put_call("1");
	assert_int_equal(chmod(F.dir, 0777), 0);
	(void)pass_fails("writable by users other than root");
	assert_int_equal(chmod(F.dir, 0755), 0);
	put_call("2");
	assert_string_equal(next_pass(), "1 2 ");
	assert_int_equal(F.nearly, 2);
}

static void no_more_fds(const struct spool_call *c)
{
	if (strcmp(c->name, "1") == 0)
		set_fds(false);
}

/* What went wrong with one listing is told until the next, not by turns. */
static void test_trouble_is_of_the_whole_listing(void **state)
{
	char name[16];

	(void)state;
	put_call("1");
	for (int i = 0; i < SPOOL_PASS_MAX + 6; i++) {
		(void)snprintf(name, sizeof(name), "f%03d", i);
		put_call(name);
	}
	F.inside = no_more_fds;
	assert_string_equal(pass_fails("open: Too many open files"), "1 ");
	F.inside = NULL;
	set_fds(true);
	assert_true(is_due());
	(void)pass_fails("open: Too many open files");
	assert_int_equal(F.n, 7);
	wait_until(spool_next_ms(F.s));
	(void)pass();
	assert_int_equal(F.n, SPOOL_PASS_MAX - 1);
}

/* F56 */
static void test_early_though_it_could_not_be_opened_at_first(void **state)
{
	(void)state;
	put_call("1");
	put_call("2");
	put("3", "half", 4);
	F.inside = no_more_fds;
	assert_string_equal(pass_fails("open: Too many open files"), "1 ");
	assert_true(there("2") && there("3"));
	assert_int_equal(spool_bad(F.s), 0);
	assert_false(is_due()); /* no spinning */
	set_fds(true);
	put_call("4");
	hear();
	assert_true(is_due());
	set_fds(false);
	assert_string_equal(pass_fails("Too many open files"), ""); /* nor can it be listed */
	assert_false(is_due());
	set_fds(true);
	put_call("5");
	assert_string_equal(next_pass(), "2 4 5 ");
	assert_int_equal(F.nearly, 1);
	assert_int_equal(spool_bad(F.s), 1);
	assert_true(there("3.bad"));
	put_call("6");
	assert_string_equal(next_pass(), "6 ");
}

/* F56: one that came later, and is not early for that. */
static void test_without_descriptors_a_file_stays(void **state)
{
	(void)state;
	assert_string_equal(pass(), "");
	put_call("1");
	put_call("2");
	turn();
	F.inside = no_more_fds;
	assert_string_equal(pass_fails("/2: open: Too many open files"), "1 ");
	set_fds(true);
	put_call("3");
	assert_string_equal(next_pass(), "2 3 ");
	assert_int_equal(F.nearly, 0);
}

/* In memory: it is as many files. */
static int lab_open_fast(void **state)
{
	(void)state;
	return lab_open_in(access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp");
}

/* More than one listing holds: all of them lay there. */
static void test_more_names_than_a_listing_holds(void **state)
{
	enum { N = SPOOL_LIST_MAX + 70 };
	struct str s;
	unsigned n = 0, nearly = 0;

	(void)state;
	make_call(&s, (struct call_end){.file = CALL_FILE_NONE}, "", "");
	for (int i = 0; i < N; i++) {
		char name[16];

		(void)snprintf(name, sizeof(name), "%05d", i);
		write_file(name, s.p, s.len);
	}
	str_fini(&s);
	while (is_due()) {
		(void)pass();
		n += F.n;
		nearly += F.nearly;
		assert_in_range(F.n, 0, SPOOL_PASS_MAX);
	}
	assert_int_equal(n, N);
	assert_int_equal(nearly, N);
	put_call("new");
	assert_string_equal(next_pass(), "new ");
	assert_int_equal(F.nearly, 0);
}

/* --- what becomes of a file ------------------------------------------------------------------- */

static void test_kept_until_it_is_done(void **state)
{
	(void)state;
	put_call("1");
	put_call("2");
	F.keep = true;
	assert_string_equal(pass(), "1 2 ");
	assert_true(there("1") && there("2"));
	put_call("3");
	assert_string_equal(next_pass(), "3 ");
	spool_done(F.s, "1");
	assert_false(there("1"));
	assert_true(there("2") && there("3"));
	put_call("4");
	assert_string_equal(next_pass(), "4 ");
	spool_done(F.s, "1"); /* once more is fine, as is what was never offered */
	spool_done(F.s, "9");
	spool_done(F.s, "3");
	spool_done(F.s, "2");
	assert_false(there("2") || there("3"));
	assert_true(there("4"));
	put_call("1"); /* the name is free again */
	assert_string_equal(next_pass(), "1 ");
}

static void done_inside(const struct spool_call *c)
{
	spool_done(F.s, c->name);
}

static void test_done_inside(void **state)
{
	(void)state;
	for (int i = 0; i < 2; i++) {
		F.inside = done_inside;
		F.keep = i != 0;
		put_call("1");
		turn();
		assert_string_equal(pass(), "1 ");
		assert_false(there("1"));
		put_call("2");
		assert_string_equal(next_pass(), "2 ");
	}
}

/* A process that was killed in between left it for this one. */
static void test_kept_is_early_to_the_next(void **state)
{
	(void)state;
	assert_string_equal(pass(), "");
	put_call("1");
	F.keep = true;
	assert_string_equal(next_pass(), "1 ");
	assert_int_equal(F.nearly, 0);
	reopen_spool();
	F.keep = false;
	assert_string_equal(pass(), "1 ");
	assert_int_equal(F.nearly, 1);
	assert_false(there("1"));
}

/* Whoever took it away while it was kept: it is still the engine's until spool_done(). */
static void test_kept_comes_back(void **state)
{
	(void)state;
	put_call("1");
	F.keep = true;
	assert_string_equal(pass(), "1 ");
	assert_int_equal(rename(at("1"), at(".away")), 0);
	put_call("2");
	assert_string_equal(next_pass(), "2 ");
	assert_int_equal(rename(at(".away"), at("1")), 0);
	assert_string_equal(next_pass(), "");
	spool_done(F.s, "1");
	assert_false(there("1"));
}

static void test_gone_before_its_turn(void **state)
{
	(void)state;
	put_many(70);
	assert_pass(0, SPOOL_PASS_MAX);
	assert_int_equal(unlink(at("f065")), 0);
	assert_string_equal(pass(), "f064 f066 f067 f068 f069 ");
	assert_int_equal(spool_bad(F.s), 0);
}

/* --- what cannot be taken away ---------------------------------------------------------------- */

/* It is told, and tried again after each listing. */
static void test_what_cannot_be_deleted_is_not_offered_again(void **state)
{
	(void)state;
	put_call("1");
	put_call("2");
	forbid();
	assert_string_equal(pass_fails("/2: delete: Permission denied"), "1 2 ");
	assert_true(there("1") && there("2"));
	allow();
	put_call("3");
	turn();
	forbid();
	assert_string_equal(pass_fails("delete: Permission denied"), "3 ");
	allow();
	put_call("4");
	assert_string_equal(next_pass(), "4 ");
	assert_false(there("1") || there("2") || there("3") || there("4"));
	put_call("1"); /* not the same any more */
	assert_string_equal(next_pass(), "1 ");
	assert_false(there("1"));
	put_call("5");
	assert_string_equal(next_pass(), "5 ");
}

static void test_done_that_cannot_be_deleted(void **state)
{
	(void)state;
	put_call("1");
	F.keep = true;
	assert_string_equal(pass(), "1 ");
	put_call("2");
	turn();
	forbid();
	spool_done(F.s, "1");
	assert_true(there("1"));
	assert_string_equal(pass_fails("/1: delete: Permission denied"), "2 ");
	allow();
	put_call("3");
	assert_string_equal(next_pass(), "3 ");
	assert_false(there("1"));
	assert_true(there("2") && there("3"));
}

/* A listing that failed says nothing of what is there. */
static void test_not_offered_again_after_a_listing_that_failed(void **state)
{
	(void)state;
	put_call("1");
	put_call("2");
	F.keep = true;
	assert_string_equal(pass(), "1 2 ");
	forbid();
	spool_done(F.s, "1");
	allow();
	put_call("3");
	turn();
	set_fds(false);
	(void)pass_fails("Too many open files");
	spool_done(F.s, "2"); /* there is no directory to do it in */
	assert_true(there("1") && there("2"));
	set_fds(true);
	put_call("4");
	assert_string_equal(next_pass(), "3 4 ");
	assert_false(there("1") || there("2"));
}

static void test_what_could_not_be_deleted_is_early_to_the_next(void **state)
{
	(void)state;
	assert_string_equal(pass(), "");
	put_call("1");
	turn();
	forbid();
	assert_string_equal(pass_fails("delete"), "1 ");
	assert_int_equal(F.nearly, 0);
	reopen_spool();
	assert_string_equal(pass_fails("delete"), "1 ");
	assert_int_equal(F.nearly, 1);
	allow();
}

static void test_what_cannot_be_moved_aside(void **state)
{
	(void)state;
	put("1", "half", 4);
	put_call("2");
	F.keep = true;
	forbid();
	assert_string_equal(pass_fails("/1: move aside: Permission denied"), "2 ");
	assert_int_equal(spool_bad(F.s), 1);
	allow();
	put_call("3");
	turn();
	forbid();
	assert_string_equal(pass_fails("/1: move aside"), "3 ");
	allow();
	assert_true(there("1"));
	put_call("4");
	assert_string_equal(next_pass(), "4 ");
	assert_true(there("1.bad") && !there("1"));
	assert_int_equal(spool_bad(F.s), 1); /* it is one */
}

/* --- a disk that fails ------------------------------------------------------------------------ */

static const char *unreadable; /* the name of a file of which a sector is broken */

static bool is_unreadable(int fd)
{
	char link[64], path[512] = "";

	(void)snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	return unreadable != NULL && readlink(link, path, sizeof(path) - 1) > 0 &&
	       strcmp(path, at(unreadable)) == 0;
}

ssize_t read(int fd, void *buf, size_t n)
{
	if (is_unreadable(fd)) {
		errno = EIO;
		return -1;
	}
	return syscall(SYS_read, fd, buf, n);
}

/* F55: a file that the disk cannot read is said to be there, and keeps no other call waiting. */
static void test_a_broken_sector_holds_up_no_other_call(void **state)
{
	(void)state;
	put_call("1");
	put_call("2");
	put_call("3");
	unreadable = "2";
	assert_string_equal(pass_fails("/2: read: Input/output error"), "1 3 ");
	assert_true(there("2") && !there("1") && !there("3"));
	put_call("4");
	turn();
	assert_string_equal(pass_fails("/2: read: Input/output error"), "4 ");
	assert_int_equal(F.nearly, 0);
	unreadable = NULL;
	put_call("5");
	assert_string_equal(next_pass(), "2 5 ");
	assert_int_equal(F.nearly, 1);
	assert_int_equal(spool_bad(F.s), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(test_oldest_first),
		T(test_not_before_it_is_due),
		T(test_one_pass_is_bounded),
		T(test_one_listing_for_many_turns),
		T(test_bytes_of_a_pass_are_bounded),
		T(test_early_is_what_the_first_listing_found),
		T(test_nothing_is_early_after_an_empty_listing),
		T(test_early_after_a_listing_that_failed),
		T(test_trouble_is_of_the_whole_listing),
		T(test_early_though_it_could_not_be_opened_at_first),
		T(test_without_descriptors_a_file_stays),
		cmocka_unit_test_setup_teardown(test_more_names_than_a_listing_holds, lab_open_fast,
						lab_close),
		T(test_kept_until_it_is_done),
		T(test_done_inside),
		T(test_kept_is_early_to_the_next),
		T(test_kept_comes_back),
		T(test_gone_before_its_turn),
		T(test_what_cannot_be_deleted_is_not_offered_again),
		T(test_done_that_cannot_be_deleted),
		T(test_not_offered_again_after_a_listing_that_failed),
		T(test_what_could_not_be_deleted_is_early_to_the_next),
		T(test_what_cannot_be_moved_aside),
		T(test_a_broken_sector_holds_up_no_other_call),
	};

	return cmocka_run_group_tests_name("spool", tests, first_loop, NULL);
}
