/* http_server_lab.h - an HTTP server and real clients: libcurl, and raw sockets on worker threads.
 */
#ifndef TESTS_HTTP_SERVER_LAB_H
#define TESTS_HTTP_SERVER_LAB_H

#include "io/http_server.h"

#include <curl/curl.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <uv.h>

#include <cmocka.h>

#include "base/clock.h"
#include "base/mem.h"
#include "base/str.h"

enum {
	MAX_BODY = 4096,
	TICKETS = 256,
	STREAMS = 32,     /* connections that never stop asking */
	STREAM_MS = 2000, /* for so long, ... */
	PROBES_MIN = 50,  /* ... and so many looks at how long the loop keeps others waiting */
	FREEZE_S = 20,    /* a loop that does not come back by then never will */
	LATE_MS = 100,    /* of work for clients, while somebody else waits for the loop */
	LAST_ASK = 7,     /* of a connection, where there is a last one */
	RUNS = 16,       /* rounds of one turn of the server: of each connection one request, ... */
	PIPELINED = 500, /* requests that wait in the socket of each, before it looks at any */
	REST_MS = 10,    /* ... from one turn to the next, while there is more to do */
};

struct fix {
	uv_loop_t loop;
	uv_timer_t timer; /* answers what is held, after a while */
	struct http_server *s;
	char url[64];
	uint64_t held[TICKETS];
	unsigned nheld, served, running;
	bool answer_held;
	char query[64];
};

static struct fix F;

struct client { /* one request of a worker thread, and what came of it */
	uv_work_t work;
	const char *method, *path, *body, *header;
	size_t len;
	unsigned repeat; /* on one connection */
	long status, connects;
	CURLcode rc;
	struct str reply;
	char retry_after[16], etag[16];
	bool second, fourth;
};

static inline void handler(void *ctx, const struct http_request *rq, struct http_answer *an)
{
	struct fix *f = ctx;
	struct str s;

	f->served++;
	an->status = 200;
	if (strcmp(rq->path, "/hold") == 0) {
		assert_true(f->nheld < TICKETS);
		f->held[f->nheld++] = rq->ticket;
		an->later = true;
		return;
	}
	if (strcmp(rq->path, "/drop") == 0)
		an->drop = true;
	if (strcmp(rq->path, "/busy") == 0) {
		an->status = 429;
		an->retry_after_s = 7;
	}
	if (strcmp(rq->path, "/more") == 0) {
		an->more[0] = (struct http_more){"ETag", "1f"};
		an->more[1] = (struct http_more){"X-Second", "2"};
		an->more[2] = (struct http_more){"X-Third", "3"};
		an->more[3].name = "X-Fourth";
		memset(an->more[3].value, '4', HTTP_VALUE_SIZE - 1);
	}
	if (strcmp(rq->path, "/empty") == 0)
		return;
	str_init(&s, 65536);
	str_addf(&s, "%s %s q=%s a=%s n=%zu ", rq->method, rq->path, rq->query,
		 rq->authorization != NULL ? rq->authorization : "-", rq->len);
	str_add(&s, rq->body, rq->len);
	if (http_header(rq, "x-other") != NULL)
		str_addf(&s, "o=%s", http_header(rq, "x-other"));
	an->type = "application/json";
	an->len = s.len;
	an->body = str_take(&s);
}

static inline void on_timer(uv_timer_t *t)
{
	(void)t;
	if (!F.answer_held)
		return;
	while (F.nheld > 0) {
		struct http_answer an = {.status = 201, .body = mem_strdup("late"), .len = 4};

		http_server_answer(F.s, F.held[--F.nheld], &an);
		/* Once more, and one that never was: both are ignored, and their bodies freed. */
		an.body = mem_strdup("twice");
		http_server_answer(F.s, F.held[F.nheld], &an);
		an.body = mem_strdup("stray");
		http_server_answer(F.s, F.held[F.nheld] + (UINT64_C(7) << 32), &an);
	}
}

static inline int begin(unsigned max_asks)
{
	struct http_server_opts o = {.address = "127.0.0.1",
				     .idle_s = 5,
				     .max_conns = 300,
				     .max_asks = max_asks,
				     .max_body = MAX_BODY};
	struct err e = {0};

	memset(&F, 0, sizeof(F));
	assert_int_equal(uv_loop_init(&F.loop), 0);
	assert_int_equal(uv_timer_init(&F.loop, &F.timer), 0);
	assert_int_equal(uv_timer_start(&F.timer, on_timer, 50, 50), 0);
	assert_int_equal(http_server_start(&F.s, &F.loop, &o, handler, &F, &e), 0);
	(void)snprintf(F.url, sizeof(F.url), "http://127.0.0.1:%u", http_server_port(F.s));
	return 0;
}

