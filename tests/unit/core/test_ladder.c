/* test_ladder.c - which offers a job may have, in what order, and why not the others. */
#include "ladder_ask.h"

/* --- a ladder of five --------------------------------------------------------------------------
 */

struct row {
	const char *name;
	struct {
		int rung; /* -1: an option of the pool */
		const char *option, *text;
	} set[4];
	struct ladder_job job; /* since_ms: as a difference to now */
	struct ladder_wish wish;
	uint32_t nodes, spot;
	struct {
		int rung;
		int64_t price; /* 0: as ever */
		struct cooldown_view cool;
		bool wrong, dry;
		const char *off;
		bool away;
		const char *keyless;
	} known[3];
	const char *want, *why;
	int64_t next; /* minutes from now */
	bool waits;
};

#define POOL(option, text)                                                                         \
	{                                                                                          \
		-1, option, text                                                                   \
	}
#define COOL(state, in)                                                                            \
	{                                                                                          \
		COOLDOWN_##state, (in) > 0 ? INT64_C(1767362400000) + (in)*MINUTE : 0              \
	}

enum { NO_PRICE = -1000, NOT_THERE = -1 };

static const char *const five_countries[] = {"FR", "GB", "DE", "AT", "CH", NULL};

static const struct row rows[] = {
	{.name = "all, as written", .want = "res spot far od us", .why = ""},
	{.name = "all, cheapest first: what is paid already, then by price, then as written",
	 .set = {POOL("policy", "cheapest")},
	 .want = "res spot far us od",
	 .why = ""},
	{.name = "a price in the file counts, not the provider's",
	 .set = {POOL("policy", "cheapest"), {OD, "price", "1"}},
	 .want = "res od spot far us",
	 .why = ""},
	{.name = "EU only: not the US, nor where nobody knows",
	 .set = {POOL("jurisdictions", "EU")},
	 .want = "res spot od",
	 .why = "far: EU only: nowhere-1 is in an unknown country; us: EU only: us-east-1 "
		"is "
		"outside"},
	{.name = "an admin may say where it is",
	 .set = {POOL("jurisdictions", "EU"), {FAR, "jurisdiction", "DE"}},
	 .want = "res spot far od",
	 .why = "us: EU only: us-east-1 is outside"},
	{.name = "which goes before the table",
	 .set = {POOL("jurisdictions", "EU"), {OD, "jurisdiction", "GB"}},
	 .want = "res spot",
	 .why = "far: EU only: nowhere-1 is in an unknown country; od: EU only: eu-west-1 "
		"is "
		"outside; us: EU only: us-east-1 is outside"},
	{.name = "several countries",
	 .set = {POOL("jurisdictions", "IE"), POOL("jurisdictions", "US")},
	 .want = "od us",
	 .why = "res, spot: IE, US only: eu-north-1 is outside; far: IE, "
		"US only: nowhere-1 is in an unknown country"},
	{.name = "the job's list, too",
	 .wish = {.jurisdictions = only_eu},
	 .want = "res spot od",
	 .why = "far: EU only: nowhere-1 is in an unknown country; us: EU only: us-east-1 "
		"is "
		"outside"},
	{.name = "both lists must allow it",
	 .set = {POOL("jurisdictions", "US"), POOL("jurisdictions", "IE")},
	 .wish = {.jurisdictions = only_eu},
	 .want = "od",
	 .why = "res, spot: US, IE only: eu-north-1 is outside; far: "
		"US, "
		"IE only: nowhere-1 is in an unknown country; us: EU only: us-east-1 is "
		"outside"},
	{.name = "the job wants spot",
	 .wish = {.constraint = "h100&spot"},
	 .want = "spot far",
	 .why = "res, od, us: the job wants h100&spot"},
	{.name = "the job wants a provider",
	 .wish = {.constraint = "lambda"},
	 .want = "far",
	 .why = "res, spot, od, us: the job wants lambda"},
	{.name = "a constraint about something else",
	 .wish = {.constraint = "h100*2&gpu"},
	 .want = "res spot far od us",
	 .why = ""},
	{.name = "too dear for its offer",
	 .set = {{OD, "max_price", "3.99"}},
	 .want = "res spot far us",
	 .why = "od: 4.00 above max_price 3.99"},
	{.name = "just not too dear",
	 .set = {{OD, "max_price", "4"}},
	 .want = "res spot far od us",
	 .why = ""},
	{.name = "too dear for the pool",
	 .set = {POOL("max_price", "3")},
	 .want = "spot far us",
	 .why = "res: 5.00 above max_price 3.00; od: 4.00 above max_price 3.00"},
	{.name = "the lower limit counts, the pool's",
	 .set = {POOL("max_price", "3"), {OD, "max_price", "9"}, {RES, "max_price", "5"}},
	 .want = "spot far us",
	 .why = "res: 5.00 above max_price 3.00; od: 4.00 above max_price 3.00"},
	{.name = "the lower limit counts, the offer's",
	 .set = {POOL("max_price", "9"), {OD, "max_price", "3"}},
	 .want = "res spot far us",
	 .why = "od: 4.00 above max_price 3.00"},
	{.name = "a provider that is off, though its price is not known either",
	 .known = {{.rung = SPOT, .price = NO_PRICE, .off = "no key"}},
	 .want = "res far od us",
	 .why = "spot: provider aws is off: no key"},
	{.name = "a provider whose machines would boot for nothing, likewise",
	 .known = {{.rung = SPOT, .price = NO_PRICE, .keyless = "8: Address already in use"}},
	 .want = "res far od us",
	 .why = "spot: aws: its machines would get no keys: 8: Address already in use"},
	{.name = "a price that is not known yet",
	 .known = {{SPOT, NO_PRICE, {0}}},
	 .want = "res far od us",
	 .why = "spot: price not known yet"},
	{.name = "unless the file has it",
	 .set = {{SPOT, "price", "7"}},
	 .known = {{SPOT, NO_PRICE, {0}}},
	 .want = "res spot far od us",
	 .why = ""},
	{.name = "what the provider does not sell",
	 .known = {{SPOT, NOT_THERE, {0}}},
	 .want = "res far od us",
	 .why = "spot: aws does not offer p5 in eu-north-1"},
	{.name = "what the provider tells no price of",
	 .known = {{SPOT, LADDER_UNPRICED, {0}}},
	 .want = "res far od us",
	 .why = "spot: aws quotes no price for it, and none is configured"},
	{.name = "what cools down is left out",
	 .known = {{SPOT, 0, COOL(CAPACITY, 5)},
		   {OD, 0, COOL(QUOTA, 90)},
		   {US, 0, COOL(DENIED, 7)}},
	 .want = "res far",
	 .why = "spot (p5 in spot): no capacity: cools down until 2026-01-02T14:05:00Z; od: the "
		"quota of the account is used up: not tried until 2026-01-02T15:30:00Z; us: access "
		"denied: not tried until "
		"2026-01-02T14:07:00Z",
	 .next = 5},
	{.name = "away: left out before its price is asked about; what denies us says more",
	 .known = {{.rung = SPOT, .price = NO_PRICE, .away = true},
		   {.rung = US, .price = NO_PRICE, .cool = COOL(DENIED, 7), .away = true}},
	 .want = "res far od",
	 .why = "spot: aws is unreachable since 2026-01-02T14:00:00Z; burstd retries; "
		"us: access denied: not tried until 2026-01-02T14:07:00Z",
	 .next = 7},
	{.name = "off with no end in sight",
	 .known = {{US, 0, COOL(DENIED, 0)}},
	 .want = "res spot far od",
	 .why = "us: access denied: not tried until a call to aws succeeds"},
	{.name = "half-open: in its place",
	 .known = {{SPOT, 0, COOL(HALF, 0)}},
	 .want = "res spot far od us",
	 .why = ""},
	{.name = "of two that are half-open the first in order",
	 .set = {POOL("policy", "cheapest")},
	 .known = {{OD, 0, COOL(HALF, 0)}, {US, 0, COOL(HALF, 0)}},
	 .want = "res spot far us",
	 .why = "od: cooled down, and another offer is tried first"},
	{.name = "one that is being tried",
	 .known = {{SPOT, 0, COOL(PROBING, 0)}, {OD, 0, COOL(HALF, 0)}},
	 .want = "res far od us",
	 .why = "spot: one purchase is tried first"},
	{.name = "what refused a moment ago",
	 .job = {.tried = 1U << RES | 1U << FAR},
	 .want = "spot od us",
	 .why = "res, far: was tried a moment ago"},
	{.name = "no spot at all",
	 .set = {POOL("spot_share", "0")},
	 .nodes = 10,
	 .want = "res od us",
	 .why = "spot, far: spot_share 0: 0 of 10 nodes are spot"},
	{.name = "half of it spot, with these",
	 .set = {POOL("spot_share", "50")},
	 .nodes = 6,
	 .spot = 2,
	 .job = {.nodes = 2},
	 .want = "res spot far od us",
	 .why = ""},
	{.name = "more than half",
	 .set = {POOL("spot_share", "50")},
	 .nodes = 6,
	 .spot = 2,
	 .job = {.nodes = 3},
	 .want = "res od us",
	 .why = "spot, far: spot_share 50: 2 of 6 nodes are spot"},
	{.name = "the first node of a pool is not half a node",
	 .set = {POOL("spot_share", "99")},
	 .want = "res od us",
	 .why = "spot, far: spot_share 99: 0 of 0 nodes are spot"},
	{.name = "spot first, for a while",
	 .set = {POOL("fallback_after", "10m")},
	 .job = {.since_ms = -5 * MINUTE, .refusals = 9},
	 .want = "res spot far",
	 .why = "od, us: spot only until 2026-01-02T14:05:00Z",
	 .next = 5},
	{.name = "then on-demand",
	 .set = {POOL("fallback_after", "5m")},
	 .job = {.since_ms = -5 * MINUTE},
	 .want = "res spot far od us",
	 .why = ""},
	{.name = "spot first, for so many refusals",
	 .set = {POOL("fallback_refusals", "3")},
	 .job = {.refusals = 2, .since_ms = -1000 * MINUTE},
	 .want = "res spot far",
	 .why = "od, us: spot only for 1 more refusal"},
	{.name = "that were",
	 .set = {POOL("fallback_refusals", "3")},
	 .job = {.refusals = 3},
	 .want = "res spot far od us",
	 .why = ""},
	{.name = "what comes first of both",
	 .set = {POOL("fallback_refusals", "3"), POOL("fallback_after", "10m")},
	 .job = {.refusals = 1},
	 .want = "res spot far",
	 .why = "od, us: spot only until 2026-01-02T14:10:00Z or for 2 more refusals",
	 .next = 10},
	{.name = "the refusals did",
	 .set = {POOL("fallback_refusals", "3"), POOL("fallback_after", "10m")},
	 .job = {.refusals = 4},
	 .want = "res spot far od us",
	 .why = ""},
	{.name = "the time did",
	 .set = {POOL("fallback_refusals", "3"), POOL("fallback_after", "10m")},
	 .job = {.since_ms = -10 * MINUTE},
	 .want = "res spot far od us",
	 .why = ""},
	{.name = "it began to wait tomorrow (F57): it waits from now on",
	 .set = {POOL("fallback_after", "10m")},
	 .job = {.since_ms = 1440 * MINUTE},
	 .want = "res spot far",
	 .why = "od, us: spot only until 2026-01-02T14:10:00Z",
	 .next = 10},
	{.name = "it waits for spot whose price will show",
	 .set = {POOL("fallback_refusals", "1")},
	 .known = {{SPOT, NO_PRICE, {0}}, {FAR, NOT_THERE, {0}}},
	 .want = "res",
	 .why = "spot: price not known yet; far: lambda does not offer p5 in nowhere-1; od, us: "
		"spot only for 1 more refusal"},
	{.name = "a job that wants on-demand does not wait for spot",
	 .set = {POOL("fallback_after", "10m")},
	 .wish = {.constraint = "ondemand"},
	 .want = "od us",
	 .why = "res, spot, far: the job wants ondemand"},
	{.name = "nor one whose spot lies elsewhere",
	 .set = {POOL("fallback_after", "10m"), POOL("jurisdictions", "US")},
	 .want = "us",
	 .why = "res, spot: US only: eu-north-1 is outside; far: US only: nowhere-1 is in an "
		"unknown "
		"country; od: US only: eu-west-1 is outside"},
	{.name = "nor in a pool that may have none",
	 .set = {POOL("fallback_after", "10m"), POOL("spot_share", "0")},
	 .nodes = 1,
	 .want = "res od us",
	 .why = "spot, far: spot_share 0: 0 of 1 nodes are spot"},
	{.name = "it waits for spot that cools down: until one of both",
	 .set = {POOL("fallback_after", "10m"), POOL("jurisdictions", "EU")},
	 .known = {{SPOT, 0, COOL(CAPACITY, 3)}, {RES, 0, COOL(CAPACITY, 4)}},
	 .want = "",
	 .why = "res (p5 in res): no capacity: cools down until 2026-01-02T14:04:00Z; spot (p5 in "
		"spot): no capacity: cools "
		"down until 2026-01-02T14:03:00Z; far: EU only: nowhere-1 is in an unknown "
		"country; od: spot only until 2026-01-02T14:10:00Z; us: EU only: us-east-1 is "
		"outside",
	 .next = 3},
	{.name = "no fallback leaves the EU",
	 .set = {POOL("fallback_refusals", "1"), POOL("jurisdictions", "EU")},
	 .job = {.refusals = 99, .since_ms = -99999 * (int64_t)MINUTE},
	 .known = {{RES, 0, COOL(CAPACITY, 3)},
		   {SPOT, 0, COOL(CAPACITY, 3)},
		   {OD, 0, COOL(CAPACITY, 3)}},
	 .want = "",
	 .why = "res (p5 in res), spot (p5 in spot), od (p5 in od): no capacity: cools down until "
		"2026-01-02T14:03:00Z; far: EU only: "
		"nowhere-1 is in an unknown country; us: EU only: us-east-1 is outside",
	 .next = 3},
	{.name = "nothing left but a price that will show: it waits",
	 .set = {POOL("jurisdictions", "IE")},
	 .known = {{OD, NO_PRICE, {0}}},
	 .want = "",
	 .why = "res, spot: IE only: eu-north-1 is outside; far: IE only: nowhere-1 is in an "
		"unknown "
		"country; od: price not known yet; us: IE only: us-east-1 is outside",
	 .waits = true},
	{.name = "more countries than people read",
	 .set = {POOL("jurisdictions", "US"), POOL("jurisdictions", "IE"),
		 POOL("jurisdictions", "SE"), POOL("jurisdictions", "NO")},
	 .wish = {.jurisdictions = five_countries},
	 .want = "",
	 .why = "res, spot: FR, GB, DE, AT, ... only: eu-north-1 is outside; far: US, IE, SE, NO "
		"only: "
		"nowhere-1 is in an unknown country; od: FR, GB, DE, AT, ... only: "
		"eu-west-1 is outside; us: FR, GB, DE, AT, ... only: us-east-1 is outside"},
	{.name = "a job that may be bought nowhere",
	 .wish = {.jurisdictions = five_countries + 5, .constraint = "reserved"},
	 .want = "",
	 .why = "res, spot: no jurisdiction is allowed: eu-north-1 is excluded; far: no "
		"jurisdiction is allowed: nowhere-1 is excluded; od: no jurisdiction is allowed: "
		"eu-west-1 is excluded; us: no jurisdiction is allowed: us-east-1 is excluded"},
	{.name = "the first alone cools down",
	 .known = {{RES, 0, COOL(CAPACITY, 8)}},
	 .want = "spot far od us",
	 .why = "res (p5 in res): no capacity: cools down until 2026-01-02T14:08:00Z",
	 .next = 8},
	{.name = "the first alone has no price",
	 .wish = {.constraint = "reserved"},
	 .known = {{RES, NO_PRICE, {0}}},
	 .want = "",
	 .why = "res: price not known yet; spot, far, od, us: the job wants reserved",
	 .waits = true},
	{.name = "too dear, and tried a moment ago",
	 .set = {{OD, "max_price", "1"}},
	 .job = {.tried = 1U << OD},
	 .want = "res spot far us",
	 .why = "od: 4.00 above max_price 1.00"},
	{.name = "cools down, and too much would be spot",
	 .set = {POOL("spot_share", "50")},
	 .nodes = 2,
	 .spot = 1,
	 .job = {.tried = 1U << FAR},
	 .known = {{SPOT, 0, COOL(CAPACITY, 3)}},
	 .want = "res od us",
	 .why = "spot (p5 in spot): no capacity: cools down until 2026-01-02T14:03:00Z; far: was "
		"tried a moment "
		"ago",
	 .next = 3},
	{.name = "purchases fail at one place, and another has no capacity",
	 .known = {{SPOT, 0, COOL(FAILING, 3)}, {FAR, 0, COOL(CAPACITY, 4)}},
	 .want = "res od us",
	 .why = "spot (p5 in spot): purchases fail there: not tried until 2026-01-02T14:03:00Z; "
		"far "
		"(p5 in far): no capacity: cools down until 2026-01-02T14:04:00Z",
	 .next = 3},
	{.name = "a job of no nodes is one of one",
	 .set = {POOL("spot_share", "50")},
	 .nodes = 3,
	 .spot = 1,
	 .want = "res spot far od us",
	 .why = ""},
	{.name = "one refusal is enough",
	 .set = {POOL("fallback_refusals", "1")},
	 .want = "res spot far",
	 .why = "od, us: spot only for 1 more refusal"},
	{.name = "a machine came up wrong: behind the others, and nothing is left out",
	 .known = {{RES, .wrong = true}, {FAR, .wrong = true}},
	 .want = "spot od us res far",
	 .why = ""},
	{.name = "... be it the cheapest, or what is paid already",
	 .set = {POOL("policy", "cheapest")},
	 .known = {{SPOT, .wrong = true}, {RES, .wrong = true}},
	 .want = "far us od res spot",
	 .why = ""},
	{.name = "the provider has none of it now, it says: likewise",
	 .known = {{OD, .dry = true}, {RES, .wrong = true}},
	 .want = "spot far us res od",
	 .why = ""},
	{.name = "what lasts is said first",
	 .set = {POOL("jurisdictions", "EU"), {OD, "max_price", "1"}},
	 .wish = {.constraint = "ondemand"},
	 .known = {{US, NO_PRICE, COOL(CAPACITY, 3)},
		   {OD, 0, COOL(CAPACITY, 3)},
		   {.rung = FAR, .off = "no key"}},
	 .want = "",
	 .why = "res, spot: the job wants ondemand; far: EU only: nowhere-1 is in an unknown "
		"country; od: 4.00 above max_price 1.00; us: EU only: us-east-1 is outside"},
};

