/* test_vault_reply.c - what Vault's replies mean. */
#include "vault_world.h"

/* --- answers ---------------------------------------------------------------------------------- */

static void test_the_answers_of_a_real_server_are_understood(void **state)
{
	static const struct {
		const char *file;
		enum secret_op_kind kind;
		long status;
		enum secret_code code;
		const char *version, *message;
	} rows[] = {
		{"health", SECRET_HEALTH, 200, SECRET_OK, "", ""},
		{"health-sealed", SECRET_HEALTH, 503, SECRET_AWAY, "", "the server is sealed"},
		{"health-new", SECRET_HEALTH, 501, SECRET_NEW, "",
		 "the server was never initialised"},
		{"health-standby", SECRET_HEALTH, 429, SECRET_ELSEWHERE, "", "HTTP status 429"},
		{"login", SECRET_LOGIN, 200, SECRET_OK, "", ""},
		{"login-refused", SECRET_LOGIN, 400, SECRET_DENIED, "",
		 "invalid role or secret ID"},
		{"renew", SECRET_RENEW, 200, SECRET_OK, "", ""},
		{"rights", SECRET_RIGHTS, 200, SECRET_OK, "", ""},
		{"metadata", SECRET_VERSION, 200, SECRET_OK, "1", ""},
		{"metadata-none", SECRET_VERSION, 404, SECRET_MISSING, "", "HTTP status 404"},
		{"metadata-deleted", SECRET_VERSION, 200, SECRET_MISSING, "2",
		 "version 2 was deleted"},
		{"read", SECRET_READ, 200, SECRET_OK, "1", ""},
		{"deleted", SECRET_READ, 404, SECRET_MISSING, "", "HTTP status 404"},
		{"denied", SECRET_READ, 403, SECRET_DENIED, "",
		 "1 error occurred: * permission denied"},
		{"denied-token", SECRET_VERSION, 403, SECRET_DENIED, "", "permission denied"},
		{"wrap", SECRET_WRAP, 200, SECRET_OK, "", ""},
		{"wrap-missing", SECRET_WRAP, 404, SECRET_MISSING, "", "HTTP status 404"},
		{"peek", SECRET_PEEK, 200, SECRET_OK, "", ""},
		{"spent", SECRET_PEEK, 400, SECRET_SPENT, "",
		 "wrapping token is not valid or does not exist"},
		{"spent-unwrap", SECRET_UNWRAP, 400, SECRET_SPENT, "",
		 "wrapping token is not valid or does not exist"},
		{"look", SECRET_LOOK, 200, SECRET_OK, "", ""},
		{"look-gone", SECRET_LOOK, 400, SECRET_SPENT, "",
		 "1 error occurred: * invalid accessor"},
		{"look-gone", SECRET_REVOKE, 400, SECRET_SPENT, "",
		 "1 error occurred: * invalid accessor"},
		{"denied", SECRET_LOOK, 403, SECRET_DENIED, "",
		 "1 error occurred: * permission denied"},
		{"unwrap-secret-id", SECRET_UNWRAP, 200, SECRET_OK, "", ""},
		{"written", SECRET_WRITE, 200, SECRET_OK, "1", ""},
		{"conflict", SECRET_WRITE, 400, SECRET_CONFLICT, "",
		 "check-and-set parameter did not match the current version"},
		{"cas-required", SECRET_WRITE, 400, SECRET_INVALID, "",
		 "check-and-set parameter required for this call"},
		{"denied-write", SECRET_WRITE, 403, SECRET_DENIED, "",
		 "1 error occurred: * permission denied"},
		{"sealed", SECRET_VERSION, 503, SECRET_AWAY, "", "Vault is sealed"},
	};

	(void)state;
	log_in();
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct secret_result r;

		parse_file(rows[i].kind, rows[i].status, rows[i].file, &r);
		if (r.code != rows[i].code)
			fail_msg("%s: %s (%s)", rows[i].file, secret_code_str(r.code), r.message);
		assert_string_equal(r.version, rows[i].version);
		assert_string_equal(r.message, rows[i].message);
		secret_result_fini(&r);
	}
}

