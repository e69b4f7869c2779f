#include "engine/kernel.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clamp.h"
#include "base/fmt.h"
#include "base/mem.h"
#include "base/redact.h"
#include "core/unit.h"
#include "store/journal_events.h"
#include "store/journal_nodes.h"
#include "store/journal_usage.h"

struct journal_tx *engine_tx(struct engine *e)
{
	e->staging.due = true;
	if (e->staging.tx == NULL)
		e->staging.tx = journal_begin(e->d.journal);
	return e->staging.tx;
}

void engine_event(struct engine *e, const char *node, uint64_t gen, const char *type,
		  const char *detail)
{
	char g[FMT_U64_SIZE], *clean = redact(detail); /* as the log does */

	if (clean != NULL)
		detail = clean;
	journal_put_event(engine_tx(e), engine_now(e), node, gen, type, detail);
	log_write(e->d.log, LOG_INFO, type, "node", node[0] != '\0' ? node : NULL, "generation",
		  fmt_u64(g, gen), "detail", detail, NULL);
	free(clean);
}

static void stepped(struct engine *e, struct fleet_node *fn, const struct node *was,
		    const struct node_event *ev)
{
	for (size_t i = 0; i < e->d.parts.n; i++)
		if (e->d.parts.row[i].part->stepped != NULL)
			e->d.parts.row[i].part->stepped(e, fn, was, ev);
}

/* Write the event that a node was wanted, and for which job, so that people find what was bought
 * for their job. */
static void tell_unwritten(struct engine *e, struct fleet_node *fn)
{
	char why[160];

	(void)snprintf(why, sizeof(why), "%.120s", fn->unwritten);
	if (fn->n.job != 0)
		(void)snprintf(why, sizeof(why), "%.120s, for job %" PRIu64, fn->unwritten,
			       fn->n.job);
	engine_event(e, fn->n.name, fn->n.gen, node_state_str(fn->n.state), why);
	fn->unwritten = NULL;
	stepped(e, fn, NULL, NULL);
}

static struct node *stage(struct engine *e, struct fleet_node *fn)
{
	if (fn->next != NULL)
		return fn->next;
	if (fn->unwritten != NULL)
		tell_unwritten(e, fn);
	if (e->staging.n == e->staging.cap) {
		e->staging.cap = e->staging.cap == 0 ? 64 : 2 * e->staging.cap;
		e->staging.rows =
			mem_realloc(e->staging.rows, e->staging.cap * sizeof(struct fleet_node *));
	}
	e->staging.rows[e->staging.n++] = fn;
	return fleet_stage(fn);
}

static void add(struct str *s, const char *before, const char *text)
{
	if (s->len > 0)
		str_adds(s, before);
	str_adds(s, text);
}

/* " in unit 3" of a node that was bought in the fabric of its unit; not behind the instance, since
 * people read of all nodes of a unit in one line. */
static void tell_unit(const struct engine *e, const struct node *n, struct str *s)
{
	const struct conf_offer *o = engine_offer_of(e, n);
	uint32_t unit = unit_of(&e->conf->pools[n->pool], n->name);

	if (unit != 0 && o != NULL && unit_is_of(o))
		str_addf(s, " in unit %u", unit);
}

/* Write an event for a change that people care about. */
static void tell(struct engine *e, const struct fleet_node *fn, const struct node *was,
		 const struct node_event *ev)
{
	const struct node *is = fn->next;
	const bool made = is->instance[0] != '\0' && was->instance[0] == '\0';
	struct str s;

	str_init(&s, 320);
	if (was->state != is->state) {
		add(&s, "", node_state_str(was->state));
		add(&s, " -> ", node_state_str(is->state));
		if (made)
			tell_unit(e, is, &s);
	}
	if (made) {
		add(&s, ", ", "instance ");
		str_adds(&s, is->instance);
	}
	if (strcmp(is->addr, was->addr) != 0) {
		add(&s, ", ", "address ");
		str_adds(&s, is->addr);
	}
	if (is->reason != was->reason)
		add(&s, ": ", fleet_why(fn, is));
	if (is->deadline_ms != was->deadline_ms) {
		char at[FMT_TIME_SIZE];

		add(&s, ", ", "its machine will be taken away at ");
		str_addf(&s, "%.19sZ", engine_time(e, at, is->deadline_ms));
	}
	if (is->accepted && !was->accepted)
		add(&s, ": ", "waits for proof that it is gone");
	if (s.len > 0)
		engine_event(e, is->name, is->gen, node_event_str(ev->type), s.p);
	str_fini(&s);
}

