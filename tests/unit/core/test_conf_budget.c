/* test_conf_budget.c - what the options of a budget take, which of them fit together, and what a
 * reload says of budgets. */
#include "conf_values.h"
#include "small_conf.h"

static const struct {
	const char *name, *text;
	const char *want;     /* as printed; NULL: it is refused */
	const char *want_err; /* then */
} rows[] = {
	{"market", "any", "any", NULL},
	{"market", "on_demand", NULL, "\"on_demand\": want reserved, spot, on-demand or any"},
	{"market", "", NULL, "want reserved, spot"},
	{"each", "", "", NULL},
	{"each", "user", "user", NULL},
	{"each", "users", NULL, "\"users\": want user, account, partition or \"\""},
	{"amount", "", "", NULL},
	{"amount", "50000", "50000.00", NULL},
	{"amount", "0.000000001", "0.000000001", NULL},
	{"amount", "0", NULL, "want more than 0, or \"\""},
	{"amount", "-5", NULL, "want an amount"},
	{"amount", "1,000", NULL, "want an amount"},
	{"amount", "50000 EUR", NULL, "want an amount"},
	{"amount", "99999999999", NULL, "want"},
	{"rate", "12.5", "12.50", NULL},
	{"rate", "0.00", NULL, "want more than 0"},
	{"period", "month", "month", NULL},
	{"period", "year from 04-01", "year from 04-01", NULL},
	{"period", "2026-01-01..2026-06-30", "2026-01-01..2026-06-30", NULL},
	{"period", "rolling 30d", "rolling 30d", NULL},
	{"period", "", NULL, "want month, quarter"},
	{"period", "week", NULL, "want month, quarter"},
	{"period", "2026-06-30..2026-01-01", NULL, "its last day is before its first"},
	{"rollover", "none", "none", NULL},
	{"rollover", "1%", "1%", NULL},
	{"rollover", "100%", "100%", NULL},
	{"rollover", "0%", NULL, "\"0%\": want none, or a percent from 1% to 100%"},
	{"rollover", "101%", NULL, "want none, or"},
	{"rollover", "20", NULL, "want none, or"},
	{"rollover", "20%%", NULL, "want none, or"},
	{"rollover", "%", NULL, "want none, or"},
	{"rollover", "-1%", NULL, "want none, or"},
	{"rollover", "2.5%", NULL, "want none, or"},
	{"rollover", "", NULL, "want none, or"},
	{"reserve", "minimum", "minimum", NULL},
	{"reserve", "half", NULL, "want full, lease or minimum"},
	{"lease", "10m", "10m", NULL},
	{"lease", "7d", "7d", NULL},
	{"lease", "9m", NULL, "want 10m to 7d"},
	{"lease", "8d", NULL, "want 10m to 7d"},
	{"spot_only_at", "100", "100", NULL},
	{"spot_only_at", "101", NULL, "want a number from 0 to 100"},
	{"spot_only_at", "90%", NULL, "want a number from 0 to 100"},
	{"stop_at", "0", "0", NULL},
	{"stop_at", "101", NULL, "want a number from 0 to 100"},
	{"drain_at", "1000", "1000", NULL},
	{"drain_at", "1001", NULL, "want a number from 0 to 1000"},
	{"requeue_at", "1000", "1000", NULL},
	{"kill_at", "1000", "1000", NULL},
	{"kill_at", "-1", NULL, "want a number"},
	{"grace", "0s", "0s", NULL},
	{"grace", "1d", "1d", NULL},
	{"grace", "25h", NULL, "want 0s to 1d"},
	{"unknown", "allow", "allow", NULL},
	{"unknown", "deny", NULL, "want refuse or allow"},
	{"contact", "", "", NULL},
	{"contact", "finance@example.org, room 7", "finance@example.org, room 7", NULL},
	{"contact", " x", NULL, "want printable ASCII of at most 100 bytes"},
	{"contact", "x ", NULL, "want printable ASCII"},
	{"contact", "B\xc3\xbcro", NULL, "want printable ASCII"},
	{"contact", "a\tb", NULL, "control character"},
	{"contact", "say \"hello\"", NULL, "a quote"},
	{"contact",
	 "0123456789012345678901234567890123456789012345678901234567890123456789012345678901234567"
	 "890123456789",
	 "0123456789012345678901234567890123456789012345678901234567890123456789012345678901234567"
	 "890123456789",
	 NULL},
	{"contact",
	 "0123456789012345678901234567890123456789012345678901234567890123456789012345678901234567"
	 "890123456789a",
	 NULL, "at most 100 bytes"},
};

