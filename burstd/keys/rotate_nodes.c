#include "keys/rotate.h"
#include "keys/vouchers.h"

#include <inttypes.h>
#include <stdio.h>

#include "jobs/jobs.h"

/* Tells nodes, in answers to heartbeats, which keys to have and when to switch; they fetch keys by
 * /v1/node/keys.  Nodes that do not follow are drained. */

/* --- which keys they should have ---------------------------------------------------------------
 */

int64_t rotate_wanted(const struct rotate *rt)
{
	return rotation_runs(&rt->r) ? rt->r.now : door_key_version(secrets_version(rt->e));
}

bool rotate_takes(const struct engine *e, int64_t version, int64_t claimed)
{
	int64_t current = door_key_version(secrets_version(e));
	const struct rotate *rt = e->keys->rotate;

	if (rt == NULL || (!rotation_runs(&rt->r) && (current == 0 || current != rt->r.now)))
		return version == (current != 0 ? current : claimed);
	if (rotation_holds(&rt->r, current))
		return version == rt->r.now && rt->r.phase != ROTATION_SWITCHING;
	return version == current || rotation_takes(&rt->r, version);
}

void rotate_tell(const struct engine *e, const struct claim_run *r, struct str *out)
{
	const struct rotate *rt = e->keys->rotate;
	int64_t has = (int64_t)r->key_version, want = rt != NULL ? rotate_wanted(rt) : 0;
	bool off = rt != NULL && rotation_called_off(&rt->r, engine_now(e));

	if (off && has != 0)
		str_addf(out, ",\"keys\":{\"version\":\"%" PRId64 "\",\"switch_ms\":0}",
			 want != 0 ? want : has);
	else if (want == 0)
		return;
	else if (rt->r.phase == ROTATION_WINDOW && has == want)
		str_addf(out, ",\"keys\":{\"version\":\"%" PRId64 "\",\"switch_ms\":%" PRId64 "}",
			 want, rt->r.switch_ms);
	else if (has != 0 && has != want)
		str_addf(out, ",\"keys\":{\"version\":\"%" PRId64 "\"}", want);
}

bool rotate_says_switch(const struct engine *e)
{
	const struct rotate *rt = e->keys->rotate;

	return rt != NULL && rotation_in_use(&rt->r) &&
	       rt->r.now == door_key_version(secrets_version(e));
}

/* --- a look at all of them ---------------------------------------------------------------------
 */

static bool is_heard(const struct claim_run *r)
{
	return r->heartbeat_ms != 0 && r->key_version != 0;
}

static void drain(struct engine *e, struct fleet_name *nm, uint64_t gen, uint64_t version)
{
	char g[FMT_U64_SIZE], text[96];

	(void)snprintf(text, sizeof(text), "it has version %s of the keys",
		       version != 0 ? fmt_u64(g, version) : "?");
	engine_event(e, nm->name, gen, "keys-old", text);
	fleet_tell(nm, "drained: it has old keys", engine_now(e));
	insist_drain(e, nm, "burstd: it has old keys");
}

/* Can jobs start on the node, as far as slurmctld has said?  A node that is drained or down already
 * stays so, with that Reason (F51): burstd's drain would end its machine, and the admin's drain
 * with it.  If the admin resumes it, its keys are still outdated. */
static bool is_in_use(const struct fleet_name *nm)
{
	return (nm->flags & SLURM_KNOWN) != 0 && (nm->flags & (SLURM_DRAIN | SLURM_DOWN)) == 0;
}

/* Has the node had outdated keys for too long? */
static bool is_late(const struct rotate *rt, const struct claim_run *r)
{
	int64_t grace = rotation_switched(&rt->r) ? ROTATION_SETTLE_MS : ROTATION_SPREAD_MS;

	return r->keys_old_ms != 0 && engine_now(rt->e) - r->keys_old_ms >= grace;
}

