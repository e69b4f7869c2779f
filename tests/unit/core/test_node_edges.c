/* node.c where it is only just so: what small changes to it break (`make mutate`), beside
 * test_node.c, which has the tables. */
#include "core/node.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

enum { W = 60000, BOOT = 300000, TOKEN = 1800000, T0 = 1000000 };

static const struct node_limits lim = {
	.tokens = true, .settle_ms = W, .token_ms = TOKEN, .boot_ms = BOOT};

static bool post(struct node *n, enum node_event_type type, int64_t now)
{
	return node_step(n, &(struct node_event){.type = type, .now_ms = now}, &lim);
}

static bool retry(struct node *n, enum node_event_type type, int64_t now, int64_t retry_ms)
{
	const struct node_event ev = {.type = type, .now_ms = now, .retry_ms = retry_ms};

	return node_step(n, &ev, &lim);
}

static bool absent(struct node *n, int64_t list_ms)
{
	const struct node_event ev = {
		.type = NODE_EV_ABSENT, .now_ms = list_ms, .list_ms = list_ms};

	return node_step(n, &ev, &lim);
}

static struct provider_instance named(const char *id, enum provider_state s)
{
	struct provider_instance in = {.state = s};

	(void)snprintf(in.id, sizeof(in.id), "%s", id);
	(void)snprintf(in.addr, sizeof(in.addr), "10.0.0.1");
	return in;
}

static bool shown(struct node *n, enum node_event_type type, const struct provider_instance *in,
		  int64_t now)
{
	return node_step(n, &(struct node_event){.type = type, .now_ms = now, .instance = in},
			 &lim);
}

static bool running(struct node *n, enum node_event_type type, int64_t now)
{
	const struct provider_instance in = named("i-1", PROVIDER_RUNNING);

	return shown(n, type, &in, now);
}

static struct node at(enum node_state s)
{
	struct node n;

	node_init(&n, "c1", 7, T0);
	if (s != NODE_WANTED)
		(void)post(&n, NODE_EV_START, T0);
	if (s == NODE_INDOUBT)
		(void)post(&n, NODE_EV_LOST, T0);
	if (s >= NODE_BOOTING)
		(void)running(&n, NODE_EV_CREATED, T0);
	if (s == NODE_READY)
		(void)post(&n, NODE_EV_REGISTERED, T0);
	if (s == NODE_DELETING || s == NODE_QUARANTINED)
		(void)post(&n, NODE_EV_RELEASE, T0);
	for (int i = 0; s == NODE_QUARANTINED && i < NODE_RETRIES; i++)
		(void)post(&n, NODE_EV_DELETE_DENIED, T0);
	assert_int_equal(n.state, s);
	return n;
}

static void test_what_was_never_up_is_coming(void **state)
{
	(void)state;
	for (int s = 0; s < NODE_NSTATES; s++) {
		struct node n = {.state = (enum node_state)s};

		assert_int_equal(node_coming(&n), s <= NODE_BOOTING);
	}
}

static void test_a_state_begins_when_it_is_entered(void **state)
{
	struct node n = at(NODE_BOOTING);

	(void)state;
	(void)post(&n, NODE_EV_REGISTERED, T0 + 5);
	assert_int_equal(n.since_ms, T0 + 5);
}

/* "Not before now" says nothing. */
static void test_a_retry_that_is_due_at_once_is_none(void **state)
{
	struct node n = at(NODE_CREATING);

	(void)state;
	(void)retry(&n, NODE_EV_NOTSENT, T0, T0);
	assert_int_equal(n.wake_ms, T0 + NODE_BACKOFF_MS);
	n = at(NODE_DELETING);
	(void)retry(&n, NODE_EV_DELETE_FAILED, T0, T0);
	assert_int_equal(n.wake_ms, T0 + NODE_BACKOFF_MS);
}

/* --- the bill (I22) ---------------------------------------------------------------------------
 */

static void test_a_bill_ends_when_the_provider_says(void **state)
{
	struct provider_instance in = named("i-1", PROVIDER_ENDED);
	struct node n = at(NODE_BOOTING);

	(void)state;
	in.ended_ms = n.start_ms; /* at once */
	(void)shown(&n, NODE_EV_SEEN, &in, T0 + 99);
	assert_int_equal(n.end_ms, n.start_ms);
	/* It was not over: what was billed stays billed, though the provider names an earlier end.
	 */
	n = at(NODE_DELETING);
	(void)absent(&n, T0 + W);
	(void)absent(&n, T0 + 2 * W);
	assert_int_equal(n.end_ms, T0 + 2 * W);
	(void)running(&n, NODE_EV_SEEN, T0 + 3 * W);
	in.ended_ms = T0 + W;
	(void)shown(&n, NODE_EV_SEEN, &in, T0 + 4 * W);
	assert_int_equal(n.state, NODE_GONE);
	assert_int_equal(n.end_ms, T0 + 2 * W);
}

