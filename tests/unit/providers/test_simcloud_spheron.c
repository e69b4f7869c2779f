/* test_simcloud_spheron.c - Spheron's face of simcloud, over HTTP: offers, the life of a
 * deployment, its minimum runtime, and that answers have the shape of those in
 * tests/fixtures/spheron. */
#include "simrun_spheron.h"

#define FIXTURES "tests/fixtures/spheron"
#define OURS     "b0b1c2d3e0000-c-h100-7" /* generation 12 */

static void test_a_deployment_is_deploying_then_running_then_terminated(void **state)
{
	char id[64];
	json_t *d;

	(void)state;
	d = ask("POST", "deployments", CREATE(OFFER_B, ",\"name\":\"" OURS "\""), 200);
	assert_string_equal(text_at(d, "status"), "deploying");
	assert_string_equal(text_at(d, "name"), OURS);
	assert_true(json_is_null(at(d, "startedAt")));
	(void)snprintf(id, sizeof(id), "%s", text_at(d, "id"));
	json_decref(d);
	d = await(id, "running");
	assert_string_equal(text_at(d, "user"), "ubuntu");
	assert_string_equal(text_at(d, "gpuModelId"), "H100");
	json_decref(d);
	d = ask("DELETE", path_of(id, ""), NULL, 200);
	assert_string_equal(text_at(d, "deployment.id"), id);
	assert_string_equal(text_at(d, "deployment.status"), "terminated");
	assert_true(json_is_string(at(d, "deployment.stoppedAt")));
	json_decref(d);
	json_decref(await(id, "terminated"));
}

/* Who takes an address for readiness comes too early. */
static void test_the_address_comes_before_the_machine(void **state)
{
	json_t *d;

	(void)state;
	simrun_do(&S, "POST", "/admin/config", "{\"boot\":\"1h\"}");
	d = ask("GET", path_of(create("c1"), ""), NULL, 200);
	assert_string_equal(text_at(d, "status"), "deploying");
	assert_int_equal(strncmp(text_at(d, "ipAddress"), "10.77.", 6), 0);
	json_decref(d);
	simrun_do(&S, "POST", "/admin/config", "{\"address_after\":\"1h\"}");
	d = ask("GET", path_of(create("c2"), ""), NULL, 200);
	assert_true(json_is_null(at(d, "ipAddress")));
	json_decref(d);
}

static void test_the_meter_learns_the_node_from_the_name(void **state)
{
	json_t *meter;

	(void)state;
	(void)create(OURS);
	(void)create("somebody");
	meter = simrun_ask(&S, "GET", "/admin/meter", NULL, 200);
	assert_string_equal(text_at(meter, "rows.0.name"), "h100-7");
	assert_string_equal(text_at(meter, "rows.0.cluster"), "0b1c2d3e0000");
	assert_int_equal(json_integer_value(at(meter, "rows.0.generation")), 12);
	assert_string_equal(text_at(meter, "rows.1.name"), "somebody");
	json_decref(meter);
}

static void test_a_name_is_no_token_and_can_be_changed(void **state)
{
	char id[64];
	json_t *d;

	(void)state;
	(void)create(OURS);
	(void)snprintf(id, sizeof(id), "%s", create(OURS));
	assert_int_equal(bought("h100-7"), 2);
	d = ask("PATCH", path_of(id, ""), "{\"name\":\"other\"}", 200);
	assert_string_equal(text_at(d, "name"), "other");
	json_decref(d);
	assert_int_equal(bought("h100-7"), 2); /* the meter keeps what it knew */
}

/* --- the end ---------------------------------------------------------------------------------- */