static void apply(const struct row *r, struct conf *c, struct ladder_known *known)
{
	static const int64_t prices[NRUNGS] = {5, 2, 2, 4, 3};

	for (size_t i = 0; i < COUNT(r->set) && r->set[i].option != NULL; i++) {
		if (r->set[i].rung < 0)
			set("pool", r->set[i].option, c->pools, r->set[i].text);
		else
			set("offer", r->set[i].option, &c->pools->offers[r->set[i].rung],
			    r->set[i].text);
	}
	finish(c);
	for (size_t i = 0; i < NRUNGS; i++)
		known[i] = (struct ladder_known){.price = prices[i] * FMT_NANO};
	for (size_t i = 0; i < COUNT(r->known); i++) {
		struct ladder_known *k = &known[r->known[i].rung];

		if (r->known[i].price != 0)
			k->price = r->known[i].price == NO_PRICE ? 0 : r->known[i].price;
		if (r->known[i].cool.state != COOLDOWN_READY)
			k->cool = r->known[i].cool;
		if (r->known[i].wrong)
			k->wrong_until_ms = now + 1;
		k->dry = r->known[i].dry;
		if (r->known[i].off != NULL)
			k->off = r->known[i].off;
		k->keyless = r->known[i].keyless;
		if (r->known[i].away)
			k->away_ms = INT64_C(1767362400000);
	}
}

