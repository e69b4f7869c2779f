/* node.c over time: what is tried again and when, deadlines, restarts, and what is billed. */
#include "node_steps.h"

static void test_backoff_doubles_up_to_its_cap(void **state)
{
	static const int64_t want[] = {1000, 2000, 4000, 8000, 16000, 32000, 60000, 60000};
	struct node n = node_at(NODE_WANTED);

	(void)state;
	for (size_t i = 0; i < sizeof(want) / sizeof(want[0]); i++) {
		(void)at_time(&n, NODE_EV_START, T0);
		(void)at_time(&n, NODE_EV_NOTSENT, T0);
		assert_int_equal(n.state, NODE_WANTED);
		assert_int_equal(n.wake_ms, T0 + want[i]);
		assert_int_equal(n.batch, 0);
	}
	(void)at_time(&n, NODE_EV_START, T0);
	(void)step(&n,
		   (struct node_event){.type = NODE_EV_NOTSENT, .now_ms = T0, .retry_ms = T0 + 77});
	assert_int_equal(n.wake_ms, T0 + 77); /* the provider knows better (F7) */
}

/* That is the provider's state: the limit says when, and it is no try. */
static void test_who_is_throttled_has_no_pause_of_its_own(void **state)
{
	static const struct {
		enum node_state from;
		enum node_event_type next;
	} rows[] = {{NODE_WANTED, NODE_EV_START},
		    {NODE_INDOUBT, NODE_EV_TIMER},
		    {NODE_DELETING, NODE_EV_TIMER}};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct node n = node_at(rows[i].from);
		uint32_t tries = n.attempts;

		for (int k = 0; k < 2 * NODE_RETRIES; k++) {
			(void)at_time(&n, rows[i].next, T0 + k);
			(void)step(&n, (struct node_event){.type = NODE_EV_THROTTLED,
							   .now_ms = T0 + k,
							   .retry_ms = T0 + 60000});
			assert_int_equal(n.state, rows[i].from);
			assert_int_equal(n.wake_ms, T0 + k);
			assert_int_equal(n.attempts, tries);
		}
	}
}

/* A provider that wants a delete asked again in a day is asked before: it bills until then (I10).
 */
static void test_a_delete_does_not_wait_for_a_day(void **state)
{
	static const enum node_event_type types[] = {NODE_EV_DELETE_FAILED, NODE_EV_DELETE_DENIED};

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		struct node n = node_at(NODE_DELETING);

		(void)step(&n, (struct node_event){
				       .type = types[i], .now_ms = T0, .retry_ms = T0 + 86400000});
		assert_int_equal(n.wake_ms, T0 + NODE_REVISIT_MS);
		(void)step(&n, (struct node_event){
				       .type = types[i], .now_ms = T0, .retry_ms = T0 + 5000});
		assert_int_equal(n.wake_ms, T0 + 5000);
	}
}

/* Who was up unmounts file systems first; who never was, a thief and a broken host have no time. */
static void test_a_released_node_has_time_to_unmount(void **state)
{
	static const struct {
		enum node_state from;
		enum node_reason why;
		int64_t wait;
	} rows[] = {{NODE_READY, NODE_BECAUSE_SUSPENDED, 20000},
		    {NODE_DRAINING, NODE_BECAUSE_SUSPENDED, 20000},
		    {NODE_READY, NODE_BECAUSE_GANG, 20000},
		    {NODE_READY, NODE_BECAUSE_BREACH, 0},
		    {NODE_READY, NODE_BECAUSE_INIT, 0},
		    {NODE_DRAINING, NODE_BECAUSE_FAULTY, 0},
		    {NODE_BOOTING, NODE_BECAUSE_SUSPENDED, 0}};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const struct node_limits lim = {.settle_ms = 60000, .unmount_ms = 20000};
		const struct node_event ev = {
			.type = NODE_EV_RELEASE, .now_ms = T0, .reason = rows[i].why};
		struct node n = node_at(rows[i].from);

		assert_true(node_step(&n, &ev, &lim));
		assert_int_equal(n.state, NODE_DELETING);
		assert_int_equal(n.wake_ms, T0 + rows[i].wait);
		if (rows[i].wait > 0)
			assert_int_equal(node_want(&n, T0 + rows[i].wait - 1, &lim),
					 NODE_WANT_NOTHING);
		assert_int_equal(node_want(&n, T0 + rows[i].wait, &lim), NODE_WANT_DELETE);
		/* burstd is started anew: nothing is worth a machine that is forgotten. */
		(void)at_time(&n, NODE_EV_RESTART, T0 + 1);
		assert_int_equal(node_want(&n, T0 + 1, &lim), NODE_WANT_DELETE);
	}
}

