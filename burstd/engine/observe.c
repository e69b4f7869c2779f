#include "engine/private.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

/* --- a provider's list -------------------------------------------------------------------------
 */

static void add_stray(struct cloud *c, const struct provider_instance *in)
{
	struct stray *s;

	for (size_t i = 0; i < c->nstrays; i++)
		if (strcmp(c->strays[i].id, in->id) == 0) {
			c->strays[i].seen = true;
			return;
		}
	if (c->nstrays == ENGINE_STRAYS_MAX)
		return;
	c->strays = mem_realloc(c->strays, (c->nstrays + 1) * sizeof(*c->strays));
	s = &c->strays[c->nstrays++];
	*s = (struct stray){.gen = in->gen, .first_ms = engine_now(c->e), .seen = true};
	(void)snprintf(s->id, sizeof(s->id), "%s", in->id);
	(void)snprintf(s->node, sizeof(s->node), "%s", in->node);
	engine_event(c->e, in->node, in->gen, "stray", in->id);
}

static void forget_strays(struct cloud *c)
{
	size_t n = 0;

	for (size_t i = 0; i < c->nstrays; i++)
		if (c->strays[i].seen) {
			c->strays[n] = c->strays[i];
			c->strays[n++].seen = false;
		}
	c->nstrays = n;
}

/* An instance of a node that is bought elsewhere now (its pool was given another provider) may have
 * a job on it for as long as slurmctld does not say that the node is down (I18). */
static bool may_be_used(const struct fleet_name *nm)
{
	return (nm->flags & (SLURM_POWERED_DOWN | SLURM_POWERING_DOWN)) == 0;
}

/* An instance of ours that no row stands for, of a node that a pool names: the journal was lost or
 * is old.  It is ours again: kept if slurmctld uses the node and we have no other, deleted if not.
 */
static void adopt(struct cloud *c, struct fleet_name *nm, const struct provider_instance *in)
{
	struct engine *e = c->e;
	const struct conf_pool *p = &e->conf->pools[nm->pool];
	struct node_event seen = {.type = NODE_EV_SEEN, .now_ms = engine_now(e), .instance = in};
	struct fleet_node *fn;
	struct node n;

	if (in->state == PROVIDER_ENDED)
		return;
	node_init(&n, in->node, in->gen, engine_now(e));
	n.pool = nm->pool;
	n.rate_nano_h = cloud_price(c, p);
	if ((nm->flags & SLURM_KNOWN) == 0 || (n.rate_nano_h == 0 && !c->offers_known)) {
		c->unsure = true; /* needed or not, and for how much?  Ask, then look again */
		return;
	}
	n.release = !may_be_used(nm) || fleet_live(nm) != NULL;
	n.reason = n.release ? NODE_BECAUSE_LOST : NODE_BECAUSE_NONE;
	e->count.orphans++;
	fn = engine_insert(e, &n, "found at the provider, unknown to the journal");
	engine_post(e, fn, &seen);
}

static void observe_instance(struct cloud *c, const struct provider_instance *in)
{
	struct engine *e = c->e;
	struct fleet_name *nm;
	struct fleet_node *fn;
	const struct node *n;
	struct node_event ev = {.type = NODE_EV_SEEN, .now_ms = engine_now(e), .instance = in};

	if (strcmp(in->cluster, e->d.uuid) != 0) {
		e->count.foreign++; /* never touched (I11) */
		return;
	}
	if (in->gen > ENGINE_GEN_MAX)
		return; /* not a number that we can have given */
	nm = fleet_find(&e->fleet, in->node);
	fn = nm != NULL ? fleet_gen(nm, in->gen) : NULL;
	/* A node that was moved to another pool lives on in the one it was bought in. */
	if (nm == NULL || engine_cloud(e, fn != NULL ? fn->n.pool : nm->pool) != c) {
		if (in->state != PROVIDER_ENDED && (nm == NULL || !may_be_used(nm)))
			add_stray(c, in);
		return;
	}
	if (in->gen > nm->last_gen)
		nm->last_gen = in->gen;
	if (fn == NULL) {
		adopt(c, nm, in);
		return;
	}
	n = fn->next != NULL ? fn->next : &fn->n; /* this list may have shown another before */
	if (n->instance[0] != '\0' && strcmp(n->instance, in->id) != 0) {
		if (in->state != PROVIDER_ENDED)
			add_stray(c, in); /* a second one of one generation (I3) */
		return;
	}
	fn->mark = true;
	/* While a create is on the wire its answer comes first.  A sighting during a delete counts:
	 * it must forget an absence before it (I9, F15). */
	if (!fn->busy || fn->n.state == NODE_DELETING)
		engine_post(e, fn, &ev);
}

