/* test_hook_spool.c - where burst-hook leaves a call, and what it says of a spool that takes none.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "tests/unit/hook/hook_lab.h"

static void assert_lost(const struct lab_opts *o, const char *why)
{
	int log = lab_log_listen();
	const struct lab_result r = lab_run(o);

	assert_int_equal(r.code, 3);
	lab_assert_complaint(log, &r, why);
	assert_non_null(strstr(r.err, "resume call lost: " PATHS_SPOOL));
	lab_log_close(log);
}

/* Nobody listens to syslog or reads standard error: still exit 3, and in time. */
static void assert_lost_unheard(void)
{
	const struct lab_opts rows[] = {
		{.name = "burst-resume", .list = "c1"},
		{.name = "burst-resume", .list = "c1", .full_stderr = true},
		{.name = "burst-resume", .list = "c1", .lone_stderr = true},
		{.name = "burst-resume", .list = "c1", .closed_fds = true},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const struct lab_result r = lab_run(&rows[i]);

		assert_int_equal(r.code, 3);
		assert_true(r.ms < 1000);
	}
}

static void test_no_spool(void **state)
{
	const struct lab_opts o = {.name = "burst-resume", .list = "c1"};

	(void)state;
	assert_int_equal(mount(NULL, PATHS_SPOOL, NULL, MS_REMOUNT | MS_RDONLY, NULL), 0);
	assert_lost(&o, "Read-only");
	lab_assert_spool_empty();
	assert_int_equal(umount(PATHS_SPOOL), 0);
	assert_int_equal(rmdir(PATHS_SPOOL), 0);
	assert_lost(&o, "No such file");
	assert_lost_unheard();
	assert_int_equal(symlink("/run", PATHS_SPOOL), 0);
	assert_lost(&o, "directory");
	assert_int_equal(unlink(PATHS_SPOOL), 0);
	assert_int_equal(mkdir(PATHS_SPOOL, 0700), 0);
	assert_int_equal(mount("spool", PATHS_SPOOL, "tmpfs", 0, "mode=700"), 0);
}

/* F55: a full disk leaves nothing behind. */
static void test_disk_full(void **state)
{
	char path[64];
	int fd = lab_memfd_of(4 * LAB_MIB, path);
	const struct lab_opts o = {.name = "burst-resume", .list = "c1", .file = path};

	(void)state;
	assert_int_equal(mount(NULL, PATHS_SPOOL, NULL, MS_REMOUNT, "size=1m"), 0);
	assert_lost(&o, "No space");
	lab_assert_spool_empty();
	assert_int_equal(mount(NULL, PATHS_SPOOL, NULL, MS_REMOUNT, "size=256m"), 0);
	(void)close(fd);
}

/* TIME-PID-RANDOM.call; the random part. */
static unsigned assert_name(const struct lab_call *c, pid_t pid)
{
	unsigned random = 0;
	char want[64];

	assert_int_equal(strspn(c->name, "0123456789"), 20);
	assert_int_equal(strtoll(c->name, NULL, 10) / 1000000, c->end.at_ms);
	if (pid != 0) {
		(void)snprintf(want, sizeof(want), "-%d-", (int)pid);
		assert_int_equal(strncmp(c->name + 20, want, strlen(want)), 0);
	}
	assert_int_equal(sscanf(c->name + 20, "-%*d-%8x", &random), 1);
	assert_int_equal(strlen(strrchr(c->name, '-')), strlen("-12345678.call"));
	assert_string_equal(strrchr(c->name, '.'), ".call");
	return random;
}

static void test_names_sort_by_time(void **state)
{
	char names[LAB_NAMES_MAX][LAB_NAME], list[16];
	pid_t pids[4];

	(void)state;
	for (int i = 0; i < 4; i++) {
		const struct lab_opts one = {.name = "burst-suspend", .list = list};
		struct lab_result r;
		struct lab_proc p;

		(void)snprintf(list, sizeof(list), "c%d", i);
		lab_start(&p, &one);
		pids[i] = p.pid;
		lab_finish(&p, &r);
		assert_int_equal(r.code, 0);
	}
	assert_int_equal(lab_spool_names(names, LAB_NAMES_MAX), 4);
	for (int i = 0; i < 4; i++) {
		struct lab_call c;

		lab_call_read(&c, names[i]);
		assert_true(c.whole);
		(void)snprintf(list, sizeof(list), "c%d", i);
		lab_assert_list(&c, list);
		(void)assert_name(&c, pids[i]);
		lab_call_fini(&c);
	}
	lab_spool_clear();
}

static void test_sixteen_at_once(void **state)
{
	const struct lab_opts o = {.name = "burst-suspend", .list = "c1"};
	char names[LAB_NAMES_MAX][LAB_NAME];
	unsigned first = 0, differ = 0;
	struct lab_proc p[16];
	struct lab_result r;

	(void)state;
	for (int i = 0; i < 16; i++)
		lab_start(&p[i], &o);
	for (int i = 0; i < 16; i++) {
		lab_finish(&p[i], &r);
		assert_int_equal(r.code, 0);
	}
	assert_int_equal(lab_spool_names(names, LAB_NAMES_MAX), 16);
	for (int i = 0; i < 16; i++) {
		struct lab_call c;
		unsigned random;

		assert_int_not_equal(names[i][0], '.');
		lab_call_read(&c, names[i]);
		assert_true(c.whole);
		random = assert_name(&c, 0);
		first = i == 0 ? random : first;
		differ += random != first;
		lab_call_fini(&c);
	}
	assert_true(differ > 0);
	lab_spool_clear();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_no_spool),
		cmocka_unit_test(test_disk_full),
		cmocka_unit_test(test_names_sort_by_time),
		cmocka_unit_test(test_sixteen_at_once),
	};
	int status;

	if (!lab_enter(&status))
		return status;
	return cmocka_run_group_tests_name("hook_spool", tests, NULL, NULL);
}
