/* node.c, cell by cell: what node.h draws and says, not what node.c happens to do.
 *
 * Two tables (every state x every event, wanted and released; every state x every state of the
 * instance), then the promises about proof and reasons one by one, then a random walk that checks
 * what must hold whatever happens.  Those about time and restart are in test_node_time.c. */
#include "node_steps.h"

/* --- every state, every event ----------------------------------------------------------------- */

/* Event order of enum node_event_type: START NOTSENT CREATED LOST REFUSED SEEN ABSENT REGISTERED
 * RELEASE DELETED DELETE_FAILED DELETE_DENIED TIMER RESTART NOTICE SIGNALLED THROTTLED PROVEN.  One
 * letter for each state that comes after: W C I B R D(raining) X(deleting) G(one) Q. */
static const char letters[] = "WCIBRDXGQ";
static const struct {
	enum node_state from;
	const char *kept, *released;
} cells[] = {
	/* Nothing was sent: only START, proof from a list, or an end of the wish moves it. */
	{NODE_WANTED, "CWWWGBWWGWWWWWWWWW", NULL},
	/* The answer, its loss, or a restart: nothing else says what became of the create. */
	{NODE_CREATING, "CWBIGCCCCCCCCICCWC", "CGXIGCCCCCCCCICCGC"},
	/* Found, or absent twice; a refusal of the repeat says nothing of the first try (F3). */
	{NODE_INDOUBT, "IIBIIBIIIIIIIIIIII", "IIXIIXIIIIIIIIIIII"},
	{NODE_BOOTING, "BBBBBBBRXBBBXBDBBB", NULL},
	{NODE_READY, "RRRRRRRRXRRRRRDRRR", NULL},
	{NODE_DRAINING, "DDDDDDDDXDDDDDDDDD", NULL},
	/* Success of a delete is not proof (I9, F21); one denial is not for good. */
	{NODE_DELETING, "XXXXXXXXXXXXXXXXXX", NULL},
	{NODE_GONE, "GGXGGXGGGGGGGGGGGG", NULL},
	{NODE_QUARANTINED, "QQQQQQQQXQQQXQQQQQ", NULL},
};

static void check_cell(struct node n, enum node_event_type type, char want)
{
	enum node_state from = n.state;
	const struct node before = n;
	int64_t now = n.wake_ms != INT64_MAX && n.wake_ms > T0 ? n.wake_ms : T0 + W;
	bool changed = step(&n, (struct node_event){.type = type,
						    .now_ms = now,
						    .list_ms = T0 + 5 * W,
						    .batch = 10,
						    .reason = NODE_BECAUSE_QUOTA});

	if (letters[n.state] != want)
		fail_msg("%s%s + %s: %s, not %c", before.release ? "released " : "",
			 node_state_str(from), node_event_str(type), node_state_str(n.state), want);
	assert_int_equal(changed, memcmp(&before, &n, sizeof(n)) != 0);
	assert_true(n.gen == 7 && n.rate_nano_h == 5 && strcmp(n.name, "c1") == 0);
}

static void test_every_cell(void **state)
{
	(void)state;
	assert_int_equal(sizeof(cells) / sizeof(cells[0]), NODE_NSTATES);
	for (size_t i = 0; i < NODE_NSTATES; i++) {
		assert_int_equal(strlen(cells[i].kept), NODE_EV_NTYPES);
		for (int t = 0; t < NODE_EV_NTYPES; t++)
			check_cell(node_at(cells[i].from), (enum node_event_type)t,
				   cells[i].kept[t]);
		for (int t = 0; cells[i].released != NULL && t < NODE_EV_NTYPES; t++) {
			struct node n = node_at(cells[i].from);

			assert_true(release(&n, NODE_BECAUSE_OPERATOR, T0));
			assert_int_equal(n.state, cells[i].from);
			check_cell(n, (enum node_event_type)t, cells[i].released[t]);
		}
	}
}

/* Instance states in the order of enum provider_state: UNKNOWN (exists and bills, I14, F19),
 * PENDING, RUNNING, RECLAIMING, STOPPING, FAILED, ENDED. */
