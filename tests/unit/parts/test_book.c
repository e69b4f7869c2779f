/* book.c: what is said of prices is written once, a slice a turn; what is agreed on wins, from its
 * day on; and what an instance cost when it was made is found. */
#include "two_offers.h"

#include "base/str.h"
#include "cloud/cloud.h"
#include "core/rates.h"
#include "store/journal_price.h"

enum { HOUR = 3600000 };

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

/* --- what the journal has ----------------------------------------------------------------------
 */

struct facts {
	const struct fix *f;
	struct str s;
	int64_t seq;
};

/* "SOURCE REGION/ZONE PRICE; ", and how many hours ago it began, if that is not now. */
static int see(void *ctx, int64_t seq, const struct price *p)
{
	struct facts *x = ctx;
	int64_t ago = (loop_now(x->f->loop) - p->valid_from_ms + 99 * HOUR + HOUR / 2) / HOUR - 99;

	assert_string_equal(p->currency, "EUR");
	assert_true(p->observed_ms <= loop_now(x->f->loop) &&
		    loop_now(x->f->loop) - p->observed_ms < HOUR);
	x->seq = seq;
	str_addf(&x->s, "%s %s/%s/%s %lld", price_source_str(p->source), p->type, p->region,
		 p->zone, (long long)p->nano_h);
	if (ago != 0)
		str_addf(&x->s, " %lldh ago", (long long)ago);
	str_adds(&x->s, "; ");
	return 0;
}

/* Write what waits, and compare the rows beyond *seq. */
static void check_facts(struct fix *f, int64_t *seq, const char *want)
{
	struct facts x = {.f = f, .seq = *seq};

	str_init(&x.s, 4096);
	book_part.at[PART_RUN](f->e);
	engine_commit(f->e);
	assert_int_equal(journal_prices(f->journal, *seq, 100, see, &x, NULL), 0);
	assert_string_equal(x.s.p, want);
	str_fini(&x.s);
	*seq = x.seq;
}

/* --- what is said ------------------------------------------------------------------------------
 */

static struct provider_quote quote_of(const char *type, const char *region, const char *zone,
				      int64_t nano_h)
{
	struct provider_quote q = {
		.market = PROVIDER_SPOT, .price_nano_h = nano_h, .currency = "EUR"};

	(void)snprintf(q.type, sizeof(q.type), "%s", type);
	(void)snprintf(q.region, sizeof(q.region), "%s", region);
	(void)snprintf(q.zone, sizeof(q.zone), "%s", zone);
	return q;
}

static void send(struct fix *f, const struct provider_quote *q, size_t n)
{
	struct cloud *c = &f->e->cloud->all[0];

	free(c->quotes);
	c->quotes = mem_zalloc((n + 1) * sizeof(*q));
	memcpy(c->quotes, q, n * sizeof(*q));
	c->nquotes = n;
	c->quotes_known = true;
	book_part.quoted(c, NULL, 0);
}

static struct conf *unpriced(void)
{
	struct conf *c = two_offers(false);

	c->pools[0].offers[0].price_nano_h = c->pools[0].offers[1].price_nano_h = 0;
	return c;
}

static void add_rate(struct conf *c, const char *region, int64_t nano_h, int64_t from_ms,
		     int64_t until_ms)
{
	struct conf_rate *r;

	c->rates = mem_realloc(c->rates, (c->nrates + 1) * sizeof(*r));
	r = &c->rates[c->nrates++];
	*r = (struct conf_rate){.provider = mem_strdup("cloud"),
				.region = mem_strdup(region),
				.zone = mem_strdup(""),
				.type = mem_strdup("t"),
				.note = mem_strdup(""),
				.market = PROVIDER_SPOT,
				.currency = "EUR",
				.price_nano_h = nano_h,
				.from_ms = from_ms,
				.until_ms = until_ms};
}

static void loaded(struct fix *f, struct conf *c)
{
	assert_int_equal(load(f, c, NULL), 0);
	f->e->slice.write = 100;
	book_part.at[PART_START](f->e);
}

/* --- quotes ------------------------------------------------------------------------------------
 */

