#include "buy/buy.h"
#include "cloud/cloud.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clamp.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/opt.h"
#include "core/rates.h"
#include "core/unit.h"

/* Knows the places where nodes are bought, by the rungs of the pools' ladders (core/ladder.h):
 * their prices, and which of them cool down (core/cooldown.h).
 *
 * A WANTED row has its offer and provider by name, so lists, deletes and bills go on after the
 * offer is removed from the configuration. */

void place_set(const struct engine *e, struct node *n, const struct conf_offer *o, int64_t rate)
{
	(void)snprintf(n->offer, sizeof(n->offer), "%s", o->name);
	(void)snprintf(n->provider, sizeof(n->provider), "%s",
		       e->conf->providers[o->provider_index].name);
	n->cloud = o->provider_index;
	n->market = (enum provider_market)o->market;
	n->rate_nano_h = rate;
}

enum {
	PLACE_WAVE_MS = 60000, /* several machines reclaimed in this time ... */
	PLACE_WAVE_OF = 10,    /* ... pause their place: one of ten, and at least two */
};

/* --- what the journal has ----------------------------------------------------------------------
 */

void place_load(struct engine *e, struct node *n)
{
	const struct conf_offer *o = engine_offer_of(e, n);
	bool old = n->provider[0] == '\0';

	if (!cloud_find(e, n->pool, n->provider, &n->cloud)) {
		assert(!node_counts(n)); /* off.c */
		n->cloud = 0;
		return;
	}
	if (e->conf->providers[n->cloud].removed)
		return; /* the section may come back into the configuration */
	if (old && o != NULL)
		n->market = (enum provider_market)o->market;
	if (old)
		(void)snprintf(n->provider, sizeof(n->provider), "%s",
			       e->conf->providers[n->cloud].name);
	e->buy->unplaced = e->buy->unplaced || (old && node_counts(n));
}

/* Write the provider into rows of an older burstd, which lack it, before the pool's offers change.
 */
static void place_write_back(struct engine *e)
{
	if (!e->buy->unplaced)
		return;
	for (size_t i = 0; i < e->fleet.nall; i++)
		for (struct fleet_node *fn = e->fleet.all[i]->newest; fn; fn = fn->older)
			journal_put_node(engine_tx(e), &fn->n, e->conf->pools[fn->n.pool].name);
	e->buy->unplaced = false;
	engine_commit(e);
}

/* --- what it costs ------------------------------------------------------------------------------
 */

/* Does the offer cost less than before, or is it offered again? */
static bool is_cheaper(const struct cloud *c, const struct cloud *before,
		       const struct conf_offer *o)
{
	int64_t now = quote_price(c, o), was = quote_price(before, o);

	return now > 0 && (was <= 0 || now < was);
}

/* quoted(): a provider has new offers; before: the last ones. */
static void place_quotes(struct cloud *c, struct provider_quote *before, size_t nbefore)
{
	const struct cloud was = {.e = c->e, .quotes = before, .nquotes = nbefore};
	const struct conf *conf = c->e->conf;
	bool cheaper = false;

	for (size_t i = 0; i < conf->npools; i++) {
		size_t nrungs;
		const struct conf_offer *rungs = conf_rungs(&conf->pools[i], &nrungs);

		for (size_t k = 0; k < nrungs; k++) {
			if (&c->e->cloud->all[rungs[k].provider_index] != c ||
			    quote_price(c, &rungs[k]) == 0)
				continue;
			pool_set_cost(c->e, i, k, quote_price(c, &rungs[k]));
			cheaper = cheaper || is_cheaper(c, &was, &rungs[k]);
		}
	}
	engine_tell_quotes(c->e, cheaper);
}

