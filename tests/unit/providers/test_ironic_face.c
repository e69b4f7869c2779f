/* test_ironic_face.c - the driver ironic against simcloud's face of Ironic, as the engine drives
 * it.
 */
#include "simrun.h"

#include "base/clock.h"
#include "providers/ironic.h"

#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

static const char cluster[] = "0b1c2d3e-4f50-4000-8000-000000000001";
static struct simrun S;
static void *driver;

static void config(const char *text)
{
	simrun_do(&S, "POST", "/admin/config", text);
}

static void fault(const char *text)
{
	simrun_do(&S, "POST", "/admin/faults", text);
}

static void open_driver(const char *credential)
{
	static const char image[] = "http://images/n.qcow2", address[] = "properties.address";
	const struct ironic_options o = {.image = image, .address = address};
	const struct provider_conf conf = {
		.name = "t", .url = S.url, .credential = credential, .options = &o};

	assert_int_equal(provider_ironic.open(&driver, &conf, NULL), 0);
}

static int setup(void **state)
{
	char path[SIMRUN_PATH];
	const char *args[] = {"--token-file", path, NULL};

	(void)state;
	S = (struct simrun){0};
	simrun_dir(&S);
	simrun_write(simrun_path(path, S.dir, "key"), "s3cret\n");
	simrun_start(&S, args);
	config("{\"offers\":[{\"type\":\"h100\",\"region\":\"r1\",\"zone\":\"z1\",\"price\":\"1\","
	       "\"capacity\":3}],\"boot\":\"1ms\",\"stop\":\"1ms\",\"machine_lock\":\"1ms\","
	       "\"clean\":\"1ms\"}");
	open_driver("admin:s3cret");
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	provider_ironic.close(driver);
	assert_int_equal(simrun_stop(&S, SIGTERM), 0);
	simrun_remove(S.dir);
	return 0;
}

/* All requests of an operation; what is unclear is sent again, as long as it has begun.  -1: no
 * reply to the first. */
static int run(struct provider_op *op, struct provider_result *out)
{
	char cursor[PROVIDER_CURSOR_MAX + 1] = "";
	int rc = 0;

	*out = (struct provider_result){.code = PROVIDER_MORE};
	op->cursor = cursor;
	for (int i = 0; i < 400; i++) {
		struct provider_result r;
		bool again;

		op->at_ms = clock_wall_ms();
		rc = simrun_drive(&provider_ironic, driver, op, &r);
		if (rc != 0 && cursor[0] == '\0')
			return -1;
		again = cursor[0] != '\0' &&
			(rc != 0 || r.code == PROVIDER_RATE || r.code == PROVIDER_TRANSIENT ||
			 r.code == PROVIDER_AMBIGUOUS);
		if (rc == 0 && r.code == PROVIDER_MORE)
			memcpy(cursor, r.cursor, sizeof(cursor));
		if (!again && r.code != PROVIDER_MORE) {
			*out = r;
			return 0;
		}
		provider_result_fini(&r);
		(void)usleep(again ? 1000000 : 5000);
	}
	fail_msg("it does not end: %s", cursor);
	return -1;
}

static int create(struct provider_result *out, const char *node, uint64_t gen, const char *zone)
{
	const struct provider_place place = {.type = "h100", .region = "r1", .zone = zone};
	const struct provider_want want = {node, gen, 0};
	struct provider_op op = {.kind = PROVIDER_CREATE};

	op.u.create = (struct provider_create){
		.cluster = cluster, .token = "t", .place = &place, .wants = &want, .nwants = 1};
	return run(&op, out);
}

static void created(char id[PROVIDER_ID_MAX + 1], const char *node, uint64_t gen)
{
	struct provider_result r;

	assert_int_equal(create(&r, node, gen, "z1"), 0);
	if (r.code != PROVIDER_OK)
		fail_msg("%s: %s", provider_code_str(r.code), r.message);
	memcpy(id, r.items[0].instance.id, PROVIDER_ID_MAX + 1);
	provider_result_fini(&r);
}

static enum provider_code refused(const char *node, const char *zone)
{
	struct provider_result r;
	enum provider_code code;

	assert_int_equal(create(&r, node, 1, zone), 0);
	code = r.code;
	provider_result_fini(&r);
	return code;
}

