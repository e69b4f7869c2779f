/* intake.c: when squeue is asked though there is a resume file, and what becomes of its answer. */
#include "intake_calls.h"

/* F47, F54: what has waited for squeue for minutes, or while burstd stood still, slurmctld may want
 * no more: a snapshot decides, soon. */
static void test_a_call_that_waited_for_long_is_not_enough(void **state)
{
	static const struct {
		int64_t waited_ms;
		bool bought;
	} waits[] = {{59000, true}, {61000, false}};
	struct fix *f = *state;
	int64_t poll_next;

	for (size_t i = 0; i < sizeof(waits) / sizeof(waits[0]); i++) {
		load(f, 0, false);
		call(f, "c[1-2]", NULL); /* asks */
		call(f, "c3", NULL);     /* waits behind it */
		for (struct fresh_call *p = f->e->buy->calls; p != NULL; p = p->next)
			p->since_ms -= waits[i].waited_ms;
		f->e->poll.began_ms = engine_now(f->e);
		poll_next = f->e->poll.next_ms = engine_now(f->e) + 60000;
		squeue(f, "", 0, NULL);
		f->e->left = ENGINE_SEND;
		intake_part.at[PART_RUN](f->e);
		assert_null(f->e->buy->calls);
		assert_int_equal(is_bought(f, "c1"), waits[i].bought);
		assert_int_equal(is_bought(f, "c3"), waits[i].bought);
		assert_int_equal(f->e->count.calls[CALL_RESUME], 2);
		if (!waits[i].bought)
			assert_true(f->e->poll.next_ms < poll_next);
		engine_free(f->e);
		f->e = NULL;
	}
}

/* F47, F54: what was wanted before burstd stood still, or slurmctld fell silent, waits for a word
 * of slurmctld's. */
static void test_what_was_wanted_long_ago_waits_for_a_snapshot(void **state)
{
	static const struct {
		int64_t wanted_ms, snapshot_ms; /* so long ago; 0: no snapshot yet */
		size_t go;
	} ages[] = {
		{0, 0, 1}, {89000, 0, 1}, {91000, 0, 0}, {91000, 89000, 1}, {600000, 91000, 0},
	};
	struct fix *f = *state;
	struct fleet_node **all;
	struct node *n;

	load(f, 0, false);
	f->e->started_ms -= 3600000;
	f->e->cloud->all[0].listed = true;
	call(f, "c1", NULL);
	n = &fleet_find(&f->e->fleet, "c1")->newest->n;
	assert_int_equal(n->state, NODE_WANTED);
	for (size_t i = 0; i < sizeof(ages) / sizeof(ages[0]); i++) {
		n->wanted_ms = engine_now(f->e) - ages[i].wanted_ms;
		f->e->poll.snapshot_ms =
			ages[i].snapshot_ms != 0 ? engine_now(f->e) - ages[i].snapshot_ms : 0;
		assert_int_equal(wanted_collect(f->e, &all), ages[i].go);
		free(all);
	}
	/* Nor is what was wanted before our start, until slurmctld has spoken (I13). */
	n->wanted_ms = f->e->started_ms = engine_now(f->e);
	for (size_t spoken = 0; spoken < 2; spoken++) {
		f->e->poll.snapshot_ms = spoken == 0 ? 0 : engine_now(f->e);
		assert_int_equal(wanted_collect(f->e, &all), spoken);
		free(all);
	}
}

