/* test_simcloud_lambda_refuse.c - what Lambda's face of simcloud refuses, and in which words: each
 * error of the API description, and all faults on demand. */
#include "simrun_lambda.h"

#define LAUNCH_PATH    "instance-operations/launch"
#define TERMINATE_PATH "instance-operations/terminate"
#define GONE           "global/object-does-not-exist"
#define MALFORMED      "global/invalid-parameters"

static void test_the_key_is_a_bearer_or_the_user_of_basic(void **state)
{
	/* printf 'secret_lab.k3y:' | base64 */
	static const struct {
		const char *header;
		long status;
	} rows[] = {
		{BEARER, 200},
		{"Authorization: Basic c2VjcmV0X2xhYi5rM3k6", 200},
		{"Authorization: Basic secret_lab.k3y", 200},
		{"Authorization: Basic c2VjcmV0X2xhYi5rM3k=", 401},     /* no colon */
		{"Authorization: Basic c2VjcmV0X2xhYi5rM3k6eA==", 401}, /* a password */
		{"Authorization: Basic c2VjcmV0X2xhYi5rM3o6", 401},     /* another key */
		{"Authorization: Basic secret_lab.k3z", 401},
		{"Authorization: Bearer secret_lab.k3z", 401},
		{"Authorization: secret_lab.k3y", 401},
		{NULL, 401},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct simrun_reply r;
		const json_t *e;

		send_as(&r, rows[i].header, "GET", "instances", NULL);
		if (r.status != rows[i].status)
			fail_msg("%s: %ld", rows[i].header, r.status);
		e = json_object_get(r.json, "error");
		if (r.status == 401) {
			assert_string_equal(text(e, "code"), "global/invalid-api-key");
			assert_string_equal(text(e, "message"),
					    "API key was invalid, expired, or deleted.");
			assert_string_equal(
				text(e, "suggestion"),
				"Check your API key or create a new one, then try again.");
		}
		simrun_done(&r);
	}
}

static void test_without_a_token_file_any_key_will_do(void **state)
{
	struct simrun_reply r;

	(void)state;
	assert_int_equal(simrun_stop(&S, SIGTERM), 0);
	simrun_start(&S, NULL);
	send_as(&r, "Authorization: Bearer x", "GET", "instances", NULL);
	assert_int_equal(r.status, 200);
	simrun_done(&r);
}

static void test_a_malformed_launch_is_refused(void **state)
{
#define KEYED(more) "{\"region_name\":\"r\",\"instance_type_name\":\"t\"" more "}"
	static const struct {
		const char *body, *words;
	} rows[] = {
		{"", "body"},
		{"[]", "want an object"},
		{"{", "body"},
		{LAUNCH(",\"quantity\":1"), "unknown key \"quantity\""},
		{"{\"instance_type_name\":\"t\",\"ssh_key_names\":[\"k\"]}", "region_name"},
		{"{\"region_name\":\"r\",\"ssh_key_names\":[\"k\"]}", "instance_type_name"},
		{KEYED(""), "ssh_key_names"},
		{KEYED(",\"ssh_key_names\":[]"), "ssh_key_names"},
		{KEYED(",\"ssh_key_names\":[\"a\",\"b\"]"), "exactly one"},
		{KEYED(",\"ssh_key_names\":[1]"), "ssh_key_names"},
		{KEYED(",\"ssh_key_names\":\"a\""), "ssh_key_names"},
		{LAUNCH(",\"name\":\"0123456789012345678901234567890123456789012345678901234567890"
			"1234\""),
		 "name"},
		{LAUNCH(",\"name\":null"), "name"},
		{LAUNCH(",\"name\":1"), "name"},
		{LAUNCH(",\"hostname\":\"\""), "hostname"},
		{LAUNCH(",\"hostname\":\"-a\""), "hostname"},
		{LAUNCH(",\"hostname\":\"A\""), "hostname"},
		{LAUNCH(",\"hostname\":\"a.b\""), "hostname"},
		{LAUNCH(",\"hostname\":\"0123456789012345678901234567890123456789012345678901234567"
			"890123\""),
		 "hostname"},
		{LAUNCH(",\"image\":\"i\""), "image"},
		{LAUNCH(",\"image\":{}"), "image"},
		{LAUNCH(",\"image\":{\"id\":1}"), "image"},
		{LAUNCH(",\"image\":{\"name\":\"i\"}"), "image"},
		{LAUNCH(",\"user_data\":1"), "user_data"},
		{LAUNCH(",\"user_data\":null"), "user_data"},
		{LAUNCH(",\"tags\":{\"a\":\"b\"}"), "tags"},
		{LAUNCH(",\"tags\":[{\"key\":\"ab\"}]"), "value"},
		{LAUNCH(",\"tags\":[{\"value\":\"ab\"}]"), "key"},
		{LAUNCH(",\"tags\":[{\"key\":\"a\",\"value\":\"v\"}]"), "tags"},
		{LAUNCH(",\"tags\":[{\"key\":\"1b\",\"value\":\"v\"}]"), "tags"},
		{LAUNCH(",\"tags\":[{\"key\":\"a_b\",\"value\":\"v\"}]"), "tags"},
		{LAUNCH(",\"tags\":[{\"key\":\"ab\",\"value\":\"v\",\"more\":1}]"), "more"},
		{LAUNCH(",\"tags\":[{\"key\":\"ab\",\"value\":\"v\"},{\"key\":\"ab\",\"value\":"
			"\"w\"}]"),
		 "twice"},
		{LAUNCH(",\"firewall_rulesets\":{}"), "firewall_rulesets"},
		{LAUNCH(",\"firewall_rulesets\":[{\"name\":\"x\"}]"), "firewall_rulesets"},
		{LAUNCH(",\"file_system_names\":\"x\""), "file_system_names"},
		{LAUNCH(",\"file_system_mounts\":{}"), "file_system_mounts"},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++)
		refused("POST", LAUNCH_PATH, rows[i].body, 400, MALFORMED, rows[i].words);
	assert_int_equal(listed(), 0);
}

