/* test_simcloud_notice.c - what simcloud tells of before it happens, over HTTP and through the
 * driver that burstd uses. */
#include "simrun_driver.h"

#include <pthread.h>

#include "base/clock.h"

static const struct provider_want nodes[] = {{"n1", 1, 0}, {"n2", 1, 0}, {"n3", 1, 0}};

static void ask(const struct provider_op *op, struct provider_result *out)
{
	assert_int_equal(drive(op, out), 0);
	assert_int_equal(out->code, PROVIDER_OK);
}

static void buy(struct provider_result *out, const char *token, size_t n)
{
	assert_int_equal(create(out, token, nodes, n), 0);
	assert_int_equal(out->code, PROVIDER_OK);
}

static void list_all(struct provider_result *out)
{
	assert_int_equal(list(out, ""), 0);
	assert_int_equal(out->code, PROVIDER_OK);
}

static void notices(struct provider_result *out, const char *cursor, uint32_t wait_ms)
{
	struct provider_op op = {.kind = PROVIDER_NOTICES};

	op.u.notices.cluster = cluster;
	op.cursor = cursor;
	op.u.notices.wait_ms = wait_ms;
	ask(&op, out);
}

static void *reclaim_soon(void *ctx)
{
	(void)usleep(300000);
	*(int64_t *)ctx = clock_boot_ms();
	simrun_do(&S, "POST", "/admin/reclaim", "{\"node\":\"n2\",\"notice_ms\":60000}");
	return NULL;
}

static void test_a_request_for_notices_waits_until_there_is_one(void **state)
{
	struct provider_result r;
	int64_t start = clock_boot_ms(), told;
	pthread_t thread;

	(void)state;
	simrun_do(&S, "POST", "/admin/config", "{\"boot\":\"1h\"}"); /* nothing else is due */
	buy(&r, "t", 2);
	provider_result_fini(&r);
	notices(&r, "", 200); /* nothing */
	assert_int_equal(r.nnotices, 0);
	assert_true(clock_boot_ms() - start >= 199);
	assert_int_equal(pthread_create(&thread, NULL, reclaim_soon, &told), 0);
	provider_result_fini(&r);
	notices(&r, "", 20000);
	assert_true(clock_boot_ms() - told < 1000); /* some ms, on a machine that has time */
	assert_int_equal(pthread_join(thread, NULL), 0);
	assert_int_equal(r.nnotices, 1);
	assert_string_equal(r.notices[0].id, "sim-00000001");
	assert_int_equal(r.notices[0].kind, PROVIDER_NOTICE_RECLAIM);
	assert_true(r.notices[0].at_ms > clock_wall_ms() + 50000);
	{
		struct provider_result next;

		notices(&next, r.cursor, 1); /* told once */
		assert_int_equal(next.nnotices, 0);
		provider_result_fini(&next);
		notices(&next, "", 20000); /* and all of it to who begins anew, at once */
		assert_int_equal(next.nnotices, 1);
		provider_result_fini(&next);
	}
	provider_result_fini(&r);
}

/* The place where it waited is another's by the time at which it would have been answered. */
static void test_what_was_told_sooner_ends_no_other_request(void **state)
{
	struct provider_result r;
	pthread_t thread;
	int64_t told, start;

	(void)state;
	buy(&r, "t", 2);
	provider_result_fini(&r);
	assert_int_equal(pthread_create(&thread, NULL, reclaim_soon, &told), 0);
	notices(&r, "", 1000);
	assert_int_equal(r.nnotices, 1);
	provider_result_fini(&r);
	assert_int_equal(pthread_join(thread, NULL), 0);
	simrun_do(&S, "POST", "/admin/config", "{\"latency\":{\"list\":\"2s\"}}");
	start = clock_boot_ms();
	list_all(&r);
	assert_true(clock_boot_ms() - start >= 1999);
	provider_result_fini(&r);
}

