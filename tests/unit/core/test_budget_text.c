/* test_budget_text.c - the line that a user reads when there is no money for his job. */
#include "budget_world.h"

#include <stdio.h>

#include "base/str.h"

enum { H4 = 4 * 3600000 };

static const struct {
	struct budget_no no; /* but for its budget */
	int64_t limit_ms;
	const char *contact, *want;
} rows[] = {
	{{.lack = BUDGET_LACKS_MONEY,
	  .needs = 118080000000,
	  .left = 61200000000,
	  .limit = 500000000000,
	  .period = "2026-11"},
	 H4,
	 NULL,
	 "budget physics: this job needs 118.08 EUR for its 4 h, 61.20 of 500.00 left in 2026-11"},
	{{.lack = BUDGET_LACKS_MONEY,
	  .value = "ann",
	  .needs = 1000000001,
	  .left = 0,
	  .limit = 1000000000,
	  .period = "2026-11"},
	 -1,
	 "finance@example.org",
	 "budget physics/ann: this job needs 1.01 EUR, 0.00 of 1.00 left in 2026-11; ask "
	 "finance@example.org"},
	{{.lack = BUDGET_LACKS_LATER,
	  .needs = 2000000000,
	  .left = 1000000000,
	  .limit = 5000000000,
	  .period = "2026-Q4"},
	 90 * 60000,
	 "",
	 "budget physics: this job needs 2.00 EUR for its 1 h 30 min, 1.00 of 5.00 left after "
	 "2026-Q4"},
	{{.lack = BUDGET_LACKS_RATE,
	  .value = "chem",
	  .needs = 12000000000,
	  .left = 2500000000,
	  .limit = 10000000000},
	 H4,
	 NULL,
	 "budget physics/chem: this job needs 12.00 EUR an hour, 2.50 of 10.00 left"},
	{{.lack = BUDGET_WANTS_SPOT,
	  .needs = 12000000000,
	  .left = 2500000000,
	  .limit = 10000000000,
	  .period = "2026-11"},
	 H4,
	 NULL,
	 "budget physics: this job needs 12.00 EUR for its 4 h, 2.50 of 10.00 left for on-demand "
	 "machines; spot may still be bought"},
	{{.lack = BUDGET_NO_ACCOUNT},
	 H4,
	 NULL,
	 "budget physics: it is not known whose this job is, so nothing is bought for it"},
	{{.lack = BUDGET_NO_LIMIT, .period = "2026-11"},
	 -1,
	 NULL,
	 "budget physics: this job has no time limit, so its cost cannot be set aside: give it one "
	 "by --time"},
	{{.lack = BUDGET_NO_LIMIT, .period = "2026-11"},
	 H4,
	 NULL,
	 "budget physics: this job may outrun its time limit without end (OverTimeLimit = "
	 "UNLIMITED), so its cost cannot be set aside"},
	{{.lack = BUDGET_NO_PRICE},
	 H4,
	 "room 7",
	 "budget physics: the price of a machine for this job is not known; ask room 7"},
	{{.lack = BUDGET_NOT_YET, .period = "2026-12-01..2026-12-31"},
	 H4,
	 NULL,
	 "budget physics: its period 2026-12-01..2026-12-31 has not begun"},
	{{.lack = BUDGET_OVER, .period = "2026-10-01..2026-10-31"},
	 H4,
	 NULL,
	 "budget physics: its period 2026-10-01..2026-10-31 is over"},
};

static void test_every_sentence(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct conf_budget b = budget("physics", 500, "month");
		struct budget_no no = rows[i].no;
		char line[300];

		b.contact = (char *)(uintptr_t)rows[i].contact;
		no.budget = &b;
		budget_no_print(&no, "EUR", rows[i].limit_ms, line, sizeof(line));
		assert_string_equal(line, rows[i].want);
		budget_no_print(&no, "EUR", rows[i].limit_ms, line, 20); /* it is cut */
		assert_int_equal(strlen(line), 19);
		assert_memory_equal(line, rows[i].want, 16);
		assert_string_equal(line + 16, "...");
	}
}

/* An AdminComment has 160 bytes for it: a part of an address, or of an amount, says what is wrong.
 */
