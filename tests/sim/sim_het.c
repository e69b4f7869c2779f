/* sim_het.c - heterogeneous jobs: two or three components (here: parts), each with nodes of its
 * own, and ids such as "7+1".
 *
 * The rules are those of slurmctld 22.05 to 25.11, read in its source (the files are named below);
 * LIVE: also seen with 22.05.8.
 *
 * - Only the backfill scheduler starts them, every 30 s, and only when all waiting parts can start,
 *   each on nodes of its own (backfill.c, _het_job_full() and _het_job_start_now()).
 * - A part is RUNNING when its nodes are up; the batch script starts on the first part when all
 *   parts are (job_scheduler.c, _het_job_ready()); all parts end with it (job_complete()).
 * - LIVE: the call for nodes has an entry for each part, by its own number (power_save.c).
 * - LIVE: when a node of a part goes, that part and those before it are requeued.  Parts after it
 *   stay, unless that part is still completing on another node, or on this one: once it has no
 *   node left its node list is empty, and slurmctld no longer finds the other parts
 *   (job_mgr.c, kill_running_job_by_node_name(), _het_job_on_node() and batch_requeue_fini()).
 *   With srun and salloc all parts end, since a job that has ended keeps its node list.
 * - LIVE: `scontrol update jobid=7+1` changes that part; with the number of the first part it
 *   changes all.  A part that does not wait takes no StartTime.  `scontrol requeue` takes only the
 *   number of the first part, and requeues all that do not wait, but reports failure if one waits.
 * - scancel of the first part, by its number or as "7+0", cancels all (job_str_signal()).
 * - LIVE: no part starts on a node that was set or forced down before the node has registered, was
 *   resumed by an admin, or slurmctld was reconfigured or restarted (node_mgr.c,
 *   _make_node_unavail(); backfill.c, up_node_bitmap).
 * - LIVE: squeue -j with any id of a part shows all parts, and HetJobID ("N/A" for other jobs);
 *   with the number of a part other than the first it shows that part.
 *
 * Not played: a start that fails half way, which nobody outside slurmctld sees but by the begin
 * time; time limits. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim_slurm.h"

enum {
	PARTS_MAX = 3,
	PART_NODES_DICE = 2,
	BACKFILL_S = 30,           /* bf_interval */
	RECONFIGURE = 300,         /* somebody does so in so many seconds, on average */
	ALONE_MS = 2 * SIM_MINUTE, /* burstd looks, and gives an order, which may fail once */
};

/* By dice of its own, so that the other worlds stay as they are without it. */
void sim_het_choose(struct world *w)
{
	uint64_t rng = w->rng;

	w->rng = rng ^ 0x4e7;
	w->set.het = world_one_in(w, 5);
	w->rng = rng;
	if (w->set.het)
		w->set.chance[SIM_ARRAYS] = 0; /* whose tasks have numbers of their own */
}

struct ctld_job *sim_het_next(struct sim_ctld *c, const struct ctld_job *of, struct ctld_job *last)
{
	struct ctld_job *j = last == NULL ? c->jobs : last + 1;

	while (j < c->jobs + JOBS_MAX && j != of &&
	       (of->het == 0 || j->het != of->het || j->state == JOB_FREE))
		j++;
	return j < c->jobs + JOBS_MAX ? j : NULL;
}

/* --- where they come from ----------------------------------------------------------------------
 */

/* So many nodes has the pool that no part of this job asks for. */
static uint32_t left_for(struct sim_ctld *c, const struct ctld_job *first, uint32_t pool)
{
	uint32_t n = 0;

	for (size_t i = 0; i < c->n; i++)
		n += c->nodes[i].pool == pool && !c->nodes[i].deleted;
	for (struct ctld_job *j = sim_het_next(c, first, NULL); j != NULL;
	     j = sim_het_next(c, first, j))
		n -= j->pool == pool ? (j->n < n ? j->n : n) : 0;
	return n;
}