static const char *const sightings[NODE_NSTATES] = {
	[NODE_WANTED] = "BBBXBXG",   [NODE_CREATING] = "CCCCCCC", [NODE_INDOUBT] = "BBBXBXG",
	[NODE_BOOTING] = "BBBDXXG",  [NODE_READY] = "RRRDDDG",    [NODE_DRAINING] = "DDDDDDG",
	[NODE_DELETING] = "XXXXXXG", [NODE_GONE] = "XXXXXXG",     [NODE_QUARANTINED] = "QQQQQQG",
};

static void test_every_sighting(void **state)
{
	(void)state;
	for (int s = 0; s < NODE_NSTATES; s++)
		for (int p = 0; p <= PROVIDER_ENDED; p++) {
			struct node n = node_at((enum node_state)s);

			(void)seen(&n, (enum provider_state)p, T0 + 1);
			if (letters[n.state] != sightings[s][p])
				fail_msg("%s + instance state %d: %s",
					 node_state_str((enum node_state)s), p,
					 node_state_str(n.state));
		}
}

/* The state at the instant that an answer is applied is what a restart finds. */
static void test_want(void **state)
{
	static const struct {
		enum node_state at;
		enum node_want due, early; /* at its wake time; before it */
	} rows[NODE_NSTATES] = {
		{NODE_WANTED, NODE_WANT_CREATE, NODE_WANT_NOTHING},
		{NODE_CREATING, NODE_WANT_NOTHING, NODE_WANT_NOTHING},
		{NODE_INDOUBT, NODE_WANT_CREATE, NODE_WANT_NOTHING},
		{NODE_BOOTING, NODE_WANT_NOTHING, NODE_WANT_NOTHING},
		{NODE_READY, NODE_WANT_NOTHING, NODE_WANT_NOTHING},
		{NODE_DRAINING, NODE_WANT_NOTHING, NODE_WANT_NOTHING},
		{NODE_DELETING, NODE_WANT_DELETE, NODE_WANT_NOTHING},
		{NODE_GONE, NODE_WANT_NOTHING, NODE_WANT_NOTHING},
		{NODE_QUARANTINED, NODE_WANT_NOTHING, NODE_WANT_NOTHING},
	};

	(void)state;
	for (size_t i = 0; i < NODE_NSTATES; i++) {
		struct node n = node_at(rows[i].at);
		int64_t due = n.wake_ms == INT64_MAX ? T0 + W : n.wake_ms;

		assert_int_equal(node_want(&n, due, &with_tokens), rows[i].due);
		assert_int_equal(node_want(&n, due - 1, &with_tokens), rows[i].early);
	}
}

static void test_want_lists_when_only_a_list_can_tell(void **state)
{
	struct node n = node_at(NODE_INDOUBT);
	struct provider_instance bare = instance(PROVIDER_PENDING);

	(void)state;
	/* I7: without tokens a create is never repeated. */
	assert_int_equal(node_want(&n, n.wake_ms, &without_tokens), NODE_WANT_LIST);
	/* I6: nor with a token that the provider may have forgotten, or of unknown age (F57). */
	assert_int_equal(node_want(&n, T0 + TOKEN, &with_tokens), NODE_WANT_CREATE);
	assert_int_equal(node_want(&n, T0 + TOKEN + 1, &with_tokens), NODE_WANT_LIST);
	n.sent_ms = T0 + 2 * TOKEN;
	n.wake_ms = T0;
	assert_int_equal(node_want(&n, T0, &with_tokens), NODE_WANT_LIST);
	/* Released: it must be found, not made. */
	n = node_at(NODE_INDOUBT);
	(void)release(&n, NODE_BECAUSE_SUSPENDED, T0);
	assert_int_equal(node_want(&n, n.wake_ms, &with_tokens), NODE_WANT_LIST);
	/* F13: no address yet. */
	n = node_at(NODE_CREATING);
	bare.addr[0] = '\0';
	(void)step(&n,
		   (struct node_event){.type = NODE_EV_CREATED, .now_ms = T0, .instance = &bare});
	assert_int_equal(node_want(&n, T0, &with_tokens), NODE_WANT_LIST);
	(void)seen(&n, PROVIDER_RUNNING, T0 + 1);
	assert_string_equal(n.addr, "10.0.0.1");
	assert_int_equal(node_want(&n, T0, &with_tokens), NODE_WANT_NOTHING);
	/* F21: an accepted delete is watched, and asked again when it does not happen. */
	n = node_at(NODE_DELETING);
	(void)at_time(&n, NODE_EV_DELETED, T0);
	assert_int_equal(node_want(&n, T0 + NODE_REDELETE_MS - 1, &with_tokens), NODE_WANT_LIST);
	(void)at_time(&n, NODE_EV_TIMER, T0 + NODE_REDELETE_MS);
	assert_int_equal(node_want(&n, T0 + NODE_REDELETE_MS, &with_tokens), NODE_WANT_DELETE);
}

