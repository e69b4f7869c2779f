/* overrides.c: what is added to a budget, until when, and what is refused. */
#include "ladder_lab.h"

static int64_t order(struct fix *f, const char *budget, const char *value, int64_t until_ms,
		     struct err *e)
{
	const struct engine_override o = {.budget = budget,
					  .value = value,
					  .nano = 5 * EUR,
					  .until_ms = until_ms,
					  .by = "root",
					  .reason = "a deadline"};
	int64_t id = 0;

	return engine_override(f->e, &o, &id, e) == 0 ? id : 0;
}

static int64_t set(struct fix *f, const char *budget, const char *value, int64_t nano,
		   int64_t until_ms, struct err *e)
{
	const struct engine_override o = {.budget = budget,
					  .value = value,
					  .set = true,
					  .nano = nano,
					  .until_ms = until_ms,
					  .by = "root",
					  .reason = "a board"};
	int64_t id = 0;

	return engine_override(f->e, &o, &id, e) == 0 ? id : 0;
}

/* Slurm makes small letters of an account's: so must we, or the override never counts. */
static void test_an_account_in_capitals(void **state)
{
	struct fix *f = *state;
	struct err e = {0};

	runs_with(f, ladder(1000 * EUR, 100 * EUR));
	assert_int_equal(order(f, "account", "PHYsics", engine_now(f->e) + HOUR, &e), 1);
	assert_true(line(f, "account").added == 5 * EUR);
	assert_true(line(f, "account").amount == 105 * EUR);
	assert_true(line(f, "all").added == 0);
	assert_string_equal(rows(f, "SELECT budget, value, nano, made_by FROM budget_override"),
			    "account physics 5000000000 root;");
}

static void test_it_ends(void **state)
{
	struct fix *f = *state;
	struct err e = {0};

	runs_with(f, ladder(1000 * EUR, 100 * EUR));
	assert_int_equal(order(f, "all", "", engine_now(f->e) + HOUR, &e), 1);
	assert_int_equal(order(f, "all", "", engine_now(f->e) + 2 * HOUR, &e), 2);
	assert_true(line(f, "all").added == 10 * EUR);
	assert_int_equal(engine_revoke(f->e, 1, "ann", "too much", &e), 0);
	assert_true(line(f, "all").added == 5 * EUR);
	assert_int_equal(engine_revoke(f->e, 1, "ann", "again", &e), -1);
	assert_string_equal(e.msg, "override 1 has ended already, by ann: too much");
	assert_int_equal(engine_revoke(f->e, 3, "ann", "x", &e), -1);
	assert_string_equal(e.msg, "there is no override 3");
	assert_string_equal(rows(f, "SELECT id, revoked_by, revoked_why FROM budget_override"),
			    "1 ann too much;2  ;");
}

static const struct engine_budget *shown(struct fix *f, const char *name, const char *value)
{
	static struct engine_budgets all;

	engine_budgets_fini(&all);
	engine_budgets(f->e, NULL, &all);
	for (size_t i = 0; i < all.n; i++)
		if (strcmp(all.v[i].line.budget->name, name) == 0 &&
		    strcmp(all.v[i].line.value, value) == 0)
			return &all.v[i];
	fail_msg("no line %s/%s", name, value);
	return NULL;
}

/* Without a time it has no end.  It ends what was set before of the same line, and then
 * burstd.conf's amount counts. */
