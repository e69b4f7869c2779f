/* holds_wait.c: jobs that wait for money, and are tried again when there is enough. */
#include "waits_lab.h"

#include "base/hostlist.h"
#include "core/plan.h"

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
	assert_int_equal(waits_at(f, 0)->in.job->number, 10);
	assert_true(postpone_find(f->e, 9)->anew);
	assert_false(postpone_find(f->e, 10)->anew);
	assert_false(m->freed);
	assert_true(m->freed_ms > 0);
	/* Not more often than once in two seconds, however much is freed. */
	promises_end(f->e, 9);
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
	assert_null(f->e->jobs->parts[JOB_UNPAID]); /* they name budgets that are no more */
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
		waits_at(f, 0)->at_ms -= MONEY_UNTOLD_MS;
		p->refusal.last_ms = waits_at(f, 0)->at_ms - (i == 2);
		if (i == 0) { /* its nodes are still to be sent back */
			p->untold = true;
			waits_at(f, 0)->at_ms -= MONEY_UNSENT_MS;
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
	postpone_find(f->e, 9)->refusal.last_ms = waits_at(f, 0)->at_ms - 1;
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
		waits_at(f, 0)->paid = i == 1;
		m->freed_ms = 0;
		holds_part.at[PART_RUN](f->e);
		assert_int_equal(fleet_find(&f->e->fleet, "c1")->hint.stale, i == 0);
		assert_false(fleet_find(&f->e->fleet, "c2")->hint.stale);
		fleet_find(&f->e->fleet, "c1")->hint.stale = false;
	}
	/* slurmctld is told only then, and squeue has shown the job in its former place once more:
	 * no order may ever follow that refusal, or one may. */
	postpone_find(f->e, 9)->told_ms = waits_at(f, 0)->at_ms;
	m->freed_ms = 0;
	holds_part.at[PART_RUN](f->e);
	assert_int_equal(m->nwaits, 1);
	assert_true(postpone_find(f->e, 9)->anew);
	postpone_find(f->e, 9)->anew = false;
	postpone_find(f->e, 9)->told_ms = 0;
	postpone_find(f->e, 9)->refusal.last_ms = waits_at(f, 0)->at_ms;
	m->freed_ms = 0;
	holds_part.at[PART_RUN](f->e);
	assert_int_equal(m->nwaits, 0);
	assert_true(postpone_find(f->e, 9)->anew);
}

/* It may be minutes until slurmctld can be told; and one that is never told has ended. */
static void test_how_long_it_is_remembered(void **state)
{
	struct budget_no no = {.lack = BUDGET_LACKS_MONEY, .market = PROVIDER_ON_DEMAND};
	struct fix *f = *state;
	struct postponed *p;
	struct money_state *m;

	bought(f);
	m = f->e->money;
	no.budget = &f->e->conf->budgets[0];
	no.needs = 1;
	told_to_wait(f, 9);
	holds_refused(f->e, 9, &no);
	p = postpone_find(f->e, 9);
	p->refusal.last_ms = waits_at(f, 0)->at_ms = engine_now(f->e) - MONEY_UNSENT_MS;
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
		if (i == 0)
			waits_at(f, 0)->at_ms -= MONEY_UNSENT_MS;
	}
	assert_false(m->freed);
}

/* However it is looked for: among all holds, or those of the nodes that squeue shows. */
static void add_whole(const struct fix *f, uint64_t job, struct budget_no *no)
{
	struct plan_no_budget v = {.no = *no, .job = job};
	struct hostlist *nodes;

	assert_int_equal(hostlist_parse(&nodes, "c[1-3]", strlen("c[1-3]"), NULL), 0);
	holds_whole(f->e, &v, 1);
	if (job != 0)
		holds_whole_at(f->e, job, nodes, no);
	assert_int_equal(no->needs, v.no.needs);
	assert_int_equal(no->left, v.no.left);
	hostlist_free(nodes);
}

/* slurmctld called for two nodes of job 7, and then for a third, which there is no money for: the
 * two are given back, so that it waits until there is money for all of them.  It was tried each
 * time that there was enough for one (I30). */
