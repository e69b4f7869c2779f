/* test_aws_open.c - what the driver aws can, which configurations and user-data it takes, and whom
 * it talks to. */
#include "tests/unit/providers/aws_lab.h"

static void test_it_is_known_by_its_name_and_says_what_ec2_can(void **state)
{
	struct provider_caps caps = provider_aws.caps(self);

	(void)state;
	assert_ptr_equal(provider_find("aws"), &provider_aws);
	assert_int_equal(caps.flags, PROVIDER_TOKENS | PROVIDER_TAGS | PROVIDER_REPORTS |
					     PROVIDER_FABRICS | PROVIDER_CONSOLES |
					     PROVIDER_ELSEWHERE | PROVIDER_PAST | PROVIDER_PATHS |
					     PROVIDER_IMAGES);
	assert_int_equal(caps.create_max, 500);
	assert_int_equal(caps.delete_max, 250);
	assert_int_equal(caps.token_ms, 86400000);
	assert_int_equal(caps.reclaim_ms, 120000);
	assert_int_equal(caps.limits[PROVIDER_CREATE].requests.size, 5);
	assert_int_equal(caps.limits[PROVIDER_CREATE].requests.gains, 2);
	assert_int_equal(caps.limits[PROVIDER_CREATE].instances.size, 1000);
	assert_int_equal(caps.limits[PROVIDER_CREATE].instances.gains, 2);
	assert_int_equal(caps.limits[PROVIDER_DELETE].requests.gains, 5);
	assert_int_equal(caps.limits[PROVIDER_DELETE].instances.gains, 20);
	assert_int_equal(caps.limits[PROVIDER_LIST].requests.gains, 20);
	assert_int_equal(caps.limits[PROVIDER_LOGIN].requests.gains, 0); /* not EC2's */
	assert_int_equal(caps.limits[PROVIDER_NOTICES].requests.gains, 0);
	/* What is bought in one create fits, or it would wait for ever. */
	assert_true(caps.create_max <= caps.limits[PROVIDER_CREATE].instances.size);
	assert_true(caps.delete_max <= caps.limits[PROVIDER_DELETE].instances.size);
	assert_true(provider_aws.good_until(self) == INT64_MAX);
}

static const struct {
	const char *want;
	struct aws_options own;
	const char *url, *credential;
} unworkable[] = {
	{"region", {.region = ""}, "", CRED},
	{"region", {.region = "eu west"}, "", CRED},
	{"image or launch_template", {.region = "r", .image = ""}, "", CRED},
	{"url", {.region = "r", .image = "i"}, "ftp://x", CRED},
	{"url", {.region = "r", .image = "i"}, "https://u@x/", CRED},
	{"sts_url", {.region = "r", .image = "i", .sts_url = "x"}, "", CRED},
	{"url: want https", {.region = "r", .image = "i"}, "http://ec2.example/", CRED},
	{"url: want https", {.region = "r", .image = "i"}, "http://127.example.com", CRED},
	{"sts_url: want https",
	 {.region = "r", .image = "i", .sts_url = "http://127.0.0.1.example.com/"},
	 "",
	 CRED},
	{"metadata_url", {.region = "r", .image = "i", .metadata_url = "http:///"}, "", CRED},
	{"subnets", {.region = "r", .image = "i", .subnets = "subnet-1"}, "", CRED},
	{"subnets", {.region = "r", .image = "i", .subnets = "a=s,=t"}, "", CRED},
	{"subnets", {.region = "r", .image = "i", .subnets = "a="}, "", CRED},
	{"security_groups",
	 {.region = "r", .image = "i", .security_groups = "sg-1,,sg-2"},
	 "",
	 CRED},
	{"reservations", {.region = "r", .image = "i", .reservations = "cr-1"}, "", CRED},
	{"reservations", {.region = "r", .image = "i", .reservations = "=cr-1"}, "", CRED},
	{"reservations", {.region = "r", .image = "i", .reservations = "t="}, "", CRED},
	{"reservations", {.region = "r", .image = "i", .reservations = "t=cr-"}, "", CRED},
	{"reservations", {.region = "r", .image = "i", .reservations = "t=x-1"}, "", CRED},
	{"reservations", {.region = "r", .image = "i", .reservations = "@z=cr-1"}, "", CRED},
	{"reservations", {.region = "r", .image = "i", .reservations = "t@=cr-1"}, "", CRED},
	{"reservations", {.region = "r", .image = "i", .reservations = "t=block:"}, "", CRED},
	{"reservations",
	 {.region = "r",
	  .image = "i",
	  .reservations = "t=cr-1,"
			  "u=,v=cr-2"},
	 "",
	 CRED},
	{"credential_file", {.region = "r", .image = "i"}, "", "KEY SECRET"},
	{"credential_file", {.region = "r", .image = "i"}, "", "aws_access_key_id = A"},
	{"credential_file",
	 {.region = "r", .image = "i"},
	 "",
	 "[a]\naws_access_key_id=A\n[b]\naws_secret_access_key=B"},
	{"region", {0}, "", CRED},
};

