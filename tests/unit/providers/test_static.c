/* test_static.c - the driver static and the program it runs, burst-static: what is asked, what is
 * switched, what is remembered, and what becomes of it when commands fail, hang or are killed. */
#include "static_nodes.h"

static const char other[] = "ffffffff-0000-4000-8000-000000000002";

/* --- running what the driver asks for ----------------------------------------------------------
 */

/* Move a record's clock back. */
static void age(const struct fix *f, const char *node, const char *column, long minutes)
{
	char command[400];

	(void)snprintf(command, sizeof(command),
		       "cd %s/own && awk '{ $%s -= %ld; print }' %s >.x && mv .x %s", f->records,
		       column, minutes * 60000, node, node);
	assert_int_equal(system(command), 0);
}

/* --- the life of a machine ---------------------------------------------------------------------
 */

static void test_life(void **state)
{
	struct fix f;

	(void)state;
	start(&f);
	assert_int_equal(list(&f), PROVIDER_OK);
	assert_int_equal(f.r.ninstances, 0);
	assert_int_equal(create(&f, "n1", 7), PROVIDER_OK);
	assert_int_equal(f.r.nitems, 1);
	assert_int_equal(f.r.items[0].code, PROVIDER_OK);
	assert_string_equal(f.r.items[0].instance.id, "n1:7:0b1c2d3e");
	assert_string_equal(f.r.items[0].instance.node, "n1");
	assert_true(f.r.items[0].instance.created_ms > INT64_C(1600000000000));
	assert_true(is_power(&f, "n1", "on"));
	assert_true(was_run(&f, "on n1 `id` $HOME; % n1\n")); /* words, seen by no shell */
	assert_int_equal(listed(&f, "n1"), PROVIDER_RUNNING);
	assert_int_equal(f.r.ninstances, 1);
	assert_string_equal(f.r.instances[0].id, "n1:7:0b1c2d3e");
	assert_string_equal(f.r.instances[0].cluster, cluster);
	assert_int_equal(f.r.instances[0].gen, 7);
	assert_string_equal(f.r.instances[0].addr, "n1");
	assert_int_equal(switch_off(&f, "n1:7:0b1c2d3e"), PROVIDER_OK);
	assert_true(is_power(&f, "n1", "off"));
	assert_int_equal(listed(&f, "n1"), PROVIDER_ENDED);
	assert_true(f.r.instances[0].ended_ms >= f.r.instances[0].created_ms);
	forget_log(&f);
	assert_int_equal(switch_off(&f, "n1:7:0b1c2d3e"), PROVIDER_OK);
	assert_int_equal(listed(&f, "n1"), PROVIDER_ENDED);
	assert_string_equal(get(&f, "log"), ""); /* what has ended is not looked at any more */
	assert_int_equal(create(&f, "n1", 8), PROVIDER_OK);
	assert_int_equal(listed(&f, "n1"), PROVIDER_RUNNING);
	assert_int_equal(f.r.instances[0].gen, 8);
	stop(&f);
}

/* A lost answer, or a restart: the same create again switches nothing a second time (I3, F1). */
static void test_repeat(void **state)
{
	struct fix f;

	(void)state;
	start(&f);
	assert_int_equal(create(&f, "n1", 7), PROVIDER_OK);
	forget_log(&f);
	assert_int_equal(create(&f, "n1", 7), PROVIDER_OK);
	assert_string_equal(f.r.items[0].instance.id, "n1:7:0b1c2d3e");
	assert_false(was_run(&f, "on n1"));
	/* Not even while status does not show it yet. */
	put(&f, "n2.on", "deaf");
	assert_int_equal(create(&f, "n2", 1), PROVIDER_OK);
	forget_log(&f);
	assert_int_equal(create(&f, "n2", 1), PROVIDER_OK);
	assert_string_equal(get(&f, "log"), "");
	/* Another generation waits until this one is off. */
	assert_int_equal(create(&f, "n1", 8), PROVIDER_NOT_YET);
	assert_true(f.r.retry_after_ms > 0);
	assert_false(was_run(&f, "on n1"));
	/* Nor can one that is over be switched on again by a create that comes late. */
	assert_int_equal(switch_off(&f, "n1:7:0b1c2d3e"), PROVIDER_OK);
	assert_int_equal(create(&f, "n1", 7), PROVIDER_CONFLICT);
	assert_int_equal(create(&f, "n1", 9), PROVIDER_OK);
	assert_int_equal(create(&f, "n1", 8), PROVIDER_CONFLICT);
	/* A delete of what it was before does not concern it. */
	assert_int_equal(switch_off(&f, "n1:7:0b1c2d3e"), PROVIDER_NOT_FOUND);
	assert_int_equal(switch_off(&f, "n1:9:ffffffff"), PROVIDER_NOT_FOUND);
	assert_int_equal(switch_off(&f, "n3:1:0b1c2d3e"), PROVIDER_NOT_FOUND);
	assert_true(is_power(&f, "n1", "on"));
	stop(&f);
}