static void test_quotes_of_what_may_be_bought(void **state)
{
	struct fix *f = *state;
	struct provider_quote q[8];
	int64_t seq = 0;

	loaded(f, unpriced());
	q[0] = quote_of("t", "r", "a", 5);
	q[1] = quote_of("t", "r", "b", 6);
	q[2] = quote_of("t", "", "", 7);   /* in all regions */
	q[3] = quote_of("u", "r", "a", 8); /* no pool buys that */
	q[4] = quote_of("t", "q", "a", 9); /* nor there */
	q[5] = quote_of("t", "r2", "a", 10);
	q[5].market = PROVIDER_ON_DEMAND; /* nor so */
	q[6] = quote_of("t", "r2", "b", 0);
	q[7] = quote_of("t", "r2", "c", 11);
	memcpy(q[7].currency, "USD", 4);
	send(f, q, 8);
	check_facts(f, &seq, "quote t/r/a 5; quote t/r/b 6; quote t// 7; ");
	send(f, q, 8);
	check_facts(f, &seq, "");
	q[1].price_nano_h = 4;
	send(f, q, 2); /* the third is not quoted any more */
	check_facts(f, &seq, "quote t/r/b 4; quote t// -1; ");
	loaded(f, unpriced()); /* a restart */
	send(f, q, 2);
	check_facts(f, &seq, "");
	assert_int_equal(seq, 5);
}

/* It sells, and has not been asked what it wants for that. */
static void test_what_no_pool_buys_any_more_is_not_withdrawn(void **state)
{
	struct fix *f = *state;
	const struct provider_quote q[] = {quote_of("t", "r", "", 5), quote_of("t", "r2", "", 6)};
	int64_t seq = 0;
	struct conf *c;

	loaded(f, unpriced());
	send(f, q, 2);
	check_facts(f, &seq, "quote t/r/ 5; quote t/r2/ 6; ");
	c = unpriced();
	c->pools[0].offers[1].market = PROVIDER_ON_DEMAND;
	loaded(f, c);
	send(f, q, 1);
	check_facts(f, &seq, "");
	loaded(f, unpriced());
	send(f, q, 1);
	check_facts(f, &seq, "quote t/r2/ -1; ");
}

/* Its quotes are on their way, for offers of another time. */
static void test_a_reload_while_quotes_are_asked_for(void **state)
{
	struct fix *f = *state;
	const struct provider_quote q[] = {quote_of("t", "r", "", 5), quote_of("t", "r2", "", 6)};
	int64_t seq = 0;

	loaded(f, unpriced());
	send(f, q, 2);
	check_facts(f, &seq, "quote t/r/ 5; quote t/r2/ 6; ");
	assert_int_equal(engine_reload(f->e, unpriced(), NULL), 0);
	send(f, q, 1);
	check_facts(f, &seq, "");
	f->e->cloud->all[0].asked_before = false; /* the next ones */
	send(f, q, 1);
	check_facts(f, &seq, "quote t/r2/ -1; ");
}

static void test_one_price_for_all(void **state)
{
	struct fix *f = *state;
	struct provider_quote q = quote_of("", "", "", 1);
	int64_t seq = 0;

	q.currency[0] = '\0';
	loaded(f, unpriced());
	send(f, &q, 1);
	check_facts(f, &seq, "quote t/r/ 1; quote t/r2/ 1; ");
}

/* Hooks are served in between. */
static void test_many_changes_take_several_turns(void **state)
{
	struct fix *f = *state;
	struct provider_quote q[5];
	int64_t seq = 0;

	loaded(f, unpriced());
	f->e->slice.write = 2;
	assert_int_equal(book_part.next_ms(f->e), INT64_MAX);
	for (int i = 0; i < 5; i++)
		q[i] = quote_of("t", "r", (const char *[]){"a", "b", "c", "d", "e"}[i], i + 1);
	send(f, q, 5);
	assert_int_equal(book_part.next_ms(f->e), engine_now(f->e));
	check_facts(f, &seq, "quote t/r/a 1; quote t/r/b 2; ");
	assert_int_equal(book_part.next_ms(f->e), engine_now(f->e));
	check_facts(f, &seq, "quote t/r/c 3; quote t/r/d 4; ");
	check_facts(f, &seq, "quote t/r/e 5; ");
	assert_int_equal(book_part.next_ms(f->e), INT64_MAX);
}

/* The past is written in the order of time, before the present, whatever the order of the list; and
 * nothing before it has come. */
