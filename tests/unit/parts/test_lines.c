/* lines.c: rows of budgets are written some at a time, so that no hook waits for them. */
#include "ladder_lab.h"

enum { MANY = 1200, AT_ONCE = 500 };

static void test_a_new_period_of_many_budgets(void **state)
{
	struct fix *f = *state;
	struct conf *c = ladder(1000 * EUR, 100 * EUR);
	int64_t had = 0;

	c->budgets = mem_realloc(c->budgets, (2 + MANY) * sizeof(*c->budgets));
	for (int i = 0; i < MANY; i++) {
		char name[16];

		(void)snprintf(name, sizeof(name), "b%d", i);
		c->budgets[2 + i] = budget(name, 1000 * EUR);
		c->budgets[2 + i].each = CONF_EACH_USER;
		c->budgets[2 + i].rollover = 20;
	}
	c->nbudgets = 2 + MANY;
	runs_with(f, c);
	for (int look = 0; had < 2 * MANY; look++) {
		int64_t n;

		assert_true(look < 10);
		money_lines_watch(f->e);
		engine_commit(f->e);
		n = atoll(rows(f, "SELECT count(*) FROM budget_period WHERE budget LIKE 'b%'"));
		assert_in_range(n - had, 1, AT_ONCE);
		had = n;
	}
	assert_int_equal(had, 2 * MANY); /* of ann, and of nobody */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_a_new_period_of_many_budgets),
	};

	return cmocka_run_group_tests(tests, zone_begins, zone_ends);
}
