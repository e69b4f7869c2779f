/* test_simcloud_lambda.c - Lambda's face of simcloud, over HTTP: what a driver relies on. */
#include "simrun_lambda.h"

static void test_one_launch_is_one_instance_that_becomes_active(void **state)
{
	char id[32];
	json_t *o;

	(void)state;
	launch(id,
	       LAUNCH(",\"name\":\"My Instance\",\"hostname\":\"head-1\",\"image\":{\"family\":"
		      "\"lambda-stack-24-04\"},\"user_data\":\"#!/bin/sh\",\"firewall_rulesets\":"
		      "[{\"id\":\"f\"}]" TAGS));
	becomes(id, "active");
	o = get(id);
	assert_string_equal(text(o, "id"), id);
	assert_string_equal(text(o, "name"), "My Instance");
	assert_string_equal(text(o, "hostname"), "head-1");
	assert_int_equal(strncmp(text(o, "ip"), "10.77.", 6), 0);
	assert_string_equal(text(o, "private_ip"), text(o, "ip"));
	assert_string_equal(text(json_object_get(o, "region"), "name"), "eu-north-1");
	assert_int_equal(simrun_int(json_object_get(o, "instance_type"), "price_cents_per_hour"),
			 2952);
	assert_string_equal(
		json_string_value(json_array_get(json_object_get(o, "ssh_key_names"), 0)), "lab");
	assert_int_equal(json_array_size(json_object_get(o, "tags")), 3);
	assert_string_equal(text(json_array_get(json_object_get(o, "tags"), 1), "value"), "h100-7");
	json_decref(o);
	assert_int_equal(listed(), 1);
}

static void test_without_a_host_name_it_has_one_of_its_address(void **state)
{
	char id[32];
	json_t *o;

	(void)state;
	launch(id, LAUNCH(""));
	o = get(id);
	assert_string_equal(text(o, "hostname"), text(o, "ip"));
	assert_null(json_object_get(o, "name"));
	json_decref(o);
}

static void test_nothing_is_idempotent(void **state)
{
	char one[32], two[32];

	(void)state;
	launch(one, LAUNCH(TAGS));
	launch(two, LAUNCH(TAGS));
	assert_string_not_equal(one, two);
	assert_int_equal(listed(), 2);
}

static void test_the_meter_knows_the_node_by_tags_or_else_by_name(void **state)
{
	static const struct {
		const char *body, *node, *cluster;
		json_int_t gen;
	} rows[] = {
		{LAUNCH(TAGS), "h100-7", "0b1c2d3e-0000-4000-8000-000000000001", 12},
		{LAUNCH(",\"name\":\"bdeadbeef0123-9z-h100-8\"" TAGS), "h100-7",
		 "0b1c2d3e-0000-4000-8000-000000000001", 12},
		{LAUNCH(",\"name\":\"bdeadbeef0123-1z-h100-8\""), "h100-8", "deadbeef0123", 71},
		{LAUNCH(",\"name\":\"b0b1c2d3e0000-0-c1\""), "c1", "0b1c2d3e0000", 0},
		{LAUNCH(",\"name\":\"bdeadbeef012-1-n\""), "bdeadbeef012-1-n", "", 0},
		{LAUNCH(",\"name\":\"bdeadbeef01234-1-n\""), "bdeadbeef01234-1-n", "", 0},
		{LAUNCH(",\"name\":\"bdeadbeef0123-n\""), "bdeadbeef0123-n", "", 0},
		{LAUNCH(",\"name\":\"bdeadbeef0123--n\""), "bdeadbeef0123--n", "", 0},
		{LAUNCH(",\"tags\":[{\"key\":\"burstd-node\",\"value\":\"n\"},{\"key\":\"burstd-"
			"cluster"
			"\",\"value\":"
			"\"012345678901234567890123456789012345678901234567890123456789abc"
			"\"}]"),
		 "n", "012345678901234567890123456789012345678901234567890123456789abc", 0},
		{LAUNCH(",\"tags\":[{\"key\":\"burstd-node\",\"value\":\"n\"},{\"key\":\"burstd-"
			"cluster"
			"\",\"value\":"
			"\"012345678901234567890123456789012345678901234567890123456789abcd"
			"\"}]"),
		 "n", "", 0},
		{LAUNCH(",\"name\":\"bdeadbeef0123-1-\""), "bdeadbeef0123-1-", "", 0},
		{LAUNCH(",\"name\":\"My Instance\""), "", "", 0},
		{LAUNCH(""), "", "", 0},
		{LAUNCH(",\"tags\":[{\"key\":\"burstd-node\",\"value\":\"a b\"}]"), "", "", 0},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		char id[32];
		json_t *r;

		launch(id, rows[i].body);
		r = row(i);
		assert_string_equal(text(r, "id"), id);
		assert_string_equal(text(r, "name"), rows[i].node);
		assert_string_equal(text(r, "cluster"), rows[i].cluster);
		assert_int_equal(simrun_int(r, "generation"), rows[i].gen);
		assert_string_equal(text(r, "market"), "on-demand");
		json_decref(r);
	}
}

