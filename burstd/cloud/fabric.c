#include "cloud/cloud.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "core/unit.h"

/* Makes and drops fabrics, for jobs that need all nodes on one, and for placement units: EC2's
 * placement groups, other clouds' InfiniBand partitions.  A job's fabric is made just before its
 * create, when that is durable (launch_send.c), is named like the create's token, and is dropped
 * when no row of the create counts any more.  A unit's is made before each create in it, is named
 * by its nodes (core/unit.h), and is dropped when no row of the unit counts any more.
 *
 * Fabrics are not in the journal: a row's batch, or its node, gives the name.  So after a restart
 * fabrics of creates in doubt are made again, which is safe, and the others are found by a list.  A
 * fabric costs nothing, but counts against the account's limit. */

bool fabric_for(const struct conf_offer *o, uint32_t group, size_t n)
{
	return o->in_fabric != NULL && strcmp(o->in_fabric, CONF_FABRIC_JOB) == 0 && group != 0 &&
	       n > 1;
}

int fabric_check(struct engine *e, const struct conf *conf, struct err *err)
{
	for (size_t i = 0; i < conf->npools; i++) {
		const struct conf_pool *p = &conf->pools[i];
		size_t n;
		const struct conf_offer *rungs = conf_rungs(p, &n);

		for (size_t k = 0; k < n; k++) {
			const struct cloud *c = &e->cloud->all[rungs[k].provider_index];

			if (rungs[k].in_fabric != NULL && !off_is(c) &&
			    (c->caps.flags & PROVIDER_FABRICS) == 0)
				return err_set(err, ERR_INVALID,
					       "%.120s:%d: pool \"%.30s\": fabric: driver %s has "
					       "none",
					       conf->path, rungs[k].line, p->name, c->ops->name);
		}
	}
	return 0;
}

int fabric_may_use(struct engine *e, size_t provider, struct err *err)
{
	(void)provider;
	return fabric_check(e, e->conf, err);
}

/* --- which there are ---------------------------------------------------------------------------
 */

