/* test_budget_match.c - which budgets concern a spender, and what each value of `each` counts. */
#include "budget_world.h"

#include <stdio.h>

#define NOW "2026-11-10T12:00:00Z"

/* --- one criterion ------------------------------------------------------------------------------
 */

enum which { ACCOUNTS, USERS, QOS, WCKEYS, PARTITIONS, POOLS, PROVIDERS };

static struct conf_budget listing(enum which w, char **list)
{
	struct conf_budget b = budget("b", 100, "month");

	*(w == ACCOUNTS     ? &b.accounts
	  : w == USERS      ? &b.users
	  : w == QOS        ? &b.qos
	  : w == WCKEYS     ? &b.wckeys
	  : w == PARTITIONS ? &b.partitions
	  : w == POOLS      ? &b.pools
			    : &b.providers) = list;
	return b;
}

static struct budget_spender having(enum which w, const char *value)
{
	struct budget_spender s = w >= PARTITIONS ? machine_of("h100") : job_of("physics", "ann");

	*(w == ACCOUNTS     ? &s.account
	  : w == USERS      ? &s.user
	  : w == QOS        ? &s.qos
	  : w == WCKEYS     ? &s.wckey
	  : w == PARTITIONS ? &s.partition
	  : w == POOLS      ? &s.pool
			    : &s.provider) = value;
	return s;
}

/* Does it count, or is it not known? */
static char verdict(struct world *w, struct budget_spender s, const char *value)
{
	uint32_t who = budgets_spender(w->b, &s);
	struct budget_want one = want(w, s, 1, at(NOW), at(NOW) + HOUR);
	uint32_t hold = budgets_hold(w->b, &one.hold);
	char c = '-';

	if (tried(w, one).lack == BUDGET_NO_ACCOUNT && tried(w, one).budget != NULL)
		c = '?';
	else if (budgets_concern(w->b, who)) {
		assert_int_equal(line_of(w, "b", value).held, EUR);
		c = 'y';
	}
	assert_int_equal(c != '-', budgets_concern(w->b, who));
	budgets_release(w->b, hold);
	return c;
}

static void test_each_criterion(void **state)
{
	static const struct {
		enum which which;
		const char *value;
		char want;
	} rows[] = {
		{ACCOUNTS, "physics", 'y'},
		{ACCOUNTS, "PHYSICS", 'y'},
		{ACCOUNTS, "chem", '-'},
		{ACCOUNTS, "", '?'},
		{USERS, "physics", 'y'},
		{USERS, "bob", '-'},
		{USERS, "PHYSICS", 'y'},
		{USERS, "", '?'},
		{QOS, "two", 'y'},
		{QOS, "normal", '-'},
		{QOS, "", '?'},
		{WCKEYS, "two", 'y'},
		{WCKEYS, "*two", 'y'}, /* the user's default, which the job did not name */
		{WCKEYS, "*x", '-'},
		{WCKEYS, "*", '-'},
		{WCKEYS, "x", '-'},
		{WCKEYS, "", '-'}, /* it has none */
		{PARTITIONS, "two", 'y'},
		{PARTITIONS, "x", '-'},
		{PARTITIONS, "", '-'},
		{POOLS, "physics", 'y'},
		{POOLS, "x", '-'},
		{PROVIDERS, "two", 'y'},
		{PROVIDERS, "x", '-'},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct conf_budget b = listing(rows[i].which, LIST("physics", "two", "Physics"));
		struct world w = world_new("UTC", NOW, &b, 1);

		print_message("# %u %s\n", rows[i].which, rows[i].value);
		assert_int_equal(verdict(&w, having(rows[i].which, rows[i].value), ""),
				 rows[i].want);
		/* Who may be anybody may also not count. */
		b.unknown = CONF_UNKNOWN_ALLOW;
		budgets_configure(w.b, &b, 1);
		assert_int_equal(verdict(&w, having(rows[i].which, rows[i].value), ""),
				 rows[i].want == 'y' ? 'y' : '-');
		world_free(&w);
	}
}

