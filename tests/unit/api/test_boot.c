/* test_boot.c - what the control socket and /metrics say of nodes that get their keys from us. */
#include "ctl_ask.h"

#include "api/metrics.h"
#include "keys/keys_api.h"

static const struct engine_boot confirmed = {.claim = "confirmed",
					     .why = "",
					     .weak = true,
					     .since_ms = FAKE_NOW - 5000,
					     .key_version = 7,
					     .heartbeat_ms = FAKE_NOW - 1000,
					     .ready_ms = FAKE_NOW - 2000,
					     .boot_ms = 42000};

static void buy(struct fixture *f, const char *name)
{
	struct node n;

	node_init(&n, name, 3, FAKE_NOW);
	n.state = NODE_READY;
	(void)fleet_add(&f->e.fleet, &n);
}

static json_t *boot_of(json_t *row)
{
	return json_object_get(row, "boot");
}

static void test_a_node_shows_how_it_came_by_its_keys(void **state)
{
	struct fixture *f = start("n[1-2]");
	json_t *r, *b;

	(void)state;
	buy(f, "n1");
	r = ask(f, "{\"v\":1,\"op\":\"node\",\"name\":\"n1\"}");
	assert_null(boot_of(r)); /* its image has them */
	json_decref(r);
	f->e.boot = confirmed;
	r = ask(f, "{\"v\":1,\"op\":\"node\",\"name\":\"n1\"}");
	b = boot_of(r);
	assert_string_equal(text(b, "claim"), "confirmed");
	assert_string_equal(text(b, "attest"), "weak");
	assert_int_equal(number(b, "key_version"), 7);
	assert_int_equal(number(b, "heartbeat_ms"), FAKE_NOW - 1000);
	assert_int_equal(number(b, "took_ms"), 42000);
	assert_true(json_is_false(json_object_get(b, "old_keys")));
	json_decref(r);
	/* One that was never bought has none. */
	r = ask(f, "{\"v\":1,\"op\":\"node\",\"name\":\"n2\"}");
	assert_null(boot_of(r));
	json_decref(r);
	r = ask(f, "{\"v\":1,\"op\":\"nodes\"}");
	assert_string_equal(text(boot_of(json_array_get(json_object_get(r, "nodes"), 0)), "attest"),
			    "weak");
	json_decref(r);
	/* By its user-data: nobody asked which machine it is. */
	f->e.boot.weak = false;
	f->e.boot.unproved = true;
	r = ask(f, "{\"v\":1,\"op\":\"node\",\"name\":\"n1\"}");
	assert_string_equal(text(boot_of(r), "attest"), "none");
	json_decref(r);
	stop(f);
}

static void test_status_counts_claims(void **state)
{
	struct engine_door_counters door = {.requests = 1};
	struct fixture *f = start("n1");
	json_t *r = ask(f, "{\"v\":1,\"op\":\"status\"}"), *claims;

	(void)state;
	assert_null(json_object_get(r, "claims"));
	json_decref(r);
	f->e.door = &door;
	r = ask(f, "{\"v\":1,\"op\":\"status\"}");
	claims = json_object_get(r, "claims");
	assert_int_equal(number(claims, "confirmed"), CLAIM_CONFIRMED);
	assert_int_equal(number(claims, "weak"), 2);
	assert_null(json_object_get(claims, "issued")); /* there is none */
	json_decref(r);
	stop(f);
}

static bool status_says(struct fixture *f, const char *want)
{
	json_t *r = ask(f, "{\"v\":1,\"op\":\"status\"}"), *list = json_object_get(r, "problems");
	bool says = false;

	for (size_t i = 0; i < json_array_size(list); i++)
		says = says || strstr(json_string_value(json_array_get(list, i)), want) != NULL;
	json_decref(r);
	return says;
}

static void test_a_breach_is_a_problem(void **state)
{
	struct engine_door_counters door = {.requests = 1};
	struct fixture *f = start("n1");

	(void)state;
	f->e.door = &door;
	assert_false(status_says(f, "misused") || status_says(f, "spoke"));
	f->e.counters.claims_breached = 1; /* since burstd started */
	assert_false(status_says(f, "misused"));
	f->e.breaches = (struct engine_breaches){.n = 1, .last_ms = FAKE_NOW - 7200000};
	door.misuses = 2;
	assert_true(status_says(f, "1 claim of keys was misused, the last one 2h00m ago: "));
	assert_true(status_says(f, "if keys leaked: burstctl secrets rotate --munge"));
	f->e.breaches = (struct engine_breaches){.n = 3, .last_ms = FAKE_NOW + 7200000};
	assert_true(status_says(f, "3 claims of keys were misused, the last one 0ms ago: "));
	assert_true(status_says(f, "2 requests of a node spoke for another one"));
	assert_false(status_says(f, "not in the list of names"));
	door.hosts_left_out = 3;
	assert_true(status_says(f, "3 nodes are missing in the list of node names"));
	stop(f);
}

static void test_metrics_count_boots(void **state)
{
	static const char *const want[] = {"\nburstd_claims{state=\"confirmed\"} 3\n",
					   "\nburstd_claims_weak 2\n",
					   "\nburstd_hosts_left_out 3\n",
					   "\nburstd_claims_breached_total 9\n",
					   "\nburstd_bootstraps_total{end=\"ready\"} 4\n",
					   "\nburstd_bootstraps_total{end=\"failed\"} 1\n",
					   "\nburstd_bootstrap_seconds_total{step=\"gpu\"} 2.50\n",
					   "\nburstd_bootstrap_steps_total{step=\"gpu\"} 2\n",
					   "\nburstd_bootstrap_seconds_max{step=\"gpu\"} 1.50\n",
					   "\nburstd_node_requests_total{status=\"4xx\"} 6\n",
					   "\nburstd_node_heartbeats_total 100\n",
					   "\nburstd_node_misuses_total 5\n",
					   "\nburstd_node_munge_refused_total 8\n"};
	struct engine_door_counters door = {.answers = {10, 0, 6, 0},
					    .heartbeats = 100,
					    .ready = 4,
					    .failed = 1,
					    .misuses = 5,
					    .munge_refused = 8,
					    .hosts_left_out = 3,
					    .steps[3] = {"gpu", 2, 2500, 1500}};
	struct fixture *f = start("n1");
	struct str s;

	(void)state;
	str_init(&s, METRICS_MAX);
	metrics_write(&f->api, &s);
	assert_null(strstr(s.p, "burstd_claims"));
	str_clear(&s);
	f->e.door = &door;
	f->e.counters.claims_breached = 9;
	metrics_write(&f->api, &s);
	for (size_t i = 0; i < sizeof(want) / sizeof(want[0]); i++)
		if (strstr(s.p, want[i]) == NULL)
			fail_msg("%s", want[i]);
	assert_non_null(strstr(s.p, "\nburstd_listener_up 1\n"));
	assert_null(strstr(s.p, "burstd_listener_connections")); /* a test has none */
	str_clear(&s);
	f->e.door_off = "its port is somebody else's";
	metrics_write(&f->api, &s);
	assert_non_null(strstr(s.p, "\nburstd_listener_up 0\n"));
	str_fini(&s);
	stop(f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_node_shows_how_it_came_by_its_keys),
		cmocka_unit_test(test_status_counts_claims),
		cmocka_unit_test(test_a_breach_is_a_problem),
		cmocka_unit_test(test_metrics_count_boots),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