/* The last page's result, with the instances of all of them. */
static struct provider_result list(void)
{
	char cursor[PROVIDER_CURSOR_MAX + 1] = "";
	struct provider_op op = {.kind = PROVIDER_LIST, .cursor = cursor};
	struct provider_result all = {0}, r = {.code = PROVIDER_MORE};

	op.u.list.cluster = cluster;
	while (r.code == PROVIDER_MORE) {
		op.at_ms = clock_wall_ms();
		assert_int_equal(simrun_drive(&provider_ironic, driver, &op, &r), 0);
		if (r.code != PROVIDER_OK && r.code != PROVIDER_MORE)
			fail_msg("%s: %s", provider_code_str(r.code), r.message);
		memcpy(cursor, r.cursor, sizeof(cursor));
		for (size_t k = 0; k < r.ninstances; k++) {
			all.instances = mem_realloc(all.instances,
						    (all.ninstances + 1) * sizeof(*all.instances));
			all.instances[all.ninstances++] = r.instances[k];
		}
		all.code = r.code;
		provider_result_fini(&r);
		r.code = all.code;
	}
	return all;
}

/* Wait until a list shows the only instance in this state. */
static struct provider_instance becomes(enum provider_state state)
{
	for (int i = 0; i < 500; i++) {
		struct provider_result r = list();
		struct provider_instance in = {0};
		bool is = r.ninstances == 1 && r.instances[0].state == state;

		if (is)
			in = r.instances[0];
		provider_result_fini(&r);
		if (is)
			return in;
		(void)usleep(10000);
	}
	fail_msg("it never is %d", (int)state);
	return (struct provider_instance){0};
}

static size_t count(void)
{
	struct provider_result r = list();
	size_t n = r.ninstances;

	provider_result_fini(&r);
	return n;
}

static enum provider_code removed(const char *id)
{
	struct provider_op op = {.kind = PROVIDER_DELETE};
	struct provider_result r;
	enum provider_code code;

	op.u.del.ids = &id;
	op.u.del.nids = 1;
	assert_int_equal(run(&op, &r), 0);
	code = r.code == PROVIDER_OK ? r.items[0].code : r.code;
	provider_result_fini(&r);
	return code;
}

static size_t bought(void)
{
	json_t *meter = simrun_ask(&S, "GET", "/admin/meter", NULL, 200);
	size_t n = json_array_size(json_object_get(meter, "rows"));

	json_decref(meter);
	return n;
}

static void test_create_list_and_delete(void **state)
{
	char id[PROVIDER_ID_MAX + 1];
	struct provider_instance in;

	(void)state;
	created(id, "h100-7", 12);
	in = becomes(PROVIDER_RUNNING);
	assert_string_equal(in.id, id);
	assert_string_equal(in.cluster, cluster);
	assert_string_equal(in.node, "h100-7");
	assert_int_equal(in.gen, 12);
	assert_int_equal(strncmp(in.addr, "10.77.", 6), 0);
	assert_int_equal(removed(id), PROVIDER_OK);
	for (int i = 0; i < 100 && count() > 0; i++)
		(void)usleep(10000);
	assert_int_equal(count(), 0);
	assert_int_equal(removed(id), PROVIDER_NOT_FOUND);
}

/* The name is the token: so a create whose answer was lost is sent again. */
static void test_a_create_sent_twice_is_one_instance(void **state)
{
	char one[PROVIDER_ID_MAX + 1], two[PROVIDER_ID_MAX + 1];

	(void)state;
	created(one, "n1", 1);
	created(two, "n1", 1);
	assert_string_equal(one, two);
	assert_int_equal(bought(), 1);
}

/* Whichever of its requests it was. */
static void test_a_reply_that_is_lost_makes_no_second(void **state)
{
	static const char *const faults[] = {
		"{\"op\":\"create\",\"action\":\"drop-reply\",\"count\":1}",
		"{\"op\":\"create\",\"action\":\"drop-reply\",\"count\":2}",
		"{\"op\":\"create\",\"action\":\"drop-reply\",\"count\":3}",
		"{\"op\":\"get\",\"action\":\"drop-reply\",\"count\":1}",
		"{\"op\":\"create\",\"action\":\"garbage\",\"count\":1}",
		"{\"op\":\"create\",\"action\":\"error\",\"when\":\"after\",\"count\":1}",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(faults) / sizeof(faults[0]); i++) {
		struct provider_result r;
		char id[PROVIDER_ID_MAX + 1];

		fault(faults[i]);
		for (int k = 0; k < 4; k++) /* the engine repeats it, too */
			if (create(&r, "n1", i + 1, "z1") == 0) {
				enum provider_code code = r.code;

				if (code == PROVIDER_OK)
					memcpy(id, r.items[0].instance.id, sizeof(id));
				provider_result_fini(&r);
				if (code == PROVIDER_OK)
					break;
			}
		assert_int_equal(bought(), i + 1);
		while (removed(id) == PROVIDER_NOT_YET)
			(void)usleep(10000);
		for (int k = 0; k < 100 && count() > 0; k++)
			(void)usleep(10000);
	}
}

