/* insist.c: an order that slurmctld did not take, forgot or refused is given again. */
#include "ordered_engine.h"

#include <sys/stat.h>
#include <unistd.h>
#include <uv.h>

#include "jobs/jobs.h"
#include "loaded_engine.h"
#include "store/journal_audit.h"

static bool is_given(struct fix *f)
{
	bool given;

	f->e->jobs->runs++;
	rescue_jobs(f->e, "", 0, NULL); /* no job is there */
	given = audit_part.record(f->e);
	engine_commit(f->e);
	return given;
}

/* scontrol fails, and says why. */
static void all_fail(struct fix *f, const char *words)
{
	struct fleet_name *nm = fleet_find(&f->e->fleet, "c1");
	char path[96];
	FILE *script;

	(void)snprintf(path, sizeof(path), "%s/scontrol", f->dir);
	script = fopen(path, "w");
	assert_non_null(script);
	(void)fprintf(script, "#!/bin/sh\necho 'slurm_update error: %s' >&2\nexit 1\n", words);
	assert_int_equal(fclose(script), 0);
	assert_int_equal(chmod(path, 0700), 0);
	slurm_configure(f->e->slurm, f->dir, NULL);
	slurm_flush(f->e->slurm);
	while (nm->insist.lost_ms == 0 || slurm_settled_ms(f->e->slurm) == INT64_MAX)
		(void)uv_run(loop_uv(f->loop), UV_RUN_ONCE);
	nm->insist.lost_ms--; /* the next snapshot is a later one */
}

/* slurmctld is away: the order is lost. */
static void all_are_lost(struct fix *f)
{
	all_fail(f, "Unable to contact slurm controller (connect failure)");
}

static void is_taken(struct fix *f, const char *verb)
{
	const struct slurm_order o = {.verb = verb, .names = "c1", .reason = ""};

	insist_told(f->e, &o, NULL);
}

/* F48, F49: an order that slurmctld did not take is given again, for no snapshot would repeat it:
 * as long as it has the node as it was, and until it has taken it. */
static void test_an_order_that_is_lost_is_given_again(void **state)
{
	static const struct {
		enum engine_order order;
		const char *verb, *other, *then; /* the node's state after the order was lost */
		bool again;
	} rows[] = {
		{ENGINE_DRAIN, "drain", "resume", "IDLE+CLOUD", true},
		{ENGINE_DRAIN, "drain", "power-down", "ALLOCATED+CLOUD", true},
		{ENGINE_DRAIN, "drain", "resume", "IDLE+CLOUD+DRAIN", false},
		{ENGINE_DRAIN, "drain", "resume", "DOWN+CLOUD", false},
		{ENGINE_DRAIN, "drain", "resume", "IDLE+CLOUD+POWERED_DOWN", false},
		{ENGINE_TERMINATE, "power-down", "drain", "IDLE+CLOUD", true},
		{ENGINE_TERMINATE, "down", "drain", "IDLE+CLOUD+DRAIN", true},
		{ENGINE_TERMINATE, "power-down", "drain", "IDLE+CLOUD+POWERING_DOWN", false},
		{ENGINE_TERMINATE, "power-down", "drain", "IDLE+CLOUD+POWER_DOWN", false},
	};
	const char *up = "IDLE+CLOUD", *off = "IDLE+CLOUD+POWERED_DOWN";

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const struct engine_request rq = {rows[i].order, "c1", "root", false};
		struct fix *f;

		(void)printf("# row %zu\n", i);
		teardown(state);
		setup(state);
		f = *state;
		load(f);
		snapshot(f, up, up, off);
		order(f, &rq, 1, 0, 0);
		assert_true(is_given(f));
		is_taken(f, rows[i].other); /* of another order */
		snapshot(f, up, up, off);
		assert_false(is_given(f)); /* it is on its way */
		all_are_lost(f);
		snapshot(f, rows[i].then, up, off);
		if (!rows[i].again) {
			assert_null(fleet_find(&f->e->fleet, "c1")->insist.why);
			continue;
		}
		assert_true(is_given(f));
		all_are_lost(f);
		snapshot(f, up, up, off);
		assert_true(is_given(f));
		is_taken(f, rows[i].verb);
		assert_true(fleet_find(&f->e->fleet, "c1")->insist.lost_ms == 0);
		snapshot(f, up, up, off);
		assert_false(is_given(f));
	}
}

/* F50: slurmctld took it, and comes back without it.  Where it was there all the time, somebody has
 * taken the order back, and has his will (F51). */