/* --- proof (I8, I9) --------------------------------------------------------------------------- */

static void test_absent_needs_two_lists_a_settle_time_apart(void **state)
{
	static const struct {
		enum node_state at;
		int64_t first; /* the earliest list that counts */
	} rows[] = {{NODE_INDOUBT, T0 + W},  {NODE_BOOTING, T0 + W}, {NODE_READY, T0 + W},
		    {NODE_DRAINING, T0 + W}, {NODE_DELETING, T0},    {NODE_QUARANTINED, T0}};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct node n = node_at(rows[i].at);
		int64_t first = rows[i].first;

		assert_false(absent(&n, first - 1)); /* too early to mean anything (F12) */
		assert_true(absent(&n, first));
		assert_int_equal(n.state, rows[i].at);
		(void)absent(&n, first + W - 1);
		assert_int_equal(n.state, rows[i].at);
		assert_true(absent(&n, first + W));
		assert_int_equal(n.state, NODE_GONE);
	}
}

/* F15: seen in between, and it begins anew.  INDOUBT is not here: seen is found. */
static void test_a_sighting_forgets_absence(void **state)
{
	static const enum node_state at[] = {NODE_BOOTING, NODE_READY, NODE_DRAINING, NODE_DELETING,
					     NODE_QUARANTINED};

	(void)state;
	for (size_t i = 0; i < sizeof(at) / sizeof(at[0]); i++) {
		struct node n = node_at(at[i]);

		(void)absent(&n, T0 + W);
		(void)seen(&n, PROVIDER_RUNNING, T0 + 2 * W - 1);
		(void)absent(&n, T0 + 2 * W);
		assert_int_equal(n.state, at[i]);
		(void)absent(&n, T0 + 3 * W);
		assert_int_equal(n.state, NODE_GONE);
	}
}

/* A repeat that may have gone out starts the wait again (I7, I8). */
static void test_indoubt_waits_from_the_last_try(void **state)
{
	static const enum node_event_type again[] = {NODE_EV_LOST, NODE_EV_RESTART};

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		struct node n = node_at(NODE_INDOUBT);

		(void)absent(&n, T0 + W);
		(void)at_time(&n, again[i], T0 + W + 1000);
		(void)absent(&n, T0 + 2 * W);
		(void)absent(&n, T0 + 2 * W + 1000);
		assert_int_equal(n.state, NODE_INDOUBT);
		(void)absent(&n, T0 + 3 * W + 1000);
		assert_int_equal(n.state, NODE_GONE);
		assert_int_equal(n.reason, NODE_BECAUSE_LOST);
	}
}

static void test_indoubt_refused_again_is_not_gone(void **state)
{
	struct node n = node_at(NODE_INDOUBT);

	(void)state;
	assert_true(step(&n, (struct node_event){.type = NODE_EV_REFUSED,
						 .now_ms = T0 + 1,
						 .reason = NODE_BECAUSE_QUOTA}));
	assert_int_equal(node_want(&n, T0 + 2 * W, &with_tokens), NODE_WANT_LIST);
	assert_true(node_counts(&n));
	(void)absent(&n, T0 + W);
	(void)absent(&n, T0 + 2 * W);
	assert_int_equal(n.state, NODE_GONE);
	assert_int_equal(n.reason, NODE_BECAUSE_QUOTA);
}

/* F3: success after reported failure.  The answer may come as late as the list. */
static void test_gone_comes_back(void **state)
{
	struct provider_instance other = instance(PROVIDER_RUNNING);
	struct node n = node_at(NODE_GONE);

	(void)state;
	assert_string_equal(n.instance, "");
	assert_true(at_time(&n, NODE_EV_CREATED, T0 + 5));
	assert_int_equal(n.state, NODE_DELETING);
	assert_string_equal(n.instance, "i-1");
	assert_int_equal(n.start_ms, T0 + 5);
	assert_true(n.release && !n.accepted);
	assert_int_equal(node_want(&n, T0 + 5, &with_tokens), NODE_WANT_DELETE);
	assert_true(seen(&n, PROVIDER_ENDED, T0 + 6));
	assert_int_equal(n.end_ms, T0 + 6);
	/* Another instance of the same generation is not this one: an orphan, for the engine. */
	(void)snprintf(other.id, sizeof(other.id), "i-2");
	assert_false(step(&n, (struct node_event){
				      .type = NODE_EV_SEEN, .now_ms = T0 + 7, .instance = &other}));
}

