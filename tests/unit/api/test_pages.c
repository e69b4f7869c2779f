/* test_pages.c - what any user of this machine gets beside /metrics: the nodes that run, and the
 * table of jobs; and what nobody gets. */
#include "metrics_text.h"

#include <jansson.h>

#include "api/job_table.h"
#include "api/pages.h"

static struct fixture {
	struct engine e;
	struct api api;
	struct pages p;
	const char *host; /* header Host of the next request; NULL: none */
} F;

static int setup(void **state)
{
	(void)state;
	F = (struct fixture){.host = "127.0.0.1:9818"};
	fill(&F.e);
	F.e.conf->listen_jobs = true;
	F.api = (struct api){.engine = &F.e};
	F.p.metrics.api = &F.api;
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	pages_fini(&F.p);
	fake_fini(&F.e);
	return 0;
}

static const char *header(void *from, const char *name)
{
	(void)from;
	return strcmp(name, "Host") == 0 ? F.host : NULL;
}

/* The answer's body is the caller's. */
static struct http_answer ask(const char *method, const char *path, const char *query)
{
	const struct http_request rq = {.method = method,
					.path = path,
					.query = query,
					.body = "",
					.header = header,
					.headers_from = &F};
	struct http_answer an = {.status = 500};

	print_message("# %s %s?%s\n", method, path, query);
	pages_handle(&F.p, &rq, &an);
	assert_int_equal(an.len, an.body != NULL ? strlen(an.body) : 0);
	return an;
}

static unsigned status(const char *method, const char *path, const char *query)
{
	struct http_answer an = ask(method, path, query);

	free(an.body);
	return an.status;
}

static json_t *json(const char *path, const char *query)
{
	struct http_answer an = ask("GET", path, query);
	json_t *v;

	assert_int_equal(an.status, 200);
	assert_string_equal(an.type, "application/json");
	v = json_loads(an.body, 0, NULL);
	free(an.body);
	assert_non_null(v);
	return v;
}

static const char *text(const json_t *o, const char *key)
{
	const char *s = json_string_value(json_object_get(o, key));

	assert_non_null(s);
	return s;
}

static int64_t number(const json_t *o, const char *key)
{
	const json_t *v = json_object_get(o, key);

	assert_true(json_is_integer(v));
	return json_integer_value(v);
}

/* --- paths, methods, names of hosts ------------------------------------------------------------
 */

