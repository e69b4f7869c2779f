/* sim_drill_slurm.c - drills: jobs that end or are cancelled, nodes that do not answer, calls that
 * are lost, and what an admin of slurmctld does. */
#include <string.h>

#include "buy/buy_api.h"
#include "sim_cloud.h"
#include "sim_drill.h"
#include "sim_journal.h"
#include "sim_slurm.h"

/* --- a job is cancelled while its nodes boot (F53) ---------------------------------------------
 */

/* The next one may come while burstd makes up its mind: slurmctld gives it the node that boots. */
void drill_cancel(struct world *w, step_fn step, bool next)
{
	struct ctld_job *j = drill_submit(w);
	int64_t end = w->now + START_MS;
	struct ctld_node *n;
	int64_t boot_req;

	if (w->failed || j == NULL)
		return;
	while (!w->failed && !drill_boots(w->ctld, j) && w->now < end)
		step(w);
	drill_pass(w, step, w->now + world_between(w, 1, 10) * SIM_SECOND);
	if (w->failed || !drill_boots(w->ctld, j)) {
		sim_ctld_end_job(w->ctld, j); /* it was quick */
		return;
	}
	n = &w->ctld->nodes[j->nodes[0]];
	boot_req = n->boot_req;
	SIM_TRACE(w, "*** the job of %s is cancelled", n->name);
	sim_ctld_end_job(w->ctld, j);
	if (next) {
		drill_pass(w, step, w->now + world_between(w, 0, 10000));
		j = drill_submit(w);
	}
	drill_pass(w, step, w->now + CANCEL_MS);
	if (next)
		sim_ctld_end_job(w->ctld, j);
	else if (n->powering_up && n->boot_req == boot_req)
		world_fail(w, "F53: %s still boots %d s after its job was cancelled", n->name,
			   CANCEL_MS / SIM_SECOND);
}

/* --- slurmd dies, its instance lives ---------------------------------------------------------- */

void drill_mute(struct world *w, step_fn step)
{
	const int64_t most = MUTE_MS + sim_life_unmount_ms(w);
	struct ctld_job *j = drill_submit(w);
	struct ctld_node *n;
	const struct inst *i;

	if (w->failed || j == NULL)
		return;
	drill_start(w, step, j, START_MS);
	if (w->failed)
		return;
	drill_pass(w, step, w->now + 10 * SIM_SECOND); /* burstd sees it up */
	n = &w->ctld->nodes[j->nodes[0]];
	i = sim_cloud_find(w->cloud, n->inst);
	sim_admin_kill_slurmd(w->ctld, n, true);
	drill_pass(w, step, w->now + w->set.slurmd_timeout_s * SIM_SECOND + most);
	if (inst_live(i) && !i->accepted)
		world_fail(w, "i-%u of %s lives on %d s after slurmctld gave its slurmd up",
			   (unsigned)i->number, n->name, (int)(most / SIM_SECOND));
	drill_start(w, step, j, START_MS);
	sim_ctld_end_job(w->ctld, j);
}

/* An admin terminates a node whose slurmd does not answer: slurmctld must not wait for it, which
 * hangs the job until SlurmdTimeout (slurm.md 2.2). */
void drill_terminate(struct world *w, step_fn step)
{
	const int64_t half = w->set.slurmd_timeout_s * SIM_SECOND / 2;
	const struct ctld_job *j = half > MUTE_MS ? drill_submit(w) : NULL;
	struct engine_request rq = {.order = ENGINE_TERMINATE, .by = "root"};
	struct engine_ordered out;
	struct ctld_node *n;

	if (w->failed || j == NULL)
		return; /* nowhere, or it would be over before burstd knows */
	drill_start(w, step, j, START_MS);
	if (w->failed)
		return;
	drill_pass(w, step, w->now + 10 * SIM_SECOND);
	n = &w->ctld->nodes[j->nodes[0]];
	sim_admin_kill_slurmd(w->ctld, n, true);
	drill_pass(w, step, w->now + half + MUTE_MS - 10 * SIM_SECOND);
	rq.nodes = n->name;
	if (w->failed || engine_operate(w->engine, &rq, &out, NULL) != 0)
		return;
	for (int64_t end = w->now + 10 * SIM_SECOND; !w->failed && w->now < end; step(w))
		if (n->completing)
			world_fail(w, "I16: the job of %s hangs: it was forced down, and is dead",
				   n->name);
	sim_ctld_end_jobs(w->ctld);
}

