/* test_steps.c - operations of several requests: an answer that says MORE is followed by the next
 * request, with its cursor, and what has begun is not given up for one failure.  The driver is the
 * test's. */
#include "bare_cloud.h"
#include "cloud/cloud.h"

enum { MINUTE = 60000 };

static struct fix {
	enum provider_code code; /* of the next answer ... */
	int64_t retry_ms;        /* ... and how long to wait */
	bool for_good;           /* denied for good */
	const char *words;       /* NULL: none */
	char last[160];          /* what the last result said */
	char heard[256];         /* what the owner of the operation was told, in order */
	char id[PROVIDER_REQUEST_MAX * 2 + 3]; /* of the requests of the last result */
	bool nameless;                         /* the provider sends no ids */
	bool unbuildable;                      /* no request can be built now */
	unsigned renewed;
	int64_t until; /* of the session */
} F;

static int build(const void *self, const struct provider_op *op, struct provider_request *out,
		 struct err *e)
{
	char url[64];

	(void)self;
	if (F.unbuildable)
		return err_set(e, ERR_INVALID, "not now");
	(void)snprintf(url, sizeof(url), "%s(%s)", provider_op_str(op->kind), op->cursor);
	out->kind = PROVIDER_HTTP;
	out->method = "GET";
	out->url = mem_strdup(url);
	return 0;
}

/* The body is the cursor. */
static void parse(const void *self, const struct provider_op *op,
		  const struct provider_reply *reply, struct provider_result *out)
{
	(void)self;
	(void)op;
	out->code = F.code;
	out->retry_after_ms = F.retry_ms;
	out->denied_for_good = F.for_good;
	(void)snprintf(out->message, sizeof(out->message), "%s", F.words != NULL ? F.words : "");
	(void)snprintf(out->cursor, sizeof(out->cursor), "%s", reply->body);
	if (op->kind == PROVIDER_LOGIN && F.code == PROVIDER_OK)
		out->session = mem_strdup("s");
}

/* The status of the answer names it. */
static void request_id(const void *self, const struct provider_reply *reply,
		       char out[PROVIDER_REQUEST_MAX + 1])
{
	(void)self;
	(void)snprintf(out, PROVIDER_REQUEST_MAX + 1, F.nameless ? "" : "req-%ld", reply->status);
}

static int64_t good_until(const void *self)
{
	(void)self;
	return F.until;
}

static int renew(void *self, const char *session, struct err *e)
{
	(void)self;
	(void)e;
	F.renewed += session != NULL;
	F.until = session != NULL ? INT64_MAX : 0;
	return 0;
}

static const struct provider_ops ops = {.name = "test",
					.build = build,
					.parse = parse,
					.request_id = request_id,
					.good_until = good_until,
					.renew = renew};

static int setup(void **state)
{
	(void)state;
	F = (struct fix){.until = INT64_MAX};
	bare_quiet(&ops);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	bare_fini();
	return 0;
}

static void hear(struct cloud *c, void *ctx, const struct provider_result *r)
{
	(void)c;
	(void)ctx;
	(void)snprintf(F.id, sizeof(F.id), "%s", r->request_id);
	(void)snprintf(F.last, sizeof(F.last), "%s", r->message);
	add(F.heard, sizeof(F.heard), F.heard[0] != '\0' ? " " : "", provider_code_str(r->code),
	    "");
	tell("heard");
}

static void begin(enum provider_op_kind kind)
{
	struct provider_op op = {.kind = kind};

	if (kind == PROVIDER_CREATE)
		op.u.create.nwants = 3;
	cloud_send(B.c, &op, hear, NULL);
}

static void says(const char *url, enum provider_code code, int64_t retry_ms, const char *cursor)
{
	F.code = code;
	F.retry_ms = retry_ms;
	answer(url, 200, cursor);
}

static void waits_until(int64_t at)
{
	assert_int_equal(waiting(), 0);
	assert_int_equal(cloud_next_ms(B.c), at);
	W.now = at - 1;
	engine_turn(&B.e);
	assert_int_equal(waiting(), 0);
	W.now = at;
	engine_turn(&B.e);
	assert_int_equal(waiting(), 1);
}

