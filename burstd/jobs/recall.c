#include "jobs/jobs.h"

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
 * Nothing is kept: squeue, asked about a component that waits, shows all of them, and it is asked
 * once a minute as long as one does. */

/* A shorter wait is not worth it: the order takes a while, after SLURM_REQUEUE_MS in the queue, and
 * by then they may be at work. */
enum { RECALL_LEAD_MS = SLURM_REQUEUE_MS + 10000 };

struct recall {
	struct engine *e;
	const char *text; /* squeue's answer */
	size_t len;
	const struct slurm_job_detail *placed; /* a component that has its nodes ... */
	bool alone;                            /* ... while another one waits */
};

static void on_other(void *ctx, const struct slurm_job_detail *d)
{
	struct recall *r = ctx;

	r->alone = r->alone || (d->het == r->placed->het && d->pending &&
				postpone_left_ms(r->e, d->number) >= RECALL_LEAD_MS);
}

static void on_detail(void *ctx, const struct slurm_job_detail *d)
{
	struct recall *r = ctx;
	char first[FMT_U64_SIZE];

	if (d->het == 0 || !d->placed)
		return;
	r->placed = d;
	r->alone = false;
	slurm_job_parse_detail(r->text, r->len, on_other, r);
	if (r->alone)
		(void)slurm_requeue(r->e->slurm, fmt_u64(first, d->het),
				    "one of its components waits for its nodes");
}

void recall_details(struct engine *e, const char *text, size_t len, const struct err *err)
{
	struct recall r = {.e = e, .text = text, .len = len};

	if (err == NULL)
		slurm_job_parse_detail(text, len, on_detail, &r);
}
