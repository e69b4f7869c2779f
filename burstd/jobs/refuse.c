#include "cloud/cloud.h"
#include "jobs/jobs.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

/* Sends all nodes of a job back to slurmctld, in one call with the reason, when one of them cannot
 * be bought: the job needs none without it, so it waits in the queue and nobody pays for idle
 * nodes.  squeue is asked at that moment which nodes are one job: true after a restart and without
 * a resume file alike. */

void refuse_mark(struct engine *e, struct fleet_name *nm, enum node_reason why, const char *text)
{
	if (nm->barred && why == NODE_BECAUSE_GANG)
		return; /* what its job lacks is said already */
	fleet_bar(nm, why, engine_now(e));
	nm->hint = (struct refusal_hint){0};
	if (text != NULL)
		(void)snprintf(nm->why, sizeof(nm->why), "%s", text);
	else if (!node_reason_of_place(why) ||
		 nm->why[0] == '\0') /* else: the provider's own words are there */
		(void)snprintf(nm->why, sizeof(nm->why), "%s", node_reason_text(why));
	e->jobs->refuse_due = true;
}

/* The configuration or a price has changed: a refusal that no wait could mend, and that slurmctld
 * has not been told yet, becomes one with an ordinary wait. */
static void refuse_anew(struct engine *e)
{
	for (size_t i = 0; i < e->fleet.nall; i++)
		e->fleet.all[i]->hint.stale = true;
}

static void refuse_quotes(struct engine *e, bool cheaper)
{
	if (cheaper)
		refuse_anew(e);
}

void refuse_money(struct engine *e)
{
	for (size_t i = 0; i < e->fleet.nall; i++)
		if (e->fleet.all[i]->hint.money)
			e->fleet.all[i]->hint.stale = true;
}

static void refuse_run(struct engine *e)
{
	if (!e->jobs->refuse_due)
		return;
	e->jobs->refuse_due = false;
	jobs_want(e, JOBS_FOR_REFUSE);
}

struct gang {                 /* the nodes of one job */
	struct slurm_job job; /* its texts live as long as squeue's answer */
	struct hostlist *list;
};

struct gangs { /* one pass over squeue's answer */
	struct engine *e;
	struct gang *gangs;
	size_t n, cap;
};

static void keep(void *ctx, const struct slurm_job *j)
{
	struct gangs *g = ctx;
	struct hostlist *h;

	if (!slurm_job_placed(j) || hostlist_parse(&h, j->nodes.p, j->nodes.n, NULL) != 0)
		return;
	if (g->n == g->cap) {
		g->cap = g->cap == 0 ? 16 : 2 * g->cap;
		g->gangs = mem_realloc(g->gangs, g->cap * sizeof(*g->gangs));
	}
	g->gangs[g->n++] = (struct gang){*j, h};
}

/* A refused node of the gang; if possible one that is lacking only for a while, since a node that
 * another job lacks for good may be shared with that job. */
static struct fleet_name *refused_in(struct engine *e, const struct gang *g)
{
	struct fleet_name *bad = NULL;

	for (size_t i = 0; i < g->list->n; i++) {
		struct fleet_name *nm = fleet_find(&e->fleet, g->list->names[i]);

		if (nm != NULL && nm->barred && (bad == NULL || bad->hint.lasting))
			bad = nm;
	}
	return bad;
}

/* Was the node refused for good to another job?  That means nothing to a job which slurmctld has
 * given the node to meanwhile. */
static bool is_anothers(const struct fleet_name *bad, const struct gang *g)
{
	return bad->hint.lasting && bad->hint.job != 0 && bad->hint.job != g->job.number;
}

static void say_why(const struct engine *e, const struct fleet_name *bad, const struct gang *g,
		    char out[160])
{
	if (is_anothers(bad, g))
		(void)snprintf(out, 160, "pool %.60s: its nodes were refused to another job",
			       e->conf->pools[bad->pool].name);
	else
		(void)snprintf(out, 160, "%s", bad->why);
}

