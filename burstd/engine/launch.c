#include "engine/private.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fmt.h"
#include "base/mem.h"

struct sent { /* what an answer to a create is for */
	uint64_t batch;
};

struct answer { /* to a create: its members are posted from `at` on */
	struct answer *next;
	uint64_t batch;
	struct provider_result r;
	size_t at;
	bool heard; /* what it says of the place is noted */
};

static struct batch *batch_find(struct engine *e, uint64_t id)
{
	struct batch *b = e->batches;

	while (b != NULL && b->j.id != id)
		b = b->next;
	return b;
}

static void batch_free(struct batch *b)
{
	free(b->members);
	free(b->wants);
	free(b);
}

static void answer_free(struct answer *a)
{
	provider_result_fini(&a->r);
	free(a);
}

void launch_free(struct engine *e)
{
	while (e->answers != NULL) {
		struct answer *a = e->answers;

		e->answers = a->next;
		answer_free(a);
	}
	while (e->batches != NULL) {
		struct batch *b = e->batches;

		e->batches = b->next;
		batch_free(b);
	}
}

/* NULL too for one that was sent again with another batch: its answer comes there. */
static struct fleet_node *member_row(const struct batch *b, size_t i)
{
	const struct member *m = &b->members[i];
	struct fleet_node *fn = m->name != NULL ? fleet_gen(m->name, m->gen) : NULL;

	return fn != NULL && fn->n.batch == b->j.id ? fn : NULL;
}

static struct cloud *cloud_of(struct engine *e, const struct batch *b)
{
	return &e->clouds[b->cloud];
}

/* NULL: the configuration has it no more. */
static const struct conf_offer *rung_of(const struct engine *e, const struct batch *b)
{
	return conf_rung_named(&e->conf->pools[b->pool], b->j.offer);
}

/* The request, the same bytes every time: from the members in their order and where they are
 * bought, which no reload changes, and nothing else (I4).  -1: there is no such place any more. */
static int make_op(const struct engine *e, struct batch *b, struct provider_op *op,
		   struct provider_place *place, struct err *err)
{
	const struct conf_offer *o = rung_of(e, b);

	if (o == NULL)
		return err_set(err, ERR_INVALID, "pool %s has no offer \"%s\" any more", b->j.pool,
			       b->j.offer);
	if (b->wants == NULL)
		b->wants = mem_zalloc(b->n * sizeof(*b->wants));
	for (size_t i = 0; i < b->n; i++)
		b->wants[i] = (struct provider_want){.node = b->members[i].name->name,
						     .gen = b->members[i].gen,
						     .group = b->members[i].group};
	*place = place_for_driver(o);
	*op = (struct provider_op){.kind = PROVIDER_CREATE};
	op->u.create = (struct provider_create){.cluster = e->d.uuid,
						.token = b->j.token,
						.places = place,
						.nplaces = 1,
						.wants = b->wants,
						.nwants = b->n};
	return 0;
}

/* --- answers -----------------------------------------------------------------------------------
 */

static const struct {
	enum node_event_type event;
	enum node_reason reason;
} verdicts[PROVIDER_NCODES] = {
	[PROVIDER_OK] = {NODE_EV_CREATED, NODE_BECAUSE_NONE},
	[PROVIDER_CAPACITY] = {NODE_EV_REFUSED, NODE_BECAUSE_CAPACITY},
	[PROVIDER_QUOTA] = {NODE_EV_REFUSED, NODE_BECAUSE_QUOTA},
	[PROVIDER_DENIED] = {NODE_EV_REFUSED, NODE_BECAUSE_DENIED},
	[PROVIDER_INVALID] = {NODE_EV_REFUSED, NODE_BECAUSE_INVALID},
	[PROVIDER_NOT_FOUND] = {NODE_EV_LOST, NODE_BECAUSE_NONE},
	[PROVIDER_CONFLICT] = {NODE_EV_LOST, NODE_BECAUSE_NONE},
	[PROVIDER_NOT_YET] = {NODE_EV_NOTSENT, NODE_BECAUSE_NONE},
	[PROVIDER_RATE] = {NODE_EV_NOTSENT, NODE_BECAUSE_NONE},
	[PROVIDER_TRANSIENT] = {NODE_EV_NOTSENT, NODE_BECAUSE_NONE},
	[PROVIDER_AMBIGUOUS] = {NODE_EV_LOST, NODE_BECAUSE_NONE},
};

