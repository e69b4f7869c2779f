/* test_simcloud_ironic_faults.c - faults that are set by an admin, on Ironic's face of simcloud. */
#include "simrun_ironic.h"

static void fault(const char *rule)
{
	simrun_do(&S, "DELETE", "/admin/faults", NULL);
	simrun_do(&S, "POST", "/admin/faults", rule);
}

static void test_each_code_is_an_error_of_ironics(void **state)
{
	static const struct {
		const char *code;
		long status;
	} rows[] = {
		{"capacity", 503}, {"quota", 403},     {"denied", 403},
		{"invalid", 400},  {"not-found", 404}, {"not-yet", 409},
		{"rate", 429},     {"internal", 500},  {"token-mismatch", 409},
	};
	char rule[128];

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		(void)snprintf(rule, sizeof(rule),
			       "{\"op\":\"create\",\"action\":\"error\",\"code\":\"%s\"}",
			       rows[i].code);
		fault(rule);
		refused("POST", "/v1/allocations", ALLOC("a", "n"), rows[i].status, "");
	}
	fault("{\"op\":\"create\",\"action\":\"error\",\"code\":\"quota\",\"message\":\"no "
	      "more\"}");
	refused("POST", "/v1/allocations", ALLOC("a", "n"), 403, "no more");
	fault("{\"op\":\"create\",\"action\":\"error\",\"status\":502}");
	refused("POST", "/v1/allocations", ALLOC("a", "n"), 502, "");
	assert_int_equal(count("/v1/allocations", "allocations"), 0);
}

/* The steps of a create are one operation, so that a rule may break any of them. */
static void test_a_rule_may_break_each_step_of_a_create(void **state)
{
	(void)state;
	fault("{\"op\":\"create\",\"action\":\"error\",\"nth\":3,\"when\":\"after\"}");
	done("POST", "/v1/allocations", ALLOC("a", "n"), 201);
	done("PATCH", N0, "[{\"op\":\"add\",\"path\":\"/extra/x\",\"value\":1}]", 200);
	refused("PUT", N0 "/states/provision", DEPLOY, 500, "");
	assert_int_equal(bills(), 1); /* it was done all the same */
	until(N0, "provision_state", "active");
}

static void test_a_rule_is_about_a_node(void **state)
{
	(void)state;
	fault("{\"op\":\"any\",\"action\":\"error\",\"node\":\"n1\"}");
	refused("POST", "/v1/allocations", ALLOC("a1", "n1"), 500, "");
	done("POST", "/v1/allocations", ALLOC("a2", "n2"), 201);
	simrun_do(&S, "DELETE", "/admin/faults", NULL);
	done("POST", "/v1/allocations", ALLOC("a1", "n1"), 201);
	fault("{\"op\":\"any\",\"action\":\"error\",\"node\":\"n1\"}");
	refused("GET", "/v1/allocations/a1", NULL, 500, "");
	done("GET", "/v1/allocations/a2", NULL, 200);
	refused("PUT", N1 "/states/provision", DEPLOY, 500, ""); /* n1 got the second machine */
	deploy(N0);
	fault("{\"op\":\"delete\",\"action\":\"error\",\"node\":\"n2\"}");
	until(N0, "provision_state", "active");
	refused("PUT", N0 "/states/provision", "{\"target\":\"deleted\"}", 500, "");
}

static void test_a_lost_answer_may_have_had_its_effect(void **state)
{
	struct simrun_reply r;

	(void)state;
	fault("{\"op\":\"create\",\"action\":\"drop-reply\",\"count\":1}"); /* F1 */
	sent(&r, "POST", "/v1/allocations", VERSION, ALLOC("a", "n"));
	assert_int_not_equal(r.rc, CURLE_OK);
	simrun_done(&r);
	refused("POST", "/v1/allocations", ALLOC("a", "n"), 409, "already exists");
	fault("{\"op\":\"create\",\"action\":\"drop-request\",\"count\":1}");
	sent(&r, "PUT", N0 "/states/provision", VERSION, DEPLOY);
	assert_int_not_equal(r.rc, CURLE_OK);
	simrun_done(&r);
	assert_true(has(N0, "provision_state", "available"));
	fault("{\"op\":\"create\",\"action\":\"late\",\"ms\":20}"); /* F3 */
	refused("PUT", N0 "/states/provision", DEPLOY, 500, "");
	until(N0, "provision_state", "active");
	fault("{\"op\":\"get\",\"action\":\"garbage\"}"); /* F30 */
	sent(&r, "GET", N0, VERSION, NULL);
	assert_non_null(strstr(r.body.p, "<html>"));
	simrun_done(&r);
}

