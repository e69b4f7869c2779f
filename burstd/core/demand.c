#include "core/demand.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

static uint32_t *index_value(size_t i)
{
	/* Not a pointer to anything: an index that fits a map's value, never 0. */
	return (uint32_t *)(uintptr_t)(i + 1);
}

int demand_init(struct demand *d, const char *list, size_t len, struct err *e)
{
	*d = (struct demand){0};
	map_init(&d->index);
	if (hostlist_parse(&d->list, list, len, e) != 0)
		return -1;
	for (size_t i = 0; i < d->list->n; i++)
		if (map_get(&d->index, d->list->names[i]) == NULL)
			map_put(&d->index, d->list->names[i], index_value(i));
	return 0;
}

void demand_fini(struct demand *d)
{
	for (size_t i = 0; i < d->njobs; i++)
		free(d->jobs[i].nodes);
	free(d->jobs);
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

static void clear_jobs(struct demand *d)
{
	for (size_t i = 0; i < d->njobs; i++)
		free(d->jobs[i].nodes);
	d->njobs = d->members = 0;
}

int demand_add_job(struct demand *d, uint64_t id, const char *list, size_t len, struct err *e)
{
	struct demand_job job = {.id = id};
	struct hostlist *h;

	if (d->njobs == DEMAND_JOBS_MAX)
		return err_set(e, ERR_LIMIT, "more than %d jobs", DEMAND_JOBS_MAX);
	if (hostlist_parse(&h, list, len, e) != 0)
		return -1;
	d->members += h->n;
	if (d->members > DEMAND_MEMBERS_MAX) {
		hostlist_free(h);
		return err_set(e, ERR_LIMIT, "more than %d nodes in all jobs", DEMAND_MEMBERS_MAX);
	}
	job.nodes = mem_zalloc((h->n + 1) * sizeof(*job.nodes));
	for (size_t i = 0; i < h->n; i++) {
		uintptr_t at = (uintptr_t)map_get(&d->index, h->names[i]);

		if (at != 0)
			job.nodes[job.n++] = (uint32_t)(at - 1);
	}
	hostlist_free(h);
	if (d->njobs == d->cap) {
		d->cap = d->cap == 0 ? 16 : 2 * d->cap;
		d->jobs = mem_realloc(d->jobs, d->cap * sizeof(*d->jobs));
	}
	d->jobs[d->njobs++] = job;
	return 0;
}

/* The allocation of one job entry: `nodes_alloc` since 23.02, `nodes` in 22.05. */
static const char *job_nodes(const json_t *job)
{
	static const char *const keys[] = {"nodes_alloc", "nodes", "nodes_resume"};

	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
		const char *v = json_string_value(json_object_get(job, keys[i]));

		if (v != NULL && v[0] != '\0')
			return v;
	}
	return NULL;
}

static int add_entry(struct demand *d, const json_t *job, struct err *e)
{
	const json_t *id = json_object_get(job, "job_id");
	const char *nodes = job_nodes(job);
	json_int_t v = json_is_string(id) ? strtoll(json_string_value(id), NULL, 10)
					  : json_integer_value(id);

	if (!json_is_object(job) || v <= 0)
		return err_set(e, ERR_INVALID, "resume file: a job without a job_id");
	if (nodes == NULL) /* a job that waits for nothing of ours */
		return 0;
	if (demand_add_job(d, (uint64_t)v, nodes, strlen(nodes), e) != 0)
		return err_wrap(e, "resume file: job %lld", (long long)v);
	return 0;
}

/* Nesting is checked before parsing: jansson recurses. */
static bool too_deep(const char *file, size_t len)
{
	size_t depth = 0;
	bool quoted = false;

	for (size_t i = 0; i < len; i++) {
		if (quoted && file[i] == '\\')
			i++;
		else if (file[i] == '"')
			quoted = !quoted;
		else if (!quoted && (file[i] == '{' || file[i] == '[')) {
			if (++depth > DEMAND_DEPTH_MAX)
				return true;
		} else if (!quoted && (file[i] == '}' || file[i] == ']') && depth > 0)
			depth--;
	}
	return false;
}

int demand_add_file(struct demand *d, const char *file, size_t len, struct err *e)
{
	json_error_t je;
	json_t *root, *jobs, *job;
	size_t i;
	int rc = -1;

	if (too_deep(file, len))
		return err_set(e, ERR_INVALID, "resume file: nested deeper than %d",
			       DEMAND_DEPTH_MAX);
	root = json_loadb(file, len, JSON_REJECT_DUPLICATES, &je);
	if (root == NULL)
		return err_set(e, ERR_INVALID, "resume file: line %d: %s", je.line, je.text);
	jobs = json_object_get(root, "jobs");
	if (!json_is_array(jobs)) {
		(void)err_set(e, ERR_INVALID, "resume file: no list of jobs");
		goto out;
	}
	json_array_foreach(jobs, i, job) if (add_entry(d, job, e) != 0)
	{
		clear_jobs(d);
		goto out;
	}
	d->has_jobs = true;
	rc = 0;
out:
	json_decref(root);
	return rc;
}
