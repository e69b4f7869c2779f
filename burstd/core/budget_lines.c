/* Shows budgets in the order of the file, those of one budget by value. */
#include <assert.h>
#include <string.h>

#include "base/mem.h"
#include "core/budget_private.h"

static int compare(const struct budget_count *a, const struct budget_count *b)
{
	if (a->order != b->order)
		return a->order < b->order ? -1 : 1;
	return strcmp(a->value, b->value);
}

void budget_lines_add(struct budgets *b, struct budget_count *c)
{
	size_t low = 0, high = b->ncounts - 1; /* c is the last of the counts */

	b->lines = mem_realloc(b->lines, b->ncounts * sizeof(struct budget_count *));
	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (compare(b->lines[middle], c) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	memmove(b->lines + low + 1, b->lines + low,
		(b->ncounts - 1 - low) * sizeof(struct budget_count *));
	b->lines[low] = c;
}

size_t budgets_lines(struct budgets *b)
{
	budget_refresh(b);
	return b->ncounts;
}

struct budget_line budgets_line(const struct budgets *b, size_t i)
{
	const struct budget_count *c = b->lines[i];
	struct budget_line l = {.budget = c->b,
				.value = c->value,
				.period = c->period,
				.when = c->when,
				.spent = c->spent,
				.held = budget_narrow(c->held.now),
				.later = budget_narrow(c->held.later),
				.rate = budget_narrow(c->held.rate),
				.left = INT64_MAX};

	assert(i < b->ncounts);
	if (c->b->amount_nano != 0)
		l.left = budget_narrow(c->b->amount_nano - (budget_wide)c->spent - c->held.now);
	return l;
}
