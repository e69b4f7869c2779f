#include "buy/buy.h"
#include "cloud/cloud.h"
#include "engine/times.h"
#include "keys/keys.h"
#include "keys/vouchers.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fmt.h"
#include "base/mem.h"
#include "base/secret.h"

struct sent { /* what an answer to a create is for */
	uint64_t batch;
};

struct answer { /* to a create: its members are posted from `at` on */
	struct answer *next;
	uint64_t batch;
	struct provider_result r;
	size_t at;
	bool heard;     /* what it says of the place is noted */
	bool of_fabric; /* no create was sent */
};

static struct batch *batch_find(struct engine *e, uint64_t id)
{
	struct batch *b = e->buy->batches;

	while (b != NULL && b->j.id != id)
		b = b->next;
	return b;
}

static void batch_free(struct batch *b)
{
	secret_wipe(&b->user_data);
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
	while (e->buy->answers != NULL) {
		struct answer *a = e->buy->answers;

		e->buy->answers = a->next;
		answer_free(a);
	}
	while (e->buy->batches != NULL) {
		struct batch *b = e->buy->batches;

		e->buy->batches = b->next;
		batch_free(b);
	}
}

bool launch_needs(const struct engine *e, const struct node *n)
{
	for (const struct batch *b = e->buy->batches; b != NULL; b = b->next)
		if (b->j.id == n->batch)
			return true;
	return false;
}

/* NULL too for one that was sent again with another batch: its answer comes there. */
static struct fleet_node *member_row(const struct batch *b, size_t i)
{
	const struct member *m = &b->members[i];
	struct fleet_node *fn = m->name != NULL ? fleet_gen(m->name, m->gen) : NULL;

	return fn != NULL && fn->n.batch == b->j.id ? fn : NULL;
}

static struct cloud *batch_cloud(struct engine *e, const struct batch *b)
{
	return &e->cloud->all[b->cloud];
}

/* NULL: the configuration has it no more. */
static const struct conf_offer *rung_of(const struct engine *e, const struct batch *b)
{
	return conf_rung_named(&e->conf->pools[b->pool], b->j.offer);
}

static bool has_own_fabric(const struct engine *e, const struct batch *b)
{
	const struct conf_offer *o = rung_of(e, b);
	uint32_t group = b->members[0].group;

	/* Of a job that has its other nodes in other pools there may be one among others. */
	for (size_t i = 1; i < b->n; i++)
		if (b->members[i].group != group)
			return false;
	return o != NULL && fabric_for(o, group, b->n);
}

/* A job's own has the name of the token.  Nothing but the members says that there is one. */
static const char *fabric_of(const struct engine *e, const struct batch *b,
			     const struct conf_offer *o)
{
	bool job = o->in_fabric != NULL && strcmp(o->in_fabric, CONF_FABRIC_JOB) == 0;

	if (has_own_fabric(e, b))
		return b->j.token;
	return job ? NULL : o->in_fabric;
}

static bool has_user_data(const struct engine *e, uint32_t cloud)
{
	return claims_wanted(e, cloud) || vouchers_wanted(e, cloud);
}

/* The request, the same bytes every time: from the members in their order and where they are
 * bought, which no reload changes, and nothing else (I4).  -1: there is no such place any more. */