static void test_an_operation_has_the_ids_of_its_first_and_last_request(void **state)
{
	(void)state;
	begin(PROVIDER_DELETE);
	F.code = PROVIDER_OK;
	answer("delete()", 201, "");
	assert_string_equal(F.id, "req-201");
	begin(PROVIDER_DELETE);
	F.code = PROVIDER_MORE;
	answer("delete()", 201, "a");
	answer("delete(a)", 202, "b");
	F.code = PROVIDER_OK;
	answer("delete(b)", 203, "");
	assert_string_equal(F.id, "req-201, req-203");
	F.nameless = true;
	begin(PROVIDER_DELETE);
	answer("delete()", 201, "");
	assert_string_equal(F.id, "");
}

static void test_each_answer_says_what_comes_next_and_when(void **state)
{
	static const enum provider_op_kind kinds[] = {PROVIDER_DELETE, PROVIDER_REPORT,
						      PROVIDER_FABRIC_MAKE, PROVIDER_FABRIC_DROP};

	(void)state;
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		const char *kind = provider_op_str(kinds[i]);
		char url[64];

		F.heard[0] = '\0';
		begin(kinds[i]);
		(void)snprintf(url, sizeof(url), "%s()", kind);
		says(url, PROVIDER_MORE, 0, "a");
		(void)snprintf(url, sizeof(url), "%s(a)", kind);
		says(url, PROVIDER_MORE, 5000, "b"); /* it followed at once */
		waits_until(W.now + 5000);
		(void)snprintf(url, sizeof(url), "%s(b)", kind);
		says(url, PROVIDER_MORE, 0, "b"); /* it is asked about again */
		assert_string_equal(F.heard, "");
		says(url, PROVIDER_OK, 0, "");
		assert_string_equal(F.heard, "ok");
		assert_int_equal(waiting(), 0);
	}
}

/* After a crash it goes on there: its owner writes the cursor down before it is used. */
static void test_the_owner_of_a_create_hears_each_cursor_first(void **state)
{
	(void)state;
	begin(PROVIDER_CREATE);
	B.story[0] = '\0';
	says("create()", PROVIDER_MORE, 0, "a");
	assert_string_equal(B.story, "heard create(a)");
	says("create(a)", PROVIDER_CAPACITY, 0, "");
	assert_string_equal(F.heard, "more capacity");
}

/* I7, I8: a machine may be under way; to take this for a refusal would buy a second. */
static void test_a_failure_on_the_way_is_no_result(void **state)
{
	static const enum provider_code codes[] = {PROVIDER_TRANSIENT, PROVIDER_AMBIGUOUS,
						   PROVIDER_DENIED};
	int64_t pause = 1000;

	(void)state;
	begin(PROVIDER_CREATE);
	says("create()", PROVIDER_MORE, 0, "a");
	for (size_t i = 0; i < sizeof(codes) / sizeof(codes[0]); i++, pause *= 2) {
		says("create(a)", codes[i], 0, "");
		waits_until(W.now + pause);
	}
	says("create(a)", PROVIDER_TRANSIENT, 20000, ""); /* as the provider says */
	waits_until(W.now + 20000);
	says("create(a)", PROVIDER_RATE, 0, "");
	waits_until(W.now + 16000);
	says("create(a)", PROVIDER_MORE, 0, "b");
	waits_until(W.now + 1950); /* its pace, after two throttles */
	says("create(b)", PROVIDER_TRANSIENT, 0, "");
	W.now += 1000; /* it went on: from the shortest pause */
	engine_turn(&B.e);
	waits_until(W.now + 1000);
	assert_string_equal(F.heard, "more more");
	says("create(b)", PROVIDER_OK, 0, "");
	assert_string_equal(F.heard, "more more ok");
}

/* The driver has given back what there was: people are told why, as of a first request. */
static void test_a_create_denied_for_good_ends_at_once(void **state)
{
	(void)state;
	begin(PROVIDER_CREATE);
	says("create()", PROVIDER_MORE, 0, "a");
	F.for_good = true;
	F.words = "not your node";
	says("create(a)", PROVIDER_DENIED, 0, "");
	assert_string_equal(F.heard, "more denied");
	assert_string_equal(F.last, "not your node");
	assert_string_equal(B.c->error, "create: not your node");
	assert_int_equal(waiting(), 0);
}

