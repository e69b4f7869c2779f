/* test_user_name.c - the names of users, by a getent of the test's. */
#include "io/user_name.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "io/loop.h"
#include "io/proc.h"

static struct fix {
	char dir[32], getent[48];
	struct loop *l;
	struct proc *p;
	struct user_names *u;
	unsigned called;
	char error[512]; /* of the last call; "": none */
} F;

static void write_getent(const char *body)
{
	FILE *f = fopen(F.getent, "we");

	assert_non_null(f);
	(void)fprintf(f, "#!/bin/sh\necho x >>%s/runs\n%s\n", F.dir, body);
	assert_int_equal(fclose(f), 0);
	assert_int_equal(chmod(F.getent, 0755), 0);
}

/* How often it ran. */
static unsigned runs(void)
{
	char path[64];
	struct stat st;

	(void)snprintf(path, sizeof(path), "%s/runs", F.dir);
	return stat(path, &st) == 0 ? (unsigned)st.st_size / 2 : 0;
}

static int setup(void **state)
{
	(void)state;
	memset(&F, 0, sizeof(F));
	(void)snprintf(F.dir, sizeof(F.dir), "/tmp/user-name-XXXXXX");
	if (mkdtemp(F.dir) == NULL || loop_new(&F.l, NULL) != 0)
		return -1;
	(void)snprintf(F.getent, sizeof(F.getent), "%s/getent", F.dir);
	F.p = proc_new(F.l);
	F.u = user_names_new(F.l, F.p, F.getent);
	return 0;
}

static int teardown(void **state)
{
	char command[80];

	(void)state;
	user_names_free(F.u);
	proc_close(F.p);
	loop_free(F.l);
	(void)snprintf(command, sizeof(command), "%s/runs", F.dir);
	(void)unlink(command);
	(void)unlink(F.getent);
	return rmdir(F.dir);
}

static void on_name(void *ctx, const struct err *err)
{
	(void)ctx;
	F.called++;
	(void)snprintf(F.error, sizeof(F.error), "%s", err != NULL ? err->msg : "");
}

static void look(uint32_t uid)
{
	struct err e = {0};
	unsigned before = F.called;

	assert_non_null(user_names_ask(F.u, uid, on_name, NULL, &e));
	assert_int_equal(F.called, before); /* never from inside */
	loop_run(F.l);
	assert_int_equal(F.called, before + 1);
}

