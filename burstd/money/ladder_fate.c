/* Requeues jobs that ended when they were told to save their work, before their budget's requeue.
 *
 * A job that does not handle the pool's checkpoint_signal dies of it, and one that does may end by
 * itself: slurmctld has it as failed, squeue shows it no more, and `scontrol requeue` takes it as
 * long as slurmctld remembers it (MinJobAge).  It is requeued as if it had run to its requeue, as
 * rescue.c does where a node goes.  One that is done, that its user has cancelled, or that reached
 * its time limit is let alone.
 *
 * The row `ending` says that it had the signal, so a restart of burstd does not lose it. */
#include <stdio.h>

#include "engine/times.h"
#include "money/ladder.h"

enum { LOOK_MS = 1000 }; /* between two looks at what became of a job */

/* If burstd died while slurmctld was told, the row has the budget that it was for. */
bool ladder_may_fail(const struct ending *x)
{
	bool signalling = x->at[BUDGET_REQUEUES].signalling ||
			  (x->loaded && x->j.ordered == BUDGET_GOES_ON && x->j.budget[0] != '\0');

	return (x->j.at[BUDGET_REQUEUES].signalled || signalling) &&
	       x->j.refused < BUDGET_REQUEUES && x->j.ordered < BUDGET_KILLS;
}

void ladder_follow(struct engine *e, struct ending *x)
{
	x->look_ms = engine_now(e);
}

/* --- what became of it ---------------------------------------------------------------------------
 */

static void conclude(struct engine *e, struct ending *x, const char *what)
{
	e->count.jobs_ended++;
	ladder_say(e, x, "job-ended", what);
	ladder_drop(e, x);
}

static void requeue(struct engine *e, struct ending *x, const struct slurm_job_detail *d)
{
	char text[LADDER_WHY_SIZE + 100];

	if (engine_now(e) < x->again_ms ||
	    !ladder_order(e, x, BUDGET_REQUEUES, "it ended when it was told to save its work"))
		return;
	(void)snprintf(text, sizeof(text),
		       "it ended as %.*s when it was told to save its work: budget %s is used up",
		       (int)d->state.n, d->state.p, x->j.budget);
	ladder_say(e, x, "job-sent-back", text);
	ladder_write_row(e, x);
}

/* Where a node of its goes, too, rescue.c requeues it. */
static void on_end(struct engine *e, struct ending *x, const struct slurm_job_detail *d)
{
	char what[RESCUE_ENDED_SIZE];

	if (times_since(e, d->begin_ms, x->j.at_ms)) { /* its next run, or another job (F50) */
		ladder_drop(e, x);
	} else if (!slurm_job_failed(d) || !ladder_may_fail(x)) {
		rescue_ended_text(what, d);
		conclude(e, x, what);
	} else {
		x->gone = true;
		x->j.at[BUDGET_REQUEUES].signalled = true; /* as has shown */
		if (!rescue_tells(e, x->j.job))
			requeue(e, x, d);
	}
}

/* It has nodes.  What squeue says of it there is for ladder_jobs.c, unless nothing ends it. */
static void on_nodes(struct engine *e, struct ending *x)
{
	if (x->gone || (x->over && engine_now(e) - x->j.at_ms >= RECLAIM_LEAD_MS))
		ladder_drop(e, x);
	else if (!x->over)
		x->look_ms = 0;
}

static void on_fate(void *ctx, const struct slurm_job_detail *d)
{
	struct engine *e = ctx;
	struct ending *x = job_find(e, d->number, JOB_ENDING);

	if (x == NULL || !x->asked)
		return;
	x->asked = false; /* seen */
	if (d->placed)
		on_nodes(e, x);
	else if (d->pending)
		ladder_back(e, x);
	else if (d->ended)
		on_end(e, x, d);
}

static bool is_forgotten(struct engine *e, void *part)
{
	struct ending *x = part;

	if (x->asked)
		conclude(e, x, "slurmctld has forgotten it");
	return false;
}

static bool is_unasked(struct engine *e, void *part)
{
	struct ending *x = part;

	(void)e;
	x->asked = false;
	return false;
}

void ladder_fates(struct engine *e, const char *text, size_t len, const struct err *err)
{
	if (err == NULL)
		slurm_job_parse_detail(text, len, on_fate, e);
	job_forget(e, JOB_ENDING, err == NULL ? is_forgotten : is_unasked);
}

/* --- asking --------------------------------------------------------------------------------------
 */

/* The question is rescue.c's as well: whoever finds it on the wire waits. */
void ladder_fates_run(struct engine *e)
{
	struct ending *asked[SLURM_ASK_MAX];
	const char *ids[SLURM_ASK_MAX];
	const int64_t now = engine_now(e);
	size_t n = 0;
	bool ok;

	for (struct ending *x = e->jobs->parts[JOB_ENDING]; x != NULL && n < SLURM_ASK_MAX;
	     x = x->in.next)
		if (x->look_ms != 0 && now >= x->look_ms) {
			ids[n] = x->j.id;
			asked[n++] = x;
		}
	ok = n > 0 && slurm_ask_jobs(e->slurm, SLURM_FATES, ids, n);
	for (size_t i = 0; i < n; i++) {
		asked[i]->asked = asked[i]->asked || ok;
		asked[i]->look_ms = now + LOOK_MS;
	}
}

int64_t ladder_fates_next_ms(const struct engine *e)
{
	int64_t next = INT64_MAX;

	for (const struct ending *x = e->jobs->parts[JOB_ENDING]; x != NULL; x = x->in.next)
		if (x->look_ms != 0 && x->look_ms < next)
			next = x->look_ms;
	return next;
}
