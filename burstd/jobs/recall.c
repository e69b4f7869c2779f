#include "jobs/jobs.h"

#include <stdlib.h>

#include "base/mem.h"

/* Requeues the other components of a heterogeneous job while one of them waits: they start together
 * or not at all.  When a component loses a node, slurmctld (22.05 to 25.11) requeues it and those
 * before it; those behind it keep their nodes as a rule, and nothing begins there before all have
 * some (slurm.md).  While we make one wait because its nodes cannot be had, the others would be
 * billed, for as long as a day.
 *
 * All of them are requeued by the number of the first: slurmctld takes no other id.  Nothing is
 * lost, since the script starts when all have their nodes, and ends when one is requeued.
 * slurmctld powers down the machines that are on their way.
 *
 * A component that was refused is told of to all parts, with the others: one that lacks money waits
 * for what these give back, too (money/holds_wait.c).
 *
 * Nothing is kept: squeue, asked about a component that waits, shows all of them, and it is asked
 * once a minute as long as one does. */

/* A shorter wait is not worth it: the order takes a while, after SLURM_REQUEUE_MS in the queue, and
 * by then they may be at work. */
enum { RECALL_LEAD_MS = SLURM_REQUEUE_MS + 10000 };

struct component { /* of some heterogeneous job */
	uint64_t het, number;
	bool placed, refused; /* it has its nodes; it is in the queue since it was refused them */
	bool waits;           /* ... and for a while yet */
};

struct recall {
	struct engine *e;
	struct component *all;
	size_t n, cap;
};

static void on_detail(void *ctx, const struct slurm_job_detail *d)
{
	struct recall *r = ctx;
	const int64_t left_ms = d->pending ? postpone_left_ms(r->e, d->number) : 0;

	if (d->het == 0)
		return;
	if (r->n == r->cap) {
		r->cap = r->cap == 0 ? 16 : 2 * r->cap;
		r->all = mem_realloc(r->all, r->cap * sizeof(*r->all));
	}
	r->all[r->n++] = (struct component){
		.het = d->het,
		.number = d->number,
		.placed = d->placed,
		.refused = left_ms > 0 || (d->pending && postpone_is_untold(r->e, d->number)),
		.waits = left_ms >= RECALL_LEAD_MS};
}

static int in_order(const void *a, const void *b)
{
	const struct component *x = a, *y = b;

	if (x->het != y->het)
		return x->het < y->het ? -1 : 1;
	return (x->number > y->number) - (x->number < y->number);
}

static void tell_refused(struct engine *e, const struct component *all, size_t n)
{
	for (size_t i = 0; i < n; i++)
		for (size_t k = 0; all[i].refused && k < n; k++)
			if (all[k].number != all[i].number)
				engine_job_beside(e, all[i].number, all[k].number);
}

/* These are the components of one job. */
static void look_at(struct engine *e, const struct component *all, size_t n)
{
	bool placed = false, waits = false;
	char first[FMT_U64_SIZE];

	tell_refused(e, all, n);
	for (size_t i = 0; i < n; i++) {
		placed = placed || all[i].placed;
		waits = waits || all[i].waits;
	}
	if (placed && waits)
		(void)slurm_requeue(e->slurm, fmt_u64(first, all->het),
				    "one of its components waits for its nodes");
}

void recall_details(struct engine *e, const char *text, size_t len, const struct err *err)
{
	struct recall r = {.e = e};

	if (err != NULL)
		return;
	slurm_job_parse_detail(text, len, on_detail, &r);
	if (r.n > 0)
		qsort(r.all, r.n, sizeof(*r.all), in_order);
	for (size_t i = 0, n; i < r.n; i += n) {
		for (n = 1; i + n < r.n && r.all[i + n].het == r.all[i].het;)
			n++;
		look_at(e, &r.all[i], n);
	}
	free(r.all);
}
