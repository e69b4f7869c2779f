/* test_csv.c - fields that a reader takes for what they are, and a spreadsheet for no formula;
 * numbers; texts in ASCII. */
#include "ledger/csv.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "ledger/ascii.h"
#include "ledger/number.h"

#define LENGTH(a) (sizeof(a) / sizeof((a)[0]))

static void test_texts(void **state)
{
	static const struct {
		const char *text, *want;
	} rows[] = {
		{"", ""},
		{"train", "train"},
		{"TRAIN90", "TRAIN90"},
		{"AZaz09;", "\"AZaz09;\""},
		{"a b", "\"a b\""},
		{"a,b", "\"a,b\""},
		{"a;b", "\"a;b\""},
		{"say \"no\"", "\"say \"\"no\"\"\""},
		{"two\nlines", "\"two\nlines\""},
		{"two\r\nlines", "\"two\r\nlines\""},
		{"=1+1", "\"'=1+1\""},
		{"+1", "\"'+1\""},
		{"-1", "\"'-1\""},
		{"@A1", "\"'@A1\""},
		{"\t=1", "\"'\t'=1\""},
		{"\r=1", "\"'\r'=1\""},
		{"\n=1", "\"'\n'=1\""},
		{"  =1", "\"'  =1\""},
		{"\xef\xbc\x9d"
		 "1",
		 "\"'\xef\xbc\x9d"
		 "1\""}, /* wide = */
		{"\xef\xbc\x8b", "\"'\xef\xbc\x8b\""},
		{"\xef\xbc\x8d", "\"'\xef\xbc\x8d\""},
		{"\xef\xbc\xa0", "\"'\xef\xbc\xa0\""},
		{"a=1", "a=1"},
		/* As spreadsheets split lines where the decimal is a comma. */
		{"a;=1", "\"a;'=1\""},
		{"a; \"=1", "\"a;' \"\"=1\""},
		{"a;b;-1;@x", "\"a;b;'-1;'@x\""},
		{"a\n=1", "\"a\n'=1\""},
		{"a\t+1", "\"a\t'+1\""},
		{"=1;=2", "\"'=1;'=2\""},
		{"a;", "\"a;\""},
		{"a,=1", "\"a,=1\""},
		{"'=1", "\"'=1\""},
		{"J\xc3\xbcrgen", "J\xc3\xbcrgen"},
		{"\xff"
		 "a\xc3",
		 "?a?"},
		{"\x1b[31m\x7f", "?[31m?"},
	};

	(void)state;
	for (size_t i = 0; i < LENGTH(rows); i++) {
		struct str s;
		struct sink to;
		struct csv c;
		char want[64];

		print_message("# %zu\n", i);
		str_init(&s, 1000);
		to = sink_str(&s);
		csv_init(&c, &to, false);
		csv_text(&c, rows[i].text);
		csv_i64(&c, 7);
		assert_int_equal(csv_end(&c, NULL), 0);
		(void)snprintf(want, sizeof(want), "%s,7\n", rows[i].want);
		assert_string_equal(s.p, want);
		csv_fini(&c);
		str_fini(&s);
	}
}

static void test_lines(void **state)
{
	struct str s;
	struct sink to;
	struct csv c;

	(void)state;
	str_init(&s, 1000);
	to = sink_str(&s);
	csv_init(&c, &to, true);
	csv_own(&c, "what;-it is");
	csv_null(&c);
	csv_money(&c, -1500000000, false);
	assert_int_equal(csv_end(&c, NULL), 0);
	csv_null(&c);
	csv_i64(&c, INT64_MIN);
	csv_money(&c, 12000000000, true);
	assert_int_equal(csv_end(&c, NULL), 0);
	assert_string_equal(s.p, "\xef\xbb\xbf\"what;-it is\",,-1.5\r\n"
				 ",-9223372036854775808,12.0\r\n");
	csv_fini(&c);
	str_fini(&s);
}

/* A text too long, or a sink that takes no more, is told, and half a line is never written. */
static void test_limits(void **state)
{
	enum { LONG = 2 << 20 };
	char *text = malloc(LONG + 1);
	struct err e = {0};
	struct str s;
	struct sink to;
	struct csv c;

	(void)state;
	assert_non_null(text);
	memset(text, 'x', LONG);
	text[LONG] = '\0';
	str_init(&s, 10);
	to = sink_str(&s);
	csv_init(&c, &to, false);
	csv_text(&c, text);
	assert_int_equal(csv_end(&c, &e), -1);
	assert_int_equal(e.code, ERR_LIMIT);
	assert_string_equal(s.p, "");
	csv_own(&c, "eight...");
	assert_int_equal(csv_end(&c, &e), 0);
	csv_own(&c, "more");
	assert_int_equal(csv_end(&c, &e), -1);
	assert_string_equal(s.p, "eight...\n");
	csv_fini(&c);
	str_fini(&s);
	free(text);
}

static void test_a_full_file(void **state)
{
	FILE *f = fopen("/dev/full", "we");
	struct err e = {0};
	struct sink to;
	struct csv c;
	int rc = 0;

	(void)state;
	if (f == NULL)
		skip();
	to = sink_file(f);
	csv_init(&c, &to, false);
	for (int i = 0; i < 10000 && rc == 0; i++) {
		csv_own(&c, "a line that fills what stdio keeps sooner or later");
		rc = csv_end(&c, &e);
	}
	assert_int_equal(rc, -1);
	assert_int_equal(e.code, ERR_IO);
	csv_fini(&c);
	(void)fclose(f);
}

