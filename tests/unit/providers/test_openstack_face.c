/* test_openstack_face.c - the driver openstack against simcloud's faces of Keystone and Nova, as
 * the engine drives it. */
#include "simrun.h"

#include "base/clock.h"
#include "providers/openstack.h"

#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

static const char cluster[] = "0b1c2d3e-4f50-4000-8000-000000000001";
static char region[] = "eu-north-1", word[] = "burstd", spot[] = ".spot",
	    image[] = "155d900f-4e14-4e4c-a73d-069cbf4541e6";
static struct simrun S;
static void *driver;

static void open_driver(const char *credential)
{
	const struct openstack_options o = {.region = region,
					    .user = word,
					    .project = word,
					    .image = image,
					    .spot_suffix = spot,
					    .together = 8};
	const struct provider_conf conf = {
		.name = "t", .url = S.url, .credential = credential, .options = &o};

	provider_openstack.close(driver);
	assert_int_equal(provider_openstack.open(&driver, &conf, NULL), 0);
}

static int drive(struct provider_op *op, struct provider_result *out)
{
	return simrun_drive(&provider_openstack, driver, op, out);
}

/* All steps of a login; what the last one says. */
static enum provider_code login(void)
{
	struct provider_op op = {.kind = PROVIDER_LOGIN};
	enum provider_code code = PROVIDER_OK;
	int more = 1;

	for (int i = 0; i < 10 && more == 1 && code == PROVIDER_OK; i++) {
		struct provider_result r;

		assert_int_equal(drive(&op, &r), 0);
		code = r.code;
		more = code == PROVIDER_OK ? provider_openstack.renew(driver, r.session, NULL) : 0;
		provider_result_fini(&r);
	}
	assert_int_equal(more, 0);
	return code;
}

static void config(const char *text)
{
	simrun_do(&S, "POST", "/admin/config", text);
}

static void fault(const char *text)
{
	simrun_do(&S, "POST", "/admin/faults", text);
}

static int setup(void **state)
{
	char path[SIMRUN_PATH];
	const char *args[] = {"--token-file", path, NULL};

	(void)state;
	S = (struct simrun){0};
	simrun_dir(&S);
	simrun_write(simrun_path(path, S.dir, "token"), "geheim\n");
	simrun_start(&S, args);
	config("{\"boot\":\"1ms\",\"stop\":\"1ms\"}");
	open_driver("geheim");
	assert_int_equal(login(), PROVIDER_OK);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	provider_openstack.close(driver);
	driver = NULL;
	assert_int_equal(simrun_stop(&S, SIGTERM), 0);
	simrun_remove(S.dir);
	return 0;
}

/* --- operations --------------------------------------------------------------------------------
 */

static const struct provider_want wants[] = {{"c1", 3, 1}, {"c2", 3, 1}, {"c3", 7, 1}};
static struct provider_place place;

/* One request of a create of the first n. */
static enum provider_code create(struct provider_result *out, size_t n, const char *cursor)
{
	struct provider_op op = {.kind = PROVIDER_CREATE, .cursor = cursor};

	op.u.create = (struct provider_create){.cluster = cluster,
					       .token = "burstd-0b1c2d3e-1",
					       .place = &place,
					       .wants = wants,
					       .nwants = n,
					       .user_data = "#!/bin/sh\n"};
	assert_int_equal(drive(&op, out), 0);
	return out->code;
}

static void anywhere(const char *type)
{
	place = (struct provider_place){.type = type, .region = region, .zone = ""};
}

/* The whole create, as the engine goes on with it, but without its pauses. */
static struct provider_result created(size_t n)
{
	char cursor[PROVIDER_CURSOR_MAX + 1] = "";
	struct provider_result r = {.code = PROVIDER_MORE};

	anywhere("gpu_8x_h100");
	for (int i = 0; i < 30 && r.code == PROVIDER_MORE; i++) {
		provider_result_fini(&r);
		(void)create(&r, n, cursor);
		memcpy(cursor, r.cursor, sizeof(cursor));
	}
	return r;
}

static struct provider_result list(void)
{
	struct provider_op op = {.kind = PROVIDER_LIST};
	struct provider_result r;

