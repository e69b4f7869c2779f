#include "buy/buy.h"
#include "cloud/cloud.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fmt.h"
#include "base/mem.h"

/* Decides whether a pool may buy, apart from its limits: an admin may have paused it, or its
 * circuit is open since its machines came up wrong (core/breaker.h).  Existing nodes go on, and are
 * deleted as usual.  Pauses and circuits are durable.  No pool buys while the journal's disk has no
 * room (F55). */

struct pool {
	bool paused;
	char by[JOURNAL_BY_SIZE]; /* who paused it */
	int64_t paused_ms;
	struct breaker breaker;
	char why[160]; /* of the last failure; memory only */
	char node[64]; /* the only node that failed; "": none, or several; memory only */
	char blocked[320], refusal[160], unlisted[200]; /* for people */
	/* For each rung: other rungs are tried first after a failure, since the cause may be a host
	 * or a place rather than the image.  Memory only. */
	struct breaker wrong[CONF_OFFERS_MAX];
	/* The last known price of each rung; memory only. */
	int64_t cost[CONF_OFFERS_MAX];
	struct engine_losses lost; /* memory only; counted again from the rows at a start */
};

static void pool_init(struct engine *e)
{
	e->buy->pools = mem_zalloc((e->conf->npools + 1) * sizeof(*e->buy->pools));
}

static void pool_free(struct engine *e)
{
	free(e->buy->pools);
}

static void pool_start(struct engine *e)
{
	(void)pool_look(e);
}

static void pool_reload(struct engine *e)
{
	pool_grow(e, e->old[e->nold - 1]->npools, e->conf->npools);
}

void pool_grow(struct engine *e, size_t had, size_t n)
{
	e->buy->pools = mem_realloc(e->buy->pools, (n + 1) * sizeof(*e->buy->pools));
	for (size_t i = had; i < n; i++)
		e->buy->pools[i] = (struct pool){.paused = false};
	for (size_t i = 0; i < had; i++) { /* rungs may have another order now */
		memset(e->buy->pools[i].wrong, 0, sizeof(e->buy->pools[i].wrong));
		memset(e->buy->pools[i].cost, 0, sizeof(e->buy->pools[i].cost));
	}
}

void pool_load(struct engine *e, const struct journal_pool *p)
{
	const struct conf_pool *c = conf_pool_named(e->conf, p->name);
	struct pool *to;
	struct breaker b = p->breaker;
	int64_t now = engine_now(e);

	if (c == NULL)
		return; /* it was taken out of the configuration */
	/* The clock may have gone back (F57): limit the pause, and forget the time of the last
	 * failure, by which purchases before it are recognised. */
	if (b.last_ms > now)
		b.last_ms = 0;
	b.until_ms = b.until_ms < now + BREAKER_MAX_MS ? b.until_ms : now + BREAKER_MAX_MS;
	to = &e->buy->pools[conf_pool_index(e->conf, c)];
	*to = (struct pool){.paused = p->paused, .paused_ms = p->paused_ms, .breaker = b};
	(void)snprintf(to->by, sizeof(to->by), "%s", p->by);
}

static void put(struct engine *e, size_t i)
{
	struct journal_pool p = {.name = e->conf->pools[i].name,
				 .paused = e->buy->pools[i].paused,
				 .breaker = e->buy->pools[i].breaker,
				 .paused_ms = e->buy->pools[i].paused_ms};

	(void)snprintf(p.by, sizeof(p.by), "%s", e->buy->pools[i].by);

	journal_put_pool(engine_tx(e), &p);
}

/* Why the pool waits for a list: it may have instances without a row.  NULL: it does not. */
static const char *unlisted(const struct engine *e, size_t i)
{
	const struct cloud *c = doubt_unlisted(e, (uint32_t)i);
	struct pool *p = &e->buy->pools[i];

	if (c == NULL)
		return NULL;
	(void)snprintf(p->unlisted, sizeof(p->unlisted),
		       "%.60s has not listed its instances since the journal was lost or restored; "
		       "burstd retries",
		       c->conf->name);
	return p->unlisted;
}

