#include "jobs/jobs.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/hostlist.h"
#include "base/mem.h"
#include "core/payer.h"
#include "slurm/show.h"

/* The table of jobs that option listen_jobs shows: those with nodes of our pools, as squeue says
 * each half a minute, and those that were refused their nodes, which postpone.c knows.  Nothing
 * follows from it, and while the option is off squeue is not asked for it.
 *
 * Whoever may read it is not known, so it has no more of a job than slurmctld tells everybody.  By
 * PrivateData, or a plugin for security labels, that may be nothing. */

enum {
	JOBLIST_LOOK_MS = 30000,
	JOBLIST_PARTITION_MAX = PAYER_NAME_MAX, /* bytes; a longer name is cut */
};

struct row {
	uint64_t number;
	char id[SLURM_JOB_ID_MAX + 1];
	char partition[JOBLIST_PARTITION_MAX + 1];
	enum engine_joblist_state state;
	uint32_t pool, nodes;
	int64_t since_ms;
};

struct joblist {
	struct row *rows; /* by number */
	size_t n, cap, more;
	int64_t asked_ms, next_ms; /* asked_ms: the answer that the rows are of; 0: none */
	int64_t asking_ms;
	enum { UNKNOWN, OPEN, PRIVATE } privacy;
};

static void joblist_init(struct engine *e)
{
	e->jobs->joblist = mem_zalloc(sizeof(*e->jobs->joblist));
}

static void forget(struct joblist *l)
{
	free(l->rows);
	l->rows = NULL;
	l->n = l->cap = l->more = 0;
	l->asked_ms = 0;
}

static void joblist_free(struct engine *e)
{
	if (e->jobs->joblist == NULL)
		return;
	forget(e->jobs->joblist);
	free(e->jobs->joblist);
	e->jobs->joblist = NULL;
}

static bool is_on(const struct engine *e)
{
	return e->conf->listen_jobs && e->conf->listen != NULL && e->conf->listen[0] != '\0';
}

/* --- whether slurmctld tells everybody ---------------------------------------------------------
 */

static void joblist_settings(struct engine *e, const char *text, size_t len, int64_t asked_ms)
{
	const struct slurm_text config = {text, len};
	const struct slurm_text hidden = slurm_show_setting(config, "PrivateData"),
				labels = slurm_show_setting(config, "MCSPlugin");
	const bool labelled = labels.n > 0 && !slurm_show_is(labels, "none") &&
			      !slurm_show_is(labels, "mcs/none");

	(void)asked_ms;
	if (hidden.p == NULL)
		e->jobs->joblist->privacy = UNKNOWN;
	else if (labelled || slurm_show_has(hidden, "jobs") || slurm_show_has(hidden, "all"))
		e->jobs->joblist->privacy = PRIVATE;
	else
		e->jobs->joblist->privacy = OPEN;
}

const char *engine_joblist_private(const struct engine *e)
{
	switch (e->jobs->joblist->privacy) {
	case OPEN:
		return NULL;
	case PRIVATE:
		return "by its PrivateData or MCSPlugin slurmctld does not show jobs to everybody";
	case UNKNOWN:
		break;
	}
	return "";
}

/* --- what squeue says --------------------------------------------------------------------------
 */

struct reading {
	struct engine *e;
	struct joblist *to;
	const struct joblist *was;
};

static int by_number(const void *a, const void *b)
{
	const struct row *x = a, *y = b;

	return x->number < y->number ? -1 : x->number > y->number;
}

/* How many nodes of ours are in the list; *pool: that of the first. */
static uint32_t ours(const struct engine *e, struct slurm_text nodes, uint32_t *pool)
{
	struct hostlist *list;
	uint32_t n = 0;

	if (hostlist_parse(&list, nodes.p, nodes.n, NULL) != 0)
		return 0;
	for (size_t i = 0; i < list->n; i++) {
		const struct fleet_name *nm = fleet_find(&e->fleet, list->names[i]);

		if (nm == NULL || !fleet_is_ours(nm))
			continue;
		if (n++ == 0)
			*pool = nm->pool;
	}
	hostlist_free(list);
	return n;
}

static enum engine_joblist_state state_of(const struct slurm_job *j)
{
	if (slurm_job_configuring(j))
		return ENGINE_JOBLIST_BOOTS;
	return slurm_job_leaving(j) ? ENGINE_JOBLIST_ENDS : ENGINE_JOBLIST_RUNS;
}

