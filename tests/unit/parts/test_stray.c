/* stray.c: instances that no row stands for. */
#include "buy/buy.h"
#include "cloud/cloud.h"
#include "diff/diff.h"
#include "listed_engine.h"

/* Each is noted once, whatever the number, and forgotten when a list does not show it. */
static void test_strays(void **state)
{
	enum { MANY = 3000 };
	static const struct shown ours = {"i-1", 5, "10.0.0.1", PROVIDER_RUNNING};
	static char ids[MANY][16];
	struct shown *all = mem_zalloc(MANY * sizeof(*all));
	struct fix *f = *state;
	struct engine_stray s;
	int64_t first;

	for (size_t i = 0; i < MANY; i++) {
		(void)snprintf(ids[i], sizeof(ids[i]), "x-%zu", i);
		all[i] = (struct shown){ids[i], 5, "", PROVIDER_RUNNING};
	}
	load(f, NODE_READY, &ours);
	show(f, "IDLE+CLOUD", "NodeAddr=10.0.0.1");
	list(f, all, MANY / 2);
	assert_int_equal(f->e->cloud->all[0].nstrays, MANY / 2);
	first = f->e->cloud->all[0].strays[0].first_ms;
	usleep(5000);
	list(f, all, MANY);
	assert_int_equal(f->e->cloud->all[0].nstrays, MANY);
	assert_int_equal(f->e->cloud->all[0].strays[0].first_ms, first);
	assert_true(is_stray(f, "x-2999"));
	/* The next one to be asked stays the next one, wherever it comes to stand. */
	f->e->cloud->all[0].strays_at = 1500;
	f->e->cloud->all[0].apart_at = 1700;
	list(f, all + 1000, MANY - 1000);
	assert_int_equal(f->e->cloud->all[0].strays_at, 500);
	assert_int_equal(f->e->cloud->all[0].apart_at, 700);
	list(f, all + MANY - 1, 1);
	assert_int_equal(f->e->cloud->all[0].nstrays, 1);
	assert_int_equal(f->e->cloud->all[0].strays_at, 0);
	assert_int_equal(f->e->cloud->all[0].apart_at, 0);
	assert_true(is_stray(f, "x-2999"));
	assert_true(engine_stray(f->e, 0, 0, &s));
	assert_string_equal(s.id, "x-2999");
	assert_int_equal(s.tried_ms, 0);
	assert_false(engine_stray(f->e, 0, 1, &s));
	free(all);
}

/* Not even after the settle time, if slurmctld has the node on it by then. */
static void test_stray_at_work(void **state)
{
	static const struct shown ours = {"i-1", 5, "10.0.0.1", PROVIDER_RUNNING};
	static const struct shown both[] = {{"i-1", 5, "10.0.0.1", PROVIDER_RUNNING},
					    {"i-3", 5, "10.0.0.3", PROVIDER_RUNNING}};
	struct fix *f = *state;
	struct engine_stray shown;
	struct stray *s;
	int64_t first;

	load(f, NODE_BOOTING, &ours);
	show(f, "ALLOCATED+CLOUD+POWERING_UP", "NodeAddr=10.0.0.1");
	list(f, both, 2);
	assert_true(is_stray(f, "i-3"));
	s = &f->e->cloud->all[0].strays[0];
	remove_part.at[PART_RUN](f->e);
	assert_int_equal(s->asked_ms, 0);
	s->first_ms -= 60000;
	s->born_ms = s->first_ms;
	show(f, "ALLOCATED+CLOUD", "NodeAddr=10.0.0.3");
	remove_part.at[PART_RUN](f->e);
	assert_int_equal(s->asked_ms, 0);
	show(f, "ALLOCATED+CLOUD", "NodeAddr=10.0.0.1");
	remove_part.at[PART_RUN](f->e);
	assert_int_not_equal(s->asked_ms, 0);
	assert_int_equal(s->tried_ms, s->asked_ms);
	s->asked_ms -= 60000;
	s->tried_ms = first = s->tried_ms - 60000;
	remove_part.at[PART_RUN](f->e); /* again; what people are told is since when */
	assert_true(s->asked_ms > first);
	assert_true(engine_stray(f->e, 0, 0, &shown));
	assert_int_equal(shown.tried_ms, first);
}

static void snapshot_of(struct fix *f, const char *node, const char *node_state)
{
	char text[200];
	int n = snprintf(text, sizeof(text), "NodeName=%s State=%s\n", node, node_state);

	assert_true(slurm_parse_nodes(text, (size_t)n, observe_node, f->e, NULL) > 0);
	observe_snapshot(f->e, loop_now(f->loop), NULL);
	remove_part.at[PART_RUN](f->e);
}

/* I18, F58: its pool was removed, and the journal is lost that had its row.  A job may be at work
 * on it for as long as slurmctld does not say that the node is down, or has no such node. */
