/* Keeps the batches that are under way: their members, the bytes of their creates, and their rows
 * in the journal. */
#include "buy/launch_private.h"
#include "keys/vouchers.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/secret.h"
#include "core/terms.h"
#include "core/unit.h"
#include "store/journal_nodes.h"

struct batch *batch_find(struct engine *e, uint64_t id)
{
	struct batch *b = e->buy->batches;

	while (b != NULL && b->j.id != id)
		b = b->next;
	return b;
}

void batch_free(struct batch *b)
{
	secret_wipe(&b->user_data);
	free(b->members);
	free(b->wants);
	free(b);
}

struct fleet_node *batch_row(const struct batch *b, size_t i)
{
	const struct member *m = &b->members[i];
	struct fleet_node *fn = m->name != NULL ? fleet_gen(m->name, m->gen) : NULL;

	return fn != NULL && fn->n.batch == b->j.id ? fn : NULL;
}

struct cloud *batch_cloud(struct engine *e, const struct batch *b)
{
	return &e->cloud->all[b->cloud];
}

const struct conf_offer *batch_rung(const struct engine *e, const struct batch *b)
{
	return conf_rung_named(&e->conf->pools[b->pool], b->j.offer);
}

/* All its members are of one (form.c); of some nothing may be known any more. */
uint32_t batch_unit(const struct engine *e, const struct batch *b)
{
	const struct conf_offer *o = batch_rung(e, b);

	for (size_t i = 0; o != NULL && unit_is_of(o) && i < b->n; i++)
		if (b->members[i].name != NULL)
			return unit_of(&e->conf->pools[b->pool], b->members[i].name->name);
	return 0;
}

/* The name is not stored: the members, and the configuration, show whether there is one. */
const char *batch_fabric(const struct engine *e, struct batch *b)
{
	const struct conf_offer *o = batch_rung(e, b);
	const struct conf_pool *p = &e->conf->pools[b->pool];
	uint32_t group = b->members[0].group, unit;

	if (o == NULL)
		return NULL;
	if (unit_is_of(o)) {
		unit = batch_unit(e, b);
		return unit != 0 ? unit_fabric(b->fabric, e->d.uuid, p, unit) : NULL;
	}
	/* A job with its other nodes in other pools may share a batch. */
	for (size_t i = 1; i < b->n; i++)
		if (b->members[i].group != group)
			return NULL;
	if (!fabric_for(o, group, b->n))
		return NULL;
	(void)snprintf(b->fabric, sizeof(b->fabric), "%s", b->j.token);
	return b->fabric;
}

/* conf_place() with the name of the fabric. */
static struct provider_place place_of(const struct engine *e, struct batch *b,
				      const struct conf_offer *o)
{
	struct provider_place place = conf_place(o);
	const char *own = batch_fabric(e, b);

	if (own != NULL)
		place.fabric = own;
	else if (conf_makes_fabrics(o))
		place.fabric = NULL;
	place.of_unit = own != NULL && unit_is_of(o);
	place.image = b->j.image; /* what the configuration says now is for others */
	return place;
}

static bool has_user_data(const struct engine *e, uint32_t cloud)
{
	return claims_wanted(e, cloud) || vouchers_wanted(e, cloud);
}

/* A machine that would not get its user-data must not be bought. */
static int check_user_data(const struct engine *e, const struct batch *b,
			   const struct conf_offer *o, const struct provider_place *place,
			   struct err *err)
{
	const struct cloud *c = &e->cloud->all[b->cloud];
	const struct provider_terms t = terms_known(c->ops, c->self, place);
	const char *text = b->user_data != NULL ? b->user_data : c->conf->user_data;

	if (terms_take_data(&t, text, err) == 0)
		return 0;
	return o->name[0] != '\0' ? err_wrap(err, "offer \"%s\" of pool \"%s\"", o->name, b->j.pool)
				  : err_wrap(err, "pool \"%s\"", b->j.pool);
}

