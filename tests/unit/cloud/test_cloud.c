/* test_cloud.c - the requests of one provider and its limits: each asks, what is throttled is asked
 * again, and none of it says how the provider is.  The driver is the test's. */
#include "bare_cloud.h"
#include "cloud/cloud.h"

static struct fix {
	enum provider_code code; /* of the next answers ... */
	int64_t retry_ms;        /* ... and how long to wait */
	size_t shows, sells;     /* instances in each page; offers */
	int64_t until;           /* of the session */
} F;

/* --- a driver ---------------------------------------------------------------------------------
 */

static int build(const void *self, const struct provider_op *op, struct provider_request *out,
		 struct err *e)
{
	char url[64];

	(void)self;
	(void)e;
	(void)snprintf(url, sizeof(url), "%s%s", provider_op_str(op->kind),
		       op->kind == PROVIDER_LIST          ? op->cursor
		       : op->kind == PROVIDER_QUOTES      ? op->cursor
		       : op->kind == PROVIDER_FABRIC_LIST ? op->cursor
							  : "");
	if (op->kind == PROVIDER_NOTICES && op->u.notices.ack != NULL)
		(void)snprintf(url, sizeof(url), "forget");
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
	out->code = F.code;
	out->retry_after_ms = F.retry_ms;
	if (F.code != PROVIDER_OK) {
		(void)snprintf(out->message, sizeof(out->message), "slowly");
		return;
	}
	(void)snprintf(out->cursor, sizeof(out->cursor), "%s", reply->body);
	if (out->cursor[0] != '\0')
		out->code = PROVIDER_MORE;
	if (op->kind == PROVIDER_LIST) {
		out->ninstances = F.shows;
		out->instances = mem_zalloc((F.shows + 1) * sizeof(*out->instances));
	}
	if (op->kind == PROVIDER_QUOTES) {
		out->nquotes = F.sells;
		out->quotes = mem_zalloc((F.sells + 1) * sizeof(*out->quotes));
	}
	if (op->kind == PROVIDER_LOGIN)
		out->session = mem_strdup("s");
	if (op->kind == PROVIDER_NOTICES)
		out->ack = mem_strdup("ack");
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
	F.until = session != NULL ? INT64_MAX : 0;
	return 0;
}

static const struct provider_ops ops = {
	.name = "test", .build = build, .parse = parse, .good_until = good_until, .renew = renew};

static int setup(void **state)
{
	(void)state;
	F = (struct fix){.shows = 1, .sells = 1, .until = INT64_MAX};
	bare_init(&ops, 1, 8, 0);
	B.c->list_step = 1000;
	B.c->quotes_next = INT64_MAX;
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	bare_fini();
	return 0;
}

static void turn(void)
{
	engine_turn(&B.e);
}

static void says(const char *url, enum provider_code code, int64_t retry_ms, const char *cursor)
{
	F.code = code;
	F.retry_ms = retry_ms;
	answer(url, 200, cursor);
	F.code = PROVIDER_OK;
	F.retry_ms = 0;
}

/* Nothing goes out before then. */
static void waits_until(int64_t at)
{
	assert_int_equal(waiting(), 0);
	assert_int_equal(cloud_next_ms(B.c), at);
	W.now = at - 1;
	turn();
	assert_int_equal(waiting(), 0);
	W.now = at;
	turn();
	assert_int_equal(waiting(), 1);
}

/* --- tests -------------------------------------------------------------------------------- */

/* F7: with one request a second, and ten pages, there would never be a list. */
static void test_a_page_that_is_throttled_is_asked_for_again_and_not_the_list(void **state)
{
	(void)state;
	turn();
	says("list", PROVIDER_OK, 0, "b");
	says("listb", PROVIDER_RATE, 0, "");
	waits_until(BEGAN + 1000);
	says("listb", PROVIDER_RATE, 11000, "");
	waits_until(BEGAN + 12000);
	says("listb", PROVIDER_OK, 0, "c");
	waits_until(BEGAN + 14000); /* its pace */
	says("listc", PROVIDER_OK, 0, "");
	assert_int_equal(B.lists, 1);
	assert_int_equal(B.c->list_began, BEGAN); /* as old as its first page */
	assert_int_equal(B.c->limit.kinds[PROVIDER_LIST].throttled, 2);
}

