/* test_secrets_aws.c - the driver aws of a secret store: requests to Secrets Manager and what its
 * answers hold; and the driver file.  Answers after its API reference;
 * tests/contract/aws-secrets.sh has moto's. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "providers/secrets/registry.h"

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))
#define SECRET   "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY"
#define CRED     "[default]\naws_access_key_id = AKIDEXAMPLE\naws_secret_access_key = " SECRET "\n"
#define ARN      "arn:aws:secretsmanager:eu-west-1:1:secret:node-a1b2c3"
#define OLD      "11111111-1111-1111-1111-111111111111"
#define NEXT     "22222222-2222-2222-2222-222222222222"
#define NOW      INT64_C(1800000000000)

static const struct secret_store_ops *ops;
static void *self;

static struct secret_store_conf usual(void)
{
	return (struct secret_store_conf){
		.region = "eu-west-1", .name = ARN, .credential = CRED, .dir = "/var/lib/burstd"};
}

static int setup(void **state)
{
	struct secret_store_conf conf = usual();

	(void)state;
	ops = secrets_find("aws");
	return ops->open(&self, &conf, NULL);
}

static int teardown(void **state)
{
	(void)state;
	ops->close(self);
	self = NULL;
	return 0;
}

static const char *header(const struct secret_request *rq, const char *name)
{
	for (size_t i = 0; rq->headers[i] != NULL; i++)
		if (strncmp(rq->headers[i], name, strlen(name)) == 0)
			return rq->headers[i] + strlen(name) + 2;
	return NULL;
}

static void test_requests_are_signed_json(void **state)
{
	static const struct {
		struct secret_op op;
		const char *target, *body;
	} rows[] = {
		{{.kind = SECRET_VERSION}, "DescribeSecret", "{\"SecretId\":\"" ARN "\"}"},
		{{.kind = SECRET_READ, .version = ""},
		 "GetSecretValue",
		 "{\"SecretId\":\"" ARN "\",\"VersionStage\":\"AWSCURRENT\"}"},
		{{.kind = SECRET_READ, .version = OLD},
		 "GetSecretValue",
		 "{\"SecretId\":\"" ARN "\",\"VersionId\":\"" OLD "\"}"},
		{{.kind = SECRET_WRITE,
		  .bundle = "{\"kid\":\"1\"}",
		  .token = "0123456789abcdef0123456789abcdef"},
		 "PutSecretValue",
		 "{\"SecretId\":\"" ARN "\",\"ClientRequestToken\":"
		 "\"0123456789abcdef0123456789abcdef\",\"SecretBinary\":\"eyJraWQiOiIxIn0=\","
		 "\"VersionStages\":[\"burstd-next\"]}"},
		{{.kind = SECRET_PROMOTE, .version = OLD, .token = NEXT},
		 "UpdateSecretVersionStage",
		 "{\"SecretId\":\"" ARN "\",\"VersionStage\":\"AWSCURRENT\","
		 "\"RemoveFromVersionId\":\"" OLD "\",\"MoveToVersionId\":\"" NEXT "\"}"},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct secret_op op = rows[i].op;
		struct secret_request rq = {0};
		char target[64];

		op.at_ms = NOW;
		assert_int_equal(ops->build(self, &op, &rq, NULL), 0);
		(void)snprintf(target, sizeof(target), "secretsmanager.%s", rows[i].target);
		assert_string_equal(rq.url, "https://secretsmanager.eu-west-1.amazonaws.com");
		assert_string_equal(rq.method, "POST");
		assert_string_equal(rq.body, rows[i].body);
		assert_string_equal(header(&rq, "X-Amz-Target"), target);
		assert_string_equal(header(&rq, "Content-Type"), "application/x-amz-json-1.1");
		assert_non_null(strstr(header(&rq, "Authorization"),
				       "/eu-west-1/secretsmanager/aws4_request"));
		secret_request_fini(&rq);
	}
}

static void test_what_it_cannot_do_is_not_asked(void **state)
{
	static const struct secret_op rows[] = {
		{.kind = SECRET_WRAP},
		{.kind = SECRET_HEALTH},
		{.kind = SECRET_WRITE, .bundle = "{}", .token = "short"},
		{.kind = SECRET_PROMOTE, .version = "", .token = NEXT},
		{.kind = SECRET_PROMOTE, .version = "a\"b", .token = NEXT},
		{.kind = SECRET_LOGIN}, /* the key of a file is for ever */
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct secret_request rq = {0};

		assert_int_equal(ops->build(self, &rows[i], &rq, NULL), -1);
		assert_null(rq.url);
	}
	assert_int_equal(ops->good_until(self), INT64_MAX);
}

