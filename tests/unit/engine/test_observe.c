/* observe.c: which instance of a node stays when the journal is an older one (F58) or a provider
 * made two (I3), and when slurmctld's address of a node is set right. */
#include "loaded_engine.h"

struct shown { /* an instance in a list */
	const char *id;
	uint64_t gen; /* 0: its tags cannot be read */
	const char *addr;
	enum provider_state state;
};

/* One row of c1 in the journal, and an engine that starts from it. */
static void load(struct fix *f, enum node_state s, const struct shown *in)
{
	struct journal_tx *tx = journal_begin(f->journal);
	struct node n;

	engine_free(f->e);
	f->e = NULL;
	node_init(&n, "c1", in->gen, loop_now(f->loop) - 100000);
	n.state = s;
	n.rate_nano_h = 1000000000;
	n.sent_ms = n.wanted_ms;
	n.wake_ms = INT64_MAX;
	(void)snprintf(n.instance, sizeof(n.instance), "%s", in->id);
	(void)snprintf(n.addr, sizeof(n.addr), "%s", in->addr);
	for (uint64_t g = 0; g < 20; g++)
		journal_del_node(tx, "c1", g);
	journal_put_node(tx, &n, "pool");
	assert_int_equal(journal_commit(tx, NULL), 0);
	assert_int_equal(load_conf(f, make_conf(), NULL), 0);
}

static void snapshot(struct fix *f, const char *state, const char *place)
{
	char text[400];
	int n = snprintf(text, sizeof(text), "NodeName=c1 NodeHostName=c1 State=%s %s\n", state,
			 place);

	assert_true(slurm_parse_nodes(text, (size_t)n, observe_node, f->e, NULL) > 0);
	observe_snapshot(f->e, loop_now(f->loop), NULL);
}

static void list(struct fix *f, const struct shown *in, size_t n)
{
	struct cloud *c = &f->e->clouds[0];

	c->seen = mem_zalloc((n + 1) * sizeof(*c->seen));
	c->nseen = n;
	c->unsure = false;
	/* after the snapshot, if both come within one millisecond */
	c->list_began = loop_now(f->loop) + 1 + f->ahead;
	for (size_t i = 0; i < n; i++) {
		struct provider_instance *p = &c->seen[i];

		*p = (struct provider_instance){
			.gen = in[i].gen, .state = in[i].state, .created_ms = f->created_ms};
		(void)snprintf(p->id, sizeof(p->id), "%s", in[i].id);
		(void)snprintf(p->cluster, sizeof(p->cluster), "%s", uuid);
		(void)snprintf(p->node, sizeof(p->node), "%s", in[i].gen != 0 ? "c1" : "");
		(void)snprintf(p->addr, sizeof(p->addr), "%s", in[i].addr);
	}
	observe_list(c);
	engine_commit(f->e);
	free(c->seen);
	c->seen = NULL;
	c->nseen = 0;
}

static const char *kept(const struct fix *f)
{
	const struct fleet_node *fn = fleet_live(fleet_find(&f->e->fleet, "c1"));

	return fn != NULL ? fn->n.instance : "none";
}

static enum node_state state_of(const struct fix *f)
{
	return fleet_live(fleet_find(&f->e->fleet, "c1"))->n.state;
}

static bool is_deleting(const struct fix *f, const char *id)
{
	const struct fleet_node *fn = f->e->fleet.states[NODE_DELETING];

	while (fn != NULL && strcmp(fn->n.instance, id) != 0)
		fn = fn->state_next;
	return fn != NULL;
}

