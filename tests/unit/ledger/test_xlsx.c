/* test_xlsx.c - the workbook adds up, has every charge, and no formula. */
#include "ledger/xlsx.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/text_file.h"
#include "ledger/tally.h"
#include "tests/unit/ledger/statement_file.h"
#include "tests/unit/ledger/table.h"

#define READER "tests/unit/ledger/xlsx.py"

enum { TEXT_MAX = 1 << 26 };

static char dir[] = "/tmp/test_xlsx-XXXXXX";

static int setup(void **state)
{
	(void)state;
	return mkdtemp(dir) == NULL;
}

static int teardown(void **state)
{
	(void)state;
	return rmdir(dir);
}

static int write_to(const char *path, const struct charge *const *v, size_t n, bool distribute,
		    struct err *e)
{
	const struct tally_options o = statement_file_tally(distribute);
	const struct statement in = statement_file_input();
	struct source_array a = {v, n};
	struct source from = source_array(&a);
	struct tally t;
	int rc;

	assert_int_equal(tally_make(&t, &o, &from, NULL), 0);
	rc = xlsx_write(path, dir, &in, &t, &from, e);
	tally_fini(&t);
	return rc;
}

/* The cells of the workbook; false: there is no python3 to read it. */
static bool cells_of(struct table *t, const struct charge *const *v, size_t n, bool distribute)
{
	char path[64], command[256], csv[64], *text;
	struct err e = {0};
	size_t len;

	if (system("python3 -c '' 2>/dev/null") != 0) {
		print_message("# skipped: no python3\n");
		return false;
	}
	(void)snprintf(path, sizeof(path), "%s/a.xlsx", dir);
	(void)snprintf(csv, sizeof(csv), "%s/a.csv", dir);
	(void)snprintf(command, sizeof(command), "python3 " READER " %s >%s", path, csv);
	if (write_to(path, v, n, distribute, &e) != 0)
		fail_msg("%s", e.msg);
	assert_int_equal(system(command), 0);
	assert_int_equal(text_file_read(csv, TEXT_MAX, &text, &len, NULL), 0);
	table_read(t, text);
	free(text);
	assert_int_equal(unlink(path), 0);
	assert_int_equal(unlink(csv), 0);
	return true;
}

static const char *cell(const struct table *t, const char *sheet, const char *column, size_t row)
{
	char number[24];

	(void)snprintf(number, sizeof(number), "%zu", row);
	for (size_t i = 0; i < t->nrows; i++)
		if (strcmp(table_get(t, i, "sheet"), sheet) == 0 &&
		    strcmp(table_get(t, i, "column"), column) == 0 &&
		    strcmp(table_get(t, i, "row"), number) == 0)
			return table_get(t, i, "value");
	return "";
}

/* Sum of a column of numbers below its head, in nano-units; of those that are not exact the text
 * beside it would be needed: the tests have none of these in sums. */
static int64_t sum(const struct table *t, const char *sheet, const char *column)
{
	int64_t nano = 0;

	for (size_t i = 0; i < t->nrows; i++) {
		const double v = strtod(table_get(t, i, "value"), NULL) * 1e9;

		if (strcmp(table_get(t, i, "sheet"), sheet) == 0 &&
		    strcmp(table_get(t, i, "column"), column) == 0 &&
		    strcmp(table_get(t, i, "row"), "1") != 0) {
			assert_string_equal(table_get(t, i, "kind"), "n");
			nano += (int64_t)(v < 0 ? v - 0.5 : v + 0.5);
		}
	}
	return nano;
}

static size_t rows_of(const struct table *t, const char *sheet)
{
	size_t most = 0;

	for (size_t i = 0; i < t->nrows; i++) {
		const size_t row = strtoul(table_get(t, i, "row"), NULL, 10);

		if (strcmp(table_get(t, i, "sheet"), sheet) == 0 && row > most)
			most = row;
	}
	return most == 0 ? 0 : most - 1;
}

static void test_any_charges(void **state)
{
	(void)state;
	for (unsigned i = 0; i < 4; i++) {
		struct charges c;
		struct table t;
		int64_t direct = 0, of_none = 0;

		charges_make(&c, 80 + i, i < 2 ? 400 : i - 2);
		if (!cells_of(&t, c.all, c.n, i & 1)) {
			charges_fini(&c);
			skip();
		}
		for (size_t k = 0; k < c.n; k++)
			direct += c.v[k].owner == ALLOCATE_JOB ? c.v[k].nano : 0;
		for (size_t k = 0; k < c.n; k++)
			of_none += c.v[k].node[0] == '\0' && c.v[k].start_s >= CHARGES_START
					   ? c.v[k].nano
					   : 0;
		assert_int_equal(rows_of(&t, "charges"), c.n);
		assert_true(sum(&t, "charges", "G") == charges_sum(&c));
		assert_true(sum(&t, "accounts", "F") == charges_sum(&c));
		assert_true(sum(&t, "accounts", "B") == direct);
		assert_true(sum(&t, "jobs", "F") == direct);
		assert_true(sum(&t, "days", "J") == charges_sum(&c));
		assert_true(sum(&t, "days", "H") == of_none);
		for (size_t k = 0; k < t.nrows; k++)
			assert_string_not_equal(table_get(&t, k, "kind"), "f");
		table_fini(&t);
		charges_fini(&c);
	}
}

