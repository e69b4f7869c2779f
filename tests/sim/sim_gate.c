/* sim_gate.c - PrologSlurmctld: one burst-prolog for each job that has its nodes.  It asks burstd
 * whether they are up, and is told so, or after ten seconds to ask again (api/held.c).  If burstd
 * is not there, it ends or asks again.  slurmctld does not end it with its job, which cannot start
 * again before it has ended (slurm.md 2.4): burstd must. */
#include <stdlib.h>
#include <string.h>

#include "base/hostlist.h"
#include "jobs/jobs_api.h"
#include "sim_journal.h"
#include "sim_slurm.h"

enum { HELD_MS = 10 * SIM_SECOND };

void sim_gate_start(struct sim_ctld *c, const struct ctld_job *j)
{
	struct prolog *p = c->prologs;

	while (p < c->prologs + PROLOGS_MAX && p->job != 0)
		p++;
	if (p == c->prologs + PROLOGS_MAX) {
		world_fail(c->w, "I25: prologs that burstd does not end");
		return;
	}
	*p = (struct prolog){.c = c, .job = j->id, .since = c->w->now};
	for (uint32_t i = 0; i < j->n; i++)
		p->nodes[j->nodes[i]] = true;
}

static bool told_up(const struct ctld_node *n)
{
	return !n->powering_up && !n->powered_down && !n->powering_down && !n->not_responding;
}

/* I17: the job is about to run on them, as far as burstd was told since it was asked. */
static void check_up(const struct prolog *p)
{
	struct sim_ctld *c = p->c;

	for (size_t i = 0; i < c->n; i++)
		if (p->nodes[i] && c->nodes[i].pool != SIM_POOLS_MAX && !c->nodes[i].deleted &&
		    (c->told_at < p->opened || !told_up(&c->told[i])))
			world_fail(c->w,
				   "I17: the gate of job %u opens, and %s is not known to be up",
				   (unsigned)p->job, c->nodes[i].name);
}

static bool configuring(const struct sim_ctld *c, uint32_t job)
{
	for (size_t i = 0; i < JOBS_MAX; i++)
		if (c->told_run[i].state == JOB_CONFIGURING && c->told_run[i].id == job)
			return true;
	return false;
}

/* It is sent away only when the job is over as far as burstd was told since, or will be sent back
 * itself. */
static void check_gone(const struct prolog *p)
{
	const struct sim_ctld *c = p->c;

	if (c->told_run_at >= p->opened && !configuring(c, p->job))
		return;
	for (size_t i = 0; i < c->n; i++) {
		const struct fleet_name *nm =
			p->nodes[i] ? fleet_find(engine_fleet(c->w->engine), c->nodes[i].name)
				    : NULL;

		if (nm != NULL && nm->barred)
			return;
	}
	world_fail(c->w, "I17: the gate of job %u is closed for good, and it still waits",
		   (unsigned)p->job);
}

/* Has a machine of the job no price?  One that was found, and whose offer there is no more, has
 * none, and a job that may cost anything is refused by any budget. */
static bool is_unpriced(struct sim_ctld *c, uint32_t job)
{
	for (const struct ctld_job *j = c->jobs; j < c->jobs + JOBS_MAX; j++)
		for (uint32_t i = 0; j->id == job && j->state != JOB_FREE && i < j->n; i++) {
			const struct sim_row *r =
				sim_journal_row(c->w->journal, c->nodes[j->nodes[i]].name, 0);

			if (r != NULL && r->n.rate_nano_h == 0)
				return true;
		}
	return false;
}

/* PrologSlurmctld has failed: slurmctld requeues a batch job, and any other ends. */
static void fail_prolog(struct sim_ctld *c, uint32_t job)
{
	if (!c->w->set.ladder && !is_unpriced(c, job))
		world_fail(c->w, "P4: job %u is refused by a budget that never runs out",
			   (unsigned)job);
	for (struct ctld_job *j = c->jobs; j < c->jobs + JOBS_MAX; j++) {
		if (j->id != job || (j->state != JOB_CONFIGURING && j->state != JOB_RUNNING))
			continue;
		c->w->totals->ladder_unpaid++;
		if (j->once)
			sim_ctld_fail_job(c, j);
		else
			sim_ctld_requeue(c, j);
	}
}

static void on_gate(void *ctx, enum gate_end how)
{
	static const char *const words[] = {
		[GATE_UP] = "up", [GATE_GONE] = "gone", [GATE_UNPAID] = "unpaid"};
	struct prolog *p = ctx;
	uint32_t job = p->job;

	SIM_TRACE(p->c->w, "  gate of job %u: %s", (unsigned)job, words[how]);
	if (how == GATE_UP)
		check_up(p);
	else if (how == GATE_GONE)
		check_gone(p);
	p->job = 0;
	p->gate = NULL;
	if (how == GATE_UNPAID)
		fail_prolog(p->c, job);
}

static void ask(struct prolog *p)
{
	struct sim_ctld *c = p->c;
	const char *names[SIM_NODES_MAX + 1];
	struct gate_ask rq = {.job = p->job, .fn = on_gate, .ctx = p};
	struct str list;
	size_t n = 0;

	str_init(&list, 1024);
	for (size_t i = 0; i < c->n; i++)
		if (p->nodes[i])
			names[n++] = c->nodes[i].name;
	hostlist_fold(&list, names, n);
	rq.nodes = list.p;
	rq.len = list.len;
	p->opened = c->w->now;
	if (engine_gate_open(c->w->engine, &rq, &p->gate, NULL) != 0 || p->gate == NULL)
		p->job = 0; /* none of its nodes is burstd's */
	str_fini(&list);
}

void sim_gate_tick(struct sim_ctld *c)
{
	bool there = c->w->engine != NULL && !c->w->crashed;

	if (sim_frozen(c->w))
		return;
	for (struct prolog *p = c->prologs; p < c->prologs + PROLOGS_MAX; p++) {
		if (p->job != 0 && !there) {
			if (world_one_in(c->w, 20))
				p->job = 0;
			continue;
		}
		if (p->gate != NULL && c->w->now - p->opened >= HELD_MS) {
			engine_gate_close(p->gate);
			p->gate = NULL;
		}
		if (p->job != 0 && p->gate == NULL)
			ask(p);
	}
}

void sim_gate_crashed(struct sim_ctld *c)
{
	for (struct prolog *p = c->prologs; p < c->prologs + PROLOGS_MAX; p++)
		p->gate = NULL;
}

bool sim_gate_waits(const struct sim_ctld *c, uint32_t job)
{
	for (const struct prolog *p = c->prologs; p < c->prologs + PROLOGS_MAX; p++)
		if (p->job != 0 && (job == 0 || p->job == job))
			return true;
	return false;
}
