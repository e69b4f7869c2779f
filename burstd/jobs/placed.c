#include "cloud/cloud.h"
#include "jobs/jobs.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/hostlist.h"
#include "core/hops.h"

/* Writes into the AdminComment of a running job how far from each other its nodes are, once the
 * providers have said where all of them are (cloud/topology.c): of jobs of several nodes that were
 * bought in fabrics, for of others nothing was promised.  It is written once, and only where the
 * comment is empty, or has such words of an earlier run; it stays, for sacct.
 *
 * Which nodes a job has squeue tells, each time that anybody asks it, and each minute. */

enum {
	PLACED_LOOK_MS = 60000, /* between two looks at jobs if nobody else asks */
	PLACED_SOON_MS = 10000, /* likewise after more machines were located */
	PLACED_TRIES = 8,       /* words of burstd's own may have to be cleared before */
	PLACED_PAUSE_MS = 5000, /* between two of these */
};

struct placed { /* one job */
	struct job_part in;
	char id[SLURM_JOB_ID_MAX + 1];
	size_t nodes;
	int hops;
	bool seen;        /* in this answer of squeue's */
	bool said, asked; /* it is written; its comment is asked for */
	unsigned tries;
	int64_t next_ms; /* of those */
};

static struct placed *first(const struct engine *e)
{
	return e->jobs->parts[JOB_PLACED];
}

static struct placed *find(const struct engine *e, uint64_t number)
{
	return job_find(e, number, JOB_PLACED);
}

/* --- where its nodes are -----------------------------------------------------------------------
 */

/* Are all of them up, and located, and was any of them bought in a fabric?  Then *hops is known. */
static bool is_known(const struct engine *e, const struct hostlist *nodes, int *hops)
{
	struct hops h = {.first = NULL};
	bool promised = false;

	for (size_t i = 0; i < nodes->n; i++) {
		const struct fleet_name *nm = fleet_find(&e->fleet, nodes->names[i]);
		const struct fleet_node *fn = nm != NULL ? fleet_live(nm) : NULL;
		const struct conf_offer *o = fn != NULL ? engine_offer_of(e, &fn->n) : NULL;

		if (fn == NULL || fn->n.state != NODE_READY)
			return false;
		hops_add(&h, fn->path);
		promised = promised || (o != NULL && o->in_fabric != NULL);
	}
	*hops = hops_of(&h);
	return promised && h.unknown == 0;
}

static bool is_several(struct slurm_text nodes)
{
	return memchr(nodes.p, '[', nodes.n) != NULL || memchr(nodes.p, ',', nodes.n) != NULL;
}

static void on_job(void *ctx, const struct slurm_job *j)
{
	struct engine *e = ctx;
	struct placed *p = find(e, j->number);
	struct hostlist *nodes;
	int hops;

	if (!slurm_job_running(j) || j->nodes.n == 0 || !is_several(j->nodes))
		return;
	if (p != NULL) {
		p->seen = true;
		return;
	}
	if (hostlist_parse(&nodes, j->nodes.p, j->nodes.n, NULL) != 0)
		return;
	if (nodes->n > 1 && is_known(e, nodes, &hops)) {
		p = job_get(e, j->number, JOB_PLACED, sizeof(*p));
		p->seen = true;
		p->nodes = nodes->n;
		p->hops = hops;
		(void)snprintf(p->id, sizeof(p->id), "%s", j->id);
	}
	hostlist_free(nodes);
}

/* It runs no more: its next run may be elsewhere. */
static bool is_over(struct engine *e, void *part)
{
	const struct placed *p = part;

	(void)e;
	return !p->seen;
}

static void on_squeue(struct engine *e, const char *text, size_t len, const struct err *err)
{
	if (err != NULL || e->cloud->located == 0)
		return;
	for (struct placed *p = first(e); p != NULL; p = p->in.next)
		p->seen = false;
	slurm_job_parse(text, len, on_job, e);
	job_forget(e, JOB_PLACED, is_over);
	e->jobs->placed_next = engine_now(e) + PLACED_LOOK_MS;
}

