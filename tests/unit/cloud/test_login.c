/* test_login.c - sessions of a provider: first the login, in steps, then all else; and its offers,
 * page by page.  The driver is the test's. */
#include "bare_cloud.h"
#include "cloud/cloud.h"

enum { MINUTE = 60000 };

static struct fix {
	/* the driver */
	int64_t until;     /* of the session */
	int64_t brings;    /* until when the next one is good */
	int steps, at;     /* of a login */
	bool refuses;      /* renew() */
	bool for_good;     /* what it denies */
	unsigned restarts; /* from the first step */
	/* what was asked for, and what came of it */
	char text[128]; /* types of the last offers asked for */
	int64_t at_ms;  /* of the last build */
	enum provider_code code;
} F;

/* --- a driver with sessions -------------------------------------------------------------------
 */

static int build(const void *self, const struct provider_op *op, struct provider_request *out,
		 struct err *e)
{
	static const char *const urls[] = {
		[PROVIDER_CREATE] = "create", [PROVIDER_LIST] = "list",
		[PROVIDER_DELETE] = "delete", [PROVIDER_QUOTES] = "quotes",
		[PROVIDER_LOGIN] = "login",   [PROVIDER_NOTICES] = "notices"};
	char url[64];

	(void)self;
	(void)e;
	F.at_ms = op->at_ms;
	(void)snprintf(url, sizeof(url), "%s", urls[op->kind]);
	if (op->kind == PROVIDER_LOGIN)
		(void)snprintf(url, sizeof(url), "login%d", F.at);
	if (op->kind == PROVIDER_QUOTES) {
		(void)snprintf(url, sizeof(url), "quotes%s", op->cursor);
		F.text[0] = '\0';
		for (size_t i = 0; i < op->u.quotes.ntypes; i++) {
			strncat(F.text, op->u.quotes.types[i], 16);
			strncat(F.text, ";", 2);
		}
	}
	out->kind = PROVIDER_HTTP;
	out->method = "GET";
	out->url = mem_strdup(url);
	return 0;
}

/* "200 and no words": fine.  A body is the cursor of a page with one offer. */
static void parse(const void *self, const struct provider_op *op,
		  const struct provider_reply *reply, struct provider_result *out)
{
	(void)self;
	if (reply->status != 200) {
		out->code = PROVIDER_DENIED;
		out->denied_for_good = F.for_good;
		(void)snprintf(out->message, sizeof(out->message), "no entry");
		return;
	}
	if (op->kind == PROVIDER_LOGIN)
		out->session = mem_strdup("s");
	if (op->kind == PROVIDER_QUOTES) {
		out->quotes = mem_zalloc(sizeof(*out->quotes));
		out->nquotes = 1;
		out->quotes[0].price_nano_h = (int64_t)strlen(reply->body) + 1;
		(void)snprintf(out->cursor, sizeof(out->cursor), "%s", reply->body);
		out->code = reply->body[0] != '\0' ? PROVIDER_MORE : PROVIDER_OK;
	}
}

static int64_t good_until(const void *self)
{
	(void)self;
	return F.until;
}

static int renew(void *self, const char *session, struct err *e)
{
	(void)self;
	if (session == NULL) {
		F.at = 0;
		F.restarts++;
		return 1;
	}
	assert_string_equal(session, "s");
	if (F.refuses)
		return err_set(e, ERR_INVALID, "what is this?");
	if (++F.at < F.steps)
		return 1;
	F.at = 0;
	F.until = F.brings;
	return 0;
}

static const struct provider_ops ops = {
	.name = "test", .build = build, .parse = parse, .good_until = good_until, .renew = renew};
static char t1[] = "t1", t2[] = "t2", t3[] = "t3";

static int setup(void **state)
{
	(void)state;
	F = (struct fix){.steps = 2, .brings = BEGAN + 60 * MINUTE};
	bare_init(&ops, 3, 8, 0);
	B.c->list_step = 1000;
	B.pools[0].own.type = t1;
	B.pools[1].own.type = t2;
	B.pools[2].own = (struct conf_offer){.type = t3, .provider_index = 1}; /* somebody else's */
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	bare_fini();
	return 0;
}

