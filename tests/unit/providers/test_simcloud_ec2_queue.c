/* test_simcloud_ec2_queue.c - what EC2's face of simcloud tells in a queue. */
#include "simrun.h"
#include "simrun_ec2.h"

#include "base/clock.h"

static void hear(struct provider_result *out, const char *ack, uint32_t wait_ms)
{
	struct provider_op op = {.kind = PROVIDER_NOTICES};

	op.u.notices.cluster = cluster;
	op.cursor = "";
	op.u.notices.ack = ack;
	op.u.notices.wait_ms = wait_ms;
	drive(&op, out);
}

static void test_a_reclaim_is_a_message_until_it_is_deleted(void **state)
{
	struct provider_result r, done;
	int64_t now;

	(void)state;
	create(&r, "t", 1);
	provider_result_fini(&r);
	hear(&r, NULL, 0);
	assert_int_equal(r.code, PROVIDER_OK);
	assert_null(r.ack);
	now = clock_wall_ms();
	simrun_do(&S, "POST", "/admin/reclaim", "{\"node\":\"c1\",\"notice_ms\":5000}");
	hear(&r, NULL, 20000);
	assert_int_equal(r.nnotices, 1);
	assert_string_equal(r.notices[0].id, "sim-00000000");
	assert_int_equal(r.notices[0].kind, PROVIDER_NOTICE_RECLAIM);
	/* Events have whole seconds: not later than it is true. */
	assert_true(r.notices[0].at_ms > now + 3900 && r.notices[0].at_ms <= now + 6000);
	hear(&done, NULL, 0); /* hidden */
	assert_int_equal(done.nnotices, 0);
	provider_result_fini(&done);
	hear(&done, r.ack, 0);
	assert_int_equal(done.code, PROVIDER_OK);
	provider_result_fini(&done);
	provider_result_fini(&r);
	hear(&r, "r-1-1", 0);
	assert_int_equal(r.code, PROVIDER_TRANSIENT);
	assert_non_null(strstr(r.message, "ReceiptHandleIsInvalid"));
	provider_result_fini(&r);
}

static void test_maintenance_and_an_end_are_messages_too(void **state)
{
	int64_t now = clock_wall_ms();
	struct provider_result r;

	(void)state;
	create(&r, "t", 2);
	provider_result_fini(&r);
	simrun_do(&S, "POST", "/admin/reclaim",
		  "{\"node\":\"c1\",\"kind\":\"maintenance\",\"notice_ms\":600000}");
	simrun_do(&S, "POST", "/admin/reclaim", "{\"node\":\"c1\",\"kind\":\"rebalance\"}");
	simrun_do(&S, "POST", "/admin/reclaim", "{\"node\":\"c1\",\"kind\":\"faulty\"}");
	simrun_do(&S, "POST", "/admin/kill", "{\"node\":\"c2\"}");
	hear(&r, NULL, 20000);
	assert_int_equal(r.nunread, 0);
	assert_int_equal(r.nnotices, 3);
	assert_int_equal(r.notices[0].kind, PROVIDER_NOTICE_MAINTENANCE);
	assert_true(r.notices[0].at_ms > now + 598000 && r.notices[0].at_ms < now + 620000);
	assert_int_equal(r.notices[1].kind, PROVIDER_NOTICE_REBALANCE);
	assert_int_equal(r.notices[2].kind, PROVIDER_NOTICE_MAINTENANCE);
	assert_int_equal(r.notices[2].at_ms, 0);
	assert_int_equal(r.nended, 1);
	assert_string_equal(r.ended[0].id, "sim-00000001");
	provider_result_fini(&r);
}

static void test_a_queue_wants_a_signature_too(void **state)
{
	struct provider_result r;

	(void)state;
	clock_off = -600000;
	hear(&r, NULL, 0);
	assert_int_equal(r.code, PROVIDER_TRANSIENT);
	assert_non_null(strstr(r.message, "RequestExpired"));
	provider_result_fini(&r);
	clock_off = 0;
	simrun_do(&S, "POST", "/admin/faults",
		  "{\"op\":\"notices\",\"action\":\"error\",\"code\":\"rate\"}");
	hear(&r, NULL, 20000);
	assert_int_equal(r.code, PROVIDER_RATE);
	provider_result_fini(&r);
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
	const struct CMUnitTest tests[] = {
		T(test_a_reclaim_is_a_message_until_it_is_deleted),
		T(test_maintenance_and_an_end_are_messages_too),
		T(test_a_queue_wants_a_signature_too),
	};
#undef T

	return cmocka_run_group_tests_name("simcloud_ec2_queue", tests, NULL, NULL);
}
