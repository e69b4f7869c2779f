/* test_rest.c - requests to a REST cloud: address, credential, path, query and body. */
#include "providers/common/rest.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const struct rest_api bearer = {.auth = REST_BEARER};
static const struct rest_api open_to_all = {.auth = REST_BEARER, .open = true};
static const struct rest_api open_basic = {.auth = REST_BASIC, .open = true};
static const struct rest_api basic = {.auth = REST_BASIC};
static const struct rest_api named = {.auth = REST_HEADER, .auth_header = "X-API-KEY"};

static struct rest rest_of(const struct rest_api *api, const char *credential)
{
	const struct provider_conf conf = {
		.name = "here", .url = "https://cloud.example/api/", .credential = credential};
	struct err e = {0};
	struct rest r;

	if (rest_init(&r, api, &conf, &e) != 0)
		fail_msg("%s", e.msg);
	return r;
}

static void test_addresses_and_credentials(void **state)
{
	static char long_url[REST_BASE_MAX + 2], long_word[REST_CREDENTIAL_MAX + 2];
	static const struct {
		const struct rest_api *api;
		const char *url, *credential, *wrong; /* NULL: they are good */
	} rows[] = {
		{&bearer, "http://127.0.0.1:80", "word", NULL},
		{&bearer, "https://h///", "word", NULL},
		{&bearer, NULL, "word", "want url"},
		{&bearer, "ftp://h", "word", "want url"},
		{&bearer, "http://", "word", "want url"},
		{&bearer, "http:/h", "word", "want url"},
		{&bearer, "https:/h", "word", "want url"},
		{&bearer, "https://h/~", "wo~rd", NULL},
		{&open_basic, "https://h", NULL, NULL},
		{&bearer, "https:///x", "word", "want url"},
		{&bearer, "https://user@host", "word", "want url"},
		{&bearer, "https://host/?q", "word", "want url"},
		{&bearer, "https://host/#f", "word", "want url"},
		{&bearer, "https://ho st", "word", "want url"},
		{&bearer, "https://host\r\nX: y", "word", "want url"},
		{&bearer, "https://h\xc3\xa9", "word", "want url"},
		{&bearer, long_url, "word", "want url"},
		{&bearer, "https://h", NULL, "credential_file is missing"},
		{&open_to_all, "https://h", NULL, NULL},
		{&bearer, "https://h", "", "not one word"},
		{&bearer, "https://h", "two words", "not one word"},
		{&bearer, "https://h", "line\r\nX-Evil: 1", "not one word"},
		{&bearer, "https://h", long_word, "not one word"},
		{&basic, "https://h", "user:word", NULL},
		{&basic, "https://h", "key:", NULL},
		{&basic, "https://h", "word", "USER:PASSWORD"},
		{&named, "https://h", "word", NULL},
	};

	(void)state;
	memset(long_url, 'x', sizeof(long_url) - 1);
	memcpy(long_url, "http://", 7);
	memset(long_word, 'x', sizeof(long_word) - 1);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const struct provider_conf conf = {
			.name = "p", .url = rows[i].url, .credential = rows[i].credential};
		struct err e = {0};
		struct rest r;

		if (rest_init(&r, rows[i].api, &conf, &e) == 0) {
			assert_null(rows[i].wrong);
			rest_fini(&r);
			continue;
		}
		assert_int_equal(e.code, ERR_INVALID);
		assert_non_null(rows[i].wrong);
		assert_non_null(strstr(e.msg, rows[i].wrong));
		assert_null(strstr(e.msg, "X-Evil"));
		assert_null(strstr(e.msg, "two words"));
	}
	long_url[REST_BASE_MAX] = long_word[REST_CREDENTIAL_MAX] = '\0';
	for (size_t i = 0; i < 2; i++) {
		const struct provider_conf conf = {
			.name = "p", .url = long_url, .credential = long_word};
		struct rest r;

		assert_int_equal(rest_init(&r, i == 0 ? &bearer : &named, &conf, NULL), 0);
		rest_fini(&r);
	}
}