static void test_money(void **state)
{
	static const struct {
		int64_t nano;
		const char *exact, *point, *cents;
	} rows[] = {
		{0, "0", "0.0", "0.00"},
		{1, "0.000000001", "0.000000001", "0.00"},
		{-1, "-0.000000001", "-0.000000001", "0.00"},
		{29500000000, "29.5", "29.5", "29.50"},
		{12000000000, "12", "12.0", "12.00"},
		{100000000000, "100", "100.0", "100.00"},
		{-1005000000, "-1.005", "-1.005", "-1.01"},
		{1004999999, "1.004999999", "1.004999999", "1.00"},
		{999995000, "0.999995", "0.999995", "1.00"},
		{-4999999, "-0.004999999", "-0.004999999", "0.00"},
		{INT64_MAX, "9223372036.854775807", "9223372036.854775807", "9223372036.85"},
		{INT64_MIN, "-9223372036.854775808", "-9223372036.854775808", "-9223372036.85"},
	};
	char text[NUMBER_MONEY_SIZE];

	(void)state;
	for (size_t i = 0; i < LENGTH(rows); i++) {
		assert_string_equal(number_money(text, rows[i].nano, false), rows[i].exact);
		assert_string_equal(number_money(text, rows[i].nano, true), rows[i].point);
		assert_string_equal(number_money_round(text, rows[i].nano, 2), rows[i].cents);
	}
	assert_string_equal(number_money_round(text, 1500000000, 0), "2");
	assert_string_equal(number_money_round(text, -1234567891, 9), "-1.234567891");
}

static void test_hours(void **state)
{
	static const struct {
		int64_t seconds;
		const char *hours;
	} rows[] = {{0, "0.00"},    {17, "0.00"},   {18, "0.01"},
		    {-17, "0.00"},  {-18, "-0.01"}, {3581, "0.99"},
		    {3582, "1.00"}, {6400, "1.78"}, {INT64_MAX, "2562047788015215.50"}};
	char text[NUMBER_MONEY_SIZE];

	(void)state;
	for (size_t i = 0; i < LENGTH(rows); i++)
		assert_string_equal(number_hours(text, rows[i].seconds), rows[i].hours);
}

static void test_reals(void **state)
{
	static const struct {
		double v;
		const char *want;
	} rows[] = {
		{0, "0.0"},
		{-0.0, "0.0"},
		{1, "1.0"},
		{0.25, "0.25"},
		{-3.5, "-3.5"},
		{100, "100.0"},
		{1e15, "1000000000000000.0"},
		{123456.789, "123456.789"},
		{1.0 / 3, "0.3333333333333333"},
		{1.0 / 12, "0.08333333333333333"},
		{1e-9, "0.000000001"},
		{5e-324, NULL},
		{1.7976931348623157e308, NULL},
		{98.32, "98.32"},
	};
	char text[NUMBER_REAL_SIZE];

	(void)state;
	for (size_t i = 0; i < LENGTH(rows); i++) {
		(void)number_real(text, rows[i].v);
		if (rows[i].want != NULL)
			assert_string_equal(text, rows[i].want);
		assert_true(strtod(text, NULL) == rows[i].v);
	}
	srandom(5);
	for (int i = 0; i < 20000; i++) {
		const double v =
			ldexp((double)random() / (1 + (double)random()), (int)(random() % 80) - 40);

		(void)number_real(text, v);
		assert_true(strtod(text, NULL) == v);
		assert_non_null(strchr(text, '.'));
		assert_null(strpbrk(text, "eE+"));
	}
}

static void test_ascii(void **state)
{
	static const struct {
		const char *text, *id, *name, *json;
	} rows[] = {
		{"gpu-1", "gpu-1", "gpu-1", "\"gpu-1\""},
		{"a b%", "a%20b%25", "a b%", "\"a b%\""},
		{"J\xc3\xbc", "J%C3%BC", "J?", "\"J\\u00fc\""},
		{"\xf0\x9f\x9a\x80", "%F0%9F%9A%80", "?", "\"\\ud83d\\ude80\""},
		{"\xff", "%FF", "?", "\"?\""},
		{"\"\\\n", "\"\\%0A", "\"\\?", "\"\\\"\\\\\\u000a\""},
		{"\xe5\x90\x8d\xe5\x89\x8d", "%E5%90%8D%E5%89%8D", "??", "\"\\u540d\\u524d\""},
	};

	(void)state;
	for (size_t i = 0; i < LENGTH(rows); i++) {
		struct str s;

		str_init(&s, 100);
		ascii_id(&s, rows[i].text);
		assert_string_equal(s.p, rows[i].id);
		str_clear(&s);
		ascii_name(&s, rows[i].text);
		assert_string_equal(s.p, rows[i].name);
		str_clear(&s);
		ascii_json(&s, rows[i].text);
		assert_string_equal(s.p, rows[i].json);
		str_fini(&s);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_texts),  cmocka_unit_test(test_lines),
		cmocka_unit_test(test_limits), cmocka_unit_test(test_a_full_file),
		cmocka_unit_test(test_money),  cmocka_unit_test(test_hours),
		cmocka_unit_test(test_reals),  cmocka_unit_test(test_ascii),
	};

	return cmocka_run_group_tests_name("ledger, csv", tests, NULL, NULL);
}
