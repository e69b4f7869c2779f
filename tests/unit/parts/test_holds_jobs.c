/* holds_jobs.c: jobs that come to machines that are up, and ask by burst-prolog, or do not. */
#include "holds_lab.h"

#include "jobs/job.h"

enum { NOTHING = -1 };

#define ROW_8(state) "8|8|" state "|gpu|None|c1"
#define LIMIT_6_H    "| |chem|bob|normal|6:00:00|1|16|NO|cpu=16,gres/gpu=8|1|*|"

static void on_end(void *ctx, enum gate_end how)
{
	*(int *)ctx = (int)how;
}

/* The part asks squeue, which says this of one job. */
static void looks(struct fix *f, const char *row)
{
	char text[1000];
	int n = payer_row(text, sizeof(text), row, "key", "");

	f->e->jobs->wanted = 0;
	f->e->jobs->running = JOBS_FOR_HOLDS;
	holds_jobs_part.squeue_begins(f->e);
	jobs_answer(f->e, text, (size_t)n, NULL);
}

/* Machine c1 is up, and idle: its job has ended. */
static void idle(struct fix *f, struct conf *c)
{
	assert_int_equal(load_conf(f, c, NULL), 0);
	f->e->left = ENGINE_SEND;
	buy_7(f);
	write_down(f);
	ready(f, "c1");
	ready(f, "c2");
	show(f, "IDLE+CLOUD", "NodeAddr=10.0.0.1 CPUTot=16 Gres=gpu:8");
	for (struct hold_node *g = f->e->money->nodes; g != NULL; g = g->next)
		for (struct hold *h = g->first; h != NULL; h = h->next)
			h->made_ms -= MINUTE;
	looks(f, "9|9|PENDING|gpu|None|" PAYS);
	assert_null(held(f, "c1", BUDGET_RUN));
}

/* The job's burst-prolog asks; *end is how it ended. */
static struct gate *asks(struct fix *f, int *end)
{
	struct gate *g;

	*end = NOTHING;
	assert_int_equal(
		engine_gate_open(
			f->e,
			&(struct gate_ask){
				.job = 8, .nodes = "c1", .len = 2, .fn = on_end, .ctx = end},
			&g, NULL),
		0);
	return g;
}

/* P4: slurmctld shows a job that starts, and starts its prolog, which asks a moment later.  An
 * answer of squeue from in between must not count the job as one that nobody has asked for. */
static void test_seen_before_it_asks(void **state)
{
	struct fix *f = *state;
	int end;

	idle(f, conf_of(100 * EUR, 5 * EUR));
	looks(f, ROW_8("CONFIGURING") LIMIT_6_H);
	assert_null(held(f, "c1", BUDGET_RUN));
	(void)asks(f, &end);
	looks(f, ROW_8("CONFIGURING") LIMIT_6_H);
	assert_null(held(f, "c1", BUDGET_RUN));
	assert_int_equal(f->e->money->nwaits, 1); /* it is refused */
	/* squeue may show it a little longer; it does not pay for that. */
	looks(f, ROW_8("CONFIGURING") LIMIT_6_H);
	assert_null(held(f, "c1", BUDGET_RUN));
	/* One that runs all the same is counted. */
	looks(f, ROW_8("RUNNING") LIMIT_6_H);
	assert_int_equal(held(f, "c1", BUDGET_RUN)->job, 8);
}

/* Jobs that start together on one node that is off: the machine is bought for one of them, and the
 * prologs of the others may ask before it has a row.  They are not let until they have been asked
 * for, or nobody would count a short one. */
static void test_it_asks_before_the_node_is_bought(void **state)
{
	struct fix *f = *state;
	struct gate *g;
	int end;

	start(f, 100 * EUR, 100 * EUR);
	show(f, "IDLE+CLOUD+POWERED_DOWN", "CPUTot=16 Gres=gpu:8");
	g = asks(f, &end);
	looks(f, ROW_8("CONFIGURING") PAYS_BOB);
	assert_true(gate_asks(f->e, 8));
	buy_7(f);
	looks(f, ROW_8("CONFIGURING") PAYS_BOB);
	assert_true(gate_asks(f->e, 8));
	assert_true(engine_gate_is_unsaid(g));
	write_down(f);
	looks(f, ROW_8("CONFIGURING") PAYS_BOB);
	assert_false(gate_asks(f->e, 8));
	assert_false(engine_gate_is_unsaid(g));
	assert_int_equal(held(f, "c1", BUDGET_RUN)->job, 8);
}

