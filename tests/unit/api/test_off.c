/* test_off.c - what cannot be used and what was removed, as the control socket and the metrics say
 * it. */
#include "ctl_ask.h"

/* A provider that is off, and a pool that the configuration has no more: what that means, and what
 * there is to do. */
static void test_what_is_off_is_told(void **state)
{
	struct fixture *f = start("n[1-2]");
	json_t *r, *rows;

	(void)state;
	f->e.off = "credential_file: /etc/burstd/token: No such file or directory";
	f->e.provider.ok_ms = 0;
	r = ask(f, "{\"v\":1,\"op\":\"status\"}");
	rows = json_object_get(r, "problems");
	assert_int_equal(json_array_size(rows), 1); /* not that it does not answer */
	assert_string_equal(
		json_string_value(json_array_get(rows, 0)),
		"provider sim is off: credential_file: /etc/burstd/token: No such file or "
		"directory; nothing is bought there; it is on again within a minute after "
		"that is repaired");
	assert_true(json_is_true(
		json_object_get(json_array_get(json_object_get(r, "providers"), 0), "off")));
	json_decref(r);
	(void)fake_node(&f->e, "n1", 1, NODE_READY);
	f->e.conf->providers[0].removed = f->e.conf->pools[0].removed = true;
	r = ask(f, "{\"v\":1,\"op\":\"status\"}");
	rows = json_object_get(r, "problems");
	assert_int_equal(json_array_size(rows), 2);
	assert_non_null(strstr(json_string_value(json_array_get(rows, 0)), "1 node at "));
	assert_non_null(strstr(json_string_value(json_array_get(rows, 0)),
			       "/h can be neither seen nor deleted; put it back into "));
	assert_non_null(strstr(json_string_value(json_array_get(rows, 1)),
			       " any more; nothing is bought for it, and 1 node at "));
	rows = json_object_get(r, "pools");
	assert_true(json_is_true(json_object_get(json_array_get(rows, 0), "removed")));
	assert_int_equal(number(json_array_get(rows, 0), "nodes"), 1);
	json_decref(r);
	stop(f);
}

/* Listeners whose ports somebody else has: what that means, and that it is tried again. */
static void test_listeners_that_are_off_are_told(void **state)
{
	struct fixture *f = start("n[1-2]");
	json_t *r, *rows;

	(void)state;
	(void)fake_node(&f->e, "n1", 1, NODE_WANTED);
	f->e.door_off = "nodes: listen: cannot listen on ::1 port 8443: Address already in use";
	f->e.conf->nodes.deadman_ms = 600000;
	f->api.unscraped = "cannot listen on 127.0.0.1 port 9818: Address already in use";
	r = ask(f, "{\"v\":1,\"op\":\"status\"}");
	rows = json_object_get(r, "problems");
	assert_int_equal(json_array_size(rows), 2);
	assert_string_equal(
		json_string_value(json_array_get(rows, 0)),
		"nodes cannot reach burstd: nodes: listen: cannot listen on ::1 port 8443: Address "
		"already in use; until they can, which is tried each few seconds, no node that "
		"gets its keys from burstd is bought, and nodes that boot wait for theirs; nodes "
		"that are up power off after 10m00s (deadman)");
	assert_string_equal(json_string_value(json_array_get(rows, 1)),
			    "/metrics is not served: cannot listen on 127.0.0.1 port 9818: Address "
			    "already in use; tried again each few seconds; until then whatever "
			    "answers there is not burstd");
	json_decref(r);
	r = ask(f, "{\"v\":1,\"op\":\"node\",\"name\":\"n1\"}");
	assert_non_null(strstr(json_string_value(json_object_get(r, "why")),
			       ", once its machine can get its keys (nodes: listen: cannot "));
	json_decref(r);
	stop(f);
}

static void test_a_node_init_that_is_away_is_told(void **state)
{
	struct fixture *f = start("n[1-2]");
	json_t *r, *rows;

	(void)state;
	f->e.init_off = "nodes: node_init: /x: No such file or directory";
	r = ask(f, "{\"v\":1,\"op\":\"status\"}");
	rows = json_object_get(r, "problems");
	assert_int_equal(json_array_size(rows), 1);
	assert_string_equal(json_string_value(json_array_get(rows, 0)),
			    "nodes: node_init: /x: No such file or directory; until it can be "
			    "read, which is tried each minute, no node that needs it is bought, "
			    "and nodes that boot wait for their keys");
	json_decref(r);
	stop(f);
}

/* What is gone and has no node left costs nothing more: nobody has to do anything. */
static void test_a_removed_pool_without_nodes_is_no_problem(void **state)
{
	struct fixture *f = start("n[1-2]");
	json_t *r;

	(void)state;
	f->e.conf->pools[0].removed = true;
	f->e.conf->pools[0].max_nodes = 0;
	r = ask(f, "{\"v\":1,\"op\":\"status\"}");
	assert_int_equal(json_array_size(json_object_get(r, "problems")), 0);
	json_decref(r);
	stop(f);
}

/* What it may never have is no node of its own. */
static void test_a_limit_of_a_pool_outside_of_its_jurisdictions(void **state)
{
	char *codes[] = {(char *)(uintptr_t) "XX", NULL};
	struct fixture *f = start("n[1-2]");
	json_t *r;

	(void)state;
	f->e.price = 29520000000;
	f->e.conf->pools[0].max_rate_nano_h = 1;
	f->e.conf->pools[0].jurisdictions = codes;
	r = ask(f, "{\"v\":1,\"op\":\"status\"}");
	assert_int_equal(json_array_size(json_object_get(r, "problems")), 0);
	json_decref(r);
	f->e.conf->pools[0].jurisdictions = NULL;
	stop(f);
}

/* The limit is below the price of one node: with both figures. */
static void test_a_limit_below_the_price_of_one_node(void **state)
{
	static const struct {
		int64_t price, rate, most;
		const char *want;
	} rows[] = {
		{29520000000, 29520000000, 0, NULL},
		{0, 1, 0, "the price of 8xh100 (on-demand) is not known"},
		{-1, 1, 0, "did you mean 8xh100? nothing can be bought for the pool"},
		{29520000000, 29510000000, 0,
		 "max_rate is 29.51 USD per hour, and its cheapest node "
		 "costs 29.52"},
		{29520000000, 90000000000, 1500000000, "max_price is 1.50 USD per hour"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct fixture *f = start("n[1-2]");
		json_t *r, *problems;

		f->e.price = rows[i].price;
		f->e.like = "8xh100";
		f->e.conf->pools[0].max_rate_nano_h = rows[i].rate;
		f->e.conf->pools[0].max_price_nano_h = rows[i].most;
		r = ask(f, "{\"v\":1,\"op\":\"status\"}");
		problems = json_object_get(r, "problems");
		assert_int_equal(json_array_size(problems), rows[i].want != NULL);
		if (rows[i].want != NULL)
			assert_non_null(strstr(json_string_value(json_array_get(problems, 0)),
					       rows[i].want));
		json_decref(r);
		stop(f);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_what_is_off_is_told),
		cmocka_unit_test(test_listeners_that_are_off_are_told),
		cmocka_unit_test(test_a_node_init_that_is_away_is_told),
		cmocka_unit_test(test_a_limit_of_a_pool_outside_of_its_jurisdictions),
		cmocka_unit_test(test_a_limit_below_the_price_of_one_node),
		cmocka_unit_test(test_a_removed_pool_without_nodes_is_no_problem),
	};

	return cmocka_run_group_tests_name("api/off", tests, NULL, NULL);
}