static void test_a_configuration_that_cannot_work_is_refused(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(unworkable); i++) {
		const struct provider_conf conf = {.name = "x",
						   .url = unworkable[i].url,
						   .credential = unworkable[i].credential,
						   .options = &unworkable[i].own};
		struct err e = {0};
		void *s = &e;

		assert_int_equal(provider_aws.open(&s, &conf, &e), -1);
		assert_null(s);
		if (strstr(e.msg, unworkable[i].want) == NULL)
			fail_msg("row %zu: %s", i, e.msg);
	}
}

/* What comes with a create is in place of what is configured. */
static void test_user_data_of_a_create(void **state)
{
	struct provider_conf conf = usual();
	struct provider_op op = create(2);
	struct provider_request rq = {0};
	char *big = mem_zalloc(16384 + 2);
	struct err e = {0};

	(void)state;
	conf.user_data = "#!/bin/sh";
	reopen(&conf);
	op.u.create.user_data = "AB";
	build(&rq, &op);
	assert_true(has(&rq, "UserData=QUI%3D"));
	assert_false(has(&rq, "UserData=IyEvYmluL3No"));
	provider_request_fini(&rq);
	memset(big, 'x', 16384 + 1);
	op.u.create.user_data = big;
	assert_int_equal(provider_aws.build(self, &op, &rq, &e), -1);
	assert_int_equal(e.code, ERR_LIMIT);
	big[16384] = '\0';
	build(&rq, &op);
	provider_request_fini(&rq);
	free(big);
}

static void test_too_much_user_data_is_refused(void **state)
{
	struct provider_conf conf = usual();
	char *big = mem_zalloc(16385 + 1);
	struct err e = {0};
	void *s;

	(void)state;
	memset(big, 'x', 16385);
	conf.user_data = big;
	assert_int_equal(provider_aws.open(&s, &conf, &e), -1);
	assert_non_null(strstr(e.msg, "user_data_file"));
	big[16384] = '\0';
	assert_int_equal(provider_aws.open(&s, &conf, &e), 0);
	provider_aws.close(s);
	free(big);
}

static void test_a_url_of_ones_own_is_signed_with_its_host(void **state)
{
	struct provider_conf conf = usual();
	struct provider_op op = create(1);
	struct provider_request a, b;

	(void)state;
	conf.url = "https://vpce-1.example:443/x";
	reopen(&conf);
	build(&a, &op);
	assert_string_equal(a.url, "https://vpce-1.example:443/x");
	conf.url = "https://vpce-1.example/x"; /* the same to HTTP, and to the signature */
	reopen(&conf);
	build(&b, &op);
	assert_string_equal(header(&a, "Authorization"), header(&b, "Authorization"));
	provider_request_fini(&b);
	conf.url = "https://vpce-1.example:444/x";
	reopen(&conf);
	build(&b, &op);
	assert_string_not_equal(header(&a, "Authorization"), header(&b, "Authorization"));
	provider_request_fini(&a);
	provider_request_fini(&b);
}

static void test_china_has_a_domain_of_its_own(void **state)
{
	struct provider_conf conf = usual();
	struct provider_op op = create(1);
	struct provider_request rq;

	(void)state;
	own.region = "cn-north-1";
	own.subnets = "";
	reopen(&conf);
	place.region = "cn-north-1";
	build(&rq, &op);
	assert_string_equal(rq.url, "https://ec2.cn-north-1.amazonaws.com.cn/");
	provider_request_fini(&rq);
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
	const struct CMUnitTest tests[] = {
		T(test_it_is_known_by_its_name_and_says_what_ec2_can),
		T(test_a_configuration_that_cannot_work_is_refused),
		T(test_user_data_of_a_create),
		T(test_too_much_user_data_is_refused),
		T(test_a_url_of_ones_own_is_signed_with_its_host),
		T(test_china_has_a_domain_of_its_own),
	};
#undef T

	return cmocka_run_group_tests_name("aws_open", tests, NULL, NULL);
}
