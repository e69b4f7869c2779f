/* test_vault.c - the driver vault: its requests, and what it makes of the answers of a real OpenBao
 * (tests/fixtures/vault) and of worse ones. */
#include "vault_world.h"

/* --- requests --------------------------------------------------------------------------------- */

static const struct {
	struct secret_op op;
	const char *method, *url, *header, *body;
} requests[] = {
	{{.kind = SECRET_HEALTH, .address = 1}, "GET", "https://v2:8200/v1/sys/health", NULL, NULL},
	{{.kind = SECRET_LOGIN},
	 "POST",
	 "https://v1:8200/v1/auth/approle/login",
	 NULL,
	 "{\"role_id\":\"role-1\",\"secret_id\":\"" SID "\"}"},
	{{.kind = SECRET_RENEW},
	 "POST",
	 "https://v1:8200/v1/auth/token/renew-self",
	 "X-Vault-Token: " SESSION,
	 "{}"},
	{{.kind = SECRET_LOGOUT},
	 "POST",
	 "https://v1:8200/v1/auth/token/revoke-self",
	 "X-Vault-Token: " SESSION,
	 NULL},
	{{.kind = SECRET_RIGHTS},
	 "POST",
	 "https://v1:8200/v1/sys/capabilities-self",
	 "X-Vault-Token: " SESSION,
	 "{\"paths\":[\"kv/data/slurm/prod/node\",\"kv/metadata/slurm/prod/node\","
	 "\"auth/token/revoke-accessor\",\"auth/token/lookup-accessor\"]}"},
	{{.kind = SECRET_VERSION},
	 "GET",
	 "https://v1:8200/v1/kv/metadata/slurm/prod/node",
	 "X-Vault-Token: " SESSION,
	 NULL},
	{{.kind = SECRET_READ, .version = ""},
	 "GET",
	 "https://v1:8200/v1/kv/data/slurm/prod/node",
	 "X-Vault-Token: " SESSION,
	 NULL},
	{{.kind = SECRET_WRAP, .version = "7", .wrap_s = 60},
	 "GET",
	 "https://v1:8200/v1/kv/data/slurm/prod/node?version=7",
	 "X-Vault-Wrap-TTL: 60s",
	 NULL},
	{{.kind = SECRET_REVOKE, .token = "acc1"},
	 "POST",
	 "https://v1:8200/v1/auth/token/revoke-accessor",
	 "X-Vault-Token: " SESSION,
	 "{\"accessor\":\"acc1\"}"},
	{{.kind = SECRET_LOOK, .token = "acc1"},
	 "POST",
	 "https://v1:8200/v1/auth/token/lookup-accessor",
	 "X-Vault-Token: " SESSION,
	 "{\"accessor\":\"acc1\"}"},
	{{.kind = SECRET_WRITE, .version = "7", .bundle = "{\"kid\":\"1\"}"},
	 "POST",
	 "https://v1:8200/v1/kv/data/slurm/prod/node",
	 "X-Vault-Token: " SESSION,
	 "{\"options\":{\"cas\":7},\"data\":{\"kid\":\"1\"}}"},
	{{.kind = SECRET_WRITE, .version = "", .bundle = "{}"},
	 "POST",
	 "https://v1:8200/v1/kv/data/slurm/prod/node",
	 "X-Vault-Token: " SESSION,
	 "{\"options\":{\"cas\":0},\"data\":{}}"},
	{{.kind = SECRET_PEEK, .token = WRAPPING},
	 "POST",
	 "https://v1:8200/v1/sys/wrapping/lookup",
	 NULL,
	 "{\"token\":\"" WRAPPING "\"}"},
	{{.kind = SECRET_UNWRAP, .token = WRAPPING},
	 "POST",
	 "https://v1:8200/v1/sys/wrapping/unwrap",
	 "X-Vault-Token: " WRAPPING,
	 NULL},
};

static void check_request(size_t i)
{
	const char *header = requests[i].header;
	bool has = header == NULL, asks = false, ours = false;
	struct secret_request rq = {0};
	struct err e = {0};

	if (secrets_vault.build(self, &requests[i].op, &rq, &e) != 0)
		fail_msg("%s: %s", secret_op_str(requests[i].op.kind), e.msg);
	assert_string_equal(rq.method, requests[i].method);
	assert_string_equal(rq.url, requests[i].url);
	for (size_t k = 0; rq.headers[k] != NULL; k++) {
		has |= header != NULL && strcmp(rq.headers[k], header) == 0;
		asks |= strcmp(rq.headers[k], "X-Vault-Request: true") == 0;
		ours |= strstr(rq.headers[k], SESSION) != NULL;
	}
	assert_true(has && asks);
	/* The session goes nowhere without need. */
	if (header == NULL || strstr(header, WRAPPING) != NULL)
		assert_false(ours);
	if (requests[i].body == NULL)
		assert_int_equal(rq.body_len, 0);
	else
		assert_string_equal(rq.body, requests[i].body);
	secret_request_fini(&rq);
}

