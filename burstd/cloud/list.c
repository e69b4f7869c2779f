#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "cloud/cloud.h"

/* burstd lists the instances of one provider, page by page, at intervals, sooner while a row waits
 * for what a list will show, and less often while nothing moves (ADR 41). */

static bool anyone_waits(const struct cloud *c)
{
	static const enum node_state of[] = {NODE_INDOUBT, NODE_BOOTING, NODE_DELETING};
	struct engine *e = c->e;

	for (size_t s = 0; s < sizeof(of) / sizeof(of[0]); s++)
		for (struct fleet_node *fn = e->fleet.states[of[s]]; fn; fn = fn->state_next) {
			struct node_limits lim;

			if (cloud_of(e, &fn->n) == c && !fn->busy &&
			    node_want(&fn->n, engine_now(e), engine_limits(e, &fn->n, &lim)) ==
				    NODE_WANT_LIST)
				return true;
		}
	return c->nstrays > 0;
}

static void forget_seen(struct cloud *c)
{
	free(c->seen);
	free(c->failures);
	c->seen = NULL;
	c->failures = NULL;
	c->nseen = c->nfailures = 0;
	map_fini(&c->comparison.ids);
	c->comparison = (struct comparison){.runs = false};
}

static void list_failed(struct cloud *c)
{
	pages_end(&c->list);
	forget_seen(c);
	c->calm = false;
	if (c->list_step < ENGINE_RETRY_MS)
		c->list_step = ENGINE_RETRY_MS;
	c->list_next = engine_now(c->e) + c->list_step;
	c->list_step = engine_longer(c->list_step);
}

static int by_id(const void *a, const void *b)
{
	const struct provider_failure *x = a, *y = b;

	return strcmp(x->id, y->id);
}

static void keep_failures(struct cloud *c, const struct provider_result *r)
{
	if (r->nfailures == 0)
		return;
	c->failures =
		mem_realloc(c->failures, (c->nfailures + r->nfailures) * sizeof(*c->failures));
	memcpy(c->failures + c->nfailures, r->failures, r->nfailures * sizeof(*c->failures));
	c->nfailures += r->nfailures;
}

const struct provider_failure *list_failure(const struct cloud *c, const char *id)
{
	struct provider_failure key = {0};

	if (c->nfailures == 0)
		return NULL;
	(void)snprintf(key.id, sizeof(key.id), "%s", id);
	return bsearch(&key, c->failures, c->nfailures, sizeof(key), by_id);
}

static void keep_seen(struct cloud *c, const struct provider_result *r)
{
	keep_failures(c, r);
	if (r->ninstances == 0)
		return;
	c->seen = mem_realloc(c->seen, (c->nseen + r->ninstances) * sizeof(*c->seen));
	memcpy(c->seen + c->nseen, r->instances, r->ninstances * sizeof(*c->seen));
	c->nseen += r->ninstances;
}

/* Write an event if a list exceeds a limit; the rest is handled when there is room. */
static void say_full(struct cloud *c)
{
	if (c->nstrays >= ENGINE_STRAYS_MAX || c->nunread >= ENGINE_UNREAD_MAX)
		cloud_complain(c, PROVIDER_LIST, "limit",
			       "too many instances that no node has, or whose tags cannot be read: "
			       "the rest is handled later");
}

static void list_slower(struct cloud *c)
{
	c->list_step = 2 * c->list_step < c->conf->list_ms ? 2 * c->list_step : c->conf->list_ms;
}

/* --- how often, while nothing moves --------------------------------------------------------------
 */

/* Is each node up or off, and does slurmctld hear from all that are up? */
static bool nothing_moves(const struct engine *e)
{
	for (int s = 0; s < NODE_NSTATES; s++)
		if (s != NODE_READY && s != NODE_GONE && e->fleet.states[s] != NULL)
			return false;
	return e->poll.polled && e->poll.error[0] == '\0' && !e->poll.moving && !e->poll.silent;
}

/* Do notices reach us without a list? */
static bool hears(const struct cloud *c)
{
	return (c->caps.flags & PROVIDER_TELLS) != 0 && c->listen_began != 0 &&
	       c->unheard_ms == 0 && !c->listen_stuck;
}

/* Has the list that is complete now shown all nodes that are up? */
static bool shows_all(const struct cloud *c)
{
	for (const struct fleet_node *fn = c->e->fleet.states[NODE_READY]; fn; fn = fn->state_next)
		if (cloud_of(c->e, &fn->n) == c && fn->seen_ms != c->list_began)
			return false;
	return true;
}

static bool still_calm(const struct cloud *c)
{
	return c->calm && nothing_moves(c->e) && hears(c);
}

/* From the begin of a list to that of the next.  A stray may come right after a list has passed it:
 * then it is first seen so much later, waits, and is deleted, all within what P1 allows. */
