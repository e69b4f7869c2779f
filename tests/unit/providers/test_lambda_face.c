/* test_lambda_face.c - the driver lambda against simcloud's face of Lambda, as the engine drives
 * it.
 */
#include "simrun.h"

#include "base/clock.h"
#include "providers/lambda.h"

#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

static const char cluster[] = "0b1c2d3e-4f50-4000-8000-000000000001";
static const char ssh_key[] = "lab";
static struct simrun S;
static void *driver;

static void open_driver(const char *credential)
{
	const struct lambda_options o = {.ssh_key = ssh_key};
	const struct provider_conf conf = {
		.name = "t", .url = S.url, .credential = credential, .options = &o};

	assert_int_equal(provider_lambda.open(&driver, &conf, NULL), 0);
}

static int setup(void **state)
{
	char path[SIMRUN_PATH];
	const char *args[] = {"--token-file", path, NULL};

	(void)state;
	S = (struct simrun){0};
	simrun_dir(&S);
	simrun_write(simrun_path(path, S.dir, "key"), "secret_lab.k3y\n");
	simrun_start(&S, args);
	simrun_do(&S, "POST", "/admin/config", "{\"boot\":\"1ms\",\"stop\":\"1ms\"}");
	open_driver("secret_lab.k3y");
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	provider_lambda.close(driver);
	assert_int_equal(simrun_stop(&S, SIGTERM), 0);
	simrun_remove(S.dir);
	return 0;
}

static void config(const char *text)
{
	simrun_do(&S, "POST", "/admin/config", text);
}

static void fault(const char *text)
{
	simrun_do(&S, "POST", "/admin/faults", text);
}

static int launch(struct provider_result *out, const char *node, uint64_t gen)
{
	const struct provider_place place = {
		.type = "gpu_8x_h100", .region = "eu-north-1", .zone = ""};
	const struct provider_want want = {node, gen, 0};
	struct provider_op op = {.kind = PROVIDER_CREATE};

	op.u.create = (struct provider_create){
		.cluster = cluster, .token = "t", .place = &place, .wants = &want, .nwants = 1};
	return simrun_drive(&provider_lambda, driver, &op, out);
}

/* Launch one; the id is in `id`. */
static void launched(char id[PROVIDER_ID_MAX + 1], const char *node, uint64_t gen)
{
	struct provider_result r;

	assert_int_equal(launch(&r, node, gen), 0);
	assert_int_equal(r.code, PROVIDER_OK);
	memcpy(id, r.items[0].instance.id, PROVIDER_ID_MAX + 1);
	provider_result_fini(&r);
}

static struct provider_result list(void)
{
	struct provider_op op = {.kind = PROVIDER_LIST};
	struct provider_result r;

	op.u.list.cluster = cluster;
	assert_int_equal(simrun_drive(&provider_lambda, driver, &op, &r), 0);
	return r;
}

/* Terminate, in as many requests as it takes. */
static struct provider_result terminate(const char *const *ids, size_t n)
{
	char cursor[PROVIDER_CURSOR_MAX + 1] = "";
	struct provider_op op = {.kind = PROVIDER_DELETE, .cursor = cursor};
	struct provider_result r = {.code = PROVIDER_MORE};

	op.u.del.ids = ids;
	op.u.del.nids = n;
	for (int i = 0; i < 50 && r.code == PROVIDER_MORE; i++) {
		memcpy(cursor, r.cursor, sizeof(cursor));
		provider_result_fini(&r);
		assert_int_equal(simrun_drive(&provider_lambda, driver, &op, &r), 0);
	}
	return r;
}

static size_t bought(void)
{
	json_t *meter = simrun_ask(&S, "GET", "/admin/meter", NULL, 200);
	size_t n = json_array_size(json_object_get(meter, "rows"));

	json_decref(meter);
	return n;
}

/* Wait until a list shows the only instance in this state. */
static void becomes(enum provider_state state)
{
	bool is = false;

	for (int i = 0; i < 500 && !is; i++) {
		struct provider_result r = list();

		is = r.ninstances == 1 && r.instances[0].state == state;
		provider_result_fini(&r);
		if (!is)
			(void)usleep(10000);
	}
	assert_true(is);
}

static void test_launch_list_and_terminate(void **state)
{
	char id[PROVIDER_ID_MAX + 1];
	const char *ids[] = {id};
	struct provider_result r;

	(void)state;
	launched(id, "h100-7", 12);
	becomes(PROVIDER_RUNNING);
	r = list();
	assert_string_equal(r.instances[0].id, id);
	assert_string_equal(r.instances[0].cluster, cluster);
	assert_string_equal(r.instances[0].node, "h100-7");
	assert_int_equal(r.instances[0].gen, 12);
	assert_int_equal(strncmp(r.instances[0].addr, "10.77.", 6), 0);
	provider_result_fini(&r);
	r = terminate(ids, 1);
	assert_int_equal(r.code, PROVIDER_OK);
	assert_int_equal(r.items[0].code, PROVIDER_OK);
	provider_result_fini(&r);
	becomes(PROVIDER_ENDED);
}

