/* away.c, away_run.c: a provider that cannot be reached, and what is held there (F26, P2). */
#include "away_world.h"

static void post(struct fix *f, const char *node, enum node_event_type type)
{
	struct node_event ev = {.type = type, .now_ms = engine_now(f->e), .batch = 7};

	engine_post(f->e, name_of(f, node)->newest, &ev);
	engine_commit(f->e);
}

/* --- when is it away ---------------------------------------------------------------------------
 */

static void test_when(void **state)
{
	static const struct {
		const char *what;
		bool listed;
		enum provider_op_kind kind;
		enum provider_code code;
		bool away, back; /* after so long of that; by one such answer, when it was away */
	} rows[] = {
		{"lists fail", true, PROVIDER_LIST, PROVIDER_TRANSIENT, true, false},
		{"creates are not answered", true, PROVIDER_CREATE, PROVIDER_AMBIGUOUS, true,
		 false},
		{"deletes fail", true, PROVIDER_DELETE, PROVIDER_TRANSIENT, true, false},
		{"it cannot be logged in", true, PROVIDER_LOGIN, PROVIDER_DENIED, true, false},
		{"refused is answered", true, PROVIDER_CREATE, PROVIDER_CAPACITY, false, true},
		{"throttled is answered", true, PROVIDER_LIST, PROVIDER_RATE, false, true},
		{"offers are another service's", true, PROVIDER_QUOTES, PROVIDER_TRANSIENT, false,
		 false},
		{"so are notices", true, PROVIDER_NOTICES, PROVIDER_TRANSIENT, false, false},
		{"logged in is not served", true, PROVIDER_LOGIN, PROVIDER_OK, false, false},
		{"a step of a login is one that goes on", true, PROVIDER_LOGIN, PROVIDER_MORE,
		 false, false},
		{"never listed: lists are denied", false, PROVIDER_LIST, PROVIDER_DENIED, true,
		 false},
		{"never listed: it cannot be logged in", false, PROVIDER_LOGIN, PROVIDER_DENIED,
		 true, false},
		{"never listed: deletes go", false, PROVIDER_DELETE, PROVIDER_OK, false, false},
		{"never listed, until it is", false, PROVIDER_LIST, PROVIDER_OK, false, true},
	};
	struct fix *f = *state;

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		load(f);
		far(f)->listed = rows[i].listed;
		for (int k = 0; k < 3; k++) {
			heard(f, rows[i].kind, rows[i].code);
			far(f)->mute_ms -= far(f)->mute_ms != 0 ? LIMIT / 2 : 0;
			far(f)->blind_ms -= far(f)->blind_ms != 0 ? LIMIT / 2 : 0;
			if (k < 2 && away_since(far(f)) != 0)
				fail_msg("%s: too early", rows[i].what);
		}
		if ((away_since(far(f)) != 0) != rows[i].away)
			fail_msg("%s: is it away?", rows[i].what);
		silent(f, LIMIT);
		assert_true(away_since(far(f)) != 0);
		heard(f, rows[i].kind, rows[i].code);
		if ((away_since(far(f)) == 0) != rows[i].back)
			fail_msg("%s: is it back?", rows[i].what);
		assert_int_equal(far(f)->list_step == ENGINE_LOOK_MS,
				 rows[i].back && rows[i].kind == PROVIDER_LIST);
		if (rows[i].back && rows[i].kind != PROVIDER_LIST)
			assert_in_range(engine_now(f->e) - far(f)->list_next, 0, 999);
	}
}

/* unreachable_after = 0: nobody is given up, however long it takes. */
static void test_never(void **state)
{
	struct conf *c = make_two();
	struct fix *f = *state;

	c->providers[1].unreachable_ms = 0;
	assert_int_equal(load_conf(f, c, NULL), 0);
	silent(f, INT64_C(30) * 86400000);
	assert_true(away_since(far(f)) == 0);
	assert_false(f->e->cloud->aways);
}

/* --- what was never sent -----------------------------------------------------------------------
 */

/* A request that never left us, one that never was made, and one at a provider that was never
 * listed since the start: their nodes are bought elsewhere. */
