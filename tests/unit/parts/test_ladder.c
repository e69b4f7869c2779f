/* ladder.c: what happens to nodes and jobs when their budget is used up. */
#include "ladder_lab.h"

/* What was spent, and what runs has cost: not what is set aside. */
static void test_what_counts_is_what_was_spent(void **state)
{
	static const struct {
		int64_t account_cents;
		bool want;
	} all[] = {{201, false}, {200, true}, {50, true}, {10000, false}};
	struct fix *f = *state;

	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		struct conf *c;

		print_message("# %zu\n", i);
		(void)teardown(state);
		(void)setup(state);
		f = *state;
		c = ladder(1000 * EUR, 10000 * EUR);
		c->budgets[1].requeue_at = AT;
		runs_with(f, c);
		f->e->conf->budgets[1].amount_nano = all[i].account_cents * (EUR / 100);
		turn(f);
		assert_int_equal(f->e->money->ladders.due, all[i].want);
		assert_string_equal(
			rows(f, "SELECT count(*) FROM budget_period WHERE requeue_ms > 0"),
			all[i].want ? "1;" : "0;");
		assert_string_equal(rows(f, "SELECT count(*) FROM event WHERE type ="
					    " 'budget-step'"),
				    all[i].want ? "1;" : "0;");
	}
}

static void test_nothing_is_looked_at_without_a_ladder(void **state)
{
	struct fix *f = *state;

	runs_with(f, ladder(1000 * EUR, 1000 * EUR));
	f->e->conf->budgets[0].amount_nano = f->e->conf->budgets[1].amount_nano = 1;
	turn(f);
	assert_false(f->e->money->ladders.due);
	assert_true(ladder_part.next_ms(f->e) == INT64_MAX);
}

/* --- jobs ----------------------------------------------------------------------------------------
 */

static void test_a_job_is_requeued_after_the_grace(void **state)
{
	struct fix *f = used_up(state, AT, 0);

	assert_int_equal(f->e->jobs->wanted, JOBS_FOR_LADDER);
	jobs(f, RUNS);
	assert_string_equal(orders(f), "");
	assert_string_equal(rows(f, "SELECT count(*) FROM event WHERE type = 'job-warned'"), "1;");
	reached(f, BUDGET_REQUEUES, 10 * MINUTE - 1000);
	jobs(f, RUNS);
	assert_string_equal(orders(f), "");
	reached(f, BUDGET_REQUEUES, 10 * MINUTE);
	jobs(f, RUNS);
	assert_string_equal(orders(f), "requeue 7: " USED_UP ";");
	assert_string_equal(rows(f, "SELECT count(*) FROM event WHERE type = 'job-warned'"), "1;");
	assert_string_equal(rows(f, "SELECT count(*) FROM event WHERE type = 'job-sent-back'"),
			    "1;");
	/* slurmctld takes a moment. */
	jobs(f, RUNS);
	/* As long as it ends, it can be told nothing: it may take minutes to save its work. */
	for (int i = 0; i < 3; i++)
		jobs(f, "7|7|COMPLETING|gpu|None|c[1-2]\n");
	assert_string_equal(orders(f), "");
	assert_int_equal(f->e->money->nwaits, 0);
	/* Then it waits for money, with the reason. */
	jobs(f, "7|7|PENDING|gpu|BeginTime|\n");
	assert_int_equal(f->e->money->nwaits, 1);
	assert_int_equal(waits_at(f, 0)->in.job->number, 7);
	assert_string_equal(rows(f, "SELECT job, money FROM refusal"), "7 1;");
	jobs(f, "");
	assert_int_equal(f->e->money->nwaits, 1);
}

/* A component of a heterogeneous job has an id that scontrol does not take, a task of an array one
 * that is not its number. */
static void test_ids(void **state)
{
	struct fix *f = used_up(state, AT, 0);

	reached(f, BUDGET_REQUEUES, HOUR);
	jobs(f, "7|5_2|RUNNING|gpu|None|c[1-2]\n");
	assert_string_equal(orders(f), "requeue 5_2: " USED_UP ";");
	f = used_up(state, AT, 0);
	reached(f, BUDGET_REQUEUES, HOUR);
	jobs(f, "7|6+1|RUNNING|gpu|None|c[1-2]\n");
	assert_string_equal(orders(f), "requeue 6: " USED_UP ";");
	/* A component alone would go on without the others. */
	f = used_up(state, 0, AT);
	reached(f, BUDGET_KILLS, HOUR);
	jobs(f, "7|6+1|RUNNING|gpu|None|c[1-2]\n");
	assert_string_equal(orders(f), "cancel 6: " USED_UP ";");
}