static void answer_one(struct cloud *c, struct fleet_node *fn, const struct provider_result *r,
		       const struct provider_item *it)
{
	enum provider_code code = it != NULL ? it->code : r->code;
	struct node_event ev = {.type = verdicts[code].event,
				.reason = verdicts[code].reason,
				.now_ms = engine_now(c->e),
				.instance = it != NULL ? &it->instance : NULL};

	assert(it != NULL || ev.type != NODE_EV_CREATED);
	fn->busy = false;
	if (r->retry_after_ms > 0)
		ev.retry_ms = ev.now_ms + r->retry_after_ms;
	if (ev.type == NODE_EV_CREATED &&
	    (it->instance.id[0] == '\0' || strcmp(it->instance.node, fn->n.name) != 0))
		ev.type = NODE_EV_LOST; /* not an answer to what was asked */
	if (ev.type == NODE_EV_CREATED)
		c->e->count.instances_created++;
	if (ev.type == NODE_EV_REFUSED)
		(void)snprintf(fn->name->why, sizeof(fn->name->why), "%.60s: %.90s", c->conf->name,
			       r->message[0] ? r->message : node_reason_text(ev.reason));
	engine_post(c->e, fn, &ev);
}

/* It is on the wire until all of its answer is posted. */
static void on_create(struct cloud *c, void *ctx, const struct provider_result *r)
{
	const struct sent *sent = ctx;
	struct answer *a = mem_zalloc(sizeof(*a));

	a->batch = sent->batch;
	a->r = (struct provider_result){.code = r->code, .retry_after_ms = r->retry_after_ms};
	memcpy(a->r.message, r->message, sizeof(a->r.message));
	if (r->code == PROVIDER_OK) {
		a->r.nitems = r->nitems;
		a->r.items = mem_zalloc((r->nitems + 1) * sizeof(*r->items));
		memcpy(a->r.items, r->items, r->nitems * sizeof(*r->items));
	}
	*c->e->answers_last = a;
	c->e->answers_last = &a->next;
}

static void answer_member(struct cloud *c, struct fleet_node *fn, const struct answer *a)
{
	static const struct provider_item lost = {.code = PROVIDER_AMBIGUOUS};
	const struct provider_item *it = NULL;

	if (a->r.code == PROVIDER_OK)
		it = a->at < a->r.nitems ? &a->r.items[a->at] : &lost;
	answer_one(c, fn, &a->r, it);
}

/* What the answer says of the place.  A repeat that is refused was looked at anew; any other answer
 * may be that to the first request. */
static void heard(struct engine *e, const struct batch *b, const struct provider_result *r)
{
	const struct conf_offer *o = rung_of(e, b);
	bool anew = verdicts[r->code].event == NODE_EV_REFUSED;

	if (o != NULL)
		place_bought(e, o, r, b->n, anew ? b->sent_ms : b->j.at_ms);
}

/* As much of the oldest answer as there is room for; true: all of it. */
static bool post_answer(struct engine *e, struct answer *a)
{
	struct batch *b = batch_find(e, a->batch);
	struct cloud *c;

	assert(b != NULL && b->inflight);
	c = cloud_of(e, b);
	if (!a->heard) /* before any of its members is told, and anything more is sent there */
		heard(e, b, &a->r);
	a->heard = true;
	for (; a->at < b->n; a->at++) {
		struct fleet_node *fn = member_row(b, a->at);

		if (fn == NULL || (!fn->busy && fn->n.state != NODE_INDOUBT))
			continue;
		if (e->left == 0)
			return false;
		engine_spend(e, 1);
		answer_member(c, fn, a);
	}
	b->inflight = false;
	cloud_hurry(c);
	return true;
}

void launch_answered(struct engine *e)
{
	while (e->answers != NULL && !e->dead && post_answer(e, e->answers)) {
		struct answer *a = e->answers;

		e->answers = a->next;
		if (e->answers == NULL)
			e->answers_last = &e->answers;
		answer_free(a);
	}
}

/* --- sending -----------------------------------------------------------------------------------
 */