static void add_part(struct sim_ctld *c, struct ctld_job *first)
{
	uint32_t pool = world_below(c->w, (uint32_t)c->w->set.npools);
	uint32_t n = 1 + world_below(c->w, PART_NODES_DICE), left = left_for(c, first, pool);
	struct ctld_job *j = left > 0 ? sim_ctld_submit(c, pool, n < left ? n : left) : NULL;

	if (j == NULL)
		return;
	j->het = first->het = first->id;
	j->once = first->once;
	j->listens = first->listens;
	j->runtime = first->runtime;
}

/* slurmctld numbers the parts one after the other. */
void sim_het_submit(struct sim_ctld *c, struct ctld_job *j)
{
	uint32_t parts;

	if (!c->w->set.het || j->pool == JOB_ANY_POOL || !world_one_in(c->w, 2))
		return;
	if (j->n > PART_NODES_DICE)
		j->n = PART_NODES_DICE;
	parts = (uint32_t)world_between(c->w, 2, PARTS_MAX);
	for (uint32_t i = 1; i < parts; i++)
		add_part(c, j);
	if (j->het != 0)
		j->shares = false;
}

/* --- how they start ----------------------------------------------------------------------------
 */

static bool is_placed(const struct ctld_job *j)
{
	return j->state == JOB_CONFIGURING || j->state == JOB_RUNNING;
}

static bool may_start(struct sim_ctld *c, const struct ctld_job *j)
{
	return j->state == JOB_PENDING && !j->held && c->w->now >= j->begin_at &&
	       !sim_gate_waits(c, j->id);
}

/* Those that wait, all of them at once, beside those that have theirs. */
static void schedule(struct sim_ctld *c, struct ctld_job *first)
{
	uint32_t nodes[JOBS_MAX][JOB_NODES_MAX];
	bool taken[SIM_NODES_MAX + 1];
	struct ctld_job *j;

	for (size_t i = 0; i < c->n; i++)
		taken[i] = c->nodes[i].unmapped;
	for (j = sim_het_next(c, first, NULL); j != NULL; j = sim_het_next(c, first, j)) {
		uint32_t *at = nodes[j - c->jobs];

		if (is_placed(j))
			continue;
		if (!may_start(c, j) || !sim_ctld_pick(c, j, taken, at))
			return;
		for (uint32_t i = 0; i < j->n; i++)
			taken[at[i]] = true;
	}
	for (j = sim_het_next(c, first, NULL); j != NULL; j = sim_het_next(c, first, j))
		if (j->state == JOB_PENDING)
			sim_ctld_start_job(c, j, nodes[j - c->jobs]);
}

static void launch(struct sim_ctld *c, struct ctld_job *first)
{
	for (struct ctld_job *j = sim_het_next(c, first, NULL); j != NULL;
	     j = sim_het_next(c, first, j))
		if (j->state != JOB_RUNNING)
			return;
	SIM_TRACE(c->w, "  ctld: all parts of job %u are at work", (unsigned)first->id);
	first->launched = true;
	first->end_at = c->w->now + first->runtime;
}

static void complete(struct sim_ctld *c, struct ctld_job *first)
{
	struct world *w = c->w;

	w->totals->jobs_done++;
	w->totals->het_done++;
	for (struct ctld_job *j = sim_het_next(c, first, NULL); j != NULL;
	     j = sim_het_next(c, first, j))
		sim_ctld_complete(c, j);
}

/* --- what they lose ----------------------------------------------------------------------------
 */

/* Has it a node that slurmctld waits for, until what it does there has ended? */
static bool completes(const struct sim_ctld *c, const struct ctld_job *j)
{
	for (uint32_t i = 0; i < j->n; i++) {
		const struct ctld_node *n = &c->nodes[j->nodes[i]];

		if (!n->down && !n->powered_down && !n->powering_up)
			return true;
	}
	return false;
}

void sim_het_lose(struct sim_ctld *c, struct ctld_job *j, const struct ctld_node *n)
{
	/* A prolog that waits still has the epilogs done at once (deallocate_nodes()). */
	bool all = j->once || (completes(c, j) && !sim_gate_waits(c, j->id));
	uint32_t left = 0;

	for (struct ctld_job *k = sim_het_next(c, j, NULL); k != NULL; k = sim_het_next(c, j, k)) {
		if (!is_placed(k))
			continue;
		if (!all && k->id > j->id) {
			SIM_TRACE(c->w, "  ctld: job %u loses %s, and %u stays", (unsigned)j->id,
				  n->name, (unsigned)k->id);
			left++;
			continue;
		}
		sim_ctld_requeue_part(c, k);
	}
	c->w->totals->het_cut += left > 0;
}

