/* test_sigv4.c - signatures as AWS publishes them: 38 requests with their canonical form, the text
 * that is signed and the signature, from ../shared/specs/sigv4_vectors.json; and three that are
 * AWS's own examples, for where that file is not. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <jansson.h>

#include "base/mem.h"
#include "providers/common/query.h"
#include "providers/common/sigv4.h"

#define VECTORS "../shared/specs/sigv4_vectors.json"

enum { LINES_MAX = 32, AT_2015 = 1440938160 };

static const int64_t at_ms = AT_2015 * INT64_C(1000); /* 2015-08-30T12:36:00Z */

struct parsed { /* a request as text, taken apart in place */
	char *text;
	struct sigv4_header headers[LINES_MAX];
	struct sigv4_request rq;
};

static char *after(char *line, char c)
{
	char *at = strrchr(line, c);

	assert_non_null(at);
	*at = '\0';
	return at + 1;
}

/* "GET /path?query HTTP/1.1", headers, an empty line, a body.  A line that begins with a blank
 * goes on with the header before. */
static void take_apart(struct parsed *p, const char *text, const json_t *context)
{
	char *line, *rest, *body;

	p->text = mem_strdup(text);
	p->rq = (struct sigv4_request){.query = "", .headers = p->headers, .at_ms = at_ms};
	body = strstr(p->text, "\n\n");
	if (body != NULL) {
		*body = '\0';
		p->rq.body = body + 2;
		p->rq.len = strlen(body + 2);
	}
	rest = strchr(p->text, '\n');
	*rest++ = '\0';
	(void)after(p->text, ' ');
	p->rq.method = p->text;
	line = strchr(p->text, ' ');
	*line++ = '\0';
	p->rq.path = line;
	if (strchr(line, '?') != NULL) {
		p->rq.query = strchr(line, '?') + 1;
		*strchr(line, '?') = '\0';
	}
	while (rest != NULL && *rest != '\0') {
		char *end = rest;

		while ((end = strchr(end, '\n')) != NULL && end[1] == ' ')
			end++;
		if (end != NULL)
			*end++ = '\0';
		p->headers[p->rq.nheaders].name = rest;
		rest = strchr(rest, ':');
		*rest++ = '\0';
		p->headers[p->rq.nheaders++].value = rest;
		rest = end;
	}
	p->rq.region = json_string_value(json_object_get(context, "region"));
	p->rq.service = json_string_value(json_object_get(context, "service"));
	p->rq.path_as_is = !json_is_true(json_object_get(context, "normalize"));
	p->rq.token_beside = json_is_true(json_object_get(context, "omit_session_token"));
}

static void check_vector(const json_t *v)
{
	const json_t *context = json_object_get(v, "context");
	const json_t *cred = json_object_get(context, "credentials");
	const struct sigv4_key key = {
		.id = json_string_value(json_object_get(cred, "access_key_id")),
		.secret = json_string_value(json_object_get(cred, "secret_access_key")),
		.token = json_string_value(json_object_get(cred, "token"))};
	const char *name = json_string_value(json_object_get(v, "name"));
	const char *signature = json_string_value(json_object_get(v, "header_signature"));
	char date[SIGV4_DATE_SIZE];
	struct parsed p = {0};
	struct str s;

	take_apart(&p, json_string_value(json_object_get(v, "request")), context);
	if (json_is_true(json_object_get(context, "sign_body")))
		p.headers[p.rq.nheaders++] = (struct sigv4_header){
			"x-amz-content-sha256",
			strrchr(json_string_value(json_object_get(v, "header_canonical_request")),
				'\n') +
				1};
	print_message("%s\n", name);
	str_init(&s, SIGV4_TEXT_MAX);
	assert_int_equal(sigv4_canonical(&s, &key, &p.rq), 0);
	assert_string_equal(s.p, json_string_value(json_object_get(v, "header_canonical_request")));
	str_clear(&s);
	assert_int_equal(sigv4_to_sign(&s, &key, &p.rq), 0);
	assert_string_equal(s.p, json_string_value(json_object_get(v, "header_string_to_sign")));
	str_clear(&s);
	assert_int_equal(sigv4_sign(&s, date, &key, &p.rq), 0);
	assert_string_equal(date, "20150830T123600Z");
	assert_string_equal(strrchr(s.p, '=') + 1, signature);
	assert_non_null(
		strstr(json_string_value(json_object_get(v, "header_signed_request")), s.p));
	str_fini(&s);
	free(p.text);
}