const char *engine_like_type(const struct engine *e, size_t provider, const char *type)
{
	const struct cloud *c = &e->cloud->all[provider];
	const char **types = mem_zalloc((c->nquotes + 1) * sizeof(*types)), *like;
	size_t n = 0;

	for (size_t i = 0; i < c->nquotes; i++)
		if (c->quotes[i].type[0] != '\0' && strcmp(c->quotes[i].type, type) != 0)
			types[n++] = c->quotes[i].type;
	like = opt_nearest(type, types, n);
	free(types);
	return like;
}

/* --- what has nothing to sell ------------------------------------------------------------------
 */

/* When the provider last answered; a throttle is an answer, too. */
static int64_t heard_ms(const struct cloud *c)
{
	return c->throttled_ms > c->ok_ms ? c->throttled_ms : c->ok_ms;
}

static struct cooldown_place place_to_cool(const struct engine *e, const struct conf_offer *o)
{
	const struct conf_provider *p = &e->conf->providers[o->provider_index];

	return (struct cooldown_place){.place = cloud_place(e, o),
				       .first_ms = p->cooldown_ms,
				       .patience_ms = p->unreachable_ms,
				       .heard_ms = heard_ms(&e->cloud->all[o->provider_index])};
}

/* Do refusals say anything about the place?  Not if each node is one certain machine. */
static bool cools(const struct engine *e, const struct conf_offer *o)
{
	return (e->cloud->all[o->provider_index].caps.flags & PROVIDER_MACHINES) == 0;
}

struct ladder_known *place_known(struct engine *e, uint32_t pool)
{
	size_t n;
	const struct conf_offer *rungs = conf_rungs(&e->conf->pools[pool], &n);
	struct ladder_known *known = mem_zalloc((n + 1) * sizeof(*known));

	for (size_t i = 0; i < n; i++) {
		const struct cooldown_place at = place_to_cool(e, &rungs[i]);

		known[i].price = quote_known(e, &rungs[i]);
		known[i].agreed = rates_price(e->conf, &rungs[i], engine_wall(e, engine_now(e)));
		known[i].dry = quote_dry(&e->cloud->all[rungs[i].provider_index], &rungs[i]);
		known[i].off = off_why(&e->cloud->all[rungs[i].provider_index]);
		known[i].keyless = cloud_keyless(e, rungs[i].provider_index);
		known[i].cool = cooldown_look(&e->cloud->cooldown, &at, engine_now(e));
		known[i].away_ms = away_since(&e->cloud->all[rungs[i].provider_index]);
		known[i].wrong_until_ms = cools(e, &rungs[i]) ? pool_wrong_until(e, pool, i) : 0;
	}
	return known;
}

int64_t place_next_price(struct engine *e, uint32_t pool)
{
	struct ladder_known *known = place_known(e, pool);
	const struct ladder_ask ask = {.conf = e->conf,
				       .pool = &e->conf->pools[pool],
				       .known = known,
				       .nodes = e->fleet.pools[pool].nodes,
				       .spot = e->fleet.pools[pool].spot,
				       .job = {.nodes = 1, .since_ms = engine_now(e), .none = true},
				       .now_ms = engine_now(e),
				       .ahead_ms = e->ahead_ms};
	struct ladder l;
	int64_t price;

	ladder_make(&l, &ask);
	price = l.n > 0 ? ladder_price(&ask, l.order[0]) : 0;
	free(known);
	return price;
}

struct cooldown_view place_view(struct engine *e, const struct conf_offer *o)
{
	const struct cooldown_place at = place_to_cool(e, o);

	return cooldown_look(&e->cloud->cooldown, &at, engine_now(e));
}

enum place_answer place_would(struct engine *e, const struct conf_offer *o)
{
	const struct cooldown_view v = place_view(e, o);

	if (!cools(e, o) || v.state <= COOLDOWN_HALF)
		return PLACE_SELLS;
	return v.state == COOLDOWN_PROBING && engine_now(e) < v.until_ms ? PLACE_TELLS_SOON
									 : PLACE_SOLD_OUT;
}

