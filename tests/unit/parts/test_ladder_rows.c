/* ladder_jobs.c: what is known of a job that ends survives a restart and a reload, and goes with
 * the job. */
#include "ladder_lab.h"

#include "jobs/postpone_private.h"

static void restart_with(struct fix *f, struct conf *c)
{
	engine_commit(f->e);
	assert_int_equal(load_conf(f, c, NULL), 0);
	f->e->left = ENGINE_SEND;
	holds_part.at[PART_START](f->e);
	ladder_part.at[PART_START](f->e);
	(void)orders(f);
	ran(f);
	f->e->money->ladders.squeue_ms = engine_now(f->e) + HOUR;
	turn(f);
}

/* As used_up() has it. */
static struct conf *same(uint32_t requeue, uint32_t kill)
{
	struct conf *c = ladder(1000 * EUR, 2 * EUR);

	c->budgets[1].requeue_at = requeue;
	c->budgets[1].kill_at = kill;
	return c;
}

static int count(struct fix *f, const char *type)
{
	char text[100];

	engine_commit(f->e);
	(void)snprintf(text, sizeof(text), "SELECT count(*) FROM event WHERE type = '%s'", type);
	return atoi(rows(f, text));
}

static int in_journal(struct fix *f)
{
	engine_commit(f->e);
	return atoi(rows(f, "SELECT count(*) FROM ending"));
}

static void sent(struct fix *f, const char *verb, const struct err *err)
{
	const struct slurm_order o = {
		.verb = verb, .names = "7", .reason = "", .what = "", .of_jobs = true};

	checkpoint_told(f->e, &o, err);
	ladder_told(f->e, &o, err);
	engine_commit(f->e);
}

/* A job is told once, signalled once, and its requeue is given again, whenever burstd dies. */
static void test_a_restart_tells_nothing_twice(void **state)
{
	struct fix *f = used_up(state, AT, AT);

	f->e->conf->pools[0].checkpoint_signal = mem_strdup("USR1");
	reached(f, BUDGET_REQUEUES, 9 * MINUTE);
	jobs(f, RUNS);
	assert_string_equal(orders(f), "signal 7: USR1;");
	sent(f, "signal", NULL);
	for (int i = 0; i < 2; i++) {
		struct conf *c = same(AT, AT);

		c->pools[0].checkpoint_signal = mem_strdup("USR1");
		restart_with(f, c);
		reached(f, BUDGET_REQUEUES, 9 * MINUTE);
		jobs(f, RUNS);
		assert_string_equal(orders(f), "");
		assert_int_equal(count(f, "job-warned"), 1);
	}
	reached(f, BUDGET_REQUEUES, HOUR);
	jobs(f, RUNS);
	assert_string_equal(orders(f), "requeue 7: " USED_UP ";");
	restart_with(f, same(AT, AT));
	reached(f, BUDGET_REQUEUES, HOUR);
	jobs(f, RUNS);
	assert_string_equal(orders(f), "requeue 7: " USED_UP ";");
	assert_int_equal(count(f, "job-sent-back"), 1);
	/* It went back into the queue. */
	jobs(f, "7|7|PENDING|gpu|BeginTime|\n");
	assert_int_equal(f->e->money->nwaits, 1);
	assert_int_equal(in_journal(f), 0);
}

