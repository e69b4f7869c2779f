/* test_openstack_login.c - the driver openstack: Keystone, Nova's endpoint, its version and
 * flavors. */
#include "tests/unit/providers/openstack_lab.h"

#include "core/conf_option.h"

/* --- open --------------------------------------------------------------------------------------
 */

static void test_what_is_missing_is_said_before_anything_is_sent(void **state)
{
	static const struct {
		const char *url, *credential, *user, *project, *application, *image, *volume_type,
			*why;
	} rows[] = {
		{"http://keystone.example", SECRET, "u", "p", "", IMAGE, "", "want https"},
		{"keystone.example", SECRET, "u", "p", "", IMAGE, "", "want url"},
		{"https://k", NULL, "u", "p", "", IMAGE, "", "want credential_file"},
		{"https://k", SECRET, "", "p", "", IMAGE, "",
		 "want application_credential, or user"},
		{"https://k", SECRET, "u", "", "", IMAGE, "",
		 "want application_credential, or user"},
		{"https://k", SECRET, "", "p", "app", IMAGE, "", "project: an application_cred"},
		{"https://k", SECRET, "u", "p", "", "", "", "want image"},
		{"https://k", SECRET, "u", "p", "", IMAGE, "ssd", "want volume_gb"},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct provider_conf conf = usual();
		struct err e = {0};
		void *other;

		options.user = rows[i].user;
		options.project = rows[i].project;
		options.application_credential = rows[i].application;
		options.image = rows[i].image;
		options.volume_type = rows[i].volume_type;
		conf.url = rows[i].url;
		conf.credential = rows[i].credential;
		assert_int_equal(provider_openstack.open(&other, &conf, &e), -1);
		assert_null(other);
		if (strstr(e.msg, rows[i].why) == NULL)
			fail_msg("row %zu: %s", i, e.msg);
	}
}

static void test_user_data_has_nova_s_limit(void **state)
{
	struct provider_conf conf = usual();
	char *text = mem_zalloc(49151);
	struct err e = {0};
	void *other;

	(void)state;
	memset(text, 'x', 49149);
	conf.user_data = text;
	reopen(&conf);
	text[49149] = 'x';
	assert_int_equal(provider_openstack.open(&other, &conf, &e), -1);
	assert_non_null(strstr(e.msg, "49149"));
	free(text);
}

/* burstd.conf's defaults, and those of a driver that is opened without it, are the same. */
static void test_options_have_the_defaults_of_the_table(void **state)
{
	const struct conf_driver *d = provider_openstack.options;
	struct openstack_options o = {0};

	(void)state;
	assert_int_equal(d->size, sizeof(o));
	for (size_t i = 0; i < d->noptions; i++)
		if (d->options[i].initial != NULL)
			assert_int_equal(
				conf_option_set(&d->options[i], &o, d->options[i].initial, NULL),
				0);
	assert_int_equal(o.together, 8);
	assert_int_equal(o.volume_gb, 0);
	assert_int_equal(o.config_drive, 0);
	assert_string_equal(o.interface, "public");
	assert_string_equal(o.networks, "auto");
	assert_string_equal(o.spot_trait, "");
	for (size_t i = 0; i < d->noptions; i++)
		conf_option_fini(&d->options[i], &o);
}

/* --- requests ----------------------------------------------------------------------------------
 */

static void login_is(const char *url, const char *body)
{
	struct provider_request rq;

	build(&rq, &login_op);
	assert_string_equal(rq.method, "POST");
	assert_string_equal(rq.url, url);
	assert_string_equal(rq.body, body);
	assert_string_equal(header(&rq, "X-Auth-Token"), "");
	provider_request_fini(&rq);
}

