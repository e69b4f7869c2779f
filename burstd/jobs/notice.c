#include "cloud/cloud.h"
#include "engine/times.h"
#include "jobs/jobs.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fmt.h"
#include "base/mem.h"
#include "core/reclaim.h"
#include "io/loop.h"

/* Acts on a notice that a node's machine will be taken away.
 *
 * A notice from a list, from the provider's messages or from an admin is written to the row first,
 * and all that follows comes from the row (core/reclaim.h): the node is fenced at once; its jobs
 * are requeued at once, or told to save their work and requeued when they end, or shortly before
 * the machine goes.  What a crash or a failed command left undone, the next snapshot does
 * (drift.c). */

enum {
	NOTICE_SOON_MS = 600000, /* so long before the end slurmctld is asked every second */
	NOTICE_TEXT_MAX = 320,
	NOTICE_EARLY_MAX = 1000,     /* kept for instances that are not known yet ... */
	NOTICE_EARLY_MS = 600000,    /* ... for so long */
	NOTICE_EARLY_END_MS = 60000, /* ... after that, until it is repeated */
};

/* --- who is meant ------------------------------------------------------------------------------
 */

static void notice_free(struct engine *e)
{
	free(e->jobs->notices.early);
}

/* The row of an instance at any provider; NULL: there is none, or several. */
static struct fleet_node *find_anywhere(struct engine *e, const char *id, bool *several)
{
	struct fleet_node *found = NULL;

	*several = false;
	for (size_t i = 0; i < e->conf->nproviders; i++) {
		struct fleet_node *fn = owner_of(&e->cloud->all[i], id);

		*several = *several || (fn != NULL && found != NULL);
		found = fn != NULL ? fn : found;
	}
	return *several ? NULL : found;
}

/* --- taking it ---------------------------------------------------------------------------------
 */

/* "reclaim: the provider takes its capacity back, at 2026-01-02T03:04:05Z (its words)" */
static void describe(const struct engine *e, char out[NOTICE_TEXT_MAX],
		     const struct engine_notice *n)
{
	char at[FMT_TIME_SIZE], when[FMT_TIME_SIZE + 8] = "";

	if (n->at_ms != 0)
		(void)snprintf(when, sizeof(when), ", at %.19sZ", engine_time(e, at, n->at_ms));
	(void)snprintf(out, NOTICE_TEXT_MAX, "%s: %s%s%s%.120s%s", reclaim_kind_str(n->kind),
		       reclaim_kind_text(n->kind), when, n->reason[0] != '\0' ? " (" : "",
		       n->reason, n->reason[0] != '\0' ? ")" : "");
}

static enum engine_noticed judge(struct engine *e, const struct fleet_node *fn,
				 enum provider_notice_kind kind)
{
	enum node_state s = fn->next != NULL ? fn->next->state : fn->n.state;

	assert(fn->name != NULL);
	if (fn != fleet_live(fn->name) ||
	    (s != NODE_BOOTING && s != NODE_READY && s != NODE_DRAINING))
		return ENGINE_NOTICE_LATE;
	if (kind == PROVIDER_NOTICE_REBALANCE &&
	    (e->conf->pools[fn->n.pool].rebalance == CONF_REBALANCE_IGNORE || fn->name->by_admin))
		return ENGINE_NOTICE_IGNORED;
	return ENGINE_NOTICE_TAKEN;
}

