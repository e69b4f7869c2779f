/* The jobs of the simulated slurmctld: where they come from, when they get nodes, how they end. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim_journal.h"
#include "sim_slurm.h"

enum { FAILED_MS = 5 * SIM_MINUTE /* MinJobAge */, SHARE_MAX = 3 };

/* --- who is where ------------------------------------------------------------------------------
 */

bool sim_ctld_is_on(const struct sim_ctld *c, const struct ctld_job *j, const struct ctld_node *n)
{
	if (j->state != JOB_CONFIGURING && j->state != JOB_RUNNING)
		return false;
	for (uint32_t i = 0; i < j->n; i++)
		if (&c->nodes[j->nodes[i]] == n)
			return true;
	return false;
}

struct ctld_job *sim_ctld_next_on(struct sim_ctld *c, const struct ctld_node *n, struct ctld_job *j)
{
	for (j = j == NULL ? c->jobs : j + 1; j < c->jobs + JOBS_MAX; j++)
		if (sim_ctld_is_on(c, j, n))
			return j;
	return NULL;
}

struct ctld_job *sim_ctld_running(struct sim_ctld *c, const struct ctld_node *n)
{
	struct ctld_job *j = sim_ctld_next_on(c, n, NULL);

	while (j != NULL && j->state != JOB_RUNNING)
		j = sim_ctld_next_on(c, n, j);
	return j;
}

static uint32_t array_of(const struct ctld_job *j)
{
	return j->id - j->id % 4;
}

const char *sim_ctld_id(const struct ctld_job *j, char out[24])
{
	if (j->task)
		(void)snprintf(out, 24, "%u_%u", (unsigned)array_of(j), (unsigned)j->id % 4);
	else if (j->het != 0)
		(void)snprintf(out, 24, "%u+%u", (unsigned)j->het, (unsigned)(j->id - j->het));
	else
		(void)snprintf(out, 24, "%u", (unsigned)j->id);
	return out;
}

bool sim_ctld_is_named(const struct ctld_job *j, const char *id)
{
	char *end, *last;
	unsigned long n = strtoul(id, &end, 10);

	if (j->state == JOB_FREE)
		return false;
	if (*end == '_')
		return j->task && n + strtoul(end + 1, &last, 10) == j->id;
	if (*end == '+')
		return j->het == n && n + strtoul(end + 1, &last, 10) == j->id;
	return n == j->id || (j->task && n == array_of(j));
}

static bool shows(const struct ctld_job *j, const char *id)
{
	return sim_ctld_is_named(j, id) ||
	       (j->state != JOB_FREE && j->het != 0 && strtoul(id, NULL, 10) == j->het);
}

bool sim_ctld_is_shown(const struct ctld_job *j, const char *ids, const char *id)
{
	for (; j->het != 0 && ids != id; ids += strcspn(ids, ",") + 1)
		if (shows(j, ids))
			return false;
	return shows(j, id);
}

struct ctld_job *sim_ctld_job_named(struct sim_ctld *c, const char *id)
{
	struct ctld_job *found = NULL;

	for (struct ctld_job *j = c->jobs; j < c->jobs + JOBS_MAX; j++) {
		if (!sim_ctld_is_named(j, id))
			continue;
		if (j->task && id[strspn(id, "0123456789")] != '_' &&
		    strtoul(id, NULL, 10) == array_of(j))
			world_fail(c->w, "an order for all of array %u", (unsigned)array_of(j));
		if (j->het != 0 && j->het == j->id && strchr(id, '+') == NULL)
			world_fail(c->w, "an order for all parts of job %u", (unsigned)j->id);
		found = j;
	}
	return found;
}

/* --- how they end ------------------------------------------------------------------------------
 */

/* A node is without a job when the last of them has ended. */
static void let_go(struct sim_ctld *c, struct ctld_job *j)
{
	bool had = j->state == JOB_CONFIGURING || j->state == JOB_RUNNING;

	j->state = JOB_FREE;
	for (uint32_t i = 0; had && i < j->n; i++) {
		struct ctld_node *n = &c->nodes[j->nodes[i]];
		const struct ctld_job *left = sim_ctld_next_on(c, n, NULL);

		n->job = left != NULL ? left->id : 0;
		n->busy_at = c->w->now;
	}
}

void sim_ctld_end_job(struct sim_ctld *c, struct ctld_job *j)
{
	for (struct ctld_job *k = sim_het_next(c, j, NULL); k != NULL; k = sim_het_next(c, j, k))
		let_go(c, k);
}