static inline int setup(void **state)
{
	(void)state;
	return begin(0);
}

static inline void stop_server(void)
{
	if (F.s != NULL)
		http_server_stop(F.s);
	F.s = NULL;
}

static inline int teardown(void **state)
{
	(void)state;
	stop_server();
	uv_close((uv_handle_t *)&F.timer, NULL);
	(void)uv_run(&F.loop, UV_RUN_DEFAULT);
	assert_int_equal(uv_loop_close(&F.loop), 0);
	return 0;
}

static inline size_t on_body(char *data, size_t size, size_t n, void *ctx)
{
	str_add(ctx, data, size * n);
	return size * n;
}

static inline size_t on_header(char *data, size_t size, size_t n, void *ctx)
{
	struct client *c = ctx;

	if (size * n > 13 && strncasecmp(data, "Retry-After: ", 13) == 0)
		(void)snprintf(c->retry_after, sizeof(c->retry_after), "%.*s",
			       (int)strcspn(data + 13, "\r"), data + 13);
	if (size * n > 6 && strncasecmp(data, "ETag: ", 6) == 0)
		(void)snprintf(c->etag, sizeof(c->etag), "%.*s", (int)strcspn(data + 6, "\r"),
			       data + 6);
	if (size * n > 10 && strncasecmp(data, "X-Second: ", 10) == 0)
		c->second = data[10] == '2';
	if (size * n > 10 && strncasecmp(data, "X-Fourth: ", 10) == 0)
		c->fourth = strspn(data + 10, "4") == HTTP_VALUE_SIZE - 1;
	return size * n;
}

static inline void ask(uv_work_t *w)
{
	struct client *c = w->data;
	CURL *h = curl_easy_init();
	struct curl_slist *headers = NULL;
	char url[512];

	(void)snprintf(url, sizeof(url), "%s%s", F.url, c->path);
	headers = curl_slist_append(headers, c->header != NULL ? c->header : "X-Nothing: 1");
	(void)curl_easy_setopt(h, CURLOPT_URL, url);
	(void)curl_easy_setopt(h, CURLOPT_HTTPHEADER, headers);
	(void)curl_easy_setopt(h, CURLOPT_TIMEOUT_MS, 5000L);
	(void)curl_easy_setopt(h, CURLOPT_NOSIGNAL, 1L);
	(void)curl_easy_setopt(h, CURLOPT_WRITEFUNCTION, on_body);
	(void)curl_easy_setopt(h, CURLOPT_WRITEDATA, &c->reply);
	(void)curl_easy_setopt(h, CURLOPT_HEADERFUNCTION, on_header);
	(void)curl_easy_setopt(h, CURLOPT_HEADERDATA, c);
	if (c->method != NULL)
		(void)curl_easy_setopt(h, CURLOPT_CUSTOMREQUEST, c->method);
	if (c->body != NULL) {
		(void)curl_easy_setopt(h, CURLOPT_POSTFIELDS, c->body);
		(void)curl_easy_setopt(h, CURLOPT_POSTFIELDSIZE, (long)c->len);
	}
	for (unsigned i = 0; i <= c->repeat; i++) {
		long connects = 0;

		str_clear(&c->reply);
		c->rc = curl_easy_perform(h);
		(void)curl_easy_getinfo(h, CURLINFO_NUM_CONNECTS, &connects);
		c->connects += connects;
	}
	(void)curl_easy_getinfo(h, CURLINFO_RESPONSE_CODE, &c->status);
	curl_slist_free_all(headers);
	curl_easy_cleanup(h);
}

static inline void done(uv_work_t *w, int status)
{
	(void)w;
	assert_int_equal(status, 0);
	F.running--;
}

static inline void start(struct client *c)
{
	str_init(&c->reply, 1 << 20);
	c->work.data = c;
	F.running++;
	assert_int_equal(uv_queue_work(&F.loop, &c->work, ask, done), 0);
}

static inline void wait_all(void)
{
	while (F.running > 0)
		(void)uv_run(&F.loop, UV_RUN_ONCE);
}

static inline void request(struct client *c)
{
	start(c);
	wait_all();
}

#endif
