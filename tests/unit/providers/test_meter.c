/* test_meter.c - the billing meter: exact amounts, and evidence that survives a kill. */
#include "providers/simcloud/meter.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/mem.h"

static char path[64];

static int setup(void **state)
{
	int fd;

	(void)state;
	(void)snprintf(path, sizeof(path), "/tmp/simcloud-meter.XXXXXX");
	fd = mkstemp(path);
	assert_true(fd >= 0);
	return close(fd);
}

static int teardown(void **state)
{
	(void)state;
	return unlink(path);
}

static uint32_t add(struct meter *m, const char *node, int64_t at)
{
	return meter_start(m, &(struct meter_row){.node = node,
						  .cluster = "c\"1",
						  .type = "gpu_8x_h100",
						  .region = "eu",
						  .zone = "",
						  .currency = "EUR",
						  .gen = 3,
						  .price_nano_h = INT64_C(29520000000),
						  .market = MARKET_SPOT,
						  .start_ms = at});
}

static void test_cost_is_exact(void **state)
{
	static const struct {
		int64_t start, end, now, cost;
	} rows[] = {
		{0, 3600000, 0, INT64_C(29520000000)},
		{0, 1, 0, 8200},
		{0, 0, 5, 0},
		{0, -1, 1000, 8200000},
		{1000, -1, 500, 0}, /* a clock that went back bills nothing */
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct meter_row r = {.start_ms = rows[i].start,
				      .end_ms = rows[i].end,
				      .price_nano_h = INT64_C(29520000000)};

		assert_int_equal(meter_cost(&r, rows[i].now), rows[i].cost);
	}
}

/* Rounded once, on the sum: 1 ms at 1.8 nano-euros a ms is 1.8, and three times that 5.4. */
static void test_prices_that_change_are_added_up_before_they_are_rounded(void **state)
{
	struct meter *m = meter_new(), *again = meter_new();
	struct str s, t;

	(void)state;
	(void)add(m, "n1", 1000);
	m->rows[0].price_nano_h = 6480000;
	meter_price(m, 0, 1001, 6480001);
	meter_price(m, 0, 1002, 6480000);
	assert_int_equal(meter_cost(&m->rows[0], 1000), 0);
	assert_int_equal(meter_cost(&m->rows[0], 1001), 2);
	assert_int_equal(meter_cost(&m->rows[0], 1002), 4);
	assert_int_equal(meter_cost(&m->rows[0], 1003), 5);
	assert_int_equal(meter_price_now(&m->rows[0]), 6480000);
	meter_ended(m, 0, 1002, "killed"); /* before the last price began */
	assert_int_equal(meter_cost(&m->rows[0], 9000), 4);
	str_init(&s, 1 << 20);
	meter_write(m, &s, 5000, "");
	assert_non_null(strstr(s.p, "\"prices\":[[1001,\"0.006480001\"],[1002,\"0.00648\"]]"));
	assert_int_equal(meter_load(again, s.p, s.len, NULL), 0);
	str_init(&t, 1 << 20);
	meter_write(again, &t, 5000, "");
	assert_string_equal(s.p, t.p);
	str_fini(&s);
	str_fini(&t);
	meter_free(m);
	meter_free(again);
}

static void test_answer_adds_up_and_can_be_read_again(void **state)
{
	struct meter *m = meter_new(), *again = meter_new();
	struct str s, t;

	(void)state;
	(void)add(m, "n1", 1000);
	(void)add(m, "n2", 2000);
	meter_deleted(m, 0, 3000);
	meter_deleted(m, 0, 9000); /* the first acceptance counts */
	meter_ended(m, 0, 4000, "deleted");
	str_init(&s, 1 << 20);
	meter_write(m, &s, 5000, "");
	assert_non_null(strstr(s.p, "\"cost\":\"0.0246\""));
	assert_non_null(strstr(s.p, "\"total\":\"0.0492\""));
	assert_non_null(strstr(s.p, "\"deleted_ms\":3000,\"end_ms\":4000"));
	assert_int_equal(meter_load(again, s.p, s.len, NULL), 0);
	str_init(&t, 1 << 20);
	meter_write(again, &t, 5000, "");
	assert_string_equal(s.p, t.p);
	assert_int_equal(again->last_ms, 5000);
	str_clear(&t);
	meter_write(again, &t, 5000, "nobody's");
	assert_non_null(strstr(t.p, "\"rows\":[],\"total\":\"0.00\""));
	str_fini(&s);
	str_fini(&t);
	meter_free(m);
	meter_free(again);
}