/* Where nothing asks it is counted at once. */
static void test_without_a_prolog(void **state)
{
	static const struct {
		const char *config;
		bool counts;
	} all[] = {
		{"PrologSlurmctld = (null)\n", true},
		{"PrologSlurmctld = /usr/libexec/burstd/burst-prolog\n", false},
		{"PrologSlurmctld[0] = /etc/site\nPrologSlurmctld[1] = /usr/burst-prolog\n", false},
		{"KillWait = 30 sec\n", true},
	};
	struct fix *f = *state;

	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		print_message("# %s\n", all[i].config);
		(void)teardown(state);
		(void)setup(state);
		f = *state;
		idle(f, conf_of(100 * EUR, 5 * EUR));
		holds_part.settings(f->e, all[i].config, strlen(all[i].config), 1);
		looks(f, ROW_8("CONFIGURING") LIMIT_6_H);
		assert_int_equal(held(f, "c1", BUDGET_RUN) != NULL, all[i].counts);
	}
}

/* Its machine is there and is paid for by the hour already: a job that comes to it adds nothing to
 * what machines cost at one time. */
static void test_the_rate_of_a_machine_counts_once(void **state)
{
	struct fix *f = *state;
	struct conf *c = conf_of(100 * EUR, 100 * EUR);
	int64_t until, now;
	int end;

	c->budgets[0].rate_nano_h = 2 * EUR;
	idle(f, c);
	assert_int_equal(line(f, "all").rate, 2 * EUR);
	until = of(f, "c1", BUDGET_MACHINE).until_ms;
	(void)asks(f, &end);
	now = engine_now(f->e);
	promises_make(f->e, 8, &(struct budget_no){.lack = BUDGET_NO_PRICE}); /* it had waited */
	looks(f, ROW_8("CONFIGURING") LIMIT_6_H);
	assert_int_equal(f->e->money->npromises, 0);
	assert_false(gate_asks(f->e, 8)); /* it is let */
	assert_int_equal(f->e->money->nwaits, 0);
	assert_int_equal(held(f, "c1", BUDGET_RUN)->job, 8);
	assert_int_equal(line(f, "all").rate, 2 * EUR);
	assert_true(of(f, "c1", BUDGET_MACHINE).until_ms > until);
	assert_true(of(f, "c1", BUDGET_MACHINE).until_ms >= now + (1 + 361 + 10) * MINUTE);
}

/* But for its longer time there must be money. */
static void test_the_longer_time_of_a_machine_counts(void **state)
{
	struct fix *f = *state;
	int64_t until;
	int end;

	idle(f, conf_of(5 * EUR, 100 * EUR)); /* two machines want 4.78 */
	until = of(f, "c1", BUDGET_MACHINE).until_ms;
	(void)asks(f, &end);
	looks(f, ROW_8("CONFIGURING") LIMIT_6_H);
	assert_int_equal(of(f, "c1", BUDGET_MACHINE).until_ms, until);
	assert_int_equal(f->e->money->nwaits, 1);
	assert_string_equal(waits_at(f, 0)->no.budget->name, "all");
	assert_in_range(waits_at(f, 0)->no.needs, 1, 10 * EUR);
}

/* With what it holds on another of its nodes, which it gives back as well. */
static void test_it_waits_for_all_of_its_nodes(void **state)
{
	struct fix *f = *state;
	struct budget_hold other;
	int end;

	idle(f, conf_of(5 * EUR, 100 * EUR));
	other = of(f, "c2", BUDGET_MACHINE);
	other.kind = BUDGET_RUN;
	other.until_ms = other.from_ms + 50 * HOUR;
	(void)hold_add(f->e, hold_find(f->e, "c2", row(f, "c2")->n.gen), 8, &other);
	(void)asks(f, &end);
	looks(f, "8|8|CONFIGURING|gpu|None|c[1-2]" LIMIT_6_H);
	assert_int_equal(f->e->money->nwaits, 1);
	assert_true(waits_at(f, 0)->no.needs > 50 * EUR);
}

/* Before slurmctld's release is known, squeue is not asked for a column that only some have, and a
 * job is held for all of its nodes.  Once it has been, the job pays for its part, from its begin.
 */
