#include "tests/unit/ledger/table.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"

/* One cell, from *from to *to; what ended it. */
static char cell(const char **from, char **to)
{
	const char *p = *from;
	char *out = *to, end;

	if (*p == '"') {
		for (p++; *p != '"' || p[1] == '"'; p++) {
			assert_int_not_equal(*p, '\0');
			*out++ = *p;
			p += *p == '"';
		}
		p++;
	} else {
		while (strchr(",\r\n", *p) == NULL)
			*out++ = *p++;
	}
	p += *p == '\r';
	end = *p;
	assert_non_null(strchr(",\n", end));
	*out++ = '\0';
	*from = p + 1;
	*to = out;
	return end;
}

void table_read(struct table *t, const char *csv)
{
	size_t n = 0, cols = 0, max = 1;
	char *to;

	for (const char *p = csv; *p != '\0'; p++)
		max += *p == ',' || *p == '\n';
	*t = (struct table){.text = mem_zalloc(strlen(csv) + 2 * max),
			    .cells = mem_zalloc(max * sizeof(char *))};
	to = t->text;
	while (*csv != '\0') {
		t->cells[n++] = to;
		cols++;
		if (cell(&csv, &to) != '\n')
			continue;
		if (t->ncols == 0)
			t->ncols = cols;
		assert_int_equal(cols, t->ncols);
		cols = 0;
	}
	t->nrows = t->ncols == 0 ? 0 : n / t->ncols - 1;
}

void table_fini(struct table *t)
{
	free(t->text);
	free(t->cells);
}

const char *table_get(const struct table *t, size_t row, const char *column)
{
	assert_true(row < t->nrows);
	for (size_t i = 0; i < t->ncols; i++)
		if (strcmp(t->cells[i], column) == 0)
			return t->cells[(row + 1) * t->ncols + i];
	fail_msg("no column %s", column);
	return "";
}

static int64_t decimal(const char *text)
{
	const bool minus = *text == '-';
	int64_t v = 0;
	int places = -1;

	for (const char *p = text + minus; *p != '\0'; p++) {
		if (*p == '.') {
			assert_int_equal(places, -1);
			places = 0;
			continue;
		}
		assert_true(*p >= '0' && *p <= '9');
		v = v * 10 + *p - '0';
		places += places >= 0;
	}
	assert_true(places <= 9);
	for (places = places < 0 ? 0 : places; places < 9; places++)
		v *= 10;
	return minus ? -v : v;
}

int64_t table_sum(const struct table *t, const char *column)
{
	int64_t sum = 0;

	for (size_t i = 0; i < t->nrows; i++)
		sum += decimal(table_get(t, i, column));
	return sum;
}
