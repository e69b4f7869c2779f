#include "buy/buy.h"
#include "cloud/cloud.h"
#include "diff/diff.h"
#include "engine/times.h"
#include "jobs/jobs.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "store/journal_usage.h"

/* Compares a provider's list with the rows.  A list may repeat and contradict itself (F16): each
 * instance is looked at once, and belongs to the row with its id. */

enum { GIVEN_MOST = 1 << 20 }; /* generations that a node has had in the life of a journal */

/* --- each instance once -------------------------------------------------------------------------
 */

static bool is_ours(const struct cloud *c, const struct provider_instance *in)
{
	return strcmp(in->cluster, c->e->d.uuid) == 0;
}

/* Can burstd have given this generation?  They begin at 1, or, in a journal that was made after one
 * was lost, above the second of that (engine.h).  Who may tag instances could otherwise use up all
 * generations of a node (F58). */
static bool is_given(const struct engine *e, uint64_t gen)
{
	int64_t from = engine_wall(e, engine_now(e)) / 1000;

	return gen <= (uint64_t)(from > e->d.gen_floor ? from : e->d.gen_floor) + GIVEN_MOST;
}

/* Can the tags be burstd's? */
static bool is_readable(const struct cloud *c, const struct provider_instance *in)
{
	return in->node[0] != '\0' && is_given(c->e, in->gen);
}

/* How complete the tags are. */
static int tagged(const struct cloud *c, const struct provider_instance *in)
{
	return !is_ours(c, in) ? 0 : is_readable(c, in) ? 2 : 1;
}

/* The order of states by importance: if two entries disagree, the one that means "exists and bills"
 * counts. */
static int life(const struct provider_instance *in)
{
	switch (in->state) {
	case PROVIDER_ENDED:
		return 0;
	case PROVIDER_STOPPING:
		return 1;
	case PROVIDER_RECLAIMING:
		return 3;
	default:
		return 2;
	}
}

/* Does entry b say more about the instance than a? */
static bool says_more(const struct cloud *c, const struct provider_instance *a,
		      const struct provider_instance *b)
{
	if (life(a) != life(b))
		return life(b) > life(a);
	if (tagged(c, a) != tagged(c, b))
		return tagged(c, b) > tagged(c, a);
	return a->addr[0] == '\0';
}

/* Merge b, another entry of the same instance, into a; perhaps only one of them has tags. */
static void merge(const struct cloud *c, struct provider_instance *a,
		  const struct provider_instance *b)
{
	const struct provider_instance tags = tagged(c, b) > tagged(c, a) ? *b : *a;

	if (says_more(c, a, b))
		*a = *b;
	memcpy(a->cluster, tags.cluster, sizeof(a->cluster));
	memcpy(a->node, tags.node, sizeof(a->node));
	a->gen = tags.gen;
}

/* Merge entries of the same instance: pages may overlap, and an instance may change in between.
 * *left: how many entries may be looked at.  true: all are merged. */
static bool merge_some(struct cloud *c, size_t *left)
{
	struct comparison *k = &c->comparison;

	for (; !k->merged && *left > 0 && k->at < c->nseen; k->at++, --*left) {
		struct provider_instance *in = &c->seen[k->at];
		struct provider_instance *had = map_get(&k->ids, in->id);

		if (had != NULL) {
			merge(c, had, in);
			continue;
		}
		if (k->n != k->at)
			c->seen[k->n] = *in;
		map_put(&k->ids, c->seen[k->n].id, &c->seen[k->n]);
		k->n++;
	}
	if (k->merged || k->at < c->nseen)
		return k->merged;
	map_fini(&k->ids);
	c->nseen = k->n;
	k->at = k->n = 0;
	k->merged = true;
	return true;
}

/* --- strays -------------------------------------------------------------------------------------
 */

/* Index the strays by id for one pass, with room for all that this list may add. */
static void index_strays(struct cloud *c, struct map *ids)
{
	c->strays = mem_realloc(c->strays, (c->nstrays + c->nseen) * sizeof(*c->strays));
	for (size_t i = 0; i < c->nstrays; i++)
		map_put(ids, c->strays[i].id, &c->strays[i]);
}

/* A provider's clock may be ahead of ours: nothing is launched after it is listed. */
static int64_t born_ms(const struct cloud *c, const struct provider_instance *in)
{
	int64_t now = engine_now(c->e), ms = in->created_ms;

	return ms > 0 && ms < now ? ms : now;
}