int64_t sim_ctld_seconds(int64_t ms)
{
	return ms - ms % SIM_SECOND;
}

/* Where something of its last run may be left. */
static void note_lost(struct sim_ctld *c, struct ctld_job *j)
{
	j->nlost = 0;
	for (uint32_t i = 0; i < j->n; i++)
		if (c->nodes[j->nodes[i]].inst != 0)
			j->lost[j->nlost++] = c->nodes[j->nodes[i]].inst;
}

/* It ended, and not well: slurmctld knows it for a while. */
static void fail_part(struct sim_ctld *c, struct ctld_job *j)
{
	SIM_TRACE(c->w, "  ctld: job %u has failed", (unsigned)j->id);
	note_lost(c, j);
	let_go(c, j);
	j->state = JOB_FAILED;
	j->end_at = c->w->now + FAILED_MS;
}

void sim_ctld_fail_job(struct sim_ctld *c, struct ctld_job *j)
{
	for (struct ctld_job *k = sim_het_next(c, j, NULL); k != NULL; k = sim_het_next(c, j, k))
		fail_part(c, k);
}

void sim_ctld_requeue_part(struct sim_ctld *c, struct ctld_job *j)
{
	SIM_TRACE(c->w, "  ctld: job %u is requeued", (unsigned)j->id);
	if (j->state == JOB_RUNNING || j->state == JOB_CONFIGURING)
		note_lost(c, j);
	let_go(c, j);
	j->state = JOB_PENDING;
	j->requeued = true;
	j->requeued_at = c->w->now;
	j->signalled_at = 0;
	j->owed = false;
	j->begin_at = sim_ctld_seconds(c->w->now) + c->w->set.requeue_s * SIM_SECOND;
	j->back_to = j->begin_at;
	j->requeued_to = 0;
}

void sim_ctld_requeue(struct sim_ctld *c, struct ctld_job *j)
{
	for (struct ctld_job *k = sim_het_next(c, j, NULL); k != NULL; k = sim_het_next(c, j, k))
		if (k->state != JOB_PENDING)
			sim_ctld_requeue_part(c, k);
}

/* Jobs of srun and salloc, and of sbatch --no-requeue, end where others are requeued (slurm.md
 * 2.3). */
void sim_ctld_lose_jobs(struct sim_ctld *c, const struct ctld_node *n)
{
	for (struct ctld_job *j = sim_ctld_next_on(c, n, NULL); j != NULL;
	     j = sim_ctld_next_on(c, n, j)) {
		if (!j->once) {
			sim_het_lose(c, j, n);
			continue;
		}
		c->w->totals->met[SIM_NO_REQUEUE][NODE_NSTATES]++;
		sim_ctld_fail_job(c, j);
		for (struct ctld_job *k = sim_het_next(c, j, NULL); k != NULL;
		     k = sim_het_next(c, j, k))
			k->node_fail = true;
	}
}

/* May this job run there, whatever the node does now? */
bool sim_ctld_fits(const struct ctld_node *n, const struct ctld_job *j)
{
	return n->pool != SIM_POOLS_MAX && !n->deleted &&
	       (j->pool == JOB_ANY_POOL || n->pool == j->pool);
}

static uint32_t nodes_for(const struct sim_ctld *c, const struct ctld_job *j)
{
	uint32_t n = 0;

	for (size_t i = 0; i < c->n; i++)
		n += sim_ctld_fits(&c->nodes[i], j);
	return n;
}

struct ctld_job *sim_ctld_submit(struct sim_ctld *c, uint32_t pool, uint32_t n)
{
	struct ctld_job *j = c->jobs;

	while (j < c->jobs + JOBS_MAX && j->state != JOB_FREE &&
	       !(j->state == JOB_FAILED && c->w->now >= j->end_at))
		j++;
	if (j == c->jobs + JOBS_MAX)
		return NULL;
	*j = (struct ctld_job){.id = ++c->last_job,
			       .n = n,
			       .state = JOB_PENDING,
			       .pool = pool,
			       .submitted = c->w->now,
			       .runtime = 365 * (int64_t)24 * 60 * SIM_MINUTE};
	return j;
}

/* Every fifth is of srun or salloc, and has somebody who waits for it. */
static void choose_kind(struct world *w, struct ctld_job *j)
{
	j->listens = j->id % 5 == 0;
	j->once = j->listens || world_fault(w, SIM_NO_REQUEUE);
	j->shares = w->set.chance[SIM_SHARED] != 0 && j->id % 3 != 0;
	j->task = w->set.chance[SIM_ARRAYS] != 0 && !j->listens && j->id >= 4 && j->id % 4 < 2;
	w->totals->met[SIM_ARRAYS][NODE_NSTATES] += j->task;
}

