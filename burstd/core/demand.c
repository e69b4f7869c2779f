#include "core/demand.h"

#include <stdlib.h>
#include <string.h>

#include "base/jpull.h"
#include "base/mem.h"

static uint32_t *index_value(size_t i)
{
	/* An index as the value of a map, never 0; it points to nothing. */
	return (uint32_t *)(uintptr_t)(i + 1);
}

int demand_init(struct demand *d, const char *list, size_t len, struct err *e)
{
	*d = (struct demand){0};
	map_init(&d->index);
	if (hostlist_parse(&d->list, list, len, e) != 0)
		return -1;
	d->seen = mem_zalloc(d->list->n * sizeof(*d->seen));
	for (size_t i = 0; i < d->list->n; i++)
		if (map_get(&d->index, d->list->names[i]) == NULL)
			map_put(&d->index, d->list->names[i], index_value(i));
	return 0;
}

static void clear_jobs(struct demand *d)
{
	for (size_t i = 0; i < d->njobs; i++) {
		free(d->jobs[i].nodes);
		free(d->jobs[i].constraint);
		free(d->jobs[i].comment);
		free(d->jobs[i].payer);
	}
	d->njobs = d->members = 0;
	free(d->by_id);
	d->by_id = NULL;
}

void demand_fini(struct demand *d)
{
	clear_jobs(d);
	free(d->jobs);
	free(d->seen);
	map_fini(&d->index);
	hostlist_free(d->list);
	*d = (struct demand){0};
}

size_t demand_count(const struct demand *d)
{
	return d->list != NULL ? d->list->n : 0;
}

const char *demand_name(const struct demand *d, size_t i)
{
	return d->list->names[i];
}

/* Take the nodes that the call asks for, each once: a repeat is no second node. */
static void take_nodes(struct demand *d, struct demand_job *job, const struct hostlist *h)
{
	job->nodes = mem_zalloc((h->n + 1) * sizeof(*job->nodes));
	d->looks++;
	for (size_t i = 0; i < h->n; i++) {
		uintptr_t at = (uintptr_t)map_get(&d->index, h->names[i]);

		if (at == 0 || d->seen[at - 1] == d->looks)
			continue;
		d->seen[at - 1] = d->looks;
		job->nodes[job->n++] = (uint32_t)(at - 1);
	}
}

int demand_add_job(struct demand *d, uint64_t id, const char *list, size_t len, struct err *e)
{
	struct demand_job job = {.id = id};
	struct hostlist *h;

	if (d->njobs == DEMAND_JOBS_MAX)
		return err_set(e, ERR_LIMIT, "more than %d jobs", DEMAND_JOBS_MAX);
	if (hostlist_parse(&h, list, len, e) != 0)
		return -1;
	if (d->members + h->n > DEMAND_MEMBERS_MAX) {
		hostlist_free(h);
		return err_set(e, ERR_LIMIT, "more than %d nodes in all jobs", DEMAND_MEMBERS_MAX);
	}
	d->members += h->n;
	take_nodes(d, &job, h);
	hostlist_free(h);
	if (d->njobs == d->cap) {
		d->cap = d->cap == 0 ? 16 : 2 * d->cap;
		d->jobs = mem_realloc(d->jobs, d->cap * sizeof(*d->jobs));
	}
	d->jobs[d->njobs++] = job;
	free(d->by_id);
	d->by_id = NULL;
	return 0;
}

/* --- wishes ------------------------------------------------------------------------------------
 */

struct demand_ref {
	uint64_t id;
	size_t at;
};

static int by_id(const void *a, const void *b)
{
	const struct demand_ref *x = a, *y = b;

	return x->id != y->id ? (x->id < y->id ? -1 : 1) : 0;
}

/* The first of the jobs with this number in by_id[], or NULL. */
static const struct demand_ref *find(struct demand *d, uint64_t id)
{
	size_t low = 0, high = d->njobs;

	if (d->by_id == NULL) {
		d->by_id = mem_zalloc((d->njobs + 1) * sizeof(*d->by_id));
		for (size_t i = 0; i < d->njobs; i++)
			d->by_id[i] = (struct demand_ref){d->jobs[i].id, i};
		qsort(d->by_id, d->njobs, sizeof(*d->by_id), by_id);
	}
	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (d->by_id[middle].id < id)
			low = middle + 1;
		else
			high = middle;
	}
	return low < d->njobs && d->by_id[low].id == id ? &d->by_id[low] : NULL;
}

const struct demand_job *demand_get_job(struct demand *d, uint64_t id)
{
	const struct demand_ref *r = find(d, id);

	return r != NULL ? &d->jobs[r->at] : NULL;
}

/* A copy of the text; NULL if there is none, or none that Slurm would write. */
static char *text_or_none(const char *text, size_t len)
{
	static const char none[] = "(null)";
	char *copy;

	if (len == 0 || len > DEMAND_TEXT_MAX || memchr(text, '\0', len) != NULL ||
	    (len == sizeof(none) - 1 && memcmp(text, none, len) == 0))
		return NULL;
	copy = mem_zalloc(len + 1);
	memcpy(copy, text, len);
	return copy;
}

static void put_constraint(struct demand_job *j, const char *text, size_t len)
{
	free(j->constraint);
	j->constraint = text_or_none(text, len);
	j->wishes_known = len <= DEMAND_TEXT_MAX; /* Slurm takes no longer one */
}