static void test_what_was_never_sent_climbs(void **state)
{
	struct fix *f = *state;

	for (int listed = 0; listed < 2; listed++) {
		load(f);
		call(f, "c[1-2]", A_CALL);
		assert_string_equal(row(f, "c1")->provider, "far");
		far(f)->listed = listed;
		post(f, "c2", NODE_EV_START);
		post(f, "c2", NODE_EV_NOTSENT);
		silent(f, LIMIT - 1000);
		launch_part.at[PART_RUN](f->e);
		assert_int_equal(row(f, "c1")->state, NODE_WANTED);
		assert_int_equal(row(f, "c2")->state, NODE_WANTED);
		silent(f, LIMIT);
		away_run(f->e);
		assert_int_equal(row(f, "c1")->state, NODE_GONE);
		assert_int_equal(row(f, "c1")->reason, NODE_BECAUSE_UNREACHABLE);
		assert_non_null(strstr(name_of(f, "c1")->why, "far cannot be reached: list: "));
		intake_part.at[PART_RUN](f->e);
		squeue(f, JOB);
		for (int k = 1; k <= 2; k++) {
			const struct node *n = row(f, k == 1 ? "c1" : "c2");

			assert_int_equal(n->state, NODE_WANTED);
			assert_string_equal(n->provider, "cloud");
			assert_true(doubt_may_send(f->e, n)); /* the other one is away, and known */
		}
		load_conf(f, make_two(), NULL); /* and what is away is forgotten with its engine */
		for (int k = 0; k < 20; k++) {
			struct journal_tx *tx = journal_begin(f->journal);

			journal_del_node(tx, "c1", (uint64_t)k);
			journal_del_node(tx, "c2", (uint64_t)k);
			assert_int_equal(journal_commit(tx, NULL), 0);
		}
	}
}

/* P2: with a journal that may have lost what is there nothing is bought elsewhere; the job goes
 * back, and is told whose list is missing. */
static void test_nothing_climbs_with_a_doubtful_journal(void **state)
{
	struct fix *f = *state;

	load(f);
	f->e->cloud->doubtful = true;
	call(f, "c[1-2]", A_CALL);
	away_run(f->e);
	assert_int_equal(row(f, "c1")->state, NODE_WANTED);
	assert_null(pool_blocked(f->e, 0));
	silent(f, LIMIT);
	launch_part.at[PART_RUN](f->e);
	intake_part.at[PART_RUN](f->e);
	squeue(f, JOB);
	assert_int_equal(row(f, "c1")->state, NODE_GONE);
	assert_int_equal(row(f, "c1")->gen, 1); /* no other */
	assert_true(name_of(f, "c1")->barred);
	assert_int_equal(name_of(f, "c1")->refused, NODE_BECAUSE_UNREACHABLE);
	assert_non_null(strstr(name_of(f, "c1")->why, "far has not listed its instances"));
	far(f)->listed = true;
	doubt_list_seen(f->e);
	assert_null(pool_blocked(f->e, 0));
}

/* --- what may be there -------------------------------------------------------------------------
 */

/* P2: a create in doubt keeps its node's name; its job goes back, whole, and so do others that are
 * given this node. */
static void test_what_is_in_doubt_keeps_its_name(void **state)
{
	struct fix *f = *state;
	struct fleet_name *c1;

	load(f);
	far(f)->listed = true;
	call(f, "c[1-2]", A_CALL);
	c1 = name_of(f, "c1");
	c1->flags = name_of(f, "c2")->flags = SLURM_KNOWN | SLURM_ALLOCATED | SLURM_POWERING_UP;
	post(f, "c1", NODE_EV_START);
	post(f, "c1", NODE_EV_LOST);
	silent(f, LIMIT - 1000);
	away_run(f->e);
	assert_false(c1->barred);
	silent(f, LIMIT);
	away_run(f->e);
	assert_int_equal(row(f, "c1")->state, NODE_INDOUBT);
	assert_true(c1->barred);
	assert_int_equal(c1->refused, NODE_BECAUSE_UNREACHABLE);
	f->e->jobs->refuse_due = false;
	away_run(f->e);
	assert_false(f->e->jobs->refuse_due); /* I30: squeue is asked once, not in each turn */
	refuse_part.squeue_says(f->e, JOB, strlen(JOB), NULL);
	engine_commit(f->e);
	assert_true(row(f, "c1")->release);
	assert_int_equal(row(f, "c1")->state, NODE_INDOUBT);
	assert_ptr_equal(fleet_unreached(c1), c1->newest);
	assert_true(fleet_stuck(c1));
	c1->barred = false;
	away_run(f->e); /* it was told once, and nobody waits for this one any more */
	assert_false(c1->barred);
	/* the next job that has it */
	call(f, "c[1,3]",
	     "{\"jobs\":[{\"job_id\":8,\"features\":null,\"nodes_alloc\":\"c[1,3]\"}]}");
	assert_int_equal(row(f, "c1")->gen, 1);
	assert_true(c1->barred);
	assert_non_null(strstr(c1->why, "far cannot be reached, and may have an instance of c1"));
	assert_int_equal(c1->refused, NODE_BECAUSE_UNREACHABLE);
	assert_null(name_of(f, "c3")->newest);
	/* it is back */
	heard(f, PROVIDER_LIST, PROVIDER_OK);
	away_run(f->e);
	assert_false(fleet_stuck(c1));
}