/* Other releases say that an accessor is not known with 403; a server in trouble says nothing. */
static void test_an_accessor_that_is_not_known_is_spent(void **state)
{
	char *body = slurp("look-gone.json");
	struct secret_result r;

	(void)state;
	parse(SECRET_LOOK, 403, body, NULL, NULL, &r);
	assert_int_equal(r.code, SECRET_SPENT);
	secret_result_fini(&r);
	parse(SECRET_LOOK, 500, body, NULL, NULL, &r);
	assert_int_equal(r.code, SECRET_TRANSIENT);
	secret_result_fini(&r);
	free(body);
}

static void test_what_answers_hold_is_taken_whole(void **state)
{
	struct secret_result r;

	(void)state;
	parse_file(SECRET_LOGIN, 200, "login", &r);
	assert_string_equal(secret_text(r.value), SESSION);
	assert_int_equal(r.lease_ms, 3600000);
	assert_true(r.renewable);
	secret_result_fini(&r);
	parse_file(SECRET_WRAP, 200, "wrap", &r);
	assert_string_equal(secret_text(r.value), WRAPPING);
	assert_string_equal(r.path, "kv/data/slurm/prod/node");
	assert_int_equal(strlen(r.accessor), 24);
	assert_int_equal(r.ttl_ms, 60000);
	secret_result_fini(&r);
	parse_file(SECRET_READ, 200, "read", &r);
	assert_int_equal(secret_bundle_read(secret_text(r.value), secret_len(r.value), NULL, NULL),
			 0);
	secret_result_fini(&r);
	parse_file(SECRET_PEEK, 200, "peek-secret-id", &r);
	assert_string_equal(r.path, secrets_vault.path(self, SECRET_PEEK));
	secret_result_fini(&r);
	parse_file(SECRET_UNWRAP, 200, "unwrap-secret-id", &r);
	assert_string_equal(secret_text(r.value), "11111111-2222-3333-4444-555555555555");
	secret_result_fini(&r);
	parse_file(SECRET_RIGHTS, 200, "rights", &r);
	assert_int_equal(r.rights, SECRET_MAY_READ | SECRET_MAY_POLL | SECRET_MAY_REVOKE);
	secret_result_fini(&r);
	parse_file(SECRET_RIGHTS, 200, "rights-look", &r);
	assert_int_equal(r.rights, SECRET_MAY_READ | SECRET_MAY_LOOK);
	secret_result_fini(&r);
	parse_file(SECRET_RIGHTS, 200, "rights-root", &r);
	assert_true(r.rights & SECRET_MAY_ALL);
	secret_result_fini(&r);
}

static void test_a_session_lives_as_long_as_its_lease(void **state)
{
	struct secret_result r;

	(void)state;
	assert_int_equal(secrets_vault.good_until(self), 0);
	log_in();
	assert_int_equal(secrets_vault.good_until(self), NOW + 3600000);
	parse_file(SECRET_RENEW, 200, "renew", &r);
	assert_null(r.value);
	assert_int_equal(secrets_vault.take(self, &r, NOW + 1000, NULL), 0);
	assert_int_equal(secrets_vault.good_until(self), NOW + 3601000);
	secret_result_fini(&r);
	(void)secrets_vault.take(self, NULL, NOW, NULL);
	assert_int_equal(secrets_vault.good_until(self), 0);
}