enum place_answer place_buy(struct engine *e, const struct conf_offer *o)
{
	const struct cooldown_place at = place_to_cool(e, o);

	if (cools(e, o) && !cooldown_buy(&e->cloud->cooldown, &at, engine_now(e)))
		return place_would(e, o);
	return PLACE_SELLS;
}

void place_alone(struct engine *e, const struct conf_offer *o)
{
	const struct cooldown_place at = place_to_cool(e, o);

	if (cools(e, o))
		cooldown_alone(&e->cloud->cooldown, &at, engine_now(e));
}

bool place_is_cooling(struct engine *e, const struct conf_offer *o)
{
	return cools(e, o) && place_view(e, o).state >= COOLDOWN_CAPACITY;
}

int64_t place_ready_ms(struct engine *e, const struct conf_offer *o)
{
	return place_view(e, o).until_ms;
}

bool place_fails(struct engine *e, const struct conf_offer *o, char why[160])
{
	const struct cooldown_view v = place_view(e, o);
	char at[FMT_TIME_SIZE];

	if (!cools(e, o) || v.state != COOLDOWN_FAILING)
		return false;
	(void)snprintf(why, 160,
		       "%.30s: no %.30s in %.25s: purchases fail there: not tried until %.19sZ",
		       o->provider, o->type, o->zone[0] != '\0' ? o->zone : o->region,
		       engine_time(e, at, v.until_ms));
	return true;
}

/* Note if the place has just begun to count as failing. */
static void note_failing(struct engine *e, const struct conf_offer *o)
{
	e->buy->failing = e->buy->failing || place_view(e, o).state == COOLDOWN_FAILING;
}

static void tell(struct engine *e, enum cooldown_news news, const struct conf_provider *p,
		 const struct conf_offer *o, const char *words)
{
	static const struct {
		const char *event, *log;
	} texts[] = {
		[COOLDOWN_AGAIN] = {"place-ready", NULL},
		[COOLDOWN_COOLS] = {"place-cools", NULL},
		[COOLDOWN_FAILS] = {"place-fails", "purchases fail"},
		[COOLDOWN_NO_QUOTA] = {"no-quota", "a quota is used up"},
		[COOLDOWN_OFF] = {"provider-off", "nothing is bought from a provider"},
	};
	char what[400];

	if (news == COOLDOWN_SAME)
		return;
	if (o != NULL)
		(void)snprintf(what, sizeof(what), "%.63s %.63s in %.63s%s%.63s, %s%s%.63s%s%.80s",
			       p->name, o->type, o->region, o->zone[0] != '\0' ? " " : "", o->zone,
			       provider_market_str((enum provider_market)o->market),
			       o->in_fabric != NULL ? ", fabric " : "",
			       o->in_fabric != NULL ? o->in_fabric : "",
			       words[0] != '\0' ? ": " : "", words);
	else
		(void)snprintf(what, sizeof(what), "%.63s%s%.80s", p->name,
			       words[0] != '\0' ? ": " : "", words);
	engine_event(e, "", 0, texts[news].event, what);
	if (texts[news].log != NULL)
		log_write(e->d.log, LOG_WARN, texts[news].log, "provider", p->name, "about", what,
			  NULL);
}

/* How many of n nodes the answer refuses with that code. */
static uint32_t count_code(const struct provider_result *r, size_t n, enum provider_code code)
{
	uint32_t k = 0;

	if (r->code != PROVIDER_OK)
		return r->code == code ? (uint32_t)n : 0;
	for (size_t i = 0; i < r->nitems; i++)
		k += r->items[i].code == code;
	return k;
}

/* The pool whose offer this is; NULL: none of the present configuration. */
static const struct conf_pool *pool_with(const struct conf *c, const struct conf_offer *o)
{
	for (size_t i = 0; i < c->npools; i++) {
		size_t n;
		const struct conf_offer *rungs = conf_rungs(&c->pools[i], &n);

		if (n > 0 && o >= rungs && o < rungs + n)
			return &c->pools[i];
	}
	return NULL;
}

