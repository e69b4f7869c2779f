/* test_header_lines.c - the head of an HTTP reply, read line by line. */
#include "base/header_lines.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

enum { MAX = 200 };

/* Each line with its end; false: one was too many. */
static bool take_all(struct header_lines *h, const char *text)
{
	header_lines_init(h, MAX);
	while (*text != '\0') {
		const size_t n = strcspn(text, "\n") + 1;

		if (!header_lines_take(h, text, n))
			return false;
		text += n;
	}
	return true;
}

static void put(struct str *s, const struct headers *h)
{
	for (size_t i = 0; i < h->n; i++)
		str_addf(s, "<%s|%s>", h->v[i].name, h->v[i].value);
}

static void test_what_is_kept(void **state)
{
	static const struct {
		const char *lines, *kept;
		bool strange;
	} rows[] = {
		{"HTTP/1.1 200 OK\r\nDate: now\r\nX-A:b:c \t\r\n\r\n", "<Date|now><X-A|b:c>",
		 false},
		{"HTTP/1.0 204 No\nX-A: one\nX-A: two\nX-Empty:\n\n",
		 "<X-A|one><X-A|two><X-Empty|>", false},
		/* Of interim replies nothing is the reply's. */
		{"HTTP/1.1 103 Early\r\nLink: x\r\n\r\nHTTP/1.1 200 OK\r\nX-A: b\r\n\r\n",
		 "<X-A|b>", false},
		/* Nor is what follows the body. */
		{"HTTP/1.1 200 OK\r\nX-A: b\r\n\r\nX-Trailer: t\r\n\r\n", "<X-A|b>", false},
		/* A line that continues the last. */
		{"HTTP/1.1 200 OK\r\nX-A: b\r\n \t c\r\n\td\r\nX-E: f\r\n\r\n",
		 "<X-A|b c d><X-E|f>", false},
		/* One that continues nothing, one without a name, one without a colon. */
		{"HTTP/1.1 200 OK\r\n X-A: b\r\n: c\r\nnonsense\r\nX-E: f\r\n\r\n", "<X-E|f>",
		 false},
		{"HTTP/2 200\r\nx-a: b\r\n\r\n", "<x-a|b>", false},
		{"HTTP/22.1 200\r\nX-A: b\r\n\r\n", "<X-A|b>", true},
		{"HTTP/1\r\n\r\n", "", true},
		/* Only the last counts. */
		{"HTTP/9.9 100\r\n\r\nHTTP/1.1 200 OK\r\n\r\n", "", false},
		/* What is not ended yet is not complete. */
		{"HTTP/1.1 200 OK\r\nX-A: b\r\nX-C: d\r\n", "<X-A|b>", false},
		{"", "", false},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct header_lines h;
		struct str kept;

		assert_true(take_all(&h, rows[i].lines));
		str_init(&kept, 1000);
		put(&kept, &h.headers);
		assert_string_equal(kept.p, rows[i].kept);
		assert_int_equal(h.strange, rows[i].strange);
		assert_int_equal(h.bytes, strlen(rows[i].lines));
		str_fini(&kept);
		header_lines_fini(&h);
	}
}

/* F29: what a server sends without end is refused, also what would not be kept. */
static void test_no_more_than_so_many_bytes(void **state)
{
	static const char *const begins[] = {"X-A: b\r\n", "HTTP/1.1 100 Continue\r\n", " x\r\n",
					     "\r\n"};

	(void)state;
	for (size_t i = 0; i < sizeof(begins) / sizeof(begins[0]); i++) {
		const size_t n = strlen(begins[i]);
		struct header_lines h;
		size_t taken = 0;

		header_lines_init(&h, MAX);
		while (header_lines_take(&h, begins[i], n))
			taken += n;
		assert_in_range(taken, MAX - n + 1, MAX);
		header_lines_fini(&h);
	}
}

/* F31: a byte 0 would end the text for one reader and not for another. */
static void test_a_byte_0_is_strange(void **state)
{
	struct header_lines h;

	(void)state;
	assert_true(take_all(&h, "HTTP/1.1 200 OK\r\nX-A: b\r\n"));
	assert_true(header_lines_take(&h, "X-C: d\0e\r\n", 10));
	assert_true(h.strange);
	assert_true(header_lines_take(&h, "\r\n", 2));
	assert_int_equal(h.headers.n, 1);
	header_lines_fini(&h);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_what_is_kept),
		cmocka_unit_test(test_no_more_than_so_many_bytes),
		cmocka_unit_test(test_a_byte_0_is_strange),
	};

	return cmocka_run_group_tests_name("header lines", tests, NULL, NULL);
}