static void test_every_page_asks_its_limit(void **state)
{
	static char job[] = CONF_FABRIC_JOB;

	(void)state;
	limit_init(&B.c->limit, 8, 1, NULL, W.now);
	turn();
	says("list", PROVIDER_OK, 0, "b");
	waits_until(BEGAN + 1000);
	says("listb", PROVIDER_OK, 0, "c");
	waits_until(BEGAN + 2000);
	says("listc", PROVIDER_OK, 0, "");
	assert_int_equal(B.lists, 1);
	B.c->list_next = INT64_MAX;
	B.c->quotes_next = 0;
	turn();
	waits_until(BEGAN + 3000);
	says("quotes", PROVIDER_OK, 0, "b");
	waits_until(BEGAN + 4000);
	says("quotesb", PROVIDER_RATE, 3000, "");
	waits_until(BEGAN + 7000);
	says("quotesb", PROVIDER_OK, 0, "");
	assert_int_equal(B.c->nquotes, 2);
	B.c->quotes_next = INT64_MAX;
	B.c->caps.flags = PROVIDER_FABRICS;
	B.pools[0].own.in_fabric = job;
	turn();
	waits_until(BEGAN + 8000);
	says("fabric-list", PROVIDER_OK, 0, "b");
	waits_until(BEGAN + 9000);
	says("fabric-listb", PROVIDER_RATE, 3000, "");
	waits_until(BEGAN + 12000);
	says("fabric-listb", PROVIDER_OK, 0, "");
	assert_true(fabric_next_ms(B.c) == BEGAN + 8000 + ENGINE_FABRICS_MS); /* that was all */
}

static void test_a_list_that_fails_waits_as_long_as_the_provider_says(void **state)
{
	(void)state;
	turn();
	says("list", PROVIDER_TRANSIENT, 20000, "");
	W.now += 1000;
	turn(); /* it would go again by now */
	waits_until(BEGAN + 20000);
	says("list", PROVIDER_OK, 0, "");
	assert_int_equal(B.lists, 1);
}

/* A reply that was lost says nothing of whether it would have been throttled. */
static void test_what_is_lost_does_not_end_being_throttled(void **state)
{
	(void)state;
	turn();
	says("list", PROVIDER_RATE, 0, "");
	waits_until(BEGAN + 1000);
	says("list", PROVIDER_TRANSIENT, 0, "");
	assert_int_equal(B.c->limit.kinds[PROVIDER_LIST].vain, 1);
	waits_until(BEGAN + 2000);
	says("list", PROVIDER_RATE, 0, "");
	waits_until(BEGAN + 4000);
	says("list", PROVIDER_OK, 0, "");
	assert_int_equal(B.c->limit.kinds[PROVIDER_LIST].vain, 0);
}

static void test_a_login_waits_as_long_as_the_provider_says(void **state)
{
	(void)state;
	F.until = 0;
	turn();
	says("login", PROVIDER_RATE, 9000, "");
	W.now += 1000;
	turn();
	waits_until(BEGAN + 9000);
	says("login", PROVIDER_OK, 0, "");
	assert_true(session_good(B.c));
}

/* I30 */
static void test_a_list_that_takes_long_is_not_followed_by_the_next_at_once(void **state)
{
	int64_t asked = 0;
	unsigned n = 0;

	(void)state;
	turn();
	says("list", PROVIDER_OK, 0, "");
	cloud_hurry(B.c);
	for (; W.now < BEGAN + 60000; W.now += 100) {
		turn();
		n += waiting() > 0 && asked == 0;
		asked = waiting() > 0 && asked == 0 ? W.now : asked;
		if (waiting() == 0 || W.now - asked < 3000)
			continue;
		says("list", PROVIDER_OK, 0, "");
		asked = 0;
		B.c->waits = true;
	}
	assert_in_range(n, 4, 7); /* not 20 */
}

