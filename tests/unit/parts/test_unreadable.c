/* inventory.c: instances on a list whose tags cannot be read, or were changed by somebody. */
#include "buy/buy.h"
#include "cloud/cloud.h"
#include "listed_engine.h"
#include "store/journal_events.h"

#define MANGLED(id)                                                                                \
	{                                                                                          \
		id, 0, "", PROVIDER_RUNNING                                                        \
	}

static int count_unreadable(void *ctx, const struct journal_event *ev)
{
	*(unsigned *)ctx += strcmp(ev->type, "unreadable") == 0;
	return 0;
}

static unsigned told(const struct fix *f)
{
	unsigned n = 0;

	assert_int_equal(
		journal_events(f->journal, 0, NULL, UINT32_MAX, count_unreadable, &n, NULL), 0);
	return n;
}

/* The id is what an instance is: one that a row has stays that row's, whatever its tags say. */
static void test_unreadable_is_known_by_its_id(void **state)
{
	static const struct shown ours = {"i-1", 5, "10.0.0.1", PROVIDER_RUNNING};
	static const struct shown mangled[] = {
		{"i-1", 0, "10.0.0.7", PROVIDER_RUNNING},
		{"i-1", ENGINE_GEN_MAX / 2 + 1, "10.0.0.8", PROVIDER_RUNNING}};
	static const struct shown ended = {"i-1", 0, "", PROVIDER_ENDED};
	struct fix *f = *state;

	load(f, NODE_BOOTING, &ours);
	show(f, "ALLOCATED+CLOUD+POWERING_UP", "NodeAddr=10.0.0.1");
	for (int i = 0; i < 6; i++, f->ahead += 60001) {
		list(f, &mangled[i % 2], 1);
		assert_string_equal(kept(f), "i-1");
		assert_int_equal(state_of(f), NODE_BOOTING);
	}
	assert_string_equal(fleet_find(&f->e->fleet, "c1")->newest->n.addr, "10.0.0.8");
	assert_int_equal(engine_counters(f->e)->unreadable, 0);
	assert_int_equal(told(f), 0);
	list(f, &ended, 1);
	assert_string_equal(kept(f), "none");
}

/* Nor do others have it whose tag somebody has put there, or nobody's left (I9, F13). */
static void test_what_a_row_has_is_ours_without_our_tag(void **state)
{
	static const char *const clusters[] = {"", "somebody-else"};
	static const enum node_state rows[] = {NODE_BOOTING, NODE_READY, NODE_DELETING};
	static const struct shown ours = {"i-1", 5, "10.0.0.1", PROVIDER_RUNNING};
	static const struct shown other = {"x-1", 5, "10.0.0.2", PROVIDER_RUNNING};
	struct fix *f = *state;

	for (size_t k = 0; k < 6; k++) {
		struct provider_instance all[2] = {row_of(f, &ours), row_of(f, &other)};

		for (int i = 0; i < 2; i++)
			(void)snprintf(all[i].cluster, sizeof(all[i].cluster), "%s",
				       clusters[k % 2]);
		load(f, rows[k / 2], &ours);
		show(f, "DOWN+CLOUD", "NodeAddr=10.0.0.1"); /* it would be believed gone */
		for (int n = 0; n < 3; n++, f->ahead += 60001)
			take(f, all, 2);
		assert_int_equal(fleet_find(&f->e->fleet, "c1")->newest->n.state, rows[k / 2]);
		assert_int_equal(engine_counters(f->e)->foreign, 1);
		f->ahead = 0;
	}
}

/* Of any other nobody knows whose it is: it is told of, and that is all.  The list counts. */
static void test_unreadable_of_nobody(void **state)
{
	static const struct shown ours = {"i-1", 5, "10.0.0.1", PROVIDER_RUNNING};
	static const struct shown all[] = {
		{"i-1", 5, "10.0.0.1", PROVIDER_RUNNING},
		MANGLED("x-1"),
		{"x-2", ENGINE_GEN_MAX / 2 + 1, "10.0.0.1", PROVIDER_RUNNING},
		{"x-3", 0, "", PROVIDER_ENDED}};
	struct fix *f = *state;

	load(f, NODE_READY, &ours);
	show(f, "IDLE+CLOUD+POWERED_DOWN", "NodeAddr=c1"); /* a stray would be deleted */
	for (int i = 0; i < 3; i++, f->ahead += 60001) {
		list(f, all, 4);
		remove_part.at[PART_RUN](f->e);
		assert_int_equal(engine_counters(f->e)->unreadable, 2);
		assert_string_equal(engine_unreadable(f->e, 0, 0), "x-1");
		assert_string_equal(engine_unreadable(f->e, 0, 1), "x-2");
		assert_null(engine_unreadable(f->e, 0, 2));
		assert_int_equal(f->e->cloud->all[0].nstrays, 0);
		assert_false(f->e->cloud->all[0].unsure);
		assert_null(f->e->fleet.all[0]->newest->older);
	}
	assert_int_equal(told(f), 2);
	list(f, all, 2); /* one has gone */
	assert_int_equal(engine_counters(f->e)->unreadable, 1);
	assert_null(engine_unreadable(f->e, 0, 1));
	list(f, all, 4);
	assert_string_equal(engine_unreadable(f->e, 0, 1), "x-2");
	assert_int_equal(told(f), 2); /* once in a run */
}