/* A refused node of a job that waits for it; NULL: none.  A job that runs lacks nothing, whatever
 * is refused to others on the same nodes. */
static const struct fleet_name *lacking(struct engine *e, const struct gang *g)
{
	return slurm_job_configuring(&g->job) ? refused_in(e, g) : NULL;
}

/* Does slurmctld have the node up, though perhaps not the journal yet?  Then its job lacks
 * nothing. */
static bool is_up(const struct fleet_name *nm)
{
	const struct fleet_node *fn = fleet_live(nm);

	if ((nm->flags & SLURM_POWERING_UP) != 0)
		return false; /* the row is of an earlier request */
	return (fn != NULL && fn->n.state == NODE_READY) ||
	       (slurm_is_on(nm->flags) && (nm->flags & SLURM_NOT_RESPONDING) == 0);
}

/* Its provider is away, so only the answer to its create was lost: the instance exists. */
static bool is_made(const struct fleet_name *nm, const struct fleet_node *fn)
{
	return fn->n.state == NODE_INDOUBT && nm->refused == NODE_BECAUSE_UNREACHABLE;
}

/* A job runs there, or is suspended, so slurmctld has the node up, though no snapshot says so yet
 * (I16).  If it has a machine, the next snapshot decides about it, as about any node that is up; if
 * it goes all the same, its job must be followed. */
static void has_begun(struct fleet_name *nm)
{
	const struct fleet_node *fn = fleet_live(nm);

	if (!nm->barred)
		return;
	nm->flags &= ~(uint32_t)SLURM_POWERING_UP;
	if (fn != NULL && (fn->n.instance[0] != '\0' || is_made(nm, fn)))
		fleet_unbar(nm);
}

/* Likewise if a snapshot of after its create says so, and its job has still to begin: the refusal
 * came later, since the answer to the create did. */
static void has_come_up(const struct engine *e, struct fleet_name *nm)
{
	const struct fleet_node *fn = fleet_live(nm);

	if (nm->barred && fn != NULL && is_made(nm, fn) && is_up(nm) &&
	    e->poll.snapshot_ms > fn->n.sent_ms)
		fleet_unbar(nm);
}

static void note_begun(const struct gangs *g)
{
	for (size_t j = 0; j < g->n; j++) {
		const struct hostlist *h = g->gangs[j].list;

		for (size_t i = 0; i < h->n; i++) {
			struct fleet_name *nm = fleet_find(&g->e->fleet, h->names[i]);

			if (nm != NULL && !slurm_job_configuring(&g->gangs[j].job))
				has_begun(nm);
			else if (nm != NULL)
				has_come_up(g->e, nm);
		}
	}
}

/* Keep the nodes of jobs that lack nothing. */
static void spare_healthy(struct gangs *g, struct map *healthy)
{
	for (size_t j = 0; j < g->n; j++) {
		if (lacking(g->e, &g->gangs[j]) != NULL)
			continue;
		for (size_t i = 0; i < g->gangs[j].list->n; i++)
			map_put(healthy, g->gangs[j].list->names[i], g);
	}
}

/* Is the node the one purchase by which its pool is tried (F36), but not bought for this job?  It
 * was bought to be kept warm, or for another job that waits again.  If it went with each job that
 * gets it and lacks another node, the pool's circuit would never close. */
static bool is_trial(const struct engine *e, const struct gang *g, const struct fleet_node *fn)
{
	return fn->n.job != g->job.number && engine_on_trial(e, fn->n.pool);
}

/* A best-effort pool keeps the nodes of a job that is refused for the first time, so that its next
 * try lacks less; when it is refused again they go with it. */
static bool stays(const struct engine *e, const struct gang *g, const struct fleet_name *nm)
{
	const struct fleet_node *fn = fleet_live(nm);

	if (fn == NULL || fn->n.state == NODE_WANTED)
		return false;
	return is_trial(e, g, fn) || (e->conf->pools[nm->pool].gang == CONF_BEST_EFFORT &&
				      postpone_look(e, g->job.number).count == 0);
}