static void test_the_longest_of_everything_is_taken(void **state)
{
	char id[32], body[2048], *big;
	struct str s;

	(void)state;
	(void)snprintf(
		body, sizeof(body),
		"{\"region_name\":\"eu-north-1\",\"instance_type_name\":\"cpu_4x\","
		"\"ssh_key_names\":[\"k\"],\"file_system_names\":[],\"file_system_mounts\":[],"
		"\"name\":\"%064d\",\"hostname\":\"%063d\",\"image\":{\"id\":\"i\"},"
		"\"tags\":[{\"key\":\"k%054d\",\"value\":\"%0128d\"}]}",
		0, 0, 0, 0);
	launch(id, body);
	str_init(&s, 1 << 21);
	str_adds(&s, "{\"region_name\":\"eu-north-1\",\"instance_type_name\":\"cpu_4x\","
		     "\"ssh_key_names\":[\"k\"],\"user_data\":\"");
	for (int i = 0; i < 1000000; i += 100)
		str_addf(&s, "%0100d", 0);
	big = mem_strdup(s.p);
	str_adds(&s, "\"}");
	launch(id, s.p);
	str_clear(&s);
	str_addf(&s, "%s1\"}", big);
	refused("POST", LAUNCH_PATH, s.p, 400, MALFORMED, "user_data");
	free(big);
	str_fini(&s);
}

static void test_a_malformed_terminate_is_refused(void **state)
{
	static const char *const rows[] = {
		"",
		"{}",
		"{\"instance_ids\":[]}",
		"{\"instance_ids\":\"sim-00000000\"}",
		"{\"instance_ids\":[1]}",
		"{\"instance_ids\":[\"sim-00000000\"],\"force\":true}",
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++)
		refused("POST", TERMINATE_PATH, rows[i], 400, MALFORMED, NULL);
}