/* Does slurmctld confirm that this node's machine is not there? */
static bool slurm_misses(const struct fleet_node *fn)
{
	return (fn->name->flags & (SLURM_DOWN | SLURM_NOT_RESPONDING | SLURM_POWERED_DOWN |
				   SLURM_POWERING_DOWN)) != 0;
}

/* Absence of a node that works is believed only if slurmctld does not hear from it either; of one
 * that boots or may have been made, only while few are absent: a list that lost many at once is a
 * broken list (I12, F15, F17), and would have them bought a second time. */
static bool believable(const struct fleet_node *fn, bool brake)
{
	if (fn->n.state == NODE_READY || fn->n.state == NODE_DRAINING)
		return slurm_misses(fn);
	return (fn->n.state != NODE_BOOTING && fn->n.state != NODE_INDOUBT) || !brake;
}

static bool counts_for_brake(const struct fleet_node *fn)
{
	return fn->n.state == NODE_BOOTING || fn->n.state == NODE_READY ||
	       fn->n.state == NODE_DRAINING;
}

static void observe_absent(struct cloud *c, bool brake)
{
	struct engine *e = c->e;

	for (size_t i = 0; i < e->fleet.nall; i++)
		for (struct fleet_node *fn = e->fleet.all[i]->newest; fn; fn = fn->older) {
			struct node_event ev = {.type = NODE_EV_ABSENT,
						.now_ms = engine_now(e),
						.list_ms = c->list_began};
			bool seen = fn->mark;

			fn->mark = false;
			if (seen || fn->busy || engine_cloud(e, fn->n.pool) != c ||
			    !believable(fn, brake))
				continue;
			engine_post(e, fn, &ev);
		}
}

static bool must_brake(const struct cloud *c)
{
	size_t alive = 0, absent = 0;

	for (size_t i = 0; i < c->e->fleet.nall; i++)
		for (struct fleet_node *fn = c->e->fleet.all[i]->newest; fn; fn = fn->older) {
			if (engine_cloud(c->e, fn->n.pool) != c || !counts_for_brake(fn))
				continue;
			alive++;
			absent += !fn->mark;
		}
	return absent > ENGINE_BRAKE_MIN && absent > alive / 10;
}

void observe_list(struct cloud *c)
{
	bool brake;

	c->e->count.foreign = 0;
	for (size_t i = 0; i < c->nseen; i++)
		observe_instance(c, &c->seen[i]);
	forget_strays(c);
	brake = must_brake(c);
	if (brake)
		log_write(c->e->d.log, LOG_WARN,
			  "the list lacks many of our instances: not believed", "provider",
			  c->conf->name, NULL);
	observe_absent(c, brake);
}

/* --- a snapshot of slurmctld -------------------------------------------------------------------
 */

struct look { /* one pass over a snapshot */
	struct engine *e;
	int64_t began_ms;
	bool settled; /* it shows the effect of all our updates */
	bool moving;
	struct str wanted;
};

static void want(struct look *l, struct fleet_name *nm)
{
	str_addf(&l->wanted, "%s%s", l->wanted.len > 0 ? "," : "", nm->name);
}

static void release(struct look *l, struct fleet_node *fn, enum node_reason why)
{
	struct node_event ev = {.type = NODE_EV_RELEASE, .reason = why, .now_ms = engine_now(l->e)};

	engine_post(l->e, fn, &ev);
}

