/* test_rolls.c - new images, from the snapshots of slurmctld and the ends of machines: who is a
 * canary, and what it shows.  test_rolls_replace.c has who is replaced. */
#include "core/conf_option.h"
#include "rolls_lab.h"

/* --- what is wanted ----------------------------------------------------------------------------
 */

static void test_the_first_image_is_written_down(void **state)
{
	(void)state;
	assert_int_equal(F.puts, 1);
	assert_string_equal(F.put.pool, "h100");
	assert_string_equal(F.put.offer, "");
	assert_string_equal(F.put.r.old, "a");
	assert_string_equal(F.event, ""); /* nobody asked for anything */
	reload("a");
	assert_int_equal(F.puts, 1);
	begin();
	assert_int_equal(F.puts, 2);
	assert_int_equal(F.put.r.stage, ROLL_CANARY);
}

/* It may be changed while burstd does not run, too. */
static void test_a_restart_with_another_image_is_as_a_reload(void **state)
{
	const struct journal_roll had = F.put;

	(void)state;
	rolls_free(&F.e);
	F.e.buy->rolls = NULL;
	F.e.buy->nrolls = 0;
	rolls_load(&F.e, &had);
	begin();
}

static void test_a_driver_without_images_has_no_roll(void **state)
{
	struct engine_image out;
	struct fleet_node *fn = add(1, "");
	size_t n = 3;
	struct err err;

	(void)state;
	rolls_free(&F.e);
	F.e.buy->rolls = NULL;
	F.e.buy->nrolls = 0;
	F.cloud.caps.flags = 0;
	reload("b");
	assert_false(engine_image(&F.e, 0, "", &out));
	assert_string_equal(choose(fn, false, &n), "");
	assert_int_equal(n, 3);
	assert_int_equal(rolls_part.open(&F.e, &err), -1);
	assert_non_null(strstr(err.msg, "pool \"h100\": image: driver test names none"));
	assert_int_equal(rolls_part.may_reload(&F.e, &F.conf, &err), -1);
	F.image[0] = '\0';
	assert_int_equal(rolls_part.open(&F.e, &err), 0);
}

/* What is not known of a provider that is off now is asked again. */
static void test_a_provider_that_comes_back_has_its_roll(void **state)
{
	(void)state;
	rolls_free(&F.e);
	F.e.buy->rolls = NULL;
	F.e.buy->nrolls = 0;
	(void)snprintf(F.cloud.off, sizeof(F.cloud.off), "no credential");
	reload("b");
	assert_null(roll());
	F.cloud.off[0] = '\0';
	assert_int_equal(rolls_part.may_use(&F.e, 0, NULL), 0);
	rolls_part.at[PART_RUN](&F.e);
	assert_non_null(roll());
}

struct own {
	const char *image;
};

/* The offer's is before the pool's, and that before its provider's. */
static void test_where_the_image_is_said(void **state)
{
	static const struct conf_option options[] = {
		{"provider", "image", "", "", true, CONF_TEXT, 0, 0, offsetof(struct own, image)}};
	static const struct conf_driver driver = {
		.name = "test", .options = options, .noptions = 1, .size = sizeof(struct own)};
	static char offers[] = "of-the-offer";
	struct own was = {"of-the-provider"}, is = {""};
	struct conf next = F.conf;
	struct conf_provider changed;
	struct err err;

	(void)state;
	F.provider.own_options = &driver;
	F.provider.own = &was;
	assert_string_equal(conf_image(&F.conf, &F.pool, &F.pool.own), "a");
	F.pool.own.image = offers;
	assert_string_equal(conf_image(&F.conf, &F.pool, &F.pool.own), "of-the-offer");
	F.pool.own.image = NULL;
	F.image[0] = '\0';
	assert_string_equal(conf_image(&F.conf, &F.pool, &F.pool.own), "of-the-provider");
	reload("");
	assert_string_equal(roll()->next, "of-the-provider");
	assert_int_equal(roll()->stage, ROLL_CANARY);
	/* The driver has its own from the start, and takes it where a create names none. */
	changed = F.provider;
	changed.own = &is;
	next.providers = &changed;
	assert_int_equal(rolls_part.may_reload(&F.e, &next, &err), -1);
	assert_string_equal(err.msg, "provider \"cloud\" image: from or to none: a change needs a "
				     "restart");
	is.image = "another";
	assert_int_equal(rolls_part.may_reload(&F.e, &next, &err), 0);
	/* What the journal has no room for would be said to change, and would not. */
	was.image = "resolve:ssm:/aws/service/ami-amazon-linux-latest/al2023-ami-kernel-6.1-x86_64";
	assert_string_equal(conf_own_image(&F.provider), "");
	is.image = "resolve:ssm:/aws/service/ami-amazon-linux-latest/al2023-ami-kernel-6.2-x86_64";
	assert_int_equal(rolls_part.may_reload(&F.e, &next, &err), -1);
	assert_string_equal(err.msg, "provider \"cloud\" image: burstd rolls out no name of more "
				     "than 63 characters: a change needs a restart");
	is.image = was.image;
	assert_int_equal(rolls_part.may_reload(&F.e, &next, &err), 0);
}

