#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "core/budget_private.h"

/* The tree of accounts. */

bool budgets_knows(const struct budgets *b, const char *account)
{
	char name[BUDGET_VALUE_MAX + 1];

	budget_fold(name, account);
	return map_get(&b->parents, name) != NULL;
}

static bool is_same(const struct budgets *b, const struct budget_account *v, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		char below[BUDGET_VALUE_MAX + 1], above[BUDGET_VALUE_MAX + 1];
		const char *had;

		budget_fold(below, v[i].name);
		budget_fold(above, v[i].parent);
		had = map_get(&b->parents, below);
		if (had == NULL || strcmp(had, above) != 0)
			return false;
	}
	return b->nparents == 2 * n;
}

bool budgets_tree(struct budgets *b, const struct budget_account *v, size_t n)
{
	if (is_same(b, v, n))
		return false;
	for (size_t i = 0; i < b->nparents; i++)
		free(b->parent_texts[i]);
	map_fini(&b->parents);
	map_init(&b->parents);
	b->nparents = 0;
	for (size_t i = 0; i < n; i++)
		budgets_account(b, v[i].name, v[i].parent);
	b->stale = true;
	return true;
}