static void test_the_share_is_read_once_more(void **state)
{
	static const struct {
		const char *shares; /* what squeue says later */
		int64_t rate;
	} all[] = {
		{"NO", EUR}, {"NO/", EUR}, {"NO/NODE", EUR}, {"NO/NO", EUR / 2}, {"OK/NO", EUR / 2},
	};
	struct fix *f = *state;

	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		char text[300];

		print_message("# %s\n", all[i].shares);
		(void)teardown(state);
		(void)setup(state);
		f = *state;
		start(f, 100 * EUR, 100 * EUR);
		show(f, "IDLE+CLOUD+POWERED_DOWN", "CPUTot=16 RealMemory=2000000 Gres=gpu:h100:8");
		buy_7(f);
		write_down(f);
		ready(f, "c1");
		age(f, "c1", HOUR);
		assert_int_equal(of(f, "c1", BUDGET_RUN).rate_nano_h, EUR);
		(void)snprintf(text, sizeof(text),
			       "7|7|RUNNING|gpu|None|c[1-2]| |physics|ann|normal|2:00:00|2|16|%s|"
			       "cpu=16,gres/gpu=2|2|*|",
			       all[i].shares);
		looks(f, text);
		assert_int_equal(of(f, "c1", BUDGET_RUN).rate_nano_h, all[i].rate);
		assert_int_equal(of(f, "c2", BUDGET_RUN).rate_nano_h,
				 EUR); /* its CPUs are not known */
		assert_int_equal(of(f, "c2", BUDGET_BOOT).rate_nano_h, EUR);
		assert_string_equal(rows(f, "SELECT rate_nano_h FROM hold WHERE node = 'c1' AND "
					    "kind = 'run'"),
				    all[i].rate == EUR ? "1000000000;" : "500000000;");
		looks(f, "9|9|PENDING|gpu|None|" PAYS);
		ends(f, "c1");
	}
}

/* Once: what a job has of each node by the average changes when it gives one back. */
static void test_a_share_stays(void **state)
{
	struct fix *f = *state;

	start(f, 100 * EUR, 100 * EUR);
	show(f, "IDLE+CLOUD+POWERED_DOWN", "CPUTot=16 RealMemory=2000000 Gres=gpu:h100:8");
	buy_7(f);
	write_down(f);
	ready(f, "c1");
	looks(f, "7|7|RUNNING|gpu|None|c[1-2]| |physics|ann|normal|2:00:00|2|16|NO/NO|cpu=16|2|*|");
	looks(f, "7|7|RUNNING|gpu|None|c1| |physics|ann|normal|2:00:00|1|4|NO/NO|cpu=4|2|*|");
	assert_int_equal(of(f, "c1", BUDGET_RUN).rate_nano_h, EUR / 2);
}

/* P4: what was spent in a period that is over, and what was added to it, counts from its very end
 * on no more, whenever it was looked at last. */
static void ends_a_period(struct fix *f, bool by_squeue)
{
	struct conf *c = conf_of(100 * EUR, 5 * EUR);
	const int64_t month = 40 * 24 * HOUR;
	struct money_state *m;
	uint32_t who;

	for (int i = 0; i < 2; i++) {
		free(c->budgets[i].period);
		c->budgets[i].period = mem_strdup("month");
		assert_int_equal(period_parse(&c->budgets[i].period_rule, "month", NULL), 0);
	}
	assert_int_equal(load_conf(f, c, NULL), 0);
	f->e->left = ENGINE_SEND;
	m = f->e->money;
	budgets_free(m->budgets);
	m->budgets = budgets_new(utc, engine_now(f->e) - month); /* an earlier month */
	budgets_configure(m->budgets, c->budgets, c->nbudgets);
	who = budgets_spender(m->budgets, &(struct budget_spender){.account = "physics",
								   .user = "ann",
								   .qos = "normal",
								   .wckey = "",
								   .partition = "gpu",
								   .pool = "pool",
								   .provider = "cloud",
								   .market = PROVIDER_ON_DEMAND});
	(void)budgets_spent(m->budgets, who, budgets_day(m->budgets, engine_now(f->e) - month),
			    5 * EUR);
	assert_int_equal(line(f, "account").left, 0);
	m->watch_ms = engine_now(f->e) + MINUTE;
	assert_true(holds_part.next_ms(f->e) <= engine_now(f->e));
	if (by_squeue) {
		looks(f, "9|9|PENDING|gpu|None|" PAYS);
		assert_int_equal(line(f, "account").spent, 0);
		return;
	}
	buy_7(f);
	assert_true(is_bought(f, "c1"));
	assert_int_equal(line(f, "account").spent, 0);
	assert_true(budgets_turn_ms(m->budgets) > engine_now(f->e));
}

