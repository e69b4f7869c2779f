/* test_http_server.c - the server against real clients: libcurl and raw sockets on worker threads.
 */
#include "http_server_lab.h"

static void test_whole_request_in_whole_answer_out(void **state)
{
	static const struct {
		struct client c;
		long status;
		const char *reply;
	} rows[] = {
		{{.path = "/a"}, 200, "GET /a q= a=- n=0 "},
		{{.path = "/a?x=1&y=%20z"}, 200, "GET /a q=x=1&y=%20z a=- n=0 "},
		{{.path = "/a%20b?"}, 200, "GET /a b q= a=- n=0 "},
		{{.path = "/a", .body = "hello", .len = 5}, 200, "POST /a q= a=- n=5 hello"},
		{{.path = "/a", .method = "DELETE"}, 200, "DELETE /a q= a=- n=0 "},
		{{.path = "/a", .header = "Authorization: Bearer x"},
		 200,
		 "GET /a q= a=Bearer x n=0 "},
		{{.path = "/a", .header = "X-Other: y"}, 200, "GET /a q= a=- n=0 o=y"},
		{{.path = "/empty"}, 200, ""},
		{{.path = "/busy"}, 429, "GET /busy q= a=- n=0 "},
		{{.path = "/more"}, 200, "GET /more q= a=- n=0 "},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct client c = rows[i].c;

		request(&c);
		assert_int_equal(c.rc, CURLE_OK);
		assert_int_equal(c.status, rows[i].status);
		assert_string_equal(c.reply.p, rows[i].reply);
		assert_string_equal(c.retry_after, rows[i].status == 429 ? "7" : "");
		assert_string_equal(c.etag, strcmp(c.path, "/more") == 0 ? "1f" : "");
		assert_int_equal(c.second, strcmp(c.path, "/more") == 0);
		assert_int_equal(c.fourth, strcmp(c.path, "/more") == 0);
		str_fini(&c.reply);
	}
}

static void test_a_request_of_no_connection_has_no_headers(void **state)
{
	const struct http_request rq = {.method = "GET"};

	(void)state;
	assert_null(http_header(&rq, "Host"));
}

static void test_body_limit(void **state)
{
	static char big[2 * MAX_BODY];
	static const struct {
		size_t len;
		long status;
	} rows[] = {{MAX_BODY - 1, 200}, {MAX_BODY, 200}, {MAX_BODY + 1, 413}, {2 * MAX_BODY, 413}};

	(void)state;
	memset(big, 'x', sizeof(big));
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct client c = {.path = "/b", .body = big, .len = rows[i].len};

		request(&c);
		assert_int_equal(c.rc, CURLE_OK);
		assert_int_equal(c.status, rows[i].status);
		str_fini(&c.reply);
	}
	assert_int_equal(F.served, 2); /* the handler never saw the others */
}

static void test_connection_is_kept(void **state)
{
	struct client c = {.path = "/a", .repeat = 20};

	(void)state;
	request(&c);
	assert_int_equal(c.rc, CURLE_OK);
	assert_int_equal(c.connects, 1);
	assert_int_equal(F.served, 21);
	str_fini(&c.reply);
}

static void test_drop_closes_without_a_word(void **state)
{
	struct client c = {.path = "/drop"};

	(void)state;
	request(&c);
	assert_int_equal(c.rc, CURLE_GOT_NOTHING);
	str_fini(&c.reply);
}

static void test_answer_later_once(void **state)
{
	struct client c[4] = {{.path = "/hold", .repeat = 2},
			      {.path = "/hold"},
			      {.path = "/hold", .body = "x", .len = 1},
			      {.path = "/a"}};

	(void)state;
	F.answer_held = true;
	for (size_t i = 0; i < 4; i++)
		start(&c[i]);
	wait_all();
	for (size_t i = 0; i < 3; i++) {
		assert_int_equal(c[i].rc, CURLE_OK);
		assert_int_equal(c[i].status, 201);
		assert_string_equal(c[i].reply.p, "late");
	}
	assert_int_equal(c[3].status, 200); /* others are served meanwhile */
	for (size_t i = 0; i < 4; i++)
		str_fini(&c[i].reply);
}

