/* test_notice.c - a word that a machine will be taken away: whom it means, what is written down,
 * and what slurmctld is told at once.
 *
 * On a real engine that is loaded and never started, so that nothing is sent: the orders wait. */
#include "loaded_engine.h"

#include "cloud/cloud.h"
#include "diff/diff.h"
#include "io/proc.h"
#include "jobs/jobs.h"
#include "store/journal_events.h"

static struct fleet_node *add(struct fix *f, const char *name, uint64_t gen, enum node_state state)
{
	struct node n;
	char id[32];

	node_init(&n, name, gen, engine_now(f->e));
	n.state = state;
	n.start_ms = 1;
	(void)snprintf(id, sizeof(id), "i-%s-%d", name, (int)gen);
	memcpy(n.instance, id, sizeof(id));
	return fleet_add(&f->e->fleet, &n);
}

static void add_all(struct fix *f)
{
	(void)add(f, "c1", 1, NODE_GONE);
	(void)add(f, "c1", 2, NODE_READY);
	(void)add(f, "c2", 1, NODE_BOOTING);
	(void)add(f, "c3", 1, NODE_DELETING);
	fleet_find(&f->e->fleet, "c1")->flags = SLURM_KNOWN | SLURM_ALLOCATED;
	fleet_find(&f->e->fleet, "c2")->flags = SLURM_KNOWN | SLURM_POWERING_UP;
}

static int start(void **state)
{
	struct fix *f;

	(void)setup(state);
	f = *state;
	assert_int_equal(load_conf(f, make_conf(), NULL), 0);
	add_all(f);
	return 0;
}

static struct fleet_node *live(const struct fix *f, const char *name)
{
	return fleet_live(fleet_find(&f->e->fleet, name));
}

static enum engine_noticed tell(struct fix *f, const char *what, enum provider_notice_kind kind,
				int64_t at_ms)
{
	const struct engine_notice n = {
		.instance = what, .kind = kind, .at_ms = at_ms, .reason = "r", .by = "root"};
	struct engine_notice_end end;

	assert_int_equal(engine_take_notices(f->e, &n, 1, &end, NULL), 0);
	engine_commit(f->e);
	return end.so;
}

/* The first order that waits for slurmctld, and that there is no other. */
static void assert_order(struct fix *f, const char *verb, const char *names)
{
	struct slurm_order o = {.verb = "none", .names = ""};

	(void)slurm_next(f->e->slurm, &o);
	assert_string_equal(o.verb, verb);
	assert_string_equal(o.names, names);
}

static int keep_event(void *ctx, const struct journal_event *ev)
{
	char *out = ctx;
	size_t n = strlen(out);

	(void)snprintf(out + n, 2000 - n, "%s %s: %s\n", ev->node, ev->type, ev->detail);
	return 0;
}

static void assert_told(struct fix *f, const char *want)
{
	char all[2000] = "";

	assert_int_equal(journal_events(f->journal, 0, NULL, 100, keep_event, all, NULL), 0);
	if (strstr(all, want) == NULL)
		fail_msg("\"%s\" is not in:\n%s", want, all);
}

static void test_a_node_is_fenced_at_once(void **state)
{
	struct fix *f = *state;

	assert_int_equal(tell(f, "c1", PROVIDER_NOTICE_RECLAIM, 0), ENGINE_NOTICE_TAKEN);
	assert_int_equal(live(f, "c1")->n.state, NODE_DRAINING);
	assert_non_null(fleet_find(&f->e->fleet, "c1")->lookup); /* its jobs first */
	assert_in_range(fleet_find(&f->e->fleet, "c1")->fenced_ms, 1, engine_now(f->e));
	assert_order(f, "drain", "c1");
	assert_told(f, "c1 notice: i-c1-2: reclaim: the provider takes its capacity back (r); "
		       "reported by root\n");
	assert_int_equal(engine_notices(f->e, 0, PROVIDER_NOTICE_RECLAIM), 1);
}

/* F41: what is known already is no news. */
static void test_a_notice_that_is_known_leaves_no_trace(void **state)
{
	struct fix *f = *state;
	struct provider_notice n = {.id = "i-c1-2", .at_ms = engine_now(f->e) + 60000};
	int64_t last;

	notice_part.noticed(&f->e->cloud->all[0], &n);
	engine_commit(f->e);
	last = journal_last_event(f->journal);
	notice_part.noticed(&f->e->cloud->all[0], &n);
	n.at_ms += 5000; /* the earliest end counts */
	notice_part.noticed(&f->e->cloud->all[0], &n);
	n.kind = PROVIDER_NOTICE_MAINTENANCE;
	notice_part.noticed(&f->e->cloud->all[0], &n);
	engine_commit(f->e);
	assert_int_equal(journal_last_event(f->journal), last);
	assert_int_equal(live(f, "c1")->n.notice, PROVIDER_NOTICE_RECLAIM);
	assert_order(f, "drain", "c1");
}