static void test_a_password_is_for_a_project(void **state)
{
	struct provider_conf conf = usual();

	(void)state;
	options.user_domain = "Users";
	reopen(&conf);
	login_is("https://keystone.example/v3/auth/tokens",
		 "{\"auth\":{\"identity\":{\"methods\":[\"password\"],\"password\":{\"user\":{"
		 "\"name\":\"burstd\",\"domain\":{\"name\":\"Users\"},\"password\":\"s3cret\"}}},"
		 "\"scope\":{\"project\":{\"name\":\"hpc\",\"domain\":{\"id\":\"default\"}}}}}");
	options.user = "3a82979856e54fffbcfa8e2add7c2d0b";
	options.project = "354d1e0aa6fb434e9bfdd2a08902128e";
	conf.url = "https://keystone.example/identity/";
	reopen(&conf);
	login_is("https://keystone.example/identity/v3/auth/tokens",
		 "{\"auth\":{\"identity\":{\"methods\":[\"password\"],\"password\":{\"user\":{"
		 "\"id\":\"3a82979856e54fffbcfa8e2add7c2d0b\",\"password\":\"s3cret\"}}},"
		 "\"scope\":{\"project\":{\"id\":\"354d1e0aa6fb434e9bfdd2a08902128e\"}}}}");
}

/* Keystone refuses one that asks for a scope. */
static void test_an_application_credential_has_its_own_project(void **state)
{
	struct provider_conf conf = usual();

	(void)state;
	options.project = "";
	options.application_credential = "354d1e0aa6fb434e9bfdd2a08902128e";
	reopen(&conf);
	login_is("https://keystone.example/v3/auth/tokens",
		 "{\"auth\":{\"identity\":{\"methods\":[\"application_credential\"],"
		 "\"application_credential\":{\"id\":\"354d1e0aa6fb434e9bfdd2a08902128e\","
		 "\"secret\":\"s3cret\"}}}}");
	options.application_credential = "bursts";
	reopen(&conf);
	login_is("https://keystone.example/v3/auth/tokens",
		 "{\"auth\":{\"identity\":{\"methods\":[\"application_credential\"],"
		 "\"application_credential\":{\"name\":\"bursts\",\"secret\":\"s3cret\",\"user\":{"
		 "\"name\":\"burstd\",\"domain\":{\"id\":\"default\"}}}}}}");
}

static void step_asks(const char *url, const char *version)
{
	struct provider_request rq;

	build(&rq, &login_op);
	assert_string_equal(rq.method, "GET");
	assert_string_equal(rq.url, url);
	assert_string_equal(header(&rq, "X-Auth-Token"), THE_TOKEN);
	assert_string_equal(header(&rq, "OpenStack-API-Version"), version);
	provider_request_fini(&rq);
}

static void test_a_login_finds_nova_its_version_and_its_flavors(void **state)
{
	struct provider_conf conf = usual();

	(void)state;
	reopen(&conf);
	assert_int_equal(provider_openstack.good_until(self), 0);
	refuse(&(struct provider_op){.kind = PROVIDER_QUOTES}, "not logged in");
	assert_int_equal(step_fixture("token"), 1);
	step_asks("https://nova.r1.example/v2.1/", "");
	assert_int_equal(step_fixture("version"), 1);
	step_asks(NOVA "/flavors/detail?limit=1000", "compute 2.96");
	assert_int_equal(provider_openstack.good_until(self), 0);
	assert_int_equal(step_fixture("flavors-page"), 1);
	step_asks(NOVA "/flavors/detail?limit=1000&marker=2", "compute 2.96");
	assert_int_equal(step_fixture("flavors"), 0);
	assert_int_equal(provider_openstack.good_until(self), INT64_C(1795880965000));
}