/* --- reasons ---------------------------------------------------------------------------------- */

/* A provider's word on when billing began is taken only where it makes sense (F39). */
static void test_billing_begins(void **state)
{
	static const struct {
		int64_t said, want;
	} rows[] = {
		{0, T0},         {T0, T0}, {T0 + 1, T0},
		{INT64_MAX, T0}, {1, T0},  {T0 - NODE_SKEW_MS, T0 - NODE_SKEW_MS},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct node n = node_at(NODE_CREATING);
		struct provider_instance in = {.state = PROVIDER_RUNNING,
					       .created_ms = rows[i].said};

		n.sent_ms = T0;
		(void)snprintf(in.id, sizeof(in.id), "i-1");
		(void)step(&n, (struct node_event){
				       .type = NODE_EV_CREATED, .now_ms = T0, .instance = &in});
		assert_int_equal(n.start_ms, rows[i].want);
	}
}

static void test_reasons(void **state)
{
	struct node n = node_at(NODE_BOOTING);

	(void)state;
	(void)at_time(&n, NODE_EV_TIMER, T0 + BOOT);
	assert_int_equal(n.reason, NODE_BECAUSE_BOOT);
	n = node_at(NODE_READY);
	(void)seen(&n, PROVIDER_ENDED, T0);
	assert_int_equal(n.reason, NODE_BECAUSE_ENDED);
	n = node_at(NODE_DRAINING);
	(void)seen(&n, PROVIDER_ENDED, T0);
	assert_int_equal(n.reason, NODE_BECAUSE_RECLAIMED);
	n = node_at(NODE_GONE);
	assert_int_equal(n.reason, NODE_BECAUSE_CAPACITY);
	n = node_at(NODE_WANTED);
	(void)step(&n, (struct node_event){.type = NODE_EV_REFUSED,
					   .now_ms = T0,
					   .reason = NODE_BECAUSE_LIMIT});
	assert_int_equal(n.reason, NODE_BECAUSE_LIMIT);
}

/* F10: whose machine goes as it boots, and nobody had said that it would, has stopped by itself,
 * wherever it is seen to.  A machine that is taken away, or was up, has not. */
