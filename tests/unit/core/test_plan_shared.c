/* test_plan_shared.c - jobs that share nodes: a node is bought once, for all of them. */
#include "plan_ladder_round.h"

/* One node is bought once: the wishes of all jobs that are to share it hold. */
static void test_jobs_that_share_a_node_must_all_be_content(void **state)
{
	static const char *const eu[] = {"EU", NULL};
	struct ladder_wish not_spot = {.constraint = "ondemand"}, spot = {.constraint = "spot"},
			   europe = {.jurisdictions = eu};
	struct round t;

	(void)state;
	setup(&t, "a[1-4]");
	add_job(&t, "a[1-2]");
	add_job(&t, "a[2-3]");
	add_job(&t, "a4");
	t.jobs[1] = (struct plan_job){.wishes = &not_spot, .nwishes = 1};
	t.jobs[2] = (struct plan_job){.wishes = &europe, .nwishes = 1};
	cool(&t, SPOT, COOLDOWN_CAPACITY, 1);
	expect(&t, "oooo"); /* far is in the US */
	t.jobs[2].nwishes = 0;
	expect(&t, "ooof");
	/* What cannot be had together is refused together, and the stranger is not. */
	t.jobs[0] = (struct plan_job){.wishes = &spot, .nwishes = 1};
	expect(&t, "RRRf");
	why_is(&t, 0, "pool a: spot, far: the job wants ondemand; od: the job wants spot");
	assert_int_equal(t.p.no_rungs[t.p.nodes[0].no_rung].worst, LADDER_CONSTRAINT);
	why_is(&t, 2, "pool a: spot, far: the job wants ondemand; od: the job wants spot");
	done(&t);
}

/* I30: a job that could be had without the one that shares its node does not wait a day. */
static void test_what_jobs_lack_together_is_not_for_good(void **state)
{
	struct ladder_wish spot = {.constraint = "spot"}, not_spot = {.constraint = "ondemand"};
	struct refusal_hint hint;
	struct round t;

	(void)state;
	setup(&t, "a[1-3]");
	add_job(&t, "a1");
	add_job(&t, "a[1-2]");
	add_job(&t, "a3");
	t.jobs[0] = (struct plan_job){.wishes = &spot, .nwishes = 1};
	t.jobs[1] = (struct plan_job){.wishes = &not_spot, .nwishes = 1};
	t.jobs[2] = (struct plan_job){.wishes = (struct ladder_wish[]){{.constraint = "reserved"}},
				      .nwishes = 1};
	expect(&t, "RRR");
	for (size_t i = 0; i < 2; i++) {
		hint = plan_hint(&t.p, &t.p.nodes[i]);
		assert_false(hint.lasting);
		assert_true(hint.clash);
		assert_int_equal(hint.job, 1); /* whose turn it is first */
	}
	hint = plan_hint(&t.p, &t.p.nodes[2]);
	assert_true(hint.lasting);
	assert_false(hint.clash);
	done(&t);
}

/* Not with that of whoever was refused first. */
static void test_who_shares_a_node_with_a_refused_job_is_told_its_reason(void **state)
{
	struct ladder_wish wish = {.constraint = "reserved"};
	struct round t;

	(void)state;
	setup(&t, "a[1-4]");
	add_job(&t, "a1");
	add_job(&t, "a[2-3]");
	add_job(&t, "a[3-4]");
	t.jobs[0] = (struct plan_job){.wishes = &wish, .nwishes = 1};
	for (int i = 0; i < NRUNGS; i++)
		cool(&t, i, COOLDOWN_QUOTA, 1);
	expect(&t, "RRRR");
	why_is(&t, 0, "pool a: spot, far, od: the job wants reserved");
	why_is(&t, 3,
	       "pool a: spot, far, od: the quota of the account is used up: not tried until "
	       "2026-01-02T14:01:00Z");
	done(&t);
}