/* One of another account on the same nodes is nobody's business. */
static void test_whose_jobs(void **state)
{
	static const char *const not_ended[] = {
		"8|8|RUNNING|gpu|None|c[1-2]\n", "7|7|RUNNING|gpu|None|c3\n",
		"7|7|PENDING|gpu|Resources|\n",  "7|7|COMPLETING|gpu|None|c[1-2]\n",
		"7|7|RUNNING|gpu|None|c[1-\n",   "",
	};
	struct fix *f = used_up(state, AT, 0);

	reached(f, BUDGET_REQUEUES, HOUR);
	for (size_t i = 0; i < sizeof(not_ended) / sizeof(not_ended[0]); i++) {
		jobs(f, not_ended[i]);
		assert_string_equal(orders(f), "");
	}
}

/* One that was started later, since nobody asked burstd, has the whole grace. */
static void test_a_job_that_began_later(void **state)
{
	struct fix *f = used_up(state, AT, 0);
	struct hold_node *g = hold_find(f->e, "c1", row(f, "c1")->n.gen);
	struct hold *h = held(f, "c1", BUDGET_RUN);

	reached(f, BUDGET_REQUEUES, HOUR);
	hold_change(f->e, g, h, engine_now(f->e) - MINUTE, hold_of(f->e, h)->until_ms);
	g = hold_find(f->e, "c2", row(f, "c2")->n.gen);
	h = held(f, "c2", BUDGET_RUN);
	hold_change(f->e, g, h, engine_now(f->e) - MINUTE, hold_of(f->e, h)->until_ms);
	jobs(f, RUNS);
	assert_string_equal(orders(f), "");
	/* squeue is asked when its time is over. */
	assert_true(f->e->money->ladders.squeue_ms <= engine_now(f->e) + 10 * MINUTE);
}

/* When its jobs began to be requeued. */
static int64_t since(struct fix *f)
{
	const struct budget_line l = line(f, "account");
	const struct money_line *m = money_line_find(f->e, &l);

	assert_non_null(m);
	return m->since_ms[BUDGET_REQUEUES];
}

static void test_a_job_is_cancelled(void **state)
{
	struct fix *f = used_up(state, 0, AT);

	assert_int_equal(since(f), 0); /* it is not requeued: requeue_at is not set */
	reached(f, BUDGET_KILLS, 10 * MINUTE - 1000);
	jobs(f, RUNS);
	assert_string_equal(orders(f), "");
	reached(f, BUDGET_KILLS, 10 * MINUTE);
	jobs(f, RUNS);
	assert_string_equal(orders(f), "cancel 7: " USED_UP ";");
	jobs(f, RUNS);
	assert_string_equal(orders(f), "");
	jobs(f, "");
	assert_int_equal(f->e->money->nwaits, 0); /* it does not come back */
}

/* A job of srun cannot be requeued: it goes on until it is cancelled. */
static void test_a_job_that_is_not_requeued(void **state)
{
	struct fix *f = used_up(state, AT, AT);

	reached(f, BUDGET_REQUEUES, HOUR);
	reached(f, BUDGET_KILLS, HOUR);
	jobs(f, RUNS);
	/* It is tried, though both are due. */
	assert_string_equal(orders(f), "requeue 7: " USED_UP ";");
	jobs(f, RUNS);
	assert_string_equal(orders(f), "");
	refuses(f, "requeue");
	assert_string_equal(rows(f, "SELECT count(*) FROM event WHERE type = 'job-goes-on'"), "1;");
	reached(f, BUDGET_KILLS, MINUTE);
	jobs(f, RUNS);
	assert_int_equal(cancels(f), 0);
	reached(f, BUDGET_KILLS, HOUR);
	jobs(f, RUNS);
	assert_int_equal(cancels(f), 1);
	/* Its user was told of both. */
	assert_string_equal(rows(f, "SELECT count(*) FROM event WHERE type = 'job-warned'"), "2;");
	refuses(f, "cancel");
	jobs(f, RUNS);
	assert_int_equal(cancels(f), 1); /* not again at once */
}

/* An order that may not have been heard is repeated. */
static void test_an_order_is_repeated(void **state)
{
	struct fix *f = used_up(state, AT, 0);
	const struct slurm_order o = {.verb = "requeue", .names = "7"};
	struct err e;

	reached(f, BUDGET_REQUEUES, HOUR);
	jobs(f, RUNS);
	(void)orders(f);
	(void)err_set(&e, ERR_NET, "Unable to contact slurm controller");
	ladder_told(f->e, &o, &e);
	ladder_told(f->e, &o, NULL);
	assert_non_null(job_find(f->e, 7, JOB_ENDING));
	assert_string_equal(rows(f, "SELECT count(*) FROM event WHERE type = 'job-goes-on'"), "0;");
	assert_string_equal(rows(f, "SELECT count(*) FROM event WHERE type = 'job-sent-back'"),
			    "1;");
}

