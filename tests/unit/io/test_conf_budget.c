/* test_conf_budget.c - budgets in a file: each error says where and what, and what is printed loads
 * again. */
#include "conf_equal.h"

#include <time.h>

#define BUDGET "budget b {\namount = \"100\"\n"

static const struct {
	const char *name, *text;
	const char *want; /* behind "f:" */
} bad[] = {
	{"no title", HEAD "budget { amount = \"1\" }\n",
	 "3: budget has no title: want budget \"NAME\" { ... }"},
	{"a title with a blank", HEAD "budget \"a b\" { amount = \"1\" }\n",
	 "3: budget \"a b\": want a name: letters, digits, '-', '_' and '.', at most 63"},
	{"unknown option", HEAD "budget b {\namuont = \"1\" }\n",
	 "4: unknown option \"amuont\" in a budget; did you mean \"amount\"?"},
	{"unknown section", HEAD "budgets b { }\n",
	 "3: unknown option \"budgets\" outside the sections; did you mean \"budget\"?"},
	{"neither amount nor rate", HEAD "budget b {\nusers = {ann}\n}\n",
	 "5: budget \"b\": limits nothing: set amount, or rate, or both"},
	{"an amount of nothing", HEAD "budget b {\namount = \"0\"\n}\n",
	 "4: budget \"b\": amount: want more than 0, or \"\""},
	{"twice", HEAD BUDGET "}\n" BUDGET "}\n",
	 "8: budget \"b\" is defined twice; the first ends in line 5"},
	{"twice, and a pool of that name",
	 HEAD SIM "pool b { nodes = c1 " POOL_END BUDGET "}\n" BUDGET "}\n",
	 "10: budget \"b\" is defined twice; the first ends in line 7"},
	{"an option twice", HEAD BUDGET "amount = \"2\"\n}\n",
	 "5: amount is defined twice, first in line 4"},
	{"unknown provider", HEAD SIM BUDGET "providers = {sim, sun}\n}\n",
	 "6: budget \"b\": providers: there is no provider \"sun\""},
	{"unknown pool", HEAD SIM POOL BUDGET "\npools = {p, q}\n}\n",
	 "8: budget \"b\": pools: there is no pool \"q\""},
	{"a pool of offers elsewhere",
	 HEAD SIM
	 "provider b { driver = sim }\npool p { nodes = c1 max_nodes = 1 max_rate = \"1\"\n"
	 "offer o { provider = sim type = t region = r } }\n" BUDGET
	 "pools = {p}\nproviders = {b}\n}\n",
	 "10: budget \"b\": providers: none of its pools buys from any of these"},
	{"names with a comma", HEAD BUDGET "users = \"ann,bob\"\n}\n", "5: "},
	{"names with a comma in a list", HEAD BUDGET "users = {\"ann,bob\"}\n}\n",
	 "5: budget \"b\": users: \"ann,bob\": want names of at most 63 bytes, each by itself: "
	 "{\"a\", \"b\"}"},
	{"a lease that is none", HEAD BUDGET "lease = 2h\n}\n",
	 "5: budget \"b\": lease: only with reserve = lease"},
	{"even the usual one", HEAD BUDGET "reserve = minimum\nlease = 4h\n}\n",
	 "6: budget \"b\": lease: only with reserve = lease"},
	{"a period of nothing", HEAD "budget b {\nrate = \"7\"\nperiod = month\n}\n",
	 "5: budget \"b\": period: only with an amount"},
	{"percents of nothing", HEAD "budget b {\nrate = \"7\"\n\nnotify_at = {80}\n}\n",
	 "6: budget \"b\": notify_at: only with an amount"},
	{"a stop of nothing", HEAD "budget b {\nrate = \"7\"\nstop_at = 90\n}\n",
	 "5: budget \"b\": stop_at: only with an amount"},
	{"a grace of nothing", HEAD "budget b {\nrate = \"7\"\ngrace = 1m\n}\n",
	 "5: budget \"b\": grace: only with an amount"},
	{"a rollover of nothing", HEAD "budget b {\nrate = \"7\"\nrollover = \"9%\"\n}\n",
	 "5: budget \"b\": rollover: only with an amount"},
	{"steps in a wrong order", HEAD BUDGET "stop_at = 90\nspot_only_at = 95\n}\n",
	 "5: budget \"b\": stop_at is 90, below the 95 of spot_only_at: a later step may not begin "
	 "earlier"},
	{"percents that fall", HEAD BUDGET "notify_at = {90, 80}\n}\n",
	 "5: budget \"b\": notify_at: 80 behind 90: want them to grow"},
	{"a bad period", HEAD BUDGET "period = \"2026-02-30..2026-03-01\"\n}\n",
	 "5: budget \"b\": period: \"2026-02-30..2026-03-01\": want month, quarter, year, \"year "
	 "from MM-DD\", \"rolling 30d\" or "},
	{"a rollover of a window", HEAD BUDGET "period = \"rolling 9d\"\nrollover = \"9%\"\n}\n",
	 "6: budget \"b\": rollover: period rolling 9d has no next one"},
	{"no such zone", HEAD "\nreport_zone = \"Europe/Bonn\"\n",
	 "4: report_zone: no time zone \"Europe/Bonn\" in /usr/share/zoneinfo/"},
	{"no zone", HEAD "report_zone = \"\"\n", "3: report_zone: want text"},
	{"a zone by its path", HEAD "report_zone = \"/etc/localtime\"\n",
	 "3: report_zone: no time zone \"/etc/localtime\""},
};

