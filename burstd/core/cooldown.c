#include "core/cooldown.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "base/clamp.h"

enum kind { CAPACITY, QUOTA, FAILING, DENIED, ALONE, NKINDS };

struct cooldown_entry {
	struct places_entry in; /* the table: the first member */
	char provider[PROVIDER_WORD_MAX + 1];
	enum kind kind;
	uint32_t times;   /* how often it cooled down; 0: not yet (FAILING), or never (ALONE) */
	int64_t first_ms; /* cooldown_place.first_ms */
	int64_t last_ms, until_ms;
	int64_t since_ms; /* FAILING: the first failure in a row ... */
	bool answers;     /* ... and another call was answered before a later failure */
	bool throttled;   /* FAILING: since_ms is the first throttled try since it was shut */
	int64_t probe_ms; /* when the probe, or what goes alone, went out ... */
	bool probing;     /* ... if one is out */
	bool heard;       /* DENIED: a call that buys nothing was denied ... */
	bool bought;      /* ... and a purchase was denied, too */
	/* CAPACITY: the purchases sent from then ... to then were accepted; 0: none since it was
	 * shut.  While opened_ms is not 0 the place is open. */
	int64_t opens_ms, opened_ms;
};

static const struct {
	const char *word;
	enum places_scope scope;
	int64_t first_ms, max_ms;
	enum cooldown_state state;
	enum cooldown_news news;
} kinds[NKINDS] = {
	[CAPACITY] = {"capacity", PLACES_WHOLE, COOLDOWN_CAPACITY_MS, COOLDOWN_CAPACITY_MAX_MS,
		      COOLDOWN_CAPACITY, COOLDOWN_COOLS},
	[QUOTA] = {"quota", PLACES_ACCOUNT, COOLDOWN_QUOTA_MS, COOLDOWN_QUOTA_MAX_MS,
		   COOLDOWN_QUOTA, COOLDOWN_NO_QUOTA},
	[FAILING] = {"failing", PLACES_WHOLE, COOLDOWN_CAPACITY_MS, COOLDOWN_CAPACITY_MAX_MS,
		     COOLDOWN_FAILING, COOLDOWN_FAILS},
	[DENIED] = {"denied", PLACES_PROVIDER, COOLDOWN_DENIED_MS, COOLDOWN_DENIED_MAX_MS,
		    COOLDOWN_DENIED, COOLDOWN_OFF},
	[ALONE] = {"alone", PLACES_WHOLE, 0, 0, COOLDOWN_PROBING, COOLDOWN_SAME},
};

/* If there are too many places, the one that ends first is forgotten; an alarm stays.  There are
 * fewer providers than places, so that not all are alarms. */
static int64_t rank(const void *entry)
{
	const struct cooldown_entry *e = entry;

	return e->kind == DENIED ? PLACES_STAYS : e->until_ms;
}

void cooldown_init(struct cooldown *c)
{
	*c = (struct cooldown){0};
	places_init(&c->places, COOLDOWN_PLACES_MAX, sizeof(struct cooldown_entry), rank);
}

void cooldown_fini(struct cooldown *c)
{
	places_fini(&c->places);
	*c = (struct cooldown){0};
}

static struct cooldown_entry *find(const struct cooldown *c, enum kind kind,
				   const struct cooldown_place *p)
{
	char key[PLACES_KEY_SIZE];

	places_key(key, kinds[kind].word, kinds[kind].scope, &p->place);
	return places_find(&c->places, key);
}

static void drop(struct cooldown *c, struct cooldown_entry *e)
{
	places_drop(&c->places, e);
}

/* Length of the pause after the last refusal that was counted. */
static int64_t step(const struct cooldown_entry *e)
{
	int64_t ms = kinds[e->kind].first_ms;

	for (uint32_t i = 1; i < e->times && ms < kinds[e->kind].max_ms; i++)
		ms *= 2;
	if (ms > kinds[e->kind].max_ms)
		ms = kinds[e->kind].max_ms;
	return e->first_ms > 0 ? ms / COOLDOWN_CAPACITY_MS * e->first_ms : ms;
}