static void test_stray_whose_node_no_pool_names(void **state)
{
	static const char *const up[] = {"ALLOCATED+CLOUD", "IDLE+CLOUD",
					 "ALLOCATED+CLOUD+POWERING_UP", "DOWN+CLOUD+NOT_RESPONDING",
					 "DOWN+CLOUD+POWERED_DOWN"};
	enum { UP = sizeof(up) / sizeof(up[0]) - 1 };
	static const struct shown none = {"", 4, "", PROVIDER_UNKNOWN};
	static const struct shown in = {"i-9", 5, "10.0.0.9", PROVIDER_RUNNING};
	struct fix *f = *state;

	for (int deed = 0; deed < 3; deed++) {
		const bool named = deed == 1; /* a row that has ended remembers the name */
		struct provider_instance row;
		struct engine_stray shown;
		struct stray *s;

		load(f, NODE_GONE, &none);
		fleet_find(&f->e->fleet, "c1")->listed = false;
		row = row_of(f, &in);
		(void)snprintf(row.node, sizeof(row.node), "%s", named ? "c1" : "g1");
		take(f, &row, 1);
		assert_true(is_stray(f, "i-9"));
		s = &f->e->cloud->all[0].strays[0];
		s->first_ms -= 60000;
		s->born_ms = s->first_ms;
		remove_part.at[PART_RUN](f->e); /* slurmctld has not spoken yet */
		assert_int_equal(s->asked_ms, 0);
		for (size_t i = 0; i < UP; i++) {
			snapshot_of(f, row.node, up[i]);
			take(f, &row, 1);
			s = &f->e->cloud->all[0].strays[0];
			assert_int_equal(s->asked_ms, 0);
			assert_true(engine_stray(f->e, 0, 0, &shown));
			assert_true(shown.up);
		}
		snapshot_of(f, deed == 2 ? "other" : row.node, up[UP]);
		assert_int_not_equal(s->asked_ms, 0);
		assert_true(engine_stray(f->e, 0, 0, &shown));
		assert_false(shown.up);
	}
}

/* What slurmctld said before the list showed it may be older than what is at work on it. */
static void test_stray_that_is_younger_than_the_snapshot(void **state)
{
	static const struct shown none = {"", 5, "", PROVIDER_UNKNOWN};
	static const struct shown in = {"i-9", 5, "10.0.0.9", PROVIDER_RUNNING};
	struct fix *f = *state;
	struct provider_instance row;
	struct stray *s;

	load(f, NODE_GONE, &none);
	snapshot_of(f, "other", "IDLE");
	row = row_of(f, &in);
	(void)snprintf(row.node, sizeof(row.node), "g1");
	take(f, &row, 1);
	s = &f->e->cloud->all[0].strays[0];
	s->first_ms -= 60000;
	s->born_ms = s->first_ms;
	f->e->poll.snapshot_ms = s->first_ms;
	remove_part.at[PART_RUN](f->e);
	assert_int_equal(s->asked_ms, 0);
	snapshot_of(f, "other", "IDLE");
	assert_int_not_equal(s->asked_ms, 0);
}

/* It may have another address by the next list, which is the one that slurmctld has to use (I18);
 * and whether it leaves already is what people are told. */
static void test_stray_that_changes(void **state)
{
	static const struct shown ours = {"i-1", 5, "10.0.0.1", PROVIDER_RUNNING};
	static const struct shown first[] = {{"i-1", 5, "10.0.0.1", PROVIDER_RUNNING},
					     {"i-3", 5, "", PROVIDER_PENDING}};
	static const struct shown then[] = {{"i-1", 5, "10.0.0.1", PROVIDER_RUNNING},
					    {"i-3", 5, "10.0.0.3", PROVIDER_STOPPING}};
	struct fix *f = *state;
	struct engine_stray s;

	load(f, NODE_BOOTING, &ours);
	show(f, "ALLOCATED+CLOUD+POWERING_UP", "NodeAddr=10.0.0.1");
	list(f, first, 2);
	assert_true(engine_stray(f->e, 0, 0, &s));
	assert_false(s.leaves);
	list(f, then, 2);
	assert_true(engine_stray(f->e, 0, 0, &s));
	assert_true(s.leaves);
	assert_string_equal(f->e->cloud->all[0].strays[0].addr, "10.0.0.3");
}

/* It goes a settle time after its launch, and not before lists have shown it for ten seconds. Where
 * the launch is not said, or is to come, it counts from when it was listed first (P1, I10). */
static void test_stray_goes_by_its_age(void **state)
{
	static const struct shown none = {"", 5, "", PROVIDER_UNKNOWN};
	static const struct shown in = {"i-9", 5, "10.0.0.9", PROVIDER_RUNNING};
	static const struct {
		int64_t age; /* -1: it is not said */
		int64_t settle, want;
	} t[] = {{-1, 60000, 60000},    {0, 60000, 60000},       {20000, 60000, 40000},
		 {50000, 60000, 10000}, {7200000, 60000, 10000}, {-3600000, 60000, 60000},
		 {7200000, 5000, 5000}, {1000, 5000, 5000},      {-1, 5000, 5000}};
	struct fix *f = *state;

	for (size_t i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
		struct provider_instance row;
		struct cloud *c;
		int64_t wait;

		load(f, NODE_GONE, &none);
		c = &f->e->cloud->all[0];
		f->e->conf->providers[0].settle_ms = t[i].settle;
		snapshot_of(f, "other", "IDLE");
		row = row_of(f, &in);
		(void)snprintf(row.node, sizeof(row.node), "g1");
		row.created_ms = t[i].age == -1 ? 0 : loop_now(f->loop) - t[i].age;
		take(f, &row, 1);
		assert_true(f->e->poll.moving); /* slurmctld is asked soon */
		wait = cloud_stray_due(c, &c->strays[0]) - c->strays[0].first_ms;
		/* Time passes between its making and our look. */
		assert_in_range(wait, t[i].want - (t[i].age >= 0 ? 2000 : 0), t[i].want);
	}
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
		T(test_strays),
		T(test_stray_at_work),
		T(test_stray_whose_node_no_pool_names),
		T(test_stray_that_is_younger_than_the_snapshot),
		T(test_stray_that_changes),
		T(test_stray_goes_by_its_age),
	};
#undef T

	return cmocka_run_group_tests(tests, NULL, NULL);
}
