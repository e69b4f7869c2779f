/* test_simcloud_openstack.c - servers by Nova's face of simcloud, over HTTP, as a client that is
 * logged in sees them. */
#include "simrun_openstack.h"

static void test_servers_of_one_create_live_and_end(void **state)
{
	const json_t *s;
	char id[64], other[64];

	(void)state;
	create("\"min_count\":3,\"tags\":[\"c1\",\"t2\",\"c1\"]," NODES);
	header("Location: http");
	header("x-openstack-request-id: req-5c000000-0000-4000-8000-");
	(void)snprintf(id, sizeof(id), "%.62s", strstr(headers_seen, "x-compute-request-id: "));
	memcpy(other, id, sizeof(other));
	(void)snprintf(id, sizeof(id), "%s", text_of(json_object_get(R.json, "server"), "id"));
	s = listed("?tags=c1,t2", 2, 3);
	assert_null(strstr(headers_seen, strstr(other, "req-"))); /* each has its own */
	assert_string_equal(text_of(s, "id"), id);
	assert_string_equal(text_of(s, "name"), "n-1");
	assert_string_equal(text_of(s, "status"), "ACTIVE");
	assert_int_equal(json_array_size(json_object_get(s, "tags")), 2);
	assert_string_equal(text_of(json_object_get(s, "flavor"), "original_name"), "gpu_8x_h100");
	assert_non_null(strstr(R.body.p, "\"addr\":\"10.77."));
	ask("DELETE", path_of(id), NULL, 204);
	usleep(20000);
	says("GET", path_of(id), NULL, 404, "could not be found.");
	says("DELETE", path_of(id), NULL, 404, "itemNotFound");
	(void)listed("", 0, 2);
}

#define RESET(state) "{\"os-resetState\":{" state "}}"

/* An admin says so; the machine runs on, and nobody says of what it would have failed. */
static void test_a_server_in_error_may_run(void **state)
{
	char path[300], id[64];
	const json_t *s;

	(void)state;
	create("\"min_count\":1");
	(void)snprintf(id, sizeof(id), "%s", text_of(json_object_get(R.json, "server"), "id"));
	(void)snprintf(path, sizeof(path), "%s/action", path_of(id));
	ask("POST", path, RESET("\"state\":\"error\""), 202);
	s = listed("", 0, 1);
	assert_string_equal(text_of(s, "status"), "ERROR");
	assert_string_equal(text_of(s, "OS-EXT-STS:vm_state"), "error");
	assert_int_equal(json_integer_value(json_object_get(s, "OS-EXT-STS:power_state")), 1);
	assert_true(json_is_string(json_object_get(s, "OS-SRV-USG:launched_at")));
	assert_null(json_object_get(s, "fault"));
	(void)listed("?status=ACTIVE", 0, 0);
	ask("POST", path, RESET("\"state\":\"active\""), 202);
	(void)listed("?status=ACTIVE", 0, 1);
	says("POST", path, RESET("\"state\":\"deleted\""), 400, "state");
	says("POST", path, RESET("\"state\":7"), 400, "state");
	says("POST", path, RESET("\"state\":\"error\",\"x\":1"), 400, "os-resetState");
	says("POST", path, RESET(""), 400, "state");
	says("POST", path, "{\"os-resetState\":{\"state\":\"error\"},\"x\":1}", 400,
	     "no such action");
	says("POST", "/v2.1/servers/" NOBODY "/action", RESET("\"state\":\"error\""), 404,
	     "could not be found.");
	(void)listed("?status=ACTIVE", 0, 1);
}

#define CONSOLE(length) "{\"os-getConsoleOutput\":{" length "}}"

static void test_a_console_is_told_by_lines(void **state)
{
	char path[300];

	(void)state;
	create("\"min_count\":1");
	(void)snprintf(path, sizeof(path), "%s/action",
		       path_of(text_of(json_object_get(R.json, "server"), "id")));
	says("POST", path, CONSOLE(""), 200, "simcloud: instance ");
	says("POST", path, CONSOLE("\"length\":null"), 200, "simcloud: instance ");
	says("POST", path, CONSOLE("\"length\":\"2\""), 200, "simcloud: instance ");
	says("POST", path, CONSOLE("\"length\":1"), 200,
	     "{\"output\":\"[    1.000000] simcloud: no ");
	says("POST", path, CONSOLE("\"length\":0"), 200, "{\"output\":\"\"}");
	says("POST", path, CONSOLE("\"length\":\"-1\""), 200, "simcloud: instance ");
	says("POST", path, CONSOLE("\"length\":true"), 400, "length");
	says("POST", path, CONSOLE("\"length\":-2"), 400, "length");
	says("POST", path, CONSOLE("\"length\":\"\""), 400, "length");
	says("POST", path, CONSOLE("\"lines\":1"), 400, "os-getConsoleOutput");
	says("POST", path, "{\"reboot\":{}}", 400, "no such action");
	says("POST", path, "{", 400, "Malformed");
	says("POST", "/v2.1/servers/" NOBODY "/action", CONSOLE(""), 404, "could not be found.");
	simrun_do(&S, "POST", "/admin/config", "{\"boot\":\"1h\"}");
	create("\"min_count\":1");
	(void)snprintf(path, sizeof(path), "%s/action",
		       path_of(text_of(json_object_get(R.json, "server"), "id")));
	says("POST", path, CONSOLE(""), 409, "is not ready");
}