/* A create comes in part: the allocation fails, or its deployment. */
static void test_partial_is_told_late(void **state)
{
	(void)state;
	fault("{\"op\":\"create\",\"action\":\"partial\",\"node\":\"n1\"}");
	done("POST", "/v1/allocations", ALLOC("a1", "n1"), 201);
	until("/v1/allocations/a1", "state", "error");
	simrun_do(&S, "DELETE", "/admin/faults", NULL);
	done("POST", "/v1/allocations", ALLOC("a2", "n2"), 201);
	fault("{\"op\":\"create\",\"action\":\"partial\",\"node\":\"n2\",\"code\":\"quota\"}");
	deploy(N0);
	assert_true(has(N0, "provision_state", "deploy failed"));
	fault("{\"op\":\"delete\",\"action\":\"partial\",\"node\":\"n2\",\"code\":\"internal\"}");
	refused("PUT", N0 "/states/provision", "{\"target\":\"deleted\"}", 500, "");
	refused("DELETE", "/v1/allocations/a2", NULL, 500, "");
	assert_int_equal(bills(), 0);
}

static void test_a_list_may_be_short_or_empty(void **state)
{
	(void)state;
	done("POST", "/v1/allocations", ALLOC("a1", "n1"), 201);
	done("POST", "/v1/allocations", ALLOC("a2", "n2"), 201);
	fault("{\"op\":\"list\",\"action\":\"partial\",\"node\":\"n2\"}"); /* F16 */
	assert_int_equal(count("/v1/allocations", "allocations"), 1);
	assert_int_equal(count("/v1/nodes", "nodes"), 1);
	fault("{\"op\":\"list\",\"action\":\"empty\"}"); /* F17 */
	assert_int_equal(count("/v1/allocations?limit=1", "allocations"), 0);
	assert_int_equal(count("/v1/nodes?limit=1", "nodes"), 0);
	simrun_do(&S, "DELETE", "/admin/faults", NULL);
	set("{\"flap\":1}");
	assert_int_equal(count("/v1/allocations", "allocations"), 0);
	assert_int_equal(count("/v1/nodes", "nodes"), 0);
}

static void test_too_many_requests_are_refused_for_a_while(void **state)
{
	struct simrun_reply r;

	(void)state;
	set("{\"buckets\":{\"list\":{\"rate\":0.1,\"burst\":1}}}");
	done("GET", "/v1/nodes", NULL, 200);
	sent(&r, "GET", "/v1/nodes", VERSION, NULL);
	assert_int_equal(r.status, 429);
	assert_string_equal(r.retry_after, "10");
	simrun_done(&r);
}

/* A minimum rental locks the machine. */
static void test_what_may_not_end_yet_is_locked(void **state)
{
	struct simrun_reply r;

	(void)state;
	set("{\"min_rental\":\"1h\"}");
	deploy(N0);
	until(N0, "provision_state", "active");
	sent(&r, "PUT", N0 "/states/provision", VERSION, "{\"target\":\"deleted\"}");
	assert_int_equal(r.status, 409);
	assert_string_equal(r.retry_after, "3600");
	simrun_done(&r);
	assert_true(has(N0, "provision_state", "active"));
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
	const struct CMUnitTest tests[] = {
		T(test_each_code_is_an_error_of_ironics),
		T(test_a_rule_may_break_each_step_of_a_create),
		T(test_a_rule_is_about_a_node),
		T(test_a_lost_answer_may_have_had_its_effect),
		T(test_partial_is_told_late),
		T(test_a_list_may_be_short_or_empty),
		T(test_too_many_requests_are_refused_for_a_while),
		T(test_what_may_not_end_yet_is_locked),
	};
#undef T

	return cmocka_run_group_tests_name("simcloud_ironic_faults", tests, NULL, NULL);
}
