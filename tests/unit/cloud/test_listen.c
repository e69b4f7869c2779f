/* test_listen.c - notices of a provider: one request at a time that it may hold, what it tells made
 * durable and only then acknowledged, and silence without cost.  The driver is the test's. */
#include "bare_cloud.h"
#include "cloud/cloud.h"

static struct provider_result result; /* the next parse(); what it owns goes with it */

/* --- a driver ---------------------------------------------------------------------------------
 */

static int build(const void *self, const struct provider_op *op, struct provider_request *out,
		 struct err *e)
{
	char url[64];

	(void)self;
	(void)e;
	(void)snprintf(url, sizeof(url), "%s", provider_op_str(op->kind));
	if (op->kind == PROVIDER_NOTICES && op->u.notices.ack != NULL)
		(void)snprintf(url, sizeof(url), "forget(%s)", op->u.notices.ack);
	else if (op->kind == PROVIDER_NOTICES)
		(void)snprintf(url, sizeof(url), "listen(%s)", op->cursor);
	out->kind = PROVIDER_HTTP;
	out->method = "GET";
	out->url = mem_strdup(url);
	return 0;
}

static void parse(const void *self, const struct provider_op *op,
		  const struct provider_reply *reply, struct provider_result *out)
{
	(void)self;
	(void)op;
	(void)reply;
	*out = result;
	result = (struct provider_result){0};
}

static const struct provider_ops ops = {.name = "test", .build = build, .parse = parse};
static int setup(void **state)
{
	(void)state;
	bare_init(&ops, 2, 1, 50);
	result = (struct provider_result){0};
	B.pools[1].own.provider_index = 1;
	B.c->caps.flags = PROVIDER_TELLS;
	B.c->listed = true;
	B.c->list_next = B.c->quotes_next = INT64_MAX;
	B.e.fleet.pools[0].nodes = 1;
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	B.e.fleet.pools[0].nodes = 0;
	bare_fini();
	return 0;
}

/* Answered with `result`, ms later. */
static void answer_after(const char *url, int64_t ms)
{
	W.now += ms;
	answer(url, 200, "");
}

static void says(const char *cursor, const char *ack, const char *id)
{
	(void)snprintf(result.cursor, sizeof(result.cursor), "%s", cursor);
	result.ack = ack != NULL ? mem_strdup(ack) : NULL;
	result.notices = mem_zalloc(sizeof(*result.notices));
	result.nnotices = 1;
	(void)snprintf(result.notices[0].id, sizeof(result.notices[0].id), "%s", id);
}

static void fails(enum provider_code code, const char *text)
{
	result.code = code;
	(void)snprintf(result.message, sizeof(result.message), "%s", text);
}

/* --- tests ------------------------------------------------------------------------------------
 */

static void test_one_request_waits_and_takes_nobodys_place(void **state)
{
	struct provider_op op = {.kind = PROVIDER_LIST};

	(void)state;
	cloud_run(B.c);
	assert_string_equal(B.story, "listen()");
	assert_int_equal(B.wire[0].timeout_ms, 30000 + ENGINE_LISTEN_MS);
	assert_true(B.wire[0].held); /* its silence is no sign of anything */
	cloud_run(B.c);
	assert_int_equal(waiting(), 1);
	assert_true(cloud_next_ms(B.c) == INT64_MAX); /* its answer wakes us */
	assert_int_equal(B.c->limit.out, 0);
	assert_true(cloud_ready(B.c, PROVIDER_LIST)); /* of one slot */
	assert_true(cloud_quiet(&B.e));
	assert_int_equal(B.c->sent[PROVIDER_NOTICES], 1);
	cloud_send(B.c, &op, NULL, NULL);
	assert_false(cloud_quiet(&B.e));
}

