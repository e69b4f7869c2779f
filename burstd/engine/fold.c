#include "engine/private.h"
#include "engine/vouchers.h"

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

	if (e->vouchers != NULL)
		vouchers_posted(e, &was, ev);
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

void engine_power_down(struct engine *e, struct fleet_name *nm, bool dead, const char *why)
{
	/* Its machine may go while a job that ignores SIGTERM is still completing there, and old
	 * releases requeue such a job without its GPUs and its record (slurm.md 2.2). */
	if (nm->newest != NULL && nm->newest->n.state == NODE_DRAINING)
		dead = dead || prereq_may_have(e, SLURM_BUG_REQUEUE_LOST);
	nm->forced_ms = engine_now(e);
	fleet_tell(nm, engine_bare(why), engine_now(e));
	rescue_node(e, nm, dead, why);
}

/* It waits at least until the place that refused it may be tried again. */
static void refuse_here(struct engine *e, const struct fleet_node *fn, const char *text)
{
	const struct conf_offer *at = place_of(e, &fn->n);

	refuse_mark(e, fn->name, fn->n.reason, text);
	if (at != NULL && text == NULL)
		fn->name->hint.not_before_ms = place_opens_ms(e, at);
}

/* A place refused it, and its pool has others: which of them may have it is decided anew, with the
 * rest of its job. */
static bool climbs(struct engine *e, const struct fleet_node *fn)
{
	const struct node *is = &fn->n;
	const struct conf_offer *at = place_of(e, is);
	size_t n;
	const struct conf_offer *rungs = conf_rungs(&e->conf->pools[is->pool], &n);

	if (n <= 1 || is->state != NODE_GONE || fn->name->barred ||
	    !node_reason_of_place(is->reason))
		return false;
	if (at != NULL)
		fn->name->tried |= UINT32_C(1) << (at - rungs);
	fn->name->climbs = true;
	fn->name->waits_for = is->job;
	fn->name->waits_ms = engine_now(e);
	e->climbing = true;
	return true;
}

/* It was bought, and never came up.  One that stopped counts like one whose time was over: a
 * provider may accept what it then cannot make (F10), and a node-init that tells nobody ends its
 * machine when it fails. */
static bool never_came(const struct node *was, const struct node *is)
{
	if (was->release || !node_coming(was) || was->state == NODE_WANTED)
		return false;
	if (is->state != NODE_GONE && is->state != NODE_DELETING)
		return false;
	if (is->reason == NODE_BECAUSE_STOPPED)
		return true;
	return was->state == NODE_BOOTING &&
	       (is->reason == NODE_BECAUSE_BOOT || is->reason == NODE_BECAUSE_INIT ||
		is->reason == NODE_BECAUSE_BREACH);
}

/* Was it let go, as slurmctld does not want it, and had never come up?  Only what is known since
 * the start counts; and an older machine that is found says nothing of one bought since (F46). */
static void note_use(const struct engine *e, struct fleet_node *fn, const struct node *was)
{
	const struct node *is = &fn->n;

	if (is->state == NODE_READY || was->state == NODE_READY) {
		fn->name->used_gen = is->gen;
		if (fn == fn->name->newest)
			fn->name->unused_ms = 0;
	}
	if (is->release && !was->release && is->reason == NODE_BECAUSE_SUSPENDED &&
	    fn->name->used_gen != is->gen)
		fn->name->unused_ms = engine_now(e);
}

/* What follows from a change once it is durable; everything here is repeated by the next diff. */
static void follow(struct engine *e, struct fleet_node *fn, const struct node *was)
{
	const struct node *is = &fn->n;
	bool ended = is->state == NODE_GONE || is->state == NODE_DELETING;
	bool useful = node_coming(was);
	const char *wrong = NULL; /* with what came up, in more than a phrase */

	e->notices.due = e->notices.due || strcmp(is->instance, was->instance) != 0;
	if (is->addr[0] != '\0' && strcmp(is->addr, was->addr) != 0 && node_lives(is))
		slurm_set_addr(e->slurm, is->name, is->addr, is->name);
	if (was->state == NODE_BOOTING && is->state == NODE_READY)
		pool_works(e, fn->name, is);
	if (never_came(was, is)) {
		wrong = is->reason != NODE_BECAUSE_BOOT ? fleet_why(fn, is) : NULL;
		pool_failed(e, is, fleet_why(fn, is));
	}
	if (ended && node_lives(was))
		pool_lost(e, is);
	if (was->state == NODE_INDOUBT && is->state == NODE_GONE)
		place_doubt_ends(e, is);
	if (was->state == NODE_CREATING && is->state == NODE_GONE && !was->release &&
	    (engine_cloud(e, is)->caps.flags & PROVIDER_MACHINES) != 0)
		pool_node_failed(e, fn->name, is->gen);
	if (is->state == NODE_DRAINING && fn == fleet_live(fn->name) && !was->release)
		notice_follow(e, fn, was);
	note_use(e, fn, was);
	if (fn != fn->name->newest || was->release || was->state == is->state)
		return;
	if (was->state == NODE_INDOUBT && is->state == NODE_BOOTING)
		away_found(fn->name);
	if (ended && useful && is->reason != NODE_BECAUSE_SUSPENDED &&
	    is->reason != NODE_BECAUSE_LOST && is->reason != NODE_BECAUSE_REPLACED) {
		if (is->state == NODE_GONE)
			e->count.instances_refused++;
		if (!climbs(e, fn))
			refuse_here(e, fn, was->state == NODE_WANTED ? pool_refusal(e, is) : wrong);
	}
	if (is->state == NODE_GONE && is->reason == NODE_BECAUSE_LOST)
		e->count.instances_lost++;
	if (is->state == NODE_GONE && (was->state == NODE_READY || was->state == NODE_DRAINING)) {
		char why[200];

		if (was->state == NODE_READY && is->reason == NODE_BECAUSE_ENDED)
			place_reclaimed(e, fn); /* without notice, as far as we can know */
		(void)snprintf(why, sizeof(why), "burstd: %s", fleet_why(fn, is));
		engine_power_down(e, fn->name, true, why);
	}
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

/* Whose machine goes claims nothing, from the same commit on. */
static void end_claims(struct engine *e)
{
	for (size_t i = 0; e->claims != NULL && i < e->nstaged; i++)
		claims_row(e, e->staged[i]->next);
	for (size_t i = 0; e->vouchers != NULL && i < e->nstaged; i++)
		vouchers_row(e, e->staged[i]->next);
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
	end_claims(e);
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