/* t is `later` after the time of the call, which came after `began`. */
static void assert_now_or_so(const struct fix *f, int64_t t, int64_t began, int64_t later)
{
	assert_in_range(t, began + later, engine_now(f->e) + later);
}

/* The provider's clock may be another: no end lies in the past, and no reclaim further away than
 * the provider tells of one.  Again and again it is no news either. */
static void test_an_end_by_a_clock_that_is_wrong_is_put_right(void **state)
{
	static const struct {
		int64_t from_now, longest, want;
		enum provider_notice_kind kind;
	} t[] = {
		{60000, 120000, 60000, PROVIDER_NOTICE_RECLAIM},
		{420000, 120000, 120000, PROVIDER_NOTICE_RECLAIM}, /* it is five minutes ahead */
		{-180000, 120000, 0, PROVIDER_NOTICE_RECLAIM},     /* ... or behind */
		{420000, 0, 420000, PROVIDER_NOTICE_RECLAIM},
		{86400000, 120000, 86400000, PROVIDER_NOTICE_MAINTENANCE},
		{-1, 120000, 0, PROVIDER_NOTICE_MAINTENANCE},
	};
	struct fix *f = *state;
	struct cloud *c = &f->e->cloud->all[0];
	const int64_t now = engine_now(f->e);

	for (size_t i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
		c->caps.reclaim_ms = t[i].longest;
		assert_now_or_so(f, notice_when(c, t[i].kind, now + t[i].from_now), now, t[i].want);
	}
	assert_int_equal(notice_when(c, PROVIDER_NOTICE_RECLAIM, 0), 0); /* it is not said */
	c->dated = true; /* F57: by the provider's clock, an hour behind our time */
	c->ahead_ms = 3600000;
	c->caps.reclaim_ms = 120000;
	assert_now_or_so(f, notice_when(c, PROVIDER_NOTICE_RECLAIM, now - 3540000), now, 60000);
	c->dated = false;
	c->ahead_ms = 0;
	c->caps.reclaim_ms = 120000;
	notice_part.noticed(c, &(struct provider_notice){.id = "i-c1-2", .at_ms = now + 420000});
	engine_commit(f->e);
	assert_now_or_so(f, live(f, "c1")->n.deadline_ms, now, 120000);
}

static void test_an_end_that_a_list_tells_is_put_right_too(void **state)
{
	struct fix *f = *state;
	struct cloud *c = &f->e->cloud->all[0];

	c->seen = mem_zalloc(sizeof(*c->seen));
	c->seen[0] = (struct provider_instance){.id = "i-c1-2",
						.node = "c1",
						.gen = 2,
						.state = PROVIDER_RECLAIMING,
						.reclaim_ms = 1};
	memcpy(c->seen[0].cluster, uuid, sizeof(uuid));
	c->nseen = 1;
	c->list_began = engine_now(f->e);
	assert_true(inventory_part.listed(c));
	c->comparison = (struct comparison){.runs = false};
	engine_commit(f->e);
	assert_int_equal(live(f, "c1")->n.state, NODE_DRAINING);
	assert_now_or_so(f, live(f, "c1")->n.deadline_ms, c->list_began, 0);
}