static void test_what_is_set(void **state)
{
	struct fix *f = *state;
	struct err e = {0};

	runs_with(f, ladder(1000 * EUR, 100 * EUR));
	assert_int_equal(set(f, "account", "PHYsics", 300 * EUR, 0, &e), 1);
	assert_int_equal(set(f, "all", "", 0, engine_now(f->e) + HOUR, &e), 2);
	assert_int_equal(order(f, "account", "physics", engine_now(f->e) + HOUR, &e), 3);
	assert_int_equal(set(f, "account", "physics", 20 * EUR, 0, &e), 4);
	assert_true(line(f, "account").amount == 25 * EUR);
	assert_true(line(f, "all").amount == 0);
	assert_true(line(f, "all").left < 0);
	assert_int_equal(shown(f, "account", "physics")->set->id, 4);
	assert_int_equal(shown(f, "all", "")->set->id, 2);
	assert_string_equal(rows(f, "SELECT id, value, nano, replaces, until_ms ="
				    " 9223372036854775807 FROM budget_override"),
			    "1 physics 300000000000 1 0;2  0 1 0;3 physics 5000000000 0 0;"
			    "4 physics 20000000000 1 1;");
	assert_int_equal(engine_revoke(f->e, 1, "ann", "too much", &e), -1);
	assert_string_equal(e.msg, "override 1 has ended already, by root: set anew: 4");
	f->e->money->freed = false;
	assert_int_equal(engine_revoke(f->e, 4, "ann", "too little", &e), 0);
	assert_true(f->e->money->freed); /* jobs that wait are tried again */
	assert_true(line(f, "account").amount == 105 * EUR);
	assert_null(shown(f, "account", "physics")->set);
	assert_string_equal(
		rows(f, "SELECT type, replace(substr(detail, 1, instr(detail, ' EUR') + 9),"
			" 'budget account/physics: override ', '') FROM event"
			" WHERE type LIKE 'budget-%' AND detail LIKE '%account%' AND seq <="
			" (SELECT MIN(seq) FROM event WHERE type = 'budget-reset')"),
		"budget-set 1 sets its amount to 300.00 EUR witho;"
		"budget-raised 3 of 5.00 EUR until;"
		"budget-set 4 sets its amount to 20.00 EUR witho;"
		"budget-reset 4 sets its amount to 20.00 EUR until;");
}

/* January's import is without end, March's until the end of June: in July burstd.conf's amount
 * counts, and not January's. */
static void test_what_is_set_anew(void **state)
{
	struct fix *f = *state;
	struct conf *c = ladder(1000 * EUR, 100 * EUR);
	struct err e = {0};

	c->budgets = mem_realloc(c->budgets, 3 * sizeof(*c->budgets));
	c->budgets[2] = budget("other", 1000 * EUR);
	c->budgets[2].each = CONF_EACH_ACCOUNT;
	c->nbudgets = 3;
	runs_with(f, c);
	assert_int_equal(set(f, "account", "physics", 5000 * EUR, 0, &e), 1);
	assert_int_equal(set(f, "account", "chemistry", 70 * EUR, 0, &e), 2);
	assert_int_equal(set(f, "other", "physics", 900 * EUR, 0, &e), 3);
	assert_int_equal(order(f, "account", "physics", engine_now(f->e) + HOUR, &e), 4);
	assert_int_equal(set(f, "account", "PHYSICS", 50 * EUR, engine_now(f->e) + HOUR, &e), 5);
	assert_string_equal(rows(f, "SELECT id, revoked_by, revoked_why, until_ms <="
				    " (SELECT made_ms FROM budget_override WHERE id = 5)"
				    " FROM budget_override"),
			    "1 root set anew: 5 1;2   0;3   0;4   0;5   0;");
	assert_true(line(f, "account").amount == 55 * EUR);
	assert_true(line(f, "other").amount == 900 * EUR);
	f->e->money->overrides.v[4].until_ms = engine_now(f->e); /* its hour is over */
	overrides_start(f->e);
	assert_true(line(f, "account").amount == 105 * EUR);
	assert_null(shown(f, "account", "physics")->set);
	assert_int_equal(shown(f, "account", "chemistry")->set->id, 2);
	assert_int_equal(engine_revoke(f->e, 5, "ann", "x", &e), -1);
	assert_string_equal(e.msg, "override 5 has ended already");
	/* What has ended by itself stays as it is. */
	assert_int_equal(set(f, "account", "physics", EUR, 0, &e), 6);
	assert_string_equal(
		rows(f, "SELECT id, revoked_why FROM budget_override WHERE id IN (1, 5)"),
		"1 set anew: 5;5 ;");
}

/* Both are one transaction: after a crash the line has one amount. */
static void test_what_is_set_anew_is_durable(void **state)
{
	struct fix *f = *state;
	struct err e = {0};

	runs_with(f, ladder(1000 * EUR, 100 * EUR));
	assert_int_equal(set(f, "account", "physics", 500 * EUR, 0, &e), 1);
	assert_int_equal(set(f, "account", "physics", 50 * EUR, 0, &e), 2);
	start(f, 1000 * EUR, 100 * EUR);
	overrides_start(f->e);
	assert_int_equal(shown(f, "account", "physics")->set->id, 2);
	assert_true(shown(f, "account", "physics")->line.amount == 50 * EUR);
	assert_int_equal(engine_revoke(f->e, 2, "ann", "x", &e), 0);
	assert_null(shown(f, "account", "physics")->set);
}