/* Each of its lists must have the spender, however the budget is found. */
static void test_all_criteria_hold(void **state)
{
	struct budget_spender good = job_of("physics", "ann"), bad;
	struct conf_budget b = budget("b", 100, "month");
	struct world w;

	(void)state;
	good.wckey = "w";
	b.accounts = LIST("physics");
	b.users = LIST("ann");
	b.qos = LIST("normal");
	b.wckeys = LIST("w");
	b.partitions = LIST("gpu");
	b.pools = LIST("h100");
	b.providers = LIST("aws");
	b.market = PROVIDER_ON_DEMAND;
	good.market = PROVIDER_ON_DEMAND;
	w = world_new("UTC", NOW, &b, 1);
	assert_int_equal(verdict(&w, good, ""), 'y');
	for (int i = 0; i < 8; i++) {
		const char **texts[] = {&bad.account,   &bad.user, &bad.qos,     &bad.wckey,
					&bad.partition, &bad.pool, &bad.provider};

		bad = good;
		if (i < 7)
			*texts[i] = "other";
		else
			bad.market = PROVIDER_SPOT;
		assert_int_equal(verdict(&w, bad, ""), '-');
	}
	/* What is not known is not asked for when the rest does not fit. */
	bad = good;
	bad.account = "";
	bad.pool = "other";
	assert_int_equal(verdict(&w, bad, ""), '-');
	bad.pool = "h100";
	assert_int_equal(verdict(&w, bad, ""), '?');
	world_free(&w);
}

/* Budgets of accounts count jobs, any other counts machines: nothing is counted twice. */
static void test_jobs_and_machines(void **state)
{
	struct conf_budget b = budget("b", 100, "month");
	struct world w = world_new("UTC", NOW, &b, 1);

	(void)state;
	assert_int_equal(verdict(&w, machine_of("h100"), ""), 'y');
	assert_int_equal(verdict(&w, job_of("physics", "ann"), ""), '-');
	b.market = PROVIDER_SPOT;
	budgets_configure(w.b, &b, 1);
	assert_int_equal(verdict(&w, machine_of("h100"), ""), '-');
	b.market = CONF_MARKET_ANY;
	b.users = LIST("ann");
	budgets_configure(w.b, &b, 1);
	assert_int_equal(verdict(&w, machine_of("h100"), ""), '-');
	assert_int_equal(verdict(&w, job_of("physics", "ann"), ""), 'y');
	world_free(&w);
}

/* --- each ---------------------------------------------------------------------------------------
 */

static void test_each_value_has_its_own(void **state)
{
	struct conf_budget b = budget("b", 100, "month");
	struct budget_spender m = machine_of("h100");
	struct world w;

	(void)state;
	b.each = CONF_EACH_USER;
	w = world_new("UTC", NOW, &b, 1);
	assert_int_equal(budgets_lines(w.b), 0); /* nobody has spent */
	assert_int_equal(verdict(&w, job_of("physics", "ann"), "ann"), 'y');
	assert_int_equal(verdict(&w, job_of("chem", "ann"), "ann"), 'y');
	assert_int_equal(verdict(&w, job_of("chem", "bob"), "bob"), 'y');
	assert_int_equal(verdict(&w, job_of("chem", ""), ""), '?');
	assert_int_equal(verdict(&w, m, ""), '-');
	assert_int_equal(budgets_lines(w.b), 2);
	b.each = CONF_EACH_ACCOUNT;
	budgets_configure(w.b, &b, 1);
	assert_int_equal(verdict(&w, job_of("physics", "bob"), "physics"), 'y');
	/* No capital letter makes another account. */
	assert_int_equal(verdict(&w, job_of("Physics", "bob"), "physics"), 'y');
	b.each = CONF_EACH_PARTITION;
	budgets_configure(w.b, &b, 1);
	assert_int_equal(verdict(&w, job_of("physics", "bob"), "gpu"), '-');
	assert_int_equal(verdict(&w, m, "gpu"), 'y');
	m.partition = "";
	assert_int_equal(verdict(&w, m, ""), '?');
	world_free(&w);
}

/* A long name is not cut to another's. */
static void test_long_values(void **state)
{
	struct conf_budget b = budget("b", 100, "month");
	char name[2][BUDGET_VALUE_MAX + 1];
	struct world w;

	(void)state;
	b.each = CONF_EACH_ACCOUNT;
	w = world_new("UTC", NOW, &b, 1);
	for (int i = 0; i < 2; i++) {
		memset(name[i], 'x', BUDGET_VALUE_MAX);
		name[i][BUDGET_VALUE_MAX - 1] = (char)('a' + i);
		name[i][BUDGET_VALUE_MAX] = '\0';
		assert_int_equal(verdict(&w, job_of(name[i], "ann"), name[i]), 'y');
	}
	assert_int_equal(budgets_lines(w.b), 2);
	world_free(&w);
}

