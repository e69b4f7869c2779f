/* test_http_server.c - the server against real clients: libcurl and raw sockets on worker threads.
 */
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
	bool second;
};

static void handler(void *ctx, const struct http_request *rq, struct http_answer *an)
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

static void on_timer(uv_timer_t *t)
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

static int begin(unsigned max_asks)
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

static int setup(void **state)
{
	(void)state;
	return begin(0);
}

static int setup_few_asks(void **state)
{
	(void)state;
	return begin(LAST_ASK);
}

static void stop_server(void)
{
	if (F.s != NULL)
		http_server_stop(F.s);
	F.s = NULL;
}

static int teardown(void **state)
{
	(void)state;
	stop_server();
	uv_close((uv_handle_t *)&F.timer, NULL);
	(void)uv_run(&F.loop, UV_RUN_DEFAULT);
	assert_int_equal(uv_loop_close(&F.loop), 0);
	return 0;
}

static size_t on_body(char *data, size_t size, size_t n, void *ctx)
{
	str_add(ctx, data, size * n);
	return size * n;
}

static size_t on_header(char *data, size_t size, size_t n, void *ctx)
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
	return size * n;
}

static void ask(uv_work_t *w)
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

static void done(uv_work_t *w, int status)
{
	(void)w;
	assert_int_equal(status, 0);
	F.running--;
}

static void start(struct client *c)
{
	str_init(&c->reply, 1 << 20);
	c->work.data = c;
	F.running++;
	assert_int_equal(uv_queue_work(&F.loop, &c->work, ask, done), 0);
}

static void wait_all(void)
{
	while (F.running > 0)
		(void)uv_run(&F.loop, UV_RUN_ONCE);
}

static void request(struct client *c)
{
	start(c);
	wait_all();
}

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

static void test_stop_cuts_off_who_waits(void **state)
{
	struct client c = {.path = "/hold"};

	(void)state;
	start(&c);
	while (F.nheld == 0)
		(void)uv_run(&F.loop, UV_RUN_ONCE);
	stop_server();
	wait_all();
	assert_int_equal(c.rc, CURLE_GOT_NOTHING);
	str_fini(&c.reply);
}

/* A client that gives up while its answer waits must not make the answer go elsewhere. */
static void test_client_gone_while_waiting(void **state)
{
	struct client next = {.path = "/a"};
	struct sockaddr_in a;
	char text[] = "GET /hold HTTP/1.1\r\nHost: x\r\n\r\n";
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	(void)state;
	assert_int_equal(uv_ip4_addr("127.0.0.1", http_server_port(F.s), &a), 0);
	assert_int_equal(connect(fd, (struct sockaddr *)&a, sizeof(a)), 0);
	assert_int_equal(write(fd, text, sizeof(text) - 1), sizeof(text) - 1);
	while (F.nheld == 0)
		(void)uv_run(&F.loop, UV_RUN_ONCE);
	(void)close(fd);
	F.answer_held = true;
	while (F.nheld > 0)
		(void)uv_run(&F.loop, UV_RUN_ONCE);
	request(&next);
	assert_int_equal(next.status, 200);
	str_fini(&next.reply);
}

/* Real clients that send without end and read what comes, and somebody else on the same loop.  Only
 * what the loop does itself counts against it, not how long the machine lets it wait: requests
 * until it looks at all else, and its thread's processor time. */
struct storm {
	pthread_t thread;
	clockid_t loop_clock;
	uv_prepare_t timers_ran;
	uv_check_t polled;
	uv_async_t probe;
	struct sockaddr_in to;
	int64_t until, sent_ns; /* sent_ns: the probe under way, by loop_clock; 0: none is */
	unsigned nprobes, late, closed;
	unsigned before, most; /* requests: before this look, and between two at most */
	unsigned handles;
	bool over;
};

static int stream_open(const struct storm *m)
{
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (connect(fd, (const struct sockaddr *)&m->to, sizeof(m->to)) != 0)
		abort();
	(void)fcntl(fd, F_SETFL, O_NONBLOCK);
	return fd;
}

/* Hundreds of requests at once, from where the last ones were cut.  -1: the server has closed it.
 */
