/* test_simcloud_spheron_refuse.c - Spheron's face of simcloud refuses in Spheron's words: clients
 * without a name, requests that do not fit their offer, and each fault on demand. */
#include "simrun_spheron.h"

#define FIXTURES "tests/fixtures/spheron"

#define ERROR(code, text) "{\"error\":\"" text "\",\"code\":\"" code "\",\"details\":{}}"
#define BAD(text)         ERROR("VALIDATION_ERROR", text)
#define CAPACITY          ERROR("OFFER_UNAVAILABLE", "The offer is no longer available")

static void test_a_bad_request_is_told_what_is_wrong_with_it(void **state)
{
	static const struct {
		const char *method, *path, *body;
		long status;
		const char *answer;
	} table[] = {
		{"POST", "deployments", "{bad", 400, BAD("Invalid JSON in request body")},
		{"POST", "deployments", "[]", 400, BAD("Invalid JSON in request body")},
		{"POST", "deployments", "{}", 400, BAD("provider is required")},
		{"POST", "deployments", "{" OFFER_A INLINE "}", 400,
		 BAD("Team ID is required for authenticated deployments")},
		{"POST", "deployments", "{" OFFER_A INLINE ",\"teamId\":\"other\"}", 403,
		 ERROR("FORBIDDEN", "You are not a member of this team")},
		{"POST", "deployments", "{" OFFER_A TEAM "}", 400,
		 BAD("exactly one of sshKeyId and ssh_public_key is required")},
		{"POST", "deployments", CREATE(OFFER_A, ",\"sshKeyId\":\"key-0\""), 400,
		 BAD("exactly one of sshKeyId and ssh_public_key is required")},
		{"POST", "deployments", "{" OFFER_A TEAM ",\"sshKeyId\":\"key-0\"}", 400,
		 BAD("SSH key not found")},
		{"POST", "deployments", CREATE(OFFER_A, ",\"userData\":\"x\""), 400,
		 BAD("unknown key \\\"userData\\\"")},
		{"POST", "deployments", CREATE(OFFER_A, ",\"cloudInit\":\"#!/bin/sh\""), 400,
		 BAD("cloudInit: want an object")},
		{"POST", "deployments", CREATE(OFFER_A, ",\"cloudInit\":{\"run\":[]}"), 400,
		 BAD("cloudInit: unknown key \\\"run\\\"")},
		{"GET", "deployments?page=0", NULL, 400, BAD("page must be a positive number")},
		{"GET", "deployments?limit=x", NULL, 400, BAD("limit must be a positive number")},
		{"GET", "gpu-offers?instanceType=VM", NULL, 400,
		 BAD("instanceType: unknown value \\\"VM\\\"")},
		{"GET", "gpu-offers?sortBy=name", NULL, 400,
		 BAD("sortBy: unknown value \\\"name\\\"")},
		{"GET", "deployments/0123", NULL, 404, ERROR("NOT_FOUND", "Deployment not found")},
		{"GET", "deployments/0123/can-terminate", NULL, 404,
		 ERROR("NOT_FOUND", "Deployment not found")},
		{"DELETE", "deployments/0123", NULL, 404,
		 ERROR("NOT_FOUND", "Deployment not found")},
		{"PATCH", "deployments/0123", "{\"name\":\"c\"}", 404,
		 ERROR("NOT_FOUND", "Deployment not found")},
		{"PATCH", "deployments/0123", "{\"name\":\"c\",\"region\":\"x\"}", 400,
		 BAD("unknown key \\\"region\\\"")},
		{"PATCH", "deployments/0123", "{}", 400, BAD("name is required")},
		{"POST", "ssh-keys", "{\"name\":\"k\"}", 400, BAD("publicKey is required")},
		{"PUT", "deployments", "{}", 405,
		 ERROR("METHOD_NOT_ALLOWED", "Method not allowed")},
		{"POST", "deployments/0123", "{}", 405,
		 ERROR("METHOD_NOT_ALLOWED", "Method not allowed")},
		{"GET", "clusters", NULL, 404, ERROR("NOT_FOUND", "Not found")},
		{"GET", "deployments/0123/more", NULL, 404, ERROR("NOT_FOUND", "Not found")},
		{"GET", "deployments/", NULL, 404, ERROR("NOT_FOUND", "Not found")},
	};

	json_t *answer;

	(void)state;
	for (size_t i = 0; i < COUNT(table); i++)
		says(table[i].method, table[i].path, table[i].body, table[i].status,
		     table[i].answer);
	answer = ask("POST", "deployments", "{" OFFER_A INLINE "}", 400);
	assert_shape(FIXTURES, "error-team.json", answer);
	json_decref(answer);
	assert_int_equal(bought(""), 0);
}

