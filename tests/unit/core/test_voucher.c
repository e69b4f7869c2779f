/* test_voucher.c - a token in the user-data: when it is wiped, revoked, and when it is an alarm. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#include <cmocka.h>

#include "core/voucher.h"

enum { ENDS = 1000, RESERVE = VOUCHER_RESERVE_MS };

static struct voucher in_state(enum voucher_state s)
{
	struct voucher v = {.node = "c1", .gen = 1, .state = s, .ends_ms = ENDS};

	if (s == VOUCHER_HELD)
		v.token = secret_new("s.token", 7);
	return v;
}

static enum voucher_verdict row(struct voucher *v, enum node_state s, enum node_reason why,
				bool *changed)
{
	struct node n = {.name = "c1",
			 .gen = 1,
			 .state = s,
			 .reason = why,
			 .instance = "i-1",
			 /* so too when its time to boot was over */
			 .release = s == NODE_DELETING};
	const struct voucher_event ev = {.type = VOUCHER_EV_ROW, .now_ms = 500, .is = &n};

	return voucher_step(v, &ev, changed);
}

static void test_while_its_node_may_still_come_it_is_held(void **state)
{
	static const enum node_state coming[] = {NODE_WANTED, NODE_CREATING, NODE_INDOUBT,
						 NODE_BOOTING, NODE_DRAINING};
	struct voucher v = in_state(VOUCHER_HELD);
	bool changed;

	(void)state;
	for (size_t i = 0; i < sizeof(coming) / sizeof(coming[0]); i++) {
		assert_int_equal(row(&v, coming[i], NODE_BECAUSE_NONE, &changed), VOUCHER_KEEP);
		assert_false(changed);
		assert_non_null(v.token);
	}
	voucher_fini(&v);
}

static void test_it_is_wiped_when_the_node_is_up_and_its_version_is_kept(void **state)
{
	struct voucher v = in_state(VOUCHER_HELD);
	bool changed;

	(void)state;
	v.version = 7;
	assert_int_equal(row(&v, NODE_READY, NODE_BECAUSE_NONE, &changed), VOUCHER_KEEP);
	assert_true(changed);
	assert_null(v.token);
	assert_int_equal(v.state, VOUCHER_SPENT);
	assert_int_equal(v.version, 7);
	assert_int_equal(v.since_ms, 500);
	/* However it goes: it was up. */
	assert_int_equal(row(&v, NODE_DELETING, NODE_BECAUSE_ENDED, &changed), VOUCHER_KEEP);
	assert_false(changed);
	assert_int_equal(row(&v, NODE_GONE, NODE_BECAUSE_ENDED, &changed), VOUCHER_DROP);
}

static enum voucher_verdict plain(struct voucher *v, enum voucher_event_type type, bool *changed)
{
	const struct voucher_event ev = {.type = type, .now_ms = 500};

	return voucher_step(v, &ev, changed);
}

/* Who was let go may have used it just then, and has done nothing wrong; the reason may be what
 * another node of its job did. */
static void test_of_a_node_that_was_given_up_it_is_revoked(void **state)
{
	static const enum node_reason why[] = {NODE_BECAUSE_SUSPENDED, NODE_BECAUSE_ENDED,
					       NODE_BECAUSE_REPLACED,  NODE_BECAUSE_OPERATOR,
					       NODE_BECAUSE_LOST,      NODE_BECAUSE_BOOT};
	bool changed;

	(void)state;
	for (size_t i = 0; i < sizeof(why) / sizeof(why[0]); i++) {
		struct voucher v = in_state(VOUCHER_HELD);

		assert_int_equal(plain(&v, VOUCHER_EV_LET_GO, &changed), VOUCHER_KEEP);
		assert_false(changed); /* a repeat of its create must have it still */
		assert_non_null(v.token);
		assert_int_equal(row(&v, i % 2 ? NODE_GONE : NODE_DELETING, why[i], &changed),
				 VOUCHER_KEEP);
		assert_true(changed);
		assert_int_equal(v.state, VOUCHER_VOID);
		assert_null(v.token);
	}
}