static void test_status_codes_mean_what_the_table_says(void **state)
{
	static const struct {
		enum secret_op_kind kind;
		long status;
		enum secret_code code;
	} rows[] = {
		{SECRET_HEALTH, 429, SECRET_ELSEWHERE}, {SECRET_HEALTH, 472, SECRET_ELSEWHERE},
		{SECRET_HEALTH, 473, SECRET_ELSEWHERE}, {SECRET_HEALTH, 474, SECRET_ELSEWHERE},
		{SECRET_HEALTH, 530, SECRET_ELSEWHERE}, {SECRET_HEALTH, 501, SECRET_NEW},
		{SECRET_HEALTH, 500, SECRET_TRANSIENT}, {SECRET_HEALTH, 404, SECRET_TRANSIENT},
		{SECRET_WRAP, 301, SECRET_ELSEWHERE},   {SECRET_WRAP, 307, SECRET_ELSEWHERE},
		{SECRET_WRAP, 400, SECRET_INVALID},     {SECRET_WRAP, 401, SECRET_DENIED},
		{SECRET_WRAP, 403, SECRET_DENIED},      {SECRET_WRAP, 405, SECRET_INVALID},
		{SECRET_WRAP, 412, SECRET_BEHIND},      {SECRET_WRAP, 413, SECRET_INVALID},
		{SECRET_WRAP, 429, SECRET_RATE},        {SECRET_WRAP, 473, SECRET_ELSEWHERE},
		{SECRET_WRAP, 500, SECRET_TRANSIENT},   {SECRET_WRAP, 501, SECRET_NEW},
		{SECRET_WRAP, 502, SECRET_TRANSIENT},   {SECRET_WRAP, 503, SECRET_AWAY},
		{SECRET_WRAP, 504, SECRET_TRANSIENT},   {SECRET_WRAP, 0, SECRET_INVALID},
		{SECRET_WRAP, 206, SECRET_INVALID},     {SECRET_REVOKE, 204, SECRET_OK},
		{SECRET_LOGOUT, 204, SECRET_OK},        {SECRET_LOGIN, 400, SECRET_DENIED},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct secret_result r;

		parse(rows[i].kind, rows[i].status, "", NULL, NULL, &r);
		if (r.code != rows[i].code)
			fail_msg("%s %ld: %s", secret_op_str(rows[i].kind), rows[i].status,
				 secret_code_str(r.code));
		secret_result_fini(&r);
	}
}

static void test_a_throttled_reply_says_when_and_a_redirect_where(void **state)
{
	struct secret_result r;

	(void)state;
	parse(SECRET_WRAP, 429, "", "7", NULL, &r);
	assert_int_equal(r.retry_after_ms, 7000);
	parse(SECRET_WRAP, 429, "", "Wed, 21 Oct 2026 07:28:00 GMT", NULL, &r);
	assert_int_equal(r.retry_after_ms, 0);
	parse(SECRET_WRAP, 429, "", "99999999999999999999", NULL, &r);
	assert_int_equal(r.retry_after_ms, SECRET_RETRY_MAX_MS);
	parse(SECRET_WRAP, 307, "", NULL, "https://V2:8200/v1/kv/data/x", &r);
	assert_int_equal(secret_address_of(&secrets_vault, self, r.location), 1);
}

static void test_a_redirect_counts_only_to_our_own_addresses(void **state)
{
	static const char *const bad[] = {"https://evil:8200/",      "http://v2:8200/",
					  "https://v2:8200@evil/",   "https://v2:82000/",
					  "https://v2:8200.evil/x",  "//v2:8200/",
					  "/v1/kv/data/slurm",       "https://v2",
					  "https://u@v2:8200/v1/kv", "https://"};

	(void)state;
	assert_int_equal(secret_address_of(&secrets_vault, self, "https://v1:8200/v1/x?y"), 0);
	assert_int_equal(secret_address_of(&secrets_vault, self, "https://v1:8200"), 0);
	for (size_t i = 0; i < COUNT(bad); i++)
		if (secret_address_of(&secrets_vault, self, bad[i]) != -1)
			fail_msg("%s", bad[i]);
}