/* A signal that slurmctld has not taken before burstd died, or did not hear of, is given again. */
static void test_a_signal_is_not_forgotten(void **state)
{
	struct fix *f = used_up(state, AT, 0);
	struct conf *c = same(AT, 0);
	struct err away;

	(void)err_set(&away, ERR_NET, "Unable to contact slurm controller");
	f->e->conf->pools[0].checkpoint_signal = mem_strdup("USR1");
	reached(f, BUDGET_REQUEUES, 9 * MINUTE);
	for (int i = 0; i < 2; i++) {
		jobs(f, RUNS);
		assert_string_equal(orders(f), "signal 7: USR1;");
		jobs(f, RUNS);
		assert_string_equal(orders(f), ""); /* it is on its way */
		ran(f);
		sent(f, "signal", &away);
	}
	jobs(f, RUNS);
	assert_string_equal(orders(f), "signal 7: USR1;");
	c->pools[0].checkpoint_signal = mem_strdup("USR1");
	restart_with(f, c);
	reached(f, BUDGET_REQUEUES, 9 * MINUTE);
	jobs(f, RUNS);
	assert_string_equal(orders(f), "signal 7: USR1;");
	sent(f, "signal", NULL);
	jobs(f, RUNS);
	assert_string_equal(orders(f), "");
}

/* It was told a moment ago that its machine goes: that was it. */
static void test_a_job_that_was_told_is_not_signalled(void **state)
{
	struct fix *f = used_up(state, AT, 0);

	f->e->conf->pools[0].checkpoint_signal = mem_strdup("USR1");
	reached(f, BUDGET_REQUEUES, 9 * MINUTE);
	told_note(f->e, 7, "7");
	jobs(f, RUNS);
	told_forget(f->e, 7);
	jobs(f, RUNS);
	assert_string_equal(orders(f), "");
	/* The next run is another matter. */
	told_note(f->e, 7, "7");
	jobs(f, "");
	jobs(f, RUNS);
	assert_string_equal(orders(f), "signal 7: USR1;");
}

/* A job that is suspended gets no signal: it is told when it goes on. */
static void test_a_suspended_job_is_signalled_later(void **state)
{
	struct fix *f = used_up(state, AT, 0);

	f->e->conf->pools[0].checkpoint_signal = mem_strdup("USR1");
	reached(f, BUDGET_REQUEUES, 9 * MINUTE);
	jobs(f, "7|7|SUSPENDED|gpu|None|c[1-2]\n");
	assert_string_equal(orders(f), "");
	jobs(f, RUNS);
	assert_string_equal(orders(f), "signal 7: USR1;");
	ran(f);
	/* It is ended all the same. */
	reached(f, BUDGET_REQUEUES, 10 * MINUTE);
	jobs(f, "7|7|SUSPENDED|gpu|None|c[1-2]\n");
	assert_string_equal(orders(f), "requeue 7: " USED_UP ";");
}

static void add_command(struct conf_pool *p)
{
	p->checkpoint_command = mem_zalloc(2 * sizeof(*p->checkpoint_command));
	p->checkpoint_command[0] = mem_strdup("/no/such/command");
}

/* A job that had waited for its command still has two minutes for it. */
static void test_a_job_that_waits_for_its_command_over_a_restart(void **state)
{
	struct fix *f = used_up(state, AT, 0);
	struct conf *c = same(AT, 0);

	add_command(&f->e->conf->pools[0]);
	f->e->jobs->nhooks[CHECKPOINT_MONEY] = 16;
	for (int64_t ago = 5 * MINUTE; ago < 10 * MINUTE; ago += 4 * MINUTE) {
		reached(f, BUDGET_REQUEUES, ago);
		jobs(f, RUNS);
	}
	f->e->jobs->nhooks[CHECKPOINT_MONEY] = 0;
	add_command(&c->pools[0]);
	restart_with(f, c);
	reached(f, BUDGET_REQUEUES, 11 * MINUTE);
	jobs(f, RUNS);
	assert_string_equal(orders(f), "");
	assert_string_equal(rows(f, "SELECT object FROM audit WHERE verb = 'checkpoint'"), "7;");
}