static void test_who_stops_as_it_boots_is_not_taken_back(void **state)
{
	static const struct {
		enum node_state at;
		enum provider_notice_kind noticed; /* before that; PROVIDER_NNOTICES: nothing */
		enum provider_state shown;
		bool taken; /* says who shows it */
		enum node_state then;
		enum node_reason why; /* in the end */
	} rows[] = {
		{NODE_BOOTING, PROVIDER_NNOTICES, PROVIDER_STOPPING, false, NODE_DELETING,
		 NODE_BECAUSE_STOPPED},
		{NODE_BOOTING, PROVIDER_NNOTICES, PROVIDER_ENDED, false, NODE_GONE,
		 NODE_BECAUSE_STOPPED},
		{NODE_CREATING, PROVIDER_NNOTICES, PROVIDER_ENDED, false, NODE_GONE,
		 NODE_BECAUSE_STOPPED},
		{NODE_INDOUBT, PROVIDER_NNOTICES, PROVIDER_ENDED, false, NODE_GONE,
		 NODE_BECAUSE_STOPPED},
		{NODE_BOOTING, PROVIDER_NOTICE_RECLAIM, PROVIDER_STOPPING, false, NODE_DRAINING,
		 NODE_BECAUSE_RECLAIMED},
		{NODE_BOOTING, PROVIDER_NOTICE_REBALANCE, PROVIDER_STOPPING, false, NODE_DRAINING,
		 NODE_BECAUSE_RECLAIMED},
		{NODE_BOOTING, PROVIDER_NNOTICES, PROVIDER_RECLAIMING, false, NODE_DRAINING,
		 NODE_BECAUSE_RECLAIMED},
		{NODE_READY, PROVIDER_NNOTICES, PROVIDER_STOPPING, false, NODE_DRAINING,
		 NODE_BECAUSE_RECLAIMED},
		{NODE_READY, PROVIDER_NNOTICES, PROVIDER_ENDED, false, NODE_GONE,
		 NODE_BECAUSE_ENDED},
		{NODE_BOOTING, PROVIDER_NNOTICES, PROVIDER_STOPPING, true, NODE_DRAINING,
		 NODE_BECAUSE_RECLAIMED},
		{NODE_BOOTING, PROVIDER_NNOTICES, PROVIDER_ENDED, true, NODE_GONE,
		 NODE_BECAUSE_RECLAIMED},
		{NODE_CREATING, PROVIDER_NNOTICES, PROVIDER_ENDED, true, NODE_GONE,
		 NODE_BECAUSE_RECLAIMED},
		{NODE_INDOUBT, PROVIDER_NNOTICES, PROVIDER_ENDED, true, NODE_GONE,
		 NODE_BECAUSE_RECLAIMED},
		{NODE_READY, PROVIDER_NNOTICES, PROVIDER_ENDED, true, NODE_GONE,
		 NODE_BECAUSE_RECLAIMED},
		{NODE_DRAINING, PROVIDER_NOTICE_FAULTY, PROVIDER_ENDED, true, NODE_GONE,
		 NODE_BECAUSE_FAULTY},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct node n = node_at(rows[i].at);
		struct provider_instance in = instance(rows[i].shown);

		in.taken = rows[i].taken;
		if (rows[i].noticed != PROVIDER_NNOTICES)
			(void)step(&n, (struct node_event){.type = NODE_EV_NOTICE,
							   .now_ms = T0,
							   .notice = rows[i].noticed});
		(void)step(&n,
			   (struct node_event){.type = rows[i].at == NODE_CREATING ? NODE_EV_CREATED
										   : NODE_EV_SEEN,
					       .now_ms = T0,
					       .instance = &in});
		if (n.state != rows[i].then)
			fail_msg("row %zu: %s", i, node_state_str(n.state));
		(void)seen(&n, PROVIDER_ENDED, T0 + 1);
		assert_int_equal(n.state, NODE_GONE);
		if (n.reason != rows[i].why)
			fail_msg("row %zu: %s", i, node_reason_str(n.reason));
	}
}

/* Whoever asked first gave the reason, whatever happened on the way out. */
static void test_the_first_release_names_the_reason(void **state)
{
	(void)state;
	for (int s = 0; s < NODE_NSTATES; s++) {
		struct node n = node_at((enum node_state)s);

		if (s == NODE_GONE || s == NODE_DELETING || s == NODE_QUARANTINED)
			continue;
		(void)release(&n, NODE_BECAUSE_OPERATOR, T0);
		(void)release(&n, NODE_BECAUSE_SUSPENDED, T0);
		(void)step(&n, (struct node_event){.type = NODE_EV_REFUSED,
						   .now_ms = T0,
						   .reason = NODE_BECAUSE_QUOTA});
		(void)seen(&n, PROVIDER_ENDED, T0);
		assert_int_equal(n.reason, NODE_BECAUSE_OPERATOR);
		assert_true(n.release);
	}
}

/* F41: slurmctld powers down what is to go because we tell it to. */
static void test_what_is_taken_is_recorded_so(void **state)
{
	static const struct {
		enum provider_notice_kind notice;
		enum node_reason released, recorded;
	} rows[] = {
		{PROVIDER_NOTICE_RECLAIM, NODE_BECAUSE_SUSPENDED, NODE_BECAUSE_RECLAIMED},
		{PROVIDER_NOTICE_MAINTENANCE, NODE_BECAUSE_SUSPENDED, NODE_BECAUSE_MAINTENANCE},
		{PROVIDER_NOTICE_FAULTY, NODE_BECAUSE_SUSPENDED, NODE_BECAUSE_FAULTY},
		{PROVIDER_NOTICE_REBALANCE, NODE_BECAUSE_SUSPENDED, NODE_BECAUSE_SUSPENDED},
		{PROVIDER_NOTICE_RECLAIM, NODE_BECAUSE_OPERATOR, NODE_BECAUSE_OPERATOR},
		{PROVIDER_NOTICE_RECLAIM, NODE_BECAUSE_REPLACED, NODE_BECAUSE_REPLACED},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct node n = node_at(NODE_READY);

		(void)step(&n, (struct node_event){.type = NODE_EV_NOTICE,
						   .now_ms = T0,
						   .notice = rows[i].notice});
		assert_int_equal(n.state, NODE_DRAINING);
		(void)release(&n, rows[i].released, T0);
		(void)seen(&n, PROVIDER_RUNNING, T0);
		assert_int_equal(n.state, NODE_DELETING);
		(void)seen(&n, PROVIDER_ENDED, T0);
		assert_int_equal(n.state, NODE_GONE);
		assert_int_equal(n.reason, rows[i].recorded);
	}
	for (int s = 0; s < NODE_NSTATES; s++) { /* nobody takes these */
		struct node n = node_at((enum node_state)s);

		if (s == NODE_DRAINING || s == NODE_GONE || s == NODE_DELETING ||
		    s == NODE_QUARANTINED)
			continue;
		(void)release(&n, NODE_BECAUSE_SUSPENDED, T0);
		assert_int_equal(n.reason, NODE_BECAUSE_SUSPENDED);
	}
}

