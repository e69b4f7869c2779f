/* test_reclaim.c - what is to be done about a node whose machine will be taken away, and when. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "core/reclaim.h"
#include "node_steps.h"

#define NEVER INT64_MAX
#define SEC   INT64_C(1000)

#define RECLAIM PROVIDER_NOTICE_RECLAIM
#define SOON    PROVIDER_NOTICE_REBALANCE
#define REPAIR  PROVIDER_NOTICE_MAINTENANCE
#define FAULTY  PROVIDER_NOTICE_FAULTY

static void test_plans(void **state)
{
	/* In seconds after the notice; a deadline of 0 is none. */
	static const struct {
		const char *name;
		enum provider_notice_kind kind;
		int64_t deadline, wait;
		bool signals;
		int64_t signal, force;
		bool dead;
	} rows[] = {
		{"at once", RECLAIM, 120, 0, false, NEVER, 0, false},
		{"whoever says when", RECLAIM, 0, 0, false, NEVER, 0, false},
		{"not after it was to be", RECLAIM, -5, 0, false, NEVER, 0, false},
		{"rebalance_wait is not for that", RECLAIM, 0, 600, false, NEVER, 0, false},
		{"the jobs are told, and have until 10 s before", RECLAIM, 120, 0, true, 0, 110,
		 false},
		{"a short notice", RECLAIM, 30, 0, true, 0, 20, false},
		{"just enough", RECLAIM, 15, 0, true, 0, 5, false},
		{"not worth it", RECLAIM, 14, 0, true, NEVER, 0, false},
		{"5 s", RECLAIM, 5, 0, true, NEVER, 0, false},
		{"none at all", RECLAIM, 0, 0, true, NEVER, 0, false},
		{"gone already", RECLAIM, -5, 0, true, NEVER, 0, false},
		{"a long one: they work on", RECLAIM, 3600, 0, true, 3480, 3590, false},
		{"perhaps: until they end", SOON, 0, 0, false, NEVER, NEVER, false},
		{"told or not", SOON, 0, 0, true, NEVER, NEVER, false},
		{"as long as the pool waits", SOON, 0, 600, false, NEVER, 590, false},
		{"and then they are told", SOON, 0, 600, true, 480, 590, false},
		{"a wait too short", SOON, 0, 5, false, NEVER, 0, false},
		{"an end is an end", SOON, 300, 0, false, NEVER, 290, false},
		{"whatever the pool waits", SOON, 300, 600, false, NEVER, 290, false},
		{"next week", REPAIR, 604800, 600, false, NEVER, 604790, false},
		{"and they are told", REPAIR, 604800, 0, true, 604680, 604790, false},
		{"some day", REPAIR, 0, 0, false, NEVER, NEVER, false},
		{"but not for ever", REPAIR, 0, 600, false, NEVER, 590, false},
		{"broken: at once, as a dead one", FAULTY, 0, 600, true, NEVER, 0, true},
		{"whatever is said", FAULTY, 3600, 0, false, NEVER, 0, true},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const struct reclaim_rules rules = {rows[i].signals, rows[i].wait * SEC};
		struct node n = node_at(NODE_DRAINING);
		struct reclaim_plan p;
		int64_t signal = rows[i].signal == NEVER ? NEVER : T0 + rows[i].signal * SEC;
		int64_t force = rows[i].force == NEVER ? NEVER : T0 + rows[i].force * SEC;

		n.noticed_ms = T0;
		n.notice = rows[i].kind;
		n.deadline_ms = rows[i].deadline != 0 ? T0 + rows[i].deadline * SEC : 0;
		reclaim_plan(&n, &rules, &p);
		if (p.signal_ms != signal || p.force_ms != force || p.dead != rows[i].dead)
			fail_msg("%s: signal %lld, force %lld, dead %d", rows[i].name,
				 (long long)(p.signal_ms - T0), (long long)(p.force_ms - T0),
				 p.dead);
	}
}

/* Written by a burstd that knew no notices. */
static void test_a_row_of_before_goes_at_once(void **state)
{
	const struct reclaim_rules rules = {true, 600 * SEC};
	struct node n = node_at(NODE_DRAINING);
	struct reclaim_plan p;

	(void)state;
	n.noticed_ms = n.deadline_ms = 0;
	n.notice = PROVIDER_NOTICE_RECLAIM;
	reclaim_plan(&n, &rules, &p);
	assert_true(p.signal_ms == NEVER && p.force_ms == 0 && !p.dead);
}

