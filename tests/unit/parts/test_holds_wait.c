/* holds_wait.c: jobs that wait for money, and are tried again when there is enough. */
#include "holds_lab.h"
#include "jobs/postpone_private.h"

/* slurmctld has been told to have it wait. */
static void told_to_wait(struct fix *f, uint64_t job)
{
	struct postponed *p = postpone_get(f->e, job);

	p->until_ms = engine_now(f->e) + HOUR;
	p->untold = false;
	p->refusal = (struct refusal){
		.count = 1, .wait_ms = REFUSAL_DAY_MS, .last_ms = engine_now(f->e)};
}

/* A job is tried when there is enough for it, and not before. */
static void test_waiting_jobs_are_tried_anew(void **state)
{
	struct fix *f = *state;
	struct budget_no no = {.lack = BUDGET_LACKS_MONEY, .market = PROVIDER_ON_DEMAND};
	struct money_state *m;

	bought(f);
	m = f->e->money;
	no.budget = &f->e->conf->budgets[0];
	no.needs = line(f, "all").left;
	holds_refused(f->e, 9, &no);
	no.needs = line(f, "all").left + 1;
	holds_refused(f->e, 10, &no);
	holds_refused(f->e, 10, &no); /* once more */
	assert_int_equal(m->nwaits, 2);
	told_to_wait(f, 9);
	told_to_wait(f, 10);
	m->freed = false;
	m->freed_ms = 0;
	holds_part.at[PART_RUN](f->e);
	assert_int_equal(m->nwaits, 2); /* nothing has changed */
	m->freed = true;
	assert_true(holds_part.next_ms(f->e) <= engine_now(f->e));
	holds_part.at[PART_RUN](f->e);
	assert_int_equal(m->nwaits, 1);
	assert_int_equal(m->waits[0].job, 10);
	assert_true(postpone_find(f->e, 9)->anew);
	assert_false(postpone_find(f->e, 10)->anew);
	assert_false(m->freed);
	assert_true(m->freed_ms > 0);
	/* Not more often than once in two seconds, however much is freed. */
	ends(f, "c1");
	assert_true(m->freed);
	holds_part.at[PART_RUN](f->e);
	assert_int_equal(m->nwaits, 1);
	assert_true(holds_part.next_ms(f->e) > engine_now(f->e));
	assert_true(holds_part.next_ms(f->e) <= engine_now(f->e) + 2000);
	m->freed_ms -= 2000;
	holds_part.at[PART_RUN](f->e);
	assert_int_equal(m->nwaits, 0);
	/* Another configuration is decided by anew, for all. */
	holds_refused(f->e, 11, &no);
	assert_int_equal(engine_reload(f->e, conf_of(7 * EUR, 8 * EUR), NULL), 0);
	assert_int_equal(m->nwaits, 0);
}

/* slurmctld may take neither the nodes nor the order to wait for minutes, and be told both anew by
 * the same refusal: the job is let go all the same, as there is money. */
static void test_money_that_comes_before_slurmctld_answers(void **state)
{
	struct budget_no no = {.lack = BUDGET_LACKS_MONEY, .market = PROVIDER_ON_DEMAND};
	struct fix *f = *state;
	struct postponed *p;
	struct money_state *m;

	bought(f);
	m = f->e->money;
	no.budget = &f->e->conf->budgets[0];
	no.needs = 1;
	for (int i = 0; i < 3; i++) {
		print_message("# %d\n", i);
		holds_refused(f->e, 9, &no);
		told_to_wait(f, 9);
		p = postpone_find(f->e, 9);
		p->anew = false;
		m->waits[0].at_ms -= MONEY_UNTOLD_MS;
		p->refusal.last_ms = m->waits[0].at_ms - (i == 2);
		if (i == 0) { /* its nodes are still to be sent back */
			p->untold = true;
			m->waits[0].at_ms -= MONEY_UNSENT_MS;
			p->refusal.last_ms -= MONEY_UNSENT_MS;
		} else if (i == 1) { /* the order failed, and comes again */
			p->until_ms = 0;
		}
		for (int k = 0; k < 2; k++) {
			m->freed = true;
			m->freed_ms = 0;
			holds_waits_tidy(f->e);
			holds_part.at[PART_RUN](f->e);
			assert_int_equal(m->nwaits, i == 2 || k == 0 ? 1 : 0);
			assert_int_equal(p->anew, i == 2 || k == 1);
			p->untold = false;
			p->until_ms = engine_now(f->e) + HOUR;
		}
		holds_waits_forget(f->e);
	}
}