/* If the clock went back (F57), move all times back with it, so that pauses keep their length. */
static void tick(struct cooldown *c, int64_t now)
{
	int64_t back = c->seen_ms - now;

	c->seen_ms = now;
	if (back <= 0)
		return;
	for (struct cooldown_entry *e = NULL; (e = places_next(&c->places, e)) != NULL;) {
		e->last_ms -= back;
		e->until_ms -= back;
		e->since_ms -= back;
		e->probe_ms -= back;
		e->opened_ms -= e->opened_ms != 0 ? back : 0;
		e->opens_ms -= back;
	}
}

static bool is_cooling(const struct cooldown_entry *e, int64_t now)
{
	return e->heard || now < e->until_ms;
}

static bool is_probing(const struct cooldown_entry *e, int64_t now)
{
	return e->probing && now - e->probe_ms < COOLDOWN_PROBE_MS;
}

/* DENIED is an alarm, which stands until somebody has acted. */
static bool is_stale(const struct cooldown_entry *e, int64_t now)
{
	if (e->kind == ALONE)
		return now >= e->until_ms;
	return e->kind != DENIED && !is_probing(e, now) && now - e->until_ms > COOLDOWN_FORGET_MS;
}

static struct cooldown_view view(const struct cooldown_entry *e, int64_t now)
{
	if (is_cooling(e, now))
		return (struct cooldown_view){kinds[e->kind].state, e->heard ? 0 : e->until_ms};
	if (is_probing(e, now))
		return (struct cooldown_view){COOLDOWN_PROBING, e->probe_ms + COOLDOWN_WAIT_MS};
	return (struct cooldown_view){COOLDOWN_HALF, 0};
}

struct cooldown_view cooldown_look(struct cooldown *c, const struct cooldown_place *p,
				   int64_t now_ms)
{
	struct cooldown_view worst = {0};

	tick(c, now_ms);
	for (int k = 0; k < NKINDS; k++) {
		struct cooldown_entry *e = find(c, (enum kind)k, p);
		struct cooldown_view v;

		if (e == NULL)
			continue;
		if (is_stale(e, now_ms)) {
			drop(c, e);
			continue;
		}
		if (e->opened_ms != 0 || (e->times == 0 && e->kind != ALONE))
			continue;
		v = view(e, now_ms);
		if (v.state > worst.state)
			worst = v;
	}
	return worst;
}

bool cooldown_buy(struct cooldown *c, const struct cooldown_place *p, int64_t now_ms)
{
	if (cooldown_look(c, p, now_ms).state > COOLDOWN_HALF)
		return false;
	for (int k = 0; k < NKINDS; k++) {
		struct cooldown_entry *e = find(c, (enum kind)k, p);

		if (e == NULL || e->times == 0 || e->opened_ms != 0)
			continue;
		e->probing = true;
		e->probe_ms = now_ms;
	}
	return true;
}

static struct cooldown_entry *get(struct cooldown *c, enum kind kind,
				  const struct cooldown_place *p)
{
	char key[PLACES_KEY_SIZE];
	struct cooldown_entry *e;

	places_key(key, kinds[kind].word, kinds[kind].scope, &p->place);
	e = places_get(&c->places, key);
	e->kind = kind;
	(void)snprintf(e->provider, sizeof(e->provider), "%s", p->place.provider);
	return e;
}

void cooldown_alone(struct cooldown *c, const struct cooldown_place *p, int64_t now_ms)
{
	struct cooldown_entry *e = get(c, ALONE, p);

	tick(c, now_ms);
	e->probe_ms = now_ms;
	e->until_ms = now_ms + COOLDOWN_WAIT_MS;
}

