#include "ledger/namesakes.h"

#include <stdlib.h>
#include <string.h>

#include "base/fnv.h"
#include "base/mem.h"

enum { FIRST = 1024 };

static struct namesake *slot_of(const struct namesakes *all, const char *job)
{
	size_t i = (size_t)fnv_text(FNV_BEGIN, job) & (all->cap - 1);

	while (all->v[i].job != NULL && strcmp(all->v[i].job, job) != 0)
		i = (i + 1) & (all->cap - 1);
	return &all->v[i];
}

static void grow(struct namesakes *all)
{
	struct namesake *had = all->v;
	const size_t n = all->cap;

	all->cap = n == 0 ? FIRST : 2 * n;
	all->v = mem_zalloc(all->cap * sizeof(*all->v));
	for (size_t i = 0; i < n; i++)
		if (had[i].job != NULL)
			*slot_of(all, had[i].job) = had[i];
	free(had);
}

void namesakes_add(struct namesakes *all, const char *job, int64_t user)
{
	struct namesake *one;

	if (2 * all->n >= all->cap)
		grow(all);
	one = slot_of(all, job);
	if (one->job == NULL) {
		*one = (struct namesake){.job = job, .user = user};
		all->n++;
	}
	one->several = one->several || one->user != user;
}

bool namesakes_has(const struct namesakes *all, const char *job)
{
	return all->n > 0 && slot_of(all, job)->several;
}

void namesakes_fini(struct namesakes *all)
{
	free(all->v);
	*all = (struct namesakes){0};
}