/* One that waits for money, and that nobody would let go, is tried again. */
static void test_no_job_waits_that_nobody_remembers(void **state)
{
	struct fix *f = *state;
	struct budget_no no = {.lack = BUDGET_LACKS_MONEY, .market = PROVIDER_ON_DEMAND};

	bought(f);
	no.budget = &f->e->conf->budgets[0];
	no.needs = line(f, "all").left + 1;
	for (uint64_t job = 14; job >= 9; job--) {
		told_to_wait(f, job);
		postpone_find(f->e, job)->refusal.money = job != 10;
	}
	holds_refused(f->e, 13, &no);
	holds_refused(f->e, 9, &no);
	postpone_find(f->e, 11)->untold = true;
	postpone_find(f->e, 12)->until_ms = 0;
	holds_waits_tidy(f->e);
	for (uint64_t job = 9; job <= 14; job++)
		assert_int_equal(postpone_find(f->e, job)->anew, job == 14);
}

/* Money that comes between a refusal and the order to wait is not overlooked: the order is still to
 * be taken back. */
static void test_money_that_comes_at_once(void **state)
{
	struct budget_no no = {.lack = BUDGET_LACKS_MONEY, .market = PROVIDER_ON_DEMAND};
	struct fix *f = *state;
	struct postponed *p;
	struct money_state *m;

	bought(f);
	m = f->e->money;
	no.budget = &f->e->conf->budgets[0];
	no.needs = 1;
	holds_refused(f->e, 9, &no);
	m->freed = true;
	m->freed_ms = 0;
	holds_part.at[PART_RUN](f->e);
	assert_int_equal(m->nwaits, 1);
	assert_true(m->freed); /* looked at again */
	told_to_wait(f, 9);
	m->freed_ms = 0;
	holds_part.at[PART_RUN](f->e);
	assert_true(postpone_find(f->e, 9)->anew);
	assert_int_equal(m->nwaits, 0);
	assert_false(m->freed);
	/* It may wait by an older refusal, whose order is about to be replaced. */
	holds_refused(f->e, 9, &no);
	postpone_find(f->e, 9)->anew = false;
	postpone_find(f->e, 9)->refusal.last_ms = m->waits[0].at_ms - 1;
	m->freed = true;
	m->freed_ms = 0;
	holds_part.at[PART_RUN](f->e);
	assert_int_equal(m->nwaits, 1);
	assert_false(postpone_find(f->e, 9)->anew);
	/* Nodes that were refused to jobs for want of it are so no more, once. */
	fleet_find(&f->e->fleet, "c1")->hint =
		(struct refusal_hint){.lasting = true, .money = true};
	fleet_find(&f->e->fleet, "c2")->hint = (struct refusal_hint){.lasting = true};
	for (int i = 0; i < 2; i++) {
		m->waits[0].paid = i == 1;
		m->freed_ms = 0;
		holds_part.at[PART_RUN](f->e);
		assert_int_equal(fleet_find(&f->e->fleet, "c1")->hint.stale, i == 0);
		assert_false(fleet_find(&f->e->fleet, "c2")->hint.stale);
		fleet_find(&f->e->fleet, "c1")->hint.stale = false;
	}
	/* slurmctld is told only then, and squeue has shown the job in its former place once more:
	 * no order may ever follow that refusal, or one may. */
	postpone_find(f->e, 9)->told_ms = m->waits[0].at_ms;
	m->freed_ms = 0;
	holds_part.at[PART_RUN](f->e);
	assert_int_equal(m->nwaits, 1);
	assert_true(postpone_find(f->e, 9)->anew);
	postpone_find(f->e, 9)->anew = false;
	postpone_find(f->e, 9)->told_ms = 0;
	postpone_find(f->e, 9)->refusal.last_ms = m->waits[0].at_ms;
	m->freed_ms = 0;
	holds_part.at[PART_RUN](f->e);
	assert_int_equal(m->nwaits, 0);
	assert_true(postpone_find(f->e, 9)->anew);
	/* It may be minutes until slurmctld can be told. */
	holds_refused(f->e, 9, &no);
	p = postpone_find(f->e, 9);
	p->refusal.last_ms = m->waits[0].at_ms = engine_now(f->e) - MONEY_UNSENT_MS;
	p->until_ms = 0;
	p->untold = true;
	holds_waits_tidy(f->e);
	assert_int_equal(m->nwaits, 1);
	/* If it takes no order, the job is sent back again for the same reason. */
	p->untold = false;
	p->refusal.last_ms++;
	holds_waits_tidy(f->e);
	assert_int_equal(m->nwaits, 1);
	/* One that is never told to wait has ended. */
	p->refusal.last_ms--;
	holds_waits_tidy(f->e);
	assert_int_equal(m->nwaits, 0);
	holds_refused(f->e, 10, &no);
	for (int i = 0; i < 2; i++) {
		m->freed = true;
		m->freed_ms = 0;
		holds_part.at[PART_RUN](f->e);
		assert_int_equal(m->nwaits, 1 - i);
		m->waits[0].at_ms -= MONEY_UNSENT_MS;
	}
	assert_false(m->freed);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_waiting_jobs_are_tried_anew),
		TEST(test_money_that_comes_at_once),
		TEST(test_money_that_comes_before_slurmctld_answers),
		TEST(test_no_job_waits_that_nobody_remembers),
	};

	return cmocka_run_group_tests(tests, zone_begins, zone_ends);
}
