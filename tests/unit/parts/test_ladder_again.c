/* ladder.c: a job that goes on after all, and orders that slurmctld did not take. */
#include <uv.h>

#include "ladder_lab.h"

/* What was said of a job is over when the budget has room: the next time its user is told anew, has
 * time to save the job's work, and it is requeued first. */
static void test_a_job_that_goes_on_after_all(void **state)
{
	struct fix *f = used_up(state, AT, AT);

	for (int i = 0; i < 2; i++) {
		reached(f, BUDGET_REQUEUES, HOUR);
		reached(f, BUDGET_KILLS, HOUR);
		jobs(f, RUNS);
		assert_string_equal(orders(f), "requeue 7: " USED_UP ";");
		ran(f);
		assert_non_null(job_find(f->e, 7, JOB_ENDING));
		f->e->conf->budgets[1].amount_nano = 1000 * EUR;
		turn(f);
		assert_null(job_find(f->e, 7, JOB_ENDING));
		f->e->conf->budgets[1].amount_nano = 2 * EUR;
		turn(f);
	}
	assert_string_equal(rows(f, "SELECT count(*) FROM event WHERE type = 'job-warned'"), "2;");
	/* Likewise if another budget has none. */
	reached(f, BUDGET_REQUEUES, HOUR);
	reached(f, BUDGET_KILLS, HOUR);
	jobs(f, RUNS);
	assert_string_equal(orders(f), "requeue 7: " USED_UP ";");
	ran(f);
	assert_non_null(job_find(f->e, 7, JOB_ENDING));
	money_line_of(f->e, &(struct budget_line){.budget = &f->e->conf->budgets[1],
						  .value = "physics",
						  .period.begin_ms = 0})
		->since_ms[BUDGET_REQUEUES] = 0;
	money_line_of(f->e, &(struct budget_line){.budget = &f->e->conf->budgets[1],
						  .value = "physics",
						  .period.begin_ms = 0})
		->since_ms[BUDGET_KILLS] = 0;
	jobs(f, RUNS);
	assert_null(job_find(f->e, 7, JOB_ENDING));
	assert_int_equal(f->e->money->nwaits, 0);
}

/* As long as slurmctld has not answered a requeue, nobody knows that it refuses it. */
static void test_a_job_whose_requeue_was_not_sent(void **state)
{
	struct fix *f = used_up(state, AT, AT);
	const struct slurm_order o = {.verb = "requeue", .names = "7"};
	struct err late, away;

	(void)err_set(&late, ERR_NOTSENT, "it waited too long");
	(void)err_set(&away, ERR_NET, "Unable to contact slurm controller");
	reached(f, BUDGET_REQUEUES, HOUR);
	reached(f, BUDGET_KILLS, HOUR);
	jobs(f, RUNS);
	assert_string_equal(orders(f), "requeue 7: " USED_UP ";");
	ran(f);
	/* It is tried again at once. */
	ladder_told(f->e, &o, &late);
	jobs(f, RUNS);
	assert_string_equal(orders(f), "requeue 7: " USED_UP ";");
	ran(f);
	ladder_told(f->e, &o, &away);
	ladder_told(f->e, &o, &late);
	jobs(f, RUNS);
	assert_int_equal(cancels(f), 0);
	/* It has been requeued, and is still there. */
	(void)orders(f);
	ran(f);
	ladder_told(f->e, &o, NULL);
	jobs(f, RUNS);
	assert_int_equal(cancels(f), 0); /* not at once */
	ladder_told(f->e, &o, &late);
	jobs(f, RUNS);
	assert_int_equal(cancels(f), 1);
}

/* One command has many jobs, and fails if one of them is not requeued: each is asked for again. */
static void test_a_refusal_of_several(void **state)
{
	struct fix *f = used_up(state, AT, 0);
	const struct slurm_order both = {.verb = "requeue", .names = "7,9"};
	struct err e;

	(void)err_set(&e, ERR_NET, "Only batch jobs are accepted or processed");
	reached(f, BUDGET_REQUEUES, HOUR);
	jobs(f, RUNS);
	(void)orders(f);
	ran(f);
	ladder_told(f->e, &both, &e);
	engine_commit(f->e);
	assert_string_equal(rows(f, "SELECT count(*) FROM event WHERE type = 'job-goes-on'"), "0;");
	jobs(f, RUNS);
	assert_string_equal(orders(f), "requeue 7: " USED_UP " (7);");
	refuses(f, "requeue");
	assert_string_equal(rows(f, "SELECT count(*) FROM event WHERE type = 'job-goes-on'"), "1;");
}