/* Only a create tells that nothing of it is left, and only of a denial. */
static void test_what_is_for_good_of_anything_else_is_sent_again(void **state)
{
	(void)state;
	F.for_good = true;
	begin(PROVIDER_DELETE);
	says("delete()", PROVIDER_MORE, 0, "a");
	says("delete(a)", PROVIDER_DENIED, 0, "");
	waits_until(W.now + 1000);
	says("delete(a)", PROVIDER_OK, 0, "");
	F.heard[0] = '\0';
	begin(PROVIDER_CREATE);
	says("create()", PROVIDER_MORE, 0, "a");
	says("create(a)", PROVIDER_AMBIGUOUS, 0, "");
	waits_until(W.now + 1000);
	assert_string_equal(F.heard, "more");
}

/* EC2's next subnet: where it was refused nothing has begun. */
static void test_where_nothing_has_begun_a_denial_is_the_result(void **state)
{
	(void)state;
	B.c->caps.flags |= PROVIDER_ELSEWHERE;
	begin(PROVIDER_CREATE);
	says("create()", PROVIDER_MORE, 0, "a");
	says("create(a)", PROVIDER_AMBIGUOUS, 0, ""); /* it may have happened */
	waits_until(W.now + 1000);
	says("create(a)", PROVIDER_DENIED, 0, "");
	assert_string_equal(F.heard, "more denied");
}

static void test_a_lost_answer_on_the_way_is_asked_for_again(void **state)
{
	const struct err err = {.code = ERR_NET, .msg = "gone"};
	size_t at;

	(void)state;
	begin(PROVIDER_CREATE);
	says("create()", PROVIDER_MORE, 0, "a");
	at = B.answered++;
	B.wire[at].done(B.wire[at].ctx, NULL, &err);
	waits_until(W.now + 1000);
	says("create(a)", PROVIDER_OK, 0, "");
	assert_string_equal(F.heard, "more ok");
}

/* It is answered once: while it rests, others that cannot be sent do not count it again. */
static void test_a_step_that_cannot_be_sent_is_sent_later(void **state)
{
	(void)state;
	begin(PROVIDER_CREATE);
	F.unbuildable = true;
	says("create()", PROVIDER_MORE, 0, "a");
	engine_turn(&B.e);
	assert_string_equal(F.heard, "more");
	begin(PROVIDER_REPORT);
	engine_turn(&B.e);
	assert_string_equal(F.heard, "more transient"); /* of the report */
	assert_int_equal(B.c->limit.out, 0);
	F.unbuildable = false;
	waits_until(W.now + 1000);
	says("create(a)", PROVIDER_OK, 0, "");
	assert_string_equal(F.heard, "more transient ok");
}

static void test_the_failure_of_the_first_request_is_the_result(void **state)
{
	static const enum provider_code codes[] = {PROVIDER_TRANSIENT, PROVIDER_AMBIGUOUS,
						   PROVIDER_DENIED, PROVIDER_RATE};

	(void)state;
	for (size_t i = 0; i < sizeof(codes) / sizeof(codes[0]); i++) {
		F.heard[0] = '\0';
		W.now += MINUTE;
		begin(PROVIDER_CREATE);
		says("create()", codes[i], 0, "");
		assert_string_equal(F.heard, provider_code_str(codes[i]));
		assert_int_equal(waiting(), 0);
	}
}

static void test_a_refusal_on_the_way_is_the_result(void **state)
{
	static const enum provider_code codes[] = {PROVIDER_CAPACITY, PROVIDER_QUOTA,
						   PROVIDER_INVALID,  PROVIDER_NOT_FOUND,
						   PROVIDER_CONFLICT, PROVIDER_NOT_YET};

	(void)state;
	for (size_t i = 0; i < sizeof(codes) / sizeof(codes[0]); i++) {
		begin(PROVIDER_DELETE);
		says("delete()", PROVIDER_MORE, 0, "a");
		F.heard[0] = '\0';
		says("delete(a)", codes[i], 0, "");
		assert_string_equal(F.heard, provider_code_str(codes[i]));
	}
}