static void batch_send(struct cloud *c, struct batch *b)
{
	struct sent *sent = mem_zalloc(sizeof(*sent));
	struct provider_place place;
	struct provider_op op;

	(void)make_op(c->e, b, &op, &place, NULL); /* its hash was made of it just now */
	sent->batch = b->j.id;
	b->place = place; /* the request may be read again when its answer comes */
	op.u.create.places = &b->place;
	b->inflight = true;
	b->sent_ms = engine_now(c->e);
	for (size_t i = 0; i < b->n; i++) {
		struct fleet_node *fn = member_row(b, i);

		if (fn != NULL && (fn->n.state == NODE_CREATING || fn->n.state == NODE_INDOUBT))
			fn->busy = true;
	}
	cloud_send(c, &op, on_create, sent);
}

/* 0 and the hash of the request's bytes; -1: it cannot be built. */
static int batch_hash(struct cloud *c, struct batch *b, uint64_t *hash, struct err *err)
{
	struct provider_request rq = {0};
	struct provider_place place;
	struct provider_op op;

	if (make_op(c->e, b, &op, &place, err) != 0 || c->ops->build(c->self, &op, &rq, err) != 0)
		return -1;
	*hash = cloud_body_hash(&rq);
	provider_request_fini(&rq);
	return 0;
}

static struct batch *batch_new(struct engine *e, struct fleet_node **nodes, size_t n)
{
	const struct node *first = &nodes[0]->n; /* all are of one pool and one place */
	struct batch *b = mem_zalloc(sizeof(*b));
	uint64_t now = (uint64_t)engine_now(e);

	/* From the clock: never used before, even with a journal that was lost or is yesterday's
	 * (F58). */
	e->last_batch = e->last_batch >= now ? e->last_batch + 1 : now;
	b->j.id = e->last_batch;
	b->j.at_ms = engine_now(e);
	(void)snprintf(b->j.token, sizeof(b->j.token), "burstd-%.8s-%" PRIu64, e->d.uuid, b->j.id);
	(void)snprintf(b->j.pool, sizeof(b->j.pool), "%s", e->conf->pools[first->pool].name);
	(void)snprintf(b->j.offer, sizeof(b->j.offer), "%s", first->offer);
	(void)snprintf(b->j.provider, sizeof(b->j.provider), "%s", first->provider);
	b->pool = first->pool;
	b->cloud = first->cloud;
	b->n = n;
	b->members = mem_zalloc(n * sizeof(*b->members));
	for (size_t i = 0; i < n; i++)
		b->members[i] = (struct member){nodes[i]->name, nodes[i]->n.gen, nodes[i]->n.group};
	b->next = e->batches;
	e->batches = b;
	return b;
}

static void record(struct cloud *c, const struct batch *b, const char *verb)
{
	struct audit a;

	audit_begin(&a, b->n);
	for (size_t i = 0; i < b->n; i++)
		audit_create(&a, b->members[i].name,
			     fleet_gen(b->members[i].name, b->members[i].gen));
	audit_put(c->e, &a, verb, c->conf->name, b->j.token);
}

/* Intent, durable, then the request (I1, I5). */
static void send_new(struct cloud *c, struct fleet_node **nodes, size_t n)
{
	struct engine *e = c->e;
	struct batch *b = batch_new(e, nodes, n);
	struct err err;
	int rc = batch_hash(c, b, &b->j.body_hash, &err);

	for (size_t i = 0; i < n; i++) {
		struct node_event ev = {.type = rc == 0 ? NODE_EV_START : NODE_EV_REFUSED,
					.reason = NODE_BECAUSE_INVALID,
					.now_ms = engine_now(e),
					.batch = b->j.id,
					.slot = (uint32_t)i};

		if (rc != 0)
			(void)snprintf(nodes[i]->name->why, sizeof(nodes[i]->name->why), "%.150s",
				       err.msg);
		engine_post(e, nodes[i], &ev);
	}
	if (rc == 0) {
		journal_put_batch(engine_tx(e), &b->j);
		journal_put_number(engine_tx(e), ENGINE_LAST_BATCH, (int64_t)b->j.id);
		record(c, b, "create");
	}
	engine_commit(e);
	engine_spend(e, n);
	if (rc == 0 && !e->dead)
		batch_send(c, b);
}

struct forming { /* a batch being filled: nodes of one place */
	struct fleet_node **v;
	size_t n, cap;
	const struct conf_offer *rung; /* NULL: nothing was put into it */
	bool asked; /* may anything be sent there?  That is asked once for all that goes now */
	enum place_answer may;
};

