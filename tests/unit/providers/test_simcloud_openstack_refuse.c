/* test_simcloud_openstack_refuse.c - logins, tokens, and every error of OpenStack's faces of
 * simcloud. */
#include "simrun_openstack.h"

#define TOKENS "/identity/v3/auth/tokens"
#define CREDENTIAL(members)                                                                        \
	"{\"auth\":{\"identity\":{\"methods\":[\"application_credential\"],"                       \
	"\"application_credential\":{" members "}}}}"

static const char denied[] =
	"{\"error\":{\"code\":401,\"message\":\"The request you have made requires "
	"authentication.\",\"title\":\"Unauthorized\"}}";

static void test_a_password_opens_a_project_with_a_catalog(void **state)
{
	(void)state;
	ask("POST", TOKENS, LOGIN("geheim", PROJECT), 201);
	header("X-Subject-Token: gAAAAA");
	header("Vary: X-Auth-Token");
	assert_non_null(strstr(R.body.p, "/compute/eu-west-1/v2.1\""));
	assert_non_null(strstr(R.body.p, "\"interface\":\"internal\""));
	says("POST", TOKENS, LOGIN("geheim", PROJECT), 201,
	     "\"type\":\"baremetal\",\"name\":\"ironic\"");
	keep_token();
	ask("GET", "/v2.1/servers", NULL, 200);
	says("GET", "/v1/nodes", NULL, 200, "{\"nodes\":["); /* Ironic takes it, too */
	says("POST", "/v3/auth/tokens", LOGIN("falsch", PROJECT), 401, denied);
	header("WWW-Authenticate: Keystone uri=");
}

static void test_without_a_project_there_is_no_catalog_and_no_way_in(void **state)
{
	(void)state;
	ask("POST", TOKENS, LOGIN("geheim", ""), 201);
	assert_null(strstr(R.body.p, "catalog"));
	keep_token();
	says("GET", "/v2.1/servers", NULL, 403, "forbidden");
	ask("GET", "/v1/nodes", NULL, 401);
}

static void test_an_application_credential_has_its_project(void **state)
{
	(void)state;
	ask("POST", TOKENS, CREDENTIAL("\"id\":\"a\",\"secret\":\"geheim\""), 201);
	assert_non_null(strstr(R.body.p, "\"methods\":[\"application_credential\"]"));
	keep_token();
	ask("GET", "/v2.1/servers", NULL, 200);
	says("POST", TOKENS, CREDENTIAL("\"id\":\"a\",\"secret\":\"falsch\""), 401, denied);
	says("POST", TOKENS, CREDENTIAL("\"name\":\"a\",\"secret\":\"geheim\""), 400,
	     "Expecting to find user in application credential. ");
	says("POST", TOKENS, CREDENTIAL("\"secret\":\"geheim\""), 400,
	     "Expecting to find id or name");
	/* It cannot ask for another one. */
	ask("POST", TOKENS,
	    "{\"auth\":{\"identity\":{\"methods\":[\"application_credential\"],"
	    "\"application_credential\":{\"id\":\"a\",\"secret\":\"geheim\"}}" PROJECT "}}",
	    401);
}

static void test_wrong_logins_are_told_what_is_missing(void **state)
{
	static const struct {
		const char *body, *words;
	} t[] = {
		{"{bad", "Expecting to find valid JSON in request body. "},
		{"{}", "Expecting to find auth in request body. "},
		{"{\"auth\":{}}", "'identity' is a required property"},
		{"{\"auth\":{\"identity\":{}}}", "'methods' is a required property"},
		{"{\"auth\":{\"identity\":{\"methods\":1}}}", "methods is not of type 'array'"},
		{"{\"auth\":{\"identity\":{\"methods\":[1]}}}", "method is not of type 'string'"},
		{"{\"auth\":{\"identity\":{\"methods\":[\"x\"]}}}",
		 "Expecting to find x in identity. "},
		{"{\"auth\":{\"identity\":{\"methods\":[\"password\"]}}}",
		 "Expecting to find password in identity. "},
		{"{\"auth\":{\"identity\":{\"methods\":[\"password\"],\"password\":{\"user\":{"
		 "\"name\":"
		 "\"u\"}}}}}",
		 "Expecting to find domain in user. "},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
		says("POST", TOKENS, t[i].body, 400, t[i].words);
		assert_non_null(strstr(R.body.p, "\"title\":\"Bad Request\""));
	}
	says("PUT", TOKENS, "{}", 405,
	     "{\"message\":\"The method is not allowed for the requested URL.\"}");
	says("GET", "/v3/nosuch", NULL, 404, "<html>");
	says("GET", "/identity", NULL, 300, "\"versions\":{\"values\":[{\"id\":\"v3.14\"");
	says("GET", "/v3", NULL, 200, "{\"version\":{\"id\":\"v3.14\"");
}