static void test_the_meter_knows_the_nodes_by_metadata(void **state)
{
	json_t *meter, *row;

	(void)state;
	create("\"min_count\":2," NODES);
	meter = simrun_ask(&S, "GET", "/admin/meter?cluster=k", NULL, 200);
	row = json_array_get(json_object_get(meter, "rows"), 1);
	assert_string_equal(text_of(row, "name"), "c2");
	assert_int_equal(simrun_int(row, "generation"), 7);
	assert_string_equal(text_of(row, "market"), "on-demand");
	json_decref(meter);
}

static void test_the_meter_knows_a_node_by_its_name(void **state)
{
	json_t *meter, *row;
	char body[512];

	(void)state;
	(void)snprintf(body, sizeof(body),
		       "{\"server\":{\"name\":\"b0b1c2d3e0000-a-gpu-7\",\"flavorRef\":\"%s\"," IMAGE
		       ",\"networks\":\"auto\"}}",
		       flavor);
	ask("POST", "/v2.1/servers", body, 202);
	meter = simrun_ask(&S, "GET", "/admin/meter", NULL, 200);
	row = json_array_get(json_object_get(meter, "rows"), 0);
	assert_string_equal(text_of(row, "name"), "gpu-7");
	assert_int_equal(simrun_int(row, "generation"), 10);
	assert_string_equal(text_of(row, "cluster"), "0b1c2d3e0000");
	json_decref(meter);
}

static void test_a_server_being_deleted_is_active_with_a_task(void **state)
{
	char id[64];
	const json_t *s;

	(void)state;
	create("");
	(void)snprintf(id, sizeof(id), "%s", text_of(json_object_get(R.json, "server"), "id"));
	admin("/admin/config", "{\"stop\":\"1h\"}");
	ask("DELETE", path_of(id), NULL, 204);
	ask("DELETE", path_of(id), NULL, 204);
	ask("GET", path_of(id), NULL, 200);
	s = json_object_get(R.json, "server");
	assert_string_equal(text_of(s, "status"), "ACTIVE");
	assert_string_equal(text_of(s, "OS-EXT-STS:task_state"), "deleting");
}

/* Want of capacity shows later, and not in the answer to the create. */
static void test_servers_without_a_host_are_accepted_and_end_in_error(void **state)
{
	const json_t *s;
	char id[64];

	(void)state;
	admin("/admin/config", "{\"boot\":\"300ms\"}");
	admin("/admin/capacity", "{\"type\":\"gpu_8x_h100\",\"capacity\":2}");
	ask("POST", "/v2.1/servers", server(flavor, "\"min_count\":3"), 202);
	(void)snprintf(id, sizeof(id), "%s", text_of(json_object_get(R.json, "server"), "id"));
	s = listed("", 0, 3);
	assert_string_equal(text_of(s, "status"), "BUILD");
	assert_string_equal(text_of(s, "OS-EXT-STS:task_state"), "scheduling");
	usleep(400000);
	s = listed("?status=error", 0, 3);
	assert_string_equal(text_of(json_object_get(s, "fault"), "message"),
			    "No valid host was found. There are not enough hosts available.");
	assert_int_equal(simrun_int(json_object_get(s, "fault"), "code"), 500);
	assert_int_equal(rows(), 0);
	ask("DELETE", path_of(id), NULL, 204);
	says("GET", path_of(id), NULL, 404, id);
	(void)listed("", 0, 2);
}

static void test_what_a_partial_rule_leaves_out_finds_no_host(void **state)
{
	(void)state;
	admin("/admin/faults", "{\"op\":\"create\",\"action\":\"partial\",\"node\":\"c2\"}");
	create("\"min_count\":3," NODES);
	assert_int_equal(rows(), 2);
	assert_string_equal(text_of(listed("", 0, 3), "status"), "ACTIVE");
	assert_string_equal(text_of(listed("", 1, 3), "status"), "ERROR");
	assert_string_equal(text_of(listed("", 2, 3), "name"), "n-1");
}

