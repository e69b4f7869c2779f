/* quotes.c: the prices of now come first, then those of the time in which burstd did not ask. */
#include "bare_cloud.h"

#include "base/fmt.h"

enum { HOUR = 3600000, AHEAD = 5000, WEEK = 7 * 24 * 60 };

static const int64_t start = INT64_C(1800000000000);

/* What the provider answers, and what the engine is told then. */
static struct {
	struct provider_quote quotes[8];
	size_t n;
	enum provider_code code;
	int64_t since;   /* of the last request, by the provider's clock */
	char story[400]; /* of each answer: "ZONE:PRICE@AGE" of the present | the past */
	size_t many;     /* so many copies of the first quote instead */
} P;

static int build(const void *self, const struct provider_op *op, struct provider_request *out,
		 struct err *e)
{
	(void)self;
	(void)e;
	P.since = op->u.quotes.since_ms;
	out->kind = PROVIDER_HTTP;
	out->method = "GET";
	out->url = mem_strdup(provider_op_str(op->kind));
	return 0;
}

static void parse(const void *self, const struct provider_op *op,
		  const struct provider_reply *reply, struct provider_result *out)
{
	(void)self;
	(void)op;
	out->code = P.code;
	if (P.code != PROVIDER_OK)
		return;
	(void)snprintf(out->cursor, sizeof(out->cursor), "%s", reply->body);
	if (out->cursor[0] != '\0')
		out->code = PROVIDER_MORE;
	out->nquotes = P.many != 0 ? P.many : P.n;
	out->quotes = mem_zalloc((out->nquotes + 1) * sizeof(*out->quotes));
	for (size_t i = 0; i < out->nquotes; i++)
		out->quotes[i] = P.quotes[P.many != 0 ? 0 : i];
}

static const struct provider_ops ops = {.name = "test", .build = build, .parse = parse};

static void add_quotes(const struct provider_quote *q, size_t n)
{
	char text[96];

	for (size_t i = 0; i < n; i++) {
		(void)snprintf(text, sizeof(text), "%s%s:%d", i > 0 ? " " : "", q[i].zone,
			       (int)q[i].price_nano_h);
		add(P.story, sizeof(P.story), text, "", "");
		if (q[i].valid_from_ms == 0)
			continue;
		assert_int_equal((start - q[i].valid_from_ms) % HOUR, 0); /* by our clock */
		(void)snprintf(text, sizeof(text), "@%d",
			       (int)((start - q[i].valid_from_ms) / HOUR));
		add(P.story, sizeof(P.story), text, "", "");
	}
}

static void quoted(const struct cloud *c)
{
	add(P.story, sizeof(P.story), P.story[0] != '\0' ? "; " : "", c->past_due ? "?" : "", "");
	add_quotes(c->quotes, c->nquotes);
	if (c->npast > 0)
		add(P.story, sizeof(P.story), " | ", "", "");
	add_quotes(c->past, c->npast);
}

static int setup(void **state)
{
	(void)state;
	memset(&P, 0, sizeof(P));
	bare_quiet(&ops);
	W.now = start;
	limit_init(&B.c->limit, 8, 0, NULL, W.now);
	B.quoted = quoted;
	B.c->caps.flags = PROVIDER_PAST;
	B.c->quotes_next = 0;
	B.c->dated = true;
	B.c->ahead_ms = AHEAD; /* our clock is ahead of the provider's */
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	assert_null(B.c->past);
	bare_fini();
	return 0;
}

static void put(const char *zone, int price, int64_t hours_ago)
{
	struct provider_quote *q = &P.quotes[P.n++];

	*q = (struct provider_quote){.market = PROVIDER_SPOT, .price_nano_h = price};
	(void)snprintf(q->zone, sizeof(q->zone), "%s", zone);
	q->valid_from_ms = hours_ago < 0 ? 0 : start - hours_ago * HOUR - AHEAD;
}

/* The next request is for quotes since so many minutes before the start (0: of now), and gets this
 * answer. */
static void round_of(int64_t minutes, enum provider_code code, const char *cursor)
{
	engine_turn(&B.e);
	assert_int_equal(waiting(), 1);
	if (minutes == 0)
		assert_int_equal(P.since, 0);
	else
		assert_int_equal(start - AHEAD - P.since, minutes * 60000);
	P.code = code;
	answer("quotes", 200, cursor);
}

