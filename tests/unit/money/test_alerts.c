/* test_alerts.c - what is told about budgets: written before it is sent, once, in few messages, and
 * known after a restart. */
#include "alerts_world.h"

static void test_it_is_written_then_sent(void **state)
{
	(void)state;
	(void)hook("ops");
	(void)line(0, "ann", 60);
	begin();
	happened("alert 1 physics/ann used 50\n"
		 "message 1 to ops of 1: pending 0\n"
		 "event budget-alert: hpc: budget physics/ann: 50 % of 100.00 EUR for 2027-01 are "
		 "used up\n"
		 "post https://h/hook\n");
	answer(204);
	happened("message 1 to ops of 1: delivered 1\n");
	pass(DAY);
	happened("");
	F.lines[0].line.spent = 40 * EUR; /* money came back */
	pass(60000);
	F.lines[0].line.spent = 70 * EUR;
	pass(60000);
	happened("");
	F.lines[0].accrued = 10 * EUR;
	pass(60000);
	assert_non_null(
		strstr(F.log, "alert 2 physics/ann used 80\nmessage 2 to ops of 1: pending"));
	answer(200);
}

static void test_every_kind(void **state)
{
	(void)state;
	(void)hook("ops");
	F.budget[0].stop_at = 60;
	line(0, "", 60)->beyond = 41 * EUR;
	begin();
	assert_non_null(strstr(F.log,
			       "alert 1 physics/ used 50\nalert 2 physics/ stop 60\n"
			       "alert 3 physics/ beyond 0\nmessage 1 to ops of 1: pending 0\n"
			       "message 2 to ops of 1: pending 0\n"
			       "message 3 to ops of 1: pending 0\n"));
}

static void test_nobody_is_told(void **state)
{
	static char *only_chem[] = {NULL, NULL};

	(void)state;
	(void)line(0, "", 90);
	begin();
	pass(DAY);
	happened(""); /* no section alert */
	only_chem[0] = text("chem");
	hook("ops")->budgets = only_chem;
	alerts_part.at[PART_RELOAD](&F.e);
	pass(DAY);
	happened(""); /* none of this budget: nothing to remember */
	(void)line(1, "", 90);
	pass(60000);
	assert_non_null(strstr(F.log, "alert 1 chem/ used 80\n"));
}

/* To each receiver what is for it. */
static void test_two_receivers(void **state)
{
	static char *only_chem[] = {NULL, NULL};

	(void)state;
	only_chem[0] = text("chem");
	(void)hook("ops");
	(void)hook("chat");
	F.alerts[1].budgets = only_chem;
	(void)line(0, "", 90);
	(void)line(1, "", 90);
	begin();
	assert_non_null(strstr(F.log, "alert 2 chem/ used 80\nmessage 1 to ops of 1: pending 0\n"
				      "message 2 to ops of 1: pending 0\n"
				      "message 3 to chat of 1: pending 0\n"));
	assert_int_equal(F.n, 2); /* one on the wire to each */
	assert_non_null(strstr(F.wire[1].body, "\"chem\""));
}

static void test_few_are_single(void **state)
{
	(void)state;
	(void)hook("ops");
	for (int i = 0; i < ALERTS_SINGLE; i++)
		(void)line(0, (const char *const[]){"a", "b", "c", "d"}[i], 90);
	begin();
	for (size_t i = 1; i <= ALERTS_SINGLE; i++) {
		assert_int_equal(F.n, i);
		answer(200);
		pass(ALERTS_PACE_MS - 1); /* not all at once */
		assert_int_equal(F.n, i);
		pass(1);
	}
	assert_int_equal(F.n, ALERTS_SINGLE);
}

static void test_more_are_one_message(void **state)
{
	(void)state;
	(void)hook("ops");
	for (int i = 0; i <= ALERTS_SINGLE; i++)
		(void)line(0, (const char *const[]){"a", "b", "c", "d", "e"}[i], 90);
	begin();
	assert_non_null(strstr(F.log, "message 1 to ops of 5: pending 0\n"
				      "event budget-alert: hpc: 5 alerts of budgets\npost"));
	assert_null(strstr(F.log, "message 2"));
	for (int i = 0; i <= ALERTS_SINGLE; i++)
		assert_non_null(strstr(last()->body,
				       (const char *const[]){"\"value\":\"a\"", "\"value\":\"b\"",
							     "\"value\":\"c\"", "\"value\":\"d\"",
							     "\"value\":\"e\""}[i]));
}

/* A transaction has a thousand; the others come at the next look. */
static void test_a_flood(void **state)
{
	(void)state;
	(void)hook("ops");
	for (int i = 0; i < 1500; i++) {
		char value[16];

		(void)snprintf(value, sizeof(value), "u%d", i);
		(void)line(0, value, 90);
	}
	begin();
	assert_non_null(strstr(F.log, "message 1 to ops of 1000: pending 0\n"));
	answer(200);
	pass(ALERTS_LOOK_MS);
	assert_non_null(strstr(F.log, "message 2 to ops of 500: pending 0\n"));
	assert_null(strstr(F.log, "message 3"));
	assert_int_equal(engine_alerts(&F.e).kept, 1500);
	assert_false(engine_alerts(&F.e).full);
}

/* --- a restart -----------------------------------------------------------------------------------
 */

