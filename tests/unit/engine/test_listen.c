/* test_listen.c - notices of a provider: one request at a time that it may hold, what it tells made
 * durable and only then acknowledged, and silence without cost.
 *
 * On a bare struct engine with the real cloud.c, login.c and listen.c: the wire, the clock, the
 * driver and the journal are the test's. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "engine/private.h"
#include "io/http_client.h"

enum { WIRE_MAX = 64 };

static const int64_t start_ms = INT64_C(1800000000000);

static struct fix {
	struct engine e;
	struct conf conf;
	struct conf_provider provider;
	struct conf_pool pools[2];
	struct cloud clouds[2];
	struct cloud *c;
	int64_t now;
	struct {
		char url[64];
		uint32_t timeout_ms, stall_s;
		http_done_fn done;
		void *ctx;
	} wire[WIRE_MAX];
	size_t n, answered;
	struct provider_result says; /* the next parse(); what it owns goes with it */
	/* in this order */
	char story[256];
	bool disk_fails;
} F;

static void tell(const char *what)
{
	size_t n = strlen(F.story);

	(void)snprintf(F.story + n, sizeof(F.story) - n, "%s%s", n > 0 ? " " : "", what);
}

/* --- the rest of the engine -------------------------------------------------------------------
 */

int64_t engine_now(const struct engine *e)
{
	(void)e;
	return F.now;
}

void engine_turn(struct engine *e)
{
	cloud_fail_unsent(e);
	if (!e->dead)
		cloud_run(F.c);
}

void engine_commit(struct engine *e)
{
	tell("commit");
	e->dead = F.disk_fails;
}

void engine_spend(struct engine *e, size_t nodes)
{
	(void)e;
	(void)nodes;
}

void notice_take(struct cloud *c, const struct provider_notice *n)
{
	assert_ptr_equal(c, F.c);
	tell(n->id);
}

void observe_list(struct cloud *c)
{
	(void)c;
}

struct cloud *engine_cloud(struct engine *e, const struct node *n)
{
	return &e->clouds[n->cloud];
}

bool place_sells(const struct engine *e, uint32_t pool, const struct cloud *c)
{
	return &e->clouds[e->conf->pools[pool].own.provider_index] == c;
}

void place_heard(struct cloud *c, enum provider_code code, const char *words, int64_t sent_ms)
{
	(void)c;
	(void)code;
	(void)words;
	(void)sent_ms;
}

const struct node_limits *engine_limits(const struct engine *e, const struct node *n,
					struct node_limits *out)
{
	(void)e;
	(void)n;
	return out;
}

int http_client_send(struct http_client *c, const struct http_call *call, http_done_fn done,
		     void *ctx, uint64_t *handle, struct err *e)
{
	(void)c;
	(void)e;
	assert_true(F.n < WIRE_MAX);
	(void)snprintf(F.wire[F.n].url, sizeof(F.wire[F.n].url), "%s", call->url);
	F.wire[F.n].timeout_ms = call->timeout_ms;
	F.wire[F.n].stall_s = call->stall_s;
	F.wire[F.n].done = done;
	F.wire[F.n].ctx = ctx;
	*handle = ++F.n;
	tell(call->url);
	return 0;
}

void http_client_cancel(struct http_client *c, uint64_t handle)
{
	static const struct err gone = {.code = ERR_CANCELLED, .msg = "cancelled"};

	(void)c;
	F.wire[handle - 1].done(F.wire[handle - 1].ctx, NULL, &gone);
}

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
		(void)snprintf(url, sizeof(url), "listen(%s)", op->u.notices.cursor);
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
	*out = F.says;
	F.says = (struct provider_result){0};
}

static const struct provider_ops ops = {.name = "test", .build = build, .parse = parse};
static char name[] = "ec2";

static int setup(void **state)
{
	(void)state;
	F = (struct fix){.now = start_ms};
	F.provider = (struct conf_provider){
		.name = name, .concurrency = 1, .list_ms = 30000, .timeout_ms = 30000};
	F.pools[1].own.provider_index = 1;
	F.conf = (struct conf){
		.providers = &F.provider, .nproviders = 1, .pools = F.pools, .npools = 2};
	F.e.conf = &F.conf;
	F.e.clouds = F.clouds;
	F.c = &F.clouds[0];
	*F.c = (struct cloud){.e = &F.e,
			      .conf = &F.provider,
			      .ops = &ops,
			      .caps.flags = PROVIDER_TELLS,
			      .listed = true,
			      .list_next = INT64_MAX,
			      .offers_next = INT64_MAX};
	fleet_init(&F.e.fleet, 2);
	F.e.fleet.pools[0].nodes = 1;
	bucket_init(&F.c->bucket, 1, F.now);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	cloud_cancel_all(&F.e);
	F.e.fleet.pools[0].nodes = 0;
	fleet_fini(&F.e.fleet);
	return 0;
}