static enum engine_noticed take(struct engine *e, struct fleet_node *fn,
				const struct engine_notice *n)
{
	struct node_event ev = {.type = NODE_EV_NOTICE,
				.now_ms = engine_now(e),
				.notice = n->kind,
				.deadline_ms = n->at_ms};
	enum engine_noticed what = judge(e, fn, n->kind);
	static const char *const so[] = {
		[ENGINE_NOTICE_TAKEN] = "",
		[ENGINE_NOTICE_LATE] =
			"; nothing to do: it has no instance, or one that is already leaving",
		[ENGINE_NOTICE_IGNORED] = "; ignored"};
	char text[NOTICE_TEXT_MAX], detail[2 * NOTICE_TEXT_MAX];
	struct node was = fn->next != NULL ? *fn->next : fn->n;

	if (what == ENGINE_NOTICE_TAKEN) {
		engine_post(e, fn, &ev);
		if (fn->next == NULL || memcmp(fn->next, &was, sizeof(was)) == 0)
			return what; /* known already */
	}
	describe(e, text, n);
	(void)snprintf(detail, sizeof(detail), "%s: %s%s%s%s", n->instance, text, so[what],
		       n->by[0] != '\0' ? "; reported by " : "", n->by);
	engine_event(e, fn->n.name, fn->n.gen, "notice", detail);
	return what;
}

int64_t notice_when(const struct cloud *c, enum provider_notice_kind kind, int64_t at_ms)
{
	int64_t now = engine_now(c->e), latest = INT64_MAX;

	if (at_ms == 0)
		return 0;
	at_ms = times_from(c, at_ms);
	if (kind == PROVIDER_NOTICE_RECLAIM && c->caps.reclaim_ms != 0)
		latest = now + c->caps.reclaim_ms;
	if (at_ms > latest)
		return latest;
	return at_ms > now ? at_ms : now;
}

static void take_told(struct cloud *c, struct fleet_node *fn, const struct provider_notice *n)
{
	const struct engine_notice en = {.instance = n->id,
					 .kind = n->kind,
					 .at_ms = notice_when(c, n->kind, n->at_ms),
					 .reason = "",
					 .by = ""};

	c->notices[n->kind]++;
	(void)take(c->e, fn, &en);
}

/* --- too early ---------------------------------------------------------------------------------
 *
 * A notice may come before the answer to the instance's create, which alone says that it is ours,
 * or while that create is in doubt. */

static bool is_of(const struct fleet_node *fn, const struct cloud *c)
{
	return cloud_of(c->e, &fn->n) == c;
}

/* May there be instances of ours whose ids we do not know? */
static bool may_be_ours(const struct cloud *c)
{
	static const enum node_state of[] = {NODE_CREATING, NODE_INDOUBT};
	const struct engine *e = c->e;

	for (size_t s = 0; s < sizeof(of) / sizeof(of[0]); s++)
		for (const struct fleet_node *fn = e->fleet.states[of[s]]; fn; fn = fn->state_next)
			if (is_of(fn, c))
				return true;
	return false;
}

static void drop_early(struct notice_index *x, size_t i)
{
	memmove(&x->early[i], &x->early[i + 1], (--x->nearly - i) * sizeof(*x->early));
}

static struct notice_early *find_early(const struct cloud *c, const struct provider_notice *n)
{
	struct notice_index *x = &c->e->jobs->notices;

	for (size_t i = 0; i < x->nearly; i++)
		if (&c->e->cloud->all[x->early[i].provider] == c && x->early[i].n.kind == n->kind &&
		    strcmp(x->early[i].n.id, n->id) == 0)
			return &x->early[i];
	return NULL;
}

/* Keep the notice for notice_run().  false: it need not be kept, or not any longer. */
static bool keep(struct cloud *c, const struct provider_notice *n)
{
	struct notice_index *x = &c->e->jobs->notices;
	struct notice_early *k = find_early(c, n);

	if (k != NULL && engine_now(c->e) - k->first_ms >= NOTICE_EARLY_MS)
		return false;
	if (k == NULL && !may_be_ours(c))
		return false;
	if (k != NULL) {
		k->n = *n;
		return true;
	}
	if (x->early == NULL)
		x->early = mem_zalloc(NOTICE_EARLY_MAX * sizeof(*x->early));
	if (x->nearly == NOTICE_EARLY_MAX)
		drop_early(x, 0); /* the provider repeats it, unless it has forgotten it */
	x->early[x->nearly++] = (struct notice_early){
		.provider = (size_t)(c - c->e->cloud->all), .n = *n, .first_ms = engine_now(c->e)};
	return true;
}