static void test_a_failed_server_counts_for_the_quota_until_it_is_deleted(void **state)
{
	char id[64];

	(void)state;
	admin("/admin/config", "{\"quota\":3}");
	admin("/admin/capacity", "{\"type\":\"gpu_8x_h100\",\"capacity\":0}");
	create("\"min_count\":2");
	(void)snprintf(id, sizeof(id), "%s", text_of(json_object_get(R.json, "server"), "id"));
	says("POST", "/v2.1/servers", server(flavor, "\"min_count\":2"), 403,
	     "{\"forbidden\":{\"code\":403,\"message\":\"Quota exceeded for instances: Requested "
	     "2, "
	     "but already used 2 of 3 instances\"}}");
	ask("DELETE", path_of(id), NULL, 204);
	create("\"min_count\":1,\"max_count\":9"); /* as many as are left */
	(void)listed("", 0, 3);
	says("POST", "/v2.1/servers", server(flavor, "\"max_count\":9"), 403, "Requested 1-9, but");
	says("GET", "/v2.1/limits", NULL, 200, "\"totalInstancesUsed\":3");
}

static void test_the_youngest_are_listed_first_and_in_pages(void **state)
{
	const char *next;
	size_t n = 0;
	char path[512] = "/v2.1/servers?limit=2";

	(void)state;
	create("\"min_count\":4,\"tags\":[\"c1\"]");
	for (int pages = 0; pages < 3; pages++) {
		ask("GET", path, NULL, 200);
		n += json_array_size(json_object_get(R.json, "servers"));
		if (pages == 2)
			break; /* a full page has a link, though there is no more */
		next = text_of(json_array_get(json_object_get(R.json, "servers_links"), 0), "href");
		(void)snprintf(path, sizeof(path), "%s", next + strlen(S.url));
	}
	assert_int_equal(n, 4);
	assert_null(json_object_get(R.json, "servers_links"));
	assert_string_equal(text_of(listed("?tags=c1", 0, 4), "name"), "n-4");
	(void)listed("?tags=c1,c2", 0, 0);
	(void)listed("?tags-any=c1,c2", 0, 4);
	(void)listed("?not-tags=c1", 0, 0);
	(void)listed("?name=n-3", 0, 1);
	(void)listed("?limit=0", 0, 0);
	admin("/admin/config", "{\"page_max\":3}");
	(void)listed("", 0, 3);
	assert_non_null(json_object_get(R.json, "servers_links"));
}

static void test_a_reservation_leads_to_its_servers(void **state)
{
	char query[64];

	(void)state;
	create("");
	create("\"return_reservation_id\":true,\"min_count\":2");
	(void)snprintf(query, sizeof(query), "?reservation_id=%.20s",
		       text_of(R.json, "reservation_id"));
	(void)listed(query, 0, 2);
}

static void test_what_was_accepted_is_listed_later(void **state)
{
	char id[64];

	(void)state;
	admin("/admin/config", "{\"visible\":\"300ms\"}");
	ask("POST", "/v2.1/servers", server(flavor, ""), 202);
	(void)snprintf(id, sizeof(id), "%s", text_of(json_object_get(R.json, "server"), "id"));
	(void)listed("", 0, 0);
	ask("GET", path_of(id), NULL, 404);
	usleep(400000);
	(void)listed("", 0, 1);
}

static void test_a_preemptible_flavor_is_spot_and_vanishes(void **state)
{
	char spot[64];
	json_t *meter;

	(void)state;
	(void)flavor_named(spot, "gpu_8x_h100.spot");
	ask("POST", "/v2.1/servers", server(spot, NODES), 202);
	usleep(20000);
	assert_string_equal(text_of(listed("", 0, 1), "status"), "ACTIVE");
	assert_non_null(strstr(R.body.p, "\"trait:CUSTOM_PREEMPTIBLE\":\"required\""));
	meter = simrun_ask(&S, "GET", "/admin/meter", NULL, 200);
	assert_string_equal(text_of(json_array_get(json_object_get(meter, "rows"), 0), "market"),
			    "spot");
	json_decref(meter);
	admin("/admin/reclaim", "{\"node\":\"c1\",\"notice_ms\":0}");
	usleep(50000);
	(void)listed("", 0, 0);
}

static void test_a_killed_server_is_shut_off_until_it_is_deleted(void **state)
{
	char id[64];

	(void)state;
	create(NODES);
	(void)snprintf(id, sizeof(id), "%s", text_of(json_object_get(R.json, "server"), "id"));
	admin("/admin/kill", "{\"node\":\"c1\"}");
	assert_string_equal(text_of(listed("", 0, 1), "status"), "SHUTOFF");
	ask("DELETE", path_of(id), NULL, 204);
	(void)listed("", 0, 0);
}