static void test_values(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		const struct conf_option *o = conf_option_find("budget", rows[i].name);
		struct conf_budget b = {0}, same = {0};
		struct err e = {0};
		struct str s;
		int rc = conf_option_set(o, &b, rows[i].text, &e);

		print_message("# %s = \"%s\"\n", rows[i].name, rows[i].text);
		assert_int_equal(rc, rows[i].want != NULL ? 0 : -1);
		str_init(&s, 400);
		if (rows[i].want != NULL) {
			conf_option_print(o, &b, &s);
			assert_string_equal(s.p, rows[i].want);
			assert_int_equal(conf_option_set(o, &same, s.p, NULL), 0);
			assert_true(conf_option_same(o, &b, &same));
		} else if (strstr(e.msg, rows[i].want_err) == NULL) {
			fail_msg("%s", e.msg);
		}
		str_fini(&s);
		conf_option_fini(o, &b);
		conf_option_fini(o, &same);
	}
}

static void test_lists_of_names(void **state)
{
	static const char *const good[] = {"physics", "a.b-c_d", "*", "x@y"};
	static const struct {
		const char *text, *says;
	} bad[] = {
		{"", "want names"},
		{"a b", "want names"},
		{"physics,chemistry", "each by itself: {\"a\", \"b\"}"},
		{"physics", "physics is listed twice"},
		{"0123456789012345678901234567890123456789012345678901234567890123", "at most 63"},
	};
	const struct conf_option *o = conf_option_find("budget", "accounts");
	struct conf_budget b = {0};
	struct err e = {0};
	char name[16];
	struct str s;

	(void)state;
	for (size_t i = 0; i < COUNT(good); i++)
		assert_int_equal(conf_option_add_arg(o, &b, good[i], &e), 0);
	for (size_t i = 0; i < COUNT(bad); i++) {
		assert_int_equal(conf_option_add_arg(o, &b, bad[i].text, &e), -1);
		if (strstr(e.msg, bad[i].says) == NULL)
			fail_msg("%s", e.msg);
	}
	str_init(&s, 1000);
	conf_option_print(o, &b, &s);
	assert_string_equal(s.p, "\"physics\", \"a.b-c_d\", \"*\", \"x@y\"");
	str_fini(&s);
	for (int i = 4; i < CONF_BUDGET_LIST_MAX; i++) {
		(void)snprintf(name, sizeof(name), "n%d", i);
		assert_int_equal(conf_option_add_arg(o, &b, name, &e), 0);
	}
	assert_int_equal(conf_option_add_arg(o, &b, "more", &e), -1);
	assert_string_equal(e.msg, "more than 256 values");
	conf_option_fini(o, &b);
	assert_null(b.accounts);
}