/* Stage a provider's notice; what it calls for is done once it is durable.  false: no row has this
 * instance yet, but a create without an answer may.  The notice is kept in memory, and the provider
 * must be able to tell it again: do not acknowledge it. */
static bool notice_take(struct cloud *c, const struct provider_notice *n)
{
	struct fleet_node *fn = owner_of(c, n->id);

	if (fn == NULL && keep(c, n))
		return false;
	if (fn == NULL)
		c->e->count.notices_foreign++;
	else
		take_told(c, fn, n);
	return true;
}

/* Stage kept notices whose instances are known by now. */
static void notice_run(struct engine *e)
{
	struct notice_index *x = &e->jobs->notices;
	int64_t old = engine_now(e) - NOTICE_EARLY_MS - NOTICE_EARLY_END_MS;

	if (!x->due || x->nearly == 0)
		return;
	x->due = false;
	for (size_t i = 0; i < x->nearly;) {
		const struct notice_early k = x->early[i];
		struct cloud *c = &e->cloud->all[k.provider];
		struct fleet_node *fn = owner_of(c, k.n.id);

		if (fn == NULL && k.first_ms > old) {
			i++;
			continue;
		}
		drop_early(x, i);
		if (fn != NULL)
			take_told(c, fn, &k.n);
	}
	engine_commit(e);
}

/* --- from people -------------------------------------------------------------------------------
 */

void notice_said(struct engine *e, const struct engine_notice *n, struct engine_notice_end *out)
{
	struct fleet_name *nm = fleet_find(&e->fleet, n->instance);
	bool several = false;
	struct fleet_node *fn =
		nm != NULL ? fleet_live(nm) : find_anywhere(e, n->instance, &several);
	struct engine_notice named = *n;

	if (nm == NULL && fn != NULL)
		nm = fn->name;
	out->node = nm != NULL ? nm->name : "";
	if (fn == NULL) {
		out->so = nm != NULL ? ENGINE_NOTICE_LATE
			  : several  ? ENGINE_NOTICE_SEVERAL
				     : ENGINE_NOTICE_UNKNOWN;
		return;
	}
	named.instance = fn->n.instance;
	cloud_of(e, &fn->n)->notices[n->kind]++;
	out->so = take(e, fn, &named);
	if (out->so == ENGINE_NOTICE_TAKEN && n->kind == PROVIDER_NOTICE_FAULTY)
		report_want(e, fn, n->reason, n->by);
}

int engine_take_notices(struct engine *e, const struct engine_notice *list, size_t n,
			struct engine_notice_end *out, struct err *err)
{
	for (size_t i = 0; i < n; i++)
		notice_said(e, &list[i], &out[i]);
	engine_commit(e);
	if (!e->dead) /* act on a thousand notices in one turn, not one by one */
		timer_at(e->timer, engine_now(e));
	return e->dead ? err_set(err, ERR_IO, "the journal failed") : 0;
}

uint64_t engine_notices(const struct engine *e, size_t provider, enum provider_notice_kind kind)
{
	return e->cloud->all[provider].notices[kind];
}

/* --- what follows ------------------------------------------------------------------------------
 */

bool notice_signals(const struct conf_pool *p)
{
	return (p->checkpoint_signal != NULL && p->checkpoint_signal[0] != '\0') ||
	       p->checkpoint_command != NULL;
}

/* Leave a node alone that an admin has drained or set down, unless its machine will certainly
 * go. */
void notice_plan(const struct engine *e, const struct fleet_node *fn, struct reclaim_plan *out)
{
	const struct conf_pool *p = &e->conf->pools[fn->n.pool];
	const struct reclaim_rules rules = {.signals = notice_signals(p),
					    .wait_ms = p->rebalance_wait_ms};

	reclaim_plan(&fn->n, &rules, out);
	if (fn->n.notice == PROVIDER_NOTICE_REBALANCE && fn->name->by_admin)
		out->signal_ms = out->force_ms = INT64_MAX;
}