static void shut(struct cooldown_entry *e, const struct cooldown_place *p, int64_t now)
{
	int64_t pause;

	e->times++;
	e->opened_ms = 0;
	e->throttled = false;
	e->first_ms = p->first_ms;
	e->last_ms = now;
	pause = step(e);
	e->until_ms = now + (p->pause_ms > pause ? p->pause_ms : pause);
}

/* Count a refusal, unless its request was on its way when the last refusal was seen. */
static enum cooldown_news refused(struct cooldown *c, enum kind kind,
				  const struct cooldown_place *p, int64_t sent, int64_t now)
{
	struct cooldown_entry *e = find(c, kind, p);
	bool was_off = e != NULL && kind == DENIED;

	if (e != NULL && is_stale(e, now)) {
		drop(c, e);
		e = NULL;
	}
	if (e != NULL && sent <= e->last_ms)
		return COOLDOWN_SAME;
	/* It has sold something since, or for so long that another cause is likely. */
	if (e != NULL && e->opened_ms != 0 &&
	    (sent > e->opened_ms || sent - e->opens_ms > COOLDOWN_CAPACITY_MAX_MS))
		e->times = 0;
	shut(get(c, kind, p), p, now);
	return was_off ? COOLDOWN_SAME : kinds[kind].news;
}

static enum cooldown_news shut_failing(struct cooldown_entry *e, const struct cooldown_place *p,
				       int64_t now)
{
	if (now + p->pause_ms - e->since_ms < p->patience_ms || !e->answers)
		return COOLDOWN_SAME;
	shut(e, p, now);
	return COOLDOWN_FAILS;
}

/* A place that cooled down is tried again, and the purchase is throttled.  It stays half-open until
 * that has gone on for patience_ms, as a ready place stays ready. */
static enum cooldown_news throttled(struct cooldown *c, const struct cooldown_place *p,
				    struct cooldown_entry *e, int64_t sent, int64_t now)
{
	if (now < e->until_ms || sent <= e->last_ms)
		return COOLDOWN_SAME;
	if (!e->throttled || now - e->until_ms > COOLDOWN_RUN_MS)
		e->since_ms = now;
	e->throttled = true;
	e->until_ms = now;
	return now + p->pause_ms - e->since_ms < p->patience_ms ? COOLDOWN_SAME
								: refused(c, FAILING, p, sent, now);
}

/* A purchase was not answered, or throttled.  Close the place only if purchases have failed for
 * patience_ms and other calls were answered meanwhile.  If none was, the provider is away, and is
 * asked again as soon as it is back. */
static enum cooldown_news failed(struct cooldown *c, const struct cooldown_place *p,
				 enum provider_code code, int64_t sent, int64_t now)
{
	struct cooldown_entry *e = find(c, FAILING, p);

	if (p->patience_ms == 0)
		return COOLDOWN_SAME;
	if (e != NULL && e->times > 0 && !is_stale(e, now))
		return code == PROVIDER_RATE ? throttled(c, p, e, sent, now)
					     : refused(c, FAILING, p, sent, now);
	if (e != NULL && (e->times > 0 || now - e->last_ms > COOLDOWN_RUN_MS)) {
		drop(c, e);
		e = NULL;
	}
	if (e == NULL) {
		e = get(c, FAILING, p);
		e->since_ms = now;
	}
	e->last_ms = e->until_ms = now;
	e->answers = e->answers || code == PROVIDER_RATE ||
		     (now > e->since_ms && p->heard_ms > e->since_ms);
	return shut_failing(e, p, now);
}

/* Any answer to a purchase ends FAILING. */
static enum cooldown_news answered(struct cooldown *c, const struct cooldown_place *p, int64_t sent)
{
	struct cooldown_entry *e = find(c, FAILING, p);
	bool was_shut = e != NULL && e->times > 0;

	if (e == NULL || (was_shut && sent <= e->last_ms))
		return COOLDOWN_SAME;
	drop(c, e);
	return was_shut ? COOLDOWN_AGAIN : COOLDOWN_SAME;
}

