/* Drills: with nothing faulty, how soon does burstd do what it should?  Where slurmctld would do it
 * by itself in the end, only a bound tells. */
#include <string.h>

#include "sim_cloud.h"
#include "sim_slurm.h"

enum {
	CANCEL_MS = 40 * SIM_SECOND, /* two snapshots, all jobs, and a command: 4 s each at most */
	MUTE_MS = 50 * SIM_SECOND,   /* a snapshot every 30 s while nothing moves, a command */
	START_MS = 10 * SIM_MINUTE,  /* a job, on machines that boot in 80 s at most */
};

typedef void (*step_fn)(struct world *w);

static void pass(struct world *w, step_fn step, int64_t until)
{
	while (!w->failed && w->now < until)
		step(w);
}

/* A job of one node, where slurmctld still has one; NULL: nowhere. */
static struct ctld_job *submit(struct world *w)
{
	for (size_t i = 0; i < w->ctld->n; i++)
		if (w->ctld->nodes[i].pool != SIM_POOLS_MAX && !w->ctld->nodes[i].deleted)
			return sim_ctld_submit(w->ctld, w->ctld->nodes[i].pool, 1);
	return NULL;
}

/* --- a job is cancelled while its nodes boot (F53) ---------------------------------------------
 */

static bool boots(const struct sim_ctld *c, const struct ctld_job *j)
{
	return j->state == JOB_CONFIGURING && c->nodes[j->nodes[0]].powering_up;
}

/* The next one may come while burstd makes up its mind: slurmctld gives it the node that boots. */
static void drill_cancel(struct world *w, step_fn step, bool next)
{
	struct ctld_job *j = submit(w);
	int64_t end = w->now + START_MS;
	struct ctld_node *n;
	int64_t boot_req;

	if (w->failed || j == NULL)
		return;
	while (!w->failed && !boots(w->ctld, j) && w->now < end)
		step(w);
	pass(w, step, w->now + world_between(w, 1, 10) * SIM_SECOND);
	if (w->failed || !boots(w->ctld, j)) {
		sim_ctld_end_job(w->ctld, j); /* it was quick */
		return;
	}
	n = &w->ctld->nodes[j->nodes[0]];
	boot_req = n->boot_req;
	SIM_TRACE(w, "*** the job of %s is cancelled", n->name);
	sim_ctld_end_job(w->ctld, j);
	if (next) {
		pass(w, step, w->now + world_between(w, 0, 10000));
		j = submit(w);
	}
	pass(w, step, w->now + CANCEL_MS);
	if (next)
		sim_ctld_end_job(w->ctld, j);
	else if (n->powering_up && n->boot_req == boot_req)
		world_fail(w, "F53: %s still boots %d s after its job was cancelled", n->name,
			   CANCEL_MS / SIM_SECOND);
}

/* --- slurmd dies, its instance lives ---------------------------------------------------------- */

static void start(struct world *w, step_fn step, const struct ctld_job *j)
{
	int64_t end = w->now + START_MS;

	while (!w->failed && j->state != JOB_RUNNING && w->now < end)
		step(w);
	if (j->state != JOB_RUNNING)
		world_fail(w, "I24: a job does not start in %d minutes", START_MS / SIM_MINUTE);
}

static void drill_mute(struct world *w, step_fn step)
{
	struct ctld_job *j = submit(w);
	struct ctld_node *n;
	const struct inst *i;

	if (w->failed || j == NULL)
		return;
	start(w, step, j);
	if (w->failed)
		return;
	pass(w, step, w->now + 10 * SIM_SECOND); /* burstd sees it up */
	n = &w->ctld->nodes[j->nodes[0]];
	i = sim_cloud_find(w->cloud, n->inst);
	sim_admin_kill_slurmd(w->ctld, n, true);
	pass(w, step, w->now + w->set.slurmd_timeout_s * SIM_SECOND + MUTE_MS);
	if (inst_live(i) && !i->accepted)
		world_fail(w, "i-%u of %s lives on %d s after slurmctld gave its slurmd up",
			   (unsigned)i->number, n->name, MUTE_MS / SIM_SECOND);
	start(w, step, j);
	sim_ctld_end_job(w->ctld, j);
}

/* An admin terminates a node whose slurmd does not answer: slurmctld must not wait for it, which
 * hangs the job until SlurmdTimeout (slurm.md 2.2). */
static void drill_terminate(struct world *w, step_fn step)
{
	const int64_t half = w->set.slurmd_timeout_s * SIM_SECOND / 2;
	const struct ctld_job *j = half > MUTE_MS ? submit(w) : NULL;
	struct engine_request rq = {.order = ENGINE_TERMINATE, .by = "root"};
	struct engine_ordered out;
	struct ctld_node *n;

	if (w->failed || j == NULL)
		return; /* nowhere, or it would be over before burstd knows */
	start(w, step, j);
	if (w->failed)
		return;
	pass(w, step, w->now + 10 * SIM_SECOND);
	n = &w->ctld->nodes[j->nodes[0]];
	sim_admin_kill_slurmd(w->ctld, n, true);
	pass(w, step, w->now + half + MUTE_MS - 10 * SIM_SECOND);
	rq.nodes = n->name;
	if (w->failed || engine_operate(w->engine, &rq, &out, NULL) != 0)
		return;
	for (int64_t end = w->now + 10 * SIM_SECOND; !w->failed && w->now < end; step(w))
		if (n->completing)
			world_fail(w, "the job of %s hangs: it was forced down, and is dead",
				   n->name);
	sim_ctld_end_jobs(w->ctld);
}

static bool all_sleep(const struct sim_ctld *c)
{
	for (size_t i = 0; i < c->n; i++)
		if (c->nodes[i].pool != SIM_POOLS_MAX && !c->nodes[i].powered_down)
			return false;
	return true;
}

static void sleep_all(struct world *w, step_fn step)
{
	int64_t end = w->now + START_MS;

	while (!w->failed && !all_sleep(w->ctld) && w->now < end)
		step(w);
}

void sim_drill(struct world *w, step_fn step)
{
	SIM_TRACE(w, "*** drills");
	for (uint32_t p = 0; p < w->set.npools; p++)
		sim_pool_forgive(w, p);
	(void)engine_pause(w->engine, NULL, false, "root", NULL);
	for (int next = 0; next < 2; next++) {
		sleep_all(w, step);
		drill_cancel(w, step, next == 1);
	}
	sleep_all(w, step);
	drill_mute(w, step);
	sleep_all(w, step);
	drill_terminate(w, step);
}
