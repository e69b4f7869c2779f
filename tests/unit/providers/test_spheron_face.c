/* test_spheron_face.c - the driver spheron against simcloud's face of Spheron, as the engine drives
 * it. */
#include "simrun.h"

#include "providers/spheron.h"

#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
#define KEY  "sai_pk_lab-k3y"

static const char cluster[] = "0b1c2d3e-4f50-4000-8000-000000000001";
static const char offer_a[] = "gpu_8x_h100_eu-north-1a", zone_a[] = "spheron-ai:8xH100";
static struct simrun S;
static void *driver;

static void open_driver(const char *credential, const char *team)
{
	static const char any[] = "lab", os[] = "Ubuntu Server 22.04";
	json_t *key;
	char id[64];
	struct spheron_options o = {team, any, os};
	const struct provider_conf conf = {
		.name = "t", .url = S.url, .credential = credential, .options = &o};
	struct curl_slist *headers = curl_slist_append(NULL, "Authorization: Bearer " KEY);
	struct simrun_reply reply;
	char url[256];

	headers = curl_slist_append(headers, "User-Agent: lab");
	(void)snprintf(url, sizeof(url), "%s/api/ssh-keys", S.url);
	simrun_send(&reply, "POST", url, headers,
		    "{\"name\":\"lab\",\"publicKey\":\"ssh-ed25519 A\"}");
	assert_int_equal(reply.status, 200);
	key = json_object_get(reply.json, "id");
	(void)snprintf(id, sizeof(id), "%s", json_string_value(key));
	simrun_done(&reply);
	curl_slist_free_all(headers);
	o.ssh_key = id;
	assert_int_equal(provider_spheron.open(&driver, &conf, NULL), 0);
}

