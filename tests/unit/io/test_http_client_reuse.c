/* test_http_client_reuse.c - connections that are kept, cut, cancelled and closed. */
#include "http_client_lab.h"

/* --- sent or not ------------------------------------------------------------------------------ */

/* A listener that nobody accepts from: the queue is full, and further SYNs are dropped. */
static void test_connect_timeout_is_not_sent(void **state)
{
	struct sockaddr_in a = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
	struct http_call k = {.timeout_ms = 300};
	socklen_t len = sizeof(a);
	int srv = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), fd[3];
	char url[64];

	(void)state;
	assert_int_equal(bind(srv, (struct sockaddr *)&a, sizeof(a)), 0);
	assert_int_equal(getsockname(srv, (struct sockaddr *)&a, &len), 0);
	assert_int_equal(listen(srv, 0), 0);
	for (int i = 0; i < 3; i++) {
		fd[i] = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
		(void)connect(fd[i], (struct sockaddr *)&a, sizeof(a));
	}
	(void)snprintf(url, sizeof(url), "http://127.0.0.1:%d/", ntohs(a.sin_port));
	assert_int_equal(send_call(&k, "POST", url), 0);
	wait_for(1);
	assert_int_equal(F.code, ERR_NOTSENT);
	for (int i = 0; i < 3; i++)
		(void)close(fd[i]);
	(void)close(srv);
}

/* Nothing queues inside libcurl, so nothing ends there unsent, however slow the server is. */
static void test_no_queue(void **state)
{
	(void)state;
	for (int i = 0; i < 100; i++)
		begin("GET", "/hang", 500);
	wait_for(100);
	assert_int_equal(F.h.requests, 100);
	assert_int_equal(F.bad, 100);
	assert_int_equal(F.notsent, 0);
}

static void test_cap_on_requests(void **state)
{
	struct http_call k = {.method = "GET", .url = "http://127.0.0.1:1/", .timeout_ms = 5000};
	struct err e = {0};

	(void)state;
	for (int i = 0; i < HTTP_CLIENT_MAX; i++)
		assert_int_equal(http_client_send(F.c, &k, done, NULL, NULL, NULL), 0);
	assert_int_equal(http_client_send(F.c, &k, done, NULL, NULL, &e), -1);
	assert_int_equal(e.code, ERR_NOTSENT);
	wait_for(HTTP_CLIENT_MAX);
	assert_int_equal(F.notsent, HTTP_CLIENT_MAX);
}

/* --- one connection for many requests --------------------------------------------------------- */

/* An older libcurl cannot be kept from sending a request again: each that must not be repeated has
 * a connection of its own there, on which nobody is cut as the second one. */
#if LIBCURL_VERSION_NUM >= 0x075000
enum { FRESH = 0 };
#else
enum { FRESH = 1 };
#endif

static void test_reuse(void **state)
{
	(void)state;
	for (int i = 0; i < 5; i++)
		ask(i % 2 ? "GET" : "POST", "/ok", 1000);
	assert_int_equal(F.ok, 5);
	assert_int_equal(F.h.accepted, FRESH ? 3 : 1);
}

/* F32: the server closed the connection while nobody used it, and we know. */
static void test_closed_while_idle(void **state)
{
	(void)state;
	ask("GET", "/last", 1000);
	pass(50);
	ask("POST", "/ok", 1000);
	assert_int_equal(F.ok, 2);
	assert_int_equal(F.h.accepted, 2);
	assert_int_equal(F.h.requests, 2);
}

/* F32: the server closes it when our request is on its way.  It may have acted on it. */
static void test_cut_on_a_reused_connection(void **state)
{
	static const struct {
		const char *method;
		bool again;
	} methods[] = {{"GET", true},     {"HEAD", true},   {"POST", false}, {"PUT", false},
		       {"DELETE", false}, {"PATCH", false}, {"post", false}};

	(void)state;
	for (size_t i = 0; i < sizeof(methods) / sizeof(methods[0]); i++) {
		print_message("# %s\n", methods[i].method);
		ask("GET", "/ok", 1000);
		F.h.requests = 0;
		ask(methods[i].method, "/second", 1000);
		assert_int_equal(F.h.requests, methods[i].again ? 2 : 1);
		assert_int_equal(F.code, methods[i].again || FRESH ? 0 : ERR_NET);
	}
}