static void test_throttled_is_no_success_and_a_failure_only_when_it_lasts(void **state)
{
	(void)state;
	turn();
	says("list", PROVIDER_TRANSIENT, 0, "");
	assert_string_equal(B.c->error, "list: slowly");
	waits_until(BEGAN + 1000);
	says("list", PROVIDER_RATE, 0, "");
	assert_string_equal(B.c->error, "list: slowly"); /* as before */
	assert_int_equal(B.c->ok_ms, 0);
	waits_until(BEGAN + 2000);
	says("list", PROVIDER_OK, 0, "");
	assert_string_equal(B.c->error, "");
	B.c->list_next = W.now += 5000; /* its pace, after a throttle */
	turn();
	says("list", PROVIDER_OK, 0, "b");
	for (W.now += 1000; W.now < BEGAN + 8000 + ENGINE_THROTTLED_MS;) {
		turn();
		says("listb", PROVIDER_RATE, 0, "");
		assert_string_equal(B.c->error, "");
		assert_int_equal(B.c->ok_ms, BEGAN + 7000);
		W.now += ENGINE_THROTTLED_MS / 2;
	}
	turn();
	says("listb", PROVIDER_RATE, 0, "");
	assert_string_equal(B.c->error, "list: slowly");
	assert_int_equal(B.c->failed_ms, W.now);
}

static void test_of_a_list_so_much_is_remembered_and_no_more(void **state)
{
	(void)state;
	turn();
	F.shows = ENGINE_SEEN_MAX;
	says("list", PROVIDER_OK, 0, "b");
	F.shows = 1;
	says("listb", PROVIDER_OK, 0, "c");
	assert_string_equal(B.c->error, "list: too many instances");
	assert_int_equal(B.lists, 0);
	assert_int_equal(B.c->nseen, 0);
	assert_int_equal(waiting(), 0); /* nothing is left of it */
	waits_until(BEGAN + 1000);
	says("list", PROVIDER_OK, 0, "");
	assert_int_equal(B.lists, 1);
	B.c->nstrays = ENGINE_STRAYS_MAX;
	B.c->list_next = W.now;
	turn();
	says("list", PROVIDER_OK, 0, "");
	assert_non_null(strstr(B.c->error, "the rest is handled later"));
	B.c->nstrays = 0;
}

/* F16, F26: as that of one that is gone, whose first page fails; its own first page says nothing of
 * whether there is a list. */
static void test_a_list_that_breaks_at_its_second_page_is_none(void **state)
{
	(void)state;
	turn();
	says("list", PROVIDER_OK, 0, "b");
	assert_string_equal(B.heard, "");
	says("listb", PROVIDER_TRANSIENT, 0, "");
	assert_string_equal(B.heard, "transient;");
	waits_until(BEGAN + 1000);
	says("list", PROVIDER_OK, 0, "b");
	assert_string_equal(B.c->error, "list: slowly"); /* status has it all the while */
	says("listb", PROVIDER_OK, 0, "b");              /* it comes again */
	assert_string_equal(B.heard, "transient;ambiguous;");
	assert_string_equal(B.c->error, "list: its pages do not end");
	waits_until(BEGAN + 3000);
	says("list", PROVIDER_OK, 0, "b");
	says("listb", PROVIDER_RATE, 0, "");
	waits_until(BEGAN + 4000);
	says("listb", PROVIDER_OK, 0, "");
	assert_string_equal(B.heard, "transient;ambiguous;rate;ok;");
	assert_string_equal(B.c->error, "");
	assert_int_equal(B.lists, 1);
}