/* Keep the refusals, with the provider's words, for people. */
static void note_refusals(struct engine *e, const struct conf_offer *o,
			  const struct provider_result *r, size_t n, int64_t sent_ms)
{
	static const enum provider_code codes[] = {PROVIDER_CAPACITY, PROVIDER_QUOTA,
						   PROVIDER_DENIED, PROVIDER_INVALID};
	const struct cooldown_place at = place_to_cool(e, o);
	const struct conf_pool *pool = pool_with(e->conf, o);

	for (size_t i = 0; i < sizeof(codes) / sizeof(codes[0]); i++) {
		struct unsold_say say = {.at_ms = engine_now(e),
					 .code = codes[i],
					 .nodes = count_code(r, n, codes[i])};

		if (say.nodes == 0)
			continue;
		(void)snprintf(say.words, sizeof(say.words), "%s", r->message);
		unsold_note(&e->cloud->unsold, &at.place, &say, sent_ms);
		e->cloud->all[o->provider_index].refused[codes[i]] += say.nodes;
		if (pool != NULL)
			refused_add(&e->cloud->refused, conf_pool_index(e->conf, pool), o->name,
				    codes[i], say.nodes);
	}
}

/* What the answer tells of the place as a whole.  Where the provider wants to be asked again for
 * some instances (EC2: of another subnet), it has not said that it has no more. */
static enum provider_code verdict(const struct provider_result *r, size_t n)
{
	bool asks_again = r->code == PROVIDER_OK && count_code(r, n, PROVIDER_NOT_YET) > 0;
	bool first = r->code == PROVIDER_OK; /* a request that bought nothing is no purchase */
	enum provider_code code = r->code;

	for (size_t i = 0; i < r->nitems; i++) {
		enum provider_code of = r->items[i].code;

		if (asks_again && of == PROVIDER_CAPACITY)
			continue;
		code = first ? of : cooldown_worse(code, of);
		first = false;
	}
	return code;
}

void place_bought(struct engine *e, const struct conf_offer *o, const struct provider_result *r,
		  size_t n, int64_t sent_ms)
{
	struct cooldown_place at = place_to_cool(e, o);
	enum provider_code code = verdict(r, n);
	enum cooldown_news news;

	note_refusals(e, o, r, n, sent_ms);
	if (!cools(e, o))
		return;
	if (code == PROVIDER_RATE)
		at.pause_ms = clamp(r->retry_after_ms, 0, LIMIT_PAUSE_MAX_MS);
	news = cooldown_bought(&e->cloud->cooldown, &at, code, sent_ms, engine_now(e));
	tell(e, news, &e->conf->providers[o->provider_index], o,
	     news == COOLDOWN_AGAIN ? "" : r->message);
	note_failing(e, o);
}

void place_bought_beside(struct engine *e, const struct conf_offer *o,
			 const struct provider_result *r, size_t n, int64_t sent_ms)
{
	if (verdict(r, n) != PROVIDER_CAPACITY) {
		place_bought(e, o, r, n, sent_ms);
		return;
	}
	note_refusals(e, o, r, n, sent_ms);
	place_unsent(e, o); /* if it was the probe, it has told nothing */
}

void place_sold(struct engine *e, const struct node *n)
{
	const struct conf_offer *o = engine_offer_of(e, n);
	struct place p;

	if (o == NULL)
		return;
	p = cloud_place(e, o);
	unsold_sold(&e->cloud->unsold, &p, n->job, engine_now(e));
}

void place_failed_later(struct engine *e, const struct conf_offer *o,
			const struct provider_result *r, int64_t sent_ms)
{
	const struct cooldown_place at = place_to_cool(e, o);

	note_refusals(e, o, r, 1, sent_ms);
	if (cools(e, o))
		tell(e,
		     cooldown_failed_later(&e->cloud->cooldown, &at, r->code, sent_ms,
					   engine_now(e)),
		     &e->conf->providers[o->provider_index], o, r->message);
}

