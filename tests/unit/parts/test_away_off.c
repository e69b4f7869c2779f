/* test_away_off.c - a provider that is off, or cannot give its machines their keys, counts as away.
 */
#include "away_world.h"

/* --- what would boot for nothing ---------------------------------------------------------------
 */

/* Machines of far claim their keys, and burstd's port for that is another's. */
static void keyless(struct fix *f, struct engine_door *door)
{
	f->e->keys->claims = mem_zalloc(sizeof(*f->e->keys->claims));
	map_init(&f->e->keys->claims->sets);
	map_init(&f->e->keys->claims->runs);
	f->e->d.door = door;
	f->e->conf->providers[1].attest = CONF_ATTEST_AWS;
	far(f)->listed = true;
}

/* After a while who waits for that is bought where a machine needs no keys; who comes then, at
 * once. */
static void test_what_could_not_get_its_keys_climbs(void **state)
{
	struct engine_door door = {.off = "[::]:6820: Address already in use"};
	struct fix *f = *state;

	load(f);
	keyless(f, &door);
	call(f, "c[1-2]", A_CALL);
	assert_string_equal(row(f, "c1")->provider, "far");
	launch_part.at[PART_RUN](f->e);
	far(f)->keyless_ms -= LIMIT - 1000;
	launch_part.at[PART_RUN](f->e);
	assert_int_equal(row(f, "c1")->state, NODE_WANTED);
	far(f)->keyless_ms -= 1000;
	launch_part.at[PART_RUN](f->e);
	assert_int_equal(row(f, "c1")->state, NODE_GONE);
	assert_string_equal(name_of(f, "c1")->why,
			    "far: its machines would get no keys: [::]:6820: Address already in "
			    "use");
	intake_part.at[PART_RUN](f->e);
	squeue(f, JOB);
	assert_string_equal(row(f, "c1")->provider, "cloud");
	assert_string_equal(row(f, "c2")->provider, "cloud");
	call(f, "c3", C3_CALL);
	assert_string_equal(row(f, "c3")->provider, "cloud");
	door.off = NULL;
	launch_part.at[PART_RUN](f->e);
	assert_true(far(f)->keyless_ms == 0);
	assert_null(cloud_keyless(f->e, 1));
}

/* Where there is no other, its job goes back, and is told; unreachable_after = 0: never. */
static void test_a_job_is_told_that_its_nodes_would_get_no_keys(void **state)
{
	struct engine_door door = {.off = "[::]:6820: Address already in use"};
	struct fix *f = *state;

	for (int never = 0; never < 2; never++) {
		load(f);
		keyless(f, &door);
		f->e->conf->providers[0].attest = CONF_ATTEST_AWS;
		if (never)
			f->e->conf->providers[1].unreachable_ms = 0;
		call(f, "c[1-2]", A_CALL);
		launch_part.at[PART_RUN](f->e);
		f->e->cloud->all[0].keyless_ms -= LIMIT;
		far(f)->keyless_ms -= LIMIT;
		launch_part.at[PART_RUN](f->e);
		assert_int_equal(row(f, "c1")->state, never ? NODE_WANTED : NODE_GONE);
		if (!never) {
			intake_part.at[PART_RUN](f->e);
			squeue(f, JOB);
			assert_true(name_of(f, "c1")->barred);
			assert_non_null(strstr(name_of(f, "c1")->why,
					       "there: far: its machines would get no keys: "));
		}
	}
}

/* --- a provider that is off --------------------------------------------------------------------
 */

static void put(const struct fix *f, const char *name, enum node_state state, bool accepted)
{
	struct journal_tx *tx = journal_begin(f->journal);
	struct node n;

	node_init(&n, name, 1, loop_now(f->loop) - 100000);
	n.state = state;
	n.accepted = accepted;
	n.release = state == NODE_DELETING;
	n.start_ms = n.wanted_ms;
	n.rate_nano_h = OD;
	if (state == NODE_DELETING)
		(void)snprintf(n.instance, sizeof(n.instance), "i-%s", name);
	(void)snprintf(n.provider, sizeof(n.provider), "far");
	(void)snprintf(n.offer, sizeof(n.offer), "there");
	journal_put_node(tx, &n, "pool");
	assert_int_equal(journal_commit(tx, NULL), 0);
}

static bool far_has_none;

static int some_files(void *ctx, struct conf_provider *p, size_t i, const char **credential,
		      struct err *e)
{
	(void)ctx;
	(void)p;
	*credential = "word";
	return i == 1 && far_has_none ? err_set(e, ERR_IO, "no credential") : 0;
}

/* One that is off answers as little as one that is away: what may be there keeps its name, its job
 * goes back, whole, and is told; and whoever waits for a delete there does not wait for ever (P2).
 */