static struct cloud *cloud_for(struct engine *e, const struct forming *f)
{
	return &e->clouds[f->rung->provider_index];
}

/* How many of those one create can take: whole jobs if it can be. */
static size_t fitting(struct cloud *c, const struct forming *f)
{
	struct provider_place place = place_for_driver(f->rung);
	struct provider_create ask = {
		.cluster = c->e->d.uuid, .token = "", .places = &place, .nplaces = 1};
	struct provider_want *wants;
	size_t n, whole;

	if (c->ops->fits == NULL)
		return f->n;
	wants = mem_zalloc(f->n * sizeof(*wants));
	for (size_t i = 0; i < f->n; i++)
		wants[i] = (struct provider_want){.node = f->v[i]->name->name,
						  .gen = f->v[i]->n.gen,
						  .group = f->v[i]->n.group};
	ask.wants = wants;
	ask.nwants = f->n;
	n = c->ops->fits(c->self, &ask);
	assert(n > 0 && n <= f->n);
	for (whole = n; whole > 0 && whole < f->n && wants[whole].group != 0 &&
			wants[whole].group == wants[whole - 1].group;)
		whole--;
	free(wants);
	return whole > 0 ? whole : n;
}

struct ranked {
	struct fleet_node *fn;
	size_t size, at; /* of its gang; where it was */
};

static int by_size(const void *a, const void *b)
{
	const struct ranked *x = a, *y = b;

	if (x->size != y->size)
		return x->size < y->size ? -1 : 1;
	return x->at < y->at ? -1 : 1;
}

/* Small jobs first.  A provider that knows of no gangs makes the front of a batch if it cannot make
 * all of it: so most jobs come whole, and a driver finds those of one size side by side. */
static void sort_gangs(struct forming *f)
{
	struct ranked *v = mem_zalloc((f->n + 1) * sizeof(*v));

	for (size_t i = 0, size; i < f->n; i += size) {
		for (size = 1; i + size < f->n && f->v[i]->n.group != 0 &&
			       f->v[i + size]->n.group == f->v[i]->n.group;)
			size++;
		for (size_t k = 0; k < size; k++)
			v[i + k] = (struct ranked){f->v[i + k], size, i + k};
	}
	qsort(v, f->n, sizeof(*v), by_size);
	for (size_t i = 0; i < f->n; i++)
		f->v[i] = v[i].fn;
	free(v);
}

/* Not sent at all: the place is known to have nothing. */
static void refuse_unsent(struct engine *e, struct forming *f)
{
	char why[160], at[FMT_TIME_SIZE];
	int64_t until = place_opens_ms(e, f->rung);

	if (until != 0)
		(void)snprintf(why, sizeof(why), "%.60s: no capacity: cools down until %.19sZ",
			       f->rung->provider, fmt_time(at, until));
	else
		(void)snprintf(why, sizeof(why), "%.60s: no capacity: another purchase is tried",
			       f->rung->provider);
	for (size_t i = 0; i < f->n; i++) {
		struct node_event ev = {.type = NODE_EV_REFUSED,
					.reason = NODE_BECAUSE_CAPACITY,
					.now_ms = engine_now(e)};

		memcpy(f->v[i]->name->why, why, sizeof(why));
		engine_post(e, f->v[i], &ev);
	}
	engine_spend(e, f->n);
	f->n = 0;
	engine_commit(e);
}

static void flush(struct engine *e, struct forming *f)
{
	struct cloud *c = cloud_for(e, f);

	if (!cloud_ready(c) || e->dead)
		return;
	if (!f->asked)
		f->may = place_buy(e, f->rung);
	f->asked = true;
	if (f->may == PLACE_SOLD_OUT)
		refuse_unsent(e, f);
	if (f->may != PLACE_SELLS)
		return;
	if ((c->caps.flags & PROVIDER_GANGS) == 0)
		sort_gangs(f);
	while (f->n > 0 && cloud_ready(c) && !e->dead) {
		size_t n = fitting(c, f);

		send_new(c, f->v, n);
		f->n -= n;
		memmove(f->v, f->v + n, f->n * sizeof(struct fleet_node *));
	}
}

