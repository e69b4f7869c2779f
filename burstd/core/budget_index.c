/* Finds the budgets that may concern a spender without a look at all of them. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "core/budget_private.h"

struct budget_named { /* the budgets that have this name in their list */
	char name[BUDGET_VALUE_MAX + 1];
	uint32_t *v; /* their places in the file, in order */
	size_t n;
};

void budget_fold(char out[BUDGET_VALUE_MAX + 1], const char *name)
{
	size_t i = 0;

	for (; i < BUDGET_VALUE_MAX && name[i] != '\0'; i++)
		out[i] = (char)tolower((unsigned char)name[i]);
	out[i] = '\0';
}

/* The list of a budget to find it by, that which leaves most spenders out first; NULL: none. */
static char *const *list_of(const struct conf_budget *of, enum budget_by by)
{
	switch (by) {
	case BUDGET_BY_ACCOUNT:
		return of->accounts;
	case BUDGET_BY_USER:
		return of->users;
	case BUDGET_BY_WCKEY:
		return of->wckeys;
	case BUDGET_BY_QOS:
		return of->qos;
	case BUDGET_BY_PARTITION:
		return of->partitions;
	case BUDGET_BY_POOL:
		return of->pools;
	case BUDGET_BY_PROVIDER:
		return of->providers;
	default:
		return NULL;
	}
}

static struct budget_named *named(struct budget_index *x, enum budget_by by, const char *name)
{
	char folded[BUDGET_VALUE_MAX + 1];
	struct budget_named *l;

	budget_fold(folded, name);
	l = map_get(&x->by[by], folded);
	if (l != NULL)
		return l;
	l = mem_zalloc(sizeof(*l));
	budget_fold(l->name, name);
	map_put(&x->by[by], l->name, l);
	x->all = mem_realloc(x->all, (x->nall + 1) * sizeof(struct budget_named *));
	x->all[x->nall++] = l;
	return l;
}

static void append(uint32_t **v, size_t *n, uint32_t order)
{
	*v = mem_realloc(*v, (*n + 1) * sizeof(**v));
	(*v)[(*n)++] = order;
}

static void add(struct budget_index *x, const struct conf_budget *of, uint32_t order)
{
	enum budget_by by = BUDGET_BY_ACCOUNT;
	char *const *list = NULL;

	for (; by < BUDGET_NBY; by++) {
		list = list_of(of, by);
		if (list != NULL)
			break;
	}
	if (list == NULL) {
		append(&x->rest, &x->nrest, order);
		return;
	}
	for (; *list != NULL; list++) {
		struct budget_named *l = named(x, by, *list);

		if (l->n == 0 || l->v[l->n - 1] != order)
			append(&l->v, &l->n, order);
	}
}

void budget_index_fini(struct budget_index *x)
{
	for (size_t i = 0; i < x->nall; i++) {
		free(x->all[i]->v);
		free(x->all[i]);
	}
	free(x->all);
	free(x->rest);
	free(x->found);
	for (int by = 0; by < BUDGET_NBY; by++)
		map_fini(&x->by[by]);
	*x = (struct budget_index){0};
}

void budget_index_init(struct budget_index *x, const struct conf_budget *list, size_t n)
{
	*x = (struct budget_index){0};
	for (int by = 0; by < BUDGET_NBY; by++)
		map_init(&x->by[by]);
	for (size_t i = 0; i < n; i++)
		add(x, &list[i], (uint32_t)i);
}

/* --- look up ------------------------------------------------------------------------------------
 */

static void found(struct budget_index *x, const uint32_t *v, size_t n)
{
	if (n == 0)
		return;
	if (x->nfound + n > x->cap) {
		x->cap = 2 * (x->nfound + n);
		x->found = mem_realloc(x->found, x->cap * sizeof(*x->found));
	}
	memcpy(x->found + x->nfound, v, n * sizeof(*v));
	x->nfound += n;
}

static void look_up(struct budget_index *x, enum budget_by by, const char *value)
{
	char folded[BUDGET_VALUE_MAX + 1];
	const struct budget_named *l;

	budget_fold(folded, value);
	l = map_get(&x->by[by], folded);
	if (l != NULL)
		found(x, l->v, l->n);
}

static int by_order(const void *a, const void *b)
{
	const uint32_t *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

static void sort(struct budget_index *x)
{
	size_t n = 0;

	if (x->nfound > 0)
		qsort(x->found, x->nfound, sizeof(*x->found), by_order);
	for (size_t i = 0; i < x->nfound; i++)
		if (n == 0 || x->found[n - 1] != x->found[i])
			x->found[n++] = x->found[i];
	x->nfound = n;
}

/* All of them: what is not known may be any. */
static void found_all(struct budget_index *x, size_t n)
{
	for (uint32_t i = 0; i < n; i++)
		found(x, &i, 1);
}

size_t budget_index_find(struct budgets *b, const struct budget_spender *s, const uint32_t **out)
{
	struct budget_index *x = &b->index;
	const char *account = s->account;

	x->nfound = 0;
	if (!s->machine && (s->account[0] == '\0' || s->user[0] == '\0' || s->qos[0] == '\0')) {
		found_all(x, b->nlist);
	} else {
		for (int i = 0; !s->machine && account != NULL && i < BUDGET_ANCESTORS_MAX; i++) {
			look_up(x, BUDGET_BY_ACCOUNT, account);
			account = map_get(&b->parents, account);
		}
		look_up(x, BUDGET_BY_USER, s->user);
		look_up(x, BUDGET_BY_WCKEY, budget_wckey(s->wckey));
		look_up(x, BUDGET_BY_QOS, s->qos);
		look_up(x, BUDGET_BY_PARTITION, s->partition);
		look_up(x, BUDGET_BY_POOL, s->pool);
		look_up(x, BUDGET_BY_PROVIDER, s->provider);
		found(x, x->rest, x->nrest);
		sort(x);
	}
	*out = x->found;
	return x->nfound;
}