static void paths_and_methods(void **state)
{
	static const struct {
		const char *method, *path;
		unsigned status;
	} rows[] = {
		{"GET", "/metrics", 200},  {"GET", "/targets", 200},  {"HEAD", "/targets", 200},
		{"GET", "/jobs", 200},     {"HEAD", "/jobs", 200},    {"POST", "/jobs", 405},
		{"DELETE", "/jobs", 405},  {"POST", "/targets", 405}, {"PUT", "/metrics", 405},
		{"GET", "/jobs/", 404},    {"GET", "/jobs/7", 404},   {"GET", "/Jobs", 404},
		{"GET", "/targets/", 404}, {"GET", "/", 404},         {"GET", "", 404},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		assert_int_equal(status(rows[i].method, rows[i].path, ""), rows[i].status);
}

/* A browser here must not read them for a stranger's page, by a name that leads to 127.0.0.1. */
static void only_by_address(void **state)
{
	static const struct {
		const char *host;
		bool good;
	} rows[] = {
		{NULL, true},
		{"127.0.0.1", true},
		{"127.0.0.1:9818", true},
		{"[::1]:9818", true},
		{"localhost", true},
		{"LocalHost:9818", true},
		{"evil.example", false},
		{"evil.example:9818", false},
		{"localhost.evil.example:9818", false},
		{"127.0.0.1.evil.example", false},
		{"", false},
		{":9818", false},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		F.host = rows[i].host;
		assert_int_equal(status("GET", "/jobs", ""), rows[i].good ? 200 : 403);
		assert_int_equal(status("GET", "/targets", ""), rows[i].good ? 200 : 403);
		assert_int_equal(status("GET", "/metrics", ""), 200); /* as it was */
	}
}

/* --- nodes -------------------------------------------------------------------------------------
 */

static const json_t *labels_of(const json_t *all, size_t i, const char *address)
{
	const json_t *one = json_array_get(all, i);

	assert_int_equal(json_array_size(json_object_get(one, "targets")), 1);
	assert_string_equal(json_string_value(json_array_get(json_object_get(one, "targets"), 0)),
			    address);
	return json_object_get(one, "labels");
}

static void address(const char *node, const char *to)
{
	struct node *n = &fleet_find(&F.e.fleet, node)->newest->n;

	(void)snprintf(n->addr, sizeof(n->addr), "%s", to);
}

static void nodes_that_run_are_targets(void **state)
{
	const json_t *labels;
	json_t *all;

	(void)state;
	(void)fake_node(&F.e, "n7", 1, NODE_BOOTING);
	(void)fake_node(&F.e, "n8", 1, NODE_DRAINING);
	(void)fake_node(&F.e, "m1", 1, NODE_READY); /* it has no address */
	address("n1", "10.0.0.1");                  /* is gone */
	address("n2", "10.0.0.2");
	address("n3", "fd00::3");
	address("n4", "10.0.0.4"); /* quarantined */
	address("n7", "10.0.0.7");
	address("n8", "10.0.0.8");
	address("m1", "");
	all = json("/targets", "");
	assert_int_equal(json_array_size(all), 3);
	labels = labels_of(all, 0, "10.0.0.2");
	assert_string_equal(text(labels, "__meta_burstd_cluster"), "falcon");
	assert_string_equal(text(labels, "__meta_burstd_node"), "n2");
	assert_string_equal(text(labels, "__meta_burstd_pool"), "pool0");
	assert_string_equal(text(labels, "__meta_burstd_offer"), "");
	assert_string_equal(text(labels, "__meta_burstd_state"), "ready");
	labels = labels_of(all, 1, "[fd00::3]");
	assert_string_equal(text(labels, "__meta_burstd_node"), "n3");
	labels = labels_of(all, 2, "10.0.0.8");
	assert_string_equal(text(labels, "__meta_burstd_state"), "draining");
	json_decref(all);
}

/* As the page of metrics: to write ten thousand of them takes milliseconds. */
static void targets_are_written_once_a_second(void **state)
{
	json_t *all;

	(void)state;
	address("n2", "10.0.0.2");
	address("n3", "");
	json_decref(json("/targets", ""));
	address("n3", "10.0.0.3");
	F.e.later_ms = METRICS_FRESH_MS - 1;
	all = json("/targets", "");
	assert_int_equal(json_array_size(all), 1);
	json_decref(all);
	F.e.later_ms = METRICS_FRESH_MS;
	all = json("/targets", "");
	assert_int_equal(json_array_size(all), 2);
	json_decref(all);
	F.e.later_ms = 0; /* the clock was set back */
	address("n3", "");
	all = json("/targets", "");
	assert_int_equal(json_array_size(all), 1);
	json_decref(all);
}

/* --- jobs --------------------------------------------------------------------------------------
 */

static const struct engine_joblist_job three[] = {
	{.number = 12,
	 .id = "7_2",
	 .partition = "",
	 .state = ENGINE_JOBLIST_WAITS,
	 .reason = NODE_BECAUSE_BUDGET,
	 .pool = 1,
	 .nodes = 4,
	 .refusals = 3,
	 .since_ms = FAKE_NOW - 60000,
	 .until_ms = FAKE_NOW + 30000},
	{.number = 13,
	 .id = "13",
	 .partition = "gpu",
	 .state = ENGINE_JOBLIST_RUNS,
	 .nodes = 2,
	 .loses = true,
	 .since_ms = FAKE_NOW - 1000},
	{.number = 14, .id = "14", .partition = "cpu", .state = ENGINE_JOBLIST_BOOTS, .nodes = 1},
};

static void a_job_has_all_its_fields(void **state)
{
	const json_t *rows, *job;
	json_t *t;

	(void)state;
	F.e.jobs = three;
	F.e.njobs = 3;
	F.e.of_wall_ms = 2000;
	t = json("/jobs", "");
	assert_int_equal(json_object_size(t), 7);
	assert_int_equal(number(t, "schema"), 1);
	assert_string_equal(text(t, "cluster"), "falcon");
	assert_int_equal(number(t, "now_ms"), FAKE_NOW - 2000);
	assert_int_equal(number(t, "squeue_ms"), FAKE_NOW - 6000);
	assert_int_equal(number(t, "total"), 3);
	assert_true(json_is_false(json_object_get(t, "truncated")));
	rows = json_object_get(t, "jobs");
	assert_int_equal(json_array_size(rows), 3);
	job = json_array_get(rows, 0);
	/* A field more would be somebody's name, or money: job_table.h. */
	assert_int_equal(json_object_size(job), 11);
	assert_int_equal(number(job, "number"), 12);
	assert_string_equal(text(job, "job"), "7_2");
	assert_string_equal(text(job, "state"), "waits");
	assert_string_equal(text(job, "reason"), "budget");
	assert_string_equal(text(job, "pool"), "pool1");
	assert_string_equal(text(job, "partition"), "");
	assert_int_equal(number(job, "nodes"), 4);
	assert_int_equal(number(job, "refusals"), 3);
	assert_true(json_is_false(json_object_get(job, "losing_node")));
	assert_int_equal(number(job, "since_ms"), FAKE_NOW - 62000);
	assert_int_equal(number(job, "until_ms"), FAKE_NOW + 28000);
	job = json_array_get(rows, 1);
	assert_int_equal(json_object_size(job), 11);
	assert_string_equal(text(job, "state"), "runs");
	assert_string_equal(text(job, "reason"), "");
	assert_string_equal(text(job, "pool"), "pool0");
	assert_string_equal(text(job, "partition"), "gpu");
	assert_true(json_is_true(json_object_get(job, "losing_node")));
	assert_int_equal(number(job, "until_ms"), 0);
	json_decref(t);
}

static void rows_by_state_and_number(void **state)
{
	static const struct {
		const char *query;
		size_t rows, total;
		bool truncated;
	} rows[] = {
		{"", 3, 3, false},
		{"limit=1000", 3, 3, false},
		{"limit=3", 3, 3, false},
		{"limit=2", 2, 3, true},
		{"state=waits", 1, 1, false},
		{"state=ends", 0, 0, false},
		{"state=runs&limit=1", 1, 1, false},
		{"limit=1&state=runs", 1, 1, false},
		{"limit=&state=", 3, 3, false},
	};

	(void)state;
	F.e.jobs = three;
	F.e.njobs = 3;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		json_t *t = json("/jobs", rows[i].query);

		assert_int_equal(json_array_size(json_object_get(t, "jobs")), rows[i].rows);
		assert_int_equal(number(t, "total"), (int64_t)rows[i].total);
		assert_int_equal(json_is_true(json_object_get(t, "truncated")), rows[i].truncated);
		json_decref(t);
	}
}