/* What is on the wire meanwhile has the old session, and a failed login leaves it. */
static void test_the_session_stays_until_the_next_is_whole(void **state)
{
	struct provider_op op = list("");
	struct provider_request rq;

	(void)state;
	assert_int_equal(provider_openstack.renew(self, NULL, NULL), 1);
	assert_int_equal(step_fixture("token"), 1);
	assert_int_equal(provider_openstack.renew(self, "nonsense", NULL), -1);
	build(&rq, &op);
	assert_string_equal(header(&rq, "X-Auth-Token"), THE_TOKEN);
	provider_request_fini(&rq);
	login_is("https://keystone.example/v3/auth/tokens",
		 "{\"auth\":{\"identity\":{\"methods\":[\"password\"],\"password\":{\"user\":{"
		 "\"name\":\"burstd\",\"domain\":{\"id\":\"default\"},\"password\":\"s3cret\"}}},"
		 "\"scope\":{\"project\":{\"name\":\"hpc\",\"domain\":{\"id\":\"default\"}}}}}");
	login(USUAL_FLAVORS);
}

/* --- replies -----------------------------------------------------------------------------------
 */

#define EXPIRES "\"expires_at\":\"2026-11-28T15:48:31.000000Z\""
#define ENDPOINT(url)                                                                              \
	"{\"interface\":\"public\",\"region\":\"R1\",\"region_id\":\"R1\",\"url\":\"" url "\"}"
#define CATALOG(endpoints)                                                                         \
	"{\"token\":{" EXPIRES ",\"catalog\":[{\"type\":\"volumev3\",\"endpoints\":7},{\"type\":"  \
	"\"compute\",\"endpoints\":[" endpoints "]}]}}"

static void test_endpoints_of_all_forms_lead_to_nova(void **state)
{
	static const struct {
		const char *body, *url;
	} rows[] = {
		{CATALOG(ENDPOINT("https://n/v2.1")), "https://n/v2.1/servers/"},
		{CATALOG(ENDPOINT("https://n/v2.1/")), "https://n/v2.1/servers/"},
		{CATALOG(ENDPOINT("https://n/compute/v2.1/0123abcd")),
		 "https://n/compute/v2.1/0123abcd/servers/"},
		{CATALOG(ENDPOINT("https://n:8774/v2/0123abcd")),
		 "https://n:8774/v2.1/0123abcd/servers/"},
		{CATALOG(ENDPOINT("https://n:8774")), "https://n:8774/v2.1/servers/"},
		{CATALOG(ENDPOINT("https://n/v2x/v2.1")), "https://n/v2x/v2.1/servers/"},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct provider_conf conf = usual();
		struct provider_op op = delete_one();
		struct provider_request rq;

		reopen(&conf);
		assert_int_equal(step(rows[i].body), 1);
		assert_int_equal(step_fixture("version"), 1);
		assert_int_equal(step(USUAL_FLAVORS), 0);
		build(&rq, &op);
		assert_memory_equal(rq.url, rows[i].url, strlen(rows[i].url));
		assert_string_equal(rq.url + strlen(rows[i].url), one_id[0]);
		provider_request_fini(&rq);
	}
}

static void test_a_region_need_not_be_named_if_it_is_the_only_one(void **state)
{
	struct provider_conf conf = usual();
	struct provider_op op = create(1);
	struct provider_request rq;

	(void)state;
	options.region = "";
	reopen(&conf);
	assert_int_equal(step(CATALOG(ENDPOINT(NOVA))), 1);
	assert_int_equal(step_fixture("version"), 1);
	assert_int_equal(step(USUAL_FLAVORS), 0);
	build(&rq, &op);
	provider_request_fini(&rq);
	place.region = "R2";
	refuse(&op, "for region R1, not R2");
}

/* A reply at a step of the login, and what people are told; "": it is taken. */
static void told(const char *step_name, const char *body, const char *says)
{
	struct provider_result r;

	parse_with(&r, &login_op, 200, body, "X-Subject-Token", THE_TOKEN);
	if ((r.code == PROVIDER_OK) != (says[0] == '\0') || strstr(r.message, says) == NULL)
		fail_msg("%s: %s: %s", step_name, body, r.message);
	assert_true((r.session != NULL) == (says[0] == '\0'));
	provider_result_fini(&r);
}