/* The same launch again is another instance: so it is never sent again before a list. */
static void test_a_launch_sent_twice_is_two_instances(void **state)
{
	char one[PROVIDER_ID_MAX + 1], two[PROVIDER_ID_MAX + 1];
	struct provider_result r;

	(void)state;
	launched(one, "n1", 1);
	launched(two, "n1", 1);
	assert_string_not_equal(one, two);
	r = list();
	assert_int_equal(r.ninstances, 2);
	provider_result_fini(&r);
}

static void test_a_reply_that_is_lost_is_found_in_the_list(void **state)
{
	struct provider_result r;

	(void)state;
	fault("{\"op\":\"create\",\"action\":\"drop-reply\",\"count\":1}");
	assert_int_equal(launch(&r, "n1", 3), -1);
	provider_result_fini(&r);
	assert_int_equal(bought(), 1);
	r = list();
	assert_int_equal(r.ninstances, 1);
	assert_string_equal(r.instances[0].node, "n1");
	assert_int_equal(r.instances[0].gen, 3);
	provider_result_fini(&r);
}

static void test_launches_that_are_refused(void **state)
{
	static const struct {
		const char *fault;
		enum provider_code code;
	} rows[] = {
		{"\"code\":\"capacity\"", PROVIDER_CAPACITY},
		{"\"code\":\"quota\"", PROVIDER_QUOTA},
		{"\"code\":\"denied\"", PROVIDER_DENIED},
		{"\"code\":\"denied\",\"message\":\"global/invalid-address: Move.\"",
		 PROVIDER_DENIED},
		{"\"code\":\"invalid\"", PROVIDER_INVALID},
		{"\"code\":\"not-found\"", PROVIDER_INVALID},
		{"\"code\":\"rate\"", PROVIDER_RATE},
		{"\"code\":\"internal\"", PROVIDER_AMBIGUOUS},
		{"\"code\":\"invalid\",\"message\":\"provider/internal-unavailable: Wait.\"",
		 PROVIDER_AMBIGUOUS},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct provider_result r;
		char text[200];

		(void)snprintf(text, sizeof(text),
			       "{\"op\":\"create\",\"action\":\"error\",\"count\":1,%s}",
			       rows[i].fault);
		fault(text);
		assert_int_equal(launch(&r, "n1", 1), 0);
		if (r.code != rows[i].code)
			fail_msg("%s: %s: %s", text, provider_code_str(r.code), r.message);
		provider_result_fini(&r);
	}
	assert_int_equal(bought(), 0);
}

static void test_no_capacity_and_no_quota(void **state)
{
	struct provider_result r;

	(void)state;
	simrun_do(&S, "POST", "/admin/capacity", "{\"type\":\"gpu_8x_h100\",\"capacity\":0}");
	assert_int_equal(launch(&r, "n1", 1), 0);
	assert_int_equal(r.code, PROVIDER_CAPACITY);
	provider_result_fini(&r);
	simrun_do(&S, "POST", "/admin/capacity", "{\"type\":\"gpu_8x_h100\",\"capacity\":null}");
	config("{\"quota\":0}");
	assert_int_equal(launch(&r, "n1", 1), 0);
	assert_int_equal(r.code, PROVIDER_QUOTA);
	provider_result_fini(&r);
}

/* The face with Lambda's own limit, as an option of simcloud. */
static void test_one_launch_in_twelve_seconds(void **state)
{
	struct provider_result r;
	char id[PROVIDER_ID_MAX + 1];

	(void)state;
	config("{\"buckets\":{\"create\":{\"rate\":0.083,\"burst\":1}}}");
	launched(id, "n1", 1);
	assert_int_equal(launch(&r, "n2", 1), 0);
	assert_int_equal(r.code, PROVIDER_RATE);
	assert_true(r.retry_after_ms > 10000 && r.retry_after_ms <= 13000);
	provider_result_fini(&r);
	assert_int_equal(bought(), 1);
}

static void test_many_are_terminated_though_one_is_unknown(void **state)
{
	char ids[5][PROVIDER_ID_MAX + 1] = {{0}};
	const char *at[6];
	struct provider_result r;

	(void)state;
	for (size_t i = 0; i < 5; i++) {
		launched(ids[i], "n1", i + 1);
		at[i < 3 ? i : i + 1] = ids[i];
	}
	at[3] = "0920582c7ff041399e34823a0be62549";
	r = terminate(at, 6);
	assert_int_equal(r.code, PROVIDER_OK);
	assert_int_equal(r.nitems, 6);
	for (size_t i = 0; i < 6; i++)
		assert_int_equal(r.items[i].code, i == 3 ? PROVIDER_NOT_FOUND : PROVIDER_OK);
	provider_result_fini(&r);
}