/* All that a create says of its offer must be that offer's. */
static void test_a_create_mixes_no_offers(void **state)
{
	static const struct {
		const char *from, *to, *words;
	} table[] = {
		{"spheron-ai", "massed-compute", "provider does not match the offer"},
		{"\"H100\"", "\"A100\"", "gpuType does not match the offer"},
		{"\"gpuCount\":8", "\"gpuCount\":1", "gpuCount does not match the offer"},
		{"\"gpuCount\":8", "\"gpuCount\":\"8\"", "gpuCount is required"},
		{"\"eu-north-1\"", "\"eu-west-1\"", "region does not match the offer"},
		{"DEDICATED", "SPOT", "instanceType does not match the offer"},
		{"Ubuntu Server 22.04", "Debian", "operatingSystem does not match the offer"},
		{"north-1a", "north-9z", "Offer not found"},
		{"\"offerId\":\"gpu_8x_h100_eu-north-1a\"", "\"offerId\":null",
		 "offerId is required"},
	};
	static const char whole[] = CREATE(OFFER_A, "");
	char body[sizeof(whole) + 64], want[256];

	(void)state;
	for (size_t i = 0; i < COUNT(table); i++) {
		const char *hit = strstr(whole, table[i].from);

		assert_non_null(hit);
		(void)snprintf(body, sizeof(body), "%.*s%s%s", (int)(hit - whole), whole,
			       table[i].to, hit + strlen(table[i].from));
		(void)snprintf(want, sizeof(want), BAD("%s"), table[i].words);
		says("POST", "deployments", body, 400, want);
	}
	assert_int_equal(bought(""), 0);
	json_decref(ask("POST", "deployments", whole, 200));
}

static void test_no_balance_and_no_room_are_told_apart(void **state)
{
	(void)state;
	simrun_do(&S, "POST", "/admin/config", "{\"quota\":0}");
	says("POST", "deployments", CREATE(OFFER_A, ""), 400,
	     ERROR("INSUFFICIENT_BALANCE", "Insufficient balance"));
	simrun_do(&S, "POST", "/admin/config", "{\"quota\":null}");
	simrun_do(&S, "POST", "/admin/capacity", "{\"type\":\"gpu_8x_h100\",\"capacity\":0}");
	says("POST", "deployments", CREATE(OFFER_A, ""), 409, CAPACITY);
	assert_int_equal(bought(""), 0);
}

/* --- who asks --------------------------------------------------------------------------------- */

/* Whatever the key, and for what is public too. */
static void test_a_client_without_a_name_is_forbidden(void **state)
{
	static const char *const agents[] = {NULL, "User-Agent;", "User-Agent: Python-urllib/3.11"};

	(void)state;
	for (size_t i = 0; i < COUNT(agents); i++) {
		rest_headers[1] = agents[i];
		says("GET", "deployments", NULL, 403, ERROR("FORBIDDEN", "Forbidden"));
		says("GET", "gpu-offers", NULL, 403, ERROR("FORBIDDEN", "Forbidden"));
		rest_headers[0] = NULL;
		says("GET", "deployments", NULL, 403, ERROR("FORBIDDEN", "Forbidden"));
		rest_headers[0] = BEARER;
	}
	rest_headers[1] = "User-Agent: python-requests/2.32.3";
	json_decref(ask("GET", "deployments", NULL, 200));
}