static void add_stray(struct cloud *c, const struct provider_instance *in, struct map *ids)
{
	struct stray *s;

	if (ids->n == 0)
		index_strays(c, ids);
	s = map_get(ids, in->id);
	if (s != NULL) {
		s->seen = true;
		s->leaves = in->state == PROVIDER_STOPPING;
		(void)snprintf(s->addr, sizeof(s->addr), "%s", in->addr); /* it may be new */
		return;
	}
	if (c->nstrays == ENGINE_STRAYS_MAX)
		return;
	s = &c->strays[c->nstrays++];
	*s = (struct stray){.gen = in->gen,
			    .first_ms = engine_now(c->e),
			    .born_ms = born_ms(c, in),
			    .seen = true,
			    .leaves = in->state == PROVIDER_STOPPING};
	(void)snprintf(s->id, sizeof(s->id), "%s", in->id);
	(void)snprintf(s->node, sizeof(s->node), "%s", in->node);
	(void)snprintf(s->addr, sizeof(s->addr), "%s", in->addr);
	map_put(ids, s->id, s);
	engine_event(c->e, in->node, in->gen, "stray", in->id);
	c->e->poll.moving = true; /* it may have to wait for a snapshot */
}

static void forget_strays(struct cloud *c)
{
	size_t n = 0, at = 0, apart_at = 0;

	for (size_t i = 0; i < c->nstrays; i++) {
		if (i == c->strays_at)
			at = n;
		if (i == c->apart_at)
			apart_at = n;
		if (c->strays[i].seen) {
			c->strays[n] = c->strays[i];
			c->strays[n++].seen = false;
		}
	}
	c->nstrays = n;
	c->strays_at = at < n ? at : 0; /* the same place among those that are left */
	c->apart_at = apart_at < n ? apart_at : 0;
	c->strays_ms = c->list_began;
}

/* --- instances whose tags cannot be read --------------------------------------------------------
 *
 * The id is what an instance is; its tag is only how we find what we do not know.  So one that a
 * row has is that row's, whatever became of its tag.  Any other may be a node's that we could not
 * say, or nobody's: it is left alone, and people are told. */

static struct unread *unread_new(struct cloud *c, const char *id)
{
	struct unread *o;

	if (c->nunread == ENGINE_UNREAD_MAX)
		return NULL;
	if (c->unread == NULL) /* in one piece, since the map borrows the ids */
		c->unread = mem_zalloc(ENGINE_UNREAD_MAX * sizeof(*c->unread));
	o = &c->unread[c->nunread++];
	o->first_ms = engine_now(c->e);
	(void)snprintf(o->id, sizeof(o->id), "%s", id);
	map_put(&c->unread_ids, o->id, o);
	engine_event(c->e, "", 0, "unreadable", id);
	return o;
}

static void add_unread(struct cloud *c, const struct provider_instance *in)
{
	struct unread *o = map_get(&c->unread_ids, in->id);
	int64_t first_ms = engine_now(c->e);

	c->unreadable++;
	if (o == NULL)
		o = unread_new(c, in->id);
	if (o != NULL) {
		o->shown = true;
		first_ms = o->first_ms;
	}
	if (first_ms > c->odd_ms)
		c->odd_ms = first_ms;
}

/* An instance that was accepted has failed before it ran: the place has refused it, only later. */
static enum node_reason failed(struct cloud *c, struct fleet_node *fn,
			       const struct provider_instance *in)
{
	const struct provider_failure *f = list_failure(c, in->id);
	const struct conf_offer *o = engine_offer_of(c->e, &fn->n);
	enum node_reason why = f != NULL ? node_reason_of(f->code) : NODE_BECAUSE_NONE;
	struct provider_result r = {0};

	if (f == NULL || !node_coming(&fn->n) || fn->n.release || fn->busy)
		return why;
	(void)snprintf(r.message, sizeof(r.message), "%s", f->message);
	place_say_why(c, fn, why != NODE_BECAUSE_NONE ? why : NODE_BECAUSE_STOPPED, r.message);
	fleet_because(fn, why != NODE_BECAUSE_NONE ? why : NODE_BECAUSE_STOPPED, fn->name->why);
	r.code = f->code;
	if (o != NULL && why != NODE_BECAUSE_NONE)
		place_failed_later(c->e, o, &r, fn->n.sent_ms);
	return why;
}

