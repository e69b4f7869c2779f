#include "jobs/jobs.h"

#include <stdlib.h>

#include "base/mem.h"

static void job_init(struct engine *e)
{
	map_init(&e->jobs->by_number);
}

static struct job *find(const struct engine *e, uint64_t number)
{
	char key[FMT_U64_SIZE];

	return map_get(&e->jobs->by_number, fmt_u64(key, number));
}

void *job_find(const struct engine *e, uint64_t number, enum job_concern c)
{
	const struct job *j = find(e, number);

	return j != NULL ? j->parts[c] : NULL;
}

static void *add_part(struct engine *e, struct job *j, enum job_concern c, size_t size)
{
	struct job_part *part = mem_zalloc(size), *next = e->jobs->parts[c];

	*part = (struct job_part){.job = j, .concern = c, .next = next};
	if (next != NULL)
		next->prev = part;
	else
		e->jobs->oldest[c] = part;
	e->jobs->parts[c] = part;
	j->parts[c] = part;
	j->nparts++;
	return part;
}

void *job_get(struct engine *e, uint64_t number, enum job_concern c, size_t size)
{
	struct job *j = find(e, number);

	if (j == NULL) {
		j = mem_zalloc(sizeof(*j));
		j->number = number;
		map_put(&e->jobs->by_number, fmt_u64(j->key, number), j);
	}
	return j->parts[c] != NULL ? j->parts[c] : add_part(e, j, c, size);
}

void job_drop(struct engine *e, void *part)
{
	struct job_part *p = part, *next = p->next;
	struct job *j = p->job;

	if (p->prev != NULL)
		p->prev->next = next;
	else
		e->jobs->parts[p->concern] = next;
	if (next != NULL)
		next->prev = p->prev;
	else
		e->jobs->oldest[p->concern] = p->prev;
	j->parts[p->concern] = NULL;
	free(p);
	if (--j->nparts > 0)
		return;
	map_del(&e->jobs->by_number, j->key);
	free(j);
}

void job_forget(struct engine *e, enum job_concern c, bool (*over)(struct engine *e, void *part))
{
	struct job_part *next;

	for (struct job_part *p = e->jobs->parts[c]; p != NULL; p = next) {
		next = p->next;
		if (over == NULL || over(e, p))
			job_drop(e, p);
	}
}

static void job_free(struct engine *e)
{
	for (size_t c = 0; c < JOB_NCONCERNS; c++)
		job_forget(e, (enum job_concern)c, NULL);
	map_fini(&e->jobs->by_number);
}

const struct engine_part job_table_part = {
	.name = "jobs",
	.at = {[PART_INIT] = job_init, [PART_FREE] = job_free},
};