/* It was requeued, and slurmctld said so; burstd died before the job was back in the queue. */
static void test_a_job_waits_though_burstd_died(void **state)
{
	struct fix *f = used_up(state, AT, 0);

	reached(f, BUDGET_REQUEUES, HOUR);
	jobs(f, RUNS);
	(void)orders(f);
	sent(f, "requeue", NULL);
	restart_with(f, same(AT, 0));
	jobs(f, "7|7|PENDING|gpu|BeginTime|\n");
	assert_int_equal(f->e->money->nwaits, 1);
	assert_string_equal(rows(f, "SELECT job, money FROM refusal"), "7 1;");
	assert_int_equal(in_journal(f), 0);
	/* ... or its budget is gone: it waits for nothing. */
	f = used_up(state, AT, 0);
	reached(f, BUDGET_REQUEUES, HOUR);
	jobs(f, RUNS);
	(void)orders(f);
	engine_commit(f->e);
	{
		struct conf *c = same(AT, 0);

		free(c->budgets[1].name);
		c->budgets[1].name = mem_strdup("renamed");
		restart_with(f, c);
	}
	f->e->money->ladders.due = true;
	jobs(f, "7|7|PENDING|gpu|BeginTime|\n");
	assert_int_equal(f->e->money->nwaits, 0);
}

/* F50: the number is another job's now, or the job began anew, while burstd was away. */
static void test_another_run_has_its_own_grace(void **state)
{
	struct fix *f = used_up(state, AT, 0);
	struct hold_node *g;
	struct hold *h;

	reached(f, BUDGET_REQUEUES, HOUR);
	jobs(f, RUNS);
	(void)orders(f);
	sent(f, "requeue", NULL);
	assert_int_equal(count(f, "job-warned"), 1);
	restart_with(f, same(AT, 0));
	jobs(f, RUNS);
	assert_int_equal(count(f, "job-warned"), 2);
	f = used_up(state, AT, 0);
	reached(f, BUDGET_REQUEUES, 5 * MINUTE);
	jobs(f, RUNS);
	assert_int_equal(count(f, "job-warned"), 1);
	for (int i = 0; i < 2; i++) {
		restart_with(f, same(AT, 0));
		for (int n = 1; i > 0 && n <= 2; n++) {
			const char *node = n == 1 ? "c1" : "c2";

			g = hold_find(f->e, node, row(f, node)->n.gen);
			h = held(f, node, BUDGET_RUN);
			hold_change(f->e, g, h, engine_now(f->e) + MINUTE,
				    hold_of(f->e, h)->until_ms + HOUR);
		}
		jobs(f, RUNS);
		assert_int_equal(count(f, "job-warned"), i + 1);
	}
}

/* What slurmctld refuses is said once, and asked again each ten minutes. */
static void test_a_refusal_is_said_once(void **state)
{
	struct fix *f = used_up(state, AT, 0);

	reached(f, BUDGET_REQUEUES, HOUR);
	jobs(f, RUNS);
	(void)orders(f);
	for (int i = 0; i < 3; i++) {
		refuses(f, "requeue");
		if (i == 1)
			restart_with(f, same(AT, 0));
	}
	assert_int_equal(count(f, "job-goes-on"), 1);
}

/* A reload forgets nothing of jobs that still end: neither that they were told, nor that slurmctld
 * refused their requeue. */
static void test_a_reload_tells_nothing_twice(void **state)
{
	struct fix *f = used_up(state, AT, AT);

	reached(f, BUDGET_REQUEUES, HOUR);
	jobs(f, RUNS);
	(void)orders(f);
	ran(f);
	refuses(f, "requeue");
	assert_int_equal(engine_reload(f->e, same(AT, AT), NULL), 0);
	(void)orders(f);
	ran(f);
	jobs(f, RUNS);
	assert_int_equal(count(f, "job-sent-back"), 1);
	assert_int_equal(count(f, "job-warned"), 2); /* of both steps */
	assert_int_equal(in_journal(f), 1);
	/* What it waits for is the budget of the new configuration. */
	jobs(f, "");
	assert_int_equal(f->e->money->nwaits, 1);
	assert_ptr_equal(waits_at(f, 0)->no.budget, &f->e->conf->budgets[1]);
}

