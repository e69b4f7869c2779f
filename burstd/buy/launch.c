/* Sends the creates of a turn: for WANTED rows, repeats for rows in doubt, and creates whose fabric
 * is made. */
#include "buy/launch_private.h"
#include "cloud/cloud.h"
#include "keys/vouchers.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "core/unit.h"

/* Refuse rows whose offer was removed from the configuration before they were sent. */
static void refuse_homeless(struct engine *e, struct fleet_node **v, size_t n)
{
	char why[160];

	(void)snprintf(why, sizeof(why), "pool %.60s has no offer \"%.60s\" any more",
		       e->conf->pools[v[0]->n.pool].name, v[0]->n.offer);
	form_refuse(e, v, n, NODE_BECAUSE_INVALID, why);
}

/* The batch being filled for a place; bases[p]: index of the first one of pool p. */
static struct draft *draft_for(struct engine *e, struct draft *all, const size_t *bases,
			       const struct node *n)
{
	const struct conf_offer *o = engine_offer_of(e, n);
	struct draft *f;

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

static void add(struct engine *e, struct draft *f, struct fleet_node **v, size_t n)
{
	(fabric_for(f->rung, v[0]->n.group, n) ? form_add_alone : form_add)(e, f, v, n);
}

/* A job that was passed over: what goes out there after it waits for the answer. */
static void add_first(struct engine *e, struct draft *f, struct fleet_node **v, size_t n)
{
	bool went = false;

	add(e, f, v, n);
	if (f->n > 0 && !e->dead)
		form_flush(e, f);
	for (size_t i = 0; i < n; i++)
		went = went || v[i]->busy;
	if (!went)
		return; /* the others there wait behind it */
	place_alone(e, f->rung);
	f->n = 0; /* the rest waits for the answer */
	f->asked = false;
}

/* The fabric of their unit is being dropped: they wait for the answer. */
static bool fabric_is_gone_soon(struct engine *e, const struct draft *f, const struct node *n)
{
	char name[PROVIDER_WORD_MAX + 1];
	uint32_t unit = unit_by(&e->conf->pools[n->pool], f->rung, n->name);

	return unit != 0 &&
	       fabric_goes(e, unit_fabric(name, e->d.uuid, &e->conf->pools[n->pool], unit));
}

/* Move the rows that are of the same unit as the first one behind it, in their order; returns how
 * many they are, with it. */
static size_t gather_unit(struct engine *e, const struct conf_offer *o, struct fleet_node **v,
			  size_t n)
{
	uint32_t unit = unit_by(&e->conf->pools[v[0]->n.pool], o, v[0]->n.name);
	size_t k = 1;

	for (size_t i = 1; i < n; i++) {
		struct fleet_node *fn = v[i];

		if (unit_by(&e->conf->pools[fn->n.pool], o, fn->n.name) != unit)
			continue;
		memmove(&v[k + 1], &v[k], (i - k) * sizeof(struct fleet_node *));
		v[k++] = fn;
	}
	return k;
}

/* A job may span units, a create must not: one create for its nodes in each. */
static void form_gang(struct engine *e, struct draft *f, struct fleet_node **v, size_t n)
{
	for (size_t i = 0, k; i < n && !e->dead; i += k) {
		k = gather_unit(e, f->rung, v + i, n - i);
		if (!fabric_is_gone_soon(e, f, &v[i]->n))
			(v[i]->goes_first ? add_first : add)(e, f, v + i, k);
	}
}

/* A job may span places, a create must not. */
static void form(struct engine *e, struct draft *all, const size_t *bases,
		 struct fleet_node **wanted, size_t n)
{
	for (size_t i = 0, g; i < n && !e->dead; i += g) {
		const struct node *first = &wanted[i]->n;
		struct draft *f = draft_for(e, all, bases, first);

		for (g = 1; first->group != 0 && i + g < n &&
			    same_place(&wanted[i + g]->n, first) &&
			    wanted[i + g]->n.group == first->group;)
			g++;
		if (f == NULL)
			refuse_homeless(e, wanted + i, g);
		else if (wanted_goes(cloud_of(e, first)) && vouchers_have(e, wanted + i, g))
			form_gang(e, f, wanted + i, g);
	}
}

static bool any_went(struct fleet_node *const *wanted, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (wanted[i]->n.state != NODE_WANTED || wanted[i]->next != NULL)
			return true;
	return false;
}

/* Send creates for some WANTED rows; sets e->more if others could go, too. */
static void launch_new(struct engine *e)
{
	size_t *bases = mem_zalloc((e->conf->npools + 1) * sizeof(*bases)), all = 0, rungs;
	struct draft *forming;
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
	/* If nothing could go, wait for an answer or the timer: another try at once would only
	 * delay those. */
	e->more = e->more || (n >= e->slice.send && any_went(wanted, n));
	free(forming);
	free(bases);
	free(wanted);
}

/* --- those that have begun ----------------------------------------------------------------------
 */

/* Is the batch still wanted, now that its fabric is made? */
static bool still_wanted(struct engine *e, const struct batch *b)
{
	const struct conf_offer *o = batch_rung(e, b);
	bool wanted = pool_blocked(e, b->pool) == NULL && o != NULL && !place_is_cooling(e, o);

	for (size_t i = 0; wanted && i < b->n; i++) {
		const struct fleet_node *fn = batch_row(b, i);

		wanted = fn != NULL && !fn->n.release && fn->name->missing_ms == 0;
	}
	return wanted;
}

/* Its fabric is there. */
static void send_made(struct cloud *c, struct batch *b)
{
	if (!still_wanted(c->e, b)) {
		launch_give_up(c, b);
		return;
	}
	if (!cloud_ready(c, PROVIDER_CREATE) || !form_has_room(c, b->n))
		return;
	b->made = false;
	launch_record_create(c, b);
	engine_commit(c->e);
	if (!c->e->dead)
		launch_send_create(c, b);
}

static bool wants_repeat(struct engine *e, const struct batch *b)
{
	bool some = false;

	if (b->inflight)
		return false;
	for (size_t i = 0; i < b->n; i++) {
		struct fleet_node *fn = batch_row(b, i);
		struct node_limits lim;

		if (fn == NULL || fn->n.state != NODE_INDOUBT)
			continue;
		some = some || node_want(&fn->n, engine_now(e), engine_limits(e, &fn->n, &lim)) ==
				       NODE_WANT_CREATE;
	}
	return some;
}

/* A repeat buys if the first try never left: what is in doubt must be wanted still, as what is sent
 * for the first time must be. */
static bool is_told(const struct engine *e, const struct batch *b)
{
	for (size_t i = 0; i < b->n; i++) {
		const struct fleet_node *fn = batch_row(b, i);

		if (fn != NULL && fn->n.state == NODE_INDOUBT && !wanted_is_told(e, &fn->n))
			return false;
	}
	return true;
}

/* May the create be repeated?  Not if a member was refused, or throttled and goes out with another
 * batch: a provider might make it now. */
static bool repeatable(const struct batch *b)
{
	for (size_t i = 0; i < b->n; i++) {
		const struct fleet_node *fn = batch_row(b, i);

		if (fn == NULL || (fn->n.state != NODE_INDOUBT && fn->n.instance[0] == '\0'))
			return false;
	}
	return true;
}

/* A repeat must have the same bytes.  If that is not possible, only lists can show what became of
 * the create (I4, I6). */
static void give_up_repeating(struct engine *e, struct batch *b)
{
	batch_goes_on(e, b, "");
	for (size_t i = 0; i < b->n; i++) {
		struct fleet_node *fn = batch_row(b, i);
		struct node_event ev = {.type = NODE_EV_REFUSED, .now_ms = engine_now(e)};

		if (fn != NULL && fn->n.state == NODE_INDOUBT)
			engine_post(e, fn, &ev);
	}
	engine_commit(e);
}

/* May the batch's first request, for its fabric, go out? */
static bool may_begin(struct cloud *c, struct batch *b)
{
	const char *fabric = batch_fabric(c->e, b);

	return fabric == NULL ||
	       (!fabric_goes(c->e, fabric) && cloud_ready(c, PROVIDER_FABRIC_MAKE));
}

/* Can the create be sent with the bytes of its first time? */
static bool is_same(struct cloud *c, struct batch *b)
{
	uint64_t hash = 0;

	return batch_hash(c, b, &hash, NULL) == 0 && hash == b->j.body_hash;
}

/* burstd ended while the create was under way.  What its requests have begun must be ended, wanted
 * or not: what comes of it is released. */
static void go_on(struct cloud *c, struct batch *b)
{
	if (!cloud_ready(c, PROVIDER_STEP))
		return;
	if (is_same(c, b))
		launch_go_on(c, b);
	else
		give_up_repeating(c->e, b);
}

/* Has a create begun that must be ended?  It is not on the wire: burstd ended meanwhile. */
static bool has_begun(const struct cloud *c, const struct batch *b)
{
	return b->j.cursor[0] != '\0' && !b->inflight && (c->caps.flags & PROVIDER_ELSEWHERE) == 0;
}

static void launch_again(struct engine *e)
{
	for (struct batch *b = e->buy->batches; b != NULL && !e->dead; b = b->next) {
		struct cloud *c = batch_cloud(e, b);

		if (b->made) {
			send_made(c, b);
			continue;
		}
		if (has_begun(c, b)) {
			go_on(c, b);
			continue;
		}
		if (!wants_repeat(e, b) || !is_told(e, b) || !wanted_goes(c) || !may_begin(c, b) ||
		    engine_keyless(e, b->cloud) != NULL)
			continue;
		/* In a blocked pool a repeat must not buy what was never made. */
		if (pool_blocked(e, b->pool) != NULL || !repeatable(b) || !is_same(c, b)) {
			give_up_repeating(e, b);
			continue;
		}
		launch_record(c, b, "create-again");
		engine_commit(e);
		/* The commit may have changed the rows. */
		if (!e->dead && wants_repeat(e, b) && repeatable(b))
			launch_send_batch(c, b); /* from its cursor on, if it has one */
	}
}

static void launch_run(struct engine *e)
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

const struct engine_part launch_part = {
	.name = "creates",
	.needs = launch_needs,
	.at = {[PART_RUN] = launch_run, [PART_FREE] = launch_free},
};