/* The oldest request that waits is this one, and is answered with F.says, ms later. */
static void answer(const char *url, int64_t ms)
{
	struct http_reply reply = {.status = 200, .body = ""};
	size_t i = F.answered++;

	assert_true(i < F.n);
	assert_string_equal(F.wire[i].url, url);
	F.now += ms;
	F.wire[i].done(F.wire[i].ctx, &reply, NULL);
}

static void says(const char *cursor, const char *ack, const char *id)
{
	(void)snprintf(F.says.cursor, sizeof(F.says.cursor), "%s", cursor);
	F.says.ack = ack != NULL ? mem_strdup(ack) : NULL;
	F.says.notices = mem_zalloc(sizeof(*F.says.notices));
	F.says.nnotices = 1;
	(void)snprintf(F.says.notices[0].id, sizeof(F.says.notices[0].id), "%s", id);
}

static void fails(enum provider_code code, const char *text)
{
	F.says.code = code;
	(void)snprintf(F.says.message, sizeof(F.says.message), "%s", text);
}

static size_t waiting(void)
{
	return F.n - F.answered;
}

/* --- tests ------------------------------------------------------------------------------------
 */

static void test_one_request_waits_and_takes_nobodys_place(void **state)
{
	struct provider_op op = {.kind = PROVIDER_LIST};

	(void)state;
	cloud_run(F.c);
	assert_string_equal(F.story, "listen()");
	assert_int_equal(F.wire[0].timeout_ms, 30000 + ENGINE_LISTEN_MS);
	assert_true(F.wire[0].stall_s * 1000 > ENGINE_LISTEN_MS);
	cloud_run(F.c);
	assert_int_equal(waiting(), 1);
	assert_true(cloud_next_ms(F.c) == INT64_MAX); /* its answer wakes us */
	assert_int_equal(F.c->inflight, 0);
	assert_true(cloud_ready(F.c)); /* of one slot and one token a second */
	assert_true(cloud_quiet(&F.e));
	assert_int_equal(F.e.count.notices, 1);
	cloud_send(F.c, &op, NULL, NULL);
	assert_false(cloud_quiet(&F.e));
}

static void test_nothing_is_asked_without_an_instance_a_list_or_a_provider_that_tells(void **state)
{
	(void)state;
	F.e.fleet.pools[0].nodes = 0;
	F.e.fleet.pools[1].nodes = 5; /* of another provider */
	cloud_run(F.c);
	assert_true(listen_next_ms(F.c) == INT64_MAX);
	F.e.fleet.pools[0].nodes = 1;
	F.c->listed = false; /* which instances are ours is not known yet */
	cloud_run(F.c);
	F.c->listed = true;
	F.c->caps.flags = PROVIDER_TOKENS;
	cloud_run(F.c);
	assert_int_equal(F.n, 0);
	F.c->caps.flags = PROVIDER_TELLS;
	cloud_run(F.c);
	assert_int_equal(F.n, 1);
}

static void test_silence_is_a_request_in_twenty_seconds(void **state)
{
	(void)state;
	cloud_run(F.c);
	for (int i = 0; i < 9; i++)
		answer("listen()", ENGINE_LISTEN_MS);
	assert_int_equal(F.n, 10);
	answer("listen()", 5); /* it was not held */
	assert_int_equal(waiting(), 0);
	assert_int_equal(cloud_next_ms(F.c), F.now + ENGINE_LISTEN_PAUSE_MS);
	F.now += ENGINE_LISTEN_PAUSE_MS;
	cloud_run(F.c);
	assert_int_equal(waiting(), 1);
}

static void test_what_is_told_is_durable_before_it_is_forgotten(void **state)
{
	(void)state;
	cloud_run(F.c);
	says("", "r1", "i-1");
	answer("listen()", 4000);
	assert_string_equal(F.story, "listen() i-1 commit forget(r1) listen()");
	answer("forget(r1)", 5);
	assert_int_equal(F.c->unheard_ms, 0);
	says("7", NULL, "i-2");
	answer("listen()", 1);
	assert_string_equal(F.story,
			    "listen() i-1 commit forget(r1) listen() i-2 commit listen(7)");
}

static void test_a_journal_that_fails_keeps_the_notice_at_the_provider(void **state)
{
	(void)state;
	cloud_run(F.c);
	F.disk_fails = true;
	says("7", "r1", "i-1");
	answer("listen()", 1);
	assert_string_equal(F.story, "listen() i-1 commit");
	assert_string_equal(F.c->listen_cursor, "");
}

static void test_the_same_again_and_again_is_not_asked_for_faster(void **state)
{
	(void)state;
	cloud_run(F.c);
	says("", NULL, "i-1");
	answer("listen()", 1);
	assert_int_equal(waiting(), 0);
	assert_int_equal(cloud_next_ms(F.c), F.now + ENGINE_LISTEN_PAUSE_MS);
}