static void test_each_status_of_the_cloud_has_one_of_lambda(void **state)
{
	char id[32], other[32], body[128];

	(void)state;
	simrun_do(&S, "POST", "/admin/config", "{\"boot\":\"200ms\",\"stop\":\"200ms\"}");
	launch(id, LAUNCH(",\"name\":\"n1\""));
	becomes(id, "booting");
	becomes(id, "active");
	simrun_do(&S, "POST", "/admin/reclaim", "{\"node\":\"n1\",\"kind\":\"faulty\"}");
	becomes(id, "unhealthy");
	(void)snprintf(body, sizeof(body), "{\"instance_ids\":[\"%s\"]}", id);
	json_decref(ask("POST", "instance-operations/terminate", body, 200));
	becomes(id, "terminating");
	becomes(id, "terminated");
	launch(other, LAUNCH(",\"name\":\"n2\""));
	simrun_do(&S, "POST", "/admin/reclaim", "{\"node\":\"n2\",\"notice_ms\":400}");
	becomes(other, "active"); /* of the notice nobody is told */
	becomes(other, "preempted");
}

static void test_actions_say_what_may_be_done_now(void **state)
{
	char id[32];
	json_t *o;
	const json_t *actions;

	(void)state;
	simrun_do(&S, "POST", "/admin/config", "{\"boot\":\"1h\"}");
	launch(id, LAUNCH(""));
	o = get(id);
	actions = json_object_get(o, "actions");
	assert_int_equal(json_object_size(actions), 5);
	assert_string_equal(text(json_object_get(actions, "restart"), "reason_code"),
			    "vm-has-not-launched");
	assert_true(
		json_is_true(json_object_get(json_object_get(actions, "terminate"), "available")));
	json_decref(o);
	simrun_do(&S, "POST", "/admin/kill", "{\"type\":\"gpu_8x_h100\"}");
	o = get(id);
	actions = json_object_get(o, "actions");
	assert_string_equal(text(json_object_get(actions, "terminate"), "reason_code"),
			    "vm-is-terminating");
	json_decref(o);
}

static void test_terminate_takes_many_and_shows_them(void **state)
{
	char id[3][32], body[256];
	json_t *d;

	(void)state;
	for (size_t i = 0; i < 3; i++)
		launch(id[i], LAUNCH(""));
	(void)snprintf(body, sizeof(body), "{\"instance_ids\":[\"%s\",\"%s\"]}", id[2], id[0]);
	d = ask("POST", "instance-operations/terminate", body, 200);
	assert_int_equal(json_array_size(json_object_get(d, "terminated_instances")), 2);
	assert_string_equal(
		text(json_array_get(json_object_get(d, "terminated_instances"), 0), "id"), id[2]);
	json_decref(d);
	becomes(id[0], "terminated");
	becomes(id[1], "active");
	/* It is safe to repeat while it is still known. */
	json_decref(ask("POST", "instance-operations/terminate", body, 200));
}

static void test_one_unknown_id_fails_the_whole_terminate(void **state)
{
	char id[32], body[256];

	(void)state;
	launch(id, LAUNCH(""));
	(void)snprintf(body, sizeof(body), "{\"instance_ids\":[\"%s\",\"sim-000000ff\"]}", id);
	refused("POST", "instance-operations/terminate", body, 404, "global/object-does-not-exist",
		"Specified instance does not exist.");
	becomes(id, "active");
}