/* slurmctld waits for the node to come up. */
static void look_powering_up(struct look *l, struct fleet_name *nm, const struct slurm_node *sn)
{
	struct fleet_node *fn = fleet_live(nm);

	l->moving = true;
	if (nm->barred) {
		if (l->settled && l->began_ms > nm->forced_ms)
			l->e->refuse_due = true; /* it was told, and does not know: again */
		return;
	}
	if (fn == NULL) {
		want(l, nm);
		return;
	}
	if (fn->n.state == NODE_READY && l->began_ms > fn->n.since_ms)
		release(l, fn, NODE_BECAUSE_REPLACED); /* its slurmd is older than the request */
	else if (fn->n.addr[0] != '\0' && l->settled && !slurm_text_is(sn->addr, fn->n.addr))
		slurm_set_addr(l->e->slurm, nm->name, fn->n.addr, nm->name);
}

/* slurmctld has powered it down, or is about to. */
static void look_down(struct look *l, struct fleet_name *nm, const struct slurm_node *sn)
{
	struct fleet_node *fn = fleet_live(nm);

	if ((sn->flags & SLURM_POWERING_DOWN) != 0)
		l->moving = true;
	nm->barred = false;
	if (engine_now(l->e) - nm->refused_ms > ENGINE_REFUSAL_MS)
		nm->refused = NODE_BECAUSE_NONE;
	if (fn != NULL && l->began_ms > fn->n.wanted_ms)
		release(l, fn, NODE_BECAUSE_SUSPENDED);
	if ((sn->flags & SLURM_POWERED_DOWN) == 0 || !l->settled || fleet_live(nm) != NULL)
		return;
	if (!slurm_text_is(sn->addr, nm->name) && sn->addr.n > 0)
		slurm_set_addr(l->e->slurm, nm->name, NULL, NULL);
	if ((sn->flags & SLURM_DOWN) != 0 && sn->reason.n >= 7 &&
	    (memcmp(sn->reason.p, "burstd:", 7) == 0 ||
	     (sn->reason.n >= 13 && memcmp(sn->reason.p, "ResumeTimeout", 13) == 0)))
		slurm_resume(l->e->slurm,
			     nm->name); /* else it stays down for ever (slurm.md 2.1) */
}

/* Why a node that slurmctld has up must be powered down, or NULL; *dead: nobody answers there. */
static const char *doomed(const struct look *l, const struct fleet_name *nm,
			  const struct slurm_node *sn, bool *dead)
{
	const struct fleet_node *live = fleet_live(nm);
	bool silent = (sn->flags & (SLURM_NOT_RESPONDING | SLURM_DOWN | SLURM_UNKNOWN)) != 0;
	bool hands_off = (sn->flags & (SLURM_DRAIN | SLURM_REBOOT | SLURM_MAINT)) != 0;
	bool told = (sn->flags & SLURM_POWER_DOWN) != 0;

	*dead = live == NULL && silent;
	if (live != NULL)
		return live->n.state == NODE_DRAINING && !told
			       ? "burstd: the provider takes its capacity back"
			       : NULL;
	if (silent)
		return !hands_off && engine_cloud(l->e, nm->pool)->listed
			       ? "burstd: it has no instance"
			       : NULL;
	return nm->newest != NULL && nm->newest->n.state == NODE_DELETING && !told
		       ? "burstd: its instance is being deleted"
		       : NULL;
}

/* slurmctld has it up. */
static void look_up(struct look *l, struct fleet_name *nm, const struct slurm_node *sn)
{
	struct fleet_node *fn = fleet_live(nm);
	bool silent = (sn->flags & (SLURM_NOT_RESPONDING | SLURM_DOWN | SLURM_UNKNOWN)) != 0;
	struct node_event up = {.type = NODE_EV_REGISTERED, .now_ms = engine_now(l->e)};
	const char *why;
	bool dead;

	nm->barred = false;
	if (fn != NULL) /* else it is up only on its way down, and people want to know why */
		nm->refused = NODE_BECAUSE_NONE;
	if (fn != NULL && fn->n.addr[0] != '\0' && l->settled &&
	    !slurm_text_is(sn->addr, fn->n.addr)) /* the update was lost (F49) */
		slurm_set_addr(l->e->slurm, nm->name, fn->n.addr, nm->name);
	if (fn != NULL && fn->n.state == NODE_BOOTING && !silent && l->began_ms > fn->n.since_ms)
		engine_post(l->e, fn, &up);
	why = doomed(l, nm, sn, &dead);
	if (why == NULL || !l->settled || l->began_ms <= nm->forced_ms + ENGINE_REFORCE_MS)
		return;
	engine_power_down(l->e, nm, dead, why);
}