	op.u.list.cluster = cluster;
	assert_int_equal(drive(&op, &r), 0);
	return r;
}

static struct provider_result delete_one(const char *id)
{
	struct provider_op op = {.kind = PROVIDER_DELETE};
	struct provider_result r;

	op.u.del.ids = &id;
	op.u.del.nids = 1;
	assert_int_equal(drive(&op, &r), 0);
	return r;
}

/* Wait until lists show n servers, and all of them in this state. */
static struct provider_result become(size_t n, enum provider_state state)
{
	for (int i = 0; i < 500; i++) {
		struct provider_result r = list();
		size_t are = 0;

		for (size_t k = 0; k < r.ninstances; k++)
			are += r.instances[k].state == state;
		if (r.code == PROVIDER_OK && r.ninstances == n && are == n)
			return r;
		provider_result_fini(&r);
		(void)usleep(10000);
	}
	fail_msg("there are no %zu servers in state %d", n, (int)state);
	return (struct provider_result){0};
}

static void ended(void)
{
	struct provider_result r = become(0, PROVIDER_ENDED);

	provider_result_fini(&r);
}

static size_t bought(void)
{
	json_t *meter = simrun_ask(&S, "GET", "/admin/meter", NULL, 200);
	size_t n = json_array_size(json_object_get(meter, "rows"));

	json_decref(meter);
	return n;
}

/* --- stories -----------------------------------------------------------------------------------
 */

static void test_a_job_s_servers_live_and_end(void **state)
{
	struct provider_result made = created(3), r;

	(void)state;
	assert_int_equal(made.code, PROVIDER_OK);
	assert_int_equal(made.nitems, 3);
	r = become(3, PROVIDER_RUNNING);
	for (size_t i = 0; i < 3; i++)
		for (size_t k = 0; k < 3; k++) {
			const struct provider_instance *in = &r.instances[k];

			if (strcmp(in->id, made.items[i].instance.id) != 0)
				continue;
			assert_string_equal(in->node, wants[i].node);
			assert_int_equal(in->gen, wants[i].gen);
			assert_string_equal(in->cluster, cluster);
			assert_true(in->addr[0] != '\0' && in->created_ms > 0);
		}
	provider_result_fini(&r);
	for (size_t i = 0; i < 3; i++) {
		r = delete_one(made.items[i].instance.id);
		assert_int_equal(r.items[0].code, PROVIDER_OK);
		provider_result_fini(&r);
	}
	ended();
	r = delete_one(made.items[0].instance.id);
	assert_int_equal(r.items[0].code, PROVIDER_NOT_FOUND);
	provider_result_fini(&r);
	provider_result_fini(&made);
	assert_int_equal(bought(), 3);
}

static void test_a_single_server_is_known_by_one_request(void **state)
{
	struct provider_result r;

	(void)state;
	anywhere("gpu_8x_h100");
	assert_int_equal(create(&r, 1, ""), PROVIDER_OK);
	assert_string_equal(r.items[0].instance.node, "c1");
	provider_result_fini(&r);
	r = become(1, PROVIDER_RUNNING);
	assert_string_equal(r.instances[0].node, "c1");
	provider_result_fini(&r);
}

/* Accepted, and not in the list for a while: it is asked for, not bought again. */
static void test_servers_that_are_shown_late(void **state)
{
	struct provider_result r;
	char cursor[PROVIDER_CURSOR_MAX + 1];

	(void)state;
	config("{\"visible\":\"200ms\"}");
	anywhere("gpu_8x_h100");
	assert_int_equal(create(&r, 3, ""), PROVIDER_MORE);
	memcpy(cursor, r.cursor, sizeof(cursor));
	provider_result_fini(&r);
	assert_int_equal(create(&r, 3, cursor), PROVIDER_MORE);
	assert_string_not_equal(r.cursor, cursor);
	memcpy(cursor, r.cursor, sizeof(cursor));
	provider_result_fini(&r);
	(void)usleep(250000);
	assert_int_equal(create(&r, 3, cursor), PROVIDER_OK);
	assert_int_equal(r.items[2].code, PROVIDER_OK);
	provider_result_fini(&r);
	assert_int_equal(bought(), 3);
}

