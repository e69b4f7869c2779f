/* test_simcloud_admin.c - what the side door of simcloud shows, and what hostile requests get. */
#include "base/clock.h"
#include "simrun.h"

static struct simrun S;

static int setup(void **state)
{
	(void)state;
	S = (struct simrun){0};
	simrun_start(&S, NULL);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	assert_int_equal(simrun_stop(&S, SIGTERM), 0);
	return 0;
}

static void create(const char *node)
{
	char body[256];

	(void)snprintf(body, sizeof(body),
		       "{\"cluster\":\"c\",\"type\":\"gpu_8x_h100\",\"region\":\"eu-north-1\","
		       "\"instances\":[{\"name\":\"%s\",\"generation\":1}]}",
		       node);
	simrun_do(&S, "POST", "/v1/instances", body);
}

static size_t count(const char *path, const char *key)
{
	json_t *o = simrun_ask(&S, "GET", path, NULL, 200);
	size_t n = json_array_size(json_object_get(o, key));

	assert_true(json_is_array(json_object_get(o, key)));
	json_decref(o);
	return n;
}

/* What the API hides or delays, the side door shows. */
static void test_instances_as_they_are(void **state)
{
	json_t *o, *i;

	(void)state;
	simrun_do(&S, "POST", "/admin/config",
		  "{\"visible\":\"1h\",\"state_lag\":\"1h\",\"address_after\":\"1h\","
		  "\"tags\":false,\"stop\":\"1h\"}");
	create("n1");
	assert_int_equal(count("/v1/instances", "instances"), 0);
	simrun_do(&S, "POST", "/admin/reclaim", "{\"node\":\"n1\"}");
	o = simrun_ask(&S, "GET", "/admin/instances", NULL, 200);
	i = json_array_get(json_object_get(o, "instances"), 0);
	assert_string_equal(json_string_value(json_object_get(i, "name")), "n1");
	assert_string_equal(json_string_value(json_object_get(i, "state")), "reclaiming");
	assert_string_equal(json_string_value(json_object_get(i, "address")), "10.77.0.10");
	json_decref(o);
}

static void test_events_after(void **state)
{
	json_t *o;

	(void)state;
	create("n1");
	create("n2");
	simrun_do(&S, "POST", "/admin/kill", "{\"node\":\"n1\"}");
	assert_int_equal(count("/admin/events", "events"), 3);
	assert_int_equal(count("/admin/events?after=2", "events"), 1);
	assert_int_equal(count("/admin/events?after=3", "events"), 0);
	o = simrun_ask(&S, "GET", "/admin/events?after=2", NULL, 200);
	assert_int_equal(simrun_int(o, "last"), 3);
	assert_string_equal(json_string_value(json_object_get(
				    json_array_get(json_object_get(o, "events"), 0), "detail")),
			    "killed");
	json_decref(o);
}

static int64_t stat_of(const char *op, const char *what, const char *code)
{
	json_t *o = simrun_ask(&S, "GET", "/admin/stats", NULL, 200);
	const json_t *ops = json_object_get(json_object_get(o, "ops"), op);
	int64_t n = json_integer_value(json_object_get(json_object_get(ops, what), code));

	json_decref(o);
	return n;
}

static int64_t refused(const char *what)
{
	json_t *o = simrun_ask(&S, "GET", "/admin/stats", NULL, 200);
	int64_t n = simrun_int(json_object_get(json_object_get(o, "ops"), "create"), what);

	json_decref(o);
	return n;
}

static void test_list_of_some_fields(void **state)
{
	json_t *o, *row;

	(void)state;
	create("n1");
	o = simrun_ask(&S, "GET", "/v1/instances?fields=state,id", NULL, 200);
	row = json_array_get(json_object_get(o, "instances"), 0);
	assert_int_equal(json_object_size(row), 2);
	assert_true(json_is_string(json_object_get(row, "id")));
	assert_true(json_is_string(json_object_get(row, "state")));
	json_decref(o);
}

