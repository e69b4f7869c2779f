/* sim_fate.c - checks of jobs: several may share a node, some are not requeued, and another job may
 * get their number one day.  Only what burstd was told counts. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fmt.h"
#include "sim_cloud.h"
#include "sim_journal.h"
#include "sim_slurm.h"

enum {
	STALE_MS = 5 * SIM_MINUTE, /* a comment stands so long behind the time that it names */
	LOOKED_TWICE_MS = 3 * SIM_MINUTE, /* burstd looks at it once a minute */
};

/* It was so as burstd was told, and burstd has heard all since. */
bool sim_fate_is_calm(const struct sim_ctld *c)
{
	int64_t since = c->w->now - SIM_MINUTE;

	return c->w->engine != NULL && !c->w->crashed && c->w->life_began < since &&
	       c->troubled < since && c->w->now >= c->deaf_until && c->w->disk_until < since;
}

static const struct ctld_job *told_run(const struct sim_ctld *c, uint32_t id)
{
	for (size_t i = 0; i < JOBS_MAX; i++)
		if (c->told_run[i].state != JOB_FREE && c->told_run[i].id == id)
			return &c->told_run[i];
	return NULL;
}

/* --- refusals ----------------------------------------------------------------------------------
 */

/* It is up, or its machine is on its way.  One that was found stopping, by an older journal, is
 * neither. */
static bool comes(const struct sim_ctld *c, uint32_t k)
{
	const struct ctld_node *t = &c->told[k];
	const struct sim_row *r = sim_journal_row(c->w->journal, t->name, 0);
	bool off = t->powered_down || t->powering_down || t->power_down || t->down || t->drain;

	const struct inst *i = r != NULL ? sim_cloud_by_id(c->w->cloud, r->n.instance) : NULL;

	if (off || r == NULL || r->n.release || (i != NULL && i->state >= INST_STOPPING))
		return false;
	return r->n.state == NODE_BOOTING ||
	       (r->n.state == NODE_READY && !t->powering_up && !t->not_responding);
}

/* I18: of jobs that share a node each has its own lack: a machine that is on its way is sent back
 * only if every job that waits for it lacks another one. */
void sim_fate_refused(struct sim_ctld *c, const char *node)
{
	const struct ctld_node *n = sim_ctld_find(c, node);
	uint32_t k = n != NULL ? (uint32_t)(n - c->nodes) : 0;

	if (n == NULL || !c->w->told || !comes(c, k))
		return;
	for (size_t i = 0; i < JOBS_MAX; i++) {
		const struct ctld_job *j = &c->told_run[i];
		bool lacks = false;

		if (j->state != JOB_CONFIGURING || !sim_ctld_is_on(c, j, n))
			continue;
		for (uint32_t m = 0; m < j->n; m++)
			lacks = lacks || !comes(c, j->nodes[m]);
		if (!lacks)
			world_fail(c->w, "I18: %s is sent back, and job %u lacks none of its nodes",
				   node, (unsigned)j->id);
	}
}

/* --- nodes that go down with their jobs --------------------------------------------------------
 */

/* NULL: it is not followed. */
static const struct journal_rescue *followed(const struct sim_ctld *c, uint32_t job)
{
	const struct sim_opinions *o = sim_journal_opinions(c->w->journal);

	for (size_t i = 0; i < o->nrescues; i++)
		if (o->rescues[i].job == job)
			return &o->rescues[i];
	return NULL;
}

/* I16: unless squeue is too late to say so, each job that burstd knows to run there is written down
 * before its node goes, and whoever waits for one at a terminal has been told why: for that an
 * order waits for a second. */
void sim_fate_ordered(struct sim_ctld *c, const struct ctld_node *n)
{
	if (!sim_fate_is_calm(c) || n->down ||
	    (n->unknown_at != 0 && c->w->now - n->unknown_at < SIM_MINUTE))
		return;
	for (struct ctld_job *j = sim_ctld_next_on(c, n, NULL); j != NULL;
	     j = sim_ctld_next_on(c, n, j)) {
		const struct ctld_job *t = told_run(c, j->id);

		if (t == NULL || t->state != JOB_RUNNING || j->state != JOB_RUNNING ||
		    c->w->now - c->told_run_at > 10 * SIM_SECOND)
			continue;
		if (followed(c, j->id) == NULL)
			world_fail(c->w, "I16: %s goes, and job %u on it is not written down",
				   n->name, (unsigned)j->id);
		if (j->listens && j->told_at == 0 && !sim_proc_who_is_late(c->w->proc))
			world_fail(c->w, "I16: %s goes, and whoever waits for job %u is not told",
				   n->name, (unsigned)j->id);
	}
}

/* --- what is said of them ----------------------------------------------------------------------
 */

