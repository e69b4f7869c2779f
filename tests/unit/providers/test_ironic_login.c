/* test_ironic_login.c - the driver ironic with Keystone: what it sends, what it takes for a
 * session, and where its requests go then. */
#include "ironic_lab.h"

#include "base/str.h"

#define KEYSTONE  "https://keystone.example/v3"
#define THE_TOKEN "gAAAAAtheToken"
#define EXPIRES   "\"expires_at\":\"2026-11-28T15:48:31.000000Z\""
#define ENDPOINT(interface, region, url)                                                           \
	"{\"interface\":\"" interface "\",\"region_id\":\"" region "\",\"url\":\"" url "\"}"
#define CATALOG(endpoints)                                                                         \
	"{\"token\":{" EXPIRES ",\"catalog\":[{\"type\":\"compute\",\"endpoints\":[" ENDPOINT(     \
		"public", "R1",                                                                    \
		"https://nova") "]},{\"type\":\"baremetal\",\"endpoints\":[" endpoints "]}]}}"

static struct ironic_options options;
static const struct provider_op login_op = {.kind = PROVIDER_LOGIN};

static int open_keystone(const char *url, const char *credential, struct err *e)
{
	const struct provider_conf conf = {
		.name = "here", .url = url, .credential = credential, .options = &options};

	provider_ironic.close(self);
	self = NULL;
	return provider_ironic.open(&self, &conf, e);
}

static int begin(void **state)
{
	struct err e = {0};

	(void)state;
	options =
		(struct ironic_options){.user = "burstd", .user_domain = "Users", .project = "hpc"};
	if (open_keystone(KEYSTONE, SECRET, &e) != 0)
		fail_msg("%s", e.msg);
	return 0;
}

static int end(void **state)
{
	int rc = teardown(state);

	self = NULL;
	return rc;
}

/* Give the driver an answer to its login; 0, or -1 and what people are told. */
static int answer(const char *token, long status, const char *body, char message[200])
{
	const struct header h = {"X-Subject-Token", token};
	struct provider_reply reply = {.status = status, .body = body, .len = strlen(body)};
	struct provider_result r = {0};
	struct err e = {0};
	int rc = -1;

	if (token != NULL)
		reply.headers = (struct headers){&h, 1};
	provider_ironic.parse(self, &login_op, &reply, &r);
	(void)snprintf(message, 200, "%s: %s", provider_code_str(r.code), r.message);
	if (r.code == PROVIDER_OK)
		rc = provider_ironic.renew(self, r.session, &e);
	if (r.code == PROVIDER_OK && rc != 0)
		(void)snprintf(message, 160, "%.159s", e.msg);
	provider_result_fini(&r);
	return rc;
}

static const char *header_of(const struct provider_request *rq, const char *name)
{
	for (size_t i = 0; rq->headers[i] != NULL; i++)
		if (strncmp(rq->headers[i], name, strlen(name)) == 0)
			return rq->headers[i] + strlen(name) + 2;
	return "";
}

static void sends(const struct provider_op *op, const char *url, const char *token)
{
	struct provider_request rq = {0};

	assert_int_equal(provider_ironic.build(self, op, &rq, NULL), 0);
	assert_int_equal(strncmp(rq.url, url, strlen(url)), 0);
	assert_string_equal(header_of(&rq, "X-Auth-Token"), token);
	assert_string_equal(header_of(&rq, "Authorization"), "");
	provider_request_fini(&rq);
}

static void test_what_is_missing_is_said_before_anything_is_sent(void **state)
{
	static const struct {
		const char *url, *credential, *user, *project, *application, *why;
	} rows[] = {
		{"http://keystone.example", SECRET, "u", "p", "", "want https"},
		{"keystone.example", SECRET, "u", "p", "", "want url"},
		{KEYSTONE, NULL, "u", "p", "", "want credential_file"},
		{KEYSTONE, SECRET, "u", "", "", "want application_credential, or user"},
		{KEYSTONE, SECRET, "", "p", "", "want application_credential, or user"},
		{KEYSTONE, SECRET, "u", "p", "app", "project: an application_cred"},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct err e = {0};

		options.user = rows[i].user;
		options.project = rows[i].project;
		options.application_credential = rows[i].application;
		assert_int_equal(open_keystone(rows[i].url, rows[i].credential, &e), -1);
		if (strstr(e.msg, rows[i].why) == NULL)
			fail_msg("row %zu: %s", i, e.msg);
	}
}

