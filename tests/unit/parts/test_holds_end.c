/* holds.c: jobs that end, starts and reloads. */
#include "holds_lab.h"

/* --- jobs that end ------------------------------------------------------------------------------
 */

/* The part asks squeue, which says this. */
static void looks(struct fix *f, const char *row, const struct err *err)
{
	char text[1000];
	int n = snprintf(text, sizeof(text), "%s", row);

	f->e->jobs->wanted = 0;
	f->e->jobs->running = JOBS_FOR_HOLDS;
	holds_jobs_part.squeue_begins(f->e);
	jobs_answer(f->e, err == NULL ? text : NULL, (size_t)n, err);
}

static int runs(const struct fix *f)
{
	int n = 0;

	for (const struct hold_node *g = f->e->money->nodes; g != NULL; g = g->next)
		for (const struct hold *h = g->first; h != NULL; h = h->next)
			n += hold_of(f->e, h)->kind == BUDGET_RUN;
	return n;
}

static void test_a_job_ends(void **state)
{
	static const struct {
		const char *name, *says;
		bool c1, c2; /* it runs there */
	} all[] = {
		{"it runs", "7|7|RUNNING|gpu|None|c[1-2]\n", true, true},
		{"it starts", "7|7|CONFIGURING|gpu|None|c[1-2]\n", true, true},
		{"it is stopped", "7|7|SUSPENDED|gpu|None|c[1-2]\n", true, true},
		{"it has ended", "", false, false},
		{"it ends", "7|7|COMPLETING|gpu|None|c[1-2]\n", false, false},
		{"requeued", "7|7|PENDING|gpu|None|\n", false, false},
		{"another job", "8|8|RUNNING|gpu|None|c[1-2]\n", false, false},
		{"one node less", "7|7|RUNNING|gpu|None|c1\n", true, false},
		{"elsewhere", "7|7|RUNNING|gpu|None|c[3-4]\n", false, false},
		{"a list that cannot be read", "7|7|RUNNING|gpu|None|c[1-\n", true, true},
	};
	struct fix *f = *state;

	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		int64_t held_before;

		print_message("# %s\n", all[i].name);
		(void)teardown(state);
		(void)setup(state);
		f = *state;
		bought(f);
		held_before = line(f, "all").held;
		looks(f, all[i].says, NULL);
		assert_int_equal(held(f, "c1", BUDGET_RUN) != NULL, all[i].c1);
		assert_int_equal(held(f, "c2", BUDGET_RUN) != NULL, all[i].c2);
		/* The machines are paid for until they are gone, and c2 boots for the job. */
		assert_non_null(held(f, "c1", BUDGET_MACHINE));
		assert_non_null(held(f, "c2", BUDGET_BOOT));
		assert_int_equal(line(f, "all").held, held_before);
		assert_int_equal(runs(f), all[i].c1 + all[i].c2);
		if (!all[i].c1)
			near(line(f, "account").spent, EUR);
		else
			assert_true(line(f, "account").spent < EUR / 1000);
		same_in_journal(f);
	}
}

static int64_t number(const struct fix *f, const char *sql)
{
	return strtoll(rows(f, sql), NULL, 10);
}

/* A job that comes to a node while that boots pays for it once it is up. */
static void test_a_node_that_boots(void **state)
{
	struct fix *f = *state;
	const char says_both[] = "7|7|CONFIGURING|gpu|None|c[1-2]\n"
				 "8|8|CONFIGURING|gpu|None|c2| |chem|bob|normal|3:00:00|1|16|NO|"
				 "cpu=16,gres/gpu=8|1|*|";
	char text[1000];
	int64_t now;

	bought(f);
	f->e->money->no_prolog = true;
	step(f, "c2", NODE_EV_START);
	step(f, "c2", NODE_EV_CREATED);
	now = engine_now(f->e);
	(void)payer_row(text, sizeof(text), says_both, "key", "");
	looks(f, text, NULL);
	assert_int_equal(runs(f), 3);
	/* The machine boots for ten minutes, at most. */
	assert_in_range(number(f, "SELECT from_ms FROM hold WHERE job = 8"), now + 10 * MINUTE,
			engine_now(f->e) + 10 * MINUTE);
	/* Time goes by between the two looks at the clock. */
	assert_in_range(number(f, "SELECT until_ms - from_ms FROM hold WHERE job = 8"),
			181 * MINUTE, 181 * MINUTE + engine_now(f->e) - now);
	assert_true(of(f, "c2", BUDGET_MACHINE).until_ms >= now + (10 + 181 + 10) * MINUTE);
	step(f, "c2", NODE_EV_REGISTERED);
	assert_in_range(number(f, "SELECT from_ms FROM hold WHERE job = 8"), now, engine_now(f->e));
	assert_string_equal(rows(f, "SELECT COUNT(*) FROM spent WHERE account = 'chem'"), "0;");
}

