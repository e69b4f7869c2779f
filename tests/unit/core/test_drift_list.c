/* test_drift_list.c - whose an instance on a list is, and what becomes of what a list lacks. */
#include "drift_world.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "core/drift.h"

static const struct provider_instance other = {
	.id = "i-9", .node = "c1", .addr = "10.0.0.9", .gen = 5, .state = PROVIDER_RUNNING};

static struct provider_instance other_is(enum provider_state state, uint64_t gen)
{
	struct provider_instance in = other;

	in.state = state;
	in.gen = gen;
	return in;
}

static void test_owner(void **state)
{
	struct provider_instance in = other_is(PROVIDER_RUNNING, 7);
	struct world w;

	(void)state;
	begin(&w, NODE_BOOTING);
	w.older = add(&w, 4, NODE_INDOUBT, "", "");
	assert_null(drift_owner(w.nm, &in)); /* neither by instance nor by generation */
	in.gen = 4;
	assert_ptr_equal(drift_owner(w.nm, &in), w.older);
	assert_true(drift_owns(w.older, &in)); /* it may be the one that was in doubt */
	in.gen = 5;
	assert_ptr_equal(drift_owner(w.nm, &in), w.fn);
	assert_false(drift_owns(w.fn, &in)); /* which has another one */
	in.gen = 4;
	(void)snprintf(in.id, sizeof(in.id), "i-5");
	assert_ptr_equal(drift_owner(w.nm, &in), w.fn); /* the instance counts, not the tag */
	assert_true(drift_owns(w.fn, &in));
	/* What is staged counts. */
	(void)snprintf(in.id, sizeof(in.id), "i-9");
	(void)snprintf(fleet_stage(w.older)->instance, sizeof(in.id), "i-4");
	assert_false(drift_owns(w.older, &in));
	fleet_publish(&w.f, w.older);
	finish(&w);
}

/* By the instance, or by the address; one letter is enough for either. */
static void test_elsewhere(void **state)
{
	struct provider_instance in = other;
	struct world w;

	(void)state;
	begin(&w, NODE_READY);
	assert_false(drift_is_elsewhere(w.nm, "i-9", "10.0.0.9"));
	put_elsewhere(&w, "i-9", "10.0.0.9", SINCE);
	assert_true(drift_is_elsewhere(w.nm, "i-9", ""));
	assert_true(drift_is_elsewhere(w.nm, "i-8", "10.0.0.9"));
	assert_false(drift_is_elsewhere(w.nm, "i-8", "10.0.0.8"));
	put_elsewhere(&w, "9", "c", SINCE);
	assert_true(drift_is_elsewhere(w.nm, "9", ""));
	assert_true(drift_is_elsewhere(w.nm, "8", "c"));
	memcpy(w.fn->n.instance, "7", 2);
	assert_false(drift_owns(w.fn, &in));
	finish(&w);
}

static void test_claim(void **state)
{
	struct provider_instance run = other_is(PROVIDER_RUNNING, 5),
				 ended = other_is(PROVIDER_ENDED, 5);
	struct drift_listed l = {.in = &run};
	struct world w;

	(void)state;
	/* Of a node that no pool names. */
	assert_int_equal(drift_claim(&l), DRIFT_STRAY);
	l.in = &ended;
	assert_int_equal(drift_claim(&l), DRIFT_LEAVE);
	begin(&w, NO_NODE);
	l = (struct drift_listed){.in = &run, .nm = w.nm, .priced = true};
	/* Of one that is bought elsewhere now: it may have a job (I18). */
	w.nm->flags = K | ALLOC;
	assert_int_equal(drift_claim(&l), DRIFT_LEAVE);
	w.nm->flags = K | OFF;
	assert_int_equal(drift_claim(&l), DRIFT_STRAY);
	w.nm->flags = K | GOING;
	assert_int_equal(drift_claim(&l), DRIFT_STRAY);
	l.in = &ended;
	assert_int_equal(drift_claim(&l), DRIFT_LEAVE);
	/* Here. */
	l.here = true;
	assert_int_equal(drift_claim(&l), DRIFT_LEAVE);
	l.in = &run;
	assert_int_equal(drift_claim(&l), DRIFT_ADOPT);
	l.priced = false;
	assert_int_equal(drift_claim(&l), DRIFT_ASK);
	l.priced = true;
	w.nm->flags = 0;
	assert_int_equal(drift_claim(&l), DRIFT_ASK);
	finish(&w);
}

