/* accounts.c: no job is judged by a budget of accounts before it is known which accounts are below.
 */
#include "holds_lab.h"

#define ROOT    "ClusterName=lab Account=root UserName= Partition= ID=1 ParentAccount= Lft=1\n"
#define SCIENCE "ClusterName=lab Account=science UserName= ID=2 ParentAccount=root(1) Lft=2\n"
#define PHYSICS "ClusterName=lab Account=physics UserName= ID=3 ParentAccount=science(2) Lft=3\n"
#define NOBODY  "Current Association Manager state\nNo associations currently cached in Slurm.\n"

/* A budget of account science, and what is below it, beside that of each account. */
static void start_science(struct fix *f, int64_t science)
{
	struct conf *c = conf_of(science, 100 * EUR);

	c->budgets[0].accounts = mem_zalloc(2 * sizeof(char *));
	c->budgets[0].accounts[0] = mem_strdup("science");
	assert_int_equal(load_conf(f, c, NULL), 0);
	f->e->left = ENGINE_SEND;
}

static struct accounts *accounts(const struct fix *f)
{
	return &f->e->money->accounts;
}

/* The part asks, and slurmctld says this. */
static void told(struct fix *f, const char *text)
{
	const struct err away = {.code = ERR_NET, .msg = "slurmctld is away"};

	accounts(f)->next_ms = 0;
	accounts_part.at[PART_RUN](f->e);
	accounts(f)->asked_ms = engine_now(f->e) + 1; /* after all that was met before */
	accounts_answer(f->e, text != NULL ? text : "", text != NULL ? strlen(text) : 0,
			text != NULL ? NULL : &away);
}

static void settings(struct fix *f, const char *text)
{
	accounts_part.settings(f->e, text, strlen(text), 1);
}

static bool is_refused(const struct fix *f)
{
	const struct fleet_name *nm = fleet_find(&f->e->fleet, "c1");

	return nm != NULL && nm->refused == NODE_BECAUSE_BUDGET;
}

/* The budget of science lacks what the job of physics needs: it is judged by that, or it waits. */
static void test_jobs_wait_for_the_tree(void **state)
{
	static const struct {
		const char *name, *text, *why;
		bool judged;
	} all[] = {
		{"the tree", ROOT SCIENCE PHYSICS, "", true},
		{"no answer", NULL, "slurmctld is away", false},
		/* F: slurmctld has lost its state, and slurmdbd does not tell it what there is. */
		{"no association", NOBODY, "is slurmdbd up?", false},
		{"nothing", "", "is slurmdbd up?", false},
	};
	struct fix *f = *state;

	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		print_message("# %s\n", all[i].name);
		(void)teardown(state);
		(void)setup(state);
		f = *state;
		start_science(f, EUR);
		assert_non_null(strstr(engine_budgets_wait(f->e), "has not said yet"));
		told(f, all[i].text);
		if (all[i].judged)
			assert_string_equal(engine_budgets_wait(f->e), "");
		else
			assert_non_null(strstr(engine_budgets_wait(f->e), all[i].why));
		buy_7(f);
		assert_false(is_bought(f, "c1"));
		assert_int_equal(is_refused(f), all[i].judged);
		/* An answer that says nothing takes nothing back. */
		told(f, ROOT SCIENCE PHYSICS);
		told(f, NOBODY);
		told(f, NULL);
		assert_string_equal(engine_budgets_wait(f->e), "");
		assert_true(budgets_knows(f->e->money->budgets, "physics"));
	}
}

/* Without accounting an account is but a name: none is below another, and none is waited for. */
static void test_without_accounting(void **state)
{
	static const struct {
		const char *setting;
		bool waits;
	} all[] = {
		{"AccountingStorageType = accounting_storage/none\n", false},
		{"AccountingStorageType = (null)\n", false},
		{"AccountingStorageType = accounting_storage/slurmdbd\n", true},
		{"KillWait = 30 sec\n", true},
	};
	struct fix *f = *state;

	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		print_message("# %s", all[i].setting);
		(void)teardown(state);
		(void)setup(state);
		f = *state;
		start_science(f, EUR);
		settings(f, all[i].setting);
		assert_int_equal(accounts_lack(f->e), all[i].waits);
		assert_int_equal(accounts_part.next_ms(f->e) == INT64_MAX, !all[i].waits);
		told(f, NOBODY);
		buy_7(f);
		assert_int_equal(is_bought(f, "c1"), !all[i].waits);
	}
	/* With accounting it is asked at once, and without it what it said is forgotten. */
	settings(f, all[0].setting);
	settings(f, all[2].setting);
	assert_true(accounts_lack(f->e));
	assert_int_equal(accounts_part.next_ms(f->e), 0);
	told(f, ROOT SCIENCE PHYSICS);
	settings(f, all[0].setting);
	assert_false(budgets_knows(f->e->money->budgets, "physics"));
}

