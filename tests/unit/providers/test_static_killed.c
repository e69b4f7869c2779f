/* test_static_killed.c - burst-static is killed, or another left a record behind. */
#include "static_nodes.h"

/* --- kill -9 -----------------------------------------------------------------------------------
 */

static pid_t begin(struct fix *f, const struct provider_op *op)
{
	struct provider_request rq = {0};
	pid_t pid;

	assert_int_equal(provider_static.build(f->self, op, &rq, NULL), 0);
	pid = spawn(f, &rq);
	provider_request_fini(&rq);
	return pid;
}

static void wait_for(const struct fix *f, const char *call)
{
	const struct timespec step = {.tv_nsec = 10000000};

	for (int i = 0; i < 1000 && !was_run(f, call); i++)
		(void)nanosleep(&step, NULL);
	assert_true(was_run(f, call));
}

static void kill_hard(pid_t pid)
{
	assert_int_equal(kill(pid, SIGKILL), 0);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
}

static void test_killed_during_on(void **state)
{
	struct provider_op op;
	struct fix f;
	pid_t pid;

	(void)state;
	start(&f);
	put(&f, "n1.on", "slow");
	op = create_op("n1", 5, cluster);
	pid = begin(&f, &op);
	wait_for(&f, "on n1");
	kill_hard(pid);
	/* The command still runs: nobody else works on the machine before it has ended. */
	assert_int_equal(switch_off(&f, "n1:5:0b1c2d3e"), PROVIDER_OK);
	assert_true(was_run(&f, "did on n1"));
	assert_true(strstr(get(&f, "log"), "did on n1") < strstr(get(&f, "log"), "\noff n1"));
	assert_true(is_power(&f, "n1", "off"));
	assert_int_equal(listed(&f, "n1"), PROVIDER_ENDED);
	/* Killed again, and asked again: the same generation, switched on. */
	op = create_op("n1", 6, cluster);
	forget_log(&f);
	pid = begin(&f, &op);
	wait_for(&f, "on n1");
	kill_hard(pid);
	assert_int_equal(create(&f, "n1", 6), PROVIDER_OK);
	assert_true(is_power(&f, "n1", "on"));
	assert_int_equal(listed(&f, "n1"), PROVIDER_RUNNING);
	assert_int_equal(f.r.instances[0].gen, 6);
	stop(&f);
}

/* Killed before the command took effect: not shown as made, and made by the repeat. */
static void test_killed_before_on(void **state)
{
	struct provider_op op;
	struct fix f;
	pid_t pid;

	(void)state;
	start(&f);
	put(&f, "n1.on", "hang");
	op = create_op("n1", 5, cluster);
	open_driver(&f, 1000);
	pid = begin(&f, &op);
	wait_for(&f, "on n1");
	kill_hard(pid);
	put(&f, "n1.on", "");
	assert_int_equal(listed(&f, "n1"), -1);
	assert_int_equal(create(&f, "n1", 5), PROVIDER_OK);
	assert_int_equal(listed(&f, "n1"), PROVIDER_RUNNING);
	/* Given up instead: the next generation need not wait. */
	put(&f, "n2.on", "hang");
	op = create_op("n2", 5, cluster);
	pid = begin(&f, &op);
	wait_for(&f, "on n2");
	kill_hard(pid);
	put(&f, "n2.on", "");
	assert_int_equal(create(&f, "n2", 6), PROVIDER_OK);
	assert_int_equal(listed(&f, "n2"), PROVIDER_RUNNING);
	stop(&f);
}

static void test_killed_during_off(void **state)
{
	const char *ids[] = {"n1:1:0b1c2d3e"};
	struct provider_op op = {.kind = PROVIDER_DELETE};
	struct fix f;
	pid_t pid;

	(void)state;
	start(&f);
	assert_int_equal(create(&f, "n1", 1), PROVIDER_OK);
	put(&f, "n1.off", "slow");
	op.u.del.ids = ids;
	op.u.del.nids = 1;
	pid = begin(&f, &op);
	wait_for(&f, "off n1");
	kill_hard(pid);
	assert_int_equal(listed(&f, "n1"), PROVIDER_STOPPING);
	assert_int_equal(switch_off(&f, ids[0]), PROVIDER_OK);
	assert_int_equal(listed(&f, "n1"), PROVIDER_ENDED);
	stop(&f);
}

