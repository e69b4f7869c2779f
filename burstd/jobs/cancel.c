#include "jobs/jobs.h"

#include <string.h>

/* Sends back a node that boots, or waits to be bought, for a job that has ended meanwhile:
 * otherwise it boots, sits idle until SuspendTime, and is billed for both.  Only if all of this
 * holds: its own call named a job; that job is not there any more, not even pending; no job that
 * could start now waits for one of the node's partitions; its pool does not keep it warm; and a
 * snapshot begun after all that still has the node idle.  A node that was resumed for no job (an
 * admin's POWER_UP) is left to SuspendTime; so is one that slurmctld powered down by our order and
 * has up again, since what we know of its job is older.
 *
 * A node that was never bought is kept for waiting jobs only until their scheduler has seen them
 * all: keeping it longer gives nobody a node sooner, and in the end slurmctld would find it
 * dead. */

enum {
	CANCEL_AGAIN_MS = 5000,  /* between two looks at all jobs, which may be many */
	CANCEL_EMPTY_MS = 30000, /* backfill has looked at all jobs meanwhile, as a rule */
};

static struct slurm_text waiting(const struct engine *e)
{
	return (struct slurm_text){e->jobs->cancel_waiting.p, e->jobs->cancel_waiting.len};
}

/* The job for which slurmctld powers the node up; 0: not known. */
static uint64_t booked_for(const struct fleet_name *nm)
{
	const struct fleet_node *fn = fleet_live(nm);

	if (fn == NULL)
		return nm->waits_for;
	return fn->n.state != NODE_READY && fn->n.wanted_ms > nm->obeyed_ms ? fn->n.job : 0;
}

/* Has the node been idle for a while, with no live row behind it? */
static bool is_empty(const struct engine *e, const struct fleet_name *nm)
{
	return fleet_live(nm) == NULL && engine_now(e) - nm->waits_ms >= CANCEL_EMPTY_MS;
}

static void send_back(struct engine *e, struct fleet_name *nm)
{
	engine_event(e, nm->name, nm->newest != NULL ? nm->newest->n.gen : 0, "cancelled",
		     "the job it boots for has ended");
	rescue_power_down(e, nm, false, "burstd: the job it boots for has ended");
	nm->useless_ms = 0; /* if this fails, look at all jobs again before the next try */
}

void cancel_look(struct engine *e, struct fleet_name *nm, const struct slurm_node *sn,
		 int64_t began_ms)
{
	nm->idle = !nm->warm && booked_for(nm) != 0 &&
		   (sn->flags & (SLURM_IDLE | SLURM_ALLOCATED)) == SLURM_IDLE;
	if (!nm->idle)
		nm->useless_ms = 0;
	if (!nm->idle || (nm->useless_ms != 0 && began_ms <= nm->useless_ms))
		return; /* the next snapshot will have begun later */
	if (nm->useless_ms != 0 &&
	    (is_empty(e, nm) || !slurm_names_meet(sn->partitions, waiting(e)))) {
		send_back(e, nm);
	} else if (began_ms >= e->jobs->cancel_asked_ms + CANCEL_AGAIN_MS) {
		jobs_want(e, JOBS_FOR_CANCEL);
	}
}

void cancel_told(struct engine *e, const struct slurm_order *o, bool ok)
{
	struct hostlist *h;

	if (strcmp(o->verb, "power-down") != 0 ||
	    hostlist_parse(&h, o->names, strlen(o->names), NULL) != 0)
		return;
	for (size_t i = 0; i < h->n; i++) {
		struct fleet_name *nm = fleet_find(&e->fleet, h->names[i]);

		if (nm != NULL)
			nm->obeyed_ms = ok ? nm->forced_ms : 0;
	}
	hostlist_free(h);
}

/* --- all jobs ----------------------------------------------------------------------------------
 */

struct booked { /* one job */
	struct job_part in;
	bool there; /* squeue shows it */
};

static uint64_t job_of(const struct fleet_name *nm)
{
	return nm->idle ? booked_for(nm) : 0;
}

/* A job waits for several partitions: add each of them once. */
static void wait_for(struct str *names, struct slurm_text list)
{
	while (list.n > 0) {
		const char *comma = memchr(list.p, ',', list.n);
		struct slurm_text one = {list.p, comma != NULL ? (size_t)(comma - list.p) : list.n};

		if (!slurm_names_meet(one, (struct slurm_text){names->p, names->len}))
			str_addf(names, "%s%.*s", names->len > 0 ? "," : "", (int)one.n, one.p);
		list.p += one.n + (comma != NULL);
		list.n -= one.n + (comma != NULL);
	}
}

static void note_there(void *ctx, const struct slurm_job *j)
{
	struct engine *e = ctx;
	struct booked *job = job_find(e, j->number, JOB_BOOKED);

	if (job != NULL)
		job->there = true;
	if (slurm_job_may_start(j))
		wait_for(&e->jobs->cancel_waiting, j->partition);
}

/* squeue is being asked for all jobs, now. */
static void cancel_asks(struct engine *e)
{
	e->jobs->cancel_asked_ms = engine_now(e);
}

/* Has the node's job ended?  If the partitions of waiting jobs did not all fit, touch nothing. */
static bool is_useless(const struct engine *e, const struct fleet_name *nm)
{
	const struct booked *job;

	if (job_of(nm) == 0 || e->jobs->cancel_waiting.full)
		return false;
	job = job_find(e, job_of(nm), JOB_BOOKED);
	return !job->there || is_empty(e, nm);
}

static void cancel_jobs(struct engine *e, const char *text, size_t len, const struct err *err)
{
	int64_t now = engine_now(e);

	if (err != NULL)
		return; /* the next poll asks again */
	for (size_t i = 0; i < e->fleet.nall; i++)
		if (job_of(e->fleet.all[i]) != 0)
			(void)job_get(e, job_of(e->fleet.all[i]), JOB_BOOKED,
				      sizeof(struct booked));
	str_clear(&e->jobs->cancel_waiting);
	slurm_job_parse(text, len, note_there, e);
	for (size_t i = 0; i < e->fleet.nall; i++)
		e->fleet.all[i]->useless_ms = is_useless(e, e->fleet.all[i]) ? now : 0;
	if (e->jobs->parts[JOB_BOOKED] != NULL)
		e->poll.next_ms = now + 1; /* so that it begins after this */
	job_forget(e, JOB_BOOKED, NULL);
}

static void cancel_init(struct engine *e)
{
	str_init(&e->jobs->cancel_waiting, ENGINE_PARTITIONS_MAX);
}

static void cancel_free(struct engine *e)
{
	str_fini(&e->jobs->cancel_waiting);
}

const struct engine_part cancel_part = {
	.name = "jobs that are cancelled",
	.at = {[PART_INIT] = cancel_init, [PART_FREE] = cancel_free},
	.reads = JOBS_FOR_CANCEL,
	.squeue_begins = cancel_asks,
	.squeue_says = cancel_jobs,
};