static void test_instance_types_have_prices_and_the_regions_with_room(void **state)
{
	json_t *d;
	const json_t *h100, *regions;

	(void)state;
	simrun_do(&S, "POST", "/admin/capacity",
		  "{\"type\":\"gpu_8x_h100\",\"region\":\"eu-north-1\",\"zone\":\"eu-north-1a\","
		  "\"capacity\":0}");
	d = ask("GET", "instance-types", NULL, 200);
	assert_int_equal(json_object_size(d), 4);
	h100 = json_object_get(d, "gpu_8x_h100");
	assert_string_equal(text(json_object_get(h100, "instance_type"), "gpu_description"),
			    "H100");
	assert_int_equal(
		simrun_int(json_object_get(json_object_get(h100, "instance_type"), "specs"),
			   "gpus"),
		8);
	regions = json_object_get(h100, "regions_with_capacity_available");
	assert_int_equal(json_array_size(regions), 2); /* zone b has some */
	json_decref(d);
	simrun_do(&S, "POST", "/admin/capacity",
		  "{\"type\":\"gpu_8x_h100\",\"region\":\"eu-north-1\",\"capacity\":0}");
	d = ask("GET", "instance-types", NULL, 200);
	regions = json_object_get(json_object_get(d, "gpu_8x_h100"),
				  "regions_with_capacity_available");
	assert_int_equal(json_array_size(regions), 1);
	assert_string_equal(text(json_array_get(regions, 0), "name"), "eu-west-1");
	assert_int_equal(simrun_int(json_object_get(json_object_get(d, "cpu_4x"), "instance_type"),
				    "price_cents_per_hour"),
			 19);
	json_decref(d);
}

static void test_a_type_is_described_by_its_name(void **state)
{
	static const struct {
		const char *type, *description, *gpu;
		json_int_t gpus, cents;
	} rows[] = {
		{"gpu_1x_h100", "1x H100", "H100", 1, 100},
		{"gpu_10x_b200_sxm6", "10x B200_SXM6", "B200_SXM6", 10, 101},
		{"cpu_4x", "1x CPU", "N/A", 0, 100},
	};
	json_t *d;

	(void)state;
	simrun_do(&S, "POST", "/admin/config",
		  "{\"offers\":["
		  "{\"type\":\"gpu_1x_h100\",\"region\":\"r\",\"zone\":\"ra\",\"market\":\"on-"
		  "demand\","
		  "\"price\":\"1.004999999\",\"currency\":\"USD\",\"capacity\":1},"
		  "{\"type\":\"gpu_10x_b200_sxm6\",\"region\":\"r\",\"zone\":\"ra\",\"market\":"
		  "\"on-demand\",\"price\":\"1.005\",\"currency\":\"USD\",\"capacity\":1},"
		  "{\"type\":\"cpu_4x\",\"region\":\"r\",\"zone\":\"ra\",\"market\":\"on-demand\","
		  "\"price\":\"1\",\"currency\":\"USD\",\"capacity\":1}]}");
	d = ask("GET", "instance-types", NULL, 200);
	assert_int_equal(json_object_size(d), COUNT(rows));
	for (size_t i = 0; i < COUNT(rows); i++) {
		const json_t *t =
			json_object_get(json_object_get(d, rows[i].type), "instance_type");

		assert_string_equal(text(t, "name"), rows[i].type);
		assert_string_equal(text(t, "description"), rows[i].description);
		assert_string_equal(text(t, "gpu_description"), rows[i].gpu);
		assert_int_equal(simrun_int(t, "price_cents_per_hour"), rows[i].cents);
		assert_int_equal(simrun_int(json_object_get(t, "specs"), "gpus"), rows[i].gpus);
	}
	json_decref(d);
}

static void test_no_instance_is_of_a_cluster_of_lambda(void **state)
{
	char id[32];
	json_t *d;

	(void)state;
	launch(id, LAUNCH(""));
	d = ask("GET", "instances?cluster_id=ddaedf1b7a0e41ac981711504493b242", NULL, 200);
	assert_int_equal(json_array_size(d), 0);
	json_decref(d);
}

