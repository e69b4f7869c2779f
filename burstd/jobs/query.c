#include "jobs/jobs.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fmt.h"
#include "base/hostlist.h"
#include "base/mem.h"
#include "io/loop.h"
#include "slurm/payer.h"

/* Answers people's questions about one job each.  Each question has a squeue of its own, one after
 * the other, besides those that burstd runs for itself: nothing else waits for these, and they wait
 * for nothing else. */

struct engine_query {
	struct engine_query *next;
	struct engine *e;
	char id[SLURM_JOB_ID_MAX + 1];
	int64_t uid;
	engine_query_fn fn; /* NULL: cancelled */
	void *ctx;
};

struct engine_query *engine_query_job(struct engine *e, const char *id, int64_t uid,
				      engine_query_fn fn, void *ctx)
{
	struct engine_query **end = &e->jobs->queries, *q;

	if (!slurm_job_is_id(id))
		return NULL;
	while (*end != NULL)
		end = &(*end)->next;
	q = mem_zalloc(sizeof(*q));
	*q = (struct engine_query){.e = e, .uid = uid, .fn = fn, .ctx = ctx};
	(void)snprintf(q->id, sizeof(q->id), "%s", id);
	*end = q;
	timer_at(e->timer, engine_now(e));
	return q;
}

/* The first query may be on the wire: then its answer ends it. */
void engine_query_cancel(struct engine_query *q)
{
	struct engine_query **at = &q->e->jobs->queries;

	q->fn = NULL;
	if (q == *at && q->e->jobs->query_asked)
		return;
	while (*at != q)
		at = &(*at)->next;
	*at = q->next;
	free(q);
}

static void query_free(struct engine *e)
{
	while (e->jobs->queries != NULL) {
		struct engine_query *q = e->jobs->queries;

		e->jobs->queries = q->next;
		free(q);
	}
}

static void end_first(struct engine *e, const struct engine_job *j, const struct err *err)
{
	struct engine_query q = *e->jobs->queries;

	free(e->jobs->queries);
	e->jobs->queries = q.next;
	e->jobs->query_asked = false;
	if (q.fn != NULL)
		q.fn(q.ctx, j, err);
}

/* Answer engine_query_job(): one squeue for each query, one after the other. */
static void query_run(struct engine *e)
{
	struct err err;

	while (e->jobs->queries != NULL && !e->jobs->query_asked) {
		const char *id = e->jobs->queries->id;

		e->jobs->query_asked = slurm_ask_jobs(e->slurm, SLURM_ONE_JOB, &id, 1);
		if (e->jobs->query_asked)
			return;
		(void)err_set(&err, ERR_NOTSENT, "squeue cannot be started");
		end_first(e, NULL, &err);
	}
}

/* --- the answer --------------------------------------------------------------------------------
 */

struct found {
	int64_t uid; /* of the owner that it must have, or ENGINE_ANYBODY */
	struct slurm_job_words w;
	int rank; /* which of several jobs to show; 0: none found yet */
	uint32_t others;
};

/* Of an array's tasks, or a heterogeneous job's components, show the first that still waits. */
static void on_words(void *ctx, const struct slurm_job_words *w)
{
	struct found *f = ctx;
	int rank = slurm_text_is(w->job.state, "PENDING") ? 4
		   : slurm_job_configuring(&w->job)       ? 3
		   : slurm_job_ended(&w->job)             ? 1
							  : 2;

	if (f->uid != ENGINE_ANYBODY && w->uid != f->uid)
		return;
	f->others += f->rank > 0;
	if (rank <= f->rank)
		return;
	f->rank = rank;
	f->w = *w;
}

static char *text_of(struct slurm_text t)
{
	char *out;

	if (t.n == 0 || slurm_text_is(t, "(null)"))
		return NULL;
	out = mem_zalloc(t.n + 1);
	memcpy(out, t.p, t.n);
	return out;
}

/* Count each node once, since a user's list may name one twice. */
static size_t count_of(struct slurm_text list)
{
	struct hostlist *h;
	struct map once;
	size_t n;

	if (list.n == 0 || hostlist_parse(&h, list.p, list.n, NULL) != 0)
		return 0;
	map_init(&once);
	for (size_t i = 0; i < h->n; i++)
		map_put(&once, h->names[i], h);
	n = once.n;
	map_fini(&once);
	hostlist_free(h);
	return n;
}