static void test_a_request_for_notices_asks_its_limit_too(void **state)
{
	(void)state;
	limit_init(&B.c->limit, 1, 1, NULL, W.now); /* a token each second */
	B.c->list_next = INT64_MAX;
	B.c->caps.flags = PROVIDER_TELLS;
	B.c->listed = true;
	B.e.fleet.pools[0].nodes = 1;
	turn();
	W.now += 300;
	says("notices", PROVIDER_OK, 0, "");
	waits_until(BEGAN + 1000); /* that it was heard, first */
	says("forget", PROVIDER_OK, 0, "");
	W.now += 300; /* by now the next one could be asked for, but for its token */
	turn();
	waits_until(BEGAN + 2000);
	assert_string_equal(B.wire[B.n - 1].url, "notices");
	B.e.fleet.pools[0].nodes = 0;
}

static void test_a_reload_changes_the_limits(void **state)
{
	struct conf_provider next = B.provider;

	(void)state;
	next.rate = 1;
	next.concurrency = 1;
	B.c->list_next = 0;
	cloud_reload(B.c, &next);
	turn();
	says("list", PROVIDER_OK, 0, "b");
	assert_int_equal(B.c->limit.slots, 1);
	waits_until(BEGAN + 1000);
}

/* Lambda counts requests of all kinds together. */
static void test_a_reload_keeps_the_providers_limit_of_all_requests(void **state)
{
	(void)state;
	B.c->caps.together = (struct provider_bucket){1, 1, 1000};
	B.c->list_next = 0;
	cloud_reload(B.c, &B.provider);
	turn();
	says("list", PROVIDER_OK, 0, "b");
	waits_until(BEGAN + 1000);
}

/* I13: what it shows may be ours, and nobody can say yet whose: nothing is bought before. */
static void test_a_first_list_that_is_not_understood_is_none(void **state)
{
	(void)state;
	B.unsure = true;
	turn();
	says("list", PROVIDER_OK, 0, "");
	assert_int_equal(B.lists, 1);
	assert_false(B.c->listed);
	B.unsure = false;
	B.c->list_next = W.now;
	turn();
	says("list", PROVIDER_OK, 0, "");
	assert_true(B.c->listed);
}

/* Else all would be "not offered there", which no wait can mend. */
static void test_an_empty_list_of_quotes_is_not_believed(void **state)
{
	(void)state;
	B.c->list_next = INT64_MAX;
	B.c->quotes_next = 0;
	turn();
	says("quotes", PROVIDER_OK, 0, "");
	assert_int_equal(B.c->nquotes, 1);
	F.sells = 0;
	B.c->quotes_next = W.now;
	turn();
	says("quotes", PROVIDER_OK, 0, "");
	assert_int_equal(B.c->nquotes, 1); /* as before */
	assert_string_equal(B.c->error, "quotes: none at all: not believed");
	/* Nor is what came of one that failed before its end. */
	F.sells = 1;
	B.c->quotes_next = W.now;
	turn();
	says("quotes", PROVIDER_OK, 0, "b");
	says("quotesb", PROVIDER_TRANSIENT, 0, "");
	B.c->quotes_next = W.now;
	turn();
	says("quotes", PROVIDER_OK, 0, "");
	assert_int_equal(B.c->nquotes, 1);
}

/* I21: it may be bought in any of them. */
static void test_an_offer_without_a_zone_costs_what_the_dearest_zone_does(void **state)
{
	static char t[] = "t", r[] = "r", a[] = "a", none[] = "";
	const struct conf_offer any = {.type = t, .region = r, .zone = none};
	const struct conf_offer in_a = {.type = t, .region = r, .zone = a};
	static const char *const zones[] = {"a", "b", "c"};

	(void)state;
	B.c->quotes = mem_zalloc(3 * sizeof(*B.c->quotes));
	B.c->nquotes = 3;
	for (int i = 0; i < 3; i++) {
		struct provider_quote *o = &B.c->quotes[i];

		o->price_nano_h = i == 1 ? 9 : 5 - i;
		(void)snprintf(o->type, sizeof(o->type), "t");
		(void)snprintf(o->region, sizeof(o->region), "r");
		(void)snprintf(o->zone, sizeof(o->zone), "%s", zones[i]);
	}
	assert_int_equal(quote_price(B.c, &any), 9);
	assert_int_equal(quote_price(B.c, &in_a), 5);
}