static void test_it_waits_for_the_money_of_all_its_nodes(void **state)
{
	struct budget_no no = {.lack = BUDGET_LACKS_MONEY, .market = PROVIDER_ON_DEMAND};
	struct fix *f = *state;
	const struct budget_hold *other;
	struct budget_no whole;
	int64_t all, half;

	start(f, 100 * EUR, 100 * EUR);
	buy_7(f);
	write_down(f);
	no.budget = &f->e->conf->budgets[0];
	no.needs = EUR;
	all = line(f, "all").held;
	assert_true(all > 0);
	whole = no;
	add_whole(f, 7, &whole);
	assert_int_equal(whole.needs, EUR + all);
	assert_int_equal(whole.left, all);
	whole = no;
	add_whole(f, 8, &whole); /* another job */
	add_whole(f, 0, &whole);
	assert_int_equal(whole.needs, EUR);
	/* Its account's budget counts what it holds itself. */
	whole = no;
	whole.budget = &f->e->conf->budgets[1];
	(void)snprintf(whole.value, sizeof(whole.value), "physics");
	add_whole(f, 7, &whole);
	assert_int_equal(whole.needs, EUR + line(f, "account").held);
	/* A machine that others have stays when it goes ... */
	other = hold_of(f->e, held(f, "c2", BUDGET_RUN));
	(void)hold_add(f->e, hold_find(f->e, "c2", row(f, "c2")->n.gen), 9, other);
	whole = no;
	add_whole(f, 7, &whole);
	half = all / 2;
	assert_in_range(whole.needs, EUR + half - 1, EUR + half + 1);
	/* ... and one that is up stays, but not for the job ... */
	ready(f, "c1");
	whole = no;
	add_whole(f, 7, &whole);
	assert_int_equal(whole.needs, EUR);
	whole.budget = &f->e->conf->budgets[1];
	(void)snprintf(whole.value, sizeof(whole.value), "physics");
	add_whole(f, 7, &whole);
	assert_true(whole.needs > EUR);
	/* ... and one that is given up already is none of its own. */
	engine_post(f->e, row(f, "c1"),
		    &(struct node_event){.type = NODE_EV_RELEASE,
					 .reason = NODE_BECAUSE_BUDGET,
					 .now_ms = engine_now(f->e)});
	engine_commit(f->e);
	whole = no;
	whole.budget = &f->e->conf->budgets[1];
	(void)snprintf(whole.value, sizeof(whole.value), "physics");
	add_whole(f, 7, &whole);
	assert_in_range(whole.needs, EUR + 2 * EUR, EUR + 3 * EUR); /* of c2 */
}

/* Of several jobs each has what it holds itself, and a job may lack money in two pools. */
static void test_what_each_of_several_jobs_holds(void **state)
{
	struct plan_no_budget v[] = {{.job = 9}, {.job = 7}, {.job = 0}, {.job = 8}, {.job = 7}};
	struct fix *f = *state;
	int64_t both, of_8;

	start(f, 100 * EUR, 100 * EUR);
	buy_7(f);
	write_down(f);
	both = line(f, "all").held;
	call(f, "c3", FILE_8);
	says(f, JOB_8);
	write_down(f);
	of_8 = line(f, "all").held - both;
	assert_true(both > 0 && of_8 > 0);
	for (size_t i = 0; i < 5; i++)
		v[i].no = (struct budget_no){.budget = &f->e->conf->budgets[0],
					     .lack = BUDGET_LACKS_MONEY};
	holds_whole(f->e, v, 5);
	assert_int_equal(v[0].no.needs, 0);
	assert_int_equal(v[1].no.needs, both);
	assert_int_equal(v[2].no.needs, 0);
	assert_int_equal(v[3].no.needs, of_8);
	assert_int_equal(v[4].no.needs, both);
	/* Machines for no job are not those of one that is not known. */
	row(f, "c3")->n.job = 0;
	for (int kind = BUDGET_BOOT; kind <= BUDGET_RUN; kind++)
		hold_drop(f->e, hold_find(f->e, "c3", row(f, "c3")->n.gen),
			  held(f, "c3", (enum budget_kind)kind));
	holds_whole(f->e, &v[2], 1);
	assert_int_equal(v[2].no.needs, 0);
	holds_whole(f->e, v, 0);
}

