/* inventory.c: which list ends the bill of a machine that lists lack.  One may be wrong, for as
 * long as it likes: a sign of life counts for more. */
#include "diff/diff.h"
#include "journal_rows.h"
#include "listed_engine.h"

enum { LATER_MS = 60001 }; /* a settle time and more */

static const struct shown ours = {"i-1", 5, "10.0.0.1", PROVIDER_RUNNING};

static struct fleet_node *begin(struct fix *f, enum node_state s)
{
	struct fleet_node *fn;

	load(f, s, &ours);
	fn = fleet_find(&f->e->fleet, "c1")->newest;
	fn->n.start_ms = 5;
	return fn;
}

/* Show a list that lacks it; returns how often that counts by now. */
static int64_t lack(struct fix *f, const struct fleet_node *fn)
{
	f->ahead += LATER_MS;
	list(f, NULL, 0);
	return fn->n.misses;
}

/* A list need not have it at once; one that shows it undoes all before. */
static void test_the_first_list_that_lacks_it(void **state)
{
	struct fix *f = *state;
	struct fleet_node *fn = begin(f, NODE_READY);

	fn->n.start_ms = 0;
	show(f, "DOWN+CLOUD+NOT_RESPONDING", "NodeAddr=10.0.0.1");
	list(f, NULL, 0);
	assert_int_equal(fn->lacked_ms, 0); /* it has not begun */
	fn->n.start_ms = f->e->cloud->all[0].list_began;
	f->ahead += f->e->cloud->all[0].conf->settle_ms - 5000;
	list(f, NULL, 0);
	assert_int_equal(fn->lacked_ms, 0);
	fn->n.misses = 0;
	f->ahead += 5000;
	list(f, NULL, 0);
	assert_in_range(fn->lacked_ms, engine_now(f->e) - 1000, engine_now(f->e));
	fn->lacked_ms = 7;
	list(f, NULL, 0);
	assert_int_equal(fn->lacked_ms, 7);
	list(f, &ours, 1);
	assert_int_equal(fn->lacked_ms, 0);
}

static void test_it_ends_the_bill(void **state)
{
	struct fix *f = *state;
	struct fleet_node *fn = begin(f, NODE_READY);

	show(f, "ALLOCATED+CLOUD+NOT_RESPONDING", "NodeAddr=10.0.0.1");
	assert_int_equal(lack(f, fn), 1);
	fn->lacked_ms = 8;
	show(f, "DOWN+CLOUD+NOT_RESPONDING", "NodeAddr=10.0.0.1");
	(void)lack(f, fn);
	assert_int_equal(fn->n.state, NODE_GONE);
	assert_int_equal(fn->n.end_ms, 8);
	assert_int_equal(strtoll(rows(f, "SELECT at_ms FROM life WHERE kind = 'shown'"), NULL, 10),
			 fn->seen_ms);
}

/* I22: its tags were lost, and lists lack it for all the hours that its job runs. */
static void test_lists_lack_a_machine_at_work_and_it_is_billed(void **state)
{
	struct fix *f = *state;
	struct fleet_node *fn = begin(f, NODE_READY);
	int64_t from;

	show(f, "ALLOCATED+CLOUD", "NodeAddr=10.0.0.1");
	for (unsigned i = 0; i < 3; i++) {
		assert_int_equal(lack(f, fn), 0);
		assert_int_equal(fn->lacked_ms, 0);
	}
	show(f, "IDLE+CLOUD+POWERING_DOWN", "NodeAddr=10.0.0.1");
	assert_int_equal(fn->n.state, NODE_DELETING);
	from = engine_now(f->e);
	(void)lack(f, fn);
	(void)lack(f, fn);
	assert_int_equal(fn->n.state, NODE_GONE);
	assert_true(fn->n.end_ms >= from);
}

/* Lists may fail for hours while it is at work. */
static void test_slurmctld_hears_from_it_after_the_list(void **state)
{
	static const struct {
		const char *is;
		enum node_state state;
		bool lives;
	} rows[] = {
		{"ALLOCATED+CLOUD", NODE_READY, true},
		{"ALLOCATED+CLOUD", NODE_DRAINING, true},
		{"IDLE+CLOUD", NODE_BOOTING, true}, /* it registers */
		{"ALLOCATED+CLOUD+POWERING_UP", NODE_BOOTING, false},
		{"ALLOCATED+CLOUD+NOT_RESPONDING", NODE_READY, false},
		{"DOWN+CLOUD", NODE_READY, false},
		{"IDLE+CLOUD+POWERING_DOWN", NODE_READY, false},
		{"ALLOCATED+CLOUD", NODE_DELETING, false},
	};
	struct fix *f = *state;

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct fleet_node *fn = begin(f, rows[i].state);

		fn->lacked_ms = 8;
		show(f, rows[i].is, "NodeAddr=10.0.0.1");
		if (fn->lacked_ms != (rows[i].lives ? 0 : 8))
			fail_msg("row %zu", i);
	}
}

/* A delete is on the wire: it may live until that is accepted. */
static void test_a_list_during_its_delete(void **state)
{
	struct fix *f = *state;
	struct fleet_node *fn = begin(f, NODE_DELETING);

	fn->busy = true;
	assert_int_equal(lack(f, fn), 0);
	assert_int_equal(fn->lacked_ms, 0);
	fn->busy = false;
	assert_int_equal(lack(f, fn), 1);
	assert_true(fn->lacked_ms != 0);
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
		T(test_the_first_list_that_lacks_it),
		T(test_it_ends_the_bill),
		T(test_lists_lack_a_machine_at_work_and_it_is_billed),
		T(test_slurmctld_hears_from_it_after_the_list),
		T(test_a_list_during_its_delete),
	};
#undef T

	return cmocka_run_group_tests(tests, NULL, NULL);
}