const char *engine_blocked(const struct engine *e, size_t i)
{
	struct pool *p = &e->buy->pools[i];
	char at[FMT_TIME_SIZE];

	if (e->conf->pools[i].removed)
		return "the configuration does not have it any more";
	if (p->paused)
		return "paused by an admin";
	if (!breaker_is_open(&p->breaker, engine_now(e)))
		return unlisted(e, i);
	(void)snprintf(p->blocked, sizeof(p->blocked),
		       "its nodes come up wrong%s%s; buys nothing until %.19sZ",
		       p->why[0] != '\0' ? ": " : "", p->why,
		       engine_time(e, at, p->breaker.until_ms));
	return p->blocked;
}

void pool_node_failed(struct engine *e, struct fleet_name *nm, uint64_t gen)
{
	if (nm->failed_gen == gen)
		return; /* that was counted */
	nm->failed_gen = gen;
	nm->fails++;
	nm->rests_ms = engine_now(e) + breaker_rest_ms(nm->fails);
	e->buy->resting = true;
}

void pool_rest(struct engine *e, struct fleet_name *nm)
{
	char why[160], at[FMT_TIME_SIZE];

	if (fleet_unreached(nm) != NULL)
		(void)snprintf(why, sizeof(why),
			       "burstd: %.60s cannot be reached, and may have an instance of it",
			       fleet_unreached(nm)->n.provider);
	else if (fleet_stuck(nm))
		(void)snprintf(why, sizeof(why), "burstd: an instance of it cannot be deleted");
	else
		(void)snprintf(why, sizeof(why), "burstd: it did not come up; rests until %.19sZ",
			       engine_time(e, at, nm->rests_ms));
	fleet_tell(nm, engine_bare(why), engine_now(e));
	slurm_down(e->slurm, nm->name, why);
	engine_event(e, nm->name, nm->newest != NULL ? nm->newest->n.gen : 0, "rests", nm->told);
}

void pool_rested(struct engine *e)
{
	int64_t now = engine_now(e);
	bool any = false;

	for (size_t i = 0; e->buy->resting && i < e->fleet.nall; i++) {
		struct fleet_name *nm = e->fleet.all[i];

		if (nm->rests_ms <= now)
			nm->rests_ms = 0;
		any = any || nm->rests_ms != 0;
	}
	e->buy->resting = any;
}

/* Is it always the same node that fails?  That says nothing about its pool. */
static bool is_alone(struct pool *p, const char *node)
{
	if (p->breaker.waves == 0)
		(void)snprintf(p->node, sizeof(p->node), "%.63s", node);
	else if (strcmp(p->node, node) == 0)
		return true;
	else
		p->node[0] = '\0';
	return false;
}

/* The row's rung; CONF_OFFERS_MAX: the configuration does not have it any more. */
static size_t rung_of(const struct engine *e, const struct node *n)
{
	const struct conf_pool *p = &e->conf->pools[n->pool];
	const struct conf_offer *o = conf_rung_named(p, n->offer);

	return o != NULL ? (size_t)(o - conf_rungs(p, NULL)) : CONF_OFFERS_MAX;
}

/* Try the other rungs first, for longer than a node rests after as many failures: a job comes back
 * after its node has rested, and when the circuit closes it must not go to the same place. */
static void note_wrong_rung(struct engine *e, const struct node *n)
{
	size_t rung = rung_of(e, n);
	struct breaker *b;

	if (rung == CONF_OFFERS_MAX)
		return;
	b = &e->buy->pools[n->pool].wrong[rung];
	if (breaker_fail(b, n->wanted_ms, engine_now(e)))
		b->until_ms = b->last_ms + breaker_rest_ms(b->waves + 1);
}

int64_t pool_wrong_until(const struct engine *e, size_t i, size_t rung)
{
	const struct breaker *b = &e->buy->pools[i].wrong[rung];
	bool open = breaker_is_open(b, engine_now(e));

	/* A longer wait than any means that the clock went back (F57). */
	return open && b->until_ms <= engine_now(e) + BREAKER_MAX_MS ? b->until_ms : 0;
}