static void test_a_period_that_has_just_ended(void **state)
{
	ends_a_period(*state, false);
	(void)teardown(state);
	(void)setup(state);
	ends_a_period(*state, true);
}

/* --- when a job starts, and until when it may run ------------------------------------------------
 */

/* Job 7 has c1, which is up, and c2, which boots for at most ten minutes. */
static void comes_up(struct fix *f)
{
	start(f, 100 * EUR, 100 * EUR);
	buy_7(f);
	write_down(f);
	ready(f, "c1");
}

#define ROW_7(state, limit)                                                                        \
	"7|7|" state "|gpu|None|c[1-2]| |physics|ann|normal|" limit                                \
	"|2|16|NO|cpu=16,gres/gpu=16|2|*|"

static int64_t runs_until(const struct fix *f)
{
	return of(f, "c1", BUDGET_RUN).until_ms;
}

/* Hold for the job as if all of it had been done so much earlier. */
static void later(struct fix *f, int64_t ms)
{
	struct hold_node *g = hold_find(f->e, "c1", row(f, "c1")->n.gen);

	for (struct hold *h = g->first; h != NULL; h = h->next) {
		hold_change(f->e, g, h, hold_of(f->e, h)->from_ms - ms,
			    hold_of(f->e, h)->until_ms - ms);
		h->stopped_ms -= h->stopped_ms != 0 ? ms : 0;
	}
	engine_commit(f->e);
}

/* P4: nodes are up one after the other, and the job starts with the last of them.  Until then it is
 * held for until its end at the latest, and once it runs no longer than that. */
static void test_a_job_starts_with_its_last_node(void **state)
{
	struct fix *f = *state;
	int64_t planned, machine, now;

	comes_up(f);
	planned = runs_until(f);
	machine = of(f, "c1", BUDGET_MACHINE).until_ms;
	looks(f, ROW_7("CONFIGURING", "2:00:00"));
	assert_int_equal(runs_until(f), planned);
	now = engine_now(f->e);
	looks(f, ROW_7("RUNNING", "2:00:00"));
	assert_in_range(runs_until(f), now + 121 * MINUTE, engine_now(f->e) + 121 * MINUTE);
	planned = runs_until(f);
	looks(f, ROW_7("RUNNING", "2:00:00")); /* later looks change nothing */
	assert_int_equal(runs_until(f), planned);
	assert_int_equal(of(f, "c1", BUDGET_MACHINE).until_ms, machine);
	same_in_journal(f);
	/* It waits for longer than a boot may take: then it ends later, too. */
	later(f, HOUR);
	now = engine_now(f->e);
	looks(f, ROW_7("CONFIGURING", "2:00:00"));
	assert_true(runs_until(f) >= now + 121 * MINUTE);
	assert_true(of(f, "c1", BUDGET_MACHINE).until_ms >= now + (121 + 10) * MINUTE + 150000);
	same_in_journal(f);
}

/* A job that comes to a machine that is up, and to one that boots, starts with the second: so long
 * it has the first, too.  One that runs already, on a node that burstd has not seen up, does once
 * more. */
static void test_a_job_that_comes_to_several(void **state)
{
	static const struct {
		const char *state;
		int64_t c1, c2; /* until when it may run there, from now on */
	} all[] = {
		{"CONFIGURING", 10 + 121, 10 + 121},
		{"RUNNING", 121, 10 + 121},
	};
	struct fix *f = *state;

	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		char text[300];
		int64_t now;

		print_message("# %s\n", all[i].state);
		(void)teardown(state);
		(void)setup(state);
		f = *state;
		comes_up(f);
		f->e->money->no_prolog = true;
		for (struct hold_node *g = f->e->money->nodes; g != NULL; g = g->next)
			for (struct hold *h = g->first; h != NULL; h = h->next)
				h->made_ms -= MINUTE;
		(void)snprintf(text, sizeof(text), "8|8|%s|gpu|None|c[1-2]%s", all[i].state,
			       PAYS_BOB);
		now = engine_now(f->e);
		looks(f, text);
		assert_int_equal(held(f, "c2", BUDGET_RUN)->job, 8);
		assert_in_range(runs_until(f), now + all[i].c1 * MINUTE,
				engine_now(f->e) + all[i].c1 * MINUTE);
		assert_in_range(of(f, "c2", BUDGET_RUN).until_ms, now + all[i].c2 * MINUTE,
				engine_now(f->e) + all[i].c2 * MINUTE);
		assert_true(of(f, "c2", BUDGET_RUN).from_ms >= now + 10 * MINUTE);
	}
}

