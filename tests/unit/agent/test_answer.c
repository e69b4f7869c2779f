/* test_answer.c - HTTP answers: what is taken, what ends the connection, at any cut of the bytes.
 */
#include "agent/answer.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#define OK "HTTP/1.1 200 OK\r\n"

static const struct {
	const char *name, *bytes;
	int rc; /* of the last byte */
	int status;
	const char *body;
	bool close;
} good[] = {
	{"a length", OK "Content-Length: 5\r\n\r\nhello", 1, 200, "hello", false},
	{"no body", OK "Content-Length: 0\r\n\r\n", 1, 200, "", false},
	{"names in any case", OK "cONTENT-lENGTH:5\r\n\r\nhello", 1, 200, "hello", false},
	{"the same length twice", OK "Content-Length: 1\r\nContent-Length: 1\r\n\r\nx", 1, 200, "x",
	 false},
	{"no reason", "HTTP/1.1 404\r\nContent-Length: 0\r\n\r\n", 1, 404, "", false},
	{"204 has none", "HTTP/1.1 204 No Content\r\n\r\n", 1, 204, "", false},
	{"it is not all there", OK "Content-Length: 6\r\n\r\nhello", 0, 200, "hello", false},
	{"chunks", OK "Transfer-Encoding: chunked\r\n\r\n3\r\nhel\r\n2;x=y\r\nlo\r\n0\r\n\r\n", 1,
	 200, "hello", false},
	{"chunks and trailers",
	 OK "Transfer-Encoding: chunked\r\n\r\nA\r\n0123456789\r\n0\r\nX: y\r\n\r\n", 1, 200,
	 "0123456789", false},
	{"closing", OK "Connection: x, Close\r\nContent-Length: 0\r\n\r\n", 1, 200, "", true},
	{"closing, as 1.0 does", "HTTP/1.0 200 OK\r\nContent-Length: 0\r\n\r\n", 1, 200, "", true},
	{"an interim answer", "HTTP/1.1 100 Continue\r\n\r\n" OK "Content-Length: 0\r\n\r\n", 1,
	 200, "", false},
};

static const struct {
	const char *name, *bytes;
} bad[] = {
	{"not HTTP", "SSH-2.0-OpenSSH_9.2\r\n"},
	{"HTTP/2", "HTTP/2.0 200 OK\r\n"},
	{"a status of two digits", "HTTP/1.1 20 OK\r\n"},
	{"switching protocols", "HTTP/1.1 101 Switching\r\n"},
	{"a bare line feed", "HTTP/1.1 200 OK\n"},
	{"a bare carriage return", OK "X: a\rb\r\n"},
	{"a NUL's neighbour", OK "X: a\001b\r\n"},
	{"a folded header", OK "X: a\r\n b\r\n"},
	{"a blank in a name", OK "Content-Length : 5\r\n"},
	{"no name", OK ": 5\r\n"},
	{"no colon", OK "Content-Length 5\r\n"},
	{"two lengths", OK "Content-Length: 5\r\nContent-Length: 6\r\n"},
	{"a length and chunks", OK "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n"},
	{"a negative length", OK "Content-Length: -1\r\n"},
	{"a length of more than one number", OK "Content-Length: 5, 5\r\n"},
	{"a length beyond all", OK "Content-Length: 99999999999999999999\r\n"},
	{"more body than is taken", OK "Content-Length: 101\r\n\r\n"},
	{"more chunks than are taken", OK "Transfer-Encoding: chunked\r\n\r\n65\r\n"},
	{"a chunk beyond all", OK "Transfer-Encoding: chunked\r\n\r\nFFFFFFFFFFFFFFFFF\r\n"},
	{"a chunk without a size", OK "Transfer-Encoding: chunked\r\n\r\n\r\n"},
	{"a chunk longer than it says", OK "Transfer-Encoding: chunked\r\n\r\n1\r\nxx\r\n"},
	{"another encoding", OK "Transfer-Encoding: gzip, chunked\r\n"},
	{"neither length nor chunks", OK "\r\n"},
	{"bytes behind it", OK "Content-Length: 0\r\n\r\nH"},
	{"an interim answer with a body", "HTTP/1.1 100 Continue\r\nContent-Length: 5\r\n\r\n"},
	{"interim answers without end",
	 "HTTP/1.1 100 a\r\n\r\nHTTP/1.1 100 a\r\n\r\nHTTP/1.1 100 a\r\n\r\n"
	 "HTTP/1.1 100 a\r\n\r\nHTTP/1.1 100 a\r\n\r\n"},
};

