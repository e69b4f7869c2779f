/* test_ladder.c - which offers a job may have, in what order, and why not the others. */
#include "core/ladder.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/fmt.h"
#include "base/mem.h"
#include "core/conf_option.h"
#include "core/constraint.h"
#include "core/jurisdiction.h"

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

static const int64_t now = INT64_C(1767362400000); /* 2026-01-02T14:00:00Z */

enum { MINUTE = 60000 };

static void set(const char *section, const char *name, void *object, const char *text)
{
	const struct conf_option *o = conf_option_find(section, name);
	struct err e = {0};

	if ((conf_option_is_list(o) ? conf_option_add_arg(o, object, text, &e)
				    : conf_option_set(o, object, text, &e)) < 0)
		fail_msg("%s %s: %s", section, name, e.msg);
}

static struct conf *empty_conf(void)
{
	static const char *const providers[] = {"aws", "lambda"};
	struct conf *c = conf_new("test.conf");

	c->providers = mem_zalloc(COUNT(providers) * sizeof(*c->providers));
	c->nproviders = COUNT(providers);
	for (size_t i = 0; i < COUNT(providers); i++) {
		c->providers[i].name = mem_strdup(providers[i]);
		c->providers[i].driver = mem_strdup(providers[i]);
	}
	c->pools = mem_zalloc(sizeof(*c->pools));
	c->npools = 1;
	c->pools[0].name = mem_strdup("p");
	for (size_t i = 0; i < conf_noptions; i++)
		if (strcmp(conf_options[i].section, "pool") == 0 &&
		    conf_options[i].initial != NULL && !conf_option_is_list(&conf_options[i]))
			set("pool", conf_options[i].name, c->pools, conf_options[i].initial);
	set("pool", "nodes", c->pools, "n[1-9]");
	return c;
}

static struct conf_offer *add_offer(struct conf_pool *p, const char *name, const char *provider,
				    const char *region, const char *market)
{
	struct conf_offer *o;

	p->offers = mem_realloc(p->offers, (p->noffers + 1) * sizeof(*o));
	o = &p->offers[p->noffers++];
	*o = (struct conf_offer){.name = mem_strdup(name)};
	set("offer", "provider", o, provider);
	set("offer", "type", o, "p5");
	set("offer", "region", o, region);
	set("offer", "zone", o, name);
	set("offer", "market", o, market);
	set("offer", "jurisdiction", o, "");
	return o;
}

static void finish(struct conf *c)
{
	struct err e = {0};

	if (conf_finish(c, &e) != 0)
		fail_msg("%s", e.msg);
}

/* --- a ladder of five --------------------------------------------------------------------------
 */

enum { RES, SPOT, FAR, OD, US, NRUNGS };

static struct conf *five(void)
{
	struct conf *c = empty_conf();

	(void)add_offer(c->pools, "res", "aws", "eu-north-1", "reserved");
	(void)add_offer(c->pools, "spot", "aws", "eu-north-1", "spot");
	(void)add_offer(c->pools, "far", "lambda", "nowhere-1", "spot");
	(void)add_offer(c->pools, "od", "aws", "eu-west-1", "on-demand");
	(void)add_offer(c->pools, "us", "aws", "us-east-1", "on-demand");
	return c;
}

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
		bool wrong;
		const char *off;
		bool away;
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