/* P4: an account is made, and a job of it is submitted, between two looks at the tree. */
static void test_a_new_account(void **state)
{
	struct fix *f = *state;

	start_science(f, EUR);
	told(f, ROOT SCIENCE);
	assert_true(accounts_part.next_ms(f->e) > engine_now(f->e) + HOUR / 10);
	accounts(f)->asked_ms = accounts(f)->answered_ms = engine_now(f->e) - MINUTE;
	buy_7(f);
	assert_false(is_bought(f, "c1"));
	assert_false(is_refused(f));                                  /* it waits */
	assert_true(accounts_part.next_ms(f->e) <= engine_now(f->e)); /* and that is asked */
	told(f, ROOT SCIENCE PHYSICS);
	assert_false(accounts_lack_place(f->e, "physics"));
	call(f, "c[1-2]", FILE_7);
	says(f, JOB_7);
	assert_false(is_bought(f, "c1"));
	assert_true(is_refused(f));
}

/* One that slurmctld does not have either, such as that of a job that outlived it, is asked for
 * once. */
static void test_an_account_that_is_gone(void **state)
{
	struct fix *f = *state;
	int64_t next;

	start_science(f, EUR);
	told(f, ROOT SCIENCE);
	accounts(f)->asked_ms = accounts(f)->answered_ms = engine_now(f->e) - 1000;
	assert_true(accounts_lack_place(f->e, "Physics"));
	assert_true(accounts_lack_place(f->e, "physics"));
	/* Asked once in ten seconds, however many there are. */
	assert_int_equal(accounts_part.next_ms(f->e), accounts(f)->asked_ms + 10000);
	/* An answer that was asked for before says nothing of it; one that was asked for then does.
	 */
	accounts(f)->next_ms = 0;
	accounts_part.at[PART_RUN](f->e);
	accounts(f)->asked_ms = accounts(f)->met[0].at_ms - 1;
	accounts_answer(f->e, ROOT SCIENCE, strlen(ROOT SCIENCE), NULL);
	assert_true(accounts_lack_place(f->e, "physics"));
	accounts(f)->answered_ms++;
	assert_false(accounts_lack_place(f->e, "physics"));
	told(f, ROOT SCIENCE);
	next = accounts_part.next_ms(f->e);
	assert_false(accounts_lack_place(f->e, "physics"));
	assert_false(accounts_lack_place(f->e, ""));
	assert_false(accounts_lack_place(f->e, "science"));
	assert_int_equal(accounts_part.next_ms(f->e), next);
	buy_7(f);
	assert_true(is_bought(f, "c1"));
}

/* A job of it that comes to a machine that is up is not judged before, either. */
static void test_a_new_account_on_a_machine(void **state)
{
	struct fix *f = *state;
	char text[1000];
	int n = payer_row(text, sizeof(text), "8|8|RUNNING|gpu|None|c1" PAYS, "key", "");

	start_science(f, 100 * EUR);
	told(f, ROOT SCIENCE PHYSICS);
	buy_7(f);
	write_down(f);
	ready(f, "c1");
	told(f, ROOT SCIENCE);
	accounts(f)->answered_ms = engine_now(f->e) - MINUTE;
	for (int known = 0; known < 2; known++) {
		f->e->jobs->running = JOBS_FOR_HOLDS;
		holds_jobs_part.squeue_begins(f->e);
		jobs_answer(f->e, text, (size_t)n, NULL);
		assert_string_equal(rows(f, "SELECT count(*) FROM hold WHERE job = 8"),
				    known ? "1;" : "0;");
		told(f, ROOT SCIENCE PHYSICS);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_jobs_wait_for_the_tree),
		TEST(test_without_accounting),
		TEST(test_a_new_account),
		TEST(test_an_account_that_is_gone),
		TEST(test_a_new_account_on_a_machine),
	};

	return cmocka_run_group_tests(tests, zone_begins, zone_ends);
}
