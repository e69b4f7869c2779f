#include "ledger/export_budgets.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "ledger/pseudonym.h"
#include "store/ledger_budgets.h"

enum { TEXT_MAX = 1024 };

struct loading {
	struct export_budgets *x;
	int64_t start_ms, end_ms;
	const struct secret *site_key;
	/* The last in x: a budget has a row for each value of its `each`, and maybe one before
	 * them for no value, which says nothing but that the budget was there. */
	char *name;
	int64_t begin_ms;
	bool bare;
};

char *export_budget_name(const char *budget, const char *value, const struct secret *site_key)
{
	char pseudonym[PSEUDONYM_SIZE];
	struct str s;

	str_init(&s, TEXT_MAX);
	str_adds(&s, budget);
	if (value[0] != '\0')
		str_addf(&s, "/%s",
			 site_key != NULL ? pseudonym_of(pseudonym, site_key, value) : value);
	return str_take(&s);
}

/* Of a shorter period "physics (2026-11)". */
static char *title_of(const struct loading *w, const struct fact_budget *b)
{
	char *name = export_budget_name(b->budget, b->value, w->site_key);
	struct str s;

	if (b->begin_ms == w->start_ms && b->end_ms == w->end_ms)
		return name;
	str_init(&s, TEXT_MAX);
	str_addf(&s, "%s (%s)", name, b->period);
	free(name);
	return str_take(&s);
}

static void free_row(struct statement_budget *b)
{
	free((char *)(uintptr_t)b->name);
	free((char *)(uintptr_t)b->match);
}

static int take(void *ctx, const struct fact_budget *b, struct err *e)
{
	struct loading *w = ctx;
	struct export_budgets *x = w->x;

	(void)e;
	if (w->bare && w->begin_ms == b->begin_ms && strcmp(w->name, b->budget) == 0)
		free_row(&x->v[--x->n]);
	free(w->name);
	w->name = mem_strdup(b->budget);
	w->begin_ms = b->begin_ms;
	w->bare = b->value[0] == '\0' && b->spent == 0 && b->held == 0;
	x->v = mem_realloc(x->v, (x->n + 1) * sizeof(*x->v));
	x->v[x->n++] = (struct statement_budget){
		.name = title_of(w, b),
		.match = mem_strdup(w->site_key != NULL ? "" : b->counted),
		.amount = b->amount - b->added,
		.overrides = b->added,
		.spent = b->spent,
		.committed = b->held};
	return 0;
}

int export_budgets_load(struct export_budgets *x, struct ledger *l, int64_t start_s, int64_t end_s,
			const struct secret *site_key, struct err *e)
{
	struct loading w = {
		.x = x, .start_ms = start_s * 1000, .end_ms = end_s * 1000, .site_key = site_key};
	int rc;

	*x = (struct export_budgets){0};
	rc = ledger_budgets(l, w.start_ms, w.end_ms, take, &w, e);
	free(w.name);
	if (rc < 0)
		export_budgets_fini(x);
	return rc;
}

void export_budgets_fini(struct export_budgets *x)
{
	for (size_t i = 0; i < x->n; i++)
		free_row(&x->v[i]);
	free(x->v);
	*x = (struct export_budgets){0};
}