/* Refuse the other nodes of each job that lacks one. */
static void infect(struct gangs *g, const struct map *healthy)
{
	for (size_t j = 0; j < g->n; j++) {
		const struct fleet_name *bad = lacking(g->e, &g->gangs[j]);

		for (size_t i = 0; bad != NULL && i < g->gangs[j].list->n; i++) {
			struct fleet_name *nm =
				fleet_find(&g->e->fleet, g->gangs[j].list->names[i]);

			if (nm == NULL || nm->barred || is_up(nm) ||
			    map_get(healthy, nm->name) != NULL || stays(g->e, &g->gangs[j], nm))
				continue;
			fleet_bar(nm, bad->refused, bad->refused_ms);
			nm->hint = bad->hint;
			(void)snprintf(nm->why, sizeof(nm->why), "%s", bad->why);
		}
	}
}

/* The reason for releasing this node.  If it lives, it was another node of its job that did not
 * come up, or was taken: only that one may count against itself, its pool and its provider. */
static enum node_reason release_for(const struct fleet_name *nm)
{
	switch (nm->refused) {
	case NODE_BECAUSE_STOPPED:
	case NODE_BECAUSE_BOOT:
	case NODE_BECAUSE_INIT:
	case NODE_BECAUSE_BREACH:
	case NODE_BECAUSE_RECLAIMED:
	case NODE_BECAUSE_MAINTENANCE:
	case NODE_BECAUSE_FAULTY:
		return NODE_BECAUSE_GANG;
	default:
		return nm->refused;
	}
}

static void release(struct engine *e, struct fleet_name *nm)
{
	struct fleet_node *fn = fleet_live(nm);
	struct node_event ev = {
		.type = NODE_EV_RELEASE, .reason = release_for(nm), .now_ms = engine_now(e)};

	if (fn != NULL && fn->n.state != NODE_READY && fn->n.state != NODE_DRAINING)
		engine_post(e, fn, &ev);
}

/* Is the node to be sent back in this pass? */
static bool is_due(const struct engine *e, const struct fleet_name *nm)
{
	return nm->barred &&
	       (nm->forced_ms == 0 || engine_now(e) - nm->forced_ms >= DRIFT_REFORCE_MS);
}

/* Is the hint about this job as it is?  If slurmctld has been away since, it may have lost its
 * state and given out the number again (F50). */
static bool is_hinted(const struct engine *e, const struct fleet_name *bad, const struct gang *g)
{
	return !bad->hint.stale && !is_anothers(bad, g) && e->poll.failed_ms <= bad->refused_ms;
}

/* Can what the job lacks ever be had?  A job of sbatch waits for it. */
static const char *prospect(const struct engine *e, const struct fleet_name *bad,
			    const struct gang *g)
{
	return bad->hint.lasting && is_hinted(e, bad, g)
		       ? "waiting would not help, so ask for something else"
		       : "only sbatch jobs are requeued and tried again";
}

/* Tell users of srun and salloc before their jobs end: slurmctld requeues none of these. */
static void tell(struct gangs *g)
{
	char text[SLURM_COMMENT_MAX + 1];

	for (size_t j = 0; j < g->n; j++) {
		const struct fleet_name *bad = lacking(g->e, &g->gangs[j]);
		char why[160];

		if (bad == NULL || !is_due(g->e, bad))
			continue;
		say_why(g->e, bad, &g->gangs[j], why);
		(void)snprintf(text, sizeof(text), "burstd: %s; the job ends: %s", why,
			       prospect(g->e, bad, &g->gangs[j]));
		srun_tell(g->e, g->gangs[j].job.number, text);
	}
}

