/* test_fleet_name.c - what is kept of a node besides its rows: its refusal, whom it waits for,
 * where slurmctld has it; and of a row: how its instance ended, and why it was released. */
#include "core/fleet.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "core/reclaim.h"
#include "core/slurm_flag.h"

static struct fleet fleet;

static int setup(void **state)
{
	(void)state;
	fleet_init(&fleet, 1);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	fleet_fini(&fleet);
	return 0;
}

static struct fleet_node *row(const char *name, uint64_t gen, enum node_state state)
{
	struct node n;

	node_init(&n, name, gen, 1000);
	n.state = state;
	return fleet_add(&fleet, &n);
}

static void test_a_refusal_outlives_the_bar(void **state)
{
	struct fleet_name *nm = fleet_name(&fleet, "c1", 0);

	(void)state;
	fleet_bar(nm, NODE_BECAUSE_CAPACITY, 77);
	assert_true(nm->barred);
	assert_int_equal(nm->refused, NODE_BECAUSE_CAPACITY);
	assert_int_equal(nm->refused_ms, 77);
	fleet_unbar(nm);
	assert_false(nm->barred);
	assert_int_equal(nm->refused, NODE_BECAUSE_CAPACITY);
	fleet_forget_refusal(nm);
	assert_int_equal(nm->refused, NODE_BECAUSE_NONE);
	assert_int_equal(nm->refused_ms, 77);
}

static void test_since_when_it_waited_outlives_its_job(void **state)
{
	struct fleet_name *nm = fleet_name(&fleet, "c1", 0);

	(void)state;
	fleet_wait_for(nm, 4711, 88);
	assert_int_equal(nm->waits_for, 4711);
	assert_int_equal(nm->waits_ms, 88);
	fleet_wait_for_none(nm);
	assert_int_equal(nm->waits_for, 0);
	assert_int_equal(nm->waits_ms, 88);
}

static void test_where_slurmctld_has_it_is_forgotten(void **state)
{
	struct fleet_name *nm = fleet_name(&fleet, "c1", 0);

	(void)state;
	nm->elsewhere = mem_zalloc(sizeof(*nm->elsewhere));
	nm->on_instance = true;
	fleet_forget_place(nm);
	assert_null(nm->elsewhere);
	assert_false(nm->on_instance);
}

static void test_an_address_that_is_the_same_stays_where_it_is(void **state)
{
	struct fleet_name *nm = fleet_name(&fleet, "c1", 0);
	const char *had;

	(void)state;
	fleet_addr(nm, "10.0.0.1");
	had = nm->addr;
	fleet_addr(nm, "10.0.0.1");
	assert_ptr_equal(nm->addr, had);
	fleet_addr(nm, "10.0.0.2");
	assert_string_equal(nm->addr, "10.0.0.2");
	fleet_addr(nm, "");
	assert_null(nm->addr);
}

static void test_how_its_instance_ended(void **state)
{
	struct fleet_node *fn = row("c1", 1, NODE_GONE);
	const struct provider_instance in = {.id = "i-1"}, other = {.id = "i-2"};

	(void)state;
	fleet_ended(fn, &in);
	assert_string_equal(fn->ended->id, "i-1");
	fleet_ended(fn, &other);
	assert_string_equal(fn->ended->id, "i-2");
	fleet_ended(fn, NULL);
	assert_null(fn->ended);
}

static void test_why_it_was_released(void **state)
{
	static const struct {
		enum node_reason reason;
		int64_t noticed_ms;
		enum provider_notice_kind notice;
		bool told; /* by a text of its own, for NODE_BECAUSE_CAPACITY */
		int text;  /* 0: its own; 1: of the notice; 2: of the reason */
	} rows[] = {
		{NODE_BECAUSE_CAPACITY, 0, 0, true, 0},
		{NODE_BECAUSE_CAPACITY, 0, 0, false, 2},
		{NODE_BECAUSE_SUSPENDED, 0, 0, true, 2},
		{NODE_BECAUSE_SUSPENDED, 5, PROVIDER_NOTICE_REBALANCE, true, 1},
		{NODE_BECAUSE_SUSPENDED, 1, PROVIDER_NOTICE_REBALANCE, false, 1},
		{NODE_BECAUSE_SUSPENDED, 0, PROVIDER_NOTICE_REBALANCE, false, 2},
		{NODE_BECAUSE_SUSPENDED, 5, PROVIDER_NOTICE_MAINTENANCE, false, 2},
		{NODE_BECAUSE_REPLACED, 5, PROVIDER_NOTICE_REBALANCE, false, 2},
		{NODE_BECAUSE_NONE, 0, 0, false, 2},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct fleet_node *fn = row("c1", i + 1, NODE_GONE);
		const char *want = rows[i].text == 0   ? "sold out in eu-north-1a"
				   : rows[i].text == 1 ? reclaim_kind_text(rows[i].notice)
						       : node_reason_text(rows[i].reason);

		fn->n.reason = rows[i].reason;
		fn->n.noticed_ms = rows[i].noticed_ms;
		fn->n.notice = rows[i].notice;
		if (rows[i].told) {
			fleet_because(fn, NODE_BECAUSE_CAPACITY, "never read");
			fleet_because(fn, NODE_BECAUSE_CAPACITY, "sold out in eu-north-1a");
		}
		assert_string_equal(fleet_why(fn, &fn->n), want);
	}
}