static const char *const only_eu[] = {"EU", NULL};
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
	 .why = "far: EU only: nowhere-1 is in nobody knows what country; us: EU only: us-east-1 "
		"is "
		"not"},
	{.name = "an admin may say where it is",
	 .set = {POOL("jurisdictions", "EU"), {FAR, "jurisdiction", "DE"}},
	 .want = "res spot far od",
	 .why = "us: EU only: us-east-1 is not"},
	{.name = "which goes before the table",
	 .set = {POOL("jurisdictions", "EU"), {OD, "jurisdiction", "GB"}},
	 .want = "res spot",
	 .why = "far: EU only: nowhere-1 is in nobody knows what country; od: EU only: eu-west-1 "
		"is "
		"not; us: EU only: us-east-1 is not"},
	{.name = "several countries",
	 .set = {POOL("jurisdictions", "IE"), POOL("jurisdictions", "US")},
	 .want = "od us",
	 .why = "res, spot: IE, US only: eu-north-1 is not; far: IE, "
		"US only: nowhere-1 is in nobody knows what country"},
	{.name = "the job's list, too",
	 .wish = {.jurisdictions = only_eu},
	 .want = "res spot od",
	 .why = "far: EU only: nowhere-1 is in nobody knows what country; us: EU only: us-east-1 "
		"is "
		"not"},
	{.name = "both lists must allow it",
	 .set = {POOL("jurisdictions", "US"), POOL("jurisdictions", "IE")},
	 .wish = {.jurisdictions = only_eu},
	 .want = "od",
	 .why = "res, spot: US, IE only: eu-north-1 is not; far: "
		"US, "
		"IE only: nowhere-1 is in nobody knows what country; us: EU only: us-east-1 is "
		"not"},
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
	 .why = "spot: aws tells no price of it, and none is configured"},
	{.name = "what cools down is left out",
	 .known = {{SPOT, 0, COOL(CAPACITY, 5)},
		   {OD, 0, COOL(QUOTA, 90)},
		   {US, 0, COOL(DENIED, 7)}},
	 .want = "res far",
	 .why = "spot (p5 in spot): no capacity: cools down until 2026-01-02T14:05:00Z; od: the "
		"quota of the "
		"account "
		"is "
		"used up: not tried until 2026-01-02T15:30:00Z; us: denied by the provider: off "
		"until "
		"2026-01-02T14:07:00Z",
	 .next = 5},
	{.name = "away: left out before its price is asked about; what denies us says more",
	 .known = {{.rung = SPOT, .price = NO_PRICE, .away = true},
		   {.rung = US, .price = NO_PRICE, .cool = COOL(DENIED, 7), .away = true}},
	 .want = "res far od",
	 .why = "spot: aws cannot be reached since 2026-01-02T14:00:00Z: asked again by itself; "
		"us: denied by the provider: off until 2026-01-02T14:07:00Z",
	 .next = 7},
	{.name = "off with no end in sight",
	 .known = {{US, 0, COOL(DENIED, 0)}},
	 .want = "res spot far od",
	 .why = "us: denied by the provider: off until a call to aws succeeds"},
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
	 .why = "spot: cooled down, and one purchase is being tried"},
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
	{.name = "a job that wants on-demand does not wait for spot",
	 .set = {POOL("fallback_after", "10m")},
	 .wish = {.constraint = "ondemand"},
	 .want = "od us",
	 .why = "res, spot, far: the job wants ondemand"},
	{.name = "nor one whose spot lies elsewhere",
	 .set = {POOL("fallback_after", "10m"), POOL("jurisdictions", "US")},
	 .want = "us",
	 .why = "res, spot: US only: eu-north-1 is not; far: US only: nowhere-1 is in nobody knows "
		"what country; od: US only: eu-west-1 is not"},
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
		"down until 2026-01-02T14:03:00Z; far: EU only: nowhere-1 is in nobody knows what "
		"country; od: spot only until 2026-01-02T14:10:00Z; us: EU only: us-east-1 is not",
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
		"nowhere-1 is in nobody knows what country; us: EU only: us-east-1 is not",
	 .next = 3},
	{.name = "nothing left but a price that will show: it waits",
	 .set = {POOL("jurisdictions", "IE")},
	 .known = {{OD, NO_PRICE, {0}}},
	 .want = "",
	 .why = "res, spot: IE only: eu-north-1 is not; far: IE only: nowhere-1 is in nobody knows "
		"what country; od: price not known yet; us: IE only: us-east-1 is not",
	 .waits = true},
	{.name = "more countries than people read",
	 .set = {POOL("jurisdictions", "US"), POOL("jurisdictions", "IE"),
		 POOL("jurisdictions", "SE"), POOL("jurisdictions", "NO")},
	 .wish = {.jurisdictions = five_countries},
	 .want = "",
	 .why = "res, spot: FR, GB, DE, AT, ... only: eu-north-1 is not; far: US, IE, SE, NO only: "
		"nowhere-1 is in nobody knows what country; od: FR, GB, DE, AT, ... only: "
		"eu-west-1 is not; us: FR, GB, DE, AT, ... only: us-east-1 is not"},
	{.name = "a job that may be bought nowhere",
	 .wish = {.jurisdictions = five_countries + 5, .constraint = "reserved"},
	 .want = "",
	 .why = "res, spot: nowhere only: eu-north-1 is not; far: nowhere only: nowhere-1 is in "
		"nobody knows what country; od: nowhere only: eu-west-1 is not; us: nowhere only: "
		"us-east-1 is not"},
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
	{.name = "what lasts is said first",
	 .set = {POOL("jurisdictions", "EU"), {OD, "max_price", "1"}},
	 .wish = {.constraint = "ondemand"},
	 .known = {{US, NO_PRICE, COOL(CAPACITY, 3)}, {OD, 0, COOL(CAPACITY, 3)}},
	 .want = "",
	 .why = "res, spot: the job wants ondemand; far: EU only: nowhere-1 is in nobody knows "
		"what country; od: 4.00 above max_price 1.00; us: EU only: us-east-1 is not"},
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
		if (r->known[i].cool.state != COOLDOWN_OPEN)
			k->cool = r->known[i].cool;
		if (r->known[i].wrong)
			k->wrong_until_ms = now + 1;
		if (r->known[i].off != NULL)
			k->off = r->known[i].off;
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
		char order[100] = "", why[1000];
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