/* I18: slurmctld has it up: there is an instance, whatever its provider could tell. */
static void test_what_is_up_is_not_refused(void **state)
{
	struct fix *f = *state;

	load(f);
	far(f)->listed = true;
	call(f, "c1", "{\"jobs\":[{\"job_id\":7,\"features\":null,\"nodes_alloc\":\"c1\"}]}");
	post(f, "c1", NODE_EV_START);
	post(f, "c1", NODE_EV_LOST);
	name_of(f, "c1")->flags = SLURM_KNOWN | SLURM_ALLOCATED;
	silent(f, LIMIT);
	away_run(f->e);
	assert_false(name_of(f, "c1")->barred);
	f->e->poll.snapshot_ms = 0; /* nor while slurmctld has said nothing */
	name_of(f, "c1")->flags = 0;
	away_run(f->e);
	assert_false(name_of(f, "c1")->barred);
}

/* I18: its create is answered after all, before slurmctld has heard of the refusal. */
static void test_what_turns_out_to_be_there_is_not_sent_back(void **state)
{
	static const char *const nodes[] = {"c1", "c2"}; /* of c2 it has heard */
	struct fix *f = *state;

	load(f);
	far(f)->listed = true;
	call(f, "c[1-2]", A_CALL);
	for (int i = 0; i < 2; i++) {
		name_of(f, nodes[i])->flags = SLURM_KNOWN | SLURM_ALLOCATED | SLURM_POWERING_UP;
		post(f, nodes[i], NODE_EV_START);
		post(f, nodes[i], NODE_EV_LOST);
	}
	silent(f, LIMIT);
	away_run(f->e);
	for (int heard = 0; heard < 2; heard++) {
		struct provider_instance in = {.gen = 1, .addr = "10.0.0.1"};
		struct node_event ev = {.type = NODE_EV_CREATED, .instance = &in};
		struct fleet_name *nm = name_of(f, nodes[heard]);

		(void)snprintf(in.id, sizeof(in.id), "i-%d", heard);
		(void)snprintf(in.node, sizeof(in.node), "%s", nodes[heard]);
		assert_true(nm->barred);
		nm->forced_ms = nm->refused_ms + (heard ? 0 : -1);
		ev.now_ms = engine_now(f->e);
		engine_post(f->e, nm->newest, &ev);
		engine_commit(f->e);
		assert_int_equal(nm->newest->n.state, NODE_BOOTING);
		assert_int_equal(nm->barred, heard);
		assert_int_equal(nm->refused, heard ? NODE_BECAUSE_UNREACHABLE : NODE_BECAUSE_NONE);
	}
}

/* A delete that nobody took keeps the name as well, and a row that waits for it goes. */
static void test_what_waits_for_a_delete_there_goes(void **state)
{
	struct fix *f = *state;
	struct node n;

	for (int accepted = 0; accepted < 2; accepted++) {
		struct journal_tx *tx = journal_begin(f->journal);

		node_init(&n, "c1", 1, loop_now(f->loop) - 100000);
		n.state = NODE_DELETING;
		n.release = true;
		n.accepted = accepted;
		n.rate_nano_h = OD;
		(void)snprintf(n.instance, sizeof(n.instance), "i-1");
		(void)snprintf(n.provider, sizeof(n.provider), "far");
		(void)snprintf(n.offer, sizeof(n.offer), "there");
		journal_del_node(tx, "c1", 2);
		journal_put_node(tx, &n, "pool");
		assert_int_equal(journal_commit(tx, NULL), 0);
		load(f);
		far(f)->listed = true;
		name_of(f, "c1")->flags = SLURM_KNOWN | SLURM_ALLOCATED | SLURM_POWERING_UP;
		node_init(&n, "c1", 2, loop_now(f->loop));
		place_set(f->e, &n, &f->e->conf->pools[0].offers[1], OD);
		engine_want(f->e, &n, "test");
		silent(f, LIMIT);
		away_run(f->e);
		assert_int_equal(row(f, "c1")->state, accepted ? NODE_WANTED : NODE_GONE);
		assert_int_equal(fleet_stuck(name_of(f, "c1")), !accepted);
	}
}