/* May a job be at work there?  slurmctld has the node up, or waits for one that boots. */
static void test_may_work(void **state)
{
	static const struct {
		uint32_t flags;
		int row; /* a state, or -1 */
		bool barred, may;
	} rows[] = {
		{SLURM_KNOWN | SLURM_ALLOCATED, -1, false, true},
		{SLURM_KNOWN | SLURM_ALLOCATED, NODE_BOOTING, true, true},
		{SLURM_KNOWN | SLURM_POWERED_DOWN, NODE_BOOTING, false, false},
		{SLURM_KNOWN | SLURM_POWERING_UP, NODE_BOOTING, false, true},
		{SLURM_KNOWN | SLURM_POWERING_UP, NODE_BOOTING, true, false},
		{SLURM_KNOWN | SLURM_POWERING_UP, NODE_CREATING, false, false},
		{SLURM_KNOWN | SLURM_POWERING_UP, -1, false, false},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct fleet_name *nm = fleet_name(&fleet, "c1", 0);

		if (rows[i].row >= 0)
			(void)row("c1", 1, (enum node_state)rows[i].row);
		nm->flags = rows[i].flags;
		if (rows[i].barred)
			fleet_bar(nm, NODE_BECAUSE_CAPACITY, 1);
		if (fleet_may_work(nm) != rows[i].may)
			fail_msg("row %zu", i);
		(void)teardown(state);
		(void)setup(state);
	}
}

/* A name is ours if a pool has it, or if an instance of it may exist. */
static void test_is_ours(void **state)
{
	struct fleet_name *nm = fleet_name(&fleet, "c1", 0);

	(void)state;
	assert_false(fleet_is_ours(NULL));
	nm->listed = false;
	assert_false(fleet_is_ours(nm));
	nm->listed = true;
	assert_true(fleet_is_ours(nm));
	nm->listed = false;
	(void)row("c1", 1, NODE_READY);
	assert_true(fleet_is_ours(nm));
}

/* A row whose instance is known to be gone counts as one that can be reached. */
static void test_unreached(void **state)
{
	struct fleet_node *fn = row("c1", 1, NODE_QUARANTINED);
	struct fleet_node *gone = row("c2", 1, NODE_GONE);

	(void)state;
	assert_null(fleet_unreached(fn->name));
	fn->unreached = gone->unreached = true;
	assert_ptr_equal(fleet_unreached(fn->name), fn);
	assert_null(fleet_unreached(gone->name));
}

static void test_what_is_staged_is_swapped_with_what_was(void **state)
{
	struct fleet_node *fn = row("c1", 1, NODE_WANTED);
	struct node *was;

	(void)state;
	fleet_stage(fn)->state = NODE_CREATING;
	was = fleet_swap(&fleet, fn);
	assert_int_equal(was->state, NODE_WANTED);
	assert_int_equal(fn->n.state, NODE_CREATING);
	assert_null(fn->next);
	free(was);
}

static void test_key(void **state)
{
	char key[80];

	(void)state;
	fleet_key(key, sizeof(key), "c1", 7);
	assert_string_equal(key, "c1/7");
}

static void test_when_the_last_one_was_forgotten(void **state)
{
	struct fleet_node *a = row("c1", 1, NODE_GONE), *b = row("c1", 2, NODE_GONE);
	struct fleet_name *nm = a->name;

	(void)state;
	a->n.since_ms = 900;
	b->n.since_ms = 500;
	fleet_because(a, NODE_BECAUSE_CAPACITY, "x");
	fleet_del(&fleet, a);
	assert_int_equal(nm->forgot_ms, 900);
	fleet_del(&fleet, b);
	assert_int_equal(nm->forgot_ms, 900);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_a_refusal_outlives_the_bar),
		TEST(test_since_when_it_waited_outlives_its_job),
		TEST(test_where_slurmctld_has_it_is_forgotten),
		TEST(test_an_address_that_is_the_same_stays_where_it_is),
		TEST(test_how_its_instance_ended),
		TEST(test_why_it_was_released),
		TEST(test_may_work),
		TEST(test_is_ours),
		TEST(test_unreached),
		TEST(test_what_is_staged_is_swapped_with_what_was),
		TEST(test_key),
		TEST(test_when_the_last_one_was_forgotten),
	};

	return cmocka_run_group_tests_name("fleet_name", tests, NULL, NULL);
}
