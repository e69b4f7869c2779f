/* test_simcloud_ironic.c - Ironic's face of simcloud: what happens to a machine from its allocation
 * to the end of its cleaning.  That answers look as Ironic's do, tests/contract/ironic.py says. */
#include "simrun_ironic.h"

static void test_a_machine_is_allocated_deployed_undeployed_and_free_again(void **state)
{
	json_t *meter, *row, *node;

	(void)state;
	done("POST", "/v1/allocations", ALLOC("a1", "gpu-1"), 201);
	until("/v1/allocations/a1", "state", "active");
	assert_int_equal(bills(), 0); /* an allocation is no instance */
	node = call("GET", N0, NULL, 200);
	assert_true(has("/v1/allocations/a1", "uuid", word(node, "instance_uuid")));
	assert_true(has("/v1/allocations/a1", "node_uuid", word(node, "uuid")));
	json_decref(node);
	deploy(N0);
	until(N0, "provision_state", "active");
	assert_true(has(N0, "power_state", "power on"));
	row = bill(&meter, 0);
	assert_string_equal(word(row, "name"), "gpu-1");
	assert_string_equal(word(row, "cluster"), "c-1");
	assert_int_equal(simrun_int(row, "generation"), 7);
	assert_string_equal(word(row, "type"), "h100");
	assert_true(json_is_null(json_object_get(row, "end_ms")));
	json_decref(meter);
	end(N0);
	until(N0, "provision_state", "available");
	row = bill(&meter, 0);
	assert_true(json_is_integer(json_object_get(row, "end_ms")));
	json_decref(meter);
	assert_true(has(N0, "instance_uuid", NULL));
	refused("GET", "/v1/allocations/a1", NULL, 404, "Allocation a1 could not be found");
	done("POST", "/v1/allocations", ALLOC("a1", "gpu-1"), 201);
}

static void test_a_name_is_allocated_once(void **state)
{
	(void)state;
	done("POST", "/v1/allocations", ALLOC("a1", "gpu-1"), 201);
	refused("POST", "/v1/allocations", ALLOC("a1", "gpu-1"), 409,
		"An allocation with name a1 already exists.");
	assert_int_equal(count("/v1/allocations", "allocations"), 1);
	done("DELETE", "/v1/allocations/a1", NULL, 204);
	done("POST", "/v1/allocations", ALLOC("a1", "gpu-1"), 201);
}

/* Capacity is told late: the allocation is accepted, and fails. */
static void test_without_a_machine_an_allocation_fails(void **state)
{
	(void)state;
	done("POST", "/v1/allocations", ALLOC("a1", "n1"), 201);
	done("POST", "/v1/allocations", ALLOC("a2", "n2"), 201);
	done("POST", "/v1/allocations", ALLOC("a3", "n3"), 201);
	until("/v1/allocations/a3", "state", "error");
	assert_true(has("/v1/allocations/a3", "node_uuid", NULL));
	done("DELETE", "/v1/allocations/a1", NULL, 204);
	assert_true(has("/v1/allocations/a3", "state", "error")); /* it does not try again */
	done("POST", "/v1/allocations", ALLOC("a4", "n4"), 201);
	until("/v1/allocations/a4", "state", "active");
}

static void test_class_traits_and_candidates_choose_the_machine(void **state)
{
	static const struct {
		const char *body, *node; /* NULL: none */
	} rows[] = {
		{"{\"name\":\"x\",\"resource_class\":\"h100\"}", "h100-z1-0"},
		{"{\"name\":\"x\",\"resource_class\":\"a100\"}", NULL},
		{"{\"name\":\"x\",\"resource_class\":\"h100\",\"traits\":[\"CUSTOM_Z1\"]}",
		 "h100-z1-0"},
		{"{\"name\":\"x\",\"resource_class\":\"h100\",\"traits\":[\"CUSTOM_Z1\","
		 "\"CUSTOM_FAST\"]}",
		 "h100-z1-1"},
		{"{\"name\":\"x\",\"resource_class\":\"h100\",\"traits\":[\"CUSTOM_Z2\"]}", NULL},
		{"{\"name\":\"x\",\"resource_class\":\"h100\",\"candidate_nodes\":[\"h100-z1-1\"]}",
		 "h100-z1-1"},
	};

	(void)state;
	done("PUT", N1 "/traits/CUSTOM_FAST", NULL, 204);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		done("POST", "/v1/allocations", rows[i].body, 201);
		until("/v1/allocations/x", "state", rows[i].node != NULL ? "active" : "error");
		if (rows[i].node != NULL) {
			char path[64];
			json_t *a = call("GET", "/v1/allocations/x", NULL, 200);

			(void)snprintf(path, sizeof(path), "/v1/nodes/%s", rows[i].node);
			assert_true(has(path, "allocation_uuid", word(a, "uuid")));
			json_decref(a);
		}
		done("DELETE", "/v1/allocations/x", NULL, 204);
	}
}

