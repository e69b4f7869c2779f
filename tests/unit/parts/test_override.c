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
	assert_string_equal(e.msg, "override 1 has ended already");
	assert_int_equal(engine_revoke(f->e, 3, "ann", "x", &e), -1);
	assert_string_equal(e.msg, "there is no override 3");
	assert_string_equal(rows(f, "SELECT id, revoked_by, revoked_why FROM budget_override"),
			    "1 ann too much;2  ;");
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
		{"all", "", -HOUR, "that time is over"},
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
		TEST(test_what_is_refused),
		TEST(test_money_that_came_before_the_job_was_told),
	};

	return cmocka_run_group_tests(tests, zone_begins, zone_ends);
}
