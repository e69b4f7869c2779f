/* A terminal that is gone: what is written for it is lost, and that is said as glibc wants it. */
#include "cli/fold.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static cookie_io_functions_t io;
static void *cookie;

FILE *fopencookie(void *restrict c, const char *restrict mode, cookie_io_functions_t fns)
{
	(void)mode;
	cookie = c;
	io = fns;
	return tmpfile();
}

/* glibc takes a number below 0 for how many bytes were written. */
static void test_nothing_is_written_where_nothing_can_be(void **state)
{
	FILE *full = fopen("/dev/full", "w"), *f = fold_open(full, 80);

	(void)state;
	assert_true(io.write(cookie, "word\n", 5) == 0);
	assert_true(io.write(cookie, "more\n", 5) == 0);
	(void)io.close(cookie);
	(void)fclose(f);
	(void)fclose(full);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_nothing_is_written_where_nothing_can_be),
	};

	return cmocka_run_group_tests_name("fold", tests, NULL, NULL);
}