/* F: an answer that is older than the purchase says nothing of it, nor does none. */
static void test_what_says_nothing(void **state)
{
	const struct err err = {.code = ERR_NET, .msg = "no"};
	struct fix *f = *state;

	bought(f);
	looks(f, "", &err);
	assert_non_null(held(f, "c1", BUDGET_RUN));
	for (struct hold_node *g = f->e->money->nodes; g != NULL; g = g->next)
		for (struct hold *h = g->first; h != NULL; h = h->next)
			h->made_ms = engine_now(f->e) + HOUR;
	looks(f, "", NULL);
	assert_non_null(held(f, "c1", BUDGET_RUN));
}

static void test_when_squeue_is_asked(void **state)
{
	struct fix *f = *state;

	bought(f);
	f->e->jobs->wanted = 0;
	holds_jobs_part.at[PART_RUN](f->e);
	assert_int_equal(f->e->jobs->wanted, JOBS_FOR_HOLDS);
	f->e->jobs->wanted = 0;
	holds_jobs_part.at[PART_RUN](f->e);
	assert_int_equal(f->e->jobs->wanted, 0); /* not again at once */
	assert_true(holds_jobs_part.next_ms(f->e) <= engine_now(f->e) + 30000);
	ends(f, "c1");
	ends(f, "c2");
	f->e->money->look_ms = 0;
	holds_jobs_part.at[PART_RUN](f->e);
	assert_int_equal(f->e->jobs->wanted, 0); /* there is no machine */
	assert_true(holds_jobs_part.next_ms(f->e) == INT64_MAX);
}

/* Whatever is configured, what a job that has ended does not need is free: else it would pay for
 * its nodes until budgets are there again, or until all accounts are known. */
static void test_a_job_ends_while_no_budget_asks(void **state)
{
	struct fix *f = *state;
	struct conf *c;

	bought(f);
	assert_int_equal(engine_reload(f->e, conf_of(0, 0), NULL), 0);
	f->e->jobs->wanted = 0;
	f->e->money->look_ms = 0;
	assert_true(holds_jobs_part.next_ms(f->e) == 0);
	holds_jobs_part.at[PART_RUN](f->e);
	assert_int_equal(f->e->jobs->wanted, JOBS_FOR_HOLDS);
	looks(f, "7|7|RUNNING|gpu|None|c[1-2]\n", NULL);
	assert_int_equal(runs(f), 2);
	looks(f, "8|8|RUNNING|gpu|None|c1\n", NULL);
	assert_int_equal(runs(f), 0);
	same_in_journal(f);
	age(f, "c1", HOUR);
	assert_int_equal(engine_reload(f->e, conf_of(100 * EUR, 100 * EUR), NULL), 0);
	near(line(f, "account").spent, EUR);

	(void)teardown(state);
	(void)setup(state);
	f = *state;
	bought(f);
	c = conf_of(100 * EUR, 100 * EUR);
	c->budgets[0].accounts = mem_zalloc(2 * sizeof(char *));
	c->budgets[0].accounts[0] = mem_strdup("physics");
	assert_int_equal(engine_reload(f->e, c, NULL), 0);
	assert_true(accounts_lack(f->e));
	looks(f, "", NULL);
	assert_int_equal(runs(f), 0);
}

/* --- a start ------------------------------------------------------------------------------------
 */

