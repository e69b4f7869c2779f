/* sim_slurmd.c - what slurmctld hears of machines: their slurmd registers, and one day it is gone,
 * as the machine has ended.  Jobs must be off by then where burstd knew that it would (I16). */
#include <stdio.h>

#include "sim_cloud.h"
#include "sim_journal.h"
#include "sim_slurm.h"

static void on_retry(struct world *w, void *ctx, uint64_t arg)
{
	struct inst *i = ctx;

	(void)arg;
	if (inst_live(i) && i->state != INST_STOPPING)
		sim_ctld_register(w->ctld, i);
}

static void come_up(struct sim_ctld *c, struct ctld_node *n, struct inst *i)
{
	const struct sim_row *r = sim_journal_row(c->w->journal, i->node, i->gen);

	/* It was given up before it came; once it has died burstd looks again before it deletes. */
	if (r != NULL && r->n.release &&
	    (i->asked || (r->born >= c->w->life_began && c->w->engine != NULL)))
		i->excused = true;
	if (n->down) /* ReturnToService=2 */
		sim_ctld_set_reason(c, n, BY_NOBODY, "");
	if (n->reboot && n->inst != i->number) { /* it has booted since it was to reboot */
		n->reboot = n->drain = false;
		sim_ctld_set_reason(c, n, BY_NOBODY, "");
	}
	if (n->powered_down) /* until now */
		n->unwanted_at = c->w->now;
	n->powering_up = n->powered_down = n->not_responding = n->down = n->power_up = false;
	n->unmapped = false;
	n->inst = i->number;
	n->up_at = c->w->now;
	n->busy_at = c->w->now;
	if (!c->w->set.old_slurm) {
		(void)snprintf(n->addr, sizeof(n->addr), "%s", i->addr);
		(void)snprintf(n->host, sizeof(n->host), "%s", i->node);
	}
	SIM_TRACE(c->w, "  ctld: %s registers from i-%u%s", n->name, (unsigned)i->number,
		  i->wrong ? ", wrong" : "");
	i->worked = i->worked || !i->wrong;
	if (i->worked)
		return;
	world_met(c->w, i->single ? SIM_WRONG_NODE : SIM_WRONG_IMAGE, i->node, i->gen);
	n->drain = n->invalid = i->excused = true;
	sim_ctld_set_reason(c, n, BY_SLURM,
			    "gres/gpu count reported lower than configured (0 < 8)");
	sim_ctld_lose_jobs(c, n);
}

void sim_ctld_register(struct sim_ctld *c, struct inst *i)
{
	struct ctld_node *n = sim_ctld_find(c, i->node);
	const struct inst *old;

	if (n == NULL || n->deleted)
		return;
	if (!sim_ctld_up(c)) {
		world_at(c->w, c->w->now + 5 * SIM_SECOND, on_retry, i, 0);
		return;
	}
	old = n->inst != 0 ? sim_cloud_find(c->w->cloud, n->inst) : NULL;
	if (n->powering_down || (n->powering_up && i->slurmd_at / 1000 <= n->boot_req / 1000))
		return; /* booted before it was asked to */
	if (old != NULL && inst_live(old))
		return;
	come_up(c, n, i);
	n->dead_at = 0;
}

/* A node that is only forced is COMPLETING until its job has ended, which a dead one never says
 * before SlurmdTimeout (slurm.md 2.2).  Of a job that ignores SIGTERM, and each may, this is known
 * where it matters: burstd was told that the machine is going. */
bool sim_ctld_completes(struct sim_ctld *c, struct ctld_node *n)
{
	const struct sim_row *r = sim_journal_row(c->w->journal, n->name, 0);

	if (n->job == 0 || n->down)
		return false;
	if (n->dead_at != 0)
		return true;
	if (!c->w->set.old_slurm || sim_ctld_running(c, n) == NULL || r == NULL ||
	    r->n.state != NODE_DRAINING)
		return false;
	n->forced_at = c->w->now;
	return true;
}

/* I16: up to 23.02 such a job loses its GPUs and its record, and the queue hangs.  Not burstd's
 * fault where slurmctld did not take what it was told before. */
static void lose_requeue(struct sim_ctld *c, struct ctld_node *n)
{
	if (!n->completing || n->forced_at == 0)
		return;
	SIM_TRACE(c->w, "  ctld: %s ends while its job is completing", n->name);
	if (n->forced_at - c->troubled > SIM_MINUTE)
		world_fail(c->w,
			   "I16: %s ended while its job was completing: it is requeued without "
			   "its GPUs (22.05), as it was forced down, and not set down before",
			   n->name);
}

/* I16: of a machine that burstd knew would go, the jobs are off before it goes. */
static void check_deadline(struct sim_ctld *c, const struct ctld_node *n, const struct inst *i)
{
	const struct sim_row *r = sim_journal_row(c->w->journal, i->node, i->gen);
	const struct ctld_job *j = sim_ctld_running(c, n);
	int64_t since = c->w->now - SIM_MINUTE;

	if (j == NULL || i->state != INST_ENDED || i->reclaim_at == 0 || r == NULL ||
	    r->n.state != NODE_DRAINING || n->by == BY_ADMIN)
		return;
	if (c->w->engine == NULL || c->w->crashed || c->w->life_began > since ||
	    c->troubled > since || c->w->disk_until > since || c->w->skew != 0 || !sim_ctld_up(c) ||
	    c->w->now < c->deaf_until || r->n.noticed_ms > since)
		return;
	/* Old releases spoil the requeue of a job that completes on a node that is forced down, so
	 * burstd waits for the end of that one, also where it does not know the release. */
	if ((c->w->set.old_slurm || !c->w->set.settings) && n->completing)
		return;
	/* What it knew for longer was something else, which waits for the job. */
	if (r->n.notice != PROVIDER_NOTICE_RECLAIM && i->reclaim_said > since)
		return;
	world_fail(c->w, "I16: %s goes, as burstd has known for a minute, and job %u is on it",
		   n->name, (unsigned)j->id);
}

void sim_ctld_instance_ended(struct sim_ctld *c, const struct inst *i)
{
	struct ctld_node *n = sim_ctld_find(c, i->node);

	if (n == NULL || n->inst != i->number || n->dead_at != 0)
		return;
	check_deadline(c, n, i);
	n->dead_at = c->w->now;
	lose_requeue(c, n);
}