static void test_the_past_comes_first(void **state)
{
	struct fix *f = *state;
	struct provider_quote q[2] = {quote_of("t", "r", "a", 5), quote_of("t", "r", "b", 6)};
	struct provider_quote past[5];
	struct cloud *c;
	int64_t seq = 0, now;

	loaded(f, unpriced());
	c = &f->e->cloud->all[0];
	now = engine_now(f->e);
	c->past_due = true;
	send(f, q, 2);
	check_facts(f, &seq, "");
	past[0] = quote_of("t", "r", "a", 7);
	past[0].valid_from_ms = now - 2 * HOUR;
	past[1] = quote_of("t", "r", "b", 6);
	past[1].valid_from_ms = now - 4 * HOUR;
	past[2] = quote_of("t", "r", "a", 9);
	past[2].valid_from_ms = now - 3 * HOUR;
	past[3] = quote_of("u", "r", "a", 9);
	past[3].valid_from_ms = now - 5 * HOUR;
	past[4] = quote_of("t", "r", "a", 9);
	past[4].valid_from_ms = now - 5 * HOUR;
	memcpy(past[4].currency, "USD", 4);
	q[0].valid_from_ms = now - HOUR;
	c->past = past;
	c->npast = 5;
	c->past_due = false;
	send(f, q, 2);
	check_facts(f, &seq,
		    "history t/r/b 6 4h ago; history t/r/a 9 3h ago; history t/r/a 7 2h ago; "
		    "quote t/r/a 5 1h ago; ");
	c->past = NULL;
	c->npast = 0;
}

static void test_since_when_the_past_is_asked_for(void **state)
{
	static const struct {
		int64_t known_h, last_h, want_h; /* hours ago; 0: never */
	} rows[] = {
		{0, 0, 7 * 24}, /* all that may be of use to an instance of a lost journal */
		{10, 0, 11},    {10, 3, 4},   {200, 0, 7 * 24}, {7 * 24 - 1, 0, 7 * 24},
		{0, 200, 168},  {-5, 0, 168}, /* somebody has set the clock back */
	};
	struct fix *f = *state;

	for (size_t i = 0; i < COUNT(rows); i++) {
		int64_t now;
		struct price p = {.provider = "cloud",
				  .region = "r",
				  .zone = "",
				  .type = "t",
				  .market = PROVIDER_SPOT,
				  .source = PRICE_HISTORY,
				  .currency = "EUR",
				  .nano_h = 5};

		loaded(f, unpriced());
		now = engine_now(f->e);
		p.valid_from_ms = now - rows[i].known_h * HOUR;
		if (rows[i].known_h != 0)
			book_load(f->e, &p);
		assert_int_equal(book_since(&f->e->cloud->all[0],
					    rows[i].last_h != 0 ? now - rows[i].last_h * HOUR : 0),
				 now - rows[i].want_h * HOUR);
	}
}

/* --- what an admin says ------------------------------------------------------------------------
 */

static void test_configured_prices(void **state)
{
	struct fix *f = *state;
	struct conf *c;
	int64_t seq = 0;

	loaded(f, two_offers(false));
	check_facts(f, &seq, "conf t/r/ 500000000; conf t/r2/ 500000000; ");
	loaded(f, two_offers(false));
	check_facts(f, &seq, "");
	c = two_offers(false);
	c->pools[0].offers[0].price_nano_h = 7;
	c->pools[0].offers[1].price_nano_h = 0;
	assert_int_equal(engine_reload(f->e, c, NULL), 0);
	check_facts(f, &seq, "conf t/r/ 7; conf t/r2/ -1; ");
}

/* contract before conf before quote: for purchases, and for what is known of an offer. */
static void test_the_order_of_prices(void **state)
{
	struct fix *f = *state;
	const struct provider_quote q[] = {quote_of("t", "r", "", 5), quote_of("t", "r2", "", 6)};
	struct conf *c = unpriced();
	const struct conf_offer *o;
	struct ladder_known *known;
	int64_t seq = 0;

	c->pools[0].offers[1].price_nano_h = 4;
	loaded(f, c);
	o = f->e->conf->pools[0].offers;
	send(f, q, 2);
	f->e->cloud->all[0].quotes_ms = 17;
	assert_int_equal(quote_known(f->e, &o[0]), 5);
	assert_int_equal(quote_heard_ms(f->e, &o[0]), 17);
	assert_int_equal(quote_known(f->e, &o[1]), 4);
	assert_int_equal(quote_heard_ms(f->e, &o[1]), 0); /* it does not age */
	check_facts(f, &seq, "conf t/r2/ 4; quote t/r/ 5; quote t/r2/ 6; ");
	add_rate(f->e->conf, "", 9, 0, 0);
	assert_int_equal(quote_known(f->e, &o[0]), 9);
	assert_int_equal(quote_known(f->e, &o[1]), 9);
	assert_int_equal(quote_heard_ms(f->e, &o[0]), 0);
	known = place_known(f->e, 0);
	assert_int_equal(known[1].agreed, 9);
	free(known);
	assert_int_equal(place_next_price(f->e, 0), 9);
	book_part.at[PART_RELOAD](f->e);
	check_facts(f, &seq, "contract t// 9; ");
	book_part.at[PART_RELOAD](f->e);
	check_facts(f, &seq, "");
}

