#include "jobs/jobs.h"

#include <stdlib.h>

#include "base/mem.h"
#include "io/loop.h"

/* burst-prolog, which is slurmctld's PrologSlurmctld, waits here until the nodes of its job are up.
 * What counts is slurmctld's own view: it starts the job once all nodes are up in it, and checks
 * that only when the prolog ends, else every 30 s (slurm.md 2.4).
 *
 * Only answers to questions asked after the gate was opened count: an older snapshot may show the
 * node as it was before it was powered down.  Gates are level-triggered: each is checked again
 * after each snapshot, so nothing is missed and a restart forgets nothing. */

enum {
	GATE_NAMES_MAX = 1 << 20, /* nodes of all gates together */
	GATE_JOBS_MS = 2000,      /* between two looks at the jobs that are still CONFIGURING */
	GATE_JOBS_NEW_MS = 500,   /* while a job was not looked at yet */
	GATE_SRUN_MS = 2000,      /* a job without money ends, whether its srun has heard or not */
	GATE_JOBS_SHARE = 4,      /* squeue reads all jobs: at most this part of the time */
};

struct gated { /* one job */
	struct job_part in;
	struct gate *gates; /* its prolog may be started again before the first one has ended */
	bool waits;         /* squeue shows it as CONFIGURING */
	int64_t unpaid_ms;  /* since when it is known that there is none; 0: it is not */
	bool unpaid; /* it is not known yet whether there is money for it (money/holds_jobs.c) */
};

struct gate {
	struct gate *next, *prev;
	struct engine *e;
	struct gated *job;
	struct gate *sibling; /* the next one of its job */
	int64_t opened_ms;
	gate_fn fn;
	void *ctx;
	size_t n;
	struct fleet_name *names[]; /* the job's nodes that a pool names; they outlive the gate */
};

/* --- opening and closing -----------------------------------------------------------------------
 */

static struct gate *gate_new(struct engine *e, const struct gate_ask *ask, const struct hostlist *h)
{
	struct gate *g = mem_zalloc(sizeof(*g) + h->n * sizeof(struct fleet_name *));

	*g = (struct gate){.e = e, .opened_ms = engine_now(e), .fn = ask->fn, .ctx = ask->ctx};
	for (size_t i = 0; i < h->n; i++) {
		g->names[g->n] = fleet_find(&e->fleet, h->names[i]);
		g->n += g->names[g->n] != NULL;
	}
	return g;
}

static void link_gate(struct engine *e, struct gate *g, uint64_t job)
{
	g->job = job_get(e, job, JOB_GATED, sizeof(*g->job));
	if (g->job->gates == NULL && e->conf->nbudgets > 0 && e->d.report_zone != NULL) {
		g->job->unpaid = true;
		jobs_want(e, JOBS_FOR_HOLDS);
	}
	g->sibling = g->job->gates;
	g->job->gates = g;
	g->next = e->jobs->gates.first;
	if (g->next != NULL)
		g->next->prev = g;
	e->jobs->gates.first = g;
	e->jobs->gates.names += g->n;
	e->count.gates_waiting++;
}

int engine_gate_open(struct engine *e, const struct gate_ask *ask, struct gate **out,
		     struct err *err)
{
	struct hostlist *h;
	struct gate *g;
	int64_t soon;

	*out = NULL;
	if (e->dead)
		return err_set(err, ERR_IO, "shutting down");
	if (hostlist_parse(&h, ask->nodes, ask->len, err) != 0)
		return -1;
	g = gate_new(e, ask, h);
	hostlist_free(h);
	if (g->n == 0 || g->n > GATE_NAMES_MAX - e->jobs->gates.names) {
		int rc = g->n == 0 ? 0
				   : err_set(err, ERR_LIMIT, "jobs with %d nodes wait already",
					     GATE_NAMES_MAX);

		free(g);
		return rc;
	}
	link_gate(e, g, ask->job);
	/* slurmctld is up, whatever the last poll said: it has just started a job. */
	soon = e->poll.began_ms + ENGINE_GATE_POLL_MS;
	if (soon < e->poll.next_ms)
		e->poll.next_ms = soon;
	timer_at(e->timer, engine_now(e));
	*out = g;
	return 0;
}