static void test_one_that_is_off_is_away(void **state)
{
	struct fix *f = *state;
	struct plan_pool pool = {.unreached = 0};
	struct node n;

	put(f, "c1", NODE_INDOUBT, false);
	put(f, "c2", NODE_DELETING, false);
	put(f, "c3", NODE_DELETING, true);
	fake_files = some_files;
	far_has_none = true;
	load(f);
	fake_files = NULL;
	assert_true(off_is(far(f)));
	for (int i = 1; i <= 3; i++) {
		char name[3] = {'c', (char)('0' + i), '\0'};

		name_of(f, name)->flags = SLURM_KNOWN | SLURM_ALLOCATED | SLURM_POWERING_UP;
	}
	node_init(&n, "c2", 2, loop_now(f->loop));
	place_set(f->e, &n, &f->e->conf->pools[0].offers[1], OD);
	engine_want(f->e, &n, "test");
	away_run(f->e);
	assert_int_equal(row(f, "c1")->state, NODE_INDOUBT);
	assert_true(name_of(f, "c1")->barred);
	assert_int_equal(name_of(f, "c1")->refused, NODE_BECAUSE_UNREACHABLE);
	assert_non_null(strstr(name_of(f, "c1")->why, "far cannot be reached: no credential"));
	refuse_part.squeue_says(f->e, "7|7|CONFIGURING|gpu|None|c1|(null)\n", 35, NULL);
	engine_commit(f->e);
	assert_true(row(f, "c1")->release);
	assert_true(fleet_stuck(name_of(f, "c1")));
	assert_int_equal(row(f, "c2")->state, NODE_GONE);
	assert_int_equal(row(f, "c2")->reason, NODE_BECAUSE_UNREACHABLE);
	assert_true(fleet_stuck(name_of(f, "c2")));
	assert_false(fleet_stuck(name_of(f, "c3"))); /* it goes, as its provider has said */
	away_count(f->e, &pool);
	assert_int_equal(pool.unreached, 3);
	assert_int_equal(pool.stays, 1);
	assert_int_equal(pool.stays_nano_h, OD);
	assert_string_equal(pool.unreached_at, "far");
	/* It is on again. */
	far_has_none = false;
	off_hurry(f->e);
	off_run(far(f));
	assert_false(off_is(far(f)));
	assert_false(fleet_stuck(name_of(f, "c1")));
}

/* What a provider has taken to delete leaves its pool when a list of it says so; of one that is
 * away, or off, none comes: who waited for that would wait for ever, and not be told (I21). */
static void test_what_leaves_there_is_not_waited_for(void **state)
{
	struct fix *f = *state;

	for (int off = 0; off < 2; off++) {
		put(f, "c1", NODE_DELETING, true);
		put(f, "c2", NODE_DELETING, true);
		fake_files = some_files;
		far_has_none = off;
		load(f);
		fake_files = NULL;
		f->e->conf->pools[0].max_nodes = 2;
		if (!off) {
			far(f)->listed = true;
			call(f, "c3", C3_CALL);
			assert_false(name_of(f, "c3")->barred); /* as ever: it waits for them */
			silent(f, LIMIT);
		}
		away_run(f->e);
		call(f, "c3", C3_CALL);
		assert_true(name_of(f, "c3")->barred);
		assert_null(name_of(f, "c3")->newest);
		assert_string_equal(name_of(f, "c3")->why,
				    "pool pool: max_nodes 2 reached; 2 of its nodes may be at "
				    "far, which cannot be reached");
		f->e->conf->pools[0].max_nodes = 3;
		f->e->conf->pools[0].max_rate_nano_h = INT64_C(2) * OD;
		call(f, "c3", C3_CALL);
		assert_null(name_of(f, "c3")->newest);
		assert_non_null(strstr(name_of(f, "c3")->why, "max_rate 2.00 EUR/h reached; 2 of"));
	}
}

/* Nor does it keep the others of its pool from selling, for longer than one that is away does. */
static void test_one_that_is_off_keeps_no_other_from_selling(void **state)
{
	struct fix *f = *state;

	fake_files = some_files;
	far_has_none = true;
	load(f);
	fake_files = NULL;
	assert_true(doubt_looked(f->e, 0));
	assert_null(pool_blocked(f->e, 0));
	/* There may be an instance that nobody knows of. */
	f->e->cloud->doubtful = true;
	assert_false(doubt_looked(f->e, 0));
	assert_non_null(strstr(pool_blocked(f->e, 0), "far has not listed its instances"));
}

/* F26: what failed with all else says nothing of its place, which would be left alone as soon as
 * the provider is back. */
static void test_purchases_that_fail_with_all_else_close_no_place(void **state)
{
	struct fix *f = *state;
	const struct cooldown_place there = {
		.place = {.provider = "far", .type = "there", .region = "r"}, .patience_ms = LIMIT};

	load(f);
	(void)cooldown_bought(&f->e->cloud->cooldown, &there, PROVIDER_TRANSIENT, engine_now(f->e),
			      engine_now(f->e));
	silent(f, LIMIT);
	assert_int_equal(f->e->cloud->cooldown.places.n, 1);
	heard(f, PROVIDER_LIST, PROVIDER_OK);
	assert_int_equal(f->e->cloud->cooldown.places.n, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(test_one_that_is_off_is_away),
		T(test_what_leaves_there_is_not_waited_for),
		T(test_one_that_is_off_keeps_no_other_from_selling),
		T(test_purchases_that_fail_with_all_else_close_no_place),
		T(test_what_could_not_get_its_keys_climbs),
		T(test_a_job_is_told_that_its_nodes_would_get_no_keys),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
