/* test_aws_login.c - the driver aws and its credentials. */
#include "tests/unit/providers/aws_lab.h"

#include <fcntl.h>
#include <unistd.h>

/* --- logins -----------------------------------------------------------------------------------
 */

#define STS                                                                                        \
	"<AssumeRoleResponse><AssumeRoleResult><Credentials><AccessKeyId>ASIA2</AccessKeyId>"      \
	"<SecretAccessKey>secret2</SecretAccessKey><SessionToken>token2==</SessionToken>"          \
	"<Expiration>2026-11-18T12:06:40Z</Expiration></Credentials></AssumeRoleResult>"           \
	"</AssumeRoleResponse>"
#define KEY                                                                                        \
	"{\"Code\":\"Success\",\"AccessKeyId\":\"ASIA1\",\"SecretAccessKey\":\"secret1\","         \
	"\"Token\":\"token1\",\"Expiration\":\"2026-11-18T11:36:40Z\"}"

static struct provider_op login(void)
{
	return (struct provider_op){.kind = PROVIDER_LOGIN, .at_ms = now_ms};
}

/* One step: what is asked for, the answer, and whether another follows. */
static void step(const char *method, const char *url, const char *want, const char *body, int more)
{
	struct provider_op op = login();
	struct provider_request rq;
	struct provider_result r;

	build(&rq, &op);
	assert_string_equal(rq.method, method);
	assert_string_equal(rq.url, url);
	if (rq.body != NULL)
		assert_non_null(strstr(rq.body, want));
	else
		assert_string_equal(rq.headers[0], want);
	provider_request_fini(&rq);
	parse(&r, &op, 200, body);
	assert_int_equal(r.code, PROVIDER_OK);
	assert_int_equal(provider_aws.renew(self, r.session, NULL), more);
	provider_result_fini(&r);
}

static void machine_steps(int last)
{
	step("PUT", "http://169.254.169.254/latest/api/token",
	     "X-aws-ec2-metadata-token-ttl-seconds: 21600", "TOK==\n", 1);
	step("GET", "http://169.254.169.254/latest/meta-data/iam/security-credentials/",
	     "X-aws-ec2-metadata-token: TOK==", "launcher\nother", 1);
	step("GET", "http://169.254.169.254/latest/meta-data/iam/security-credentials/launcher",
	     "X-aws-ec2-metadata-token: TOK==", KEY, last);
}

static void test_the_role_of_the_machine_is_found_in_three_steps(void **state)
{
	struct provider_conf conf = usual();
	struct provider_op op = create(1);
	struct provider_request rq;

	(void)state;
	conf.credential = NULL;
	reopen(&conf);
	assert_true(provider_aws.good_until(self) == 0);
	machine_steps(0);
	assert_true(provider_aws.good_until(self) == now_ms + 1800000);
	build(&rq, &op);
	assert_string_equal(header(&rq, "X-Amz-Security-Token"), "token1");
	assert_non_null(strstr(header(&rq, "Authorization"), "Credential=ASIA1/20261118/"));
	provider_request_fini(&rq);
	machine_steps(0); /* again, for the next hour */
}

static void test_a_role_is_assumed_with_the_right_of_the_machine_or_of_the_file(void **state)
{
	static const char want[] =
		"Action=AssumeRole&Version=2011-06-15&RoleArn=arn%3Aaws%3Aiam%3A%3A1%3Arole%2Fr";
	struct provider_conf conf = usual();
	struct provider_op op = create(1), again = login();
	struct provider_request rq;

	(void)state;
	own.role = "arn:aws:iam::1:role/r";
	reopen(&conf);
	assert_true(provider_aws.good_until(self) == 0);
	step("POST", "https://sts.eu-west-1.amazonaws.com/", want, STS, 0);
	assert_true(provider_aws.good_until(self) == now_ms + 3600000);
	/* Again, with the key of the file: the session may be over by then. */
	build(&rq, &again);
	assert_null(strstr(header(&rq, "Authorization"), "Credential=ASIA2/"));
	assert_null(header(&rq, "X-Amz-Security-Token"));
	provider_request_fini(&rq);
	conf.credential = NULL;
	own.sts_url = "https://sts.example/";
	reopen(&conf);
	machine_steps(1);
	assert_true(provider_aws.good_until(self) == 0); /* that one is only to assume with */
	step("POST", "https://sts.example/", want, STS, 0);
	build(&rq, &op);
	assert_string_equal(header(&rq, "X-Amz-Security-Token"), "token2==");
	provider_request_fini(&rq);
}