/* The proof that it is gone comes a settle time after the first list that did not show it; that
 * time is not billed. */
static void test_a_bill_ends_with_the_first_list_without_it(void **state)
{
	static const struct {
		int64_t lacked_ms, end_ms;
	} rows[] = {{T0 + 5, T0 + 5}, {0, T0 + 2 * W}, {T0 - 5, T0}};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct node_event ev = {.type = NODE_EV_ABSENT,
					.now_ms = T0 + 2 * W,
					.list_ms = T0 + 2 * W,
					.lacked_ms = rows[i].lacked_ms};
		struct node n = at(NODE_DELETING);

		(void)absent(&n, T0 + W);
		(void)node_step(&n, &ev, &lim);
		assert_int_equal(n.state, NODE_GONE);
		assert_int_equal(n.end_ms, rows[i].end_ms);
	}
}

/* Of one that we never asked for any beginning is believed, but none at all. */
static void test_a_bill_of_what_was_found_begins(void **state)
{
	static const int64_t said[] = {0, 1, T0 - 5, T0 + 1};
	static const int64_t begins[] = {T0, 1, T0 - 5, T0};

	(void)state;
	for (size_t i = 0; i < sizeof(said) / sizeof(said[0]); i++) {
		struct provider_instance in = named("i-1", PROVIDER_RUNNING);
		struct node n = at(NODE_WANTED);

		in.created_ms = said[i];
		(void)shown(&n, NODE_EV_SEEN, &in, T0);
		assert_int_equal(n.state, NODE_BOOTING);
		assert_int_equal(n.start_ms, begins[i]);
	}
}

/* --- short names ------------------------------------------------------------------------------
 */

static void test_one_letter_is_a_name(void **state)
{
	struct provider_instance in = named("7", PROVIDER_RUNNING);
	struct node n = at(NODE_CREATING);

	(void)state;
	memcpy(in.addr, "c", 2);
	(void)shown(&n, NODE_EV_CREATED, &in, T0);
	assert_string_equal(n.addr, "c");
	assert_int_equal(node_want(&n, T0, &lim), NODE_WANT_NOTHING);
	in.state = PROVIDER_ENDED;
	(void)shown(&n, NODE_EV_SEEN, &in, T0);
	assert_false(running(&n, NODE_EV_SEEN, T0)); /* i-1 is another */
	assert_int_equal(n.state, NODE_GONE);
	in.state = PROVIDER_RUNNING;
	assert_true(shown(&n, NODE_EV_SEEN, &in, T0)); /* and this is ours, after all (F3) */
	assert_int_equal(n.state, NODE_DELETING);
}

/* --- a create and its repeats -----------------------------------------------------------------
 */

static void test_a_create_has_its_place_in_the_batch(void **state)
{
	const struct node_event ev = {.type = NODE_EV_START, .now_ms = T0, .batch = 9, .slot = 3};
	struct node n = at(NODE_WANTED);

	(void)state;
	(void)node_step(&n, &ev, &lim);
	assert_true(n.batch == 9 && n.slot == 3);
}

static void test_what_is_wanted_is_asked_for_however_late(void **state)
{
	struct node n = at(NODE_WANTED);

	(void)state;
	assert_int_equal(node_want(&n, T0 + 10 * TOKEN, &lim), NODE_WANT_CREATE);
}

/* A throttled create need not wait on after a restart; nothing else shortens its wait. */
static void test_a_restart_asks_at_once(void **state)
{
	struct node n = at(NODE_CREATING);

	(void)state;
	(void)retry(&n, NODE_EV_NOTSENT, T0, T0 + W);
	assert_false(post(&n, NODE_EV_TIMER, T0 + 1));
	assert_int_equal(node_want(&n, T0 + 1, &lim), NODE_WANT_NOTHING);
	assert_true(post(&n, NODE_EV_RESTART, T0 + 1));
	assert_int_equal(node_want(&n, T0 + 1, &lim), NODE_WANT_CREATE);
	n = at(NODE_DELETING);
	(void)retry(&n, NODE_EV_DELETE_FAILED, T0, T0 + W);
	(void)post(&n, NODE_EV_RESTART, T0 + 1);
	assert_int_equal(node_want(&n, T0 + 1, &lim), NODE_WANT_DELETE);
}