void engine_gate_close(struct gate *g)
{
	struct engine *e = g->e;
	struct gate **at = &g->job->gates;

	if (e->jobs->gates.first == g)
		e->jobs->gates.first = g->next;
	else
		g->prev->next = g->next;
	if (g->next != NULL)
		g->next->prev = g->prev;
	e->jobs->gates.names -= g->n;
	e->count.gates_waiting--;
	e->count.gate_ms += (uint64_t)(engine_now(e) - g->opened_ms);
	while (*at != g)
		at = &(*at)->sibling;
	*at = g->sibling;
	if (g->job->gates == NULL)
		job_drop(e, g->job);
	free(g);
}

int64_t engine_gate_boot_ms(const struct gate *g)
{
	const struct conf *c = g->e->conf;
	int64_t longest = 0;

	for (size_t i = 0; i < g->n; i++)
		if (c->pools[g->names[i]->pool].boot_ms > longest)
			longest = c->pools[g->names[i]->pool].boot_ms;
	return longest;
}

bool engine_gate_is_unsaid(const struct gate *g)
{
	return g->job->unpaid;
}

static void gate_free(struct engine *e)
{
	while (e->jobs->gates.first != NULL)
		engine_gate_close(e->jobs->gates.first); /* NOLINT(clang-analyzer-unix.Malloc) */
}

static void end(struct gate *g, enum gate_end how)
{
	struct engine *e = g->e;
	gate_fn fn = g->fn;
	void *ctx = g->ctx;

	e->count.gates_up += how == GATE_UP;
	e->count.gates_gone += how != GATE_UP;
	engine_gate_close(g);
	fn(ctx, how);
}

/* --- looking -----------------------------------------------------------------------------------
 */

/* The row's state does not matter: slurmctld is about to run the job there. */
static bool is_up(const struct fleet_name *nm)
{
	return slurm_is_on(nm->flags) && !slurm_is_silent(nm->flags);
}

static void look(struct gate *g)
{
	size_t up = 0;

	for (size_t i = 0; i < g->n; i++) {
		if (g->names[i]->barred) { /* the job goes back into the queue */
			end(g, GATE_GONE);
			return;
		}
		up += is_up(g->names[i]);
	}
	if (up == g->n && !g->job->unpaid && g->job->unpaid_ms == 0)
		end(g, GATE_UP);
}

bool gate_asks(const struct engine *e, uint64_t number)
{
	const struct gated *job = job_find(e, number, JOB_GATED);

	return job != NULL && job->unpaid;
}

void gate_paid(struct engine *e, uint64_t number)
{
	struct gated *job = job_find(e, number, JOB_GATED);
	struct gate *next;

	if (job == NULL || !job->unpaid)
		return;
	job->unpaid = false;
	for (struct gate *g = job->gates; g != NULL; g = next) {
		next = g->sibling;
		if (g->opened_ms <= e->poll.snapshot_ms)
			look(g);
	}
}

void gate_unpaid(struct engine *e, uint64_t number)
{
	struct gated *job = job_find(e, number, JOB_GATED);

	if (job != NULL && job->unpaid_ms == 0)
		job->unpaid_ms = engine_now(e);
}

/* Without budgets nobody asks for money any more. */
static void gate_reload(struct engine *e)
{
	struct gated *next;

	if (e->conf->nbudgets > 0)
		return;
	for (struct gated *job = e->jobs->parts[JOB_GATED]; job != NULL; job = next) {
		next = job->in.next;
		gate_paid(e, job->in.job->number);
	}
}

/* End the gates of jobs without money, when their srun has heard why. */
static void end_unpaid(struct engine *e)
{
	bool talks = srun_talks(e);
	struct gate *next;

	for (struct gate *g = e->jobs->gates.first; g != NULL; g = next) {
		next = g->next;
		if (g->job->unpaid_ms != 0 &&
		    (!talks || engine_now(e) >= g->job->unpaid_ms + GATE_SRUN_MS))
			end(g, GATE_UNPAID);
	}
}

