#include "cli/table.h"

#include <assert.h>
#include <stdlib.h>

#include "base/mem.h"

enum { GAP = 2 }; /* columns between two columns */

struct table_cell {
	char *text;
	enum out_style style;
};

void table_init(struct table *t, const struct table_column *columns, size_t n)
{
	*t = (struct table){.columns = columns, .ncolumns = n};
}

void table_fini(struct table *t)
{
	for (size_t i = 0; i < t->n; i++)
		free(t->cells[i].text);
	free(t->cells);
	*t = (struct table){0};
}

void table_add(struct table *t, enum out_style style, const char *text)
{
	if (t->n == t->cap) {
		t->cap = t->cap == 0 ? 64 : 2 * t->cap;
		t->cells = mem_realloc(t->cells, t->cap * sizeof(*t->cells));
	}
	t->cells[t->n++] = (struct table_cell){out_clean(text[0] != '\0' ? text : "-"), style};
}

static void print_cell(const struct table *t, const struct out *o, size_t column, size_t width,
		       const struct table_cell *cell)
{
	size_t have = out_width(cell->text);
	int pad = (int)(width > have ? width - have : 0);
	bool right = t->columns[column].right;

	if (right)
		(void)fprintf(o->f, "%*s", pad, "");
	out_text(o, cell->style, cell->text);
	(void)fprintf(o->f, "%*s", GAP + (right ? 0 : pad), "");
}

/* One row.  No blanks at its end: they would wrap on a narrow terminal. */
static void print_row(const struct table *t, const struct out *o, const size_t *widths,
		      const struct table_cell *cells, size_t indent)
{
	const size_t last = t->ncolumns - 1;
	size_t at = indent;

	(void)fprintf(o->f, "%*s", (int)indent, "");
	for (size_t i = 0; i < last; i++) {
		print_cell(t, o, i, widths[i], &cells[i]);
		at += widths[i] + GAP;
	}
	if (t->columns[last].right)
		(void)fprintf(o->f, "%*s", (int)(widths[last] - out_width(cells[last].text)), "");
	out_wrapped(o, cells[last].style, cells[last].text, at);
}

void table_print(const struct table *t, const struct out *o, unsigned indent)
{
	size_t *widths = mem_zalloc((t->ncolumns + 1) * sizeof(*widths));
	struct table_cell *titles = mem_zalloc((t->ncolumns + 1) * sizeof(*titles));

	assert(t->n % t->ncolumns == 0);
	for (size_t i = 0; i < t->ncolumns; i++) {
		titles[i] = (struct table_cell){mem_strdup(t->columns[i].title), OUT_DIM};
		widths[i] = out_width(titles[i].text);
	}
	for (size_t i = 0; i < t->n; i++)
		if (out_width(t->cells[i].text) > widths[i % t->ncolumns])
			widths[i % t->ncolumns] = out_width(t->cells[i].text);
	print_row(t, o, widths, titles, indent);
	for (size_t i = 0; i < t->n; i += t->ncolumns)
		print_row(t, o, widths, &t->cells[i], indent);
	for (size_t i = 0; i < t->ncolumns; i++)
		free(titles[i].text);
	free(titles);
	free(widths);
}