static void test_words(void **state)
{
	(void)state;
	for (int i = 0; i < NODE_NSTATES; i++)
		assert_int_equal(node_state_parse(node_state_str((enum node_state)i)), i);
	for (int i = 0; i < NODE_NREASONS; i++) {
		assert_int_equal(node_reason_parse(node_reason_str((enum node_reason)i)), i);
		assert_true(i == 0 || node_reason_text((enum node_reason)i)[0] != '\0');
	}
	for (int i = 0; i < NODE_EV_NTYPES; i++)
		assert_true(node_event_str((enum node_event_type)i)[0] != '\0');
	assert_int_equal(node_state_parse("nonsense"), -1);
	assert_int_equal(node_reason_parse("nonsense"), -1);
}

/* --- a random walk ---------------------------------------------------------------------------- */

static uint64_t rng_state;

static uint32_t below(uint32_t n)
{
	uint64_t z = (rng_state += UINT64_C(0x9e3779b97f4a7c15));

	z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
	return (uint32_t)((z ^ (z >> 31)) >> 33) % n;
}

/* The drawing in node.h once more, with what its text adds. */
static const char *const drawn[NODE_NSTATES] = {
	[NODE_WANTED] = "WCBXG",  [NODE_CREATING] = "CWIBXG", [NODE_INDOUBT] = "IBXG",
	[NODE_BOOTING] = "BRDXG", [NODE_READY] = "RDXG",      [NODE_DRAINING] = "DXG",
	[NODE_DELETING] = "XGQ",  [NODE_GONE] = "GX",         [NODE_QUARANTINED] = "QXG",
};

struct proof { /* what the lists have said since the last sighting, kept apart from node.c */
	int64_t first, last;
};

static bool not_made(const struct node_event *ev)
{
	return ev->type == NODE_EV_NOTSENT || ev->type == NODE_EV_THROTTLED;
}

static bool proven(const struct node *b, const struct node_event *ev, const struct proof *p)
{
	bool ended = ev->instance != NULL && ev->instance->state == PROVIDER_ENDED;

	if (b->state == NODE_WANTED)
		return true; /* nothing was ever sent */
	if (b->state == NODE_CREATING)
		return ev->type == NODE_EV_REFUSED || (not_made(ev) && b->release) || ended;
	return ended || (ev->type == NODE_EV_ABSENT && p->first != 0 && p->last >= p->first + W);
}

static void check_step(const struct node *b, const struct node *n, const struct node_event *ev,
		       const struct proof *p)
{
	assert_non_null(strchr(drawn[b->state], letters[n->state]));
	assert_true(!b->release || n->release);
	assert_true(!b->release || b->reason == n->reason);
	assert_true(b->instance[0] == '\0' || strcmp(b->instance, n->instance) == 0);
	assert_true(b->batch == 0 || b->batch == n->batch || not_made(ev));
	assert_true(b->state == NODE_GONE || n->state != NODE_GONE || proven(b, ev, p));
	if (n->state != NODE_WANTED && n->state != NODE_GONE)
		assert_true(n->state <= NODE_INDOUBT || n->instance[0] != '\0');
	if (n->state == NODE_GONE)
		assert_int_equal(n->end_ms != 0, n->start_ms != 0);
	assert_true(n->end_ms == 0 || n->state == NODE_GONE || n->state == NODE_DELETING ||
		    n->state == NODE_QUARANTINED); /* the last two: gone was wrong */
	assert_true(b->end_ms == 0 || n->end_ms >= b->end_ms);
	assert_true(n->end_ms == 0 || n->end_ms >= n->start_ms);
	assert_true(n->attempts < 1000000 && n->misses <= 1);
	assert_true(!n->accepted || n->state >= NODE_DELETING);
	/* Whatever waits for time has a time to wait for. */
	if (n->state == NODE_WANTED || n->state == NODE_INDOUBT || n->state == NODE_BOOTING ||
	    n->state == NODE_DELETING || n->state == NODE_QUARANTINED)
		assert_true(n->wake_ms != INT64_MAX);
}