static void test_what_is_not_meant_is_left_alone(void **state)
{
	struct fix *f = *state;
	int64_t last;

	assert_int_equal(tell(f, "i-nobody", PROVIDER_NOTICE_RECLAIM, 0), ENGINE_NOTICE_UNKNOWN);
	/* An instance of before has gone: its id says nothing of the next one. */
	assert_int_equal(tell(f, "i-c1-1", PROVIDER_NOTICE_FAULTY, 0), ENGINE_NOTICE_UNKNOWN);
	assert_int_equal(tell(f, "i-c3-1", PROVIDER_NOTICE_RECLAIM, 0), ENGINE_NOTICE_LATE);
	assert_told(
		f, "c3 notice: i-c3-1: reclaim: the provider takes its capacity back (r); nothing "
		   "to do: it has no instance, or one that is already leaving; reported by root\n");
	assert_int_equal(tell(f, "c3", PROVIDER_NOTICE_RECLAIM, 0), ENGINE_NOTICE_LATE);
	/* Its provider has it back, and its delete waits for no report. */
	f->e->cloud->all[0].caps.flags |= PROVIDER_REPORTS;
	assert_int_equal(tell(f, "i-c3-1", PROVIDER_NOTICE_FAULTY, 0), ENGINE_NOTICE_LATE);
	assert_int_equal(f->e->cloud->nreports, 0);
	/* A queue that is shared with others tells of theirs: that is no news. */
	last = journal_last_event(f->journal);
	assert_true(notice_part.noticed(&f->e->cloud->all[0],
					&(struct provider_notice){.id = "i-nobody"}));
	engine_commit(f->e);
	assert_int_equal(journal_last_event(f->journal), last);
	assert_int_equal(f->e->count.notices_foreign, 1);
	assert_int_equal(engine_notices(f->e, 0, PROVIDER_NOTICE_RECLAIM), 1); /* i-c3-1 */
	assert_int_equal(live(f, "c1")->n.state, NODE_READY);
	assert_order(f, "none", "");
}

/* The answer to a create is still to come, or lost: what is told of instances that nobody knows may
 * be about that. */
static void test_a_notice_may_come_before_the_answer_to_the_create(void **state)
{
	static const enum node_state early[] = {NODE_CREATING, NODE_INDOUBT};
	static const char *const ids[] = {"i-first", "i-second"};
	const struct provider_notice other = {.id = "i-nobody"};

	for (size_t i = 0; i < 2; i++) {
		struct fix *f = *state;
		struct provider_notice n = {.kind = PROVIDER_NOTICE_FAULTY};
		struct provider_instance in = {.state = PROVIDER_RUNNING};
		struct node_event ev = {.type = NODE_EV_CREATED, .instance = &in};
		struct fleet_node *fn = add(f, "c4", i + 1, early[i]);

		fn->n.instance[0] = '\0';
		memcpy(n.id, ids[i], strlen(ids[i]) + 1);
		memcpy(in.id, ids[i], strlen(ids[i]) + 1);
		assert_false(notice_part.noticed(&f->e->cloud->all[0], &n));
		assert_false(notice_part.noticed(&f->e->cloud->all[0], &n)); /* told again */
		assert_false(notice_part.noticed(&f->e->cloud->all[0], &other));
		assert_int_equal(f->e->jobs->notices.nearly, 2);
		notice_part.at[PART_RUN](f->e);
		assert_int_equal(fn->n.state, early[i]);
		ev.now_ms = engine_now(f->e);
		engine_post(f->e, fn, &ev);
		engine_commit(f->e);
		notice_part.at[PART_RUN](f->e);
		assert_int_equal(fn->n.state, NODE_DRAINING);
		assert_int_equal(fn->n.notice, PROVIDER_NOTICE_FAULTY);
		assert_int_equal(f->e->jobs->notices.nearly, 1);
		assert_true(notice_part.noticed(&f->e->cloud->all[0], &n));
		f->e->jobs->notices.nearly = 0;
		/* With all of ours known, others are others. */
		assert_true(notice_part.noticed(&f->e->cloud->all[0], &other));
		fleet_stage(fn)->state = NODE_GONE;
		fleet_publish(&f->e->fleet, fn);
	}
}

static void test_notices_that_came_too_early_are_not_kept_for_ever(void **state)
{
	struct fix *f = *state;
	struct fleet_node *fn = add(f, "c4", 1, NODE_CREATING);
	struct provider_notice n = {.kind = PROVIDER_NOTICE_RECLAIM};

	fn->n.instance[0] = '\0';
	for (int i = 0; i < 1010; i++) {
		(void)snprintf(n.id, sizeof(n.id), "i-%d", i);
		assert_false(notice_part.noticed(&f->e->cloud->all[0], &n));
	}
	assert_int_equal(f->e->jobs->notices.nearly, 1000);
	assert_string_equal(f->e->jobs->notices.early[0].n.id, "i-10"); /* the newest */
	assert_string_equal(f->e->jobs->notices.early[999].n.id, "i-1009");
	f->e->jobs->notices.early[999].first_ms -= 600000;
	assert_true(notice_part.noticed(&f->e->cloud->all[0], &n)); /* nobody will know it */
	f->e->jobs->notices.early[5].first_ms -= 660000;
	f->e->jobs->notices.due = true;
	notice_part.at[PART_RUN](f->e);
	assert_int_equal(f->e->jobs->notices.nearly, 999);
}