/* Nova takes it, and finds no host later. */
static void test_no_host_is_a_refusal_that_comes_late(void **state)
{
	struct provider_result r;

	(void)state;
	simrun_do(&S, "POST", "/admin/capacity", "{\"type\":\"gpu_8x_h100\",\"capacity\":2}");
	r = created(3);
	assert_int_equal(r.code, PROVIDER_OK);
	provider_result_fini(&r);
	r = become(3, PROVIDER_FAILED);
	assert_int_equal(r.nfailures, 3);
	for (size_t i = 0; i < 3; i++) {
		struct provider_result d = delete_one(r.failures[i].id);

		assert_int_equal(r.failures[i].code, PROVIDER_CAPACITY);
		assert_int_equal(d.items[0].code, PROVIDER_OK);
		provider_result_fini(&d);
	}
	provider_result_fini(&r);
	ended();
	assert_int_equal(bought(), 0);
}

/* Put a server in ERROR, as an admin may: by another action than the driver's. */
static void reset_state(const char *id)
{
	struct provider_op op = {.kind = PROVIDER_CONSOLE};
	struct curl_slist *headers = NULL;
	struct provider_request rq = {0};
	struct simrun_reply r;

	op.u.console.id = id;
	assert_int_equal(provider_openstack.build(driver, &op, &rq, NULL), 0);
	for (size_t i = 0; rq.headers[i] != NULL; i++)
		headers = curl_slist_append(headers, rq.headers[i]);
	simrun_send(&r, rq.method, rq.url, headers, "{\"os-resetState\":{\"state\":\"error\"}}");
	assert_int_equal(r.status, 202);
	simrun_done(&r);
	curl_slist_free_all(headers);
	provider_request_fini(&rq);
}

/* An admin's reset-state: the job on it goes on, and its end is seen. */
static void test_a_server_in_error_that_runs_has_not_failed(void **state)
{
	struct provider_result r;

	(void)state;
	anywhere("gpu_8x_h100");
	assert_int_equal(create(&r, 1, ""), PROVIDER_OK);
	provider_result_fini(&r);
	r = become(1, PROVIDER_RUNNING);
	reset_state(r.instances[0].id);
	provider_result_fini(&r);
	r = become(1, PROVIDER_UNKNOWN);
	assert_int_equal(r.nfailures, 0);
	assert_string_equal(r.instances[0].node, "c1");
	provider_result_fini(&r);
	simrun_do(&S, "POST", "/admin/kill", "{\"node\":\"c1\"}");
	r = become(1, PROVIDER_FAILED);
	provider_result_fini(&r);
}

static void test_refusals_at_once(void **state)
{
	struct provider_result r;

	(void)state;
	anywhere("gpu_8x_h100");
	config("{\"quota\":2}");
	assert_int_equal(create(&r, 3, ""), PROVIDER_QUOTA);
	provider_result_fini(&r);
	config("{\"quota\":null}");
	fault("{\"op\":\"create\",\"count\":1,\"action\":\"error\",\"code\":\"rate\",\"retry_"
	      "after\":3}");
	assert_int_equal(create(&r, 3, ""), PROVIDER_RATE);
	assert_int_equal(r.retry_after_ms, 3000);
	provider_result_fini(&r);
	fault("{\"op\":\"create\",\"count\":1,\"action\":\"error\",\"code\":\"denied\"}");
	assert_int_equal(create(&r, 3, ""), PROVIDER_DENIED);
	provider_result_fini(&r);
	fault("{\"op\":\"create\",\"count\":1,\"action\":\"error\",\"code\":\"internal\"}");
	assert_int_equal(create(&r, 3, ""), PROVIDER_AMBIGUOUS);
	provider_result_fini(&r);
	place.zone = "mars";
	assert_int_equal(create(&r, 3, ""), PROVIDER_INVALID);
	provider_result_fini(&r);
	assert_int_equal(bought(), 0);
}