static void test_a_token_is_shown_to_whom_has_one(void **state)
{
	struct simrun_reply r;
	struct curl_slist *headers = curl_slist_append(NULL, token);
	char url[256], subject[200];

	(void)state;
	(void)snprintf(url, sizeof(url), "%s" TOKENS, S.url);
	(void)snprintf(subject, sizeof(subject), "X-Subject-Token: %s",
		       token + strlen("X-Auth-Token: "));
	headers = curl_slist_append(headers, subject);
	simrun_send(&r, "GET", url, headers, NULL);
	assert_int_equal(r.status, 200);
	assert_non_null(strstr(r.body.p, "expires_at"));
	simrun_done(&r);
	curl_slist_free_all(headers);
	says("GET", TOKENS, NULL, 404, "No token in the request");
	(void)snprintf(token, sizeof(token), "X-Auth-Token: bad");
	says("GET", TOKENS, NULL, 401, denied);
}

static void test_a_token_ends(void **state)
{
	(void)state;
	ask("GET", "/v2.1/servers", NULL, 200);
	admin("/admin/config", "{\"login_life\":\"1s\"}");
	login();
	ask("GET", "/v2.1/servers", NULL, 200);
	(void)sleep(1);
	usleep(50000);
	says("GET", "/v2.1/servers", NULL, 401, denied);
	header("WWW-Authenticate: Keystone uri=");
	admin("/admin/config", "{\"login_life\":\"1h\"}");
	says("GET", "/v2.1/servers", NULL, 401, denied); /* it says itself when it ends */
	login();
	ask("GET", "/v2.1/servers", NULL, 200);
	admin("/admin/config", "{\"login_life\":\"1ms\"}");
	usleep(10000);
	says("GET", "/v2.1/servers", NULL, 401, denied); /* and may end before that */
}

static void test_a_forged_token_is_refused(void **state)
{
	(void)state;
	token[strlen(token) - 1] ^= 1;
	says("GET", "/v2.1/servers", NULL, 401, denied);
	ask("GET", "/v2.1/", NULL, 200); /* versions are for all */
	ask("GET", "/compute/eu-north-1/", NULL, 200);
}

static void test_paths_and_methods_that_are_not_there_are_a_page(void **state)
{
	(void)state;
	says("GET", "/v2.1/nosuch", NULL, 404, "<html>");
	header("Content-Type: text/html");
	says("PUT", "/v2.1/servers", "{}", 404, "<html>");
	says("DELETE", "/v2.1/servers", NULL, 404, "<html>");
	says("GET", "/compute/eu-north-1/v9", NULL, 404, "<html>");
}

static void test_a_microversion_must_be_one_that_there_is(void **state)
{
	(void)state;
	(void)snprintf(version, sizeof(version), "2.97");
	says("GET", "/v2.1/servers", NULL, 406,
	     "{\"computeFault\":{\"code\":406,\"message\":\"Version 2.97 is not supported by the "
	     "API. "
	     "Minimum is 2.1 and maximum is 2.96.\"}}");
	header("OpenStack-API-Version: compute 2.97");
	(void)snprintf(version, sizeof(version), "2.x");
	says("GET", "/v2.1/servers", NULL, 400, "API Version String 2.x is of invalid format.");
	(void)snprintf(version, sizeof(version), "2.51");
	says("POST", "/v2.1/servers", server(flavor, "\"tags\":[\"x\"]"), 400,
	     "('tags' was unexpected)");
	version[0] = '\0';
	says("POST", "/v2.1/servers", server(flavor, ""), 400, "attribute networks.");
}

