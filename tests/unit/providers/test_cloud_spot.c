/* test_cloud_spot.c - the spot market of the simulated cloud, and its warnings. */
#include "cloud_world.h"
#include "providers/simcloud/cloud.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"

static void test_spot_has_a_life_of_its_own(void **state)
{
	struct cloud_instance *od, *spot;

	(void)state;
	configure("{\"spot_life\":\"1h\",\"spot_notice\":\"30s\"}");
	od = one("n1");
	W.market = MARKET_SPOT;
	spot = one("n2");
	assert_string_equal(row_of(spot)->type, row_of(od)->type);
	assert_int_equal(row_of(spot)->price_nano_h, INT64_C(11800000000));
	pass(3600000 - 1);
	assert_int_equal(spot->state, CLOUD_RUNNING);
	pass(1);
	assert_int_equal(spot->state, CLOUD_RECLAIMING);
	pass(30000);
	assert_int_equal(spot->state, CLOUD_ENDED);
	pass(86400000);
	assert_int_equal(od->state, CLOUD_RUNNING);
}

#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

/* The price at the beginning of each hour of the instance holds for that hour, as at EC2. */
static void test_a_price_holds_for_an_hour_of_the_instance(void **state)
{
	const struct cloud_instance *a, *b;
	const struct meter_row *row;
	const int64_t minute = 60000;

	(void)state;
	W.market = MARKET_SPOT;
	configure("{\"offers\":[{\"type\":\"gpu_8x_h100\",\"region\":\"eu-north-1\",\"market\":"
		  "\"spot\",\"prices\":[[\"0s\",\"36\"],[\"90m\",\"72\"],[\"150m\",\"18\"]],"
		  "\"period\":\"4h\"}]}");
	W.cloud.start_ms = W.now;
	a = one("a");
	pass(100 * minute); /* 36, 36 */
	assert_int_equal(meter_price_now(row_of(a)), INT64_C(36000000000));
	b = one("b");
	assert_int_equal(meter_price_now(row_of(b)), INT64_C(72000000000));
	pass(30 * minute); /* a: 72 since the 120th minute */
	assert_int_equal(meter_cost(row_of(a), W.now), INT64_C(84000000000));
	pass(110 * minute); /* 18 at the 180th, and at the 240th it begins anew with 36 */
	pass(15 * minute);
	assert_int_equal(row_of(a)->nlater, 3);
	assert_int_equal(meter_cost(row_of(a), W.now),
			 INT64_C(1000000000) * (36 + 36 + 72 + 18 + 9));
	/* b: 72 from 100 to 160, then 18, also at 220 */
	assert_int_equal(row_of(b)->nlater, 1);
	assert_int_equal(meter_cost(row_of(b), W.now),
			 INT64_C(1000000000) * 72 + INT64_C(18000000000) * 95 / 60);
	row = row_of(a);
	cloud_kill(&W.cloud, cloud_of_row(&W.cloud, a->row), "killed", W.now);
	pass(120 * minute); /* it changes no more */
	assert_int_equal(row->nlater, 3);
}

static void test_a_price_is_of_its_moment(void **state)
{
	static const struct {
		int64_t s, price;
	} rows[] = {{0, 1}, {9, 1}, {10, 2}, {29, 2}, {30, 3}, {59, 3}, {60, 1}, {70, 2}, {691, 3}};
	const struct cloud_pool *p;

	(void)state;
	configure("{\"offers\":[{\"type\":\"t\",\"region\":\"r\",\"market\":\"spot\",\"prices\":[["
		  "\"0s\","
		  "\"1\"],[\"10s\",\"2\"],[\"30s\",\"3\"]],\"period\":\"60s\"}]}");
	p = cloud_pool_get(&W.cloud, "t", "r", "", MARKET_SPOT);
	assert_non_null(p);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		assert_int_equal(cloud_price(&W.cloud, p, rows[i].s * 1000),
				 INT64_C(1000000000) * rows[i].price);
}

static void test_each_market_has_its_own_capacity(void **state)
{
	int32_t rows[2];

	(void)state;
	configure(
		"{\"offers\":[{\"type\":\"gpu_8x_h100\",\"region\":\"eu-north-1\",\"market\":"
		"\"reserved\",\"price\":\"0\",\"capacity\":1},{\"type\":\"gpu_8x_h100\",\"region\":"
		"\"eu-north-1\",\"price\":\"5\"}]}");
	W.market = MARKET_RESERVED;
	assert_int_equal(create("", "a,b", 0, rows), CODE_OK);
	assert_true(rows[0] >= 0);
	assert_int_equal(rows[1], -CODE_CAPACITY);
	assert_int_equal(W.meter->rows[rows[0]].market, MARKET_RESERVED);
	W.market = MARKET_ON_DEMAND;
	assert_int_equal(create("", "b", 0, rows), CODE_OK);
	W.market = MARKET_SPOT;
	assert_int_equal(create("", "c", 0, rows), CODE_INVALID);
}

static void test_a_reclaim_leaves_as_much_time_as_it_says(void **state)
{
	static const int64_t notices[] = {120000, 30000, 5000, 0};

	(void)state;
	for (size_t i = 0; i < sizeof(notices) / sizeof(notices[0]); i++) {
		struct cloud_instance *a = one("a");
		uint64_t told = W.cloud.notices.n;

		pass(2000);
		assert_true(cloud_reclaim(&W.cloud, a, notices[i], W.now));
		assert_int_equal(W.cloud.notices.n, told + 1);
		assert_int_equal(W.cloud.notices.ring[told].kind, NOTICE_RECLAIM);
		assert_int_equal(W.cloud.notices.ring[told].at_ms, W.now + notices[i]);
		if (notices[i] > 0)
			pass(notices[i] - 1);
		assert_int_equal(a->state, CLOUD_RECLAIMING);
		pass(1);
		assert_int_equal(a->state, CLOUD_ENDED);
		assert_string_equal(a->why, "reclaimed");
		assert_int_equal(W.cloud.notices.ring[told + 1].kind, NOTICE_ENDED);
	}
}

static void test_a_repair_ends_an_instance_and_other_warnings_do_not(void **state)
{
	struct cloud_instance *a = one("a"), *b = one("b");

	(void)state;
	pass(2000);
	assert_true(cloud_warn(&W.cloud, a, NOTICE_MAINTENANCE, 60000, W.now));
	assert_true(cloud_warn(&W.cloud, b, NOTICE_REBALANCE, 60000, W.now));
	assert_true(cloud_warn(&W.cloud, b, NOTICE_FAULTY, 60000, W.now));
	assert_int_equal(W.cloud.notices.ring[0].at_ms, W.now + 60000);
	assert_int_equal(W.cloud.notices.ring[1].at_ms, 0);
	pass(59999);
	assert_int_equal(a->state, CLOUD_RUNNING);
	pass(1);
	assert_int_equal(a->state, CLOUD_ENDED);
	assert_string_equal(a->why, "taken for repair");
	assert_false(cloud_warn(&W.cloud, a, NOTICE_REBALANCE, 0, W.now));
	pass(100000);
	assert_int_equal(b->state, CLOUD_RUNNING);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(test_a_price_holds_for_an_hour_of_the_instance),
		T(test_a_price_is_of_its_moment),
		T(test_each_market_has_its_own_capacity),
		T(test_a_reclaim_leaves_as_much_time_as_it_says),
		T(test_a_repair_ends_an_instance_and_other_warnings_do_not),
		T(test_spot_has_a_life_of_its_own),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