/* In the order of the file, and by value. */
static void test_lines(void **state)
{
	struct conf_budget list[] = {budget("users", 100, "month"), budget("all", 100, "month"),
				     budget("accounts", 100, "month"), budget("rate", 0, "month")};
	static const char *const want_lines[] = {"users/ann",     "users/bob",    "users/eve",
						 "all/",          "accounts/bio", "accounts/chem",
						 "accounts/phys", "rate/"};
	static const char *const who[][2] = {
		{"phys", "eve"}, {"bio", "ann"}, {"chem", "eve"}, {"chem", "bob"}};
	struct world w;

	(void)state;
	list[0].each = CONF_EACH_USER;
	list[2].each = CONF_EACH_ACCOUNT;
	list[3].rate_nano_h = EUR;
	w = world_new("UTC", NOW, list, COUNT(list));
	for (size_t i = 0; i < COUNT(who); i++) {
		struct budget_spender s = job_of(who[i][0], who[i][1]);

		(void)budgets_spender(w.b, &s);
	}
	assert_int_equal(budgets_lines(w.b), COUNT(want_lines));
	for (size_t i = 0; i < COUNT(want_lines); i++) { /* in any order */
		struct budget_line l = {.left = 0};
		bool found = false;

		for (size_t k = 0; !found && k < COUNT(want_lines); k++) {
			char text[64];

			l = budgets_line(w.b, k);
			(void)snprintf(text, sizeof(text), "%s/%s", l.budget->name, l.value);
			found = strcmp(text, want_lines[i]) == 0;
		}
		assert_true(found);
		assert_true(l.left == (i == 7 ? INT64_MAX : 100 * EUR));
		if (i == 3)
			assert_string_equal(l.period.name, "2026-11");
	}
	world_free(&w);
}

/* --- the tree of accounts -----------------------------------------------------------------------
 */

static void test_accounts_below(void **state)
{
	struct conf_budget b = listing(ACCOUNTS, LIST("physics"));
	struct world w = world_new("UTC", NOW, &b, 1);
	struct budget_spender deep = job_of("quarks", "ann");
	struct budget_want one;

	(void)state;
	assert_int_equal(verdict(&w, deep, ""), '-');
	one = want(&w, deep, 1, at(NOW), at(NOW) + HOUR);
	(void)budgets_hold(w.b, &one.hold);
	(void)budgets_spent(w.b, one.hold.spender, budgets_day(w.b, at(NOW)), 7);
	assert_int_equal(line_of(&w, "b", "").held, 0);
	budgets_account(w.b, "hadrons", "physics");
	budgets_account(w.b, "Quarks", "Hadrons");
	assert_int_equal(line_of(&w, "b", "").held, EUR); /* what is known later counts, too */
	assert_int_equal(line_of(&w, "b", "").spent, 7);
	deep.account = "hadrons";
	assert_true(budgets_concern(w.b, budgets_spender(w.b, &deep)));
	deep.account = "quarks";
	budgets_account(w.b, "quarks", "chem");
	assert_int_equal(line_of(&w, "b", "").held, 0);
	assert_int_equal(line_of(&w, "b", "").spent, 0);
	budgets_account(w.b, "chem", "quarks"); /* a loop ends */
	assert_false(budgets_concern(w.b, budgets_spender(w.b, &deep)));
	world_free(&w);
}

static void test_an_account_and_one_above_it(void **state)
{
	struct conf_budget b = listing(ACCOUNTS, LIST("physics", "quarks"));
	struct world w = world_new("UTC", NOW, &b, 1);
	struct budget_want one;

	(void)state;
	budgets_account(w.b, "quarks", "physics");
	one = want(&w, job_of("quarks", "ann"), 1, at(NOW), at(NOW) + HOUR);
	(void)budgets_hold(w.b, &one.hold);
	assert_int_equal(line_of(&w, "b", "").held, EUR); /* once */
	world_free(&w);
}

/* --- spenders -----------------------------------------------------------------------------------
 */

static void test_spenders(void **state)
{
	struct conf_budget b = budget("b", 100, "month");
	struct world w = world_new("UTC", NOW, &b, 1);
	struct budget_spender a = job_of("physics", "ann"), m = machine_of("h100"), other;
	uint32_t who = budgets_spender(w.b, &a);

	(void)state;
	assert_int_equal(budgets_spender(w.b, &a), who);
	for (int i = 0; i < 9; i++) {
		const char **texts[] = {&other.account,   &other.user, &other.qos,     &other.wckey,
					&other.partition, &other.pool, &other.provider};

		other = a;
		if (i < 7)
			*texts[i] = "other";
		else if (i == 7)
			other.market =
				PROVIDER_SPOT == a.market ? PROVIDER_ON_DEMAND : PROVIDER_SPOT;
		else
			other.machine = true;
		assert_int_equal(budgets_spender(w.b, &a), who); /* the last one is known at once */
		assert_int_not_equal(budgets_spender(w.b, &other), who);
	}
	m.market = PROVIDER_SPOT;
	assert_string_equal(budgets_spender_at(w.b, budgets_spender(w.b, &m))->pool, "h100");
	assert_int_equal(budgets_spender_at(w.b, budgets_spender(w.b, &m))->market, PROVIDER_SPOT);
	assert_true(budgets_spender_at(w.b, budgets_spender(w.b, &m))->machine);
	world_free(&w);
}