/* Some clouds have one price list for all of their regions. */
static void test_a_quote_without_a_region_is_of_all(void **state)
{
	static char t[] = "t", u[] = "u", r[] = "r", none[] = "";
	const struct conf_offer here = {.type = t, .region = r, .zone = none};
	const struct conf_offer other = {.type = u, .region = r, .zone = none};

	(void)state;
	B.c->quotes = mem_zalloc(sizeof(*B.c->quotes));
	B.c->nquotes = 1;
	B.c->quotes[0].price_nano_h = 9;
	(void)snprintf(B.c->quotes[0].type, sizeof(B.c->quotes[0].type), "t");
	assert_int_equal(quote_price(B.c, &here), 9);
	assert_int_equal(quote_price(B.c, &other), 0);
}

/* Dry: all quotes of it say so, in whatever currency. */
static void test_a_place_is_dry_if_the_provider_says_so(void **state)
{
	static char t[] = "t", r[] = "r", none[] = "";
	const struct conf_offer here = {.type = t, .region = r, .zone = none};

	(void)state;
	B.c->quotes = mem_zalloc(2 * sizeof(*B.c->quotes));
	assert_false(quote_dry(B.c, &here));
	for (int i = 0; i < 2; i++)
		(void)snprintf(B.c->quotes[i].type, sizeof(B.c->quotes[i].type), "t");
	(void)snprintf(B.c->quotes[1].region, sizeof(B.c->quotes[1].region), "r");
	(void)snprintf(B.c->quotes[0].currency, sizeof(B.c->quotes[0].currency), "USD");
	B.c->quotes[0].terms.stock = PROVIDER_STOCK_NONE;
	B.c->nquotes = 1;
	assert_true(quote_dry(B.c, &here));
	B.c->nquotes = 2;
	B.c->quotes[1].terms.stock = PROVIDER_STOCK_SOME;
	assert_false(quote_dry(B.c, &here));
	B.c->quotes[1].region[0] = 's';
	assert_true(quote_dry(B.c, &here));
}

/* --- what an answer is about --------------------------------------------------------------- */

static enum provider_code last_code; /* of the last answer to what ask() sent */

static void keep_code(struct cloud *c, void *ctx, const struct provider_result *r)
{
	(void)c;
	(void)ctx;
	last_code = r->code;
}

static void ask(enum provider_op_kind kind, size_t instances)
{
	struct provider_op op = {.kind = kind};

	B.c->list_next = INT64_MAX;
	if (kind == PROVIDER_DELETE)
		op.u.del.nids = instances;
	else if (kind == PROVIDER_CREATE)
		op.u.create.nwants = instances;
	else if (kind == PROVIDER_FABRIC_LIST)
		op.cursor = "";
	cloud_send(B.c, &op, keep_code, NULL);
}

/* It needs a right of its own, which nothing else does, and it is told by itself. */
static void test_a_report_says_nothing_of_the_provider(void **state)
{
	(void)state;
	ask(PROVIDER_REPORT, 0);
	says("report", PROVIDER_DENIED, 0, "");
	assert_int_equal(last_code, PROVIDER_DENIED);
	assert_string_equal(B.c->error, "");
	assert_false(B.c->login_doubted);
	(void)snprintf(B.c->error, sizeof(B.c->error), "list: slowly");
	ask(PROVIDER_REPORT, 0);
	says("report", PROVIDER_OK, 0, "");
	assert_string_equal(B.c->error, "list: slowly");
}

