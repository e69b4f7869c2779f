/* test_csv_in.c - files of comma-separated values as others write them, and amounts with more
 * decimals than the ledger has. */
#include "ledger/csv_in.h"

#include "base/mem.h"
#include "ledger/atto.h"
#include "tests/unit/ledger/fixture.h"

/* The fields of all records, each in brackets, records by '\n' and their line. */
static int read_all(const char *bytes, size_t len, struct str *out, struct err *e)
{
	struct csv_in *c = mem_zalloc(sizeof(*c));
	char path[] = "/tmp/csvXXXXXX";
	int fd = mkstemp(path), rc;

	assert_true(fd >= 0);
	assert_int_equal(write(fd, bytes, len), len);
	assert_int_equal(close(fd), 0);
	str_clear(out);
	rc = csv_in_open(c, path, e);
	while (rc == 0 && (rc = csv_in_next(c, e)) == 1) {
		str_addf(out, "%lld", (long long)c->line);
		for (size_t i = 0; i < c->n; i++)
			str_addf(out, "[%s]", csv_in_field(c, i));
		assert_string_equal(csv_in_field(c, c->n), "");
		str_adds(out, "\n");
		rc = 0;
		if (feof(c->f))
			break;
	}
	csv_in_close(c);
	free(c);
	assert_int_equal(unlink(path), 0);
	return rc;
}

static void test_records(void **state)
{
	static const struct {
		const char *text, *want;
	} rows[] = {
		{"", ""},
		{"a", "1[a]\n"},
		{"a,b\n", "1[a][b]\n"},
		{"a,b\r\nc,d\r\n", "1[a][b]\n2[c][d]\n"},
		{"\xef\xbb\xbf"
		 "a,b\n",
		 "1[a][b]\n"},
		{"\n\na\n\n\nb", "3[a]\n6[b]\n"},
		{",\n", "1[][]\n"},
		{"a,\n", "1[a][]\n"},
		{"\"a\"\n", "1[a]\n"},
		{"\"a,b\",c\n", "1[a,b][c]\n"},
		{"\"a\nb\",c\nd\n", "1[a\nb][c]\n3[d]\n"},
		{"\"say \"\"x\"\"\",\"\"\n", "1[say \"x\"][]\n"},
		{"a\"b,c\n", "1[a\"b][c]\n"},
		{"\"a\"b,c\n", "1[ab][c]\n"},
		{"\"a\r\n\"\r\nb\n", "1[a\r\n]\n3[b]\n"},
		{"\xef\xbb\xbf", ""},
		{"\"\xef\xbb\xbf\"", "1[\xef\xbb\xbf]\n"},
	};
	struct str out;
	struct err e = {0};

	(void)state;
	str_init(&out, 1 << 16);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		assert_int_equal(read_all(rows[i].text, strlen(rows[i].text), &out, &e), 0);
		assert_string_equal(out.p, rows[i].want);
	}
	str_fini(&out);
}

static void test_what_is_no_file_of_records(void **state)
{
	static const struct {
		const char *text;
		size_t len;
		const char *why;
	} rows[] = {{"a\nb,\"c\nd", 8, ":2: a quote that does not end"},
		    {"a\nb\0c\n", 6, ":2: a byte that is NUL: this is no text"},
		    {"a\n\"b\0c\"\n", 8, ":2: a byte that is NUL: this is no text"},
		    {"\x1f\x8b\x08zip", 6, ": it is compressed: gunzip it first"}};
	struct str out, many;
	struct err e = {0};

	(void)state;
	str_init(&out, 1 << 16);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		assert_int_equal(read_all(rows[i].text, rows[i].len, &out, &e), -1);
		assert_non_null(strstr(e.msg, rows[i].why));
		assert_memory_equal(e.msg, "/tmp/csv", 8);
	}
	/* Nothing grows without a limit. */
	str_init(&many, 1 << 23);
	for (int i = 0; i < CSV_IN_FIELDS_MAX; i++)
		str_adds(&many, ",");
	assert_int_equal(read_all(many.p, many.len, &out, &e), -1);
	assert_non_null(strstr(e.msg, ":1: more fields than any invoice has"));
	str_clear(&many);
	for (int i = 0; i <= CSV_IN_RECORD_MAX; i++)
		str_adds(&many, "x");
	assert_int_equal(read_all(many.p, many.len, &out, &e), -1);
	assert_non_null(strstr(e.msg, ":1: a record of more than 4 MiB"));
	str_fini(&many);
	str_fini(&out);
}

