/* test_door_heartbeat.c - heartbeats of nodes. */
#include "bare_door.h"
#include "keys/keys.h"

/* --- heartbeats ------------------------------------------------------------------------------- */

static void test_a_heartbeat_is_answered_at_once_and_writes_nothing(void **state)
{
	(void)state;
	assert_int_equal(post("heartbeat",
			      ME ",\"key_version\":\"7\",\"faulty\":false,\"jobs\":[1,2"
				 "],\"busy\":true,\"cert_until\":1800080000}"),
			 200);
	assert_int_equal(B.timers, 0);
	assert_string_equal(B.events, "");
	assert_has(B.said, "{\"ok\":true,\"generation\":2,\"now_ms\":1800000000000,"
			   "\"wall_ms\":1800000000000,\"interval_s\":5,"
			   "\"renew\":false,\"hosts\":\"");
	assert_int_equal(B.a.heartbeat_ms, W.now);
	assert_int_equal(B.a.key_version, 7);
	assert_false(B.a.old_keys);
	assert_int_equal(B.a.cert_until_ms, INT64_C(1800080000000));
}

/* While nodes come they ask often, for the others' addresses; then, and in a large cluster, not. */
static void test_heartbeats_are_rarer_when_all_have_come(void **state)
{
	(void)state;
	assert_int_equal(post("heartbeat", ME "}"), 200);
	assert_has(B.said, "\"interval_s\":5,");
	W.now += DOOR_SOON_MS;
	assert_int_equal(post("heartbeat", ME "}"), 200);
	assert_has(B.said, "\"interval_s\":30,");
	for (int i = 0; i < 1000; i++) {
		char name[16];

		(void)snprintf(name, sizeof(name), "many%d", i);
		(void)put(name, 1, NODE_BOOTING, "192.0.2.77");
	}
	commit();
	assert_int_equal(post("heartbeat", ME "}"), 200);
	assert_has(B.said, "\"interval_s\":30,");
}

static void test_a_certificate_that_ends_soon_is_to_be_renewed(void **state)
{
	(void)state;
	assert_int_equal(post("heartbeat", ME ",\"cert_until\":1800003600}"), 200);
	assert_has(B.said, "\"renew\":true");
}

static void test_a_heartbeat_with_old_keys_is_seen(void **state)
{
	struct engine_boot boot;

	(void)state;
	B.version = "8";
	assert_int_equal(post("heartbeat", ME ",\"key_version\":\"7\"}"), 200);
	assert_true(engine_boot(&B.e, "c1", 2, &boot) && boot.old_keys);
	assert_int_equal(post("heartbeat", ME ",\"key_version\":\"8\"}"), 200);
	assert_true(engine_boot(&B.e, "c1", 2, &boot) && !boot.old_keys);
	assert_int_equal(boot.key_version, 8);
}

static void test_a_faulty_node_is_noticed_once(void **state)
{
	(void)state;
	assert_int_equal(post_through("heartbeat", ME ",\"faulty\":true}"), 200);
	assert_string_equal(B.notices, "c1 3 0 its hardware fails a check (its agent)\n");
	assert_int_equal(post_through("heartbeat", ME ",\"faulty\":true}"), 200);
	assert_string_equal(B.notices, "c1 3 0 its hardware fails a check (its agent)\n");
}

/* So that its dead-man's switch goes on. */
static void test_a_node_that_is_to_go_gets_no_heartbeat(void **state)
{
	struct fleet_node *fn = fleet_live(fleet_find(&B.e.fleet, "c1"));

	(void)state;
	fleet_stage(fn)->state = NODE_DELETING;
	fleet_publish(&B.e.fleet, fn);
	assert_int_equal(post("heartbeat", ME "}"), 410);
}

/* --- what makes no sense ---------------------------------------------------------------------- */

#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(test_a_heartbeat_is_answered_at_once_and_writes_nothing),
		T(test_heartbeats_are_rarer_when_all_have_come),
		T(test_a_certificate_that_ends_soon_is_to_be_renewed),
		T(test_a_heartbeat_with_old_keys_is_seen),
		T(test_a_faulty_node_is_noticed_once),
		T(test_a_node_that_is_to_go_gets_no_heartbeat),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