void pool_set_cost(struct engine *e, size_t i, size_t rung, int64_t price)
{
	e->buy->pools[i].cost[rung] = price;
}

int64_t pool_cost(const struct engine *e, size_t i, size_t rung)
{
	return e->buy->pools[i].cost[rung];
}

void pool_failed(struct engine *e, const struct node *n, const char *why)
{
	struct fleet_name *nm = fleet_find(&e->fleet, n->name);
	struct pool *p = &e->buy->pools[n->pool];
	const char *blocked;

	if (nm != NULL)
		pool_node_failed(e, nm, n->gen);
	note_wrong_rung(e, n);
	if (is_alone(p, n->name) || !breaker_fail(&p->breaker, n->wanted_ms, engine_now(e)))
		return;
	(void)snprintf(p->why, sizeof(p->why), "%.70s: %.80s", n->name, why);
	put(e, n->pool);
	blocked = engine_blocked(e, n->pool);
	if (blocked != NULL) {
		char text[400];

		(void)snprintf(text, sizeof(text), "pool %s: %s", e->conf->pools[n->pool].name,
			       blocked);
		engine_event(e, "", 0, "pool-blocked", text);
	}
}

void pool_works(struct engine *e, struct fleet_name *nm, const struct node *n)
{
	struct pool *p = &e->buy->pools[n->pool];
	size_t rung = rung_of(e, n);

	nm->fails = 0;
	nm->rests_ms = 0;
	if (rung < CONF_OFFERS_MAX)
		(void)breaker_ok(&p->wrong[rung]);
	if (breaker_ok(&p->breaker))
		put(e, n->pool);
}

bool pool_is_open(const struct engine *e, size_t i)
{
	return breaker_is_open(&e->buy->pools[i].breaker, engine_now(e));
}

void pool_close(struct engine *e, size_t i)
{
	struct pool *p = &e->buy->pools[i];

	memset(p->wrong, 0, sizeof(p->wrong));
	if (breaker_ok(&p->breaker))
		put(e, i);
}

/* Is any node of the pool on its way up? */
static bool is_trying(const struct fleet_pool *p)
{
	return p->count[NODE_WANTED] + p->count[NODE_CREATING] + p->count[NODE_INDOUBT] +
		       p->count[NODE_BOOTING] >
	       0;
}

const char *pool_probes(const struct engine *e, size_t i)
{
	return breaker_probes(&e->buy->pools[i].breaker, engine_now(e))
		       ? "its nodes came up wrong, and one purchase is tried first"
		       : NULL;
}

bool pool_is_probed(const struct engine *e, uint32_t i)
{
	return pool_probes(e, i) != NULL && is_trying(&e->fleet.pools[i]);
}

/* The job's other nodes may come in later calls (ResumeRate), and it needs all of them. */
uint64_t pool_tried_for(const struct engine *e, size_t i)
{
	static const enum node_state states[] = {NODE_WANTED, NODE_CREATING, NODE_INDOUBT,
						 NODE_BOOTING};
	uint64_t job = 0;

	for (size_t s = 0; s < sizeof(states) / sizeof(states[0]); s++)
		for (const struct fleet_node *fn = e->fleet.states[states[s]]; fn != NULL;
		     fn = fn->state_next) {
			if (fn->n.pool != i)
				continue;
			if (fn->n.job == 0 || (job != 0 && fn->n.job != job))
				return 0;
			job = fn->n.job;
		}
	return job;
}

/* --- what providers take -----------------------------------------------------------------------
 */

/* Did the provider take the machine?  Not if burstd released it, for another node of its job. */
static bool is_taken(const struct node *n)
{
	return (n->state == NODE_DELETING || n->state == NODE_GONE) && n->instance[0] != '\0' &&
	       (n->reason == NODE_BECAUSE_RECLAIMED || n->reason == NODE_BECAUSE_MAINTENANCE ||
		(n->reason == NODE_BECAUSE_ENDED && !n->release));
}