static void test_a_login_that_fails_begins_at_its_first_step_and_keeps_the_session(void **state)
{
	static const char *const bad[] = {
		"",
		"{}",
		"null",
		"[]",
		"{\"Code\":\"Failed\",\"Expiration\":\"x\"}",
		"{\"AccessKeyId\":\"A\",\"SecretAccessKey\":\"b\"}",
		"{\"AccessKeyId\":\"A\",\"SecretAccessKey\":\"b\",\"Token\":\"t\","
		"\"Expiration\":\"never\"}",
		("{\"AccessKeyId\":\"A\",\"SecretAccessKey\":\"b\",\"Token\":"
		 "\"t\\nX: y\",\"Expiration\":\"2026-11-18T11:36:40Z\"}")};
	struct provider_conf conf = usual();
	struct provider_op op = login();
	struct provider_request rq;
	struct provider_result r;

	(void)state;
	conf.credential = NULL;
	reopen(&conf);
	machine_steps(0);
	step("PUT", "http://169.254.169.254/latest/api/token",
	     "X-aws-ec2-metadata-token-ttl-seconds: 21600", "TOK", 1);
	step("GET", "http://169.254.169.254/latest/meta-data/iam/security-credentials/",
	     "X-aws-ec2-metadata-token: TOK", "launcher", 1);
	for (size_t i = 0; i < COUNT(bad); i++) {
		parse(&r, &op, 200, bad[i]);
		assert_int_equal(r.code, PROVIDER_TRANSIENT);
		assert_null(r.session);
		provider_result_fini(&r);
	}
	assert_int_equal(provider_aws.renew(self, "no key", NULL), -1);
	build(&rq, &op);
	assert_string_equal(rq.method, "PUT");
	provider_request_fini(&rq);
	parse(&r, &op, 404, "");
	assert_int_equal(r.code, PROVIDER_INVALID);
	assert_non_null(strstr(r.message, "this machine has no role"));
	provider_result_fini(&r);
	assert_int_equal(provider_aws.renew(self, NULL, NULL), 1);
	assert_true(provider_aws.good_until(self) == now_ms + 1800000);
}

static void test_a_role_name_cannot_lead_elsewhere(void **state)
{
	struct provider_conf conf = usual();

	(void)state;
	conf.credential = NULL;
	reopen(&conf);
	assert_int_equal(provider_aws.renew(self, "TOK", NULL), 1);
	assert_int_equal(provider_aws.renew(self, "../../user-data", NULL), -1);
	assert_int_equal(provider_aws.renew(self, "TOK", NULL), 1);
	assert_int_equal(provider_aws.renew(self, "launcher?x=y", NULL), -1);
}

static void test_the_token_of_the_machine_is_in_no_message(void **state)
{
	struct provider_conf conf = usual();
	struct provider_op op = login();
	struct provider_result r;

	(void)state;
	conf.credential = NULL;
	reopen(&conf);
	assert_int_equal(provider_aws.renew(self, "TOK==", NULL), 1);
	parse(&r, &op, 403,
	      "<ErrorResponse><Error><Code>AccessDenied</Code><Message>not with TOK==</Message>"
	      "</Error></ErrorResponse>");
	assert_string_equal(r.message, "AccessDenied: not with ***");
	provider_result_fini(&r);
}

/* That of a file, which another role is assumed with, is not that of the session. */
/* Half of the key of another profile is no key. */
static void test_the_first_profile_has_no_session_of_the_second(void **state)
{
	struct provider_conf conf = usual();
	struct provider_op op = create(1);
	struct provider_request rq;

	(void)state;
	conf.credential = "[a]\naws_access_key_id = AKIA1\naws_secret_access_key = s/1\n"
			  "[b]\naws_session_token = qqq-token\n";
	reopen(&conf);
	build(&rq, &op);
	assert_null(header(&rq, "X-Amz-Security-Token"));
	provider_request_fini(&rq);
}

static void test_the_token_of_the_file_is_in_no_message(void **state)
{
	struct provider_conf conf = usual();
	struct provider_op op = login();
	struct provider_result r;

	(void)state;
	own.role = "arn:aws:iam::1:role/r";
	conf.credential = "[a]\naws_access_key_id = AKIA1\naws_secret_access_key = s/1\n"
			  "aws_session_token = qqq-token\n";
	reopen(&conf);
	parse(&r, &op, 403,
	      "<ErrorResponse><Error><Code>AccessDenied</Code><Message>not with qqq-token"
	      "</Message></Error></ErrorResponse>");
	assert_string_equal(r.message, "AccessDenied: not with ***");
	provider_result_fini(&r);
}