/* The time of a step survives a restart, and with it the grace. */
static void test_a_restart(void **state)
{
	struct fix *f = used_up(state, AT, 0);
	struct conf *c = ladder(1000 * EUR, 2 * EUR);
	int64_t at = since(f);

	c->budgets[1].requeue_at = AT;
	assert_true(at > 0);
	assert_int_equal(load_conf(f, c, NULL), 0);
	f->e->left = ENGINE_SEND;
	holds_part.at[PART_START](f->e);
	assert_int_equal(since(f), at);
	turn(f);
	assert_int_equal(since(f), at);
	/* Raised, it goes on. */
	f->e->conf->budgets[1].amount_nano = 1000 * EUR;
	turn(f);
	assert_false(f->e->money->ladders.due);
	assert_string_equal(rows(f, "SELECT count(*) FROM budget_period WHERE requeue_ms > 0"),
			    "0;");
}

static void test_a_reload_forgets(void **state)
{
	struct fix *f = used_up(state, AT, 0);

	reached(f, BUDGET_REQUEUES, HOUR);
	jobs(f, RUNS);
	assert_non_null(job_find(f->e, 7, JOB_ENDING));
	assert_int_equal(engine_reload(f->e, conf_of(1000 * EUR, 1000 * EUR), NULL), 0);
	assert_null(job_find(f->e, 7, JOB_ENDING));
	turn(f);
	assert_false(f->e->money->ladders.due);
}

/* --- machines ------------------------------------------------------------------------------------
 */

static bool is_drained(const struct fix *f, const char *node)
{
	const char *why = fleet_find(&f->e->fleet, node)->insist.why;

	return why != NULL && strcmp(why, ENGINE_WHY_USED_UP) == 0;
}

static void test_nodes_are_drained(void **state)
{
	struct conf *c = ladder(1000 * EUR, 1000 * EUR);
	struct fix *f = *state;

	c->budgets[0].drain_at = AT;
	runs_with(f, c);
	f->e->conf->budgets[0].amount_nano = 2 * EUR;
	turn(f);
	assert_false(is_drained(f, "c1")); /* slurmctld has not shown it */
	show(f, "ALLOCATED+CLOUD", "");
	engine_commit(f->e);
	turn(f);
	assert_true(is_drained(f, "c1"));
	assert_false(is_drained(f, "c2")); /* not shown either */
	fleet_find(&f->e->fleet, "c1")->insist.why = NULL;
	turn(f);
	assert_false(is_drained(f, "c1")); /* once, whatever an admin does then */
	jobs(f, RUNS);
	assert_null(job_find(f->e, 7, JOB_ENDING)); /* its jobs go on */
}

/* While nodes are drained, and no job is ended, squeue has nothing to say. */
static void test_squeue_is_asked_where_jobs_end(void **state)
{
	struct conf *c = ladder(1000 * EUR, 1000 * EUR);
	struct fix *f = *state;

	c->budgets[0].drain_at = AT;
	c->budgets[0].requeue_at = 2 * AT;
	runs_with(f, c);
	f->e->conf->budgets[0].amount_nano = 3 * EUR / 2;
	f->e->jobs->wanted = 0;
	turn(f);
	assert_true(f->e->money->ladders.due);
	assert_int_equal(f->e->jobs->wanted, 0);
	assert_true(ladder_part.next_ms(f->e) == f->e->money->ladders.look_ms);
	f->e->conf->budgets[0].amount_nano = EUR / 2;
	turn(f);
	assert_int_equal(f->e->jobs->wanted, JOBS_FOR_LADDER);
	jobs(f, RUNS);
	assert_non_null(job_find(f->e, 7, JOB_ENDING));
	/* It has room for them again, but is still to be drained. */
	f->e->conf->budgets[0].amount_nano = 3 * EUR / 2;
	f->e->money->ladders.squeue_ms = 0;
	turn(f);
	assert_true(f->e->money->ladders.due);
	assert_int_equal(f->e->jobs->wanted, 0);
	assert_null(job_find(f->e, 7, JOB_ENDING));
}

/* Of a budget of jobs nothing is drained: others may run there. */
static void test_a_budget_of_jobs_drains_nothing(void **state)
{
	struct conf *c = ladder(1000 * EUR, 1000 * EUR);
	struct fix *f = *state;

	c->budgets[1].drain_at = AT;
	runs_with(f, c);
	show(f, "ALLOCATED+CLOUD", "");
	engine_commit(f->e);
	f->e->conf->budgets[1].amount_nano = 2 * EUR;
	turn(f);
	assert_false(is_drained(f, "c1"));
}