static void test_nothing_is_asked_without_an_instance_a_list_or_a_provider_that_tells(void **state)
{
	(void)state;
	B.e.fleet.pools[0].nodes = 0;
	B.e.fleet.pools[1].nodes = 5; /* of another provider */
	cloud_run(B.c);
	assert_true(listen_next_ms(B.c) == INT64_MAX);
	B.e.fleet.pools[0].nodes = 1;
	B.c->listed = false; /* which instances are ours is not known yet */
	cloud_run(B.c);
	B.c->listed = true;
	B.c->caps.flags = PROVIDER_TOKENS;
	cloud_run(B.c);
	assert_int_equal(B.n, 0);
	B.c->caps.flags = PROVIDER_TELLS;
	cloud_run(B.c);
	assert_int_equal(B.n, 1);
}

static void test_silence_is_a_request_in_twenty_seconds(void **state)
{
	(void)state;
	cloud_run(B.c);
	for (int i = 0; i < 9; i++)
		answer_after("listen()", ENGINE_LISTEN_MS);
	assert_int_equal(B.n, 10);
	answer_after("listen()", 5); /* it was not held */
	assert_int_equal(waiting(), 0);
	assert_int_equal(cloud_next_ms(B.c), W.now + ENGINE_LISTEN_PAUSE_MS);
	W.now += ENGINE_LISTEN_PAUSE_MS;
	cloud_run(B.c);
	assert_int_equal(waiting(), 1);
}

static void test_what_is_told_is_durable_before_it_is_forgotten(void **state)
{
	(void)state;
	cloud_run(B.c);
	says("", "r1", "i-1");
	answer_after("listen()", 4000);
	assert_string_equal(B.story, "listen() i-1 commit forget(r1) listen()");
	answer_after("forget(r1)", 5);
	assert_int_equal(B.c->unheard_ms, 0);
	says("7", NULL, "i-2");
	answer_after("listen()", 1);
	assert_string_equal(B.story,
			    "listen() i-1 commit forget(r1) listen() i-2 commit listen(7)");
}

/* Whom it means is not known yet: it stays with the provider, which tells it again, and is asked no
 * faster for that. */
static void test_what_is_too_early_is_not_forgotten(void **state)
{
	(void)state;
	cloud_run(B.c);
	says("", "r1", "early-1");
	answer_after("listen()", 4000);
	assert_string_equal(B.story, "listen() early-1 commit");
	assert_int_equal(B.c->unheard_ms, 0);
	assert_int_equal(cloud_next_ms(B.c), W.now + ENGINE_LISTEN_PAUSE_MS);
	W.now = cloud_next_ms(B.c);
	cloud_run(B.c);
	says("", "r1", "i-1");
	answer_after("listen()", 4000);
	assert_string_equal(B.story,
			    "listen() early-1 commit listen() i-1 commit forget(r1) listen()");
}

/* Of several that come together one is enough. */
static void test_what_is_too_early_keeps_the_others_with_the_provider(void **state)
{
	(void)state;
	cloud_run(B.c);
	says("", "r1", "early-1");
	result.notices = mem_realloc(result.notices, 2 * sizeof(*result.notices));
	result.notices[1] = result.notices[0];
	(void)snprintf(result.notices[1].id, sizeof(result.notices[1].id), "i-1");
	result.nnotices = 2;
	answer_after("listen()", 4000);
	W.now = cloud_next_ms(B.c);
	cloud_run(B.c);
	assert_string_equal(B.story, "listen() early-1 i-1 commit listen()");
}

static void test_a_journal_that_fails_keeps_the_notice_at_the_provider(void **state)
{
	(void)state;
	cloud_run(B.c);
	B.disk_fails = true;
	says("7", "r1", "i-1");
	answer_after("listen()", 1);
	assert_string_equal(B.story, "listen() i-1 commit");
	assert_string_equal(B.c->listen_cursor, "");
}

static void test_the_same_again_and_again_is_not_asked_for_faster(void **state)
{
	(void)state;
	cloud_run(B.c);
	says("", NULL, "i-1");
	answer_after("listen()", 1);
	assert_int_equal(waiting(), 0);
	assert_int_equal(cloud_next_ms(B.c), W.now + ENGINE_LISTEN_PAUSE_MS);
}