static void test_the_order_and_why_not_the_others(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct conf *c = five();
		struct ladder_known known[NRUNGS];
		struct ladder_ask a = {.conf = c,
				       .pool = c->pools,
				       .known = known,
				       .nodes = rows[i].nodes,
				       .spot = rows[i].spot,
				       .job = rows[i].job,
				       .now_ms = now};
		char order[100] = "", why[1000] = "of another job";
		struct ladder l;
		size_t len = 0;

		print_message("# %s\n", rows[i].name);
		apply(&rows[i], c, known);
		a.job.since_ms += now;
		a.job.wishes = &rows[i].wish;
		a.job.nwishes = 1;
		ladder_make(&l, &a);
		for (size_t k = 0; k < l.n; k++)
			len += (size_t)snprintf(order + len, sizeof(order) - len, "%s%s",
						k > 0 ? " " : "",
						c->pools->offers[l.order[k]].name);
		ladder_why(&l, &a, why, sizeof(why));
		assert_string_equal(order, rows[i].want);
		assert_string_equal(why, rows[i].why);
		assert_int_equal(l.next_ms, rows[i].next == 0 ? 0 : now + rows[i].next * MINUTE);
		assert_int_equal(l.waits, rows[i].waits);
		assert_int_equal(l.fallback_ms != 0,
				 l.n == 0 && strstr(why, "spot only until") != NULL);
		conf_free(c);
	}
}

