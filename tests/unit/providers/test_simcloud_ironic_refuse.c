/* test_simcloud_ironic_refuse.c - what Ironic's face of simcloud refuses, and how it lists. */
#include "simrun_ironic.h"

#define PROVISION N0 "/states/provision"
#define UNKNOWN   "/v1/nodes/00000000-0000-4000-8000-0000000000ff"
#define OTHER     "00000000-0000-4000-8000-000000000abc"

static void test_each_mistake_has_its_answer(void **state)
{
	static const struct {
		const char *method, *path, *body;
		long status;
		const char *words;
	} rows[] = {
		{"GET", "/v1/nodes/h100-z1-0/nosuch", NULL, 404, "Not Found"},
		{"GET", "/v1/nodeship", NULL, 404, "Not Found"},
		{"POST", "/v1/nodes", "{}", 405, "Method Not Allowed"},
		{"DELETE", N0, NULL, 405, "Method Not Allowed"},
		{"POST", PROVISION, DEPLOY, 405, "Method Not Allowed"},
		{"GET", UNKNOWN, NULL, 404, "could not be found"},
		{"GET", UNKNOWN "/states", NULL, 404, "could not be found"},
		{"GET", UNKNOWN "/allocation", NULL, 404, "could not be found"},
		{"GET", N0 "/allocation", NULL, 404, "Allocation for node"},
		{"PUT", UNKNOWN "/states/provision", DEPLOY, 404, "could not be found"},
		{"GET", N0 "?fields=bogus", NULL, 400, "Field bogus is not a valid field."},
		{"GET", N0 "?color=red", NULL, 400, "Unexpected arguments: color"},
		{"GET", N0 "?fields=shard", NULL, 406, "Request not acceptable."},
		{"GET", "/v1/nodes?color=red", NULL, 400, "Unexpected arguments: color"},
		{"GET", "/v1/nodes?limit=x", NULL, 400, "Expected an integer for limit: x"},
		{"GET", "/v1/nodes?limit=0", NULL, 400, "Limit must be positive"},
		{"GET", "/v1/nodes?marker=nosuch", NULL, 404, "Node nosuch could not be found."},
		{"GET", "/v1/nodes?sort_dir=desc", NULL, 400, "sort_key"},
		{"GET", "/v1/nodes?sort_key=name", NULL, 400, "sort_key value \"name\""},
		{"GET", "/v1/nodes?owner=%", NULL, 400, "owner"},
		{"GET", "/v1/nodes?provision_state=bogus", NULL, 400, "\"bogus\" is not valid"},
		{"GET", "/v1/nodes?associated=x", NULL, 400, "Unrecognized value 'x'"},
		{"GET", "/v1/nodes?fields=uuid,allocation_uuid", NULL, 500, "no attribute"},
		{"PUT", PROVISION, "{}", 400, "Missing mandatory parameter: target"},
		{"PUT", PROVISION, "{", 400, "Missing mandatory parameter: target"},
		{"PUT", PROVISION, "{\"target\":5}", 400, "target"},
		{"PUT", PROVISION, "{\"target\":\"active\",\"x\":1}", 400, "arguments: x"},
		{"PUT", PROVISION, "{\"target\":\"bogus\"}", 400, "\"bogus\" can not be performed"},
		{"PUT", PROVISION, "{\"target\":\"deleted\"}", 400, "in state \"available\""},
		{"PUT", PROVISION, "{\"target\":\"rebuild\"}", 400, "in state \"available\""},
		{"PUT", PROVISION, "{\"target\":\"provide\"}", 400, "in state \"available\""},
		{"PUT", PROVISION, "{\"target\":\"active\",\"configdrive\":5}", 400, "configdrive"},
		{"PUT", PROVISION, "{\"target\":\"active\",\"configdrive\":{\"x\":1}}", 400,
		 "configdrive"},
		{"PUT", PROVISION, "{\"target\":\"manage\",\"configdrive\":\"x\"}", 400,
		 "only supported"},
		{"PUT", N0 "/states/power", "{\"target\":\"bogus\"}", 400, "\"bogus\""},
		{"PUT", N0 "/states/power", "{}", 400, "Missing mandatory parameter: target"},
		{"PUT", N0 "/states/power", "{\"target\":\"power on\",\"timeout\":0}", 400,
		 "timeout"},
		{"PUT", N0 "/maintenance", "{\"x\":1}", 400, "Unexpected arguments: x"},
		{"PUT", N0 "/traits/bad", NULL, 400, "does not match"},
		{"PUT", N0 "/traits/CUSTOM_", NULL, 400, "does not match"},
		{"PUT", N0 "/traits", "{}", 400, "traits"},
		{"PUT", N0 "/traits", "{\"traits\":[\"bad\"]}", 400, "does not match"},
		{"DELETE", N0 "/traits/CUSTOM_X", NULL, 404, "doesn't have a trait"},
		{"POST", "/v1/allocations", "{", 500, "Expecting"},
		{"POST", "/v1/allocations", "[]", 400, "Schema error"},
		{"POST", "/v1/allocations", NULL, 400, "mandatory"},
		{"POST", "/v1/allocations", "{\"name\":\"a\"}", 400, "mandatory"},
		{"POST", "/v1/allocations", "{\"resource_class\":\"x\",\"bogus\":1}", 400,
		 "Additional properties are not allowed"},
		{"POST", "/v1/allocations", "{\"resource_class\":5}", 400, "is not of type"},
		{"POST", "/v1/allocations", "{\"resource_class\":\"x\",\"extra\":[]}", 400,
		 "extra"},
		{"POST", "/v1/allocations", "{\"resource_class\":\"x\",\"name\":\"a b\"}", 400,
		 "invalid name 'a b'"},
		{"POST", "/v1/allocations", "{\"resource_class\":\"x\",\"traits\":[\"x\"]}", 400,
		 "does not match"},
		{"POST", "/v1/allocations", "{\"resource_class\":\"x\",\"traits\":[5]}", 400,
		 "does not match"},
		{"POST", "/v1/allocations",
		 "{\"resource_class\":\"x\",\"candidate_nodes\":[\"nosuch\"]}", 400,
		 "Nodes cannot be found: nosuch"},
		{"POST", "/v1/allocations", "{\"resource_class\":\"x\",\"node\":\"h100-z1-0\"}",
		 400, "no node"},
		{"GET", "/v1/allocations?color=red", NULL, 400, "Unexpected arguments: color"},
		{"GET", "/v1/allocations?marker=nosuch", NULL, 404, "Allocation nosuch"},
		{"GET", "/v1/allocations?node=nosuch", NULL, 400, "Node nosuch"},
		{"GET", "/v1/allocations?fields=bogus", NULL, 400, "bogus"},
		{"GET", "/v1/allocations/nosuch", NULL, 404, "Allocation nosuch"},
		{"DELETE", "/v1/allocations/nosuch", NULL, 404, "Allocation nosuch"},
		{"PUT", "/v1/allocations/nosuch", "{}", 405, "Method Not Allowed"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		refused(rows[i].method, rows[i].path, rows[i].body, rows[i].status, rows[i].words);
	assert_int_equal(bills(), 0);
	assert_int_equal(count("/v1/allocations", "allocations"), 0);
}

#define STEP(op, path, value) "[{\"op\":\"" op "\",\"path\":\"" path "\",\"value\":" value "}]"

static void test_a_patch_is_whole_or_nothing(void **state)
{
	static const struct {
		const char *body;
		long status;
		const char *words;
	} rows[] = {
		{"{}", 400, "Schema error for patch"},
		{"[5]", 400, "Schema error for patch"},
		{"{", 500, "Expecting"},
		{"[{\"op\":\"add\"}]", 400, "'path' is a required property"},
		{"[{\"path\":\"/extra\"}]", 400, "'op' is a required property"},
		{"[{\"op\":\"add\",\"path\":\"/extra\"}]", 400, "'value' is a required property"},
		{STEP("move", "/extra/x", "1"), 400, "'move' is not one of"},
		{STEP("add", "extra", "1"), 400, "does not match"},
		{STEP("add", "/extra/", "1"), 400, "does not match"},
		{STEP("add", "/extra//x", "1"), 400, "does not match"},
		{STEP("add", "/extra/a.b", "1"), 400, "does not match"},
		{STEP("add", "/bogus", "1"), 400, "Cannot patch /bogus"},
		{STEP("add", "/traits", "[]"), 400, "Cannot patch /traits"},
		{STEP("replace", "/extra/x", "1"), 400, "Couldn't apply patch"},
		{STEP("remove", "/extra/x", "1"), 400, "Couldn't apply patch"},
		{STEP("add", "/extra/x/y", "1"), 400, "Couldn't apply patch"},
		{STEP("add", "/owner/x", "1"), 400, "Couldn't apply patch"},
		{STEP("add", "/extra", "\"y\""), 400, "extra"},
		{STEP("add", "/owner", "5"), 400, "owner"},
		{STEP("add", "/maintenance", "\"y\""), 400, "maintenance"},
		{STEP("add", "/instance_uuid", "\"y\""), 400, "Expected UUID"},
		{"[{\"op\":\"add\",\"path\":\"/extra/x\",\"value\":1},{\"op\":\"remove\",\"path\":"
		 "\"/extra/z\"}]",
		 400, "Couldn't apply patch"},
	};
	json_t *node;

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		refused("PATCH", N0, rows[i].body, rows[i].status, rows[i].words);
	node = call("GET", N0, NULL, 200);
	assert_int_equal(json_object_size(json_object_get(node, "extra")), 0);
	assert_true(json_is_null(json_object_get(node, "updated_at")));
	json_decref(node);
}

static void test_a_patch_changes_members(void **state)
{
	json_t *node, *extra;

	(void)state;
	json_decref(call("PATCH", N0,
			 "[{\"op\":\"add\",\"path\":\"/extra/a\",\"value\":{\"b\":1}},"
			 "{\"op\":\"add\",\"path\":\"/extra/a/c\",\"value\":2},"
			 "{\"op\":\"replace\",\"path\":\"/extra/a/b\",\"value\":3},"
			 "{\"op\":\"add\",\"path\":\"/owner\",\"value\":\"me\"},"
			 "{\"op\":\"add\",\"path\":\"/maintenance\",\"value\":true}]",
			 200));
	node = call("GET", N0, NULL, 200);
	extra = json_object_get(json_object_get(node, "extra"), "a");
	assert_int_equal(simrun_int(extra, "b"), 3);
	assert_int_equal(simrun_int(extra, "c"), 2);
	assert_string_equal(word(node, "owner"), "me");
	assert_true(json_is_true(json_object_get(node, "maintenance")));
	json_decref(node);
	json_decref(call("PATCH", N0,
			 "[{\"op\":\"remove\",\"path\":\"/extra/a/b\"},{\"op\":\"remove\",\"path\":"
			 "\"/owner\"},{\"op\":\"remove\",\"path\":\"/maintenance\"}]",
			 200));
	node = call("GET", N0, NULL, 200);
	assert_int_equal(json_object_size(json_object_get(json_object_get(node, "extra"), "a")), 1);
	assert_true(json_is_null(json_object_get(node, "owner")));
	assert_true(json_is_false(json_object_get(node, "maintenance")));
	json_decref(node);
	done("PATCH", N0, "[{\"op\":\"remove\",\"path\":\"/extra\"}]", 200);
}

static void test_an_instance_is_on_one_machine(void **state)
{
	(void)state;
	done("PATCH", N0, STEP("add", "/instance_uuid", "\"" OTHER "\""), 200);
	refused("PATCH", N1, STEP("add", "/instance_uuid", "\"" OTHER "\""), 409,
		"is already associated with a node");
	refused("PATCH", N0,
		STEP("replace", "/instance_uuid", "\"00000000-0000-4000-8000-000000000001\""), 409,
		"is associated with instance " OTHER);
	assert_int_equal(count("/v1/nodes?instance_uuid=" OTHER, "nodes"), 1);
	assert_int_equal(count("/v1/nodes?associated=false", "nodes"), 1);
	done("POST", "/v1/allocations", ALLOC("a1", "n1"), 201);
	assert_true(has(N0, "allocation_uuid", NULL)); /* it is not free */
	done("PATCH", N1, "[{\"op\":\"remove\",\"path\":\"/instance_uuid\"}]", 200);
	refused("GET", "/v1/allocations/a1", NULL, 404, "could not be found");
	done("POST", "/v1/allocations", ALLOC("a1", "n1"), 201);
	deploy(N1);
	until(N1, "provision_state", "active");
	refused("PATCH", N1, "[{\"op\":\"remove\",\"path\":\"/instance_uuid\"}]", 409,
		"can not have instance_uuid removed");
	refused("DELETE", "/v1/allocations/a1", NULL, 409, "because the node is active");
	refused("DELETE", N1 "/allocation", NULL, 409, "because the node is active");
	done("PUT", N1 "/maintenance", NULL, 202);
	done("DELETE", N1 "/allocation", NULL, 204);
	set("{\"boot\":\"1h\",\"machine_lock\":\"1ms\"}");
	done("PATCH", N0, "[{\"op\":\"remove\",\"path\":\"/instance_uuid\"}]", 200);
	done("POST", "/v1/allocations", ALLOC("a2", "n2"), 201);
	deploy(N0);
	until(N0, "provision_state", "wait call-back");
	refused("DELETE", "/v1/allocations/a2", NULL, 409,
		"in state wait call-back where updates are not allowed");
}

static void test_an_allocation_may_get_another_name(void **state)
{
	(void)state;
	done("POST", "/v1/allocations", ALLOC("a1", "n1"), 201);
	done("POST", "/v1/allocations", ALLOC("a2", "n2"), 201);
	refused("PATCH", "/v1/allocations/a2", STEP("add", "/name", "\"a1\""), 409,
		"already exists");
	refused("PATCH", "/v1/allocations/a2", STEP("add", "/name", "\"a b\""), 400, "name");
	refused("PATCH", "/v1/allocations/a2", STEP("add", "/state", "\"x\""), 400,
		"Cannot patch /state");
	done("PATCH", "/v1/allocations/a2", STEP("add", "/name", "\"a3\""), 200);
	until("/v1/allocations/a3", "state", "active");
	refused("GET", "/v1/allocations/a2", NULL, 404, "could not be found");
}

static void test_instance_traits_must_be_the_machine_s(void **state)
{
	(void)state;
	done("PUT", N0 "/traits", "{\"traits\":[\"CUSTOM_A\"]}", 204);
	done("PATCH", N0, STEP("add", "/instance_info/traits", "[\"CUSTOM_A\",\"CUSTOM_B\"]"), 200);
	refused("PUT", N0 "/states/provision", DEPLOY, 400, "is missing traits CUSTOM_B");
	done("PATCH", N0, STEP("add", "/instance_info/traits", "[\"CUSTOM_A\"]"), 200);
	deploy(N0);
}

/* --- pages ------------------------------------------------------------------------------------ */

/* As at Ironic, whoever fills a page has a next one, perhaps an empty one. */
static void test_lists_come_in_pages(void **state)
{
	char next[512] = "/v1/nodes?limit=3&resource_class=h100";
	size_t n = 0, pages = 0;

	(void)state;
	capacity("6");
	while (next[0] != '\0') {
		json_t *o = call("GET", next, NULL, 200);
		const char *url = word(o, "next");

		n += json_array_size(json_object_get(o, "nodes"));
		pages++;
		(void)snprintf(next, sizeof(next), "%s", url != NULL ? url + strlen(S.url) : "");
		json_decref(o);
	}
	assert_int_equal(n, 6);
	assert_int_equal(pages, 3);
	set("{\"page_max\":4}");
	assert_int_equal(count("/v1/nodes?limit=1000", "nodes"), 4);
	done("POST", "/v1/allocations", ALLOC("a1", "n1"), 201);
	done("POST", "/v1/allocations", ALLOC("a2", "n2"), 201);
	assert_int_equal(count("/v1/allocations?limit=1", "allocations"), 1);
}

static void test_lists_are_filtered(void **state)
{
	static const struct {
		const char *path, *what;
		size_t n;
	} rows[] = {
		{"/v1/nodes?provision_state=available", "nodes", 1},
		{"/v1/nodes?provision_state=active", "nodes", 1},
		{"/v1/nodes?provision_state=wait%20call-back", "nodes", 0},
		{"/v1/nodes?resource_class=a100", "nodes", 0},
		{"/v1/nodes?associated=True", "nodes", 1},
		{"/v1/nodes?owner=me", "nodes", 0},
		{"/v1/nodes?lessee=me", "nodes", 0},
		{"/v1/nodes?maintenance=false", "nodes", 2},
		{"/v1/allocations?state=active", "allocations", 1},
		{"/v1/allocations?state=error", "allocations", 0},
		{"/v1/allocations?resource_class=h100", "allocations", 1},
		{"/v1/allocations?resource_class=a100", "allocations", 0},
		{"/v1/allocations?node=h100-z1-0", "allocations", 1},
		{"/v1/allocations?node=h100-z1-1", "allocations", 0},
		{"/v1/allocations?owner=me", "allocations", 0},
	};

	(void)state;
	done("POST", "/v1/allocations", ALLOC("a1", "n1"), 201);
	deploy(N0);
	until(N0, "provision_state", "active");
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if (count(rows[i].path, rows[i].what) != rows[i].n)
			fail_msg("%s", rows[i].path);
}

/* --- versions, credentials -------------------------------------------------------------------- */

static void test_a_version_is_one_of_ours(void **state)
{
	static const struct {
		const char *header;
		long status;
		const char *heads; /* the answer has this line, and NULL: no version */
	} rows[] = {
		{"X-OpenStack-Ironic-API-Version: 1.78", 200,
		 "X-OpenStack-Ironic-API-Version: 1.78\r"},
		{"X-OpenStack-Ironic-API-Version: latest", 200,
		 "X-OpenStack-Ironic-API-Version: 1.115\r"},
		{NULL, 200, "X-OpenStack-Ironic-API-Version: 1.1\r"},
		{"X-OpenStack-Ironic-API-Version: 1.116", 406,
		 "X-OpenStack-Ironic-API-Maximum-Version: 1.115\r"},
		{"X-OpenStack-Ironic-API-Version: 1.0", 406,
		 "X-OpenStack-Ironic-API-Minimum-Version: 1.1\r"},
		{"X-OpenStack-Ironic-API-Version: 2.1", 406,
		 "X-OpenStack-Ironic-API-Minimum-Version: 1.1\r"},
		{"X-OpenStack-Ironic-API-Version: 1", 406, NULL},
		{"X-OpenStack-Ironic-API-Version: 1.x", 406, NULL},
		{"X-OpenStack-Ironic-API-Version: 1.7x", 406, NULL},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct simrun_reply r;

		sent(&r, "GET", "/v1/nodes", rows[i].header, NULL);
		if (r.status != rows[i].status ||
		    (rows[i].heads != NULL ? strstr(r.heads, rows[i].heads) == NULL
					   : strstr(r.heads, "Ironic-API") != NULL))
			fail_msg("%s: %ld %s", rows[i].header, r.status, r.heads);
		simrun_done(&r);
	}
	done("GET", "/", NULL, 200);
	done("GET", "/v1", NULL, 200);
	done("GET", "/v1/", NULL, 200);
}

static void test_old_versions_lack_what_came_later(void **state)
{
	struct simrun_reply r;

	(void)state;
	sent(&r, "GET", N0, NULL, NULL);
	assert_true(json_is_null(json_object_get(r.json, "provision_state"))); /* until 1.2 */
	assert_null(json_object_get(r.json, "resource_class"));
	simrun_done(&r);
	sent(&r, "GET", "/v1/allocations", "X-OpenStack-Ironic-API-Version: 1.51", NULL);
	assert_int_equal(r.status, 404);
	simrun_done(&r);
}

static int setup_locked(void **state)
{
	char path[SIMRUN_PATH];
	const char *args[] = {"--token-file", path, NULL};

	(void)state;
	S = (struct simrun){0};
	simrun_dir(&S);
	simrun_write(simrun_path(path, S.dir, "token"), TOKEN);
	return start(args);
}

static void test_a_credential_is_basic_or_a_token(void **state)
{
	static const struct {
		const char *path, *header;
		long status;
		const char *words;
	} rows[] = {
		/* admin:s3cret, admin:other, :s3cret, s3cret */
		{"/v1/nodes", "Authorization: Basic YWRtaW46czNjcmV0", 200, "nodes"},
		{"/v1/nodes", "X-Auth-Token: " TOKEN, 200, "nodes"},
		{"/v1/nodes", NULL, 401, "Authorization required"},
		{"/v1/nodes", "Authorization: Basic YWRtaW46b3RoZXI=", 401,
		 "Incorrect username or password"},
		{"/v1/nodes", "Authorization: Basic OnMzY3JldA==", 401, "Incorrect"},
		{"/v1/nodes", "Authorization: Basic czNjcmV0", 401, "Incorrect"},
		{"/v1/nodes", "Authorization: Basic ****", 401, "Incorrect"},
		{"/v1/nodes", "Authorization: Bearer " TOKEN, 401, "Incorrect"},
		{"/v1/nodes", "X-Auth-Token: other", 401, "Authorization required"},
		{"/v1", NULL, 200, "CURRENT"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct simrun_reply r;

		sent(&r, "GET", rows[i].path, rows[i].header, NULL);
		if (r.status != rows[i].status || strstr(r.body.p, rows[i].words) == NULL)
			fail_msg("%s: %ld %s", rows[i].header, r.status, r.body.p);
		if (r.status == 401) {
			assert_int_equal(simrun_int(json_object_get(r.json, "error"), "code"), 401);
			assert_non_null(strstr(r.heads, "WWW-Authenticate: Basic realm="));
		}
		simrun_done(&r);
	}
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
	const struct CMUnitTest tests[] = {
		T(test_each_mistake_has_its_answer),
		T(test_a_patch_is_whole_or_nothing),
		T(test_a_patch_changes_members),
		T(test_an_instance_is_on_one_machine),
		T(test_an_allocation_may_get_another_name),
		T(test_instance_traits_must_be_the_machine_s),
		T(test_lists_come_in_pages),
		T(test_lists_are_filtered),
		T(test_a_version_is_one_of_ours),
		T(test_old_versions_lack_what_came_later),
		cmocka_unit_test_setup_teardown(test_a_credential_is_basic_or_a_token, setup_locked,
						teardown),
	};
#undef T

	return cmocka_run_group_tests_name("simcloud_ironic_refuse", tests, NULL, NULL);
}