/* F16: it would be asked about for ever. */
static void test_an_operation_that_does_not_end_has_an_unknown_result(void **state)
{
	const int64_t began = W.now;

	(void)state;
	begin(PROVIDER_CREATE);
	says("create()", PROVIDER_MORE, 0, ""); /* from the beginning? */
	assert_string_equal(F.heard, "ambiguous");
	F.heard[0] = '\0';
	begin(PROVIDER_DELETE);
	says("delete()", PROVIDER_MORE, 0, "a");
	while (F.heard[0] == '\0') {
		says("delete(a)", PROVIDER_MORE, MINUTE, "a");
		W.now += F.heard[0] == '\0' ? MINUTE : 0;
		engine_turn(&B.e);
	}
	assert_string_equal(F.heard, "ambiguous");
	assert_int_equal(W.now - began, 30 * MINUTE);
	assert_int_equal(waiting(), 0);
}

static void test_one_that_fails_for_too_long_has_an_unknown_result(void **state)
{
	(void)state;
	begin(PROVIDER_CREATE);
	says("create()", PROVIDER_MORE, 0, "a");
	W.now += 30 * MINUTE - 1;
	says("create(a)", PROVIDER_DENIED, 0, "");
	W.now += 1000;
	engine_turn(&B.e);
	F.words = "no such role";
	says("create(a)", PROVIDER_DENIED, 0, "");
	assert_string_equal(F.heard, "more ambiguous");
	assert_string_equal(F.last, "an operation of several requests does not end: no such role");
	assert_string_equal(F.id, "req-200");
}

/* I30: a provider that says "at once" again and again is not asked a thousand times a second. */
static void test_steps_become_no_storm(void **state)
{
	(void)state;
	begin(PROVIDER_DELETE);
	says("delete()", PROVIDER_MORE, 0, "a");
	for (int i = 1; i < 16; i++)
		says("delete(a)", PROVIDER_MORE, 0, "a");
	says("delete(a)", PROVIDER_MORE, 0, "a");
	waits_until(W.now + 1000);
}

/* F7: a poll of an operation uses up no token for creates, nor one for each instance. */
static void test_steps_have_a_limit_of_their_own(void **state)
{
	static const struct provider_limit own[PROVIDER_NOPS] = {
		[PROVIDER_CREATE] = {.requests = {1, 1, 1000}, .instances = {10, 1, 1000}},
		[PROVIDER_STEP] = {.requests = {2, 1, 1000}}};
	int64_t oldest_ms = INT64_MAX;
	struct engine_flow flow;

	(void)state;
	limit_init(&B.c->limit, 8, 0, own, W.now);
	begin(PROVIDER_CREATE);
	says("create()", PROVIDER_MORE, 0, "a");
	says("create(a)", PROVIDER_MORE, 0, "a");
	assert_int_equal(limit_room(&B.c->limit, PROVIDER_CREATE, W.now), 7);
	says("create(a)", PROVIDER_MORE, 0, "a");
	flow = cloud_flow(B.c, PROVIDER_STEP);
	assert_int_equal(flow.queued, 1);
	assert_int_equal(flow.oldest_ms, W.now);
	assert_int_equal(steps_queue(B.c, &oldest_ms), 1);
	assert_int_equal(oldest_ms, W.now);
	oldest_ms = 7;
	assert_int_equal(steps_queue(B.c, &oldest_ms), 1);
	assert_int_equal(oldest_ms, 7);
	waits_until(W.now + 1000);
	assert_int_equal(cloud_flow(B.c, PROVIDER_STEP).queued, 0);
	assert_int_equal(steps_queue(B.c, &oldest_ms), 0);
	assert_int_equal(B.c->sent[PROVIDER_CREATE], 1);
	assert_int_equal(B.c->sent[PROVIDER_STEP], 3);
	says("create(a)", PROVIDER_RATE, 7000, "");
	assert_int_equal(B.c->limit.kinds[PROVIDER_STEP].throttled, 1);
	assert_int_equal(steps_queue(B.c, &oldest_ms), 0); /* it is not due */
	flow = cloud_flow(B.c, PROVIDER_STEP);
	assert_int_equal(flow.sent, 3);
	assert_int_equal(flow.throttled, 1);
	assert_int_equal(cloud_flow(B.c, PROVIDER_CREATE).sent, 1);
	assert_int_equal(cloud_flow(B.c, PROVIDER_CREATE).throttled, 0);
	assert_int_equal(B.c->limit.kinds[PROVIDER_CREATE].throttled, 0);
	assert_true(cloud_ready(B.c, PROVIDER_CREATE));
}