static void test_attempts_are_of_the_present_request(void **state)
{
	struct node n = at(NODE_CREATING);

	(void)state;
	(void)post(&n, NODE_EV_NOTSENT, T0);
	assert_int_equal(n.attempts, 1);
	(void)post(&n, NODE_EV_START, T0);
	(void)post(&n, NODE_EV_RESTART, T0); /* the first try went out, or did not */
	assert_int_equal(n.attempts, 0);
	(void)post(&n, NODE_EV_LOST, T0);
	(void)running(&n, NODE_EV_CREATED, T0 + 5);
	assert_int_equal(n.attempts, 0);
	assert_int_equal(n.wake_ms, T0 + 5 + BOOT);
	assert_int_equal(n.since_ms, T0 + 5);
}

static void test_a_repeat_that_fails_waits_longer_each_time(void **state)
{
	static const enum node_event_type fails[] = {NODE_EV_LOST, NODE_EV_NOTSENT};

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		struct node n = at(NODE_INDOUBT); /* after one try */

		(void)post(&n, fails[i], T0 + 1);
		assert_int_equal(n.wake_ms, T0 + 1 + 2 * NODE_BACKOFF_MS);
		assert_int_equal(n.attempts, 2);
		assert_int_equal(node_want(&n, n.wake_ms, &lim), NODE_WANT_CREATE);
	}
}

/* I7: what went out once more is waited for from then on, not from the first try. */
static void test_lists_count_from_the_last_try(void **state)
{
	static const enum node_event_type again[] = {NODE_EV_LOST, NODE_EV_RESTART};

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		struct node n = at(NODE_INDOUBT);

		(void)post(&n, again[i], T0 + W);
		assert_false(absent(&n, T0 + 2 * W - 1));
		assert_true(absent(&n, T0 + 2 * W));
		(void)absent(&n, T0 + 3 * W);
		assert_int_equal(n.state, NODE_GONE);
	}
}

/* However soon a provider's lists show what there is. */
static void test_one_list_is_never_enough(void **state)
{
	const struct node_limits at_once = {.boot_ms = BOOT};
	const struct node_event ev = {.type = NODE_EV_ABSENT, .now_ms = T0, .list_ms = T0};
	struct node n = at(NODE_READY);

	(void)state;
	(void)node_step(&n, &ev, &at_once);
	assert_int_equal(n.state, NODE_READY);
}

static void test_a_repeat_needs_a_token(void **state)
{
	struct node_limits none = lim;
	struct node n = at(NODE_INDOUBT);

	(void)state;
	n.wake_ms = T0; /* the very millisecond in which it was sent */
	assert_int_equal(node_want(&n, T0, &lim), NODE_WANT_CREATE);
	none.tokens = false;
	assert_int_equal(node_want(&n, T0, &none), NODE_WANT_LIST);
}

/* --- alive ------------------------------------------------------------------------------------
 */

static void test_the_deadline_is_of_those_that_boot_and_not_before_its_time(void **state)
{
	struct node n = at(NODE_BOOTING);

	(void)state;
	assert_false(post(&n, NODE_EV_TIMER, T0 + BOOT - 1));
	assert_int_equal(n.state, NODE_BOOTING);
	assert_true(post(&n, NODE_EV_TIMER, T0 + BOOT));
	assert_int_equal(n.state, NODE_DELETING);
	n = at(NODE_READY);
	(void)post(&n, NODE_EV_RESTART, T0 + 1);
	assert_true(n.wake_ms == INT64_MAX);
}

/* No list was looked at while burstd was away (F15). */
static void test_a_restart_forgets_absence(void **state)
{
	static const enum node_state in[] = {NODE_BOOTING, NODE_READY, NODE_DELETING,
					     NODE_QUARANTINED};

	(void)state;
	for (size_t i = 0; i < sizeof(in) / sizeof(in[0]); i++) {
		struct node n = at(in[i]);

		(void)absent(&n, T0 + W);
		assert_int_equal(n.misses, 1);
		(void)post(&n, NODE_EV_RESTART, T0 + W + 1);
		assert_int_equal(n.misses, 0);
	}
}

/* Only a restart may have set the clock back: else a time that is later than an event's is right.
 */
static void test_only_a_restart_corrects_the_past(void **state)
{
	struct node n = at(NODE_READY);

	(void)state;
	(void)running(&n, NODE_EV_SEEN, T0 - 5);
	assert_true(n.since_ms == T0 && n.wanted_ms == T0);
	(void)post(&n, NODE_EV_RESTART, T0 - 5);
	assert_true(n.since_ms == T0 - 5 && n.wanted_ms == T0 - 5);
}