static void test_failures_are_told_and_tried_again_later_each_time(void **state)
{
	static const int64_t waits[] = {1000, 2000, 4000, 8000, 16000, 30000, 30000};

	(void)state;
	cloud_run(B.c);
	for (size_t i = 0; i < sizeof(waits) / sizeof(waits[0]); i++) {
		fails(PROVIDER_INVALID, "QueueDoesNotExist");
		answer_after("listen()", 0);
		assert_int_equal(waiting(), 0);
		assert_int_equal(cloud_next_ms(B.c), W.now + waits[i]);
		W.now += waits[i];
		cloud_run(B.c);
	}
	assert_int_equal(B.c->unheard_ms, BEGAN);
	assert_string_equal(B.c->unheard, "QueueDoesNotExist");
	assert_string_equal(B.c->error, ""); /* of EC2 that says nothing */
	assert_int_equal(B.c->ok_ms, 0);     /* neither way */
	answer_after("listen()", ENGINE_LISTEN_MS);
	assert_int_equal(B.c->unheard_ms, 0);
	assert_string_equal(B.c->unheard, "");
	assert_int_equal(B.c->ok_ms, 0);
	assert_int_equal(waiting(), 1);
	fails(PROVIDER_RATE, "slow down");
	result.retry_after_ms = 7000;
	answer_after("listen()", 0);
	assert_int_equal(cloud_next_ms(B.c), W.now + 7000);
	/* "In a day" is not believed: machines are taken back meanwhile (F41). */
	W.now += 7000;
	cloud_run(B.c);
	fails(PROVIDER_RATE, "slow down");
	result.retry_after_ms = 86400000;
	answer_after("listen()", 0);
	assert_int_equal(cloud_next_ms(B.c), W.now + LIMIT_PAUSE_MAX_MS);
}

/* The right to read and not to delete: each message comes every 30 s. */
static void test_what_cannot_be_forgotten_stays_a_problem_while_there_is_silence(void **state)
{
	(void)state;
	cloud_run(B.c);
	says("", "r1", "i-1");
	answer_after("listen()", 1);
	fails(PROVIDER_DENIED, "AccessDenied: sqs:DeleteMessage");
	answer_after("forget(r1)", 1);
	assert_int_equal(B.c->unheard_ms, W.now);
	answer_after("listen()", ENGINE_LISTEN_MS);
	assert_string_equal(B.c->unheard, "AccessDenied: sqs:DeleteMessage");
	W.now = cloud_next_ms(B.c);
	cloud_run(B.c);
	says("", "r1", "i-1");
	answer_after("listen()", 1);
	answer_after("forget(r1)", 1);
	assert_int_equal(B.c->unheard_ms, 0);
}

/* What is told is no success yet: it comes again until it can be forgotten. */
static void test_what_is_told_ends_no_problem_before_it_is_forgotten(void **state)
{
	(void)state;
	cloud_run(B.c);
	for (int i = 0; i < 2; i++) {
		fails(PROVIDER_TRANSIENT, "no route");
		answer_after("listen()", 1);
		W.now = cloud_next_ms(B.c);
		cloud_run(B.c);
	}
	says("", "r1", "i-1");
	answer_after("listen()", 1);
	assert_int_not_equal(B.c->unheard_ms, 0);
	fails(PROVIDER_TRANSIENT, "no route");
	answer_after("forget(r1)", 1);
	assert_int_equal(B.c->listen_step, 4000); /* later each time */
}

static int64_t bad_since(const void *self)
{
	(void)self;
	return BEGAN;
}

static void test_without_a_session_nobody_listens(void **state)
{
	struct provider_ops with = ops;

	(void)state;
	with.good_until = bad_since;
	B.c->ops = &with;
	B.c->login_busy = true; /* it is on its way */
	cloud_run(B.c);
	assert_int_equal(B.n, 0);
	W.now = BEGAN - 1;
	cloud_run(B.c);
	assert_int_equal(B.n, 1);
	B.c->ops = &ops;
}