/* "sim: no gpu_8x_h100 in eu-1: ...", "unit 3 of pool h100 has no room: sim: ..." */
void place_say_why(struct cloud *c, struct fleet_node *fn, enum node_reason why, const char *words)
{
	const struct conf_offer *o = engine_offer_of(c->e, &fn->n);
	const char *text = words[0] != '\0' ? words : node_reason_text(why);
	uint32_t unit = o != NULL ? unit_by(&c->e->conf->pools[fn->n.pool], o, fn->n.name) : 0;
	char *to = fn->name->why;

	if (why == NODE_BECAUSE_CAPACITY && unit != 0)
		(void)snprintf(to, sizeof(fn->name->why),
			       "unit %u of pool %.30s has no room: %.30s: %.50s", unit,
			       c->e->conf->pools[fn->n.pool].name, c->conf->name, text);
	else if (why == NODE_BECAUSE_CAPACITY && o != NULL)
		(void)snprintf(to, sizeof(fn->name->why), "%.30s: no %.30s in %.25s: %.50s",
			       c->conf->name, o->type, o->zone[0] != '\0' ? o->zone : o->region,
			       text);
	else
		(void)snprintf(to, sizeof(fn->name->why), "%.60s: %.90s", c->conf->name, text);
}

void place_doubt_ends(struct engine *e, const struct node *n)
{
	const struct conf_offer *o = engine_offer_of(e, n);
	struct cooldown_place at;

	if (o == NULL)
		return;
	at = place_to_cool(e, o);
	tell(e, cooldown_doubt_ends(&e->cloud->cooldown, &at, n->sent_ms, engine_now(e)),
	     &e->conf->providers[o->provider_index], o, "no answer, and nothing was made");
	note_failing(e, o);
}

void place_unsent(struct engine *e, const struct conf_offer *o)
{
	const struct cooldown_place at = place_to_cool(e, o);
	int64_t now = engine_now(e);

	(void)cooldown_bought(&e->cloud->cooldown, &at, PROVIDER_INVALID, now, now);
}

/* Does the answer to this kind of request concern machines?  A queue is another service, and a
 * right to fabrics another right.  place_bought() takes the answers to purchases. */
static bool is_of_machines(enum provider_op_kind kind)
{
	return kind == PROVIDER_LIST || kind == PROVIDER_DELETE || kind == PROVIDER_QUOTES;
}

/* heard(): note the answer to any other request to a provider than a create. */
static void place_heard(struct cloud *c, enum provider_op_kind kind,
			const struct provider_result *r, int64_t sent_ms)
{
	enum cooldown_news news;

	if (!is_of_machines(kind))
		return;
	news = cooldown_heard(&c->e->cloud->cooldown, c->conf->name, r->code, sent_ms,
			      engine_now(c->e));
	tell(c->e, news, c->conf, NULL, news == COOLDOWN_AGAIN ? "" : r->message);
}

/* --- what is taken back ------------------------------------------------------------------------
 */

/* Is the machine being taken, or was it a moment ago?  Not if burstd released it. */
static bool goes(const struct node *n, int64_t now)
{
	if (n->state == NODE_DRAINING)
		return n->notice == PROVIDER_NOTICE_RECLAIM;
	return (n->state == NODE_DELETING || n->state == NODE_GONE) &&
	       (n->reason == NODE_BECAUSE_RECLAIMED ||
		(n->reason == NODE_BECAUSE_ENDED && !n->release)) &&
	       now - n->since_ms < PLACE_WAVE_MS;
}