/* --- the call is lost (F45) -------------------------------------------------------------------
 */

void drill_hook(struct world *w, step_fn step)
{
	struct ctld_job *j;
	int64_t end;

	while (!w->failed && sim_place_cools(w))
		step(w); /* a drill before this one may have closed it: all are refused there */
	j = drill_submit(w);
	end = w->now + START_MS;
	if (w->failed || j == NULL)
		return;
	w->ctld->lose_hooks = true;
	while (!w->failed && !drill_boots(w->ctld, j) && j->state != JOB_RUNNING && w->now < end)
		step(w);
	w->ctld->lose_hooks = false;
	while (!w->failed && drill_boots(w->ctld, j))
		step(w);
	if (!w->failed && j->state != JOB_RUNNING && j->state != JOB_CONFIGURING)
		world_fail(w, "F45: a job did not get its nodes when ResumeProgram was lost");
	sim_ctld_end_job(w->ctld, j);
}

/* --- burst-prolog ------------------------------------------------------------------------------
 */

void drill_gate(struct world *w, step_fn step)
{
	struct ctld_job *j = w->set.prolog ? drill_submit(w) : NULL;
	int64_t end = w->now + START_MS;

	if (w->failed || j == NULL)
		return;
	while (!w->failed && !drill_boots(w->ctld, j) && j->state != JOB_RUNNING && w->now < end)
		step(w);
	while (!w->failed && drill_boots(w->ctld, j) && w->now < end)
		step(w);
	for (end = w->now + GATE_MS; !w->failed && w->now < end; step(w))
		if (!sim_gate_waits(w->ctld, j->id))
			break;
	if (!w->failed && sim_gate_waits(w->ctld, j->id) && j->state == JOB_CONFIGURING)
		world_fail(w, "the gate of a job is closed %d s after its node is up",
			   GATE_MS / SIM_SECOND);
	sim_ctld_end_job(w->ctld, j);
}

/* --- a node that waited for a job, and is powered up for none ----------------------------------
 *
 * Nothing is bought while the price is not known; its job ends meanwhile.  Then an admin powers the
 * node up, and the call is lost: the job must be forgotten by then (F51, F53). */

/* A job whose node waits to be bought. */
static struct ctld_job *submit_unpriced(struct world *w, step_fn step)
{
	int64_t end = w->now + START_MS;
	struct ctld_job *j;

	w->no_offers = w->crashed = true;
	do
		step(w);
	while (!w->failed && w->engine == NULL && w->now < end);
	drill_pass(w, step, w->now + LIST_MS);
	j = w->failed ? NULL : drill_submit(w);
	while (!w->failed && j != NULL && !drill_boots(w->ctld, j) && w->now < end)
		step(w);
	drill_pass(w, step, w->now + 10 * SIM_SECOND);
	return w->failed ? NULL : j;
}

void drill_ghost(struct world *w, step_fn step)
{
	struct ctld_job *j = submit_unpriced(w, step);
	int64_t end = w->now + START_MS;
	struct ctld_node *n;

	if (j == NULL)
		return;
	n = &w->ctld->nodes[j->nodes[0]];
	sim_ctld_end_job(w->ctld, j);
	while (!w->failed && !n->powered_down && w->now < end)
		step(w);
	SIM_TRACE(w, "*** %s is powered up for no job", n->name);
	w->ctld->lose_hooks = n->power_up = true;
	drill_pass(w, step, w->now + CANCEL_MS);
	w->ctld->lose_hooks = w->no_offers = false;
	end = w->now + START_MS;
	while (!w->failed && n->powering_up && w->now < end)
		step(w);
	if (!w->failed && (n->powering_up || n->inst == 0))
		world_fail(w, "F51: %s, which an admin powered up, does not come up", n->name);
}

