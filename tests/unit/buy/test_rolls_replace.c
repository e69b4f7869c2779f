/* test_rolls_replace.c - machines with an image that is not in force any more: which go, how many
 * at a time, and when that ends. */
#include "rolls_lab.h"

/* --- what is replaced --------------------------------------------------------------------------
 */

/* c1 was the canary. */
static void roll_out(void)
{
	(void)add(1, "b");
	begin();
	snapshot(600000);
	assert_int_equal(roll()->stage, ROLL_ROLLING);
}

static void goes(int i)
{
	char name[16];
	struct fleet_name *nm;
	struct node n;

	(void)snprintf(name, sizeof(name), "c%d", i);
	nm = fleet_find(&F.e.fleet, name);
	n = nm->newest->n;
	n.state = NODE_GONE;
	fleet_set(&F.e.fleet, nm->newest, &n);
	nm->insist.why = NULL;
	nm->flags = SLURM_KNOWN | SLURM_POWERED_DOWN;
}

static void test_idle_ones_go_a_few_at_a_time(void **state)
{
	(void)state;
	for (int i = 2; i <= 6; i++)
		(void)add(i, i == 3 ? "" : "a");
	roll_out();
	assert_string_equal(F.drained, "c2 c3 ");
	assert_string_equal(F.event, "image-replaced");
	snapshot(1000);
	assert_string_equal(F.drained, "c2 c3 ");
	goes(2);
	snapshot(1000);
	assert_string_equal(F.drained, "c2 c3 c4 ");
	goes(3);
	goes(4);
	snapshot(1000);
	goes(5);
	goes(6);
	goes(8);
	assert_int_equal(roll()->stage, ROLL_ROLLING);
	snapshot(1000);
	assert_int_equal(roll()->stage, ROLL_SETTLED);
	assert_string_equal(F.event, "image-done");
	assert_string_equal(F.put.r.old, "b");
	assert_int_equal(F.put.r.stage, ROLL_SETTLED);
}

/* One that is being deleted is away until it is gone. */
static void test_those_on_their_way_count(void **state)
{
	struct node n;

	(void)state;
	for (int i = 2; i <= 5; i++)
		(void)add(i, "a");
	n = fleet_find(&F.e.fleet, "c2")->newest->n;
	n.state = NODE_DELETING;
	n.release = true;
	fleet_set(&F.e.fleet, fleet_find(&F.e.fleet, "c2")->newest, &n);
	roll_out();
	assert_string_equal(F.drained, "c3 ");
}

/* No job ends for it; and a long one keeps no idle machine from going. */
static void test_busy_ones_have_a_bound_of_their_own(void **state)
{
	(void)state;
	for (int i = 2; i <= 5; i++)
		add(i, "a")->name->flags = UP | SLURM_ALLOCATED;
	(void)add(6, "a");
	roll_out();
	assert_string_equal(F.drained, "c2 c3 c6 ");
	snapshot(86400000);
	assert_string_equal(F.drained, "c2 c3 c6 ");
	fleet_find(&F.e.fleet, "c4")->flags = UP; /* its job has ended */
	snapshot(1000);
	assert_string_equal(F.drained, "c2 c3 c6 c4 ");
}

static void test_warm_ones_go_one_after_the_other(void **state)
{
	(void)state;
	F.pool.image_at_once = 1;
	for (int i = 2; i <= 4; i++)
		(void)add(i, "a");
	F.warm = (struct engine_warm){.wanted = 3, .up = 3};
	roll_out();
	assert_string_equal(F.drained, "c2 ");
	goes(2);
	F.warm.up = 2; /* what takes its place boots */
	snapshot(1000);
	assert_string_equal(F.drained, "c2 ");
	F.warm.up = 3;
	snapshot(1000);
	assert_string_equal(F.drained, "c2 c3 ");
}