static void log_in(void)
{
	cloud_run(B.c);
	answer("login0", 200, "");
	answer("login1", 200, "");
	assert_true(session_good(B.c));
	answer("list", 200, "");
	answer("quotes", 200, "");
	assert_int_equal(waiting(), 0);
}

/* --- tests ------------------------------------------------------------------------------------
 */

static void test_a_login_goes_before_all_else(void **state)
{
	(void)state;
	assert_false(cloud_ready(B.c, PROVIDER_LIST));
	assert_true(cloud_next_ms(B.c) <= W.now);
	cloud_run(B.c);
	assert_int_equal(waiting(), 1);
	assert_int_equal(F.at_ms, BEGAN);
	assert_true(cloud_next_ms(B.c) == INT64_MAX); /* the answer wakes us */
	cloud_run(B.c);
	assert_int_equal(waiting(), 1); /* one at a time */
	answer("login0", 200, "");
	assert_int_equal(waiting(), 1);
	assert_false(cloud_ready(B.c, PROVIDER_LIST));
	assert_int_equal(B.c->ok_ms, 0); /* that is not yet the provider */
	answer("login1", 200, "");
	assert_true(cloud_ready(B.c, PROVIDER_LIST));
	answer("list", 200, "");
	answer("quotes", 200, "");
	assert_int_equal(B.lists, 1);
	assert_int_equal(B.c->ok_ms, BEGAN);
}

static void test_a_session_is_renewed_five_minutes_before_its_end(void **state)
{
	(void)state;
	log_in();
	B.c->list_next = B.c->quotes_next = INT64_MAX;
	assert_true(cloud_next_ms(B.c) == BEGAN + 55 * MINUTE);
	W.now = BEGAN + 55 * MINUTE - 1;
	cloud_run(B.c);
	assert_int_equal(waiting(), 0);
	W.now++;
	B.c->list_next = W.now;
	F.brings = W.now + 60 * MINUTE;
	cloud_run(B.c);
	assert_int_equal(waiting(), 2); /* the old one is good still: the list goes on */
	answer("login0", 200, "");
	answer("list", 200, "");
	answer("login1", 200, "");
	B.c->list_next = B.c->quotes_next = INT64_MAX;
	assert_true(cloud_next_ms(B.c) == W.now + 55 * MINUTE);
}

static void on_answer(struct cloud *c, void *ctx, const struct provider_result *r)
{
	(void)c;
	(void)ctx;
	F.code = r->code;
}

static void test_without_a_session_nothing_is_sent(void **state)
{
	struct provider_op op = {.kind = PROVIDER_LIST};

	(void)state;
	log_in();
	W.now = BEGAN + 60 * MINUTE; /* asleep until it ended */
	assert_false(cloud_ready(B.c, PROVIDER_LIST));
	cloud_run(B.c);
	assert_int_equal(waiting(), 1);
	op.u.list.cluster = op.cursor = "";
	cloud_send(B.c, &op, on_answer, NULL); /* nor what is on its way already */
	assert_int_equal(waiting(), 1);
	cloud_fail_unsent(&B.e);
	assert_int_equal(F.code, PROVIDER_TRANSIENT); /* not sent: not in doubt */
}

static void test_a_login_that_is_refused_is_told_and_tried_again_later_each_time(void **state)
{
	static const int64_t waits[] = {1000, 2000, 4000, 8000, 16000, 30000, 30000};

	(void)state;
	for (size_t i = 0; i < sizeof(waits) / sizeof(waits[0]); i++) {
		cloud_run(B.c);
		answer("login0", 403, "");
		assert_int_equal(waiting(), 0);
		assert_string_equal(B.c->error, "login: no entry");
		assert_int_equal(B.c->failed_ms, W.now);
		assert_int_equal(F.restarts, i + 1);
		assert_true(cloud_next_ms(B.c) == W.now + waits[i]);
		W.now += waits[i];
	}
	log_in();
	assert_string_equal(B.c->error, "");
	W.now = BEGAN + 59 * MINUTE;
	cloud_run(B.c);
	answer("login0", 403, "");
	assert_true(cloud_next_ms(B.c) <= W.now + 1000); /* from the beginning */
}

