/* test_budget_whole.c - what a job lacks that has a part of its nodes already: it gives those back
 * as it waits, and needs money for all of them together. */
#include "budget_world.h"

#define NOV "2026-11-10T12:00:00Z"

static struct budget_hold hold_of(struct world *w, struct budget_spender s, int64_t from_ms,
				  int64_t until_ms)
{
	return want(w, s, 2, from_ms, until_ms).hold;
}

/* 2 EUR an hour, from an hour before the end of the month until three hours after. */
static void test_what_it_holds_is_needed_as_well(void **state)
{
	static const struct {
		enum budget_lack lack;
		const char *budget; /* that lacks it */
		int64_t eur;        /* more */
	} rows[] = {
		{BUDGET_LACKS_MONEY, "all", 2},  {BUDGET_WANTS_SPOT, "all", 2},
		{BUDGET_LACKS_LATER, "all", 6},  {BUDGET_LACKS_RATE, "all", 2},
		{BUDGET_NO_ACCOUNT, "all", 0},   {BUDGET_NO_PRICE, "all", 0},
		{BUDGET_NOT_YET, "all", 0},      {BUDGET_NO_LIMIT, "all", 0},
		{BUDGET_LACKS_MONEY, "away", 0}, {BUDGET_LACKS_MONEY, "gone", 0},
	};
	struct conf_budget list[] = {budget("all", 100, "month"), budget("away", 100, "month"),
				     budget("gone", 100, "month")};
	int64_t end = at("2026-12-01T00:00:00Z");
	struct world w;

	(void)state;
	list[1].pools = LIST("other");
	w = world_new("UTC", NOV, list, 2);
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct budget_hold h = hold_of(&w, machine_of("h100"), end - HOUR, end + 3 * HOUR);
		struct budget_no no = {.lack = rows[i].lack, .needs = 5 * EUR, .left = 4 * EUR};

		print_message("# %zu\n", i);
		for (size_t k = 0; k < COUNT(list); k++)
			if (strcmp(list[k].name, rows[i].budget) == 0)
				no.budget = &list[k];
		budgets_add_held(w.b, &h, &no);
		assert_int_equal(no.needs, (5 + rows[i].eur) * EUR);
		assert_int_equal(no.left, (4 + rows[i].eur) * EUR);
	}
	world_free(&w);
}

static void test_it_never_overflows(void **state)
{
	const struct conf_budget list[] = {budget("all", 100, "month")};
	struct world w = world_new("UTC", NOV, list, 1);
	struct budget_hold h = hold_of(&w, machine_of("h100"), at(NOV), at(NOV) + HOUR);
	struct budget_no no = {
		.budget = list, .lack = BUDGET_LACKS_MONEY, .needs = INT64_MAX, .left = 0};

	(void)state;
	budgets_add_held(w.b, &h, &no);
	assert_int_equal(no.needs, INT64_MAX);
	assert_int_equal(no.left, 2 * EUR);
	world_free(&w);
}

/* What is promised to one is lacked by others, and by nobody once that is over. */
static void test_what_is_promised_is_lacked(void **state)
{
	static const enum budget_lack lacks[] = {BUDGET_LACKS_MONEY, BUDGET_WANTS_SPOT,
						 BUDGET_LACKS_LATER, BUDGET_LACKS_RATE};
	struct conf_budget b = budget("all", 100, "month");
	struct world w;

	(void)state;
	b.rate_nano_h = 100 * EUR;
	w = world_new("UTC", NOV, &b, 1);
	for (size_t i = 0; i < COUNT(lacks); i++) {
		const struct budget_no none = {.lack = lacks[i], .needs = 60 * EUR};
		struct budget_no no = {.budget = &b, .lack = lacks[i], .needs = 60 * EUR};
		struct budget_no other = no;

		print_message("# %zu\n", i);
		other.needs = 40 * EUR;
		budgets_promise(w.b, &none, 1); /* of no budget */
		assert_false(budgets_lack(w.b, &no));
		budgets_promise(w.b, &no, 1);
		assert_true(budgets_lack(w.b, &no));
		assert_false(budgets_lack(w.b, &other));
		for (size_t k = 0; k < COUNT(lacks); k++) {
			other.lack = lacks[k];
			other.needs = 41 * EUR;
			assert_int_equal(budgets_lack(w.b, &other),
					 k == i || (k < 2 && i < 2)); /* those two are one */
		}
		budgets_promise(w.b, &no, -1);
		assert_false(budgets_lack(w.b, &no));
	}
	world_free(&w);
}

/* A job that was refused before the budget was gone, or before its account or its price was known:
 * what it lacked does not come with money. */
static void test_what_is_of_no_budget(void **state)
{
	static const struct {
		enum budget_lack lack;
		bool lacks;
	} rows[] = {{BUDGET_NO_ACCOUNT, true},   {BUDGET_NO_PRICE, true},
		    {BUDGET_LACKS_MONEY, false}, {BUDGET_WANTS_SPOT, false},
		    {BUDGET_LACKS_LATER, false}, {BUDGET_LACKS_RATE, false},
		    {BUDGET_NO_LIMIT, false},    {BUDGET_NOT_YET, false}};
	struct conf_budget b = budget("all", 100, "month");
	struct world w = world_new("UTC", NOV, &b, 1);

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		const struct budget_no no = {.lack = rows[i].lack, .needs = EUR};

		print_message("# %zu\n", i);
		assert_int_equal(budgets_lack(w.b, &no), rows[i].lacks);
	}
	world_free(&w);
}

/* Jobs are let go if any of the budgets has more, whichever it is. */
static void test_one_of_them_has_more(void **state)
{
	static const char *const names[] = {"a", "b"};

	(void)state;
	for (size_t i = 0; i < COUNT(names); i++) {
		const struct conf_budget list[] = {budget("a", 100, "month"),
						   budget("b", 100, "month")};
		const struct budget_override v = {.id = 1,
						  .budget = names[i],
						  .value = "",
						  .nano = EUR,
						  .until_ms = INT64_MAX};
		struct world w = world_new("UTC", NOV, list, COUNT(list));

		assert_true(budgets_overrides(w.b, &v, 1));
		assert_false(budgets_overrides(w.b, &v, 1));
		world_free(&w);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_what_it_holds_is_needed_as_well),
		cmocka_unit_test(test_it_never_overflows),
		cmocka_unit_test(test_what_is_promised_is_lacked),
		cmocka_unit_test(test_what_is_of_no_budget),
		cmocka_unit_test(test_one_of_them_has_more),
	};

	return cmocka_run_group_tests_name("budget_whole", tests, NULL, NULL);
}