/* Addresses go to slurmctld in a list with those of other nodes. */
static void test_an_address_is_one_address(void **state)
{
	static const struct {
		const char *addr;
		bool good;
	} rows[] = {
		{"10.1.2.3", true},
		{"2001:db8::1", true},
		{"gpu-1.cloud.internal", true},
		{"10.1.2.3,10.1.2.4", false},
		{"10.1.2.[3-9]", false},
		{"10.1.2.3 state=DOWN", false},
		{"10.1.2.3\n", false},
		{"a=b", false},
		{"$(id)", false},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct provider_instance in = instance(PROVIDER_RUNNING);
		struct node n = node_at(NODE_CREATING);

		n.addr[0] = '\0';
		(void)snprintf(in.addr, sizeof(in.addr), "%s", rows[i].addr);
		(void)step(&n, (struct node_event){
				       .type = NODE_EV_CREATED, .now_ms = T0, .instance = &in});
		assert_int_equal(n.state, NODE_BOOTING);
		assert_string_equal(n.addr, rows[i].good ? rows[i].addr : "");
		assert_int_equal(node_want(&n, T0, &with_tokens),
				 rows[i].good ? NODE_WANT_NOTHING : NODE_WANT_LIST);
	}
}

/* The repeat of a lost create is bounded; then lists decide (I25). */
static void test_lost_creates_are_repeated_a_few_times(void **state)
{
	struct node n = node_at(NODE_INDOUBT);
	unsigned creates = 0;

	(void)state;
	for (int64_t now = T0; now < T0 + 20 * W; now += 1000)
		if (node_want(&n, now, &with_tokens) == NODE_WANT_CREATE) {
			creates++;
			(void)at_time(&n, NODE_EV_LOST, now);
		}
	assert_int_equal(creates, NODE_RETRIES - 1);
	assert_int_equal(node_want(&n, T0 + 20 * W, &with_tokens), NODE_WANT_LIST);
	assert_int_equal(n.batch, 9); /* the same token (I4) */
	assert_int_equal(n.sent_ms, T0);
}

static void test_delete_denied_for_good_is_quarantined(void **state)
{
	struct node n = node_at(NODE_DELETING);

	(void)state;
	for (int i = 1; i < NODE_RETRIES; i++) {
		assert_true(denied(&n, T0 + i));
		assert_int_equal(n.state, NODE_DELETING);
		assert_true(n.wake_ms > T0 + i);
	}
	assert_true(denied(&n, T0 + 10));
	assert_int_equal(n.state, NODE_QUARANTINED);
	assert_true(node_counts(&n) && !node_lives(&n));
	assert_false(at_time(&n, NODE_EV_TIMER, T0 + 10 + NODE_REVISIT_MS - 1));
	assert_true(at_time(&n, NODE_EV_TIMER, T0 + 10 + NODE_REVISIT_MS));
	assert_int_equal(node_want(&n, T0 + 10 + NODE_REVISIT_MS, &with_tokens), NODE_WANT_DELETE);
}

/* F24: failing deletes go on for ever, slower and slower. */
static void test_delete_failed_never_gives_up(void **state)
{
	struct node n = node_at(NODE_DELETING);
	int64_t now = T0;

	(void)state;
	for (int i = 0; i < 100; i++) {
		assert_true(at_time(&n, NODE_EV_DELETE_FAILED, now));
		assert_true(n.wake_ms - now >=
			    (now - T0 < NODE_BACKOFF_MAX_MS ? now - T0 : NODE_BACKOFF_MAX_MS));
		assert_int_equal(n.state, NODE_DELETING);
		assert_in_range(n.wake_ms - now, NODE_BACKOFF_MS, NODE_BACKOFF_MAX_MS);
		now = n.wake_ms;
		assert_int_equal(node_want(&n, now, &with_tokens), NODE_WANT_DELETE);
	}
}