/* Likewise what an old snapshot showed, or one place refused long ago, once squeue has answered. */
static void test_what_was_shown_long_ago_is_not_bought(void **state)
{
	static const struct {
		int64_t age_ms;
		bool bought;
	} ages[] = {{0, true}, {89000, true}, {91000, false}, {600000, false}};
	struct fix *f = *state;

	for (size_t i = 0; i < sizeof(ages) / sizeof(ages[0]); i++) {
		struct fleet_name *nm, *refused;

		load(f, false, false);
		f->e->poll.snapshot_ms = engine_now(f->e) - ages[i].age_ms;
		nm = fleet_name(&f->e->fleet, "c1", 0);
		nm->flags = SLURM_KNOWN | SLURM_POWERING_UP;
		f->e->buy->wanted = mem_strdup("c1");
		refused = fleet_name(&f->e->fleet, "c2", 0);
		refused->climbs = f->e->buy->climbing = true;
		intake_part.at[PART_RUN](f->e);
		squeue(f, "", 0, NULL);
		assert_int_equal(is_bought(f, "c1"), ages[i].bought);
		assert_int_equal(is_bought(f, "c2"), ages[i].bought);
		assert_null(f->e->buy->wanted);
		assert_false(refused->climbs || f->e->buy->climbing);
		engine_free(f->e);
		f->e = NULL;
	}
}

/* Nor what was refused meanwhile: its job is on its way back into the queue.  F47: nor, at another
 * place, what slurmctld has powered down by a snapshot of since it was bought. */
static void test_what_is_refused_meanwhile_is_not_bought(void **state)
{
	struct fix *f = *state;

	for (int i = 0; i < 3; i++) {
		struct fleet_name *shown, *climber;
		const bool barred = i == 1;

		load(f, false, false);
		f->e->poll.snapshot_ms = engine_now(f->e);
		shown = fleet_name(&f->e->fleet, "c1", 0);
		shown->flags = SLURM_KNOWN | SLURM_POWERING_UP;
		f->e->buy->wanted = mem_strdup("c1");
		climber = fleet_name(&f->e->fleet, "c2", 0);
		climber->climbs = f->e->buy->climbing = true;
		climber->flags = SLURM_KNOWN | (i == 2 ? SLURM_POWERED_DOWN : SLURM_POWERING_UP);
		intake_part.at[PART_RUN](f->e);
		shown->barred = climber->barred = barred;
		squeue(f, "", 0, NULL);
		assert_int_equal(is_bought(f, "c1"), !barred);
		assert_int_equal(is_bought(f, "c2"), i == 0);
		engine_free(f->e);
		f->e = NULL;
	}
}

/* Else its node would be sent back no sooner than a while after the last time, be held back until
 * the next snapshot, or not be tried at a place that has refused it before. */
static void test_a_call_forgets_what_was_before_it(void **state)
{
	struct fix *f = *state;
	struct fleet_name *nm;

	load(f, 0, false);
	nm = fleet_name(&f->e->fleet, "c1", 0);
	nm->barred = nm->climbs = true;
	nm->refused = NODE_BECAUSE_CAPACITY;
	nm->tried = 1;
	nm->waits_for = 7;
	nm->forced_ms = nm->missing_ms = nm->useless_ms = engine_now(f->e);
	(void)snprintf(nm->why, sizeof(nm->why), "none left");
	call(f, "c1", NULL);
	assert_true(is_bought(f, "c1"));
	assert_false(nm->barred || nm->climbs);
	assert_int_equal(nm->refused, NODE_BECAUSE_NONE);
	assert_int_equal(nm->tried, 0);
	assert_int_equal(nm->waits_for, 0);
	assert_int_equal(nm->forced_ms, 0);
	assert_int_equal(nm->missing_ms, 0);
	assert_int_equal(nm->useless_ms, 0);
	assert_string_equal(nm->why, "");
}

/* Two jobs of two calls are two gangs, each of which is bought, placed and refused whole. */
static void test_the_gangs_of_two_calls_are_two(void **state)
{
	static const char second[] = "{\"jobs\":[{\"job_id\":8,\"nodes\":\"c[3-4]\"}]}";
	struct fix *f = *state;
	struct conf *c = one_pool("c[1-4]", 4);
	uint32_t group[4];

	assert_int_equal(conf_finish(c, NULL), 0);
	assert_int_equal(load_conf(f, c, NULL), 0);
	f->e->left = ENGINE_SEND;
	call(f, "c[1-2]", OLD);
	call(f, "c[3-4]", second);
	for (int i = 0; i < 4; i++) {
		char name[] = {'c', (char)('1' + i), '\0'};

		assert_true(is_bought(f, name));
		group[i] = fleet_find(&f->e->fleet, name)->newest->n.group;
	}
	assert_true(group[0] != 0 && group[0] == group[1]);
	assert_true(group[2] != 0 && group[2] == group[3]);
	assert_int_not_equal(group[0], group[2]);
}