/* A large cluster takes long to answer: snapshots for gates run at most half of the time. */
int64_t gate_poll_ms(const struct engine *e, int64_t otherwise)
{
	int64_t every = ENGINE_GATE_POLL_MS;

	if (every < 2 * e->poll.took_ms)
		every = 2 * e->poll.took_ms;
	return e->jobs->gates.first != NULL && every < otherwise ? every : otherwise;
}

/* When to ask squeue again; INT64_MAX: no gate waits. */
static int64_t jobs_due(const struct engine *e)
{
	const struct gates *gs = &e->jobs->gates;
	int64_t every = GATE_JOBS_MS;

	if (gs->first == NULL)
		return INT64_MAX;
	/* The newest is first.  The analyser does not see that a gate that ends is taken out.
	 * NOLINTNEXTLINE(clang-analyzer-unix.Malloc) */
	if (gs->first->opened_ms > gs->asked_ms)
		every = GATE_JOBS_NEW_MS;
	if (every < GATE_JOBS_SHARE * gs->took_ms)
		every = GATE_JOBS_SHARE * gs->took_ms;
	return gs->asked_ms + every;
}

static void ask_jobs(struct engine *e)
{
	if (jobs_coming(e, JOBS_FOR_GATE) || engine_now(e) < jobs_due(e))
		return;
	e->jobs->gates.asked_ms = engine_now(e);
	jobs_want(e, JOBS_FOR_GATE);
	for (struct gated *job = e->jobs->parts[JOB_GATED]; job != NULL; job = job->in.next)
		if (job->unpaid)
			jobs_want(e, JOBS_FOR_HOLDS);
}

/* End the gates whose nodes are all up in a new snapshot, or of which one was refused. */
static void gate_run(struct engine *e)
{
	struct gate *next;

	if (e->jobs->gates.first != NULL && e->poll.snapshot_ms != e->jobs->gates.seen_ms) {
		e->jobs->gates.seen_ms = e->poll.snapshot_ms;
		for (struct gate *g = e->jobs->gates.first; g != NULL; g = next) {
			next = g->next;
			if (g->opened_ms <= e->poll.snapshot_ms)
				look(g);
		}
	}
	end_unpaid(e);
	ask_jobs(e);
}

static int64_t gate_next_ms(const struct engine *e)
{
	int64_t next = INT64_MAX;

	for (const struct gated *job = e->jobs->parts[JOB_GATED]; job != NULL; job = job->in.next)
		if (job->unpaid_ms != 0 && job->unpaid_ms + GATE_SRUN_MS < next)
			next = job->unpaid_ms + GATE_SRUN_MS;
	return next;
}

/* --- the jobs that are CONFIGURING -------------------------------------------------------------
 */

static void note_waits(void *ctx, const struct slurm_job *j)
{
	struct gated *job = slurm_job_configuring(j) ? job_find(ctx, j->number, JOB_GATED) : NULL;

	if (job != NULL)
		job->waits = true;
}

/* End the gates of jobs that are not CONFIGURING any more. */
static void gate_jobs(struct engine *e, const char *text, size_t len, const struct err *err)
{
	struct gate *next;

	if (err != NULL)
		return; /* it is asked again */
	e->jobs->gates.took_ms = engine_now(e) - e->jobs->gates.asked_ms;
	for (struct gated *job = e->jobs->parts[JOB_GATED]; job != NULL; job = job->in.next)
		job->waits = false;
	slurm_job_parse(text, len, note_waits, e);
	for (struct gate *g = e->jobs->gates.first; g != NULL; g = next) {
		next = g->next;
		if (g->opened_ms <= e->jobs->gates.asked_ms && !g->job->waits)
			end(g, GATE_GONE);
	}
}

const struct engine_part gate_part = {
	.name = "jobs that wait for their nodes",
	.at = {[PART_RELOAD] = gate_reload, [PART_RUN] = gate_run, [PART_FREE] = gate_free},
	.reads = JOBS_FOR_GATE,
	.squeue_says = gate_jobs,
	.next_ms = gate_next_ms,
};