static void test_percents_grow(void **state)
{
	static const struct {
		const char *text, *says; /* NULL: good */
	} rows_of[] = {
		{"0", "want a number from 1 to 1000"},
		{"1001", "want a number from 1 to 1000"},
		{"80%", "want a number"},
		{"80", NULL},
		{"80", "80 behind 80: want them to grow"},
		{"79", "79 behind 80"},
		{"81", NULL},
		{"1000", NULL},
	};
	const struct conf_option *o = conf_option_find("budget", "notify_at");
	struct conf_budget b = {0};
	struct err e = {0};
	struct str s;

	(void)state;
	for (size_t i = 0; i < COUNT(rows_of); i++) {
		int rc = conf_option_add_arg(o, &b, rows_of[i].text, &e);

		assert_int_equal(rc, rows_of[i].says != NULL ? -1 : 0);
		if (rows_of[i].says != NULL && strstr(e.msg, rows_of[i].says) == NULL)
			fail_msg("%s", e.msg);
	}
	str_init(&s, 100);
	conf_option_print(o, &b, &s);
	assert_string_equal(s.p, "\"80\", \"81\", \"1000\"");
	str_fini(&s);
	b = (struct conf_budget){0};
	for (uint32_t i = 0; i < CONF_NOTIFY_MAX; i++) {
		char text[8];

		(void)snprintf(text, sizeof(text), "%u", i + 1);
		assert_int_equal(conf_option_add_arg(o, &b, text, &e), 0);
	}
	assert_int_equal(conf_option_add_arg(o, &b, "99", &e), -1);
	assert_int_equal(e.code, ERR_LIMIT);
	assert_int_equal(b.notify_at.n, CONF_NOTIFY_MAX);
}

static struct conf *with_budget(struct conf_budget **b)
{
	struct conf *c = small_conf();

	add_pool(c, "a", "one", "a1", 100);
	*b = add_budget(c, "x", 30);
	set("budget", "stop_at", *b, "100");
	return c;
}

static void add(struct conf_budget *b, const char *list, const char *text)
{
	assert_int_equal(conf_option_add_arg(conf_option_find("budget", list), b, text, NULL), 0);
}

static void check(struct conf *c, const char *want)
{
	struct err e = {0};

	assert_int_equal(conf_finish(c, &e), want != NULL ? -1 : 0);
	if (want != NULL)
		assert_string_equal(e.msg, want);
	conf_free(c);
}

static void test_the_ladder_does_not_go_down(void **state)
{
	static const struct {
		const char *notify, *spot_only, *stop, *drain, *requeue, *kill, *want;
	} ladders[] = {
		{"", "0", "100", "0", "0", "0", NULL},
		{"", "0", "0", "0", "0", "0", NULL},
		{"80", "90", "100", "100", "110", "120", NULL},
		{"90", "90", "90", "90", "90", "90", NULL},
		{"1000", "0", "0", "0", "0", "0", NULL},
		{"80", "0", "100", "0", "0", "100", NULL},
		{"", "91", "90", "0", "0", "0",
		 "stop_at is 90, below the 91 of spot_only_at: a later step may not begin earlier"},
		{"81", "80", "100", "0", "0", "0",
		 "spot_only_at is 80, below the 81 of notify_at: a later step may not begin "
		 "earlier"},
		{"101", "0", "100", "0", "0", "0",
		 "stop_at is 100, below the 101 of notify_at: a later step may not begin earlier"},
		{"", "0", "100", "99", "0", "0",
		 "drain_at is 99, below the 100 of stop_at: a later step may not begin earlier"},
		{"", "0", "100", "0", "99", "0",
		 "requeue_at is 99, below the 100 of stop_at: a later step may not begin earlier"},
		{"", "0", "100", "0", "110", "109",
		 "kill_at is 109, below the 110 of requeue_at: a later step may not begin earlier"},
		{"", "0", "100", "120", "0", "110",
		 "kill_at is 110, below the 120 of drain_at: a later step may not begin earlier"},
		{"", "0", "0", "100", "0", "0",
		 "drain_at needs stop_at: else jobs would start again at once"},
		{"", "0", "0", "0", "100", "0",
		 "requeue_at needs stop_at: else jobs would start again at once"},
		{"", "90", "0", "0", "0", "100",
		 "kill_at needs stop_at: else jobs would start again at once"},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(ladders); i++) {
		char want[200];
		struct conf_budget *b;
		struct conf *c = with_budget(&b);

		if (ladders[i].notify[0] != '\0') {
			add(b, "notify_at", ladders[i].notify);
			if (strlen(ladders[i].notify) < 3) /* only the first counts */
				add(b, "notify_at", "500");
		}
		set("budget", "spot_only_at", b, ladders[i].spot_only);
		set("budget", "stop_at", b, ladders[i].stop);
		set("budget", "drain_at", b, ladders[i].drain);
		set("budget", "requeue_at", b, ladders[i].requeue);
		set("budget", "kill_at", b, ladders[i].kill);
		(void)snprintf(want, sizeof(want), "burstd.conf:30: budget \"x\": %s",
			       ladders[i].want != NULL ? ladders[i].want : "");
		check(c, ladders[i].want != NULL ? want : NULL);
	}
}