/* The list alone says what a create without an answer has made. */
static void test_a_lost_answer_is_found_by_the_list(void **state)
{
	struct provider_op op = {.kind = PROVIDER_CREATE, .cursor = ""};
	struct provider_result r;

	(void)state;
	anywhere("gpu_8x_h100");
	fault("{\"op\":\"create\",\"count\":1,\"action\":\"drop-reply\"}");
	op.u.create = (struct provider_create){.cluster = cluster,
					       .token = "burstd-0b1c2d3e-1",
					       .place = &place,
					       .wants = wants,
					       .nwants = 3};
	assert_int_equal(drive(&op, &r), -1);
	r = become(3, PROVIDER_RUNNING);
	for (size_t i = 0; i < 3; i++)
		assert_true(r.instances[i].node[0] == 'c' && r.instances[i].gen > 0);
	provider_result_fini(&r);
}

static void test_spot_is_another_flavor(void **state)
{
	json_t *meter;
	struct provider_result r;

	(void)state;
	anywhere("gpu_8x_h100");
	place.market = PROVIDER_SPOT;
	assert_int_equal(create(&r, 1, ""), PROVIDER_OK);
	provider_result_fini(&r);
	meter = simrun_ask(&S, "GET", "/admin/meter", NULL, 200);
	assert_string_equal(json_string_value(json_object_get(
				    json_array_get(json_object_get(meter, "rows"), 0), "market")),
			    "spot");
	json_decref(meter);
}

static void test_pages_of_a_long_list(void **state)
{
	char cursor[PROVIDER_CURSOR_MAX + 1] = "";
	struct provider_op op = {.kind = PROVIDER_LIST, .cursor = cursor};
	struct provider_result r = created(3);
	size_t seen = 0, pages = 0;

	(void)state;
	provider_result_fini(&r);
	config("{\"page_max\":2}");
	op.u.list.cluster = cluster;
	do {
		assert_int_equal(drive(&op, &r), 0);
		assert_true(r.code == PROVIDER_OK || r.code == PROVIDER_MORE);
		seen += r.ninstances;
		pages++;
		memcpy(cursor, r.cursor, sizeof(cursor));
		provider_result_fini(&r);
	} while (cursor[0] != '\0');
	assert_int_equal(seen, 3);
	assert_int_equal(pages, 2);
}

static void test_a_session_that_ended_is_denied_and_a_new_one_helps(void **state)
{
	struct provider_result r;
	int64_t until = provider_openstack.good_until(driver);

	(void)state;
	assert_true(until > clock_wall_ms() + 3500000 && until < clock_wall_ms() + 3700000);
	config("{\"login_life\":\"1ms\"}");
	(void)usleep(5000);
	r = list();
	assert_int_equal(r.code, PROVIDER_DENIED);
	provider_result_fini(&r);
	config("{\"login_life\":\"1h\"}");
	assert_int_equal(login(), PROVIDER_OK);
	r = list();
	assert_int_equal(r.code, PROVIDER_OK);
	provider_result_fini(&r);
	open_driver("falsch");
	assert_int_equal(login(), PROVIDER_DENIED);
}

static void test_flavors_are_quoted(void **state)
{
	struct provider_op op = {.kind = PROVIDER_QUOTES};
	struct provider_result r;
	size_t spots = 0, there = 0;

	(void)state;
	assert_int_equal(drive(&op, &r), 0);
	assert_int_equal(r.code, PROVIDER_OK);
	for (size_t i = 0; i < r.nquotes; i++) {
		assert_string_equal(r.quotes[i].region, region);
		assert_int_equal(r.quotes[i].price_nano_h, 0);
		there += strcmp(r.quotes[i].type, "gpu_8x_h100") == 0;
		spots += r.quotes[i].market == PROVIDER_SPOT;
	}
	assert_true(there >= 2 && spots > 0); /* on demand and spot are of one type */
	provider_result_fini(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(test_a_job_s_servers_live_and_end),
		T(test_a_single_server_is_known_by_one_request),
		T(test_servers_that_are_shown_late),
		T(test_no_host_is_a_refusal_that_comes_late),
		T(test_a_server_in_error_that_runs_has_not_failed),
		T(test_refusals_at_once),
		T(test_a_lost_answer_is_found_by_the_list),
		T(test_spot_is_another_flavor),
		T(test_pages_of_a_long_list),
		T(test_a_session_that_ended_is_denied_and_a_new_one_helps),
		T(test_flavors_are_quoted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