/* More than are remembered are counted all the same. */
static void test_many_unreadable(void **state)
{
	enum { MANY = ENGINE_UNREAD_MAX + 5 };
	static const struct shown ours = {"i-1", 5, "10.0.0.1", PROVIDER_RUNNING};
	static char ids[MANY][16];
	struct shown *all = mem_zalloc(MANY * sizeof(*all));
	struct fix *f = *state;

	for (size_t i = 0; i < MANY; i++) {
		(void)snprintf(ids[i], sizeof(ids[i]), "x-%zu", i);
		all[i] = (struct shown)MANGLED(ids[i]);
	}
	load(f, NODE_READY, &ours);
	for (int i = 0; i < 2; i++) {
		list(f, all, MANY);
		assert_int_equal(engine_counters(f->e)->unreadable, MANY);
		assert_int_equal(told(f), ENGINE_UNREAD_MAX);
	}
	free(all);
}

/* I9: it may be what came of a create whose answer was lost, unless it is older than that. */
static void test_unreadable_keeps_a_lost_create_in_doubt(void **state)
{
	static const struct shown lost = {"", 5, "", PROVIDER_UNKNOWN};
	static const struct shown odd = MANGLED("x-1");
	struct fix *f = *state;

	for (int older = 0; older < 2; older++) {
		load(f, NODE_INDOUBT, &lost);
		list(f, &odd, 1);
		if (older)
			f->e->fleet.states[NODE_INDOUBT]->n.sent_ms =
				f->e->cloud->all[0].unread[0].first_ms + 1;
		for (f->ahead = 0; f->ahead < 300000; f->ahead += 60001)
			list(f, &odd, 1);
		assert_int_equal(fleet_exists(fleet_find(&f->e->fleet, "c1")), !older);
		for (; f->ahead < 600000; f->ahead += 60001) /* it was deleted by hand */
			list(f, NULL, 0);
		assert_false(fleet_exists(fleet_find(&f->e->fleet, "c1")));
		f->ahead = 0;
	}
}

#undef MANGLED

/* F58, I3: the journal is an older one, and a list shows what was bought since: its generation is
 * used, though that instance has ended or slurmctld has said nothing of its node.  The next one of
 * that name and generation would be taken for it. */
static void test_a_generation_that_is_found_is_never_used_again(void **state)
{
	static const struct shown ours = {"i-1", 5, "10.0.0.1", PROVIDER_RUNNING};
	static const struct shown past[] = {{"i-1", 5, "10.0.0.1", PROVIDER_RUNNING},
					    {"i-3", 7, "", PROVIDER_ENDED},
					    {"i-2", 6, "", PROVIDER_ENDED}};
	static const struct shown later = {"i-4", 9, "10.0.0.4", PROVIDER_RUNNING};
	struct fix *f = *state;
	struct fleet_name *nm;

	load(f, NODE_READY, &ours);
	show(f, "IDLE+CLOUD", "NodeAddr=10.0.0.1");
	list(f, past, 3);
	nm = fleet_find(&f->e->fleet, "c1");
	assert_int_equal(nm->last_gen, 7);
	assert_string_equal(kept(f), "i-1");
	nm->flags = 0; /* what becomes of it is not known; where it is, is */
	f->e->cloud->all[0].listed = true;
	list(f, &later, 1);
	assert_int_equal(nm->last_gen, 9);
}

/* F58: who may tag instances cannot use up the generations of a node, for then burstd could not
 * read the tags of its own: such tags cannot be its own. */
static void test_a_generation_that_was_never_given_is_not_believed(void **state)
{
	static const struct shown ours = {"i-1", 5, "10.0.0.1", PROVIDER_RUNNING};
	struct shown theirs = {"i-3", 0, "10.0.0.3", PROVIDER_RUNNING};
	struct fix *f = *state;
	struct fleet_name *nm;
	uint64_t most;

	load(f, NODE_READY, &ours);
	nm = fleet_find(&f->e->fleet, "c1");
	most = (uint64_t)engine_wall(f->e, engine_now(f->e)) / 1000 + (1 << 20);
	theirs.gen = most + 1000;
	show(f, "IDLE+CLOUD", "NodeAddr=10.0.0.3"); /* wherever slurmctld has it */
	list(f, &theirs, 1);
	assert_int_equal(nm->last_gen, 5);
	assert_string_equal(nm->newest->n.instance, "i-1");
	assert_int_equal(engine_counters(f->e)->unreadable, 1);
	theirs = (struct shown){"i-2", most - 1000, "", PROVIDER_ENDED};
	list(f, &theirs, 1);
	assert_int_equal(nm->last_gen, most - 1000);
	f->e->d.gen_floor = (int64_t)most; /* the clock was ahead when the journal was made */
	theirs.gen = most + 1000;
	list(f, &theirs, 1);
	assert_int_equal(nm->last_gen, most + 1000);
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
		T(test_what_a_row_has_is_ours_without_our_tag),
		T(test_unreadable_is_known_by_its_id),
		T(test_unreadable_of_nobody),
		T(test_many_unreadable),
		T(test_unreadable_keeps_a_lost_create_in_doubt),
		T(test_a_generation_that_is_found_is_never_used_again),
		T(test_a_generation_that_was_never_given_is_not_believed),
	};
#undef T

	return cmocka_run_group_tests(tests, NULL, NULL);
}