/* Nodes belong to nobody: only a budget of machines can drain its own. */
static void test_whose_nodes_are_drained(void **state)
{
	static const struct {
		const char *list, *value;
		bool may;
	} lists[] = {{"accounts", "physics", false}, {"users", "ann", false},
		     {"qos", "high", false},         {"wckeys", "w", false},
		     {"partitions", "gpu", true},    {"providers", "two", true}};
	struct conf_budget *b;

	(void)state;
	for (size_t i = 0; i < COUNT(lists); i++) {
		struct conf *c = with_budget(&b);

		print_message("# %s\n", lists[i].list);
		add(b, lists[i].list, lists[i].value);
		set("budget", "drain_at", b, "100");
		check(c, lists[i].may ? NULL
				      : "burstd.conf:30: budget \"x\": drain_at: only for a budget "
					"of machines; this one counts jobs, which requeue_at and "
					"kill_at end");
	}
}

static void test_what_a_budget_needs(void **state)
{
	struct conf_budget *b;
	struct conf *c = with_budget(&b);

	(void)state;
	set("budget", "amount", b, "");
	check(c, "burstd.conf:30: budget \"x\": limits nothing: set amount, or rate, or both");
	c = with_budget(&b);
	set("budget", "amount", b, "");
	set("budget", "rate", b, "1");
	check(c, NULL);
	c = with_budget(&b);
	add(b, "pools", "a");
	add(b, "pools", "b");
	check(c, "burstd.conf:30: budget \"x\": pools: there is no pool \"b\"");
	c = with_budget(&b);
	add(b, "providers", "two");
	add(b, "providers", "three");
	check(c, "burstd.conf:30: budget \"x\": providers: there is no provider \"three\"");
	c = with_budget(&b);
	add(b, "pools", "a");
	add(b, "providers", "two");
	check(c, "burstd.conf:30: budget \"x\": providers: none of its pools buys from any of "
		 "these");
	c = with_budget(&b);
	add_pool(c, "z", "two", "z1", 110);
	add(b, "pools", "a");
	add(b, "pools", "z");
	add(b, "providers", "two");
	add(b, "partitions", "nobody-knows");
	check(c, NULL);
	c = with_budget(&b);
	(void)add_budget(c, "y", 40);
	(void)add_budget(c, "x", 50);
	check(c, "burstd.conf:50: budget \"x\" is defined twice");
	c = with_budget(&b);
	b->name[0] = 'a'; /* a pool has that name, too */
	check(c, NULL);
}

static void test_what_moves_to_the_next_period(void **state)
{
	static const struct {
		const char *period, *want;
	} periods[] = {
		{"month", NULL},
		{"quarter", NULL},
		{"year from 04-01", NULL},
		{"rolling 30d", "burstd.conf:30: budget \"x\": rollover: period rolling 30d has no "
				"next one to carry money to"},
		{"2026-01-01..2026-06-30",
		 "burstd.conf:30: budget \"x\": rollover: period 2026-01-01..2026-06-30 has no "
		 "next one to carry money to"},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(periods); i++) {
		struct conf_budget *b;
		struct conf *c = with_budget(&b);

		set("budget", "period", b, periods[i].period);
		set("budget", "rollover", b, "20%");
		check(c, periods[i].want);
		c = with_budget(&b);
		set("budget", "period", b, periods[i].period);
		check(c, NULL);
	}
}