static void on_job(void *ctx, const struct slurm_job *j)
{
	struct reading *r = ctx;
	struct joblist *to = r->to;
	const struct row *was;
	struct row row = {.number = j->number, .state = state_of(j)};

	if (!slurm_job_placed(j) && !slurm_job_leaving(j))
		return;
	row.nodes = ours(r->e, j->nodes, &row.pool);
	if (row.nodes == 0)
		return;
	if (to->n == ENGINE_JOBLIST_MAX) {
		to->more++;
		return;
	}
	(void)snprintf(row.id, sizeof(row.id), "%s", j->id);
	(void)snprintf(row.partition, sizeof(row.partition), "%.*s", (int)j->partition.n,
		       j->partition.p);
	was = r->was->n > 0 ? bsearch(&row, r->was->rows, r->was->n, sizeof(row), by_number) : NULL;
	row.since_ms = was != NULL && was->state == row.state ? was->since_ms : engine_now(r->e);
	if (to->n == to->cap) {
		to->cap = to->cap == 0 ? 64 : 2 * to->cap;
		to->rows = mem_realloc(to->rows, to->cap * sizeof(*to->rows));
	}
	to->rows[to->n++] = row;
}

static void on_begin(struct engine *e)
{
	e->jobs->joblist->asking_ms = engine_now(e);
}

static void on_squeue(struct engine *e, const char *text, size_t len, const struct err *err)
{
	struct joblist *l = e->jobs->joblist;
	struct joblist was = *l;

	if (err != NULL || !is_on(e))
		return;
	l->rows = NULL;
	l->n = l->cap = l->more = 0;
	slurm_job_parse(text, len, on_job, &(struct reading){e, l, &was});
	if (l->n > 0)
		qsort(l->rows, l->n, sizeof(*l->rows), by_number);
	l->asked_ms = l->asking_ms;
	free(was.rows);
}

/* --- what is shown -----------------------------------------------------------------------------
 */

int64_t engine_joblist_ms(const struct engine *e)
{
	return e->jobs->joblist->asked_ms;
}

size_t engine_joblist_more(const struct engine *e)
{
	return e->jobs->joblist->more;
}

/* squeue may have been asked before the job was refused, or after it began anew. */
static bool is_placed(const struct engine *e, const struct engine_joblist_job *w)
{
	const struct joblist *l = e->jobs->joblist;
	const struct row key = {.number = w->number};
	const struct row *r =
		l->n > 0 ? bsearch(&key, l->rows, l->n, sizeof(key), by_number) : NULL;

	return r != NULL && r->state != ENGINE_JOBLIST_ENDS;
}

void engine_joblist(const struct engine *e, engine_joblist_fn fn, void *ctx)
{
	const struct joblist *l = e->jobs->joblist;
	struct engine_joblist_job out;
	const void *at = NULL;

	while (postpone_each(e, &at, &out))
		if (!is_placed(e, &out))
			fn(ctx, &out);
	for (size_t i = 0; i < l->n; i++) {
		const struct row *r = &l->rows[i];

		fn(ctx, &(struct engine_joblist_job){.number = r->number,
						     .id = r->id,
						     .partition = r->partition,
						     .state = r->state,
						     .pool = r->pool,
						     .nodes = r->nodes,
						     .loses = job_find(e, r->number, JOB_RESCUED) !=
							      NULL,
						     .since_ms = r->since_ms});
	}
}

/* --- the part ----------------------------------------------------------------------------------
 */

static int64_t joblist_next_ms(const struct engine *e)
{
	if (!is_on(e) || jobs_coming(e, JOBS_FOR_LIST))
		return INT64_MAX;
	return e->jobs->joblist->next_ms;
}

static void joblist_run(struct engine *e)
{
	if (!is_on(e) && e->jobs->joblist->asked_ms != 0)
		forget(e->jobs->joblist);
	if (joblist_next_ms(e) > engine_now(e))
		return;
	e->jobs->joblist->next_ms = engine_now(e) + JOBLIST_LOOK_MS;
	jobs_want(e, JOBS_FOR_LIST);
}

const struct engine_part joblist_part = {
	.name = "the table of jobs",
	.at = {[PART_INIT] = joblist_init, [PART_RUN] = joblist_run, [PART_FREE] = joblist_free},
	.next_ms = joblist_next_ms,
	.settings = joblist_settings,
	.reads = JOBS_FOR_LIST,
	.squeue_begins = on_begin,
	.squeue_says = on_squeue,
};