/* --- canaries ----------------------------------------------------------------------------------
 */

static void test_only_so_many_are_canaries(void **state)
{
	struct fleet_node *fn = add(1, "a");
	size_t n = 5;

	(void)state;
	F.pool.image_canaries = 2;
	assert_string_equal(choose(fn, false, &n), "a");
	begin();
	assert_string_equal(choose(fn, false, &n), "b");
	assert_int_equal(n, 2);
	n = 3;
	assert_string_equal(choose(fn, true, &n), "a"); /* all in one create */
	assert_int_equal(n, 3);
	n = 2;
	assert_string_equal(choose(fn, true, &n), "b");
	(void)add(2, "b");
	n = 5;
	assert_string_equal(choose(fn, false, &n), "b");
	assert_int_equal(n, 1);
	add(3, "b")->n.state = NODE_READY;
	n = 5;
	assert_string_equal(choose(fn, false, &n), "a");
	assert_int_equal(n, 5);
}

/* I21: one that is being deleted, or that may exist, counts. */
static void test_a_canary_counts_until_it_is_gone(void **state)
{
	static const enum node_state may_exist[] = {NODE_CREATING,   NODE_INDOUBT,  NODE_BOOTING,
						    NODE_READY,      NODE_DRAINING, NODE_DELETING,
						    NODE_QUARANTINED};
	struct fleet_node *fn = add(1, "b");
	struct node n = fn->n;

	(void)state;
	begin();
	for (size_t i = 0; i < sizeof(may_exist) / sizeof(may_exist[0]); i++) {
		n.state = may_exist[i];
		fleet_set(&F.e.fleet, fn, &n);
		assert_int_equal(rolls_untried(&F.e, 0, ""), 1);
	}
	n.state = NODE_GONE;
	fleet_set(&F.e.fleet, fn, &n);
	assert_int_equal(rolls_untried(&F.e, 0, ""), 0);
}

static void test_a_job_that_ends_shows_that_it_works(void **state)
{
	struct fleet_node *fn = add(1, "b");

	(void)state;
	begin();
	snapshot(1000);
	fn->name->flags = UP | SLURM_ALLOCATED;
	snapshot(1000);
	assert_true(F.e.poll.moving); /* it is asked for each second: the job may be short */
	fn->name->flags = UP | SLURM_COMPLETING;
	snapshot(1000);
	assert_int_equal(roll()->stage, ROLL_CANARY);
	F.e.poll.moving = false;
	fn->name->flags = UP;
	snapshot(1000);
	assert_int_equal(roll()->stage, ROLL_ROLLING);
	assert_false(fn->n.canary);
	assert_false(F.e.poll.moving);
	assert_int_equal(F.put.r.stage, ROLL_ROLLING); /* with the row, in one commit */
}

/* It was allocated while it booted, and is idle as it is seen up. */
static void test_a_short_job_shows_it_too(void **state)
{
	struct fleet_node *fn = add(1, "b");
	struct node n = fn->n;

	(void)state;
	begin();
	n.state = NODE_BOOTING;
	fleet_set(&F.e.fleet, fn, &n);
	fn->name->flags = UP | SLURM_ALLOCATED | SLURM_POWERING_UP;
	snapshot(1000);
	assert_int_equal(roll()->stage, ROLL_CANARY);
	n.state = NODE_READY;
	fleet_set(&F.e.fleet, fn, &n);
	fn->name->flags = UP;
	snapshot(1000);
	assert_int_equal(roll()->stage, ROLL_ROLLING);
}

static void test_one_that_had_no_job_shows_nothing_yet(void **state)
{
	struct fleet_node *fn = add(1, "b"), *old = add(2, "a");

	(void)state;
	begin();
	old->name->flags = UP | SLURM_ALLOCATED;
	snapshot(1000);
	snapshot(1000);
	assert_int_equal(roll()->stage, ROLL_CANARY);
	assert_true(fn->n.canary);
}

