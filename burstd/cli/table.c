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
	bool last = column + 1 == t->ncolumns, right = t->columns[column].right;

	if (right)
		(void)fprintf(o->f, "%*s", pad, "");
	out_text(o, cell->style, cell->text);
	/* No blanks at the end of a line: they would wrap on a narrow terminal. */
	if (last)
		(void)fputc('\n', o->f);
	else
		(void)fprintf(o->f, "%*s", GAP + (right ? 0 : pad), "");
}

void table_print(const struct table *t, const struct out *o, unsigned indent)
{
	size_t *widths = mem_zalloc((t->ncolumns + 1) * sizeof(*widths));

	assert(t->n % t->ncolumns == 0);
	for (size_t i = 0; i < t->ncolumns; i++)
		widths[i] = out_width(t->columns[i].title);
	for (size_t i = 0; i < t->n; i++)
		if (out_width(t->cells[i].text) > widths[i % t->ncolumns])
			widths[i % t->ncolumns] = out_width(t->cells[i].text);
	(void)fprintf(o->f, "%*s", (int)indent, "");
	for (size_t i = 0; i < t->ncolumns; i++) {
		char *title = mem_strdup(t->columns[i].title);

		print_cell(t, o, i, widths[i], &(struct table_cell){title, OUT_DIM});
		free(title);
	}
	for (size_t i = 0; i < t->n; i++) {
		if (i % t->ncolumns == 0)
			(void)fprintf(o->f, "%*s", (int)indent, "");
		print_cell(t, o, i % t->ncolumns, widths[i % t->ncolumns], &t->cells[i]);
	}
	free(widths);
}