static void test_what_is_gone_is_not_released(void **state)
{
	const struct node_event ev = {
		.type = NODE_EV_RELEASE, .now_ms = T0, .reason = NODE_BECAUSE_OPERATOR};
	struct node n = at(NODE_CREATING);

	(void)state;
	(void)post(&n, NODE_EV_REFUSED, T0);
	assert_int_equal(n.state, NODE_GONE);
	assert_false(node_step(&n, &ev, &lim));
	assert_false(n.release);
}

/* --- a delete and its repeats -----------------------------------------------------------------
 */

static void test_an_accepted_delete_is_asked_for_again(void **state)
{
	struct node n = at(NODE_DELETING);

	(void)state;
	for (int i = 1; i < NODE_RETRIES; i++)
		(void)post(&n, NODE_EV_DELETE_DENIED, T0);
	(void)post(&n, NODE_EV_DELETED, T0);
	assert_int_equal(n.wake_ms, T0 + NODE_REDELETE_MS);
	(void)absent(&n, T0 + 1);
	assert_false(post(&n, NODE_EV_TIMER, n.wake_ms - 1));
	assert_true(post(&n, NODE_EV_TIMER, n.wake_ms));
	assert_int_equal(n.misses, 1); /* the list still counts */
	/* It said yes once: denials are counted anew. */
	for (int i = 1; i < NODE_RETRIES; i++)
		(void)post(&n, NODE_EV_DELETE_DENIED, T0 + W);
	assert_int_equal(n.state, NODE_DELETING);
	(void)post(&n, NODE_EV_DELETE_DENIED, T0 + W);
	assert_int_equal(n.state, NODE_QUARANTINED);
}

static void test_the_first_failure_of_a_delete_is_soon_made_good(void **state)
{
	struct node n = at(NODE_DELETING);

	(void)state;
	(void)post(&n, NODE_EV_DELETE_FAILED, T0);
	assert_int_equal(n.wake_ms, T0 + NODE_BACKOFF_MS);
}

static void test_out_of_quarantine_all_begins_anew(void **state)
{
	struct node n = at(NODE_QUARANTINED);
	int64_t wake = n.wake_ms;

	(void)state;
	(void)post(&n, NODE_EV_RESTART, T0);
	assert_int_equal(n.wake_ms, wake);
	(void)post(&n, NODE_EV_DELETED, T0); /* late */
	assert_true(n.accepted);
	n.attempts = NODE_RETRIES - 1;
	(void)post(&n, NODE_EV_RELEASE, T0 + 1);
	assert_int_equal(node_want(&n, T0 + 1, &lim), NODE_WANT_DELETE);
	(void)post(&n, NODE_EV_DELETE_DENIED, T0 + 1);
	assert_int_equal(n.state, NODE_DELETING);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_what_was_never_up_is_coming),
		cmocka_unit_test(test_a_state_begins_when_it_is_entered),
		cmocka_unit_test(test_a_retry_that_is_due_at_once_is_none),
		cmocka_unit_test(test_a_bill_ends_when_the_provider_says),
		cmocka_unit_test(test_a_bill_ends_with_the_first_list_without_it),
		cmocka_unit_test(test_a_bill_of_what_was_found_begins),
		cmocka_unit_test(test_one_letter_is_a_name),
		cmocka_unit_test(test_a_create_has_its_place_in_the_batch),
		cmocka_unit_test(test_what_is_wanted_is_asked_for_however_late),
		cmocka_unit_test(test_a_restart_asks_at_once),
		cmocka_unit_test(test_attempts_are_of_the_present_request),
		cmocka_unit_test(test_a_repeat_that_fails_waits_longer_each_time),
		cmocka_unit_test(test_lists_count_from_the_last_try),
		cmocka_unit_test(test_one_list_is_never_enough),
		cmocka_unit_test(test_a_repeat_needs_a_token),
		cmocka_unit_test(test_the_deadline_is_of_those_that_boot_and_not_before_its_time),
		cmocka_unit_test(test_a_restart_forgets_absence),
		cmocka_unit_test(test_only_a_restart_corrects_the_past),
		cmocka_unit_test(test_what_is_gone_is_not_released),
		cmocka_unit_test(test_an_accepted_delete_is_asked_for_again),
		cmocka_unit_test(test_the_first_failure_of_a_delete_is_soon_made_good),
		cmocka_unit_test(test_out_of_quarantine_all_begins_anew),
	};

	return cmocka_run_group_tests_name("node_edges", tests, NULL, NULL);
}