static void saw(struct cloud *c, struct fleet_node *fn, const struct provider_instance *in)
{
	struct node_event ev = {.type = NODE_EV_SEEN,
				.now_ms = engine_now(c->e),
				.shown_ms = fn->seen_ms,
				.instance = in};

	if (in->state == PROVIDER_FAILED || (in->state == PROVIDER_ENDED && !in->taken))
		ev.reason = failed(c, fn, in);
	fn->seen_ms = c->list_began;
	fn->lacked_ms = 0;
	if (in->created_ms > 0)
		fn->said_ms = times_of(c, in->created_ms);
	/* Another list, or an answer, has shown its end since this list began. */
	if (fn->n.state == NODE_GONE && c->list_began < fn->n.since_ms)
		return;
	/* While a create is on the wire its answer is posted first.  But that may be older than
	 * this list, and no later list need show the instance (I22): keep its end.  A sighting
	 * during a delete is posted: it cancels an earlier absence (I9, F15). */
	if (!fn->busy || fn->n.state == NODE_DELETING)
		engine_post(c->e, fn, &ev);
	else if (in->state == PROVIDER_ENDED)
		fleet_ended(fn, in);
}

/* May an unreadable instance be the result of this create, whose answer was lost?  Then the row's
 * absence proves nothing, and another purchase might be the second (I9).  Not if the instance is
 * older than the create. */
static bool may_be_unread(const struct cloud *c, const struct fleet_node *fn)
{
	const struct node *n = fn->next != NULL ? fn->next : &fn->n;

	return c->unreadable > 0 && n->instance[0] == '\0' && n->sent_ms <= c->odd_ms;
}

static void give_way(struct engine *e, struct fleet_node *fn)
{
	struct node_event ev = {
		.type = NODE_EV_RELEASE, .reason = NODE_BECAUSE_LOST, .now_ms = engine_now(e)};

	fleet_forget_place(fn->name);
	engine_event(e, fn->n.name, fn->n.gen, "superseded", "another instance is the node now");
	engine_post(e, fn, &ev);
}

/* What it has cost is a guess, which finance must correct by the provider's invoice. */
static void tell_unpriced(struct engine *e, const struct node *n)
{
	char rate[FMT_MONEY_SIZE], text[200];

	(void)snprintf(text, sizeof(text),
		       "its price when it was created is not known: it counts with %s %s/h, the "
		       "most that it may cost now",
		       fmt_money(rate, n->rate_nano_h), e->conf->currency);
	engine_event(e, n->name, n->gen, "unpriced", text);
}

struct bill_ask { /* of an instance that is to be adopted as *n */
	const struct fleet_name *nm;
	const struct provider_instance *in;
	const struct conf *conf;
	struct node *n;
};

static int take_bill(void *ctx, const struct journal_usage *u)
{
	const struct bill_ask *a = ctx;
	const struct conf_pool *p = conf_pool_named(a->conf, u->pool);

	/* That row is another instance's; and what was made after the end has its id again. */
	if (fleet_gen(a->nm, u->gen) != NULL || a->in->created_ms > u->end_ms)
		return 0;
	a->n->gen = u->gen;
	a->n->pool = p != NULL ? conf_pool_index(a->conf, p) : a->n->pool;
	a->n->start_ms = u->start_ms;
	a->n->end_ms = u->end_ms;
	a->n->rate_nano_h = u->rate_nano_h;
	return 0;
}

/* Its row may be forgotten, and its bill is not (F14): then go on with that bill, as the generation
 * that has it, or all of it would be counted again. */
static void find_bill(struct cloud *c, const struct fleet_name *nm,
		      const struct provider_instance *in, struct node *n)
{
	const struct journal_usage_key key = {in->node, in->id, in->gen};
	struct bill_ask ask = {nm, in, c->e->conf, n};
	struct err err = {0};

	if (journal_usage_of(c->e->d.journal, &key, take_bill, &ask, &err) != 0)
		log_write(c->e->d.log, LOG_ERROR,
			  "cannot read whether it has a bill: its cost may count twice", "node",
			  in->node, "instance", in->id, "error", err.msg, NULL);
}

/* Make the row of an instance that is adopted, and find out what it costs.  false: its price is a
 * guess. */
static bool make_row(struct cloud *c, const struct fleet_name *nm,
		     const struct provider_instance *in, struct node *n)
{
	int64_t rate;
	bool priced;

	n->pool = nm->pool;
	find_bill(c, nm, in, n);
	rate = n->rate_nano_h;
	priced = place_adopt(c, n, in);
	if (n->end_ms == 0)
		return priced;
	n->rate_nano_h = rate;
	return true;
}

/* Adopt an instance with our tag and no row, whose node a pool names: the journal was lost, or is
 * an older copy.  It becomes a row with generation gen: kept if slurmctld uses the node and there
 * is no other row, or this instance is the one in use; otherwise deleted. */