/* Without extra, the allocation's name says who it is. */
static void test_a_name_may_say_who_an_instance_is(void **state)
{
	json_t *meter, *row;

	(void)state;
	done("POST", "/v1/allocations",
	     "{\"name\":\"b0b1c2d3e0000-1z-gpu-1\",\"resource_class\":\"h100\"}", 201);
	deploy(N0);
	done("PATCH", N1,
	     "[{\"op\":\"add\",\"path\":\"/instance_info/display_name\",\"value\":"
	     "\"b0b1c2d3e0000-2-gpu-2\"}]",
	     200);
	deploy(N1); /* no allocation is needed */
	row = bill(&meter, 0);
	assert_string_equal(word(row, "name"), "gpu-1");
	assert_string_equal(word(row, "cluster"), "0b1c2d3e0000");
	assert_int_equal(simrun_int(row, "generation"), 71);
	row = json_array_get(json_object_get(meter, "rows"), 1);
	assert_string_equal(word(row, "name"), "gpu-2");
	json_decref(meter);
}

static void test_a_deployment_is_locked_and_then_waits(void **state)
{
	(void)state;
	set("{\"boot\":\"1h\"}");
	deploy(N0);
	assert_true(has(N0, "provision_state", "deploying"));
	assert_true(has(N0, "target_provision_state", "active"));
	assert_true(has(N0, "reservation", "simcloud"));
	refused("PUT", N0 "/states/provision", "{\"target\":\"deleted\"}", 409,
		"is locked by host");
	refused("PUT", N0 "/states/power", "{\"target\":\"power on\"}", 409, "is locked by host");
	refused("PATCH", N0, "[{\"op\":\"add\",\"path\":\"/extra/x\",\"value\":1}]", 409,
		"while a state transition is in progress");
	set("{\"machine_lock\":\"1ms\"}");
	deploy(N1);
	until(N1, "provision_state", "wait call-back");
	assert_true(has(N1, "reservation", NULL));
	end(N1); /* now it may end */
	until(N1, "provision_state", "available");
}

static void test_a_deployment_may_fail_and_be_tried_again(void **state)
{
	json_t *node;

	(void)state;
	set("{\"boot_fails\":[\"gpu-1\"]}");
	done("POST", "/v1/allocations", ALLOC("a1", "gpu-1"), 201);
	deploy(N0);
	until(N0, "provision_state", "deploy failed");
	node = call("GET", N0, NULL, 200);
	assert_non_null(strstr(word(node, "last_error"), "did not boot"));
	assert_string_equal(word(node, "power_state"), "power off");
	assert_string_equal(word(node, "target_provision_state"), "active");
	json_decref(node);
	assert_true(has("/v1/allocations/a1", "state", "active")); /* the machine stays its own */
	set("{\"boot_fails\":null}");
	done("PUT", N0 "/states/provision", "{\"target\":\"rebuild\"}", 202);
	until(N0, "provision_state", "active");
	assert_true(has(N0, "last_error", NULL));
	assert_int_equal(bills(), 2);
}

static void test_what_failed_is_given_back(void **state)
{
	(void)state;
	set("{\"boot_fails\":[\"*\"]}");
	deploy(N0);
	until(N0, "provision_state", "deploy failed");
	end(N0);
	until(N0, "provision_state", "available");
	assert_true(has(N0, "last_error", NULL));
}

/* Whoever removes the allocation of a failed deployment leaves a machine that nobody names. */
static void test_what_failed_may_lose_its_allocation(void **state)
{
	(void)state;
	set("{\"boot_fails\":[\"*\"]}");
	done("POST", "/v1/allocations", ALLOC("a1", "n1"), 201);
	deploy(N0);
	until(N0, "provision_state", "deploy failed");
	done("DELETE", "/v1/allocations/a1", NULL, 204);
	assert_true(has(N0, "provision_state", "deploy failed"));
	assert_true(has(N0, "instance_uuid", NULL));
	set("{\"boot\":\"1h\",\"boot_fails\":null}");
	done("POST", "/v1/allocations", ALLOC("a1", "n1"), 201);
	deploy(N1);
	refused("DELETE", "/v1/allocations/a1", NULL, 409, "is locked by host");
	set("{\"machine_lock\":\"1ms\"}");
	deploy(N0);
	until(N0, "provision_state", "wait call-back");
}

