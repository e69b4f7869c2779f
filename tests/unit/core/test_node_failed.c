/* test_node_failed.c - a machine that was accepted and then could not be made. */
#include "node_steps.h"

/* F10, F19: accepted, and then there was no host for it.  The reason is the provider's, if it said
 * one that is about the place; a machine that was up is lost like one that stops. */
static void test_one_that_fails_after_it_was_accepted_is_refused_later(void **state)
{
	static const enum node_state early[] = {NODE_WANTED, NODE_INDOUBT, NODE_BOOTING};
	struct provider_instance in = instance(PROVIDER_FAILED);
	struct node_event ev = {.type = NODE_EV_SEEN, .now_ms = T0 + 1, .instance = &in};
	struct node n;

	(void)state;
	for (size_t i = 0; i < sizeof(early) / sizeof(early[0]); i++) {
		n = node_at(early[i]);
		ev.reason = NODE_BECAUSE_CAPACITY;
		(void)step(&n, ev);
		assert_int_equal(n.state, NODE_DELETING);
		assert_int_equal(n.reason, NODE_BECAUSE_CAPACITY);
		assert_true(n.release);
		n = node_at(early[i]);
		ev.reason = NODE_BECAUSE_NONE;
		(void)step(&n, ev);
		assert_int_equal(n.state, NODE_DELETING);
		assert_int_equal(n.reason, NODE_BECAUSE_STOPPED);
		n = node_at(early[i]);
		assert_true(release(&n, NODE_BECAUSE_OPERATOR, T0));
		ev.reason = NODE_BECAUSE_CAPACITY;
		(void)step(&n, ev);
		assert_int_equal(n.reason, NODE_BECAUSE_OPERATOR); /* it was not wanted any more */
	}
	n = node_at(NODE_READY);
	(void)step(&n, ev);
	assert_int_equal(n.state, NODE_DRAINING);
	assert_int_equal(n.notice, PROVIDER_NOTICE_RECLAIM);
	assert_int_equal(n.deadline_ms, T0 + 1);
}

/* F4: EC2 ends at once what it accepted and cannot make. */
static void test_one_that_ends_by_itself_before_it_runs_is_refused_later(void **state)
{
	static const enum node_state early[] = {NODE_WANTED, NODE_INDOUBT, NODE_BOOTING};
	struct provider_instance in = instance(PROVIDER_ENDED);
	struct node_event ev = {.type = NODE_EV_SEEN,
				.now_ms = T0 + 1,
				.reason = NODE_BECAUSE_QUOTA,
				.instance = &in};
	struct node n;

	(void)state;
	for (size_t i = 0; i < sizeof(early) / sizeof(early[0]); i++) {
		n = node_at(early[i]);
		in.taken = false;
		(void)step(&n, ev);
		assert_int_equal(n.state, NODE_GONE);
		assert_int_equal(n.reason, NODE_BECAUSE_QUOTA);
		n = node_at(early[i]);
		in.taken = true;
		(void)step(&n, ev);
		assert_int_equal(n.state, NODE_GONE);
		assert_int_equal(n.reason, NODE_BECAUSE_RECLAIMED);
	}
	n = node_at(NODE_READY);
	in.taken = false;
	(void)step(&n, ev);
	assert_int_equal(n.reason, NODE_BECAUSE_ENDED);
}

static void test_a_refusal_has_the_reason_of_its_code(void **state)
{
	static const enum node_reason of[PROVIDER_NCODES] = {
		[PROVIDER_CAPACITY] = NODE_BECAUSE_CAPACITY,
		[PROVIDER_QUOTA] = NODE_BECAUSE_QUOTA,
		[PROVIDER_DENIED] = NODE_BECAUSE_DENIED,
		[PROVIDER_INVALID] = NODE_BECAUSE_INVALID,
	};

	(void)state;
	for (int c = 0; c < PROVIDER_NCODES; c++)
		assert_int_equal(node_reason_of((enum provider_code)c), of[c]);
}

/* Only then another place is tried: what went wrong with the node goes wrong there, too. */
static void test_a_refusal_of_a_place_says_nothing_of_another(void **state)
{
	static const bool place[NODE_NREASONS] = {
		[NODE_BECAUSE_CAPACITY] = true,    [NODE_BECAUSE_QUOTA] = true,
		[NODE_BECAUSE_DENIED] = true,      [NODE_BECAUSE_INVALID] = true,
		[NODE_BECAUSE_UNREACHABLE] = true,
	};

	(void)state;
	for (int r = 0; r < NODE_NREASONS; r++)
		assert_int_equal(node_reason_of_place((enum node_reason)r), place[r]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_one_that_fails_after_it_was_accepted_is_refused_later),
		cmocka_unit_test(test_one_that_ends_by_itself_before_it_runs_is_refused_later),
		cmocka_unit_test(test_a_refusal_has_the_reason_of_its_code),
		cmocka_unit_test(test_a_refusal_of_a_place_says_nothing_of_another),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