static void test_rebalance_is_for_pools_that_want_it(void **state)
{
	struct fix *f = *state;

	assert_int_equal(tell(f, "c1", PROVIDER_NOTICE_REBALANCE, 0), ENGINE_NOTICE_IGNORED);
	assert_int_equal(live(f, "c1")->n.state, NODE_READY);
	f->e->conf->pools[0].rebalance = CONF_REBALANCE_DRAIN;
	fleet_find(&f->e->fleet, "c1")->by_admin = true; /* an admin has it in hand */
	assert_int_equal(tell(f, "c1", PROVIDER_NOTICE_REBALANCE, 0), ENGINE_NOTICE_IGNORED);
	fleet_find(&f->e->fleet, "c1")->by_admin = false;
	assert_int_equal(tell(f, "c1", PROVIDER_NOTICE_REBALANCE, 0), ENGINE_NOTICE_TAKEN);
	assert_null(fleet_find(&f->e->fleet, "c1")->lookup); /* its jobs may end */
	assert_false(notice_moving(f->e));
	assert_order(f, "drain", "c1");
	assert_true(engine_force_ms(f->e, "c1") == INT64_MAX);
}

static void test_what_is_drained_already_stays_as_it_is(void **state)
{
	static const uint32_t flags[] = {SLURM_DRAIN, SLURM_DOWN};

	for (size_t i = 0; i < 2; i++) {
		struct fix *f = *state;

		fleet_find(&f->e->fleet, "c1")->flags = SLURM_KNOWN | SLURM_ALLOCATED | flags[i];
		assert_int_equal(tell(f, "c1", PROVIDER_NOTICE_MAINTENANCE, 0),
				 ENGINE_NOTICE_TAKEN);
		assert_order(f, "none", "");
	}
}

static void test_jobs_with_time_are_told_and_their_node_stays(void **state)
{
	struct fix *f = *state;
	int64_t now = engine_now(f->e);

	f->e->conf->pools[0].checkpoint_signal = mem_strdup("USR1");
	assert_int_equal(tell(f, "c1", PROVIDER_NOTICE_RECLAIM, now + 120000), ENGINE_NOTICE_TAKEN);
	assert_order(f, "drain", "c1");
	assert_non_null(fleet_find(&f->e->fleet, "c1")->lookup);
	assert_true(engine_force_ms(f->e, "c1") == now + 110000);
	assert_true(notice_moving(f->e));
}

/* A node that boots goes back with the rest of its job. */
static void test_a_node_that_boots_is_refused(void **state)
{
	struct fix *f = *state;

	assert_int_equal(tell(f, "i-c2-1", PROVIDER_NOTICE_FAULTY, 0), ENGINE_NOTICE_TAKEN);
	assert_true(fleet_find(&f->e->fleet, "c2")->barred);
	assert_int_equal(fleet_find(&f->e->fleet, "c2")->refused, NODE_BECAUSE_FAULTY);
	assert_order(f, "none", "");
}

/* From the notice until slurmctld has taken the order, once for each. */
static void test_how_long_the_fence_took(void **state)
{
	const struct slurm_order drain = {.verb = "drain", .names = "c1,c2,x"};
	const struct slurm_order address = {.verb = "address", .names = "c1"};
	struct fix *f = *state;

	assert_int_equal(tell(f, "c1", PROVIDER_NOTICE_RECLAIM, 0), ENGINE_NOTICE_TAKEN);
	fleet_find(&f->e->fleet, "c1")->noticed_ms -= 70;
	notice_told(f->e, &address, true);
	assert_true(fleet_find(&f->e->fleet, "c1")->fencing);
	notice_told(f->e, &drain, false); /* refused: that is an answer, and no fence */
	assert_false(fleet_find(&f->e->fleet, "c1")->fencing);
	assert_true(fleet_find(&f->e->fleet, "c1")->unheard);
	assert_int_equal(f->e->count.fences, 0);
	notice_told(f->e, &address, false);
	notice_told(f->e, &drain, true);
	assert_false(fleet_find(&f->e->fleet, "c1")->unheard);
	notice_told(f->e, &address, false);
	assert_false(fleet_find(&f->e->fleet, "c1")->unheard);
	notice_told(f->e, &drain, true);
	assert_int_equal(f->e->count.fences, 1);
	assert_in_range(f->e->count.fence_ms, 70, 10000); /* of the machine's own clock */
	assert_int_equal(f->e->count.fence_max_ms, f->e->count.fence_ms);
}