/* Nobody reloads at midnight. */
static void test_a_price_comes_and_goes_at_its_day(void **state)
{
	struct fix *f = *state;
	struct conf *c = two_offers(false);
	const struct conf_offer *o;
	struct fleet_name *nm;
	int64_t seq = 0, wall;

	loaded(f, two_offers(false));
	check_facts(f, &seq, "conf t/r/ 500000000; conf t/r2/ 500000000; ");
	wall = engine_wall(f->e, engine_now(f->e));
	add_rate(c, "r", 8, wall - 3 * HOUR, wall + HOUR);
	add_rate(c, "r", 7, wall + HOUR, wall + 2 * HOUR);
	add_rate(c, "r", 6, wall - 9 * HOUR, wall - 3 * HOUR); /* over before it was known */
	loaded(f, c);
	o = f->e->conf->pools[0].offers;
	check_facts(f, &seq, "contract t/r/ 8 3h ago; ");
	assert_int_equal(quote_known(f->e, &o[0]), 8);
	assert_int_equal(quote_known(f->e, &o[1]), OD / 2);
	assert_int_equal(book_part.next_ms(f->e), engine_from_wall(f->e, wall + HOUR));
	nm = fleet_name(&f->e->fleet, "c1", 0);
	for (int i = 1; i <= 2; i++) {
		refuse_mark(f->e, nm, NODE_BECAUSE_LIMIT, "too dear");
		f->e->ahead_ms -= HOUR; /* as if it were an hour later */
		f->e->cloud->rates_next = engine_now(f->e);
		check_facts(f, &seq, i == 1 ? "contract t/r/ 7 -1h ago; " : "contract t/r/ -1; ");
		assert_true(nm->hint.stale); /* who could not pay may be able to now */
		assert_int_equal(quote_known(f->e, &o[0]), i == 1 ? 7 : OD / 2);
	}
	assert_int_equal(book_part.next_ms(f->e), INT64_MAX);
}

/* Its end is that of the file, though nobody saw it, and another one is to come. */
static void test_a_price_that_ended_meanwhile(void **state)
{
	struct fix *f = *state;
	struct conf *c = unpriced();
	int64_t seq = 0, wall;

	loaded(f, unpriced());
	wall = engine_wall(f->e, engine_now(f->e));
	add_rate(c, "r", 8, wall - 9 * HOUR, wall + HOUR);
	loaded(f, c);
	check_facts(f, &seq, "contract t/r/ 8 9h ago; ");
	c = unpriced();
	add_rate(c, "r", 8, wall - 9 * HOUR, wall - 3 * HOUR); /* it has become known since */
	add_rate(c, "r", 7, wall + 50 * HOUR, wall + 60 * HOUR);
	loaded(f, c);
	check_facts(f, &seq, "contract t/r/ -1 3h ago; ");
	assert_int_equal(book_part.next_ms(f->e), engine_from_wall(f->e, wall + 50 * HOUR));
	loaded(f, unpriced());
	check_facts(f, &seq, "");
}

/* --- what an instance cost ---------------------------------------------------------------------
 */

static void know(struct fix *f, const char *region, const char *zone, int64_t nano_h, int64_t ago_h)
{
	struct price p = {.provider = "cloud",
			  .region = region,
			  .zone = zone,
			  .type = "t",
			  .market = PROVIDER_SPOT,
			  .source = PRICE_HISTORY,
			  .currency = "EUR",
			  .nano_h = nano_h,
			  .valid_from_ms = engine_now(f->e) - ago_h * HOUR,
			  .observed_ms = engine_now(f->e)};

	prices_past(&f->e->cloud->prices, &p);
}

static void adopt(struct fix *f, int64_t ago_h, const char *zone, bool known, const char *offer,
		  int64_t rate)
{
	struct provider_instance in = {.created_ms =
					       ago_h != 0 ? engine_now(f->e) - ago_h * HOUR : 0};
	struct node n;

	(void)snprintf(in.zone, sizeof(in.zone), "%s", zone);
	node_init(&n, "c1", 1, engine_now(f->e));
	assert_int_equal(place_adopt(&f->e->cloud->all[0], &n, &in), known);
	assert_string_equal(n.offer, offer);
	assert_string_equal(n.provider, "cloud");
	assert_int_equal(n.rate_nano_h, rate);
}