static void test_a_deployment_cannot_end_before_its_minimum_runtime(void **state)
{
	char id[64];
	json_t *d;

	(void)state;
	simrun_do(&S, "POST", "/admin/config", "{\"min_rental\":\"20m\"}");
	(void)snprintf(id, sizeof(id), "%s", create("c1"));
	d = ask("GET", path_of(id, "/can-terminate"), NULL, 200);
	assert_true(json_is_false(at(d, "canTerminate")));
	assert_int_equal(json_integer_value(at(d, "minimumRuntime")), 20);
	assert_int_equal(json_integer_value(at(d, "timeRemaining")), 20);
	assert_shape(FIXTURES, "can-terminate-not.json", d);
	json_decref(d);
	says("DELETE", path_of(id, ""), NULL, 400,
	     "{\"error\":\"Minimum runtime not met\",\"message\":\"Instance must run for at least "
	     "20 minutes. Time remaining: 20 minutes.\",\"canTerminate\":false,"
	     "\"timeRemaining\":20,\"minimumRuntime\":20}");
	simrun_do(&S, "POST", "/admin/config", "{\"min_rental\":\"1ms\"}");
	(void)usleep(2000);
	d = ask("GET", path_of(id, "/can-terminate"), NULL, 200);
	assert_true(json_is_true(at(d, "canTerminate")));
	assert_shape(FIXTURES, "can-terminate.json", d);
	json_decref(d);
	json_decref(ask("DELETE", path_of(id, ""), NULL, 200));
}

static void test_a_dead_deployment_cannot_end_again(void **state)
{
	static const char already[] =
		"{\"error\":\"Cannot terminate instance\",\"message\":\"Instance has already been "
		"terminated.\",\"currentStatus\":\"terminated\",\"canTerminate\":false}";
	char id[64];
	json_t *d;

	(void)state;
	(void)snprintf(id, sizeof(id), "%s", create("c1"));
	json_decref(ask("DELETE", path_of(id, ""), NULL, 200));
	says("DELETE", path_of(id, ""), NULL, 400, already);
	json_decref(await(id, "terminated"));
	says("DELETE", path_of(id, ""), NULL, 400, already);
	d = ask("GET", path_of(id, "/can-terminate"), NULL, 200);
	assert_true(json_is_false(at(d, "canTerminate")));
	assert_shape(FIXTURES, "can-terminate-not.json", d);
	json_decref(d);
}

/* A reclaim has no notice, and looks as a broken host does. */
static void test_what_the_provider_ends_is_told_apart(void **state)
{
	char id[64];

	(void)state;
	(void)snprintf(id, sizeof(id), "%s", create("c1"));
	json_decref(await(id, "running"));
	simrun_do(&S, "POST", "/admin/reclaim", "{\"node\":\"c1\",\"notice_ms\":60000}");
	json_decref(await(id, "running"));
	simrun_do(&S, "POST", "/admin/reclaim", "{\"node\":\"c1\",\"notice_ms\":0}");
	json_decref(await(id, "terminated-provider"));
	says("DELETE", path_of(id, ""), NULL, 400,
	     "{\"error\":\"Cannot terminate instance\",\"message\":\"Instance has already been "
	     "terminated.\",\"currentStatus\":\"terminated-provider\",\"canTerminate\":false}");
	(void)snprintf(id, sizeof(id), "%s", create("c2"));
	simrun_do(&S, "POST", "/admin/kill", "{\"node\":\"c2\"}");
	json_decref(await(id, "terminated-provider"));
}

/* --- lists ------------------------------------------------------------------------------------ */

static void test_a_list_comes_whole_or_in_pages(void **state)
{
	char name[16];
	json_t *d;

	(void)state;
	for (int i = 0; i < 25; i++) {
		(void)snprintf(name, sizeof(name), "c%d", i);
		(void)create(name);
	}
	d = ask("GET", "deployments", NULL, 200);
	assert_int_equal(json_array_size(d), 25);
	json_decref(d);
	d = ask("GET", "deployments?page=2&limit=10", NULL, 200);
	assert_int_equal(json_array_size(at(d, "deployments")), 10);
	assert_string_equal(text_at(d, "deployments.0.name"), "c10");
	assert_int_equal(json_integer_value(at(d, "total")), 25);
	assert_int_equal(json_integer_value(at(d, "totalPages")), 3);
	json_decref(d);
	d = ask("GET", "deployments?page=2", NULL, 200);
	assert_int_equal(json_array_size(at(d, "deployments")), 5);
	json_decref(d);
	d = ask("GET", "deployments?page=9", NULL, 200);
	assert_int_equal(json_array_size(at(d, "deployments")), 0);
	json_decref(d);
}

