/* observe.c: which instance of a node stays when the journal is an older one (F58) or a provider
 * made two (I3), and when slurmctld's address of a node is set right. */
#include "buy/buy.h"
#include "cloud/cloud.h"
#include "diff/diff.h"
#include "jobs/jobs.h"
#include "listed_engine.h"

static bool is_deleting(const struct fix *f, const char *id)
{
	const struct fleet_node *fn = f->e->fleet.states[NODE_DELETING];

	while (fn != NULL && strcmp(fn->n.instance, id) != 0)
		fn = fn->state_next;
	return fn != NULL;
}

/* --- which one stays ---------------------------------------------------------------------------
 */

static const struct {
	const char *what;
	enum node_state row; /* the journal's, of the first instance */
	const char *state, *place;
	struct shown ours, other;
	bool hidden; /* the list does not show ours */
	bool other_stays;
	bool stray; /* the one that goes has no row */
} cases[] = {
	{"restored, and slurmctld has the node at a younger one's address",
	 NODE_READY,
	 "IDLE+CLOUD",
	 "NodeAddr=10.0.0.3",
	 {"i-1", 5, "10.0.0.1", PROVIDER_RUNNING},
	 {"i-3", 7, "10.0.0.3", PROVIDER_RUNNING},
	 true,
	 true,
	 false},
	{"the same, both in the list",
	 NODE_READY,
	 "ALLOCATED+CLOUD",
	 "NodeAddr=10.0.0.3",
	 {"i-1", 5, "10.0.0.1", PROVIDER_RUNNING},
	 {"i-3", 7, "10.0.0.3", PROVIDER_RUNNING},
	 false,
	 true,
	 false},
	{"slurmd says which instance it is on, whatever the address",
	 NODE_READY,
	 "IDLE+CLOUD",
	 "NodeAddr=10.0.0.1 InstanceId=i-3",
	 {"i-1", 5, "10.0.0.1", PROVIDER_RUNNING},
	 {"i-3", 7, "10.0.0.3", PROVIDER_RUNNING},
	 false,
	 true,
	 false},
	{"it is on ours",
	 NODE_READY,
	 "IDLE+CLOUD",
	 "NodeAddr=10.0.0.1",
	 {"i-1", 5, "10.0.0.1", PROVIDER_RUNNING},
	 {"i-3", 7, "10.0.0.3", PROVIDER_RUNNING},
	 false,
	 false,
	 false},
	{"it is on ours, says slurmd",
	 NODE_READY,
	 "IDLE+CLOUD",
	 "NodeAddr=c1 InstanceId=i-1",
	 {"i-1", 5, "10.0.0.1", PROVIDER_RUNNING},
	 {"i-3", 7, "10.0.0.3", PROVIDER_RUNNING},
	 false,
	 false,
	 false},
	{"the address is ours, but only by the journal",
	 NODE_READY,
	 "IDLE+CLOUD",
	 "NodeAddr=10.0.0.1",
	 {"i-1", 5, "10.0.0.1", PROVIDER_RUNNING},
	 {"i-3", 7, "10.0.0.3", PROVIDER_RUNNING},
	 true,
	 true,
	 false},
	{"no address says where: a younger one was bought later",
	 NODE_READY,
	 "IDLE+CLOUD",
	 "NodeAddr=c1",
	 {"i-1", 5, "10.0.0.1", PROVIDER_RUNNING},
	 {"i-3", 7, "", PROVIDER_PENDING},
	 true,
	 true,
	 false},
	{"powering up: likewise",
	 NODE_BOOTING,
	 "ALLOCATED+CLOUD+POWERING_UP",
	 "NodeAddr=c1",
	 {"i-1", 5, "10.0.0.1", PROVIDER_RUNNING},
	 {"i-3", 7, "", PROVIDER_PENDING},
	 true,
	 true,
	 false},
	{"a younger one that is on its way out",
	 NODE_BOOTING,
	 "ALLOCATED+CLOUD+POWERING_UP",
	 "NodeAddr=c1",
	 {"i-1", 5, "10.0.0.1", PROVIDER_RUNNING},
	 {"i-3", 7, "10.0.0.3", PROVIDER_STOPPING},
	 false,
	 false,
	 false},
	{"an older one has ended, though the node has its address (F14)",
	 NODE_READY,
	 "IDLE+CLOUD",
	 "NodeAddr=10.0.0.3",
	 {"i-1", 5, "10.0.0.1", PROVIDER_RUNNING},
	 {"i-3", 4, "10.0.0.3", PROVIDER_RUNNING},
	 false,
	 false,
	 false},
	{"nothing was sent for ours, and the node is up",
	 NODE_WANTED,
	 "IDLE+CLOUD",
	 "NodeAddr=c1",
	 {"", 5, "", PROVIDER_UNKNOWN},
	 {"i-3", 4, "10.0.0.3", PROVIDER_RUNNING},
	 true,
	 true,
	 false},
	{"the node is down: the other goes",
	 NODE_READY,
	 "IDLE+CLOUD+POWERED_DOWN",
	 "NodeAddr=10.0.0.3",
	 {"i-1", 5, "10.0.0.1", PROVIDER_RUNNING},
	 {"i-3", 7, "10.0.0.3", PROVIDER_RUNNING},
	 false,
	 false,
	 false},
	{"two of one generation: the node is on the other (I3)",
	 NODE_READY,
	 "IDLE+CLOUD",
	 "NodeAddr=10.0.0.3",
	 {"i-1", 5, "10.0.0.1", PROVIDER_RUNNING},
	 {"i-3", 5, "10.0.0.3", PROVIDER_RUNNING},
	 false,
	 true,
	 false},
	{"two of one generation: the node is on ours (I3)",
	 NODE_READY,
	 "IDLE+CLOUD",
	 "NodeAddr=10.0.0.1",
	 {"i-1", 5, "10.0.0.1", PROVIDER_RUNNING},
	 {"i-3", 5, "10.0.0.3", PROVIDER_RUNNING},
	 false,
	 false,
	 true},
	{"two of one generation, and nobody can say (I3)",
	 NODE_BOOTING,
	 "ALLOCATED+CLOUD+POWERING_UP",
	 "NodeAddr=10.0.0.3",
	 {"i-1", 5, "10.0.0.1", PROVIDER_RUNNING},
	 {"i-3", 5, "10.0.0.3", PROVIDER_RUNNING},
	 false,
	 false,
	 true},
	{"one address, two spellings",
	 NODE_READY,
	 "IDLE+CLOUD",
	 "NodeAddr=2001:DB8:0:0::1",
	 {"i-1", 5, "2001:db8::1", PROVIDER_RUNNING},
	 {"i-3", 7, "2001:db8::3", PROVIDER_RUNNING},
	 false,
	 false,
	 false},
};