/* I3 */
static void test_second_of_a_generation(void **state)
{
	struct provider_instance in = other_is(PROVIDER_RUNNING, 5);
	struct world w;
	struct drift_listed l;

	(void)state;
	begin(&w, NODE_READY);
	w.nm->flags = K | ALLOC;
	l = (struct drift_listed){.in = &in, .nm = w.nm, .fn = w.fn, .here = true, .priced = true};
	assert_int_equal(drift_claim(&l), DRIFT_STRAY);
	put_elsewhere(&w, "", "10.0.0.9", SINCE); /* slurmctld has the node on it */
	assert_int_equal(drift_claim(&l), DRIFT_ADOPT_NEXT);
	put_elsewhere(&w, "i-9", "", SINCE);
	assert_int_equal(drift_claim(&l), DRIFT_ADOPT_NEXT);
	in.addr[0] = '\0'; /* no address is no match */
	put_elsewhere(&w, "i-1", "10.0.0.1", SINCE);
	assert_int_equal(drift_claim(&l), DRIFT_STRAY);
	finish(&w);
}

/* I18, F58: a journal that was put back has given the generation once more, and that create was
 * refused.  The machine of the first is listed, and slurmctld has the node up. */
static void test_of_a_row_that_the_journal_has_lost(void **state)
{
	static const struct {
		const char *name;
		uint32_t flags;
		enum node_state row;
		const char *id;        /* of the row */
		const char *elsewhere; /* the address that slurmctld has; NULL: none */
		enum provider_state shown;
		bool live; /* a younger row is */
		bool lost, perhaps;
	} rows[] = {
		{"a job is on it", ALLOC, NODE_GONE, "", NULL, PROVIDER_RUNNING, 0, true, true},
		{"or may begin there", IDLE, NODE_GONE, "", NULL, PROVIDER_PENDING, 0, true, true},
		{"by its address, too", ALLOC, NODE_GONE, "", "10.0.0.9", PROVIDER_UNKNOWN, 0, true,
		 true},
		{"not by another one", ALLOC, NODE_GONE, "", "10.0.0.8", PROVIDER_RUNNING, 0, false,
		 true},
		{"it boots: F3", COMING, NODE_GONE, "", NULL, PROVIDER_RUNNING, 0, false, true},
		{"it is off", OFF, NODE_GONE, "", NULL, PROVIDER_RUNNING, 0, false, true},
		{"it does not answer", ALLOC | SILENT, NODE_GONE, "", NULL, PROVIDER_RUNNING, 0,
		 false, true},
		{"it stops", ALLOC, NODE_GONE, "", NULL, PROVIDER_STOPPING, 0, false, false},
		{"it has failed", ALLOC, NODE_GONE, "", NULL, PROVIDER_FAILED, 0, false, false},
		{"it has ended", ALLOC, NODE_GONE, "", NULL, PROVIDER_ENDED, 0, false, false},
		{"another row is the node", ALLOC, NODE_GONE, "", NULL, PROVIDER_RUNNING, 1, false,
		 false},
		{"it may be that of the row", ALLOC, NODE_INDOUBT, "", NULL, PROVIDER_RUNNING, 0,
		 false, false},
		{"it is that of the row", ALLOC, NODE_GONE, "i-9", NULL, PROVIDER_RUNNING, 0, false,
		 false},
	};
	struct world w;

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct provider_instance in = other_is(rows[i].shown, 5);
		struct drift_listed l = {.in = &in, .here = true, .priced = true};

		print_message("# %s\n", rows[i].name);
		begin(&w, NO_NODE);
		w.fn = add(&w, 5, rows[i].row, rows[i].id, "");
		if (rows[i].live)
			(void)add(&w, 6, NODE_READY, "i-6", "10.0.0.6");
		if (rows[i].elsewhere != NULL)
			put_elsewhere(&w, "", rows[i].elsewhere, SINCE);
		w.nm->flags = K | rows[i].flags;
		l.nm = w.nm;
		l.fn = w.fn;
		assert_int_equal(drift_owns(w.fn, &in), !rows[i].lost);
		if (rows[i].lost)
			assert_int_equal(drift_claim(&l), DRIFT_ADOPT_NEXT);
		/* Since a start slurmctld has not said yet whether it is. */
		w.nm->flags = 0;
		assert_int_equal(drift_owns(w.fn, &in), !rows[i].perhaps);
		if (rows[i].perhaps)
			assert_int_equal(drift_claim(&l), DRIFT_ASK);
		finish(&w);
	}
}

/* I20, F37: an old Slurm keeps NodeAddr when a node is powered down, and the provider has given the
 * address to the second one. */