static void all_are_free(void)
{
	char id[PROVIDER_ID_MAX + 1];

	assert_int_equal(bought(), 0);
	created(id, "n7", 1);
	created(id, "n8", 1);
	created(id, "n9", 1);
}

static void test_without_a_machine_nothing_is_left(void **state)
{
	char id[4][PROVIDER_ID_MAX + 1];

	(void)state;
	assert_int_equal(refused("n1", "z9"), PROVIDER_CAPACITY);
	created(id[0], "n1", 1);
	created(id[1], "n2", 1);
	created(id[2], "n3", 1);
	assert_int_equal(refused("n4", "z1"), PROVIDER_CAPACITY);
	assert_int_equal(count(), 3);
	assert_int_equal(bought(), 3);
}

/* A deployment that failed holds the machine until it is undeployed. */
static void test_a_failed_deployment_is_given_back(void **state)
{
	char id[PROVIDER_ID_MAX + 1];

	(void)state;
	config("{\"boot_fails\":[\"*\"]}");
	created(id, "n1", 1);
	(void)becomes(PROVIDER_FAILED);
	assert_int_equal(removed(id), PROVIDER_OK);
	for (int i = 0; i < 100 && count() > 0; i++)
		(void)usleep(10000);
	config("{\"boot_fails\":[]}");
	created(id, "n1", 2);
	created(id, "n2", 2);
	created(id, "n3", 2);
}

static void test_what_is_locked_waits(void **state)
{
	char id[PROVIDER_ID_MAX + 1];

	(void)state;
	config("{\"machine_lock\":\"1h\",\"boot\":\"1h\"}");
	created(id, "n1", 1);
	assert_int_equal(removed(id), PROVIDER_NOT_YET);
	(void)becomes(PROVIDER_PENDING);
}

/* It is nobody's until it is clean, and ours has ended. */
static void test_cleaning_takes_an_hour(void **state)
{
	char id[PROVIDER_ID_MAX + 1];

	(void)state;
	config("{\"clean\":\"1h\"}");
	for (int k = 1; k <= 3; k++) {
		created(id, "n1", (uint64_t)k);
		(void)becomes(PROVIDER_RUNNING);
		assert_int_equal(removed(id), PROVIDER_OK);
		for (int i = 0; i < 100 && count() > 0; i++)
			(void)usleep(10000);
		assert_int_equal(count(), 0);
	}
	assert_int_equal(refused("n1", "z1"), PROVIDER_CAPACITY);
}

static void test_a_machine_that_dies_stops(void **state)
{
	char id[PROVIDER_ID_MAX + 1];

	(void)state;
	created(id, "n1", 1);
	(void)becomes(PROVIDER_RUNNING);
	simrun_do(&S, "POST", "/admin/kill", "{\"node\":\"n1\"}");
	(void)becomes(PROVIDER_STOPPING);
	assert_int_equal(removed(id), PROVIDER_OK);
}

static void test_a_list_of_many_pages(void **state)
{
	char id[PROVIDER_ID_MAX + 1];
	struct provider_result r;

	(void)state;
	simrun_do(&S, "POST", "/admin/capacity", "{\"capacity\":70}");
	for (uint64_t k = 1; k <= 65; k++)
		created(id, "n1", k);
	config("{\"page_max\":7}");
	r = list();
	assert_int_equal(r.ninstances, 65);
	for (size_t k = 0; k < r.ninstances; k++)
		assert_in_range(r.instances[k].state, PROVIDER_PENDING, PROVIDER_RUNNING);
	provider_result_fini(&r);
}

