/* test_call.c - the end of a file in the spool: what is written is read, and nothing else is. */
#include "base/call.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/fnv.h"
#include "base/mem.h"

enum { SMALL = 8 + CALL_END, SUM_AT = CALL_END - 17 };

#define COUNT(rows) (sizeof(rows) / sizeof((rows)[0]))

/* A file of the two parts as they are in `bytes`, with its end behind them: its size. */
static size_t finish(char *bytes, const struct call_end *c)
{
	const size_t len = c->list_len + c->file_len;

	call_end_print(c, fnv_bytes(FNV_BEGIN, bytes, len), bytes + len);
	return len + CALL_END;
}

static const struct call_end small_end = {CALL_RESUME, CALL_FILE_SENT, 1, -2, 6, 2};

static void make_small(char out[SMALL])
{
	memcpy(out, "n[1-2]{}", 8);
	assert_int_equal(finish(out, &small_end), SMALL);
}

/* From memory that ends where the file does, so that a sanitizer sees a byte too many. */
static bool is_read(const char *bytes, size_t size)
{
	char *copy = mem_zalloc(size > 0 ? size : 1);
	struct call_end c;
	bool ok;

	if (size > 0)
		memcpy(copy, bytes, size);
	ok = call_end_read(&c, size > 0 ? copy : copy + 1, size);
	free(copy);
	return ok;
}

/* As somebody would who knows how the sum is made. */
static void sign(char *bytes, size_t size)
{
	char *sum = bytes + size - CALL_END + SUM_AT, text[24];

	(void)snprintf(text, sizeof(text), "%016llx\n",
		       (unsigned long long)fnv_bytes(FNV_BEGIN, bytes, (size_t)(sum - bytes)));
	memcpy(sum, text, 17);
}

static void assert_same(const struct call_end *a, const struct call_end *b)
{
	assert_int_equal(a->kind, b->kind);
	assert_int_equal(a->file, b->file);
	assert_true(a->at_ms == b->at_ms && a->boot_ms == b->boot_ms);
	assert_int_equal(a->list_len, b->list_len);
	assert_int_equal(a->file_len, b->file_len);
}

/* --- what is written -------------------------------------------------------------------------- */

/* Files of one version are read by the next: these bytes do not change. */
static void test_bytes(void **state)
{
	static const char want[] =
		"n[1-2]{}\nburst-call 2 kind=resume      at_ms=00000000000000000001 "
		"boot_ms=-0000000000000000002 list=0000000006 file=0000000002 state=sent    sum=";
	char got[SMALL], sum[24];

	(void)state;
	make_small(got);
	assert_int_equal(sizeof(want) - 1 + 17, SMALL);
	assert_memory_equal(got, want, sizeof(want) - 1);
	(void)snprintf(sum, sizeof(sum), "%016llx\n",
		       (unsigned long long)fnv_bytes(FNV_BEGIN, want, sizeof(want) - 1));
	assert_memory_equal(got + sizeof(want) - 1, sum, 17);
}

static void test_kinds(void **state)
{
	(void)state;
	assert_string_equal(call_kind_str(CALL_RESUME), "resume");
	assert_string_equal(call_kind_str(CALL_SUSPEND), "suspend");
	assert_string_equal(call_kind_str(CALL_RESUME_FAIL), "resume-fail");
}

static void round_trip(char *bytes, const struct call_end *c)
{
	const size_t size = finish(bytes, c);
	struct call_end got;

	assert_true(call_end_read(&got, bytes, size));
	assert_same(&got, c);
}

static void test_all_kinds_and_states(void **state)
{
	static const size_t lens[] = {0, 1, 7, 4096};
	char *bytes = mem_zalloc(2 * 4096 + CALL_END);

	(void)state;
	memset(bytes, 'n', 2 * 4096);
	for (int k = 0; k < CALL_NKINDS; k++)
		for (int f = 0; f < CALL_NFILES; f++)
			for (size_t i = 0; i < COUNT(lens) * COUNT(lens); i++) {
				const struct call_end c = {
					(enum call_kind)k,     (enum call_file)f,    17, 18,
					lens[i % COUNT(lens)], lens[i / COUNT(lens)]};

				round_trip(bytes, &c);
			}
	free(bytes);
}