static void test_headers_carry_the_credential_as_the_vendor_wants_it(void **state)
{
	static const char *const more[] = {"User-Agent: burstd", "Api-Version: 2", NULL};
	static const struct rest_api with_more = {.auth = REST_BEARER, .headers = more};
	static const struct {
		const struct rest_api *api;
		const char *credential;
		bool body;
		const char *headers[6];
	} rows[] = {
		{&bearer,
		 "s3cret",
		 false,
		 {"Accept: application/json", "Authorization: Bearer s3cret"}},
		{&bearer,
		 "s3cret",
		 true,
		 {"Accept: application/json", "Content-Type: application/json",
		  "Authorization: Bearer s3cret"}},
		{&basic,
		 "user:pass",
		 false,
		 {"Accept: application/json", "Authorization: Basic dXNlcjpwYXNz"}},
		{&basic,
		 "key:",
		 false,
		 {"Accept: application/json", "Authorization: Basic a2V5Og=="}},
		{&named, "s3cret", false, {"Accept: application/json", "X-API-KEY: s3cret"}},
		{&open_to_all, NULL, false, {"Accept: application/json"}},
		{&with_more,
		 "s3cret",
		 false,
		 {"Accept: application/json", "Authorization: Bearer s3cret", "User-Agent: burstd",
		  "Api-Version: 2"}},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct rest r = rest_of(rows[i].api, rows[i].credential);
		struct provider_request out = {0};
		struct rest_call c;
		size_t n = 0;

		rest_begin(&c, &r, "GET", "/x");
		if (rows[i].body)
			rest_json(&c, json_object());
		assert_int_equal(rest_end(&c, &out, "list", NULL), 0);
		for (; rows[i].headers[n] != NULL; n++)
			assert_string_equal(out.headers[n], rows[i].headers[n]);
		assert_null(out.headers[n]);
		provider_request_fini(&out);
		rest_fini(&r);
	}
}

static void test_paths_and_queries_are_escaped(void **state)
{
	struct rest r = rest_of(&bearer, "s3cret");
	struct provider_request out = {0};
	struct rest_call c;

	(void)state;
	rest_begin(&c, &r, "DELETE", "/v1/instances");
	rest_part(&c, "a/b?c#d e%");
	rest_part(&c, "...");
	rest_part(&c, "i");
	rest_query(&c, "name", "a&b=c+d\xc3\xa9");
	rest_query(&c, "empty", "");
	rest_query_given(&c, "none", "");
	rest_query_given(&c, "cursor", "-_.~/");
	rest_query_given(&c, "x", "y");
	rest_query_number(&c, "limit", 1000);
	assert_int_equal(rest_end(&c, &out, "x", NULL), 0);
	assert_string_equal(out.url,
			    "https://cloud.example/api/v1/instances/a%2Fb%3Fc%23d%20e%25/"
			    ".../i?name=a%26b%3Dc%2Bd%C3%A9&empty=&cursor=-_.~%2F&x=y&limit=1000");
	assert_string_equal(out.method, "DELETE");
	assert_int_equal(out.kind, PROVIDER_HTTP);
	assert_null(out.body);
	assert_int_equal(out.body_len, 0);
	provider_request_fini(&out);
	rest_begin(&c, &r, "GET", "/x?limit=7");
	rest_query(&c, "cursor", "c");
	assert_int_equal(rest_end(&c, &out, "x", NULL), 0);
	assert_string_equal(out.url, "https://cloud.example/api/x?limit=7&cursor=c");
	provider_request_fini(&out);
	rest_fini(&r);
}