/* Somebody found its host broken: nothing follows, and all can see it. */
static void test_a_report_is_an_event(void **state)
{
	static const char path[] = "/v1/instances/sim-00000000/report";
	static const char why[] = "{\"reason\":\"XID 79\"}";
	const json_t *last;
	json_t *o;

	(void)state;
	create("n1");
	simrun_do(&S, "POST", path, why);
	json_decref(simrun_ask(&S, "POST", "/v1/instances/sim-00000009/report", why, 404));
	json_decref(simrun_ask(&S, "POST", "/v1/instances//report", why, 400));
	json_decref(simrun_ask(&S, "POST", path, "{\"why\":1}", 400));
	json_decref(simrun_ask(&S, "POST", path, "", 400));
	json_decref(simrun_ask(&S, "GET", path, NULL, 404));
	o = simrun_ask(&S, "GET", "/admin/events", NULL, 200);
	last = json_array_get(json_object_get(o, "events"),
			      json_array_size(json_object_get(o, "events")) - 1);
	assert_string_equal(json_string_value(json_object_get(last, "event")), "reported");
	assert_string_equal(json_string_value(json_object_get(last, "id")), "sim-00000000");
	assert_string_equal(json_string_value(json_object_get(last, "detail")), "XID 79");
	json_decref(o);
	simrun_do(&S, "DELETE", "/v1/instances/sim-00000000", NULL);
	json_decref(simrun_ask(&S, "POST", path, why, 400)); /* it must run */
	assert_int_equal(stat_of("report", "answers", "ok"), 1);
}

static void test_stats_count_by_operation_and_outcome(void **state)
{
	int64_t started = clock_wall_ms(), at_ms;

	(void)state;
	simrun_do(&S, "POST", "/admin/config", "{\"quota\":1}");
	create("n1");
	assert_int_equal(refused("refused"), 0);
	assert_int_equal(refused("refused_ms"), 0);
	create("n2");
	assert_int_equal(refused("refused"), 1);
	at_ms = refused("refused_ms");
	/* its time is one reading of the wall clock and the boot clock since: the two may differ */
	assert_in_range(at_ms, started - 1000, clock_wall_ms() + 1000);
	json_decref(simrun_ask(&S, "GET", "/v1/instances/sim-00000000", NULL, 200));
	json_decref(simrun_ask(&S, "DELETE", "/v1/instances/sim-00000009", NULL, 404));
	assert_int_equal(stat_of("create", "answers", "ok"), 2);
	assert_int_equal(stat_of("create", "instances", "ok"), 1);
	assert_int_equal(stat_of("create", "instances", "quota"), 1);
	assert_int_equal(stat_of("get", "answers", "ok"), 1);
	assert_int_equal(stat_of("delete", "answers", "not-found"), 1);
	simrun_do(&S, "DELETE", "/admin/stats", NULL);
	assert_int_equal(stat_of("create", "answers", "ok"), 0);
	simrun_do(&S, "POST", "/admin/faults",
		  "{\"op\":\"create\",\"action\":\"error\",\"code\":\"capacity\"}");
	json_decref(simrun_ask(&S, "POST", "/v1/instances",
			       "{\"cluster\":\"c\",\"type\":\"gpu_8x_h100\","
			       "\"region\":\"eu-north-1\",\"instances\":[{\"name\":\"n3\","
			       "\"generation\":1}]}",
			       503));
	assert_int_equal(refused("refused"), 1);
}

static void test_rules_are_listed_and_removed(void **state)
{
	json_t *o;

	(void)state;
	simrun_do(&S, "POST", "/admin/faults", "{\"op\":\"get\",\"action\":\"error\"}");
	simrun_do(&S, "POST", "/admin/faults", "{\"op\":\"list\",\"action\":\"error\"}");
	json_decref(simrun_ask(&S, "GET", "/v1/instances", NULL, 500));
	o = simrun_ask(&S, "GET", "/admin/faults", NULL, 200);
	assert_int_equal(simrun_int(json_array_get(json_object_get(o, "faults"), 0), "fired"), 0);
	assert_int_equal(simrun_int(json_array_get(json_object_get(o, "faults"), 1), "fired"), 1);
	json_decref(o);
	simrun_do(&S, "DELETE", "/admin/faults/2", NULL);
	assert_int_equal(count("/admin/faults", "faults"), 1);
	simrun_do(&S, "GET", "/v1/instances", NULL);
}