/* F22, F24: an outage is not a refusal: the first denial after it is the first. */
static void test_failed_deletes_are_no_denials(void **state)
{
	struct node n = node_at(NODE_DELETING);
	int64_t now = T0;

	(void)state;
	for (int i = 0; i < NODE_RETRIES - 1; i++, now = n.wake_ms) {
		for (int k = 0; k < 2 * NODE_RETRIES; k++, now = n.wake_ms)
			assert_true(at_time(&n, NODE_EV_DELETE_FAILED, now));
		assert_true(denied(&n, now));
		assert_int_equal(n.state, NODE_DELETING);
	}
	assert_true(denied(&n, now));
	assert_int_equal(n.state, NODE_QUARANTINED);
}

static void test_boot_deadline_after_restart(void **state)
{
	struct node n = node_at(NODE_BOOTING);

	(void)state;
	assert_int_equal(n.wake_ms, T0 + BOOT);
	(void)at_time(&n, NODE_EV_RESTART, T0 + 10);
	assert_int_equal(n.wake_ms, T0 + BOOT); /* nothing has changed */
	(void)at_time(&n, NODE_EV_RESTART, T0 + 2 * BOOT);
	assert_int_equal(n.wake_ms, T0 + 2 * BOOT + NODE_GRACE_MS); /* it may register yet */
	(void)at_time(&n, NODE_EV_RESTART, T0 - 100 * BOOT);        /* the clock went back (F57) */
	assert_int_equal(n.wake_ms, T0 - 99 * BOOT);
}

/* F57: what looks like the future after a restart must not hold up proof until it comes. */
static void test_clock_going_back_over_a_restart(void **state)
{
	static const enum node_state at[] = {NODE_INDOUBT,  NODE_BOOTING,  NODE_READY,
					     NODE_DRAINING, NODE_DELETING, NODE_QUARANTINED};

	(void)state;
	for (size_t i = 0; i < sizeof(at) / sizeof(at[0]); i++) {
		struct node n = node_at(at[i]);
		int64_t now = T0 / 2;

		(void)at_time(&n, NODE_EV_RESTART, now);
		assert_true(n.wanted_ms <= now && n.since_ms <= now);
		(void)absent(&n, now + W);
		(void)absent(&n, now + 2 * W);
		assert_int_equal(n.state, NODE_GONE);
	}
}

static void test_restart_forgets_no_intent(void **state)
{
	(void)state;
	for (int s = 0; s < NODE_NSTATES; s++) {
		struct node n = node_at((enum node_state)s);
		struct node before = n;

		(void)at_time(&n, NODE_EV_RESTART, T0 + 1);
		assert_int_equal(n.release, before.release);
		assert_int_equal(n.reason, before.reason);
		assert_int_equal(n.batch, before.batch);
		assert_int_equal(n.sent_ms, before.sent_ms);
		assert_string_equal(n.instance, before.instance);
		assert_int_equal(n.misses, 0);
		if (s == NODE_CREATING || s == NODE_INDOUBT) /* find out at once */
			assert_int_equal(node_want(&n, T0 + 1, &with_tokens), NODE_WANT_CREATE);
		if (s == NODE_DELETING)
			assert_int_equal(node_want(&n, T0 + 1, &with_tokens), NODE_WANT_DELETE);
	}
}

static void test_billing(void **state)
{
	struct provider_instance in = instance(PROVIDER_RUNNING);
	struct node n = node_at(NODE_CREATING);

	(void)state;
	in.created_ms = T0 - 3;
	(void)step(&n, (struct node_event){.type = NODE_EV_CREATED, .now_ms = T0, .instance = &in});
	assert_int_equal(n.start_ms, T0 - 3); /* the provider's word */
	in.state = PROVIDER_ENDED;
	in.ended_ms = T0 + 50;
	(void)step(&n,
		   (struct node_event){.type = NODE_EV_SEEN, .now_ms = T0 + 99, .instance = &in});
	assert_int_equal(n.end_ms, T0 + 50);
	n = node_at(NODE_READY);
	assert_int_equal(n.start_ms, T0); /* when we learnt of it */
	in.ended_ms = T0 - 50;            /* nonsense: before it began */
	(void)step(&n,
		   (struct node_event){.type = NODE_EV_SEEN, .now_ms = T0 + 99, .instance = &in});
	assert_int_equal(n.end_ms, T0 + 99);
	n = node_at(NODE_READY);
	in.ended_ms = INT64_MAX / 2; /* nor does one end in the future: it would cost millions */
	(void)step(&n,
		   (struct node_event){.type = NODE_EV_SEEN, .now_ms = T0 + 99, .instance = &in});
	assert_int_equal(n.end_ms, T0 + 99);
	in.ended_ms = T0 - 50;
	n = node_at(NODE_READY); /* F57: the clock went back; no bill ends before it began */
	(void)step(&n,
		   (struct node_event){.type = NODE_EV_SEEN, .now_ms = T0 - 9, .instance = &in});
	assert_int_equal(n.state, NODE_GONE);
	assert_int_equal(n.end_ms, T0);
	n = node_at(NODE_GONE); /* refused: never billed */
	assert_true(n.start_ms == 0 && n.end_ms == 0);
}

