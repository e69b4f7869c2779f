/* fuzz_demand.c - a node list and a resume file, parted by a NUL byte, as slurmctld's call has
 * them; then a third part as the nodes of one more job, and as what all of them wish.  What is
 * accepted stays within its limits and points at nodes that were asked for. */
#include <assert.h>
#include <stdint.h>
#include <string.h>

#include "core/demand.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(const struct demand *d)
{
	size_t members = 0;

	assert(d->njobs <= DEMAND_JOBS_MAX);
	for (size_t i = 0; i < d->njobs; i++) {
		for (size_t k = 0; k < d->jobs[i].n; k++)
			assert(d->jobs[i].nodes[k] < demand_count(d));
		members += d->jobs[i].n;
		assert(d->jobs[i].constraint == NULL ||
		       (d->jobs[i].wishes_known && d->jobs[i].constraint[0] != '\0' &&
			strlen(d->jobs[i].constraint) <= DEMAND_TEXT_MAX));
		assert(d->jobs[i].comment == NULL || d->jobs[i].comment_known);
	}
	assert(members <= DEMAND_MEMBERS_MAX);
}

/* The part at *p up to a NUL byte or the end; *p moves behind it. */
static size_t part(const char **p, const char *end)
{
	const char *from = *p, *nul = memchr(from, '\0', (size_t)(end - from));

	*p = nul != NULL ? nul + 1 : end;
	return (size_t)((nul != NULL ? nul : end) - from);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *at = size > 0 ? (const char *)data : "", *end = at + size;
	const char *list = at, *file, *more;
	size_t nlist = part(&at, end), nfile, nmore;
	struct demand d;
	struct err e = {0};

	file = at;
	nfile = part(&at, end);
	more = at;
	nmore = part(&at, end);
	if (demand_init(&d, list, nlist, &e) != 0) {
		assert(e.code != 0 && e.msg[0] != '\0' && demand_count(&d) == 0);
		return 0;
	}
	for (size_t i = 0; i < demand_count(&d); i++)
		assert(hostlist_is_name(demand_name(&d, i)));
	if (demand_add_file(&d, file, nfile, &e) != 0)
		assert(!d.has_jobs && d.njobs == 0);
	check(&d);
	(void)demand_add_job(&d, 7, more, nmore, NULL);
	check(&d);
	for (size_t i = 0; i < d.njobs && i < 100; i++) {
		demand_set_constraint(&d, d.jobs[i].id, more, nmore);
		demand_set_comment(&d, d.jobs[i].id ^ (i & 1), more, nmore);
		assert(d.jobs[i].wishes_known);
	}
	check(&d);
	demand_fini(&d);
	return 0;
}