static uint64_t hold(struct client *c)
{
	start(c);
	while (F.nheld == 0)
		(void)uv_run(&F.loop, UV_RUN_ONCE);
	return F.held[--F.nheld];
}

/* What comes too late for one must not go to the next, who has its place. */
static void test_an_answer_goes_to_nobody_else(void **state)
{
	struct client first = {.path = "/hold"}, next = {.path = "/hold"};
	struct http_answer an = {.status = 201};
	uint64_t was, is;

	(void)state;
	was = hold(&first);
	http_server_answer(F.s, was, &an);
	wait_all();
	assert_int_equal(first.status, 201);
	is = hold(&next);
	assert_int_equal((uint32_t)is, (uint32_t)was);
	an.status = 202;
	http_server_answer(F.s, was, &an);
	an.status = 203;
	http_server_answer(F.s, is, &an);
	wait_all();
	assert_int_equal(next.status, 203);
	str_fini(&first.reply);
	str_fini(&next.reply);
}

static void test_refuses_what_it_cannot_listen_on(void **state)
{
	struct http_server_opts o = {.address = "localhost", .max_body = 1};
	struct http_server *s = (struct http_server *)&o;
	struct err e = {0};

	(void)state;
	assert_int_equal(http_server_start(&s, &F.loop, &o, handler, NULL, &e), -1);
	assert_null(s);
	assert_int_equal(e.code, ERR_INVALID);
	o.address = "127.0.0.1";
	o.port = http_server_port(F.s);
	assert_int_equal(http_server_start(&s, &F.loop, &o, handler, NULL, &e), -1);
	assert_int_equal(e.code, ERR_IO);
}

static void test_query(void **state)
{
	static const struct {
		const char *query, *key;
		int rc;
		const char *value;
	} rows[] = {
		{"", "a", 0, ""},
		{"a=1", "a", 1, "1"},
		{"a=1&b=2", "b", 1, "2"},
		{"ab=1&a=2", "a", 1, "2"},
		{"a", "a", 1, ""},
		{"a&b=1", "b", 1, "1"},
		{"a=", "a", 1, ""},
		{"&&a=1", "a", 1, "1"},
		{"a=x%20y+z", "a", 1, "x y z"},
		{"a=%C3%a9", "a", 1, "\xc3\xa9"},
		{"a=1&a=2", "a", 1, "1"},
		{"a=b=c", "a", 1, "b=c"},
		{"a=%", "a", -1, ""},
		{"a=%2", "a", -1, ""},
		{"a=%zz", "a", -1, ""},
		{"a=%00", "a", -1, ""},
		{"a=1234567", "a", 1, "1234567"},
		{"a=12345678", "a", -1, ""},
		{"A=1", "a", 0, ""},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		char out[8] = "old";

		assert_int_equal(http_query(rows[i].query, rows[i].key, out, sizeof(out)),
				 rows[i].rc);
		assert_string_equal(out, rows[i].value);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_whole_request_in_whole_answer_out, setup,
						teardown),
		cmocka_unit_test_setup_teardown(test_a_request_of_no_connection_has_no_headers,
						setup, teardown),
		cmocka_unit_test_setup_teardown(test_body_limit, setup, teardown),
		cmocka_unit_test_setup_teardown(test_connection_is_kept, setup, teardown),
		cmocka_unit_test_setup_teardown(test_drop_closes_without_a_word, setup, teardown),
		cmocka_unit_test_setup_teardown(test_answer_later_once, setup, teardown),
		cmocka_unit_test_setup_teardown(test_an_answer_goes_to_nobody_else, setup,
						teardown),
		cmocka_unit_test_setup_teardown(test_refuses_what_it_cannot_listen_on, setup,
						teardown),
		cmocka_unit_test(test_query),
	};

	(void)curl_global_init(CURL_GLOBAL_DEFAULT);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