/* Its pool may have another number after a restart; a reload moves none. */
static void test_pools_that_are_renumbered(void **state)
{
	struct fix *f = used_up(state, AT, 0);
	struct conf *c = same(AT, 0);

	c->pools = mem_realloc(c->pools, 2 * sizeof(*c->pools));
	c->pools[1] = c->pools[0];
	c->pools[0] = make_pool("first", "x1", 1);
	c->npools = 2;
	assert_int_equal(hostlist_parse(&c->pools[0].nodes, "x1", 2, NULL), 0);
	reached(f, BUDGET_REQUEUES, HOUR);
	jobs(f, RUNS);
	(void)orders(f);
	ran(f);
	restart_with(f, c);
	jobs(f, "7|7|PENDING|gpu|BeginTime|\n");
	assert_int_equal(f->e->money->nwaits, 1);
	assert_int_equal(postpone_find(f->e, 7)->pool, 1);
}

/* Jobs that end while there are no budgets are not acted on when these come back; and then all
 * have their grace anew. */
static void test_budgets_that_go_and_come_back(void **state)
{
	for (int i = 0; i < 2; i++) {
		struct fix *f = used_up(state, AT, 0);
		struct conf *none = same(0, 0);
		const struct budget_line *l;
		struct budget_line at;

		reached(f, BUDGET_REQUEUES, HOUR);
		jobs(f, RUNS);
		(void)orders(f);
		ran(f);
		assert_int_equal(in_journal(f), 1);
		at = line(f, "account");
		l = &at;
		money_line_write(f->e, money_line_of(f->e, l), l);
		if (i == 0)
			assert_int_equal(engine_reload(f->e, none, NULL), 0);
		else
			restart_with(f, none);
		assert_int_equal(in_journal(f), 0);
		assert_string_equal(
			rows(f, "SELECT count(*) FROM budget_period WHERE requeue_ms > 0"), "0;");
		assert_int_equal(engine_reload(f->e, same(AT, 0), NULL), 0);
		(void)orders(f);
		ran(f);
		jobs(f, "");
		assert_int_equal(f->e->money->nwaits, 0);
		turn(f);
		assert_true(f->e->money->ladders.due);
		jobs(f, RUNS);
		assert_string_equal(orders(f), ""); /* its grace has begun */
	}
}

/* An admin who resumes a node has the last word, over a restart of burstd, too. */
static void test_a_node_is_drained_once(void **state)
{
	static const char in_all[] = "SELECT node FROM drained ORDER BY node";
	struct conf *c = ladder(1000 * EUR, 1000 * EUR);
	struct fix *f = *state;

	c->budgets[0].drain_at = AT;
	runs_with(f, c);
	f->e->conf->budgets[0].amount_nano = 2 * EUR;
	show(f, "ALLOCATED+CLOUD", "");
	engine_commit(f->e);
	turn(f);
	assert_non_null(fleet_find(&f->e->fleet, "c1")->insist.why);
	assert_string_equal(rows(f, in_all), "c1;");
	c = ladder(2 * EUR, 1000 * EUR);
	c->budgets[0].drain_at = AT;
	restart_with(f, c);
	show(f, "ALLOCATED+CLOUD", "");
	engine_commit(f->e);
	turn(f);
	assert_true(f->e->money->ladders.due);
	assert_null(fleet_find(&f->e->fleet, "c1")->insist.why);
	/* Its row goes with what is held for it. */
	hold_end(f->e, hold_find(f->e, "c1", row(f, "c1")->n.gen));
	engine_commit(f->e);
	assert_string_equal(rows(f, in_all), "");
	journal_put_drained(engine_tx(f->e), "c9", 1);
	restart_with(f, conf_of(1000 * EUR, 1000 * EUR));
	assert_string_equal(rows(f, in_all), "");
}

/* After a start what accounts below a budget's spend is not counted until slurmctld has told which
 * these are: no step is over by that. */
