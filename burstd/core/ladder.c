#include "core/ladder.h"

#include <assert.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/fmt.h"
#include "core/constraint.h"
#include "core/jurisdiction.h"

enum { CODES_SHOWN = 4 }; /* countries of a list, in messages */

static const struct conf_offer *rung_of(const struct ladder_ask *a, size_t i)
{
	size_t n;
	const struct conf_offer *rungs = conf_rungs(a->pool, &n);

	assert(i < n);
	return &rungs[i];
}

int64_t ladder_price(const struct ladder_ask *a, size_t rung)
{
	const struct conf_offer *o = rung_of(a, rung);

	if (a->known[rung].agreed != 0)
		return a->known[rung].agreed;
	return o->price_nano_h != 0 ? o->price_nano_h : a->known[rung].price;
}

/* --- causes that last --------------------------------------------------------------------------
 */

/* The country of the offer's machines; NULL: not known. */
static const char *stands_in(const struct ladder_ask *a, const struct conf_offer *o)
{
	if (o->jurisdiction != NULL && o->jurisdiction[0] != '\0')
		return o->jurisdiction;
	return jurisdiction_of(a->conf->providers[o->provider_index].driver, o->region);
}

static bool is_within(const char *place, const char *const *allowed)
{
	if (allowed == NULL)
		return true;
	for (size_t i = 0; allowed[i] != NULL; i++)
		if (jurisdiction_within(place, allowed[i]))
			return true;
	return false;
}

/* The list of jurisdictions that excludes this offer, or NULL. */
static const char *const *outside_of(const struct ladder_ask *a, const struct conf_offer *o)
{
	const char *const *pools = (const char *const *)a->pool->jurisdictions;
	const char *place = stands_in(a, o);

	if (!is_within(place, pools))
		return pools;
	for (size_t i = 0; i < a->job.nwishes; i++)
		if (!is_within(place, a->job.wishes[i].jurisdictions))
			return a->job.wishes[i].jurisdictions;
	return NULL;
}

/* The job's constraint that excludes this offer, or NULL. */
static const char *against(const struct ladder_ask *a, const struct conf_offer *o)
{
	for (size_t i = 0; i < a->job.nwishes; i++)
		if (constraint_ask(a->job.wishes[i].constraint, a->conf, o) == CONSTRAINT_NO)
			return a->job.wishes[i].constraint;
	return NULL;
}

static int64_t lower(int64_t most, int64_t other)
{
	return most == 0 || (other != 0 && other < most) ? other : most;
}

/* 0: any price. */
static int64_t max_price(const struct ladder_ask *a, const struct conf_offer *o)
{
	int64_t most = lower(a->pool->max_price_nano_h, o->max_price_nano_h);

	for (size_t i = 0; i < a->job.nwishes; i++)
		most = lower(most, a->job.wishes[i].max_price_nano_h);
	return most;
}

static bool is_spot(const struct conf_offer *o)
{
	return o->market == PROVIDER_SPOT;
}

/* Why the job can never have this rung, prices apart; LADDER_TRY: it can. */
static enum ladder_cause ruled_out(const struct ladder_ask *a, const struct conf_offer *o)
{
	if (outside_of(a, o) != NULL)
		return LADDER_JURISDICTION;
	if (against(a, o) != NULL)
		return LADDER_CONSTRAINT;
	if (is_spot(o) && a->pool->spot_share == 0)
		return LADDER_SHARE;
	return LADDER_TRY;
}

int64_t ladder_cheapest(const struct conf *c, const struct conf_pool *p,
			const struct ladder_known *known)
{
	const struct ladder_ask a = {.conf = c, .pool = p, .known = known};
	int64_t least = 0;
	size_t n;

	(void)conf_rungs(p, &n);
	for (size_t i = 0; i < n; i++) {
		int64_t price = ladder_price(&a, i);

		if (ruled_out(&a, rung_of(&a, i)) != LADDER_TRY)
			continue;
		if (price == 0)
			return 0;
		if (price > 0 && (least == 0 || price < least))
			least = price;
	}
	return least;
}