static void test_a_login_that_makes_no_sense_is_none(void **state)
{
	(void)state;
	F.refuses = true;
	cloud_run(B.c);
	answer("login0", 200, "");
	assert_string_equal(B.c->error, "login: what is this?");
	assert_int_equal(waiting(), 0);
	assert_int_equal(B.shut, 1); /* its provider is as good as away (F26) */
	F.refuses = false;
	W.now += 30000;
	F.brings = W.now; /* it has ended when it comes */
	cloud_run(B.c);
	answer("login0", 200, "");
	answer("login1", 200, "");
	assert_string_equal(B.c->error, "login: the session has ended already");
	assert_int_equal(waiting(), 0);
	assert_int_equal(B.shut, 2);
	F.steps = INT32_MAX;
	W.now += 30000;
	cloud_run(B.c);
	for (int i = 0; i < ENGINE_LOGIN_STEPS; i++) {
		char url[32];

		(void)snprintf(url, sizeof(url), "login%d", i);
		answer(url, 200, "");
	}
	assert_string_equal(B.c->error, "login: too many steps");
	assert_int_equal(waiting(), 0);
	assert_int_equal(B.shut, 3);
	/* One that there is is good enough for now. */
	F.steps = 2;
	F.brings = W.now + 60 * MINUTE;
	W.now += 30000;
	log_in();
	F.refuses = true;
	W.now = F.brings - ENGINE_LOGIN_MS;
	cloud_run(B.c);
	answer("login0", 200, "");
	assert_int_equal(B.shut, 3);
}

/* The steps of each login are counted, not those of all since the start. */
static void test_sessions_may_be_renewed_for_ever(void **state)
{
	(void)state;
	log_in();
	B.c->list_next = B.c->quotes_next = INT64_MAX;
	for (int i = 0; i < ENGINE_LOGIN_STEPS; i++) {
		W.now = cloud_next_ms(B.c);
		F.brings = W.now + 60 * MINUTE;
		cloud_run(B.c);
		answer("login0", 200, "");
		answer("login1", 200, "");
		assert_true(session_good(B.c));
		assert_int_equal(waiting(), 0);
	}
}

static void test_a_session_that_ends_soon_is_not_renewed_at_once(void **state)
{
	(void)state;
	F.brings = BEGAN + 2 * MINUTE;
	log_in();
	B.c->list_next = B.c->quotes_next = INT64_MAX;
	assert_true(cloud_next_ms(B.c) == W.now + 30000);
}

static void denied(void)
{
	struct provider_op op = {.kind = PROVIDER_LIST};

	op.u.list.cluster = op.cursor = "";
	cloud_send(B.c, &op, on_answer, NULL);
	answer("list", 403, "");
	assert_true(cloud_ready(B.c, PROVIDER_LIST)); /* who knows */
}

/* Revoked, or ended by the provider's clock: there is no telling, so it is renewed; but what is not
 * allowed stays so with a new one. */
static void test_a_session_that_is_denied_is_renewed_once_in_five_minutes(void **state)
{
	(void)state;
	F.brings = BEGAN + 360 * MINUTE;
	log_in();
	B.c->list_next = B.c->quotes_next = INT64_MAX;
	W.now += MINUTE;
	denied();
	answer("login0", 200, "");
	answer("login1", 200, "");
	W.now += 5 * MINUTE - 1;
	denied();
	assert_int_equal(waiting(), 0);
	W.now++;
	denied();
	answer("login0", 403, "");
	assert_true(cloud_next_ms(B.c) == W.now + 1000); /* that is not forgotten */
}

static enum provider_code asked(enum provider_op_kind kind, const char *url, int status)
{
	static const char *const ids[] = {"i-1"};
	struct provider_op op = {.kind = kind};

	if (kind == PROVIDER_DELETE) {
		op.u.del.ids = ids;
		op.u.del.nids = 1;
	}
	cloud_send(B.c, &op, on_answer, NULL);
	answer(url, status, "");
	return F.code;
}