static void test_words(void **state)
{
	static const char *const words[] = {"reclaim", "rebalance", "maintenance", "faulty"};

	(void)state;
	for (int k = 0; k < PROVIDER_NNOTICES; k++) {
		assert_string_equal(reclaim_kind_str((enum provider_notice_kind)k), words[k]);
		assert_int_equal(reclaim_kind_parse(words[k]), k);
		assert_true(reclaim_kind_text((enum provider_notice_kind)k)[0] != '\0');
	}
	assert_int_equal(reclaim_kind_parse("reclaimed"), -1);
	assert_int_equal(reclaim_kind_parse(""), -1);
}

/* --- how a notice changes the row --------------------------------------------------------------
 */

static bool notice(struct node *n, enum provider_notice_kind kind, int64_t deadline_ms,
		   int64_t now_ms)
{
	return step(n, (struct node_event){.type = NODE_EV_NOTICE,
					   .now_ms = now_ms,
					   .notice = kind,
					   .deadline_ms = deadline_ms});
}

/* F41: twice, late, out of order. */
static void test_the_earliest_end_and_the_worst_kind_count(void **state)
{
	struct node n = node_at(NODE_READY);

	(void)state;
	assert_true(notice(&n, SOON, 0, T0 + 1));
	assert_int_equal(n.state, NODE_DRAINING);
	assert_true(n.noticed_ms == T0 + 1 && n.deadline_ms == 0 && n.notice == SOON);
	assert_false(notice(&n, SOON, 0, T0 + 2)); /* known: nothing is written */
	assert_true(notice(&n, SOON, T0 + 500, T0 + 3));
	assert_true(n.noticed_ms == T0 + 1 && n.deadline_ms == T0 + 500);
	assert_true(notice(&n, REPAIR, T0 + 900, T0 + 4));
	assert_true(n.noticed_ms == T0 + 4 && n.deadline_ms == T0 + 500 && n.notice == REPAIR);
	assert_true(notice(&n, RECLAIM, 0, T0 + 5));
	assert_true(n.noticed_ms == T0 + 5 && n.deadline_ms == T0 + 500 && n.notice == RECLAIM);
	assert_true(notice(&n, REPAIR, T0 + 400, T0 + 6));
	assert_true(n.noticed_ms == T0 + 5 && n.deadline_ms == T0 + 400 && n.notice == RECLAIM);
	assert_true(notice(&n, FAULTY, 0, T0 + 7));
	assert_true(n.noticed_ms == T0 + 7 && n.notice == FAULTY);
	assert_false(notice(&n, RECLAIM, T0 + 450, T0 + 8));
}

/* A list says the same at every look, and is no news. */
static void test_a_list_is_a_notice_too(void **state)
{
	struct provider_instance in = instance(PROVIDER_RECLAIMING);
	struct node_event ev = {.type = NODE_EV_SEEN, .now_ms = T0 + 1, .instance = &in};
	struct node n = node_at(NODE_READY);

	(void)state;
	in.reclaim_ms = T0 + 90000;
	assert_true(step(&n, ev));
	assert_int_equal(n.state, NODE_DRAINING);
	assert_true(n.notice == RECLAIM && n.noticed_ms == T0 + 1 && n.deadline_ms == T0 + 90000);
	ev.now_ms = T0 + 2;
	assert_false(step(&n, ev));
	in.state = PROVIDER_STOPPING; /* it goes now */
	assert_true(step(&n, ev));
	assert_true(n.deadline_ms == T0 + 2);
	ev.now_ms = T0 + 3;
	assert_false(step(&n, ev));
}

/* What may never come waits until the node is up: a job that boots it shall run. */
static void test_a_node_that_boots_is_drained_for_it_when_it_is_up(void **state)
{
	struct node n = node_at(NODE_BOOTING);

	(void)state;
	assert_true(notice(&n, SOON, T0 + 900, T0 + 1));
	assert_int_equal(n.state, NODE_BOOTING);
	assert_true(at_time(&n, NODE_EV_REGISTERED, T0 + 5));
	assert_int_equal(n.state, NODE_READY);
	assert_true(n.wake_ms == T0 + 5);
	assert_true(at_time(&n, NODE_EV_TIMER, T0 + 5));
	assert_int_equal(n.state, NODE_DRAINING);
	assert_true(n.notice == SOON && n.deadline_ms == T0 + 900);
	for (int k = 0; k < 2; k++) {
		n = node_at(NODE_BOOTING);
		assert_true(notice(&n, k == 0 ? RECLAIM : FAULTY, 0, T0 + 1));
		assert_int_equal(n.state, NODE_DRAINING);
	}
	n = node_at(NODE_READY); /* without notice there is nothing to wake for */
	assert_false(at_time(&n, NODE_EV_TIMER, INT64_MAX - 1));
}