/* F57: the clock was wrong at a start; where the provider says when it was launched, that counts.
 * Neither for small differences nor for a time that cannot be. */
static void test_a_bill_begins_when_the_provider_says(void **state)
{
	enum { YEAR = 365 };
	static const struct {
		int64_t start, said, want; /* days before now */
	} rows[] = {
		{YEAR, 1, 1}, {YEAR, 0, YEAR}, {1, 1, 1}, {YEAR, -1, YEAR}, {1, YEAR + 1, 1},
	};
	static const enum node_state states[] = {NODE_BOOTING, NODE_READY, NODE_DRAINING,
						 NODE_DELETING, NODE_QUARANTINED};
	const int64_t day = 86400000, now = T0 + 2 * YEAR * day;

	(void)state;
	for (size_t s = 0; s < sizeof(states) / sizeof(states[0]); s++)
		for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
			struct provider_instance in = instance(PROVIDER_RUNNING);
			struct node n = node_at(states[s]);

			n.sent_ms = now - YEAR * day; /* by the clock that was wrong, too */
			n.start_ms = now - rows[i].start * day;
			in.created_ms = rows[i].said != 0 ? now - rows[i].said * day : 0;
			(void)step(&n, (struct node_event){.type = NODE_EV_SEEN,
							   .now_ms = now,
							   .instance = &in});
			assert_true(n.start_ms == now - rows[i].want * day);
			in.created_ms = n.start_ms + NODE_SKEW_MS; /* two clocks */
			(void)step(&n, (struct node_event){.type = NODE_EV_SEEN,
							   .now_ms = now,
							   .instance = &in});
			assert_true(n.start_ms == now - rows[i].want * day);
			in.created_ms = n.start_ms + NODE_SKEW_MS + 1;
			(void)snprintf(in.id, sizeof(in.id), "another");
			(void)step(&n, (struct node_event){.type = NODE_EV_SEEN,
							   .now_ms = now,
							   .instance = &in});
			assert_true(n.start_ms == now - rows[i].want * day);
		}
}

static bool seen_created(struct node *n, int64_t created_ms, int64_t now)
{
	struct provider_instance in = instance(PROVIDER_RUNNING);

	in.created_ms = created_ms;
	return step(n, (struct node_event){.type = NODE_EV_SEEN, .now_ms = now, .instance = &in});
}

static void test_a_bill_is_corrected_for_more_than_two_clocks(void **state)
{
	static const int64_t off[] = {-NODE_SKEW_MS - 1, -NODE_SKEW_MS, NODE_SKEW_MS,
				      NODE_SKEW_MS + 1};
	static const bool mended[] = {true, false, false, true};

	(void)state;
	for (size_t i = 0; i < sizeof(off) / sizeof(off[0]); i++) {
		struct node n = node_at(NODE_READY);

		n.start_ms = T0 + 2 * NODE_SKEW_MS;
		assert_int_equal(seen_created(&n, n.start_ms + off[i], T0 + 5 * NODE_SKEW_MS),
				 mended[i]);
		assert_int_equal(n.start_ms, T0 + 2 * NODE_SKEW_MS + (mended[i] ? off[i] : 0));
	}
}

