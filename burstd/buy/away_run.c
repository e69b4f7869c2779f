#include <stdio.h>
#include <string.h>

#include "buy/buy.h"
#include "cloud/cloud.h"
#include "jobs/jobs.h"

/* Rows at a provider that is away are released as far as that is safe.  A WANTED row was not sent:
 * it is refused, and its node may be bought elsewhere.  An INDOUBT row may have an instance: it
 * keeps its node's name (P2), and so does a row whose delete is not accepted yet.  ADR 23.
 *
 * If a provider answers, but purchases fail, its place pauses (core/cooldown.h).  WANTED rows there
 * would wait for the end of that pause, so they are refused here and not left to launch.c.
 *
 * Rows at a provider that is off (off.c) are treated in the same way, at once.
 *
 * While machines of a provider could not have their keys (keyless.c), because another program
 * has burstd's port or burstd cannot read node-init, burstd buys none there.  After
 * `unreachable_after` of that the WANTED rows there end as well; what is in doubt or up has its
 * keys or gets them, and stays. */

/* Mark the rows in state s that keep their node's name, as in fleet_clear().  The flags of a
 * provider that is off are not known. */
static void mark(struct engine *e, enum node_state s)
{
	for (struct fleet_node *fn = e->fleet.states[s]; fn != NULL; fn = fn->state_next) {
		const struct cloud *c = cloud_of(e, &fn->n);
		bool tagged = off_is(c) || (c->caps.flags & (PROVIDER_TOKENS | PROVIDER_TAGS)) != 0;

		fn->unreached = away_is(c) && !(tagged && fn->n.accepted);
	}
}

void away_count(const struct engine *e, struct plan_pool *pools)
{
	static const enum node_state of[] = {NODE_INDOUBT, NODE_DELETING};

	for (size_t i = 0; e->cloud->aways && i < sizeof(of) / sizeof(of[0]); i++)
		for (struct fleet_node *fn = e->fleet.states[of[i]]; fn; fn = fn->state_next) {
			struct plan_pool *p = &pools[fn->n.pool];

			if (!away_is(&e->cloud->all[fn->n.cloud]))
				continue;
			p->unreached++;
			p->unreached_at = fn->n.provider;
			if (fn->n.state != NODE_DELETING || !fn->n.accepted)
				continue;
			p->stays++;
			p->stays_nano_h += fn->n.rate_nano_h;
		}
}

static void explain(char out[160], const struct cloud *c)
{
	const char *error = off_is(c) ? c->off : c->error;

	(void)snprintf(out, 160, "%.50s cannot be reached%s%.80s", c->conf->name,
		       error[0] != '\0' ? ": " : "", error);
}

/* Is there no hope that the row is bought where it is WANTED? */
static bool is_stuck(struct engine *e, const struct fleet_node *fn, char why[160])
{
	const struct fleet_node *older = fleet_unreached(fn->name);
	const struct cloud *c = cloud_of(e, older != NULL ? &older->n : &fn->n);
	const struct conf_offer *o = engine_offer_of(e, &fn->n);
	const char *keyless = cloud_keyless(e, fn->n.cloud);

	if (away_is(c)) {
		explain(why, c);
		return true;
	}
	if (keyless == NULL)
		return o != NULL && place_fails(e, o, why);
	(void)snprintf(why, 160, "%.40s: its machines would get no keys: %.80s", fn->n.provider,
		       keyless);
	return true;
}

static void refuse_wanted(struct engine *e)
{
	struct fleet_node *fn = e->fleet.states[NODE_WANTED];
	bool left = false;

	for (; fn != NULL && e->staging.n < e->slice.write; fn = fn->state_next) {
		struct node_event ev = {.type = NODE_EV_REFUSED,
					.reason = NODE_BECAUSE_UNREACHABLE,
					.now_ms = engine_now(e)};
		char why[160];

		if (!is_stuck(e, fn, why))
			continue;
		if (fn->busy || fn->next != NULL || !pool_may_refuse(e, fn)) {
			left = true;
			continue;
		}
		memcpy(fn->name->why, why, sizeof(why));
		engine_post(e, fn, &ev);
	}
	e->more = e->more || fn != NULL;
	e->buy->failing = left || fn != NULL;
}

/* Refuse rows in doubt: an instance may be up by now, but its provider cannot say so. */
static void refuse_indoubt(struct engine *e)
{
	for (struct fleet_node *fn = e->fleet.states[NODE_INDOUBT]; fn; fn = fn->state_next) {
		const struct cloud *c = cloud_of(e, &fn->n);
		char why[160];

		if (!away_is(c) || fn->n.release || fn->next != NULL || fn->name->barred ||
		    e->poll.snapshot_ms == 0 || !pool_may_refuse(e, fn))
			continue;
		explain(why, c);
		refuse_mark(e, fn->name, NODE_BECAUSE_UNREACHABLE, why);
	}
}

void away_found(struct fleet_name *nm)
{
	if (!nm->barred || nm->refused != NODE_BECAUSE_UNREACHABLE ||
	    nm->forced_ms >= nm->refused_ms)
		return; /* slurmctld has heard of it */
	fleet_unbar(nm);
	fleet_forget_refusal(nm);
}

void away_run(struct engine *e)
{
	bool any = false, keyless = cloud_watch_keys(e);

	if (!e->cloud->aways && !e->buy->failing && !keyless)
		return;
	for (size_t i = 0; i < e->conf->nproviders; i++)
		any = any || away_is(&e->cloud->all[i]);
	e->cloud->aways = any;
	mark(e, NODE_INDOUBT);
	mark(e, NODE_DELETING);
	if (!any && !e->buy->failing && !keyless)
		return;
	refuse_wanted(e);
	refuse_indoubt(e);
	engine_commit(e);
}