static int make_op(const struct engine *e, struct batch *b, struct provider_op *op,
		   struct provider_place *place, struct err *err)
{
	const struct conf_offer *o = rung_of(e, b);
	struct keys_for keys;

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
	place->fabric = fabric_of(e, b, o);
	keys = keys_of(b);
	if (b->user_data == NULL && claims_wanted(e, b->cloud))
		b->user_data = claims_user_data(e, &keys, err);
	else if (b->user_data == NULL && vouchers_wanted(e, b->cloud))
		b->user_data = vouchers_user_data(e, &keys, o, err);
	if (b->user_data == NULL && has_user_data(e, b->cloud))
		return -1;
	*op = (struct provider_op){.kind = PROVIDER_CREATE};
	op->u.create = (struct provider_create){.cluster = e->d.uuid,
						.token = b->j.token,
						.place = place,
						.wants = b->wants,
						.nwants = b->n,
						.user_data = b->user_data};
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

/* In the provider's words, and of what there is none: "sim: no gpu_8x_h100 in eu-1: ..." */
static void say_why(struct cloud *c, struct fleet_node *fn, enum node_reason why, const char *words)
{
	const struct conf_offer *o = engine_offer_of(c->e, &fn->n);
	const char *text = words[0] != '\0' ? words : node_reason_text(why);
	char *to = fn->name->why;

	if (why == NODE_BECAUSE_CAPACITY && o != NULL)
		(void)snprintf(to, sizeof(fn->name->why), "%.30s: no %.30s in %.25s: %.50s",
			       c->conf->name, o->type, o->zone[0] != '\0' ? o->zone : o->region,
			       text);
	else
		(void)snprintf(to, sizeof(fn->name->why), "%.60s: %.90s", c->conf->name, text);
}

/* Is it an answer to what was asked?  An instance belongs to one row: whoever let go of the second
 * would delete the machine of the first. */
static bool makes_sense(struct cloud *c, const struct fleet_node *fn,
			const struct provider_instance *in)
{
	const struct fleet_node *owner;
	char what[240];

	if (in->id[0] == '\0' || strcmp(in->node, fn->n.name) != 0)
		return false;
	owner = owner_of(c, in->id);
	if (owner == NULL || owner == fn)
		return true;
	(void)snprintf(what, sizeof(what), "%.63s says that it made %.63s, which is %.63s's",
		       c->conf->name, in->id, owner->n.name);
	engine_event(c->e, fn->n.name, fn->n.gen, "answer-odd", what);
	return false;
}

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
	if (ev.type == NODE_EV_CREATED && !makes_sense(c, fn, &it->instance))
		ev.type = NODE_EV_LOST;
	if (ev.type == NODE_EV_CREATED) {
		c->e->count.instances_created++;
		fn->said_ms = times_of(c, it->instance.created_ms);
	}
	if (ev.type == NODE_EV_REFUSED)
		say_why(c, fn, ev.reason, r->message);
	if (ev.type == NODE_EV_CREATED && fn->ended != NULL &&
	    strcmp(fn->ended->id, it->instance.id) == 0)
		ev.instance = fn->ended; /* a list was faster with its end (I22) */
	engine_post(c->e, fn, &ev);
	if (ev.type == NODE_EV_CREATED)
		owner_set(c, fn);
	if (ev.type == NODE_EV_LOST && fn->ended != NULL) { /* and no list may show it again */
		ev.type = NODE_EV_SEEN;
		ev.instance = fn->ended;
		engine_post(c->e, fn, &ev);
	}
	fleet_ended(fn, NULL);
}

/* It is on the wire until all of its answer is posted. */
static void put_answer(struct cloud *c, uint64_t batch, const struct provider_result *r,
		       bool of_fabric)
{
	struct answer *a = mem_zalloc(sizeof(*a));

	a->batch = batch;
	a->of_fabric = of_fabric;
	a->r = (struct provider_result){.code = r->code, .retry_after_ms = r->retry_after_ms};
	memcpy(a->r.message, r->message, sizeof(a->r.message));
	if (r->code == PROVIDER_OK) {
		a->r.nitems = r->nitems;
		a->r.items = mem_zalloc((r->nitems + 1) * sizeof(*r->items));
		memcpy(a->r.items, r->items, r->nitems * sizeof(*r->items));
		for (size_t i = 0; i < r->nitems; i++)
			times_instance(c, &a->r.items[i].instance);
	}
	*c->e->buy->answers_last = a;
	c->e->buy->answers_last = &a->next;
}

/* What the answer says of the place.  A repeat that is refused was looked at anew; any other answer
 * may be that to the first request.  Who may not make fabrics may buy all the same: only those who
 * want one there are kept away. */
