/* test_reading.c - which days a command is about, and a ledger that cannot be read. */
#include "ledger/reading.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/clock.h"

static void test_days(void **state)
{
	static const struct {
		const char *period, *from, *to;
		int64_t first, last; /* 20260329: a date; 0: refused */
		const char *name;    /* or what *e has */
	} rows[] = {
		{"2026-02", NULL, NULL, 20260201, 20260228, "2026-02"},
		{NULL, "2026-03-29", "2026-03-29", 20260329, 20260329, "2026-03-29 to 2026-03-29"},
		{NULL, "2025-12-31", "2026-01-02", 20251231, 20260102, "2025-12-31 to 2026-01-02"},
		{NULL, "2026-03-30", "2026-03-29", 0, 0, "--to: the last day is before the first"},
		{"2026-13", NULL, NULL, 0, 0,
		 "--period: want a month such as 2026-03, not \"2026-13\""},
		{NULL, "2026-02-30", NULL, 0, 0,
		 "--from: want a day such as 2026-03-29, not \"2026-02-30\""},
		{NULL, NULL, "x", 0, 0, "--to: want a day such as 2026-03-29, not \"x\""},
	};
	struct reading r = {0};
	struct err e = {0};

	(void)state;
	assert_int_equal(calendar_init(&r.calendar, "UTC", &e), 0);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const struct settings s = {
			.period = rows[i].period, .from = rows[i].from, .to = rows[i].to};
		const int64_t a = rows[i].first, b = rows[i].last;
		struct reading_days d = {0};

		print_message("# %s\n", rows[i].name);
		assert_int_equal(reading_find_days(&r, &s, &d, &e), a > 0 ? 0 : -1);
		assert_string_equal(a > 0 ? d.name : e.msg, rows[i].name);
		if (a == 0)
			continue;
		assert_int_equal(d.from_day, date_day(a / 10000, a / 100 % 100, a % 100));
		assert_int_equal(d.to_day, date_day(b / 10000, b / 100 % 100, b % 100) + 1);
	}
	calendar_fini(&r.calendar);
}

static void test_this_month(void **state)
{
	const struct settings s = {0};
	struct reading r = {0};
	struct reading_days d;
	struct err e = {0};
	int64_t month;

	(void)state;
	assert_int_equal(calendar_init(&r.calendar, "UTC", &e), 0);
	do { /* again, if it ended meanwhile */
		month = date_month(clock_wall_ms() / 86400000);
		assert_int_equal(reading_find_days(&r, &s, &d, &e), 0);
	} while (date_month(clock_wall_ms() / 86400000) != month);
	assert_int_equal(d.from_day, date_month_day(month));
	assert_int_equal(d.to_day, date_month_day(month + 1));
	calendar_fini(&r.calendar);
}

enum { NOBODY = 65534 };

/* Before 2.33 glibc's faccessat() asked by the real user, which stays root's in these tests. */
enum { FACCESSAT_BY_EUID = __GLIBC_PREREQ(2, 33) };

static void assert_refused(const char *path, const char *why)
{
	struct err e = {0};

	assert_int_equal(reading_check_file(path, &e), -1);
	assert_non_null(strstr(e.msg, path));
	assert_non_null(strstr(e.msg, why));
}

/* Who asks too early, or as the wrong user, is told what to do instead. */
static void test_a_ledger_that_cannot_be_read(void **state)
{
	char dir[] = "/tmp/reading-XXXXXX", path[sizeof(dir) + 10];
	struct err e = {0};
	int fd;

	(void)state;
	if (!FACCESSAT_BY_EUID)
		skip();
	assert_non_null(mkdtemp(dir));
	(void)snprintf(path, sizeof(path), "%s/ledger.db", dir);
	assert_refused(path, "there is no ledger yet; the service burst-ledger makes it");
	fd = creat(path, 0600);
	assert_true(fd >= 0);
	assert_int_equal(close(fd), 0);
	assert_int_equal(reading_check_file(path, &e), 0);
	if (geteuid() == 0) /* may read all, so be somebody else; the directory is closed to them */
		assert_int_equal(seteuid(NOBODY), 0);
	else
		assert_int_equal(chmod(path, 0), 0);
	assert_refused(path, "others ask by \"burstctl report\"");
	if (geteuid() == NOBODY)
		assert_int_equal(seteuid(0), 0);
	assert_int_equal(unlink(path), 0);
	assert_int_equal(rmdir(dir), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_days),
		cmocka_unit_test(test_this_month),
		cmocka_unit_test(test_a_ledger_that_cannot_be_read),
	};

	return cmocka_run_group_tests_name("ledger, reading", tests, NULL, NULL);
}