static void test_nothing_is_cut_in_two(void **state)
{
	static const char want[] =
		"budget bioinformatics/researcher: this job needs 1180.80 EUR for its 1 day 12 h, "
		"361.20 of 5000.00 left in 2026-11";
	static const char ask[] = "; ask hpc-accounting@rechenzentrum.uni-musterstadt.example";
	struct conf_budget b = budget("bioinformatics", 5000, "month");
	struct budget_no no = {.budget = &b,
			       .value = "researcher",
			       .lack = BUDGET_LACKS_MONEY,
			       .needs = 118080 * (EUR / 100),
			       .left = 36120 * (EUR / 100),
			       .limit = 500000 * (EUR / 100),
			       .period = "2026-11"};
	char line[400];

	(void)state;
	b.contact = (char *)(uintptr_t)ask + strlen("; ask ");
	budget_no_print(&no, "EUR", 36 * HOUR, line, 160);
	assert_string_equal(line, want);
	budget_no_print(&no, "EUR", 36 * HOUR, line, sizeof(want) + sizeof(ask) - 2);
	assert_string_equal(line, want);
	budget_no_print(&no, "EUR", 36 * HOUR, line, sizeof(want) + sizeof(ask) - 1);
	assert_int_equal(strlen(line), strlen(want) + strlen(ask));
	budget_no_print(&no, "EUR", 36 * HOUR, line, sizeof(want) - 1);
	assert_int_equal(strlen(line), strlen(want) - 1);
	assert_string_equal(line + strlen(want) - 4, "...");
}

static void test_spans(void **state)
{
	static const struct {
		int64_t ms;
		const char *want;
	} spans[] = {
		{0, "0 s"},
		{1, "1 s"},
		{30000, "30 s"},
		{60000, "1 min"},
		{90000, "1 min 30 s"},
		{45 * MINUTE, "45 min"},
		{HOUR, "1 h"},
		{HOUR + 1000, "1 h"},
		{HOUR + MINUTE, "1 h 1 min"},
		{25 * HOUR, "1 day 1 h"},
		{54 * HOUR + MINUTE, "2 days 6 h"},
		{48 * HOUR + MINUTE, "2 days"},
		{DAY - 1, "1 day"},
		{1000 * DAY, "1000 days"},
		{INT64_MAX - 1000, "106751991167 days 7 h"},
	};
	struct conf_budget b = budget("b", 500, "month");
	struct budget_no no = {.budget = &b, .lack = BUDGET_LACKS_MONEY};

	(void)state;
	for (size_t i = 0; i < COUNT(spans); i++) {
		char line[200], want_line[200];

		budget_no_print(&no, "EUR", spans[i].ms, line, sizeof(line));
		(void)snprintf(
			want_line, sizeof(want_line),
			"budget b: this job needs 0.00 EUR for its %s, 0.00 of 0.00 left in ",
			spans[i].want);
		assert_string_equal(line, want_line);
	}
}

static void counted(const struct conf_budget *b, const char *want)
{
	struct str s;

	str_init(&s, 200);
	budget_print_counted(&s, b);
	assert_string_equal(s.p, want);
	str_fini(&s);
}

static void test_what_is_counted(void **state)
{
	static char *names[] = {(char *)(uintptr_t) "a", (char *)(uintptr_t) "b", NULL};
	struct conf_budget b = budget("b", 500, "month");

	(void)state;
	counted(&b, "all machines");
	b.each = CONF_EACH_PARTITION;
	counted(&b, "all machines");
	b.each = CONF_EACH_USER;
	counted(&b, "all jobs of each user");
	b.each = CONF_EACH_ACCOUNT;
	counted(&b, "all jobs of each account");
	b.market = PROVIDER_SPOT;
	counted(&b, "spot machines");
	b.accounts = names;
	b.providers = names + 1;
	counted(&b, "accounts a, b; providers b; spot machines");
	b.market = CONF_MARKET_ANY;
	b.accounts = b.providers = NULL;
	b.users = b.qos = b.wckeys = b.partitions = b.pools = names + 1;
	counted(&b, "users b; qos b; wckeys b; partitions b; pools b");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_every_sentence),
		cmocka_unit_test(test_nothing_is_cut_in_two),
		cmocka_unit_test(test_spans),
		cmocka_unit_test(test_what_is_counted),
	};

	return cmocka_run_group_tests_name("budget_text", tests, NULL, NULL);
}