/* Who tells it is answered when it cannot be lost any more. */
static void test_a_notice_is_durable_when_it_is_taken(void **state)
{
	const struct engine_notice n = {.instance = "c1", .reason = "", .by = "root"};
	struct fix *f = *state;
	struct engine_notice_end end;

	assert_int_equal(engine_take_notices(f->e, &n, 1, &end, NULL), 0);
	assert_int_equal(f->e->count.commits, 1);
	assert_int_equal(live(f, "c1")->n.state, NODE_DRAINING);
}

/* Instances come and go between two notices. */
static void test_an_instance_that_is_new_is_known_by_its_id(void **state)
{
	struct fix *f = *state;

	assert_int_equal(tell(f, "i-c3-2", PROVIDER_NOTICE_RECLAIM, 0), ENGINE_NOTICE_UNKNOWN);
	(void)add(f, "c3", 2, NODE_READY);
	assert_int_equal(tell(f, "i-c1-2", PROVIDER_NOTICE_RECLAIM, 0), ENGINE_NOTICE_TAKEN);
	assert_int_equal(tell(f, "i-c3-2", PROVIDER_NOTICE_RECLAIM, 0), ENGINE_NOTICE_TAKEN);
}

/* Another provider, of which nothing is bought but what a test puts there. */
static void load_two_providers(struct fix *f)
{
	struct conf *c = make_conf();

	c->nproviders = 2;
	c->providers = mem_realloc(c->providers, 2 * sizeof(*c->providers));
	c->providers[1] = (struct conf_provider){.name = mem_strdup("other"),
						 .driver = mem_strdup("fake"),
						 .url = mem_strdup(""),
						 .concurrency = 4};
	assert_int_equal(load_conf(f, c, NULL), 0);
	add_all(f);
}

/* An id says nothing of who gave it. */
static void test_a_notice_of_another_provider_is_about_its_own(void **state)
{
	struct fix *f = *state;

	load_two_providers(f);
	(void)notice_part.noticed(&f->e->cloud->all[1], &(struct provider_notice){.id = "i-c1-2"});
	engine_commit(f->e);
	assert_int_equal(live(f, "c1")->n.state, NODE_READY);
	assert_order(f, "none", "");
}

static void test_an_id_that_two_providers_have_is_two_machines(void **state)
{
	struct provider_notice n = {.id = "sim-1"};
	struct fix *f = *state;

	load_two_providers(f);
	(void)snprintf(live(f, "c1")->n.instance, sizeof(n.id), "sim-1");
	(void)snprintf(live(f, "c2")->n.instance, sizeof(n.id), "sim-1");
	live(f, "c2")->n.cloud = 1;
	live(f, "c2")->n.state = NODE_READY;
	/* An admin who says no more than that is asked for the node. */
	assert_int_equal(tell(f, "sim-1", PROVIDER_NOTICE_RECLAIM, 0), ENGINE_NOTICE_SEVERAL);
	assert_int_equal(live(f, "c1")->n.state, NODE_READY);
	assert_true(notice_part.noticed(&f->e->cloud->all[1], &n));
	engine_commit(f->e);
	assert_int_equal(live(f, "c1")->n.state, NODE_READY);
	assert_int_equal(live(f, "c2")->n.state, NODE_DRAINING);
	assert_true(notice_part.noticed(&f->e->cloud->all[0], &n));
	engine_commit(f->e);
	assert_int_equal(live(f, "c1")->n.state, NODE_DRAINING);
}

/* The next one is there already: slurmctld knows of no other. */
static void test_a_machine_of_before_is_not_the_node(void **state)
{
	struct fix *f = *state;

	(void)add(f, "c1", 3, NODE_BOOTING);
	assert_int_equal(tell(f, "i-c1-2", PROVIDER_NOTICE_RECLAIM, 0), ENGINE_NOTICE_LATE);
	assert_order(f, "none", "");
}

/* What is certain is certain for those that an admin has in hand, too. */
static void test_a_machine_that_goes_goes_whoever_has_it_in_hand(void **state)
{
	struct fix *f = *state;
	int64_t now = engine_now(f->e);

	f->e->conf->pools[0].checkpoint_signal = mem_strdup("USR1");
	fleet_find(&f->e->fleet, "c1")->by_admin = true;
	assert_int_equal(tell(f, "c1", PROVIDER_NOTICE_RECLAIM, now + 120000), ENGINE_NOTICE_TAKEN);
	assert_true(engine_force_ms(f->e, "c1") == now + 110000);
}