/* scontrol update: what is raised is held at once, what is lowered is free at once. */
static void test_another_time_limit(void **state)
{
	struct fix *f = *state;
	int64_t until, now;

	comes_up(f);
	/* Its node was up five minutes before the last one. */
	hold_change(f->e, hold_find(f->e, "c1", row(f, "c1")->n.gen), held(f, "c1", BUDGET_RUN),
		    of(f, "c1", BUDGET_RUN).from_ms - 5 * MINUTE, runs_until(f));
	looks(f, ROW_7("RUNNING", "2:00:00"));
	later(f, HOUR);
	until = runs_until(f);
	looks(f, ROW_7("RUNNING", "3:00:00"));
	assert_int_equal(runs_until(f), until + HOUR);
	assert_true(of(f, "c1", BUDGET_MACHINE).until_ms >= until + HOUR + 10 * MINUTE);
	now = engine_now(f->e);
	looks(f, ROW_7("RUNNING", "0:30:00"));
	assert_in_range(runs_until(f), now + 31 * MINUTE, engine_now(f->e) + 31 * MINUTE);
	until = runs_until(f);
	looks(f, ROW_7("RUNNING", "UNLIMITED"));
	assert_int_equal(runs_until(f), until); /* and then two minutes at a time */
	/* One that was held for without end, as it had no limit. */
	hold_change(f->e, hold_find(f->e, "c1", row(f, "c1")->n.gen), held(f, "c1", BUDGET_RUN),
		    of(f, "c1", BUDGET_RUN).from_ms, INT64_MAX);
	now = engine_now(f->e);
	looks(f, ROW_7("RUNNING", "1:00:00"));
	assert_in_range(runs_until(f), now + 61 * MINUTE, engine_now(f->e) + 61 * MINUTE);
	/* While burstd was away. */
	held(f, "c1", BUDGET_RUN)->span_ms = 0;
	looks(f, ROW_7("RUNNING", "5:00:00"));
	assert_int_equal(runs_until(f), of(f, "c1", BUDGET_RUN).from_ms + 301 * MINUTE);
	same_in_journal(f);
}

/* The time for which a job is suspended is added to that which it may run. */
static void test_a_suspended_job_ends_later(void **state)
{
	struct fix *f = *state;
	int64_t until;

	comes_up(f);
	looks(f, ROW_7("RUNNING", "2:00:00"));
	later(f, HOUR);
	until = runs_until(f);
	looks(f, ROW_7("SUSPENDED", "2:00:00"));
	/* since the last look, perhaps */
	assert_in_range(runs_until(f), until + 30000, until + 30000 + 5000);
	later(f, HOUR);
	until = runs_until(f);
	looks(f, ROW_7("SUSPENDED", "2:00:00"));
	assert_in_range(runs_until(f), until + HOUR, until + HOUR + MINUTE);
	assert_true(of(f, "c1", BUDGET_MACHINE).until_ms >= runs_until(f) + 10 * MINUTE);
	later(f, HOUR / 2);
	until = runs_until(f);
	looks(f, ROW_7("RUNNING", "2:00:00"));
	assert_in_range(runs_until(f), until + HOUR / 2, until + HOUR / 2 + MINUTE);
	until = runs_until(f);
	looks(f, ROW_7("RUNNING", "2:00:00"));
	assert_int_equal(runs_until(f), until);
	same_in_journal(f);
}

/* A machine that is billed by the hour is paid for until the hour of its own that the job ends in:
 * no look at the job makes that more. */
static void test_hours_are_those_of_the_machine(void **state)
{
	struct fix *f = *state;
	int64_t until;

	start(f, 100 * EUR, 100 * EUR);
	f->e->conf->pools[0].quantum_ms = HOUR;
	buy_7(f);
	write_down(f);
	ready(f, "c1");
	until = of(f, "c1", BUDGET_MACHINE).until_ms;
	assert_int_equal(until - of(f, "c1", BUDGET_MACHINE).from_ms, 3 * HOUR);
	looks(f, ROW_7("CONFIGURING", "2:00:00"));
	later(f, 9 * MINUTE);
	looks(f, ROW_7("RUNNING", "2:00:00"));
	assert_int_equal(of(f, "c1", BUDGET_MACHINE).until_ms, until - 9 * MINUTE);
	looks(f, ROW_7("RUNNING", "3:00:00"));
	assert_int_equal(of(f, "c1", BUDGET_MACHINE).until_ms, until - 9 * MINUTE + HOUR);
}