static void test_of_a_node_that_was_never_bought_it_is_revoked(void **state)
{
	struct voucher v = in_state(VOUCHER_HELD);
	const struct node n = {.state = NODE_GONE, .reason = NODE_BECAUSE_CAPACITY};
	const struct voucher_event ev = {.type = VOUCHER_EV_ROW, .is = &n};
	bool changed;

	(void)state;
	assert_int_equal(voucher_step(&v, &ev, &changed), VOUCHER_KEEP);
	assert_int_equal(v.state, VOUCHER_SPARE);
}

static void test_one_that_no_create_had_is_spare(void **state)
{
	struct voucher v = in_state(VOUCHER_HELD);
	bool changed;

	(void)state;
	assert_int_equal(plain(&v, VOUCHER_EV_VOID, &changed), VOUCHER_KEEP);
	assert_true(changed);
	assert_int_equal(v.state, VOUCHER_SPARE);
	assert_null(v.token);
}

/* Whether there was a machine nobody knows: its create had no answer. */
static void test_of_a_create_without_an_answer_it_is_not_spare(void **state)
{
	const struct node n = {.state = NODE_GONE, .reason = NODE_BECAUSE_LOST};
	const struct voucher_event ev = {.type = VOUCHER_EV_ROW, .is = &n};
	struct voucher v = in_state(VOUCHER_HELD), w = in_state(VOUCHER_HELD);
	bool changed;

	(void)state;
	(void)voucher_step(&v, &ev, &changed);
	assert_int_equal(v.state, VOUCHER_DOUBTED);
	w.let_go = true;
	(void)voucher_step(&w, &ev, &changed);
	assert_int_equal(w.state, VOUCHER_VOID);
}

/* The first try may have made a machine, though the second was refused. */
static void test_of_a_node_that_may_have_been_bought_it_is_doubted(void **state)
{
	struct voucher v = in_state(VOUCHER_HELD);
	struct node n = {.state = NODE_INDOUBT};
	const struct voucher_event ev = {.type = VOUCHER_EV_ROW, .is = &n};
	bool changed;

	(void)state;
	assert_int_equal(voucher_step(&v, &ev, &changed), VOUCHER_KEEP);
	assert_false(changed);
	n = (struct node){.state = NODE_GONE, .reason = NODE_BECAUSE_CAPACITY};
	assert_int_equal(voucher_step(&v, &ev, &changed), VOUCHER_KEEP);
	assert_int_equal(v.state, VOUCHER_DOUBTED);
}

/* It is to go and may never be READY; whatever comes then, it was the node. */
static void test_a_node_that_is_up_though_it_is_to_go_has_used_it(void **state)
{
	struct voucher v = in_state(VOUCHER_HELD), w = in_state(VOUCHER_VOID);
	bool changed;

	(void)state;
	assert_int_equal(plain(&v, VOUCHER_EV_UP, &changed), VOUCHER_KEEP);
	assert_true(changed);
	assert_int_equal(v.state, VOUCHER_SPENT);
	assert_int_equal(row(&v, NODE_DELETING, NODE_BECAUSE_RECLAIMED, &changed), VOUCHER_KEEP);
	assert_int_equal(v.state, VOUCHER_SPENT);
	assert_int_equal(plain(&w, VOUCHER_EV_UP, &changed), VOUCHER_KEEP);
	assert_false(changed);
}

static void test_of_a_node_that_did_not_come_it_is_doubted(void **state)
{
	static const enum node_reason why[] = {NODE_BECAUSE_BOOT,      NODE_BECAUSE_ENDED,
					       NODE_BECAUSE_LOST,      NODE_BECAUSE_BREACH,
					       NODE_BECAUSE_RECLAIMED, NODE_BECAUSE_SUSPENDED,
					       NODE_BECAUSE_FAULTY,    NODE_BECAUSE_MAINTENANCE};
	bool changed;

	(void)state;
	for (size_t i = 0; i < sizeof(why) / sizeof(why[0]); i++) {
		struct voucher v = in_state(VOUCHER_HELD);

		assert_int_equal(row(&v, i % 2 ? NODE_GONE : NODE_DELETING, why[i], &changed),
				 VOUCHER_KEEP);
		assert_true(changed);
		assert_int_equal(v.state, VOUCHER_DOUBTED);
		assert_null(v.token);
		/* Its row may go meanwhile: the question stays. */
		assert_int_equal(row(&v, NODE_GONE, why[i], &changed), VOUCHER_KEEP);
		assert_false(changed);
	}
}