/* Whoever shares its node asks for nothing: no wait can mend the job's own wish. */
static void test_a_neighbour_without_wishes_is_no_hindrance(void **state)
{
	struct ladder_wish reserved = {.constraint = "reserved"};
	struct round t;

	(void)state;
	setup(&t, "a[1-2]");
	add_job(&t, "a1");
	add_job(&t, "a[1-2]");
	t.jobs[0] = (struct plan_job){.wishes = &reserved, .nwishes = 1};
	expect(&t, "RR");
	assert_true(plan_hint(&t.p, &t.p.nodes[0]).lasting);
	assert_false(plan_hint(&t.p, &t.p.nodes[0]).clash);
	assert_int_equal(plan_hint(&t.p, &t.p.nodes[0]).job, 1);
	done(&t);
}

static void test_what_time_mends_is_no_clash(void **state)
{
	struct ladder_wish not_far = {.constraint = "ondemand|spot"};
	struct round t;

	(void)state;
	setup(&t, "a[1-3]");
	add_job(&t, "a[1-2]");
	add_job(&t, "a[2-3]");
	t.jobs[0] = t.jobs[1] = (struct plan_job){.wishes = &not_far, .nwishes = 1};
	for (int i = 0; i < NRUNGS; i++)
		cool(&t, i, COOLDOWN_CAPACITY, 1);
	expect(&t, "RRR");
	for (size_t i = 0; i < 3; i++) {
		assert_false(plan_hint(&t.p, &t.p.nodes[i]).clash);
		assert_false(plan_hint(&t.p, &t.p.nodes[i]).lasting);
	}
	done(&t);
}

/* The last job clashed with another one; what an admin powers up is nobody's. */
static void test_a_node_of_no_job_clashes_with_nobody(void **state)
{
	struct ladder_wish spot = {.constraint = "spot"}, not_spot = {.constraint = "ondemand"};
	struct refusal_hint hint;
	struct round t;

	(void)state;
	setup(&t, "a[1-2],b1");
	add_job(&t, "a1");
	add_job(&t, "a[1-2]");
	t.jobs[0] = (struct plan_job){.wishes = &spot, .nwishes = 1};
	t.jobs[1] = (struct plan_job){.wishes = &not_spot, .nwishes = 1};
	t.known[1][0].price = -1;
	expect(&t, "RRR");
	assert_true(plan_hint(&t.p, &t.p.nodes[1]).clash);
	hint = plan_hint(&t.p, &t.p.nodes[2]);
	assert_false(hint.clash);
	assert_true(hint.lasting);
	assert_int_equal(hint.job, 0);
	done(&t);
}

/* What another job wants counts for the nodes that it is still to share, not for one that is there.
 */
static void test_a_node_that_is_there_binds_nobody(void **state)
{
	struct ladder_wish reserved = {.constraint = "reserved"};
	struct round t;
	struct node n;

	(void)state;
	setup(&t, "a[1-4]");
	node_init(&n, "a3", 1, 0);
	n.state = NODE_READY;
	(void)fleet_add(&t.f, &n);
	add_job(&t, "a1");
	add_job(&t, "a[2-3]");
	add_job(&t, "a3");
	t.jobs[0] = t.jobs[2] = (struct plan_job){.wishes = &reserved, .nwishes = 1};
	expect(&t, "RsHs");
	done(&t);
}

/* It cannot have the node that was refused, whatever becomes of the other one. */
static void test_who_shares_with_one_refused_and_one_that_waits_is_refused(void **state)
{
	static const char *const lists[] = {"a[2-4]", "a[1-3]"};
	struct ladder_wish reserved = {.constraint = "reserved"};
	struct round t;

	(void)state;
	for (size_t i = 0; i < 2; i++) { /* its nodes come in either order */
		setup(&t, "a[1-4]");
		add_job(&t, i == 0 ? "a[1-2]" : "a[3-4]");
		add_job(&t, i == 0 ? "a3" : "a2");
		add_job(&t, lists[i]);
		t.jobs[0] = (struct plan_job){.wishes = &reserved, .nwishes = 1};
		t.jobs[1].unknown = true;
		expect(&t, i == 0 ? "RRWR" : "RWRR");
		why_is(&t, i == 0 ? 3 : 0, "pool a: spot, far, od: the job wants reserved");
		done(&t);
	}
}