void pool_lost(struct engine *e, const struct node *n)
{
	struct engine_losses *l = &e->buy->pools[n->pool].lost;

	if (!is_taken(n) || engine_now(e) - n->since_ms > ENGINE_LOSSES_MS)
		return;
	if (l->n == 0 || n->since_ms - l->last_ms > ENGINE_LOSSES_MS)
		l->n = 0;
	l->n++;
	if (l->n > 1 && n->since_ms < l->last_ms)
		return;
	l->last_ms = n->since_ms;
	l->why = n->reason;
	(void)snprintf(l->node, sizeof(l->node), "%s", n->name);
}

void pool_count_lost(struct engine *e)
{
	for (size_t i = 0; i < e->fleet.nall; i++)
		for (const struct fleet_node *fn = e->fleet.all[i]->newest; fn; fn = fn->older)
			pool_lost(e, &fn->n);
}

const struct engine_losses *engine_losses(const struct engine *e, size_t i)
{
	const struct engine_losses *l = &e->buy->pools[i].lost;

	return l->n > 0 && engine_now(e) - l->last_ms <= ENGINE_LOSSES_MS ? l : NULL;
}

/* --- the disk ----------------------------------------------------------------------------------
 */

bool pool_look(struct engine *e)
{
	const bool was_low = e->buy->room.low;

	e->buy->room = journal_look(e->d.journal);
	if (e->buy->room.low)
		(void)snprintf(e->buy->no_room, sizeof(e->buy->no_room),
			       "the disk of burstd is full (%" PRId64 " MiB free in %.60s)",
			       e->buy->room.free_bytes >> 20, e->conf->state_dir);
	if (e->buy->room.low == was_low)
		return !e->buy->room.low;
	log_write(e->d.log, e->buy->room.low ? LOG_WARN : LOG_INFO,
		  e->buy->room.low ? "nothing is bought" : "buying goes on", "reason",
		  e->buy->room.low ? e->buy->no_room : "there is room on the disk", NULL);
	engine_event(e, "", 0, e->buy->room.low ? "disk-full" : "disk-has-room",
		     e->buy->room.low ? e->buy->no_room : "");
	return !e->buy->room.low;
}

void engine_look_at_disk(struct engine *e)
{
	const bool was_low = e->buy->room.low;

	if (e->dead)
		return;
	if (pool_look(e) == was_low) /* `low` has changed */
		engine_turn(e);
}

const struct journal_room *engine_room(const struct engine *e)
{
	return &e->buy->room;
}

const char *pool_blocked(const struct engine *e, size_t i)
{
	return e->buy->room.low ? e->buy->no_room : engine_blocked(e, i);
}

static bool is_blocked(const struct engine *e, const struct node *n)
{
	return pool_blocked(e, n->pool) != NULL || off_is(&e->cloud->all[n->cloud]);
}

enum node_reason pool_blocked_because(const struct engine *e, size_t i)
{
	if (e->buy->room.low)
		return NODE_BECAUSE_DISK;
	if (e->conf->pools[i].removed)
		return NODE_BECAUSE_INVALID;
	if (e->buy->pools[i].paused)
		return NODE_BECAUSE_OPERATOR;
	if (breaker_is_open(&e->buy->pools[i].breaker, engine_now(e)))
		return NODE_BECAUSE_BOOT;
	return unlisted(e, i) == NULL && pool_probes(e, i) != NULL ? NODE_BECAUSE_BOOT
								   : NODE_BECAUSE_UNREACHABLE;
}

static enum node_reason blocked_because(const struct engine *e, const struct node *n)
{
	/* Else its provider is off. */
	return pool_blocked(e, n->pool) != NULL ? pool_blocked_because(e, n->pool)
						: NODE_BECAUSE_DENIED;
}

