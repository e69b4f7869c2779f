/* test_budget_show.c - what is shown of budgets: what runs has cost so far, and who may see what.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "base/fmt.h"
#include "core/budget.h"

enum { HOUR = 3600000, LINES = 16 };

static struct zone *utc;
static struct budgets *b;
static struct conf_budget list[LINES];

static int64_t at(const char *text)
{
	int64_t ms;

	assert_int_equal(fmt_time_parse(text, &ms, NULL), 0);
	return ms;
}

static char ann[] = "Ann", bob[] = "bob", physics_name[] = "physics";
static char *ann_and_bob[] = {ann, bob, NULL};

/* A budget of 1000 with this period. */
static struct conf_budget *budget(size_t i, const char *name, const char *period)
{
	list[i] = (struct conf_budget){
		.name = (char *)(uintptr_t)name, .market = CONF_MARKET_ANY, .amount_nano = 1000};
	assert_int_equal(period_parse(&list[i].period_rule, period, NULL), 0);
	return &list[i];
}

static int setup(void **state)
{
	(void)state;
	utc = zone_new("UTC", NULL);
	b = budgets_new(utc, at("2026-11-15T12:00:00Z"));
	memset(list, 0, sizeof(list));
	return utc == NULL;
}

static int teardown(void **state)
{
	(void)state;
	budgets_free(b);
	zone_free(utc);
	return 0;
}

static uint32_t spender(bool machine, const char *user, const char *account)
{
	return budgets_spender(b, &(struct budget_spender){.machine = machine,
							   .account = account,
							   .user = user,
							   .qos = "",
							   .wckey = "",
							   .partition = "gpu",
							   .pool = "h100",
							   .provider = "sim"});
}

/* --- accrued -------------------------------------------------------------------------------------
 */

static void test_accrued(void **state)
{
	static const struct {
		const char *period, *from, *until, *now;
		int64_t want; /* at 60 an hour: minutes */
	} rows[] = {
		{"month", "2026-11-15T10:00:00Z", "2026-11-15T20:00:00Z", "2026-11-15T12:00:00Z",
		 120},
		{"month", "2026-11-15T10:00:00Z", "2026-11-15T11:30:00Z", "2026-11-15T12:00:00Z",
		 90}, /* it outlived its hold: what is held is the most */
		{"month", "2026-11-15T13:00:00Z", "2026-11-15T20:00:00Z", "2026-11-15T12:00:00Z",
		 0}, /* it has not begun */
		{"month", "2026-10-31T22:00:00Z", "2026-11-15T20:00:00Z", "2026-11-01T01:00:00Z",
		 60}, /* what was before is October's */
		{"month", "2026-11-30T22:00:00Z", "2026-12-15T20:00:00Z", "2026-12-01T03:00:00Z",
		 120}, /* ... and what comes after December's */
		{"rolling 2d", "2026-11-10T00:00:00Z", "2026-11-20T00:00:00Z",
		 "2026-11-15T12:00:00Z", 36 * 60},
		{"2026-11-15..2026-11-15", "2026-11-14T00:00:00Z", "2026-11-20T00:00:00Z",
		 "2026-11-15T12:00:00Z", 12 * 60},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const struct budget_hold h = {.rate_nano_h = 60,
					      .from_ms = at(rows[i].from),
					      .until_ms = at(rows[i].until)};

		print_message("# row %zu\n", i);
		(void)budget(0, "a", rows[i].period);
		budgets_configure(b, list, 1);
		assert_int_equal(budgets_accrued(b, 0, &h, at(rows[i].now)), rows[i].want);
	}
	list[0].amount_nano = 0;
	list[0].rate_nano_h = 5;
	budgets_configure(b, list, 1);
	assert_int_equal(budgets_accrued(b, 0,
					 &(struct budget_hold){.rate_nano_h = 60,
							       .from_ms = 0,
							       .until_ms = INT64_MAX},
					 at("2026-11-15T12:00:00Z")),
			 0);
}

