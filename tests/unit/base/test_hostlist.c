/* test_hostlist.c - every line of reliability.md 6.1's bad list, and what Slurm prints, there and
 * back. */
#include "base/hostlist.h"

#include <malloc.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "base/mem.h"

/* The sanitizer has an allocator of its own; mallinfo2() came with glibc 2.33. */
#if !defined(__SANITIZE_ADDRESS__) && __GLIBC_PREREQ(2, 33)
#define COUNTS_MEMORY
#endif

#define N18 "999999999999999999"
#define A60 "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"

enum { TEXT_MAX = 8 << 20 };

/* Names with a space between them. */
static void assert_names(const char *text, const char *want)
{
	struct err e = {0};
	struct hostlist *h;
	struct str s;

	if (hostlist_parse(&h, text, strlen(text), &e) != 0)
		fail_msg("%s: %s", text, e.msg);
	str_init(&s, TEXT_MAX);
	for (size_t i = 0; i < h->n; i++)
		str_addf(&s, "%s%s", i > 0 ? " " : "", h->names[i]);
	assert_string_equal(s.p, want);
	str_fini(&s);
	hostlist_free(h);
}

static void test_good(void **state)
{
	static const struct {
		const char *text, *names;
	} rows[] = {
		{"c1", "c1"},
		{"c", "c"},
		{"1", "1"},
		{"c1,c2", "c1 c2"},
		{"c[1-3]", "c1 c2 c3"},
		{"c[1-3,7]", "c1 c2 c3 c7"},
		{"c[7,1-3]", "c7 c1 c2 c3"},
		{"n[001-003]", "n001 n002 n003"},
		{"n[001-010]", "n001 n002 n003 n004 n005 n006 n007 n008 n009 n010"},
		{"n[8-11]", "n8 n9 n10 n11"},
		{"n[08-11]", "n08 n09 n10 n11"},
		{"n[98-101]", "n98 n99 n100 n101"},
		{"n[098-101]", "n098 n099 n100 n101"},
		/* Slurm folds n[01-100] of its node table like this. */
		{"n[09-10,99-100]", "n09 n10 n99 n100"},
		{"n[099-100]", "n099 n100"},
		{"n[0-1]", "n0 n1"},
		{"n[00-01]", "n00 n01"},
		{"n[0]", "n0"},
		{"n[5-5]", "n5"},
		{"n[1-2]-ib", "n1-ib n2-ib"},
		{"n[1-2].cluster,m1", "n1.cluster n2.cluster m1"},
		{"c1,c1,c[1,1]", "c1 c1 c1 c1"},
		{"h100-[1-2],a100-[001-002]", "h100-1 h100-2 a100-001 a100-002"},
		{"a_b-c.d", "a_b-c.d"},
		{"A[1-2]", "A1 A2"},
		{"n[" N18 "]", "n" N18},
		{A60 "[1-2]", A60 "1 " A60 "2"},
		{A60 "[998-999]", A60 "998 " A60 "999"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		assert_names(rows[i].text, rows[i].names);
}

/* A text with a NUL or of great length is made by hand below. */
static const struct {
	const char *name, *text;
	enum err_code code;
	const char *want; /* in the message */
} bad[] = {
	{"empty", "", ERR_INVALID, "byte 0"},
	{"comma", ",", ERR_INVALID, "byte 0"},
	{"commas", ",,", ERR_INVALID, "byte 0"},
	{"leading comma", ",a", ERR_INVALID, "byte 0"},
	{"trailing comma", "a,", ERR_INVALID, "byte 2"},
	{"double comma", "a,,b", ERR_INVALID, "byte 2"},
	{"a thousand million", "n[0-999999999]", ERR_LIMIT, "65536"},
	{"256 cubed (L13)", "n[0-255][0-255][0-255]", ERR_INVALID, "more than one pair"},
	{"two small brackets", "n[1][2]", ERR_INVALID, "more than one pair"},
	{"two brackets with a name between", "n[1-2]-x[1-2]", ERR_INVALID, "more than one pair"},
	{"F52: 65,537", "n[0-65536]", ERR_LIMIT, "65536"},
	{"65,537 in two ranges", "n[0-65535,7]", ERR_LIMIT, "65536"},
	{"65,537 in two items", "n[0-65535],m", ERR_LIMIT, "65536"},
	{"65,537 in two items with brackets", "n[0-32767],m[0-32768]", ERR_LIMIT, "65536"},
	{"18 digits", "n[0-" N18 "]", ERR_LIMIT, "65536"},
	{"19 digits", "n[0-1" N18 "]", ERR_INVALID, "too long"},
	{"21 digits", "n[999999999999999999999]", ERR_INVALID, "too long"},
	{"2^64 and 1", "n[18446744073709551616-18446744073709551617]", ERR_INVALID, "too long"},
	{"many zeros", "n[0000000000000000000]", ERR_INVALID, "too long"},
	{"open", "n[1-3", ERR_INVALID, "byte 5"},
	{"open and empty", "n[", ERR_INVALID, "byte 2"},
	{"open range", "n[1-", ERR_INVALID, "byte 4"},
	{"close", "n]", ERR_INVALID, "byte 1"},
	{"close twice", "n[1]]", ERR_INVALID, "byte 4"},
	{"empty brackets", "n[]", ERR_INVALID, "want a number"},
	{"comma in brackets", "n[,]", ERR_INVALID, "want a number"},
	{"trailing comma in brackets", "n[1,]", ERR_INVALID, "want a number"},
	{"double comma in brackets", "n[1,,2]", ERR_INVALID, "want a number"},
	{"nested", "n[1-[2-3]]", ERR_INVALID, "want a number"},
	{"nested at once", "n[[1-2]]", ERR_INVALID, "want a number"},
	{"reversed", "n[3-1]", ERR_INVALID, "reversed"},
	{"reversed by length", "n[10-9]", ERR_INVALID, "reversed"},
	{"hexadecimal", "n[0x1-0x3]", ERR_INVALID, "byte 3"},
	{"plus", "n[+1-3]", ERR_INVALID, "byte 2"},
	{"minus", "n[-1-3]", ERR_INVALID, "byte 2"},
	{"minus in a range", "n[1--3]", ERR_INVALID, "byte 4"},
	{"three ends", "n[1-2-3]", ERR_INVALID, "byte 5"},
	{"two paddings", "n[1-010]", ERR_INVALID, "padding"},
	{"two paddings, other way", "n[001-10]", ERR_INVALID, "padding"},
	{"longer padding", "n[01-001]", ERR_INVALID, "padding"},
	{"space", "n[1-2] ", ERR_INVALID, "byte 6"},
	{"space in front", " n1", ERR_INVALID, "byte 0"},
	{"space in brackets", "n[1, 2]", ERR_INVALID, "byte 4"},
	{"no prefix", "[1-3]", ERR_INVALID, "byte 0"},
	{"prefix is punctuation", "-[1-3]", ERR_INVALID, "byte 0"},
	{"option", "--help", ERR_INVALID, "byte 0"},
	{"dot", ".", ERR_INVALID, "byte 0"},
	{"up", "../../etc[1-2]", ERR_INVALID, "byte 0"},
	{"up after a name", "n/../m", ERR_INVALID, "byte 1"},
	{"newline", "n1\nn2", ERR_INVALID, "byte 2"},
	{"newline at the end", "n1\n", ERR_INVALID, "byte 2"},
	{"carriage return", "n1\r", ERR_INVALID, "byte 2"},
	{"tab", "n1\tn2", ERR_INVALID, "byte 2"},
	{"semicolon", "n1;reboot", ERR_INVALID, "byte 2"},
	{"substitution", "$(reboot)", ERR_INVALID, "byte 0"},
	{"backquote", "n`id`", ERR_INVALID, "byte 1"},
	{"percent", "n%00", ERR_INVALID, "byte 1"},
	{"equals", "n1=x", ERR_INVALID, "byte 2"},
	{"quote", "n'1'", ERR_INVALID, "byte 1"},
	{"backslash", "n\\1", ERR_INVALID, "byte 1"},
	{"escape", "n\x1b[1m", ERR_INVALID, "byte 1"},
	{"delete", "n\x7f", ERR_INVALID, "byte 1"},
	{"unicode", "n\xc3\xa9", ERR_INVALID, "byte 1"},
	{"unicode digit", "n[\xd9\xa1]", ERR_INVALID, "byte 2"},
	{"bad UTF-8", "\xff", ERR_INVALID, "byte 0"},
	{"64 bytes", A60 "aaaa", ERR_INVALID, "too long"},
	{"64 bytes with the number", A60 "[999-1000]", ERR_INVALID, "too long"},
	{"64 bytes with the suffix", A60 "[1]aaa", ERR_INVALID, "too long"},
};

static void assert_refused(const char *name, const char *text, size_t len, enum err_code code,
			   const char *want)
{
	struct hostlist *h = (struct hostlist *)(uintptr_t)text;
	struct err e = {0};

	if (hostlist_parse(&h, text, len, &e) == 0)
		fail_msg("%s: was taken", name);
	assert_null(h);
	if (e.code != (int)code || strstr(e.msg, want) == NULL)
		fail_msg("%s: %d %s", name, e.code, e.msg);
	/* And it may go unexplained. */
	assert_int_equal(hostlist_parse(&h, text, len, NULL), -1);
}

static void test_bad(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_refused(bad[i].name, bad[i].text, strlen(bad[i].text), bad[i].code,
			       bad[i].want);
	assert_refused("NUL", "n\0m", 3, ERR_INVALID, "byte 1");
	assert_refused("NUL at the end", "n1\0", 3, ERR_INVALID, "byte 2");
	assert_refused("NUL in brackets", "n[1\0]", 5, ERR_INVALID, "byte 3");
}

/* Cut anywhere, a list is refused or still makes sense: nothing is read past the end. */
static void test_ends_anywhere(void **state)
{
	static const char text[] = "h100-[1-64,70]-ib,a100-[001-004],x";

	(void)state;
	for (size_t len = 0; len < sizeof(text); len++) {
		char *copy = malloc(len > 0 ? len : 1); /* so that ASan sees the end */
		struct hostlist *h;

		assert_non_null(copy);
		memcpy(copy, text, len);
		if (hostlist_parse(&h, copy, len, NULL) == 0)
			assert_true(h->n > 0);
		hostlist_free(h);
		free(copy);
	}
}

static void test_long_prefix(void **state)
{
	enum { LEN = 70000 };
	char *text = mem_zalloc(LEN + 8);

	(void)state;
	for (size_t i = 0; i < LEN; i++)
		text[i] = 'a';
	assert_refused("64 KiB name", text, LEN, ERR_INVALID, "too long");
	text[LEN] = '[';
	text[LEN + 1] = '1';
	text[LEN + 2] = ']';
	assert_refused("64 KiB prefix", text, LEN + 3, ERR_INVALID, "too long");
	free(text);
}

static void test_limits(void **state)
{
	struct err e = {0};
	struct hostlist *h;

	(void)state;
	assert_int_equal(hostlist_parse(&h, "n[0-65535]", 10, &e), 0);
	assert_int_equal(h->n, 65536);
	assert_string_equal(h->names[65535], "n65535");
	hostlist_free(h);
	assert_int_equal(hostlist_parse(&h, "n[00000-32767],m[1-32768]", 25, &e), 0);
	assert_int_equal(h->n, 65536);
	assert_string_equal(h->names[0], "n00000");
	hostlist_free(h);
	assert_int_equal(hostlist_parse_few(&h, "n[1-2],m", 8, 3, &e), 0);
	hostlist_free(h);
	assert_int_equal(hostlist_parse_few(&h, "n[1-2],m", 8, 2, &e), -1);
	assert_int_equal(e.code, ERR_LIMIT);
	assert_string_equal(e.msg, "node list, byte 8: more than 2 names");
	hostlist_free(NULL);
}

/* Counted before anything is allocated: the heap does not change by a byte, and a thousand refusals
 * take no longer than one list of a thousand names may. */
static void test_refused_for_nothing(void **state)
{
	static const char *const texts[] = {"n[0-999999999]", "n[0-255][0-255][0-255]",
					    "n[0-65535],m[0-65535]", "n[0-65535,0-65535,0-65535]",
					    "n[0-999999999999999999]"};
	struct hostlist *h;
	struct err e;
	clock_t start;

	(void)state;
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
#ifdef COUNTS_MEMORY
		const struct mallinfo2 before = mallinfo2();
#endif
		start = clock();
		for (int k = 0; k < 1000; k++)
			assert_int_equal(hostlist_parse(&h, texts[i], strlen(texts[i]), &e), -1);
		assert_true(clock() - start < CLOCKS_PER_SEC / 20); /* 50 us each; it takes 0.2 */
#ifdef COUNTS_MEMORY
		const struct mallinfo2 after = mallinfo2();

		assert_int_equal(after.arena, before.arena);
		assert_int_equal(after.uordblks, before.uordblks);
		assert_int_equal(after.hblkhd, before.hblkhd);
#endif
	}
}

static void assert_fold(const char *const *names, size_t n, const char *want)
{
	struct str s;

	str_init(&s, TEXT_MAX);
	hostlist_fold(&s, names, n);
	assert_false(s.full);
	assert_string_equal(s.p, want);
	str_fini(&s);
}

static void test_fold(void **state)
{
	static const struct {
		const char *names[8], *want;
	} rows[] = {
		{{"c1"}, "c1"},
		{{"c1", "c2", "c4"}, "c[1-2,4]"},
		{{"c1", "c2", "c3"}, "c[1-3]"},
		{{"c1", "c3"}, "c[1,3]"},
		{{"c8", "c9", "c10"}, "c[8-10]"},
		{{"c08", "c09", "c10"}, "c[08-10]"},
		{{"c099", "c100"}, "c[099-100]"},
		{{"c9", "c010"}, "c[9,010]"},
		{{"c1", "c01", "c001"}, "c[1,01,001]"},
		{{"c2", "c1"}, "c[2,1]"},
		{{"c1", "c1"}, "c[1,1]"},
		{{"a1", "b1", "a2"}, "a1,b1,a2"},
		{{"a1", "a2", "b1", "b2"}, "a[1-2],b[1-2]"},
		{{"login", "c1", "c2"}, "login,c[1-2]"},
		{{"login", "login"}, "login,login"},
		{{"c", "c1", "c2"}, "c,c[1-2]"},
		{{"h100-1", "h100-2", "h200-3"}, "h100-[1-2],h200-3"},
		{{"1", "2"}, "1,2"},
		{{"11", "12"}, "1[1-2]"},
		{{"n1-ib", "n2-ib"}, "n1-ib,n2-ib"},
		{{"n0", "n1"}, "n[0-1]"},
		{{"n" N18, "n1000000000000000000"}, "n" N18 ",n1000000000000000000"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		size_t n = 0;
		struct str s;

		while (n < 8 && rows[i].names[n] != NULL)
			n++;
		assert_fold(rows[i].names, n, rows[i].want);
		str_init(&s, TEXT_MAX);
		for (size_t k = 0; k < n; k++)
			str_addf(&s, "%s%s", k > 0 ? " " : "", rows[i].names[k]);
		assert_names(rows[i].want, s.p);
		str_fini(&s);
	}
	assert_fold(NULL, 0, "");
}

static void test_fold_says_full(void **state)
{
	static const char *const names[] = {"c1", "c2", "c4"};
	struct str s;

	(void)state;
	str_init(&s, 7);
	hostlist_fold(&s, names, 3); /* c[1-2,4] has 8 */
	assert_true(s.full);
	str_fini(&s);
}

static uint64_t next_random(uint64_t *seed)
{
	*seed = *seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return *seed >> 33;
}

static char *random_name(uint64_t *seed)
{
	static const char *const prefixes[] = {"c",   "n-",   "h100-", "a_b.",
					       "gpu", "gpu0", "9",     "x.y-"};
	static const char *const suffixes[] = {"", "", "", "", "", "-ib", ".c", "a"};
	struct str s;

	str_init(&s, HOSTLIST_NAME_MAX);
	str_adds(&s, prefixes[next_random(seed) % 8]);
	if (next_random(seed) % 8 != 0)
		str_addf(&s, "%0*u", (int)(next_random(seed) % 5),
			 (unsigned)(next_random(seed) % 120));
	str_adds(&s, suffixes[next_random(seed) % 8]);
	assert_true(hostlist_is_name(s.p));
	return str_take(&s);
}

static int by_name(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Any names in any order, repeats too: folding loses nothing. */
static void test_round_trip(void **state)
{
	enum { MAX = 400 };
	char *names[MAX];

	(void)state;
	for (uint64_t round = 0; round < 300; round++) {
		uint64_t seed = round;
		size_t n = 1 + (size_t)(next_random(&seed) % MAX);
		struct err e = {0};
		struct hostlist *h;
		struct str s;

		for (size_t i = 0; i < n; i++)
			names[i] = random_name(&seed);
		if (round % 2 == 0)
			qsort(names, n, sizeof(*names), by_name);
		str_init(&s, TEXT_MAX);
		hostlist_fold(&s, (const char *const *)names, n);
		if (hostlist_parse(&h, s.p, s.len, &e) != 0)
			fail_msg("seed %d: %s: %s", (int)round, e.msg, s.p);
		assert_int_equal(h->n, n);
		for (size_t i = 0; i < n; i++) {
			assert_string_equal(h->names[i], names[i]);
			free(names[i]);
		}
		hostlist_free(h);
		str_fini(&s);
	}
}

/* Orders of magnitude, not figures: 10,000 names take about half a millisecond each way. */
static void test_not_slow(void **state)
{
	struct hostlist *h;
	struct str s;
	clock_t start = clock();

	(void)state;
	for (int i = 0; i < 10; i++) {
		assert_int_equal(hostlist_parse(&h, "burst-h100-[00001-10000]", 24, NULL), 0);
		str_init(&s, TEXT_MAX);
		hostlist_fold(&s, h->names, h->n);
		assert_string_equal(s.p, "burst-h100-[00001-10000]");
		str_fini(&s);
		hostlist_free(h);
	}
	print_message("# 10,000 names: %ld us there and back\n",
		      (long)((clock() - start) * 100000 / CLOCKS_PER_SEC));
	assert_true(clock() - start < CLOCKS_PER_SEC);
}

static void test_is_name(void **state)
{
	static const struct {
		const char *text;
		bool want;
	} rows[] = {
		{"c1", true},        {"a", true},    {"a-b_c.d", true},   {"1", true},
		{"", false},         {"-a", false},  {".a", false},       {"a,b", false},
		{"a[1]", false},     {"a b", false}, {"a/b", false},      {"a\n", false},
		{"..", false},       {"_a", false},  {"\xc3\xa9", false}, {A60 "aaa", true},
		{A60 "aaaa", false},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		assert_int_equal(hostlist_is_name(rows[i].text), rows[i].want);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_good),          cmocka_unit_test(test_bad),
		cmocka_unit_test(test_ends_anywhere), cmocka_unit_test(test_long_prefix),
		cmocka_unit_test(test_limits),        cmocka_unit_test(test_refused_for_nothing),
		cmocka_unit_test(test_fold),          cmocka_unit_test(test_fold_says_full),
		cmocka_unit_test(test_round_trip),    cmocka_unit_test(test_not_slow),
		cmocka_unit_test(test_is_name),
	};

	return cmocka_run_group_tests_name("hostlist", tests, NULL, NULL);
}