static void test_a_pool_without_offers_is_a_ladder_of_one(void **state)
{
	struct conf *c = empty_conf();
	struct ladder_known known = {.price = 7};
	struct ladder_ask a = {.conf = c, .pool = c->pools, .known = &known, .now_ms = now};
	struct ladder_wish wishes[2] = {{.constraint = "h100"}, {.constraint = "ondemand"}};
	struct ladder l;
	char why[100];

	(void)state;
	set("pool", "provider", c->pools, "aws");
	set("pool", "type", c->pools, "p5");
	set("pool", "region", c->pools, "eu-west-2");
	set("pool", "market", c->pools, "spot");
	finish(c);
	ladder_make(&l, &a);
	assert_int_equal(l.nrungs, 1);
	assert_int_equal(l.n, 1);
	assert_int_equal(l.order[0], 0);
	assert_int_equal(ladder_price(&a, 0), 7);
	known.agreed = 9; /* wins over what is quoted, and over what is configured */
	assert_int_equal(ladder_price(&a, 0), 9);
	c->pools[0].own.price_nano_h = 8;
	assert_int_equal(ladder_price(&a, 0), 9);
	known.agreed = 0;
	assert_int_equal(ladder_price(&a, 0), 8);
	c->pools[0].own.price_nano_h = 0;
	a.job.wishes = wishes;
	a.job.nwishes = 2; /* of two jobs that share its nodes, or of one that said so twice */
	ladder_make(&l, &a);
	assert_int_equal(l.n, 0);
	ladder_why(&l, &a, why, sizeof(why));
	assert_string_equal(why, "the job wants ondemand");
	wishes[1] = (struct ladder_wish){.max_price_nano_h = 6};
	ladder_make(&l, &a);
	ladder_why(&l, &a, why, sizeof(why));
	assert_string_equal(why, "0.000000007 above max_price 0.000000006");
	wishes[1] = (struct ladder_wish){.jurisdictions = only_eu};
	ladder_make(&l, &a);
	ladder_why(&l, &a, why, sizeof(why));
	assert_string_equal(why, "EU only: eu-west-2 is outside");
	a.job.nwishes = 1;
	ladder_make(&l, &a);
	assert_int_equal(l.n, 1);
	set("pool", "jurisdictions", c->pools, "EU");
	ladder_make(&l, &a);
	ladder_why(&l, &a, why, sizeof(why));
	assert_string_equal(why, "EU only: eu-west-2 is outside");
	conf_free(c);
}