/* Never more than is held, at any moment; saturating. */
static void test_accrued_is_held(void **state)
{
	const int64_t begin = at("2026-11-15T10:00:00Z");
	struct budget_hold h = {.spender = 0, .kind = BUDGET_MACHINE, .from_ms = begin};

	(void)state;
	(void)budget(0, "a", "month");
	budgets_configure(b, list, 1);
	h.spender = spender(true, "", "");
	for (int64_t rate = 1; rate < INT64_MAX / 8; rate *= 7)
		for (int64_t ms = 1; ms < 2 * HOUR; ms = 3 * ms + 1) {
			uint32_t held;

			h.rate_nano_h = rate;
			h.until_ms = begin + ms;
			held = budgets_hold(b, &h);
			assert_true(budgets_accrued(b, 0, &h, begin + ms) <=
				    budgets_line(b, 0).held);
			budgets_release(b, held);
		}
}

/* --- lines ---------------------------------------------------------------------------------------
 */

static bool is_shown(const char *user, const char *name, const char *value)
{
	bool shown[LINES] = {false};

	memset(shown, 1, sizeof(shown)); /* all are set */
	budgets_lines_for(b, user, shown);
	for (size_t i = 0; i < budgets_lines(b); i++) {
		struct budget_line l = budgets_line(b, i);

		if (strcmp(l.budget->name, name) == 0 && strcmp(l.value, value) == 0)
			return shown[i];
	}
	fail_msg("no line %s/%s", name, value);
	return false;
}

static void test_lines_of(void **state)
{
	const uint32_t *lines;

	(void)state;
	(void)budget(0, "all", "month");
	budget(1, "named", "month")->users = ann_and_bob;
	budgets_configure(b, list, 2);
	assert_int_equal(budgets_lines_of(b, spender(true, "", ""), &lines), 1);
	assert_string_equal(budgets_line(b, lines[0]).budget->name, "all");
	assert_int_equal(budgets_lines_of(b, spender(false, "ann", "x"), &lines), 1);
	assert_string_equal(budgets_line(b, lines[0]).budget->name, "named");
	assert_int_equal(budgets_lines_of(b, spender(false, "carl", "x"), &lines), 0);
}

/* Somebody else's are never shown, whatever list names both. */
static void test_who_may_see(void **state)
{
	static char *physics[] = {physics_name, NULL};
	static const struct {
		const char *user, *budget, *value;
		bool want;
	} rows[] = {
		{"ann", "users", "", true}, /* named, if in other letters */
		{"bob", "users", "", true},
		{"bo", "users", "", false},
		{"carl", "users", "", false},
		{"ann", "each-user", "ann", true},
		{"ann", "each-user", "bob", false},
		{"Ann", "each-user", "ann", false}, /* another user of the host */
		{"bob", "each-user", "ann", false},
		{"carl", "each-user", "ann", false},
		{"ann", "each-account", "physics", true},    /* holds something there */
		{"ann", "each-account", "chemistry", false}, /* only bob does */
		{"bob", "each-account", "chemistry", true},
		{"ann", "physics", "", true},
		{"bob", "physics", "", false},
		{"carl", "physics", "", true},  /* has spent something */
		{"dora", "physics", "", false}, /* was planned for, or spent it long ago */
		{"eve", "physics", "", false},  /* will have */
		{"finn", "physics", "", true},
		{"", "physics", "", false},
		{"ann", "machines", "", false}, /* it is nobody's */
		{"", "machines", "", false},
	};
	struct budget_hold h = {
		.kind = BUDGET_RUN, .rate_nano_h = 1, .from_ms = at("2026-11-15T10:00:00Z")};

	(void)state;
	budget(0, "users", "month")->users = ann_and_bob;
	budget(1, "each-user", "month")->users = ann_and_bob;
	list[1].each = CONF_EACH_USER;
	budget(2, "each-account", "month")->users = ann_and_bob;
	list[2].each = CONF_EACH_ACCOUNT;
	budget(3, "physics", "month")->accounts = physics;
	(void)budget(4, "machines", "month");
	budgets_configure(b, list, 5);
	h.until_ms = h.from_ms + HOUR;
	h.spender = spender(false, "ann", "physics");
	(void)budgets_hold(b, &h);
	h.spender = spender(false, "bob", "chemistry");
	(void)budgets_hold(b, &h);
	h.spender = spender(true, "", "");
	(void)budgets_hold(b, &h);
	(void)budgets_spent(b, spender(false, "carl", "physics"),
			    budgets_day(b, at("2026-11-02T00:00:00Z")), 5);
	(void)budgets_spent(b, spender(false, "dora", "physics"),
			    budgets_day(b, at("2026-10-31T23:00:00Z")), 5);
	(void)budgets_spent(b, spender(false, "eve", "physics"),
			    budgets_day(b, at("2026-12-01T00:00:00Z")), 5);
	(void)budgets_spent(b, spender(false, "finn", "physics"),
			    budgets_day(b, at("2026-11-30T23:00:00Z")), 5);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		print_message("# %s %s/%s\n", rows[i].user, rows[i].budget, rows[i].value);
		assert_int_equal(is_shown(rows[i].user, rows[i].budget, rows[i].value),
				 rows[i].want);
	}
}