/* --- causes that pass --------------------------------------------------------------------------
 */

/* Checked before the price: a provider that is away, or denies us, may never tell its prices. */
static enum ladder_cause of_provider(const struct ladder_ask *a, size_t i)
{
	if (a->known[i].cool.state == COOLDOWN_DENIED)
		return LADDER_DENIED;
	if (a->known[i].away_ms != 0)
		return LADDER_AWAY;
	return a->known[i].keyless != NULL ? LADDER_KEYLESS : LADDER_TRY;
}

static enum ladder_cause of_price(const struct ladder_ask *a, size_t i)
{
	const struct conf_offer *o = rung_of(a, i);
	int64_t price = ladder_price(a, i), most = max_price(a, o);

	if (price < 0)
		return LADDER_NOT_OFFERED;
	if (price == 0)
		return LADDER_NO_PRICE;
	return most > 0 && price > most ? LADDER_DEAR : LADDER_TRY;
}

static enum ladder_cause of_place(const struct ladder_ask *a, size_t i)
{
	switch (a->known[i].cool.state) {
	case COOLDOWN_QUOTA:
		return LADDER_QUOTA;
	case COOLDOWN_FAILING:
		return LADDER_FAILING;
	case COOLDOWN_CAPACITY:
		return LADDER_CAPACITY;
	case COOLDOWN_PROBING:
		return LADDER_PROBING;
	default:
		return LADDER_TRY;
	}
}

/* Would these nodes make the pool exceed its spot_share? */
static bool passes_share(const struct ladder_ask *a, const struct conf_offer *o)
{
	uint64_t more = a->job.nodes > 0 ? a->job.nodes : 1;

	return is_spot(o) &&
	       (a->spot + more) * 100 > a->pool->spot_share * ((uint64_t)a->nodes + more);
}

static int64_t fallback_at(const struct ladder_ask *a)
{
	int64_t since = a->job.since_ms < a->now_ms ? a->job.since_ms : a->now_ms;

	return since + a->pool->fallback_ms;
}

/* Must the job wait for spot?  Not if it may not have spot anyway, nor if only more nodes that are
 * not spot would make room for it within spot_share. */
static bool waits_for_spot(const struct ladder_ask *a)
{
	const struct conf_pool *p = a->pool;
	size_t n;
	const struct conf_offer *rungs = conf_rungs(p, &n);

	if (a->job.none || (p->fallback_refusals == 0 && p->fallback_ms == 0))
		return false;
	if (p->fallback_refusals != 0 && a->job.refusals >= p->fallback_refusals)
		return false;
	if (p->fallback_ms != 0 && a->now_ms >= fallback_at(a))
		return false;
	for (size_t i = 0; i < n; i++)
		if (is_spot(&rungs[i]) && ruled_out(a, &rungs[i]) == LADDER_TRY &&
		    ladder_price(a, i) >= 0 && !passes_share(a, &rungs[i]))
			return true;
	return false;
}

static enum ladder_cause judge(const struct ladder_ask *a, size_t i, bool spot_first)
{
	const struct conf_offer *o = rung_of(a, i);
	enum ladder_cause why = ruled_out(a, o);

	if (why == LADDER_TRY && a->known[i].off != NULL)
		why = LADDER_OFF;
	if (why == LADDER_TRY)
		why = of_provider(a, i);
	if (why == LADDER_TRY)
		why = of_price(a, i);
	if (why == LADDER_TRY)
		why = of_place(a, i); /* more telling than LADDER_TRIED */
	if (why == LADDER_TRY && (a->job.tried & (UINT32_C(1) << i)) != 0)
		why = LADDER_TRIED;
	if (why == LADDER_TRY && passes_share(a, o))
		why = LADDER_SHARE;
	if (why == LADDER_TRY && spot_first && o->market == PROVIDER_ON_DEMAND)
		why = LADDER_SPOT_FIRST;
	return why;
}

/* --- the order ---------------------------------------------------------------------------------
 */

