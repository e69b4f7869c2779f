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
static void asks(struct fix *f, int *end)
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
	asks(f, &end);
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
	asks(f, &end);
	now = engine_now(f->e);
	looks(f, ROW_8("CONFIGURING") LIMIT_6_H);
	assert_false(gate_asks(f->e, 8)); /* it is let */
	assert_int_equal(f->e->money->nwaits, 0);
	assert_int_equal(held(f, "c1", BUDGET_RUN)->job, 8);
	assert_int_equal(line(f, "all").rate, 2 * EUR);
	assert_true(of(f, "c1", BUDGET_MACHINE).until_ms > until);
	assert_true(of(f, "c1", BUDGET_MACHINE).until_ms >= now + (361 + 10) * MINUTE);
}

/* But for its longer time there must be money. */
static void test_the_longer_time_of_a_machine_counts(void **state)
{
	struct fix *f = *state;
	int64_t until;
	int end;

	idle(f, conf_of(5 * EUR, 100 * EUR)); /* two machines want 4.78 */
	until = of(f, "c1", BUDGET_MACHINE).until_ms;
	asks(f, &end);
	looks(f, ROW_8("CONFIGURING") LIMIT_6_H);
	assert_int_equal(of(f, "c1", BUDGET_MACHINE).until_ms, until);
	assert_int_equal(f->e->money->nwaits, 1);
	assert_string_equal(f->e->money->waits[0].no.budget->name, "all");
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
		f->e->money->freed = false;
		looks(f, text);
		assert_int_equal(of(f, "c1", BUDGET_RUN).rate_nano_h, all[i].rate);
		assert_int_equal(f->e->money->freed, all[i].rate != EUR);
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_seen_before_it_asks),
		TEST(test_without_a_prolog),
		TEST(test_the_rate_of_a_machine_counts_once),
		TEST(test_the_longer_time_of_a_machine_counts),
		TEST(test_the_share_is_read_once_more),
		TEST(test_a_share_stays),
	};

	return cmocka_run_group_tests(tests, zone_begins, zone_ends);
}