/* A block is the nearest switch, the region the farthest. */
static void test_the_topology_has_the_switches_of_each_instance(void **state)
{
	struct simrun_reply r;
	char id[3][32];
	const json_t *path;

	(void)state;
	simrun_do(&S, "POST", "/admin/config", "{\"fabric_size\":4}");
	for (size_t i = 0; i < 3; i++)
		launch(id[i], LAUNCH(""));
	send_as(&r, BEARER, "GET", "topology/instance?workspace_id=w&region=eu-north-1&page_size=2",
		NULL);
	assert_int_equal(json_array_size(json_object_get(r.json, "data")), 2);
	assert_string_equal(text(json_array_get(json_object_get(r.json, "data"), 1), "id"), id[1]);
	path = json_object_get(json_array_get(json_object_get(r.json, "data"), 1), "networkPath");
	assert_int_equal(json_array_size(path), 3);
	assert_int_equal(strncmp(text(json_array_get(path, 0), "id"), "eu-north-1a/", 12), 0);
	assert_string_equal(text(json_array_get(path, 1), "id"), "eu-north-1a");
	assert_string_equal(text(json_array_get(path, 2), "id"), "eu-north-1");
	assert_string_equal(text(r.json, "page_token"), "c1");
	simrun_done(&r);
	send_as(&r, BEARER, "GET", "topology/instance?region=eu-north-1&page_token=c1", NULL);
	assert_int_equal(json_array_size(json_object_get(r.json, "data")), 1);
	assert_null(json_object_get(r.json, "page_token"));
	simrun_done(&r);
	simrun_do(&S, "POST", "/admin/config", "{\"page_max\":1}");
	send_as(&r, BEARER, "GET", "topology/instance?page_size=2", NULL);
	assert_int_equal(json_array_size(json_object_get(r.json, "data")), 1);
	simrun_done(&r);
	send_as(&r, BEARER, "GET", "topology/instance?region=eu-west-1", NULL);
	assert_int_equal(json_array_size(json_object_get(r.json, "data")), 0);
	simrun_done(&r);
}

static void test_a_cloud_without_tags_shows_neither_names_nor_tags(void **state)
{
	char id[32];
	json_t *o;

	(void)state;
	simrun_do(&S, "POST", "/admin/config", "{\"tags\":false}");
	launch(id, LAUNCH(",\"name\":\"n1\"" TAGS));
	o = get(id);
	assert_null(json_object_get(o, "name"));
	assert_null(json_object_get(o, "tags"));
	json_decref(o);
}

/* All faces show the same instances. */
static void test_an_instance_of_the_neutral_face_has_tags_that_say_the_same(void **state)
{
	struct simrun_reply r;
	struct curl_slist *bearer = curl_slist_append(NULL, BEARER);
	char url[128];
	json_t *d;

	(void)state;
	(void)snprintf(url, sizeof(url), "%s/v1/instances", S.url);
	simrun_send(&r, "POST", url, bearer,
		    "{\"cluster\":\"cl\",\"type\":\"cpu_4x\",\"region\":\"eu-west-1\","
		    "\"market\":\"spot\",\"instances\":[{\"name\":\"c9\",\"generation\":3}]}");
	assert_int_equal(r.status, 200);
	simrun_done(&r);
	curl_slist_free_all(bearer);
	d = ask("GET", "instances", NULL, 200);
	assert_string_equal(text(json_array_get(d, 0), "name"), "c9");
	assert_string_equal(
		text(json_array_get(json_object_get(json_array_get(d, 0), "tags"), 2), "value"),
		"3");
	json_decref(d);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_one_launch_is_one_instance_that_becomes_active,
						setup, teardown),
		cmocka_unit_test_setup_teardown(test_without_a_host_name_it_has_one_of_its_address,
						setup, teardown),
		cmocka_unit_test_setup_teardown(test_nothing_is_idempotent, setup, teardown),
		cmocka_unit_test_setup_teardown(
			test_the_meter_knows_the_node_by_tags_or_else_by_name, setup, teardown),
		cmocka_unit_test_setup_teardown(test_each_status_of_the_cloud_has_one_of_lambda,
						setup, teardown),
		cmocka_unit_test_setup_teardown(test_actions_say_what_may_be_done_now, setup,
						teardown),
		cmocka_unit_test_setup_teardown(test_terminate_takes_many_and_shows_them, setup,
						teardown),
		cmocka_unit_test_setup_teardown(test_one_unknown_id_fails_the_whole_terminate,
						setup, teardown),
		cmocka_unit_test_setup_teardown(
			test_instance_types_have_prices_and_the_regions_with_room, setup, teardown),
		cmocka_unit_test_setup_teardown(test_a_type_is_described_by_its_name, setup,
						teardown),
		cmocka_unit_test_setup_teardown(test_no_instance_is_of_a_cluster_of_lambda, setup,
						teardown),
		cmocka_unit_test_setup_teardown(test_the_topology_has_the_switches_of_each_instance,
						setup, teardown),
		cmocka_unit_test_setup_teardown(
			test_a_cloud_without_tags_shows_neither_names_nor_tags, setup, teardown),
		cmocka_unit_test_setup_teardown(
			test_an_instance_of_the_neutral_face_has_tags_that_say_the_same, setup,
			teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