static void test_a_list_has_the_dead_unless_told(void **state)
{
	char id[64];
	json_t *d;

	(void)state;
	(void)create("c1");
	(void)snprintf(id, sizeof(id), "%s", create("c2"));
	json_decref(ask("DELETE", path_of(id, ""), NULL, 200));
	d = ask("GET", "deployments", NULL, 200);
	assert_int_equal(json_array_size(d), 2);
	json_decref(d);
	d = ask("GET", "deployments?status=active", NULL, 200);
	assert_int_equal(json_array_size(d), 1);
	assert_string_equal(text_at(d, "0.name"), "c1");
	json_decref(d);
	d = ask("GET", "deployments?status=inactive", NULL, 200);
	assert_string_equal(text_at(d, "0.name"), "c2");
	json_decref(d);
	d = ask("GET", "deployments?status=failed", NULL, 200);
	assert_int_equal(json_array_size(d), 0);
	json_decref(d);
}

static void test_a_new_deployment_may_not_be_known_yet(void **state)
{
	json_t *d;

	(void)state;
	simrun_do(&S, "POST", "/admin/config", "{\"visible\":\"1h\"}");
	json_decref(ask("DELETE", path_of(create("c1"), ""), NULL, 404));
	d = ask("GET", "deployments", NULL, 200);
	assert_int_equal(json_array_size(d), 0);
	json_decref(d);
	assert_int_equal(bought("c1"), 1);
}

/* --- offers ----------------------------------------------------------------------------------- */

#define POOL(type, zone, market, price, capacity)                                                  \
	"{\"type\":\"" type "\",\"region\":\"eu\",\"zone\":\"" zone "\",\"market\":\"" market      \
	"\",\"price\":\"" price "\",\"currency\":\"USD\",\"capacity\":" capacity "}"
#define POOLS                                                                                      \
	"{\"offers\":[" POOL("gpu_8x_h100", "eu-a", "on-demand", "29.52", "0") "," POOL(           \
		"gpu_8x_h100", "eu-b", "spot", "11.80",                                            \
		"2") "," POOL("cluster_8x_h100", "eu-c", "on-demand", "32.00",                     \
			      "null") "," POOL("bm_8x_a100", "eu-c", "on-demand", "16.40",         \
					       "1") "," POOL("cpu_4x", "eu-a", "on-demand",        \
							     "0.19", "null") "]}"

static void test_offers_are_grouped_by_gpu(void **state)
{
	json_t *o;

	(void)state;
	simrun_do(&S, "POST", "/admin/config", POOLS);
	o = ask("GET", "gpu-offers", NULL, 200);
	assert_int_equal(json_integer_value(at(o, "total")), 2);
	assert_string_equal(text_at(o, "data.0.gpuType"), "H100");
	assert_int_equal(json_integer_value(at(o, "data.0.totalAvailable")), 2);
	assert_int_equal(json_array_size(at(o, "data.0.offers")), 3);
	assert_true(json_is_false(at(o, "data.0.offers.0.available")));
	assert_string_equal(text_at(o, "data.0.offers.0.provider"), "spheron-ai");
	assert_true(json_is_true(at(o, "data.0.offers.0.supportsCloudInit")));
	assert_null(at(o, "data.0.offers.0.spot_price"));
	assert_string_equal(text_at(o, "data.0.offers.1.instanceType"), "SPOT");
	assert_string_equal(text_at(o, "data.0.offers.1.offerId"), "gpu_8x_h100_eu-b::spot");
	assert_true(json_is_false(at(o, "data.0.offers.1.supportsCloudInit")));
	assert_non_null(at(o, "data.0.offers.1.spot_price"));
	assert_string_equal(text_at(o, "data.0.offers.2.instanceType"), "CLUSTER");
	assert_string_equal(text_at(o, "data.0.offers.2.interconnectType"), "InfiniBand");
	assert_string_equal(text_at(o, "data.1.offers.0.instanceType"), "BARE_METAL");
	assert_shape(FIXTURES, "offers.json", o);
	json_decref(o);
}