static bool is_stray(const struct fix *f, const char *id)
{
	const struct cloud *c = &f->e->clouds[0];

	for (size_t i = 0; i < c->nstrays; i++)
		if (strcmp(c->strays[i].id, id) == 0)
			return true;
	return false;
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
		snapshot(f, cases[i].state, cases[i].place);
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
		assert_int_equal(f->e->clouds[0].nstrays, cases[i].stray);
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
	snapshot(f, "ALLOCATED+CLOUD+POWERING_UP", "NodeAddr=c1");
	refuse_mark(f->e, fleet_find(&f->e->fleet, "c1"), NODE_BECAUSE_LIMIT, NULL);
	list(f, &found, 1);
	refuse_jobs(f->e, jobs, sizeof(jobs) - 1);
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
	snapshot(f, "ALLOCATED+CLOUD+POWERING_UP", "NodeAddr=c1");
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
	assert_true(f->e->clouds[0].unsure);
	/* what is wanted before it is placed shall be its row */
	assert_int_equal(fleet_find(&f->e->fleet, "c1")->last_gen, 5);
	assert_string_equal(kept(f), "i-1");
	assert_null(f->e->fleet.states[NODE_DELETING]);
	assert_int_equal(f->e->clouds[0].nstrays, 0);
}

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
	snapshot(f, "IDLE+CLOUD", "NodeAddr=10.0.0.1");
	list(f, past, 3);
	nm = fleet_find(&f->e->fleet, "c1");
	assert_int_equal(nm->last_gen, 7);
	assert_string_equal(kept(f), "i-1");
	nm->flags = 0; /* what becomes of it is not known; where it is, is */
	f->e->clouds[0].listed = true;
	list(f, &later, 1);
	assert_int_equal(nm->last_gen, 9);
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
	assert_string_equal(f->e->slurm_error, broken.msg);
	assert_true(f->e->snapshot_ms == 0);
	snapshot(f, "ALLOCATED+CLOUD", "NodeAddr=10.0.0.1");
	assert_true((fleet_find(&f->e->fleet, "c1")->flags & SLURM_POWERED_DOWN) == 0);
	assert_non_null(f->e->fleet.states[NODE_READY]);
	assert_string_equal(f->e->slurm_error, "");
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
	assert_null(f->e->wanted);
	assert_int_equal(fleet_find(&f->e->fleet, "c1")->flags & SLURM_POWERING_UP, 0);
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
	snapshot(f, "IDLE+CLOUD", "NodeAddr=c1");
	assert_false(is_updating(f));
	snapshot(f, "IDLE+CLOUD", "NodeAddr=10.0.0.9");
	assert_false(is_updating(f));
	list(f, NULL, 0);
	snapshot(f, "IDLE+CLOUD", "NodeAddr=10.0.0.9");
	assert_false(is_updating(f));
	list(f, &ours, 1);
	assert_false(is_updating(f));
	snapshot(f, "IDLE+CLOUD", "NodeAddr=10.0.0.1");
	assert_false(is_updating(f));
	snapshot(f, "IDLE+CLOUD", "NodeAddr=c1");
	assert_true(is_updating(f));
}

/* By the provider's clock, not by ours; what is found is no exception. */
static void test_when_an_instance_was_made_is_kept_as_its_provider_says(void **state)
{
	static const struct shown ours = {"i-1", 5, "10.0.0.1", PROVIDER_RUNNING};
	static const struct shown found = {"i-3", 7, "10.0.0.3", PROVIDER_RUNNING};
	struct fix *f = *state;

	load(f, NODE_DELETING, &ours);
	assert_int_equal(fleet_find(&f->e->fleet, "c1")->newest->said_ms, 0);
	f->created_ms = INT64_C(4102444800000); /* long after all that we have seen */
	list(f, &ours, 1);
	assert_int_equal(fleet_find(&f->e->fleet, "c1")->newest->said_ms, f->created_ms);
	f->created_ms = 0; /* it forgets to say so */
	list(f, &ours, 1);
	assert_int_equal(fleet_find(&f->e->fleet, "c1")->newest->said_ms, 4102444800000);
	f->created_ms = 4711;
	snapshot(f, "ALLOCATED+CLOUD+POWERING_UP", "NodeAddr=c1");
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
	snapshot(f, "IDLE+CLOUD", "NodeAddr=10.0.0.9");
	assert_false(is_updating(f));
	list(f, &ours, 1);
	snapshot(f, "IDLE+CLOUD", "NodeAddr=10.0.0.9");
	assert_true(is_updating(f));
}

/* --- reasons -----------------------------------------------------------------------------------
 */

static void test_whose_a_reason_is(void **state)
{
	static const struct {
		const char *state, *rest;
		bool theirs;
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
		snapshot(f, rows[i].state, rows[i].rest);
		if (fleet_find(&f->e->fleet, "c1")->theirs != rows[i].theirs)
			fail_msg("%s %s", rows[i].state, rows[i].rest);
	}
}

/* --- strays ------------------------------------------------------------------------------------
 */

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
	snapshot(f, "IDLE+CLOUD", "NodeAddr=10.0.0.1");
	list(f, all, MANY / 2);
	assert_int_equal(f->e->clouds[0].nstrays, MANY / 2);
	first = f->e->clouds[0].strays[0].first_ms;
	usleep(5000);
	list(f, all, MANY);
	assert_int_equal(f->e->clouds[0].nstrays, MANY);
	assert_int_equal(f->e->clouds[0].strays[0].first_ms, first);
	assert_true(is_stray(f, "x-2999"));
	list(f, all + MANY - 1, 1);
	assert_int_equal(f->e->clouds[0].nstrays, 1);
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
	snapshot(f, "ALLOCATED+CLOUD+POWERING_UP", "NodeAddr=10.0.0.1");
	list(f, both, 2);
	assert_true(is_stray(f, "i-3"));
	s = &f->e->clouds[0].strays[0];
	remove_run(f->e);
	assert_int_equal(s->asked_ms, 0);
	s->first_ms -= 60000;
	snapshot(f, "ALLOCATED+CLOUD", "NodeAddr=10.0.0.3");
	remove_run(f->e);
	assert_int_equal(s->asked_ms, 0);
	snapshot(f, "ALLOCATED+CLOUD", "NodeAddr=10.0.0.1");
	remove_run(f->e);
	assert_int_not_equal(s->asked_ms, 0);
	assert_int_equal(s->tried_ms, s->asked_ms);
	s->asked_ms -= 60000;
	s->tried_ms = first = s->tried_ms - 60000;
	remove_run(f->e); /* again; what people are told is since when */
	assert_true(s->asked_ms > first);
	assert_true(engine_stray(f->e, 0, 0, &shown));
	assert_int_equal(shown.tried_ms, first);
}