static void test_what_there_is_not_is_said(void **state)
{
	static const struct {
		const char *method, *path, *body;
		long status;
		const char *code;
	} rows[] = {
		{"GET", "instances/sim-00000000", NULL, 404, GONE},
		{"GET", "instances/0920582c7ff041399e34823a0be62549", NULL, 404, GONE},
		{"GET", "instances/", NULL, 400, MALFORMED},
		{"POST", LAUNCH_PATH,
		 "{\"region_name\":\"eu-north-1\",\"instance_type_name\":\"gpu_8x_b200\","
		 "\"ssh_key_names\":[\"k\"]}",
		 404, GONE},
		{"POST", LAUNCH_PATH,
		 "{\"region_name\":\"us-east-1\",\"instance_type_name\":\"gpu_8x_h100\","
		 "\"ssh_key_names\":[\"k\"]}",
		 404, GONE},
		{"POST", LAUNCH_PATH, LAUNCH(",\"file_system_names\":[\"f\"]"), 400, GONE},
		{"POST", LAUNCH_PATH,
		 LAUNCH(",\"file_system_mounts\":[{\"mount_point\":\"/data\",\"file_system_id\":"
			"\"f\"}]"),
		 400, GONE},
		{"GET", "nothing", NULL, 404, "global/not-found"},
		{"GET", LAUNCH_PATH, NULL, 404, "global/not-found"},
		{"DELETE", "instances/sim-00000000", NULL, 404, "global/not-found"},
		{"GET", "topology/instance?page_token=x", NULL, 400, MALFORMED},
		{"GET", "topology/instance?page_token=c-1", NULL, 400, MALFORMED},
		{"GET", "topology/instance?page_token=c99999999", NULL, 400, MALFORMED},
		{"GET", "topology/instance?page_size=0", NULL, 400, MALFORMED},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++)
		refused(rows[i].method, rows[i].path, rows[i].body, rows[i].status, rows[i].code,
			NULL);
}

static void test_no_capacity_and_no_quota_are_bad_requests(void **state)
{
	json_t *e, *stats;

	(void)state;
	simrun_do(&S, "POST", "/admin/capacity", "{\"type\":\"gpu_8x_h100\",\"capacity\":0}");
	refused("POST", LAUNCH_PATH, LAUNCH(""), 400,
		"instance-operations/launch/insufficient-capacity",
		"Not enough capacity to fulfill launch request.");
	simrun_do(&S, "POST", "/admin/config", "{\"quota\":0}");
	e = ask("POST", LAUNCH_PATH, LAUNCH(""), 400);
	assert_string_equal(text(e, "code"), "global/quota-exceeded");
	assert_string_equal(text(e, "message"), "Quota exceeded.");
	assert_string_equal(text(e, "suggestion"), "Contact Support to increase your quota.");
	json_decref(e);
	stats = simrun_ask(&S, "GET", "/admin/stats", NULL, 200);
	assert_int_equal(
		simrun_int(json_object_get(json_object_get(stats, "ops"), "create"), "refused"), 2);
	json_decref(stats);
}

/* A rule's code becomes Lambda's, unless its message begins with one. */
static void test_a_rule_may_give_any_error(void **state)
{
	static const struct {
		const char *rule;
		long status;
		const char *code, *words;
	} rows[] = {
		{"\"code\":\"denied\"", 403, "global/account-inactive",
		 "Your account is inactive."},
		{"\"code\":\"denied\",\"message\":\"global/invalid-address: Move.\"", 403,
		 "global/invalid-address", "Move."},
		{"\"code\":\"denied\",\"message\":\"global/forbidden: No.\"", 403,
		 "global/forbidden", "No."},
		{"\"code\":\"invalid\",\"message\":\"no: such thing\"", 400, MALFORMED,
		 "no: such thing"},
		{"\"code\":\"invalid\",\"message\":\"instance-operations/launch/"
		 "file-system-in-wrong-region: Elsewhere.\"",
		 400, "instance-operations/launch/file-system-in-wrong-region", "Elsewhere."},
		{"\"code\":\"quota\"", 400, "global/quota-exceeded", "Quota exceeded."},
		{"\"code\":\"not-found\"", 404, GONE, "Specified instance does not exist."},
		{"\"code\":\"token-mismatch\"", 400, "global/duplicate", "another request"},
		{"\"code\":\"not-yet\"", 409, "global/conflict", "current state"},
		{"\"code\":\"internal\"", 500, "global/internal-error",
		 "An internal server error occurred."},
		{"\"code\":\"internal\",\"status\":503,\"message\":\"provider/"
		 "internal-unavailable: "
		 "Provider unavailable\"",
		 503, "provider/internal-unavailable", "Provider unavailable"},
		{"\"code\":\"rate\",\"message\":\"global/too-many: Wait.\"", 429, "global/too-many",
		 "Wait."},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		char rule[512];

		(void)snprintf(rule, sizeof(rule),
			       "{\"op\":\"create\",\"action\":\"error\",\"count\":1,%s}",
			       rows[i].rule);
		simrun_do(&S, "POST", "/admin/faults", rule);
		refused("POST", LAUNCH_PATH, LAUNCH(""), rows[i].status, rows[i].code,
			rows[i].words);
	}
	assert_int_equal(listed(), 0);
}