/* --- that one job is over says nothing of the next (F53) ---------------------------------------
 *
 * Burstd learns that the job of a node that waits is over.  Before it sees the node again, that was
 * powered down, and up for the next job, which then went back into the queue. */

static bool is_bought_for(const struct world *w, const struct ctld_node *n,
			  const struct ctld_job *j)
{
	const struct sim_row *r = sim_journal_row(w->journal, n->name, 0);

	return r != NULL && node_lives(&r->n) && r->n.job == j->id;
}

void drill_next(struct world *w, step_fn step)
{
	struct ctld_job *j = submit_unpriced(w, step), *next;
	int64_t end = w->now + START_MS, over = w->now;
	struct ctld_node *n;

	if (j == NULL)
		return;
	n = &w->ctld->nodes[j->nodes[0]];
	next = sim_ctld_submit(w->ctld, n->pool, 1);
	next->held = true;
	sim_ctld_end_job(w->ctld, j);
	while (!w->failed && w->ctld->told_jobs_at <= over && w->now < end)
		step(w);
	SIM_TRACE(w, "*** %s is powered down, and up for job %u", n->name, (unsigned)next->id);
	w->ctld->deaf_until = INT64_MAX;
	w->no_offers = n->powering_up = false;
	n->power_down = true;
	drill_pass(w, step, w->now + CANCEL_MS);
	while (!w->failed && !n->powered_down && w->now < end)
		step(w);
	next->held = false;
	while (!w->failed && !is_bought_for(w, n, next) && w->now < end)
		step(w);
	next->held = true;
	sim_ctld_requeue(w->ctld, next);
	w->ctld->deaf_until = 0;
	drill_pass(w, step, w->now + CANCEL_MS); /* F53 is judged when it is sent back */
	sim_ctld_end_job(w->ctld, next);
}

/* --- powered down and up again while burstd sees nothing (F48) ---------------------------------
 */

void drill_replace(struct world *w, step_fn step)
{
	struct ctld_job *j = drill_submit(w);
	int64_t end = w->now + START_MS;
	const struct ctld_node *n;

	if (w->failed || j == NULL)
		return;
	drill_start(w, step, j, START_MS);
	drill_pass(w, step, w->now + MUTE_MS); /* burstd has seen it up */
	n = &w->ctld->nodes[j->nodes[0]];
	sim_ctld_end_job(w->ctld, j);
	w->ctld->deaf_until = INT64_MAX;
	while (!w->failed && !n->powered_down && w->now < end)
		step(w);
	j = w->failed ? NULL : drill_submit(w);
	while (!w->failed && j != NULL && !drill_boots(w->ctld, j) && w->now < end)
		step(w);
	w->ctld->deaf_until = 0;
	while (!w->failed && j != NULL && drill_boots(w->ctld, j))
		step(w);
	if (!w->failed && j != NULL && j->state == JOB_PENDING && n->down && n->by == BY_SLURM)
		world_fail(w,
			   "F38: a node that was powered up afresh was left to its ResumeTimeout");
	if (j != NULL)
		sim_ctld_end_job(w->ctld, j);
}

/* --- up after all (F58, I18) --------------------------------------------------------------------
 *
 * A node is given up at its deadline, and burstd dies before anybody was told.  The node comes up
 * meanwhile and has a job: slurmctld must let go of it before it is deleted. */

void drill_late(struct world *w, step_fn step)
{
	struct ctld_job *j = drill_submit(w);
	int64_t end = w->now + START_MS;

	if (w->failed || j == NULL)
		return;
	w->cloud->no_slurmd = w->gives_up = true;
	while (!w->failed && j->state != JOB_CONFIGURING && w->now < end)
		step(w);
	while (!w->failed && j->state == JOB_CONFIGURING && w->engine != NULL)
		step(w);
	SIM_TRACE(w, "*** it comes up after all");
	w->cloud->no_slurmd = false;
	while (!w->failed && drill_boots(w->ctld, j))
		step(w);
	drill_pass(w, step, w->now + 10 * SIM_SECOND); /* the job runs */
	w->gives_up = false;
	drill_pass(w, step, w->now + CANCEL_MS); /* I18 is judged when a delete comes */
	sim_ctld_end_job(w->ctld, j);
}