static void test_time_shows_it_too(void **state)
{
	struct fleet_node *fn = add(1, "b");

	(void)state;
	begin();
	fn->n.since_ms = F.now;
	snapshot(599999);
	assert_int_equal(roll()->stage, ROLL_CANARY);
	fn->name->flags = UP | SLURM_ALLOCATED; /* a long job */
	snapshot(1);
	assert_int_equal(roll()->stage, ROLL_ROLLING);
}

static void test_one_canary_counts_once(void **state)
{
	(void)state;
	F.pool.image_canaries = 2;
	(void)add(1, "b");
	begin();
	snapshot(600000);
	assert_int_equal(roll()->passed, 1);
	snapshot(600000);
	assert_int_equal(roll()->stage, ROLL_CANARY);
	assert_int_equal(roll()->passed, 1);
	assert_int_equal(rolls_untried(&F.e, 0, ""), 0);
	(void)add(2, "b");
	snapshot(600000);
	assert_int_equal(roll()->stage, ROLL_ROLLING);
}

/* F48: a snapshot from before it was up says nothing of it. */
static void test_an_older_snapshot_shows_nothing(void **state)
{
	struct fleet_node *fn = add(1, "b");

	(void)state;
	begin();
	fn->name->flags = UP | SLURM_DOWN;
	fn->n.since_ms = F.now + 5000;
	snapshot(1000);
	assert_int_equal(roll()->stage, ROLL_CANARY);
	snapshot(5000);
	assert_int_equal(roll()->stage, ROLL_STOPPED);
}

static void test_one_that_is_not_well_shows_nothing(void **state)
{
	static const uint32_t ill[] = {SLURM_NOT_RESPONDING, SLURM_FAIL, SLURM_DRAIN,
				       SLURM_INVALID_REG, SLURM_POWERING_DOWN};
	struct fleet_node *fn = add(1, "b");

	(void)state;
	begin();
	for (size_t i = 0; i < sizeof(ill) / sizeof(ill[0]); i++) {
		fn->name->flags = UP | ill[i];
		snapshot(600000);
		assert_int_equal(roll()->stage, ROLL_CANARY);
	}
}

static void test_one_that_is_drained_or_down_stops_it(void **state)
{
	struct fleet_node *fn = add(1, "b");

	(void)state;
	begin();
	fn->name->flags = UP | SLURM_DRAIN;
	snapshot(1000); /* by burstd itself: an admin's drain, a reclaim, a budget */
	assert_int_equal(roll()->stage, ROLL_CANARY);
	fn->name->by_admin = true; /* by gpu-health, say */
	fn->name->insist.why = ENGINE_WHY_DRAINED;
	snapshot(1000); /* an order of burstd's own is on its way to it */
	assert_int_equal(roll()->stage, ROLL_CANARY);
	fn->name->insist.why = NULL;
	snapshot(1000);
	assert_int_equal(roll()->stage, ROLL_STOPPED);
	assert_string_equal(F.event, "image-stopped");
	assert_string_equal(F.detail, "pool h100: a -> b: c1 is drained");
	assert_int_equal(F.put.r.stage, ROLL_STOPPED);
	assert_int_equal(engine_image_order(&F.e, "h100", false, "root", &(size_t){0}, NULL), 0);
	fn->name->flags = UP | SLURM_DOWN;
	fn->name->by_admin = false;
	snapshot(1000);
	assert_int_equal(roll()->stage, ROLL_STOPPED);
	assert_string_equal(roll()->why, "c1 is down");
}

/* F41: a spot machine that is taken without a notice is silent first, and no list says so yet. */
static void test_a_spot_machine_that_is_taken_stops_nothing(void **state)
{
	struct fleet_node *fn = add(1, "b");

	(void)state;
	fn->n.market = PROVIDER_SPOT;
	begin();
	fn->name->flags = UP | SLURM_NOT_RESPONDING; /* silent: not down yet */
	fn->seen_ms = F.now;
	snapshot(1000);
	fn->name->flags = UP | SLURM_DOWN | SLURM_NOT_RESPONDING;
	snapshot(60000);
	assert_int_equal(roll()->stage, ROLL_CANARY);
	fn->name->flags = UP; /* it was the network */
	snapshot(1000);
	fn->name->flags = UP | SLURM_DOWN | SLURM_NOT_RESPONDING;
	fn->seen_ms = F.now;
	snapshot(1000);
	assert_int_equal(roll()->stage, ROLL_CANARY);
	fn->seen_ms = F.now + 1; /* a list that was begun since shows it: its slurmd has died */
	snapshot(1000);
	assert_int_equal(roll()->stage, ROLL_STOPPED);
}

