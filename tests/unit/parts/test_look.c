/* observe.c: a snapshot of many nodes is looked at in pieces, and hooks have their turn in between.
 */
#include "buy/buy.h"
#include "diff/diff.h"
#include "loaded_engine.h"

/* A snapshot of c1, c2 and c3, of which one is looked at in a turn; the first was. */
static void look_by_ones(struct fix *f, const char *what)
{
	static char text[400]; /* it lives as long as the snapshot */
	int n = snprintf(text, sizeof(text), "NodeName=c1 %s\nNodeName=c2 %s\nNodeName=c3 %s\n",
			 what, what, what);

	assert_int_equal(load_conf(f, make_conf(), NULL), 0);
	f->e->slice.read = 1;
	f->e->started = f->e->poll.polling = true;
	assert_true(slurm_parse_nodes(text, (size_t)n, observe_node, f->e, NULL) > 0);
	assert_false(observe_snapshot(f->e, loop_now(f->loop), NULL));
}

static void test_what_follows_from_all_nodes_waits_for_the_last(void **state)
{
	struct fix *f = *state;

	look_by_ones(f, "State=ALLOCATED+CLOUD+POWERING_UP");
	assert_false(observe_some(f->e));
	assert_true(f->e->poll.snapshot_ms == 0);
	assert_false(f->e->poll.polled);
	assert_null(f->e->buy->wanted);
	assert_true(fleet_find(&f->e->fleet, "c3")->missing_ms == 0);
	assert_true(observe_some(f->e));
	assert_true(f->e->poll.snapshot_ms != 0);
	assert_true(f->e->poll.polled && f->e->poll.moving);
	assert_string_equal(f->e->buy->wanted, "c1,c2,c3");
	assert_true(fleet_find(&f->e->fleet, "c3")->missing_ms == 0);
}

/* Else one job's nodes would be sent back by two commands. */
static void test_what_slurmctld_is_told_by_a_look_goes_out_together(void **state)
{
	struct fix *f = *state;
	struct slurm_order o;

	look_by_ones(f, "NodeAddr=10.0.0.9 State=IDLE+CLOUD+POWERED_DOWN");
	engine_turn(f->e); /* a call came in */
	assert_false(observe_some(f->e));
	engine_turn(f->e);
	assert_true(observe_some(f->e));
	assert_true(slurm_next(f->e->slurm, &o));
	assert_string_equal(o.names, "c1,c2,c3");
}

/* It shows the effect of all that slurmctld was told, or did. */
static void test_what_is_told_in_between_is_not_in_the_snapshot(void **state)
{
	struct fix *f = *state;

	look_by_ones(f, "NodeAddr=10.0.0.9 State=IDLE+CLOUD+POWERED_DOWN");
	assert_false(observe_some(f->e));
	slurm_resume(f->e->slurm, "c3");
	assert_true(observe_some(f->e));
	assert_int_equal(slurm_orders(f->e->slurm), 3); /* c1's address, c2's and that */
}

/* Since when, over snapshots, until one does not show it, or has no such node (F51). */
static void test_what_is_counted_and_nobody_has_is_noted(void **state)
{
	static const struct {
		const char *node;
		bool held, anew;
	} rows[] = {
		{"c1 State=IDLE+CLOUD+POWERED_DOWN AllocTRES=gres/gpu=8", true, true},
		{"c1 State=IDLE+CLOUD+POWERED_DOWN AllocTRES=gres/gpu=8", true, false},
		{"c1 State=IDLE+CLOUD+POWERED_DOWN AllocTRES=", false, true},
		{"c1 State=IDLE+CLOUD+POWERED_DOWN AllocTRES=gres/gpu=8", true, true},
		{"c2 State=IDLE+CLOUD+POWERED_DOWN AllocTRES=gres/gpu=8", false, true},
	};
	struct fix *f = *state;
	int64_t since = 0;

	assert_int_equal(load_conf(f, make_conf(), NULL), 0);
	f->e->started = f->e->poll.polling = true;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		char text[120];
		int n = snprintf(text, sizeof(text), "NodeName=%s\n", rows[i].node);
		const struct fleet_name *nm;

		assert_true(slurm_parse_nodes(text, (size_t)n, observe_node, f->e, NULL) > 0);
		if (!observe_snapshot(f->e, loop_now(f->loop), NULL))
			while (!observe_some(f->e))
				;
		nm = fleet_find(&f->e->fleet, "c1");
		assert_int_equal(nm->held_ms != 0, rows[i].held);
		if (!rows[i].anew)
			assert_true(nm->held_ms == since);
		since = nm->held_ms - 1000;
		fleet_find(&f->e->fleet, "c1")->held_ms = rows[i].held ? since : 0;
	}
}

static void test_a_reload_in_between_counts(void **state)
{
	struct fix *f = *state;

	look_by_ones(f, "State=ALLOCATED+CLOUD+POWERING_UP");
	fleet_find(&f->e->fleet, "c3")->listed = false;
	assert_false(observe_some(f->e));
	assert_true(observe_some(f->e));
	assert_string_equal(f->e->buy->wanted, "c1,c2");
}

static void test_a_look_ends_with_its_engine(void **state)
{
	struct fix *f = *state;

	look_by_ones(f, "State=ALLOCATED+CLOUD+POWERING_UP");
	engine_free(f->e);
	f->e = NULL;
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_what_follows_from_all_nodes_waits_for_the_last),
		TEST(test_what_slurmctld_is_told_by_a_look_goes_out_together),
		TEST(test_what_is_told_in_between_is_not_in_the_snapshot),
		TEST(test_a_reload_in_between_counts),
		TEST(test_what_is_counted_and_nobody_has_is_noted),
		TEST(test_a_look_ends_with_its_engine),
	};

	return cmocka_run_group_tests_name("look", tests, NULL, NULL);
}