/* What its comment says is over in a moment, not when it would be looked at by itself. */
static void test_who_is_bought_for_is_looked_at_soon(void **state)
{
	const struct slurm_job_detail d = {.number = 7, .pending = true, .comment = {"", 0}};
	struct fix *f = *state;

	load(f, 0, false);
	postpone_say(f->e, &d, "7", "burstd: lost node c9");
	postpone_part.at[PART_RUN](f->e);
	assert_true(f->e->jobs->postpone_next > engine_now(f->e) + 30000);
	call(f, "c[1-2]", OLD);
	assert_int_equal(fleet_find(&f->e->fleet, "c1")->newest->n.job, 7);
	postpone_part.at[PART_RUN](f->e);
	assert_true(f->e->jobs->postpone_next <= engine_now(f->e) + 5000);
}

/* --- calls for nodes that slurmctld does not want (F46, ADR 2) --- */

static uint64_t bought(const struct fix *f, const char *node)
{
	const struct fleet_name *nm = fleet_find(&f->e->fleet, node);

	return nm != NULL ? nm->last_gen : 0;
}

/* A thousand calls would buy a thousand machines, each for the least time that is billed. */
static void test_a_node_that_was_let_go_unused_is_not_bought_by_calls(void **state)
{
	struct fix *f = *state;

	load(f, 0, false);
	f->e->cloud->all[0].listed = true;
	call(f, "c1", NULL);
	assert_int_equal(bought(f, "c1"), 1); /* the first one is enough */
	snapshot(f, "IDLE+CLOUD+POWERED_DOWN");
	assert_false(is_bought(f, "c1"));
	for (int i = 0; i < 100; i++) {
		f->e->poll.next_ms = INT64_MAX;
		call(f, "c1", NULL);
		assert_int_equal(bought(f, "c1"), 1);
		assert_true(f->e->poll.next_ms < INT64_MAX); /* it is looked at soon */
		assert_null(f->e->buy->calls);
	}
	call(f, "c[1-2]", OLD); /* nor the others that one call names with it */
	assert_int_equal(bought(f, "c2"), 0);
	call(f, "c2", NULL);
	assert_int_equal(bought(f, "c2"), 1);
	snapshot(f, "ALLOCATED+CLOUD+POWERING_UP");
	squeue(f, "7|7|CONFIGURING|gpu|None|c1\n", 28, NULL);
	assert_int_equal(bought(f, "c1"), 2);
}

/* F46: nor when one of an earlier life is found meanwhile, and is up; until a later one is. */
static void test_an_older_machine_says_nothing_of_one_let_go_unused(void **state)
{
	static const uint64_t found[] = {2, 7}; /* generations */
	struct fix *f = *state;
	struct fleet_name *nm;

	load(f, false, false);
	f->e->d.gen_floor = 5;
	call(f, "c1", NULL);
	nm = fleet_find(&f->e->fleet, "c1");
	assert_int_equal(nm->last_gen, 6);
	for (size_t i = 0; i < 2; i++) {
		struct node_event up = {.type = NODE_EV_REGISTERED, .now_ms = engine_now(f->e)};
		struct fleet_node *fn;
		struct node n;

		snapshot(f, "IDLE+CLOUD+POWERED_DOWN");
		call(f, "c1", NULL);
		assert_int_equal(nm->last_gen, 6);
		node_init(&n, "c1", found[i], engine_now(f->e));
		n.state = NODE_BOOTING;
		(void)snprintf(n.instance, sizeof(n.instance), "i-%zu", i);
		fn = engine_insert(f->e, &n, "found");
		engine_post(f->e, fn, &up);
		engine_commit(f->e);
		assert_int_equal(fn->n.state, NODE_READY);
	}
	assert_int_equal(nm->unused_ms, 0);
}