/* What it wants changes nothing: it does not get the node of the other. */
static void test_who_shares_with_one_refused_is_not_asked_about(void **state)
{
	struct ladder_wish reserved = {.constraint = "reserved"};
	struct round t;

	(void)state;
	setup(&t, "a[1-3]");
	add_job(&t, "a[1-2]");
	add_job(&t, "a[2-3]");
	t.jobs[0] = (struct plan_job){.wishes = &reserved, .nwishes = 1};
	t.jobs[1].unknown = true;
	expect(&t, "RRR");
	done(&t);
}

/* One of them alone leaves a rung to the others; of the last one it is the second wish. */
static void test_all_wishes_of_all_who_share_a_node_hold(void **state)
{
	static const char *const eu[] = {"EU", NULL};
	struct ladder_wish any = {0}, europe = {.jurisdictions = eu},
			   cheap[] = {{0}, {.max_price_nano_h = 4 * FMT_NANO}},
			   not_spot = {.constraint = "ondemand|reserved"};
	struct plan_job jobs[] = {
		{.wishes = &any, .nwishes = 1},
		{.wishes = &not_spot, .nwishes = 1},
		{.wishes = &europe, .nwishes = 1},
		{.wishes = cheap, .nwishes = 2},
	};
	struct round t;

	(void)state;
	setup(&t, "a1");
	for (size_t j = 0; j < 4; j++) {
		add_job(&t, "a1");
		t.jobs[j] = jobs[j];
	}
	expect(&t, "R");
	assert_true(plan_hint(&t.p, &t.p.nodes[0]).clash);
	t.jobs[3].nwishes = 1;
	expect(&t, "o");
	t.jobs[3].nwishes = 2;
	t.jobs[1].nwishes = 0;
	expect(&t, "s");
	cool(&t, SPOT, COOLDOWN_CAPACITY, 1);
	expect(&t, "R"); /* far is in the US, and od too dear */
	t.jobs[2].nwishes = 0;
	expect(&t, "f");
	done(&t);
}

static void test_the_shared_node_need_not_be_the_first(void **state)
{
	struct ladder_wish not_spot = {.constraint = "ondemand"};
	struct round t;

	(void)state;
	setup(&t, "a[1-3]");
	add_job(&t, "a2");
	add_job(&t, "a[1-2]");
	t.jobs[1] = (struct plan_job){.wishes = &not_spot, .nwishes = 1};
	expect(&t, "oos");
	done(&t);
}

static void test_who_shares_no_node_is_not_asked(void **state)
{
	struct ladder_wish reserved = {.constraint = "reserved"};
	struct round t;

	(void)state;
	setup(&t, "a[1-2]");
	add_job(&t, "a2");
	add_job(&t, "a1"); /* the first node of all, and the last to be decided */
	t.jobs[1] = (struct plan_job){.wishes = &reserved, .nwishes = 1};
	expect(&t, "Rs");
	done(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_jobs_that_share_a_node_must_all_be_content),
		cmocka_unit_test(test_what_jobs_lack_together_is_not_for_good),
		cmocka_unit_test(test_who_shares_a_node_with_a_refused_job_is_told_its_reason),
		cmocka_unit_test(test_a_neighbour_without_wishes_is_no_hindrance),
		cmocka_unit_test(test_what_time_mends_is_no_clash),
		cmocka_unit_test(test_a_node_of_no_job_clashes_with_nobody),
		cmocka_unit_test(test_a_node_that_is_there_binds_nobody),
		cmocka_unit_test(test_who_shares_with_one_refused_and_one_that_waits_is_refused),
		cmocka_unit_test(test_who_shares_with_one_refused_is_not_asked_about),
		cmocka_unit_test(test_all_wishes_of_all_who_share_a_node_hold),
		cmocka_unit_test(test_the_shared_node_need_not_be_the_first),
		cmocka_unit_test(test_who_shares_no_node_is_not_asked),
	};

	return cmocka_run_group_tests_name("plan_shared", tests, NULL, NULL);
}