/* A row from before burstd's start may be up by now, as in sendable() in wanted.c. */
bool pool_may_refuse(const struct engine *e, const struct fleet_node *fn)
{
	if ((fn->name->flags & SLURM_POWERING_UP) == 0 && slurm_is_on(fn->name->flags))
		return false; /* it is up: the journal is an older copy (F58) */
	return fn->n.wanted_ms > e->started_ms || e->poll.snapshot_ms != 0;
}

void pool_refuse_wanted(struct engine *e)
{
	struct fleet_node *fn = e->fleet.states[NODE_WANTED];
	bool any = false;

	for (size_t i = 0; i < e->conf->npools && !any; i++)
		any = pool_blocked(e, i) != NULL;
	for (size_t i = 0; i < e->conf->nproviders && !any; i++)
		any = off_is(&e->cloud->all[i]);
	for (; any && fn != NULL && e->staging.n < e->slice.write; fn = fn->state_next) {
		struct node_event ev = {.type = NODE_EV_REFUSED,
					.reason = blocked_because(e, &fn->n),
					.now_ms = engine_now(e)};

		if (!fn->busy && is_blocked(e, &fn->n) && pool_may_refuse(e, fn))
			engine_post(e, fn, &ev);
	}
	e->more = e->more || (any && fn != NULL);
	engine_commit(e);
}

const char *pool_refusal(const struct engine *e, const struct node *n)
{
	struct pool *p = &e->buy->pools[n->pool];
	const char *blocked = pool_blocked(e, n->pool), *off = off_why(&e->cloud->all[n->cloud]);

	if (blocked == NULL && off != NULL)
		(void)snprintf(p->refusal, sizeof(p->refusal), "provider %.40s is off: %.100s",
			       e->conf->providers[n->cloud].name, off);
	if (blocked == NULL)
		return off != NULL ? p->refusal : NULL;
	(void)snprintf(p->refusal, sizeof(p->refusal), "pool %.40s: %.110s",
		       e->conf->pools[n->pool].name, blocked);
	return p->refusal;
}

/* --- an admin's word ---------------------------------------------------------------------------
 */

int engine_pause(struct engine *e, const char *pool, bool paused, const char *by, struct err *err)
{
	const struct conf_pool *c = pool != NULL ? conf_pool_named(e->conf, pool) : NULL;

	if (pool != NULL && c == NULL)
		return err_set(err, ERR_INVALID, "no pool is named \"%.60s\"", pool);
	for (size_t i = 0; i < e->conf->npools; i++) {
		struct pool *p = &e->buy->pools[i];
		char text[160];

		if (c != NULL && i != conf_pool_index(e->conf, c))
			continue;
		if (p->paused == paused && (paused || p->breaker.waves == 0))
			continue;
		p->paused = paused;
		p->paused_ms = paused ? engine_now(e) : 0;
		(void)snprintf(p->by, sizeof(p->by), "%.60s", paused ? by : "");
		if (!paused) { /* the admin has repaired what was wrong with its machines */
			(void)breaker_ok(&p->breaker);
			memset(p->wrong, 0, sizeof(p->wrong));
		}
		put(e, i);
		(void)snprintf(text, sizeof(text), "pool %.80s, ordered by %.60s",
			       e->conf->pools[i].name, by);
		engine_event(e, "", 0, paused ? "paused" : "resumed", text);
	}
	engine_commit(e);
	engine_at(e, PART_PAUSE);
	engine_turn(e); /* unsent rows are refused in this turn */
	return e->dead ? err_set(err, ERR_IO, "the journal failed") : 0;
}

bool engine_paused(const struct engine *e, size_t i)
{
	return e->buy->pools[i].paused;
}

const char *engine_paused_by(const struct engine *e, size_t i, int64_t *since_ms)
{
	*since_ms = e->buy->pools[i].paused_ms;
	return e->buy->pools[i].by;
}

const struct engine_part pool_part = {
	.name = "pools",
	.at = {[PART_INIT] = pool_init,
	       [PART_START] = pool_start,
	       [PART_RELOAD] = pool_reload,
	       [PART_FREE] = pool_free},
	.on_trial = pool_is_probed,
};