static void test_all_times(void **state)
{
	static const int64_t times[] = {0,  1,  1764040000000,  INT64_MAX,
					-1, -9, -1764040000000, INT64_MIN};
	char bytes[SMALL];

	(void)state;
	memcpy(bytes, "n[1-2]{}", 8);
	for (size_t i = 0; i < COUNT(times) * COUNT(times); i++) {
		struct call_end c = small_end;

		c.at_ms = times[i % COUNT(times)];
		c.boot_ms = times[i / COUNT(times)];
		round_trip(bytes, &c);
	}
}

/* No byte of a list or a file means anything here, least of all what looks like an end. */
static void test_any_bytes_before_the_end(void **state)
{
	char bytes[256 + SMALL + CALL_END];
	struct call_end c = small_end;

	(void)state;
	for (size_t i = 0; i < 256; i++)
		bytes[i] = (char)i;
	make_small(bytes + 256);
	c.list_len = 255;
	c.file_len = 1 + SMALL;
	round_trip(bytes, &c);
	memset(bytes, 0, 256 + SMALL);
	round_trip(bytes, &c);
}

/* --- what is refused -------------------------------------------------------------------------- */

/* F54, F55: a bit that the disk has turned. */
static void test_every_bit_counts(void **state)
{
	char bytes[SMALL];

	(void)state;
	make_small(bytes);
	for (size_t i = 0; i < 8 * SMALL; i++) {
		bytes[i / 8] = (char)(bytes[i / 8] ^ 1 << i % 8);
		assert_false(is_read(bytes, SMALL));
		bytes[i / 8] = (char)(bytes[i / 8] ^ 1 << i % 8);
	}
	assert_true(is_read(bytes, SMALL));
}

static void test_every_byte_counts(void **state)
{
	char bytes[SMALL];

	(void)state;
	make_small(bytes);
	for (size_t i = 0; i < SMALL; i++) {
		const char was = bytes[i];

		for (int c = 0; c < 256; c++) {
			bytes[i] = (char)c;
			assert_int_equal(is_read(bytes, SMALL), (char)c == was);
		}
		bytes[i] = was;
	}
}

/* F54: the hook was killed, or the power was cut. */
static void test_every_part_is_refused(void **state)
{
	char bytes[SMALL];

	(void)state;
	make_small(bytes);
	for (size_t from = 0; from <= SMALL; from++)
		for (size_t to = from; to <= SMALL; to++)
			assert_int_equal(is_read(bytes + from, to - from),
					 from == 0 && to == SMALL);
}

static void test_every_hole_is_refused(void **state)
{
	char bytes[SMALL], less[SMALL];

	(void)state;
	make_small(bytes);
	for (size_t at = 0; at < SMALL; at++)
		for (size_t n = 1; at + n <= SMALL; n++) {
			memcpy(less, bytes, at);
			memcpy(less + at, bytes + at + n, SMALL - at - n);
			assert_false(is_read(less, SMALL - n));
			memcpy(less, bytes, SMALL); /* never written: the disk gives zeros */
			memset(less + at, 0, n);
			assert_false(is_read(less, SMALL));
		}
}

static void test_every_extension_is_refused(void **state)
{
	char bytes[SMALL], more[2 * SMALL];

	(void)state;
	make_small(bytes);
	for (size_t at = 0; at <= SMALL; at++)
		for (int c = 0; c < 256; c++) {
			memcpy(more, bytes, at);
			more[at] = (char)c;
			memcpy(more + at + 1, bytes + at, SMALL - at);
			assert_false(is_read(more, SMALL + 1));
		}
	memcpy(more, bytes, SMALL);
	memcpy(more + SMALL, bytes, SMALL); /* two calls are none */
	assert_false(is_read(more, 2 * SMALL));
}

/* The lengths are those of the parts, whoever says otherwise. */
static void test_wrong_lengths(void **state)
{
	static const struct {
		size_t list_len, file_len;
		bool ok;
	} rows[] = {
		{6, 2, true},  {7, 1, true},  {0, 8, true}, /* as far as can be known */
		{7, 2, false}, {6, 3, false}, {5, 2, false},
		{6, 1, false}, {0, 0, false}, {9999999999, 2, false},
	};
	char bytes[SMALL];

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct call_end c = small_end;

		memcpy(bytes, "n[1-2]{}", 8);
		c.list_len = rows[i].list_len;
		c.file_len = rows[i].file_len;
		call_end_print(&c, fnv_bytes(FNV_BEGIN, bytes, 8), bytes + 8);
		assert_int_equal(is_read(bytes, SMALL), rows[i].ok);
	}
}