/* Whom nothing is known of any more leaves a place that is free, and `burstctl balance`, which any
 * user may ask for, looks at all places. */
static void test_forgotten_spender(void **state)
{
	static char *physics[] = {physics_name, NULL};
	const int64_t now = at("2026-11-15T12:00:00Z");
	struct budget_hold h = {.kind = BUDGET_RUN,
				.rate_nano_h = 1,
				.from_ms = at("2026-11-15T10:00:00Z"),
				.until_ms = at("2026-11-15T11:00:00Z")};
	uint32_t held;

	(void)state;
	budget(0, "physics", "month")->accounts = physics;
	budgets_configure(b, list, 1);
	h.spender = spender(false, "ann", "physics");
	held = budgets_hold(b, &h);
	h.spender = spender(false, "bob", "physics");
	(void)budgets_hold(b, &h);
	budgets_release(b, held);
	(void)budgets_now(b, now);
	assert_false(is_shown("ann", "physics", ""));
	assert_true(is_shown("bob", "physics", ""));
}

/* A job that has ended without cost leaves nothing to see. */
static void test_nothing_is_left(void **state)
{
	static char *physics[] = {physics_name, NULL};
	struct budget_hold h = {.kind = BUDGET_RUN,
				.rate_nano_h = 1,
				.from_ms = at("2026-11-15T10:00:00Z"),
				.until_ms = at("2026-11-15T11:00:00Z")};
	uint32_t held;

	(void)state;
	budget(0, "physics", "month")->accounts = physics;
	budget(1, "rate", "month")->accounts = physics;
	list[1].amount_nano = 0;
	list[1].rate_nano_h = 5;
	budget(2, "own", "month")->each = CONF_EACH_USER;
	budgets_configure(b, list, 3);
	h.spender = spender(false, "ann", "physics");
	held = budgets_hold(b, &h);
	assert_true(is_shown("ann", "rate", ""));
	budgets_release(b, held);
	assert_false(is_shown("ann", "physics", ""));
	assert_false(is_shown("ann", "rate", ""));
	assert_true(is_shown("ann", "own", "ann"));
	assert_false(is_shown("bob", "own", "ann"));
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
	const struct CMUnitTest tests[] = {
		T(test_accrued),     T(test_accrued_is_held), T(test_lines_of),
		T(test_who_may_see), T(test_nothing_is_left), T(test_forgotten_spender),
	};
#undef T

	return cmocka_run_group_tests_name("budget_show", tests, NULL, NULL);
}