static struct node_event random_event(int64_t now, struct provider_instance *in)
{
	struct node_event ev = {.type = (enum node_event_type)below(NODE_EV_NTYPES), .now_ms = now};

	*in = instance((enum provider_state)below(PROVIDER_ENDED + 1));
	if (below(8) == 0)
		in->addr[0] = '\0';
	in->created_ms = below(2) ? now - 5 : 0;
	in->ended_ms = below(2) ? now - (int64_t)below(20) : 0;
	if (ev.type == NODE_EV_CREATED || ev.type == NODE_EV_SEEN)
		ev.instance = in;
	ev.list_ms = now - (int64_t)below(2000);
	ev.batch = 1 + below(1000);
	ev.reason = (enum node_reason)(1 + below(NODE_NREASONS - 1));
	ev.retry_ms = below(4) == 0 ? now + below(W) : 0;
	return ev;
}

static void walk(uint64_t seed, unsigned *met)
{
	const struct node_limits *lim = seed & 1 ? &with_tokens : &without_tokens;
	struct proof p = {0};
	int64_t now = T0;
	struct node n;

	rng_state = seed;
	node_init(&n, "c1", 1, now);
	for (int i = 0; i < 60; i++) {
		struct provider_instance in;
		struct node_event ev = random_event(now, &in);
		const struct node before = n;
		struct node twin = n;
		bool changed;

		if (ev.type == NODE_EV_ABSENT) {
			p.first = p.first != 0 ? p.first : ev.list_ms;
			p.last = ev.list_ms;
		}
		changed = node_step(&n, &ev, lim);
		assert_int_equal(changed, memcmp(&before, &n, sizeof(n)) != 0);
		assert_int_equal(changed, node_step(&twin, &ev, lim));
		assert_memory_equal(&n, &twin, sizeof(n));
		check_step(&before, &n, &ev, &p);
		assert_int_equal(node_want(&n, now, lim), node_want(&n, now, lim));
		if (ev.type == NODE_EV_SEEN)
			p = (struct proof){0};
		met[n.state]++;
		now += 1 + below(20000);
	}
}

static void test_random_walk(void **state)
{
	unsigned met[NODE_NSTATES] = {0};

	(void)state;
	for (uint64_t seed = 0; seed < 20000; seed++)
		walk(seed, met);
	for (int s = 0; s < NODE_NSTATES; s++)
		if (s != NODE_QUARANTINED) /* six denials in a row are rare in a walk */
			assert_true(met[s] > 1000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_every_cell),
		cmocka_unit_test(test_every_sighting),
		cmocka_unit_test(test_want),
		cmocka_unit_test(test_want_lists_when_only_a_list_can_tell),
		cmocka_unit_test(test_absent_needs_two_lists_a_settle_time_apart),
		cmocka_unit_test(test_a_sighting_forgets_absence),
		cmocka_unit_test(test_indoubt_waits_from_the_last_try),
		cmocka_unit_test(test_indoubt_refused_again_is_not_gone),
		cmocka_unit_test(test_gone_comes_back),
		cmocka_unit_test(test_reasons),
		cmocka_unit_test(test_who_stops_as_it_boots_is_not_taken_back),
		cmocka_unit_test(test_billing_begins),
		cmocka_unit_test(test_the_first_release_names_the_reason),
		cmocka_unit_test(test_what_is_taken_is_recorded_so),
		cmocka_unit_test(test_words),
		cmocka_unit_test(test_random_walk),
	};

	return cmocka_run_group_tests_name("node", tests, NULL, NULL);
}
