/* What is promised to jobs that waited for money and may try again: until they have bought their
 * nodes or were refused once more, it is as good as held for others that wait.  Else all that wait
 * would be let go for the same money, and all but one be requeued (I30). */
#include "money/money.h"

#include <string.h>

#include "base/mem.h"

/* n of them, from the i-th on. */
static void drop(struct engine *e, size_t i, size_t n)
{
	struct money_state *m = e->money;

	for (size_t k = i; k < i + n; k++)
		budgets_promise(m->budgets, &m->promises[k].no, -1);
	m->npromises -= n;
	memmove(&m->promises[i], &m->promises[i + n], (m->npromises - i) * sizeof(*m->promises));
	m->freed = true; /* they may have taken less */
}

void promises_make(struct engine *e, uint64_t job, const struct budget_no *no)
{
	struct money_state *m = e->money;

	if (m->npromises == MONEY_WAITS)
		drop(e, 0, 1);
	if (m->npromises == m->promises_cap) {
		m->promises_cap = m->promises_cap == 0 ? 16 : 2 * m->promises_cap;
		m->promises = mem_realloc(m->promises, m->promises_cap * sizeof(*m->promises));
	}
	m->promises[m->npromises++] =
		(struct money_promise){.job = job, .at_ms = engine_now(e), .no = *no};
	budgets_promise(m->budgets, no, 1);
}

void promises_end(struct engine *e, uint64_t job)
{
	struct money_state *m = e->money;

	for (size_t i = 0; job != 0 && i < m->npromises;)
		if (m->promises[i].job == job)
			drop(e, i, 1);
		else
			i++;
}

void promises_expire(struct engine *e)
{
	const struct money_state *m = e->money;
	size_t n = 0;

	while (n < m->npromises && engine_now(e) >= m->promises[n].at_ms + MONEY_PROMISE_MS)
		n++;
	if (n > 0)
		drop(e, 0, n);
}

int64_t promises_next_ms(const struct engine *e)
{
	const struct money_state *m = e->money;

	return m->npromises > 0 ? m->promises[0].at_ms + MONEY_PROMISE_MS : INT64_MAX;
}

void promises_forget(struct engine *e)
{
	e->money->npromises = 0;
}