static void judge(struct rotate *rt, struct fleet_name *nm, struct claim_run *r, int64_t want)
{
	if (is_heard(r) ? (int64_t)r->key_version == want : !rotation_runs(&rt->r)) {
		r->keys_old_ms = 0;
		return;
	}
	if (r->keys_old_ms == 0)
		r->keys_old_ms = engine_now(rt->e);
	else
		r->keys_old_ms += rt->still_ms; /* an outage must not cost all nodes */
	if (!r->keys_drained && is_late(rt, r) && is_in_use(nm)) {
		r->keys_drained = true;
		drain(rt->e, nm, r->c.gen, r->key_version);
	}
}

/* Look at a node that cannot change its keys: drain it as soon as they are outdated. */
static bool look_at_fixed(struct rotate *rt, struct fleet_name *nm, const struct node *n,
			  int64_t want)
{
	int64_t version;
	bool *drained;

	if (!vouchers_keys(rt->e, n, &version, &drained))
		return false;
	rt->nodes.fixed++;
	if (want == 0 || version == want) {
		rt->nodes.have++;
		return true;
	}
	rt->nodes.drained++;
	if (!*drained && is_in_use(nm)) {
		drain(rt->e, nm, n->gen, (uint64_t)version);
		*drained = true;
	}
	return true;
}

static void count(struct rotate *rt, const struct claim_run *r, int64_t want)
{
	struct engine_rotation_nodes *n = &rt->nodes;

	if (r == NULL)
		n->others++;
	else if (r->keys_drained || is_late(rt, r)) /* by burstd, or by an admin */
		n->drained++;
	else if (!is_heard(r))
		n->unheard++;
	else if ((int64_t)r->key_version == want)
		n->have++;
	else
		n->lack++;
}

bool rotate_may_fetch(const struct rotate *rt)
{
	return secrets_serves(rt->e) && engine_door_off(rt->e) == NULL;
}

/* How long since the last look no node could have fetched keys: the store was away, burstd could
 * not be reached, or it stood still, so that this look is late (F54). */
static int64_t still_ms(const struct rotate *rt)
{
	int64_t now = engine_now(rt->e);

	if (!rotate_may_fetch(rt))
		return now - rt->looked_ms;
	return rt->due_ms != 0 && now > rt->due_ms ? now - rt->due_ms : 0;
}

void rotate_look(struct rotate *rt)
{
	struct engine *e = rt->e;
	bool runs = rotation_runs(&rt->r);
	int64_t want = rotate_wanted(rt);

	if (engine_now(e) < rt->look_ms)
		return;
	rt->still_ms = still_ms(rt);
	rt->stood_ms += rt->still_ms;
	rt->looked_ms = engine_now(e);
	rt->due_ms = rt->look_ms = engine_now(e) + (runs ? ROTATE_LOOK_MS : ROTATE_IDLE_MS);
	rt->nodes = (struct engine_rotation_nodes){0};
	for (size_t i = 0; i < e->fleet.nall; i++) {
		struct fleet_name *nm = e->fleet.all[i];
		const struct fleet_node *fn = fleet_live(nm);
		struct claim_run *r;

		if (fn == NULL || look_at_fixed(rt, nm, &fn->n, want))
			continue;
		r = claims_of(e, nm->name, fn->n.gen);
		if (r != NULL && r->c.state != CLAIM_CONFIRMED)
			continue; /* it is not up yet, and will be refused if its keys are outdated
				   */
		if (r != NULL && want != 0)
			judge(rt, nm, r, want);
		count(rt, r, want);
	}
	if (runs && rt->nodes.lack == 0 && rt->nodes.unheard == 0)
		rotate_event(rt, ROTATION_EV_HAVE, 0);
}

size_t engine_rotation_lack(const struct engine *e, const char **nodes, size_t max)
{
	int64_t want = e->keys->rotate != NULL ? rotate_wanted(e->keys->rotate) : 0;
	size_t n = 0;

	for (size_t i = 0; want != 0 && i < e->fleet.nall && n < max; i++) {
		const struct fleet_node *fn = fleet_live(e->fleet.all[i]);
		const struct claim_run *r =
			fn != NULL ? claims_of(e, e->fleet.all[i]->name, fn->n.gen) : NULL;

		if (r != NULL && r->c.state == CLAIM_CONFIRMED &&
		    (!is_heard(r) || (int64_t)r->key_version != want))
			nodes[n++] = e->fleet.all[i]->name;
	}
	return n;
}