/* image_at_once is 2: both at once would leave the pool without a warm one. */
static void test_not_all_warm_ones_go_at_once(void **state)
{
	(void)state;
	(void)add(2, "a");
	(void)add(3, "a");
	F.warm = (struct engine_warm){.wanted = 2, .up = 2};
	roll_out();
	assert_string_equal(F.drained, "c2 ");
	snapshot(1000); /* it is on its way down */
	F.warm.up = 1;
	snapshot(1000);
	assert_string_equal(F.drained, "c2 ");
	goes(2);
	snapshot(1000);
	assert_string_equal(F.drained, "c2 ");
	F.warm.up = 2;
	snapshot(1000);
	assert_string_equal(F.drained, "c2 c3 ");
}

/* Its limits may allow fewer than are wanted: the roll goes on all the same. */
static void test_warm_ones_that_cannot_be_had_hold_nothing_up(void **state)
{
	(void)state;
	(void)add(2, "a");
	(void)add(3, "a");
	F.warm = (struct engine_warm){.wanted = 6, .up = 2};
	roll_out();
	assert_string_equal(F.drained, "c2 ");
	F.warm.up = 1;
	goes(2);
	snapshot(1000);
	assert_string_equal(F.drained, "c2 ");
	F.warm.up = 2; /* as many as before */
	snapshot(1000);
	assert_string_equal(F.drained, "c2 c3 ");
}

/* The warm nodes are the pool's, whichever offer bought them. */
static void test_another_offers_counts_in_a_warm_pool(void **state)
{
	struct fleet_node *west = add(3, "a");

	(void)state;
	(void)snprintf(west->n.offer, sizeof(west->n.offer), "west");
	west->name->insist.why = ENGINE_WHY_IMAGE;
	(void)add(2, "a");
	F.warm = (struct engine_warm){.wanted = 2, .up = 2};
	roll_out();
	assert_string_equal(F.drained, "");
	west->name->insist.why = NULL;
	snapshot(1000);
	assert_string_equal(F.drained, "c2 ");
}

/* It would be a canary as long as it lives, and no other one could be bought. */
static void test_what_was_given_up_goes_while_another_is_tried(void **state)
{
	(void)state;
	(void)add(1, "b");
	(void)add(2, "a");
	begin();
	reload("c");
	assert_int_equal(roll()->stage, ROLL_CANARY);
	snapshot(1000);
	assert_string_equal(F.drained, "c1 ");
	assert_string_equal(F.detail, "goes down: its image is b, and a is in force");
	snapshot(1000);
	assert_string_equal(F.drained, "c1 ");
}

/* F22: those that the provider refuses to delete wait for an admin, and the others do not. */
static void test_a_quarantined_one_holds_nothing_up(void **state)
{
	(void)state;
	for (int i = 2; i <= 6; i++)
		(void)add(i, "a");
	for (int i = 2; i <= 3; i++) {
		struct fleet_node *fn = fleet_find(&F.e.fleet, i == 2 ? "c2" : "c3")->newest;
		struct node n = fn->n;

		n.state = NODE_QUARANTINED;
		n.release = true;
		fleet_set(&F.e.fleet, fn, &n);
	}
	roll_out();
	assert_string_equal(F.drained, "c4 c5 ");
}

static void test_what_is_not_ours_to_take_stays(void **state)
{
	static const uint32_t no[] = {SLURM_DRAIN,         SLURM_RESERVED,   SLURM_MAINT,
				      SLURM_REBOOT,        SLURM_FAIL,       SLURM_DOWN,
				      SLURM_POWERING_DOWN, SLURM_POWER_DOWN, SLURM_NOT_RESPONDING};

	struct fleet_node *fn = add(2, "a");

	(void)state;
	roll_out();
	fn->name->insist.why = NULL;
	for (size_t i = 0; i < sizeof(no) / sizeof(no[0]); i++) {
		F.drained[0] = '\0';
		fn->name->flags = UP | no[i];
		snapshot(1000);
		assert_string_equal(F.drained, "");
		assert_int_equal(roll()->stage, ROLL_ROLLING);
	}
	fn->name->flags = UP;
	snapshot(1000);
	assert_string_equal(F.drained, "c2 ");
}