static void test_all_published_vectors_are_signed_alike(void **state)
{
	json_t *doc = json_load_file(VECTORS, 0, NULL);
	const json_t *cases = json_object_get(doc, "cases");
	size_t i;
	const json_t *v;

	(void)state;
	if (doc == NULL) {
		print_message("%s is not there\n", VECTORS);
		skip();
	}
	assert_int_equal(json_array_size(cases), 38);
	json_array_foreach(cases, i, v) check_vector(v);
	json_decref(doc);
}

static const struct sigv4_key example = {.id = "AKIDEXAMPLE",
					 .secret = "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY"};

static void sign(struct str *s, const struct sigv4_key *key, const char *body)
{
	static const struct sigv4_header headers[] = {
		{"Host", "example.amazonaws.com"},
		{"Content-Type", "application/x-www-form-urlencoded"}};
	struct sigv4_request rq = {.method = "POST",
				   .path = "/",
				   .query = "",
				   .headers = headers,
				   .nheaders = 2,
				   .body = body,
				   .len = strlen(body),
				   .region = "us-east-1",
				   .service = "service",
				   .at_ms = at_ms};
	char date[SIGV4_DATE_SIZE];

	str_clear(s);
	assert_int_equal(sigv4_sign(s, date, key, &rq), 0);
}

/* post-x-www-form-urlencoded of AWS's older suite, which signs no hash header. */
static void test_a_form_is_signed_with_its_body(void **state)
{
	struct str a, b;

	(void)state;
	str_init(&a, 4096);
	str_init(&b, 4096);
	sign(&a, &example, "Param1=value1");
	assert_string_equal(
		a.p,
		"AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20150830/us-east-1/service/aws4_request, "
		"SignedHeaders=content-type;host;x-amz-date, "
		"Signature=ff11897932ad3f4e8b18135d722051e5ac45fc38421b1da7b9d196a0fe09473a");
	sign(&b, &example, "Param1=value2");
	assert_string_not_equal(a.p, b.p);
	str_fini(&a);
	str_fini(&b);
}

static void test_a_session_token_is_signed_unless_it_is_beside(void **state)
{
	struct sigv4_key key = example;
	struct str s;

	(void)state;
	key.token = "t/o+ken==";
	str_init(&s, 4096);
	sign(&s, &key, "");
	assert_non_null(strstr(s.p, "host;x-amz-date;x-amz-security-token,"));
	str_fini(&s);
}

static void test_too_much_is_not_signed(void **state)
{
	static const struct sigv4_header headers[SIGV4_HEADERS_MAX + 1];
	struct sigv4_request rq = {.method = "GET",
				   .path = "/",
				   .query = "",
				   .headers = headers,
				   .nheaders = SIGV4_HEADERS_MAX + 1,
				   .region = "r",
				   .service = "s"};
	char date[SIGV4_DATE_SIZE];
	struct str s;

	(void)state;
	str_init(&s, 4096);
	assert_int_equal(sigv4_sign(&s, date, &example, &rq), -1);
	rq.nheaders = 0;
	assert_int_equal(sigv4_sign(&s, date, &example, &rq), 0);
	str_fini(&s);
	str_init(&s, 20);
	assert_int_equal(sigv4_sign(&s, date, &example, &rq), -1);
	str_fini(&s);
}

static void test_a_form_is_escaped_and_its_names_are_numbered(void **state)
{
	struct str s;

	(void)state;
	str_init(&s, 4096);
	query_begin(&s, "RunInstances", "2016-11-15");
	query_add(&s, "c[1-3],\303\251 +/=&", "Tag.%zu.%s", (size_t)7, "Value");
	query_add_given(&s, "", "SubnetId");
	query_add_given(&s, NULL, "SubnetId");
	query_add_given(&s, "subnet-1", "SubnetId");
	query_add_number(&s, 18446744073709551615U, "MaxCount");
	assert_string_equal(s.p, "Action=RunInstances&Version=2016-11-15"
				 "&Tag.7.Value=c%5B1-3%5D%2C%C3%A9%20%2B%2F%3D%26"
				 "&SubnetId=subnet-1&MaxCount=18446744073709551615");
	assert_false(s.full);
	query_add(&s, "v", "%0159d", 1);
	assert_false(s.full);
	query_add(&s, "v", "%0160d", 1); /* cut short, it would be another one */
	assert_true(s.full);
	str_fini(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_all_published_vectors_are_signed_alike),
		cmocka_unit_test(test_a_form_is_signed_with_its_body),
		cmocka_unit_test(test_a_session_token_is_signed_unless_it_is_beside),
		cmocka_unit_test(test_too_much_is_not_signed),
		cmocka_unit_test(test_a_form_is_escaped_and_its_names_are_numbered),
	};

	return cmocka_run_group_tests_name("sigv4", tests, NULL, NULL);
}