static void test_a_restart(void **state)
{
	struct fix *f = *state;
	struct budget_line all, account;
	struct budget_hold run;
	int64_t began;

	bought(f);
	ends(f, "c2"); /* spends nothing, for it was never there */
	all = line(f, "all");
	account = line(f, "account");
	run = of(f, "c1", BUDGET_RUN);
	began = engine_now(f->e);
	start(f, 100 * EUR, 100 * EUR);
	holds_part.at[PART_START](f->e);
	assert_int_equal(line(f, "all").held, all.held);
	assert_int_equal(line(f, "all").spent, all.spent);
	assert_int_equal(line(f, "all").rate, all.rate);
	assert_int_equal(line(f, "account").held, account.held);
	assert_int_equal(line(f, "account").spent, account.spent);
	assert_int_equal(of(f, "c1", BUDGET_RUN).until_ms, run.until_ms);
	assert_int_equal(runs(f), 1);
	same_in_journal(f);
	/* P6: any squeue of this life is younger, be it asked as it begins: a job that has left its
	 * node meanwhile does not go on paying for it beside the next one. */
	f->e->money->asked_ms = began;
	holds_jobs_part.squeue_says(f->e, "", 0, NULL);
	assert_null(held(f, "c1", BUDGET_RUN));
	ends(f, "c1");
	assert_string_equal(rows(f, "SELECT count(*) FROM hold"), "0;");
	assert_int_equal(line(f, "all").held, 0);
}

static void tell_settings(struct fix *f)
{
	static const char text[] = "KillWait = 2 sec\nOverTimeLimit = 0 min\nSuspendTime = 1 sec\n";

	holds_part.settings(f->e, text, sizeof(text) - 1, 1);
}

static void looks_at_7(struct fix *f, const char *limit)
{
	char row[300], text[1000];

	(void)snprintf(row, sizeof(row),
		       "7|7|RUNNING|gpu|None|c1| |physics|ann|normal|%s|1|16|NO|"
		       "cpu=16,gres/gpu=8|1|*|",
		       limit);
	(void)payer_row(text, sizeof(text), row, "key", "");
	looks(f, text, NULL);
}

/* P4: what was held by slurmctld's settings is not held by burstd's defaults after a restart, which
 * would keep other jobs waiting until this one ends: they are longer. */
static void test_a_restart_before_settings_are_known(void **state)
{
	struct fix *f = *state;
	struct hold_node *g;
	int64_t run, machine;

	bought(f);
	tell_settings(f);
	/* It began a moment ago, and is held for by these settings; so is its machine. */
	run = engine_now(f->e) + 7202 * 1000;
	machine = run + 151 * 1000;
	g = hold_find(f->e, "c1", row(f, "c1")->n.gen);
	hold_change(f->e, g, held(f, "c1", BUDGET_RUN), engine_now(f->e), run);
	hold_change(f->e, g, held(f, "c1", BUDGET_MACHINE), of(f, "c1", BUDGET_MACHINE).from_ms,
		    machine);
	looks_at_7(f, "2:00:00");
	assert_int_equal(of(f, "c1", BUDGET_RUN).until_ms, run);
	assert_int_equal(of(f, "c1", BUDGET_MACHINE).until_ms, machine);
	start(f, 100 * EUR, 100 * EUR);
	holds_part.at[PART_START](f->e);
	looks_at_7(f, "2:00:00");
	assert_int_equal(of(f, "c1", BUDGET_RUN).until_ms, run);
	assert_int_equal(of(f, "c1", BUDGET_MACHINE).until_ms, machine);
	tell_settings(f);
	looks_at_7(f, "2:00:00");
	assert_int_equal(of(f, "c1", BUDGET_RUN).until_ms, run);
	assert_int_equal(of(f, "c1", BUDGET_MACHINE).until_ms, machine);
	/* What was raised while burstd was away is held from then on. */
	looks_at_7(f, "3:00:00");
	assert_int_equal(of(f, "c1", BUDGET_RUN).until_ms, run + HOUR);
	same_in_journal(f);
}

/* Machines that are older than the budgets count, too. */
static void test_budgets_are_new(void **state)
{
	struct fix *f = *state;
	int64_t begin;

	start(f, 0, 0);
	call(f, "c[1-2]", FILE_7);
	write_down(f);
	ready(f, "c1");
	row(f, "c1")->n.start_ms -= HOUR;
	begin = row(f, "c1")->n.start_ms;
	assert_int_equal(engine_reload(f->e, conf_of(100 * EUR, 100 * EUR), NULL), 0);
	assert_int_equal(of(f, "c1", BUDGET_MACHINE).from_ms, begin);
	assert_true(of(f, "c1", BUDGET_MACHINE).until_ms > engine_now(f->e));
	assert_true(of(f, "c2", BUDGET_MACHINE).from_ms > begin);
	assert_int_equal(line(f, "all").rate, 2 * EUR);
	same_in_journal(f);
	ends(f, "c1");
	near(line(f, "all").spent, EUR);
	/* And once is enough. */
	assert_int_equal(engine_reload(f->e, conf_of(100 * EUR, 100 * EUR), NULL), 0);
	assert_int_equal(line(f, "all").rate, EUR);
	near(line(f, "all").spent, EUR);
}