/* I30: nor does a heterogeneous job begin before there is money for all of its components: the one
 * that lacks it waits for what the others give back, too.  It was tried whenever there was enough
 * for it alone, and machines were bought for the others each time. */
static void test_it_waits_for_the_money_of_all_components(void **state)
{
	struct budget_no no = {
		.lack = BUDGET_LACKS_MONEY, .needs = EUR, .market = PROVIDER_ON_DEMAND};
	struct fix *f = *state;
	int64_t all, left;

	start(f, 100 * EUR, 100 * EUR);
	buy_7(f);
	write_down(f);
	all = line(f, "all").held;
	no.budget = &f->e->conf->budgets[0];
	no.left = left = 1;
	engine_job_beside(f->e, 8, 7); /* it does not wait */
	for (int i = 0; i < 2; i++) {
		holds_refused(f->e, 8, &no);
		assert_int_equal(waits_at(f, 0)->no.needs, EUR);
		engine_job_beside(f->e, 8, 9); /* it has nothing */
		f->e->money->freed = false;
		assert_true(holds_waits_next_ms(f->e) <= engine_now(f->e));
		holds_waits_turn(f->e);
		assert_int_equal(waits_at(f, 0)->no.needs, EUR);
		assert_int_equal(holds_waits_next_ms(f->e), INT64_MAX);
		for (int k = 0; k < 2; k++) { /* it counts once */
			engine_job_beside(f->e, 8, 7);
			holds_waits_turn(f->e);
			assert_int_equal(waits_at(f, 0)->no.needs, EUR + all);
		}
		for (uint64_t other = 10; other < 10 + MONEY_WITH; other++) /* two too many */
			engine_job_beside(f->e, 8, other);
		holds_waits_turn(f->e);
		assert_int_equal(waits_at(f, 0)->no.needs, EUR + all);
		assert_int_equal(waits_at(f, 0)->no.left, left + all);
	}
	/* Of several each has its own. */
	holds_refused(f->e, 9, &no);
	holds_refused(f->e, 10, &no);
	holds_refused(f->e, 8, &no);
	engine_job_beside(f->e, 10, 7);
	engine_job_beside(f->e, 9, 10);
	engine_job_beside(f->e, 8, 7);
	holds_waits_turn(f->e);
	assert_int_equal(waits_at(f, 0)->no.needs, EUR + all); /* 8 */
	assert_int_equal(waits_at(f, 1)->no.needs, EUR);
	assert_int_equal(waits_at(f, 2)->no.needs, EUR + all);
}

/* Likewise as it is decided: both calls for nodes are for job 7. */
static void test_a_job_that_is_called_for_in_parts(void **state)
{
	struct fix *f = *state;

	start(f, 4 * EUR, 100 * EUR);
	call(f, "c1", "{\"jobs\":[{\"job_id\":7,\"nodes_alloc\":\"c1\"}],\"all_nodes\":\"c1\"}");
	says(f, JOB_7);
	assert_true(is_bought(f, "c1"));
	write_down(f);
	call(f, "c2", "{\"jobs\":[{\"job_id\":7,\"nodes_alloc\":\"c2\"}],\"all_nodes\":\"c2\"}");
	says(f, JOB_7);
	assert_false(is_bought(f, "c2"));
	assert_int_equal(f->e->money->nwaits, 1);
	assert_int_equal(waits_at(f, 0)->in.job->number, 7);
	assert_true(waits_at(f, 0)->no.needs > 4 * EUR);
	assert_non_null(strstr(fleet_find(&f->e->fleet, "c2")->why, ", 4.00 of 4.00 left"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_waiting_jobs_are_tried_anew),
		TEST(test_money_that_comes_at_once),
		TEST(test_how_long_it_is_remembered),
		TEST(test_money_that_comes_before_slurmctld_answers),
		TEST(test_no_job_waits_that_nobody_remembers),
		TEST(test_it_waits_for_the_money_of_all_its_nodes),
		TEST(test_what_each_of_several_jobs_holds),
		TEST(test_it_waits_for_the_money_of_all_components),
		TEST(test_a_job_that_is_called_for_in_parts),
	};

	return cmocka_run_group_tests(tests, zone_begins, zone_ends);
}