static void test_a_login_is_a_password_or_an_application_credential(void **state)
{
	(void)state;
	assert_request(&login_op,
		       "POST " KEYSTONE "/auth/tokens "
		       "{\"auth\":{\"identity\":{\"methods\":[\"password\"],\"password\":{"
		       "\"user\":{\"name\":\"burstd\",\"domain\":{\"name\":\"Users\"},\"password\":"
		       "\"" SECRET "\"}}},\"scope\":{\"project\":{\"name\":\"hpc\",\"domain\":{"
		       "\"id\":\"default\"}}}}}");
	options.project = "";
	options.application_credential = "bursts";
	assert_int_equal(open_keystone("http://127.0.0.1:5000/", "two words", NULL), 0);
	assert_request(&login_op,
		       "POST http://127.0.0.1:5000/v3/auth/tokens "
		       "{\"auth\":{\"identity\":{\"methods\":[\"application_credential\"],"
		       "\"application_credential\":{\"name\":\"bursts\",\"secret\":\"two words\","
		       "\"user\":{\"name\":\"burstd\",\"domain\":{\"name\":\"Users\"}}}}}}");
}

static void test_requests_go_to_the_endpoint_with_the_token(void **state)
{
	static const char *const urls[][2] = {
		{CATALOG(ENDPOINT("public", "R1", "https://ironic:6385")),
		 "https://ironic:6385/v1/nodes"},
		{CATALOG(ENDPOINT("public", "R1", "https://ironic/baremetal/")),
		 "https://ironic/baremetal/v1/nodes"},
		{CATALOG(ENDPOINT("public", "R1", "https://ironic/baremetal/v1/")),
		 "https://ironic/baremetal/v1/nodes"},
		{CATALOG(ENDPOINT("internal", "R1", "https://no") "," ENDPOINT(
			 "public", "R1", "https://other:6385/v1")),
		 "https://other:6385/v1/nodes"},
	};
	struct provider_op op = op_at(PROVIDER_LIST, "");
	char says[200];

	(void)state;
	assert_int_equal(provider_ironic.good_until(self), 0);
	for (size_t i = 0; i < COUNT(urls); i++) {
		(void)begin(state);
		assert_int_equal(answer(THE_TOKEN, 201, urls[i][0], says), 0);
		sends(&op, urls[i][1], THE_TOKEN);
	}
	assert_int_equal(provider_ironic.good_until(self), INT64_C(1795880911000));
	assert_int_equal(provider_ironic.renew(self, NULL, NULL), 1);
	sends(&op, urls[3][1], THE_TOKEN); /* until there is another */
	assert_int_equal(answer("next", 201, urls[0][0], says), 0);
	sends(&op, urls[0][1], "next");
}

/* A Keystone elsewhere does not send burstd to what listens on its own host. */
static void test_an_endpoint_on_this_machine_is_of_a_keystone_on_it(void **state)
{
	static const char here[] = CATALOG(ENDPOINT("public", "R1", "http://127.0.0.1:8500/v1"));
	static const char tls[] = CATALOG(ENDPOINT("public", "R1", "https://localhost/v1"));
	struct provider_op op = op_at(PROVIDER_LIST, "");
	char says[200];

	(void)state;
	assert_int_equal(answer(THE_TOKEN, 201, here, says), -1);
	assert_non_null(strstr(says, "is this machine, and "));
	assert_int_equal(answer(THE_TOKEN, 201, tls, says), -1);
	assert_int_equal(open_keystone("http://127.0.0.1:5000/", SECRET, NULL), 0);
	assert_int_equal(answer(THE_TOKEN, 201, here, says), 0);
	sends(&op, "http://127.0.0.1:8500/v1/nodes", THE_TOKEN);
}

static void test_a_region_chooses_the_endpoint(void **state)
{
	static const char two[] = CATALOG(ENDPOINT("public", "R1", "https://one") "," ENDPOINT(
		"public", "R2", "https://two"));
	struct provider_op op = op_at(PROVIDER_LIST, "");
	char says[200];

	(void)state;
	assert_null(provider_ironic.caps(self).region);
	assert_int_equal(answer(THE_TOKEN, 201, two, says), -1);
	assert_non_null(strstr(says, "want one public endpoint of baremetal; see option region"));
	options.region = "R2";
	assert_int_equal(open_keystone(KEYSTONE, SECRET, NULL), 0);
	assert_string_equal(provider_ironic.caps(self).region, "R2");
	assert_int_equal(answer(THE_TOKEN, 201, two, says), 0);
	sends(&op, "https://two/v1/", THE_TOKEN);
}