/* What was accepted may fail later for want of capacity (Nova: "No valid host"): then the place was
 * never open, and its pause must not begin with a minute again. */
static enum cooldown_news opened(struct cooldown *c, const struct cooldown_place *p, int64_t sent)
{
	struct cooldown_entry *e = find(c, CAPACITY, p);
	bool was_open = e != NULL && e->opened_ms != 0;

	if (e == NULL || sent <= e->last_ms)
		return COOLDOWN_SAME;
	if (!was_open)
		e->opens_ms = sent;
	if (sent > e->opened_ms)
		e->opened_ms = sent;
	return was_open ? COOLDOWN_SAME : COOLDOWN_AGAIN;
}

/* A purchase shows that the cause is gone, unless it was sent before the cause was known. */
static enum cooldown_news over(struct cooldown *c, enum kind kind, const struct cooldown_place *p,
			       int64_t sent)
{
	struct cooldown_entry *e = find(c, kind, p);

	if (e == NULL || sent <= e->last_ms)
		return COOLDOWN_SAME;
	drop(c, e);
	return COOLDOWN_AGAIN;
}

/* The probe has been answered, whatever the answer. */
static void end_probe(struct cooldown *c, const struct cooldown_place *p, int64_t sent)
{
	for (int k = 0; k < NKINDS; k++) {
		struct cooldown_entry *e = find(c, (enum kind)k, p);

		if (e == NULL || sent < e->probe_ms)
			continue;
		e->probing = false;
		if (e->kind == ALONE)
			drop(c, e);
	}
}

static enum cooldown_news graver(enum cooldown_news a, enum cooldown_news b)
{
	return a > b ? a : b;
}

static enum cooldown_news refused_for(struct cooldown *c, const struct cooldown_place *p,
				      enum provider_code code, int64_t sent, int64_t now)
{
	enum cooldown_news news = COOLDOWN_SAME;

	if (code == PROVIDER_CAPACITY)
		return refused(c, CAPACITY, p, sent, now);
	if (code == PROVIDER_QUOTA)
		return refused(c, QUOTA, p, sent, now);
	if (code != PROVIDER_DENIED)
		return news;
	news = refused(c, DENIED, p, sent, now);
	find(c, DENIED, p)->bought = true;
	return news;
}

enum cooldown_news cooldown_failed_later(struct cooldown *c, const struct cooldown_place *p,
					 enum provider_code code, int64_t sent_ms, int64_t now_ms)
{
	tick(c, now_ms);
	return refused_for(c, p, code, sent_ms, now_ms);
}

enum cooldown_news cooldown_bought(struct cooldown *c, const struct cooldown_place *p,
				   enum provider_code code, int64_t sent_ms, int64_t now_ms)
{
	bool served = code == PROVIDER_OK || code == PROVIDER_CAPACITY || code == PROVIDER_QUOTA;
	enum cooldown_news news = COOLDOWN_SAME;

	tick(c, now_ms);
	end_probe(c, p, sent_ms);
	/* A provider that reports no capacity or no quota has accepted our credentials. */
	if (served)
		news = over(c, DENIED, p, sent_ms);
	if (served || code == PROVIDER_DENIED)
		news = graver(news, answered(c, p, sent_ms));
	switch (code) {
	case PROVIDER_OK:
		news = graver(news, over(c, QUOTA, p, sent_ms));
		return graver(news, opened(c, p, sent_ms));
	case PROVIDER_CAPACITY:
	case PROVIDER_QUOTA:
	case PROVIDER_DENIED:
		return graver(news, refused_for(c, p, code, sent_ms, now_ms));
	case PROVIDER_RATE:
	case PROVIDER_TRANSIENT:
	case PROVIDER_AMBIGUOUS:
		return graver(news, failed(c, p, code, sent_ms, now_ms));
	default:
		return news; /* says nothing about the place */
	}
}