static void test_a_call_is_enough_again_after_five_minutes(void **state)
{
	struct fix *f = *state;

	load(f, 0, false);
	call(f, "c1", NULL);
	snapshot(f, "IDLE+CLOUD+POWERED_DOWN");
	fleet_find(&f->e->fleet, "c1")->unused_ms -= 5 * 60000 - 1000;
	call(f, "c1", NULL);
	assert_int_equal(bought(f, "c1"), 1);
	fleet_find(&f->e->fleet, "c1")->unused_ms -= 1000;
	call(f, "c1", NULL);
	assert_int_equal(bought(f, "c1"), 2);
}

/* Whoever let it go: only slurmctld's own word says that nobody wanted it; and what was up was
 * wanted. */
static void test_of_other_nodes_a_call_is_enough(void **state)
{
	static const struct {
		enum node_reason why;
		bool up, again;
	} ways[] = {
		{NODE_BECAUSE_CAPACITY, false, true},
		{NODE_BECAUSE_OPERATOR, false, true},
		{NODE_BECAUSE_SUSPENDED, false, false},
		{NODE_BECAUSE_SUSPENDED, true, true},
	};
	struct fix *f = *state;

	for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]); i++) {
		const char *name = i == 0 ? "c1" : i == 1 ? "c2" : "c3";
		struct node_event ev = {.type = NODE_EV_RELEASE, .reason = ways[i].why};
		struct provider_instance in = {.id = "i-1", .state = PROVIDER_ENDED};
		struct node_event end = {.type = NODE_EV_SEEN, .instance = &in};
		struct fleet_name *nm;
		uint64_t gen;

		load(f, 0, false);
		call(f, name, NULL);
		nm = fleet_find(&f->e->fleet, name);
		assert_true(is_bought(f, name));
		if (ways[i].up) {
			fleet_stage(nm->newest)->state = NODE_READY;
			(void)snprintf(nm->newest->next->instance, 8, "i-1");
			fleet_publish(&f->e->fleet, nm->newest);
		}
		ev.now_ms = end.now_ms = engine_now(f->e);
		engine_post(f->e, nm->newest, &ev);
		engine_commit(f->e);
		engine_post(f->e, nm->newest, &end);
		engine_commit(f->e);
		assert_false(is_bought(f, name));
		gen = nm->last_gen;
		call(f, name, NULL);
		assert_int_equal(nm->last_gen, gen + ways[i].again);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_a_call_that_waited_for_long_is_not_enough,
						setup, teardown),
		cmocka_unit_test_setup_teardown(test_what_was_wanted_long_ago_waits_for_a_snapshot,
						setup, teardown),
		cmocka_unit_test_setup_teardown(test_what_was_shown_long_ago_is_not_bought, setup,
						teardown),
		cmocka_unit_test_setup_teardown(test_what_is_refused_meanwhile_is_not_bought, setup,
						teardown),
		cmocka_unit_test_setup_teardown(test_a_call_forgets_what_was_before_it, setup,
						teardown),
		cmocka_unit_test_setup_teardown(test_the_gangs_of_two_calls_are_two, setup,
						teardown),
		cmocka_unit_test_setup_teardown(test_who_is_bought_for_is_looked_at_soon, setup,
						teardown),
		cmocka_unit_test_setup_teardown(
			test_a_node_that_was_let_go_unused_is_not_bought_by_calls, setup, teardown),
		cmocka_unit_test_setup_teardown(
			test_an_older_machine_says_nothing_of_one_let_go_unused, setup, teardown),
		cmocka_unit_test_setup_teardown(test_a_call_is_enough_again_after_five_minutes,
						setup, teardown),
		cmocka_unit_test_setup_teardown(test_of_other_nodes_a_call_is_enough, setup,
						teardown),
	};

	return cmocka_run_group_tests_name("intake", tests, NULL, NULL);
}