static void test_which_stays(void **state)
{
	struct fix *f = *state;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const struct shown both[] = {cases[i].other, cases[i].ours};
		bool down = strstr(cases[i].state, "POWERED_DOWN") != NULL;
		bool sent = cases[i].row != NODE_WANTED;
		const char *want;

		load(f, cases[i].row, &cases[i].ours);
		show(f, cases[i].state, cases[i].place);
		list(f, both, cases[i].hidden ? 1 : 2);
		want = down ? "none" : cases[i].other_stays ? "i-3" : "i-1";
		if (strcmp(kept(f), want) != 0)
			fail_msg("%s: %s stays, not %s", cases[i].what, kept(f), want);
		if (cases[i].other_stays)
			assert_int_equal(state_of(f), strstr(cases[i].state, "POWERING_UP") != NULL
							      ? NODE_BOOTING
							      : NODE_READY);
		if (cases[i].stray)
			assert_true(is_stray(f, "i-3"));
		else if (cases[i].other_stays && sent)
			assert_true(is_deleting(f, "i-1"));
		else if (!cases[i].other_stays)
			assert_true(is_deleting(f, "i-3"));
		assert_int_equal(f->e->cloud->all[0].nstrays, cases[i].stray);
	}
}

/* I18: a node was refused for want of a place, and before squeue says which job that is, a list
 * shows the instance it has. */