/* What the journal has counts from the start on. */
static void test_what_was_set_before_the_start(void **state)
{
	struct fix *f = *state;
	const struct journal_override o = {.id = 5,
					   .budget = "account",
					   .value = "chemistry",
					   .set = true,
					   .nano = 0,
					   .until_ms = MONEY_NO_END,
					   .by = "root",
					   .reason = "x"};

	runs_with(f, ladder(1000 * EUR, 100 * EUR));
	assert_int_equal(overrides_load(f->e, &o), 0);
	overrides_start(f->e);
	/* Nobody has spent anything of it; it is shown all the same. */
	assert_int_equal(shown(f, "account", "chemistry")->set->id, 5);
	assert_true(shown(f, "account", "chemistry")->line.limited);
	assert_true(shown(f, "account", "chemistry")->line.amount == 0);
	assert_true(line(f, "account").amount == 100 * EUR);
}

static void test_what_is_refused(void **state)
{
	static const struct {
		const char *budget, *value;
		int64_t in_ms; /* 0: no time is said */
		const char *want;
	} all[] = {
		{"none", "", HOUR, "no budget is named \"none\""},
		{"rate", "", HOUR, "budget rate has no amount to add to"},
		{"account", "", HOUR,
		 "budget account is one for each: say whose, as in account/NAME"},
		{"all", "physics", HOUR, "budget all is one for all, and not for physics"},
		{"all", "", 0, "budget all has no period that ends: say until when"},
		{"all", "", -HOUR, "\"until_ms\": that time is over"},
	};
	struct fix *f = *state;
	struct conf *c = ladder(1000 * EUR, 100 * EUR);

	c->budgets = mem_realloc(c->budgets, 3 * sizeof(*c->budgets));
	c->budgets[2] = budget("rate", 0);
	c->nbudgets = 3;
	runs_with(f, c);
	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		struct err e = {0};

		assert_int_equal(order(f, all[i].budget, all[i].value,
				       all[i].in_ms != 0 ? engine_now(f->e) + all[i].in_ms : 0, &e),
				 0);
		assert_string_equal(e.msg, all[i].want);
	}
	{
		struct err e = {0};

		assert_int_equal(set(f, "rate", "", EUR, 0, &e), 0);
		assert_string_equal(e.msg, "budget rate has no amount to set: it limits a rate");
		assert_int_equal(set(f, "all", "", EUR, engine_now(f->e), &e), 0);
		assert_string_equal(e.msg, "\"until_ms\": that time is over");
	}
	assert_string_equal(rows(f, "SELECT count(*) FROM budget_override"), "0;");
}

/* A job may be told of a refusal long after that was made.  Money that has come meanwhile does not
 * come again, so the job is looked at: it waited for a day. */
static void test_money_that_came_before_the_job_was_told(void **state)
{
	struct fix *f = *state;
	struct budget_no no = {.lack = BUDGET_LACKS_MONEY, .needs = EUR, .value = "physics"};

	runs_with(f, ladder(1000 * EUR, 100 * EUR));
	no.budget = &f->e->conf->budgets[1];
	f->e->money->freed = false;
	holds_refused(f->e, 9, &no);
	assert_int_equal(f->e->money->nwaits, 1);
	assert_true(f->e->money->freed);
	f->e->money->freed = false;
	no.needs = 101 * EUR;
	holds_refused(f->e, 9, &no);
	assert_false(f->e->money->freed);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_an_account_in_capitals),
		TEST(test_it_ends),
		TEST(test_what_is_set),
		TEST(test_what_is_set_anew),
		TEST(test_what_is_set_anew_is_durable),
		TEST(test_what_was_set_before_the_start),
		TEST(test_what_is_refused),
		TEST(test_money_that_came_before_the_job_was_told),
	};

	return cmocka_run_group_tests(tests, zone_begins, zone_ends);
}