/* The price that it had, not the dearest of today. */
static void test_an_adopted_instance_has_the_price_of_its_time(void **state)
{
	struct fix *f = *state;
	const struct provider_quote q[] = {quote_of("t", "r", "a", 50),
					   quote_of("t", "r2", "", 60)};

	loaded(f, unpriced());
	know(f, "r", "a", 5, 10);
	know(f, "r", "a", 7, 4);
	know(f, "r", "b", 6, 6);
	know(f, "r2", "", 3, 10);
	know(f, "r2", "", 9, 2);
	send(f, q, 2);
	adopt(f, 9, "", true, "here", 5);
	adopt(f, 5, "", true, "here", 6); /* in zone b, perhaps */
	adopt(f, 5, "a", true, "here", 5);
	adopt(f, 3, "", true, "here", 7);
	adopt(f, 1, "", true, "there", 9);    /* dearer then */
	adopt(f, 0, "", true, "there", 60);   /* nobody says when */
	adopt(f, 11, "", false, "there", 60); /* older than what is known */
}

/* What the list says of it decides which offer it was. */
static void test_an_adopted_instance_is_what_the_list_says(void **state)
{
	static const struct {
		const char *type, *zone, *offer;
		bool says, spot;
		int64_t rate; /* 0: not known */
	} rows[] = {
		{"", "", "there", false, false, 9},  {"t", "", "there", true, false, 9},
		{"t", "", "here", true, true, 5},    {"u", "", "there", false, false, 0},
		{"", "z", "here", false, false, 5}, /* "there" is in zone y */
		{"", "y", "there", false, false, 9},
	};
	struct fix *f = *state;
	struct conf *c = two_offers(false);

	c->pools[0].offers[0].price_nano_h = 5;
	c->pools[0].offers[1].price_nano_h = 9;
	c->pools[0].offers[1].market = PROVIDER_ON_DEMAND;
	free(c->pools[0].offers[1].zone);
	c->pools[0].offers[1].zone = mem_strdup("y");
	loaded(f, c);
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct provider_instance in = {.says_market = rows[i].says, .spot = rows[i].spot};
		struct node n;

		(void)snprintf(in.type, sizeof(in.type), "%s", rows[i].type);
		(void)snprintf(in.zone, sizeof(in.zone), "%s", rows[i].zone);
		node_init(&n, "c1", 1, engine_now(f->e));
		assert_int_equal(place_adopt(&f->e->cloud->all[0], &n, &in), rows[i].rate != 0);
		assert_string_equal(n.offer, rows[i].offer);
		assert_int_equal(n.rate_nano_h, rows[i].rate != 0 ? rows[i].rate : 9);
	}
}

/* By what was agreed on then, else by what was configured then, else as it is configured now. */
static void test_an_adopted_instance_by_what_an_admin_said(void **state)
{
	struct fix *f = *state;
	struct conf *c = unpriced();
	int64_t wall;

	loaded(f, unpriced());
	wall = engine_wall(f->e, engine_now(f->e));
	add_rate(c, "r", 70, wall - 3 * HOUR, wall - 2 * HOUR);
	c->pools[0].offers[0].price_nano_h = 40;
	loaded(f, c);
	know(f, "r", "a", 50, 10);
	adopt(f, 1, "", true, "here", 40);
	adopt(f, 2, "", true, "here", 40);
	adopt(f, 3, "", true, "here", 70);
	adopt(f, 4, "", true, "here", 40);
	f->e->conf->pools[0].offers[0].price_nano_h = 0;
	adopt(f, 4, "", true, "here", 50);
}

/* It is coming, and an adopted row cannot be priced anew. */
static void test_nothing_is_adopted_before_the_past_is_known(void **state)
{
	struct fix *f = *state;
	struct cloud *c;

	loaded(f, two_offers(false));
	c = &f->e->cloud->all[0];
	assert_true(place_priced(c, 0));
	c->past_due = true;
	assert_false(place_priced(c, 0));
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
	const struct CMUnitTest tests[] = {
		T(test_quotes_of_what_may_be_bought),
		T(test_what_no_pool_buys_any_more_is_not_withdrawn),
		T(test_a_reload_while_quotes_are_asked_for),
		T(test_one_price_for_all),
		T(test_many_changes_take_several_turns),
		T(test_the_past_comes_first),
		T(test_since_when_the_past_is_asked_for),
		T(test_configured_prices),
		T(test_the_order_of_prices),
		T(test_a_price_comes_and_goes_at_its_day),
		T(test_a_price_that_ended_meanwhile),
		T(test_an_adopted_instance_has_the_price_of_its_time),
		T(test_an_adopted_instance_is_what_the_list_says),
		T(test_an_adopted_instance_by_what_an_admin_said),
		T(test_nothing_is_adopted_before_the_past_is_known),
	};
#undef T

	return cmocka_run_group_tests_name("book", tests, NULL, NULL);
}
