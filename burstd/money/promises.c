/* What is promised to jobs that waited for money and may try again: until they have bought their
 * nodes or were refused once more, it is as good as held for others that wait.  Else all that wait
 * would be let go for the same money, and all but one be requeued (I30). */
#include "money/money.h"

#include "jobs/jobs.h"

static void drop(struct engine *e, struct money_promise *p)
{
	struct money_state *m = e->money;

	budgets_promise(m->budgets, &p->no, -1);
	job_drop(e, p);
	m->npromises--;
	m->freed = true; /* it may have taken less */
}

static struct money_promise *oldest(const struct engine *e)
{
	return e->jobs->oldest[JOB_PROMISED];
}

void promises_make(struct engine *e, uint64_t job, const struct budget_no *no)
{
	struct money_state *m = e->money;
	struct money_promise *p;

	promises_end(e, job);
	if (m->npromises == MONEY_WAITS)
		drop(e, oldest(e));
	p = job_get(e, job, JOB_PROMISED, sizeof(*p));
	p->at_ms = engine_now(e);
	p->no = *no;
	m->npromises++;
	budgets_promise(m->budgets, no, 1);
}

void promises_end(struct engine *e, uint64_t job)
{
	struct money_promise *p = job_find(e, job, JOB_PROMISED);

	if (p != NULL)
		drop(e, p);
}

/* The same for all, so that the oldest ends first. */
static int64_t lasts_ms(const struct engine *e)
{
	int64_t held_ms = prereq_hold_ms(e);

	if (held_ms < MONEY_HELD_MS)
		held_ms = MONEY_HELD_MS;
	if (held_ms > MONEY_HELD_MAX_MS)
		held_ms = MONEY_HELD_MAX_MS;
	return MONEY_PROMISE_MS + held_ms - MONEY_HELD_MS;
}

void promises_expire(struct engine *e)
{
	while (engine_now(e) >= promises_next_ms(e))
		drop(e, oldest(e));
}

int64_t promises_next_ms(const struct engine *e)
{
	const struct money_promise *p = oldest(e);

	return p != NULL ? p->at_ms + lasts_ms(e) : INT64_MAX;
}

void promises_forget(struct engine *e)
{
	job_forget(e, JOB_PROMISED, NULL);
	e->money->npromises = 0;
}