/* F33: else a place would be left for up to an hour because a session ended early. */
static void test_a_denial_that_may_be_the_sessions_fault_does_not_count(void **state)
{
	struct provider_op op = {.kind = PROVIDER_CREATE};

	(void)state;
	F.brings = BEGAN + 360 * MINUTE;
	log_in();
	B.c->list_next = B.c->quotes_next = INT64_MAX;
	W.now += MINUTE;
	cloud_send(B.c, &op, on_answer, NULL);
	cloud_send(B.c, &op, on_answer, NULL);
	answer("create", 401, "");
	assert_int_equal(F.code, PROVIDER_TRANSIENT);
	assert_string_equal(B.c->error, "create: no entry");
	/* What makes something waits for the login; what ends bills does not. */
	assert_false(cloud_ready(B.c, PROVIDER_CREATE));
	assert_false(cloud_ready(B.c, PROVIDER_FABRIC_MAKE));
	assert_false(cloud_ready(B.c, PROVIDER_STEP));
	assert_true(cloud_ready(B.c, PROVIDER_DELETE));
	assert_true(cloud_ready(B.c, PROVIDER_LIST));
	W.now++;
	answer("create", 401, "");
	assert_int_equal(F.code, PROVIDER_TRANSIENT);
	cloud_send(B.c, &op, on_answer, NULL);
	answer("login0", 200, "");
	W.now++;
	assert_false(cloud_ready(B.c, PROVIDER_CREATE));
	cloud_send(B.c, &op, on_answer, NULL); /* with the old session, too */
	answer("create", 401, "");
	W.now++;
	answer("login1", 200, "");
	assert_true(cloud_ready(B.c, PROVIDER_CREATE));
	F.code = PROVIDER_OK;
	answer("create", 401, ""); /* it was sent before the new session came */
	assert_int_equal(F.code, PROVIDER_TRANSIENT);
	assert_int_equal(asked(PROVIDER_CREATE, "create", 403), PROVIDER_DENIED);
	assert_true(cloud_ready(B.c, PROVIDER_CREATE));
	assert_int_equal(waiting(), 0);
	W.now += 5 * MINUTE;
	assert_int_equal(asked(PROVIDER_DELETE, "delete", 401), PROVIDER_TRANSIENT);
	answer("login0", 200, "");
	answer("login1", 200, "");
	assert_int_equal(asked(PROVIDER_DELETE, "delete", 401), PROVIDER_DENIED);
}

/* The driver knows that it was not the session. */
static void test_what_is_denied_for_good_counts_at_once(void **state)
{
	(void)state;
	F.brings = BEGAN + 360 * MINUTE;
	log_in();
	B.c->list_next = B.c->quotes_next = INT64_MAX;
	W.now += MINUTE;
	F.for_good = true;
	assert_int_equal(asked(PROVIDER_CREATE, "create", 403), PROVIDER_DENIED);
}

/* Rows must not wait for ever for a session that cannot be renewed, or is never. */
static void test_a_session_that_is_not_renewed_is_no_excuse(void **state)
{
	(void)state;
	F.brings = BEGAN + 360 * MINUTE;
	log_in();
	B.c->list_next = B.c->quotes_next = INT64_MAX;
	W.now += MINUTE;
	assert_int_equal(asked(PROVIDER_CREATE, "create", 401), PROVIDER_TRANSIENT);
	answer("login0", 403, "");
	assert_true(cloud_ready(B.c, PROVIDER_CREATE));
	assert_int_equal(asked(PROVIDER_CREATE, "create", 401), PROVIDER_DENIED);
	F.until = INT64_MAX; /* a key without an end, as of EC2 */
	W.now += 60 * MINUTE;
	assert_int_equal(asked(PROVIDER_CREATE, "create", 401), PROVIDER_DENIED);
	assert_true(cloud_ready(B.c, PROVIDER_CREATE));
	assert_int_equal(waiting(), 0);
}

/* Date has whole seconds, and is of some moment between the question and its answer. */
static void test_how_far_our_clock_is_ahead_is_told_by_the_date_of_an_answer(void **state)
{
	static const struct {
		int64_t took, date, ahead; /* date: after the question; 0: it has none */
	} rows[] = {
		{0, -999, 0},         {0, -1000, 1},        {5000, 5000, 0}, {5000, 5001, -1},
		{0, -900000, 899001}, {1, 600000, -599999}, {0, 0, -599999}, {100, 100, 0},
	};
	struct provider_op op = {.kind = PROVIDER_LIST};

	(void)state;
	F.brings = BEGAN + 360 * MINUTE;
	log_in();
	assert_int_equal(engine_clock_ahead(&B.e, 0), 0); /* nothing was said */
	B.c->list_next = B.c->quotes_next = INT64_MAX;
	op.u.list.cluster = op.cursor = "";
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		cloud_send(B.c, &op, on_answer, NULL);
		B.date_ms = rows[i].date != 0 ? W.now + rows[i].date : 0;
		W.now += rows[i].took;
		answer("list", 200, "");
		assert_int_equal(engine_clock_ahead(&B.e, 0), rows[i].ahead);
	}
}