static void test_what_the_store_says_of_a_doubted_one(void **state)
{
	static const struct {
		enum voucher_state state;
		enum voucher_event_type type;
		int64_t now_ms;
		enum voucher_verdict verdict;
	} rows[] = {
		{VOUCHER_DOUBTED, VOUCHER_EV_THERE, ENDS - 1, VOUCHER_KEEP},
		{VOUCHER_DOUBTED, VOUCHER_EV_USED, ENDS - 1, VOUCHER_ALARM},
		/* It would be gone by now, whatever happened. */
		{VOUCHER_DOUBTED, VOUCHER_EV_USED, ENDS, VOUCHER_LATE},
		{VOUCHER_DOUBTED, VOUCHER_EV_TIMER, ENDS - 1, VOUCHER_KEEP},
		{VOUCHER_DOUBTED, VOUCHER_EV_TIMER, ENDS, VOUCHER_LATE},
		{VOUCHER_VOID, VOUCHER_EV_REVOKED, 1, VOUCHER_DROP},
		{VOUCHER_VOID, VOUCHER_EV_TIMER, ENDS - 1, VOUCHER_KEEP},
		{VOUCHER_VOID, VOUCHER_EV_TIMER, ENDS, VOUCHER_DROP},
		{VOUCHER_VOID, VOUCHER_EV_USED, ENDS - 1, VOUCHER_UNSURE},
		{VOUCHER_VOID, VOUCHER_EV_USED, ENDS, VOUCHER_DROP},
		{VOUCHER_VOID, VOUCHER_EV_THERE, 1, VOUCHER_KEEP},
		{VOUCHER_SPARE, VOUCHER_EV_REVOKED, 1, VOUCHER_DROP},
		{VOUCHER_SPARE, VOUCHER_EV_USED, 1, VOUCHER_DROP},
		{VOUCHER_SPARE, VOUCHER_EV_TIMER, ENDS - 1, VOUCHER_KEEP},
		{VOUCHER_SPARE, VOUCHER_EV_TIMER, ENDS, VOUCHER_DROP},
		{VOUCHER_DOUBTED, VOUCHER_EV_REVOKED, 1, VOUCHER_KEEP},
		/* An answer to an older question. */
		{VOUCHER_SPENT, VOUCHER_EV_USED, 1, VOUCHER_KEEP},
		{VOUCHER_SPENT, VOUCHER_EV_THERE, 1, VOUCHER_KEEP},
		{VOUCHER_HELD, VOUCHER_EV_USED, 1, VOUCHER_KEEP},
		{VOUCHER_HELD, VOUCHER_EV_TIMER, ENDS, VOUCHER_KEEP},
		{VOUCHER_HELD, VOUCHER_EV_THERE, 1, VOUCHER_KEEP},
		{VOUCHER_HELD, VOUCHER_EV_REVOKED, 1, VOUCHER_KEEP},
		{VOUCHER_SPENT, VOUCHER_EV_REVOKED, 1, VOUCHER_KEEP},
		{VOUCHER_SPENT, VOUCHER_EV_TIMER, ENDS, VOUCHER_KEEP},
		/* Said too late: it is decided. */
		{VOUCHER_SPENT, VOUCHER_EV_VOID, 1, VOUCHER_KEEP},
		{VOUCHER_DOUBTED, VOUCHER_EV_VOID, 1, VOUCHER_KEEP},
		{VOUCHER_DOUBTED, VOUCHER_EV_UP, 1, VOUCHER_KEEP},
		{VOUCHER_SPARE, VOUCHER_EV_UP, 1, VOUCHER_KEEP},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct voucher v = in_state(rows[i].state);
		const struct voucher_event ev = {.type = rows[i].type, .now_ms = rows[i].now_ms};
		bool changed;

		if (voucher_step(&v, &ev, &changed) != rows[i].verdict)
			fail_msg("row %zu", i);
		assert_int_equal(changed, rows[i].type == VOUCHER_EV_THERE &&
						  rows[i].state == VOUCHER_DOUBTED);
		assert_int_equal(v.state, changed ? VOUCHER_VOID : rows[i].state);
		voucher_fini(&v);
	}
}