static void test_notices_are_of_all_kinds_and_of_one_cluster(void **state)
{
	static const struct provider_op other = {.kind = PROVIDER_NOTICES,
						 .u.notices = {.cluster = "other"}};
	static const struct {
		const char *body;
		enum provider_notice_kind kind;
		bool at;
	} rows[] = {
		{"{\"node\":\"n1\",\"kind\":\"rebalance\"}", PROVIDER_NOTICE_REBALANCE, false},
		{"{\"node\":\"n1\",\"kind\":\"maintenance\"}", PROVIDER_NOTICE_MAINTENANCE, true},
		{"{\"node\":\"n1\",\"kind\":\"faulty\"}", PROVIDER_NOTICE_FAULTY, false},
		{"{\"node\":\"n1\",\"kind\":\"reclaim\"}", PROVIDER_NOTICE_RECLAIM, true},
	};
	struct provider_result r;

	(void)state;
	buy(&r, "t", 1);
	provider_result_fini(&r);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		simrun_do(&S, "POST", "/admin/reclaim", rows[i].body);
	json_decref(simrun_ask(&S, "POST", "/admin/reclaim", "{\"node\":\"n1\",\"kind\":\"quake\"}",
			       400));
	json_decref(simrun_ask(&S, "POST", "/admin/reclaim", "{\"kind\":\"faulty\"}", 400));
	notices(&r, "", 0);
	assert_int_equal(r.nnotices, 4);
	for (size_t i = 0; i < r.nnotices; i++) {
		assert_int_equal(r.notices[i].kind, rows[i].kind);
		assert_int_equal(r.notices[i].at_ms != 0, rows[i].at);
	}
	provider_result_fini(&r);
	ask(&other, &r);
	assert_int_equal(r.nnotices, 0);
	provider_result_fini(&r);
	json_decref(simrun_ask(&S, "GET", "/v1/notices?after=x", NULL, 400));
	json_decref(simrun_ask(&S, "GET", "/v1/notices?wait=-1", NULL, 400));
}

static void test_a_zone_is_reclaimed_and_has_no_room_any_more(void **state)
{
	struct provider_result r;
	json_t *o;

	(void)state;
	simrun_do(&S, "POST", "/admin/capacity",
		  "{\"zone\":\"eu-north-1a\",\"type\":\"gpu_8x_h100\",\"capacity\":2}");
	buy(&r, "t", 3); /* two in a, one in b */
	provider_result_fini(&r);
	o = simrun_ask(&S, "POST", "/admin/reclaim",
		       "{\"zone\":\"eu-north-1a\",\"notice_ms\":0,\"capacity\":0}", 200);
	assert_int_equal(simrun_int(o, "matched"), 2);
	json_decref(o);
	o = simrun_ask(&S, "POST", "/v1/instances", /* of which there were none */
		       "{\"type\":\"cpu_4x\",\"region\":\"eu-north-1\",\"zone\":\"eu-north-1a\","
		       "\"instances\":[{\"name\":\"x\"}]}",
		       200);
	assert_string_equal(
		json_string_value(json_object_get(
			json_object_get(json_array_get(json_object_get(o, "instances"), 0),
					"error"),
			"code")),
		"capacity");
	json_decref(o);
	(void)usleep(50000);
	list_all(&r);
	assert_int_equal(r.instances[0].state, PROVIDER_ENDED);
	assert_int_equal(r.instances[1].state, PROVIDER_ENDED);
	assert_true(r.instances[2].state < PROVIDER_RECLAIMING);
	provider_result_fini(&r);
	simrun_do(&S, "POST", "/admin/capacity",
		  "{\"zone\":\"eu-north-1b\",\"type\":\"gpu_8x_h100\",\"capacity\":2}");
	buy(&r, "u", 2);
	assert_int_equal(r.items[0].code, PROVIDER_OK); /* in b */
	assert_int_equal(r.items[1].code, PROVIDER_CAPACITY);
	provider_result_fini(&r);
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
	const struct CMUnitTest tests[] = {
		T(test_a_request_for_notices_waits_until_there_is_one),
		T(test_what_was_told_sooner_ends_no_other_request),
		T(test_notices_are_of_all_kinds_and_of_one_cluster),
		T(test_a_zone_is_reclaimed_and_has_no_room_any_more),
	};

	return cmocka_run_group_tests_name("simcloud's notices over HTTP", tests, NULL, NULL);
}