enum cooldown_news cooldown_doubt_ends(struct cooldown *c, const struct cooldown_place *p,
				       int64_t sent_ms, int64_t now_ms)
{
	enum cooldown_news news = COOLDOWN_SAME;
	struct cooldown_entry *e;
	int64_t until;

	tick(c, now_ms);
	e = find(c, FAILING, p);
	if (e == NULL || is_stale(e, now_ms))
		return COOLDOWN_SAME;
	if (e->times == 0)
		news = shut_failing(e, p, now_ms);
	if (e->times == 0)
		return COOLDOWN_SAME;
	until = now_ms + clamp(now_ms - sent_ms, step(e), COOLDOWN_CAPACITY_MAX_MS);
	if (e->until_ms < until)
		e->until_ms = until;
	return news;
}

enum cooldown_news cooldown_taken_back(struct cooldown *c, const struct cooldown_place *p,
				       int64_t now_ms)
{
	tick(c, now_ms);
	return refused(c, CAPACITY, p, now_ms, now_ms);
}

enum provider_code cooldown_worse(enum provider_code a, enum provider_code b)
{
	static const enum provider_code order[] = {PROVIDER_DENIED, PROVIDER_QUOTA,
						   PROVIDER_CAPACITY, PROVIDER_OK};

	for (size_t i = 0; i < sizeof(order) / sizeof(order[0]); i++)
		if (a == order[i] || b == order[i])
			return order[i];
	return a;
}

enum cooldown_news cooldown_heard(struct cooldown *c, const char *provider, enum provider_code code,
				  int64_t sent_ms, int64_t now_ms)
{
	const struct cooldown_place p = {.place = {.provider = provider}};
	struct cooldown_entry *e;
	enum cooldown_news news;

	tick(c, now_ms);
	e = find(c, DENIED, &p);
	if (code == PROVIDER_OK && e != NULL && e->heard) {
		if (!e->bought)
			return over(c, DENIED, &p, sent_ms);
		e->heard = sent_ms <= e->last_ms; /* a denied purchase has yet to be tried again */
		return COOLDOWN_SAME;
	}
	if (code != PROVIDER_DENIED)
		return COOLDOWN_SAME;
	if (e != NULL) { /* only a purchase may change the pause */
		e->heard = true;
		e->last_ms = now_ms;
		return COOLDOWN_SAME;
	}
	news = refused(c, DENIED, &p, sent_ms, now_ms);
	e = find(c, DENIED, &p);
	assert(e != NULL);
	e->heard = true;
	return news;
}

void cooldown_back(struct cooldown *c, const char *provider)
{
	struct cooldown_entry *next;

	for (struct cooldown_entry *e = places_next(&c->places, NULL); e != NULL; e = next) {
		next = places_next(&c->places, e);
		if (e->kind == FAILING && e->times == 0 && strcmp(e->provider, provider) == 0)
			drop(c, e);
	}
}

void cooldown_clear(struct cooldown *c, const struct cooldown_place *p)
{
	for (int k = 0; k < NKINDS; k++) {
		struct cooldown_entry *e = find(c, (enum kind)k, p);

		if (e != NULL)
			drop(c, e);
	}
}

static void tell(const struct cooldown_entry *e, int64_t now, cooldown_fn fn, void *ctx)
{
	struct cooldown_row row = {.reason = kinds[e->kind].word,
				   .provider = e->provider,
				   .place = places_where(e->in.key),
				   .view = view(e, now),
				   .times = e->times};

	fn(ctx, &row);
}

void cooldown_each(const struct cooldown *c, int64_t now_ms, cooldown_fn fn, void *ctx)
{
	for (const struct cooldown_entry *e = NULL; (e = places_next(&c->places, e)) != NULL;)
		if (e->times > 0 && e->opened_ms == 0 && !is_stale(e, now_ms))
			tell(e, now_ms, fn, ctx);
}