static void test_maxima(void **state)
{
	static const struct {
		size_t list_len, file_len;
		bool ok;
	} rows[] = {
		{CALL_LIST_MAX, 0, true},
		{CALL_LIST_MAX + 1, 0, false},
		{0, CALL_FILE_MAX, true},
		{0, CALL_FILE_MAX + 1, false},
		{CALL_LIST_MAX, CALL_FILE_MAX, true},
		{CALL_LIST_MAX + 1, CALL_FILE_MAX - 1, false},
	};
	char *bytes = mem_zalloc(CALL_LIST_MAX + CALL_FILE_MAX + CALL_END + 1);

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct call_end c = small_end, got;
		size_t size;

		c.list_len = rows[i].list_len;
		c.file_len = rows[i].file_len;
		size = finish(bytes, &c);
		assert_int_equal(call_end_read(&got, bytes, size), rows[i].ok);
		memset(bytes + size - CALL_END, 0, CALL_END);
	}
	free(bytes);
}

/* With a sum that is right: there is one way to write each thing. */
static void test_written_otherwise(void **state)
{
	static const struct {
		const char *name, *was, *is;
	} rows[] = {
		{"nothing", "kind=resume ", "kind=resume "},
		{"another version", "call 2", "call 3"},
		{"another name", "burst-call", "Burst-call"},
		{"no line of its own", "\nburst", " burst"},
		{"an unknown kind", "kind=resume ", "kind=retire "},
		{"the beginning of a kind", "kind=resume ", "kind=resum  "},
		{"a kind in capitals", "kind=resume ", "kind=RESUME "},
		{"a kind further right", "kind=resume ", "kind= resume"},
		{"no kind", "kind=resume ", "kind=       "},
		{"an unknown state", "state=sent", "state=some"},
		{"a state further right", "state=sent ", "state= sent"},
		{"no state", "state=sent", "state=    "},
		{"blanks for zeros", "at_ms=000000", "at_ms=      "},
		{"a sign", "at_ms=0", "at_ms=+"},
		{"minus nothing", "at_ms=00000000000000000001", "at_ms=-0000000000000000000"},
		{"more than there is", "at_ms=00000000000000000001", "at_ms=99999999999999999999"},
		{"hexadecimal", "at_ms=00", "at_ms=0x"},
		{"a word for a time", "boot_ms=-0000000000000000002",
		 "boot_ms=yesterday           "},
		{"a length below 0", "list=0000000006", "list=-000000006"},
		{"another order", "list=0000000006 file", "file=0000000006 list"},
		{"a tab", " state", "\tstate"},
		{"a second line", " state", "\nstate"},
	};
	char bytes[SMALL];

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		const size_t len = strlen(rows[i].was);
		char *at;

		print_message("# %s\n", rows[i].name);
		make_small(bytes);
		at = memmem(bytes, SMALL, rows[i].was, len);
		assert_non_null(at);
		assert_int_equal(strlen(rows[i].is), len);
		memcpy(at, rows[i].is, len);
		sign(bytes, SMALL);
		assert_int_equal(is_read(bytes, SMALL), i == 0);
	}
}

static void test_sum_written_otherwise(void **state)
{
	char bytes[SMALL];
	bool any = false;

	(void)state;
	make_small(bytes);
	for (size_t i = SMALL - 17; i < SMALL - 1; i++)
		if (bytes[i] >= 'a') {
			bytes[i] = (char)(bytes[i] - 'a' + 'A');
			any = true;
		}
	assert_true(any);
	assert_false(is_read(bytes, SMALL));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_bytes),
		cmocka_unit_test(test_kinds),
		cmocka_unit_test(test_all_kinds_and_states),
		cmocka_unit_test(test_all_times),
		cmocka_unit_test(test_any_bytes_before_the_end),
		cmocka_unit_test(test_every_bit_counts),
		cmocka_unit_test(test_every_byte_counts),
		cmocka_unit_test(test_every_part_is_refused),
		cmocka_unit_test(test_every_hole_is_refused),
		cmocka_unit_test(test_every_extension_is_refused),
		cmocka_unit_test(test_wrong_lengths),
		cmocka_unit_test(test_maxima),
		cmocka_unit_test(test_written_otherwise),
		cmocka_unit_test(test_sum_written_otherwise),
	};

	return cmocka_run_group_tests_name("call", tests, NULL, NULL);
}