/* What is shown again after its end was billed up to there, and would else begin after that. */
static void test_a_bill_that_has_ended_keeps_its_beginning(void **state)
{
	struct node n = node_at(NODE_READY);
	const int64_t later = T0 + 5 * NODE_SKEW_MS;

	(void)state;
	(void)seen(&n, PROVIDER_ENDED, T0 + W);
	for (int i = 0; i < 2; i++) {
		(void)seen_created(&n, later, later);
		assert_int_equal(n.state, NODE_DELETING);
		assert_true(n.start_ms == T0 && n.end_ms == T0 + W);
	}
}

/* F14: the row is made for one that has a bill, and goes on with that. */
static void test_a_bill_is_gone_on_with(void **state)
{
	const int64_t later = T0 + 5 * NODE_SKEW_MS;

	(void)state;
	for (int released = 0; released <= 1; released++) {
		struct node n = node_at(NODE_WANTED);

		n.start_ms = T0 - 9;
		n.end_ms = T0 - 5;
		n.release = released == 1;
		(void)seen_created(&n, later, later);
		assert_int_equal(n.state, released ? NODE_DELETING : NODE_BOOTING);
		assert_true(n.start_ms == T0 - 9 && n.end_ms == T0 - 5);
		(void)seen(&n, PROVIDER_ENDED, later + W);
		assert_int_equal(n.state, NODE_GONE);
		assert_true(n.start_ms == T0 - 9 && n.end_ms == later + W);
	}
}

/* F57: it was 1970 as the create was sent.  A provider that says nothing has not said 0. */
static void test_a_bill_begins_in_1970_too(void **state)
{
	static const int64_t sent[] = {5000, NODE_SKEW_MS, NODE_SKEW_MS + 1};

	(void)state;
	for (size_t i = 0; i < sizeof(sent) / sizeof(sent[0]); i++) {
		struct node n;

		node_init(&n, "c1", 7, sent[i]);
		(void)at_time(&n, NODE_EV_START, sent[i]);
		(void)at_time(&n, NODE_EV_CREATED, sent[i] + 5);
		assert_int_equal(n.start_ms, sent[i] + 5);
	}
}

/* F57: the clock went back over a restart, between the create and the first list that shows what
 * came of it: the create was sent in the future, and the provider's word counts. */
static void test_a_bill_begins_before_its_create_was_sent(void **state)
{
	static const int64_t sent[] = {T0 - 50, T0, T0 + 1, T0 + 365 * INT64_C(86400000)};

	(void)state;
	for (size_t i = 0; i < sizeof(sent) / sizeof(sent[0]); i++) {
		struct node n = node_at(NODE_INDOUBT);

		n.sent_ms = sent[i];
		(void)seen_created(&n, T0 - NODE_SKEW_MS - 60, T0);
		assert_int_equal(n.state, NODE_BOOTING);
		assert_true(n.start_ms == (sent[i] > T0 ? T0 - NODE_SKEW_MS - 60 : T0));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_backoff_doubles_up_to_its_cap),
		cmocka_unit_test(test_who_is_throttled_has_no_pause_of_its_own),
		cmocka_unit_test(test_a_bill_begins_when_the_provider_says),
		cmocka_unit_test(test_a_bill_is_corrected_for_more_than_two_clocks),
		cmocka_unit_test(test_a_bill_that_has_ended_keeps_its_beginning),
		cmocka_unit_test(test_a_bill_is_gone_on_with),
		cmocka_unit_test(test_a_bill_begins_in_1970_too),
		cmocka_unit_test(test_a_bill_begins_before_its_create_was_sent),
		cmocka_unit_test(test_a_delete_does_not_wait_for_a_day),
		cmocka_unit_test(test_a_released_node_has_time_to_unmount),
		cmocka_unit_test(test_an_address_is_one_address),
		cmocka_unit_test(test_lost_creates_are_repeated_a_few_times),
		cmocka_unit_test(test_delete_denied_for_good_is_quarantined),
		cmocka_unit_test(test_delete_failed_never_gives_up),
		cmocka_unit_test(test_failed_deletes_are_no_denials),
		cmocka_unit_test(test_boot_deadline_after_restart),
		cmocka_unit_test(test_clock_going_back_over_a_restart),
		cmocka_unit_test(test_restart_forgets_no_intent),
		cmocka_unit_test(test_billing),
	};

	return cmocka_run_group_tests_name("node_time", tests, NULL, NULL);
}