/* What the cloud refuses, Ironic says after it has accepted. */
static void test_quota_and_lost_capacity_fail_a_deployment(void **state)
{
	json_t *stats, *ops;

	(void)state;
	set("{\"quota\":0}");
	deploy(N0);
	assert_true(has(N0, "provision_state", "deploy failed"));
	set("{\"quota\":null}");
	done("POST", "/v1/allocations", ALLOC("a1", "n1"), 201);
	capacity("0");
	done("PUT", N1 "/states/provision", DEPLOY, 202);
	assert_true(has(N1, "provision_state", "deploy failed"));
	assert_int_equal(bills(), 0);
	stats = simrun_ask(&S, "GET", "/admin/stats", NULL, 200);
	ops = json_object_get(json_object_get(stats, "ops"), "create");
	assert_int_equal(simrun_int(json_object_get(ops, "instances"), "quota"), 1);
	assert_int_equal(simrun_int(json_object_get(ops, "instances"), "capacity"), 1);
	assert_int_equal(simrun_int(ops, "refused"), 2);
	json_decref(stats);
}

static void test_cleaning_takes_its_time(void **state)
{
	(void)state;
	set("{\"clean\":\"300ms\",\"machine_lock\":\"100ms\"}");
	deploy(N0);
	until(N0, "provision_state", "active");
	end(N0);
	until(N0, "provision_state", "cleaning");
	assert_true(has(N0, "instance_uuid", NULL)); /* its instance has ended */
	refused("PUT", N0 "/states/power", "{\"target\":\"power on\"}", 400,
		"while it is in state \"clean");
	done("POST", "/v1/allocations",
	     "{\"name\":\"a\",\"resource_class\":\"h100\",\"candidate_nodes\":[\"h100-z1-0\"]}",
	     201);
	until("/v1/allocations/a", "state", "error"); /* not before it is clean */
	until(N0, "provision_state", "clean wait");
	refused("PUT", N0 "/states/provision", DEPLOY, 400, "while it is in state \"clean wait\"");
	until(N0, "provision_state", "available");
}

static void test_an_end_takes_as_long_as_the_cloud_takes(void **state)
{
	(void)state;
	set("{\"stop\":\"1h\"}");
	done("POST", "/v1/allocations", ALLOC("a1", "gpu-1"), 201);
	deploy(N0);
	until(N0, "provision_state", "active");
	end(N0);
	assert_true(has(N0, "provision_state", "deleting"));
	assert_true(has(N0, "target_provision_state", "available"));
	refused("PUT", N0 "/states/provision", "{\"target\":\"deleted\"}", 409,
		"is locked by host");
	assert_true(has("/v1/allocations/a1", "state", "active"));
	simrun_do(&S, "POST", "/admin/kill", "{\"node\":\"gpu-1\"}");
	until(N0, "provision_state", "available");
}

/* Nobody tells Ironic: the machine stays who it was, without power. */
static void test_a_machine_that_dies_stays_active(void **state)
{
	(void)state;
	done("POST", "/v1/allocations", ALLOC("a1", "gpu-1"), 201);
	deploy(N0);
	until(N0, "provision_state", "active");
	simrun_do(&S, "POST", "/admin/kill", "{\"node\":\"gpu-1\"}");
	until(N0, "power_state", "power off");
	assert_true(has(N0, "provision_state", "active"));
	assert_true(has("/v1/allocations/a1", "state", "active"));
	end(N0);
	until(N0, "provision_state", "available");
}

static void test_there_are_as_many_machines_as_the_offers_say(void **state)
{
	(void)state;
	assert_int_equal(count("/v1/nodes", "nodes"), 2);
	deploy(N1);
	capacity("0");
	assert_int_equal(count("/v1/nodes", "nodes"), 1); /* the one in use stays */
	refused("GET", N0, NULL, 404, "could not be found");
	capacity("5");
	assert_int_equal(count("/v1/nodes", "nodes"), 5);
	capacity("null");
	assert_int_equal(count("/v1/nodes", "nodes"), 8);
	set("{\"machines\":10}");
	assert_int_equal(count("/v1/nodes", "nodes"), 10);
	set("{\"offers\":[{\"type\":\"h100\",\"region\":\"r1\",\"zone\":\"z1\",\"price\":\"1\","
	    "\"market\":\"spot\",\"capacity\":3},{\"type\":\"h100\",\"region\":\"r1\",\"zone\":"
	    "\"z1\",\"price\":\"0\",\"market\":\"reserved\",\"capacity\":1}]}");
	assert_int_equal(count("/v1/nodes?provision_state=available", "nodes"), 1);
	assert_true(has("/v1/nodes/h100-z1-0-r", "resource_class", "h100"));
}