/* Holds for what is not there would never end. */
static void test_holds_of_nothing(void **state)
{
	struct fix *f = *state;
	struct journal_tx *tx;
	struct journal_hold h = {
		.node = "c3",
		.gen = 99,
		.hold = {.kind = BUDGET_MACHINE, .rate_nano_h = EUR, .until_ms = INT64_MAX},
		.spender = {true, "", "", "", "", "", "pool", "cloud", PROVIDER_ON_DEMAND}};

	bought(f);
	tx = engine_tx(f->e);
	journal_put_hold(tx, &h);
	engine_commit(f->e);
	start(f, 100 * EUR, 100 * EUR);
	assert_int_equal(line(f, "all").rate, 3 * EUR);
	holds_part.at[PART_START](f->e);
	assert_int_equal(line(f, "all").rate, 2 * EUR);
	assert_string_equal(rows(f, "SELECT count(*) FROM hold WHERE node = 'c3'"), "0;");
	same_in_journal(f);
}

/* --- a reload -----------------------------------------------------------------------------------
 */

static void test_a_reload(void **state)
{
	struct fix *f = *state;
	int64_t all;

	bought(f);
	all = line(f, "all").held;
	f->e->money->freed = false;
	assert_int_equal(engine_reload(f->e, conf_of(7 * EUR, 8 * EUR), NULL), 0);
	assert_int_equal(line(f, "all").held, all);
	assert_int_equal(line(f, "all").left, 7 * EUR - all);
	assert_int_equal(engine_reload(f->e, conf_of(0, 0), NULL), 0);
	assert_null(holds_budgets(f->e));
	ends(f, "c1"); /* what is held is spent all the same */
	assert_int_equal(engine_reload(f->e, conf_of(7 * EUR, 8 * EUR), NULL), 0);
	near(line(f, "all").spent, EUR);
	same_in_journal(f);
}

/* --- since when it is complete -------------------------------------------------------------------
 */

static int64_t since(struct fix *f)
{
	engine_commit(f->e);
	return atoll(rows(f, "SELECT COALESCE(MAX(value), 0) FROM meta WHERE key ="
			     " '" JOURNAL_BUDGETS_SINCE "'"));
}

static int64_t starts(struct fix *f, int64_t all, bool doubtful)
{
	start(f, all, all);
	f->e->cloud->doubtful = doubtful;
	holds_part.at[PART_START](f->e);
	return since(f);
}

/* The ledger compares what was spent since then. */
static void test_since_when(void **state)
{
	struct fix *f = *state;
	int64_t first, again;

	assert_int_equal(starts(f, 0, false), 0);
	first = starts(f, EUR, false);
	assert_true(first > engine_now(f->e) - MINUTE && first <= engine_now(f->e));
	usleep(3000);
	assert_int_equal(starts(f, 2 * EUR, false), first);
	assert_int_equal(engine_reload(f->e, conf_of(7 * EUR, 8 * EUR), NULL), 0);
	assert_int_equal(since(f), first);
	/* The journal is an older copy: it lacks ends. */
	again = starts(f, EUR, true);
	assert_true(again > first);
	/* Without budgets the next ends are missed. */
	assert_int_equal(engine_reload(f->e, conf_of(0, 0), NULL), 0);
	assert_int_equal(since(f), 0);
	usleep(3000);
	assert_int_equal(engine_reload(f->e, conf_of(EUR, EUR), NULL), 0);
	assert_true(since(f) >= again);
	assert_int_equal(starts(f, 0, false), 0);
}

/* --- slurmctld's settings -----------------------------------------------------------------------
 */