/* Count the rows of one place that are being taken, and all of them. */
static void count_there(const struct engine *e, const struct node *as, size_t *going, size_t *all)
{
	*going = *all = 0;
	for (int s = 0; s < NODE_NSTATES; s++)
		for (const struct fleet_node *fn = e->fleet.states[s]; fn; fn = fn->state_next) {
			const struct node *n = &fn->n;
			bool is_going = goes(n, engine_now(e));

			if (n->pool != as->pool || strcmp(n->offer, as->offer) != 0 ||
			    (n->state == NODE_GONE && !is_going))
				continue;
			*going += is_going;
			(*all)++;
		}
}

void place_reclaimed(struct engine *e, const struct fleet_node *fn)
{
	const struct conf_offer *o = engine_offer_of(e, &fn->n);
	struct cooldown_place at;
	size_t going, all, rungs;

	(void)conf_rungs(&e->conf->pools[fn->n.pool], &rungs);
	if (o == NULL || rungs <= 1 || o->market != PROVIDER_SPOT || place_ready_ms(e, o) != 0)
		return; /* there is no other offer, or the place pauses already */
	count_there(e, &fn->n, &going, &all);
	if (going < 2 || going * PLACE_WAVE_OF < all)
		return;
	at = place_to_cool(e, o);
	tell(e, cooldown_taken_back(&e->cloud->cooldown, &at, engine_now(e)),
	     &e->conf->providers[o->provider_index], o, "it takes its machines back");
}

/* --- what people see of it, and an admin's word ------------------------------------------------
 */

size_t place_unsold(const struct engine *e, const struct conf_offer *o,
		    struct unsold_say out[UNSOLD_EACH])
{
	const struct cooldown_place at = place_to_cool(e, o);

	return unsold_last(&e->cloud->unsold, &at.place, out);
}

uint64_t engine_unsold(const struct engine *e, size_t provider, enum provider_code code)
{
	return e->cloud->all[provider].refused[code];
}

uint64_t engine_offer_refused(const struct engine *e, size_t pool, const char *offer,
			      enum provider_code code)
{
	return refused_of(&e->cloud->refused, (uint32_t)pool, offer, code);
}

void engine_cooldowns(const struct engine *e, cooldown_fn fn, void *ctx)
{
	cooldown_each(&e->cloud->cooldown, engine_now(e), fn, ctx);
}

static void clear_rungs(struct engine *e, const struct conf_pool *p, const char *provider)
{
	size_t n;
	const struct conf_offer *rungs = conf_rungs(p, &n);

	for (size_t i = 0; i < n; i++) {
		const struct cooldown_place at = place_to_cool(e, &rungs[i]);

		if (provider == NULL || strcmp(at.place.provider, provider) == 0)
			cooldown_clear(&e->cloud->cooldown, &at);
	}
}

/* A provider may be denied as a whole though no pool buys there any more. */
static void clear_provider(struct engine *e, const char *name)
{
	const struct cooldown_place whole = {
		.place = {.provider = name, .type = "", .region = "", .zone = ""}};

	cooldown_clear(&e->cloud->cooldown, &whole);
	for (size_t i = 0; i < e->conf->npools; i++)
		clear_rungs(e, &e->conf->pools[i], name);
}

int place_retry(struct engine *e, const char *what, size_t *n)
{
	const struct conf_pool *p = what != NULL ? conf_pool_named(e->conf, what) : NULL;
	uint32_t at = what != NULL ? conf_provider_named(e->conf, what) : 0;
	size_t before = e->cloud->cooldown.places.n;

	*n = 0;
	if (p == NULL && at >= e->conf->nproviders)
		return -1;
	if (p != NULL)
		clear_rungs(e, p, NULL);
	for (; at < e->conf->nproviders; at++) {
		clear_provider(e, e->conf->providers[at].name);
		if (what != NULL)
			break;
	}
	*n = before - e->cloud->cooldown.places.n;
	return 0;
}

const struct engine_part place_part = {
	.name = "places",
	.at = {[PART_START] = place_write_back},
	.heard = place_heard,
	.quoted = place_quotes,
};