static void test_state_file_survives_a_kill(void **state)
{
	struct meter *m = meter_new();
	struct err e = {0};

	(void)state;
	assert_int_equal(meter_attach(m, path, &e), 0);
	(void)add(m, "n1", 1000);
	(void)add(m, "n2", 2000);
	meter_deleted(m, 1, 2500);
	meter_ended(m, 1, 3000, "deleted");
	meter_price(m, 0, 4000, 5);
	meter_alive(m, 7000);
	meter_free(m); /* n1 is open, as after kill -9 */

	m = meter_new();
	assert_int_equal(meter_attach(m, path, &e), 0);
	assert_int_equal(m->n, 2);
	assert_string_equal(m->rows[0].node, "n1");
	assert_string_equal(m->rows[0].cluster, "c\"1");
	assert_int_equal(m->rows[0].gen, 3);
	assert_int_equal(m->rows[0].price_nano_h, INT64_C(29520000000));
	assert_int_equal(m->rows[0].market, MARKET_SPOT);
	assert_int_equal(m->rows[0].nlater, 1);
	assert_int_equal(m->rows[0].later[0].from_ms, 4000);
	assert_int_equal(m->rows[0].later[0].nano_h, 5);
	assert_int_equal(m->rows[0].start_ms, 1000);
	assert_int_equal(m->rows[0].end_ms, 7000); /* the last it is known to have lived */
	assert_int_equal(m->rows[1].deleted_ms, 2500);
	assert_int_equal(m->rows[1].end_ms, 3000);
	assert_int_equal(add(m, "n3", 8000), 2); /* numbers go on: ids are never used twice */
	meter_free(m);

	m = meter_new();
	assert_int_equal(meter_attach(m, path, &e), 0);
	assert_int_equal(m->n, 3);
	assert_int_equal(m->rows[0].end_ms, 7000);
	meter_free(m);
}

static void test_torn_last_line_is_cut_off(void **state)
{
	static const char torn[] = "{\"e\":\"end\",\"at\":5000,\"id\":\"sim-0000";
	struct meter *m = meter_new();
	int fd;

	(void)state;
	assert_int_equal(meter_attach(m, path, NULL), 0);
	(void)add(m, "n1", 1000);
	meter_free(m);
	fd = open(path, O_WRONLY | O_APPEND);
	assert_int_equal(write(fd, torn, sizeof(torn) - 1), sizeof(torn) - 1);
	(void)close(fd);
	m = meter_new();
	assert_int_equal(meter_attach(m, path, NULL), 0);
	assert_int_equal(m->rows[0].end_ms, 1000);
	(void)add(m, "n2", 6000);
	meter_free(m);
	m = meter_new();
	assert_int_equal(meter_attach(m, path, NULL), 0);
	assert_int_equal(m->n, 2);
	meter_free(m);
}

static void test_damaged_input_is_refused(void **state)
{
#define START "{\"e\":\"start\",\"at\":5,\"id\":\"sim-00000000\",\"name\":\"n\",\"price\":\"1\"}\n"
	static const struct {
		const char *text;
		int rc;
	} rows[] = {
		{"", 0},
		{START, 0},
		{START "{\"e\":\"end\",\"at\":9,\"id\":\"sim-00000000\"}\n", 0},
		{START "{\"e\":\"end\",\"at\":9,\"id\":\"sim-00000001\"}\n", -1},
		{START "{\"e\":\"end\",\"at\":9,\"id\":\"sim-0000000x\"}\n", -1},
		{START "{\"e\":\"end\",\"id\":\"sim-00000000\"}\n", -1},
		{START "{\"e\":\"novel\",\"at\":9,\"id\":\"sim-00000000\"}\n", -1},
		{"{\"e\":\"start\",\"at\":5,\"name\":\"n\",\"price\":\"x\"}\n", -1},
		{"{\"e\":\"start\",\"at\":5,\"name\":7,\"price\":\"1\"}\n", -1},
		{"not json\n", -1},
		{"[]\n", -1},
		{"{\"rows\":[]}", 0},
		{"{\"rows\":[{}]}", -1},
		{"{\"rows\":[{\"price\":\"1\",\"name\":\"n\"}]}", -1},
		{"{\"rows\":[{\"price\":\"1\",\"name\":\"n\",\"start_ms\":1,\"end_ms\":null}]}", 0},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct meter *m = meter_new();
		struct err e = {0};

		assert_int_equal(meter_load(m, rows[i].text, strlen(rows[i].text), &e), rows[i].rc);
		meter_free(m);
	}
}

static void test_ids(void **state)
{
	static const char *const bad[] = {"",
					  "sim-",
					  "sim-00000001",
					  "sim-0000000",
					  "sim-000000000",
					  "SIM-00000000",
					  "sim-0x000000",
					  "sim- 0000000"};
	struct meter *m = meter_new();
	char id[METER_ID_SIZE];
	uint32_t row = 9;

	(void)state;
	(void)add(m, "n", 0);
	assert_string_equal(meter_id(id, 0), "sim-00000000");
	assert_true(meter_row_of(m, id, &row));
	assert_int_equal(row, 0);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_false(meter_row_of(m, bad[i], &row));
	meter_free(m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_cost_is_exact),
		cmocka_unit_test(test_prices_that_change_are_added_up_before_they_are_rounded),
		cmocka_unit_test(test_answer_adds_up_and_can_be_read_again),
		cmocka_unit_test_setup_teardown(test_state_file_survives_a_kill, setup, teardown),
		cmocka_unit_test_setup_teardown(test_torn_last_line_is_cut_off, setup, teardown),
		cmocka_unit_test(test_damaged_input_is_refused),
		cmocka_unit_test(test_ids),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