static void submit(struct sim_ctld *c)
{
	struct world *w = c->w;
	uint32_t pool = world_below(w, (uint32_t)w->set.npools);
	struct ctld_job *j = sim_ctld_submit(c, pool, 1 + world_below(w, JOB_NODES_DICE));

	c->next_job = w->now + sim_climate_gap(w);
	if (j == NULL)
		return;
	j->runtime = world_between(w, 5, 300) * SIM_SECOND;
	if (w->set.pools[pool].ladder && world_one_in(w, 3))
		j->constraint = world_one_in(w, 2) ? "spot" : "ondemand";
	if (w->set.npools > 1 && world_one_in(w, 4))
		j->pool = JOB_ANY_POOL;
	if (j->n > nodes_for(c, j))
		j->n = nodes_for(c, j);
	choose_kind(w, j);
	sim_het_submit(c, j);
}

void sim_job_submit(struct sim_ctld *c)
{
	if (c->w->faults && c->w->now >= c->next_job)
		submit(c);
}

static bool usable(const struct ctld_node *n)
{
	return !n->powering_down && !n->completing && !n->not_responding;
}

void sim_ctld_start_job(struct sim_ctld *c, struct ctld_job *j, const uint32_t *nodes)
{
	memcpy(j->nodes, nodes, j->n * sizeof(*nodes));
	j->state = JOB_CONFIGURING;
	j->given_at = c->w->now;
	j->started = false;
	for (uint32_t i = 0; i < j->n; i++) {
		struct ctld_node *n = &c->nodes[nodes[i]];

		if (n->job != 0)
			world_met(c->w, SIM_SHARED, n->name, 0);
		sim_climate_starts(c->w, n);
		n->job = n->booted = j->id;
	}
	SIM_TRACE(c->w, "  ctld: job %u gets %u nodes, %s first", (unsigned)j->id, (unsigned)j->n,
		  c->nodes[nodes[0]].name);
	j->look_at = c->w->now;
	if (c->w->set.prolog)
		sim_gate_start(c, j);
}

/* Nobody has it, or those who do leave room for this one. */
static bool has_room(struct sim_ctld *c, const struct ctld_node *n, const struct ctld_job *j)
{
	uint32_t others = 0;

	for (struct ctld_job *o = sim_ctld_next_on(c, n, NULL); o != NULL;
	     o = sim_ctld_next_on(c, n, o), others++)
		if (!o->shares || !j->shares)
			return false;
	return others < SHARE_MAX;
}

/* Nodes that are up come first, then those on their way, then those that sleep. */
bool sim_ctld_pick(struct sim_ctld *c, const struct ctld_job *j, const bool *taken, uint32_t *nodes)
{
	uint32_t n = 0;

	for (int wish = 0; wish < 3; wish++)
		for (uint32_t i = 0; i < c->n && n < j->n; i++) {
			const struct ctld_node *d = &c->nodes[i];
			int is = d->powered_down ? 2 : d->powering_up ? 1 : 0;
			bool free_node = sim_ctld_fits(d, j) && has_room(c, d, j) && !d->down &&
					 !d->drain && !d->power_down && !d->reboot;

			if (is == wish && free_node && (d->powering_up || usable(d)) &&
			    (taken == NULL || !taken[i]))
				nodes[n++] = i;
		}
	return n == j->n;
}

static void schedule(struct sim_ctld *c, struct ctld_job *j)
{
	uint32_t nodes[JOB_NODES_MAX];

	if (j->het == 0 && sim_ctld_pick(c, j, NULL, nodes))
		sim_ctld_start_job(c, j, nodes);
}

static bool nodes_ready(const struct sim_ctld *c, const struct ctld_job *j)
{
	for (uint32_t i = 0; i < j->n; i++)
		if (c->nodes[j->nodes[i]].powering_up || c->nodes[j->nodes[i]].powered_down)
			return false;
	return true;
}

/* slurmctld looks whether the nodes of a job are up when its prolog ends, and every 30 s. */
static bool may_look(struct sim_ctld *c, struct ctld_job *j)
{
	bool waits = sim_gate_waits(c, j->id);

	if (!c->w->set.prolog)
		return true;
	if (!waits && !j->started) {
		j->started = true;
		return true;
	}
	if (c->w->now < j->look_at)
		return false;
	j->look_at = c->w->now + 30 * SIM_SECOND;
	return !waits;
}