static void test_offers_are_filtered_sorted_and_paged(void **state)
{
	static const struct {
		const char *query;
		size_t n;
		const char *first;
	} table[] = {
		{"instanceType=SPOT", 1, "H100"},
		{"instanceType=BARE_METAL", 1, "A100"},
		{"search=a100", 1, "A100"},
		{"search=v100", 0, "(none)"},
		{"sortBy=highestPrice", 2, "A100"},
		{"sortBy=highestPrice&sortOrder=desc", 2, "H100"},
		{"sortBy=lowestPrice", 2, "H100"},
		{"sortBy=averagePrice&sortOrder=asc", 2, "A100"},
		{"page=2&limit=1", 1, "A100"},
		{"page=3&limit=1", 0, "(none)"},
	};
	char path[128];

	(void)state;
	simrun_do(&S, "POST", "/admin/config", POOLS);
	for (size_t i = 0; i < COUNT(table); i++) {
		json_t *o;

		(void)snprintf(path, sizeof(path), "gpu-offers?%s", table[i].query);
		o = ask("GET", path, NULL, 200);
		if (json_array_size(at(o, "data")) != table[i].n ||
		    strcmp(text_at(o, "data.0.gpuType"), table[i].first) != 0)
			fail_msg("%s: %s", path, text_at(o, "data.0.gpuType"));
		json_decref(o);
	}
}

#define INIT                                                                                       \
	",\"cloudInit\":{\"runcmd\":[\"true\"],\"writeFiles\":[{\"path\":\"/a\",\"content\":"      \
	"\"b\"}]}"

static int setup_booting(void **state)
{
	static const char *const more[] = {"--boot", "/bin/cat", "--run-dir", "RUN", NULL};

	(void)state;
	return setup_with(more);
}

/* Fail unless a deployment of that body boots with that user data; "": with none. */
static void boots_with(const char *body, const char *text)
{
	json_t *d = ask("POST", "deployments", body, 200);
	char run[SIMRUN_PATH], dir[SIMRUN_PATH], path[SIMRUN_PATH], got[256] = "";
	FILE *f;

	(void)simrun_path(dir, simrun_path(run, S.dir, "run"), text_at(d, "id"));
	(void)simrun_path(path, dir, "user-data");
	for (int i = 0; i < 500 && access(simrun_path(run, dir, "console.log"), F_OK) != 0; i++)
		usleep(10000);
	f = fopen(path, "r");
	if (f != NULL) {
		got[fread(got, 1, sizeof(got) - 1, f)] = '\0';
		(void)fclose(f);
	}
	assert_string_equal(got, text);
	json_decref(d);
}

/* An offer without cloudInit takes it all the same, and drops it. */
static void test_cloud_init_reaches_only_who_supports_it(void **state)
{
	(void)state;
	boots_with(CREATE(OFFER_A, INIT),
		   "#cloud-config\n{\"runcmd\":[\"true\"],\"write_files\":[{\"path\":\"/a\","
		   "\"content\":\"b\"}]}");
	boots_with(CREATE(OFFER_B, INIT), "");
	boots_with(CREATE(OFFER_A, ""), "");
}

/* --- the account ------------------------------------------------------------------------------ */

static void test_keys_are_kept_by_id(void **state)
{
	char body[640], path[96];
	json_t *k, *d;

	(void)state;
	k = ask("POST", "ssh-keys", "{\"name\":\"lab\",\"publicKey\":\"ssh-ed25519 A\"}", 200);
	d = ask("GET", "ssh-keys", NULL, 200);
	assert_shape(FIXTURES, "ssh-keys.json", d);
	assert_string_equal(text_at(d, "0.id"), text_at(k, "id"));
	assert_string_equal(text_at(d, "0.publicKey"), "ssh-ed25519 A");
	json_decref(d);
	(void)snprintf(body, sizeof(body), "{" OFFER_B TEAM ",\"sshKeyId\":\"%s\"}",
		       text_at(k, "id"));
	d = ask("POST", "deployments", body, 200);
	assert_string_equal(text_at(d, "sshKeyId"), text_at(k, "id"));
	assert_string_equal(text_at(d, "sshKeyName"), "lab");
	json_decref(d);
	(void)snprintf(path, sizeof(path), "ssh-keys/%s", text_at(k, "id"));
	says("DELETE", path, NULL, 200, "");
	says("DELETE", path, NULL, 404,
	     "{\"error\":\"SSH key not found\",\"code\":\"NOT_FOUND\",\"details\":{}}");
	says("POST", "deployments", body, 400,
	     "{\"error\":\"SSH key not found\",\"code\":\"VALIDATION_ERROR\",\"details\":{}}");
	json_decref(k);
}

