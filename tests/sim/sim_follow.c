/* A node whose keys are rotated: burst-agent, and node-init --keys. */
#include <string.h>

#include "sim_rotate.h"

enum {
	AGAIN_MS = 65 * SIM_SECOND, /* burstd gives a node its keys once a minute */
	LATE_MS = 10 * SIM_MINUTE,  /* an order that is older is none of ours */
	UNWRAP_TRIES = 4,
	DEAF = 5, /* one of so many never fetches other keys than its first */
};

void sim_follow_first(struct world *w, struct sim_machine *m, int64_t version)
{
	const struct sim_bundle *b = sim_rotate_bundle(w, version);

	if (b == NULL)
		return;
	m->version = version;
	m->munge = b->munge;
	m->next = b->next;
}

/* node-init --keys switch */
static void on_switch(struct world *w, void *ctx, uint64_t order)
{
	struct inst *i = ctx;
	struct sim_machine *m = i->machine;

	if (!sim_machine_runs(i) || m->order != (int64_t)order || m->done == m->order)
		return;
	if (m->fetches) {
		world_at(w, w->now + SIM_SECOND, on_switch, i, order);
		return;
	}
	SIM_TRACE(w, "  %s (i-%u) switches%s", i->node, (unsigned)i->number,
		  m->next != 0 ? "" : ", and has nothing to switch to");
	if (m->next != 0)
		m->munge = m->next;
	m->next = 0;
	m->done = m->order;
}

/* node-init --keys stage: as it has them. */
static void stage(struct world *w, struct inst *i, int64_t version, bool switches)
{
	const struct sim_bundle *b = sim_rotate_bundle(w, version);
	struct sim_machine *m = i->machine;

	SIM_TRACE(w, "  %s (i-%u) has version %lld%s", i->node, (unsigned)i->number,
		  (long long)version, switches ? ", which all use" : "");
	if (b->munge != m->munge && !switches)
		return; /* burstd says nothing of a switch */
	m->munge = b->munge;
	m->next = b->next;
	m->version = version;
	m->took_at = w->now;
	m->back = false;
}

static void on_unwrap(struct world *w, void *ctx, uint64_t tries)
{
	struct inst *i = ctx;
	struct sim_machine *m = i->machine;
	int64_t version;

	if (!sim_machine_runs(i))
		return;
	version = sim_store_unwrap(w, m->token, i->number);
	if (version == 0 && tries < UNWRAP_TRIES) {
		world_at(w, w->now + 5 * SIM_SECOND, on_unwrap, i, tries + 1);
		return;
	}
	m->fetches = false;
	if (version > 0)
		stage(w, i, version, m->switches);
}

static void on_keys(struct world *w, struct sim_post *p, const struct sim_reply *r)
{
	struct sim_machine *m = p->about->machine;

	m->again_at = w->now + AGAIN_MS;
	if (!sim_machine_runs(p->about) || r == NULL || r->status != 200 || !r->keys) {
		m->fetches = false;
	} else if (r->token != 0) {
		m->token = r->token;
		m->switches = r->switches;
		world_at(w, w->now + SIM_SECOND, on_unwrap, p->about, 0);
	} else {
		m->fetches = false;
		stage(w, p->about, r->version, r->switches);
	}
}

/* Without a roll of the dice: the rest of the world stays as it is. */
static bool is_deaf(const struct world *w, const struct inst *i)
{
	return (w->seed + i->number) % DEAF == 0;
}

static void fetch(struct world *w, struct inst *i)
{
	struct sim_machine *m = i->machine;
	struct sim_post *p = sim_door_new(i, SIM_KEYS_AGAIN, on_keys);

	m->fetches = true;
	p->key = m->key;
	p->gen = m->gen;
	memcpy(p->node, m->node, sizeof(p->node));
	sim_door_post(w, p);
}

void sim_follow_told(struct world *w, struct inst *i, const struct sim_reply *r)
{
	struct sim_machine *m = i->machine;
	int64_t left = r->switch_ms - r->now_ms;

	if (r->want == 0)
		return;
	if (r->switch_ms == 0) { /* it is off */
		m->back = m->back || (m->order != 0 && m->order == m->done);
		m->order = 0;
	} else if (r->switch_ms > 0 && r->switch_ms != m->done && r->switch_ms != m->order &&
		   left > -LATE_MS) {
		m->order = r->switch_ms;
		world_at(w, w->now + (left > 0 ? left : 0), on_switch, i, (uint64_t)m->order);
	}
	if ((m->version != r->want || m->back) && !m->fetches && w->now >= m->again_at &&
	    !is_deaf(w, i))
		fetch(w, i);
}