static void test_what_is_found_is_not_refused(void **state)
{
	static const struct shown gone = {"i-1", 5, "10.0.0.1", PROVIDER_RUNNING};
	static const struct shown found = {"i-3", 7, "10.0.0.3", PROVIDER_RUNNING};
	static const char jobs[] = "7|7|CONFIGURING|gpu||c1\n";
	struct fix *f = *state;

	load(f, NODE_DELETING, &gone);
	show(f, "ALLOCATED+CLOUD+POWERING_UP", "NodeAddr=c1");
	refuse_mark(f->e, fleet_find(&f->e->fleet, "c1"), NODE_BECAUSE_LIMIT, NULL);
	list(f, &found, 1);
	refuse_part.squeue_says(f->e, jobs, sizeof(jobs) - 1, NULL);
	engine_commit(f->e);
	assert_string_equal(kept(f), "i-3");
	assert_int_equal(fleet_find(&f->e->fleet, "c1")->refused, NODE_BECAUSE_NONE);
}

/* One that is on its way out is no reason to go on: its job goes back into the queue. */
static void test_what_is_found_dying_stays_refused(void **state)
{
	static const struct shown gone = {"i-1", 5, "10.0.0.1", PROVIDER_RUNNING};
	static const struct shown found = {"i-3", 7, "10.0.0.3", PROVIDER_STOPPING};
	struct fix *f = *state;

	load(f, NODE_DELETING, &gone);
	show(f, "ALLOCATED+CLOUD+POWERING_UP", "NodeAddr=c1");
	refuse_mark(f->e, fleet_find(&f->e->fleet, "c1"), NODE_BECAUSE_LIMIT, NULL);
	list(f, &found, 1);
	assert_int_equal(fleet_find(&f->e->fleet, "c1")->refused, NODE_BECAUSE_LIMIT);
}

/* Before slurmctld has said anything since the start nothing is decided. */
static void test_no_snapshot(void **state)
{
	static const struct shown ours = {"i-1", 5, "10.0.0.1", PROVIDER_RUNNING};
	static const struct shown both[] = {{"i-3", 7, "10.0.0.3", PROVIDER_RUNNING},
					    {"i-4", 5, "10.0.0.4", PROVIDER_RUNNING}};
	struct fix *f = *state;

	load(f, NODE_READY, &ours);
	list(f, both, 2);
	assert_true(f->e->cloud->all[0].unsure);
	/* what is wanted before it is placed shall be its row */
	assert_int_equal(fleet_find(&f->e->fleet, "c1")->last_gen, 5);
	assert_string_equal(kept(f), "i-1");
	assert_null(f->e->fleet.states[NODE_DELETING]);
	assert_int_equal(f->e->cloud->all[0].nstrays, 0);
}

/* F49: what was read of it before it broke is of no other snapshot. */
static void test_a_broken_snapshot_leaves_nothing_for_the_next(void **state)
{
	static const char off[] = "NodeName=c1 State=IDLE+CLOUD+POWERED_DOWN\n";
	static const struct shown ours = {"i-1", 5, "10.0.0.1", PROVIDER_RUNNING};
	const struct err broken = {.code = ERR_INVALID, .msg = "scontrol: output cut short"};
	struct fix *f = *state;

	load(f, NODE_READY, &ours);
	assert_int_equal(slurm_parse_nodes(off, sizeof(off) - 1, observe_node, f->e, NULL), 1);
	observe_snapshot(f->e, loop_now(f->loop), &broken);
	assert_string_equal(f->e->poll.error, broken.msg);
	assert_true(f->e->poll.snapshot_ms == 0);
	show(f, "ALLOCATED+CLOUD", "NodeAddr=10.0.0.1");
	assert_true((fleet_find(&f->e->fleet, "c1")->flags & SLURM_POWERED_DOWN) == 0);
	assert_non_null(f->e->fleet.states[NODE_READY]);
	assert_string_equal(f->e->poll.error, "");
}

/* A reload may take a node out of its pool while a snapshot is read. */
static void test_a_node_that_nobody_names_any_more_is_left_alone(void **state)
{
	static const char text[] = "NodeName=c1 State=ALLOCATED+CLOUD+POWERING_UP\n";
	struct fix *f = *state;

	assert_int_equal(load_conf(f, make_conf(), NULL), 0);
	assert_int_equal(slurm_parse_nodes(text, sizeof(text) - 1, observe_node, f->e, NULL), 1);
	fleet_find(&f->e->fleet, "c1")->listed = false;
	observe_snapshot(f->e, loop_now(f->loop), NULL);
	assert_null(f->e->buy->wanted);
	assert_int_equal(fleet_find(&f->e->fleet, "c1")->flags & SLURM_POWERING_UP, 0);
}