static void test_what_is_no_session(void **state)
{
	static const struct {
		const char *token;
		long status;
		const char *body, *says;
	} rows[] = {
		{THE_TOKEN, 201, CATALOG(""), "want a public endpoint of baremetal"},
		{THE_TOKEN, 201, CATALOG(ENDPOINT("public", "R1", "http://ironic:6385")),
		 "Ironic's endpoint: want https"},
		{THE_TOKEN, 201, CATALOG(ENDPOINT("public", "R1", "https://a b")),
		 "want an endpoint"},
		{NULL, 201, CATALOG(ENDPOINT("public", "R1", "https://a")), "X-Subject-Token"},
		{"a b", 201, CATALOG(ENDPOINT("public", "R1", "https://a")), "X-Subject-Token"},
		{THE_TOKEN, 201, "", "transient: malformed reply"},
		{NULL, 401, "{\"error\":{\"message\":\"no: " SECRET "\",\"code\":401}}",
		 "denied: no: ***"},
		{NULL, 404, "{\"error\":{\"message\":\"Could not find\",\"code\":404}}",
		 "denied: "},
		{NULL, 503, "", "transient: "},
	};
	char says[200];

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		assert_int_equal(answer(rows[i].token, rows[i].status, rows[i].body, says), -1);
		if (strstr(says, rows[i].says) == NULL)
			fail_msg("row %zu: %s", i, says);
		assert_int_equal(provider_ironic.good_until(self), 0);
	}
	assert_int_equal(provider_ironic.renew(self, "a\nb", NULL), -1);
}

/* Keystone's middleware before Ironic; the token it quotes may be the former one. */
static void test_a_refused_token_is_denied_and_not_shown(void **state)
{
	static const char body[] =
		"{\"error\":{\"code\":401,\"title\":\"Unauthorized\",\"message\":"
		"\"no: " THE_TOKEN " next " SECRET "\"}}";
	struct provider_reply reply = {.status = 401, .body = body, .len = sizeof(body) - 1};
	struct provider_op op = op_at(PROVIDER_LIST, "");
	struct provider_result r = {0};
	char says[200];

	(void)state;
	for (int i = 0; i < 2; i++)
		assert_int_equal(answer(i == 0 ? THE_TOKEN : "next", 201,
					CATALOG(ENDPOINT("public", "R1", "https://ironic")), says),
				 0);
	provider_ironic.parse(self, &op, &reply, &r);
	assert_int_equal(r.code, PROVIDER_DENIED);
	assert_string_equal(r.message, "no: *** *** ***");
	provider_result_fini(&r);
}

static void test_a_create_can_be_built_before_the_first_login(void **state)
{
	struct provider_op op = op_at(PROVIDER_CREATE, "");
	struct provider_request rq = {0};

	(void)state;
	assert_int_equal(provider_ironic.build(self, &op, &rq, NULL), 0);
	provider_request_fini(&rq);
}

static void test_without_keystone_there_is_no_login(void **state)
{
	struct provider_request rq = {0};
	struct err e = {0};

	(void)state;
	options = (struct ironic_options){.user = "", .project = ""};
	assert_int_equal(open_keystone("http://ironic:6385", NULL, &e), 0);
	assert_int_equal(provider_ironic.good_until(self), INT64_MAX);
	assert_int_equal(provider_ironic.build(self, &login_op, &rq, &e), -1);
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, begin, end)
	const struct CMUnitTest tests[] = {
		TEST(test_what_is_missing_is_said_before_anything_is_sent),
		TEST(test_a_login_is_a_password_or_an_application_credential),
		TEST(test_requests_go_to_the_endpoint_with_the_token),
		TEST(test_an_endpoint_on_this_machine_is_of_a_keystone_on_it),
		TEST(test_a_region_chooses_the_endpoint),
		TEST(test_what_is_no_session),
		TEST(test_a_refused_token_is_denied_and_not_shown),
		TEST(test_a_create_can_be_built_before_the_first_login),
		TEST(test_without_keystone_there_is_no_login),
	};

	return cmocka_run_group_tests_name("ironic login", tests, NULL, NULL);
}