static void look(struct look *l, struct fleet_name *nm, const struct slurm_node *sn)
{
	nm->shown = true;
	nm->missing_ms = 0;
	nm->flags = sn->flags;
	if ((sn->flags & SLURM_POWERING_UP) != 0)
		look_powering_up(l, nm, sn);
	else if ((sn->flags & (SLURM_POWERED_DOWN | SLURM_POWERING_DOWN)) != 0)
		look_down(l, nm, sn);
	else
		look_up(l, nm, sn);
}

/* A node that slurmctld does not have any more (deleted from slurm.conf, or hidden there while it
 * is powered down) has no job, and no program will ever be called for it: its instance would run
 * for ever (F51).  Few at a time, for the wrong slurm.conf may be in force for a while (I12). */
static void look_missing(struct look *l)
{
	struct engine *e = l->e;
	size_t most = e->fleet.nall / 10 > ENGINE_BRAKE_MIN ? e->fleet.nall / 10 : ENGINE_BRAKE_MIN;

	for (size_t i = 0; i < e->fleet.nall; i++) {
		struct fleet_name *nm = e->fleet.all[i];
		struct fleet_node *fn = fleet_live(nm);
		bool shown = nm->shown;

		nm->shown = false;
		if (shown)
			continue;
		if (nm->missing_ms == 0)
			nm->missing_ms = l->began_ms;
		if (l->began_ms < nm->missing_ms + ENGINE_VANISHED_MS)
			continue;
		nm->flags = SLURM_KNOWN | SLURM_POWERED_DOWN | SLURM_VANISHED;
		nm->barred = false;
		if (fn == NULL || l->began_ms <= fn->n.wanted_ms || most == 0)
			continue;
		most--;
		release(l, fn, NODE_BECAUSE_SUSPENDED);
	}
}

struct sightings { /* the nodes of ours in one snapshot */
	const struct engine *e;
	struct slurm_node *nodes;
	size_t n, cap;
};

static void keep(void *ctx, const struct slurm_node *sn)
{
	struct sightings *s = ctx;

	if (fleet_find(&s->e->fleet, sn->name) == NULL)
		return; /* no pool names it: not ours */
	if (s->n == s->cap) {
		s->cap = s->cap == 0 ? 64 : 2 * s->cap;
		s->nodes = mem_realloc(s->nodes, s->cap * sizeof(*s->nodes));
	}
	s->nodes[s->n++] = *sn;
}

void observe_snapshot(struct engine *e, const char *text, size_t len, int64_t began_ms)
{
	struct look l = {
		.e = e, .began_ms = began_ms, .settled = began_ms >= slurm_settled_ms(e->slurm)};
	struct sightings all = {.e = e};
	struct err err;

	/* Whole or not at all: a broken snapshot decides nothing. */
	if (slurm_parse_nodes(text, len, keep, &all, &err) < 0) {
		free(all.nodes);
		if (strcmp(e->slurm_error, err.msg) != 0)
			log_write(e->d.log, LOG_WARN, "a snapshot of slurmctld makes no sense",
				  "error", err.msg, NULL);
		(void)snprintf(e->slurm_error, sizeof(e->slurm_error), "%s", err.msg);
		e->slurm_failed_ms = engine_now(e);
		return;
	}
	str_init(&l.wanted, (size_t)HOSTLIST_NAMES_MAX * (HOSTLIST_NAME_MAX + 1));
	for (size_t i = 0; i < all.n; i++)
		look(&l, fleet_find(&e->fleet, all.nodes[i].name), &all.nodes[i]);
	look_missing(&l);
	free(all.nodes);
	e->moving = l.moving;
	if (l.wanted.len > 0 && e->calls == NULL) {
		free(e->wanted);
		e->wanted = str_take(&l.wanted);
	} else {
		str_fini(&l.wanted);
	}
	e->polled = true;
	e->snapshot_ms = began_ms;
	e->fleet.wake_ms = engine_now(e); /* deadlines that waited for this snapshot */
	e->slurm_ok_ms = engine_now(e);
	e->slurm_error[0] = '\0';
	engine_commit(e);
}