static void met_job(struct sim_ctld *c, enum sim_fault f, const struct ctld_job *j)
{
	for (uint32_t i = 0; i < j->n; i++)
		world_met(c->w, f, c->nodes[j->nodes[i]].name, 0);
}

/* It has done its work.  What its epilog cleans up may take long: a node is COMPLETING meanwhile,
 * and squeue shows the job as long as the slowest. */
void sim_ctld_complete(struct sim_ctld *c, struct ctld_job *j)
{
	let_go(c, j);
	if (!world_fault(c->w, SIM_COMPLETES))
		return;
	met_job(c, SIM_COMPLETES, j);
	j->state = JOB_COMPLETING;
	j->end_at = c->w->now;
	for (uint32_t i = 0; i < j->n; i++) {
		struct ctld_node *n = &c->nodes[j->nodes[i]];

		n->completing = true;
		n->forced_at = 0;
		n->epilog_until = c->w->now + world_between(c->w, 1, 180) * SIM_SECOND;
		if (n->epilog_until > j->end_at)
			j->end_at = n->epilog_until;
	}
	if (world_one_in(c->w, 2))
		j->state = JOB_FREE; /* one of an array, of which squeue knows no more */
}

static void run_job(struct sim_ctld *c, struct ctld_job *j)
{
	struct world *w = c->w;

	if (j->state == JOB_CONFIGURING && may_look(c, j) && nodes_ready(c, j)) {
		j->state = JOB_RUNNING;
		j->signalled_at = 0;
		j->end_at = w->now + j->runtime;
	} else if (j->state == JOB_CONFIGURING && world_one_in(w, 60) &&
		   world_fault(w, SIM_JOB_CANCELLED)) {
		met_job(c, SIM_JOB_CANCELLED, j);
		sim_ctld_end_job(c, j);
		if (world_one_in(w, 2)) /* with a mistake in it: the next one comes at once */
			c->next_job = w->now + world_between(w, 0, 8) * SIM_SECOND;
	} else if ((j->state == JOB_FAILED || j->state == JOB_COMPLETING) && w->now >= j->end_at) {
		if (j->state == JOB_FAILED)
			sim_ctld_forgets(c, j);
		j->state = JOB_FREE;
	} else if (j->state == JOB_RUNNING && j->het == 0 && w->now >= j->end_at) {
		w->totals->jobs_done++;
		sim_ctld_complete(c, j);
	} else if (j->state == JOB_PENDING && !j->held && w->now >= j->begin_at &&
		   !sim_gate_waits(c, j->id)) {
		schedule(c, j);
	}
}

static void shift(struct ctld_job *jobs, int64_t by)
{
	for (struct ctld_job *j = jobs; j < jobs + JOBS_MAX; j++) {
		j->begin_at -= by;
		j->back_to -= by;
		j->requeued_to -= j->requeued_to != 0 ? by : 0;
		j->waits_to -= j->waits_to != 0 ? by : 0;
		j->said_to -= j->said_to != 0 ? by : 0;
	}
}

/* Its times are by the wall clock: for the world they are others now. */
void sim_ctld_clock_set(struct sim_ctld *c, int64_t by)
{
	shift(c->jobs, by);
	shift(c->saved_jobs, by);
}

/* Users and admins hold jobs, release them, and move them to a later time. */
static void meddle(struct sim_ctld *c, struct ctld_job *j)
{
	if (j->state != JOB_PENDING || !world_one_in(c->w, j->held ? 60 : 200))
		return;
	j->user_at = c->w->now;
	if (j->id % 2 == 0) {
		(void)snprintf(j->comment, sizeof(j->comment), "paid by grant 7");
		j->comment_at = c->w->now;
	}
	if (j->held || world_one_in(c->w, 2))
		j->held = !j->held;
	else
		j->begin_at =
			sim_ctld_seconds(c->w->now) + world_between(c->w, 1, 300) * SIM_SECOND;
}

void sim_job_tick(struct sim_ctld *c)
{
	for (size_t i = 0; i < JOBS_MAX; i++) {
		if (c->w->faults)
			meddle(c, &c->jobs[i]);
		sim_het_tick(c, &c->jobs[i]);
		run_job(c, &c->jobs[i]);
		sim_fate_words(c, &c->jobs[i]);
	}
}