/* I18: but for one that has an instance: a job may be at work on it. */
static void test_what_was_bought_is_looked_at_though_nobody_names_its_node(void **state)
{
	static const struct shown ours = {"i-1", 5, "10.0.0.1", PROVIDER_RUNNING};
	struct fix *f = *state;

	load(f, NODE_READY, &ours);
	fleet_find(&f->e->fleet, "c1")->listed = false;
	show(f, "ALLOCATED+CLOUD", "NodeAddr=10.0.0.1");
	assert_int_equal(fleet_find(&f->e->fleet, "c1")->missing_ms, 0);
	assert_true((fleet_find(&f->e->fleet, "c1")->flags & SLURM_ALLOCATED) != 0);
}

/* I12, F51: the wrong slurm.conf may be in force for a while. */
static void test_of_many_nodes_that_vanish_few_go_at_once(void **state)
{
	static const char other[] = "NodeName=x1 State=IDLE+CLOUD\n";
	struct fix *f = *state;
	struct conf *c = one_pool("c[1-8]", 8);
	int64_t began;

	assert_int_equal(conf_finish(c, NULL), 0);
	assert_int_equal(load_conf(f, c, NULL), 0);
	began = loop_now(f->loop);
	for (int i = 1; i <= 8; i++) {
		struct node n;

		make_ready(f, i, &n);
		(void)engine_insert(f->e, &n, "test");
	}
	engine_commit(f->e);
	fleet_find(&f->e->fleet, "c8")->barred = true;
	for (unsigned look = 0; look < 3; look++) {
		assert_int_equal(
			slurm_parse_nodes(other, sizeof(other) - 1, observe_node, f->e, NULL), 1);
		observe_snapshot(f->e, began + look * DRIFT_VANISHED_MS, NULL);
		assert_int_equal(f->e->fleet.pools[0].count[NODE_DELETING], look * DRIFT_BRAKE_MIN);
	}
	/* When slurmctld has it again, and wants it, that is another job. */
	assert_false(fleet_find(&f->e->fleet, "c8")->barred);
}

/* --- addresses ---------------------------------------------------------------------------------
 */

static bool is_updating(const struct fix *f)
{
	return slurm_settled_ms(f->e->slurm) == INT64_MAX;
}

/* F49, F58: an address from the journal alone is not told to slurmctld. */
static void test_address(void **state)
{
	static const struct shown ours = {"i-1", 5, "10.0.0.1", PROVIDER_RUNNING};
	struct fix *f = *state;

	load(f, NODE_READY, &ours);
	show(f, "IDLE+CLOUD", "NodeAddr=c1");
	assert_false(is_updating(f));
	show(f, "IDLE+CLOUD", "NodeAddr=10.0.0.9");
	assert_false(is_updating(f));
	list(f, NULL, 0);
	show(f, "IDLE+CLOUD", "NodeAddr=10.0.0.9");
	assert_false(is_updating(f));
	list(f, &ours, 1);
	assert_false(is_updating(f));
	show(f, "IDLE+CLOUD", "NodeAddr=10.0.0.1");
	assert_false(is_updating(f));
	show(f, "IDLE+CLOUD", "NodeAddr=c1");
	assert_true(is_updating(f));
}

/* F26, F50: slurmctld has forgotten where a node is that works, and its provider is away: a minute
 * after the start the journal's word is enough, where it is no older copy (F58). */
static void test_address_from_the_journal_alone(void **state)
{
	static const struct {
		const char *what, *place;
		int64_t since_ms;
		bool listed, doubtful, told;
	} rows[] = {
		{"no list has come for a minute", "NodeAddr=c1", 60000, false, false, true},
		{"one may come in a moment", "NodeAddr=c1", 50000, false, false, false},
		{"one has come, and does not have it", "NodeAddr=c1", 60000, true, false, false},
		{"the journal is an older copy", "NodeAddr=c1", 60000, false, true, false},
		{"slurmctld has it elsewhere", "NodeAddr=10.0.0.9", 60000, false, false, false},
	};
	static const struct shown ours = {"i-1", 5, "10.0.0.1", PROVIDER_RUNNING};
	struct fix *f = *state;

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		load(f, NODE_READY, &ours);
		f->e->started_ms = engine_now(f->e) - rows[i].since_ms;
		f->e->cloud->all[0].listed = rows[i].listed;
		f->e->cloud->doubtful = rows[i].doubtful;
		show(f, "IDLE+CLOUD", rows[i].place);
		if (is_updating(f) != rows[i].told)
			fail_msg("%s", rows[i].what);
	}
}