static int64_t calm_ms(const struct cloud *c)
{
	int64_t waits = c->ages && c->conf->settle_ms > ENGINE_STRAY_LOOK_MS
				? (int64_t)ENGINE_STRAY_LOOK_MS
				: c->conf->settle_ms;
	int64_t most = ENGINE_STRAY_MS - ENGINE_STRAY_REST_MS - waits;
	int64_t ms = c->conf->list_ms * ENGINE_CALM_TIMES;

	ms = ms < most ? ms : most;
	return ms > c->conf->list_ms ? ms : c->conf->list_ms;
}

/* When the next list is due. */
static int64_t due_ms(const struct cloud *c)
{
	int64_t usual = c->list_began + c->conf->list_ms;

	return c->calm && !still_calm(c) && usual < c->list_next ? usual : c->list_next;
}

/* --- a list ------------------------------------------------------------------------------------
 */

static bool all_dated(const struct cloud *c)
{
	for (size_t i = 0; i < c->nseen; i++)
		if (c->seen[i].created_ms <= 0)
			return false;
	return c->nseen > 0;
}

/* The list is complete and was taken: may the next one come later?  Strays wait for it. */
static void look_calm(struct cloud *c)
{
	c->calm = !c->unsure && !c->waits && c->unreadable == 0 && shows_all(c);
	c->calm = still_calm(c);
	if (c->calm)
		c->list_next = c->list_began + calm_ms(c);
}

/* What the list says is in the rows now. */
static void list_taken(struct cloud *c)
{
	if (!c->listed && !c->unsure) {
		c->listed = true;
		doubt_list_seen(c->e);
		engine_commit(c->e);
	}
	c->waits = c->unsure || anyone_waits(c);
	look_calm(c);
	c->fabrics_look = true;
	say_full(c);
	forget_seen(c);
}

void list_compare(struct cloud *c)
{
	bool taken;

	if (!c->comparison.runs)
		return;
	taken = engine_listed(c->e, c);
	engine_commit(c->e);
	c->taken = taken;
	if (taken && !c->e->dead)
		list_taken(c);
}

static void list_done(struct cloud *c)
{
	/* A list that takes longer than the pause after it would be followed by the next at once:
	 * double the pause. */
	if (engine_now(c->e) - c->list_began >= c->list_step)
		list_slower(c);
	c->unsure = false;
	c->list_next = c->list_began + c->conf->list_ms;
	if (c->nfailures > 0)
		qsort(c->failures, c->nfailures, sizeof(*c->failures), by_id);
	c->ages = all_dated(c);
	c->comparison.runs = true; /* this turn goes on with it: turn.c */
}

static void on_list(struct cloud *c, void *ctx, const struct provider_result *r)
{
	enum pages_next next = pages_answered(&c->list, r, engine_now(c->e));
	const char *why = next == PAGES_ENDLESS ? "its pages do not end" : NULL;
	const struct provider_result none = {.code = PROVIDER_AMBIGUOUS};

	(void)ctx;
	if (next != PAGES_AGAIN && c->nseen + r->ninstances > ENGINE_SEEN_MAX)
		why = "too many instances";
	if (why != NULL)
		cloud_complain(c, PROVIDER_LIST, "invalid", why);
	if (why != NULL || next != PAGES_MORE)
		away_heard(c, PROVIDER_LIST, why != NULL ? &none : r);
	if (next == PAGES_AGAIN)
		return;
	if (why != NULL || next == PAGES_FAILED) {
		list_failed(c);
		return;
	}
	keep_seen(c, r);
	if (next == PAGES_DONE)
		list_done(c);
}

/* Ask for the page that is due, if the limit allows it. */
static void list_page(struct cloud *c)
{
	struct provider_op op = {.kind = PROVIDER_LIST};

	if (!c->list.due || !cloud_ready(c, PROVIDER_LIST))
		return;
	c->list.due = false;
	op.u.list.cluster = c->e->d.uuid;
	op.cursor = c->list.cursor;
	cloud_send(c, &op, on_list, NULL);
}

static void list_start(struct cloud *c)
{
	if (!cloud_ready(c, PROVIDER_LIST))
		return;
	pages_begin(&c->list, engine_now(c->e));
	/* No two lists begin in one millisecond: a row knows by that which one showed it. */
	c->list_began = engine_now(c->e) > c->list_began ? engine_now(c->e) : c->list_began + 1;
}

/* While a row waits for a list: ask at once, then after 0.5 s, 1 s, 2 s ... (I30: never faster
 * after errors). */
static void list_soon(struct cloud *c)
{
	int64_t at = c->list_began + c->list_step;

	if (at >= c->list_next)
		return;
	c->list_next = at;
	if (at > engine_now(c->e)) /* the first list comes too early to show much */
		list_slower(c);
}

void list_run(struct cloud *c)
{
	const int64_t now = engine_now(c->e);

	if (c->comparison.runs)
		return;
	if (!c->list.busy) {
		c->list_next = due_ms(c);
		if (c->waits)
			list_soon(c);
		if (now >= c->list_next)
			list_start(c);
	}
	list_page(c);
}

int64_t list_next_ms(const struct cloud *c)
{
	return c->list.busy || c->comparison.runs ? INT64_MAX : due_ms(c);
}