static struct ctld_job *job_said(struct sim_ctld *c, const char *detail)
{
	if (strncmp(detail, "job ", 4) != 0)
		return NULL;
	for (size_t i = 0; i < JOBS_MAX; i++) {
		char id[24];
		size_t n = strlen(sim_ctld_id(&c->jobs[i], id));

		if (c->jobs[i].state != JOB_FREE && strncmp(detail + 4, id, n) == 0 &&
		    strchr(":, ", detail[4 + n]) != NULL)
			return &c->jobs[i];
	}
	return NULL;
}

/* P3: the end of a job is reported as it was.  Of one that goes on after all, since slurmctld does
 * not requeue it or it needs no more the node that went, the end that it was told of is over. */
void sim_fate_event(struct sim_ctld *c, const char *type, const char *detail)
{
	struct ctld_job *j = job_said(c, detail);

	if (j == NULL)
		return;
	if (strcmp(type, "job-goes-on") == 0)
		j->goes_on = true;
	if (strcmp(type, "job-requeued") == 0 && !j->requeued)
		world_fail(c->w, "P3: job %u is said to be requeued, and never was",
			   (unsigned)j->id);
	if (strcmp(type, "job-forgotten") == 0 && (j->requeued || c->forgot_at == 0))
		world_fail(c->w, "P3: job %u is said to be forgotten, and is not", (unsigned)j->id);
	if (strcmp(type, "job-ended") == 0 && j->state != JOB_FAILED && j->state != JOB_COMPLETING)
		world_fail(c->w, "P3: job %u is said to have ended, and has not", (unsigned)j->id);
}

#define PLACED "burstd: placed: "

/* When the next try is that a comment names: a time of the wall clock, which may have been set
 * since. 0: it names none. */
static int64_t next_try(const struct world *w, const char *comment)
{
	const char *said = strstr(comment, "; next try ");
	char text[FMT_TIME_SIZE];
	int64_t at = 0;

	if (said == NULL)
		return 0;
	(void)snprintf(text, sizeof(text), "%.19sZ", said + strlen("; next try "));
	return fmt_time_parse(text, &at, NULL) == 0 ? at - w->wall : 0;
}

/* Is what burstd wrote there over?  That a job lost its node is so until it has others; where it
 * is, or was, stays. */
static bool is_over(const struct sim_ctld *c, const struct ctld_job *j)
{
	int64_t at = next_try(c->w, j->comment);
	bool waits = j->state == JOB_PENDING && at != 0;

	if (strncmp(j->comment, "burstd:", 7) != 0 || j->comment_at != 0 || j->returned)
		return false;
	if (j->state == JOB_CONFIGURING || j->state == JOB_RUNNING)
		return strncmp(j->comment, PLACED, sizeof(PLACED) - 1) != 0;
	return (waits && c->w->now > j->begin_at + STALE_MS && c->w->now > at + STALE_MS);
}

/* A job does not keep what burstd wrote when that is over. */
void sim_fate_words(struct sim_ctld *c, struct ctld_job *j)
{
	if (!sim_fate_is_calm(c) || !is_over(c, j))
		j->stale_at = c->w->now;
	else if (c->w->now - j->stale_at > LOOKED_TWICE_MS)
		world_fail(c->w, "job %u (%s) keeps \"%s\"", (unsigned)j->id,
			   j->state == JOB_PENDING ? "pending" : "has its nodes", j->comment);
}

/* F50: slurmctld has a node down because it had forgotten where it is, and nobody said so again.
 * Where its provider has shown it nowhere since a restart, burstd cannot know: its journal may be
 * an older one (F58). */
void sim_fate_missed(struct sim_ctld *c, const struct ctld_node *n, const struct inst *i)
{
	const struct sim_row *r = sim_journal_row(c->w->journal, n->name, 0);

	if (sim_fate_is_calm(c) && inst_live(i) && !i->excused && i->addr_shown &&
	    i->addr_life == c->w->life + 1 && n->by != BY_ADMIN && !n->drain && r != NULL &&
	    r->n.state == NODE_READY && sim_ctld_told(c, i))
		world_fail(c->w, "F50: slurmctld has forgotten where %s is, and is not told",
			   n->name);
}

/* F50: a job is not refused for one that had its number before slurmctld forgot both. */
void sim_fate_postponed(struct sim_ctld *c, uint64_t job, const struct refusal *r)
{
	enum { LOOKED_MS = 75 * SIM_SECOND }; /* burstd asks once a minute */
	const struct world *w = c->w;

	for (size_t i = 0; i < JOBS_MAX; i++) {
		const struct ctld_job *j = &c->jobs[i];

		if (j->state == JOB_FREE || j->id != job || c->forgot_at == 0 || r->count < 2 ||
		    j->submitted < c->forgot_at + LOOKED_MS ||
		    j->submitted < c->troubled + LOOKED_MS ||
		    j->submitted < w->life_began + LOOKED_MS || w->skew != 0)
			continue;
		if (r->first_ms < c->forgot_at)
			world_fail(c->w, "F50: job %u inherits the refusals of another",
				   (unsigned)j->id);
	}
}
