#include "ledger/export_overrides.h"

#include <stdlib.h>

#include "base/mem.h"
#include "base/str.h"
#include "ledger/export_budgets.h"
#include "ledger/pseudonym.h"
#include "store/ledger_overrides.h"

enum { TEXT_MAX = 1024 };

struct loading {
	struct export_overrides *x;
	int64_t end_s;
	const struct secret *site_key;
};

static char *name_of(const struct loading *w, const char *name)
{
	char pseudonym[PSEUDONYM_SIZE];

	return mem_strdup(w->site_key != NULL ? pseudonym_of(pseudonym, w->site_key, name) : name);
}

static char *reason_of(const struct loading *w, const struct fact_override *o, bool revoked)
{
	struct str s;

	if (w->site_key != NULL)
		return mem_strdup(revoked ? "(revoked)" : "");
	str_init(&s, TEXT_MAX);
	str_adds(&s, o->reason);
	if (revoked)
		str_addf(&s, " (revoked by %s: %s)", o->revoked_by, o->revoked_why);
	return str_take(&s);
}

static int take(void *ctx, const struct fact_override *o, struct err *e)
{
	const struct loading *w = ctx;
	struct export_overrides *x = w->x;
	const bool over = o->until_ms / 1000 < w->end_s;

	(void)e;
	x->v = mem_realloc(x->v, (x->n + 1) * sizeof(*x->v));
	x->v[x->n++] = (struct statement_override){
		.at_s = o->made_ms / 1000,
		.budget = export_budget_name(o->budget, o->value, w->site_key),
		.by = name_of(w, o->by),
		.reason = reason_of(w, o, over && o->revoked_by[0] != '\0'),
		.nano = o->nano,
		.set = o->set,
		.until_s = over ? o->until_ms / 1000 : 0};
	return 0;
}

int export_overrides_load(struct export_overrides *x, struct ledger *l, int64_t start_s,
			  int64_t end_s, const struct secret *site_key, struct err *e)
{
	struct loading w = {x, end_s, site_key};

	*x = (struct export_overrides){0};
	if (ledger_overrides(l, start_s * 1000, end_s * 1000, take, &w, e) == 0)
		return 0;
	export_overrides_fini(x);
	return -1;
}

void export_overrides_fini(struct export_overrides *x)
{
	for (size_t i = 0; i < x->n; i++) {
		free((char *)(uintptr_t)x->v[i].budget);
		free((char *)(uintptr_t)x->v[i].by);
		free((char *)(uintptr_t)x->v[i].reason);
	}
	free(x->v);
	*x = (struct export_overrides){0};
}