/* F57: our time is not the wall clock's, by which people read. */
static void test_times_are_the_wall_clocks(void **state)
{
	struct conf *c = five();
	struct ladder_known known[NRUNGS] = {{0}};
	struct ladder_ask a = {.conf = c,
			       .pool = c->pools,
			       .known = known,
			       .now_ms = now,
			       .ahead_ms = 60 * MINUTE};
	char why[1000];
	struct ladder l;

	(void)state;
	finish(c);
	for (size_t i = 0; i < NRUNGS; i++)
		known[i].price = FMT_NANO;
	known[SPOT].away_ms = now;
	known[FAR].cool = (struct cooldown_view){COOLDOWN_CAPACITY, now};
	ladder_make(&l, &a);
	ladder_explain(&l, &a, SPOT, why, sizeof(why));
	assert_non_null(strstr(why, " cannot be reached since 2026-01-02T13:00:00Z"));
	ladder_explain(&l, &a, FAR, why, sizeof(why));
	assert_non_null(strstr(why, " until 2026-01-02T13:00:00Z"));
	conf_free(c);
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
	assert_string_equal(why, "EU only: eu-west-2 is not");
	a.job.nwishes = 1;
	ladder_make(&l, &a);
	assert_int_equal(l.n, 1);
	set("pool", "jurisdictions", c->pools, "EU");
	ladder_make(&l, &a);
	ladder_why(&l, &a, why, sizeof(why));
	assert_string_equal(why, "EU only: eu-west-2 is not");
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

static void test_a_text_that_is_too_long_is_cut(void **state)
{
	struct conf *c = five();
	struct ladder_known known[NRUNGS] = {{0}};
	struct ladder_ask a = {.conf = c, .pool = c->pools, .known = known, .now_ms = now};
	struct ladder l;
	char why[40];

	(void)state;
	finish(c);
	ladder_make(&l, &a);
	ladder_why(&l, &a, why, sizeof(why));
	assert_string_equal(why, "res, spot, far, od, us: price not kn...");
	conf_free(c);
}

/* --- whatever the pool -------------------------------------------------------------------------
 */

static uint64_t dice;

static uint32_t throw(uint32_t sides)
{
	dice = dice * UINT64_C(6364136223846793005) + 1442695040888963407U;
	return (uint32_t)(dice >> 33) % sides;
}

static struct conf *any_conf(void)
{
	static const char *const regions[] = {"eu-north-1", "eu-west-2", "us-east-1", "x"};
	static const char *const markets[] = {"reserved", "spot", "on-demand"};
	static const char *const codes[] = {"EU", "US", "GB", "EEA"};
	struct conf *c = empty_conf();
	struct conf_pool *p = c->pools;
	uint32_t n = 1 + throw(CONF_OFFERS_MAX);
	char text[16];

	for (uint32_t i = 0; i < n; i++) {
		struct conf_offer *o;

		(void)snprintf(text, sizeof(text), "o%u", i);
		o = add_offer(p, text, throw(2) ? "aws" : "lambda", regions[throw(4)],
			      markets[throw(3)]);
		o->max_price_nano_h = throw(3) ? 0 : 1 + throw(4);
		o->price_nano_h = throw(4) ? 0 : 1 + throw(4);
		if (throw(5) == 0)
			set("offer", "jurisdiction", o, codes[throw(4)]);
	}
	if (throw(2))
		set("pool", "jurisdictions", p, codes[throw(4)]);
	p->policy = (int) throw(2);
	p->max_price_nano_h = throw(3) ? 0 : 1 + throw(4);
	p->spot_share = throw(2) ? 100 : throw(101);
	p->fallback_refusals = throw(3);
	p->fallback_ms = throw(2) ? 0 : throw(1000);
	finish(c);
	return c;
}

static void any_ask(struct ladder_ask *a, struct ladder_known *known, struct ladder_wish *wishes)
{
	static const char *const words[] = {NULL,   "spot",    "ondemand",     "aws&spot",
					    "h100", "!lambda", "spot|reserved"};

	for (size_t i = 0; i < CONF_OFFERS_MAX; i++) {
		known[i].price = (int64_t) throw(6) - 1;
		known[i].cool.state = (enum cooldown_state)(throw(2) ? 0 : throw(6));
		known[i].cool.until_ms = known[i].cool.state > COOLDOWN_PROBING ? now + 1 : 0;
		known[i].wrong_until_ms = throw(4) ? 0 : now + 1;
		known[i].off = throw(8) ? NULL : "no key";
		known[i].away_ms = throw(8) ? 0 : now - 1;
	}
	a->nodes = throw(20);
	a->spot = throw(a->nodes + 1);
	for (int i = 0; i < 2; i++)
		wishes[i] = (struct ladder_wish){.constraint = words[throw(COUNT(words))],
						 .max_price_nano_h = throw(3) ? 0 : 1 + throw(4),
						 .jurisdictions = throw(4) ? NULL : only_eu};
	a->job = (struct ladder_job){.wishes = wishes,
				     .nwishes = throw(3),
				     .nodes = throw(5),
				     .refusals = throw(4),
				     .since_ms = now - throw(2000) + 500,
				     .tried = throw(3) ? 0 : throw(UINT32_MAX)};
}

static void check_rung(const struct ladder_ask *a, uint32_t i)
{
	const struct conf_offer *o = &a->pool->offers[i];
	const char *where =
		o->jurisdiction[0] != '\0'
			? o->jurisdiction
			: jurisdiction_of(a->conf->providers[o->provider_index].driver, o->region);
	int64_t price = ladder_price(a, i);
	uint64_t more = a->job.nodes > 0 ? a->job.nodes : 1;

	if (a->pool->jurisdictions != NULL)
		assert_true(jurisdiction_within(where, a->pool->jurisdictions[0]));
	for (size_t k = 0; k < a->job.nwishes; k++) {
		const struct ladder_wish *w = &a->job.wishes[k];

		assert_int_not_equal(constraint_ask(w->constraint, a->conf, o), CONSTRAINT_NO);
		assert_true(w->max_price_nano_h == 0 || price <= w->max_price_nano_h);
		assert_true(w->jurisdictions == NULL || jurisdiction_within(where, "EU"));
	}
	assert_true(a->known[i].cool.state <= COOLDOWN_HALF);
	assert_null(a->known[i].off);
	assert_true(price > 0);
	assert_true(o->max_price_nano_h == 0 || price <= o->max_price_nano_h);
	assert_true(a->pool->max_price_nano_h == 0 || price <= a->pool->max_price_nano_h);
	assert_int_equal(a->job.tried >> i & 1, 0);
	if (o->market == PROVIDER_SPOT)
		assert_true((a->spot + more) * 100 <= a->pool->spot_share * (a->nodes + more));
}

static void check_order(const struct ladder_ask *a, uint32_t x, uint32_t y)
{
	const struct conf_offer *ox = &a->pool->offers[x], *oy = &a->pool->offers[y];
	bool rx = ox->market == PROVIDER_RESERVED, ry = oy->market == PROVIDER_RESERVED;
	bool wx = a->known[x].wrong_until_ms != 0, wy = a->known[y].wrong_until_ms != 0;

	assert_true(!wx || wy);
	if (wx != wy)
		return;
	if (a->pool->policy == CONF_ORDERED) {
		assert_true(x < y);
		return;
	}
	assert_true(rx || !ry);
	if (rx != ry)
		return;
	assert_true(ladder_price(a, x) <= ladder_price(a, y));
	assert_true(ladder_price(a, x) < ladder_price(a, y) || x < y); /* equal: as written */
}

static void check_ladder(const struct ladder *l, const struct ladder_ask *a)
{
	bool in[CONF_OFFERS_MAX] = {false};
	unsigned half = 0;

	for (size_t k = 0; k < l->n; k++) {
		uint32_t i = l->order[k];

		assert_false(in[i]);
		in[i] = true;
		check_rung(a, i);
		half += a->known[i].cool.state == COOLDOWN_HALF;
		if (k > 0)
			check_order(a, l->order[k - 1], i);
	}
	assert_true(half <= 1);
	for (size_t i = 0; i < l->nrungs; i++) {
		char why[200];

		ladder_explain(l, a, i, why, sizeof(why));
		assert_int_equal(in[i], l->cause[i] == LADDER_TRY);
		assert_int_equal(in[i], why[0] == '\0');
	}
}

/* The same question once more, with less in the way: nothing that was there goes. */
static void check_fallback(const struct ladder *l, struct ladder_ask *a)
{
	struct ladder later;
	size_t spot_first = 0;

	a->job.refusals = UINT32_MAX;
	a->job.since_ms = 0;
	ladder_make(&later, a);
	check_ladder(&later, a);
	for (size_t i = 0; i < l->nrungs; i++) {
		spot_first += l->cause[i] == LADDER_SPOT_FIRST;
		assert_int_not_equal(later.cause[i], LADDER_SPOT_FIRST);
		if (l->cause[i] < LADDER_SPOT_FIRST && l->cause[i] > LADDER_TRY &&
		    l->cause[i] != LADDER_LATER)
			assert_int_equal(later.cause[i], l->cause[i]);
	}
	if (spot_first == 0)
		assert_memory_equal(l, &later, offsetof(struct ladder, cause));
}

static void test_no_pool_and_no_job_passes_a_limit(void **state)
{
	struct ladder_known known[CONF_OFFERS_MAX];
	size_t tried = 0, held = 0;

	(void)state;
	for (uint64_t seed = 0; seed < 3000; seed++) {
		struct conf *c;

		dice = seed * 77777 + 1;
		c = any_conf();
		for (int i = 0; i < 8; i++) {
			struct ladder_ask a = {
				.conf = c, .pool = c->pools, .known = known, .now_ms = now};
			struct ladder_wish wishes[2];
			struct ladder l, again;

			any_ask(&a, known, wishes);
			ladder_make(&l, &a);
			ladder_make(&again, &a);
			assert_memory_equal(&l, &again, sizeof(l)); /* the same question */
			check_ladder(&l, &a);
			for (size_t k = 0; k < l.nrungs; k++)
				held += l.cause[k] == LADDER_SPOT_FIRST;
			tried += l.n;
			check_fallback(&l, &a);
		}
		conf_free(c);
	}
	assert_true(tried > 10000 && held > 1000); /* the dice meet what is judged */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_the_order_and_why_not_the_others),
		cmocka_unit_test(test_times_are_the_wall_clocks),
		cmocka_unit_test(test_a_pool_without_offers_is_a_ladder_of_one),
		cmocka_unit_test(test_spot_may_be_the_first_rung),
		cmocka_unit_test(test_a_text_that_is_too_long_is_cut),
		cmocka_unit_test(test_no_pool_and_no_job_passes_a_limit),
	};

	return cmocka_run_group_tests_name("ladder", tests, NULL, NULL);
}