static void test_the_address_of_an_earlier_generation_proves_nothing(void **state)
{
	static const struct {
		const char *name, *id, *stale;
		bool moved, gone, proof;
	} rows[] = {
		{"slurmctld had it before", "", "10.0.0.9", false, false, false},
		{"in another spelling", "", "::ffff:10.0.0.9", false, false, false},
		{"whatever slurmd says of a third", "i-8", "10.0.0.9", false, false, false},
		{"it had another one", "", "10.0.0.8", false, false, true},
		{"it had none, or nobody knows", "", "", false, false, true},
		{"it has had another one since", "", "10.0.0.9", true, false, true},
		{"slurmd says so", "i-9", "10.0.0.9", false, false, true},
		{"no other can be the node", "", "10.0.0.9", false, true, true},
	};
	struct provider_instance in = other_is(PROVIDER_RUNNING, 5);
	struct world w;

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct drift_listed l = {.in = &in, .here = true, .priced = true};
		enum drift_fate fate = rows[i].proof ? DRIFT_REPLACE : DRIFT_LET_GO;

		begin(&w, rows[i].gone ? NODE_GONE : NODE_READY);
		l.nm = w.nm;
		l.fn = w.fn;
		w.nm->flags = K | ALLOC;
		(void)snprintf(w.fn->n.stale_addr, sizeof(w.fn->n.stale_addr), "%s", rows[i].stale);
		w.fn->moved = rows[i].moved;
		put_elsewhere(&w, rows[i].id, "10.0.0.9", SINCE);
		if (drift_claim(&l) != (rows[i].proof ? DRIFT_ADOPT_NEXT : DRIFT_STRAY))
			fail_msg("%s: %d", rows[i].name, drift_claim(&l));
		if (drift_fate(w.nm, &in, STARTED) != (rows[i].gone ? DRIFT_KEEP : fate))
			fail_msg("%s: %d", rows[i].name, drift_fate(w.nm, &in, STARTED));
		assert_true(drift_is_elsewhere(w.nm, in.id, in.addr)); /* it is not deleted yet */
		finish(&w);
	}
}

struct fate_row {
	const char *name;
	uint32_t flags;
	unsigned live; /* state of our own, generation 5 */
	enum provider_state state;
	uint64_t gen;
	unsigned but; /* SHOWN: ours was; ELSEWHERE: slurmctld has the node on the other */
	bool home;
	enum drift_fate want;
};

static const struct fate_row fates[] = {
	{"slurmctld has the node off", OFF, NO_NODE, PROVIDER_RUNNING, 7, 0, false, DRIFT_LET_GO},
	{"or going off", GOING, NO_NODE, PROVIDER_RUNNING, 7, 0, false, DRIFT_LET_GO},
	{"in use, and no other", ALLOC, NO_NODE, PROVIDER_RUNNING, 7, 0, false, DRIFT_KEEP},
	{"ours is gone", ALLOC, NODE_GONE, PROVIDER_RUNNING, 7, 0, false, DRIFT_KEEP},
	{"it is on its way out", ALLOC, NODE_READY, PROVIDER_STOPPING, 7, 0, false, DRIFT_LET_GO},
	{"or reclaimed", ALLOC, NODE_READY, PROVIDER_RECLAIMING, 7, 0, false, DRIFT_LET_GO},
	{"ours was not asked for yet", ALLOC, NODE_WANTED, PROVIDER_RUNNING, 4, 0, false,
	 DRIFT_REPLACE},
	{"but slurmctld asks for it", COMING, NODE_WANTED, PROVIDER_RUNNING, 4, 0, false,
	 DRIFT_LET_GO},
	{"F58 a younger one", ALLOC, NODE_READY, PROVIDER_RUNNING, 7, SHOWN, false, DRIFT_REPLACE},
	{"F58 unless slurmctld has the node on ours", ALLOC, NODE_READY, PROVIDER_RUNNING, 7, SHOWN,
	 true, DRIFT_LET_GO},
	{"F58 which an old journal says of one that nobody saw", ALLOC, NODE_READY,
	 PROVIDER_RUNNING, 7, UNPROVEN, true, DRIFT_REPLACE},
	{"of the same generation, and the node is on it", ALLOC, NODE_READY, PROVIDER_RUNNING, 5,
	 ELSEWHERE, false, DRIFT_REPLACE},
	{"or it is not", ALLOC, NODE_READY, PROVIDER_RUNNING, 5, 0, false, DRIFT_LET_GO},
	{"F14 an older one", ALLOC, NODE_READY, PROVIDER_RUNNING, 4, ELSEWHERE, false,
	 DRIFT_LET_GO},
};