static void test_an_answer_that_makes_no_sense_is_no_answer(void **state)
{
	static const struct {
		enum secret_op_kind kind;
		const char *body;
	} rows[] = {
		{SECRET_LOGIN, ""},
		{SECRET_LOGIN, "[]"},
		{SECRET_LOGIN, "{\"auth\":null}"},
		{SECRET_LOGIN, "{\"auth\":{\"client_token\":\"a b\",\"lease_duration\":60}}"},
		{SECRET_LOGIN,
		 "{\"auth\":{\"client_token\":\"a\\r\\nX: y\",\"lease_duration\":1}}"},
		{SECRET_LOGIN, "{\"auth\":{\"client_token\":\"a\x7f\",\"lease_duration\":60}}"},
		{SECRET_LOGIN, "{\"auth\":{\"client_token\":\"\",\"lease_duration\":60}}"},
		{SECRET_LOGIN, "{\"auth\":{\"client_token\":\"x\",\"lease_duration\":-1}}"},
		{SECRET_LOGIN,
		 "{\"auth\":{\"client_token\":\"x\",\"lease_duration\":9223372036854775807}}"},
		{SECRET_LOGIN, "{\"auth\":{\"client_token\":\"x\",\"lease_duration\":60}} x"},
		{SECRET_VERSION, "{\"data\":{\"current_version\":\"7\"}}"},
		{SECRET_READ, "{\"data\":{\"data\":null,\"metadata\":{\"version\":1}}}"},
		{SECRET_READ, "{\"data\":{\"data\":{},\"metadata\":{}}}"},
		/* Read without being wrapped: never handed on. */
		{SECRET_WRAP,
		 "{\"data\":{\"data\":{\"kid\":\"x\"},\"metadata\":{\"version\":1}},\"wrap_info\":"
		 "null}"},
		{SECRET_WRAP, "{\"wrap_info\":{\"token\":\"t\",\"accessor\":\"a\",\"ttl\":60,"
			      "\"creation_path\":\"sys/wrapping/wrap\"}}"},
		{SECRET_WRAP, "{\"wrap_info\":{\"token\":\"t\",\"accessor\":\"a\",\"ttl\":60,"
			      "\"creation_path\":\"kv/data/slurm/prod/node2\"}}"},
		{SECRET_WRAP, "{\"wrap_info\":{\"token\":\"t\",\"accessor\":\"a\",\"ttl\":0,"
			      "\"creation_path\":\"kv/data/slurm/prod/node\"}}"},
		{SECRET_WRAP, "{\"wrap_info\":{\"token\":\"\",\"accessor\":\"a\",\"ttl\":60,"
			      "\"creation_path\":\"kv/data/slurm/prod/node\"}}"},
		{SECRET_RIGHTS, "{\"data\":[]}"},
		{SECRET_LOOK, "{\"data\":{\"num_uses\":0}}"},
		{SECRET_LOOK, "{}"},
		{SECRET_PEEK, "{\"data\":{}}"},
		{SECRET_UNWRAP, "{\"data\":{\"munge_key\":\"x\"}}"},
		{SECRET_HEALTH, "<html>a portal</html>"},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct secret_result r;

		parse(rows[i].kind, 200, rows[i].body, NULL, NULL, &r);
		if (r.code != SECRET_INVALID || r.value != NULL)
			fail_msg("row %zu: %s", i, secret_code_str(r.code));
		assert_non_null(strstr(r.message, "malformed reply"));
		secret_result_fini(&r);
	}
}

/* By `destroy` it has no time of deletion. */
static void test_a_destroyed_version_is_none(void **state)
{
	struct secret_result r;

	(void)state;
	parse(SECRET_VERSION, 200,
	      "{\"data\":{\"current_version\":7,\"versions\":{\"7\":{\"deletion_time\":\"\","
	      "\"destroyed\":true}}}}",
	      NULL, NULL, &r);
	assert_int_equal(r.code, SECRET_MISSING);
	assert_string_equal(r.message, "version 7 was deleted");
	secret_result_fini(&r);
}

static void test_no_message_quotes_a_secret(void **state)
{
	struct secret_result r;

	(void)state;
	log_in();
	parse(SECRET_VERSION, 403, "{\"errors\":[\"bad token " SESSION "\"]}", NULL, NULL, &r);
	assert_null(strstr(r.message, SESSION));
	parse(SECRET_LOGIN, 400, "{\"errors\":[\"bad secret " SID "\"]}", NULL, NULL, &r);
	assert_null(strstr(r.message, SID));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
		T(test_the_answers_of_a_real_server_are_understood),
		T(test_an_accessor_that_is_not_known_is_spent),
		T(test_what_answers_hold_is_taken_whole),
		T(test_a_session_lives_as_long_as_its_lease),
		T(test_status_codes_mean_what_the_table_says),
		T(test_a_throttled_reply_says_when_and_a_redirect_where),
		T(test_a_redirect_counts_only_to_our_own_addresses),
		T(test_an_answer_that_makes_no_sense_is_no_answer),
		T(test_a_destroyed_version_is_none),
		T(test_no_message_quotes_a_secret),
#undef T
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
