#include "engine/private.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fmt.h"
#include "base/mem.h"
#include "base/redact.h"

static struct journal_tx *open_tx(struct engine *e)
{
	if (e->tx == NULL)
		e->tx = journal_begin(e->d.journal);
	return e->tx;
}

struct journal_tx *engine_tx(struct engine *e)
{
	e->due = true;
	return open_tx(e);
}

void engine_end_call(struct engine *e, int64_t seq)
{
	journal_end_call(open_tx(e), seq);
	if (++e->ended >= ENGINE_ENDED_MAX)
		e->due = true;
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

/* A node was wanted, and by which job: that is how people find what was bought for theirs. */
static void tell_fresh(struct engine *e, struct fleet_node *fn)
{
	char why[160];

	(void)snprintf(why, sizeof(why), "%.120s", fn->fresh);
	if (fn->n.job != 0)
		(void)snprintf(why, sizeof(why), "%.120s, for job %" PRIu64, fn->fresh, fn->n.job);
	engine_event(e, fn->n.name, fn->n.gen, node_state_str(fn->n.state), why);
	fn->fresh = NULL;
}

static struct node *stage(struct engine *e, struct fleet_node *fn)
{
	if (fn->next != NULL)
		return fn->next;
	if (fn->fresh != NULL)
		tell_fresh(e, fn);
	if (e->nstaged == e->staged_cap) {
		e->staged_cap = e->staged_cap == 0 ? 64 : 2 * e->staged_cap;
		e->staged = mem_realloc(e->staged, e->staged_cap * sizeof(struct fleet_node *));
	}
	e->staged[e->nstaged++] = fn;
	return fleet_stage(fn);
}

static void add(struct str *s, const char *before, const char *text)
{
	if (s->len > 0)
		str_adds(s, before);
	str_adds(s, text);
}

/* One line of history for a change that people care about. */
static void tell(struct engine *e, const struct fleet_node *fn, const struct node *was,
		 const struct node_event *ev)
{
	const struct node *is = fn->next;
	struct str s;

	str_init(&s, 320);
	if (was->state != is->state) {
		add(&s, "", node_state_str(was->state));
		add(&s, " -> ", node_state_str(is->state));
	}
	if (is->instance[0] != '\0' && was->instance[0] == '\0') {
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

		add(&s, ", ", "its machine goes at ");
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
		if (e->d.parts.row[i].posted != NULL)
			e->d.parts.row[i].posted(e, &was, ev);
	if (!changed)
		return;
	*stage(e, fn) = next;
	tell(e, fn, &was, ev);
}

struct fleet_node *engine_insert(struct engine *e, const struct node *n, const char *why)
{
	struct fleet_node *fn;

	/* The row is not durable before the commit, but nothing acts on a staged node. */
	fn = fleet_add(&e->fleet, n);
	(void)stage(e, fn);
	engine_event(e, n->name, n->gen, node_state_str(n->state), why);
	return fn;
}

void engine_spend(struct engine *e, size_t nodes)
{
	e->left -= nodes < e->left ? nodes : e->left;
}

static void push(struct member **v, size_t *n, size_t *cap, const struct fleet_node *fn)
{
	if (*n == *cap) {
		*cap = *cap == 0 ? 64 : 2 * *cap;
		*v = mem_realloc(*v, *cap * sizeof(**v));
	}
	(*v)[(*n)++] = (struct member){.name = fn->name, .gen = fn->n.gen};
}

void engine_want(struct engine *e, const struct node *n, const char *why)
{
	struct fleet_node *fn = fleet_add(&e->fleet, n);

	fn->fresh = fn->made = why;
	push(&e->fresh, &e->nfresh, &e->fresh_cap, fn);
}

void engine_write_fresh(struct engine *e)
{
	if (e->more) /* most of them go out with their creates in a moment */
		return;
	while (e->left > 0 && e->fresh_at < e->nfresh) {
		const struct member *m = &e->fresh[e->fresh_at++];
		struct fleet_node *fn = fleet_gen(m->name, m->gen);

		if (fn == NULL || fn->fresh == NULL)
			continue; /* written, and perhaps over */
		(void)stage(e, fn);
		engine_spend(e, 1);
	}
	if (e->fresh_at < e->nfresh)
		return;
	free(e->fresh);
	e->fresh = NULL;
	e->nfresh = e->fresh_cap = e->fresh_at = 0;
}

void engine_post_up(struct engine *e, const struct fleet_node *fn)
{
	if (e->nup < ENGINE_UP_MAX)
		push(&e->up, &e->nup, &e->up_cap, fn);
}

void engine_run_up(struct engine *e)
{
	if (e->more || e->answers != NULL)
		return;
	while (e->left > 0 && e->up_at < e->nup) {
		const struct member *m = &e->up[e->up_at++];
		struct fleet_node *fn = fleet_gen(m->name, m->gen);
		struct node_event ev = {.type = NODE_EV_REGISTERED, .now_ms = engine_now(e)};

		if (fn != NULL)
			engine_post(e, fn, &ev);
		engine_spend(e, 1);
	}
	if (e->up_at < e->nup)
		return;
	free(e->up);
	e->up = NULL;
	e->nup = e->up_cap = e->up_at = 0;
}

static bool may_prune(const struct engine *e, const struct fleet_node *fn)
{
	if (fn->n.state != NODE_GONE || fn->next != NULL || fn->busy)
		return false;
	for (const struct batch *b = e->batches; b != NULL; b = b->next)
		if (b->j.id == fn->n.batch)
			return false; /* a repeat of its create must name it again (I4) */
	return true;
}

/* Older generations of a name that are gone have told their story. */
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

/* billed_nano: of that in an earlier bill, which this one replaces. */
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
	p->spent_nano += u.cost_nano - billed_nano;
	journal_put_usage(engine_tx(e), &u);
}

static void put_all(struct engine *e)
{
	for (size_t i = 0; i < e->nstaged; i++) {
		const struct node *was = &e->staged[i]->n, *n = e->staged[i]->next;

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
		for (size_t i = 0; e->d.parts.row[k].row_in_tx != NULL && i < e->nstaged; i++)
			e->d.parts.row[k].row_in_tx(e, e->staged[i]->next);
}

static void follow(struct engine *e, struct fleet_node *fn, const struct node *was)
{
	for (size_t i = 0; i < e->d.parts.n; i++)
		if (e->d.parts.row[i].row_durable != NULL)
			e->d.parts.row[i].row_durable(e, fn, was);
}

/* First all of it, then what follows from it: that may stage, even the same nodes, and is of the
 * next transaction. */
static void publish(struct engine *e)
{
	struct fleet_node **staged = e->staged;
	size_t n = e->nstaged;
	struct node **was = mem_zalloc((n + 1) * sizeof(struct node *));

	e->staged = NULL;
	e->nstaged = e->staged_cap = 0;
	for (size_t i = 0; i < n; i++)
		was[i] = fleet_swap(&e->fleet, staged[i]);
	e->following = true;
	for (size_t i = 0; i < n; i++) {
		follow(e, staged[i], was[i]);
		free(was[i]);
	}
	e->following = false;
	free(was);
	free(staged);
}

void engine_commit(struct engine *e)
{
	struct journal_tx *tx;
	struct err err;

	assert(!e->following); /* it would take rows away that are still to be followed */
	for (size_t i = 0; i < e->nstaged; i++)
		if (e->staged[i]->name->newest == e->staged[i])
			prune(e, e->staged[i]->name);
	put_all(e);
	put_parts(e);
	tx = e->tx;
	if (tx == NULL || !e->due)
		return;
	e->tx = NULL;
	e->due = false;
	e->ended = 0;
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