static void test_refusals(void **state)
{
	static const struct {
		const char *fault;
		enum provider_code code;
	} rows[] = {
		{"\"code\":\"denied\"", PROVIDER_DENIED},
		{"\"code\":\"invalid\"", PROVIDER_INVALID},
		{"\"code\":\"rate\"", PROVIDER_RATE},
		{"\"code\":\"internal\"", PROVIDER_AMBIGUOUS},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		char text[200];

		(void)snprintf(text, sizeof(text),
			       "{\"op\":\"create\",\"action\":\"error\",\"count\":1,%s}",
			       rows[i].fault);
		fault(text);
		assert_int_equal(refused("n1", "z1"), rows[i].code);
	}
	assert_int_equal(bought(), 0);
}

/* Whoever may allocate a machine, and not write on it or deploy it: the machine is free again. */
static void test_a_denial_on_the_way_leaves_no_machine(void **state)
{
	(void)state;
	for (int nth = 2; nth <= 3; nth++) {
		struct provider_result r;
		char text[200];

		(void)snprintf(text, sizeof(text),
			       "{\"op\":\"create\",\"action\":\"error\",\"nth\":%d,\"code\":"
			       "\"denied\",\"message\":\"not your node\"}",
			       nth);
		fault(text);
		assert_int_equal(create(&r, "n1", (uint64_t)nth, "z1"), 0);
		assert_int_equal(r.code, PROVIDER_DENIED);
		assert_true(r.denied_for_good);
		assert_int_equal(strncmp(r.message, "not your node", 13), 0);
		provider_result_fini(&r);
		simrun_do(&S, "DELETE", "/admin/faults", NULL);
	}
	all_are_free();
}

#define UNFIT "Failed to validate deploy or power info for node n: Missing ipmi_address"

static void put_unfit(const char *when)
{
	char text[300];

	(void)snprintf(text, sizeof(text),
		       "{\"op\":\"create\",\"action\":\"error\",\"status\":400,\"code\":"
		       "\"invalid\",%s,\"message\":\"" UNFIT "\"}",
		       when);
	fault(text);
}

/* Of three machines one has a bad BMC. */
static void test_a_machine_that_cannot_be_deployed_is_changed_for_another(void **state)
{
	char id[PROVIDER_ID_MAX + 1];

	(void)state;
	put_unfit("\"nth\":3"); /* of POST, PATCH, PUT */
	created(id, "n1", 1);
	assert_int_equal(bought(), 1);
	assert_int_equal(count(), 1);
	created(id, "n2", 1);
	created(id, "n3", 1);
}

/* Or there is no other: it ends, and is refused for want of machines. */
static void test_where_none_can_be_deployed_nothing_is_left(void **state)
{
	struct provider_result r;

	(void)state;
	simrun_do(&S, "POST", "/admin/capacity", "{\"capacity\":1}");
	put_unfit("\"nth\":3"); /* of POST, PATCH, PUT; then POST, PUT, since it is noted */
	put_unfit("\"nth\":5");
	put_unfit("\"nth\":7");
	put_unfit("\"nth\":9");
	assert_int_equal(create(&r, "n1", 1, "z1"), 0);
	assert_int_equal(r.code, PROVIDER_CAPACITY);
	assert_int_equal(strncmp(r.message, UNFIT, sizeof(UNFIT) - 1), 0);
	provider_result_fini(&r);
	simrun_do(&S, "POST", "/admin/capacity", "{\"capacity\":3}");
	all_are_free();
}

static void test_a_wrong_password(void **state)
{
	(void)state;
	provider_ironic.close(driver);
	open_driver("admin:other");
	assert_int_equal(refused("n1", "z1"), PROVIDER_DENIED);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(test_create_list_and_delete),
		T(test_a_create_sent_twice_is_one_instance),
		T(test_a_reply_that_is_lost_makes_no_second),
		T(test_without_a_machine_nothing_is_left),
		T(test_a_failed_deployment_is_given_back),
		T(test_what_is_locked_waits),
		T(test_cleaning_takes_an_hour),
		T(test_a_machine_that_dies_stops),
		T(test_a_list_of_many_pages),
		T(test_refusals),
		T(test_a_denial_on_the_way_leaves_no_machine),
		T(test_a_machine_that_cannot_be_deployed_is_changed_for_another),
		T(test_where_none_can_be_deployed_nothing_is_left),
		T(test_a_wrong_password),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