/* An id says nothing of who gave it. */
static void test_an_end_at_another_provider_hurries_nobody(void **state)
{
	struct node n = {.state = NODE_READY, .gen = 1, .cloud = 1};

	(void)state;
	(void)snprintf(n.name, sizeof(n.name), "n1");
	(void)snprintf(n.instance, sizeof(n.instance), "i-1");
	(void)fleet_name(&B.e.fleet, "n1", 0);
	(void)fleet_add(&B.e.fleet, &n);
	cloud_run(B.c);
	result.ended = mem_zalloc(sizeof(*result.ended));
	memcpy(result.ended[0].id, "i-1", 4);
	result.nended = 1;
	answer_after("listen()", 2000);
	assert_false(B.c->waits);
}

static void test_an_end_that_nobody_asked_for_hurries_the_list(void **state)
{
	struct node n = {.state = NODE_READY, .gen = 1};
	struct fleet_node *fn;

	(void)state;
	(void)snprintf(n.name, sizeof(n.name), "n1");
	(void)snprintf(n.instance, sizeof(n.instance), "i-1");
	(void)fleet_name(&B.e.fleet, "n1", 0);
	fn = fleet_add(&B.e.fleet, &n);
	cloud_run(B.c);
	result.ended = mem_zalloc(2 * sizeof(*result.ended));
	memcpy(result.ended[0].id, "i-9", 4); /* somebody else's */
	result.nended = 1;
	answer_after("listen()", 2000);
	assert_false(B.c->waits);
	n.state = NODE_DELETING; /* our own delete is told of, too */
	fleet_set(&B.e.fleet, fn, &n);
	W.now = cloud_next_ms(B.c);
	cloud_run(B.c);
	for (int i = 0; i < 2; i++) {
		result.ended = mem_zalloc(2 * sizeof(*result.ended));
		memcpy(result.ended[0].id, "i-9", 4);
		memcpy(result.ended[1].id, "i-1", 4);
		result.nended = 2;
		answer_after("listen()", 2000);
		assert_int_equal(B.c->waits, i);
		n.state = NODE_READY;
		fleet_set(&B.e.fleet, fn, &n);
		W.now = cloud_next_ms(B.c);
		cloud_run(B.c);
	}
}

static void test_what_is_odd_is_counted_and_forgotten(void **state)
{
	(void)state;
	cloud_run(B.c);
	result.nunread = 3;
	result.ack = mem_strdup("r");
	answer_after("listen()", 10);
	answer_after("forget(r)", 1);
	assert_int_equal(B.e.count.notices_unreadable, 3);
	assert_int_equal(waiting(), 1);
}

int main(void)
{
#define T(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)
	const struct CMUnitTest tests[] = {
		T(test_one_request_waits_and_takes_nobodys_place),
		T(test_nothing_is_asked_without_an_instance_a_list_or_a_provider_that_tells),
		T(test_silence_is_a_request_in_twenty_seconds),
		T(test_what_is_told_is_durable_before_it_is_forgotten),
		T(test_what_is_too_early_is_not_forgotten),
		T(test_what_is_too_early_keeps_the_others_with_the_provider),
		T(test_a_journal_that_fails_keeps_the_notice_at_the_provider),
		T(test_the_same_again_and_again_is_not_asked_for_faster),
		T(test_failures_are_told_and_tried_again_later_each_time),
		T(test_what_cannot_be_forgotten_stays_a_problem_while_there_is_silence),
		T(test_an_end_that_nobody_asked_for_hurries_the_list),
		T(test_what_is_odd_is_counted_and_forgotten),
		T(test_what_is_told_ends_no_problem_before_it_is_forgotten),
		T(test_without_a_session_nobody_listens),
		T(test_an_end_at_another_provider_hurries_nobody),
	};

	return cmocka_run_group_tests_name("notices of a provider", tests, NULL, NULL);
}