/* --- tags that cannot be read ------------------------------------------------------------------
 */

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
	snapshot(f, "ALLOCATED+CLOUD+POWERING_UP", "NodeAddr=10.0.0.1");
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
	snapshot(f, "IDLE+CLOUD+POWERED_DOWN", "NodeAddr=c1"); /* a stray would be deleted */
	for (int i = 0; i < 3; i++, f->ahead += 60001) {
		list(f, all, 4);
		remove_run(f->e);
		assert_int_equal(engine_counters(f->e)->unreadable, 2);
		assert_string_equal(engine_unreadable(f->e, 0, 0), "x-1");
		assert_string_equal(engine_unreadable(f->e, 0, 1), "x-2");
		assert_null(engine_unreadable(f->e, 0, 2));
		assert_int_equal(f->e->clouds[0].nstrays, 0);
		assert_false(f->e->clouds[0].unsure);
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
	enum { MANY = ENGINE_ODD_MAX + 5 };
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
		assert_int_equal(told(f), ENGINE_ODD_MAX);
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
				f->e->clouds[0].odd[0].first_ms + 1;
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

/* --- what was wanted before the start -----------------------------------------------------------
 */

/* F47: how old the wish is nobody knows: slurmctld must have said something since. */
static void test_wanted_before_the_start(void **state)
{
	static const struct shown ours = {"", 5, "", PROVIDER_UNKNOWN};
	struct fix *f = *state;

	load(f, NODE_WANTED, &ours);
	f->e->clouds[0].listed = true;
	f->e->fleet.states[NODE_WANTED]->n.wake_ms = 0;
	launch_run(f->e);
	assert_non_null(f->e->fleet.states[NODE_WANTED]);
	snapshot(f, "ALLOCATED+CLOUD+POWERING_UP", "NodeAddr=c1");
	launch_run(f->e); /* it goes out, or would, if there were anybody to ask */
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
	assert_non_null(f->e->requests);
	assert_int_equal(engine_reload(f->e, make_conf(), NULL), 0);
	assert_int_equal(engine_reload(f->e, make_conf(), NULL), 0);
	assert_int_equal(f->e->nold, 2);
	cloud_fail_unsent(f->e);
	assert_null(f->e->requests);
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
		cmocka_unit_test_setup_teardown(test_a_generation_that_is_found_is_never_used_again,
						setup, teardown),
		cmocka_unit_test_setup_teardown(test_no_snapshot, setup, teardown),
		cmocka_unit_test_setup_teardown(test_a_broken_snapshot_leaves_nothing_for_the_next,
						setup, teardown),
		cmocka_unit_test_setup_teardown(
			test_a_node_that_nobody_names_any_more_is_left_alone, setup, teardown),
		cmocka_unit_test_setup_teardown(test_address, setup, teardown),
		cmocka_unit_test_setup_teardown(
			test_when_an_instance_was_made_is_kept_as_its_provider_says, setup,
			teardown),
		cmocka_unit_test_setup_teardown(test_address_elsewhere, setup, teardown),
		cmocka_unit_test_setup_teardown(test_whose_a_reason_is, setup, teardown),
		cmocka_unit_test_setup_teardown(test_strays, setup, teardown),
		cmocka_unit_test_setup_teardown(test_stray_at_work, setup, teardown),
		cmocka_unit_test_setup_teardown(test_unreadable_is_known_by_its_id, setup,
						teardown),
		cmocka_unit_test_setup_teardown(test_unreadable_of_nobody, setup, teardown),
		cmocka_unit_test_setup_teardown(test_many_unreadable, setup, teardown),
		cmocka_unit_test_setup_teardown(test_unreadable_keeps_a_lost_create_in_doubt, setup,
						teardown),
		cmocka_unit_test_setup_teardown(test_wanted_before_the_start, setup, teardown),
		cmocka_unit_test_setup_teardown(test_old_configurations, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
