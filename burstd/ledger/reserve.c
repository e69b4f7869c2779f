#include "ledger/reserve.h"

#include <assert.h>
#include <stdlib.h>

#include "base/clamp.h"

__extension__ typedef __int128 wide;

enum { HOUR_S = 3600 };

int64_t reserve_need(const struct reserve_budget *b, const struct reserve_job *j)
{
	wide s = (wide)j->limit_s + b->boot_s + b->idle_s + b->teardown_s, node, all;

	s = (s + b->granularity_s - 1) / b->granularity_s * b->granularity_s;
	if (s > INT64_MAX)
		return INT64_MAX;
	node = (s * b->ceiling_nano_h + HOUR_S - 1) / HOUR_S;
	if (node > INT64_MAX)
		return INT64_MAX;
	all = node * j->nodes;
	return all < INT64_MAX ? (int64_t)all : INT64_MAX;
}

static int by_turn(const void *a, const void *b)
{
	const struct reserve_job *x = a, *y = b;

	if (x->priority != y->priority)
		return x->priority > y->priority ? -1 : 1;
	return x->job < y->job ? -1 : x->job > y->job;
}

void reserve_batch(struct reserve_budget *b, struct reserve_job *jobs, size_t n,
		   void (*tell)(void *ctx, const struct reserve_budget *b,
				const struct reserve_job *j),
		   void *ctx)
{
	if (n > 0)
		qsort(jobs, n, sizeof(*jobs), by_turn);
	for (size_t i = 0; i < n; i++) {
		struct reserve_job *j = &jobs[i];

		if (j->state != RESERVE_WAITS)
			continue;
		j->held = reserve_need(b, j);
		if (j->held <= b->left && j->held < INT64_MAX) {
			j->state = RESERVE_HELD;
			b->left -= j->held;
		}
		tell(ctx, b, j);
	}
}

void reserve_settle(struct reserve_budget *b, struct reserve_job *j, int64_t nano)
{
	assert(j->state == RESERVE_HELD);
	j->state = RESERVE_SETTLED;
	b->left = clamp_add(b->left, clamp_add(j->held, -nano));
}