/* Put one gang into its place's batch; a gang that does not fit any batch goes in pieces. */
static void add_gang(struct engine *e, struct forming *f, struct fleet_node **gang_v, size_t n)
{
	size_t max = cloud_for(e, f)->caps.create_max;

	if (f->n > 0 && f->n + n > max)
		flush(e, f);
	for (size_t i = 0; i < n; i++) {
		if (f->n == max)
			flush(e, f);
		if (f->n == max)
			return; /* no slot: the rest waits for an answer */
		if (f->n == f->cap) {
			f->cap = f->cap == 0 ? 16 : 2 * f->cap;
			f->v = mem_realloc(f->v, f->cap * sizeof(struct fleet_node *));
		}
		f->v[f->n++] = gang_v[i];
	}
}

/* Its offer was taken out of the configuration before it was sent. */
static void refuse_homeless(struct engine *e, struct fleet_node **v, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		struct node_event ev = {.type = NODE_EV_REFUSED,
					.reason = NODE_BECAUSE_INVALID,
					.now_ms = engine_now(e)};

		(void)snprintf(v[i]->name->why, sizeof(v[i]->name->why),
			       "pool %.60s has no offer \"%.60s\" any more",
			       e->conf->pools[v[i]->n.pool].name, v[i]->n.offer);
		engine_post(e, v[i], &ev);
	}
	engine_commit(e);
}

/* The batch that is filled for a place: bases[p] is the first of pool p. */
static struct forming *forming_for(struct engine *e, struct forming *all, const size_t *bases,
				   const struct node *n)
{
	const struct conf_offer *o = place_of(e, n);
	struct forming *f;

	if (o == NULL)
		return NULL;
	f = &all[bases[n->pool] + (size_t)(o - conf_rungs(&e->conf->pools[n->pool], NULL))];
	f->rung = o;
	return f;
}

static bool same_place(const struct node *a, const struct node *b)
{
	return a->pool == b->pool && strcmp(a->offer, b->offer) == 0;
}

/* A job may span places, a create must not. */
static void form(struct engine *e, struct forming *all, const size_t *bases,
		 struct fleet_node **wanted, size_t n)
{
	for (size_t i = 0, g; i < n && !e->dead; i += g) {
		const struct node *first = &wanted[i]->n;
		struct forming *f = forming_for(e, all, bases, first);

		for (g = 1; first->group != 0 && i + g < n &&
			    same_place(&wanted[i + g]->n, first) &&
			    wanted[i + g]->n.group == first->group;)
			g++;
		if (f == NULL)
			refuse_homeless(e, wanted + i, g);
		else if (wanted_goes(engine_cloud(e, first)))
			add_gang(e, f, wanted + i, g);
	}
}

static bool any_went(struct fleet_node *const *wanted, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (wanted[i]->n.state != NODE_WANTED || wanted[i]->next != NULL)
			return true;
	return false;
}

/* Some of what is WANTED; e->more: not all that could go. */
static void launch_new(struct engine *e)
{
	size_t *bases = mem_zalloc((e->conf->npools + 1) * sizeof(*bases)), all = 0, rungs;
	struct forming *forming;
	struct fleet_node **wanted;
	size_t n = wanted_collect(e, &wanted);

	for (size_t p = 0; p < e->conf->npools; p++, all += rungs) {
		bases[p] = all;
		(void)conf_rungs(&e->conf->pools[p], &rungs);
	}
	forming = mem_zalloc((all + 1) * sizeof(*forming));
	form(e, forming, bases, wanted, n);
	for (size_t i = 0; i < all; i++) {
		if (!e->dead && forming[i].n > 0)
			flush(e, &forming[i]);
		free(forming[i].v);
	}
	/* Where nothing could go, an answer or the time does it: to try again at once would be in
	 * the way of just that. */
	e->more = e->more || (n >= e->slice.send && any_went(wanted, n));
	free(forming);
	free(bases);
	free(wanted);
}

static bool wants_repeat(struct engine *e, const struct batch *b)
{
	bool some = false;

	if (b->inflight)
		return false;
	for (size_t i = 0; i < b->n; i++) {
		struct fleet_node *fn = member_row(b, i);
		struct node_limits lim;

		if (fn == NULL || fn->n.state != NODE_INDOUBT)
			continue;
		some = some || node_want(&fn->n, engine_now(e), engine_limits(e, &fn->n, &lim)) ==
				       NODE_WANT_CREATE;
	}
	return some;
}

/* Nothing in a repeat may be settled otherwise: a member that was refused, or throttled and is
 * going out with another batch, could be made by a provider that looks at each afresh. */