static void test_members_that_the_schema_does_not_allow_are_refused(void **state)
{
	static const struct {
		const char *more, *words;
	} t[] = {
		{"\"bogus\":1", "('bogus' was unexpected)"},
		{"\"min_count\":0", "attribute min_count."},
		{"\"min_count\":\"x\"", "does not match '^[0-9]*$'"},
		{"\"min_count\":1.5", "attribute min_count."},
		{"\"tags\":[\"a/b\"]", "does not match '^[^,/]*$'"},
		{"\"tags\":\"a\"", "attribute tags."},
		{"\"metadata\":{\"a\":1}", "attribute a."},
		{"\"metadata\":{\"a!\":\"x\"}", "attribute metadata."},
		{"\"config_drive\":\"maybe\"", "attribute config_drive."},
		{"\"availability_zone\":\"\"", "should be non-empty"},
		{"\"key_name\":\" k\"", "Can not start or end with whitespace."},
		{"\"hostname\":\"a b\"", "attribute hostname."},
		{"\"user_data\":1", "attribute user_data."},
		{"\"security_groups\":[1]", "attribute security_groups."},
		{"\"OS-DCF:diskConfig\":\"X\"", "attribute OS-DCF:diskConfig."},
		{"\"personality\":[]", "('personality' was unexpected)"},
		{"\"description\":1", "attribute description."},
		{"\"min_count\":3,\"max_count\":2", "min_count must be <= max_count"},
		{"\"max_count\":2,\"hostname\":\"a\"", "Unable to allocate a single hostname"},
		{"\"availability_zone\":\"mars\"",
		 "The requested availability zone is not available"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
		says("POST", "/v2.1/servers", server(flavor, t[i].more), 400, t[i].words);
		assert_non_null(strstr(R.body.p, "{\"badRequest\":{\"code\":400,\"message\":\""));
	}
	assert_int_equal(rows(), 0);
}

static void test_bodies_that_are_no_create_are_refused(void **state)
{
	(void)state;
	says("POST", "/v2.1/servers", "{bad", 400, "Malformed request body");
	says("POST", "/v2.1/servers", "[]", 400, "is not of type 'object'");
	says("POST", "/v2.1/servers", "{}", 400, "'server' is a required property");
	says("POST", "/v2.1/servers", "{\"server\":{}}", 400, "'name' is a required property");
	says("POST", "/v2.1/servers", "{\"server\":{\"name\":\"n\",\"flavorRef\":\"1\"}}", 400,
	     "'networks' is a required property");
	says("POST", "/v2.1/servers",
	     "{\"server\":{\"name\":\"n\",\"flavorRef\":\"1\",\"networks\":\"none\"}}", 400,
	     "Missing imageRef attribute");
	says("POST", "/v2.1/servers", server("77", ""), 400, "Flavor 77 could not be found.");
	says("POST", "/v2.1/servers",
	     "{\"server\":{\"name\":\"n\",\"flavorRef\":\"1\"," IMAGE
	     ",\"networks\":\"none\"},\"os:scheduler_hints\":{\"group\":\"x\"}}",
	     400, "attribute group.");
}

static void test_wrong_queries_are_refused(void **state)
{
	(void)state;
	says("GET", "/v2.1/servers?limit=x", NULL, 400, "'x' does not match '^[0-9]*$'");
	says("GET", "/v2.1/servers?bogus=1", NULL, 400,
	     "'bogus' does not match any of the regexes");
	says("GET", "/v2.1/servers?marker=xx", NULL, 400, "marker [xx] not found");
	says("GET", "/v2.1/servers?status=x", NULL, 400, "Invalid status value");
	says("GET", "/v2.1/flavors?marker=xx", NULL, 400, "marker [xx] not found");
	says("GET", "/v2.1/flavors?bogus=1", NULL, 400, "('bogus' was unexpected)");
	says("GET", "/v2.1/flavors/x", NULL, 404, "Flavor x could not be found.");
	says("GET", "/v2.1/servers/" NOBODY, NULL, 404, "Instance " NOBODY " could not be found.");
	says("GET", "/v2.1/0000aaaa/servers", NULL, 400, "Malformed request URL");
}

static void test_wrong_groups_are_refused(void **state)
{
	static const char path[] = "/v2.1/os-server-groups";

	(void)state;
	says("POST", path, "{\"server_group\":{\"name\":\"g\"}}", 400,
	     "'policy' is a required property");
	says("POST", path, "{\"server_group\":{\"name\":\"g\",\"policy\":\"x\"}}", 400,
	     "attribute policy.");
	says("POST", path,
	     "{\"server_group\":{\"name\":\"g\",\"policy\":\"affinity\",\"rules\":"
	     "{\"max_server_per_host\":2}}}",
	     400, "Only anti-affinity policy supports rules.");
	admin("/admin/config", "{\"fabric_max\":1}");
	ask("POST", path, "{\"server_group\":{\"name\":\"g\",\"policy\":\"affinity\"}}", 200);
	says("POST", path, "{\"server_group\":{\"name\":\"g\",\"policy\":\"affinity\"}}", 403,
	     "Quota exceeded, too many server groups.");
	says("DELETE", "/v2.1/os-server-groups/x", NULL, 404,
	     "Instance group x could not be found.");
}

static void test_codes_of_fault_rules_are_novas(void **state)
{
	static const struct {
		const char *rule;
		long status;
		const char *words;
	} t[] = {
		{"\"capacity\"", 503, "{\"serviceUnavailable\":{\"code\":503"},
		{"\"quota\"", 403, "{\"forbidden\":{\"code\":403,\"message\":\"Quota exceeded"},
		{"\"denied\"", 403, "{\"forbidden\":{\"code\":403,\"message\":\"Policy"},
		{"\"invalid\"", 400, "{\"badRequest\":{\"code\":400"},
		{"\"not-found\"", 404, "{\"itemNotFound\":{\"code\":404"},
		{"\"not-yet\"", 409, "{\"conflictingRequest\":{\"code\":409"},
		{"\"rate\",\"retry_after\":7", 429, "{\"overLimit\":{\"code\":429"},
		{"\"rate\",\"status\":413", 413, "overLimit"},
		{"\"internal\"", 500, "{\"computeFault\":{\"code\":500"},
	};
	char rule[160];

	(void)state;
	for (size_t i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
		(void)snprintf(rule, sizeof(rule),
			       "{\"op\":\"create\",\"action\":\"error\",\"count\":1,\"code\":%s}",
			       t[i].rule);
		admin("/admin/faults", rule);
		says("POST", "/v2.1/servers", server(flavor, ""), t[i].status, t[i].words);
		if (t[i].status == 429)
			header("Retry-After: 7");
	}
	assert_int_equal(rows(), 0);
	admin("/admin/faults", "{\"op\":\"login\",\"action\":\"error\",\"code\":\"internal\"}");
	says("POST", TOKENS, LOGIN("geheim", PROJECT), 500, "\"title\":\"Internal Server Error\"");
}

static void test_too_many_requests_are_told_when_to_come_again(void **state)
{
	(void)state;
	admin("/admin/config", "{\"buckets\":{\"list\":{\"rate\":0.1,\"burst\":1}}}");
	ask("GET", "/v2.1/servers", NULL, 200);
	says("GET", "/v2.1/servers", NULL, 429, "{\"overLimit\":{\"code\":429");
	header("Retry-After: ");
}

static void test_an_early_delete_is_a_conflict(void **state)
{
	char id[64];

	(void)state;
	admin("/admin/config", "{\"min_rental\":\"1h\"}");
	create("");
	(void)snprintf(id, sizeof(id), "%s", text_of(json_object_get(R.json, "server"), "id"));
	says("DELETE", path_of(id), NULL, 409, "{\"conflictingRequest\":{\"code\":409");
	assert_string_equal(text_of(listed("", 0, 1), "status"), "ACTIVE");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
		T(test_a_password_opens_a_project_with_a_catalog),
		T(test_without_a_project_there_is_no_catalog_and_no_way_in),
		T(test_an_application_credential_has_its_project),
		T(test_wrong_logins_are_told_what_is_missing),
		T(test_a_token_is_shown_to_whom_has_one),
		T(test_a_token_ends),
		T(test_a_forged_token_is_refused),
		T(test_paths_and_methods_that_are_not_there_are_a_page),
		T(test_a_microversion_must_be_one_that_there_is),
		T(test_members_that_the_schema_does_not_allow_are_refused),
		T(test_bodies_that_are_no_create_are_refused),
		T(test_wrong_queries_are_refused),
		T(test_wrong_groups_are_refused),
		T(test_codes_of_fault_rules_are_novas),
		T(test_too_many_requests_are_told_when_to_come_again),
		T(test_an_early_delete_is_a_conflict),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