/* Switched on by somebody else: never touched (I11). */
static void test_foreign(void **state)
{
	struct provider_op op;
	struct fix f;

	(void)state;
	start(&f);
	machine(&f, "n1", "on");
	assert_int_equal(create(&f, "n1", 1), PROVIDER_CAPACITY);
	assert_non_null(strstr(f.r.message, "burstd did not switch it on"));
	assert_int_equal(listed(&f, "n1"), -1);
	assert_false(was_run(&f, "on n1"));
	assert_false(was_run(&f, "off n1"));
	/* So is one that was ours once. */
	assert_int_equal(create(&f, "n2", 1), PROVIDER_OK);
	assert_int_equal(switch_off(&f, "n2:1:0b1c2d3e"), PROVIDER_OK);
	machine(&f, "n2", "on");
	assert_int_equal(listed(&f, "n2"), PROVIDER_ENDED);
	forget_log(&f);
	assert_int_equal(create(&f, "n2", 2), PROVIDER_CAPACITY);
	assert_int_equal(switch_off(&f, "n2:1:0b1c2d3e"), PROVIDER_OK);
	assert_false(was_run(&f, "off n2"));
	/* And one of another cluster that shares the directory: shown, not asked. */
	machine(&f, "n2", "off");
	op = create_op("n2", 1, other);
	assert_int_equal(run(&f, &op), PROVIDER_OK);
	assert_int_equal(create(&f, "n2", 2), PROVIDER_CAPACITY);
	assert_non_null(strstr(f.r.message, other));
	forget_log(&f);
	assert_int_equal(listed(&f, "n2"), PROVIDER_UNKNOWN);
	assert_string_equal(f.r.instances[0].cluster, other);
	assert_string_equal(get(&f, "log"), "");
	stop(&f);
}

/* --- commands that fail ------------------------------------------------------------------------
 */

static void test_on_fails(void **state)
{
	struct fix f;

	(void)state;
	start(&f);
	/* It is off: told at once, and another try is free. */
	put(&f, "n1.on", "fail");
	assert_int_equal(create(&f, "n1", 1), PROVIDER_CAPACITY);
	assert_string_equal(f.r.message, "on: exit status 3: no answer from n1");
	assert_true(was_run(&f, "off n1")); /* it might have come on later */
	assert_int_equal(listed(&f, "n1"), PROVIDER_ENDED);
	/* It says no and did it all the same (F3). */
	put(&f, "n1.on", "lies");
	assert_int_equal(create(&f, "n1", 2), PROVIDER_OK);
	assert_int_equal(listed(&f, "n1"), PROVIDER_RUNNING);
	/* Neither on nor off can be asked for: in doubt, and shown until that is settled. */
	put(&f, "n2.on", "fail");
	put(&f, "n2.off", "fail");
	assert_int_equal(create(&f, "n2", 1), PROVIDER_AMBIGUOUS);
	assert_int_equal(listed(&f, "n2"), PROVIDER_STOPPING);
	put(&f, "n2.off", "");
	assert_int_equal(switch_off(&f, "n2:1:0b1c2d3e"), PROVIDER_OK);
	assert_int_equal(listed(&f, "n2"), PROVIDER_ENDED);
	stop(&f);
}

