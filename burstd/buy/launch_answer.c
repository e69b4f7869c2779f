/* Queues the answers to creates, and posts each as an event to its nodes, as far as a turn allows.
 */
#include "buy/launch_private.h"
#include "engine/times.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/secret.h"
#include "core/unit.h"

struct answer { /* an answer to a create; members from `at` on are still to be posted */
	struct answer *next;
	uint64_t batch;
	struct provider_result r;
	size_t at;
	bool heard;     /* place_bought() was called */
	bool of_fabric; /* no create was sent */
};

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

static const enum node_event_type verdicts[PROVIDER_NCODES] = {
	[PROVIDER_OK] = NODE_EV_CREATED,
	[PROVIDER_CAPACITY] = NODE_EV_REFUSED,
	[PROVIDER_QUOTA] = NODE_EV_REFUSED,
	[PROVIDER_DENIED] = NODE_EV_REFUSED,
	[PROVIDER_INVALID] = NODE_EV_REFUSED,
	[PROVIDER_NOT_FOUND] = NODE_EV_LOST,
	[PROVIDER_CONFLICT] = NODE_EV_LOST,
	[PROVIDER_NOT_YET] = NODE_EV_NOTSENT,
	[PROVIDER_RATE] = NODE_EV_THROTTLED,
	[PROVIDER_TRANSIENT] = NODE_EV_NOTSENT,
	[PROVIDER_AMBIGUOUS] = NODE_EV_LOST,
	[PROVIDER_MORE] = NODE_EV_LOST, /* of a request, never of an instance */
};

/* Does the instance fit the request, and belong to no other row?  Otherwise the release of one row
 * would delete the instance of the other. */
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
	(void)snprintf(what, sizeof(what),
		       "%.63s says that it created %.63s, which belongs to %.63s", c->conf->name,
		       in->id, owner->n.name);
	engine_event(c->e, fn->n.name, fn->n.gen, "answer-wrong", what);
	return false;
}

/* That an image is refused says nothing of the place, and nothing was made of it.  Where the
 * account may not use it, the answer names it. */
static bool refuses_image(const struct node *n, enum provider_code code, const char *message)
{
	if (!n->canary || (n->state != NODE_CREATING && n->state != NODE_INDOUBT))
		return false;
	return code == PROVIDER_INVALID || (code == PROVIDER_DENIED && n->image[0] != '\0' &&
					    strstr(message, n->image) != NULL);
}

/* The old one is bought instead: at once, or when lists have shown that the create, which is
 * repeated, made nothing the first time either (F3). */
static void answer_refused_image(struct engine *e, const struct node *n, const char *message,
				 struct node_event *ev)
{
	rolls_refused(e, n, n->image, message);
	if (n->state == NODE_CREATING)
		ev->type = NODE_EV_NOTSENT;
	else
		ev->reason = NODE_BECAUSE_LOST;
}

static void answer_one(struct cloud *c, struct fleet_node *fn, const struct provider_result *r,
		       const struct provider_item *it)
{
	enum provider_code code = it != NULL ? it->code : r->code;
	struct node_event ev = {.type = verdicts[code],
				.reason = node_reason_of(code),
				.now_ms = engine_now(c->e),
				.instance = it != NULL ? &it->instance : NULL};

	assert(it != NULL || ev.type != NODE_EV_CREATED);
	fn->busy = false;
	if (refuses_image(&fn->n, code, r->message))
		answer_refused_image(c->e, &fn->n, r->message, &ev);
	if (it != NULL &&
	    ev.type == NODE_EV_THROTTLED) /* not the request: the limit does not know */
		ev.type = NODE_EV_NOTSENT;
	if (r->retry_after_ms > 0)
		ev.retry_ms = ev.now_ms + r->retry_after_ms;
	if (ev.type == NODE_EV_CREATED && !makes_sense(c, fn, &it->instance))
		ev.type = NODE_EV_LOST;
	if (it != NULL && ev.type == NODE_EV_CREATED) {
		place_sold(c->e, &fn->n);
		c->e->count.instances_created++;
		fn->said_ms = times_of(c, it->instance.created_ms);
	}
	if (ev.type == NODE_EV_REFUSED)
		place_say_why(c, fn, ev.reason, r->message);
	if (it != NULL && ev.type == NODE_EV_CREATED && fn->ended != NULL &&
	    strcmp(fn->ended->id, it->instance.id) == 0)
		ev.instance = fn->ended; /* a list has already shown its end (I22) */
	engine_post(c->e, fn, &ev);
	if (ev.type == NODE_EV_CREATED)
		owner_set(c, fn);
	if (ev.type == NODE_EV_LOST && fn->ended != NULL) { /* no later list may show it again */
		ev.type = NODE_EV_SEEN;
		ev.instance = fn->ended;
		engine_post(c->e, fn, &ev);
	}
	fleet_ended(fn, NULL);
}