/* A range that is over ends nothing, nor does a month in the seconds before that is noticed. */
static void test_a_period_that_is_over(void **state)
{
	struct fix *f = used_up(state, AT, 0);
	struct budgets *b = holds_budgets(f->e);

	reached(f, BUDGET_REQUEUES, HOUR);
	for (size_t i = 0; i < b->ncounts; i++) {
		b->counts[i]->period.end_ms = engine_now(f->e) - 1;
		b->counts[i]->when = PERIOD_NOW;
	}
	jobs(f, RUNS);
	assert_string_equal(orders(f), "");
	turn(f);
	assert_false(f->e->money->ladders.due);
	for (size_t i = 0; i < b->ncounts; i++) {
		b->counts[i]->period.end_ms = engine_now(f->e) + HOUR;
		b->counts[i]->when = PERIOD_OVER;
	}
	jobs(f, RUNS);
	assert_string_equal(orders(f), "");
	for (size_t i = 0; i < b->ncounts; i++)
		b->counts[i]->when = PERIOD_NOW;
	jobs(f, RUNS);
	assert_string_equal(orders(f), "requeue 7: " USED_UP ";");
}

/* One that no hold is for yet has just begun, or nobody knows who pays for it. */
static void test_a_job_without_a_hold(void **state)
{
	struct conf *c = ladder(1000 * EUR, 1000 * EUR);
	struct fix *f = *state;

	c->budgets[0].requeue_at = AT;
	runs_with(f, c);
	f->e->conf->budgets[0].amount_nano = 2 * EUR;
	(void)orders(f);
	turn(f);
	money_line_of(f->e, &(struct budget_line){.budget = &f->e->conf->budgets[0], .value = ""})
		->since_ms[BUDGET_REQUEUES] = engine_now(f->e) - HOUR;
	jobs(f, "9|9|RUNNING|gpu|None|c1\n" RUNS);
	assert_string_equal(orders(f), "requeue 7: budget all is used up for 2 days;");
	jobs(f, "9|9|RUNNING|gpu|None|c1\n" RUNS);
	assert_string_equal(orders(f), "");
	/* Its grace is over some time, too. */
	ran(f);
	f->e->conf->budgets[0].grace_ms = 20;
	for (int i = 0; i < 2; i++) {
		(void)usleep(12000);
		uv_update_time(loop_uv(f->loop));
		jobs(f, "9|9|RUNNING|gpu|None|c1\n" RUNS);
	}
	assert_string_equal(orders(f), "requeue 9: budget all is used up for 2 days;");
}

/* spot_only_at is about jobs on other machines: this one waits until there is any money. */
static void test_what_it_waits_for(void **state)
{
	struct fix *f = used_up(state, AT, 0);

	f->e->conf->budgets[1].spot_only_at = 50;
	reached(f, BUDGET_REQUEUES, HOUR);
	jobs(f, RUNS);
	jobs(f, "");
	assert_int_equal(f->e->money->nwaits, 1);
	assert_true(budgets_lack(holds_budgets(f->e), &waits_at(f, 0)->no));
	f->e->conf->budgets[1].amount_nano = 200 * EUR;
	f->e->conf->budgets[1].spot_only_at = 1;
	assert_false(budgets_lack(holds_budgets(f->e), &waits_at(f, 0)->no));
}

/* A job that slurmctld does not requeue goes on, perhaps for hours: before it is cancelled it is
 * told to save its work again, by the signal and by the command. */
static void test_a_job_saves_its_work_before_each_step(void **state)
{
	static const char commands[] = "SELECT count(*) FROM audit WHERE verb = 'checkpoint'";
	struct fix *f = used_up(state, AT, AT);
	struct conf_pool *p = &f->e->conf->pools[0];

	p->checkpoint_signal = mem_strdup("USR1");
	p->checkpoint_command = mem_zalloc(2 * sizeof(*p->checkpoint_command));
	p->checkpoint_command[0] = mem_strdup("/no/such/command");
	reached(f, BUDGET_REQUEUES, 9 * MINUTE);
	reached(f, BUDGET_KILLS, 0);
	jobs(f, RUNS);
	assert_string_equal(orders(f), "signal 7: USR1;");
	assert_string_equal(rows(f, commands), "1;");
	ran(f);
	reached(f, BUDGET_REQUEUES, 10 * MINUTE);
	jobs(f, RUNS);
	assert_string_equal(orders(f), "requeue 7: " USED_UP ";");
	refuses(f, "requeue");
	ran(f);
	reached(f, BUDGET_REQUEUES, 3 * HOUR);
	told_forget(f->e, 7); /* that was long ago */
	reached(f, BUDGET_KILLS, 7 * MINUTE);
	jobs(f, RUNS);
	assert_string_equal(orders(f), ""); /* not yet */
	for (int i = 0; i < 2; i++) {
		reached(f, BUDGET_KILLS, 9 * MINUTE);
		jobs(f, RUNS);
		assert_string_equal(orders(f), i == 0 ? "signal 7: USR1;" : "");
		assert_string_equal(rows(f, commands), "2;");
	}
}