/* F58: slurmctld has the node on the newer machine. */
static void test_an_older_machine_of_a_node_is_not_the_node(void **state)
{
	struct node n;

	(void)state;
	n = add(2, "a")->n;
	n.gen = 2;
	n.state = NODE_BOOTING;
	(void)snprintf(n.image, sizeof(n.image), "b");
	(void)fleet_add(&F.e.fleet, &n);
	roll_out();
	assert_string_equal(F.drained, "");
}

/* Each snapshot is looked at once, and each new one. */
static void test_nothing_is_done_without_a_new_snapshot(void **state)
{
	unsigned commits;

	(void)state;
	(void)add(2, "a");
	roll_out();
	commits = F.commits;
	rolls_part.at[PART_RUN](&F.e);
	assert_int_equal(F.commits, commits);
	snapshot(1);
	assert_int_equal(F.commits, commits + 1);
}

static void test_after_a_stop_the_new_ones_go(void **state)
{
	size_t n;

	(void)state;
	(void)add(2, "a");
	(void)add(1, "b");
	begin();
	assert_int_equal(engine_image_order(&F.e, "h100", true, "uid 7", &n, NULL), 0);
	assert_int_equal(n, 1);
	assert_string_equal(F.detail, "pool h100: a -> b, ordered by uid 7");
	snapshot(1000);
	assert_string_equal(F.drained, "c1 ");
	goes(1);
	snapshot(1000);
	assert_int_equal(roll()->stage, ROLL_STOPPED); /* until somebody says otherwise */
	assert_int_equal(engine_image_order(&F.e, "h100", true, "uid 7", &n, NULL), 0);
	assert_int_equal(n, 0);
	reload("a");
	snapshot(1000);
	assert_int_equal(roll()->stage, ROLL_SETTLED); /* c8 has it */
}

static void test_a_circuit_that_opens_goes_back(void **state)
{
	(void)state;
	(void)add(2, "a");
	roll_out();
	F.open = true;
	snapshot(1000);
	assert_int_equal(roll()->stage, ROLL_STOPPED);
	assert_true(F.closed);
	assert_string_equal(roll()->why, "its machines come up wrong");
	assert_string_equal(roll_usual(roll()), "a");
}

/* What was known to work comes up wrong: that is for the circuit. */
static void test_a_circuit_that_opens_on_the_way_back_stays_open(void **state)
{
	(void)state;
	(void)add(2, "b");
	begin();
	reload("a");
	assert_int_equal(roll()->stage, ROLL_ROLLING);
	F.open = true;
	snapshot(1000);
	assert_int_equal(roll()->stage, ROLL_ROLLING);
	assert_false(F.closed);
}

static void test_what_people_read(void **state)
{
	struct engine_image i;

	(void)state;
	(void)add(1, "b");
	(void)add(2, "a");
	add(3, "a")->n.release = true;
	begin();
	assert_true(engine_image(&F.e, 0, "", &i));
	assert_int_equal(i.with_next, 1);
	assert_int_equal(i.with_others, 2);
	assert_int_equal(i.untried, 1);
	assert_ptr_equal(i.roll, roll());
	assert_false(engine_image(&F.e, 0, "west", &i));
	assert_int_equal(
		engine_image_order(&F.e, "a100", true, "root", &(size_t){0}, &(struct err){0}), -1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_idle_ones_go_a_few_at_a_time),
		TEST(test_those_on_their_way_count),
		TEST(test_busy_ones_have_a_bound_of_their_own),
		TEST(test_warm_ones_go_one_after_the_other),
		TEST(test_not_all_warm_ones_go_at_once),
		TEST(test_warm_ones_that_cannot_be_had_hold_nothing_up),
		TEST(test_another_offers_counts_in_a_warm_pool),
		TEST(test_what_was_given_up_goes_while_another_is_tried),
		TEST(test_a_quarantined_one_holds_nothing_up),
		TEST(test_what_is_not_ours_to_take_stays),
		TEST(test_an_older_machine_of_a_node_is_not_the_node),
		TEST(test_nothing_is_done_without_a_new_snapshot),
		TEST(test_after_a_stop_the_new_ones_go),
		TEST(test_a_circuit_that_opens_goes_back),
		TEST(test_a_circuit_that_opens_on_the_way_back_stays_open),
		TEST(test_what_people_read),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