static void test_the_rule_of_a_period_is_derived(void **state)
{
	struct conf_budget *b;
	struct conf *c = with_budget(&b);

	(void)state;
	set("budget", "period", b, "rolling 7d");
	assert_int_equal(conf_finish(c, NULL), 0);
	assert_int_equal(b->period_rule.kind, PERIOD_ROLLING);
	assert_int_equal(b->period_rule.days, 7);
	assert_ptr_equal(conf_budget_named(c, "x"), b);
	assert_null(conf_budget_named(c, "a"));
	conf_free(c);
}

static void test_too_many(void **state)
{
	struct conf *c = small_conf();
	char name[16];

	(void)state;
	for (int i = 0; i < CONF_BUDGETS_MAX; i++) {
		(void)snprintf(name, sizeof(name), "b%d", i);
		(void)add_budget(c, name, i);
	}
	assert_int_equal(conf_budgets_finish(c, NULL), 0);
	(void)add_budget(c, "more", 70000);
	check(c, "burstd.conf:70000: more than 20000 budgets");
}

/* An option's line is where it stands, or else where its section ends. */
static void test_lines(void **state)
{
	struct conf_budget b = {.line = 7};
	size_t k = 0;

	(void)state;
	for (size_t i = 0; i < conf_noptions; i++)
		if (strcmp(conf_options[i].section, "budget") == 0) {
			assert_true(k < CONF_BUDGET_OPTIONS_MAX);
			assert_int_equal(conf_budget_line(&b, conf_options[i].name), 7);
			b.lines[k] = (int)(100 + k);
			assert_int_equal(conf_budget_line(&b, conf_options[i].name), 100 + k);
			k++;
		}
	assert_int_equal(conf_budget_line(&b, ""), 7);
}

/* Any change of budgets is a reload, whatever their order. */
static void test_a_reload_may_change_anything(void **state)
{
	struct conf_budget *b;
	struct conf *old = with_budget(&b), *next = small_conf();
	struct err e = {0};

	(void)state;
	(void)add_budget(old, "gone", 31);
	add_pool(next, "a", "one", "a1", 100);
	(void)add_budget(next, "new", 30);
	b = add_budget(next, "x", 31);
	set("budget", "amount", b, "120.50");
	set("budget", "stop_at", b, "100");
	add(b, "users", "ann");
	assert_int_equal(conf_may_replace(old, next, &e), 0);
	check_diff(old, next,
		   "budget \"x\" users: \"\" -> \"ann\"\n"
		   "budget \"x\" amount: 100.00 -> 120.50\n"
		   "budget \"gone\": gone\n"
		   "budget \"new\": new\n");
	check_diff(old, old, "");
	set("", "report_zone", next, "Europe/Berlin");
	assert_int_equal(conf_may_replace(old, next, &e), -1);
	assert_string_equal(e.msg, "report_zone: a change needs a restart");
	conf_free(old);
	conf_free(next);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_values),
		cmocka_unit_test(test_lists_of_names),
		cmocka_unit_test(test_percents_grow),
		cmocka_unit_test(test_the_ladder_does_not_go_down),
		cmocka_unit_test(test_whose_nodes_are_drained),
		cmocka_unit_test(test_what_a_budget_needs),
		cmocka_unit_test(test_what_moves_to_the_next_period),
		cmocka_unit_test(test_the_rule_of_a_period_is_derived),
		cmocka_unit_test(test_too_many),
		cmocka_unit_test(test_lines),
		cmocka_unit_test(test_a_reload_may_change_anything),
	};

	return cmocka_run_group_tests_name("conf_budget", tests, NULL, NULL);
}
