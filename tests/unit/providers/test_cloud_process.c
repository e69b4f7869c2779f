/* test_cloud_process.c - instances of the simulated cloud that are processes. */
#include "cloud_world.h"
#include "providers/simcloud/cloud.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"

static bool on_start(void *ctx, const struct cloud_instance *i)
{
	(void)ctx;
	(void)i;
	W.started++;
	return !W.refuse_start;
}

static void on_kill(void *ctx, const struct cloud_instance *i)
{
	(void)ctx;
	(void)i;
	W.killed++;
}

static void on_named(void *ctx, const struct cloud_instance *i, bool live)
{
	(void)ctx;
	(void)i;
	W.names += live ? 1 : -1;
}

static void with_host(void)
{
	W.cloud.host = (struct cloud_host){.start = on_start, .kill = on_kill, .named = on_named};
}

static void test_process_ends_it(void **state)
{
	struct cloud_instance *a, *b;

	(void)state;
	with_host();
	a = one("n1");
	b = one("n2");
	assert_int_equal(W.names, 2);
	pass(1100);
	assert_int_equal(W.started, 2);
	assert_int_equal(del(a), CODE_OK);
	assert_int_equal(W.killed, 1);
	assert_int_equal(a->state, CLOUD_STOPPING); /* until the process is gone it bills */
	pass(70);
	cloud_exited(&W.cloud, a->row, W.now);
	assert_int_equal(a->state, CLOUD_ENDED);
	assert_int_equal(row_of(a)->end_ms, W.now);
	assert_string_equal(a->why, "deleted");
	cloud_exited(&W.cloud, b->row, W.now); /* by itself */
	assert_int_equal(b->state, CLOUD_ENDED);
	assert_string_equal(b->why, "exited");
	cloud_exited(&W.cloud, b->row, W.now); /* and never twice */
	assert_int_equal(W.names, 0);
}

/* F10: what powers itself off is listed as stopping, and billed, before it has ended. */
static void test_what_exits_stops_first(void **state)
{
	struct cloud_instance *a, *b;

	(void)state;
	with_host();
	W.conf.stop = (struct dist){.kind = DIST_CONSTANT, .a_ms = 500};
	a = one("n1");
	b = one("n2");
	pass(1100);
	cloud_exited(&W.cloud, a->row, W.now);
	cloud_exited(&W.cloud, b->row, W.now);
	assert_int_equal(a->state, CLOUD_STOPPING);
	assert_int_equal(del(a), CODE_OK);
	cloud_kill(&W.cloud, b, "killed", W.now);
	assert_string_equal(b->why, "killed");
	pass(499);
	assert_int_equal(a->state, CLOUD_STOPPING);
	pass(1);
	assert_int_equal(a->state, CLOUD_ENDED);
	assert_int_equal(row_of(a)->end_ms, W.now);
	assert_string_equal(a->why, "exited");
	assert_int_equal(b->state, CLOUD_ENDED);
	assert_int_equal(W.killed, 0);
}

static void test_deleted_before_it_booted_is_never_started(void **state)
{
	struct cloud_instance *i;

	(void)state;
	with_host();
	i = one("n1");
	assert_int_equal(del(i), CODE_OK);
	assert_int_equal(i->state, CLOUD_ENDED);
	pass(5000);
	assert_int_equal(W.started, 0);
}

static void test_cannot_boot(void **state)
{
	struct cloud_instance *i;

	(void)state;
	with_host();
	W.refuse_start = true;
	i = one("n1");
	pass(1100);
	assert_int_equal(i->state, CLOUD_ENDED);
	assert_string_equal(i->why, "cannot boot");
}

/* What was due of an instance that is long forgotten comes due all the same. */
static void test_late_events_of_a_forgotten_instance(void **state)
{
	struct cloud_instance *i;

	(void)state;
	configure("{\"boot\":\"10m\"}");
	i = one("n1");
	cloud_kill(&W.cloud, i, "killed", W.now);
	pass(1200000);
	assert_int_equal(cloud_next(&W.cloud), INT64_MAX);
	assert_int_equal(listed(""), 0);
}

static void test_end_all(void **state)
{
	int32_t out[8];

	(void)state;
	(void)one("n1");
	(void)one("n2");
	cloud_end_all(&W.cloud, W.now);
	assert_int_equal(W.cloud.live, 0);
	assert_int_equal(create("", "n3", 0, out), CODE_OK);
	assert_int_equal(out[0], -CODE_INTERNAL);
}

#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(test_process_ends_it),
		T(test_what_exits_stops_first),
		T(test_deleted_before_it_booted_is_never_started),
		T(test_cannot_boot),
		T(test_late_events_of_a_forgotten_instance),
		T(test_end_all),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