static void test_a_restart(void **state)
{
	char body[sizeof(F.wire[0].body)], *id;
	struct alert_message m = {.seq = 3, .made_ms = BEGAN - 5000, .n = 1};
	struct alert a = {.seq = 7,
			  .at_ms = BEGAN - 5000,
			  .until_ms = PERIOD,
			  .kind = ALERT_USED,
			  .percent = 80,
			  .amount = 100 * EUR};

	(void)state;
	(void)hook("ops");
	(void)line(0, "ann", 90);
	(void)snprintf(a.budget, sizeof(a.budget), "physics");
	(void)snprintf(a.value, sizeof(a.value), "ann");
	(void)snprintf(a.period, sizeof(a.period), "2027-01");
	(void)snprintf(m.to, sizeof(m.to), "ops");
	m.alerts = mem_zalloc(sizeof(*m.alerts));
	m.alerts[0] = 7;
	alerts_load(&F.e, &a);
	alerts_load_message(&F.e, &m);
	assert_null(m.alerts);
	begin();
	happened("post https://h/hook\n"); /* nothing new */
	id = strstr(last()->headers, "X-Burstd-Id: u-u-i-d.1799999995000.3\n");
	assert_non_null(id);
	memcpy(body, last()->body, sizeof(body));
	lose();
	pass(2 * 60000);
	assert_int_equal(F.n, 2);
	assert_non_null(strstr(last()->headers, "X-Burstd-Id: u-u-i-d.1799999995000.3\n"));
	assert_string_equal(last()->body, body); /* the same message */
	(void)line(1, "", 90);
	F.log[0] = '\0';
	pass(60000);
	assert_non_null(
		strstr(F.log, "alert 8 chem/ used 80\nmessage 4 to ops")); /* numbers go on */
	answer(200);
}

static void test_a_receiver_that_is_gone(void **state)
{
	struct alert_message m = {.seq = 3, .n = 1};

	(void)state;
	(void)snprintf(m.to, sizeof(m.to), "old");
	m.alerts = mem_zalloc(sizeof(*m.alerts));
	alerts_load_message(&F.e, &m);
	(void)hook("ops");
	(void)hook("chat");
	(void)line(0, "", 90);
	begin();
	assert_non_null(strstr(F.log, "message 3 to old of 1: failed 0\n"));
	assert_int_equal(F.n, 2);
	F.log[0] = '\0';
	F.alerts[0] = F.alerts[1];
	F.conf.nalerts = 1;
	alerts_part.at[PART_RELOAD](&F.e); /* without ops; chat's request goes on */
	happened("cancel https://h/hook\nmessage 4 to ops of 1: failed 0\n");
	assert_true(F.wire[1].open);
	answer(200);
	happened("message 5 to chat of 1: delivered 1\n");
}

static void test_old_ones_are_forgotten(void **state)
{
	(void)state;
	(void)hook("ops");
	(void)line(0, "", 60);
	begin();
	lose();
	F.nlines = 0; /* no budgets: nothing else wakes it */
	F.log[0] = '\0';
	F.now = PERIOD + 31 * DAY - 1;
	engine_turn(&F.e);
	answer(200);
	F.log[0] = '\0';
	F.now = PERIOD + 31 * DAY - 1 + 600000 - 1;
	engine_turn(&F.e);
	happened("");
	F.now = PERIOD + 31 * DAY + 600000 + ALERTS_LOOK_MS;
	engine_turn(&F.e);
	happened("forget message 1\nforget alert 1\n");
	assert_int_equal(engine_alerts(&F.e).kept, 0);
}

/* What still waits for somebody is kept, however old. */
static void test_what_waits_is_not_forgotten(void **state)
{
	(void)state;
	(void)hook("ops");
	(void)line(0, "", 60);
	begin();
	F.nlines = 0;
	F.log[0] = '\0';
	F.now = PERIOD + 40 * DAY;
	engine_turn(&F.e);
	happened("");
	assert_int_equal(engine_alerts(&F.e).kept, 1);
	assert_int_equal(engine_alerts(&F.e).pending, 1);
}

/* A message about a year is kept, with all alerts in it: those behind them are forgotten all the
 * same. */
static void test_a_long_message_keeps_no_others(void **state)
{
	(void)state;
	(void)hook("ops");
	for (int i = 0; i < ALERTS_FORGET_MAX + 50; i++) {
		char value[16];

		(void)snprintf(value, sizeof(value), "u%d", i);
		(void)line(0, value, 90);
	}
	line(0, "year", 90)->line.period.end_ms = PERIOD + 300 * DAY;
	begin();
	answer(200);
	(void)line(0, "late", 90);
	pass(ALERTS_LOOK_MS);
	answer(200);
	assert_int_equal(engine_alerts(&F.e).kept, ALERTS_FORGET_MAX + 52);
	F.nlines = 0;
	F.log[0] = '\0';
	F.now = PERIOD + 32 * DAY;
	engine_turn(&F.e);
	assert_non_null(strstr(F.log, "forget alert "));
	assert_int_equal(engine_alerts(&F.e).kept, ALERTS_FORGET_MAX + 51);
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
	const struct CMUnitTest tests[] = {
		T(test_it_is_written_then_sent),
		T(test_every_kind),
		T(test_nobody_is_told),
		T(test_two_receivers),
		T(test_few_are_single),
		T(test_more_are_one_message),
		T(test_a_flood),
		T(test_a_restart),
		T(test_a_receiver_that_is_gone),
		T(test_old_ones_are_forgotten),
		T(test_what_waits_is_not_forgotten),
		T(test_a_long_message_keeps_no_others),
	};
#undef T

	return cmocka_run_group_tests_name("alerts", tests, NULL, NULL);
}