static void test_only_the_key_is_served_but_for_offers(void **state)
{
	static const char *const wrong[] = {NULL, "Authorization: Bearer sai_pk_lab-k3x",
					    "Authorization: Basic " KEY, "Authorization: " KEY};

	(void)state;
	for (size_t i = 0; i < COUNT(wrong); i++) {
		rest_headers[0] = wrong[i];
		says("GET", "deployments", NULL, 401,
		     ERROR("UNAUTHORIZED", "Invalid or missing API key"));
		says("POST", "deployments", CREATE(OFFER_A, ""), 401,
		     ERROR("UNAUTHORIZED", "Invalid or missing API key"));
		json_decref(ask("GET", "gpu-offers", NULL, 200));
	}
	assert_int_equal(bought(""), 0);
}

/* --- faults ----------------------------------------------------------------------------------- */

#define RULE(rest) "{\"count\":1," rest "}"

static void fault(const char *rule)
{
	simrun_do(&S, "POST", "/admin/faults", rule);
}

static void test_faults_are_told_in_spherons_words(void **state)
{
	static const struct {
		const char *rule;
		long status;
		const char *answer;
	} table[] = {
		{RULE("\"op\":\"create\",\"action\":\"error\",\"code\":\"capacity\""), 409,
		 CAPACITY},
		{RULE("\"op\":\"create\",\"action\":\"error\",\"code\":\"quota\""), 400,
		 ERROR("INSUFFICIENT_BALANCE", "Insufficient balance")},
		{RULE("\"op\":\"create\",\"action\":\"error\",\"code\":\"invalid\""), 400,
		 BAD("Invalid request")},
		{RULE("\"op\":\"create\",\"action\":\"error\",\"code\":\"denied\""), 403,
		 ERROR("FORBIDDEN", "Forbidden")},
		{RULE("\"op\":\"create\",\"action\":\"error\",\"code\":\"internal\","
		      "\"status\":502,\"message\":\"PROVIDER_ERROR: upstream\""),
		 502, ERROR("PROVIDER_ERROR", "upstream")},
		{RULE("\"op\":\"create\",\"action\":\"error\",\"code\":\"internal\","
		      "\"message\":\"upstream\""),
		 500, ERROR("INTERNAL_ERROR", "upstream")},
		{RULE("\"op\":\"create\",\"action\":\"partial\",\"keep\":0"), 409, CAPACITY},
		{RULE("\"op\":\"create\",\"action\":\"late\",\"ms\":1"), 500,
		 ERROR("INTERNAL_ERROR", "Internal server error")},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(table); i++) {
		assert_int_equal(bought(""), 0);
		fault(table[i].rule);
		says("POST", "deployments", CREATE(OFFER_A, ""), table[i].status, table[i].answer);
	}
	for (int i = 0; i < 500 && bought("") == 0; i++)
		usleep(10000);
	assert_int_equal(bought(""), 1); /* the late one */
}

static void test_an_effect_may_be_without_its_answer(void **state)
{
	struct simrun_reply r;

	(void)state;
	fault(RULE("\"op\":\"create\",\"action\":\"error\",\"when\":\"after\""));
	json_decref(ask("POST", "deployments", CREATE(OFFER_A, ""), 500));
	fault(RULE("\"op\":\"create\",\"action\":\"drop-reply\""));
	rest_send(&r, "POST", "deployments", CREATE(OFFER_A, ""));
	assert_true(r.rc != CURLE_OK);
	simrun_done(&r);
	fault(RULE("\"op\":\"create\",\"action\":\"truncate\""));
	assert_null(ask("POST", "deployments", CREATE(OFFER_A, ""), 200));
	fault(RULE("\"op\":\"create\",\"action\":\"garbage\""));
	assert_null(ask("POST", "deployments", CREATE(OFFER_A, ""), 200));
	assert_int_equal(bought(""), 4);
}