static void test_off_fails(void **state)
{
	struct fix f;

	(void)state;
	start(&f);
	assert_int_equal(create(&f, "n1", 1), PROVIDER_OK);
	assert_int_equal(listed(&f, "n1"), PROVIDER_RUNNING);
	put(&f, "n1.off", "fail");
	assert_int_equal(switch_off(&f, "n1:1:0b1c2d3e"), PROVIDER_TRANSIENT);
	assert_string_equal(f.r.message, "off: exit status 3: no answer from n1");
	assert_int_equal(listed(&f, "n1"), PROVIDER_STOPPING);
	assert_int_equal(create(&f, "n1", 2), PROVIDER_NOT_YET);
	/* It says yes and the machine stays on: still there. */
	put(&f, "n1.off", "deaf");
	assert_int_equal(switch_off(&f, "n1:1:0b1c2d3e"), PROVIDER_OK);
	assert_int_equal(listed(&f, "n1"), PROVIDER_STOPPING);
	put(&f, "n1.off", "");
	assert_int_equal(switch_off(&f, "n1:1:0b1c2d3e"), PROVIDER_OK);
	assert_int_equal(listed(&f, "n1"), PROVIDER_ENDED);
	/* It fails because the machine was off already: that is what was wanted. */
	assert_int_equal(create(&f, "n2", 1), PROVIDER_OK);
	assert_int_equal(listed(&f, "n2"), PROVIDER_RUNNING);
	machine(&f, "n2", "off");
	put(&f, "n2.off", "fail");
	assert_int_equal(switch_off(&f, "n2:1:0b1c2d3e"), PROVIDER_OK);
	assert_int_equal(listed(&f, "n2"), PROVIDER_ENDED);
	stop(&f);
}

/* Status by ping says off while a machine boots, and then it cannot be told to go: that it is off
 * is believed only when it cannot be booting any more. */
static void test_off_while_booting(void **state)
{
	struct fix f;

	(void)state;
	start(&f);
	put(&f, "n1.on", "deaf");
	put(&f, "n1.off", "fail");
	assert_int_equal(create(&f, "n1", 1), PROVIDER_OK);
	assert_int_equal(listed(&f, "n1"), PROVIDER_PENDING);
	assert_string_equal(f.r.instances[0].addr, "");
	assert_int_equal(switch_off(&f, "n1:1:0b1c2d3e"), PROVIDER_TRANSIENT);
	assert_int_equal(listed(&f, "n1"), PROVIDER_STOPPING);
	assert_int_equal(create(&f, "n1", 2), PROVIDER_NOT_YET);
	age(&f, "n1", "8", 21);
	assert_int_equal(switch_off(&f, "n1:1:0b1c2d3e"), PROVIDER_OK);
	assert_int_equal(listed(&f, "n1"), PROVIDER_ENDED);
	stop(&f);
}

/* What status may say.  All that is not clear is unknown, and unknown is not off. */
static void test_status(void **state)
{
	static const struct {
		const char *says;
		int state;
		const char *addr;
	} rows[] = {
		{"on", PROVIDER_RUNNING, "n1"},
		{"ON", PROVIDER_RUNNING, "n1"},
		{"n1-bmc: on", PROVIDER_RUNNING, "n1"},
		{"on 10.1.2.3", PROVIDER_RUNNING, "10.1.2.3"},
		{"on fd00::1", PROVIDER_RUNNING, "fd00::1"},
		{"fail", PROVIDER_UNKNOWN, NULL},
		{"broken", PROVIDER_UNKNOWN, NULL}, /* says off, and that it failed */
		{"on fire", PROVIDER_UNKNOWN, NULL},
		{"on c1,c2", PROVIDER_UNKNOWN, NULL},
		{"rubbish", PROVIDER_UNKNOWN, NULL},
		{"off?", PROVIDER_UNKNOWN, NULL},
		{"on\noff", PROVIDER_UNKNOWN, NULL},
		{"hang", PROVIDER_UNKNOWN, NULL},
		{"   ", PROVIDER_UNKNOWN, NULL},
		{"off", -1, NULL},
		{"Chassis Power is off", -1, NULL},
	};
	struct fix f;

	(void)state;
	start(&f);
	assert_int_equal(create(&f, "n1", 1), PROVIDER_OK);
	assert_int_equal(listed(&f, "n1"), PROVIDER_RUNNING);
	open_driver(&f, 1000);
	for (size_t i = 0; i < COUNT(rows); i++) {
		print_message("# \"%s\"\n", rows[i].says);
		put(&f, "n1.status", rows[i].says);
		assert_int_equal(listed(&f, "n1"), rows[i].state);
		if (rows[i].addr != NULL)
			assert_string_equal(f.r.instances[0].addr, rows[i].addr);
	}
	/* Not known to be off: not switched on, and nothing is remembered. */
	put(&f, "n2.status", "rubbish");
	assert_int_equal(create(&f, "n2", 1), PROVIDER_TRANSIENT);
	assert_non_null(strstr(f.r.message, "rubbish"));
	assert_int_equal(listed(&f, "n2"), -1);
	assert_false(was_run(&f, "on n2"));
	/* Nor is one that is on its way out believed gone. */
	put(&f, "n1.status", "rubbish");
	assert_int_equal(switch_off(&f, "n1:1:0b1c2d3e"), PROVIDER_OK);
	assert_int_equal(listed(&f, "n1"), PROVIDER_STOPPING);
	put(&f, "n1.status", "");
	assert_int_equal(listed(&f, "n1"), PROVIDER_ENDED);
	stop(&f);
}

