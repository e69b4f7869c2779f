/* test_frame.c - a stream cut at every place gives the same frames. */
#include "base/frame.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "base/str.h"

/* Frames as text: "2:{};3:a_b;". */
static int note(void *ctx, const char *data, size_t len, struct err *e)
{
	struct str *s = ctx;

	(void)e;
	assert_int_equal(data[len], '\0');
	str_addf(s, "%zu:", len);
	str_add(s, data, len);
	str_adds(s, ";");
	return 0;
}

static int refuse(void *ctx, const char *data, size_t len, struct err *e)
{
	(void)data;
	(void)len;
	++*(int *)ctx;
	return err_set(e, ERR_LIMIT, "enough");
}

static size_t put(unsigned char *to, const char *data, size_t len)
{
	frame_header(to, (uint32_t)len);
	memcpy(to + FRAME_HEADER, data, len);
	return FRAME_HEADER + len;
}

static size_t put_some(unsigned char *to)
{
	size_t n = put(to, "{}", 2);

	n += put(to + n, "a\0b", 3);
	n += put(to + n, "", 0);
	return n + put(to + n, "J", 1);
}

static void test_header(void **state)
{
	static const unsigned char want[FRAME_HEADER] = {'J', 0x01, 0x02, 0x03, 0xff};
	unsigned char got[FRAME_HEADER];

	(void)state;
	frame_header(got, 0x010203ff);
	assert_memory_equal(got, want, sizeof(want));
}

static void test_any_pieces(void **state)
{
	unsigned char stream[64];
	const size_t len = put_some(stream);

	(void)state;
	for (size_t piece = 1; piece <= len; piece++) {
		struct frame_reader r;
		struct str s;

		frame_reader_init(&r);
		str_init(&s, 1000);
		assert_true(frame_reader_at_rest(&r));
		for (size_t at = 0; at < len; at += piece) {
			size_t n = len - at < piece ? len - at : piece;

			assert_int_equal(frame_reader_feed(&r, stream + at, n, note, &s, NULL), 0);
		}
		assert_int_equal(s.len, strlen("2:{};3:a_b;0:;1:J;"));
		assert_memory_equal(s.p, "2:{};3:a\0b;0:;1:J;", s.len);
		assert_true(frame_reader_at_rest(&r));
		frame_reader_fini(&r);
		str_fini(&s);
	}
}

static void test_rest(void **state)
{
	unsigned char stream[64];
	const size_t len = put(stream, "{}", 2);

	(void)state;
	for (size_t cut = 0; cut <= len; cut++) {
		struct frame_reader r;
		struct str s;

		frame_reader_init(&r);
		str_init(&s, 1000);
		assert_int_equal(frame_reader_feed(&r, stream, cut, note, &s, NULL), 0);
		assert_int_equal(frame_reader_at_rest(&r), cut == 0 || cut == len);
		frame_reader_fini(&r); /* frees half a frame */
		str_fini(&s);
	}
}

static void test_bad(void **state)
{
	static const struct {
		const char *name;
		unsigned char head[FRAME_HEADER];
		enum err_code code;
		const char *want;
	} rows[] = {
		{"unknown type", {'X', 0, 0, 0, 1}, ERR_INVALID, "0x58"},
		{"NUL", {0, 0, 0, 0, 0}, ERR_INVALID, "0x00"},
		{"the list of a call", {'L', 0, 0, 0, 1}, ERR_INVALID, "0x4c"},
		{"the file of a call", {'F', 0, 0, 0, 1}, ERR_INVALID, "0x46"},
		{"the end of a call", {'Z', 0, 0, 0, 0}, ERR_INVALID, "0x5a"},
		{"HTTP", {'G', 'E', 'T', ' ', '/'}, ERR_INVALID, "0x47"},
		{"a byte too long", {'J', 0, 0x10, 0, 1}, ERR_LIMIT, "1048577"},
		{"longest", {'J', 0xff, 0xff, 0xff, 0xff}, ERR_LIMIT, "4294967295"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct frame_reader r;
		struct err e = {0};
		struct str s;

		print_message("# %s\n", rows[i].name);
		frame_reader_init(&r);
		str_init(&s, 1000);
		assert_int_equal(frame_reader_feed(&r, rows[i].head, FRAME_HEADER, note, &s, &e),
				 -1);
		assert_int_equal(e.code, rows[i].code);
		assert_non_null(strstr(e.msg, rows[i].want));
		assert_int_equal(s.len, 0);
		frame_reader_fini(&r);
		str_fini(&s);
	}
}

static void test_longest_frame(void **state)
{
	unsigned char *stream = mem_zalloc(FRAME_HEADER + FRAME_PAYLOAD_MAX);
	struct frame_reader r;
	struct str s;

	(void)state;
	frame_header(stream, FRAME_PAYLOAD_MAX);
	frame_reader_init(&r);
	str_init(&s, 2 * (size_t)FRAME_PAYLOAD_MAX);
	assert_int_equal(
		frame_reader_feed(&r, stream, FRAME_HEADER + FRAME_PAYLOAD_MAX, note, &s, NULL), 0);
	assert_int_equal(strncmp(s.p, "1048576:", 8), 0);
	assert_int_equal(s.len, 8 + FRAME_PAYLOAD_MAX + 1);
	frame_reader_fini(&r);
	str_fini(&s);
	free(stream);
}

static void test_stop(void **state)
{
	unsigned char stream[64];
	const size_t len = put_some(stream);
	struct frame_reader r;
	struct err e = {0};
	int calls = 0;

	(void)state;
	frame_reader_init(&r);
	assert_int_equal(frame_reader_feed(&r, stream, len, refuse, &calls, &e), -1);
	assert_int_equal(calls, 1);
	assert_string_equal(e.msg, "enough");
	frame_reader_fini(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_header),        cmocka_unit_test(test_any_pieces),
		cmocka_unit_test(test_rest),          cmocka_unit_test(test_bad),
		cmocka_unit_test(test_longest_frame), cmocka_unit_test(test_stop),
	};

	return cmocka_run_group_tests_name("frame", tests, NULL, NULL);
}