/* One launch in twelve seconds; what refuses the next is not Lambda, but what stands before it. */
static void test_a_launch_too_early_is_refused_at_the_edge(void **state)
{
	struct simrun_reply r;
	char id[32];

	(void)state;
	simrun_do(&S, "POST", "/admin/config",
		  "{\"buckets\":{\"create\":{\"rate\":0.084,\"burst\":1}}}");
	launch(id, LAUNCH(""));
	send_as(&r, BEARER, "POST", LAUNCH_PATH, LAUNCH(""));
	assert_int_equal(r.status, 429);
	assert_string_equal(r.retry_after, "12");
	assert_string_equal(r.body.p, "error code: 1015");
	simrun_done(&r);
	assert_int_equal(listed(), 1);
}

/* --- faults ----------------------------------------------------------------------------------- */

static void fault(const char *rule)
{
	simrun_do(&S, "DELETE", "/admin/faults", NULL);
	simrun_do(&S, "POST", "/admin/faults", rule);
}

static void test_a_reply_may_be_lost_or_spoilt_and_the_instance_is_there(void **state)
{
	struct simrun_reply r;

	(void)state;
	fault("{\"op\":\"create\",\"action\":\"drop-reply\",\"node\":\"h100-7\"}");
	send_as(&r, BEARER, "POST", LAUNCH_PATH, LAUNCH(TAGS));
	assert_int_not_equal(r.rc, CURLE_OK);
	simrun_done(&r);
	assert_int_equal(listed(), 1);
	fault("{\"op\":\"create\",\"action\":\"truncate\"}");
	send_as(&r, BEARER, "POST", LAUNCH_PATH, LAUNCH(TAGS));
	assert_int_equal(r.status, 200);
	assert_null(r.json);
	simrun_done(&r);
	assert_int_equal(listed(), 2);
	fault("{\"op\":\"create\",\"action\":\"garbage\"}");
	send_as(&r, BEARER, "POST", LAUNCH_PATH, LAUNCH(TAGS));
	assert_int_equal(r.status, 200);
	assert_non_null(strstr(r.body.p, "<html>"));
	simrun_done(&r);
	assert_int_equal(listed(), 3);
	fault("{\"op\":\"create\",\"action\":\"drop-request\"}");
	send_as(&r, BEARER, "POST", LAUNCH_PATH, LAUNCH(TAGS));
	assert_int_not_equal(r.rc, CURLE_OK);
	simrun_done(&r);
	assert_int_equal(listed(), 3);
}

/* F3: an error now, and the instance comes all the same. */
static void test_an_error_may_be_a_lie(void **state)
{
	(void)state;
	fault("{\"op\":\"create\",\"action\":\"late\",\"ms\":300,\"code\":\"internal\"}");
	refused("POST", LAUNCH_PATH, LAUNCH(TAGS), 500, "global/internal-error", NULL);
	assert_int_equal(listed(), 0);
	for (int i = 0; i < 500 && listed() == 0; i++)
		usleep(10000);
	assert_int_equal(listed(), 1);
	fault("{\"op\":\"create\",\"action\":\"error\",\"when\":\"after\",\"code\":\"internal\"}");
	refused("POST", LAUNCH_PATH, LAUNCH(TAGS), 500, "global/internal-error", NULL);
	assert_int_equal(listed(), 2);
}

static void test_a_launch_is_held_until_it_is_released(void **state)
{
	pid_t child;
	int status;
	json_t *held;
	size_t n = 0;

	(void)state;
	fault("{\"op\":\"create\",\"action\":\"hold\"}");
	child = fork();
	if (child == 0) {
		struct simrun_reply r;

		send_as(&r, BEARER, "POST", LAUNCH_PATH, LAUNCH(TAGS));
		_exit(r.status == 200 ? 0 : 1);
	}
	for (int i = 0; i < 500 && n == 0; i++) {
		held = simrun_ask(&S, "GET", "/admin/held", NULL, 200);
		n = json_array_size(json_object_get(held, "held"));
		if (n == 1)
			assert_string_equal(
				text(json_array_get(json_object_get(held, "held"), 0), "node"),
				"h100-7");
		json_decref(held);
		usleep(10000);
	}
	assert_int_equal(n, 1);
	assert_int_equal(listed(), 0);
	simrun_do(&S, "POST", "/admin/release", "{}");
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
	assert_int_equal(listed(), 1);
}