static void put_comment(struct demand_job *j, const char *text, size_t len)
{
	free(j->comment);
	j->comment = text_or_none(text, len);
	j->comment_known = true;
}

static void put_all(struct demand *d, uint64_t id, const char *text, size_t len,
		    void (*put)(struct demand_job *, const char *, size_t))
{
	const struct demand_ref *r = find(d, id);

	/* A file that slurmctld did not write may name a job twice. */
	for (; r != NULL && r < d->by_id + d->njobs && r->id == id; r++)
		put(&d->jobs[r->at], text, len);
}

void demand_set_constraint(struct demand *d, uint64_t id, const char *text, size_t len)
{
	put_all(d, id, text, len, put_constraint);
}

void demand_set_comment(struct demand *d, uint64_t id, const char *text, size_t len)
{
	put_all(d, id, text, len, put_comment);
}

void demand_set_payer(struct demand *d, uint64_t id, const struct payer *p)
{
	const struct demand_ref *r = find(d, id);

	for (; r != NULL && r < d->by_id + d->njobs && r->id == id; r++) {
		struct demand_job *j = &d->jobs[r->at];

		if (j->payer == NULL)
			j->payer = mem_zalloc(sizeof(*j->payer));
		*j->payer = *p;
	}
}

/* --- the resume file ---------------------------------------------------------------------------
 */

enum { JOB_ID, NODES_ALLOC, NODES, NODES_RESUME, FEATURES, NFIELDS };

/* The allocation of a job: `nodes_alloc` since 23.02, `nodes` in 22.05, which has no `features`. */
static const char *const fields[NFIELDS] = {
	[JOB_ID] = "job_id",     [NODES_ALLOC] = "nodes_alloc",
	[NODES] = "nodes",       [NODES_RESUME] = "nodes_resume",
	[FEATURES] = "features",
};

static int bad_file(const struct jpull *j, struct err *e)
{
	return err_set(e, ERR_INVALID, "resume file: byte %zu: not as slurmctld writes it",
		       jpull_at(j));
}

/* Read the fields of a job; each may occur once. */
static int read_fields(struct jpull *j, struct jpull_value *v, struct err *e)
{
	struct jpull_value key;

	(void)jpull_enter(j, '{');
	while (jpull_key(j, &key)) {
		struct jpull_value value = jpull_take(j);

		for (int i = 0; i < NFIELDS; i++) {
			if (!jpull_is(&key, fields[i]))
				continue;
			if (v[i].type != JPULL_NONE)
				return bad_file(j, e);
			v[i] = value;
		}
	}
	return j->bad ? bad_file(j, e) : 0;
}

/* Job ids come as numbers or as strings. */
static int64_t read_id(const struct jpull_value *v)
{
	struct jpull_value number = *v;
	int64_t id = 0;

	if (v->type == JPULL_STRING)
		number.type = JPULL_NUMBER;
	return jpull_int(&number, &id) == 1 ? id : 0;
}

/* null: the job has no constraint.  Anything but a string, or one longer than Slurm takes: not
 * known. */
static void read_constraint(struct demand_job *job, const struct jpull_value *v)
{
	char text[DEMAND_TEXT_MAX + 1];

	if (v->type != JPULL_NULL && v->type != JPULL_STRING)
		return;
	if (jpull_text(v, text, sizeof(text)) < 0) {
		if (v->n > DEMAND_TEXT_MAX)
			return;
		text[0] = '\0';
	}
	put_constraint(job, text, strlen(text));
}

static int add_entry(struct demand *d, struct jpull *j, struct err *e)
{
	struct jpull_value v[NFIELDS] = {0};
	int64_t id;

	if (read_fields(j, v, e) != 0)
		return -1;
	id = read_id(&v[JOB_ID]);
	if (id <= 0)
		return err_set(e, ERR_INVALID, "resume file: a job without a job_id");
	for (int i = NODES_ALLOC; i <= NODES_RESUME; i++) {
		if (v[i].type != JPULL_STRING || v[i].n == 0)
			continue;
		if (demand_add_job(d, (uint64_t)id, v[i].p, v[i].n, e) != 0)
			return err_wrap(e, "resume file: job %lld", (long long)id);
		read_constraint(&d->jobs[d->njobs - 1], &v[FEATURES]);
		return 0;
	}
	return 0; /* the job waits for no nodes */
}

static int add_jobs(struct demand *d, struct jpull *j, struct err *e)
{
	if (d->has_jobs) /* a second list */
		return bad_file(j, e);
	d->has_jobs = true;
	(void)jpull_enter(j, '[');
	while (jpull_item(j))
		if (add_entry(d, j, e) != 0)
			return -1;
	return 0;
}

int demand_add_file(struct demand *d, const char *file, size_t len, struct err *e)
{
	struct jpull_value key;
	struct jpull j;
	int rc = 0;

	jpull_init(&j, file, len);
	(void)jpull_enter(&j, '{');
	while (rc == 0 && jpull_key(&j, &key)) {
		if (jpull_is(&key, "jobs"))
			rc = add_jobs(d, &j, e);
		else
			(void)jpull_take(&j);
	}
	if (rc == 0 && !jpull_end(&j))
		rc = bad_file(&j, e);
	if (rc == 0 && !d->has_jobs)
		rc = err_set(e, ERR_INVALID, "resume file: no list of jobs");
	if (rc != 0) {
		clear_jobs(d);
		d->has_jobs = false;
	}
	return rc;
}
