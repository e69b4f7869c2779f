#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "core/budget_private.h"

/* The tree of accounts. */

bool budgets_knows(const struct budgets *b, const char *account)
{
	return map_get(&b->parents, account) != NULL;
}

static bool is_same(const struct budgets *b, const struct budget_account *v, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		const char *had = map_get(&b->parents, v[i].name);

		if (had == NULL || strcmp(had, v[i].parent) != 0)
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
	b->parent_texts = mem_realloc(b->parent_texts, (2 * n + 1) * sizeof(char *));
	for (size_t i = 0; i < n; i++) {
		b->parent_texts[b->nparents++] = mem_strdup(v[i].name);
		b->parent_texts[b->nparents++] = mem_strdup(v[i].parent);
		map_put(&b->parents, b->parent_texts[b->nparents - 2],
			b->parent_texts[b->nparents - 1]);
	}
	budget_recount(b);
	return true;
}