static void test_cut_with_a_body(void **state)
{
	struct http_call k = {.body = "{\"count\":1}", .body_len = 11};

	(void)state;
	ask("GET", "/ok", 1000);
	F.h.requests = 0;
	assert_int_equal(send_call(&k, "POST", url_of("/second")), 0);
	wait_for(2);
	pass(50);
	assert_int_equal(F.h.requests, 1);
	assert_int_equal(F.code, FRESH ? 0 : ERR_NET);
}

/* --- callbacks -------------------------------------------------------------------------------- */

static void test_many(void **state)
{
	(void)state;
	for (int i = 0; i < 400; i++)
		begin("GET", i % 7 ? "/ok" : "/drop", 10000);
	wait_for(400);
	assert_int_equal(F.bad, 58);
	assert_int_equal(F.notsent, 0);
}

static void test_cancel(void **state)
{
	(void)state;
	begin("GET", "/hang", 60000);
	pass(20);
	http_client_cancel(F.c, F.handle + 1);
	assert_int_equal(F.bad, 0);
	http_client_cancel(F.c, F.handle);
	assert_int_equal(F.bad, 1);
	assert_int_equal(F.code, ERR_CANCELLED);
	http_client_cancel(F.c, F.handle);
	pass(20);
	assert_int_equal(F.bad, 1);
}

static void test_cancel_at_once(void **state)
{
	(void)state;
	begin("GET", "/ok", 1000);
	http_client_cancel(F.c, F.handle);
	pass(20);
	assert_int_equal(F.bad, 1);
	assert_int_equal(F.h.requests, 0);
}

static void test_close_while_busy(void **state)
{
	(void)state;
	for (int i = 0; i < 20; i++)
		begin("GET", "/hang", 60000);
	pass(20);
	http_client_close(F.c, on_closed, NULL);
	F.c = NULL;
	assert_int_equal(F.bad, 20);
	assert_int_equal(F.code, ERR_CANCELLED);
	assert_false(F.closed);
}

static void done_again(void *ctx, const struct http_reply *r, const struct err *e)
{
	struct http_call k = {
		.method = "GET", .url = url_of("/ok"), .timeout_ms = 1000, .max_reply = 100};

	done(ctx, r, e);
	if (++F.again < 50)
		assert_int_equal(http_client_send(F.c, &k, done_again, NULL, NULL, NULL), 0);
}

static void test_send_inside_callback(void **state)
{
	(void)state;
	done_again(NULL, &(struct http_reply){.body = ""}, NULL);
	wait_for(50);
	assert_int_equal(F.ok, 50);
	assert_int_equal(F.h.accepted, 1);
}

static void done_close(void *ctx, const struct http_reply *r, const struct err *e)
{
	struct http_client *c = F.c;

	done(ctx, r, e);
	F.c = NULL;
	if (c != NULL)
		http_client_close(c, on_closed, NULL);
}

static void test_close_inside_callback(void **state)
{
	struct http_call k = {
		.method = "GET", .url = url_of("/ok"), .timeout_ms = 1000, .max_reply = 100};

	(void)state;
	for (int i = 0; i < 10; i++)
		assert_int_equal(http_client_send(F.c, &k, done_close, NULL, NULL, NULL), 0);
	wait_for(10);
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
	const struct CMUnitTest tests[] = {
		T(test_connect_timeout_is_not_sent),
		T(test_no_queue),
		T(test_cap_on_requests),
		T(test_reuse),
		T(test_closed_while_idle),
		T(test_cut_on_a_reused_connection),
		T(test_cut_with_a_body),
		T(test_many),
		T(test_cancel),
		T(test_cancel_at_once),
		T(test_close_while_busy),
		T(test_send_inside_callback),
		T(test_close_inside_callback),
	};
#undef T
	int rc;

	(void)curl_global_init(CURL_GLOBAL_ALL);
	rc = cmocka_run_group_tests_name("http_client_reuse", tests, NULL, NULL);
	curl_global_cleanup();
	return rc;
}