static void adopt(struct cloud *c, struct fleet_name *nm, const struct provider_instance *in,
		  uint64_t gen)
{
	struct engine *e = c->e;
	struct node_event seen = {.type = NODE_EV_SEEN, .now_ms = engine_now(e), .instance = in};
	struct node_event up = {.type = NODE_EV_REGISTERED, .now_ms = engine_now(e)};
	enum drift_fate fate = drift_fate(nm, in, e->started_ms);
	struct fleet_node *fn;
	struct node n;
	bool priced;

	node_init(&n, in->node, gen, engine_now(e));
	priced = make_row(c, nm, in, &n);
	n.release = fate == DRIFT_LET_GO;
	n.reason = n.release ? NODE_BECAUSE_LOST : NODE_BECAUSE_NONE;
	if (fate == DRIFT_REPLACE)
		give_way(e, fleet_live(nm));
	/* Its node may have been refused before the instance was found. */
	if (!n.release && in->state != PROVIDER_STOPPING && in->state != PROVIDER_RECLAIMING) {
		fleet_unbar(nm);
		fleet_forget_refusal(nm);
	}
	e->count.strays++;
	fn = engine_insert(e, &n,
			   n.end_ms != 0 ? "found at the provider, after its bill had ended"
					 : "found at the provider, unknown to the journal");
	if (!priced)
		tell_unpriced(e, &n);
	fn->seen_ms = c->list_began;
	fn->said_ms = times_of(c, in->created_ms);
	engine_post(e, fn, &seen);
	if (!n.release && slurm_is_on(nm->flags) && !slurm_is_silent(nm->flags))
		engine_post(e, fn, &up); /* a job may run on it */
}

/* Post what the list says of an instance that is a row's, or will be.  false: it is not. */
static bool take_known(struct cloud *c, const struct provider_instance *in)
{
	struct fleet_node *fn = owner_once(c, in->id);
	struct fleet_name *nm = fleet_find(&c->e->fleet, in->node);

	if (fn == NULL && is_readable(c, in) && nm != NULL)
		fn = drift_owner(nm, in);
	if (fn == NULL || owner_provider(c->e, &fn->n) != c || !drift_owns(fn, in))
		return false;
	saw(c, fn, in);
	return true;
}

static void take_unknown(struct cloud *c, const struct provider_instance *in, struct map *strays)
{
	struct fleet_name *named = fleet_find(&c->e->fleet, in->node);
	struct fleet_name *nm = fleet_is_ours(named) ? named : NULL;
	struct fleet_node *fn = nm != NULL ? drift_owner(nm, in) : NULL;
	struct drift_listed l = {.in = in, .nm = nm, .fn = fn};
	const struct cloud *of;
	enum drift_claim claim;

	of = fn != NULL ? owner_provider(c->e, &fn->n) : NULL;
	if (of != NULL && of != c && drift_owns(fn, in))
		return; /* two providers share an account: the one with the row handles it */
	if (nm != NULL) {
		l.here = fn != NULL ? of == c : cloud_sells(c->e, nm->pool, c);
		l.priced = place_priced(c, nm->pool);
	}
	claim = drift_claim(&l);
	/* Its row may have ended since this list began, and be forgotten: adopted, it would be
	 * billed and deleted a second time, and count against limits (I21, I22).  The next list
	 * will tell. */
	if (nm != NULL && (claim == DRIFT_ADOPT || claim == DRIFT_ADOPT_NEXT) &&
	    c->list_began < nm->forgot_ms)
		claim = DRIFT_LEAVE;
	c->unsure = c->unsure || claim == DRIFT_ASK;
	if (claim == DRIFT_STRAY)
		add_stray(c, in, strays);
	if (nm == NULL)
		return;
	/* Before the first list nothing is sent, so a row that is wanted until then can take the
	 * generation of the instance found, which becomes its own. */
	if (l.here && in->gen > nm->last_gen && (claim != DRIFT_ASK || c->listed))
		nm->last_gen = in->gen;
	if (claim == DRIFT_ADOPT)
		adopt(c, nm, in, in->gen);
	else if (claim == DRIFT_ADOPT_NEXT)
		adopt(c, nm, in, nm->last_gen + 1);
}

static void count_unreadable(struct engine *e)
{
	e->count.unreadable = 0;
	for (size_t i = 0; i < e->conf->nproviders; i++)
		e->count.unreadable += e->cloud->all[i].unreadable;
}