static void heard(struct engine *e, const struct batch *b, const struct answer *a)
{
	const struct conf_offer *o = rung_of(e, b);
	bool anew = verdicts[a->r.code].event == NODE_EV_REFUSED;
	struct provider_result r = a->r; /* borrows */

	if (a->of_fabric && r.code == PROVIDER_DENIED)
		r.code = PROVIDER_CAPACITY;
	if (o != NULL)
		place_bought(e, o, &r, b->n, anew ? b->sent_ms : b->j.at_ms);
}

static void on_create(struct cloud *c, void *ctx, const struct provider_result *r)
{
	const struct sent *sent = ctx;
	struct batch *b = batch_find(c->e, sent->batch);

	/* Nothing happened; from the beginning it would be two requests again, with as few tokens,
	 * and so for ever. */
	if (r->code == PROVIDER_RATE && b != NULL && has_own_fabric(c->e, b)) {
		heard(c->e, b, &(const struct answer){.r = *r});
		b->made = true; /* unless its place is shut for that */
	} else {
		put_answer(c, sent->batch, r, false);
	}
}

static void answer_member(struct cloud *c, struct fleet_node *fn, const struct answer *a)
{
	static const struct provider_item lost = {.code = PROVIDER_AMBIGUOUS};
	const struct provider_item *it = NULL;

	if (a->r.code == PROVIDER_OK)
		it = a->at < a->r.nitems ? &a->r.items[a->at] : &lost;
	answer_one(c, fn, &a->r, it);
}

/* As much of the oldest answer as there is room for; true: all of it. */
static bool post_answer(struct engine *e, struct answer *a)
{
	struct batch *b = batch_find(e, a->batch);
	struct cloud *c;
	bool whole;

	assert(b != NULL && b->inflight);
	c = batch_cloud(e, b);
	if (!a->heard) /* before any of its members is told, and anything more is sent there */
		heard(e, b, a);
	a->heard = true;
	/* Written by halves, with a crash between them, a job that was not bought would be bought
	 * by halves, each with a fabric of its own. */
	whole = has_own_fabric(e, b);
	for (; a->at < b->n; a->at++) {
		struct fleet_node *fn = member_row(b, a->at);

		if (fn == NULL || (!fn->busy && fn->n.state != NODE_INDOUBT))
			continue;
		if (e->left == 0 && !whole)
			return false;
		engine_spend(e, 1);
		answer_member(c, fn, a);
	}
	b->inflight = false;
	secret_wipe(&b->user_data);
	if (a->r.code !=
	    PROVIDER_RATE) /* a list has nothing to show, and would need a token, too */
		cloud_hurry(c);
	return true;
}

void launch_init(struct engine *e)
{
	e->buy->answers_last = &e->buy->answers;
}

int64_t launch_next_ms(const struct engine *e)
{
	return e->buy->answers != NULL ? engine_now(e) : INT64_MAX;
}

void launch_take(struct engine *e)
{
	if (!e->more) /* what is to be bought goes out first */
		launch_answered(e);
}

void launch_answered(struct engine *e)
{
	while (e->buy->answers != NULL && !e->dead && post_answer(e, e->buy->answers)) {
		struct answer *a = e->buy->answers;

		e->buy->answers = a->next;
		if (e->buy->answers == NULL)
			e->buy->answers_last = &e->buy->answers;
		answer_free(a);
	}
}

/* --- sending -----------------------------------------------------------------------------------
 */

static void record_create(struct cloud *c, const struct batch *b)
{
	struct audit a;

	audit_begin(&a, b->n);
	for (size_t i = 0; i < b->n; i++)
		audit_create(&a, b->members[i].name,
			     fleet_gen(b->members[i].name, b->members[i].gen));
	audit_put(c->e, &a, b->verb, c->conf->name, b->j.token);
}

/* Of what is sent first. */
static void record(struct cloud *c, struct batch *b, const char *verb)
{
	b->verb = verb;
	if (has_own_fabric(c->e, b))
		audit_thing(c->e, "fabric-make", c->conf->name, b->j.token, "a job is to have it");
	else
		record_create(c, b);
}