static void test_errors(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(bad); i++) {
		struct err e = {0};
		struct conf *c;

		print_message("# %s\n", bad[i].name);
		assert_int_equal(conf_file_parse(&c, "f", bad[i].text, provider_options, &e), -1);
		assert_null(c);
		if (strncmp(e.msg, "f:", 2) != 0 ||
		    strncmp(e.msg + 2, bad[i].want, strlen(bad[i].want)) != 0)
			fail_msg("%s", e.msg);
	}
}

/* With options that would not be taken left out, what is printed is a good file. */
static void test_what_is_printed_loads_again(void **state)
{
	static const char *const texts[] = {
		HEAD BUDGET "}\n",
		HEAD "budget b { rate = \"7\" }\n",
		HEAD SIM
		"provider b { driver = sim }\npool p { nodes = c1 max_nodes = 1 max_rate = "
		"\"1\"\noffer o { provider = sim type = t region = r }\n"
		"offer q { provider = b type = t region = r } }\n" BUDGET
		"pools = {p} providers = {b} }\n",
		HEAD "budget b { rate = \"7\" reserve = lease }\n",
		HEAD BUDGET "period = \"rolling 9d\" market = spot }\nbudget a { rate = \"1\" }\n",
	};

	(void)state;
	for (size_t i = 0; i < COUNT(texts); i++) {
		struct conf *a = parsed(texts[i]), *b;
		struct str s;

		str_init(&s, CONF_PRINT_MAX);
		conf_print(a, &s);
		b = parsed(s.p);
		assert_conf_equal(a, b);
		str_fini(&s);
		conf_free(a);
		conf_free(b);
	}
}

static void test_which_options_are_printed(void **state)
{
	struct conf *c = parsed(HEAD "budget b { rate = \"7\" users = {ann, bob} }\n");
	struct str s;

	(void)state;
	str_init(&s, CONF_PRINT_MAX);
	conf_print(c, &s);
	assert_non_null(strstr(s.p,
			       "\nbudget \"b\" {\n\tpartitions = {}\n\tpools = {}\n\taccounts = "
			       "{}\n\tusers = {\"ann\", \"bob\"}\n\tqos = {}\n\twckeys = {}\n"
			       "\tproviders = {}\n\tmarket = \"any\"\n\teach = \"\"\n\tamount = "
			       "\"\"\n\trate = \"7.00\"\n\treserve = \"full\"\n\tunknown = "
			       "\"refuse\"\n\tcontact = \"\"\n}\n"));
	str_fini(&s);
	conf_free(c);
}

/* As many as there may be, each at its place in the file, in a file of the size that is allowed;
 * in no time that is felt, though each name is compared with all before it. */
static void test_as_many_as_there_may_be(void **state)
{
	enum { ENOUGH_S = 10 }; /* 0.2 do, and some more with a sanitizer; minutes do not */
	struct conf *c, *again;
	struct str s;
	clock_t began;

	(void)state;
	str_init(&s, CONF_FILE_MAX);
	str_adds(&s, HEAD);
	for (int i = 0; i < CONF_BUDGETS_MAX; i++)
		str_addf(&s, "budget project-%d { accounts = {project-%d} amount = \"%d\" }\n", i,
			 i, i + 1);
	assert_false(s.full);
	began = clock();
	c = parsed(s.p);
	assert_true(clock() - began < ENOUGH_S * CLOCKS_PER_SEC);
	assert_int_equal(c->nbudgets, CONF_BUDGETS_MAX);
	assert_string_equal(c->budgets[999].name, "project-999");
	assert_int_equal(c->budgets[999].line, 1002);
	assert_int_equal(c->budgets[7].amount_nano, INT64_C(8000000000));
	again = parsed(s.p);
	assert_int_equal(conf_may_replace(c, again, NULL), 0);
	assert_conf_equal(c, again);
	conf_free(c);
	conf_free(again);
	str_fini(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_errors),
		cmocka_unit_test(test_what_is_printed_loads_again),
		cmocka_unit_test(test_which_options_are_printed),
		cmocka_unit_test(test_as_many_as_there_may_be),
	};

	return cmocka_run_group_tests_name("budgets in files", tests, NULL, NULL);
}