static void test_an_order_that_slurmctld_forgot_is_given_again(void **state)
{
	static const struct {
		enum engine_order order;
		const char *verb, *then;
		bool away, again;
		int64_t ago_ms; /* it took the order, and has shown it since */
	} rows[] = {
		{ENGINE_DRAIN, "drain", "ALLOCATED+CLOUD", true, true, 0},
		{ENGINE_DRAIN, "drain", "ALLOCATED+CLOUD", false, false, 0},
		{ENGINE_DRAIN, "drain", "ALLOCATED+CLOUD", true, true, 59000},
		{ENGINE_DRAIN, "drain", "ALLOCATED+CLOUD", true, false, 61000}, /* written down */
		{ENGINE_DRAIN, "drain", "ALLOCATED+CLOUD+DRAIN", true, false, 0},
		{ENGINE_TERMINATE, "power-down", "IDLE+CLOUD", true, true, 0},
		{ENGINE_TERMINATE, "power-down", "IDLE+CLOUD", false, false, 0},
		{ENGINE_TERMINATE, "power-down", "IDLE+CLOUD+POWERING_DOWN", true, false, 0},
	};
	const char *up = "IDLE+CLOUD", *off = "IDLE+CLOUD+POWERED_DOWN";

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const struct engine_request rq = {rows[i].order, "c1", "root", false};
		struct fleet_insist *in;
		struct fix *f;

		(void)printf("# row %zu\n", i);
		teardown(state);
		setup(state);
		f = *state;
		load(f);
		snapshot(f, up, up, off);
		order(f, &rq, 1, 0, 0);
		assert_true(is_given(f));
		all_are_lost(f); /* as for scontrol */
		is_taken(f, rows[i].verb);
		in = &fleet_find(&f->e->fleet, "c1")->insist;
		in->took_ms -= 2 + rows[i].ago_ms;
		if (rows[i].ago_ms != 0)
			snapshot(f, "IDLE+CLOUD+DRAIN+POWER_DOWN", up, off);
		f->e->poll.failed_ms = rows[i].away ? in->took_ms + 1 : in->took_ms;
		snapshot(f, rows[i].then, up, off);
		assert_int_equal(is_given(f), rows[i].again);
		snapshot(f, up, up, off);
		assert_false(is_given(f)); /* once, until it is answered */
	}
}

/* F50: slurmctld may end and come back within the half minute between two idle snapshots, and
 * nobody would have seen it away. */
static void test_an_order_that_may_be_forgotten_is_watched(void **state)
{
	const struct engine_request rq = {ENGINE_DRAIN, "c1", "root", false};
	const char *up = "IDLE+CLOUD", *off = "IDLE+CLOUD+POWERED_DOWN";
	const char *drained = "ALLOCATED+CLOUD+DRAIN";
	struct fix *f = *state;
	struct fleet_insist *in;

	load(f);
	snapshot(f, "ALLOCATED+CLOUD", up, off);
	assert_false(f->e->poll.moving);
	order(f, &rq, 1, 1, 0);
	assert_true(is_given(f));
	snapshot(f, drained, up, off);
	assert_true(f->e->poll.moving); /* it is not answered yet */
	is_taken(f, "drain");
	in = &fleet_find(&f->e->fleet, "c1")->insist;
	in->took_ms -= 2;
	snapshot(f, drained, up, off);
	assert_true(f->e->poll.moving);
	in->took_ms -= 60000;
	snapshot(f, drained, up, off); /* by now it is written down */
	assert_false(f->e->poll.moving);
}

/* ... and is not another machine's. */
static void test_an_order_that_is_lost_is_not_the_next_machines(void **state)
{
	const struct engine_request rq = {ENGINE_DRAIN, "c1", "root", false};
	struct fix *f = *state;

	load(f);
	snapshot(f, "IDLE+CLOUD", "IDLE+CLOUD", "IDLE+CLOUD+POWERED_DOWN");
	order(f, &rq, 1, 0, 0);
	assert_true(is_given(f));
	all_are_lost(f);
	fleet_find(&f->e->fleet, "c1")->insist.gen--;
	snapshot(f, "IDLE+CLOUD", "IDLE+CLOUD", "IDLE+CLOUD+POWERED_DOWN");
	assert_false(is_given(f));
}

/* F48: an admin's terminate that slurmctld did not take is not forgotten for a drain of our own;
 * for his own it is, as jobs may end well then. */