static void send_create(struct cloud *c, struct batch *b)
{
	struct sent *sent = mem_zalloc(sizeof(*sent));
	struct provider_place place;
	struct provider_op op;

	(void)make_op(c->e, b, &op, &place, NULL); /* its hash was made of it just now */
	sent->batch = b->j.id;
	b->place = place; /* the request may be read again when its answer comes */
	op.u.create.place = &b->place;
	cloud_send(c, &op, on_create, sent);
}

/* Time has passed since it was decided. */
static bool still_wanted(struct engine *e, const struct batch *b)
{
	const struct conf_offer *o = rung_of(e, b);
	bool wanted = pool_closed(e, b->pool) == NULL && o != NULL && !place_is_shut(e, o);

	for (size_t i = 0; wanted && i < b->n; i++) {
		const struct fleet_node *fn = member_row(b, i);

		wanted = fn != NULL && !fn->n.release && fn->name->missing_ms == 0;
	}
	return wanted;
}

/* Nothing was sent, whatever became of its fabric: that can be decided anew.  It is no failure of
 * the place. */
static void give_up_create(struct cloud *c, struct batch *b)
{
	const struct provider_result no = {.code = PROVIDER_NOT_YET};

	b->made = false;
	put_answer(c, b->j.id, &no, true);
}

/* Its fabric is there. */
static void send_made(struct cloud *c, struct batch *b)
{
	if (!still_wanted(c->e, b)) {
		give_up_create(c, b);
		return;
	}
	if (!cloud_ready(c, PROVIDER_CREATE) || !form_has_room(c, b->n))
		return;
	b->made = false;
	record_create(c, b);
	engine_commit(c->e);
	if (!c->e->dead)
		send_create(c, b);
}

static void on_fabric(struct cloud *c, void *ctx, const struct provider_result *r)
{
	const struct sent *sent = ctx;
	struct batch *b = batch_find(c->e, sent->batch);
	struct provider_result no = {.code = r->code, .retry_after_ms = r->retry_after_ms};

	assert(b != NULL && b->inflight);
	if (r->code == PROVIDER_OK) {
		b->made = true; /* the turn goes on with its create */
		return;
	}
	if (r->code == PROVIDER_QUOTA) /* not of machines; and jobs that end make room */
		no.code = PROVIDER_CAPACITY;
	else if (r->code != PROVIDER_CAPACITY && r->code != PROVIDER_DENIED &&
		 r->code != PROVIDER_INVALID && r->code != PROVIDER_RATE)
		no.code = PROVIDER_TRANSIENT;
	memcpy(no.message, r->message, sizeof(no.message));
	put_answer(c, b->j.id, &no, true);
}

/* Until there is an answer, be it that nothing is sent. */
static void batch_hold(struct cloud *c, struct batch *b)
{
	b->inflight = true;
	b->sent_ms = engine_now(c->e);
	for (size_t i = 0; i < b->n; i++) {
		struct fleet_node *fn = member_row(b, i);

		if (fn != NULL && (fn->n.state == NODE_CREATING || fn->n.state == NODE_INDOUBT))
			fn->busy = true;
	}
}

static void batch_send(struct cloud *c, struct batch *b)
{
	struct sent *sent;

	batch_hold(c, b);
	if (!has_own_fabric(c->e, b)) {
		send_create(c, b);
		return;
	}
	sent = mem_zalloc(sizeof(*sent));
	sent->batch = b->j.id;
	fabric_make(c, b->j.id, b->j.token, on_fabric, sent);
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
	e->buy->last_batch = e->buy->last_batch >= now ? e->buy->last_batch + 1 : now;
	b->j.id = e->buy->last_batch;
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
	b->next = e->buy->batches;
	e->buy->batches = b;
	return b;
}