/* Post instances that have rows.  The others that may be a node's are kept as the first of c->seen.
 * *left as above. */
static bool take_some_known(struct cloud *c, size_t *left)
{
	struct comparison *k = &c->comparison;

	for (; *left > 0 && k->at < c->nseen; k->at++, --*left) {
		struct provider_instance *in = &c->seen[k->at];

		times_instance(c, in);
		in->reclaim_ms = notice_when(c, PROVIDER_NOTICE_RECLAIM, in->reclaim_ms);
		if (!is_ours(c, in) && owner_once(c, in->id) == NULL)
			k->foreign++; /* never touched (I11) */
		else if (!take_known(c, in) && (is_readable(c, in) || in->state != PROVIDER_ENDED))
			c->seen[k->n++] = *in;
	}
	return k->at == c->nseen;
}

/* Take those that are left, now that all instances with rows are known: the decisions about them
 * depend on that.  One may have got its row since it was looked at. */
static void take_the_rest(struct cloud *c)
{
	struct comparison *k = &c->comparison;
	struct map strays;
	size_t n = 0;

	c->e->count.foreign = k->foreign;
	c->unreadable = 0;
	c->odd_ms = 0;
	for (size_t i = 0; i < c->nunread; i++)
		c->unread[i].shown = false;
	for (size_t i = 0; i < k->n; i++) {
		const struct provider_instance *in = &c->seen[i];

		if (take_known(c, in))
			continue;
		if (is_readable(c, in))
			c->seen[n++] = *in;
		else
			add_unread(c, in);
	}
	count_unreadable(c->e);
	map_init(&strays);
	for (size_t i = 0; i < n; i++)
		take_unknown(c, &c->seen[i], &strays);
	map_fini(&strays);
	forget_strays(c);
}

static bool is_shown(const struct cloud *c, const struct fleet_node *fn)
{
	return fn->seen_ms == c->list_began;
}

/* What is billed may end with this list, if nothing after it shows that the machine lives. */
static void note_lack(const struct cloud *c, struct fleet_node *fn)
{
	if (fn->lacked_ms == 0 && fn->n.start_ms != 0 &&
	    c->list_began >= fn->n.start_ms + c->conf->settle_ms)
		fn->lacked_ms = engine_now(c->e); /* it may have ended while the list was made */
}

static void take_absent(struct cloud *c, bool brake)
{
	struct engine *e = c->e;

	for (size_t i = 0; i < e->fleet.nall; i++)
		for (struct fleet_node *fn = e->fleet.all[i]->newest; fn; fn = fn->older) {
			struct node_event ev = {.type = NODE_EV_ABSENT,
						.now_ms = engine_now(e),
						.list_ms = c->list_began,
						.shown_ms = fn->seen_ms};

			if (is_shown(c, fn) || fn->busy || cloud_of(e, &fn->n) != c ||
			    !drift_absent(fn, brake) || may_be_unread(c, fn))
				continue;
			if (!brake)
				note_lack(c, fn);
			ev.lacked_ms = fn->lacked_ms;
			engine_post(e, fn, &ev);
		}
}

static bool must_brake(const struct cloud *c)
{
	size_t alive = 0, absent = 0;

	for (size_t i = 0; i < c->e->fleet.nall; i++)
		for (struct fleet_node *fn = c->e->fleet.all[i]->newest; fn; fn = fn->older) {
			if (cloud_of(c->e, &fn->n) != c || !drift_must_show(fn))
				continue;
			alive++;
			absent += !is_shown(c, fn);
		}
	return drift_brake(alive, absent);
}

/* Compare a provider's whole list, c->seen, with the rows, and stage what follows: as much of it as
 * one turn may.  Changes c->seen. */
static bool inventory_take(struct cloud *c)
{
	/* Less than half of what a turn may look at: there is much of a row that is long not in the
	 * processor's caches. */
	const size_t piece = c->e->slice.write * ENGINE_LOOKS * 2 / 5;
	size_t left = piece;
	bool all = merge_some(c, &left) && take_some_known(c, &left);
	bool brake;

	engine_spend(c->e, (piece - left) / ENGINE_LOOKS);
	if (!all)
		return false;
	take_the_rest(c);
	brake = must_brake(c);
	if (brake)
		log_write(c->e->d.log, LOG_WARN,
			  "the list lacks many of our instances: not believed", "provider",
			  c->conf->name, NULL);
	take_absent(c, brake);
	return true;
}

const struct engine_part inventory_part = {
	.name = "inventory",
	.listed = inventory_take,
};
