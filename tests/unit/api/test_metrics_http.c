/* test_metrics_http.c - /metrics over HTTP. */
#include "metrics_text.h"

static void test_http(void **state)
{
	static const struct {
		const char *method, *path;
		unsigned status;
	} rows[] = {
		{"GET", "/metrics", 200},    {"HEAD", "/metrics", 200}, {"POST", "/metrics", 405},
		{"DELETE", "/metrics", 405}, {"GET", "/", 404},         {"GET", "/metrics/", 404},
		{"POST", "/x", 404},
	};
	struct engine e;
	struct api api = {.engine = &e};
	struct metrics m = {.api = &api};

	(void)state;
	fill(&e);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const struct http_request rq = {
			.method = rows[i].method, .path = rows[i].path, .query = "", .body = ""};
		struct http_answer an = {.status = 500};

		print_message("# %s %s\n", rq.method, rq.path);
		metrics_handle(&m, &rq, &an);
		assert_int_equal(an.status, rows[i].status);
		if (an.status == 200) {
			assert_string_equal(an.type, "text/plain; version=0.0.4; charset=utf-8");
			assert_int_equal(an.len, strlen(an.body));
		}
		free(an.body);
	}
	metrics_fini(&m);
	fake_fini(&e);
}

/* Who asks faster than once a second gets what there is: writing the page may take milliseconds. */
static void test_fresh(void **state)
{
	static const struct {
		int64_t later_ms, calls;
		const char *want;
	} rows[] = {
		{0, 1, "{kind=\"resume\"} 1\n"},
		{METRICS_FRESH_MS - 1, 2, "{kind=\"resume\"} 1\n"},
		{METRICS_FRESH_MS, 3, "{kind=\"resume\"} 3\n"},
		{METRICS_FRESH_MS + 1, 4, "{kind=\"resume\"} 3\n"},
		{0, 5, "{kind=\"resume\"} 5\n"}, /* the clock was set back */
	};
	const struct http_request rq = {
		.method = "GET", .path = "/metrics", .query = "", .body = ""};
	struct engine e;
	struct api api = {.engine = &e};
	struct metrics m = {.api = &api};

	(void)state;
	fill(&e);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct http_answer an = {.status = 500};

		print_message("# row %zu\n", i);
		e.later_ms = rows[i].later_ms;
		e.counters.calls[0] = (uint64_t)rows[i].calls;
		metrics_handle(&m, &rq, &an);
		assert_int_equal(an.status, 200);
		assert_int_equal(an.len, strlen(an.body));
		assert_non_null(strstr(an.body, rows[i].want));
		free(an.body);
	}
	metrics_fini(&m);
	fake_fini(&e);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_http),
		cmocka_unit_test(test_fresh),
	};

	return cmocka_run_group_tests_name("metrics_http", tests, NULL, NULL);
}