/* F41: its node will be taken away, too, and it saves its work for that: it is not told twice.  If
 * it goes on without that node, or was requeued meanwhile, it is. */
static void test_a_job_that_loses_its_node_is_told_once(void **state)
{
	static const char commands[] = "SELECT count(*) FROM audit WHERE verb = 'checkpoint'";
	static const struct {
		enum journal_signal signal;
		int64_t hold_ms;
		bool told;
	} t[] = {
		{JOURNAL_SIGNAL_DUE, 0, false},
		{JOURNAL_SIGNAL_SENT, 0, false},
		{JOURNAL_SIGNAL_SENT, 1, true},
		{JOURNAL_SIGNAL_NONE, 0, true},
	};

	for (size_t i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
		struct fix *f = used_up(state, AT, 0);
		struct conf_pool *p = &f->e->conf->pools[0];
		struct journal_rescue r = {.job = 7,
					   .id = "7",
					   .node = "c1",
					   .gen = 1,
					   .at_ms = engine_now(f->e),
					   .signal = t[i].signal,
					   .hold_ms = t[i].hold_ms};

		p->checkpoint_signal = mem_strdup("USR1");
		p->checkpoint_command = mem_zalloc(2 * sizeof(*p->checkpoint_command));
		p->checkpoint_command[0] = mem_strdup("/no/such/command");
		rescue_load(f->e, &r);
		reached(f, BUDGET_REQUEUES, 9 * MINUTE);
		jobs(f, RUNS);
		assert_string_equal(orders(f), t[i].told ? "signal 7: USR1;" : "");
		assert_string_equal(rows(f, commands), t[i].told ? "1;" : "0;");
	}
}

/* A job is not told to save its work again because the configuration is read again: the budget that
 * ends it is the same.  If its end is put off, what it has saved is old by then. */
static void test_a_job_saves_its_work_once_over_a_reload(void **state)
{
	static const char warned[] = "SELECT count(*) FROM event WHERE type = 'job-warned'";
	struct fix *f = used_up(state, AT, 0);
	struct conf *c = ladder(1000 * EUR, 2 * EUR);

	f->e->conf->pools[0].checkpoint_signal = mem_strdup("USR1");
	reached(f, BUDGET_REQUEUES, 9 * MINUTE);
	jobs(f, RUNS);
	assert_string_equal(orders(f), "signal 7: USR1;");
	ran(f);
	c->budgets[1].requeue_at = AT;
	c->pools[0].checkpoint_signal = mem_strdup("USR1");
	assert_int_equal(engine_reload(f->e, c, NULL), 0);
	turn(f);
	reached(f, BUDGET_REQUEUES, 9 * MINUTE);
	jobs(f, RUNS);
	engine_commit(f->e);
	assert_string_equal(orders(f), "");
	assert_string_equal(rows(f, warned), "1;");
	reached(f, BUDGET_REQUEUES, 0);
	jobs(f, RUNS);
	told_forget(f->e, 7); /* minutes later */
	reached(f, BUDGET_REQUEUES, 9 * MINUTE);
	jobs(f, RUNS);
	assert_string_equal(orders(f), "signal 7: USR1;");
}

enum { SLOTS = 16 };

/* A job with a command, of which as many run as may; it was to end so long ago. */
static struct fix *crowded(void **state, int64_t ago_ms)
{
	struct fix *f = used_up(state, AT, AT);
	struct conf_pool *p = &f->e->conf->pools[0];

	p->checkpoint_command = mem_zalloc(2 * sizeof(*p->checkpoint_command));
	p->checkpoint_command[0] = mem_strdup("/no/such/command");
	f->e->jobs->nhooks[CHECKPOINT_MONEY] = SLOTS;
	reached(f, BUDGET_REQUEUES, 9 * MINUTE);
	jobs(f, RUNS);
	reached(f, BUDGET_REQUEUES, 10 * MINUTE + ago_ms);
	reached(f, BUDGET_KILLS, 10 * MINUTE + ago_ms);
	jobs(f, RUNS);
	return f;
}