static void test_where_there_is_no_machine_to_take_a_notice_says_nothing(void **state)
{
	static const enum node_state none[] = {NODE_WANTED,   NODE_CREATING, NODE_INDOUBT,
					       NODE_DELETING, NODE_GONE,     NODE_QUARANTINED};

	(void)state;
	for (size_t i = 0; i < sizeof(none) / sizeof(none[0]); i++) {
		struct node n = node_at(none[i]);

		assert_false(notice(&n, RECLAIM, T0 + 9, T0 + 1));
	}
}

static void test_why_it_ended(void **state)
{
	static const struct {
		enum provider_notice_kind kind;
		enum node_reason why;
	} rows[] = {{RECLAIM, NODE_BECAUSE_RECLAIMED},
		    {SOON, NODE_BECAUSE_RECLAIMED},
		    {REPAIR, NODE_BECAUSE_MAINTENANCE},
		    {FAULTY, NODE_BECAUSE_FAULTY}};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct node n = node_at(NODE_READY);

		(void)notice(&n, rows[i].kind, 0, T0 + 1);
		(void)seen(&n, PROVIDER_ENDED, T0 + 2);
		assert_int_equal(n.state, NODE_GONE);
		assert_int_equal(n.reason, rows[i].why);
	}
}

/* Once; what was said stands. */
static void test_its_jobs_were_told(void **state)
{
	struct node n = node_at(NODE_READY);

	(void)state;
	(void)notice(&n, RECLAIM, T0 + 120000, T0);
	assert_true(at_time(&n, NODE_EV_SIGNALLED, T0 + 7));
	assert_true(n.signal_ms == T0 + 7);
	assert_int_equal(n.state, NODE_DRAINING);
	(void)notice(&n, RECLAIM, T0 + 60000, T0 + 8);
	assert_true(n.signal_ms == T0 + 7);
}

/* F57: a clock that goes back makes no notice longer. */
static void test_an_end_is_no_further_away_after_a_restart(void **state)
{
	struct node n = node_at(NODE_READY);

	(void)state;
	(void)notice(&n, RECLAIM, T0 + 120000, T0);
	assert_false(at_time(&n, NODE_EV_RESTART, T0 + 5));
	assert_true(at_time(&n, NODE_EV_RESTART, T0 - 900000));
	assert_true(n.noticed_ms == T0 - 900000 && n.deadline_ms == T0 - 780000);
	n = node_at(NODE_READY);
	(void)notice(&n, SOON, 0, T0);
	(void)at_time(&n, NODE_EV_RESTART, T0 - 900000);
	assert_true(n.noticed_ms == T0 - 900000 && n.deadline_ms == 0);
	n = node_at(NODE_BOOTING); /* registered, and the timer did not come */
	(void)notice(&n, SOON, 0, T0);
	(void)at_time(&n, NODE_EV_REGISTERED, T0 + 1);
	(void)at_time(&n, NODE_EV_RESTART, T0 - 5);
	assert_true(n.wake_ms == T0 - 5);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_plans),
		cmocka_unit_test(test_a_row_of_before_goes_at_once),
		cmocka_unit_test(test_words),
		cmocka_unit_test(test_the_earliest_end_and_the_worst_kind_count),
		cmocka_unit_test(test_a_list_is_a_notice_too),
		cmocka_unit_test(test_a_node_that_boots_is_drained_for_it_when_it_is_up),
		cmocka_unit_test(test_where_there_is_no_machine_to_take_a_notice_says_nothing),
		cmocka_unit_test(test_why_it_ended),
		cmocka_unit_test(test_its_jobs_were_told),
		cmocka_unit_test(test_an_end_is_no_further_away_after_a_restart),
	};

	return cmocka_run_group_tests_name("reclaim", tests, NULL, NULL);
}