/* What is down and not silent was set down. */
static void test_a_spot_machine_that_is_set_down_stops_it(void **state)
{
	struct fleet_node *fn = add(1, "b");

	(void)state;
	fn->n.market = PROVIDER_SPOT;
	begin();
	fn->name->flags = UP | SLURM_DRAIN;
	fn->name->by_admin = true;
	snapshot(1000);
	assert_int_equal(roll()->stage, ROLL_STOPPED);
}

static void test_fewer_canaries_are_enough(void **state)
{
	(void)state;
	F.pool.image_canaries = 3;
	(void)add(1, "b");
	begin();
	snapshot(600000);
	assert_int_equal(roll()->passed, 1);
	assert_int_equal(roll()->stage, ROLL_CANARY);
	F.pool.image_canaries = 1;
	reload("b");
	snapshot(1000);
	assert_int_equal(roll()->stage, ROLL_ROLLING);
	assert_int_equal(F.put.r.stage, ROLL_ROLLING);
	assert_string_equal(F.event, "image-rolling");
}

/* Others have shown since that its image works. */
static void test_a_canary_of_what_works_by_now_is_none(void **state)
{
	struct fleet_node *fn = add(1, "b");
	size_t n = 5;

	(void)state;
	begin();
	F.pool.image_canaries = 3;
	(void)add(2, "b");
	F.pool.image_canaries = 1;
	snapshot(600000);
	assert_int_equal(roll()->stage, ROLL_ROLLING);
	fn = fleet_find(&F.e.fleet, fn->n.canary ? "c1" : "c2")->newest;
	assert_true(fn->n.canary);
	reload("c");
	assert_string_equal(roll()->old, "b");
	assert_string_equal(rolls_choose(&F.e, &fn->n, false, &n).name, "c");
	assert_int_equal(n, 1);
}

/* --- ends --------------------------------------------------------------------------------------
 */

static void test_a_canary_that_comes_up_wrong_is_not_its_pools_fault(void **state)
{
	struct fleet_node *fn = add(1, "b"), *old = add(2, "a");

	(void)state;
	begin();
	assert_false(rolls_failed(&F.e, &old->n, "it did not register in time"));
	assert_int_equal(roll()->stage, ROLL_CANARY);
	assert_true(rolls_failed(&F.e, &fn->n, "it did not register in time"));
	assert_int_equal(roll()->stage, ROLL_STOPPED);
	assert_int_equal(F.rests, 1);
	assert_string_equal(roll()->why, "c1 came up wrong: it did not register in time");
	assert_true(rolls_failed(&F.e, &fn->n, "x")); /* the second canary: no circuit either */
	assert_string_equal(roll()->why, "c1 came up wrong: it did not register in time");
}

/* Whose image nobody wants any more says nothing of the next one, nor of the pool. */
static void test_a_canary_of_an_image_that_was_given_up(void **state)
{
	struct fleet_node *fn = add(1, "b");
	size_t n = 1;

	(void)state;
	begin();
	reload("c");
	assert_int_equal(roll()->stage, ROLL_CANARY);
	assert_string_equal(rolls_choose(&F.e, &fn->n, false, &n).name, "a"); /* it still is one */
	assert_true(rolls_failed(&F.e, &fn->n, "it did not register in time"));
	assert_int_equal(roll()->stage, ROLL_CANARY);
	snapshot(600000);
	assert_int_equal(roll()->passed, 0);
}

/* Once all machines get it, its failures are those of the pool. */
static void test_after_its_canaries_it_is_an_image_like_others(void **state)
{
	struct fleet_node *fn = add(1, "b");

	(void)state;
	begin();
	snapshot(600000);
	assert_false(rolls_failed(&F.e, &fn->n, "x"));
	assert_int_equal(roll()->stage, ROLL_ROLLING);
}