/* Accepted, and not on the list yet: but its name is taken. */
static void test_an_allocation_may_be_seen_late(void **state)
{
	(void)state;
	set("{\"visible\":\"200ms\"}");
	done("POST", "/v1/allocations", ALLOC("a1", "n1"), 201);
	refused("GET", "/v1/allocations/a1", NULL, 404, "could not be found");
	assert_int_equal(count("/v1/allocations", "allocations"), 0);
	refused("POST", "/v1/allocations", ALLOC("a1", "n1"), 409, "already exists");
	(void)usleep(250000);
	assert_int_equal(count("/v1/allocations", "allocations"), 1);
}

static void test_an_allocation_may_settle_late(void **state)
{
	(void)state;
	set("{\"state_lag\":\"100ms\"}");
	done("POST", "/v1/allocations", ALLOC("a1", "n1"), 201);
	assert_true(has("/v1/allocations/a1", "state", "allocating"));
	assert_true(has("/v1/allocations/a1", "node_uuid", NULL));
	until("/v1/allocations/a1", "state", "active");
}

/* With a program for instances: each gets its user data as a file. */
static int setup_booting(void **state)
{
	char script[SIMRUN_PATH], run[SIMRUN_PATH];
	const char *args[] = {"--boot", script, "--run-dir", run, NULL};

	(void)state;
	S = (struct simrun){0};
	simrun_dir(&S);
	assert_int_equal(mkdir(simrun_path(run, S.dir, "run"), 0700), 0);
	simrun_write(simrun_path(script, S.dir, "boot"), "#!/bin/sh\nexec sleep 60\n");
	assert_int_equal(chmod(script, 0700), 0);
	return start(args);
}

static void told(const char *id, const char *text)
{
	char path[SIMRUN_PATH], name[64], is[64] = "";
	FILE *f;

	(void)snprintf(name, sizeof(name), "run/%s/user-data", id);
	f = fopen(simrun_path(path, S.dir, name), "r");
	assert_non_null(f);
	is[fread(is, 1, sizeof(is) - 1, f)] = '\0';
	assert_int_equal(fclose(f), 0);
	assert_string_equal(is, text);
}

static void test_a_config_drive_has_the_user_data(void **state)
{
	(void)state;
	done("PUT", N0 "/states/provision",
	     "{\"target\":\"active\",\"configdrive\":{\"user_data\":\"#!/bin/sh\\n\"}}", 202);
	done("PUT", N1 "/states/provision",
	     "{\"target\":\"active\",\"configdrive\":{\"user_data\":{\"a\":1},\"meta_data\":{}}}",
	     202);
	until(N0, "provision_state", "active");
	until(N1, "provision_state", "active");
	told("sim-00000000", "#!/bin/sh\n");
	told("sim-00000001", "{\"a\":1}");
}

static void test_a_machine_may_be_managed_for_a_while(void **state)
{
	(void)state;
	set("{\"clean\":\"50ms\"}");
	done("PUT", N0 "/states/provision", "{\"target\":\"manage\"}", 202);
	assert_true(has(N0, "provision_state", "manageable"));
	refused("PUT", N0 "/states/provision", DEPLOY, 400, "while it is in state \"manageable\"");
	done("POST", "/v1/allocations", ALLOC("a1", "n1"), 201);
	assert_true(has(N0, "allocation_uuid", NULL)); /* the other one was taken */
	done("PUT", N0 "/states/provision", "{\"target\":\"provide\"}", 202);
	assert_true(has(N0, "provision_state", "cleaning"));
	until(N0, "provision_state", "available");
}

static void test_maintenance_is_a_report_and_keeps_a_machine_free(void **state)
{
	json_t *events;
	char *text;

	(void)state;
	deploy(N0);
	until(N0, "provision_state", "active");
	done("PUT", N0 "/maintenance", "{\"reason\":\"XID 79\"}", 202);
	assert_true(has(N0, "maintenance_reason", "XID 79"));
	events = simrun_ask(&S, "GET", "/admin/events", NULL, 200);
	text = json_dumps(events, 0);
	assert_non_null(strstr(text, "XID 79"));
	free(text);
	json_decref(events);
	done("PUT", N1 "/maintenance", NULL, 202);
	refused("PUT", N1 "/states/provision", DEPLOY, 400, "in maintenance mode");
	done("POST", "/v1/allocations", ALLOC("a1", "n1"), 201);
	until("/v1/allocations/a1", "state", "error");
	assert_int_equal(count("/v1/nodes?maintenance=true", "nodes"), 2);
	end(N0); /* an end is allowed */
	done("DELETE", N1 "/maintenance", NULL, 202);
	deploy(N1);
}