/* One that was on and went off by itself is absent for a while (burstd believes that only with
 * slurmctld), and then nobody's: who switches it on may keep it. */
static void test_went_off(void **state)
{
	struct fix f;

	(void)state;
	start(&f);
	assert_int_equal(create(&f, "n1", 1), PROVIDER_OK);
	assert_int_equal(listed(&f, "n1"), PROVIDER_RUNNING);
	machine(&f, "n1", "off");
	assert_int_equal(listed(&f, "n1"), -1);
	machine(&f, "n1", "on");
	assert_int_equal(listed(&f, "n1"), PROVIDER_RUNNING);
	machine(&f, "n1", "off");
	assert_int_equal(listed(&f, "n1"), -1);
	age(&f, "n1", "11", 11);
	assert_int_equal(listed(&f, "n1"), PROVIDER_ENDED);
	machine(&f, "n1", "on");
	assert_int_equal(listed(&f, "n1"), PROVIDER_ENDED);
	/* And the next generation need not wait for that. */
	assert_int_equal(create(&f, "n2", 1), PROVIDER_OK);
	assert_int_equal(listed(&f, "n2"), PROVIDER_RUNNING);
	machine(&f, "n2", "off");
	assert_int_equal(create(&f, "n2", 2), PROVIDER_OK);
	assert_true(is_power(&f, "n2", "on"));
	stop(&f);
}

/* --- many, slow, broken ------------------------------------------------------------------------
 */

static void test_no_directory(void **state)
{
	struct fix f;

	(void)state;
	start(&f);
	(void)snprintf(f.records, sizeof(f.records), "%s/not/mounted", f.dir);
	open_driver(&f, 1000);
	assert_int_equal(list(&f), PROVIDER_TRANSIENT);
	assert_non_null(strstr(f.r.message, "no such directory"));
	assert_int_equal(create(&f, "n1", 1), PROVIDER_TRANSIENT);
	assert_false(was_run(&f, "on n1"));
	stop(&f);
}

/* burstd --check --provider asks before burstd has a uuid, and records would say that it lost one.
 */
static void test_a_look_makes_no_directory(void **state)
{
	struct provider_op op = {.kind = PROVIDER_QUOTES};
	struct fix f;

	(void)state;
	start(&f);
	(void)snprintf(f.records, sizeof(f.records), "%s/not", f.dir);
	open_driver(&f, 1000);
	assert_int_equal(list(&f), PROVIDER_OK);
	assert_int_equal(f.r.ninstances, 0);
	assert_int_equal(run(&f, &op), PROVIDER_OK);
	assert_int_equal(access(f.records, F_OK), -1);
	assert_int_equal(create(&f, "n1", 1), PROVIDER_OK);
	assert_int_equal(access(f.records, F_OK), 0);
	stop(&f);
}

static void test_offers(void **state)
{
	struct provider_op op = {.kind = PROVIDER_QUOTES};
	struct fix f;

	(void)state;
	start(&f);
	assert_int_equal(run(&f, &op), PROVIDER_OK);
	assert_int_equal(f.r.nquotes, 1);
	assert_string_equal(f.r.quotes[0].type, ""); /* of everything */
	assert_int_equal(f.r.quotes[0].price_nano_h, 1);
	assert_int_equal(chmod(f.command, 0644), 0);
	assert_int_equal(run(&f, &op), PROVIDER_TRANSIENT);
	assert_non_null(strstr(f.r.message, "/site: cannot be run"));
	stop(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_life),
		cmocka_unit_test(test_repeat),
		cmocka_unit_test(test_foreign),
		cmocka_unit_test(test_on_fails),
		cmocka_unit_test(test_off_fails),
		cmocka_unit_test(test_off_while_booting),
		cmocka_unit_test(test_status),
		cmocka_unit_test(test_went_off),
		cmocka_unit_test(test_no_directory),
		cmocka_unit_test(test_a_look_makes_no_directory),
		cmocka_unit_test(test_offers),
	};

	return cmocka_run_group_tests_name("static", tests, NULL, NULL);
}
