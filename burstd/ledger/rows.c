#include "ledger/rows.h"

#include <stdlib.h>

#include "base/mem.h"

const char *allocate_class_str(enum allocate_class c)
{
	static const char *const words[] = {"run",    "lost",   "boot",     "boot_failed",
					    "idle",   "drain",  "teardown", "pad",
					    "orphan", "shared", "tax"};

	return words[c];
}

const char *allocate_class_text(enum allocate_class c)
{
	static const char *const texts[] = {
		"A job had the machine, or a part of it.",
		"A job had it, and its work was lost, as the machine was taken away or failed.",
		"The machine was starting, for the jobs that it was bought for.",
		"The machine was started and never became usable.",
		"The machine, or a part of it, was ready, and no job used it.",
		"The machine still ran, and no new job was let on it.",
		"The machine was being ended.",
		"The provider bills in steps, or a minimum: the time beyond the end.",
		"The machine ran, and the cluster did not know of it.",
		"The provider's invoice has it for no machine: disks, traffic, addresses, support.",
		"Tax, as the provider's invoice has it.",
	};

	return texts[c];
}

static int by_key(const void *a, const void *b)
{
	const struct allocate_row *x = a, *y = b;
	int by[] = {rows_compare(x->month, y->month),
		    rows_compare((int64_t)x->class, (int64_t)y->class),
		    rows_compare(x->credit, y->credit),
		    rows_compare((int64_t)x->owner, (int64_t)y->owner),
		    rows_compare_ids(x->job, y->job),
		    rows_compare_ids(x->attempt, y->attempt)};

	for (size_t i = 0; i < sizeof(by) / sizeof(by[0]); i++)
		if (by[i] != 0)
			return by[i];
	return 0;
}

void rows_merge(struct rows *r)
{
	size_t n = 0;

	if (r->n > 0)
		qsort(r->v, r->n, sizeof(*r->v), by_key);
	for (size_t i = 0; i < r->n; i++)
		if (n > 0 && by_key(&r->v[n - 1], &r->v[i]) == 0)
			r->v[n - 1].nano += r->v[i].nano; /* at most the whole bill */
		else
			r->v[n++] = r->v[i];
	r->n = n;
}

/* What is merged, or else twice as much. */
static void make_room(struct rows *r)
{
	rows_merge(r);
	if (r->n < r->cap / 2)
		return;
	r->cap = r->cap == 0 ? 64 : 2 * r->cap;
	r->v = mem_realloc(r->v, r->cap * sizeof(*r->v));
}

void rows_add(struct rows *r, const struct allocate_row *row)
{
	if (r->n == r->cap)
		make_room(r);
	r->v[r->n++] = *row;
}

static bool is_job_row(const struct allocate_row *r)
{
	return r->owner == ALLOCATE_JOB && r->class != ALLOCATE_BOOT;
}

static int by_owner(const void *a, const void *b)
{
	const struct allocate_row *x = *(struct allocate_row *const *)a;
	const struct allocate_row *y = *(struct allocate_row *const *)b;

	if (x->job != y->job)
		return rows_compare_ids(x->job, y->job);
	if (x->attempt != y->attempt)
		return rows_compare_ids(x->attempt, y->attempt);
	if ((x->nano == 0) != (y->nano == 0))
		return x->nano == 0 ? 1 : -1;
	return x < y ? -1 : x > y;
}

void rows_shown(const struct rows *r, bool *shown)
{
	const struct allocate_row **all = mem_zalloc((r->n + 1) * sizeof(void *));
	size_t n = 0;

	for (size_t i = 0; i < r->n; i++) {
		shown[i] = r->v[i].nano != 0;
		if (is_job_row(&r->v[i]))
			all[n++] = &r->v[i];
	}
	if (n > 0)
		qsort(all, n, sizeof(void *), by_owner);
	for (size_t i = 0; i < n; i++)
		if (i == 0 || all[i - 1]->job != all[i]->job ||
		    all[i - 1]->attempt != all[i]->attempt)
			shown[all[i] - r->v] = true;
	free(all);
}

void rows_fini(struct rows *r)
{
	free(r->v);
	*r = (struct rows){0};
}