static void test_amounts(void **state)
{
	static const atto NANO = 1000000000;
	static const struct {
		const char *text;
		int64_t nano, rest; /* rest: in 1e-18 */
	} rows[] = {
		{"0", 0, 0},
		{"1", 1000000000, 0},
		{"-12.5", -12500000000, 0},
		{"+0.1", 100000000, 0},
		{".5", 500000000, 0},
		{"5.", 5000000000, 0},
		{" 7 ", 7000000000, 0},
		{"0.000000000000000001", 0, 1},
		{"-0.000000000000000001", 0, -1},
		{"0.0000000000000000015", 0, 2}, /* half to even */
		{"0.0000000000000000025", 0, 2},
		{"0.00000000000000000251", 0, 3},
		{"0.00000000000000000000000000000000000000000000000009", 0, 0},
		{"1.2E-7", 120, 0},
		{"1.2e-16", 0, 120},
		{"12E2", 1200000000000, 0},
		{"1e-30", 0, 0},
		{"0.1234567890123456789012345678901234567890", 123456789, 12345679},
		{"8999999999.999999999", 8999999999999999999, 0},
	};
	static const char *const wrong[] = {"",     "-",   ".",     "1,5", "1.2.3", "0x1", "1e",
					    "1e99", "nan", "1 EUR", "--1", "1e+",   "12\t"};
	struct err e;
	atto v;

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		if (atto_parse(rows[i].text, &v, &e) < 0)
			fail_msg("%s", e.msg);
		if (v != (atto)rows[i].nano * NANO + rows[i].rest)
			fail_msg("%s", rows[i].text);
	}
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		if (atto_parse(wrong[i], &v, &e) == 0)
			fail_msg("taken: \"%s\"", wrong[i]);
		assert_non_null(strstr(e.msg, "want an amount such as -12.5"));
	}
	assert_int_equal(atto_parse("9000000000", &v, &e), -1);
	assert_int_equal(atto_parse("1e30", &v, &e), -1);
	assert_int_equal(atto_parse("99999999999999999999999999999999999999999999", &v, &e), -1);
}

static void test_rounding(void **state)
{
	static const struct {
		const char *v[4];
		int64_t sum, out[4];
	} rows[] = {
		{{"0.0000000004", "0.0000000004", "0.0000000004", "0"}, 1, {1, 0, 0, 0}},
		{{"0.0000000005", "0", "0", "0"}, 0, {0, 0, 0, 0}},
		{{"0.0000000015", "0", "0", "0"}, 2, {2, 0, 0, 0}},
		{{"-0.0000000015", "0", "0", "0"}, -2, {-2, 0, 0, 0}},
		{{"-0.0000000004", "0.0000000009", "1", "-1"}, 0, {-1, 1, 1000000000, -1000000000}},
		{{"0.0000000003", "0.0000000006", "0.0000000001", "0"}, 1, {0, 1, 0, 0}},
		{{"-0.0000000003", "-0.0000000006", "-0.0000000001", "0"}, -1, {0, -1, 0, 0}},
	};
	struct err e;

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		atto v[4], all = 0;
		int64_t sum, out[4];

		for (size_t k = 0; k < 4; k++) {
			assert_int_equal(atto_parse(rows[i].v[k], &v[k], &e), 0);
			all += v[k];
		}
		assert_int_equal(atto_nano(all, &sum, &e), 0);
		assert_int_equal(sum, rows[i].sum);
		atto_split(v, 4, sum, out);
		for (size_t k = 0; k < 4; k++)
			if (out[k] != rows[i].out[k])
				fail_msg("row %zu, part %zu: %lld", i, k, (long long)out[k]);
	}
	assert_int_equal(atto_nano((atto)INT64_MAX * 1000000000 + 1000000000, &(int64_t){0}, &e),
			 -1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_records),
		cmocka_unit_test(test_what_is_no_file_of_records),
		cmocka_unit_test(test_amounts),
		cmocka_unit_test(test_rounding),
	};

	return cmocka_run_group_tests_name("ledger, files of others", tests, NULL, NULL);
}