/* --- many, slow, broken ------------------------------------------------------------------------
 */

/* Eight machines that do not answer, four at a time, one second each: not eight seconds, and those
 * that do answer are not lost. */
static void test_hangs_are_parallel(void **state)
{
	struct timespec a, b;
	char name[32];
	struct fix f;

	(void)state;
	start(&f);
	for (int i = 1; i <= 9; i++) {
		(void)snprintf(name, sizeof(name), "n%d", i);
		machine(&f, name, "off");
		assert_int_equal(create(&f, name, 1), PROVIDER_OK);
	}
	for (int i = 1; i <= 8; i++) {
		(void)snprintf(name, sizeof(name), "n%d.status", i);
		put(&f, name, "hang");
	}
	open_driver(&f, 1000);
	(void)clock_gettime(CLOCK_MONOTONIC, &a);
	assert_int_equal(listed(&f, "n9"), PROVIDER_RUNNING);
	(void)clock_gettime(CLOCK_MONOTONIC, &b);
	assert_int_equal(f.r.ninstances, 9);
	assert_true(b.tv_sec - a.tv_sec < 7);
	stop(&f);
}

/* A command that leaves something behind does not hold up the answer, nor the machine. */
static void test_left_behind(void **state)
{
	struct timespec a, b;
	struct fix f;

	(void)state;
	start(&f);
	open_driver(&f, 1000);
	put(&f, "n1.on", "late");
	(void)clock_gettime(CLOCK_MONOTONIC, &a);
	assert_int_equal(create(&f, "n1", 1), PROVIDER_OK);
	assert_int_equal(switch_off(&f, "n1:1:0b1c2d3e"), PROVIDER_OK);
	(void)clock_gettime(CLOCK_MONOTONIC, &b);
	assert_true(b.tv_sec - a.tv_sec < 30);
	assert_int_equal(listed(&f, "n1"), PROVIDER_ENDED);
	assert_int_equal(kill((pid_t)strtol(get(&f, "n1.pid"), NULL, 10), SIGKILL), 0);
	stop(&f);
}

/* A record that cannot be read may be ours: then there is no list at all (I12). */
static void test_bad_record(void **state)
{
	struct fix f;

	(void)state;
	start(&f);
	assert_int_equal(create(&f, "n1", 1), PROVIDER_OK);
	put(&f, "records/own/n2", "");
	assert_int_equal(list(&f), PROVIDER_TRANSIENT);
	assert_non_null(strstr(f.r.message, "records/own/n2 is not a record"));
	assert_int_equal(f.r.ninstances, 0);
	assert_int_equal(create(&f, "n2", 1), PROVIDER_TRANSIENT);
	assert_int_equal(switch_off(&f, "n2:1:0b1c2d3e"), PROVIDER_TRANSIENT);
	assert_false(was_run(&f, "on n2"));
	/* A copy of another's is not one either. */
	put(&f, "records/own/n2", get(&f, "records/own/n1"));
	assert_int_equal(list(&f), PROVIDER_TRANSIENT);
	assert_int_equal(unlink(path(&f, "records/own/n2")), 0);
	assert_int_equal(listed(&f, "n1"), PROVIDER_RUNNING);
	stop(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_killed_during_on),  cmocka_unit_test(test_killed_before_on),
		cmocka_unit_test(test_killed_during_off), cmocka_unit_test(test_hangs_are_parallel),
		cmocka_unit_test(test_left_behind),       cmocka_unit_test(test_bad_record),
	};

	return cmocka_run_group_tests_name("static_killed", tests, NULL, NULL);
}
