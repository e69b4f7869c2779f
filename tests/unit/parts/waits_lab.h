/* waits_lab.h - jobs that wait for money, as slurmctld was told. */
#ifndef TESTS_WAITS_LAB_H
#define TESTS_WAITS_LAB_H

#include "holds_lab.h"
#include "jobs/postpone_private.h"

/* slurmctld has been told to have it wait. */
static inline void told_to_wait(struct fix *f, uint64_t job)
{
	struct postponed *p = postpone_get(f->e, job);

	p->until_ms = engine_now(f->e) + HOUR;
	p->untold = false;
	p->refusal = (struct refusal){
		.count = 1, .wait_ms = REFUSAL_DAY_MS, .last_ms = engine_now(f->e)};
}

static inline void let_turn(struct fix *f)
{
	f->e->money->freed_ms = 0;
	holds_part.at[PART_RUN](f->e);
}

/* Jobs 9, 10, ... wait, in this order; each needs so many of the EUR that are left. */
static inline void wait_in_order(struct fix *f, const int64_t *needs, size_t n)
{
	struct budget_no no = {.lack = BUDGET_LACKS_MONEY, .market = PROVIDER_ON_DEMAND};

	no.budget = &f->e->conf->budgets[0];
	for (size_t i = 0; i < n; i++) {
		no.needs = needs[i];
		holds_refused(f->e, 9 + i, &no);
		told_to_wait(f, 9 + i);
	}
	f->e->money->freed = true;
}

static inline void expect_let_go(const struct fix *f, const char *want)
{
	for (uint64_t i = 0; want[i] != '\0'; i++)
		assert_int_equal(postpone_find(f->e, 9 + i)->anew, want[i] == '+');
}

#endif