void launch_put_answer(struct cloud *c, uint64_t batch, const struct provider_result *r,
		       bool of_fabric)
{
	struct answer *a = mem_zalloc(sizeof(*a));

	a->batch = batch;
	a->of_fabric = of_fabric;
	a->r = (struct provider_result){.code = r->code, .retry_after_ms = r->retry_after_ms};
	memcpy(a->r.message, r->message, sizeof(a->r.message));
	memcpy(a->r.request_id, r->request_id, sizeof(a->r.request_id));
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

static bool has_machine(const struct fleet_name *nm, const struct conf_offer *o)
{
	for (const struct fleet_node *fn = nm != NULL ? nm->newest : NULL; fn; fn = fn->older)
		if (node_counts(&fn->n) && fn->n.instance[0] != '\0' &&
		    strcmp(fn->n.offer, o->name) == 0)
			return true;
	return false;
}

/* Did the create go beside machines of its unit?  All of its offers are in one place.  What the
 * answer itself tells of is not posted yet. */
static bool goes_beside(const struct engine *e, const struct batch *b)
{
	const struct conf_pool *p = &e->conf->pools[b->pool];
	uint32_t unit = batch_unit(e, b);
	size_t nrungs;
	const struct conf_offer *rungs = conf_rungs(p, &nrungs);

	for (size_t k = 0; unit != 0 && k < nrungs; k++)
		for (uint32_t i = 0; unit_is_of(&rungs[k]) && i < p->unit; i++)
			if (has_machine(fleet_find(&e->fleet, unit_nodes(p, unit)[i]), &rungs[k]))
				return true;
	return false;
}

/* Is the create one of canaries (core/roll.h), and refused for their image? */
static bool is_refused_for_image(const struct batch *b, const struct answer *a)
{
	const struct fleet_node *fn = b->n > 0 ? batch_row(b, 0) : NULL;

	return fn != NULL && !a->of_fabric && refuses_image(&fn->n, a->r.code, a->r.message);
}

/* Note what the answer says about the place.  A refusal of a repeat is a new decision; any other
 * answer may be that to the first request.  A denied fabric blocks only jobs that need one. */
static void heard(struct engine *e, const struct batch *b, const struct answer *a)
{
	const struct conf_offer *o = batch_rung(e, b);
	bool anew = verdicts[a->r.code] == NODE_EV_REFUSED;
	struct provider_result r = a->r; /* borrows */

	if (a->of_fabric && r.code == PROVIDER_DENIED)
		r.code = PROVIDER_CAPACITY;
	if (o == NULL)
		return;
	if (is_refused_for_image(b, a)) {
		place_unsent(e, o); /* if it was a probe, it has told nothing of the place */
		return;
	}
	/* An answer about the fabric itself says nothing of the room in it. */
	(!a->of_fabric && goes_beside(e, b) ? place_bought_beside : place_bought)(
		e, o, &r, b->n, anew ? b->sent_ms : b->j.at_ms);
}

void launch_on_create(struct cloud *c, void *ctx, const struct provider_result *r)
{
	const struct sent *sent = ctx;
	struct batch *b = batch_find(c->e, sent->batch);

	if (b != NULL)
		batch_goes_on(c->e, b, r->code == PROVIDER_MORE ? r->cursor : "");
	if (r->code == PROVIDER_MORE) {
		engine_commit(c->e); /* the next request follows */
		return;
	}
	/* Repeat only the create: with its fabric it would be two requests again, throttled as
	 * before, for ever. */
	if (r->code == PROVIDER_RATE && b != NULL && batch_fabric(c->e, b) != NULL) {
		heard(c->e, b, &(const struct answer){.r = *r});
		b->made = true; /* still_wanted() ends it if its place is paused for that */
	} else {
		launch_put_answer(c, sent->batch, r, false);
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

static void record(struct cloud *c, const struct batch *b, const struct provider_result *r)
{
	char what[sizeof("create ") + PROVIDER_WORD_MAX];
	struct audit a;

	audit_begin(&a, b->n);
	for (size_t i = 0; i < b->n; i++)
		audit_add(&a, b->members[i].name->name);
	(void)snprintf(what, sizeof(what), "create %s", b->j.token);
	audit_answered(c->e, &a, what, c->conf->name, r);
}

/* Post as much of the oldest answer as the turn allows; true: all of it. */
static bool post_answer(struct engine *e, struct answer *a)
{
	struct batch *b = batch_find(e, a->batch);
	struct cloud *c;
	bool whole;

	assert(b != NULL && b->inflight);
	c = batch_cloud(e, b);
	if (!a->heard) { /* before its members are posted, and anything more is sent there */
		heard(e, b, a);
		record(c, b, &a->r);
	}
	a->heard = true;
	/* Post all members in one commit: after a crash between two commits a refused job would be
	 * bought in two halves, each with its own fabric. */
	whole = batch_fabric(e, b) != NULL;
	for (; a->at < b->n; a->at++) {
		struct fleet_node *fn = batch_row(b, a->at);

		if (fn == NULL || (!fn->busy && fn->n.state != NODE_INDOUBT))
			continue;
		if (e->left == 0 && !whole)
			return false;
		engine_spend(e, 1);
		answer_member(c, fn, a);
	}
	b->inflight = false;
	secret_wipe(&b->user_data);
	if (a->r.code != PROVIDER_RATE) /* nothing was made, and a list would be throttled, too */
		cloud_hurry(c);
	return true;
}

static void launch_init(struct engine *e)
{
	e->buy->answers_last = &e->buy->answers;
}

static int64_t launch_next_ms(const struct engine *e)
{
	return e->buy->answers != NULL ? engine_now(e) : INT64_MAX;
}

static void launch_take(struct engine *e)
{
	if (!e->more) /* creates go out first */
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

const struct engine_part launch_answer_part = {
	.name = "answers to creates",
	.at = {[PART_INIT] = launch_init, [PART_TAKE] = launch_take},
	.next_ms = launch_next_ms,
};
