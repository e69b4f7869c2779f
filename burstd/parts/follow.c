#include "buy/buy.h"
#include "jobs/jobs.h"
#include "parts/parts.h"

#include <stdio.h>
#include <string.h>

/* Acts on a durable change of a row.  After a crash in between, the next diff repeats all of it. */

/* Refuse the node.  Its job waits at least until the place that refused it may be tried again. */
static void refuse_here(struct engine *e, const struct fleet_node *fn, const char *text)
{
	const struct conf_offer *at = engine_offer_of(e, &fn->n);

	refuse_mark(e, fn->name, fn->n.reason, text);
	if (at != NULL && text == NULL)
		fn->name->hint.not_before_ms = place_ready_ms(e, at);
}

/* If a place refused the node, or accepted it and then failed to make it, and the pool has other
 * offers, decide anew which of them may have it, together with the rest of its job. */
static bool climbs(struct engine *e, const struct fleet_node *fn)
{
	const struct node *is = &fn->n;
	const struct conf_offer *at = engine_offer_of(e, is);
	size_t n;
	const struct conf_offer *rungs = conf_rungs(&e->conf->pools[is->pool], &n);

	if (n <= 1 || fn->name->barred || !node_reason_of_place(is->reason))
		return false;
	if (at != NULL)
		fn->name->tried |= UINT32_C(1) << (at - rungs);
	fn->name->climbs = true;
	fleet_wait_for(fn->name, is->job, engine_now(e));
	e->buy->climbing = true;
	return true;
}

/* Was the node bought, and never came up?  A machine that stopped counts like one past its
 * deadline: a provider may accept what it then cannot make (F10), and a node-init that fails
 * without a report ends its machine. */
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

/* Note when a node was released before it ever came up, since slurmctld did not want it.  Only what
 * is known since the start counts; and an older machine that is found says nothing about a newer
 * one (F46). */
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

/* Did the machine go without notice?  The provider took it, or it ended when it was up. */
static bool was_taken(const struct node *was, const struct node *is)
{
	if (is->state != NODE_GONE || was->state == NODE_WANTED || was->state == NODE_DRAINING)
		return false; /* DRAINING: its notice said so */
	return is->reason == NODE_BECAUSE_RECLAIMED ||
	       (was->state == NODE_READY && is->reason == NODE_BECAUSE_ENDED);
}

/* Has the provider just given notice that it takes the machine? */
static bool is_reclaimed(const struct node *was, const struct node *is)
{
	return is->notice == PROVIDER_NOTICE_RECLAIM &&
	       (was->state != NODE_DRAINING || was->notice != is->notice);
}

/* Do what follows from a change of a row, once it is durable. */
static void follow_row(struct engine *e, struct fleet_node *fn, const struct node *was)
{
	const struct node *is = &fn->n;
	bool ended = is->state == NODE_GONE || is->state == NODE_DELETING;
	bool useful = node_coming(was);
	const char *wrong = NULL; /* what was wrong with the machine, if known */

	e->jobs->notices.due = e->jobs->notices.due || strcmp(is->instance, was->instance) != 0;
	if (is->addr[0] != '\0' && strcmp(is->addr, was->addr) != 0 && node_lives(is)) {
		fleet_addr(fn->name, is->addr);
		slurm_set_addr(e->slurm, is->name, is->addr, is->name);
	}
	if (was->state == NODE_BOOTING && is->state == NODE_READY)
		pool_works(e, fn->name, is);
	if (never_came(was, is)) {
		wrong = is->reason != NODE_BECAUSE_BOOT ? fleet_why(fn, is) : NULL;
		if (!rolls_failed(e, is, fleet_why(fn, is)))
			pool_failed(e, is, fleet_why(fn, is));
	}
	rolls_look(e, was, is, fleet_why(fn, is));
	if (ended && node_lives(was))
		pool_lost(e, is);
	if (was->state == NODE_INDOUBT && is->state == NODE_GONE)
		place_doubt_ends(e, is);
	if (was->state == NODE_CREATING && is->state == NODE_GONE && !was->release &&
	    (cloud_of(e, is)->caps.flags & PROVIDER_MACHINES) != 0)
		pool_node_failed(e, fn->name, is->gen);
	if (is->state == NODE_DRAINING && fn == fleet_live(fn->name) && !was->release) {
		if (is_reclaimed(was, is))
			place_reclaimed(e, fn);
		notice_follow(e, fn, was);
	}
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
	if (was_taken(was, is))
		place_reclaimed(e, fn);
	if (is->state == NODE_GONE && (was->state == NODE_READY || was->state == NODE_DRAINING)) {
		char why[200];

		(void)snprintf(why, sizeof(why), "burstd: %s", fleet_why(fn, is));
		rescue_power_down(e, fn->name, true, why);
	}
}

const struct engine_part follow_part = {
	.name = "what follows from a row",
	.row_durable = follow_row,
};