static void test_failures_are_told_and_tried_again_later_each_time(void **state)
{
	static const int64_t waits[] = {1000, 2000, 4000, 8000, 16000, 30000, 30000};

	(void)state;
	cloud_run(F.c);
	for (size_t i = 0; i < sizeof(waits) / sizeof(waits[0]); i++) {
		fails(PROVIDER_INVALID, "QueueDoesNotExist");
		answer("listen()", 0);
		assert_int_equal(waiting(), 0);
		assert_int_equal(cloud_next_ms(F.c), F.now + waits[i]);
		F.now += waits[i];
		cloud_run(F.c);
	}
	assert_int_equal(F.c->unheard_ms, start_ms);
	assert_string_equal(F.c->unheard, "QueueDoesNotExist");
	assert_string_equal(F.c->error, ""); /* of EC2 that says nothing */
	assert_int_equal(F.c->ok_ms, 0);     /* neither way */
	answer("listen()", ENGINE_LISTEN_MS);
	assert_int_equal(F.c->unheard_ms, 0);
	assert_string_equal(F.c->unheard, "");
	assert_int_equal(F.c->ok_ms, 0);
	assert_int_equal(waiting(), 1);
	fails(PROVIDER_RATE, "slow down");
	F.says.retry_after_ms = 7000;
	answer("listen()", 0);
	assert_int_equal(cloud_next_ms(F.c), F.now + 7000);
}

/* The right to read and not to delete: each message comes every 30 s. */
static void test_what_cannot_be_forgotten_stays_a_problem_while_there_is_silence(void **state)
{
	(void)state;
	cloud_run(F.c);
	says("", "r1", "i-1");
	answer("listen()", 1);
	fails(PROVIDER_DENIED, "AccessDenied: sqs:DeleteMessage");
	answer("forget(r1)", 1);
	assert_int_equal(F.c->unheard_ms, F.now);
	answer("listen()", ENGINE_LISTEN_MS);
	assert_string_equal(F.c->unheard, "AccessDenied: sqs:DeleteMessage");
	F.now = cloud_next_ms(F.c);
	cloud_run(F.c);
	says("", "r1", "i-1");
	answer("listen()", 1);
	answer("forget(r1)", 1);
	assert_int_equal(F.c->unheard_ms, 0);
}

static void test_an_end_that_nobody_asked_for_hurries_the_list(void **state)
{
	struct node n = {.state = NODE_READY, .gen = 1};
	struct fleet_node *fn;

	(void)state;
	(void)snprintf(n.name, sizeof(n.name), "n1");
	(void)snprintf(n.instance, sizeof(n.instance), "i-1");
	(void)fleet_name(&F.e.fleet, "n1", 0);
	fn = fleet_add(&F.e.fleet, &n);
	cloud_run(F.c);
	F.says.ended = mem_zalloc(2 * sizeof(*F.says.ended));
	memcpy(F.says.ended[0].id, "i-9", 4); /* somebody else's */
	F.says.nended = 1;
	answer("listen()", 2000);
	assert_false(F.c->waits);
	n.state = NODE_DELETING; /* our own delete is told of, too */
	fleet_set(&F.e.fleet, fn, &n);
	F.now = cloud_next_ms(F.c);
	cloud_run(F.c);
	for (int i = 0; i < 2; i++) {
		F.says.ended = mem_zalloc(2 * sizeof(*F.says.ended));
		memcpy(F.says.ended[0].id, "i-9", 4);
		memcpy(F.says.ended[1].id, "i-1", 4);
		F.says.nended = 2;
		answer("listen()", 2000);
		assert_int_equal(F.c->waits, i);
		n.state = NODE_READY;
		fleet_set(&F.e.fleet, fn, &n);
		F.now = cloud_next_ms(F.c);
		cloud_run(F.c);
	}
}

static void test_what_is_odd_is_counted_and_forgotten(void **state)
{
	(void)state;
	cloud_run(F.c);
	F.says.nodd = 3;
	F.says.ack = mem_strdup("r");
	answer("listen()", 10);
	answer("forget(r)", 1);
	assert_int_equal(F.e.count.notices_odd, 3);
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
		T(test_a_journal_that_fails_keeps_the_notice_at_the_provider),
		T(test_the_same_again_and_again_is_not_asked_for_faster),
		T(test_failures_are_told_and_tried_again_later_each_time),
		T(test_what_cannot_be_forgotten_stays_a_problem_while_there_is_silence),
		T(test_an_end_that_nobody_asked_for_hurries_the_list),
		T(test_what_is_odd_is_counted_and_forgotten),
	};

	return cmocka_run_group_tests_name("notices of a provider", tests, NULL, NULL);
}