static void test_one_that_dies_stops_it(void **state)
{
	static const struct {
		enum node_state was, is;
		enum node_reason why;
		enum provider_market market;
		bool stops;
	} cases[] = {
		{NODE_BOOTING, NODE_DELETING, NODE_BECAUSE_STOPPED, PROVIDER_ON_DEMAND, true},
		{NODE_BOOTING, NODE_GONE, NODE_BECAUSE_STOPPED, PROVIDER_SPOT, true},
		{NODE_READY, NODE_GONE, NODE_BECAUSE_ENDED, PROVIDER_ON_DEMAND, true},
		{NODE_READY, NODE_GONE, NODE_BECAUSE_ENDED, PROVIDER_SPOT, false},
		{NODE_READY, NODE_GONE, NODE_BECAUSE_RECLAIMED, PROVIDER_ON_DEMAND, false},
		{NODE_READY, NODE_DELETING, NODE_BECAUSE_SUSPENDED, PROVIDER_ON_DEMAND, false},
		{NODE_BOOTING, NODE_DELETING, NODE_BECAUSE_OPERATOR, PROVIDER_ON_DEMAND, false},
		{NODE_BOOTING, NODE_READY, NODE_BECAUSE_NONE, PROVIDER_ON_DEMAND, false},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct node was, is;

		(void)teardown(state);
		(void)setup(state);
		begin();
		was = add(1, "b")->n;
		was.market = cases[i].market;
		was.state = cases[i].was;
		is = was;
		is.state = cases[i].is;
		is.reason = cases[i].why;
		rolls_look(&F.e, &was, &is, "words");
		assert_int_equal(roll()->stage, cases[i].stops ? ROLL_STOPPED : ROLL_CANARY);
	}
}

/* What burstd has released ends as it may. */
static void test_one_that_was_released_stops_nothing(void **state)
{
	struct node was, is;

	(void)state;
	was = add(1, "b")->n;
	was.release = true;
	begin();
	is = was;
	is.state = NODE_GONE;
	is.reason = NODE_BECAUSE_ENDED;
	rolls_look(&F.e, &was, &is, "");
	assert_int_equal(roll()->stage, ROLL_CANARY);
}

/* F57: the clock went back while burstd did not run. */
static void test_a_stage_did_not_begin_in_the_future(void **state)
{
	struct journal_roll had = F.put;

	(void)state;
	rolls_free(&F.e);
	F.e.buy->rolls = NULL;
	F.e.buy->nrolls = 0;
	had.r.since_ms = F.now + 1;
	rolls_load(&F.e, &had);
	assert_int_equal(roll()->since_ms, F.now);
}

/* One that has shown that it works has nothing more to show. */
static void test_one_that_has_worked_stops_nothing(void **state)
{
	struct node was, is;

	(void)state;
	F.pool.image_canaries = 2;
	was = add(1, "b")->n;
	was.canary = false;
	begin();
	is = was;
	is.state = NODE_GONE;
	is.reason = NODE_BECAUSE_ENDED;
	rolls_look(&F.e, &was, &is, "");
	assert_false(rolls_failed(&F.e, &is, ""));
	assert_int_equal(roll()->stage, ROLL_CANARY);
}

static void test_a_refused_image_stops_it(void **state)
{
	struct fleet_node *fn = add(1, "");

	(void)state;
	begin();
	rolls_refused(&F.e, &fn->n, "c", "no such image"); /* given up meanwhile */
	assert_int_equal(roll()->stage, ROLL_CANARY);
	rolls_refused(&F.e, &fn->n, "b", "no such image");
	assert_string_equal(roll()->why, "the purchase of c1 with it is refused: no such image");
	assert_int_equal(roll()->stage, ROLL_STOPPED);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_the_first_image_is_written_down),
		TEST(test_a_restart_with_another_image_is_as_a_reload),
		TEST(test_a_driver_without_images_has_no_roll),
		TEST(test_a_provider_that_comes_back_has_its_roll),
		TEST(test_where_the_image_is_said),
		TEST(test_only_so_many_are_canaries),
		TEST(test_a_canary_counts_until_it_is_gone),
		TEST(test_a_job_that_ends_shows_that_it_works),
		TEST(test_a_short_job_shows_it_too),
		TEST(test_one_that_had_no_job_shows_nothing_yet),
		TEST(test_time_shows_it_too),
		TEST(test_one_canary_counts_once),
		TEST(test_an_older_snapshot_shows_nothing),
		TEST(test_one_that_is_not_well_shows_nothing),
		TEST(test_one_that_is_drained_or_down_stops_it),
		TEST(test_a_spot_machine_that_is_taken_stops_nothing),
		TEST(test_a_spot_machine_that_is_set_down_stops_it),
		TEST(test_fewer_canaries_are_enough),
		TEST(test_a_canary_of_what_works_by_now_is_none),
		TEST(test_a_canary_that_comes_up_wrong_is_not_its_pools_fault),
		TEST(test_a_canary_of_an_image_that_was_given_up),
		TEST(test_after_its_canaries_it_is_an_image_like_others),
		TEST(test_one_that_dies_stops_it),
		TEST(test_one_that_was_released_stops_nothing),
		TEST(test_a_stage_did_not_begin_in_the_future),
		TEST(test_one_that_has_worked_stops_nothing),
		TEST(test_a_refused_image_stops_it),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
