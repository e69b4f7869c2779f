/* test_job_submit.c - slurm/job_submit.lua in each Lua that is installed; slurmctld has 5.1 to 5.4.
 * What it is tried with is in job_submit_test.lua. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

static const char *const interpreters[] = {"lua5.1", "lua5.2", "lua5.3", "lua5.4"};

enum { N = sizeof(interpreters) / sizeof(interpreters[0]), EXIT_MISSING = 127 };

static int run(const char *lua, const char *dir)
{
	int status;
	pid_t pid = fork();

	assert_true(pid >= 0);
	if (pid == 0) {
		execlp(lua, lua, "tests/unit/hook/job_submit_test.lua", "slurm/job_submit.lua", dir,
		       (char *)NULL);
		_exit(EXIT_MISSING);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	return WEXITSTATUS(status);
}

static void test_all(void **state)
{
	char dir[] = "/tmp/test_job_submit.XXXXXX", path[64];
	int tried = 0;

	(void)state;
	assert_non_null(mkdtemp(dir));
	for (size_t i = 0; i < N; i++) {
		int rc = run(interpreters[i], dir);

		if (rc == EXIT_MISSING)
			continue;
		tried++;
		if (rc != 0)
			print_error("%s says that something is wrong\n", interpreters[i]);
		assert_int_equal(rc, 0);
	}
	(void)snprintf(path, sizeof(path), "%s/submit", dir);
	(void)unlink(path);
	assert_int_equal(rmdir(dir), 0);
	if (tried == 0) {
		print_message("# no Lua is installed: job_submit.lua is not tried\n");
		skip();
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_all)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