/* What was in doubt there came up when it was back: when that is let go later, its node waits for
 * the delete as any other does, and is not taken for one that nobody can ask about. */
static void test_what_came_up_is_forgotten(void **state)
{
	struct provider_instance in = {.id = "i-1", .node = "c1", .gen = 1};
	struct fix *f = *state;
	struct node_event ev = {.type = NODE_EV_SEEN, .instance = &in};
	struct fleet_name *c1;

	load(f);
	far(f)->listed = true;
	call(f, "c1", "{\"jobs\":[{\"job_id\":7,\"features\":null,\"nodes_alloc\":\"c1\"}]}");
	c1 = name_of(f, "c1");
	post(f, "c1", NODE_EV_START);
	post(f, "c1", NODE_EV_LOST);
	silent(f, LIMIT);
	away_run(f->e);
	assert_true(c1->newest->unreached);
	heard(f, PROVIDER_LIST, PROVIDER_OK);
	in.state = PROVIDER_RUNNING;
	ev.now_ms = engine_now(f->e);
	engine_post(f->e, c1->newest, &ev);
	engine_commit(f->e);
	assert_int_equal(row(f, "c1")->state, NODE_BOOTING);
	away_run(f->e);
	post(f, "c1", NODE_EV_RELEASE);
	assert_int_equal(row(f, "c1")->state, NODE_DELETING);
	away_run(f->e);
	assert_false(fleet_stuck(c1));
}

/* What it is told is by the wall clock, however that was set since (F57). */
static void test_a_job_is_told_the_time_of_the_wall_clock(void **state)
{
	struct provider_result r = {.code = PROVIDER_CAPACITY};
	struct fix *f = *state;
	char at[FMT_TIME_SIZE], why[200];

	load(f);
	f->e->ahead_ms = 3600000;
	for (size_t i = 0; i < 2; i++)
		place_bought(f->e, &f->e->conf->pools[0].offers[i], &r, 1, engine_now(f->e));
	call(f, "c3", C3_CALL);
	(void)engine_time(f->e, at, place_ready_ms(f->e, &f->e->conf->pools[0].offers[0]));
	(void)snprintf(why, sizeof(why), "no capacity: cools down until %.19sZ", at);
	assert_non_null(strstr(name_of(f, "c3")->why, why));
}

/* --- a provider that is off --------------------------------------------------------------------
 */

/* F26: of a list only its last page says whether the provider is there (list.c); all other
 * answers do, and those that are about machines say what their place is like as well. */
static void test_parts_hear_what_became_of_a_request(void **state)
{
	const struct provider_result ok = {.code = PROVIDER_OK}, denied = {.code = PROVIDER_DENIED};
	struct fix *f = *state;

	load(f);
	far(f)->mute_ms = engine_now(f->e) - 1000;
	engine_heard(f->e, far(f), PROVIDER_LIST, &ok, engine_now(f->e));
	assert_true(far(f)->mute_ms != 0);
	assert_int_equal(f->e->cloud->cooldown.places.n, 0);
	engine_heard(f->e, far(f), PROVIDER_DELETE, &denied, engine_now(f->e));
	assert_int_equal(far(f)->mute_ms, 0);
	assert_int_equal(f->e->cloud->cooldown.places.n, 1);
	engine_heard(f->e, far(f), PROVIDER_DELETE, &ok, engine_now(f->e) + 1000);
	assert_int_equal(f->e->cloud->cooldown.places.n, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(test_parts_hear_what_became_of_a_request),
		T(test_when),
		T(test_never),
		T(test_what_was_never_sent_climbs),
		T(test_nothing_climbs_with_a_doubtful_journal),
		T(test_what_is_in_doubt_keeps_its_name),
		T(test_what_is_up_is_not_refused),
		T(test_what_turns_out_to_be_there_is_not_sent_back),
		T(test_what_waits_for_a_delete_there_goes),
		T(test_what_came_up_is_forgotten),
		T(test_a_job_is_told_the_time_of_the_wall_clock),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
