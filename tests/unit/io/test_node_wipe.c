/* test_node_wipe.c - what a node said, and what it was told, is nowhere in memory that the listener
 * has given back.
 *
 * Ours begin with what is looked for; libmicrohttpd and GnuTLS have buffers of their own, with
 * other things before it. */
#include "node_listener.h"

#include "tests/unit/watched_heap.h"

#define BODY   "{\"claim_secret\":\"0123\"}"
#define CRED   "MUNGE:AAAA:"
#define ANSWER "POST /secret?"

static atomic_uint found; /* secrets in what was given back, by whichever thread */

#ifndef OWN_HEAP
static bool begins(const char *p, size_t size, const char *with)
{
	size_t n = strlen(with);

	return size >= n && memcmp(p, with, n) == 0;
}

static void heap_given_back(const char *p, size_t size)
{
	if (begins(p, size, BODY) || begins(p, size, CRED) || begins(p, size, ANSWER))
		found++;
}
#endif

static void skip_without_the_heap(void)
{
#ifdef OWN_HEAP
	skip();
#endif
}

/* With its body and its credential; the status. */
static int ask(const char *path)
{
	char text[512], out[1024];
	struct tls_peer p;
	int rc = dial(&p, NULL);

	(void)snprintf(text, sizeof(text),
		       "POST %s HTTP/1.1\r\nHost: x\r\nConnection: close\r\n"
		       "Authorization: " CRED "\r\nContent-Length: %zu\r\n\r\n" BODY,
		       path, strlen(BODY));
	if (rc == 0)
		rc = say(&p, text) != 0 ? -1 : tls_peer_reply(&p, out, sizeof(out));
	tls_peer_close(&p);
	return rc;
}

/* To the loop and back, refused before it, and left without an answer. */
static void what_is_secret_is_wiped(void **state)
{
	static const struct {
		const char *path;
		int status;
	} rows[] = {{"/secret", 200}, {"/bad", 401}, {"/drop", -1}};

	(void)state;
	skip_without_the_heap();
	free(mem_strdup(BODY));
	assert_int_equal(found, 1); /* it is seen */
	found = 0;
	start();
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		assert_int_equal(ask(rows[i].path), rows[i].status);
		UNTIL(stats().open == 0);
		if (found > 0)
			fail_msg("%s: %u", rows[i].path, found);
	}
	on_loop(stop_on_loop);
	assert_int_equal(found, 0);
}

/* It comes in two parts, for the second of which there was no place, and breaks off. */
static void half_a_request_is_wiped(void **state)
{
	char more[6001] = "";
	struct tls_peer p;

	(void)state;
	skip_without_the_heap();
	memset(more, 'x', sizeof(more) - 1);
	start();
	found = 0;
	assert_int_equal(dial(&p, NULL), 0);
	assert_int_equal(say(&p, "POST /secret HTTP/1.1\r\nHost: x\r\n"
				 "Content-Length: 9000\r\n\r\n" BODY),
			 0);
	(void)usleep(100000);
	assert_int_equal(say(&p, more), 0);
	(void)usleep(100000);
	tls_peer_close(&p);
	UNTIL(stats().open == 0);
	assert_int_equal(found, 0);
}

static void answer_on_loop(struct fix *f)
{
	struct http_answer an = {.status = 200, .secret = true, .body = mem_strdup(ANSWER)};

	an.len = strlen(an.body);
	node_server_answer(f->s, f->held[0], &an);
}

/* Who asked has been told to come again. */
static void what_comes_too_late_is_wiped(void **state)
{
	(void)state;
	skip_without_the_heap();
	F.o.answer_ms = 100;
	start();
	found = 0;
	assert_int_equal(ask("/hold"), 503);
	on_loop(answer_on_loop);
	on_loop(stop_on_loop);
	assert_int_equal(found, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(what_is_secret_is_wiped),
		TEST(half_a_request_is_wiped),
		TEST(what_comes_too_late_is_wiped),
	};

	return cmocka_run_group_tests(tests, make_ids, NULL);
}