static void test_tokens_that_cannot_be_read_are_no_session(void **state)
{
	static const struct {
		const char *body, *says;
	} rows[] = {
		{CATALOG(ENDPOINT("https://n")), ""},
		{CATALOG(""), "token.catalog: want a public endpoint of compute in region R1"},
		{CATALOG(ENDPOINT("https://a") "," ENDPOINT("https://b")),
		 "want one public endpoint"},
		{"{\"token\":{" EXPIRES "}}", "token.catalog: want a list"},
		{"{\"token\":{\"expires_at\":\"soon\",\"catalog\":[]}}", "token.expires_at"},
		{"{\"token\":{\"catalog\":[]}}", "token.catalog"},
		{"{\"token\":{" EXPIRES ",\"catalog\":{}}}", "token.catalog"},
		{CATALOG(ENDPOINT("https://a b")), "an endpoint with a URL"},
		{"{\"token\":{" EXPIRES ",\"catalog\":[", "no JSON"},
		{"<html>", "no JSON"},
		{"", "empty"},
	};
	struct provider_result r;

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++)
		told("token", rows[i].body, rows[i].says);
	parse(&r, &login_op, 201, CATALOG(ENDPOINT("https://n")));
	assert_string_equal(r.message, "malformed reply: want a header X-Subject-Token");
	provider_result_fini(&r);
}

static void test_a_nova_too_old_for_tags_is_refused(void **state)
{
	static const struct {
		const char *body, *says;
	} rows[] = {
		{"{\"version\":{\"version\":\"2.52\"}}", ""},
		{"{\"version\":{\"version\":\"2.51\"}}", "2.52 or later"},
		{"{\"version\":{\"version\":\"\"}}", "2.52 or later"},
		{"{\"version\":{\"version\":\"2.\"}}", "2.52 or later"},
		{"{\"version\":{\"version\":\"3.90\"}}", "2.52 or later"},
		{"{\"version\":{\"version\":\"2.-1\"}}", "2.52 or later"},
		{"{}", "2.52 or later"},
		{"", "empty"},
	};
	struct provider_op op = list("");
	struct provider_request rq;

	(void)state;
	assert_int_equal(step_fixture("token"), 1);
	for (size_t i = 0; i < COUNT(rows); i++)
		told("version", rows[i].body, rows[i].says);
	assert_int_equal(step(rows[0].body), 1);
	assert_int_equal(step(USUAL_FLAVORS), 0);
	build(&rq, &op);
	assert_string_equal(header(&rq, "OpenStack-API-Version"), "compute 2.52");
	provider_request_fini(&rq);
}

static void test_flavors_that_nobody_can_name_are_left_out(void **state)
{
	struct provider_op op = create(1);
	struct provider_request rq;

	(void)state;
	assert_int_equal(step_fixture("token"), 1);
	assert_int_equal(step_fixture("version"), 1);
	told("flavors", "{}", "flavors: want a list");
	told("flavors", "{\"flavors\":[", "no JSON");
	told("flavors", "{\"flavors\":[],\"flavors_links\":[{\"rel\":\"next\"}]}",
	     "pages that end");
	assert_int_equal(step(FLAVORS("7," FLAVOR("a b", "odd", "") "," FLAVOR(
				 "o", "with blank", "") ","
							"{\"id\":\"x\"},{\"name\":\"y\"}," FLAVOR(
								"f-9", "g1.h100", ""))),
			 0);
	build(&rq, &op);
	has(&rq, "\"flavorRef\":\"f-9\"");
	provider_request_fini(&rq);
	place.type = "odd";
	refuse(&op, "there is no flavor odd");
}

static void test_a_page_of_flavors_that_comes_again_ends_the_login(void **state)
{
	char *page = fixture("flavors-page");

	(void)state;
	assert_int_equal(step_fixture("token"), 1);
	assert_int_equal(step_fixture("version"), 1);
	assert_int_equal(step(page), 1);
	told("flavors", page, "pages that end");
	free(page);
}