/* F57: sessions end, and signatures are dated, by the provider's clock. */
static void test_requests_are_dated_by_the_providers_clock(void **state)
{
	struct provider_op op = {.kind = PROVIDER_LIST};

	(void)state;
	F.brings = BEGAN - 30 * MINUTE; /* by its own clock, that is an hour behind our time */
	B.e.ahead_ms = 60 * MINUTE;
	log_in();
	assert_true(F.at_ms == W.now - 60 * MINUTE);
	assert_true(session_good(B.c));
	assert_true(login_next_ms(B.c) == BEGAN + 25 * MINUTE);
	B.e.ahead_ms = 0; /* set forward; nothing was said of the provider's clock */
	assert_false(session_good(B.c));
	B.c->list_next = B.c->quotes_next = INT64_MAX;
	B.e.ahead_ms = 60 * MINUTE;
	op.u.list.cluster = op.cursor = "";
	cloud_send(B.c, &op, on_answer, NULL);
	B.date_ms = W.now - 60 * MINUTE;
	answer("list", 200, "");
	B.e.ahead_ms = 0; /* and now it was */
	assert_true(session_good(B.c));
	cloud_send(B.c, &op, on_answer, NULL);
	assert_true(F.at_ms == W.now - 60 * MINUTE);
	assert_int_equal(engine_clock_ahead(&B.e, 0), 60 * MINUTE);
	answer("list", 200, "");
}

static void test_quotes_for_our_types_come_in_pages(void **state)
{
	(void)state;
	F.until = INT64_MAX;
	B.c->list_next = INT64_MAX;
	cloud_run(B.c);
	assert_string_equal(F.text, "t1;t2;"); /* not the other provider's */
	answer("quotes", 200, "a");
	answer("quotesa", 200, "bb");
	assert_null(B.c->quotes); /* not before all are there */
	answer("quotesbb", 200, "");
	assert_int_equal(waiting(), 0);
	assert_int_equal(B.c->nquotes, 3);
	assert_true(B.c->quotes_known);
	assert_int_equal(B.c->quotes[1].price_nano_h, 3);
	W.now = B.c->quotes_next;
	cloud_run(B.c);
	answer("quotes", 200, "x");
	answer("quotesx", 403, "");
	assert_int_equal(B.c->nquotes, 3); /* what was known stays */
	W.now = B.c->quotes_next;
	cloud_run(B.c);
	answer("quotes", 200, "x");
	answer("quotesx", 200, "x");
	assert_string_equal(B.c->error, "quotes: its pages do not end");
	assert_int_equal(B.c->nquotes, 3);
	assert_int_equal(waiting(), 0);
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
	const struct CMUnitTest tests[] = {
		T(test_a_login_goes_before_all_else),
		T(test_requests_are_dated_by_the_providers_clock),
		T(test_a_session_is_renewed_five_minutes_before_its_end),
		T(test_without_a_session_nothing_is_sent),
		T(test_a_login_that_is_refused_is_told_and_tried_again_later_each_time),
		T(test_a_login_that_makes_no_sense_is_none),
		T(test_sessions_may_be_renewed_for_ever),
		T(test_a_session_that_ends_soon_is_not_renewed_at_once),
		T(test_a_session_that_is_denied_is_renewed_once_in_five_minutes),
		T(test_a_denial_that_may_be_the_sessions_fault_does_not_count),
		T(test_what_is_denied_for_good_counts_at_once),
		T(test_a_session_that_is_not_renewed_is_no_excuse),
		T(test_how_far_our_clock_is_ahead_is_told_by_the_date_of_an_answer),
		T(test_quotes_for_our_types_come_in_pages),
	};
#undef T

	return cmocka_run_group_tests_name("login", tests, NULL, NULL);
}