static void test_a_lost_terminate_outlives_a_drain_for_old_keys(void **state)
{
	const struct engine_request rq = {ENGINE_TERMINATE, "c1", "root", false};
	const struct engine_request drain = {ENGINE_DRAIN, "c1", "root", false};
	struct fix *f = *state;
	struct fleet_name *nm;

	load(f);
	snapshot(f, "ALLOCATED+CLOUD", "IDLE+CLOUD", "IDLE+CLOUD+POWERED_DOWN");
	nm = fleet_find(&f->e->fleet, "c1");
	order(f, &rq, 1, 1, 0);
	assert_true(is_given(f));
	all_are_lost(f);                                   /* slurmctld is away */
	insist_drain(f->e, nm, "burstd: it has old keys"); /* as drain() in rotate_nodes.c */
	assert_true(is_given(f));
	all_are_lost(f);
	snapshot(f, "ALLOCATED+CLOUD", "IDLE+CLOUD", "IDLE+CLOUD+POWERED_DOWN");
	assert_true(nm->insist.ends);
	assert_true(is_given(f));
	order(f, &drain, 1, 1, 0);
	assert_false(nm->insist.ends);
}

static void fill_queue(struct fix *f)
{
	char job[24], text[40];

	for (int i = 0; i < SLURM_QUEUE_MAX; i++) {
		(void)snprintf(job, sizeof(job), "%d", i + 1);
		(void)snprintf(text, sizeof(text), "burstd: %d", i);
		assert_true(slurm_postpone(f->e->slurm, job, 1, 0, text));
	}
	assert_false(slurm_postpone(f->e->slurm, "9999", 1, 0, "burstd: x"));
}

/* What waits is over: it is dropped, one command a turn. */
static void empty_queue(struct fix *f)
{
	for (int i = 0; i < 12; i++) {
		(void)usleep(100000);
		(void)uv_run(loop_uv(f->loop), UV_RUN_NOWAIT);
	}
	(void)audit_part.record(f->e);
	for (int i = 0; i < 3 * SLURM_QUEUE_MAX; i++)
		(void)uv_run(loop_uv(f->loop), UV_RUN_NOWAIT);
}

/* An admin was told that it is done.  What found no room in the queue is given once there is. */
static void test_an_order_that_found_no_room_is_given_again(void **state)
{
	static const enum engine_order orders[] = {ENGINE_DRAIN, ENGINE_TERMINATE};
	const char *up = "IDLE+CLOUD", *off = "IDLE+CLOUD+POWERED_DOWN";

	for (size_t i = 0; i < sizeof(orders) / sizeof(orders[0]); i++) {
		const struct engine_request rq = {orders[i], "c1", "root", false};
		struct fix *f;

		teardown(state);
		setup(state);
		f = *state;
		load(f);
		snapshot(f, up, up, off);
		fill_queue(f);
		order(f, &rq, 1, 0, 0);
		f->e->jobs->runs++;
		rescue_jobs(f->e, "", 0, NULL); /* no job is there */
		empty_queue(f);
		assert_false(is_given(f)); /* it is not among what waits */
		snapshot(f, up, up, off);
		assert_true(is_given(f));
	}
}

static int count_record(void *ctx, const struct journal_audit *a)
{
	*(unsigned *)ctx += strcmp(a->verb, "power-down") == 0;
	return 0;
}

static unsigned tries(struct fix *f)
{
	unsigned n = 0;

	assert_int_equal(journal_audits(f->journal, 0, 1000, count_record, &n, NULL), 0);
	return n;
}

/* I30: what slurmctld refuses is not ordered with each snapshot; each try is a durable record. */
static void test_a_refused_order_is_given_ever_more_seldom(void **state)
{
	static const int64_t waits[] = {10, 20, 40, 80, 160, 320, 600, 600}; /* seconds */
	const struct engine_request rq = {ENGINE_TERMINATE, "c1", "root", false};
	const char *up = "IDLE+CLOUD", *off = "IDLE+CLOUD+POWERED_DOWN";
	struct fleet_insist *in;
	struct fix *f = *state;

	load(f);
	snapshot(f, up, up, off);
	order(f, &rq, 1, 0, 0);
	in = &fleet_find(&f->e->fleet, "c1")->insist;
	for (unsigned i = 0; i < sizeof(waits) / sizeof(waits[0]); i++) {
		assert_true(is_given(f));
		all_fail(f, "Access/permission denied");
		snapshot(f, up, up, off);
		assert_false(is_given(f));
		in->lost_ms -= waits[i] * 1000 - 5000;
		snapshot(f, up, up, off);
		assert_false(is_given(f));
		in->lost_ms -= 5000;
		snapshot(f, up, up, off);
		assert_int_equal(tries(f), i + 1);
	}
	assert_int_equal(events(f, "c1", "order-refused",
				"slurmctld refuses to power it down, and is asked again: scontrol "
				"update: exit status 1: slurm_update error: Access/permission "
				"denied"),
			 1);
	assert_true(is_given(f));
	all_are_lost(f); /* what it has not heard is not refused */
	snapshot(f, up, up, off);
	assert_true(is_given(f));
}