/* The other parts hear of each request what became of it. */
static void test_all_parts_hear_each_answer(void **state)
{
	(void)state;
	for (int k = 0; k < PROVIDER_NOPS; k++) {
		if (k == PROVIDER_LIST || k == PROVIDER_QUOTES)
			continue; /* their pages are above */
		B.kinds = 0;
		ask((enum provider_op_kind)k, 1);
		says(provider_op_str((enum provider_op_kind)k), PROVIDER_DENIED, 0, "");
		assert_int_equal(B.kinds, 1U << k);
	}
	B.c->list_next = 0;
	B.kinds = 0;
	turn();
	says("list", PROVIDER_DENIED, 0, "");
	assert_int_equal(B.kinds, 1U << PROVIDER_LIST);
}

/* I7, F1: only what never left us has surely not happened. */
static void test_a_lost_answer_is_no_answer(void **state)
{
	static const struct {
		enum err_code code;
		enum provider_code means;
	} rows[] = {{ERR_NOTSENT, PROVIDER_TRANSIENT},
		    {ERR_NET, PROVIDER_AMBIGUOUS},
		    {ERR_TIME, PROVIDER_AMBIGUOUS},
		    {ERR_INVALID, PROVIDER_AMBIGUOUS}};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const struct err err = {.code = rows[i].code, .msg = "gone"};
		size_t at = B.answered++;

		ask(PROVIDER_CREATE, 1);
		B.wire[at].done(B.wire[at].ctx, NULL, &err);
		assert_int_equal(last_code, rows[i].means);
	}
}

/* F7: as many tokens as a request has instances, of deletes as of creates. */
static void test_a_request_takes_a_token_for_each_instance(void **state)
{
	static const struct provider_limit own[PROVIDER_NOPS] = {
		[PROVIDER_CREATE] = {.instances = {10, 1, 1000}},
		[PROVIDER_DELETE] = {.instances = {10, 1, 1000}}};

	(void)state;
	limit_init(&B.c->limit, 8, 0, own, W.now);
	ask(PROVIDER_DELETE, 4);
	ask(PROVIDER_CREATE, 7);
	assert_int_equal(limit_room(&B.c->limit, PROVIDER_DELETE, W.now), 6);
	assert_int_equal(limit_room(&B.c->limit, PROVIDER_CREATE, W.now), 3);
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
	const struct CMUnitTest tests[] = {
		T(test_a_page_that_is_throttled_is_asked_for_again_and_not_the_list),
		T(test_every_page_asks_its_limit),
		T(test_a_list_that_fails_waits_as_long_as_the_provider_says),
		T(test_what_is_lost_does_not_end_being_throttled),
		T(test_a_login_waits_as_long_as_the_provider_says),
		T(test_a_list_that_takes_long_is_not_followed_by_the_next_at_once),
		T(test_throttled_is_no_success_and_a_failure_only_when_it_lasts),
		T(test_of_a_list_so_much_is_remembered_and_no_more),
		T(test_a_list_that_breaks_at_its_second_page_is_none),
		T(test_a_request_for_notices_asks_its_limit_too),
		T(test_a_reload_changes_the_limits),
		T(test_a_reload_keeps_the_providers_limit_of_all_requests),
		T(test_a_first_list_that_is_not_understood_is_none),
		T(test_an_empty_list_of_quotes_is_not_believed),
		T(test_an_offer_without_a_zone_costs_what_the_dearest_zone_does),
		T(test_a_quote_without_a_region_is_of_all),
		T(test_a_place_is_dry_if_the_provider_says_so),
		T(test_a_report_says_nothing_of_the_provider),
		T(test_all_parts_hear_each_answer),
		T(test_a_lost_answer_is_no_answer),
		T(test_a_request_takes_a_token_for_each_instance),
	};
#undef T

	return cmocka_run_group_tests_name("cloud", tests, NULL, NULL);
}