static int stream_more(int fd, size_t *at)
{
	static const char one[] = "GET /a HTTP/1.1\r\nHost: x\r\n\r\n";
	enum { LEN = sizeof(one) - 1 };
	static char text[PIPELINED * LEN], sink[65536];
	ssize_t n;

	for (size_t i = 0; i < sizeof(text); i++)
		text[i] = one[i % LEN];
	n = send(fd, text + *at, sizeof(text) - *at, MSG_NOSIGNAL);
	if (n > 0)
		*at = (*at + (size_t)n) % LEN;
	do {
		n = recv(fd, sink, sizeof(sink), 0);
	} while (n > 0);
	return n == 0 || (errno != EAGAIN && errno != EINTR) ? -1 : 0;
}

static int64_t cpu_ns(clockid_t clock)
{
	struct timespec ts = {0};

	assert_int_equal(clock_gettime(clock, &ts), 0);
	return (int64_t)ts.tv_sec * 1000000000 + ts.tv_nsec;
}

static void probe(struct storm *m)
{
	int64_t none = 0;

	if (__atomic_compare_exchange_n(&m->sent_ns, &none, cpu_ns(m->loop_clock), false,
					__ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST))
		(void)uv_async_send(&m->probe);
}

static void *stream(void *arg)
{
	size_t at[STREAMS] = {0};
	struct storm *m = arg;
	struct pollfd fds[STREAMS];

	for (int i = 0; i < STREAMS; i++)
		fds[i] = (struct pollfd){.fd = stream_open(m), .events = POLLIN};
	while (clock_boot_ms() < m->until ||
	       __atomic_load_n(&m->nprobes, __ATOMIC_SEQ_CST) < PROBES_MIN) {
		for (int i = 0; i < STREAMS; i++) {
			if (stream_more(fds[i].fd, &at[i]) == 0)
				continue;
			(void)close(fds[i].fd);
			fds[i].fd = stream_open(m);
			at[i] = 0;
			m->closed++;
		}
		probe(m);
		(void)poll(fds, STREAMS, 2);
	}
	for (int i = 0; i < STREAMS; i++)
		(void)close(fds[i].fd);
	__atomic_store_n(&m->over, true, __ATOMIC_SEQ_CST);
	(void)uv_async_send(&m->probe);
	return NULL;
}

static void on_probe(uv_async_t *h)
{
	struct storm *m = h->data;
	int64_t sent = __atomic_exchange_n(&m->sent_ns, 0, __ATOMIC_SEQ_CST);

	if (__atomic_load_n(&m->over, __ATOMIC_SEQ_CST))
		uv_stop(h->loop);
	if (sent == 0)
		return;
	(void)__atomic_add_fetch(&m->nprobes, 1, __ATOMIC_SEQ_CST);
	if (cpu_ns(m->loop_clock) - sent >= (int64_t)LATE_MS * 1000000)
		m->late++;
}

static void look(struct storm *m)
{
	if (F.served - m->before > m->most)
		m->most = F.served - m->before;
	m->before = F.served;
}

static void on_timers_ran(uv_prepare_t *h)
{
	look(h->data);
}

static void on_polled(uv_check_t *h)
{
	look(h->data);
}

static void on_handle_closed(uv_handle_t *h)
{
	struct storm *m = h->data;

	m->handles--;
}

static void storm(struct storm *m)
{
	assert_int_equal(uv_ip4_addr("127.0.0.1", http_server_port(F.s), &m->to), 0);
	assert_int_equal(pthread_getcpuclockid(pthread_self(), &m->loop_clock), 0);
	assert_int_equal(uv_async_init(&F.loop, &m->probe, on_probe), 0);
	assert_int_equal(uv_prepare_init(&F.loop, &m->timers_ran), 0);
	assert_int_equal(uv_prepare_start(&m->timers_ran, on_timers_ran), 0);
	assert_int_equal(uv_check_init(&F.loop, &m->polled), 0);
	assert_int_equal(uv_check_start(&m->polled, on_polled), 0);
	m->probe.data = m->timers_ran.data = m->polled.data = m;
	m->handles = 3;
	m->before = F.served;
	m->until = clock_boot_ms() + STREAM_MS;
	(void)alarm(FREEZE_S);
	assert_int_equal(pthread_create(&m->thread, NULL, stream, m), 0);
	(void)uv_run(&F.loop, UV_RUN_DEFAULT);
	(void)pthread_join(m->thread, NULL);
	(void)alarm(0);
	uv_close((uv_handle_t *)&m->probe, on_handle_closed);
	uv_close((uv_handle_t *)&m->timers_ran, on_handle_closed);
	uv_close((uv_handle_t *)&m->polled, on_handle_closed);
	while (m->handles > 0)
		(void)uv_run(&F.loop, UV_RUN_ONCE);
	print_message("# %u requests, %u at a time, %u probes, %u late, %u closed\n", F.served,
		      m->most, m->nprobes, m->late, m->closed);
}