static int setup(void **state)
{
	char path[SIMRUN_PATH];
	const char *args[] = {"--token-file", path, NULL};

	(void)state;
	S = (struct simrun){0};
	simrun_dir(&S);
	simrun_write(simrun_path(path, S.dir, "key"), KEY "\n");
	simrun_start(&S, args);
	simrun_do(&S, "POST", "/admin/config", "{\"boot\":\"1ms\",\"stop\":\"1ms\"}");
	open_driver(KEY, "team-simcloud");
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	provider_spheron.close(driver);
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

static int create_at(struct provider_result *out, const char *node, uint64_t gen,
		     const struct provider_place *place)
{
	const struct provider_want want = {node, gen, 0};
	struct provider_op op = {.kind = PROVIDER_CREATE};

	op.u.create = (struct provider_create){
		.cluster = cluster, .token = "t", .place = place, .wants = &want, .nwants = 1};
	return simrun_drive(&provider_spheron, driver, &op, out);
}

static int create(struct provider_result *out, const char *node, uint64_t gen)
{
	const struct provider_place place = {
		.type = offer_a, .region = "eu-north-1", .zone = zone_a};

	return create_at(out, node, gen, &place);
}

/* Deploy one; the id is in `id`. */
static void created(char id[PROVIDER_ID_MAX + 1], const char *node, uint64_t gen)
{
	struct provider_result r;

	assert_int_equal(create(&r, node, gen), 0);
	if (r.code != PROVIDER_OK)
		fail_msg("%s", r.message);
	memcpy(id, r.items[0].instance.id, PROVIDER_ID_MAX + 1);
	provider_result_fini(&r);
}

/* One page. */
static struct provider_result list_page(const char *cursor)
{
	struct provider_op op = {.kind = PROVIDER_LIST, .cursor = cursor};
	struct provider_result r;

	op.u.list.cluster = cluster;
	assert_int_equal(simrun_drive(&provider_spheron, driver, &op, &r), 0);
	return r;
}

static struct provider_result list(void)
{
	return list_page("");
}

static struct provider_item ended(const char *id, int64_t *retry_ms)
{
	struct provider_op op = {.kind = PROVIDER_DELETE};
	struct provider_result r;
	struct provider_item item;

	op.u.del.ids = &id;
	op.u.del.nids = 1;
	assert_int_equal(simrun_drive(&provider_spheron, driver, &op, &r), 0);
	assert_int_equal(r.code, PROVIDER_OK);
	item = r.items[0];
	*retry_ms = r.retry_after_ms;
	provider_result_fini(&r);
	return item;
}

static size_t bought(void)
{
	json_t *meter = simrun_ask(&S, "GET", "/admin/meter", NULL, 200);
	size_t n = json_array_size(json_object_get(meter, "rows"));

	json_decref(meter);
	return n;
}

/* Wait until a list shows the only deployment in this state; was it taken? */
static bool becomes(enum provider_state state)
{
	for (int i = 0; i < 500; i++) {
		struct provider_result r = list();
		bool is = r.ninstances == 1 && r.instances[0].state == state;
		bool taken = is && r.instances[0].taken;

		provider_result_fini(&r);
		if (is)
			return taken;
		(void)usleep(10000);
	}
	fail_msg("it does not come to state %d", (int)state);
	return false;
}

static void test_create_list_and_delete(void **state)
{
	char id[PROVIDER_ID_MAX + 1];
	struct provider_result r;
	int64_t ms;

	(void)state;
	created(id, "h100-7", 12);
	(void)becomes(PROVIDER_RUNNING);
	r = list();
	assert_string_equal(r.instances[0].id, id);
	assert_string_equal(r.instances[0].cluster, cluster);
	assert_string_equal(r.instances[0].node, "h100-7");
	assert_int_equal(r.instances[0].gen, 12);
	assert_int_equal(strncmp(r.instances[0].addr, "10.77.", 6), 0);
	assert_true(r.instances[0].created_ms > 0);
	provider_result_fini(&r);
	assert_int_equal(ended(id, &ms).code, PROVIDER_OK);
	assert_false(becomes(PROVIDER_ENDED));
	assert_int_equal(ended(id, &ms).code, PROVIDER_OK); /* 400: it has ended already */
	assert_int_equal(ended("0123", &ms).code, PROVIDER_NOT_FOUND);
}

/* What it is paid for it may as well be used for. */
static void test_a_delete_before_the_minimum_runtime_says_when(void **state)
{
	char id[PROVIDER_ID_MAX + 1];
	int64_t ms;

	(void)state;
	config("{\"min_rental\":\"20m\"}");
	created(id, "n1", 1);
	assert_int_equal(ended(id, &ms).code, PROVIDER_NOT_YET);
	assert_int_equal(ms, 20 * 60000);
	(void)becomes(PROVIDER_RUNNING);
	config("{\"min_rental\":\"0s\"}");
	assert_int_equal(ended(id, &ms).code, PROVIDER_OK);
	(void)becomes(PROVIDER_ENDED);
}

/* So it is never sent again before a list. */
static void test_a_create_sent_twice_is_two_machines(void **state)
{
	char one[PROVIDER_ID_MAX + 1], two[PROVIDER_ID_MAX + 1];
	struct provider_result r;

	(void)state;
	created(one, "n1", 1);
	created(two, "n1", 1);
	assert_string_not_equal(one, two);
	r = list();
	assert_int_equal(r.ninstances, 2);
	provider_result_fini(&r);
}

static void test_a_reply_that_is_lost_is_found_by_its_name(void **state)
{
	struct provider_result r;

	(void)state;
	fault("{\"op\":\"create\",\"action\":\"drop-reply\",\"count\":1}");
	assert_int_equal(create(&r, "n1", 3), -1);
	provider_result_fini(&r);
	assert_int_equal(bought(), 1);
	r = list();
	assert_int_equal(r.ninstances, 1);
	assert_string_equal(r.instances[0].node, "n1");
	assert_int_equal(r.instances[0].gen, 3);
	provider_result_fini(&r);
}

static void test_a_list_of_two_pages(void **state)
{
	char id[PROVIDER_ID_MAX + 1], cursor[PROVIDER_CURSOR_MAX + 1];
	struct provider_result r;

	(void)state;
	for (uint64_t gen = 1; gen <= 101; gen++)
		created(id, "n1", gen);
	r = list();
	assert_int_equal(r.code, PROVIDER_MORE);
	assert_int_equal(r.ninstances, 100);
	memcpy(cursor, r.cursor, sizeof(cursor));
	provider_result_fini(&r);
	r = list_page(cursor);
	assert_int_equal(r.code, PROVIDER_OK);
	assert_int_equal(r.ninstances, 1);
	provider_result_fini(&r);
}

static void test_creates_that_are_refused(void **state)
{
	static const struct {
		const char *fault;
		enum provider_code code;
	} rows[] = {
		{"\"code\":\"capacity\"", PROVIDER_CAPACITY},
		{"\"code\":\"quota\"", PROVIDER_DENIED}, /* the balance */
		{"\"code\":\"denied\"", PROVIDER_DENIED},
		{"\"code\":\"invalid\"", PROVIDER_INVALID},
		{"\"code\":\"not-found\"", PROVIDER_INVALID},
		{"\"code\":\"rate\"", PROVIDER_RATE},
		{"\"code\":\"internal\"", PROVIDER_AMBIGUOUS},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct provider_result r;
		char text[200];

		(void)snprintf(text, sizeof(text),
			       "{\"op\":\"create\",\"action\":\"error\",\"count\":1,%s}",
			       rows[i].fault);
		fault(text);
		assert_int_equal(create(&r, "n1", 1), 0);
		if (r.code != rows[i].code)
			fail_msg("%s: %s: %s", text, provider_code_str(r.code), r.message);
		provider_result_fini(&r);
	}
	assert_int_equal(bought(), 0);
}

static void test_no_capacity_and_no_credit(void **state)
{
	struct provider_result r;

	(void)state;
	simrun_do(&S, "POST", "/admin/capacity", "{\"type\":\"gpu_8x_h100\",\"capacity\":0}");
	assert_int_equal(create(&r, "n1", 1), 0);
	assert_int_equal(r.code, PROVIDER_CAPACITY);
	provider_result_fini(&r);
	simrun_do(&S, "POST", "/admin/capacity", "{\"type\":\"gpu_8x_h100\",\"capacity\":null}");
	config("{\"quota\":0}");
	assert_int_equal(create(&r, "n1", 1), 0);
	assert_int_equal(r.code, PROVIDER_DENIED);
	provider_result_fini(&r);
}

/* The face with Spheron's own limit, as an option of simcloud. */
static void test_ten_creates_in_fifteen_minutes(void **state)
{
	struct provider_result r;
	char id[PROVIDER_ID_MAX + 1];

	(void)state;
	config("{\"buckets\":{\"create\":{\"rate\":0.0111,\"burst\":10}}}");
	for (uint64_t gen = 1; gen <= 10; gen++)
		created(id, "n1", gen);
	assert_int_equal(create(&r, "n1", 11), 0);
	assert_int_equal(r.code, PROVIDER_RATE);
	assert_true(r.retry_after_ms > 80000 && r.retry_after_ms <= 92000);
	provider_result_fini(&r);
	assert_int_equal(bought(), 10);
}

/* Nobody warns: it is seen afterwards. */
static void test_a_reclaimed_machine_was_taken(void **state)
{
	char id[PROVIDER_ID_MAX + 1];

	(void)state;
	created(id, "n1", 1);
	(void)becomes(PROVIDER_RUNNING);
	simrun_do(&S, "POST", "/admin/reclaim", "{\"node\":\"n1\",\"notice_ms\":1}");
	assert_true(becomes(PROVIDER_ENDED));
}

/* Each place that is quoted can be bought as it is quoted. */
static void test_what_is_quoted_can_be_bought(void **state)
{
	struct provider_op op = {.kind = PROVIDER_QUOTES};
	struct provider_result r, made;
	bool seen = false;

	(void)state;
	assert_int_equal(simrun_drive(&provider_spheron, driver, &op, &r), 0);
	assert_int_equal(r.code, PROVIDER_OK);
	for (size_t i = 0; i < r.nquotes; i++) {
		const struct provider_quote *q = &r.quotes[i];
		const struct provider_place place = {
			.type = q->type, .region = q->region, .zone = q->zone, .market = q->market};

		assert_int_equal(create_at(&made, "n1", i + 1, &place), 0);
		if (made.code != PROVIDER_OK)
			fail_msg("%s %s: %s", q->type, q->zone, made.message);
		provider_result_fini(&made);
		if (strcmp(q->type, offer_a) == 0) {
			seen = true;
			assert_string_equal(q->zone, zone_a);
			assert_int_equal(q->price_nano_h, 29520000000);
			assert_int_equal(q->gpus, 8);
		}
	}
	assert_true(seen);
	assert_int_equal(bought(), r.nquotes);
	provider_result_fini(&r);
}

/* Bought by hand, or by another program, with the same account. */
static void test_deployments_of_others_are_left_out(void **state)
{
	struct provider_result r;
	char id[PROVIDER_ID_MAX + 1];
	struct provider_op op = {.kind = PROVIDER_LIST};

	(void)state;
	created(id, "n1", 1);
	op.u.list.cluster = "ffffffff-4f50-4000-8000-000000000001";
	assert_int_equal(simrun_drive(&provider_spheron, driver, &op, &r), 0);
	assert_int_equal(r.code, PROVIDER_OK);
	assert_int_equal(r.ninstances, 0);
	provider_result_fini(&r);
}

static void test_a_wrong_key_and_a_wrong_team(void **state)
{
	struct provider_result r;

	(void)state;
	provider_spheron.close(driver);
	open_driver("wrong_key", "team-simcloud");
	r = list();
	assert_int_equal(r.code, PROVIDER_DENIED);
	assert_null(strstr(r.message, "wrong_key"));
	provider_result_fini(&r);
	provider_spheron.close(driver);
	open_driver(KEY, "another");
	assert_int_equal(create(&r, "n1", 1), 0);
	assert_int_equal(r.code, PROVIDER_DENIED);
	provider_result_fini(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(test_create_list_and_delete),
		T(test_a_delete_before_the_minimum_runtime_says_when),
		T(test_a_create_sent_twice_is_two_machines),
		T(test_a_reply_that_is_lost_is_found_by_its_name),
		T(test_a_list_of_two_pages),
		T(test_creates_that_are_refused),
		T(test_no_capacity_and_no_credit),
		T(test_ten_creates_in_fifteen_minutes),
		T(test_a_reclaimed_machine_was_taken),
		T(test_what_is_quoted_can_be_bought),
		T(test_deployments_of_others_are_left_out),
		T(test_a_wrong_key_and_a_wrong_team),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