/* --- its comment -------------------------------------------------------------------------------
 */

static void say(struct engine *e, struct placed *p, const struct slurm_job_detail *d)
{
	char text[SLURM_COMMENT_MAX + 1], far[HOPS_TEXT_SIZE];

	p->next_ms = engine_now(e) + PLACED_PAUSE_MS;
	p->tries++;
	if (d->comment.n > 0 && !placed_is_words(d->comment))
		return;
	(void)snprintf(text, sizeof(text), PLACED_WORDS "%zu nodes %s", p->nodes,
		       hops_text(far, p->hops));
	p->said = slurm_postpone(e->slurm, p->id, 0, 0, text);
}

static void on_detail(void *ctx, const struct slurm_job_detail *d)
{
	struct engine *e = ctx;
	struct placed *p = find(e, d->number);

	if (p != NULL && p->asked && d->running)
		say(e, p, d);
}

void placed_details(struct engine *e, const char *text, size_t len, const struct err *err)
{
	e->jobs->placed_asks = false;
	if (err == NULL)
		slurm_job_parse_detail(text, len, on_detail, e);
	for (struct placed *p = first(e); p != NULL; p = p->in.next) {
		if (p->asked && !p->said && p->next_ms <= engine_now(e))
			p->next_ms = engine_now(e) + PLACED_PAUSE_MS;
		p->asked = false;
	}
}

/* It was not run, or slurmctld did not hear of it: once more. */
void placed_told(struct engine *e, const struct slurm_order *o, const struct err *err)
{
	if (err == NULL || strcmp(o->verb, "postpone") != 0)
		return;
	for (struct placed *p = first(e); p != NULL; p = p->in.next)
		if (p->said && slurm_job_among(o->names, p->id)) {
			p->said = false;
			p->next_ms = engine_now(e) + PLACED_PAUSE_MS;
		}
}

static bool is_to_say(const struct placed *p)
{
	return !p->said && p->tries < PLACED_TRIES;
}

static void ask(struct engine *e)
{
	const char *ids[SLURM_ASK_MAX];
	size_t n = 0;

	if (e->jobs->placed_asks)
		return;
	for (struct placed *p = first(e); p != NULL && n < SLURM_ASK_MAX; p = p->in.next) {
		p->asked = is_to_say(p) && p->next_ms <= engine_now(e);
		if (p->asked)
			ids[n++] = p->in.job->key;
	}
	if (n > 0)
		e->jobs->placed_asks = slurm_ask_jobs(e->slurm, SLURM_PLACED, ids, n);
}

/* --- the part ----------------------------------------------------------------------------------
 */

static int64_t look_ms(const struct engine *e)
{
	const struct jobs_state *s = e->jobs;
	const int64_t soon = s->placed_next - PLACED_LOOK_MS + PLACED_SOON_MS;

	if (e->cloud->located == 0 || jobs_coming(e, JOBS_FOR_PLACED))
		return INT64_MAX;
	return s->placed_known != e->cloud->located ? soon : s->placed_next;
}

static void placed_run(struct engine *e)
{
	if (look_ms(e) <= engine_now(e)) {
		e->jobs->placed_known = e->cloud->located;
		e->jobs->placed_next = engine_now(e) + PLACED_LOOK_MS;
		jobs_want(e, JOBS_FOR_PLACED);
	}
	ask(e);
}

static int64_t placed_next_ms(const struct engine *e)
{
	int64_t next = look_ms(e);

	for (const struct placed *p = first(e); p != NULL && !e->jobs->placed_asks; p = p->in.next)
		if (is_to_say(p) && p->next_ms < next)
			next = p->next_ms;
	return next;
}

const struct engine_part placed_part = {
	.name = "placed jobs",
	.at = {[PART_RUN] = placed_run},
	.next_ms = placed_next_ms,
	.reads = JOBS_FOR_PLACED | JOBS_FOR_GATE | JOBS_FOR_HOLDS,
	.squeue_says = on_squeue,
};