/* A part that burstd makes wait for its nodes leaves none of the others with theirs: nothing can
 * begin there, and they bill.  Of one that slurmctld itself holds back, or a user, burstd cannot
 * know that it will not begin at once. */
static void check_alone(struct sim_ctld *c, struct ctld_job *j)
{
	const struct ctld_job *waits = NULL;

	for (struct ctld_job *k = sim_het_next(c, j, NULL); k != NULL; k = sim_het_next(c, j, k))
		if (k->state == JOB_PENDING && k->begin_at > c->w->now &&
		    k->begin_at == k->waits_to && k->said_to == k->waits_to)
			waits = k;
	if (waits == NULL || !is_placed(j) || !sim_fate_is_calm(c))
		j->alone_at = c->w->now;
	else if (c->w->now - j->alone_at > ALONE_MS)
		world_fail(c->w,
			   "I18: job %u keeps its nodes, and %u, without which it cannot "
			   "begin, was refused its own",
			   (unsigned)j->id, (unsigned)waits->id);
}

void sim_het_unavail(struct sim_ctld *c, struct ctld_node *n)
{
	n->unmapped = c->w->set.het;
}

void sim_het_reconfigure(struct sim_ctld *c)
{
	for (size_t i = 0; i < c->n; i++)
		c->nodes[i].unmapped = false;
}

void sim_het_tick(struct sim_ctld *c, struct ctld_job *j)
{
	bool first = j->het != 0 && j->id == j->het;

	if (j->het != 0 && j->state != JOB_FREE)
		check_alone(c, j);
	if (!first || j->state == JOB_FREE)
		return;
	if (c->w->faults ? world_one_in(c->w, RECONFIGURE) : c->w->now / SIM_SECOND % 60 == 0)
		sim_het_reconfigure(c);
	if (j->state == JOB_PENDING && c->w->now / SIM_SECOND % BACKFILL_S == 0)
		schedule(c, j);
	if (j->state != JOB_RUNNING)
		j->launched = false;
	else if (!j->launched)
		launch(c, j);
	else if (c->w->now >= j->end_at)
		complete(c, j);
}

/* --- what is said of them ----------------------------------------------------------------------
 */

struct ctld_job *sim_het_whole(struct sim_ctld *c, const char *id)
{
	struct ctld_job *j = c->jobs;

	while (j < c->jobs + JOBS_MAX && !sim_ctld_is_named(j, id) &&
	       (j->state == JOB_FREE || j->het != strtoul(id, NULL, 10)))
		j++;
	if (j == c->jobs + JOBS_MAX)
		return NULL;
	if (j->het != 0 && (strchr(id, '+') != NULL || strtoul(id, NULL, 10) != j->het)) {
		world_fail(c->w,
			   "requeue or cancel of %s: that is no whole job, which has the number of "
			   "its first part",
			   id);
		return NULL;
	}
	return j;
}

/* Does it wait for nodes of one of its parts, so that its script cannot be at work? */
bool sim_het_waits(struct sim_ctld *c, const struct ctld_job *j)
{
	bool waits = false;

	for (struct ctld_job *k = sim_het_next(c, j, NULL); k != NULL; k = sim_het_next(c, j, k))
		waits = waits ||
			(k->het != 0 && (k->state == JOB_PENDING || k->state == JOB_CONFIGURING));
	return waits;
}

bool sim_het_settled(const struct sim_ctld *c, char *why, size_t size)
{
	for (const struct ctld_job *j = c->jobs; j < c->jobs + JOBS_MAX; j++) {
		if (j->het == 0 || j->state != JOB_RUNNING)
			continue;
		for (const struct ctld_job *k = c->jobs; k < c->jobs + JOBS_MAX; k++)
			if (k->state == JOB_PENDING && k->het == j->het) {
				(void)snprintf(why, size, "job %u runs without its other part %u",
					       (unsigned)j->id, (unsigned)k->id);
				return false;
			}
	}
	return true;
}
