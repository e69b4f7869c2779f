/* test_lyceum_face.c - the driver lyceum against simcloud's face of Lyceum, as the engine drives
 * it. */
#include "simrun_lyceum.h"

#include "providers/lyceum.h"

#define T(f) cmocka_unit_test_setup_teardown(f, begin, end)

static const char cluster[] = "0b1c2d3e-4f50-4000-8000-000000000001";
static void *driver;

static void open_driver(const char *credential)
{
	const struct lyceum_options o = {.ssh_public_key = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5"};
	const struct provider_conf conf = {
		.name = "t", .url = S.url, .credential = credential, .options = &o};

	assert_int_equal(provider_lyceum.open(&driver, &conf, NULL), 0);
}

static int begin(void **state)
{
	(void)setup(state);
	open_driver(KEY);
	return 0;
}

static int end(void **state)
{
	provider_lyceum.close(driver);
	return rest_stop(state);
}

static void config(const char *text)
{
	simrun_do(&S, "POST", "/admin/config", text);
}

static int buy_at(struct provider_result *out, const char *type, enum provider_market market,
		  const char *node, uint64_t gen)
{
	const struct provider_place place = {
		.type = type, .region = "eu", .zone = "", .market = market};
	const struct provider_want want = {node, gen, 0};
	struct provider_op op = {.kind = PROVIDER_CREATE};

	op.u.create = (struct provider_create){
		.cluster = cluster, .token = "t", .place = &place, .wants = &want, .nwants = 1};
	return simrun_drive(&provider_lyceum, driver, &op, out);
}

static int buy(struct provider_result *out, const char *node, uint64_t gen)
{
	return buy_at(out, "h100.8x", PROVIDER_ON_DEMAND, node, gen);
}

/* Buy one; the id is in `id`. */
static void buys(char id[PROVIDER_ID_MAX + 1], const char *node, uint64_t gen)
{
	struct provider_result r;

	assert_int_equal(buy(&r, node, gen), 0);
	assert_int_equal(r.code, PROVIDER_OK);
	memcpy(id, r.items[0].instance.id, PROVIDER_ID_MAX + 1);
	provider_result_fini(&r);
}

static struct provider_result list_at(const char *cursor)
{
	struct provider_op op = {.kind = PROVIDER_LIST, .cursor = cursor};
	struct provider_result r;

	op.u.list.cluster = cluster;
	assert_int_equal(simrun_drive(&provider_lyceum, driver, &op, &r), 0);
	return r;
}

static struct provider_result drop(const char *id)
{
	const char *const ids[] = {id};
	struct provider_op op = {.kind = PROVIDER_DELETE};
	struct provider_result r;

	op.u.del.ids = ids;
	op.u.del.nids = 1;
	assert_int_equal(simrun_drive(&provider_lyceum, driver, &op, &r), 0);
	return r;
}

/* The delete is answered for its one VM, with this code. */
static void drops(const char *id, enum provider_code code)
{
	struct provider_result r = drop(id);

	assert_int_equal(r.code, PROVIDER_OK);
	assert_int_equal(r.nitems, 1);
	assert_int_equal(r.items[0].code, code);
	provider_result_fini(&r);
}

/* Wait until a list shows n VMs, and if there is one, in this state. */
static void becomes(const char *cursor, size_t n, enum provider_state state)
{
	bool is = false;

	for (int i = 0; i < 500 && !is; i++) {
		struct provider_result r = list_at(cursor);

		is = r.code == PROVIDER_OK && r.ninstances == n &&
		     (n == 0 || r.instances[0].state == state);
		provider_result_fini(&r);
		if (!is)
			(void)usleep(10000);
	}
	assert_true(is);
}

static void test_a_vm_is_bought_listed_and_deleted(void **state)
{
	char id[PROVIDER_ID_MAX + 1];
	struct provider_result r;

	(void)state;
	buys(id, "h100-7", 12);
	becomes("", 1, PROVIDER_RUNNING);
	r = list_at("");
	assert_string_equal(r.instances[0].id, id);
	assert_string_equal(r.instances[0].cluster, cluster);
	assert_string_equal(r.instances[0].node, "h100-7");
	assert_int_equal(r.instances[0].gen, 12);
	assert_int_equal(strncmp(r.instances[0].addr, "10.77.", 6), 0);
	assert_true(r.instances[0].created_ms > 0);
	provider_result_fini(&r);
	drops(id, PROVIDER_OK);
	becomes("", 0, PROVIDER_ENDED);
	becomes("all", 1, PROVIDER_ENDED); /* for ever */
	drops(id, PROVIDER_OK);
	drops("0123456789abcdef", PROVIDER_NOT_FOUND);
}

/* The face writes the address of each second machine with a port. */
static void test_addresses_with_and_without_a_port(void **state)
{
	char id[PROVIDER_ID_MAX + 1];
	struct provider_result r;
	size_t ready = 0;

	(void)state;
	buys(id, "n1", 1);
	buys(id, "n2", 1);
	for (int i = 0; i < 500 && ready < 2; i++) {
		(void)usleep(10000);
		r = list_at("");
		ready = 0;
		for (size_t k = 0; k < r.ninstances; k++) {
			ready += r.instances[k].addr[0] != '\0';
			assert_null(strchr(r.instances[k].addr, ':'));
		}
		provider_result_fini(&r);
	}
	assert_int_equal(ready, 2);
}

static void test_a_ready_vm_may_have_no_address_yet(void **state)
{
	char id[PROVIDER_ID_MAX + 1];
	struct provider_result r;

	(void)state;
	config("{\"address_after\":\"1h\"}");
	buys(id, "n1", 1);
	becomes("", 1, PROVIDER_RUNNING);
	r = list_at("");
	assert_string_equal(r.instances[0].addr, "");
	provider_result_fini(&r);
}

/* The same create again is another VM: so it is never sent again before a list. */
static void test_a_create_sent_twice_is_two_vms(void **state)
{
	char one[PROVIDER_ID_MAX + 1], two[PROVIDER_ID_MAX + 1];
	struct provider_result r;

	(void)state;
	buys(one, "n1", 1);
	buys(two, "n1", 1);
	assert_string_not_equal(one, two);
	r = list_at("");
	assert_int_equal(r.ninstances, 2);
	provider_result_fini(&r);
}

static void test_a_reply_that_is_lost_is_found_in_the_list(void **state)
{
	struct provider_result r;

	(void)state;
	simrun_do(&S, "POST", "/admin/faults",
		  "{\"op\":\"create\",\"action\":\"drop-reply\",\"count\":1}");
	assert_int_equal(buy(&r, "n1", 3), -1);
	provider_result_fini(&r);
	assert_int_equal(bought("n1"), 1);
	r = list_at("");
	assert_int_equal(r.ninstances, 1);
	assert_string_equal(r.instances[0].node, "n1");
	assert_int_equal(r.instances[0].gen, 3);
	provider_result_fini(&r);
}

static void test_creates_that_are_refused(void **state)
{
	static const struct {
		const char *fault;
		enum provider_code code;
	} rows[] = {
		{"capacity", PROVIDER_CAPACITY},  {"quota", PROVIDER_DENIED}, /* no credits */
		{"denied", PROVIDER_DENIED},      {"invalid", PROVIDER_INVALID},
		{"not-found", PROVIDER_INVALID},  {"rate", PROVIDER_RATE},
		{"internal", PROVIDER_AMBIGUOUS},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct provider_result r;
		char text[200];

		(void)snprintf(
			text, sizeof(text),
			"{\"op\":\"create\",\"action\":\"error\",\"count\":1,\"code\":\"%s\"}",
			rows[i].fault);
		simrun_do(&S, "POST", "/admin/faults", text);
		assert_int_equal(buy(&r, "n1", 1), 0);
		if (r.code != rows[i].code)
			fail_msg("%s: %s: %s", text, provider_code_str(r.code), r.message);
		provider_result_fini(&r);
	}
	assert_int_equal(bought(""), 0);
}

static void refused(const char *type, enum provider_market market, enum provider_code code,
		    const char *says)
{
	struct provider_result r;

	assert_int_equal(buy_at(&r, type, market, "n1", 1), 0);
	assert_int_equal(r.code, code);
	if (strstr(r.message, says) == NULL)
		fail_msg("%s: %s", type, r.message);
	provider_result_fini(&r);
}

static void test_what_is_not_sold(void **state)
{
	(void)state;
	refused("v100.1x", PROVIDER_ON_DEMAND, PROVIDER_INVALID, "Unknown hardware_profile 'v100'");
	refused("h100.3x", PROVIDER_ON_DEMAND, PROVIDER_INVALID,
		"The instance request was invalid");
	refused("l40s.1x", PROVIDER_SPOT, PROVIDER_INVALID, "The instance request was invalid");
	assert_int_equal(bought(""), 0);
}

/* Spot and on demand, and each number of GPUs, are machines and prices of their own. */
static void test_each_market_has_its_own_capacity(void **state)
{
	struct provider_result r;

	(void)state;
	simrun_do(&S, "POST", "/admin/capacity",
		  "{\"type\":\"gpu_8x_h100\",\"market\":\"spot\",\"capacity\":0}");
	refused("h100.8x", PROVIDER_SPOT, PROVIDER_CAPACITY, "could not be provisioned");
	assert_int_equal(buy_at(&r, "h100.8x", PROVIDER_ON_DEMAND, "n1", 1), 0);
	assert_int_equal(r.code, PROVIDER_OK);
	provider_result_fini(&r);
	assert_int_equal(buy_at(&r, "h100.1x", PROVIDER_SPOT, "n2", 1), 0);
	assert_int_equal(r.code, PROVIDER_OK);
	provider_result_fini(&r);
	assert_int_equal(bought(""), 2);
}

static void test_a_throttle_says_when_it_ends(void **state)
{
	char id[PROVIDER_ID_MAX + 1];
	struct provider_result r;

	(void)state;
	config("{\"buckets\":{\"create\":{\"rate\":0.083,\"burst\":1}}}");
	buys(id, "n1", 1);
	assert_int_equal(buy(&r, "n2", 1), 0);
	assert_int_equal(r.code, PROVIDER_RATE);
	assert_true(r.retry_after_ms > 10000 && r.retry_after_ms <= 13000);
	provider_result_fini(&r);
	assert_int_equal(bought(""), 1);
}

/* Nobody says that it was taken: it is gone from the list, and terminated in that of all. */
static void test_a_spot_vm_that_is_reclaimed(void **state)
{
	struct provider_result r;

	(void)state;
	assert_int_equal(buy_at(&r, "h100.8x", PROVIDER_SPOT, "n1", 1), 0);
	provider_result_fini(&r);
	becomes("", 1, PROVIDER_RUNNING);
	simrun_do(&S, "POST", "/admin/reclaim", "{\"node\":\"n1\",\"notice_ms\":1}");
	becomes("", 0, PROVIDER_ENDED);
	becomes("all", 1, PROVIDER_ENDED);
}

/* Bought by hand, or by another program, in the same organization. */
static void test_vms_of_others_are_left_out(void **state)
{
	struct provider_result r;

	(void)state;
	(void)create("sky-cluster-abc");
	json_decref(ask("POST", "vms/create", VM(GPUS(1)), 200)); /* no name */
	r = list_at("");
	assert_int_equal(r.code, PROVIDER_OK);
	assert_int_equal(r.ninstances, 0);
	provider_result_fini(&r);
}

static void test_prices_of_each_market(void **state)
{
	static const char *const types[] = {"h100.8x"};
	struct provider_op op = {.kind = PROVIDER_QUOTES};
	int64_t price[PROVIDER_NMARKETS] = {0};
	struct provider_result r;

	(void)state;
	op.u.quotes.types = types;
	op.u.quotes.ntypes = 1;
	assert_int_equal(simrun_drive(&provider_lyceum, driver, &op, &r), 0);
	assert_int_equal(r.code, PROVIDER_OK);
	assert_int_equal(r.nquotes, 2);
	for (size_t i = 0; i < r.nquotes; i++)
		price[r.quotes[i].market] = r.quotes[i].price_nano_h;
	/* 29.52 and 11.76 an hour, of a second's price with 8 decimals */
	assert_true(llabs(price[PROVIDER_ON_DEMAND] - INT64_C(29520000000)) < 36000);
	assert_true(price[PROVIDER_SPOT] > 0 && price[PROVIDER_SPOT] < price[PROVIDER_ON_DEMAND]);
	provider_result_fini(&r);
}

static void test_a_wrong_key(void **state)
{
	struct provider_result r;

	(void)state;
	provider_lyceum.close(driver);
	open_driver("lk_wrong");
	r = list_at("");
	assert_int_equal(r.code, PROVIDER_DENIED);
	assert_string_equal(r.message, "Could not validate credentials");
	provider_result_fini(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(test_a_vm_is_bought_listed_and_deleted),
		T(test_addresses_with_and_without_a_port),
		T(test_a_ready_vm_may_have_no_address_yet),
		T(test_a_create_sent_twice_is_two_vms),
		T(test_a_reply_that_is_lost_is_found_in_the_list),
		T(test_creates_that_are_refused),
		T(test_what_is_not_sold),
		T(test_each_market_has_its_own_capacity),
		T(test_a_throttle_says_when_it_ends),
		T(test_a_spot_vm_that_is_reclaimed),
		T(test_vms_of_others_are_left_out),
		T(test_prices_of_each_market),
		T(test_a_wrong_key),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