/* Jobs with nodes that are only counted are not forgotten in silence. */
static void more_than_are_remembered(void **state)
{
	json_t *t;

	(void)state;
	F.e.jobs = three;
	F.e.njobs = 3;
	F.e.more_jobs = 5;
	t = json("/jobs", "");
	assert_int_equal(number(t, "total"), 8);
	assert_true(json_is_true(json_object_get(t, "truncated")));
	json_decref(t);
	t = json("/jobs", "state=waits");
	assert_int_equal(number(t, "total"), 1);
	assert_true(json_is_false(json_object_get(t, "truncated")));
	json_decref(t);
}

static void a_wrong_question_is_refused(void **state)
{
	static const char *const queries[] = {
		"limit=0",
		"limit=1001",
		"limit=-1",
		"limit=1x",
		"limit=00001",
		"limit=99999999999999999999",
		"limit=%00",
		"limit=%zz",
		"limit= 1",
		"state=run",
		"state=RUNS",
		"state=%00",
		"state=waits%00x",
		"user=ann",
		"limit",
		"limit=1&&",
		"x",
		"&limit=1",
		"limit=1;state=runs",
		"state=waits.......................................................",
	};

	(void)state;
	F.e.jobs = three;
	F.e.njobs = 3;
	for (size_t i = 0; i < sizeof(queries) / sizeof(queries[0]); i++)
		assert_int_equal(status("GET", "/jobs", queries[i]), 400);
}