static bool goes_before(const struct ladder_ask *a, uint32_t x, uint32_t y)
{
	bool rx = rung_of(a, x)->market == PROVIDER_RESERVED;
	bool ry = rung_of(a, y)->market == PROVIDER_RESERVED;
	bool wx = ladder_is_last(&a->known[x]), wy = ladder_is_last(&a->known[y]);

	if (wx != wy)
		return wy;
	if (a->pool->policy != CONF_CHEAPEST)
		return false;
	if (rx != ry)
		return rx;
	return ladder_price(a, x) < ladder_price(a, y);
}

/* Insert the rung by goes_before(); equal rungs stay as written. */
static void put(struct ladder *l, const struct ladder_ask *a, uint32_t rung)
{
	size_t at = l->n++;

	for (; at > 0 && goes_before(a, rung, l->order[at - 1]); at--)
		l->order[at] = l->order[at - 1];
	l->order[at] = rung;
}

/* Keep only the first half-open rung: each may cost a refused call. */
static void keep_one_probe(struct ladder *l, const struct ladder_ask *a)
{
	bool had = false;
	size_t n = 0;

	for (size_t k = 0; k < l->n; k++) {
		uint32_t i = l->order[k];
		bool half = a->known[i].cool.state == COOLDOWN_HALF;

		if (half && had)
			l->cause[i] = LADDER_LATER;
		else
			l->order[n++] = i;
		had = had || half;
	}
	l->n = n;
}

/* When a rung that is left out for now may be tried; 0: not known. */
static int64_t opens_at(const struct ladder *l, const struct ladder_ask *a, size_t i)
{
	switch (l->cause[i]) {
	case LADDER_DENIED:
	case LADDER_QUOTA:
	case LADDER_FAILING:
	case LADDER_CAPACITY:
		return a->known[i].cool.until_ms;
	case LADDER_SPOT_FIRST:
		return a->pool->fallback_ms != 0 ? fallback_at(a) : 0;
	default:
		return 0;
	}
}

/* Will a price, or the answer to a probe, soon decide about this rung? */
static bool is_told_soon(const struct ladder *l, const struct ladder_ask *a, size_t i)
{
	return l->cause[i] == LADDER_NO_PRICE ||
	       (l->cause[i] == LADDER_PROBING && a->now_ms < a->known[i].cool.until_ms);
}

bool ladder_is_for_good(const struct ladder *l, const struct ladder_ask *a, size_t rung)
{
	switch (l->cause[rung]) {
	case LADDER_JURISDICTION:
	case LADDER_CONSTRAINT:
	case LADDER_NOT_OFFERED:
	case LADDER_DEAR:
		return true;
	case LADDER_SHARE:
		return a->pool->spot_share == 0;
	default:
		return false;
	}
}

void ladder_make(struct ladder *l, const struct ladder_ask *a)
{
	bool spot_first = waits_for_spot(a);

	*l = (struct ladder){0};
	(void)conf_rungs(a->pool, &l->nrungs);
	assert(l->nrungs <= CONF_OFFERS_MAX);
	for (uint32_t i = 0; i < l->nrungs; i++) {
		l->cause[i] = judge(a, i, spot_first);
		if (l->cause[i] == LADDER_TRY)
			put(l, a, i);
	}
	keep_one_probe(l, a);
	l->lasting = true;
	for (size_t i = 0; i < l->nrungs; i++) {
		int64_t at = opens_at(l, a, i);

		if (at != 0 && (l->next_ms == 0 || at < l->next_ms))
			l->next_ms = at;
		l->lasting = l->lasting && ladder_is_for_good(l, a, i);
		l->waits = l->waits || (l->n == 0 && is_told_soon(l, a, i));
		if (l->n == 0 && l->cause[i] == LADDER_SPOT_FIRST)
			l->fallback_ms = a->pool->fallback_ms != 0 ? fallback_at(a) : 0;
	}
}

/* --- texts for people --------------------------------------------------------------------------
 */

struct text { /* a buffer; excess text is cut */
	char *p;
	size_t size, len;
};