static void test_a_body_is_written_in_json(void **state)
{
	static const char want[] = "{\"name\":\"a \\\"b\\\\c\\nd\\re\\tf\\u0001g\x7f\xc3\xa9\","
				   "\"count\":18446744073709551615,"
				   "\"spot\":true,\"new\":false,\"script\":\"IyEvYmluL3NoCg==\","
				   "\"tags\":[{\"key\":\"k\"},{},"
				   "\"x\",7,[]],\"end\":{\"in\":\"{\"}}";
	struct rest r = rest_of(&bearer, "s3cret");
	struct provider_request out = {0};
	struct rest_call c;

	(void)state;
	rest_begin(&c, &r, "POST", "/v1/instances");
	assert_true(c.body.secret); /* a create's user-data has secrets of claims */
	rest_open(&c, NULL, '{');
	rest_text(&c, "name", "a \"b\\c\nd\re\tf\x01g\x7f\xc3\xa9");
	rest_number(&c, "count", UINT64_MAX);
	rest_flag(&c, "spot", true);
	rest_flag(&c, "new", false);
	rest_base64(&c, "script", "#!/bin/sh\n");
	rest_open(&c, "tags", '[');
	rest_open(&c, NULL, '{');
	rest_text(&c, "key", "k");
	rest_close(&c, '}');
	rest_open(&c, NULL, '{');
	rest_close(&c, '}');
	rest_text(&c, NULL, "x");
	rest_number(&c, NULL, 7);
	rest_open(&c, NULL, '[');
	rest_close(&c, ']');
	rest_close(&c, ']');
	rest_open(&c, "end", '{');
	rest_text(&c, "in", "{");
	rest_close(&c, '}');
	rest_close(&c, '}');
	assert_int_equal(rest_end(&c, &out, "x", NULL), 0);
	assert_string_equal(out.body, want);
	assert_int_equal(out.body_len, strlen(want));
	assert_string_equal(out.method, "POST");
	provider_request_fini(&out);
	rest_begin(&c, &r, "POST", "/x");
	rest_json(&c, json_pack("{s:s,s:[i]}", "a", "b\n", "c", 1));
	assert_int_equal(rest_end(&c, &out, "x", NULL), 0);
	assert_string_equal(out.body, "{\"a\":\"b\\n\",\"c\":[1]}");
	provider_request_fini(&out);
	rest_fini(&r);
}

/* Whatever byte is in a text, jansson reads the same text. */
static void test_any_text_comes_through_a_body(void **state)
{
	struct rest r = rest_of(&bearer, "s3cret");

	(void)state;
	for (unsigned i = 1; i < 0x80; i++) {
		const char text[] = {'a', (char)i, (char)i, 'b', (char)i, '\0'};
		struct provider_request out = {0};
		struct rest_call c;
		json_t *doc;

		rest_begin(&c, &r, "POST", "/x");
		rest_open(&c, NULL, '{');
		rest_text(&c, "t", text);
		rest_close(&c, '}');
		assert_int_equal(rest_end(&c, &out, "x", NULL), 0);
		doc = json_loadb(out.body, out.body_len, 0, NULL);
		assert_string_equal(json_string_value(json_object_get(doc, "t")), text);
		json_decref(doc);
		provider_request_fini(&out);
	}
	rest_fini(&r);
}

enum bad { EMPTY_PART, DOT, DOT_DOT, NO_UTF8, CUT_UTF8, NO_JSON, LONG_URL, LONG_QUERY, LONG_BODY };

static void make_bad(struct rest_call *c, enum bad bad)
{
	static char longest[REST_BODY_MAX + 1];

	memset(longest, 'x', REST_BODY_MAX);
	switch (bad) {
	case EMPTY_PART:
		rest_part(c, "");
		break;
	case DOT:
		rest_part(c, ".");
		break;
	case DOT_DOT:
		rest_part(c, "..");
		break;
	case NO_UTF8:
		rest_text(c, NULL, "a\xff");
		break;
	case CUT_UTF8:
		rest_text(c, NULL, "a\xe2\x82");
		break;
	case NO_JSON:
		rest_json(c, NULL);
		break;
	case LONG_URL:
		longest[REST_URL_MAX] = '\0';
		rest_part(c, longest);
		break;
	case LONG_QUERY:
		longest[REST_URL_MAX] = '\0';
		rest_query(c, "q", longest);
		break;
	case LONG_BODY:
		rest_text(c, NULL, longest);
		break;
	}
}