/* Drain the node: no job starts there from now on, and it is powered down after the last one.  A
 * node that is drained or down already stays as it is, with the Reason that says who did it. */
void notice_fence(struct engine *e, struct fleet_name *nm, const struct node *n)
{
	char why[NOTICE_WHY_SIZE];

	if (!slurm_is_on(nm->flags) || (nm->flags & (SLURM_DRAIN | SLURM_DOWN)) != 0)
		return;
	notice_text(why, n);
	nm->fenced_ms = engine_now(e);
	nm->fencing = true;
	fleet_tell(nm, engine_bare(why), engine_now(e));
	(void)slurm_drain(e->slurm, nm->name, why); /* if dropped, the next diff repeats it */
}

static void act(struct engine *e, struct fleet_node *fn)
{
	struct reclaim_plan plan;
	char why[NOTICE_WHY_SIZE];
	int64_t now = engine_now(e);

	notice_plan(e, fn, &plan);
	notice_fence(e, fn->name, &fn->n);
	notice_text(why, &fn->n);
	if (now >= plan.force_ms)
		rescue_power_down(e, fn->name, plan.dead, why);
	else if (now >= plan.signal_ms && fn->n.signal_ms == 0)
		rescue_signal(e, fn->name);
}

static enum node_reason refusal_of(const struct node *n)
{
	return n->notice == PROVIDER_NOTICE_FAULTY ? NODE_BECAUSE_FAULTY : NODE_BECAUSE_RECLAIMED;
}

void notice_follow(struct engine *e, struct fleet_node *fn, const struct node *was)
{
	const struct node *is = &fn->n;
	bool begins = was->state != NODE_DRAINING;

	if (!begins && was->notice == is->notice && was->deadline_ms == is->deadline_ms)
		return;
	if (begins || was->noticed_ms != is->noticed_ms)
		fn->name->noticed_ms = engine_now(e);
	if (was->state == NODE_BOOTING) /* send it back with the rest of its job */
		refuse_mark(e, fn->name, refusal_of(is), NULL);
	else
		act(e, fn);
}

static void fenced(struct engine *e, struct fleet_name *nm)
{
	int64_t took = engine_now(e) - nm->noticed_ms;

	if (nm->noticed_ms == 0)
		return;
	nm->noticed_ms = 0;
	e->count.fences++;
	e->count.fence_ms += (uint64_t)took;
	if ((uint64_t)took > e->count.fence_max_ms)
		e->count.fence_max_ms = (uint64_t)took;
}

/* slurmctld has answered an order about these nodes. */
void notice_told(struct engine *e, const struct slurm_order *o, bool ok)
{
	bool fences = strcmp(o->verb, "drain") == 0 || strcmp(o->verb, "power-down") == 0 ||
		      strcmp(o->verb, "down") == 0;
	struct hostlist *h;

	if (!fences || hostlist_parse(&h, o->names, strlen(o->names), NULL) != 0)
		return;
	for (size_t i = 0; i < h->n; i++) {
		struct fleet_name *nm = fleet_find(&e->fleet, h->names[i]);

		if (nm == NULL)
			continue;
		nm->fencing = false;
		nm->unheard = !ok;
		if (ok)
			fenced(e, nm);
	}
	hostlist_free(h);
}

bool notice_moving(const struct engine *e)
{
	for (const struct fleet_node *fn = e->fleet.states[NODE_DRAINING]; fn;
	     fn = fn->state_next) {
		struct reclaim_plan plan;

		notice_plan(e, fn, &plan);
		if (plan.force_ms == INT64_MAX || plan.force_ms > engine_now(e) + NOTICE_SOON_MS)
			continue;
		return true;
	}
	return false;
}

const struct engine_part notice_part = {
	.name = "notices",
	.noticed = notice_take,
	.at = {[PART_RUN] = notice_run, [PART_FREE] = notice_free},
};