static void nobody_sees_what_slurmctld_hides(void **state)
{
	struct http_answer an;

	(void)state;
	F.e.jobs = three;
	F.e.njobs = 3;
	F.e.jobs_private = "PrivateData";
	an = ask("GET", "/jobs", "");
	assert_int_equal(an.status, 403);
	assert_string_equal(an.body, "PrivateData");
	free(an.body);
	F.e.jobs_private = ""; /* not known yet */
	an = ask("GET", "/jobs", "");
	assert_int_equal(an.status, 503);
	assert_int_equal(an.retry_after_s, 60);
	assert_null(strstr(an.body, "7_2"));
	free(an.body);
	F.e.jobs_private = NULL;
	F.e.conf->listen_jobs = false;
	an = ask("GET", "/jobs", "");
	assert_int_equal(an.status, 404);
	assert_non_null(strstr(an.body, "listen_jobs"));
	free(an.body);
}

/* As many as there may be, with names as long as they may be. */
static void the_largest_table_is_whole(void **state)
{
	static struct engine_joblist_job many[JOB_TABLE_MAX];
	char id[32], partition[128];
	json_t *t;

	(void)state;
	memset(id, '7', sizeof(id) - 1);
	id[sizeof(id) - 1] = '\0';
	memset(partition, '"', sizeof(partition) - 1); /* each is two in JSON */
	partition[sizeof(partition) - 1] = '\0';
	for (size_t i = 0; i < JOB_TABLE_MAX; i++)
		many[i] = (struct engine_joblist_job){.number = UINT32_MAX,
						      .id = id,
						      .partition = partition,
						      .state = ENGINE_JOBLIST_WAITS,
						      .reason = NODE_BECAUSE_UNREACHABLE,
						      .nodes = UINT32_MAX,
						      .refusals = UINT32_MAX,
						      .since_ms = FAKE_NOW,
						      .until_ms = FAKE_NOW};
	F.e.jobs = many;
	F.e.njobs = JOB_TABLE_MAX;
	t = json("/jobs", "limit=1000");
	assert_int_equal(json_array_size(json_object_get(t, "jobs")), JOB_TABLE_MAX);
	assert_true(json_is_false(json_object_get(t, "truncated")));
	json_decref(t);
	t = json("/jobs", "");
	assert_int_equal(json_array_size(json_object_get(t, "jobs")), JOB_TABLE_ROWS);
	assert_true(json_is_true(json_object_get(t, "truncated")));
	json_decref(t);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(paths_and_methods),
		TEST(only_by_address),
		TEST(nodes_that_run_are_targets),
		TEST(targets_are_written_once_a_second),
		TEST(a_job_has_all_its_fields),
		TEST(rows_by_state_and_number),
		TEST(more_than_are_remembered),
		TEST(a_wrong_question_is_refused),
		TEST(nobody_sees_what_slurmctld_hides),
		TEST(the_largest_table_is_whole),
	};

	return cmocka_run_group_tests_name("pages", tests, NULL, NULL);
}