static void test_what_is_where(void **state)
{
	static const struct {
		const char *sheet, *column;
		size_t row;
		const char *want;
	} rows[] = {
		{"summary", "A", 1, "What"},
		{"summary", "B", 2, "hpc1"},
		{"summary", "B", 4, "DRAFT"},
		{"summary", "B", 10, "9007199254.740993"}, /* its last digits do not fit */
		{"summary", "C", 10, "9007199254.740993001"},
		{"summary", "B", 11, "9007199254.740993"},
		{"summary", "D", 11, "A job had the machine, or a part of it."},
		{"accounts", "A", 2, "=physics"},
		{"jobs", "A", 2, "401"},
		{"jobs", "B", 2, "alice"},
		{"jobs", "C", 2, "=physics"},
		{"jobs", "E", 2, "8"},
		{"days", "A", 2, "46327"}, /* 2026-11-01 */
		{"days", "B", 2, "9007199254.740993"},
		{"budgets", "A", 2, "physics/November"},
		{"budgets", "B", 3, "partition gpu & all of its accounts"},
		{"budgets", "C", 2, "25000"}, /* with what was added */
		{"budgets", "E", 2, "5000"},
		{"budgets", "G", 2, "18200.000000005"},
		{"budgets", "I", 2, "4123.456789012"},
		{"budgets", "J", 2, ""},
		{"charges", "A", 2, "46327"}, /* an hour after midnight in Berlin */
		{"charges", "C", 2, "run"},
		{"charges", "F", 2, "yes"},
		{"charges", "I", 2, "1234567.890123457"}, /* 16 digits: one more than is sure */
		{"charges", "J", 2, "1234567.890123457"},
		{"days", "C", 2, "9007199254.740993001"},
		{"days", "E", 2, ""},
		{"charges", "K", 2, "job"},
		{"charges", "L", 2, "401_7"},
		{"charges", "N", 2, "+1\xef\xbf\xbd\xef\xbf\xbd<&>"},
		{"charges", "V", 2, "gpu-1"},
		{"charges", "AC", 2, "spot"},
		{"charges", "AF", 2, "EUR"},
		{"charges", "AF", 1, "Currency"},
	};
	struct charge c = charges_one();
	const struct charge *p = &c;
	struct table t;

	(void)state;
	c.nano = 9007199254740993001;
	c.list_nano = 1234567890123457;
	c.job_id = "401_7";
	c.job_name = "+1\xff\x01<&>";
	c.account = "=physics";
	c.estimated = true;
	if (!cells_of(&t, &p, 1, false))
		skip();
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		print_message("# %s %s%zu\n", rows[i].sheet, rows[i].column, rows[i].row);
		assert_string_equal(cell(&t, rows[i].sheet, rows[i].column, rows[i].row),
				    rows[i].want);
	}
	table_fini(&t);
}

static void test_long_texts_are_cut(void **state)
{
	enum { LONG = 100002 };
	char *name = malloc(LONG + 1);
	struct charge c = charges_one();
	const struct charge *p = &c;
	struct table t;

	(void)state;
	assert_non_null(name);
	/* One byte, then two each, at last one: the cut is between two characters, and final. */
	for (int i = 1; i < LONG; i += 2)
		memcpy(name + i, "\xc3\xbc", 2);
	name[0] = name[LONG - 1] = 'x';
	name[LONG] = '\0';
	c.job_name = name;
	if (!cells_of(&t, &p, 1, false)) {
		free(name);
		skip();
	}
	assert_int_equal(strlen(cell(&t, "charges", "N", 2)), 31999);
	table_fini(&t);
	free(name);
}

static void test_the_same_bytes(void **state)
{
	char path[2][64], *text[2];
	size_t len[2];
	struct charges c;

	(void)state;
	charges_make(&c, 3, 100);
	for (int i = 0; i < 2; i++) {
		(void)snprintf(path[i], sizeof(path[i]), "%s/%d.xlsx", dir, i);
		assert_int_equal(write_to(path[i], c.all, c.n, true, NULL), 0);
		if (i == 0)
			(void)usleep(1100000); /* the clock must not be in it */
		assert_int_equal(text_file_read(path[i], TEXT_MAX, &text[i], &len[i], NULL), 0);
		assert_int_equal(unlink(path[i]), 0);
	}
	assert_int_equal(len[0], len[1]);
	assert_memory_equal(text[0], text[1], len[0]);
	free(text[0]);
	free(text[1]);
	charges_fini(&c);
}

static int fail_visit(void *ctx, source_fn charge, void *arg, struct err *e)
{
	const struct charge c = charges_one();

	(void)ctx;
	(void)charge(arg, &c, e);
	return err_set(e, ERR_IO, "no more");
}

static void test_failures(void **state)
{
	const struct charge c = charges_one(), *p = &c;
	const struct tally_options o = statement_file_tally(true);
	const struct statement in = statement_file_input();
	struct source_array a = {&p, 1};
	struct source from = source_array(&a), failing = {.visit = fail_visit};
	struct err e = {0};
	char path[64];
	struct tally t;

	(void)state;
	assert_int_equal(write_to("/nowhere/a.xlsx", &p, 1, true, &e), -1);
	assert_int_equal(e.code, ERR_IO);
	assert_int_equal(tally_make(&t, &o, &from, NULL), 0);
	(void)snprintf(path, sizeof(path), "%s/b.xlsx", dir);
	assert_int_equal(xlsx_write(path, dir, &in, &t, &failing, &e), -1);
	assert_string_equal(e.msg, "no more");
	assert_int_equal(access(path, F_OK), -1);
	tally_fini(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_any_charges),        cmocka_unit_test(test_what_is_where),
		cmocka_unit_test(test_long_texts_are_cut), cmocka_unit_test(test_the_same_bytes),
		cmocka_unit_test(test_failures),
	};

	return cmocka_run_group_tests_name("ledger, workbook", tests, setup, teardown);
}