static void test_first_now_then_the_past(void **state)
{
	(void)state;
	put("a", 5, 1);
	put("b", 6, -1); /* since when is not said */
	round_of(0, PROVIDER_OK, "");
	assert_true(B.c->quotes_known);
	assert_int_equal(B.c->quotes_ms, start);
	assert_int_equal(waiting(), 1); /* at once */
	P.n = 0;
	put("a", 3, 20); /* in any order, on any page */
	put("b", 9, 30);
	round_of(WEEK, PROVIDER_OK, "next");
	P.n = 0;
	put("a", 5, 1);
	put("a", 4, 10);
	put("b", 6, 2);
	round_of(WEEK, PROVIDER_OK, "");
	assert_string_equal(P.story, "?a:5@1 b:6; a:5@1 b:6@2 | a:3@20 a:4@10 b:9@30");
	assert_int_equal(quotes_next_ms(B.c), W.now + ENGINE_QUOTES_MS);
	P.n = 0;
	P.story[0] = '\0';
	W.now += ENGINE_QUOTES_MS;
	put("a", 5, 1);
	round_of(0, PROVIDER_OK, ""); /* without a gap nothing but now */
	assert_string_equal(P.story, "a:5@1");
	assert_string_equal(B.gap, "");
}

static void test_a_provider_without_a_past_is_not_asked_for_it(void **state)
{
	(void)state;
	B.c->asked_before = true; /* by another configuration, but these are asked for now */
	B.c->caps.flags = 0;
	put("a", 5, -1);
	round_of(0, PROVIDER_OK, "");
	assert_string_equal(P.story, "a:5");
	assert_false(B.c->asked_before);
	assert_int_equal(quotes_next_ms(B.c), W.now + ENGINE_QUOTES_MS);
}

/* It did not answer for three hours: what it asked meanwhile comes later. */
static void test_a_gap_is_filled(void **state)
{
	(void)state;
	put("a", 5, 1);
	round_of(0, PROVIDER_OK, "");
	round_of(WEEK, PROVIDER_OK, "");
	W.now = B.c->quotes_ms + ENGINE_GAP_MS;
	round_of(0, PROVIDER_OK, "");
	assert_int_equal(quotes_next_ms(B.c), W.now + ENGINE_QUOTES_MS);
	W.now = B.c->quotes_ms + ENGINE_GAP_MS + 1;
	P.story[0] = '\0';
	round_of(0, PROVIDER_OK, "");
	assert_string_equal(P.story, "?a:5@1");
	/* The quotes before were of ten minutes after the start. */
	round_of(50, PROVIDER_OK, "");
	assert_false(B.c->past_due);
}

/* The prices of now are worth more than those of the past. */
static void test_a_past_that_cannot_be_had_is_given_up(void **state)
{
	(void)state;
	put("a", 5, 1);
	round_of(0, PROVIDER_OK, "");
	for (int i = 0; i < ENGINE_PAST_TRIES; i++) {
		assert_string_equal(B.gap, "");
		assert_true(B.c->past_due);
		round_of(WEEK, PROVIDER_TRANSIENT, "");
		W.now += ENGINE_RETRY_MAX_MS;
	}
	assert_false(B.c->past_due);
	assert_non_null(strstr(B.gap, "ec2 does not tell its prices since 2027-01-08T08:00:00Z"));
	round_of(0, PROVIDER_OK, "");
	assert_false(B.c->past_due);
	assert_string_equal(P.story, "?a:5@1; a:5@1");
}

static void test_a_past_that_is_too_long_is_given_up_at_once(void **state)
{
	(void)state;
	put("a", 5, 1);
	round_of(0, PROVIDER_OK, "");
	P.many = ENGINE_QUOTES_MAX;
	round_of(WEEK, PROVIDER_OK, "more");
	assert_false(B.c->past_due);
	assert_non_null(strstr(B.gap, "too many quotes"));
	assert_int_equal(B.c->nquotes, 1);
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
	const struct CMUnitTest tests[] = {
		T(test_first_now_then_the_past),
		T(test_a_provider_without_a_past_is_not_asked_for_it),
		T(test_a_gap_is_filled),
		T(test_a_past_that_cannot_be_had_is_given_up),
		T(test_a_past_that_is_too_long_is_given_up_at_once),
	};
#undef T

	return cmocka_run_group_tests_name("quotes_past", tests, NULL, NULL);
}