static void reload_looks(struct fix *f, struct conf *c)
{
	f->e->money->look_ms = engine_now(f->e) + MINUTE / 2; /* it has just looked */
	assert_int_equal(engine_reload(f->e, c, NULL), 0);
	f->e->jobs->wanted = 0;
	assert_true(holds_jobs_part.next_ms(f->e) <= engine_now(f->e));
	holds_jobs_part.at[PART_RUN](f->e);
	assert_int_equal(f->e->jobs->wanted, JOBS_FOR_HOLDS);
	looks(f, ROW_8("RUNNING") LIMIT_6_H);
}

/* P4: without a budget a job that runs is held for two minutes at a time.  With one it is for all
 * of its time, as soon as the reload: jobs that start within the 30 s between two looks would be
 * let for money that it takes. */
static void test_a_budget_is_new_to_a_job_that_runs(void **state)
{
	struct fix *f = *state;

	idle(f, conf_of(100 * EUR, 100 * EUR));
	looks(f, ROW_8("RUNNING") LIMIT_6_H);
	assert_true(of(f, "c1", BUDGET_RUN).until_ms > engine_now(f->e) + 5 * HOUR);
	assert_int_equal(engine_reload(f->e, conf_of(0, 0), NULL), 0);
	later(f, MINUTE);
	looks(f, ROW_8("RUNNING") LIMIT_6_H);
	assert_true(of(f, "c1", BUDGET_RUN).until_ms < engine_now(f->e) + HOUR);
	reload_looks(f, conf_of(100 * EUR, 100 * EUR));
	assert_true(of(f, "c1", BUDGET_RUN).until_ms > engine_now(f->e) + 5 * HOUR);
}

/* P4: likewise where a reload makes `full` of a budget that reserved less. */
static void full_after(struct fix *f, enum conf_reserve reserve)
{
	struct conf *c = conf_of(100 * EUR, 100 * EUR);

	for (size_t i = 0; i < c->nbudgets; i++) {
		c->budgets[i].reserve = reserve;
		c->budgets[i].lease_ms = 10 * MINUTE;
	}
	idle(f, c);
	looks(f, ROW_8("RUNNING") LIMIT_6_H);
	later(f, MINUTE);
	looks(f, ROW_8("RUNNING") LIMIT_6_H);
	assert_true(of(f, "c1", BUDGET_RUN).until_ms < engine_now(f->e) + HOUR);
	reload_looks(f, conf_of(100 * EUR, 100 * EUR));
	assert_in_range(of(f, "c1", BUDGET_RUN).until_ms, engine_now(f->e) + 6 * HOUR - MINUTE,
			engine_now(f->e) + 6 * HOUR + MINUTE);
	assert_true(of(f, "c1", BUDGET_MACHINE).until_ms >= of(f, "c1", BUDGET_RUN).until_ms);
	same_in_journal(f);
}

static void test_a_lease_becomes_full(void **state)
{
	full_after(*state, CONF_RESERVE_LEASE);
}

static void test_a_minimum_becomes_full(void **state)
{
	full_after(*state, CONF_RESERVE_MINIMUM);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_seen_before_it_asks),
		TEST(test_without_a_prolog),
		TEST(test_it_asks_before_the_node_is_bought),
		TEST(test_the_rate_of_a_machine_counts_once),
		TEST(test_the_longer_time_of_a_machine_counts),
		TEST(test_it_waits_for_all_of_its_nodes),
		TEST(test_the_share_is_read_once_more),
		TEST(test_a_share_stays),
		TEST(test_a_period_that_has_just_ended),
		TEST(test_a_job_starts_with_its_last_node),
		TEST(test_a_job_that_comes_to_several),
		TEST(test_another_time_limit),
		TEST(test_a_suspended_job_ends_later),
		TEST(test_hours_are_those_of_the_machine),
		TEST(test_a_budget_is_new_to_a_job_that_runs),
		TEST(test_a_lease_becomes_full),
		TEST(test_a_minimum_becomes_full),
	};

	return cmocka_run_group_tests(tests, zone_begins, zone_ends);
}