static const char missed[] = "SELECT detail FROM event WHERE type = 'checkpoint-failed'";

/* While too many commands run, a job waits for its own, and is not ended before that has had its
 * time. */
static void test_a_job_waits_for_its_command(void **state)
{
	struct fix *f = crowded(state, 5 * MINUTE);

	assert_string_equal(orders(f), "");
	assert_string_equal(rows(f, missed), "");
	f->e->money->ladders.squeue_ms = engine_now(f->e) + HOUR;
	f->e->jobs->nhooks[CHECKPOINT_MONEY] = 0;
	jobs(f, RUNS);
	assert_string_equal(orders(f), "");
	assert_string_equal(rows(f, "SELECT object FROM audit WHERE verb = 'checkpoint'"), "7;");
	jobs(f, RUNS);
	assert_string_equal(orders(f), ""); /* it has two minutes */
	assert_true(f->e->money->ladders.squeue_ms <= engine_now(f->e) + 2 * MINUTE);
	reached(f, BUDGET_REQUEUES, 18 * MINUTE);
	reached(f, BUDGET_KILLS, 18 * MINUTE);
	jobs(f, RUNS);
	assert_string_equal(orders(f), "requeue 7: " USED_UP ";"); /* though both are due */
	/* ... or what is left of ten. */
	f = crowded(state, 9 * MINUTE);
	f->e->jobs->nhooks[CHECKPOINT_MONEY] = 0;
	jobs(f, RUNS);
	assert_string_equal(orders(f), "");
	assert_string_equal(rows(f, "SELECT object FROM audit WHERE verb = 'checkpoint'"), "7;");
	reached(f, BUDGET_REQUEUES, 20 * MINUTE);
	jobs(f, RUNS);
	assert_string_equal(orders(f), "requeue 7: " USED_UP ";");
}

/* Ten minutes after its time it is ended all the same, and that is said. */
static void test_a_job_waits_in_vain(void **state)
{
	struct fix *f = crowded(state, 9 * MINUTE);

	assert_string_equal(orders(f), "");
	assert_string_equal(rows(f, missed), "");
	f = crowded(state, 10 * MINUTE);
	for (int i = 0; i < 2; i++) {
		assert_string_equal(orders(f), i == 0 ? "requeue 7: " USED_UP ";" : "");
		assert_string_equal(rows(f, missed), "job 7: checkpoint_command: it did not run: "
						     "there was no time for it;");
		jobs(f, RUNS);
	}
	assert_string_equal(rows(f, "SELECT object FROM audit WHERE verb = 'checkpoint'"), "");
}

/* As soon as a command has ended squeue is asked, so that the next one runs. */
static void test_squeue_is_asked_when_a_command_ends(void **state)
{
	struct fix *f = crowded(state, MINUTE);
	struct ladders *l = &f->e->money->ladders;

	assert_true(l->crowded);
	f->e->jobs->wanted = 0;
	l->look_ms = engine_now(f->e) + HOUR;
	l->asked_ms = engine_now(f->e) - 2000;
	l->squeue_ms = engine_now(f->e) + 8000;
	ladder_part.at[PART_RUN](f->e);
	assert_int_equal(f->e->jobs->wanted, 0);
	f->e->jobs->nhooks[CHECKPOINT_MONEY]--;
	l->asked_ms = engine_now(f->e) - 1000;
	ladder_part.at[PART_RUN](f->e);
	assert_int_equal(f->e->jobs->wanted, 0); /* not again at once */
	l->asked_ms = engine_now(f->e) - 2000;
	ladder_part.at[PART_RUN](f->e);
	assert_int_equal(f->e->jobs->wanted, JOBS_FOR_LADDER);
	f->e->jobs->nhooks[CHECKPOINT_MONEY] = 0;
	jobs(f, RUNS);
	assert_false(l->crowded);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_a_job_that_goes_on_after_all),
		TEST(test_a_job_whose_requeue_was_not_sent),
		TEST(test_a_refusal_of_several),
		TEST(test_a_period_that_is_over),
		TEST(test_a_job_without_a_hold),
		TEST(test_what_it_waits_for),
		TEST(test_a_job_saves_its_work_before_each_step),
		TEST(test_a_job_saves_its_work_once_over_a_reload),
		TEST(test_a_job_that_loses_its_node_is_told_once),
		TEST(test_a_job_waits_for_its_command),
		TEST(test_a_job_waits_in_vain),
		TEST(test_squeue_is_asked_when_a_command_ends),
	};

	return cmocka_run_group_tests(tests, zone_begins, zone_ends);
}