/* The jurisdiction of its offer is not given at all, and the first is the spot it waits for. */
static void test_spot_may_be_the_first_rung(void **state)
{
	struct conf *c = empty_conf();
	struct ladder_known known[2] = {{.price = 1}, {.price = 2}};
	struct ladder_ask a = {.conf = c, .pool = c->pools, .known = known, .now_ms = now};
	struct ladder l;

	(void)state;
	(void)add_offer(c->pools, "spot", "aws", "eu-north-1", "spot");
	(void)add_offer(c->pools, "od", "aws", "eu-north-1", "on-demand");
	for (int i = 0; i < 2; i++)
		conf_option_fini(conf_option_find("offer", "jurisdiction"), &c->pools->offers[i]);
	set("pool", "fallback_refusals", c->pools, "1");
	set("pool", "jurisdictions", c->pools, "SE");
	finish(c);
	ladder_make(&l, &a);
	assert_int_equal(l.n, 1);
	assert_int_equal(l.order[0], 0);
	assert_int_equal(l.cause[1], LADDER_SPOT_FIRST);
	conf_free(c);
}

/* What the pool may never have is no price that a limit must fit: it would be called good, and
 * never buy. */
static void test_the_cheapest_node_that_the_pool_may_have(void **state)
{
	struct conf *c = five();
	struct conf_pool *p = c->pools;
	struct ladder_known known[NRUNGS] = {
		{.price = 50}, {.price = 5}, {.price = 3}, {.price = 29}, {.price = 1}};
	char *eu[] = {(char *)(uintptr_t) "EU", NULL};

	(void)state;
	finish(c);
	assert_int_equal(ladder_cheapest(c, p, known), 1);
	p->jurisdictions = eu;
	assert_int_equal(ladder_cheapest(c, p, known), 5); /* nor where nobody knows the country */
	p->spot_share = 0;
	assert_int_equal(ladder_cheapest(c, p, known), 29);
	p->offers[OD].price_nano_h = 60; /* the file's word counts */
	assert_int_equal(ladder_cheapest(c, p, known), 50);
	known[RES].price = -1;
	assert_int_equal(ladder_cheapest(c, p, known), 60);
	known[RES].price = 0; /* not known yet */
	assert_int_equal(ladder_cheapest(c, p, known), 0);
	known[RES].price = known[OD].price = -1;
	p->offers[OD].price_nano_h = 0;
	assert_int_equal(ladder_cheapest(c, p, known), 0);
	p->jurisdictions = NULL;
	conf_free(c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_the_order_and_why_not_the_others),
		cmocka_unit_test(test_a_pool_without_offers_is_a_ladder_of_one),
		cmocka_unit_test(test_spot_may_be_the_first_rung),
		cmocka_unit_test(test_the_cheapest_node_that_the_pool_may_have),
	};

	return cmocka_run_group_tests_name("ladder", tests, NULL, NULL);
}