static void test_a_list_may_lack_deployments(void **state)
{
	json_t *d;
	char id[64];

	(void)state;
	(void)create("c1");
	(void)snprintf(id, sizeof(id), "%s", create("c2"));
	fault(RULE("\"op\":\"list\",\"action\":\"empty\""));
	says("GET", "deployments", NULL, 200, "[]");
	fault(RULE("\"op\":\"list\",\"action\":\"partial\",\"node\":\"c1\""));
	d = ask("GET", "deployments?page=1", NULL, 200);
	assert_int_equal(json_array_size(at(d, "deployments")), 1);
	assert_string_equal(text_at(d, "deployments.0.name"), "c2");
	json_decref(d);
	fault(RULE("\"op\":\"delete\",\"action\":\"partial\",\"node\":\"c2\","
		   "\"code\":\"internal\""));
	json_decref(ask("DELETE", path_of(id, ""), NULL, 500));
	fault(RULE("\"op\":\"delete\",\"action\":\"error\",\"code\":\"not-yet\","
		   "\"retry_after\":61"));
	d = ask("DELETE", path_of(id, ""), NULL, 400);
	assert_int_equal(json_integer_value(at(d, "timeRemaining")), 2);
	assert_shape(FIXTURES, "error-not-yet.json", d);
	json_decref(d);
	json_decref(ask("DELETE", path_of(id, ""), NULL, 200));
	d = ask("DELETE", path_of(id, ""), NULL, 400);
	assert_shape(FIXTURES, "error-already.json", d);
	json_decref(d);
}

/* Ten creates in 15 minutes; when to ask again is in the body, and no header says so. */
static void test_too_many_creates_are_refused(void **state)
{
	struct simrun_reply r;

	(void)state;
	simrun_do(&S, "POST", "/admin/config",
		  "{\"buckets\":{\"create\":{\"rate\":0.011,\"burst\":10}}}");
	for (int i = 0; i < 10; i++)
		(void)create("c1");
	rest_send(&r, "POST", "deployments", CREATE(OFFER_A, ""));
	assert_int_equal(r.status, 429);
	assert_string_equal(r.retry_after, "");
	assert_string_equal(text_at(r.json, "code"), "RATE_LIMIT_EXCEEDED");
	assert_in_range(json_integer_value(at(r.json, "retryAfter")), 1, 91);
	assert_shape(FIXTURES, "error-rate.json", r.json);
	simrun_done(&r);
	assert_int_equal(bought(""), 10);
	fault(RULE("\"op\":\"list\",\"action\":\"error\",\"code\":\"rate\",\"retry_after\":7"));
	rest_send(&r, "GET", "deployments", NULL);
	assert_int_equal(json_integer_value(at(r.json, "retryAfter")), 7);
	assert_string_equal(r.retry_after, "");
	simrun_done(&r);
}

/* And 250 requests of whatever kind. */
static void test_too_many_requests_are_refused(void **state)
{
	json_t *d;

	(void)state;
	simrun_do(&S, "POST", "/admin/config",
		  "{\"buckets\":{\"any\":{\"rate\":0.277,\"burst\":3}}}");
	json_decref(ask("GET", "balance", NULL, 200));
	json_decref(ask("GET", "deployments", NULL, 200));
	(void)create("c1");
	d = ask("GET", "deployments", NULL, 429);
	assert_in_range(json_integer_value(at(d, "retryAfter")), 1, 4);
	json_decref(d);
	json_decref(ask("POST", "deployments", CREATE(OFFER_A, ""), 429));
	assert_int_equal(bought(""), 1);
}

int main(void)
{
#define T(t) cmocka_unit_test_setup_teardown(t, setup, rest_stop)
	const struct CMUnitTest tests[] = {
		T(test_a_bad_request_is_told_what_is_wrong_with_it),
		T(test_a_create_mixes_no_offers),
		T(test_no_balance_and_no_room_are_told_apart),
		T(test_a_client_without_a_name_is_forbidden),
		T(test_only_the_key_is_served_but_for_offers),
		T(test_faults_are_told_in_spherons_words),
		T(test_an_effect_may_be_without_its_answer),
		T(test_a_list_may_lack_deployments),
		T(test_too_many_creates_are_refused),
		T(test_too_many_requests_are_refused),
	};

#undef T
	return cmocka_run_group_tests_name("simcloud_spheron_refuse", tests, NULL, NULL);
}
