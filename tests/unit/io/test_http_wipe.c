/* test_http_wipe.c - what was secret is nowhere in memory that we have given back.
 *
 * Ours begin with what is looked for; libcurl has buffers of its own, with other things before it.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "base/str.h"
#include "core/provider.h"
#include "io/http_client.h"
#include "io/loop.h"
#include "tests/unit/io/http_script.h"
#include "tests/unit/watched_heap.h"

#define BODY   "body of a create"
#define HEADER "X-Key: a credential"
#define ANSWER "answer of a store"

static unsigned found; /* secrets in what was given back */

#ifndef OWN_HEAP
static bool begins(const char *p, size_t size, const char *with)
{
	size_t n = strlen(with);

	return size >= n && memcmp(p, with, n) == 0;
}

static void heap_given_back(const char *p, size_t size)
{
	found += begins(p, size, BODY) || begins(p, size, HEADER) || begins(p, size, ANSWER);
}
#endif

static int setup(void **state)
{
	(void)state;
	found = 0;
	return 0;
}

static void skip_without_the_heap(void)
{
#ifdef OWN_HEAP
	skip();
#endif
}

static void test_a_request_s_body_is_wiped(void **state)
{
	struct provider_request r = {.body_len = strlen(BODY)};

	(void)state;
	skip_without_the_heap();
	r.body = mem_strdup(BODY);
	free(mem_strdup(BODY));
	assert_int_equal(found, 1); /* it is seen */
	found = 0;
	provider_request_fini(&r);
	assert_int_equal(found, 0);
}

static void test_a_secret_text_that_grows_leaves_nothing_behind(void **state)
{
	(void)state;
	skip_without_the_heap();
	for (int secret = 0; secret < 2; secret++) {
		struct str s;

		found = 0;
		str_init(&s, 100000);
		s.secret = secret;
		str_adds(&s, BODY);
		for (int i = 0; i < 5000; i++)
			str_addf(&s, " %d", i);
		assert_int_equal(strncmp(s.p, BODY " 0 1 2", sizeof(BODY) + 5), 0);
		assert_int_equal(strcmp(s.p + s.len - 5, " 4999"), 0);
		str_fini(&s);
		assert_true(secret ? found == 0 : found > 1);
	}
}

static void on_done(void *ctx, const struct http_reply *reply, const struct err *e)
{
	(void)reply;
	(void)e;
	loop_stop(ctx);
}

static void on_closed(void *ctx)
{
	loop_stop(ctx);
}

/* The whole of one request; h has what the server saw of it. */
static void ask(struct http_script *h, struct http_call *call, const char *path)
{
	struct http_client *c;
	struct loop *l;
	char url[64];

	assert_int_equal(loop_new(&l, NULL), 0);
	http_script_start(h, l);
	assert_int_equal(http_client_new(&c, l, NULL), 0);
	(void)snprintf(url, sizeof(url), "http://127.0.0.1:%d%s", h->port, path);
	call->url = url;
	assert_int_equal(http_client_send(c, call, on_done, l, NULL, NULL), 0);
	loop_run(l);
	http_client_close(c, on_closed, l);
	loop_run(l);
	http_script_stop(h);
	loop_free(l);
}

static void test_what_is_sent_is_wiped(void **state)
{
	const char *const headers[] = {HEADER, NULL};
	struct http_script h = {.port = 0};
	struct http_call call = {.method = "POST",
				 .headers = headers,
				 .body = BODY,
				 .body_len = strlen(BODY),
				 .timeout_ms = 5000,
				 .max_reply = 4096};

	(void)state;
	skip_without_the_heap();
	ask(&h, &call, "/ok");
	assert_non_null(strstr(h.request, "\r\n" HEADER "\r\n"));
	assert_int_equal(found, 0);
}

/* A bundle of keys that comes in parts does not move as it grows. */
static void test_a_secret_answer_that_grows_leaves_nothing_behind(void **state)
{
	(void)state;
	skip_without_the_heap();
	for (int secret = 0; secret < 2; secret++) {
		struct http_script h = {.port = 0};
		struct http_call call = {
			.method = "GET", .secret = secret, .timeout_ms = 5000, .max_reply = 4096};

		found = 0;
		ask(&h, &call, "/grows");
		assert_true(secret ? found == 0 : found > 1);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_a_request_s_body_is_wiped, setup),
		cmocka_unit_test_setup(test_a_secret_text_that_grows_leaves_nothing_behind, setup),
		cmocka_unit_test_setup(test_what_is_sent_is_wiped, setup),
		cmocka_unit_test_setup(test_a_secret_answer_that_grows_leaves_nothing_behind,
				       setup),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
