/* sim_told.c - scancel --signal, and what jobs do when it tells them to save their work. */
#include <stdlib.h>
#include <string.h>

#include "sim_journal.h"
#include "sim_money.h"
#include "sim_opinions.h"
#include "sim_slurm.h"

/* A job that ends of the signal for its budget is to be requeued: the row says that it had it. */
static bool is_owed(const struct world *w, const struct ctld_job *j)
{
	const struct sim_opinions *o = sim_journal_opinions(w->journal);

	for (size_t i = 0; i < o->nendings; i++)
		if (o->endings[i].job == j->id && !j->once)
			return o->endings[i].at[BUDGET_REQUEUES].signalled &&
			       o->endings[i].refused < BUDGET_REQUEUES &&
			       o->endings[i].ordered < BUDGET_KILLS;
	return false;
}

void sim_ctld_forgets(struct sim_ctld *c, const struct ctld_job *j)
{
	const int64_t since = c->w->now - 2 * SIM_MINUTE;

	if (j->owed && c->troubled < since && c->w->now >= c->deaf_until &&
	    c->w->disk_until < since && c->w->life_began < since && c->w->engine != NULL)
		world_fail(c->w, "P4: job %u died of the signal for its budget, and is lost",
			   (unsigned)j->id);
}

/* What a job does that was told to save its work: it may go on, be done, ask to be requeued, or
 * end with another status than 0. */
static void on_saved(struct world *w, void *ctx, uint64_t id)
{
	struct ctld_job *j = ctx;

	if (j->id != id || j->state != JOB_RUNNING || j->signalled_at == 0 || !sim_ctld_up(w->ctld))
		return;
	/* The script of a heterogeneous job works on the first part, once all have their nodes. */
	if (j->het != 0 && (j->het != j->id || !j->launched))
		return;
	switch (world_below(w, w->set.ladder ? 8 : 4)) {
	case 0:
		break;
	case 1:
		sim_ctld_end_job(w->ctld, j);
		break;
	case 2:
		if (!j->once)
			sim_ctld_requeue(w->ctld, j);
		break;
	default:
		j->owed = is_owed(w, j);
		w->totals->ladder_deaths += j->owed;
		sim_ctld_fail_job(w->ctld, j);
		break;
	}
}

static bool is_fenced(const struct ctld_node *n)
{
	return n->drain || n->down || n->power_down || n->powering_down || n->powered_down;
}

/* A node is fenced before its jobs are told that it goes: else others start there. */
static void check_fenced(struct sim_ctld *c, const struct ctld_job *j)
{
	if (c->w->now - c->troubled < SIM_MINUTE)
		return; /* the order may still hang */
	if (sim_money_ends(c->w, BUDGET_REQUEUES))
		return; /* its budget ends it, and no node of it goes */
	for (uint32_t i = 0; i < j->n; i++)
		if (is_fenced(&c->nodes[j->nodes[i]]))
			return;
	world_fail(c->w, "I17: job %u is told that its node goes, and none of its nodes is fenced",
		   (unsigned)j->id);
}

int sim_ctld_signal(struct sim_ctld *c, const char *const *ids, size_t only)
{
	int rc = 0;

	for (size_t i = 0; i < only && ids[i] != NULL; i++) {
		struct ctld_job *j = sim_ctld_job_named(c, ids[i]);

		if (j == NULL || j->state != JOB_RUNNING) {
			rc = -1; /* and the others have it */
			continue;
		}
		check_fenced(c, j);
		SIM_TRACE(c->w, "  ctld: job %u is signalled", (unsigned)j->id);
		/* A budget may want it to save its work before each of its steps. */
		if (j->signalled_at != 0 && j->signalled_at >= c->w->life_began && !j->goes_on &&
		    c->w->now - c->troubled > SIM_MINUTE &&
		    (!c->w->set.ladder || c->w->now - j->signalled_at < 2 * SIM_MINUTE))
			world_fail(c->w, "job %u is told twice to save its work", (unsigned)j->id);
		j->signalled_at = c->w->now;
		j->goes_on = false;
		world_at(c->w, c->w->now + world_between(c->w, 0, 60) * SIM_SECOND, on_saved, j,
			 j->id);
	}
	return rc;
}

/* Has it nodes, or has another part of it? */
static bool has_nodes(struct sim_ctld *c, const struct ctld_job *j)
{
	bool has = false;

	for (struct ctld_job *k = sim_het_next(c, j, NULL); k != NULL; k = sim_het_next(c, j, k))
		has = has || k->state == JOB_RUNNING || k->state == JOB_CONFIGURING;
	return has;
}

int sim_ctld_cancel(struct sim_ctld *c, const char *const *ids, size_t only)
{
	int rc = 0;

	for (size_t i = 0; i < only && ids[i] != NULL; i++) {
		struct ctld_job *j = sim_het_whole(c, ids[i]);

		if (!sim_money_ends(c->w, BUDGET_KILLS))
			world_fail(c->w, "P4: job %s is cancelled, and no budget says so", ids[i]);
		if (j == NULL || !has_nodes(c, j)) {
			rc = -1;
			continue;
		}
		SIM_TRACE(c->w, "  ctld: job %u is cancelled", (unsigned)j->id);
		c->w->totals->ladder_cancels++;
		sim_ctld_end_job(c, j);
	}
	return rc;
}

void sim_ctld_show_who(struct sim_ctld *c, const char *ids, struct str *out)
{
	for (const char *id = ids; id != NULL; id = strchr(id, ',')) {
		id += *id == ',';
		for (const struct ctld_job *j = c->jobs; j < c->jobs + JOBS_MAX; j++)
			if (sim_ctld_is_shown(j, ids, id))
				str_addf(out, "%-24u%-24d\n", (unsigned)j->id, !j->listens);
	}
}

/* A batch job would have it in its output. */
int sim_ctld_notify(struct sim_ctld *c, const char *job, const char *text)
{
	struct ctld_job *j = c->jobs;

	while (j < c->jobs + JOBS_MAX && !sim_ctld_is_named(j, job))
		j++;
	SIM_TRACE(c->w, "  ctld: job %s is told: %s", job, text);
	if (strncmp(text, "burstd: ", 8) != 0)
		world_fail(c->w, "job %s is told by nobody: %s", job, text);
	if (j == c->jobs + JOBS_MAX || j->state == JOB_FAILED || j->state == JOB_COMPLETING)
		return -1;
	if (!j->listens)
		world_fail(c->w, "job %u has \"%s\" in its output", (unsigned)j->id, text);
	j->told_at = c->w->now;
	return 0;
}

int sim_ctld_requeue_ended(struct sim_ctld *c, const char *ids, size_t only)
{
	int rc = 0;

	for (size_t i = 0; i < only && *ids != '\0'; i++) {
		struct ctld_job *j = sim_het_whole(c, ids);

		ids += strcspn(ids, ",");
		ids += *ids == ',';
		if (j == NULL || (j->state == JOB_PENDING && j->het == 0) || j->once) {
			rc = -1;
			continue;
		}
		if (j->state == JOB_PENDING)
			rc = -1; /* and its other parts have it */
		if (j->state != JOB_FAILED && !sim_het_waits(c, j) &&
		    sim_money_ends(c->w, BUDGET_REQUEUES))
			c->w->totals->ladder_requeues++;
		else if (j->state != JOB_FAILED && !sim_het_waits(c, j))
			world_fail(c->w, "job %u is requeued, and has not failed", (unsigned)j->id);
		sim_ctld_requeue(c, j);
	}
	return rc;
}