static void test_what_cannot_be_sent_is_refused_at_the_end(void **state)
{
	struct rest r = rest_of(&bearer, "s3cret");

	(void)state;
	for (int bad = EMPTY_PART; bad <= LONG_BODY; bad++) {
		struct provider_request out = {0};
		struct rest_call c;
		struct err e = {0};

		rest_begin(&c, &r, "POST", "/x");
		make_bad(&c, (enum bad)bad);
		rest_part(&c, "good");
		assert_int_equal(rest_end(&c, &out, "create", &e), -1);
		assert_int_equal(e.code, ERR_INVALID);
		assert_string_equal(e.msg, bad < LONG_URL ? "create: a text in it cannot be sent"
							  : "create: the request is too long");
		assert_null(out.url);
		assert_null(out.body);
		assert_null(out.headers[0]);
	}
	rest_fini(&r);
}

/* Nothing of it goes out, and why is what the one who wrote it has said. */
static void test_a_request_that_went_wrong_is_dropped(void **state)
{
	struct rest r = rest_of(&bearer, "s3cret");
	struct provider_request out = {0};
	struct rest_call c;
	struct err e = {0};

	(void)state;
	rest_begin(&c, &r, "POST", "/x");
	rest_text(&c, NULL, "x");
	assert_int_equal(rest_finish(&c, err_set(&e, ERR_LIMIT, "mine"), &out, "create", &e), -1);
	assert_string_equal(e.msg, "mine");
	assert_null(out.url);
	rest_begin(&c, &r, "POST", "/x");
	assert_int_equal(rest_finish(&c, 0, &out, "create", &e), 0);
	assert_non_null(out.url);
	provider_request_fini(&out);
	rest_fini(&r);
}

/* The second of two ids would stay, and bill. */
static void test_a_delete_of_one_is_of_just_one(void **state)
{
	const char *const ids[] = {"i/1", "i-2"};
	struct provider_op op = {.kind = PROVIDER_DELETE, .u.del = {ids, 1}};
	struct rest r = rest_of(&bearer, "s3cret");
	struct provider_request out = {0};
	struct rest_call c;
	struct err e = {0};

	(void)state;
	rest_begin(&c, &r, "DELETE", "/x");
	assert_int_equal(rest_finish(&c, rest_delete_one(&c, &op, "Nova", &e), &out, "delete", &e),
			 0);
	assert_non_null(strstr(out.url, "/x/i%2F1"));
	provider_request_fini(&out);
	for (op.u.del.nids = 0; op.u.del.nids <= 2; op.u.del.nids += 2) {
		rest_begin(&c, &r, "DELETE", "/x");
		assert_int_equal(
			rest_finish(&c, rest_delete_one(&c, &op, "Nova", &e), &out, "delete", &e),
			-1);
		assert_string_equal(e.msg, "delete: Nova takes one id a call");
	}
	rest_fini(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_addresses_and_credentials),
		cmocka_unit_test(test_headers_carry_the_credential_as_the_vendor_wants_it),
		cmocka_unit_test(test_paths_and_queries_are_escaped),
		cmocka_unit_test(test_a_body_is_written_in_json),
		cmocka_unit_test(test_any_text_comes_through_a_body),
		cmocka_unit_test(test_what_cannot_be_sent_is_refused_at_the_end),
		cmocka_unit_test(test_a_request_that_went_wrong_is_dropped),
		cmocka_unit_test(test_a_delete_of_one_is_of_just_one),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
