/* test_ctl_flow.c - what status shows of the requests to a provider. */
#include "ctl_ask.h"

/* All operations, whether they wait or not. */
static void test_status_shows_how_requests_flow(void **state)
{
	struct fixture *f = start("n1");
	const json_t *list;
	json_t *r, *o;

	(void)state;
	f->e.flow[PROVIDER_CREATE] =
		(struct engine_flow){.sent = 1274,
				     .throttled = 37,
				     .queued = 812,
				     .oldest_ms = FAKE_NOW - 250000,
				     .limit = {.by = LIMIT_BY_SHARED,
					       .allowed = 16667,
					       .instances = 2000000,
					       .until_ms = FAKE_NOW + 3000,
					       .throttled_ms = FAKE_NOW - 12000}};
	r = ask_as(f, &viewer, "{\"v\":1,\"op\":\"status\"}");
	list = json_object_get(json_array_get(json_object_get(r, "providers"), 0), "requests");
	assert_int_equal(json_array_size(list), PROVIDER_NOPS);
	o = json_array_get(list, PROVIDER_CREATE);
	assert_string_equal(text(o, "operation"), "create");
	assert_string_equal(text(o, "allowed"), "0.016667");
	assert_string_equal(text(o, "allowed_by"), "shared");
	assert_string_equal(text(o, "allowed_instances"), "2.00");
	assert_int_equal(number(o, "paused_until_ms"), FAKE_NOW + 3000);
	assert_int_equal(number(o, "sent"), 1274);
	assert_int_equal(number(o, "throttled"), 37);
	assert_int_equal(number(o, "throttled_ms"), FAKE_NOW - 12000);
	assert_int_equal(number(o, "queued"), 812);
	assert_int_equal(number(o, "oldest_ms"), FAKE_NOW - 250000);
	o = json_array_get(list, PROVIDER_STEP);
	assert_string_equal(text(o, "operation"), "step");
	assert_string_equal(text(o, "allowed"), "");
	assert_string_equal(text(o, "allowed_by"), "");
	assert_string_equal(text(o, "allowed_instances"), "");
	assert_int_equal(number(o, "oldest_ms"), 0);
	json_decref(r);
	stop(f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_status_shows_how_requests_flow),
	};

	return cmocka_run_group_tests_name("flow, shown", tests, NULL, NULL);
}