/* The nodes of the answer: those the job has; else all that it requires; else those that slurmctld
 * has planned for it.  Empty: any of its partitions. */
static struct slurm_text nodes_of(const struct slurm_job_words *w)
{
	if (w->job.nodes.n > 0)
		return w->job.nodes;
	return w->required.n > 0 && count_of(w->required) >= w->count ? w->required : w->planned;
}

/* The nodes of the list that a pool names; NULL: none. */
static char *ours_of(const struct engine *e, struct slurm_text list)
{
	struct hostlist *h;
	struct str s;

	if (hostlist_parse(&h, list.p, list.n, NULL) != 0)
		return NULL;
	str_init(&s, (size_t)HOSTLIST_NAMES_MAX * (HOSTLIST_NAME_MAX + 1));
	for (size_t i = 0; i < h->n; i++)
		if (conf_pool_of(e->conf, h->names[i]) != NULL)
			str_addf(&s, "%s%s", s.len > 0 ? "," : "", h->names[i]);
	hostlist_free(h);
	if (s.len == 0)
		str_fini(&s);
	return s.len > 0 ? str_take(&s) : NULL;
}

static void tell(struct engine *e, const struct found *f)
{
	const struct slurm_job_words *w = &f->w;
	const struct slurm_text nodes = nodes_of(w);
	struct engine_job j = {.number = w->job.number,
			       .count = (uint32_t)(w->count > 0 ? w->count : 1),
			       .others = f->others,
			       .state = text_of(w->job.state),
			       .reason = text_of(w->job.reason),
			       .partition = text_of(w->job.partition),
			       .constraint = text_of(w->job.constraint),
			       .comment = text_of(w->job.comment),
			       .without = text_of(w->excluded),
			       .nodes = nodes.n > 0 ? ours_of(e, nodes) : NULL};
	const struct refusal r = postpone_look(e, j.number);
	struct payer payer;
	struct err err = {0};
	char number[FMT_U64_SIZE];

	j.payer = slurm_payer_read(&w->job, &payer) ? &payer : NULL;
	j.refusals = r.count;
	if (r.count > 0 && r.last_ms + refusal_wait_ms(&r) > engine_now(e))
		j.until_ms = r.last_ms + refusal_wait_ms(&r);
	(void)snprintf(j.id, sizeof(j.id), "%s",
		       w->job.id[0] != '\0' ? w->job.id : fmt_u64(number, j.number));
	if (f->rank == 1)
		(void)err_set(&err, ERR_INVALID, "job %s has ended: %s", j.id,
			      j.state != NULL ? j.state : "");
	else if (nodes.n > 0 && j.nodes == NULL)
		(void)err_set(&err, ERR_INVALID,
			      "no pool names a node of job %s (%.*s): burstd buys nothing "
			      "for it",
			      j.id, (int)(nodes.n < 80 ? nodes.n : 80), nodes.p);
	end_first(e, err.code == 0 ? &j : NULL, err.code == 0 ? NULL : &err);
	free(j.state);
	free(j.reason);
	free(j.partition);
	free(j.constraint);
	free(j.comment);
	free(j.without);
	free(j.nodes);
}

void query_answer(struct engine *e, const char *text, size_t len, const struct err *failure)
{
	const char *id = e->jobs->queries->id;
	struct found f = {.uid = e->jobs->queries->uid};
	struct err err = {0};

	if (failure != NULL)
		(void)err_set(&err, (enum err_code)failure->code,
			      "slurmctld does not answer: %.200s", failure->msg);
	else if (!slurm_job_parse_words(text, len, on_words, &f))
		(void)err_set(&err, ERR_NET,
			      "cannot parse squeue's output: a comment has the wrong width");
	else if (f.rank == 0)
		(void)err_set(&err, ERR_INVALID, "slurmctld knows no job %s%s", id,
			      f.uid == ENGINE_ANYBODY ? "" : " of yours");
	if (f.rank > 0 && err.code == 0)
		tell(e, &f);
	else
		end_first(e, NULL, &err);
}

const struct engine_part query_part = {
	.name = "squeue of one job",
	.at = {[PART_SEND] = query_run, [PART_FREE] = query_free},
};
