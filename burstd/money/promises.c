/* What is promised to jobs that waited for money and may try again: until they have bought their
 * nodes or were refused once more, it is as good as held for others that wait.  Else all that wait
 * would be let go for the same money, and all but one be requeued (I30). */
#include "money/money.h"

#include <string.h>

#include "base/mem.h"

void promises_drop(struct engine *e, size_t i)
{
	struct money_state *m = e->money;

	budgets_promise(m->budgets, &m->promises[i].no, -1);
	m->npromises--;
	memmove(&m->promises[i], &m->promises[i + 1], (m->npromises - i) * sizeof(*m->promises));
	m->freed = true; /* it may have taken less */
}

void promises_make(struct engine *e, uint64_t job, const struct budget_no *no)
{
	struct money_state *m = e->money;

	if (m->npromises == MONEY_WAITS)
		promises_drop(e, 0);
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
			promises_drop(e, i);
		else
			i++;
}

void promises_expire(struct engine *e)
{
	while (engine_now(e) >= promises_next_ms(e))
		promises_drop(e, 0);
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