static void test_a_bad_section_is_refused(void **state)
{
	struct secret_store_conf conf = usual();
	struct err e = {0};
	void *other;

	(void)state;
	conf.name = "";
	assert_int_equal(ops->open(&other, &conf, &e), -1);
	assert_non_null(strstr(e.msg, "name"));
	conf = usual();
	conf.region = "";
	assert_int_equal(ops->open(&other, &conf, &e), -1);
	assert_non_null(strstr(e.msg, "region"));
	conf = usual();
	conf.address = "http://secrets.example.com";
	assert_int_equal(ops->open(&other, &conf, &e), -1);
	assert_non_null(strstr(e.msg, "https"));
	conf.address = "http://127.example.com";
	assert_int_equal(ops->open(&other, &conf, &e), -1);
	assert_non_null(strstr(e.msg, "https"));
	conf = usual();
	conf.credential = "nonsense";
	assert_int_equal(ops->open(&other, &conf, &e), -1);
}

static void parse(enum secret_op_kind kind, long status, const char *body, struct secret_result *r)
{
	const struct secret_op op = {.kind = kind, .version = "", .at_ms = NOW};
	const struct secret_reply reply = {.status = status, .body = body, .len = strlen(body)};

	*r = (struct secret_result){0};
	ops->parse(self, &op, &reply, r);
}

static void test_bundles_come_in_three_forms(void **state)
{
	static const struct {
		const char *body, *bundle;
	} rows[] = {
		{"{\"VersionId\":\"" OLD "\",\"SecretBinary\":\"eyJraWQiOiIxIn0=\"}",
		 "{\"kid\":\"1\"}"},
		{"{\"VersionId\":\"" OLD "\",\"SecretBinary\":\"eyJraWQiOiIxMiJ9\"}",
		 "{\"kid\":\"12\"}"},
		{"{\"VersionId\":\"" OLD "\",\"SecretString\":\"{\\\"kid\\\":\\n\\\"1\\\\/\\\"}\"}",
		 "{\"kid\":\n\"1\\/\"}"},
		{"{\"VersionId\":\"" OLD "\",\"SecretString\":\"QUJDRA==\"}",
		 "{\"munge_key\":\"QUJDRA==\"}"},
		{"{\"VersionId\":\"" OLD "\",\"SecretBinary\":\"QUJDRA==\"}",
		 "{\"munge_key\":\"QUJDRA==\"}"},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct secret_result r;

		parse(SECRET_READ, 200, rows[i].body, &r);
		assert_int_equal(r.code, SECRET_OK);
		assert_string_equal(secret_text(r.value), rows[i].bundle);
		assert_string_equal(r.version, OLD);
		secret_result_fini(&r);
	}
}

static void test_the_current_version_is_the_one_with_the_label(void **state)
{
	struct secret_result r;

	(void)state;
	parse(SECRET_VERSION, 200,
	      "{\"VersionIdsToStages\":{\"" OLD "\":[\"AWSPREVIOUS\"],\"" NEXT
	      "\":[\"x\",\"AWSCURRENT\"]}}",
	      &r);
	assert_string_equal(r.version, NEXT);
	parse(SECRET_VERSION, 200,
	      "{\"DeletedDate\":1.7e9,\"VersionIdsToStages\":{\"" OLD "\":[\"AWSCURRENT\"]}}", &r);
	assert_int_equal(r.code, SECRET_MISSING);
	parse(SECRET_VERSION, 200, "{\"VersionIdsToStages\":{\"" OLD "\":[\"AWSPREVIOUS\"]}}", &r);
	assert_int_equal(r.code, SECRET_INVALID);
	parse(SECRET_WRITE, 200, "{\"VersionId\":\"" NEXT "\"}", &r);
	assert_string_equal(r.version, NEXT);
}

static void test_errors_are_told_apart_in_json_and_in_xml(void **state)
{
	static const struct {
		const char *word;
		long status;
		enum secret_code code;
	} rows[] = {
		{"ResourceNotFoundException", 400, SECRET_MISSING},
		{"InvalidRequestException", 400, SECRET_MISSING},
		{"InvalidParameterException", 400, SECRET_INVALID},
		{"DecryptionFailure", 400, SECRET_DENIED},
		{"InternalServiceError", 500, SECRET_TRANSIENT},
		{"ThrottlingException", 400, SECRET_RATE},
		{"AccessDeniedException", 400, SECRET_DENIED},
		{"UnrecognizedClientException", 400, SECRET_DENIED},
		{"ResourceExistsException", 400, SECRET_CONFLICT},
		{"Nobody", 503, SECRET_TRANSIENT},
		{"Nobody", 429, SECRET_RATE},
		{"Nobody", 400, SECRET_INVALID},
	};
	struct secret_result r;

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		char body[200];

		(void)snprintf(body, sizeof(body), "{\"__type\":\"x#%s\",\"Message\":\"words\"}",
			       rows[i].word);
		parse(SECRET_READ, rows[i].status, body, &r);
		if (r.code != rows[i].code)
			fail_msg("%s: %s", rows[i].word, secret_code_str(r.code));
		assert_non_null(strstr(r.message, "words"));
	}
	parse(SECRET_READ, 403,
	      "<ErrorResponse><Error><Code>SignatureDoesNotMatch</Code><Message>no " SECRET
	      "</Message></Error></ErrorResponse>",
	      &r);
	assert_int_equal(r.code, SECRET_DENIED);
	assert_null(strstr(r.message, SECRET));
	parse(SECRET_PROMOTE, 400, "{\"__type\":\"InvalidParameterException\"}", &r);
	assert_int_equal(r.code, SECRET_CONFLICT);
}