/* The index of the fabric of this name, or where to insert it. */
static size_t place_in(const struct cloud *c, const char *name)
{
	size_t low = 0, high = c->nfabrics;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (strcmp(c->fabrics[mid].name, name) < 0)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

static struct fabric *find(const struct cloud *c, const char *name)
{
	size_t at = place_in(c, name);

	return at < c->nfabrics && strcmp(c->fabrics[at].name, name) == 0 ? &c->fabrics[at] : NULL;
}

static void remember(struct cloud *c, const char *name)
{
	size_t at = place_in(c, name);

	if (find(c, name) != NULL || c->nfabrics == ENGINE_FABRICS_MAX)
		return; /* at the maximum: a later list shows it again */
	c->fabrics = mem_realloc(c->fabrics, (c->nfabrics + 1) * sizeof(*c->fabrics));
	memmove(c->fabrics + at + 1, c->fabrics + at, (c->nfabrics - at) * sizeof(*c->fabrics));
	c->fabrics[at] = (struct fabric){.step_ms = ENGINE_DROP_MS};
	(void)snprintf(c->fabrics[at].name, sizeof(c->fabrics[at].name), "%s", name);
	c->nfabrics++;
}

static void forget(struct cloud *c, struct fabric *f)
{
	size_t at = (size_t)(f - c->fabrics);

	memmove(f, f + 1, (c->nfabrics - at - 1) * sizeof(*f));
	c->nfabrics--;
}

/* A job's: the batch's token, which begins differently in another cluster. */
static const char *name_of(const struct engine *e, uint64_t batch, char name[PROVIDER_WORD_MAX + 1])
{
	(void)snprintf(name, PROVIDER_WORD_MAX + 1, "burstd-%.8s-%" PRIu64, e->d.uuid, batch);
	return name;
}

/* Would burstd give this name?  Else the fabric is not burstd's, though it has our tag. */
static bool is_ours(const struct engine *e, const char *name)
{
	char own[PROVIDER_WORD_MAX + 1];
	const char *number = strrchr(name, '-');
	uint64_t batch = number != NULL ? strtoull(number + 1, NULL, 10) : 0;

	return (batch != 0 && strcmp(name_of(e, batch, own), name) == 0) ||
	       unit_is_fabric(name, e->d.uuid);
}

void fabric_make(struct cloud *c, const char *name, request_fn fn, void *ctx)
{
	struct provider_op op = {.kind = PROVIDER_FABRIC_MAKE};

	remember(c, name);
	op.u.fabric.cluster = c->e->d.uuid;
	op.u.fabric.name = name;
	cloud_send(c, &op, fn, ctx);
}

bool fabric_goes(const struct engine *e, const char *name)
{
	for (size_t i = 0; i < e->conf->nproviders; i++) {
		const struct fabric *f = find(&e->cloud->all[i], name);

		if (f != NULL && f->busy)
			return true;
	}
	return false;
}

/* --- the list ----------------------------------------------------------------------------------
 */

/* Are fabrics configured?  Otherwise burstd needs no right to list them. */
static bool are_wanted(const struct cloud *c)
{
	const struct conf *conf = c->e->conf;

	for (size_t i = 0; i < conf->npools; i++) {
		size_t n;
		const struct conf_offer *rungs = conf_rungs(&conf->pools[i], &n);

		for (size_t k = 0; k < n; k++)
			if (&c->e->cloud->all[rungs[k].provider_index] == c &&
			    (fabric_for(&rungs[k], 1, 2) || unit_is_of(&rungs[k])))
				return true;
	}
	return false;
}

static bool may_list(const struct cloud *c)
{
	return (c->caps.flags & PROVIDER_FABRICS) != 0 && c->listed && !c->fabrics_list.busy &&
	       (c->nfabrics > 0 || are_wanted(c));
}

int64_t fabric_next_ms(const struct cloud *c)
{
	return may_list(c) ? c->fabrics_next : INT64_MAX;
}

static void on_list(struct cloud *c, void *ctx, const struct provider_result *r)
{
	const size_t known = c->nfabrics;

	(void)ctx;
	(void)pages_answered(&c->fabrics_list, r, engine_now(c->e));
	for (size_t i = 0; i < r->nfabrics; i++)
		if (is_ours(c->e, r->fabrics[i].name))
			remember(c, r->fabrics[i].name);
	/* After a restart it was perhaps said before this where their machines are. */
	c->e->cloud->aparts_due |= c->nfabrics > known;
}

/* Ask for the page that is due, if the limit allows it. */
static void list_page(struct cloud *c)
{
	struct provider_op op = {.kind = PROVIDER_FABRIC_LIST};

	if (!c->fabrics_list.due || !cloud_ready(c, PROVIDER_FABRIC_LIST))
		return;
	c->fabrics_list.due = false;
	op.u.fabric.cluster = c->e->d.uuid;
	op.u.fabric.name = "";
	op.cursor = c->fabrics_list.cursor;
	cloud_send(c, &op, on_list, NULL);
}

/* --- those that nobody needs -------------------------------------------------------------------
 */

static void need(const struct cloud *c, const char *name)
{
	struct fabric *f = find(c, name);

	if (f != NULL)
		f->needed = true;
}

struct last { /* what the row before needed: neighbours mostly need the same */
	uint64_t batch;
	uint32_t pool, unit;
};

/* The fabrics that this row may have an instance in, or is to have one in. */
static void need_of(const struct cloud *c, const struct node *n, struct last *last)
{
	const struct conf_pool *p = &c->e->conf->pools[n->pool];
	uint32_t unit = unit_of(p, n->name); /* another section may be of the same account */
	char name[PROVIDER_WORD_MAX + 1];

	if (n->batch != 0 && n->batch != last->batch)
		need(c, name_of(c->e, n->batch, name));
	if (unit != 0 && (unit != last->unit || n->pool != last->pool))
		need(c, unit_fabric(name, c->e->d.uuid, p, unit));
	*last = (struct last){.batch = n->batch, .pool = n->pool, .unit = unit};
}

/* Mark the fabrics of rows that count. */
static void mark_needed(struct cloud *c)
{
	const struct engine *e = c->e;
	struct last last = {.batch = 0};

	for (size_t i = 0; i < c->nfabrics; i++)
		c->fabrics[i].needed = false;
	for (int s = 0; s < NODE_NSTATES; s++)
		for (const struct fleet_node *fn = e->fleet.states[s]; fn; fn = fn->state_next)
			if (s != NODE_GONE)
				need_of(c, &fn->n, &last);
}

struct dropping {
	struct dropping *next; /* the next one of the same commit */
	struct request *rq;
	char name[PROVIDER_WORD_MAX + 1];
};

/* A drop was refused, perhaps for a missing right: write one event, until a drop succeeds; status
 * shows it as long as it lasts. */
static void refused(struct cloud *c, struct fabric *f, const struct provider_result *r)
{
	char detail[400];

	f->refused = true;
	(void)snprintf(c->undropped, sizeof(c->undropped), "%.200s", r->message);
	if (c->drop_denied)
		return;
	c->drop_denied = true;
	(void)snprintf(detail, sizeof(detail),
		       "provider %s does not delete a fabric that no node needs any more, and "
		       "perhaps others: %s; burstd retries",
		       c->conf->name, c->undropped);
	engine_event(c->e, "", 0, "drops-refused", detail);
}

const char *engine_fabric(const struct engine *e, const struct node *n,
			  char out[PROVIDER_WORD_MAX + 1])
{
	const struct conf_pool *p = &e->conf->pools[n->pool];
	const struct conf_offer *o = conf_rung_named(p, n->offer);
	uint32_t unit = unit_of(p, n->name);

	out[0] = '\0';
	if (o == NULL || o->in_fabric == NULL)
		return out;
	if (!conf_makes_fabrics(o))
		(void)snprintf(out, PROVIDER_WORD_MAX + 1, "%s", o->in_fabric);
	else if (unit_is_of(o) && unit != 0)
		(void)unit_fabric(out, e->d.uuid, p, unit);
	else if (n->batch == 0 || find(cloud_of(e, n), name_of(e, n->batch, out)) == NULL)
		out[0] = '\0'; /* its create had none of its own */
	return out;
}

const char *engine_undropped(const struct engine *e, size_t provider, size_t *n)
{
	const struct cloud *c = &e->cloud->all[provider];

	*n = 0;
	for (size_t i = 0; i < c->nfabrics; i++)
		*n += c->fabrics[i].refused;
	return c->undropped;
}

static void on_dropped(struct cloud *c, void *ctx, const struct provider_result *r)
{
	const struct dropping *d = ctx;
	struct fabric *f = find(c, d->name);

	if (f == NULL)
		return;
	f->busy = false;
	if (r->code == PROVIDER_OK || r->code == PROVIDER_NOT_FOUND) {
		c->drop_denied = false;
		forget(c, f);
		return;
	}
	if (r->code == PROVIDER_RATE) { /* the limit says when to try again */
		c->fabrics_look = true;
		return;
	}
	if (r->code == PROVIDER_DENIED || r->code == PROVIDER_INVALID)
		refused(c, f, r);
	f->next_ms = engine_now(c->e) + f->step_ms;
	f->step_ms = 2 * f->step_ms < ENGINE_DROP_MAX_MS ? 2 * f->step_ms : ENGINE_DROP_MAX_MS;
}

/* Stage the audit record of a drop (I28). */
static struct dropping *drop(struct cloud *c, struct fabric *f)
{
	struct dropping *d = mem_zalloc(sizeof(*d));
	struct provider_op op = {.kind = PROVIDER_FABRIC_DROP};
	struct engine *e = c->e;

	memcpy(d->name, f->name, sizeof(d->name));
	f->busy = true;
	audit_thing(e, "fabric-drop", c->conf->name, d->name, "no node needs it any more");
	op.u.fabric.cluster = e->d.uuid;
	op.u.fabric.name = d->name;
	d->rq = cloud_reserve(c, &op, on_dropped, d);
	return d;
}

static bool may_drop(const struct cloud *c, const struct fabric *f)
{
	return !f->busy && f->next_ms <= engine_now(c->e);
}

/* May any fabric be dropped now?  Finding out which are needed costs a walk through all rows. */
static bool may_drop_any(const struct cloud *c)
{
	for (size_t i = 0; i < c->nfabrics; i++)
		if (may_drop(c, &c->fabrics[i]))
			return true;
	return false;
}

/* Drop unneeded fabrics after each list of instances, which is when rows end.  One commit for all;
 * if the journal fails, reserved requests are freed with the engine. */
static void drop_some(struct cloud *c)
{
	struct dropping *all = NULL, **last = &all;

	c->fabrics_look = false;
	if (!may_drop_any(c))
		return;
	mark_needed(c);
	for (size_t i = 0; i < c->nfabrics && !c->fabrics_look; i++) {
		struct fabric *f = &c->fabrics[i];

		if (f->needed || !may_drop(c, f))
			continue;
		if (!cloud_ready(c, PROVIDER_FABRIC_DROP)) { /* the others when a slot is free */
			c->fabrics_look = true;
			continue;
		}
		*last = drop(c, f);
		last = &(*last)->next;
	}
	if (all != NULL)
		engine_commit(c->e);
	while (all != NULL && !c->e->dead) {
		struct request *rq = all->rq;

		all = all->next;
		cloud_send_reserved(rq);
	}
}

void fabric_run(struct cloud *c)
{
	if (fabric_next_ms(c) <= engine_now(c->e) && cloud_ready(c, PROVIDER_FABRIC_LIST)) {
		pages_begin(&c->fabrics_list, engine_now(c->e));
		c->fabrics_next = engine_now(c->e) + ENGINE_FABRICS_MS;
	}
	list_page(c);
	/* this walks through all rows */
	if (c->fabrics_look && c->nfabrics > 0 && cloud_ready(c, PROVIDER_FABRIC_DROP))
		drop_some(c);
}
