/* http_client_lab.h - http_client against a scripted server in the same loop. */
#ifndef TESTS_HTTP_CLIENT_LAB_H
#define TESTS_HTTP_CLIENT_LAB_H

#include "io/http_client.h"

#include <arpa/inet.h>
#include <curl/curl.h>
#include <dirent.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <uv.h>

#include <cmocka.h>

#include "io/loop.h"
#include "tests/unit/io/http_script.h"

static struct fix {
	struct loop *l;
	struct http_script h;
	struct http_client *c;
	unsigned ok, bad, notsent, again;
	bool closed;
	int code;
	long status;
	size_t len;
	int64_t date_ms;
	char msg[256], retry_after[64], date[64], location[64], body[64];
	uint64_t handle;
	unsigned expired;
} F;

static inline int setup(void **state)
{
	(void)state;
	memset(&F, 0, sizeof(F));
	if (loop_new(&F.l, NULL) != 0)
		return -1;
	http_script_start(&F.h, F.l);
	return http_client_new(&F.c, F.l, NULL);
}

static inline void on_closed(void *ctx)
{
	(void)ctx;
	assert_false(F.closed);
	F.closed = true;
}

static inline int teardown(void **state)
{
	(void)state;
	if (F.c != NULL)
		http_client_close(F.c, on_closed, NULL);
	while (!F.closed)
		(void)uv_run(loop_uv(F.l), UV_RUN_ONCE);
	http_script_stop(&F.h);
	loop_free(F.l);
	return 0;
}

static inline void take_header(char *out, size_t size, const struct http_reply *r, const char *name)
{
	const char *value = headers_get(&r->headers, name);

	(void)snprintf(out, size, "%s", value != NULL ? value : "(none)");
}

static inline void done(void *ctx, const struct http_reply *r, const struct err *e)
{
	(void)ctx;
	assert_true((r == NULL) != (e == NULL));
	if (e != NULL) {
		F.bad++;
		F.code = e->code;
		F.notsent += e->code == ERR_NOTSENT;
		(void)snprintf(F.msg, sizeof(F.msg), "%s", e->msg);
		return;
	}
	F.ok++;
	F.code = 0;
	F.status = r->status;
	F.len = r->len;
	assert_int_equal(r->body[r->len], 0);
	(void)snprintf(F.body, sizeof(F.body), "%s", r->body);
	take_header(F.retry_after, sizeof(F.retry_after), r, "Retry-After");
	take_header(F.date, sizeof(F.date), r, "Date");
	F.date_ms = r->date_ms;
	take_header(F.location, sizeof(F.location), r, "Location");
}

static inline int send_call(struct http_call *k, const char *method, const char *url)
{
	k->method = method;
	k->url = url;
	k->timeout_ms = k->timeout_ms ? k->timeout_ms : 5000;
	k->max_reply = k->max_reply ? k->max_reply : 4096;
	return http_client_send(F.c, k, done, NULL, &F.handle, NULL);
}

static inline const char *url_of(const char *path)
{
	static char url[128];

	(void)snprintf(url, sizeof(url), "http://127.0.0.1:%d%s", F.h.port, path);
	return url;
}

static inline void wait_for(unsigned n)
{
	while (F.ok + F.bad < n)
		(void)uv_run(loop_uv(F.l), UV_RUN_ONCE);
	assert_int_equal(F.ok + F.bad, n);
}

static inline void begin(const char *method, const char *path, uint32_t ms)
{
	struct http_call k = {.timeout_ms = ms};

	assert_int_equal(send_call(&k, method, url_of(path)), 0);
}

static inline void ask(const char *method, const char *path, uint32_t ms)
{
	unsigned before = F.ok + F.bad;

	begin(method, path, ms);
	assert_int_equal(F.ok + F.bad, before); /* never from inside */
	wait_for(before + 1);
}

static inline void on_expired(void *ctx)
{
	(void)ctx;
	F.expired++;
}

static inline void pass(int64_t ms)
{
	struct timer *t = timer_new(F.l, on_expired, NULL);
	unsigned before = F.expired;

	timer_at(t, loop_now(F.l) + ms);
	while (F.expired == before)
		(void)uv_run(loop_uv(F.l), UV_RUN_ONCE);
	timer_free(t);
}

#endif