/* An end that comes nearer is acted on, and nobody is told twice for it. */
static void test_an_end_that_comes_nearer(void **state)
{
	const struct slurm_order drain = {.verb = "drain", .names = "c1"};
	struct fix *f = *state;
	int64_t now = engine_now(f->e);

	f->e->conf->pools[0].checkpoint_signal = mem_strdup("USR1");
	assert_int_equal(tell(f, "c1", PROVIDER_NOTICE_RECLAIM, now + 120000), ENGINE_NOTICE_TAKEN);
	assert_order(f, "drain", "c1");
	notice_told(f->e, &drain, true);
	rescue_part.at[PART_RUN](f->e); /* squeue is asked */
	f->e->jobs->runs++;
	rescue_jobs(f->e, "", 0, NULL); /* those that it has are told */
	assert_true(live(f, "c1")->n.signal_ms != 0);
	assert_null(fleet_find(&f->e->fleet, "c1")->lookup);
	fleet_find(&f->e->fleet, "c1")->flags |= SLURM_DRAIN; /* as it is by now */
	assert_int_equal(tell(f, "c1", PROVIDER_NOTICE_RECLAIM, now + 90000), ENGINE_NOTICE_TAKEN);
	assert_null(fleet_find(&f->e->fleet, "c1")->lookup);
	assert_order(f, "none", "");
	assert_int_equal(tell(f, "c1", PROVIDER_NOTICE_RECLAIM, now + 1), ENGINE_NOTICE_TAKEN);
	assert_non_null(fleet_find(&f->e->fleet, "c1")->lookup); /* it goes */
}

/* Let slurmctld show c1 so, after all that was done. */
/* F41: one job has had its time, and another completes beside it.  Only releases that would spoil
 * the requeue of that one, and those that are not known yet, are waited for. */
static void test_a_job_that_completes_is_waited_for_with_old_releases_alone(void **state)
{
	static const struct {
		const char *version; /* NULL: not known */
		bool goes;
	} rows[] = {{NULL, false}, {"23.02.7", false}, {"23.11.0", true}, {"25.05.4", true}};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct fix *f = *state;
		struct fleet_name *nm = fleet_find(&f->e->fleet, "c1");
		struct node going = fleet_live(nm)->n;

		going.state = NODE_DRAINING;
		going.notice = PROVIDER_NOTICE_RECLAIM;
		going.noticed_ms = 1;
		fleet_set(&f->e->fleet, fleet_live(nm), &going);
		if (rows[i].version != NULL)
			learn_release(f, rows[i].version);
		show(f, "MIXED+CLOUD+COMPLETING+DRAIN+POWER_DOWN", "");
		assert_int_equal(nm->lookup != NULL, rows[i].goes);
		show(f, "MIXED+CLOUD+DRAIN+POWER_DOWN", ""); /* it has ended */
		assert_non_null(nm->lookup);
		(void)teardown(state);
		(void)start(state);
	}
}

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, start, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_a_node_is_fenced_at_once),
		TEST(test_a_notice_that_is_known_leaves_no_trace),
		TEST(test_an_end_by_a_clock_that_is_wrong_is_put_right),
		TEST(test_an_end_that_a_list_tells_is_put_right_too),
		TEST(test_what_is_not_meant_is_left_alone),
		TEST(test_a_notice_may_come_before_the_answer_to_the_create),
		TEST(test_notices_that_came_too_early_are_not_kept_for_ever),
		TEST(test_rebalance_is_for_pools_that_want_it),
		TEST(test_what_is_drained_already_stays_as_it_is),
		TEST(test_jobs_with_time_are_told_and_their_node_stays),
		TEST(test_a_node_that_boots_is_refused),
		TEST(test_how_long_the_fence_took),
		TEST(test_a_notice_is_durable_when_it_is_taken),
		TEST(test_an_instance_that_is_new_is_known_by_its_id),
		TEST(test_a_notice_of_another_provider_is_about_its_own),
		TEST(test_an_id_that_two_providers_have_is_two_machines),
		TEST(test_a_machine_of_before_is_not_the_node),
		TEST(test_a_machine_that_goes_goes_whoever_has_it_in_hand),
		TEST(test_an_end_that_comes_nearer),
		TEST(test_a_job_that_completes_is_waited_for_with_old_releases_alone),
	};

	return cmocka_run_group_tests_name("notice", tests, NULL, NULL);
}