/* A budget of machines ends all jobs on them. */
static void test_jobs_on_machines_are_requeued(void **state)
{
	struct conf *c = ladder(1000 * EUR, 1000 * EUR);
	struct fix *f = *state;

	c->budgets[0].requeue_at = AT;
	c->budgets[0].grace_ms = 0;
	runs_with(f, c);
	f->e->conf->budgets[0].amount_nano = 2 * EUR;
	(void)orders(f);
	turn(f);
	jobs(f, "9|9|RUNNING|gpu|None|c1\n" RUNS);
	assert_string_equal(orders(f), "requeue 9,7: budget all is used up for 2 days;");
}

/* --- the user ------------------------------------------------------------------------------------
 */

static void test_a_job_is_told_to_save_its_work(void **state)
{
	struct conf *c = ladder(1000 * EUR, 1000 * EUR);
	struct fix *f = *state;

	c->budgets[1].requeue_at = AT;
	c->pools[0].checkpoint_signal = mem_strdup("USR1");
	runs_with(f, c);
	f->e->conf->budgets[1].amount_nano = 2 * EUR;
	(void)orders(f);
	turn(f);
	reached(f, BUDGET_REQUEUES, 7 * MINUTE);
	jobs(f, RUNS);
	assert_string_equal(orders(f), ""); /* two minutes before its end */
	reached(f, BUDGET_REQUEUES, 8 * MINUTE);
	jobs(f, RUNS);
	assert_string_equal(orders(f), "signal 7: USR1;");
	jobs(f, RUNS);
	assert_string_equal(orders(f), "");
}

/* Likewise by a command of the site, once, which is on record before it runs (I28); not where the
 * job ends at once. */
static void test_a_command_saves_its_work(void **state)
{
	static const char in_all[] = "SELECT count(*) FROM audit WHERE verb = 'checkpoint'";
	static const char failed[] = "SELECT count(*) FROM event WHERE type = 'checkpoint-failed'";

	for (int grace = 0; grace <= 1; grace++) {
		struct conf *c = ladder(1000 * EUR, 1000 * EUR);
		struct fix *f;

		(void)teardown(state);
		(void)setup(state);
		f = *state;
		c->budgets[1].requeue_at = AT;
		c->budgets[1].grace_ms = grace * 10 * MINUTE;
		c->pools[0].checkpoint_command =
			mem_zalloc(2 * sizeof(*c->pools[0].checkpoint_command));
		c->pools[0].checkpoint_command[0] = mem_strdup("/no/such/command");
		runs_with(f, c);
		f->e->conf->budgets[1].amount_nano = 2 * EUR;
		(void)orders(f);
		turn(f);
		reached(f, BUDGET_REQUEUES, 7 * MINUTE);
		jobs(f, RUNS);
		assert_string_equal(rows(f, in_all), "0;");
		reached(f, BUDGET_REQUEUES, 8 * MINUTE);
		jobs(f, RUNS);
		jobs(f, RUNS);
		assert_string_equal(rows(f, in_all), grace ? "1;" : "0;");
		assert_string_equal(rows(f, failed), grace ? "1;" : "0;");
		if (!grace)
			continue;
		assert_string_equal(orders(f), "");
		assert_string_equal(rows(f, "SELECT target || ' ' || object || ' ' || request || "
					    "' ' || reason FROM audit WHERE verb = 'checkpoint'"),
				    "/no/such/command 7 c1 " USED_UP ";");
		assert_non_null(strstr(rows(f, "SELECT node || ' ' || detail FROM event WHERE type"
					       " = 'checkpoint-failed'"),
				       "c1 job 7: checkpoint_command: "));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_what_counts_is_what_was_spent),
		TEST(test_nothing_is_looked_at_without_a_ladder),
		TEST(test_a_job_is_requeued_after_the_grace),
		TEST(test_ids),
		TEST(test_whose_jobs),
		TEST(test_a_job_that_began_later),
		TEST(test_a_job_is_cancelled),
		TEST(test_a_job_that_is_not_requeued),
		TEST(test_an_order_is_repeated),
		TEST(test_a_restart),
		TEST(test_a_reload_forgets),
		TEST(test_nodes_are_drained),
		TEST(test_squeue_is_asked_where_jobs_end),
		TEST(test_a_budget_of_jobs_drains_nothing),
		TEST(test_jobs_on_machines_are_requeued),
		TEST(test_a_job_is_told_to_save_its_work),
		TEST(test_a_command_saves_its_work),
	};

	return cmocka_run_group_tests(tests, zone_begins, zone_ends);
}