static void test_a_file_may_hold_a_session_and_other_profiles(void **state)
{
	struct provider_conf conf = usual();
	struct provider_op op = create(1);
	struct provider_request rq;

	(void)state;
	conf.credential = "# ours\n[burst]\r\naws_access_key_id=AKIA1\r\n"
			  "aws_secret_access_key\t= s/1\r\n aws_session_token = tok\r\n"
			  "[other]\naws_access_key_id = AKIA2\naws_secret_access_key = s2\n";
	reopen(&conf);
	build(&rq, &op);
	assert_string_equal(header(&rq, "X-Amz-Security-Token"), "tok");
	assert_non_null(strstr(header(&rq, "Authorization"), "Credential=AKIA1/"));
	provider_request_fini(&rq);
}

/* How often the heap has these bytes, in what was released too.  Nothing is allocated here. */
static unsigned left_behind(const char *what)
{
	static char maps[65536], chunk[65536];
	int file = open("/proc/self/maps", O_RDONLY | O_CLOEXEC);
	int mem = open("/proc/self/mem", O_RDONLY | O_CLOEXEC);
	size_t n = 0, len = strlen(what);
	const char *line;
	unsigned found = 0;
	ssize_t got;

	assert_true(file >= 0 && mem >= 0);
	while ((got = read(file, maps + n, sizeof(maps) - 1 - n)) > 0)
		n += (size_t)got;
	close(file);
	line = strstr(maps, "[heap]"); /* under a sanitizer there is none */
	while (line != NULL && line > maps && line[-1] != '\n')
		line--;
	if (line != NULL) {
		char *p;
		uintptr_t at = (uintptr_t)strtoull(line, &p, 16);
		const uintptr_t end = (uintptr_t)strtoull(p + 1, NULL, 16);

		for (; at + len <= end; at += (uintptr_t)got - len + 1) {
			size_t want = end - at < sizeof(chunk) ? end - at : sizeof(chunk);

			got = pread(mem, chunk, want, (off_t)at);
			assert_true(got >= (ssize_t)len);
			for (size_t i = 0; i + len <= (size_t)got; i++)
				found += memcmp(chunk + i, what, len) == 0;
		}
	}
	close(mem);
	return found;
}

/* Not even the copies from which a part was taken. */
static void test_a_closed_driver_leaves_no_secret_behind(void **state)
{
	static const char session[] = "ASIA1\nqqqqqqqqqqqqqqqqqqqqqqqqqqsecret\n"
				      "qqqqqqqqqqqqqqqqqqqqqqqqqqqqtoken\n1795001800000";
	struct provider_conf conf = usual();

	(void)state;
	conf.credential = "[a]\naws_access_key_id = AKIA1\naws_secret_access_key = "
			  "qqqqqqqqqqqqqqqqqqqqqqqqqqqkey\n";
	reopen(&conf);
	provider_aws.close(self);
	self = NULL;
	assert_int_equal(left_behind("qqqqqqkey"), 0);
	conf.credential = NULL;
	reopen(&conf);
	assert_int_equal(provider_aws.renew(self, "TOK", NULL), 1);
	assert_int_equal(provider_aws.renew(self, "launcher", NULL), 1);
	assert_int_equal(provider_aws.renew(self, session, NULL), 0);
	assert_int_equal(provider_aws.good_until(self), 1795001800000);
	provider_aws.close(self);
	self = NULL;
	assert_int_equal(left_behind("qqqqqqsecret"), 0);
	assert_int_equal(left_behind("qqqqqqtoken"), 0);
}

/* I36: what comes with a create may have a token for the keys in it. */
static void test_user_data_of_a_create_is_not_left_behind(void **state)
{
	struct provider_op op = create(1);
	struct provider_request rq;

	(void)state;
	op.u.create.user_data = "qqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqq";
	build(&rq, &op);
	assert_non_null(memmem(rq.body, rq.body_len, "cXFxcXFxcXFxcXFx", 16));
	provider_request_fini(&rq);
	assert_int_equal(left_behind("cXFxcXFxcXFxcXFx"), 0);
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
	const struct CMUnitTest tests[] = {
		T(test_the_role_of_the_machine_is_found_in_three_steps),
		T(test_a_role_is_assumed_with_the_right_of_the_machine_or_of_the_file),
		T(test_a_login_that_fails_begins_at_its_first_step_and_keeps_the_session),
		T(test_a_role_name_cannot_lead_elsewhere),
		T(test_the_token_of_the_machine_is_in_no_message),
		T(test_the_first_profile_has_no_session_of_the_second),
		T(test_the_token_of_the_file_is_in_no_message),
		T(test_a_file_may_hold_a_session_and_other_profiles),
		T(test_a_closed_driver_leaves_no_secret_behind),
		T(test_user_data_of_a_create_is_not_left_behind),
	};
#undef T

	return cmocka_run_group_tests_name("aws logins", tests, NULL, NULL);
}