static void test_no_number_of_requests_takes_the_loop(void **state)
{
	struct storm m = {0};
	struct client c = {.path = "/a"}, held = {.path = "/hold"};

	(void)state;
	storm(&m);
	assert_true(F.served > STREAMS);
	assert_true(m.nprobes >= PROBES_MIN);
	assert_in_range(m.most, 1, RUNS * STREAMS);
	assert_int_equal(m.late, 0);
	assert_int_equal(m.closed, 0);
	request(&c);
	assert_int_equal(c.status, 200);
	str_fini(&c.reply);
	/* And then an answer that comes later goes out when it comes. */
	F.answer_held = true;
	(void)alarm(FREEZE_S);
	request(&held);
	(void)alarm(0);
	assert_int_equal(held.status, 201);
	str_fini(&held.reply);
}

static void test_a_connection_has_a_last_request(void **state)
{
	struct client c = {.path = "/a", .repeat = 3 * LAST_ASK - 1};
	struct storm m = {0};

	(void)state;
	request(&c);
	assert_int_equal(c.rc, CURLE_OK);
	assert_int_equal(c.connects, 3);
	assert_int_equal(F.served, 3 * LAST_ASK);
	str_fini(&c.reply);
	storm(&m);
	assert_true(m.closed > STREAMS);
	assert_true(F.served <= 3 * LAST_ASK + (m.closed + STREAMS) * LAST_ASK);
	assert_in_range(m.most, 1, RUNS * STREAMS);
	assert_int_equal(m.late, 0);
}

/* Much is there before the server looks at any, so no client's pace counts; and while it rests it
 * hears nothing of what comes. */
static void test_a_long_queue_is_served_in_short_turns(void **state)
{
	struct storm m = {0};
	size_t at[STREAMS] = {0};
	int fds[STREAMS];
	unsigned turns = 0;
	uint64_t may_ms = 0; /* the next turn */

	(void)state;
	assert_int_equal(uv_ip4_addr("127.0.0.1", http_server_port(F.s), &m.to), 0);
	for (int i = 0; i < STREAMS; i++) {
		fds[i] = stream_open(&m);
		assert_int_equal(stream_more(fds[i], &at[i]), 0);
		assert_int_equal(at[i], 0); /* all of it */
	}
	(void)alarm(FREEZE_S);
	while (F.served < STREAMS * PIPELINED) {
		unsigned before = F.served;
		uint64_t now_ms;

		uv_update_time(&F.loop);
		now_ms = uv_now(&F.loop);
		(void)uv_run(&F.loop, UV_RUN_NOWAIT); /* no more than one turn */
		assert_int_equal(stream_more(fds[0], &at[0]), 0);
		if (F.served == before)
			continue;
		assert_in_range(F.served - before, 1, RUNS * STREAMS);
		assert_true(uv_now(&F.loop) >= may_ms);
		may_ms = now_ms + REST_MS;
		turns++;
	}
	(void)alarm(0);
	print_message("# %u requests in %u turns\n", F.served, turns);
	for (int i = 0; i < STREAMS; i++)
		(void)close(fds[i]);
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
		cmocka_unit_test_setup_teardown(test_stop_cuts_off_who_waits, setup, teardown),
		cmocka_unit_test_setup_teardown(test_client_gone_while_waiting, setup, teardown),
		cmocka_unit_test_setup_teardown(test_no_number_of_requests_takes_the_loop, setup,
						teardown),
		cmocka_unit_test_setup_teardown(test_a_connection_has_a_last_request,
						setup_few_asks, teardown),
		cmocka_unit_test_setup_teardown(test_a_long_queue_is_served_in_short_turns, setup,
						teardown),
		cmocka_unit_test_setup_teardown(test_refuses_what_it_cannot_listen_on, setup,
						teardown),
		cmocka_unit_test(test_query),
	};

	(void)curl_global_init(CURL_GLOBAL_DEFAULT);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