static void test_a_region_knows_its_own_servers_only(void **state)
{
	char id[64];

	(void)state;
	create("");
	(void)snprintf(id, sizeof(id), "%s", text_of(json_object_get(R.json, "server"), "id"));
	says("GET", "/compute/eu-north-1/v2.1/servers", NULL, 200, id);
	says("GET", "/compute/eu-west-1/v2.1/servers", NULL, 200, "{\"servers\":[]}");
	says("GET", "/compute/eu-west-1/v2.1/os-availability-zone", NULL, 200, "eu-west-1b");
}

static void test_a_group_that_keeps_together_is_a_fabric(void **state)
{
	char id[64], path[128], body[1024];

	(void)state;
	admin("/admin/config", "{\"fabric_size\":2}");
	ask("POST", "/v2.1/os-server-groups",
	    "{\"server_group\":{\"name\":\"g\",\"policy\":\"affinity\"}}", 200);
	(void)snprintf(id, sizeof(id), "%s",
		       text_of(json_object_get(R.json, "server_group"), "id"));
	(void)snprintf(path, sizeof(path), "/v2.1/os-server-groups/%s", id);
	(void)snprintf(body, sizeof(body),
		       "{\"server\":{\"name\":\"n\",\"flavorRef\":\"%s\"," IMAGE
		       ",\"networks\":\"none\",\"availability_zone\":\"eu-north-1a\","
		       "\"min_count\":2},\"os:scheduler_hints\":{\"group\":\"%s\"}}",
		       flavor, id);
	ask("POST", "/v2.1/servers", body, 202);
	usleep(20000);
	assert_string_equal(text_of(listed("", 1, 2), "status"), "ACTIVE");
	ask("GET", path, NULL, 200);
	assert_int_equal(json_array_size(json_object_get(json_object_get(R.json, "server_group"),
							 "members")),
			 2);
	ask("POST", "/v2.1/servers", body, 202); /* the block is full */
	usleep(20000);
	assert_string_equal(text_of(listed("", 0, 4), "status"), "ERROR");
	says("GET", "/v2.1/os-server-groups", NULL, 200, id);
	ask("DELETE", path, NULL, 204);
	says("GET", path, NULL, 404, "Instance group ");
}

static void test_microversions_change_what_is_shown(void **state)
{
	(void)state;
	create("\"tags\":[\"c1\"]");
	(void)snprintf(version, sizeof(version), "2.25");
	assert_null(json_object_get(listed("", 0, 1), "tags"));
	assert_non_null(json_object_get(json_object_get(listed("", 0, 1), "flavor"), "id"));
	header("OpenStack-API-Version: compute 2.25");
	version[0] = '\0';
	assert_null(json_object_get(listed("", 0, 1), "locked"));
	header("X-OpenStack-Nova-API-Version: 2.1\r");
	(void)snprintf(version, sizeof(version), "latest");
	assert_non_null(json_object_get(listed("", 0, 1), "pinned_availability_zone"));
	header("X-OpenStack-Nova-API-Version: 2.96\r");
}

static void test_faults_of_other_clouds_happen_here_too(void **state)
{
	(void)state;
	create("\"min_count\":2");
	admin("/admin/faults", "{\"op\":\"list\",\"action\":\"empty\",\"count\":1}");
	(void)listed("", 0, 0);
	(void)listed("", 0, 2);
	admin("/admin/faults",
	      "{\"op\":\"create\",\"action\":\"late\",\"ms\":1,\"code\":\"internal\"}");
	says("POST", "/v2.1/servers", server(flavor, ""), 500, "{\"computeFault\":{\"code\":500");
	usleep(50000);
	(void)listed("", 0, 3);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
		T(test_servers_of_one_create_live_and_end),
		T(test_a_server_in_error_may_run),
		T(test_a_console_is_told_by_lines),
		T(test_the_meter_knows_the_nodes_by_metadata),
		T(test_the_meter_knows_a_node_by_its_name),
		T(test_a_server_being_deleted_is_active_with_a_task),
		T(test_servers_without_a_host_are_accepted_and_end_in_error),
		T(test_what_a_partial_rule_leaves_out_finds_no_host),
		T(test_a_failed_server_counts_for_the_quota_until_it_is_deleted),
		T(test_the_youngest_are_listed_first_and_in_pages),
		T(test_a_reservation_leads_to_its_servers),
		T(test_what_was_accepted_is_listed_later),
		T(test_a_preemptible_flavor_is_spot_and_vanishes),
		T(test_a_killed_server_is_shut_off_until_it_is_deleted),
		T(test_a_region_knows_its_own_servers_only),
		T(test_a_group_that_keeps_together_is_a_fabric),
		T(test_microversions_change_what_is_shown),
		T(test_faults_of_other_clouds_happen_here_too),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
