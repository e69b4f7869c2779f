#include "engine/private.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/ipaddr.h"
#include "base/mem.h"

/* --- a provider's list -------------------------------------------------------------------------
 */

/* The strays by id, with room for all that this list may add: for one pass. */
static void index_strays(struct cloud *c, struct map *ids)
{
	c->strays = mem_realloc(c->strays, (c->nstrays + c->nseen) * sizeof(*c->strays));
	for (size_t i = 0; i < c->nstrays; i++)
		map_put(ids, c->strays[i].id, &c->strays[i]);
}

static void add_stray(struct cloud *c, const struct provider_instance *in, struct map *ids)
{
	struct stray *s;

	if (ids->n == 0)
		index_strays(c, ids);
	s = map_get(ids, in->id);
	if (s != NULL) {
		s->seen = true;
		return;
	}
	if (c->nstrays == ENGINE_STRAYS_MAX)
		return;
	s = &c->strays[c->nstrays++];
	*s = (struct stray){.gen = in->gen, .first_ms = engine_now(c->e), .seen = true};
	(void)snprintf(s->id, sizeof(s->id), "%s", in->id);
	(void)snprintf(s->node, sizeof(s->node), "%s", in->node);
	(void)snprintf(s->addr, sizeof(s->addr), "%s", in->addr);
	map_put(ids, s->id, s);
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

static bool is_place(const struct fleet_place *p, const char *id, const char *addr)
{
	return (p->id[0] != '\0' && strcmp(p->id, id) == 0) ||
	       (addr[0] != '\0' && ipaddr_same(p->addr, addr));
}

bool observe_is_on(const struct fleet_name *nm, const char *id, const char *addr)
{
	return nm->elsewhere != NULL && is_place(nm->elsewhere, id, addr);
}

static bool is_silent(uint32_t flags)
{
	return (flags & (SLURM_NOT_RESPONDING | SLURM_DOWN | SLURM_UNKNOWN)) != 0;
}

static bool is_up(uint32_t flags)
{
	return (flags & (SLURM_POWERING_UP | SLURM_POWERED_DOWN | SLURM_POWERING_DOWN)) == 0 &&
	       !is_silent(flags);
}

/* What it is, or will be: this list may have shown another instance of it before. */
static const struct node *latest(const struct fleet_node *fn)
{
	return fn->next != NULL ? fn->next : &fn->n;
}

/* What the journal says of an instance may be old until the provider has shown it (F58). */
static bool is_proven(const struct engine *e, const struct fleet_node *fn)
{
	return fn->seen_ms != 0 || fn->n.wanted_ms > e->started_ms;
}

/* Of two instances of a node, our live one and one that we did not know, is the other the one that
 * works?  It is if slurmctld has the node on it, and if it has the node up and ours was not even
 * asked for.  A younger one is unless slurmctld has the node on ours: it was bought when ours had
 * been given up, and the journal is an older one (F58).  An older one that is shown once more has
 * ended (F14), even if its address is still the node's. */
static bool supersedes(const struct cloud *c, const struct fleet_name *nm,
		       const struct provider_instance *in)
{
	const struct fleet_node *live = fleet_live(nm);
	const struct node *n = latest(live);

	if (in->state == PROVIDER_STOPPING || in->state == PROVIDER_RECLAIMING)
		return false;
	if (n->state == NODE_WANTED && (nm->flags & SLURM_POWERING_UP) == 0)
		return true;
	if (in->gen > n->gen)
		return !nm->home || !is_proven(c->e, live);
	return in->gen == n->gen && observe_is_on(nm, in->id, in->addr);
}

static void forget_place(struct fleet_name *nm)
{
	free(nm->elsewhere);
	nm->elsewhere = NULL;
	nm->home = false;
}

static void give_way(struct engine *e, struct fleet_node *fn)
{
	struct node_event ev = {
		.type = NODE_EV_RELEASE, .reason = NODE_BECAUSE_LOST, .now_ms = engine_now(e)};

	forget_place(fn->name);
	engine_event(e, fn->n.name, fn->n.gen, "superseded", "another instance is the node now");
	engine_post(e, fn, &ev);
}

/* Needed or not, and for how much?  Ask, then look again. */
static bool is_riddle(const struct cloud *c, const struct fleet_name *nm)
{
	return (nm->flags & SLURM_KNOWN) == 0 ||
	       (!c->offers_known && cloud_price(c, &c->e->conf->pools[nm->pool]) == 0);
}

/* An instance of ours that no row stands for, of a node that a pool names: the journal was lost or
 * is old.  It is ours again, as generation gen: kept if slurmctld uses the node and we have no
 * other, or this is the one that works; deleted if not. */
static void adopt(struct cloud *c, struct fleet_name *nm, const struct provider_instance *in,
		  uint64_t gen)
{
	struct engine *e = c->e;
	struct node_event seen = {.type = NODE_EV_SEEN, .now_ms = engine_now(e), .instance = in};
	struct node_event up = {.type = NODE_EV_REGISTERED, .now_ms = engine_now(e)};
	struct fleet_node *fn, *live = fleet_live(nm);
	struct node n;

	node_init(&n, in->node, gen, engine_now(e));
	n.pool = nm->pool;
	n.rate_nano_h = cloud_price(c, &e->conf->pools[nm->pool]);
	n.release = !may_be_used(nm) || (live != NULL && !supersedes(c, nm, in));
	n.reason = n.release ? NODE_BECAUSE_LOST : NODE_BECAUSE_NONE;
	if (!n.release && live != NULL)
		give_way(e, live);
	e->count.orphans++;
	fn = engine_insert(e, &n, "found at the provider, unknown to the journal");
	fn->seen_ms = c->list_began;
	engine_post(e, fn, &seen);
	if (!n.release && is_up(nm->flags))
		engine_post(e, fn, &up); /* a job may be at work on it */
}

/* The incarnation that has this instance, else the one that it was made for; NULL: none. */
static struct fleet_node *owner(const struct fleet_name *nm, const struct provider_instance *in)
{
	for (struct fleet_node *fn = nm->newest; fn != NULL; fn = fn->older)
		if (strcmp(latest(fn)->instance, in->id) == 0)
			return fn;
	return fleet_gen(nm, in->gen);
}

/* An instance that is a row's, or will be.  false: it is not. */
static bool observe_known(struct cloud *c, const struct provider_instance *in)
{
	struct node_event ev = {.type = NODE_EV_SEEN, .now_ms = engine_now(c->e), .instance = in};
	struct fleet_name *nm = fleet_find(&c->e->fleet, in->node);
	struct fleet_node *fn = nm != NULL ? owner(nm, in) : NULL;

	if (fn == NULL || engine_cloud(c->e, fn->n.pool) != c)
		return false;
	if (latest(fn)->instance[0] != '\0' && strcmp(latest(fn)->instance, in->id) != 0)
		return false;
	fn->mark = true;
	fn->seen_ms = c->list_began;
	/* While a create is on the wire its answer comes first.  A sighting during a delete counts:
	 * it must forget an absence before it (I9, F15). */
	if (!fn->busy || fn->n.state == NODE_DELETING)
		engine_post(c->e, fn, &ev);
	return true;
}

static void observe_unknown(struct cloud *c, const struct provider_instance *in, struct map *strays)
{
	struct fleet_name *nm = fleet_find(&c->e->fleet, in->node);
	struct fleet_node *fn = nm != NULL ? owner(nm, in) : NULL;
	bool ended = in->state == PROVIDER_ENDED, riddle;

	/* A node that was moved to another pool lives on in the one it was bought in. */
	if (nm == NULL || engine_cloud(c->e, fn != NULL ? fn->n.pool : nm->pool) != c) {
		if (!ended && (nm == NULL || !may_be_used(nm)))
			add_stray(c, in, strays);
		return;
	}
	riddle = !ended && is_riddle(c, nm);
	c->unsure = c->unsure || riddle;
	/* Before the first list is understood nothing is sent: what is wanted until then takes the
	 * generation of what we found, and so will be its row. */
	if (in->gen > nm->last_gen && (!riddle || c->listed))
		nm->last_gen = in->gen;
	if (ended || riddle)
		return;
	if (fn == NULL)
		adopt(c, nm, in, in->gen);
	else if (observe_is_on(nm, in->id, in->addr))
		adopt(c, nm, in, nm->last_gen + 1);
	else
		add_stray(c, in, strays); /* a second one of one generation (I3) */
}

/* First what we know, for what we do not know is judged by it. */
static void observe_instances(struct cloud *c)
{
	struct map strays;
	size_t unknown = 0;

	c->e->count.foreign = 0;
	for (size_t i = 0; i < c->nseen; i++) {
		const struct provider_instance *in = &c->seen[i];

		if (strcmp(in->cluster, c->e->d.uuid) != 0)
			c->e->count.foreign++; /* never touched (I11) */
		else if (in->gen <= ENGINE_GEN_MAX / 2 && !observe_known(c, in))
			c->seen[unknown++] = *in; /* else: not a number that we can have given */
	}
	map_init(&strays);
	for (size_t i = 0; i < unknown; i++)
		observe_unknown(c, &c->seen[i], &strays);
	map_fini(&strays);
	forget_strays(c);
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

	observe_instances(c);
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
	char why[200]; /* of the node in hand, when it has to be made */
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

static void copy_text(char *out, size_t size, struct slurm_text t)
{
	if (t.n < size && t.n > 0)
		memcpy(out, t.p, t.n); /* else it is none that we can have given */
}

static bool text_is_addr(struct slurm_text t, const char *addr)
{
	char text[PROVIDER_ADDR_MAX + 1] = "";

	if (slurm_text_is(t, addr))
		return true;
	copy_text(text, sizeof(text), t);
	return ipaddr_same(text, addr);
}

/* Is the node where we have it?  What slurmd says of itself counts for more than the address, which
 * we may have set. */
static bool at_home(const struct fleet_node *live, const struct slurm_node *sn)
{
	if (live == NULL)
		return false;
	if (sn->instance.n > 0)
		return slurm_text_is(sn->instance, live->n.instance);
	return live->n.addr[0] != '\0' && text_is_addr(sn->addr, live->n.addr);
}

static bool is_nowhere(const struct slurm_node *sn)
{
	return sn->instance.n == 0 && (sn->addr.n == 0 || slurm_text_is(sn->addr, sn->name));
}

static void note_place(const struct look *l, struct fleet_name *nm, const struct slurm_node *sn)
{
	struct fleet_place p = {.since_ms = l->began_ms};
	bool home = at_home(fleet_live(nm), sn);

	if (home || is_nowhere(sn)) {
		forget_place(nm);
		nm->home = home;
		return;
	}
	nm->home = false;
	copy_text(p.id, sizeof(p.id), sn->instance);
	copy_text(p.addr, sizeof(p.addr), sn->addr);
	if (nm->elsewhere == NULL)
		nm->elsewhere = mem_zalloc(sizeof(p));
	else if (strcmp(nm->elsewhere->id, p.id) == 0 && strcmp(nm->elsewhere->addr, p.addr) == 0)
		p.since_ms = nm->elsewhere->since_ms;
	*nm->elsewhere = p;
}

/* Is the address that slurmctld has to be set right?  Its last update was lost (F49), or an older
 * journal is wrong (F58): so a list must have shown that our instance is there, and, where
 * slurmctld has another address, that no other one of our tag is at that. */
static bool must_mend_addr(const struct look *l, const struct fleet_node *fn,
			   const struct slurm_node *sn)
{
	const struct fleet_place *p = fn->name->elsewhere;

	if (!l->settled || fn->n.addr[0] == '\0' || text_is_addr(sn->addr, fn->n.addr))
		return false;
	return is_proven(l->e, fn) && (p == NULL || fn->seen_ms > p->since_ms);
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
		if (l->settled)
			cancel_look(l->e, nm, sn, l->began_ms);
		return;
	}
	if (fn->n.state == NODE_READY && l->began_ms > fn->n.since_ms)
		release(l, fn, NODE_BECAUSE_REPLACED); /* its slurmd is older than the request */
	else if (must_mend_addr(l, fn, sn))
		slurm_set_addr(l->e->slurm, nm->name, fn->n.addr, nm->name);
	if (l->settled)
		cancel_look(l->e, nm, sn, l->began_ms);
}

static bool reason_is(const struct slurm_node *sn, const char *start)
{
	size_t n = strlen(start);

	return sn->reason.n >= n && memcmp(sn->reason.p, start, n) == 0;
}

/* Undraining a node that is powered down marks it as one that should answer: no job gets it until
 * it is powered down once more. */
static bool is_mute(const struct slurm_node *sn)
{
	return (sn->flags & SLURM_NOT_RESPONDING) != 0 && (sn->flags & SLURM_IDLE) != 0 &&
	       (sn->flags & (SLURM_ALLOCATED | SLURM_DRAIN | SLURM_DOWN | SLURM_MAINT |
			     SLURM_POWERING_DOWN | SLURM_POWER_DOWN | SLURM_POWER_UP)) == 0;
}

/* slurmctld has powered it down, or is about to. */
static void look_down(struct look *l, struct fleet_name *nm, const struct slurm_node *sn)
{
	struct fleet_node *fn = fleet_live(nm);
	bool powering = (sn->flags & SLURM_POWERING_DOWN) != 0;
	bool awaited = (sn->flags & SLURM_ALLOCATED) != 0 && !powering;

	if (powering || awaited)
		l->moving = true;
	nm->barred = false;
	if (l->began_ms > nm->waits_ms)
		nm->waits_for = 0;
	if (engine_now(l->e) - nm->refused_ms > ENGINE_REFUSAL_MS)
		nm->refused = NODE_BECAUSE_NONE;
	/* A job has it, and slurmctld will ask for it in a moment, perhaps again (F46): what is on
	 * its way is for that job. */
	if (fn != NULL && l->began_ms > fn->n.wanted_ms && !(awaited && node_coming(&fn->n)))
		release(l, fn, NODE_BECAUSE_SUSPENDED);
	if ((sn->flags & SLURM_POWERED_DOWN) == 0 || !l->settled || fleet_live(nm) != NULL)
		return;
	if (!slurm_text_is(sn->addr, nm->name) && sn->addr.n > 0)
		slurm_set_addr(l->e->slurm, nm->name, NULL, NULL);
	if ((sn->flags & SLURM_DOWN) != 0 &&
	    (reason_is(sn, "burstd:") || reason_is(sn, "ResumeTimeout")))
		slurm_resume(l->e->slurm,
			     nm->name); /* else it stays down for ever (slurm.md 2.1) */
	else if (is_mute(sn) && l->began_ms > nm->forced_ms + ENGINE_REFORCE_MS)
		engine_power_down(l->e, nm, false, "burstd: powered down, yet waited for");
}

/* The reason without what slurmctld adds to it, who set it and when. */
static int reason_len(const struct slurm_node *sn)
{
	size_t n = 0;

	while (n < sn->reason.n && n < 120 && memcmp(sn->reason.p + n, " [", 2) != 0)
		n++;
	return (int)n;
}

/* Likewise, with an instance that lives.  What slurmctld itself says of it counts; whom an admin
 * set down, drained or told to reboot is the admin's. */
static const char *doomed_alive(struct look *l, const struct node *n, const struct slurm_node *sn,
				bool *dead)
{
	*dead = false;
	if (n->state == NODE_DRAINING)
		return "burstd: the provider takes its capacity back";
	if ((sn->flags & SLURM_REBOOT) != 0)
		return NULL;
	if ((sn->flags & SLURM_INVALID_REG) != 0) {
		(void)snprintf(l->why, sizeof(l->why), "burstd: it registered wrong: %.*s",
			       reason_len(sn), sn->reason.p != NULL ? sn->reason.p : "");
		pool_failed(l->e, n, l->why + strlen("burstd: it "));
		return l->why;
	}
	*dead = n->state == NODE_READY && (sn->flags & SLURM_DOWN) != 0 &&
		(sn->flags & (SLURM_DRAIN | SLURM_MAINT)) == 0 && reason_is(sn, "Not responding");
	return *dead ? "burstd: its slurmd does not answer" : NULL;
}

/* Why a node that slurmctld has up must be powered down, or NULL; *dead: nobody answers there. */
static const char *doomed(struct look *l, const struct fleet_name *nm, const struct slurm_node *sn,
			  bool *dead)
{
	const struct fleet_node *live = fleet_live(nm);
	bool silent = is_silent(sn->flags);
	bool hands_off = (sn->flags & (SLURM_DRAIN | SLURM_REBOOT | SLURM_MAINT)) != 0;
	bool told = (sn->flags & SLURM_POWER_DOWN) != 0;

	if (live != NULL)
		return !told ? doomed_alive(l, &live->n, sn, dead) : NULL;
	*dead = silent;
	if (silent)
		return !hands_off && engine_cloud(l->e, nm->pool)->listed
			       ? "burstd: it has no instance"
			       : NULL;
	return nm->newest != NULL && nm->newest->n.state == NODE_DELETING && !told
		       ? "burstd: its instance is being deleted"
		       : NULL;
}

/* Has slurmd registered, and well?  A node that is powered down by force while it boots loses
 * POWERING_UP at once, and its jobs. */
static bool is_registered(uint32_t flags)
{
	if ((flags & (SLURM_NOT_RESPONDING | SLURM_DOWN | SLURM_UNKNOWN | SLURM_INVALID_REG)) != 0)
		return false;
	return (flags & SLURM_POWER_DOWN) == 0 ||
	       (flags & (SLURM_ALLOCATED | SLURM_COMPLETING)) != 0;
}

/* slurmctld has it up. */
static void look_up(struct look *l, struct fleet_name *nm, const struct slurm_node *sn)
{
	struct fleet_node *fn = fleet_live(nm);
	const char *why;
	bool dead;

	nm->barred = false;
	if (fn != NULL) /* else it is up only on its way down, and people want to know why */
		nm->refused = NODE_BECAUSE_NONE;
	if (fn != NULL && must_mend_addr(l, fn, sn))
		slurm_set_addr(l->e->slurm, nm->name, fn->n.addr, nm->name);
	if (fn != NULL && fn->n.state == NODE_BOOTING && is_registered(sn->flags) &&
	    l->began_ms > fn->n.since_ms)
		engine_post_up(l->e, fn);
	why = doomed(l, nm, sn, &dead);
	if (why == NULL || !l->settled || l->began_ms <= nm->forced_ms + ENGINE_REFORCE_MS)
		return;
	engine_power_down(l->e, nm, dead, why);
	engine_event(l->e, nm->name, nm->newest != NULL ? nm->newest->n.gen : 0, "powered-down",
		     nm->told);
}

static void look(struct look *l, struct fleet_name *nm, const struct slurm_node *sn)
{
	nm->shown = true;
	nm->missing_ms = 0;
	nm->flags = sn->flags;
	if ((sn->flags & (SLURM_POWERING_UP | SLURM_POWERED_DOWN | SLURM_POWERING_DOWN)) == 0)
		note_place(l, nm, sn);
	else
		forget_place(nm);
	nm->idle = false;
	if ((sn->flags & SLURM_POWERING_UP) == 0)
		nm->useless_ms = 0;
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
	const struct fleet_name *nm = fleet_find(&s->e->fleet, sn->name);

	if (nm == NULL || (!nm->listed && !fleet_exists(nm)))
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
	if (l.wanted.len > 0 && e->calls == NULL && !e->wanted_asked) {
		free(e->wanted);
		e->wanted = str_take(&l.wanted);
	} else {
		str_fini(&l.wanted);
		if (e->wanted != NULL && !e->wanted_asked) { /* an older snapshot's */
			free(e->wanted);
			e->wanted = NULL;
		}
	}
	e->polled = true;
	e->snapshot_ms = began_ms;
	e->fleet.wake_ms = engine_now(e); /* deadlines that waited for this snapshot */
	e->slurm_ok_ms = engine_now(e);
	e->slurm_error[0] = '\0';
	engine_commit(e);
}