/* Whom Lambda took from us it says only afterwards. */
static void test_a_preempted_instance_was_taken(void **state)
{
	char id[PROVIDER_ID_MAX + 1];
	struct provider_result r;

	(void)state;
	launched(id, "n1", 1);
	becomes(PROVIDER_RUNNING);
	simrun_do(&S, "POST", "/admin/reclaim", "{\"node\":\"n1\",\"notice_ms\":1}");
	becomes(PROVIDER_STOPPING);
	r = list();
	assert_true(r.instances[0].taken);
	provider_result_fini(&r);
}

/* It may still run its job: that is burstd's to find out. */
static void test_an_unhealthy_instance_runs(void **state)
{
	char id[PROVIDER_ID_MAX + 1];
	struct provider_result r;

	(void)state;
	launched(id, "n1", 1);
	becomes(PROVIDER_RUNNING);
	simrun_do(&S, "POST", "/admin/reclaim", "{\"node\":\"n1\",\"kind\":\"faulty\"}");
	r = list();
	assert_int_equal(r.instances[0].state, PROVIDER_RUNNING);
	assert_false(r.instances[0].taken);
	provider_result_fini(&r);
}

/* Bought by hand, or by another program, with the same account. */
static void test_instances_of_others_are_left_out(void **state)
{
	struct curl_slist *headers =
		curl_slist_append(NULL, "Authorization: Bearer secret_lab.k3y");
	struct simrun_reply reply;
	struct provider_result r;
	char url[256];

	(void)state;
	(void)snprintf(url, sizeof(url), "%s/api/v1/instance-operations/launch", S.url);
	simrun_send(&reply, "POST", url, headers,
		    "{\"region_name\":\"eu-north-1\",\"instance_type_name\":\"gpu_8x_h100\","
		    "\"ssh_key_names\":[\"lab\"],\"name\":\"by hand\"}");
	assert_int_equal(reply.status, 200);
	simrun_done(&reply);
	curl_slist_free_all(headers);
	r = list();
	assert_int_equal(r.code, PROVIDER_OK);
	assert_int_equal(r.ninstances, 0);
	provider_result_fini(&r);
}

static void test_prices_of_the_types(void **state)
{
	struct provider_op op = {.kind = PROVIDER_QUOTES};
	struct provider_result r;
	bool seen = false;

	(void)state;
	assert_int_equal(simrun_drive(&provider_lambda, driver, &op, &r), 0);
	assert_int_equal(r.code, PROVIDER_OK);
	for (size_t i = 0; i < r.nquotes; i++)
		if (strcmp(r.quotes[i].type, "gpu_8x_h100") == 0) {
			seen = true;
			assert_int_equal(r.quotes[i].price_nano_h, 29520000000);
			assert_int_equal(r.quotes[i].gpus, 8);
			if (r.quotes[i].region[0] != '\0')
				assert_int_equal(r.quotes[i].terms.stock, PROVIDER_STOCK_SOME);
		}
	assert_true(seen);
	provider_result_fini(&r);
	simrun_do(&S, "POST", "/admin/capacity", "{\"type\":\"gpu_8x_h100\",\"capacity\":0}");
	assert_int_equal(simrun_drive(&provider_lambda, driver, &op, &r), 0);
	for (size_t i = 0; i < r.nquotes; i++)
		if (strcmp(r.quotes[i].type, "gpu_8x_h100") == 0)
			assert_int_equal(r.quotes[i].terms.stock, PROVIDER_STOCK_NONE);
	provider_result_fini(&r);
}

static void test_a_wrong_key(void **state)
{
	struct provider_result r;

	(void)state;
	provider_lambda.close(driver);
	open_driver("wrong_key");
	r = list();
	assert_int_equal(r.code, PROVIDER_DENIED);
	assert_non_null(strstr(r.message, "API key was invalid"));
	assert_null(strstr(r.message, "wrong_key"));
	provider_result_fini(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(test_launch_list_and_terminate),
		T(test_a_launch_sent_twice_is_two_instances),
		T(test_a_reply_that_is_lost_is_found_in_the_list),
		T(test_launches_that_are_refused),
		T(test_no_capacity_and_no_quota),
		T(test_one_launch_in_twelve_seconds),
		T(test_many_are_terminated_though_one_is_unknown),
		T(test_a_preempted_instance_was_taken),
		T(test_an_unhealthy_instance_runs),
		T(test_instances_of_others_are_left_out),
		T(test_prices_of_the_types),
		T(test_a_wrong_key),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