/* A user may invent a wckey for each job: what spent nothing is forgotten. */
static void test_spenders_are_forgotten(void **state)
{
	struct conf_budget b = listing(USERS, LIST("ann"));
	struct world w = world_new("UTC", NOW, &b, 1);
	struct budget_spender s = job_of("physics", "ann");
	struct budget_want one = want(&w, s, 1, at(NOW), at(NOW) + HOUR);
	uint32_t held = budgets_hold(w.b, &one.hold), spent, most = 0;
	char key[16];

	(void)state;
	s.wckey = "spent";
	spent = budgets_spender(w.b, &s);
	(void)budgets_spent(w.b, spent, budgets_day(w.b, at(NOW)), 5);
	for (int i = 0; i < 1000; i++) {
		uint32_t who;

		(void)snprintf(key, sizeof(key), "k%d", i);
		s.wckey = key;
		who = budgets_spender(w.b, &s);
		most = who > most ? who : most;
		if (i % 10 == 9)
			(void)budgets_now(w.b, at(NOW));
	}
	assert_true(most < 20);
	assert_string_equal(budgets_spender_at(w.b, spent)->wckey, "spent");
	assert_int_equal(budgets_hold_at(w.b, held)->spender, one.hold.spender);
	assert_int_equal(line_of(&w, "b", "").held, EUR);
	assert_int_equal(line_of(&w, "b", "").spent, 5);
	budgets_release(w.b, held);
	assert_int_equal(line_of(&w, "b", "").held, 0);
	budgets_configure(w.b, &b, 1);
	assert_int_equal(line_of(&w, "b", "").spent, 5);
	world_free(&w);
}

/* --- reload -------------------------------------------------------------------------------------
 */

static void test_reload_keeps_what_was_spent(void **state)
{
	struct conf_budget old[] = {budget("a", 10, "month"), budget("b", 100, "month")};
	struct conf_budget next[] = {budget("b", 50, "month"), budget("c", 5, "rolling 1d"),
				     budget("d", 5, "2026-11-11..2026-11-12")};
	struct world w;
	struct budget_want one;

	(void)state;
	old[0].users = LIST("ann");
	old[1].users = LIST("bob");
	next[0].users = LIST("ann", "bob");
	next[1].accounts = LIST("physics");
	next[2].accounts = LIST("physics");
	w = world_new("UTC", NOW, old, 2);
	one = want(&w, job_of("physics", "ann"), 2, at(NOW), at(NOW) + HOUR);
	(void)budgets_hold(w.b, &one.hold);
	(void)budgets_spent(w.b, one.hold.spender, budgets_day(w.b, at(NOW)) - 3, 30);
	(void)budgets_spent(w.b, one.hold.spender, budgets_day(w.b, at(NOW)), 4);
	assert_int_equal(line_of(&w, "a", "").spent, 34);
	assert_int_equal(line_of(&w, "b", "").spent, 0);
	budgets_configure(w.b, next, 3);
	assert_int_equal(budgets_lines(w.b), 3);
	assert_int_equal(line_of(&w, "b", "").spent, 34);
	assert_int_equal(line_of(&w, "b", "").held, 2 * EUR);
	assert_int_equal(line_of(&w, "c", "").spent, 4);
	assert_int_equal(line_of(&w, "c", "").held, 2 * EUR);
	assert_int_equal(line_of(&w, "d", "").spent, 0);
	assert_int_equal(line_of(&w, "d", "").held, 0);
	assert_int_equal(line_of(&w, "b", "").left, 48 * EUR - 34);
	assert_true(budgets_any(w.b));
	budgets_configure(w.b, NULL, 0);
	assert_false(budgets_any(w.b));
	assert_int_equal(budgets_lines(w.b), 0);
	assert_null(tried(&w, one).budget);
	budgets_configure(w.b, old, 2);
	assert_int_equal(line_of(&w, "a", "").held, 2 * EUR);
	world_free(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_each_criterion),
		cmocka_unit_test(test_all_criteria_hold),
		cmocka_unit_test(test_jobs_and_machines),
		cmocka_unit_test(test_each_value_has_its_own),
		cmocka_unit_test(test_long_values),
		cmocka_unit_test(test_lines),
		cmocka_unit_test(test_accounts_below),
		cmocka_unit_test(test_an_account_and_one_above_it),
		cmocka_unit_test(test_spenders),
		cmocka_unit_test(test_spenders_are_forgotten),
		cmocka_unit_test(test_reload_keeps_what_was_spent),
	};

	return cmocka_run_group_tests_name("budget_match", tests, NULL, NULL);
}