static bool repeatable(const struct batch *b)
{
	for (size_t i = 0; i < b->n; i++) {
		const struct fleet_node *fn = member_row(b, i);

		if (fn == NULL || (fn->n.state != NODE_INDOUBT && fn->n.instance[0] == '\0'))
			return false;
	}
	return true;
}

/* A repeat must be the same bytes; if it cannot be, only lists can tell what became of it (I4, I6).
 */
static void give_up_repeating(struct engine *e, struct batch *b)
{
	for (size_t i = 0; i < b->n; i++) {
		struct fleet_node *fn = member_row(b, i);
		struct node_event ev = {.type = NODE_EV_REFUSED, .now_ms = engine_now(e)};

		if (fn != NULL && fn->n.state == NODE_INDOUBT)
			engine_post(e, fn, &ev);
	}
	engine_commit(e);
}

static void launch_again(struct engine *e)
{
	for (struct batch *b = e->batches; b != NULL && !e->dead; b = b->next) {
		struct cloud *c = cloud_of(e, b);
		uint64_t hash = 0;

		if (!wanted_goes(c) || !wants_repeat(e, b))
			continue;
		/* Nor may a repeat buy what was never made, in a pool that is closed. */
		if (pool_closed(e, b->pool) != NULL || !repeatable(b) ||
		    batch_hash(c, b, &hash, NULL) != 0 || hash != b->j.body_hash) {
			give_up_repeating(e, b);
			continue;
		}
		record(c, b, "create-again");
		engine_commit(e);
		/* That may have told us more. */
		if (!e->dead && wants_repeat(e, b) && repeatable(b))
			batch_send(c, b);
	}
}

void launch_settle(struct engine *e)
{
	struct batch **at = &e->batches;

	while (*at != NULL) {
		struct batch *b = *at;
		bool open = b->inflight;

		for (size_t i = 0; !open && i < b->n; i++) {
			struct fleet_node *fn = member_row(b, i);

			open = fn != NULL &&
			       (fn->n.state == NODE_CREATING || fn->n.state == NODE_INDOUBT);
		}
		if (open) {
			at = &b->next;
			continue;
		}
		journal_del_batch(engine_tx(e), b->j.id);
		*at = b->next;
		batch_free(b);
	}
}

void launch_run(struct engine *e)
{
	if (e->batches != NULL) {
		launch_again(e);
		launch_settle(e);
	}
	e->more = false;
	if (e->fleet.states[NODE_WANTED] != NULL)
		pool_refuse_wanted(e);
	if (e->fleet.states[NODE_WANTED] == NULL || e->dead)
		return;
	if (e->left > 0)
		launch_new(e);
	else
		e->more = true;
}

/* --- start -------------------------------------------------------------------------------------
 */

int launch_load(struct engine *e, const struct journal_batch *j, struct err *err)
{
	const struct conf_pool *p = conf_pool_named(e->conf, j->pool);
	struct batch *b;

	if (p == NULL)
		return err_set(err, ERR_INVALID, "pool %s has a create in doubt", j->pool);
	b = mem_zalloc(sizeof(*b));
	b->j = *j;
	b->pool = conf_pool_index(e->conf, p);
	if (place_find(e, b->pool, j->provider, &b->cloud, err) != 0) {
		batch_free(b);
		return err_wrap(err, "a create is in doubt");
	}
	b->next = e->batches;
	e->batches = b;
	if (j->id > e->last_batch)
		e->last_batch = j->id;
	return 0;
}

static void join(struct batch *b, struct fleet_node *fn)
{
	if (fn->n.slot >= b->n) {
		b->members = mem_realloc(b->members, (fn->n.slot + 1) * sizeof(*b->members));
		memset(b->members + b->n, 0, (fn->n.slot + 1 - b->n) * sizeof(*b->members));
		b->n = fn->n.slot + 1;
	}
	b->members[fn->n.slot] = (struct member){fn->name, fn->n.gen, fn->n.group};
}

void launch_restore(struct engine *e)
{
	for (size_t i = 0; i < e->fleet.nall; i++)
		for (struct fleet_node *fn = e->fleet.all[i]->newest; fn; fn = fn->older) {
			struct batch *b = fn->n.batch != 0 ? batch_find(e, fn->n.batch) : NULL;

			if (b != NULL)
				join(b, fn);
			if (fn->n.group > e->last_group)
				e->last_group = fn->n.group;
		}
}