static void test_answers(void **state)
{
	static const struct {
		const char *body;
		const char *name;  /* NULL: not known */
		const char *error; /* begins so */
	} rows[] = {
		{"echo ann:x:1000:100:Ann,,:/home/ann:/bin/sh", "ann", ""},
		{"test \"$*\" = 'passwd 1000' && echo ann:x:1000:100::/:/bin/sh", "ann", ""},
		{"test \"$LC_ALL\" = C && test -z \"$HOME\" && echo ann:*:1000:::", "ann", ""},
		{"exit 2", "", ""}, /* there is no such user */
		{"exit 1", NULL, "getent passwd 1000: exit status 1"},
		{"echo oops >&2; exit 3", NULL, "getent passwd 1000: exit status 3: oops"},
		{"exit 0", NULL, "getent passwd 1000: no name"},
		{"echo :x:1000:::", NULL, "getent passwd 1000: no name"},
		{"echo ann", NULL, "getent passwd 1000: no name"},
		{"echo ann:x", NULL, "getent passwd 1000: its answer is no line of a user"},
		/* Somebody else, whose budgets it would be. */
		{"echo ann:x:1001:::", NULL, "getent passwd 1000: it answered for another user"},
		{"echo ann:x:1000", NULL, "getent passwd 1000: it answered for another user"},
		{"echo ann:x:10000:::", NULL, "getent passwd 1000: it answered for another user"},
		{"echo 'ann:x: 1000:::'", NULL, "getent passwd 1000: it answered for another user"},
		{"echo ann:x:-4294966296:::", NULL,
		 "getent passwd 1000: it answered for another user"},
		{"echo ann:x:4294968296:::", NULL,
		 "getent passwd 1000: it answered for another user"},
		{"echo 'ann\n:x:1000:::'", NULL, "getent passwd 1000: no name"},
		{"echo a123456789b123456789c123456789d123456789e123456789f123456789abc:x:1000:::",
		 "a123456789b123456789c123456789d123456789e123456789f123456789abc", ""},
		{"echo a123456789b123456789c123456789d123456789e123456789f123456789abcd:x:1000:::",
		 NULL, "getent passwd 1000: no name"},
		/* JSON cannot have it, and who answers by JSON must not end by it. */
		{"printf 'j\\374rgen:x:1000:::\\n'", NULL, "getent passwd 1000: no name"},
		{"printf 'ann\\033[2J:x:1000:::\\n'", NULL, "getent passwd 1000: no name"},
		{"printf 'j\\303\\274rgen:x:1000:::\\n'", "j\xc3\xbcrgen", ""},
		{"exec cat /dev/zero", NULL, "getent passwd 1000: "},
		{"kill -9 $$", NULL, "getent passwd 1000: exit status 137"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const char *name;

		print_message("# %s\n", rows[i].body);
		user_names_free(F.u);
		F.u = user_names_new(F.l, F.p, F.getent);
		write_getent(rows[i].body);
		assert_null(user_names_get(F.u, 1000));
		look(1000);
		name = user_names_get(F.u, 1000);
		assert_true((name == NULL) == (rows[i].name == NULL));
		if (name != NULL)
			assert_string_equal(name, rows[i].name);
		assert_memory_equal(F.error, rows[i].error, strlen(rows[i].error));
		assert_int_equal(F.error[0] != '\0', rows[i].name == NULL);
	}
}

/* The system's own. */
static void test_root(void **state)
{
	(void)state;
	user_names_free(F.u);
	F.u = user_names_new(F.l, F.p, NULL);
	look(0);
	assert_string_equal(user_names_get(F.u, 0), "root");
}

static void test_it_is_not_there(void **state)
{
	struct err e = {0};

	(void)state;
	assert_null(user_names_ask(F.u, 1000, on_name, NULL, &e));
	assert_true(e.msg[0] != '\0');
	assert_int_equal(F.called, 0);
}

/* Nobody keeps burstd busy, nor fills its memory. */
static void test_limits(void **state)
{
	struct user_name_ask *asks[USER_NAME_AT_ONCE];
	struct err e = {0};

	(void)state;
	write_getent("echo u$2:x:$2:::");
	for (uint32_t i = 0; i < USER_NAME_AT_ONCE; i++) {
		asks[i] = user_names_ask(F.u, i, on_name, NULL, &e);
		assert_non_null(asks[i]);
	}
	assert_null(user_names_ask(F.u, 99, on_name, NULL, &e));
	assert_int_equal(e.code, ERR_LIMIT);
	user_name_cancel(asks[3]);
	loop_run(F.l);
	assert_int_equal(F.called, USER_NAME_AT_ONCE - 1);
	assert_int_equal(runs(), USER_NAME_AT_ONCE);
	assert_string_equal(user_names_get(F.u, 3), "u3"); /* it may be of use yet */
	look(99);
	assert_string_equal(user_names_get(F.u, 99), "u99");
	assert_string_equal(user_names_get(F.u, 0), "u0");
	for (uint32_t uid = 1000; uid < 1000 + USER_NAME_KEPT - USER_NAME_AT_ONCE - 1; uid++)
		look(uid);
	assert_string_equal(user_names_get(F.u, 0), "u0");
	look(7); /* not a new one */
	assert_string_equal(user_names_get(F.u, 0), "u0");
	look(5000);
	assert_null(user_names_get(F.u, 0)); /* all were forgotten */
	assert_string_equal(user_names_get(F.u, 5000), "u5000");
}

/* While the directory is slow one user, who asks again and again, has one process, and others have
 * the rest. */
static void test_one_user_asks_often(void **state)
{
	struct user_name_ask *asks[USER_NAME_AT_ONCE];
	struct err e = {0};

	(void)state;
	write_getent("sleep 0.2; echo u$2:x:$2:::");
	for (size_t i = 0; i < USER_NAME_AT_ONCE; i++) {
		asks[i] = user_names_ask(F.u, 7, on_name, NULL, &e);
		assert_non_null(asks[i]);
	}
	assert_null(user_names_ask(F.u, 7, on_name, NULL, &e));
	assert_int_equal(e.code, ERR_LIMIT);
	assert_non_null(user_names_ask(F.u, 8, on_name, NULL, &e));
	user_name_cancel(asks[0]); /* whose process it is */
	user_name_cancel(asks[2]);
	loop_run(F.l);
	assert_int_equal(F.called, USER_NAME_AT_ONCE - 2 + 1);
	assert_string_equal(F.error, "");
	assert_int_equal(runs(), 2);
	assert_string_equal(user_names_get(F.u, 7), "u7");
	/* They end with it. */
	for (size_t i = 0; i < 3; i++)
		asks[i] = user_names_ask(F.u, 9, on_name, NULL, &e);
	user_name_cancel(asks[1]);
}

/* burstd ends while one is looked up: the callback is not called, and nothing leaks. */
static void test_the_end(void **state)
{
	struct err e = {0};

	(void)state;
	write_getent("sleep 20");
	assert_non_null(user_names_ask(F.u, 1, on_name, NULL, &e));
	assert_non_null(user_names_ask(F.u, 2, on_name, NULL, &e));
	user_names_free(F.u);
	F.u = NULL;
	proc_close(F.p);
	loop_run(F.l);
	assert_int_equal(F.called, 0);
	F.p = proc_new(F.l);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_answers, setup, teardown),
		cmocka_unit_test_setup_teardown(test_root, setup, teardown),
		cmocka_unit_test_setup_teardown(test_it_is_not_there, setup, teardown),
		cmocka_unit_test_setup_teardown(test_limits, setup, teardown),
		cmocka_unit_test_setup_teardown(test_one_user_asks_often, setup, teardown),
		cmocka_unit_test_setup_teardown(test_the_end, setup, teardown),
	};

	return cmocka_run_group_tests_name("user_name", tests, NULL, NULL);
}