/* By the provider's clock, not by ours; what is found is no exception. */
static void test_when_an_instance_was_made_is_kept_as_its_provider_says(void **state)
{
	static const struct shown ours = {"i-1", 5, "10.0.0.1", PROVIDER_RUNNING};
	static const struct shown found = {"i-3", 7, "10.0.0.3", PROVIDER_RUNNING};
	struct fix *f = *state;

	load(f, NODE_DELETING, &ours);
	f->e->cloud->all[0].dated = true; /* else its clock is this machine's, which may be set */
	assert_int_equal(fleet_find(&f->e->fleet, "c1")->newest->said_ms, 0);
	f->created_ms = INT64_C(4102444800000); /* long after all that we have seen */
	list(f, &ours, 1);
	assert_int_equal(fleet_find(&f->e->fleet, "c1")->newest->said_ms, f->created_ms);
	f->created_ms = 0; /* it forgets to say so */
	list(f, &ours, 1);
	assert_int_equal(fleet_find(&f->e->fleet, "c1")->newest->said_ms, 4102444800000);
	f->created_ms = 4711;
	show(f, "ALLOCATED+CLOUD+POWERING_UP", "NodeAddr=c1");
	list(f, &found, 1);
	assert_string_equal(fleet_find(&f->e->fleet, "c1")->newest->n.instance, "i-3");
	assert_int_equal(fleet_find(&f->e->fleet, "c1")->newest->said_ms, 4711);
}

/* A list has shown ours since slurmctld has the other address, so nothing of ours is there. */
static void test_address_elsewhere(void **state)
{
	static const struct shown ours = {"i-1", 5, "10.0.0.1", PROVIDER_RUNNING};
	struct fix *f = *state;

	load(f, NODE_READY, &ours);
	list(f, &ours, 1);
	usleep(5000);
	show(f, "IDLE+CLOUD", "NodeAddr=10.0.0.9");
	assert_false(is_updating(f));
	list(f, &ours, 1);
	usleep(5000); /* it is there since the first of these */
	show(f, "IDLE+CLOUD", "NodeAddr=10.0.0.9");
	assert_true(is_updating(f));
}

/* F51: one snapshot that lacks it, by a slurm.conf that was wrong for a while, must not keep it
 * from being bought for good. */
static void test_a_node_that_is_shown_again_is_not_missing(void **state)
{
	static const char other[] = "NodeName=c2 State=IDLE+CLOUD+POWERED_DOWN\n";
	static const struct shown none = {"", 5, "", PROVIDER_UNKNOWN};
	struct fix *f = *state;
	struct fleet_name *nm;

	load(f, NODE_GONE, &none);
	nm = fleet_find(&f->e->fleet, "c1");
	assert_int_equal(slurm_parse_nodes(other, sizeof(other) - 1, observe_node, f->e, NULL), 1);
	observe_snapshot(f->e, loop_now(f->loop), NULL);
	assert_int_not_equal(nm->missing_ms, 0);
	nm->tried = 1;
	nm->useless_ms = 1;
	f->e->fleet.wake_ms = INT64_MAX;
	show(f, "IDLE+CLOUD+POWERED_DOWN", "NodeAddr=c1");
	assert_int_equal(nm->missing_ms, 0);
	/* It is not wanted: when it is again, all places are asked, and it is another job's. */
	assert_int_equal(nm->tried, 0);
	assert_int_equal(nm->useless_ms, 0);
	assert_true(f->e->fleet.wake_ms <= loop_now(f->loop)); /* what waited for a snapshot */
}

/* --- reasons -----------------------------------------------------------------------------------
 */