/* I30, F48: a drain shows as POWER_DOWN, too, and lets the jobs run that a terminate is to end. */
static void test_a_drain_is_no_answer_to_a_terminate(void **state)
{
	static const char was[] = "ALLOCATED+CLOUD+DRAIN+POWER_DOWN";
	const struct engine_request rq = {ENGINE_TERMINATE, "c1", "root", false};
	struct fix *f = *state;

	load(f);
	snapshot(f, was, "IDLE+CLOUD", "IDLE+CLOUD+POWERED_DOWN");
	order(f, &rq, 1, 1, 0);
	assert_true(is_given(f));
	all_are_lost(f);
	snapshot(f, was, "IDLE+CLOUD", "IDLE+CLOUD+POWERED_DOWN");
	assert_true(is_given(f));
}

/* Likewise that burstd drains it for old keys, and slurmctld takes that. */
static void test_a_drain_that_is_taken_leaves_a_terminate(void **state)
{
	const struct engine_request rq = {ENGINE_TERMINATE, "c1", "root", false};
	struct fix *f = *state;

	load(f);
	snapshot(f, "ALLOCATED+CLOUD", "IDLE+CLOUD", "IDLE+CLOUD+POWERED_DOWN");
	order(f, &rq, 1, 1, 0);
	assert_true(is_given(f));
	all_are_lost(f);
	insist_drain(f->e, fleet_find(&f->e->fleet, "c1"), "burstd: it has old keys");
	assert_true(is_given(f));
	is_taken(f, "drain");
	all_are_lost(f);
	snapshot(f, "ALLOCATED+CLOUD+DRAIN+POWER_DOWN", "IDLE+CLOUD", "IDLE+CLOUD+POWERED_DOWN");
	assert_true(is_given(f));
}

/* One that does not answer is set down before it is powered down: the second may be lost. */
static void test_a_node_that_is_set_down_is_not_yet_powered_down(void **state)
{
	const struct engine_request rq = {ENGINE_TERMINATE, "c1", "root", false};
	struct fix *f = *state;
	struct fleet_name *nm;

	load(f);
	snapshot(f, "IDLE+CLOUD+NOT_RESPONDING", "IDLE+CLOUD", "IDLE+CLOUD+POWERED_DOWN");
	nm = fleet_find(&f->e->fleet, "c1");
	order(f, &rq, 1, 0, 0);
	is_taken(f, "down");
	nm->insist.took_ms--; /* the next snapshot is a later one */
	snapshot(f, "DOWN+CLOUD+NOT_RESPONDING", "IDLE+CLOUD", "IDLE+CLOUD+POWERED_DOWN");
	assert_non_null(nm->insist.why);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_a_drain_is_no_answer_to_a_terminate, setup,
						teardown),
		cmocka_unit_test_setup_teardown(test_a_drain_that_is_taken_leaves_a_terminate,
						setup, teardown),
		cmocka_unit_test_setup_teardown(
			test_a_node_that_is_set_down_is_not_yet_powered_down, setup, teardown),
		cmocka_unit_test_setup_teardown(test_an_order_that_is_lost_is_given_again, setup,
						teardown),
		cmocka_unit_test_setup_teardown(test_an_order_that_slurmctld_forgot_is_given_again,
						setup, teardown),
		cmocka_unit_test_setup_teardown(test_an_order_that_may_be_forgotten_is_watched,
						setup, teardown),
		cmocka_unit_test_setup_teardown(test_an_order_that_is_lost_is_not_the_next_machines,
						setup, teardown),
		cmocka_unit_test_setup_teardown(test_a_lost_terminate_outlives_a_drain_for_old_keys,
						setup, teardown),
		cmocka_unit_test_setup_teardown(test_an_order_that_found_no_room_is_given_again,
						setup, teardown),
		cmocka_unit_test_setup_teardown(test_a_refused_order_is_given_ever_more_seldom,
						setup, teardown),
	};

	return cmocka_run_group_tests_name("insist", tests, NULL, NULL);
}