static void test_config_is_shown_merged(void **state)
{
	json_t *o;

	(void)state;
	simrun_do(&S, "POST", "/admin/config", "{\"latency\":{\"create\":\"1ms\"}}");
	simrun_do(&S, "POST", "/admin/config", "{\"latency\":{\"list\":\"2ms\"}}");
	json_decref(simrun_ask(&S, "POST", "/admin/config", "{\"latency\":{\"list\":2}}", 400));
	o = simrun_ask(&S, "GET", "/admin/config", NULL, 200);
	assert_string_equal(
		json_string_value(json_object_get(json_object_get(o, "latency"), "create")), "1ms");
	assert_string_equal(
		json_string_value(json_object_get(json_object_get(o, "latency"), "list")), "2ms");
	json_decref(o);
}

/* Hostile requests get an answer, and the next one too. */
static void test_hostile_requests(void **state)
{
	static const struct {
		const char *method, *path, *body;
		long status;
	} rows[] = {
		{"GET", "/", NULL, 404},
		{"GET", "/v1/instancesx", NULL, 404},
		{"PUT", "/v1/instances", "{}", 404},
		{"GET", "/v1/instances/", NULL, 400},
		{"GET", "/v1/instances/sim-00000000", NULL, 404},
		{"GET", "/v1/instances/..%2f..", NULL, 404},
		{"DELETE", "/v1/instances/x", NULL, 404},
		{"GET", "/v1/instances?limit=0", NULL, 400},
		{"GET", "/v1/instances?limit=x", NULL, 400},
		{"GET", "/v1/instances?fields=id,idx", NULL, 400},
		{"GET", "/v1/instances?cursor=c-5", NULL, 400},
		{"GET", "/v1/instances?cursor=zzz", NULL, 400},
		{"GET", "/v1/instances?cursor=c99999999999999999999", NULL, 400},
		{"GET", "/v1/instances?cluster=%zz", NULL, 400},
		{"POST", "/v1/instances", "", 400},
		{"POST", "/v1/instances", "[]", 400},
		{"POST", "/v1/instances", "{", 400},
		{"POST", "/v1/instances", "{\"instances\":[]}", 400},
		{"POST", "/v1/instances", "{\"type\":5,\"instances\":[{\"name\":\"n\"}]}", 400},
		{"POST", "/v1/instances",
		 "{\"type\":\"gpu_8x_h100\",\"region\":\"eu-north-1\",\"instances\":[{\"name\":\"a "
		 "b\"}]}",
		 400},
		{"POST", "/v1/instances",
		 "{\"type\":\"gpu_8x_h100\",\"region\":\"eu-north-1\",\"instances\":[{\"name\":\".."
		 "/x\"}]}",
		 400},
		{"POST", "/v1/instances",
		 "{\"type\":\"gpu_8x_h100\",\"region\":\"eu-north-1\",\"instances\":[{\"name\":"
		 "\"n\","
		 "\"generation\":-1}]}",
		 400},
		{"POST", "/v1/instances/delete", "{\"ids\":[]}", 400},
		{"POST", "/v1/instances/delete", "{\"ids\":[5]}", 400},
		{"GET", "/admin/", NULL, 404},
		{"GET", "/admin/x", NULL, 404},
		{"POST", "/admin/config", "[]", 400},
		{"POST", "/admin/config", "{\"x\":1}", 400},
		{"POST", "/admin/faults", "{\"action\":\"x\"}", 400},
		{"DELETE", "/admin/faults/7", NULL, 404},
		{"DELETE", "/admin/faults/x", NULL, 404},
		{"POST", "/admin/release", "{\"id\":\"x\"}", 400},
	};

	json_t *o;

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		o = simrun_ask(&S, rows[i].method, rows[i].path, rows[i].body, rows[i].status);

		assert_true(json_is_string(json_object_get(json_object_get(o, "error"), "code")));
		json_decref(o);
	}
	o = simrun_ask(&S, "GET", "/admin/stats", NULL, 200);
	assert_int_equal(simrun_int(o, "created"), 0);
	json_decref(o);
}

#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(test_instances_as_they_are),
		T(test_events_after),
		T(test_list_of_some_fields),
		T(test_a_report_is_an_event),
		T(test_stats_count_by_operation_and_outcome),
		T(test_rules_are_listed_and_removed),
		T(test_config_is_shown_merged),
		T(test_hostile_requests),
	};

	(void)curl_global_init(CURL_GLOBAL_DEFAULT);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