static void test_fate(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(fates); i++) {
		const struct fate_row *r = &fates[i];
		struct provider_instance in = other_is(r->state, r->gen);
		struct world w;

		begin(&w, r->live);
		w.nm->flags = r->flags | K;
		w.nm->on_instance = r->home;
		if (w.fn != NULL && (r->but & (SHOWN | UNPROVEN)) != 0)
			w.fn->n.wanted_ms = STARTED;
		if (w.fn != NULL && (r->but & SHOWN) != 0)
			w.fn->seen_ms = SINCE;
		if ((r->but & ELSEWHERE) != 0)
			put_elsewhere(&w, "i-9", "10.0.0.9", SINCE);
		if (drift_fate(w.nm, &in, STARTED) != r->want)
			fail_msg("%s: %d", r->name, drift_fate(w.nm, &in, STARTED));
		finish(&w);
	}
}

/* Whoever may write tags in the account could otherwise have our machine released, by a VM that
 * says that it is the node's next generation. */
static void test_what_was_made_since_our_start_replaces_nothing(void **state)
{
	static const struct {
		int64_t created_ms;
		bool elsewhere;
		enum drift_fate want;
	} rows[] = {
		{0, false, DRIFT_REPLACE}, /* not said */
		{STARTED - 1, false, DRIFT_REPLACE},
		{STARTED + NODE_SKEW_MS, false, DRIFT_REPLACE},
		{STARTED + NODE_SKEW_MS + 1, false, DRIFT_LET_GO},
		{STARTED + NODE_SKEW_MS + 1, true, DRIFT_REPLACE}, /* a job may be there (I18) */
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct provider_instance in = other_is(PROVIDER_RUNNING, 7);
		struct world w;

		begin(&w, NODE_READY);
		w.nm->flags = ALLOC | K;
		w.fn->n.wanted_ms = STARTED;
		w.fn->seen_ms = SINCE;
		in.created_ms = rows[i].created_ms;
		if (rows[i].elsewhere)
			put_elsewhere(&w, "i-9", "10.0.0.9", SINCE);
		if (drift_fate(w.nm, &in, STARTED) != rows[i].want)
			fail_msg("row %zu", i);
		finish(&w);
	}
}

static void test_absent(void **state)
{
	static const uint32_t misses[] = {DOWN, SILENT, OFF, GOING};
	struct world w;

	(void)state;
	for (unsigned s = 0; s < NODE_NSTATES; s++) {
		bool works = s == NODE_READY || s == NODE_DRAINING;
		bool braked = s == NODE_BOOTING || s == NODE_INDOUBT;

		begin(&w, s);
		assert_int_equal(drift_must_show(w.fn), works || s == NODE_BOOTING);
		w.nm->flags = K | ALLOC;
		assert_int_equal(drift_is_heard(w.fn), works);
		assert_int_equal(drift_absent(w.fn, false), !works);
		assert_int_equal(drift_absent(w.fn, true), !works && !braked); /* I12 */
		for (size_t i = 0; works && i < COUNT(misses); i++) {
			w.nm->flags = K | misses[i];
			assert_false(drift_is_heard(w.fn));
			assert_true(drift_absent(w.fn, false));
			/* Silent is not given up: I12. */
			assert_int_equal(drift_absent(w.fn, true), misses[i] != SILENT);
		}
		finish(&w);
	}
}

/* I12, F15, F17 */
static void test_brake(void **state)
{
	(void)state;
	assert_false(drift_brake(3, 3));
	assert_true(drift_brake(4, 4));
	assert_false(drift_brake(100, 10));
	assert_true(drift_brake(100, 11));
	assert_int_equal(drift_most(0), DRIFT_BRAKE_MIN);
	assert_int_equal(drift_most(40), 4);
	assert_int_equal(drift_most(1000), 100);
}

/* F51 */
static void test_vanished(void **state)
{
	struct world w;

	(void)state;
	begin(&w, NODE_READY);
	w.nm->missing_ms = BEGAN;
	assert_false(drift_vanished(w.nm, BEGAN + DRIFT_VANISHED_MS - 1));
	assert_true(drift_vanished(w.nm, BEGAN + DRIFT_VANISHED_MS));
	assert_true(drift_vanished_release(w.nm, WANTED + 1));
	assert_false(drift_vanished_release(w.nm, WANTED)); /* wanted since */
	finish(&w);
	begin(&w, NODE_GONE);
	assert_false(drift_vanished_release(w.nm, BEGAN));
	finish(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_owner),
		cmocka_unit_test(test_elsewhere),
		cmocka_unit_test(test_claim),
		cmocka_unit_test(test_second_of_a_generation),
		cmocka_unit_test(test_of_a_row_that_the_journal_has_lost),
		cmocka_unit_test(test_the_address_of_an_earlier_generation_proves_nothing),
		cmocka_unit_test(test_fate),
		cmocka_unit_test(test_what_was_made_since_our_start_replaces_nothing),
		cmocka_unit_test(test_absent),
		cmocka_unit_test(test_brake),
		cmocka_unit_test(test_vanished),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