static void test_refused_logins_are_for_an_admin(void **state)
{
	struct provider_result r;

	(void)state;
	parse_fixture(&r, &login_op, 401, "login-wrong");
	assert_int_equal(r.code, PROVIDER_DENIED);
	assert_string_equal(r.message, "The request you have made requires authentication.");
	provider_result_fini(&r);
	parse_fixture(&r, &login_op, 404, "login-unknown-credential");
	assert_int_equal(r.code, PROVIDER_DENIED);
	assert_string_equal(r.message, "Could not find Application Credential: "
				       "00000000000000000000000000000000.");
	provider_result_fini(&r);
	parse(&r, &login_op, 503, "<html>");
	assert_int_equal(r.code, PROVIDER_TRANSIENT);
	provider_result_fini(&r);
}

static void test_a_session_that_is_none_begins_again(void **state)
{
	static const char *const rows[] = {
		"",
		"t",
		"t\n1\nR1",
		"t\n0x\n",
		"t\n1\nR1\nhttp://nova.example/v2.1",
		"t t\n1\nR1\nhttps://n",
		"t\n1\nR1\nftp://n",
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++)
		assert_int_equal(provider_openstack.renew(self, rows[i], NULL), -1);
	assert_int_equal(step_fixture("token"), 1);
	assert_int_equal(provider_openstack.renew(self, "51", NULL), -1);
	assert_int_equal(step_fixture("token"), 1);
	assert_int_equal(step_fixture("version"), 1);
	assert_int_equal(provider_openstack.renew(self, "\n- f", NULL), -1);
	login(USUAL_FLAVORS);
}

static void test_passwords_and_tokens_are_never_shown(void **state)
{
	struct provider_op op = list("");
	struct provider_result r;

	(void)state;
	parse(&r, &login_op, 401, "{\"error\":{\"message\":\"no s3cret here\"}}");
	assert_string_equal(r.message, "no *** here");
	provider_result_fini(&r);
	parse(&r, &op, 401, "{\"error\":{\"message\":\"" THE_TOKEN " of s3cret\"}}");
	assert_string_equal(r.message, "*** of ***");
	provider_result_fini(&r);
}

/* A request with the former token may be answered when there is a new one. */
static void test_a_former_token_is_never_shown(void **state)
{
	struct provider_op op = list("");
	char *token = fixture("token");
	struct provider_result r;

	(void)state;
	assert_int_equal(step_as(token, "gAAAAAanother"), 1);
	free(token);
	assert_int_equal(step_fixture("version"), 1);
	assert_int_equal(step(USUAL_FLAVORS), 0);
	parse(&r, &op, 401, "{\"error\":{\"message\":\"" THE_TOKEN " or gAAAAAanother\"}}");
	assert_string_equal(r.message, "*** or ***");
	provider_result_fini(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(test_what_is_missing_is_said_before_anything_is_sent),
		T(test_user_data_has_nova_s_limit),
		T(test_options_have_the_defaults_of_the_table),
		T(test_a_password_is_for_a_project),
		T(test_an_application_credential_has_its_own_project),
		T(test_a_login_finds_nova_its_version_and_its_flavors),
		T(test_the_session_stays_until_the_next_is_whole),
		T(test_endpoints_of_all_forms_lead_to_nova),
		T(test_a_region_need_not_be_named_if_it_is_the_only_one),
		T(test_tokens_that_cannot_be_read_are_no_session),
		T(test_a_nova_too_old_for_tags_is_refused),
		T(test_flavors_that_nobody_can_name_are_left_out),
		T(test_a_page_of_flavors_that_comes_again_ends_the_login),
		T(test_refused_logins_are_for_an_admin),
		T(test_a_session_that_is_none_begins_again),
		T(test_passwords_and_tokens_are_never_shown),
		T(test_a_former_token_is_never_shown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