static void test_requests_are_those_of_the_api(void **state)
{
	(void)state;
	log_in();
	for (size_t i = 0; i < COUNT(requests); i++)
		check_request(i);
}

/* So that none is sent which a real server was never asked. */
static void test_each_request_is_one_that_was_recorded(void **state)
{
	char *index = slurp("index"), line[160];

	(void)state;
	for (size_t i = 0; i < COUNT(requests); i++) {
		const char *path = strstr(requests[i].url, "/v1/") + 4;

		(void)snprintf(line, sizeof(line), " %s %.*s", requests[i].method,
			       (int)strcspn(path, "?"), path);
		if (strstr(index, line) == NULL)
			fail_msg("not recorded:%s", line);
	}
	free(index);
}

static void test_a_namespace_is_in_all_but_health(void **state)
{
	struct secret_store_conf conf = usual();
	struct secret_op op = {.kind = SECRET_LOGIN};

	(void)state;
	conf.namespace = "hpc/eu/";
	secrets_vault.close(self);
	assert_int_equal(secrets_vault.open(&self, &conf, NULL), 0);
	for (int k = 0; k < 2; k++) {
		struct secret_request rq = {0};
		bool has = false;

		op.kind = k == 0 ? SECRET_LOGIN : SECRET_HEALTH;
		assert_int_equal(secrets_vault.build(self, &op, &rq, NULL), 0);
		for (size_t i = 0; rq.headers[i] != NULL; i++)
			has |= strcmp(rq.headers[i], "X-Vault-Namespace: hpc/eu/") == 0;
		assert_int_equal(has, k == 0);
		secret_request_fini(&rq);
	}
}

static void test_what_cannot_be_asked_is_not(void **state)
{
	static const struct secret_op ops[] = {
		{.kind = SECRET_VERSION}, /* no session */
		{.kind = SECRET_HEALTH, .address = 2},
		{.kind = SECRET_READ, .version = "7&x=y"},
		{.kind = SECRET_PEEK, .token = "a\"b"},
		{.kind = SECRET_UNWRAP, .token = "a\r\nX-Evil: 1"},
		{.kind = SECRET_UNWRAP, .token = ""},
		{.kind = SECRET_UNWRAP},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(ops); i++) {
		struct secret_request rq = {0};
		struct err e = {0};

		assert_int_equal(secrets_vault.build(self, &ops[i], &rq, &e), -1);
		assert_null(rq.url);
		if (i == 0)
			assert_int_equal(e.code, ERR_AUTH);
	}
}

static void test_a_bad_section_is_refused(void **state)
{
	static const struct {
		const char *address, *name, *role_id, *namespace, *says;
	} rows[] = {
		{"", "n", "r", NULL, "address"},
		{"https://v1:8200,http://v2:8200", "n", "r", NULL, "https"},
		{"http://127.example.com:8200", "n", "r", NULL, "https"},
		{"https://u:p@v1:8200", "n", "r", NULL, "address"},
		{"https://v1:8200/v1", "n", "r", NULL, "address"},
		{"ftp://v1", "n", "r", NULL, "address"},
		{"https://v1,,https://v2", "n", "r", NULL, "address"},
		{"https://1,https://2,https://3,https://4,https://5,https://6,https://7,https://"
		 "8,https://9",
		 "n", "r", NULL, "at most 8"},
		{"https://v1", "", "r", NULL, "name"},
		{"https://v1", "../sys", "r", NULL, "name"},
		{"https://v1", "a//b", "r", NULL, "name"},
		{"https://v1", "a/b?version=1", "r", NULL, "name"},
		{"https://v1", "n", "", NULL, "role_id"},
		{"https://v1", "n", "a\"b", NULL, "role_id"},
		{"https://v1", "n", "r", "a\nb", "namespace"},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct secret_store_conf conf = usual();
		struct err e = {0};
		void *other;

		conf.address = rows[i].address;
		conf.name = rows[i].name;
		conf.role_id = rows[i].role_id;
		conf.namespace = rows[i].namespace;
		assert_int_equal(secrets_vault.open(&other, &conf, &e), -1);
		assert_null(other);
		if (strstr(e.msg, rows[i].says) == NULL)
			fail_msg("row %zu: %s", i, e.msg);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
		T(test_requests_are_those_of_the_api),
		T(test_each_request_is_one_that_was_recorded),
		T(test_a_namespace_is_in_all_but_health),
		T(test_what_cannot_be_asked_is_not),
		T(test_a_bad_section_is_refused),
#undef T
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