/* Tell slurmctld, one command for each different reason. */
static void force(struct engine *e)
{
	for (size_t i = 0; i < e->fleet.nall; i++) {
		struct fleet_name *nm = e->fleet.all[i];
		char why[200];

		if (!is_due(e, nm))
			continue;
		(void)snprintf(why, sizeof(why), "burstd: %.190s", nm->why);
		rescue_power_down(e, nm, false, why);
		engine_event(e, nm->name, nm->newest != NULL ? nm->newest->n.gen : 0, "sent-back",
			     nm->why);
		release(e, nm);
	}
}

/* Note which job the node was refused to: people see the refusal until that job has its nodes. */
static void note_whose(struct engine *e, const struct gang *g)
{
	for (size_t i = 0; i < g->list->n; i++) {
		struct fleet_name *nm = fleet_find(&e->fleet, g->list->names[i]);

		if (nm != NULL && nm->barred)
			nm->refused_for = g->job.number;
	}
}

/* Jobs that share a node, but that no offer can serve together, try again one after the other: side
 * by side they would be given that node again. */
static void let_pass(const struct engine *e, struct refusal_hint *hint, uint64_t job, int64_t from)
{
	struct refusal first;
	int64_t after;

	if (!hint->clash || hint->job == job)
		return;
	first = postpone_look(e, hint->job);
	if (first.last_ms < from) /* it is to be postponed in this pass, too */
		(void)refusal_add(&first, (struct refusal_hint){0}, engine_now(e));
	after = engine_now(e) + 2 * refusal_wait_ms(&first);
	if (hint->not_before_ms < after)
		hint->not_before_ms = after;
}

/* Did others get what this job could not have, since it was refused last?  A job of one node takes
 * what there is. */
static bool is_passed_over(const struct engine *e, const struct gang *g,
			   const struct fleet_name *bad)
{
	struct refusal last;

	if (bad->refused != NODE_BECAUSE_CAPACITY || g->list->n < 2)
		return false;
	last = postpone_look(e, g->job.number);
	return last.count > 0 && cloud_sold_since(e, bad->pool, g->job.number, last.last_ms);
}

/* Make the jobs wait whose nodes were sent back since `from`. */
static void postpone(struct gangs *g, int64_t from)
{
	for (size_t j = 0; j < g->n; j++) {
		const struct fleet_name *bad = lacking(g->e, &g->gangs[j]);
		struct postpone_why why;

		if (bad == NULL || bad->forced_ms < from)
			continue;
		why = (struct postpone_why){.hint = bad->hint,
					    .pool = bad->pool,
					    .reason = bad->refused,
					    .nodes = (uint32_t)g->gangs[j].list->n,
					    .passed_over = is_passed_over(g->e, &g->gangs[j], bad)};
		if (!is_hinted(g->e, bad, &g->gangs[j]))
			why.hint = (struct refusal_hint){0};
		let_pass(g->e, &why.hint, g->gangs[j].job.number, from);
		say_why(g->e, bad, &g->gangs[j], why.text);
		postpone_job(g->e, &g->gangs[j].job, &why);
		note_whose(g->e, &g->gangs[j]);
	}
}

static void refuse_jobs(struct engine *e, const char *text, size_t len, const struct err *err)
{
	struct gangs g = {.e = e};
	int64_t from = engine_now(e);
	struct map healthy;

	if (err != NULL)
		return; /* the next poll shows it again */
	map_init(&healthy);
	slurm_job_parse(text, len, keep, &g);
	note_begun(&g);
	spare_healthy(&g, &healthy);
	infect(&g, &healthy);
	tell(&g);
	force(e);
	postpone(&g, from);
	for (size_t j = 0; j < g.n; j++)
		hostlist_free(g.gangs[j].list);
	free(g.gangs);
	map_fini(&healthy);
}

const struct engine_part refuse_part = {
	.name = "refusals",
	.at = {[PART_RUN] = refuse_run, [PART_RELOAD] = refuse_anew},
	.repriced = refuse_quotes,
	.reads = JOBS_FOR_REFUSE,
	.squeue_says = refuse_jobs,
};