enum { BODY = 100 };

/* In pieces of `step` bytes; the result of the last. */
static int feed(struct answer *a, const char *bytes, size_t step, struct err *e)
{
	size_t len = strlen(bytes);
	int rc = 0;

	answer_init(a, BODY, false);
	for (size_t i = 0; i < len && rc >= 0; i += step)
		rc = answer_feed(a, bytes + i, len - i < step ? len - i : step, e);
	return rc;
}

static void test_good(void **state)
{
	struct answer a;

	(void)state;
	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
		for (size_t step = 1; step < 20; step++) {
			struct err e = {0};

			print_message("# %s, by %zu\n", good[i].name, step);
			assert_int_equal(feed(&a, good[i].bytes, step, &e), good[i].rc);
			assert_int_equal(a.status, good[i].status);
			assert_string_equal(a.body.p, good[i].body);
			assert_int_equal(a.close, good[i].close);
			answer_fini(&a);
		}
	}
}

static void test_bad(void **state)
{
	struct answer a;

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		for (size_t step = 1; step < 500; step = step * 2 + 1) {
			struct err e = {0};

			print_message("# %s, by %zu\n", bad[i].name, step);
			assert_int_equal(feed(&a, bad[i].bytes, step, &e), -1);
			assert_true(e.msg[0] != '\0');
			answer_fini(&a);
		}
	}
}

static void test_heads_end(void **state)
{
	char many[3 * ANSWER_HEAD_MAX] = OK, line[ANSWER_LINE_MAX + 64] = OK "X: ";
	struct answer a;
	struct err e = {0};

	(void)state;
	while (strlen(many) < sizeof(many) - 10)
		memcpy(many + strlen(many), "A: b\r\n", 7);
	assert_int_equal(feed(&a, many, 64, &e), -1);
	assert_int_equal(e.code, ERR_LIMIT);
	answer_fini(&a);
	memset(line + strlen(line), 'x', sizeof(line) - strlen(line) - 1);
	e.code = ERR_NONE;
	assert_int_equal(feed(&a, line, 64, &e), -1);
	assert_int_equal(e.code, ERR_LIMIT);
	answer_fini(&a);
}

static void test_end_of_connection(void **state)
{
	struct answer a;
	struct err e = {0};

	(void)state;
	answer_init(&a, BODY, true); /* plain HTTP: the end is the end of the body */
	assert_int_equal(answer_feed(&a, OK "\r\nhalf", strlen(OK) + 6, &e), 0);
	assert_int_equal(answer_eof(&a, &e), 1);
	assert_string_equal(a.body.p, "half");
	assert_true(a.close);
	answer_fini(&a);
	assert_int_equal(feed(&a, OK "Content-Length: 6\r\n\r\nhello", 9, &e), 0);
	assert_int_equal(answer_eof(&a, &e), -1); /* cut short */
	answer_fini(&a);
	answer_init(&a, 3, true);
	assert_int_equal(answer_feed(&a, OK "\r\nhalf", strlen(OK) + 6, &e), -1);
	assert_int_equal(e.code, ERR_LIMIT);
	answer_fini(&a);
}

static void test_headers_that_are_kept(void **state)
{
	static const char text[] =
		"HTTP/1.1 103 Early\r\nETag: old\r\nMetadata-Flavor: Google\r\n\r\n" OK
		"ETag: 411261ca6c9e4ee8\r\nContent-Length: 0\r\n\r\n";
	struct answer a;
	struct err e = {0};

	(void)state;
	assert_int_equal(feed(&a, text, 7, &e), 1);
	assert_string_equal(a.etag, "411261ca6c9e4ee8");
	assert_false(a.google); /* that was another answer */
	answer_fini(&a);
	assert_int_equal(feed(&a, OK "Metadata-Flavor: Google\r\nContent-Length: 0\r\n\r\n", 7, &e),
			 1);
	assert_true(a.google);
	answer_fini(&a);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_good),
		cmocka_unit_test(test_bad),
		cmocka_unit_test(test_heads_end),
		cmocka_unit_test(test_end_of_connection),
		cmocka_unit_test(test_headers_that_are_kept),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