static void say(struct text *t, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

static void say(struct text *t, const char *fmt, ...)
{
	va_list ap;

	if (t->len >= t->size)
		return;
	va_start(ap, fmt);
	t->len += (size_t)vsnprintf(t->p + t->len, t->size - t->len, fmt, ap);
	va_end(ap);
}

static void say_jurisdiction(const struct ladder_ask *a, const struct conf_offer *o, struct text *t)
{
	const char *const *list = outside_of(a, o);
	size_t i = 0;

	assert(list != NULL);
	if (list[0] == NULL) {
		say(t, "no jurisdiction is allowed: %.30s is excluded", o->region);
		return;
	}
	for (; i < CODES_SHOWN && list[i] != NULL; i++)
		say(t, "%s%.8s", i != 0 ? ", " : "", list[i]);
	say(t, "%s only: %.30s is %s", list[i] != NULL ? ", ..." : "", o->region,
	    stands_in(a, o) != NULL ? "outside" : "in an unknown country");
}

static void say_spot_first(const struct ladder_ask *a, struct text *t)
{
	const struct conf_pool *p = a->pool;
	uint32_t left = p->fallback_refusals - a->job.refusals; /* > 0, or not used */
	char at[FMT_TIME_SIZE];

	say(t, "spot only");
	if (p->fallback_ms != 0)
		say(t, " until %.19sZ", fmt_time(at, fallback_at(a) - a->ahead_ms));
	if (p->fallback_refusals != 0)
		say(t, "%s for %" PRIu32 " more refusal%s", p->fallback_ms != 0 ? " or" : "", left,
		    left == 1 ? "" : "s");
}

static void say_closed(const struct ladder_ask *a, size_t i, const char *what, struct text *t)
{
	int64_t until = a->known[i].cool.until_ms;
	char at[FMT_TIME_SIZE];

	if (until != 0)
		say(t, "%s until %.19sZ", what, fmt_time(at, until - a->ahead_ms));
	else
		say(t, "%s until a call to %.30s succeeds", what, rung_of(a, i)->provider);
}

static void say_away(const struct ladder_ask *a, size_t i, struct text *t)
{
	char at[FMT_TIME_SIZE];

	say(t, "%.30s is unreachable since %.19sZ; burstd retries", rung_of(a, i)->provider,
	    fmt_time(at, a->known[i].away_ms - a->ahead_ms));
}

static void say_price(const struct ladder_ask *a, size_t i, struct text *t)
{
	char price[FMT_MONEY_SIZE], most[FMT_MONEY_SIZE];

	say(t, "%s above max_price %s", fmt_money(price, ladder_price(a, i)),
	    fmt_money(most, max_price(a, rung_of(a, i))));
}

/* Why rung i is left out. */
static void say_why(const struct ladder_ask *a, size_t i, enum ladder_cause cause, struct text *t)
{
	static const char *const plain[LADDER_NCAUSES] = {
		[LADDER_TRY] = "",
		[LADDER_NO_PRICE] = "price not known yet",
		[LADDER_TRIED] = "was tried a moment ago",
		[LADDER_PROBING] = "one purchase is tried first",
		[LADDER_LATER] = "cooled down, and another offer is tried first",
	};
	const struct conf_offer *o = rung_of(a, i);

	switch (cause) {
	case LADDER_JURISDICTION:
		say_jurisdiction(a, o, t);
		return;
	case LADDER_CONSTRAINT:
		say(t, "the job wants %.60s", against(a, o));
		return;
	case LADDER_OFF:
		say(t, "provider %.30s is off: %.100s", o->provider, a->known[i].off);
		return;
	case LADDER_NOT_OFFERED:
		if (a->known[i].price == LADDER_UNPRICED) {
			say(t, "%.30s quotes no price for it, and none is configured", o->provider);
			return;
		}
		say(t, "%.30s does not offer %.30s in %.30s", o->provider, o->type, o->region);
		return;
	case LADDER_DEAR:
		say_price(a, i, t);
		return;
	case LADDER_DENIED:
		say_closed(a, i, "access denied: not tried", t);
		return;
	case LADDER_AWAY:
		say_away(a, i, t);
		return;
	case LADDER_KEYLESS:
		say(t, "%.40s: its machines would get no keys: %.80s", o->provider,
		    a->known[i].keyless);
		return;
	case LADDER_QUOTA:
		say_closed(a, i, "the quota of the account is used up: not tried", t);
		return;
	case LADDER_FAILING:
		say_closed(a, i, "purchases fail there: not tried", t);
		return;
	case LADDER_CAPACITY:
		say_closed(a, i, "no capacity: cools down", t);
		return;
	case LADDER_SHARE:
		say(t, "spot_share %" PRIu32 ": %" PRIu32 " of %" PRIu32 " nodes are spot",
		    a->pool->spot_share, a->spot, a->nodes);
		return;
	case LADDER_SPOT_FIRST:
		say_spot_first(a, t);
		return;
	default:
		say(t, "%s", plain[cause]);
	}
}

void ladder_explain(const struct ladder *l, const struct ladder_ask *a, size_t rung, char *out,
		    size_t size)
{
	struct text t = {out, size, 0};

	assert(size > 0 && rung < l->nrungs);
	say_why(a, rung, l->cause[rung], &t);
}

/* Show the place for these causes: the reader may not know the pool's offers. */
static bool is_place_told(const struct ladder *l, size_t i)
{
	return l->cause[i] == LADDER_CAPACITY || l->cause[i] == LADDER_FAILING;
}

/* "spot-a (gpu_8x_h100 in eu-1a)" */
static void say_rung(const struct ladder *l, const struct ladder_ask *a, size_t i, struct text *t)
{
	const struct conf_offer *o = rung_of(a, i);
	bool named = o->name[0] != '\0';

	say(t, "%s", o->name);
	if (is_place_told(l, i))
		say(t, "%s%.30s in %.30s%s", named ? " (" : "", o->type,
		    o->zone[0] != '\0' ? o->zone : o->region, named ? ")" : "");
}

void ladder_why(const struct ladder *l, const struct ladder_ask *a, char *out, size_t size)
{
	char whys[CONF_OFFERS_MAX][160];
	struct text t = {out, size, 0};
	uint32_t said = 0;

	assert(size > sizeof("..."));
	out[0] = '\0';
	for (size_t i = 0; i < l->nrungs; i++)
		ladder_explain(l, a, i, whys[i], sizeof(whys[i]));
	for (size_t i = 0; i < l->nrungs; i++) {
		if (l->cause[i] == LADDER_TRY || (said >> i & 1) != 0)
			continue;
		say(&t, "%s", t.len != 0 ? "; " : "");
		for (size_t k = i; k < l->nrungs; k++) /* all rungs with the same reason */
			if (strcmp(whys[i], whys[k]) == 0) {
				said |= UINT32_C(1) << k;
				say(&t, "%s", k == i ? "" : ", ");
				say_rung(l, a, k, &t);
			}
		say(&t, "%s%s", rung_of(a, i)->name[0] != '\0' || is_place_told(l, i) ? ": " : "",
		    whys[i]);
	}
	if (t.len >= size)
		memcpy(out + size - sizeof("..."), "...", sizeof("..."));
}

const char *ladder_cause_str(enum ladder_cause cause)
{
	static const char *const words[LADDER_NCAUSES] = {
		[LADDER_TRY] = "",
		[LADDER_JURISDICTION] = "jurisdictions",
		[LADDER_CONSTRAINT] = "constraint",
		[LADDER_OFF] = "off",
		[LADDER_NOT_OFFERED] = "not-offered",
		[LADDER_NO_PRICE] = "no-price",
		[LADDER_DEAR] = "max-price",
		[LADDER_TRIED] = "tried",
		[LADDER_DENIED] = "denied",
		[LADDER_AWAY] = "unreachable",
		[LADDER_KEYLESS] = "no-keys",
		[LADDER_QUOTA] = "quota",
		[LADDER_FAILING] = "failing",
		[LADDER_CAPACITY] = "capacity",
		[LADDER_PROBING] = "probing",
		[LADDER_LATER] = "later",
		[LADDER_SHARE] = "spot-share",
		[LADDER_SPOT_FIRST] = "spot-first",
	};

	return words[cause];
}