static void test_a_step_waits_for_the_tree_of_accounts(void **state)
{
	static const char tree[] = "ClusterName=lab Account=root UserName= ID=1 ParentAccount=\n";
	static char physics[] = "physics";
	char *accounts[] = {physics, NULL};
	struct fix *f = used_up(state, AT, 0);

	reached(f, BUDGET_REQUEUES, MINUTE);
	jobs(f, RUNS);
	assert_int_equal(in_journal(f), 1);
	f->e->conf->budgets[1].accounts = accounts;
	f->e->conf->budgets[1].amount_nano = 1000 * EUR;
	turn(f);
	assert_int_equal(in_journal(f), 1);
	assert_int_equal(count(f, "budget-step"), 1);
	assert_true(ladder_part.next_ms(f->e) == INT64_MAX);
	accounts_answer(f->e, tree, strlen(tree), NULL);
	turn(f);
	assert_int_equal(in_journal(f), 0);
	assert_int_equal(count(f, "budget-step"), 2); /* it has room again */
	f->e->conf->budgets[1].accounts = NULL;
}

/* A job of which nobody knows who pays, for a moment, is not told anew. */
static void test_a_job_without_holds_for_a_moment(void **state)
{
	struct fix *f = used_up(state, AT, 0);

	reached(f, BUDGET_REQUEUES, MINUTE);
	jobs(f, RUNS);
	assert_int_equal(count(f, "job-warned"), 1);
	jobs(f, "7|7|RUNNING|gpu|None|c3\n");
	jobs(f, RUNS);
	assert_int_equal(count(f, "job-warned"), 1);
}

/* A budget and an account of the longest names that there are are told whole. */
static void test_the_longest_names(void **state)
{
	char name[PROVIDER_WORD_MAX + 1], value[BUDGET_VALUE_MAX + 1], row[400], want[400];
	struct conf *c = ladder(1000 * EUR, 1);
	struct fix *f = *state;

	memset(name, 'b', sizeof(name) - 1);
	memset(value, 'v', sizeof(value) - 1);
	name[sizeof(name) - 1] = value[sizeof(value) - 1] = '\0';
	free(c->budgets[1].name);
	c->budgets[1].name = mem_strdup(name);
	c->budgets[1].requeue_at = AT;
	c->budgets[1].amount_nano = 1000 * EUR;
	assert_int_equal(load_conf(f, c, NULL), 0);
	call(f, "c[1-2]", FILE_7);
	(void)snprintf(row, sizeof(row),
		       "7|7|CONFIGURING|gpu|None|c[1-2]| |%s|ann|normal|2:00:00|2|16|NO|"
		       "cpu=16,gres/gpu=16|2|*|",
		       value);
	says(f, row);
	write_down(f);
	ready(f, "c1");
	age(f, "c1", HOUR);
	f->e->conf->budgets[1].amount_nano = EUR / 2;
	turn(f);
	(void)snprintf(want, sizeof(want),
		       "budget %s/%s: 100 %% used up: its jobs are requeued in 10m00s;", name,
		       value);
	assert_string_equal(rows(f, "SELECT detail FROM event WHERE type = 'budget-step'"), want);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_the_longest_names),
		TEST(test_a_restart_tells_nothing_twice),
		TEST(test_a_signal_is_not_forgotten),
		TEST(test_a_job_that_was_told_is_not_signalled),
		TEST(test_a_suspended_job_is_signalled_later),
		TEST(test_a_job_that_waits_for_its_command_over_a_restart),
		TEST(test_a_job_waits_though_burstd_died),
		TEST(test_another_run_has_its_own_grace),
		TEST(test_a_refusal_is_said_once),
		TEST(test_a_reload_tells_nothing_twice),
		TEST(test_pools_that_are_renumbered),
		TEST(test_budgets_that_go_and_come_back),
		TEST(test_a_node_is_drained_once),
		TEST(test_a_step_waits_for_the_tree_of_accounts),
		TEST(test_a_job_without_holds_for_a_moment),
	};

	return cmocka_run_group_tests(tests, zone_begins, zone_ends);
}