static size_t with_topology(void)
{
	json_t *d = ask("GET", "topology/instance", NULL, 200);
	size_t n = json_array_size(d);

	json_decref(d);
	return n;
}

/* F4, F16, F17 */
static void test_a_list_a_launch_and_a_terminate_may_be_partial(void **state)
{
	char id[2][32], body[128];
	json_t *d;

	(void)state;
	launch(id[0], LAUNCH(",\"name\":\"n1\""));
	launch(id[1], LAUNCH(",\"name\":\"n2\""));
	fault("{\"op\":\"list\",\"action\":\"partial\",\"node\":\"n1\"}");
	assert_int_equal(listed(), 1);
	fault("{\"op\":\"list\",\"action\":\"partial\"}");
	assert_int_equal(listed(), 1);
	fault("{\"op\":\"list\",\"action\":\"empty\"}");
	assert_int_equal(listed(), 0);
	fault("{\"op\":\"fabric\",\"action\":\"partial\"}");
	assert_int_equal(with_topology(), 1);
	fault("{\"op\":\"fabric\",\"action\":\"empty\"}");
	assert_int_equal(with_topology(), 0);
	fault("{\"op\":\"create\",\"action\":\"partial\"}");
	refused("POST", LAUNCH_PATH, LAUNCH(""), 400,
		"instance-operations/launch/insufficient-capacity", NULL);
	fault("{\"op\":\"delete\",\"action\":\"partial\",\"node\":\"n1\"}");
	(void)snprintf(body, sizeof(body), "{\"instance_ids\":[\"%s\",\"%s\"]}", id[0], id[1]);
	d = ask("POST", TERMINATE_PATH, body, 200);
	assert_int_equal(json_array_size(json_object_get(d, "terminated_instances")), 1);
	json_decref(d);
	becomes(id[1], "terminated");
	becomes(id[0], "active");
}

/* Before its time an instance is not among those that were terminated. */
static void test_an_instance_that_may_not_go_yet_is_left_out(void **state)
{
	char id[32], body[128];
	json_t *d;

	(void)state;
	simrun_do(&S, "POST", "/admin/config", "{\"min_rental\":\"1h\"}");
	launch(id, LAUNCH(""));
	(void)snprintf(body, sizeof(body), "{\"instance_ids\":[\"%s\"]}", id);
	d = ask("POST", TERMINATE_PATH, body, 200);
	assert_int_equal(json_array_size(json_object_get(d, "terminated_instances")), 0);
	json_decref(d);
	becomes(id, "active");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_the_key_is_a_bearer_or_the_user_of_basic,
						setup, teardown),
		cmocka_unit_test_setup_teardown(test_without_a_token_file_any_key_will_do, setup,
						teardown),
		cmocka_unit_test_setup_teardown(test_a_malformed_launch_is_refused, setup,
						teardown),
		cmocka_unit_test_setup_teardown(test_the_longest_of_everything_is_taken, setup,
						teardown),
		cmocka_unit_test_setup_teardown(test_a_malformed_terminate_is_refused, setup,
						teardown),
		cmocka_unit_test_setup_teardown(test_what_there_is_not_is_said, setup, teardown),
		cmocka_unit_test_setup_teardown(test_no_capacity_and_no_quota_are_bad_requests,
						setup, teardown),
		cmocka_unit_test_setup_teardown(test_a_rule_may_give_any_error, setup, teardown),
		cmocka_unit_test_setup_teardown(test_a_launch_too_early_is_refused_at_the_edge,
						setup, teardown),
		cmocka_unit_test_setup_teardown(
			test_a_reply_may_be_lost_or_spoilt_and_the_instance_is_there, setup,
			teardown),
		cmocka_unit_test_setup_teardown(test_an_error_may_be_a_lie, setup, teardown),
		cmocka_unit_test_setup_teardown(test_a_launch_is_held_until_it_is_released, setup,
						teardown),
		cmocka_unit_test_setup_teardown(test_a_list_a_launch_and_a_terminate_may_be_partial,
						setup, teardown),
		cmocka_unit_test_setup_teardown(test_an_instance_that_may_not_go_yet_is_left_out,
						setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