static void test_the_account_has_a_team_and_a_balance(void **state)
{
	json_t *o;

	(void)state;
	o = ask("GET", "balance", NULL, 200);
	assert_shape(FIXTURES, "balance.json", o);
	assert_string_equal(text_at(o, "teams.0.teamId"), "team-simcloud");
	assert_true(json_real_value(at(o, "teams.0.balance")) > 0);
	json_decref(o);
	simrun_do(&S, "POST", "/admin/config", "{\"quota\":0}");
	o = ask("GET", "balance", NULL, 200);
	assert_true(json_real_value(at(o, "teams.0.balance")) == 0);
	json_decref(o);
	o = ask("GET", "teams", NULL, 200);
	assert_shape(FIXTURES, "teams.json", o);
	assert_string_equal(text_at(o, "teams.0.id"), "team-simcloud");
	json_decref(o);
	o = ask("GET", "providers", NULL, 200);
	assert_string_equal(text_at(o, "1"), "massed-compute");
	json_decref(o);
}

static void test_deployments_have_the_known_shape(void **state)
{
	char key[96], id[64], body[640];
	json_t *k, *d;

	(void)state;
	k = ask("POST", "ssh-keys", "{\"name\":\"lab\",\"publicKey\":\"ssh-ed25519 A\"}", 200);
	(void)snprintf(key, sizeof(key), "%s", text_at(k, "id"));
	json_decref(k);
	(void)snprintf(body, sizeof(body), "{" OFFER_B TEAM ",\"sshKeyId\":\"%s\",\"name\":\"c1\"}",
		       key);
	d = ask("POST", "deployments", body, 200);
	assert_shape(FIXTURES, "deployment-deploying.json", d);
	(void)snprintf(id, sizeof(id), "%s", text_at(d, "id"));
	json_decref(d);
	d = await(id, "running");
	assert_shape(FIXTURES, "deployment.json", d);
	json_decref(d);
	d = ask("GET", "deployments", NULL, 200);
	assert_shape(FIXTURES, "deployments.json", d);
	json_decref(d);
	d = ask("GET", "deployments?page=1", NULL, 200);
	assert_shape(FIXTURES, "deployments-page.json", d);
	json_decref(d);
	(void)snprintf(body, sizeof(body), "{" OFFER_A TEAM ",\"sshKeyId\":\"%s\",\"name\":\"c2\"}",
		       key);
	d = ask("POST", "deployments", body, 200);
	(void)snprintf(id, sizeof(id), "%s", text_at(d, "id"));
	json_decref(d);
	d = await(id, "running");
	assert_shape(FIXTURES, "deployment-without-port.json", d);
	json_decref(d);
}

int main(void)
{
#define T(t) cmocka_unit_test_setup_teardown(t, setup, rest_stop)
	const struct CMUnitTest tests[] = {
		T(test_a_deployment_is_deploying_then_running_then_terminated),
		T(test_the_address_comes_before_the_machine),
		T(test_the_meter_learns_the_node_from_the_name),
		T(test_a_name_is_no_token_and_can_be_changed),
		T(test_a_deployment_cannot_end_before_its_minimum_runtime),
		T(test_a_dead_deployment_cannot_end_again),
		T(test_what_the_provider_ends_is_told_apart),
		T(test_a_list_comes_whole_or_in_pages),
		T(test_a_list_has_the_dead_unless_told),
		T(test_a_new_deployment_may_not_be_known_yet),
		T(test_offers_are_grouped_by_gpu),
		T(test_offers_are_filtered_sorted_and_paged),
		cmocka_unit_test_setup_teardown(test_cloud_init_reaches_only_who_supports_it,
						setup_booting, rest_stop),
		T(test_keys_are_kept_by_id),
		T(test_the_account_has_a_team_and_a_balance),
		T(test_deployments_have_the_known_shape),
	};

#undef T
	return cmocka_run_group_tests_name("simcloud_spheron", tests, NULL, NULL);
}