static void test_power_is_kept(void **state)
{
	static const struct {
		const char *target, *is;
	} rows[] = {{"power on", "power on"},
		    {"soft power off", "power off"},
		    {"rebooting", "power on"},
		    {"power off", "power off"},
		    {"soft rebooting", "power on"}};
	char body[64];

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		(void)snprintf(body, sizeof(body), "{\"target\":\"%s\"}", rows[i].target);
		done("PUT", N0 "/states/power", body, 202);
		assert_true(has(N0, "power_state", rows[i].is));
	}
}

/* As Ironic's database does it: so two lists of one order can be read side by side. */
static void test_machines_are_listed_by_their_instance(void **state)
{
	static const char by[] = "/v1/nodes?sort_key=instance_uuid&associated=true&limit=1";
	json_t *o, *first;
	char path[300];

	(void)state;
	done("POST", "/v1/allocations",
	     "{\"name\":\"a\",\"resource_class\":\"h100\",\"candidate_nodes\":[\"h100-z1-1\"]}",
	     201);
	done("POST", "/v1/allocations", ALLOC("b", "n1"), 201);
	o = call("GET", by, NULL, 200);
	first = json_array_get(json_object_get(o, "nodes"), 0);
	assert_string_equal(word(first, "name"), "h100-z1-1");
	assert_non_null(strstr(word(o, "next"), "sort_key=instance_uuid&sort_dir=asc"));
	(void)snprintf(path, sizeof(path), "%s&marker=%s", by, word(first, "uuid"));
	json_decref(o);
	o = call("GET", path, NULL, 200);
	first = json_array_get(json_object_get(o, "nodes"), 0);
	assert_string_equal(word(first, "name"), "h100-z1-0");
	json_decref(o);
	assert_int_equal(count("/v1/allocations?sort_key=uuid", "allocations"), 2);
}

static void test_each_answer_has_the_id_of_its_request(void **state)
{
	static const char name[] = "x-openstack-request-id: ";
	struct simrun_reply a, b;

	(void)state;
	sent(&a, "GET", "/v1/nodes", VERSION, NULL);
	sent(&b, "GET", "/v1/nodes/nobody", VERSION, NULL);
	assert_non_null(strstr(a.heads, "x-openstack-request-id: req-5c000000-0000-4000-8000-"));
	assert_non_null(strstr(b.heads, name));
	assert_int_not_equal(strncmp(strstr(a.heads, name), strstr(b.heads, name), 64), 0);
	simrun_done(&a);
	simrun_done(&b);
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
	const struct CMUnitTest tests[] = {
		T(test_a_machine_is_allocated_deployed_undeployed_and_free_again),
		T(test_each_answer_has_the_id_of_its_request),
		T(test_a_name_is_allocated_once),
		T(test_without_a_machine_an_allocation_fails),
		T(test_class_traits_and_candidates_choose_the_machine),
		T(test_a_name_may_say_who_an_instance_is),
		T(test_a_deployment_is_locked_and_then_waits),
		T(test_a_deployment_may_fail_and_be_tried_again),
		T(test_what_failed_is_given_back),
		T(test_what_failed_may_lose_its_allocation),
		T(test_quota_and_lost_capacity_fail_a_deployment),
		T(test_cleaning_takes_its_time),
		T(test_an_end_takes_as_long_as_the_cloud_takes),
		T(test_a_machine_that_dies_stays_active),
		T(test_there_are_as_many_machines_as_the_offers_say),
		T(test_an_allocation_may_be_seen_late),
		T(test_an_allocation_may_settle_late),
		cmocka_unit_test_setup_teardown(test_a_config_drive_has_the_user_data,
						setup_booting, teardown),
		T(test_a_machine_may_be_managed_for_a_while),
		T(test_maintenance_is_a_report_and_keeps_a_machine_free),
		T(test_power_is_kept),
		T(test_machines_are_listed_by_their_instance),
	};
#undef T

	return cmocka_run_group_tests_name("simcloud_ironic", tests, NULL, NULL);
}