static void test_a_login_of_several_steps_brings_one_session(void **state)
{
	(void)state;
	F.until = 0;
	engine_turn(&B.e);
	says("login()", PROVIDER_MORE, 0, "token");
	assert_int_equal(F.renewed, 0);
	says("login(token)", PROVIDER_MORE, 0, "role");
	says("login(role)", PROVIDER_OK, 0, "");
	assert_int_equal(F.renewed, 1);
	assert_true(session_good(B.c));
}

/* What a step of it needed may be gone: it begins again. */
static void test_a_login_that_fails_on_the_way_begins_again(void **state)
{
	(void)state;
	F.until = 0;
	engine_turn(&B.e);
	says("login()", PROVIDER_MORE, 0, "token");
	says("login(token)", PROVIDER_TRANSIENT, 0, "");
	waits_until(W.now + 1000);
	says("login()", PROVIDER_OK, 0, "");
	assert_true(session_good(B.c));
}

/* They wait for nothing on the wire, and still name a configuration. */
static void test_an_engine_that_ends_forgets_operations_that_rest(void **state)
{
	(void)state;
	begin(PROVIDER_DELETE);
	says("delete()", PROVIDER_MORE, 5000, "a");
	assert_false(cloud_quiet(&B.e));
	cloud_cancel_all(&B.e);
	assert_true(cloud_quiet(&B.e));
	assert_string_equal(F.heard, "");
}

/* The login wakes what waits for the session: until then the loop sleeps. */
static void test_a_step_that_waits_for_a_session_keeps_nobody_busy(void **state)
{
	(void)state;
	F.until = W.now + 3600000;
	B.c->login_ms = W.now - 1000;
	B.c->login_next = W.now + 29000; /* it logged in a second ago */
	begin(PROVIDER_CREATE);
	says("create()", PROVIDER_MORE, 3000, "a");
	begin(PROVIDER_DELETE);
	says("delete()", PROVIDER_DENIED, 0, "");
	W.now += 3000;
	engine_turn(&B.e);
	assert_int_equal(waiting(), 0);
	assert_true(cloud_next_ms(B.c) == B.c->login_next);
	F.until = INT64_MAX;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(
			test_a_step_that_waits_for_a_session_keeps_nobody_busy, setup, teardown),
		cmocka_unit_test_setup_teardown(test_each_answer_says_what_comes_next_and_when,
						setup, teardown),
		cmocka_unit_test_setup_teardown(test_the_owner_of_a_create_hears_each_cursor_first,
						setup, teardown),
		cmocka_unit_test_setup_teardown(test_a_failure_on_the_way_is_no_result, setup,
						teardown),
		cmocka_unit_test_setup_teardown(test_a_create_denied_for_good_ends_at_once, setup,
						teardown),
		cmocka_unit_test_setup_teardown(
			test_what_is_for_good_of_anything_else_is_sent_again, setup, teardown),
		cmocka_unit_test_setup_teardown(test_where_nothing_has_begun_a_denial_is_the_result,
						setup, teardown),
		cmocka_unit_test_setup_teardown(test_a_lost_answer_on_the_way_is_asked_for_again,
						setup, teardown),
		cmocka_unit_test_setup_teardown(test_the_failure_of_the_first_request_is_the_result,
						setup, teardown),
		cmocka_unit_test_setup_teardown(test_a_step_that_cannot_be_sent_is_sent_later,
						setup, teardown),
		cmocka_unit_test_setup_teardown(
			test_an_operation_has_the_ids_of_its_first_and_last_request, setup,
			teardown),
		cmocka_unit_test_setup_teardown(test_a_refusal_on_the_way_is_the_result, setup,
						teardown),
		cmocka_unit_test_setup_teardown(
			test_an_operation_that_does_not_end_has_an_unknown_result, setup, teardown),
		cmocka_unit_test_setup_teardown(
			test_one_that_fails_for_too_long_has_an_unknown_result, setup, teardown),
		cmocka_unit_test_setup_teardown(test_steps_become_no_storm, setup, teardown),
		cmocka_unit_test_setup_teardown(test_steps_have_a_limit_of_their_own, setup,
						teardown),
		cmocka_unit_test_setup_teardown(test_a_login_of_several_steps_brings_one_session,
						setup, teardown),
		cmocka_unit_test_setup_teardown(test_a_login_that_fails_on_the_way_begins_again,
						setup, teardown),
		cmocka_unit_test_setup_teardown(
			test_an_engine_that_ends_forgets_operations_that_rest, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