static void test_whose_a_reason_is(void **state)
{
	static const struct {
		const char *state, *rest;
		bool by_admin;
	} rows[] = {
		{"IDLE+CLOUD+DRAIN+POWERING_UP", "NodeAddr=c1 Reason=admin: fan [root@now]", true},
		{"IDLE+CLOUD+DRAIN", "NodeAddr=c1 Reason=burst pipe [root@now]", true},
		{"IDLE+CLOUD+FAIL", "NodeAddr=c1 Reason=disk [root@now]", true},
		{"IDLE+CLOUD+DRAIN", "NodeAddr=c1 Reason=burstd: drained [slurm@now]", false},
		{"DOWN+CLOUD+DRAIN", "NodeAddr=c1 Reason=ResumeTimeout reached [slurm@now]", false},
		{"IDLE+CLOUD", "NodeAddr=c1 Reason=admin: was once [root@now]", false},
		{"IDLE+CLOUD+DRAIN", "NodeAddr=c1", false},
	};
	static const struct shown ours = {"i-1", 5, "10.0.0.1", PROVIDER_RUNNING};
	struct fix *f = *state;

	load(f, NODE_READY, &ours);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		show(f, rows[i].state, rows[i].rest);
		if (fleet_find(&f->e->fleet, "c1")->by_admin != rows[i].by_admin)
			fail_msg("%s %s", rows[i].state, rows[i].rest);
	}
}

/* --- what was wanted before the start -----------------------------------------------------------
 */

/* F47: how old the wish is nobody knows: slurmctld must have said something since. */
static void test_wanted_before_the_start(void **state)
{
	static const struct shown ours = {"", 5, "", PROVIDER_UNKNOWN};
	struct fix *f = *state;

	load(f, NODE_WANTED, &ours);
	f->e->cloud->all[0].listed = true;
	f->e->fleet.states[NODE_WANTED]->n.wake_ms = 0;
	launch_part.at[PART_RUN](f->e);
	assert_non_null(f->e->fleet.states[NODE_WANTED]);
	show(f, "ALLOCATED+CLOUD+POWERING_UP", "NodeAddr=c1");
	launch_part.at[PART_RUN](f->e); /* it goes out, or would, if there were anybody to ask */
	assert_null(f->e->fleet.states[NODE_WANTED]);
}

/* --- a reload ----------------------------------------------------------------------------------
 */

/* What requests on the wire may name is kept until they are answered, and no longer. */
static void test_old_configurations(void **state)
{
	static const struct shown ours = {"i-1", 5, "10.0.0.1", PROVIDER_RUNNING};
	struct fix *f = *state;

	load(f, NODE_READY, &ours);
	engine_start(f->e);
	assert_non_null(f->e->cloud->requests);
	assert_int_equal(engine_reload(f->e, make_conf(), NULL), 0);
	assert_int_equal(engine_reload(f->e, make_conf(), NULL), 0);
	assert_int_equal(f->e->nold, 2);
	cloud_fail_unsent(f->e);
	assert_null(f->e->cloud->requests);
	engine_turn(f->e);
	assert_int_equal(f->e->nold, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_which_stays, setup, teardown),
		cmocka_unit_test_setup_teardown(test_what_is_found_is_not_refused, setup, teardown),
		cmocka_unit_test_setup_teardown(test_what_is_found_dying_stays_refused, setup,
						teardown),
		cmocka_unit_test_setup_teardown(test_no_snapshot, setup, teardown),
		cmocka_unit_test_setup_teardown(test_a_broken_snapshot_leaves_nothing_for_the_next,
						setup, teardown),
		cmocka_unit_test_setup_teardown(
			test_a_node_that_nobody_names_any_more_is_left_alone, setup, teardown),
		cmocka_unit_test_setup_teardown(test_address, setup, teardown),
		cmocka_unit_test_setup_teardown(test_address_from_the_journal_alone, setup,
						teardown),
		cmocka_unit_test_setup_teardown(
			test_when_an_instance_was_made_is_kept_as_its_provider_says, setup,
			teardown),
		cmocka_unit_test_setup_teardown(test_address_elsewhere, setup, teardown),
		cmocka_unit_test_setup_teardown(
			test_what_was_bought_is_looked_at_though_nobody_names_its_node, setup,
			teardown),
		cmocka_unit_test_setup_teardown(test_of_many_nodes_that_vanish_few_go_at_once,
						setup, teardown),
		cmocka_unit_test_setup_teardown(test_a_node_that_is_shown_again_is_not_missing,
						setup, teardown),
		cmocka_unit_test_setup_teardown(test_whose_a_reason_is, setup, teardown),
		cmocka_unit_test_setup_teardown(test_wanted_before_the_start, setup, teardown),
		cmocka_unit_test_setup_teardown(test_old_configurations, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