int batch_op(const struct engine *e, struct batch *b, struct provider_op *op,
	     struct provider_place *place, struct err *err)
{
	const struct conf_offer *o = batch_rung(e, b);
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
	*place = place_of(e, b, o);
	keys = keys_of(b);
	if (b->user_data == NULL && claims_wanted(e, b->cloud))
		b->user_data = claims_user_data(e, &keys, err);
	else if (b->user_data == NULL && vouchers_wanted(e, b->cloud))
		b->user_data = vouchers_user_data(e, &keys, o, err);
	if (b->user_data == NULL && has_user_data(e, b->cloud))
		return -1;
	if (check_user_data(e, b, o, place, err) != 0)
		return -1;
	*op = (struct provider_op){.kind = PROVIDER_CREATE, .cursor = b->j.cursor};
	op->u.create = (struct provider_create){.cluster = e->d.uuid,
						.token = b->j.token,
						.place = place,
						.wants = b->wants,
						.nwants = b->n,
						.user_data = b->user_data};
	return 0;
}

int batch_hash(struct cloud *c, struct batch *b, uint64_t *hash, struct err *err)
{
	struct provider_request rq = {0};
	struct provider_place place;
	struct provider_op op;

	if (batch_op(c->e, b, &op, &place, err) != 0)
		return -1;
	op.cursor = "";
	if (c->ops->build(c->self, &op, &rq, err) != 0)
		return -1;
	*hash = cloud_body_hash(&rq);
	provider_request_fini(&rq);
	return 0;
}

void batch_goes_on(struct engine *e, struct batch *b, const char *cursor)
{
	if (strcmp(b->j.cursor, cursor) == 0)
		return;
	(void)snprintf(b->j.cursor, sizeof(b->j.cursor), "%s", cursor);
	journal_put_batch(engine_tx(e), &b->j);
}

struct batch *batch_new(struct engine *e, struct fleet_node **nodes, size_t n, const char *image)
{
	const struct node *first = &nodes[0]->n; /* all are of one pool and one place */
	struct batch *b = mem_zalloc(sizeof(*b));
	uint64_t now = (uint64_t)engine_now(e);

	/* Numbers begin at the clock, so that they are new even if the journal is lost or an older
	 * copy (F58). */
	e->buy->last_batch = e->buy->last_batch >= now ? e->buy->last_batch + 1 : now;
	b->j.id = e->buy->last_batch;
	b->j.at_ms = engine_now(e);
	(void)snprintf(b->j.token, sizeof(b->j.token), "burstd-%.8s-%" PRIu64, e->d.uuid, b->j.id);
	(void)snprintf(b->j.pool, sizeof(b->j.pool), "%s", e->conf->pools[first->pool].name);
	(void)snprintf(b->j.offer, sizeof(b->j.offer), "%s", first->offer);
	(void)snprintf(b->j.provider, sizeof(b->j.provider), "%s", first->provider);
	(void)snprintf(b->j.image, sizeof(b->j.image), "%s", image);
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

bool launch_needs(const struct engine *e, const struct node *n)
{
	for (const struct batch *b = e->buy->batches; b != NULL; b = b->next)
		if (b->j.id == n->batch)
			return true;
	return false;
}

void launch_settle(struct engine *e)
{
	struct batch **at = &e->buy->batches;

	while (*at != NULL) {
		struct batch *b = *at;
		bool open = b->inflight;

		for (size_t i = 0; !open && i < b->n; i++) {
			struct fleet_node *fn = batch_row(b, i);

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

/* --- start -------------------------------------------------------------------------------------
 */

void launch_load(struct engine *e, const struct journal_batch *j)
{
	const struct conf_pool *p = conf_pool_named(e->conf, j->pool);
	struct batch *b = mem_zalloc(sizeof(*b));
	bool known;

	assert(p != NULL); /* off.c */
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