/* The clock was set back: it may have ended long ago. */
static void test_of_one_without_a_date_nobody_can_say(void **state)
{
	struct voucher v = in_state(VOUCHER_DOUBTED), w = in_state(VOUCHER_HELD);
	const struct voucher_event used = {.type = VOUCHER_EV_USED, .now_ms = 1};
	const struct voucher_event there = {.type = VOUCHER_EV_THERE, .now_ms = 1};
	bool changed;

	(void)state;
	v.undated = w.undated = true;
	assert_int_equal(voucher_step(&v, &used, &changed), VOUCHER_LATE);
	assert_int_equal(voucher_step(&v, &there, &changed), VOUCHER_KEEP);
	assert_int_equal(v.state, VOUCHER_VOID);
	w.ends_ms = INT64_MAX;
	assert_false(voucher_is_good(&w, 1, 1));
	voucher_fini(&w);
}

static void test_of_a_row_that_was_lost_with_the_journal_it_is_revoked(void **state)
{
	struct voucher v = in_state(VOUCHER_HELD), w = in_state(VOUCHER_SPENT);
	const struct voucher_event ev = {.type = VOUCHER_EV_ROW, .now_ms = 1};
	bool changed;

	(void)state;
	assert_int_equal(voucher_step(&v, &ev, &changed), VOUCHER_KEEP);
	assert_int_equal(v.state, VOUCHER_VOID);
	assert_int_equal(voucher_step(&w, &ev, &changed), VOUCHER_DROP);
	voucher_fini(&v);
}

/* ... and there is time left to look at it when nobody came. */
static void test_a_create_carries_it_while_it_outlives_the_boot(void **state)
{
	struct voucher v = in_state(VOUCHER_HELD);

	(void)state;
	v.ends_ms = 1000 + RESERVE;
	assert_true(RESERVE > 0);
	assert_true(voucher_is_good(&v, 400, 600));
	assert_false(voucher_is_good(&v, 401, 600));
	assert_true(voucher_life_ms(600000) > 600000 + RESERVE);
	v.state = VOUCHER_DOUBTED;
	assert_false(voucher_is_good(&v, 400, 600));
	voucher_fini(&v);
}

/* A secret has pages of its own.  Are those at this address still there? */
static bool is_in_memory(uintptr_t at)
{
	return msync((void *)at, 1, MS_ASYNC) == 0;
}

static void test_no_copy_of_a_token_is_left(void **state)
{
	struct voucher v = in_state(VOUCHER_HELD), w = in_state(VOUCHER_HELD);
	uintptr_t at = (uintptr_t)v.token, other = (uintptr_t)w.token;
	bool changed;

	(void)state;
	assert_true(is_in_memory(at) && is_in_memory(other));
	(void)plain(&v, VOUCHER_EV_UP, &changed);
	assert_false(is_in_memory(at));
	voucher_fini(&w);
	assert_null(w.token);
	assert_false(is_in_memory(other));
	voucher_fini(&w); /* nothing is left to release */
}

static void test_states_have_words(void **state)
{
	(void)state;
	for (int s = 0; s < VOUCHER_NSTATES; s++)
		assert_int_equal(voucher_state_parse(voucher_state_str((enum voucher_state)s)), s);
	assert_int_equal(voucher_state_parse("issued"), -1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_while_its_node_may_still_come_it_is_held),
		cmocka_unit_test(test_it_is_wiped_when_the_node_is_up_and_its_version_is_kept),
		cmocka_unit_test(test_of_a_node_that_was_given_up_it_is_revoked),
		cmocka_unit_test(test_of_a_node_that_was_never_bought_it_is_revoked),
		cmocka_unit_test(test_one_that_no_create_had_is_spare),
		cmocka_unit_test(test_of_a_create_without_an_answer_it_is_not_spare),
		cmocka_unit_test(test_of_a_node_that_may_have_been_bought_it_is_doubted),
		cmocka_unit_test(test_a_node_that_is_up_though_it_is_to_go_has_used_it),
		cmocka_unit_test(test_of_a_node_that_did_not_come_it_is_doubted),
		cmocka_unit_test(test_what_the_store_says_of_a_doubted_one),
		cmocka_unit_test(test_of_one_without_a_date_nobody_can_say),
		cmocka_unit_test(test_of_a_row_that_was_lost_with_the_journal_it_is_revoked),
		cmocka_unit_test(test_a_create_carries_it_while_it_outlives_the_boot),
		cmocka_unit_test(test_no_copy_of_a_token_is_left),
		cmocka_unit_test(test_states_have_words),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