static void test_an_answer_that_makes_no_sense_is_no_answer(void **state)
{
	static const char *const bad[] = {
		"",
		"[]",
		"{}",
		"{\"VersionId\":\"" OLD "\"}",
		"{\"SecretString\":\"{}\"}",
		"{\"VersionId\":\"" OLD "\",\"SecretString\":\"{\\u0000}\"}",
		"{\"VersionId\":\"" OLD "\",\"SecretString\":\"\"}",
		"{\"VersionId\":\"" OLD "\",\"SecretBinary\":\"!!!\"}",
		"{\"VersionId\":\"" OLD "\",\"SecretString\":\"{\"",
	};

	(void)state;
	for (size_t i = 0; i < COUNT(bad); i++) {
		struct secret_result r;

		parse(SECRET_READ, 200, bad[i], &r);
		if (r.code != SECRET_INVALID || r.value != NULL)
			fail_msg("row %zu: %s", i, secret_code_str(r.code));
		secret_result_fini(&r);
	}
}

/* --- the driver file -------------------------------------------------------------------------- */

static void test_a_file_is_named_and_read(void **state)
{
	const struct secret_store_ops *f = secrets_find("file");
	struct secret_store_conf conf = usual();
	const struct secret_op read = {.kind = SECRET_READ, .version = "v1"};
	struct secret_reply reply = {.status = 200, .body = "{}", .len = 2, .version = "v1"};
	struct secret_request rq = {0};
	struct secret_result r = {0};
	void *file;

	(void)state;
	conf.name = "a/b";
	assert_int_equal(f->open(&file, &conf, NULL), -1);
	conf.name = "..";
	assert_int_equal(f->open(&file, &conf, NULL), -1);
	conf.name = "bundle";
	conf.dir = NULL;
	assert_int_equal(f->open(&file, &conf, NULL), -1);
	conf.dir = "/d";
	assert_int_equal(f->open(&file, &conf, NULL), 0);
	assert_int_equal(f->flags(file), SECRET_INSECURE);
	assert_int_equal(f->build(file, &read, &rq, NULL), 0);
	assert_string_equal(rq.url, "/d/bundle");
	assert_int_equal(rq.kind, SECRET_FILE);
	secret_request_fini(&rq);
	f->parse(file, &read, &reply, &r);
	assert_string_equal(secret_text(r.value), "{}");
	secret_result_fini(&r);
	reply.version = "v2"; /* somebody replaced it */
	f->parse(file, &read, &reply, &r);
	assert_int_equal(r.code, SECRET_MISSING);
	assert_null(r.value);
	reply.status = 403;
	reply.body = "others may read it";
	reply.len = strlen(reply.body);
	f->parse(file, &read, &reply, &r);
	assert_int_equal(r.code, SECRET_INVALID);
	assert_string_equal(r.message, "others may read it");
	f->close(file);
}

static void test_every_driver_has_a_name_of_its_own(void **state)
{
	(void)state;
	assert_ptr_equal(secrets_find("aws"), ops);
	assert_null(secrets_find("none"));
	assert_null(secrets_find(""));
	for (size_t i = 0; secrets_drivers[i] != NULL; i++)
		assert_ptr_equal(secrets_find(secrets_drivers[i]->name), secrets_drivers[i]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
		T(test_requests_are_signed_json),
		T(test_what_it_cannot_do_is_not_asked),
		T(test_a_bad_section_is_refused),
		T(test_bundles_come_in_three_forms),
		T(test_the_current_version_is_the_one_with_the_label),
		T(test_errors_are_told_apart_in_json_and_in_xml),
		T(test_an_answer_that_makes_no_sense_is_no_answer),
		T(test_a_file_is_named_and_read),
		T(test_every_driver_has_a_name_of_its_own),
#undef T
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