static void test_settings(void **state)
{
	static const struct {
		const char *text;
		int64_t over, idle;
	} all[] = {
		{"KillWait = 30 sec\nOverTimeLimit = 0 min\nSuspendTime = 300 sec\n", 30000,
		 300000},
		{"KillWait = 30 sec\nOverTimeLimit = 5 min\nSuspendTime = 1 sec\n", 330000, 1000},
		{"KillWait = 30 sec\nOverTimeLimit = UNLIMITED\nSuspendTime = INFINITE\n", -1,
		 600000},
		{"KillWait = 30 sec\nOverTimeLimit = unlimited\n", 60000, 600000},
		{"SuspendTime = NONE\n", 60000, 600000},
		{"", 60000, 600000},
	};
	struct fix *f = *state;

	start(f, 100 * EUR, 100 * EUR);
	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		f->e->money->times.over_ms = 60000;
		f->e->money->times.idle_ms = 600000;
		holds_part.settings(f->e, all[i].text, strlen(all[i].text), 1);
		assert_int_equal(f->e->money->times.over_ms, all[i].over);
		assert_int_equal(f->e->money->times.idle_ms, all[i].idle);
		assert_int_equal(f->e->money->times.end_ms, 150000);
	}
}

/* Partitions may have times of their own, and then those count for their jobs and nodes. */
static void test_times_of_partitions(void **state)
{
	static const struct {
		const char *text;
		const char *over, *idle; /* "NAME MS " of each */
	} all[] = {
		{"", "", ""},
		{"PartitionName=gpu Nodes=c[1-3] OverTimeLimit=NONE SuspendTime=GLOBAL\n", "", ""},
		{"PartitionName=gpu Nodes=c[1-3] OverTimeLimit=10 SuspendTime=60\n"
		 "PartitionName=debug Nodes=x1 OverTimeLimit=UNLIMITED\n"
		 "PartitionName=cpu Nodes=x1 OverTimeLimit=0 SuspendTime=86400\n",
		 "gpu 630000 debug -1 cpu 30000 ", "pool 60000 "},
		{"PartitionName=gpu Nodes=c[1-3] SuspendTime=60\n"
		 "PartitionName=more Nodes=x1,c3 SuspendTime=900\n",
		 "", "pool 900000 "},
		{"PartitionName=gpu Nodes=c[1-3] SuspendTime=900\n"
		 "PartitionName=more Nodes=x1,c3 SuspendTime=60\n",
		 "", "pool 900000 "},
		/* Nodes of one that has none idle as slurm.conf says. */
		{"PartitionName=gpu Nodes=c1 SuspendTime=60\nPartitionName=more Nodes=c2\n", "",
		 "pool 300000 "},
		{"PartitionName=gpu Nodes=c[1-3] SuspendTime=INFINITE\n", "", ""},
		{"PartitionName=gpu Nodes=c[1- SuspendTime=7\n", "", ""},
	};
	static const char config[] = "Configuration data as of 2026-11-28T00:00:00\n"
				     "BOOT_TIME = 2026-11-28T00:00:00\nSLURM_VERSION = 22.05.8\n"
				     "KillWait = 30 sec\nOverTimeLimit = 0 min\n"
				     "SuspendTime = 300 sec\n\n";
	struct fix *f = *state;

	start(f, 100 * EUR, 100 * EUR);
	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		const struct budget_times *t = &f->e->money->times;
		char over[200] = "", idle[200] = "";

		prereq_answer(f->e, SLURM_CONFIG, config, sizeof(config) - 1);
		prereq_answer(f->e, SLURM_PARTITIONS, all[i].text, strlen(all[i].text));
		assert_string_equal(engine_prereq_error(f->e), "");
		assert_int_equal(prereq_shown_partitions(f->e).n, 0);
		for (size_t k = 0; k < t->nover; k++)
			(void)snprintf(over + strlen(over), sizeof(over) - strlen(over), "%s %lld ",
				       t->over[k].name, (long long)t->over[k].ms);
		for (size_t k = 0; k < t->nidle; k++)
			(void)snprintf(idle + strlen(idle), sizeof(idle) - strlen(idle), "%s %lld ",
				       t->idle[k].name, (long long)t->idle[k].ms);
		assert_string_equal(over, all[i].over);
		assert_string_equal(idle, all[i].idle);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_a_job_ends),
		TEST(test_a_node_that_boots),
		TEST(test_what_says_nothing),
		TEST(test_when_squeue_is_asked),
		TEST(test_a_job_ends_while_no_budget_asks),
		TEST(test_a_restart),
		TEST(test_a_restart_before_settings_are_known),
		TEST(test_budgets_are_new),
		TEST(test_holds_of_nothing),
		TEST(test_a_reload),
		TEST(test_since_when),
		TEST(test_settings),
		TEST(test_times_of_partitions),
	};

	return cmocka_run_group_tests(tests, zone_begins, zone_ends);
}