void engine_post(struct engine *e, struct fleet_node *fn, const struct node_event *ev)
{
	struct node was = fn->next != NULL ? *fn->next : fn->n, next = was;
	struct node_limits lim;
	bool changed = node_step(&next, ev, engine_limits(e, &was, &lim));

	for (size_t i = 0; i < e->d.parts.n; i++)
		if (e->d.parts.row[i].part->posted != NULL)
			e->d.parts.row[i].part->posted(e, &was, ev);
	if (changed) {
		*stage(e, fn) = next;
		tell(e, fn, &was, ev);
	}
	stepped(e, fn, &was, ev);
}

struct fleet_node *engine_insert(struct engine *e, const struct node *n, const char *why)
{
	struct fleet_node *fn;

	/* The row is not durable before the commit, but nothing acts on a staged node. */
	fn = fleet_add(&e->fleet, n);
	(void)stage(e, fn);
	engine_event(e, n->name, n->gen, node_state_str(n->state), why);
	stepped(e, fn, NULL, NULL);
	return fn;
}

void engine_spend(struct engine *e, size_t nodes)
{
	e->left -= nodes < e->left ? nodes : e->left;
}

void node_queue_add(struct node_queue *q, const struct fleet_node *fn)
{
	if (q->n == q->cap) {
		q->cap = q->cap == 0 ? 64 : 2 * q->cap;
		q->v = mem_realloc(q->v, q->cap * sizeof(*q->v));
	}
	q->v[q->n++] = (struct member){.name = fn->name, .gen = fn->n.gen};
}

struct fleet_node *node_queue_take(struct node_queue *q)
{
	const struct member *m = &q->v[q->at++];

	return fleet_gen(m->name, m->gen);
}

void node_queue_end(struct node_queue *q)
{
	if (q->at < q->n)
		return;
	free(q->v);
	*q = (struct node_queue){.v = NULL};
}

void engine_want(struct engine *e, const struct node *n, const char *why)
{
	struct fleet_node *fn = fleet_add(&e->fleet, n);

	fn->unwritten = fn->made = why;
	node_queue_add(&e->unwritten, fn);
}

/* Stage some of the rows of engine_want() that the journal does not have, if nothing else waits to
 * be sent. */
static void write_unwritten(struct engine *e)
{
	if (e->more) /* most of them go out with their creates in a moment */
		return;
	while (e->left > 0 && e->unwritten.at < e->unwritten.n) {
		struct fleet_node *fn = node_queue_take(&e->unwritten);

		if (fn == NULL || fn->unwritten == NULL)
			continue; /* written already, perhaps gone */
		(void)stage(e, fn);
		engine_spend(e, 1);
	}
	node_queue_end(&e->unwritten);
}

static bool may_prune(const struct engine *e, const struct fleet_node *fn)
{
	if (fn->n.state != NODE_GONE || fn->next != NULL || fn->busy)
		return false;
	for (size_t i = 0; i < e->d.parts.n; i++)
		if (e->d.parts.row[i].part->needs != NULL &&
		    e->d.parts.row[i].part->needs(e, &fn->n))
			return false;
	return true;
}

/* Delete older rows of a name that are gone, unless a part needs them. */
static void prune(struct engine *e, struct fleet_name *nm)
{
	struct fleet_node *fn = nm->newest != NULL ? nm->newest->older : NULL;

	while (fn != NULL) {
		struct fleet_node *older = fn->older;

		if (may_prune(e, fn)) {
			journal_del_node(engine_tx(e), nm->name, fn->n.gen);
			fleet_del(&e->fleet, fn);
		}
		fn = older;
	}
}