/* Where the disk took minutes for it, it is as if this process had stood still (F55). */
static void send_or_not(struct cloud *c, struct batch *b)
{
	bool fresh = true;

	for (size_t i = 0; i < b->n; i++) {
		const struct fleet_node *fn = member_row(b, i);

		fresh = fresh && (fn == NULL || wanted_is_fresh(c->e, fn->n.wanted_ms));
	}
	if (fresh) {
		batch_send(c, b);
		return;
	}
	batch_hold(c, b);
	give_up_create(c, b);
}

void launch_send(struct cloud *c, struct fleet_node **nodes, size_t n)
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
	/* Of one that cannot be built, too: the file beside the journal has every number that was
	 * given out, and a journal that has not is taken for an older copy (F58). */
	journal_put_number(engine_tx(e), JOURNAL_LAST_BATCH, (int64_t)b->j.id);
	if (rc != 0) {
		place_unsent(e, engine_offer_of(e, &nodes[0]->n));
	} else {
		const struct keys_for keys = keys_of(b);

		journal_put_batch(engine_tx(e), &b->j);
		claims_issue(e, &keys);
		record(c, b, "create");
	}
	engine_commit(e);
	engine_spend(e, n);
	if (rc == 0 && !e->dead)
		send_or_not(c, b);
}

/* Its offer was taken out of the configuration before it was sent. */
static void refuse_homeless(struct engine *e, struct fleet_node **v, size_t n)
{
	char why[160];

	(void)snprintf(why, sizeof(why), "pool %.60s has no offer \"%.60s\" any more",
		       e->conf->pools[v[0]->n.pool].name, v[0]->n.offer);
	form_refuse(e, v, n, NODE_BECAUSE_INVALID, why);
}

/* The batch that is filled for a place: bases[p] is the first of pool p. */
static struct forming *forming_for(struct engine *e, struct forming *all, const size_t *bases,
				   const struct node *n)
{
	const struct conf_offer *o = engine_offer_of(e, n);
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
		else if (wanted_goes(cloud_of(e, first)) && vouchers_have(e, wanted + i, g))
			(fabric_for(f->rung, first->group, g) ? form_add_alone
							      : form_add)(e, f, wanted + i, g);
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
			form_flush(e, &forming[i]);
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

/* May the first request of it go out? */
static bool may_begin(struct cloud *c, const struct batch *b)
{
	return !has_own_fabric(c->e, b) || cloud_ready(c, PROVIDER_FABRIC_MAKE);
}

static void launch_again(struct engine *e)
{
	for (struct batch *b = e->buy->batches; b != NULL && !e->dead; b = b->next) {
		struct cloud *c = batch_cloud(e, b);
		uint64_t hash = 0;

		if (b->made) {
			send_made(c, b);
			continue;
		}
		if (!wants_repeat(e, b) || !wanted_goes(c) || !may_begin(c, b) ||
		    engine_keyless(e, b->cloud) != NULL)
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
	struct batch **at = &e->buy->batches;

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
	if (e->buy->batches != NULL) {
		launch_again(e);
		launch_settle(e);
	}
	e->more = false;
	if (e->fleet.states[NODE_WANTED] != NULL)
		pool_refuse_wanted(e);
	away_run(e);
	if (e->fleet.states[NODE_WANTED] == NULL || e->dead)
		return;
	if (e->left > 0)
		launch_new(e);
	else
		e->more = true;
}

/* --- start -------------------------------------------------------------------------------------
 */

void launch_load(struct engine *e, const struct journal_batch *j)
{
	const struct conf_pool *p = conf_pool_named(e->conf, j->pool);
	struct batch *b = mem_zalloc(sizeof(*b));
	bool known;

	assert(p != NULL); /* off_keep() */
	b->j = *j;
	b->pool = conf_pool_index(e->conf, p);
	known = cloud_find(e, b->pool, j->provider, &b->cloud);
	assert(known);
	b->next = e->buy->batches;
	e->buy->batches = b;
	if (j->id > e->buy->last_batch)
		e->buy->last_batch = j->id;
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
			if (fn->n.group > e->buy->last_group)
				e->buy->last_group = fn->n.group;
		}
}