int64_t engine_billed(const struct node *n)
{
	return n->end_ms != 0 ? fmt_cost(n->end_ms - n->start_ms, n->rate_nano_h) : 0;
}

/* billed_nano: the amount of an earlier bill of the row, which this one replaces. */
static void put_usage(struct engine *e, const struct node *n, int64_t billed_nano)
{
	struct fleet_pool *p = &e->fleet.pools[n->pool];
	struct journal_usage u = {.pool = e->conf->pools[n->pool].name,
				  .node = n->name,
				  .instance = n->instance,
				  .gen = n->gen,
				  .start_ms = n->start_ms,
				  .end_ms = n->end_ms,
				  .rate_nano_h = n->rate_nano_h};

	u.cost_nano = fmt_cost(n->end_ms - n->start_ms, n->rate_nano_h);
	p->spent_nano = clamp_add(p->spent_nano, u.cost_nano - billed_nano);
	journal_put_usage(engine_tx(e), &u);
}

static void put_all(struct engine *e)
{
	for (size_t i = 0; i < e->staging.n; i++) {
		const struct node *was = &e->staging.rows[i]->n, *n = e->staging.rows[i]->next;

		journal_put_node(engine_tx(e), n, e->conf->pools[n->pool].name);
		if (n->state == NODE_GONE && was->state != NODE_GONE && n->start_ms != 0)
			put_usage(e, n, engine_billed(was));
	}
}

/* Parts write what changes with a row in the same transaction: all rows for one part, then for the
 * next. */
static void put_parts(struct engine *e)
{
	for (size_t k = 0; k < e->d.parts.n; k++)
		for (size_t i = 0; e->d.parts.row[k].part->row_in_tx != NULL && i < e->staging.n;
		     i++)
			e->d.parts.row[k].part->row_in_tx(e, e->staging.rows[i]->next);
}

static void follow(struct engine *e, struct fleet_node *fn, const struct node *was)
{
	for (size_t i = 0; i < e->d.parts.n; i++)
		if (e->d.parts.row[i].part->row_durable != NULL)
			e->d.parts.row[i].part->row_durable(e, fn, was);
}

/* Publish all rows before parts act on any: they may stage changes, even of the same nodes, for the
 * next transaction. */
static void publish(struct engine *e)
{
	struct fleet_node **staged = e->staging.rows;
	size_t n = e->staging.n;
	struct node **was = mem_zalloc((n + 1) * sizeof(struct node *));

	e->staging.rows = NULL;
	e->staging.n = e->staging.cap = 0;
	for (size_t i = 0; i < n; i++)
		was[i] = fleet_swap(&e->fleet, staged[i]);
	e->staging.following = true;
	for (size_t i = 0; i < n; i++) {
		follow(e, staged[i], was[i]);
		free(was[i]);
	}
	e->staging.following = false;
	free(was);
	free(staged);
}

void engine_commit(struct engine *e)
{
	struct journal_tx *tx;
	struct err err;

	assert(!e->staging.following); /* it would take rows that are still to be followed */
	for (size_t i = 0; i < e->staging.n; i++)
		if (e->staging.rows[i]->name->newest == e->staging.rows[i])
			prune(e, e->staging.rows[i]->name);
	put_all(e);
	put_parts(e);
	tx = e->staging.tx;
	if (tx == NULL || !e->staging.due)
		return;
	e->staging.tx = NULL;
	e->staging.due = false;
	if (e->dead) {
		journal_abandon(tx);
		return;
	}
	e->count.commits++;
	if (journal_commit(tx, &err) != 0) {
		e->dead = true; /* the disk can no longer be believed (F55) */
		e->d.fatal(e->d.ctx, &err);
		return;
	}
	publish(e);
}

const struct engine_part unwritten_part = {
	.name = "nodes that are wanted",
	.at = {[PART_RUN] = write_unwritten},
};
